//! Public API of compilation: options, modules, compiled kernels and their statistics.

use crate::driver::context::Context;
use crate::driver::pipeline;
use crate::driver::policy::GrfMode;
use crate::emit::Code;
use crate::error::CodegenError;
use crate::ir::verifier::ModuleVerifier;
use crate::ir::{FuncKind, FuncRef, Function, InstData, Module, verifier};
use crate::isel::mask_stack::{Finding, SimdCf};
use crate::opt::inline::Inline;
use crate::passes::{OptLevel, Pass, PassSet, PassStats, Stage};
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

/// Target and options of a compile.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// Product.
    pub target: Target,
    /// Stages whose output is returned as text.
    pub dump: Vec<Stage>,
    /// Lowering of SIMD control flow.
    pub simd_cf: SimdCf,
    /// Inlining of subroutines.
    pub inline: Inline,
    /// Optimization level.
    pub opt: OptLevel,
    /// Passes of that level that are left out: for comparisons, and to find a faulty one.
    pub without: PassSet,
    /// True if buffers may be larger than 4 GiB, or accesses through a `ptr` argument may leave its
    /// buffer. Then none becomes a surface (`-cl-intel-greater-than-4GB-buffer-required` of Intel's
    /// compiler).
    pub large_buffers: bool,
    /// Number of GRFs that values may be allocated to, from 0 on, if not all of the target's. For
    /// tests of spilling, and for code of which more threads fit. Values that do not fit are in
    /// scratch.
    pub grfs: Option<u32>,
    /// Number of GRFs of a thread, on platforms where the kernel chooses.
    pub grf_mode: GrfMode,
    /// True if [`KernelStats::report`] is computed.
    pub report: bool,
    /// True to verify the output of each stage: machine code, the allocation (by a symbolic
    /// checker), and emitted instructions against the legality rules. The IR verifier always runs.
    pub check: bool,
    /// Options of comparisons and tests.
    pub debug: DebugOptions,
}

/// Options of comparisons and tests. The default is right for every other use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DebugOptions {
    /// Register allocator.
    pub allocator: Allocator,
    /// True if values of disjoint channels may share a register when there are too many for the GRF
    /// file.
    pub lane_sharing: bool,
}

impl Default for DebugOptions {
    fn default() -> DebugOptions {
        DebugOptions {
            allocator: Allocator::default(),
            lane_sharing: true,
        }
    }
}

impl CompileOptions {
    /// Returns the options for a target.
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
            check: cfg!(debug_assertions),
            debug: DebugOptions::default(),
        }
    }

    /// Returns the passes of the optimizer that these options enable.
    pub(crate) fn passes(&self) -> PassSet {
        let passes = PassSet::of(self.opt).without(self.without);
        if self.large_buffers {
            passes.without(PassSet::from_iter([Pass::StatelessToStateful]))
        } else {
            passes
        }
    }

    /// Returns the options for a product's short name (`skl`).
    ///
    /// # Errors
    /// No code generator for it.
    pub fn for_target(name: &str) -> Result<CompileOptions, CodegenError> {
        Ok(CompileOptions::new(Target::lookup(name)?))
    }

    /// Returns the options for a device, as it describes itself (`device.info()` of
    /// `gantry-runtime`).
    ///
    /// # Errors
    /// No code generator for it.
    pub fn for_device(device: &DeviceInfo) -> Result<CompileOptions, CodegenError> {
        Ok(CompileOptions::new(Target::of_device(device)?))
    }
}

/// Demand of a kernel's values on the GRF file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Demand {
    /// Maximum of live bytes in GRFs.
    pub bytes: u32,
    /// Bytes of the GRFs that values may be allocated to.
    pub available: u32,
    /// True if loops stayed rolled, since the values of unrolled ones did not fit.
    pub rolled: bool,
    /// Bytes of the thread's scratch that the optimizer left as private memory.
    pub scratch: u32,
}

impl Demand {
    /// Returns true if nothing has to be spilled.
    pub fn fits(&self) -> bool {
        self.bytes <= self.available
    }
}

/// Statistics of one compiled kernel.
#[derive(Clone, Debug, Default)]
pub struct KernelStats {
    /// Time per stage.
    pub stages: Vec<(&'static str, Duration)>,
    /// Time per phase of allocation, within [`Stage::Regalloc`].
    pub phases: Phases,
    /// Number of emitted instructions.
    pub instructions: usize,
    /// Bytes of code.
    pub bytes: usize,
    /// Maximum of live bytes in GRFs. If that exceeds the file, only bytes count that must exist:
    /// nothing fits in fewer without spills.
    pub grf_bytes_demand: u32,
    /// Spilled values.
    pub spilled: Spilled,
    /// Number of registers that were saved by lane sharing.
    pub shared: u32,
    /// Number of copies between registers at different positions.
    pub moves: usize,
    /// Number of values whose live ranges were split to make space for others.
    pub splits: u32,
    /// Report of allocation, if requested.
    pub report: Option<Box<AllocationReport>>,
    /// Modelled time, if a report was requested.
    pub cycles: Option<Cycles>,
    /// SIMD width of the dispatch.
    pub simd_width: u32,
    /// Lowering rules and repairs that were used. Only the feature `fuzzing` records them.
    #[doc(hidden)]
    pub fired: Fired,
    /// Statistics of each pass of the optimizer.
    pub passes: Vec<PassStats>,
    /// Violated rules that keep SIMD control flow off the mask stack, and their positions. Empty if
    /// all of it is there, or was not requested to be.
    pub simd_cf: Vec<Finding>,
}

/// Compiled kernel.
#[derive(Clone, Debug)]
pub struct CompiledKernel {
    /// Name.
    pub name: String,
    /// Code.
    pub code: Code,
    /// Payload layout.
    pub payload: Payload,
    /// Number of barriers of a group, its own included. 0 if its threads do not wait for each
    /// other.
    pub barriers: u32,
    /// Number of GRFs of a thread.
    pub grf_count: u32,
    /// Statistics.
    pub stats: KernelStats,
    /// Requested dumps, in pipeline order.
    pub dumps: Vec<(Stage, String)>,
}

/// Compiled module.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Kernels in module order.
    pub kernels: Vec<CompiledKernel>,
    /// Zebin of all kernels.
    pub zebin: Vec<u8>,
}

