//! SLP: operations on single elements of vectors become one operation on the vectors. GenX calls
//! this vectorizing of extracts.
//!
//! Operations of a block may differ only in their elements of the same vectors, and in constants.
//! They become one operation on regions of these vectors, and each result an element of its result.
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
use crate::target::GrfFile;
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
    /// Elements of a vector, each with the same free conversion.
    Element(Value, Option<(Opcode, Type)>),
    /// Constants of a type.
    Constant(Type),
    /// The same value.
    Same(Value),
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
    /// Members with their lanes.
    members: Vec<(u32, ScalarOp)>,
    lanes: u32,
    /// First element and stride of each operand.
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
    let grf = ctx.target.grf();
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
            if is_cheaper(func, &key, &vector, grf, divides)
                && make(func, &key, &vector, &mut before).is_some()
            {
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

/// Returns the key of a single-lane operation on elements.
fn candidate(
    func: &Function,
    block: Block,
    inst: Inst,
    divides: bool,
) -> Option<(GroupKey, [u64; OPERANDS])> {
    let data = func.dfg.data(inst);
    let result = func.dfg.first_result(inst)?;
    let ty = func.dfg.ty(result);
    let one = ty.lanes() == 1 && !ty.is_pred();
    if !one || !is_lanewise(data) || !is_node(data) {
        return None;
    }
    let (mut operands, mut selectors) = ([OperandKey::None; OPERANDS], [0; OPERANDS]);
    let (mut n, mut fits, mut any) = (0, true, false);
    data.for_each_arg(&func.dfg, |v| {
        let of = func.dfg.ty(v);
        let (operand, number) = operand(func, v, divides);
        any |= matches!(operand, OperandKey::Element(..));
        fits &= n < OPERANDS && of.lanes() == 1 && !of.is_pred();
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
            Some((of, n)) => (OperandKey::Element(of, None), n),
            None => (OperandKey::Same(v), 0),
        },
        InstData::Unary { opcode, arg }
            if is_lanewise(data) && is_free(func, ty, data, divides) =>
        {
            match element(func, arg) {
                Some((of, n)) => (OperandKey::Element(of, Some((opcode, ty))), n),
                None => (OperandKey::Same(v), 0),
            }
        }
        _ => (OperandKey::Same(v), 0),
    }
}

/// Returns the vector and index of an element.
fn element(func: &Function, v: Value) -> Option<(Value, u64)> {
    let InstData::RdRegion {
        arg, region, index, ..
    } = *func.dfg.data(func.dfg.def_inst(v)?)
    else {
        return None;
    };
    let (ty, of) = (func.dfg.ty(v), func.dfg.ty(arg));
    let (size, offset) = (ty.scalar().bytes(), u32::from(region.offset));
    let is = ty.lanes() == 1
        && of.lanes() > 1
        && ty.scalar() == of.scalar()
        && index.is_none()
        && size > 0
        && offset.is_multiple_of(size);
    is.then(|| (arg, u64::from(offset / size)))
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
    let step = (1 << apart.trailing_zeros().min(MAX_STRIDE.ilog2())) as i64;
    let mut steps: Option<[i64; OPERANDS]> = None;
    let (mut taken, mut rest) = (vec![(0, first)], Vec::new());
    for &m in &members[1..] {
        let lane = distance(&m, lead) / step;
        let last = taken.last().map_or(0, |t| i64::from(t.0));
        // At least half of the lanes are used.
        let near =
            lane > last && lane <= 2 * taken.len() as i64 && lane < i64::from(Type::FLAG_LANES);
        let here = |k: usize| {
            if is_element(&k) && lane > 0 {
                distance(&m, k) / lane
            } else {
                0
            }
        };
        let by = steps.unwrap_or_else(|| std::array::from_fn(here));
        let fits = (0..OPERANDS).filter(is_element).all(|k| {
            let encodable = by[k] == 0 || by[k] > 0 && (by[k] as u64).is_power_of_two();
            encodable && by[k] <= i64::from(MAX_STRIDE) && distance(&m, k) == lane * by[k]
        });
        if near && fits {
            steps = Some(by);
            taken.push((lane as u32, m));
        } else {
            rest.push(m);
        }
    }
    let Some(steps) = steps else {
        return (None, rest);
    };
    let lanes = taken.last().map_or(0, |t| t.0) + 1;
    let mut vector = VectorOp {
        members: taken,
        lanes,
        at: std::array::from_fn(|k| (first.selectors[k] as u32, steps[k] as u32)),
    };
    // One instruction has a power of two lanes.
    let whole = lanes.next_power_of_two();
    let there = (0..OPERANDS).all(|k| match key.operands[k] {
        OperandKey::Element(of, _) => {
            let (first, step) = vector.at[k];
            first + (whole - 1) * step < func.dfg.ty(of).lanes()
        }
        _ => true,
    });
    if there {
        vector.lanes = whole;
    }
    (Some(vector), rest)
}

/// Returns the lanes of a constant operand; unused lanes are zero.
fn constants(vector: &VectorOp, k: usize) -> Vec<u64> {
    let first = vector.members[0].1.selectors[k];
    if vector.members.iter().all(|(_, m)| m.selectors[k] == first) {
        return vec![first];
    }
    let mut out = vec![0; vector.lanes as usize];
    for (lane, m) in &vector.members {
        out[*lane as usize] = m.selectors[k];
    }
    out
}

/// Returns true if a vector operation is cheaper than its members.
fn is_cheaper(
    func: &Function,
    key: &GroupKey,
    vector: &VectorOp,
    grf: GrfFile,
    divides: bool,
) -> bool {
    let Some(&(_, first)) = vector.members.first() else {
        return false;
    };
    let data = func.dfg.data(first.inst);
    let one = cost::of(&func.dfg, key.ty, data, divides);
    let (mut size, mut more, mut apart) = (key.ty.scalar().bytes(), 0, false);
    for k in 0..OPERANDS {
        match key.operands[k] {
            OperandKey::Element(of, _) => {
                let step = vector.at[k].1;
                size = size.max(func.dfg.ty(of).scalar().bytes() * step.max(1));
                apart |= step > 1;
            }
            OperandKey::Constant(_) => {
                let lanes = constants(vector, k);
                if lanes.len() > 1 {
                    more += cost::packed(&lanes);
                }
            }
            _ => {}
        }
    }
    let all = one * insts(grf, vector.lanes, size) + more;
    let enough = !apart || vector.members.len() >= MIN_STRIDED_MEMBERS;
    enough && all < one * vector.members.len() as u32
}

/// Makes the vector operation before its first member. The members become elements of it.
fn make(
    func: &mut Function,
    key: &GroupKey,
    vector: &VectorOp,
    before: &mut FxHashMap<Inst, Vec<Inst>>,
) -> Option<()> {
    let first = vector.members.iter().map(|(_, m)| m);
    let first = first.min_by_key(|m| m.position)?.inst;
    let mut out = Vec::new();
    let mut args: SmallVec<[Value; OPERANDS]> = SmallVec::new();
    for k in 0..OPERANDS {
        let arg = match key.operands[k] {
            OperandKey::None => continue,
            OperandKey::Element(of, via) => {
                let ty = func.dfg.ty(of).by(vector.lanes);
                let (at, step) = vector.at[k];
                let elements: SmallVec<[u32; 32]> =
                    (0..vector.lanes).map(|l| at + l * step).collect();
                let region = region_of(&elements, ty.scalar().bytes())?;
                let v = put(func, read(of, region), ty, first, &mut out);
                match via {
                    Some((opcode, to)) => {
                        let data = InstData::Unary { opcode, arg: v };
                        put(func, data, to.by(vector.lanes), first, &mut out)
                    }
                    None => v,
                }
            }
            OperandKey::Constant(ty) => {
                let lanes = constants(vector, k);
                let data = match (lanes.len(), lanes.first()) {
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
                        constant: func.dfg.make_constant(lanes),
                    },
                };
                put(func, data, ty.by(vector.lanes), first, &mut out)
            }
            OperandKey::Same(v) => {
                let ty = func.dfg.ty(v).by(vector.lanes);
                put(func, read(v, Region::scalar(0)), ty, first, &mut out)
            }
        };
        args.push(arg);
    }
    let mut data = *func.dfg.data(first);
    let mut args = args.into_iter();
    data.map_args(&mut func.dfg, |v| args.next().unwrap_or(v));
    let all = put(func, data, key.ty.by(vector.lanes), first, &mut out);
    for &(lane, m) in &vector.members {
        let at = (lane * key.ty.scalar().bytes()) as u16;
        *func.dfg.data_mut(m.inst) = read(all, Region::scalar(at));
    }
    before.entry(first).or_default().extend(out);
    Some(())
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
