//! Dead lanes between lanes that are read: an operation becomes one for each run of lanes.
//!
//! This follows the narrowing of values to one range of lanes. A value that is only read by regions
//! at constant places, and by operations that are split themselves, has runs of demanded lanes. The
//! operation is made once for each run, if that takes fewer instructions: the lanes between are not
//! computed. So `i32x64` of which lanes 0 to 15 and 48 to 63 are read takes two instructions of 16
//! lanes, where it took four.
//!
//! Runs begin at a GRF, so that no operand reaches over one more. Users are visited before the
//! definition, once each: block parameters keep all lanes.

use super::narrow::append;
use super::{
    Demand, LaneBehavior, LaneSpan, bits, contiguous, group, insts, kind, offset_from_lane, rebased,
};
use crate::ir::{BlockInsts, ControlFlow, Function, Inst, InstData, Opcode, Region, Type, Value};
use crate::sized;
use crate::target::{GrfFile, Target};
use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;

/// Runs of lanes of a value.
type Runs = SmallVec<[LaneSpan; 4]>;

/// GRFs of a value that two instructions compute. Only larger ones can gain.
const LEAST_GRFS: u32 = 4;

/// Splits operations. Returns how many.
pub(super) fn run(func: &mut Function, cfg: &ControlFlow, target: &Target) -> u32 {
    let grf = target.grf();
    if !has_large_parts(func, cfg, grf) {
        return 0;
    }
    let splits = Gaps {
        func,
        grf,
        block_bytes: (!target.features().lsc).then_some(BLOCK_BYTES),
        demand: sized(func.dfg.num_values()),
        runs: HashMap::new(),
    }
    .find(cfg);
    if splits.is_empty() {
        return 0;
    }
    let mut pieces = HashMap::new();
    for &block in cfg.order() {
        let mut out = BlockInsts::new();
        for inst in std::mem::take(func.layout.insts_mut(block)) {
            rewrite(func, inst, &splits, &mut pieces, &mut out);
        }
        *func.layout.insts_mut(block) = out;
    }
    splits.len() as u32
}

/// Bytes of the largest block message before the load/store cache: eight owords. One message of the
/// latter reads more than the largest run.
const BLOCK_BYTES: u32 = 8 * 16;

/// Returns true if a part of a large value is read.
fn has_large_parts(func: &Function, cfg: &ControlFlow, grf: GrfFile) -> bool {
    let insts = cfg.order().iter().flat_map(|&b| func.layout.insts(b));
    insts.into_iter().any(|&inst| match *func.dfg.data(inst) {
        InstData::RdRegion { arg, .. } => {
            let result = func.dfg.first_result(inst);
            let (of, part) = (func.dfg.ty(arg), result.map(|r| func.dfg.ty(r)));
            of.bytes() > LEAST_GRFS * grf.bytes && part.is_some_and(|p| p.lanes() < of.lanes())
        }
        _ => false,
    })
}

/// Demand on values, and those that are split.
struct Gaps<'a> {
    func: &'a Function,
    grf: GrfFile,
    /// Bytes of the largest block message, if block loads are split.
    block_bytes: Option<u32>,
    demand: SecondaryMap<Value, Demand>,
    runs: HashMap<Value, Runs>,
}

impl Gaps<'_> {
    fn find(mut self, cfg: &ControlFlow) -> HashMap<Value, Runs> {
        for &block in cfg.order().iter().rev() {
            for &inst in self.func.layout.insts(block).iter().rev() {
                self.inst(inst);
            }
        }
        self.runs
    }

    /// Decides on an instruction, and adds its demand on its operands.
    fn inst(&mut self, inst: Inst) {
        let func = self.func;
        let data = func.dfg.data(inst);
        let result = func.dfg.first_result(inst);
        let kind = kind(func, inst);
        let runs = result.and_then(|r| self.split(inst, r, kind));
        match (kind, *data, result, &runs) {
            (LaneBehavior::Read, InstData::RdRegion { arg, region, .. }, Some(r), _) => {
                let span = hull(func.dfg.ty(r), &region);
                self.demand[arg].read |= bits(func.dfg.ty(arg).lanes(), span);
            }
            (LaneBehavior::ByLane, _, Some(r), Some(runs)) => {
                let lanes = func.dfg.ty(r).lanes();
                let read = runs.iter().fold(0, |all, s| all | bits(lanes, *s));
                data.for_each_arg(&func.dfg, |v| self.demand[v].read |= read);
            }
            _ => data.for_each_arg(&func.dfg, |v| self.demand[v].whole = true),
        }
        if let (Some(r), Some(runs)) = (result, runs) {
            self.runs.insert(r, runs);
        }
    }

    /// Returns the runs of lanes that an operation is split into, if that takes fewer instructions.
    fn split(&self, inst: Inst, result: Value, kind: LaneBehavior) -> Option<Runs> {
        let Demand { read, whole } = self.demand[result];
        let ty = self.func.dfg.ty(result);
        if whole || read == 0 || ty.is_pred() {
            return None;
        }
        // One run is no gap.
        let rest = read >> read.trailing_zeros();
        if rest & rest.wrapping_add(1) == 0 {
            return None;
        }
        let data = self.func.dfg.data(inst);
        let mut sizes = (ty.scalar().bytes(), ty.scalar().bytes());
        let mut has_args = true;
        match (kind, *data) {
            (LaneBehavior::ByLane, _) => {
                has_args = false;
                data.for_each_arg(&self.func.dfg, |v| {
                    let size = self.func.dfg.ty(v).scalar().bytes();
                    sizes = (sizes.0.min(size), sizes.1.max(size));
                    has_args = true;
                });
            }
            (LaneBehavior::Block, InstData::Load { .. }) => {}
            _ => return None,
        }
        if !has_args || sizes.0 == 0 {
            return None;
        }
        let row = (self.grf.bytes / sizes.0).max(1);
        let runs = runs(ty.lanes(), read, row);
        let cost = |lanes: u32| match (kind, self.block_bytes) {
            (LaneBehavior::Block, None) => None,
            (LaneBehavior::Block, Some(most)) => {
                let bytes = lanes * sizes.0;
                Some(bytes / most + (bytes % most).div_ceil(16).count_ones())
            }
            _ => Some(insts(self.grf, lanes, sizes.1)),
        };
        let mut after = 0;
        for run in &runs {
            after += cost(run.lanes)?;
            if let InstData::Load { offset, .. } = *data {
                offset_from_lane(offset, ty, *run)?;
            }
            contiguous(run.lanes, run.first * sizes.1)?;
        }
        (after < cost(ty.lanes())?).then_some(runs)
    }
}

