//! `gantry compile`.

use crate::input::Language;
use crate::seen::{OutputFormat, by_output};
use crate::{Failure, figures, input, print, regalloc_map};
use clap::ValueEnum;
use gantry::Zebin;
use gantry::codegen::ir::{FloatControls, Module};
use gantry::codegen::{
    CacheKey, CompileOptions, Compiled, Inline, OptLevel, Pass, SimdCf, Stage, listing,
};
use gantry::isa::diag::Count;
use gantry::runtime::{Device, DeviceKind};
use gantry::spirv::{self, Simd};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Compile IR text, SPIR-V or WGSL
#[derive(clap::Args)]
pub(crate) struct Args {
    /// IR (`.gir`), SPIR-V (`.spv`) or WGSL (`.wgsl`); `-` is standard input, recognized by its
    /// contents
    file: PathBuf,
    /// More modules of SPIR-V or of IR, as the first one is, which are linked with it by the names
    /// that they import and export
    more: Vec<PathBuf>,
    /// Only kernel of SPIR-V or WGSL to compile
    #[arg(long)]
    kernel: Option<String>,
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
    /// Record lines of IR text and WGSL, for faults, profiles and traces; SPIR-V has its own
    #[arg(short = 'g', long)]
    debug: bool,
    /// Product to compile for; by default that of the device that `gantry run` would use
    #[arg(long)]
    target: Option<String>,
    /// Value of a specialization constant of SPIR-V, by its `SpecId` or name, or of an override of
    /// WGSL: NAME=VALUE. May be repeated
    #[arg(long = "spec", value_name = "NAME=VALUE", value_parser = input::spec)]
    specs: Vec<(String, spirv::SpecValue)>,
    /// Output file (`-`: standard output). By default binaries go to FILE's name with `.zebin` or
    /// `.krn`, texts to standard output
    #[arg(short)]
    output: Option<PathBuf>,
    /// Kind of output
    #[arg(long, value_enum, default_value_t = Emit::Zebin)]
    emit: Emit,
    /// Lowering of SIMD control flow: auto, flags, or mask-stack, which refuses a kernel that
    /// breaks its rules
    #[arg(long, value_name = "WAY", default_value = "auto")]
    simd_cf: String,
    /// Inlining of subroutines: auto, all, or never
    #[arg(long, value_name = "CALLS", default_value = "auto")]
    inline: String,
    /// Optimization level: 0, 1 or 2
    #[arg(short = 'O', long = "opt-level", value_name = "LEVEL", default_value = OptLevel::default().name())]
    opt: String,
    /// Passes of the optimizer to leave out
    #[arg(long, value_name = "PASS")]
    without: Vec<String>,
    /// Allow buffers larger than 4 GiB: all are accessed by 64-bit addresses, none as a surface
    #[arg(long)]
    large_buffers: bool,
    /// Registers of a thread: 128, 256 with half as many threads, or auto, where the platform has
    /// both
    #[arg(long, value_name = "COUNT", default_value = "128")]
    grf: String,
    /// Let all kernels of IR text have `sums(contract)`: a product and its sum may be rounded once
    #[arg(long)]
    contract: bool,
    /// Number of registers that values may be in, from r0 on; by default all of the target's
    #[arg(long, value_name = "N")]
    grfs: Option<u32>,
    /// Take the zebin from the cache in DIR if it is there, else compile and store it. Only for
    /// `--emit zebin` without `--print-after`
    #[arg(long, value_name = "DIR", conflicts_with = "print_after")]
    cache: Option<PathBuf>,
    /// Print figures of each kernel to standard output: text, or a JSON object a line, which
    /// `gantry compare` reads; by default text at a terminal, else JSON
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = by_output())]
    stats: Option<OutputFormat>,
    /// Draw the registers of values over the program: a picture (PNG), of the only kernel
    #[arg(long, value_name = "PNG", conflicts_with = "cache")]
    regalloc_map: Option<PathBuf>,
    /// Print the output of a stage to standard error
    #[arg(long, value_name = "STAGE", help = print_after_help())]
    print_after: Vec<String>,
}

