//! Rewrite of a function after the analysis of demanded lanes.

use super::{
    LaneBehavior, LaneSpan, NarrowingPlan, WriteDemand, contiguous, offset_from_lane, rebased,
    subregion,
};
use crate::ir::instructions::ValueList;
use crate::ir::{BlockInsts, ControlFlow, Function, Inst, InstData, MemFlags, Opcode, Type, Value};

impl NarrowingPlan {
    /// Applies the plan to the function.
    pub(super) fn apply(&self, func: &mut Function, cfg: &ControlFlow) {
        for &block in cfg.order() {
            let mut out = BlockInsts::new();
            for inst in std::mem::take(func.layout.insts_mut(block)) {
                self.inst(func, inst, &mut out);
            }
            *func.layout.insts_mut(block) = out;
        }
        // Types are the original ones up to here.
        for (v, span) in self.spans.iter() {
            if let Some(span) = span {
                let ty = func.dfg.ty(v).by(span.lanes);
                func.dfg.set_type(v, ty);
            }
        }
    }

    fn is_dead(&self, v: Value) -> bool {
        self.demand[v].read == 0 && !self.demand[v].whole
    }

    /// Returns true if a value was narrowed or removed.
    fn is_other(&self, func: &Function, v: Value) -> bool {
        let def = func.dfg.def_inst(v);
        let gone = def.is_some_and(|i| self.kinds[i].is_some_and(|k| k != LaneBehavior::Other));
        self.spans[v].is_some() || self.is_dead(v) && gone
    }

    fn inst(&self, func: &mut Function, inst: Inst, out: &mut BlockInsts) {
        let kind = self.kinds[inst].unwrap_or(LaneBehavior::Other);
        let (Some(result), true) = (func.dfg.first_result(inst), kind != LaneBehavior::Other)
        else {
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
                    *region = subregion(ty, region, span).unwrap_or(*region);
                }
                if let Some(of) = self.spans[*arg] {
                    *region = rebased(*region, of.first, ty.scalar().bytes());
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
                let all = LaneSpan {
                    first: 0,
                    lanes: ty.lanes(),
                };
                let these = span.unwrap_or(all);
                match self.writes[inst] {
                    Some(WriteDemand::Nothing) => {
                        let from = self.spans[*old].map_or(0, |s| s.first);
                        let size = ty.scalar().bytes();
                        let offset = (these.first - from) * size;
                        if let Some(region) = contiguous(these.lanes, offset) {
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
                            Some(WriteDemand::All) => undef(func, ty.by(these.lanes), inst, out),
                            _ => self.at(func, *old, these, inst, out),
                        };
                        *region = rebased(*region, these.first, ty.scalar().bytes());
                    }
                }
            }
            InstData::Load { mem, offset, .. } => {
                if let Some(span) = span {
                    move_load((mem, offset), ty, span);
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

    /// Returns lanes of a value, read before an instruction if needed.
    fn at(
        &self,
        func: &mut Function,
        v: Value,
        span: LaneSpan,
        at: Inst,
        out: &mut BlockInsts,
    ) -> Value {
        let ty = func.dfg.ty(v);
        let there = self.spans[v].unwrap_or(LaneSpan {
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
                let Some(region) = contiguous(span.lanes, first * ty.scalar().bytes()) else {
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
        append(func, data, ty.by(span.lanes), at, out)
    }

    /// Narrows the arguments of blocks.
    fn branch(&self, func: &mut Function, inst: Inst, out: &mut BlockInsts) {
        for n in 0..func.dfg.destinations(inst).len() {
            let dest = func.dfg.destinations(inst)[n];
            let params = func.dfg.block_params(dest.block).to_vec();
            let mut args = dest.args.as_slice(&func.dfg.pool).to_vec();
            let mut other = false;
            for (arg, &p) in args.iter_mut().zip(&params) {
                let given = match self.spans[p] {
                    Some(span) => self.at(func, *arg, span, inst, out),
                    // The parameter is dead, and its argument was narrowed or removed.
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

/// Moves a block load of a type to some of its lanes, with the alignment that this leaves.
pub(super) fn move_load((mem, offset): (&mut MemFlags, &mut i32), ty: Type, span: LaneSpan) {
    *offset = offset_from_lane(*offset, ty, span).unwrap_or(*offset);
    let by = span.first * ty.scalar().bytes();
    let promised = mem.alignment(ty.scalar().bytes());
    if mem.align != 0 && !by.is_multiple_of(promised) {
        *mem = mem.aligned(1 << by.trailing_zeros());
    }
}

fn undef(func: &mut Function, ty: Type, at: Inst, out: &mut BlockInsts) -> Value {
    let opcode = Opcode::Undef;
    append(func, InstData::Nullary { opcode }, ty, at, out)
}

/// Appends an instruction at the location of another. Returns its result.
pub(super) fn append(
    func: &mut Function,
    data: InstData,
    ty: Type,
    at: Inst,
    out: &mut BlockInsts,
) -> Value {
    let (inst, v) = func.make_like(at, data, ty);
    out.push(inst);
    v
}
