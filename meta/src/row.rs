//! Row DSL: an instruction, its format, and a column per generation. Rows are validated when built.

use crate::format::Format;
use crate::generation::{Generation, Gens};
use crate::types::TypeSet;
use std::fmt;
use std::ops::BitOr;
use std::panic::Location;

/// Set of controls that an instruction may have beside its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Controls(u16);

/// No controls.
pub const NONE: Controls = Controls(0);
/// A predicate.
pub const PRED: Controls = Controls(1 << 0);
/// A condition modifier.
pub const COND: Controls = Controls(1 << 1);
/// Saturation.
pub const SAT: Controls = Controls(1 << 2);
/// Source modifiers: negation and absolute value (inversion on bitwise operations).
pub const MODS: Controls = Controls(1 << 3);
/// Additional write of the accumulator (`{AccWrEn}`).
pub const ACC: Controls = Controls(1 << 4);
/// Branch control `.b`.
pub const BRANCH_CTRL: Controls = Controls(1 << 5);
/// Bitwise operation: a negated source is written `~`.
pub const BITWISE: Controls = Controls(1 << 6);
/// Operands with special accumulators (`mme`).
pub const MME: Controls = Controls(1 << 7);
/// All controls of arithmetic instructions.
pub const ALU: Controls = PRED.and(COND).and(SAT).and(MODS).and(ACC);

impl Controls {
    const NAMES: [(Controls, &'static str); 8] = [
        (PRED, "pred"),
        (COND, "cond"),
        (SAT, "sat"),
        (MODS, "mods"),
        (ACC, "acc"),
        (BRANCH_CTRL, ".b"),
        (BITWISE, "bitwise"),
        (MME, "mme"),
    ];

    /// Returns the union of two sets.
    pub const fn and(self, o: Controls) -> Controls {
        Controls(self.0 | o.0)
    }

    /// Returns true if any of `o` is in the set.
    pub const fn has(self, o: Controls) -> bool {
        self.0 & o.0 != 0
    }

    const fn without(self, o: Controls) -> Controls {
        Controls(self.0 & !o.0)
    }
}

impl BitOr for Controls {
    type Output = Controls;
    fn bitor(self, o: Controls) -> Controls {
        self.and(o)
    }
}

/// Combination of a set of destination types and a set of source types.
pub type Combo = (TypeSet, TypeSet);

/// Properties of an instruction in one generation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// Operand format.
    pub format: Format,
    /// Opcode number, 7 bits.
    pub opcode: u8,
    /// Allowed combinations of types.
    pub types: Vec<Combo>,
    /// Allowed controls.
    pub controls: Controls,
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#04x}", self.opcode)?;
        for (_, name) in Controls::NAMES
            .iter()
            .filter(|(c, _)| self.controls.has(*c))
        {
            write!(f, " {name}")?;
        }
        for (i, (d, s)) in self.types.iter().enumerate() {
            write!(f, "{} {d} <- {s}", if i == 0 { " :" } else { ";" })?;
        }
        Ok(())
    }
}

/// Instruction row: mnemonic, format, and a column per generation that has the instruction.
///
/// ```
/// use gantry_meta::generation::{GEN9, XE, XE_LP};
/// use gantry_meta::row::{ALU, PRED, Row, SAT};
/// use gantry_meta::{Format, Generation::XeLp, types::*};
/// let row = Row::new("lzd", "Counts leading zeros.", Format::Unary)
///     .code(GEN9 | XE_LP, 0x4A)
///     .with(PRED | SAT)
///     .without(XE, SAT)
///     .types(GEN9 | XE_LP, [(UD, UD)])
///     .build()?;
/// assert_eq!(row.column(XeLp).map(|c| c.to_string()), Some("0x4a pred : ud <- ud".into()));
/// let bad = Row::new("lzd", "Counts leading zeros.", Format::Unary).code(GEN9, 0x4A).build();
/// assert!(bad.unwrap_err().to_string().contains("must list its type combinations"));
/// # Ok::<(), gantry_meta::RowError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Mnemonic in assembly text.
    pub mnemonic: &'static str,
    /// Description of the operation, a sentence.
    pub doc: &'static str,
    /// Operand format of columns that have no other.
    pub format: Format,
    /// One entry per [`Generation::ALL`], `None` if it does not have the instruction.
    pub columns: [Option<Column>; Generation::ALL.len()],
    /// Location of the row in the source.
    pub at: &'static Location<'static>,
    wrong: Option<&'static str>,
}

impl Row {
    /// Creates a row without columns.
    #[track_caller]
    pub fn new(mnemonic: &'static str, doc: &'static str, format: Format) -> Self {
        Row {
            mnemonic,
            doc,
            format,
            columns: [const { None }; Generation::ALL.len()],
            at: Location::caller(),
            wrong: None,
        }
    }

    /// Adds a column with this opcode number to the generations.
    pub fn code(mut self, gens: Gens, opcode: u8) -> Self {
        for g in gens.iter() {
            if let Some(slot) = self.columns.get_mut(g.index())
                && slot
                    .replace(Column {
                        format: self.format,
                        opcode,
                        types: Vec::new(),
                        controls: NONE,
                    })
                    .is_some()
            {
                self.wrong = Some("code: a generation may have only one");
            }
        }
        self
    }

