//! SPIR-V into Gantry's IR: what OpenCL C, SYCL, GLSL, WGSL and their like are compiled to becomes kernels of the SIMD width asked for.
//!
//! ```text
//!   words -> read -> module -> check ----------------------------------.   once a module
//!                                                                       |
//!   ir::Module <- emit <- room <- width <------------------------------------ calls   for each kernel
//!                  |       \
//!                  |        arrays <- uniform <- script <- thread <- graph <- tables <- promote <- reduce <- inputs <- own <- flatten   and each function that it calls
//!               library (OpenCL.std, GLSL.std.450)
//! ```
//!
//! [`translate`] shows the phases, a line each. A work-item's scalar becomes a value with a lane for each of the thread's work-items, or of one
//! lane where all have the same; control flow becomes masks where work-items part, and branches where they do not.

mod arrays;
mod assemble;
mod body;
mod branches;
mod calls;
mod capabilities;
mod cfg;
mod check;
mod constants;
mod contract;
mod emit;
mod error;
mod flatten;
mod globals;
mod inputs;
mod key;
mod library;
mod link;
mod logical;
mod module;
mod parts;
mod passing;
mod place;
mod promote;
mod read;
mod room;
mod spaces;
mod tables;
mod thread;
mod uniform;
#[cfg(feature = "wgsl")]
pub mod wgsl;
mod wholes;
mod width;

pub use assemble::{AssembleError, assemble};
pub use constants::{NoSpecValue, SpecValue};
pub use error::{CompileError, Error, Errors, Fault};
pub use key::cache_key;
#[cfg(feature = "wgsl")]
pub use key::wgsl_cache_key;
pub use link::link;

use gantry_codegen::verifier::verify_module;
use gantry_codegen::{Begun, CompileOptions, Compiled, Context, Inline, ir};
use module::{Def, Entry, Func, Module};
use parts::Part;
use spirv::ExecutionModel;
use std::collections::BTreeMap;
use width::Judge;

/// How many work-items a thread has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Simd {
    /// What the kernel requires, else 32, 16 or 8: the widest that is worth while and does not spill.
    #[default]
    Auto,
    /// So many, 8, 16 or 32, unless the kernel requires another number.
    Width(u32),
}

/// What is translated, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The SIMD width.
    pub simd: Simd,
    /// What the kernels will be compiled for: where their width is to be chosen, the compiler is asked what lives at once in them if an estimate leaves it open whether
    /// that fits. Without it, the estimate decides alone.
    pub target: Option<CompileOptions>,
    /// The kernel; without it, all.
    pub kernel: Option<String>,
    /// The values of specialization constants by their `SpecId`: bits, of which as many count as the constant has.
    pub spec_constants: BTreeMap<u32, u64>,
    /// The same by their names (`OpName`, or that of an override of WGSL) or their `SpecId` in decimal, as numbers of any type, which are held to the constant's.
    /// These go first. One that the module has not is an error, of `spec_constants` too.
    pub constants: BTreeMap<String, SpecValue>,
    /// Whether shaders' accesses outside of arrays read zeros and write nothing, atomics included. Without it, they do for WGSL, which promises it.
    pub robust: Option<bool>,
    /// Whether quotients and square roots of singles are rounded correctly, as OpenCL's `-cl-fp32-correctly-rounded-divide-sqrt` has it. Without it they are the math
    /// box's: OpenCL and WGSL allow 2.5 ulp of quotients and 3 of roots. Those of halves and doubles always are.
    pub exact_division: bool,
    /// Whether a product and the sum that it is a part of are rounded each by itself, where the module lets them be rounded once.
    pub exact_sums: bool,
    /// What a text of WGSL is called, where faults, profiles and traces are to name its lines; the code is the same. SPIR-V has names and lines of its own
    /// (`OpLine`).
    pub source_name: Option<String>,
    /// Which functions stay functions: those whose copies would add too much to a large kernel, none, or all that can.
    pub inline: Inline,
}

/// A kernel that was translated. Its function says what its parameters are to a host, in [`ir::Function::reflection`]: those of a kernel are OpenCL's
/// `clSetKernelArg`'s; those of a shader are its resources in order of set, binding and element, sizes of buffers behind them, and push constants last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its function in the module.
    pub function: ir::FuncRef,
    /// Its SIMD width.
    pub simd: u32,
    /// The work-items of a group, if the kernel says it.
    pub group_size: Option<[u32; 3]>,
    /// Whether it is a compute shader.
    pub is_shader: bool,
}

/// What became of a module.
#[derive(Clone, Debug)]
pub struct Translated {
    /// The IR.
    pub module: ir::Module,
    /// The kernels.
    pub kernels: Vec<Kernel>,
}

