//! Minimal functions that were once allocated incorrectly, found by random testing.

use crate::driver::policy::SPILL_ATTEMPTS;
use crate::mir::liveness::liveness;
use crate::mir::operand::begins;
use crate::mir::{
    BlockData, MInst, RegConstraint, Routine, RoutineData, VBlock, VCode, VReg, VRegData, VirtReg,
    routines, verify,
};
use crate::regalloc::verify::checker;
use crate::regalloc::{AllocEnv, Allocated, allocate};
use crate::target::Target;
use cranelift_entity::{EntityRef, PrimaryMap};
use gantry_isa_gen::{
    Desc, Dst, ExecSize, Inst, Op, RegRef, Region, SendDescs, Src, SrcMods, Type,
};

/// Builds code from registers, blocks with their successors, and the number of blocks of each
/// routine.
fn code(
    vregs: &[(u32, RegConstraint)],
    blocks: &[(&[MInst], &[usize])],
    routines: &[u32],
) -> VCode {
    let grf = Target::lookup("skl").unwrap().grf();
    let mut out = VCode {
        grf,
        insts: Vec::new(),
        locs: Default::default(),
        blocks: PrimaryMap::new(),
        routines: PrimaryMap::new(),
        vregs: PrimaryMap::new(),
        flags: PrimaryMap::new(),
        labels: Vec::new(),
        label_types: Default::default(),
        lone_surfaces: 0,
        fired: Default::default(),
    };
    for &(bytes, place) in vregs {
        out.vregs.push(VRegData {
            constraint: place,
            ..VRegData::anywhere(bytes, grf)
        });
    }
    for (insts, succs) in blocks {
        let start = out.insts.len();
        out.insts.extend_from_slice(insts);
        out.blocks.push(BlockData {
            start,
            end: out.insts.len(),
            succs: succs.iter().map(|n| VBlock::new(*n)).collect(),
            ..BlockData::default()
        });
    }
    let mut first = 0;
    for n in routines {
        out.routines.push(RoutineData {
            name: String::new(),
            first,
            end: first + n,
        });
        first += n;
    }
    out.compute_preds();
    assert_eq!(verify::code(&out, false), Ok(()));
    out
}

/// Allocates and checks code.
fn allocated(code: &VCode) -> Result<Allocated, String> {
    let target = Target::lookup("skl").unwrap();
    let live = liveness("k", code).map_err(|e| e.to_string())?;
    let env = AllocEnv {
        target: &target,
        grfs: target.grf().count,
        scratch: 0,
        report: false,
        spill_attempts: &SPILL_ATTEMPTS,
    };
    let out = allocate(
        "k",
        code.clone(),
        live.clone(),
        env,
        &mut Default::default(),
    );
    let out = out.map_err(|e| e.to_string())?;
    checker::check(code, &live, &out, &target, 0)?;
    Ok(out)
}

fn r(n: usize) -> VReg {
    VReg::new(n)
}

/// Returns a source of contiguous lanes from a register's start.
fn src(n: usize, lanes: ExecSize, ty: Type) -> Src<VirtReg> {
    Src::Direct {
        at: RegRef::new(VirtReg::grf(r(n)), 0),
        region: Region::packed(lanes),
        ty,
        mods: SrcMods::default(),
    }
}

/// Builds `dst = src` with this exec size and type. Without `dst`, the destination is null.
fn mov(dst: Option<usize>, from: Src<VirtReg>, exec: ExecSize, ty: Type) -> MInst {
    let mut inst = Inst::new(Op::Mov, exec);
    inst.no_mask = true;
    inst.srcs[0] = from;
    let reg = dst.map_or(VirtReg::NULL, |n| VirtReg::grf(r(n)));
    inst.dst = Dst::Direct {
        at: RegRef::new(reg, 0),
        hs: 1,
        ty,
    };
    begins(inst)
}

const ANY: RegConstraint = RegConstraint::Any;
const ZERO: Src<VirtReg> = Src::Imm {
    bits: 0,
    ty: Type::Ud,
};

