//! Tests each condition of lane sharing on a small loop that channels leave one by one.

use super::share;
use crate::mir::liveness::liveness;
use crate::mir::operand::{begins, dst, grf_dst, imm, scalar_src};
use crate::mir::{
    BlockData, JoinPoint, MInst, RegConstraint, RoutineData, VBlock, VCode, VReg, VRegData,
    VirtReg, verify,
};
use crate::target::Target;
use cranelift_entity::{EntityRef, PrimaryMap};
use gantry_isa_gen::message::{AddrModel, BlockUnit, Cache, Dir, Message, MsgOp, Simd};
use gantry_isa_gen::{
    Arf, Cond, CondMod, Desc, Dst, ExecSize, Inst, Op, PredCtrl, Predicate, Reg, RegRef, Region,
    SendDescs, Src, SrcMods, Type,
};

/// Registers: the loop's value, its result, two temporaries, the thread header, and one of another
/// size.
const X: u32 = 0;
const R: u32 = 1;
const T: u32 = 2;
const HEADER: u32 = 3;
const WIDE: u32 = 4;

fn reg(n: u32) -> VReg {
    VReg::from_u32(n)
}

/// Returns a source of all lanes of a register.
fn all(n: u32) -> Src<VirtReg> {
    Src::Direct {
        at: RegRef::new(VirtReg::grf(reg(n)), 0),
        region: Region::rect(8, 8, 1),
        ty: Type::D,
        mods: SrcMods::default(),
    }
}

fn flag() -> RegRef<VirtReg> {
    RegRef::new(VirtReg::phys(Reg::Arf(Arf::Flag, 0)), 0)
}

fn null() -> Dst<VirtReg> {
    dst(RegRef::new(VirtReg::NULL, 0), Type::D)
}

fn op<const N: usize>(op: Op, to: Dst<VirtReg>, srcs: [Src<VirtReg>; N]) -> Inst<VirtReg> {
    let mut inst = Inst::new(op, ExecSize::S8);
    inst.dst = to;
    inst.srcs[..N].copy_from_slice(&srcs);
    inst
}

/// Returns an instruction under the execution mask.
fn masked(inst: Inst<VirtReg>) -> MInst {
    MInst::Op {
        inst,
        starts: false,
        keeps: None.into(),
    }
}

fn to(n: u32) -> Dst<VirtReg> {
    grf_dst(reg(n), Type::D)
}

fn mov(n: u32, from: Src<VirtReg>) -> Inst<VirtReg> {
    op(Op::Mov, to(n), [from])
}

/// Returns the instruction with NoMask.
fn whole(mut inst: Inst<VirtReg>) -> Inst<VirtReg> {
    inst.no_mask = true;
    inst
}

fn reads(n: u32) -> MInst {
    masked(op(Op::Mov, null(), [all(n)]))
}

fn compare(n: u32) -> MInst {
    let mut cmp = whole(op(Op::Cmp, null(), [all(n), imm(9, Type::D)]));
    cmp.cond = Some(CondMod {
        cond: Cond::Lt,
        flag: flag(),
    });
    masked(cmp)
}

fn predicated(mut inst: Inst<VirtReg>) -> Inst<VirtReg> {
    inst.pred = Some(Predicate {
        flag: flag(),
        inverse: false,
        ctrl: PredCtrl::Sequential,
    });
    inst
}

fn send(op: MsgOp, from: u32) -> Inst<VirtReg> {
    let m = Message::new(Target::lookup("skl").unwrap().platform(), op);
    let (ex, desc) = m.descs(Target::lookup("skl").unwrap().platform()).unwrap();
    let mut inst = Inst::new(Op::Send, ExecSize::S8);
    inst.dst = null();
    inst.srcs[0] = scalar_src(reg(from), 0, Type::Ud);
    inst.send = Some(SendDescs {
        ex: Desc::Imm(ex),
        desc: Desc::Imm(desc),
        src1_len: None,
    });
    inst
}

