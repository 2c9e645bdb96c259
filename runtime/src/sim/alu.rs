//! Execution of ALU operations: operands to lanes, the operation from `isa-gen`'s semantics, lanes
//! to the destination.

use super::program::{DstOp, MicroOp, Pred, SrcOp};
use super::regs;
use super::thread::Thread;
use gantry_isa_gen::sem::{self, AluOp, Bits, Extra, LANES, Outcome};
use gantry_isa_gen::{MathFn, Op, Type};

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]
mod tests;

/// Element bits of three sources.
pub(super) type SourceLanes = [Bits; 3];

/// Buffers of the general path, kept so that they need not be cleared each time.
#[derive(Default)]
pub(super) struct LaneBuffers {
    lanes: Option<Box<SourceLanes>>,
}

/// Calls `f` with the buffers of a thread.
pub(super) fn with_lanes<R>(
    t: &mut Thread,
    f: impl FnOnce(&mut Thread, &mut SourceLanes) -> R,
) -> R {
    let mut lanes = t
        .scratch
        .lanes
        .take()
        .unwrap_or_else(|| Box::new([[0; LANES]; 3]));
    let r = f(t, &mut lanes);
    t.scratch.lanes = Some(lanes);
    r
}

/// Runs an operation in the channels of `mask`, which is not empty.
pub(super) fn execute(t: &mut Thread, op: &MicroOp, mask: u32) -> Result<(), String> {
    with_lanes(t, |t, lanes| run(t, op, mask, lanes))
}

/// Returns the byte offset of channel `i` of a source. An address register that points outside the
/// GRFs is an error.
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

/// Reads a source's element bits for the channels of `mask`.
pub(super) fn gather(
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
                // Channels that are off may have meaningless addresses.
                if mask >> i & 1 == 1 {
                    *o = t.regs.element(element_at(t, s, i as u32, size)?, size);
                }
            }
        }
    }
    Ok(())
}

