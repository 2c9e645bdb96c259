//! Opcodes of the IR, made from the rows of `meta`.

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