/// The kernel's code ends with a loop, and a routine follows it. Both read the same payload
/// register.
#[test]
fn a_loop_keeps_payload_live_that_a_later_routine_reads() {
    const S8: ExecSize = ExecSize::S8;
    let read = |n| mov(None, src(n, S8, Type::Ud), S8, Type::Ud);
    let vregs = [
        (32, RegConstraint::Fixed(0)),
        (32, RegConstraint::Fixed(32)),
        (32, ANY),
        (8, ANY),
    ];
    let call = MInst::Call {
        routine: Routine::new(1),
        link: r(3),
        exec: S8,
    };
    let back = MInst::Return {
        link: r(3),
        exec: S8,
    };
    let code = code(
        &vregs,
        &[
            (&[read(0), call, MInst::Jump], &[1]),
            (
                &[
                    mov(Some(2), ZERO, S8, Type::Ud),
                    read(0),
                    read(1),
                    read(2),
                    MInst::Jump,
                ],
                &[1],
            ),
            (&[read(1), back], &[]),
        ],
        &[2, 1],
    );
    let out = allocated(&code).unwrap();
    assert_ne!(out.alloc.address[r(2)], 32);
}

/// The copy is modified while its source is live. Later the register is written over the source,
/// lane by lane.
#[test]
fn a_copy_that_interferes_with_its_source_is_not_merged() {
    const S8: ExecSize = ExecSize::S8;
    let read = |n| mov(None, src(n, S8, Type::Q), S8, Type::Q);
    let (dst, from) = (r(1), r(0));
    let code = code(
        &[(64, ANY), (64, ANY)],
        &[(
            &[
                mov(Some(0), ZERO, S8, Type::Q),
                MInst::Copy { dst, src: from },
                mov(Some(1), ZERO, ExecSize::S1, Type::Q),
                read(0),
                read(1),
                mov(Some(1), src(0, S8, Type::Q), S8, Type::Q),
                read(1),
                MInst::Jump,
            ],
            &[0],
        )],
        &[1],
    );
    // The third instruction keeps the other bytes.
    let mut code = code;
    if let MInst::Op { starts, .. } = &mut code.insts[2] {
        *starts = false;
    }
    let out = allocated(&code).unwrap();
    assert_ne!(out.alloc.address[r(0)], out.alloc.address[r(1)]);
}

/// A loop-carried register is written over its predecessor, then again in the same lanes from what
/// was there.
#[test]
fn a_source_read_after_being_overwritten_is_not_tied() {
    const S8: ExecSize = ExecSize::S8;
    let (dst, from) = (r(0), r(1));
    let mut again = mov(Some(1), src(0, S8, Type::Ud), S8, Type::Ud);
    if let MInst::Op { starts, inst, .. } = &mut again {
        (*starts, inst.no_mask) = (false, false);
    }
    let code = code(
        &[(32, ANY), (32, ANY)],
        &[
            (&[mov(Some(0), ZERO, S8, Type::Ud), MInst::Jump], &[1]),
            (
                &[
                    mov(Some(1), src(0, S8, Type::Ud), S8, Type::Ud),
                    again,
                    MInst::Copy { dst, src: from },
                    MInst::Jump,
                ],
                &[1],
            ),
        ],
        &[2],
    );
    let out = allocated(&code).unwrap();
    assert_ne!(out.alloc.address[r(0)], out.alloc.address[r(1)]);
}

/// The whole GRF file is occupied. Without the rule, a response would start where its payload ends,
/// in the last two registers.
#[test]
fn a_response_over_its_payload_avoids_the_last_register() {
    const S8: ExecSize = ExecSize::S8;
    const OTHERS: usize = 21;
    let read = |n| mov(None, src(n, S8, Type::Ud), S8, Type::Ud);
    let make = |n| mov(Some(n), ZERO, S8, Type::Ud);
    let mut send = Inst::new(Op::Send, S8);
    send.no_mask = true;
    send.dst = Dst::Direct {
        at: RegRef::new(VirtReg::grf(r(1)), 0),
        hs: 1,
        ty: Type::Ud,
    };
    send.srcs[0] = src(0, S8, Type::Ud);
    // Two registers of payload, two of response.
    send.send = Some(SendDescs {
        ex: Desc::Imm(0xc),
        desc: Desc::Imm(0x0424_02ff),
        src1_len: None,
    });
    let two = [(64, ANY), (64, ANY)];
    let vregs: Vec<_> = two.into_iter().chain([(192, ANY); OTHERS]).collect();
    let others = 2..2 + OTHERS;
    let mut insts: Vec<MInst> = others.clone().map(make).collect();
    insts.extend([make(0), begins(send), read(1)]);
    insts.extend(others.map(read));
    insts.push(MInst::Jump);
    let code = code(&vregs, &[(&insts, &[1]), (&[MInst::Jump], &[1])], &[2]);
    let out = allocated(&code).unwrap();
    assert_eq!(out.spilled.registers, 0);
}

