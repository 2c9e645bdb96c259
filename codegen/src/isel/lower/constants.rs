//! Vectors of constants.
//!
//! A vector of few values is one of them in every lane, and writes of the others over it. Groups of
//! eight lanes that fit in nibbles, and of four small floats, are packed immediates. Their
//! products, and their steps in an arithmetic sequence, are one or two operations more. The rest is
//! one move per lane.

use super::facts::{fits_word, sign_extend};
use super::{Lower, gen_signed};
use crate::ir::{Constant, Inst, InstData, Scalar, Value};
use crate::mir::bale::{BaleSrc, Operation, View};
use crate::mir::{RegConstraint, VReg, VirtReg};
use gantry_isa_gen::sem::restricted_float;
use gantry_isa_gen::{Op, Type};
use smallvec::SmallVec;

/// Lanes of a packed immediate.
const PACKED: usize = 8;
/// Lanes of a packed immediate of floats.
const FLOATS: usize = 4;
/// Alignment in bytes of what a packed immediate is written to.
const PACKED_BYTES: u32 = 16;
/// Maximal distance in elements between lanes that one instruction writes.
const STRIDE: usize = 4;

impl Lower<'_> {
    /// Emits a constant per lane.
    pub(super) fn lower_constant_vector(&mut self, inst: Inst, c: Constant) {
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        let vt = self.ty(v);
        let ty = gen_signed(vt.scalar());
        let lanes: Vec<u64> = self.func.dfg.constant(c).to_vec();
        let bits = vt.scalar().bits();
        let numbers: Vec<i64> = lanes.iter().map(|&x| sign_extend(x, bits)).collect();
        let Some(words) = self.value_words[v].expand() else {
            let out = self.reg(v);
            return self.constant_lanes(out, &numbers, ty);
        };
        self.constant_lanes(words, &numbers, Type::W);
        if let Some(out) = self.value_regs[v].expand() {
            let words = View::contiguous(VirtReg::grf(words), vt.lanes(), Type::W);
            let extended = Operation::new(Op::Mov, ty, &[words.plain()]);
            self.bale(out, vt.lanes(), extended);
        }
    }

    /// Returns the lanes of a constant of dwords as words, if all are words. The words become
    /// needed. A constant with several uses may be needed as dwords as well: it is read as words
    /// only if these are made first in any case.
    pub(super) fn words_of_constant(&mut self, v: Value) -> Option<BaleSrc> {
        let InstData::ImmVec { constant, .. } = *self.func.dfg.data(self.func.dfg.def_inst(v)?)
        else {
            return None;
        };
        let ty = self.ty(v);
        if ty.scalar() != Scalar::I32 {
            return None;
        }
        let once = self.uses[v] == 1;
        let lanes = self.func.dfg.constant(constant).iter();
        let numbers: Vec<i64> = lanes.map(|&x| sign_extend(x, 32)).collect();
        let fits = |x: &i64| fits_word(*x) && (once || (-8..8).contains(x));
        // A move for each lane is not shorter for words.
        let packed = |lanes: &[i64]| !matches!(Plan::of(lanes, Type::W, true), Plan::Each(2..));
        if !numbers.iter().all(fits) || !numbers.chunks(PACKED).all(packed) {
            return None;
        }
        let words = match self.value_words[v].expand() {
            Some(there) => there,
            None => self.temp((ty.lanes() * Type::W.bytes()).max(PACKED_BYTES)),
        };
        self.value_words[v] = words.into();
        Some(View::contiguous(VirtReg::grf(words), ty.lanes(), Type::W).plain())
    }

    /// Emits a constant per lane of a register.
    fn constant_lanes(&mut self, out: VReg, numbers: &[i64], ty: Type) {
        let lanes = numbers;
        let d = &self.vregs[out];
        let aligned = match d.constraint {
            RegConstraint::Fixed(at) => at.is_multiple_of(PACKED_BYTES),
            _ => d.align >= PACKED_BYTES,
        };
        let plans: Vec<Plan> = numbers
            .chunks(PACKED)
            .map(|c| Plan::of(c, ty, aligned))
            .collect();
        let cost = plans.iter().map(Plan::cost).sum();
        if let Some((common, others)) = splat(numbers, ty, self.grf.bytes, cost) {
            let whole = View::contiguous(VirtReg::grf(out), lanes.len() as u32, ty);
            let number = Operation::new(Op::Mov, ty, &[immediate(common, ty)]);
            self.bale_at(whole, true, lanes.len() as u32, number);
            for g in others {
                let dst = View {
                    offset: g.first as u32 * ty.bytes(),
                    vs: (g.lanes * g.step) as u32,
                    hs: g.step as u32,
                    ..View::contiguous(VirtReg::grf(out), g.lanes as u32, ty)
                };
                let number = Operation::new(Op::Mov, ty, &[immediate(g.number, ty)]);
                self.bale_at(dst, false, g.lanes as u32, number);
            }
            return;
        }
        let mut first = 0;
        for (chunk, plan) in numbers.chunks(PACKED).zip(plans) {
            self.constant_group((out, aligned), first, chunk, plan, ty);
            first += PACKED;
        }
    }

    /// Emits up to eight constants from a lane on. `aligned` is true if packed immediates can be
    /// written to the register.
    fn constant_group(
        &mut self,
        (out, aligned): (VReg, bool),
        first: usize,
        numbers: &[i64],
        plan: Plan,
        ty: Type,
    ) {
        let n = numbers.len() as u32;
        let starts = first == 0;
        let dst = View {
            offset: first as u32 * ty.bytes(),
            ..View::contiguous(VirtReg::grf(out), n, ty)
        };
        match plan {
            Plan::Sequence(NibbleSequence { steps, shift, base }) => {
                // Words are written where they are wanted, if one instruction does.
                let plain = shift == 0 && base == 0 && n.is_power_of_two();
                if ty == Type::W && aligned && plain {
                    let packed = BaleSrc::Imm(pack_nibbles(&steps), Type::V);
                    let o = Operation::new(Op::Mov, ty, &[packed]);
                    return self.bale_at(dst, starts, n, o);
                }
                let mut words = self.packed(pack_nibbles(&steps)).plain();
                let mut ops: Vec<(Op, BaleSrc)> = Vec::new();
                if shift > 0 {
                    ops.push((Op::Shl, BaleSrc::Imm(shift.into(), Type::Uw)));
                }
                if base != 0 {
                    ops.push((Op::Add, BaleSrc::Imm(base as u64 & 0xffff, Type::W)));
                }
                // Operations before the last are on words. So are shifts for qwords, which not all
                // platforms have.
                let widens = ty.bytes() == 8 && base == 0;
                let last = ops.pop_if(|_| !widens);
                for (op, by) in ops {
                    let made = self.temp(n * Type::W.bytes());
                    let to = View::contiguous(VirtReg::grf(made), n, Type::W);
                    self.bale_at(to, true, n, Operation::new(op, Type::W, &[words, by]));
                    words = to.plain();
                }
                let o = match last {
                    Some((op, by)) => Operation::new(op, ty, &[words, by]),
                    None => Operation::new(Op::Mov, ty, &[words]),
                };
                self.bale_at(dst, starts, n, o);
            }
            Plan::Product { steps, by } => {
                let words = self.packed(pack_nibbles(&steps)).plain();
                let by = BaleSrc::Imm(by as u64 & 0xffff, Type::W);
                self.bale_at(dst, starts, n, Operation::new(Op::Mul, ty, &[words, by]));
            }
            Plan::Floats(steps) => {
                let words = self.packed(pack_nibbles(&steps)).plain();
                self.bale_at(dst, starts, n, Operation::new(Op::Mov, ty, &[words]));
            }
            Plan::PackedFloats(bytes) => {
                for (i, four) in bytes.chunks(FLOATS).enumerate() {
                    let packed = four.iter().rev().fold(0, |all, b| all << 8 | u64::from(*b));
                    let at = View {
                        offset: dst.offset + (i as u32 * PACKED_BYTES),
                        ..View::contiguous(dst.reg, four.len() as u32, ty)
                    };
                    let o = Operation::new(Op::Mov, ty, &[BaleSrc::Imm(packed, Type::Vf)]);
                    self.bale_at(at, starts && i == 0, four.len() as u32, o);
                }
            }
            Plan::Each(_) => {
                for (i, &x) in numbers.iter().enumerate() {
                    let at = View {
                        offset: (first + i) as u32 * ty.bytes(),
                        ..View::scalar(VirtReg::grf(out), 0, ty)
                    };
                    let number = Operation::new(Op::Mov, ty, &[immediate(x, ty)]);
                    self.bale_at(at, starts && i == 0, 1, number);
                }
            }
        }
    }
}

