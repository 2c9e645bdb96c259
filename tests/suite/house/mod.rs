//! The tree itself: which room of a crate may use which, and the words that it is written in.

mod rooms;
mod words;
