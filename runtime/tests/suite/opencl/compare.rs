//! Comparison of results with expectations, element by element.

use super::case::{ElementType, Tolerance};
use half::f16;

/// Describes the first difference between `got` and `want`.
pub fn difference(
    kind: ElementType,
    tolerance: Tolerance,
    got: &[u8],
    want: &[u8],
) -> Option<String> {
    let size = kind.size();
    if got.len() != want.len() {
        return Some(format!("{} bytes, not {}", got.len(), want.len()));
    }
    let pairs = got.chunks_exact(size).zip(want.chunks_exact(size));
    let mut bad = pairs
        .enumerate()
        .filter(|(_, (g, w))| !same(kind, tolerance, g, w));
    let (i, (g, w)) = bad.next()?;
    let more = bad.count();
    let off = match (kind, tolerance) {
        (_, Tolerance::Off(n)) => format!(" ({n} more or less allowed)"),
        (ElementType::Int { .. }, _) => String::new(),
        (_, Tolerance::Exact) => " (exact)".to_owned(),
        (_, Tolerance::Ulp { ulps, scale }) => {
            let (g, w) = (float(kind, g), float(kind, w));
            let off = (g - w).abs() / ulp(kind, w.abs().max(scale));
            format!(" ({off:.1} ulp of {ulps} allowed, at {scale} or more)")
        }
    };
    let total = got.len() / size;
    Some(format!(
        "element {i} is {}, not {}{off}; {} of {total} differ",
        show(kind, g),
        show(kind, w),
        more + 1
    ))
}

fn same(kind: ElementType, tolerance: Tolerance, got: &[u8], want: &[u8]) -> bool {
    if got == want {
        return true;
    }
    if let ElementType::Int { signed, .. } = kind {
        let (g, w) = (integer(got, signed), integer(want, signed));
        return matches!(tolerance, Tolerance::Off(n) if g.abs_diff(w) <= n.into());
    }
    let (g, w) = (float(kind, got), float(kind, want));
    match tolerance {
        _ if g.is_nan() || w.is_nan() => g.is_nan() && w.is_nan(),
        Tolerance::Exact | Tolerance::Off(_) => false,
        Tolerance::Ulp { ulps, scale } => {
            g == w || (g - w).abs() <= ulps * ulp(kind, w.abs().max(scale))
        }
    }
}

/// Converts the bytes of a float exactly.
pub fn float(kind: ElementType, bytes: &[u8]) -> f64 {
    match kind {
        ElementType::F16 => f16::from_le_bytes(bytes.try_into().unwrap()).to_f64(),
        ElementType::F32 => f32::from_le_bytes(bytes.try_into().unwrap()).into(),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()),
    }
}

/// Converts the bytes of an integer.
fn integer(bytes: &[u8], signed: bool) -> i128 {
    let v = bytes.iter().rev().fold(0, |n, b| n << 8 | i128::from(*b));
    let bits = 8 * bytes.len();
    if signed && v >> (bits - 1) == 1 {
        v - (1 << bits)
    } else {
        v
    }
}

/// Returns a unit in the last place of a positive value.
fn ulp(kind: ElementType, v: f64) -> f64 {
    let (bits, least) = match kind {
        ElementType::F16 => (10, -24),
        ElementType::F32 => (23, -149),
        _ => (52, -1074),
    };
    if v == 0.0 || !v.is_finite() {
        return 2f64.powi(least);
    }
    let exponent = (v.to_bits() >> 52) as i32 - 1023;
    2f64.powi((exponent - bits).max(least))
}

fn show(kind: ElementType, bytes: &[u8]) -> String {
    match kind {
        ElementType::Int { signed, .. } => {
            let v = integer(bytes, signed);
            if signed {
                format!("{v}")
            } else {
                format!("{v} ({v:#x})")
            }
        }
        ElementType::F16 | ElementType::F32 | ElementType::F64 => {
            let bits: Vec<String> = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
            format!("{:e} (0x{})", float(kind, bytes), bits.concat())
        }
    }
}

#[test]
fn units_in_the_last_place() {
    let difference = |got: f32, want: f32, ulps, scale| {
        let tolerance = Tolerance::Ulp { ulps, scale };
        difference(
            ElementType::F32,
            tolerance,
            &got.to_le_bytes(),
            &want.to_le_bytes(),
        )
    };
    assert_eq!(difference(1.0f32.next_up(), 1.0, 1.0, 0.0), None);
    assert!(difference(1.0f32.next_up().next_up(), 1.0, 1.0, 0.0).is_some());
    assert!(difference(1e-9, 0.0, 8.0, 0.0).is_some());
    assert_eq!(difference(1e-9, 0.0, 8.0, 1.0), None);
    assert_eq!(difference(f32::NAN, -f32::NAN, 1.0, 0.0), None);
    assert!(difference(f32::NAN, 1.0, 1e30, 1.0).is_some());
    assert!(difference(f32::INFINITY, f32::MAX, 4.0, 0.0).is_some());
}
