//! The pipeline.
//!
//! ```text
//!   ir::Function
//!      | verify
//!      | inline     small subroutines become part of their callers
//!      | opt        values numbered, folded, rewritten, placed
//!      | expand     what the target lacks, by what it has
//!      | lower      ISLE rules: bales
//!      | sends      payloads and descriptors
//!      | by-address large parameters of subroutines passed by where they are
//!      | legalize   bales cut to what the hardware takes
//!      | flags      predicates, by regalloc2
//!      | coalesce   moves to and from parts of registers, done without
//!      | constants  registers made of immediates, shared
//!      | raise      loads early in their blocks
//!      | liveness   ranges and demand in bytes
//!      | regalloc   byte addresses in the GRF file
//!      | addresses  of indirect operands, loaded once
//!      | schedule   an order that hides latencies
//!      | physical   instructions of the ISA crate, how far branches go
//!      | scoreboard what each waits for, where code says it
//!      | emit       bytes
//!   zebin
//! ```

use crate::driver::context::Context;
use crate::driver::grf_mode;
use crate::driver::options::{CompileOptions, CompiledKernel, Demand, KernelStats, listing};
use crate::emit::{Code, Physical, add_prologue, emit, physical};
use crate::error::CodegenError;
use crate::ir::{Function, InstData, MOST_BARRIERS, Module, Opcode, verifier};
use crate::isel::lower::lower;
use crate::isel::lower_sends;
use crate::isel::mask_stack::Finding;
use crate::isel::split_regions::legalize;
use crate::legalize_ops::expand;
use crate::mir::liveness::{Liveness, liveness};
use crate::mir::lowered::LoweredFunction;
use crate::mir::{VCode, display, verify};
use crate::mir_opt::copy_coalescing::coalesce;
use crate::mir_opt::{address_cse, combine_constants, pass_by_reference};
use crate::opt::inline::{Group, group};
use crate::opt::{Counts, Pass, PassSet, PassStats, optimize};
use crate::regalloc::flag_alloc::allocate_flags;
use crate::regalloc::grf::baseline::Allocator;
use crate::regalloc::grf::{baseline, lane_sharing, remat};
use crate::regalloc::report::AllocationReport;
use crate::regalloc::verify::checker;
use crate::regalloc::{Allocated, Allocation, Room, allocate};
use crate::sched;
use crate::scoreboard;
use crate::target::Target;
use crate::target::abi::{Payload, has_what_is_asked};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// A stage of the pipeline; its name is what `--print-after` takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// The IR obeys its rules.
    Verify,
    /// Subroutines are part of the kernel.
    Inline,
    /// Optimized.
    Opt,
    /// What the target lacks is rewritten.
    Expand,
    /// Bales and logical sends.
    Lower,
    /// Payloads and descriptors.
    Sends,
    /// Large parameters of subroutines passed by where they are.
    ByAddress,
    /// Instructions over virtual registers.
    Legalize,
    /// Flags physical.
    Flags,
    /// Moves to and from parts of registers done without.
    Coalesce,
    /// Registers made of immediates shared.
    Constants,
    /// Loads early.
    Raise,
    /// Demand and kills.
    Liveness,
    /// Addresses in the GRF file.
    Regalloc,
    /// Addresses of indirect operands loaded once.
    Addresses,
    /// Instructions in their last order.
    Schedule,
    /// Physical instructions.
    Physical,
    /// What each waits for.
    Scoreboard,
    /// Bytes.
    Emit,
}

