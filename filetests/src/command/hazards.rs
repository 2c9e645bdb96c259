//! `test hazards`: the scoreboard check of the simulator.

use super::{Command, Outcome, platform};
use crate::Options;
use crate::file::{Test, TestFile};
use crate::runner::INSTRUCTION_LIMIT;
use gantry_isa_gen::Platform;
use gantry_isa_gen::text::assemble;
use gantry_runtime::{Device, Grid, Hazard, SimOptions, Watch};
use gantry_zebin::write_kernels;

/// Assembles the file as one kernel and runs a thread of it. It must have exactly the hazards that
/// `// hazard: TEXT` comments name. Each must be at the comment's line, with TEXT in its message.
pub(super) struct Hazards;

/// Description of a kernel of a pointer, which is in r2.0:uq on Xe-LP, to 4 KB.
const INFO: &str = "\
kernels:
  - name: test
    execution_env:
      simd_size: 16
    payload_arguments:
      - arg_type: arg_bypointer
        offset: 0
        size: 8
        arg_index: 0
        addrmode: stateless
        addrspace: global
";

impl Command for Hazards {
    fn name(&self) -> &'static str {
        "hazards"
    }

    fn directives(&self) -> &'static [&'static str] {
        &["hazard"]
    }

    fn run(&self, file: &TestFile, _test: &Test, _options: &Options) -> Result<Outcome, String> {
        let platform = platform(file)?;
        let program =
            assemble(platform, &file.body).map_err(|e| e.render(&file.path, &file.source))?;
        let line_of = |h: &Hazard| {
            let at = program.insts.iter().find(|i| i.offset == h.ip as usize);
            at.map_or(0, |i| i.span.line)
        };
        let mut left = found(platform, program.bytes.clone())?;
        let mut message = String::new();
        for d in file.named("hazard") {
            let named = |h: &Hazard| line_of(h) == d.line && h.to_string().contains(&d.text);
            match left.iter().position(named) {
                Some(i) => {
                    left.swap_remove(i);
                }
                None => message += &format!("expected at line {}: {}\n", d.line, d.text),
            }
        }
        for h in left {
            message += &format!("unexpected at line {}: {h}\n", line_of(&h));
        }
        if message.is_empty() {
            Ok(Outcome::Pass)
        } else {
            Err(message)
        }
    }
}

/// Returns the hazards of a thread of 16 channels.
fn found(platform: Platform, code: Vec<u8>) -> Result<Vec<Hazard>, String> {
    let device = Device::simulator(SimOptions {
        instruction_limit: INSTRUCTION_LIMIT,
        ..SimOptions::default()
    });
    let zebin = write_kernels(platform, INFO, &[("test", code)]).map_err(|e| e.to_string())?;
    let watch = Watch::new().hazards();
    let run = || {
        let module = device.load(&zebin)?;
        let buffer = device.buffer(4096)?;
        let launch = Grid::new([16, 1, 1]).group([16, 1, 1]);
        let kernel = module.kernel("test")?;
        kernel.launch(launch).arg(&buffer).watch(&watch).run()
    };
    run().map_err(|e: gantry_runtime::Error| e.to_string())?;
    Ok(watch.report().hazards)
}
