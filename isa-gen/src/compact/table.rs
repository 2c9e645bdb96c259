//! The types of the generated compaction tables.

/// A run of bits: the lowest, and how many.
pub(crate) type Run = (u8, u8);

/// A table of the compact form, in one shape.
#[derive(Debug)]
pub(crate) struct CompactTable {
    /// The index's bits in the compact form, the least significant run first.
    pub index: &'static [Run],
    /// The native bits that it gives.
    pub mask: u128,
    /// One entry per index value, its bits where they are in the native form.
    pub entries: &'static [u128],
    /// The inverse: a hash of the entry by this, shifted down, is a slot, and the slot holds the index. No two entries
    /// have the same slot.
    pub multiplier: u64,
    pub shift: u32,
    pub slots: &'static [u8],
}

/// Bits that the compact form holds as they are.
#[derive(Debug)]
pub(crate) struct CompactCopy {
    pub from: u8,
    pub to: u8,
    pub width: u8,
}

/// Where in the native 32 bits of an immediate its compact bits are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ImmPlace {
    /// The lowest; zeros above.
    Low,
    /// The lowest; copies of the highest of them above.
    Signed,
    /// The highest; zeros below.
    High,
}

/// How the compact bits of an immediate become 32 native bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ImmKind {
    pub place: ImmPlace,
    /// The value has 16 bits and fills both halves.
    pub halves: bool,
}

/// An immediate of the compact form.
#[derive(Debug)]
pub(crate) struct CompactImm {
    pub from: &'static [Run],
    /// By the value of the native type field; if there is but one, for all.
    pub kinds: &'static [Option<ImmKind>],
    pub type_at: Run,
}

/// The compact form of instructions of one shape (how many sources, and whether the last is an immediate).
#[derive(Debug)]
pub(crate) struct CompactShape {
    pub tables: &'static [&'static CompactTable],
    pub copies: &'static [CompactCopy],
    pub imm: Option<CompactImm>,
    /// The native bits that it can give.
    pub covered: u128,
}

/// Instructions that are compacted alike.
#[derive(Debug)]
pub(crate) struct CompactClass {
    /// The native bits that tell the shape.
    pub test: Run,
    /// The shapes by the value of those bits.
    pub shapes: [Option<&'static CompactShape>; 4],
    /// Such words exist and have a meaning, but to compact one would change what it means.
    pub only_expand: bool,
}

/// What a generation compacts.
#[derive(Debug)]
pub(crate) struct CompactColumn {
    pub classes: &'static [CompactClass],
    /// The class of each opcode: an index, or a number beyond every index.
    pub opcodes: [u8; 128],
    /// The class of each `math` function.
    pub math: [u8; 16],
}
