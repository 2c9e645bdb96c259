//! Unbaling: writes of regions happen in place.
//!
//! A `wrregion` makes a new vector out of an old one. If nothing reads the old one after the
//! write, both are one register and only the region is written. But a bale reads where its last
//! instruction is. So reads that are before a write in the IR may happen after it. They keep the
//! old vector alive, and the whole vector is copied. Here they get out of the way:
//!
//! - A read after the write of elements that the write leaves reads the new vector. Chains of
//!   writes are followed to the newest one.
//! - A read after the write of elements that it replaces moves before it, into a register.
//! - A read before the write whose bale is after it moves after the write, if the elements are
//!   the same in the new vector. Else its bale is taken apart: the read gets a register.
//!
//! Where several reads of one operation would get a register, its result gets one instead. A read
//! by another type reads a bitcast of the new vector. The first write to an undefined vector is one
//! to the vector that its elements come from, if that dies there.
//!
//! A write stays a copy if something else reads the old vector after it, or if taking bales apart
//! takes as many moves as the copy.
//!
//! Input and output: a function before lowering. Order within blocks changes, and reads of regions
//! are cloned.

use super::chains::Chains;
use super::facts::{are_apart, is_operation};
use crate::graph::dominators::DominatorTree;
use crate::graph::loops::Loops;
use crate::ir::cfg::ControlFlow;
use crate::ir::{Block, Function, Inst, InstData, Opcode, Region, Type, Value, ValueDef};
use crate::sized;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Bytes that one move copies.
const MOVE: u32 = 64;
/// Instructions that are looked at to find where the bales of one read are, or what moves with it.
const MAX_BALES: u32 = 64;
/// Writes of a chain that a read moves after.
const MAX_HOPS: u8 = 64;

/// Bitcasts of one vector, by their type.
type Casts = SmallVec<[(Type, Value); 2]>;

/// Order of an instruction in its block: index of an instruction of the input, on which side of it,
/// and index of the instruction itself in the input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
struct OrderKey(u32, Side, u32);

/// Side of an instruction that another one moved to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
enum Side {
    Before,
    #[default]
    Itself,
    /// Bitcasts of its result.
    CastAfter,
    /// Reads of its result.
    ReadsAfter,
    /// Operations on those.
    After,
}

/// Elements that an access of a vector covers.
#[derive(Clone, Copy)]
struct RegionAccess {
    region: Region,
    index: PackedOption<Value>,
    lanes: u32,
    /// Bytes of an element.
    size: u32,
}

impl RegionAccess {
    /// Returns the bytes from the first to the last element, without the variable index.
    fn extent(&self) -> (u32, u32) {
        let start = u32::from(self.region.offset);
        let last = self.region.last_element(self.lanes);
        (start, start + (last + 1) * self.size)
    }

    fn bytes(&self) -> u32 {
        self.lanes * self.size
    }

    /// Returns the byte of a lane, without the variable index.
    fn byte(&self, lane: u32) -> u32 {
        u32::from(self.region.offset) + self.region.element(lane) * self.size
    }

    /// Returns true if both cover the same elements in the same order.
    fn is_same(&self, other: &RegionAccess) -> bool {
        self.index == other.index
            && self.lanes == other.lanes
            && self.size == other.size
            && (0..self.lanes).all(|i| self.byte(i) == other.byte(i))
    }

    /// Returns true if both are known to have no byte in common. `func` tells if a variable index
    /// is one for all lanes.
    fn is_apart(&self, other: &RegionAccess, func: &Function) -> bool {
        let one = |v: Value| func.dfg.ty(v).lanes() == 1;
        if self.index != other.index || !self.index.expand().is_none_or(one) {
            return false;
        }
        let ((a, b), (c, d)) = (self.extent(), other.extent());
        if b <= c || d <= a {
            return true;
        }
        let bytes = |a: &RegionAccess| (0..a.lanes).map(|i| a.byte(i)).collect();
        are_apart(bytes(self), self.size, bytes(other), other.size)
    }
}