impl Stage {
    /// Every stage in order.
    pub const ALL: [Stage; 19] = [
        Stage::Verify,
        Stage::Inline,
        Stage::Opt,
        Stage::Expand,
        Stage::Lower,
        Stage::Sends,
        Stage::ByAddress,
        Stage::Legalize,
        Stage::Flags,
        Stage::Coalesce,
        Stage::Constants,
        Stage::Raise,
        Stage::Liveness,
        Stage::Regalloc,
        Stage::Addresses,
        Stage::Schedule,
        Stage::Physical,
        Stage::Scoreboard,
        Stage::Emit,
    ];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Verify => "verify",
            Stage::Inline => "inline",
            Stage::Opt => "opt",
            Stage::Expand => "expand",
            Stage::Lower => "lower",
            Stage::Sends => "sends",
            Stage::ByAddress => "by-address",
            Stage::Legalize => "legalize",
            Stage::Flags => "flags",
            Stage::Coalesce => "coalesce",
            Stage::Constants => "constants",
            Stage::Raise => "raise",
            Stage::Liveness => "liveness",
            Stage::Regalloc => "regalloc",
            Stage::Addresses => "addresses",
            Stage::Schedule => "schedule",
            Stage::Physical => "physical",
            Stage::Scoreboard => "scoreboard",
            Stage::Emit => "emit",
        }
    }

    /// The stage of a name.
    pub fn from_name(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|s| s.name() == name)
    }
}

/// What a stage makes: how it is shown, and what it must keep to.
trait Form {
    /// As `--print-after` shows it.
    fn text(&self) -> String;

    /// What is wrong with it: a fault of the stage that made it, whatever its input. Asked with [`CompileOptions::check`].
    fn verify(&self) -> Result<(), String> {
        Ok(())
    }
}

impl Form for &Function {
    fn text(&self) -> String {
        self.to_string()
    }
}

impl Form for Group<'_> {
    fn text(&self) -> String {
        self.to_string()
    }
}

/// Functions of a module, optimized, and what was done.
impl Form for (&Module, Group<'_>, Counts) {
    fn text(&self) -> String {
        self.1.to_string()
    }

    fn verify(&self) -> Result<(), String> {
        for func in self.1.functions() {
            verifier::verify(self.0, func).map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}

/// What lowering makes, and why SIMD control flow is not on the mask stack.
impl Form for (LoweredFunction, Vec<Finding>) {
    fn text(&self) -> String {
        let mut out = String::new();
        for f in &self.1 {
            let _ = writeln!(out, "; by flags: {f}");
        }
        out + &self.0.to_string()
    }

    fn verify(&self) -> Result<(), String> {
        verify::lowered(&self.0)
    }
}

impl Form for LoweredFunction {
    fn text(&self) -> String {
        self.to_string()
    }

    fn verify(&self) -> Result<(), String> {
        verify::lowered(self)
    }
}

impl Form for VCode {
    fn text(&self) -> String {
        self.to_string()
    }

    fn verify(&self) -> Result<(), String> {
        verify::code(self, true)
    }
}

/// Machine code whose flags have their places.
struct FlagsPlaced(VCode);

impl Form for FlagsPlaced {
    fn text(&self) -> String {
        self.0.to_string()
    }

    fn verify(&self) -> Result<(), String> {
        verify::code(&self.0, false)
    }
}

impl Form for (&VCode, Liveness) {
    fn text(&self) -> String {
        display::with_liveness(self.0, &self.1)
    }
}

/// Machine code with its loads early, and, if it was looked at, what lives where in it.
struct Raised(VCode, Option<Liveness>);

impl Form for Raised {
    fn text(&self) -> String {
        self.0.to_string()
    }

    fn verify(&self) -> Result<(), String> {
        verify::code(&self.0, false)
    }
}

/// Machine code that is allocated, and its places.
struct PlacedCode(VCode, Liveness, Allocation);

impl Form for PlacedCode {
    fn text(&self) -> String {
        crate::regalloc::display::with_allocation(&self.0, &self.2)
    }

    fn verify(&self) -> Result<(), String> {
        verify::code(&self.0, false)
    }
}

/// What was allocated, and, where that is checked, what it was before.
struct Placed<'a> {
    before: Option<(VCode, Liveness)>,
    after: Allocated,
    target: &'a Target,
    /// Bytes of scratch that the kernel has of its own.
    own: u32,
}

impl Form for Placed<'_> {
    fn text(&self) -> String {
        crate::regalloc::display::with_allocation(&self.after.code, &self.after.alloc)
    }

    fn verify(&self) -> Result<(), String> {
        verify::code(&self.after.code, false)?;
        match &self.before {
            Some((code, live)) => checker::check(code, live, &self.after, self.target, self.own),
            None => Ok(()),
        }
    }
}

