//! Allocation of the GRF file at byte granularity.

pub mod allocation_map;
pub mod baseline;
pub mod bundles;
pub(crate) mod fragmentation;
pub(crate) mod lane_sharing;
pub(crate) mod parts_demand;
pub(crate) mod place;
pub(crate) mod preferences;
pub(crate) mod relax_constraints;
pub(crate) mod remat;
pub(crate) mod sparse_map;
pub mod spill;
pub(crate) mod split;
pub(crate) mod split_wide;
pub(crate) mod tied_operands;
pub(crate) mod timeline;
