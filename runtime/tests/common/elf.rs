//! Zebins around code of tests.

use gantry_runtime::zebin::write_for;

/// A small zebin for a product family.
pub fn zebin(ze_info: &str, kernels: &[(&str, Vec<u8>)], product: u32) -> Vec<u8> {
    write_for(product, ze_info, kernels)
}