/// Translates a module's kernels.
///
/// # Errors
/// Everything found that is no valid SPIR-V or not supported.
pub fn translate(words: &[u32], options: &Options) -> Result<Translated, Errors> {
    let mut context = Context::new();
    let mut judge = Judge::new(options.target.as_ref(), &mut context);
    translate_with(words, options, &mut judge)
}

/// Translates a module's kernels and compiles them, in a context's memory: as [`translate`] and [`Context::compile`] one after the other, but that what
/// the compiler does to say which width fits is not done again. `target`: what for, whatever `options` say of that.
///
/// # Errors
/// As those of both.
pub fn compile(
    words: &[u32],
    options: &Options,
    target: &CompileOptions,
    context: &mut Context,
) -> Result<(Translated, Compiled), CompileError> {
    let options = Options {
        target: Some(target.clone()),
        ..options.clone()
    };
    let mut judge = Judge::beginning(target, context);
    let translated = translate_with(words, &options, &mut judge)?;
    let begun = judge.begun().unwrap_or_else(|| Begun::new(target));
    let compiled = begun.compile(context, &translated.module)?;
    Ok((translated, compiled))
}

/// Translates a module's kernels, of widths that somebody judges.
fn translate_with(
    words: &[u32],
    options: &Options,
    judge: &mut Judge<'_, '_>,
) -> Result<Translated, Errors> {
    let stream = read::read(words)?;
    let m = module::build(stream, options)?;
    let entries = entries(&m, options)?;
    let funcs: Vec<Func> = entries.iter().map(|e| e.1).collect();
    check::check(&m, &funcs)?;

    let mut out = Translated {
        module: ir::Module::default(),
        kernels: Vec::new(),
    };
    let mut errors = Errors(Vec::new());
    for (entry, func) in entries {
        match kernel(&m, entry, func, options, &mut out.module, judge) {
            Ok(k) => out.kernels.push(k),
            Err(e) => e.0.into_iter().for_each(|e| errors.push(e)),
        }
    }
    // Whether arguments are those of a format is the verifier's to say.
    if errors.0.is_empty()
        && out.module.data.values().any(|d| d.string)
        && let Err(e) = verify_module(&out.module)
    {
        errors.push(Error::malformed(e.to_string()));
    }
    match errors.0.is_empty() {
        true => Ok(out),
        false => Err(errors),
    }
}

/// A kernel and the functions that it calls, and what is known of them: the same for every width.
struct Kept {
    parts: Vec<Part>,
}

impl Kept {
    fn new(m: &Module<'_>, func: Func, options: &Options) -> Result<Kept, Errors> {
        let grf = options.target.as_ref().map(|t| t.target.grf());
        let file = grf.map_or(0, |grf| grf.count * grf.bytes);
        let parts = parts::parts(m, func, options.inline, file)?;
        Ok(Kept { parts })
    }

