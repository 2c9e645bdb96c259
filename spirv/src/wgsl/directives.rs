//! Directives of a WGSL text: removal of extensions that naga has but rejects by name.

use std::ops::Range;

/// Extensions of `enable` and `requires` that naga's front end always enables.
const ALWAYS_ON: [&str; 1] = ["subgroups"];

/// Blanks those extensions in the directives. All other bytes keep their positions.
pub(super) fn without(text: &str) -> String {
    let mut blank: Vec<Range<usize>> = Vec::new();
    let mut tokens = Tokens { text, at: 0 };
    while let Some(first) = tokens.next() {
        match text.get(first.clone()) {
            Some("enable" | "requires" | "diagnostic") => {}
            // Empty directive.
            Some(";") => continue,
            _ => break,
        }
        let mut all = vec![first];
        for token in tokens.by_ref() {
            let end = text.get(token.clone()) == Some(";");
            all.push(token);
            if end {
                break;
            }
        }
        blank.extend(taken_out(text, &all));
    }
    let mut bytes = text.as_bytes().to_vec();
    for range in blank {
        if let Some(bytes) = bytes.get_mut(range) {
            bytes.fill(b' ');
        }
    }
    // Only whole tokens became spaces, so this is valid UTF-8.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Ranges to blank in a directive: names with their commas, or all of it if no name remains.
fn taken_out(text: &str, tokens: &[Range<usize>]) -> Vec<Range<usize>> {
    let word = |r: &Range<usize>| text.get(r.clone()).unwrap_or("");
    let Some((keyword, rest)) = tokens.split_first() else {
        return Vec::new();
    };
    if word(keyword) == "diagnostic" || rest.last().map(word) != Some(";") {
        return Vec::new();
    }
    let names = || rest.iter().filter(|r| !matches!(word(r), "," | ";"));
    let on = |r: &&Range<usize>| ALWAYS_ON.contains(&word(r));
    if !names().any(|r| on(&r)) {
        return Vec::new();
    }
    if names().all(|r| on(&r)) {
        return tokens.to_vec();
    }
    let mut out = Vec::new();
    // A name goes with the comma after it, the last one with that before it.
    let mut comma = None;
    for (n, token) in rest.iter().enumerate() {
        let behind = rest.get(n + 1).filter(|r| word(r) == ",");
        match word(token) {
            "," if !out.contains(token) => comma = Some(token.clone()),
            _ if on(&token) => {
                out.push(token.clone());
                out.extend(behind.cloned().or_else(|| comma.take()));
            }
            _ => {}
        }
    }
    out
}

/// Tokens of a text: names and single other characters, without space and comments.
struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl Tokens<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Skips a comment, which may nest.
    fn skip_comment(&mut self) {
        let mut depth = 0;
        loop {
            let rest = self.rest();
            let (step, now) = match rest {
                r if r.starts_with("/*") => (2, depth + 1),
                r if r.starts_with("*/") => (2, depth - 1),
                r => (r.chars().next().map_or(0, char::len_utf8), depth),
            };
            self.at += step;
            depth = now;
            if depth == 0 || step == 0 {
                return;
            }
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                let ends = |c: char| "\n\r\u{b}\u{c}\u{85}\u{2028}\u{2029}".contains(c);
                self.at += rest.find(ends).unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.skip_comment();
            } else {
                let c = rest.chars().next()?;
                let is_name = |c: char| c.is_alphanumeric() || c == '_';
                let len = if is_name(c) {
                    rest.find(|c| !is_name(c)).unwrap_or(rest.len())
                } else {
                    c.len_utf8()
                };
                let token = self.at..self.at + len;
                self.at += len;
                if !c.is_whitespace() {
                    return Some(token);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn names_are_taken_out() {
        let cases = [
            (
                "enable subgroups;\nfn f() {}",
                "                 \nfn f() {}",
            ),
            ("enable f16, subgroups;", "enable f16           ;"),
            ("enable subgroups, f16;", "enable            f16;"),
            ("enable a,subgroups,b;", "enable a,          b;"),
            ("enable f16,subgroups,;", "enable f16,          ;"),
            (
                "/* enable subgroups; /* */ */ enable subgroups /*;*/ ; // x",
                "/* enable subgroups; /* */ */                  /*;*/   // x",
            ),
            (
                "diagnostic(off, a.b);enable subgroups;",
                "diagnostic(off, a.b);                 ",
            ),
        ];
        for (text, want) in cases {
            assert_eq!(without(text), want);
        }
        // No directive, or one without end.
        for text in [
            "// enable subgroups;\n",
            "const a = 1; enable subgroups;",
            "enable subgroups",
            "enable subgroup_matrix;",
            "/* enable subgroups;",
            "",
            "\u{fc};",
        ] {
            assert_eq!(without(text), text);
        }
    }
}