/// Returns a function whose writes of regions happen in place where that is possible. Values that
/// must have a register where they are defined are cuts of its chains. `None` if no write may
/// change.
pub(super) fn unbale(func: &Function) -> Option<(Function, Chains)> {
    let insts = || {
        let blocks = func.layout.blocks().iter();
        blocks.flat_map(|&b| func.layout.insts(b)).copied()
    };
    let begins = insts().any(|i| source(func, i).is_some());
    let mut writes = insts().filter_map(|i| candidate(func, i)).peekable();
    if !begins {
        writes.peek()?;
    }
    // Most vectors are put together piece by piece: only the next write reads each.
    let mut uses: SecondaryMap<Value, u32> = sized(func.dfg.num_values());
    for inst in insts() {
        let data = func.dfg.data(inst);
        data.for_each_arg(&func.dfg, |v| uses[v] += 1);
    }
    (begins || writes.any(|(old, _)| uses[old] > 1)).then(|| {
        let mut u = Unbaler::new(func.clone());
        u.run();
        (u.func, u.chains)
    })
}

/// Returns the old vector and the elements that an instruction writes, if it replaces a part of a
/// vector of several GRFs.
fn candidate(func: &Function, inst: Inst) -> Option<(Value, RegionAccess)> {
    let InstData::WrRegion {
        args: [old, part],
        region,
        index,
        ..
    } = *func.dfg.data(inst)
    else {
        return None;
    };
    let (of, ty) = (func.dfg.ty(old), func.dfg.ty(part));
    let access = RegionAccess {
        region,
        index,
        lanes: ty.lanes(),
        size: ty.scalar().bytes(),
    };
    let large = of.bytes() > MOVE && access.bytes() < of.bytes();
    (large && !of.is_pred() && !func.dfg.is_undef(old)).then_some((old, access))
}

/// Returns the vector that a first write to an undefined vector may begin in: one of its type, from
/// which the same elements are read for the value that is written.
fn source(func: &Function, write: Inst) -> Option<Value> {
    let InstData::WrRegion {
        args: [old, part],
        region,
        index,
        ..
    } = *func.dfg.data(write)
    else {
        return None;
    };
    let ty = func.dfg.ty(old);
    if ty.bytes() <= MOVE || ty.is_pred() || !func.dfg.is_undef(old) {
        return None;
    }
    let of = |v: Value| match *func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::RdRegion {
            arg,
            region: from,
            index: by,
            ..
        } if from == region && by == index && func.dfg.ty(arg) == ty => {
            let entry = func.layout.entry();
            let is_free = match func.dfg.def(arg) {
                // Arguments have places of their own.
                ValueDef::Param(block, _) => Some(block) != entry,
                // What messages bring for each lane is read where it came, part by part.
                ValueDef::Result(def, _) => !matches!(
                    func.dfg.data(def).opcode(),
                    Opcode::Load | Opcode::ImageLoad | Opcode::Sample
                ),
            };
            (is_free && !func.dfg.is_undef(arg)).then_some(arg)
        }
        _ => None,
    };
    let def = func.dfg.def_inst(part)?;
    let mut found = of(part);
    if is_operation(func.dfg.data(def).opcode()) {
        let data = func.dfg.data(def);
        data.for_each_arg(&func.dfg, |v| found = found.or_else(|| of(v)));
    }
    found
}

/// Returns true for operations that fold into all their users, however many there are.
fn folds_into_all(op: Opcode) -> bool {
    matches!(
        op,
        Opcode::Rdregion
            | Opcode::Ireduce
            | Opcode::Sextend
            | Opcode::Uextend
            | Opcode::Fneg
            | Opcode::Fabs
    )
}

/// Position of a read, relative to a write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Position {
    Before,
    At,
    After,
}

/// Way in which a read gets out of the way of a write.
enum Change {
    /// The read is after the write, and reads the new vector.
    Redirect(Inst),
    /// A clone of the read after the write reads the new vector, for these users.
    Clone(Inst, SmallVec<[Inst; 4]>),
    /// The instruction moves after the write.
    Sink(Inst),
    /// The read moves before the write, into a register.
    Hoist(Inst),
    /// The value gets a register where it is defined.
    Cut(Value),
}

