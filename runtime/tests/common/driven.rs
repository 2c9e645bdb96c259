//! Intel's driver without a GPU, made to report a device of a product.
#![allow(dead_code, reason = "each test file uses its own part")]

use gantry_runtime::{Device, DeviceKind};
use std::path::Path;
use std::process::Command;

/// Products that the driver of Debian 12 supports for Level Zero.
pub const DRIVEN: [&str; 7] = ["skl", "kbl", "cfl", "icllp", "tgllp", "dg2", "pvc"];
/// Configurations (slices, sub-slices, EUs) of products for which the driver has no default, or one
/// with which its fills of memory end the process.
const PARTS: [(&str, &str); 2] = [("dg2", "2x4x16"), ("pvc", "1x8x8")];

/// Returns true if a missing oracle is a failure.
pub fn required() -> bool {
    std::env::var_os("GANTRY_REQUIRE_ORACLES").is_some_and(|v| v == "1")
}

/// Opens the driver's device. Without a driver, prints a line and returns `None`.
pub fn open() -> Option<Device> {
    match Device::open(DeviceKind::LevelZero) {
        Ok(d) => Some(d),
        Err(e) => {
            assert!(!required(), "{e}");
            println!("skipped: {e}");
            None
        }
    }
}

/// Returns a command that runs this test binary as if a device of a product were there.
pub fn again(product: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    as_if(&mut command, product);
    command
}

/// Runs one test alone in a folder, by a command of this test binary, with a variable that tells
/// the test so. Returns its output.
pub fn run(mut command: Command, test: &str, variable: (&str, &str), dir: &Path) -> String {
    let out = command
        .args(["--exact", test, "--nocapture"])
        .current_dir(dir)
        .env(variable.0, variable.1)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{text}{errors}");
    format!("{text}{errors}")
}

/// Runs one test alone, and prints the line of its output that has some words, or that it was
/// skipped.
pub fn run_for_line(command: Command, test: &str, variable: (&str, &str), words: &str) {
    let dir = tempfile::tempdir().unwrap();
    let text = run(command, test, variable, dir.path());
    let line = text.lines().find(|l| l.contains(words));
    assert!(line.is_some() || text.contains("skipped"), "{text}");
    println!("{}", line.unwrap_or("skipped"));
}

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
