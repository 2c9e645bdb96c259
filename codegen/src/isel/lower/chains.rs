//! Chains of operations, each of which folds into its user.
//!
//! Rules follow them by recursion, anew from each user. Every sixteenth link gets a register of its
//! own, so that a long chain takes neither much stack nor quadratic time.

use crate::ir::{Function, InstData, Opcode, Value};
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};

/// Number of links that fold.
const LINKS: u8 = 16;

/// Chains of a function.
#[derive(Clone, Default)]
pub(super) struct Chains {
    /// Values at which a chain is cut: rules do not look at their definitions.
    pub(super) cut: EntitySet<Value>,
    /// Value with the same bytes, for results of `bitcast`, that is no such result itself.
    pub(super) bytes_of: SecondaryMap<Value, PackedOption<Value>>,
}

/// Returns the previous value in a chain, and true if it has the same bytes.
fn link(func: &Function, v: Value) -> Option<(Value, bool)> {
    match *func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::Unary { opcode, arg } => match opcode {
            Opcode::Bitcast => Some((arg, true)),
            Opcode::Fneg | Opcode::Fabs | Opcode::Fsat | Opcode::Ireduce => Some((arg, false)),
            _ => None,
        },
        _ => None,
    }
}

impl Chains {
    /// Returns the value that has the bytes of another one and is no result of `bitcast`.
    pub(super) fn root(&self, v: Value) -> Value {
        self.bytes_of[v].expand().unwrap_or(v)
    }

    pub(super) fn new(func: &Function) -> Chains {
        let mut out = Chains::default();
        // Links up to a value, from 1. 0 is not known yet.
        let mut links: SecondaryMap<Value, u8> = sized(func.dfg.num_values());
        let mut path = Vec::new();
        let insts = func.layout.blocks().iter();
        for &inst in insts.flat_map(|&b| func.layout.insts(b)) {
            let Some(v) = func.dfg.first_result(inst) else {
                continue;
            };
            let mut at = v;
            while links[at] == 0
                && let Some((before, same)) = link(func, at)
            {
                // Chains in unreachable code may be cycles.
                links[at] = 1;
                path.push((at, before, same));
                at = before;
            }
            while let Some((v, before, same)) = path.pop() {
                links[v] = match links[before] {
                    LINKS => 1,
                    n => n + 1,
                };
                if links[v] == LINKS {
                    out.cut.insert(v);
                }
                if same {
                    out.bytes_of[v] = out.bytes_of[before].expand().unwrap_or(before).into();
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use crate::CompileOptions;
    use crate::driver::options::compile;
    use crate::ir::builder::FunctionBuilder;
    use crate::ir::{FloatCC, Function, Module, scalars::*};

    /// A chain of 20,000 links, with uses in between, takes little stack and little code.
    #[test]
    fn long_chains() {
        for kind in 0..4 {
            let mut f = Function::kernel("k", 1);
            let mut b = FunctionBuilder::new(&mut f);
            let p = b.ptr_param();
            let mut v = b.param(F32);
            let (first, mut count) = (v, 0);
            for n in 0..20_000 {
                v = match kind {
                    0 => b.ins().fneg(v),
                    1 => b.ins().fsat(v),
                    2 => {
                        let i = b.ins().bitcast(I32, v);
                        b.ins().bitcast(F32, i)
                    }
                    _ => b.ins().fabs(v),
                };
                if n % 100 == 0 {
                    let c = b.ins().fcmp(FloatCC::LessThan, v, first);
                    let bits = b.ins().pred_to_bits(I32, c);
                    b.ins().bstore(bits, p, 0);
                    count += 1;
                }
            }
            b.ins().bstore(v, p, 0);
            b.ins().return_(&[]);
            b.finish().unwrap();
            let mut m = Module::default();
            m.functions.push(f);
            let out = compile(&m, &CompileOptions::for_target("skl").unwrap()).unwrap();
            let insts = out.kernels[0].stats.instructions;
            assert!(insts < 20_000 / 10 + 20 * count, "{insts}");
        }
    }
}
