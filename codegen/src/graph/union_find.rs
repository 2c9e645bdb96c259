//! Disjoint sets of entities (union-find).

use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{EntityRef, SecondaryMap};

/// Disjoint sets of entities, as a forest. At first each entity is the only one of its set.
#[derive(Clone, Debug)]
pub struct UnionFind<E: EntityRef + ReservedValue> {
    /// Parent of each entity. Roots have none.
    parent: SecondaryMap<E, PackedOption<E>>,
}

impl<E: EntityRef + ReservedValue> Default for UnionFind<E> {
    fn default() -> Self {
        UnionFind::new(0)
    }
}

impl<E: EntityRef + ReservedValue> UnionFind<E> {
    /// Makes a set of each entity, with capacity for `count` of them.
    pub fn new(count: usize) -> UnionFind<E> {
        UnionFind {
            parent: crate::sized(count),
        }
    }

    /// Returns the root of an entity's set, and halves the path to it.
    pub fn find(&mut self, of: E) -> E {
        let mut at = of;
        while let Some(parent) = self.parent[at].expand() {
            let Some(above) = self.parent[parent].expand() else {
                return parent;
            };
            self.parent[at] = above.into();
            at = above;
        }
        at
    }

    /// Returns the root of an entity's set, and changes no path.
    pub fn root(&self, of: E) -> E {
        let mut at = of;
        while let Some(parent) = self.parent[at].expand() {
            at = parent;
        }
        at
    }

    /// Returns true if an entity is the root of its set.
    pub fn is_root(&self, e: E) -> bool {
        self.parent[e].is_none()
    }

    /// Adds the set of `from` to that of `into`, whose root stays. Returns the root of `into` and
    /// the former root of `from`, or `None` if both were in one set.
    pub fn union(&mut self, into: E, from: E) -> Option<(E, E)> {
        let (into, from) = (self.find(into), self.find(from));
        if into == from {
            return None;
        }
        self.parent[from] = into.into();
        Some((into, from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::Rng;
    use crate::ir::Value;

    #[test]
    fn sets_of_random_unions() {
        let mut rng = Rng::new(11);
        for _ in 0..100 {
            let count = 1 + rng.below(40);
            let mut sets = UnionFind::new(0);
            // Label of each entity's set, the reference.
            let mut labels: Vec<u32> = (0..count).collect();
            for _ in 0..rng.below(60) {
                let (a, b) = (rng.below(count), rng.below(count));
                let (into, from) = (labels[a as usize], labels[b as usize]);
                let joined = sets.union(Value::from_u32(a), Value::from_u32(b));
                assert_eq!(joined.is_some(), into != from);
                for label in labels.iter_mut().filter(|l| **l == from) {
                    *label = into;
                }
                for n in 0..count {
                    let v = Value::from_u32(n);
                    let root = sets.root(v);
                    assert_eq!(root.as_u32(), labels[n as usize]);
                    assert_eq!(sets.find(v), root);
                    assert_eq!(sets.is_root(v), root == v);
                }
            }
        }
    }
}
