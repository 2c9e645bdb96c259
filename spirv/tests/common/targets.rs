//! Targets of the tests.

use gantry_codegen::Target;

/// A product of each platform.
pub const TARGETS: [&str; 8] = ["bdw", "chv", "skl", "bxt", "icllp", "tgllp", "dg2", "pvc"];

#[test]
fn every_platform_is_there() {
    let named = TARGETS.map(|n| Target::lookup(n).unwrap().platform());
    for target in Target::all() {
        let there = named.contains(&target.platform());
        assert!(there, "{} is on a platform of its own", target.name());
    }
}
