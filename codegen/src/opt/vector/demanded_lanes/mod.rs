//! Demanded lanes: operations with few demanded lanes become narrower, and writes of lanes that
//! nothing reads are removed.
//!
//! The analysis works backward, as GenX's live elements do. A region at a constant place demands
//! its lanes. A write without a mask demands nothing of the old value there. A lane-wise operation
//! demands of its operands what is demanded of its result, and so do block parameters. All other
//! operations demand all lanes. A value that is used as a whole keeps its width. Others become as
//! wide as their demanded lanes, where that saves an instruction or a GRF. Where dead lanes are
//! between those that are read, an operation becomes several (`gaps`).
//!
//! Input and output: verified IR. Limits: [`ROUNDS`] rounds over all instructions. Values of more
//! than [`BITS`] lanes are tracked in groups of lanes. Functions without partial reads are left
//! after one visit of each instruction.

mod gaps;
mod narrow;

use crate::ir::{
    Block, ControlFlow, Function, Inst, InstData, Opcode, Region, Type, Value, ValueDef,
};
use crate::opt::egraph::{elements, is_lanewise, is_node, region_of};
use crate::opt::{OptState, PassContext};
use crate::sized;
use crate::target::GrfFile;
use cranelift_entity::SecondaryMap;

/// Maximal rounds until nothing changes. Each level of loop nesting takes one more.
const ROUNDS: usize = 6;
/// Lanes, or groups of neighbouring lanes, that are tracked separately.
const BITS: u32 = u64::BITS;

/// Range of lanes of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct LaneSpan {
    first: u32,
    lanes: u32,
}

/// Demand on a value.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Demand {
    /// Mask of demanded lanes or lane groups.
    read: u64,
    /// Set if a use needs the full width.
    whole: bool,
}

/// Lane behaviour of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LaneBehavior {
    /// Each lane of the result depends on the same lanes of the operands.
    ByLane,
    /// Read of a region at a constant place.
    Read,
    /// Write of a region at a constant place.
    Write,
    /// Read of lanes of a predicate.
    ReadPred,
    /// Block load from memory.
    Block,
    /// Any other: demands all lanes of its operands.
    Other,
}

/// Demand on a region write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteDemand {
    /// Nothing of the write is demanded.
    Nothing,
    /// All demanded lanes are written.
    All,
    /// Some demanded lanes are written.
    Some,
}

struct DemandAnalysis<'a> {
    func: &'a Function,
    grf: GrfFile,
    entry: Option<Block>,
    kinds: SecondaryMap<Inst, Option<LaneBehavior>>,
    demand: SecondaryMap<Value, Demand>,
    changed: bool,
}

/// Changes to a function.
struct NarrowingPlan {
    demand: SecondaryMap<Value, Demand>,
    /// Lanes that values are narrowed to.
    spans: SecondaryMap<Value, Option<LaneSpan>>,
    kinds: SecondaryMap<Inst, Option<LaneBehavior>>,
    writes: SecondaryMap<Inst, Option<WriteDemand>>,
    /// Number of changes.
    changes: u32,
}

/// Runs the pass. Returns the number of values that became narrower or several, plus that of writes
/// that were removed or no longer need an old value.
pub(in crate::opt) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    if !has_partial_accesses(func) {
        return 0;
    }
    state.cfg.remove_unreachable(func);
    let cfg = state.cfg.get(func);
    let mut changes = 0;
    if let Some(plan) = DemandAnalysis::find(func, ctx.target.grf(), &cfg) {
        changes = plan.changes;
        if changes > 0 {
            plan.apply(func, &cfg);
        }
    }
    changes + gaps::run(func, &cfg, ctx.target)
}

/// Returns true if parts of a value are read or written, and the value can be computed in parts.
fn has_partial_accesses(func: &Function) -> bool {
    let insts = func
        .layout
        .blocks()
        .iter()
        .flat_map(|&b| func.layout.insts(b));
    insts.into_iter().any(|&inst| {
        let result = func.dfg.first_result(inst);
        match (kind(func, inst), func.dfg.data(inst), result) {
            (LaneBehavior::Write, ..) => true,
            (LaneBehavior::Read, &InstData::RdRegion { arg, .. }, Some(result)) => {
                let narrower = func.dfg.ty(result).lanes() < func.dfg.ty(arg).lanes();
                let made = func.dfg.def_inst(arg);
                narrower && made.is_none_or(|i| kind(func, i) != LaneBehavior::Other)
            }
            _ => false,
        }
    })
}

