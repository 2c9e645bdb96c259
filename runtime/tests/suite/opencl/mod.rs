//! Comparison of the simulator with pocl, an OpenCL of the host's processor. OpenCL C kernels are
//! compiled by Intel's compiler for each device and each sub-group size.
//!
//! The kernels are those of `isa-gen/tests/kernels`. Their launches and tolerances are in `specs/`.
//! Where pocl has no answer (sub-groups, half precision), a function beside the launch computes the
//! expectation.
//!
//! `GANTRY_KERNEL=name` runs the launches whose name contains `name`.

mod case;
mod cl;
mod compare;
mod hazards;
mod judge;
mod reference;
mod simulated;
mod specs;

use crate::kernels;
use crate::kernels::Device;
use case::Case;
use std::collections::{BTreeMap, BTreeSet};

/// Results of one device at one width.
#[derive(Default)]
struct WidthResults {
    equal: usize,
    /// Number of skipped launches, and their kernels, by the reason.
    skipped: BTreeMap<&'static str, (usize, BTreeSet<&'static str>)>,
    wrong: Vec<String>,
}

impl WidthResults {
    fn print(&self, device: &str, width: u32) {
        let skipped: usize = self.skipped.values().map(|(n, _)| n).sum();
        println!(
            "{device:6} SIMD{width:<2}  {:4} run  {:4} equal  {skipped:3} not run",
            self.equal + self.wrong.len(),
            self.equal
        );
        for (reason, (_, names)) in &self.skipped {
            let names: Vec<_> = names.iter().copied().collect();
            println!("    {}: {reason}", names.join(", "));
        }
    }
}

fn device(device: &'static Device) {
    if !kernels::have_ocloc_for(device) || !reference::have_pocl() {
        return;
    }
    let only = std::env::var("GANTRY_KERNEL").unwrap_or_default();
    let cases = specs::cases();
    let asked: Vec<&Case> = cases.iter().filter(|c| c.name().contains(&only)).collect();
    let needed = |file: &str| asked.iter().any(|c| c.file == file);
    let mut rows: BTreeMap<u32, WidthResults> = BTreeMap::new();
    for zebin in kernels::zebins(device, device.widths, needed) {
        let row = rows.entry(zebin.width).or_default();
        let module = simulated::load(&zebin.bytes);
        let meant = |c: &&&Case| c.file == zebin.file && c.only.is_none_or(|w| w == zebin.width);
        for case in asked.iter().filter(meant) {
            if let Some(reason) = case.skipped_theirs(device.name, zebin.width) {
                let (n, names) = row.skipped.entry(reason).or_default();
                *n += 1;
                names.insert(case.kernel);
                continue;
            }
            let result = module
                .as_ref()
                .map_err(String::clone)
                .and_then(|m| judge::launch(case, m, zebin.width));
            match result {
                Ok(_) => row.equal += 1,
                Err(e) => row.wrong.push(format!(
                    "{} on {} SIMD{}: {e}",
                    case.name(),
                    device.name,
                    zebin.width
                )),
            }
        }
    }
    for (width, row) in &rows {
        row.print(device.name, *width);
    }
    let wrong: Vec<String> = rows.into_values().flat_map(|r| r.wrong).collect();
    assert!(
        wrong.is_empty(),
        "{} launches differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

macro_rules! devices {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            device(Device::named(stringify!($name)).unwrap());
        })*
    };
}

devices! { bdw skl kbl bxt icllp tgllp dg2 pvc }

/// Every kernel of the corpus has a launch.
#[test]
fn every_kernel_is_launched() {
    let cases = specs::cases();
    for (file, text) in kernels::FILES {
        for kernel in reference::kernels_of(text) {
            assert!(
                cases.iter().any(|c| c.file == *file && c.kernel == kernel),
                "{file}.cl: nothing launches `{kernel}`"
            );
        }
    }
}