/// Returns a constant as a source. There are no immediates of bytes.
fn immediate(number: i64, ty: Type) -> BaleSrc {
    match ty {
        Type::B => BaleSrc::Imm(number as u64 & 0xffff, Type::W),
        t if t.bytes() < 8 => BaleSrc::Imm(number as u64 & ((1 << (8 * t.bytes())) - 1), t),
        t => BaleSrc::Imm(number as u64, t),
    }
}

/// Way to make up to eight constants.
enum Plan {
    /// Packed words, shifted and added to.
    Sequence(NibbleSequence),
    /// Packed words times a number.
    Product { steps: Vec<i64>, by: i64 },
    /// Packed words as floats.
    Floats(Vec<i64>),
    /// Packed floats, four at a time.
    PackedFloats(Vec<u8>),
    /// A move for each of this many lanes.
    Each(usize),
}

impl Plan {
    fn of(numbers: &[i64], ty: Type, aligned: bool) -> Plan {
        let few = numbers.len() < 2;
        if ty.is_int() && ty.bytes() >= 2 && !few {
            if let Some(sequence) = NibbleSequence::of(numbers) {
                return Plan::Sequence(sequence);
            }
            if ty.bytes() < 8
                && let Some((steps, by)) = product(numbers)
            {
                return Plan::Product { steps, by };
            }
        }
        if ty == Type::F && !few {
            let small = small_floats(numbers);
            let packed = if aligned && (numbers.len() <= FLOATS || small.is_none()) {
                restricted_floats(numbers)
            } else {
                None
            };
            if let Some(bytes) = packed {
                return Plan::PackedFloats(bytes);
            }
            if let Some(steps) = small {
                return Plan::Floats(steps);
            }
        }
        Plan::Each(numbers.len())
    }

