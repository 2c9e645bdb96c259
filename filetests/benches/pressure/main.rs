//! Register allocation under pressure, as in the tables of `docs/regalloc.md`:
//!
//! `cargo bench -p gantry-filetests --bench pressure [-- intel|coarser|rising|stages|banks...] [-O
//! 0|1|2] [--a64] [--kernels NAME,...] [--keep FOLDER]`
//!
//! - `coarser` compares with allocation by whole GRFs and with a linear scan.
//! - `intel` compares with Intel's compiler, both on the simulator. It needs `ocloc` on the path.
//! - `rising` measures the compile time for a rising number of live values, of both compilers. It
//!   needs `ocloc` on the path.
//! - `stages` breaks the compile time down, with the classics of the run corpus.
//! - `banks` counts conflicts of register banks in their code.
//!
//! With `--a64` buffers have 64-bit addresses on both sides. Without it they are surfaces of 32-bit
//! addresses, the default of Intel's compiler. Gantry's side is compiled at `-O`, by default 2;
//! Intel's at its own level. `--keep` leaves OpenCL C, IR and zebins in a folder.

mod banks;
mod coarser;
mod intel;
mod rising;
mod stages;

use gantry_codegen::{CompileOptions, OptLevel};
use gantry_filetests::pressure::{Kernel, kernels};
use std::path::PathBuf;

type Res<T> = Result<T, String>;

/// Command line.
struct Arguments {
    kernels: Vec<Kernel>,
    keep: Option<PathBuf>,
    /// True for 64-bit addresses on both sides, not 32-bit ones.
    wide: bool,
    /// Optimization level of our side.
    level: OptLevel,
    /// Only kernels of these names.
    names: Option<Vec<String>>,
}

impl Arguments {
    /// Returns the compile options of our side.
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
    let mut asked = Arguments {
        kernels: kernels(),
        keep: None,
        wide: false,
        level: OptLevel::default(),
        names: None,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            // Argument that cargo passes to every benchmark.
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
