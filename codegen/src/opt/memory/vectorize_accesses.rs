//! Vectorization of memory accesses: neighbouring accesses become one.
//!
//! Loads of a basic block merge if their addresses differ by constants in each lane. By lanes, up
//! to four consecutive dwords make an untyped message. At one address, they make a block of owords.
//! The merged load goes where the first one was, if nothing in between may write its bytes. Stores
//! by lanes merge where the last one was, if nothing in between may access their bytes. Consecutive
//! bytes and words of a lane become a word or dword at any alignment, as byte messages take any
//! address.
//!
//! A block load may read bytes that no load asked for: those between two loads. For surfaces, which
//! are bounds-checked, these include bytes up to the message size. A dword of bytes and words may
//! read the bytes in between, too.
//!
//! Input and output: verified IR. Work: linear, since each access is compared with [`OPEN`] groups
//! of at most [`MEMBERS`].

use super::affine::AffineForms;
use super::alias_analysis::{Effect, MemoryAccess};
use crate::ir::{
    Block, BlockInsts, Function, Inst, InstData, MemFlags, Opcode, Region, Scalar, Space, Type,
    Value,
};
use crate::opt::{OptState, PassContext};
use crate::target::Target;
use cranelift_entity::packed_option::PackedOption;

/// Maximal groups that accesses may still join.
const OPEN: usize = 16;
/// Maximal accesses of a group, and maximal writes that new members are compared with.
const MEMBERS: usize = 32;
/// Bytes of an oword.
const OWORD: i64 = 16;
/// Bytes of the longest block message.
const LONGEST: i64 = 8 * OWORD;
/// Bytes of a dword.
const DWORD: i64 = 4;
/// Maximal bytes per lane of a message by lanes.
const MOST_A_LANE: i64 = 4 * DWORD;

/// Vectorizes loads. Returns the number of loads that were removed.
pub(crate) fn loads(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    merge(func, state, ctx.target, false)
}

/// Vectorizes stores. Returns the number of stores that were removed.
pub(crate) fn stores(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    merge(func, state, ctx.target, true)
}

fn merge(func: &mut Function, state: &mut OptState, target: &Target, writes: bool) -> u32 {
    let cfg = state.cfg.get(func);
    let mut forms = state.affine.get(func);
    let mut changed = 0;
    let mut groups = AccessGroups {
        target,
        writes,
        open: Vec::new(),
        done: Vec::new(),
        free: Vec::new(),
    };
    for &block in cfg.order() {
        for (at, &inst) in func.layout.insts(block).iter().enumerate() {
            groups.visit(func, at, inst, &mut forms);
        }
        groups.close(|_| true);
        let mut edits = BlockEdits::default();
        for group in std::mem::take(&mut groups.done) {
            for run in group.runs(writes) {
                changed += if writes {
                    edits.store(func, &run)
                } else {
                    edits.load(func, &run)
                };
            }
        }
        edits.apply(func, block);
    }
    state.affine.keep(func, forms, changed);
    changed
}

/// Value of inactive lanes in a load's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum InactiveLanes {
    /// Any value, or no lane is inactive.
    Any,
    /// These bits.
    Bits(u64),
}

/// Access of a group.
#[derive(Clone, Debug)]
struct GroupMember {
    /// Index in the block.
    at: usize,
    inst: Inst,
    access: MemoryAccess,
    inactive: InactiveLanes,
}

impl GroupMember {
    /// Returns true for block accesses; an access of a single lane is one, too.
    fn block(&self) -> bool {
        let p = &self.access;
        p.block || p.lanes == 1 && p.mask.is_none() && p.ty.lanes() == 1
    }

    /// Returns true if accesses like this are merged.
    fn merges(&self, target: &Target) -> bool {
        let p = &self.access;
        let size = p.ty.scalar().bytes();
        let plain = !p.mem.volatile && (self.narrow() || p.mem.alignment(size) >= 4);
        if self.block() {
            let reaches = matches!(p.mem.space, Space::Global | Space::Surface(_));
            return plain && reaches && size >= 4 && !p.writes;
        }
        // Lane counts of messages, so that the payload is the value as it is.
        let narrow = p.mem.space == Space::Global && !target.split_sends();
        let channels = p.lanes == 8 || matches!(p.lanes, 16 | 32) && !narrow;
        plain && size <= 4 && channels && p.ty.lanes() == p.lanes
    }

