//! Software scoreboard annotations (SWSB): what an instruction of Xe waits for, and the token that it sets. Source: PRM
//! for Tiger Lake, Vol. 9 "Software Scoreboard"; the pipes of Xe-HP from Intel's assembler.

use crate::inst::{Inst, Src, Subfn};
use crate::message::Sfid;
use crate::op::Op;
use crate::platform::{Features, Platform};
use crate::reg::Register;
use crate::table::PlatformTables;
use crate::types::Type;
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

    /// The pipe of a type, where no other operand says otherwise.
    pub fn of_type(f: &Features, t: Type) -> Pipe {
        match t {
            Type::Q | Type::Uq if f.int_pipe_q => Pipe::Int,
            t if t.bytes() == 8 => Pipe::Long,
            t if t.is_float() => Pipe::Float,
            _ => Pipe::Int,
        }
    }

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

/// How the scoreboard sees an instruction. Source: the PRM's "Software Scoreboard" of each platform, and what Intel's
/// compiler counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// It executes in order with the others of its pipe (`Float`, `Int`, `Long` or `Math`), and distances count it. Where
    /// the platform's distances know one pipe only, it counts all of these together.
    InOrder(Pipe),
    /// It ends in its own time; a token says when.
    OutOfOrder(Function),
    /// It is neither waited for nor counted: `sync`, `nop`, `wait`, `halt`.
    Uncounted,
}

/// What executes an instruction out of order. Each function reads the sources of its instructions in their order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// A shared function, through a send.
    Shared(Sfid),
    /// The math box.
    Math,
    /// The systolic array.
    Systolic,
}

impl Unit {
    /// The unit of an instruction of a platform with software scoreboard.
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
            // Branches are the integer pipe's.
            op if is_branch(op) => Unit::InOrder(Pipe::Int),
            _ if f.out_of_order_f64 && types().any(|t| t == Type::Df) => {
                Unit::OutOfOrder(Function::Math)
            }
            _ if !f.int_pipe_q && types().any(|t| t.bytes() == 8) => Unit::InOrder(Pipe::Long),
            _ => Unit::InOrder(types().next().map_or(Pipe::Int, |t| Pipe::of_type(f, t))),
        }
    }
}

/// The distances, by their pipe's name, that an annotation of an opcode has room for beside what it does with a token; none before Xe.
pub fn pairs(platform: Platform, op: Op) -> impl Iterator<Item = (Pipe, TokenKind)> {
    let tables = PlatformTables::of(platform).xe.as_ref();
    let format = op.info(platform).map(|i| i.format);
    let pairs = tables.zip(format).map(|(x, f)| x.swsb.pairs_of(f));
    pairs
        .into_iter()
        .flatten()
        .map(|(pipe, kind, _)| (*pipe, *kind))
}

/// Whether an opcode changes the instruction pointer.
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

/// Instructions after which a pipe's result is there without any wait: so many more have entered the pipe. Intel's
/// compiler relies on it.
pub const fn depth(pipe: Pipe) -> u64 {
    match pipe {
        Pipe::Long => 15,
        Pipe::Math => 18,
        _ => 11,
    }
}
