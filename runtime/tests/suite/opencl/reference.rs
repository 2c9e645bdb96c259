//! Results of pocl.

use super::case::{self, Case, Oracle};
use super::cl::{self, Pocl, Program};
use super::specs;
use crate::kernels;
use gantry_runtime::{AddressMode, FilterMode, ImageDesc, ImageFormat, ImageType};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// pocl, and the results computed with it so far.
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

/// Returns true if pocl is installed. If not, prints so, or fails if `GANTRY_REQUIRE_ORACLES` is 1.
pub fn have_pocl() -> bool {
    reference().is_some()
}

/// Returns the contents of a launch's buffers and images after it on pocl, computed once in a
/// process.
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

/// Variable that selects the launch whose text a process prints.
const PRINT: &str = "GANTRY_PRINT";
const BEGIN: &str = "<printed>";
const END: &str = "</printed>";

/// Returns the text that a launch prints on pocl, computed once in a process. pocl writes to
/// standard output itself, so this is done in a process of its own: this program, asked for the
/// test `print_on_pocl`.
pub fn printed(case: &Case) -> Result<String, String> {
    static DONE: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = done.get(&case.name()) {
        return Ok(text.clone());
    }
    let (_, module) = module_path!().split_once("::").unwrap_or_default();
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new(program)
        .args(["--exact", &format!("{module}::print_on_pocl")])
        .args(["--ignored", "--nocapture"])
        .env(PRINT, case.name())
        .output()
        .map_err(|e| e.to_string())?;
    let out = String::from_utf8_lossy(&output.stdout);
    let text = out
        .split_once(BEGIN)
        .and_then(|(_, rest)| rest.split_once(END))
        .ok_or_else(|| format!("pocl: {out}{}", String::from_utf8_lossy(&output.stderr)))?;
    let text = text.0.trim_start().to_owned();
    done.insert(case.name(), text.clone());
    Ok(text)
}

#[test]
#[ignore = "`printed` runs it in a process of its own"]
fn print_on_pocl() {
    let name = std::env::var(PRINT).unwrap_or_default();
    let cases = specs::cases();
    let case = cases.iter().find(|c| c.name() == name).unwrap();
    println!("{BEGIN}");
    std::io::stdout().flush().unwrap();
    results(case).unwrap();
    println!("{END}");
}

fn argument(arg: &case::Arg) -> cl::Arg {
    match arg {
        case::Arg::Buffer { data, .. } => cl::Arg::Buffer(data.clone()),
        case::Arg::Value(bytes) => cl::Arg::Value(bytes.clone()),
        case::Arg::Local(bytes) => cl::Arg::Local(*bytes as usize),
        case::Arg::Image {
            format, desc, data, ..
        } => cl::Arg::Image(image(*format, *desc, data)),
        case::Arg::Sampler(s) => cl::Arg::Sampler(cl::SamplerDesc {
            normalized: s.normalized,
            address: match s.address[0] {
                AddressMode::None => 0x1130,
                AddressMode::ClampToEdge => 0x1131,
                AddressMode::Clamp => 0x1132,
                AddressMode::Repeat => 0x1133,
                AddressMode::Mirror => 0x1134,
            },
            filter: match s.mag {
                FilterMode::Nearest => 0x1140,
                FilterMode::Linear => 0x1141,
            },
        }),
    }
}

fn image(format: ImageFormat, desc: ImageDesc, data: &[u8]) -> cl::ImageDesc {
    let (kind, rows, slices) = match desc.ty() {
        ImageType::D1 => (cl::IMAGE1D, 1, 1),
        ImageType::D1Buffer => (cl::IMAGE1D_BUFFER, 1, 1),
        ImageType::D1Array => (cl::IMAGE1D_ARRAY, desc.layers(), 1),
        // pocl has no multi-sampled images: functions compute the expectations of those launches.
        // OpenCL has no cubes.
        ImageType::D2
        | ImageType::D2Msaa
        | ImageType::D2ArrayMsaa
        | ImageType::Cube
        | ImageType::CubeArray => (cl::IMAGE2D, desc.height(), 1),
        ImageType::D2Array => (cl::IMAGE2D_ARRAY, desc.height(), desc.layers()),
        ImageType::D3 => (cl::IMAGE3D, desc.height(), desc.depth()),
    };
    cl::ImageDesc {
        kind,
        order: format.order().number(),
        channel: format.channel().number(),
        size: [desc.width(), rows, slices].map(|n| n as usize),
        data: data.to_vec(),
    }
}

/// Shrinks the groups of a launch with a smaller group at the end to ones that divide it. pocl
/// takes whole groups only, and such kernels do not ask about groups.
fn whole_groups(mut range: cl::Range) -> cl::Range {
    for (global, local) in range.global.iter().zip(&mut range.local) {
        while global % *local != 0 {
            *local -= 1;
        }
    }
    range
}

/// Returns the text of a file with the kernels that pocl is the oracle of. It lacks some of the
/// extensions that the others need.
fn source(file: &str) -> String {
    let text = kernels::FILES.iter().find(|(f, _)| *f == file);
    let cases = specs::cases();
    let by_pocl = |kernel: &str| {
        let of = |c: &&Case| c.file == file && c.kernel == kernel;
        let launches: Vec<&Case> = cases.iter().filter(of).collect();
        launches.iter().any(|c| matches!(c.oracle, Oracle::Pocl))
    };
    let mut out = String::new();
    let mut inside = None;
    for line in text.map_or("", |(_, t)| t).lines() {
        if let Some(name) = kernel_at(line) {
            inside = Some(by_pocl(name));
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

/// Iterates over the names of the kernels in a text.
pub fn kernels_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(kernel_at)
}

fn kernel_at(line: &str) -> Option<&str> {
    line.strip_prefix("SG kernel void ")?.split('(').next()
}
