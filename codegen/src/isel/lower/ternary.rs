//! Folding of trees of operations into one instruction of three sources: sums of three (`add3`),
//! products and sums of integers (`mad`), and logic of three values (`bfn`).
//!
//! Folded operations are used only by the root, in its block. Sources are read without a copy: a
//! register's lanes in order, one lane for all, or a constant word. Any other value stays an
//! instruction of its own.

use super::Lower;
use super::context::generated_view;
use super::facts::{fits_word, ones, sign_extend, view_src};
use super::generated::Context;
use crate::ir::{Inst, InstData, Opcode, Scalar, Value};
use crate::mir::bale::{BaleSrc, Operation};
use gantry_isa_gen::{Op, SrcMods, Subfn, Type as GenType};
use smallvec::SmallVec;

/// Smallest number of lanes for folding. Narrower values rarely are where three sources can read
/// them.
const LEAST_LANES: u32 = 8;
/// Largest number of logic operations in a tree.
const LOGIC: usize = 12;
/// Truth tables of sources 0, 1 and 2.
const SOURCES: [u8; 3] = [0xAA, 0xCC, 0xF0];

/// Leaves of a tree.
type Leaves = SmallVec<[Value; 3]>;

/// Folded operations of a tree, as their results.
type Folded = SmallVec<[Value; LOGIC]>;

/// Result of folding a leaf.
#[derive(Default)]
struct FoldedLeaf {
    /// Leaves that replace it.
    leaves: Leaves,
    folded: Folded,
}

impl FoldedLeaf {
    fn leaf(&mut self, v: Value) {
        if !self.leaves.contains(&v) {
            self.leaves.push(v);
        }
    }
}

/// Source of `mad` of integers.
#[derive(Clone, Copy)]
enum MadSource {
    /// Immediate of a type: a word, or a dword that is split.
    Constant(i64, GenType),
    /// Word of a type that is extended to a dword.
    Word(Value, GenType),
    /// Value of the type of the result.
    Whole(Value),
}

/// Logic operation in a tree.
#[derive(Clone, Copy)]
enum LogicOp {
    Not(Value),
    Two(Opcode, Value, Value),
}

