//! Values made as narrow as was found, and what is read of them.

use super::{Kind, Plan, Span, Written, behind, moved, neighbours, part};
use crate::ir::instructions::ValueList;
use crate::ir::{BlockInsts, ControlFlow, Function, Inst, InstData, Opcode, Type, Value};

impl Plan {
    /// Makes the function what was found.
    pub(super) fn apply(&self, func: &mut Function, cfg: &ControlFlow) {
        for &block in cfg.order() {
            let mut out = BlockInsts::new();
            for inst in std::mem::take(func.layout.insts_mut(block)) {
                self.inst(func, inst, &mut out);
            }
            *func.layout.insts_mut(block) = out;
        }
        // Until here types are those that there were.
        for (v, span) in self.spans.iter() {
            if let Some(span) = span {
                let ty = func.dfg.ty(v).by(span.lanes);
                func.dfg.set_type(v, ty);
            }
        }
    }

    fn is_dead(&self, v: Value) -> bool {
        self.need[v].read == 0 && !self.need[v].whole
    }

    /// Whether a value is not what it was any longer.
    fn is_other(&self, func: &Function, v: Value) -> bool {
        let def = func.dfg.def_inst(v);
        let gone = def.is_some_and(|i| self.kinds[i].is_some_and(|k| k != Kind::Other));
        self.spans[v].is_some() || self.is_dead(v) && gone
    }

    fn inst(&self, func: &mut Function, inst: Inst, out: &mut BlockInsts) {
        let kind = self.kinds[inst].unwrap_or(Kind::Other);
        let (Some(result), true) = (func.dfg.first_result(inst), kind != Kind::Other) else {
            self.branch(func, inst, out);
            out.push(inst);
            return;
        };
        if self.is_dead(result) {
            return;
        }
        let ty = func.dfg.ty(result);
        let span = self.spans[result];
        let mut data = *func.dfg.data(inst);
        match &mut data {
            InstData::RdRegion { arg, region, .. } => {
                if let Some(span) = span {
                    *region = part(ty, region, span).unwrap_or(*region);
                }
                if let Some(of) = self.spans[*arg] {
                    *region = behind(*region, of.first, ty.scalar().bytes());
                }
            }
            InstData::RdPred { arg, offset, .. } => {
                if let Some(of) = self.spans[*arg] {
                    *offset -= of.first as u8;
                }
            }
            InstData::WrRegion {
                args: [old, _],
                region,
                ..
            } => {
                let all = Span {
                    first: 0,
                    lanes: ty.lanes(),
                };
                let these = span.unwrap_or(all);
                match self.writes[inst] {
                    Some(Written::Nothing) => {
                        let from = self.spans[*old].map_or(0, |s| s.first);
                        let size = ty.scalar().bytes();
                        let offset = (these.first - from) * size;
                        if let Some(region) = neighbours(these.lanes, offset) {
                            data = InstData::RdRegion {
                                opcode: Opcode::Rdregion,
                                arg: *old,
                                region,
                                index: None.into(),
                            };
                        }
                    }
                    written => {
                        *old = match written {
                            Some(Written::All) => undef(func, ty.by(these.lanes), inst, out),
                            _ => self.at(func, *old, these, inst, out),
                        };
                        *region = behind(*region, these.first, ty.scalar().bytes());
                    }
                }
            }
            InstData::Load { mem, offset, .. } => {
                if let Some(span) = span {
                    *offset = moved(*offset, ty, span).unwrap_or(*offset);
                    let by = span.first * ty.scalar().bytes();
                    let promised = mem.alignment(ty.scalar().bytes());
                    if mem.align != 0 && !by.is_multiple_of(promised) {
                        *mem = mem.aligned(1 << by.trailing_zeros());
                    }
                }
            }
            _ => {
                if let Some(span) = span {
                    let mut made = Vec::new();
                    data.for_each_arg(&func.dfg, |v| made.push(v));
                    for v in &mut made {
                        *v = self.at(func, *v, span, inst, out);
                    }
                    let mut made = made.into_iter();
                    data.map_args(&mut func.dfg, |v| made.next().unwrap_or(v));
                }
            }
        }
        *func.dfg.data_mut(inst) = data;
        out.push(inst);
    }

    /// Lanes of a value, made before an instruction.
    fn at(
        &self,
        func: &mut Function,
        v: Value,
        span: Span,
        at: Inst,
        out: &mut BlockInsts,
    ) -> Value {
        let ty = func.dfg.ty(v);
        let there = self.spans[v].unwrap_or(Span {
            first: 0,
            lanes: ty.lanes(),
        });
        if there == span {
            return v;
        }
        let first = span.first - there.first;
        let data = match func.dfg.def_inst(v).map(|i| *func.dfg.data(i)) {
            Some(
                same @ (InstData::Nullary {
                    opcode: Opcode::Undef,
                }
                | InstData::Imm { .. }),
            ) if !ty.is_pred() => same,
            _ if ty.is_pred() => InstData::RdPred {
                opcode: Opcode::Rdpred,
                arg: v,
                offset: first as u8,
            },
            _ => {
                let Some(region) = neighbours(span.lanes, first * ty.scalar().bytes()) else {
                    return v;
                };
                InstData::RdRegion {
                    opcode: Opcode::Rdregion,
                    arg: v,
                    region,
                    index: None.into(),
                }
            }
        };
        made(func, data, ty.by(span.lanes), at, out)
    }

    /// Gives blocks the lanes that they read.
    fn branch(&self, func: &mut Function, inst: Inst, out: &mut BlockInsts) {
        for n in 0..func.dfg.destinations(inst).len() {
            let dest = func.dfg.destinations(inst)[n];
            let params = func.dfg.block_params(dest.block).to_vec();
            let mut args = dest.args.as_slice(&func.dfg.pool).to_vec();
            let mut other = false;
            for (arg, &p) in args.iter_mut().zip(&params) {
                let given = match self.spans[p] {
                    Some(span) => self.at(func, *arg, span, inst, out),
                    // Nobody reads it, and what it was is gone or narrower.
                    None if self.is_dead(p) && self.is_other(func, *arg) => {
                        undef(func, func.dfg.ty(p), inst, out)
                    }
                    None => *arg,
                };
                other |= given != *arg;
                *arg = given;
            }
            if other {
                let (dests, pool) = func.dfg.destinations_mut(inst);
                if let Some(dest) = dests.get_mut(n) {
                    dest.args = ValueList::from_iter(args, pool);
                }
            }
        }
    }
}

fn undef(func: &mut Function, ty: Type, at: Inst, out: &mut BlockInsts) -> Value {
    let opcode = Opcode::Undef;
    made(func, InstData::Nullary { opcode }, ty, at, out)
}

/// An instruction's result, from where another comes.
fn made(func: &mut Function, data: InstData, ty: Type, at: Inst, out: &mut BlockInsts) -> Value {
    let (inst, v) = func.make_like(at, data, ty);
    out.push(inst);
    v
}
