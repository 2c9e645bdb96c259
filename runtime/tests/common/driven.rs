//! Intel's driver without a GPU, made to take itself for one of a product.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::process::Command;

/// The products that the driver of Debian 12 has for Level Zero.
pub const DRIVEN: [&str; 7] = ["skl", "kbl", "cfl", "icllp", "tgllp", "dg2", "pvc"];
/// What the driver wants to be told of a product's parts (slices, sub-slices, EUs), where it has no default.
const PARTS: [(&str, &str); 1] = [("dg2", "2x4x16")];

/// Has a process, which loads the driver, see a device of a product.
pub fn as_if(command: &mut Command, product: &str) {
    command
        .env("NEOReadDebugKeys", "1")
        .env("SetCommandStreamReceiver", "1")
        .env("ProductFamilyOverride", product);
    if let Some((_, parts)) = PARTS.iter().find(|p| p.0 == product) {
        command.env("HardwareInfoOverride", parts);
    }
}
