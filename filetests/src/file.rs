//! Parser of filetests: header, directives, and body.

use gantry_codegen::Target;
use std::fmt;

/// `test` line of a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// Name of the command.
    pub command: String,
    /// Words after it.
    pub options: Vec<String>,
}

impl Test {
    /// Returns true if an option is given.
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|o| o == option)
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.command)?;
        self.options.iter().try_for_each(|o| write!(f, " {o}"))
    }
}

/// Comment `; NAME: TEXT` that tells a command what to expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directive {
    /// Line number, from 1.
    pub line: u32,
    /// Name, one of [`DIRECTIVES`].
    pub name: &'static str,
    /// Text after the colon, trimmed.
    pub text: String,
}

/// Names of all directives. `expect` begins a section that can be blessed, up to the end of its
/// comment lines.
pub const DIRECTIVES: [&str; 6] = ["error", "run", "check", "not", "hazard", "expect"];

/// Parsed filetest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestFile {
    /// Path, for messages.
    pub path: String,
    /// Text of the whole file.
    pub source: String,
    /// Text to test: the file with blank header lines, so that line numbers stay correct.
    pub body: String,
    /// `test` lines in order.
    pub tests: Vec<Test>,
    /// Name in the `target` line, `skl` without one.
    pub target: String,
    /// Expectations in line order.
    pub directives: Vec<Directive>,
}

impl TestFile {
    /// Returns true if a target has everything that the file uses. Not all have doubles and
    /// atomics of words. Messages written out in a file are of the data port. Matrix products have
    /// the size of the file's own target.
    pub fn is_for(&self, target: &Target) -> bool {
        self.text_is_for(&self.body, target)
    }

    /// Returns true if a target has everything that a text of IR uses.
    pub(crate) fn text_is_for(&self, text: &str, target: &Target) -> bool {
        let f = target.features();
        let needs = |what: &str, there: bool| there || !text.contains(what);
        let words = ["atomic.i16", "atomic.f16"];
        // A systolic array has as many columns as a GRF has dwords.
        let own = Target::lookup(&self.target)
            .map(|t| t.features().grf_bytes)
            .ok();
        needs("f64", f.native_f64)
            && needs("send exec", f.sampler)
            && needs("send_reply", f.sampler)
            && needs("layer_range", !f.sampler)
            && words.into_iter().all(|w| needs(w, f.word_atomics))
            && needs("block2d_", f.block2d)
            && needs("named_barrier", f.named_barriers)
            && needs("= dpas.", f.dpas && own == Some(f.grf_bytes))
    }

    /// Parses a filetest.
    ///
    /// # Errors
    /// The header has no `test` line or is malformed, or a directive is unknown.
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
            directives: directives(mark(path), &body)?,
            body,
            tests,
            target: target.unwrap_or_else(|| "skl".to_owned()),
        })
    }

    /// Iterates over the directives of a name.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Directive> {
        self.directives.iter().filter(move |d| d.name == name)
    }
}

/// Blanks a filetest's header lines, so that line numbers stay correct. Any other text is returned
/// unchanged. With it the `gantry` command takes filetests where it takes `.gir` files.
pub fn without_header(source: &str) -> String {
    split_header(source).1
}

/// Returns header lines with their numbers, and the file with them blanked. The header ends at the
/// first line that is neither blank, nor a comment, nor begins with `test` or `target`.
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

/// Returns the text of a line's comment, if the line is nothing else.
pub(crate) fn comment(line: &str) -> Option<&str> {
    line.strip_prefix("//").or_else(|| line.strip_prefix(';'))
}

/// Returns the comment marker of a file of this name.
fn mark(path: &str) -> &'static str {
    if [".asm", ".hex", ".wgsl"].iter().any(|e| path.ends_with(e)) {
        "//"
    } else {
        ";"
    }
}

