//! Rule coverage: the rules of the optimizer and of lowering, and the repairs of the legalizer,
//! that a compiled kernel used. Test generators are measured by it.
//!
//! Only the feature `fuzzing` records it. Without that feature the set is empty and has no size.

#[cfg(feature = "fuzzing")]
mod recorded;
#[cfg(not(feature = "fuzzing"))]
mod unrecorded;

#[cfg(feature = "fuzzing")]
pub use recorded::{Fired, OPT_RULES, RULES};
#[cfg(not(feature = "fuzzing"))]
pub use unrecorded::Fired;

/// Repair of a bale by the legalizer, which no exec size can execute as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Repair {
    /// Operation in another floating-point mode than the function's.
    Mode,
    /// Indirect source beside half and single floats, copied.
    DirectMixedFloat,
    /// Half floats rounded as singles.
    HalfRounding,
    /// Whole vectors of bytes as dwords.
    BytesAsDwords,
    /// Conversion in two steps.
    TwoSteps,
    /// Byte beside 64-bit operands, widened.
    ByteBesideWide,
    /// Factors exchanged, so that the dword comes first.
    FactorOrder,
    /// Narrow factor beside an immediate dword, widened.
    FactorWidened,
    /// Modifier of a narrow factor removed.
    FactorPlain,
    /// Product of bytes, computed in words.
    ByteProduct,
    /// Sources exchanged, so that the byte comes first.
    SourceOrder,
    /// Byte as source 1, widened.
    ByteSource1,
    /// Byte as the first factor, widened.
    ByteFactor,
    /// Product of dwords by an immediate word.
    DwordByWord,
    /// Product of dwords by both words of the second factor.
    DwordProduct,
    /// Modifier of the second factor applied before its words are taken.
    DwordModified,
    /// Source of a three-source instruction, copied.
    TernarySource,
    /// Result of a three-source instruction, through a temporary.
    TernaryDestination,
    /// Result of `mach`, through a temporary.
    MachDestination,
    /// Source of a math instruction, copied.
    MathSource,
    /// Result of a math instruction, through a temporary.
    MathDestination,
    /// Destination with the stride of the execution type, through a temporary.
    DestinationStride,
    /// Result whose lanes are not in step with qwords, through a temporary.
    StepDestination,
    /// Source whose lanes are not in step with qwords, copied.
    StepSource,
    /// Qwords by their halves.
    Halves,
    /// Sum of qwords by dwords with carry.
    WideSum,
    /// Sum of two negated qwords by dwords.
    WideSumNegated,
    /// Sum of qwords by dwords, under a mask.
    WideSumMasked,
    /// Extension to qwords by dwords.
    WideExtension,
    /// Extension to qwords by dwords, negated.
    WideExtensionNegated,
    /// Predicate bits that no channel offset reaches, moved to a flag of their own.
    FlagPart,
    /// Results of a compare that no channel offset reaches, merged into their flag.
    FlagMerge,
    /// Move of bytes as dwords or words.
    ByteMove,
    /// Bytes with an address each, read as parts of dwords.
    ByteGather,
    /// Rows at one index, with an address each.
    RowAddresses,
}

#[cfg(feature = "fuzzing")]
impl Repair {
    /// All repairs, in order.
    pub const ALL: [Repair; 35] = [
        Repair::Mode,
        Repair::DirectMixedFloat,
        Repair::HalfRounding,
        Repair::BytesAsDwords,
        Repair::TwoSteps,
        Repair::ByteBesideWide,
        Repair::FactorOrder,
        Repair::FactorWidened,
        Repair::FactorPlain,
        Repair::ByteProduct,
        Repair::SourceOrder,
        Repair::ByteSource1,
        Repair::ByteFactor,
        Repair::DwordByWord,
        Repair::DwordProduct,
        Repair::DwordModified,
        Repair::TernarySource,
        Repair::TernaryDestination,
        Repair::MachDestination,
        Repair::MathSource,
        Repair::MathDestination,
        Repair::DestinationStride,
        Repair::StepDestination,
        Repair::StepSource,
        Repair::Halves,
        Repair::WideSum,
        Repair::WideSumNegated,
        Repair::WideSumMasked,
        Repair::WideExtension,
        Repair::WideExtensionNegated,
        Repair::FlagPart,
        Repair::FlagMerge,
        Repair::ByteMove,
        Repair::ByteGather,
        Repair::RowAddresses,
    ];
}
