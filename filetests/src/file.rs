//! Reading a filetest: header, directives, and what is tested.

use crate::command::Command;
use std::fmt;

/// A `test` line of a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// The command.
    pub command: String,
    /// The words after it.
    pub options: Vec<String>,
}

impl Test {
    /// Whether an option was given.
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|o| o == option)
    }

    pub(crate) fn check_options(&self, command: &dyn Command) -> Result<(), String> {
        match self
            .options
            .iter()
            .find(|o| !command.options().contains(&o.as_str()))
        {
            Some(o) => Err(format!("`test {}` has no option `{o}`", self.command)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.command)?;
        self.options.iter().try_for_each(|o| write!(f, " {o}"))
    }
}

/// A comment `; NAME: TEXT` that tells a command what to expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directive {
    /// Its line, from 1.
    pub line: u32,
    /// `error`, `run`, `check`, `not` or `hazard`.
    pub name: &'static str,
    /// What follows the colon, trimmed.
    pub text: String,
}

const DIRECTIVES: [&str; 5] = ["error", "run", "check", "not", "hazard"];

/// A filetest, read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestFile {
    /// The path, for messages.
    pub path: String,
    /// The whole file.
    pub source: String,
    /// What is tested: the file with its header lines blank, so that line numbers stay true.
    pub body: String,
    /// The `test` lines in order.
    pub tests: Vec<Test>,
    /// The `target` line's name, `skl` without one.
    pub target: String,
    /// Expectations in line order.
    pub directives: Vec<Directive>,
}

impl TestFile {
    /// Reads a filetest.
    ///
    /// # Errors
    /// The header has no `test` line or is malformed.
    pub fn parse(path: &str, source: &str) -> Result<TestFile, String> {
        let (header, body) = split_header(source);
        let mut tests = Vec::new();
        let mut target = None;
        for (number, line) in header {
            let mut words = line.split_whitespace().map(str::to_owned);
            let (key, value) = (words.next(), words.next());
            match (key.as_deref(), value) {
                (Some("test"), Some(command)) => tests.push(Test {
                    command,
                    options: words.collect(),
                }),
                (Some("target"), Some(name)) if target.is_none() => target = Some(name),
                _ => return Err(format!("line {number}: malformed header line `{line}`")),
            }
        }
        if tests.is_empty() {
            return Err("the file has no `test` line: it tests nothing".to_owned());
        }
        Ok(TestFile {
            path: path.to_owned(),
            source: source.to_owned(),
            directives: directives(&body),
            body,
            tests,
            target: target.unwrap_or_else(|| "skl".to_owned()),
        })
    }

    /// The directives of a name.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Directive> {
        self.directives.iter().filter(move |d| d.name == name)
    }
}

/// The text of a filetest without its header: header lines are blank, so that line numbers stay true. Any other text
/// comes back as it is. With it the `gantry` command takes filetests where it takes `.gir` files.
pub fn without_header(source: &str) -> String {
    split_header(source).1
}

/// Header lines with their numbers, and the file with them blanked. The header ends at the first line that is neither
/// blank, nor a comment, nor begins with `test` or `target`.
fn split_header(source: &str) -> (Vec<(usize, &str)>, String) {
    let mut header = Vec::new();
    let mut body = String::with_capacity(source.len());
    let mut in_header = true;
    for (i, line) in source.split_inclusive('\n').enumerate() {
        let text = line.trim();
        let keyed = ["test ", "target "].iter().any(|k| text.starts_with(k));
        in_header &= keyed || text.is_empty() || comment(text).is_some();
        if in_header && keyed {
            header.push((i + 1, text));
            body.push_str(if line.ends_with('\n') { "\n" } else { "" });
        } else {
            body.push_str(line);
        }
    }
    (header, body)
}

/// The text of a line's comment, if the line is nothing else.
pub(crate) fn comment(line: &str) -> Option<&str> {
    line.strip_prefix("//").or_else(|| line.strip_prefix(';'))
}

/// The directives of every line. A line may hold several errors.
fn directives(body: &str) -> Vec<Directive> {
    let mut out = Vec::new();
    for (line, text) in (1..).zip(body.lines()) {
        let mut found: Vec<(usize, usize, &'static str)> = Vec::new();
        for (name, mark) in DIRECTIVES.iter().flat_map(|n| [(n, ";"), (n, "//")]) {
            let whole = format!("{mark} {name}:");
            found.extend(
                text.match_indices(&whole)
                    .map(|(at, _)| (at, at + whole.len(), *name)),
            );
        }
        found.sort_unstable();
        for (i, &(_, start, name)) in found.iter().enumerate() {
            // A directive ends where the next one begins.
            let end = found.get(i + 1).map_or(text.len(), |next| next.0);
            out.push(Directive {
                line,
                name,
                text: text.get(start..end).unwrap_or_default().trim().to_owned(),
            });
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;

    #[test]
    fn header_and_directives() {
        let f = TestFile::parse(
            "t.gir",
            "; what it is\ntest run\ntest compile precise-output\ntarget kbl\n\nkernel %f() {\n} ; error: bad ; error: worse\n; run: %f()\n",
        )
        .unwrap();
        assert_eq!(f.tests.len(), 2);
        assert!(f.tests[1].has("precise-output"));
        assert_eq!(f.target, "kbl");
        assert!(f.body.starts_with("; what it is\n\n\n\n\nkernel"));
        let got: Vec<_> = f
            .directives
            .iter()
            .map(|d| (d.line, d.name, &*d.text))
            .collect();
        assert_eq!(
            got,
            [
                (7, "error", "bad"),
                (7, "error", "worse"),
                (8, "run", "%f()")
            ]
        );
    }

    #[test]
    fn a_file_that_tests_nothing_is_an_error() {
        assert!(TestFile::parse("t.gir", "kernel %f() {}\n").is_err());
        assert!(TestFile::parse("t.gir", "test\n").is_err());
        assert!(TestFile::parse("t.gir", "target skl\ntarget kbl\ntest cat\n").is_err());
    }
}
