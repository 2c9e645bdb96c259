//! The tree itself: which room of a crate may use which, facts that are stated once, packages, and
//! the words that it is written in.

mod facts;
mod packages;
mod rooms;
mod words;
