//! Bytes of an instruction of the platform that the first byte chooses: decode, encode, decode.
#![no_main]

use gantry_filetests::fuzz;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (platform, bytes) = fuzz::platform(data);
    fuzz::instruction(platform, bytes).unwrap();
});