/// Physical instructions for a target.
impl Form for (&Target, Physical) {
    fn text(&self) -> String {
        self.1.text(self.0)
    }
}

/// Code, of a module, for a target.
impl Form for (&Module, &Target, Code) {
    fn text(&self) -> String {
        listing(self.0, &self.2, self.1)
    }
}

/// Runs stages of one kernel: times, dumps and checks each.
struct Stages<'a> {
    name: &'a str,
    options: &'a CompileOptions,
    stats: KernelStats,
    dumps: Vec<(Stage, String)>,
    /// How long the stage took that was last.
    last: Duration,
}

impl Stages<'_> {
    fn run<T: Form>(
        &mut self,
        stage: Stage,
        f: impl FnOnce() -> Result<T, CodegenError>,
    ) -> Result<T, CodegenError> {
        let start = Instant::now();
        let out = f()?;
        let took = start.elapsed();
        self.last = took;
        // What is done again is shown as it was the last time.
        match self.stats.stages.iter_mut().find(|s| s.0 == stage.name()) {
            Some((_, all)) => *all += took,
            None => self.stats.stages.push((stage.name(), took)),
        }
        if self.options.dump.contains(&stage) {
            self.dumps.retain(|(s, _)| *s != stage);
            self.dumps.push((stage, out.text()));
        }
        if self.options.check {
            out.verify().map_err(|e| {
                CodegenError::internal(self.name, format!("after {}: {e}", stage.name()))
            })?;
        }
        Ok(out)
    }

    /// Notes what the stage that was last did, which is a pass.
    fn pass(&mut self, pass: Pass, on: bool, changes: u32) {
        if on {
            self.stats.passes.push(PassStats {
                pass,
                changes,
                time: self.last,
            });
        }
    }
}

/// Barriers of a group that a function waits at: up to the highest number, the group's own being 0.
fn barriers(func: &Function) -> u32 {
    let insts = func
        .layout
        .blocks()
        .iter()
        .flat_map(|&b| func.layout.insts(b));
    let counts = insts.map(|&i| match *func.dfg.data(i) {
        InstData::NamedBarrier { number, .. } => u32::from(number) + 1,
        InstData::Nullary {
            opcode: Opcode::Barrier,
        } => 1,
        _ => 0,
    });
    counts.max().unwrap_or(0)
}

/// Numbers of barriers that a group can be given (Intel's driver, and its compiler, which asks for 4 where a kernel has 3).
const BARRIER_COUNTS: [u32; 8] = [0, 1, 2, 4, 8, 16, 24, 32];

/// Machine code whose flags have their places, and what lives where in it.
#[derive(Clone)]
struct Measured {
    code: VCode,
    live: Liveness,
    payload: Payload,
    barriers: u32,
    findings: Vec<Finding>,
    /// Registers that share places with those of other channels.
    shared: u32,
    /// Bytes of the registers that values may be in.
    limit: u32,
}

/// The registers and scratch that a kernel's values may be in.
fn room<'a>(options: &'a CompileOptions, payload: &Payload) -> Room<'a> {
    let target = &options.target;
    // The address of what is in scratch, and of the payload, is in the last one.
    let kept = u32::from(target.features().lsc);
    let most = target.grf().count - kept;
    Room {
        target,
        grfs: options.grfs.map_or(most, |n| n.min(most)),
        scratch: payload.scratch_bytes,
        report: options.report,
    }
}

/// The stages up to liveness, with a context's memory; `verify` checks the IR. `raises`: loads come early where that is asked for.
fn measure(
    stages: &mut Stages<'_>,
    context: &mut Context,
    module: &Module,
    func: &Function,
    raises: bool,
    verify: impl FnOnce() -> Result<(), CodegenError>,
) -> Result<Measured, CodegenError> {
    stages.run(Stage::Verify, || verify().map(|()| func))?;
    let passes = stages.options.passes();
    let out = measure_with(stages, context, module, func, raises, passes)?;
    // Not for the price of spilling: loops stay, loads stay in them, and payloads are filled where they are sent.
    let did = |pass: &Pass| {
        let mut all = stages.stats.passes.iter();
        all.any(|p| p.pass == *pass && p.changes > 0)
    };
    let costs: PassSet = [
        Pass::Unroll,
        Pass::Coalesce,
        Pass::HoistLoads,
        Pass::ByAddress,
    ]
    .into_iter()
    .filter(did)
    .collect();
    if out.live.peak().1 <= out.limit || costs == PassSet::default() {
        return Ok(out);
    }
    context.insts = out.code.insts;
    measure_with(stages, context, module, func, raises, passes.without(costs))
}

