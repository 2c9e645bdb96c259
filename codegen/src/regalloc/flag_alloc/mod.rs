//! Flag allocation, by `regalloc2`, where it is not simple (`local.rs`).
//!
//! Flags are few, equal and in SSA form, which is what regalloc2 is made for: four 16-bit
//! sub-registers, or, in a function with predicates of more than 16 lanes, two of 32 bits. Its
//! spill slots become dwords in the GRF file.
//!
//! Needs: flags in SSA form, critical edges split. Makes: every flag physical; block parameters are
//! gone.

mod block_local;

use crate::error::CodegenError;
use crate::mir::insert::{Inserted, insert};
use crate::mir::liveness::LiveOutLoad;
use crate::mir::operand::{begins, dst, scalar, uniform};
use crate::mir::{
    EdgeFlags, MInst, Routine, VBlock, VCode, VFlag, VReg, VRegData, VirtReg, routines,
};
use crate::sized;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::{Arf, Dst, Op, Reg, RegRef, Src, Type};
use regalloc2::{
    Algorithm, Allocation, AllocationKind, Block, Edit, Inst, InstPosition, InstRange, MachineEnv,
    Operand, OperandConstraint, OperandKind, OperandPos, PReg, PRegSet, RegClass, RegallocOptions,
    VReg as RaVReg,
};

/// How an instruction uses a flag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    /// Read as the predicate; where the modifier keeps that very flag, both are one register.
    Predicate,
    Write,
}

/// Whether an instruction's predicate is the flag that its modifier keeps bits of.
fn predicate_is_kept(m: &MInst) -> bool {
    match m {
        MInst::Op { inst, keeps, .. } => match (inst.pred, keeps.expand()) {
            (Some(p), Some(k)) => p.flag.reg == VirtReg::flag(k),
            _ => false,
        },
        _ => false,
    }
}

/// Calls `f` on every place that names a flag, in a fixed order: reads, then the write.
fn each_flag(m: &mut MInst, mut f: impl FnMut(&mut RegRef<VirtReg>, Use)) {
    match m {
        MInst::Op { inst, .. } => {
            for s in &mut inst.srcs {
                if let Src::Direct { at, .. } = s
                    && at.reg.is_flag()
                {
                    f(at, Use::Read);
                }
            }
            if let Some(p) = &mut inst.pred
                && p.flag.reg.is_flag()
            {
                f(&mut p.flag, Use::Predicate);
            }
            if let Dst::Direct { at, .. } = &mut inst.dst
                && at.reg.is_flag()
            {
                f(at, Use::Write);
            }
            if let Some(c) = &mut inst.cond
                && c.flag.reg.is_flag()
            {
                f(&mut c.flag, Use::Write);
            }
        }
        MInst::Branch { flag, sub, .. }
        | MInst::Leave {
            flag: Some((flag, sub, _)),
            ..
        } => {
            let mut at = RegRef::new(*flag, *sub);
            if flag.is_flag() {
                f(&mut at, Use::Read);
                (*flag, *sub) = (at.reg, at.sub);
            }
        }
        _ => {}
    }
}

/// Calls `f` on every flag that an instruction names, in the same order.
fn each_named(m: &MInst, mut f: impl FnMut(VFlag, Use)) {
    let mut name = |reg: VirtReg, u: Use| {
        if let Some(flag) = reg.as_flag() {
            f(flag, u);
        }
    };
    match m {
        MInst::Op { inst, .. } => {
            for s in &inst.srcs {
                if let Src::Direct { at, .. } = s {
                    name(at.reg, Use::Read);
                }
            }
            if let Some(p) = &inst.pred {
                name(p.flag.reg, Use::Predicate);
            }
            if let Dst::Direct { at, .. } = &inst.dst {
                name(at.reg, Use::Write);
            }
            if let Some(c) = &inst.cond {
                name(c.flag.reg, Use::Write);
            }
        }
        MInst::Branch { flag, .. }
        | MInst::Leave {
            flag: Some((flag, ..)),
            ..
        } => name(*flag, Use::Read),
        _ => {}
    }
}

