//! Parsing of immediates and descriptors.

use super::cursor::{Cursor, Parsed};
use crate::types::Type;

/// Immediate in the source text, before its type is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Literal<'a> {
    negative: bool,
    digits: &'a str,
    /// Quiet bit and payload of `qnan(..)` and `snan(..)`.
    nan: Option<(bool, u64)>,
    start: usize,
}

/// Returns true if a number comes next, optionally after a sign.
pub(super) fn sees_literal(c: &mut Cursor<'_>) -> bool {
    c.skip_blanks();
    let mut ahead = c.clone();
    ahead.eat("-");
    let rest = ahead.rest();
    rest.starts_with(|ch: char| ch.is_ascii_digit())
        || ["inf:", "qnan(", "snan("]
            .iter()
            .any(|s| rest.starts_with(s))
}

pub(super) fn literal<'a>(c: &mut Cursor<'a>) -> Parsed<Literal<'a>> {
    c.skip_blanks();
    let start = c.pos();
    let negative = c.eat("-");
    let rest = c.rest();
    for (name, quiet) in [("qnan(", true), ("snan(", false)] {
        if c.eat_close(name) {
            let payload = hex(c)?;
            c.expect(")")?;
            return Ok(Literal {
                negative,
                digits: "",
                nan: Some((quiet, payload)),
                start,
            });
        }
    }
    let mut previous = ' ';
    let hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
    let n = rest
        .find(|ch: char| {
            let exponent = !hexadecimal && matches!(previous, 'e' | 'E') && matches!(ch, '+' | '-');
            previous = ch;
            !(ch.is_ascii_alphanumeric() || ch == '.' || exponent)
        })
        .unwrap_or(rest.len());
    c.bump(n);
    Ok(Literal {
        negative,
        digits: rest.get(..n).unwrap_or(""),
        nan: None,
        start,
    })
}

/// Parses an unsigned number, hexadecimal after `0x`.
fn unsigned(s: &str) -> Option<u64> {
    match s.strip_prefix("0x").or(s.strip_prefix("0X")) {
        Some(h) => u64::from_str_radix(h, 16).ok(),
        None => s.parse().ok(),
    }
}

fn hex(c: &mut Cursor<'_>) -> Parsed<u64> {
    c.skip_blanks();
    let start = c.pos();
    let word = c.word();
    match unsigned(word) {
        Some(v) => Ok(v),
        None => c.error_from(start, "expected a number"),
    }
}

/// Parses the 32 bits of a descriptor.
pub(super) fn descriptor(c: &mut Cursor<'_>) -> Parsed<u32> {
    c.skip_blanks();
    let start = c.pos();
    match u32::try_from(hex(c)?) {
        Ok(v) => Ok(v),
        Err(_) => c.error_from(start, "a descriptor has 32 bits"),
    }
}

/// Parses a signed distance in bytes.
pub(super) fn distance(c: &mut Cursor<'_>) -> Parsed<i32> {
    let l = literal(c)?;
    let value = unsigned(l.digits).and_then(|v| i64::try_from(v).ok());
    let value = value.map(|v| if l.negative { -v } else { v });
    match value.and_then(|v| i32::try_from(v).ok()) {
        Some(v) => Ok(v),
        None => c.error_from(l.start, "expected a distance in bytes"),
    }
}

impl Literal<'_> {
    /// Returns the bits of an immediate of this type.
    pub(super) fn bits(&self, ty: Type, c: &Cursor<'_>) -> Parsed<u64> {
        let bits = if ty.is_float() && ty != Type::Vf {
            self.float_bits(ty)
        } else {
            self.int_bits(ty)
        };
        match bits {
            Some(b) => Ok(b),
            None => c.error_from(self.start, format!("not an immediate of type `{ty}`")),
        }
    }

    fn int_bits(&self, ty: Type) -> Option<u64> {
        let width = match ty {
            Type::Uv | Type::V | Type::Vf => 32,
            _ => ty.bytes() * 8,
        };
        let magnitude = unsigned(self.digits)?;
        let mask = u64::MAX >> (64 - width);
        if !self.negative {
            return (magnitude <= mask).then_some(magnitude);
        }
        let least = 1u64 << (width - 1);
        (magnitude <= least && ty.is_signed()).then_some(magnitude.wrapping_neg() & mask)
    }

    fn float_bits(&self, ty: Type) -> Option<u64> {
        let (mantissa, width) = match ty {
            Type::Hf => (10, 16),
            Type::F => (23, 32),
            _ => (52, 64),
        };
        let sign = 1u64 << (width - 1);
        let signed = |bits: u64| if self.negative { bits | sign } else { bits };
        if let Some((quiet, payload)) = self.nan {
            let top = 1u64 << (mantissa - 1);
            let exponent = (sign - 1) & !((1u64 << mantissa) - 1);
            let quiet_bit = if quiet { top } else { 0 };
            // A signalling NaN without a payload would be an infinity.
            return (payload < top && (quiet || payload != 0))
                .then(|| signed(exponent | quiet_bit | payload));
        }
        if self.digits.starts_with("0x") || self.digits.starts_with("0X") {
            let bits = unsigned(self.digits)?;
            return (!self.negative && (width == 64 || bits >> width == 0)).then_some(bits);
        }
        let x: f64 = match self.digits {
            "inf" => f64::INFINITY,
            d if d.starts_with(|c: char| c.is_ascii_digit()) => d.parse().ok()?,
            _ => return None,
        };
        Some(signed(match ty {
            Type::Hf => half::f16::from_f32(x as f32).to_bits().into(),
            Type::F => (x as f32).to_bits().into(),
            _ => x.to_bits(),
        }))
    }
}