struct Unbaler {
    func: Function,
    chains: Chains,
    /// Instructions that read each value, or one with the same bytes.
    uses: SecondaryMap<Value, SmallVec<[Inst; 2]>>,
    /// Last instruction that writes a part of each vector.
    last_write: SecondaryMap<Value, PackedOption<Inst>>,
    block: SecondaryMap<Inst, PackedOption<Block>>,
    order: SecondaryMap<Inst, OrderKey>,
    /// Writes that each read has moved after.
    hops: SecondaryMap<Inst, u8>,
    tree: DominatorTree<Block>,
    loops: Loops<Block>,
}

impl Unbaler {
    fn new(func: Function) -> Unbaler {
        let (insts, values) = (func.dfg.num_insts(), func.dfg.num_values());
        let cfg = ControlFlow::new(&func);
        let tree = cfg.dominator_tree();
        let preds = |b: Block| cfg.preds(b).iter().map(|p| p.0);
        let mut u = Unbaler {
            chains: Chains::new(&func),
            uses: sized(values),
            last_write: sized(values),
            block: sized(insts),
            order: sized(insts),
            hops: SecondaryMap::new(),
            loops: Loops::new(func.dfg.num_blocks(), cfg.order(), &tree, preds),
            tree,
            func,
        };
        for &block in u.func.layout.blocks() {
            for (n, &inst) in u.func.layout.insts(block).iter().enumerate() {
                u.block[inst] = block.into();
                u.order[inst] = OrderKey(n as u32, Side::Itself, n as u32);
                if let Some((old, _)) = candidate(&u.func, inst) {
                    u.last_write[u.chains.root(old)] = inst.into();
                }
                let data = u.func.dfg.data(inst);
                // Uses of its result are those of its operand.
                if data.opcode() == Opcode::Bitcast {
                    continue;
                }
                data.for_each_arg(&u.func.dfg, |v| {
                    let v = u.chains.root(v);
                    if u.uses[v].last() != Some(&inst) {
                        u.uses[v].push(inst);
                    }
                });
            }
        }
        u
    }

    fn run(&mut self) {
        for block in self.func.layout.blocks().to_vec() {
            for write in self.func.layout.insts(block).to_vec() {
                let undefined = self.begin_in_source(write);
                let moves = |c: &Change| matches!(c, Change::Hoist(_) | Change::Cut(_));
                // There is no copy to save.
                let changes = self.changes(write);
                let changes = changes.filter(|c| undefined.is_none() || !c.iter().any(moves));
                let Some(changes) = changes else {
                    if let Some(old) = undefined {
                        self.begin_again(write, old);
                    }
                    continue;
                };
                let mut casts = SmallVec::new();
                for change in changes {
                    self.apply(write, change, &mut casts);
                }
                self.forget_moved_reads(write);
            }
        }
        for block in self.func.layout.blocks().to_vec() {
            let order = &self.order;
            self.func.layout.insts_mut(block).sort_by_key(|i| order[*i]);
        }
    }

    /// Returns the value that has the bytes of another one and is no result of `bitcast`.
    fn root(&self, v: Value) -> Value {
        self.chains.root(v)
    }

    /// Returns the position of an instruction relative to a write. `None` if it is in a block
    /// beside that of the write.
    fn position(&self, inst: Inst, write: Inst) -> Option<Position> {
        let (of, to) = (self.block[inst].expand()?, self.block[write].expand()?);
        if of == to {
            return Some(match self.order[inst].cmp(&self.order[write]) {
                Ordering::Less => Position::Before,
                Ordering::Equal => Position::At,
                Ordering::Greater => Position::After,
            });
        }
        if self.tree.dominates(to, of) {
            return Some(Position::After);
        }
        self.tree.dominates(of, to).then_some(Position::Before)
    }

    /// Returns the elements that an instruction reads of a vector, if it reads a region.
    fn read(&self, inst: Inst, of: Value) -> Option<RegionAccess> {
        let InstData::RdRegion {
            arg, region, index, ..
        } = *self.func.dfg.data(inst)
        else {
            return None;
        };
        let ty = self.func.dfg.ty(self.func.dfg.first_result(inst)?);
        (self.root(arg) == of).then_some(RegionAccess {
            region,
            index,
            lanes: ty.lanes(),
            size: ty.scalar().bytes(),
        })
    }

