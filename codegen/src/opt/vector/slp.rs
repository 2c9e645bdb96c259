//! Operations on single elements of vectors, as one on the vectors: what GenX calls the vectorizing
//! of extracts.
//!
//! Operations of a block that are the same but for which elements of the same vectors they are of,
//! and for their constants, are one operation on regions of these vectors, of which each result is
//! an element. Elements between those that are asked for are computed as well. What is done to the
//! results is looked at after that, and so on. The operation stands where the first of them stood,
//! where its operands are. A conversion or a sign that is part of the instruction that reads it is
//! no operation by itself, and goes along.
//!
//! Needs: IR that verifies. Makes: the same. Bounds: [`ROUNDS`] looks at each instruction,
//! [`ATTEMPTS`] vectors of those that are the same; functions in which fewer than two elements are
//! read are left after the first look.

use super::demanded_lanes::insts;
use crate::ir::{Block, BlockInsts, Function, Inst, InstData, Opcode, Region, Type, Value};
use crate::opt::egraph::{by_lane, cost, is_node, region_of};
use crate::opt::{Facts, State};
use crate::target::GrfFile;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// How often the function is looked at: operations one after the other that become vectors.
const ROUNDS: usize = 8;
/// Vectors that are made of operations that are the same.
const ATTEMPTS: usize = 4;
/// Elements from one to the next, of a region that an instruction reads.
const STEP: u32 = 4;
/// Operations of elements that stand apart, which not every platform reads in one instruction.
const APART: usize = 3;
/// Operands of an operation.
const OPERANDS: usize = 3;

/// What operations that may be one have in common of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
enum Operand {
    #[default]
    None,
    /// Elements of a vector, each converted by what comes at no cost.
    Element(Value, Option<(Opcode, Type)>),
    /// Constants of a type.
    Constant(Type),
    /// This value.
    Same(Value),
}

/// What operations have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    block: Block,
    opcode: Opcode,
    ty: Type,
    operands: [Operand; OPERANDS],
}

/// One of the operations.
#[derive(Clone, Copy)]
struct Member {
    inst: Inst,
    /// Where it stands in its block.
    place: u32,
    /// By operand: which element, or the bits of the constant.
    which: [u64; OPERANDS],
}

/// Members of a vector, and where their operands are.
struct Vector {
    /// Each with its lane.
    members: Vec<(u32, Member)>,
    lanes: u32,
    /// By operand: the first element, and elements from one to the next.
    at: [(u32, u32); OPERANDS],
}

/// The pass. Gives how many operations less there are.
pub(in crate::opt) fn run(func: &mut Function, facts: &Facts<'_>, _: &mut State) -> u32 {
    let mut done = 0;
    for _ in 0..ROUNDS {
        let now = round(func, facts);
        done += now;
        if now == 0 {
            break;
        }
    }
    done
}

