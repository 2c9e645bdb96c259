//! Copies between overlapping positions, checked as the bytes that they move.

use super::*;
use crate::mir::liveness::liveness;
use crate::mir::{BlockData, RegConstraint, Routine, RoutineData, VRegData};
use cranelift_entity::PrimaryMap;

/// Returns the moves of a copy of `bytes` bytes between two addresses.
fn moves(from: u32, to: u32, bytes: u32) -> Vec<isa::Inst<Reg>> {
    let target = Target::lookup("skl").unwrap();
    let grf = target.grf();
    let end = grf.size() - grf.bytes;
    let mut vregs = PrimaryMap::new();
    let [src, dst, payload] = [bytes, bytes, grf.bytes].map(|bytes| {
        vregs.push(VRegData {
            bytes,
            align: 1,
            constraint: RegConstraint::Any,
            value: None.into(),
        })
    });
    let insts = vec![
        MInst::Start { dst: src },
        MInst::Start { dst: payload },
        MInst::Copy { dst, src },
        MInst::Touch {
            reg: dst,
            write: false,
        },
        MInst::EndThread { payload },
    ];
    let mut blocks = PrimaryMap::new();
    blocks.push(BlockData {
        end: insts.len(),
        ..BlockData::default()
    });
    let mut routines: PrimaryMap<Routine, RoutineData> = PrimaryMap::new();
    routines.push(RoutineData {
        end: 1,
        ..RoutineData::default()
    });
    let code = VCode {
        grf,
        insts,
        locs: SrcLocs::default(),
        blocks,
        routines,
        vregs,
        flags: PrimaryMap::new(),
        labels: Vec::new(),
        label_types: Default::default(),
        lone_surfaces: 0,
        fired: Default::default(),
    };
    let mut alloc = Allocation::default();
    for (r, at) in [(src, from), (dst, to), (payload, end)] {
        alloc.address[r] = at;
    }
    let live = liveness("k", &code).unwrap();
    let out = physical("k", &code, &alloc, &target).unwrap();
    let out = emit("k", out, (&code, &live, &alloc), &target, false, true).unwrap();
    let mut insts = out.insts;
    insts.retain(|i| i.op == Op::Mov);
    insts
}

#[test]
fn places_of_a_copy_may_overlap() {
    let grf = |at: RegRef<Reg>| match at.reg {
        Reg::Grf(n) => usize::from(n) * 32 + usize::from(at.sub),
        r => panic!("{r:?}"),
    };
    let mut cases = 0;
    for bytes in [4, 32, 52, 96, 128, 200] {
        for by in [1, 2, 4, 8, 20, 32, 36, 64, 96, 250] {
            for (from, to) in [(512, 512 + by), (512 + by, 512), (514, 514 + by)] {
                let mut file: Vec<u32> = (0..1024).collect();
                for m in moves(from, to, bytes) {
                    let (Dst::Direct { at: to, ty, .. }, Src::Direct { at: from, .. }) =
                        (m.dst, m.srcs[0])
                    else {
                        panic!("{m:?}");
                    };
                    let n = (m.exec.channels() * ty.bytes()) as usize;
                    let (from, to) = (grf(from), grf(to));
                    file.copy_within(from..from + n, to);
                }
                let found = &file[to as usize..(to + bytes) as usize];
                let wanted: Vec<u32> = (from..from + bytes).collect();
                assert_eq!(found, wanted, "{bytes} bytes from {from} to {to}");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 180);
}