/// Instructions of the loop's blocks except for control flow.
struct LoopInsts {
    entry: Vec<MInst>,
    /// Executed by all channels still in the loop.
    head: Vec<MInst>,
    /// Executed by channels that are done.
    done: Vec<MInst>,
    /// Executed by channels that continue.
    on: Vec<MInst>,
    /// Executed after the loop by all channels.
    after: Vec<MInst>,
}

fn parts() -> LoopInsts {
    LoopInsts {
        entry: vec![
            begins(whole(mov(X, imm(1, Type::D)))),
            MInst::Start { dst: reg(R) },
        ],
        head: vec![compare(X)],
        done: vec![masked(mov(R, all(X)))],
        on: vec![masked(op(Op::Add, to(X), [all(X), imm(1, Type::D)]))],
        after: vec![reads(R)],
    }
}

fn code(p: LoopInsts) -> VCode {
    let target = Target::lookup("skl").unwrap();
    let grf = target.grf();
    let exec = ExecSize::S8;
    let (others, gone) = (JoinPoint::from_u32(0), JoinPoint::from_u32(1));
    let flag = Some((flag().reg, 0, false));
    let leave = |flag, to| MInst::Leave {
        flag,
        to: Some(to),
        exec,
    };
    let join = |at| MInst::Join { at, exec };
    let branch = |none_first| MInst::BranchExec { none_first, exec };
    let payload = reg(HEADER);
    let lists: [(Vec<MInst>, &[usize]); 7] = [
        ([p.entry, vec![MInst::Jump]].concat(), &[1]),
        (
            [p.head, vec![leave(flag, others), branch(true)]].concat(),
            &[3, 2],
        ),
        (
            [p.done, vec![leave(None, gone), MInst::Jump]].concat(),
            &[3],
        ),
        (vec![join(others), branch(true)], &[5, 4]),
        ([p.on, vec![MInst::Jump]].concat(), &[5]),
        (vec![branch(false)], &[1, 6]),
        (
            [
                vec![join(gone)],
                p.after,
                vec![MInst::EndThread { payload }],
            ]
            .concat(),
            &[],
        ),
    ];
    let mut vregs: PrimaryMap<VReg, VRegData> = (0..5)
        .map(|n| VRegData::anywhere(if n == WIDE { 64 } else { 32 }, grf))
        .collect();
    vregs[payload].constraint = RegConstraint::Fixed(0);
    let (mut insts, mut blocks) = (Vec::new(), PrimaryMap::new());
    for (list, succs) in lists {
        let start = insts.len();
        insts.extend(list);
        blocks.push(BlockData {
            start,
            end: insts.len(),
            succs: succs.iter().map(|s| VBlock::new(*s)).collect(),
            ..BlockData::default()
        });
    }
    let mut code = VCode {
        grf,
        insts,
        locs: Default::default(),
        routines: PrimaryMap::from_iter([RoutineData {
            name: "k".to_owned(),
            first: 0,
            end: blocks.len() as u32,
        }]),
        blocks,
        vregs,
        flags: PrimaryMap::new(),
        labels: Vec::new(),
        label_types: Default::default(),
        lone_surfaces: 0,
        fired: Default::default(),
    };
    code.compute_preds();
    code
}

/// Returns the number of registers saved.
fn shared(p: LoopInsts) -> u32 {
    share_within(&mut code(p), 0)
}

fn share_within(code: &mut VCode, limit: u32) -> u32 {
    let target = Target::lookup("skl").unwrap();
    let live = liveness("k", code).unwrap();
    let gone = share(code, &live, &target, limit);
    assert_eq!(verify::code(code, false), Ok(()));
    gone
}

/// Returns the index of an instruction that `made` builds for one of the registers.
fn one_of(code: &VCode, made: impl Fn(u32) -> MInst) -> Option<usize> {
    (X..=T).find_map(|n| code.insts.iter().position(|m| *m == made(n)))
}

#[test]
fn a_result_shares_with_the_loop_value() {
    let mut code = code(parts());
    assert_eq!(share_within(&mut code, 0), 1);
    // No value starts while another one's is live.
    let start = |m: &MInst| matches!(m, MInst::Start { .. });
    assert!(!code.insts.iter().any(start));
    assert!(one_of(&code, |n| masked(mov(n, all(n)))).is_some());
    assert!(one_of(&code, reads).is_some());
    let live = liveness("k", &code).unwrap();
    assert_eq!(live.peak().1, 64);
}

