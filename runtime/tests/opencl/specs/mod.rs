//! What the kernels are launched with, a file for each file of kernels.

mod atomic;
mod block;
mod classics;
mod control;
mod dot;
mod double;
mod half;
mod int;
mod local;
mod math;
mod matrix;
mod private;
mod subgroup;
mod vector;

use crate::case::Case;

/// Kernels that nothing launches: file, kernel, and why.
pub const UNJUDGED: &[(&str, &str, &str)] = &[
    ("block", "block_image", IMAGES),
    ("image", "image_copy", IMAGES),
    ("image", "image_blur", IMAGES),
    ("image", "image_resize", IMAGES),
    ("image", "image_3d", IMAGES),
    ("image", "image_1d", IMAGES),
    ("image", "image_arrays", IMAGES),
    ("image", "image_read_write", IMAGES),
    ("printf", "print_numbers", PRINTF),
    ("printf", "print_vectors", PRINTF),
];

const IMAGES: &str = "the simulator has no images";
const PRINTF: &str = "the simulator has no printf";

/// Every launch.
pub fn cases() -> Vec<Case> {
    [
        atomic::cases(),
        block::cases(),
        classics::cases(),
        control::cases(),
        dot::cases(),
        double::cases(),
        half::cases(),
        int::cases(),
        local::cases(),
        math::cases(),
        matrix::cases(),
        private::cases(),
        subgroup::cases(),
        vector::cases(),
    ]
    .concat()
}
