//! Phases of the translation, in the order that they run.
//!
//! ```text
//!               words
//!                 | read                        instructions, checked against the grammar
//!                 | module::build               types, constants, functions, decorations
//!                 | entry_points, check         everything unsupported, all at once
//!                 v
//!               Module                          once a module
//!                 | inline_policy               functions that stay functions
//!                 |
//!                 | inline                      one body without calls
//!                 | by_value_arguments          structures that the payload holds
//!                 | large_copies                memory to memory, not through registers
//!                 | globals_to_locals           private variables of the module
//!                 | builtin_loads               loads of whole built-in variables
//!                 | fix_irreducible             loops of one header
//!                 | mem2reg                     private variables to values
//!                 | large_constants             constant arrays to constant data
//!                 | cfg::Graph, cfg::uses       dominators, loops; definitions dominate uses
//!                 | jump_threading
//!                 | structurize                 nested scopes, loops and branches
//!                 | uniformity                  one lane, or a lane a channel
//!                 | if_conversion               then graph to uniformity once more
//!                 | promote_arrays              indexed private variables to registers
//!                 v
//!        [PreparedFunction]                     for each kernel: it and its callees
//!                 | width                       SIMD width
//!                 | frame_layout                bytes in SLM and in scratch
//!                 | emit, library               gantry_codegen::ir
//!                 v
//!            ir::Function
//! ```

use crate::body::Body;
use crate::builtin_loads;
use crate::by_value_arguments;
use crate::cfg::structurize::StructuredCfg;
use crate::cfg::{Graph, fix_irreducible, uses};
use crate::check;
use crate::emit;
use crate::entry_points::{self, EntryPoint};
use crate::error::{CompileError, Error, Errors};
use crate::frame_layout;
use crate::globals_to_locals;
use crate::if_conversion;
use crate::inline;
use crate::inline_policy::InlinePlan;
use crate::jump_threading;
use crate::large_constants;
use crate::large_copies;
use crate::mem2reg;
use crate::module::{self, Func, Module};
use crate::options::Options;
use crate::prepared::PreparedFunction;
use crate::promote_arrays;
use crate::promoted_arrays::PromotedArrays;
use crate::read;
use crate::translated::Kernel;
use crate::translated::Translated;
use crate::uniformity::{self, Uniformity};
use crate::width;
use cranelift_entity::SecondaryMap;
use gantry_codegen::verifier::verify_module;
use gantry_codegen::{CompileOptions, Compiled, Context, ModuleCompilation, WidthJudge, ir};
use std::collections::BTreeSet;

/// Translates the kernels of a module.
///
/// # Errors
/// All invalid or unsupported parts of the module that were found.
pub fn translate(words: &[u32], options: &Options) -> Result<Translated, Errors> {
    let mut context = Context::new();
    let judge = match &options.target {
        Some(target) => WidthJudge::Demand(&mut context, target),
        None => WidthJudge::None,
    };
    run(words, options, judge)
}

/// Translates the kernels of a module and compiles them for `target`, in the memory of a context.
///
/// It is [`translate`] and [`Context::compile`] in one. Stages that the compiler runs to find
/// which width fits are not run again. `options.target` is ignored.
///
/// # Errors
/// Those of [`translate`] and of [`Context::compile`].
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
    let mut compilation = ModuleCompilation::new(target);
    let judge = WidthJudge::Compile(context, &mut compilation);
    let translated = run(words, &options, judge)?;
    let compiled = compilation.finish(context, &translated.module)?;
    Ok((translated, compiled))
}

/// Translates the kernels of a module.
///
/// # Errors
/// All invalid or unsupported parts of the module that were found.
fn run(
    words: &[u32],
    options: &Options,
    mut judge: WidthJudge<'_, '_>,
) -> Result<Translated, Errors> {
    let stream = read::read(words)?;
    let m = module::build(stream, options)?;
    let entries = entry_points::find(&m, options)?;
    check::check(&m, entries.iter().map(|e| e.func))?;

    let mut out = Translated {
        module: ir::Module::default(),
        kernels: Vec::new(),
    };
    let mut errors = Errors(Vec::new());
    for entry in &entries {
        match translate_kernel(&m, entry, options, &mut out.module, &mut judge) {
            Ok(kernel) => out.kernels.push(kernel),
            Err(e) => e.0.into_iter().for_each(|e| errors.push(e)),
        }
    }
    // The verifier checks arguments against their format strings.
    if errors.0.is_empty()
        && out.module.data.values().any(|d| d.string)
        && let Err(e) = verify_module(&out.module)
    {
        errors.push(Error::malformed(e.to_string()));
    }
    if errors.0.is_empty() {
        Ok(out)
    } else {
        Err(errors)
    }
}

/// Translates a kernel: prepares its functions once, and emits them at the SIMD width that is
/// required or chosen.
fn translate_kernel(
    m: &Module<'_>,
    entry: &EntryPoint<'_>,
    options: &Options,
    module: &mut ir::Module,
    judge: &mut WidthJudge<'_, '_>,
) -> Result<Kernel, Errors> {
    let required = entry.required_width(options)?;
    let functions = prepare(m, entry.func, options)?;
    let emit = |simd: u32, module: &mut ir::Module| {
        emit_kernel(m, entry, &functions, options, simd, module)
    };
    if let Some(simd) = required {
        return emit(simd, module);
    }
    let candidates = width::candidates(m, entry.entry, &functions, options.target.as_ref());
    judge.build_best(module, &candidates, |simd, module| {
        emit(simd, module).map(|kernel| (kernel.function, kernel))
    })
}