fn round(func: &mut Function, facts: &Facts<'_>) -> u32 {
    let divides = facts.target.features().math_int_div;
    let grf = facts.target.grf();
    let mut numbers: FxHashMap<Key, usize> = FxHashMap::default();
    let mut groups: Vec<(Key, Vec<Member>)> = Vec::new();
    for &block in func.layout.blocks() {
        for (place, &inst) in (0..).zip(func.layout.insts(block)) {
            let Some((key, which)) = candidate(func, block, inst, divides) else {
                continue;
            };
            let member = Member { inst, place, which };
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
            if pays(func, &key, &vector, grf, divides)
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

/// What an operation of one lane has in common with others, if it is of elements.
fn candidate(
    func: &Function,
    block: Block,
    inst: Inst,
    divides: bool,
) -> Option<(Key, [u64; OPERANDS])> {
    let data = func.dfg.data(inst);
    let result = func.dfg.first_result(inst)?;
    let ty = func.dfg.ty(result);
    let one = ty.lanes() == 1 && !ty.is_pred();
    if !one || !by_lane(data) || !is_node(data) {
        return None;
    }
    let (mut operands, mut which) = ([Operand::None; OPERANDS], [0; OPERANDS]);
    let (mut n, mut fits, mut any) = (0, true, false);
    data.for_each_arg(&func.dfg, |v| {
        let of = func.dfg.ty(v);
        let (operand, number) = operand(func, v, divides);
        any |= matches!(operand, Operand::Element(..));
        fits &= n < OPERANDS && of.lanes() == 1 && !of.is_pred();
        if fits {
            (operands[n], which[n]) = (operand, number);
            n += 1;
        }
    });
    if !any || !fits || is_free(func, ty, data, divides) {
        return None;
    }
    let opcode = data.opcode();
    let key = Key {
        block,
        opcode,
        ty,
        operands,
    };
    Some((key, which))
}

/// Whether an operation is part of what reads it.
fn is_free(func: &Function, ty: Type, data: &InstData, divides: bool) -> bool {
    cost::of(&func.dfg, ty, data, divides) < cost::INST
}

fn operand(func: &Function, v: Value, divides: bool) -> (Operand, u64) {
    let ty = func.dfg.ty(v);
    let Some(inst) = func.dfg.def_inst(v) else {
        return (Operand::Same(v), 0);
    };
    let data = func.dfg.data(inst);
    match *data {
        InstData::Imm { bits, .. } => (Operand::Constant(ty), bits),
        InstData::RdRegion { .. } => match element(func, v) {
            Some((of, n)) => (Operand::Element(of, None), n),
            None => (Operand::Same(v), 0),
        },
        InstData::Unary { opcode, arg } if by_lane(data) && is_free(func, ty, data, divides) => {
            match element(func, arg) {
                Some((of, n)) => (Operand::Element(of, Some((opcode, ty))), n),
                None => (Operand::Same(v), 0),
            }
        }
        _ => (Operand::Same(v), 0),
    }
}

/// The element of a vector that a value is.
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

/// A vector of members that stand in the same distances in all of their vectors, and those that are
/// not in it.
fn arrange(func: &Function, key: &Key, mut members: Vec<Member>) -> (Option<Vector>, Vec<Member>) {
    let is_element = |k: &usize| matches!(key.operands[*k], Operand::Element(..));
    let differ = |k: &usize| members.iter().any(|m| m.which[*k] != members[0].which[*k]);
    let Some(lead) = (0..OPERANDS).filter(is_element).find(differ) else {
        return (None, Vec::new());
    };
    // Those of the same element stay in order.
    members.sort_by_key(|m| m.which[lead]);
    let first = members[0];
    let distance = |m: &Member, k: usize| m.which[k] as i64 - first.which[k] as i64;
    let apart = members.iter().fold(0, |a, m| a | distance(m, lead) as u32);
    let step = (1 << apart.trailing_zeros().min(STEP.ilog2())) as i64;
    let mut steps: Option<[i64; OPERANDS]> = None;
    let (mut taken, mut rest) = (vec![(0, first)], Vec::new());
    for &m in &members[1..] {
        let lane = distance(&m, lead) / step;
        let last = taken.last().map_or(0, |t| i64::from(t.0));
        // Half of the lanes at least are of somebody.
        let near =
            lane > last && lane <= 2 * taken.len() as i64 && lane < i64::from(Type::MAX_PRED_LANES);
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
            encodable && by[k] <= i64::from(STEP) && distance(&m, k) == lane * by[k]
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
    let mut vector = Vector {
        members: taken,
        lanes,
        at: std::array::from_fn(|k| (first.which[k] as u32, steps[k] as u32)),
    };
    // One instruction is of a power of two.
    let whole = lanes.next_power_of_two();
    let there = (0..OPERANDS).all(|k| match key.operands[k] {
        Operand::Element(of, _) => {
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

/// The lanes of a constant operand; zeros where they are nobody's.
fn constants(vector: &Vector, k: usize) -> Vec<u64> {
    let first = vector.members[0].1.which[k];
    if vector.members.iter().all(|(_, m)| m.which[k] == first) {
        return vec![first];
    }
    let mut out = vec![0; vector.lanes as usize];
    for (lane, m) in &vector.members {
        out[*lane as usize] = m.which[k];
    }
    out
}

/// Whether a vector is less than its members.
fn pays(func: &Function, key: &Key, vector: &Vector, grf: GrfFile, divides: bool) -> bool {
    let Some(&(_, first)) = vector.members.first() else {
        return false;
    };
    let data = func.dfg.data(first.inst);
    let one = cost::of(&func.dfg, key.ty, data, divides);
    let (mut size, mut more, mut apart) = (key.ty.scalar().bytes(), 0, false);
    for k in 0..OPERANDS {
        match key.operands[k] {
            Operand::Element(of, _) => {
                let step = vector.at[k].1;
                size = size.max(func.dfg.ty(of).scalar().bytes() * step.max(1));
                apart |= step > 1;
            }
            Operand::Constant(_) => {
                let lanes = constants(vector, k);
                if lanes.len() > 1 {
                    more += cost::packed(&lanes);
                }
            }
            _ => {}
        }
    }
    let all = one * insts(grf, vector.lanes, size) + more;
    let enough = !apart || vector.members.len() >= APART;
    enough && all < one * vector.members.len() as u32
}

/// Makes a vector where the first of its members stands; they are its elements.
fn make(
    func: &mut Function,
    key: &Key,
    vector: &Vector,
    before: &mut FxHashMap<Inst, Vec<Inst>>,
) -> Option<()> {
    let first = vector.members.iter().map(|(_, m)| m);
    let first = first.min_by_key(|m| m.place)?.inst;
    let mut out = Vec::new();
    let mut args: SmallVec<[Value; OPERANDS]> = SmallVec::new();
    for k in 0..OPERANDS {
        let arg = match key.operands[k] {
            Operand::None => continue,
            Operand::Element(of, via) => {
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
            Operand::Constant(ty) => {
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
            Operand::Same(v) => {
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

/// A region of a value.
fn read(arg: Value, region: Region) -> InstData {
    InstData::RdRegion {
        opcode: Opcode::Rdregion,
        arg,
        region,
        index: None.into(),
    }
}

/// An instruction's result, from where another comes.
fn put(func: &mut Function, data: InstData, ty: Type, at: Inst, out: &mut Vec<Inst>) -> Value {
    let (inst, v) = func.make_like(at, data, ty);
    out.push(inst);
    v
}