fn kind(func: &Function, inst: Inst) -> LaneBehavior {
    let data = func.dfg.data(inst);
    let Some(result) = func.dfg.first_result(inst) else {
        return LaneBehavior::Other;
    };
    let ty = func.dfg.ty(result);
    match *data {
        InstData::RdRegion {
            arg, region, index, ..
        } => {
            let fits = index.is_none() && touched(ty, &region, func.dfg.ty(arg)).is_some();
            if fits {
                LaneBehavior::Read
            } else {
                LaneBehavior::Other
            }
        }
        InstData::WrRegion {
            args: [_, new],
            region,
            index,
            ..
        } => {
            let fits = index.is_none() && touched(func.dfg.ty(new), &region, ty).is_some();
            if fits {
                LaneBehavior::Write
            } else {
                LaneBehavior::Other
            }
        }
        InstData::RdPred { .. } => LaneBehavior::ReadPred,
        InstData::Load {
            opcode: Opcode::Bload,
            mem,
            ..
        } if !mem.volatile => LaneBehavior::Block,
        InstData::IntCompare { .. } | InstData::FloatCompare { .. } => LaneBehavior::ByLane,
        // Execution masks and masks made of masks keep their width.
        InstData::Ternary {
            opcode: Opcode::Select,
            args: [mask, ..],
        } if !ty.is_pred() => {
            let made = func.dfg.def_inst(mask).map(|i| func.dfg.data(i));
            match made {
                Some(InstData::IntCompare { .. } | InstData::FloatCompare { .. }) => {
                    LaneBehavior::ByLane
                }
                _ => LaneBehavior::Other,
            }
        }
        _ if !ty.is_pred() && is_lanewise(data) && is_node(data) => {
            let mut same = true;
            data.for_each_arg(&func.dfg, |v| {
                let of = func.dfg.ty(v);
                same &= of.lanes() == ty.lanes() && !of.is_pred();
            });
            if same {
                LaneBehavior::ByLane
            } else {
                LaneBehavior::Other
            }
        }
        _ => LaneBehavior::Other,
    }
}

/// Returns the lanes per tracked group.
fn group(lanes: u32) -> u32 {
    lanes.div_ceil(BITS).max(1)
}

/// Returns the mask of bits from `from` to before `to`.
fn between(from: u32, to: u32) -> u64 {
    let below = |n: u32| 1u64.checked_shl(n).map_or(u64::MAX, |b| b - 1);
    below(to) & !below(from)
}

/// Returns the mask of a range of lanes, in a value of `lanes` lanes.
fn bits(lanes: u32, span: LaneSpan) -> u64 {
    let group = group(lanes);
    between(
        span.first / group,
        (span.first + span.lanes).div_ceil(group),
    )
}

/// Returns the groups that a region touches, and those whose lanes it has all. `None` if it has no
/// whole elements or too many.
fn touched(part: Type, region: &Region, of: Type) -> Option<(u64, u64)> {
    let (size, lanes) = (part.scalar().bytes(), part.lanes());
    let offset = u32::from(region.offset);
    if size == 0 || part.scalar() != of.scalar() || !offset.is_multiple_of(size) {
        return None;
    }
    let first = offset / size;
    let group = group(of.lanes());
    if region.is_contiguous(lanes) {
        let end = first + lanes;
        let last = if end == of.lanes() {
            end.div_ceil(group)
        } else {
            end / group
        };
        let all = between(first.div_ceil(group), last.max(first.div_ceil(group)));
        return Some((bits(of.lanes(), LaneSpan { first, lanes }), all));
    }
    if region.last_element(lanes) == 0 {
        let bit = bits(of.lanes(), LaneSpan { first, lanes: 1 });
        return Some((bit, 0));
    }
    let mut out = 0;
    for e in elements(part, region)? {
        out |= bits(of.lanes(), LaneSpan { first: e, lanes: 1 });
    }
    Some((out, if group == 1 { out } else { 0 }))
}

/// Returns the region of some of a region's lanes, if there is one.
fn subregion(ty: Type, region: &Region, span: LaneSpan) -> Option<Region> {
    let size = ty.scalar().bytes();
    if region.last_element(ty.lanes()) == 0 {
        return Some(*region);
    }
    if region.is_contiguous(ty.lanes()) {
        let offset = u32::from(region.offset) + span.first * size;
        return contiguous(span.lanes, offset);
    }
    let all = elements(ty, region)?;
    let these = all.get(span.first as usize..(span.first + span.lanes) as usize)?;
    region_of(these, size)
}

