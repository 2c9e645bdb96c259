//! Platforms: names, versions, products and features.

mod devices;
mod features;
mod limits;

pub use devices::{DeviceInfo, PRODUCTS, Product};
pub use features::Features;
pub use limits::{DeviceLimits, GpuSize};

use std::fmt;

crate::named_enum! {
    /// Platform: an instruction set with its encoding and its legality rules.
    ///
    /// Its names are those that `iga64`, `ocloc` and people write, in lower case. The first is
    /// canonical.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
    pub enum Platform {
        /// Gen7.5: Haswell.
        Gen7p5 = "gen7p5" | "gen7.5" | "7p5" | "7.5" | "gen75",
        /// Gen8: Broadwell.
        Gen8 = "gen8" | "8",
        /// Gen8 LP: Cherryview, Braswell.
        Gen8Lp = "gen8lp" | "8lp" | "8.1",
        /// Gen9: Skylake, Kaby Lake, Coffee Lake.
        Gen9 = "gen9" | "9",
        /// Gen9 LP: Broxton, Apollo Lake, Gemini Lake.
        Gen9Lp = "gen9lp" | "9lp" | "9.1",
        /// Gen10: Cannon Lake.
        Gen10 = "gen10" | "10",
        /// Gen11: Ice Lake, Elkhart Lake.
        Gen11 = "gen11" | "11",
        /// Xe-LP (Gen12 LP): Tiger Lake, Rocket Lake, Alder Lake, DG1.
        XeLp = "xelp" | "xe-lp" | "xe_lp" | "xe" | "gen12lp" | "gen12p1" | "gen12" | "12p1"
            | "12.1" | "12",
        /// Xe-HP.
        XeHp = "xehp" | "xe-hp" | "xe_hp" | "gen12p5" | "12p5" | "12.5",
        /// Xe-HPG: DG2.
        XeHpg = "xehpg" | "xe-hpg" | "xe_hpg" | "gen12p71" | "12p71" | "12.7" | "12p7",
        /// Xe-HPC: Ponte Vecchio, with GRFs of 64 bytes.
        XeHpc = "xehpc" | "xe-hpc" | "xe_hpc" | "gen12p72" | "12p72" | "12p8",
    }
    fn name, from_own_name;
}

/// Number of columns of the tables, one per generation. Low-power parts share the column of their
/// generation.
pub(crate) const COLUMNS: usize = 9;

/// Versions as in `ocloc` (major, minimum and maximum minor, for any revision).
const VERSIONS: [(u32, u32, u32, Platform); 12] = [
    (8, 0, 0, Platform::Gen8),
    (9, 0, 2, Platform::Gen9),
    (9, 3, 6, Platform::Gen9Lp),
    (9, 7, 7, Platform::Gen9),
    (11, 0, 2, Platform::Gen11),
    (12, 0, 10, Platform::XeLp),
    (12, 50, 50, Platform::XeHp),
    (12, 55, 57, Platform::XeHpg),
    (12, 60, 61, Platform::XeHpc),
    (12, 70, 71, Platform::XeHpg),
    (7, 5, 5, Platform::Gen7p5),
    (10, 0, 0, Platform::Gen10),
];

