//! `gantry devices`.

use crate::{Failure, print};
use gantry::codegen::CompileOptions;
use gantry::runtime::{Device, DeviceKind};
use serde_json::{Value, json};

/// List the devices that kernels can run on
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print a JSON object a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    for (option, kind) in [
        ("sim", DeviceKind::Simulator),
        ("level-zero", DeviceKind::LevelZero),
    ] {
        let line = match (Device::open(kind), args.json) {
            (Ok(d), true) => found(option, &d).to_string(),
            (Ok(d), false) => format!("{option}: {}", d.name()),
            (Err(e), true) => json!({ "device": option, "error": e.to_string() }).to_string(),
            (Err(e), false) => format!("{option}: not there ({e})"),
        };
        print(&format!("{line}\n"))?;
    }
    Ok(())
}

/// Describes a device: its name, platform and the target that is compiled for by default; null
/// where there is none.
fn found(option: &str, device: &Device) -> Value {
    let target = CompileOptions::for_device(&device.info()).ok();
    json!({
        "device": option,
        "name": device.name(),
        "platform": device.platform().map(|p| p.name()),
        "target": target.map(|t| t.target.name()),
    })
}
