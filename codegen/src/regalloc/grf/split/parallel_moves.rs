//! Sequentialization of parallel moves. All moves read their sources before any writes its goal.
//! The sequence overwrites nothing that is still to move.

use super::occupancy::{ByteRange, overlap};
use crate::mir::VReg;

/// Move of a bundle's value, or of a part of it, from one place to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Move {
    pub(super) bundle: VReg,
    /// First byte of the part in the value. 0 for a whole value.
    pub(super) part: u32,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bytes: u32,
}

impl Move {
    fn source(&self) -> ByteRange {
        self.from..self.from + self.bytes
    }

    fn goal(&self) -> ByteRange {
        self.to..self.to + self.bytes
    }

    /// Returns the value and part that moves.
    fn id(&self) -> (VReg, u32) {
        (self.bundle, self.part)
    }
}

/// Puts parallel moves in order. If moves form a cycle, its smallest one goes through a place that
/// `free` finds. `free` gets the move and all moves that are left, including it, whose sources are
/// still occupied.
pub(super) fn sequentialize(
    mut all: Vec<Move>,
    mut free: impl FnMut(&Move, &[Move]) -> Option<u32>,
) -> Option<Vec<Move>> {
    all.retain(|m| m.from != m.to);
    let mut out = Vec::with_capacity(all.len());
    // Values in temporary places.
    let mut parked: Vec<(VReg, u32)> = Vec::new();
    while !all.is_empty() {
        let before = all.len();
        let mut n = 0;
        while n < all.len() {
            let goal = all[n].goal();
            let others = all.iter().enumerate().filter(|(k, _)| *k != n);
            if others.into_iter().any(|(_, o)| overlap(&o.source(), &goal)) {
                n += 1;
            } else {
                out.push(all.remove(n));
            }
        }
        if all.len() == before {
            let in_cycle = |m: &Move| {
                let others = all.iter().filter(|o| o.id() != m.id());
                !parked.contains(&m.id())
                    && others.into_iter().any(|o| overlap(&o.goal(), &m.source()))
            };
            let cycle = all.iter().enumerate().filter(|(_, m)| in_cycle(m));
            let (n, m) = cycle.min_by_key(|(_, m)| (m.bytes, m.from))?;
            let at = free(m, &all)?;
            out.push(Move { to: at, ..*m });
            parked.push(m.id());
            all[n].from = at;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::Rng;

    fn mv(bundle: u32, from: u32, to: u32, bytes: u32) -> Move {
        let bundle = VReg::from_u32(bundle);
        Move {
            bundle,
            part: 0,
            from,
            to,
            bytes,
        }
    }

    #[test]
    fn a_cycle_breaks_at_one_free_place() {
        let all = vec![mv(0, 0, 64, 64), mv(1, 64, 128, 64), mv(2, 128, 0, 64)];
        let out = sequentialize(all.clone(), |_, _| Some(512)).unwrap();
        assert_eq!(out.len(), 4);
        assert_eq!(sequentialize(all, |_, _| None), None);
        // A chain of moves needs none.
        let chain = vec![mv(0, 0, 64, 64), mv(1, 64, 128, 64)];
        assert_eq!(
            sequentialize(chain, |_, _| None),
            Some(vec![mv(1, 64, 128, 64), mv(0, 0, 64, 64)])
        );
    }

    /// Moves values of all sizes from one packing to another, and compares with a plain table.
    #[test]
    fn every_byte_arrives() {
        const SEED: u64 = 11;
        eprintln!("seed {SEED}");
        let mut rng = Rng::new(SEED);
        let (mut cycles, mut moves) = (0, 0);
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
                    file[(m.from + k) as usize] = (m.bundle.as_u32(), k);
                }
            }
            let mut temp = a.max(b).next_multiple_of(64);
            let out = sequentialize(all.clone(), |m, _| {
                temp += m.bytes.next_multiple_of(64);
                cycles += 1;
                Some(temp - m.bytes.next_multiple_of(64))
            });
            for m in out.unwrap() {
                let was: Vec<_> = m.source().map(|k| file[k as usize]).collect();
                for (k, v) in was.into_iter().enumerate() {
                    file[m.to as usize + k] = v;
                }
                moves += 1;
            }
            for m in &all {
                for k in 0..m.bytes {
                    assert_eq!(file[(m.to + k) as usize], (m.bundle.as_u32(), k));
                }
            }
        }
        assert!(cycles > 500 && moves > 5000, "{cycles}, {moves}");
    }
}
