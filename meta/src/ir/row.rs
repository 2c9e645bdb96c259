//! What a row says.

/// Defines enums that stand in the generated Rust too: `SOURCE` is their text.
macro_rules! shared {
    ($($(#[$attribute:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident,)* })*) => {
        $(
            $(#[$attribute])*
            pub enum $name { $($(#[$doc])* $variant,)* }

            impl $name {
                /// The definition, for the generated file.
                pub(super) const SOURCE: &str =
                    stringify!($(#[$attribute])* pub enum $name { $($(#[$doc])* $variant,)* });
            }
        )*
    };
}

shared! {
/// The shape of an instruction's operands: a variant of `ir::InstData`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// No operands.
    Nullary,
    /// One immediate for all lanes.
    Imm,
    /// An immediate per lane.
    ImmVec,
    /// A dimension of the grid.
    Launch,
    /// One value.
    Unary,
    /// Two values.
    Binary,
    /// Three values.
    Ternary,
    /// Condition and two values.
    IntCompare,
    /// Condition and two values.
    FloatCompare,
    /// A region of a value.
    RdRegion,
    /// A region of a value replaced.
    WrRegion,
    /// Lanes of a predicate.
    RdPred,
    /// Lanes of a predicate replaced.
    WrPred,
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Memory changed in one step.
    Atomic,
    /// Memories and who must see them in order.
    Fence,
    /// Texels of an image, by coordinates.
    Image,
    /// A fact about an argument of the kernel.
    ArgQuery,
    /// A rectangle of an image's bytes.
    Media,
    /// A message as it is.
    Send,
    /// A product of matrices, and what it is added to.
    Dpas,
    /// Rectangles of elements of a surface in memory.
    Block2d,
    /// A barrier of a number, and how many threads it is of.
    NamedBarrier,
    /// Data of the module.
    Symbol,
    /// A string of the module, and any number of values.
    Printf,
    /// A subroutine.
    Call,
    /// One destination.
    Jump,
    /// Condition and two destinations.
    Brif,
    /// An integer, and a destination for each of several values of it.
    Switch,
    /// Any number of values.
    Return,
}

/// What the value operands must be. Formats with operands of different kinds have rules of their
/// own in the verifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Nothing, or said by the format.
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

/// What the results are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Out {
    /// None.
    None,
    /// One, of the first operand's type.
    Same,
    /// One, of the type written after the opcode: `iconst.i32`.
    Ctrl,
    /// One, a lane of the first operand's.
    Lane,
    /// One predicate with the first operand's lanes.
    Lanes,
    /// One `b1`.
    One,
    /// Two of the first operand's type.
    Two,
    /// Said by the format: `goto`, `join`, `select`, `shuffle`, `call`.
    Special,
}
}

impl Format {
    /// The variant's name.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

/// One opcode.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name in text.
    pub name: &'static str,
    /// Operand shape.
    pub format: Format,
    /// Operand types.
    pub class: Class,
    /// Results.
    pub out: Out,
    /// True if it does something besides computing its results.
    pub effect: bool,
    /// True if it ends a block.
    pub terminator: bool,
    /// What it computes: one sentence.
    pub doc: &'static str,
}

/// A row without effects.
pub fn op(name: &'static str, format: Format, class: Class, out: Out, doc: &'static str) -> Row {
    Row {
        name,
        format,
        class,
        out,
        effect: false,
        terminator: false,
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

    /// Marks a terminator.
    pub fn terminator(self) -> Row {
        Row {
            effect: true,
            terminator: true,
            ..self
        }
    }

    /// The variant of the `Opcode` enum: `fbh_s` is `FbhS`.
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