    fn each(mut self, gens: Option<Gens>, change: impl Fn(&mut Column)) -> Self {
        for g in Generation::ALL {
            match (gens, self.columns.get_mut(g.index())) {
                (Some(gens), _) if !gens.contains(g) => {}
                (_, Some(Some(c))) => change(c),
                _ => {}
            }
        }
        self
    }

    /// Allows controls in every column so far.
    pub fn with(self, controls: Controls) -> Self {
        self.each(None, |c| c.controls = c.controls | controls)
    }

    /// Removes controls in some generations.
    pub fn without(self, gens: Gens, controls: Controls) -> Self {
        self.each(Some(gens), |c| c.controls = c.controls.without(controls))
    }

    /// Sets another format in some generations.
    pub fn formatted(self, gens: Gens, format: Format) -> Self {
        self.each(Some(gens), |c| c.format = format)
    }

    /// Adds allowed types in some generations.
    pub fn types(mut self, gens: Gens, combos: impl IntoIterator<Item = Combo>) -> Self {
        let combos: Vec<Combo> = combos.into_iter().collect();
        let missing = |g: Generation| self.columns.get(g.index()).is_none_or(Option::is_none);
        if gens.iter().all(missing) {
            self.wrong = Some("types: of generations that do not have the instruction");
        }
        self.each(Some(gens), |c| c.types.extend_from_slice(&combos))
    }

    /// Returns the column of a generation.
    pub fn column(&self, g: Generation) -> Option<&Column> {
        self.columns.get(g.index())?.as_ref()
    }

    /// Returns the name of the enum variant: the mnemonic with a capital.
    pub fn variant(&self) -> String {
        capital(self.mnemonic)
    }

    /// Validates the row. Xe-HPC has no accumulator write control, and its column loses it here.
    ///
    /// # Errors
    /// Returns the rule that the row violates.
    pub fn build(mut self) -> Result<Row, RowError> {
        if let Some(Some(c)) = self.columns.get_mut(Generation::XeHpc.index()) {
            c.controls = c.controls.without(ACC);
        }
        let fail = |rule: &'static str| {
            Err(RowError {
                row: self.mnemonic,
                at: self.at,
                rule,
            })
        };
        if self.mnemonic.is_empty()
            || !self
                .mnemonic
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        {
            return fail("mnemonic: must be lower-case letters and digits");
        }
        if !self.doc.ends_with('.') {
            return fail("doc: must be a sentence with its full stop");
        }
        if let Some(rule) = self.wrong {
            return fail(rule);
        }
        if self.columns.iter().all(Option::is_none) {
            return fail("code: some generation must have the instruction");
        }
        for c in self.columns.iter().flatten() {
            if let Some(rule) = broken(c) {
                return fail(rule);
            }
        }
        Ok(self)
    }
}

/// Returns the rule that a column violates.
fn broken(c: &Column) -> Option<&'static str> {
    let has = |controls| c.controls.has(controls);
    if c.opcode > 0x7f {
        return Some("code: must fit 7 bits");
    }
    if c.format.has_types() && c.types.is_empty() {
        return Some("types: a format with data operands must list its type combinations");
    }
    if !c.format.has_types() && !c.types.is_empty() {
        return Some("types: a format without data operands has no type combinations");
    }
    if c.types.iter().any(|(d, s)| d.is_empty() || s.is_empty()) {
        return Some("types: a combination needs a destination and a source type");
    }
    if has(SAT | ACC) && !(c.format.has_types() && c.format.has_dst()) {
        return Some("sat, acc: only a format with a data destination has them");
    }
    if has(MODS) && !c.format.has_types() {
        return Some("mods: only a format with data sources has them");
    }
    if has(MME) && c.format != Format::Ternary {
        return Some("mme: of a row, only a three-source one (math functions have their own)");
    }
    if has(BRANCH_CTRL) && !c.format.is_branch() {
        return Some("branch_ctrl: only a branch has it");
    }
    if has(COND) && c.format == Format::Math {
        return Some("cond: shares its bits with the math function");
    }
    None
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = format!("{:?}", self.format);
        write!(f, "{:<8} {:<14}", self.mnemonic, format)?;
        let mut rest: Vec<Generation> = Generation::ALL.into();
        while let Some(g) = rest.first().copied() {
            let column = self.column(g);
            let alike: Vec<Generation> = rest
                .iter()
                .copied()
                .filter(|g| self.column(*g) == column)
                .collect();
            rest.retain(|g| !alike.contains(g));
            if let Some(c) = column {
                let names: Vec<String> = alike.iter().map(|g| g.to_string()).collect();
                write!(f, "\n    {}: {c}", names.join(" "))?;
            }
        }
        Ok(())
    }
}