impl Platform {
    /// Returns the platform with a name.
    ///
    /// The name is one of a platform (`gen9`, `9`, `12p1`, `xe-hpg`) or of a product (`skl`,
    /// `tgllp`, `dg2`). It may also be a version as `ocloc` takes it (`12.55.8`), or a PCI device
    /// id (`0x56a0`). Case is ignored.
    ///
    /// ```
    /// use gantry_isa_gen::Platform;
    /// assert_eq!(Platform::from_name("skl"), Some(Platform::Gen9));
    /// assert_eq!(Platform::from_name("12p1"), Some(Platform::XeLp));
    /// assert_eq!(Platform::from_name("DG2"), Some(Platform::XeHpg));
    /// assert_eq!(Platform::from_name("0x0bd5"), Some(Platform::XeHpc));
    /// assert_eq!(Platform::from_name("12.10.0"), Some(Platform::XeLp));
    /// assert_eq!(Platform::from_name("m1"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Platform> {
        let name = name.to_ascii_lowercase();
        if let Some(hex) = name.strip_prefix("0x") {
            return Platform::from_pci_id(u16::from_str_radix(hex, 16).ok()?);
        }
        let product = || {
            PRODUCTS
                .iter()
                .find(|p| p.names.contains(&name.as_str()))
                .map(|p| p.platform)
        };
        Platform::from_own_name(&name)
            .or_else(product)
            .or_else(|| from_version(&name))
    }

    /// Returns the platform of a PCI device id.
    pub fn from_pci_id(id: u16) -> Option<Platform> {
        PRODUCTS
            .iter()
            .find(|p| p.pci_ids.contains(&id))
            .map(|p| p.platform)
    }

    /// Returns the platform of a product family number in the notes of a zebin.
    pub fn from_family(family: u32) -> Option<Platform> {
        PRODUCTS
            .iter()
            .find(|p| p.families.contains(&family))
            .map(|p| p.platform)
    }

    /// Returns the platform of a core family number in the notes of a zebin (compute-runtime,
    /// `igfxfmid.h`), the first one if several share a family.
    pub const fn from_core(core: u32) -> Option<Platform> {
        Some(match core {
            10 => Platform::Gen7p5,
            11 => Platform::Gen8,
            12 => Platform::Gen9,
            13 | 14 => Platform::Gen10,
            15 | 16 => Platform::Gen11,
            17 | 18 => Platform::XeLp,
            0xc05 => Platform::XeHp,
            0xc07 => Platform::XeHpg,
            0xc08 => Platform::XeHpc,
            _ => return None,
        })
    }

    /// Returns true if both are of one generation, so that they run the same code.
    pub const fn same_generation(self, other: Platform) -> bool {
        self.column() == other.column()
    }

    /// Returns the name that `iga64 -p=` takes.
    pub const fn iga_name(self) -> &'static str {
        match self {
            Platform::Gen7p5 => "7p5",
            Platform::Gen8 | Platform::Gen8Lp => "8",
            Platform::Gen9 | Platform::Gen9Lp => "9",
            Platform::Gen10 => "10",
            Platform::Gen11 => "11",
            Platform::XeLp => "12p1",
            Platform::XeHp => "12p5",
            Platform::XeHpg => "12p71",
            Platform::XeHpc => "12p72",
        }
    }

    /// Returns the platform's column in the tables.
    pub(crate) const fn column(self) -> usize {
        match self {
            Platform::Gen7p5 => 0,
            Platform::Gen8 | Platform::Gen8Lp => 1,
            Platform::Gen9 | Platform::Gen9Lp => 2,
            Platform::Gen10 => 3,
            Platform::Gen11 => 4,
            Platform::XeLp => 5,
            Platform::XeHp => 6,
            Platform::XeHpg => 7,
            Platform::XeHpc => 8,
        }
    }
}

/// Returns the platform of `major.minor.revision`.
fn from_version(name: &str) -> Option<Platform> {
    let mut parts = name.split('.');
    let (major, minor, revision) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || revision.parse::<u32>().is_err() {
        return None;
    }
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    VERSIONS
        .iter()
        .find(|(m, from, to, _)| *m == major && (*from..=*to).contains(&minor))
        .map(|v| v.3)
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_known() {
        let mut seen = std::collections::BTreeSet::new();
        for (n, p) in Platform::NAMES {
            assert_eq!(Platform::from_name(n), Some(*p), "{n}");
            assert!(seen.insert(*n), "{n}");
        }
        for p in Platform::ALL {
            assert_eq!(
                Platform::from_name(p.iga_name()).map(Platform::column),
                Some(p.column())
            );
        }
        let mut ids = std::collections::BTreeSet::new();
        for p in &PRODUCTS {
            for n in p.names {
                assert_eq!(Platform::from_name(n), Some(p.platform), "{n}");
                assert!(seen.insert(*n), "{n}");
            }
            for family in p.families {
                assert_eq!(Platform::from_family(*family), Some(p.platform));
            }
            for id in p.pci_ids {
                assert!(ids.insert(*id), "{id:#06x}");
                assert_eq!(Platform::from_name(&format!("{id:#06x}")), Some(p.platform));
            }
        }
    }
}
