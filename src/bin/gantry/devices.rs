//! `gantry devices`.

use crate::{Failure, print};
use gantry::codegen::CompileOptions;
use gantry::runtime::{Device, DeviceKind};
use serde_json::{Value, json};

/// List the devices that kernels can run on, with the index and the name that open each
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print a JSON object a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let devices = Device::all();
    let mut gpus = 0;
    for (index, device) in devices.iter().enumerate() {
        let info = device.info();
        let option = match info.product {
            Some(product) if device.is_simulator() => product.name().to_owned(),
            _ => {
                gpus += 1;
                format!("level-zero:{}", gpus - 1)
            }
        };
        let line = if args.json {
            found(index, &option, device).to_string()
        } else {
            let limits = info.limits.map_or(String::new(), |l| {
                let (eus, threads) = (l.eus, l.threads_per_eu);
                format!(
                    ", {eus} EUs of {threads} threads, groups of {}",
                    l.group_items
                )
            });
            format!("{index:>2} {option:<13} {}{limits}", device.name())
        };
        print(&format!("{line}\n"))?;
    }
    if gpus > 0 {
        return Ok(());
    }
    // No GPU: says why.
    let Err(e) = Device::open(DeviceKind::LevelZero) else {
        return Ok(());
    };
    let line = if args.json {
        json!({ "device": "level-zero", "error": e.to_string() }).to_string()
    } else {
        format!("level-zero: not there ({e})")
    };
    print(&format!("{line}\n"))
}

/// Describes a device as `docs/command.md` says.
fn found(index: usize, option: &str, device: &Device) -> Value {
    let info = device.info();
    let target = CompileOptions::for_device(&info).ok();
    let mut out = json!({
        "index": index,
        "device": option,
        "name": device.name(),
        "simulator": device.is_simulator(),
        "product": info.product.map(|p| p.name()),
        "platform": device.platform().map(|p| p.name()),
        "target": target.map(|t| t.target.name()),
    });
    if let (Some(out), Some(l)) = (out.as_object_mut(), info.limits) {
        let limits = json!({
            "eus": l.eus,
            "threads_per_eu": l.threads_per_eu,
            "subslices": l.subslices,
            "slm_per_group": l.slm_per_group,
            "slm_per_subslice": l.slm_per_subslice,
            "sub_group_sizes": l.sub_group_sizes,
            "doubles": l.doubles,
            "halfs": l.halfs,
            "atomics64": l.atomics64,
            "group_items": l.group_items,
            "group_threads": l.group_threads,
            "grf_counts": l.grf_counts,
        });
        out.extend(limits.as_object().cloned().unwrap_or_default());
    }
    out
}
