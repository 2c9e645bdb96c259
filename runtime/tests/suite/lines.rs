//! Source lines of Intel's debug information, in faults, profiles and hazards.

use crate::common::{compile_for, have};
use gantry_runtime::{Device, Error, Grid, LaunchStats, SimOptions, Watch};

/// Kernel source. `ocloc` writes debug information for modules of one kernel only.
const ADDS: &str = "\
__kernel __attribute__((intel_reqd_sub_group_size(16)))
void adds(__global int *out, int n) {
    int i = get_global_id(0);
    out[i] += n;
}
";

const ENDLESS: &str = "\
__kernel __attribute__((intel_reqd_sub_group_size(16)))
void endless(__global volatile int *out, int n) {
    while (out[0] < n + 100)
        out[get_global_id(0) & 3] = 0;
}
";

#[test]
fn lines_of_compiled_kernels() {
    if !have("ocloc") {
        return;
    }
    for device in ["skl", "tgllp", "dg2"] {
        for (options, has) in [("", false), ("-g", true)] {
            let watch = Watch::new().counts();
            launch(&compile_for(device, ADDS, options), "adds", &watch).unwrap();
            let lines: Vec<String> = watch
                .report()
                .by_line()
                .into_iter()
                .map(|t| t.name)
                .collect();
            for n in [3, 4] {
                let line = lines.iter().any(|l| l.ends_with(&format!("k.cl:{n}")));
                assert_eq!(line, has, "{device}: {lines:?}");
            }
            let endless = compile_for(device, ENDLESS, options);
            let Err(Error::Fault(f)) = launch(&endless, "endless", &watch) else {
                panic!("{device}: no fault");
            };
            assert_eq!(f.source.is_some(), has, "{device}: {f}");
            if let Some(s) = &f.source {
                assert!(s.file.ends_with("k.cl") && matches!(s.line, 3 | 4), "{f}");
                assert!(f.to_string().ends_with(&format!("\n  {s}")), "{f}");
            }
        }
    }
}

fn launch(zebin: &[u8], name: &str, watch: &Watch) -> Result<LaunchStats, Error> {
    let d = Device::simulator(SimOptions {
        instruction_limit: 10_000,
        ..SimOptions::default()
    });
    let m = d.load(zebin)?;
    let k = m.kernel(name)?;
    let buffer = d.buffer(256)?;
    let launch = k.launch(Grid::new([16, 1, 1])).arg(&buffer).arg(5i32);
    launch.watch(watch).run()
}
