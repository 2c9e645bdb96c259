//! `gantry run`.

use crate::args::ArgForm;
use crate::bindings::{self, BindArg};
use crate::input::Language;
use crate::{Failure, input, progress, seen};
use gantry::codegen::{OptLevel, Target};
use gantry::runtime::{
    Bounds, Device, Error, Grid, Kernel, Module, Progress, SimOptions, Watch, zebin,
};
use gantry::spirv::{self, Simd};
use std::path::PathBuf;
use std::time::Duration;

/// Run a kernel of a zebin, of IR text, of SPIR-V or of WGSL
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Zebin, or IR text (`.gir`), SPIR-V (`.spv`) or WGSL (`.wgsl`), which is compiled first; `-`
    /// is standard input, recognized by its contents
    file: PathBuf,
    /// More SPIR-V modules, which are linked with the first one by the names that they import and
    /// export
    more: Vec<PathBuf>,
    /// Kernel; may be left out if there is only one
    #[arg(long)]
    kernel: Option<String>,
    /// Work-items: X[,Y[,Z]]. Groups of shaders are whole: there may be more
    #[arg(long, value_parser = |s: &str| dims(s, 1), default_value = "1")]
    global: Dims,
    /// Work-groups instead of work-items: X[,Y[,Z]]
    #[arg(long, value_parser = |s: &str| dims(s, 1), conflicts_with = "global")]
    groups: Option<Dims>,
    /// Work-items of a group; by default what the kernel requires, or one thread
    #[arg(long, value_parser = |s: &str| dims(s, 1))]
    local: Option<Dims>,
    /// Global id of the first work-item
    #[arg(long, value_parser = |s: &str| dims(s, 0), default_value = "0")]
    offset: Dims,
    /// Kernel argument, in order: in:FILE, out:FILE:BYTES, inout:FILE:OUTFILE, zero:BYTES,
    /// local:BYTES, i32:N and the like, f32x4:1,2,3,4 and the like, bytes:HEX,
    /// image2d:FILE.png[:OUT.png], image:40x32[x8]:ORDER:CHANNEL:FILE[:OUTFILE] (no FILE: zeros),
    /// sampler:ADDRESS:FILTER[:norm][:mip=FILTER][:lod=LEAST-MOST]
    #[arg(long = "arg", value_name = "ARG", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Resource of a shader at a set (WGSL: group) and binding, or push constants:
    /// SET,BINDING[,ELEMENT]:ARG or push:ARG with ARG as above. Sizes of buffers are passed
    /// implicitly. Without any --bind, each --arg is a binding, in their order
    #[arg(
        long = "bind",
        value_name = "BIND",
        allow_hyphen_values = true,
        conflicts_with = "args"
    )]
    binds: Vec<String>,
    /// Device: auto, sim, level-zero, or one that `gantry devices` lists, by index or name
    #[arg(long, default_value = "auto")]
    device: String,
    /// Product that IR text, SPIR-V and WGSL are compiled for; the device's own by default. A zebin
    /// must be compiled for its platform
    #[arg(long)]
    target: Option<String>,
    /// Optimization level: 0, 1 or 2
    #[arg(short = 'O', long = "opt-level", value_name = "LEVEL", default_value = OptLevel::default().name())]
    opt: String,
    /// Allow buffers larger than 4 GiB: all are accessed by 64-bit addresses, and accesses out of
    /// bounds are faults
    #[arg(long)]
    large_buffers: bool,
    /// Registers of a thread: 128, 256 with half as many threads, or auto, where the platform has
    /// both
    #[arg(long, value_name = "COUNT", default_value = "128")]
    grf: String,
    /// SIMD width of SPIR-V and WGSL: 8, 16, 32 or auto; a required sub-group size takes precedence
    #[arg(long, value_parser = input::simd, default_value = "auto")]
    simd: Simd,
    /// Make shaders read zeros and drop writes outside of arrays: on or off. On by default for
    /// WGSL, off for SPIR-V
    #[arg(long, value_name = "ON", value_parser = input::on_off)]
    robust: Option<bool>,
    /// Let buffers of SPIR-V and WGSL share memory: the same one may be bound twice and written
    #[arg(long)]
    may_alias: bool,
    /// Length of an array of resources that SPIR-V or WGSL gives none, by set (WGSL: group) and
    /// binding. May be repeated
    #[arg(long, value_name = "SET,BINDING=LENGTH", value_parser = input::binding_array)]
    binding_array: Vec<((u32, u32), u32)>,
    /// Round quotients and square roots of singles in SPIR-V and WGSL correctly; by default they
    /// are the math unit's
    #[arg(long)]
    exact_division: bool,
    /// Round each product and sum in SPIR-V and WGSL separately; by default once, where the module
    /// allows it
    #[arg(long)]
    exact_sums: bool,
    /// Value of a specialization constant of SPIR-V, by its `SpecId` or name, or of an override of
    /// WGSL: NAME=VALUE. May be repeated
    #[arg(long = "spec", value_name = "NAME=VALUE", value_parser = input::spec)]
    specs: Vec<(String, spirv::SpecValue)>,
    /// Take compiled code from the cache in DIR if it is there, else compile and store it
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Instructions that one simulated thread may run before its launch ends as an endless loop
    #[arg(long, value_name = "N", default_value_t = SimOptions::default().instruction_limit)]
    instruction_limit: u64,
    /// Seconds after which the launch is stopped
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
    /// Result of accesses outside of a surface's buffer on the simulator: error, or drop as in
    /// hardware (reads return zeros, writes are dropped)
    #[arg(long, value_name = "WHAT", value_parser = bounds, default_value = "error")]
    bounds: Bounds,
    /// Refuse on the simulator what a GPU and its driver would: modules of other products, too
    /// large groups
    #[arg(long)]
    strict: bool,
    /// Threads of this machine that the simulator uses; 0 is one a core
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    #[command(flatten)]
    seen: seen::WatchArgs,
}

