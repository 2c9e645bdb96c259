//! Buffers as surfaces: accesses by 32-bit offsets in a surface in place of 64-bit addresses.
//!
//! A pointer argument whose number matters to nobody (`underlying_object.rs`) becomes a surface
//! argument: its value is where in its surface the buffer begins, and every address that is based
//! on it is that and the same number, in 32 bits. Addresses take half of the registers then, are
//! computed in half of the instructions, and need no 64-bit arithmetic where the ALU has none. An
//! access through an argument stays in its buffer, which a surface holds up to 4 GiB: an offset
//! modulo 2^32 is the whole one, of whatever sign the numbers are that are added. (Intel's compiler
//! does the same, and adds the buffer's offset for the same reason: "StatelessToStateful".) Who has
//! larger buffers says so (`CompileOptions::large_buffers`).
//!
//! Where no number that is added to a pointer can be negative (`ranges.rs`), the surface begins
//! where the buffer does, and nothing is added: whoever binds it puts the pointer into the
//! surface's state, as Intel's driver does. Surfaces begin at dwords, so that is for pointers that
//! dwords are accessed through.
//!
//! Pointers that are stored, compared, passed to subroutines or mixed with others stay as they are.
//! So do, on targets with 64-bit arithmetic, those that mostly quadwords are accessed through
//! (`gain`).
//!
//! Needs: IR that verifies. Makes: the same with fewer `ptr` and more `surface` arguments; the
//! numbers of surfaces are those of the arguments in their order. Work: linear.

use super::alias_analysis::access;
use super::low_halves::{Halves, doublewords, halved};
use super::underlying_object::{Base, Bases};
use super::value_range::Ranges;
use crate::ir::instructions::ValueList;
use crate::ir::{
    ArgKind, BlockInsts, ControlFlow, FuncKind, FuncRef, Function, Inst, InstData, Module, Opcode,
    Param, Space, Value, scalars,
};
use crate::opt::{Facts, State};
use crate::sized;
use crate::target::Target;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;

/// The most surfaces of a kernel, images included: entries of the data port's cache of surface
/// states, behind which Intel's compiler stops too (IGC, `StatelessToStateful.hpp`).
const MOST: usize = 32;

/// Bytes of a quadword.
const QUADWORD: u32 = 8;

/// Makes surfaces of pointer arguments; gives how many accesses are by offsets now.
pub(crate) fn surfaces(func: &mut Function, facts: &Facts<'_>, state: &mut State) -> u32 {
    let kernel = matches!(func.kind, FuncKind::Kernel { .. });
    if !kernel || func.count(ArgKind::Ptr) == 0 || !renumbers(func, facts.module) {
        return 0;
    }
    let cfg = state.flow.of(func);
    let bases = Bases::new(func, cfg.order());
    let Some(plan) = Plan::new(func, &cfg, &bases, facts.target) else {
        return 0;
    };
    let begins = plan.begins(func, &cfg, &bases);
    let changed = plan.rewrite(func, &cfg, &bases);
    at_begin(func, &begins);
    changed
}

/// Puts zeros where arguments were read whose surfaces begin where their buffers do.
fn at_begin(func: &mut Function, begins: &[bool]) {
    let Some(entry) = func.layout.entry().filter(|_| begins.contains(&true)) else {
        return;
    };
    let (opcode, bits) = (Opcode::Iconst, 0);
    let zero = func
        .dfg
        .make_inst(InstData::Imm { opcode, bits }, &[scalars::I32]);
    let Some(value) = func.dfg.first_result(zero) else {
        return;
    };
    let params = func.dfg.block_params(entry).iter().zip(begins);
    let mut begin: EntitySet<Value> = EntitySet::new();
    for (&v, _) in params.filter(|(_, begins)| **begins) {
        begin.insert(v);
    }
    for block in func.layout.blocks().to_vec() {
        for inst in func.layout.insts(block).to_vec() {
            let map = |v| if begin.contains(v) { value } else { v };
            func.dfg.map_args(inst, map);
        }
    }
    func.labels
        .map_values(|v| (!begin.contains(v)).then_some(v));
    func.layout.insts_mut(entry).insert(0, zero);
}

