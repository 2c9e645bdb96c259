//! Vectors of the IR: scalar replacement, demanded lanes, operations on elements, 64-bit integers
//! as pairs.

pub(crate) mod demanded_lanes;
pub(crate) mod lower_int64;
pub(crate) mod slp;
pub(crate) mod sroa;
