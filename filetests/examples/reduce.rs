//! Reducer: makes the kernel of a failing random case smaller, and prints it as IR.
//!
//! ```sh
//! cargo run --release -p gantry-filetests --example reduce -- 951 skl integers
//! ```
//!
//! The arguments are the seed, the target, and the kind of kernel (`integers` or `floats`), as
//! `random::interpreter_simulator_and_assembler_agree` prints them. Instructions become zero,
//! branches become jumps, and what nothing reads goes, as long as the case fails in the same way.

use gantry_codegen::Target;
use gantry_codegen::fuzzing::{Options, module};
use gantry_codegen::ir::{FuncRef, Inst, InstData, Module, Opcode, Value};
use gantry_filetests::differential::{CaseChecks, for_target, module_case};
use std::collections::HashSet;

/// Rounds over all instructions.
const ROUNDS: usize = 12;

struct Reducer {
    seed: u64,
    target: Target,
    stages: bool,
    kind: String,
}

/// Returns what a failure is about: its text without numbers.
fn kind(error: &str) -> String {
    let illegal = error.find('[').map(|at| &error[at..]);
    if error.contains("interpreter 0x") {
        "interpreter and simulator".to_string()
    } else {
        illegal.unwrap_or(error).chars().take(40).collect()
    }
}

impl Reducer {
    fn error(&self, m: &Module) -> Option<String> {
        let how = CaseChecks {
            grfs: None,
            stages: self.stages,
        };
        module_case(m.clone(), self.seed, &self.target, how).err()
    }

    fn fails(&self, m: &Module) -> bool {
        self.error(m).is_some_and(|e| kind(&e) == self.kind)
    }

    /// Keeps a change if the case still fails.
    fn attempt(&self, m: &mut Module, change: impl FnOnce(&mut Module)) -> bool {
        let mut changed = m.clone();
        change(&mut changed);
        without_dead(&mut changed);
        let fails = self.fails(&changed);
        if fails {
            *m = changed;
        }
        fails
    }
}

/// Removes operations without effect whose results nothing reads, and blocks that nothing reaches.
fn without_dead(m: &mut Module) {
    for func in m.functions.values_mut() {
        let mut reached = HashSet::new();
        let mut work: Vec<_> = func.layout.entry().into_iter().collect();
        while let Some(b) = work.pop() {
            if reached.insert(b)
                && let Some(last) = func.layout.terminator(b)
            {
                work.extend(func.dfg.destinations(last).iter().map(|d| d.block));
            }
        }
        func.layout.retain_blocks(|b| reached.contains(&b));
        loop {
            let mut used: HashSet<Value> = HashSet::new();
            let blocks = func.layout.blocks().to_vec();
            for &b in &blocks {
                for &i in func.layout.insts(b) {
                    func.dfg.data(i).for_each_arg(&func.dfg, |v| {
                        used.insert(v);
                    });
                }
            }
            let mut gone = 0;
            for b in blocks {
                let dead: HashSet<Inst> = func
                    .layout
                    .insts(b)
                    .iter()
                    .copied()
                    .filter(|&i| {
                        let results = func.dfg.results(i);
                        !func.dfg.data(i).opcode().info().effect
                            && !results.is_empty()
                            && !results.iter().any(|v| used.contains(v))
                    })
                    .collect();
                gone += dead.len();
                func.layout.insts_mut(b).retain(|i| !dead.contains(i));
            }
            if gone == 0 {
                break;
            }
        }
    }
}

/// Returns simpler forms of an instruction, the simplest first.
fn simpler(m: &Module, f: FuncRef, inst: Inst) -> Vec<InstData> {
    let dfg = &m.functions[f].dfg;
    let data = *dfg.data(inst);
    let mut out = Vec::new();
    match data {
        InstData::Brif { dests, .. } => out.extend(dests.map(|dest| InstData::Jump {
            opcode: Opcode::Jump,
            dest,
        })),
        InstData::Imm { .. } | InstData::Jump { .. } | InstData::ImmVec { .. } => {}
        _ => {
            if let [v] = dfg.results(inst) {
                let ty = dfg.ty(*v);
                let opcode = if ty.scalar().is_float() {
                    Opcode::Fconst
                } else {
                    Opcode::Iconst
                };
                if !ty.is_pred() {
                    out.push(InstData::Imm { opcode, bits: 0 });
                }
                // An operand of the same type. What a surface's argument holds is not defined.
                data.for_each_arg(dfg, |arg| {
                    if dfg.ty(arg) == ty
                        && dfg.def_inst(arg).is_some()
                        && !matches!(
                            data,
                            InstData::Unary {
                                opcode: Opcode::Bitcast,
                                ..
                            }
                        )
                    {
                        out.push(InstData::Unary {
                            opcode: Opcode::Bitcast,
                            arg,
                        });
                    }
                });
            }
        }
    }
    out
}

fn main() -> Result<(), String> {
    let mut args = std::env::args().skip(1);
    let mut next = || {
        args.next()
            .ok_or("usage: reduce SEED TARGET integers|floats".to_string())
    };
    let (seed, target, which) = (next()?, next()?, next()?);
    let seed: u64 = seed.parse().map_err(|e| format!("{seed}: {e}"))?;
    let target = Target::lookup(&target).map_err(|e| e.to_string())?;
    let options = match which.as_str() {
        "integers" => Options {
            floats: false,
            neighbours: true,
            ..Options::runnable()
        },
        _ => Options {
            without: vec![Opcode::Bitcast, Opcode::Store],
            ..Options::runnable()
        },
    };
    let size = 6 + (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 % 20;
    let options = for_target(&Options { size, ..options }, &target);
    let mut m = module(seed, &options);
    let mut r = Reducer {
        seed,
        target,
        stages: false,
        kind: String::new(),
    };
    let mut error = r.error(&m);
    if error.is_none() {
        r.stages = true;
        error = r.error(&m);
    }
    let error = error.ok_or("the case does not fail")?;
    r.kind = kind(&error);
    eprintln!("{error}");
    for _ in 0..ROUNDS {
        let before = m.to_string().len();
        for f in m.functions.keys().collect::<Vec<_>>() {
            let blocks = m.functions[f].layout.blocks().to_vec();
            for b in blocks.into_iter().rev() {
                if !m.functions[f].layout.blocks().contains(&b) {
                    continue;
                }
                for inst in m.functions[f].layout.insts(b).to_vec().into_iter().rev() {
                    if !m.functions[f].layout.insts(b).contains(&inst) {
                        continue;
                    }
                    let last = m.functions[f].layout.terminator(b) == Some(inst);
                    let none = m.functions[f].dfg.results(inst).is_empty();
                    if !last
                        && none
                        && r.attempt(&mut m, |m| {
                            m.functions[f].layout.insts_mut(b).retain(|i| *i != inst);
                        })
                    {
                        continue;
                    }
                    for data in simpler(&m, f, inst) {
                        if r.attempt(&mut m, |m| *m.functions[f].dfg.data_mut(inst) = data) {
                            break;
                        }
                    }
                }
            }
        }
        if m.to_string().len() == before {
            break;
        }
    }
    println!("{m}");
    eprintln!("{}", r.error(&m).unwrap_or_default());
    Ok(())
}
