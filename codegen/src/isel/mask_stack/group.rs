//! Analysis of a kernel with the subroutines that it calls in hardware.
//!
//! A call keeps the execution mask: all channels that came are back at the return. A subroutine
//! takes the mask as a parameter, and may return it. That holds if every call passes the mask that
//! is active there. Each function is analysed as if it did, then the calls are checked. Subroutines
//! of a call that passes another mask are lowered with flags, and the rest is analysed again.

use super::{Finding, MaskStack, Passed, Rule, Within, function};
use crate::entity_set::Marks;
use crate::ir::{Block, FuncKind, FuncRef, Function, InstData, Value};
use cranelift_entity::{EntitySet, SecondaryMap};

/// Function to analyse.
pub(crate) struct Body<'a> {
    pub(crate) func: &'a Function,
    /// Name as a callee. `None` for the kernel.
    pub(crate) subroutine: Option<FuncRef>,
    /// Emission order.
    pub(crate) order: Vec<Block>,
    /// Values with an effect.
    pub(crate) needed: Marks<Value>,
}

/// Number of times that calls are checked before all subroutines are lowered with flags.
const ROUNDS: usize = 4;

/// Analyses SIMD control flow for the mask stack. Bodies are in the order of lowering: callees
/// before callers, the kernel last. Also returns the rules that keep functions off it, or parts of
/// them.
pub(crate) fn analyse(bodies: &[Body<'_>]) -> (Vec<Option<MaskStack>>, Vec<Finding>) {
    let simd = bodies.last().map_or(0, |kernel| match kernel.func.kind {
        FuncKind::Kernel { simd, .. } => simd,
        FuncKind::Subroutine => 0,
    });
    let mut off: EntitySet<FuncRef> = EntitySet::new();
    let mut broken: Vec<Finding> = Vec::new();
    for round in 0..=ROUNDS {
        if round == ROUNDS {
            bodies.iter().filter_map(|b| b.subroutine).for_each(|f| {
                off.insert(f);
            });
        }
        let mut passed: SecondaryMap<FuncRef, Passed> = SecondaryMap::new();
        let mut findings = Vec::new();
        let mut masks = Vec::with_capacity(bodies.len());
        let mut points = 0;
        for b in bodies {
            if b.subroutine.is_some_and(|f| off.contains(f)) {
                masks.push(None);
                continue;
            }
            let within = Within {
                simd,
                subroutine: b.subroutine,
                passed: &passed,
                calls: bodies.len() > 1,
            };
            let (mut out, found) = function(b, within);
            findings.extend(found);
            if let Some(m) = &mut out {
                m.shift(points);
                points += m.points;
                if let Some(f) = b.subroutine {
                    passed[f] = m.passed.clone();
                }
            }
            masks.push(out);
        }
        let before = broken.len();
        for (b, m) in bodies.iter().zip(&masks) {
            calls(b, m.as_ref(), &passed, &mut off, &mut broken);
        }
        if broken.len() == before {
            broken.append(&mut findings);
            return (masks, broken);
        }
    }
    (bodies.iter().map(|_| None).collect(), broken)
}

/// Takes subroutines off the mask stack whose calls pass another mask than the active one.
fn calls(
    body: &Body<'_>,
    masks: Option<&MaskStack>,
    passed: &SecondaryMap<FuncRef, Passed>,
    off: &mut EntitySet<FuncRef>,
    broken: &mut Vec<Finding>,
) {
    let mut check = |block, inst, active: Option<Value>| {
        let InstData::Call { func, args, .. } = *body.func.dfg.data(inst) else {
            return;
        };
        let Some(n) = passed[func].param else {
            return;
        };
        let arg = args.get(usize::from(n), &body.func.dfg.pool);
        let is = |v| masks.is_some_and(|m| active == Some(m.canonical(v)));
        if !arg.is_some_and(is) && off.insert(func) {
            broken.push(Finding {
                subroutine: body.subroutine.map(|_| body.func.name.clone()),
                ..Finding::new(Rule::CallMask, block, arg)
            });
        }
    };
    match masks {
        Some(m) => {
            for &(block, inst, active) in &m.sites {
                check(block, inst, active.expand());
            }
        }
        None => {
            for &block in &body.order {
                for &inst in body.func.layout.insts(block) {
                    check(block, inst, None);
                }
            }
        }
    }
}
