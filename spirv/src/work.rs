//! Work of a kernel at a SIMD width: estimated instructions for each channel.
//!
//! It compares two widths of a kernel whose channels leave loops one by one. A wide thread runs an
//! instruction on one lane once for more channels. It also runs each iteration for as long as one
//! of its channels needs it.
//!
//! Each instruction counts once for each iteration of the loops around it. Loops have
//! [`ITERATIONS`], which is as good as any number where only ratios matter. Those that channels
//! leave one by one have more in a wide thread ([`excess`]).

use crate::body::{BInst, Block, Body, Term};
use crate::cfg::{Graph, Loop};
use crate::module::Module;
use crate::module::types::Type;
use crate::op_info;
use crate::prepared::PreparedFunction;
use crate::promoted_arrays::PromotedArrays;
use crate::read::Id;
use crate::uniformity::Uniformity;
use cranelift_entity::SecondaryMap;
use gantry_codegen::entity_set::sized;
use spirv::{Op, StorageClass};

/// Iterations of a loop.
const ITERATIONS: u64 = 8;
/// Depth of loops from which on inner ones count as one iteration.
const DEPTH: u32 = 6;
/// Instructions of a thread besides those of its body.
const THREAD: u64 = 12;
/// Instructions of a send: its latency is partly hidden by other threads.
const SEND: u64 = 2;
/// Instructions of an access of scratch: address and send.
const SCRATCH: u64 = 12;
/// Instructions of a library function on values of one GRF.
const CALL: u64 = 8;
/// Unit of the work of an instruction, as fractions of one are added.
const UNIT: u64 = 64;

/// Differences between the channels of a thread in their iterations of a loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
enum Trips {
    /// At most one iteration.
    #[default]
    Even,
    /// Channels may leave early a loop that the thread counts.
    Early,
    /// Any number.
    Uneven,
}

/// Factor of the iterations of a loop in a thread of width `simd`, in units of [`UNIT`].
///
/// A thread has as many iterations as the slowest of its channels. Numbers of 16 channels that are
/// spread evenly from 0 to `n` have a maximum of 16/17 `n`, and geometric ones one that grows with
/// the logarithm of the width. The factors lie between.
fn excess(trips: Trips, simd: u32) -> u64 {
    let doublings = u64::from((simd / 8).max(1).ilog2());
    match trips {
        Trips::Even => UNIT,
        Trips::Early => UNIT + doublings * (UNIT / 16),
        Trips::Uneven => UNIT + doublings * (UNIT / 5),
    }
}

/// Estimates the instructions of a kernel and its functions at a width, for each channel.
pub(crate) fn estimate(
    m: &Module<'_>,
    functions: &[PreparedFunction],
    grf_bytes: u32,
    simd: u32,
) -> u64 {
    let of = |f: &PreparedFunction| {
        let loops = Loops::of(f);
        let work = Work {
            m,
            body: &f.body,
            u: &f.uniformity,
            arrays: &f.arrays,
            held: f.arrays.held(simd),
            simd: u64::from(simd),
            grf_bytes: u64::from(grf_bytes),
        };
        let blocks = f.graph.order.iter().map(|&b| {
            let times = loops.times(&f.graph, b, simd);
            work.block(b).saturating_mul(times)
        });
        blocks.fold(0u64, u64::saturating_add)
    };
    let all = functions
        .iter()
        .map(of)
        .fold(THREAD * UNIT, u64::saturating_add);
    all / u64::from(simd.max(1))
}

/// Loops of a body, by the iterations of a thread's channels.
struct Loops {
    trips: SecondaryMap<Loop, Trips>,
}

impl Loops {
    fn of(f: &PreparedFunction) -> Loops {
        let (g, u) = (&f.graph, &f.uniformity);
        let mut trips: SecondaryMap<Loop, Trips> = sized(g.loops.len());
        let divergent = |l: Loop| u.loops[l];
        if !g.loops.keys().any(divergent) {
            return Loops { trips };
        }
        for l in g.loops.keys().filter(|l| divergent(*l)) {
            trips[l] = Trips::Uneven;
        }
        for &b in &g.order {
            let Term::Cond(condition, ..) = f.body.blocks[b].term else {
                continue;
            };
            for &s in &g.succs[b] {
                let Some(outermost) = g.exited_loop(b, s) else {
                    continue;
                };
                let mut at = g.loop_of[b].expand();
                while let Some(l) = at {
                    if !u.branch[b] {
                        trips[l] = trips[l].min(Trips::Early);
                    } else if is_counted(f, l, condition) {
                        trips[l] = Trips::Even;
                    }
                    at = g.loops[l].parent.expand().filter(|_| l != outermost);
                }
            }
        }
        Loops { trips }
    }

    /// Iterations of a block in a thread of width `simd`, in units of [`UNIT`].
    fn times(&self, g: &Graph, b: Block, simd: u32) -> u64 {
        let mut times = UNIT;
        let mut at = g.loop_of[b].expand();
        while let Some(l) = at {
            let data = &g.loops[l];
            let iterations = if data.depth > DEPTH { 1 } else { ITERATIONS };
            let one = times.saturating_mul(iterations);
            times = one.saturating_mul(excess(self.trips[l], simd)) / UNIT;
            at = data.parent.expand();
        }
        times
    }
}

