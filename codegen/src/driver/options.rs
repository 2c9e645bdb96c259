//! What an embedder gives and gets: options, modules, compiled kernels and their figures.

use crate::driver::context::Context;
use crate::driver::pipeline;
use crate::driver::policy::GrfMode;
use crate::driver::stage::Stage;
use crate::emit::Code;
use crate::error::CodegenError;
use crate::ir::verifier::ModuleVerifier;
use crate::ir::{FuncKind, FuncRef, Function, InstData, Module, verifier};
use crate::isel::mask_stack::{Finding, SimdCf};
use crate::opt::inline::Inline;
use crate::passes::{OptLevel, Pass, PassSet, PassStats};
use crate::regalloc::grf::baseline::Allocator;
use crate::regalloc::grf::spill::Spilled;
use crate::regalloc::report::AllocationReport;
use crate::regalloc::timing::Phases;
use crate::rule_coverage::Fired;
use crate::target::Target;
use crate::target::abi::Payload;
use crate::zebin;
use crate::zebin::KernelImage;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::perf::Cycles;
use gantry_isa_gen::{DeviceInfo, text};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

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
    /// How much is done to make code better.
    pub opt: OptLevel,
    /// Passes of that level that are left out: for comparisons, and to find what is at fault.
    pub without: PassSet,
    /// Buffers may be larger than 4 GiB, or accesses through a `ptr` argument go outside of its
    /// buffer: then none becomes a surface (`-cl-intel-greater-than-4GB-buffer-required` of Intel's
    /// compiler).
    pub large_buffers: bool,
    /// Registers of a thread that values may be in, from 0 on, where not all of the target's: for
    /// tests of spilling, and for code of which more threads fit. Without room for all values, the
    /// others are in scratch.
    pub grfs: Option<u32>,
    /// How many registers threads have, where the platform leaves that to the kernel.
    pub grf_mode: GrfMode,
    /// Whether [`KernelStats::report`] is made.
    pub report: bool,
    /// How registers get their places: anything but the default is for comparisons.
    pub allocator: Allocator,
    /// Whether values that different channels hold may be in one place, where there are too many
    /// for the file: without it, for comparisons.
    pub by_channel: bool,
    /// Verify what each stage makes: machine code, the places that registers have (by a symbolic
    /// checker), and by the legality rules what is emitted. (The IR verifier always runs.)
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
            opt: OptLevel::default(),
            without: PassSet::default(),
            large_buffers: false,
            grfs: None,
            grf_mode: GrfMode::default(),
            report: false,
            allocator: Allocator::default(),
            by_channel: true,
            check: cfg!(debug_assertions),
        }
    }

    /// The passes of the optimizer that these options come to.
    pub(crate) fn passes(&self) -> PassSet {
        let passes = PassSet::of(self.opt).without(self.without);
        if self.large_buffers {
            passes.without(PassSet::from_iter([Pass::StatelessToStateful]))
        } else {
            passes
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

/// What a kernel's values ask of the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Demand {
    /// The most bytes of GRFs live at once.
    pub bytes: u32,
    /// Bytes of the GRFs that values may be in.
    pub available: u32,
    /// Bytes of the thread's scratch that is private memory: what the optimizer left there.
    pub scratch: u32,
}

impl Demand {
    /// Whether nothing has to be spilled.
    pub fn fits(&self) -> bool {
        self.bytes <= self.available
    }
}

/// Figures of one compiled kernel.
#[derive(Clone, Debug, Default)]
pub struct KernelStats {
    /// Time per stage.
    pub stages: Vec<(&'static str, Duration)>,
    /// Time per phase of allocation, of [`Stage::Regalloc`]'s.
    pub phases: Phases,
    /// Instructions emitted.
    pub instructions: usize,
    /// Bytes of code.
    pub bytes: usize,
    /// The most bytes of GRFs live at once.
    pub grf_bytes_demand: u32,
    /// What was spilled.
    pub spilled: Spilled,
    /// Registers that went since their values and another's are never in one channel at once.
    pub shared: u32,
    /// Copies between registers of different places.
    pub moves: usize,
    /// Values that were in several places of the file because they made room for others.
    pub splits: u32,
    /// What allocation came to, if that was asked for.
    pub report: Option<Box<AllocationReport>>,
    /// Modelled time, if a report was asked for.
    pub cycles: Option<Cycles>,
    /// SIMD width of the dispatch.
    pub simd_width: u32,
    /// The lowering rules and repairs that had a part in it.
    pub fired: Fired,
    /// What each pass of the optimizer did.
    pub passes: Vec<PassStats>,
    /// What keeps SIMD control flow off the mask stack: rules that are broken, and where. None
    /// where all is on it, or was not asked to be.
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
    /// Barriers of a group, its own among them: none where its threads do not wait for each other.
    pub barriers: u32,
    /// Registers of a thread.
    pub grf_count: u32,
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

/// Verifies a kernel and every function that it calls, at any depth; gives those.
fn verify_with_callees(module: &Module, func: &Function) -> Result<Vec<FuncRef>, CodegenError> {
    let verifier = ModuleVerifier::new(module);
    let mut seen: SecondaryMap<FuncRef, bool> = SecondaryMap::new();
    let mut called = Vec::new();
    let mut errors = verifier.errors_of(func);
    let mut work = vec![func];
    while let Some(f) = work.pop() {
        for inst in f.calls() {
            if let InstData::Call { func: callee, .. } = *f.dfg.data(inst)
                && let Some(next) = module.functions.get(callee)
                && !std::mem::replace(&mut seen[callee], true)
            {
                errors.extend(verifier.function(callee));
                called.push(callee);
                work.push(next);
            }
        }
    }
    let found = verifier::diagnostics(errors);
    found.map_err(CodegenError::Verifier).map(|()| called)
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
    let verify = || verify_with_callees(module, func).map(|_| ());
    pipeline::run(context, module, func, options, verify).map_err(|e| e.in_module(module))
}

/// What one kernel asks of the file, with a context's memory.
pub(crate) fn demand_in(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
) -> Result<Demand, CodegenError> {
    let verify = || verify_with_callees(module, func).map(|_| ());
    // The order of loads does not change whether all values fit.
    let schedule = PassSet::from_iter([Pass::PreRaSchedule]);
    let passes = options.passes().without(schedule);
    let begun = pipeline::begin(context, module, func, options, passes, verify);
    let begun = begun.map_err(|e| e.in_module(module))?;
    let demand = begun.demand();
    begun.give_back(context);
    Ok(demand)
}

/// Kernels of a module whose first stages are done, up to where registers get their places: it is
/// known what they ask of the register file, and what was done for that is not done again where
/// they are compiled. They hold their machine code until then.
#[derive(Clone)]
pub struct Begun<'o> {
    options: &'o CompileOptions,
    kernels: BTreeMap<FuncRef, Kernel>,
}

/// One of them, and the functions that it calls at any depth, which were verified with it.
#[derive(Clone)]
pub(crate) struct Kernel {
    begun: pipeline::Begun,
    calls: Vec<FuncRef>,
}

impl<'o> Begun<'o> {
    /// None, of a module that is to be compiled with these options.
    pub fn new(options: &'o CompileOptions) -> Begun<'o> {
        Begun {
            options,
            kernels: BTreeMap::new(),
        }
    }

    /// Begins a kernel, and says what it asks of the register file.
    ///
    /// # Errors
    /// As [`compile_kernel`], but that registers do not run out.
    pub fn begin(
        &mut self,
        context: &mut Context,
        module: &Module,
        kernel: FuncRef,
    ) -> Result<Demand, CodegenError> {
        let Some(func) = module.functions.get(kernel) else {
            return Err(CodegenError::internal("", format!("no function {kernel}")));
        };
        let mut calls = Vec::new();
        let verify = || {
            calls = verify_with_callees(module, func)?;
            Ok(())
        };
        let begun = pipeline::begin(
            context,
            module,
            func,
            self.options,
            self.options.passes(),
            verify,
        );
        let begun = begun.map_err(|e| e.in_module(module))?;
        let demand = begun.demand();
        self.forget(context, kernel);
        self.kernels.insert(kernel, Kernel { begun, calls });
        Ok(demand)
    }

    /// Drops what was done of a kernel: it is taken out of the module, or changed.
    pub fn forget(&mut self, context: &mut Context, kernel: FuncRef) {
        if let Some(kernel) = self.kernels.remove(&kernel) {
            kernel.begun.give_back(context);
        }
    }

    /// Compiles every kernel of the module and writes a zebin. Functions may have been added to the
    /// module since kernels were begun; those that were begun, what they call and the data that
    /// they name are as they were. They are not verified again.
    ///
    /// # Errors
    /// As [`compile`].
    pub fn compile(self, context: &mut Context, module: &Module) -> Result<Compiled, CodegenError> {
        module_in(context, module, self.options, self.kernels)
    }
}

impl fmt::Debug for Begun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.kernels.keys()).finish()
    }
}

