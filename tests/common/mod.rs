//! Shared parts of the integration tests: the command, scratch files, oracles, seeded randomness.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::ffi::OsStr;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Result of a command.
pub struct Outcome {
    /// Exit status; `None` after a signal.
    pub status: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Outcome {
    /// Asserts success and returns standard output.
    pub fn ok(self) -> String {
        assert_eq!(self.status, Some(0), "{}", self.err);
        self.out
    }

    /// Asserts an exit with status 1 and one message, no panic, and returns standard error.
    pub fn fails(self) -> String {
        assert_eq!(
            self.status,
            Some(1),
            "stdout: {}\nstderr: {}",
            self.out,
            self.err
        );
        assert!(self.err.starts_with("error: "), "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err
    }

    /// Asserts an exit with status 2, of a wrong command line, and returns standard error.
    pub fn misused(self) -> String {
        let status = self.status;
        assert_eq!(
            status,
            Some(2),
            "stdout: {}\nstderr: {}",
            self.out,
            self.err
        );
        Outcome {
            status: Some(1),
            ..self
        }
        .fails()
    }

    /// Asserts that it ended with status 0, 1 or 2, and without a panic.
    pub fn orderly(&self, what: &str) {
        assert!(
            matches!(self.status, Some(0..=2)),
            "{what}: {:?}\n{}",
            self.status,
            self.err
        );
        assert!(!self.err.contains("panicked"), "{what}: {}", self.err);
    }
}

/// Runs the `gantry` command.
pub fn gantry<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Outcome {
    run(Command::new(env!("CARGO_BIN_EXE_gantry")).args(args))
}

/// Runs the `gantry` command with bytes on its standard input.
pub fn gantry_with<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>, input: &[u8]) -> Outcome {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input).unwrap();
    file.rewind().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
    run(command.args(args).stdin(file))
}

/// Runs a command.
pub fn run(command: &mut Command) -> Outcome {
    let output = command.output().unwrap();
    Outcome {
        status: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Directory of a test's own, which is removed when the test ends.
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    /// Creates a directory.
    pub fn new() -> Scratch {
        Scratch(tempfile::tempdir().unwrap())
    }

    /// Returns a path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns a path in it, as text.
    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Writes a file and returns its path as text.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), bytes).unwrap();
        self.text(name)
    }

    /// Reads a file's numbers.
    pub fn floats(&self, name: &str) -> Vec<f32> {
        let bytes = std::fs::read(self.path(name)).unwrap();
        bytes
            .chunks_exact(4)
            .map(|c| f32::from_le_bytes(c.try_into().unwrap()))
            .collect()
    }
}

/// Returns the bytes of numbers.
pub fn bytes(numbers: impl IntoIterator<Item = f32>) -> Vec<u8> {
    numbers.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// Returns true if a program that judges is installed. If not, prints what is skipped, or fails
/// where oracles are required.
pub fn oracle(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|dir| dir.join(program).is_file()) {
        return true;
    }
    let required = std::env::var_os("GANTRY_REQUIRE_ORACLES").is_some_and(|v| v == "1");
    assert!(
        !required,
        "{program} is not on PATH, and GANTRY_REQUIRE_ORACLES is set"
    );
    println!("skipped: {program} is not on PATH");
    false
}

/// Pseudo-random numbers from a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// Returns the next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Returns the path of a file in the filetest corpus.
pub fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("filetests/filetests")
        .join(name)
}
