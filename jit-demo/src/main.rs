//! Host of the demo: compiles kernels, launches them, checks them against the CPU and draws
//! pictures.

use clap::Parser;
use gantry_codegen::CompileOptions;
use gantry_jit_demo::DemoError;
use gantry_jit_demo::demo::Demo;
use gantry_jit_demo::given;
use gantry_jit_demo::picture::Picture;
use gantry_jit_demo::report::Table;
use gantry_runtime::{Device, DeviceKind};
use std::io::{Cursor, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Picture that `linear` filters by default.
const DEFAULT_PICTURE: &[u8] = include_bytes!("../pictures/harbour.png");

/// Compiles kernels with Gantry, launches them, checks them against the CPU and draws pictures.
#[derive(Parser, Debug)]
#[command(name = "gantry-jit-demo", version)]
struct Args {
    /// RGB picture that `linear` and `edges` filter (PNG, any size).
    #[arg(long)]
    input: Option<PathBuf>,
    /// Directory for the pictures.
    #[arg(long, default_value = "pictures")]
    output: PathBuf,
    /// Device: auto, sim or level-zero.
    #[arg(long, default_value = "auto")]
    device: String,
    /// Product to compile for; the device's own by default.
    #[arg(long)]
    target: Option<String>,
    /// Elements of `saxpy`.
    #[arg(long, default_value_t = 1_000_003)]
    elements: usize,
    /// SPIR-V file with a kernel to run instead of the demo's, on ascending numbers.
    #[arg(long, value_name = "FILE", conflicts_with = "wgsl")]
    spirv: Option<PathBuf>,
    /// WGSL file with a kernel to run instead of the demo's, on ascending numbers.
    #[arg(long, value_name = "FILE")]
    wgsl: Option<PathBuf>,
    /// Name of the given kernel, if there are several.
    #[arg(long)]
    kernel: Option<String>,
    /// Work-items of the given kernel.
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    items: u32,
    /// Width and height of `mandelbrot`.
    #[arg(long, num_args = 2, value_names = ["WIDTH", "HEIGHT"], default_values_t = [1024, 768])]
    size: Vec<u32>,
}

/// Prints to standard output. A closed pipe is not an error, since the pictures are drawn all the
/// same.
fn say(text: std::fmt::Arguments<'_>) -> Result<(), String> {
    match std::io::stdout().write_fmt(text) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {e}")),
        _ => Ok(()),
    }
}

fn run(args: &Args) -> Result<(), String> {
    let text = |e: DemoError| e.to_string();
    let kind = DeviceKind::from_name(&args.device)
        .ok_or_else(|| format!("`{}` is not a device: auto, sim or level-zero", args.device))?;
    let (width, height) = match args.size[..] {
        [w, h] if (1..=16384).contains(&w) && (1..=16384).contains(&h) => (w, h),
        _ => return Err("--size takes a width and a height of 1 to 16384".to_string()),
    };
    let given = match (&args.spirv, &args.wgsl) {
        (Some(path), _) => Some(given::read(path, false, args.kernel.as_deref())),
        (None, Some(path)) => Some(given::read(path, true, args.kernel.as_deref())),
        (None, None) => None,
    };
    let given = given.transpose().map_err(text)?;
    let picture = match &args.input {
        Some(path) => Picture::read(path),
        None => Picture::decode(
            Cursor::new(DEFAULT_PICTURE),
            Path::new("the default picture"),
        ),
    }
    .map_err(text)?;
    let device = Device::open(kind).map_err(|e| e.to_string())?;
    let options = match &args.target {
        Some(name) => CompileOptions::for_target(name),
        None => CompileOptions::for_device(&device.info()),
    }
    .map_err(|e| e.to_string())?;
    // Intel's driver without hardware accepts everything and computes nothing.
    let computes = device.is_simulator() || std::env::var_os("SetCommandStreamReceiver").is_none();
    say(format_args!(
        "device: {}; target: {}\n",
        device.name(),
        options.target.name()
    ))?;
    let demo = Demo {
        device,
        options,
        computes,
    };
    let mut table = Table::default();
    if let Some(given) = given {
        table.0.push(demo.given(&given, args.items).map_err(text)?);
        return say(format_args!("{table}"));
    }
    std::fs::create_dir_all(&args.output).map_err(|e| format!("{}: {e}", args.output.display()))?;
    table.0.push(demo.saxpy(args.elements).map_err(text)?);
    let (line, set) = demo.mandelbrot(width, height).map_err(text)?;
    table.0.push(line);
    let (line, filtered) = demo.linear(&picture).map_err(text)?;
    table.0.push(line);
    let (line, edges) = demo.edges(&picture).map_err(text)?;
    table.0.push(line);
    say(format_args!("{table}"))?;
    let pictures = [
        ("mandelbrot.png", set),
        ("linear.png", filtered),
        ("edges.png", edges),
    ];
    for (name, picture) in pictures {
        let path = args.output.join(name);
        picture.write(&path).map_err(text)?;
        say(format_args!("picture: {}\n", path.display()))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}