    /// Returns true if an instruction may execute where one that uses its result does.
    fn folds(&self, inst: Inst) -> bool {
        let Some(v) = self.func.dfg.first_result(inst) else {
            return false;
        };
        let op = self.func.dfg.data(inst).opcode();
        let near = || match self.uses[v][..] {
            [user] => self.block[user] == self.block[inst],
            _ => false,
        };
        !self.func.dfg.ty(v).is_pred()
            && !self.chains.cut.contains(v)
            && (folds_into_all(op) || is_operation(op) && near())
    }

    /// Returns the last position where the bales of a value's users are. `None` if that is not
    /// known.
    fn baled(&self, v: Value, write: Inst, budget: &mut u32) -> Option<Position> {
        let mut last = Position::Before;
        for &user in &self.uses[self.root(v)] {
            *budget = budget.checked_sub(1)?;
            let mut at = self.position(user, write)?;
            if at == Position::Before
                && self.folds(user)
                && let Some(v) = self.func.dfg.first_result(user)
            {
                at = self.baled(v, write, budget)?;
            }
            last = last.max(at);
        }
        Some(last)
    }

    /// Makes a first write to an undefined vector one to the vector that its elements come from, if
    /// that has no other write. Returns the undefined vector.
    fn begin_in_source(&mut self, write: Inst) -> Option<Value> {
        let vector = source(&self.func, write)?;
        let root = self.root(vector);
        if self.last_write[root].is_some() || self.uses[root].len() > MAX_BALES as usize {
            return None;
        }
        self.last_write[root] = write.into();
        self.uses[root].push(write);
        self.set_old(write, vector)
    }

    /// Undoes [`Self::begin_in_source`].
    fn begin_again(&mut self, write: Inst, undefined: Value) {
        if let Some(vector) = self.set_old(write, undefined) {
            let root = self.root(vector);
            self.last_write[root] = None.into();
            self.uses[root].retain(|u| *u != write);
        }
    }

    /// Replaces the old vector of a write, and returns it.
    fn set_old(&mut self, write: Inst, vector: Value) -> Option<Value> {
        match self.func.dfg.data_mut(write) {
            InstData::WrRegion { args: [old, _], .. } => Some(std::mem::replace(old, vector)),
            _ => None,
        }
    }

    /// Cuts the result of an operation in place of several of its operands, if that takes fewer
    /// moves.
    fn cut_results(&self, write: Inst, out: &mut Vec<Change>, moves: &mut u32) {
        let mut by: SmallVec<[(Inst, SmallVec<[Value; 2]>); 4]> = SmallVec::new();
        for change in out.iter().take(MAX_BALES as usize) {
            if let Change::Cut(v) = *change
                && let [user] = self.uses[v][..]
                && self.position(user, write) == Some(Position::Before)
                && self.folds(user)
            {
                match by.iter_mut().find(|(u, _)| *u == user) {
                    Some((_, all)) => all.push(v),
                    None => by.push((user, SmallVec::from_slice(&[v]))),
                }
            }
        }
        let cost = |v: Value| self.func.dfg.ty(v).bytes().div_ceil(MOVE);
        for (user, all) in by {
            let Some(result) = self.func.dfg.first_result(user) else {
                continue;
            };
            let (before, after) = (all.iter().map(|v| cost(*v)).sum::<u32>(), cost(result));
            if after < before {
                out.retain(|c| !matches!(c, Change::Cut(v) if all.contains(v)));
                out.push(Change::Cut(result));
                *moves = *moves - before + after;
            }
        }
    }

