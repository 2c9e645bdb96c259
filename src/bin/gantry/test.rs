//! `gantry test`.

use crate::{Failure, input, print, progress};
use gantry::codegen::Target;
use gantry::filetests::{Options, Summary, run_path_with};
use gantry::isa::diag::Count;
use serde_json::json;
use std::path::PathBuf;

/// Run filetests
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Filetests, or directories of them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Write actual output to the files where a blessable expectation differs, as GANTRY_BLESS=1
    /// does
    #[arg(long)]
    bless: bool,
    /// Product that `test run` compiles for, instead of all; may be repeated
    #[arg(long = "target", value_name = "NAME")]
    targets: Vec<String>,
    /// Only level at which `test run` compiles: 0, 1 or 2
    #[arg(short = 'O', long = "opt-level", value_name = "LEVEL")]
    opt: Option<String>,
    /// Run only files whose path contains TEXT
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Print a JSON object a line: each failure, each file that was blessed, and the counts
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let target = |name: &String| Target::lookup(name).map_err(Failure::usage);
    let targets: Vec<Target> = args.targets.iter().map(target).collect::<Result<_, _>>()?;
    let options = Options {
        bless: args.bless || Options::from_env().bless,
        targets: (!targets.is_empty()).then_some(targets),
        opt: args.opt.as_deref().map(input::opt_level).transpose()?,
        filter: args.filter.clone(),
    };
    let mut all = Summary::default();
    for path in &args.paths {
        let bar = progress::of_files();
        let summary = run_path_with(path, &options, &|done, of| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        if args.json {
            lines(&summary)?
        } else {
            print(&format!("{summary}\n"))?
        }
        all.files += summary.files;
        all.failures.extend(summary.failures);
    }
    match (all.failures.len(), &args.filter) {
        (0, Some(text)) if all.files == 0 => Err(Failure::new(format!(
            "no filetest has `{text}` in its path"
        ))),
        (0, _) => Ok(()),
        (n, _) => Err(Failure::new(format!(
            "{} failed",
            Count(n, "filetest command")
        ))),
    }
}

/// Prints a summary as lines of JSON.
fn lines(summary: &Summary) -> Result<(), Failure> {
    for f in &summary.failures {
        let line = json!({"failure": f.path, "command": f.command, "message": f.message});
        print(&format!("{line}\n"))?;
    }
    for path in &summary.blessed {
        print(&format!("{}\n", json!({"blessed": path})))?;
    }
    let line = json!({
        "files": summary.files,
        "commands": summary.commands,
        "failures": summary.failures.len(),
    });
    print(&format!("{line}\n"))
}
