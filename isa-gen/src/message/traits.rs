//! What the shared functions of each generation are like: one row per generation, facts by name.
//!
//! Sources: the PRMs' "Shared Functions" volumes of each generation (MSD and MDC structures), and what the assembler of
//! Intel's graphics compiler takes.

use super::Sfid;
use crate::platform::Platform;

/// Facts about sends that the message tables ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Traits {
    /// Channels of a full message of a data port.
    pub(crate) full_exec: u32,
    /// Bits in a GRF.
    pub(crate) grf_bits: u32,
    /// The shared function is in bits 3:0 of the extended descriptor (before Xe), not in the mnemonic.
    pub(crate) sfid_in_ex: bool,
    /// The load/store cache and its ports (UGM, UGML, TGM, SLM), and what came with it.
    pub(crate) lsc: bool,
    ports: Ports,
}

/// Facts that are no more than about messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ports {
    /// The length of source 1 is in bits 10:6 of the extended descriptor whenever that is an immediate.
    pub(crate) src1_len_in_ex: bool,
    /// SFID 4 is data cache 2, not the sampler's old number.
    pub(crate) data_cache_2: bool,
    /// Types 3, 13h, 1Ch and 1Eh of data cache 1 are SIMD4x2 atomics (16-bit atomics later).
    pub(crate) simd4x2_atomics: bool,
    /// Scratch messages choose whether the execution mask counts owords or dwords.
    pub(crate) scratch_channel_mode: bool,
    /// Compression control through the read-only data port.
    pub(crate) ccs: bool,
    /// Sampler messages have 16 or 32 channels where others have 8 or 16.
    pub(crate) wide_sampler: bool,
    /// A barrier sends nothing back, and there are named ones.
    pub(crate) silent_barrier: bool,
}

impl std::ops::Deref for Traits {
    type Target = Ports;

    fn deref(&self) -> &Ports {
        &self.ports
    }
}

const GEN7P5: Ports = Ports {
    src1_len_in_ex: true,
    data_cache_2: false,
    simd4x2_atomics: true,
    scratch_channel_mode: true,
    ccs: false,
    wide_sampler: false,
    silent_barrier: false,
};
const GEN9: Ports = Ports {
    data_cache_2: true,
    ..GEN7P5
};
const GEN10: Ports = Ports {
    scratch_channel_mode: false,
    ..GEN9
};
const XE_LP: Ports = Ports {
    simd4x2_atomics: false,
    ..GEN10
};
const XE_HP: Ports = Ports {
    ccs: true,
    silent_barrier: true,
    ..XE_LP
};
const XE_HPG: Ports = Ports {
    src1_len_in_ex: false,
    ..XE_HP
};
const XE_HPC: Ports = Ports {
    wide_sampler: true,
    ..XE_HPG
};

/// By column.
static PORTS: [Ports; 9] = [
    GEN7P5, GEN7P5, GEN9, GEN10, GEN10, XE_LP, XE_HP, XE_HPG, XE_HPC,
];

/// The facts of a platform.
pub(crate) fn traits(platform: Platform) -> Traits {
    let f = platform.features();
    Traits {
        full_exec: f.grf_bytes / 2,
        grf_bits: f.grf_bytes * 8,
        sfid_in_ex: !f.unified_send,
        lsc: f.lsc,
        ports: PORTS[platform.column()],
    }
}

/// The names of the shared functions by number: what the mnemonic says on Gen12 and later, before the load/store cache
/// and since. Empty: none.
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

/// The same for comments on older platforms, where the mnemonic has no name: with the old sampler, and with data cache 2.
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

impl Traits {
    /// The name of a shared function in a mnemonic (`send.dc0`).
    pub(crate) fn mnemonic(&self, sfid: Sfid) -> Option<&'static str> {
        let name = NAMES[usize::from(self.lsc)][usize::from(sfid.number() & 15)];
        (!name.is_empty()).then_some(name)
    }

    /// The shared function that a mnemonic names.
    pub(crate) fn sfid(&self, name: &str) -> Option<Sfid> {
        if name.is_empty() {
            return None;
        }
        let names = &NAMES[usize::from(self.lsc)];
        let n = names.iter().position(|n| *n == name)?;
        Sfid::new(n as u8)
    }

    /// The name of a shared function in comments where the mnemonic has none; `?` where there is no such function.
    pub(crate) fn long_name(&self, sfid: Sfid) -> &'static str {
        LONG_NAMES[usize::from(self.data_cache_2)][usize::from(sfid.number() & 15)]
    }
}
