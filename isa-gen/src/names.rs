//! Short names packed into integers, for lookups in tables of names without string comparison.

/// Packs a name of up to eight bytes into an integer that sorts as the name does. Returns `None`
/// for longer names.
#[inline]
pub(crate) const fn key(name: &str) -> Option<u64> {
    let bytes = name.as_bytes();
    if bytes.len() > 8 {
        return None;
    }
    let mut key = 0;
    let mut n = 0;
    while n < bytes.len() {
        key |= (bytes[n] as u64) << (56 - 8 * n);
        n += 1;
    }
    Some(key)
}

/// Packs a name of a table, which has no names of over eight bytes.
pub(crate) const fn table_key(name: &str) -> u64 {
    match key(name) {
        Some(key) => key,
        None => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ordered_and_at_most_eight_bytes() {
        assert!(key("add") < key("add3") && key("add3") < key("addc"));
        assert_eq!(key(""), Some(0));
        assert_eq!(key("nineteens"), None);
    }
}
