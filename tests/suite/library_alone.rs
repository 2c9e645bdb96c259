//! The library without its features builds neither the command nor dependencies of the command
//! alone.

use std::process::Command;

/// Returns the packages that a package is built of, with further arguments to `cargo tree`.
fn tree(package: &str, more: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--package", package]);
    cargo
        .args(["--edges", "normal", "--prefix", "none"])
        .args(more);
    if !more.contains(&"--format") {
        cargo.args(["--format", "{p}"]);
    }
    let out = cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{message}");
    String::from_utf8(out.stdout).unwrap()
}

fn has(tree: &str, name: &str) -> bool {
    tree.lines().any(|l| l.split(' ').next() == Some(name))
}

#[test]
fn without_features_only_the_library_is_built() {
    let (whole, alone) = (
        tree("gantry", &[]),
        tree("gantry", &["--no-default-features"]),
    );
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
    for name in ["gantry-codegen", "gantry-runtime", "gantry-zebin"] {
        assert!(has(&alone, name), "{name}");
    }
}

/// The demo and the command are built of the same crates with the same features, so that whoever
/// builds one after the other compiles no crate twice.
#[test]
fn the_demo_and_the_command_share_their_crates() {
    let features = |package| {
        let more = ["--edges", "build", "--format", "{p} [{f}]"];
        let lines = tree(package, &more);
        let lines = lines.lines().map(|l| l.replace(" (*)", ""));
        lines.collect::<std::collections::BTreeSet<_>>()
    };
    let (demo, command) = (features("gantry-jit-demo"), features("gantry"));
    let others: Vec<_> = demo.difference(&command).collect();
    assert!(
        others.len() == 1 && others[0].starts_with("gantry-jit-demo "),
        "{others:?}"
    );
    let ours = demo.iter().filter(|p| p.starts_with("gantry-"));
    assert!(ours.count() >= 7);
    // Examples are built with what tests use.
    let more = ["--edges", "dev", "--format", "{p} [{f}]"];
    let examples = tree("gantry", &more);
    assert!(!examples.contains("fuzzing"), "{examples}");
}

/// The compiler writes zebins without the parser that reads them.
#[test]
fn the_compiler_needs_no_yaml_parser() {
    let (compiler, runtime) = (tree("gantry-codegen", &[]), tree("gantry-runtime", &[]));
    for t in [&compiler, &runtime] {
        assert!(has(t, "gantry-zebin"));
    }
    assert!(!has(&compiler, "yaml-rust2"), "{compiler}");
    assert!(has(&runtime, "yaml-rust2"));
    assert!(!has(&runtime, "gantry-codegen"));
}
