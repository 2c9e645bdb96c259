//! Operations that a platform lacks, rewritten in the IR by operations that it has.
//!
//! One mechanism: [`rule`] says, from the target's features and an instruction's opcode and types, whether and how it is rewritten; the rules are
//! functions from an instruction to its results, a file a family. What a rule makes may be rewritten in its turn. Moves, selects, logic
//! and sums of 64-bit integers are not here: the legalizer takes them apart by doublewords.
//!
//! Needs: IR that verifies, without calls. Makes: IR of which every operation has a lowering on the target, or an error that names what has none.

mod wide;

use crate::ir::{
    FloatCC, Function, Inst, InstData, IntCC, Opcode, Region, Scalar, Type, Value, result_types,
};
use crate::result::CodegenError;
use crate::target::Target;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use gantry_isa_gen as isa;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// The values that take the place of an instruction's results.
type Results = SmallVec<[Value; 2]>;

/// How an instruction is rewritten.
type Rule = fn(&mut Expander<'_>, Inst) -> Results;

/// The function with what the target lacks rewritten, or the function itself where it lacks nothing.
///
/// # Errors
/// An operation that the target lacks and that has no rule.
pub fn expand<'f>(
    func: Cow<'f, Function>,
    target: &Target,
) -> Result<Cow<'f, Function>, CodegenError> {
    let mut needed = false;
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            lacks(&func, inst, target)?;
            needed |= rule(&func, inst, target).is_some();
        }
    }
    if !needed {
        return Ok(func);
    }
    let mut e = Expander {
        func: func.into_owned(),
        target,
        out: Vec::new(),
        replaced: SecondaryMap::new(),
    };
    for block in e.func.layout.blocks().to_vec() {
        for inst in std::mem::take(e.func.layout.insts_mut(block)) {
            match rule(&e.func, inst, target) {
                None => e.out.push(inst),
                Some(rewrite) => {
                    let new = rewrite(&mut e, inst);
                    let old: Results = e.func.dfg.results(inst).iter().copied().collect();
                    for (old, new) in old.into_iter().zip(new) {
                        e.replaced[old] = new.into();
                    }
                }
            }
        }
        *e.func.layout.insts_mut(block) = std::mem::take(&mut e.out);
    }
    e.rename();
    Ok(Cow::Owned(e.func))
}

/// Refuses what no rule rewrites.
fn lacks(func: &Function, inst: Inst, target: &Target) -> Result<(), CodegenError> {
    let data = func.dfg.data(inst);
    if target.features().native_f64 || !computes(data.opcode()) {
        return Ok(());
    }
    let mut double = None;
    let mut look = |v: Value| {
        if func.dfg.has_value(v) && func.dfg.ty(v).scalar() == Scalar::F64 {
            double = Some(func.dfg.ty(v));
        }
    };
    data.for_each_arg(&func.dfg.pool, &mut look);
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
        }),
    }
}

/// Whether an opcode does more to its operands than to move their bytes.
fn computes(op: Opcode) -> bool {
    !matches!(
        op,
        Opcode::Undef
            | Opcode::Fconst
            | Opcode::Vconst
            | Opcode::Bitcast
            | Opcode::Select
            | Opcode::Rdregion
            | Opcode::Wrregion
            | Opcode::Load
            | Opcode::Store
            | Opcode::Bload
            | Opcode::Bstore
            | Opcode::Atomic
            | Opcode::Call
            | Opcode::Jump
            | Opcode::Brif
            | Opcode::Return
    )
}

/// The rule for an instruction that the target cannot do as it stands.
fn rule(func: &Function, inst: Inst, target: &Target) -> Option<Rule> {
    let f = target.features();
    let data = func.dfg.data(inst);
    let opcode = data.opcode();
    let mut scalar = func.dfg.first_result(inst).map(|v| func.dfg.ty(v).scalar());
    let mut first = None;
    data.for_each_arg(&func.dfg.pool, |v| {
        first = first.or(Some(func.dfg.ty(v).scalar()));
    });
    if opcode == Opcode::Flrp && isa::Op::Lrp.info(target.platform()).is_none() {
        return Some(flrp);
    }
    // Compares and conversions are of their operand's type.
    if let Some(Scalar::I64) = first {
        scalar = first;
    }
    if scalar == Some(Scalar::I64) && !f.native_i64 {
        let lanes = func
            .dfg
            .first_result(inst)
            .map_or(1, |v| func.dfg.ty(v).lanes());
        let rule = wide::rule(opcode)?;
        return Some(if lanes > Type::MAX_PRED_LANES {
            by_parts
        } else {
            rule
        });
    }
    None
}

