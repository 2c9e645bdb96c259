//! SLP: operations on single elements or on parts of vectors become one operation on the vectors.
//! GenX calls this vectorizing of extracts, and combining of vectors.
//!
//! Operations of a block may differ only in their elements of the same vectors, and in constants.
//! They become one operation on regions of these vectors, and each result an element of its result.
//! A part is a number of consecutive elements, or one element in all lanes. Parts become one
//! operation if all results are written back in the same order, or read by operations on lanes.
//! Elements in between are computed as well. Then operations on the results are visited, and so on.
//! The operation goes where the first one was, since its operands are defined there. Conversions
//! and signs that are part of the reading instruction are no operations of their own; they go
//! along.
//!
//! Input and output: verified IR. Limits: [`ROUNDS`] visits of each instruction, and [`ATTEMPTS`]
//! vectors of similar operations. Functions that read fewer than two elements are left after the
//! first visit.

use super::demanded_lanes::insts;
use crate::ir::{Block, BlockInsts, Function, Inst, InstData, Opcode, Region, Type, Value};
use crate::opt::egraph::{cost, is_lanewise, is_node, region_of};
use crate::opt::{OptState, PassContext};
use crate::sized;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Maximal rounds, and so the length of a chain of operations that become vectors.
const ROUNDS: usize = 8;
/// Maximal vectors of one group of similar operations.
const ATTEMPTS: usize = 4;
/// Maximal element stride of a region.
const MAX_STRIDE: u32 = 4;
/// Minimal members of a strided vector, which not every platform reads in one instruction.
const MIN_STRIDED_MEMBERS: usize = 3;
/// Maximal operands of an operation.
const OPERANDS: usize = 3;

/// Common part of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
enum OperandKey {
    #[default]
    None,
    /// Elements or parts of a vector, each with the same free conversion.
    Element(Value, Spread, Option<(Opcode, Type)>),
    /// Constants of a type.
    Constant(Type),
    /// The same value.
    Same(Value),
}

/// Lanes of an operand within a member.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Spread {
    /// Consecutive elements.
    Consecutive,
    /// One element in all lanes.
    Broadcast,
}

/// Key of operations that may become one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct GroupKey {
    block: Block,
    opcode: Opcode,
    ty: Type,
    operands: [OperandKey; OPERANDS],
}

/// Operation of a group.
#[derive(Clone, Copy)]
struct ScalarOp {
    inst: Inst,
    /// Position in the block.
    position: u32,
    /// Element or constant bits of each operand.
    selectors: [u64; OPERANDS],
}

/// Vector operation to make, and the regions of its operands.
struct VectorOp {
    /// Members with their numbers. Each has as many lanes as an operation had.
    members: Vec<(u32, ScalarOp)>,
    /// Number of members with those that nothing asked for.
    count: u32,
    /// First element of each operand, and elements from one member to the next.
    at: [(u32, u32); OPERANDS],
}

/// Runs the pass. Returns the number of operations that were removed.
pub(in crate::opt) fn run(func: &mut Function, ctx: &PassContext<'_>, _: &mut OptState) -> u32 {
    let mut done = 0;
    for _ in 0..ROUNDS {
        let now = round(func, ctx);
        done += now;
        if now == 0 {
            break;
        }
    }
    done
}

fn round(func: &mut Function, ctx: &PassContext<'_>) -> u32 {
    let divides = ctx.target.features().math_int_div;
    let mut numbers: FxHashMap<GroupKey, usize> = FxHashMap::default();
    let mut groups: Vec<(GroupKey, Vec<ScalarOp>)> = Vec::new();
    for &block in func.layout.blocks() {
        for (position, &inst) in (0..).zip(func.layout.insts(block)) {
            let Some((key, selectors)) = candidate(func, block, inst, divides) else {
                continue;
            };
            let member = ScalarOp {
                inst,
                position,
                selectors,
            };
            let n = *numbers.entry(key).or_insert(groups.len());
            match groups.get_mut(n) {
                Some((_, members)) => members.push(member),
                None => groups.push((key, vec![member])),
            }
        }
    }
    let mut uses: Option<Uses> = None;
    let mut before: FxHashMap<Inst, Vec<Inst>> = FxHashMap::default();
    let mut blocks: Vec<Block> = Vec::new();
    let mut done = 0;
    for (key, mut members) in groups {
        for _ in 0..ATTEMPTS {
            if members.len() < 2 {
                break;
            }
            let (vector, rest) = arrange(func, &key, members);
            members = rest;
            let Some(vector) = vector else { continue };
            if !is_cheaper(func, &key, &vector, ctx) {
                continue;
            }
            let mut write = None;
            if key.ty.lanes() > 1 {
                let uses = uses.get_or_insert_with(|| Uses::of(func));
                write = written_together(func, &vector, uses);
                if write.is_none() && !uses.are_read(func, &vector) {
                    continue;
                }
            }
            if make(func, &key, &vector, write, &mut before).is_some() {
                done += vector.members.len() as u32 - 1;
                if blocks.last() != Some(&key.block) {
                    blocks.push(key.block);
                }
            }
        }
    }
    for block in blocks {
        let mut out = BlockInsts::new();
        for inst in std::mem::take(func.layout.insts_mut(block)) {
            out.extend(before.remove(&inst).into_iter().flatten());
            out.push(inst);
        }
        *func.layout.insts_mut(block) = out;
    }
    done
}

