//! Serialization of functions for cache keys.

use super::KeyWriter;
use crate::ir::instructions::ValueList;
use crate::ir::{
    ArgFact, Block, Block2dShape, BlockCall, Constant, DpasShape, Function, Inst, InstData, Module,
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

    fn values(&mut self, values: &[Value]) {
        values.iter().for_each(|&v| self.value(v));
    }

    fn optional(&mut self, values: &[PackedOption<Value>]) {
        for v in values {
            self.w.u8(u8::from(v.is_some()));
            v.expand().into_iter().for_each(|v| self.value(v));
        }
    }

    fn list(&mut self, list: ValueList) {
        let values = list.as_slice(&self.func.dfg.pool);
        self.w.len(values.len());
        self.values(values);
    }

    fn call(&mut self, call: &BlockCall) {
        self.block(call.block);
        self.list(call.args);
    }

    fn constant(&mut self, constant: Constant) {
        let lanes = if self.func.dfg.has_constant(constant) {
            self.func.dfg.constant(constant)
        } else {
            &[]
        };
        self.w.len(lanes.len());
        lanes.iter().for_each(|&bits| self.w.u64(bits));
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

    /// Writes the format's number, then all operands.
    fn operands(&mut self, data: &InstData) {
        match *data {
            InstData::Nullary { opcode: _ } => self.w.u8(0),
            InstData::Imm { opcode: _, bits } => {
                self.w.u8(1);
                self.w.u64(bits);
            }
            InstData::ImmVec {
                opcode: _,
                constant,
            } => {
                self.w.u8(2);
                self.constant(constant);
            }
            InstData::Launch { opcode: _, dim } => {
                self.w.u8(3);
                self.w.u8(dim as u8);
            }
            InstData::Unary { opcode: _, arg } => {
                self.w.u8(4);
                self.value(arg);
            }
            InstData::Binary { opcode: _, args } => {
                self.w.u8(5);
                self.values(&args);
            }
            InstData::Ternary { opcode: _, args } => {
                self.w.u8(6);
                self.values(&args);
            }
            InstData::IntCompare {
                opcode: _,
                cond,
                args,
            } => {
                self.w.u8(7);
                self.w.u8(cond as u8);
                self.values(&args);
            }
            InstData::FloatCompare {
                opcode: _,
                cond,
                args,
            } => {
                self.w.u8(8);
                self.w.u8(cond as u8);
                self.values(&args);
            }
            InstData::RdRegion {
                opcode: _,
                arg,
                ref region,
                index,
            } => {
                self.w.u8(9);
                self.value(arg);
                self.w.region(region);
                self.optional(&[index]);
            }
            InstData::WrRegion {
                opcode: _,
                args,
                ref region,
                index,
                mask,
            } => {
                self.w.u8(10);
                self.values(&args);
                self.w.region(region);
                self.optional(&[index, mask]);
            }
            InstData::RdPred {
                opcode: _,
                arg,
                offset,
            } => {
                self.w.u8(11);
                self.value(arg);
                self.w.u8(offset);
            }
            InstData::WrPred {
                opcode: _,
                args,
                offset,
            } => {
                self.w.u8(12);
                self.values(&args);
                self.w.u8(offset);
            }
            InstData::Load {
                opcode: _,
                mem,
                addr,
                offset,
                mask,
                old,
            } => {
                self.w.u8(13);
                self.w.mem(mem);
                self.value(addr);
                self.w.u32(offset as u32);
                self.optional(&[mask, old]);
            }
            InstData::Store {
                opcode: _,
                mem,
                args,
                offset,
                mask,
            } => {
                self.w.u8(14);
                self.w.mem(mem);
                self.values(&args);
                self.w.u32(offset as u32);
                self.optional(&[mask]);
            }
            InstData::Atomic {
                opcode: _,
                op,
                mem,
                addr,
                offset,
                data,
                mask,
                old,
            } => {
                self.w.u8(15);
                self.w.u8(op as u8);
                self.w.mem(mem);
                self.value(addr);
                self.w.u32(offset as u32);
                self.optional(&data);
                self.optional(&[mask, old]);
            }
            InstData::Fence {
                opcode: _,
                spaces,
                scope,
            } => [16, spaces as u8, scope as u8]
                .iter()
                .for_each(|&b| self.w.u8(b)),
            InstData::Image {
                opcode: _,
                at,
                coords,
                lod,
                data,
                mask,
                old,
            } => {
                [17, at.image, at.sampler]
                    .iter()
                    .for_each(|&b| self.w.u8(b));
                self.optional(&coords);
                self.optional(&[lod, data, mask, old]);
            }
            InstData::ArgQuery {
                opcode: _,
                fact,
                of,
            } => {
                let fact = match fact {
                    ArgFact::Image(f) => f as u8,
                    ArgFact::Sampler(f) => f as u8,
                };
                [18, fact, of].iter().for_each(|&b| self.w.u8(b));
            }
            InstData::Media {
                opcode: _,
                image,
                width,
                coords,
                data,
            } => {
                [19, image, width].iter().for_each(|&b| self.w.u8(b));
                self.values(&coords);
                self.optional(&[data]);
            }
            InstData::Send {
                opcode: _,
                exec,
                descs,
                payload,
                second,
                mask,
            } => {
                [20, exec].iter().for_each(|&b| self.w.u8(b));
                descs.iter().for_each(|&d| self.w.u32(d));
                self.value(payload);
                self.optional(&[second, mask]);
            }
            InstData::Dpas {
                opcode: _,
                shape,
                args,
            } => {
                let DpasShape {
                    columns,
                    rows,
                    repeat,
                } = shape;
                [28, columns as u8, rows as u8, repeat]
                    .iter()
                    .for_each(|&b| self.w.u8(b));
                self.values(&args);
            }
            InstData::Block2d {
                opcode: _,
                shape,
                args,
                data,
            } => {
                let Block2dShape {
                    layout,
                    bytes,
                    rows,
                    columns,
                    blocks,
                } = shape;
                [29, layout as u8, bytes, rows, columns, blocks]
                    .iter()
                    .for_each(|&b| self.w.u8(b));
                self.values(&args);
                self.optional(&[data]);
            }
            InstData::NamedBarrier {
                opcode: _,
                number,
                threads,
            } => {
                [30, number].iter().for_each(|&b| self.w.u8(b));
                self.value(threads);
            }
            InstData::Symbol { opcode: _, data } => {
                self.w.u8(21);
                self.w.u32(data.index() as u32);
            }
            InstData::Call {
                opcode: _,
                func,
                args,
            } => {
                self.w.u8(22);
                self.w.u32(func.index() as u32);
                self.list(args);
            }
            InstData::Jump {
                opcode: _,
                ref dest,
            } => {
                self.w.u8(23);
                self.call(dest);
            }
            InstData::Brif {
                opcode: _,
                cond,
                ref dests,
            } => {
                self.w.u8(24);
                self.value(cond);
                dests.iter().for_each(|d| self.call(d));
            }
            InstData::Switch {
                opcode: _,
                arg,
                cases,
            } => {
                self.w.u8(26);
                self.value(arg);
                let cases = self.func.dfg.cases(cases);
                self.w.len(cases.values.len());
                cases.values.iter().for_each(|&v| self.w.u64(v));
                self.w.len(cases.dests.len());
                cases.dests.iter().for_each(|d| self.call(d));
            }
            InstData::Printf {
                opcode: _,
                format,
                args,
                mask,
            } => {
                self.w.u8(27);
                self.w.u32(format.index() as u32);
                self.list(args);
                self.optional(&[mask]);
            }
            InstData::Return { opcode: _, args } => {
                self.w.u8(25);
                self.list(args);
            }
        }
    }
}
