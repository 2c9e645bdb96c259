//! Runs of whole files and directory trees.

use crate::command::{self, check_options};
use crate::expect::Outcome;
use crate::file::TestFile;
use crate::options::Options;
use gantry_isa_gen::diag::Count;
use rayon::prelude::*;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// File name extensions of filetests.
pub const EXTENSIONS: [&str; 6] = ["gir", "asm", "hex", "wgsl", "spvasm", "test"];

/// Command of a file that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Path of the file.
    pub path: PathBuf,
    /// `test` line; empty if the file itself is wrong.
    pub command: String,
    /// Reason.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if !self.command.is_empty() {
            write!(f, " (test {})", self.command)?;
        }
        write!(f, ":\n{}", self.message.trim_end())
    }
}

/// Result of a test run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Number of files run.
    pub files: usize,
    /// Number of commands run.
    pub commands: usize,
    /// Files that blessing changed.
    pub blessed: Vec<PathBuf>,
    /// Commands that failed.
    pub failures: Vec<Failure>,
}

impl Summary {
    fn add(&mut self, other: Summary) {
        self.files += other.files;
        self.commands += other.commands;
        self.blessed.extend(other.blessed);
        self.failures.extend(other.failures);
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "FAIL {failure}\n")?;
        }
        for path in &self.blessed {
            writeln!(f, "blessed {}", path.display())?;
        }
        write!(
            f,
            "{}, {}, {}",
            Count(self.files, "file"),
            Count(self.commands, "command"),
            Count(self.failures.len(), "failure")
        )
    }
}

/// Runs one file, or every filetest below a directory. Files run in parallel and are reported in
/// the order of their names.
pub fn run_path(path: &Path, options: &Options) -> Summary {
    run_path_with(path, options, &|_, _| {})
}

/// Runs files as [`run_path`] does, and calls `progress` after each file with the number done and
/// the number of all.
pub fn run_path_with(
    path: &Path,
    options: &Options,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Summary {
    let mut summary = Summary::default();
    let mut files = Vec::new();
    if let Err(message) = collect(path, true, &mut files) {
        summary.failures.push(Failure {
            path: path.to_owned(),
            command: String::new(),
            message,
        });
    }
    if let Some(part) = &options.filter {
        files.retain(|f| f.to_string_lossy().contains(part));
    }
    let done = AtomicUsize::new(0);
    let run = |f: &PathBuf| {
        let summary = run_file(f, options);
        progress(1 + done.fetch_add(1, Ordering::Relaxed), files.len());
        summary
    };
    let all: Vec<Summary> = files.par_iter().map(run).collect();
    for one in all {
        summary.add(one);
    }
    summary
}

/// Lists every filetest below a directory, in the order of their names.
///
/// # Errors
/// A file or directory cannot be read.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let mut out = Vec::new();
    collect(path, true, &mut out)?;
    Ok(out)
}

fn collect(path: &Path, given: bool, out: &mut Vec<PathBuf>) -> Result<(), String> {
    let meta = std::fs::metadata(path).map_err(|e| e.to_string())?;
    if meta.is_dir() {
        let mut entries = std::fs::read_dir(path)
            .and_then(|d| {
                d.map(|e| e.map(|e| e.path()))
                    .collect::<Result<Vec<_>, _>>()
            })
            .map_err(|e| e.to_string())?;
        entries.sort();
        for entry in entries {
            collect(&entry, false, out)?;
        }
    } else {
        let known = path
            .extension()
            .is_some_and(|e| EXTENSIONS.iter().any(|&x| e == x));
        if given || known {
            out.push(path.to_owned());
        }
    }
    Ok(())
}

/// Runs every command of one file.
pub fn run_file(path: &Path, options: &Options) -> Summary {
    let mut summary = Summary {
        files: 1,
        ..Summary::default()
    };
    let fail = |command: &str, message: String| Failure {
        path: path.to_owned(),
        command: command.to_owned(),
        message,
    };
    let load = || -> Result<TestFile, String> {
        let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        TestFile::parse(&path.display().to_string(), &source)
    };
    let mut file = match load() {
        Ok(f) => f,
        Err(message) => {
            summary.failures.push(fail("", message));
            return summary;
        }
    };
    if let Err(message) = unread(&file) {
        summary.failures.push(fail("", message));
    }
    let mut blessed = false;
    for test in file.tests.clone() {
        summary.commands += 1;
        let line = test.to_string();
        let outcome = match command::find(&test.command) {
            Some(c) => check_options(&test, c).and_then(|()| c.run(&file, &test, options)),
            None => Err(format!(
                "unknown test command; there are {}",
                command::commands()
                    .map(|c| c.name())
                    .collect::<Vec<_>>()
                    .join(", ")
            )),
        };
        let reloaded = match outcome {
            Ok(Outcome::Pass) => continue,
            Ok(Outcome::Bless(source)) => {
                blessed = true;
                std::fs::write(path, source)
                    .map_err(|e| e.to_string())
                    .and_then(|()| load())
            }
            Err(message) => Err(message),
        };
        match reloaded {
            Ok(f) => file = f,
            Err(message) => summary.failures.push(fail(&line, message)),
        }
    }
    if blessed {
        summary.blessed.push(path.to_owned());
    }
    summary
}

/// Checks that every directive is read by one of the file's commands.
fn unread(file: &TestFile) -> Result<(), String> {
    let commands = file.tests.iter().map(|t| command::find(&t.command));
    // The directives of an unknown command are not known; it fails itself.
    let Some(commands) = commands.collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    let read = |name| commands.iter().any(|c| c.directives().contains(&name));
    match file.directives.iter().find(|d| !read(d.name)) {
        Some(d) => Err(format!(
            "line {}: no command of this file reads `{}:`",
            d.line, d.name
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;

    #[test]
    fn what_no_command_reads_is_an_error() {
        let parse = |text| TestFile::parse("t.gir", text).unwrap();
        let e = unread(&parse("test cat\ntest run\n; run: %f\n; check: add\n")).unwrap_err();
        assert_eq!(e, "line 4: no command of this file reads `check:`");
        assert!(unread(&parse("test lower\n; check: add\n")).is_ok());
        assert!(unread(&parse("test lower\n; run: %f\n")).is_err());
        assert!(unread(&parse("test cat\n; expect: cat\n; check: output\n")).is_ok());
    }

    #[test]
    fn unknown_options_are_errors() {
        for (line, said) in [
            (
                "compile precise",
                "`test compile` has no option `precise`; there are precise-output, flags, mask-stack, calls, O0, O1, O2, grf256",
            ),
            (
                "verifier precise-output",
                "`test verifier` has no options, and not `precise-output`",
            ),
            (
                "run skl",
                "`test run` has no option `skl`; there are simulator, interpreter, simd8, simd16, simd32",
            ),
        ] {
            let file = TestFile::parse("t.gir", &format!("test {line}\n")).unwrap();
            let test = &file.tests[0];
            let e = check_options(test, command::find(&test.command).unwrap());
            assert_eq!(e.unwrap_err(), said);
        }
    }
}
