//! Software scoreboard: computes the SWSB annotation of each instruction, and inserts `sync`
//! instructions for waits that do not fit.
//!
//! The hardware of these platforms does not track dependences through GRFs. Instructions in
//! in-order pipes are waited for by distance ([`order`]). Messages, the math unit and the systolic
//! array run out of order. Each such instruction gets a token, and others wait until it has ended
//! (`$3.dst`) or has read its sources (`$3.src`).
//!
//! An access is open while a token's instruction may still have to do it. Open accesses are
//! propagated along control flow ([`flow`], [`state`]) to a fixed point, and waits close them. A
//! token is chosen in this order:
//!
//! 1. The token that the instruction waits for anyway, which then needs no other annotation.
//! 2. The least recently set one that has nothing open.
//! 3. The one that was set first.
//!
//! So reuse waits for nothing as long as there are free tokens.
//!
//! Facts of an instruction are computed once ([`facts`]). A block is visited again if more is open
//! at its start. After [`VISITS`] visits, a token that is open there counts as open everywhere,
//! which bounds the iteration. Within a block, all work is bounded by the number of tokens and the
//! windows: the stage is linear in instructions.
//!
//! Input: physical instructions with known targets. Output: the same with annotations, and
//! instructions to insert before some.

mod facts;
mod flow;
mod order;
mod state;
#[cfg(test)]
mod tests;

use crate::emit::{Physical, Reach};
use crate::mir::operand::synchronize;
use crate::target::Target;
use facts::{ExecutedBy, Facts, InstFacts, PIPES, pipe};
use flow::FlowGraph;
use gantry_isa_gen::exec_unit::pairs;
use gantry_isa_gen::swsb::{Distance, Pipe, Token, TokenKind};
use gantry_isa_gen::{Inst, Platform, Reg, Src, Swsb, SyncFn, Type};
use order::{Distances, distances};
use smallvec::SmallVec;
use state::{OpenAccess, OpenAccesses, ScoreboardState, Tokens, bits, join};

/// Number of visits of a block with open accesses kept byte by byte.
const VISITS: u32 = 12;
/// No token.
const NONE: u8 = u8::MAX;

/// Tokens that an instruction waits for, and the token that it sets.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct TokenWaits {
    /// Tokens whose instructions must have ended.
    ended: Tokens,
    /// Tokens whose instructions must have read.
    read: Tokens,
}

/// Returns physical instructions, annotated if the platform has SWSB.
pub(crate) fn annotated(mut physical: Physical, target: &Target) -> Physical {
    let syncs = annotate(target.platform(), &mut physical.insts, &physical.reaches);
    physical.insert(syncs);
    physical
}

/// Annotates code. Returns instructions to insert before those of the given numbers, in their
/// order. `reaches` is in the order of its instructions.
pub(crate) fn annotate(
    platform: Platform,
    insts: &mut [Inst<Reg>],
    reaches: &[Reach],
) -> Vec<(usize, Inst<Reg>)> {
    let f = platform.features();
    if !f.swsb {
        return Vec::new();
    }
    let facts = Facts::of(platform, insts, reaches);
    let distances = distances(f, insts, &facts);
    let flow = FlowGraph::of(insts, &facts);
    let mut tokens = TokenAssignment::new(&facts, f.sb_tokens as usize, f.swsb_pipes.len() == 1);
    let waits = tokens.solve(&flow);
    let mut syncs = Vec::new();
    for (n, inst) in insts.iter_mut().enumerate() {
        let (Some(fact), Some(d), Some(w)) = (facts.insts.get(n), distances.get(n), waits.get(n))
        else {
            break;
        };
        let set = tokens.of.get(n).copied().filter(|t| *t != NONE);
        for swsb in annotation(platform, inst, fact, d, *w, set) {
            syncs.push((n, swsb));
        }
    }
    syncs
}

/// Tokens that instructions set.
struct TokenAssignment<'a> {
    facts: &'a Facts,
    of: Vec<u8>,
    state: ScoreboardState,
    /// Time at which each token was set last, counted in assignments.
    last: Vec<u32>,
    given: u32,
    /// First chunk that hardware tracks.
    tracked: u16,
}

