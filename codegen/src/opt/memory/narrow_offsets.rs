//! Offsets of 64-bit addresses, computed in 32 bits.
//!
//! Stateless accesses (`stateless_to_stateful.rs` says which stay) have a pointer and an offset.
//! The offset may fit 32 bits by its value range (`value_range.rs`), signed or unsigned, and
//! consist of extensions. Then it is the extension of its low half (`low_halves.rs`). Only the
//! final sum is of 64 bits, which matters most on targets whose ALU has no 64-bit integers.
//!
//! Input and output: verified IR. Limits: [`STEPS`] operands of an address, and [`PARTS`] operands
//! of an offset.

use super::alias_analysis::space_and_address;
use super::low_halves::LowHalves;
use super::value_range::ValueRanges;
use crate::ir::{BlockInsts, Function, Inst, InstData, Opcode, Scalar, Space, Value};
use crate::opt::{OptState, PassContext};
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::{SmallVec, smallvec};

/// Maximal operands of one address.
const STEPS: usize = 16;
/// Maximal operands of one offset.
const PARTS: usize = 16;

/// Runs the pass. Returns the number of offsets that were narrowed.
pub(crate) fn run(func: &mut Function, _: &PassContext<'_>, state: &mut OptState) -> u32 {
    let cfg = state.cfg.get(func);
    let mut ranges = ValueRanges::of_numbers(func, &cfg);
    let mut seen: SecondaryMap<Value, bool> = SecondaryMap::new();
    // Offsets, with the extension of their low half.
    let mut found: Vec<(Value, Opcode)> = Vec::new();
    // Sums of pointers and offsets.
    let mut sums: EntitySet<Inst> = EntitySet::new();
    for &inst in cfg.order().iter().flat_map(|&b| func.layout.insts(b)) {
        let Some((Space::Global, addr)) = space_and_address(func.dfg.data(inst)) else {
            continue;
        };
        let mut work: SmallVec<[Value; 8]> = smallvec![addr];
        let mut steps = STEPS;
        while let Some(v) = work.pop() {
            if std::mem::replace(&mut seen[v], true) || steps == 0 {
                continue;
            }
            steps -= 1;
            let Some(inst) = func.dfg.def_inst(v) else {
                continue;
            };
            match *func.dfg.data(inst) {
                InstData::Binary {
                    opcode: Opcode::Iadd,
                    args,
                } => {
                    for arg in args {
                        match extension(func, &mut ranges, arg) {
                            Some(opcode) => {
                                found.push((arg, opcode));
                                sums.insert(inst);
                            }
                            None => work.push(arg),
                        }
                    }
                }
                InstData::RdRegion { arg, .. } => work.push(arg),
                _ => {}
            }
        }
    }
    if found.is_empty() {
        return 0;
    }
    let mut halves = LowHalves::default();
    let mut extends: SecondaryMap<Value, Option<Opcode>> = sized(func.dfg.num_values());
    for &(v, opcode) in &found {
        halves.request(func, v);
        extends[v] = Some(opcode);
    }
    let mut extended: SecondaryMap<Value, PackedOption<Value>> = sized(func.dfg.num_values());
    for &block in cfg.order() {
        let mut out = BlockInsts::new();
        for v in func.dfg.block_params(block).to_vec() {
            halves.make(func, v, &mut out);
        }
        for inst in std::mem::take(func.layout.insts_mut(block)) {
            out.push(inst);
            for v in SmallVec::<[Value; 3]>::from_slice(func.dfg.results(inst)) {
                halves.make(func, v, &mut out);
                if let Some(opcode) = extends[v] {
                    let arg = halves.of(v);
                    let ty = func.dfg.ty(v);
                    let data = InstData::Unary { opcode, arg };
                    let loc = func.srclocs[inst];
                    let new = func.dfg.make_inst(data, &[ty]);
                    func.set_srcloc(new, loc);
                    out.push(new);
                    extended[v] = func.dfg.first_result(new).into();
                }
            }
            // The low half of a sum uses the original operands.
            if sums.contains(inst) {
                let of = |v: Value| extended[v].expand().unwrap_or(v);
                func.dfg.map_args(inst, of);
            }
        }
        *func.layout.insts_mut(block) = out;
    }
    found.len() as u32
}

/// Returns the extension that restores an offset from its low half, if that is cheaper.
fn extension(func: &Function, ranges: &mut ValueRanges<'_>, v: Value) -> Option<Opcode> {
    let inst = func.dfg.def_inst(v)?;
    let (InstData::Binary { .. } | InstData::Ternary { .. }) = func.dfg.data(inst) else {
        return None;
    };
    let range = ranges.of(v);
    let opcode = if range.positive() && range.most <= i64::from(u32::MAX) {
        Opcode::Uextend
    } else if range.least >= i64::from(i32::MIN) && range.most <= i64::from(i32::MAX) {
        Opcode::Sextend
    } else {
        return None;
    };
    // Every operand must have a 32-bit form.
    let mut work: SmallVec<[Value; 8]> = smallvec![v];
    let mut parts = PARTS;
    while let Some(v) = work.pop() {
        parts = parts.checked_sub(1)?;
        let inst = func.dfg.def_inst(v)?;
        match *func.dfg.data(inst) {
            InstData::Unary {
                opcode: Opcode::Uextend | Opcode::Sextend,
                arg,
            } if func.dfg.ty(arg).scalar().bits() <= Scalar::I32.bits() => {}
            InstData::Imm { .. } | InstData::ImmVec { .. } => {}
            InstData::RdRegion { arg, index, .. } if index.is_none() => work.push(arg),
            InstData::Binary { opcode, args } => match opcode {
                Opcode::SmulWide | Opcode::UmulWide => {}
                Opcode::Iadd | Opcode::Isub | Opcode::Imul => work.extend(args),
                Opcode::Ishl
                    if func.dfg.same_constant(args[1])? < u64::from(Scalar::I32.bits()) =>
                {
                    work.push(args[0]);
                }
                _ => return None,
            },
            InstData::Ternary {
                opcode: Opcode::Imad,
                args,
            } => work.extend(args),
            _ => return None,
        }
    }
    Some(opcode)
}
