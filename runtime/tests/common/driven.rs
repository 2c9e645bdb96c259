//! Intel's driver without a GPU, made to report a device of a product.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::Path;
use std::process::Command;

/// Products that the driver of Debian 12 supports for Level Zero.
pub const DRIVEN: [&str; 7] = ["skl", "kbl", "cfl", "icllp", "tgllp", "dg2", "pvc"];
/// Configurations (slices, sub-slices, EUs) of products for which the driver has no default, or one
/// with which its fills of memory end the process.
const PARTS: [(&str, &str); 2] = [("dg2", "2x4x16"), ("pvc", "1x8x8")];

/// Makes a process that loads the driver see a device of a product.
pub fn as_if(command: &mut Command, product: &str) {
    command
        .env("NEOReadDebugKeys", "1")
        .env("SetCommandStreamReceiver", "1")
        .env("ProductFamilyOverride", product);
    if let Some((_, parts)) = PARTS.iter().find(|p| p.0 == product) {
        command.env("HardwareInfoOverride", parts);
    }
}

/// Returns a command that runs this test binary under Intel's driver of 2026, as a device of a
/// product; `None` if no tree of newer packages is there.
///
/// The tree is what `GANTRY_ORACLES_2026` names. It is built for a newer C library, so the binary
/// goes through that one's loader.
pub fn of_2026(product: &str) -> Option<Command> {
    let Some(root) = std::env::var_os("GANTRY_ORACLES_2026") else {
        println!("skipped: GANTRY_ORACLES_2026 names no tree of newer packages");
        return None;
    };
    let libraries = Path::new(&root).join("usr/lib/x86_64-linux-gnu");
    let path = format!("{}:/usr/lib/x86_64-linux-gnu", libraries.display());
    let mut command = Command::new(libraries.join("ld-linux-x86-64.so.2"));
    command.args(["--library-path", &path]);
    command.arg(std::env::current_exe().ok()?);
    as_if(&mut command, product);
    command
        .env("HardwareInfoOverride", "1x6x16")
        .env("UseAubStream", "0")
        .env("UseBindlessMode", "0")
        .env("UseExternalAllocatorForSshAndDsh", "0")
        .env("NEO_CACHE_PERSISTENT", "0");
    Some(command)
}
