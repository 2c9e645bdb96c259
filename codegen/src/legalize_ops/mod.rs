//! Expansion of IR operations that a platform lacks into operations that it has. All platforms lack
//! `switch` and `printf`.
//!
//! There is one mechanism. `rule` selects a rewrite by the target's features and an instruction's
//! opcode and types. A rewrite is a function from an instruction to its results; there is a file
//! per family. The result of a rewrite may be expanded further. A rule states how many lanes it
//! handles at a time, since predicates are limited and long sequences need GRFs. Wider operations
//! are done in parts. Moves, selects, logic and sums of 64-bit integers are not expanded here: the
//! legalizer splits them into dwords.
//!
//! Predicates of more lanes than a flag has are split first (`predicates.rs`).
//!
//! Rules that compute with floats use the function's own rounding and denormal modes.
//!
//! Input: verified IR after inlining. Output: IR in which every operation has a lowering on the
//! target. Otherwise there is an error that names the operation.

mod divide;
mod exact;
mod floats;
mod ints;
mod jump_table;
mod lanes;
mod predicates;
mod printf;
mod small_floats;
mod switch;
mod wide;

pub(crate) use jump_table::is_table;

use crate::error::CodegenError;
use crate::ir::{
    BlockInsts, FloatCC, FloatControls, Function, Inst, InstData, IntCC, Module, Opcode, Region,
    Scalar, Signature, SourceLoc, Type, Types, Value, result_types,
};
use crate::target::Target;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use gantry_isa_gen as isa;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// Values that replace an instruction's results.
type Results = SmallVec<[Value; 2]>;

/// Rewrite of an instruction.
#[derive(Clone, Copy)]
struct Rule {
    /// Appends the replacement and returns its results.
    rewrite: fn(&mut Expander<'_>, Inst) -> Results,
    /// Maximal lanes at a time.
    lanes: u32,
}

impl Rule {
    /// Makes a rule for any number of lanes.
    fn whole(rewrite: fn(&mut Expander<'_>, Inst) -> Results) -> Rule {
        let lanes = u32::MAX;
        Rule { rewrite, lanes }
    }

    /// Makes a rule for as many lanes as a flag has.
    fn masked(rewrite: fn(&mut Expander<'_>, Inst) -> Results) -> Rule {
        let lanes = Type::FLAG_LANES;
        Rule { rewrite, lanes }
    }

    /// Makes a rule for long sequences, which handle eight lanes at a time.
    fn long(rewrite: fn(&mut Expander<'_>, Inst) -> Results) -> Rule {
        Rule { rewrite, lanes: 8 }
    }
}

/// Expands the operations that the target lacks. Borrows the function if there are none. `float`
/// gives the float modes: a subroutine has those of its kernel. With `tables`, a `switch` with
/// dense cases becomes a jump by a table.
///
/// # Errors
/// An operation that the target lacks and that has no rule.
pub fn expand<'f>(
    module: &Module,
    func: Cow<'f, Function>,
    float: FloatControls,
    target: &Target,
    tables: bool,
) -> Result<Cow<'f, Function>, CodegenError> {
    let mut func = func;
    if predicates::has_long(&func) {
        let mut e = Expander::new(func.into_owned(), float, target);
        predicates::split(&mut e);
        func = Cow::Owned(e.func);
    }
    let mut needed = false;
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            check_supported(&func, inst, target)?;
            needed |= rule(&func, inst, target).is_some();
            needed |= matches!(
                func.dfg.data(inst).opcode(),
                Opcode::Switch | Opcode::Printf
            );
        }
    }
    if !needed {
        return Ok(func);
    }
    let mut e = Expander::new(func.into_owned(), float, target);
    e.tables = tables;
    for block in e.func.layout.blocks().to_vec() {
        for inst in std::mem::take(e.func.layout.insts_mut(block)) {
            e.loc = e.func.srclocs[inst];
            match rule(&e.func, inst, target) {
                None if e.switch(inst) || e.printf(module, inst) => {}
                None => e.out.push(inst),
                Some(rule) => e.replace_inst(inst, rule),
            }
        }
        *e.func.layout.insts_mut(block) = std::mem::take(&mut e.out);
    }
    e.rename();
    Ok(Cow::Owned(e.func))
}