/// Whether nothing but the kernel's own accesses names surfaces by their numbers: no messages as
/// they are, no subroutine that is called.
fn renumbers(kernel: &Function, module: &Module) -> bool {
    let mut seen: EntitySet<FuncRef> = EntitySet::new();
    let mut work = vec![kernel];
    while let Some(func) = work.pop() {
        let own = std::ptr::eq(func, kernel);
        for &inst in func
            .layout
            .blocks()
            .iter()
            .flat_map(|&b| func.layout.insts(b))
        {
            match *func.dfg.data(inst) {
                InstData::Send { .. } => return false,
                InstData::Load { mem, .. }
                | InstData::Store { mem, .. }
                | InstData::Atomic { mem, .. }
                    // One that the kernel lacks is an error, and not the first that it would get.
                    if let Space::Surface(n) = mem.space
                        && (!own ||  usize::from(n) >= kernel.count(ArgKind::Surface)) =>
                {
                    return false;
                }
                InstData::Call { func: callee, .. } if seen.insert(callee) => {
                    work.extend(module.functions.get(callee));
                }
                _ => {}
            }
        }
    }
    true
}

/// Which arguments become surfaces, and the numbers of all.
struct Plan {
    /// By argument: the number of what becomes a surface.
    becomes: Vec<Option<u8>>,
    /// By its number before: the number of what is one already.
    renumbered: Vec<u8>,
}

impl Plan {
    /// The arguments that may and should be surfaces; `None` without any.
    fn new(func: &Function, cfg: &ControlFlow, bases: &Bases, target: &Target) -> Option<Plan> {
        // Of each argument, by how many accesses more are better by offsets than by addresses.
        let mut pays = vec![0i32; func.sig.params.len()];
        for &inst in cfg.order().iter().flat_map(|&b| func.layout.insts(b)) {
            if let Some((_, addr)) = access(func.dfg.data(inst))
                && let Base::Arg(n) = bases.of(addr)
                && let Some(pays) = pays.get_mut(usize::from(n))
            {
                *pays = pays.saturating_add(gain(func, inst, target));
            }
        }
        let there = func.count(ArgKind::Surface) + func.images().count();
        let mut room = MOST.saturating_sub(there);
        let mut plan = Plan {
            becomes: vec![None; func.sig.params.len()],
            renumbered: Vec::new(),
        };
        let mut next = 0u8;
        let mut any = false;
        for (n, p) in func.sig.params.iter().enumerate() {
            match p.kind {
                ArgKind::Surface => plan.renumbered.push(next),
                ArgKind::Ptr if pays[n] > 0 && room > 0 && !bases.escaped(n as u16) => {
                    plan.becomes[n] = Some(next);
                    room -= 1;
                    any = true;
                }
                _ => continue,
            }
            next = next.checked_add(1)?;
        }
        any.then_some(plan)
    }

    /// By argument: whether its surface begins where its buffer does, as all numbers that are added
    /// to it are positive.
    fn begins(&self, func: &Function, cfg: &ControlFlow, bases: &Bases) -> Vec<bool> {
        let mut ranges = Ranges::new(func, cfg);
        let mut positive = vec![true; self.becomes.len()];
        let mut dwords = vec![false; self.becomes.len()];
        let mut added = vec![false; self.becomes.len()];
        for &inst in cfg.order().iter().flat_map(|&b| func.layout.insts(b)) {
            let data = func.dfg.data(inst);
            let (mem, addr, offset) = match *data {
                InstData::Load {
                    mem, addr, offset, ..
                }
                | InstData::Atomic {
                    mem, addr, offset, ..
                } => (mem, addr, offset),
                InstData::Store {
                    mem, args, offset, ..
                } => (mem, args[1], offset),
                _ => continue,
            };
            let Base::Arg(n) = bases.of(addr) else {
                continue;
            };
            let n = usize::from(n);
            if self.becomes.get(n).copied().flatten().is_none() {
                continue;
            }
            let element = match *data {
                InstData::Store { args, .. } => Some(args[0]),
                _ => func.dfg.first_result(inst),
            };
            let size = element.map_or(1, |v| func.dfg.ty(v).scalar().bytes());
            let range = ranges.of(addr);
            positive[n] &= range.least.saturating_add(offset.into()) >= 0;
            // At one place, by one lane: where the buffer begins is as good an address as another,
            // and in a register.
            added[n] |= range.least != range.most || func.dfg.ty(addr).lanes() > 1;
            dwords[n] |= mem.alignment(size) >= 4 && offset % 4 == 0 && ranges.is_of_dwords(addr);
        }
        let begins = |n: usize| positive[n] && dwords[n] && added[n] && self.becomes[n].is_some();
        (0..self.becomes.len()).map(begins).collect()
    }

