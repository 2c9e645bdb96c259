//! Vectors that are used in parts: operations with some demanded lanes, and equal operations on
//! several elements or parts.

use super::generate::Gen;
use crate::ir::{InstData, IntCC, Opcode, Region, Scalar, Type, Value};

/// Maximum bytes of a vector whose lanes are read in part.
const MAX_BYTES: u32 = 256;

/// Cheap operations on integers of one type.
const INT_OPS: [Opcode; 8] = [
    Opcode::Iadd,
    Opcode::Isub,
    Opcode::Imul,
    Opcode::Band,
    Opcode::Bxor,
    Opcode::Ishl,
    Opcode::Ushr,
    Opcode::Smax,
];
/// Cheap operations on floats of one type.
const FLOAT_OPS: [Opcode; 4] = [Opcode::Fadd, Opcode::Fsub, Opcode::Fmul, Opcode::Fmax];

impl Gen<'_, '_, '_> {
    fn operation(&mut self, scalar: Scalar) -> Option<Opcode> {
        let opcode = if scalar.is_float() {
            self.rng.pick(&FLOAT_OPS)
        } else {
            self.rng.pick(&INT_OPS)
        }?;
        (!self.options.without.contains(&opcode)).then_some(opcode)
    }

    fn binary(&mut self, opcode: Opcode, args: [Value; 2]) -> Option<Value> {
        let data = InstData::Binary { opcode, args };
        self.b.ins().raw(data, None).first().copied()
    }

    /// Generates operations on wide vectors, sometimes loop-carried, of which some lanes are read.
    pub(super) fn read_in_part(&mut self) {
        let scalar = self.data();
        let lanes = self.rng.pick(&[12, 16, 24, 32, 64]).unwrap_or(32);
        let lanes = lanes.min(MAX_BYTES / scalar.bytes().max(1));
        let ty = Type::clamped(scalar, lanes);
        let first = self.value(ty);
        let other = self.value(ty);
        let last = if self.memory && self.rng.one_in(3) {
            self.carried(first, other)
        } else {
            self.wide_steps(first, other)
        };
        for _ in 0..1 + self.rng.below(2) {
            let (part, region) = self.lanes_of(ty, false);
            let v = self.b.ins().rdregion(ty.by(part), last, region);
            self.keep(&[v]);
        }
        // Sometimes all lanes are needed.
        if self.rng.one_in(6) {
            self.pool.push(last);
        }
    }

    /// Reads parts of a vector, at any offset.
    pub(super) fn parts_of(&mut self, v: Value) {
        let ty = self.b.ty(v);
        for _ in 0..1 + self.rng.below(3) {
            let (part, mut region) = self.lanes_of(ty, false);
            if self.rng.one_in(2) {
                let part = part.min(ty.lanes());
                let bytes = ty.scalar().bytes();
                let at = self.rng.below(ty.lanes() / part) * part * bytes;
                region = Region::contiguous(part as u16, at as u16);
            }
            let v = self.b.ins().rdregion(ty.by(part), v, region);
            self.keep(&[v]);
        }
    }

    /// Returns a result for a subroutine. It includes a part of one of some vectors, if one has the
    /// same scalar type.
    pub(super) fn result(&mut self, ty: Type, of: &[Value]) -> Value {
        let v = self.value(ty);
        let alike = |w: &&Value| {
            let of = self.b.ty(**w);
            of.scalar() == ty.scalar() && of.lanes() >= ty.lanes()
        };
        let alike: Vec<Value> = of.iter().filter(alike).copied().collect();
        let Some(whole) = self.rng.pick(&alike) else {
            return v;
        };
        let slack = self.b.ty(whole).lanes() - ty.lanes();
        let at = if self.rng.one_in(2) {
            self.rng.below(slack + 1)
        } else {
            slack / ty.lanes() * ty.lanes()
        };
        let region = Region::contiguous(ty.lanes() as u16, (at * ty.scalar().bytes()) as u16);
        let part = self.b.ins().rdregion(ty, whole, region);
        if ty.scalar().is_int() {
            self.b.ins().bxor(v, part)
        } else {
            part
        }
    }

    /// Returns a region of some lanes of a vector, often the first half or quarter. With `once` no
    /// lane is repeated.
    fn lanes_of(&mut self, ty: Type, once: bool) -> (u32, Region) {
        let lanes = ty.lanes();
        if self.rng.one_in(2) {
            let part = (lanes >> (1 + self.rng.below(2))).clamp(1, 16);
            let at = part * self.rng.below(2) * ty.scalar().bytes();
            return (part, Region::contiguous(part as u16, at as u16));
        }
        let part = 1 + self.rng.below(lanes.min(8));
        (part, self.region(ty, part, 0, once))
    }

    /// Generates lane-wise operations on a vector, and writes of some lanes.
    fn wide_steps(&mut self, first: Value, other: Value) -> Value {
        let ty = self.b.ty(first);
        let mut v = first;
        for _ in 0..1 + self.rng.below(4) {
            v = match self.rng.below(4) {
                0 => {
                    let (part, region) = self.lanes_of(ty, true);
                    let new = self.value(ty.by(part));
                    let mask = if self.rng.one_in(2) {
                        Some(self.value(Type::clamped(Scalar::B1, part)))
                    } else {
                        None
                    };
                    self.b.ins().wrregion_at(v, region, None, new, mask)
                }
                1 if ty.lanes() <= Type::MAX_PRED_LANES && ty.scalar().is_int() => {
                    let cond = self.rng.pick(&IntCC::ALL).unwrap_or(IntCC::Equal);
                    let mask = self.b.ins().icmp(cond, v, other);
                    self.b.ins().select(mask, other, v)
                }
                _ => {
                    let made = self
                        .operation(ty.scalar())
                        .and_then(|op| self.binary(op, [v, other]));
                    made.unwrap_or(v)
                }
            };
        }
        v
    }

    /// Does the same in a loop of a few iterations.
    fn carried(&mut self, first: Value, other: Value) -> Value {
        let word = Type::scalar_of(Scalar::I32);
        let rounds = i64::from(1 + self.rng.below(3));
        let number = self.b.ins().iconst(word, rounds);
        let number = self.b.var(number);
        let all = self.b.var(first);
        let [body, end] = [(); 2].map(|()| self.b.create_block());
        self.b.ins().jump(body, &[]);
        self.b.switch_to_block(body);
        let v = self.b.use_var(all);
        let v = self.wide_steps(v, other);
        self.b.def_var_all_lanes(all, v);
        let (n, one) = (self.b.use_var(number), self.b.ins().iconst(word, 1));
        let n = self.b.ins().isub(n, one);
        self.b.def_var_all_lanes(number, n);
        let zero = self.b.ins().iconst(word, 0);
        let more = self.b.ins().icmp(IntCC::NotEqual, n, zero);
        self.b.ins().brif(more, body, &[], end, &[]);
        self.b.seal_block(body);
        self.b.seal_block(end);
        self.b.switch_to_block(end);
        self.b.use_var(all)
    }

    /// Generates equal operations on several elements of a vector (SLP). The other operand is one
    /// value, constants, or elements of another vector.
    pub(super) fn on_elements(&mut self) {
        let scalar = self.data();
        let size = scalar.bytes().max(1) as u16;
        let lanes = self.rng.pick(&[4, 8, 16]).unwrap_or(8);
        let ty = Type::clamped(scalar, lanes);
        let one = Type::scalar_of(scalar);
        let (of, with) = (self.value(ty), self.value(ty));
        let step = 1 + self.rng.below(2);
        let most = (lanes - 1) / step;
        let count = 2 + self.rng.below(most.min(6));
        let first = self.rng.below(lanes - (count - 1).min(most) * step);
        let mut values: Vec<(Value, u16)> = Vec::new();
        for n in 0..count.min(most + 1) {
            let at = ((first + n * step) as u16) * size;
            let v = self.b.ins().rdregion(one, of, Region::contiguous(1, at));
            if !self.rng.one_in(8) {
                values.push((v, at));
            }
        }
        let mut ty = one;
        if scalar.is_int() && scalar.bytes() < 4 && self.rng.one_in(2) {
            ty = Type::scalar_of(Scalar::I32);
            let opcode = self.rng.pick(&[Opcode::Sextend, Opcode::Uextend]);
            let opcode = opcode.unwrap_or(Opcode::Uextend);
            for (v, _) in &mut values {
                let data = InstData::Unary { opcode, arg: *v };
                if let Some(&wide) = self.b.ins().raw(data, Some(ty)).first() {
                    *v = wide;
                }
            }
        }
        for _ in 0..1 + self.rng.below(3) {
            let Some(opcode) = self.operation(ty.scalar()) else {
                continue;
            };
            let way = self.rng.below(3);
            let same = self.value(ty);
            for (v, at) in &mut values {
                let other = match way {
                    0 => same,
                    1 if ty == one => self.b.ins().rdregion(one, with, Region::contiguous(1, *at)),
                    _ => {
                        let bits = u64::from(self.rng.below(8));
                        self.b.ins().imm(ty, bits)
                    }
                };
                if let Some(made) = self.binary(opcode, [*v, other]) {
                    *v = made;
                }
            }
        }
        let values: Vec<Value> = values.into_iter().map(|(v, _)| v).collect();
        self.keep(&values);
        if self.memory {
            for &v in &values {
                self.show(v);
            }
        }
    }

    /// Generates equal operations on parts of several lanes. The other operand is one value, a
    /// constant, a part of another vector, or one of its elements in all lanes. The results are
    /// written back, mostly in order.
    pub(super) fn on_parts(&mut self) {
        let scalar = self.data();
        let size = scalar.bytes().max(1);
        let part = self.rng.pick(&[2, 4, 8, 16]).unwrap_or(4);
        let count = 2 + self.rng.below(3);
        let most = Type::clamped(scalar, MAX_BYTES / size).lanes();
        if part * count > most {
            return;
        }
        let (whole, ty) = (
            Type::clamped(scalar, part * count),
            Type::clamped(scalar, part),
        );
        let (of, with) = (self.value(whole), self.value(whole));
        let at = |n: u32| (n * part * size) as u16;
        let mut values: Vec<Value> = Vec::new();
        for n in 0..count {
            let region = Region::contiguous(part as u16, at(n));
            values.push(self.b.ins().rdregion(ty, of, region));
        }
        for _ in 0..1 + self.rng.below(3) {
            let Some(opcode) = self.operation(scalar) else {
                continue;
            };
            let (way, same) = (self.rng.below(4), self.value(ty));
            let step = self.rng.below(3);
            for (n, v) in (0..count).zip(&mut values) {
                let other = match way {
                    0 => same,
                    1 => {
                        let bits = u64::from(self.rng.below(8));
                        self.b.ins().imm(ty, bits)
                    }
                    2 => {
                        let region = Region::contiguous(part as u16, at(n));
                        self.b.ins().rdregion(ty, with, region)
                    }
                    _ => {
                        let element = (n * step % (part * count)) * size;
                        self.b
                            .ins()
                            .rdregion(ty, with, Region::scalar(element as u16))
                    }
                };
                if let Some(made) = self.binary(opcode, [*v, other]) {
                    *v = made;
                }
            }
        }
        if self.rng.one_in(4) {
            self.keep(&values);
            return;
        }
        let turned = self.rng.one_in(4);
        let mut all = self.value(whole);
        for (n, &v) in (0..count).zip(&values) {
            let to = if turned { count - 1 - n } else { n };
            let region = Region::contiguous(part as u16, at(to));
            all = self.b.ins().wrregion(all, region, v);
        }
        self.keep(&[all]);
    }
}
