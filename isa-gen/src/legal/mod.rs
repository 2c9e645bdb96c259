//! Legality rules of instructions.
//!
//! A rule is one of the PRM's "register region restrictions" or the like. Each has a name and a
//! check function, in tables ([`RULES`]). The legalizer, users of the assembler and the check after
//! emission share them. Rules that depend on a register treat virtual registers as GRFs of which
//! only the byte offset is known.
//!
//! Sources: the PRMs from Haswell to Tiger Lake, Vol. 7 "Register Region Restrictions" and Vol. 2a
//! "EU instructions"; Intel's assembler and compiler for later platforms. Intel's own compiled
//! kernels violate no rule (`isa-gen/tests/suite/corpus.rs`), and some mutation of a legal
//! instruction violates each (`isa-gen/tests/suite/legal.rs`).

pub mod geometry;

mod branch;
mod control;
mod message;
mod operands;
mod region;
mod rule;
mod send;
mod step;
mod ternary;
mod types;
mod view;

pub use rule::Rule;

use crate::inst::Inst;
use crate::platform::Platform;
use crate::reg::Register;
use rule::{FindingSink, InstKinds};
use std::fmt;
use std::sync::OnceLock;
use view::InstView;

/// Part of an instruction that a finding is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum InstPart {
    /// Opcode, execution size, masks or options.
    Inst,
    /// Predicate or condition modifier.
    Flag,
    /// Destination.
    Dst,
    /// Source 0, 1 or 2.
    Src(u8),
    /// Descriptors of a send.
    Desc,
}

impl fmt::Display for InstPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstPart::Inst => f.write_str("instruction"),
            InstPart::Flag => f.write_str("flag"),
            InstPart::Dst => f.write_str("dst"),
            InstPart::Src(n) => write!(f, "src{n}"),
            InstPart::Desc => f.write_str("descriptor"),
        }
    }
}

/// Violation of a rule by an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Rule.
    pub rule: &'static Rule,
    /// Part that violates it.
    pub part: InstPart,
    /// Description: a sentence without a full stop.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.part, self.message, self.rule.name)
    }
}

/// Rules by family.
pub static RULES: [&[Rule]; 10] = [
    &[OPCODE_EXISTS],
    control::RULES,
    operands::RULES,
    region::RULES,
    types::RULES,
    step::RULES,
    ternary::RULES,
    send::RULES,
    message::RULES,
    branch::RULES,
];

/// Rule that is checked before all others.
static FIRST: Rule = OPCODE_EXISTS;

const OPCODE_EXISTS: Rule = Rule {
    name: "opcode-exists",
    text: "the platform has the opcode",
    hint: "see `iga64 -Xlist-ops` for the opcodes of a platform",
    kinds: InstKinds::ANY,
    applies: rule::always,
    check: |_, _| {},
};

/// Iterates over all rules.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.into_iter().flatten()
}

/// Returns every violation of a rule of the platform. Allocates nothing if the instruction is
/// legal.
///
/// ```
/// use gantry_isa_gen::{legal, text::assemble, Platform};
/// let code = assemble(Platform::Gen9, "mov (16|M0) r5.0<1>:df r7.0<8;8,1>:f\n")?;
/// let found = legal::check(Platform::Gen9, &code.insts[0].inst);
/// assert_eq!(
///     found[0].to_string(),
///     "dst: 16 channels of 8 bytes take 4 registers, 2 is the most [dst-span]"
/// );
/// assert_eq!(found[0].rule.hint, "split the instruction by channels");
/// # Ok::<(), gantry_isa_gen::diag::Diagnostics>(())
/// ```
pub fn check<R: Register>(platform: Platform, inst: &Inst<R>) -> Vec<Finding> {
    let mut findings = Vec::new();
    run(platform, inst, Some(&mut findings));
    findings
}

/// Returns true if the instruction violates no rule of the platform. Faster than [`check`] on
/// violations.
pub fn is_legal<R: Register>(platform: Platform, inst: &Inst<R>) -> bool {
    run(platform, inst, None) == 0
}

/// Returns the rules that apply to a platform, computed once.
fn in_force(platform: Platform) -> &'static [&'static Rule] {
    static LISTS: [OnceLock<Vec<&'static Rule>>; Platform::ALL.len()] =
        [const { OnceLock::new() }; Platform::ALL.len()];
    LISTS[platform as usize].get_or_init(|| rules().filter(|r| r.applies_to(platform)).collect())
}

/// Runs the rules and returns the number of violations. Stops at the first if findings are not
/// wanted.
fn run<R: Register>(
    platform: Platform,
    inst: &Inst<R>,
    findings: Option<&mut Vec<Finding>>,
) -> usize {
    let quiet = findings.is_none();
    let mut sink = FindingSink {
        rule: &FIRST,
        findings,
        count: 0,
    };
    let Some(info) = inst.op.info(platform) else {
        let op = inst.op;
        sink.find(
            InstPart::Inst,
            format_args!("`{op}` does not exist on {platform}"),
        );
        return sink.count;
    };
    let view = InstView::new(platform, inst, info);
    for rule in in_force(platform) {
        if !rule.kinds.intersects(view.kind) {
            continue;
        }
        sink.rule = rule;
        (rule.check)(&view, &mut sink);
        if quiet && sink.count > 0 {
            break;
        }
    }
    sink.count
}
