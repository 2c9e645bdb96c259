//! Integer operations at widths that the hardware lacks, by 32-bit operations and by halves.

use super::{Expander, Results, Rule};
use crate::ir::{Inst, InstData, IntCC, Opcode, Region, Scalar, Type, Value};
use crate::legalize_ops::wide::{DwordPair, half};
use crate::target::Target;
use gantry_isa_gen as isa;
use smallvec::smallvec;

/// Returns the rule for an operation on integers of a type.
pub(super) fn rule(op: Opcode, t: Scalar, target: &Target) -> Option<Rule> {
    use Opcode::*;
    let narrow = matches!(t, Scalar::I8 | Scalar::I16);
    let wide = t == Scalar::I64;
    let rotates = isa::Op::Rol.info(target.platform()).is_some();
    Some(match op {
        Smulh | Umulh if narrow => Rule::whole(narrow_high),
        Smulh | Umulh if wide => Rule::long(wide_high),
        SmulWide | UmulWide if narrow => Rule::whole(extended_product),
        SmulWide | UmulWide if !target.features().i64_alu => Rule::whole(product_of_halves),
        Sdp4a | Udp4a | Sudp4a | Sdp4aSat | Udp4aSat | Sudp4aSat if !target.features().dp4a => {
            Rule::whole(dot)
        }
        SaddSat | SsubSat if wide => Rule::masked(signed_clamp),
        UaddSat if wide => Rule::whole(unsigned_clamped_sum),
        UsubSat if wide => Rule::whole(unsigned_clamped_difference),
        Savg | Uavg if wide => Rule::whole(average),
        Shadd | Uhadd => Rule::whole(average),
        Rotl | Rotr if !(rotates && t == Scalar::I32) => Rule::whole(rotate),
        Popcnt | Clz | Bfrev if narrow => Rule::whole(narrow_bits),
        Popcnt | Clz | Bfrev if wide => Rule::masked(wide_bits),
        Ctz => Rule::masked(ctz),
        Ubfe | Sbfe if narrow => Rule::whole(narrow_field),
        Ubfe | Sbfe if wide => Rule::masked(wide_field),
        Bfmask if narrow => Rule::whole(narrow_field),
        Bfmask if wide => Rule::whole(wide_mask),
        Bfi if narrow => Rule::whole(narrow_insert),
        Bfi if wide => Rule::whole(wide_insert),
        Iaddc | Isubb if narrow => Rule::whole(narrow_carry),
        Iaddc | Isubb if wide => Rule::masked(wide_carry),
        Sdiv | Udiv | Srem | Urem if narrow => Rule::whole(narrow_quotient),
        _ => return None,
    })
}

/// Returns the extension that preserves the value of an operation's operands.
fn extension(op: Opcode) -> Opcode {
    use Opcode::*;
    match op {
        Smulh | SmulWide | Sdiv | Srem | Sbfe => Sextend,
        _ => Uextend,
    }
}