/// The stages behind verification up to liveness, with some passes of the optimizer.
fn measure_with(
    stages: &mut Stages<'_>,
    context: &mut Context,
    module: &Module,
    func: &Function,
    raises: bool,
    passes: PassSet,
) -> Result<Measured, CodegenError> {
    let (name, options) = (stages.name, stages.options);
    let target = &options.target;
    let file = target.grf().size();
    let group = stages.run(Stage::Inline, || {
        let group = group(module, func, options.inline)?;
        has_what_is_asked(&group.kernel, group.functions())?;
        Ok(group)
    })?;
    let (_, group, counts) = stages.run(Stage::Opt, || {
        let (group, counts) = optimize(module, group, target, passes)?;
        Ok((module, group, counts))
    })?;
    stages.stats.passes = counts.passes().to_vec();
    stages.stats.fired = counts.fired;
    let float = func.float_controls();
    let group = stages.run(Stage::Expand, || {
        group.map(|f| expand(module, f, float, target))
    })?;
    let payload = Payload::of(&group.kernel, group.functions(), target)?;
    let barriers = group.functions().map(barriers).max().unwrap_or(0);
    let barriers = BARRIER_COUNTS.into_iter().find(|n| *n >= barriers);
    let barriers = barriers.unwrap_or(MOST_BARRIERS + 1);
    let (lowered, findings) = stages.run(Stage::Lower, || {
        lower(&group, target, &payload, options.simd_cf)
    })?;
    // Of a large function this is memory for the stages to come.
    drop(group);
    let mut lowered = stages.run(Stage::Sends, || lower_sends::expand(name, lowered, target))?;
    let passes_places = passes.contains(Pass::ByAddress) && lowered.routines.len() > 1;
    let mut passed = 0;
    let lowered = stages.run(Stage::ByAddress, || {
        if passes_places {
            let shares = passes.contains(Pass::Addresses);
            passed = pass_by_reference::pass(name, &mut lowered, target, shares);
        }
        Ok(lowered)
    })?;
    stages.pass(Pass::ByAddress, passes_places, passed);
    let code = stages.run(Stage::Legalize, || {
        legalize(name, lowered, target, std::mem::take(&mut context.insts))
    })?;
    let FlagsPlaced(mut code) = stages.run(Stage::Flags, || {
        let flags = &mut context.flags;
        allocate_flags(name, code, file, flags).map(FlagsPlaced)
    })?;
    if options.allocator == Allocator::Grfs {
        baseline::round(&mut code);
    }
    let mut coalesced = 0;
    let coalesces = passes.contains(Pass::Coalesce);
    let FlagsPlaced(mut code) = stages.run(Stage::Coalesce, || {
        if coalesces {
            coalesced = coalesce(&mut code, target);
        }
        Ok(FlagsPlaced(code))
    })?;
    stages.pass(Pass::Coalesce, coalesces, coalesced);
    let by_channel = options.by_channel && options.allocator == Allocator::Bytes;
    let limit = room(options, &payload)
        .grfs
        .saturating_mul(target.grf().bytes);
    let raises = raises && passes.contains(Pass::Raise) && options.allocator == Allocator::Bytes;
    let shares = passes.contains(Pass::Constants);
    let mut fewer = 0;
    let FlagsPlaced(code) = stages.run(Stage::Constants, || {
        if shares {
            fewer = combine_constants::share(&mut code, target);
        }
        Ok(FlagsPlaced(code))
    })?;
    stages.pass(Pass::Constants, shares, fewer);
    let mut raised = 0;
    let Raised(mut code, mut known) = stages.run(Stage::Raise, || {
        if !raises || !sched::has_loads(&code) {
            return Ok(Raised(code, None));
        }
        let sched = &mut context.sched;
        let check = options.check;
        let (code, live, moved) = sched::raise_loads(name, code, target, limit, check, sched)?;
        raised = moved;
        Ok(Raised(code, Some(live)))
    })?;
    stages.pass(Pass::Raise, raises, raised);
    let mut shared = 0;
    let (_, live) = stages.run(Stage::Liveness, || {
        let mut live = match known.take() {
            Some(live) => live,
            None => liveness(name, &code)?,
        };
        live = remat::remake_to_fit(name, &mut code, live, limit)?;
        if by_channel {
            shared = lane_sharing::share(&mut code, &live, target, limit);
        }
        if shared > 0 {
            live = liveness(name, &code)?;
        }
        Ok((&code, live))
    })?;
    Ok(Measured {
        code,
        live,
        payload,
        barriers,
        findings,
        shared,
        limit,
    })
}