/// Returns the rule that expands an operation on a vector of 64-bit integers that the target's ALU
/// lacks. `None` for divisions and other operations.
fn qword_rule(func: &Function, inst: Inst, target: &Target) -> Option<Rule> {
    let dfg = &func.dfg;
    let result = dfg.ty(dfg.first_result(inst)?);
    if result.lanes() == 1 {
        return None;
    }
    let data = dfg.data(inst);
    let mut from = None;
    data.for_each_arg(dfg, |v| from = from.or(Some(dfg.ty(v).scalar())));
    let (from, to) = (from?, result.scalar());
    if from != Scalar::I64 && to != Scalar::I64 {
        return None;
    }
    let opcode = data.opcode();
    ints::rule(opcode, from, target).or_else(|| wide::rule(opcode, from, to))
}

/// Returns true if [`expand_qwords`] would expand an operation.
pub(crate) fn has_qwords_to_expand(func: &Function, target: &Target) -> bool {
    let mut blocks = func.layout.blocks().iter();
    blocks.any(|&b| {
        let mut insts = func.layout.insts(b).iter();
        insts.any(|&i| qword_rule(func, i, target).is_some())
    })
}

/// Expands operations on vectors of 64-bit integers that the target's ALU lacks, except for
/// divisions. Returns the number of instructions that were expanded.
pub(crate) fn expand_qwords(func: &mut Function, float: FloatControls, target: &Target) -> u32 {
    if !has_qwords_to_expand(func, target) {
        return 0;
    }
    let blocks = func.layout.blocks().to_vec();
    let empty = Function::new("", func.kind, Signature::default());
    let mut e = Expander::new(std::mem::replace(func, empty), float, target);
    let mut done = 0;
    for block in blocks {
        for inst in std::mem::take(e.func.layout.insts_mut(block)) {
            e.loc = e.func.srclocs[inst];
            match qword_rule(&e.func, inst, target) {
                None => e.out.push(inst),
                Some(rule) => {
                    e.replace_inst(inst, rule);
                    done += 1;
                }
            }
        }
        *e.func.layout.insts_mut(block) = std::mem::take(&mut e.out);
    }
    e.rename();
    *func = e.func;
    done
}

/// Returns an error for an operation that the target lacks and no rule expands.
fn check_supported(func: &Function, inst: Inst, target: &Target) -> Result<(), CodegenError> {
    let data = func.dfg.data(inst);
    let result = func.dfg.first_result(inst).map(|v| func.dfg.ty(v));
    if let (InstData::Atomic { op, .. }, Some(ty)) = (data, result)
        && ty.scalar().bits() == 16
        && !target.features().word_atomics
    {
        return Err(CodegenError::Unsupported {
            function: func.name.clone(),
            what: format!(
                "`atomic` {} of {ty} ({} has no atomics of words)",
                op.name(),
                target.name()
            ),
            at: None,
            origin: func.srclocs[inst].into(),
        });
    }
    if target.features().native_f64 || !computes(data.opcode()) {
        return Ok(());
    }
    let mut double = None;
    let mut look = |v: Value| {
        if func.dfg.has_value(v) && func.dfg.ty(v).scalar() == Scalar::F64 {
            double = Some(func.dfg.ty(v));
        }
    };
    data.for_each_arg(&func.dfg, &mut look);
    func.dfg.results(inst).iter().copied().for_each(&mut look);
    match double {
        None => Ok(()),
        Some(ty) => Err(CodegenError::Unsupported {
            function: func.name.clone(),
            what: format!(
                "`{}` of {ty} ({} has no double floats)",
                data.opcode().name(),
                target.name()
            ),
            at: None,
            origin: func.srclocs[inst].into(),
        }),
    }
}