/// Returns the key of an operation on elements or parts of vectors.
fn candidate(
    func: &Function,
    block: Block,
    inst: Inst,
    divides: bool,
) -> Option<(GroupKey, [u64; OPERANDS])> {
    let data = func.dfg.data(inst);
    let result = func.dfg.first_result(inst)?;
    let ty = func.dfg.ty(result);
    let lanes = ty.lanes();
    let part = lanes.is_power_of_two() && lanes <= Type::FLAG_LANES / 2;
    if ty.is_pred() || !part || !is_lanewise(data) || !is_node(data) {
        return None;
    }
    // Most operations read no region.
    let mut reads = false;
    data.for_each_arg(&func.dfg, |v| {
        let def = func.dfg.def_inst(v).map(|i| func.dfg.data(i));
        reads |= matches!(
            def,
            Some(InstData::RdRegion { .. } | InstData::Unary { .. })
        );
    });
    if !reads {
        return None;
    }
    let (mut operands, mut selectors) = ([OperandKey::None; OPERANDS], [0; OPERANDS]);
    let (mut n, mut fits, mut any) = (0, true, false);
    data.for_each_arg(&func.dfg, |v| {
        let of = func.dfg.ty(v);
        let (operand, number) = operand(func, v, divides);
        any |= matches!(operand, OperandKey::Element(..));
        fits &= n < OPERANDS && of.lanes() == lanes && !of.is_pred();
        if fits {
            (operands[n], selectors[n]) = (operand, number);
            n += 1;
        }
    });
    if !any || !fits || is_free(func, ty, data, divides) {
        return None;
    }
    let opcode = data.opcode();
    let key = GroupKey {
        block,
        opcode,
        ty,
        operands,
    };
    Some((key, selectors))
}

/// Returns true if an operation is part of the instruction that reads it.
fn is_free(func: &Function, ty: Type, data: &InstData, divides: bool) -> bool {
    cost::of(&func.dfg, ty, data, divides) < cost::INST
}

fn operand(func: &Function, v: Value, divides: bool) -> (OperandKey, u64) {
    let ty = func.dfg.ty(v);
    let Some(inst) = func.dfg.def_inst(v) else {
        return (OperandKey::Same(v), 0);
    };
    let data = func.dfg.data(inst);
    match *data {
        InstData::Imm { bits, .. } => (OperandKey::Constant(ty), bits),
        InstData::RdRegion { .. } => match element(func, v) {
            Some((of, spread, n)) => (OperandKey::Element(of, spread, None), n),
            None => (OperandKey::Same(v), 0),
        },
        InstData::Unary { opcode, arg }
            // A bitcast may have other lanes than its operand.
            if is_lanewise(data)
                && func.dfg.ty(arg).lanes() == ty.lanes()
                && is_free(func, ty, data, divides) =>
        {
            match element(func, arg) {
                Some((of, spread, n)) => (OperandKey::Element(of, spread, Some((opcode, ty))), n),
                None => (OperandKey::Same(v), 0),
            }
        }
        _ => (OperandKey::Same(v), 0),
    }
}

/// Returns the vector and first element of a part.
fn element(func: &Function, v: Value) -> Option<(Value, Spread, u64)> {
    let InstData::RdRegion {
        arg, region, index, ..
    } = *func.dfg.data(func.dfg.def_inst(v)?)
    else {
        return None;
    };
    let (ty, of) = (func.dfg.ty(v), func.dfg.ty(arg));
    let (size, offset) = (ty.scalar().bytes(), u32::from(region.offset));
    let spread = match ty.lanes() {
        n if region.is_contiguous(n) => Spread::Consecutive,
        n if region.last_element(n) == 0 => Spread::Broadcast,
        _ => return None,
    };
    let narrower = match spread {
        Spread::Consecutive => of.lanes() > ty.lanes(),
        Spread::Broadcast => of.lanes() > 1,
    };
    let is = narrower
        && ty.scalar() == of.scalar()
        && index.is_none()
        && size > 0
        && offset.is_multiple_of(size);
    is.then(|| (arg, spread, u64::from(offset / size)))
}

