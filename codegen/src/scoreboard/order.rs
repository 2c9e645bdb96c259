//! What runs in order: for each instruction, how far back in each pipe stands what it must wait
//! for.
//!
//! An in-order pipe ends its instructions in their order, [`depth`] of them later at the latest,
//! and a branch that is taken finds the pipes empty. So this is one walk over the code as it
//! stands, with a window of a pipe's last instructions: where control does not fall through,
//! nothing is in the pipes.

use super::facts::{By, Fact, Facts, PIPES, Touch, pipe};
use crate::emit::NATIVE;
use gantry_isa_gen::exec_unit::depth;
use gantry_isa_gen::{Features, Inst, Op, Reg, Src, Target};
use smallvec::SmallVec;

/// How far back an instruction waits in each pipe, 1 to 7; 0: not at all.
pub(super) type Distances = [u8; PIPES];

/// The longest distance that can be said.
const FARTHEST: u32 = 7;

/// Why an instruction waits for one in a pipe.
struct Rules {
    /// All distances count one pipe.
    one_pipe: bool,
    /// The first chunk behind the file.
    file: u16,
    address: u16,
}

impl Rules {
    /// Whether `now` waits for `earlier`, which is in a pipe.
    ///
    /// Within a pipe what comes later neither writes nor is read before what came earlier, but a
    /// result is not there yet. The hardware itself waits for flags, accumulators and addresses
    /// that are written before it reads them, but for those that describe a message.
    fn waits(&self, facts: &Facts, earlier: &Fact, now: &Fact) -> bool {
        let same = matches!(now.by, By::Pipe(_)) && (self.one_pipe || earlier.by == now.by);
        let message = matches!(now.by, By::OutOfOrder(_));
        let counts = |e: &Touch, n: &Touch| {
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

/// Whether control may go on behind an instruction, as it does behind a jump to what is there: no
/// branch is taken, and the pipes are as they were.
pub(super) fn falls_through(inst: &Inst<Reg>, fact: &Fact) -> bool {
    let always = matches!(inst.op, Op::Jmpi | Op::Call | Op::Ret) && inst.pred.is_none();
    let next = Src::Target(Target::Rel(NATIVE));
    let nowhere = inst.op == Op::Jmpi && inst.srcs.contains(&next);
    !(always || fact.ends) || nowhere
}

/// The window of a pipe.
#[derive(Default)]
struct Window {
    /// Instructions that entered it.
    issued: u32,
    /// How many of them have surely ended.
    ended: u32,
    /// The last of them, the latest last.
    last: SmallVec<[u32; 20]>,
}

impl Window {
    /// The distance to the latest instruction that is waited for, if any.
    fn distance(&self, deep: u32, waits: impl Fn(u32) -> bool) -> Option<u32> {
        let open = (self.issued - self.ended).min(deep);
        let mut latest = self.last.iter().rev().zip(1..=open);
        latest.find(|(n, _)| waits(**n)).map(|(_, d)| d)
    }

    /// All but the last `n - 1` have ended.
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

/// How far back each instruction waits.
pub(super) fn distances(f: &Features, insts: &[Inst<Reg>], facts: &Facts) -> Vec<Distances> {
    let rules = Rules {
        one_pipe: f.swsb_pipes.len() == 1,
        file: facts.file,
        address: facts.chunks as u16 - 1,
    };
    let mut windows: [Window; PIPES] = Default::default();
    let mut out = Vec::with_capacity(insts.len());
    // The instruction before changed how the thread runs.
    let mut serialized = false;
    for (n, (inst, fact)) in insts.iter().zip(&facts.insts).enumerate() {
        let mut distances = Distances::default();
        if fact.by != By::Nobody {
            let behind = std::mem::replace(&mut serialized, fact.serializes);
            let all = fact.serial || behind;
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
            if let By::Pipe(p) = fact.by
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
