//! Semantics of the systolic array. `dpas` multiplies a matrix of `repeat` rows (source 2) by one
//! with a column for each channel (source 1) and adds a third (source 0).
//!
//! Rows of source 0, of source 2 and of the result are consecutive. Each register of source 1 has a
//! dword for each channel. A step of the systolic depth uses as many elements of it as an operation
//! has factors. A register of narrow elements therefore serves several steps
//! (`documentation/visa/instructions/DPAS.md` of Intel's compiler).
//!
//! Integers wrap at 32 bits. Products of floats are exact, and each step of the depth rounds the
//! partial sum to single precision, to nearest even; denormals are kept. The hardware's own order
//! of summation is not published.

use super::convert::{float_value, write_float};
use super::float::add_odd;
use super::{FpMode, Undefined};
use crate::inst::{Inst, Src, Subfn};
use crate::op::Op;
use crate::reg::Register;
use crate::types::Type;

/// Systolic operation, without the locations of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dpas {
    /// Systolic depth.
    pub depth: u8,
    /// Repeat count: number of rows.
    pub repeat: u8,
    /// Number of channels, which are columns.
    pub channels: u8,
    /// Type of the result: `d`, `ud`, `f`, `hf` or `bf`.
    pub dst: Type,
    /// Type of source 0, or `None` if it is null and adds nothing.
    pub src0: Option<Type>,
    /// Type of the elements of source 1.
    pub src1: Type,
    /// Type of the elements of source 2.
    pub src2: Type,
}

impl Dpas {
    /// Returns the operation of an instruction, or `None` if it is not systolic or lacks an
    /// operand.
    pub fn of<R: Register>(inst: &Inst<R>) -> Option<Dpas> {
        let Subfn::Dpas { depth, repeat } = inst.subfn else {
            return None;
        };
        let [src0, src1, src2] = &inst.srcs;
        let null =
            matches!(src0, Src::Direct { at, .. } if at.reg.as_phys().is_some_and(|r| r.is_null()));
        Some(Dpas {
            depth,
            repeat,
            channels: inst.exec.channels() as u8,
            dst: inst.dst.ty()?,
            src0: if null { None } else { Some(src0.ty()?) },
            src1: src1.ty()?,
            src2: src2.ty()?,
        })
    }

    /// Returns the bytes that a systolic instruction accesses from the start of each operand.
    ///
    /// The operands are sources 0, 1 and 2 in the registers of its own thread, and the destination.
    /// `grf` is the size of a GRF in bytes. The number is 0 for a null source 0, and that of the
    /// longer half for source 2 of `dpasw`. Returns `None` for other instructions.
    pub fn operand_bytes<R: Register>(inst: &Inst<R>, grf: u32) -> Option<[u32; 4]> {
        let d = Dpas::of(inst)?;
        let src2 = match inst.op {
            Op::Dpasw => d.halves(grf)[0],
            _ => d.src2_bytes(),
        };
        let src0 = d.src0.map_or(0, |ty| d.sum_bytes(ty));
        Some([src0, d.src1_bytes(), src2, d.sum_bytes(d.dst)])
    }

    /// Returns the bytes of source 2 that each of two fused threads holds, in whole GRFs of `grf`
    /// bytes. The first holds one more if the number of GRFs is odd (Intel's compiler,
    /// `documentation/visa/instructions/DPASW.md`).
    pub const fn halves(&self, grf: u32) -> [u32; 2] {
        let grfs = self.src2_bytes().div_ceil(grf);
        let first = grfs.div_ceil(2);
        [first * grf, (grfs - first) * grf]
    }

    /// Returns the number of element pairs that a channel multiplies in one step of the depth.
    pub const fn factors(&self) -> u32 {
        let (a, b) = (self.src1.bits(), self.src2.bits());
        match if a > b { a } else { b } {
            32 => 1,
            16 => 2,
            8 => 4,
            _ => 8,
        }
    }

    /// Returns the number of steps of the depth that one register of source 1 holds.
    const fn steps_of_register(&self) -> u32 {
        let n = 32 / (self.factors() * self.src1.bits());
        if n == 0 { 1 } else { n }
    }

    /// Returns the size of source 1 in bytes.
    pub const fn src1_bytes(&self) -> u32 {
        (self.depth as u32).div_ceil(self.steps_of_register()) * self.channels as u32 * 4
    }

    /// Returns the size of source 2 in bytes.
    pub const fn src2_bytes(&self) -> u32 {
        self.repeat as u32 * self.src2_row()
    }

    const fn src2_row(&self) -> u32 {
        self.depth as u32 * self.factors() * self.src2.bits() / 8
    }