/// Returns the runs of demanded lanes, from the start of a row of lanes to the end of one.
fn runs(lanes: u32, read: u64, row: u32) -> Runs {
    let group = group(lanes);
    let mut out = Runs::new();
    let mut rest = read;
    while rest != 0 {
        let from = rest.trailing_zeros();
        let count = (rest >> from).trailing_ones();
        rest = match 1u64.checked_shl(from + count) {
            Some(end) => rest & !(end - 1),
            None => 0,
        };
        let first = from * group / row * row;
        let end = ((from + count) * group).next_multiple_of(row).min(lanes);
        match out.last_mut() {
            Some(last) if last.first + last.lanes >= first => last.lanes = end - last.first,
            _ if first < end => out.push(LaneSpan {
                first,
                lanes: end - first,
            }),
            _ => {}
        }
    }
    out
}

/// Returns the range of elements that a region lies in.
fn hull(part: Type, region: &Region) -> LaneSpan {
    LaneSpan {
        first: u32::from(region.offset) / part.scalar().bytes().max(1),
        lanes: region.last_element(part.lanes()) + 1,
    }
}

/// Runs of a value that was split, each with the value of its lanes.
type Pieces = HashMap<Value, SmallVec<[(LaneSpan, Value); 4]>>;

/// Returns the piece that a range of lanes lies in.
fn piece_of(pieces: &Pieces, v: Value, span: LaneSpan) -> Option<(LaneSpan, Value)> {
    let end = span.first + span.lanes;
    let mut all = pieces.get(&v)?.iter();
    let found = all.find(|(s, _)| s.first <= span.first && end <= s.first + s.lanes);
    found.copied()
}

/// Appends an instruction, or one for each run of its result.
fn rewrite(
    func: &mut Function,
    inst: Inst,
    splits: &HashMap<Value, Runs>,
    pieces: &mut Pieces,
    out: &mut BlockInsts,
) {
    let Some(result) = func.dfg.first_result(inst) else {
        out.push(inst);
        return;
    };
    let ty = func.dfg.ty(result);
    let data = *func.dfg.data(inst);
    let Some(runs) = splits.get(&result) else {
        if let InstData::RdRegion {
            opcode,
            arg,
            region,
            index,
        } = data
            && let Some((span, piece)) = piece_of(pieces, arg, hull(ty, &region))
        {
            *func.dfg.data_mut(inst) = InstData::RdRegion {
                opcode,
                arg: piece,
                region: rebased(region, span.first, ty.scalar().bytes()),
                index,
            };
        }
        out.push(inst);
        return;
    };
    let mut made = smallvec![];
    for &run in runs {
        let mut data = data;
        if let InstData::Load { mem, offset, .. } = &mut data {
            super::narrow::move_load((mem, offset), ty, run);
        } else {
            let mut args: SmallVec<[Value; 4]> = SmallVec::new();
            data.for_each_arg(&func.dfg, |v| args.push(v));
            for v in &mut args {
                *v = lanes_of(func, *v, run, pieces, inst, out);
            }
            let mut args = args.into_iter();
            data.map_args(&mut func.dfg, |v| args.next().unwrap_or(v));
        }
        made.push((run, append(func, data, ty.by(run.lanes), inst, out)));
    }
    pieces.insert(result, made);
}

/// Returns lanes of an operand.
fn lanes_of(
    func: &mut Function,
    v: Value,
    run: LaneSpan,
    pieces: &Pieces,
    at: Inst,
    out: &mut BlockInsts,
) -> Value {
    let ty = func.dfg.ty(v);
    let (span, from) = piece_of(pieces, v, run).unwrap_or((
        LaneSpan {
            first: 0,
            lanes: ty.lanes(),
        },
        v,
    ));
    if span == run {
        return from;
    }
    let data = match func.dfg.def_inst(from).map(|i| *func.dfg.data(i)) {
        Some(
            same @ (InstData::Nullary {
                opcode: Opcode::Undef,
            }
            | InstData::Imm { .. }),
        ) => same,
        _ => {
            let first = run.first - span.first;
            let Some(region) = contiguous(run.lanes, first * ty.scalar().bytes()) else {
                return from;
            };
            InstData::RdRegion {
                opcode: Opcode::Rdregion,
                arg: from,
                region,
                index: None.into(),
            }
        }
    };
    append(func, data, ty.by(run.lanes), at, out)
}
