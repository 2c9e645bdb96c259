//! Moves that go round in rings, where there is little room to go by.

use super::Scan;
use super::occupancy::File;
use super::parallel_moves::{Move, in_order};
use crate::mir::insert::Inserted;
use crate::mir::operand::whole_move;
use crate::mir::{VReg, VRegData};
use gantry_isa_gen::ExecSize;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// The moves of values of whole GRFs a GRF at a time, where there are any.
fn in_parts(moves: &[Move], grf: u32) -> Option<Vec<Move>> {
    let falls = |m: &Move| {
        let whole = [m.bytes, m.from, m.to]
            .iter()
            .all(|n| n.is_multiple_of(grf));
        whole && m.bytes > grf && m.from != m.to
    };
    if !moves.iter().any(falls) {
        return None;
    }
    let mut out = Vec::with_capacity(moves.len() * 2);
    for m in moves {
        if falls(m) {
            out.extend((0..m.bytes).step_by(grf as usize).map(|part| Move {
                part,
                from: m.from + part,
                to: m.to + part,
                bytes: grf,
                ..*m
            }))
        } else {
            out.push(*m)
        }
    }
    Some(out)
}

impl Scan<'_> {
    /// Moves in order, rings by way of what is not taken, or not yet; values of whole GRFs, if
    /// nothing else helps, a GRF at a time, so that one that is free is enough. `taken`: by what
    /// does not move, and in the end.
    pub(super) fn order(&self, moves: Vec<Move>, taken: &File) -> Option<Vec<Move>> {
        let parts = in_parts(&moves, self.code.grf.bytes);
        let whole = self.order_of(moves, taken);
        whole.or_else(|| self.order_of(parts?, taken))
    }

    fn order_of(&self, moves: Vec<Move>, taken: &File) -> Option<Vec<Move>> {
        in_order(moves, |m, left| {
            let within = self.within(m.who);
            // A part is of a whole GRF.
            let align = if m.bytes == self.bytes(m.who) {
                self.align[m.who]
            } else {
                m.bytes
            };
            let mut now = taken.clone();
            for l in left {
                now.put(l.who, &(l.from..l.from + l.bytes));
            }
            now.find((m.bytes, align), &within, &[]).or_else(|| {
                // Where another goes that waits for this one then.
                let mut now = taken.clone();
                for l in left {
                    now.take(l.who, &(l.to..l.to + l.bytes));
                }
                for l in left {
                    now.put(l.who, &(l.from..l.from + l.bytes));
                }
                now.find((m.bytes, align), &within, &[])
            })
        })
    }

    /// Moves before an instruction, in this order, what bundles hold. `members`: which of a
    /// bundle's registers those are.
    pub(super) fn copies(
        &mut self,
        at: u32,
        moves: &[Move],
        members: impl Fn(&Self, VReg) -> SmallVec<[VReg; 2]>,
    ) -> Option<()> {
        // Where bundles come from and go to: a part leaves first from its own place, and goes last
        // to it.
        let mut homes: BTreeMap<VReg, (u32, u32)> = BTreeMap::new();
        for m in moves {
            let (from, to) = (m.from.wrapping_sub(m.part), m.to.wrapping_sub(m.part));
            homes.entry(m.who).or_insert((from, to)).1 = to;
        }
        // Parts that are on their way, and values that have begun in their new places.
        let mut away: BTreeMap<(VReg, u32), VReg> = BTreeMap::new();
        let mut begun: BTreeSet<VReg> = BTreeSet::new();
        for m in moves {
            let all = members(self, m.who);
            if all.is_empty() {
                return None;
            }
            if m.bytes == self.bytes(m.who) {
                all.into_iter().for_each(|r| self.copy(at, r, m));
                continue;
            }
            // Of several that share a place each would have its parts.
            let &[r] = &all[..] else {
                return None;
            };
            let &(from, to) = homes.get(&m.who)?;
            let src = match away.remove(&(m.who, m.part)) {
                Some(temp) => (temp, 0),
                None => (self.name(r, from), m.part),
            };
            let (dst, starts) = if m.to == to + m.part {
                let name = self.name(r, to);
                ((name, m.part), begun.insert(name))
            } else {
                let temp = VRegData::anywhere(m.bytes, self.code.grf);
                let temp = self.vregs.push(temp);
                self.address[temp] = m.to;
                away.insert((m.who, m.part), temp);
                ((temp, 0), true)
            };
            let exec = ExecSize::new(m.bytes / 4)?;
            self.new.push(Inserted {
                at: at as usize,
                after: false,
                inst: whole_move(exec, dst, src, starts),
            });
        }
        Some(())
    }
}
