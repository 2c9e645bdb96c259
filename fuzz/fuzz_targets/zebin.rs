//! Zebins: loaded, disassembled, launched.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    gantry_filetests::fuzz::zebin(data).unwrap();
});