    /// Returns the changes after which nothing reads the old vector after a write. `None` if there
    /// are none, or if they are not worth it.
    fn changes(&self, write: Inst) -> Option<Vec<Change>> {
        let (arg, access) = candidate(&self.func, write)?;
        let old = self.root(arg);
        if self.last_write[old].expand() != Some(write) || !self.is_in_loop_of(write, old) {
            return None;
        }
        let mut out = Vec::new();
        let mut moves = 0;
        for &inst in &self.uses[old] {
            if inst == write {
                continue;
            }
            let position = self.position(inst, write)?;
            let result = self.func.dfg.first_result(inst);
            let cost = result.map_or(0, |v| self.func.dfg.ty(v).bytes().div_ceil(MOVE));
            let read = self.read(inst, old);
            let apart =
                read.is_some_and(|r| r.is_apart(&access, &self.func)) && self.hops[inst] < MAX_HOPS;
            if position == Position::After {
                if apart {
                    out.push(Change::Redirect(inst));
                } else if read.is_some() && self.may_hoist(inst, write) {
                    moves += cost;
                    out.push(Change::Hoist(inst));
                } else {
                    return None;
                }
                continue;
            }
            let Some(v) = result else { continue };
            // Others read it where they are.
            if read.is_none() && !self.folds(inst) {
                continue;
            }
            match self.baled(v, write, &mut { MAX_BALES })? {
                Position::Before => {}
                Position::At if apart || read.is_some_and(|r| r.is_same(&access)) => {}
                Position::After if apart => self.follow(inst, v, write, &mut out, &mut moves)?,
                _ => {
                    moves += cost;
                    out.push(Change::Cut(v));
                }
            }
        }
        self.cut_results(write, &mut out, &mut moves);
        let whole = self.func.dfg.ty(old).bytes().div_ceil(MOVE);
        (moves < whole).then_some(out)
    }

    /// Returns true if each loop around a write is also around the definition of a vector. In other
    /// loops, the next iteration needs the old vector.
    fn is_in_loop_of(&self, write: Inst, old: Value) -> bool {
        let def = match self.func.dfg.def(old) {
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Result(inst, _) => self.block[inst].expand(),
        };
        let (Some(def), Some(block)) = (def, self.block[write].expand()) else {
            return false;
        };
        let Some(of) = self.loops.of(block) else {
            return true;
        };
        let mut around = self.loops.of(def);
        while let Some(l) = around
            && l != of
        {
            around = self.loops.loops[l].parent.expand();
        }
        around.is_some()
    }

    /// Returns true if a read may move before a write in its block.
    fn may_hoist(&self, read: Inst, write: Inst) -> bool {
        let InstData::RdRegion { index, arg, .. } = *self.func.dfg.data(read) else {
            return false;
        };
        let ready = |v: Value| match self.func.dfg.def_inst(v) {
            None => true,
            Some(def) => {
                self.block[def] != self.block[write] || self.order[def] < self.order[write]
            }
        };
        self.block[read] == self.block[write] && ready(arg) && index.expand().is_none_or(ready)
    }

    /// Plans that users of a read whose bales are after a write read the new vector there.
    fn follow(
        &self,
        read: Inst,
        v: Value,
        write: Inst,
        out: &mut Vec<Change>,
        moves: &mut u32,
    ) -> Option<()> {
        let mut users = SmallVec::new();
        for &user in &self.uses[v] {
            let mut direct = false;
            let data = self.func.dfg.data(user);
            data.for_each_arg(&self.func.dfg, |arg| direct |= arg == v);
            if !direct {
                // A `bitcast` is in between.
                return None;
            }
            match self.position(user, write)? {
                Position::After => users.push(user),
                Position::Before if self.folds(user) => {
                    let result = self.func.dfg.first_result(user)?;
                    if self.baled(result, write, &mut { MAX_BALES })? != Position::After {
                        continue;
                    }
                    if self.sinks(user, write, out, &mut { MAX_BALES }) {
                        users.push(user);
                    } else {
                        *moves += self.func.dfg.ty(result).bytes().div_ceil(MOVE);
                        out.push(Change::Cut(result));
                    }
                }
                _ => {}
            }
        }
        out.push(Change::Clone(read, users));
        Some(())
    }

    /// Plans that an instruction moves after a write, with those that it folds into. Returns false
    /// if it must stay.
    fn sinks(&self, inst: Inst, write: Inst, out: &mut Vec<Change>, budget: &mut u32) -> bool {
        let data = self.func.dfg.data(inst);
        let (Some(v), Some(left)) = (self.func.dfg.first_result(inst), budget.checked_sub(1))
        else {
            return false;
        };
        *budget = left;
        let mut stays = data.opcode().info().effect || self.block[inst] != self.block[write];
        // Another write may be in place of an operand.
        data.for_each_arg(&self.func.dfg, |v| {
            stays |= self.last_write[self.root(v)].is_some();
        });
        let len = out.len();
        let ok = !stays
            && self.uses[v]
                .iter()
                .all(|&user| match self.position(user, write) {
                    Some(Position::After) => true,
                    Some(Position::Before) => self.sinks(user, write, out, budget),
                    _ => false,
                });
        if ok {
            out.push(Change::Sink(inst));
        } else {
            out.truncate(len);
        }
        ok
    }

