//! Moves of several values at once: what each place had before goes to another, in an order in
//! which nothing is overwritten that is still to move.

use super::occupancy::{Bytes, meet};
use crate::mir::VReg;

/// A value, a bundle's, or a part of it, goes from one place to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Move {
    pub(super) who: VReg,
    /// The part's first byte in the value: 0 of a whole one.
    pub(super) part: u32,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bytes: u32,
}

impl Move {
    fn source(&self) -> Bytes {
        self.from..self.from + self.bytes
    }

    fn goal(&self) -> Bytes {
        self.to..self.to + self.bytes
    }

    /// What moves.
    fn what(&self) -> (VReg, u32) {
        (self.who, self.part)
    }
}

/// Puts moves that happen at once in order. Where they go round in a ring, the smallest goes by a
/// place that `free` finds, for a move, beside what the moves that are left, itself among them, are
/// still to take away.
pub(super) fn in_order(
    mut all: Vec<Move>,
    mut free: impl FnMut(&Move, &[Move]) -> Option<u32>,
) -> Option<Vec<Move>> {
    all.retain(|m| m.from != m.to);
    let mut out = Vec::with_capacity(all.len());
    // Those that wait in a free place.
    let mut waits: Vec<(VReg, u32)> = Vec::new();
    while !all.is_empty() {
        let before = all.len();
        let mut n = 0;
        while n < all.len() {
            let goal = all[n].goal();
            let others = all.iter().enumerate().filter(|(k, _)| *k != n);
            if others.into_iter().any(|(_, o)| meet(&o.source(), &goal)) {
                n += 1;
            } else {
                out.push(all.remove(n));
            }
        }
        if all.len() == before {
            let in_way = |m: &Move| {
                let others = all.iter().filter(|o| o.what() != m.what());
                !waits.contains(&m.what())
                    && others.into_iter().any(|o| meet(&o.goal(), &m.source()))
            };
            let ring = all.iter().enumerate().filter(|(_, m)| in_way(m));
            let (n, m) = ring.min_by_key(|(_, m)| (m.bytes, m.from))?;
            let at = free(m, &all)?;
            out.push(Move { to: at, ..*m });
            waits.push(m.what());
            all[n].from = at;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::Rng;

    fn mv(who: u32, from: u32, to: u32, bytes: u32) -> Move {
        let who = VReg::from_u32(who);
        Move {
            who,
            part: 0,
            from,
            to,
            bytes,
        }
    }

    #[test]
    fn a_ring_goes_by_a_free_place_once() {
        let all = vec![mv(0, 0, 64, 64), mv(1, 64, 128, 64), mv(2, 128, 0, 64)];
        let out = in_order(all.clone(), |_, _| Some(512)).unwrap();
        assert_eq!(out.len(), 4);
        assert_eq!(in_order(all, |_, _| None), None);
        // A row of moves needs none.
        let row = vec![mv(0, 0, 64, 64), mv(1, 64, 128, 64)];
        assert_eq!(
            in_order(row, |_, _| None),
            Some(vec![mv(1, 64, 128, 64), mv(0, 0, 64, 64)])
        );
    }

    /// Values of all sizes from one packing to another, against a plain table.
    #[test]
    fn every_byte_arrives() {
        const SEED: u64 = 11;
        eprintln!("seed {SEED}");
        let mut rng = Rng::new(SEED);
        let (mut rings, mut rows) = (0, 0);
        for _ in 0..2000 {
            let pack = |rng: &mut Rng, sizes: &[(u32, u32)]| {
                let mut order: Vec<usize> = (0..sizes.len()).collect();
                for n in (1..order.len()).rev() {
                    order.swap(n, rng.below(n as u32 + 1) as usize);
                }
                let mut at = vec![0; sizes.len()];
                let mut next: u32 = 0;
                for n in order {
                    let (bytes, align) = sizes[n];
                    next = next.next_multiple_of(align) + align * rng.below(2);
                    at[n] = next;
                    next += bytes;
                }
                (at, next)
            };
            let sizes: Vec<(u32, u32)> = (0..2 + rng.below(8))
                .map(|_| {
                    let n = 1 << rng.below(8);
                    (n, n.min(32))
                })
                .collect();
            let ((from, a), (to, b)) = (pack(&mut rng, &sizes), pack(&mut rng, &sizes));
            let all: Vec<Move> = (0..sizes.len())
                .map(|n| mv(n as u32, from[n], to[n], sizes[n].0))
                .collect();
            let mut file = vec![(u32::MAX, 0); 8192];
            for m in &all {
                for k in 0..m.bytes {
                    file[(m.from + k) as usize] = (m.who.as_u32(), k);
                }
            }
            let mut temp = a.max(b).next_multiple_of(64);
            let out = in_order(all.clone(), |m, _| {
                temp += m.bytes.next_multiple_of(64);
                rings += 1;
                Some(temp - m.bytes.next_multiple_of(64))
            });
            for m in out.unwrap() {
                let was: Vec<_> = m.source().map(|k| file[k as usize]).collect();
                for (k, v) in was.into_iter().enumerate() {
                    file[m.to as usize + k] = v;
                }
                rows += 1;
            }
            for m in &all {
                for k in 0..m.bytes {
                    assert_eq!(file[(m.to + k) as usize], (m.who.as_u32(), k));
                }
            }
        }
        assert!(rings > 500 && rows > 5000, "{rings}, {rows}");
    }
}
