//! Forward reduction of integers: dwords whose numbers fit words are computed as words. GenX calls
//! this reducing the size of integers, forwards. Operations that lose their high bits to their
//! users shrink by rules (`isle/convert.isle`).
//!
//! An operation on dwords is a candidate if it takes more instructions than one on words, its
//! value range fits a word, and its operands are constants, extensions of words or bytes, or
//! candidates. Candidates that read each other are a web. A web becomes words if that saves more
//! instructions than the extensions take. Operations on lanes extend what they read for nothing;
//! stores, calls, regions and block parameters do not. Where the hardware has `dp4a`, which the
//! e-graph finds later, products of bytes that are summed as dwords stay dwords.
//!
//! Input and output: verified IR. The work is linear. Functions without an operation to begin with
//! are left after one look at each instruction.

use super::demanded_lanes::insts;
use crate::graph::union_find::UnionFind;
use crate::ir::{BlockInsts, Function, Inst, InstData, Opcode, Scalar, Type, Value};
use crate::opt::egraph::{cost, is_lanewise, is_node};
use crate::opt::memory::{ValueRange, ValueRanges};
use crate::opt::{OptState, PassContext};
use crate::target::GrfFile;
use rustc_hash::{FxHashMap, FxHashSet};

/// Extension that restores a dword from its low word.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Word {
    extend: Opcode,
}

impl Word {
    /// Returns how numbers of a range are words, if they are.
    fn of(range: ValueRange) -> Option<Word> {
        let extend = if range.least >= 0 && range.most <= i64::from(u16::MAX) {
            Opcode::Uextend
        } else if range.least >= i16::MIN.into() && range.most <= i16::MAX.into() {
            Opcode::Sextend
        } else {
            return None;
        };
        Some(Word { extend })
    }
}

/// Operation that can be one on words.
struct Candidate {
    inst: Inst,
    result: Value,
    /// The operation on words.
    opcode: Opcode,
    extend: Opcode,
    /// Instructions that words save, in units of cost.
    saved: u32,
    /// Cost of the extension for users that cannot extend.
    extension: u32,
    /// True for products of bytes, on targets with `dp4a`.
    is_term: bool,
}

/// Runs the pass. Returns the number of operations that became operations on words.
pub(in crate::opt) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    let grf = ctx.target.grf();
    let divides = ctx.target.features().math_int_div;
    let begins = |&inst: &Inst| wide_dwords(func, grf, inst).is_some() && is_of_short(func, inst);
    let mut blocks = func.layout.blocks().iter();
    if !blocks.any(|&b| func.layout.insts(b).iter().any(begins)) {
        return 0;
    }
    let cfg = state.cfg.get(func);
    let mut ranges = ValueRanges::of_numbers(func, &cfg);
    let mut numbers: FxHashMap<Value, usize> = FxHashMap::default();
    let mut found: Vec<Candidate> = Vec::new();
    for &inst in cfg.order().iter().flat_map(|&b| func.layout.insts(b)) {
        let Some(result) = wide_dwords(func, grf, inst) else {
            continue;
        };
        let Some((opcode, word)) = narrowed(func, &mut ranges, inst, result, &numbers) else {
            continue;
        };
        let (ty, data) = (func.dfg.ty(result), func.dfg.data(inst));
        let one = cost::of(&func.dfg, ty.by(1), data, divides);
        numbers.insert(result, found.len());
        found.push(Candidate {
            inst,
            result,
            opcode,
            extend: word.extend,
            saved: one * (insts(grf, ty.lanes(), 4) - insts(grf, ty.lanes(), 2)),
            extension: cost::INST * insts(grf, ty.lanes(), 4),
            is_term: ctx.target.features().dp4a && is_product_of_bytes(func, data),
        });
    }
    if found.is_empty() {
        return 0;
    }
    let pays = webs_that_pay(func, &found, &numbers);
    rewrite(func, &found, &numbers, &pays)
}

/// Returns the dwords that an operation on lanes makes, if words take fewer instructions.
fn wide_dwords(func: &Function, grf: GrfFile, inst: Inst) -> Option<Value> {
    let data = func.dfg.data(inst);
    let result = func.dfg.first_result(inst)?;
    let ty = func.dfg.ty(result);
    let is = ty.scalar() == Scalar::I32
        && insts(grf, ty.lanes(), 4) > insts(grf, ty.lanes(), 2)
        && is_lanewise(data)
        && is_node(data);
    is.then_some(result)
}