/// The same operation on as many lanes at a time as a predicate has, since its rule makes predicates.
fn by_parts(e: &mut Expander<'_>, inst: Inst) -> Results {
    let ty = e.result(inst);
    let opcode = Opcode::Undef;
    let mut out = e.one(InstData::Nullary { opcode }, Some(ty));
    let mut args: SmallVec<[Value; 4]> = SmallVec::new();
    let dfg = &e.func.dfg;
    dfg.data(inst).for_each_arg(&dfg.pool, |v| args.push(v));
    let mut first = 0;
    while first < ty.lanes() {
        let lanes = (ty.lanes() - first).min(Type::MAX_PRED_LANES);
        let part = |of: Type| {
            let at = first * of.scalar().bytes();
            Region::contiguous(lanes as u16, at as u16)
        };
        let parts: SmallVec<[Value; 4]> = args
            .iter()
            .map(|&a| {
                let of = e.ty(a);
                e.region(of.by(lanes), a, part(of))
            })
            .collect();
        let mut parts = parts.into_iter();
        let mut data = *e.func.dfg.data(inst);
        data.map_args(&mut e.func.dfg.pool, |v| parts.next().unwrap_or(v));
        let new = e.one(data, Some(ty.by(lanes)));
        out = e.replace(out, new, part(ty));
        first += lanes;
    }
    smallvec![out]
}

/// `(1 - a) * c + a * b` by two multiplications with addition.
fn flrp(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [a, b, c] = e.args(inst);
    let minus = e.un(Opcode::Fneg, a);
    let rest = e.ter(Opcode::Fma, minus, c, c);
    smallvec![e.ter(Opcode::Fma, a, b, rest)]
}

/// The state of rewriting one function: what the rules build with.
struct Expander<'t> {
    func: Function,
    target: &'t Target,
    /// The block being written.
    out: Vec<Inst>,
    /// What stands for results of rewritten instructions.
    replaced: SecondaryMap<Value, PackedOption<Value>>,
}

impl Expander<'_> {
    fn ty(&self, v: Value) -> Type {
        self.func.dfg.ty(v)
    }

    /// The first operands of an instruction; its first result where it has fewer, which a rule does not look at.
    fn args<const N: usize>(&self, inst: Inst) -> [Value; N] {
        let mut args: SmallVec<[Value; 4]> = SmallVec::new();
        let dfg = &self.func.dfg;
        dfg.data(inst).for_each_arg(&dfg.pool, |v| args.push(v));
        let none = Value::from_u32(0);
        std::array::from_fn(|n| args.get(n).copied().unwrap_or(none))
    }

    /// The type of an instruction's first result.
    fn result(&self, inst: Inst) -> Type {
        let v = self.func.dfg.first_result(inst);
        v.map_or(Type::scalar_of(Scalar::I32), |v| self.ty(v))
    }

    /// Appends an instruction, or what it is rewritten to.
    fn push(&mut self, data: InstData, ctrl: Option<Type>) -> Results {
        let dfg = &self.func.dfg;
        let mut args: SmallVec<[Type; 4]> = SmallVec::new();
        data.for_each_arg(&dfg.pool, |v| args.push(dfg.ty(v)));
        let arg = |n: usize| args.get(n).copied();
        let types = result_types(data.opcode(), ctrl, arg, |_| Vec::new(), &data);
        let inst = self.func.dfg.make_inst(data, &types);
        match rule(&self.func, inst, self.target) {
            Some(rewrite) => rewrite(self, inst),
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

    /// A conversion to a type.
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

    /// An integer in every lane; its low bits are taken.
    fn int(&mut self, ty: Type, value: i64) -> Value {
        let (opcode, bits) = (Opcode::Iconst, value as u64 & ty.scalar().mask());
        self.one(InstData::Imm { opcode, bits }, Some(ty))
    }

    /// A single float in every lane.
    fn single(&mut self, ty: Type, value: f32) -> Value {
        let (opcode, bits) = (Opcode::Fconst, u64::from(value.to_bits()));
        self.one(InstData::Imm { opcode, bits }, Some(ty))
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

    /// Puts what stands for results of rewritten instructions where they are used.
    fn rename(&mut self) {
        let replaced = &self.replaced;
        let last = |mut v: Value| {
            while let Some(next) = replaced[v].expand() {
                v = next;
            }
            v
        };
        for block in self.func.layout.blocks().to_vec() {
            for inst in self.func.layout.insts(block).to_vec() {
                self.func.dfg.map_args(inst, last);
            }
        }
    }
}
