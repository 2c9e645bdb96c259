//! Display of messages.

use super::lsc::{LscAccess, LscPort, LscSurface, LscVector};
use super::ports::{Sample, Urb, UrbOp};
use super::{AddrModel, AtomicOp, Dir, FloatAtomicOp, Message, Rgba, Surface};
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

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "sampler {} mode {} sampler {} bti[{}]",
            self.op.name(),
            self.mode,
            self.sampler,
            self.surface
        )
    }
}

impl fmt::Display for Urb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.op {
            UrbOp::Write { .. } => write!(f, "urb write at {}", self.offset),
            UrbOp::Read => write!(f, "urb read at {}", self.offset),
            UrbOp::Fence => f.write_str("urb fence"),
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
