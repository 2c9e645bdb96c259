//! Assembly text of the platform that the first byte chooses: assemble, print, assemble.
#![no_main]

use gantry_filetests::fuzz;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (platform, text) = fuzz::platform(data);
    fuzz::asm(platform, text).unwrap();
});