/// Compiles every kernel of a module and writes a zebin.
///
/// # Errors
/// As [`compile_kernel`]; of IR that does not verify, every error of the module.
pub fn compile(module: &Module, options: &CompileOptions) -> Result<Compiled, CodegenError> {
    Context::new().compile(module, options)
}

/// A module, with a context's memory. `begun`: those of its kernels whose first stages are done.
pub(crate) fn module_in(
    context: &mut Context,
    module: &Module,
    options: &CompileOptions,
    mut begun: BTreeMap<FuncRef, Kernel>,
) -> Result<Compiled, CodegenError> {
    let mut kernels = Vec::new();
    let mut functions = Vec::new();
    let mut known: SecondaryMap<FuncRef, bool> = SecondaryMap::new();
    for (name, kernel) in &begun {
        let calls = kernel.calls.iter().copied();
        calls.chain([*name]).for_each(|f| known[f] = true);
    }
    // The whole module is verified with the first kernel, but for what was before.
    let mut verified = false;
    for (name, func) in &module.functions {
        if matches!(func.kind, FuncKind::Kernel { .. }) {
            let mut verify = || {
                if std::mem::replace(&mut verified, true) {
                    Ok(())
                } else {
                    verifier::verify_rest(module, |f| known[f]).map_err(CodegenError::Verifier)
                }
            };
            let kernel = match begun.remove(&name) {
                Some(b) => verify()
                    .and_then(|()| pipeline::finish(context, module, func, options, b.begun)),
                None => pipeline::run(context, module, func, options, verify),
            };
            kernels.push(kernel.map_err(|e| e.in_module(module))?);
            functions.push(func);
        }
    }
    let images: Vec<_> = kernels
        .iter()
        .zip(&functions)
        .map(|(k, func)| KernelImage {
            func,
            payload: &k.payload,
            barriers: k.barriers,
            grf_count: k.grf_count,
            scratch: k.stats.spilled.scratch,
            text: &k.code.bytes,
            entry: k.code.entry,
            relocations: &k.code.relocations,
            locations: &k.code.locations,
            labels: &k.code.labels,
        })
        .collect();
    let zebin = zebin::write(&options.target, module, &images)?;
    Ok(Compiled { kernels, zebin })
}