/// The flags as regalloc2's registers: each routine's are numbered from 0. Block parameters come
/// last: it looks through all parameters up to a register's number for each register that is live
/// at a block's start.
struct Numbers {
    of: SecondaryMap<VFlag, u32>,
    /// How many flags each routine has.
    counts: SecondaryMap<Routine, u32>,
}

impl Numbers {
    fn new(code: &VCode) -> Numbers {
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
            for m in code.insts.get(b.start..b.end).unwrap_or(&[]) {
                each_named(m, |f, u| {
                    if u == Use::Write {
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
        Numbers { of, counts }
    }
}

/// The view of a routine of [`VCode`] that regalloc2 works on: the instructions that name flags,
/// calls, and the last one of each block.
struct Flags<'a> {
    code: &'a VCode,
    /// The routine's blocks.
    range: std::ops::Range<usize>,
    /// Flags of the routine.
    count: usize,
    /// What a call leaves nothing in.
    all: PRegSet,
    /// The instructions, by their number in the code.
    insts: Vec<u32>,
    /// Per block its first instruction here; one more at the end.
    blocks: Vec<u32>,
    operands: Vec<Operand>,
    /// Per instruction here, where its operands start; one more at the end.
    starts: Vec<u32>,
    succs: Lists<Block>,
    preds: Lists<Block>,
    params: Lists<RaVReg>,
    /// Of each edge, in the order of `succs`.
    args: Lists<RaVReg>,
}

/// Lists of something, mostly short: one behind the other.
struct Lists<T> {
    items: Vec<T>,
    /// Where each list starts; one more at the end.
    starts: Vec<u32>,
}

impl<T> Lists<T> {
    fn new<I: IntoIterator<Item = T>>(lists: impl Iterator<Item = I>) -> Lists<T> {
        let (mut items, mut starts) = (Vec::new(), vec![0]);
        for list in lists {
            items.extend(list);
            starts.push(items.len() as u32);
        }
        Lists { items, starts }
    }

    fn get(&self, n: usize) -> &[T] {
        &self.items[self.starts[n] as usize..self.starts[n + 1] as usize]
    }
}

impl<'a> Flags<'a> {
    fn new(code: &'a VCode, routine: Routine, numbers: &Numbers, all: PRegSet) -> Self {
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
                    Use::Read | Use::Predicate => (OperandKind::Use, OperandPos::Early),
                    Use::Write => (OperandKind::Def, OperandPos::Late),
                };
                if u == Use::Predicate {
                    predicate = operands.len() - first;
                }
                let constraint = match (u, keeps) {
                    (Use::Write, Some(_)) if tied => OperandConstraint::Reuse(predicate),
                    // The kept flag stands right before it.
                    (Use::Write, Some(k)) => {
                        operands.push(Operand::new(
                            vreg(k),
                            OperandConstraint::Reg,
                            OperandKind::Use,
                            OperandPos::Early,
                        ));
                        OperandConstraint::Reuse(operands.len() - 1 - first)
                    }
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
        Flags {
            insts,
            blocks: first_insts,
            operands,
            starts,
            succs: Lists::new(own().map(|b| b.succs.iter().map(relative))),
            preds: Lists::new(own().map(|b| b.preds.iter().map(relative))),
            params: Lists::new(own().map(|b| b.flags.params().iter().map(|&f| vreg(f)))),
            args: Lists::new(args.map(|a| a.iter().map(|&f| vreg(f)))),
            code,
            count: own_flags,
            all,
            range,
        }
    }
}

impl Flags<'_> {
    fn inst(&self, i: Inst) -> &MInst {
        &self.code.insts[self.insts[i.index()] as usize]
    }
}

impl regalloc2::Function for Flags<'_> {
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
        self.succs.get(block.index())
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        self.preds.get(block.index())
    }

