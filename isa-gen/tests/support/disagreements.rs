//! Known disagreements between Intel's tools and ours before Xe, each with the reason. `bulk.rs`
//! checks that each still exists. Random instructions avoid them.

use gantry_isa_gen::Platform;
use gantry_isa_gen::Platform::{Gen7p5, Gen8, Gen8Lp};

/// Kind of a disagreement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Intel's assembler rejects a text that ours accepts.
    Refused,
    /// Both assemblers accept the text and produce different bytes.
    Bytes,
    /// Both assemblers produce the same bytes, and the disassemblers differ.
    Text,
}

/// Line of text that the two sides treat differently.
pub struct Disagreement {
    /// Platforms.
    pub platforms: &'static [Platform],
    /// Line.
    pub text: &'static str,
    /// Kind of the disagreement.
    pub kind: Kind,
    /// Reason, and which side is right.
    pub reason: &'static str,
}

/// All known disagreements.
pub const DISAGREEMENTS: [Disagreement; 10] = [
    Disagreement {
        platforms: &[Gen7p5],
        text: "dim (8|M0) r5.0<1>:df r6.0<8;8,1>:f",
        kind: Kind::Refused,
        reason: "Intel's tables list the opcode, and its encoder has no template for it; ours is a one-source \
                 instruction like the others",
    },
    Disagreement {
        platforms: &[Gen7p5],
        text: "brc (8|M0) r10.0:w",
        kind: Kind::Refused,
        reason: "Intel's encoder always sets the flag register, which its tables do not have for this opcode",
    },
    Disagreement {
        platforms: &[Gen7p5],
        text: "L: brc (8|M0) L L",
        kind: Kind::Refused,
        reason: "as with a register",
    },
    Disagreement {
        platforms: &[Gen7p5],
        text: "brd (8|M0) r10.4:w",
        kind: Kind::Bytes,
        reason: "Intel's assembler counts the sub-register in doublewords, its disassembler in words; ours in words \
                 both ways",
    },
    Disagreement {
        platforms: &[Gen7p5],
        text: "send (8|M0) r9:ud r10 0x8 0x08000000 {Atomic}",
        kind: Kind::Text,
        reason: "Intel's disassembler leaves out thread control that its assembler encodes",
    },
    Disagreement {
        platforms: &[Gen7p5],
        text: "sendc (8|M0) r9:ud r10 0x8 0x08000000 {Switch}",
        kind: Kind::Text,
        reason: "as with `{Atomic}`",
    },
    Disagreement {
        platforms: &[Gen8, Gen8Lp],
        text: "sendc (8|M0) r9 r10 0x8 0x08000000 {Atomic}",
        kind: Kind::Refused,
        reason: "Intel's tables have no thread control for this one opcode; the field is where all have it",
    },
    Disagreement {
        platforms: &[Gen8, Gen8Lp],
        text: "sendc (8|M0) r9 r10 0x8 0x08000000 {Switch}",
        kind: Kind::Refused,
        reason: "as with `{Atomic}`",
    },
    Disagreement {
        platforms: &[
            Gen8,
            Gen8Lp,
            Platform::Gen9,
            Platform::Gen9Lp,
            Platform::Gen11,
        ],
        text: "call (8|M0) r10.0:ud r12.0:ud",
        kind: Kind::Bytes,
        reason: "Intel's disassembler prints the types, its assembler drops them; ours keeps them both ways",
    },
    Disagreement {
        platforms: &[
            Gen8,
            Gen8Lp,
            Platform::Gen9,
            Platform::Gen9Lp,
            Platform::Gen11,
        ],
        text: "ret (8|M0) r10.0:ud",
        kind: Kind::Bytes,
        reason: "as with `call`",
    },
];
