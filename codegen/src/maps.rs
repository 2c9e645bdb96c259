//! Maps from entities that have an entry for each of them from the start: a map that grows entry by entry asks for memory again and again.

use cranelift_entity::{EntityRef, SecondaryMap};

/// A map with room for entities of up to `count`, each with the default.
pub fn sized<K: EntityRef, V: Clone + Default>(count: usize) -> SecondaryMap<K, V> {
    let mut map = SecondaryMap::with_capacity(count);
    map.resize(count);
    map
}
