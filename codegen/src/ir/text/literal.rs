//! Lanes of constants as text.
//!
//! Integers are printed signed. Floats are printed as the shortest decimal that reads back, always
//! with a point or an exponent. Infinities and NaNs are printed as their bits in hex.

use crate::ir::{Scalar, Type};
use std::fmt::Write as _;

fn sign_extend(bits: u64, width: u32) -> i64 {
    let s = 64 - width.clamp(1, 64);
    ((bits << s) as i64) >> s
}

/// Returns bytes in quotes, with escapes for those that are not printable.
pub fn quote(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &b in bytes {
        match b {
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'"' | b'\\' => out.extend(['\\', b.into()]),
            b' '..=b'~' => out.push(b.into()),
            _ => {
                let _ = write!(out, "\\x{b:02x}");
            }
        }
    }
    out.push('"');
    out
}

/// Decodes the contents of quotes.
///
/// # Errors
/// Returns a message about the first invalid escape.
pub fn unquote(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&b, tail)) = rest.split_first() {
        rest = tail;
        if b != b'\\' {
            out.push(b);
            continue;
        }
        let (byte, tail) = match rest {
            [b'n', tail @ ..] => (b'\n', tail),
            [b't', tail @ ..] => (b'\t', tail),
            [b'r', tail @ ..] => (b'\r', tail),
            [b'"', tail @ ..] => (b'"', tail),
            [b'\\', tail @ ..] => (b'\\', tail),
            [b'x', high, low, tail @ ..] => {
                let digit = |c: u8| (c as char).to_digit(16);
                match (digit(*high), digit(*low)) {
                    (Some(h), Some(l)) => ((h * 16 + l) as u8, tail),
                    _ => return Err("`\\x` takes two hex digits".to_owned()),
                }
            }
            _ => {
                return Err(
                    "an escape is one of `\\n`, `\\t`, `\\r`, `\\\"`, `\\\\` and `\\x41`"
                        .to_owned(),
                );
            }
        };
        out.push(byte);
        rest = tail;
    }
    Ok(out)
}

/// Returns the text of a lane.
pub(crate) fn print(scalar: Scalar, bits: u64) -> String {
    match scalar {
        Scalar::B1 => format!("{bits:#x}"),
        Scalar::F16 => {
            let x = half::f16::from_bits(bits as u16);
            if x.is_finite() {
                format!("{:?}", x.to_f32())
            } else {
                format!("{bits:#x}")
            }
        }
        Scalar::F32 => {
            let x = f32::from_bits(bits as u32);
            if x.is_finite() {
                format!("{x:?}")
            } else {
                format!("{bits:#x}")
            }
        }
        Scalar::F64 => {
            let x = f64::from_bits(bits);
            if x.is_finite() {
                format!("{x:?}")
            } else {
                format!("{bits:#x}")
            }
        }
        int => sign_extend(bits, int.bits()).to_string(),
    }
}

/// Returns the bits of an immediate: those of a lane, or of all lanes of a predicate.
fn width_of(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::B1 => Type::MAX_PRED_LANES,
        s => s.bits(),
    }
}

/// Parses the bits of a lane. Returns a message for invalid text.
pub(super) fn parse(scalar: Scalar, text: &str) -> Result<u64, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if let Some(hex) = digits.strip_prefix("0x") {
        let bits =
            u64::from_str_radix(hex, 16).map_err(|_| format!("`{text}` is not a hex number"))?;
        let width = width_of(scalar);
        if negative {
            return Err(format!("`{text}`: bits in hex have no sign"));
        }
        if width < 64 && bits >> width != 0 {
            return Err(format!("`{text}` does not fit in {width} bits"));
        }
        return Ok(bits);
    }
    let not_float = || format!("`{text}` is not a number");
    match scalar {
        Scalar::F16 => Ok(u64::from(
            half::f16::from_f32(text.parse().map_err(|_| not_float())?).to_bits(),
        )),
        Scalar::F32 => Ok(u64::from(
            text.parse::<f32>().map_err(|_| not_float())?.to_bits(),
        )),
        Scalar::F64 => Ok(text.parse::<f64>().map_err(|_| not_float())?.to_bits()),
        int => {
            let width = width_of(int);
            let x: i128 = text
                .parse()
                .map_err(|_| format!("`{text}` is not an integer"))?;
            let (low, high) = (-(1i128 << (width - 1)), 1i128 << width);
            if x < low || x >= high {
                return Err(format!("`{text}` does not fit in {width} bits"));
            }
            Ok(x as u64 & (u64::MAX >> (64 - width)))
        }
    }
}
