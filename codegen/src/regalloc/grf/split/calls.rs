//! Splitting at calls.

use super::SplitScan;
use super::occupancy::{ByteRange, Occupancy, overlap};
use super::parallel_moves::Move;
use crate::mir::insert::together;
use crate::mir::{MInst, Routine, VReg};

impl SplitScan<'_> {
    /// Prepares for a call. Values live across it leave the shared places of all routines that may
    /// run. The places that these values then have are reserved in the routine.
    pub(super) fn call(&mut self, routine: Routine, i: u32) -> Option<()> {
        let code = self.code;
        let all: Vec<VReg> = self
            .file
            .occupants(&(0..code.grf.size()))
            .into_iter()
            .collect();
        let shared = self.active[routine]
            .iter()
            .flat_map(|r| &self.named_shared[*r]);
        let avoid: Vec<ByteRange> = shared.map(|&(r, at)| at..at + self.bytes(r)).collect();
        // Moves come before all instructions tied to the call, where operands whose last touch is
        // there are still live.
        let tied = together(code, i as usize, |_| false)..i as usize;
        let last = code.insts[tied].iter();
        let last = last.filter_map(|m| match *m {
            MInst::Touch { reg, .. } if !self.is_live(reg) => Some(self.place(self.root[reg])),
            _ => None,
        });
        let taken: Vec<ByteRange> = avoid.iter().cloned().chain(last).collect();
        let mut file = self.file.clone();
        let mut moves = Vec::new();
        for bundle in all {
            let place = self.place(bundle);
            if !avoid.iter().any(|b| overlap(b, &place)) || self.shared_places[bundle].is_some() {
                continue;
            }
            if !self.may_move(bundle) {
                return None;
            }
            let layout = (self.bytes(bundle), self.align[bundle]);
            let to = file.find(layout, &self.within(bundle), &taken)?;
            file.put(bundle, &(to..to + layout.0));
            moves.push(Move {
                bundle,
                part: 0,
                from: place.start,
                to,
                bytes: layout.0,
            });
        }
        self.apply_moves(i, moves)?;
        // Shared bundles that the routine names are live in it too.
        let mut file = self.file.clone();
        for &(bundle, _) in &self.named_shared[routine] {
            if !self.members[bundle].is_empty() {
                file.take(bundle, &self.place(bundle));
            }
        }
        let reserved = self.reserved[routine].get_or_insert_with(|| Occupancy::new(code.grf));
        reserved.reserve(&file);
        Some(())
    }
}
