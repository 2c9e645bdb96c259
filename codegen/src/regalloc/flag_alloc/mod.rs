//! Flag allocation, by `regalloc2` unless all flags are local to a block (`block_local.rs`).
//!
//! Flags are few, interchangeable and in SSA form, as regalloc2 expects. There are four 16-bit
//! registers, or two 32-bit ones in a function with predicates of more than 16 lanes. Spill slots
//! become dwords in the GRF file. Logic reads and writes spilled flags there: trees of logic over
//! more predicates than there are registers are computed in the GRF file. A compare whose operands
//! still live is made again in place of a spill (`remake_compares.rs`).
//!
//! Input: flags in SSA form, critical edges split. Output: physical flags, no block parameters.

mod block_local;
mod remake_compares;
mod sink_compares;

use crate::entity_set::EntityLists;
use crate::error::CodegenError;
use crate::mir::insert::{Inserted, insert};
use crate::mir::liveness::LiveOutLoad;
use crate::mir::operand::{begins, dst, grf_dst, scalar, uniform};
use crate::mir::{
    EdgeFlags, MInst, RegKind, Routine, VBlock, VCode, VFlag, VReg, VRegData, VirtReg, routines,
};
use crate::sized;
use cranelift_entity::{EntityRef, SecondaryMap, entity_impl};
use gantry_isa_gen::{self as isa, Arf, Dst, Op, Reg, RegRef, Src, Type};
use regalloc2::{
    Algorithm, Allocation, AllocationKind, Block, Edit, Inst, InstPosition, InstRange, MachineEnv,
    Operand, OperandConstraint, OperandKind, OperandPos, PReg, PRegSet, RegClass, RegallocOptions,
    VReg as RaVReg,
};
use remake_compares::Replacement;
use smallvec::SmallVec;

/// Kind of a flag operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FlagUse {
    Read,
    /// Read as the predicate. If the condition modifier keeps the same flag, both share one
    /// register.
    Predicate,
    Write,
}

/// Returns true if an operand may stay in the dword of a spilled flag. A source is read there. A
/// result that no condition modifier writes is written there, if all bits of the flag are:
/// `bytes` is their number.
fn takes_spilled(m: &MInst, u: FlagUse, bytes: u32) -> bool {
    let MInst::Op { inst, keeps, .. } = m else {
        return false;
    };
    match (u, &inst.dst) {
        (FlagUse::Read, _) => true,
        (FlagUse::Write, Dst::Direct { at, ty, .. }) => {
            at.reg.is_flag() && ty.bytes() == bytes && keeps.is_none()
        }
        _ => false,
    }
}

/// Returns true if an instruction's predicate is the flag whose bits its modifier keeps.
fn predicate_is_kept(m: &MInst) -> bool {
    match m {
        MInst::Op { inst, keeps, .. } => match (inst.pred, keeps.expand()) {
            (Some(p), Some(k)) => p.flag.reg == VirtReg::flag(k),
            _ => false,
        },
        _ => false,
    }
}

/// Calls `f` on every operand that names a flag, in a fixed order: reads, then the write.
fn each_flag(m: &mut MInst, mut f: impl FnMut(&mut RegRef<VirtReg>, FlagUse)) {
    match m {
        MInst::Op { inst, .. } => {
            for s in &mut inst.srcs {
                if let Src::Direct { at, .. } = s
                    && at.reg.is_flag()
                {
                    f(at, FlagUse::Read);
                }
            }
            if let Some(p) = &mut inst.pred
                && p.flag.reg.is_flag()
            {
                f(&mut p.flag, FlagUse::Predicate);
            }
            if let Dst::Direct { at, .. } = &mut inst.dst
                && at.reg.is_flag()
            {
                f(at, FlagUse::Write);
            }
            if let Some(c) = &mut inst.cond
                && c.flag.reg.is_flag()
            {
                f(&mut c.flag, FlagUse::Write);
            }
        }
        MInst::Branch { flag, sub, .. }
        | MInst::Leave {
            flag: Some((flag, sub, _)),
            ..
        } => {
            let mut at = RegRef::new(*flag, *sub);
            if flag.is_flag() {
                f(&mut at, FlagUse::Read);
                (*flag, *sub) = (at.reg, at.sub);
            }
        }
        _ => {}
    }
}