#[test]
fn code_that_fits_is_unchanged() {
    let mut code = code(parts());
    assert_eq!(share_within(&mut code, 96), 0);
    assert_eq!(share_within(&mut code, 95), 1);
}

#[test]
fn a_masked_definition_starts_no_value() {
    let mut p = parts();
    p.done = vec![begins(mov(R, all(X)))];
    let mut code = code(p);
    assert_eq!(share_within(&mut code, 0), 1);
    assert!(one_of(&code, |n| masked(mov(n, all(n)))).is_some());
}

#[test]
fn values_still_read_are_not_overwritten() {
    let mut p = parts();
    p.done.push(reads(X));
    assert_eq!(shared(p), 0);
    // Nor after the loop.
    let mut p = parts();
    p.after.push(reads(X));
    assert_eq!(shared(p), 0);
}

#[test]
fn unmasked_writes_do_not_share() {
    let mut p = parts();
    p.on = vec![masked(whole(op(Op::Add, to(X), [all(X), imm(1, Type::D)])))];
    assert_eq!(shared(p), 0);
    let mut p = parts();
    p.done = vec![masked(whole(mov(R, imm(1, Type::D))))];
    assert_eq!(shared(p), 0);
    // The other value is not written yet.
    let mut p = parts();
    p.entry.reverse();
    assert_eq!(shared(p), 1);
}

#[test]
fn a_partly_overwritten_value_stays_live() {
    // The result is computed where others continue, and moved.
    let through = || {
        let mut p = parts();
        p.on = vec![masked(mov(R, all(X))), masked(mov(X, all(R)))];
        p
    };
    assert_eq!(shared(through()), 1);
    let mut p = through();
    p.done = vec![masked(predicated(mov(R, all(X))))];
    assert_eq!(shared(p), 0);
    // Only of four channels.
    let mut p = through();
    let mut half = mov(R, all(X));
    half.exec = ExecSize::S4;
    p.done = vec![masked(half)];
    assert_eq!(shared(p), 0);
}

#[test]
fn lanes_are_read_by_their_channels() {
    let mut p = parts();
    p.on.push(masked(op(
        Op::Mov,
        null(),
        [scalar_src(reg(X), 0, Type::D)],
    )));
    assert_eq!(shared(p), 0);
    // From the second lane on.
    let mut p = parts();
    let mut shifted = op(Op::Mov, null(), [all(X)]);
    shifted.exec = ExecSize::S4;
    if let Src::Direct { at, .. } = &mut shifted.srcs[0] {
        at.sub = 4;
    }
    p.on.push(masked(shifted));
    assert_eq!(shared(p), 0);
    // Also from other lanes.
    let mut p = parts();
    p.on.push(masked(op(Op::Dp4, null(), [all(X), imm(0, Type::D)])));
    assert_eq!(shared(p), 0);
    // Written by other channels.
    let mut p = parts();
    let mut shifted = mov(R, all(X));
    (shifted.exec, shifted.srcs[0]) = (ExecSize::S4, imm(1, Type::D));
    if let Dst::Direct { at, .. } = &mut shifted.dst {
        at.sub = 4;
    }
    p.done.push(masked(shifted));
    assert_eq!(shared(p), 0);
}

#[test]
fn nomask_results_are_read_by_channels_that_were_active() {
    let temporary = begins(whole(mov(T, all(X))));
    let mut p = parts();
    p.head.push(temporary);
    p.done.push(reads(T));
    // X is not merged with the temporary, which is live after its write.
    assert_eq!(shared(p), 1);
    // Where other channels have rejoined.
    let mut p = parts();
    p.head.push(temporary);
    p.on.push(reads(T));
    assert_eq!(shared(p), 0);
    // Into a whole register.
    let mut p = parts();
    p.head.push(temporary);
    p.done.push(masked(whole(op(Op::Mov, null(), [all(T)]))));
    assert_eq!(shared(p), 1);
    let mut p = parts();
    p.head.push(temporary);
    p.done.push(masked(op(
        Op::Mov,
        null(),
        [scalar_src(reg(T), 0, Type::D)],
    )));
    assert_eq!(shared(p), 0);
    // Into other lanes.
    let mut p = parts();
    let mut one = whole(mov(T, scalar_src(reg(X), 4, Type::D)));
    one.exec = ExecSize::S1;
    p.head.push(begins(one));
    p.done.push(reads(T));
    assert_eq!(shared(p), 0);
}

