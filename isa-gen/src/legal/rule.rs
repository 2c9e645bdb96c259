//! Legality rules and the collector of findings.

use super::view::{InstView, is_data};
use super::{Finding, InstPart};
use crate::inst::Subfn;
use crate::op::{Format, OpInfo};
use crate::platform::{Features, Platform};
use std::fmt;

bitflags::bitflags! {
    /// Set of kinds of instructions.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) struct InstKinds: u16 {
        /// Instructions of one or two sources with regions, math functions included.
        const DATA = 1 << 0;
        /// Math macros, whose operands name special accumulators, `madm` included.
        const MACRO = 1 << 1;
        /// Three-source instructions.
        const TERNARY = 1 << 2;
        /// Instructions of the systolic array.
        const DPAS = 1 << 3;
        /// Sends.
        const SEND = 1 << 4;
        /// Branches.
        const BRANCH = 1 << 5;
        /// `sync` and `wait`.
        const SYNC = 1 << 6;
        /// Instructions without operands.
        const NULLARY = 1 << 7;
        /// Instructions of one to three data sources.
        const ALU = Self::DATA.bits() | Self::TERNARY.bits();
        /// Instructions with typed operands.
        const TYPED = Self::ALU.bits() | Self::MACRO.bits() | Self::DPAS.bits();
        /// All instructions.
        const ANY = u16::MAX;
    }
}

impl InstKinds {
    pub(super) fn of(info: &OpInfo, subfn: Subfn) -> InstKinds {
        let is_macro = info.mme || matches!(subfn, Subfn::Math(f) if f.is_macro());
        match info.format {
            _ if is_macro => InstKinds::MACRO,
            f if is_data(f) => InstKinds::DATA,
            Format::Ternary => InstKinds::TERNARY,
            Format::Dpas => InstKinds::DPAS,
            f if f.is_send() => InstKinds::SEND,
            f if f.is_branch() => InstKinds::BRANCH,
            Format::Sync | Format::Wait => InstKinds::SYNC,
            _ => InstKinds::NULLARY,
        }
    }
}

/// Legality rule of instructions.
pub struct Rule {
    /// Name, used in findings, tests and documents.
    pub name: &'static str,
    /// Statement of the rule in one line.
    pub text: &'static str,
    /// Advice on a violation.
    pub hint: &'static str,
    pub(super) kinds: InstKinds,
    pub(super) applies: fn(&Features) -> bool,
    pub(super) check: fn(&InstView, &mut FindingSink<'_>),
}

/// Rules that Intel's compiler violates in some kernels, which the hardware is known to run. In
/// scans of quads for Gen9LP it writes `<4;1,4>`, whose horizontal stride is unused.
const TOLERATED: [&str; 1] = ["width-one-stride"];

impl Rule {
    /// Returns true if hardware is known to run code that violates the rule.
    pub fn is_tolerated(&self) -> bool {
        TOLERATED.contains(&self.name)
    }

    /// Returns true if the rule applies to a platform.
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

/// Collector of a rule's findings.
pub(super) struct FindingSink<'a> {
    pub rule: &'static Rule,
    /// Destination of findings. If `None`, findings are only counted.
    pub findings: Option<&'a mut Vec<Finding>>,
    pub count: usize,
}

impl FindingSink<'_> {
    /// Reports a violation by a part of the instruction. The message is formatted only if findings
    /// are wanted.
    pub fn find(&mut self, part: InstPart, message: fmt::Arguments<'_>) {
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

/// Applies to every platform.
pub(super) fn always(_: &Features) -> bool {
    true
}