impl Compiled {
    /// Returns the dump of a stage, kernel after kernel.
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

/// Verifies a kernel and every function that it calls, at any depth. Returns the called functions.
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

/// Returns code in IGA syntax. Source locations are comments where they change.
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
/// Invalid IR, an operation without a lowering, or too few registers.
pub fn compile_kernel(
    module: &Module,
    func: &Function,
    options: &CompileOptions,
) -> Result<CompiledKernel, CodegenError> {
    Context::new().compile_kernel(module, func, options)
}

/// Compiles one kernel, with a context's memory.
pub(crate) fn kernel_in(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
) -> Result<CompiledKernel, CodegenError> {
    let verify = || verify_with_callees(module, func).map(|_| ());
    pipeline::run(context, module, func, options, verify).map_err(|e| e.in_module(module))
}

/// Returns the demand of one kernel on the GRF file, with a context's memory.
pub(crate) fn demand_in(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
) -> Result<Demand, CodegenError> {
    let verify = || verify_with_callees(module, func).map(|_| ());
    // The order of loads does not affect if all values fit.
    let schedule = PassSet::from_iter([Pass::PreRaSchedule]);
    let passes = options.passes().without(schedule);
    let begun = pipeline::begin(context, module, func, options, passes, verify);
    let begun = begun.map_err(|e| e.in_module(module))?;
    let demand = begun.demand();
    begun.give_back(context);
    Ok(demand)
}

/// Compilation of a module in steps. Kernels are compiled up to register allocation, where their
/// demand on the GRF file is known, and finished together. They hold their machine code until then.
#[derive(Clone)]
pub struct ModuleCompilation<'o> {
    options: &'o CompileOptions,
    kernels: BTreeMap<FuncRef, BegunKernel>,
}

/// One of these kernels, and the functions that it calls at any depth, which were verified with it.
#[derive(Clone)]
pub(crate) struct BegunKernel {
    begun: pipeline::PartialKernel,
    calls: Vec<FuncRef>,
}

impl<'o> ModuleCompilation<'o> {
    /// Returns a compilation without kernels yet, of a module that will be compiled with these
    /// options.
    pub fn new(options: &'o CompileOptions) -> ModuleCompilation<'o> {
        ModuleCompilation {
            options,
            kernels: BTreeMap::new(),
        }
    }

    /// Compiles a kernel up to register allocation, and returns its demand on the GRF file.
    ///
    /// # Errors
    /// As [`compile_kernel`], but registers do not run out.
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
        self.kernels.insert(kernel, BegunKernel { begun, calls });
        Ok(demand)
    }

    /// Drops the state of a kernel that is removed from the module, or changed.
    pub fn forget(&mut self, context: &mut Context, kernel: FuncRef) {
        if let Some(kernel) = self.kernels.remove(&kernel) {
            kernel.begun.give_back(context);
        }
    }

    /// Compiles every kernel of the module and writes a zebin. Functions may have been added to the
    /// module since kernels were begun. Begun kernels, their callees and the data that they name
    /// must be unchanged, and are not verified again.
    ///
    /// # Errors
    /// As [`compile`].
    pub fn finish(self, context: &mut Context, module: &Module) -> Result<Compiled, CodegenError> {
        module_in(context, module, self.options, self.kernels)
    }
}

impl fmt::Debug for ModuleCompilation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.kernels.keys()).finish()
    }
}

/// Compiles every kernel of a module and writes a zebin.
///
/// # Errors
/// As [`compile_kernel`]. For invalid IR, every error of the module.
pub fn compile(module: &Module, options: &CompileOptions) -> Result<Compiled, CodegenError> {
    Context::new().compile(module, options)
}

/// Compiles a module, with a context's memory. `begun` has the kernels whose first stages are done.
pub(crate) fn module_in(
    context: &mut Context,
    module: &Module,
    options: &CompileOptions,
    mut begun: BTreeMap<FuncRef, BegunKernel>,
) -> Result<Compiled, CodegenError> {
    let mut kernels = Vec::new();
    let mut functions = Vec::new();
    let mut known: SecondaryMap<FuncRef, bool> = SecondaryMap::new();
    for (name, kernel) in &begun {
        let calls = kernel.calls.iter().copied();
        calls.chain([*name]).for_each(|f| known[f] = true);
    }
    // The whole module is verified with the first kernel, without what was verified before.
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
