//! Legalization of bales that lowering does not emit: it rejects them with an error.

use super::*;
use crate::mir::bale::Operation;
use crate::mir::lowered::{CodeRange, LoweredBlock};
use crate::mir::{Routine, RoutineData};
use crate::rule_coverage::Fired;

/// Legalizes a function of one bale, which is built for a register of `bytes` bytes.
fn legalized(product: &str, bytes: u32, bale: impl FnOnce(VReg) -> Bale) -> Result<VCode, String> {
    let target = Target::lookup(product).unwrap();
    let grf = target.grf();
    let mut f = LoweredFunction {
        grf,
        code: Vec::new(),
        blocks: Vec::new(),
        routines: PrimaryMap::<Routine, RoutineData>::new(),
        vregs: PrimaryMap::new(),
        flags: PrimaryMap::new(),
        labels: Vec::new(),
        label_types: Default::default(),
        lone_surfaces: 0,
        fired: Fired::default(),
    };
    let r = f.vregs.push(VRegData::anywhere(bytes, grf));
    f.code = vec![
        Lowered::Bale(bale(r)),
        Lowered::Inst(MInst::EndThread { payload: r }),
    ];
    f.blocks.push(LoweredBlock {
        code: CodeRange { start: 0, end: 2 },
        ..LoweredBlock::default()
    });
    legalize("k", f, &target, Vec::new()).map_err(|e| e.to_string())
}

/// Returns a `mov` between two positions of one register.
fn mov(r: VReg, lanes: u32, ty: Type, to: u32) -> Bale {
    let from = View::contiguous(VirtReg::grf(r), lanes, ty);
    let place = View { offset: to, ..from };
    Bale::new(
        lanes,
        Operation::new(Op::Mov, ty, &[from.plain()]),
        place,
        false,
    )
}

#[test]
fn what_can_be_done_is_done() {
    let code = legalized("skl", 256, |r| mov(r, 16, Type::Q, 128)).unwrap();
    let movs = |m: &&MInst| matches!(m, MInst::Op { inst, .. } if inst.op == Op::Mov);
    assert_eq!(code.insts.iter().filter(movs).count(), 2);
}

/// Four dwords, three of which go to the lower half of a GRF. They take more than one instruction
/// only if results are split evenly and the source is in two GRFs.
#[test]
fn results_are_split_evenly_where_they_must() {
    for (target, from) in Target::all().flat_map(|t| [(t.clone(), 8), (t, 24)]) {
        let code = legalized(target.name(), 96, |r| {
            let mut b = mov(r, 4, Type::Ud, 68);
            if let Some(BaleSrc::View(v, _)) = &mut b.operation.srcs[0] {
                v.offset = from;
            }
            b
        });
        let movs = |m: &&MInst| matches!(m, MInst::Op { inst, .. } if inst.op == Op::Mov);
        let count = code.unwrap().insts.iter().filter(movs).count();
        let even = target.features().even_split && from == 24;
        assert_eq!(count > 1, even, "{}, from {from}: {count}", target.name());
    }
}

/// Eight dwords, seven of which go to the first of two GRFs.
#[test]
fn results_in_two_registers_are_of_any_number_where_they_may() {
    for target in Target::all() {
        let grf = target.grf().bytes;
        let code = legalized(target.name(), 6 * grf, |r| {
            mov(r, 8, Type::Ud, 2 * grf - 28)
        });
        let movs = |m: &&MInst| matches!(m, MInst::Op { inst, .. } if inst.op == Op::Mov);
        let count = code.unwrap().insts.iter().filter(movs).count();
        let even = target.features().even_split;
        assert_eq!(count > 1, even, "{}: {count}", target.name());
    }
}

#[test]
fn an_element_across_registers_is_refused() {
    let e = legalized("skl", 64, |r| mov(r, 1, Type::Q, 28)).unwrap_err();
    assert!(e.contains("no width can execute `mov (1)"), "{e}");
}

#[test]
fn what_was_to_be_rewritten_before_is_refused() {
    for change in [
        |b: &mut Bale| b.operation.sat = true,
        |b: &mut Bale| {
            if let Some(BaleSrc::View(_, m)) = &mut b.operation.srcs[0] {
                m.abs = true;
            }
        },
    ] {
        let e = legalized("icllp", 128, |r| {
            let mut b = mov(r, 4, Type::Q, 64);
            change(&mut b);
            b
        })
        .unwrap_err();
        assert!(e.contains("was to be rewritten before"), "{e}");
    }
}
