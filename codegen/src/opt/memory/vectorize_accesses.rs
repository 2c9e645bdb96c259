//! Neighbouring accesses as one.
//!
//! Loads of a block whose addresses are constants apart in each lane become one: by lanes up to
//! four dwords that follow on each other, as untyped messages have them; at one address a block of
//! owords. The load stands where the first of them stood, if nothing between may write what those
//! behind it read. Stores by lanes become one where the last of them stood, if nothing between may
//! read or write where they write. Bytes and words of a lane that follow on each other become a
//! word or a dword, wherever in memory that is: their message takes any address.
//!
//! A block at one address may read bytes that nobody asked for: those between two that were, and of
//! surfaces, which end where they end, those up to the message's size. So may a dword of bytes and
//! words: those between.
//!
//! Needs: IR that verifies. Makes: the same. Work: each access is compared with those of [`OPEN`]
//! groups of at most [`MEMBERS`]: linear.

use super::affine::Sums;
use super::alias_analysis::{Effect, Place};
use crate::ir::{
    Block, BlockInsts, Function, Inst, InstData, MemFlags, Opcode, Region, Scalar, Space, Type,
    Value,
};
use crate::opt::{Facts, State};
use crate::target::Target;
use cranelift_entity::packed_option::PackedOption;

/// Groups that accesses may still join.
const OPEN: usize = 16;
/// Accesses of a group, and others that those that join it have to be apart from.
const MEMBERS: usize = 32;
/// Bytes of an oword.
const OWORD: i64 = 16;
/// Bytes of the longest block message.
const LONGEST: i64 = 8 * OWORD;
/// Bytes of a dword.
const DWORD: i64 = 4;
/// The most bytes a lane of one message by lanes.
const MOST_A_LANE: i64 = 4 * DWORD;

/// Merges loads; gives how many fewer there are.
pub(crate) fn loads(func: &mut Function, facts: &Facts<'_>, state: &mut State) -> u32 {
    merge(func, state, facts.target, false)
}

/// Merges stores; gives how many fewer there are.
pub(crate) fn stores(func: &mut Function, facts: &Facts<'_>, state: &mut State) -> u32 {
    merge(func, state, facts.target, true)
}

fn merge(func: &mut Function, state: &mut State, target: &Target, writes: bool) -> u32 {
    let cfg = state.flow.of(func);
    let mut sums = state.sums.of(func);
    let mut changed = 0;
    let mut groups = Groups {
        target,
        writes,
        open: Vec::new(),
        done: Vec::new(),
        free: Vec::new(),
    };
    for &block in cfg.order() {
        for (at, &inst) in func.layout.insts(block).iter().enumerate() {
            groups.meet(func, at, inst, &mut sums);
        }
        groups.close(|_| true);
        let mut edits = Edits::default();
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
    state.sums.keep(func, sums, changed);
    changed
}

/// What lanes that are off have in what a load gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Off {
    /// No lane is off, or it does not matter.
    Any,
    /// These bits.
    Bits(u64),
}

/// An access of a group.
#[derive(Clone, Debug)]
struct Member {
    /// Its number in the block.
    at: usize,
    inst: Inst,
    place: Place,
    off: Off,
}

impl Member {
    /// Whether it is of neighbours at one address: a lane alone is too.
    fn block(&self) -> bool {
        let p = &self.place;
        p.block || p.lanes == 1 && p.mask.is_none() && p.ty.lanes() == 1
    }

    /// Whether it is of a kind that is merged.
    fn merges(&self, target: &Target) -> bool {
        let p = &self.place;
        let size = p.ty.scalar().bytes();
        let plain = !p.mem.volatile && (self.narrow() || p.mem.alignment(size) >= 4);
        if self.block() {
            let reaches = matches!(p.mem.space, Space::Global | Space::Surface(_));
            return plain && reaches && size >= 4 && !p.writes;
        }
        // As many as a message has, so that its data is the value as it is.
        let narrow = p.mem.space == Space::Global && !target.split_sends();
        let channels = p.lanes == 8 || matches!(p.lanes, 16 | 32) && !narrow;
        plain && size <= 4 && channels && p.ty.lanes() == p.lanes
    }

    /// Whether it is of bytes or words of lanes.
    fn narrow(&self) -> bool {
        !self.block() && self.place.ty.scalar().bytes() < DWORD as u32
    }

    /// Whether another access may be one with it.
    fn joins(&self, other: &Member) -> bool {
        let (p, q) = (&self.place, &other.place);
        let size = |m: &Member| m.narrow().then_some(m.place.bytes);
        let alike = self.block() == other.block()
            && size(self) == size(other)
            && p.mask == q.mask
            && p.lanes == q.lanes
            && p.mem.constant == q.mem.constant
            && self.off == other.off;
        alike && p.beside(q) && p.distance(q).unsigned_abs() < LONGEST as u64
    }
}