/// Selects members with equal strides in all of their vectors, and returns the others.
fn arrange(
    func: &Function,
    key: &GroupKey,
    mut members: Vec<ScalarOp>,
) -> (Option<VectorOp>, Vec<ScalarOp>) {
    let is_element = |k: &usize| matches!(key.operands[*k], OperandKey::Element(..));
    let differ = |k: &usize| {
        members
            .iter()
            .any(|m| m.selectors[*k] != members[0].selectors[*k])
    };
    let Some(lead) = (0..OPERANDS).filter(is_element).find(differ) else {
        return (None, Vec::new());
    };
    // Members with the same element keep their order.
    members.sort_by_key(|m| m.selectors[lead]);
    let first = members[0];
    let distance = |m: &ScalarOp, k: usize| m.selectors[k] as i64 - first.selectors[k] as i64;
    let apart = members.iter().fold(0, |a, m| a | distance(m, lead) as u32);
    let lanes = key.ty.lanes();
    let spread = |k: usize| match key.operands[k] {
        OperandKey::Element(_, spread, _) => Some(spread),
        _ => None,
    };
    let step = match spread(lead) {
        Some(Spread::Consecutive) if lanes > 1 => i64::from(lanes),
        _ => 1 << apart.trailing_zeros().min(MAX_STRIDE.ilog2()),
    };
    let mut steps: Option<[i64; OPERANDS]> = None;
    let (mut taken, mut rest) = (vec![(0, first)], Vec::new());
    for &m in &members[1..] {
        let n = distance(&m, lead) / step;
        let last = taken.last().map_or(0, |t| i64::from(t.0));
        // At least half of the lanes are used; of parts, all.
        let near = match lanes {
            1 => n > last && n <= 2 * taken.len() as i64,
            _ => n == taken.len() as i64,
        };
        let near = near && n < i64::from(Type::FLAG_LANES / lanes);
        let here = |k: usize| {
            if is_element(&k) && n > 0 {
                distance(&m, k) / n
            } else {
                0
            }
        };
        let by = steps.unwrap_or_else(|| std::array::from_fn(here));
        let fits = (0..OPERANDS).filter(is_element).all(|k| {
            let encodable = match spread(k) {
                _ if by[k] == 0 => true,
                Some(Spread::Consecutive) if lanes > 1 => by[k] == i64::from(lanes),
                _ => by[k] > 0 && (by[k] as u64).is_power_of_two() && by[k] <= MAX_STRIDE.into(),
            };
            encodable && distance(&m, k) == n * by[k]
        });
        if near && fits {
            steps = Some(by);
            taken.push((n as u32, m));
        } else {
            rest.push(m);
        }
    }
    let Some(steps) = steps else {
        return (None, rest);
    };
    let count = taken.last().map_or(0, |t| t.0) + 1;
    let mut vector = VectorOp {
        members: taken,
        count,
        at: std::array::from_fn(|k| (first.selectors[k] as u32, steps[k] as u32)),
    };
    // One instruction has a power of two lanes.
    let whole = count.next_power_of_two();
    let there = (0..OPERANDS).all(|k| match key.operands[k] {
        OperandKey::Element(of, ..) => {
            let (first, step) = vector.at[k];
            first + (whole - 1) * step < func.dfg.ty(of).lanes()
        }
        _ => true,
    });
    if there && lanes == 1 {
        vector.count = whole;
    }
    (Some(vector), rest)
}

/// Returns the lanes of a constant operand, or one value for all; unused lanes are zero.
fn constants(key: &GroupKey, vector: &VectorOp, k: usize) -> Vec<u64> {
    let first = vector.members[0].1.selectors[k];
    if vector.members.iter().all(|(_, m)| m.selectors[k] == first) {
        return vec![first];
    }
    let lanes = key.ty.lanes() as usize;
    let mut out = vec![0; vector.count as usize * lanes];
    for (n, m) in &vector.members {
        out[*n as usize * lanes..][..lanes].fill(m.selectors[k]);
    }
    out
}

