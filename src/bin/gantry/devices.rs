//! `gantry devices`.

use crate::{Failure, print};
use gantry::runtime::{Device, DeviceKind};

/// List the devices that kernels can run on
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Result<(), Failure> {
    let mut out = String::new();
    for (option, kind) in [
        ("sim", DeviceKind::Simulator),
        ("level-zero", DeviceKind::LevelZero),
    ] {
        match Device::open(kind) {
            Ok(d) => out.push_str(&format!("{option}: {}\n", d.name())),
            Err(e) => out.push_str(&format!("{option}: not there ({e})\n")),
        }
    }
    print(&out)
}
