//! What an instruction may say: the rules of the PRM's "register region restrictions" and their kin.

pub mod geometry;
