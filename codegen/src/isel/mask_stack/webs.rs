//! Webs of resume masks: values connected by `goto` and block parameters, up to the `join` where
//! their channels resume.

use super::{Finding, Rule, RuleViolation, Within};
use crate::entity_set::Marks;
use crate::graph::union_find::UnionFind;
use crate::ir::{Block, Function, Inst, InstData, Opcode, Type, Value, ValueDef};
use crate::mir::JoinPoint;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};

/// Operands and results of a `goto` or `join`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimdBranch {
    pub(super) em: Value,
    pub(super) rm: Value,
    /// New execution mask, and the new resume mask of a `goto`.
    pub(super) new_em: Value,
    pub(super) new_rm: Option<Value>,
}

/// Returns the operands of a `goto` or `join`. `None` for other instructions.
pub(super) fn split(func: &Function, inst: Inst) -> Option<SimdBranch> {
    let data = func.dfg.data(inst);
    // Most instructions are neither.
    if !matches!(data.opcode(), Opcode::Goto | Opcode::Join) {
        return None;
    }
    match (*data, func.dfg.results(inst)) {
        (
            InstData::Ternary {
                opcode: Opcode::Goto,
                args: [em, rm, _],
            },
            &[new_em, new_rm, _],
        ) => Some(SimdBranch {
            em,
            rm,
            new_em,
            new_rm: Some(new_rm),
        }),
        (
            InstData::Binary {
                opcode: Opcode::Join,
                args: [em, rm],
            },
            &[new_em, _],
        ) => Some(SimdBranch {
            em,
            rm,
            new_em,
            new_rm: None,
        }),
        _ => None,
    }
}

/// Returns true if a mask is the constant without channels.
pub(super) fn is_empty(func: &Function, v: Value) -> bool {
    let inst = func.dfg.def_inst(v);
    inst.is_some_and(|i| matches!(func.dfg.data(i), InstData::Imm { bits: 0, .. }))
}

/// Classes of masks, connected by parameters and resume masks.
#[derive(Default)]
pub(super) struct Webs {
    sets: UnionFind<Value>,
    /// Join point per class, by its first value.
    point: SecondaryMap<Value, PackedOption<JoinPoint>>,
    pub(super) is_rm: SecondaryMap<Value, bool>,
    pub(super) is_em: SecondaryMap<Value, bool>,
    /// Number of join points.
    pub(super) points: usize,
}

impl Webs {
    pub(super) fn find(&mut self, v: Value) -> Value {
        self.sets.find(v)
    }

    fn unify(&mut self, a: Value, b: Value) {
        self.sets.union(a, b);
    }

    /// Returns the join point where the channels of a resume mask resume, if they do.
    pub(super) fn point(&mut self, v: Value) -> Option<JoinPoint> {
        let v = self.find(v);
        self.point[v].expand()
    }

    /// Returns the class of a `goto` or `join`.
    fn class(&mut self, func: &Function, s: &SimdBranch) -> Option<Value> {
        match s.new_rm {
            Some(rm) => Some(self.find(rm)),
            None if is_empty(func, s.rm) => None,
            None => Some(self.find(s.rm)),
        }
    }

    /// Returns a fault of a `goto` or `join`. It and all that share its resume mask are left out.
    pub(super) fn fault(&mut self, of: &Gotos<'_>, finding: Finding, inst: Inst) -> RuleViolation {
        let mut insts = vec![inst];
        let class = of.split(inst).and_then(|s| self.class(of.func, &s));
        if let Some(class) = class {
            for &b in of.order {
                for &i in of.func.layout.insts(b) {
                    let own = of.split(i).and_then(|s| self.class(of.func, &s));
                    if own == Some(class) && i != inst {
                        insts.push(i);
                    }
                }
            }
        }
        RuleViolation { finding, insts }
    }

