//! Bytes of registers that an instruction reads and writes, as the scoreboard tracks them.

use super::super::alu::element_at;
use super::super::program::{DstOp, MicroOp, MicroOpKind, Pred, Program, SrcOp};
use super::super::regs;
use super::super::special::Special;
use super::super::thread::Thread;
use super::ScoreboardModel;
use crate::watch::HazardKind;
use gantry_isa_gen::message::MsgOp;
use gantry_isa_gen::sem::dpas::Dpas;
use gantry_isa_gen::{Arf, Op, Reg, Type};

/// Offset of the flags, beyond the GRF file. A byte stands for a channel's bit of f0, and so
/// on.
const FLAG_BITS: u32 = regs::FILE_BYTES as u32 * 2;

/// Set of register bytes: for each unit of a GRF's size that has some, a bit for each byte.
#[derive(Clone, Default)]
pub(super) struct RegisterBytes(Vec<(u32, u64)>);

impl RegisterBytes {
    pub(super) fn add(&mut self, at: u32, bytes: u32, grf: u32) {
        let (mut at, end) = (at, at + bytes);
        while at < end {
            let (n, first) = (at / grf, at % grf);
            let count = (grf - first).min(end - at);
            let ones = u64::MAX >> (64 - count.clamp(1, 64)) << first;
            match self.0.iter_mut().rev().find(|(m, _)| *m == n) {
                Some((_, mask)) => *mask |= ones,
                None => self.0.push((n, ones)),
            }
            at += count;
        }
    }

    /// Returns the first of the `runs` lowest units that both have bytes of, and those bytes.
    fn common(&self, other: &RegisterBytes, runs: u32) -> Option<(u32, u64)> {
        self.0.iter().filter(|(n, _)| *n < runs).find_map(|(n, a)| {
            let (_, b) = other.0.iter().find(|(m, b)| m == n && a & b != 0)?;
            Some((*n, a & b))
        })
    }
}

/// Registers that an instruction reads and writes.
#[derive(Clone, Default)]
pub(super) struct RegisterAccess {
    pub(super) pc: u32,
    reads: RegisterBytes,
    writes: RegisterBytes,
    /// Channels, for messages that work by channel. Others have all.
    channels: u32,
    /// True if it reads the words of the bytes that it writes.
    rewrites: bool,
    /// True if its reads have no effect, since nothing receives its result.
    idle: bool,
    /// True for a fence, whose response has no contents. A read of the response waits for the
    /// fence.
    fence: bool,
}

impl RegisterAccess {
    /// Marks everything as waited for.
    pub(super) fn clear(&mut self) {
        *self = RegisterAccess::default();
    }
}

/// Register, or part of it.
#[derive(Clone, Copy)]
pub(in super::super) struct RegisterPart {
    pub(in super::super) register: Reg,
    /// Mask of its bytes. For a flag it is a mask of its channels' bits.
    pub(in super::super) part: u64,
}

impl RegisterPart {
    /// Converts the bytes of a unit, up to the end of the register that has the first.
    fn new(run: u32, bytes: u64, grf: u32) -> RegisterPart {
        let at = run * grf;
        let first = at + bytes.trailing_zeros();
        let (register, base, size) = if first >= FLAG_BITS {
            let n = (first - FLAG_BITS) / 32;
            (Reg::Arf(Arf::Flag, n as u8), FLAG_BITS + n * 32, 32)
        } else if first >= regs::ACC {
            let n = (first - regs::ACC) / grf;
            (Reg::Arf(Arf::Acc, n as u8), regs::ACC + n * grf, grf)
        } else {
            (Reg::Grf(run as u8), at, grf)
        };
        // A unit may begin elsewhere than a register.
        let moved = match at.checked_sub(base) {
            Some(up) => bytes.checked_shl(up),
            None => bytes.checked_shr(base - at),
        };
        RegisterPart {
            register,
            part: moved.unwrap_or(0) & u64::MAX >> (64 - size.clamp(1, 64)),
        }
    }
}

