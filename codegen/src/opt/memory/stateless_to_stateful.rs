//! Stateless to stateful: accesses by 32-bit offsets in a surface in place of 64-bit addresses.
//!
//! A pointer argument that does not escape (`underlying_object.rs`) becomes a surface argument. Its
//! value is then the offset of the buffer in its surface. Every address based on it is that value
//! plus the same offset, in 32 bits. Addresses then take half of the GRFs and half of the
//! instructions. They need no 64-bit arithmetic where the ALU has none. An access through an
//! argument stays in its buffer, and a surface holds up to 4 GiB. So an offset modulo 2^32 is
//! exact, whatever the signs of its terms. (Intel's compiler does the same, and adds the buffer's
//! offset for the same reason: "StatelessToStateful".) Hosts with larger buffers set
//! `CompileOptions::large_buffers`.
//!
//! Where no offset can be negative (`value_range.rs`), the surface starts at the buffer, and
//! nothing is added. The host puts the pointer into the surface state, as Intel's driver does.
//! Surfaces start at dwords, so this applies to pointers with dword accesses.
//!
//! Pointers that are stored, compared, passed to subroutines or mixed with others stay stateless.
//! On targets with 64-bit arithmetic, so do those with mostly qword accesses (`benefit`).
//!
//! Input: verified IR. Output: the same with fewer `ptr` and more `surface` arguments. Surface
//! numbers follow the order of the arguments. Work: linear.

use super::alias_analysis::space_and_address;
use super::alignment::Alignments;
use super::low_halves::{LowHalves, dword_type, low_half_region};
use super::underlying_object::{UnderlyingObject, UnderlyingObjects};
use super::value_range::ValueRanges;
use crate::ir::instructions::ValueList;
use crate::ir::{
    ArgKind, BlockInsts, ControlFlow, FuncKind, FuncRef, Function, Inst, InstData, Module, Opcode,
    Param, Space, Value, scalars,
};
use crate::opt::{OptState, PassContext};
use crate::sized;
use crate::target::Target;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;

/// Maximal surfaces of a kernel, images included. This is the size of the data port's surface state
/// cache, where Intel's compiler stops, too (IGC, `StatelessToStateful.hpp`).
const MOST: usize = 32;
/// Binary logarithm of the bytes of a dword.
const DWORD_LOG2: u32 = 2;

/// Bytes of a qword.
const QWORD: u32 = 8;

/// Runs the pass. Returns the number of accesses that became stateful.
pub(crate) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    let kernel = matches!(func.kind, FuncKind::Kernel { .. });
    if !kernel || func.count(ArgKind::Ptr) == 0 || !renumbers(func, ctx.module) {
        return 0;
    }
    let cfg = state.cfg.get(func);
    let objects = UnderlyingObjects::new(func, cfg.order());
    let Some(plan) = SurfacePlan::new(func, &cfg, &objects, ctx.target) else {
        return 0;
    };
    let starts_at_buffer = plan.starts_at_buffer(func, &cfg, &objects);
    let changed = plan.rewrite(func, &cfg, &objects);
    replace_by_zero(func, &starts_at_buffer);
    changed
}