    /// Returns true for accesses of bytes or words by lanes.
    fn narrow(&self) -> bool {
        !self.block() && self.access.ty.scalar().bytes() < DWORD as u32
    }

    /// Returns true if another access may merge with this one.
    fn joins(&self, other: &GroupMember) -> bool {
        let (p, q) = (&self.access, &other.access);
        let size = |m: &GroupMember| m.narrow().then_some(m.access.bytes);
        let alike = self.block() == other.block()
            && size(self) == size(other)
            && p.mask == q.mask
            && p.lanes == q.lanes
            && p.mem.constant == q.mem.constant
            && p.mem.cache == q.mem.cache
            && self.inactive == other.inactive;
        alike && p.same_terms(q) && p.distance(q).unsigned_abs() < LONGEST as u64
    }
}

/// Accesses that may merge, and the writes in between that new members must not alias.
#[derive(Debug, Default)]
struct AccessGroup {
    members: Vec<GroupMember>,
    between: Vec<MemoryAccess>,
}

/// Accesses that become one.
struct MergedAccess {
    /// Members, with their byte offsets from the group's first member.
    members: Vec<(i64, GroupMember)>,
    /// Start, in bytes from the group's first member.
    start: i64,
    /// Bytes in total, or per lane.
    bytes: i64,
}

/// Access groups of a block.
struct AccessGroups<'t> {
    target: &'t Target,
    writes: bool,
    open: Vec<AccessGroup>,
    done: Vec<AccessGroup>,
    /// Empty groups, kept for their allocations.
    free: Vec<AccessGroup>,
}

impl AccessGroups<'_> {
    /// Visits the next instruction.
    fn visit(&mut self, func: &Function, at: usize, inst: Inst, forms: &mut AffineForms) {
        let data = func.dfg.data(inst);
        let Some(access) = MemoryAccess::of(func, inst, forms) else {
            let effect = Effect::of(data);
            if effect != Effect::None {
                self.close(|g| g.members.iter().any(|m| effect.stops_access(&m.access)));
            }
            return;
        };
        if access.mem.volatile {
            return self.close(|g| g.members.iter().any(|m| !m.access.mem.constant));
        }
        let atomic = matches!(data, InstData::Atomic { .. });
        let inactive = inactive_lanes(func, data);
        let joins = access.writes == self.writes && !atomic;
        let member = inactive.map(|inactive| GroupMember {
            at,
            inst,
            access: access.clone(),
            inactive,
        });
        let member = member.filter(|m| joins && m.merges(self.target));
        let mut joined = None;
        if let Some(member) = &member {
            joined = self.open.iter().position(|g| g.accepts(member));
        }
        if self.writes {
            // Pending stores must not move down past an aliasing access.
            let own = joined.map(|n| self.open.remove(n));
            self.close(|g| g.members.iter().any(|m| !m.access.disjoint(&access)));
            if let Some(own) = own {
                self.open.push(own);
                joined = Some(self.open.len() - 1);
            }
        } else if access.writes {
            for g in &mut self.open {
                g.between.push(access.clone());
            }
            self.close(|g| g.between.len() > MEMBERS);
        }
        match (member, joined) {
            (Some(m), Some(n)) => {
                if let Some(g) = self.open.get_mut(n) {
                    g.members.push(m);
                }
            }
            (Some(m), None) => {
                if self.open.len() >= OPEN {
                    self.end(0);
                }
                let mut group = self.free.pop().unwrap_or_default();
                group.members.push(m);
                self.open.push(group);
            }
            (None, _) => {}
        }
    }

    /// Closes a group.
    fn end(&mut self, n: usize) {
        let mut group = self.open.remove(n);
        if group.members.len() > 1 {
            return self.done.push(group);
        }
        group.members.clear();
        group.between.clear();
        self.free.push(group);
    }

    /// Closes the groups that `which` selects.
    fn close(&mut self, which: impl Fn(&AccessGroup) -> bool) {
        let mut n = 0;
        while let Some(g) = self.open.get(n) {
            if which(g) { self.end(n) } else { n += 1 }
        }
    }
}

impl AccessGroup {
    fn accepts(&self, m: &GroupMember) -> bool {
        let fits = self.members.first().is_some_and(|first| first.joins(m));
        let free = m.access.mem.constant || self.between.iter().all(|p| p.disjoint(&m.access));
        // A store stays after the group's stores to the same bytes.
        let order = !m.access.writes || self.members.iter().all(|o| o.access.disjoint(&m.access));
        fits && free && order && self.members.len() < MEMBERS
    }

