//! Result types of instructions.

use super::entities::FuncRef;
use super::instructions::InstData;
use super::opcode::{Opcode, Out};
use super::types::{Scalar, Type};
use smallvec::{SmallVec, smallvec};

/// Result types of an instruction; few, except for calls.
pub type Types = SmallVec<[Type; 3]>;

/// Returns the result types of an instruction.
///
/// `ctrl` is the type written after the opcode. `arg` returns the type of the n-th value operand,
/// and `callee` the result types of a function. Operands of unknown type count as `i32`; the
/// verifier reports the fault.
pub fn result_types(
    opcode: Opcode,
    ctrl: Option<Type>,
    arg: impl Fn(usize) -> Option<Type>,
    callee: impl Fn(FuncRef) -> Types,
    data: &InstData,
) -> Types {
    let int = Type::scalar_of(Scalar::I32);
    let bit = Type::scalar_of(Scalar::B1);
    let first = arg(0).unwrap_or(int);
    match opcode.info().out {
        Out::None => Types::new(),
        Out::Same => smallvec![first],
        Out::Lane => smallvec![first.by(1)],
        Out::Ctrl => smallvec![ctrl.unwrap_or(int)],
        // The verifier rejects compares of more lanes than a predicate has.
        Out::Lanes => smallvec![first.with_scalar(Scalar::B1).unwrap_or(bit)],
        Out::One => smallvec![bit],
        Out::Two => smallvec![first, first],
        Out::Special => match (opcode, data) {
            (Opcode::Goto, _) => smallvec![first, first, bit],
            (Opcode::Join, _) => smallvec![first, bit],
            (Opcode::Shuffle, _) => {
                let lanes = arg(1).map_or(1, Type::lanes);
                smallvec![first.by(lanes)]
            }
            (_, InstData::Call { func, .. }) => callee(*func),
            _ => smallvec![arg(1).unwrap_or(int)],
        },
    }
}
