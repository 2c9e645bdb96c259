//! Tests that `cubecl-wgpu` has for its WGSL compiler.

#![allow(unexpected_cfgs, unused_imports, reason = "what the macros make")]

mod tests {
    pub type TestRuntime = gantry_wgpu_cubecl::GantryRuntime;
    use half::f16;

    cubecl_core::testgen_all!(f32: [f16, f32], i32: [i32, i64], u32: [u32, u64]);
    cubecl_std::testgen!();
    cubecl_std::testgen_tensor_identity!([flex32, f32, u32]);
    cubecl_std::testgen_quantized_view!(f32);
    cubecl_core::testgen_profiling!();
}
