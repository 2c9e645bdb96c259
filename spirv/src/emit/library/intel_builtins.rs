//! Calls of built-in functions of Intel's compiler ([`crate::intel_builtins`]).

use super::{dpas, wrong};
use crate::body::{BInst, Body};
use crate::emit::block2d_io::Block2dOperands;
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use crate::intel_builtins::{Block2dAccess, Function, called};
use crate::read::Id;
use gantry_codegen::ir::scalars::{I32, I64};
use gantry_codegen::ir::{Opcode, Scalar, Value};

/// Emits a call.
pub(crate) fn call(e: &mut Emit<'_, '_, '_>, inst: &BInst, body: &Body) -> Result<Leaves, Error> {
    let operands = body.operands(inst);
    let function = called(e.m, operands).ok_or_else(wrong)?;
    let args = operands.iter().skip(1).map(|w| Id::of(*w));
    let args: Vec<Id> = args.collect();
    let v = match function {
        Function::NamedBarrier => {
            let count = number(e, &args, 0)?;
            e.named_barrier(count)?
        }
        Function::WaitNamed => {
            let barrier = number(e, &args, 0)?;
            let flags = args.get(1).and_then(|id| e.m.bits(*id));
            e.wait_named(barrier, flags.unwrap_or(u64::MAX));
            return Ok(Leaves::new());
        }
        Function::Atomic(op) => {
            let (pointer, operands) = args.split_first().ok_or_else(wrong)?;
            return e.word_atomic(op, *pointer, operands);
        }
        Function::CompareExchangeFloat => {
            let [pointer, expected, new] = *args.as_slice() else {
                return Err(wrong());
            };
            return e.exchange_float(pointer, expected, new);
        }
        Function::Dot { signs } => {
            let (a, b, more) = match *args.as_slice() {
                [a, b] => (a, b, None),
                [a, b, _] => (a, b, Some(number(e, &args, 2)?)),
                _ => return Err(wrong()),
            };
            let a = e.four_bytes(a)?.ok_or_else(wrong)?;
            let b = e.four_bytes(b)?.ok_or_else(wrong)?;
            e.dot_of_bytes([a, b], signs, more, more.is_some())
        }
        Function::Product(p) => return dpas::call(e, p, &args),
        Function::Block2dAccess(b) => {
            let own = b.opcode != Opcode::Block2dPrefetch;
            return block2d(e, b, own, &args);
        }
        Function::BlockValue(shape) => {
            let opcode = Opcode::Block2dLoad;
            return block2d(e, Block2dAccess { opcode, shape }, false, &args);
        }
        Function::RoundToTf32 | Function::OfTf32 => {
            let [v] = *args.as_slice() else {
                return Err(wrong());
            };
            let v = e.one(v)?;
            match function {
                Function::OfTf32 => dpas::of_tf32(e, v)?,
                _ => dpas::round_to_tf32(e, v)?,
            }
        }
        Function::Cycles => e.b.ins().cycles(I64),
        Function::HwThread => e.b.ins().hw_thread_id(I32),
        Function::Eu => e.b.ins().eu_id(I32),
        Function::EuThread => e.b.ins().eu_thread_id(I32),
        Function::Subslice => e.b.ins().subslice_id(I32),
        Function::Slice => e.b.ins().slice_id(I32),
        Function::ReverseBits => {
            let v = number(e, &args, 0)?;
            e.b.ins().bfrev(v)
        }
        Function::SignedField | Function::UnsignedField => {
            let mut v = [
                number(e, &args, 2)?,
                number(e, &args, 1)?,
                number(e, &args, 0)?,
            ];
            e.even(&mut v);
            let [width, first, of] = v;
            match function {
                Function::SignedField => e.b.ins().sbfe(width, first, of),
                _ => e.b.ins().ubfe(width, first, of),
            }
        }
        Function::InsertField => {
            let mut v = [
                number(e, &args, 3)?,
                number(e, &args, 2)?,
                number(e, &args, 1)?,
                number(e, &args, 0)?,
            ];
            e.even(&mut v);
            let [width, first, field, into] = v;
            let mask = e.b.ins().bfmask(width, first);
            e.b.ins().bfi(mask, field, into)
        }
    };
    Ok(Leaves::from_slice(&[v]))
}

/// Emits a 2D block access: surface, coordinates, and a private pointer if `own` is set.
fn block2d(
    e: &mut Emit<'_, '_, '_>,
    b: Block2dAccess,
    own: bool,
    args: &[Id],
) -> Result<Leaves, Error> {
    let (surface, rest) = args.split_first_chunk().ok_or_else(wrong)?;
    let (place, rest) = rest.split_first().ok_or_else(wrong)?;
    if rest.len() != usize::from(own) {
        return Err(wrong());
    }
    let operands = Block2dOperands {
        surface: *surface,
        place: *place,
        own: rest.first().copied(),
    };
    e.access_blocks(b, &operands)
}

/// 32-bit integer argument.
fn number(e: &mut Emit<'_, '_, '_>, args: &[Id], n: usize) -> Result<Value, Error> {
    let v = e.one(*args.get(n).ok_or_else(wrong)?)?;
    match e.scalar_of(v) {
        Scalar::I32 => Ok(v),
        _ => Err(wrong()),
    }
}
