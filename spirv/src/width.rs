//! Candidates for the SIMD width, where neither the kernel nor the caller requires one.
//!
//! Needs bodies with their structured form and uniformity. A wide thread executes uniform
//! instructions once for more work-items, and there are fewer threads. But its loops run until the
//! last channel leaves, and it has no more registers than a narrow one. [`crate::work`] estimates
//! what each width has to do for a channel, and the compiler takes the one with the least.
//!
//! Register demand is estimated here, in bytes for the thread and for each of its channels. Each
//! value counts from its definition to its last use, and instructions add temporaries. Where the
//! estimate is inconclusive and the target is known, the compiler computes the exact demand:
//! [`WidthJudge`](gantry_codegen::WidthJudge) takes a candidate.

use crate::body::{BInst, Block, Body};
use crate::cfg::structurize::{Step, StructuredCfg};
use crate::cfg::{Graph, Loop};
use crate::intel_builtins;
use crate::module::types::Type;
use crate::module::{Entry, Module};
use crate::op_info;
use crate::prepared::PreparedFunction;
use crate::read::Id;
use crate::uniformity::Uniformity;
use crate::work;
use cranelift_entity::SecondaryMap;
use gantry_codegen::entity_set::sized;
use gantry_codegen::{CompileOptions, WidthCandidate};
use smallvec::{SmallVec, smallvec};
use spirv::{Op, StorageClass};

/// Bytes of the GRF file on most platforms.
const GRF_FILE_BYTES: u32 = 4096;

/// Factor by which the actual demand never exceeded the estimate, and factor by which it never fell
/// below. Over the 283 kernels of the tests at three widths, the largest excess was 1.6.
const MAX_UNDERESTIMATE: u32 = 2;
const MAX_OVERESTIMATE: u32 = 5;

/// Bytes of a thread besides values: header, arguments, common subexpressions.
const THREAD_BYTES: i64 = 384;

/// Bytes of temporaries for each channel of a call of a library function.
const CALL_BYTES: i64 = 32;

/// Bytes of temporaries for each channel of a memory access: address or payload.
const ACCESS_BYTES: i64 = 12;

/// Estimate of the maximum demand at each width.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Estimate {
    /// Bytes at widths 8, 16 and 32.
    bytes: [u32; 3],
}

impl Estimate {
    /// Bytes of a thread of width `simd`.
    pub fn at(&self, simd: u32) -> u32 {
        let [eight, sixteen, wide] = self.bytes;
        match simd {
            32 => wide,
            16 => sixteen,
            _ => eight,
        }
    }
}

/// Returns the fit of a demand in the GRF file of a target. `None` if the estimate is inconclusive.
fn fits(target: Option<&CompileOptions>, bytes: u32) -> Option<bool> {
    let Some(target) = target else {
        return Some(bytes <= GRF_FILE_BYTES / 4 * 3);
    };
    let grf = target.target.grf();
    let grf_file = target.grfs.unwrap_or(grf.count).saturating_mul(grf.bytes);
    match bytes {
        _ if bytes <= grf_file / MAX_UNDERESTIMATE => Some(true),
        _ if bytes / MAX_OVERESTIMATE > grf_file => Some(false),
        _ => None,
    }
}

/// Threads of a group that can be resident together: 8 EUs of 7 threads on Gen8, Gen9 and Gen11.
const MAX_RESIDENT_THREADS: u64 = 56;

/// Worthwhile widths of a kernel that requires none, widest first. `grf_bytes` is the size of a GRF
/// of the target.
fn worthwhile(
    m: &Module<'_>,
    entry: &Entry,
    functions: &[PreparedFunction],
    grf_bytes: u32,
) -> SmallVec<[u32; 3]> {
    // The systolic array has as many channels as a GRF has dwords.
    let product = |p: &PreparedFunction| {
        let mut insts = p.graph.order.iter().flat_map(|b| &p.body.blocks[*b].insts);
        insts.any(|i| i.op == Op::FunctionCall && intel_builtins::multiplies(m, p.body.operands(i)))
    };
    if functions.iter().any(product) {
        return SmallVec::from_slice(&[grf_bytes / 4]);
    }
    let items = entry.modes.group_size.map_or(u64::MAX, |g| {
        g.iter().fold(1u64, |n, d| n.saturating_mul(u64::from(*d)))
    });
    // Groups whose threads are not resident together cannot synchronize.
    let together =
        |w: u32| items == u64::MAX || items.div_ceil(u64::from(w)) <= MAX_RESIDENT_THREADS;
    // More channels than a group fills are useless.
    let useful = |w: u32| w == 8 || u64::from(w) < items.saturating_mul(2);
    let fits = |w: &u32| useful(*w) && together(*w);
    let widths: SmallVec<[u32; 3]> = [32, 16, 8].into_iter().filter(fits).collect();
    if widths.is_empty() {
        SmallVec::from_slice(&[32])
    } else {
        widths
    }
}

