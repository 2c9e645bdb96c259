//! Values that the user gives specialization constants and overrides.

use std::fmt;
use std::str::FromStr;

/// A value for a specialization constant, before the constant's type is known.
///
/// ```
/// use gantry_spirv::SpecValue;
/// assert_eq!("0x10".parse(), Ok(SpecValue::Int(16)));
/// assert_eq!("-2.5".parse(), Ok(SpecValue::Float(-2.5)));
/// assert_eq!("true".parse(), Ok(SpecValue::Bool(true)));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SpecValue {
    /// A truth value.
    Bool(bool),
    /// An integer; also for floats.
    Int(i128),
    /// A float; also for integers, where it is one.
    Float(f64),
}

impl From<bool> for SpecValue {
    fn from(v: bool) -> SpecValue {
        SpecValue::Bool(v)
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident),*) => {
        $(impl From<$from> for SpecValue {
            fn from(v: $from) -> SpecValue {
                SpecValue::$variant(v.into())
            }
        })*
    };
}

from! { i32 => Int, u32 => Int, i64 => Int, u64 => Int, f32 => Float, f64 => Float }

/// A text that is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no value of a constant: there are integers, floats, `true` and `false`")]
pub struct NoSpecValue(String);

impl FromStr for SpecValue {
    type Err = NoSpecValue;

    fn from_str(text: &str) -> Result<SpecValue, NoSpecValue> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
        let int = match hex {
            Some(hex) => u64::from_str_radix(hex, 16).ok().map(i128::from),
            None => digits.parse::<u64>().ok().map(i128::from),
        };
        let digit = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        match (text, int) {
            ("true", _) => Ok(SpecValue::Bool(true)),
            ("false", _) => Ok(SpecValue::Bool(false)),
            (_, Some(n)) => Ok(SpecValue::Int(sign * n)),
            _ if digit || digits == "inf" || digits == "nan" => {
                let float = text.parse().map(SpecValue::Float);
                float.map_err(|_| NoSpecValue(text.to_owned()))
            }
            _ => Err(NoSpecValue(text.to_owned())),
        }
    }
}

impl fmt::Display for SpecValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecValue::Bool(v) => write!(f, "{v}"),
            SpecValue::Int(v) => write!(f, "{v}"),
            SpecValue::Float(v) => write!(f, "{v:?}"),
        }
    }
}

/// What a constant holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holds {
    Bool,
    /// So many bits; whether with a sign, where that is known.
    Int(u32, Option<bool>),
    /// So many bits.
    Float(u32),
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holds::Bool => f.write_str("a bool"),
            Holds::Int(bits, Some(true)) => write!(f, "a signed integer of {bits} bits"),
            Holds::Int(bits, Some(false)) => write!(f, "an unsigned integer of {bits} bits"),
            Holds::Int(bits, None) => write!(f, "an integer of {bits} bits"),
            Holds::Float(bits) => write!(f, "a float of {bits} bits"),
        }
    }
}

impl SpecValue {
    /// The bits of it as a constant holds them.
    ///
    /// # Errors
    /// The constant cannot hold it.
    pub(crate) fn bits(self, holds: Holds) -> Result<u64, String> {
        let no = || format!("{self} is no value of {holds}");
        let whole = match self {
            SpecValue::Bool(_) => None,
            SpecValue::Int(n) => Some(n),
            SpecValue::Float(x) => {
                (x.fract() == 0.0 && x.abs() < 2f64.powi(64)).then_some(x as i128)
            }
        };
        match holds {
            Holds::Bool => match (self, whole) {
                (SpecValue::Bool(v), _) => Ok(v.into()),
                (_, Some(n @ (0 | 1))) => Ok(n as u64),
                _ => Err(no()),
            },
            Holds::Int(bits, sign) => {
                let n = whole.ok_or_else(no)?;
                let unsigned = 1i128 << bits.min(64);
                let (least, end) = match sign {
                    Some(false) => (0, unsigned),
                    Some(true) => (-unsigned / 2, unsigned / 2),
                    None => (-unsigned / 2, unsigned),
                };
                let inside = (least..end).contains(&n);
                inside.then_some((n & (unsigned - 1)) as u64).ok_or_else(no)
            }
            Holds::Float(bits) => {
                let x = match self {
                    SpecValue::Bool(_) => return Err(no()),
                    SpecValue::Int(n) => n as f64,
                    SpecValue::Float(x) => x,
                };
                let (raw, back) = match bits {
                    16 => {
                        let h = half::f16::from_f64(x);
                        (u64::from(h.to_bits()), h.to_f64())
                    }
                    32 => {
                        let s = x as f32;
                        (u64::from(s.to_bits()), f64::from(s))
                    }
                    _ => (x.to_bits(), x),
                };
                // A finite number stays one.
                if x.is_finite() == back.is_finite() {
                    Ok(raw)
                } else {
                    Err(no())
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let bits = |text: &str, holds| text.parse::<SpecValue>().unwrap().bits(holds);
        let (u8, i8, i32) = (
            Holds::Int(8, Some(false)),
            Holds::Int(8, Some(true)),
            Holds::Int(32, None),
        );
        assert_eq!(bits("255", u8), Ok(255));
        assert!(bits("256", u8).is_err() && bits("-1", u8).is_err());
        assert_eq!(bits("-128", i8), Ok(128));
        assert!(bits("128", i8).is_err() && bits("-129", i8).is_err());
        assert_eq!(bits("-1", i32), Ok(0xffff_ffff));
        assert_eq!(bits("0xffffffff", i32), Ok(0xffff_ffff));
        assert_eq!(
            bits("18446744073709551615", Holds::Int(64, None)),
            Ok(u64::MAX)
        );
        assert_eq!(bits("7.0", i32), Ok(7));
        assert!(
            bits("7.5", i32).is_err() && bits("true", i32).is_err() && bits("nan", i32).is_err()
        );
        assert_eq!(bits("2", Holds::Float(32)), Ok(0x4000_0000));
        assert_eq!(bits("-2.5", Holds::Float(16)), Ok(0xc100));
        assert!(
            bits("70000", Holds::Float(16)).is_err() && bits("1e39", Holds::Float(32)).is_err()
        );
        assert_eq!(bits("inf", Holds::Float(32)), Ok(0x7f80_0000));
        assert_eq!(bits("1", Holds::Bool), Ok(1));
        assert!(bits("2", Holds::Bool).is_err());
        assert!("".parse::<SpecValue>().is_err() && "x".parse::<SpecValue>().is_err());
    }
}
