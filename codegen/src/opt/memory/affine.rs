//! Affine forms of integers: a constant plus values with factors, modulo the width.
//!
//! Two addresses with the same values and factors differ by a constant. A splat of one lane counts
//! as that lane, so that uniform terms are known.
//!
//! Each value's form is made once, from those of its operands. Chains deeper than [`DEPTH`] and
//! forms of more than [`MOST`] values count as opaque values: the work is linear.

use super::noalias::BaseArgs;
use crate::ir::{Function, InstData, Opcode, Scalar, Value};
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use smallvec::SmallVec;

/// Maximal operations that are followed from a value.
const DEPTH: u32 = 24;
/// Maximal values of a form.
const MOST: usize = 8;

/// Values and their factors, in order of value numbers.
type Terms = SmallVec<[(Value, u64); 3]>;

/// Affine form of an integer.
#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct AffineForm {
    /// Constant term.
    pub constant: u64,
    /// Uniform terms: values of one lane.
    pub uniform: Terms,
    /// Terms with as many lanes as the form.
    pub lanes: Terms,
}

impl Clone for AffineForm {
    fn clone(&self) -> AffineForm {
        AffineForm {
            constant: self.constant,
            uniform: Terms::from_slice(&self.uniform),
            lanes: Terms::from_slice(&self.lanes),
        }
    }
}

impl AffineForm {
    fn number(constant: u64) -> AffineForm {
        AffineForm {
            constant,
            ..AffineForm::default()
        }
    }

    /// Returns the form of an opaque value.
    fn value(func: &Function, v: Value) -> AffineForm {
        let mut sum = AffineForm::default();
        match func.dfg.ty(v).lanes() {
            1 => sum.uniform.push((v, 1)),
            _ => sum.lanes.push((v, 1)),
        }
        sum
    }

    /// Returns the number if the form is a constant.
    fn known(&self) -> Option<u64> {
        (self.uniform.is_empty() && self.lanes.is_empty()).then_some(self.constant)
    }

    /// Adds a multiple of another form, modulo 2^64.
    fn plus(&self, other: &AffineForm, times: u64) -> AffineForm {
        let term = |n: u64| n.wrapping_mul(times);
        AffineForm {
            constant: self.constant.wrapping_add(term(other.constant)),
            uniform: merge_terms(&self.uniform, &other.uniform, times),
            lanes: merge_terms(&self.lanes, &other.lanes, times),
        }
    }

    /// Reduces the form modulo a width; `None` if it has too many values.
    fn within(mut self, mask: u64) -> Option<AffineForm> {
        self.constant &= mask;
        for terms in [&mut self.uniform, &mut self.lanes] {
            terms.iter_mut().for_each(|t| t.1 &= mask);
            terms.retain(|t| t.1 != 0);
        }
        (self.uniform.len() + self.lanes.len() <= MOST).then_some(self)
    }
}

/// Merges two lists of terms, the second with a factor.
fn merge_terms(a: &Terms, b: &Terms, times: u64) -> Terms {
    if b.is_empty() {
        return Terms::from_slice(a);
    }
    let mut out = Terms::new();
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let term = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x.0 == y.0 => {
                let sum = (x.0, x.1.wrapping_add(y.1.wrapping_mul(times)));
                b.next();
                a.next();
                sum
            }
            (Some(x), y) if y.is_none_or(|y| x.0 < y.0) => {
                let x = **x;
                a.next();
                x
            }
            (_, Some(y)) => {
                let y = (y.0, y.1.wrapping_mul(times));
                b.next();
                y
            }
            _ => return out,
        };
        out.push(term);
    }
}

/// Affine forms of a function's values, computed on demand.
#[derive(Debug)]
pub(super) struct AffineForms {
    all: PrimaryMap<FormRef, AffineForm>,
    /// Form of each value.
    of: SecondaryMap<Value, PackedOption<FormRef>>,
    /// Base arguments of addresses.
    pub(super) base_args: BaseArgs,
}

/// Reference to a form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct FormRef(u32);
entity_impl!(FormRef, "sum");

impl AffineForms {
    /// Starts without any forms.
    pub(super) fn new(func: &Function) -> AffineForms {
        AffineForms {
            all: PrimaryMap::new(),
            of: sized(func.dfg.num_values()),
            base_args: BaseArgs::new(func),
        }
    }

    /// Returns the affine form of an integer of 32 or 64 bits.
    pub(super) fn of(&mut self, func: &Function, v: Value) -> &AffineForm {
        let n = self.number(func, v, DEPTH);
        &self.all[n]
    }

    fn number(&mut self, func: &Function, v: Value, depth: u32) -> FormRef {
        if let Some(n) = self.of[v].expand() {
            return n;
        }
        let mask = func.dfg.ty(v).scalar().mask();
        let sum = match depth {
            0 => None,
            depth => self.make(func, v, depth - 1).and_then(|s| s.within(mask)),
        };
        let sum = sum.unwrap_or_else(|| AffineForm::value(func, v));
        let n = self.all.push(sum);
        self.of[v] = n.into();
        n
    }

    fn make(&mut self, func: &Function, v: Value, depth: u32) -> Option<AffineForm> {
        let dfg = &func.dfg;
        let ty = dfg.ty(v);
        if !matches!(ty.scalar(), Scalar::I32 | Scalar::I64) {
            return None;
        }
        let data = dfg.data(dfg.def_inst(v)?);
        let mut operand = |v: Value| self.number(func, v, depth);
        match *data {
            InstData::Imm { bits, .. } => Some(AffineForm::number(bits)),
            InstData::Unary {
                opcode: Opcode::Ineg,
                arg,
            } => {
                let a = operand(arg);
                Some(AffineForm::default().plus(&self.all[a], u64::MAX))
            }
            InstData::Binary { opcode, args } => {
                let (a, b) = match opcode {
                    Opcode::Iadd | Opcode::Isub | Opcode::Imul | Opcode::Ishl => {
                        (operand(args[0]), operand(args[1]))
                    }
                    _ => return None,
                };
                let (a, b) = (&self.all[a], &self.all[b]);
                match opcode {
                    Opcode::Iadd => Some(a.plus(b, 1)),
                    Opcode::Isub => Some(a.plus(b, u64::MAX)),
                    Opcode::Imul => product(a, b),
                    _ => {
                        let count = b.known()? % u64::from(ty.scalar().bits());
                        Some(AffineForm::default().plus(a, 1 << count))
                    }
                }
            }
            InstData::Ternary {
                opcode: Opcode::Imad,
                args,
            } => {
                let [a, b, c] = args.map(operand);
                let (a, b, c) = (&self.all[a], &self.all[b], &self.all[c]);
                Some(c.plus(&product(a, b)?, 1))
            }
            InstData::RdRegion {
                arg, region, index, ..
            } if index.is_none() => {
                let from = dfg.ty(arg);
                let last = region.last_element(ty.lanes());
                let whole = from == ty && region.offset == 0 && region.is_contiguous(ty.lanes());
                // Splat of one lane.
                let spread = from.lanes() == 1 && last == 0;
                if whole || spread {
                    let n = operand(arg);
                    Some(self.all[n].clone())
                } else {
                    None
                }
            }
            _ => None,
        }
    }
}

/// Returns the product of two forms if either is a constant.
fn product(a: &AffineForm, b: &AffineForm) -> Option<AffineForm> {
    match (a.known(), b.known()) {
        (Some(n), _) => Some(AffineForm::default().plus(b, n)),
        (None, Some(n)) => Some(AffineForm::default().plus(a, n)),
        (None, None) => None,
    }
}
