//! Result types of instructions.

use super::entities::FuncRef;
use super::instructions::InstData;
use super::opcode::{Opcode, Out};
use super::types::{Scalar, Type};

/// The result types of an instruction: `ctrl` is the type written after the opcode, `arg` gives the type of the n-th value
/// operand, `callee` the results of a function. Operands of unknown type count as `i32`; the verifier says what is wrong.
pub fn result_types(
    opcode: Opcode,
    ctrl: Option<Type>,
    arg: impl Fn(usize) -> Option<Type>,
    callee: impl Fn(FuncRef) -> Vec<Type>,
    data: &InstData,
) -> Vec<Type> {
    let int = Type::scalar_of(Scalar::I32);
    let bit = Type::scalar_of(Scalar::B1);
    let first = arg(0).unwrap_or(int);
    match opcode.info().out {
        Out::None => Vec::new(),
        Out::Same => vec![first],
        Out::Lane => vec![first.by(1)],
        Out::Ctrl => vec![ctrl.unwrap_or(int)],
        // A compare of more lanes than a predicate has is the verifier's matter.
        Out::Lanes => vec![first.with_scalar(Scalar::B1).unwrap_or(bit)],
        Out::One => vec![bit],
        Out::Two => vec![first, first],
        Out::Special => match (opcode, data) {
            (Opcode::Goto, _) => vec![first, first, bit],
            (Opcode::Join, _) => vec![first, bit],
            (Opcode::Shuffle, _) => {
                let lanes = arg(1).map_or(1, Type::lanes);
                vec![first.by(lanes)]
            }
            (_, InstData::Call { func, .. }) => callee(*func),
            _ => vec![arg(1).unwrap_or(int)],
        },
    }
}
