//! Constructors of operands and of one-channel instructions, for all stages.

use crate::mir::{MInst, VFlag, VReg, VirtReg};
use crate::target::Target;
use gantry_isa_gen::{
    Arf, Dst, ExecSize, Inst, InstOpts, Op, Reg, RegRef, Region, Src, SrcMods, Subfn, SyncFn, Type,
};

/// Returns the mask of a predicate of `lanes` lanes.
pub(crate) fn lane_mask(lanes: u32) -> u64 {
    u64::MAX >> (64 - lanes.clamp(1, 64))
}

/// Returns the element type of a flag of `lanes` lanes.
pub(crate) fn flag_type(lanes: u32) -> Type {
    if lanes > 16 { Type::Ud } else { Type::Uw }
}

/// Returns an immediate source.
pub(crate) fn imm<R>(bits: u64, ty: Type) -> Src<R> {
    Src::Imm { bits, ty }
}

/// Returns one element as a source.
pub(crate) fn scalar<R>(at: RegRef<R>, ty: Type) -> Src<R> {
    Src::Direct {
        at,
        region: Region::SCALAR,
        ty,
        mods: SrcMods::default(),
    }
}

/// Returns the element at byte `sub` of a register as a source.
pub(crate) fn scalar_src(r: VReg, sub: u16, ty: Type) -> Src<VirtReg> {
    scalar(RegRef::new(VirtReg::grf(r), sub), ty)
}

/// Returns a flag as a source.
pub(crate) fn flag_src(f: VFlag, ty: Type) -> Src<VirtReg> {
    scalar(RegRef::new(VirtReg::flag(f), 0), ty)
}

/// Returns a source of a logic operation, inverted.
pub(crate) fn inverted(mut src: Src<VirtReg>) -> Src<VirtReg> {
    if let Src::Direct { mods, .. } = &mut src {
        mods.neg = !mods.neg;
    }
    src
}

/// Returns consecutive elements from `at` as a destination.
pub(crate) fn dst<R>(at: RegRef<R>, ty: Type) -> Dst<R> {
    Dst::Direct { at, hs: 1, ty }
}

/// Returns consecutive elements from the start of a register as a destination.
pub(crate) fn grf_dst(r: VReg, ty: Type) -> Dst<VirtReg> {
    dst(RegRef::new(VirtReg::grf(r), 0), ty)
}

/// Returns a flag as a destination.
pub(crate) fn flag_dst(f: VFlag, ty: Type) -> Dst<VirtReg> {
    dst(RegRef::new(VirtReg::flag(f), 0), ty)
}

/// Returns the move of `lanes` bits of a flag, from bit `first` on, to the start of another flag.
/// `of` is the number of lanes of the flag that is read. The bits above are undefined.
///
/// Words are moved as such. Other bits are shifted, by the type of the longer flag: in a function
/// with a flag of more than 16 lanes, each flag is a dword.
pub(crate) fn flag_bits(to: VFlag, lanes: u32, from: VFlag, of: u32, first: u32) -> Inst<VirtReg> {
    if first.is_multiple_of(16) && lanes <= 16 {
        let word = RegRef::new(VirtReg::flag(from), first as u16 / 8);
        return uniform(Op::Mov, flag_dst(to, Type::Uw), [scalar(word, Type::Uw)]);
    }
    let ty = flag_type(of);
    let srcs = [flag_src(from, ty), imm(first.into(), Type::Uw)];
    uniform(Op::Shr, flag_dst(to, ty), srcs)
}

/// `(W) op (1|M0) dst srcs`.
pub(crate) fn uniform<R: Copy, const N: usize>(op: Op, dst: Dst<R>, srcs: [Src<R>; N]) -> Inst<R> {
    let mut inst = Inst::new(op, ExecSize::S1);
    inst.no_mask = true;
    inst.dst = dst;
    for (to, from) in inst.srcs.iter_mut().zip(srcs) {
        *to = from;
    }
    inst
}

/// Returns the option that makes the EU switch to another thread after an instruction. It is empty
/// on platforms with SWSB, where code and not hardware tracks dependencies.
pub(crate) fn thread_switch(target: &Target) -> InstOpts {
    if target.features().swsb {
        InstOpts::default()
    } else {
        InstOpts::SWITCH
    }
}

/// Returns a `sync`.
pub(crate) fn synchronize<R: Copy>(function: SyncFn, null: R) -> Inst<R> {
    let mut inst = Inst::new(Op::Sync, ExecSize::S1);
    inst.subfn = Subfn::Sync(function);
    inst.srcs[0] = scalar(RegRef::new(null, 0), Type::Ub);
    inst
}

/// Returns a change of the control register. A change of the floating-point modes in it takes
/// effect at once.
pub(crate) fn control(target: &Target, op: Op, bits: u32) -> MInst {
    let at = RegRef::new(VirtReg::phys(Reg::Arf(Arf::Control, 0)), 0);
    let ty = if bits >> 16 == 0 { Type::Uw } else { Type::Ud };
    let src = [scalar(at, Type::Ud), imm(bits.into(), ty)];
    let mut inst = uniform(op, dst(at, Type::Ud), src);
    inst.opts = thread_switch(target);
    begins(inst)
}

/// Returns an instruction that starts a new value of its destination.
pub(crate) fn begins(inst: Inst<VirtReg>) -> MInst {
    MInst::Op {
        inst,
        starts: true,
        keeps: None.into(),
    }
}

/// Returns a move of dwords in all channels. `starts` is set if it starts a new value of the
/// destination.
pub(crate) fn whole_move(
    exec: ExecSize,
    to: (VReg, u32),
    from: (VReg, u32),
    starts: bool,
) -> MInst {
    let mut inst = Inst::new(Op::Mov, exec);
    inst.no_mask = true;
    inst.dst = grf_dst(to.0, Type::Ud);
    if let Dst::Direct { at, .. } = &mut inst.dst {
        at.sub = to.1 as u16;
    }
    inst.srcs[0] = Src::Direct {
        at: RegRef::new(VirtReg::grf(from.0), from.1 as u16),
        region: Region::Rect { vs: 8, w: 8, hs: 1 },
        ty: Type::Ud,
        mods: SrcMods::default(),
    };
    MInst::Op {
        inst,
        starts,
        keeps: None.into(),
    }
}
