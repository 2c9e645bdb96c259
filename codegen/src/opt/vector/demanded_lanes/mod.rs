//! Lanes that nothing reads: operations of which only neighbours are read, done on these alone, and
//! writes into lanes that nobody reads left out.
//!
//! It works backward, as GenX's live elements do: a region at a place that is known reads the lanes
//! that it has; what is written into a value without a mask is not read of the value before; an
//! operation that is done lane by lane reads of its operands what is read of it; parameters of
//! blocks read what is read of them; all else reads all lanes. A value that somebody takes as it is
//! stays as wide as it is. What is left becomes as wide as the lanes that are read of it, where
//! that is an instruction or a register less.
//!
//! Needs: IR that verifies. Makes: the same. Bounds: [`ROUNDS`] times all instructions; of values
//! of more than [`BITS`] lanes some lanes count as one. Functions that read no value in parts are
//! left after one look at each instruction.

mod narrow;

use crate::ir::{
    Block, ControlFlow, Function, Inst, InstData, Opcode, Region, Type, Value, ValueDef,
};
use crate::opt::egraph::{by_lane, elements, is_node, region_of};
use crate::opt::{Facts, State};
use crate::sized;
use crate::target::GrfFile;
use cranelift_entity::SecondaryMap;

/// How often instructions are looked at until nothing changes: loops one in the other take one more
/// each.
const ROUNDS: usize = 6;
/// Lanes, or as many groups of neighbours, that are told apart.
const BITS: u32 = u64::BITS;

/// Neighbouring lanes of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Span {
    first: u32,
    lanes: u32,
}

/// What is read of a value.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Need {
    /// A bit for each lane, or for each group of lanes.
    read: u64,
    /// Somebody takes it as wide as it is.
    whole: bool,
}

/// What an instruction does with lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Each of the result is made of the same ones of the operands.
    ByLane,
    /// A region at a place that is known.
    Read,
    /// The same, written.
    Write,
    /// Lanes of a predicate.
    ReadPred,
    /// Neighbours from memory.
    Block,
    /// Reads all of its operands.
    Other,
}

/// What a write comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// Nobody reads it.
    Nothing,
    /// All that is read of the result.
    All,
    /// Some of it.
    Some,
}

struct Lanes<'a> {
    func: &'a Function,
    grf: GrfFile,
    entry: Option<Block>,
    kinds: SecondaryMap<Inst, Option<Kind>>,
    need: SecondaryMap<Value, Need>,
    changed: bool,
}

/// What becomes of a function.
struct Plan {
    need: SecondaryMap<Value, Need>,
    /// What values are narrowed to.
    spans: SecondaryMap<Value, Option<Span>>,
    kinds: SecondaryMap<Inst, Option<Kind>>,
    writes: SecondaryMap<Inst, Option<Written>>,
    /// How much changes.
    changes: u32,
}

/// The pass. Gives how many values are narrower, and how many writes are gone or need nothing
/// before them.
pub(in crate::opt) fn run(func: &mut Function, facts: &Facts<'_>, state: &mut State) -> u32 {
    if !in_parts(func) {
        return 0;
    }
    state.flow.remove_unreachable(func);
    let cfg = state.flow.of(func);
    let Some(plan) = Lanes::find(func, facts.target.grf(), &cfg) else {
        return 0;
    };
    if plan.changes > 0 {
        plan.apply(func, &cfg);
    }
    plan.changes
}

/// Whether parts of a value are read that may be made in parts, or written.
fn in_parts(func: &Function) -> bool {
    let insts = func
        .layout
        .blocks()
        .iter()
        .flat_map(|&b| func.layout.insts(b));
    insts.into_iter().any(|&inst| {
        let result = func.dfg.first_result(inst);
        match (kind(func, inst), func.dfg.data(inst), result) {
            (Kind::Write, ..) => true,
            (Kind::Read, &InstData::RdRegion { arg, .. }, Some(result)) => {
                let narrower = func.dfg.ty(result).lanes() < func.dfg.ty(arg).lanes();
                let made = func.dfg.def_inst(arg);
                narrower && made.is_none_or(|i| kind(func, i) != Kind::Other)
            }
            _ => false,
        }
    })
}