/// Returns true if a condition compares a counter of a loop, which all channels step by the same
/// number, with a bound that they share.
fn is_counted(f: &PreparedFunction, l: Loop, condition: Id) -> bool {
    let (body, u) = (&f.body, &f.uniformity);
    let data = &f.graph.loops[l];
    let def = |id: Id| {
        let insts = &body.blocks[u.block[id].expand()?].insts;
        insts.iter().find(|i| i.id.expand() == Some(id))
    };
    let operand = |i: &BInst, n: usize| body.operands(i).get(n).map(|w| Id::of(*w));
    // The value that conversions of integers are of.
    let source = |mut id: Id| {
        while let Some(i) = def(id).filter(|i| matches!(i.op, Op::UConvert | Op::SConvert))
            && let Some(from) = operand(i, 0)
        {
            id = from;
        }
        id
    };
    let step = |id: Id, of: Id| {
        let Some(i) = def(source(id)).filter(|i| matches!(i.op, Op::IAdd | Op::ISub)) else {
            return false;
        };
        let (Some(x), Some(y)) = (operand(i, 0), operand(i, 1)) else {
            return false;
        };
        source(x) == of && !u.divergent[y] || i.op == Op::IAdd && source(y) == of && !u.divergent[x]
    };
    let counter = |id: Id| {
        let id = source(id);
        let phis = &body.blocks[data.header].phis;
        phis.iter().any(|phi| {
            let next = phi.args.iter().find(|(from, _)| *from == data.latch);
            next.is_some_and(|(_, next)| {
                step(*next, phi.id) && (id == phi.id || source(*next) == id || step(id, phi.id))
            })
        })
    };
    let Some(compare) = def(condition).filter(|i| op_info::is_int_compare(i.op)) else {
        return false;
    };
    match (operand(compare, 0), operand(compare, 1)) {
        (Some(x), Some(y)) => !u.divergent[y] && counter(x) || !u.divergent[x] && counter(y),
        _ => false,
    }
}

/// Estimates the work of instructions at a width.
struct Work<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a Body,
    u: &'a Uniformity,
    arrays: &'a PromotedArrays,
    /// Private variables that are in registers at this width.
    held: Vec<bool>,
    simd: u64,
    grf_bytes: u64,
}

impl Work<'_, '_> {
    fn block(&self, b: Block) -> u64 {
        let data = &self.body.blocks[b];
        let insts = data.insts.iter().map(|i| self.inst(i));
        // A branch that parts channels has an instruction where they come back, too.
        let end = match data.term {
            Term::Branch(_) | Term::Return | Term::Unreachable => 0,
            Term::Cond(..) => 1 + u64::from(self.u.branch[b]),
            Term::Switch(.., ref cases) => 2 * cases.len() as u64,
        };
        insts.fold(end, u64::saturating_add)
    }

    /// Instructions for a value of `bytes` a channel: one for two GRFs of each scalar.
    fn issues(&self, scalars: u64, bytes: u64) -> u64 {
        let one = (bytes * self.simd).div_ceil(2 * self.grf_bytes).max(1);
        scalars.saturating_mul(one)
    }

    /// Scalars of a type and the bytes of each.
    fn shape(&self, id: Id) -> (u64, u64) {
        let Some(ty) = self.body.type_of(self.m, id) else {
            return (1, 4);
        };
        let types = &self.m.types;
        match types.kind(ty) {
            Type::Bool => (1, 4),
            Type::Vector(_, n) if types.size(ty) > 0 => {
                (u64::from(*n), types.size(ty) / u64::from((*n).max(1)))
            }
            _ => (
                types.size(ty).div_ceil(8).max(1),
                types.size(ty).clamp(1, 8),
            ),
        }
    }

    /// Returns true for accesses of private variables that are in registers.
    fn is_in_registers(&self, i: &BInst) -> bool {
        let pointer = self.body.operands(i).first().map(|w| Id::of(*w));
        let of = pointer.and_then(|p| self.arrays.of(p));
        of.is_some_and(|n| self.held.get(n) == Some(&true))
    }

    /// Returns true for accesses of private variables.
    fn is_private(&self, i: &BInst) -> bool {
        let pointer = self.body.operands(i).first().map(|w| Id::of(*w));
        let ty = pointer.and_then(|p| self.body.type_of(self.m, p));
        ty.is_some_and(|t| match self.m.types.kind(t) {
            Type::Pointer(class, _) => {
                matches!(class, StorageClass::Function | StorageClass::Private)
            }
            _ => false,
        })
    }

    fn inst(&self, i: &BInst) -> u64 {
        let mut divergent = i.id.expand().is_some_and(|id| self.u.divergent[id]);
        self.body
            .for_each_use(i, |id| divergent |= self.u.divergent[id]);
        let (scalars, bytes) = i.id.expand().map_or((1, 4), |id| self.shape(id));
        let one = if divergent {
            self.issues(scalars, bytes)
        } else {
            scalars
        };
        // Messages have up to 16 channels, or as many as two GRFs have dwords.
        let messages = (self.simd * 2).div_ceil(self.grf_bytes).max(1);
        match i.op {
            Op::Load | Op::Store if self.is_in_registers(i) => one,
            Op::Load | Op::Store if self.is_private(i) => messages * SCRATCH,
            Op::Load | Op::Store if divergent => messages * (SEND + 1),
            op if op_info::is_atomic(op) => messages * (SEND + 1),
            Op::Load | Op::Store => SEND,
            Op::ImageRead
            | Op::ImageWrite
            | Op::ImageSampleExplicitLod
            | Op::ImageSampleDrefExplicitLod => messages * (SEND + 4),
            Op::ExtInst | Op::FunctionCall => CALL * one,
            Op::Bitcast
            | Op::CompositeExtract
            | Op::CompositeConstruct
            | Op::VectorShuffle
            | Op::Variable
            | Op::Undef => 0,
            _ => one,
        }
    }
}