/// Parses the directives of every line, which may have several. A comment that begins with a
/// lower-case word and a colon is taken as one, so that a mistyped name is an error. So is a known
/// name in other letter case.
fn directives(mark: &str, body: &str) -> Result<Vec<Directive>, String> {
    let mut out = Vec::<Directive>::new();
    let mut in_section = false;
    for (line, text) in (1..).zip(body.lines()) {
        // Lines in a section are output.
        in_section &= text.starts_with(mark) && !text.starts_with(&format!("{mark} expect: "));
        if in_section {
            continue;
        }
        let mut open = None;
        for (at, _) in text.match_indices(mark) {
            let start = at + mark.len();
            let comment = text.get(start..).unwrap_or_default();
            let Some((name, said)) =
                directive(mark, comment).map_err(|e| format!("line {line}: {e}"))?
            else {
                continue;
            };
            // A directive ends where the next one begins.
            if let (Some(from), Some(d)) = (open, out.last_mut()) {
                d.text = text.get(from..at).unwrap_or_default().trim().to_owned();
            }
            in_section = name == "expect";
            open = Some(text.len() - said.len());
            out.push(Directive {
                line,
                name,
                text: said.trim().to_owned(),
            });
        }
    }
    Ok(out)
}

/// Returns the directive that a comment's text begins with, and the text after its colon.
fn directive<'a>(mark: &str, comment: &'a str) -> Result<Option<(&'static str, &'a str)>, String> {
    let Some((word, said)) = comment.trim_start().split_once(':') else {
        return Ok(None);
    };
    if let Some(name) = DIRECTIVES.into_iter().find(|&d| d == word) {
        return Ok(Some((name, said)));
    }
    let lower = |c: char| c.is_ascii_lowercase() || c == '-' || c == '_';
    // A disassembler's remarks about a send are `// wr:2+1, rd:0; ...`.
    let spaced = mark == ";" || said.is_empty() || said.starts_with(' ');
    let meant = spaced && !word.is_empty() && word.chars().all(lower);
    if meant || DIRECTIVES.iter().any(|d| d.eq_ignore_ascii_case(word)) {
        Err(format!(
            "unknown directive `{word}:`; there are {}",
            DIRECTIVES.map(|d| format!("`{d}:`")).join(", ")
        ))
    } else {
        Ok(None)
    }
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
    fn unknown_directives_are_errors() {
        let parse = |path: &str, body: &str| TestFile::parse(path, &format!("test cat\n{body}\n"));
        for (path, bad) in [
            ("t.gir", "; chek: add"),
            ("t.gir", "    v1 = iconst.i32 1 ; eror: no"),
            ("t.gir", ";rum: %f"),
            (
                "t.gir",
                "    v4 = rdregion.i32x8 v2, <8;8,1>, 0 ; chek: as the rows overlap",
            ),
            ("t.gir", "; Run: %f"),
            ("t.gir", "; error: this ; erorr: that"),
            ("t.asm", "// hazzard: r1"),
            ("t.hex", "00 // errors: no"),
        ] {
            let e = parse(path, bad).unwrap_err();
            assert!(e.starts_with("line 2: unknown directive"), "{bad}: {e}");
            assert!(DIRECTIVES.iter().all(|d| e.contains(d)), "{e}");
        }
        for (path, remark) in [
            ("t.gir", "; Note: what a sentence says"),
            ("t.gir", "; a region: of rows; and so on: no"),
            ("t.gir", "; <8;8,1>: a region"),
            ("t.gir", "; expect: cat\n; kernel: output\n; chek: output"),
            ("t.asm", "send // wr:2+1, rd:0; hdc.dc1"),
            ("t.asm", "L0: mov ; a: b"),
        ] {
            assert!(parse(path, remark).is_ok(), "{remark}");
        }
    }

    #[test]
    fn a_file_that_tests_nothing_is_an_error() {
        assert!(TestFile::parse("t.gir", "kernel %f() {}\n").is_err());
        assert!(TestFile::parse("t.gir", "test\n").is_err());
        assert!(TestFile::parse("t.gir", "target skl\ntarget kbl\ntest cat\n").is_err());
    }
}
