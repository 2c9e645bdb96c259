//! Load folding: loads of constant data at known addresses become constants.
//!
//! A table that a loop reads by its counter is at known addresses once the loop is unrolled. The
//! pass runs behind the e-graph that cleans up after unrolling. It leaves such an address as a
//! symbol, or as the sum of a symbol and a constant. The next e-graph folds the operations on what
//! was loaded.
//!
//! A load of several elements is folded if they are equal, or up to [`LANES`] of any value. More
//! take fewer instructions as a message. Variables, addresses that the loader fills in, volatile
//! loads and loads under a mask stay as they are.
//!
//! Input and output: verified IR. Work: linear, and a binary search among relocations a load.

use super::{OptState, PassContext};
use crate::ir::data::ADDRESS_BYTES;
use crate::ir::{DataRef, Function, Inst, InstData, Module, Opcode, Value};
use smallvec::SmallVec;

/// Maximal elements of a load that are not all equal.
const LANES: usize = 4;

/// Runs the pass. Returns the number of loads that were folded.
pub(super) fn run(func: &mut Function, ctx: &PassContext<'_>, _: &mut OptState) -> u32 {
    let mut changed = 0;
    for n in 0..func.layout.blocks().len() {
        let Some(&block) = func.layout.blocks().get(n) else {
            continue;
        };
        for at in 0..func.layout.insts(block).len() {
            let Some(&inst) = func.layout.insts(block).get(at) else {
                continue;
            };
            if let Some(lanes) = loaded(func, ctx.module, inst) {
                changed += u32::from(replace(func, inst, &lanes));
            }
        }
    }
    changed
}

/// Returns the elements that a load reads, where they are known.
fn loaded(func: &Function, module: &Module, inst: Inst) -> Option<SmallVec<[u64; 8]>> {
    let InstData::Load { addr, .. } = *func.dfg.data(inst) else {
        return None;
    };
    if func.dfg.ty(addr).lanes() != 1 {
        return None;
    }
    let (data, from) = address(func, addr)?;
    elements(func, module, inst, data, from)
}

/// Returns the elements that a load reads from a place in constant data, where they are known.
pub(super) fn elements(
    func: &Function,
    module: &Module,
    inst: Inst,
    data: DataRef,
    from: u64,
) -> Option<SmallVec<[u64; 8]>> {
    let InstData::Load {
        mem, offset, mask, ..
    } = *func.dfg.data(inst)
    else {
        return None;
    };
    let ty = func.dfg.ty(func.dfg.first_result(inst)?);
    if mem.volatile || mask.is_some() {
        return None;
    }
    let data = module.data.get(data)?;
    let from = from.wrapping_add_signed(i64::from(offset));
    let end = from.checked_add(u64::from(ty.bytes()))?;
    // Relocations are in order and apart.
    let before = data.relocs.partition_point(|r| u64::from(r.offset) < end);
    let last = data.relocs.get(..before).and_then(<[_]>::last);
    let filled_in = last.is_some_and(|r| from < u64::from(r.offset) + ADDRESS_BYTES as u64);
    if data.written || data.string || filled_in {
        return None;
    }
    let bytes = data
        .bytes
        .get(usize::try_from(from).ok()?..usize::try_from(end).ok()?)?;
    let size = ty.scalar().bytes().max(1) as usize;
    let element = |b: &[u8]| b.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
    Some(bytes.chunks(size).map(element).collect())
}

/// Returns the data of an address and the distance from its start.
pub(super) fn address(func: &Function, addr: Value) -> Option<(DataRef, u64)> {
    let data = |v: Value| func.dfg.def_inst(v).map(|i| *func.dfg.data(i));
    match data(addr)? {
        InstData::Symbol { data, .. } => Some((data, 0)),
        InstData::Binary {
            opcode: Opcode::Iadd,
            args: [a, b],
        } => match (data(a)?, data(b)?) {
            (InstData::Symbol { data, .. }, InstData::Imm { bits, .. })
            | (InstData::Imm { bits, .. }, InstData::Symbol { data, .. }) => Some((data, bits)),
            _ => None,
        },
        _ => None,
    }
}

/// Puts a constant in the place of a load. Returns true if it did.
fn replace(func: &mut Function, inst: Inst, lanes: &[u64]) -> bool {
    let Some((&bits, others)) = lanes.split_first() else {
        return false;
    };
    let result = func.dfg.first_result(inst);
    let float = result.is_some_and(|v| func.dfg.ty(v).scalar().is_float());
    let data = if others.iter().all(|&l| l == bits) {
        let opcode = if float {
            Opcode::Fconst
        } else {
            Opcode::Iconst
        };
        InstData::Imm { opcode, bits }
    } else if lanes.len() <= LANES {
        let (opcode, constant) = (Opcode::Vconst, func.dfg.make_constant(lanes.to_vec()));
        InstData::ImmVec { opcode, constant }
    } else {
        return false;
    };
    *func.dfg.data_mut(inst) = data;
    true
}
