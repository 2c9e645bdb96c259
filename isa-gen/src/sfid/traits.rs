//! Properties of the shared functions of each generation.
//!
//! Sources: the "Shared Functions" volumes of the PRMs (MSD and MDC structures), and the assembler
//! of Intel's graphics compiler.

use super::Sfid;
use crate::platform::Platform;

/// Properties of sends that the message tables depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SendTraits {
    /// Number of channels of a full data port message.
    pub(crate) full_exec: u32,
    /// Size of a GRF in bits.
    pub(crate) grf_bits: u32,
    /// True if the shared function is in bits 3:0 of the extended descriptor (before Xe), not in
    /// the mnemonic.
    pub(crate) sfid_in_ex: bool,
    /// True if the platform has the load/store cache with its ports (UGM, UGML, TGM, SLM), and the
    /// other messages of Xe-HPG.
    pub(crate) lsc: bool,
    /// Column of the platform in tables.
    pub(crate) column: usize,
    ports: PortTraits,
}

/// Properties of messages only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PortTraits {
    /// True if an immediate extended descriptor holds the length of source 1 in bits 10:6.
    pub(crate) src1_len_in_ex: bool,
    /// True if SFID 4 is data cache 2, not the sampler's old number.
    pub(crate) data_cache_2: bool,
    /// True if types 3, 13h, 1Ch and 1Eh of data cache 1 are SIMD4x2 atomics (16-bit atomics on
    /// later platforms).
    pub(crate) simd4x2_atomics: bool,
    /// True if scratch messages select the unit of the execution mask: owords or dwords.
    pub(crate) scratch_channel_mode: bool,
    /// True if the read-only data port has compression control.
    pub(crate) ccs: bool,
    /// True if sampler messages have 16 or 32 channels instead of 8 or 16.
    pub(crate) wide_sampler: bool,
    /// True if a barrier has no response, and there are named barriers.
    pub(crate) silent_barrier: bool,
}

impl std::ops::Deref for SendTraits {
    type Target = PortTraits;

    fn deref(&self) -> &PortTraits {
        &self.ports
    }
}

const GEN7P5: PortTraits = PortTraits {
    src1_len_in_ex: true,
    data_cache_2: false,
    simd4x2_atomics: true,
    scratch_channel_mode: true,
    ccs: false,
    wide_sampler: false,
    silent_barrier: false,
};
const GEN9: PortTraits = PortTraits {
    data_cache_2: true,
    ..GEN7P5
};
const GEN10: PortTraits = PortTraits {
    scratch_channel_mode: false,
    ..GEN9
};
const XE_LP: PortTraits = PortTraits {
    simd4x2_atomics: false,
    ..GEN10
};
const XE_HP: PortTraits = PortTraits {
    ccs: true,
    silent_barrier: true,
    ..XE_LP
};
const XE_HPG: PortTraits = PortTraits {
    src1_len_in_ex: false,
    ..XE_HP
};
const XE_HPC: PortTraits = PortTraits {
    wide_sampler: true,
    ..XE_HPG
};

/// Properties by column.
static PORTS: [PortTraits; 9] = [
    GEN7P5, GEN7P5, GEN9, GEN10, GEN10, XE_LP, XE_HP, XE_HPG, XE_HPC,
];

/// Returns the properties of a platform.
pub(crate) fn traits(platform: Platform) -> SendTraits {
    let f = platform.features();
    SendTraits {
        full_exec: f.grf_bytes / 2,
        grf_bits: f.grf_bytes * 8,
        sfid_in_ex: !f.unified_send,
        lsc: f.lsc,
        column: platform.column(),
        ports: PORTS[platform.column()],
    }
}

/// Names of the shared functions by number in mnemonics of Gen12 and later: before and with the
/// load/store cache. Empty for none.
static NAMES: [[&str; 16]; 2] = [
    [
        "null", "", "smpl", "gtwy", "dc2", "rc", "urb", "ts", "vme", "dcro", "dc0", "pixi", "dc1",
        "cre", "", "",
    ],
    [
        "null", "ugml", "smpl", "gtwy", "dc2", "rc", "urb", "btd", "rta", "dcro", "dc0", "pixi",
        "dc1", "tgm", "slm", "ugm",
    ],
];

/// Names of the shared functions in comments on older platforms, where the mnemonic has no name:
/// with the old sampler, and with data cache 2.
static LONG_NAMES: [[&str; 16]; 2] = [
    [
        "null", "?", "sampler", "gateway", "sampler", "hdc.rc", "hdc.urb", "spawner", "vme",
        "hdc.ccdp", "hdc.dc0", "pi", "hdc.dc1", "cre", "?", "?",
    ],
    [
        "null", "?", "sampler", "gateway", "hdc.dc2", "hdc.rc", "hdc.urb", "spawner", "vme",
        "hdc.dcro", "hdc.dc0", "pi", "hdc.dc1", "cre", "?", "?",
    ],
];

impl SendTraits {
    /// Returns the name of a shared function in a mnemonic (`send.dc0`).
    pub(crate) fn mnemonic(&self, sfid: Sfid) -> Option<&'static str> {
        let name = NAMES[usize::from(self.lsc)][usize::from(sfid.number() & 15)];
        (!name.is_empty()).then_some(name)
    }

    /// Returns the shared function that a mnemonic names.
    pub(crate) fn sfid(&self, name: &str) -> Option<Sfid> {
        if name.is_empty() {
            return None;
        }
        let names = &NAMES[usize::from(self.lsc)];
        let n = names.iter().position(|n| *n == name)?;
        Sfid::new(n as u8)
    }

    /// Returns the name of a shared function in comments where the mnemonic has none, or `?`.
    pub(crate) fn long_name(&self, sfid: Sfid) -> &'static str {
        LONG_NAMES[usize::from(self.data_cache_2)][usize::from(sfid.number() & 15)]
    }
}