impl Expander<'_> {
    /// Extends the lanes to dwords.
    fn dwords(&mut self, extend: Opcode, v: Value) -> Value {
        let ty = Type::clamped(Scalar::I32, self.ty(v).lanes());
        self.to(extend, ty, v)
    }

    /// Returns the bits of an integer constant.
    pub(super) fn constant(&self, v: Value) -> Option<u64> {
        match *self.func.dfg.data(self.func.dfg.def_inst(v)?) {
            InstData::Imm { bits, .. } => Some(bits),
            _ => None,
        }
    }

    /// Returns a byte of each dword. If the dwords were assembled from four byte vectors, it is one
    /// of these; otherwise a region.
    fn byte_of(&mut self, dwords: Value, n: u16) -> Value {
        let lanes = self.ty(dwords).lanes();
        let ty = Type::clamped(Scalar::I8, lanes);
        let def = |v| Some(*self.func.dfg.data(self.func.dfg.def_inst(v)?));
        let mut whole = match def(dwords) {
            Some(InstData::Unary {
                opcode: Opcode::Bitcast,
                arg,
            }) => Some(arg),
            _ => None,
        };
        for _ in 0..4 {
            let Some(InstData::WrRegion {
                args: [old, new],
                region,
                index,
                mask,
                ..
            }) = whole.and_then(def)
            else {
                break;
            };
            let each = region == Region::new(4, 1, 0, region.offset);
            if !each || self.ty(new) != ty || index.is_some() || mask.is_some() {
                break;
            }
            if region.offset == n {
                return new;
            }
            whole = Some(old);
        }
        let bytes = Type::clamped(Scalar::I8, 4 * lanes);
        let all = self.to(Opcode::Bitcast, bytes, dwords);
        self.region(ty, all, Region::new(4, 1, 0, n))
    }

    /// Appends a shift by a constant.
    pub(super) fn shift(&mut self, op: Opcode, v: Value, count: u32) -> Value {
        let count = self.int(self.ty(v), count.into());
        self.bin(op, v, count)
    }

    fn shape(&self, inst: Inst) -> (Opcode, Type) {
        (self.func.dfg.data(inst).opcode(), self.result(inst))
    }

    /// Returns the leading zeros of a 64-bit number, as dwords.
    pub(super) fn clz_of(&mut self, p: DwordPair) -> Value {
        let ty = self.ty(p.high);
        let (a, b) = (self.un(Opcode::Clz, p.high), self.un(Opcode::Clz, p.low));
        let (zero, width) = (self.int(ty, 0), self.int(ty, 32));
        let none = self.icmp(IntCC::Equal, p.high, zero);
        let b = self.bin(Opcode::Iadd, b, width);
        self.select(none, b, a)
    }

    /// Returns the upper half of the product of unsigned 64-bit numbers.
    pub(super) fn umulh_64(&mut self, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        let (a, b) = (self.split(a), self.split(b));
        let top = self.bin(Opcode::Umulh, a.low, b.low);
        let mut wide = |x, y| {
            let (opcode, args) = (Opcode::UmulWide, [x, y]);
            self.one(InstData::Binary { opcode, args }, Some(ty))
        };
        let (p, q, r) = (
            wide(a.low, b.high),
            wide(a.high, b.low),
            wide(a.high, b.high),
        );
        let top = self.to(Opcode::Uextend, ty, top);
        let p = self.bin(Opcode::Iadd, p, top);
        let p = self.split(p);
        let low = self.to(Opcode::Uextend, ty, p.low);
        let q = self.bin(Opcode::Iadd, q, low);
        let q = self.split(q);
        let (x, y) = (
            self.to(Opcode::Uextend, ty, p.high),
            self.to(Opcode::Uextend, ty, q.high),
        );
        let r = self.bin(Opcode::Iadd, r, x);
        self.bin(Opcode::Iadd, r, y)
    }
}

fn narrow_high(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = e.shape(inst);
    let args: [Value; 2] = e.args(inst);
    let [a, b] = args.map(|v| e.dwords(extension(op), v));
    let product = e.bin(Opcode::Imul, a, b);
    let high = e.shift(Opcode::Ushr, product, ty.scalar().bits());
    smallvec![e.to(Opcode::Ireduce, ty, high)]
}

/// Computes the signed upper half from the unsigned one, minus the excess of each sign bit.
fn wide_high(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, _) = e.shape(inst);
    let [a, b] = e.args(inst);
    let mut high = e.umulh_64(a, b);
    if op == Opcode::Smulh {
        for (x, y) in [(a, b), (b, a)] {
            let sign = e.signs(x);
            let excess = e.bin(Opcode::Band, sign, y);
            high = e.bin(Opcode::Isub, high, excess);
        }
    }
    smallvec![high]
}

fn extended_product(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = e.shape(inst);
    let args: [Value; 2] = e.args(inst);
    let [a, b] = args.map(|v| e.to(extension(op), ty, v));
    smallvec![e.bin(Opcode::Imul, a, b)]
}

fn product_of_halves(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, _) = e.shape(inst);
    let [a, b] = e.args(inst);
    let upper = match op {
        Opcode::SmulWide => Opcode::Smulh,
        _ => Opcode::Umulh,
    };
    let (low, high) = (e.bin(Opcode::Imul, a, b), e.bin(upper, a, b));
    smallvec![e.join(DwordPair { low, high })]
}

