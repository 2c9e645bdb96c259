//! Examples of the `gantry` command in the README and on its page, pasted into a shell in a clone.

use crate::common::{Scratch, run};
use std::path::Path;
use std::process::Command;

/// Folders of a clone that examples name files in.
const FOLDERS: [&str; 2] = ["docs", "filetests"];

/// Returns the lines of a page's shell examples that begin with the command.
fn examples(page: &str) -> String {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let blocks = text.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|b| b.split("```").next().unwrap_or_default().lines());
    let ours = lines.filter(|l| l.starts_with("gantry ") || l.starts_with("    --"));
    ours.map(|l| format!("{l}\n")).collect()
}

/// Runs a page's examples in their order, in a folder that has a clone's files.
fn paste(page: &str, least: usize) {
    let lines = examples(page);
    assert!(lines.lines().count() >= least, "{page}: {lines}");
    let dir = Scratch::new();
    for folder in FOLDERS {
        let clone = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        std::os::unix::fs::symlink(clone, dir.path(folder)).unwrap();
    }
    let ours = Path::new(env!("CARGO_BIN_EXE_gantry")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(ours.to_owned()).chain(std::env::split_paths(&path));
    let mut shell = Command::new("sh");
    shell.args(["-exc", &lines]).current_dir(dir.path(""));
    shell.env("PATH", std::env::join_paths(path).unwrap());
    let out = run(&mut shell);
    assert_eq!(out.status, Some(0), "{page}: {}", out.err);
}

#[test]
fn of_the_readme() {
    paste("README.md", 5);
}

#[test]
fn of_the_page_on_the_command() {
    paste("docs/command.md", 15);
}
