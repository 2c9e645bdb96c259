//! Addresses: which memory an access goes to, by how wide numbers, in how many messages.
//!
//! Passes of the optimizer (`opt`), a file a pass, and what they share: who uses a value (`uses.rs`), which argument an address is in (`based.rs`),
//! the low halves of 64-bit values (`halves.rs`), addresses as sums (`sums.rs`), between which numbers values are (`ranges.rs`), which accesses may meet (`places.rs`). They leave arithmetic that is there twice, or of constants, for the e-graph behind them.

mod based;
mod forward;
mod halves;
mod hoist;
mod merge;
mod pack;
mod parts;
mod places;
mod ranges;
mod sums;
mod surfaces;
mod uses;

pub(crate) use forward::{dead_stores, drop_scratch, forward};
pub(crate) use halves::{doublewords, halved};
pub(crate) use hoist::hoist;
pub(crate) use merge::{loads as merge_loads, stores as merge_stores};
pub(crate) use pack::pack;
pub(crate) use surfaces::surfaces;
