//! Conditions of compares.

use super::immediate::keyword;
use std::fmt;

/// Condition of `icmp`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IntCC {
    /// `eq`.
    Equal,
    /// `ne`.
    NotEqual,
    /// `slt`.
    SignedLessThan,
    /// `sle`.
    SignedLessThanOrEqual,
    /// `sgt`.
    SignedGreaterThan,
    /// `sge`.
    SignedGreaterThanOrEqual,
    /// `ult`.
    UnsignedLessThan,
    /// `ule`.
    UnsignedLessThanOrEqual,
    /// `ugt`.
    UnsignedGreaterThan,
    /// `uge`.
    UnsignedGreaterThanOrEqual,
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

    /// Every condition.
    pub const ALL: [IntCC; 10] = [
        IntCC::Equal,
        IntCC::NotEqual,
        IntCC::SignedLessThan,
        IntCC::SignedLessThanOrEqual,
        IntCC::SignedGreaterThan,
        IntCC::SignedGreaterThanOrEqual,
        IntCC::UnsignedLessThan,
        IntCC::UnsignedLessThanOrEqual,
        IntCC::UnsignedGreaterThan,
        IntCC::UnsignedGreaterThanOrEqual,
    ];

    /// Returns the name in the text format.
    pub const fn name(self) -> &'static str {
        match self {
            IntCC::Equal => "eq",
            IntCC::NotEqual => "ne",
            IntCC::SignedLessThan => "slt",
            IntCC::SignedLessThanOrEqual => "sle",
            IntCC::SignedGreaterThan => "sgt",
            IntCC::SignedGreaterThanOrEqual => "sge",
            IntCC::UnsignedLessThan => "ult",
            IntCC::UnsignedLessThanOrEqual => "ule",
            IntCC::UnsignedGreaterThan => "ugt",
            IntCC::UnsignedGreaterThanOrEqual => "uge",
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

/// Condition of `fcmp`. With a NaN operand, `ne` is true and all others are false.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatCC {
    /// `eq`.
    Equal,
    /// `ne`: unequal or unordered.
    NotEqual,
    /// `lt`.
    LessThan,
    /// `le`.
    LessThanOrEqual,
    /// `gt`.
    GreaterThan,
    /// `ge`.
    GreaterThanOrEqual,
}

impl FloatCC {
    /// Every condition.
    pub const ALL: [FloatCC; 6] = [
        FloatCC::Equal,
        FloatCC::NotEqual,
        FloatCC::LessThan,
        FloatCC::LessThanOrEqual,
        FloatCC::GreaterThan,
        FloatCC::GreaterThanOrEqual,
    ];

    /// Returns the name in the text format.
    pub const fn name(self) -> &'static str {
        match self {
            FloatCC::Equal => "eq",
            FloatCC::NotEqual => "ne",
            FloatCC::LessThan => "lt",
            FloatCC::LessThanOrEqual => "le",
            FloatCC::GreaterThan => "gt",
            FloatCC::GreaterThanOrEqual => "ge",
        }
    }
}

keyword!(FloatCC);

impl fmt::Display for FloatCC {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