/// Runs any operation through [`sem::eval`].
fn run(t: &mut Thread, op: &MicroOp, mut mask: u32, lanes: &mut SourceLanes) -> Result<(), String> {
    let n = u32::from(op.n);
    let mut alu = op.alu;
    read_sources(t, op, mask, &mut alu, lanes)?;
    if alu.op == Op::Smov {
        // Source 1 is the mask of channels to write.
        mask &= lanes[1][0] as u32;
    }
    let mut extra = Extra {
        mode: t.mode,
        ..Extra::default()
    };
    if !matches!(op.pick, Pred::None) {
        extra.pick = t.predicate(op.pick);
    }
    if matches!(alu.op, Op::Mac | Op::Mach | Op::Macl | Op::Sada2) {
        let ty = alu.acc_type();
        // With 32 channels of halves, the upper half has acc1 (IGC, `AccSubPass`: "check if acc1
        // needs to be used").
        let upper = ty == Type::Hf && op.shift == 16;
        let at = IMPLICIT_ACC + if upper { 32 } else { 0 };
        for (i, a) in extra.acc.iter_mut().enumerate().take(n as usize) {
            *a = acc_value(t, at + i as u32 * ty.bytes(), ty);
        }
    }
    let [a, b, c] = &*lanes;
    let outcome = sem::eval(&alu, n as usize, [a, b, c], &extra).map_err(|e| e.to_string())?;
    write(t, op, &op.dst, alu.dst, mask, &outcome)?;
    if alu.op == Op::Math && alu.math == Some(MathFn::Idiv) {
        // The remainder goes to the registers after the quotient's.
        alu.math = Some(MathFn::Irem);
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
    // `macl` leaves the accumulator alone where it is `mach` without `{AccWrEn}`.
    if op.acc_wr_en || outcome.acc.is_some() && alu.op != Op::Macl {
        let ty = match outcome.acc {
            // Carries, and the products of dwords.
            Some(_) => Type::D,
            None => alu.dst,
        };
        for i in 0..n {
            if mask >> i & 1 == 1 {
                let v = match &outcome.acc {
                    Some(acc) => acc[i as usize],
                    None => kept(&alu, &outcome, i),
                };
                set_acc(t, IMPLICIT_ACC + i * ty.bytes(), ty, v);
            }
        }
    }
    Ok(())
}

/// Reads the sources of an operation in the form of [`sem::eval`].
fn read_sources(
    t: &Thread,
    op: &MicroOp,
    mask: u32,
    alu: &mut AluOp,
    lanes: &mut SourceLanes,
) -> Result<(), String> {
    let n = u32::from(op.n);
    let planes = matches!(alu.op, Op::Line | Op::Pln);
    // Some operations read other channels, enabled or not.
    let (read, read_mask) = if sem::channels_read(alu.op, 1) > 1 && !planes {
        (sem::channels_read(alu.op, n as usize) as u32, u32::MAX)
    } else {
        (n, mask)
    };
    for (k, s) in op.srcs.iter().enumerate() {
        let (Some(ty), Some(out)) = (alu.srcs[k], lanes.get_mut(k)) else {
            continue;
        };
        gather(t, s, ty, read, read_mask, out)?;
        let (SrcOp::Scalar { at } | SrcOp::Packed { at } | SrcOp::Rect { at, .. }) = *s else {
            continue;
        };
        if !in_acc(at) {
            continue;
        }
        // An accumulator's integers are wider than their type, and its native floats wider than its
        // register.
        let wider = reads_whole_acc(alu.op);
        if ty == Type::Nf || wider && ty.is_int() && ty.bytes() < 8 {
            let mut beyond = false;
            for (i, o) in out.iter_mut().enumerate().take(n as usize) {
                if mask >> i & 1 == 1 {
                    let v = acc_value(t, element_at(t, s, i as u32, ty.bytes())?, ty);
                    beyond |= i128::from(v) != sem::convert::int_value(*o, ty);
                    *o = v as u64;
                }
            }
            if beyond && ty.is_int() {
                alu.srcs[k] = Some(Type::Q);
            }
        }
    }
    let direct = |s: &SrcOp| match *s {
        SrcOp::Scalar { at } | SrcOp::Packed { at } | SrcOp::Rect { at, .. } => Ok(at),
        _ => Err("`line` and `pln` take direct registers".to_owned()),
    };
    if planes {
        let first = direct(&op.srcs[0])?;
        for (i, o) in lanes[0].iter_mut().enumerate().take(4) {
            *o = t.regs.element(first + i as u32 * 4, 4);
        }
    }
    if alu.op == Op::Pln {
        // Registers alternate between eight first factors and eight second factors.
        let first = direct(&op.srcs[1])?;
        for i in 0..n {
            let at = first + i / 8 * 64 + i % 8 * 4;
            lanes[1][i as usize] = t.regs.element(at, 4);
            lanes[2][i as usize] = t.regs.element(at + 32, 4);
        }
    }
    Ok(())
}

/// Accumulator that an operation reads or writes implicitly. It is acc0 whatever the channel
/// offset: Intel's compiler follows `mul (8|M0) acc0` by `mach (8|M8)`.
const IMPLICIT_ACC: u32 = regs::ACC;

/// Contents of a thread's accumulators beyond their registers. For each word of the registers that
/// an element begins at, it is the whole integer, or a native float's bits.
pub(super) type WideAcc = [i64; WIDE_ACC];

/// Words of the accumulators: eight of 32 bytes, or four of 64.
pub(super) const WIDE_ACC: usize = 128;

/// Returns true if an operation reads all bits of an accumulator's integers, not just their
/// registers' bits.
pub(super) fn reads_whole_acc(op: Op) -> bool {
    matches!(
        op,
        Op::Mov | Op::Add | Op::Add3 | Op::Avg | Op::Mul | Op::Mad | Op::Mac | Op::Sel | Op::Cmp
    )
}

/// Returns true if a byte of the GRF file is in one of the accumulators that operations name.
pub(super) fn in_acc(at: u32) -> bool {
    at.wrapping_sub(regs::ACC) < 2 * WIDE_ACC as u32
}

/// Returns the whole value of an accumulator's element: an integer, or element bits. If something
/// else has written the register since, the register's own contents count.
pub(super) fn acc_value(t: &Thread, at: u32, ty: Type) -> i64 {
    let bits = t.regs.element(at, ty.bytes());
    let own = if ty.is_int() {
        sem::convert::int_value(bits, ty) as i64
    } else {
        bits as i64
    };
    match t.acc_wide.get((at.wrapping_sub(regs::ACC) / 2) as usize) {
        Some(v) if *v as u64 & sem::convert::element_mask(ty) == bits => *v,
        _ => own,
    }
}

/// Returns the value that an accumulator keeps of a channel's result.
fn kept(alu: &AluOp, outcome: &Outcome, channel: u32) -> i64 {
    let channel = channel as usize;
    match alu.dst {
        ty if ty.is_float() => outcome.bits[channel] as i64,
        ty if alu.sat => sem::convert::int_value(outcome.bits[channel], ty) as i64,
        _ => outcome.wide[channel],
    }
}

/// Writes an accumulator's element.
pub(super) fn set_acc(t: &mut Thread, at: u32, ty: Type, value: i64) {
    if let Some(wide) = t
        .acc_wide
        .get_mut((at.wrapping_sub(regs::ACC) / 2) as usize)
    {
        *wide = value;
        t.regs.set_element(at, ty.bytes(), value as u64);
    }
}

/// Writes a result to a destination, in the channels of `mask`.
pub(super) fn write(
    t: &mut Thread,
    op: &MicroOp,
    dst: &DstOp,
    ty: Type,
    mask: u32,
    outcome: &Outcome,
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
        if acc && in_acc(at) && size < 8 {
            set_acc(t, at, ty, kept(&op.alu, outcome, i));
        } else {
            t.regs.set_element(at, size, outcome.bits[i as usize]);
        }
    }
    Ok(())
}