/// Sums four products of bytes.
fn dot(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = e.shape(inst);
    let [a, b, more] = e.args(inst);
    let (first, second) = match op {
        Opcode::Sdp4a | Opcode::Sdp4aSat => (Opcode::Sextend, Opcode::Sextend),
        Opcode::Udp4a | Opcode::Udp4aSat => (Opcode::Uextend, Opcode::Uextend),
        _ => (Opcode::Sextend, Opcode::Uextend),
    };
    let add = match op {
        Opcode::Sdp4aSat | Opcode::Sudp4aSat => Opcode::SaddSat,
        Opcode::Udp4aSat => Opcode::UaddSat,
        _ => Opcode::Iadd,
    };
    // Products of bytes are far from the limits of a dword: only the last sum is clamped.
    let mut sum = (add == Opcode::Iadd).then_some(more);
    for n in 0..4 {
        let mut byte = |v, extend| {
            let byte = e.byte_of(v, n);
            e.to(extend, ty, byte)
        };
        let (x, y) = (byte(a, first), byte(b, second));
        let product = e.bin(Opcode::Imul, x, y);
        sum = Some(match sum {
            Some(sum) => e.bin(Opcode::Iadd, sum, product),
            None => product,
        });
    }
    let sum = sum.unwrap_or(more);
    smallvec![match add {
        Opcode::Iadd => sum,
        _ => e.bin(add, sum, more),
    }]
}

/// Clamps a sum or difference on overflow. A sum overflows if its sign differs from both operands'.
/// A difference overflows if its sign differs from the first operand's and the operands' signs
/// differ.
fn signed_clamp(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, _) = e.shape(inst);
    let [a, b] = e.args(inst);
    let (plain, other) = match op {
        Opcode::SaddSat => {
            let sum = e.bin(Opcode::Iadd, a, b);
            (sum, sum)
        }
        _ => (e.bin(Opcode::Isub, a, b), a),
    };
    let (x, y, o, c) = (e.split(a), e.split(b), e.split(other), e.split(plain));
    let away = e.bin(Opcode::Bxor, x.high, c.high);
    let apart = e.bin(Opcode::Bxor, y.high, o.high);
    let over = e.bin(Opcode::Band, away, apart);
    let zero = e.int(e.ty(over), 0);
    let over = e.icmp(IntCC::SignedLessThan, over, zero);
    // Largest number, or smallest if the first operand is negative.
    let sign = e.shift(Opcode::Sshr, x.high, 31);
    let most = e.int(e.ty(sign), i32::MAX.into());
    let limit = DwordPair {
        low: e.un(Opcode::Bnot, sign),
        high: e.bin(Opcode::Bxor, sign, most),
    };
    let limit = e.join(limit);
    smallvec![e.select(over, limit, plain)]
}

/// Limits the first operand so that the sum does not overflow.
fn unsigned_clamped_sum(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [a, b] = e.args(inst);
    let room = e.un(Opcode::Bnot, b);
    let a = e.bin(Opcode::Umin, a, room);
    smallvec![e.bin(Opcode::Iadd, a, b)]
}

fn unsigned_clamped_difference(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [a, b] = e.args(inst);
    let a = e.bin(Opcode::Umax, a, b);
    smallvec![e.bin(Opcode::Isub, a, b)]
}

/// Averages as common bits plus half of the differing bits, or as all bits minus that half.
fn average(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, _) = e.shape(inst);
    let [a, b] = e.args(inst);
    let right = match op {
        Opcode::Savg | Opcode::Shadd => Opcode::Sshr,
        _ => Opcode::Ushr,
    };
    let one = e.bin(Opcode::Bxor, a, b);
    let rest = e.shift(right, one, 1);
    smallvec![match op {
        Opcode::Savg | Opcode::Uavg => {
            let any = e.bin(Opcode::Bor, a, b);
            e.bin(Opcode::Isub, any, rest)
        }
        _ => {
            let both = e.bin(Opcode::Band, a, b);
            e.bin(Opcode::Iadd, both, rest)
        }
    }]
}

