//! Values of one place in memory that differ by the way into a block.
//!
//! If each predecessor of a block leaves a value for a place, a load behind the join reads a
//! parameter of the block, with these values as arguments. The parameter is made when the first
//! load asks for it. An argument may itself be such a value, of an earlier join.

use super::alias_analysis::MemoryAccess;
use super::load_forwarding::{AvailableValue, bits};
use crate::ir::{Block, Function, Inst, Type, Value};
use smallvec::SmallVec;

/// Maximum number of places that are looked up in the other predecessors of a block.
const PLACES: usize = 16;
/// Maximum number of bytes of a value. A parameter may take a copy on each edge.
const BYTES: u32 = 512;

/// Place whose value is that of a join.
#[derive(Clone, Debug)]
pub(super) struct JoinedValue {
    /// Access to the place. Its value is just one of them.
    pub of: AvailableValue,
    /// Index of the join.
    join: u32,
}

/// Contents of memory at the end of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    pub values: Vec<AvailableValue>,
    pub joined: Vec<JoinedValue>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument {
    Value(Value),
    Join(u32),
}

struct Join {
    block: Block,
    ty: Type,
    /// Argument of each branch to the block.
    args: SmallVec<[(Inst, Argument); 2]>,
    param: Option<Value>,
}

/// All joins of a function.
#[derive(Default)]
pub(super) struct Joins(Vec<Join>);

impl Contents {
    /// Keeps the places for which a condition holds.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&AvailableValue) -> bool) {
        self.values.retain(&mut keep);
        self.joined.retain(|j| keep(&j.of));
    }
}

impl Joins {
    fn argument(&self, func: &Function, at: &Contents, place: &MemoryAccess) -> Option<Argument> {
        let is = |k: &AvailableValue| is_whole(k) && same_place(&k.access, place);
        let value = at.values.iter().rev().find(|k| is(k)).map(|k| k.value);
        if let Some(v) = value {
            return (func.dfg.ty(v) == place.ty).then_some(Argument::Value(v));
        }
        let join = at.joined.iter().rev().find(|j| is(&j.of))?.join;
        let param = self.0.get(join as usize)?.param;
        Some(param.map_or(Argument::Join(join), Argument::Value))
    }

    /// Returns the places that all predecessors of a block leave a value for, but not the same.
    /// `preds` are the branches to the block, each with what is in memory there.
    pub(super) fn at(
        &mut self,
        func: &Function,
        block: Block,
        preds: &[(Inst, &Contents)],
    ) -> Vec<JoinedValue> {
        let mut out: Vec<JoinedValue> = Vec::new();
        let Some((&(first, contents), others)) = preds.split_first() else {
            return out;
        };
        let empty = |c: &Contents| c.values.is_empty() && c.joined.is_empty();
        if others.is_empty() || others.iter().any(|o| empty(o.1)) {
            return out;
        }
        let values = contents.values.iter().rev();
        let joined = contents.joined.iter().rev().map(|j| &j.of);
        let places = values.chain(joined).take(PLACES);
        'places: for place in places.filter(|k| is_whole(k) && k.access.ty.bytes() <= BYTES) {
            let mut args: SmallVec<[(Inst, Argument); 2]> = SmallVec::new();
            for &(inst, contents) in [(first, contents)].iter().chain(others) {
                let Some(arg) = self.argument(func, contents, &place.access) else {
                    continue 'places;
                };
                if !args.iter().any(|a| a.0 == inst) {
                    args.push((inst, arg));
                }
            }
            let Some(&(_, one)) = args.first() else {
                continue;
            };
            let of = place.clone();
            match one {
                _ if args.iter().any(|a| a.1 != one) => {
                    let (join, ty) = (self.0.len() as u32, place.access.ty);
                    self.0.push(Join {
                        block,
                        ty,
                        args,
                        param: None,
                    });
                    out.push(JoinedValue { of, join });
                }
                Argument::Join(join) => out.push(JoinedValue { of, join }),
                // One value: it is available by itself.
                Argument::Value(_) => {}
            }
        }
        out
    }

    /// Returns the value of a place, and makes the parameters that it takes.
    pub(super) fn value(&mut self, func: &mut Function, of: &JoinedValue) -> Option<Value> {
        let mut work = vec![of.join];
        while let Some(&n) = work.last() {
            let join = self.0.get(n as usize)?;
            if join.param.is_some() {
                work.pop();
                continue;
            }
            let mut args: SmallVec<[(Inst, Value); 2]> = SmallVec::new();
            for &(inst, arg) in &join.args {
                match arg {
                    Argument::Value(v) => args.push((inst, v)),
                    Argument::Join(other) => match self.0.get(other as usize)?.param {
                        Some(v) => args.push((inst, v)),
                        None => work.push(other),
                    },
                }
            }
            if args.len() < join.args.len() {
                continue;
            }
            let param = func.dfg.append_block_param(join.block, join.ty);
            for (inst, v) in args {
                let (dests, pool) = func.dfg.destinations_mut(inst);
                for d in dests.iter_mut().filter(|d| d.block == join.block) {
                    d.args.push(v, pool);
                }
            }
            self.0.get_mut(n as usize)?.param = Some(param);
            work.pop();
        }
        self.0.get(of.join as usize)?.param
    }
}

/// Returns true if all bytes of a value are still in memory.
fn is_whole(k: &AvailableValue) -> bool {
    k.valid == bits(0, k.access.bytes.into())
}

/// Returns true if two accesses are to the same bytes, under one mask.
fn same_place(a: &MemoryAccess, b: &MemoryAccess) -> bool {
    let alike = a.ty == b.ty && a.bytes == b.bytes && a.lanes == b.lanes && a.block == b.block;
    alike && a.mask == b.mask && a.mem.space == b.mem.space && a.same_terms(b) && a.distance(b) == 0
}
