//! Launches of the kernels, with a file for each file of kernels.

mod atomic;
mod atomic_c11;
mod ballot;
mod block;
mod block_types;
mod builtins;
mod classics;
mod control;
mod dot;
mod double;
mod exact;
mod globals;
mod half;
mod image;
mod image_kinds;
mod int;
mod library;
mod local;
mod math;
mod matrix;
mod matrix_kinds;
mod named;
mod numeric;
mod picture;
mod printf;
mod private;
mod restrict;
mod sampler;
mod subgroup;
mod vector;

use super::case::Case;

/// Returns every launch.
pub fn cases() -> Vec<Case> {
    [
        atomic::cases(),
        atomic_c11::cases(),
        ballot::cases(),
        block::cases(),
        block_types::cases(),
        builtins::cases(),
        classics::cases(),
        control::cases(),
        dot::cases(),
        double::cases(),
        exact::cases(),
        globals::cases(),
        half::cases(),
        image::cases(),
        image_kinds::cases(),
        int::cases(),
        library::cases(),
        local::cases(),
        math::cases(),
        matrix::cases(),
        matrix_kinds::cases(),
        named::cases(),
        numeric::cases(),
        picture::cases(),
        printf::cases(),
        private::cases(),
        restrict::cases(),
        sampler::cases(),
        subgroup::cases(),
        vector::cases(),
    ]
    .concat()
}
