//! Software scoreboard annotations (SWSB): the dependences that an instruction waits for on Xe, and
//! the token that it sets.
//!
//! Sources: PRM of Tiger Lake, Vol. 9, "Software Scoreboard"; Intel's assembler for the pipes of
//! Xe-HP.

use crate::inst::{Inst, Src, Subfn};
use crate::message::Sfid;
use crate::op::Op;
use crate::platform::{Features, Platform};
use crate::reg::Register;
use crate::table::PlatformTables;
use crate::types::Type;
use std::fmt;

/// In-order pipe whose instructions a distance counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Pipe {
    /// `@1`: pipe of the instruction itself (the only pipe on Xe-LP).
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

    /// Returns the pipe that executes a type, unless another operand decides.
    pub fn of_type(f: &Features, t: Type) -> Pipe {
        match t {
            Type::Q | Type::Uq if f.int_pipe_q => Pipe::Int,
            t if t.bytes() == 8 => Pipe::Long,
            t if t.is_float() => Pipe::Float,
            _ => Pipe::Int,
        }
    }

    /// Returns the letter in IGA syntax.
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

/// Execution unit class of an instruction for the scoreboard. Sources: the PRM's "Software
/// Scoreboard" of each platform, and Intel's compiler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// Executes in order with the other instructions of its pipe (`Float`, `Int`, `Long` or
    /// `Math`), and distances count it. A platform with a single pipe counts all of these together.
    InOrder(Pipe),
    /// Completes out of order and signals completion by a token.
    OutOfOrder(Function),
    /// Is neither waited for nor counted: `sync`, `nop`, `wait`, `halt`.
    Uncounted,
}

/// Function that executes an instruction out of order. Each function reads the sources of its
/// instructions in program order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// A shared function, through a send.
    Shared(Sfid),
    /// Math unit.
    Math,
    /// Systolic array.
    Systolic,
}

impl Unit {
    /// Returns the unit of an instruction on a platform with a software scoreboard.
    pub fn of<R: Register>(platform: Platform, inst: &Inst<R>) -> Unit {
        let f = platform.features();
        let math_in_order = f.swsb_pipes.contains(&Pipe::Math);
        let types = || {
            inst.dst
                .ty()
                .into_iter()
                .chain(inst.srcs.iter().filter_map(Src::ty))
        };
        match inst.op {
            op if op.is_send() => match inst.subfn {
                Subfn::Send(sfid) => Unit::OutOfOrder(Function::Shared(sfid)),
                _ => Unit::Uncounted,
            },
            Op::Dpas | Op::Dpasw => Unit::OutOfOrder(Function::Systolic),
            Op::Math if math_in_order => Unit::InOrder(Pipe::Math),
            Op::Math => Unit::OutOfOrder(Function::Math),
            Op::Sync | Op::Nop | Op::Wait | Op::Halt | Op::Illegal => Unit::Uncounted,
            // The integer pipe executes branches.
            op if is_branch(op) => Unit::InOrder(Pipe::Int),
            _ if f.out_of_order_f64 && types().any(|t| t == Type::Df) => {
                Unit::OutOfOrder(Function::Math)
            }
            _ if !f.int_pipe_q && types().any(|t| t.bytes() == 8) => Unit::InOrder(Pipe::Long),
            _ => Unit::InOrder(types().next().map_or(Pipe::Int, |t| Pipe::of_type(f, t))),
        }
    }
}

/// Returns the distances, by pipe, that can be encoded with each use of a token in an annotation of
/// an opcode. There are none before Xe.
pub fn pairs(platform: Platform, op: Op) -> impl Iterator<Item = (Pipe, TokenKind)> {
    let tables = PlatformTables::of(platform).xe.as_ref();
    let format = op.info(platform).map(|i| i.format);
    let pairs = tables.zip(format).map(|(x, f)| x.swsb.pairs_of(f));
    pairs
        .into_iter()
        .flatten()
        .map(|(pipe, kind, _)| (*pipe, *kind))
}

/// Returns true if an opcode changes the instruction pointer.
fn is_branch(op: Op) -> bool {
    matches!(
        op,
        Op::Jmpi
            | Op::If
            | Op::Else
            | Op::Endif
            | Op::Join
            | Op::While
            | Op::Break
            | Op::Cont
            | Op::Goto
            | Op::Brd
            | Op::Brc
            | Op::Call
            | Op::Calla
            | Op::Ret
    )
}

/// Returns the depth of a pipe in instructions. A result is available without a wait once this many
/// more instructions have entered the pipe. Intel's compiler relies on it.
pub const fn depth(pipe: Pipe) -> u64 {
    match pipe {
        Pipe::Long => 15,
        Pipe::Math => 18,
        _ => 11,
    }
}