impl<'a> TokenAssignment<'a> {
    fn new(facts: &'a Facts, tokens: usize, one_pipe: bool) -> TokenAssignment<'a> {
        TokenAssignment {
            facts,
            of: vec![NONE; facts.insts.len()],
            state: ScoreboardState::new(facts.chunks, tokens),
            last: vec![0; tokens],
            given: 0,
            tracked: if one_pipe { facts.file } else { u16::MAX },
        }
    }

    /// Propagates open accesses through the code to a fixed point. Returns the waits of each
    /// instruction.
    fn solve(&mut self, flow: &FlowGraph) -> Vec<TokenWaits> {
        let mut waits = vec![TokenWaits::default(); self.of.len()];
        let blocks = flow.blocks.len();
        let mut open: Vec<OpenAccesses> = vec![OpenAccesses::new(); blocks];
        let mut visits = vec![0u32; blocks];
        let mut dirty = vec![true; blocks];
        // Rounds over blocks in code order, in which most predecessors come first.
        let mut again = true;
        while std::mem::take(&mut again) {
            for b in 0..blocks {
                if !std::mem::take(&mut dirty[b]) {
                    continue;
                }
                visits[b] += 1;
                if visits[b] > VISITS {
                    widen(&mut open[b], self.facts.chunks);
                }
                self.state.enter(&open[b]);
                for n in flow.blocks[b].clone() {
                    waits[n] = self.step(n);
                }
                let out = self.state.leave();
                for &to in flow.succs.get(b).into_iter().flatten() {
                    let to = to as usize;
                    if join(&mut open[to], &out) {
                        dirty[to] = true;
                        again |= to <= b;
                    }
                }
            }
        }
        waits
    }

    /// Processes one instruction: returns its waits and updates the open accesses.
    fn step(&mut self, n: usize) -> TokenWaits {
        let facts = self.facts;
        let Some(fact) = facts.insts.get(n) else {
            return TokenWaits::default();
        };
        let touches = facts.touches(fact);
        let function = match fact.by {
            ExecutedBy::OutOfOrder(f) => Some(f),
            ExecutedBy::Pipe(_) => None,
            ExecutedBy::Nobody => return TokenWaits::default(),
        };
        let sets = function.filter(|_| !fact.ends);
        let own = sets.map(|_| self.token(n, function));
        let mut out = TokenWaits::default();
        if let Some(t) = own {
            self.state.wait(t, TokenKind::Dst);
        }
        let [ended, _] = self.state.needs(touches, function);
        for t in bits(ended) {
            self.state.wait(t, TokenKind::Dst);
        }
        out.ended = ended;
        // The latest token first: earlier instructions of the same function have then read too.
        while let Some(t) = self.state.latest(self.state.needs(touches, function)[1]) {
            self.state.wait(t, TokenKind::Src);
            out.read |= 1 << t;
        }
        if let (Some(t), Some(f)) = (own, sets) {
            self.state.set(t, (f, fact.sure), touches, self.tracked);
        }
        out
    }

    /// Returns the token of an instruction: the same as before, or a newly chosen one.
    fn token(&mut self, n: usize, function: Option<u8>) -> u8 {
        if let Some(&t) = self.of.get(n).filter(|t| **t != NONE) {
            return t;
        }
        let touches = self.facts.insts.get(n).map(|f| self.facts.touches(f));
        let [ended, _] = self.state.needs(touches.unwrap_or(&[]), function);
        let free = self.state.free();
        let least = |t: &u8| self.last.get(usize::from(*t)).copied();
        let chosen = self
            .state
            .latest(ended)
            .or_else(|| bits(free).min_by_key(least))
            .or_else(|| self.state.earliest(!free & every(self.last.len())))
            .unwrap_or(0);
        self.given += 1;
        if let (Some(of), Some(last)) = (self.of.get_mut(n), self.last.get_mut(usize::from(chosen)))
        {
            (*of, *last) = (chosen, self.given);
        }
        chosen
    }
}

/// Returns the set of all tokens.
fn every(tokens: usize) -> Tokens {
    u32::MAX >> (u32::BITS - (tokens as u32).clamp(1, u32::BITS))
}

/// Makes a token's open accesses cover everything.
fn widen(opens: &mut OpenAccesses, chunks: usize) {
    let mut kinds: Vec<(u8, bool, u8)> = opens
        .iter()
        .map(|o| (o.token, o.write, o.function))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    opens.clear();
    for (token, write, function) in kinds {
        opens.extend((0..chunks as u16).map(|chunk| OpenAccess {
            token,
            write,
            chunk,
            function,
            mask: u64::MAX,
        }));
    }
    opens.sort_unstable();
}

/// Writes an instruction's waits into its annotation, as far as they fit. Emits `sync` instructions
/// for the rest.
fn annotation(
    platform: Platform,
    inst: &mut Inst<Reg>,
    fact: &InstFacts,
    distances: &Distances,
    waits: TokenWaits,
    set: Option<u8>,
) -> SmallVec<[Inst<Reg>; 2]> {
    let mut before = SmallVec::new();
    let mut sync = |function, mask: Option<Tokens>, swsb| {
        let mut s = synchronize(function, Reg::NULL);
        s.swsb = swsb;
        if let Some(m) = mask {
            s.srcs[0] = Src::Imm {
                bits: m.into(),
                ty: Type::Ud,
            };
        }
        before.push(s);
    };
    let one_pipe = platform.features().swsb_pipes.len() == 1;
    let mut distance = distance(distances, one_pipe);
    let pairings: SmallVec<[(Pipe, TokenKind); 4]> = pairs(platform, inst.op).collect();
    // Encodings of a distance: by its pipe, by no pipe if it is the instruction's only one, and by
    // all pipes.
    let own = |d: Distance| one_pipe || matches!(d.pipe, p if fact.own == 1 << index_of(p));
    let beside = |d: Distance, kind| {
        let has = |p| pairings.contains(&(p, kind));
        if has(d.pipe) {
            Some(d)
        } else if has(Pipe::Own) && own(d) {
            Some(Distance {
                pipe: Pipe::Own,
                ..d
            })
        } else if has(Pipe::All) {
            Some(Distance {
                pipe: Pipe::All,
                ..d
            })
        } else {
            None
        }
    };
    let TokenWaits {
        mut ended,
        mut read,
    } = waits;
    let mut token = set.map(|sbid| Token {
        sbid,
        kind: TokenKind::Set,
    });
    if token.is_none() {
        // Wait that fits beside the distance, or the only annotation.
        let mut wanted = bits(ended)
            .map(|t| (t, TokenKind::Dst))
            .chain(bits(read).map(|t| (t, TokenKind::Src)));
        let fits = |k: &(u8, TokenKind)| distance.is_none_or(|d| beside(d, k.1).is_some());
        if let Some((sbid, kind)) = wanted.find(fits) {
            token = Some(Token { sbid, kind });
            ended &= !(1 << sbid);
            read &= !(1 << sbid);
        }
    }
    if let (Some(d), Some(t)) = (distance, token) {
        distance = beside(d, t.kind);
        if distance.is_none() {
            let swsb = Swsb {
                distance: Some(d),
                token: None,
            };
            sync(SyncFn::Nop, None, swsb);
        }
    }
    for (tokens, kind, function) in [
        (ended, TokenKind::Dst, SyncFn::Allwr),
        (read, TokenKind::Src, SyncFn::Allrd),
    ] {
        match tokens.count_ones() {
            0 => {}
            1 => {
                let swsb = Swsb {
                    distance: None,
                    token: bits(tokens).next().map(|sbid| Token { sbid, kind }),
                };
                sync(SyncFn::Nop, None, swsb);
            }
            _ => sync(function, Some(tokens), Swsb::NONE),
        }
    }
    inst.swsb = Swsb { distance, token };
    before
}

fn index_of(p: Pipe) -> u8 {
    (0..PIPES as u8)
        .find(|i| pipe(*i) == p)
        .unwrap_or(u8::MAX >> 5)
}

/// Returns the one distance that waits for all of these.
fn distance(distances: &Distances, one_pipe: bool) -> Option<Distance> {
    let mut wanted = (0u8..).zip(distances).filter(|(_, d)| **d > 0);
    let (first, &n) = wanted.next()?;
    let least = wanted.map(|(_, d)| *d).min();
    Some(Distance {
        pipe: match least {
            _ if one_pipe => Pipe::Own,
            None => pipe(first),
            Some(_) => Pipe::All,
        },
        n: least.map_or(n, |m| m.min(n)),
    })
}
