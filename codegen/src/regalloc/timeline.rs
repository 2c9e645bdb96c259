//! What is taken at which program points, as sets of a few bits: a tree of fixed shape over the points, of which each node has as many below it, so that
//! what is taken anywhere in a range is the union of few sets, most of them side by side.

use crate::liveness::Range;
use std::ops::BitOrAssign;

/// Nodes below a node, as a power of two.
const FAN: u32 = 4;

/// The points, then levels of nodes, each behind the one below.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline<T> {
    /// Where each level begins.
    levels: Vec<usize>,
    /// Per point what is taken; of other nodes, what is taken anywhere below, but for what was taken at all points below one around it.
    any: Vec<T>,
    /// Of all levels but that of the points: what was taken at all points below at once.
    all: Vec<T>,
    points: u32,
}

impl<T: Copy + Default + BitOrAssign> Timeline<T> {
    /// Empties it for so many points.
    pub(super) fn clear(&mut self, points: u32) {
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
        self.any.clear();
        self.any.resize(sum, T::default());
        self.all.clear();
        self.all.resize(sum - points as usize, T::default());
    }

    /// What is taken anywhere in a range.
    pub(super) fn taken(&self, range: Range) -> T {
        let points = self.points as usize;
        let mut out = T::default();
        each(&self.levels, self.points, range, |nodes, around| {
            let of = match around {
                false => self.any.get(nodes),
                true => self.all.get(nodes.start - points..nodes.end - points),
            };
            of.unwrap_or(&[]).iter().for_each(|t| out |= *t);
        });
        out
    }

    /// Takes GRFs over a range.
    pub(super) fn take(&mut self, range: Range, more: T) {
        let points = self.points as usize;
        let (any, all) = (&mut self.any, &mut self.all);
        each(&self.levels, self.points, range, |nodes, around| {
            let above = nodes.start.max(points) - points..nodes.end.max(points) - points;
            let of = any.get_mut(nodes).unwrap_or(&mut []);
            of.iter_mut().for_each(|t| *t |= more);
            if !around {
                let of = all.get_mut(above).unwrap_or(&mut []);
                of.iter_mut().for_each(|t| *t |= more);
            }
        });
    }
}

/// Calls `f` with the nodes that a range consists of, and those that its ends are below of (`true`).
#[inline]
fn each(
    levels: &[usize],
    points: u32,
    range: Range,
    mut f: impl FnMut(std::ops::Range<usize>, bool),
) {
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
            f(node(a)..node(a) + 1, true);
            if a != b {
                f(node(b)..node(b) + 1, true);
            }
        }
        if !whole {
            continue;
        }
        let (inner, outer) = (from.div_ceil(1 << FAN), to >> FAN);
        if inner >= outer || n + 1 == levels.len() {
            f(node(from)..node(to), false);
            whole = false;
        } else {
            f(node(from)..node(inner << FAN), false);
            f(node(outer << FAN)..node(to), false);
            (from, to) = (inner, outer);
        }
    }
}