    /// Returns the size of source 0 or of the result in bytes, with elements of a type.
    pub const fn sum_bytes(&self, ty: Type) -> u32 {
        self.repeat as u32 * self.channels as u32 * ty.bytes()
    }
}

/// Returns an element of any size at a bit offset, or zero beyond the end.
fn element(bytes: &[u8], bit: u32, bits: u32) -> u64 {
    let at = (bit / 8) as usize;
    let mut v = 0u64;
    for i in (0..bits.div_ceil(8) as usize).rev() {
        v = v << 8 | u64::from(bytes.get(at + i).copied().unwrap_or(0));
    }
    (v >> (bit % 8)) & (u64::MAX >> (64 - bits))
}

/// Returns the value of an integer element of any size.
fn integer(bits: u64, ty: Type) -> i64 {
    let shift = 64 - ty.bits();
    if ty.is_signed() {
        ((bits << shift) as i64) >> shift
    } else {
        bits as i64
    }
}

/// Computes the bytes of the result, `op.sum_bytes(op.dst)` of them, from the bytes of the sources.
/// Source 0 is empty if it is null.
///
/// # Errors
/// Returns an error if the array has no operation on these types.
pub fn eval(op: &Dpas, src0: &[u8], src1: &[u8], src2: &[u8]) -> Result<Vec<u8>, Undefined> {
    let float = op.src1.is_float();
    let sum = op.src0.unwrap_or(op.dst);
    let odd_bits = !op.src1.bits().is_power_of_two() || op.src1.bits() > 32;
    if float != op.src2.is_float()
        || float != op.dst.is_float()
        || float != sum.is_float()
        || odd_bits
        || (float && op.src1.bits() != op.src2.bits())
        || op.dst.bytes() < 2
    {
        return Err(Undefined(format!(
            "the systolic array has no {} of {} and {}",
            op.dst, op.src1, op.src2
        )));
    }
    let factors = op.factors();
    let per = op.steps_of_register();
    let channels = u32::from(op.channels);
    let mut out = Vec::with_capacity(op.sum_bytes(op.dst) as usize);
    for row in 0..u32::from(op.repeat) {
        for channel in 0..channels {
            let start = match op.src0 {
                Some(t) => element(src0, (row * channels + channel) * t.bits(), t.bits()),
                None => 0,
            };
            // Bits of each pair of factors, in order.
            let pairs = |step: u32| {
                let register = (step / per * channels + channel) * 32;
                let first = register + step % per * factors * op.src1.bits();
                (0..factors).map(move |f| {
                    let k = step * factors + f;
                    let at = row * op.src2_row() * 8 + k * op.src2.bits();
                    let a = element(src1, first + f * op.src1.bits(), op.src1.bits());
                    (a, element(src2, at, op.src2.bits()))
                })
            };
            let steps = 0..u32::from(op.depth);
            let bits = if float {
                let mode = &FpMode::IEEE;
                let mut acc = float_value(start, sum, mode) as f32;
                for step in steps {
                    let mut exact = 0.0;
                    for (a, b) in pairs(step) {
                        let (a, b) = (float_value(a, op.src1, mode), float_value(b, op.src2, mode));
                        exact = add_odd(a * b, exact);
                    }
                    acc = add_odd(exact, acc.into()) as f32;
                }
                write_float(acc.into(), op.dst, false, mode)
            } else {
                let mut acc = start as u32;
                for (a, b) in steps.flat_map(pairs) {
                    let product = integer(a, op.src1) * integer(b, op.src2);
                    acc = acc.wrapping_add(product as u32);
                }
                acc.into()
            };
            let bytes = bits.to_le_bytes();
            out.extend_from_slice(&bytes[..op.dst.bytes() as usize]);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sem::tests::Rng;

    fn op(src1: Type, src2: Type, dst: Type, channels: u8) -> Dpas {
        Dpas {
            depth: 8,
            repeat: 3,
            channels,
            dst,
            src0: Some(dst),
            src1,
            src2,
        }
    }

    /// Writes an element at a bit offset.
    fn put(bytes: &mut [u8], bit: u32, bits: u32, v: u64) {
        for i in 0..bits {
            let (at, b) = (((bit + i) / 8) as usize, (bit + i) % 8);
            bytes[at] = bytes[at] & !(1 << b) | ((v >> i & 1) as u8) << b;
        }
    }

    /// Compares with a textbook matrix product on matrices packed as in the manual.
    #[test]
    fn integers_multiply_as_matrices() {
        let seed = 91;
        println!("seed {seed}");
        let mut r = Rng(seed);
        let small = [
            Type::Ub,
            Type::B,
            Type::U4,
            Type::S4,
            Type::U2,
            Type::S2,
            Type::U1,
        ];
        for (t1, t2) in small.iter().flat_map(|a| small.map(|b| (*a, b))) {
            for channels in [8u8, 16] {
                let o = op(t1, t2, Type::D, channels);
                let k = 8 * o.factors();
                let n = u32::from(channels);
                let mut a = vec![0u8; o.src2_bytes() as usize];
                let mut b = vec![0u8; o.src1_bytes() as usize];
                let mut c = vec![0u8; o.sum_bytes(Type::D) as usize];
                let value = |bits: u64, t: Type| {
                    let modulus = 1i64 << t.bits();
                    let v = bits as i64;
                    if t.is_signed() && v >= modulus / 2 {
                        v - modulus
                    } else {
                        v
                    }
                };
                let mut rows = vec![vec![0; k as usize]; 3];
                for (row, x) in rows.iter_mut().enumerate() {
                    for (j, x) in x.iter_mut().enumerate() {
                        let bits = r.u64() % (1 << t2.bits());
                        let at = (row as u32 * k + j as u32) * t2.bits();
                        put(&mut a, at, t2.bits(), bits);
                        *x = value(bits, t2);
                    }
                }
                // Each column is a sequence of bits, divided into dwords of consecutive registers.
                let mut columns = vec![vec![0; k as usize]; channels.into()];
                for (col, x) in columns.iter_mut().enumerate() {
                    for (j, x) in x.iter_mut().enumerate() {
                        let bits = r.u64() % (1 << t1.bits());
                        let place = j as u32 * t1.bits();
                        let at = (place / 32 * n + col as u32) * 32 + place % 32;
                        put(&mut b, at, t1.bits(), bits);
                        *x = value(bits, t1);
                    }
                }
                for byte in &mut c {
                    *byte = r.u64() as u8;
                }
                let got = eval(&o, &c, &b, &a).unwrap();
                for (row, x) in rows.iter().enumerate() {
                    for (col, y) in columns.iter().enumerate() {
                        let at = (row * usize::from(channels) + col) * 4;
                        let int = |v: &[u8]| i32::from_le_bytes(v[at..at + 4].try_into().unwrap());
                        let dot: i64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
                        let want = i64::from(int(&c)).wrapping_add(dot) as i32;
                        assert_eq!(int(&got), want, "{t1} {t2} row {row} column {col}");
                    }
                }
            }
        }
    }

    #[test]
    fn floats_multiply_as_matrices_where_sums_are_exact() {
        let seed = 92;
        println!("seed {seed}");
        let mut r = Rng(seed);
        let all = [
            (Type::Hf, Type::F),
            (Type::Hf, Type::Hf),
            (Type::Bf, Type::F),
            (Type::Bf, Type::Bf),
            (Type::Tf32, Type::F),
            (Type::Bf8, Type::F),
            (Type::Hf8, Type::F),
        ];
        for (t, dst) in all {
            let o = op(t, t, dst, 8);
            let k = 8 * o.factors();
            let mode = &FpMode::IEEE;
            let mut a = vec![0u8; o.src2_bytes() as usize];
            let mut b = vec![0u8; o.src1_bytes() as usize];
            let (mut x, mut y) = (vec![0.0; k as usize], vec![0.0; k as usize]);
            for j in 0..k {
                // Small integers: every sum is exact, in a bfloat too.
                let mut small = || (r.u64() % 3) as f64 - 1.0;
                (x[j as usize], y[j as usize]) = (small(), small());
                let bits = |v| write_float(v, t, false, mode);
                put(&mut a, j * t.bits(), t.bits(), bits(x[j as usize]));
                let place = j * t.bits();
                // Column 5.
                let at = (place / 32 * 8 + 5) * 32 + place % 32;
                put(&mut b, at, t.bits(), bits(y[j as usize]));
            }
            let c: Vec<u8> = (0..24)
                .flat_map(|_| {
                    let two = write_float(2.0, dst, false, mode).to_le_bytes();
                    two[..dst.bytes() as usize].to_vec()
                })
                .collect();
            let got = eval(&o, &c, &b, &a).unwrap();
            let want: f64 = 2.0 + x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>();
            let at = |n: u32| float_value(element(&got, n * dst.bits(), dst.bits()), dst, mode);
            assert_eq!((at(5), at(4)), (want, 2.0), "{t} {dst}");
        }
    }

    #[test]
    fn mixed_types_are_rejected() {
        for (a, b, d) in [
            (Type::Hf, Type::B, Type::F),
            (Type::B, Type::B, Type::F),
            (Type::Hf, Type::Tf32, Type::F),
            (Type::Df, Type::Df, Type::F),
        ] {
            assert!(eval(&op(a, b, d, 8), &[], &[], &[]).is_err());
        }
    }
}