fn kind(func: &Function, inst: Inst) -> Kind {
    let data = func.dfg.data(inst);
    let Some(result) = func.dfg.first_result(inst) else {
        return Kind::Other;
    };
    let ty = func.dfg.ty(result);
    match *data {
        InstData::RdRegion {
            arg, region, index, ..
        } => {
            let fits = index.is_none() && touched(ty, &region, func.dfg.ty(arg)).is_some();
            if fits { Kind::Read } else { Kind::Other }
        }
        InstData::WrRegion {
            args: [_, new],
            region,
            index,
            ..
        } => {
            let fits = index.is_none() && touched(func.dfg.ty(new), &region, ty).is_some();
            if fits { Kind::Write } else { Kind::Other }
        }
        InstData::RdPred { .. } => Kind::ReadPred,
        InstData::Load {
            opcode: Opcode::Bload,
            mem,
            ..
        } if !mem.volatile => Kind::Block,
        InstData::IntCompare { .. } | InstData::FloatCompare { .. } => Kind::ByLane,
        // Masks that channels run under are taken as they are; so is what is made of masks.
        InstData::Ternary {
            opcode: Opcode::Select,
            args: [mask, ..],
        } if !ty.is_pred() => {
            let made = func.dfg.def_inst(mask).map(|i| func.dfg.data(i));
            match made {
                Some(InstData::IntCompare { .. } | InstData::FloatCompare { .. }) => Kind::ByLane,
                _ => Kind::Other,
            }
        }
        _ if !ty.is_pred() && by_lane(data) && is_node(data) => {
            let mut same = true;
            data.for_each_arg(&func.dfg, |v| {
                let of = func.dfg.ty(v);
                same &= of.lanes() == ty.lanes() && !of.is_pred();
            });
            if same { Kind::ByLane } else { Kind::Other }
        }
        _ => Kind::Other,
    }
}

/// How many lanes of a value count as one.
fn group(lanes: u32) -> u32 {
    lanes.div_ceil(BITS).max(1)
}

/// Bits from one on to before another.
fn between(from: u32, to: u32) -> u64 {
    let below = |n: u32| 1u64.checked_shl(n).map_or(u64::MAX, |b| b - 1);
    below(to) & !below(from)
}

/// The bits of lanes of a value of so many.
fn bits(lanes: u32, span: Span) -> u64 {
    let group = group(lanes);
    between(
        span.first / group,
        (span.first + span.lanes).div_ceil(group),
    )
}

/// The elements of a value that a region has, as bits: those it touches, and those it has all lanes
/// of. None where it is not of whole elements, or of too many.
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
        return Some((bits(of.lanes(), Span { first, lanes }), all));
    }
    if region.last_element(lanes) == 0 {
        let bit = bits(of.lanes(), Span { first, lanes: 1 });
        return Some((bit, 0));
    }
    let mut out = 0;
    for e in elements(part, region)? {
        out |= bits(of.lanes(), Span { first: e, lanes: 1 });
    }
    Some((out, if group == 1 { out } else { 0 }))
}

/// Lanes of a region; none where no region has just these.
fn part(ty: Type, region: &Region, span: Span) -> Option<Region> {
    let size = ty.scalar().bytes();
    if region.last_element(ty.lanes()) == 0 {
        return Some(*region);
    }
    if region.is_contiguous(ty.lanes()) {
        let offset = u32::from(region.offset) + span.first * size;
        return neighbours(span.lanes, offset);
    }
    let all = elements(ty, region)?;
    let these = all.get(span.first as usize..(span.first + span.lanes) as usize)?;
    region_of(these, size)
}

/// So many neighbours from a byte on.
fn neighbours(lanes: u32, offset: u32) -> Option<Region> {
    let offset = u16::try_from(offset).ok()?;
    Some(match lanes {
        1 => Region::scalar(offset),
        n => Region::contiguous(u16::try_from(n).ok()?, offset),
    })
}

/// A region of a value from a lane on.
fn behind(region: Region, first: u32, size: u32) -> Region {
    Region {
        offset: region.offset.saturating_sub((first * size) as u16),
        parent_width: 0,
        ..region
    }
}