/// Returns the worthwhile widths of a kernel, widest first, with what is known of each.
pub(crate) fn candidates(
    m: &Module<'_>,
    entry: &Entry,
    functions: &[PreparedFunction],
    target: Option<&CompileOptions>,
) -> SmallVec<[WidthCandidate; 3]> {
    let grf_bytes = target.map_or(32, |t| t.target.grf().bytes);
    let widths = worthwhile(m, entry, functions, grf_bytes);
    if let [only] = *widths {
        // There is nothing to choose.
        return smallvec![WidthCandidate {
            simd: only,
            fits: None,
            work: 0,
            narrower_saves_scratch: false,
        }];
    }
    let estimate = estimate(m, functions);
    let work = |w: u32| work::estimate(m, functions, grf_bytes, w);
    let candidate = |(n, &simd): (usize, &u32)| {
        let narrower = &widths[n + 1..];
        let mut arrays = functions.iter().map(|f| &f.arrays);
        WidthCandidate {
            simd,
            fits: fits(target, estimate.at(simd)),
            work: work(simd),
            narrower_saves_scratch: arrays.any(|a| narrower.iter().any(|&n| a.fit_better(n, simd))),
        }
    };
    widths.iter().enumerate().map(candidate).collect()
}

/// Estimates the maximum demand of a kernel and its functions.
fn estimate(m: &Module<'_>, functions: &[PreparedFunction]) -> Estimate {
    let mut out = Estimate::default();
    for function in functions {
        let mut lives = DemandEstimator {
            m,
            body: &function.body,
            g: &function.graph,
            u: &function.uniformity,
            first: sized(function.body.bound()),
            last: sized(function.body.bound()),
            ends: SecondaryMap::new(),
            ids: Vec::new(),
            extra: Vec::new(),
        };
        lives.number(&function.structured);
        let of = lives.estimate();
        for ((most, bytes), simd) in out.bytes.iter_mut().zip(of.bytes).zip([8, 16, 32]) {
            // Promoted arrays may be live everywhere.
            let bytes = bytes.saturating_add(function.arrays.bytes(simd));
            *most = bytes.max(*most);
        }
    }
    out
}

struct DemandEstimator<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a Body,
    g: &'a Graph,
    u: &'a Uniformity,
    /// Points of the definition and of the last use of each value.
    first: SecondaryMap<Id, u32>,
    last: SecondaryMap<Id, u32>,
    /// Point after each loop.
    ends: SecondaryMap<Loop, u32>,
    ids: Vec<Id>,
    /// Bytes of temporaries for each channel, by point.
    extra: Vec<i64>,
}

