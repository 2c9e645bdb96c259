//! Short branches become selections.
//!
//! Needs a body without calls, whose variables are promoted where they can be, and what is divergent. Where a block branches to one or two others that compute a little, do nothing else, and come together again,
//! all of it is computed, and phis are selections by the condition: less than to part channels, and to bring them together. What is straight then is one block,
//! so that branches around it may become selections, too. Of branches that all channels take the same way only the shortest are worth it: one of the two ways is free there.
//!
//! Work: a step for each block, and for what it has.

use crate::body::{BInst, Block, Body, Term};
use crate::cfg;
use crate::module::Module;
use crate::module::types::{Ty, Type};
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use spirv::Op;

/// The most scalars that are computed or selected in the place of a branch.
const MOST: u32 = 8;
/// The most in the place of one that all channels take the same way.
const MAX_UNIFORM: u32 = 2;

/// Whether an instruction does nothing but compute what is soon computed.
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
            | IEqual
            | INotEqual
            | ULessThan
            | ULessThanEqual
            | UGreaterThan
            | UGreaterThanEqual
            | SLessThan
            | SLessThanEqual
            | SGreaterThan
            | SGreaterThanEqual
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
    )
}

struct Shortener<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a mut Body,
    /// How many ways lead to each block.
    preds: SecondaryMap<Block, u32>,
    /// Values with a lane for each channel.
    divergent: &'a SecondaryMap<Id, bool>,
}

/// A branch that can be selections: what is computed where the condition holds, where it does not, and where both come together.
struct Short {
    sides: [Option<Block>; 2],
    join: Block,
}

/// Makes selections of the branches of a body that are short; whether there are any.
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
    let mut s = Shortener {
        m,
        body,
        preds,
        divergent,
    };
    let mut any = false;
    // Inner branches come before those around them.
    for &b in order.iter().rev() {
        while s.block(b) {
            any = true;
        }
    }
    any
}

impl Shortener<'_, '_> {
    /// Makes a block's branch selections; whether it did.
    fn block(&mut self, b: Block) -> bool {
        let Term::Cond(cond, then, other) = self.body.blocks[b].term else {
            return false;
        };
        let most = if self.divergent[cond] {
            MOST
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

    /// Appends the block that one alone leads to, if that has no phis; whether there was one.
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

    fn short(&self, b: Block, then: Block, other: Block, most: u32) -> Option<Short> {
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
        (apart && cost <= most).then_some(Short { sides, join })
    }

    /// The scalars of a number, a bool or a vector of those.
    fn scalars(&self, ty: Ty) -> Option<u32> {
        match self.m.types.kind(ty) {
            Type::Bool | Type::Int(_) | Type::Float(_) => Some(1),
            Type::Vector(_, n) => Some(*n),
            _ => None,
        }
    }

    /// What an instruction costs that may be computed in vain.
    fn cost(&self, inst: &BInst) -> Option<u32> {
        let scalars = self.scalars(inst.ty.expand()?)?;
        match inst.op {
            Op::CompositeExtract | Op::CompositeConstruct => Some(0),
            op if is_cheap(op) => Some(scalars),
            _ => None,
        }
    }
}