/// Prepares a kernel and the functions that it calls, callers first.
///
/// # Errors
/// Invalid SPIR-V, or a kernel over the limits.
fn prepare(
    m: &Module<'_>,
    kernel: Func,
    options: &Options,
) -> Result<Vec<PreparedFunction>, Error> {
    let grf = options.target.as_ref().map(|t| t.target.grf());
    let grf_file_bytes = grf.map_or(0, |grf| grf.count * grf.bytes);
    let plan = InlinePlan::new(m, kernel, options.inline)?;
    let mut insts = 0;
    let mut divergent: SecondaryMap<Func, BTreeSet<u32>> = SecondaryMap::new();
    let mut out = Vec::new();
    for func in [kernel].iter().chain(plan.order()).copied() {
        let mut body = inline::inline(m, &plan, func, &mut insts)?;
        if func == kernel {
            by_value_arguments::run(m, &mut body);
        }
        let params: Vec<u32> = divergent[func].iter().copied().collect();
        let prepared = run_passes(m, body, func, params, grf_file_bytes)?;
        for (callee, n) in &prepared.uniformity.divergent_args {
            divergent[*callee].insert(*n);
        }
        out.push(PreparedFunction {
            is_kernel: func == kernel,
            ..prepared
        });
    }
    Ok(out)
}

/// Runs the passes on a body, a line each.
fn run_passes(
    m: &Module<'_>,
    mut body: Body,
    func: Func,
    divergent: Vec<u32>,
    grf_file_bytes: u32,
) -> Result<PreparedFunction, Error> {
    large_copies::run(m, &mut body);
    globals_to_locals::run(m, &mut body);
    builtin_loads::run(m, &mut body);
    fix_irreducible::run(m, &mut body)?;
    mem2reg::run(m, &mut body);
    large_constants::run(m, &mut body);
    let mut graph = Graph::new(&mut body)?;
    uses::check(m, &body, &graph)?;
    jump_threading::run(m, &mut body, &mut graph)?;
    let mut analyses = Analyses::new(m, &body, graph, &divergent, grf_file_bytes);
    if if_conversion::run(m, &mut body, &analyses.uniformity.divergent) {
        let graph = Graph::new(&mut body)?;
        analyses = Analyses::new(m, &body, graph, &divergent, grf_file_bytes);
    }
    let Analyses {
        graph,
        structured,
        uniformity,
        candidates,
    } = analyses;
    let arrays = promote_arrays::refine(m, &body, &graph, &uniformity, candidates, grf_file_bytes);
    Ok(PreparedFunction {
        func,
        is_kernel: false,
        body,
        graph,
        structured,
        uniformity,
        arrays,
        divergent,
    })
}

/// Analyses that if-conversion invalidates.
struct Analyses {
    graph: Graph,
    structured: StructuredCfg,
    uniformity: Uniformity,
    /// Arrays that may be promoted, by their uses alone.
    candidates: PromotedArrays,
}

impl Analyses {
    fn new(
        m: &Module<'_>,
        body: &Body,
        graph: Graph,
        divergent: &[u32],
        grf_file_bytes: u32,
    ) -> Analyses {
        let structured = StructuredCfg::new(body, &graph);
        let none = Uniformity::default();
        let candidates = promote_arrays::find(m, body, &graph, &none, grf_file_bytes);
        let uniformity = uniformity::analyze(m, body, &graph, &structured, &candidates, divergent);
        Analyses {
            graph,
            structured,
            uniformity,
            candidates,
        }
    }
}

/// Emits a kernel of a SIMD width and its functions at the end of a module.
fn emit_kernel(
    m: &Module<'_>,
    entry: &EntryPoint<'_>,
    functions: &[PreparedFunction],
    options: &Options,
    simd: u32,
    module: &mut ir::Module,
) -> Result<Kernel, Errors> {
    let mut function = ir::Function::kernel(entry.entry.name.clone(), simd);
    entry.set_modes(&mut function);
    let frame = frame_layout::lay_out(m, functions, simd);
    let features = options.target.as_ref().map(|t| t.target.features());
    let input = emit::KernelInput {
        m,
        functions,
        frame: &frame,
        robust: options.robust.unwrap_or(false),
        may_alias: options.may_alias,
        exact_division: options.exact_division,
        named_barriers: features.is_some_and(|f| f.named_barriers),
        quotients: features.is_none_or(|f| f.math_div_pow),
        contracts: !options.exact_sums && !entry.entry.modes.contraction_off,
    };
    emit::kernel(&input, module, &mut function)?;
    Ok(Kernel {
        name: entry.entry.name.clone(),
        function: module.functions.push(function),
        simd,
        group_size: entry.entry.modes.group_size,
        is_shader: m.logical,
    })
}
