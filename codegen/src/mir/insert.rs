//! Insertion of instructions into machine code and their removal.

use super::{MInst, VCode, VReg};

/// Origin of an instruction that was inserted.
pub(crate) const NEW: u32 = u32::MAX;

/// Instruction to insert between two others.
pub(crate) struct Inserted {
    /// Index of the instruction that follows it.
    pub(crate) at: usize,
    /// True if it belongs to the instruction before it: it has the same source location and is in
    /// the same block.
    pub(crate) after: bool,
    /// The instruction.
    pub(crate) inst: MInst,
}

impl Inserted {
    /// Returns true if it comes before what begins at an index: a block, or a run of one source
    /// location.
    fn precedes(&self, place: usize) -> bool {
        self.at < place || self.at == place && self.after
    }
}

/// Returns the start of the sequence around a call at `at` that nothing may be inserted into, or
/// `at`.
///
/// The sequence is the reads that keep the call's arguments, the call, and the starts of its
/// results. Between them values are in registers of the routine, which liveness does not know.
/// `stays` returns true for such registers: a start of any other register is not part of the call.
pub(crate) fn together(code: &VCode, at: usize, stays: impl Fn(VReg) -> bool) -> usize {
    let inst = |n: usize| code.insts.get(n);
    let result = |m: Option<&MInst>| matches!(m, Some(MInst::Start { dst }) if stays(*dst));
    let read = |m: Option<&MInst>| matches!(m, Some(MInst::Touch { write: false, .. }));
    let mut n = at;
    while read(inst(n)) {
        n += 1;
    }
    while result(inst(n)) && n > 0 {
        n -= 1;
    }
    if !matches!(inst(n), Some(MInst::Call { .. })) {
        return at;
    }
    while n > 0 && read(inst(n - 1)) {
        n -= 1;
    }
    n
}

/// Moves insertions at a call to before the reads that mark the registers of its routine. These
/// reads must stay right before the call.
fn before_calls(code: &VCode, new: &mut [Inserted]) {
    for m in new.iter_mut().filter(|m| !m.after) {
        m.at = together(code, m.at, |_| false);
    }
}

/// Inserts instructions, in order. `origin` has a number for each old instruction. New ones get
/// [`NEW`].
pub(crate) fn insert_into(code: &mut VCode, mut new: Vec<Inserted>, origin: &mut Vec<u32>) {
    before_calls(code, &mut new);
    number(&new, origin);
    put(code, &new);
}

/// Extends the numbers of instructions by [`NEW`] for each inserted one.
fn number(new: &[Inserted], origin: &mut Vec<u32>) {
    let old = origin.len();
    origin.resize(old + new.len(), NEW);
    let (mut from, mut to) = (old, origin.len());
    for m in new.iter().rev() {
        to -= from - m.at;
        origin.copy_within(m.at..from, to);
        (from, to) = (m.at, to - 1);
        origin[to] = NEW;
    }
}

/// Inserts instructions, in order.
pub(crate) fn insert(code: &mut VCode, mut new: Vec<Inserted>) {
    before_calls(code, &mut new);
    put(code, &new);
}

/// Returns a copy of the code with instructions inserted, in order, as [`insert_into`] does, and
/// the new index of each old instruction.
pub(crate) fn with(
    code: &VCode,
    mut new: Vec<Inserted>,
    origin: &mut Vec<u32>,
) -> (VCode, Vec<u32>) {
    before_calls(code, &mut new);
    number(&new, origin);
    let mut insts = Vec::with_capacity(code.insts.len() + new.len());
    let mut moved = Vec::with_capacity(code.insts.len());
    let mut done = 0;
    for m in &new {
        moved.extend((done..m.at).map(|i| (i - done + insts.len()) as u32));
        insts.extend_from_slice(&code.insts[done..m.at]);
        insts.push(m.inst);
        done = m.at;
    }
    moved.extend((done..code.insts.len()).map(|i| (i - done + insts.len()) as u32));
    insts.extend_from_slice(&code.insts[done..]);
    let mut out = VCode {
        grf: code.grf,
        insts,
        locs: code.locs.clone(),
        blocks: code.blocks.clone(),
        routines: code.routines.clone(),
        vregs: code.vregs.clone(),
        flags: code.flags.clone(),
        labels: code.labels.clone(),
        label_types: code.label_types.clone(),
        lone_surfaces: code.lone_surfaces,
        fired: code.fired,
    };
    shift(&mut out, &new);
    (out, moved)
}

fn put(code: &mut VCode, new: &[Inserted]) {
    let Some(some) = new.first().map(|m| m.inst) else {
        return;
    };
    let old = code.insts.len();
    // The lists are large, and most grow only once or twice.
    code.insts.reserve_exact(new.len());
    code.insts.resize(old + new.len(), some);
    // Moves code from the last insertion to the first.
    let (mut from, mut to) = (old, code.insts.len());
    for m in new.iter().rev() {
        to -= from - m.at;
        code.insts.copy_within(m.at..from, to);
        (from, to) = (m.at, to - 1);
        code.insts[to] = m.inst;
    }
    shift(code, new);
}