/// Returns true if a vector operation is cheaper than its members.
fn is_cheaper(func: &Function, key: &GroupKey, vector: &VectorOp, ctx: &PassContext<'_>) -> bool {
    let Some(&(_, first)) = vector.members.first() else {
        return false;
    };
    let grf = ctx.target.grf();
    let divides = ctx.target.features().math_int_div;
    let data = func.dfg.data(first.inst);
    let one = cost::of(&func.dfg, key.ty.by(1), data, divides);
    let lanes = key.ty.lanes();
    // Where sources have the destination's stride, rows of a region are copied to one.
    let in_step = ctx.target.features().regioning_in_step
        && (key.ty.scalar().is_float() || key.ty.scalar().bytes() == 8);
    let rows = |k: usize| match key.operands[k] {
        OperandKey::Element(_, Spread::Consecutive, _) => vector.at[k].1 != lanes,
        OperandKey::Element(_, Spread::Broadcast, _) => vector.at[k].1 != 0,
        OperandKey::Same(_) => true,
        _ => false,
    };
    let wide = insts(grf, vector.count * lanes, key.ty.scalar().bytes());
    let copies = |k: usize| {
        if in_step && lanes > 1 && rows(k) {
            cost::INST * wide
        } else {
            0
        }
    };
    let (mut size, mut more, mut apart) = (key.ty.scalar().bytes(), 0, false);
    for k in 0..OPERANDS {
        match key.operands[k] {
            OperandKey::Element(of, ..) => {
                let step = if lanes == 1 { vector.at[k].1 } else { 1 };
                size = size.max(func.dfg.ty(of).scalar().bytes() * step.max(1));
                apart |= step > 1;
                more += copies(k);
            }
            OperandKey::Constant(_) => {
                let lanes = constants(key, vector, k);
                if lanes.len() > 1 {
                    more += cost::packed(&lanes);
                }
            }
            OperandKey::Same(_) => more += copies(k),
            OperandKey::None => {}
        }
    }
    let enough = !apart || vector.members.len() >= MIN_STRIDED_MEMBERS;
    let all = one * insts(grf, vector.count * lanes, size) + more;
    enough && all < one * insts(grf, lanes, size) * vector.members.len() as u32
}

/// Makes the vector operation before its first member. The members become elements of it, and
/// writes of all become one.
fn make(
    func: &mut Function,
    key: &GroupKey,
    vector: &VectorOp,
    write: Option<WrittenTogether>,
    before: &mut FxHashMap<Inst, Vec<Inst>>,
) -> Option<()> {
    let part = key.ty.lanes();
    let lanes = vector.count * part;
    let first = vector.members.iter().map(|(_, m)| m);
    let first = first.min_by_key(|m| m.position)?.inst;
    let mut out = Vec::new();
    let mut args: SmallVec<[Value; OPERANDS]> = SmallVec::new();
    for k in 0..OPERANDS {
        let arg = match key.operands[k] {
            OperandKey::None => continue,
            OperandKey::Element(of, spread, via) => {
                let ty = func.dfg.ty(of).by(lanes);
                let (at, step) = vector.at[k];
                let within = |l: u32| match spread {
                    Spread::Consecutive => l,
                    Spread::Broadcast => 0,
                };
                let elements: SmallVec<[u32; 32]> = (0..lanes)
                    .map(|l| at + l / part * step + within(l % part))
                    .collect();
                let region = region_of(&elements, ty.scalar().bytes())?;
                let v = put(func, read(of, region), ty, first, &mut out);
                match via {
                    Some((opcode, to)) => {
                        let data = InstData::Unary { opcode, arg: v };
                        put(func, data, to.by(lanes), first, &mut out)
                    }
                    None => v,
                }
            }
            OperandKey::Constant(ty) => {
                let bits = constants(key, vector, k);
                let data = match (bits.len(), bits.first()) {
                    (1, Some(&bits)) => InstData::Imm {
                        opcode: if ty.scalar().is_float() {
                            Opcode::Fconst
                        } else {
                            Opcode::Iconst
                        },
                        bits,
                    },
                    _ => InstData::ImmVec {
                        opcode: Opcode::Vconst,
                        constant: func.dfg.make_constant(bits),
                    },
                };
                put(func, data, ty.by(lanes), first, &mut out)
            }
            OperandKey::Same(v) => {
                let ty = func.dfg.ty(v).by(lanes);
                let region = Region::new(0, part as u16, u16::from(part > 1), 0);
                put(func, read(v, region), ty, first, &mut out)
            }
        };
        args.push(arg);
    }
    let mut data = *func.dfg.data(first);
    let mut args = args.into_iter();
    data.map_args(&mut func.dfg, |v| args.next().unwrap_or(v));
    let all = put(func, data, key.ty.by(lanes), first, &mut out);
    if let Some(write) = write {
        *func.dfg.data_mut(write.last) = InstData::WrRegion {
            opcode: Opcode::Wrregion,
            args: [write.old, all],
            region: Region::contiguous(lanes as u16, write.offset),
            index: None.into(),
            mask: None.into(),
        };
    }
    for &(n, m) in &vector.members {
        let at = (n * key.ty.bytes()) as u16;
        let region = match part {
            1 => Region::scalar(at),
            _ => Region::contiguous(part as u16, at),
        };
        *func.dfg.data_mut(m.inst) = read(all, region);
    }
    before.entry(first).or_default().extend(out);
    Some(())
}