fn bounds(text: &str) -> Result<Bounds, String> {
    match text {
        "error" => Ok(Bounds::Error),
        "drop" => Ok(Bounds::Drop),
        _ => Err(format!("`{text}` is neither `error` nor `drop`")),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    seconds
        .and_then(|s| Duration::try_from_secs_f64(s).ok())
        .ok_or_else(|| format!("`{text}` is no number of seconds"))
}

/// Three dimensions.
type Dims = [u32; 3];

pub(crate) fn dims(text: &str, missing: u32) -> Result<Dims, String> {
    let mut out = [missing; 3];
    let mut parts = text.split(',');
    for (d, part) in out.iter_mut().zip(&mut parts) {
        *d = part
            .trim()
            .parse()
            .map_err(|_| format!("`{part}` is no unsigned number"))?;
    }
    match parts.next() {
        Some(_) => Err("there are three dimensions at most".to_owned()),
        None => Ok(out),
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let forms = args
        .args
        .iter()
        .map(|a| ArgForm::parse(a))
        .collect::<Result<Vec<_>, _>>()?;
    let binds = args.binds.iter().map(|b| BindArg::parse(b));
    let binds = binds.collect::<Result<Vec<_>, _>>()?;
    let device = open(args)?;
    let (zebin, hit) = zebin(args, &device)?;
    let module = device
        .load(&zebin)
        .map_err(|e| Failure::file(&args.file, e))?;
    let kernel = kernel(args, &module)?;

    let shader = bindings::is_shader(&kernel);
    let size = args.local.or(kernel.group_size());
    let mut grid = match args.groups {
        Some(groups) if size.is_some() => Grid::groups(groups),
        Some(_) => {
            return Err(Failure::usage("--groups needs --local for this kernel"));
        }
        // Whole groups, as shaders have them.
        None => match size.filter(|_| shader) {
            Some(size) => Grid::groups([0, 1, 2].map(|d| args.global[d].div_ceil(size[d].max(1)))),
            None => Grid::new(args.global),
        },
    };
    grid = grid.offset(args.offset);
    if let Some(local) = args.local {
        grid = grid.group(local);
    }
    let (values, after) = bindings::in_order(&forms, &device, &kernel)?;
    let launch = kernel.launch(grid).args(values);
    let (mut launch, bound) = bindings::bind(launch, &binds, &device, &kernel)?;
    let after = after.into_iter().chain(bound);
    let watch = args.seen.watch(device.is_simulator())?;
    if let Some(t) = args.timeout {
        launch = launch.timeout(t);
    }
    if let Some(w) = &watch {
        launch = launch.watch(w);
    }
    let progress = Progress::new();
    let launch = launch.progress(&progress);
    let result = progress::with_bar(&progress, || launch.run());
    let report = watch.as_ref().map(Watch::report);
    let stats = match result {
        Ok(stats) => stats,
        Err(e) => {
            // The report up to the fault may help to explain it.
            args.seen.show(kernel.name(), None, report.as_ref(), hit)?;
            return Err(failed(&e, &kernel));
        }
    };
    for file in after {
        file.write()?;
    }
    args.seen
        .show(kernel.name(), Some(&stats), report.as_ref(), hit)
}

/// Returns the failure of a launch. If arguments are missing, or too many, it lists those that the
/// kernel takes.
fn failed(error: &Error, kernel: &Kernel) -> Failure {
    match error {
        Error::ArgCount { .. } => Failure::new(format!("{error}{}", bindings::listed(kernel))),
        _ => Failure::new(error),
    }
}

/// Opens the device that the command line names. A simulator takes the options for simulators.
fn open(args: &Args) -> Result<Device, Failure> {
    let device = Device::named(&args.device).map_err(|e| {
        // Names of the library are right even where it is missing.
        let exists = ["auto", "level-zero"]
            .iter()
            .any(|n| args.device.starts_with(n));
        if exists {
            Failure::new(e)
        } else {
            Failure::usage(e)
        }
    })?;
    if !device.is_simulator() {
        return Ok(device);
    }
    let options = device.info().product.map(SimOptions::of);
    Ok(Device::simulator(SimOptions {
        instruction_limit: args.instruction_limit,
        threads: args.threads,
        bounds: args.bounds,
        strict: args.strict,
        ..options.unwrap_or_default()
    }))
}

/// Zebin, and if a cache was asked for, true for a hit in it.
type Zebin = (Vec<u8>, Option<bool>);

fn zebin(args: &Args, device: &Device) -> Result<Zebin, Failure> {
    if matches!(
        input::language(&args.file)?,
        Language::Asm | Language::Binary
    ) {
        input::only_one(&args.more)?;
        let bytes = input::read(&args.file)?;
        return match &args.target {
            Some(name) => Ok((compiled_for(args, name, &bytes)?.to_vec(), None)),
            None => Ok((bytes, None)),
        };
    }
    let mut options = input::options(args.target.as_deref(), device)?;
    options.opt = input::opt_level(&args.opt)?;
    options.large_buffers = args.large_buffers;
    options.grf_mode = input::grf_mode(&args.grf)?;
    let spirv = spirv::Options {
        simd: args.simd,
        kernel: args.kernel.clone(),
        robust: args.robust,
        binding_arrays: args.binding_array.iter().copied().collect(),
        may_alias: args.may_alias,
        exact_division: args.exact_division,
        exact_sums: args.exact_sums,
        source_name: Some(args.file.display().to_string()),
        constants: args.specs.iter().cloned().collect(),
        target: Some(options.clone()),
        ..spirv::Options::default()
    };
    let Some(dir) = &args.cache else {
        let module = input::module(&args.file, &args.more, &spirv)?;
        return Ok((input::compiled(&module, &options)?.zebin, None));
    };
    let cache = input::cache(dir)?;
    let zebin = input::cached_file(&cache, &args.file, &args.more, &spirv, &options)?;
    Ok((zebin.to_vec(), Some(zebin.is_hit())))
}

/// Returns the zebin for the target that the command line names, of a container too.
///
/// # Errors
/// A zebin is of another platform. A container has none for the target.
fn compiled_for<'b>(args: &Args, target: &str, bytes: &'b [u8]) -> Result<&'b [u8], Failure> {
    let named = Target::lookup(target).map_err(Failure::usage)?.platform();
    let bytes = input::part(&args.file, bytes, Some(target))?;
    let zebin = zebin::Zebin::parse(bytes).map_err(|e| Failure::file(&args.file, e))?;
    input::same_platform(&args.file, zebin.platform, named)?;
    Ok(bytes)
}

fn kernel(args: &Args, module: &Module) -> Result<Kernel, Failure> {
    let names: Vec<&str> = module.kernels().collect();
    let name = match (&args.kernel, names.as_slice()) {
        (Some(name), _) => name,
        (None, [one]) => *one,
        (None, []) => return Err(input::no_kernel(&args.file)),
        (None, _) => {
            return Err(Failure::file(
                &args.file,
                format!(
                    "--kernel must choose one of {} kernels: {}",
                    names.len(),
                    names.join(", ")
                ),
            ));
        }
    };
    module.kernel(name).map_err(|e| {
        let meant = input::nearest(name, &names);
        let hint = meant.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        Failure::file(&args.file, format!("{e}{hint}"))
    })
}