    /// Splits the group into the accesses that become one.
    fn runs(self, writes: bool) -> Vec<MergedAccess> {
        let Some(first) = self.members.first().cloned() else {
            return Vec::new();
        };
        let block = first.block();
        let most = match (block, first.narrow()) {
            (true, _) => LONGEST,
            (false, true) => DWORD,
            (false, false) => MOST_A_LANE,
        };
        // Bytes between two surface accesses, or within a dword, cost nothing.
        let apart = !writes && (block || first.narrow());
        let hole = match (block, first.access.mem.space) {
            (true, Space::Surface(_)) => OWORD - DWORD,
            (false, _) if apart => DWORD,
            _ => 0,
        };
        let mut members: Vec<(i64, GroupMember)> = self
            .members
            .into_iter()
            .map(|m| (first.access.distance(&m.access), m))
            .collect();
        members.sort_by_key(|(d, m)| (*d, m.at));
        let mut runs: Vec<MergedAccess> = Vec::new();
        for (d, m) in members {
            let bytes = i64::from(m.access.bytes);
            if let Some(run) = runs.last_mut() {
                let end = run.start + run.bytes;
                let next =
                    d <= end + hole && (d == end || block || apart && d > end || d + bytes <= end);
                let all = (d + bytes - run.start).max(run.bytes);
                // Keeps the promised alignment, unless the promises contradict each other.
                let unit = if m.narrow() { bytes } else { DWORD };
                let next = next && (d - run.start) % unit == 0;
                if next && all <= most && !(writes && d < end) {
                    run.members.push((d, m));
                    run.bytes = all;
                    continue;
                }
            }
            let (start, members) = (d, vec![(d, m)]);
            runs.push(MergedAccess {
                members,
                start,
                bytes,
            });
        }
        for run in &mut runs {
            run.round(block);
        }
        runs.retain(|r| r.members.len() > 1);
        runs
    }
}

impl MergedAccess {
    /// Rounds a block to a message size: up for surfaces, otherwise down.
    fn round(&mut self, block: bool) {
        let Some((_, first)) = self.members.first() else {
            return;
        };
        match (block, first.access.mem.space) {
            (false, _) if first.narrow() && self.bytes == DWORD - 1 => {
                self.bytes -= 1;
                let end = self.start + self.bytes;
                self.members.retain(|(d, _)| *d < end);
            }
            (false, _) => {}
            (true, Space::Surface(_)) => {
                let owords = (self.bytes + OWORD - 1) / OWORD;
                self.bytes = OWORD * (owords as u64).next_power_of_two() as i64;
            }
            (true, _) => {
                let end = |(d, m): &(i64, GroupMember)| d - self.start + i64::from(m.access.bytes);
                let ends = (0..self.members.len()).map(|n| {
                    let all = self.members.iter().take(n + 1).map(end);
                    all.max().unwrap_or(0)
                });
                // Longest prefix of whole owords.
                let whole = ends.enumerate().rfind(|(_, e)| e % OWORD == 0);
                let (count, bytes) = whole.map_or((0, 0), |(n, e)| (n + 1, e));
                self.members.truncate(count);
                self.bytes = bytes;
            }
        }
    }

    /// Returns the element type of the merged access.
    fn scalar(&self) -> Scalar {
        if self.members.iter().any(|(_, m)| m.narrow()) {
            return match self.bytes {
                DWORD => Scalar::I32,
                // Repeated accesses of one byte.
                1 => Scalar::I8,
                _ => Scalar::I16,
            };
        }
        let mut all = self.members.iter().map(|(_, m)| m.access.ty.scalar());
        let first = all.next().unwrap_or(Scalar::I32);
        // Qwords may be a dword apart.
        let bytes = i64::from(first.bytes());
        let mut at = self.members.iter().map(|(d, _)| d - self.start);
        if all.all(|s| s == first) && at.all(|d| d % bytes == 0) {
            first
        } else {
            Scalar::I32
        }
    }

    /// Returns the type of the merged access.
    fn ty(&self, first: &MemoryAccess, block: bool) -> Option<Type> {
        let scalar = self.scalar();
        let lanes = if block { 1 } else { first.lanes };
        Type::new(scalar, lanes * self.bytes as u32 / scalar.bytes().max(1))
    }