    /// Returns the webs of the needed values.
    ///
    /// # Errors
    /// Violated rules.
    pub(super) fn new(of: &Gotos<'_>, mask: Type) -> Result<Webs, Vec<RuleViolation>> {
        let mut w = Webs::default();
        let func = of.func;
        let dfg = &func.dfg;
        let insts = || {
            let blocks = of.order.iter();
            blocks.flat_map(|&b| func.layout.insts(b).iter().map(move |&i| (b, i)))
        };
        // Edges into parameters that are needed masks.
        let carried = |inst: Inst, f: &mut dyn FnMut(Value, Value)| {
            for call in dfg.destinations(inst) {
                let args = call.args.as_slice(&dfg.pool);
                for (&p, &a) in dfg.block_params(call.block).iter().zip(args) {
                    if dfg.ty(p) == mask && of.needed.contains(p) && !is_empty(func, a) {
                        f(p, a);
                    }
                }
            }
        };
        let made = |v: Value| match dfg.def(v) {
            ValueDef::Param(b, _) => Some(b) != func.layout.entry(),
            ValueDef::Result(i, n) => n == 1 && of.split(i).is_some_and(|s| s.new_rm.is_some()),
        };
        let mut found: Vec<(Finding, Inst)> = Vec::new();
        for (block, inst) in insts() {
            carried(inst, &mut |p, a| w.unify(p, a));
            let Some(s) = of.split(inst) else { continue };
            if let Some(new_rm) = s.new_rm
                && !is_empty(func, s.rm)
            {
                w.unify(s.rm, new_rm);
            }
            let mut fault = |rule, value| {
                found.push((Finding::new(rule, block, Some(value)), inst));
            };
            // Any other value cannot be an active mask.
            let em = match dfg.def(s.em) {
                ValueDef::Param(..) => true,
                ValueDef::Result(i, n) => match *dfg.data(i) {
                    InstData::Call { func, .. } => of.within.passed[func].results.contains(&n),
                    data => {
                        n == 0 && (of.split(i).is_some() || data.opcode() == Opcode::DispatchMask)
                    }
                },
            };
            if !em {
                fault(Rule::CurrentMask, s.em);
            }
            if !is_empty(func, s.rm) && !made(s.rm) {
                fault(Rule::ResumeMask, s.rm);
            }
        }
        // Classes are resume masks or execution masks.
        for (block, inst) in insts() {
            let Some(s) = of.split(inst) else { continue };
            for em in [s.em, s.new_em] {
                let em = w.find(em);
                w.is_em[em] = true;
            }
            let Some(rm) = w.class(func, &s) else {
                continue;
            };
            w.is_rm[rm] = true;
            if s.new_rm.is_none() {
                if w.point[rm].is_some() {
                    found.push((Finding::new(Rule::OneJoin, block, Some(s.rm)), inst));
                }
                w.point[rm] = JoinPoint::new(w.points).into();
                w.points += 1;
            }
        }
        // Other uses are collected by class: the instruction that breaks the rule is not the one
        // left out.
        let mut spoiled: SecondaryMap<Value, Option<(Rule, Block, PackedOption<Value>)>> =
            SecondaryMap::new();
        for (block, inst) in insts() {
            let data = dfg.data(inst);
            let s = of.split(inst);
            let effect = data.opcode().info().effect;
            let wanted = effect || dfg.results(inst).iter().any(|&v| of.needed.contains(v));
            if wanted && data.destinations(dfg).is_empty() {
                data.for_each_arg(dfg, |v| {
                    if dfg.ty(v) != mask || s.is_some_and(|s| v == s.rm) {
                        return;
                    }
                    let class = w.find(v);
                    if w.is_rm[class] {
                        let rule = if w.is_em[class] {
                            Rule::ResumeMask
                        } else {
                            Rule::ResumeData
                        };
                        spoiled[class].get_or_insert((rule, block, v.into()));
                    }
                });
            }
            carried(inst, &mut |p, a| {
                let class = w.find(p);
                if w.is_rm[class] && !made(a) {
                    spoiled[class].get_or_insert((Rule::ResumeMask, block, a.into()));
                }
            });
        }
        for (_, inst) in insts() {
            let Some(class) = of.split(inst).and_then(|s| w.class(func, &s)) else {
                continue;
            };
            if let Some((rule, block, value)) = spoiled[class].take() {
                found.push((Finding::new(rule, block, value.expand()), inst));
            }
        }
        if found.is_empty() {
            return Ok(w);
        }
        // Each web is left out once.
        let mut seen = EntitySet::new();
        let mut out: Vec<RuleViolation> = Vec::new();
        for (finding, inst) in found {
            if !seen.contains(inst) {
                let fault = w.fault(of, finding, inst);
                fault.insts.iter().for_each(|&i| {
                    seen.insert(i);
                });
                out.push(fault);
            }
        }
        Err(out)
    }
}

/// The `goto`s and `join`s of a function that are analysed: those with needed results, without
/// those left out.
pub(super) struct Gotos<'a> {
    pub(super) func: &'a Function,
    pub(super) order: &'a [Block],
    pub(super) needed: &'a Marks<Value>,
    pub(super) left_out: &'a EntitySet<Inst>,
    pub(super) within: Within<'a>,
}

impl Gotos<'_> {
    /// Returns the operands of an instruction that is one of them.
    pub(super) fn split(&self, inst: Inst) -> Option<SimdBranch> {
        let s = split(self.func, inst)?;
        let results = self.func.dfg.results(inst);
        let needed = results.iter().any(|&v| self.needed.contains(v));
        (needed && !self.left_out.contains(inst)).then_some(s)
    }
}
