//! Facts that are stated once: what a change of one kind may touch.

use super::words::files;

/// Files of the crates' sources that name a message, without tests.
fn naming(variant: &str) -> Vec<String> {
    let folders = [
        "meta/src",
        "isa-gen/src",
        "codegen/src",
        "runtime/src",
        "src",
    ];
    files(&folders, ".rs")
        .into_iter()
        .filter(|(name, text)| !name.ends_with("tests.rs") && text.contains(variant))
        .map(|(name, _)| name)
        .collect()
}

/// A message is its row, and its action in the simulator if it has one. The compiler names it where
/// it is emitted.
#[test]
fn a_message_is_a_row_and_an_action() {
    let row = "meta/src/messages/ccs.rs";
    let action = "runtime/src/sim/send/hdc.rs";
    assert_eq!(naming("UncompressedWrite"), [row, action]);
    // Ray tracing is not simulated.
    assert_eq!(naming("TraceRay"), ["meta/src/messages/gateway.rs"]);
}

/// Positions of bits in descriptors are in the rows only. The lengths and the header bit, which all
/// messages have, are in the codec.
#[test]
fn positions_of_descriptor_bits_are_in_rows() {
    let folders = [
        "isa-gen/src/message/codec",
        "isa-gen/src/legal/message.rs",
        "runtime/src/sim/send",
        "codegen/src/isel/lower_sends",
    ];
    for (name, text) in files(&folders, ".rs") {
        for (n, line) in text.lines().enumerate() {
            let shifts = line.contains("desc >>") || line.contains("desc &");
            let own = name.ends_with("codec/mod.rs") && line.contains("HEADER")
                || name.ends_with("codec/mod.rs") && line.contains("desc & own");
            assert!(!shifts || own, "{name}:{}: {line}", n + 1);
        }
    }
}
