//! Expressions of `bfn`, any Boolean function of `s0`, `s1` and `s2`.
//!
//! The number of a function is its truth table: bit `s2 << 2 | s1 << 1 | s0` is the result. Each
//! source is a function too ([`SOURCES`]), so that an expression is evaluated on these numbers.

use super::cursor::{Cursor, Parsed};
use std::sync::LazyLock;

/// Truth tables of `s0`, `s1`, `s2` and the constants.
const SOURCES: [(&str, u8); 7] = [
    ("s0", 0xAA),
    ("s1", 0xCC),
    ("s2", 0xF0),
    ("zeros", 0x00),
    ("ones", 0xFF),
    ("0", 0x00),
    ("1", 0xFF),
];

/// Expression of each function, from 0x00 to 0xFF, as `iga64 -d` prints it.
const EXPRESSIONS: &str = "zeros ~s0&~s1&~s2 s0&~s1&~s2 ~s1&~s2 ~s0&s1&~s2 ~s0&~s2 (s0^s1)&~s2 (~s0|~s1)&~s2 s0&s1&~s2 \
     (s0^~s1)&~s2 s0&~s2 (s0|~s1)&~s2 s1&~s2 (~s0|s1)&~s2 (s0|s1)&~s2 ~s2 ~s0&~s1&s2 ~s0&~s1 (s0^s2)&~s1 \
     (~s0|~s2)&~s1 ~s0&(s1^s2) ~s0&(~s1|~s2) s0^(s0&s1|s1^s2) ~s0&~s1|(~s0|~s1)&~s2 (s0^s2)&(s1^s2) \
     s0^(s0&s2|~s1) s0^(s0|~s1)&s2 s0&~s2|~s0&~s1 (s0&s2|s1)^s2 ~s0&~s1|s1&~s2 (s0|s1)^s2 ~s0&~s1|~s2 \
     s0&~s1&s2 (s0^~s2)&~s1 s0&~s1 (s0|~s2)&~s1 (s0^s1)&(s1^s2) s0^(s0&s1|~s2) s0^(s0|~s2)&s1 \
     s0&~s1|~s0&~s2 s0&(s1^s2) s0^(s0|~s1)&(s1^~s2) s0&(~s1|~s2) s0&~s1|(s0|~s1)&~s2 (~s0&s2|s1)^s2 \
     (~s0|s1)^s2 s0&~s1|s1&~s2 s0&~s1|~s2 ~s1&s2 (~s0|s2)&~s1 (s0|s2)&~s1 ~s1 (s0&s1|s2)^s1 \
     ~s0&~s2|~s1&s2 (s0|s2)^s1 ~s0&~s2|~s1 (~s0&s1|s2)^s1 (~s0|s2)^s1 s0&~s2|~s1&s2 s0&~s2|~s1 s1^s2 \
     ~s0&~s1|s1^s2 s0&~s1|s1^s2 ~s1|~s2 ~s0&s1&s2 ~s0&(s1^~s2) (s0^s1)&(s1^~s2) (s0&s1|~s2)^s1 ~s0&s1 \
     ~s0&(s1|~s2) s0^(s0&s2|s1) ~s0&s1|~s1&~s2 (s0^s2)&s1 s0^(s0&s2|s1^~s2) s0^(s0|s1)&s2 (s0|~s1)^s2 \
     (~s0|~s2)&s1 ~s0&s1|(~s0|s1)&~s2 s0&~s2|~s0&s1 ~s0&s1|~s2 ~s0&s2 ~s0&(~s1|s2) s0^(s0&s1|s2) \
     ~s0&s2|~s1&~s2 ~s0&(s1|s2) ~s0 s0^(s1|s2) ~s0|~s1&~s2 s0^(s0&~s1|s2) s0^(~s1|s2) s0^s2 s0^s2|~s0&~s1 \
     ~s0&s2|s1&~s2 ~s0|s1&~s2 s0^s2|s1&~s2 ~s0|~s2 (s0^s1)&s2 s0^(s0&s1|s1^~s2) s0^(s0|s2)&s1 (s0|~s2)^s1 \
     s0^(s0&~s2|s1) s0^(s1|~s2) s0^s1 s0^s1|~s0&~s2 s0^(s0|s1)&(s1^~s2) s0^s1^~s2 s0^s1&s2 \
     s0^s1&s2|~s1&~s2 (~s0|~s2)^~s1 s0^(s1|~s2)|s1&~s2 s0^s1|s0&~s2 s0^s1|~s2 (~s0|~s1)&s2 \
     ~s0&s2|(~s0|s2)&~s1 s0&~s1|~s0&s2 ~s0&s2|~s1 ~s0&s1|~s1&s2 ~s0|~s1&s2 s0^s1|~s0&s2 ~s0|~s1 \
     (~s0|~s1)^~s2 s0^(~s1|s2)|~s1&s2 s0^s2|s0&~s1 s0^s2|~s1 ~s0&s1|s1^s2 ~s0|s1^s2 s0^s1|s1^s2 \
     ~s0|~s1|~s2 s0&s1&s2 (s0^~s1)&(s1^~s2) s0&(s1^~s2) (~s0&s1|~s2)^s1 (s0^~s2)&s1 s0^(s0&~s1|~s2) \
     s0^(s0|s1)&(s1^s2) (~s0|~s1)^s2 s0&s1 s0^(s0|~s2)&~s1 s0&(s1|~s2) s0&s1|~s1&~s2 (s0|~s2)&s1 \
     s0&s1|~s0&~s2 s0&s1|(s0|s1)&~s2 s0&s1|~s2 (s0^~s1)&s2 s0^(s0&~s2|~s1) s0^(s0|s2)&(s1^s2) \
     (~s0|~s2)^s1 s0^(s0&~s1|s1^s2) s0^(~s1|~s2) s0^s1^s2 s0^(~s1|~s2)|~s1&~s2 s0^(s0|s2)&~s1 s0^~s1 \
     s0^~s1&s2 s0^~s1|s0&~s2 (s0|~s2)^~s1 s0^~s1|s1&~s2 s0^~s1&s2|s1&~s2 s0^~s1|~s2 s0&s2 s0^(s0|~s1)&~s2 \
     s0&(~s1|s2) s0&s2|~s1&~s2 s0^(s0|s1)&~s2 s0^~s2 s0^s1&~s2 s0^~s2|s0&~s1 s0&(s1|s2) s0^~s1&~s2 s0 \
     s0|~s1&~s2 s0&s2|s1&~s2 s0^~s2|s0&s1 s0|s1&~s2 s0|~s2 (s0|~s1)&s2 s0&s2|~s0&~s1 s0&s2|(s0|s2)&~s1 \
     s0&s2|~s1 (s0|~s1)^~s2 s0^~s2|~s0&~s1 s0^s1&~s2|~s1&s2 s0^~s2|~s1 s0&s1|~s1&s2 s0^~s1|s0&s2 \
     s0|~s1&s2 s0|~s1 s0&s1|s1^s2 s0^~s1|s1^s2 s0|s1^s2 s0|~s1|~s2 s1&s2 (s0&~s1|s2)^~s1 (~s0&~s1|s2)^~s1 \
     s1^~s2 (~s0|s2)&s1 ~s0&~s2|s1&s2 (~s0|s2)^~s1 ~s0&s1|s1^~s2 (s0|s2)&s1 (s0|s2)^~s1 s0&~s2|s1&s2 \
     s0&s1|s1^~s2 s1 ~s0&~s2|s1 s0&~s2|s1 s1|~s2 (~s0|s1)&s2 ~s0&~s1|s1&s2 (~s0|s1)^~s2 ~s0&s2|s1^~s2 \
     ~s0&s1|(~s0|s1)&s2 ~s0|s1&s2 s0^(s1|s2)|s1&s2 ~s0|s1^~s2 s0&s1|~s0&s2 s0^~s1|s1&s2 s0^s2|s0&s1 \
     s0^s2|s1^~s2 ~s0&s2|s1 ~s0|s1 s0^s2|s1 ~s0|s1|~s2 (s0|s1)&s2 (s0|s1)^~s2 s0&~s1|s1&s2 s0&s2|s1^~s2 \
     s0&s2|~s0&s1 s0^~s2|s1&s2 s0^s1|s0&s2 s0^s1|s1^~s2 s0&s1|(s0|s1)&s2 s0^~s1&~s2|s1&s2 s0|s1&s2 \
     s0|s1^~s2 s0&s2|s1 s0^~s2|s1 s0|s1 s0|s1|~s2 s2 ~s0&~s1|s2 s0&~s1|s2 ~s1|s2 ~s0&s1|s2 ~s0|s2 \
     s0^s1|s2 ~s0|~s1|s2 s0&s1|s2 s0^~s1|s2 s0|s2 s0|~s1|s2 s1|s2 ~s0|s1|s2 s0|s1|s2 ones";

