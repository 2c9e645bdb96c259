//! Gantry's IR, lowering, register allocation, emission and zebin writing for Intel Gen GPUs.

pub mod builder;
pub mod ir;
pub mod text;
