//! Scoreboard check on hand-written Xe code: hazards that it must find, and correct code.

use crate::common::text;
use gantry_isa_gen::Platform;
use gantry_runtime::{Device, Grid, Hazard, HazardKind, SimOptions, Watch};

const INFO: &str = "\
kernels:
  - name: t
    execution_env:
      simd_size: 8
      slm_size: 1024
    payload_arguments:
      - arg_type: arg_bypointer
        offset: 0
        size: 8
        arg_index: 0
        addrmode: stateless
        addrspace: global
";

/// Runs a body on a platform, with a buffer's address in r3.0:uq (Xe-LP), and returns the hazards.
fn hazards(platform: Platform, body: &str) -> Vec<Hazard> {
    let end = text::end(platform);
    let text = format!("{body}(W) mov (8|M0) r127.0<1>:ud r0.0<1;1,0>:ud\n{end}");
    let d = Device::simulator(SimOptions::default());
    let zebin = text::zebin(platform, INFO, &text);
    let m = d.load(&zebin).unwrap();
    let watch = Watch::new().hazards();
    let buffer = d.buffer(4096).unwrap();
    m.kernel("t")
        .unwrap()
        .launch(Grid::new([8, 1, 1]).group([8, 1, 1]))
        .arg(&buffer)
        .watch(&watch)
        .run()
        .unwrap();
    watch.report().hazards
}

/// Returns the hazards of a body: offset, kind, and the annotation that would order the accesses.
fn found(platform: Platform, body: &str) -> Vec<(u32, HazardKind, String)> {
    hazards(platform, body)
        .into_iter()
        .map(|h| (h.ip, h.kind, h.cover))
        .collect()
}

use HazardKind::{ReadAfterWrite as RAW, WriteAfterRead as WAR, WriteAfterWrite as WAW};

#[test]
fn one_pipe_counts_all_instructions() {
    let body = |swsb: &str| {
        format!(
            "(W) mov (8|M0) r10.0<1>:d 1:d\n\
             (W) mov (8|M0) r11.0<1>:f 1:f\n\
             (W) add (8|M0) r12.0<1>:d r10.0<8;8,1>:d 1:d {swsb}\n"
        )
    };
    let p = Platform::XeLp;
    let raw = vec![(0x20, RAW, "@2".to_owned())];
    assert_eq!(found(p, &body("")), raw);
    // Waiting for fewer than all but one before is too little.
    assert_eq!(found(p, &body("{@3}")), raw);
    assert_eq!(found(p, &body("{@2}")), []);
    assert_eq!(found(p, &body("{@1}")), []);
}

#[test]
fn pipes_count_their_own() {
    let body = |swsb: &str| {
        format!(
            "(W) mov (8|M0) r10.0<1>:d 1:d\n\
             (W) mov (8|M0) r11.0<1>:f 1:f\n\
             (W) mov (8|M0) r12.0<1>:f r10.0<1;1,0>:d {swsb}\n"
        )
    };
    let p = Platform::XeHpg;
    let raw = vec![(0x20, RAW, "I@1".to_owned())];
    assert_eq!(found(p, &body("")), raw);
    assert_eq!(found(p, &body("{F@1}")), raw);
    for good in ["{I@1}", "{A@1}"] {
        assert_eq!(found(p, &body(good)), [], "{good}");
    }
    // Another pipe may write first, and read later.
    let p = Platform::XeHpg;
    let writes = "(W) mov (8|M0) r10.0<1>:d 1:d\n(W) mov (8|M0) r10.0<1>:f 1:f\n";
    assert_eq!(found(p, writes), [(0x10, WAW, "I@1".to_owned())]);
    let read = "(W) mov (8|M0) r11.0<1>:d r10.0<1;1,0>:d\n(W) mov (8|M0) r10.0<1>:f 1:f\n";
    assert_eq!(found(p, read), [(0x10, WAR, "I@1".to_owned())]);
    // The same pipe does neither.
    let same = "(W) mov (8|M0) r11.0<1>:d r10.0<1;1,0>:d\n(W) mov (8|M0) r10.0<1>:d 1:d\n\
                (W) mov (8|M0) r10.0<1>:d 2:d\n";
    assert_eq!(found(p, same), []);
}

