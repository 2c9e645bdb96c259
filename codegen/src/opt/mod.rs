//! Optimizer: passes over the IR of a function group.
//!
//! ```text
//!   ir::Function
//!      | egraph                 value numbering, folding and rewrite rules; cheapest placement
//!      | unroll, peel           loops of known trip count; first iterations that simplify the rest
//!      | unroll-runtime         several iterations at once, where they access neighbours
//!      | jump-threading         edges whose branch is known
//!      | rotate-loops           conditions at the end of loops
//!      | simplify-cfg           branches by constants, block merging
//!      | reciprocals            quotients as products, where the kernel allows it
//!      | fuse-fma               contraction, where the kernel allows it
//!      | egraph                 cleanup after the above
//!      | fold-loads             loads of constant data at known addresses
//!      | simplify-cfg           cleanup after the above
//!      | sroa                   vectors that are used by parts, as values of their own
//!      | stateless-to-stateful  accesses by surface
//!      | narrow-offsets         address arithmetic in 32 bits
//!      | widen-accesses         bytes and words as dwords
//!      | load-forwarding        loads of bytes that are known
//!      | dead-stores            stores that nothing reads
//!      | load-licm              invariant loads before their loops
//!      | lower-int64            qwords as two dwords, where the ALU has no 64-bit integers
//!      | vectorize-loads        neighbouring loads in one message
//!      | vectorize-stores       neighbouring stores in one message
//!      | slp                    operations on elements of vectors as one on the vectors
//!      | demanded-lanes         operations on the lanes that something reads
//!      | narrow-ints            dwords as words, where these take fewer instructions
//!      | egraph                 cleanup after the above
//!      | post-inc               tests of the next value of a counter
//!      | if-conversion          short blocks under predicates
//!   ir::Function
//! ```
//!
//! Every pass can be left out (`CompileOptions::without`) and counts its changes. Its header states
//! the limit on its work for a function. A pass takes verified IR and produces verified IR. Source
//! locations and labels of values that stay are kept.

pub(crate) mod cfg;
mod clone_insts;
mod egraph;
mod fold_loads;
mod fuse_fma;
pub(crate) mod inline;
pub(crate) mod loops;
pub(crate) mod memory;
mod post_inc;
mod reciprocals;
pub(crate) mod vector;

use crate::passes::{Pass, PassSet, PassStats};

use crate::error::CodegenError;
use crate::ir::{FloatControls, FuncRef, Function, InstData, Module, Value};
use crate::opt::inline::FunctionGroup;
use crate::rule_coverage::Fired;
use crate::target::Target;
use cfg::cfg_cache::CfgCache;
use cranelift_entity::EntitySet;
use std::time::{Duration, Instant};

/// Inputs of a pass besides the function.
pub(crate) struct PassContext<'a> {
    /// Module of the function.
    pub module: &'a Module,
    /// Rounding and denormal modes of the kernel's floats.
    pub float: FloatControls,
    /// Target of the compilation.
    pub target: &'a Target,
    /// Passes that are on.
    pub passes: PassSet,
}

/// Number of changes and time of each pass.
#[derive(Default)]
pub(crate) struct PassCounts {
    stats: Vec<PassStats>,
    /// Rules that matched.
    pub fired: Fired,
}

impl PassCounts {
    /// Returns the counts of each pass.
    pub(crate) fn passes(&self) -> &[PassStats] {
        &self.stats
    }

