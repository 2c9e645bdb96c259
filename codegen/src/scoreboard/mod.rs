//! The software scoreboard: what each instruction waits for, said in its annotation or in a `sync`
//! before it.
//!
//! The hardware of these platforms does not track who reads and writes general registers. In-order
//! pipes are waited for by distances ([`order`]); what runs out of order, which is messages, the
//! math box and the systolic array, gets a token, and others wait until its instruction has ended
//! (`$3.dst`) or has read (`$3.src`).
//!
//! What is open, that is, what bytes each token's instruction may still have to write or to read,
//! flows over the edges of control flow ([`flow`], [`state`]) until nothing new comes; what waits
//! closes it. A token is set again where nothing of it is open, least recently set first; else for
//! an instruction that waits for its last one anyway, which needs no other annotation then; else
//! the one that was set first. So reuse waits for nobody as long as tokens last.
//!
//! Facts of an instruction are computed once ([`facts`]). A block is looked at again when more is
//! open at its start; after [`VISITS`] of it a token that is open there is open everywhere, so that
//! there is an end to that. Within a block all is bounded by what tokens and windows hold: the
//! stage is linear in instructions.
//!
//! Needs: physical instructions whose targets are known. Makes: the same with annotations, and
//! instructions to put before some.

mod facts;
mod flow;
mod order;
mod state;
#[cfg(test)]
mod tests;

use crate::emit::{Physical, Reach};
use crate::mir::operand::synchronize;
use crate::target::Target;
use facts::{By, Fact, Facts, PIPES, pipe};
use flow::Flow;
use gantry_isa_gen::exec_unit::pairs;
use gantry_isa_gen::swsb::{Distance, Pipe, Token, TokenKind};
use gantry_isa_gen::{Inst, Platform, Reg, Src, Swsb, SyncFn, Type};
use order::{Distances, distances};
use smallvec::SmallVec;
use state::{Open, Opens, State, Tokens, bits, join};

/// How often a block is looked at with what is open byte by byte.
const VISITS: u32 = 12;
/// No token.
const NONE: u8 = u8::MAX;

/// What an instruction waits for out of order, and the token that is set for it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Waits {
    /// Tokens whose instructions must have ended.
    ended: Tokens,
    /// ... must have read.
    read: Tokens,
}

/// Physical instructions, annotated where the platform wants it.
pub(crate) fn annotated(mut physical: Physical, target: &Target) -> Physical {
    let syncs = annotate(target.platform(), &mut physical.insts, &physical.reaches);
    physical.insert(syncs);
    physical
}

/// Annotates code; what comes back stands before the instructions of these numbers, in their order.
/// `reaches` in the order of their instructions.
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
    let flow = Flow::of(insts, &facts);
    let mut tokens = Assigned::new(&facts, f.sb_tokens as usize, f.swsb_pipes.len() == 1);
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

/// Which token is set for each instruction.
struct Assigned<'a> {
    facts: &'a Facts,
    of: Vec<u8>,
    state: State,
    /// When each token was set last, by the order in which they were given.
    last: Vec<u32>,
    given: u32,
    /// The first chunk that hardware tracks.
    tracked: u16,
}

impl<'a> Assigned<'a> {
    fn new(facts: &'a Facts, tokens: usize, one_pipe: bool) -> Assigned<'a> {
        Assigned {
            facts,
            of: vec![NONE; facts.insts.len()],
            state: State::new(facts.chunks, tokens),
            last: vec![0; tokens],
            given: 0,
            tracked: if one_pipe { facts.file } else { u16::MAX },
        }
    }

    /// Follows what is open through the code until nothing new comes: what each instruction waits
    /// for.
    fn solve(&mut self, flow: &Flow) -> Vec<Waits> {
        let mut waits = vec![Waits::default(); self.of.len()];
        let blocks = flow.blocks.len();
        let mut open: Vec<Opens> = vec![Opens::new(); blocks];
        let mut visits = vec![0u32; blocks];
        let mut dirty = vec![true; blocks];
        // By turns in the order of the code, in which most is before what it leads to.
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

    /// One instruction: what it waits for, and what is open behind it.
    fn step(&mut self, n: usize) -> Waits {
        let facts = self.facts;
        let Some(fact) = facts.insts.get(n) else {
            return Waits::default();
        };
        let touches = facts.touches(fact);
        let function = match fact.by {
            By::OutOfOrder(f) => Some(f),
            By::Pipe(_) => None,
            By::Nobody => return Waits::default(),
        };
        let sets = function.filter(|_| !fact.ends);
        let own = sets.map(|_| self.token(n, function));
        let mut out = Waits::default();
        if let Some(t) = own {
            self.state.wait(t, TokenKind::Dst);
        }
        let [ended, _] = self.state.needs(touches, function);
        for t in bits(ended) {
            self.state.wait(t, TokenKind::Dst);
        }
        out.ended = ended;
        // The latest first: those before it of the same function have read then.
        while let Some(t) = self.state.latest(self.state.needs(touches, function)[1]) {
            self.state.wait(t, TokenKind::Src);
            out.read |= 1 << t;
        }
        if let (Some(t), Some(f)) = (own, sets) {
            self.state.set(t, (f, fact.sure), touches, self.tracked);
        }
        out
    }

    /// The token of an instruction: as before, or one that nobody waits for.
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

/// So many tokens.
fn every(tokens: usize) -> Tokens {
    u32::MAX >> (u32::BITS - (tokens as u32).clamp(1, u32::BITS))
}

/// What is open of a token is open everywhere.
fn widen(opens: &mut Opens, chunks: usize) {
    let mut kinds: Vec<(u8, bool, u8)> = opens
        .iter()
        .map(|o| (o.token, o.write, o.function))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    opens.clear();
    for (token, write, function) in kinds {
        opens.extend((0..chunks as u16).map(|chunk| Open {
            token,
            write,
            chunk,
            function,
            mask: u64::MAX,
        }));
    }
    opens.sort_unstable();
}

/// Says in an instruction what it waits for, as far as there is room; what comes back says the rest
/// before it.
fn annotation(
    platform: Platform,
    inst: &mut Inst<Reg>,
    fact: &Fact,
    distances: &Distances,
    waits: Waits,
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
    let room: SmallVec<[(Pipe, TokenKind); 4]> = pairs(platform, inst.op).collect();
    // The names that a distance has: its pipe's own; where it is the instruction's only one, none;
    // and all pipes'.
    let own = |d: Distance| one_pipe || matches!(d.pipe, p if fact.own == 1 << index_of(p));
    let beside = |d: Distance, kind| {
        let has = |p| room.contains(&(p, kind));
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
    let Waits {
        mut ended,
        mut read,
    } = waits;
    let mut token = set.map(|sbid| Token {
        sbid,
        kind: TokenKind::Set,
    });
    if token.is_none() {
        // The one that fits beside the distance, or the only annotation.
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

/// The one distance that waits for all of these.
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