    /// The kernel's function of a width, at the end of those of a module.
    fn emit(
        &self,
        (m, entry): (&Module<'_>, &Entry),
        options: &Options,
        simd: u32,
        module: &mut ir::Module,
    ) -> Result<Kernel, Errors> {
        let mut function = ir::Function::kernel(entry.name.clone(), simd);
        set_modes(entry, &mut function);
        let room = room::lay_out(m, &self.parts, simd);
        let features = options.target.as_ref().map(|t| t.target.features());
        let group = emit::Group {
            m,
            parts: &self.parts,
            room: &room,
            robust: options.robust.unwrap_or(false),
            exact_division: options.exact_division,
            named_barriers: features.is_some_and(|f| f.named_barriers),
            quotients: features.is_none_or(|f| f.math_div_pow),
            contracts: !options.exact_sums && !entry.modes.contraction_off,
        };
        emit::kernel(&group, module, &mut function)?;
        Ok(Kernel {
            name: entry.name.clone(),
            function: module.functions.push(function),
            simd,
            group_size: entry.modes.group_size,
            is_shader: m.logical,
        })
    }
}

/// Translates a kernel.
fn kernel(
    m: &Module<'_>,
    entry: &Entry,
    func: Func,
    options: &Options,
    module: &mut ir::Module,
    judge: &mut Judge<'_, '_>,
) -> Result<Kernel, Errors> {
    let asked = width(entry, options)?;
    let kept = Kept::new(m, func, options)?;
    let emit = |simd: u32, module: &mut ir::Module| kept.emit((m, entry), options, simd, module);
    if let Some(simd) = asked {
        return emit(simd, module);
    }
    let grf_bytes = options.target.as_ref().map_or(32, |t| t.target.grf().bytes);
    let widths = width::worthwhile(m, entry, &kept, grf_bytes);
    if let [only] = *widths {
        return emit(only, module);
    }
    let estimate = width::estimate(m, &kept);
    // The widest that fits, where narrower ones are tried for the sake of private arrays.
    let mut wide = None;
    for (n, &simd) in widths.iter().enumerate() {
        let narrower = widths.get(n + 1..).unwrap_or(&[]);
        if narrower.is_empty() && wide.is_none() {
            break;
        }
        let known = judge.by(&estimate, simd);
        if known == Some(false) {
            continue;
        }
        let before = module.functions.len();
        // What is wrong at every width is told of the last.
        let Ok(kernel) = emit(simd, module) else {
            continue;
        };
        let mut arrays = kept.parts.iter().map(|p| &p.arrays);
        let better = arrays.any(|a| narrower.iter().any(|&n| a.fit_better(n, simd)));
        let in_registers = better || wide.is_some();
        if known == Some(true) && !in_registers {
            return Ok(kernel);
        }
        let fit = judge.fit(module, kernel.function, in_registers);
        if fit.is_wanted(in_registers) {
            return Ok(kernel);
        }
        if fit.is_wanted(false) {
            wide = wide.or(Some(simd));
        }
        let mut functions = Vec::from(std::mem::take(&mut module.functions));
        functions.truncate(before);
        module.functions = functions.into();
    }
    emit(wide.or(widths.last().copied()).unwrap_or(8), module)
}

/// The entry points asked for.
fn entries<'m>(m: &'m Module<'_>, options: &Options) -> Result<Vec<(&'m Entry, Func)>, Errors> {
    let mut errors = Errors(Vec::new());
    let mut out = Vec::new();
    let computes =
        |e: &Entry| matches!(e.model, ExecutionModel::Kernel | ExecutionModel::GLCompute);
    // Shaders of other stages in the same module are not looked at.
    let any = m.entries.iter().any(computes);
    for e in &m.entries {
        if any && !computes(e) {
            continue;
        }
        if options.kernel.as_ref().is_some_and(|k| *k != e.name) {
            continue;
        }
        match m.def(e.function) {
            _ if out.iter().any(|(o, _): &(&Entry, Func)| o.name == e.name) => {
                let what = format!("a second entry point \"{}\"", e.name);
                errors.push(m.error(Error::malformed(what), e.at, Some(e.function)));
            }
            _ if !computes(e) => {
                let what = format!("the execution model {:?}", e.model);
                errors.push(m.error(Error::unsupported(what), e.at, Some(e.function)));
            }
            _ if !is_name(&e.name) => {
                let what = format!("a kernel named {:?}", e.name);
                errors.push(m.error(Error::unsupported(what), e.at, Some(e.function)));
            }
            Def::Func(f) => out.push((e, f)),
            _ => {
                let e2 = Error::malformed("an entry point that is no function");
                errors.push(m.error(e2, e.at, Some(e.function)));
            }
        }
    }
    if let (true, true, Some(name)) = (out.is_empty(), errors.0.is_empty(), &options.kernel) {
        errors.push(Error::malformed(format!("there is no kernel \"{name}\"")));
    }
    match errors.0.is_empty() {
        true => Ok(out),
        false => Err(errors),
    }
}

/// Whether the IR takes a name.
fn is_name(name: &str) -> bool {
    let ok = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
    !name.is_empty() && name.bytes().all(ok)
}

/// The SIMD width of a kernel; none: it is to be chosen.
fn width(entry: &Entry, options: &Options) -> Result<Option<u32>, Error> {
    let asked = match options.simd {
        Simd::Auto => None,
        Simd::Width(n) => Some(n),
    };
    match entry.modes.subgroup_size.or(asked) {
        None => Ok(None),
        Some(n @ (8 | 16 | 32)) => Ok(Some(n)),
        Some(n) => Err(Error::unsupported(format!("a sub-group size of {n}")).at(entry.at)),
    }
}

/// Execution modes that are facts of the function.
fn set_modes(entry: &Entry, function: &mut ir::Function) {
    if let ir::FuncKind::Kernel { group_size, .. } = &mut function.kind {
        *group_size = entry.modes.group_size;
    }
    let [flush_f16, flush_f32, flush_f64] = entry.modes.flush;
    function.set_float_controls(ir::FloatControls {
        // Sums are made of products where they may be; the library's have to stay as they are.
        contract: false,
        flush_f16,
        flush_f32,
        flush_f64,
        toward_zero: entry.modes.toward_zero,
    });
}