impl Lower<'_> {
    /// Returns the scalar type of an instruction's result, if trees of it are folded: words or
    /// dwords.
    fn folds(&self, inst: Inst) -> Option<Scalar> {
        let ty = self.ty(self.first_result(inst)?);
        // Operations of two sources alone write a flag, too.
        let wide = ty.lanes() >= LEAST_LANES && self.flags_beside[inst].is_none();
        (wide && matches!(ty.scalar(), Scalar::I16 | Scalar::I32)).then_some(ty.scalar())
    }

    /// Returns the value as a signed constant, if it is one.
    fn small_constant(&self, v: Value) -> Option<i64> {
        match *self.func.dfg.data(self.func.dfg.def_inst(v)?) {
            InstData::Imm { bits, .. } => Some(sign_extend(bits, self.ty(v).scalar().bits())),
            _ => None,
        }
    }

    /// Returns true if an instruction of three sources can read a value without a copy.
    fn is_direct_source(&self, mut v: Value) -> bool {
        for _ in 0..4 {
            if let Some(k) = self.small_constant(v) {
                return fits_word(k);
            }
            let Some(inst) = self.func.dfg.def_inst(v) else {
                return true;
            };
            if self.chains.cut.contains(v) {
                return true;
            }
            match *self.func.dfg.data(inst) {
                InstData::RdRegion {
                    arg, region, index, ..
                } => {
                    let lanes = self.ty(v).lanes();
                    return index.is_none()
                        && (region.last_element(lanes) == 0 || region.is_contiguous(lanes))
                        && self.ty(arg).scalar().bytes() == self.ty(v).scalar().bytes();
                }
                InstData::Unary {
                    opcode: Opcode::Bitcast,
                    arg,
                } if self.ty(arg).scalar().bytes() == self.ty(v).scalar().bytes() => v = arg,
                InstData::Unary {
                    opcode: Opcode::Bitcast | Opcode::Ireduce | Opcode::Sextend | Opcode::Uextend,
                    ..
                } => return false,
                _ => return true,
            }
        }
        false
    }

    /// Returns a source of a type. Constants are signed words.
    fn third(&mut self, v: Value, ty: GenType, negative: bool) -> BaleSrc {
        if let Some(k) = self.small_constant(v) {
            let k = if negative { k.wrapping_neg() } else { k };
            return BaleSrc::Imm(k as u64 & 0xffff, GenType::W);
        }
        let view = generated_view(self, v);
        match (view_src(view, ty), negative) {
            (BaleSrc::View(v, m), true) => BaleSrc::View(v, SrcMods { neg: !m.neg, ..m }),
            (src, _) => src,
        }
    }

    /// Reorders leaves so that the source in the middle is no constant. `None` if more than one is.
    fn around<T: Copy>(&self, terms: [(Value, T); 3]) -> Option<[(Value, T); 3]> {
        let constant = |t: &(Value, T)| self.small_constant(t.0).is_some();
        let [a, b, c] = terms;
        match terms.iter().filter(|t| constant(t)).count() {
            0 => Some(terms),
            1 if constant(&b) => Some([b, a, c]),
            1 => Some(terms),
            _ => None,
        }
    }

    /// Folds a sum or difference with one operand that is a sum without other uses.
    pub(super) fn fold_sum(&mut self, inst: Inst) -> Option<Operation> {
        self.target.features().add3.then_some(())?;
        let scalar = self.folds(inst)?;
        let (outer, [x, y]) = self.sum(inst)?;
        // The inner sum is the first operand, or the second.
        for (within, other, first) in [(x, y, true), (y, x, false)] {
            let Some(inner) = self.sinkable(within) else {
                continue;
            };
            let Some((op, [a, b])) = self.sum(inner) else {
                continue;
            };
            let minus = outer == Opcode::Isub;
            let sign = minus && !first;
            let terms = [
                (other, minus && first),
                (a, sign),
                (b, sign != (op == Opcode::Isub)),
            ];
            let there = terms.iter().all(|t| self.is_direct_source(t.0));
            let least = |t: &(Value, bool)| self.small_constant(t.0) != Some(i16::MIN.into());
            if !there || !terms.iter().all(least) {
                continue;
            }
            let Some(terms) = self.around(terms) else {
                continue;
            };
            let ty = match scalar {
                Scalar::I16 => GenType::W,
                _ => GenType::D,
            };
            let srcs = terms.map(|(v, minus)| self.third(v, ty, minus));
            return Some(Operation::new(Op::Add3, ty, &srcs));
        }
        None
    }

    /// Returns the form in which `mad` reads an integer without a copy.
    fn mad_source(&mut self, v: Value) -> Option<MadSource> {
        let imm = self.target.features().ternary_imm;
        if let Some(k) = self.small_constant(v) {
            let ty = match u16::try_from(k) {
                _ if fits_word(k) => GenType::W,
                Ok(_) => GenType::Uw,
                // Both words of a dword are factors of their own.
                Err(_) => GenType::D,
            };
            return imm.then_some(MadSource::Constant(k, ty));
        }
        let extended = match self.def_inst(v).map(|i| *self.func.dfg.data(i)) {
            Some(InstData::Unary { opcode, arg }) => match opcode {
                Opcode::Sextend => Some((arg, GenType::W)),
                Opcode::Uextend => Some((arg, GenType::Uw)),
                _ => None,
            },
            _ => None,
        };
        match extended {
            Some((arg, ty)) => {
                let word = self.ty(arg).scalar() == Scalar::I16 && self.is_direct_source(arg);
                word.then_some(MadSource::Word(arg, ty))
            }
            None => self.is_direct_source(v).then_some(MadSource::Whole(v)),
        }
    }

    /// Folds a sum or difference of an addend and a product without other uses. A factor is a word
    /// where there is one: a product of dwords takes several instructions.
    pub(super) fn fold_product(&mut self, inst: Inst) -> Option<Operation> {
        self.target.features().int_mad.then_some(())?;
        let scalar = self.folds(inst)?;
        let (outer, [x, y]) = self.sum(inst)?;
        // Pairs of words fill the units of the destination's address.
        let lanes = self.ty(self.first_result(inst)?).lanes();
        if scalar == Scalar::I16 && !lanes.is_multiple_of(2) {
            return None;
        }
        let minus = outer == Opcode::Isub;
        for (within, other, first) in [(x, y, true), (y, x, false)] {
            let Some(inner) = self.sinkable(within) else {
                continue;
            };
            let InstData::Binary {
                opcode: Opcode::Imul,
                args: [a, b],
            } = *self.func.dfg.data(inner)
            else {
                continue;
            };
            let forms = (
                self.mad_source(other),
                self.mad_source(a),
                self.mad_source(b),
            );
            let (Some(c), Some(a), Some(b)) = forms else {
                continue;
            };
            let (wide, narrow) = match (a, b) {
                (MadSource::Constant(..), _) | (MadSource::Word(..), MadSource::Whole(_)) => (b, a),
                _ => (a, b),
            };
            if let Some(o) = self.mad(scalar, (c, minus && first), wide, narrow, minus && !first) {
                return Some(o);
            }
        }
        None
    }

    /// Returns `c + wide * narrow`, with the addend or the product negated. `None` if a source has
    /// no such form.
    fn mad(
        &mut self,
        scalar: Scalar,
        (c, minus): (MadSource, bool),
        wide: MadSource,
        narrow: MadSource,
        negative: bool,
    ) -> Option<Operation> {
        let ty = match scalar {
            Scalar::I16 => GenType::W,
            _ => GenType::D,
        };
        let constant = |s| matches!(s, MadSource::Constant(..));
        let word = |s| matches!(s, MadSource::Constant(_, GenType::W) | MadSource::Whole(_));
        // One source is a constant, and the addend is no dword. Words are not negated: the
        // smallest one has no negative.
        let encodable = !(constant(wide) || constant(c) && constant(narrow));
        let addend = !matches!(c, MadSource::Constant(_, GenType::D | GenType::Uw));
        let plain = |s: MadSource, negated: bool| {
            !negated || matches!(s, MadSource::Whole(_)) && ty == GenType::D
        };
        let sized = ty == GenType::D || word(narrow);
        // Only a product of dwords is made of the words of a constant.
        let dword = |s| matches!(s, MadSource::Constant(_, GenType::D));
        let sized = sized && (!dword(narrow) || matches!(wide, MadSource::Whole(_)));
        if !encodable || !addend || !sized || !plain(c, minus) || !plain(wide, negative) {
            return None;
        }
        let srcs = [(c, minus), (wide, negative), (narrow, false)];
        let srcs = srcs.map(|(s, negated)| match s {
            MadSource::Constant(k, t) => BaleSrc::Imm(k as u64 & ones(t), t),
            MadSource::Word(v, t) => view_src(generated_view(self, v), t),
            MadSource::Whole(v) => self.third(v, ty, negated),
        });
        Some(Operation::new(Op::Mad, ty, &srcs))
    }

    fn sum(&self, inst: Inst) -> Option<(Opcode, [Value; 2])> {
        match *self.func.dfg.data(inst) {
            InstData::Binary { opcode, args } => {
                matches!(opcode, Opcode::Iadd | Opcode::Isub).then_some((opcode, args))
            }
            _ => None,
        }
    }

    fn logic(&self, inst: Inst) -> Option<LogicOp> {
        match *self.func.dfg.data(inst) {
            InstData::Unary {
                opcode: Opcode::Bnot,
                arg,
            } => Some(LogicOp::Not(arg)),
            InstData::Binary {
                opcode: opcode @ (Opcode::Band | Opcode::Bor | Opcode::Bxor),
                args: [a, b],
            } => Some(LogicOp::Two(opcode, a, b)),
            _ => None,
        }
    }

    /// Folds a tree of logic with at most three leaves. At least one operation of two operands must
    /// be folded.
    pub(super) fn fold_logic(&mut self, inst: Inst) -> Option<Operation> {
        self.target.features().bfn.then_some(())?;
        let scalar = self.folds(inst)?;
        let root = self.logic(inst)?;
        // Operands of the root are folded first, as long as there are few leaves.
        let mut leaves = Leaves::new();
        let mut folded = Folded::new();
        match root {
            LogicOp::Not(a) => leaves.push(a),
            LogicOp::Two(_, a, b) => {
                leaves.push(a);
                if a != b {
                    leaves.push(b);
                }
            }
        }
        while let Some((leaf, opened)) = self.next_fold(&leaves, &folded) {
            folded.extend(opened.folded);
            leaves.retain(|l| *l != leaf);
            for v in opened.leaves {
                if !leaves.contains(&v) {
                    leaves.push(v);
                }
            }
        }
        // `not` alone does not count: instructions have it as a source modifier.
        let two = |v: &&Value| {
            let inst = self.func.dfg.def_inst(**v);
            matches!(inst.and_then(|i| self.logic(i)), Some(LogicOp::Two(..)))
        };
        folded.iter().find(two)?;
        if !leaves.iter().all(|v| self.is_direct_source(*v)) {
            return None;
        }
        let first = *leaves.first()?;
        let at = |n: usize| (leaves.get(n).copied().unwrap_or(first), ());
        let terms = self.around([at(0), at(1), at(2)])?;
        let table = self.table(inst, &terms.map(|t| t.0), &folded, 0)?;
        let ty = match scalar {
            Scalar::I16 => GenType::Uw,
            _ => GenType::Ud,
        };
        let srcs = terms.map(|(v, ())| self.third(v, ty, false));
        Some(Operation {
            subfn: Subfn::Bfn(table),
            ..Operation::new(Op::Bfn, ty, &srcs)
        })
    }

    /// Returns a leaf that can be folded, and the result: of its whole tree, or of itself alone.
    fn next_fold(&mut self, leaves: &Leaves, folded: &Folded) -> Option<(Value, FoldedLeaf)> {
        for &leaf in leaves {
            for deep in [true, false] {
                let mut opened = FoldedLeaf::default();
                self.open(leaf, deep, &mut opened);
                let others = leaves.iter().filter(|l| **l != leaf);
                let more = others.filter(|l| !opened.leaves.contains(l)).count();
                let few = more + opened.leaves.len() <= SOURCES.len();
                if !opened.folded.is_empty() && folded.len() + opened.folded.len() <= LOGIC && few {
                    return Some((leaf, opened));
                }
            }
        }
        None
    }

    /// Folds a value. Operands of logic without other uses become leaves, or, if `deep`, are folded
    /// in turn. Any other value is a leaf.
    fn open(&mut self, v: Value, deep: bool, to: &mut FoldedLeaf) {
        let more = to.folded.len() < LOGIC && to.leaves.len() <= SOURCES.len();
        let inst = if more { self.sinkable(v) } else { None };
        let operands: SmallVec<[Value; 2]> = match inst.and_then(|i| self.logic(i)) {
            Some(LogicOp::Not(a)) => SmallVec::from_slice(&[a]),
            Some(LogicOp::Two(_, a, b)) => SmallVec::from_slice(&[a, b]),
            None => return to.leaf(v),
        };
        to.folded.push(v);
        for a in operands {
            if deep {
                self.open(a, deep, to)
            } else {
                to.leaf(a)
            }
        }
    }

    /// Returns the truth table of a tree.
    fn table(&self, inst: Inst, leaves: &[Value; 3], folded: &Folded, depth: usize) -> Option<u8> {
        let of = |v: Value| -> Option<u8> {
            if let Some(n) = leaves.iter().position(|l| *l == v) {
                return SOURCES.get(n).copied();
            }
            let inst = self.func.dfg.def_inst(v)?;
            let within = depth <= LOGIC && folded.contains(&v);
            within
                .then(|| self.table(inst, leaves, folded, depth + 1))
                .flatten()
        };
        Some(match self.logic(inst)? {
            LogicOp::Not(a) => !of(a)?,
            LogicOp::Two(Opcode::Band, a, b) => of(a)? & of(b)?,
            LogicOp::Two(Opcode::Bor, a, b) => of(a)? | of(b)?,
            LogicOp::Two(_, a, b) => of(a)? ^ of(b)?,
        })
    }
}
