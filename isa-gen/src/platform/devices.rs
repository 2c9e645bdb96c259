//! Products: short names and PCI device ids.
//!
//! Sources: the PCI id lists of Mesa and of the Linux driver, and `ocloc compile --help` for names.

use super::{DeviceLimits, GpuSize, Platform};

/// Product: a family of devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product {
    /// Common name.
    pub title: &'static str,
    /// Platform.
    pub platform: Platform,
    /// Product family numbers in the notes of a zebin (compute-runtime, `igfxfmid.h`), first the
    /// one that `ocloc` writes.
    pub families: &'static [u32],
    /// Short names that tools accept.
    pub names: &'static [&'static str],
    /// Size of its GPU.
    pub size: GpuSize,
    /// PCI device ids.
    pub pci_ids: &'static [u16],
}

impl Product {
    /// Returns the product with a short name, as `ocloc -device` takes it, in any case.
    pub fn from_name(name: &str) -> Option<&'static Product> {
        PRODUCTS
            .iter()
            .find(|p| p.names.iter().any(|n| n.eq_ignore_ascii_case(name)))
    }

    /// Returns the product with a PCI device id.
    pub fn from_pci_id(id: u16) -> Option<&'static Product> {
        PRODUCTS.iter().find(|p| p.pci_ids.contains(&id))
    }

    /// Returns the first name that `ocloc -device` takes.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or("")
    }
}

/// Identification of a device: the properties that a compiler needs to generate code for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceInfo {
    /// Name that the device reports.
    pub name: String,
    /// Product, if known. A simulator of a platform has none.
    pub product: Option<&'static Product>,
    /// Platform, if known.
    pub platform: Option<Platform>,
    /// Size and limits of the device: those of its product, else those of its platform, if known.
    pub limits: Option<DeviceLimits>,
}

/// Describes a size: subslices, EUs of each, threads of an EU, and whether there are atomics of 64
/// bits.
const fn size(subslices: u32, subslice_eus: u32, eu_threads: u32, atomics64: bool) -> GpuSize {
    GpuSize {
        subslices,
        subslice_eus,
        eu_threads,
        atomics64,
    }
}

