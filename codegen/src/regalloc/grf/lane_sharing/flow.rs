//! What a single channel does, and which registers it would lose if two were one.

use super::lanes::Lanes;
use super::{MOST, Set, written};
use crate::mir::liveness::Liveness;
use crate::mir::{Access, MInst, VCode, VReg};
use cranelift_entity::{EntityRef, SecondaryMap};
use smallvec::SmallVec;

/// Channels that are followed together.
const GROUP: u32 = 8;
/// Groups of the widest thread.
const GROUPS: usize = 4;

/// A set of webs for each group of channels.
type Sets = [Set; GROUPS];

/// How an instruction is to a web.
#[derive(Clone, Copy, Default)]
struct Event {
    /// The web of what it writes, the groups that it may write lanes of, and those of which it
    /// writes all.
    web: Option<u8>,
    some: u8,
    all: u8,
    /// With NoMask: in channels that do not run too.
    whole: bool,
    /// It has no value from here on.
    ends: bool,
}

/// A part of a block that the same channels run.
struct Stretch {
    block: usize,
    start: usize,
    end: usize,
    succs: SmallVec<[u32; 2]>,
}

/// Which webs may not be one register, and which live at once.
pub(super) struct Conflicts {
    pub(super) with: [Set; MOST],
    pub(super) meets: [Set; MOST],
    /// Per instruction the webs that live behind it, in any channel.
    pub(super) behind: Vec<Set>,
}

/// What is followed.
pub(super) struct Flow<'a> {
    pub(super) code: &'a VCode,
    pub(super) live: &'a Liveness,
    pub(super) lanes: &'a Lanes<'a>,
    /// The webs of registers.
    pub(super) web_of: &'a SecondaryMap<VReg, Option<u8>>,
}

fn bit(web: u8) -> Set {
    1 << web
}

/// The groups that some channels are in, and those whose channels they all are.
fn groups(first: u32, count: u32) -> (u8, u8) {
    let end = first + count;
    let of = |n: u32| (n * GROUP, (n + 1) * GROUP);
    let mask = |is: &dyn Fn((u32, u32)) -> bool| {
        (0..GROUPS as u32)
            .filter(|n| is(of(*n)))
            .fold(0, |m, n| m | 1 << n)
    };
    let some = mask(&|(a, b)| first < b && end > a);
    (some, mask(&|(a, b)| first <= a && end >= b))
}

fn each(groups: u8) -> impl Iterator<Item = usize> {
    (0..GROUPS).filter(move |g| groups >> g & 1 == 1)
}

