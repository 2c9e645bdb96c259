//! What is taken at which program points, as sets of a few bits: a tree of fixed shape over the
//! points, of which each node has as many below it, so that what is taken anywhere in a range is
//! the union of few sets, most of them side by side.

use crate::mir::liveness::Range;
use std::ops::BitOrAssign;

/// Nodes below a node, as a power of two.
const FAN: u32 = 4;

/// Nodes that are emptied in the time that it takes to find those of a range.
const FEW: usize = 100;

/// The points, then levels of nodes, each behind the one below.
#[derive(Clone, Debug, Default)]
pub(in crate::regalloc) struct Timeline<T> {
    /// Where each level begins.
    levels: Vec<usize>,
    /// Nodes of all levels; what is behind them is empty.
    nodes: usize,
    /// Per point what is taken; of other nodes, what is taken anywhere below, but for what was
    /// taken at all points below one around it.
    any: Vec<T>,
    /// Of all levels but that of the points: what was taken at all points below at once.
    all: Vec<T>,
    points: u32,
    /// The ranges that something was taken over, as long as they are few.
    ranges: Vec<Range>,
}

impl<T: Copy + Default + BitOrAssign> Timeline<T> {
    /// Empties it for so many points.
    pub(in crate::regalloc) fn clear(&mut self, points: u32) {
        if self.has_few() {
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
            if n <= 1 << FAN {
                break;
            }
            n = n.div_ceil(1 << FAN);
        }
        self.nodes = sum;
        let above = sum - points as usize;
        for (list, used) in [(&mut self.any, sum), (&mut self.all, above)] {
            list.resize(list.len().max(used), T::default());
        }
    }

    /// Whether to empty it range by range is less than to empty all.
    fn has_few(&self) -> bool {
        self.ranges.len() < self.nodes / FEW
    }

    /// What is taken anywhere in a range.
    pub(in crate::regalloc) fn taken(&self, range: Range) -> T {
        let points = self.points as usize;
        let mut out = T::default();
        each(&self.levels, self.points, range, |at| match at {
            Nodes::Of(nodes) => {
                let of = self.any.get(nodes).unwrap_or(&[]);
                of.iter().for_each(|t| out |= *t);
            }
            Nodes::Around(node) => {
                if let Some(t) = self.all.get(node - points) {
                    out |= *t;
                }
            }
        });
        out
    }

    /// Takes GRFs over a range.
    pub(in crate::regalloc) fn take(&mut self, range: Range, more: T) {
        if self.has_few() {
            self.ranges.push(range);
        }
        self.change(range, |t| *t |= more);
    }

    /// Bytes of its lists, as they were asked for.
    #[cfg(test)]
    pub(in crate::regalloc) fn bytes(&self) -> usize {
        let nodes = self.any.capacity() + self.all.capacity();
        nodes * size_of::<T>() + self.ranges.capacity() * size_of::<Range>()
    }

    /// Changes the nodes of a range and those around it.
    #[inline]
    fn change(&mut self, range: Range, f: impl Fn(&mut T)) {
        let points = self.points as usize;
        let (any, all) = (&mut self.any, &mut self.all);
        each(&self.levels, self.points, range, |at| match at {
            Nodes::Of(nodes) => {
                // Points have nothing below them.
                if nodes.start >= points {
                    let of = all.get_mut(nodes.start - points..nodes.end - points);
                    of.unwrap_or(&mut []).iter_mut().for_each(&f);
                }
                let of = any.get_mut(nodes).unwrap_or(&mut []);
                of.iter_mut().for_each(&f);
            }
            Nodes::Around(node) => {
                if let Some(t) = any.get_mut(node) {
                    f(t);
                }
            }
        });
    }
}

/// Nodes that a range has to do with.
enum Nodes {
    /// It consists of them, and others.
    Of(std::ops::Range<usize>),
    /// An end of it is below.
    Around(usize),
}

/// Calls `f` with the nodes that a range consists of, and those that its ends are below of.
#[inline]
fn each(levels: &[usize], points: u32, range: Range, mut f: impl FnMut(Nodes)) {
    let (first, end) = (range.start, range.end.min(points));
    if first >= end {
        return;
    }
    let (mut from, mut to) = (first, end);
    let mut whole = true;
    for (n, &level) in levels.iter().enumerate() {
        let shift = FAN * n as u32;
        let node = |a: u32| level + a as usize;
        if n > 0 {
            let (a, b) = (first >> shift, (end - 1) >> shift);
            f(Nodes::Around(node(a)));
            if a != b {
                f(Nodes::Around(node(b)));
            }
        }
        if !whole {
            continue;
        }
        let (inner, outer) = (from.div_ceil(1 << FAN), to >> FAN);
        if inner >= outer || n + 1 == levels.len() {
            f(Nodes::Of(node(from)..node(to)));
            whole = false;
        } else {
            f(Nodes::Of(node(from)..node(inner << FAN)));
            f(Nodes::Of(node(outer << FAN)..node(to)));
            (from, to) = (inner, outer);
        }
    }
}