/// Returns the help of `--print-after`, which lists the stages.
fn print_after_help() -> String {
    let names = Stage::ALL.map(|s| s.name()).join(", ");
    format!("Print the output of a stage to standard error: {names}")
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// The ELF container that drivers load
    Zebin,
    /// Bare instructions of the kernel
    Bin,
    /// IGA syntax
    Asm,
    /// IR, as read or as translated from SPIR-V or WGSL
    #[value(alias = "gir")]
    Ir,
    /// Machine instructions over virtual registers before allocation, with live ranges
    Mir,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut options = match &args.target {
        Some(name) => CompileOptions::for_target(name).map_err(Failure::usage)?,
        None => {
            let device = Device::open(DeviceKind::Auto).map_err(Failure::new)?;
            input::options(None, &device)?
        }
    };
    let print_after = args
        .print_after
        .iter()
        .map(|s| stage(s))
        .collect::<Result<Vec<_>, _>>()?;
    options.dump = print_after;
    options.simd_cf = SimdCf::from_name(&args.simd_cf).ok_or_else(|| {
        let names = SimdCf::ALL.map(SimdCf::name).join(", ");
        Failure::usage(format!(
            "unknown `--simd-cf {}`; there are {names}",
            args.simd_cf
        ))
    })?;
    options.inline = Inline::from_name(&args.inline).ok_or_else(|| {
        let names = Inline::ALL.map(Inline::name).join(", ");
        Failure::usage(format!(
            "unknown `--inline {}`; there are {names}",
            args.inline
        ))
    })?;
    options.opt = input::opt_level(&args.opt)?;
    for name in &args.without {
        options.without.insert(Pass::from_name(name).ok_or_else(|| {
            let names = Pass::ALL.map(Pass::name).join(", ");
            Failure::usage(format!("no pass `{name}`: {names}"))
        })?);
    }
    options.large_buffers = args.large_buffers;
    options.grf_mode = input::grf_mode(&args.grf)?;
    options.grfs = args.grfs;
    options.report = args.stats.is_some() || args.regalloc_map.is_some();
    if args.emit == Emit::Mir && !options.dump.contains(&Stage::Liveness) {
        options.dump.push(Stage::Liveness);
    }
    let spirv = spirv::Options {
        simd: args.simd,
        kernel: args.kernel.clone(),
        robust: args.robust,
        binding_arrays: args.binding_array.iter().copied().collect(),
        may_alias: args.may_alias,
        exact_division: args.exact_division,
        exact_sums: args.exact_sums,
        source_name: args.debug.then(|| args.file.display().to_string()),
        constants: args.specs.iter().cloned().collect(),
        target: Some(options.clone()),
        inline: options.inline,
        ..spirv::Options::default()
    };
    if args.cache.is_none()
        && args.emit != Emit::Ir
        && let Some((module, compiled)) =
            input::translated_and_compiled(&args.file, &args.more, &spirv, &options)?
    {
        return emit(args, &module, &compiled, &options);
    }
    let mut module = input::module(&args.file, &args.more, &spirv)?;
    if args.emit != Emit::Ir {
        input::has_kernel(&args.file, &module)?;
    }
    if args.contract && input::language(&args.file)? == Language::Gir {
        for func in module.functions.values_mut() {
            let controls = func.float_controls();
            func.set_float_controls(FloatControls {
                contract: true,
                ..controls
            });
        }
    }
    if let Some(dir) = &args.cache {
        if args.emit != Emit::Zebin {
            return Err(Failure::usage("--cache holds zebins: --emit zebin"));
        }
        return from_cache(args, dir, &module, &options);
    }
    // The IR is written even if it does not compile, to show why.
    if args.emit == Emit::Ir {
        text(args, &module.to_string())?;
    }
    emit(
        args,
        &module,
        &input::compiled(&module, &options)?,
        &options,
    )
}