/// Uses of all values.
struct Uses(SecondaryMap<Value, UsesOfValue>);

/// Uses of a value.
#[derive(Clone, Copy, Default)]
struct UsesOfValue {
    /// Number of uses.
    all: u32,
    /// Number of uses by operations on lanes, which read a region as a source.
    lanewise: u32,
    /// The last write of the value to a region.
    write: PackedOption<Inst>,
}

impl Uses {
    fn of(func: &Function) -> Uses {
        let mut uses: SecondaryMap<Value, UsesOfValue> = sized(func.dfg.num_values());
        for &block in func.layout.blocks() {
            for &inst in func.layout.insts(block) {
                let data = func.dfg.data(inst);
                let lanewise = u32::from(is_lanewise(data) && is_node(data));
                data.for_each_arg(&func.dfg, |v| {
                    let of = &mut uses[v];
                    of.all += 1;
                    of.lanewise += lanewise;
                    if matches!(data, InstData::WrRegion { args, .. } if args[1] == v) {
                        of.write = inst.into();
                    }
                });
            }
        }
        Uses(uses)
    }

    fn get(&self, func: &Function, inst: Inst) -> UsesOfValue {
        let result = func.dfg.first_result(inst);
        result.map_or_else(UsesOfValue::default, |v| self.0[v])
    }

    /// Returns true if all results are sources of operations on lanes alone.
    fn are_read(&self, func: &Function, vector: &VectorOp) -> bool {
        vector.members.iter().all(|(_, m)| {
            let uses = self.get(func, m.inst);
            uses.all > 0 && uses.lanewise == uses.all
        })
    }
}

/// Writes of all results of a vector operation that are one write of all.
struct WrittenTogether {
    /// The last of the writes, which has the vector with all of them.
    last: Inst,
    /// The vector before the first of them.
    old: Value,
    /// Start in bytes.
    offset: u16,
}

/// Returns the writes of results that are used only by them, one after the other, and that fill a
/// region of consecutive elements in the order of the members.
fn written_together(func: &Function, vector: &VectorOp, uses: &Uses) -> Option<WrittenTogether> {
    let mut writes: SmallVec<[(Inst, Value, Option<Value>); 8]> = SmallVec::new();
    let mut first = None;
    for (n, m) in &vector.members {
        let of = uses.get(func, m.inst);
        let write = of.write.expand().filter(|_| of.all == 1)?;
        let InstData::WrRegion {
            args,
            region,
            index,
            mask,
            ..
        } = *func.dfg.data(write)
        else {
            return None;
        };
        if Some(args[1]) != func.dfg.first_result(m.inst) {
            return None;
        }
        let ty = func.dfg.ty(args[1]);
        let at = u32::from(region.offset).checked_sub(n * ty.bytes())?;
        let in_order = *first.get_or_insert(at) == at;
        if !in_order || !region.is_contiguous(ty.lanes()) || index.is_some() || mask.is_some() {
            return None;
        }
        writes.push((write, args[0], func.dfg.first_result(write)));
    }
    // The one whose result no other of them takes is the last; each other one has one reader.
    let is_old = |v: Option<Value>| writes.iter().any(|w| Some(w.1) == v);
    let mut lasts = writes.iter().filter(|w| !is_old(w.2));
    let (last, before, _) = *lasts.next().filter(|_| lasts.next().is_none())?;
    let mut old = before;
    for _ in 1..writes.len() {
        old = writes.iter().find(|w| w.2 == Some(old))?.1;
    }
    let offset = u16::try_from(first?).ok()?;
    Some(WrittenTogether { last, old, offset })
}

/// Returns a region read.
fn read(arg: Value, region: Region) -> InstData {
    InstData::RdRegion {
        opcode: Opcode::Rdregion,
        arg,
        region,
        index: None.into(),
    }
}

/// Appends an instruction at the location of another. Returns its result.
fn put(func: &mut Function, data: InstData, ty: Type, at: Inst, out: &mut Vec<Inst>) -> Value {
    let (inst, v) = func.make_like(at, data, ty);
    out.push(inst);
    v
}
