//! A timeline maps program points to small sets of occupied bits. It is a tree of fixed shape over
//! the points. The bits that are occupied anywhere in a range are the union of few nodes' sets,
//! most of them adjacent.

use crate::mir::liveness::Range;
use std::ops::BitOrAssign;

/// Children of a node, as a power of two.
const FAN_OUT: u32 = 4;

/// Number of nodes that can be cleared in the time that finding the nodes of one range takes.
const NODES_PER_RANGE: usize = 100;

/// Tree of occupied bits. The level of the points comes first, each level above follows it.
#[derive(Clone, Debug, Default)]
pub(in crate::regalloc) struct Timeline<T> {
    /// Index of the first node of each level.
    levels: Vec<usize>,
    /// Number of nodes of all levels. Entries from there on are empty.
    nodes: usize,
    /// Occupied bits per node. For a point, the bits occupied there. For other nodes, the bits
    /// occupied at any point below, except those that were marked for the whole range of an
    /// ancestor.
    any: Vec<T>,
    /// Bits marked for all points below a node at once. Has no entries for the level of the points.
    all: Vec<T>,
    points: u32,
    /// Ranges that were marked, as long as they are few.
    ranges: Vec<Range>,
}

impl<T: Copy + Default + BitOrAssign> Timeline<T> {
    /// Clears the timeline for `points` points.
    pub(in crate::regalloc) fn clear(&mut self, points: u32) {
        if self.has_few_ranges() {
            let mut ranges = std::mem::take(&mut self.ranges);
            for range in ranges.drain(..) {
                self.change(range, |t| *t = T::default());
            }
            self.ranges = ranges;
        } else {
            self.ranges.clear();
            let above = self.nodes - self.points as usize;
            for (list, used) in [(&mut self.any, self.nodes), (&mut self.all, above)] {
                list.get_mut(..used).unwrap_or(&mut []).fill(T::default());
            }
        }
        self.points = points;
        self.levels.clear();
        let (mut n, mut sum) = (points as usize, 0);
        loop {
            self.levels.push(sum);
            sum += n;
            if n <= 1 << FAN_OUT {
                break;
            }
            n = n.div_ceil(1 << FAN_OUT);
        }
        self.nodes = sum;
        let above = sum - points as usize;
        for (list, used) in [(&mut self.any, sum), (&mut self.all, above)] {
            list.resize(list.len().max(used), T::default());
        }
    }

    /// Returns true if clearing range by range is cheaper than clearing all nodes.
    fn has_few_ranges(&self) -> bool {
        self.ranges.len() < self.nodes / NODES_PER_RANGE
    }

    /// Returns the bits that are occupied anywhere in a range.
    pub(in crate::regalloc) fn taken(&self, range: Range) -> T {
        let points = self.points as usize;
        let mut out = T::default();
        each(&self.levels, self.points, range, |at| match at {
            RangeNodes::Inside(nodes) => {
                self.any[nodes].iter().for_each(|t| out |= *t);
            }
            RangeNodes::Ancestor(node) => {
                if let Some(t) = self.all.get(node - points) {
                    out |= *t;
                }
            }
        });
        out
    }

    /// Marks bits as occupied over a range.
    pub(in crate::regalloc) fn take(&mut self, range: Range, more: T) {
        if self.has_few_ranges() {
            self.ranges.push(range);
        }
        self.change(range, |t| *t |= more);
    }

    /// Returns the bytes of allocated memory.
    #[cfg(test)]
    pub(in crate::regalloc) fn bytes(&self) -> usize {
        let nodes = self.any.capacity() + self.all.capacity();
        nodes * size_of::<T>() + self.ranges.capacity() * size_of::<Range>()
    }

    /// Applies `f` to the nodes of a range and to their ancestors.
    #[inline]
    fn change(&mut self, range: Range, f: impl Fn(&mut T)) {
        let points = self.points as usize;
        let (any, all) = (&mut self.any, &mut self.all);
        each(&self.levels, self.points, range, |at| match at {
            RangeNodes::Inside(nodes) => {
                // Points have no children.
                if nodes.start >= points {
                    let of = all.get_mut(nodes.start - points..nodes.end - points);
                    of.unwrap_or(&mut []).iter_mut().for_each(&f);
                }
                let of = any.get_mut(nodes).unwrap_or(&mut []);
                of.iter_mut().for_each(&f);
            }
            RangeNodes::Ancestor(node) => {
                if let Some(t) = any.get_mut(node) {
                    f(t);
                }
            }
        });
    }
}

/// Nodes that a range affects.
enum RangeNodes {
    /// Nodes that are completely inside the range.
    Inside(std::ops::Range<usize>),
    /// A node that has an end of the range below it.
    Ancestor(usize),
}

/// Calls `f` with the nodes that make up a range, and with the ancestors of its two end points.
#[inline]
fn each(levels: &[usize], points: u32, range: Range, mut f: impl FnMut(RangeNodes)) {
    let (first, end) = (range.start, range.end.min(points));
    if first >= end {
        return;
    }
    let (mut from, mut to) = (first, end);
    let mut whole = true;
    for (n, &level) in levels.iter().enumerate() {
        let shift = FAN_OUT * n as u32;
        let node = |a: u32| level + a as usize;
        if n > 0 {
            let (a, b) = (first >> shift, (end - 1) >> shift);
            f(RangeNodes::Ancestor(node(a)));
            if a != b {
                f(RangeNodes::Ancestor(node(b)));
            }
        }
        if !whole {
            continue;
        }
        let (inner, outer) = (from.div_ceil(1 << FAN_OUT), to >> FAN_OUT);
        if inner >= outer || n + 1 == levels.len() {
            f(RangeNodes::Inside(node(from)..node(to)));
            whole = false;
        } else {
            f(RangeNodes::Inside(node(from)..node(inner << FAN_OUT)));
            f(RangeNodes::Inside(node(outer << FAN_OUT)..node(to)));
            (from, to) = (inner, outer);
        }
    }
}