    fn block_params(&self, block: Block) -> &[RaVReg] {
        self.params.get(block.index())
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
            MInst::Jump | MInst::Branch { .. } | MInst::BranchExec { .. }
        )
    }

    fn branch_blockparams(&self, block: Block, _: Inst, succ: usize) -> &[RaVReg] {
        self.args
            .get(self.succs.starts[block.index()] as usize + succ)
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

/// The physical flag of a register's number: `f0.0` .. `f1.1`, or `f0` and `f1`.
fn physical(n: u16, whole: bool) -> RegRef<VirtReg> {
    let (reg, sub) = if whole { (n, 0) } else { (n / 2, n % 2 * 2) };
    RegRef::new(VirtReg::phys(Reg::Arf(Arf::Flag, reg as u8)), sub)
}

/// Checks that the flags which live at once have room as dwords in the register file, all but a
/// few. Each is followed from its uses to its definition.
fn fit(code: &VCode, view: &Flags<'_>, file: u32) -> Option<LiveOutLoad> {
    if view.count * 4 <= file as usize {
        return None;
    }
    let mut load = LiveOutLoad::new(code, file + 4 * 4);
    // By register: the block that defines it, and those that use it, in any order.
    let nowhere = u32::MAX;
    let mut defined = vec![nowhere; view.count];
    let mut uses: Vec<(u32, u32)> = Vec::new();
    for own in 0..view.range.len() {
        let n = (view.range.start + own) as u32;
        for p in view.params.get(own) {
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
        let edges = view.succs.starts[own]..view.succs.starts[own + 1];
        for a in edges.flat_map(|e| view.args.get(e as usize)) {
            uses.push((a.vreg() as u32, n));
        }
    }
    uses.sort_unstable();
    uses.dedup();
    // The last flag, as a number from 1, that was seen live at a block's start, and at its end.
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

/// Whether a function is of the kind that regalloc2 takes quadratic time for, and so large that
/// this would be longer than all the rest: its search for dominators goes from each loop's end up
/// to its head, and for each block parameter it looks through those before. Its other algorithm
/// does neither; it spills more.
fn is_vast(code: &VCode, view: &Flags<'_>) -> bool {
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

/// Gives every flag its register, with spills to the GRF file where four are not enough.
///
/// # Errors
/// Far more flags live at once than a register file of so many bytes holds. regalloc2 refuses the
/// function, which would be a bug of lowering.
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
        return Ok(code);
    }
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
    let numbers = Numbers::new(&code);
    let mut placed = Vec::with_capacity(code.routines.len());
    for routine in code.routines.keys() {
        let view = Flags::new(&code, routine, &numbers, regs);
        if let Some(load) = fit(&code, &view, file) {
            return Err(load.error(name, &code, file));
        }
        let vast = is_vast(&code, &view);
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
        let Flags { insts, range, .. } = view;
        placed.push(Placed {
            range,
            insts,
            output,
        });
    }
    let mut moves = Vec::new();
    for p in placed {
        rewrite(name, &mut code, p, whole, &mut moves)?;
    }
    insert(&mut code, moves);
    Ok(code)
}

/// What regalloc2 found for a routine.
struct Placed {
    /// The routine's blocks.
    range: std::ops::Range<usize>,
    /// The instructions that it saw.
    insts: Vec<u32>,
    output: regalloc2::Output,
}

/// Gives a routine's instructions physical flags. `whole`: flags are of 32 bits.
fn rewrite(
    name: &str,
    code: &mut VCode,
    placed: Placed,
    whole: bool,
    moves: &mut Vec<Inserted>,
) -> Result<(), CodegenError> {
    let Placed {
        range,
        insts,
        output,
    } = placed;
    let slots: Vec<VReg> = (0..output.num_spillslots)
        .map(|_| code.vregs.push(VRegData::anywhere(4, code.grf)))
        .collect();
    let ty = if whole { Type::Ud } else { Type::Uw };
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
    for (point, Edit::Move { from, to }) in &output.edits {
        let (Some(from), Some(to)) = (place(*from), place(*to)) else {
            return Err(CodegenError::internal(name, "a flag move without places"));
        };
        let after = point.pos() == InstPosition::After;
        let at = insts.get(point.inst().index()).map_or(0, |n| *n as usize);
        moves.push(Inserted {
            at: at + usize::from(after),
            after,
            inst: begins(uniform(Op::Mov, dst(to, ty), [scalar(from, ty)])),
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
            next += usize::from(keeps && u == Use::Write);
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
