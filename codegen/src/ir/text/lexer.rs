//! Tokens of the text format, with their spans.

use gantry_isa_gen::diag::Span;

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token<'a> {
    /// Letters, digits, `_` and `.`, not beginning with a digit: keywords, opcodes with their
    /// types, entities.
    Word(&'a str),
    /// `%name`.
    Name(&'a str),
    /// Contents of quotes, with escapes not yet decoded.
    Text(&'a str),
    /// Number, with sign, point and exponent.
    Number(&'a str),
    /// One punctuation character.
    Punct(char),
    /// `->`.
    Arrow,
    /// End of a line; none for blank lines.
    Newline,
    /// End of the text.
    End,
    /// Character that begins no token.
    Bad(char),
}

/// Returns the part of a line before its comment. The `;` of a region `<16;8,1>` begins no comment:
/// it follows `<` and digits.
fn before_comment(line: &str) -> &str {
    let mut quotes = 0;
    let mut after = 0;
    for (at, _) in line.match_indices(';') {
        // A `;` in quotes begins no comment.
        quotes += quotes_in(line.get(after..at).unwrap_or(""), quotes % 2 == 1);
        after = at;
        if quotes % 2 == 1 {
            continue;
        }
        let before = line.get(..at).unwrap_or("");
        let head = before.trim_end_matches(|c: char| c.is_ascii_digit());
        if head.len() == before.len() || !head.ends_with('<') {
            return before;
        }
    }
    line
}

/// Number of quotation marks in a piece of a line that begins inside or outside of quotes. Marks
/// after a `\\` inside quotes do not count.
fn quotes_in(piece: &str, mut inside: bool) -> usize {
    let mut count = 0;
    let mut chars = piece.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                count += 1;
                inside = !inside;
            }
            '\\' if inside => {
                chars.next();
            }
            _ => {}
        }
    }
    count
}

/// Splits a text into tokens with their spans. Leaves comments out. [`Token::End`] comes last.
pub(super) fn lex(text: &str) -> Vec<(Token<'_>, Span)> {
    let mut out: Vec<(Token<'_>, Span)> = Vec::new();
    let mut last_line = 1;
    for (n, line) in text.lines().enumerate() {
        let number = n as u32 + 1;
        last_line = number;
        let code = before_comment(line);
        let before = out.len();
        let mut rest = code;
        let mut col = 1u32;
        while let Some(c) = rest.chars().next() {
            let len = token_length(rest, c);
            let (word, tail) = rest.split_at(len);
            let chars = word.chars().count() as u32;
            let span = Span {
                line: number,
                col,
                len: chars,
            };
            rest = tail;
            col += chars;
            if c.is_whitespace() {
                continue;
            }
            let token = match c {
                '-' if word == "->" => Token::Arrow,
                '"' if len > 1 => Token::Text(word.get(1..len - 1).unwrap_or("")),
                '%' if len > 1 => Token::Name(&word[1..]),
                c if c.is_ascii_digit() || (c == '-' && len > 1) => Token::Number(word),
                c if is_word(c) => Token::Word(word),
                '(' | ')' | '{' | '}' | '[' | ']' | '<' | '>' | ',' | ':' | ';' | '=' | '+'
                | '@' => Token::Punct(c),
                c => Token::Bad(c),
            };
            out.push((token, span));
        }
        if out.len() > before {
            let span = Span {
                line: number,
                col,
                len: 1,
            };
            out.push((Token::Newline, span));
        }
    }
    let span = Span {
        line: last_line,
        col: 1,
        len: 1,
    };
    out.push((Token::End, span));
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// Returns the length in bytes of the token that begins with `c`.
fn token_length(rest: &str, c: char) -> usize {
    let run = |ok: fn(char) -> bool, skip: usize| {
        let tail = rest.get(skip..).unwrap_or("");
        skip + tail.find(|c| !ok(c)).unwrap_or(tail.len())
    };
    let next = rest.chars().nth(1);
    match c {
        c if c.is_whitespace() => c.len_utf8(),
        '-' if next == Some('>') => 2,
        '-' if next.is_some_and(|c| c.is_ascii_digit()) => number_length(rest, 1),
        c if c.is_ascii_digit() => number_length(rest, 0),
        '%' => run(is_word, 1),
        '"' => text_length(rest),
        c if is_word(c) => run(is_word, 0),
        c => c.len_utf8(),
    }
}

/// Returns the length up to the closing quotation mark; 1 if there is none.
fn text_length(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return at + 1,
            '\\' => {
                chars.next();
            }
            _ => {}
        }
    }
    1
}

/// Returns the length of digits, letters and points, with a sign after an exponent: `1e-5`, `0xff`.
fn number_length(rest: &str, skip: usize) -> usize {
    let bytes = rest.as_bytes();
    let hex = rest.get(skip..).is_some_and(|r| r.starts_with("0x"));
    let mut i = skip;
    while let Some(&b) = bytes.get(i) {
        let exponent_sign =
            !hex && b == b'-' && i > skip && matches!(bytes.get(i - 1), Some(b'e' | b'E'));
        if b.is_ascii_alphanumeric() || b == b'.' || exponent_sign {
            i += 1;
        } else {
            break;
        }
    }
    i
}