#[test]
fn flags_and_accumulators_between_pipes() {
    let p = Platform::XeHpg;
    let float = "cmp (8|M0) (lt)f0.0 null<1>:f r10.0<1;1,0>:f 0:f\n";
    let int = |swsb| format!("cmp (8|M0) (lt)f0.0 null<1>:d r11.0<1;1,0>:d 0:d {swsb}\n");
    let reads = "(f0.0) mov (8|M0) r12.0<1>:f 1:f\n";
    let both = |first: &str, swsb| found(p, &format!("{first}{}", int(swsb)));
    assert_eq!(both(float, ""), [(0x10, WAW, "F@1".to_owned())]);
    assert_eq!(both(float, "{F@1}"), []);
    // Channels that a predicate disables read no flag.
    let set = "(W) mov (1|M0) f0.0<1>:uw 0xff:uw\nsync.nop null {A@1}\n";
    let first = format!("{set}{reads}");
    assert_eq!(both(&first, ""), [(0x30, WAR, "F@1".to_owned())]);
    assert_eq!(both(&first, "{F@1}"), []);
    // The hardware itself orders later instructions of the same pipe, and reads of what was
    // written.
    assert_eq!(found(p, &format!("{}{}", int(""), int(""))), []);
    assert_eq!(found(p, &format!("{}{reads}", int(""))), []);
    // Other channels have other bits.
    let other = "cmp (8|M8) (lt)f0.0 null<1>:d r11.0<1;1,0>:d 0:d\n";
    assert_eq!(found(p, &format!("{float}{other}")), []);
    let other = "cmp (8|M0) (lt)f0.1 null<1>:d r11.0<1;1,0>:d 0:d\n";
    assert_eq!(found(p, &format!("{float}{other}")), []);
    let acc = "(W) mul (8|M0) acc0.0<1>:f r10.0<1;1,0>:f r11.0<1;1,0>:f\n\
               (W) add (8|M0) acc0.0<1>:d r12.0<1;1,0>:d r13.0<1;1,0>:d\n";
    let all = hazards(p, acc);
    assert_eq!((all.len(), all[0].kind), (1, WAW));
    assert_eq!(all[0].register.to_string(), "acc0");
    // An implicit accumulator.
    let carry = "(W) mul (8|M0) acc0.0<1>:f r10.0<1;1,0>:f r11.0<1;1,0>:f\n\
                 (W) addc (8|M0) r12.0<1>:ud r13.0<1;1,0>:ud r14.0<1;1,0>:ud {AccWrEn}\n";
    assert_eq!(found(p, carry), [(0x10, WAW, "F@1".to_owned())]);
    // A message's predicate is read at any time.
    let send = "(f0.0) send.dc1 (8|M0) r20 r10 null:0 0x0 0x02106efe {$3}\n";
    let all = found(p, &format!("{set}{send}{}", int("")));
    assert_eq!(all, [(0x30, WAR, "$3.src".to_owned())]);
    assert_eq!(found(p, &format!("{set}{send}{}", int("{$3.src}"))), []);
    // Xe-LP tracks all of them.
    let p = Platform::XeLp;
    let text = format!("{float}{}{reads}", int("")).replace("<1;1,0>", "<8;8,1>");
    assert_eq!(found(p, &text), []);
}

#[test]
fn pipes_of_xe_hpc() {
    let p = Platform::XeHpc;
    // Qwords are the integer pipe's, doubles the long one's, math has a pipe of its own.
    let after = |first: &str, swsb: &str| {
        found(
            p,
            &format!("{first}(W) mov (8|M0) r12.0<1>:f r10.0<1;1,0>:f {swsb}\n"),
        )
    };
    for (first, pipe) in [
        ("(W) mov (8|M0) r10.0<1>:q r8.0<1;1,0>:q\n", "I@1"),
        ("(W) mov (8|M0) r10.0<1>:df r8.0<1;1,0>:df\n", "L@1"),
        ("(W) math.sqt (8|M0) r10.0<1>:f r8.0<1;1,0>:f\n", "M@1"),
        ("(W) mov (8|M0) r10.0<1>:ud r8.0<1;1,0>:ud\n", "I@1"),
    ] {
        assert_eq!(after(first, ""), [(0x10, RAW, pipe.to_owned())], "{first}");
        for other in ["I@1", "L@1", "M@1"] {
            let left = after(first, &format!("{{{other}}}")).len();
            assert_eq!(left, usize::from(other != pipe), "{first} {other}");
        }
    }
    // Adjacent bytes are in one word, which is read and written.
    let bytes = |second: &str| {
        found(
            p,
            &format!("(W) mov (1|M0) r10.0<1>:b 1:w\n(W) mov (1|M0) r10.{second}\n"),
        )
    };
    assert_eq!(bytes("1<1>:b 1:w"), [(0x10, WAW, "I@1".to_owned())]);
    assert_eq!(bytes("1<1>:b 1:w {I@1}"), []);
    assert_eq!(bytes("2<1>:b 1:w"), []);
    assert_eq!(bytes("1<1>:w 1:w"), []);
}

