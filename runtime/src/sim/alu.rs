//! Running ALU operations: operands to lanes, the operation from `isa-gen`'s semantics, lanes to the destination.

use super::program::{DstOp, MicroOp, Pred, SrcOp};
use super::regs;
use super::thread::Thread;
use gantry_isa_gen::sem::{self, Bits, Extra, LANES};
use gantry_isa_gen::{MathFn, Op, Type};

/// Buffers of the general path, kept so that they need not be cleared each time.
#[derive(Default)]
pub(super) struct Scratch {
    lanes: Option<Box<[Bits; 3]>>,
}

/// Runs an operation in the channels of `mask`, which is not empty.
#[inline]
pub(super) fn execute(t: &mut Thread, op: &MicroOp, mask: u32) -> Result<(), String> {
    general(t, op, mask)
}

/// Where channel `i` of a source lies; an error where an address register points outside the GRFs.
#[inline]
pub(super) fn element_at(t: &Thread, s: &SrcOp, i: u32, size: u32) -> Result<u32, String> {
    let address = |addr: u32, imm: i32, offset: u32| {
        let base = i32::from(t.regs.u16(addr));
        let at = base + imm + offset as i32;
        match u32::try_from(at) {
            Ok(at) if at + size <= t.regs.grf_end() => Ok(at),
            _ => Err(format!(
                "an indirect source is at byte {at} of the registers, which end at {}",
                t.regs.grf_end()
            )),
        }
    };
    match *s {
        SrcOp::None | SrcOp::Value(_) | SrcOp::Imm(_) => Ok(0),
        SrcOp::Scalar { at } => Ok(at),
        SrcOp::Packed { at } => Ok(at + i * size),
        SrcOp::Rect {
            at,
            vs,
            width_log,
            hs,
        } => Ok(at + (i >> width_log) * vs + (i & ((1 << width_log) - 1)) * hs),
        SrcOp::Indirect {
            addr,
            imm,
            vs,
            width_log,
            hs,
        } => address(
            addr,
            imm,
            (i >> width_log) * vs + (i & ((1 << width_log) - 1)) * hs,
        ),
        SrcOp::MultiIndirect {
            addr,
            imm,
            width_log,
            hs,
        } => address(
            // The sixteen address elements wrap.
            regs::A0 + ((addr - regs::A0) / 2 + (i >> width_log)) % 16 * 2,
            imm,
            (i & ((1 << width_log) - 1)) * hs,
        ),
    }
}

/// A source's element bits, for the channels of `mask`.
fn gather(
    t: &Thread,
    s: &SrcOp,
    ty: Type,
    n: u32,
    mask: u32,
    out: &mut Bits,
) -> Result<(), String> {
    let size = ty.bytes();
    match s {
        SrcOp::None => *out = [0; LANES],
        SrcOp::Value(v) => out[..n as usize].fill(*v),
        SrcOp::Imm(v) => *out = **v,
        SrcOp::Scalar { at } => {
            let v = t.regs.element(*at, size);
            out[..n as usize].fill(v);
        }
        _ => {
            for (i, o) in out.iter_mut().enumerate().take(n as usize) {
                // Channels that are off may have addresses that mean nothing.
                if mask >> i & 1 == 1 {
                    *o = t.regs.element(element_at(t, s, i as u32, size)?, size);
                }
            }
        }
    }
    Ok(())
}

