//! Literal strings and numbers of assembly.

use super::NumberType;
use half::f16;

/// Appends the words of a quoted string: UTF-8 with terminator.
pub(super) fn string(token: &str, words: &mut Vec<u32>) -> Result<(), String> {
    let inside = token.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let inside = inside.ok_or_else(|| format!("expected a string, found `{token}`"))?;
    let mut bytes = Vec::with_capacity(inside.len() + 4);
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        // A backslash escapes the next character.
        let c = if c == '\\' {
            chars.next().unwrap_or(c)
        } else {
            c
        };
        bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
    }
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let (whole, _) = bytes.as_chunks::<4>();
    words.extend(whole.iter().map(|w| u32::from_le_bytes(*w)));
    Ok(())
}

/// Appends the words of a number, low first. Narrow ones take a word, and negative integers are
/// sign-extended.
pub(super) fn number(token: &str, of: NumberType, words: &mut Vec<u32>) -> Result<(), String> {
    let bits = if of.float {
        float(token, of.bits)
    } else {
        integer(token, of.bits)
    };
    let bits = bits.ok_or_else(|| format!("`{token}` is no number of {} bits", of.bits))?;
    words.push(bits as u32);
    if of.bits > 32 {
        words.push((bits >> 32) as u32);
    }
    Ok(())
}

fn integer(token: &str, bits: u32) -> Option<u64> {
    let (negative, digits) = match token.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, token),
    };
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let magnitude = match hex {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    let fits = match (bits, negative) {
        (1..=63, false) => magnitude >> bits == 0,
        (1..=64, true) => magnitude <= 1 << (bits - 1),
        (64, false) => true,
        _ => false,
    };
    let value = if negative {
        magnitude.wrapping_neg()
    } else {
        magnitude
    };
    fits.then_some(value)
}

/// Bits of a decimal or hexadecimal float.
fn float(token: &str, bits: u32) -> Option<u64> {
    let hex = token.to_ascii_lowercase();
    let special = match hex.split_once("0x") {
        Some((sign @ ("" | "-" | "+"), hex)) => Some(hexadecimal(sign == "-", hex, bits)?),
        _ => None,
    };
    if let Some(bits) = special {
        return Some(bits);
    }
    match bits {
        16 => Some(u64::from(f16::from_f64(token.parse().ok()?).to_bits())),
        32 => Some(u64::from(token.parse::<f32>().ok()?.to_bits())),
        64 => Some(token.parse::<f64>().ok()?.to_bits()),
        _ => None,
    }
}

/// Bits of a hexadecimal float such as `1.8p+3`. `spirv-dis` prints infinities and NaNs with the
/// exponent after the largest.
fn hexadecimal(negative: bool, text: &str, bits: u32) -> Option<u64> {
    let (mantissa_bits, exponent_bits) = match bits {
        16 => (10, 5),
        32 => (23, 8),
        64 => (52, 11),
        _ => return None,
    };
    let (mantissa, exponent) = text.split_once('p')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let below = i32::try_from(fraction.len()).ok()?.checked_mul(4)?;
    let mut value = u128::from_str_radix(&format!("{whole}{fraction}"), 16).ok()?;
    let sign = u64::from(negative) << (bits - 1);
    if value == 0 {
        return Some(sign);
    }
    // The value is `value * 2^scale`. Its highest bit becomes the leading bit of the mantissa.
    let mut scale = exponent.checked_sub(below)?;
    let up = i32::try_from(value.leading_zeros())
        .ok()?
        .checked_sub(127 - mantissa_bits)?;
    let bias = (1 << (exponent_bits - 1)) - 1;
    scale = scale.checked_sub(up)?;
    let biased = scale.checked_add(mantissa_bits)?.checked_add(bias)?;
    // Subnormal numbers have no hidden bit.
    let down = if biased < 1 {
        1i32.checked_sub(biased)?
    } else {
        0
    };
    let shift = up.checked_sub(down)?;
    value = match shift {
        0.. => value.checked_shl(shift as u32)?,
        _ => {
            let by = shift.unsigned_abs();
            let kept = value.checked_shr(by)?;
            // Inexact values are rejected, not rounded.
            (kept << by == value).then_some(kept)?
        }
    };
    let mantissa = value as u64 & ((1 << mantissa_bits) - 1);
    let exponent = if down > 0 {
        0
    } else {
        u64::try_from(biased).ok()?
    };
    let most = (1 << exponent_bits) - 1;
    (exponent <= most).then_some(sign | exponent << mantissa_bits | mantissa)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats() {
        for v in [
            0.0f32,
            -0.0,
            1.0,
            -1.5,
            1.1,
            f32::MAX,
            f32::MIN_POSITIVE,
            1e-45,
            3e-42,
            f32::INFINITY,
        ] {
            let bits = v.to_bits();
            // As `spirv-dis` prints them.
            let (e, m) = (bits >> 23 & 255, bits & 0x7f_ffff);
            let sign = if bits >> 31 == 1 { "-" } else { "" };
            let text = match (e, m) {
                (0, 0) => format!("{sign}0x0p+0"),
                (0, m) => format!("{sign}0x0.{:06x}p-126", m << 1),
                _ => format!("{sign}0x1.{:06x}p{:+}", m << 1, e as i32 - 127),
            };
            assert_eq!(float(&text, 32), Some(u64::from(bits)), "{text}");
        }
        assert_eq!(float("0x1.8p+1", 16), Some(0x4200));
        assert_eq!(float("0x1p+16", 16), Some(0x7c00));
        assert_eq!(float("0x1p+17", 16), None);
        assert_eq!(float("0x1.0000001p+0", 32), None);
        assert_eq!(float("2.5", 16), Some(0x4100));
        assert_eq!(float("x", 32), None);
        assert_eq!(float("0x1p+2147483647", 32), None);
        assert_eq!(float("0x1p-2147483648", 64), None);
    }

    #[test]
    fn integers() {
        assert_eq!(integer("-1", 16), Some(u64::MAX));
        assert_eq!(integer("65535", 16), Some(65535));
        assert_eq!(integer("65536", 16), None);
        assert_eq!(integer("-32769", 16), None);
        assert_eq!(integer("0xffffffffffffffff", 64), Some(u64::MAX));
    }
}