/// Calls `f` on every flag that an instruction names, in the order of [`each_flag`].
fn each_named(m: &MInst, mut f: impl FnMut(VFlag, FlagUse)) {
    let mut name = |reg: VirtReg, u: FlagUse| {
        if let Some(flag) = reg.as_flag() {
            f(flag, u);
        }
    };
    match m {
        MInst::Op { inst, .. } => {
            for s in &inst.srcs {
                if let Src::Direct { at, .. } = s {
                    name(at.reg, FlagUse::Read);
                }
            }
            if let Some(p) = &inst.pred {
                name(p.flag.reg, FlagUse::Predicate);
            }
            if let Dst::Direct { at, .. } = &inst.dst {
                name(at.reg, FlagUse::Write);
            }
            if let Some(c) = &inst.cond {
                name(c.flag.reg, FlagUse::Write);
            }
        }
        MInst::Branch { flag, .. }
        | MInst::Leave {
            flag: Some((flag, ..)),
            ..
        } => name(*flag, FlagUse::Read),
        _ => {}
    }
}

/// Flags numbered as regalloc2's virtual registers, from 0 in each routine. Block parameters come
/// last: for each register live into a block, regalloc2 scans all parameters with lower numbers.
struct FlagNumbers {
    of: SecondaryMap<VFlag, u32>,
    /// Number of flags of each routine.
    counts: SecondaryMap<Routine, u32>,
}

impl FlagNumbers {
    fn new(code: &VCode) -> FlagNumbers {
        let mut is_param: SecondaryMap<VFlag, bool> = sized(code.flags.len());
        let mut routine: SecondaryMap<VFlag, Routine> = SecondaryMap::with_default(Routine::new(0));
        routine.resize(code.flags.len());
        let owners = routines::of_blocks(code);
        for ((_, b), &owner) in code.blocks.iter().zip(&owners) {
            for &p in b.flags.params() {
                is_param[p] = true;
                routine[p] = owner;
            }
            if owner.index() == 0 {
                continue;
            }
            for m in &code.insts[b.start..b.end] {
                each_named(m, |f, u| {
                    if u == FlagUse::Write {
                        routine[f] = owner;
                    }
                });
            }
        }
        let mut of: SecondaryMap<VFlag, u32> = sized(code.flags.len());
        let mut counts: SecondaryMap<Routine, u32> = SecondaryMap::new();
        let (others, params) = code.flags.keys().partition::<Vec<_>, _>(|f| !is_param[*f]);
        for f in others.into_iter().chain(params) {
            let count = &mut counts[routine[f]];
            of[f] = *count;
            *count += 1;
        }
        FlagNumbers { of, counts }
    }
}

/// View of a routine of [`VCode`] for regalloc2. It has the instructions that name flags, calls,
/// and the last instruction of each block.
struct RoutineView<'a> {
    code: &'a VCode,
    /// Indices of the routine's blocks.
    range: std::ops::Range<usize>,
    /// Number of the routine's flags.
    count: usize,
    /// Registers that a call clobbers: all.
    all: PRegSet,
    /// Indices in the code of the instructions in the view.
    insts: Vec<u32>,
    /// First instruction in the view of each block, with a final end.
    blocks: Vec<u32>,
    operands: Vec<Operand>,
    /// Start of the operands of each instruction in the view, with a final end.
    starts: Vec<u32>,
    /// Successors by the number of a block in the routine, as all lists of blocks here.
    succs: EntityLists<VBlock, Block>,
    preds: EntityLists<VBlock, Block>,
    params: EntityLists<VBlock, RaVReg>,
    /// Arguments of each edge.
    args: EntityLists<Edge, RaVReg>,
}

/// Edge of a routine: the successors of its first block, then those of the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Edge(u32);
entity_impl!(Edge);

