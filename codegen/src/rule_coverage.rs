//! Rule coverage: the rules of the optimizer and of lowering, and the repairs of the legalizer,
//! that a compiled kernel used. Test generators are measured by it.

include!(concat!(env!("OUT_DIR"), "/lower_rules.rs"));
include!(concat!(env!("OUT_DIR"), "/opt_rules.rs"));

/// Number of words in a set of lowering rules.
const WORDS: usize = RULES.len().div_ceil(64);
/// Number of words in a set of optimizer rules.
const OPT_WORDS: usize = OPT_RULES.len().div_ceil(64);

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
}

impl Repair {
    /// All repairs, in order.
    pub const ALL: [Repair; 30] = [
        Repair::Mode,
        Repair::DirectMixedFloat,
        Repair::HalfRounding,
        Repair::TwoSteps,
        Repair::ByteBesideWide,
        Repair::FactorOrder,
        Repair::FactorWidened,
        Repair::FactorPlain,
        Repair::ByteProduct,
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
    ];
}

/// Set of rules and repairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fired {
    rules: [u64; WORDS],
    opt: [u64; OPT_WORDS],
    repairs: u64,
}

impl Default for Fired {
    fn default() -> Fired {
        Fired {
            rules: [0; WORDS],
            opt: [0; OPT_WORDS],
            repairs: 0,
        }
    }
}

impl Fired {
    /// Adds a rule by its index in [`RULES`].
    pub(crate) fn rule(&mut self, n: u32) {
        if let Some(word) = self.rules.get_mut(n as usize / 64) {
            *word |= 1 << (n % 64);
        }
    }

    /// Adds a rule of the optimizer by its index in [`OPT_RULES`].
    pub(crate) fn opt_rule(&mut self, n: u32) {
        if let Some(word) = self.opt.get_mut(n as usize / 64) {
            *word |= 1 << (n % 64);
        }
    }

    /// Adds a repair.
    pub(crate) fn repair(&mut self, r: Repair) {
        self.repairs |= 1 << r as u8;
    }

    /// Adds all of another set.
    pub fn extend(&mut self, other: &Fired) {
        let rules = self.rules.iter_mut().zip(&other.rules);
        for (a, b) in rules.chain(self.opt.iter_mut().zip(&other.opt)) {
            *a |= b;
        }
        self.repairs |= other.repairs;
    }

    /// Returns true if a lowering rule is in the set, by its index in [`RULES`].
    pub fn has_rule(&self, n: usize) -> bool {
        has(&self.rules, n)
    }

    /// Returns true if a rule of the optimizer is in the set, by its index in [`OPT_RULES`].
    pub fn has_opt_rule(&self, n: usize) -> bool {
        has(&self.opt, n)
    }

    /// Returns true if a repair is in the set.
    pub fn has_repair(&self, r: Repair) -> bool {
        self.repairs >> r as u8 & 1 == 1
    }
}

fn has(words: &[u64], n: usize) -> bool {
    words.get(n / 64).is_some_and(|w| w >> (n % 64) & 1 == 1)
}
