//! Second step of parsing a function: infers the types of values and makes the instructions.

use super::Parser;
use super::function::{Body, Def, Line};
use crate::ir::opcode::Out;
use crate::ir::{InstData, Opcode, Type, Types, Value, result_types};
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::diag::Diagnostic;

/// Returns the index of the operand that determines the result types.
fn deciding(opcode: Opcode) -> Option<usize> {
    match (opcode.info().out, opcode) {
        (Out::Special, Opcode::Call) => None,
        (Out::Special, Opcode::Select) => Some(1),
        (Out::Same | Out::Two | Out::Lanes | Out::Special, _) => Some(0),
        _ => None,
    }
}

impl Parser<'_> {
    /// Infers the types of all values and makes the instructions. Undefined operands are errors.
    pub(super) fn define(&mut self, body: &mut Body) {
        let lines = std::mem::take(&mut body.lines);
        // Lines that wait for the type of a value.
        let mut waiting: SecondaryMap<Value, Vec<usize>> = SecondaryMap::new();
        let mut types: Vec<Option<Types>> = vec![None; lines.len()];
        for first in 0..lines.len() {
            let mut ready = vec![first];
            while let Some(n) = ready.pop() {
                let line = &lines[n];
                let args = args(body, &line.data);
                if let Some(&v) = deciding(line.data.opcode()).and_then(|i| args.get(i))
                    && !matches!(body.defs[v], Def::Type(_))
                {
                    waiting[v].push(n);
                    continue;
                }
                let found = self.types_of(body, line, &args);
                if found.len() != line.results.len() {
                    self.errors.push(wrong_count(line, found.len()));
                }
                for (&v, &ty) in line.results.iter().zip(&found) {
                    body.defs[v] = Def::Type(ty);
                    ready.append(&mut waiting[v]);
                }
                types[n] = Some(found);
            }
        }
        self.undefined(body, &lines);
        for (line, types) in lines.into_iter().zip(types) {
            match types {
                Some(types) => make(body, line, &types),
                // Without other errors, only a cycle of definitions leaves a type open.
                None if self.errors.is_empty() => {
                    let what = "the type of this depends on itself".to_owned();
                    self.errors.push(Diagnostic::new(line.span, what));
                }
                None => {}
            }
        }
    }

    fn types_of(&self, body: &Body, line: &Line, args: &[Value]) -> Types {
        let ty = |n: usize| match body.defs[*args.get(n)?] {
            Def::Type(t) => Some(t),
            _ => None,
        };
        let callee = |f| {
            let results = self.results.get(EntityRef::index(f));
            results.map_or(Types::new(), |r| Types::from_slice(r))
        };
        result_types(line.data.opcode(), line.ctrl, ty, callee, &line.data)
    }

    fn undefined(&mut self, body: &Body, lines: &[Line]) {
        for &(v, span) in &body.labelled {
            if body.defs[v] == Def::None {
                self.errors
                    .push(Diagnostic::new(span, format!("`{v}` is not defined")));
            }
        }
        for line in lines {
            let (start, end) = line.operands;
            let operands = &body.map.spans[start as usize..end as usize];
            for (v, &span) in args(body, &line.data).into_iter().zip(operands) {
                if body.defs[v] == Def::None {
                    self.errors
                        .push(Diagnostic::new(span, format!("`{v}` is not defined")));
                }
            }
        }
    }
}

fn args(body: &Body, data: &InstData) -> Vec<Value> {
    let mut args = Vec::new();
    data.for_each_arg(&body.func.dfg, |v| args.push(v));
    args
}

fn wrong_count(line: &Line, want: usize) -> Diagnostic {
    let have = line.results.len();
    let what = format!(
        "`{}` has {want} result{}, and {have} {} defined here",
        line.data.opcode(),
        if want == 1 { "" } else { "s" },
        if have == 1 { "is" } else { "are" },
    );
    Diagnostic::new(line.span, what)
}

/// Truncates the values of a `switch` to the bits of its operand's type.
fn case_bits(body: &mut Body, data: &InstData) {
    let InstData::Switch { arg, cases, .. } = *data else {
        return;
    };
    let Def::Type(ty) = body.defs[arg] else {
        return;
    };
    let (cases, _) = body.func.dfg.cases_mut(cases);
    for v in cases.into_iter().flat_map(|c| &mut c.values) {
        *v = ty.scalar().low_bits(*v);
    }
}

fn make(body: &mut Body, line: Line, types: &[Type]) {
    case_bits(body, &line.data);
    let named: Vec<(Value, Type)> = line
        .results
        .into_iter()
        .zip(types.iter().copied())
        .collect();
    let inst = body.func.dfg.make_inst_with(line.data, &named);
    body.func.layout.append_inst(line.block, inst);
    body.func.set_srcloc(inst, line.loc);
    body.map.insts[inst] = line.span;
    body.map.operands[inst] = line.operands;
}
