//! Random kernels: interpreter and simulator agree.
#![no_main]

libfuzzer_sys::fuzz_target!(|seed: u64| {
    gantry_filetests::fuzz::differential(seed).unwrap();
});
