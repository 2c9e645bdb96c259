//! Opcodes of the IR, made from the rows of `meta`.

/// The shape of an instruction's operands: a variant of [`InstData`](super::InstData).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is the variant of `InstData` of its name")]
pub enum Format {
    Nullary,
    Imm,
    ImmVec,
    Launch,
    Unary,
    Binary,
    Ternary,
    IntCompare,
    FloatCompare,
    RdRegion,
    WrRegion,
    RdPred,
    WrPred,
    Load,
    Store,
    Call,
    Jump,
    Brif,
    Return,
}

/// What the value operands must be.
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
    /// One, of the type written after the opcode.
    Ctrl,
    /// One predicate with the first operand's lanes.
    Lanes,
    /// One `b1`.
    One,
    /// Two of the first operand's type.
    Two,
    /// Said by the format.
    Special,
}

/// What is known of an opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// The opcode.
    pub opcode: Opcode,
    /// Name in text.
    pub name: &'static str,
    /// Operand shape.
    pub format: Format,
    /// Operand types.
    pub class: Class,
    /// Results.
    pub out: Out,
    /// Whether `a op b` is `b op a`.
    pub commutes: bool,
    /// Whether it does something besides computing its results.
    pub effect: bool,
    /// Whether it ends a block.
    pub terminator: bool,
    /// What it computes, in a sentence.
    pub doc: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/opcodes.rs"));

impl Opcode {
    /// The rows of all opcodes.
    pub fn all() -> &'static [Info] {
        ROWS
    }

    /// The opcode's row.
    pub fn info(self) -> &'static Info {
        &ROWS[self as usize]
    }

    /// The name in text.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The opcode of a name.
    ///
    /// ```
    /// use gantry_codegen::ir::Opcode;
    /// assert_eq!(Opcode::from_name("fadd"), Some(Opcode::Fadd));
    /// ```
    pub fn from_name(name: &str) -> Option<Opcode> {
        ROWS.iter().find(|r| r.name == name).map(|r| r.opcode)
    }
}

impl std::fmt::Display for Opcode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
