//! What an instruction may say: the rules of the PRM's "register region restrictions" and their kin, one name each, in
//! tables beside their functions ([`RULES`]). The legalizer, the assembler's users and the check after emission share
//! them. Where a rule needs to know a register, the compiler's own registers count as GRFs of which only the byte offset
//! is known.
//!
//! Source of the rules: the PRMs from Haswell to Tiger Lake, Vol. 7 "Register Region Restrictions" and Vol. 2a "EU
//! instructions"; for what came later, Intel's assembler and compiler. Intel's own compiled kernels break none of them
//! (`isa-gen/tests/suite/corpus.rs`), and each is broken by some mutation of a legal instruction (`isa-gen/tests/suite/legal.rs`).

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
use rule::{Kinds, Sink};
use std::fmt;
use std::sync::OnceLock;
use view::View;

/// Which part of an instruction a finding is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Part {
    /// The opcode, execution size, masks or options.
    Inst,
    /// The predicate or the flag modifier.
    Flag,
    /// The destination.
    Dst,
    /// Source 0, 1 or 2.
    Src(u8),
    /// A send's descriptors.
    Desc,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Inst => f.write_str("instruction"),
            Part::Flag => f.write_str("flag"),
            Part::Dst => f.write_str("dst"),
            Part::Src(n) => write!(f, "src{n}"),
            Part::Desc => f.write_str("descriptor"),
        }
    }
}

/// A rule that an instruction breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The part that breaks it.
    pub part: Part,
    /// What is wrong, a sentence without a final stop.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.part, self.message, self.rule.name)
    }
}

/// Every rule, by families.
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

/// The one rule that comes before all others.
static FIRST: Rule = OPCODE_EXISTS;

const OPCODE_EXISTS: Rule = Rule {
    name: "opcode-exists",
    text: "the platform has the opcode",
    hint: "see `iga64 -Xlist-ops` for what there is",
    kinds: Kinds::ANY,
    applies: rule::always,
    check: |_, _| {},
};

/// Every rule, one after the other.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.into_iter().flatten()
}

/// Every rule that the instruction breaks on the platform; nothing (and nothing is allocated) if it is legal.
///
/// ```
/// use gantry_isa_gen::{legal, text::assemble, Platform};
/// let code = assemble(Platform::Gen9, "mov (16|M0) r5.0<1>:df r7.0<8;8,1>:f\n")?;
/// let found = legal::check(Platform::Gen9, &code.insts[0].inst);
/// assert_eq!(found[0].to_string(), "dst: 16 channels of 8 bytes take 4 registers, 2 is the most [dst-span]");
/// assert_eq!(found[0].rule.hint, "split the instruction by channels");
/// # Ok::<(), gantry_isa_gen::diag::Diagnostics>(())
/// ```
pub fn check<R: Register>(platform: Platform, inst: &Inst<R>) -> Vec<Finding> {
    let mut findings = Vec::new();
    run(platform, inst, Some(&mut findings));
    findings
}

/// Whether the instruction breaks no rule of the platform. Faster than [`check`] where it does.
pub fn is_legal<R: Register>(platform: Platform, inst: &Inst<R>) -> bool {
    run(platform, inst, None) == 0
}

/// The rules in force on a platform, found once.
fn in_force(platform: Platform) -> &'static [&'static Rule] {
    static LISTS: [OnceLock<Vec<&'static Rule>>; Platform::ALL.len()] =
        [const { OnceLock::new() }; Platform::ALL.len()];
    LISTS.get(platform as usize).map_or(&[], |list| {
        list.get_or_init(|| rules().filter(|r| r.applies_to(platform)).collect())
    })
}

/// Runs the rules; without anyone to read the findings, up to the first.
fn run<R: Register>(
    platform: Platform,
    inst: &Inst<R>,
    findings: Option<&mut Vec<Finding>>,
) -> usize {
    let quiet = findings.is_none();
    let mut sink = Sink {
        rule: &FIRST,
        findings,
        count: 0,
    };
    let Some(info) = inst.op.info(platform) else {
        let op = inst.op;
        sink.find(
            Part::Inst,
            format_args!("`{op}` does not exist on {platform}"),
        );
        return sink.count;
    };
    let view = View::new(platform, inst, info);
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
