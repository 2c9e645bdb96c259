//! The optimizer: passes over the IR of a function group.
//!
//! ```text
//!   ir::Function
//!      | egraph      values numbered, folded and rewritten by rules; placed where they cost least
//!      | unroll      loops of few iterations, known in number; the first iteration before a loop that is simpler then; several iterations at once of
//!      |             others that load neighbours
//!      | rotate      loops that begin with their condition
//!      | tidy        blocks that only one jumps to, parameters that are always the same
//!      | egraph      what these left
//!      | tidy        what that left
//!      | pieces      vectors of which only parts are written and read, as their parts
//!      | address     surfaces, accesses of what is beside each other, what memory is known to hold: `../address`
//!      | pairs       quadwords as two doublewords, where the ALU has none, before their accesses are merged
//!      | extracts    operations on elements of vectors, as one on the vectors
//!      | lanes       values of which some lanes are read, as these
//!      | egraph      what these left
//!   ir::Function
//! ```
//!
//! Every pass can be left out (`CompileOptions::without`), counts what it changed, and does no more
//! work for a function than a limit in its header says. A pass needs IR that verifies and makes IR
//! that verifies; source locations and labels of values that stay are kept.

pub(crate) mod cfg;
mod clone_insts;
mod egraph;
mod fuse_fma;
pub(crate) mod inline;
pub(crate) mod loops;
pub(crate) mod memory;

pub(crate) mod vector;

use crate::passes::{Pass, PassSet, PassStats};

use crate::error::CodegenError;
use crate::ir::{FloatControls, FuncRef, Function, InstData, Module, Value};
use crate::opt::inline::Group;
use crate::rule_coverage::Fired;
use crate::target::Target;
use cfg::cfg_cache::Flow;
use cranelift_entity::EntitySet;
use std::time::{Duration, Instant};

/// What a pass may ask besides the function.
pub(crate) struct Facts<'a> {
    /// The function's module.
    pub module: &'a Module,
    /// How the kernel's floats are rounded, and which denormals are kept.
    pub float: FloatControls,
    /// What is compiled for.
    pub target: &'a Target,
    /// What is on.
    pub passes: PassSet,
}

/// Counts of what passes did, by pass.
#[derive(Default)]
pub(crate) struct Counts {
    stats: Vec<PassStats>,
    /// Rules that matched.
    pub fired: Fired,
}

impl Counts {
    /// What each pass did.
    pub(crate) fn passes(&self) -> &[PassStats] {
        &self.stats
    }

    /// Adds to a pass's counts.
    pub(crate) fn add(&mut self, pass: Pass, changes: u32, time: Duration) {
        match self.stats.iter_mut().find(|s| s.pass == pass) {
            Some(s) => {
                s.changes = s.changes.saturating_add(changes);
                s.time += time;
            }
            None => self.stats.push(PassStats {
                pass,
                changes,
                time,
            }),
        }
    }
}

/// What passes leave for those behind them.
#[derive(Default)]
pub(crate) struct State {
    /// What was done.
    pub counts: Counts,
    /// The function's control flow.
    pub flow: Flow,
    /// Its values as sums.
    pub sums: memory::KeptSums,
}

