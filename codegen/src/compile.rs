//! The pipeline.
//!
//! ```text
//!  ir::Function
//!      | verify
//!      | inline     small subroutines become part of their callers
//!      | expand     what the target lacks, by what it has
//!      | lower      ISLE rules: bales
//!      | sends      payloads and descriptors
//!      | legalize   bales cut to what the hardware takes
//!      | flags      predicates, by regalloc2
//!      | liveness   ranges and demand in bytes
//!      | regalloc   byte addresses in the GRF file
//!      | emit       instructions, branch distances, bytes
//!   zebin
//! ```

use crate::context::Context;
use crate::display;
use crate::emit::{Code, emit};
use crate::expand::expand;
use crate::fired::Fired;
use crate::flags::allocate_flags;
use crate::inline::{Inline, calls, group};
use crate::ir::{FuncKind, FuncRef, Function, InstData, Module, Opcode};
use crate::legalize::legalize;
use crate::liveness::liveness;
use crate::lower::lower;
use crate::regalloc::{allocate, checker};
use crate::result::CodegenError;
use crate::sends;
use crate::simdcf::{Finding, SimdCf};
use crate::target::Target;
use crate::target::abi::Payload;
use crate::verifier::{self, ModuleVerifier};
use crate::zebin::{self, KernelImage};
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{DeviceInfo, text};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// A stage of the pipeline; its name is what `--print-after` takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// The IR obeys its rules.
    Verify,
    /// Subroutines are part of the kernel.
    Inline,
    /// What the target lacks is rewritten.
    Expand,
    /// Bales and logical sends.
    Lower,
    /// Payloads and descriptors.
    Sends,
    /// Instructions over virtual registers.
    Legalize,
    /// Flags physical.
    Flags,
    /// Demand and kills.
    Liveness,
    /// Addresses in the GRF file.
    Regalloc,
    /// Physical instructions.
    Emit,
}

impl Stage {
    /// Every stage in order.
    pub const ALL: [Stage; 10] = [
        Stage::Verify,
        Stage::Inline,
        Stage::Expand,
        Stage::Lower,
        Stage::Sends,
        Stage::Legalize,
        Stage::Flags,
        Stage::Liveness,
        Stage::Regalloc,
        Stage::Emit,
    ];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Verify => "verify",
            Stage::Inline => "inline",
            Stage::Expand => "expand",
            Stage::Lower => "lower",
            Stage::Sends => "sends",
            Stage::Legalize => "legalize",
            Stage::Flags => "flags",
            Stage::Liveness => "liveness",
            Stage::Regalloc => "regalloc",
            Stage::Emit => "emit",
        }
    }

    /// The stage of a name.
    pub fn from_name(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|s| s.name() == name)
    }
}

/// What to compile for, and how.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The product.
    pub target: Target,
    /// Stages whose result is wanted as text.
    pub dump: Vec<Stage>,
    /// How SIMD control flow is lowered.
    pub simd_cf: SimdCf,
    /// Which calls of subroutines are replaced by what they call.
    pub inline: Inline,
    /// Run the checkers: the symbolic checker of register allocation, the legality rules on what is emitted. (The IR verifier always
    /// runs.)
    pub check: bool,
}

impl CompileOptions {
    /// Options for a target.
    pub fn new(target: Target) -> CompileOptions {
        CompileOptions {
            target,
            dump: Vec::new(),
            simd_cf: SimdCf::default(),
            inline: Inline::default(),
            check: cfg!(debug_assertions),
        }
    }

    /// Options for a product's short name (`skl`).
    ///
    /// # Errors
    /// There is no code generator for it.
    pub fn for_target(name: &str) -> Result<CompileOptions, CodegenError> {
        Ok(CompileOptions::new(Target::from_name(name)?))
    }

    /// Options for a device, as it describes itself (`device.info()` of `gantry-runtime`).
    ///
    /// # Errors
    /// There is no code generator for it.
    pub fn for_device(device: &DeviceInfo) -> Result<CompileOptions, CodegenError> {
        Ok(CompileOptions::new(Target::of_device(device)?))
    }
}

