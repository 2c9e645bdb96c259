//! Typed numbers of `; run:` lines: parsing, conversion to the device's bytes, and comparison.

use gantry_isa_gen::diag::{Are, Count};
use half::f16;
use std::fmt;

/// Type of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    name: &'static str,
    bytes: usize,
    class: Class,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Signed,
    Unsigned,
    Float,
}

const fn kind(name: &'static str, bytes: usize, class: Class) -> Kind {
    Kind { name, bytes, class }
}

const KINDS: [Kind; 11] = [
    kind("i8", 1, Class::Signed),
    kind("i16", 2, Class::Signed),
    kind("i32", 4, Class::Signed),
    kind("i64", 8, Class::Signed),
    kind("u8", 1, Class::Unsigned),
    kind("u16", 2, Class::Unsigned),
    kind("u32", 4, Class::Unsigned),
    kind("u64", 8, Class::Unsigned),
    kind("f16", 2, Class::Float),
    kind("f32", 4, Class::Float),
    kind("f64", 8, Class::Float),
];

/// Allowed distance of a float from the expected one.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Tolerance(
    /// Limit of `|got - expected|`, as a multiple of `max(1, |expected|)`. With 0 bits must be
    /// equal, except that any NaN equals any NaN.
    pub f64,
);

impl Kind {
    /// `u8`.
    pub const U8: Kind = KINDS[4];
    /// `u16`.
    pub const U16: Kind = KINDS[5];
    /// `u32`.
    pub const U32: Kind = KINDS[6];
    /// `u64`.
    pub const U64: Kind = KINDS[7];
    /// `f16`.
    pub const F16: Kind = KINDS[8];
    /// `f32`.
    pub const F32: Kind = KINDS[9];

    /// Parses the name of a type: `i8` .. `i64`, `u8` .. `u64`, `f16 f32 f64`.
    pub fn from_name(name: &str) -> Option<Kind> {
        KINDS.into_iter().find(|k| k.name == name)
    }

    /// Returns the size in bytes.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// Parses a number. `0x` gives the bits themselves, also of floats.
    ///
    /// # Errors
    /// The text is no number of this type.
    pub fn parse(self, text: &str) -> Result<u64, String> {
        let wrong = || format!("`{text}` is not a number of kind {}", self.name);
        let mask = u64::MAX >> (64 - 8 * self.bytes);
        if let Some(hex) = text.strip_prefix("0x") {
            return u64::from_str_radix(hex, 16)
                .ok()
                .filter(|v| v & !mask == 0)
                .ok_or_else(wrong);
        }
        match self.class {
            Class::Float => {
                let v: f64 = text.parse().map_err(|_| wrong())?;
                Ok(match self.bytes {
                    2 => u64::from(f16::from_f64(v).to_bits()),
                    // Not through f64, so that it is rounded once.
                    4 => u64::from(text.parse::<f32>().map_err(|_| wrong())?.to_bits()),
                    _ => v.to_bits(),
                })
            }
            Class::Signed | Class::Unsigned => {
                // An integer's bits may be written as either sign: `i8 -1`, `i8 255`.
                let v: i128 = text.parse().map_err(|_| wrong())?;
                let (low, high) = (-(i128::from(mask) / 2) - 1, i128::from(mask));
                match self.class {
                    Class::Signed if (low..=high).contains(&v) => Ok(v as u64 & mask),
                    Class::Unsigned if (0..=high).contains(&v) => Ok(v as u64),
                    _ => Err(wrong()),
                }
            }
        }
    }

    /// Returns the bits of an integer in this type: 3 is `3`, or `3.0`.
    pub fn from_int(self, v: i64) -> Result<u64, String> {
        self.parse(&v.to_string())
    }

    fn as_f64(self, bits: u64) -> f64 {
        match self.bytes {
            2 => f16::from_bits(bits as u16).to_f64(),
            4 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        }
    }

    /// Returns true if two numbers are equal, within a tolerance for floats.
    pub fn equal(self, got: u64, expected: u64, tolerance: Tolerance) -> bool {
        if got == expected {
            return true;
        }
        if self.class != Class::Float {
            return false;
        }
        let (g, e) = (self.as_f64(got), self.as_f64(expected));
        (g.is_nan() && e.is_nan())
            || (tolerance.0 > 0.0 && (g == e || (g - e).abs() <= tolerance.0 * e.abs().max(1.0)))
    }

