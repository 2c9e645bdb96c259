#!/usr/bin/env bash
# Runs burn's own backend tests on Gantry: `burn-tests.sh CHECKOUT FOLDER [arguments of cargo test]`.
#
# CHECKOUT is burn's repository, which alone has the tests. FOLDER takes a package of them over the
# crates of the registry. `GANTRY_TARGET` names the product; `GANTRY_BESIDE=vulkan` runs the tests
# on the machine's own Vulkan instead, to tell whose a failure is.
#
# What is between the two:
# - burn 0.22 has no hook for the default device: its choice is patched in a copy of burn-dispatch.
# - A checkout that is older than 0.22.1 calls pools and `interpolate` by arguments that are options
#   since, and has `linalg` and `signal` in burn-tensor. The crate `earlier` has those names.
set -euo pipefail
programs="$(cd "$(dirname "$0")" && pwd)"
checkout="$(cd "$1" && pwd)/crates/burn-backend-tests"
mkdir -p "$2"
cd "$2"
shift 2
version=0.22.1

cargo fetch --quiet --manifest-path "$programs/Cargo.toml"
dispatch="$(cargo metadata --format-version 1 --manifest-path "$programs/Cargo.toml" |
  grep -o '"[^"]*burn-dispatch-'"$version"'/Cargo.toml"' | head -1 | tr -d '"')"
rm -rf burn-dispatch earlier src tests
cp -r "$(dirname "$dispatch")" burn-dispatch
cp -r "$checkout/src" "$checkout/tests" .
chmod -R u+w .

cat >> burn-dispatch/src/device.rs <<'RUST'

/// Device that stands in for the default one.
pub static DEFAULT: std::sync::OnceLock<DispatchDevice> = std::sync::OnceLock::new();
RUST
echo 'pub use crate::device::DEFAULT;' >> burn-dispatch/src/lib.rs
sed -i '/^impl Default for DispatchDevice/,/fn default/ s/fn default() -> Self {/&\
        if let Some(device) = DEFAULT.get() { return device.clone(); }/' burn-dispatch/src/device.rs
sed -i 's/^fn init_device_settings() {/&\
    let target = std::env::var("GANTRY_TARGET").unwrap_or_else(|_| "tgllp".to_owned());\
    let gpu = match std::env::var("GANTRY_BESIDE").as_deref() {\
        Ok("vulkan") => gantry_wgpu_programs::Gpu::vulkan(),\
        _ => gantry_wgpu_programs::Gpu::open(\&target),\
    };\
    let own = gantry_wgpu_programs::network::device_of(gpu.unwrap()).unwrap();\
    let _ = burn_dispatch::DEFAULT.set(own.as_dispatch().clone());/' tests/common/backend.rs

# Fields that are methods since, and fields that are new.
sed -i -E 's/(expected_re|output|data|to_data\(\))\.(dtype|shape)\b([^(])/\1.\2()\3/' \
  tests/tensor/{bool/ops/init,float/quantization/{ops/matmul,ops/quantize,scheme}}.rs tests/cubecl/fft.rs
sed -i 's/expected_re\.shape())/expected_re.shape().clone())/' tests/cubecl/fft.rs
sed -i 's/^ *align_corners: false,$/&\
            output_size: None,\
            scale_factor: None,/' tests/fusion/nhwc_relayout.rs

mkdir -p earlier/src
cat > earlier/Cargo.toml <<TOML
[package]
name = "earlier"
version = "0.0.0"
edition = "2024"
[dependencies]
burn-linalg = { version = "=$version", default-features = false, features = ["std", "wgpu", "fusion"] }
burn-signal = { version = "=$version", default-features = false, features = ["std", "wgpu", "autodiff", "fusion"] }
burn-tensor = { version = "=$version", default-features = false, features = ["std", "autodiff", "wgpu", "ndarray"] }
[features]
fusion = ["burn-linalg/fusion", "burn-signal/fusion", "burn-tensor/fusion"]
TOML
cat > earlier/src/lib.rs <<'RUST'
//! burn-tensor with the names and arguments that it had earlier.

pub use burn_linalg as linalg;
pub use burn_signal as signal;
pub use burn_tensor::*;

pub mod module {
    pub use burn_tensor::module::*;
    use burn_tensor::ops::{AvgPoolOptions, InterpolateOptions, MaxPoolOptions};
    use burn_tensor::{Int, Tensor};