    /// Returns the merged data as elements of a member's size, if that differs.
    fn elements(&self, first: &MemoryAccess, whole: Type) -> Option<Type> {
        let scalar = first.ty.scalar();
        let each = whole.scalar().bytes() / scalar.bytes().max(1);
        (each > 1).then(|| Type::clamped(scalar, whole.lanes() * each))
    }

    /// Returns the type and region of a member in the merged data.
    fn part(&self, d: i64, m: &GroupMember, whole: Type) -> (Type, Region) {
        if m.narrow() {
            let each = self.bytes as u32 / m.access.bytes.max(1);
            let region = Region::new(each as u16, 1, 0, (d - self.start) as u16);
            return (whole.by(m.access.lanes), region);
        }
        let scalar = whole.scalar();
        let ty = Type::clamped(scalar, m.access.ty.bytes() / scalar.bytes().max(1));
        let lanes = if m.block() {
            1
        } else {
            i64::from(m.access.lanes)
        };
        let at = (d - self.start) * lanes;
        (ty, Region::contiguous(ty.lanes() as u16, at as u16))
    }

    /// Returns the memory flags of the merged access, from the member at its start.
    fn mem(&self, scalar: Scalar) -> Option<MemFlags> {
        let (_, m) = self.members.iter().find(|(d, _)| *d == self.start)?;
        let size = m.access.ty.scalar().bytes();
        let align = m.access.mem.alignment(size);
        let mem = m.access.mem;
        Some(if align == scalar.bytes() {
            MemFlags { align: 0, ..mem }
        } else {
            mem.aligned(align)
        })
    }
}

impl Effect {
    /// Returns true if an access must not move across the effect.
    fn stops_access(self, access: &MemoryAccess) -> bool {
        self.stops(access.mem) && (access.writes || !access.mem.constant)
    }
}

/// Returns the value of inactive lanes in a load; `None` if it is unknown.
pub(super) fn inactive_lanes(func: &Function, data: &InstData) -> Option<InactiveLanes> {
    let InstData::Load { old, .. } = *data else {
        return Some(InactiveLanes::Any);
    };
    let Some(old) = old.expand() else {
        return Some(InactiveLanes::Any);
    };
    match *func.dfg.data(func.dfg.def_inst(old)?) {
        InstData::Imm { bits, .. } => Some(InactiveLanes::Bits(bits)),
        InstData::Nullary {
            opcode: Opcode::Undef,
        } => Some(InactiveLanes::Any),
        _ => None,
    }
}

/// Edits of a block.
#[derive(Default)]
struct BlockEdits {
    /// New instructions, each with the index that it goes before.
    before: Vec<(usize, Inst)>,
    removed: Vec<usize>,
}

impl BlockEdits {
    fn put(
        &mut self,
        func: &mut Function,
        (at, like): (usize, Inst),
        data: InstData,
        ty: Type,
    ) -> Option<Value> {
        let (inst, v) = func.make_like(like, data, ty);
        self.before.push((at, inst));
        Some(v)
    }

    /// Makes one load; its members become regions of it.
    fn load(&mut self, func: &mut Function, run: &MergedAccess) -> u32 {
        self.try_load(func, run).unwrap_or(0)
    }