impl<'a> Stages<'a> {
    fn new(func: &'a Function, options: &'a CompileOptions) -> Stages<'a> {
        Stages {
            name: func.name.as_str(),
            options,
            stats: KernelStats::default(),
            dumps: Vec::new(),
            last: Duration::ZERO,
        }
    }
}

/// A kernel of which the stages up to liveness are done.
#[derive(Clone)]
pub(crate) struct Begun {
    measured: Measured,
    stats: KernelStats,
    dumps: Vec<(Stage, String)>,
}

impl Begun {
    /// What the kernel asks of the file.
    pub(crate) fn demand(&self) -> Demand {
        Demand {
            bytes: self.measured.live.peak().1,
            available: self.measured.limit,
            scratch: self.measured.payload.scratch_bytes,
        }
    }

    /// Gives a context back what it had of its memory.
    pub(crate) fn give_back(self, context: &mut Context) {
        context.insts = self.measured.code.insts;
    }
}

/// The stages up to liveness, for the file that is taken first; `verify` checks the IR. `raises`: loads come early where that is asked for, which is for
/// kernels that are to be finished, and has no part in whether all fits: nothing is raised where most lives.
pub(crate) fn begin(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
    raises: bool,
    verify: impl FnOnce() -> Result<(), CodegenError>,
) -> Result<Begun, CodegenError> {
    begin_for(
        context,
        module,
        func,
        grf_mode::first(options)?.as_ref(),
        raises,
        verify,
    )
}

/// The same for the target's file.
fn begin_for(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
    raises: bool,
    verify: impl FnOnce() -> Result<(), CodegenError>,
) -> Result<Begun, CodegenError> {
    let mut stages = Stages::new(func, options);
    let measured = measure(&mut stages, context, module, func, raises, verify)?;
    Ok(Begun {
        measured,
        stats: stages.stats,
        dumps: stages.dumps,
    })
}

/// Compiles one kernel, with a context's memory; `verify` checks the IR.
pub(crate) fn run(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
    verify: impl FnOnce() -> Result<(), CodegenError>,
) -> Result<CompiledKernel, CodegenError> {
    let begun = begin(context, module, func, options, true, verify)?;
    finish(context, module, func, options, begun)
}

/// Compiles a kernel that was begun with loads raised. Where it may choose between register files, it is compiled for both.
pub(crate) fn finish(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
    begun: Begun,
) -> Result<CompiledKernel, CodegenError> {
    let kernel = one(
        context,
        module,
        func,
        grf_mode::first(options)?.as_ref(),
        begun,
    )?;
    match grf_mode::second(options, &kernel) {
        Some(second) => {
            let begun = begin_for(context, module, func, &second, true, || Ok(()))?;
            let large = one(context, module, func, &second, begun)?;
            Ok(grf_mode::faster(options, kernel, large))
        }
        None => Ok(kernel),
    }
}

