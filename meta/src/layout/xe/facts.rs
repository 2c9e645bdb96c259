//! Codes in the fields of Xe: types, annotations, functions, per generation. The sources are those
//! of the layouts.

use crate::generation::Generation;
use crate::types::Ty;

/// Combination of a distance in a pipe and a use of a token in one annotation, by the names of
/// their variants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PairRule {
    /// Pipe.
    pub pipe: &'static str,
    /// Use of the token.
    pub kind: &'static str,
    /// Bits of the combination.
    pub base: u16,
}

/// Encoding of the SWSB field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Swsb {
    /// Bits of a distance without a token, by pipe: `Own All Float Int Long Math`.
    pub pipes: [Option<u16>; 6],
    /// Bits of a token without a distance: `Set Dst Src`.
    pub tokens: [u16; 3],
    /// Width of a token's number, which is in the lowest bits.
    pub token_bits: u8,
    /// Combinations of distance and token of `send`, `math`, `dpas` and all other instructions. The
    /// distance is above the token.
    pub pairs: [Vec<PairRule>; 4],
    /// Value of the field for `{NoAccSBSet}`.
    pub no_acc: Option<u16>,
}

/// Codes of a generation of Xe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct XeFacts {
    /// Type codes of the destination and source 0 of `dpas`, with the execution type as bit 3.
    pub dpas_acc_types: Vec<(Ty, u8)>,
    /// Type codes of sources 1 and 2 of `dpas`, with the execution type as bit 3 and the precision
    /// above.
    pub dpas_types: Vec<(Ty, u8)>,
    /// Systolic depths of `dpas` by code, 0 for none.
    pub depths: [u8; 4],
    /// SWSB field.
    pub swsb: Swsb,
    /// True if predicates combine by `.any` and `.all` alone, not by groups.
    pub whole_preds: bool,
    /// log2 of the unit of the channel offset.
    pub chan_shift: u8,
    /// log2 of the unit of sub-registers in bytes. It applies to those without a separate bit for
    /// bytes: source 1, three sources, branches, the address offset of source 1.
    pub sub_shift: u8,
    /// log2 of the unit of a three-source destination's sub-register in bytes.
    pub ternary_dst_shift: u8,
    /// Vertical stride code of VxH and Vx1.
    pub vxh: u8,
    /// Functions of `sync` by the names of their variants, with the code, and true if it takes an
    /// immediate.
    pub syncs: Vec<(&'static str, u8, bool)>,
    /// Function of `sync` that takes a flag.
    pub sync_flag: Option<&'static str>,
    /// Mask of shared functions that exist.
    pub sfids: u16,
    /// True if the send has its own field for the length of source 1, outside of the extended
    /// descriptor.
    pub own_src1_len: bool,
    /// Number of architecture registers of each kind, by the kind's code; 0 for none.
    pub arfs: [u8; 16],
}

const INTS: [(Ty, u8); 8] = [
    (Ty::Ub, 0),
    (Ty::Uw, 1),
    (Ty::Ud, 2),
    (Ty::Uq, 3),
    (Ty::B, 4),
    (Ty::W, 5),
    (Ty::D, 6),
    (Ty::Q, 7),
];
const FLOATS: [(Ty, u8); 3] = [(Ty::Hf, 9), (Ty::F, 10), (Ty::Df, 11)];
const BF: &[(Ty, u8)] = &[(Ty::Bf, 13)];
const NARROW: &[(Ty, u8)] = &[(Ty::Bf8, 8), (Ty::Tf32, 14)];

fn when(has: bool, list: &[(Ty, u8)]) -> &[(Ty, u8)] {
    if has { list } else { &[] }
}

/// Returns the type codes of register operands, of immediates and of three-source operands. The
/// last have the execution type as bit 3.
pub(super) fn types(g: Generation) -> [Vec<(Ty, u8)>; 3] {
    let (hp, hpc) = (g != Generation::XeLp, g == Generation::XeHpc);
    // The codes of byte types of registers are those of packed vectors of immediates.
    let words: Vec<(Ty, u8)> = INTS.into_iter().filter(|(_, c)| c & 3 != 0).collect();
    let packed = [(Ty::Uv, 0), (Ty::V, 4), (Ty::Vf, 8)];
    [
        [&INTS[..], &FLOATS, when(hp, BF), when(hpc, NARROW)].concat(),
        [&packed[..], &words, &FLOATS].concat(),
        [
            &INTS[..],
            &FLOATS,
            when(hp, BF),
            when(!hpc, &[(Ty::Nf, 15)]),
        ]
        .concat(),
    ]
}

