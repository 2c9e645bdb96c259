//! Row of an IR opcode.

use super::format::Format;

/// Defines enums that are also part of the generated Rust: `SOURCE` is their text.
macro_rules! shared {
    ($($(#[$attribute:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident,)* })*) => {
        $(
            $(#[$attribute])*
            pub enum $name { $($(#[$doc])* $variant,)* }

            impl $name {
                /// Text of the definition, for the generated file.
                pub(super) const SOURCE: &str =
                    stringify!($(#[$attribute])* pub enum $name { $($(#[$doc])* $variant,)* });
            }
        )*
    };
}

shared! {
/// Types that the value operands must have. Formats with operands of different types have their own
/// rules in the verifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// No operands, or determined by the format.
    None,
    /// Integers.
    Int,
    /// 32-bit integers.
    I32,
    /// Floats.
    Float,
    /// Predicates.
    Pred,
    /// Integers or predicates.
    Bits,
    /// Anything but predicates.
    Data,
    /// Anything.
    Any,
}

/// Number and types of the results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Out {
    /// No result.
    None,
    /// One, with the first operand's type.
    Same,
    /// One, with the type written after the opcode: `iconst.i32`.
    Ctrl,
    /// One lane of the first operand's type.
    Lane,
    /// One predicate with as many lanes as the first operand.
    Lanes,
    /// One `b1`.
    One,
    /// Two, with the first operand's type.
    Two,
    /// Determined by the format: `goto`, `join`, `select`, `shuffle`, `call`.
    Special,
}
}

/// Row of an IR opcode.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name in text.
    pub name: &'static str,
    /// Format: the operands.
    pub format: Format,
    /// Operand types.
    pub class: Class,
    /// Results.
    pub out: Out,
    /// True if it has an effect besides its results.
    pub effect: bool,
    /// True if the effect is a hint: nothing that a kernel can observe.
    pub hint: bool,
    /// True if it ends a block.
    pub terminator: bool,
    /// Text of the operands, if it is not that of the format.
    pub text: Option<&'static str>,
    /// Description of the result, one sentence.
    pub doc: &'static str,
}

/// Creates a row without effects.
pub fn op(name: &'static str, format: Format, class: Class, out: Out, doc: &'static str) -> Row {
    Row {
        name,
        format,
        class,
        out,
        effect: false,
        hint: false,
        terminator: false,
        text: None,
        doc,
    }
}

impl Row {
    /// Marks an operation with an effect.
    pub fn effect(self) -> Row {
        Row {
            effect: true,
            ..self
        }
    }

    /// Marks a hint, which is kept but changes nothing that a kernel can observe.
    pub fn hint(self) -> Row {
        Row {
            effect: true,
            hint: true,
            ..self
        }
    }

    /// Marks a terminator.
    pub fn terminator(self) -> Row {
        Row {
            effect: true,
            terminator: true,
            ..self
        }
    }

    /// Sets the text of the operands, in place of the format's.
    pub fn text(self, text: &'static str) -> Row {
        Row {
            text: Some(text),
            ..self
        }
    }

    /// Returns the variant of the `Opcode` enum: `fbh_s` is `FbhS`.
    pub fn variant(&self) -> String {
        self.name
            .split('_')
            .flat_map(|p| {
                let mut c = p.chars();
                let head = c.next().map(|h| h.to_ascii_uppercase());
                head.into_iter().chain(c)
            })
            .collect()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if self.name.is_empty() || !self.name.chars().all(plain) {
            return Err(format!(
                "{:?}: not a name of lower case letters, digits and `_`",
                self.name
            ));
        }
        if !self.doc.ends_with('.') {
            return Err(format!("{}: the doc line is not a sentence", self.name));
        }
        Ok(())
    }
}
