//! Random control-flow graphs.

use crate::programs::program::{Arg, Term};
use crate::programs::rng::Rng;

/// Draws targets of `n` blocks from `first` on, mostly forward, or back to possible loop headers.
/// `end` is the exit.
pub fn graph(r: &mut Rng, first: usize, n: usize, end: usize) -> Vec<Term> {
    let none = Arg::Var(0);
    let to = |r: &mut Rng, b: usize| {
        first
            + match r.below(10) {
                0 if b > 0 => 1 + r.below(b),
                1 => 1 + r.below(n - 1),
                _ => (b + 1 + r.below(3)).min(n - 1).max(1),
            }
    };
    let term = |b: usize| match r.below(9) {
        _ if b == n - 1 => Term::Goto(end),
        0 => Term::Goto(end),
        1 | 2 => Term::Goto(to(r, b)),
        3 => {
            let cases = (0..1 + r.below(3) as u32).map(|v| (v, to(r, b))).collect();
            let bit = r.below(20) as u32;
            Term::Switch(Arg::Var(usize::from(!r.one_in(3))), bit, to(r, b), cases)
        }
        _ => match (to(r, b), to(r, b)) {
            (t, e) if t == e => Term::Goto(t),
            (t, e) => Term::If(none.clone(), t, e),
        },
    };
    let mut all: Vec<Term> = (0..n).map(term).collect();
    // A branch whose sides join at another branch.
    if n > 5 && !r.one_in(4) {
        let b = r.below(n - 5);
        let at = first + b;
        all[b] = Term::If(none.clone(), at + 1, at + 2);
        all[b + 1] = if r.one_in(4) {
            Term::If(none.clone(), at + 2, at + 3)
        } else {
            Term::Goto(at + 3)
        };
        all[b + 2] = Term::Goto(at + 3);
        let behind = at + 4;
        let (t, e) = (behind, behind + 1 + r.below(first + n - behind - 1));
        let (t, e) = if r.one_in(2) { (t, e) } else { (e, t) };
        all[b + 3] = Term::If(none, t, e);
    }
    // A chain of blocks that leads to another branch, whose targets have other predecessors as
    // well.
    let k = 2 + r.below(2);
    if n > k + 4 && r.one_in(2) {
        let b = r.below(n - k - 4);
        let [around, asks, stores, end] = [0, 1, 2, 3].map(|n| first + b + k + n);
        let either = |r: &mut Rng, (t, e): (usize, usize)| {
            let (t, e) = if r.one_in(2) { (t, e) } else { (e, t) };
            Term::If(Arg::Var(0), t, e)
        };
        for n in 0..k {
            all[b + n] = either(r, (asks, first + b + n + 1));
        }
        all[around - first] = Term::Goto(end);
        all[asks - first] = either(r, (stores, end));
        all[stores - first] = Term::Goto(end);
    }
    all
}
