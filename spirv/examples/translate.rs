//! Prints the IR of a SPIR-V file: `translate k.spv [KERNEL [WIDTH]]`.

use gantry_spirv::{Options, Simd, translate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("a file is missing")?;
    let bytes = std::fs::read(file)?;
    let (words, _) = bytes.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|w| u32::from_le_bytes(*w)).collect();
    let options = Options {
        kernel: args.next().filter(|k| k != "-"),
        simd: args
            .next()
            .map_or(Ok(Simd::Auto), |w| w.parse().map(Simd::Width))?,
        ..Options::default()
    };
    print!("{}", translate(&words, &options)?.module);
    Ok(())
}