    /// The surface that an address is in from now on.
    fn surface(&self, base: Base) -> Option<u8> {
        match base {
            Base::Arg(n) => self.becomes.get(usize::from(n)).copied().flatten(),
            Base::None | Base::Several => None,
        }
    }

    fn rewrite(&self, func: &mut Function, cfg: &ControlFlow, bases: &Bases) -> u32 {
        clear_unreachable(func, cfg);
        for (p, becomes) in func.sig.params.iter_mut().zip(&self.becomes) {
            if becomes.is_some() {
                *p = Param {
                    ty: scalars::I32,
                    kind: ArgKind::Surface,
                    noalias: p.noalias,
                };
            }
        }
        self.retype(func, cfg, bases);
        let mut halves = self.parts(func, cfg, bases);
        let mut changed = 0;
        for &block in cfg.order() {
            let mut out = BlockInsts::new();
            for v in func.dfg.block_params(block).to_vec() {
                halves.make(func, v, &mut out);
            }
            for inst in std::mem::take(func.layout.insts_mut(block)) {
                changed += u32::from(self.instruction(func, inst, bases, &halves));
                out.push(inst);
                for v in results(func, inst) {
                    halves.make(func, v, &mut out);
                }
            }
            *func.layout.insts_mut(block) = out;
        }
        changed
    }

    /// Makes offsets of all addresses in what become surfaces. A debugger would not know them as
    /// what they were called.
    fn retype(&self, func: &mut Function, cfg: &ControlFlow, bases: &Bases) {
        let mut offsets: SecondaryMap<Value, bool> = sized(func.dfg.num_values());
        let mut retype = |func: &mut Function, v: Value| {
            if self.surface(bases.of(v)).is_some() {
                let ty = doublewords(func.dfg.ty(v));
                func.dfg.set_type(v, ty);
                offsets[v] = true;
            }
        };
        for &block in cfg.order() {
            for v in func.dfg.block_params(block).to_vec() {
                retype(func, v);
            }
            for at in 0..func.layout.insts(block).len() {
                let inst = func.layout.insts(block)[at];
                for v in results(func, inst) {
                    retype(func, v);
                }
            }
        }
        func.labels.map_values(|v| (!offsets[v]).then_some(v));
    }

    /// What the offsets are made of besides each other.
    fn parts(&self, func: &Function, cfg: &ControlFlow, bases: &Bases) -> Halves {
        let mut halves = Halves::default();
        for &inst in cfg.order().iter().flat_map(|&b| func.layout.insts(b)) {
            if self.makes_offset(func, inst, bases) {
                let data = func.dfg.data(inst);
                data.for_each_arg(&func.dfg, |v| halves.want(func, v));
            }
            for dest in func.dfg.destinations(inst) {
                let args = dest.args.as_slice(&func.dfg.pool);
                for (&arg, &param) in args.iter().zip(func.dfg.block_params(dest.block)) {
                    if self.surface(bases.of(param)).is_some() {
                        halves.want(func, arg);
                    }
                }
            }
        }
        halves
    }