/// Row of a function of `math`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MathRow {
    /// Name after `math.`.
    pub name: &'static str,
    /// Description of the result, a sentence.
    pub doc: &'static str,
    /// Number of sources.
    pub sources: u8,
    /// True if operands name a special accumulator (`mme`).
    pub is_macro: bool,
    /// Allowed combinations of types.
    pub types: Vec<(TypeSet, TypeSet)>,
    /// Number of the function in each generation.
    pub codes: [Option<u8>; Generation::ALL.len()],
    /// Location of the row in the source.
    pub at: &'static Location<'static>,
}

impl MathRow {
    /// Creates a function with its number of sources and types, in no generation.
    #[track_caller]
    pub fn new(
        name: &'static str,
        doc: &'static str,
        sources: u8,
        types: impl IntoIterator<Item = (TypeSet, TypeSet)>,
    ) -> Self {
        MathRow {
            name,
            doc,
            sources,
            is_macro: false,
            types: types.into_iter().collect(),
            codes: [None; Generation::ALL.len()],
            at: Location::caller(),
        }
    }

    /// Marks operands that name a special accumulator.
    pub fn with_mme(mut self) -> Self {
        self.is_macro = true;
        self
    }

    /// Sets the function number in some generations.
    pub fn code(mut self, gens: Gens, code: u8) -> Self {
        for g in gens.iter() {
            if let Some(slot) = self.codes.get_mut(g.index()) {
                *slot = Some(code);
            }
        }
        self
    }

    /// Returns the name of the enum variant.
    pub fn variant(&self) -> String {
        capital(self.name)
    }

    /// Validates the row.
    ///
    /// # Errors
    /// Returns the rule that the row violates.
    pub fn build(self) -> Result<MathRow, RowError> {
        let fail = |rule| {
            Err(RowError {
                row: self.name,
                at: self.at,
                rule,
            })
        };
        if !(1..=2).contains(&self.sources) {
            return fail("sources: a math function has one or two");
        }
        if self.types.is_empty() {
            return fail("types: a math function must list its type combinations");
        }
        if self.codes.iter().flatten().any(|c| *c == 0 || *c > 15) {
            return fail("code: must be 1 to 15");
        }
        if self.codes.iter().all(Option::is_none) {
            return fail("code: some generation must have the function");
        }
        Ok(self)
    }
}

impl fmt::Display for MathRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "math.{:<9} {} source{}",
            self.name,
            self.sources,
            if self.sources == 1 { " " } else { "s" }
        )?;
        for (g, c) in Generation::ALL.iter().zip(self.codes) {
            if let Some(c) = c {
                write!(f, " {g}: {c:#x}")?;
            }
        }
        for (i, (d, s)) in self.types.iter().enumerate() {
            write!(f, "{} {d} <- {s}", if i == 0 { " :" } else { ";" })?;
        }
        Ok(())
    }
}

/// Error for a row that violates a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowError {
    /// Mnemonic of the row.
    pub row: &'static str,
    /// Location of the row in the source.
    pub at: &'static Location<'static>,
    /// Rule, as `what: why`.
    pub rule: &'static str,
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: row `{}`: {}",
            self.at.file(),
            self.at.line(),
            self.row,
            self.rule
        )
    }
}

impl std::error::Error for RowError {}

fn capital(s: &str) -> String {
    let mut c = s.chars();
    match c.next() {
        Some(first) => first.to_uppercase().chain(c).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::{GEN9, XE};
    use crate::types::{self, D};

    fn rule(r: Row) -> &'static str {
        r.build().expect_err("breaks a rule").rule
    }

    #[test]
    fn every_violated_rule_is_named() {
        let row = |f| Row::new("x", "Does.", f).code(GEN9, 0);
        let typed = |f| row(f).types(GEN9, [(D, D)]);
        let null = Format::Nullary;
        assert!(rule(Row::new("X!", "Does.", null).code(GEN9, 0)).starts_with("mnemonic"));
        assert!(rule(Row::new("x", "Does", null).code(GEN9, 0)).starts_with("doc"));
        assert!(rule(Row::new("x", "Does.", null)).starts_with("code: some"));
        assert!(rule(row(null).code(GEN9, 1)).starts_with("code: a gen"));
        assert!(rule(row(null).code(XE, 0x80)).starts_with("code: must"));
        assert!(rule(row(Format::Unary).types(XE, [(D, D)])).starts_with("types: of"));
        assert!(rule(row(Format::Unary)).starts_with("types: a format with data"));
        assert!(rule(typed(Format::Send)).starts_with("types: a format without"));
        assert!(
            rule(row(Format::Unary).types(GEN9, [(D, types::NO_TYPE)]))
                .starts_with("types: a comb")
        );
        assert!(rule(row(Format::Send).with(SAT)).starts_with("sat"));
        assert!(rule(row(Format::Send).with(MODS)).starts_with("mods"));
        assert!(rule(typed(Format::Unary).with(MME)).starts_with("mme"));
        assert!(rule(typed(Format::Unary).with(BRANCH_CTRL)).starts_with("branch_ctrl"));
        assert!(rule(typed(Format::Math).with(COND)).starts_with("cond"));
    }
}
