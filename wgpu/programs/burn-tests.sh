#!/usr/bin/env bash
# Runs burn's own backend tests on Gantry: `burn-tests.sh CHECKOUT FOLDER [arguments of cargo test]`.
# CHECKOUT is burn's repository, which alone has the tests. FOLDER takes a package of them with the
# crates of the registry. burn 0.22 has no hook for the default device, so its choice is patched in
# a copy of burn-dispatch.
set -euo pipefail
programs="$(cd "$(dirname "$0")" && pwd)"
checkout="$(cd "$1" && pwd)/crates/burn-backend-tests"
mkdir -p "$2"
cd "$2"
shift 2
version=0.22.1

cargo fetch --quiet --manifest-path "$programs/Cargo.toml"
sources="$(cargo metadata --format-version 1 --manifest-path "$programs/Cargo.toml" |
  grep -o '"[^"]*burn-dispatch-'"$version"'/Cargo.toml"' | head -1 | tr -d '"')"
rm -rf burn-dispatch src tests
cp -r "$(dirname "$sources")" burn-dispatch
cp -r "$checkout/src" "$checkout/tests" .
chmod -R u+w .
cat >> burn-dispatch/src/device.rs <<'PATCH'

/// Device that stands in for the default one.
pub static DEFAULT: std::sync::OnceLock<DispatchDevice> = std::sync::OnceLock::new();
PATCH
python3 - <<'PATCH'
import re
path = "burn-dispatch/src/device.rs"
text = open(path).read()
start = text.index("impl Default for DispatchDevice")
at = text.index("fn default() -> Self {", start) + len("fn default() -> Self {")
text = text[:at] + " if let Some(d) = DEFAULT.get() { return d.clone(); }" + text[at:]
open(path, "w").write(text)
path = "burn-dispatch/src/lib.rs"
text = open(path).read()
text += "\npub use crate::device::DEFAULT;\n"
open(path, "w").write(text)
path = "tests/common/backend.rs"
text = open(path).read()
line = "fn init_device_settings() {"
open_device = """
    let target = std::env::var("GANTRY_TARGET").unwrap_or_else(|_| "tgllp".to_owned());
    let own = gantry_wgpu_programs::network::device(&target).unwrap();
    let _ = burn_dispatch::DEFAULT.set(own.as_dispatch().clone());
"""
at = text.index(line) + len(line)
open(path, "w").write(text[:at] + open_device + text[at:])
PATCH
cat > Cargo.toml <<TOML
[package]
name = "burn-backend-tests"
version = "0.0.0"
edition = "2024"
[workspace]
[lib]
proc-macro = true
[features]
default = ["std", "wgpu", "cube", "quantization"]
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
burn-dispatch = { version = "=$version", default-features = false, features = ["std", "wgpu", "autodiff"] }
burn-fusion = "=$version"
burn-ndarray = { version = "=$version", features = ["export_tests"] }
burn-tensor = { version = "=$version", default-features = false, features = ["std", "autodiff", "wgpu", "ndarray"] }
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
cp -n "$programs/Cargo.lock" Cargo.lock || true
cargo test --no-fail-fast "$@"