/// Finishes one kernel for the target's register file.
fn one(
    context: &mut Context,
    module: &Module,
    func: &Function,
    options: &CompileOptions,
    begun: Begun,
) -> Result<CompiledKernel, CodegenError> {
    let target = &options.target;
    let mut stages = Stages {
        stats: begun.stats,
        dumps: begun.dumps,
        ..Stages::new(func, options)
    };
    let Measured {
        code,
        live,
        payload,
        barriers,
        findings,
        shared,
        ..
    } = begun.measured;
    let name = stages.name;
    let room = room(options, &payload);
    let demand = live.peak().1;
    let (map, sched) = (&mut context.map, &mut context.sched);
    let mut report = None;
    let Allocated {
        code,
        live,
        alloc,
        spilled,
        splits,
        phases,
        ..
    } = stages
        .run(Stage::Regalloc, || {
            let keep = options.check || options.report;
            let before = keep.then(|| (code.clone(), live.clone()));
            let after = match options.allocator {
                Allocator::LinearScan => baseline::linear_scan(name, code, live, room)?,
                _ => allocate(name, code, live, room, map)?,
            };
            if options.report
                && let Some((code, live)) = &before
            {
                report = Some(Box::new(AllocationReport::new(code, live, &after, room)));
            }
            let before = before.filter(|_| options.check);
            Ok(Placed {
                before,
                after,
                target,
                own: room.scratch,
            })
        })?
        .after;
    let passes = options.passes();
    let commons = passes.contains(Pass::Addresses);
    let mut loaded = 0;
    let PlacedCode(code, live, alloc) = stages.run(Stage::Addresses, || {
        if !commons {
            return Ok(PlacedCode(code, live, alloc));
        }
        let (code, fewer) = address_cse::share(name, code, &alloc, target, options.check)?;
        loaded = fewer;
        Ok(PlacedCode(code, live, alloc))
    })?;
    stages.pass(Pass::Addresses, commons, loaded);
    let schedules = passes.contains(Pass::Schedule);
    let compacts = passes.contains(Pass::Compact);
    let mut moved = 0;
    let PlacedCode(code, live, alloc) = stages.run(Stage::Schedule, || {
        if !schedules && loaded == 0 {
            return Ok(PlacedCode(code, live, alloc));
        }
        let (code, order) = match schedules {
            true => sched::reorder(name, code, &alloc, target, options.check, sched)?,
            false => (code, 0),
        };
        moved = order;
        // What a debugger is told goes by what lives.
        let live = match code.labels.is_empty() {
            true => live,
            false => liveness(name, &code)?,
        };
        Ok(PlacedCode(code, live, alloc))
    })?;
    stages.pass(Pass::Schedule, schedules, moved);
    let (_, physical) = stages.run(Stage::Physical, || {
        let mut out = physical(name, &code, &alloc, target)?;
        add_prologue(name, &mut out, &payload, target)?;
        Ok((target, out))
    })?;
    let (_, physical) = stages.run(Stage::Scoreboard, || {
        Ok((target, scoreboard::annotated(physical, target)))
    })?;
    let moves = physical.moves;
    let (_, _, out) = stages.run(Stage::Emit, || {
        let of = (&code, &live, &alloc);
        let out = emit(name, physical, of, target, compacts, options.check)?;
        Ok((module, target, out))
    })?;
    let mut stats = stages.stats;
    if compacts {
        stats.passes.push(PassStats {
            pass: Pass::Compact,
            changes: out.compacted,
            time: Duration::ZERO,
        });
    }
    stats.instructions = out.insts.len();
    stats.bytes = out.bytes.len();
    stats.grf_bytes_demand = demand;
    stats.spilled = spilled;
    stats.shared = shared;
    stats.moves = moves;
    stats.splits = splits;
    stats.phases = phases;
    stats.report = report;
    if options.report {
        stats.cycles = Some(out.cycles(target.platform()));
    }
    stats.simd_width = payload.simd;
    stats.fired.extend(&code.fired);
    stats.simd_cf = findings;
    let dumps = stages.dumps;
    context.insts = code.insts;
    Ok(CompiledKernel {
        name: name.to_string(),
        code: out,
        payload,
        barriers,
        grf_count: target.grf().count,
        stats,
        dumps,
    })
}
