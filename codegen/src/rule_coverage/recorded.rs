//! Set of the rules and repairs that were used.

use super::Repair;

include!(concat!(env!("OUT_DIR"), "/lower_rules.rs"));
include!(concat!(env!("OUT_DIR"), "/opt_rules.rs"));

/// Number of words in a set of lowering rules.
const WORDS: usize = RULES.len().div_ceil(64);
/// Number of words in a set of optimizer rules.
const OPT_WORDS: usize = OPT_RULES.len().div_ceil(64);

/// Set of rules and repairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fired {
    rules: [u64; WORDS],
    opt: [u64; OPT_WORDS],
    repairs: u64,
}

impl Default for Fired {
    fn default() -> Fired {
        Fired {
            rules: [0; WORDS],
            opt: [0; OPT_WORDS],
            repairs: 0,
        }
    }
}

impl Fired {
    /// Adds a rule by its index in [`RULES`].
    pub(crate) fn rule(&mut self, n: u32) {
        if let Some(word) = self.rules.get_mut(n as usize / 64) {
            *word |= 1 << (n % 64);
        }
    }

    /// Adds a rule of the optimizer by its index in [`OPT_RULES`].
    pub(crate) fn opt_rule(&mut self, n: u32) {
        if let Some(word) = self.opt.get_mut(n as usize / 64) {
            *word |= 1 << (n % 64);
        }
    }

    /// Adds a repair.
    pub(crate) fn repair(&mut self, r: Repair) {
        self.repairs |= 1 << r as u8;
    }

    /// Adds all of another set.
    pub fn extend(&mut self, other: &Fired) {
        let rules = self.rules.iter_mut().zip(&other.rules);
        for (a, b) in rules.chain(self.opt.iter_mut().zip(&other.opt)) {
            *a |= b;
        }
        self.repairs |= other.repairs;
    }

    /// Returns true if a lowering rule is in the set, by its index in [`RULES`].
    pub fn has_rule(&self, n: usize) -> bool {
        has(&self.rules, n)
    }

    /// Returns true if a rule of the optimizer is in the set, by its index in [`OPT_RULES`].
    pub fn has_opt_rule(&self, n: usize) -> bool {
        has(&self.opt, n)
    }

    /// Returns true if a repair is in the set.
    pub fn has_repair(&self, r: Repair) -> bool {
        self.repairs >> r as u8 & 1 == 1
    }
}

fn has(words: &[u64], n: usize) -> bool {
    words.get(n / 64).is_some_and(|w| w >> (n % 64) & 1 == 1)
}
