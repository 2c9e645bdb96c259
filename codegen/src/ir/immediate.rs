//! Immediates of instructions: their text, and their bytes in a cache key.

use super::opcode::Opcode;
use super::text::{Parser, Res};

/// Immediate in an instruction. A type implements this beside its definition.
pub(crate) trait Immediate: Sized {
    /// Appends the text.
    fn print(&self, out: &mut String);

    /// Parses the text of an immediate of an opcode. `what` is a phrase for errors: "a scope".
    ///
    /// # Errors
    /// Returns a diagnostic at the token that is wrong.
    fn parse(p: &mut Parser<'_>, opcode: Opcode, what: &str) -> Res<Self>;
}

/// Immediate in an instruction, as part of a cache key.
pub(crate) trait Keyed {
    /// Writes all of it to the key.
    fn key(&self, w: &mut dyn FnMut(&[u8]));
}

/// Implements [`Immediate`] and [`Keyed`] for an enum with a `name` of one word for each of `ALL`.
macro_rules! keyword {
    ($ty:ident) => {
        impl $crate::ir::immediate::Immediate for $ty {
            fn print(&self, out: &mut String) {
                out.push_str(self.name());
            }

            fn parse(
                p: &mut $crate::ir::text::Parser<'_>,
                _: $crate::ir::Opcode,
                what: &str,
            ) -> $crate::ir::text::Res<$ty> {
                p.choice(&$ty::ALL, $ty::name, what)
            }
        }

        impl $crate::ir::immediate::Keyed for $ty {
            fn key(&self, w: &mut dyn FnMut(&[u8])) {
                w(&[*self as u8]);
            }
        }
    };
}
pub(crate) use keyword;

/// Implements [`Immediate`] and [`Keyed`] for integers.
macro_rules! integer_immediates {
    ($($ty:ident)*) => {$(
        impl Immediate for $ty {
            fn print(&self, out: &mut String) {
                out.push_str(&self.to_string());
            }

            fn parse(p: &mut Parser<'_>, _: Opcode, what: &str) -> Res<$ty> {
                p.int(what)
            }
        }

        impl Keyed for $ty {
            fn key(&self, w: &mut dyn FnMut(&[u8])) {
                w(&self.to_le_bytes());
            }
        }
    )*};
}

integer_immediates!(u8 i32 u32);

impl Keyed for u64 {
    fn key(&self, w: &mut dyn FnMut(&[u8])) {
        w(&self.to_le_bytes());
    }
}

impl<T: Keyed, const N: usize> Keyed for [T; N] {
    fn key(&self, w: &mut dyn FnMut(&[u8])) {
        self.iter().for_each(|part| part.key(w));
    }
}
