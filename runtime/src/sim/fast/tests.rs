//! Tests of handlers against the general path, and of the lists of operations that have handlers.

use super::super::host::Host;
use super::{OperandLayout, float as floats, int};
use crate::sim::alu;
use crate::sim::program::{MicroOp, MicroOpKind, Program};
use crate::sim::regs;
use crate::sim::thread::Thread;
use gantry_isa_gen::fuzz::{Rng, random_inst};
use gantry_isa_gen::sem::{Round, float, int as ints};
use gantry_isa_gen::{MathFn, Op, Platform, Type, encode};
use std::collections::BTreeSet;

/// Generates a register value: numbers of every size, floats of every kind.
fn value(r: &mut Rng) -> u32 {
    match r.below(8) {
        0 => r.pick(&[0, 1, 0x8000_0000, 0x7fff_ffff, u32::MAX]).unwrap(),
        1 => r.below(64) as u32,
        2 => (r.below(200) as f32 - 100.0).to_bits(),
        3 => r
            .pick(&[
                0x7f80_0000,
                0xff80_0000,
                0x7fc0_0000,
                0x0000_0001,
                0x8040_0000,
                0x7f7f_ffff,
            ])
            .unwrap(),
        4 => 0x3f80_0000 | r.bits() as u32 & 0x807f_ffff,
        _ => r.bits() as u32,
    }
}

/// Creates a thread with registers from a seed, in IEEE mode.
fn thread(program: &Program, seed: u64) -> Thread {
    let mut t = Thread::new(program.grf_end());
    t.reset(u32::MAX, 0);
    let mut r = Rng::new(seed);
    for at in (0..program.grf_end()).step_by(4) {
        t.regs.set_u32(at, value(&mut r));
    }
    for flag in 0..4 {
        t.regs.set_u32(regs::FLAGS + flag * 4, r.bits() as u32);
    }
    for i in 0..32 {
        let wide = i64::from(value(&mut r)) * i64::from(r.bits() as i32 >> 8);
        alu::set_acc(&mut t, regs::ACC + i * 4, Type::D, wide);
    }
    t.set_mode(0x4c0);
    t
}

/// Describes the first difference between the results of two threads.
fn difference(op: &MicroOp, end: u32, fast: &Thread, general: &Thread) -> Option<String> {
    // The host determines which NaN a result is.
    let nan = |t: &Thread, at: u32| match op.alu.dst {
        Type::F => f32::from_bits(t.regs.u32(at)).is_nan(),
        Type::Hf => {
            let is_nan = |half: u32| half & 0x7fff > 0x7c00;
            let dword = t.regs.u32(at);
            is_nan(dword) || is_nan(dword >> 16)
        }
        Type::Df => f64::from_bits(t.regs.u64(at & !7)).is_nan(),
        _ => false,
    };
    let dwords = (0..end).chain(regs::ACC..regs::ACC + 128);
    for at in dwords.step_by(4).chain((0..4).map(|f| regs::FLAGS + f * 4)) {
        let (a, b) = (fast.regs.u32(at), general.regs.u32(at));
        if a != b && !(nan(fast, at) && nan(general, at)) {
            return Some(format!("byte {at:#x}: {a:#x}, not {b:#x}"));
        }
    }
    if op.alu.dst.is_int() {
        for at in (regs::ACC..regs::ACC + 128).step_by(4) {
            let whole = |t| alu::acc_value(t, at, Type::D);
            let (a, b) = (whole(fast), whole(general));
            if a != b {
                return Some(format!("accumulator byte {at:#x}: {a:#x}, not {b:#x}"));
            }
        }
    }
    None
}

#[test]
fn handlers_do_what_the_general_path_does() {
    let seed = std::env::var("GANTRY_SEED").map_or(1, |s| s.parse().unwrap());
    println!("seed {seed}");
    let mut r = Rng::new(seed);
    let (mut ran, mut wrong) = (BTreeSet::new(), Vec::new());
    for platform in Platform::ALL {
        let functions = MathFn::ALL.map(|f| (Op::Math, Some(f)));
        let ops = Op::ALL.map(|op| (op, None));
        for (op, function) in ops.into_iter().chain(functions) {
            if matches!(op, Op::Nop | Op::Sync) {
                // These do nothing.
                continue;
            }
            for _ in 0..if cfg!(debug_assertions) { 300 } else { 600 } {
                let Some(inst) = random_inst(platform, op, function, &mut r) else {
                    continue;
                };
                let Ok(code) = encode::encode(platform, &inst) else {
                    continue;
                };
                let program = Program::decode(platform, 128, &[(0, &code)]);
                let Some(op) = program.ops.first() else {
                    continue;
                };
                let MicroOpKind::Fast(run) = op.kind else {
                    continue;
                };
                let mask = match r.below(3) {
                    0 => op.full,
                    1 => 1 << r.below(u64::from(op.n)),
                    _ => r.bits() as u32 & op.full,
                };
                if mask == 0 {
                    continue;
                }
                let values = r.bits();
                let mut general = thread(&program, values);
                alu::execute(&mut general, op, mask).unwrap();
                ran.insert((op.alu.op, op.alu.dst));
                for host in [Host::detect(), Host::plain()] {
                    let mut fast = thread(&program, values);
                    fast.host = host;
                    run(&mut fast, op, mask);
                    if let Some(what) = difference(op, program.grf_end(), &fast, &general) {
                        let text = program.text(0);
                        wrong.push(format!("{platform}: {text}: mask {mask:#x}: {what}"));
                    }
                }
            }
        }
    }
    println!("{} operations and types of results", ran.len());
    assert!(ran.len() > 120, "{ran:?}");
    for ty in [Type::F, Type::Df, Type::Hf, Type::D, Type::Uw, Type::Q] {
        assert!(ran.contains(&(Op::Add, ty)), "no sum of {ty}");
    }
    assert!(
        wrong.is_empty(),
        "{} wrong: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(20)]
    );
}

/// A handler takes source 0 where the operation has no lane implementation, so every listed
/// operation must have one.
#[test]
fn every_operation_listed_is_one_of_lanes() {
    let mut ops = BTreeSet::new();
    for name in [
        "mov", "add", "add3", "mul", "mad", "xor", "and", "or", "not", "shl", "shr", "asr", "avg",
        "lrp", "frc", "rndd", "rnde", "rndz", "rndu", "bfi1", "bfi2", "bfrev", "cbit", "lzd",
        "fbl", "fbh", "bfe", "rol", "ror", "mac", "dp4a",
    ] {
        ops.extend(Op::from_mnemonic(name));
    }
    let (mut whole, mut floats) = (0, 0);
    for op in ops {
        let z = [0i32; 8];
        if int::signed(op, 8, OperandLayout::Anywhere)
            .or(int::unsigned(op, 8, OperandLayout::Anywhere))
            .or(int::wide(op, 8, OperandLayout::Anywhere))
            .is_some()
        {
            assert!(ints::apply(op, &z, &z, &z, 31).is_some(), "{op}");
            whole += 1;
        }
        let z = [0f32; 8];
        if floats::single(op, 8, OperandLayout::Anywhere).is_some() {
            assert!(
                float::apply(op, &z, &z, &z, Round::Nearest).is_some(),
                "{op}"
            );
            floats += 1;
        }
    }
    assert!(whole >= 19 && floats >= 10, "{whole} {floats}");
}
