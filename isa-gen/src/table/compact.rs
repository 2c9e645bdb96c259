//! Types of the generated compaction tables.

/// Bit range: lowest bit and width.
pub(crate) type BitRange = (u8, u8);

/// Compaction table of one field group of a shape.
#[derive(Debug)]
pub(crate) struct CompactTable {
    /// Bits of the index in the compact form, the least significant range first.
    pub index: &'static [BitRange],
    /// Native bits that the table supplies.
    pub mask: u128,
    /// Entry per index value, with its bits in native position.
    pub entries: &'static [u128],
    /// Multiplier of the inverse table, a perfect hash. The hash of an entry, shifted down, selects
    /// a slot, which holds the index. No two entries share a slot.
    pub multiplier: u64,
    pub shift: u32,
    pub slots: &'static [u8],
}

/// Bits that the compact form copies unchanged.
#[derive(Debug)]
pub(crate) struct CompactCopy {
    pub from: u8,
    pub to: u8,
    pub width: u8,
}

/// Position of the compact bits in the native 32 bits of an immediate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ImmPlace {
    /// Lowest bits, zero-extended.
    Low,
    /// Lowest bits, sign-extended.
    Signed,
    /// Highest bits, zeros below.
    High,
}

/// Expansion of the compact bits of an immediate to 32 native bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ImmKind {
    pub place: ImmPlace,
    /// True if the value has 16 bits and fills both halves.
    pub halves: bool,
}

/// Immediate of the compact form.
#[derive(Debug)]
pub(crate) struct CompactImm {
    pub from: &'static [BitRange],
    /// Expansions by the value of the native type field, or one for all types.
    pub kinds: &'static [Option<ImmKind>],
    pub type_at: BitRange,
}

/// Compact form of instructions of one shape: number of sources, and an immediate as the last or
/// not.
#[derive(Debug)]
pub(crate) struct CompactShape {
    pub tables: &'static [&'static CompactTable],
    pub copies: &'static [CompactCopy],
    pub imm: Option<CompactImm>,
    /// Native bits that it can represent.
    pub covered: u128,
}

/// Class of instructions that are compacted alike.
#[derive(Debug)]
pub(crate) struct CompactClass {
    /// Native bits that select the shape.
    pub test: BitRange,
    /// Shapes by the value of those bits.
    pub shapes: [Option<&'static CompactShape>; 4],
    /// True if such words can be expanded but must not be produced, because compaction would change
    /// their meaning.
    pub only_expand: bool,
}

/// Compaction of a generation.
#[derive(Debug)]
pub(crate) struct CompactColumn {
    pub classes: &'static [CompactClass],
    /// Class of each opcode: an index, or a number beyond all indices for none.
    pub opcodes: [u8; 128],
    /// Class of each `math` function.
    pub math: [u8; 16],
}