    /// Returns the number of instructions.
    fn cost(&self) -> usize {
        match self {
            Plan::Sequence(s) => 1 + (usize::from(s.shift > 0) + usize::from(s.base != 0)).max(1),
            Plan::Product { .. } | Plan::Floats(_) => 2,
            Plan::PackedFloats(bytes) => bytes.len().div_ceil(FLOATS),
            Plan::Each(n) => *n,
        }
    }
}

/// Returns nibbles and a word of which the numbers are the products.
fn product(numbers: &[i64]) -> Option<(Vec<i64>, i64)> {
    let by = numbers.iter().fold(0, |d, x| gcd(d, x.unsigned_abs()));
    let by = i64::from(i16::try_from(by).ok().filter(|by| *by > 0)?);
    let steps: Vec<i64> = numbers.iter().map(|x| x / by).collect();
    steps
        .iter()
        .all(|s| (-8..8).contains(s))
        .then_some((steps, by))
}

/// Returns the greatest common divisor.
fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns floats, given by their bits, as nibbles if they are small integers.
fn small_floats(numbers: &[i64]) -> Option<Vec<i64>> {
    let small = |&bits: &i64| {
        let of = |n: &i64| (*n as f32).to_bits() == bits as u32;
        (-8..8).find(of)
    };
    numbers.iter().map(small).collect()
}

