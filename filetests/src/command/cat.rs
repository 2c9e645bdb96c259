//! `test cat`: text to memory and back.

use super::{Command, Outcome, parse};
use crate::Options;
use crate::expect;
use crate::file::{Test, TestFile};

/// Parses, prints, and parses the print. Both modules and both prints must be the same. With
/// `precise-output`, the print must also be the section `; expect: cat`. With `canonical`, it must
/// be the file's own text without comments and blank lines.
pub(super) struct Cat;

impl Command for Cat {
    fn name(&self) -> &'static str {
        "cat"
    }

    fn options(&self) -> &'static [&'static str] {
        &["canonical", "precise-output"]
    }

    fn directives(&self) -> &'static [&'static str] {
        &["expect"]
    }

    fn run(&self, file: &TestFile, test: &Test, options: &Options) -> Result<Outcome, String> {
        let module = parse(file)?;
        let text = module.to_string();
        let again = gantry_codegen::text::parse(&text)
            .map_err(|d| {
                format!(
                    "the printed text does not parse:\n{}",
                    d.render("printed", &text)
                )
            })?
            .module;
        let reprinted = again.to_string();
        if reprinted != text {
            return Err(format!(
                "printed again, the text differs:\n{text}\n{reprinted}"
            ));
        }
        if again != module {
            return Err(format!("parsed again, the module differs:\n{text}"));
        }
        if test.has("canonical") {
            let (own, printed) = (bare(&file.body), bare(&text));
            if own != printed {
                return Err(similar::TextDiff::from_lines(&own, &printed)
                    .unified_diff()
                    .header("file", "printed")
                    .to_string());
            }
        }
        if test.has("precise-output") {
            expect::section(file, "cat", &text, options)
        } else {
            Ok(Outcome::Pass)
        }
    }
}

/// Removes comments and blank lines from a text.
fn bare(text: &str) -> String {
    text.lines()
        .map(|l| before_comment(l).trim_end())
        .filter(|l| !l.is_empty())
        .map(|l| format!("{l}\n"))
        .collect()
}

/// Returns a line up to its comment. The `;` in a region `<8;8,1>` begins none.
fn before_comment(line: &str) -> &str {
    let starts = line
        .match_indices(';')
        .map(|(at, _)| line.get(..at).unwrap_or_default());
    let mut outside = starts.filter(|before| before.rfind('<') <= before.rfind('>'));
    outside.next().unwrap_or(line)
}