/// Moves the bounds of blocks and of location runs to the new indices of their instructions.
fn shift(code: &mut VCode, new: &[Inserted]) {
    // Instructions inserted before a block's first one belong to the block.
    let mut before = 0;
    for b in code.blocks.values_mut() {
        let mut moved = |place: usize| {
            while new.get(before).is_some_and(|m| m.precedes(place)) {
                before += 1;
            }
            place + before
        };
        (b.start, b.end) = (moved(b.start), moved(b.end));
    }
    let mut before = 0;
    let locs = std::mem::take(&mut code.locs);
    for (first, loc) in locs.runs() {
        while new.get(before).is_some_and(|m| m.precedes(first)) {
            before += 1;
        }
        code.locs.push(first + before, loc);
    }
}

/// Removes instructions by index. The caller keeps terminators.
pub(crate) fn remove(code: &mut VCode, mut gone: impl FnMut(usize) -> bool) {
    let mut kept = Vec::with_capacity(code.insts.len() + 1);
    let mut count = 0;
    for i in 0..code.insts.len() {
        kept.push(count);
        count += usize::from(!gone(i));
    }
    kept.push(count);
    let at = |n: usize| kept.get(n).copied().unwrap_or(count);
    for b in code.blocks.values_mut() {
        (b.start, b.end) = (at(b.start), at(b.end));
    }
    let locs = std::mem::take(&mut code.locs);
    for (first, loc) in locs.runs() {
        code.locs.push(at(first), loc);
    }
    let mut n = 0;
    code.insts.retain(|_| {
        n += 1;
        at(n) > at(n - 1)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{SourceFile, SourceLoc};
    use crate::mir::srclocs::SrcLocs;
    use crate::mir::{BlockData, VReg};
    use crate::target::Target;
    use cranelift_entity::PrimaryMap;

    fn start(n: u32) -> MInst {
        let dst = VReg::from_u32(n);
        MInst::Start { dst }
    }

    /// Two blocks of two instructions, each block from a line of its own.
    #[test]
    fn blocks_and_locations_keep_what_is_theirs() {
        let line = |n| SourceLoc::new(SourceFile::from_u32(0), n, 0);
        let mut locs = SrcLocs::default();
        locs.push(0, line(1));
        locs.push(2, line(2));
        let block = |start, end| BlockData {
            start,
            end,
            ..BlockData::default()
        };
        let mut code = VCode {
            grf: Target::lookup("skl").unwrap().grf(),
            insts: (0..4).map(start).collect(),
            locs,
            blocks: PrimaryMap::from_iter([block(0, 2), block(2, 4)]),
            routines: PrimaryMap::new(),
            vregs: PrimaryMap::new(),
            flags: PrimaryMap::new(),
            labels: Vec::new(),
            label_types: Default::default(),
            lone_surfaces: 0,
            fired: Default::default(),
        };
        let new = |at, after, n| Inserted {
            at,
            after,
            inst: start(n),
        };
        insert(&mut code, Vec::new());
        let all = [
            new(0, false, 10),
            new(2, true, 11),
            new(2, false, 12),
            new(2, false, 13),
            new(3, false, 14),
            new(4, true, 15),
        ];
        insert(&mut code, all.into());
        let expected = [10, 0, 1, 11, 12, 13, 2, 14, 3, 15].map(start);
        assert_eq!(code.insts, expected);
        let ends: Vec<_> = code.blocks.values().map(|b| (b.start, b.end)).collect();
        assert_eq!(ends, [(0, 4), (4, 10)]);
        let lines: Vec<u32> = (0..10).map(|n| code.locs.get(n).line()).collect();
        assert_eq!(lines, [1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    }

    /// Instructions inserted at a call go before the reads that mark its routine's registers, and
    /// after writes through an address.
    #[test]
    fn what_is_written_before_a_call_is_written_before_what_is_new() {
        let touch = |n, write| MInst::Touch {
            reg: VReg::from_u32(n),
            write,
        };
        let call = MInst::Call {
            routine: crate::mir::Routine::from_u32(1),
            link: VReg::from_u32(9),
            exec: gantry_isa_gen::ExecSize::S16,
        };
        let mut code = VCode {
            grf: Target::lookup("skl").unwrap().grf(),
            insts: vec![
                start(0),
                touch(1, true),
                touch(2, false),
                touch(3, false),
                call,
            ],
            locs: SrcLocs::default(),
            blocks: PrimaryMap::new(),
            routines: PrimaryMap::new(),
            vregs: PrimaryMap::new(),
            flags: PrimaryMap::new(),
            labels: Vec::new(),
            label_types: Default::default(),
            lone_surfaces: 0,
            fired: Default::default(),
        };
        let new = |at, n| Inserted {
            at,
            after: false,
            inst: start(n),
        };
        insert(&mut code, vec![new(2, 10), new(3, 11), new(4, 12)]);
        let new = [10, 11, 12].map(start);
        let expected = [
            &[start(0), touch(1, true)],
            &new[..],
            &[touch(2, false), touch(3, false), call],
        ];
        assert_eq!(code.insts, expected.concat());
    }
}