/// Returns the operation on words, and how its result becomes dwords.
fn narrowed(
    func: &Function,
    ranges: &mut ValueRanges<'_>,
    inst: Inst,
    result: Value,
    candidates: &FxHashMap<Value, usize>,
) -> Option<(Opcode, Word)> {
    let word = Word::of(ranges.of(result))?;
    let data = func.dfg.data(inst);
    let mut fits = true;
    // Both ways of extension that all operands allow.
    let (mut unsigned, mut signed) = (true, true);
    data.for_each_arg(&func.dfg, |v| {
        fits &= candidates.contains_key(&v) || is_short(func, v);
        let range = ranges.of(v);
        unsigned &= range.least >= 0 && range.most <= i64::from(u16::MAX);
        signed &= range.least >= i16::MIN.into() && range.most <= i16::MAX.into();
    });
    let by = match *data {
        InstData::Binary { args: [_, k], .. } => func.dfg.same_constant(k),
        _ => None,
    };
    let bits = u64::from(Scalar::I16.bits());
    let opcode = match data.opcode() {
        // The low words of the result depend on those of the operands alone.
        same @ (Opcode::Iadd
        | Opcode::Isub
        | Opcode::Imul
        | Opcode::Ineg
        | Opcode::Band
        | Opcode::Bor
        | Opcode::Bxor) => same,
        same @ Opcode::Ishl if by? < bits => same,
        Opcode::Ushr | Opcode::Sshr if by? < bits && unsigned => Opcode::Ushr,
        Opcode::Sshr if by? < bits && signed => Opcode::Sshr,
        Opcode::Smin | Opcode::Umin if unsigned => Opcode::Umin,
        Opcode::Smax | Opcode::Umax if unsigned => Opcode::Umax,
        same @ (Opcode::Smin | Opcode::Smax | Opcode::Iabs) if signed => same,
        _ => return None,
    };
    fits.then_some((opcode, word))
}

/// Returns true if all operands of an operation are short. Every web has such an operation, for no
/// other one is a candidate before it.
fn is_of_short(func: &Function, inst: Inst) -> bool {
    let mut short = true;
    let data = func.dfg.data(inst);
    data.for_each_arg(&func.dfg, |v| short = short && is_short(func, v));
    short
}

/// Returns true for constants and for extensions of words or bytes.
fn is_short(func: &Function, v: Value) -> bool {
    let Some(inst) = func.dfg.def_inst(v) else {
        return false;
    };
    match *func.dfg.data(inst) {
        InstData::Imm { .. } | InstData::ImmVec { .. } => true,
        InstData::Unary {
            opcode: Opcode::Uextend | Opcode::Sextend,
            arg,
        } => func.dfg.ty(arg).scalar().bits() <= Scalar::I16.bits(),
        _ => false,
    }
}

/// Returns true for a product of two extended bytes.
fn is_product_of_bytes(func: &Function, data: &InstData) -> bool {
    let InstData::Binary {
        opcode: Opcode::Imul,
        args,
    } = *data
    else {
        return false;
    };
    args.iter().all(|&v| {
        let extend = func.dfg.def_inst(v).map(|i| func.dfg.data(i));
        let Some(&InstData::Unary { arg, .. }) = extend else {
            return false;
        };
        func.dfg.ty(arg).scalar() == Scalar::I8
    })
}

