//! Contraction: a product and its sum become one operation that rounds once.
//!
//! Applies only to kernels that allow it ([`FloatControls::contract`](crate::ir::FloatControls)),
//! since results differ. The sum must be the only reader of the product and stand in the same
//! block. If both operands of a sum are products, the second one is fused.
//!
//! Input and output: verified IR. Work: linear.

use super::{OptState, PassContext};
use crate::ir::{BlockInsts, Function, Inst, InstData, Opcode, Value, ValueDef};
use crate::sized;
use cranelift_entity::SecondaryMap;

/// Runs the pass. Returns the number of sums that took a product.
pub(super) fn run(func: &mut Function, ctx: &PassContext<'_>, _: &mut OptState) -> u32 {
    if !ctx.float.contract {
        return 0;
    }
    let mut uses: SecondaryMap<Value, u32> = sized(func.dfg.num_values());
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            let data = func.dfg.data(inst);
            data.for_each_arg(&func.dfg, |v| uses[v] += 1);
        }
    }
    let mut changed = 0;
    // Block of each product: its position in the layout, counted from 1.
    let mut stands: SecondaryMap<Inst, u32> = sized(func.dfg.num_insts());
    for n in 0..func.layout.blocks().len() {
        let Some(&block) = func.layout.blocks().get(n) else {
            continue;
        };
        let here = n as u32 + 1;
        let mut out = BlockInsts::new();
        for inst in std::mem::take(func.layout.insts_mut(block)) {
            let product = |v: Value| -> Option<[Value; 2]> {
                let ValueDef::Result(of, _) = func.dfg.def(v) else {
                    return None;
                };
                match *func.dfg.data(of) {
                    InstData::Binary {
                        opcode: Opcode::Fmul,
                        args,
                    } if stands[of] == here && uses[v] == 1 => Some(args),
                    _ => None,
                }
            };
            match *func.dfg.data(inst) {
                InstData::Binary {
                    opcode: Opcode::Fmul,
                    ..
                } => stands[inst] = here,
                InstData::Binary {
                    opcode: opcode @ (Opcode::Fadd | Opcode::Fsub),
                    args: [x, y],
                } => {
                    let (second, first) = (product(y), product(x));
                    let fused = match (second, first) {
                        (Some([a, b]), _) => Some(([a, b, x], 0)),
                        (None, Some([a, b])) => Some(([a, b, y], 2)),
                        (None, None) => None,
                    };
                    if let Some((mut args, negated)) = fused {
                        if opcode == Opcode::Fsub {
                            let (opcode, arg) = (Opcode::Fneg, args[negated]);
                            let ty = func.dfg.ty(arg);
                            let neg = InstData::Unary { opcode, arg };
                            let neg = func.dfg.make_inst(neg, &[ty]);
                            let loc = func.srclocs[inst];
                            func.set_srcloc(neg, loc);
                            out.push(neg);
                            args[negated] = func.dfg.first_result(neg).unwrap_or(arg);
                        }
                        let opcode = Opcode::Fma;
                        *func.dfg.data_mut(inst) = InstData::Ternary { opcode, args };
                        changed += 1;
                    }
                }
                _ => {}
            }
            out.push(inst);
        }
        *func.layout.insts_mut(block) = out;
    }
    changed
}