#[test]
fn a_pipe_ends() {
    let mut body = String::from("(W) mov (8|M0) r10.0<1>:d 1:d\n");
    for i in 0..11 {
        body += &format!("(W) mov (8|M0) r{}.0<1>:d 1:d\n", 20 + i);
    }
    let read = "(W) mov (8|M0) r12.0<1>:d r10.0<1;1,0>:d\n";
    for p in [Platform::XeLp, Platform::XeHpg] {
        assert_eq!(found(p, &format!("{body}{read}")), [], "{p}");
    }
}

#[test]
fn tokens() {
    let p = Platform::XeLp;
    let body = |set: &str, wait: &str, next: &str| {
        format!(
            "(W) mov (8|M0) r10.0<1>:f 4:f\n\
             (W) math.sqt (8|M0) r11.0<1>:f r10.0<8;8,1>:f {{@1,{set}}}\n\
             {wait}{next}"
        )
    };
    let read = "(W) mov (8|M0) r12.0<1>:f r11.0<8;8,1>:f";
    let raw = vec![(0x20, RAW, "$3.dst".to_owned())];
    assert_eq!(found(p, &body("$3", "", &format!("{read}\n"))), raw);
    assert_eq!(
        found(p, &body("$3", "", &format!("{read} {{$2.dst}}\n"))),
        raw
    );
    assert_eq!(
        found(p, &body("$3", "", &format!("{read} {{$3.src}}\n"))),
        raw
    );
    assert_eq!(
        found(p, &body("$3", "", &format!("{read} {{$3.dst}}\n"))),
        []
    );
    let next = format!("{read}\n");
    assert_eq!(found(p, &body("$3", "sync.nop null {$3.dst}\n", &next)), []);
    assert_eq!(found(p, &body("$3", "sync.allwr null\n", &next)), []);
    assert_eq!(found(p, &body("$3", "sync.allwr 0x8:ud\n", &next)), []);
    let other = found(p, &body("$3", "sync.allwr 0x4:ud\n", &next));
    assert_eq!(other, [(0x30, RAW, "$3.dst".to_owned())]);
    // The token's next use waits.
    let again = "(W) math.sqt (8|M0) r13.0<1>:f r10.0<8;8,1>:f {$3}\n";
    assert_eq!(found(p, &body("$3", again, &next)), []);
    // Sources of the message.
    let write = "(W) mov (8|M0) r10.0<1>:f 1:f";
    let war = vec![(0x20, WAR, "$3.src".to_owned())];
    assert_eq!(found(p, &body("$3", "", &format!("{write}\n"))), war);
    for wait in ["$3.src", "$3.dst"] {
        assert_eq!(
            found(p, &body("$3", "", &format!("{write} {{{wait}}}\n"))),
            []
        );
    }
    assert_eq!(
        found(p, &body("$3", "sync.allrd null\n", &format!("{write}\n"))),
        []
    );
    // Math reads before later math writes.
    let math = "(W) math.inv (8|M0) r10.0<1>:f r14.0<8;8,1>:f {$4}\n";
    assert_eq!(found(p, &body("$3", "", math)), []);
}