/// Returns for each candidate if its web saves instructions.
fn webs_that_pay(
    func: &Function,
    found: &[Candidate],
    numbers: &FxHashMap<Value, usize>,
) -> Vec<bool> {
    let mut webs: UnionFind<Value> = UnionFind::new(func.dfg.num_values());
    let mut extended = vec![false; found.len()];
    let mut summed = vec![true; found.len()];
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            let data = func.dfg.data(inst);
            let user = func
                .dfg
                .first_result(inst)
                .filter(|v| numbers.contains_key(v));
            let extends = is_lanewise(data) || data.opcode() == Opcode::Select;
            data.for_each_arg(&func.dfg, |v| {
                let Some(&n) = numbers.get(&v) else { return };
                summed[n] &= user.is_none() && matches!(data.opcode(), Opcode::Iadd | Opcode::Imad);
                match user {
                    Some(user) => {
                        webs.union(v, user);
                    }
                    None => extended[n] |= !extends,
                }
            });
        }
    }
    let mut gains: FxHashMap<Value, i64> = FxHashMap::default();
    let mut kept: FxHashSet<Value> = FxHashSet::default();
    for ((one, &extended), &summed) in found.iter().zip(&extended).zip(&summed) {
        let extension = if extended { one.extension } else { 0 };
        let web = webs.find(one.result);
        *gains.entry(web).or_default() += i64::from(one.saved) - i64::from(extension);
        if one.is_term && summed {
            kept.insert(web);
        }
    }
    let pays = |one: &Candidate| {
        let web = webs.root(one.result);
        !kept.contains(&web) && gains.get(&web).is_some_and(|&g| g > 0)
    };
    found.iter().map(pays).collect()
}

/// Makes operations on words of the candidates whose webs pay. Returns their number.
fn rewrite(
    func: &mut Function,
    found: &[Candidate],
    numbers: &FxHashMap<Value, usize>,
    pays: &[bool],
) -> u32 {
    let mut words: FxHashMap<Value, Value> = FxHashMap::default();
    let mut before: FxHashMap<Inst, BlockInsts> = FxHashMap::default();
    for (one, _) in found.iter().zip(pays).filter(|(_, pays)| **pays) {
        let mut out = BlockInsts::new();
        let mut data = *func.dfg.data(one.inst);
        let mut args: Vec<Value> = Vec::new();
        data.for_each_arg(&func.dfg, |v| args.push(v));
        for v in &mut args {
            *v = match words.get(v) {
                Some(&word) if numbers.contains_key(v) => word,
                _ => word_of(func, *v, one.inst, &mut out),
            };
        }
        let mut args = args.into_iter();
        data.map_args(&mut func.dfg, |v| args.next().unwrap_or(v));
        if let InstData::Unary { opcode, .. } | InstData::Binary { opcode, .. } = &mut data {
            *opcode = one.opcode;
        }
        let ty = word_type(func, one.result);
        let (inst, word) = func.make_like(one.inst, data, ty);
        out.push(inst);
        words.insert(one.result, word);
        let opcode = one.extend;
        *func.dfg.data_mut(one.inst) = InstData::Unary { opcode, arg: word };
        before.insert(one.inst, out);
    }
    let blocks: Vec<_> = func.layout.blocks().to_vec();
    for block in blocks {
        let mut out = BlockInsts::new();
        for inst in std::mem::take(func.layout.insts_mut(block)) {
            out.extend(before.remove(&inst).into_iter().flatten());
            out.push(inst);
        }
        *func.layout.insts_mut(block) = out;
    }
    words.len() as u32
}

fn word_type(func: &Function, v: Value) -> Type {
    Type::scalar_of(Scalar::I16).by(func.dfg.ty(v).lanes())
}

/// Returns the words of a constant or of an extension.
fn word_of(func: &mut Function, v: Value, at: Inst, out: &mut BlockInsts) -> Value {
    let ty = word_type(func, v);
    let data = match func.dfg.def_inst(v).map(|inst| *func.dfg.data(inst)) {
        Some(InstData::Imm { opcode, bits }) => InstData::Imm {
            opcode,
            bits: bits & Scalar::I16.mask(),
        },
        Some(InstData::ImmVec { opcode, constant }) => {
            let lanes = func.dfg.constant(constant).iter();
            let lanes = lanes.map(|l| l & Scalar::I16.mask()).collect();
            InstData::ImmVec {
                opcode,
                constant: func.dfg.make_constant(lanes),
            }
        }
        Some(InstData::Unary { arg, .. }) if func.dfg.ty(arg) == ty => return arg,
        Some(InstData::Unary { opcode, arg }) if opcode != Opcode::Ireduce => {
            InstData::Unary { opcode, arg }
        }
        _ => InstData::Unary {
            opcode: Opcode::Ireduce,
            arg: v,
        },
    };
    let (inst, word) = func.make_like(at, data, ty);
    out.push(inst);
    word
}