/// Replaces reads of arguments by zero if their surfaces start at the buffer.
fn replace_by_zero(func: &mut Function, starts_at_buffer: &[bool]) {
    let Some(entry) = func
        .layout
        .entry()
        .filter(|_| starts_at_buffer.contains(&true))
    else {
        return;
    };
    let (opcode, bits) = (Opcode::Iconst, 0);
    let zero = func
        .dfg
        .make_inst(InstData::Imm { opcode, bits }, &[scalars::I32]);
    let Some(value) = func.dfg.first_result(zero) else {
        return;
    };
    let params = func.dfg.block_params(entry).iter().zip(starts_at_buffer);
    let mut begin: EntitySet<Value> = EntitySet::new();
    for (&v, _) in params.filter(|(_, starts_at_buffer)| **starts_at_buffer) {
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

/// Returns true if only the kernel's own accesses use surface numbers: no raw messages, and no
/// subroutines.
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
                    // A missing surface is an error: it must not become the first new one.
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

/// Arguments that become surfaces, and the new numbers of all surfaces.
struct SurfacePlan {
    /// Surface number of each argument that becomes a surface.
    becomes: Vec<Option<u8>>,
    /// New number of each existing surface.
    renumbered: Vec<u8>,
}

impl SurfacePlan {
    /// Selects the arguments that become surfaces; `None` if there are none.
    fn new(
        func: &Function,
        cfg: &ControlFlow,
        objects: &UnderlyingObjects,
        target: &Target,
    ) -> Option<SurfacePlan> {
        // Benefit of each argument: accesses that are cheaper by offset minus those that are not.
        let mut benefits = vec![0i32; func.sig.params.len()];
        for &inst in cfg.order().iter().flat_map(|&b| func.layout.insts(b)) {
            if let Some((_, addr)) = space_and_address(func.dfg.data(inst))
                && let UnderlyingObject::Arg(n) = objects.of(addr)
                && let Some(benefits) = benefits.get_mut(usize::from(n))
            {
                *benefits = benefits.saturating_add(benefit(func, inst, target));
            }
        }
        let there = func.count(ArgKind::Surface) + func.images().count();
        let mut room = MOST.saturating_sub(there);
        let mut plan = SurfacePlan {
            becomes: vec![None; func.sig.params.len()],
            renumbered: Vec::new(),
        };
        let mut next = 0u8;
        let mut any = false;
        for (n, p) in func.sig.params.iter().enumerate() {
            match p.kind {
                ArgKind::Surface => plan.renumbered.push(next),
                ArgKind::Ptr if benefits[n] > 0 && room > 0 && !objects.escaped(n as u16) => {
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

    /// Returns a flag per argument: set if its surface starts at the buffer, since no offset is
    /// negative.
    fn starts_at_buffer(
        &self,
        func: &Function,
        cfg: &ControlFlow,
        objects: &UnderlyingObjects,
    ) -> Vec<bool> {
        let mut ranges = ValueRanges::new(func, cfg);
        let mut alignments = Alignments::new(func, cfg);
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
            let UnderlyingObject::Arg(n) = objects.of(addr) else {
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
            // For a single lane at a fixed offset, the buffer's offset is as good an address, and
            // in a GRF already.
            added[n] |= range.least != range.most || func.dfg.ty(addr).lanes() > 1;
            dwords[n] |= mem.alignment(size) >= 4
                && offset % 4 == 0
                && alignments.of(addr).is_multiple(DWORD_LOG2);
        }
        let starts_at_buffer =
            |n: usize| positive[n] && dwords[n] && added[n] && self.becomes[n].is_some();
        (0..self.becomes.len()).map(starts_at_buffer).collect()
    }

    /// Returns the new surface of an address.
    fn surface(&self, base: UnderlyingObject) -> Option<u8> {
        match base {
            UnderlyingObject::Arg(n) => self.becomes.get(usize::from(n)).copied().flatten(),
            UnderlyingObject::None | UnderlyingObject::Several => None,
        }
    }

    fn rewrite(&self, func: &mut Function, cfg: &ControlFlow, objects: &UnderlyingObjects) -> u32 {
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
        self.retype(func, cfg, objects);
        let mut halves = self.request_halves(func, cfg, objects);
        let mut changed = 0;
        for &block in cfg.order() {
            let mut out = BlockInsts::new();
            for v in func.dfg.block_params(block).to_vec() {
                halves.make(func, v, &mut out);
            }
            for inst in std::mem::take(func.layout.insts_mut(block)) {
                changed += u32::from(self.instruction(func, inst, objects, &halves));
                out.push(inst);
                for v in results(func, inst) {
                    halves.make(func, v, &mut out);
                }
            }
            *func.layout.insts_mut(block) = out;
        }
        changed
    }

    /// Makes 32-bit offsets of all addresses in new surfaces. Their labels go, since a debugger
    /// would show other values.
    fn retype(&self, func: &mut Function, cfg: &ControlFlow, objects: &UnderlyingObjects) {
        let mut offsets: SecondaryMap<Value, bool> = sized(func.dfg.num_values());
        let mut retype = |func: &mut Function, v: Value| {
            if self.surface(objects.of(v)).is_some() {
                let ty = dword_type(func.dfg.ty(v));
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

    /// Requests the low halves of the other operands of offsets.
    fn request_halves(
        &self,
        func: &Function,
        cfg: &ControlFlow,
        objects: &UnderlyingObjects,
    ) -> LowHalves {
        let mut halves = LowHalves::default();
        for &inst in cfg.order().iter().flat_map(|&b| func.layout.insts(b)) {
            if self.makes_offset(func, inst, objects) {
                let data = func.dfg.data(inst);
                data.for_each_arg(&func.dfg, |v| halves.request(func, v));
            }
            for dest in func.dfg.destinations(inst) {
                let args = dest.args.as_slice(&func.dfg.pool);
                for (&arg, &param) in args.iter().zip(func.dfg.block_params(dest.block)) {
                    if self.surface(objects.of(param)).is_some() {
                        halves.request(func, arg);
                    }
                }
            }
        }
        halves
    }

    /// Returns true if an instruction's result is an offset, so that its 64-bit operands become
    /// halves.
    fn makes_offset(&self, func: &Function, inst: Inst, objects: &UnderlyingObjects) -> bool {
        let result = func.dfg.first_result(inst);
        let offset = result.is_some_and(|v| self.surface(objects.of(v)).is_some());
        // Shuffle indices may have any width.
        offset && func.dfg.data(inst).opcode() != Opcode::Shuffle
    }

    /// Rewrites an instruction. Returns true for an access to a new surface.
    fn instruction(
        &self,
        func: &mut Function,
        inst: Inst,
        objects: &UnderlyingObjects,
        halves: &LowHalves,
    ) -> bool {
        if self.makes_offset(func, inst, objects) {
            if let InstData::RdRegion { region, .. } | InstData::WrRegion { region, .. } =
                func.dfg.data_mut(inst)
            {
                *region = low_half_region(*region);
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
                if self.surface(objects.of(param)).is_some() {
                    *arg = halves.of(*arg);
                }
            }
        }
        let Some((space, addr)) = space_and_address(func.dfg.data(inst)) else {
            return false;
        };
        let becomes = match space {
            Space::Global => self.surface(objects.of(addr)),
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

/// Returns the results of an instruction.
fn results(func: &Function, inst: Inst) -> SmallVec<[Value; 3]> {
    SmallVec::from_slice(func.dfg.results(inst))
}

/// Returns the benefit of an offset over an address. A message by address moves qwords per lane. By
/// offset they are two dwords, which costs more to combine than the address where there is 64-bit
/// arithmetic.
fn benefit(func: &Function, inst: Inst, target: &Target) -> i32 {
    let data = func.dfg.data(inst);
    let of = match *data {
        InstData::Store { args, .. } => Some(args[0]),
        _ => func.dfg.first_result(inst),
    };
    let ty = of.map(|v| func.dfg.ty(v));
    let qwords = ty.is_some_and(|ty| {
        let block = matches!(data.opcode(), Opcode::Bload | Opcode::Bstore);
        // Whole owords are moved as they are.
        ty.scalar().bytes() == QWORD && !(block && ty.bytes().is_multiple_of(2 * QWORD))
    });
    let f = target.features();
    match (qwords, f.i64_alu, f.restricted_64bit) {
        (false, ..) | (true, false, _) => 1,
        (true, true, true) => 0,
        (true, true, false) => -2,
    }
}

/// Reduces unreachable blocks to their `return`: their values are not analyzed.
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