/// Returns the first conflict of a kind that counts. `tracked` is true for in-order results: the
/// hardware itself waits for those in accumulators and flags before it reads them.
pub(super) fn conflict(
    model: &ScoreboardModel,
    earlier: &RegisterAccess,
    now: &RegisterAccess,
    tracked: bool,
    counts: impl Fn(HazardKind, bool) -> bool,
) -> Option<(HazardKind, RegisterPart)> {
    if earlier.channels & now.channels == 0 || now.idle && !earlier.fence || earlier.idle {
        return None;
    }
    let grfs = regs::A0 / model.grf;
    let read = if tracked { grfs } else { u32::MAX };
    [
        (
            HazardKind::ReadAfterWrite,
            &earlier.writes,
            &now.reads,
            read,
        ),
        (
            HazardKind::WriteAfterWrite,
            &earlier.writes,
            &now.writes,
            u32::MAX,
        ),
        (
            HazardKind::WriteAfterRead,
            &earlier.reads,
            &now.writes,
            u32::MAX,
        ),
    ]
    .into_iter()
    .filter(|(kind, ..)| counts(*kind, now.rewrites))
    .find_map(|(kind, a, b, runs)| {
        let (run, bytes) = a.common(b, runs)?;
        Some((kind, RegisterPart::new(run, bytes, model.grf)))
    })
}

/// Returns the accesses of an instruction to the GRFs and, where pipes are counted separately, to
/// accumulators and flags.
pub(super) fn access(
    model: &ScoreboardModel,
    program: &Program,
    t: &Thread,
    pc: u32,
    op: &MicroOp,
    mask: u32,
) -> RegisterAccess {
    let mut a = RegisterAccess {
        pc,
        channels: if op.no_mask {
            u32::MAX
        } else {
            mask << op.shift
        },
        ..RegisterAccess::default()
    };
    if mask == 0 {
        return a;
    }
    let grf = model.grf;
    // Reads without effect may read anything. Intel's compiler moves registers to null so that the
    // hardware does not keep what it read last. But it also waits for fences that way.
    let writes = !matches!(op.dst, DstOp::Null)
        || op.flag.is_some()
        || op.acc_wr_en
        || matches!(op.alu.op, Op::Addc | Op::Subb);
    a.idle = !writes && matches!(op.kind, MicroOpKind::Alu | MicroOpKind::Fast(_));
    if !model.one_pipe {
        flags(&mut a, op, mask, grf);
    }
    if let MicroOpKind::Send(s) = &op.kind {
        if let Some(m) = program.message(&t.regs, pc, s) {
            a.fence = matches!(m.op, MsgOp::Fence { .. } | MsgOp::LscFence { .. });
            a.reads.add(s.src0, u32::from(m.src0_grfs) * grf, grf);
            a.reads.add(s.src1, u32::from(m.src1_grfs) * grf, grf);
            if let Some(dst) = s.dst {
                a.writes.add(dst, u32::from(m.response_grfs) * grf, grf);
            }
        }
        return a;
    }
    match &op.kind {
        MicroOpKind::Special(
            Special::Systolic(d)
            | Special::Overwritten {
                product: d,
                fused: false,
            },
        ) => {
            systolic(&mut a, op, d, d.src2_bytes(), grf);
            return a;
        }
        MicroOpKind::Special(
            Special::Fused(d)
            | Special::Overwritten {
                product: d,
                fused: true,
            },
        ) => {
            // Each half, if they differ, is as long as the second.
            systolic(&mut a, op, d, d.halves(grf)[1], grf);
            return a;
        }
        _ => {}
    }
    let end = t.regs.grf_end();
    let running = (0..u32::from(op.n)).filter(|i| mask >> i & 1 == 1);
    for (s, ty) in op.srcs.iter().zip(op.alu.srcs) {
        let Some(ty) = ty.filter(|_| !matches!(s, SrcOp::None | SrcOp::Value(_) | SrcOp::Imm(_)))
        else {
            continue;
        };
        for i in running.clone() {
            if let Ok(at) = element_at(t, s, i, ty.bytes()) {
                touch(&mut a.reads, model, end, at, ty.bytes());
            }
        }
    }
    let bytes = op.alu.dst.bytes();
    // A read-modify-write of a word accesses the other byte too.
    a.rewrites = bytes == 1 && model.byte_rmw;
    let (wide, even) = if a.rewrites { (2, !1) } else { (bytes, !0) };
    for i in running {
        let at = match op.dst {
            DstOp::Null => break,
            DstOp::Direct { at, step, .. } => Some(at + i * step),
            DstOp::Indirect { addr, imm, step } => {
                u32::try_from(i32::from(t.regs.u16(addr)) + imm + (i * step) as i32).ok()
            }
        };
        if let Some(at) = at {
            touch(&mut a.writes, model, end, at & even, wide);
        }
    }
    if !model.one_pipe {
        implicit_accumulator(&mut a, op, grf);
    }
    a
}

