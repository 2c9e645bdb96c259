//! Conditions of compares.

use super::immediate::keyword;
use std::fmt;

gantry_isa_gen::named_enum! {
    /// Condition of `icmp`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum IntCC {
        /// `eq`.
        Equal = "eq",
        /// `ne`.
        NotEqual = "ne",
        /// `slt`.
        SignedLessThan = "slt",
        /// `sle`.
        SignedLessThanOrEqual = "sle",
        /// `sgt`.
        SignedGreaterThan = "sgt",
        /// `sge`.
        SignedGreaterThanOrEqual = "sge",
        /// `ult`.
        UnsignedLessThan = "ult",
        /// `ule`.
        UnsignedLessThanOrEqual = "ule",
        /// `ugt`.
        UnsignedGreaterThan = "ugt",
        /// `uge`.
        UnsignedGreaterThanOrEqual = "uge",
    }
}

impl IntCC {
    /// Returns the condition that is true where this one is false.
    pub const fn inverse(self) -> IntCC {
        match self {
            IntCC::Equal => IntCC::NotEqual,
            IntCC::NotEqual => IntCC::Equal,
            IntCC::SignedLessThan => IntCC::SignedGreaterThanOrEqual,
            IntCC::SignedLessThanOrEqual => IntCC::SignedGreaterThan,
            IntCC::SignedGreaterThan => IntCC::SignedLessThanOrEqual,
            IntCC::SignedGreaterThanOrEqual => IntCC::SignedLessThan,
            IntCC::UnsignedLessThan => IntCC::UnsignedGreaterThanOrEqual,
            IntCC::UnsignedLessThanOrEqual => IntCC::UnsignedGreaterThan,
            IntCC::UnsignedGreaterThan => IntCC::UnsignedLessThanOrEqual,
            IntCC::UnsignedGreaterThanOrEqual => IntCC::UnsignedLessThan,
        }
    }

    /// Returns the condition for exchanged operands.
    pub const fn exchanged(self) -> IntCC {
        match self {
            IntCC::Equal | IntCC::NotEqual => self,
            IntCC::SignedLessThan => IntCC::SignedGreaterThan,
            IntCC::SignedLessThanOrEqual => IntCC::SignedGreaterThanOrEqual,
            IntCC::SignedGreaterThan => IntCC::SignedLessThan,
            IntCC::SignedGreaterThanOrEqual => IntCC::SignedLessThanOrEqual,
            IntCC::UnsignedLessThan => IntCC::UnsignedGreaterThan,
            IntCC::UnsignedLessThanOrEqual => IntCC::UnsignedGreaterThanOrEqual,
            IntCC::UnsignedGreaterThan => IntCC::UnsignedLessThan,
            IntCC::UnsignedGreaterThanOrEqual => IntCC::UnsignedLessThanOrEqual,
        }
    }

    /// Returns true if operands are signed (also for `eq` and `ne`).
    pub const fn is_signed(self) -> bool {
        !matches!(
            self,
            IntCC::UnsignedLessThan
                | IntCC::UnsignedLessThanOrEqual
                | IntCC::UnsignedGreaterThan
                | IntCC::UnsignedGreaterThanOrEqual
        )
    }
}

keyword!(IntCC);

impl fmt::Display for IntCC {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

gantry_isa_gen::named_enum! {
    /// Condition of `fcmp`. With a NaN operand, `ne` is true and all others are false.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum FloatCC {
        /// `eq`.
        Equal = "eq",
        /// `ne`: unequal or unordered.
        NotEqual = "ne",
        /// `lt`.
        LessThan = "lt",
        /// `le`.
        LessThanOrEqual = "le",
        /// `gt`.
        GreaterThan = "gt",
        /// `ge`.
        GreaterThanOrEqual = "ge",
    }
}

impl FloatCC {
    /// Returns the condition for exchanged operands.
    pub const fn exchanged(self) -> FloatCC {
        match self {
            FloatCC::Equal | FloatCC::NotEqual => self,
            FloatCC::LessThan => FloatCC::GreaterThan,
            FloatCC::LessThanOrEqual => FloatCC::GreaterThanOrEqual,
            FloatCC::GreaterThan => FloatCC::LessThan,
            FloatCC::GreaterThanOrEqual => FloatCC::LessThanOrEqual,
        }
    }
}

keyword!(FloatCC);

impl fmt::Display for FloatCC {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
