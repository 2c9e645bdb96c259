//! Compile time for a rising number of live values.

use crate::intel::{ocloc, ours};
use crate::{Arguments, Res};
use gantry_filetests::pressure::Kernel;

/// Numbers of live floats, of two registers each in SIMD16.
const STEPS: [u32; 15] = [
    1, 16, 32, 40, 48, 52, 56, 60, 64, 80, 100, 150, 200, 300, 400,
];

/// Prints the table.
pub fn table(asked: &Arguments) -> Res<()> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    println!(
        "Milliseconds to compile N live floats in SIMD16, the fastest of 9 runs (ours) and of 3 (ocloc, a process), and per value"
    );
    println!(
        "{:>4} {:>9} {:>9}  {:>9} {:>9}",
        "N", "ours", "a value", "Intel's", "a value"
    );
    for n in STEPS {
        let k = Kernel::live(n);
        let (_, us, _) = ours(&k, asked, 9)?;
        let (_, them) = ocloc(&k, asked, 3, dir.path())?;
        let (us, them) = (us.as_secs_f64() * 1e3, them.as_secs_f64() * 1e3);
        let each = f64::from(n);
        println!(
            "{n:>4} {us:>9.3} {:>9.4}  {them:>9.1} {:>9.3}",
            us / each,
            them / each
        );
    }
    Ok(())
}
