//! Functions of the stages: each takes the code out of [`Work::form`] and puts what it makes there.

use crate::driver::form::Form;
use crate::driver::pipeline::Work;
use crate::driver::policy;
use crate::emit;
use crate::error::CodegenError;
use crate::ir::{Function, InstData, MAX_BARRIERS, Opcode};
use crate::isel::lower::lower as lower_group;
use crate::isel::lower_sends as sends;
use crate::isel::split_regions::legalize;
use crate::legalize_ops::expand;
use crate::mir::VCode;
use crate::mir::liveness::{Liveness, liveness as live_ranges};
use crate::mir_opt;
use crate::mir_opt::{address_cse as cse, pass_by_reference as by_reference};
use crate::opt;
use crate::opt::inline::group;
use crate::passes::{Pass, PassStats};
use crate::regalloc::flag_alloc::allocate_flags;
use crate::regalloc::grf::baseline::{self, Allocator};
use crate::regalloc::grf::parts_demand::{count_parts, is_near};
use crate::regalloc::grf::{lane_sharing as sharing, remat as rematerialize};
use crate::regalloc::report::AllocationReport;
use crate::regalloc::{AllocEnv, Allocated, allocate};
use crate::sched;
use crate::scoreboard as swsb;
use crate::target::abi::{Payload, has_resources};
use std::time::Duration;

/// Numbers of barriers that a thread group can be given. Intel's driver has these, and its
/// compiler, which asks for 4 where a kernel has 3.
const BARRIER_COUNTS: [u32; 8] = [0, 1, 2, 4, 8, 16, 24, 32];

/// Barriers of a thread group that a function waits at: its highest number plus one. The group's
/// own barrier is number 0.
fn barriers(func: &Function) -> u32 {
    let blocks = func.layout.blocks().iter();
    let insts = blocks.flat_map(|&b| func.layout.insts(b));
    let counts = insts.map(|&i| match *func.dfg.data(i) {
        InstData::NamedBarrier { number, .. } => u32::from(number) + 1,
        InstData::Nullary {
            opcode: Opcode::Barrier | Opcode::BarrierArrive | Opcode::BarrierWait,
        } => 1,
        _ => 0,
    });
    counts.max().unwrap_or(0)
}

pub(super) fn no_payload(name: &str) -> CodegenError {
    CodegenError::internal(name, "no stage has laid out the payload")
}

impl<'a> Work<'a, '_> {
    fn payload(&self) -> Result<&Payload, CodegenError> {
        let payload = self.facts.payload.as_ref();
        payload.ok_or_else(|| no_payload(self.name))
    }

    /// GRFs that values may be in.
    fn grfs(&self) -> u32 {
        let target = &self.options.target;
        // Platforms with the load/store cache keep the address of scratch and payload in the last.
        let kept = u32::from(target.features().lsc);
        let most = target.grf().count - kept;
        self.options.grfs.map_or(most, |n| n.min(most))
    }

    /// Bytes of the GRFs that values may be in.
    pub(super) fn register_bytes(&self) -> u32 {
        self.grfs().saturating_mul(self.options.target.grf().bytes)
    }

    /// GRFs and scratch that the kernel's values may be in.
    fn alloc_env(&self) -> Result<AllocEnv<'a>, CodegenError> {
        Ok(AllocEnv {
            target: &self.options.target,
            grfs: self.grfs(),
            scratch: self.payload()?.scratch_bytes,
            report: self.options.report,
            spill_attempts: &policy::SPILL_ATTEMPTS,
        })
    }
}

/// Starts with the function as it is. The caller has verified its module.
pub(super) fn verify(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    work.form = Form::Ir(opt::inline::FunctionGroup::of(work.func));
    Ok(0)
}

pub(super) fn inline(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let group = group(work.module, work.func, work.options.inline)?;
    has_resources(&group.kernel, group.functions())?;
    work.form = Form::Ir(group);
    Ok(0)
}

pub(super) fn optimize(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let group = work.form.ir()?;
    let (group, counts) = opt::optimize(work.module, group, &work.options.target, work.passes)?;
    work.stats.passes = counts.passes().to_vec();
    work.stats.fired = counts.fired;
    work.form = Form::Ir(group);
    Ok(0)
}