/// Returns floats, given by their bits, as bytes of a packed immediate, if these hold them.
fn restricted_floats(numbers: &[i64]) -> Option<Vec<u8>> {
    let restricted = |&bits: &i64| (0..=u8::MAX).find(|b| restricted_float(*b) == bits as u32);
    numbers.iter().map(restricted).collect()
}

/// Lanes with one number, at equal distances.
struct Lanes {
    number: i64,
    first: usize,
    lanes: usize,
    step: usize,
}

/// Returns the most common number of a vector and the lanes with others, if that takes fewer
/// instructions than `cost`.
fn splat(numbers: &[i64], ty: Type, grf: u32, cost: usize) -> Option<(i64, Vec<Lanes>)> {
    // A write of two GRFs is one instruction.
    let whole = (numbers.len() * ty.bytes() as usize).div_ceil(2 * grf as usize);
    if whole + 1 >= cost {
        return None;
    }
    let mut sorted: Vec<(i64, usize)> = numbers.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let groups: SmallVec<[&[(i64, usize)]; 8]> = sorted.chunk_by(|a, b| a.0 == b.0).collect();
    if groups.len() > cost {
        return None;
    }
    let common = groups.iter().max_by_key(|g| g.len())?.first()?.0;
    let mut others = Vec::new();
    for group in groups {
        let mut rest = group;
        while let Some(&(number, first)) = rest.first()
            && number != common
        {
            let step = rest.get(1).map_or(1, |next| next.1 - first);
            let at = |n: usize| first + n * step;
            let equal = rest.iter().enumerate().take_while(|(n, l)| l.1 == at(*n));
            let lanes = if step > STRIDE || step == 3 {
                1
            } else {
                equal.count()
            };
            // Instructions have powers of two of lanes.
            let lanes = 1 << lanes.ilog2();
            others.push(Lanes {
                number,
                first,
                lanes,
                step: if lanes == 1 { 1 } else { step },
            });
            if whole + others.len() >= cost {
                return None;
            }
            rest = rest.get(lanes..).unwrap_or_default();
        }
    }
    Some((common, others))
}

/// Numbers that are nibbles times a power of two, plus a base, all within words.
struct NibbleSequence {
    /// Nibbles, from -8 to 7.
    steps: Vec<i64>,
    shift: u32,
    base: i64,
}

impl NibbleSequence {
    fn of(xs: &[i64]) -> Option<NibbleSequence> {
        let nibble = |x: &i64| (-8..8).contains(x);
        let word = |x: i64| i16::try_from(x).is_ok();
        let (least, most) = (*xs.iter().min()?, *xs.iter().max()?);
        if xs.iter().all(nibble) {
            return Some(NibbleSequence {
                steps: xs.to_vec(),
                shift: 0,
                base: 0,
            });
        }
        if !word(least) || !word(most) {
            return None;
        }
        let first = *xs.first()?;
        let all = xs.iter().fold(0, |all, x| all | (x - least));
        let shift = all.trailing_zeros().min(15);
        // The first number is preferred as base, so that similar groups become equal. The next
        // choice is the middle.
        let bases = [0, first, least + (8 << shift)];
        bases.into_iter().find_map(|base| {
            let unit = 1 << shift;
            let fits = |x: &&i64| {
                let step = *x - base;
                step % unit == 0 && word(step) && nibble(&(step >> shift))
            };
            let all = word(base) && xs.iter().filter(fits).count() == xs.len();
            all.then(|| NibbleSequence {
                steps: xs.iter().map(|x| (x - base) >> shift).collect(),
                shift,
                base,
            })
        })
    }
}

fn pack_nibbles(xs: &[i64]) -> u64 {
    xs.iter()
        .enumerate()
        .fold(0, |acc, (i, x)| acc | ((*x as u64 & 0xf) << (4 * i)))
}
