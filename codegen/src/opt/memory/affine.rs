//! Integers as sums: a constant and values with factors, modulo the width.
//!
//! Two addresses of the same values and factors are a constant apart. Values of one lane that are
//! spread over all lanes count as what they are, so that it is known what is the same in every
//! lane.
//!
//! A sum is made once a value, of those of its operands; chains deeper than [`DEPTH`] and sums of
//! more than [`MOST`] values count as values of their own: the work is linear.

use super::noalias::Owners;
use crate::ir::{Function, InstData, Opcode, Scalar, Value};
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use smallvec::SmallVec;

/// The most operations that are followed from a value.
const DEPTH: u32 = 24;
/// The most values of a sum.
const MOST: usize = 8;

/// Values and their factors, by the values' numbers.
type Terms = SmallVec<[(Value, u64); 3]>;

/// A sum.
#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct Sum {
    /// The constant.
    pub constant: u64,
    /// What is the same in every lane: values of one lane.
    pub uniform: Terms,
    /// Values of as many lanes as the sum.
    pub lanes: Terms,
}

impl Clone for Sum {
    fn clone(&self) -> Sum {
        Sum {
            constant: self.constant,
            uniform: Terms::from_slice(&self.uniform),
            lanes: Terms::from_slice(&self.lanes),
        }
    }
}

impl Sum {
    fn number(constant: u64) -> Sum {
        Sum {
            constant,
            ..Sum::default()
        }
    }

    /// A value as it is.
    fn value(func: &Function, v: Value) -> Sum {
        let mut sum = Sum::default();
        match func.dfg.ty(v).lanes() {
            1 => sum.uniform.push((v, 1)),
            _ => sum.lanes.push((v, 1)),
        }
        sum
    }

    /// The number that it is, where it is one.
    fn known(&self) -> Option<u64> {
        (self.uniform.is_empty() && self.lanes.is_empty()).then_some(self.constant)
    }

    /// With another sum some times, modulo 2^64.
    fn plus(&self, other: &Sum, times: u64) -> Sum {
        let term = |n: u64| n.wrapping_mul(times);
        Sum {
            constant: self.constant.wrapping_add(term(other.constant)),
            uniform: merged(&self.uniform, &other.uniform, times),
            lanes: merged(&self.lanes, &other.lanes, times),
        }
    }

    /// Modulo a width, if it is not of too many values.
    fn within(mut self, mask: u64) -> Option<Sum> {
        self.constant &= mask;
        for terms in [&mut self.uniform, &mut self.lanes] {
            terms.iter_mut().for_each(|t| t.1 &= mask);
            terms.retain(|t| t.1 != 0);
        }
        (self.uniform.len() + self.lanes.len() <= MOST).then_some(self)
    }
}

/// Two lists of terms as one, the second so many times.
fn merged(a: &Terms, b: &Terms, times: u64) -> Terms {
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

/// The sums of a function's values.
#[derive(Debug)]
pub(super) struct Sums {
    all: PrimaryMap<Number, Sum>,
    /// By value: which it is.
    of: SecondaryMap<Value, PackedOption<Number>>,
    /// The arguments that addresses are of.
    pub(super) owners: Owners,
}

/// The number of a sum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Number(u32);
entity_impl!(Number, "sum");

impl Sums {
    /// Of none of a function's values so far.
    pub(super) fn new(func: &Function) -> Sums {
        Sums {
            all: PrimaryMap::new(),
            of: sized(func.dfg.num_values()),
            owners: Owners::new(func),
        }
    }

    /// An integer of 32 or 64 bits as a sum.
    pub(super) fn of(&mut self, func: &Function, v: Value) -> &Sum {
        let n = self.number(func, v, DEPTH);
        &self.all[n]
    }

    fn number(&mut self, func: &Function, v: Value, depth: u32) -> Number {
        if let Some(n) = self.of[v].expand() {
            return n;
        }
        let mask = func.dfg.ty(v).scalar().mask();
        let sum = match depth {
            0 => None,
            depth => self.make(func, v, depth - 1).and_then(|s| s.within(mask)),
        };
        let sum = sum.unwrap_or_else(|| Sum::value(func, v));
        let n = self.all.push(sum);
        self.of[v] = n.into();
        n
    }

    fn make(&mut self, func: &Function, v: Value, depth: u32) -> Option<Sum> {
        let dfg = &func.dfg;
        let ty = dfg.ty(v);
        if !matches!(ty.scalar(), Scalar::I32 | Scalar::I64) {
            return None;
        }
        let data = dfg.data(dfg.def_inst(v)?);
        let mut operand = |v: Value| self.number(func, v, depth);
        match *data {
            InstData::Imm { bits, .. } => Some(Sum::number(bits)),
            InstData::Unary {
                opcode: Opcode::Ineg,
                arg,
            } => {
                let a = operand(arg);
                Some(Sum::default().plus(&self.all[a], u64::MAX))
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
                        Some(Sum::default().plus(a, 1 << count))
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
                // One lane for all.
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

/// A product, where one side is a number.
fn product(a: &Sum, b: &Sum) -> Option<Sum> {
    match (a.known(), b.known()) {
        (Some(n), _) => Some(Sum::default().plus(b, n)),
        (None, Some(n)) => Some(Sum::default().plus(a, n)),
        (None, None) => None,
    }
}