#[test]
fn flags_are_read_by_channels_that_were_active() {
    let under = |n| masked(predicated(op(Op::Mov, null(), [all(n)])));
    let mut p = parts();
    p.head.push(under(X));
    assert_eq!(shared(p), 1);
    // In another block.
    let mut p = parts();
    p.on.push(under(X));
    assert_eq!(shared(p), 0);
    // As data.
    let mut p = parts();
    let data = scalar_src(reg(T), 0, Type::Uw);
    let Src::Direct { region, mods, .. } = data else {
        return;
    };
    let bits = Src::Direct {
        at: flag(),
        region,
        ty: Type::Uw,
        mods,
    };
    p.head.push(begins(whole(mov(T, bits))));
    assert_eq!(shared(p), 0);
    // All bits at once.
    let mut p = parts();
    let mut any = predicated(op(Op::Mov, null(), [imm(0, Type::D)]));
    if let Some(pred) = &mut any.pred {
        pred.ctrl = PredCtrl::AnyH(8);
    }
    p.head.push(masked(any));
    assert_eq!(shared(p), 0);
}

#[test]
fn messages_read_lanes_or_whole_registers() {
    let (dir, addr) = (
        Dir::Read,
        AddrModel::A32(gantry_isa_gen::message::Surface::Bti(1)),
    );
    let scattered = MsgOp::ByteScattered {
        dir,
        addr,
        bytes: 4,
        simd: Simd::S8,
    };
    let mut load = send(scattered, X);
    load.dst = to(R);
    let mut p = parts();
    p.done = vec![masked(load)];
    assert_eq!(shared(p), 1);
    let mut p = parts();
    p.on.push(masked(whole(send(scattered, X))));
    assert_eq!(shared(p), 0);
    let block = MsgOp::Block {
        dir,
        addr,
        unit: BlockUnit::Oword,
        count: 2,
        cache: Cache::Data,
    };
    let mut p = parts();
    p.on.push(masked(send(block, X)));
    assert_eq!(shared(p), 0);
}

#[test]
fn merged_registers_have_equal_size_and_no_place() {
    let wide = |m: &mut MInst| m.map_vregs(|r, _| if r == reg(R) { reg(WIDE) } else { r });
    let mut p = parts();
    let lists = [&mut p.entry, &mut p.done, &mut p.after];
    lists.into_iter().flatten().for_each(wide);
    assert_eq!(shared(p), 0);
    let mut fixed = code(parts());
    fixed.vregs[reg(R)].constraint = RegConstraint::Fixed(64);
    assert_eq!(share_within(&mut fixed, 0), 0);
}

#[test]
fn copies_go_and_locations_stay() {
    use crate::ir::{SourceFile, SourceLoc};
    // The result is moved through a register that it is merged with.
    let mut p = parts();
    p.after = vec![
        MInst::Copy {
            dst: reg(T),
            src: reg(R),
        },
        reads(T),
    ];
    let mut code = code(p);
    let at = code.insts.iter().position(|m| *m == reads(T));
    let line = |n| SourceLoc::new(SourceFile::from_u32(0), n, 0);
    code.locs.push(0, line(1));
    code.locs.push(at.unwrap(), line(2));
    assert_eq!(share_within(&mut code, 0), 1);
    let copy = |m: &MInst| matches!(m, MInst::Copy { .. });
    assert!(!code.insts.iter().any(copy));
    let at = one_of(&code, reads).unwrap();
    assert_eq!(
        [code.locs.get(at - 1), code.locs.get(at)],
        [line(1), line(2)]
    );
}
