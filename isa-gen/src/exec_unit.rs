//! Execution units, as far as the scoreboard asks: which pipe or function executes an instruction.
//!
//! Sources: PRM of Tiger Lake, Vol. 9, "Software Scoreboard"; Intel's assembler for the pipes of
//! Xe-HP.

use crate::inst::{Inst, Src, Subfn};
use crate::op::Op;
use crate::platform::{Features, Platform};
use crate::reg::Register;
use crate::sfid::Sfid;
use crate::swsb::{Pipe, TokenKind};
use crate::table::PlatformTables;
use crate::types::Type;

impl Pipe {
    /// Returns the pipe that executes a type, unless another operand decides.
    pub fn of_type(f: &Features, t: Type) -> Pipe {
        match t {
            Type::Q | Type::Uq if f.int_pipe_q => Pipe::Int,
            t if t.bytes() == 8 => Pipe::Long,
            t if t.is_float() => Pipe::Float,
            _ => Pipe::Int,
        }
    }
}

/// Execution unit class of an instruction for the scoreboard. Sources: the PRM's "Software
/// Scoreboard" of each platform, and Intel's compiler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExecUnit {
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

impl ExecUnit {
    /// Returns the unit of an instruction on a platform with a software scoreboard.
    pub fn of<R: Register>(platform: Platform, inst: &Inst<R>) -> ExecUnit {
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
                Subfn::Send(sfid) => ExecUnit::OutOfOrder(Function::Shared(sfid)),
                _ => ExecUnit::Uncounted,
            },
            Op::Dpas | Op::Dpasw => ExecUnit::OutOfOrder(Function::Systolic),
            Op::Math if math_in_order => ExecUnit::InOrder(Pipe::Math),
            Op::Math => ExecUnit::OutOfOrder(Function::Math),
            Op::Sync | Op::Nop | Op::Wait | Op::Halt | Op::Illegal => ExecUnit::Uncounted,
            // The integer pipe executes branches.
            op if is_branch(op) => ExecUnit::InOrder(Pipe::Int),
            _ if f.out_of_order_f64 && types().any(|t| t == Type::Df) => {
                ExecUnit::OutOfOrder(Function::Math)
            }
            _ if !f.int_pipe_q && types().any(|t| t.bytes() == 8) => ExecUnit::InOrder(Pipe::Long),
            _ => ExecUnit::InOrder(types().next().map_or(Pipe::Int, |t| Pipe::of_type(f, t))),
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
