//! Definitions dominate uses. In blocks that nothing reaches, only uses of the same block are ordered.

use super::{Place, Verifier};
use crate::ir::{Block, ControlFlow, Inst, Value, ValueDef};
use crate::sized;
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

impl Verifier<'_> {
    pub(super) fn ssa(&mut self, cfg: &ControlFlow) {
        let func = self.func;
        // Block of each instruction, and its place in it from 1.
        let mut at: SecondaryMap<Inst, (PackedOption<Block>, u32)> = sized(func.dfg.num_insts());
        let mut placed: SecondaryMap<Block, bool> = sized(func.dfg.num_blocks());
        for &block in func.layout.blocks() {
            placed[block] = true;
            for (n, &inst) in func.layout.insts(block).iter().enumerate() {
                at[inst] = (block.into(), n as u32 + 1);
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
                let mut count = 0;
                func.dfg.data(inst).for_each_arg(&func.dfg, |v| {
                    let place = Place::Operand(inst, count);
                    count += 1;
                    let what = match self.defined(v, &at, &placed) {
                        None => format!("{v} is not defined"),
                        Some((def, number)) if def == block => match number > n as u32 {
                            true => format!("{v} is used before it is defined"),
                            false => return,
                        },
                        Some((def, _)) => match cfg.is_reachable(block) && !dominates(def, block) {
                            true => format!(
                                "{v} is not defined on every path here: it is defined in {def}"
                            ),
                            false => return,
                        },
                    };
                    self.error(place, what);
                });
            }
        }
    }

    /// Block and place (0 for parameters) of a value's definition, if that is in the function.
    fn defined(
        &self,
        v: Value,
        at: &SecondaryMap<Inst, (PackedOption<Block>, u32)>,
        placed: &SecondaryMap<Block, bool>,
    ) -> Option<(Block, u32)> {
        let dfg = &self.func.dfg;
        match dfg.def(v) {
            ValueDef::Result(inst, n) => {
                let real = dfg.has_inst(inst) && dfg.results(inst).get(usize::from(n)) == Some(&v);
                let (block, number) = at[inst];
                block.expand().filter(|_| real).map(|b| (b, number))
            }
            ValueDef::Param(block, n) => {
                let real =
                    dfg.has_block(block) && dfg.block_params(block).get(usize::from(n)) == Some(&v);
                (real && placed[block]).then_some((block, 0))
            }
        }
    }
}