impl<'a> Lanes<'a> {
    /// What becomes of the function; none where that is not found in so many rounds.
    fn find(func: &'a Function, grf: GrfFile, cfg: &ControlFlow) -> Option<Plan> {
        let mut kinds: SecondaryMap<Inst, Option<Kind>> = sized(func.dfg.num_insts());
        for &block in cfg.order() {
            for &inst in func.layout.insts(block) {
                kinds[inst] = Some(kind(func, inst));
            }
        }
        let mut lanes = Lanes {
            func,
            grf,
            entry: func.layout.entry(),
            kinds,
            need: sized(func.dfg.num_values()),
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

    fn plan(self, cfg: &ControlFlow) -> Plan {
        let func = self.func;
        let mut spans: SecondaryMap<Value, Option<Span>> = sized(func.dfg.num_values());
        let mut writes: SecondaryMap<Inst, Option<Written>> = SecondaryMap::new();
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
                if self.kind(inst) == Kind::Write && self.need[result].read != 0 {
                    let written = self.written(inst, result);
                    writes[inst] = Some(written);
                    let old = match *func.dfg.data(inst) {
                        InstData::WrRegion { args, .. } => args[0],
                        _ => result,
                    };
                    let less = match written {
                        Written::Nothing => true,
                        Written::All => !func.dfg.is_undef(old),
                        Written::Some => false,
                    };
                    changes += u32::from(less);
                }
            }
        }
        Plan {
            need: self.need,
            spans,
            kinds: self.kinds,
            writes,
            changes,
        }
    }

    fn kind(&self, inst: Inst) -> Kind {
        self.kinds[inst].unwrap_or(Kind::Other)
    }

    fn ty(&self, v: Value) -> Type {
        self.func.dfg.ty(v)
    }

    fn add(&mut self, v: Value, read: u64, whole: bool) {
        let need = &mut self.need[v];
        let more = Need {
            read: need.read | read,
            whole: need.whole || whole,
        };
        self.changed |= *need != more;
        *need = more;
    }

    /// All of a value is read.
    fn all(&mut self, v: Value) {
        self.add(v, u64::MAX, true);
    }

    /// Lanes of an operand are read where those of a value are; nothing, if nothing is read of
    /// that.
    fn like(&mut self, arg: Value, of: Value) {
        let lanes = self.ty(of).lanes();
        match (self.span(of), self.need[of]) {
            (Some(span), _) => self.add(arg, bits(lanes, span), false),
            (None, Need { read: 0, .. }) => {}
            (None, need) => self.add(arg, need.read, true),
        }
    }