impl<'a> RoutineView<'a> {
    /// Makes the view of a routine. `all` are the registers, of `bytes` bytes each.
    fn new(
        code: &'a VCode,
        routine: Routine,
        numbers: &FlagNumbers,
        all: PRegSet,
        bytes: u32,
    ) -> Self {
        let vreg = |f: VFlag| RaVReg::new(numbers.of[f] as usize, RegClass::Int);
        let data = &code.routines[routine];
        let range = data.first as usize..data.end as usize;
        let own = || code.blocks.values().take(range.end).skip(range.start);
        let own_flags = numbers.counts[routine] as usize;
        let mut operands = Vec::with_capacity(own_flags * 3);
        let mut starts = Vec::with_capacity(own_flags * 2 + range.len());
        let mut insts = Vec::with_capacity(own_flags * 2 + range.len());
        let mut first_insts = Vec::with_capacity(code.blocks.len() + 1);
        let mut ends = own().map(|b| b.end).peekable();
        first_insts.push(0);
        let (first, last) = (
            code.routine_insts(routine).start,
            code.routine_insts(routine).end,
        );
        for (i, m) in code.insts.iter().enumerate().take(last).skip(first) {
            let keeps = match m {
                MInst::Op { keeps, .. } => keeps.expand(),
                _ => None,
            };
            let first = operands.len();
            let tied = keeps.is_some() && predicate_is_kept(m);
            let mut predicate = 0;
            each_named(m, |f, u| {
                let (kind, pos) = match u {
                    FlagUse::Read | FlagUse::Predicate => (OperandKind::Use, OperandPos::Early),
                    FlagUse::Write => (OperandKind::Def, OperandPos::Late),
                };
                if u == FlagUse::Predicate {
                    predicate = operands.len() - first;
                }
                let constraint = match (u, keeps) {
                    (FlagUse::Write, Some(_)) if tied => OperandConstraint::Reuse(predicate),
                    // The kept flag is the operand right before the result.
                    (FlagUse::Write, Some(k)) => {
                        operands.push(Operand::new(
                            vreg(k),
                            OperandConstraint::Reg,
                            OperandKind::Use,
                            OperandPos::Early,
                        ));
                        OperandConstraint::Reuse(operands.len() - 1 - first)
                    }
                    _ if takes_spilled(m, u, bytes) => OperandConstraint::Any,
                    _ => OperandConstraint::Reg,
                };
                operands.push(Operand::new(vreg(f), constraint, kind, pos));
            });
            let last = ends.next_if_eq(&(i + 1)).is_some();
            let calls = matches!(m, MInst::Call { .. });
            if operands.len() > first || calls || last {
                insts.push(i as u32);
                starts.push(first as u32);
            }
            if last {
                first_insts.push(insts.len() as u32);
            }
        }
        starts.push(operands.len() as u32);
        let relative = |b: &VBlock| Block::new(b.index() - range.start);
        let args = own().flat_map(|b| (0..b.succs.len()).map(|n| b.flags.args(n)));
        RoutineView {
            insts,
            blocks: first_insts,
            operands,
            starts,
            succs: EntityLists::from_lists(own().map(|b| b.succs.iter().map(relative))),
            preds: EntityLists::from_lists(own().map(|b| b.preds.iter().map(relative))),
            params: EntityLists::from_lists(
                own().map(|b| b.flags.params().iter().map(|&f| vreg(f))),
            ),
            args: EntityLists::from_lists(args.map(|a| a.iter().map(|&f| vreg(f)))),
            code,
            count: own_flags,
            all,
            range,
        }
    }
}

impl RoutineView<'_> {
    fn inst(&self, i: Inst) -> &MInst {
        &self.code.insts[self.insts[i.index()] as usize]
    }
}

