//! Passes over vectors: SROA, demanded lanes, SLP, dwords as words, and 64-bit integers as pairs of
//! dwords.

pub(crate) mod demanded_lanes;
pub(crate) mod lower_int64;
pub(crate) mod narrow_ints;
pub(crate) mod slp;
pub(crate) mod sroa;
