//! The pipeline: runs, times, dumps and verifies the stages.
//!
//! ```text
//!  IR
//!      | verify             the rules of the IR
//!      | inline             small subroutines become part of their callers
//!      | opt                value numbering, folding, rules, memory, loops, vectors
//!      | legalize-ops       operations that the target lacks
//!      | lower              ISLE rules: bales and logical sends
//!      | lower-sends        payloads and descriptors
//!      | pass-by-reference  large parameters of subroutines
//!      | split-regions      bales become instructions that the hardware takes
//!      | flag-alloc         flags, by regalloc2
//!      | copy-coalescing    moves to and from parts of registers
//!      | combine-constants  constants in registers, shared
//!      | pre-ra-schedule    loads early in their blocks
//!      | liveness           live ranges, demand in bytes
//!      | remat              cheap values again, where demand exceeds the file
//!      | lane-sharing       values of different channels in one register
//!      | regalloc           byte addresses in the GRF file
//!      | address-cse        addresses of indirect operands, loaded once
//!      | schedule           an order that hides latencies
//!      | physical           physical registers, branch targets
//!      | scoreboard         SWSB annotations
//!      | emit               bytes
//!  zebin
//! ```

use crate::driver::context::Context;
use crate::driver::form::Form;
use crate::driver::options::{CompileOptions, CompiledKernel, Demand, KernelStats, listing};
use crate::driver::{policy, steps};
use crate::error::CodegenError;
use crate::images_in_memory;
use crate::ir::{Function, Module, verifier};
use crate::isel::mask_stack::Finding;
use crate::mir::liveness::Liveness;
use crate::mir::{VCode, verify};
use crate::mir_opt;
use crate::passes::{Pass, PassSet, PassStats, Stage};
use crate::regalloc::grf::baseline::Allocator;
use crate::regalloc::grf::parts_demand::count_parts;
use crate::regalloc::verify::checker;
use crate::target::abi::Payload;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Function of a stage. Returns how much it changed, if the stage counts that.
type Run = fn(&mut Work<'_, '_>) -> Result<u32, CodegenError>;

/// Returns the function of a stage. Stages that are passes over machine code have theirs in a table
/// of `mir_opt`.
const fn function(stage: Stage) -> Run {
    match stage {
        Stage::Verify => steps::verify,
        Stage::Inline => steps::inline,
        Stage::Opt => steps::optimize,
        Stage::LegalizeOps => steps::legalize_ops,
        Stage::Lower => steps::lower,
        Stage::LowerSends => steps::lower_sends,
        Stage::PassByReference => steps::pass_by_reference,
        Stage::SplitRegions => steps::split_regions,
        Stage::FlagAlloc => steps::flag_alloc,
        Stage::PreRaSchedule => steps::pre_ra_schedule,
        Stage::Liveness => steps::liveness,
        Stage::Remat => steps::remat,
        Stage::LaneSharing => steps::lane_sharing,
        Stage::Regalloc => steps::regalloc,
        Stage::AddressCse => steps::address_cse,
        Stage::Schedule => steps::schedule,
        Stage::Physical => steps::physical,
        Stage::Scoreboard => steps::scoreboard,
        Stage::Emit => steps::emit,
        pass => match mir_opt::function(pass) {
            Some(_) => steps::machine_pass,
            None => steps::no_function,
        },
    }
}

/// Stages before register allocation.
const BEFORE_REGALLOC: &[Stage] = Stage::ALL.split_at(Stage::Regalloc as usize).0;
/// Stages from register allocation on.
const FROM_REGALLOC: &[Stage] = Stage::ALL.split_at(Stage::Regalloc as usize).1;

/// A kernel on its way through the pipeline.
pub(super) struct Work<'a, 'c> {
    pub name: &'a str,
    pub module: &'a Module,
    pub func: &'a Function,
    pub options: &'a CompileOptions,
    /// Passes of this attempt.
    pub passes: PassSet,
    pub context: &'c mut Context,
    /// Stage that runs, or ran last.
    pub stage: Stage,
    pub form: Form<'a>,
    /// Facts about the kernel that several stages ask for.
    pub facts: KernelFacts,
    pub stats: KernelStats,
    /// Code and liveness before allocation, kept for the checker and the report.
    pub before: Option<(VCode, Liveness)>,
    dumps: Vec<(Stage, String)>,
}

/// Facts about a kernel that stages leave for those behind them.
#[derive(Clone, Debug, Default)]
pub(super) struct KernelFacts {
    /// Layout of the thread payload, once the code is final IR.
    pub payload: Option<Payload>,
    /// Barriers of a thread group.
    pub barriers: u32,
    /// Reasons why SIMD control flow is not on the mask stack.
    pub findings: Vec<Finding>,
    /// Registers that lane sharing merged into others.
    pub shared: u32,
}

