//! Analysis of SIMD control flow for the hardware's mask stack: it checks a kernel against the
//! rules and finds the masks that the hardware keeps.
//!
//! The hardware has one execution mask, and a join point per channel where it waits. `goto` and
//! `join` in the IR are operations on values. They can use the hardware's masks under two
//! conditions. The execution mask operand must be the mask that is active there. The resume mask
//! operand must be exactly the channels that wait at the `join` it ends in.
//!
//! `walk` follows both through the function once, block by block in emission order, as the hardware
//! would run it. Waiting channels are kept in a persistent map (`waiting`), so that nested code
//! costs no more than a sequence. A `goto` that breaks a rule is lowered with flags, as are all
//! that share its resume mask, and the rest is analysed again.
//!
//! A kernel that calls subroutines is analysed with them (`group`): a call keeps the execution
//! mask, which a subroutine takes as a parameter and may return.
//!
//! Input: verified IR after inlining. Output: the active mask of each instruction with a mask, and
//! the join point of each `goto`. Violated rules are returned with their position.

mod group;
mod normal;
mod running;
mod waiting;
mod walk;
mod webs;

pub(crate) use group::{Body, analyse};
pub(crate) use normal::normal;

use crate::ir::{Block, FuncRef, Function, Inst, InstData, Opcode, SourceLoc, Value, ValueDef};
use crate::mir::JoinPoint;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use smallvec::SmallVec;
use std::fmt;

gantry_isa_gen::named_enum! {
    /// Lowering of SIMD control flow. Names are those that `--simd-cf` takes.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum SimdCf {
        /// Mask stack where the rules allow it, else flags.
        #[default]
        Auto = "auto",
        /// Always flags.
        Flags = "flags",
        /// Mask stack. A violated rule is an error.
        MaskStack = "mask-stack",
    }
}

gantry_isa_gen::named_enum! {
    /// Rules that a kernel must keep for the mask stack to be used.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Rule {
        /// A call passes the active mask as the execution mask of the subroutine.
        CallMask = "call-mask",
        /// Some channel runs at each call: the hardware skips a call without channels.
        CallChannels = "call-channels",
        /// All channels are back at each return of a subroutine.
        ReturnMask = "return-mask",
        /// The SIMD width is one that SIMD control flow has.
        Width = "width",
        /// The dispatch mask is read before any SIMD control flow.
        DispatchMask = "dispatch-mask",
        /// The execution mask of a `goto` or `join` is the active one.
        CurrentMask = "current-mask",
        /// The resume mask of a `goto` or `join` is exactly the channels that wait at the join
        /// point.
        WaitingChannels = "waiting-channels",
        /// A resume mask is defined only by `goto`, and is no execution mask.
        ResumeMask = "resume-mask",
        /// A resume mask is used only by `goto` and `join`.
        ResumeData = "resume-data",
        /// The channels of a resume mask resume at one `join`.
        OneJoin = "one-join",
        /// Channels wait ahead: the join point, or the thread's end, comes after each `goto` in
        /// emission order.
        Forward = "forward",
    }
}

impl Rule {
    /// Returns the rule as a sentence.
    pub const fn says(self) -> &'static str {
        match self {
            Rule::CallMask => "a call passes another mask than the one that channels run under",
            Rule::CallChannels => "a call may be reached without channels",
            Rule::ReturnMask => "channels of a subroutine are not back where it returns",
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

/// Violated rule and its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Violated rule.
    pub rule: Rule,
    /// Name of the subroutine of the violation. `None` for the kernel.
    pub subroutine: Option<String>,
    /// Block of the violation.
    pub block: Block,
    /// Value that violates it, if there is one.
    pub value: Option<Value>,
}

impl Finding {
    /// Makes a finding in the kernel.
    fn new(rule: Rule, block: Block, value: Option<Value>) -> Finding {
        Finding {
            rule,
            subroutine: None,
            block,
            value,
        }
    }

    /// Returns the source location: that of the value's definition, or of the block's first
    /// instruction with a location.
    pub(crate) fn origin(&self, func: &Function) -> SourceLoc {
        let by_value = self.value.and_then(|v| func.dfg.def_inst(v));
        let insts = func.layout.insts(self.block).iter().copied();
        let mut all = by_value.into_iter().chain(insts).map(|i| func.srclocs[i]);
        all.find(|loc| !loc.is_none()).unwrap_or_default()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] ", self.rule.name())?;
        if let Some(name) = &self.subroutine {
            write!(f, "%{name} ")?;
        }
        write!(f, "{}: ", self.block)?;
        if let Some(v) = self.value {
            write!(f, "{v}: ")?;
        }
        f.write_str(self.rule.says())
    }
}

/// Violated rule, and the instructions that are lowered with flags because of it: those of one web,
/// or, if there are none, all.
#[derive(Debug)]
struct RuleViolation {
    finding: Finding,
    insts: Vec<Inst>,
}

/// Masks of a subroutine that the hardware keeps through its calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Passed {
    /// Parameter that is the execution mask.
    pub(crate) param: Option<u16>,
    /// Results that are the execution mask.
    pub(crate) results: SmallVec<[u16; 1]>,
}