/// Figures of one compiled kernel.
#[derive(Clone, Debug, Default)]
pub struct KernelStats {
    /// Time per stage.
    pub stages: Vec<(&'static str, Duration)>,
    /// Instructions emitted.
    pub instructions: usize,
    /// Bytes of code.
    pub bytes: usize,
    /// The most bytes of GRFs live at once.
    pub grf_bytes_demand: u32,
    /// Bytes spilled to scratch; always 0, there is no spilling yet.
    pub spill_bytes: u32,
    /// SIMD width of the dispatch.
    pub simd_width: u32,
    /// The lowering rules and repairs that had a part in it.
    pub fired: Fired,
    /// What keeps SIMD control flow off the mask stack: rules that are broken, and where. None where all is on it, or was not asked to be.
    pub simd_cf: Vec<Finding>,
}

/// One compiled kernel.
#[derive(Clone, Debug)]
pub struct CompiledKernel {
    /// Name.
    pub name: String,
    /// Code.
    pub code: Code,
    /// Payload layout.
    pub payload: Payload,
    /// Whether threads of a group wait for each other.
    pub barrier: bool,
    /// Figures.
    pub stats: KernelStats,
    /// The dumps asked for, in pipeline order.
    pub dumps: Vec<(Stage, String)>,
}

/// A compiled module.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Kernels in module order.
    pub kernels: Vec<CompiledKernel>,
    /// The zebin that holds them.
    pub zebin: Vec<u8>,
}

impl Compiled {
    /// The dump of a stage, kernel after kernel.
    pub fn dump(&self, stage: Stage) -> String {
        let mut out = String::new();
        for k in &self.kernels {
            for (s, text) in &k.dumps {
                if *s == stage {
                    out.push_str(&format!("; %{}\n{text}", k.name));
                }
            }
        }
        out
    }
}

/// Times, dumps and checks stages of one kernel.
struct Pass<'a> {
    options: &'a CompileOptions,
    stats: KernelStats,
    dumps: Vec<(Stage, String)>,
}

impl Pass<'_> {
    fn run<T>(
        &mut self,
        stage: Stage,
        f: impl FnOnce() -> Result<T, CodegenError>,
        show: impl FnOnce(&T) -> String,
    ) -> Result<T, CodegenError> {
        let start = Instant::now();
        let out = f()?;
        self.stats.stages.push((stage.name(), start.elapsed()));
        if self.options.dump.contains(&stage) {
            self.dumps.push((stage, show(&out)));
        }
        Ok(out)
    }
}

/// Verifies a kernel and every function that it calls, at any depth.
fn verify_with_callees(module: &Module, func: &Function) -> Result<(), CodegenError> {
    let verifier = ModuleVerifier::new(module);
    let mut seen: SecondaryMap<FuncRef, bool> = SecondaryMap::new();
    let mut errors = verifier::errors(module, func);
    let mut work = vec![func];
    while let Some(f) = work.pop() {
        for inst in calls(f) {
            if let InstData::Call { func: callee, .. } = *f.dfg.data(inst)
                && let Some(next) = module.functions.get(callee)
                && !std::mem::replace(&mut seen[callee], true)
            {
                errors.extend(verifier.function(callee));
                work.push(next);
            }
        }
    }
    verifier::diagnostics(errors).map_err(CodegenError::Verifier)
}

fn has_barrier(func: &Function) -> bool {
    let mut insts = func
        .layout
        .blocks()
        .iter()
        .flat_map(|&b| func.layout.insts(b));
    insts.any(|&i| func.dfg.data(i).opcode() == Opcode::Barrier)
}

/// Code in IGA syntax. Source locations are comments where they change.
pub fn listing(module: &Module, code: &Code, target: &Target) -> String {
    let mut next = code.locations.iter().peekable();
    text::disassemble_with(target.platform(), &code.bytes, |offset| {
        let mut here = None;
        while let Some(l) = next.next_if(|l| l.offset <= offset) {
            here = Some(l.loc);
        }
        let line = here.map(|loc| module.source_line(loc));
        line.map(|l| l.map_or("no source line".to_owned(), |l| l.to_string()))
    })
}

/// Compiles one kernel to code.
///
/// # Errors
/// The IR does not verify, something has no lowering, or registers run out.
pub fn compile_kernel(
    module: &Module,
    func: &Function,
    options: &CompileOptions,
) -> Result<CompiledKernel, CodegenError> {
    Context::new().compile_kernel(module, func, options)
}

/// One kernel, with a context's memory.
pub(crate) fn kernel_in(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
) -> Result<CompiledKernel, CodegenError> {
    let verify = || verify_with_callees(module, func);
    compile_with(context, module, func, options, verify)
}