/// Accesses that may become one, and those between that others which join have to be apart from.
#[derive(Debug, Default)]
struct Group {
    members: Vec<Member>,
    between: Vec<Place>,
}

/// Accesses that become one.
struct Run {
    /// Those, with the bytes from the run's start.
    members: Vec<(i64, Member)>,
    /// Where it begins, in bytes from its first member in the block.
    start: i64,
    /// Bytes of it, or of a lane of it.
    bytes: i64,
}

/// The groups of a block.
struct Groups<'t> {
    target: &'t Target,
    writes: bool,
    open: Vec<Group>,
    done: Vec<Group>,
    /// Groups that came to nothing, whose memory the next ones take.
    free: Vec<Group>,
}

impl Groups<'_> {
    /// The next instruction.
    fn meet(&mut self, func: &Function, at: usize, inst: Inst, sums: &mut Sums) {
        let data = func.dfg.data(inst);
        let Some(place) = Place::of(func, inst, sums) else {
            let effect = Effect::of(data);
            if effect != Effect::None {
                self.close(|g| g.members.iter().any(|m| effect.stops_place(&m.place)));
            }
            return;
        };
        if place.mem.volatile {
            return self.close(|g| g.members.iter().any(|m| !m.place.mem.constant));
        }
        let atomic = matches!(data, InstData::Atomic { .. });
        let off = off_lanes(func, data);
        let joins = place.writes == self.writes && !atomic;
        let member = off.map(|off| Member {
            at,
            inst,
            place: place.clone(),
            off,
        });
        let member = member.filter(|m| joins && m.merges(self.target));
        let mut joined = None;
        if let Some(member) = &member {
            joined = self.open.iter().position(|g| g.takes(member));
        }
        match self.writes {
            // What was to go down past it, and may not.
            true => {
                let own = joined.map(|n| self.open.remove(n));
                self.close(|g| g.members.iter().any(|m| !m.place.apart(&place)));
                if let Some(own) = own {
                    self.open.push(own);
                    joined = Some(self.open.len() - 1);
                }
            }
            false if place.writes => {
                for g in &mut self.open {
                    g.between.push(place.clone());
                }
                self.close(|g| g.between.len() > MEMBERS);
            }
            false => {}
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

    /// Lets nobody join a group any more.
    fn end(&mut self, n: usize) {
        let mut group = self.open.remove(n);
        if group.members.len() > 1 {
            return self.done.push(group);
        }
        group.members.clear();
        group.between.clear();
        self.free.push(group);
    }

    /// Lets nobody join some groups any more.
    fn close(&mut self, which: impl Fn(&Group) -> bool) {
        let mut n = 0;
        while let Some(g) = self.open.get(n) {
            if which(g) { self.end(n) } else { n += 1 }
        }
    }
}

impl Group {
    fn takes(&self, m: &Member) -> bool {
        let fits = self.members.first().is_some_and(|first| first.joins(m));
        let free = m.place.mem.constant || self.between.iter().all(|p| p.apart(&m.place));
        // A store stays behind those of the group that write the same bytes.
        let order = !m.place.writes || self.members.iter().all(|o| o.place.apart(&m.place));
        fits && free && order && self.members.len() < MEMBERS
    }

    /// What of it becomes one.
    fn runs(self, writes: bool) -> Vec<Run> {
        let Some(first) = self.members.first().cloned() else {
            return Vec::new();
        };
        let block = first.block();
        let most = match (block, first.narrow()) {
            (true, _) => LONGEST,
            (false, true) => DWORD,
            (false, false) => MOST_A_LANE,
        };
        // Bytes between two accesses to a surface come for nothing, and those between two of a
        // dword.
        let apart = !writes && (block || first.narrow());
        let hole = match (block, first.place.mem.space) {
            (true, Space::Surface(_)) => OWORD - DWORD,
            (false, _) if apart => DWORD,
            _ => 0,
        };
        let mut members: Vec<(i64, Member)> = self
            .members
            .into_iter()
            .map(|m| (first.place.distance(&m.place), m))
            .collect();
        members.sort_by_key(|(d, m)| (*d, m.at));
        let mut runs: Vec<Run> = Vec::new();
        for (d, m) in members {
            let bytes = i64::from(m.place.bytes);
            if let Some(run) = runs.last_mut() {
                let end = run.start + run.bytes;
                let next =
                    d <= end + hole && (d == end || block || apart && d > end || d + bytes <= end);
                let all = (d + bytes - run.start).max(run.bytes);
                // As promised, unless what both promise cannot be.
                let unit = if m.narrow() { bytes } else { DWORD };
                let next = next && (d - run.start) % unit == 0;
                if next && all <= most && !(writes && d < end) {
                    run.members.push((d, m));
                    run.bytes = all;
                    continue;
                }
            }
            let (start, members) = (d, vec![(d, m)]);
            runs.push(Run {
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

impl Run {
    /// Makes a block's size that of messages: of surfaces more bytes, else fewer.
    fn round(&mut self, block: bool) {
        let Some((_, first)) = self.members.first() else {
            return;
        };
        match (block, first.place.mem.space) {
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
                let end = |(d, m): &(i64, Member)| d - self.start + i64::from(m.place.bytes);
                let ends = (0..self.members.len()).map(|n| {
                    let all = self.members.iter().take(n + 1).map(end);
                    all.max().unwrap_or(0)
                });
                // The most that is whole owords.
                let whole = ends.enumerate().rfind(|(_, e)| e % OWORD == 0);
                let (count, bytes) = whole.map_or((0, 0), |(n, e)| (n + 1, e));
                self.members.truncate(count);
                self.bytes = bytes;
            }
        }
    }

    /// The type of one element of all.
    fn scalar(&self) -> Scalar {
        if self.members.iter().any(|(_, m)| m.narrow()) {
            return match self.bytes {
                DWORD => Scalar::I32,
                // The same byte, several times.
                1 => Scalar::I8,
                _ => Scalar::I16,
            };
        }
        let mut all = self.members.iter().map(|(_, m)| m.place.ty.scalar());
        let first = all.next().unwrap_or(Scalar::I32);
        // Quadwords may be dwords apart.
        let bytes = i64::from(first.bytes());
        let mut at = self.members.iter().map(|(d, _)| d - self.start);
        if all.all(|s| s == first) && at.all(|d| d % bytes == 0) {
            first
        } else {
            Scalar::I32
        }
    }

    /// The type of all elements.
    fn ty(&self, first: &Place, block: bool) -> Option<Type> {
        let scalar = self.scalar();
        let lanes = if block { 1 } else { first.lanes };
        Type::new(scalar, lanes * self.bytes as u32 / scalar.bytes().max(1))
    }

    /// All that as elements of a member's size, if that is another.
    fn elements(&self, first: &Place, whole: Type) -> Option<Type> {
        let scalar = first.ty.scalar();
        let each = whole.scalar().bytes() / scalar.bytes().max(1);
        (each > 1).then(|| Type::clamped(scalar, whole.lanes() * each))
    }

    /// Where in that a member's elements are.
    fn part(&self, d: i64, m: &Member, whole: Type) -> (Type, Region) {
        if m.narrow() {
            let each = self.bytes as u32 / m.place.bytes.max(1);
            let region = Region::new(each as u16, 1, 0, (d - self.start) as u16);
            return (whole.by(m.place.lanes), region);
        }
        let scalar = whole.scalar();
        let ty = Type::clamped(scalar, m.place.ty.bytes() / scalar.bytes().max(1));
        let lanes = if m.block() {
            1
        } else {
            i64::from(m.place.lanes)
        };
        let at = (d - self.start) * lanes;
        (ty, Region::contiguous(ty.lanes() as u16, at as u16))
    }

    /// The promises for the whole, which begins where its first member does.
    fn mem(&self, scalar: Scalar) -> Option<MemFlags> {
        let (_, m) = self.members.iter().find(|(d, _)| *d == self.start)?;
        let size = m.place.ty.scalar().bytes();
        let align = m.place.mem.alignment(size);
        let mem = m.place.mem;
        Some(if align == scalar.bytes() {
            MemFlags { align: 0, ..mem }
        } else {
            mem.aligned(align)
        })
    }
}

impl Effect {
    /// Whether an access may not be moved over it.
    fn stops_place(self, place: &Place) -> bool {
        self.stops(place.mem) && (place.writes || !place.mem.constant)
    }
}

/// What lanes that are off get of a load: `None` where that is a value that is not known.
pub(super) fn off_lanes(func: &Function, data: &InstData) -> Option<Off> {
    let InstData::Load { old, .. } = *data else {
        return Some(Off::Any);
    };
    let Some(old) = old.expand() else {
        return Some(Off::Any);
    };
    match *func.dfg.data(func.dfg.def_inst(old)?) {
        InstData::Imm { bits, .. } => Some(Off::Bits(bits)),
        InstData::Nullary {
            opcode: Opcode::Undef,
        } => Some(Off::Any),
        _ => None,
    }
}

/// What changes in a block.
#[derive(Default)]
struct Edits {
    /// Instructions, each with the number of what it is put in front of.
    before: Vec<(usize, Inst)>,
    removed: Vec<usize>,
}

impl Edits {
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

    /// One load for a run's; each becomes its part of it.
    fn load(&mut self, func: &mut Function, run: &Run) -> u32 {
        self.try_load(func, run).unwrap_or(0)
    }

    fn try_load(&mut self, func: &mut Function, run: &Run) -> Option<u32> {
        let (near, first) = run.members.iter().min_by_key(|(_, m)| m.at)?;
        let block = first.block();
        let ty = run.ty(&first.place, block)?;
        let mem = run.mem(ty.scalar())?;
        let offset = i64::from(first.place.offset) + run.start - near;
        let offset = i32::try_from(offset).ok()?;
        let place = (first.at, first.inst);
        let mask = first.place.mask;
        let old = match (mask, first.off) {
            (None, _) => None,
            (Some(_), Off::Any) => {
                let opcode = Opcode::Undef;
                Some(self.put(func, place, InstData::Nullary { opcode }, ty)?)
            }
            (Some(_), Off::Bits(bits)) => {
                // The element's bits in each part of a larger one.
                let element = first.place.ty.scalar().mask();
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
                Some(self.put(func, place, InstData::Imm { opcode, bits }, ty)?)
            }
        };
        let data = InstData::Load {
            opcode: if block { Opcode::Bload } else { Opcode::Load },
            mem,
            addr: first.place.addr,
            offset,
            mask: mask.into(),
            old: old.into(),
        };
        let mut whole = self.put(func, place, data, ty)?;
        let mut read = ty;
        if let Some(elements) = run.elements(&first.place, ty).filter(|_| first.narrow()) {
            let (opcode, arg) = (Opcode::Bitcast, whole);
            whole = self.put(func, place, InstData::Unary { opcode, arg }, elements)?;
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
            *func.dfg.data_mut(m.inst) = if part == m.place.ty {
                data
            } else {
                let arg = self.put(func, (m.at, m.inst), data, part)?;
                let opcode = Opcode::Bitcast;
                InstData::Unary { opcode, arg }
            };
        }
        Some(run.members.len() as u32 - 1)
    }

    /// One store for a run's, where the last of them is.
    fn store(&mut self, func: &mut Function, run: &Run) -> u32 {
        self.try_store(func, run).unwrap_or(0)
    }

    fn try_store(&mut self, func: &mut Function, run: &Run) -> Option<u32> {
        let (_, last) = run.members.iter().max_by_key(|(_, m)| m.at)?;
        // All addresses are there by then: that of the first bytes.
        let (_, first) = run.members.first()?;
        let (addr, offset) = (first.place.addr, first.place.offset);
        let ty = run.ty(&last.place, false)?;
        let mem = run.mem(ty.scalar())?;
        let place = (last.at, last.inst);
        let opcode = Opcode::Undef;
        let elements = run.elements(&last.place, ty).filter(|_| last.narrow());
        let written = elements.unwrap_or(ty);
        let mut whole = self.put(func, place, InstData::Nullary { opcode }, written)?;
        for (d, m) in &run.members {
            let InstData::Store { args, .. } = *func.dfg.data(m.inst) else {
                return None;
            };
            let (part, region) = run.part(*d, m, written);
            let mut new = args[0];
            if part != m.place.ty {
                let (opcode, arg) = (Opcode::Bitcast, new);
                new = self.put(func, place, InstData::Unary { opcode, arg }, part)?;
            }
            let data = InstData::WrRegion {
                opcode: Opcode::Wrregion,
                args: [whole, new],
                region,
                index: PackedOption::default(),
                mask: PackedOption::default(),
            };
            whole = self.put(func, place, data, written)?;
        }
        if elements.is_some() {
            let (opcode, arg) = (Opcode::Bitcast, whole);
            whole = self.put(func, place, InstData::Unary { opcode, arg }, ty)?;
        }
        for (_, m) in run.members.iter().filter(|(_, m)| m.at != last.at) {
            self.removed.push(m.at);
        }
        *func.dfg.data_mut(last.inst) = InstData::Store {
            opcode: Opcode::Store,
            mem,
            args: [whole, addr],
            offset,
            mask: last.place.mask.into(),
        };
        Some(run.members.len() as u32 - 1)
    }

    fn apply(mut self, func: &mut Function, block: Block) {
        if self.before.is_empty() {
            return;
        }
        // Those in front of one instruction stay in their order.
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
