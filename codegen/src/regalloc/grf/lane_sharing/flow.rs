//! Control flow of single channels, and conflicts between registers that share lanes.

use super::lanes::Lanes;
use super::{MAX_WEBS, WebSet, written};
use crate::mir::liveness::Liveness;
use crate::mir::{Access, MInst, VCode, VReg};
use cranelift_entity::{EntityRef, SecondaryMap};
use smallvec::SmallVec;

/// Number of channels that are analyzed together.
const GROUP: u32 = 8;
/// Number of groups of the widest thread.
const GROUPS: usize = 4;

/// Set of webs per group of channels.
type GroupSets = [WebSet; GROUPS];

/// Effect of an instruction on a web.
#[derive(Clone, Copy, Default)]
struct WebEffect {
    /// Web that the instruction writes, groups that it may write lanes of, and groups of which it
    /// writes all lanes.
    web: Option<u8>,
    some: u8,
    all: u8,
    /// True for NoMask, which also writes inactive channels.
    whole: bool,
    /// True if the web has no value from here on.
    kills: bool,
}

/// Part of a block that the same channels execute.
struct Segment {
    block: usize,
    start: usize,
    end: usize,
    succs: SmallVec<[u32; 2]>,
}

/// Conflicts between webs, and webs that are live at the same time.
pub(super) struct Conflicts {
    pub(super) conflicts_of: [WebSet; MAX_WEBS],
    pub(super) live_with: [WebSet; MAX_WEBS],
    /// Webs live after each instruction in any channel.
    pub(super) live_after: Vec<WebSet>,
}

/// Data flow analysis of webs.
pub(super) struct WebFlow<'a> {
    pub(super) code: &'a VCode,
    pub(super) live: &'a Liveness,
    pub(super) lanes: &'a Lanes<'a>,
    /// Web of each register.
    pub(super) web_of: &'a SecondaryMap<VReg, Option<u8>>,
}

fn bit(web: u8) -> WebSet {
    1 << web
}

/// Returns the groups that contain some of the channels, and the groups that consist of them.
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

fn each_group(groups: u8) -> impl Iterator<Item = usize> {
    (0..GROUPS).filter(move |g| groups >> g & 1 == 1)
}

