//! Moves that form cycles, with little free space to break them.

use super::SplitScan;
use super::occupancy::Occupancy;
use super::parallel_moves::{Move, sequentialize};
use crate::mir::insert::Inserted;
use crate::mir::operand::whole_move;
use crate::mir::{VReg, VRegData};
use gantry_isa_gen::ExecSize;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the moves with values of several GRFs split into one move per GRF. Returns `None` if
/// there are no such values.
fn in_parts(moves: &[Move], grf: u32) -> Option<Vec<Move>> {
    let splits = |m: &Move| {
        let whole = [m.bytes, m.from, m.to]
            .iter()
            .all(|n| n.is_multiple_of(grf));
        whole && m.bytes > grf && m.from != m.to
    };
    if !moves.iter().any(splits) {
        return None;
    }
    let mut out = Vec::with_capacity(moves.len() * 2);
    for m in moves {
        if splits(m) {
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

impl SplitScan<'_> {
    /// Puts moves in order. Cycles are broken through bytes that are free, or free at that time. If
    /// that fails, values of whole GRFs move one GRF at a time, so that one free GRF is enough.
    /// `taken` has the bytes that do not move and the final places.
    pub(super) fn sequence(&self, moves: Vec<Move>, taken: &Occupancy) -> Option<Vec<Move>> {
        let parts = in_parts(&moves, self.code.grf.bytes);
        let whole = self.try_sequence(moves, taken);
        whole.or_else(|| self.try_sequence(parts?, taken))
    }

    fn try_sequence(&self, moves: Vec<Move>, taken: &Occupancy) -> Option<Vec<Move>> {
        sequentialize(moves, |m, left| {
            let within = self.within(m.bundle);
            // A part is a whole GRF.
            let align = if m.bytes == self.bytes(m.bundle) {
                self.align[m.bundle]
            } else {
                m.bytes
            };
            let mut now = taken.clone();
            for l in left {
                now.put(l.bundle, &(l.from..l.from + l.bytes));
            }
            now.find((m.bytes, align), &within, &[]).or_else(|| {
                // Tries the goal of another move that has to wait for this one.
                let mut now = taken.clone();
                for l in left {
                    now.take(l.bundle, &(l.to..l.to + l.bytes));
                }
                for l in left {
                    now.put(l.bundle, &(l.from..l.from + l.bytes));
                }
                now.find((m.bytes, align), &within, &[])
            })
        })
    }

    /// Inserts moves of bundles before an instruction, in this order. `members` returns a bundle's
    /// live registers.
    pub(super) fn emit_moves(
        &mut self,
        at: u32,
        moves: &[Move],
        members: impl Fn(&Self, VReg) -> SmallVec<[VReg; 2]>,
    ) -> Option<()> {
        // Source and goal of each bundle. The first move of a part is from its place in the source,
        // the last one to its place in the goal.
        let mut ends: BTreeMap<VReg, (u32, u32)> = BTreeMap::new();
        for m in moves {
            let (from, to) = (m.from.wrapping_sub(m.part), m.to.wrapping_sub(m.part));
            ends.entry(m.bundle).or_insert((from, to)).1 = to;
        }
        // Parts in temporary places, and values that have started in their goals.
        let mut parked: BTreeMap<(VReg, u32), VReg> = BTreeMap::new();
        let mut started: BTreeSet<VReg> = BTreeSet::new();
        for m in moves {
            let all = members(self, m.bundle);
            if all.is_empty() {
                return None;
            }
            if m.bytes == self.bytes(m.bundle) {
                all.into_iter().for_each(|r| self.copy(at, r, m));
                continue;
            }
            // A part cannot be copied for several registers that share a place.
            let &[r] = &all[..] else {
                return None;
            };
            let &(from, to) = ends.get(&m.bundle)?;
            let src = match parked.remove(&(m.bundle, m.part)) {
                Some(temp) => (temp, 0),
                None => (self.name(r, from), m.part),
            };
            let (dst, starts) = if m.to == to + m.part {
                let name = self.name(r, to);
                ((name, m.part), started.insert(name))
            } else {
                let temp = VRegData::anywhere(m.bytes, self.code.grf);
                let temp = self.vregs.push(temp);
                self.address[temp] = m.to;
                parked.insert((m.bundle, m.part), temp);
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
