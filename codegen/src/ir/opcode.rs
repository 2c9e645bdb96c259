//! Opcodes of the IR, generated from the opcode table in `meta`.

/// Properties of an opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// The opcode.
    pub opcode: Opcode,
    /// Name in text.
    pub name: &'static str,
    /// Format: kinds and number of operands.
    pub format: Format,
    /// Constraints on the operand types.
    pub class: Class,
    /// Result types.
    pub out: Out,
    /// True if it has an effect besides its results.
    pub effect: bool,
    /// True if the effect is a hint: nothing that a kernel can observe.
    pub hint: bool,
    /// True if it ends a block.
    pub terminator: bool,
    /// Sentence that describes the computation.
    pub doc: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/opcodes.rs"));

impl Opcode {
    /// Returns the rows of all opcodes.
    pub fn all() -> &'static [Info] {
        ROWS
    }

    /// Returns the row of the opcode.
    pub fn info(self) -> &'static Info {
        &ROWS[self as usize]
    }

    /// Returns the name in the text format.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the opcode of a name.
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