impl WebFlow<'_> {
    fn web(&self, r: VReg) -> Option<u8> {
        self.web_of[r]
    }

    /// Returns the effect of an instruction's write.
    fn event(&self, m: &MInst) -> WebEffect {
        let every = u8::MAX >> (8 - GROUPS);
        match m {
            MInst::Start { dst } => WebEffect {
                web: self.web(*dst),
                all: every,
                kills: true,
                ..WebEffect::default()
            },
            MInst::Copy { dst, src } => match self.web(*dst) {
                web if web == self.web(*src) => WebEffect::default(),
                web => WebEffect {
                    web,
                    some: every,
                    all: every,
                    whole: true,
                    ..WebEffect::default()
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
                WebEffect {
                    web,
                    some,
                    all: if *starts { every } else { full },
                    whole: inst.no_mask,
                    ..WebEffect::default()
                }
            }
            _ => WebEffect::default(),
        }
    }

    /// Returns the webs that an instruction reads.
    fn reads(&self, m: &MInst) -> WebSet {
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

    fn segments(&self) -> Vec<Segment> {
        let code = self.code;
        let mut out: Vec<Segment> = Vec::new();
        let mut first_of = vec![0u32; code.blocks.len()];
        let mut points = SecondaryMap::new();
        for (b, data) in &code.blocks {
            first_of[b.index()] = out.len() as u32;
            let mut start = data.start;
            let mut cut = |start: &mut usize, at: usize| {
                out.push(Segment {
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
                    // An active channel always goes where any active channel goes.
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

    /// Returns the webs live after each instruction by the thread's control flow.
    fn live_after(&self) -> Vec<WebSet> {
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
        let mut count = [0i32; MAX_WEBS];
        let mut now: WebSet = 0;
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

    /// Returns per block the webs that may have been written before it in any channel: by any
    /// write, and by a NoMask write.
    fn written_before(&self) -> Vec<[WebSet; 2]> {
        let step = |state: &mut [WebSet; 2], m: &MInst| self.step(state, &self.event(m));
        self.forward(|b, state| self.code.block_insts(b).iter().for_each(|m| step(state, m)))
    }

    fn step(&self, state: &mut [WebSet; 2], e: &WebEffect) {
        let Some(w) = e.web else { return };
        if e.kills {
            state.iter_mut().for_each(|s| *s &= !bit(w));
            return;
        }
        state[0] |= bit(w);
        if e.whole {
            state[1] |= bit(w);
        }
    }

    fn forward(&self, f: impl Fn(crate::mir::VBlock, &mut [WebSet; 2])) -> Vec<[WebSet; 2]> {
        // Webs that a block adds, and webs that it passes on.
        let blocks = self.code.blocks.keys();
        let own: Vec<([WebSet; 2], [WebSet; 2])> = blocks
            .map(|b| {
                let (mut none, mut all) = ([0; 2], [WebSet::MAX; 2]);
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
                let next: &mut [WebSet; 2] = &mut into[s.index()];
                let more = [0, 1].map(|n| next[n] | out[n]);
                if more != *next {
                    *next = more;
                    work.push(s);
                }
            }
        }
        into
    }

    /// Returns per segment the webs that a channel may read after it before it writes them.
    fn read_after(&self, segments: &[Segment]) -> Vec<GroupSets> {
        let mut preds: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); segments.len()];
        let mut own: Vec<(GroupSets, GroupSets)> = Vec::with_capacity(segments.len());
        for (n, s) in segments.iter().enumerate() {
            for &to in &s.succs {
                preds[to as usize].push(n as u32);
            }
            let (mut none, mut all) = ([0; GROUPS], [WebSet::MAX; GROUPS]);
            for m in self.code.insts[s.start..s.end].iter().rev() {
                let (e, reads) = (self.event(m), self.reads(m));
                step_backwards(&mut none, &e, reads);
                step_backwards(&mut all, &e, reads);
            }
            own.push((none, all));
        }
        let mut out = vec![[0; GROUPS]; segments.len()];
        let mut work: Vec<u32> = (0..segments.len() as u32).collect();
        while let Some(n) = work.pop() {
            let (reads, leaves) = own[n as usize];
            let live_after = out[n as usize];
            for &p in &preds[n as usize] {
                let before = &mut out[p as usize];
                let mut more = *before;
                for g in 0..GROUPS {
                    more[g] |= reads[g] | live_after[g] & leaves[g];
                }
                if more != *before {
                    *before = more;
                    work.push(p);
                }
            }
        }
        out
    }

    /// Returns per segment the webs that a channel may have written before it.
    fn channel_wrote(&self, segments: &[Segment]) -> Vec<GroupSets> {
        let mut into = vec![[0; GROUPS]; segments.len()];
        let own: Vec<(GroupSets, GroupSets)> = segments
            .iter()
            .map(|s| {
                let (mut none, mut all) = ([0; GROUPS], [WebSet::MAX; GROUPS]);
                for m in &self.code.insts[s.start..s.end] {
                    let e = self.event(m);
                    step_forwards(&mut none, &e);
                    step_forwards(&mut all, &e);
                }
                (none, all)
            })
            .collect();
        let mut work: Vec<u32> = (0..segments.len() as u32).rev().collect();
        while let Some(n) = work.pop() {
            let (adds, leaves) = own[n as usize];
            let state: GroupSets = into[n as usize];
            for &to in &segments[n as usize].succs {
                let next = &mut into[to as usize];
                let mut more: GroupSets = *next;
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

    /// Computes the conflicts of webs that would share a register.
    pub(super) fn conflicts(&self) -> Conflicts {
        let segments = self.segments();
        let read_after = self.read_after(&segments);
        let channel_wrote = self.channel_wrote(&segments);
        let before = self.written_before();
        let mut out = Conflicts {
            conflicts_of: [0; MAX_WEBS],
            live_with: [0; MAX_WEBS],
            live_after: self.live_after(),
        };
        for &now in &out.live_after {
            let mut rest = now;
            while rest != 0 {
                out.live_with[rest.trailing_zeros() as usize] |= now;
                rest &= rest - 1;
            }
        }
        let mut n = 0;
        let mut reads: Vec<GroupSets> = Vec::new();
        for b in self.code.blocks.keys() {
            let mut thread = before[b.index()];
            while let Some(s) = segments.get(n).filter(|s| s.block == b.index()) {
                // Reads of the channel after each instruction, from the last one on.
                reads.clear();
                let mut state = read_after[n];
                let insts = &self.code.insts[s.start..s.end];
                for m in insts.iter().rev() {
                    reads.push(state);
                    step_backwards(&mut state, &self.event(m), self.reads(m));
                }
                let mut wrote = channel_wrote[n];
                for (at, (m, reads)) in insts.iter().zip(reads.iter().rev()).enumerate() {
                    let e = self.event(m);
                    if let Some(w) = e.web.filter(|_| !e.kills) {
                        let lost = if e.whole {
                            out.live_after[s.start + at] & thread[0]
                        } else {
                            each_group(e.some)
                                .fold(0, |all, g| all | reads[g] & (wrote[g] | thread[1]))
                        };
                        out.conflicts_of[usize::from(w)] |= lost & !bit(w);
                    }
                    self.step(&mut thread, &e);
                    step_forwards(&mut wrote, &e);
                }
                n += 1;
            }
        }
        for a in 0..MAX_WEBS {
            for b in 0..MAX_WEBS {
                if out.conflicts_of[a] >> b & 1 == 1 {
                    out.conflicts_of[b] |= 1 << a;
                }
            }
        }
        out
    }
}

/// Updates the webs that a channel reads later, backwards over an instruction.
fn step_backwards(state: &mut GroupSets, e: &WebEffect, reads: WebSet) {
    if let Some(w) = e.web {
        each_group(e.all).for_each(|g| state[g] &= !bit(w));
    }
    state.iter_mut().for_each(|s| *s |= reads);
}

/// Updates the webs that a channel has written, forwards over an instruction.
fn step_forwards(state: &mut GroupSets, e: &WebEffect) {
    let Some(w) = e.web else { return };
    if e.kills {
        state.iter_mut().for_each(|s| *s &= !bit(w))
    } else {
        each_group(e.some).for_each(|g| state[g] |= bit(w))
    }
}