impl DemandEstimator<'_, '_> {
    /// Numbers points in structured order: the beginning of each block, its instructions and its
    /// end.
    fn number(&mut self, structured: &StructuredCfg) {
        let mut blocks: Vec<(Block, u32)> = Vec::with_capacity(self.g.order.len());
        let insts = self
            .g
            .order
            .iter()
            .map(|b| self.body.blocks[*b].insts.len());
        let points = insts.sum::<usize>() + 2 * self.g.order.len();
        self.extra.reserve(points);
        self.ids.reserve(points);
        for step in &structured.steps {
            let point = self.extra.len() as u32;
            match *step {
                Step::Code(b) => {
                    blocks.push((b, point));
                    let data = &self.body.blocks[b];
                    self.extra.push(0);
                    let extra = data.insts.iter().map(extra);
                    self.extra.extend(extra);
                    self.extra.push(0);
                }
                Step::LoopEnd(l) => self.ends[l] = point,
                _ => {}
            }
        }
        for (id, _) in &self.body.params {
            self.define(*id, 0);
        }
        for &(b, point) in &blocks {
            let data = &self.body.blocks[b];
            data.phis.iter().for_each(|p| self.define(p.id, point));
            for (n, inst) in data.insts.iter().enumerate() {
                if let Some(id) = inst.id.expand() {
                    self.define(id, point + 1 + n as u32);
                }
            }
        }
        let end = |b: Block, point: u32| point + 1 + self.body.blocks[b].insts.len() as u32;
        let mut ended: SecondaryMap<Block, u32> = sized(self.body.blocks.len());
        for &(b, point) in &blocks {
            ended[b] = end(b, point);
        }
        let body = self.body;
        for &(b, point) in &blocks {
            let data = &body.blocks[b];
            for phi in &data.phis {
                for (from, arg) in &phi.args {
                    self.used(*arg, *from, ended[*from]);
                    // A loop-carried value is live until the end of the loop.
                    if ended[*from] > point {
                        self.last[phi.id] = self.last[phi.id].max(ended[*from]);
                    }
                }
            }
            for (n, inst) in data.insts.iter().enumerate() {
                body.for_each_use(inst, |id| self.used(id, b, point + 1 + n as u32));
            }
            if let Some(id) = data.term.condition() {
                self.used(id, b, ended[b]);
            }
        }
    }

    fn define(&mut self, id: Id, point: u32) {
        self.first[id] = point;
        self.last[id] = point;
        self.ids.push(id);
    }

    /// Records a use. A value defined outside of loops around the use is live through them.
    fn used(&mut self, id: Id, by: Block, point: u32) {
        let Some(def) = self.u.block[id].expand() else {
            return;
        };
        let through = self.g.exited_loop(by, def).map_or(0, |l| self.ends[l]);
        self.last[id] = self.last[id].max(point).max(through);
    }

    fn estimate(&self) -> Estimate {
        let points = self.extra.len() + 2;
        // Change of live bytes at each point, for the thread and for each channel.
        let mut change = vec![[0i64; 2]; points];
        for id in &self.ids {
            let bytes = i64::from(self.bytes(*id));
            let which = usize::from(self.u.divergent[*id]);
            let (first, last) = (self.first[*id] as usize, self.last[*id] as usize);
            change[first][which] += bytes;
            if let Some(c) = change.get_mut(last + 1) {
                c[which] -= bytes;
            }
        }
        let mut live = [THREAD_BYTES, 0];
        let mut most = [0i64; 3];
        for (n, change) in change.iter().enumerate() {
            live = [live[0] + change[0], live[1] + change[1]];
            let extra = self.extra.get(n).copied().unwrap_or(0);
            for (most, simd) in most.iter_mut().zip([8, 16, 32]) {
                *most = (*most).max(live[0] + (live[1] + extra) * simd);
            }
        }
        Estimate {
            bytes: most.map(|b| u32::try_from(b).unwrap_or(u32::MAX)),
        }
    }

    /// Bytes of a value: of the thread if uniform, else of each channel.
    fn bytes(&self, id: Id) -> u32 {
        let Some(ty) = self.body.type_of(self.m, id) else {
            return 0;
        };
        let types = &self.m.types;
        match types.kind(ty) {
            // Mostly in flags.
            Type::Bool => 0,
            // Offset in scratch.
            Type::Pointer(StorageClass::Function | StorageClass::Private, _) => 4,
            _ => u32::try_from(types.size(ty)).unwrap_or(u32::MAX),
        }
    }
}

/// Bytes of temporaries for each channel of an instruction.
fn extra(inst: &BInst) -> i64 {
    match inst.op {
        Op::ExtInst => CALL_BYTES,
        Op::Load
        | Op::Store
        | Op::ImageRead
        | Op::ImageWrite
        | Op::ImageSampleExplicitLod
        | Op::ImageSampleDrefExplicitLod => ACCESS_BYTES,
        op if op_info::is_atomic(op) => ACCESS_BYTES,
        _ => 0,
    }
}