/// Returns true if an opcode does more than move the bytes of its operands.
fn computes(op: Opcode) -> bool {
    !matches!(
        op,
        Opcode::Undef
            | Opcode::Fconst
            | Opcode::Vconst
            | Opcode::Bitcast
            | Opcode::Select
            | Opcode::Rdregion
            | Opcode::Shuffle
            | Opcode::Wrregion
            | Opcode::Load
            | Opcode::Store
            | Opcode::Bload
            | Opcode::Bstore
            | Opcode::Atomic
            | Opcode::Call
            | Opcode::Jump
            | Opcode::Brif
            | Opcode::Switch
            | Opcode::Printf
            | Opcode::Return
    )
}

/// Returns the rule for an instruction that the target lacks.
fn rule(func: &Function, inst: Inst, target: &Target) -> Option<Rule> {
    let f = target.features();
    let data = func.dfg.data(inst);
    let opcode = data.opcode();
    let result = func.dfg.first_result(inst).map(|v| func.dfg.ty(v).scalar());
    let mut first = None;
    data.for_each_arg(&func.dfg, |v| {
        first = first.or(Some(func.dfg.ty(v).scalar()));
    });
    if opcode == Opcode::Flrp && isa::Op::Lrp.info(target.platform()).is_none() {
        return Some(Rule::whole(flrp));
    }
    if opcode == Opcode::FdemoteBf16Rte && !f.bfloat {
        return Some(Rule::masked(floats::to_bfloat));
    }
    if let Some(rule) = small_floats::rule(opcode, target) {
        return Some(rule);
    }
    if let Some(rule) = lanes::rule(opcode) {
        return Some(rule);
    }
    let (from, to) = (first?, result?);
    ints::rule(opcode, from, target)
        .or_else(|| divide::rule(opcode, from, f.math_int_div))
        .or_else(|| floats::rule(opcode, from, to))
        .or_else(|| exact::rule(opcode, from))
        .or_else(|| {
            if f.math_div_pow {
                None
            } else {
                floats::without_math(opcode, from)
            }
        })
        .or_else(|| {
            let wide = from == Scalar::I64 || to == Scalar::I64;
            let sum = f.i64_sums && wide::is_sum(opcode, from, to);
            if !f.i64_alu && wide && !sum {
                wide::rule(opcode, from, to)
            } else {
                None
            }
        })
}

/// Returns `(1 - a) * c + a * b`, rounded as `lrp` does.
fn flrp(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [a, b, c] = e.args(inst);
    let one = e.float(e.ty(a), 1.0);
    let rest = e.bin(Opcode::Fsub, one, a);
    let rest = e.bin(Opcode::Fmul, rest, c);
    smallvec![e.ter(Opcode::Fma, a, b, rest)]
}

/// Expansion of one function, with builders for the rules.
struct Expander<'t> {
    func: Function,
    /// Rounding and denormal modes of its floats.
    float: FloatControls,
    target: &'t Target,
    /// True if dense cases of a `switch` become a jump table.
    tables: bool,
    /// Instructions of the current block.
    out: BlockInsts,
    /// Location of the instruction that is being rewritten; its replacement gets it.
    loc: SourceLoc,
    /// Replacements of results of rewritten instructions.
    replaced: SecondaryMap<Value, PackedOption<Value>>,
    /// Lower and upper part of each predicate of more lanes than a flag has.
    parts: [SecondaryMap<Value, PackedOption<Value>>; 2],
}

impl<'t> Expander<'t> {
    fn new(func: Function, float: FloatControls, target: &'t Target) -> Self {
        Expander {
            float,
            func,
            target,
            tables: false,
            out: BlockInsts::new(),
            loc: SourceLoc::NONE,
            replaced: SecondaryMap::new(),
            parts: [SecondaryMap::new(), SecondaryMap::new()],
        }
    }

    /// Rewrites an instruction and records the replacements of its results.
    fn replace_inst(&mut self, inst: Inst, rule: Rule) {
        let new = self.rewrite(inst, rule);
        let old: Results = self.func.dfg.results(inst).iter().copied().collect();
        for (old, new) in old.into_iter().zip(new) {
            self.replaced[old] = new.into();
        }
    }

