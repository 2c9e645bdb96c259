//! The tree itself: which room of a crate may use which, facts that are stated once, and the
//! words that it is written in.

mod facts;
mod rooms;
mod words;
