//! Element types of Gen operands, which `gantry-meta` generates from its rows.

use crate::names::{key, table_key};
use std::fmt;

/// Keys of the suffixes, in the order of [`Type::ALL`].
static SUFFIX_KEYS: [u64; Type::ALL.len()] = {
    let mut keys = [0; Type::ALL.len()];
    let mut n = 0;
    while n < keys.len() {
        keys[n] = table_key(Type::ALL[n].suffix());
        n += 1;
    }
    keys
};

include!(concat!(env!("OUT_DIR"), "/types.rs"));

impl Type {
    /// Returns the type with this IGA suffix (without the colon).
    ///
    /// ```
    /// use gantry_isa_gen::Type;
    /// assert_eq!(Type::from_suffix("df"), Some(Type::Df));
    /// assert_eq!(Type::from_suffix("i32"), None);
    /// ```
    pub fn from_suffix(s: &str) -> Option<Type> {
        let key = key(s)?;
        let at = SUFFIX_KEYS.iter().position(|k| *k == key)?;
        Type::ALL.get(at).copied()
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.suffix())
    }
}
