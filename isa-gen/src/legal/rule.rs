//! What a rule is, and where findings go.

use super::view::{View, is_data};
use super::{Finding, Part};
use crate::inst::Subfn;
use crate::op::{Format, OpInfo};
use crate::platform::{Features, Platform};
use std::fmt;

bitflags::bitflags! {
    /// Kinds of instructions.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) struct Kinds: u16 {
        /// One or two sources with regions; the math box's functions too.
        const DATA = 1 << 0;
        /// Math macros: operands with special accumulators, `madm` too.
        const MACRO = 1 << 1;
        /// Three sources.
        const TERNARY = 1 << 2;
        /// The systolic array.
        const DPAS = 1 << 3;
        /// Messages.
        const SEND = 1 << 4;
        /// Branches.
        const BRANCH = 1 << 5;
        /// `sync` and `wait`.
        const SYNC = 1 << 6;
        /// No operands.
        const NULLARY = 1 << 7;
        /// Data of one to three sources.
        const ALU = Self::DATA.bits() | Self::TERNARY.bits();
        /// Typed operands of any kind.
        const TYPED = Self::ALU.bits() | Self::MACRO.bits() | Self::DPAS.bits();
        /// Any.
        const ANY = u16::MAX;
    }
}

impl Kinds {
    pub(super) fn of(info: &OpInfo, subfn: Subfn) -> Kinds {
        let is_macro = info.mme || matches!(subfn, Subfn::Math(f) if f.is_macro());
        match info.format {
            _ if is_macro => Kinds::MACRO,
            f if is_data(f) => Kinds::DATA,
            Format::Ternary => Kinds::TERNARY,
            Format::Dpas => Kinds::DPAS,
            f if f.is_send() => Kinds::SEND,
            f if f.is_branch() => Kinds::BRANCH,
            Format::Sync | Format::Wait => Kinds::SYNC,
            _ => Kinds::NULLARY,
        }
    }
}

/// A rule about what an instruction may say.
pub struct Rule {
    /// Its name, by which findings, tests and documents call it.
    pub name: &'static str,
    /// What the manuals say, in one line.
    pub text: &'static str,
    /// What to do about a finding.
    pub hint: &'static str,
    pub(super) kinds: Kinds,
    pub(super) applies: fn(&Features) -> bool,
    pub(super) check: fn(&View, &mut Sink<'_>),
}

/// What Intel's compiler breaks in some kernels, which the hardware is known to run: in scans of quads for Gen9LP it writes `<4;1,4>`, whose
/// horizontal stride nothing uses.
const TOLERATED: [&str; 1] = ["width-one-stride"];

impl Rule {
    /// Whether hardware is known to run what breaks the rule.
    pub fn is_tolerated(&self) -> bool {
        TOLERATED.contains(&self.name)
    }

    /// Whether the rule is in force on a platform.
    pub fn applies_to(&self, platform: Platform) -> bool {
        (self.applies)(platform.features())
    }
}

impl PartialEq for Rule {
    fn eq(&self, o: &Rule) -> bool {
        self.name == o.name
    }
}

impl Eq for Rule {}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Where a rule puts what it finds.
pub(super) struct Sink<'a> {
    pub rule: &'static Rule,
    /// Where findings go; without it they are only counted.
    pub findings: Option<&'a mut Vec<Finding>>,
    pub count: usize,
}

impl Sink<'_> {
    /// Tells of what is wrong with a part. Without anyone to read it, the message is not made.
    pub fn find(&mut self, part: Part, message: fmt::Arguments<'_>) {
        self.count += 1;
        if let Some(findings) = &mut self.findings {
            findings.push(Finding {
                rule: self.rule,
                part,
                message: message.to_string(),
            });
        }
    }
}

/// In force on every platform.
pub(super) fn always(_: &Features) -> bool {
    true
}
