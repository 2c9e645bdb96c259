//! Registers: the general GRF file (GRF) and the architecture GRF file (ARF).

use std::fmt;

crate::named_enum! {
    /// Kind of architecture register, in the order of the codes (PRM Vol. 7, "ARF Registers").
    /// Names are those of IGA syntax, without the register number.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
    pub enum Arf {
        /// `null`: reads are undefined, writes are discarded.
        Null = "null",
        /// `a0`: address register, 16 words.
        Address = "a",
        /// `acc0`..: accumulators.
        Acc = "acc",
        /// `f0`, `f1`: flag registers of 32 bits, two 16-bit sub-registers each.
        Flag = "f",
        /// `ce0`: channel enables.
        ChannelEnable = "ce",
        /// `msg0`: message control.
        Msg = "msg",
        /// `sp`: stack pointer.
        Sp = "sp",
        /// `sr0`: state.
        State = "sr",
        /// `cr0`: control.
        Control = "cr",
        /// `n0`: notification.
        Notification = "n",
        /// `ip`: instruction pointer.
        Ip = "ip",
        /// `tdr0`: thread dependency.
        Tdr = "tdr",
        /// `tm0`: timestamp.
        Timestamp = "tm",
        /// `fc0`: flow control.
        FlowControl = "fc",
        /// `dbg0`: debug.
        Dbg = "dbg",
    }
}

impl Arf {
    /// Returns true if the name is written with a register number (`null`, `ip`, `sp` and `ce` are
    /// not).
    pub const fn numbered(self) -> bool {
        !matches!(self, Arf::Null | Arf::Ip | Arf::Sp | Arf::ChannelEnable)
    }

    /// Returns true if the name is written with a sub-register number.
    pub const fn has_subregs(self) -> bool {
        !matches!(self, Arf::Null | Arf::Ip | Arf::ChannelEnable)
    }

    /// Returns true if a sub-register number counts bytes, whatever the type.
    pub const fn counts_bytes(self) -> bool {
        matches!(
            self,
            Arf::Msg | Arf::FlowControl | Arf::Ip | Arf::ChannelEnable
        )
    }

    /// Returns the upper four bits of the encoded register number.
    pub const fn code(self) -> u8 {
        match self {
            Arf::Null => 0,
            Arf::Address => 1,
            Arf::Acc => 2,
            Arf::Flag => 3,
            Arf::ChannelEnable => 4,
            Arf::Msg => 5,
            Arf::Sp => 6,
            Arf::State => 7,
            Arf::Control => 8,
            Arf::Notification => 9,
            Arf::Ip => 10,
            Arf::Tdr => 11,
            Arf::Timestamp => 12,
            Arf::FlowControl => 13,
            Arf::Dbg => 15,
        }
    }

    /// Returns the kind with this code.
    pub fn from_code(code: u8) -> Option<Arf> {
        Arf::ALL.into_iter().find(|a| a.code() == code)
    }
}

/// Physical register: GRF file and number. The sub-register is in [`RegRef`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Reg {
    /// General register `r0` to `r127`.
    Grf(u8),
    /// Architecture register and its number.
    Arf(Arf, u8),
}

impl Reg {
    /// Null register.
    pub const NULL: Reg = Reg::Arf(Arf::Null, 0);

    /// Packs the register into 16 bits: the number in bits 7:0, the GRF file in bits 15:8 (0
    /// for the GRF).
    pub const fn to_bits(self) -> u16 {
        match self {
            Reg::Grf(n) => n as u16,
            Reg::Arf(kind, n) => (kind as u16 + 1) << 8 | n as u16,
        }
    }

    /// Unpacks the register of [`Reg::to_bits`]. Any other bits give some register too.
    pub const fn from_bits(bits: u16) -> Reg {
        let (file, n) = ((bits >> 8) as usize, bits as u8);
        if file == 0 || file > Arf::ALL.len() {
            Reg::Grf(n)
        } else {
            Reg::Arf(Arf::ALL[file - 1], n)
        }
    }

    /// Returns true if this is the null register.
    pub const fn is_null(self) -> bool {
        matches!(self, Reg::Arf(Arf::Null, _))
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Reg::Grf(n) => write!(f, "r{n}"),
            // Accumulators 2 to 9 are the special accumulators of math macros and have their own
            // names.
            Reg::Arf(Arf::Acc, n) if n >= 2 => write!(f, "mme{}", n - 2),
            Reg::Arf(k, n) if k.numbered() => write!(f, "{}{n}", k.name()),
            Reg::Arf(k, _) => f.write_str(k.name()),
        }
    }
}

/// Register type of an [`Inst`](crate::Inst): [`Reg`] for the encoder and the simulator, the
/// compiler's own before allocation.
pub trait Register: Copy + Eq + fmt::Debug + fmt::Display {
    /// Returns the physical register, or `None` for a virtual register of the compiler.
    fn as_phys(self) -> Option<Reg>;
}

impl Register for Reg {
    fn as_phys(self) -> Option<Reg> {
        Some(self)
    }
}

/// Register operand: a register and a byte offset into it. `r5.3:d` is `Grf(5)` and 12; `f0.1` is
/// flag register 0 and 2.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RegRef<R> {
    /// Register.
    pub reg: R,
    /// Offset from the start of the register, in bytes.
    pub sub: u16,
}

impl<R> RegRef<R> {
    /// Creates an operand `sub` bytes into `reg`.
    pub const fn new(reg: R, sub: u16) -> Self {
        RegRef { reg, sub }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_round_trip_through_bits() {
        for n in 0..=u8::MAX {
            let all = Arf::ALL.map(|kind| Reg::Arf(kind, n));
            for r in all.into_iter().chain([Reg::Grf(n)]) {
                assert_eq!(Reg::from_bits(r.to_bits()), r);
            }
        }
    }
}
