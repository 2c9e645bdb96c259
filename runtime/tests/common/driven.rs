//! Intel's driver without a GPU, made to report a device of a product.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::process::Command;

/// Products that the driver of Debian 12 supports for Level Zero.
pub const DRIVEN: [&str; 7] = ["skl", "kbl", "cfl", "icllp", "tgllp", "dg2", "pvc"];
/// Configurations (slices, sub-slices, EUs) of products for which the driver has no default.
const PARTS: [(&str, &str); 1] = [("dg2", "2x4x16")];

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