/// Any operation, by way of [`sem::eval`].
fn general(t: &mut Thread, op: &MicroOp, mask: u32) -> Result<(), String> {
    let n = u32::from(op.n);
    let mut lanes = t
        .scratch
        .lanes
        .take()
        .unwrap_or_else(|| Box::new([[0; LANES]; 3]));
    let mut alu = op.alu;
    let is_sad2 = alu.op == Op::Sad2;
    // `sad2` looks at pairs of channels, enabled or not.
    let read_mask = if is_sad2 { op.full } else { mask };
    for ((s, ty), out) in op.srcs.iter().zip(alu.srcs).zip(lanes.iter_mut()) {
        if let Some(ty) = ty {
            gather(t, s, ty, n, read_mask, out)?;
        }
    }
    let mut extra = Extra {
        mode: t.mode,
        ..Extra::default()
    };
    if !matches!(op.pick, Pred::None) {
        extra.pick = t.predicate(op.pick);
    }
    if alu.op == Op::Mach {
        let base = IMPLICIT_ACC;
        for (i, a) in extra.acc.iter_mut().enumerate().take(16) {
            *a = acc_value(t, base, i as u32);
        }
    }
    if alu.op == Op::Movi {
        alu.op = Op::Mov;
    }
    let [a, b, c] = &*lanes;
    let outcome = sem::eval(&alu, n as usize, [a, b, c], &extra).map_err(|e| e.to_string())?;
    write(t, op, &op.dst, alu.dst, mask, &outcome)?;
    if alu.op == Op::Math && alu.math == Some(MathFn::Idiv) {
        // The remainder goes to the registers after the quotient's.
        alu.math = Some(MathFn::Irem);
        let [a, b, c] = &*lanes;
        let rem = sem::eval(&alu, n as usize, [a, b, c], &extra).map_err(|e| e.to_string())?;
        if let DstOp::Direct { at, step, acc } = op.dst {
            let next = DstOp::Direct {
                at: at + (n * step).next_multiple_of(32),
                step,
                acc,
            };
            write(t, op, &next, alu.dst, mask, &rem)?;
        }
    }
    if let Some(bit) = op.flag {
        t.regs.set_flags(bit, mask, outcome.flags);
    }
    if op.acc_wr_en || outcome.acc.is_some() {
        let base = IMPLICIT_ACC;
        for i in 0..n.min(16) {
            if mask >> i & 1 == 1 {
                match &outcome.acc {
                    Some(acc) => set_acc(t, base, i, acc[i as usize]),
                    None if alu.dst.is_float() => {
                        let size = alu.dst.bytes();
                        t.regs
                            .set_element(base + i * size, size, outcome.bits[i as usize]);
                    }
                    None => set_acc(t, base, i, outcome.wide[i as usize]),
                }
            }
        }
    }
    t.scratch.lanes = Some(lanes);
    Ok(())
}

/// The accumulator that an operation reads or writes without naming it. It is acc0 whatever the channel offset: Intel's
/// compiler follows `mul (8|M0) acc0` by `mach (8|M8)`.
const IMPLICIT_ACC: u32 = regs::ACC;

/// The whole integer of an accumulator's dword channel.
fn acc_value(t: &Thread, base: u32, i: u32) -> i64 {
    let at = base + i * 4;
    let high = t
        .acc_high
        .get(((at - regs::ACC) / 4) as usize)
        .copied()
        .unwrap_or(0);
    i64::from(high) << 32 | i64::from(t.regs.u32(at))
}

fn set_acc(t: &mut Thread, base: u32, i: u32, v: i64) {
    let at = base + i * 4;
    if let Some(h) = t.acc_high.get_mut(((at - regs::ACC) / 4) as usize) {
        *h = (v >> 32) as i32;
        t.regs.set_u32(at, v as u32);
    }
}

/// Writes a result to a destination, in the channels of `mask`.
fn write(
    t: &mut Thread,
    op: &MicroOp,
    dst: &DstOp,
    ty: Type,
    mask: u32,
    outcome: &sem::Outcome,
) -> Result<(), String> {
    let size = ty.bytes();
    let (base, step, acc) = match *dst {
        DstOp::Null => return Ok(()),
        DstOp::Direct { at, step, acc } => (at, step, acc),
        DstOp::Indirect { addr, imm, step } => {
            let at = i32::from(t.regs.u16(addr)) + imm;
            let span = (u32::from(op.n) - 1) * step + size;
            match u32::try_from(at) {
                Ok(at) if at + span <= t.regs.grf_end() => (at, step, false),
                _ => {
                    return Err(format!(
                        "an indirect destination is at byte {at} of the registers, which end at {}",
                        t.regs.grf_end()
                    ));
                }
            }
        }
    };
    let mut left = mask;
    while left != 0 {
        let i = left.trailing_zeros();
        left &= left - 1;
        let at = base + i * step;
        if acc && ty.is_int() && size == 4 {
            set_acc(t, at, 0, outcome.wide[i as usize]);
        } else {
            t.regs.set_element(at, size, outcome.bits[i as usize]);
        }
    }
    Ok(())
}