/// Returns the codes of a generation, or `None` before Xe.
pub fn facts(g: Generation) -> Option<XeFacts> {
    let (hp, hpg, hpc) = match g {
        Generation::XeLp => (false, false, false),
        Generation::XeHp => (true, false, false),
        Generation::XeHpg => (true, true, false),
        Generation::XeHpc => (true, true, true),
        _ => return None,
    };
    let accumulators: [&[(Ty, u8)]; 4] = [
        &INTS,
        &[(Ty::Hf, 9), (Ty::F, 10)],
        BF,
        when(hpc, &[(Ty::Df, 11)]),
    ];
    let factors: [&[(Ty, u8)]; 5] = [
        &[(Ty::Ub, 0), (Ty::B, 4), (Ty::Hf, 9)],
        &[(Ty::U4, 0x10), (Ty::S4, 0x14)],
        &[(Ty::U2, 0x20), (Ty::S2, 0x24), (Ty::U1, 0x30)],
        BF,
        when(hpc, NARROW),
    ];
    let mut syncs = vec![
        ("Nop", 0, false),
        ("Allrd", 2, true),
        ("Allwr", 3, true),
        ("Bar", 14, hpc),
        ("Host", 15, false),
    ];
    if hpc {
        syncs.push(("Fence", 13, false));
    }
    // Accumulators including special ones, flags, ...
    let flags = if hpc { 4 } else { 2 };
    let sp = u8::from(!hp);
    Some(XeFacts {
        dpas_acc_types: if hp {
            accumulators.concat()
        } else {
            Vec::new()
        },
        dpas_types: if hp { factors.concat() } else { Vec::new() },
        depths: [u8::from(hp && !hpc), 2, 4, 8],
        swsb: match (hp, hpc) {
            (_, true) => swsb_hpc(),
            (true, false) => swsb_hp(),
            _ => swsb_lp(),
        },
        whole_preds: hpc,
        chan_shift: if hpc { 3 } else { 2 },
        sub_shift: u8::from(hpc),
        ternary_dst_shift: match (hp, hpc) {
            (_, true) => 1,
            (true, _) => 0,
            _ => 3,
        },
        vxh: if hpc { 7 } else { 15 },
        syncs,
        sync_flag: hpc.then_some("Bar"),
        sfids: if hpg { 0xffff } else { 0x3ffd },
        own_src1_len: hpg,
        arfs: [1, 1, 16, flags, 1, 8, sp, 2, 1, 1, 1, 1, 1, 4, 0, 1],
    })
}

fn pair(pipe: &'static str, kind: &'static str, base: u16) -> PairRule {
    PairRule { pipe, kind, base }
}

/// Returns the SWSB field of Xe-LP: one in-order pipe, 16 tokens.
fn swsb_lp() -> Swsb {
    let set = vec![pair("Own", "Set", 0x80)];
    Swsb {
        pipes: [Some(0), None, None, None, None, None],
        tokens: [0x40, 0x20, 0x30],
        token_bits: 4,
        pairs: [
            set.clone(),
            set.clone(),
            set,
            vec![pair("Own", "Dst", 0x80)],
        ],
        no_acc: None,
    }
}

/// Returns the SWSB field of Xe-HP and Xe-HPG: three in-order pipes.
fn swsb_hp() -> Swsb {
    let set = vec![pair("Own", "Set", 0x80)];
    Swsb {
        pipes: [
            Some(0),
            Some(0x08),
            Some(0x10),
            Some(0x18),
            Some(0x50),
            None,
        ],
        tokens: [0x40, 0x20, 0x30],
        token_bits: 4,
        pairs: [
            vec![pair("All", "Set", 0x80)],
            set.clone(),
            set,
            vec![pair("Own", "Dst", 0x80)],
        ],
        no_acc: None,
    }
}

/// Returns the SWSB field of Xe-HPC: four in-order pipes (math is one of them), 32 tokens.
fn swsb_hpc() -> Swsb {
    let ordered = vec![
        pair("Own", "Dst", 0x100),
        pair("Own", "Src", 0x200),
        pair("All", "Dst", 0x300),
    ];
    Swsb {
        pipes: [
            Some(0),
            Some(0x08),
            Some(0x10),
            Some(0x18),
            Some(0x20),
            Some(0x28),
        ],
        tokens: [0xC0, 0x80, 0xA0],
        token_bits: 5,
        pairs: [
            vec![
                pair("All", "Set", 0x100),
                pair("Float", "Set", 0x200),
                pair("Int", "Set", 0x300),
            ],
            ordered.clone(),
            vec![
                pair("Own", "Set", 0x100),
                pair("Own", "Src", 0x200),
                pair("Own", "Dst", 0x300),
            ],
            ordered,
        ],
        no_acc: Some(0xF0),
    }
}