impl regalloc2::Function for RoutineView<'_> {
    fn num_insts(&self) -> usize {
        self.insts.len()
    }

    fn num_blocks(&self) -> usize {
        self.range.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        let at = |n: usize| Inst::new(self.blocks[n] as usize);
        InstRange::new(at(block.index()), at(block.index() + 1))
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        &self.succs[VBlock::new(block.index())]
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        &self.preds[VBlock::new(block.index())]
    }

    fn block_params(&self, block: Block) -> &[RaVReg] {
        &self.params[VBlock::new(block.index())]
    }

    fn is_ret(&self, insn: Inst) -> bool {
        matches!(
            self.inst(insn),
            MInst::EndThread { .. } | MInst::Return { .. }
        )
    }

    fn is_branch(&self, insn: Inst) -> bool {
        matches!(
            self.inst(insn),
            MInst::Jump | MInst::Branch { .. } | MInst::BranchExec { .. } | MInst::JumpTable { .. }
        )
    }

    fn branch_blockparams(&self, block: Block, _: Inst, succ: usize) -> &[RaVReg] {
        &self.args[Edge::new(self.succs.range(VBlock::new(block.index())).start + succ)]
    }

    fn inst_operands(&self, insn: Inst) -> &[Operand] {
        let i = insn.index();
        &self.operands[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    fn inst_clobbers(&self, insn: Inst) -> PRegSet {
        match self.inst(insn) {
            MInst::Call { .. } => self.all,
            _ => PRegSet::empty(),
        }
    }

    fn num_vregs(&self) -> usize {
        self.count
    }

    fn spillslot_size(&self, _: RegClass) -> usize {
        1
    }
}

/// Returns the physical flag with a register number: `f0.0` to `f1.1`, or `f0` and `f1`.
fn physical(n: u16, whole: bool) -> RegRef<VirtReg> {
    let (reg, sub) = if whole { (n, 0) } else { (n / 2, n % 2 * 2) };
    RegRef::new(VirtReg::phys(Reg::Arf(Arf::Flag, reg as u8)), sub)
}

/// Checks that simultaneously live flags almost fit into the GRF file as dwords. Follows each flag
/// from its uses to its definition. Returns the demand where it exceeds the GRF file.
fn check_demand(code: &VCode, view: &RoutineView<'_>, file: u32) -> Option<LiveOutLoad> {
    if view.count * 4 <= file as usize {
        return None;
    }
    let mut load = LiveOutLoad::new(code, file + 4 * 4);
    // Defining block of each register, and blocks that use it, in any order.
    let nowhere = u32::MAX;
    let mut defined = vec![nowhere; view.count];
    let mut uses: Vec<(u32, u32)> = Vec::new();
    for own in 0..view.range.len() {
        let n = (view.range.start + own) as u32;
        for p in &view.params[VBlock::new(own)] {
            defined[p.vreg()] = n;
        }
        let insts = view.blocks[own] as usize..view.blocks[own + 1] as usize;
        let operands = view.starts[insts.start] as usize..view.starts[insts.end] as usize;
        for o in &view.operands[operands] {
            match o.kind() {
                OperandKind::Def => defined[o.vreg().vreg()] = n,
                OperandKind::Use => uses.push((o.vreg().vreg() as u32, n)),
            }
        }
        let edges = view.succs.range(VBlock::new(own));
        for a in edges.flat_map(|e| &view.args[Edge::new(e)]) {
            uses.push((a.vreg() as u32, n));
        }
    }
    uses.sort_unstable();
    uses.dedup();
    // Number plus one of the last flag found live at each block's start and end.
    let (mut live_in, mut live_out) = (vec![0; code.blocks.len()], vec![0; code.blocks.len()]);
    let first = |at: &mut Vec<u32>, b: VBlock, mark: u32| {
        std::mem::replace(&mut at[b.index()], mark) != mark
    };
    let mut work = Vec::new();
    for (flag, block) in uses {
        work.push(VBlock::from_u32(block));
        while let Some(b) = work.pop() {
            let at_def = defined[flag as usize] == b.as_u32();
            if at_def || !first(&mut live_in, b, flag + 1) {
                continue;
            }
            for &p in &code.blocks[b].preds {
                if first(&mut live_out, p, flag + 1) {
                    work.push(p);
                    if !load.add(p, 4, 4) {
                        return Some(load);
                    }
                }
            }
        }
    }
    None
}

/// Returns true if regalloc2's main algorithm would take quadratic time on a function, longer than
/// the rest of compilation. Its search for dominators goes from each loop's end up to its head. It
/// looks up each block parameter among those before it. The other algorithm, `Fastalloc`, does
/// neither but spills more.
fn is_vast(code: &VCode, view: &RoutineView<'_>) -> bool {
    const STEPS: usize = 1000;
    let mut loops = 0;
    let mut params = 0;
    let own = code.blocks.iter().take(view.range.end);
    for (b, data) in own.skip(view.range.start) {
        params += data.flags.params().len();
        for s in data.succs.iter().filter(|s| **s <= b) {
            loops += b.index() - s.index();
        }
    }
    loops / STEPS > code.blocks.len() || params.saturating_mul(params) / STEPS > code.insts.len()
}

/// Gives every flag its register, and spills to the GRF file if there are too few.
///
/// # Errors
/// Returns an error if far more flags are live at once than a GRF file of `file` bytes holds. Also
/// returns one if regalloc2 refuses the function, which would be a bug of lowering.
pub fn allocate_flags(
    name: &str,
    mut code: VCode,
    file: u32,
    ctx: &mut regalloc2::Ctx,
) -> Result<VCode, CodegenError> {
    if code.flags.is_empty() {
        return Ok(code);
    }
    let whole = code.flags.values().any(|&lanes| lanes > 16);
    let count = if whole { 2 } else { 4 };
    if block_local::allocate(&mut code, count, whole) {
        copy_second_sources(&mut code);
        return Ok(code);
    }
    let mut placed = place(name, &code, (count, whole), file, ctx);
    // Where flags are moved there may be too few. Fewer are live at once when compares are where
    // they are used.
    let is_moved = |p: &FlagAllocation| !p.output.edits.is_empty();
    let too_few = !matches!(&placed, Ok(all) if !all.iter().any(is_moved));
    if too_few && sink_compares::sink(&mut code) > 0 {
        if block_local::allocate(&mut code, count, whole) {
            copy_second_sources(&mut code);
            return Ok(code);
        }
        placed = place(name, &code, (count, whole), file, ctx);
    }
    let mut moves = Vec::new();
    for p in placed? {
        rewrite(name, &mut code, p, whole, &mut moves)?;
    }
    insert(&mut code, moves);
    copy_second_sources(&mut code);
    Ok(code)
}

/// Finds places for the flags of each routine, in `count` flags, which are `whole` or halves.
///
/// # Errors
/// Those of [`allocate_flags`].
fn place(
    name: &str,
    code: &VCode,
    (count, whole): (u32, bool),
    file: u32,
    ctx: &mut regalloc2::Ctx,
) -> Result<Vec<FlagAllocation>, CodegenError> {
    let mut regs = PRegSet::empty();
    for n in 0..count as usize {
        regs.add(PReg::new(n, RegClass::Int));
    }
    let none = PRegSet::empty();
    let env = MachineEnv {
        preferred_regs_by_class: [regs, none, none],
        non_preferred_regs_by_class: [none; 3],
        scratch_by_class: [None; 3],
        fixed_stack_slots: Vec::new(),
    };
    let numbers = FlagNumbers::new(code);
    let mut placed = Vec::with_capacity(code.routines.len());
    for routine in code.routines.keys() {
        let view = RoutineView::new(code, routine, &numbers, regs, flag_word(whole).bytes());
        if let Some(load) = check_demand(code, &view, file) {
            return Err(load.error(name, code, file));
        }
        let vast = is_vast(code, &view);
        let options = RegallocOptions {
            validate_ssa: cfg!(debug_assertions) && !vast,
            algorithm: if vast {
                Algorithm::Fastalloc
            } else {
                Algorithm::Ion
            },
            ..Default::default()
        };
        regalloc2::run_with_ctx(&view, &env, &options, ctx)
            .map_err(|e| CodegenError::internal(name, format!("flag allocation: {e}")))?;
        let output = std::mem::take(&mut ctx.output);
        let RoutineView { insts, range, .. } = view;
        placed.push(FlagAllocation {
            range,
            insts,
            output,
        });
    }
    Ok(placed)
}

/// Returns the type of a flag's bits. `whole` selects 32-bit flags.
fn flag_word(whole: bool) -> Type {
    if whole { Type::Ud } else { Type::Uw }
}

/// Copies flags that are second sources to the GRF file: only the first source can be a flag. If
/// that is in the file, as a spilled flag is, the two are exchanged instead. A copy serves all
/// later sources of its block until the flag is written.
fn copy_second_sources(code: &mut VCode) {
    let VCode {
        insts,
        blocks,
        vregs,
        grf,
        ..
    } = code;
    let mut copies = Vec::new();
    // At most one for each word and each dword of the flags.
    let mut known: SmallVec<[(RegRef<VirtReg>, Type, VReg); 4]> = SmallVec::new();
    for b in blocks.values() {
        known.clear();
        for (n, m) in (b.start..).zip(&mut insts[b.start..b.end]) {
            let MInst::Op { inst, .. } = m else { continue };
            if let Some((at, ty)) = second_flag(inst) {
                let there = known.iter().find(|k| k.0 == at && k.1 == ty);
                let copy = match there {
                    Some(k) => k.2,
                    None => {
                        let copy = vregs.push(VRegData::anywhere(4, *grf));
                        copies.push(Inserted {
                            at: n,
                            after: false,
                            inst: begins(uniform(Op::Mov, grf_dst(copy, ty), [scalar(at, ty)])),
                        });
                        known.push((at, ty, copy));
                        copy
                    }
                };
                if let Src::Direct { at, .. } = &mut inst.srcs[1] {
                    *at = RegRef::new(VirtReg::grf(copy), 0);
                }
            }
            let written = match inst.dst {
                Dst::Direct { at, .. } => Some(at.reg),
                _ => None,
            };
            let tested = inst.cond.map(|c| c.flag.reg);
            for reg in written.into_iter().chain(tested) {
                known.retain(|k| k.0.reg != reg);
            }
        }
    }
    insert(code, copies);
}

/// Returns the flag that is the second source of an instruction. Exchanges the sources first if the
/// other one is no flag.
fn second_flag(inst: &mut isa::Inst<VirtReg>) -> Option<(RegRef<VirtReg>, Type)> {
    let flag = |s: &Src<VirtReg>| match s {
        Src::Direct { at, ty, .. } if is_physical(at.reg) => Some((*at, *ty)),
        _ => None,
    };
    let second = flag(&inst.srcs[1])?;
    if matches!(inst.op, Op::And | Op::Or | Op::Xor) && flag(&inst.srcs[0]).is_none() {
        inst.srcs.swap(0, 1);
        return None;
    }
    Some(second)
}

/// Returns true for a physical flag.
fn is_physical(reg: VirtReg) -> bool {
    matches!(reg.kind(), RegKind::Phys(Reg::Arf(Arf::Flag, _)))
}

/// Result of regalloc2 for a routine.
struct FlagAllocation {
    /// Indices of the routine's blocks.
    range: std::ops::Range<usize>,
    /// Indices of the instructions in the view.
    insts: Vec<u32>,
    output: regalloc2::Output,
}

/// Rewrites a routine's instructions to physical flags. `whole` selects 32-bit flags.
fn rewrite(
    name: &str,
    code: &mut VCode,
    placed: FlagAllocation,
    whole: bool,
    moves: &mut Vec<Inserted>,
) -> Result<(), CodegenError> {
    let FlagAllocation {
        range,
        insts,
        output,
    } = placed;
    let slots: Vec<VReg> = (0..output.num_spillslots)
        .map(|_| code.vregs.push(VRegData::anywhere(4, code.grf)))
        .collect();
    let ty = flag_word(whole);
    let place = |a: Allocation| -> Option<RegRef<VirtReg>> {
        match a.kind() {
            AllocationKind::Reg => a.as_reg().map(|p| physical(p.hw_enc() as u16, whole)),
            AllocationKind::Stack => {
                let slot = slots.get(a.as_stack()?.index())?;
                Some(RegRef::new(VirtReg::grf(*slot), 0))
            }
            AllocationKind::None => None,
        }
    };
    let replacements = remake_compares::replacements(code, &insts, &output);
    for (n, (point, Edit::Move { from, to })) in output.edits.iter().enumerate() {
        let (Some(from), Some(to)) = (place(*from), place(*to)) else {
            return Err(CodegenError::internal(name, "a flag move without places"));
        };
        let inst = match replacements.get(n) {
            Some(Replacement::Nothing) => continue,
            Some(Replacement::Compare(inst)) => isa::Inst {
                cond: inst.cond.map(|c| isa::CondMod {
                    flag: RegRef::new(to.reg, to.sub + c.flag.sub),
                    ..c
                }),
                ..*inst
            },
            Some(Replacement::Move) | None => uniform(Op::Mov, dst(to, ty), [scalar(from, ty)]),
        };
        let after = point.pos() == InstPosition::After;
        let at = insts.get(point.inst().index()).map_or(0, |n| *n as usize);
        moves.push(Inserted {
            at: at + usize::from(after),
            after,
            inst: begins(inst),
        });
    }
    for (n, &i) in insts.iter().enumerate() {
        let Some(m) = code.insts.get_mut(i as usize) else {
            continue;
        };
        let mut next = 0;
        let keeps =
            matches!(m, MInst::Op { keeps, .. } if keeps.is_some()) && !predicate_is_kept(m);
        let mut unplaced = false;
        each_flag(m, |at, u| {
            next += usize::from(keeps && u == FlagUse::Write);
            let found = output
                .allocs
                .get(output_index(&output.inst_alloc_offsets, n, next))
                .and_then(|a| place(*a));
            next += 1;
            match found {
                Some(p) => *at = RegRef::new(p.reg, p.sub + at.sub),
                None => unplaced = true,
            }
        });
        if let MInst::Op { keeps, .. } = m {
            *keeps = None.into();
        }
        if unplaced {
            return Err(CodegenError::internal(name, "a flag without a register"));
        }
    }
    for b in range {
        code.blocks[VBlock::new(b)].flags = EdgeFlags::default();
    }
    Ok(())
}

fn output_index(offsets: &[u32], inst: usize, operand: usize) -> usize {
    offsets
        .get(inst)
        .map_or(usize::MAX, |o| *o as usize + operand)
}
