//! Predicates of more lanes than a flag has, as two: the lanes of a flag, and the rest.
//!
//! Each operation on them is done in two parts. Parameters and arguments of blocks and subroutines,
//! and results of calls, become two as well: they follow those that stay, in order.
//!
//! Blocks are visited in reverse postorder, so that the parts of a value exist before its uses. No
//! code reaches other blocks, and none is made of them.

use super::Expander;
use crate::ir::instructions::ValueList;
use crate::ir::{
    Block, BlockCall, ControlFlow, FuncRef, Function, Inst, InstData, Opcode, Param, Region, Type,
    Types, Value,
};
use smallvec::SmallVec;

/// Lanes of a flag.
const FLAG: u32 = Type::FLAG_LANES;

fn is_long(ty: Type) -> bool {
    ty.is_pred() && ty.lanes() > FLAG
}

/// Returns true if a function has predicates of more lanes than a flag.
pub(super) fn has_long(func: &Function) -> bool {
    let values = 0..func.dfg.num_values() as u32;
    values.map(Value::from_u32).any(|v| is_long(func.dfg.ty(v)))
}

/// Returns the types of both parts.
fn halves(ty: Type) -> [Type; 2] {
    [ty.by(FLAG), ty.by(ty.lanes() - FLAG)]
}

/// Returns types as parts: those that stay, then the parts of the others.
fn in_parts<T: Clone>(all: &[T], ty: impl Fn(&T) -> Type, part: impl Fn(&T, Type) -> T) -> Vec<T> {
    let stay = all.iter().filter(|t| !is_long(ty(t))).cloned();
    let long = all.iter().filter(|t| is_long(ty(t)));
    let parts = long.flat_map(|t| halves(ty(t)).map(|half| part(t, half)));
    stay.chain(parts).collect()
}

/// Splits the long predicates of a function.
pub(super) fn split(e: &mut Expander<'_>) {
    let sig = &mut e.func.sig;
    let part = |p: &Param, ty| Param { ty, ..*p };
    sig.params = in_parts(&sig.params, |p| p.ty, part);
    sig.results = in_parts(&sig.results, |t| *t, |_, ty| ty)
        .into_iter()
        .collect();
    let order: Vec<Block> = ControlFlow::new(&e.func).order().to_vec();
    for &block in &order {
        params(e, block);
    }
    for block in order {
        for inst in std::mem::take(e.func.layout.insts_mut(block)) {
            e.loc = e.func.srclocs[inst];
            e.split_inst(inst);
        }
        *e.func.layout.insts_mut(block) = std::mem::take(&mut e.out);
    }
    e.rename();
}

/// Gives a block two parameters for each that is long.
fn params(e: &mut Expander<'_>, block: Block) {
    let dfg = &mut e.func.dfg;
    let old = dfg.block_params(block).to_vec();
    let keep: Vec<bool> = old.iter().map(|&v| !is_long(dfg.ty(v))).collect();
    if keep.iter().all(|k| *k) {
        return;
    }
    dfg.retain_block_params(block, &keep);
    for (v, _) in old.into_iter().zip(keep).filter(|(_, keep)| !keep) {
        let parts = halves(dfg.ty(v)).map(|ty| dfg.append_block_param(block, ty));
        e.parts[0][v] = parts[0].into();
        e.parts[1][v] = parts[1].into();
    }
}

