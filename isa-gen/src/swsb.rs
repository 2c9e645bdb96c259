//! Software scoreboard annotations (SWSB): what an instruction of Xe waits for, and the token that it sets. Source: PRM
//! for Tiger Lake, Vol. 9 "Software Scoreboard"; the pipes of Xe-HP from Intel's assembler.

use std::fmt;

/// An in-order pipe that a distance counts in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Pipe {
    /// `@1`: the pipe of the instruction itself (Xe-LP: the only one).
    Own,
    /// `A@1`: all pipes.
    All,
    /// `F@1`: float.
    Float,
    /// `I@1`: integer.
    Int,
    /// `L@1`: long, 64 bits.
    Long,
    /// `M@1`: math (Xe-HPC).
    Math,
}

impl Pipe {
    /// Every pipe.
    pub const ALL: [Pipe; 6] = [
        Pipe::Own,
        Pipe::All,
        Pipe::Float,
        Pipe::Int,
        Pipe::Long,
        Pipe::Math,
    ];

    /// The letter in IGA syntax.
    pub const fn letter(self) -> &'static str {
        match self {
            Pipe::Own => "",
            Pipe::All => "A",
            Pipe::Float => "F",
            Pipe::Int => "I",
            Pipe::Long => "L",
            Pipe::Math => "M",
        }
    }
}

/// Waits for the instruction this many before, counted in a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Distance {
    /// Which pipe.
    pub pipe: Pipe,
    /// 1 .. 7.
    pub n: u8,
}

/// What is done with a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum TokenKind {
    /// `$3`: given to this instruction.
    Set,
    /// `$3.dst`: waits until its instruction has written its destination.
    Dst,
    /// `$3.src`: waits until its instruction has read its sources.
    Src,
}

impl TokenKind {
    /// What follows the token in IGA syntax.
    pub const fn suffix(self) -> &'static str {
        match self {
            TokenKind::Set => "",
            TokenKind::Dst => ".dst",
            TokenKind::Src => ".src",
        }
    }
}

/// An out-of-order token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Token {
    /// Its number, 0 .. 15 (Xe-HPC: 31).
    pub sbid: u8,
    /// What is done with it.
    pub kind: TokenKind,
}

/// An instruction's annotation; empty before Xe.
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

    /// Whether there is none.
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
