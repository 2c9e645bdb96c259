//! Rules on the functions of a module: unique names, no recursion.

use super::{ErrorLocation, Verifier};
use crate::ir::{FuncRef, Function, Inst, InstData, Module};
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;

/// Names and call cycles of a module.
pub(super) struct CallGraph<'m> {
    /// Number of functions of a name.
    names: HashMap<&'m str, u32>,
    /// Index of the call cycle of a function, from 1; 0 for none.
    ring: SecondaryMap<FuncRef, u32>,
}

/// Iterates over the calls of a function, with their callees.
fn callees(func: &Function) -> impl Iterator<Item = (Inst, FuncRef)> + '_ {
    func.calls().filter_map(|i| match *func.dfg.data(i) {
        InstData::Call { func, .. } => Some((i, func)),
        _ => None,
    })
}

impl CallGraph<'_> {
    pub(super) fn new(module: &Module) -> CallGraph<'_> {
        let mut names = HashMap::new();
        for f in module.functions.values() {
            *names.entry(f.name.as_str()).or_insert(0) += 1;
        }
        CallGraph {
            names,
            ring: call_cycles(module),
        }
    }
}

/// Computes the strongly connected components of the call graph (Tarjan), with an explicit stack.
fn call_cycles(module: &Module) -> SecondaryMap<FuncRef, u32> {
    struct Visit {
        func: FuncRef,
        callees: Vec<FuncRef>,
    }
    let visit = |func: FuncRef| {
        let found = module.functions.get(func).into_iter().flat_map(callees);
        let callees = found.map(|c| c.1).filter(|c| module.functions.is_valid(*c));
        Visit {
            func,
            callees: callees.collect(),
        }
    };
    let mut out: SecondaryMap<FuncRef, u32> = SecondaryMap::new();
    let mut components = 0;
    // Preorder numbers from 1, and the lowest number that can be reached.
    let mut number: SecondaryMap<FuncRef, u32> = SecondaryMap::new();
    let mut low: SecondaryMap<FuncRef, u32> = SecondaryMap::new();
    let mut open: Vec<FuncRef> = Vec::new();
    let mut is_open: SecondaryMap<FuncRef, bool> = SecondaryMap::new();
    let mut count = 0;
    for first in module.functions.keys() {
        if number[first] != 0 {
            continue;
        }
        let mut stack = vec![visit(first)];
        while let Some(at) = stack.last_mut() {
            let f = at.func;
            if number[f] == 0 {
                count += 1;
                (number[f], low[f]) = (count, count);
                is_open[f] = true;
                open.push(f);
            }
            if let Some(callee) = at.callees.pop() {
                if number[callee] == 0 {
                    stack.push(visit(callee));
                } else if is_open[callee] {
                    low[f] = low[f].min(number[callee]);
                }
                if callee == f {
                    // Direct recursion.
                    out[f] = u32::MAX;
                }
                continue;
            }
            stack.pop();
            if let Some(caller) = stack.last() {
                low[caller.func] = low[caller.func].min(low[f]);
            }
            if low[f] != number[f] {
                continue;
            }
            let start = open.iter().rposition(|&o| o == f).unwrap_or(0);
            components += 1;
            let ring = open.len() - start > 1;
            for member in open.drain(start..) {
                is_open[member] = false;
                if ring || out[member] != 0 {
                    out[member] = components;
                }
            }
        }
    }
    out
}

impl Verifier<'_> {
    pub(super) fn unique(&mut self, calls: &CallGraph<'_>) {
        let name = &self.func.name;
        if calls.names.get(name.as_str()).is_some_and(|&n| n > 1) {
            self.error(
                ErrorLocation::Function,
                format!("a second function `%{name}`"),
            );
        }
    }

    /// Rejects recursion: there is no call stack.
    pub(super) fn calls_end(&mut self, calls: &CallGraph<'_>, name: Option<FuncRef>) {
        let Some(name) = name.filter(|n| calls.ring[*n] != 0) else {
            return;
        };
        let func = self.func;
        let itself = callees(func).find(|c| c.1 == name);
        if let Some((inst, _)) = itself {
            let what = format!("%{} calls itself: there is no recursion", func.name);
            return self.error(ErrorLocation::Inst(inst), what);
        }
        let next = callees(func).find(|c| calls.ring[c.1] == calls.ring[name]);
        if let Some((inst, by)) = next {
            let by = self.callee(by).map_or("", |f| f.name.as_str());
            let what = format!(
                "%{} calls itself by way of %{by}: there is no recursion",
                func.name
            );
            self.error(ErrorLocation::Inst(inst), what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    /// Makes functions that call those of a list.
    fn module(calls: &[&[usize]]) -> Module {
        let mut text = String::new();
        for (n, list) in calls.iter().enumerate() {
            text += &format!("function %f{n}() {{\nblock0:\n");
            for c in *list {
                text += &format!("    call %f{c}()\n");
            }
            text += "    return\n}\n\n";
        }
        crate::ir::text::parse(&text).unwrap().module
    }

    #[test]
    fn finds_call_cycles() {
        let m = module(&[&[1, 2], &[3], &[3, 2], &[4], &[5], &[3], &[1, 5]]);
        let r = call_cycles(&m);
        let ring = |n: usize| r[FuncRef::new(n)];
        assert_eq!([0, 1, 6].map(ring), [0; 3]);
        assert!(ring(2) != 0 && ring(3) != 0 && ring(2) != ring(3));
        assert!(ring(3) == ring(4) && ring(4) == ring(5));
    }
}
