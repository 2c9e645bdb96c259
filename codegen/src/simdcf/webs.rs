//! Webs of resume masks: the values that go from `goto` to `goto` and through parameters to the `join` where their channels come back.

use super::{Finding, Point, Rule};
use crate::ir::{Block, Function, Inst, InstData, Opcode, Type, Value, ValueDef};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};

/// A `goto` or `join`, taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) em: Value,
    pub(super) rm: Value,
    /// The new execution mask, and a `goto`'s new resume mask.
    pub(super) new_em: Value,
    pub(super) new_rm: Option<Value>,
}

/// An instruction as `goto` or `join`.
pub(super) fn split(func: &Function, inst: Inst) -> Option<Split> {
    let results = func.dfg.results(inst);
    match (*func.dfg.data(inst), results) {
        (
            InstData::Ternary {
                opcode: Opcode::Goto,
                args: [em, rm, _],
            },
            &[new_em, new_rm, _],
        ) => Some(Split {
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
        ) => Some(Split {
            em,
            rm,
            new_em,
            new_rm: None,
        }),
        _ => None,
    }
}

/// Whether a mask is the constant without channels.
pub(super) fn is_empty(func: &Function, v: Value) -> bool {
    let inst = func.dfg.def_inst(v);
    inst.is_some_and(|i| matches!(func.dfg.data(i), InstData::Imm { bits: 0, .. }))
}

/// Classes of masks, by parameters and resume masks.
pub(super) struct Webs {
    above: SecondaryMap<Value, PackedOption<Value>>,
    /// By the class's first value.
    point: SecondaryMap<Value, PackedOption<Point>>,
    pub(super) is_rm: SecondaryMap<Value, bool>,
    pub(super) is_em: SecondaryMap<Value, bool>,
    /// How many points there are.
    pub(super) points: usize,
}

impl Webs {
    pub(super) fn find(&mut self, v: Value) -> Value {
        let mut root = v;
        while let Some(up) = self.above[root].expand() {
            root = up;
        }
        let mut at = v;
        while let Some(up) = self.above[at].expand() {
            self.above[at] = root.into();
            at = up;
        }
        root
    }

    fn unify(&mut self, a: Value, b: Value) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.above[b] = a.into();
        }
    }

    /// Where the channels of a resume mask come back, if they do.
    pub(super) fn point(&mut self, v: Value) -> Option<Point> {
        let v = self.find(v);
        self.point[v].expand()
    }

    /// The webs of the needed values, or the rule that they break.
    pub(super) fn new(
        func: &Function,
        order: &[Block],
        needed: &EntitySet<Value>,
        mask: Type,
    ) -> Result<Webs, Finding> {
        let mut w = Webs {
            above: SecondaryMap::new(),
            point: SecondaryMap::new(),
            is_rm: SecondaryMap::new(),
            is_em: SecondaryMap::new(),
            points: 0,
        };
        let dfg = &func.dfg;
        let insts = |f: &mut dyn FnMut(Block, Inst)| {
            for &b in order {
                for &i in func.layout.insts(b) {
                    f(b, i);
                }
            }
        };
        insts(&mut |_, inst| {
            if let Some(s) = needed_split(func, needed, inst)
                && let Some(new_rm) = s.new_rm
                && !is_empty(func, s.rm)
            {
                w.unify(s.rm, new_rm);
            }
            for call in dfg.data(inst).destinations() {
                let args = call.args.as_slice(&dfg.pool);
                for (&p, &a) in dfg.block_params(call.block).iter().zip(args) {
                    if dfg.ty(p) == mask && needed.contains(p) && !is_empty(func, a) {
                        w.unify(p, a);
                    }
                }
            }
        });
        // What is a resume mask, what an execution mask.
        let mut finding = None;
        let mut found = |rule, block, value| {
            finding.get_or_insert(Finding {
                rule,
                block,
                value: Some(value),
            });
        };
        insts(&mut |block, inst| {
            let Some(s) = needed_split(func, needed, inst) else {
                return;
            };
            for em in [s.em, s.new_em] {
                let em = w.find(em);
                w.is_em[em] = true;
            }
            if let Some(new_rm) = s.new_rm {
                let rm = w.find(new_rm);
                w.is_rm[rm] = true;
            }
            if is_empty(func, s.rm) {
                return;
            }
            let made = match dfg.def(s.rm) {
                ValueDef::Param(..) => true,
                ValueDef::Result(i, n) => n == 1 && dfg.data(i).opcode() == Opcode::Goto,
            };
            if !made {
                found(Rule::ResumeMask, block, s.rm);
            }
            let rm = w.find(s.rm);
            w.is_rm[rm] = true;
            if s.new_rm.is_none() {
                if w.point[rm].is_some() {
                    found(Rule::OneJoin, block, s.rm);
                }
                w.point[rm] = Point::new(w.points).into();
                w.points += 1;
            }
        });
        insts(&mut |block, inst| {
            let data = dfg.data(inst);
            let s = needed_split(func, needed, inst);
            // As a resume mask, and along edges to parameters that are some.
            let own = s.map(|s| s.rm);
            let wanted = data.opcode().info().effect
                || dfg.results(inst).iter().any(|&v| needed.contains(v));
            if wanted && data.destinations().is_empty() {
                data.for_each_arg(&dfg.pool, |v| {
                    let class = w.find(v);
                    if w.is_rm[class] && Some(v) != own && dfg.ty(v) == mask {
                        let both = w.is_em[class];
                        let rule = if both {
                            Rule::ResumeMask
                        } else {
                            Rule::ResumeData
                        };
                        found(rule, block, v);
                    }
                });
            }
            if let Some(s) = s {
                let class = w.find(s.em);
                if w.is_rm[class] {
                    found(Rule::ResumeMask, block, s.em);
                }
            }
        });
        insts(&mut |block, inst| {
            // What comes along an edge as a resume mask is one.
            for call in dfg.data(inst).destinations() {
                let args = call.args.as_slice(&dfg.pool);
                for (&p, &a) in dfg.block_params(call.block).iter().zip(args) {
                    if dfg.ty(p) != mask || !needed.contains(p) || is_empty(func, a) {
                        continue;
                    }
                    let class = w.find(p);
                    let made = match dfg.def(a) {
                        ValueDef::Param(b, _) => Some(b) != func.layout.entry(),
                        ValueDef::Result(i, n) => n == 1 && dfg.data(i).opcode() == Opcode::Goto,
                    };
                    if w.is_rm[class] && !made {
                        found(Rule::ResumeMask, block, a);
                    }
                }
            }
        });
        match finding {
            Some(f) => Err(f),
            None => Ok(w),
        }
    }
}

/// A `goto` or `join` that anything depends on.
pub(super) fn needed_split(
    func: &Function,
    needed: &EntitySet<Value>,
    inst: Inst,
) -> Option<Split> {
    let s = split(func, inst)?;
    let results = func.dfg.results(inst);
    results.iter().any(|&v| needed.contains(v)).then_some(s)
}
