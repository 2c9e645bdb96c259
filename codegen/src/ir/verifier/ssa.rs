//! Rules on dominance: definitions dominate uses. In unreachable blocks, only uses in the same
//! block are ordered.

use super::{ErrorLocation, Verifier};
use crate::ir::{Block, ControlFlow, Value, ValueDef};
use crate::sized;
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

/// Definition point of each value: block, and index in it.
type Definitions = SecondaryMap<Value, (PackedOption<Block>, u32)>;

impl Verifier<'_> {
    pub(super) fn ssa(&mut self, cfg: &ControlFlow) {
        let func = self.func;
        // Index 0 stands for block parameters.
        let mut defs: Definitions = sized(func.dfg.num_values());
        for &block in func.layout.blocks() {
            for (n, &v) in func.dfg.block_params(block).iter().enumerate() {
                if func.dfg.has_value(v) && func.dfg.def(v) == ValueDef::Param(block, n as u16) {
                    defs[v] = (block.into(), 0);
                }
            }
            for (n, &inst) in func.layout.insts(block).iter().enumerate() {
                for &v in func.dfg.results(inst) {
                    defs[v] = (block.into(), n as u32 + 1);
                }
            }
        }
        for (name, values) in func.labels.iter() {
            for v in values.filter(|v| func.dfg.has_value(*v)) {
                if defs[v].0.is_none() {
                    let what = format!("the label {name:?} is of {v}, which is not defined");
                    self.error(ErrorLocation::Function, what);
                }
            }
        }
        let tree = cfg.dominator_tree();
        for &block in func.layout.blocks() {
            for (n, &inst) in func.layout.insts(block).iter().enumerate() {
                let mut count = 0;
                func.dfg.data(inst).for_each_arg(&func.dfg, |v| {
                    let place = ErrorLocation::Operand(inst, count);
                    count += 1;
                    let (def, number) = defs[v];
                    let what = match def.expand() {
                        None => format!("{v} is not defined"),
                        Some(def) if def == block => {
                            if number > n as u32 {
                                format!("{v} is used before it is defined")
                            } else {
                                return;
                            }
                        }
                        Some(def) => {
                            if cfg.is_reachable(block) && !tree.dominates(def, block) {
                                format!(
                                    "{v} is not defined on every path here: it is defined in {def}"
                                )
                            } else {
                                return;
                            }
                        }
                    };
                    self.error(place, what);
                });
            }
        }
    }
}
