//! Post-increment compares: a test for equality reads the next value of a counter.
//!
//! Rules compare a number and not its sum with a constant: `x + k == 0` is `x == -k`. If the sum is
//! computed as well, that keeps both alive, as in a loop that counts. Then the sum is compared: it
//! may take the register of the number, and its instruction writes the flag of a compare with zero.
//!
//! A compare changes if a sum of its number is in its block, and if the new constant is zero, or
//! nothing else reads the number and it is not compared with zero. It moves behind the sum if
//! nothing in between reads it. Input and output: verified IR. Limit: [`DISTANCE`] instructions
//! that a compare moves over.

use crate::ir::{Block, BlockInsts, Function, Inst, InstData, IntCC, Opcode, Value};
use crate::opt::{OptState, PassContext};
use crate::sized;
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;

/// Maximal instructions that a compare moves over.
const DISTANCE: usize = 32;

/// Sum of a number and a constant.
#[derive(Clone, Copy)]
struct Sum {
    position: usize,
    result: Value,
    by: u64,
}

/// Runs the pass. Returns the number of compares that changed.
pub(super) fn run(func: &mut Function, _: &PassContext<'_>, _: &mut OptState) -> u32 {
    let is_test = |&i: &Inst| equality(func, i).is_some();
    let blocks: Vec<Block> = func.layout.blocks().to_vec();
    let tests = |b: &Block| func.layout.insts(*b).iter().any(is_test);
    let blocks: Vec<Block> = blocks.into_iter().filter(tests).collect();
    if blocks.is_empty() {
        return 0;
    }
    let mut uses: Option<SecondaryMap<Value, u32>> = None;
    let mut done = 0;
    for block in blocks {
        done += in_block(func, block, &mut uses);
    }
    done
}

/// Returns the number and the constant of a test for equality.
fn equality(func: &Function, inst: Inst) -> Option<(Value, u64)> {
    match *func.dfg.data(inst) {
        InstData::IntCompare {
            cond: IntCC::Equal | IntCC::NotEqual,
            args: [x, c],
            ..
        } => Some((x, func.dfg.same_constant(c)?)),
        _ => None,
    }
}

fn count_uses(func: &Function) -> SecondaryMap<Value, u32> {
    let mut uses: SecondaryMap<Value, u32> = sized(func.dfg.num_values());
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            let data = func.dfg.data(inst);
            data.for_each_arg(&func.dfg, |v| uses[v] += 1);
        }
    }
    uses
}

/// Changes the compares of a block, from the last to the first.
fn in_block(func: &mut Function, block: Block, uses: &mut Option<SecondaryMap<Value, u32>>) -> u32 {
    let mut sums: FxHashMap<Value, Sum> = FxHashMap::default();
    let insts = func.layout.insts(block);
    for (position, &inst) in insts.iter().enumerate() {
        let InstData::Binary {
            opcode: Opcode::Iadd,
            args: [x, k],
        } = *func.dfg.data(inst)
        else {
            continue;
        };
        let Some((by, result)) = func.dfg.same_constant(k).zip(func.dfg.first_result(inst)) else {
            continue;
        };
        sums.insert(
            x,
            Sum {
                position,
                result,
                by,
            },
        );
    }
    if sums.is_empty() {
        return 0;
    }
    let mut constants: Vec<Inst> = Vec::new();
    for at in (0..func.layout.insts(block).len()).rev() {
        let insts = func.layout.insts(block);
        let Some(&test) = insts.get(at) else { continue };
        let Some((x, c)) = equality(func, test) else {
            continue;
        };
        let Some(&sum) = sums.get(&x) else { continue };
        let mask = func.dfg.ty(x).scalar().mask();
        let with = c.wrapping_add(sum.by) & mask;
        // What makes the number may write the flag of its compare with zero.
        let mut uses = || uses.get_or_insert_with(|| count_uses(func))[x];
        if with != 0 && (c == 0 || uses() > 2) {
            continue;
        }
        let result = func.dfg.first_result(test);
        let between = insts.get(at + 1..=sum.position).unwrap_or_default();
        let is_read = |&i: &Inst| {
            let mut reads = false;
            let data = func.dfg.data(i);
            data.for_each_arg(&func.dfg, |v| reads |= Some(v) == result);
            reads
        };
        if between.len() > DISTANCE || between.iter().any(is_read) {
            continue;
        }
        let moved = between.len();
        let opcode = Opcode::Iconst;
        let ty = func.dfg.ty(x);
        let (constant, new) = func.make_like(test, InstData::Imm { opcode, bits: with }, ty);
        if let InstData::IntCompare { args, .. } = func.dfg.data_mut(test) {
            *args = [sum.result, new];
        }
        func.layout.insts_mut(block)[at..=at + moved].rotate_left(1);
        constants.push(constant);
        for (position, &inst) in func
            .layout
            .insts(block)
            .iter()
            .enumerate()
            .skip(at)
            .take(moved)
        {
            if let InstData::Binary { args: [x, _], .. } = func.dfg.data(inst)
                && let Some(other) = sums.get_mut(x)
                && other.position == position + 1
            {
                other.position = position;
            }
        }
    }
    let done = constants.len() as u32;
    let mut out: BlockInsts = constants.into_iter().collect();
    out.append(func.layout.insts_mut(block));
    *func.layout.insts_mut(block) = out;
    done
}
