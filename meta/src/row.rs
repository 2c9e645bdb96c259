//! The row DSL: an instruction, its format, and a column per generation. Rows validate as they are built.

use crate::generation::Generation;
use crate::types::TypeSet;
use std::fmt;
use std::panic::Location;

/// How an instruction's operands are laid out and written. The layouts of a generation map each of these to bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Format {
    /// No operands: `nop`, `illegal`.
    Nullary,
    /// Destination and one source.
    Unary,
    /// Destination and two sources, the second may be an immediate.
    Binary,
    /// `math.FN`: one or two sources, as the function says.
    Math,
    /// Destination and three sources.
    Ternary,
    /// `wait`: a notification register, which is also the destination.
    Wait,
    /// `send`: destination, one payload, two descriptors.
    Send,
    /// `sends`: destination, two payloads, two descriptors.
    SplitSend,
    /// `jmpi`: a scalar jump, by an offset from the next instruction or a register.
    Jmpi,
    /// A branch with JIP only.
    BranchJip,
    /// A branch with JIP and UIP.
    BranchJipUip,
    /// `brd`: JIP or a register.
    BranchRegJip,
    /// `brc`: JIP and UIP or a register.
    BranchRegJipUip,
    /// `call`, `calla`: a return address register and a target.
    Call,
    /// `ret`: a return address register.
    Ret,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 15] = [
        Format::Nullary,
        Format::Unary,
        Format::Binary,
        Format::Math,
        Format::Ternary,
        Format::Wait,
        Format::Send,
        Format::SplitSend,
        Format::Jmpi,
        Format::BranchJip,
        Format::BranchJipUip,
        Format::BranchRegJip,
        Format::BranchRegJipUip,
        Format::Call,
        Format::Ret,
    ];

    /// One line on what it is, for generated documentation.
    pub const fn doc(self) -> &'static str {
        match self {
            Format::Nullary => "No operands: `nop`, `illegal`.",
            Format::Unary => "Destination and one source.",
            Format::Binary => "Destination and two sources, the second may be an immediate.",
            Format::Math => "`math.FN`: one or two sources, as the function says.",
            Format::Ternary => "Destination and three sources.",
            Format::Wait => "`wait`: a notification register, which is also the destination.",
            Format::Send => "`send`: destination, one payload, two descriptors.",
            Format::SplitSend => "`sends`: destination, two payloads, two descriptors.",
            Format::Jmpi => "`jmpi`: a scalar jump, by an offset or a register.",
            Format::BranchJip => "A branch with JIP only.",
            Format::BranchJipUip => "A branch with JIP and UIP.",
            Format::BranchRegJip => "`brd`: JIP or a register.",
            Format::BranchRegJipUip => "`brc`: JIP and UIP, or a register.",
            Format::Call => "`call`, `calla`: a return address register and a target.",
            Format::Ret => "`ret`: a return address register.",
        }
    }

    /// Whether the text form has a destination.
    pub const fn has_dst(self) -> bool {
        matches!(
            self,
            Format::Unary
                | Format::Binary
                | Format::Math
                | Format::Ternary
                | Format::Send
                | Format::SplitSend
                | Format::Call
        )
    }

    /// Whether this is a branch of any kind.
    pub const fn is_branch(self) -> bool {
        matches!(
            self,
            Format::Jmpi
                | Format::BranchJip
                | Format::BranchJipUip
                | Format::BranchRegJip
                | Format::BranchRegJipUip
                | Format::Call
                | Format::Ret
        )
    }

    /// Whether operands are typed data, so that a row of it must list type combinations.
    pub const fn has_types(self) -> bool {
        matches!(
            self,
            Format::Unary | Format::Binary | Format::Math | Format::Ternary | Format::Wait
        )
    }

    /// Number of sources in the text form (`math`: the most).
    pub const fn sources(self) -> u8 {
        match self {
            Format::Nullary => 0,
            Format::Unary
            | Format::Wait
            | Format::Send
            | Format::Jmpi
            | Format::BranchJip
            | Format::BranchRegJip
            | Format::Call
            | Format::Ret => 1,
            Format::Binary
            | Format::Math
            | Format::SplitSend
            | Format::BranchJipUip
            | Format::BranchRegJipUip => 2,
            Format::Ternary => 3,
        }
    }
}

/// What one generation says about an instruction. Built by [`op`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// Opcode number, 7 bits.
    pub opcode: u8,
    /// Allowed types: destination set, source set.
    pub types: Vec<(TypeSet, TypeSet)>,
    /// May be predicated.
    pub pred: bool,
    /// May have a flag modifier.
    pub cond: bool,
    /// May saturate.
    pub sat: bool,
    /// Sources may be negated and made absolute (on bitwise operations: inverted).
    pub mods: bool,
    /// May write the accumulator too (`{AccWrEn}`).
    pub acc: bool,
    /// Has the branch control `.b`.
    pub branch_ctrl: bool,
    /// A bitwise operation: a negated source is written `~`.
    pub bitwise: bool,
    /// Operands carry special accumulators (`mme`).
    pub mme: bool,
}