impl Expander<'_> {
    fn is_long(&self, v: Value) -> bool {
        is_long(self.ty(v))
    }

    /// Returns both parts of a long predicate.
    fn parts_of(&mut self, v: Value) -> [Value; 2] {
        if let (Some(low), Some(high)) = (self.parts[0][v].expand(), self.parts[1][v].expand()) {
            return [low, high];
        }
        let opcode = Opcode::Undef;
        halves(self.ty(v)).map(|ty| self.one(InstData::Nullary { opcode }, Some(ty)))
    }

    fn set_parts(&mut self, v: Value, parts: [Value; 2]) {
        self.parts[0][v] = parts[0].into();
        self.parts[1][v] = parts[1].into();
    }

    /// Returns lanes of a predicate, at most as many as a flag has.
    fn pred_lanes(&mut self, v: Value, first: u32, lanes: u32) -> Value {
        let ty = self.ty(v);
        if first == 0 && lanes == ty.lanes() {
            return v;
        }
        if !is_long(ty) {
            return self.rdpred(v, first, lanes);
        }
        let [low, high] = self.parts_of(v);
        if first >= FLAG {
            return self.pred_lanes(high, first - FLAG, lanes);
        }
        if first + lanes <= FLAG {
            return self.pred_lanes(low, first, lanes);
        }
        let n = FLAG - first;
        let low = self.pred_lanes(low, first, n);
        let high = self.pred_lanes(high, 0, lanes - n);
        let opcode = Opcode::Undef;
        let both = self.one(InstData::Nullary { opcode }, Some(ty.by(lanes)));
        let both = self.with_pred_lanes(both, low, 0);
        self.with_pred_lanes(both, high, n)
    }

    /// Returns a predicate with lanes replaced, neither of which is long.
    fn with_pred_lanes(&mut self, old: Value, new: Value, first: u32) -> Value {
        if self.ty(old) == self.ty(new) {
            return new;
        }
        self.wrpred(old, new, first)
    }

    /// Returns consecutive lanes of an operand of an operation on lanes.
    fn operand_lanes(&mut self, v: Value, first: u32, lanes: u32) -> Value {
        let ty = self.ty(v);
        if ty.is_pred() {
            return self.pred_lanes(v, first, lanes);
        }
        let def = self.func.dfg.def_inst(v).map(|i| *self.func.dfg.data(i));
        let size = ty.scalar().bytes();
        match def {
            // A constant, and lanes of another vector, are narrowed themselves.
            Some(data @ InstData::Imm { .. }) => self.one(data, Some(ty.by(lanes))),
            Some(InstData::RdRegion {
                arg, region, index, ..
            }) if index.is_none()
                && (region == Region::scalar(region.offset)
                    || region.is_contiguous(ty.lanes())) =>
            {
                let part = if region.is_contiguous(ty.lanes()) {
                    Region::contiguous(lanes as u16, region.offset + (first * size) as u16)
                } else {
                    region
                };
                self.region(ty.by(lanes), arg, part)
            }
            _ => {
                let part = Region::contiguous(lanes as u16, (first * size) as u16);
                self.region(ty.by(lanes), v, part)
            }
        }
    }

    /// Returns lanes of each of `count` components. All lanes of a component come before the next.
    fn component_lanes(&mut self, v: Value, of: u32, first: u32, lanes: u32) -> Value {
        let ty = self.ty(v);
        if ty.lanes() == of {
            return self.operand_lanes(v, first, lanes);
        }
        let region = components(ty, of, first, lanes);
        self.region(ty.by(ty.lanes() / of * lanes), v, region)
    }

    /// Makes both parts of an operation on the lanes of its operands.
    fn both(&mut self, data: InstData, lanes: u32, ctrl: Option<Type>) -> [Value; 2] {
        [(0, FLAG), (FLAG, lanes - FLAG)].map(|(first, n)| {
            let mut args: SmallVec<[Value; 4]> = SmallVec::new();
            data.for_each_arg(&self.func.dfg, |v| args.push(v));
            let parts: SmallVec<[Value; 4]> = args
                .into_iter()
                .map(|v| self.operand_lanes(v, first, n))
                .collect();
            let mut parts = parts.into_iter();
            let mut data = data;
            data.map_args(&mut self.func.dfg, |v| parts.next().unwrap_or(v));
            self.one(data, ctrl.map(|ty| ty.by(n)))
        })
    }

    /// Splits an instruction, if it has a long predicate as operand or result.
    fn split_inst(&mut self, inst: Inst) {
        let dfg = &self.func.dfg;
        let mut long = dfg.results(inst).iter().any(|&v| self.is_long(v));
        let data = *dfg.data(inst);
        data.for_each_arg(dfg, |v| long |= self.is_long(v));
        if !long {
            self.out.push(inst);
            return;
        }
        if data.opcode().info().terminator {
            self.split_edges(inst);
            self.out.push(inst);
            return;
        }
        if let InstData::Call { func, args, .. } = data {
            return self.split_call(inst, func, args);
        }
        let result = self.func.dfg.first_result(inst);
        let Some(result) = result else {
            return self.split_store(data);
        };
        let ty = self.ty(result);
        let new = match data {
            InstData::Imm { opcode, bits } => {
                let [low, high] = halves(ty);
                let low_bits = bits & (u64::MAX >> (64 - FLAG));
                let imm = |bits| InstData::Imm { opcode, bits };
                let parts = [
                    self.one(imm(low_bits), Some(low)),
                    self.one(imm(bits >> FLAG), Some(high)),
                ];
                return self.set_parts(result, parts);
            }
            InstData::Nullary { .. } => {
                let parts = halves(ty).map(|ty| self.one(data, Some(ty)));
                return self.set_parts(result, parts);
            }
            InstData::Unary { opcode, arg } if !is_long(ty) => {
                // Of all lanes, as `any` and `all` are.
                let [low, high] = self.parts_of(arg).map(|v| self.un(opcode, v));
                let joined = if opcode == Opcode::All {
                    Opcode::Band
                } else {
                    Opcode::Bor
                };
                self.bin(joined, low, high)
            }
            InstData::RdPred { arg, offset, .. } if is_long(ty) => {
                let first = u32::from(offset);
                let parts = [
                    self.pred_lanes(arg, first, FLAG),
                    self.pred_lanes(arg, first + FLAG, ty.lanes() - FLAG),
                ];
                return self.set_parts(result, parts);
            }
            InstData::RdPred { arg, offset, .. } => self.pred_lanes(arg, offset.into(), ty.lanes()),
            InstData::WrPred {
                args: [old, new],
                offset,
                ..
            } => {
                let parts = self.parts_of(old);
                let from = u32::from(offset);
                let to = from + self.ty(new).lanes();
                let mut first = 0;
                let parts = parts.map(|part| {
                    let end = first + self.ty(part).lanes();
                    let (a, b) = (from.max(first), to.min(end));
                    let start = std::mem::replace(&mut first, end);
                    if a >= b {
                        return part;
                    }
                    let new = self.pred_lanes(new, a - from, b - a);
                    self.with_pred_lanes(part, new, a - start)
                });
                return self.set_parts(result, parts);
            }
            InstData::WrRegion { .. } => self.split_write(data),
            InstData::Ternary {
                args: [mask, ..], ..
            } if !ty.is_pred() => {
                let lanes = self.ty(mask).lanes();
                let parts = self.both(data, lanes, None);
                self.joined(ty, lanes, parts)
            }
            InstData::Load { addr, .. } | InstData::Atomic { addr, .. } => {
                let lanes = self.ty(addr).lanes();
                let parts = self.split_access(data, lanes, Some(ty));
                self.joined(ty, lanes, [parts[0], parts[1]])
            }
            _ => {
                let lanes = ty.lanes();
                let parts = self.both(data, lanes, None);
                return self.set_parts(result, parts);
            }
        };
        self.replaced[result] = new.into();
    }

    /// Returns a vector of two parts, each with all components of its lanes.
    fn joined(&mut self, ty: Type, lanes: u32, [low, high]: [Value; 2]) -> Value {
        let opcode = Opcode::Undef;
        let out = self.one(InstData::Nullary { opcode }, Some(ty));
        let out = self.replace(out, low, components(ty, lanes, 0, FLAG));
        self.replace(out, high, components(ty, lanes, FLAG, lanes - FLAG))
    }

    /// Makes both parts of an access of `lanes` lanes. `ty` is the type of its result.
    fn split_access(&mut self, data: InstData, lanes: u32, ty: Option<Type>) -> [Value; 2] {
        [(0, FLAG), (FLAG, lanes - FLAG)].map(|(first, n)| {
            let mut args: SmallVec<[Value; 4]> = SmallVec::new();
            data.for_each_arg(&self.func.dfg, |v| args.push(v));
            let parts: SmallVec<[Value; 4]> = args
                .into_iter()
                .map(|v| self.component_lanes(v, lanes, first, n))
                .collect();
            let mut parts = parts.into_iter();
            let mut data = data;
            data.map_args(&mut self.func.dfg, |v| parts.next().unwrap_or(v));
            self.one(data, ty.map(|ty| ty.by(ty.lanes() / lanes * n)))
        })
    }

    fn split_store(&mut self, data: InstData) {
        // The mask has a lane for each address.
        let mut lanes = 0;
        data.for_each_arg(&self.func.dfg, |v| {
            if self.is_long(v) {
                lanes = self.ty(v).lanes();
            }
        });
        self.split_access(data, lanes, None);
    }

    /// Splits a write of a region under a long mask. A part is within a row, or begins with one.
    fn split_write(&mut self, data: InstData) -> Value {
        let InstData::WrRegion {
            args: [old, new],
            region,
            index,
            mask,
            ..
        } = data
        else {
            return Value::from_u32(0);
        };
        let (Some(mask), ty) = (mask.expand(), self.ty(new)) else {
            return old;
        };
        let size = ty.scalar().bytes();
        let width = u32::from(region.width).max(1);
        let rows = index.expand().map_or(0, |v| self.ty(v).lanes());
        let even = u32::from(region.vstride) == width * u32::from(region.hstride) && rows < 2;
        let (mut out, mut first) = (old, 0);
        while first < ty.lanes() {
            let end = if first < FLAG { FLAG } else { ty.lanes() };
            let within = first % width;
            let whole = within == 0 || even;
            let n = if whole {
                end - first
            } else {
                (end - first).min(width - within)
            };
            let mut part = region;
            let mut at = index;
            let row = first / width;
            if !whole || even {
                (part.width, part.vstride) = (n as u16, n as u16 * region.hstride);
            }
            let from = if rows > 1 {
                let count = if whole { n.div_ceil(width) } else { 1 };
                let of = index.expand().map(|v| {
                    let region = Region::contiguous(count as u16, row as u16 * 2);
                    let ty = self.ty(v).by(count);
                    self.region(ty, v, region)
                });
                at = of.into();
                within * u32::from(region.hstride)
            } else {
                region.element(first)
            };
            part.offset += (from * size) as u16;
            let lanes = self.operand_lanes(new, first, n);
            let mask = self.pred_lanes(mask, first, n);
            let data = InstData::WrRegion {
                opcode: Opcode::Wrregion,
                args: [out, lanes],
                region: part,
                index: at,
                mask: mask.into(),
            };
            out = self.one(data, None);
            first += n;
        }
        out
    }

    /// Returns arguments as parts.
    fn split_args(&mut self, args: &[Value]) -> ValueList {
        let (long, mut all): (Vec<Value>, Vec<Value>) =
            args.iter().copied().partition(|&v| self.is_long(v));
        for v in long {
            all.extend(self.parts_of(v));
        }
        ValueList::from_slice(&all, &mut self.func.dfg.pool)
    }

    /// Splits the arguments of a terminator.
    fn split_edges(&mut self, inst: Inst) {
        if let InstData::Return { args, .. } = *self.func.dfg.data(inst) {
            let args = args.as_slice(&self.func.dfg.pool).to_vec();
            let new = self.split_args(&args);
            if let InstData::Return { args, .. } = self.func.dfg.data_mut(inst) {
                *args = new;
            }
            return;
        }
        let dests: Vec<BlockCall> = self.func.dfg.destinations(inst).to_vec();
        let lists: Vec<ValueList> = dests
            .iter()
            .map(|d| {
                let args = d.args.as_slice(&self.func.dfg.pool).to_vec();
                self.split_args(&args)
            })
            .collect();
        let (dests, _) = self.func.dfg.destinations_mut(inst);
        for (dest, args) in dests.iter_mut().zip(lists) {
            dest.args = args;
        }
    }

    /// Splits the arguments and results of a call.
    fn split_call(&mut self, inst: Inst, func: FuncRef, args: ValueList) {
        let opcode = self.func.dfg.data(inst).opcode();
        let args = args.as_slice(&self.func.dfg.pool).to_vec();
        let args = self.split_args(&args);
        let dfg = &self.func.dfg;
        let results: Vec<Type> = dfg.results(inst).iter().map(|&v| dfg.ty(v)).collect();
        let results = in_parts(&results, |t| *t, |_, ty| ty);
        let types: Types = results.into_iter().collect();
        let data = InstData::Call { opcode, func, args };
        let call = self.func.dfg.make_inst(data, &types);
        self.func.set_srcloc(call, self.loc);
        self.out.push(call);
        let old = self.func.dfg.results(inst).to_vec();
        let (long, stay): (Vec<Value>, Vec<Value>) =
            old.into_iter().partition(|&v| self.is_long(v));
        let new = self.func.dfg.results(call).to_vec();
        let (kept, parts) = new.split_at(stay.len().min(new.len()));
        for (v, &new) in stay.into_iter().zip(kept) {
            self.replaced[v] = new.into();
        }
        for (v, new) in long.into_iter().zip(parts.chunks_exact(2)) {
            self.set_parts(v, [new[0], new[1]]);
        }
    }
}

/// Returns the region of some lanes of each component of a vector, which has `of` lanes.
fn components(ty: Type, of: u32, first: u32, lanes: u32) -> Region {
    let offset = (first * ty.scalar().bytes()) as u16;
    if ty.lanes() == of {
        return Region::contiguous(lanes as u16, offset);
    }
    Region::new(of as u16, lanes as u16, 1, offset)
}