    /// Whether an instruction's result is an offset, and its operands of 64 bits are therefore to
    /// be halves.
    fn makes_offset(&self, func: &Function, inst: Inst, bases: &Bases) -> bool {
        let result = func.dfg.first_result(inst);
        let offset = result.is_some_and(|v| self.surface(bases.of(v)).is_some());
        // The numbers of lanes may be of any width.
        offset && func.dfg.data(inst).opcode() != Opcode::Shuffle
    }

    /// Rewrites one; gives whether it is an access to what becomes a surface.
    fn instruction(&self, func: &mut Function, inst: Inst, bases: &Bases, halves: &Halves) -> bool {
        if self.makes_offset(func, inst, bases) {
            if let InstData::RdRegion { region, .. } | InstData::WrRegion { region, .. } =
                func.dfg.data_mut(inst)
            {
                *region = halved(*region);
            }
            func.dfg.map_args(inst, |v| halves.of(v));
            return false;
        }
        let params: SmallVec<[Vec<Value>; 2]> = func
            .dfg
            .destinations(inst)
            .iter()
            .map(|d| func.dfg.block_params(d.block).to_vec())
            .collect();
        let (dests, pool) = func.dfg.destinations_mut(inst);
        for (dest, params) in dests.iter_mut().zip(&params) {
            for (arg, &param) in dest.args.as_mut_slice(pool).iter_mut().zip(params) {
                if self.surface(bases.of(param)).is_some() {
                    *arg = halves.of(*arg);
                }
            }
        }
        let Some((space, addr)) = access(func.dfg.data(inst)) else {
            return false;
        };
        let becomes = match space {
            Space::Global => self.surface(bases.of(addr)),
            Space::Surface(n) => self.renumbered.get(usize::from(n)).copied(),
            Space::Slm | Space::Scratch => None,
        };
        if let (
            Some(n),
            InstData::Load { mem, .. } | InstData::Store { mem, .. } | InstData::Atomic { mem, .. },
        ) = (becomes, func.dfg.data_mut(inst))
        {
            mem.space = Space::Surface(n);
        }
        becomes.is_some() && space == Space::Global
    }
}

/// The results of an instruction.
fn results(func: &Function, inst: Inst) -> SmallVec<[Value; 3]> {
    SmallVec::from_slice(func.dfg.results(inst))
}

/// What an access gains by an offset in place of an address: quadwords a lane are one message's by
/// address, and two dwords that are to be put together by offset, which costs more than the address
/// where there is 64-bit arithmetic.
fn gain(func: &Function, inst: Inst, target: &Target) -> i32 {
    let data = func.dfg.data(inst);
    let of = match *data {
        InstData::Store { args, .. } => Some(args[0]),
        _ => func.dfg.first_result(inst),
    };
    let ty = of.map(|v| func.dfg.ty(v));
    let quadwords = ty.is_some_and(|ty| {
        let block = matches!(data.opcode(), Opcode::Bload | Opcode::Bstore);
        // Whole owords are moved as they are.
        ty.scalar().bytes() == QUADWORD && !(block && ty.bytes().is_multiple_of(2 * QUADWORD))
    });
    let f = target.features();
    match (quadwords, f.i64_alu, f.restricted_64bit) {
        (false, ..) | (true, false, _) => 1,
        (true, true, true) => 0,
        (true, true, false) => -2,
    }
}

/// Leaves blocks that nothing goes to their `return` alone: what is in them is not followed.
fn clear_unreachable(func: &mut Function, cfg: &ControlFlow) {
    let mut gone: SecondaryMap<Value, bool> = sized(func.dfg.num_values());
    let blocks = func.layout.blocks().iter().copied();
    let blocks: Vec<_> = blocks.filter(|&b| !cfg.is_reachable(b)).collect();
    for block in blocks {
        for &inst in func.layout.insts(block) {
            func.dfg.results(inst).iter().for_each(|&v| gone[v] = true);
        }
        let (opcode, args) = (Opcode::Return, ValueList::new());
        let end = func.dfg.make_inst(InstData::Return { opcode, args }, &[]);
        let insts = func.layout.insts_mut(block);
        insts.clear();
        insts.push(end);
    }
    func.labels.map_values(|v| (!gone[v]).then_some(v));
}
