//! Graph of commands: each runs on a worker when all that it waits for has ended.
//!
//! A command is a [`Node`]. It counts the nodes that it waits for, and each of those has an edge to
//! it. The end of a node takes its edges, and a node that waits for nothing more is given to the
//! workers of its device. Each node has a lock of its own, and no code holds two of them. A chain
//! of any length ends without recursion.
//!
//! `node` has nodes and their ends, `workers` the threads, `event` the handles that the host has,
//! `few` short lists, and `tests` what happens in many orders.

mod event;
mod few;
mod node;
mod sync;
#[cfg(test)]
mod tests;
mod workers;

pub use event::{Event, EventState, EventTimes, HostEvent, Pending};
pub(crate) use node::{Done, Home, Label, Node, Work};
pub(crate) use workers::{Workers, WorkersHandle};
