//! Random machine functions keep the addresses of their operands, and the check finds those that
//! differ.

use super::*;
use crate::regalloc::verify::testgen::{Coverage, env_number, random_function};

/// Removes loads of addresses in random machine functions, for GRF files of any shape. Each result
/// is checked.
#[test]
fn random_machine_functions_have_their_operands_where_they_were() {
    let first = env_number("GANTRY_SEED", 1);
    let cases = env_number("GANTRY_CASES", 1500);
    eprintln!("from seed {first} (GANTRY_SEED, GANTRY_CASES)");
    let (mut gone, mut broken) = (0, 0);
    for seed in first..first + cases {
        let m = random_function(seed, &mut Coverage::default());
        let Some((_, done)) = m.allocated() else {
            continue;
        };
        let before = done.code;
        let (code, fewer) = run_unchecked(before.clone(), &done.alloc, &m.target);
        gone += fewer;
        let verified = check::verify(&before, &code, &done.alloc, &m.target);
        verified.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{before}"));
        crate::mir::verify::code(&code, false).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        // An operand that is moved by a byte is found in any place.
        for n in 0..code.insts.len() {
            let mut wrong = code.clone();
            let MInst::Op { inst, .. } = &mut wrong.insts[n] else {
                continue;
            };
            let ((Src::Indirect { imm, .. }, _) | (_, Dst::Indirect { imm, .. })) =
                (&mut inst.srcs[0], &mut inst.dst)
            else {
                continue;
            };
            *imm += 1;
            let found = check::verify(&before, &wrong, &done.alloc, &m.target);
            assert!(found.is_err(), "seed {seed}: instruction {n}");
            broken += 1;
            if broken % 4 == 0 {
                break;
            }
        }
    }
    eprintln!("{gone} loads gone, {broken} operands elsewhere found");
    assert!(broken > 100);
}

/// Code whose addresses have one base and one index, a few bytes apart, while other instructions
/// write the index. Most addresses are shared, and each is loaded again after such a write.
#[test]
fn an_index_that_is_written_is_another() {
    let (mut loads, mut gone) = (0, 0);
    for seed in 1..1500 {
        let m = random_function(seed, &mut Coverage::default());
        let Some((_, done)) = m.allocated() else {
            continue;
        };
        let mut before = done.code;
        let mut all = before.insts.iter();
        let Some((of, by)) = all.find_map(|m| match *m {
            MInst::LoadAddress {
                count: ExecSize::S1,
                base,
                index,
                ..
            } => base.zip(index),
            _ => None,
        }) else {
            continue;
        };
        let most = before.vregs[of].bytes;
        for (n, m) in before.insts.iter_mut().enumerate() {
            if let MInst::LoadAddress {
                count: ExecSize::S1,
                base,
                offset,
                index,
                ..
            } = m
            {
                (*base, *offset, *index) = (Some(of), n as u32 % most, Some(by));
                loads += 1;
            }
        }
        let (code, fewer) = run_unchecked(before.clone(), &done.alloc, &m.target);
        gone += fewer;
        let verified = check::verify(&before, &code, &done.alloc, &m.target);
        verified.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{before}"));
    }
    eprintln!("{gone} of {loads} loads gone");
    assert!(gone > 100);
}