/// An instruction of a routine names nearly the whole GRF file. The caller's values are spilled
/// across the call, though half of the GRF file would hold them.
#[test]
fn values_across_a_call_leave_room_for_its_widest_instruction() {
    const S8: ExecSize = ExecSize::S8;
    const LONG: u32 = 31;
    let read = |n| mov(None, src(n, S8, Type::Ud), S8, Type::Ud);
    let make = |n| mov(Some(n), ZERO, S8, Type::Ud);
    let to = |n| Dst::Direct {
        at: RegRef::new(VirtReg::grf(r(n)), 0),
        hs: 1,
        ty: Type::Ud,
    };
    // One register of payload, `n` of response.
    let load = |n| {
        let mut send = Inst::new(Op::Send, S8);
        send.no_mask = true;
        send.dst = to(n);
        send.srcs[0] = src(0, S8, Type::Ud);
        send.send = Some(SendDescs {
            ex: Desc::Imm(0xc),
            desc: Desc::Imm(0x0200_02ff | LONG << 20),
            src1_len: None,
        });
        begins(send)
    };
    let mut mad = Inst::new(Op::Mad, S8);
    mad.no_mask = true;
    mad.dst = to(2);
    mad.srcs = [3, 4, 5].map(|n| src(n, S8, Type::Ud));
    let mut mad = begins(mad);
    if let MInst::Op { starts, .. } = &mut mad {
        *starts = false;
    }
    let call = MInst::Call {
        routine: Routine::new(1),
        link: r(1),
        exec: S8,
    };
    let back = MInst::Return {
        link: r(1),
        exec: S8,
    };
    let kept = 6..14;
    let mut insts: Vec<MInst> = kept.clone().map(make).collect();
    // The routine reads the header.
    let (reg, write) = (r(0), false);
    insts.extend([MInst::Touch { reg, write }, call]);
    insts.extend(kept.clone().map(read));
    insts.push(MInst::Jump);
    let routine = [load(2), load(3), load(4), load(5), mad, read(2), back];
    let first = [(32, RegConstraint::Fixed(0)), (8, ANY)];
    let grf = Target::lookup("skl").unwrap().grf().bytes;
    let long = [(LONG * grf, ANY); 4];
    let all = first.into_iter().chain(long).chain(kept.map(|_| (64, ANY)));
    let vregs: Vec<_> = all.collect();
    let code = code(
        &vregs,
        &[(&insts, &[1]), (&[MInst::Jump], &[1]), (&routine, &[])],
        &[2, 1],
    );
    let out = allocated(&code).unwrap();
    assert!(out.spilled.registers > 0);
}

/// A call writes the return address while the routine's parameter is live. The routine never
/// returns and does not name the return address.
#[test]
fn a_return_address_without_return_is_not_over_a_parameter() {
    const S8: ExecSize = ExecSize::S8;
    let call = MInst::Call {
        routine: Routine::new(1),
        link: r(2),
        exec: S8,
    };
    let (reg, write) = (r(1), false);
    let give = mov(Some(1), ZERO, S8, Type::Ud);
    let read = mov(None, src(1, S8, Type::Ud), S8, Type::Ud);
    let mut code = code(
        &[(32, RegConstraint::Fixed(0)), (32, ANY), (8, ANY)],
        &[
            (
                &[give, MInst::Touch { reg, write }, call, MInst::Jump],
                &[1],
            ),
            (&[MInst::Jump], &[1]),
            (&[read, MInst::Jump], &[2]),
        ],
        &[2, 1],
    );
    routines::keep_links(&mut code);
    let out = allocated(&code).unwrap();
    assert_ne!(out.alloc.address[r(1)], out.alloc.address[r(2)]);
}
