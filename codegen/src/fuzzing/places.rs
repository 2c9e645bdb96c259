//! Random source files, source locations and names of values.

use super::Rng;
use crate::ir::{Function, Module, SourceFile, SourceLoc, Value};

const FILES: [&str; 3] = ["k.cl", "/inc/a \"b\";\\c.h", "ü\n.cl"];
const NAMES: [&str; 4] = ["x", "i", "a \"b\"; \\", "ü"];

/// Adds source files, locations and names to a module that has none.
pub(super) fn add(rng: &mut Rng, module: &mut Module) {
    let files = 1 + rng.below(FILES.len() as u32);
    for name in FILES.iter().take(files as usize) {
        module.files.push((*name).to_owned());
    }
    for func in module.functions.values_mut() {
        if !rng.one_in(4) {
            locations(rng, files, func);
        }
        if rng.one_in(2) {
            labels(rng, func);
        }
    }
}

/// Sets locations of consecutive instructions: mostly increasing lines, with gaps and jumps.
fn locations(rng: &mut Rng, files: u32, func: &mut Function) {
    let mut file = SourceFile::from_u32(rng.below(files));
    let mut line = 1 + rng.below(1000);
    for block in func.layout.blocks().to_vec() {
        for inst in func.layout.insts(block).to_vec() {
            match rng.below(8) {
                0 => continue,
                1 => line += 1,
                2 => line = 1 + rng.below(u32::MAX),
                3 => file = SourceFile::from_u32(rng.below(files)),
                _ => {}
            }
            let column = match rng.below(4) {
                0 => 0,
                1 => rng.below(1 << 16),
                _ => 1 + rng.below(80),
            };
            func.set_srcloc(inst, SourceLoc::new(file, line.max(1), column as u16));
        }
    }
}

fn labels(rng: &mut Rng, func: &mut Function) {
    let mut values: Vec<Value> = Vec::new();
    for &block in func.layout.blocks() {
        values.extend(func.dfg.block_params(block));
        for &inst in func.layout.insts(block) {
            values.extend(func.dfg.results(inst));
        }
    }
    for _ in 0..1 + rng.below(6) {
        if let (Some(name), Some(v)) = (rng.pick(&NAMES), rng.pick(&values)) {
            func.labels.add(name, v);
        }
    }
}
