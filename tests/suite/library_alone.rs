//! The library without its features builds neither the command nor dependencies of the command
//! alone.

use std::process::Command;

#[test]
fn without_features_only_the_library_is_built() {
    let tree = |more: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "tree",
            "--offline",
            "--package",
            "gantry",
            "--edges",
            "normal",
        ]);
        cargo
            .args(["--prefix", "none", "--format", "{p}"])
            .args(more);
        let out = cargo
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{message}");
        String::from_utf8(out.stdout).unwrap()
    };
    let has = |tree: &str, name: &str| tree.lines().any(|l| l.split(' ').next() == Some(name));
    let (whole, alone) = (tree(&[]), tree(&["--no-default-features"]));
    for name in [
        "clap",
        "png",
        "serde_json",
        "gantry-filetests",
        "similar",
        "naga",
    ] {
        assert!(has(&whole, name), "{name} is no dependency any longer");
        assert!(!has(&alone, name), "{name} is one of the library");
    }
    for name in ["gantry-codegen", "gantry-runtime", "gantry-isa-gen"] {
        assert!(has(&alone, name), "{name}");
    }
}