/// Returns the region of `lanes` elements from a byte on.
fn contiguous(lanes: u32, offset: u32) -> Option<Region> {
    let offset = u16::try_from(offset).ok()?;
    Some(match lanes {
        1 => Region::scalar(offset),
        n => Region::contiguous(u16::try_from(n).ok()?, offset),
    })
}

/// Rebases a region onto a value that starts at lane `first`.
fn rebased(region: Region, first: u32, size: u32) -> Region {
    Region {
        offset: region.offset.saturating_sub((first * size) as u16),
        parent_width: 0,
        ..region
    }
}

impl<'a> DemandAnalysis<'a> {
    /// Analyzes the function; `None` if it needs too many rounds.
    fn find(func: &'a Function, grf: GrfFile, cfg: &ControlFlow) -> Option<NarrowingPlan> {
        let mut kinds: SecondaryMap<Inst, Option<LaneBehavior>> = sized(func.dfg.num_insts());
        for &block in cfg.order() {
            for &inst in func.layout.insts(block) {
                kinds[inst] = Some(kind(func, inst));
            }
        }
        let mut lanes = DemandAnalysis {
            func,
            grf,
            entry: func.layout.entry(),
            kinds,
            demand: sized(func.dfg.num_values()),
            changed: true,
        };
        let mut rounds = 0;
        while std::mem::take(&mut lanes.changed) {
            if rounds == ROUNDS {
                return None;
            }
            rounds += 1;
            for &block in cfg.order().iter().rev() {
                for &inst in func.layout.insts(block).iter().rev() {
                    lanes.inst(inst);
                }
            }
        }
        Some(lanes.plan(cfg))
    }

    fn plan(self, cfg: &ControlFlow) -> NarrowingPlan {
        let func = self.func;
        let mut spans: SecondaryMap<Value, Option<LaneSpan>> = sized(func.dfg.num_values());
        let mut writes: SecondaryMap<Inst, Option<WriteDemand>> = SecondaryMap::new();
        let mut changes = 0;
        for &block in cfg.order() {
            for &p in func.dfg.block_params(block) {
                spans[p] = self.span(p);
                changes += u32::from(spans[p].is_some());
            }
            for &inst in func.layout.insts(block) {
                let Some(result) = func.dfg.first_result(inst) else {
                    continue;
                };
                spans[result] = self.span(result);
                changes += u32::from(spans[result].is_some());
                if self.kind(inst) == LaneBehavior::Write && self.demand[result].read != 0 {
                    let written = self.written(inst, result);
                    writes[inst] = Some(written);
                    let old = match *func.dfg.data(inst) {
                        InstData::WrRegion { args, .. } => args[0],
                        _ => result,
                    };
                    let less = match written {
                        WriteDemand::Nothing => true,
                        WriteDemand::All => !func.dfg.is_undef(old),
                        WriteDemand::Some => false,
                    };
                    changes += u32::from(less);
                }
            }
        }
        NarrowingPlan {
            demand: self.demand,
            spans,
            kinds: self.kinds,
            writes,
            changes,
        }
    }

    fn kind(&self, inst: Inst) -> LaneBehavior {
        self.kinds[inst].unwrap_or(LaneBehavior::Other)
    }

    fn ty(&self, v: Value) -> Type {
        self.func.dfg.ty(v)
    }

    fn add(&mut self, v: Value, read: u64, whole: bool) {
        let demand = &mut self.demand[v];
        let more = Demand {
            read: demand.read | read,
            whole: demand.whole || whole,
        };
        self.changed |= *demand != more;
        *demand = more;
    }

    /// Demands all of a value.
    fn all(&mut self, v: Value) {
        self.add(v, u64::MAX, true);
    }

    /// Demands the lanes of an operand that are demanded of a value; nothing if nothing is demanded
    /// of it.
    fn like(&mut self, arg: Value, of: Value) {
        let lanes = self.ty(of).lanes();
        match (self.span(of), self.demand[of]) {
            (Some(span), _) => self.add(arg, bits(lanes, span), false),
            (None, Demand { read: 0, .. }) => {}
            (None, demand) => self.add(arg, demand.read, true),
        }
    }

