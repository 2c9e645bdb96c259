//! Test that every ALU instruction that is legal on some platform has defined semantics.

use super::*;
use crate::fuzz::random_inst;
use crate::inst::{Dst, Inst, Src, Subfn};
use crate::legal::is_legal;
use crate::op::Format;
use crate::platform::Platform;
use crate::reg::{Arf, Reg};
use crate::sem::dpas::{self, Dpas};
use crate::sem::macros;
use std::collections::{BTreeMap, BTreeSet};

/// Returns true for formats of instructions that compute on elements, unlike control flow, messages
/// and synchronization.
fn computes(op: Op, platform: Platform) -> bool {
    op.info(platform).is_some_and(|i| {
        matches!(
            i.format,
            Format::Unary | Format::Binary | Format::Ternary | Format::Math | Format::Dpas
        )
    }) && !op.is_send()
}

/// Evaluates an instruction on arbitrary operands.
fn evaluate(i: &Inst<Reg>, r: &mut Rng) -> Result<(), Undefined> {
    let dst = i.dst.ty().unwrap_or(Type::Ud);
    if let Subfn::Dpas { depth, repeat } = i.subfn {
        let null = |s: &Src<Reg>| matches!(s, Src::Direct { at, .. } if at.reg.is_null());
        let ty = |k: usize| i.srcs[k].ty().unwrap_or(Type::Ud);
        let op = Dpas {
            depth,
            repeat,
            channels: i.exec.channels() as u8,
            dst,
            src0: (!null(&i.srcs[0])).then(|| ty(0)),
            src1: ty(1),
            src2: ty(2),
        };
        return dpas::eval(&op, &[], &[], &[]).map(drop);
    }
    let mut alu = AluOp {
        op: i.op,
        math: match i.subfn {
            Subfn::Math(f) => Some(f),
            _ => None,
        },
        sat: i.sat,
        cond: i.cond.map(|c| c.cond),
        dst,
        srcs: i.srcs.map(|s| s.ty()),
        mods: [SrcMods::default(); 3],
        table: match i.subfn {
            Subfn::Bfn(t) => t,
            _ => 0,
        },
    };
    let mut srcs = [[0; LANES]; 3];
    for (k, s) in i.srcs.iter().enumerate() {
        if let Src::Direct { mods, .. } | Src::Indirect { mods, .. } | Src::Macro { mods, .. } = s {
            alu.mods[k] = *mods;
        }
        for v in &mut srcs[k] {
            *v = r.bits(s.ty().unwrap_or(Type::Ud));
        }
    }
    let extra = Extra {
        mode: FpMode::of_cr0(r.u64() as u32),
        pick: r.u64() as u32,
        acc: srcs[0].map(|v| v as i64),
    };
    let n = i.exec.channels() as usize;
    let [a, b, c] = &srcs;
    let macros = matches!(i.dst, Dst::Macro { .. });
    let bits = if macros {
        let zero = &[0; LANES];
        macros::eval(&alu, n, [a, b, c], [zero; 3], true, &extra)?
            .0
            .bits
    } else {
        eval(&alu, n, [a, b, c], &extra)?.bits
    };
    // A native float has 64 bits in the accumulators of this model.
    for v in bits.iter().take(n).filter(|_| dst != Type::Nf) {
        assert_eq!(v & !convert::element_mask(dst), 0, "{i:?}");
    }
    assert!(bits[n..].iter().all(|v| *v == 0), "{i:?}");
    Ok(())
}

#[test]
fn every_legal_operation_is_defined() {
    let seed = 601;
    println!("seed {seed}");
    let mut r = Rng(seed);
    let mut dice = crate::fuzz::Rng::new(seed);
    let mut undefined = BTreeMap::new();
    for platform in Platform::ALL {
        let mut seen = BTreeSet::new();
        let mut all = BTreeSet::new();
        for op in Op::ALL.into_iter().filter(|o| computes(*o, platform)) {
            let functions: Vec<Option<MathFn>> = match op {
                Op::Math => MathFn::ALL
                    .into_iter()
                    .filter(|f| f.code(platform).is_some())
                    .map(Some)
                    .collect(),
                _ => vec![None],
            };
            for function in functions {
                all.insert((op.mnemonic(), function.map(MathFn::name)));
                for _ in 0..1500 {
                    let Some(i) = random_inst(platform, op, function, &mut dice) else {
                        continue;
                    };
                    // Moves of architecture registers are raw, and their types are not those of an
                    // operation.
                    let odd = |at: Reg| matches!(at, Reg::Arf(a, _) if !matches!(a, Arf::Acc | Arf::Null));
                    if matches!(i.dst, Dst::Direct { at, .. } if odd(at.reg))
                        || !is_legal(platform, &i)
                    {
                        continue;
                    }
                    seen.insert((op.mnemonic(), function.map(MathFn::name)));
                    if let Err(e) = evaluate(&i, &mut r) {
                        let types: Vec<_> = i.srcs.iter().filter_map(Src::ty).collect();
                        let what =
                            format!("{op} {:?} {:?} <- {types:?}: {e}", function, i.dst.ty());
                        undefined
                            .entry(what)
                            .or_insert_with(BTreeSet::new)
                            .insert(platform);
                    }
                }
            }
        }
        for missing in all.difference(&seen) {
            println!("{platform}: nothing legal was generated of {missing:?}");
        }
    }
    for (what, platforms) in &undefined {
        println!("{what} on {platforms:?}");
    }
    assert!(
        undefined.is_empty(),
        "{} operations without a meaning",
        undefined.len()
    );
}