impl<'a, 'c> Work<'a, 'c> {
    fn new(
        context: &'c mut Context,
        module: &'a Module,
        func: &'a Function,
        options: &'a CompileOptions,
    ) -> Work<'a, 'c> {
        Work {
            name: func.name.as_str(),
            module,
            func,
            options,
            passes: options.passes(),
            context,
            stage: Stage::Verify,
            form: Form::Taken,
            facts: KernelFacts::default(),
            stats: KernelStats::default(),
            before: None,
            dumps: Vec::new(),
        }
    }

    /// Runs stages in order: times, dumps and verifies each.
    fn run(&mut self, stages: &[Stage]) -> Result<(), CodegenError> {
        for &stage in stages {
            let pass = stage.pass().filter(|p| self.passes.contains(*p));
            let start = Instant::now();
            let mut changes = 0;
            if pass.is_some() || stage.pass().is_none() {
                self.stage = stage;
                changes = function(stage)(self)?;
            }
            let time = start.elapsed();
            self.note(stage, time);
            if let Some(pass) = pass {
                let stats = PassStats {
                    pass,
                    changes,
                    time,
                };
                self.stats.passes.push(stats);
            }
            if self.options.dump.contains(&stage) {
                let text = self.text();
                // A stage that runs again is shown as it was the last time.
                self.dumps.retain(|(s, _)| *s != stage);
                self.dumps.push((stage, text));
            }
            if self.options.check {
                let name = stage.name();
                verify_form(self)
                    .map_err(|e| CodegenError::internal(self.name, format!("after {name}: {e}")))?;
            }
        }
        Ok(())
    }

    /// Adds to the time of a stage.
    fn note(&mut self, stage: Stage, time: Duration) {
        let mut stages = self.stats.stages.iter_mut();
        match stages.find(|s| s.0 == stage.name()) {
            Some((_, all)) => *all += time,
            None => self.stats.stages.push((stage.name(), time)),
        }
    }

    /// Text of the code, as `--print-after` shows it.
    fn text(&self) -> String {
        match &self.form {
            Form::Lowered(code) => {
                let mut out = String::new();
                for f in &self.facts.findings {
                    let _ = writeln!(out, "; by flags: {f}");
                }
                out + &code.to_string()
            }
            Form::Physical(insts, _) => insts.text(&self.options.target),
            Form::Bytes(code, _) => listing(self.module, code, &self.options.target),
            other => other.text(),
        }
    }
}

/// Verifies what the last stage made, by its form. An error is a fault of the stage, whatever its
/// input.
fn verify_form(work: &Work<'_, '_>) -> Result<(), String> {
    match &work.form {
        // The caller verified its module, and legal operations are not all valid as input.
        Form::Ir(group) if matches!(work.stage, Stage::Inline | Stage::Opt) => {
            for func in group.functions() {
                verifier::verify(work.module, func).map_err(|e| e.to_string())?;
            }
            Ok(())
        }
        Form::Lowered(code) => verify::lowered(code),
        Form::VirtualFlags(code) => verify::code(code, true),
        Form::Machine(code, _) | Form::Live(code, _) => verify::code(code, false),
        Form::Allocated(after) => {
            verify::code(&after.code, false)?;
            match &work.before {
                Some((code, live)) if work.stage == Stage::Regalloc => {
                    let own = work.facts.payload.as_ref().map_or(0, |p| p.scratch_bytes);
                    checker::check(code, live, after, &work.options.target, own)
                }
                _ => Ok(()),
            }
        }
        Form::Ir(_) | Form::Physical(..) | Form::Bytes(..) | Form::Taken => Ok(()),
    }
}

/// A kernel whose stages before register allocation are done.
#[derive(Clone)]
pub(crate) struct PartialKernel {
    code: VCode,
    live: Liveness,
    facts: KernelFacts,
    stats: KernelStats,
    dumps: Vec<(Stage, String)>,
    /// Bytes of the GRFs that values may be in.
    limit: u32,
    /// True if loops stayed rolled, since the values of unrolled ones did not fit.
    rolled: bool,
}

impl PartialKernel {
    /// Demand of the kernel on the GRF file.
    pub(crate) fn demand(&self) -> Demand {
        let payload = self.facts.payload.as_ref();
        Demand {
            bytes: self.live.least(),
            available: self.limit,
            rolled: self.rolled,
            scratch: payload.map_or(0, |p| p.scratch_bytes),
        }
    }

    /// Returns the memory of the code to a context.
    pub(crate) fn give_back(self, context: &mut Context) {
        context.insts = self.code.insts;
    }
}