    /// Adds the demand of an instruction on its operands.
    fn inst(&mut self, inst: Inst) {
        let (func, kind) = (self.func, self.kind(inst));
        let data = func.dfg.data(inst);
        let result = func.dfg.first_result(inst);
        match (kind, *data, result) {
            (LaneBehavior::ByLane, _, Some(result)) => {
                data.for_each_arg(&func.dfg, |v| self.like(v, result));
            }
            (LaneBehavior::Read, InstData::RdRegion { arg, region, .. }, Some(result)) => {
                if self.demand[result].read == 0 {
                    return;
                }
                let ty = self.ty(result);
                let of = self.ty(arg);
                let read = match self.span(result) {
                    Some(span) => subregion(ty, &region, span)
                        .and_then(|region| touched(ty.by(span.lanes), &region, of)),
                    None => touched(ty, &region, of),
                };
                match read {
                    Some((read, _)) => self.add(arg, read, false),
                    None => self.all(arg),
                }
            }
            (LaneBehavior::ReadPred, InstData::RdPred { arg, offset, .. }, Some(result)) => {
                if self.demand[result].read != 0 {
                    let span = LaneSpan {
                        first: u32::from(offset),
                        lanes: self.ty(result).lanes(),
                    };
                    self.add(arg, bits(self.ty(arg).lanes(), span), false);
                }
            }
            (
                LaneBehavior::Write,
                InstData::WrRegion {
                    args: [old, new],
                    region,
                    mask,
                    ..
                },
                Some(result),
            ) => {
                if self.demand[result].read == 0 {
                    return;
                }
                match self.written(inst, result) {
                    WriteDemand::Nothing => {
                        self.like(old, result);
                        return;
                    }
                    WriteDemand::All => {}
                    // A narrowed result takes all of its lanes from the old value.
                    WriteDemand::Some => match self.span(result) {
                        Some(span) => {
                            let lanes = self.ty(result).lanes();
                            self.add(old, bits(lanes, span), false);
                        }
                        None => {
                            let all = if mask.is_none() {
                                self.touched(new, &region, result).1
                            } else {
                                0
                            };
                            self.add(old, self.demand[result].read & !all, true);
                        }
                    },
                }
                // The narrowed result must include the whole write.
                let (some, _) = self.touched(new, &region, result);
                self.add(result, some, false);
                self.all(new);
                mask.expand().into_iter().for_each(|m| self.all(m));
            }
            (LaneBehavior::Block, InstData::Load { addr, .. }, Some(result)) => {
                if self.demand[result].read != 0 {
                    self.all(addr);
                }
            }
            _ => self.other(inst),
        }
    }

    /// Demands all operands, except for block arguments.
    fn other(&mut self, inst: Inst) {
        let func = self.func;
        let dests = func.dfg.destinations(inst);
        let going: usize = dests.iter().map(|d| d.args.len(&func.dfg.pool)).sum();
        let mut count = 0;
        func.dfg.data(inst).for_each_arg(&func.dfg, |_| count += 1);
        // Block arguments are the last operands.
        let mut n = 0;
        func.dfg.data(inst).for_each_arg(&func.dfg, |v| {
            n += 1;
            if n + going <= count {
                self.all(v);
            }
        });
        for dest in dests {
            let args = dest.args.as_slice(&func.dfg.pool);
            for (&arg, &p) in args.iter().zip(func.dfg.block_params(dest.block)) {
                self.like(arg, p);
            }
        }
    }

    fn touched(&self, new: Value, region: &Region, of: Value) -> (u64, u64) {
        touched(self.ty(new), region, self.ty(of)).unwrap_or((u64::MAX, 0))
    }

    /// Returns the demand on a write whose result is demanded.
    fn written(&self, inst: Inst, result: Value) -> WriteDemand {
        let InstData::WrRegion {
            args: [_, new],
            region,
            mask,
            ..
        } = *self.func.dfg.data(inst)
        else {
            return WriteDemand::Some;
        };
        let read = self.demand[result].read;
        let (some, all) = self.touched(new, &region, result);
        let lanes = self.ty(result).lanes();
        let read = read & bits(lanes, LaneSpan { first: 0, lanes });
        if read & some == 0 {
            WriteDemand::Nothing
        } else if mask.is_none() && read & !all == 0 {
            WriteDemand::All
        } else {
            WriteDemand::Some
        }
    }

