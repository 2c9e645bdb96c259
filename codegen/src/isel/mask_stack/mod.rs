//! SIMD control flow on the hardware's mask stack: whether a kernel keeps to its rules, and what it
//! then is.
//!
//! The hardware has one execution mask, and a place for each channel where it waits. `goto` and
//! `join` in the IR are values. They can be the hardware's own where, at each of them, the mask
//! that goes in is the one that channels run under there, and the resume mask that goes in is
//! exactly the channels that wait at the `join` it ends in. Both are followed through the function
//! once, block by block in the order of emission, as the hardware would run it in `walk`; channels
//! that wait are kept in a map that shares what does not change (`waiting`), so that nests cost no
//! more than sequences. A `goto` that breaks a rule is left to flags, with all that share its
//! resume mask, and the rest is looked at again.
//!
//! Needs: IR that verifies, inlined. Makes: for each instruction with a mask the mask that channels
//! run under, for each `goto` the place where its channels wait; and the rules that are broken, and
//! where.

mod normal;
mod waiting;
mod walk;
mod webs;

pub(crate) use normal::normal;

use crate::entity_set::Marks;
use crate::ir::{Block, Function, Inst, SourceLoc, Value};
use crate::mir::JoinPoint;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use std::fmt;

/// How SIMD control flow is lowered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SimdCf {
    /// On the mask stack where it keeps to its rules, else with flags.
    #[default]
    Auto,
    /// With flags, always.
    Flags,
    /// On the mask stack; what breaks a rule is an error.
    MaskStack,
}

impl SimdCf {
    /// Every way.
    pub const ALL: [SimdCf; 3] = [SimdCf::Auto, SimdCf::Flags, SimdCf::MaskStack];

    /// The name, as `--simd-cf` takes it.
    pub const fn name(self) -> &'static str {
        match self {
            SimdCf::Auto => "auto",
            SimdCf::Flags => "flags",
            SimdCf::MaskStack => "mask-stack",
        }
    }

    /// The way of a name.
    pub fn from_name(name: &str) -> Option<SimdCf> {
        SimdCf::ALL.into_iter().find(|s| s.name() == name)
    }
}

/// What a kernel must keep to, for the mask stack to be used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rule {
    /// Subroutines are part of the kernel: none is called in hardware.
    Subroutines,
    /// The kernel's SIMD width is one that control flow has.
    Width,
    /// The dispatch mask is asked for before any control flow of channels.
    DispatchMask,
    /// The mask that goes into a `goto` or `join` is the one that channels run under.
    CurrentMask,
    /// The resume mask that goes into a `goto` or `join` is exactly the channels that wait at the
    /// join point.
    WaitingChannels,
    /// A resume mask is made by `goto` alone, and is no execution mask.
    ResumeMask,
    /// A resume mask is used by `goto` and `join` alone.
    ResumeData,
    /// The channels of a resume mask come back at one `join`.
    OneJoin,
    /// Channels wait ahead: a join point, or the thread's end, is behind each `goto` in the order
    /// of emission.
    Forward,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 9] = [
        Rule::Subroutines,
        Rule::Width,
        Rule::DispatchMask,
        Rule::CurrentMask,
        Rule::WaitingChannels,
        Rule::ResumeMask,
        Rule::ResumeData,
        Rule::OneJoin,
        Rule::Forward,
    ];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::Subroutines => "subroutines",
            Rule::Width => "width",
            Rule::DispatchMask => "dispatch-mask",
            Rule::CurrentMask => "current-mask",
            Rule::WaitingChannels => "waiting-channels",
            Rule::ResumeMask => "resume-mask",
            Rule::ResumeData => "resume-data",
            Rule::OneJoin => "one-join",
            Rule::Forward => "forward",
        }
    }

    /// What it says.
    pub const fn says(self) -> &'static str {
        match self {
            Rule::Subroutines => "the kernel calls subroutines in hardware",
            Rule::Width => "control flow of channels is 8, 16 or 32 wide",
            Rule::DispatchMask => "the dispatch mask is read before channels leave",
            Rule::CurrentMask => "the mask is not the one that channels run under",
            Rule::WaitingChannels => {
                "the resume mask is not just the channels that wait at its join"
            }
            Rule::ResumeMask => "a resume mask is made by `goto` alone",
            Rule::ResumeData => "a resume mask is used by `goto` and `join` alone",
            Rule::OneJoin => "the channels of a resume mask come back at one `join`",
            Rule::Forward => "channels cannot wait at a place before their `goto`",
        }
    }
}

