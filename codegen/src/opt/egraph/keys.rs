//! Keys of nodes: type, opcode and operands in order.

use super::Node;
use crate::ir::{DataFlowGraph, InstData, Opcode, Type};
use std::hash::BuildHasher;

/// Orders of the operands that patterns are matched against, for an operation whose operands may be
/// exchanged.
///
/// A rule whose root has one nested pattern and one plain variable has the nested pattern first in
/// a compare, and last in other operations.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Orders {
    /// The own order: the operands may not be exchanged, or the last one is a constant.
    #[default]
    One,
    /// The own order at the root of a rule, both below it.
    OneAtRoot,
    /// The exchanged order at the root of a rule, both below it.
    ExchangedAtRoot,
    Both,
}

/// Returns true if a node has a key: a type, and operands that are in order.
pub(super) fn has_key(dfg: &DataFlowGraph, node: &Node, (ty, data): &(Type, InstData)) -> bool {
    dfg.def_inst(node.value).is_some_and(|inst| {
        let of = dfg.data(inst);
        dfg.ty(node.value) == *ty && (of == data || ordered(of) == *data)
    })
}

/// Returns an operation with the operands in order, if it has the same result with them exchanged.
/// Operations that differ in that alone are one node, whose operands stay as they are.
pub(super) fn ordered(data: &InstData) -> InstData {
    let in_order = match data {
        InstData::Binary { args: [a, b], .. }
        | InstData::IntCompare { args: [a, b], .. }
        | InstData::FloatCompare { args: [a, b], .. }
        | InstData::Ternary {
            args: [a, b, _], ..
        } => a <= b,
        _ => true,
    };
    if in_order {
        *data
    } else {
        exchanged(data).unwrap_or(*data)
    }
}

/// Returns true if an operation has the same result with its two operands or factors exchanged, and
/// these differ.
#[inline]
pub(super) fn is_exchangeable(data: &InstData) -> bool {
    match data {
        InstData::Binary { opcode, args } => args[0] != args[1] && commutes(*opcode),
        InstData::IntCompare { args, .. } | InstData::FloatCompare { args, .. } => {
            args[0] != args[1]
        }
        InstData::Ternary { opcode, args } => *opcode == Opcode::Imad && args[0] != args[1],
        _ => false,
    }
}

/// Returns an operation with its two operands or factors exchanged; `None` if that changes the
/// result, or if they are equal.
pub(super) fn exchanged(data: &InstData) -> Option<InstData> {
    if !is_exchangeable(data) {
        return None;
    }
    let mut out = *data;
    match &mut out {
        InstData::Binary { args, .. } => args.swap(0, 1),
        InstData::IntCompare { cond, args, .. } => {
            args.swap(0, 1);
            *cond = cond.exchanged();
        }
        InstData::FloatCompare { cond, args, .. } => {
            args.swap(0, 1);
            *cond = cond.exchanged();
        }
        InstData::Ternary { args, .. } => args.swap(0, 1),
        _ => {}
    }
    Some(out)
}

/// Returns the hash of a key.
pub(super) fn hash_of(key: &(Type, InstData)) -> u64 {
    let hash = rustc_hash::FxBuildHasher.hash_one(key);
    spread((hash >> 32) as u32 ^ hash as u32)
}

/// Spreads a hash of 32 bits over 64. The table takes its buckets from the lower half and its tags
/// from the upper half.
pub(super) fn spread(hash: u32) -> u64 {
    u64::from(hash) | u64::from(hash.wrapping_mul(0x9e37_79b9)) << 32
}

/// Returns true if an operation is commutative.
pub(super) fn commutes(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Iadd
            | Opcode::Imul
            | Opcode::Band
            | Opcode::Bor
            | Opcode::Bxor
            | Opcode::Smin
            | Opcode::Smax
            | Opcode::Umin
            | Opcode::Umax
            | Opcode::SaddSat
            | Opcode::UaddSat
            | Opcode::Smulh
            | Opcode::Umulh
            | Opcode::SmulWide
            | Opcode::UmulWide
            | Opcode::Savg
            | Opcode::Uavg
            | Opcode::Shadd
            | Opcode::Uhadd
    )
}