    /// Returns the lanes that a value is narrowed to, if any.
    fn span(&self, v: Value) -> Option<LaneSpan> {
        let Demand { read, whole } = self.demand[v];
        let ty = self.ty(v);
        let lanes = ty.lanes();
        if whole || read == 0 || lanes == 1 {
            return None;
        }
        let def = self.func.dfg.def(v);
        let (size, block) = match def {
            ValueDef::Param(block, _) if Some(block) == self.entry => return None,
            ValueDef::Param(..) => (ty.scalar().bytes(), false),
            ValueDef::Result(inst, _) => {
                let kind = self.kind(inst);
                if matches!(kind, LaneBehavior::Other | LaneBehavior::ReadPred) {
                    return None;
                }
                (self.widest(inst, ty), kind == LaneBehavior::Block)
            }
        };
        let span = self.round(lanes, read, size, block)?;
        let fits = match def {
            ValueDef::Param(..) => true,
            ValueDef::Result(inst, _) => self.fits(inst, v, span),
        };
        fits.then_some(span)
    }

    /// Returns the bytes of the widest lane among an operation's types.
    fn widest(&self, inst: Inst, ty: Type) -> u32 {
        let mut size = ty.scalar().bytes();
        let data = self.func.dfg.data(inst);
        if matches!(data, InstData::Load { .. } | InstData::WrRegion { .. }) {
            return size;
        }
        data.for_each_arg(&self.func.dfg, |v| {
            size = size.max(self.ty(v).scalar().bytes());
        });
        size
    }

    /// Rounds demanded lanes to a range of a power of two lanes, if that is narrower. `size` is the
    /// bytes of a lane; `block` asks for whole GRFs.
    fn round(&self, lanes: u32, read: u64, size: u32, block: bool) -> Option<LaneSpan> {
        if size == 0 {
            return None;
        }
        let group = group(lanes);
        let mut first = read.trailing_zeros() * group;
        let end = ((u64::BITS - read.leading_zeros()) * group).min(lanes);
        let row = (self.grf.bytes / size).max(1);
        // Ranges of more than a GRF should start at one.
        if block || end.saturating_sub(first) > row {
            first -= first % row;
        }
        let mut count = end.checked_sub(first)?.next_power_of_two();
        if block {
            count = count.max(row);
        }
        // An aligned start is best, as other ranges start there.
        if first - first % count + count >= end {
            first -= first % count;
        }
        if first + count > lanes {
            first = lanes.checked_sub(count).filter(|_| !block)?;
        }
        let worth = insts(self.grf, count, size) < insts(self.grf, lanes, size)
            || self.grf.hold(count * size) < self.grf.hold(lanes * size);
        worth.then_some(LaneSpan {
            first,
            lanes: count,
        })
    }

    /// Returns true if an instruction can compute these lanes alone.
    fn fits(&self, inst: Inst, result: Value, span: LaneSpan) -> bool {
        match *self.func.dfg.data(inst) {
            InstData::RdRegion { region, .. } => {
                subregion(self.ty(result), &region, span).is_some()
            }
            InstData::WrRegion {
                args: [_, new],
                region,
                ..
            } => {
                let nothing = self.written(inst, result) == WriteDemand::Nothing;
                nothing || within(self.ty(new), &region, span)
            }
            InstData::Load { offset, .. } => {
                offset_from_lane(offset, self.ty(result), span).is_some()
            }
            _ => true,
        }
    }
}

/// Returns the number of instructions of an operation on `lanes` lanes of `size` bytes.
pub(in crate::opt) fn insts(grf: GrfFile, lanes: u32, size: u32) -> u32 {
    let most = (2 * grf.bytes / size.max(1)).clamp(1, Type::FLAG_LANES);
    lanes / most + (lanes % most).count_ones()
}

/// Returns true if a written region lies in a range of lanes.
fn within(part: Type, region: &Region, span: LaneSpan) -> bool {
    let size = part.scalar().bytes().max(1);
    let first = u32::from(region.offset) / size;
    let end = first + region.last_element(part.lanes()) + 1;
    span.first <= first && end <= span.first + span.lanes
}

/// Returns the offset of an access from a lane on.
fn offset_from_lane(offset: i32, ty: Type, span: LaneSpan) -> Option<i32> {
    let by = i32::try_from(span.first * ty.scalar().bytes()).ok()?;
    offset.checked_add(by)
}
