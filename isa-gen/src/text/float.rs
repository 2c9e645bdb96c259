//! Floats in IGA syntax: six digits if exact, else six decimals and an exponent if exact, else the
//! bits in hexadecimal.

/// Formats like C's `%g`, with six significant digits.
fn general(x: f64) -> String {
    let sci = format!("{x:.5e}");
    let (digits, exp) = sci.split_once('e').unwrap_or((&sci, "0"));
    let exp: i32 = exp.parse().unwrap_or(0);
    if (-4..6).contains(&exp) {
        let decimals = (5 - exp).max(0) as usize;
        trim(&format!("{x:.decimals$}")).to_string()
    } else {
        format!("{}{}", trim(digits), exponent(exp))
    }
}

/// Formats like C's `%e`.
fn scientific(x: f64) -> String {
    let sci = format!("{x:.6e}");
    let (digits, exp) = sci.split_once('e').unwrap_or((&sci, "0"));
    format!("{digits}{}", exponent(exp.parse().unwrap_or(0)))
}

fn exponent(exp: i32) -> String {
    let sign = if exp < 0 { '-' } else { '+' };
    format!("e{sign}{:02}", exp.unsigned_abs())
}

fn trim(s: &str) -> &str {
    if s.contains('.') {
        s.trim_end_matches('0').trim_end_matches('.')
    } else {
        s
    }
}

/// Formats a finite or infinite number in decimal, if it reads back exactly. `round` rounds to the
/// type.
fn decimal(x: f64, round: impl Fn(f64) -> f64) -> Option<String> {
    if x.is_infinite() {
        return Some(if x < 0.0 { "-inf" } else { "inf" }.to_string());
    }
    let exact = |s: &String| s.parse().is_ok_and(|y: f64| round(y) == x);
    let g = general(x);
    if exact(&g) {
        return Some(if g.contains(['.', 'e']) { g } else { g + ".0" });
    }
    Some(scientific(x)).filter(exact)
}

fn nan(bits: u64, mantissa: u32, sign: bool) -> String {
    let quiet = 1u64 << (mantissa - 1);
    format!(
        "{}{}(0x{:X})",
        if sign { "-" } else { "" },
        if bits & quiet != 0 { "qnan" } else { "snan" },
        bits & (quiet - 1)
    )
}

/// Formats a single-precision float.
pub(super) fn single(bits: u32) -> String {
    let x = f32::from_bits(bits);
    if x.is_nan() {
        return nan(bits.into(), 23, bits >> 31 != 0);
    }
    decimal(x.into(), |y| (y as f32).into()).unwrap_or_else(|| format!("0x{bits:X}"))
}

/// Formats a double-precision float.
pub(super) fn double(bits: u64) -> String {
    let x = f64::from_bits(bits);
    if x.is_nan() {
        return nan(bits, 52, bits >> 63 != 0);
    }
    decimal(x, |y| y).unwrap_or_else(|| format!("0x{bits:X}"))
}

/// Formats a half-precision float.
pub(super) fn half(bits: u16) -> String {
    let x = half::f16::from_bits(bits);
    if x.is_nan() {
        return nan(bits.into(), 10, bits >> 15 != 0);
    }
    decimal(x.into(), |y| f64::from(y as f32)).unwrap_or_else(|| format!("0x{bits:X}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_iga_writes_them() {
        for (x, text) in [
            (0.0f32, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-2.5, "-2.5"),
            (0.01, "0.01"),
            (1e-7, "1e-07"),
            (123456.0, "123456.0"),
            (1234567.0, "1.234567e+06"),
            (1e20, "1e+20"),
            (1.0 / 3.0, "0x3EAAAAAB"),
            (f32::INFINITY, "inf"),
            (f32::NAN, "qnan(0x0)"),
        ] {
            assert_eq!(single(x.to_bits()), text);
        }
        assert_eq!(half(0x3c00), "1.0");
        assert_eq!(double(1.5f64.to_bits()), "1.5");
    }
}