    /// Returns the replacement of an instruction's results. It is made at once, or in parts of as
    /// many lanes as the rule allows.
    fn rewrite(&mut self, inst: Inst, rule: Rule) -> Results {
        let ty = self.result(inst);
        if ty.lanes() <= rule.lanes {
            return (rule.rewrite)(self, inst);
        }
        let types: SmallVec<[Type; 2]> = self
            .func
            .dfg
            .results(inst)
            .iter()
            .map(|&v| self.ty(v))
            .collect();
        let opcode = Opcode::Undef;
        let mut out: Results = types
            .iter()
            .map(|&t| self.one(InstData::Nullary { opcode }, Some(t)))
            .collect();
        let mut args: SmallVec<[Value; 4]> = SmallVec::new();
        let dfg = &self.func.dfg;
        dfg.data(inst).for_each_arg(dfg, |v| args.push(v));
        let mut first = 0;
        while first < ty.lanes() {
            let lanes = (ty.lanes() - first).min(rule.lanes);
            let parts: SmallVec<[Value; 4]> =
                args.iter().map(|&a| self.part(a, first, lanes)).collect();
            let mut parts = parts.into_iter();
            let mut data = *self.func.dfg.data(inst);
            data.map_args(&mut self.func.dfg, |v| parts.next().unwrap_or(v));
            let new = self.push(data, Some(ty.by(lanes)));
            for (out, new) in out.iter_mut().zip(new) {
                *out = self.with_part(*out, new, first);
            }
            first += lanes;
        }
        out
    }

    /// Reads lanes of a vector or predicate.
    fn part(&mut self, arg: Value, first: u32, lanes: u32) -> Value {
        let of = self.ty(arg);
        if !of.is_pred() {
            let at = first * of.scalar().bytes();
            return self.region(
                of.by(lanes),
                arg,
                Region::contiguous(lanes as u16, at as u16),
            );
        }
        self.rdpred(arg, first, lanes)
    }

    /// Reads lanes of a predicate.
    fn rdpred(&mut self, arg: Value, first: u32, lanes: u32) -> Value {
        let data = InstData::RdPred {
            opcode: Opcode::Rdpred,
            arg,
            offset: first as u8,
        };
        let ty = self.ty(arg).by(lanes);
        self.one(data, Some(ty))
    }

    /// Replaces lanes of a predicate.
    fn wrpred(&mut self, old: Value, new: Value, first: u32) -> Value {
        let data = InstData::WrPred {
            opcode: Opcode::Wrpred,
            args: [old, new],
            offset: first as u8,
        };
        self.one(data, None)
    }

    /// Replaces lanes of a vector or predicate from `first` on.
    fn with_part(&mut self, old: Value, new: Value, first: u32) -> Value {
        let of = self.ty(new);
        if !of.is_pred() {
            let at = first * of.scalar().bytes();
            return self.replace(old, new, Region::contiguous(of.lanes() as u16, at as u16));
        }
        self.wrpred(old, new, first)
    }

    fn ty(&self, v: Value) -> Type {
        self.func.dfg.ty(v)
    }

    /// Returns the first operands of an instruction. Missing ones are a placeholder that rules do
    /// not read.
    fn args<const N: usize>(&self, inst: Inst) -> [Value; N] {
        let mut args: SmallVec<[Value; 4]> = SmallVec::new();
        let dfg = &self.func.dfg;
        dfg.data(inst).for_each_arg(dfg, |v| args.push(v));
        let none = Value::from_u32(0);
        std::array::from_fn(|n| args.get(n).copied().unwrap_or(none))
    }

    /// Returns the type of an instruction's first result.
    fn result(&self, inst: Inst) -> Type {
        let v = self.func.dfg.first_result(inst);
        v.map_or(Type::scalar_of(Scalar::I32), |v| self.ty(v))
    }

