//! Sums that end with the products of all four bytes of two doublewords: `dp4a`, where the hardware
//! has it.
//!
//! Terms may be in any order, and factors either way around; what the sum begins with is the
//! operation's third operand.

use super::EGraph;
use crate::ir::{InstData, Opcode, Scalar, Type, Value};

/// Bytes of a doubleword.
const BYTES: u32 = 4;
/// All of them, a bit each.
const ALL: u32 = (1 << BYTES) - 1;

/// A value of bytes of which each lane of a factor is one of four, and how it was widened.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Factor {
    of: Value,
    signed: bool,
}

/// A product of the same byte of two doublewords, in every lane.
struct Product {
    factors: [Factor; 2],
    byte: u32,
}

impl EGraph<'_> {
    /// What a node is as one such operation and a sum.
    pub(super) fn dot(&mut self, ty: Type, data: &InstData) -> Option<Value> {
        if ty.scalar() != Scalar::I32 || !self.facts.target.features().dp4a {
            return None;
        }
        let (Product { factors, byte }, mut rest) = self.sum(data)?;
        let mut there = 1 << byte;
        while there != ALL {
            let (next, before) = self.term(rest?)?;
            let [a, b] = next.factors;
            let same = next.factors == factors || [b, a] == factors;
            let bit = 1 << next.byte;
            if !same || there & bit != 0 {
                return None;
            }
            there |= bit;
            rest = before;
        }
        let [a, b] = factors;
        let (opcode, a, b) = match (a.signed, b.signed) {
            (true, true) => (Opcode::Sdp4a, a, b),
            (false, false) => (Opcode::Udp4a, a, b),
            (true, false) => (Opcode::Sudp4a, a, b),
            (false, true) => (Opcode::Sudp4a, b, a),
        };
        let zero = InstData::Imm {
            opcode: Opcode::Iconst,
            bits: 0,
        };
        let args = [
            self.doublewords(ty, a.of),
            self.doublewords(ty, b.of),
            match rest {
                Some(rest) => rest,
                None => self.node(ty, zero, None),
            },
        ];
        Some(self.node(ty, InstData::Ternary { opcode, args }, None))
    }

    /// The last product of a sum, and what that is added to.
    fn sum(&self, data: &InstData) -> Option<(Product, Option<Value>)> {
        match *data {
            InstData::Binary {
                opcode: Opcode::Iadd,
                args: [a, b],
            } => {
                let either = self.product(b).map(|p| (p, a));
                let (product, rest) = either.or_else(|| Some((self.product(a)?, b)))?;
                Some((product, Some(rest)))
            }
            InstData::Ternary {
                opcode: Opcode::Imad,
                args: [a, b, c],
            } => Some((self.bytes([a, b])?, Some(c))),
            _ => None,
        }
    }

    /// The same of a class, which may be a product alone.
    fn term(&self, v: Value) -> Option<(Product, Option<Value>)> {
        let mut members = self.members(v).into_iter();
        let sum = members.find_map(|m| self.sum(self.data(m)?));
        sum.or_else(|| Some((self.product(v)?, None)))
    }

    fn product(&self, v: Value) -> Option<Product> {
        let mut members = self.members(v).into_iter();
        members.find_map(|m| match *self.data(m)? {
            InstData::Binary {
                opcode: Opcode::Imul,
                args,
            } => self.bytes(args),
            _ => None,
        })
    }

    fn bytes(&self, [a, b]: [Value; 2]) -> Option<Product> {
        let ((a, byte), (b, other)) = (self.widened(a)?, self.widened(b)?);
        (byte == other).then_some(Product {
            factors: [a, b],
            byte,
        })
    }

    /// The bytes that a value is made of, and which of each four it has.
    fn widened(&self, v: Value) -> Option<(Factor, u32)> {
        let mut members = self.members(v).into_iter();
        members.find_map(|m| {
            let InstData::Unary { opcode, arg } = *self.data(m)? else {
                return None;
            };
            let signed = match opcode {
                Opcode::Sextend => true,
                Opcode::Uextend => false,
                _ => return None,
            };
            // The cheapest, since a class may have more members than are looked at.
            let best = self.best_of(arg).value;
            let mut members = self.members(arg).into_iter();
            let byte = self.byte(best);
            let (of, byte) = byte.or_else(|| members.find_map(|m| self.byte(m)))?;
            Some((Factor { of, signed }, byte))
        })
    }

    /// The bytes of which a node is one of each four.
    fn byte(&self, v: Value) -> Option<(Value, u32)> {
        let &InstData::RdRegion {
            arg, region, index, ..
        } = self.data(v)?
        else {
            return None;
        };
        let (ty, from) = (self.ty(v), self.ty(arg));
        let lanes = ty.lanes();
        let whole = ty.scalar() == Scalar::I8 && from.lanes() == BYTES * lanes;
        let byte = u32::from(region.offset);
        let each = whole
            && index.is_none()
            && byte < BYTES
            && (0..lanes).all(|l| region.element(l) == BYTES * l);
        each.then_some((arg, byte))
    }

    /// Bytes as the doublewords of a type that they are.
    fn doublewords(&mut self, ty: Type, bytes: Value) -> Value {
        let mut members = self.members(bytes).into_iter();
        let cast = members.find_map(|m| match *self.data(m)? {
            InstData::Unary {
                opcode: Opcode::Bitcast,
                arg,
            } if self.ty(arg) == ty => Some(arg),
            _ => None,
        });
        let opcode = Opcode::Bitcast;
        cast.unwrap_or_else(|| self.node(ty, InstData::Unary { opcode, arg: bytes }, None))
    }
}
