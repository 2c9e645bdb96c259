//! Graph algorithms that know nothing of code.

pub mod dominators;
