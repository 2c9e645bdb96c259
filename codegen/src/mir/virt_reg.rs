//! The register of an instruction before allocation, in 32 bits: instructions have many of them,
//! and are copied a lot.

use super::{VCode, VFlag, VReg};
use gantry_isa_gen as isa;
use std::fmt;

/// How many virtual registers a [`VirtReg`] has bits for.
const MAX_REGS: u32 = 1 << 31;

/// How many flags a [`VirtReg`] has bits for. The number behind them is [`VFlag::EXEC`]'s.
pub(super) const MAX_FLAGS: u32 = (1 << 30) - 1;

/// Set for all but virtual registers in the GRF file.
const NOT_GRF: u32 = 1 << 31;

/// Set, where [`NOT_GRF`] is, for physical registers.
const PHYS: u32 = 1 << 30;

/// A register of an instruction before allocation: a [`RegKind`], packed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct VirtReg(u32);

/// What a [`VirtReg`] is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegKind {
    /// In the GRF file.
    Grf(VReg),
    /// A flag.
    Flag(VFlag),
    /// A physical register: null, accumulators, address and state registers, and flags after their
    /// allocation.
    Phys(isa::Reg),
}

impl VirtReg {
    /// The null register.
    pub const NULL: VirtReg = VirtReg::phys(isa::Reg::NULL);

    /// A register in the GRF file. There are bits for numbers below 2^31; emission fails on code
    /// that has more.
    #[inline]
    pub const fn grf(r: VReg) -> VirtReg {
        VirtReg(r.0 & !NOT_GRF)
    }

    /// A flag, or [`VFlag::EXEC`]. There are bits for numbers below 2^30; emission fails on code
    /// that has more.
    #[inline]
    pub const fn flag(f: VFlag) -> VirtReg {
        VirtReg(f.0 & !PHYS | NOT_GRF)
    }

    /// A physical register.
    #[inline]
    pub const fn phys(r: isa::Reg) -> VirtReg {
        VirtReg(r.to_bits() as u32 | PHYS | NOT_GRF)
    }

    /// What it is.
    #[inline]
    pub const fn kind(self) -> RegKind {
        if self.0 & NOT_GRF == 0 {
            RegKind::Grf(VReg(self.0))
        } else if self.0 & PHYS == 0 {
            RegKind::Flag(VFlag(self.0 & !NOT_GRF))
        } else {
            RegKind::Phys(isa::Reg::from_bits(self.0 as u16))
        }
    }

    /// The virtual register in the GRF file, where this is one.
    #[inline]
    pub const fn as_grf(self) -> Option<VReg> {
        match self.kind() {
            RegKind::Grf(r) => Some(r),
            RegKind::Flag(_) | RegKind::Phys(_) => None,
        }
    }

    /// The virtual flag, where this is one.
    #[inline]
    pub const fn as_flag(self) -> Option<VFlag> {
        match self.kind() {
            RegKind::Flag(f) => Some(f),
            RegKind::Grf(_) | RegKind::Phys(_) => None,
        }
    }

    /// Whether this is a virtual register in the GRF file.
    #[inline]
    pub const fn is_grf(self) -> bool {
        self.as_grf().is_some()
    }

    /// Whether this is a virtual flag.
    #[inline]
    pub const fn is_flag(self) -> bool {
        self.as_flag().is_some()
    }
}

impl isa::Register for VirtReg {
    #[inline]
    fn as_phys(self) -> Option<isa::Reg> {
        match self.kind() {
            RegKind::Phys(r) => Some(r),
            RegKind::Grf(_) | RegKind::Flag(_) => None,
        }
    }
}

impl fmt::Display for VirtReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            RegKind::Grf(r) => r.fmt(f),
            RegKind::Flag(r) => r.fmt(f),
            RegKind::Phys(r) => r.fmt(f),
        }
    }
}

impl fmt::Debug for VirtReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)
    }
}

/// Fails where code has a register or a flag whose number a [`VirtReg`] has no bits for. Memory
/// ends long before.
pub(crate) fn check_counts(code: &VCode) -> Result<(), String> {
    if code.vregs.len() <= MAX_REGS as usize && code.flags.len() <= MAX_FLAGS as usize {
        Ok(())
    } else {
        Err(format!(
            "{} registers and {} flags; {MAX_REGS} and {MAX_FLAGS} are the most",
            code.vregs.len(),
            code.flags.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;
    use isa::{Arf, Reg, Register};

    #[test]
    fn registers_are_small_and_whole() {
        assert_eq!(size_of::<VirtReg>(), 4);
        for n in [0, 1, MAX_REGS as usize - 1] {
            let r = VirtReg::grf(VReg::new(n));
            assert_eq!(r.kind(), RegKind::Grf(VReg::new(n)));
            assert_eq!((r.as_grf(), r.as_flag()), (Some(VReg::new(n)), None));
            assert_eq!(r.as_phys(), None);
        }
        for f in [
            VFlag::new(0),
            VFlag::new(MAX_FLAGS as usize - 1),
            VFlag::EXEC,
        ] {
            let r = VirtReg::flag(f);
            assert_eq!(r.kind(), RegKind::Flag(f));
            assert_eq!((r.as_grf(), r.as_flag()), (None, Some(f)));
            assert_eq!(r.as_phys(), None);
        }
        for p in [Reg::NULL, Reg::Arf(Arf::Dbg, 255), Reg::Grf(255)] {
            let r = VirtReg::phys(p);
            assert_eq!(r.kind(), RegKind::Phys(p));
            assert_eq!((r.as_grf(), r.as_flag()), (None, None));
            assert_eq!(r.as_phys(), Some(p));
        }
    }

    #[test]
    fn registers_show_what_they_are() {
        let [r, f] = [VirtReg::grf(VReg::new(3)), VirtReg::flag(VFlag::new(4))];
        assert_eq!(format!("{r} {f} {}", VirtReg::NULL), "%r3 %f4 null");
        assert_eq!(format!("{r:?} {f:?}"), "Grf(%r3) Flag(%f4)");
    }
}
