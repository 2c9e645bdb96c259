//! Expectations that can be blessed: sections `; expect: COMMAND` of comment lines at a file's end.

use crate::file::TestFile;
use crate::options::Options;
use similar::TextDiff;
use std::ops::Range;

/// Result of a command that did not fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The output is as expected.
    Pass,
    /// The output is not as expected, and blessing was asked for. Has the file's new text.
    Bless(String),
}

/// Compares the output of a command with the section of its name. Trailing blanks of lines are
/// ignored.
pub(crate) fn section(
    file: &TestFile,
    name: &str,
    actual: &str,
    options: &Options,
) -> Result<Outcome, String> {
    let heading = format!("; expect: {name}");
    let lines: Vec<&str> = file.source.lines().collect();
    let range = find(&lines, &heading);
    let actual: String = actual
        .lines()
        .map(|l| format!("{}\n", l.trim_end()))
        .collect();
    let expected: String = lines
        .get(range.clone())
        .unwrap_or_default()
        .iter()
        .skip(1)
        .map(|l| {
            format!(
                "{}\n",
                l.strip_prefix("; ")
                    .or(l.strip_prefix(';'))
                    .unwrap_or(l)
                    .trim_end()
            )
        })
        .collect();
    if !range.is_empty() && actual == expected {
        return Ok(Outcome::Pass);
    }
    if !options.bless {
        return Err(format!(
            "the output differs from the section `{heading}` (GANTRY_BLESS=1 writes it anew)\n{}",
            TextDiff::from_lines(&expected, &actual)
                .unified_diff()
                .header("expected", "actual")
        ));
    }
    let mut out: Vec<String> = lines
        .iter()
        .take(range.start)
        .map(|l| (*l).to_owned())
        .collect();
    if range.is_empty() && out.last().is_some_and(|l| !l.is_empty()) {
        out.push(String::new());
    }
    out.push(heading);
    out.extend(
        actual
            .lines()
            .map(|l| format!("; {l}").trim_end().to_owned()),
    );
    out.extend(lines.iter().skip(range.end).map(|l| (*l).to_owned()));
    Ok(Outcome::Bless(out.join("\n") + "\n"))
}

/// Returns the lines of a section with its heading, or an empty range at the end if there is none.
fn find(lines: &[&str], heading: &str) -> Range<usize> {
    let Some(start) = lines.iter().position(|l| l.trim_end() == heading) else {
        return lines.len()..lines.len();
    };
    let rest = lines.iter().skip(start + 1);
    let len = rest
        .take_while(|l| l.starts_with(';') && !l.starts_with("; expect: "))
        .count();
    start..start + 1 + len
}

/// Checks that each `; check:` text is in `actual`, in order, and no `; not:` text is.
pub(crate) fn checks(file: &TestFile, actual: &str) -> Result<(), String> {
    let mut rest = actual;
    for d in file.named("check") {
        match rest.find(&d.text) {
            Some(at) => rest = rest.get(at + d.text.len()..).unwrap_or_default(),
            None => {
                return Err(format!(
                    "line {}: `{}` is not in the output (after what stood before)\n{actual}",
                    d.line, d.text
                ));
            }
        }
    }
    match file.named("not").find(|d| actual.contains(&d.text)) {
        Some(d) => Err(format!(
            "line {}: `{}` is in the output\n{actual}",
            d.line, d.text
        )),
        None => Ok(()),
    }
}

/// Compares the output for each line of code, without comments, with the comment `// EXPECTED`
/// after it.
pub(crate) fn lines(
    file: &TestFile,
    options: &Options,
    mut make: impl FnMut(u32, &str) -> Result<Option<String>, String>,
) -> Result<Outcome, String> {
    let (mut failures, mut blessed) = (Vec::new(), Vec::new());
    let code = |line: &str| line.split("//").next().unwrap_or_default().trim_end().len();
    let width = file.body.lines().map(code).max().unwrap_or_default();
    let lines = file.body.lines().zip(file.source.lines());
    for (number, (body, source)) in (1..).zip(lines) {
        let (code, expected) = body.split_once("//").unwrap_or((body, ""));
        let (made, expected) = (make(number, code.trim()), expected.trim());
        let made = match made {
            Ok(None) => {
                blessed.push(source.to_owned());
                continue;
            }
            Ok(Some(m)) => m,
            Err(e) => format!("error: {e}"),
        };
        // An expected error may be part of the actual one.
        let as_expected = match expected.strip_prefix("error:") {
            Some(text) => made.starts_with("error: ") && made.contains(text.trim()),
            None => made == expected,
        };
        if as_expected {
            blessed.push(source.to_owned())
        } else {
            failures.push(format!(
                "line {number}: {}\n  expected {expected}\n  got      {made}",
                code.trim()
            ));
            blessed.push(format!("{:width$} // {made}", code.trim_end()));
        }
    }
    match (failures.is_empty(), options.bless) {
        (true, _) => Ok(Outcome::Pass),
        (false, true) => Ok(Outcome::Bless(blessed.join("\n") + "\n")),
        (false, false) => Err(failures.join("\n")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "test code")]
mod tests {
    use super::*;

    fn bless() -> Options {
        Options {
            bless: true,
            ..Options::default()
        }
    }

    fn file(text: &str) -> TestFile {
        TestFile::parse("t.gir", text).unwrap()
    }

    #[test]
    fn a_missing_section_fails_and_blesses() {
        let f = file("test compile\nx\n");
        assert!(section(&f, "compile", "a\n\nb\n", &Options::default()).is_err());
        let Ok(Outcome::Bless(s)) = section(&f, "compile", "a\n\nb\n", &bless()) else {
            panic!("not blessed");
        };
        assert_eq!(s, "test compile\nx\n\n; expect: compile\n; a\n;\n; b\n");
        assert_eq!(
            section(&file(&s), "compile", "a\n\nb\n", &Options::default()),
            Ok(Outcome::Pass)
        );
    }

    #[test]
    fn blessing_keeps_other_sections() {
        let f =
            file("test compile\nx\n; expect: lower\n; l\n; expect: compile\n; old\n\n; run: y\n");
        let e = section(&f, "compile", "new\n", &Options::default()).unwrap_err();
        assert!(e.contains("-old\n+new"), "{e}");
        let Ok(Outcome::Bless(s)) = section(&f, "compile", "new\n", &bless()) else {
            panic!("not blessed");
        };
        assert_eq!(
            s,
            "test compile\nx\n; expect: lower\n; l\n; expect: compile\n; new\n\n; run: y\n"
        );
        assert_eq!(
            section(&file(&s), "lower", "l\n", &Options::default()),
            Ok(Outcome::Pass)
        );
    }

    #[test]
    fn checks_are_in_order() {
        let f = file("test compile\n; check: a\n; check: b\n; not: z\n");
        assert!(checks(&f, "a b").is_ok());
        assert!(checks(&f, "b a").is_err());
        assert!(checks(&f, "a b z").is_err());
    }
}