    fn largest<const N: usize>(
        kernel_size: [usize; N],
        stride: [usize; N],
        padding: [usize; N],
        dilation: [usize; N],
        ceil_mode: bool,
    ) -> MaxPoolOptions<N> {
        let padding = padding.map(|p| (p, p));
        MaxPoolOptions { kernel_size, stride, padding, dilation, ceil_mode }
    }

    fn average<const N: usize>(
        kernel_size: [usize; N],
        stride: [usize; N],
        padding: [usize; N],
        count_include_pad: bool,
        ceil_mode: bool,
    ) -> AvgPoolOptions<N> {
        let padding = padding.map(|p| (p, p));
        AvgPoolOptions { kernel_size, stride, padding, count_include_pad, ceil_mode }
    }

    pub fn max_pool1d(x: Tensor<3>, k: usize, s: usize, p: usize, d: usize, ceil: bool) -> Tensor<3> {
        burn_tensor::module::max_pool1d(x, largest([k], [s], [p], [d], ceil))
    }

    pub fn max_pool2d(
        x: Tensor<4>,
        k: [usize; 2],
        s: [usize; 2],
        p: [usize; 2],
        d: [usize; 2],
        ceil: bool,
    ) -> Tensor<4> {
        burn_tensor::module::max_pool2d(x, largest(k, s, p, d, ceil))
    }

    pub fn max_pool1d_with_indices(
        x: Tensor<3>,
        k: usize,
        s: usize,
        p: usize,
        d: usize,
        ceil: bool,
    ) -> (Tensor<3>, Tensor<3, Int>) {
        burn_tensor::module::max_pool1d_with_indices(x, largest([k], [s], [p], [d], ceil))
    }

    pub fn max_pool2d_with_indices(
        x: Tensor<4>,
        k: [usize; 2],
        s: [usize; 2],
        p: [usize; 2],
        d: [usize; 2],
        ceil: bool,
    ) -> (Tensor<4>, Tensor<4, Int>) {
        burn_tensor::module::max_pool2d_with_indices(x, largest(k, s, p, d, ceil))
    }

    pub fn avg_pool1d(x: Tensor<3>, k: usize, s: usize, p: usize, include: bool, ceil: bool) -> Tensor<3> {
        burn_tensor::module::avg_pool1d(x, average([k], [s], [p], include, ceil))
    }

    pub fn avg_pool2d(
        x: Tensor<4>,
        k: [usize; 2],
        s: [usize; 2],
        p: [usize; 2],
        include: bool,
        ceil: bool,
    ) -> Tensor<4> {
        burn_tensor::module::avg_pool2d(x, average(k, s, p, include, ceil))
    }

    pub fn interpolate(x: Tensor<4>, size: [usize; 2], options: InterpolateOptions) -> Tensor<4> {
        let options = InterpolateOptions { output_size: Some(size), ..options };
        burn_tensor::module::interpolate(x, options)
    }
}
RUST

cat > Cargo.toml <<TOML
[package]
name = "burn-backend-tests"
version = "0.0.0"
edition = "2024"
[workspace]
[lib]
proc-macro = true
[features]
default = ["std", "wgpu", "cube", "quantization", "fusion"]
std = []
wgpu = []
cube = []
quantization = []
fusion = ["burn-tensor/fusion", "burn-fusion/test-util", "burn-cubecl-fusion/test-util"]
[dependencies]
burn-autodiff = { version = "=$version", features = ["export_tests"] }
burn-backend = "=$version"
burn-cubecl = { version = "=$version", features = ["fusion"] }
burn-cubecl-fusion = "=$version"
burn-dispatch = { version = "=$version", default-features = false, features = ["std", "wgpu", "autodiff", "fusion"] }
burn-fusion = "=$version"
burn-ndarray = { version = "=$version", features = ["export_tests"] }
burn-tensor = { path = "earlier", package = "earlier" }
cubek = { version = "=0.3.1", features = ["random"] }
ctor = "0.10.1"
gantry-wgpu-programs = { path = "$programs" }
num-traits = "0.2"
proc-macro2 = "1"
quote = "1"
rand = "0.10"
serial_test = "3"
syn = { version = "2", features = ["full", "extra-traits"] }
[patch.crates-io]
burn-dispatch = { path = "burn-dispatch" }
[profile.dev]
debug = 0
TOML
for crate in gantry gantry-codegen gantry-isa-gen gantry-runtime gantry-spirv gantry-wgpu; do
  echo "package.$crate.opt-level = 2" >> Cargo.toml
done
[ -e Cargo.lock ] || cp "$programs/Cargo.lock" Cargo.lock
cargo test --no-fail-fast "$@"