/// Runs the stages before register allocation, for the GRF file that is tried first.
///
/// `passes` are those of the options, or fewer. `verify` checks the IR.
pub(crate) fn begin(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
    passes: PassSet,
    verify: impl FnOnce() -> Result<(), CodegenError>,
) -> Result<PartialKernel, CodegenError> {
    let options = policy::first(options)?;
    begin_for(context, module, func, &options, passes, verify)
}

/// Runs the stages before register allocation for the target's GRF file.
fn begin_for(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
    passes: PassSet,
    verify: impl FnOnce() -> Result<(), CodegenError>,
) -> Result<PartialKernel, CodegenError> {
    let start = Instant::now();
    verify()?;
    let time = start.elapsed();
    let expanded = images_in_memory::expand(module, func, &options.target)?;
    let expanded = expanded.as_ref().and_then(|(module, name)| {
        let func = module.functions.get(*name)?;
        Some((module, func))
    });
    let (module, func) = expanded.unwrap_or((module, func));
    let mut work = Work::new(context, module, func, options);
    work.passes = passes;
    work.note(Stage::Verify, time);
    work.run(BEFORE_REGALLOC)?;
    let limit = work.register_bytes();
    let (mut code, mut live) = work.form.live()?;
    let mut rolled = false;
    if live.least() > limit {
        // Cheaper than spilling: the same without the passes that cost registers.
        let costly = policy::costly(&work.stats.passes);
        if costly != PassSet::default() {
            rolled = costly.contains(Pass::Unroll);
            work.context.insts = code.insts;
            work.passes = work.passes.without(costly);
            work.run(BEFORE_REGALLOC)?;
            (code, live) = work.form.live()?;
        }
    }
    Ok(PartialKernel {
        code,
        live,
        limit,
        rolled,
        facts: work.facts,
        stats: work.stats,
        dumps: work.dumps,
    })
}

/// Compiles one kernel, with a context's memory. `verify` checks the IR.
pub(crate) fn run(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
    verify: impl FnOnce() -> Result<(), CodegenError>,
) -> Result<CompiledKernel, CodegenError> {
    let begun = begin(context, module, func, options, options.passes(), verify)?;
    finish(context, module, func, options, begun)
}

/// Finishes a kernel that was begun. If it may choose between GRF files, compiles it for both.
pub(crate) fn finish(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
    begun: PartialKernel,
) -> Result<CompiledKernel, CodegenError> {
    let first = policy::first(options)?;
    let kernel = finish_for(context, module, func, &first, begun)?;
    let Some(second) = policy::second(options, &kernel) else {
        return Ok(kernel);
    };
    let begun = begin_for(context, module, func, &second, second.passes(), || Ok(()))?;
    let large = finish_for(context, module, func, &second, begun)?;
    Ok(policy::faster(options, kernel, large))
}

/// Runs the stages from register allocation on, for the target's GRF file.
fn finish_for(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
    mut begun: PartialKernel,
) -> Result<CompiledKernel, CodegenError> {
    // What must exist if registers that copies join are one, or if demand is far above the limit,
    // is not counted for kernels that are only tried at a width.
    let (limit, target) = (begun.limit, &options.target);
    let kind = options.debug.allocator;
    if begun.live.least() > limit && kind != Allocator::LinearScan {
        count_parts(
            func.name.as_str(),
            &begun.code,
            &mut begun.live,
            target,
            limit,
            true,
        )?;
    }
    let demand = begun.live.least();
    let mut work = Work {
        form: Form::Live(begun.code, begun.live),
        facts: begun.facts,
        stats: begun.stats,
        dumps: begun.dumps,
        ..Work::new(context, module, func, options)
    };
    work.run(FROM_REGALLOC)?;
    let (code, machine) = work.form.bytes()?;
    let payload = work
        .facts
        .payload
        .ok_or_else(|| steps::no_payload(work.name))?;
    let stats = KernelStats {
        instructions: code.insts.len(),
        bytes: code.bytes.len(),
        grf_bytes_demand: demand,
        shared: work.facts.shared,
        cycles: options
            .report
            .then(|| code.cycles(options.target.platform())),
        simd_width: payload.simd,
        simd_cf: work.facts.findings,
        ..work.stats
    };
    work.context.insts = machine.insts;
    Ok(CompiledKernel {
        name: work.name.to_string(),
        code,
        payload,
        barriers: work.facts.barriers,
        grf_count: options.target.grf().count,
        stats,
        dumps: work.dumps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each stage takes what the one before it makes, and has a function.
    #[test]
    fn stages_fit() {
        for pair in Stage::ALL.windows(2) {
            assert_eq!(pair[0].output(), pair[1].input(), "{pair:?}");
        }
        for stage in Stage::ALL {
            let missing: Run = steps::no_function;
            assert!(!std::ptr::fn_addr_eq(function(stage), missing), "{stage:?}");
        }
    }
}