/// Rotates by two shifts, whose counts are modulo the width.
fn rotate(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = e.shape(inst);
    let [a, count] = e.args(inst);
    let rest = match e.constant(count) {
        Some(n) => e.int(ty, (n as i64).wrapping_neg()),
        None => e.un(Opcode::Ineg, count),
    };
    let (left, right) = match op {
        Opcode::Rotl => (count, rest),
        _ => (rest, count),
    };
    let up = e.bin(Opcode::Ishl, a, left);
    let down = e.bin(Opcode::Ushr, a, right);
    smallvec![e.bin(Opcode::Bor, up, down)]
}

fn narrow_bits(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = e.shape(inst);
    let [x] = e.args(inst);
    let wide = e.dwords(Opcode::Uextend, x);
    let r = e.un(op, wide);
    let more = 32 - ty.scalar().bits();
    let r = match op {
        Opcode::Clz => {
            let more = e.int(e.ty(r), more.into());
            e.bin(Opcode::Isub, r, more)
        }
        Opcode::Bfrev => e.shift(Opcode::Ushr, r, more),
        _ => r,
    };
    smallvec![e.to(Opcode::Ireduce, ty, r)]
}

fn wide_bits(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = e.shape(inst);
    let [x] = e.args(inst);
    let p = e.split(x);
    let count = match op {
        Opcode::Clz => e.clz_of(p),
        Opcode::Popcnt => {
            let (a, b) = (e.un(op, p.low), e.un(op, p.high));
            e.bin(Opcode::Iadd, a, b)
        }
        _ => {
            let (low, high) = (e.un(op, p.high), e.un(op, p.low));
            return smallvec![e.join(DwordPair { low, high })];
        }
    };
    smallvec![e.to(Opcode::Uextend, ty, count)]
}

fn ctz(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (_, ty) = e.shape(inst);
    let [x] = e.args(inst);
    let first = |e: &mut Expander<'_>, x| {
        // `fbl` of 0 is -1.
        let n = e.un(Opcode::Fbl, x);
        let most = e.int(e.ty(n), 32);
        e.bin(Opcode::Umin, n, most)
    };
    smallvec![match ty.scalar() {
        Scalar::I32 => first(e, x),
        Scalar::I64 => {
            let p = e.split(x);
            let (a, b) = (first(e, p.low), first(e, p.high));
            let (zero, width) = (e.int(e.ty(a), 0), e.int(e.ty(a), 32));
            let none = e.icmp(IntCC::Equal, p.low, zero);
            let b = e.bin(Opcode::Iadd, b, width);
            let n = e.select(none, b, a);
            e.to(Opcode::Uextend, ty, n)
        }
        t => {
            let wide = e.dwords(Opcode::Uextend, x);
            let end = e.int(e.ty(wide), 1 << t.bits());
            let wide = e.bin(Opcode::Bor, wide, end);
            let n = e.un(Opcode::Fbl, wide);
            e.to(Opcode::Ireduce, ty, n)
        }
    }]
}

/// Computes bit fields and masks of narrow types, within 32 bits. Bits beyond the value are zeros
/// or its sign.
fn narrow_field(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = e.shape(inst);
    let [width, offset, x] = e.args(inst);
    let last = i64::from(ty.scalar().bits()) - 1;
    let [width, offset] = [width, offset].map(|v| {
        let v = e.dwords(Opcode::Uextend, v);
        let last = e.int(e.ty(v), last);
        e.bin(Opcode::Band, v, last)
    });
    let field = match op {
        Opcode::Bfmask => e.bin(op, width, offset),
        _ => {
            let x = e.dwords(extension(op), x);
            e.ter(op, width, offset, x)
        }
    };
    smallvec![e.to(Opcode::Ireduce, ty, field)]
}

/// Returns `width` ones, and 0 for a width of 0.
fn ones(e: &mut Expander<'_>, width: Value) -> Value {
    let one = e.int(e.ty(width), 1);
    let bit = e.bin(Opcode::Ishl, one, width);
    e.bin(Opcode::Isub, bit, one)
}

