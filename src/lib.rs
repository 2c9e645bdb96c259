//! Gantry.