    /// Adds what an instruction reads.
    fn inst(&mut self, inst: Inst) {
        let (func, kind) = (self.func, self.kind(inst));
        let data = func.dfg.data(inst);
        let result = func.dfg.first_result(inst);
        match (kind, *data, result) {
            (Kind::ByLane, _, Some(result)) => {
                data.for_each_arg(&func.dfg, |v| self.like(v, result));
            }
            (Kind::Read, InstData::RdRegion { arg, region, .. }, Some(result)) => {
                if self.need[result].read == 0 {
                    return;
                }
                let ty = self.ty(result);
                let of = self.ty(arg);
                let read = match self.span(result) {
                    Some(span) => part(ty, &region, span)
                        .and_then(|region| touched(ty.by(span.lanes), &region, of)),
                    None => touched(ty, &region, of),
                };
                match read {
                    Some((read, _)) => self.add(arg, read, false),
                    None => self.all(arg),
                }
            }
            (Kind::ReadPred, InstData::RdPred { arg, offset, .. }, Some(result)) => {
                if self.need[result].read != 0 {
                    let span = Span {
                        first: u32::from(offset),
                        lanes: self.ty(result).lanes(),
                    };
                    self.add(arg, bits(self.ty(arg).lanes(), span), false);
                }
            }
            (
                Kind::Write,
                InstData::WrRegion {
                    args: [old, new],
                    region,
                    mask,
                    ..
                },
                Some(result),
            ) => {
                if self.need[result].read == 0 {
                    return;
                }
                match self.written(inst, result) {
                    Written::Nothing => {
                        self.like(old, result);
                        return;
                    }
                    Written::All => {}
                    // What is narrower is made of all of these lanes of what was there before.
                    Written::Some => match self.span(result) {
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
                            self.add(old, self.need[result].read & !all, true);
                        }
                    },
                }
                // What it is narrowed to has to have all that is written.
                let (some, _) = self.touched(new, &region, result);
                self.add(result, some, false);
                self.all(new);
                mask.expand().into_iter().for_each(|m| self.all(m));
            }
            (Kind::Block, InstData::Load { addr, .. }, Some(result)) => {
                if self.need[result].read != 0 {
                    self.all(addr);
                }
            }
            _ => self.other(inst),
        }
    }

    /// Adds what is read where all operands are, but for what goes to blocks.
    fn other(&mut self, inst: Inst) {
        let func = self.func;
        let dests = func.dfg.destinations(inst);
        let going: usize = dests.iter().map(|d| d.args.len(&func.dfg.pool)).sum();
        let mut count = 0;
        func.dfg.data(inst).for_each_arg(&func.dfg, |_| count += 1);
        // What goes to blocks is last.
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

    /// What a write that somebody reads comes to.
    fn written(&self, inst: Inst, result: Value) -> Written {
        let InstData::WrRegion {
            args: [_, new],
            region,
            mask,
            ..
        } = *self.func.dfg.data(inst)
        else {
            return Written::Some;
        };
        let read = self.need[result].read;
        let (some, all) = self.touched(new, &region, result);
        let lanes = self.ty(result).lanes();
        let read = read & bits(lanes, Span { first: 0, lanes });
        if read & some == 0 {
            Written::Nothing
        } else if mask.is_none() && read & !all == 0 {
            Written::All
        } else {
            Written::Some
        }
    }

    /// The lanes that a value is narrowed to, if it is.
    fn span(&self, v: Value) -> Option<Span> {
        let Need { read, whole } = self.need[v];
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
                if matches!(kind, Kind::Other | Kind::ReadPred) {
                    return None;
                }
                (self.widest(inst, ty), kind == Kind::Block)
            }
        };
        let span = self.round(lanes, read, size, block)?;
        let fits = match def {
            ValueDef::Param(..) => true,
            ValueDef::Result(inst, _) => self.fits(inst, v, span),
        };
        fits.then_some(span)
    }

    /// Bytes of the widest lane that an operation has to do with.
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

    /// A span of a power of two lanes that has all that are read, where it is less than all.
    /// `size`: bytes of a lane; `block`: it is of whole registers.
    fn round(&self, lanes: u32, read: u64, size: u32, block: bool) -> Option<Span> {
        if size == 0 {
            return None;
        }
        let group = group(lanes);
        let mut first = read.trailing_zeros() * group;
        let end = ((u64::BITS - read.leading_zeros()) * group).min(lanes);
        let row = (self.grf.bytes / size).max(1);
        // What is read of more than a register best begins with one.
        if block || end.saturating_sub(first) > row {
            first -= first % row;
        }
        let mut count = end.checked_sub(first)?.next_power_of_two();
        if block {
            count = count.max(row);
        }
        // All that is rounded up to is best where others begin.
        if first - first % count + count >= end {
            first -= first % count;
        }
        if first + count > lanes {
            first = lanes.checked_sub(count).filter(|_| !block)?;
        }
        let worth = insts(self.grf, count, size) < insts(self.grf, lanes, size)
            || self.grf.hold(count * size) < self.grf.hold(lanes * size);
        worth.then_some(Span {
            first,
            lanes: count,
        })
    }

    /// Whether an instruction can be of these lanes alone.
    fn fits(&self, inst: Inst, result: Value, span: Span) -> bool {
        match *self.func.dfg.data(inst) {
            InstData::RdRegion { region, .. } => part(self.ty(result), &region, span).is_some(),
            InstData::WrRegion {
                args: [_, new],
                region,
                ..
            } => {
                let nothing = self.written(inst, result) == Written::Nothing;
                nothing || within(self.ty(new), &region, span)
            }
            InstData::Load { offset, .. } => moved(offset, self.ty(result), span).is_some(),
            _ => true,
        }
    }
}

/// Instructions that an operation on so many lanes of so many bytes takes.
pub(in crate::opt) fn insts(grf: GrfFile, lanes: u32, size: u32) -> u32 {
    let most = (2 * grf.bytes / size.max(1)).clamp(1, Type::MAX_PRED_LANES);
    lanes / most + (lanes % most).count_ones()
}

/// Whether a region that is written is in a span, lane by lane.
fn within(part: Type, region: &Region, span: Span) -> bool {
    let size = part.scalar().bytes().max(1);
    let first = u32::from(region.offset) / size;
    let end = first + region.last_element(part.lanes()) + 1;
    span.first <= first && end <= span.first + span.lanes
}

/// The offset of an access from a lane on.
fn moved(offset: i32, ty: Type, span: Span) -> Option<i32> {
    let by = i32::try_from(span.first * ty.scalar().bytes()).ok()?;
    offset.checked_add(by)
}
