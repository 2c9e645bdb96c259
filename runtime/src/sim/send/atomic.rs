//! Atomics: every channel updates an element at its own address in one step.

use super::super::thread::Thread;
use super::Payload;
use super::scatter::{AddressForm, channels};
use super::window::Window;
use gantry_isa_gen::message::{AtomicOp, FloatAtomicOp};
use gantry_isa_gen::sem;
use half::f16;

/// Update that an atomic performs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AtomicUpdate {
    Int(AtomicOp),
    Float(FloatAtomicOp),
    /// None: the old value is written again.
    Load,
}

impl AtomicUpdate {
    /// Returns the number of data operands.
    pub(super) fn sources(self) -> u32 {
        match self {
            AtomicUpdate::Int(op) => op.sources(),
            AtomicUpdate::Float(op) => op.sources(),
            AtomicUpdate::Load => 0,
        }
    }

    /// Returns the value written to an element of `bytes` bytes.
    #[inline(always)]
    pub(super) fn apply(self, old: u64, a: u64, b: u64, bytes: u32) -> u64 {
        match self {
            AtomicUpdate::Int(op) => integer(op, old, a, b, bytes * 8),
            AtomicUpdate::Float(op) => float(op, old, a, b, bytes),
            AtomicUpdate::Load => old,
        }
    }

    /// Returns the value in the response.
    #[inline(always)]
    pub(super) fn returned(self, old: u64, a: u64, b: u64, bytes: u32) -> u64 {
        match self {
            AtomicUpdate::Int(AtomicOp::PreDec) => self.apply(old, a, b, bytes),
            _ => old,
        }
    }
}

/// Atomic message.
pub(super) struct Atomic {
    pub(super) update: AtomicUpdate,
    /// Bytes of an element in memory: 2, 4 or 8.
    pub(super) bytes: u32,
    /// Bytes of an element in registers: 4 or 8.
    pub(super) register: u32,
    pub(super) channels: u32,
    pub(super) addresses: AddressForm,
    /// Bytes between rows of the data and of the response.
    pub(super) row: u32,
    /// True if a value is returned.
    pub(super) returns: bool,
}

impl Atomic {
    pub(super) fn run(
        &self,
        t: &mut Thread,
        window: &Window<'_>,
        p: &Payload,
        mask: u32,
    ) -> Result<(), String> {
        let mask = mask & sem::mask(self.channels as usize);
        // Two elements are compared and written as one.
        let pair = self.update == AtomicUpdate::Int(AtomicOp::CmpWr2W);
        let bytes = self.bytes << u32::from(pair);
        let n = u64::from(bytes);
        // Addresses and data are read before anything is written: a response may go to their
        // registers.
        let mut addresses = [0; 32];
        self.addresses
            .read(&t.regs, p.address, self.channels, &mut addresses);
        let mut operands = [[0; 32]; 2];
        let rows = self.update.sources();
        let bits = self.bytes * 8;
        let low = u64::MAX >> (64 - bits);
        for (k, o) in operands.iter_mut().enumerate() {
            let k = k as u32;
            for i in channels(mask) {
                let part = |row| {
                    if row < rows {
                        let at = p.data + row * self.row + i * self.register;
                        t.regs.element(at, self.register) & low
                    } else {
                        0
                    }
                };
                o[i as usize] = if pair {
                    part(2 * k) | part(2 * k + 1) << bits
                } else {
                    part(k)
                };
            }
        }
        let moved = u64::from(mask.count_ones()) * n;
        t.counts.bytes_read += moved;
        t.counts.bytes_written += moved;
        for i in channels(mask) {
            let c = i as usize;
            let address = addresses[c];
            if !address.is_multiple_of(n) {
                return Err(format!(
                    "an atomic of {n} bytes at {address:#x}, which is not aligned to them"
                ));
            }
            let (a, b) = (operands[0][c], operands[1][c]);
            let f = |old| self.update.apply(old, a, b, bytes);
            let old = match window.at(address, n, None, "an atomic")? {
                Some((block, at)) => block.update(at, n, f),
                None => 0,
            };
            let (true, Some(dst)) = (self.returns, p.response) else {
                continue;
            };
            let back = self.update.returned(old, a, b, bytes);
            let at = dst + i * self.register;
            t.regs.set_element(at, self.register, back & low);
            if pair {
                t.regs
                    .set_element(at + self.row, self.register, back >> bits & low);
            }
        }
        Ok(())
    }
}