/// Facts of the kernel's other functions.
#[derive(Clone, Copy)]
struct Within<'a> {
    /// SIMD width of the kernel.
    simd: u32,
    /// Function, if it is a subroutine.
    subroutine: Option<FuncRef>,
    /// Masks that each subroutine takes and returns.
    passed: &'a SecondaryMap<FuncRef, Passed>,
    /// True if some function is called.
    calls: bool,
}

/// Number of times that instructions which break rules are left out before all are.
const TRIES: usize = 8;

/// Analyses one function for the mask stack. Also returns the rules that keep some of it off the
/// mask stack, or all if the result is `None`.
fn function(body: &Body<'_>, within: Within<'_>) -> (Option<MaskStack>, Vec<Finding>) {
    let mut left_out = EntitySet::new();
    let mut findings = Vec::new();
    for _ in 0..TRIES {
        let faults = match walk::attempt(body, within, &left_out) {
            Ok(masks) => return (Some(masks), findings),
            Err(faults) => faults,
        };
        let all = faults.iter().all(|f| f.insts.is_empty());
        for mut f in faults {
            f.finding.subroutine = within.subroutine.map(|_| body.func.name.clone());
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

/// Returns the mask whose emptiness a condition tells, and true if it is set for an empty mask.
pub(crate) fn tested_mask(func: &Function, cond: Value) -> Option<(Value, bool)> {
    let mut none = false;
    let mut v = cond;
    let dfg = &func.dfg;
    loop {
        let ValueDef::Result(def, n) = dfg.def(v) else {
            return None;
        };
        match *dfg.data(def) {
            InstData::Unary {
                opcode: Opcode::Bnot,
                arg,
            } => (v, none) = (arg, !none),
            InstData::Unary {
                opcode: Opcode::Any,
                arg,
            } => return Some((arg, none)),
            data => {
                let is = data.opcode() == Opcode::Goto && n == 2
                    || data.opcode() == Opcode::Join && n == 1;
                let mask = *dfg.results(def).first()?;
                return is.then_some((mask, !none));
            }
        }
    }
}

/// Role of a `goto` or `join` on the mask stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Channels leave for a join point, or for good.
    Leave(Option<JoinPoint>),
    /// Waiting channels resume.
    Join(JoinPoint),
    /// No channel waits: the mask stays.
    Nothing,
}

/// SIMD control flow that uses the mask stack.
#[derive(Clone, Debug, Default)]
pub(crate) struct MaskStack {
    /// Roles of `goto` and `join`.
    roles: SecondaryMap<Inst, Option<Role>>,
    /// Mask that is active at instructions and blocks without an entry of their own. Without SIMD
    /// control flow these are all.
    everywhere: PackedOption<Value>,
    /// Active mask of instructions with a mask, and of branches.
    active_at: SecondaryMap<Inst, PackedOption<Value>>,
    /// Active mask at the start of each block.
    active_in: SecondaryMap<Block, PackedOption<Value>>,
    /// Canonical mask of masks that equal another one.
    same: SecondaryMap<Value, PackedOption<Value>>,
    /// Parameters that are resume masks.
    resume_params: SecondaryMap<Value, bool>,
    /// Masks that calls of the function pass, if it is a subroutine.
    passed: Passed,
    /// Join point at the return of a subroutine, of channels that leave for good.
    exit: PackedOption<JoinPoint>,
    /// Number of join points.
    points: usize,
    /// Calls, each with the mask that is active there.
    sites: Vec<(Block, Inst, PackedOption<Value>)>,
}

impl MaskStack {
    /// Returns the first of the values that equal this mask.
    pub(crate) fn canonical(&self, v: Value) -> Value {
        self.same[v].expand().unwrap_or(v)
    }

    /// Returns the masks that calls of the function pass, if it is a subroutine.
    pub(crate) fn passed(&self) -> &Passed {
        &self.passed
    }

    /// Returns the join point before the return of a subroutine.
    pub(crate) fn exit(&self) -> Option<JoinPoint> {
        self.exit.expand()
    }

    /// Numbers join points from another one on, so that each is unique to the kernel.
    fn shift(&mut self, first: usize) {
        let moved = |p: JoinPoint| JoinPoint::new(p.index() + first);
        self.exit = self.exit.map(moved).into();
        for role in self.roles.values_mut() {
            match role {
                Some(Role::Leave(Some(p)) | Role::Join(p)) => *p = moved(*p),
                Some(Role::Leave(None) | Role::Nothing) | None => {}
            }
        }
    }

    pub(crate) fn role(&self, inst: Inst) -> Option<Role> {
        self.roles[inst]
    }

    /// Returns true if a mask is the active one at an instruction.
    pub(crate) fn is_active(&self, inst: Inst, mask: Value) -> bool {
        let active = self.active_at[inst].expand();
        active.or(self.everywhere.expand()) == Some(self.canonical(mask))
    }

    /// Returns the active mask at a block's start.
    pub(crate) fn active_in(&self, block: Block) -> Option<Value> {
        let active = self.active_in[block].expand();
        active.or(self.everywhere.expand())
    }

    /// Returns true if the hardware keeps a block's parameter.
    pub(crate) fn keeps_param(&self, block: Block, param: Value) -> bool {
        self.active_in(block) == Some(param) || self.resume_params[param]
    }
}
