//! IR text: parse, verify, print, parse, compile.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    gantry_filetests::fuzz::gir(data).unwrap();
});
