//! Register of an instruction before allocation, in 32 bits: instructions have many of them and are
//! copied a lot.

use super::{VCode, VFlag, VReg};
use gantry_isa_gen as isa;
use std::fmt;

/// Number of virtual registers that a [`VirtReg`] has bits for.
const MAX_REGS: u32 = 1 << 31;

/// Number of flags that a [`VirtReg`] has bits for. The next number is that of [`VFlag::EXEC`].
pub(super) const MAX_FLAGS: u32 = (1 << 30) - 1;

/// Set for all but virtual registers in the GRF file.
const NOT_GRF: u32 = 1 << 31;

/// Set, together with [`NOT_GRF`], for physical registers.
const PHYS: u32 = 1 << 30;

/// Register of an instruction before allocation: a [`RegKind`], packed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct VirtReg(u32);

/// Kinds of register that a [`VirtReg`] can be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegKind {
    /// Virtual register in the GRF file.
    Grf(VReg),
    /// Virtual flag.
    Flag(VFlag),
    /// Physical register: null, accumulators, address and state registers, and flags after their
    /// allocation.
    Phys(isa::Reg),
}

impl VirtReg {
    /// Null register.
    pub const NULL: VirtReg = VirtReg::phys(isa::Reg::NULL);

    /// Returns a register in the GRF file. There are bits for numbers below 2^31. Emission fails on
    /// code that has more.
    #[inline]
    pub const fn grf(r: VReg) -> VirtReg {
        VirtReg(r.0 & !NOT_GRF)
    }

    /// Returns a flag, or [`VFlag::EXEC`]. There are bits for numbers below 2^30. Emission fails on
    /// code that has more.
    #[inline]
    pub const fn flag(f: VFlag) -> VirtReg {
        VirtReg(f.0 & !PHYS | NOT_GRF)
    }

    /// Returns a physical register.
    #[inline]
    pub const fn phys(r: isa::Reg) -> VirtReg {
        VirtReg(r.to_bits() as u32 | PHYS | NOT_GRF)
    }

    /// Returns the kind of register, unpacked.
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

    /// Returns the virtual register in the GRF file, if this is one.
    #[inline]
    pub const fn as_grf(self) -> Option<VReg> {
        match self.kind() {
            RegKind::Grf(r) => Some(r),
            RegKind::Flag(_) | RegKind::Phys(_) => None,
        }
    }

    /// Returns the virtual flag, if this is one.
    #[inline]
    pub const fn as_flag(self) -> Option<VFlag> {
        match self.kind() {
            RegKind::Flag(f) => Some(f),
            RegKind::Grf(_) | RegKind::Phys(_) => None,
        }
    }

    /// Returns true for a virtual register in the GRF file.
    #[inline]
    pub const fn is_grf(self) -> bool {
        self.as_grf().is_some()
    }

    /// Returns true for a virtual flag.
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

/// Checks that all numbers of registers and flags fit into a [`VirtReg`]. No real code exceeds
/// them, since memory runs out first.
///
/// # Errors
/// Numbers of registers and flags, and their limits.
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