/// Adds the bytes of an operand that the scoreboard tracks.
fn touch(set: &mut RegisterBytes, model: &ScoreboardModel, grf_end: u32, at: u32, bytes: u32) {
    if at < grf_end {
        set.add(at, bytes, model.grf);
    } else if model.one_pipe {
        // The hardware tracks everything except the GRFs.
    } else if (regs::FLAGS..regs::SR0).contains(&at) {
        set.add(FLAG_BITS + (at - regs::FLAGS) * 8, bytes * 8, model.grf);
    } else if (regs::ACC..regs::FLAGS).contains(&at) {
        set.add(at, bytes, model.grf);
    }
}

/// Adds the flags that a predicate reads and a condition modifier writes.
fn flags(a: &mut RegisterAccess, op: &MicroOp, mask: u32, grf: u32) {
    let bits = |set: &mut RegisterBytes, first: u8, mask: u32| {
        for i in (0..32).filter(|i| mask >> i & 1 == 1) {
            // A flag register's bits wrap within it.
            let bit = first & !31 | first.wrapping_add(i) & 31;
            set.add(FLAG_BITS + u32::from(bit), 1, grf);
        }
    };
    for pred in [op.pred, op.pick] {
        match pred {
            Pred::None => {}
            Pred::Seq { bit, .. } => bits(&mut a.reads, bit, mask),
            Pred::Vertical { bit, .. } => {
                bits(&mut a.reads, bit & 31, mask);
                bits(&mut a.reads, bit & 31 | 32, mask);
            }
            Pred::Horizontal { bit, group, .. } => {
                let ones = u32::MAX >> (32 - u32::from(group.clamp(1, 32)));
                for at in (0..op.n).step_by(usize::from(group.max(1))) {
                    bits(&mut a.reads, bit, ones << (at & 31));
                }
            }
        }
    }
    if let Some(bit) = op.flag {
        bits(&mut a.writes, bit, mask);
    }
}

/// Adds the accumulator that an operation accesses implicitly.
fn implicit_accumulator(a: &mut RegisterAccess, op: &MicroOp, grf: u32) {
    let ty = match op.alu.op {
        Op::Addc | Op::Subb => Type::D,
        _ if op.acc_wr_en => op.alu.dst,
        _ => op.alu.acc_type(),
    };
    let bytes = u32::from(op.n) * ty.bytes();
    if matches!(op.alu.op, Op::Mac | Op::Mach | Op::Macl | Op::Sada2) {
        a.reads.add(regs::ACC, bytes, grf);
    }
    if op.acc_wr_en || matches!(op.alu.op, Op::Addc | Op::Subb) {
        a.writes.add(regs::ACC, bytes, grf);
    }
}

/// Adds the blocks of `dpas`, whose source 2 has `src2` bytes.
fn systolic(a: &mut RegisterAccess, op: &MicroOp, d: &Dpas, src2: u32, grf: u32) {
    if let DstOp::Direct { at, .. } = op.dst {
        a.writes.add(at, d.sum_bytes(d.dst), grf);
    }
    let bytes = [d.src0.map_or(0, |ty| d.sum_bytes(ty)), d.src1_bytes(), src2];
    for (s, bytes) in op.srcs.iter().zip(bytes) {
        if let SrcOp::Scalar { at } | SrcOp::Packed { at } | SrcOp::Rect { at, .. } = *s {
            a.reads.add(at, bytes, grf);
        }
    }
}
