//! List scheduler.

use super::Schedule;
use super::graph::DependenceGraph;
use super::units::SegmentUnits;
use gantry_isa_gen::perf::Clock;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Priority of units.
pub(super) trait Policy {
    /// Returns the rank of a unit. Units with a rank go first, the lowest before others. The rest
    /// keep their order.
    fn rank(&self, graph: &DependenceGraph, n: usize) -> Option<u32>;

    /// Returns true if there is space for a unit with a rank. If not, others go before it, in their
    /// order.
    fn fits(&self, _n: usize) -> bool {
        true
    }

    /// Called when a unit was issued.
    fn issued(&mut self, _n: usize) {}
}

/// Order of the units of a segment.
#[derive(Default)]
pub(super) struct ListScheduler {
    waits: Vec<u32>,
    done: Vec<bool>,
    /// Units that only wait for a cycle.
    later: BinaryHeap<Reverse<(u32, u32)>>,
    /// Ready units, by rank.
    ranked: BinaryHeap<Reverse<(u32, u32)>>,
    /// Ready units without a rank or space, in their order.
    others: BinaryHeap<Reverse<u32>>,
    order: Vec<u32>,
}

/// Drops units that were issued already from the top of a heap, and returns its first other one.
fn top<T: Ord + Copy>(heap: &mut BinaryHeap<Reverse<T>>, done: impl Fn(T) -> bool) -> Option<T> {
    while let Some(Reverse(t)) = heap.peek() {
        if !done(*t) {
            return Some(*t);
        }
        heap.pop();
    }
    None
}

impl ListScheduler {
    /// Orders and issues the units of a segment.
    pub(super) fn run(
        &mut self,
        units: &SegmentUnits,
        graph: &DependenceGraph,
        clock: &mut Clock,
        policy: &mut impl Policy,
    ) {
        self.order.clear();
        self.waits.clear();
        self.waits.extend_from_slice(graph.waits());
        self.done.clear();
        self.done.resize(units.len(), false);
        self.later.clear();
        self.ranked.clear();
        self.others.clear();
        for n in 0..units.len() {
            if self.waits.get(n) == Some(&0) {
                self.wait(units, n, clock);
            }
        }
        while let Some(n) = self.next(graph, clock, policy) {
            self.done[n] = true;
            self.order.push(n as u32);
            units.issue(n, clock);
            policy.issued(n);
            for (to, _) in graph.after(n) {
                self.waits[to] -= 1;
                if self.waits[to] == 0 {
                    self.wait(units, to, clock);
                }
            }
        }
    }

    /// Queues a unit whose dependences have all been issued.
    fn wait(&mut self, units: &SegmentUnits, n: usize, clock: &Clock) {
        self.later
            .push(Reverse((units.earliest(n, clock), n as u32)));
    }

    fn next(
        &mut self,
        graph: &DependenceGraph,
        clock: &Clock,
        policy: &impl Policy,
    ) -> Option<usize> {
        let done = |n: u32| self.done.get(n as usize).copied().unwrap_or(false);
        while let Some((cycle, n)) = top(&mut self.later, |t| done(t.1))
            && cycle <= clock.now()
        {
            self.later.pop();
            match policy.rank(graph, n as usize) {
                Some(rank) => self.ranked.push(Reverse((rank, n))),
                None => self.others.push(Reverse(n)),
            }
        }
        let first = top(&mut self.ranked, |t| done(t.1)).map(|t| t.1);
        if let Some(n) = first
            && policy.fits(n as usize)
        {
            self.ranked.pop();
            return Some(n as usize);
        }
        if let Some(n) = top(&mut self.others, done) {
            self.others.pop();
            return Some(n as usize);
        }
        // No unit is ready, or none has space: takes the one that waits least, or the first.
        let soonest = top(&mut self.later, |t| done(t.1)).map(|t| t.1);
        let n = match (first, soonest) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        n.map(|n| n as usize)
    }

    /// Appends the units in the order found.
    pub(super) fn order(&self, units: &SegmentUnits, out: &mut Schedule) {
        for &n in &self.order {
            units.places(n as usize).for_each(|at| out.push(at));
        }
    }
}
