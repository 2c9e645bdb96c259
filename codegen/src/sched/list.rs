//! The list scheduler.

use super::Order;
use super::graph::Graph;
use super::units::Units;
use gantry_isa_gen::perf::Clock;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Who goes first.
pub(super) trait Policy {
    /// Those with a rank go before others, the lowest first; all others as they came.
    fn rank(&self, graph: &Graph, n: usize) -> Option<u32>;

    /// Whether there is room for one with a rank. If not, others go before it, as they came.
    fn fits(&self, _n: usize) -> bool {
        true
    }

    /// It was put in order.
    fn issued(&mut self, _n: usize) {}
}

/// An order of the units of a segment.
#[derive(Default)]
pub(super) struct List {
    waits: Vec<u32>,
    done: Vec<bool>,
    /// Those that only wait for a cycle to come.
    later: BinaryHeap<Reverse<(u32, u32)>>,
    /// Those that can run, by rank.
    ranked: BinaryHeap<Reverse<(u32, u32)>>,
    /// Those that can run, and have no rank or no room, as they came.
    others: BinaryHeap<Reverse<u32>>,
    order: Vec<u32>,
}

/// Takes from a heap those that have been put in order already.
fn top<T: Ord + Copy>(heap: &mut BinaryHeap<Reverse<T>>, done: impl Fn(T) -> bool) -> Option<T> {
    while let Some(Reverse(t)) = heap.peek() {
        if !done(*t) {
            return Some(*t);
        }
        heap.pop();
    }
    None
}

impl List {
    /// Puts the units of a segment in order, and issues them.
    pub(super) fn run(
        &mut self,
        units: &Units,
        graph: &Graph,
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

    /// All that it waits for has been issued.
    fn wait(&mut self, units: &Units, n: usize, clock: &Clock) {
        self.later
            .push(Reverse((units.earliest(n, clock), n as u32)));
    }

    fn next(&mut self, graph: &Graph, clock: &Clock, policy: &impl Policy) -> Option<usize> {
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
        // Nobody can run, or nobody has room: who waits least, or came first.
        let soonest = top(&mut self.later, |t| done(t.1)).map(|t| t.1);
        let n = match (first, soonest) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        n.map(|n| n as usize)
    }

    /// Adds the units as they were put in order.
    pub(super) fn order(&self, units: &Units, out: &mut Order) {
        for &n in &self.order {
            units.places(n as usize).for_each(|at| out.push(at));
        }
    }
}