/// A column with an opcode number and nothing allowed.
pub const fn op(opcode: u8) -> Column {
    Column {
        opcode,
        types: Vec::new(),
        pred: false,
        cond: false,
        sat: false,
        mods: false,
        acc: false,
        branch_ctrl: false,
        bitwise: false,
        mme: false,
    }
}

impl Column {
    /// Adds allowed type combinations, destination set first.
    pub fn types(mut self, combos: impl IntoIterator<Item = (TypeSet, TypeSet)>) -> Self {
        self.types.extend(combos);
        self
    }
    /// May be predicated.
    pub fn pred(mut self) -> Self {
        self.pred = true;
        self
    }
    /// May have a flag modifier.
    pub fn cond(mut self) -> Self {
        self.cond = true;
        self
    }
    /// May saturate.
    pub fn sat(mut self) -> Self {
        self.sat = true;
        self
    }
    /// Sources may have modifiers.
    pub fn mods(mut self) -> Self {
        self.mods = true;
        self
    }
    /// May write the accumulator too.
    pub fn acc(mut self) -> Self {
        self.acc = true;
        self
    }
    /// Has the branch control `.b`.
    pub fn branch_ctrl(mut self) -> Self {
        self.branch_ctrl = true;
        self
    }
    /// A bitwise operation.
    pub fn bitwise(mut self) -> Self {
        self.bitwise = true;
        self
    }
    /// Operands carry special accumulators.
    pub fn mme(mut self) -> Self {
        self.mme = true;
        self
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#04x}", self.opcode)?;
        for (on, name) in [
            (self.pred, "pred"),
            (self.cond, "cond"),
            (self.sat, "sat"),
            (self.mods, "mods"),
            (self.acc, "acc"),
            (self.branch_ctrl, ".b"),
            (self.mme, "mme"),
        ] {
            if on {
                write!(f, " {name}")?;
            }
        }
        for (i, (d, s)) in self.types.iter().enumerate() {
            write!(f, "{} {d} <- {s}", if i == 0 { " :" } else { ";" })?;
        }
        Ok(())
    }
}

/// One instruction form: what it is called, how it is laid out, and a column per generation that has it.
///
/// ```
/// use gantry_meta::row::{Format, Row, op};
/// use gantry_meta::{Generation::Gen9, types::UD};
/// let row = Row::new("lzd", "Counts leading zeros.", Format::Unary)
///     .on([Gen9], op(0x4A).types([(UD, UD)]).pred())
///     .build()?;
/// assert_eq!(row.to_string(), "lzd      Unary          Gen9: 0x4a pred : ud <- ud");
/// let bad = Row::new("lzd", "Counts leading zeros.", Format::Unary).on([Gen9], op(0x4A)).build();
/// assert!(bad.unwrap_err().to_string().contains("must list its type combinations"));
/// # Ok::<(), gantry_meta::RowError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The name in assembly text.
    pub mnemonic: &'static str,
    /// What it does, a sentence.
    pub doc: &'static str,
    /// Operand format.
    pub format: Format,
    /// One entry per [`Generation::ALL`].
    pub columns: [Option<Column>; Generation::ALL.len()],
    /// Where the row was written.
    pub at: &'static Location<'static>,
    duplicate: Option<Generation>,
}

impl Row {
    /// A row without columns.
    #[track_caller]
    pub fn new(mnemonic: &'static str, doc: &'static str, format: Format) -> Self {
        Row {
            mnemonic,
            doc,
            format,
            columns: [const { None }; Generation::ALL.len()],
            at: Location::caller(),
            duplicate: None,
        }
    }

    /// Gives the generations listed this column.
    pub fn on(mut self, gens: impl IntoIterator<Item = Generation>, column: Column) -> Self {
        for g in gens {
            if let Some(slot) = self.columns.get_mut(g.index())
                && slot.replace(column.clone()).is_some()
            {
                self.duplicate = Some(g);
            }
        }
        self
    }

    /// The name of the enum variant: the mnemonic with a capital.
    pub fn variant(&self) -> String {
        capital(self.mnemonic)
    }

