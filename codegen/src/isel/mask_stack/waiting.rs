//! Persistent maps of the channels that wait at each join point: binary trees that share equal
//! parts. Nodes never change.

use crate::ir::Value;
use crate::mir::JoinPoint;
use cranelift_entity::EntityRef;

/// Channels that wait at a join point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waiting {
    /// No channel.
    Nobody,
    /// Channels that no value holds.
    Unknown,
    /// Channels of a resume mask.
    Mask(Value),
}

impl Waiting {
    fn code(self) -> u32 {
        match self {
            Waiting::Nobody => 0,
            Waiting::Unknown => 1,
            Waiting::Mask(v) => v.as_u32() + 2,
        }
    }

    fn of(code: u32) -> Waiting {
        match code {
            0 => Waiting::Nobody,
            1 => Waiting::Unknown,
            n => Waiting::Mask(Value::from_u32(n - 2)),
        }
    }
}

/// Map: the number of its root node, or of its only entry. In map 0 no channel waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct WaitMap(u32);

/// All maps of a function.
#[derive(Debug)]
pub(super) struct WaitMaps {
    /// Nodes. Node 0 is the empty tree.
    nodes: Vec<[u32; 2]>,
    /// Levels of nodes above the entries.
    levels: u32,
}

impl WaitMaps {
    /// Returns storage for maps of a number of join points.
    pub(super) fn new(points: usize) -> WaitMaps {
        WaitMaps {
            nodes: vec![[0; 2]],
            levels: usize::BITS - points.saturating_sub(1).leading_zeros(),
        }
    }

    fn node(&self, n: u32) -> [u32; 2] {
        self.nodes.get(n as usize).copied().unwrap_or_default()
    }

    pub(super) fn get(&self, map: WaitMap, at: JoinPoint) -> Waiting {
        let key = at.index();
        let mut n = map.0;
        for level in (0..self.levels).rev() {
            n = self.node(n)[key >> level & 1];
        }
        Waiting::of(n)
    }

    pub(super) fn set(&mut self, map: WaitMap, at: JoinPoint, to: Waiting) -> WaitMap {
        let key = at.index();
        let mut path = [[0; 2]; usize::BITS as usize];
        let mut n = map.0;
        for level in (0..self.levels).rev() {
            path[level as usize] = self.node(n);
            n = self.node(n)[key >> level & 1];
        }
        let mut n = to.code();
        for level in 0..self.levels {
            let mut node = path[level as usize];
            node[key >> level & 1] = n;
            n = 0;
            if node != [0; 2] {
                n = self.nodes.len() as u32;
                self.nodes.push(node);
            }
        }
        WaitMap(n)
    }

    /// Returns the join points at which two maps differ.
    pub(super) fn differing(&self, a: WaitMap, b: WaitMap) -> Vec<JoinPoint> {
        let mut out = Vec::new();
        let mut work = vec![(a.0, b.0, self.levels, 0)];
        while let Some((a, b, level, key)) = work.pop() {
            if a == b {
                continue;
            }
            let Some(below) = level.checked_sub(1) else {
                out.push(JoinPoint::new(key));
                continue;
            };
            let (x, y) = (self.node(a), self.node(b));
            for side in 0..2 {
                work.push((x[side], y[side], below, key << 1 | side));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_hold_what_was_put_and_share_the_rest() {
        for points in [1, 2, 3, 8, 100] {
            let mut maps = WaitMaps::new(points);
            let mut map = WaitMap::default();
            let mask = |n: usize| Waiting::Mask(Value::from_u32(n as u32));
            for n in 0..points {
                map = maps.set(map, JoinPoint::new(n), mask(n));
            }
            for n in 0..points {
                assert_eq!(maps.get(map, JoinPoint::new(n)), mask(n));
            }
            let other = maps.set(map, JoinPoint::new(points / 2), Waiting::Unknown);
            assert_eq!(maps.differing(map, other), [JoinPoint::new(points / 2)]);
            let back = maps.set(other, JoinPoint::new(points / 2), mask(points / 2));
            assert_eq!(maps.differing(map, back), []);
            for n in 0..points {
                map = maps.set(map, JoinPoint::new(n), Waiting::Nobody);
            }
            assert_eq!(map, WaitMap::default());
        }
    }
}
