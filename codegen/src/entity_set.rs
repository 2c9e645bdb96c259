//! Maps and sets of entities that are allocated at full size, since growth entry by entry
//! reallocates repeatedly.

use cranelift_entity::{EntityRef, SecondaryMap};
use std::marker::PhantomData;

/// Makes a map for entities below `count`, each with the default value.
pub fn sized<K: EntityRef, V: Clone + Default>(count: usize) -> SecondaryMap<K, V> {
    let mut map = SecondaryMap::with_capacity(count);
    map.resize(count);
    map
}

/// Set of entities, one bit each.
///
/// Unlike an [`EntitySet`](cranelift_entity::EntitySet) it grows only for entities beyond its size.
/// An `EntitySet` would check that by a call per insertion, and passes over whole functions insert
/// every value.
#[derive(Clone, Debug)]
pub(crate) struct Marks<K> {
    words: Vec<u64>,
    of: PhantomData<K>,
}

impl<K: EntityRef> Marks<K> {
    /// Makes an empty set for entities below `count`.
    pub(crate) fn sized(count: usize) -> Marks<K> {
        Marks {
            words: vec![0; count.div_ceil(u64::BITS as usize)],
            of: PhantomData,
        }
    }

    fn bit(k: K) -> (usize, u64) {
        let n = k.index();
        let bits = u64::BITS as usize;
        (n / bits, 1 << (n % bits))
    }

    /// Returns true if the set contains an entity.
    #[inline]
    pub(crate) fn contains(&self, k: K) -> bool {
        let (word, bit) = Self::bit(k);
        self.words.get(word).is_some_and(|w| w & bit != 0)
    }

    /// Inserts an entity. Returns true if it was absent.
    #[inline]
    pub(crate) fn insert(&mut self, k: K) -> bool {
        let (word, bit) = Self::bit(k);
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Value;

    #[test]
    fn contains_inserted_entities() {
        let mut set: Marks<Value> = Marks::sized(3);
        let all = [0, 1, 63, 64, 200].map(Value::from_u32);
        for v in all {
            assert!(!set.contains(v));
            assert!(set.insert(v));
            assert!(!set.insert(v));
        }
        let there = (0..300).map(Value::from_u32).filter(|v| set.contains(*v));
        assert_eq!(there.collect::<Vec<_>>(), all);
    }
}