/// A rule that is broken, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The block.
    pub block: Block,
    /// The value that breaks it, if it is one's fault.
    pub value: Option<Value>,
}

impl Finding {
    /// Where in a source text this is from: the value's definition, or the block's first
    /// instruction that has a location.
    pub(crate) fn origin(&self, func: &Function) -> SourceLoc {
        let by_value = self.value.and_then(|v| func.dfg.def_inst(v));
        let insts = func.layout.insts(self.block).iter().copied();
        let mut all = by_value.into_iter().chain(insts).map(|i| func.srclocs[i]);
        all.find(|loc| !loc.is_none()).unwrap_or_default()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}: ", self.rule.name(), self.block)?;
        if let Some(v) = self.value {
            write!(f, "{v}: ")?;
        }
        f.write_str(self.rule.says())
    }
}

/// A broken rule, and what is left to flags for it: those of one web, or, if there are none,
/// everything.
#[derive(Debug)]
struct Fault {
    finding: Finding,
    insts: Vec<Inst>,
}

/// Says that a kernel's subroutines keep a function off the mask stack, if it has SIMD control
/// flow.
pub(crate) fn by_subroutines(func: &Function) -> Option<Finding> {
    let blocks = func.layout.blocks().iter();
    let of = |b: &Block| {
        func.layout
            .insts(*b)
            .iter()
            .any(|&i| webs::split(func, i).is_some())
    };
    let block = blocks.copied().find(of)?;
    Some(Finding {
        rule: Rule::Subroutines,
        block,
        value: None,
    })
}

/// How often what breaks a rule is left out before everything is.
const TRIES: usize = 8;

/// What SIMD control flow of a kernel is on the mask stack, where `order` is the blocks' order of
/// emission and `needed` the values that anything depends on; and the rules that keep some of it,
/// or, without the first, all from it.
pub(crate) fn analyse(
    func: &Function,
    order: &[Block],
    needed: &Marks<Value>,
) -> (Option<MaskStack>, Vec<Finding>) {
    let mut left_out = EntitySet::new();
    let mut findings = Vec::new();
    for _ in 0..TRIES {
        let faults = match walk::attempt(func, order, needed, &left_out) {
            Ok(masks) => return (Some(masks), findings),
            Err(faults) => faults,
        };
        let all = faults.iter().all(|f| f.insts.is_empty());
        for f in faults {
            findings.push(f.finding);
            f.insts.iter().for_each(|&i| {
                left_out.insert(i);
            });
        }
        if all {
            break;
        }
    }
    (None, findings)
}

/// What a `goto` or `join` is on the mask stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Channels leave for a join, or for good.
    Leave(Option<JoinPoint>),
    /// Channels that wait come back.
    Join(JoinPoint),
    /// Nobody waits: the mask stays.
    Nothing,
}

/// SIMD control flow as the hardware's own.
#[derive(Clone, Debug, Default)]
pub(crate) struct MaskStack {
    /// Of `goto` and `join`.
    roles: SecondaryMap<Inst, Option<Role>>,
    /// The mask that channels run under wherever nothing else is said: everywhere, where none
    /// leave.
    everywhere: PackedOption<Value>,
    /// Of instructions with a mask, and of branches: the mask that channels run under.
    active_at: SecondaryMap<Inst, PackedOption<Value>>,
    /// At the start of each block.
    active_in: SecondaryMap<Block, PackedOption<Value>>,
    /// Masks that are another one.
    same: SecondaryMap<Value, PackedOption<Value>>,
    /// Parameters that are resume masks.
    resume_params: SecondaryMap<Value, bool>,
}

impl MaskStack {
    /// The first of the values that are this mask.
    pub(crate) fn canonical(&self, v: Value) -> Value {
        self.same[v].expand().unwrap_or(v)
    }

    pub(crate) fn role(&self, inst: Inst) -> Option<Role> {
        self.roles[inst]
    }

    /// Whether a mask is the one that channels run under at an instruction.
    pub(crate) fn is_active(&self, inst: Inst, mask: Value) -> bool {
        let active = self.active_at[inst].expand();
        active.or(self.everywhere.expand()) == Some(self.canonical(mask))
    }

    /// The mask that channels run under at a block's start.
    pub(crate) fn active_in(&self, block: Block) -> Option<Value> {
        let active = self.active_in[block].expand();
        active.or(self.everywhere.expand())
    }

    /// Whether a block's parameter is kept by the hardware.
    pub(crate) fn keeps_param(&self, block: Block, param: Value) -> bool {
        self.active_in(block) == Some(param) || self.resume_params[param]
    }
}
