//! Serialization of functions for cache keys.

use super::KeyWriter;
use crate::ir::immediate::Keyed;
use crate::ir::instructions::ValueList;
use crate::ir::{
    Block, BlockCall, CaseTable, Constant, DataRef, FuncRef, Function, Inst, InstData, Module,
    Value,
};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};

/// Function being written. Values and blocks are numbered from 1 in order of occurrence.
pub(super) struct FunctionWriter<'a> {
    w: &'a mut KeyWriter,
    func: &'a Function,
    values: SecondaryMap<Value, u32>,
    met: u32,
    blocks: SecondaryMap<Block, u32>,
    met_blocks: u32,
}

impl<'a> FunctionWriter<'a> {
    pub(super) fn new(w: &'a mut KeyWriter, func: &'a Function) -> FunctionWriter<'a> {
        FunctionWriter {
            w,
            func,
            values: SecondaryMap::with_capacity(func.dfg.num_values()),
            met: 0,
            blocks: SecondaryMap::with_capacity(func.dfg.num_blocks()),
            met_blocks: 0,
        }
    }

    pub(super) fn function(mut self, module: &Module) {
        let Function {
            name: _,
            kind: _,
            // Imports do not compile, and to be public changes no code.
            linkage: _,
            sig: _,
            dfg: _,
            layout: _,
            srclocs,
            // Not in a zebin.
            labels: _,
            samplers,
            reflection,
        } = self.func;
        let func = self.func;
        let placed = func.layout.blocks().iter();
        let mut placed = placed.flat_map(|&b| func.layout.insts(b));
        let located = func.has_srclocs() && placed.any(|&i| !srclocs[i].is_none());
        let w = &mut *self.w;
        w.str(&func.name);
        w.kind(func.kind);
        w.len(func.sig.params.len());
        func.sig.params.iter().for_each(|p| w.param(p));
        w.len(func.sig.results.len());
        func.sig.results.iter().for_each(|t| w.ty(*t));
        w.len(samplers.len());
        for s in samplers {
            let crate::ir::Sampler {
                addressing,
                linear,
                normalized,
            } = *s;
            w.u8(addressing as u8);
            w.u8(u8::from(linear));
            w.u8(u8::from(normalized));
        }
        w.len(reflection.iter().len());
        reflection.iter().for_each(|i| w.param_info(i));
        w.u8(u8::from(located));
        w.len(func.layout.blocks().len());
        for &block in func.layout.blocks() {
            self.block(block);
            let params = if func.dfg.has_block(block) {
                func.dfg.block_params(block)
            } else {
                &[]
            };
            self.defined(params);
            let insts = func.layout.insts(block);
            self.w.len(insts.len());
            insts.iter().for_each(|&i| self.inst(i));
            if located {
                insts
                    .iter()
                    .for_each(|&i| self.w.srcloc(module, srclocs[i]));
            }
        }
    }

    /// Invalid entities have the number 0: nothing with them is ever compiled.
    fn value(&mut self, v: Value) {
        if !self.func.dfg.has_value(v) {
            return self.w.u32(0);
        }
        if self.values[v] == 0 {
            self.met += 1;
            self.values[v] = self.met;
        }
        self.w.u32(self.values[v]);
    }

    fn block(&mut self, b: Block) {
        if !self.func.dfg.has_block(b) {
            return self.w.u32(0);
        }
        if self.blocks[b] == 0 {
            self.met_blocks += 1;
            self.blocks[b] = self.met_blocks;
        }
        self.w.u32(self.blocks[b]);
    }

    /// Writes values with their types.
    fn defined(&mut self, values: &[Value]) {
        self.w.len(values.len());
        for &v in values {
            self.value(v);
            if self.func.dfg.has_value(v) {
                self.w.ty(self.func.dfg.ty(v));
            }
        }
    }

    fn inst(&mut self, inst: Inst) {
        let dfg = &self.func.dfg;
        if !dfg.has_inst(inst) {
            return self.w.u32(u32::MAX);
        }
        let data = dfg.data(inst);
        self.w.u32(data.opcode() as u32);
        self.defined(dfg.results(inst));
        self.operands(data);
    }

    fn operand(&mut self, operand: &impl Operand) {
        operand.write(self);
    }

    fn immediate(&mut self, immediate: &impl Keyed) {
        immediate.key(&mut |bytes| self.w.bytes(bytes));
    }
}

include!(concat!(env!("OUT_DIR"), "/cache_key.rs"));

/// Field of an instruction that refers to the function or the module.
trait Operand {
    fn write(&self, w: &mut FunctionWriter<'_>);
}

impl Operand for Value {
    fn write(&self, w: &mut FunctionWriter<'_>) {
        w.value(*self);
    }
}

impl Operand for PackedOption<Value> {
    fn write(&self, w: &mut FunctionWriter<'_>) {
        w.w.u8(u8::from(self.is_some()));
        self.expand().into_iter().for_each(|v| w.value(v));
    }
}

impl<T: Operand, const N: usize> Operand for [T; N] {
    fn write(&self, w: &mut FunctionWriter<'_>) {
        self.iter().for_each(|part| part.write(w));
    }
}

impl Operand for ValueList {
    fn write(&self, w: &mut FunctionWriter<'_>) {
        let values = self.as_slice(&w.func.dfg.pool);
        w.w.len(values.len());
        values.iter().for_each(|&v| w.value(v));
    }
}

impl Operand for BlockCall {
    fn write(&self, w: &mut FunctionWriter<'_>) {
        w.block(self.block);
        self.args.write(w);
    }
}

impl Operand for CaseTable {
    fn write(&self, w: &mut FunctionWriter<'_>) {
        let cases = w.func.dfg.cases(*self);
        w.w.len(cases.values.len());
        cases.values.iter().for_each(|&v| w.w.u64(v));
        w.w.len(cases.dests.len());
        cases.dests.iter().for_each(|d| d.write(w));
    }
}

impl Operand for Constant {
    fn write(&self, w: &mut FunctionWriter<'_>) {
        let dfg = &w.func.dfg;
        let lanes = if dfg.has_constant(*self) {
            dfg.constant(*self)
        } else {
            &[]
        };
        w.w.len(lanes.len());
        lanes.iter().for_each(|&bits| w.w.u64(bits));
    }
}

impl Operand for DataRef {
    fn write(&self, w: &mut FunctionWriter<'_>) {
        w.w.u32(self.index() as u32);
    }
}

impl Operand for FuncRef {
    fn write(&self, w: &mut FunctionWriter<'_>) {
        w.w.u32(self.index() as u32);
    }
}
