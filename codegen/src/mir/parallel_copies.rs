//! Sequentialization of parallel copies.

use crate::mir::VReg;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Copies, each `(to, from)`.
pub(crate) type Copies = SmallVec<[(VReg, VReg); 8]>;

/// Number of copies up to which each is compared with each.
const FEW: usize = 8;

/// Returns copies `(to, from)` in an order with the effect of all at once. No register is copied to
/// twice. For a cycle of copies, `save` returns a temporary like its argument, which is copied
/// there first.
pub(crate) fn sequence(copies: &[(VReg, VReg)], mut save: impl FnMut(VReg) -> VReg) -> Copies {
    let mut copies: Copies = copies.iter().copied().filter(|(t, f)| t != f).collect();
    // Mostly no copy overwrites the source of another.
    let reads = |r: VReg| copies.iter().any(|(_, from)| *from == r);
    if copies.len() <= FEW && !copies.iter().any(|(to, _)| reads(*to)) {
        return copies;
    }
    let mut out = Copies::with_capacity(copies.len());
    // Copies by the register that they write.
    let mut writes: Vec<(VReg, usize)> = copies.iter().enumerate().map(|(n, c)| (c.0, n)).collect();
    writes.sort_unstable();
    let writer = |r: VReg| {
        let n = writes.binary_search_by_key(&r, |w| w.0).ok()?;
        writes.get(n).map(|w| w.1)
    };
    // Number of copies left that read what a copy overwrites.
    let mut readers = vec![0u32; copies.len()];
    for (_, from) in &copies {
        if let Some(n) = writer(*from) {
            readers[n] += 1;
        }
    }
    let mut done = vec![false; copies.len()];
    let mut ready: VecDeque<usize> = (0..copies.len()).filter(|&n| readers[n] == 0).collect();
    for first in 0..copies.len() {
        while let Some(n) = ready.pop_front() {
            let (to, from) = copies[n];
            done[n] = true;
            out.push((to, from));
            if let Some(w) = writer(from) {
                readers[w] -= 1;
                if readers[w] == 0 && !done[w] {
                    ready.push_back(w);
                }
            }
        }
        if done[first] {
            continue;
        }
        // Only cycles are left: each register is read by one copy, the one before it in the cycle.
        let saved = save(copies[first].0);
        out.push((saved, copies[first].0));
        let mut n = first;
        while let Some(w) = writer(copies[n].1).filter(|&w| w != first) {
            n = w;
        }
        copies[n].1 = saved;
        readers[first] = 0;
        ready.push_back(first);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::Rng;
    use cranelift_entity::EntityRef;

    #[test]
    fn random_copies() {
        let mut rng = Rng::new(3);
        for _ in 0..2000 {
            let regs = 1 + rng.below(8) as usize;
            let mut copies = Vec::new();
            for to in 0..regs {
                if !rng.one_in(4) {
                    let from = rng.below(regs as u32) as usize;
                    copies.push((VReg::new(to), VReg::new(from)));
                }
            }
            let mut next = regs;
            let made = sequence(&copies, |_| {
                next += 1;
                VReg::new(next - 1)
            });
            let mut state: Vec<usize> = (0..next).collect();
            for &(to, from) in &made {
                assert_ne!(to, from);
                state[to.index()] = state[from.index()];
            }
            let mut want: Vec<usize> = (0..regs).collect();
            for &(to, from) in &copies {
                want[to.index()] = from.index();
            }
            assert_eq!(state[..regs], want[..], "{copies:?} {made:?}");
            // One more copy per cycle only.
            let moving = copies.iter().filter(|c| c.0 != c.1).count();
            assert!(made.len() <= moving + moving / 2);
            assert_eq!(made.len() - moving, next - regs);
        }
    }
}