pub(super) fn legalize_ops(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let target = &work.options.target;
    let float = work.func.float_controls();
    let group = work.form.ir()?;
    let tables = work.passes.contains(Pass::JumpTables);
    let group = group.map(|f| expand(work.module, f, float, target, tables))?;
    if tables {
        let ends = |f: &Function| {
            let blocks = f.layout.blocks().iter();
            let last = blocks.filter_map(|&b| f.layout.terminator(b));
            last.filter(|&t| f.dfg.data(t).opcode() == Opcode::Switch)
                .count()
        };
        work.stats.passes.push(PassStats {
            pass: Pass::JumpTables,
            changes: group.functions().map(ends).sum::<usize>() as u32,
            time: Duration::ZERO,
        });
    }
    work.form = Form::Ir(group);
    Ok(0)
}

pub(super) fn lower(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let target = &work.options.target;
    let group = work.form.ir()?;
    let payload = Payload::of(&group.kernel, group.functions(), target)?;
    let asked = group.functions().map(barriers).max().unwrap_or(0);
    let count = BARRIER_COUNTS.into_iter().find(|n| *n >= asked);
    work.facts.barriers = count.unwrap_or(MAX_BARRIERS + 1);
    let (lowered, findings) = lower_group(&group, target, &payload, work.options.simd_cf)?;
    work.facts.payload = Some(payload);
    work.facts.findings = findings;
    work.form = Form::Lowered(lowered);
    Ok(0)
}

pub(super) fn lower_sends(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let lowered = work.form.lowered()?;
    let lowered = sends::expand(work.name, lowered, &work.options.target)?;
    work.form = Form::Lowered(lowered);
    Ok(0)
}

pub(super) fn pass_by_reference(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let mut lowered = work.form.lowered()?;
    let mut changes = 0;
    if lowered.routines.len() > 1 {
        let shares = work.passes.contains(Pass::AddressCse);
        let target = &work.options.target;
        changes = by_reference::run(work.name, &mut lowered, target, shares);
    }
    work.form = Form::Lowered(lowered);
    Ok(changes)
}

pub(super) fn split_regions(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let lowered = work.form.lowered()?;
    let memory = std::mem::take(&mut work.context.insts);
    let code = legalize(work.name, lowered, &work.options.target, memory)?;
    work.form = Form::VirtualFlags(code);
    Ok(0)
}

pub(super) fn flag_alloc(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let code = work.form.virtual_flags()?;
    let file = work.options.target.grf().size();
    let mut code = allocate_flags(work.name, code, file, &mut work.context.flags)?;
    if work.options.debug.allocator == Allocator::Grfs {
        baseline::round_to_grfs(&mut code);
    }
    work.form = Form::Machine(code, None);
    Ok(0)
}

/// Runs a pass of [`mir_opt`]'s table.
pub(super) fn machine_pass(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let Some(run) = mir_opt::function(work.stage) else {
        return no_function(work);
    };
    let (mut code, _) = work.form.machine()?;
    let changes = run(&mut code, &work.options.target);
    work.form = Form::Machine(code, None);
    Ok(changes)
}

/// Error of a stage that has a row and no function.
pub(super) fn no_function(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let what = format!("the stage `{}` has no function", work.stage.name());
    Err(CodegenError::internal(work.name, what))
}

pub(super) fn pre_ra_schedule(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let (code, live) = work.form.machine()?;
    if work.options.debug.allocator != Allocator::Bytes || !sched::has_loads(&code) {
        work.form = Form::Machine(code, live);
        return Ok(0);
    }
    let limit = work.register_bytes();
    let (target, check) = (&work.options.target, work.options.check);
    let memory = &mut work.context.sched;
    let (code, live, moved) = sched::raise_loads(work.name, code, target, limit, check, memory)?;
    work.form = Form::Machine(code, Some(live));
    Ok(moved)
}

/// Sets code and its liveness, with stages 5 and 6 of demand where they may decide whether the code
/// fits.
fn set_live(work: &mut Work<'_, '_>, code: VCode, mut live: Liveness) -> Result<(), CodegenError> {
    let limit = work.register_bytes();
    if is_near(&live, limit) && work.options.debug.allocator != Allocator::LinearScan {
        count_parts(
            work.name,
            &code,
            &mut live,
            &work.options.target,
            limit,
            false,
        )?;
    }
    work.form = Form::Live(code, live);
    Ok(())
}