    /// Formats a number.
    pub fn show(self, bits: u64) -> String {
        let unused = 64 - 8 * self.bytes as u32;
        match self.class {
            Class::Signed => (((bits << unused) as i64) >> unused).to_string(),
            Class::Unsigned => bits.to_string(),
            Class::Float if self.bytes == 4 => f32::from_bits(bits as u32).to_string(),
            Class::Float => self.as_f64(bits).to_string(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Numbers of one type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Data {
    /// Type.
    pub kind: Kind,
    /// Bits of each number.
    pub bits: Vec<u64>,
}

impl Data {
    /// Returns the device's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.bits
            .iter()
            .flat_map(|b| b.to_le_bytes().into_iter().take(self.kind.bytes))
            .collect()
    }

    /// Reads numbers of a type from the device's bytes. Bytes after the last whole number are
    /// dropped.
    pub fn from_bytes(kind: Kind, bytes: &[u8]) -> Data {
        let bits = bytes
            .chunks_exact(kind.bytes)
            .map(|c| c.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b)))
            .collect();
        Data { kind, bits }
    }

    /// Compares a buffer with the numbers.
    ///
    /// # Errors
    /// They differ. The message has the first difference, the elements around it, and the
    /// number of differences.
    pub fn compare(&self, bytes: &[u8], tolerance: Tolerance) -> Result<(), String> {
        let got = Data::from_bytes(self.kind, bytes);
        let pairs = got.bits.iter().zip(&self.bits);
        let mut differ = pairs
            .enumerate()
            .filter(|(_, (g, e))| !self.kind.equal(**g, **e, tolerance));
        if let Some((i, (&g, &e))) = differ.next() {
            let (e, g) = (self.kind.show(e), self.kind.show(g));
            return Err(format!(
                "element {i} differs: expected {e}, got {g} ({} of {} differ)\n  expected {}\n  got      {}",
                1 + differ.count(),
                self.bits.len().min(got.bits.len()),
                self.around(i),
                got.around(i),
            ));
        }
        if got.bits.len() == self.bits.len() {
            Ok(())
        } else {
            Err(format!(
                "the buffer has {}, {} expected",
                Count(got.bits.len(), "element"),
                Are(self.bits.len())
            ))
        }
    }

    /// Formats an element and those near it, with the element in brackets.
    fn around(&self, i: usize) -> String {
        const NEAR: usize = 4;
        let first = i.saturating_sub(NEAR);
        let shown = self
            .bits
            .iter()
            .enumerate()
            .skip(first)
            .take(i + NEAR + 1 - first);
        let list: Vec<String> = shown
            .map(|(at, &b)| {
                if at == i {
                    format!("[{}]", self.kind.show(b))
                } else {
                    self.kind.show(b)
                }
            })
            .collect();
        let before = if first > 0 { "... " } else { "" };
        let after = if self.bits.len() > i + NEAR + 1 {
            " ..."
        } else {
            ""
        };
        format!("{} {before}{}{after}", self.kind, list.join(" "))
    }
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list: Vec<String> = self.bits.iter().map(|&b| self.kind.show(b)).collect();
        write!(f, "{}[{}]", self.kind, list.join(", "))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let k = |n| Kind::from_name(n).unwrap();
        assert_eq!(k("i8").parse("-1"), Ok(255));
        assert_eq!(k("i8").parse("255"), Ok(255));
        assert!(k("i8").parse("256").is_err());
        assert!(k("u8").parse("-1").is_err());
        assert_eq!(k("u64").parse("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(k("i64").parse("-9223372036854775808"), Ok(1 << 63));
        assert_eq!(k("f16").parse("1.5"), Ok(0x3e00));
        assert_eq!(k("f32").parse("0x7fc00000"), Ok(0x7fc0_0000));
        assert_eq!(k("f32").parse("-inf"), Ok(0xff80_0000));
        assert_eq!(k("i16").show(0xffff), "-1");
        assert_eq!(k("f32").show(0x3fc0_0000), "1.5");
    }

    #[test]
    fn comparing() {
        let k = Kind::from_name("f32").unwrap();
        let bits = |v: f32| u64::from(v.to_bits());
        assert!(k.equal(bits(f32::NAN), 0xffff_ffff, Tolerance(0.0)));
        assert!(!k.equal(bits(0.0), bits(-0.0), Tolerance(0.0)));
        assert!(k.equal(bits(0.0), bits(-0.0), Tolerance(1e-6)));
        assert!(k.equal(bits(100.0), bits(100.001), Tolerance(1e-4)));
        assert!(!k.equal(bits(100.0), bits(101.0), Tolerance(1e-4)));
        let d = Data {
            kind: k,
            bits: vec![bits(1.0)],
        };
        assert!(d.compare(&[0, 0, 128, 63], Tolerance(0.0)).is_ok());
        let say = |bytes: &[u8]| d.compare(bytes, Tolerance(0.0)).unwrap_err();
        assert!(say(&[0, 0, 128, 64]).starts_with("element 0 differs: expected 1, got 4 (1 of 1"));
        assert_eq!(say(&[]), "the buffer has 0 elements, 1 is expected");
    }

    #[test]
    fn a_difference_is_shown_with_its_neighbours_alone() {
        let kind = Kind::from_name("u8").unwrap();
        let d = Data {
            kind,
            bits: (0..100).collect(),
        };
        let mut bytes: Vec<u8> = (0..100).collect();
        bytes[50] = 7;
        bytes[99] = 7;
        assert_eq!(
            d.compare(&bytes, Tolerance(0.0)).unwrap_err(),
            "element 50 differs: expected 50, got 7 (2 of 100 differ)\n  \
             expected u8 ... 46 47 48 49 [50] 51 52 53 54 ...\n  \
             got      u8 ... 46 47 48 49 [7] 51 52 53 54 ..."
        );
        bytes[1] = 9;
        let e = d.compare(&bytes, Tolerance(0.0)).unwrap_err();
        assert!(e.ends_with("got      u8 0 [9] 2 3 4 5 ..."), "{e}");
        assert!(d.compare(&bytes[..1], Tolerance(0.0)).is_err());
    }
}