impl Flow<'_> {
    fn web(&self, r: VReg) -> Option<u8> {
        self.web_of[r]
    }

    /// What an instruction writes.
    fn event(&self, m: &MInst) -> Event {
        let every = u8::MAX >> (8 - GROUPS);
        match m {
            MInst::Start { dst } => Event {
                web: self.web(*dst),
                all: every,
                ends: true,
                ..Event::default()
            },
            MInst::Copy { dst, src } => match self.web(*dst) {
                web if web == self.web(*src) => Event::default(),
                web => Event {
                    web,
                    some: every,
                    all: every,
                    whole: true,
                    ..Event::default()
                },
            },
            MInst::Op { inst, starts, .. } => {
                let web = written(m).and_then(|r| self.web(r));
                let (some, full) = match self.lanes.written(inst) {
                    _ if inst.no_mask => (every, 0),
                    Some((first, count, full)) => {
                        let (some, all) = groups(first, count);
                        (some, if full { all } else { 0 })
                    }
                    None => (every, 0),
                };
                Event {
                    web,
                    some,
                    all: if *starts { every } else { full },
                    whole: inst.no_mask,
                    ..Event::default()
                }
            }
            _ => Event::default(),
        }
    }

    /// The webs that an instruction reads.
    fn reads(&self, m: &MInst) -> Set {
        if let MInst::Copy { dst, src } = m
            && self.web(*dst) == self.web(*src)
        {
            return 0;
        }
        let mut out = 0;
        m.for_each_vreg(|r, a| {
            if let (Access::Use, Some(w)) = (a, self.web(r)) {
                out |= bit(w);
            }
        });
        out
    }

    fn stretches(&self) -> Vec<Stretch> {
        let code = self.code;
        let mut out: Vec<Stretch> = Vec::new();
        let mut first_of = vec![0u32; code.blocks.len()];
        let mut points = SecondaryMap::new();
        for (b, data) in &code.blocks {
            first_of[b.index()] = out.len() as u32;
            let mut start = data.start;
            let mut cut = |start: &mut usize, at: usize| {
                out.push(Stretch {
                    block: b.index(),
                    start: *start,
                    end: at,
                    succs: SmallVec::new(),
                });
                *start = at;
                out.len() as u32
            };
            for i in data.start..data.end {
                match code.insts.get(i) {
                    Some(MInst::Join { at, .. }) => {
                        let n = cut(&mut start, i);
                        let list: &mut SmallVec<[u32; 1]> = &mut points[*at];
                        list.push(n);
                    }
                    Some(MInst::Leave { .. }) => {
                        cut(&mut start, i + 1);
                    }
                    _ => {}
                }
            }
            cut(&mut start, data.end);
        }
        let mut n = 0;
        for (b, data) in &code.blocks {
            while let Some(s) = out.get_mut(n).filter(|s| s.block == b.index()) {
                let last = s.end.checked_sub(1).filter(|l| *l >= s.start);
                let last = last.and_then(|l| code.insts.get(l));
                let next = n as u32 + 1;
                match last {
                    Some(MInst::Leave { flag, to, .. }) => {
                        if flag.is_some() {
                            s.succs.push(next);
                        }
                        if let Some(to) = to {
                            s.succs.extend_from_slice(&points[*to]);
                        }
                    }
                    // One that runs goes where any does.
                    Some(MInst::BranchExec { none_first, .. }) => {
                        let to = data.succs.get(usize::from(*none_first));
                        s.succs.extend(to.map(|b| first_of[b.index()]));
                    }
                    _ if s.end == data.end => {
                        s.succs
                            .extend(data.succs.iter().map(|b| first_of[b.index()]));
                    }
                    _ => s.succs.push(next),
                }
                n += 1;
            }
        }
        out
    }

    /// Per instruction, the webs that live behind it by the thread's control flow.
    fn behind(&self) -> Vec<Set> {
        let mut changes: Vec<(u32, u8, bool)> = Vec::new();
        for r in self.code.vregs.keys() {
            if let Some(w) = self.web(r) {
                for x in &self.live.ranges[r] {
                    changes.extend([(x.start, w, true), (x.end, w, false)]);
                }
            }
        }
        changes.sort_unstable();
        let mut changes = changes.into_iter().peekable();
        let mut count = [0i32; MOST];
        let mut now: Set = 0;
        (0..self.code.insts.len() as u32)
            .map(|i| {
                while let Some((_, w, begins)) = changes.next_if(|c| c.0 <= 2 * i + 1) {
                    let n = &mut count[usize::from(w)];
                    *n += if begins { 1 } else { -1 };
                    if *n > 0 {
                        now |= bit(w)
                    } else {
                        now &= !bit(w)
                    }
                }
                now
            })
            .collect()
    }

    /// Per block, the webs that may have been written before it, in any channel: at all, and with
    /// NoMask.
    fn written_before(&self) -> Vec<[Set; 2]> {
        let step = |state: &mut [Set; 2], m: &MInst| self.step(state, &self.event(m));
        self.forward(|b, state| self.code.block_insts(b).iter().for_each(|m| step(state, m)))
    }

    fn step(&self, state: &mut [Set; 2], e: &Event) {
        let Some(w) = e.web else { return };
        if e.ends {
            state.iter_mut().for_each(|s| *s &= !bit(w));
            return;
        }
        state[0] |= bit(w);
        if e.whole {
            state[1] |= bit(w);
        }
    }

    fn forward(&self, f: impl Fn(crate::mir::VBlock, &mut [Set; 2])) -> Vec<[Set; 2]> {
        // What a block adds, and what it leaves of what comes in.
        let blocks = self.code.blocks.keys();
        let own: Vec<([Set; 2], [Set; 2])> = blocks
            .map(|b| {
                let (mut none, mut all) = ([0; 2], [Set::MAX; 2]);
                f(b, &mut none);
                f(b, &mut all);
                (none, all)
            })
            .collect();
        let mut into = vec![[0; 2]; own.len()];
        let mut work: Vec<_> = self.code.blocks.keys().rev().collect();
        while let Some(b) = work.pop() {
            let (adds, leaves) = own[b.index()];
            let state = into[b.index()];
            let out = [0, 1].map(|n| adds[n] | state[n] & leaves[n]);
            for &s in &self.code.blocks[b].succs {
                let next: &mut [Set; 2] = &mut into[s.index()];
                let more = [0, 1].map(|n| next[n] | out[n]);
                if more != *next {
                    *next = more;
                    work.push(s);
                }
            }
        }
        into
    }

    /// Per stretch the webs that a channel may read behind it before it writes them.
    fn read_behind(&self, stretches: &[Stretch]) -> Vec<Sets> {
        let mut preds: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); stretches.len()];
        let mut own: Vec<(Sets, Sets)> = Vec::with_capacity(stretches.len());
        for (n, s) in stretches.iter().enumerate() {
            for &to in &s.succs {
                preds[to as usize].push(n as u32);
            }
            let (mut none, mut all) = ([0; GROUPS], [Set::MAX; GROUPS]);
            for m in self
                .code
                .insts
                .get(s.start..s.end)
                .unwrap_or(&[])
                .iter()
                .rev()
            {
                let (e, reads) = (self.event(m), self.reads(m));
                back(&mut none, &e, reads);
                back(&mut all, &e, reads);
            }
            own.push((none, all));
        }
        let mut out = vec![[0; GROUPS]; stretches.len()];
        let mut work: Vec<u32> = (0..stretches.len() as u32).collect();
        while let Some(n) = work.pop() {
            let (reads, leaves) = own[n as usize];
            let behind = out[n as usize];
            for &p in &preds[n as usize] {
                let before = &mut out[p as usize];
                let mut more = *before;
                for g in 0..GROUPS {
                    more[g] |= reads[g] | behind[g] & leaves[g];
                }
                if more != *before {
                    *before = more;
                    work.push(p);
                }
            }
        }
        out
    }

    /// Per stretch the webs that a channel may have written before it.
    fn channel_wrote(&self, stretches: &[Stretch]) -> Vec<Sets> {
        let mut into = vec![[0; GROUPS]; stretches.len()];
        let own: Vec<(Sets, Sets)> = stretches
            .iter()
            .map(|s| {
                let (mut none, mut all) = ([0; GROUPS], [Set::MAX; GROUPS]);
                for m in self.code.insts.get(s.start..s.end).unwrap_or(&[]) {
                    let e = self.event(m);
                    forth(&mut none, &e);
                    forth(&mut all, &e);
                }
                (none, all)
            })
            .collect();
        let mut work: Vec<u32> = (0..stretches.len() as u32).rev().collect();
        while let Some(n) = work.pop() {
            let (adds, leaves) = own[n as usize];
            let state: Sets = into[n as usize];
            for &to in &stretches[n as usize].succs {
                let next = &mut into[to as usize];
                let mut more: Sets = *next;
                for g in 0..GROUPS {
                    more[g] |= adds[g] | state[g] & leaves[g];
                }
                if more != *next {
                    *next = more;
                    work.push(to);
                }
            }
        }
        into
    }

    /// What is lost where webs share a register.
    pub(super) fn conflicts(&self) -> Conflicts {
        let stretches = self.stretches();
        let read_behind = self.read_behind(&stretches);
        let channel_wrote = self.channel_wrote(&stretches);
        let before = self.written_before();
        let mut out = Conflicts {
            with: [0; MOST],
            meets: [0; MOST],
            behind: self.behind(),
        };
        for &now in &out.behind {
            let mut rest = now;
            while rest != 0 {
                out.meets[rest.trailing_zeros() as usize] |= now;
                rest &= rest - 1;
            }
        }
        let mut n = 0;
        let mut reads: Vec<Sets> = Vec::new();
        for b in self.code.blocks.keys() {
            let mut thread = before[b.index()];
            while let Some(s) = stretches.get(n).filter(|s| s.block == b.index()) {
                // What the channel reads behind each instruction, from the last one.
                reads.clear();
                let mut state = read_behind[n];
                let insts = self.code.insts.get(s.start..s.end).unwrap_or(&[]);
                for m in insts.iter().rev() {
                    reads.push(state);
                    back(&mut state, &self.event(m), self.reads(m));
                }
                let mut wrote = channel_wrote[n];
                for (at, (m, reads)) in insts.iter().zip(reads.iter().rev()).enumerate() {
                    let e = self.event(m);
                    if let Some(w) = e.web.filter(|_| !e.ends) {
                        let lost = if e.whole {
                            out.behind[s.start + at] & thread[0]
                        } else {
                            each(e.some).fold(0, |all, g| all | reads[g] & (wrote[g] | thread[1]))
                        };
                        out.with[usize::from(w)] |= lost & !bit(w);
                    }
                    self.step(&mut thread, &e);
                    forth(&mut wrote, &e);
                }
                n += 1;
            }
        }
        for a in 0..MOST {
            for b in 0..MOST {
                if out.with[a] >> b & 1 == 1 {
                    out.with[b] |= 1 << a;
                }
            }
        }
        out
    }
}

/// What a channel reads from an instruction on.
fn back(state: &mut Sets, e: &Event, reads: Set) {
    if let Some(w) = e.web {
        each(e.all).for_each(|g| state[g] &= !bit(w));
    }
    state.iter_mut().for_each(|s| *s |= reads);
}

/// What a channel has written behind an instruction.
fn forth(state: &mut Sets, e: &Event) {
    let Some(w) = e.web else { return };
    if e.ends {
        state.iter_mut().for_each(|s| *s &= !bit(w))
    } else {
        each(e.some).for_each(|g| state[g] |= bit(w))
    }
}