static BY_NUMBER: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| EXPRESSIONS.split_ascii_whitespace().collect());

/// Returns the expression of a function.
pub(super) fn expression(function: u8) -> &'static str {
    BY_NUMBER
        .get(usize::from(function))
        .copied()
        .unwrap_or_default()
}

/// Parses the function after `bfn.`: a number or an expression in parentheses.
pub(super) fn function(c: &mut Cursor<'_>) -> Parsed<u8> {
    if c.sees("(") {
        return unary(c, 0);
    }
    let start = c.pos();
    let word = c.word();
    let number = match word.strip_prefix("0x").or(word.strip_prefix("0X")) {
        Some(hex) => u8::from_str_radix(hex, 16),
        None => word.parse(),
    };
    match number {
        Ok(n) => Ok(n),
        Err(_) => c.error_from(
            start,
            "expected a function of `bfn`: 0x00 to 0xFF or an expression, as in `(s0&~s1|s2)`",
        ),
    }
}

/// Maximum nesting of parentheses.
const DEPTH: u32 = 64;

/// Parses a binary expression. `or` has the lowest precedence, then `xor`, then `and`.
fn binary(c: &mut Cursor<'_>, level: usize, depth: u32) -> Parsed<u8> {
    const OPERATORS: [&str; 3] = ["|", "^", "&"];
    let Some(operator) = OPERATORS.get(level) else {
        return unary(c, depth);
    };
    let mut value = binary(c, level + 1, depth)?;
    while c.eat(operator) {
        let right = binary(c, level + 1, depth)?;
        match level {
            0 => value |= right,
            1 => value ^= right,
            _ => value &= right,
        }
    }
    Ok(value)
}

fn unary(c: &mut Cursor<'_>, depth: u32) -> Parsed<u8> {
    if depth > DEPTH {
        return c.error("the expression is nested too deep");
    }
    if c.eat("~") {
        return Ok(!unary(c, depth + 1)?);
    }
    if c.eat("(") {
        let value = binary(c, 0, depth + 1)?;
        c.expect(")")?;
        return Ok(value);
    }
    c.skip_blanks();
    let start = c.pos();
    let word = c.word();
    match SOURCES.iter().find(|(name, _)| *name == word) {
        Some((_, table)) => Ok(*table),
        None => c.error_from(start, "expected `s0`, `s1`, `s2`, `zeros` or `ones`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_evaluates_to_its_function() {
        assert_eq!(BY_NUMBER.len(), 256);
        for n in 0..=255 {
            let text = format!("({})", expression(n));
            let mut c = Cursor::new(&text, 1);
            assert_eq!(function(&mut c).ok(), Some(n), "{text}");
            assert!(c.at_end());
            let text = format!("{n:#04x}");
            assert_eq!(function(&mut Cursor::new(&text, 1)).ok(), Some(n));
        }
    }
}