    fn try_load(&mut self, func: &mut Function, run: &MergedAccess) -> Option<u32> {
        let (near, first) = run.members.iter().min_by_key(|(_, m)| m.at)?;
        let block = first.block();
        let ty = run.ty(&first.access, block)?;
        let mem = run.mem(ty.scalar())?;
        let offset = i64::from(first.access.offset) + run.start - near;
        let offset = i32::try_from(offset).ok()?;
        let position = (first.at, first.inst);
        let mask = first.access.mask;
        let old = match (mask, first.inactive) {
            (None, _) => None,
            (Some(_), InactiveLanes::Any) => {
                let opcode = Opcode::Undef;
                Some(self.put(func, position, InstData::Nullary { opcode }, ty)?)
            }
            (Some(_), InactiveLanes::Bits(bits)) => {
                // Bits of the narrow element, repeated in the wide one.
                let element = first.access.ty.scalar().mask();
                let bits = if first.narrow() {
                    (bits & element) * (ty.scalar().mask() / element)
                } else {
                    bits
                };
                let opcode = if ty.scalar().is_float() {
                    Opcode::Fconst
                } else {
                    Opcode::Iconst
                };
                Some(self.put(func, position, InstData::Imm { opcode, bits }, ty)?)
            }
        };
        let data = InstData::Load {
            opcode: if block { Opcode::Bload } else { Opcode::Load },
            mem,
            addr: first.access.addr,
            offset,
            mask: mask.into(),
            old: old.into(),
        };
        let mut whole = self.put(func, position, data, ty)?;
        let mut read = ty;
        if let Some(elements) = run.elements(&first.access, ty).filter(|_| first.narrow()) {
            let (opcode, arg) = (Opcode::Bitcast, whole);
            whole = self.put(func, position, InstData::Unary { opcode, arg }, elements)?;
            read = elements;
        }
        for (d, m) in &run.members {
            let (part, region) = run.part(*d, m, read);
            let opcode = Opcode::Rdregion;
            let (arg, index) = (whole, PackedOption::default());
            let data = InstData::RdRegion {
                opcode,
                arg,
                region,
                index,
            };
            *func.dfg.data_mut(m.inst) = if part == m.access.ty {
                data
            } else {
                let arg = self.put(func, (m.at, m.inst), data, part)?;
                let opcode = Opcode::Bitcast;
                InstData::Unary { opcode, arg }
            };
        }
        Some(run.members.len() as u32 - 1)
    }

    /// Makes one store, where the last member was.
    fn store(&mut self, func: &mut Function, run: &MergedAccess) -> u32 {
        self.try_store(func, run).unwrap_or(0)
    }

    fn try_store(&mut self, func: &mut Function, run: &MergedAccess) -> Option<u32> {
        let (_, last) = run.members.iter().max_by_key(|(_, m)| m.at)?;
        // The address of the first bytes; all addresses are defined there.
        let (_, first) = run.members.first()?;
        let (addr, offset) = (first.access.addr, first.access.offset);
        let ty = run.ty(&last.access, false)?;
        let mem = run.mem(ty.scalar())?;
        let position = (last.at, last.inst);
        let opcode = Opcode::Undef;
        let elements = run.elements(&last.access, ty).filter(|_| last.narrow());
        let written = elements.unwrap_or(ty);
        let mut whole = self.put(func, position, InstData::Nullary { opcode }, written)?;
        for (d, m) in &run.members {
            let InstData::Store { args, .. } = *func.dfg.data(m.inst) else {
                return None;
            };
            let (part, region) = run.part(*d, m, written);
            let mut new = args[0];
            if part != m.access.ty {
                let (opcode, arg) = (Opcode::Bitcast, new);
                new = self.put(func, position, InstData::Unary { opcode, arg }, part)?;
            }
            let data = InstData::WrRegion {
                opcode: Opcode::Wrregion,
                args: [whole, new],
                region,
                index: PackedOption::default(),
                mask: PackedOption::default(),
            };
            whole = self.put(func, position, data, written)?;
        }
        if elements.is_some() {
            let (opcode, arg) = (Opcode::Bitcast, whole);
            whole = self.put(func, position, InstData::Unary { opcode, arg }, ty)?;
        }
        for (_, m) in run.members.iter().filter(|(_, m)| m.at != last.at) {
            self.removed.push(m.at);
        }
        *func.dfg.data_mut(last.inst) = InstData::Store {
            opcode: Opcode::Store,
            mem,
            args: [whole, addr],
            offset,
            mask: last.access.mask.into(),
        };
        Some(run.members.len() as u32 - 1)
    }

    fn apply(mut self, func: &mut Function, block: Block) {
        if self.before.is_empty() {
            return;
        }
        // New instructions before the same index keep their order.
        self.before.sort_by_key(|(at, _)| *at);
        self.removed.sort_unstable();
        let (mut before, mut removed) = (
            self.before.into_iter().peekable(),
            self.removed.into_iter().peekable(),
        );
        let mut out = BlockInsts::new();
        for (at, inst) in std::mem::take(func.layout.insts_mut(block))
            .into_iter()
            .enumerate()
        {
            while let Some((_, new)) = before.next_if(|(n, _)| *n == at) {
                out.push(new);
            }
            if removed.next_if_eq(&at).is_none() {
                out.push(inst);
            }
        }
        *func.layout.insts_mut(block) = out;
    }
}