fn compile_with(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
    verify: impl FnOnce() -> Result<(), CodegenError>,
) -> Result<CompiledKernel, CodegenError> {
    stages(context, module, func, options, verify).map_err(|e| e.in_module(module))
}

/// The pipeline itself.
fn stages(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
    verify: impl FnOnce() -> Result<(), CodegenError>,
) -> Result<CompiledKernel, CodegenError> {
    let target = &options.target;
    let name = func.name.as_str();
    let mut pass = Pass {
        options,
        stats: KernelStats::default(),
        dumps: Vec::new(),
    };
    pass.run(Stage::Verify, verify, |()| func.to_string())?;
    let group = pass.run(
        Stage::Inline,
        || group(module, func, options.inline),
        |g| g.to_string(),
    )?;
    let float = func.float_controls();
    let group = pass.run(
        Stage::Expand,
        || group.map(|f| expand(module, f, float, target)),
        |g| g.to_string(),
    )?;
    let payload = Payload::of(&group.kernel, group.functions(), target)?;
    let barrier = group.functions().any(has_barrier);
    let (lowered, findings) = pass.run(
        Stage::Lower,
        || lower(&group, target, &payload, options.simd_cf),
        |(l, findings)| {
            let mut out = String::new();
            for f in findings {
                let _ = writeln!(out, "; by flags: {f}");
            }
            out + &l.to_string()
        },
    )?;
    let lowered = pass.run(
        Stage::Sends,
        || sends::expand(name, lowered, target),
        |l| l.to_string(),
    )?;
    let mut code = pass.run(
        Stage::Legalize,
        || legalize(name, lowered, target, std::mem::take(&mut context.insts)),
        |c| c.to_string(),
    )?;
    pass.run(
        Stage::Flags,
        || allocate_flags(name, &mut code, target.grf().size(), &mut context.flags),
        |()| String::new(),
    )?;
    if let Some((Stage::Flags, text)) = pass.dumps.last_mut() {
        *text = code.to_string();
    }
    let live = pass.run(
        Stage::Liveness,
        || liveness(name, &code, target.grf().size()),
        |l| display::with_liveness(&code, l),
    )?;
    let alloc = pass.run(
        Stage::Regalloc,
        || {
            let a = allocate(name, &code, &live, &mut context.map)?;
            if options.check {
                checker::check(&code, &a).map_err(|e| CodegenError::internal(name, e))?;
            }
            Ok(a)
        },
        |a| display::with_allocation(&code, a),
    )?;
    let out = pass.run(
        Stage::Emit,
        || emit(name, &code, &live, &alloc, target, options.check),
        |c| listing(module, c, target),
    )?;
    let mut stats = pass.stats;
    stats.instructions = out.insts.len();
    stats.bytes = out.bytes.len();
    stats.grf_bytes_demand = live.peak().1;
    stats.simd_width = payload.simd;
    stats.fired = code.fired;
    stats.simd_cf = findings;
    context.insts = code.insts;
    Ok(CompiledKernel {
        name: name.to_string(),
        code: out,
        payload,
        barrier,
        stats,
        dumps: pass.dumps,
    })
}

/// Compiles every kernel of a module and writes a zebin.
///
/// # Errors
/// As [`compile_kernel`]; of IR that does not verify, every error of the module.
pub fn compile(module: &Module, options: &CompileOptions) -> Result<Compiled, CodegenError> {
    Context::new().compile(module, options)
}

/// A module, with a context's memory.
pub(crate) fn module_in(
    context: &mut Context,
    module: &Module,
    options: &CompileOptions,
) -> Result<Compiled, CodegenError> {
    let mut kernels = Vec::new();
    let mut functions = Vec::new();
    // The whole module is verified with the first kernel.
    let mut verified = false;
    for func in module.functions.values() {
        if matches!(func.kind, FuncKind::Kernel { .. }) {
            let verify = || match std::mem::replace(&mut verified, true) {
                true => Ok(()),
                false => verifier::verify_module(module).map_err(CodegenError::Verifier),
            };
            kernels.push(compile_with(context, module, func, options, verify)?);
            functions.push(func);
        }
    }
    let images: Vec<_> = kernels
        .iter()
        .zip(&functions)
        .map(|(k, func)| KernelImage {
            func,
            payload: &k.payload,
            barrier: k.barrier,
            text: &k.code.bytes,
            relocations: &k.code.relocations,
            locations: &k.code.locations,
        })
        .collect();
    let zebin = zebin::write(&options.target, module, &images)?;
    Ok(Compiled { kernels, zebin })
}
