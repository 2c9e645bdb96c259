//! Distances: for each instruction, the number of instructions back in each in-order pipe that it
//! must wait for.
//!
//! A pipe ends its instructions in order, the last at most [`depth`] instructions later. A taken
//! branch finds the pipes empty. So one walk over the code in its order is enough, with a window of
//! each pipe's last instructions. After an instruction that does not fall through, the pipes are
//! empty.

use super::facts::{ChunkAccess, ExecutedBy, Facts, InstFacts, PIPES, pipe};
use crate::emit::NATIVE;
use gantry_isa_gen::exec_unit::depth;
use gantry_isa_gen::{Features, Inst, Op, Reg, Src, Target};
use smallvec::SmallVec;

/// Distance that an instruction waits for in each pipe, 1 to 7. 0 is no wait.
pub(super) type Distances = [u8; PIPES];

/// Largest distance that can be encoded.
const FARTHEST: u32 = 7;

/// Rules for waits on in-order pipes.
struct PipeRules {
    /// True if all distances count one pipe.
    one_pipe: bool,
    /// First chunk after the GRF file.
    file: u16,
    address: u16,
}

impl PipeRules {
    /// Returns true if `now` waits for `earlier`, which is in a pipe.
    ///
    /// Within a pipe, a later instruction neither overtakes writes nor reads of an earlier one, but
    /// its result may not be available yet. The hardware itself waits for flags, accumulators and
    /// addresses that are written before they are read. Those that describe a message are an
    /// exception.
    fn waits(&self, facts: &Facts, earlier: &InstFacts, now: &InstFacts) -> bool {
        let same = matches!(now.by, ExecutedBy::Pipe(_)) && (self.one_pipe || earlier.by == now.by);
        let message = matches!(now.by, ExecutedBy::OutOfOrder(_));
        let counts = |e: &ChunkAccess, n: &ChunkAccess| {
            if e.chunk != n.chunk || e.mask & n.mask == 0 {
                return false;
            }
            let tracked = e.chunk >= self.file;
            match (e.write, n.write) {
                (false, false) => false,
                (true, false) => !tracked || message && e.chunk == self.address,
                (_, true) => !(same || tracked && self.one_pipe),
            }
        };
        let before = facts.touches(earlier);
        let own = facts.touches(now);
        own.iter().any(|n| before.iter().any(|e| counts(e, n)))
    }
}

/// Returns true if control may continue after an instruction, as after a jump to the next one. No
/// branch is taken then, and the pipes are as they were.
pub(super) fn falls_through(inst: &Inst<Reg>, fact: &InstFacts) -> bool {
    let always = matches!(inst.op, Op::Jmpi | Op::Call | Op::Ret) && inst.pred.is_none();
    let next = Src::Target(Target::Rel(NATIVE));
    let nowhere = inst.op == Op::Jmpi && inst.srcs.contains(&next);
    !(always || fact.ends) || nowhere
}

/// Window of a pipe.
#[derive(Default)]
struct PipeWindow {
    /// Number of instructions that entered it.
    issued: u32,
    /// Number of them that have certainly ended.
    ended: u32,
    /// Last of them, the latest at the end.
    last: SmallVec<[u32; 20]>,
}

impl PipeWindow {
    /// Returns the distance to the latest instruction that is waited for, if there is one.
    fn distance(&self, deep: u32, waits: impl Fn(u32) -> bool) -> Option<u32> {
        let open = (self.issued - self.ended).min(deep);
        let mut latest = self.last.iter().rev().zip(1..=open);
        latest.find(|(n, _)| waits(**n)).map(|(_, d)| d)
    }

    /// Marks all but the last `n - 1` as ended.
    fn wait(&mut self, n: u32) {
        self.ended = self.ended.max((self.issued + 1).saturating_sub(n));
    }

    fn enter(&mut self, n: u32, deep: u32) {
        if self.last.len() as u32 == deep {
            self.last.remove(0);
        }
        self.last.push(n);
        self.issued += 1;
    }
}

/// Returns the distances of each instruction.
pub(super) fn distances(f: &Features, insts: &[Inst<Reg>], facts: &Facts) -> Vec<Distances> {
    let rules = PipeRules {
        one_pipe: f.swsb_pipes.len() == 1,
        file: facts.file,
        address: facts.chunks as u16 - 1,
    };
    let mut windows: [PipeWindow; PIPES] = Default::default();
    let mut out = Vec::with_capacity(insts.len());
    // True if the previous instruction changed the thread's state.
    let mut serialized = false;
    for (n, (inst, fact)) in insts.iter().zip(&facts.insts).enumerate() {
        let mut distances = Distances::default();
        if fact.by != ExecutedBy::Nobody {
            let after_state_change = std::mem::replace(&mut serialized, fact.serializes);
            let all = fact.serial || after_state_change;
            for (p, (w, d)) in windows.iter_mut().zip(&mut distances).enumerate() {
                let deep = depth(pipe(p as u8)) as u32;
                let found = if all {
                    (w.issued > w.ended).then_some(1)
                } else {
                    w.distance(deep, |e| {
                        let earlier = facts.insts.get(e as usize);
                        earlier.is_some_and(|e| rules.waits(facts, e, fact))
                    })
                };
                if let Some(back) = found {
                    let back = back.min(FARTHEST);
                    w.wait(back);
                    *d = back as u8;
                }
            }
            if let ExecutedBy::Pipe(p) = fact.by
                && let Some(w) = windows.get_mut(usize::from(p))
            {
                w.enter(n as u32, depth(pipe(p)) as u32);
            }
        }
        if !falls_through(inst, fact) {
            for w in &mut windows {
                w.ended = w.issued;
            }
        }
        out.push(distances);
    }
    out
}