    /// Appends an instruction, or its expansion.
    fn push(&mut self, data: InstData, ctrl: Option<Type>) -> Results {
        let dfg = &self.func.dfg;
        let mut args: SmallVec<[Type; 4]> = SmallVec::new();
        data.for_each_arg(dfg, |v| args.push(dfg.ty(v)));
        let arg = |n: usize| args.get(n).copied();
        let types = result_types(data.opcode(), ctrl, arg, |_| Types::new(), &data);
        let inst = self.func.dfg.make_inst(data, &types);
        self.func.set_srcloc(inst, self.loc);
        match rule(&self.func, inst, self.target) {
            Some(rule) => self.rewrite(inst, rule),
            None => {
                self.out.push(inst);
                self.func.dfg.results(inst).iter().copied().collect()
            }
        }
    }

    fn one(&mut self, data: InstData, ctrl: Option<Type>) -> Value {
        let results = self.push(data, ctrl);
        results.first().copied().unwrap_or(Value::from_u32(0))
    }

    fn un(&mut self, opcode: Opcode, arg: Value) -> Value {
        self.one(InstData::Unary { opcode, arg }, None)
    }

    /// Appends a conversion to a type.
    fn to(&mut self, opcode: Opcode, ty: Type, arg: Value) -> Value {
        self.one(InstData::Unary { opcode, arg }, Some(ty))
    }

    fn bin(&mut self, opcode: Opcode, a: Value, b: Value) -> Value {
        let args = [a, b];
        self.one(InstData::Binary { opcode, args }, None)
    }

    fn ter(&mut self, opcode: Opcode, a: Value, b: Value, c: Value) -> Value {
        let args = [a, b, c];
        self.one(InstData::Ternary { opcode, args }, None)
    }

    fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.ter(Opcode::Select, mask, a, b)
    }

    fn icmp(&mut self, cond: IntCC, a: Value, b: Value) -> Value {
        let (opcode, args) = (Opcode::Icmp, [a, b]);
        self.one(InstData::IntCompare { opcode, cond, args }, None)
    }

    fn fcmp(&mut self, cond: FloatCC, a: Value, b: Value) -> Value {
        let (opcode, args) = (Opcode::Fcmp, [a, b]);
        self.one(InstData::FloatCompare { opcode, cond, args }, None)
    }

    /// Returns an integer in every lane, truncated to the lane width.
    fn int(&mut self, ty: Type, value: i64) -> Value {
        let (opcode, bits) = (Opcode::Iconst, value as u64 & ty.scalar().mask());
        self.one(InstData::Imm { opcode, bits }, Some(ty))
    }

    /// Returns an f32 or f64 number in every lane; the number must be exact in the type.
    fn float(&mut self, ty: Type, value: f64) -> Value {
        let bits = match ty.scalar() {
            Scalar::F64 => value.to_bits(),
            _ => u64::from((value as f32).to_bits()),
        };
        let opcode = Opcode::Fconst;
        self.one(InstData::Imm { opcode, bits }, Some(ty))
    }

    /// Casts the bytes to another scalar type.
    fn cast(&mut self, scalar: Scalar, v: Value) -> Value {
        let ty = self.ty(v).with_scalar(scalar).unwrap_or(self.ty(v));
        self.to(Opcode::Bitcast, ty, v)
    }

    fn region(&mut self, ty: Type, arg: Value, region: Region) -> Value {
        let opcode = Opcode::Rdregion;
        let index = PackedOption::default();
        let data = InstData::RdRegion {
            opcode,
            arg,
            region,
            index,
        };
        self.one(data, Some(ty))
    }

    fn replace(&mut self, old: Value, new: Value, region: Region) -> Value {
        let data = InstData::WrRegion {
            opcode: Opcode::Wrregion,
            args: [old, new],
            region,
            index: PackedOption::default(),
            mask: PackedOption::default(),
        };
        self.one(data, None)
    }

    /// Replaces uses of the results of rewritten instructions.
    fn rename(&mut self) {
        self.func.rename_by(&mut self.replaced);
    }
}
