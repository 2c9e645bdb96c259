//! Which rules of the optimizer and of lowering, and which repairs of the legalizer had a part in a
//! compiled kernel: what a test generator is measured by.

include!(concat!(env!("OUT_DIR"), "/lower_rules.rs"));
include!(concat!(env!("OUT_DIR"), "/opt_rules.rs"));

/// Words of a set of rules.
const WORDS: usize = RULES.len().div_ceil(64);
/// Words of a set of the optimizer's.
const OPT_WORDS: usize = OPT_RULES.len().div_ceil(64);

/// What the legalizer did to a bale that no width can execute as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Repair {
    /// An operation in another floating-point mode than the function's.
    Mode,
    /// An indirect source beside half and single floats, copied.
    DirectMixedFloat,
    /// Half floats rounded as singles.
    HalfRounding,
    /// A conversion by way of a middle type.
    TwoSteps,
    /// A byte widened beside 64-bit operands.
    ByteBesideWide,
    /// Factors exchanged, so that the dword comes first.
    FactorOrder,
    /// A narrow factor widened beside an immediate of a dword.
    FactorWidened,
    /// A narrow factor's modifier taken off it.
    FactorPlain,
    /// A product of bytes, made in words.
    ByteProduct,
    /// A byte as source 1, widened.
    ByteSource1,
    /// A byte as the first factor, widened.
    ByteFactor,
    /// A product of dwords by an immediate of a word.
    DwordByWord,
    /// A product of dwords by both words of the second factor.
    DwordProduct,
    /// The second factor's modifier applied before its words are taken.
    DwordModified,
    /// A source of a three-source instruction, copied.
    TernarySource,
    /// The result of a three-source instruction, through a temporary.
    TernaryDestination,
    /// The result of `mach`, through a temporary.
    MachDestination,
    /// A source of a math instruction, copied.
    MathSource,
    /// The result of a math instruction, through a temporary.
    MathDestination,
    /// A destination with the distance that the execution type wants, through a temporary.
    DestinationStride,
    /// A result whose lanes are not in step with quadwords, through a temporary.
    StepDestination,
    /// A source whose lanes are not in step with quadwords, copied.
    StepSource,
    /// Quadwords by their halves.
    Halves,
    /// A sum of quadwords by doublewords with carry.
    WideSum,
    /// The same of two negated summands.
    WideSumNegated,
    /// The same under a mask.
    WideSumMasked,
    /// An extension to quadwords by doublewords.
    WideExtension,
    /// The same, negated.
    WideExtensionNegated,
    /// Predicate bits that no channel offset reaches, moved to a flag of their own.
    FlagPart,
    /// Results of a compare that no channel offset reaches, put into their flag.
    FlagMerge,
}

impl Repair {
    /// Every repair, in order.
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

/// A set of rules and repairs.
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
    /// Adds a rule by its place in [`RULES`].
    pub(crate) fn rule(&mut self, n: u32) {
        if let Some(word) = self.rules.get_mut(n as usize / 64) {
            *word |= 1 << (n % 64);
        }
    }

    /// Adds a rule of the optimizer by its place in [`OPT_RULES`].
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

    /// Whether a lowering rule is in the set, by its place in [`RULES`].
    pub fn has_rule(&self, n: usize) -> bool {
        has(&self.rules, n)
    }

    /// Whether a rule of the optimizer is in the set, by its place in [`OPT_RULES`].
    pub fn has_opt_rule(&self, n: usize) -> bool {
        has(&self.opt, n)
    }

    /// Whether a repair is in the set.
    pub fn has_repair(&self, r: Repair) -> bool {
        self.repairs >> r as u8 & 1 == 1
    }
}

fn has(words: &[u64], n: usize) -> bool {
    words.get(n / 64).is_some_and(|w| w >> (n % 64) & 1 == 1)
}