/// Returns the low bits of the value that an integer atomic of `bits` bits writes. `old` and the
/// operands have no significant bits above them.
fn integer(op: AtomicOp, old: u64, src0: u64, src1: u64, bits: u32) -> u64 {
    let low = |v: u64| v << (64 - bits) >> (64 - bits);
    let signed = |v: u64| (v << (64 - bits)) as i64;
    let (src0, src1) = (low(src0), low(src1));
    match op {
        AtomicOp::And => old & src0,
        AtomicOp::Or => old | src0,
        AtomicOp::Xor => old ^ src0,
        AtomicOp::Mov => src0,
        AtomicOp::Inc => old.wrapping_add(1),
        AtomicOp::Dec | AtomicOp::PreDec => old.wrapping_sub(1),
        AtomicOp::Add => old.wrapping_add(src0),
        AtomicOp::Sub => old.wrapping_sub(src0),
        AtomicOp::RevSub => src0.wrapping_sub(old),
        AtomicOp::IMax if signed(src0) > signed(old) => src0,
        AtomicOp::IMin if signed(src0) < signed(old) => src0,
        AtomicOp::IMax | AtomicOp::IMin => old,
        AtomicOp::UMax => old.max(src0),
        AtomicOp::UMin => old.min(src0),
        AtomicOp::CmpWr | AtomicOp::CmpWr2W if old == src0 => src1,
        AtomicOp::CmpWr | AtomicOp::CmpWr2W => old,
    }
}

/// Returns the value that a float atomic of `bytes` bytes writes.
fn float(op: FloatAtomicOp, old: u64, src0: u64, src1: u64, bytes: u32) -> u64 {
    match bytes {
        2 => {
            let value = |v: u64| f16::from_bits(v as u16).to_f32();
            // Sums of halves in singles round as halves do, since singles have more than twice
            // their digits.
            let bits = |v: f32| u64::from(f16::from_f32(v).to_bits());
            pick(
                op,
                (old, src0, src1),
                value,
                bits,
                |a, b| a + b,
                |a, b| a - b,
            )
        }
        4 => {
            let value = |v: u64| f32::from_bits(v as u32);
            let bits = |v: f32| u64::from(v.to_bits());
            pick(
                op,
                (old, src0, src1),
                value,
                bits,
                |a, b| a + b,
                |a, b| a - b,
            )
        }
        _ => pick(
            op,
            (old, src0, src1),
            f64::from_bits,
            f64::to_bits,
            |a, b| a + b,
            |a, b| a - b,
        ),
    }
}

/// Returns the value that a float atomic writes, for a type by its conversions and sums. The
/// extremes are memory's bits or the operand's, and the number where the other one is a NaN.
fn pick<T: Copy + PartialOrd>(
    op: FloatAtomicOp,
    (old, src0, src1): (u64, u64, u64),
    value: impl Fn(u64) -> T,
    bits: impl Fn(T) -> u64,
    add: impl Fn(T, T) -> T,
    sub: impl Fn(T, T) -> T,
) -> u64 {
    let (a, b) = (value(old), value(src0));
    let nan = a.partial_cmp(&a).is_none();
    match op {
        FloatAtomicOp::FMax if nan || b > a => src0,
        FloatAtomicOp::FMin if nan || b < a => src0,
        FloatAtomicOp::FCmpWr if a == b => src1,
        FloatAtomicOp::FMax | FloatAtomicOp::FMin | FloatAtomicOp::FCmpWr => old,
        FloatAtomicOp::FAdd => bits(add(a, b)),
        FloatAtomicOp::FSub => bits(sub(a, b)),
    }
}