    /// Adds to the counts of a pass.
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

/// Analyses and counts that passes hand on to later passes.
#[derive(Default)]
pub(crate) struct OptState {
    /// Counts so far.
    pub counts: PassCounts,
    /// Cached control flow of the function.
    pub cfg: CfgCache,
    /// Cached affine forms of its values.
    pub affine: memory::AffineCache,
    /// True if another run of the e-graph follows.
    pub early: bool,
    /// True if loads became values since the last run of the e-graph.
    pub forwarded: bool,
}

/// Pass: changes a function and returns the number of changes.
type PassFn = fn(&mut Function, &PassContext<'_>, &mut OptState) -> u32;

/// Passes in the order in which they run.
const SEQUENCE: [(Pass, PassFn); 28] = [
    (Pass::Egraph, egraph::run),
    (Pass::Unroll, loops::unroll::run),
    (Pass::Peel, loops::unroll::peel),
    (Pass::UnrollRuntime, loops::unroll::runtime),
    (Pass::JumpThreading, cfg::jump_threading::run),
    (Pass::RotateLoops, loops::rotate::run),
    (Pass::SimplifyCfg, cfg::simplify_cfg::run),
    (Pass::Reciprocals, reciprocals::run),
    (Pass::FuseFma, fuse_fma::run),
    (Pass::Egraph, egraph::run),
    (Pass::FoldLoads, fold_loads::run),
    (Pass::SimplifyCfg, cfg::simplify_cfg::run),
    (Pass::Sroa, vector::sroa::run),
    (
        Pass::StatelessToStateful,
        memory::stateless_to_stateful::run,
    ),
    (Pass::NarrowOffsets, memory::narrow_offsets::run),
    (Pass::WidenAccesses, memory::widen_accesses::run),
    (Pass::LoadForwarding, memory::load_forwarding::run),
    (
        Pass::DeadStores,
        memory::load_forwarding::eliminate_dead_stores,
    ),
    (Pass::LoadLicm, memory::load_licm::run),
    (Pass::LowerInt64, vector::lower_int64::run),
    (Pass::VectorizeLoads, memory::vectorize_accesses::loads),
    (Pass::VectorizeStores, memory::vectorize_accesses::stores),
    (Pass::Slp, vector::slp::run),
    (Pass::DemandedLanes, vector::demanded_lanes::run),
    (Pass::NarrowInts, vector::narrow_ints::run),
    (Pass::Egraph, egraph::run),
    (Pass::PostInc, post_inc::run),
    (Pass::IfConversion, cfg::if_conversion::run),
];

/// Optimizes each function of a group, and returns the counts.
///
/// # Errors
/// None: a pass that cannot change something leaves it as it is.
pub(crate) fn optimize<'f>(
    module: &Module,
    group: FunctionGroup<'f>,
    target: &Target,
    passes: PassSet,
) -> Result<(FunctionGroup<'f>, PassCounts), CodegenError> {
    let mut state = OptState::default();
    if passes == PassSet::default() {
        return Ok((group, state.counts));
    }
    let ctx = PassContext {
        module,
        float: group.kernel.float_controls(),
        target,
        passes,
    };
    let last = SEQUENCE.iter().rposition(|(p, _)| *p == Pass::Egraph);
    let mut group = group.map(|mut func| {
        // True if anything changed since the last e-graph.
        let mut changed = true;
        let mut first = true;
        // A pass starts when the one before it ends: reading the clock takes time, too.
        let mut began = Instant::now();
        state.cfg.invalidate();
        state.affine.invalidate();
        for (at, (pass, run)) in SEQUENCE.into_iter().enumerate() {
            let egraph = pass == Pass::Egraph;
            // Unrolling needs constant bounds. Without it, the later e-graph is enough.
            let bounds = std::mem::take(&mut first) && !passes.contains(Pass::Unroll);
            let early = egraph && Some(at) != last;
            if early && (bounds || !passes.contains(Pass::EarlyEgraph)) {
                continue;
            }
            // Only the last run moves operations behind loops.
            if passes.contains(pass) && (changed || !early) {
                state.early = early;
                let changes = run(func.to_mut(), &ctx, &mut state);
                let ended = Instant::now();
                state.counts.add(pass, changes, ended - began);
                began = ended;
                if early {
                    state.counts.add(Pass::EarlyEgraph, changes, Duration::ZERO);
                }
                // The e-graph may change things that it does not count.
                if changes > 0 || pass == Pass::Egraph {
                    state.affine.invalidate();
                }
                changed = pass != Pass::Egraph && (changed || changes > 0);
                state.forwarded = pass != Pass::Egraph
                    && (state.forwarded || pass == Pass::LoadForwarding && changes > 0);
            }
        }
        if passes.contains(Pass::DeadStores) {
            memory::load_forwarding::drop_scratch(func.to_mut());
        }
        if passes.contains(Pass::Egraph) || changed {
            keep_defined_labels(func.to_mut());
        }
        Ok(func)
    })?;
    drop_uncalled(&mut group);
    Ok((group, state.counts))
}

/// Removes subroutines that are no longer called.
fn drop_uncalled(group: &mut FunctionGroup<'_>) {
    let mut called: EntitySet<FuncRef> = EntitySet::new();
    fn mark(func: &Function, called: &mut EntitySet<FuncRef>) {
        for inst in func.calls() {
            if let InstData::Call { func, .. } = *func.dfg.data(inst) {
                called.insert(func);
            }
        }
    }
    mark(&group.kernel, &mut called);
    // A subroutine stands before its callers.
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

/// Removes labels of values that are no longer defined.
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
