//! Graph algorithms that are independent of code.

pub mod dominators;
