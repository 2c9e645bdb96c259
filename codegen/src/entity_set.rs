//! Maps, sets and lists of entities that are allocated at full size, since growth entry by entry
//! reallocates repeatedly.

use cranelift_entity::{EntityRef, SecondaryMap};
use std::marker::PhantomData;
use std::ops::{Index, Range};

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

/// List of items for each entity, all in one allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntityLists<K: EntityRef, T> {
    items: Vec<T>,
    /// Start and end in `items` of each list.
    ranges: SecondaryMap<K, (u32, u32)>,
    /// One more than the highest entity that has a list.
    len: usize,
}

impl<K: EntityRef, T> Default for EntityLists<K, T> {
    fn default() -> Self {
        EntityLists::with_capacity(0, 0)
    }
}

impl<K: EntityRef, T> EntityLists<K, T> {
    /// Makes empty lists of entities below `count`, with capacity for `items` items.
    pub fn with_capacity(count: usize, items: usize) -> EntityLists<K, T> {
        EntityLists {
            items: Vec::with_capacity(items),
            ranges: sized(count),
            len: 0,
        }
    }

    /// Sets the list of an entity. The items of a former list stay in memory.
    pub fn push(&mut self, k: K, list: impl IntoIterator<Item = T>) {
        let first = self.items.len() as u32;
        self.items.extend(list);
        self.ranges[k] = (first, self.items.len() as u32);
        self.len = self.len.max(k.index() + 1);
    }

    /// Makes the lists of the first entities, in order.
    pub fn from_lists<I: IntoIterator<Item = T>>(lists: impl Iterator<Item = I>) -> Self {
        let mut out = EntityLists::default();
        for (n, list) in lists.enumerate() {
            out.push(K::new(n), list);
        }
        out
    }

    /// Returns the positions of an entity's items among all items.
    pub fn range(&self, k: K) -> Range<usize> {
        let (first, end) = self.ranges[k];
        first as usize..end as usize
    }

    /// Returns a number above that of every entity with a list.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no lists.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Iterates over the lists of all entities, in order.
    pub fn iter(&self) -> impl Iterator<Item = (K, &[T])> + Clone + '_ {
        (0..self.len).map(|n| (K::new(n), &self[K::new(n)]))
    }
}

impl<K: EntityRef, T: Copy> EntityLists<K, T> {
    /// Makes the lists of entities below `count` from pairs in any order, which each list keeps.
    /// `each` calls its argument with every pair. It is called twice, with the same pairs.
    pub fn grouped(count: usize, each: impl Fn(&mut dyn FnMut(K, T))) -> EntityLists<K, T> {
        let mut ranges: SecondaryMap<K, (u32, u32)> = sized(count);
        let mut any = None;
        each(&mut |k, item| {
            ranges[k].1 += 1;
            any = any.or(Some(item));
        });
        let mut sum = 0;
        for n in 0..count {
            let range = &mut ranges[K::new(n)];
            let first = sum;
            sum += range.1;
            *range = (first, first);
        }
        let mut items = any.map_or_else(Vec::new, |item| vec![item; sum as usize]);
        each(&mut |k, item| {
            let end = &mut ranges[k].1;
            items[*end as usize] = item;
            *end += 1;
        });
        EntityLists {
            items,
            ranges,
            len: count,
        }
    }
}

impl<K: EntityRef, T> Index<K> for EntityLists<K, T> {
    type Output = [T];

    /// Returns the list of an entity, which is empty if none was set.
    fn index(&self, k: K) -> &[T] {
        &self.items[self.range(k)]
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

    #[test]
    fn lists_keep_their_items() {
        let pairs = [(2, 'a'), (0, 'b'), (2, 'c'), (4, 'd'), (2, 'e')];
        let pairs = pairs.map(|(n, c)| (Value::from_u32(n), c));
        let grouped = EntityLists::grouped(5, |each| {
            pairs.iter().for_each(|&(v, c)| each(v, c));
        });
        let text = |l: &[char]| l.iter().collect::<String>();
        let all: Vec<String> = grouped.iter().map(|(_, l)| text(l)).collect();
        assert_eq!(all, ["b", "", "ace", "", "d"]);
        let mut pushed = EntityLists::default();
        for (v, list) in grouped.iter().filter(|(_, l)| !l.is_empty()) {
            pushed.push(v, list.iter().copied());
        }
        assert!(grouped.iter().eq(pushed.iter()));
        assert!(pushed[Value::from_u32(100)].is_empty());
    }
}
