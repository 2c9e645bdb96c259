//! Timing model of instructions, for the scheduler and for modelled times.
//!
//! The model is that of an in-order thread. It issues an instruction when earlier instructions no
//! longer block its operands. The unit that executes it starts when it is free. [`timing`] returns
//! the latencies of an instruction. A [`Clock`] computes the issue
//! times of a sequence, and [`cycles()`] those of a kernel. The figures are in `gantry-meta`'s
//! `timing.rs`, with their sources.

mod clock;
mod cycles;

pub use crate::table::Class;
pub use crate::table::timing::Unit;
pub use clock::{Clock, Slot};
pub use cycles::{Cycles, cycles};

use crate::effects::message;
use crate::inst::{Dst, Inst, Src, Subfn};
use crate::legal::geometry::dst_span_bytes;
use crate::message::{Message, MsgOp, Surface};
use crate::op::{MathFn, Op};
use crate::platform::Platform;
use crate::reg::Register;
use crate::sem::dpas::Dpas;
use crate::table::TIMES;
use crate::types::Type;

/// Timing of one instruction, in cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Unit that executes it.
    pub unit: Unit,
    /// Cycles until the thread issues its next instruction.
    pub issue: u32,
    /// Cycles until the unit accepts its next instruction.
    pub busy: u32,
    /// Cycles until its sources have been read.
    pub read: u32,
    /// Cycles until its destination is written.
    pub result: u32,
    /// Cycles until an accumulator is written.
    pub acc: u32,
    /// Cycles until a flag is written.
    pub flag: u32,
}

/// Returns the timing class of an instruction.
pub fn class<R: Register>(platform: Platform, inst: &Inst<R>) -> Class {
    class_of(
        inst,
        message(platform, inst).as_ref(),
        execution_bytes(inst),
    )
}

/// Returns the timing class of an instruction, given its message and the size of an element of its
/// execution type in bytes.
fn class_of<R: Register>(inst: &Inst<R>, message: Option<&Message>, bytes: u32) -> Class {
    if inst.op.is_send() {
        return message.map_or(Class::Message, |m| class_of_message(&m.op));
    }
    if inst.op.format().is_branch() {
        return Class::Branch;
    }
    match inst.op {
        Op::Math => match inst.subfn {
            Subfn::Math(MathFn::Pow | MathFn::Fdiv) => Class::Pow,
            Subfn::Math(MathFn::Idiv | MathFn::Iqot | MathFn::Irem) => Class::Divide,
            _ => Class::Math,
        },
        Op::Dp4 | Op::Dph | Op::Dp3 | Op::Dp2 | Op::Line | Op::Pln | Op::Lrp => Class::Dot,
        Op::Dpas | Op::Dpasw => Class::Systolic,
        Op::Wait | Op::Sync => Class::Branch,
        Op::Mul | Op::Mad if is_long_product(inst) => Class::Wide,
        _ if bytes > 4 => Class::Wide,
        _ => Class::Alu,
    }
}

fn class_of_message(op: &MsgOp) -> Class {
    let access = op.access().map(|(addr, _)| addr.surface());
    match op {
        _ if access == Some(Surface::Slm) => Class::Slm,
        MsgOp::Atomic { .. }
        | MsgOp::FloatAtomic { .. }
        | MsgOp::HalfAtomic { .. }
        | MsgOp::SizedFloatAtomic { .. }
        | MsgOp::TypedAtomic { .. }
        | MsgOp::CounterAtomic { .. } => Class::Atomic,
        MsgOp::Block { .. } | MsgOp::Scratch { .. } | MsgOp::LscBlock2d { .. } => Class::Block,
        MsgOp::Typed { .. } | MsgOp::MediaBlock { .. } => Class::Typed,
        MsgOp::Sample(_) => Class::Sample,
        MsgOp::Fence { .. } | MsgOp::LscFence { .. } => Class::Fence,
        MsgOp::Lsc(_) => Class::Scattered,
        _ if access.is_some() => Class::Scattered,
        _ => Class::Message,
    }
}

fn types<R: Copy>(inst: &Inst<R>) -> impl Iterator<Item = Type> + '_ {
    inst.srcs.iter().filter_map(|s| match *s {
        Src::Direct { ty, .. }
        | Src::Indirect { ty, .. }
        | Src::Macro { ty, .. }
        | Src::Imm { ty, .. } => Some(ty),
        Src::None | Src::Target(_) => None,
    })
}

/// Returns the size of an element of the execution type in bytes. It is that of the widest source,
/// or of the destination if there is no source.
fn execution_bytes<R: Copy>(inst: &Inst<R>) -> u32 {
    let own = match inst.dst {
        Dst::Direct { ty, .. } | Dst::Indirect { ty, .. } | Dst::Macro { ty, .. } => ty.bytes(),
        Dst::None => 0,
    };
    types(inst).map(Type::bytes).max().unwrap_or(own)
}

/// Returns true if the instruction multiplies two dwords, which runs at half of the ALU's rate.
fn is_long_product<R: Copy>(inst: &Inst<R>) -> bool {
    let mut factors = inst.srcs.iter().filter_map(|s| match *s {
        Src::Direct { ty, .. } | Src::Indirect { ty, .. } | Src::Imm { ty, .. } => Some(ty),
        _ => None,
    });
    let last = match inst.op {
        Op::Mad => factors.nth(1).zip(factors.next()),
        _ => factors.next().zip(factors.next()),
    };
    last.is_some_and(|(a, b)| [a, b].iter().all(|t| !t.is_float() && t.bytes() == 4))
}

/// Returns the timing of an instruction on a platform.
pub fn timing<R: Register>(platform: Platform, inst: &Inst<R>) -> Timing {
    timing_of(platform, inst, message(platform, inst).as_ref())
}

/// Returns the timing of an instruction, with its [`message`] given by the caller.
pub fn timing_of<R: Register>(
    platform: Platform,
    inst: &Inst<R>,
    message: Option<&Message>,
) -> Timing {
    let bytes = execution_bytes(inst);
    let class = class_of(inst, message, bytes);
    let times = &TIMES[platform.column()][class as usize];
    let grf = platform.features().grf_bytes;
    let written = match inst.dst {
        Dst::Direct { hs, ty, .. } | Dst::Indirect { hs, ty, .. } => {
            dst_span_bytes(hs.into(), inst.exec, ty.bytes())
        }
        Dst::Macro { ty, .. } => dst_span_bytes(1, inst.exec, ty.bytes()),
        Dst::None => 1,
    };
    let executed = inst.exec.channels() * bytes;
    // The array processes rows one after another.
    let (written, executed) = match Dpas::of(inst) {
        Some(d) => (d.sum_bytes(d.dst), d.sum_bytes(Type::Ud)),
        None => (written, executed),
    };
    // The size of a GRF is a power of two.
    let shift = grf.trailing_zeros();
    let sum = |[one, each]: [u8; 2], bytes: u32| {
        u32::from(one) + u32::from(each) * (((bytes.max(1) - 1) >> shift) + 1)
    };
    Timing {
        unit: times.unit,
        issue: sum(times.issue, written),
        busy: sum(times.busy, executed),
        read: times.read.into(),
        result: times.result.into(),
        acc: times.acc.into(),
        flag: times.flag.into(),
    }
}
