//! Recognition of `dp4a`: a sum that ends with the products of all four bytes of two dwords, where
//! the hardware has it.
//!
//! Terms may be in any order, as may the factors of each. The rest of the sum is the third operand
//! of the operation.

use super::EGraph;
use crate::ir::{InstData, Opcode, Scalar, Type, Value};

/// Bytes of a dword.
const BYTES: u32 = 4;
/// Mask of all bytes of a dword.
const ALL: u32 = (1 << BYTES) - 1;

/// Byte vector that a factor reads every fourth byte of, and the signedness of its extension.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Factor {
    of: Value,
    signed: bool,
}

/// Product of the same byte of two dwords, in every lane.
struct Product {
    factors: [Factor; 2],
    byte: u32,
}

impl EGraph<'_> {
    /// Returns the `dp4a` that a node is equal to, if any.
    pub(super) fn dot_product(&mut self, ty: Type, data: &InstData) -> Option<Value> {
        if ty.scalar() != Scalar::I32 || !self.ctx.target.features().dp4a {
            return None;
        }
        let (Product { factors, byte }, mut rest) = self.sum(data)?;
        let mut seen = 1 << byte;
        while seen != ALL {
            let (next, before) = self.term(rest?)?;
            let [a, b] = next.factors;
            let same = next.factors == factors || [b, a] == factors;
            let bit = 1 << next.byte;
            if !same || seen & bit != 0 {
                return None;
            }
            seen |= bit;
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
            self.as_dwords(ty, a.of),
            self.as_dwords(ty, b.of),
            match rest {
                Some(rest) => rest,
                None => self.node(ty, zero, None),
            },
        ];
        Some(self.node(ty, InstData::Ternary { opcode, args }, None))
    }

    /// Splits a sum into its last product and the rest.
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

    /// Splits a class, which may be a product without a sum.
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

    /// Returns the bytes that a value extends, and the byte of each four.
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
            // The cheapest node first: a class may have more members than are visited.
            let best = self.best_of(arg).value;
            let mut members = self.members(arg).into_iter();
            let byte = self.byte(best);
            let (of, byte) = byte.or_else(|| members.find_map(|m| self.byte(m)))?;
            Some((Factor { of, signed }, byte))
        })
    }

    /// Returns the byte vector that a node reads every fourth byte of, and the first byte.
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

    /// Returns bytes as the dwords of a type.
    fn as_dwords(&mut self, ty: Type, bytes: Value) -> Value {
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
