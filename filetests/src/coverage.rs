//! Coverage of the compiler by random kernels: opcodes, lowering rules, repairs, and the forms of
//! SIMD control flow.

use crate::differential::Outcome;
use gantry_codegen::ir::{Opcode, Scalar};
use gantry_codegen::rule_coverage::{Fired, RULES, Repair};
use gantry_codegen::{Compiled, Pass};
use gantry_isa_gen::Op;
use std::collections::BTreeMap;
use std::fmt;

/// Counts of compiled code: opcodes at the types of their first operand or result, lowering rules,
/// and repairs of the legalizer.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Number of cases that agree.
    pub equal: u64,
    /// Number of cases that did not fit the GRF file.
    pub too_large: u64,
    /// Number of functions of the cases that agree.
    pub functions: u64,
    /// Number of kernels in which values of different channels share registers, and of such
    /// registers.
    pub shared: (u64, u64),
    /// Numbers of kernels that each pass of the optimizer changed, and of its changes.
    passes: BTreeMap<&'static str, (u64, u64)>,
    opcodes: BTreeMap<&'static str, BTreeMap<Scalar, u64>>,
    fired: Fired,
    control: ControlFlowCounts,
}

impl Coverage {
    /// Returns the passes that never changed anything, without those that a kernel must ask for.
    pub fn idle(&self) -> Vec<&'static str> {
        let changes = |p: &Pass| self.passes.get(p.name()).map_or(0, |(_, changes)| *changes);
        let asked = [Pass::FuseFma, Pass::Reciprocals];
        let idle = Pass::ALL
            .iter()
            .filter(|p| !asked.contains(*p) && changes(p) == 0);
        idle.map(|p| p.name()).collect()
    }

    /// Counts a case.
    pub fn add(&mut self, outcome: &Outcome) {
        let agreed = match outcome {
            Outcome::Equal(agreed) => agreed,
            Outcome::TooLarge => {
                self.too_large += 1;
                return;
            }
        };
        self.equal += 1;
        for kernel in agreed.variants.iter().flat_map(|w| &w.kernels) {
            self.fired.extend(&kernel.stats.fired);
            self.shared.0 += u64::from(kernel.stats.shared > 0);
            self.shared.1 += u64::from(kernel.stats.shared);
            for s in &kernel.stats.passes {
                let (kernels, changes) = self.passes.entry(s.pass.name()).or_default();
                *kernels += u64::from(s.changes > 0);
                *changes += u64::from(s.changes);
            }
        }
        if let Some(first) = agreed.variants.first() {
            self.control.add(first);
        }
        self.functions += agreed.module.functions.len() as u64;
        for f in agreed.module.functions.values() {
            let insts = f.layout.blocks().iter().flat_map(|&b| f.layout.insts(b));
            for &i in insts {
                let data = f.dfg.data(i);
                let mut of = None;
                data.for_each_arg(&f.dfg, |v| of = of.or(Some(f.dfg.ty(v).scalar())));
                let result = f.dfg.first_result(i).map(|v| f.dfg.ty(v).scalar());
                // The type does not matter for instructions that have neither.
                let of = of.or(result).unwrap_or(Scalar::B1);
                let types = self.opcodes.entry(data.opcode().name()).or_default();
                *types.entry(of).or_default() += 1;
            }
        }
    }

    /// Adds the coverage of another run.
    pub fn extend(&mut self, other: &Coverage) {
        self.equal += other.equal;
        self.too_large += other.too_large;
        self.functions += other.functions;
        self.shared.0 += other.shared.0;
        self.shared.1 += other.shared.1;
        for (name, other) in &other.passes {
            let (kernels, changes) = self.passes.entry(name).or_default();
            *kernels += other.0;
            *changes += other.1;
        }
        self.fired.extend(&other.fired);
        self.control.extend(&other.control);
        for (name, types) in &other.opcodes {
            let all = self.opcodes.entry(name).or_default();
            for (ty, n) in types {
                *all.entry(*ty).or_default() += n;
            }
        }
    }

    /// Returns the covered and uncovered items of each kind.
    pub fn parts(&self) -> [CoveragePart; 3] {
        let opcodes = Opcode::all().iter().map(|i| i.name);
        let opcodes = opcodes.map(|n| (n.to_string(), self.opcodes.contains_key(n)));
        let rules = RULES.iter().enumerate();
        let rules = rules.map(|(n, (file, line))| {
            let name = format!("{file}:{line}");
            (name, self.fired.has_rule(n))
        });
        let repairs = Repair::ALL.iter();
        let repairs = repairs.map(|r| (format!("{r:?}"), self.fired.has_repair(*r)));
        [
            CoveragePart::of("opcodes", opcodes),
            CoveragePart::of("lowering rules", rules),
            CoveragePart::of("repairs", repairs),
        ]
    }
}