pub(super) fn liveness(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let (code, live) = work.form.machine()?;
    let live = match live {
        Some(live) => live,
        None => live_ranges(work.name, &code)?,
    };
    set_live(work, code, live)?;
    Ok(0)
}

pub(super) fn remat(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let (mut code, live) = work.form.live()?;
    let limit = work.register_bytes();
    let changed = rematerialize::remat_to_fit(work.name, &mut code, &live, limit)?;
    match changed {
        Some(live) => set_live(work, code, live)?,
        None => work.form = Form::Live(code, live),
    }
    Ok(0)
}

pub(super) fn lane_sharing(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let (mut code, live) = work.form.live()?;
    let options = work.options;
    work.facts.shared = 0;
    if options.debug.lane_sharing && options.debug.allocator == Allocator::Bytes {
        let limit = work.register_bytes();
        work.facts.shared = sharing::share(&mut code, &live, &options.target, limit);
    }
    if work.facts.shared > 0 {
        let live = live_ranges(work.name, &code)?;
        set_live(work, code, live)?;
    } else {
        work.form = Form::Live(code, live);
    }
    Ok(work.facts.shared)
}

pub(super) fn regalloc(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let (code, live) = work.form.live()?;
    let options = work.options;
    let env = work.alloc_env()?;
    let keep = options.check || options.report;
    work.before = keep.then(|| (code.clone(), live.clone()));
    let after = match options.debug.allocator {
        Allocator::LinearScan => baseline::linear_scan(work.name, code, live, env)?,
        _ => allocate(work.name, code, live, env, &mut work.context.map)?,
    };
    if options.report
        && let Some((code, live)) = &work.before
    {
        let report = AllocationReport::new(code, live, &after, env);
        work.stats.report = Some(Box::new(report));
    }
    work.stats.spilled = after.spilled.clone();
    work.stats.splits = after.splits;
    work.stats.phases = after.phases;
    work.form = Form::Allocated(after);
    Ok(0)
}

/// Computes the liveness of changed code again, if a debugger is told where values are.
fn update_liveness(work: &Work<'_, '_>, after: &mut Allocated) -> Result<(), CodegenError> {
    if !after.code.labels.is_empty() {
        after.live = live_ranges(work.name, &after.code)?;
    }
    Ok(())
}

pub(super) fn address_cse(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let mut after = work.form.allocated()?;
    let (target, check) = (&work.options.target, work.options.check);
    let (code, changes) = cse::run(work.name, after.code, &after.alloc, target, check)?;
    after.code = code;
    if changes > 0 {
        update_liveness(work, &mut after)?;
    }
    work.form = Form::Allocated(after);
    Ok(changes)
}

pub(super) fn schedule(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let mut after = work.form.allocated()?;
    let (target, check) = (&work.options.target, work.options.check);
    let memory = &mut work.context.sched;
    let (code, moved) = sched::reorder(work.name, after.code, &after.alloc, target, check, memory)?;
    after.code = code;
    update_liveness(work, &mut after)?;
    work.form = Form::Allocated(after);
    Ok(moved)
}

pub(super) fn physical(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let after = work.form.allocated()?;
    let target = &work.options.target;
    let mut insts = emit::physical(work.name, &after.code, &after.alloc, target)?;
    emit::add_prologue(work.name, &mut insts, work.payload()?, target)?;
    work.stats.moves = insts.moves;
    work.form = Form::Physical(insts, after);
    Ok(0)
}

pub(super) fn scoreboard(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let (insts, after) = work.form.physical()?;
    let insts = swsb::annotated(insts, &work.options.target);
    work.form = Form::Physical(insts, after);
    Ok(0)
}

pub(super) fn emit(work: &mut Work<'_, '_>) -> Result<u32, CodegenError> {
    let (insts, after) = work.form.physical()?;
    let (target, check) = (&work.options.target, work.options.check);
    let compacts = work.passes.contains(Pass::Compact);
    let of = (&after.code, &after.live, &after.alloc);
    let out = emit::emit(work.name, insts, of, target, compacts, check)?;
    if compacts {
        work.stats.passes.push(PassStats {
            pass: Pass::Compact,
            changes: out.compacted,
            time: Duration::ZERO,
        });
    }
    work.stats.fired.extend(&after.code.fired);
    work.form = Form::Bytes(out, after.code);
    Ok(0)
}