fn wide_field(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = e.shape(inst);
    let [width, offset, x] = e.args(inst);
    if op == Opcode::Ubfe {
        let x = e.bin(Opcode::Ushr, x, offset);
        let ones = ones(e, width);
        return smallvec![e.bin(Opcode::Band, x, ones)];
    }
    let x = e.bin(Opcode::Sshr, x, offset);
    let up = e.un(Opcode::Ineg, width);
    let top = e.bin(Opcode::Ishl, x, up);
    let field = e.bin(Opcode::Sshr, top, up);
    let low = e.split(width).low;
    let (last, none) = (e.int(e.ty(low), 63), e.int(e.ty(low), 0));
    let low = e.bin(Opcode::Band, low, last);
    let empty = e.icmp(IntCC::Equal, low, none);
    let zero = e.int(ty, 0);
    smallvec![e.select(empty, zero, field)]
}

fn wide_mask(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [width, offset] = e.args(inst);
    let ones = ones(e, width);
    smallvec![e.bin(Opcode::Ishl, ones, offset)]
}

fn narrow_insert(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = e.shape(inst);
    let args: [Value; 3] = e.args(inst);
    let [mask, field, x] = args.map(|v| e.dwords(Opcode::Uextend, v));
    let r = e.ter(op, mask, field, x);
    smallvec![e.to(Opcode::Ireduce, ty, r)]
}

fn wide_insert(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [mask, field, x] = e.args(inst);
    let first = e.un(Opcode::Ctz, mask);
    let field = e.bin(Opcode::Ishl, field, first);
    let field = e.bin(Opcode::Band, field, mask);
    let rest = e.un(Opcode::Bnot, mask);
    let x = e.bin(Opcode::Band, x, rest);
    smallvec![e.bin(Opcode::Bor, field, x)]
}

fn narrow_carry(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = e.shape(inst);
    let args: [Value; 2] = e.args(inst);
    let [a, b] = args.map(|v| e.dwords(Opcode::Uextend, v));
    let (all, carry) = match op {
        Opcode::Iaddc => {
            let sum = e.bin(Opcode::Iadd, a, b);
            (sum, e.shift(Opcode::Ushr, sum, ty.scalar().bits()))
        }
        _ => {
            let difference = e.bin(Opcode::Isub, a, b);
            (difference, e.shift(Opcode::Ushr, difference, 31))
        }
    };
    smallvec![
        e.to(Opcode::Ireduce, ty, all),
        e.to(Opcode::Ireduce, ty, carry)
    ]
}

fn wide_carry(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = e.shape(inst);
    let [a, b] = e.args(inst);
    let (all, carry) = match op {
        Opcode::Iaddc => {
            let sum = e.bin(Opcode::Iadd, a, b);
            (sum, e.icmp(IntCC::UnsignedLessThan, sum, a))
        }
        _ => (
            e.bin(Opcode::Isub, a, b),
            e.icmp(IntCC::UnsignedLessThan, a, b),
        ),
    };
    let (one, zero) = (e.int(ty, 1), e.int(ty, 0));
    smallvec![all, e.select(carry, one, zero)]
}

fn narrow_quotient(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = e.shape(inst);
    let args: [Value; 2] = e.args(inst);
    let [a, b] = args.map(|v| e.dwords(extension(op), v));
    let r = e.bin(op, a, b);
    smallvec![e.to(Opcode::Ireduce, ty, r)]
}

impl Expander<'_> {
    /// Returns the sign of 64-bit integers in every bit.
    pub(super) fn signs(&mut self, v: Value) -> Value {
        let lanes = self.ty(v).lanes();
        let both = self.to(Opcode::Bitcast, Type::clamped(Scalar::I32, 2 * lanes), v);
        let high = self.region(Type::clamped(Scalar::I32, lanes), both, half(true));
        let sign = self.shift(Opcode::Sshr, high, 31);
        self.join(DwordPair {
            low: sign,
            high: sign,
        })
    }
}