/// Coverage of one kind of items.
#[derive(Clone, Debug)]
pub struct CoveragePart {
    /// Name of the kind.
    pub name: &'static str,
    /// Number of items.
    pub all: usize,
    /// Items that were not covered.
    pub never: Vec<String>,
}

impl CoveragePart {
    fn of(name: &'static str, items: impl Iterator<Item = (String, bool)>) -> CoveragePart {
        let mut all = 0;
        let never = items.inspect(|_| all += 1).filter(|(_, had)| !had);
        let never = never.map(|(name, _)| name).collect();
        CoveragePart { name, all, never }
    }

    /// Returns the share of covered items, 0 to 1.
    pub fn share(&self) -> f64 {
        1.0 - self.never.len() as f64 / self.all.max(1) as f64
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, types) in &self.opcodes {
            let all: u64 = types.values().sum();
            let types: Vec<String> = types.iter().map(|(t, n)| format!("{t} {n}")).collect();
            writeln!(f, "{name:20} {all:7}  {}", types.join(", "))?;
        }
        for p in self.parts() {
            let had = p.all - p.never.len();
            let share = 100.0 * p.share();
            writeln!(f, "{had} of {} {} ({share:.1}%)", p.all, p.name)?;
            if !p.never.is_empty() {
                writeln!(f, "    never: {}", p.never.join(" "))?;
            }
        }
        for (name, (kernels, changes)) in &self.passes {
            writeln!(f, "{name}: {changes} changes in {kernels} kernels")?;
        }
        writeln!(f, "{}", self.control)?;
        let (kernels, shared) = self.shared;
        writeln!(
            f,
            "{shared} registers shared by channels in {kernels} kernels"
        )?;
        write!(
            f,
            "{} kernels with {} functions in all agree, {} too large for the register file",
            self.equal, self.functions, self.too_large
        )
    }
}

/// Forms of SIMD control flow: kernels that keep to the mask stack's rules, broken rules, and
/// instructions.
#[derive(Clone, Debug, Default)]
pub struct ControlFlowCounts {
    /// Number of kernels that break no rule.
    pub kernels: u64,
    /// Broken rules, by name.
    pub rules: BTreeMap<&'static str, u64>,
    /// Instructions, by name.
    pub forms: BTreeMap<&'static str, u64>,
}

impl ControlFlowCounts {
    /// Counts a compiled module.
    pub fn add(&mut self, compiled: &Compiled) {
        for k in &compiled.kernels {
            self.kernels += u64::from(k.stats.simd_cf.is_empty());
            for f in &k.stats.simd_cf {
                *self.rules.entry(f.rule.name()).or_default() += 1;
            }
            for i in &k.code.insts {
                if is_control(i.op) {
                    *self.forms.entry(i.op.mnemonic()).or_default() += 1;
                }
            }
        }
    }

    /// Adds another count.
    pub fn extend(&mut self, other: &ControlFlowCounts) {
        self.kernels += other.kernels;
        for (k, n) in &other.rules {
            *self.rules.entry(k).or_default() += n;
        }
        for (k, n) in &other.forms {
            *self.forms.entry(k).or_default() += n;
        }
    }
}

/// Returns true for the instructions of the mask stack.
fn is_control(op: Op) -> bool {
    matches!(
        op,
        Op::If
            | Op::Else
            | Op::Endif
            | Op::While
            | Op::Break
            | Op::Cont
            | Op::Halt
            | Op::Goto
            | Op::Join
    )
}

impl fmt::Display for ControlFlowCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |of: &BTreeMap<&'static str, u64>| {
            let list: Vec<String> = of.iter().map(|(k, n)| format!("{k} {n}")).collect();
            list.join(", ")
        };
        write!(
            f,
            "mask stack: {} kernels ({}); flags: {}",
            self.kernels,
            list(&self.forms),
            list(&self.rules)
        )
    }
}
