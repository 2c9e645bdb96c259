//! Cache policies of accesses: how each level of the caches treats the lines of an access.
//!
//! Messages of the load/store cache of Xe-HPG and Xe-HPC have a policy. Messages of the data port
//! have none: there the memory object (MOCS) decides, and a policy of the IR has no effect. A
//! policy never changes what an access loads or stores.

use super::immediate::keyword;
use super::opcode::Opcode;
use super::text::{Parser, Res};

gantry_isa_gen::named_enum! {
    /// Policy of a cache level for the lines of an access.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum LevelPolicy {
        /// Policy of the memory object.
        #[default]
        Default = "default",
        /// Not cached.
        Uncached = "uncached",
        /// Cached.
        Cached = "cached",
        /// Cached, and stored to the next level at once.
        WriteThrough = "write_through",
        /// Cached, and stored to the next level when the line is evicted.
        WriteBack = "write_back",
        /// Cached as the first line to be evicted.
        Streaming = "streaming",
        /// Invalidated after the read, which is the last one.
        ReadInvalidate = "read_invalidate",
    }
}

keyword!(LevelPolicy);

/// Policies of both cache levels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct CachePolicy {
    /// Policy of the first level, which is private to a core.
    pub l1: LevelPolicy,
    /// Policy of the third level, which all cores share.
    pub l3: LevelPolicy,
}

const fn pair(l1: LevelPolicy, l3: LevelPolicy) -> CachePolicy {
    CachePolicy { l1, l3 }
}

/// Policies of atomics, which bypass the first level.
const ATOMICS: [CachePolicy; 2] = {
    use LevelPolicy::*;
    [pair(Uncached, Uncached), pair(Uncached, WriteBack)]
};

/// Policies of stores.
const STORES: [CachePolicy; 7] = {
    use LevelPolicy::*;
    [
        pair(Uncached, Uncached),
        pair(Uncached, WriteBack),
        pair(WriteThrough, Uncached),
        pair(WriteThrough, WriteBack),
        pair(Streaming, Uncached),
        pair(Streaming, WriteBack),
        pair(WriteBack, WriteBack),
    ]
};

/// Policies of loads.
const LOADS: [CachePolicy; 7] = {
    use LevelPolicy::*;
    [
        pair(Uncached, Uncached),
        pair(Uncached, Cached),
        pair(Cached, Uncached),
        pair(Cached, Cached),
        pair(Streaming, Uncached),
        pair(Streaming, Cached),
        pair(ReadInvalidate, Cached),
    ]
};

/// Policies of prefetches: those of loads that leave the line in a cache.
const PREFETCHES: [CachePolicy; 5] = {
    use LevelPolicy::*;
    [
        pair(Uncached, Cached),
        pair(Cached, Uncached),
        pair(Cached, Cached),
        pair(Streaming, Uncached),
        pair(Streaming, Cached),
    ]
};

impl CachePolicy {
    /// Policy of the memory object, at both levels.
    pub const DEFAULT: CachePolicy = pair(LevelPolicy::Default, LevelPolicy::Default);

    /// Returns the policies that messages have for an opcode, besides the default.
    pub const fn choices(opcode: Opcode) -> &'static [CachePolicy] {
        match opcode {
            Opcode::Load | Opcode::Bload | Opcode::Block2dLoad => &LOADS,
            Opcode::Store | Opcode::Bstore | Opcode::Block2dStore => &STORES,
            Opcode::Prefetch | Opcode::Block2dPrefetch => &PREFETCHES,
            Opcode::Atomic => &ATOMICS,
            _ => &[],
        }
    }

    /// Checks that messages have the policy for an opcode.
    ///
    /// # Errors
    /// Returns an error that lists the policies that there are.
    pub fn check(self, opcode: Opcode) -> Result<(), String> {
        let all = CachePolicy::choices(opcode);
        if self == CachePolicy::DEFAULT || all.contains(&self) {
            return Ok(());
        }
        let mut names = String::new();
        for policy in all {
            policy.print(&mut names);
            names.push(',');
        }
        let names = names.trim_start().trim_end_matches(',');
        let mut own = String::new();
        self.print(&mut own);
        let own = own.trim_start();
        Err(format!("no `{opcode}` is `{own}`: there is {names}"))
    }

    /// Returns the policy with a level that is the default chosen, if the other one is not: cached,
    /// as far as messages have that for an opcode. A policy that they do not have is the default.
    pub fn completed(self, opcode: Opcode) -> CachePolicy {
        use LevelPolicy::{Cached, Default, Uncached, WriteBack, WriteThrough};
        let candidates = match (self.l1, self.l3) {
            (Default, Default) => return self,
            (Default, l3) => [Cached, WriteThrough, Uncached].map(|l1| pair(l1, l3)),
            (l1, Default) => [Cached, WriteBack, Uncached].map(|l3| pair(l1, l3)),
            _ => [self; 3],
        };
        let all = CachePolicy::choices(opcode);
        let found = candidates.into_iter().find(|c| all.contains(c));
        found.unwrap_or_default()
    }

    /// Appends the text of a policy that is not the default, after a space: ` l1 cached l3 cached`.
    pub(crate) fn print(self, out: &mut String) {
        if self != CachePolicy::DEFAULT {
            for (level, policy) in [(" l1 ", self.l1), (" l3 ", self.l3)] {
                out.push_str(level);
                out.push_str(policy.name());
            }
        }
    }

    /// Parses `l1 cached l3 cached`, or nothing.
    ///
    /// # Errors
    /// Returns a diagnostic at the token that is wrong.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Res<CachePolicy> {
        if !p.eat_word("l1") {
            return Ok(CachePolicy::DEFAULT);
        }
        let l1 = p.choice(&LevelPolicy::ALL, LevelPolicy::name, "a cache policy")?;
        p.keyword("l3")?;
        let l3 = p.choice(&LevelPolicy::ALL, LevelPolicy::name, "a cache policy")?;
        Ok(CachePolicy { l1, l3 })
    }

    /// Returns the bytes of a cache key.
    pub(crate) const fn key(self) -> [u8; 2] {
        [self.l1 as u8, self.l3 as u8]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_completed() {
        use LevelPolicy::*;
        let done = |opcode, l1, l3| pair(l1, l3).completed(opcode);
        let (load, store) = (Opcode::Load, Opcode::Store);
        assert_eq!(done(load, Default, Default), CachePolicy::DEFAULT);
        assert_eq!(done(load, Streaming, Default), pair(Streaming, Cached));
        assert_eq!(done(load, Uncached, Default), pair(Uncached, Cached));
        assert_eq!(done(load, Default, Uncached), pair(Cached, Uncached));
        assert_eq!(
            done(store, WriteThrough, Default),
            pair(WriteThrough, WriteBack)
        );
        // Messages have no such policy.
        assert_eq!(done(load, Uncached, WriteBack), CachePolicy::DEFAULT);
        for opcode in [load, store, Opcode::Atomic, Opcode::Prefetch] {
            for policy in CachePolicy::choices(opcode) {
                assert_eq!(policy.completed(opcode), *policy);
                assert!(policy.check(opcode).is_ok());
            }
        }
    }
}
