//! Software scoreboard annotations (SWSB): the dependences that an instruction waits for on Xe, and
//! the token that it sets.
//!
//! Sources: PRM of Tiger Lake, Vol. 9, "Software Scoreboard"; Intel's assembler for the pipes of
//! Xe-HP.

use std::fmt;

crate::named_enum! {
    /// In-order pipe whose instructions a distance counts.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
    pub enum Pipe {
        /// `@1`: pipe of the instruction itself (the only pipe on Xe-LP).
        Own = "",
        /// `A@1`: all pipes.
        All = "A",
        /// `F@1`: float.
        Float = "F",
        /// `I@1`: integer.
        Int = "I",
        /// `L@1`: long, 64 bits.
        Long = "L",
        /// `M@1`: math (Xe-HPC).
        Math = "M",
    }
    fn letter, from_letter;
}

/// In-order distance: waits for the instruction `n` before this one in a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Distance {
    /// Pipe in which instructions are counted.
    pub pipe: Pipe,
    /// Number of instructions back, 1 to 7.
    pub n: u8,
}

/// Use of a token by an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum TokenKind {
    /// `$3`: allocates the token to this instruction.
    Set,
    /// `$3.dst`: waits until the instruction that has the token has written its destination.
    Dst,
    /// `$3.src`: waits until the instruction that has the token has read its sources.
    Src,
}

impl TokenKind {
    /// Returns the suffix of the token in IGA syntax.
    pub const fn suffix(self) -> &'static str {
        match self {
            TokenKind::Set => "",
            TokenKind::Dst => ".dst",
            TokenKind::Src => ".src",
        }
    }
}

/// Out-of-order token (SBID) of an annotation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Token {
    /// Number of the token, 0 to 15 (0 to 31 on Xe-HPC).
    pub sbid: u8,
    /// Use of the token.
    pub kind: TokenKind,
}

/// Scoreboard annotation of an instruction, empty before Xe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Swsb {
    /// In-order distance.
    pub distance: Option<Distance>,
    /// Out-of-order token.
    pub token: Option<Token>,
}

impl Swsb {
    /// No annotation.
    pub const NONE: Swsb = Swsb {
        distance: None,
        token: None,
    };

    /// Returns true if there is no annotation.
    pub const fn is_empty(self) -> bool {
        self.distance.is_none() && self.token.is_none()
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.pipe.letter(), self.n)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}{}", self.sbid, self.kind.suffix())
    }
}