#[test]
fn taken_branches_drain_the_pipes() {
    let body = "(W) mov (1|M0) r10.0<1>:d 0:d\n\
                sync.nop null {@1}\n\
                L32:\n\
                (W) add (1|M0) r10.0<1>:d r10.0<0;1,0>:d 1:d\n\
                (W) cmp (1|M0) (lt)f0.0 null<1>:d r10.0<0;1,0>:d 3:d {@1}\n\
                (W&f0.0) jmpi L32\n";
    let p = Platform::XeLp;
    assert_eq!(found(p, body), []);
}

/// The distance of a `jmpi` by a register counts from its start on Xe. The table's entry is reached
/// with empty pipes.
#[test]
fn a_jump_by_a_register_waits_for_it_and_drains_the_pipes() {
    let body = |distance: u32, swsb: &str| {
        format!(
            "(W) mov (1|M0) r11.0<1>:d 5:d\n\
             (W) mov (1|M0) r10.0<1>:d {distance}:d\n\
             (W) jmpi r10.0 {swsb}\n\
             (W) mov (1|M0) r12.0<1>:d r11.0<0;1,0>:d\n\
             (W) jmpi L96\n\
             (W) mov (1|M0) r12.0<1>:d r11.0<0;1,0>:d\n\
             L96:\n"
        )
    };
    let p = Platform::XeLp;
    assert_eq!(found(p, &body(32, "{@1}")), []);
    assert_eq!(found(p, &body(48, "{@1}")), []);
    assert_eq!(found(p, &body(32, "")), [(0x20, RAW, "@1".to_owned())]);
}

#[test]
fn channels_that_are_off_do_nothing() {
    let p = Platform::XeLp;
    // The channels of the two differ.
    let body = "(W) mov (1|M0) f0.0<1>:uw 0xf:uw\n\
                (f0.0) mov (8|M0) r10.0<1>:d 1:d\n\
                (~f0.0) mov (8|M0) r11.0<1>:d r10.0<8;8,1>:d\n";
    assert_eq!(found(p, body), []);
}

#[test]
fn a_hazard_says_what_and_where() {
    let body = "(W) mov (4|M0) r10.2<1>:d 1:d\n(W) mov (1|M0) r12.0<1>:d r10.3<0;1,0>:d\n";
    let all = hazards(Platform::XeLp, body);
    assert_eq!(all.len(), 1);
    assert_eq!(
        all[0].to_string(),
        "kernel `t`, group (0, 0, 0), thread 0, at 0x10: reads r10 (bytes 12 to 15) before it is surely written at 0x0; @1 would wait\n  \
         (W) mov (4|M0) r10.2<1>:d 1:d\n  \
         (W) mov (1|M0) r12.0<1>:d r10.3<0;1,0>:d"
    );
}

/// A read of a fence's response must wait for the fence, though the response has no contents.
#[test]
fn fences_are_waited_for() {
    let body = |swsb: &str| {
        format!(
            "(W) mov (8|M0) r20.0<1>:ud 0:ud\n\
             (W) send.slm (1|M0) r10 r20 null:0 0x0 0x0210001F {{A@1,$3}}\n\
             (W) mov (1|M0) null<1>:ud r10.0<0;1,0>:ud {swsb}\n"
        )
    };
    let kinds = |swsb| {
        let all = found(Platform::XeHpg, &body(swsb)).into_iter();
        all.map(|f| f.1).collect::<Vec<_>>()
    };
    assert_eq!(kinds("{$3.dst}"), []);
    assert_eq!(kinds(""), [RAW]);
}

/// Intel's compiler moves registers to null before they are complete, so that the hardware forgets
/// what it read last.
#[test]
fn what_is_read_for_nothing_needs_no_wait() {
    let body = |dst: &str| {
        format!(
            "(W) mov (8|M0) r10.0<1>:d 1:d\n\
             (W) mov (8|M0) {dst} r10.0<8;8,1>:d\n"
        )
    };
    for p in [Platform::XeLp, Platform::XeHpg] {
        assert_eq!(found(p, &body("null<1>:d")), [], "{p}");
        for dst in ["(eq)f0.0 null<1>:d", "r11.0<1>:d"] {
            let kinds = found(p, &body(dst)).into_iter().map(|f| f.1);
            assert_eq!(kinds.collect::<Vec<_>>(), [RAW], "{p} {dst}");
        }
    }
}
