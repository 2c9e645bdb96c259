//! What the kernels are launched with, a file for each file of kernels.

mod atomic;
mod block;
mod classics;
mod control;
mod dot;
mod double;
mod exact;
mod half;
mod image;
mod int;
mod local;
mod math;
mod matrix;
mod numeric;
mod picture;
mod printf;
mod private;
mod sampler;
mod subgroup;
mod vector;

use crate::case::Case;

/// Every launch.
pub fn cases() -> Vec<Case> {
    [
        atomic::cases(),
        block::cases(),
        classics::cases(),
        control::cases(),
        dot::cases(),
        double::cases(),
        exact::cases(),
        half::cases(),
        image::cases(),
        int::cases(),
        local::cases(),
        math::cases(),
        matrix::cases(),
        numeric::cases(),
        picture::cases(),
        printf::cases(),
        private::cases(),
        sampler::cases(),
        subgroup::cases(),
        vector::cases(),
    ]
    .concat()
}
