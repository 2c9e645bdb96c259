//! Opcodes and math functions, generated from the rows of `gantry-meta`.

use crate::names::{key, table_key};
use crate::platform::Platform;
use crate::table::{MATH, OPS, OPS_BY_NAME};
use std::fmt;

pub use crate::table::{Format, MathFn, MathInfo, Op, OpInfo, TypeSet};

/// Keys of the names in [`OPS_BY_NAME`].
static OP_KEYS: [u64; Op::ALL.len()] = {
    let mut keys = [0; Op::ALL.len()];
    let mut n = 0;
    while n < keys.len() {
        keys[n] = table_key(OPS[OPS_BY_NAME[n] as usize].mnemonic);
        n += 1;
    }
    keys
};

impl Op {
    /// Returns the mnemonic.
    pub fn mnemonic(self) -> &'static str {
        OPS.get(self as usize).map_or("", |r| r.mnemonic)
    }

    /// Returns a sentence that describes the operation.
    pub fn doc(self) -> &'static str {
        OPS.get(self as usize).map_or("", |r| r.doc)
    }

    /// Returns the layout of the operands in encoding and text.
    #[inline]
    pub fn format(self) -> Format {
        OPS.get(self as usize).map_or(Format::Nullary, |r| r.format)
    }

    /// Returns the properties of the opcode on a platform, or `None` if the platform does not have
    /// it.
    pub fn info(self, platform: Platform) -> Option<&'static OpInfo> {
        OPS.get(self as usize)?
            .columns
            .get(platform.column())?
            .as_ref()
    }

    /// Returns the opcode with this mnemonic.
    ///
    /// ```
    /// use gantry_isa_gen::Op;
    /// assert_eq!(Op::from_mnemonic("mad"), Some(Op::Mad));
    /// assert_eq!(Op::from_mnemonic("math.inv"), None);
    /// ```
    pub fn from_mnemonic(name: &str) -> Option<Op> {
        let at = OP_KEYS.binary_search(&key(name)?).ok()?;
        OPS_BY_NAME.get(at).copied()
    }

    /// Returns true if this is one of the sends.
    #[inline]
    pub fn is_send(self) -> bool {
        self.format().is_send()
    }

    /// Returns true if this is an operation of the systolic array.
    #[inline]
    pub fn is_systolic(self) -> bool {
        self.format() == Format::Dpas
    }

    /// Returns true if operands are sequences of GRFs whose lengths no region gives: operands of
    /// sends and of the systolic array.
    #[inline]
    pub fn has_runs(self) -> bool {
        self.is_send() || self.is_systolic()
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mnemonic())
    }
}

impl MathFn {
    /// Returns the properties of the function.
    pub fn info(self) -> Option<&'static MathInfo> {
        MATH.get(self as usize)
    }

    /// Returns the name after `math.`.
    pub fn name(self) -> &'static str {
        self.info().map_or("", |i| i.name)
    }

    /// Returns the number of sources, 1 or 2.
    pub fn sources(self) -> u8 {
        self.info().map_or(1, |i| i.sources)
    }

    /// Returns true if operands name a special accumulator (`mme`).
    pub fn is_macro(self) -> bool {
        self.info().is_some_and(|i| i.is_macro)
    }

    /// Returns the function's number on a platform.
    pub fn code(self, platform: Platform) -> Option<u8> {
        *self.info()?.codes.get(platform.column())?
    }

    /// Returns the function with this number on a platform.
    pub fn from_code(platform: Platform, code: u8) -> Option<MathFn> {
        MathFn::ALL
            .into_iter()
            .find(|f| f.code(platform) == Some(code))
    }

    /// Returns the function with this name.
    pub fn from_name(name: &str) -> Option<MathFn> {
        MathFn::ALL.into_iter().find(|f| f.name() == name)
    }
}

impl fmt::Display for MathFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