/// All known products.
pub static PRODUCTS: [Product; 21] = [
    Product {
        title: "Haswell",
        platform: Platform::Gen7p5,
        families: &[],
        names: &["hsw"],
        size: size(2, 10, 7, false),
        pci_ids: &[
            0x0402, 0x0406, 0x040a, 0x040b, 0x040e, 0x0412, 0x0416, 0x041a, 0x041b, 0x041e, 0x0422,
            0x0426, 0x042a, 0x042b, 0x042e, 0x0a02, 0x0a06, 0x0a0a, 0x0a0b, 0x0a0e, 0x0a12, 0x0a16,
            0x0a1a, 0x0a1b, 0x0a1e, 0x0a22, 0x0a26, 0x0a2a, 0x0a2b, 0x0a2e, 0x0c02, 0x0c06, 0x0c0a,
            0x0c0b, 0x0c0e, 0x0c12, 0x0c16, 0x0c1a, 0x0c1b, 0x0c1e, 0x0c22, 0x0c26, 0x0c2a, 0x0c2b,
            0x0c2e, 0x0d02, 0x0d06, 0x0d0a, 0x0d0b, 0x0d0e, 0x0d12, 0x0d16, 0x0d1a, 0x0d1b, 0x0d1e,
            0x0d22, 0x0d26, 0x0d2a, 0x0d2b, 0x0d2e,
        ],
    },
    Product {
        title: "Broadwell",
        platform: Platform::Gen8,
        families: &[16],
        names: &["bdw"],
        size: size(3, 8, 7, true),
        pci_ids: &[
            0x1602, 0x1606, 0x160a, 0x160b, 0x160d, 0x160e, 0x1612, 0x1616, 0x161a, 0x161b, 0x161d,
            0x161e, 0x1622, 0x1626, 0x162a, 0x162b, 0x162d, 0x162e,
        ],
    },
    Product {
        title: "Cherryview, Braswell",
        platform: Platform::Gen8Lp,
        families: &[17],
        names: &["chv", "bsw"],
        size: size(2, 8, 7, false),
        pci_ids: &[0x22b0, 0x22b1, 0x22b2, 0x22b3],
    },
    Product {
        title: "Skylake",
        platform: Platform::Gen9,
        families: &[18],
        names: &["skl"],
        size: size(3, 8, 7, true),
        pci_ids: &[
            0x1902, 0x1906, 0x190a, 0x190b, 0x190e, 0x1912, 0x1913, 0x1915, 0x1916, 0x1917, 0x191a,
            0x191b, 0x191d, 0x191e, 0x1921, 0x1923, 0x1926, 0x1927, 0x192a, 0x192b, 0x192d, 0x1932,
            0x193a, 0x193b, 0x193d,
        ],
    },
    Product {
        title: "Kaby Lake, Amber Lake",
        platform: Platform::Gen9,
        families: &[19],
        names: &["kbl", "aml"],
        size: size(3, 8, 7, true),
        pci_ids: &[
            0x5902, 0x5906, 0x5908, 0x590a, 0x590b, 0x590e, 0x5912, 0x5913, 0x5915, 0x5916, 0x5917,
            0x591a, 0x591b, 0x591c, 0x591d, 0x591e, 0x5921, 0x5923, 0x5926, 0x5927, 0x593b, 0x87c0,
        ],
    },
    Product {
        title: "Coffee Lake, Whiskey Lake, Comet Lake",
        platform: Platform::Gen9,
        families: &[20, 21],
        names: &["cfl", "whl", "cml"],
        size: size(3, 8, 7, true),
        pci_ids: &[
            0x3e90, 0x3e91, 0x3e92, 0x3e93, 0x3e94, 0x3e96, 0x3e98, 0x3e99, 0x3e9a, 0x3e9b, 0x3e9c,
            0x3ea0, 0x3ea1, 0x3ea2, 0x3ea3, 0x3ea4, 0x3ea5, 0x3ea6, 0x3ea7, 0x3ea8, 0x3ea9, 0x87ca,
            0x9b21, 0x9b41, 0x9ba0, 0x9ba2, 0x9ba4, 0x9ba5, 0x9ba8, 0x9baa, 0x9bab, 0x9bac, 0x9bc0,
            0x9bc2, 0x9bc4, 0x9bc5, 0x9bc6, 0x9bc8, 0x9bca, 0x9bcb, 0x9bcc, 0x9be6, 0x9bf6,
        ],
    },
    Product {
        title: "Broxton, Apollo Lake",
        platform: Platform::Gen9Lp,
        families: &[22],
        names: &["bxt", "apl"],
        size: size(3, 6, 6, false),
        pci_ids: &[0x0a84, 0x1a84, 0x1a85, 0x5a84, 0x5a85],
    },
    Product {
        title: "Gemini Lake",
        platform: Platform::Gen9Lp,
        families: &[23],
        names: &["glk"],
        size: size(3, 6, 6, false),
        pci_ids: &[0x3184, 0x3185],
    },
    Product {
        title: "Cannon Lake",
        platform: Platform::Gen10,
        families: &[24],
        names: &["cnl"],
        size: size(5, 8, 7, true),
        pci_ids: &[
            0x5a40, 0x5a41, 0x5a42, 0x5a44, 0x5a49, 0x5a4a, 0x5a4c, 0x5a50, 0x5a51, 0x5a52, 0x5a54,
            0x5a59, 0x5a5a, 0x5a5c,
        ],
    },
    Product {
        title: "Ice Lake",
        platform: Platform::Gen11,
        families: &[26],
        names: &["icllp", "icl"],
        size: size(8, 8, 7, true),
        pci_ids: &[
            0x8a50, 0x8a51, 0x8a52, 0x8a53, 0x8a54, 0x8a56, 0x8a57, 0x8a58, 0x8a59, 0x8a5a, 0x8a5b,
            0x8a5c, 0x8a5d, 0x8a71,
        ],
    },
    Product {
        title: "Lakefield",
        platform: Platform::Gen11,
        families: &[27],
        names: &["lkf"],
        size: size(8, 8, 7, false),
        pci_ids: &[0x9840],
    },
    Product {
        title: "Elkhart Lake, Jasper Lake",
        platform: Platform::Gen11,
        families: &[28],
        names: &["ehl", "jsl"],
        size: size(4, 8, 7, false),
        pci_ids: &[
            0x4541, 0x4551, 0x4555, 0x4557, 0x4570, 0x4571, 0x4e51, 0x4e55, 0x4e57, 0x4e61, 0x4e71,
        ],
    },
    Product {
        title: "Tiger Lake",
        platform: Platform::XeLp,
        families: &[29],
        names: &["tgllp", "tgl"],
        size: size(6, 16, 7, true),
        pci_ids: &[
            0x9a40, 0x9a49, 0x9a59, 0x9a60, 0x9a68, 0x9a70, 0x9a78, 0x9ac0, 0x9ac9, 0x9ad9, 0x9af8,
        ],
    },
    Product {
        title: "Rocket Lake",
        platform: Platform::XeLp,
        families: &[30],
        names: &["rkl"],
        size: size(2, 16, 7, true),
        pci_ids: &[0x4c8a, 0x4c8b, 0x4c8c, 0x4c90, 0x4c9a],
    },
    Product {
        title: "Alder Lake S, Raptor Lake S",
        platform: Platform::XeLp,
        families: &[31],
        names: &["adl-s", "adls", "rpl-s"],
        size: size(2, 16, 7, true),
        pci_ids: &[
            0x4680, 0x4682, 0x4688, 0x468a, 0x468b, 0x4690, 0x4692, 0x4693, 0xa780, 0xa781, 0xa782,
            0xa783, 0xa788, 0xa789, 0xa78a, 0xa78b,
        ],
    },
    Product {
        title: "Alder Lake P, Raptor Lake P",
        platform: Platform::XeLp,
        families: &[32],
        names: &["adl-p", "adlp", "rpl-p", "rpl"],
        size: size(6, 16, 7, true),
        pci_ids: &[
            0x4626, 0x4628, 0x462a, 0x46a0, 0x46a1, 0x46a2, 0x46a3, 0x46a6, 0x46a8, 0x46aa, 0x46b0,
            0x46b1, 0x46b2, 0x46b3, 0x46c0, 0x46c1, 0x46c2, 0x46c3, 0xa720, 0xa721, 0xa7a0, 0xa7a1,
            0xa7a8, 0xa7a9, 0xa7aa, 0xa7ab, 0xa7ac, 0xa7ad,
        ],
    },
    Product {
        title: "Alder Lake N",
        platform: Platform::XeLp,
        families: &[33],
        names: &["adl-n", "adln"],
        size: size(2, 16, 7, true),
        pci_ids: &[0x46d0, 0x46d1, 0x46d2],
    },
    Product {
        title: "DG1, SG1",
        platform: Platform::XeLp,
        families: &[1210],
        names: &["dg1", "sg1"],
        size: size(6, 16, 7, true),
        pci_ids: &[0x4905, 0x4906, 0x4907, 0x4908, 0x4909],
    },
    Product {
        title: "Xe-HP SDV",
        platform: Platform::XeHp,
        families: &[1250],
        names: &["xe_hp_sdv", "xe-hp-sdv"],
        size: size(32, 16, 8, true),
        pci_ids: &[
            0x0201, 0x0202, 0x0203, 0x0204, 0x0205, 0x0206, 0x0207, 0x0208, 0x0209, 0x020a, 0x020b,
            0x020c, 0x020d, 0x020e, 0x020f, 0x0210,
        ],
    },
    Product {
        title: "DG2 (Alchemist), ATS-M",
        platform: Platform::XeHpg,
        families: &[1270],
        names: &[
            "dg2", "acm-g10", "acm-g11", "acm-g12", "dg2-g10", "dg2-g11", "dg2-g12", "ats-m75",
            "ats-m150",
        ],
        size: size(32, 16, 8, true),
        pci_ids: &[
            0x5690, 0x5691, 0x5692, 0x5693, 0x5694, 0x5695, 0x5696, 0x5697, 0x56a0, 0x56a1, 0x56a2,
            0x56a3, 0x56a4, 0x56a5, 0x56a6, 0x56b0, 0x56b1, 0x56b2, 0x56b3, 0x56ba, 0x56bb, 0x56bc,
            0x56bd, 0x56c0, 0x56c1,
        ],
    },
    Product {
        title: "Ponte Vecchio",
        platform: Platform::XeHpc,
        families: &[1271],
        names: &["pvc", "pvc-sdv", "pvc-xl", "pvc-xt"],
        size: size(64, 8, 8, true),
        pci_ids: &[
            0x0b69, 0x0b6e, 0x0bd0, 0x0bd4, 0x0bd5, 0x0bd6, 0x0bd7, 0x0bd8, 0x0bd9, 0x0bda, 0x0bdb,
        ],
    },
];
