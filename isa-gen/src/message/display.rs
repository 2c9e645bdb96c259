//! Display of messages.

use super::lsc::{LscAccess, LscPort, LscSurface, LscVector};
use super::ports::UrbOp;
use super::{
    AddrModel, AtomicOp, BlockUnit, Cache, Dir, FloatAtomicOp, Message, MsgOp, Rgba, Simd, Slots,
    Surface,
};
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

impl fmt::Display for Rgba {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(".")?;
        for (i, c) in "xyzw".chars().enumerate() {
            if self.mask() >> i & 1 == 1 {
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for LscPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LscPort::Ugm => "ugm",
            LscPort::Ugml => "ugml",
            LscPort::Tgm => "tgm",
            LscPort::Slm => "slm",
        })
    }
}

/// Writes the surface with a leading dot, or nothing for flat addresses.
impl fmt::Display for LscSurface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LscSurface::Flat => Ok(()),
            LscSurface::Bss(v) => write!(f, ".bss[0x{v:X}]"),
            LscSurface::Ss(v) => write!(f, ".ss[0x{v:X}]"),
            LscSurface::Bti(n) => write!(f, ".bti[{n}]"),
        }
    }
}

/// Writes the vector as in the data size of the assembler's syntax: `x4`, `x16t`, `.xyz`.
impl fmt::Display for LscVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LscVector::Mask(m) => m.fmt(f),
            LscVector::ONE => Ok(()),
            LscVector::Count { n, transposed } => {
                write!(f, "x{n}{}", if transposed { "t" } else { "" })
            }
        }
    }
}

impl fmt::Display for LscAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (data, addr) = (self.data.name(), self.addr.name());
        let LscAccess {
            port,
            op,
            vector,
            surface,
            caching,
            ..
        } = self;
        write!(f, "{op}.{port}.{data}{vector}.{addr}{caching}{surface}")
    }
}

impl AtomicOp {
    /// Returns the operation's name in lower case.
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
    /// Returns the operation's name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            FloatAtomicOp::FMax => "fmax",
            FloatAtomicOp::FMin => "fmin",
            FloatAtomicOp::FCmpWr => "fcmpwr",
            FloatAtomicOp::FAdd => "fadd",
            FloatAtomicOp::FSub => "fsub",
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
                write!(f, "untyped {dir} {addr} simd{} {rgba}", simd.channels())
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
            MsgOp::HalfAtomic {
                op,
                addr,
                returns,
                simd,
            } => write!(
                f,
                "atomic {} {addr} simd{} d16{}",
                op.name(),
                simd.channels(),
                ret(returns)
            ),
            MsgOp::SizedFloatAtomic {
                op,
                bits,
                addr,
                returns,
                simd,
            } => write!(
                f,
                "atomic {} {addr} simd{} f{bits}{}",
                op.name(),
                simd.channels(),
                ret(returns)
            ),
            MsgOp::Typed {
                dir,
                surface,
                rgba,
                slots,
                status,
            } => write!(
                f,
                "typed {dir} {surface} {rgba}{}{}",
                match slots {
                    Slots::Dual => " simd4x2",
                    Slots::Low => "",
                    Slots::High => " upper slots",
                },
                if status { " with status" } else { "" }
            ),
            MsgOp::TypedAtomic {
                op,
                surface,
                half,
                high,
                returns,
            } => write!(
                f,
                "typed atomic {} {surface} d{}{}{}",
                op.name(),
                if half { 16 } else { 32 },
                if high { " upper slots" } else { "" },
                ret(returns)
            ),
            MsgOp::CounterAtomic {
                op,
                surface,
                half,
                simd,
                returns,
            } => write!(
                f,
                "counter atomic {} {surface} simd{} d{}{}",
                op.name(),
                simd.channels(),
                if half { 16 } else { 32 },
                ret(returns)
            ),
            MsgOp::MediaBlock { dir, surface, .. } => write!(f, "media block {dir} {surface}"),
            MsgOp::Lsc(a) => a.fmt(f),
            MsgOp::LscBlock2d {
                port,
                dir,
                data,
                transposed,
                vnni,
                surface,
                caching,
            } => write!(
                f,
                "{}_block2d.{port}.{}{}{}.a64{caching}{surface}",
                if dir == Dir::Read { "load" } else { "store" },
                data.name(),
                if transposed { "t" } else { "" },
                if vnni { "v" } else { "" },
            ),
            MsgOp::LscFence {
                port, op, scope, ..
            } => {
                write!(f, "fence.{port}.{}.{}", op.name(), scope.name())
            }
            MsgOp::LscCcs { port, op, surface } => write!(f, "{}.{port}{surface}", op.name()),
            MsgOp::LscReadState { port, surface } => write!(f, "read_state.{port}{surface}"),
            MsgOp::Gateway(op) => f.write_str(op.name()),
            MsgOp::Sample(s) => write!(
                f,
                "sampler {} mode {} sampler {} bti[{}]",
                s.op.name(),
                s.mode,
                s.sampler,
                s.surface
            ),
            MsgOp::Urb(u) => match u.op {
                UrbOp::Write { .. } => write!(f, "urb write at {}", u.offset),
                UrbOp::Read => write!(f, "urb read at {}", u.offset),
                UrbOp::Fence => f.write_str("urb fence"),
            },
            MsgOp::Render { dir, surface, .. } => write!(f, "render target {dir} bti[{surface}]"),
            MsgOp::TraceRay(s) => write!(f, "trace ray simd{}", Simd::channels(s)),
            MsgOp::Spawn(s) => write!(f, "spawn simd{}", Simd::channels(s)),
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
