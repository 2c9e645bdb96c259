//! What pocl computes.

use crate::case::{self, Case, Judge};
use crate::cl::{self, Pocl, Program};
use crate::{kernels, specs};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// pocl, and what was computed with it so far.
struct Reference {
    pocl: Pocl,
    programs: BTreeMap<&'static str, Result<Program, String>>,
    results: BTreeMap<String, Result<Vec<Vec<u8>>, String>>,
}

fn reference() -> Option<MutexGuard<'static, Reference>> {
    static REFERENCE: OnceLock<Result<Mutex<Reference>, String>> = OnceLock::new();
    let opened = REFERENCE.get_or_init(|| {
        cl::keep_compiled_in(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("pocl"));
        Ok(Mutex::new(Reference {
            pocl: Pocl::open()?,
            programs: BTreeMap::new(),
            results: BTreeMap::new(),
        }))
    });
    match opened {
        Ok(r) => Some(r.lock().unwrap_or_else(PoisonError::into_inner)),
        Err(e) => {
            assert!(
                std::env::var_os("GANTRY_REQUIRE_ORACLES").is_none_or(|v| v != "1"),
                "pocl is required: {e}"
            );
            eprintln!("skipped: {e}");
            None
        }
    }
}

/// Whether pocl is there. Where it is not: a line that says so, or a failure if `GANTRY_REQUIRE_ORACLES` is 1.
pub fn have_pocl() -> bool {
    reference().is_some()
}

/// What the buffers and images of a launch hold after it on pocl; computed once in a process.
pub fn results(case: &Case) -> Result<Vec<Vec<u8>>, String> {
    let mut reference = reference().ok_or("pocl is not there")?;
    let Reference {
        pocl,
        programs,
        results,
    } = &mut *reference;
    let program = programs
        .entry(case.file)
        .or_insert_with(|| pocl.build(&source(case.file), "-cl-std=CL3.0 -DSIMD=16"));
    let program = program.as_ref().map_err(|e| format!("pocl: {e}"))?;
    results
        .entry(case.name())
        .or_insert_with(|| {
            let args: Vec<cl::Arg> = case.args.iter().map(argument).collect();
            pocl.run(program, case.kernel, &args, whole_groups(case.range))
        })
        .clone()
        .map_err(|e| format!("pocl: {e}"))
}

fn argument(arg: &case::Arg) -> cl::Arg {
    match arg {
        case::Arg::Buffer { data, .. } => cl::Arg::Buffer(data.clone()),
        case::Arg::Value(bytes) => cl::Arg::Value(bytes.clone()),
        case::Arg::Local(bytes) => cl::Arg::Local(*bytes as usize),
        case::Arg::Image { image, .. } => cl::Arg::Image(image.clone()),
        case::Arg::Sampler(sampler) => cl::Arg::Sampler(*sampler),
    }
}

/// pocl takes whole groups only: a launch with a smaller group at the end (of a kernel that does not ask about groups)
/// runs in groups that divide it.
fn whole_groups(mut range: cl::Range) -> cl::Range {
    for (global, local) in range.global.iter().zip(&mut range.local) {
        while global % *local != 0 {
            *local -= 1;
        }
    }
    range
}

/// The text of a file with those kernels that pocl judges: it does not have every extension that the others need.
fn source(file: &str) -> String {
    let text = kernels::FILES.iter().find(|(f, _)| *f == file);
    let cases = specs::cases();
    let judged = |kernel: &str| {
        let of = |c: &&Case| c.file == file && c.kernel == kernel;
        let launches: Vec<&Case> = cases.iter().filter(of).collect();
        launches.iter().any(|c| matches!(c.judge, Judge::Pocl))
    };
    let mut out = String::new();
    let mut inside = None;
    for line in text.map_or("", |(_, t)| t).lines() {
        if let Some(name) = kernel_at(line) {
            inside = Some(judged(name));
        }
        if line.starts_with("#define SG ") {
            out.push_str("#define SG");
        } else if inside != Some(false) {
            out.push_str(line);
        }
        out.push('\n');
        if line == "}" {
            inside = None;
        }
    }
    out
}

/// The names of the kernels in a text.
pub fn kernels_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(kernel_at)
}

fn kernel_at(line: &str) -> Option<&str> {
    line.strip_prefix("SG kernel void ")?.split('(').next()
}