/// A pass: what it does to a function, and to how much of it.
type Run = fn(&mut Function, &Facts<'_>, &mut State) -> u32;

/// The passes in the order in which they run.
const SEQUENCE: [(Pass, Run); 24] = [
    (Pass::Egraph, egraph::run),
    (Pass::Unroll, loops::unroll::run),
    (Pass::Peel, loops::unroll::peel),
    (Pass::UnrollRuntime, loops::unroll::runtime),
    (Pass::JumpThreading, cfg::jump_threading::run),
    (Pass::RotateLoops, loops::rotate::run),
    (Pass::SimplifyCfg, cfg::simplify_cfg::tidy),
    (Pass::FuseFma, fuse_fma::run),
    (Pass::Egraph, egraph::run),
    (Pass::SimplifyCfg, cfg::simplify_cfg::tidy),
    (Pass::Sroa, vector::sroa::run),
    (Pass::StatelessToStateful, memory::surfaces),
    (Pass::NarrowOffsets, memory::offsets),
    (Pass::WidenAccesses, memory::pack),
    (Pass::LoadForwarding, memory::forward),
    (Pass::DeadStores, memory::dead_stores),
    (Pass::LoadLicm, memory::hoist),
    (Pass::LowerInt64, vector::lower_int64::run),
    (Pass::VectorizeLoads, memory::merge_loads),
    (Pass::VectorizeStores, memory::merge_stores),
    (Pass::Slp, vector::slp::run),
    (Pass::DemandedLanes, vector::demanded_lanes::run),
    (Pass::Egraph, egraph::run),
    (Pass::IfConversion, cfg::if_conversion::run),
];

/// The group, each function optimized; and what was done.
///
/// # Errors
/// None: a pass that cannot do something leaves it.
pub(crate) fn optimize<'f>(
    module: &Module,
    group: Group<'f>,
    target: &Target,
    passes: PassSet,
) -> Result<(Group<'f>, Counts), CodegenError> {
    let mut state = State::default();
    if passes == PassSet::default() {
        return Ok((group, state.counts));
    }
    let facts = Facts {
        module,
        float: group.kernel.float_controls(),
        target,
        passes,
    };
    let last = SEQUENCE.iter().rposition(|(p, _)| *p == Pass::Egraph);
    let mut group = group.map(|mut func| {
        // Whether anything changed since the e-graph was made.
        let mut changed = true;
        let mut first = true;
        // Each pass begins where the one before it ended: to ask for the time takes some.
        let mut began = Instant::now();
        state.flow.changed();
        state.sums.changed();
        for (at, (pass, run)) in SEQUENCE.into_iter().enumerate() {
            let egraph = pass == Pass::Egraph;
            // Before loops are unrolled their bounds have to be constants; without that, what is
            // behind does as well.
            let bounds = std::mem::take(&mut first) && !passes.contains(Pass::Unroll);
            let early = egraph && Some(at) != last;
            if early && (bounds || !passes.contains(Pass::EarlyEgraph)) {
                continue;
            }
            if passes.contains(pass) && (changed || !egraph) {
                let changes = run(func.to_mut(), &facts, &mut state);
                let ended = Instant::now();
                state.counts.add(pass, changes, ended - began);
                began = ended;
                if early {
                    state.counts.add(Pass::EarlyEgraph, changes, Duration::ZERO);
                }
                // The e-graph may have changed what it does not count.
                if changes > 0 || pass == Pass::Egraph {
                    state.sums.changed();
                }
                changed = pass != Pass::Egraph && (changed || changes > 0);
            }
        }
        if passes.contains(Pass::DeadStores) {
            memory::drop_scratch(func.to_mut());
        }
        if passes.contains(Pass::Egraph) || changed {
            keep_defined_labels(func.to_mut());
        }
        Ok(func)
    })?;
    drop_uncalled(&mut group);
    Ok((group, state.counts))
}

/// Takes subroutines out that nothing calls any longer.
fn drop_uncalled(group: &mut Group<'_>) {
    let mut called: EntitySet<FuncRef> = EntitySet::new();
    fn mark(func: &Function, called: &mut EntitySet<FuncRef>) {
        for inst in func.calls() {
            if let InstData::Call { func, .. } = *func.dfg.data(inst) {
                called.insert(func);
            }
        }
    }
    mark(&group.kernel, &mut called);
    // Each stands before those that call it.
    let mut keep = vec![false; group.subroutines.len()];
    for (keep, (name, func)) in keep.iter_mut().zip(&group.subroutines).rev() {
        *keep = called.contains(*name);
        if *keep {
            mark(func, &mut called);
        }
    }
    let mut keep = keep.into_iter();
    group.subroutines.retain(|_| keep.next().unwrap_or(true));
}

/// Takes labels off values that nothing defines any longer.
fn keep_defined_labels(func: &mut Function) {
    if func.labels.is_empty() {
        return;
    }
    let mut defined: EntitySet<Value> = EntitySet::new();
    for &block in func.layout.blocks() {
        let insts = func.layout.insts(block);
        let results = insts.iter().flat_map(|&i| func.dfg.results(i));
        for &v in func.dfg.block_params(block).iter().chain(results) {
            defined.insert(v);
        }
    }
    func.labels.map_values(|v| defined.contains(v).then_some(v));
}
