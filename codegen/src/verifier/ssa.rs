//! Definitions dominate uses. In blocks that nothing reaches, only uses of the same block are ordered.

use super::{Place, Verifier};
use crate::ir::{Block, ControlFlow, Inst, Value, ValueDef};
use crate::sized;
use cranelift_entity::SecondaryMap;

impl Verifier<'_> {
    pub(super) fn ssa(&mut self, cfg: &ControlFlow) {
        let func = self.func;
        // Block of each instruction, and its place in it from 1.
        let mut at: SecondaryMap<Inst, Option<(Block, u32)>> = sized(func.dfg.num_insts());
        let mut placed: SecondaryMap<Block, bool> = sized(func.dfg.num_blocks());
        for &block in func.layout.blocks() {
            placed[block] = true;
            for (n, &inst) in func.layout.insts(block).iter().enumerate() {
                at[inst] = Some((block, n as u32 + 1));
            }
        }
        for (name, values) in func.labels.iter() {
            for v in values.filter(|v| func.dfg.has_value(*v)) {
                if self.defined(v, &at, &placed).is_none() {
                    let what = format!("the label {name:?} is of {v}, which is not defined");
                    self.error(Place::Function, what);
                }
            }
        }
        let within = cfg.dominator_intervals();
        let dominates = |a: Block, b: Block| {
            within[a].0 != 0 && within[a].0 <= within[b].0 && within[b].1 <= within[a].1
        };
        for &block in func.layout.blocks() {
            for (n, &inst) in func.layout.insts(block).iter().enumerate() {
                for (arg, v) in self.args(inst).into_iter().enumerate() {
                    let place = Place::Operand(inst, arg);
                    let Some((def, number)) = self.defined(v, &at, &placed) else {
                        self.error(place, format!("{v} is not defined"));
                        continue;
                    };
                    if def == block {
                        if number > n as u32 {
                            self.error(place, format!("{v} is used before it is defined"));
                        }
                    } else if cfg.is_reachable(block) && !dominates(def, block) {
                        self.error(
                            place,
                            format!(
                                "{v} is not defined on every path here: it is defined in {def}"
                            ),
                        );
                    }
                }
            }
        }
    }

    /// Block and place (0 for parameters) of a value's definition, if that is in the function.
    fn defined(
        &self,
        v: Value,
        at: &SecondaryMap<Inst, Option<(Block, u32)>>,
        placed: &SecondaryMap<Block, bool>,
    ) -> Option<(Block, u32)> {
        let dfg = &self.func.dfg;
        match dfg.def(v) {
            ValueDef::Result(inst, n) => {
                let real = dfg.has_inst(inst) && dfg.results(inst).get(usize::from(n)) == Some(&v);
                at[inst].filter(|_| real)
            }
            ValueDef::Param(block, n) => {
                let real =
                    dfg.has_block(block) && dfg.block_params(block).get(usize::from(n)) == Some(&v);
                (real && placed[block]).then_some((block, 0))
            }
        }
    }
}
