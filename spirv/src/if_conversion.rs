//! If-conversion: short branches become selects.
//!
//! Needs a body without calls, after promotion of variables, and its divergent values. A branch is
//! converted if its sides only compute a little and then join. Both sides are computed, and phis
//! become selects. That costs less than diverging and reconverging. The result is one block, so
//! enclosing branches may follow. For uniform branches only the shortest are worth it, since one
//! side is not executed.
//!
//! The work is one step for each block and instruction.

use crate::body::{BInst, Block, Body, Term};
use crate::cfg;
use crate::module::Module;
use crate::module::types::{Ty, Type};
use crate::op_info::is_int_compare;
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use spirv::Op;

/// Maximum number of scalars that are computed or selected instead of a branch.
const MAX_DIVERGENT: u32 = 8;
/// Maximum for a uniform branch.
const MAX_UNIFORM: u32 = 2;

/// Returns true if an instruction only computes a value, at low cost.
pub(crate) fn is_cheap(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        IAdd | ISub
            | IMul
            | SNegate
            | FAdd
            | FSub
            | FMul
            | FNegate
            | ShiftLeftLogical
            | ShiftRightLogical
            | ShiftRightArithmetic
            | BitwiseAnd
            | BitwiseOr
            | BitwiseXor
            | Not
            | LogicalAnd
            | LogicalOr
            | LogicalNot
            | LogicalEqual
            | LogicalNotEqual
            | Select
            | FOrdEqual
            | FOrdLessThan
            | FOrdLessThanEqual
            | FOrdGreaterThan
            | FOrdGreaterThanEqual
            | FUnordNotEqual
            | FUnordLessThan
            | FUnordLessThanEqual
            | FUnordGreaterThan
            | FUnordGreaterThanEqual
            | UConvert
            | SConvert
            | CompositeExtract
            | CompositeConstruct
    ) || is_int_compare(op)
}

struct IfConverter<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a mut Body,
    /// Number of edges into each block.
    preds: SecondaryMap<Block, u32>,
    /// Values with a lane for each channel.
    divergent: &'a SecondaryMap<Id, bool>,
}

/// Branch that can be converted: blocks of both sides and their join.
struct ConvertibleBranch {
    sides: [Option<Block>; 2],
    join: Block,
}

/// Converts short branches of a body. Returns true if there were any.
pub(crate) fn run(m: &Module<'_>, body: &mut Body, divergent: &SecondaryMap<Id, bool>) -> bool {
    let Some(entry) = body.entry.expand() else {
        return false;
    };
    let order = cfg::order(entry, body);
    let mut preds: SecondaryMap<Block, u32> = SecondaryMap::new();
    preds[entry] = 1;
    for b in &order {
        for s in body.blocks[*b].term.successors() {
            preds[s] += 1;
        }
    }
    let mut s = IfConverter {
        m,
        body,
        preds,
        divergent,
    };
    let mut any = false;
    // Inner branches come first.
    for &b in order.iter().rev() {
        while s.block(b) {
            any = true;
        }
    }
    any
}

impl IfConverter<'_, '_> {
    /// Converts the branch of a block. Returns true if it did.
    fn block(&mut self, b: Block) -> bool {
        let Term::Cond(cond, then, other) = self.body.blocks[b].term else {
            return false;
        };
        let most = if self.divergent[cond] {
            MAX_DIVERGENT
        } else {
            MAX_UNIFORM
        };
        let Some(short) = self.short(b, then, other, most) else {
            return false;
        };
        let sides = short.sides.map(|s| s.unwrap_or(b));
        for side in short.sides.into_iter().flatten() {
            let insts = std::mem::take(&mut self.body.blocks[side].insts);
            self.body.blocks[side].term = Term::Unreachable;
            self.body.blocks[b].insts.extend(insts);
        }
        let place = (self.body.blocks[b].at, self.body.blocks[b].line);
        let alone = self.preds[short.join] == 2;
        for n in 0..self.body.blocks[short.join].phis.len() {
            let phi = &mut self.body.blocks[short.join].phis[n];
            let [a, c] = sides.map(|s| phi.args.iter().find(|p| p.0 == s).map(|p| p.1));
            let (Some(a), Some(c)) = (a, c) else {
                continue;
            };
            phi.args.retain(|p| !sides.contains(&p.0));
            let (ty, id) = (phi.ty, phi.id);
            let new = match (alone, a == c) {
                (false, true) => a,
                (true, _) => id,
                _ => self.body.fresh(ty),
            };
            if new != a {
                let words = [cond, a, c].map(Id::as_u32);
                let select = self
                    .body
                    .inst(Op::Select, place, Some(ty), Some(new), &words);
                self.body.blocks[b].insts.push(select);
            }
            if !alone {
                let phi = &mut self.body.blocks[short.join].phis[n];
                phi.args.push((b, new));
            }
        }
        if alone {
            self.body.blocks[short.join].phis.clear();
        }
        self.body.blocks[b].term = Term::Branch(short.join);
        self.preds[short.join] -= 1;
        while self.merge(b) {}
        true
    }