/// Writes what the arguments ask for.
fn emit(
    args: &Args,
    module: &Module,
    compiled: &Compiled,
    options: &CompileOptions,
) -> Result<(), Failure> {
    for name in &args.print_after {
        let s = stage(name)?;
        eprint!("; after {}\n{}", s.name(), compiled.dump(s));
    }
    match args.emit {
        Emit::Zebin => binary(args, "zebin", &compiled.zebin)?,
        Emit::Bin => binary(
            args,
            "krn",
            &one_kernel(&args.file, compiled, "`--emit bin` writes")?
                .code
                .bytes,
        )?,
        Emit::Asm => text(args, &asm(module, compiled, options))?,
        Emit::Ir => {}
        Emit::Mir => text(args, &compiled.dump(Stage::Liveness))?,
    }
    if let Some(path) = &args.regalloc_map {
        let kernel = one_kernel(&args.file, compiled, "`--regalloc-map` draws")?;
        if let Some(report) = &kernel.stats.report {
            input::write(path, &regalloc_map::png(report)?)?;
        }
    }
    match args.stats {
        Some(form) => figures::print(form, module, compiled, options),
        None => Ok(()),
    }
}

fn from_cache(
    args: &Args,
    dir: &Path,
    module: &Module,
    options: &CompileOptions,
) -> Result<(), Failure> {
    let zebin = input::cached(&input::cache(dir)?, module, options)?;
    binary(args, "zebin", &zebin)?;
    let Some(form) = args.stats else {
        return Ok(());
    };
    if let Zebin::Compiled { compiled, .. } = &zebin {
        figures::print(form, module, compiled, options)?;
    }
    let (cache, key) = (
        input::hit_or_miss(zebin.is_hit()),
        CacheKey::new(module, options).to_string(),
    );
    print(&match form {
        OutputFormat::Text => format!("cache {cache}: {}, key {key}\n", Count(zebin.len(), "byte")),
        OutputFormat::Json => {
            let line = json!({ "cache": cache, "key": key, "bytes": zebin.len() });
            format!("{line}\n")
        }
    })
}

fn stage(name: &str) -> Result<Stage, Failure> {
    Stage::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Stage::ALL.iter().map(|s| s.name()).collect();
        Failure::usage(format!(
            "unknown stage `{name}`; there are {}",
            names.join(", ")
        ))
    })
}

fn binary(args: &Args, extension: &str, bytes: &[u8]) -> Result<(), Failure> {
    match &args.output {
        Some(p) if p.as_os_str() == "-" => {
            use std::io::Write as _;
            std::io::stdout()
                .write_all(bytes)
                .map_err(|e| Failure::new(format!("cannot write to standard output: {e}")))
        }
        Some(p) => input::write(p, bytes),
        None => input::write(&input::beside(&args.file, extension), bytes),
    }
}

fn text(args: &Args, text: &str) -> Result<(), Failure> {
    match &args.output {
        Some(p) if p.as_os_str() != "-" => input::write(p, text.as_bytes()),
        _ => print(text),
    }
}

fn one_kernel<'c>(
    path: &Path,
    compiled: &'c Compiled,
    what: &str,
) -> Result<&'c gantry::codegen::CompiledKernel, Failure> {
    match compiled.kernels.as_slice() {
        [k] => Ok(k),
        more => Err(Failure::file(
            path,
            format!("{what} one kernel, and there are {}", more.len()),
        )),
    }
}

fn asm(module: &Module, compiled: &Compiled, options: &CompileOptions) -> String {
    let mut out = String::new();
    for k in &compiled.kernels {
        if compiled.kernels.len() > 1 {
            out.push_str(&format!("// kernel {}\n", k.name));
        }
        out.push_str(&listing(module, &k.code, &options.target));
    }
    out
}
