//! Names of messages, for people.

use super::{AddrModel, AtomicOp, BlockUnit, Cache, Dir, FloatAtomicOp, Message, MsgOp, Surface};
use std::fmt;

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Surface::Bti(n) => write!(f, "bti[{n}]"),
            Surface::Slm => f.write_str("slm"),
            Surface::Stateless => f.write_str("stateless"),
            Surface::StatelessNonCoherent => f.write_str("stateless_noncoherent"),
        }
    }
}

impl fmt::Display for AddrModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddrModel::A32(s) => write!(f, "{s}.a32"),
            AddrModel::A64(Surface::StatelessNonCoherent) => f.write_str("noncoherent.a64"),
            AddrModel::A64(_) => f.write_str("a64"),
        }
    }
}

impl fmt::Display for Dir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dir::Read => "read",
            Dir::Write => "write",
        })
    }
}

impl AtomicOp {
    /// The operation's name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            AtomicOp::CmpWr2W => "cmpwr_2w",
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
            AtomicOp::Mov => "mov",
            AtomicOp::Inc => "inc",
            AtomicOp::Dec => "dec",
            AtomicOp::Add => "add",
            AtomicOp::Sub => "sub",
            AtomicOp::RevSub => "revsub",
            AtomicOp::IMax => "imax",
            AtomicOp::IMin => "imin",
            AtomicOp::UMax => "umax",
            AtomicOp::UMin => "umin",
            AtomicOp::CmpWr => "cmpwr",
            AtomicOp::PreDec => "predec",
        }
    }
}

impl FloatAtomicOp {
    /// The operation's name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            FloatAtomicOp::FMax => "fmax",
            FloatAtomicOp::FMin => "fmin",
            FloatAtomicOp::FCmpWr => "fcmpwr",
        }
    }
}

impl fmt::Display for MsgOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constant = |c: Cache| {
            if c == Cache::Constant {
                "constant "
            } else {
                ""
            }
        };
        let ret = |r: bool| if r { " returning" } else { "" };
        match *self {
            MsgOp::Untyped {
                dir,
                addr,
                rgba,
                simd,
            } => {
                write!(f, "untyped {dir} {addr} simd{} .", simd.channels())?;
                for (i, c) in "xyzw".chars().enumerate() {
                    if rgba.mask() >> i & 1 == 1 {
                        write!(f, "{c}")?;
                    }
                }
                Ok(())
            }
            MsgOp::ByteScattered {
                dir,
                addr,
                bytes,
                simd,
            } => write!(
                f,
                "byte scattered {dir} {addr} simd{} d{}",
                simd.channels(),
                u32::from(bytes) * 8
            ),
            MsgOp::DwordScattered {
                dir,
                addr,
                count,
                simd,
                cache,
            } => write!(
                f,
                "{}dword scattered {dir} {addr} simd{} x{count}",
                constant(cache),
                simd.channels()
            ),
            MsgOp::QwordScattered {
                dir,
                addr,
                count,
                simd,
            } => write!(
                f,
                "qword scattered {dir} {addr} simd{} x{count}",
                simd.channels()
            ),
            MsgOp::Atomic {
                op,
                addr,
                qword,
                returns,
                simd,
            } => write!(
                f,
                "atomic {} {addr} simd{} d{}{}",
                op.name(),
                simd.channels(),
                if qword { 64 } else { 32 },
                ret(returns)
            ),
            MsgOp::FloatAtomic {
                op,
                addr,
                returns,
                simd,
            } => write!(
                f,
                "atomic {} {addr} simd{}{}",
                op.name(),
                simd.channels(),
                ret(returns)
            ),
            MsgOp::Block {
                dir,
                addr,
                unit,
                count,
                cache,
            } => {
                let unit = match unit {
                    BlockUnit::Oword => "oword",
                    BlockUnit::OwordHigh => "oword high",
                    BlockUnit::OwordUnaligned => "oword unaligned",
                    BlockUnit::Hword => "hword",
                };
                write!(f, "{}{unit} block {dir} {addr} x{count}", constant(cache))
            }
            MsgOp::Scratch {
                dir, count, offset, ..
            } => write!(f, "scratch {dir} x{count} at {offset}"),
            MsgOp::Fence { slm, commit, .. } => write!(
                f,
                "{} fence{}",
                if slm { "slm" } else { "global" },
                if commit { " with commit" } else { "" }
            ),
            MsgOp::Barrier => f.write_str("barrier"),
            MsgOp::ThreadEnd { .. } => f.write_str("end of thread"),
            MsgOp::Raw { sfid, control } => {
                write!(f, "{sfid} message with control {:#x}", control as u32)
            }
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.op.fmt(f)?;
        write!(f, " (src0 {}", self.src0_grfs)?;
        if self.src1_grfs > 0 {
            write!(f, ", src1 {}", self.src1_grfs)?;
        }
        write!(f, ", response {}", self.response_grfs)?;
        if self.header {
            f.write_str(", header")?;
        }
        if self.eot {
            f.write_str(", eot")?;
        }
        f.write_str(")")
    }
}
