//! Values that a caller gives to specialization constants and WGSL overrides.

use std::fmt;
use std::str::FromStr;

/// Value for a specialization constant, before the type of the constant is known.
///
/// ```
/// use gantry_spirv::SpecValue;
/// assert_eq!("0x10".parse(), Ok(SpecValue::Int(16)));
/// assert_eq!("-2.5".parse(), Ok(SpecValue::Float(-2.5)));
/// assert_eq!("true".parse(), Ok(SpecValue::Bool(true)));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SpecValue {
    /// Bool.
    Bool(bool),
    /// Integer. A float constant takes it too.
    Int(i128),
    /// Float. An integer constant takes it if it is integral.
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

/// Error of parsing a [`SpecValue`].
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

/// Type of a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SpecType {
    Bool,
    /// Width in bits. Signed or unsigned, where that is known.
    Int(u32, Option<bool>),
    /// Width in bits.
    Float(u32),
}

impl fmt::Display for SpecType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecType::Bool => f.write_str("a bool"),
            SpecType::Int(bits, Some(true)) => write!(f, "a signed integer of {bits} bits"),
            SpecType::Int(bits, Some(false)) => write!(f, "an unsigned integer of {bits} bits"),
            SpecType::Int(bits, None) => write!(f, "an integer of {bits} bits"),
            SpecType::Float(bits) => write!(f, "a float of {bits} bits"),
        }
    }
}

impl SpecValue {
    /// Converts the value to the bits of a constant.
    ///
    /// # Errors
    /// A value that the constant cannot hold.
    pub(crate) fn bits(self, holds: SpecType) -> Result<u64, String> {
        let no = || format!("{self} is no value of {holds}");
        let whole = match self {
            SpecValue::Bool(_) => None,
            SpecValue::Int(n) => Some(n),
            SpecValue::Float(x) => {
                (x.fract() == 0.0 && x.abs() < 2f64.powi(64)).then_some(x as i128)
            }
        };
        match holds {
            SpecType::Bool => match (self, whole) {
                (SpecValue::Bool(v), _) => Ok(v.into()),
                (_, Some(n @ (0 | 1))) => Ok(n as u64),
                _ => Err(no()),
            },
            SpecType::Int(bits, sign) => {
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
            SpecType::Float(bits) => {
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
                // A finite value must not become infinite.
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
            SpecType::Int(8, Some(false)),
            SpecType::Int(8, Some(true)),
            SpecType::Int(32, None),
        );
        assert_eq!(bits("255", u8), Ok(255));
        assert!(bits("256", u8).is_err() && bits("-1", u8).is_err());
        assert_eq!(bits("-128", i8), Ok(128));
        assert!(bits("128", i8).is_err() && bits("-129", i8).is_err());
        assert_eq!(bits("-1", i32), Ok(0xffff_ffff));
        assert_eq!(bits("0xffffffff", i32), Ok(0xffff_ffff));
        assert_eq!(
            bits("18446744073709551615", SpecType::Int(64, None)),
            Ok(u64::MAX)
        );
        assert_eq!(bits("7.0", i32), Ok(7));
        assert!(
            bits("7.5", i32).is_err() && bits("true", i32).is_err() && bits("nan", i32).is_err()
        );
        assert_eq!(bits("2", SpecType::Float(32)), Ok(0x4000_0000));
        assert_eq!(bits("-2.5", SpecType::Float(16)), Ok(0xc100));
        assert!(
            bits("70000", SpecType::Float(16)).is_err()
                && bits("1e39", SpecType::Float(32)).is_err()
        );
        assert_eq!(bits("inf", SpecType::Float(32)), Ok(0x7f80_0000));
        assert_eq!(bits("1", SpecType::Bool), Ok(1));
        assert!(bits("2", SpecType::Bool).is_err());
        assert!("".parse::<SpecValue>().is_err() && "x".parse::<SpecValue>().is_err());
    }
}
