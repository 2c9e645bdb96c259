//! Quotients by reciprocals: of one, of roots, by constants, and of one divisor.
//!
//! Applies only to kernels that allow it ([`FloatControls::reciprocal`](crate::ir::FloatControls)),
//! since a reciprocal and a product round twice. Quotients by one divisor share its reciprocal
//! within a block. Where the math unit does not divide, every quotient is a product. Doubles are
//! left as they are.
//!
//! Input and output: verified IR. Work: linear.

use super::{OptState, PassContext};
use crate::ir::{BlockInsts, Function, Inst, InstData, Opcode, Scalar, Value};
use crate::sized;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use half::f16;

/// Runs the pass. Returns the number of quotients that are none any more.
pub(super) fn run(func: &mut Function, ctx: &PassContext<'_>, _: &mut OptState) -> u32 {
    if !ctx.float.reciprocal {
        return 0;
    }
    let divides = ctx.target.features().math_div_pow;
    let mut changed = 0;
    // Of each divisor: block of its last quotient and number of quotients there, and its
    // reciprocal in that block.
    let mut quotients: SecondaryMap<Value, (u32, u32)> = sized(func.dfg.num_values());
    let mut inverses: SecondaryMap<Value, PackedOption<Value>> = sized(func.dfg.num_values());
    for n in 0..func.layout.blocks().len() {
        let Some(&block) = func.layout.blocks().get(n) else {
            continue;
        };
        let here = n as u32 + 1;
        for &inst in func.layout.insts(block) {
            if let Some([_, by]) = quotient(func, inst) {
                let known = quotients[by];
                let count = if known.0 == here { known.1 } else { 0 };
                quotients[by] = (here, count + 1);
                inverses[by] = None.into();
            }
        }
        let mut out = BlockInsts::new();
        for inst in std::mem::take(func.layout.insts_mut(block)) {
            let Some([x, by]) = quotient(func, inst) else {
                out.push(inst);
                continue;
            };
            let one = constant(func, x).is_some_and(|bits| is_one(func, x, bits));
            let root = root_of(func, by);
            let known = constant(func, by).and_then(|bits| reciprocal(func, by, bits));
            let shared = !divides || quotients[by].1 > 1;
            if !one && root.is_none() && known.is_none() && !shared {
                out.push(inst);
                continue;
            }
            let data = match (known, root) {
                (Some(bits), _) => InstData::Imm {
                    opcode: Opcode::Fconst,
                    bits,
                },
                (None, Some(arg)) => InstData::Unary {
                    opcode: Opcode::Frsqrt,
                    arg,
                },
                (None, None) => InstData::Unary {
                    opcode: Opcode::Finv,
                    arg: by,
                },
            };
            changed += 1;
            if one {
                *func.dfg.data_mut(inst) = data;
                inverses[by] = func.dfg.first_result(inst).into();
                out.push(inst);
                continue;
            }
            let inverse = match inverses[by].expand() {
                Some(there) => there,
                None => {
                    let made = func.dfg.make_inst(data, &[func.dfg.ty(by)]);
                    let loc = func.srclocs[inst];
                    func.set_srcloc(made, loc);
                    out.push(made);
                    func.dfg.first_result(made).unwrap_or(by)
                }
            };
            inverses[by] = inverse.into();
            *func.dfg.data_mut(inst) = InstData::Binary {
                opcode: Opcode::Fmul,
                args: [x, inverse],
            };
            out.push(inst);
        }
        *func.layout.insts_mut(block) = out;
    }
    changed
}

/// Returns dividend and divisor of a quotient of halves or singles.
fn quotient(func: &Function, inst: Inst) -> Option<[Value; 2]> {
    match *func.dfg.data(inst) {
        InstData::Binary {
            opcode: Opcode::Fdiv,
            args,
        } if func.dfg.ty(args[0]).scalar() != Scalar::F64 => Some(args),
        _ => None,
    }
}

/// Returns the bits of each lane of a constant.
fn constant(func: &Function, v: Value) -> Option<u64> {
    match *func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::Imm { bits, .. } => Some(bits),
        _ => None,
    }
}

/// Returns the operand of a square root.
fn root_of(func: &Function, v: Value) -> Option<Value> {
    match *func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::Unary {
            opcode: Opcode::Fsqrt,
            arg,
        } => Some(arg),
        _ => None,
    }
}

fn is_one(func: &Function, v: Value, bits: u64) -> bool {
    match func.dfg.ty(v).scalar() {
        Scalar::F16 => bits == u64::from(f16::ONE.to_bits()),
        _ => bits == u64::from(1f32.to_bits()),
    }
}

/// Returns the bits of the reciprocal of a constant, if both are normal numbers.
fn reciprocal(func: &Function, v: Value, bits: u64) -> Option<u64> {
    match func.dfg.ty(v).scalar() {
        Scalar::F16 => {
            let x = f16::from_bits(bits as u16);
            let r = f16::from_f32(1.0 / x.to_f32());
            (x.is_normal() && r.is_normal()).then(|| r.to_bits().into())
        }
        _ => {
            let x = f32::from_bits(bits as u32);
            let r = 1.0 / x;
            (x.is_normal() && r.is_normal()).then(|| r.to_bits().into())
        }
    }
}