    /// The row, if it keeps every rule.
    pub fn build(self) -> Result<Row, RowError> {
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
        if self.duplicate.is_some() {
            return fail("column: a generation may have only one");
        }
        if self.columns.iter().all(Option::is_none) {
            return fail("column: some generation must have the instruction");
        }
        for c in self.columns.iter().flatten() {
            if c.opcode > 0x7f {
                return fail("opcode: must fit 7 bits");
            }
            if self.format.has_types() && c.types.is_empty() {
                return fail("types: a format with data operands must list its type combinations");
            }
            if !self.format.has_types() && !c.types.is_empty() {
                return fail("types: a format without data operands has no type combinations");
            }
            if c.types.iter().any(|(d, s)| d.is_empty() || s.is_empty()) {
                return fail("types: a combination needs a destination and a source type");
            }
            if (c.sat || c.acc) && !(self.format.has_types() && self.format.has_dst()) {
                return fail("sat, acc: only a format with a data destination has them");
            }
            if c.mods && !self.format.has_types() {
                return fail("mods: only a format with data sources has them");
            }
            if c.mme && self.format != Format::Ternary {
                return fail(
                    "mme: of a row, only a three-source one (math functions have their own)",
                );
            }
            if c.branch_ctrl && !self.format.is_branch() {
                return fail("branch_ctrl: only a branch has it");
            }
            if c.branch_ctrl && c.acc {
                return fail("branch_ctrl: shares its bit with acc");
            }
            if c.cond && self.format == Format::Math {
                return fail("cond: shares its bits with the math function");
            }
        }
        Ok(self)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<8} {:<14}",
            self.mnemonic,
            format!("{:?}", self.format)
        )?;
        for (g, c) in Generation::ALL.iter().zip(&self.columns) {
            if let Some(c) = c {
                write!(f, " {g}: {c}")?;
            }
        }
        Ok(())
    }
}

/// One function of `math`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MathRow {
    /// The name after `math.`.
    pub name: &'static str,
    /// What it computes, a sentence.
    pub doc: &'static str,
    /// Number of sources.
    pub sources: u8,
    /// Whether operands carry a special accumulator (`mme`).
    pub is_macro: bool,
    /// Allowed types, destination and source.
    pub types: Vec<(TypeSet, TypeSet)>,
    /// The function's number per generation.
    pub codes: [Option<u8>; Generation::ALL.len()],
    /// Where the row was written.
    pub at: &'static Location<'static>,
}

impl MathRow {
    /// A function with its number of sources and types, in no generation yet.
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

    /// Operands carry a special accumulator.
    pub fn with_mme(mut self) -> Self {
        self.is_macro = true;
        self
    }

    /// Gives the generations listed this function number.
    pub fn on(mut self, gens: impl IntoIterator<Item = Generation>, code: u8) -> Self {
        for g in gens {
            if let Some(slot) = self.codes.get_mut(g.index()) {
                *slot = Some(code);
            }
        }
        self
    }

    /// The name of the enum variant.
    pub fn variant(&self) -> String {
        capital(self.name)
    }

    /// The row, if it keeps every rule.
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

/// A row that breaks a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowError {
    /// The row's mnemonic.
    pub row: &'static str,
    /// Where it was written.
    pub at: &'static Location<'static>,
    /// The rule, as `what: why`.
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
    use crate::types::*;
    use Generation::Gen9;

    fn rule(r: Row) -> &'static str {
        r.build().expect_err("breaks a rule").rule
    }

    #[test]
    fn every_rule_is_named_when_broken() {
        let row = |f| Row::new("x", "Does.", f);
        assert!(
            rule(Row::new("X!", "Does.", Format::Nullary).on([Gen9], op(0)))
                .starts_with("mnemonic")
        );
        assert!(rule(Row::new("x", "Does", Format::Nullary).on([Gen9], op(0))).starts_with("doc"));
        assert!(rule(row(Format::Nullary)).starts_with("column: some"));
        assert!(
            rule(row(Format::Nullary).on([Gen9], op(0)).on([Gen9], op(1)))
                .starts_with("column: a gen")
        );
        assert!(rule(row(Format::Nullary).on([Gen9], op(0x80))).starts_with("opcode"));
        assert!(rule(row(Format::Send).on([Gen9], op(1).types([(D, D)]))).starts_with("types"));
        assert!(rule(row(Format::Unary).on([Gen9], op(1).types([(D, NONE)]))).starts_with("types"));
        assert!(rule(row(Format::Send).on([Gen9], op(1).sat())).starts_with("sat"));
        assert!(rule(row(Format::Send).on([Gen9], op(1).mods())).starts_with("mods"));
        assert!(
            rule(row(Format::Unary).on([Gen9], op(1).types([(D, D)]).branch_ctrl()))
                .starts_with("branch_ctrl")
        );
        assert!(
            rule(row(Format::Math).on([Gen9], op(1).types([(D, D)]).cond())).starts_with("cond")
        );
    }
}