    /// Merges the only successor into a block if that has no other predecessors and no phis.
    /// Returns true if it did.
    fn merge(&mut self, b: Block) -> bool {
        let Term::Branch(next) = self.body.blocks[b].term else {
            return false;
        };
        let ok = self.preds[next] == 1 && next != b && self.body.blocks[next].phis.is_empty();
        if !ok || self.body.entry.expand() == Some(next) {
            return false;
        }
        let insts = std::mem::take(&mut self.body.blocks[next].insts);
        let term = std::mem::replace(&mut self.body.blocks[next].term, Term::Unreachable);
        let (at, line) = (self.body.blocks[next].at, self.body.blocks[next].line);
        for s in term.successors().collect::<Vec<_>>() {
            for phi in &mut self.body.blocks[s].phis {
                for arg in phi.args.iter_mut().filter(|a| a.0 == next) {
                    arg.0 = b;
                }
            }
        }
        let block = &mut self.body.blocks[b];
        block.insts.extend(insts);
        (block.term, block.at, block.line) = (term, at, line);
        true
    }

    fn short(&self, b: Block, then: Block, other: Block, most: u32) -> Option<ConvertibleBranch> {
        let next = |s: Block| match self.body.blocks[s].term {
            Term::Branch(to) if self.preds[s] == 1 && self.body.blocks[s].phis.is_empty() => {
                Some(to)
            }
            _ => None,
        };
        let (sides, join) = match (next(then), next(other)) {
            (Some(a), Some(c)) if a == c => ([Some(then), Some(other)], a),
            (Some(a), _) if a == other => ([Some(then), None], other),
            (_, Some(c)) if c == then => ([None, Some(other)], then),
            _ => return None,
        };
        let apart = then != other && join != b && ![then, other].contains(&b);
        let mut cost = 0;
        for side in sides.into_iter().flatten() {
            for inst in &self.body.blocks[side].insts {
                cost += self.cost(inst)?;
            }
        }
        let from = sides.map(|s| s.unwrap_or(b));
        for phi in &self.body.blocks[join].phis {
            let arg = |s: Block| phi.args.iter().find(|a| a.0 == s).map(|a| a.1);
            let scalars = self.scalars(phi.ty)?;
            if arg(from[0])? != arg(from[1])? {
                cost += scalars;
            }
        }
        (apart && cost <= most).then_some(ConvertibleBranch { sides, join })
    }

    /// Number of scalars of a number, a bool or a vector.
    fn scalars(&self, ty: Ty) -> Option<u32> {
        match self.m.types.kind(ty) {
            Type::Bool | Type::Int(_) | Type::Float(_) => Some(1),
            Type::Vector(_, n) => Some(*n),
            _ => None,
        }
    }

    /// Cost of executing an instruction speculatively, in scalars.
    fn cost(&self, inst: &BInst) -> Option<u32> {
        let scalars = self.scalars(inst.ty.expand()?)?;
        match inst.op {
            Op::CompositeExtract | Op::CompositeConstruct => Some(0),
            op if is_cheap(op) => Some(scalars),
            _ => None,
        }
    }
}
