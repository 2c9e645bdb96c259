//! What register allocation comes to under pressure, as the tables of `docs/regalloc.md`:
//!
//! `cargo bench -p gantry-filetests --bench pressure [-- intel|coarser|rising|stages|banks...] [-O 0|1|2] [--a64] [--kernels NAME,...] [--keep FOLDER]`
//!
//! `coarser`: beside allocation by whole GRFs and a linear scan. `intel`: beside Intel's compiler, both on the simulator. `rising`: time to compile more and more live values, of both. Both want `ocloc` on the path. `stages`: what a compile spends its time on, with the classics of the run corpus. `banks`: conflicts of register banks in their code.
//! `--a64`: buffers have 64-bit addresses on both sides; without it they are surfaces of 32-bit addresses, as Intel's compiler has it by itself.
//! Gantry's side is compiled at `-O`, of 2 by itself; Intel's at its own.
//! `--keep` leaves OpenCL C, IR and zebins in a folder.

mod banks;
mod coarser;
mod intel;
mod rising;
mod stages;

use gantry_codegen::{CompileOptions, OptLevel};
use gantry_filetests::pressure::{Kernel, kernels};
use std::path::PathBuf;

type Res<T> = Result<T, String>;

/// What the command line says.
struct Asked {
    kernels: Vec<Kernel>,
    keep: Option<PathBuf>,
    /// Addresses of 64 bits on both sides, not of 32.
    wide: bool,
    /// How much our side optimizes.
    level: OptLevel,
    /// Only these.
    names: Option<Vec<String>>,
}

impl Asked {
    /// How our side is compiled.
    fn options(&self) -> Res<CompileOptions> {
        let mut options = CompileOptions::for_target("skl").map_err(|e| e.to_string())?;
        options.opt = self.level;
        options.large_buffers = self.wide;
        options.check = false;
        Ok(options)
    }

    fn is_for(&self, kernel: &str) -> bool {
        let names = self.names.as_ref();
        names.is_none_or(|n| n.iter().any(|n| n == kernel))
    }
}

fn main() -> Res<()> {
    let mut tables = Vec::new();
    let mut asked = Asked {
        kernels: kernels(),
        keep: None,
        wide: false,
        level: OptLevel::default(),
        names: None,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            // What cargo says to every benchmark.
            "--bench" => {}
            "--kernels" => {
                let names = args.next().unwrap_or_default();
                asked.names = Some(names.split(',').map(str::to_owned).collect());
                let mut kernels = std::mem::take(&mut asked.kernels);
                kernels.retain(|k| asked.is_for(&k.name));
                asked.kernels = kernels;
            }
            "-O" => {
                let name = args.next().unwrap_or_default();
                asked.level = OptLevel::from_name(&name).ok_or("-O takes 0, 1 or 2")?;
            }
            "--a64" => asked.wide = true,
            "--keep" => asked.keep = args.next().map(PathBuf::from),
            _ => tables.push(arg),
        }
    }
    if tables.is_empty() {
        tables = ["intel", "coarser", "rising", "stages", "banks"]
            .map(str::to_owned)
            .to_vec();
    }
    for t in tables {
        match t.as_str() {
            "intel" => intel::table(&asked)?,
            "coarser" => coarser::table(&asked)?,
            "rising" => rising::table(&asked)?,
            "stages" => stages::table(&asked)?,
            "banks" => banks::table(&asked)?,
            _ => return Err(format!("no table `{t}`")),
        }
    }
    Ok(())
}