    /// Applies a change. `casts` are the bitcasts of the new vector so far.
    fn apply(&mut self, write: Inst, change: Change, casts: &mut Casts) {
        let Some(new) = self.func.dfg.first_result(write) else {
            return;
        };
        let OrderKey(at, ..) = self.order[write];
        match change {
            Change::Redirect(read) => {
                self.reads(read, write, new, casts);
                self.hops[read] += 1;
            }
            Change::Clone(read, users) => {
                let Some(v) = self.func.dfg.first_result(read) else {
                    return;
                };
                let (data, ty) = (*self.func.dfg.data(read), self.func.dfg.ty(v));
                let (clone, to) = self.func.make_like(read, data, ty);
                let Some(block) = self.block[write].expand() else {
                    return;
                };
                self.func.layout.insts_mut(block).push(clone);
                self.block[clone] = block.into();
                self.order[clone] = OrderKey(at, Side::ReadsAfter, self.order[read].2);
                self.hops[clone] = self.hops[read] + 1;
                self.reads(clone, write, new, casts);
                for user in users {
                    self.func
                        .dfg
                        .map_args(user, |arg| if arg == v { to } else { arg });
                    self.uses[v].retain(|u| *u != user);
                    self.uses[to].push(user);
                }
            }
            Change::Sink(inst) => {
                self.order[inst] = OrderKey(at, Side::After, self.order[inst].2);
            }
            Change::Hoist(read) => {
                self.order[read] = OrderKey(at, Side::Before, self.order[read].2);
                if let Some(v) = self.func.dfg.first_result(read) {
                    self.chains.cut.insert(v);
                }
            }
            Change::Cut(v) => {
                self.chains.cut.insert(v);
            }
        }
    }

    /// Makes an instruction read a region of the new vector of a write, by its bitcast if it reads
    /// another type. It stays in the list of the former one's uses.
    fn reads(&mut self, read: Inst, write: Inst, new: Value, casts: &mut Casts) {
        let InstData::RdRegion { arg, .. } = *self.func.dfg.data(read) else {
            return;
        };
        let ty = self.func.dfg.ty(arg);
        let vector = self.cast(write, new, ty, casts);
        if let InstData::RdRegion { arg, .. } = self.func.dfg.data_mut(read) {
            *arg = vector;
            let vector = self.root(vector);
            self.uses[vector].push(read);
        }
    }

    /// Returns the new vector of a write as a type.
    fn cast(&mut self, write: Inst, new: Value, ty: Type, casts: &mut Casts) -> Value {
        if self.func.dfg.ty(new) == ty {
            return new;
        }
        if let Some((_, cast)) = casts.iter().find(|c| c.0 == ty) {
            return *cast;
        }
        let data = InstData::Unary {
            opcode: Opcode::Bitcast,
            arg: new,
        };
        let (inst, to) = self.func.make_like(write, data, ty);
        if let Some(block) = self.block[write].expand() {
            self.func.layout.insts_mut(block).push(inst);
        }
        self.block[inst] = self.block[write];
        let OrderKey(at, _, number) = self.order[write];
        self.order[inst] = OrderKey(at, Side::CastAfter, number);
        self.chains.bytes_of[to] = self.root(new).into();
        casts.push((ty, to));
        to
    }

    /// Removes instructions that read the new vector of a write from the uses of the old one.
    fn forget_moved_reads(&mut self, write: Inst) {
        let (Some((old, _)), Some(new)) = (
            candidate(&self.func, write),
            self.func.dfg.first_result(write),
        ) else {
            return;
        };
        let (old, new) = (self.root(old), self.root(new));
        let mut uses = std::mem::take(&mut self.uses[old]);
        uses.retain(|u| self.read(*u, new).is_none());
        self.uses[old] = uses;
    }
}
