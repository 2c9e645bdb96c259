//! Maps from entities, and sets of them, that have an entry for each from the start: a map that
//! grows entry by entry asks for memory again and again.

use cranelift_entity::{EntityRef, SecondaryMap};
use std::marker::PhantomData;

/// A map with room for entities of up to `count`, each with the default.
pub fn sized<K: EntityRef, V: Clone + Default>(count: usize) -> SecondaryMap<K, V> {
    let mut map = SecondaryMap::with_capacity(count);
    map.resize(count);
    map
}

/// A set of entities, a bit each. Unlike an [`EntitySet`](cranelift_entity::EntitySet) it asks for
/// memory only where there is no bit: that is a call for each entity otherwise, and passes over
/// whole functions put all values in one.
#[derive(Clone, Debug)]
pub(crate) struct Marks<K> {
    words: Vec<u64>,
    of: PhantomData<K>,
}

impl<K: EntityRef> Marks<K> {
    /// The empty set, with room for entities of up to `count`.
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

    /// Whether it is in the set.
    #[inline]
    pub(crate) fn contains(&self, k: K) -> bool {
        let (word, bit) = Self::bit(k);
        self.words.get(word).is_some_and(|w| w & bit != 0)
    }

    /// Puts it into the set; whether it was not there.
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
    fn a_set_has_what_was_put_into_it() {
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
