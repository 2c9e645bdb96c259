//! Test of every rule of `../isle`: random instances of its pattern are compared with everything
//! that the rules make of them.
//!
//! ISLE's own parser reads the rules. An instance has random types, operands and constants where
//! the pattern leaves them open. Where a rule has conditions, instances are drawn until these hold.

use super::*;
use crate::fuzzing::Rng;
use crate::ir::opcode::{Format, Info};
use crate::ir::{Block, FloatCC, FuncKind, IntCC, Module, Param, Signature, verifier};
use crate::passes::{OptLevel, PassSet};
use crate::rule_coverage::OPT_RULES;
use crate::target::Target;
use cranelift_isle::ast::{Def, Pattern, Rule};
use std::collections::{BTreeMap, BTreeSet};

/// Binding of a pattern's variable.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Binding {
    Value(Value),
    Type(Type),
    Bits(u64),
    Region(Region),
    Cond(IntCC),
    Option(PackedOption<Value>),
}

/// Builder of an instance.
struct InstanceBuilder<'r> {
    rng: &'r mut Rng,
    func: Function,
    bound: BTreeMap<String, Binding>,
    insts: Vec<Inst>,
}

const INTS: [Scalar; 4] = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64];
const FLOATS: [Scalar; 2] = [Scalar::F16, Scalar::F32];

impl InstanceBuilder<'_> {
    /// Returns a value of unknown origin: a parameter, some of whose bits are masked now and then.
    fn leaf(&mut self, ty: Type) -> Value {
        let block = self.func.layout.entry().unwrap();
        let kind = crate::ir::ArgKind::Value;
        self.func.sig.params.push(Param::new(ty, kind));
        let v = self.func.dfg.append_block_param(block, ty);
        if !ty.scalar().is_int() || !self.rng.one_in(4) {
            return v;
        }
        let mask = ty.scalar().mask();
        let bits = mask >> (self.rng.bits() % u64::from(ty.scalar().bits()));
        let any = self.rng.bits();
        let bits = bits & self.rng.pick(&[mask, mask << 4, any]).unwrap_or(mask);
        let opcode = Opcode::Iconst;
        let mask = self.add(InstData::Imm { opcode, bits }, ty);
        let (opcode, args) = (Opcode::Band, [v, mask]);
        self.add(InstData::Binary { opcode, args }, ty)
    }

    /// Adds an instruction, and returns its result.
    fn add(&mut self, data: InstData, ty: Type) -> Value {
        let inst = self.func.dfg.make_inst(data, &[ty]);
        self.insts.push(inst);
        self.func.dfg.first_result(inst).unwrap()
    }

    fn lookup(&self, p: &Pattern) -> Option<Binding> {
        match p {
            Pattern::Var { var, .. } | Pattern::BindPattern { var, .. } => {
                self.bound.get(&var.0).copied()
            }
            _ => None,
        }
    }

    fn bind(&mut self, p: &Pattern, to: Binding) {
        match p {
            Pattern::Var { var, .. } => {
                self.bound.insert(var.0.clone(), to);
            }
            Pattern::BindPattern { var, subpat, .. } => {
                self.bound.insert(var.0.clone(), to);
                self.bind(subpat, to);
            }
            _ => {}
        }
    }

    /// Returns a value that a pattern matches.
    fn value(&mut self, p: &Pattern, ty: Type) -> Option<Value> {
        match p {
            Pattern::Wildcard { .. } => Some(self.leaf(ty)),
            Pattern::Var { var, .. } => match self.bound.get(&var.0) {
                Some(Binding::Value(v)) => (self.func.dfg.ty(*v) == ty).then_some(*v),
                Some(_) => None,
                None => {
                    let v = self.leaf(ty);
                    self.bind(p, Binding::Value(v));
                    Some(v)
                }
            },
            Pattern::BindPattern { var, subpat, .. } => {
                let v = self.value(subpat, ty)?;
                self.bound.insert(var.0.clone(), Binding::Value(v));
                Some(v)
            }
            Pattern::Term { sym, args, .. } => self.operation(&sym.0, args, ty),
            _ => None,
        }
    }

    fn operation(&mut self, name: &str, args: &[Pattern], ty: Type) -> Option<Value> {
        let info = Opcode::from_name(name)?.info();
        let opcode = info.opcode;
        let (of, rest) = args.split_first()?;
        match self.lookup(of) {
            Some(Binding::Type(known)) if known != ty => return None,
            _ => self.bind(of, Binding::Type(ty)),
        }
        let data = match info.format {
            Format::Imm => InstData::Imm {
                opcode,
                bits: self.bits(&rest[0], ty)?,
            },
            Format::Unary => {
                let from = self.from(info, ty)?;
                let arg = self.value(&rest[0], from)?;
                InstData::Unary { opcode, arg }
            }
            Format::Binary => {
                let from = self.from(info, ty)?;
                let args = [self.value(&rest[0], from)?, self.value(&rest[1], from)?];
                InstData::Binary { opcode, args }
            }
            Format::Ternary if opcode == Opcode::Select => {
                let mask = self.value(&rest[0], ty.with_scalar(Scalar::B1)?)?;
                let args = [mask, self.value(&rest[1], ty)?, self.value(&rest[2], ty)?];
                InstData::Ternary { opcode, args }
            }
            Format::Ternary => {
                let mut args = [Value::from_u32(0); 3];
                for (arg, p) in args.iter_mut().zip(rest) {
                    *arg = self.value(p, ty)?;
                }
                InstData::Ternary { opcode, args }
            }
            Format::IntCompare => {
                let cond = self.cond(&rest[0])?;
                let from = ty.with_scalar(self.rng.pick(&INTS)?)?;
                let from = self.known(rest, from);
                let args = [self.value(&rest[1], from)?, self.value(&rest[2], from)?];
                InstData::IntCompare { opcode, cond, args }
            }
            Format::FloatCompare => {
                let cond = match &rest[0] {
                    Pattern::ConstPrim { val, .. } if val.0.ends_with("FEQ") => FloatCC::Equal,
                    Pattern::ConstPrim { .. } => FloatCC::NotEqual,
                    _ => self.rng.pick(&FloatCC::ALL)?,
                };
                let from = ty.with_scalar(self.rng.pick(&FLOATS)?)?;
                let args = [self.value(&rest[1], from)?, self.value(&rest[2], from)?];
                InstData::FloatCompare { opcode, cond, args }
            }
            Format::RdRegion => {
                let lanes = 1 + self.rng.below(40);
                let mut from = ty.by(lanes);
                if let Some(Binding::Value(v)) = self.lookup(&rest[0]) {
                    from = self.func.dfg.ty(v);
                }
                if self.rng.one_in(3) {
                    from = ty;
                }
                let arg = self.value(&rest[0], from)?;
                let from = self.func.dfg.ty(arg);
                InstData::RdRegion {
                    opcode,
                    arg,
                    region: self.region(&rest[1], ty, from)?,
                    index: self.index(&rest[2])?,
                }
            }
            Format::WrRegion => {
                let lanes = 1 + self.rng.below(ty.lanes());
                let lanes = if self.rng.one_in(3) {
                    ty.lanes()
                } else {
                    lanes
                };
                let new = ty.by(lanes);
                let old = self.value(&rest[0], ty)?;
                let new = match self.lookup(&rest[1]) {
                    Some(Binding::Value(v)) => self.func.dfg.ty(v),
                    _ => new,
                };
                let new = self.value(&rest[1], new)?;
                let from = self.func.dfg.ty(new);
                InstData::WrRegion {
                    opcode,
                    args: [old, new],
                    region: self.region(&rest[2], from, ty)?,
                    index: self.index(&rest[3])?,
                    mask: self.mask(&rest[4], from)?,
                }
            }
            Format::RdPred => InstData::RdPred {
                opcode,
                arg: self.value(&rest[0], ty)?,
                offset: self.bits(&rest[1], ty)? as u8,
            },
            Format::WrPred => InstData::WrPred {
                opcode,
                args: [self.value(&rest[0], ty)?, self.value(&rest[1], ty)?],
                offset: self.bits(&rest[2], ty)? as u8,
            },
            _ => return None,
        };
        Some(self.add(data, ty))
    }

    /// Returns the operand type of a compare: that of a constant's type pattern, if bound.
    fn known(&self, rest: &[Pattern], or: Type) -> Type {
        for p in &rest[1..] {
            if let Some(Binding::Value(v)) = self.lookup(p) {
                return self.func.dfg.ty(v);
            }
        }
        or
    }

    /// Returns the operand type of an operation.
    fn from(&mut self, info: &Info, ty: Type) -> Option<Type> {
        let wider = |s: &Scalar| s.bits() > ty.scalar().bits();
        let narrower = |s: &Scalar| s.bits() < ty.scalar().bits();
        let some = |list: Vec<Scalar>, rng: &mut Rng| ty.with_scalar(rng.pick(&list)?);
        match info.opcode {
            Opcode::Sextend | Opcode::Uextend => {
                some(INTS.into_iter().filter(narrower).collect(), self.rng)
            }
            Opcode::Ireduce => some(INTS.into_iter().filter(wider).collect(), self.rng),
            Opcode::SmulWide | Opcode::UmulWide => {
                let half = |s: &Scalar| s.bits() * 2 == ty.scalar().bits();
                some(INTS.into_iter().filter(half).collect(), self.rng)
            }
            Opcode::Bitcast => {
                let scalar = self.rng.pick(&[INTS.as_slice(), &FLOATS].concat())?;
                match ty.bytes() % scalar.bytes() {
                    0 => Type::new(scalar, ty.bytes() / scalar.bytes()),
                    _ => None,
                }
            }
            Opcode::FcvtFromSint | Opcode::FcvtFromUint => {
                if ty.scalar().is_float() {
                    some(INTS.to_vec(), self.rng)
                } else {
                    None
                }
            }
            Opcode::Any | Opcode::All => {
                let lanes = self.rng.pick(&[1, 5, 16, 32])?;
                Type::new(Scalar::B1, lanes)
            }
            Opcode::BitsToPred => Some(Type::scalar_of(Scalar::I32)),
            Opcode::PredToBits => Some(Type::scalar_of(Scalar::B1)),
            _ => Some(ty),
        }
    }

    /// Returns a number that a pattern matches; corner cases are frequent.
    fn bits(&mut self, p: &Pattern, ty: Type) -> Option<u64> {
        let mask = if ty.is_pred() {
            u64::MAX >> (64 - ty.lanes())
        } else {
            ty.scalar().mask()
        };
        match p {
            Pattern::ConstInt { val, .. } => Some(*val as u64),
            Pattern::Wildcard { .. } => Some(self.rng.bits() & mask),
            Pattern::Var { .. } => {
                if let Some(Binding::Bits(known)) = self.lookup(p) {
                    return Some(known);
                }
                let width = u64::from(ty.scalar().bits());
                let any = self.rng.bits();
                // Powers of two, of any sign and exponent.
                let fraction = match ty.scalar() {
                    Scalar::F16 => 10,
                    Scalar::F32 => 23,
                    Scalar::F64 => 52,
                    _ => 0,
                };
                if fraction > 0 && self.rng.one_in(2) {
                    let bits = any << fraction & mask;
                    self.bind(p, Binding::Bits(bits));
                    return Some(bits);
                }
                let bits = match self.rng.below(8) {
                    0 => any % (width + 1),
                    1 => 1 << (any % width),
                    2 => self
                        .rng
                        .pick(&[mask, mask >> 1, mask ^ mask >> 1])
                        .unwrap_or(mask),
                    3 => mask >> (any % width),
                    4 => (1 << (any % width)) - 1,
                    5 => any % 16,
                    6 => mask.wrapping_sub(any % 4),
                    _ => any,
                } & mask;
                // Two numbers of one rule are often related.
                let other = self.bound.values().find_map(|b| match b {
                    Binding::Bits(k) => Some(*k),
                    _ => None,
                });
                let bits = match (other, self.rng.below(4)) {
                    (Some(k), 0) => width.wrapping_sub(k) & mask,
                    (Some(k), 1) => mask.checked_shr(k as u32).unwrap_or(0),
                    _ => bits,
                };
                self.bind(p, Binding::Bits(bits));
                Some(bits)
            }
            _ => None,
        }
    }

    fn cond(&mut self, p: &Pattern) -> Option<IntCC> {
        match p {
            Pattern::ConstPrim { val, .. } => {
                let name = val.0.trim_start_matches('$').to_lowercase();
                IntCC::from_name(&name)
            }
            _ => {
                if let Some(Binding::Cond(known)) = self.lookup(p) {
                    return Some(known);
                }
                let cond = self.rng.pick(&IntCC::ALL)?;
                self.bind(p, Binding::Cond(cond));
                Some(cond)
            }
        }
    }

    /// Returns a random region of `of` with the lanes of `lanes`.
    fn region(&mut self, p: &Pattern, lanes: Type, of: Type) -> Option<Region> {
        if let Some(Binding::Region(known)) = self.lookup(p) {
            return Some(known);
        }
        let size = lanes.scalar().bytes();
        if size == 0 {
            return None;
        }
        let n = lanes.lanes() as u16;
        let mut small = |most: u32| self.rng.below(most + 1) as u16;
        let region = match small(5) {
            0 => Region::contiguous(n, 0),
            1 => Region::contiguous(n, small(8) * size as u16),
            2 => Region::scalar(small(8) * size as u16),
            3 => Region::new(small(4), 1, 0, small(4) * size as u16),
            _ => Region::new(small(9), 1 + small(8), small(3), small(4) * size as u16),
        };
        let region = Region {
            parent_width: self.rng.pick(&[0, 0, 0, 2, 4, 8])?,
            ..region
        };
        let last = region.last_element(lanes.lanes()) + u32::from(region.offset) / size;
        if last >= of.lanes() {
            return None;
        }
        self.bind(p, Binding::Region(region));
        Some(region)
    }

    /// Returns the mask of lanes that a pattern matches, if any.
    fn mask(&mut self, p: &Pattern, lanes: Type) -> Option<PackedOption<Value>> {
        let ty = lanes.with_scalar(Scalar::B1);
        self.option(p, ty)
    }

    /// Returns the index of a region that a pattern matches, if any.
    fn index(&mut self, p: &Pattern) -> Option<PackedOption<Value>> {
        self.option(p, Some(Type::scalar_of(Scalar::I16)))
    }

    fn option(&mut self, p: &Pattern, ty: Option<Type>) -> Option<PackedOption<Value>> {
        let drawn = |b: &mut Self| {
            if b.rng.one_in(2) {
                ty.map(|ty| b.leaf(ty).into())
            } else {
                Some(None.into())
            }
        };
        match p {
            Pattern::Term { sym, .. } if sym.0 == "no_value" => Some(None.into()),
            Pattern::Term { sym, args, .. } if sym.0 == "some_value" => {
                Some(self.value(&args[0], ty?)?.into())
            }
            Pattern::Wildcard { .. } => drawn(self),
            Pattern::Var { .. } => match self.lookup(p) {
                Some(Binding::Option(known)) => Some(known),
                Some(_) => None,
                None => {
                    let option = drawn(self)?;
                    self.bind(p, Binding::Option(option));
                    Some(option)
                }
            },
            _ => None,
        }
    }
}

/// Returns the rules whose root is `simplify`. Rules of undefined values are left out, since their
/// two sides differ in elements that are any value: `opt/undefined-parts.gir` and random kernels
/// have those.
fn rules() -> Vec<((&'static str, u32), Rule)> {
    let mut out = Vec::new();
    for (name, line) in OPT_RULES {
        let path = format!("{}/src/opt/isle/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let lexer = cranelift_isle::lexer::Lexer::new(0, &text).unwrap();
        for def in cranelift_isle::parser::parse(lexer).unwrap() {
            if let Def::Rule(rule) = def {
                let at = text[..rule.pos.offset].matches('\n').count() as u32 + 1;
                let of_values = matches!(rule.pattern.root_term(), Some(t) if t.0 == "simplify");
                let body = &text[rule.pos.offset..];
                let body = &body[..body.find("\n(rule").unwrap_or(body.len())];
                let any = ["(undefined ", "written_into "]
                    .iter()
                    .any(|t| body.contains(t));
                if at == line && of_values && !any {
                    out.push(((name, line), rule));
                }
            }
        }
    }
    out
}

/// Evaluates a value from the lanes of the function's parameters; `None` if that is any value.
fn lanes_of(
    func: &Function,
    params: &BTreeMap<Value, Lanes>,
    v: Value,
    ctx: &PassContext<'_>,
) -> Option<Lanes> {
    if let Some(lanes) = params.get(&v) {
        return Some(lanes.clone());
    }
    let inst = func.dfg.def_inst(v)?;
    let data = *func.dfg.data(inst);
    let mut args: BTreeMap<Value, Lanes> = BTreeMap::new();
    let mut all = true;
    data.for_each_arg(&func.dfg, |a| match lanes_of(func, params, a, ctx) {
        Some(lanes) => {
            args.insert(a, lanes);
        }
        None => all = false,
    });
    let get = |a: Value| &args[&a];
    let ty = func.dfg.ty(v);
    // A divisor of zero gives any value.
    if let InstData::Binary {
        opcode: Opcode::Udiv | Opcode::Sdiv | Opcode::Urem | Opcode::Srem,
        args: [_, by],
    } = data
        && all
        && get(by).contains(&0)
    {
        return None;
    }
    let lanes = all.then(|| evaluate(&func.dfg, ty, &data, get, &ctx.float.mode()).ok())??;
    let mask = ty.scalar().mask();
    Some(
        lanes
            .into_iter()
            .next()?
            .into_iter()
            .map(|l| l & mask)
            .collect(),
    )
}

/// Draws instances of a rule and compares values. Returns the number of instances that the rule
/// applied to.
fn check_rule(rule: &Rule, at: (&str, u32), number: usize, rng: &mut Rng, enough: u32) -> u32 {
    let module = Module::default();
    let mut hits = 0;
    for _ in 0..enough * 2000 {
        let target = rng.pick(&["skl", "bdw", "icllp"]).unwrap();
        let target = Target::lookup(target).unwrap();
        let float = crate::ir::FloatControls {
            flush_f32: rng.one_in(2),
            flush_f16: rng.one_in(2),
            flush_f64: rng.one_in(2),
            toward_zero: rng.one_in(2),
            ..Default::default()
        };
        let ctx = PassContext {
            module: &module,
            float,
            target: &target,
            passes: PassSet::of(OptLevel::O2),
        };
        let mut func = Function::new("f", FuncKind::Subroutine, Signature::default());
        let block = func.dfg.make_block();
        func.layout.append_block(block);
        let mut builder = InstanceBuilder {
            rng,
            func,
            bound: BTreeMap::new(),
            insts: Vec::new(),
        };
        let scalars = [INTS.as_slice(), &FLOATS, &[Scalar::B1]].concat();
        let scalar = builder.rng.pick(&scalars).unwrap();
        let lanes = builder.rng.pick(&[1, 1, 2, 5, 8, 16, 20]).unwrap();
        let ty = Type::clamped(scalar, lanes);
        let Pattern::Term { args, .. } = &rule.pattern else {
            return 0;
        };
        let Some(root) = builder.value(&args[0], ty) else {
            continue;
        };
        let (mut func, insts) = (builder.func, builder.insts);
        for inst in insts {
            func.layout.append_inst(block, inst);
        }
        let (opcode, args) = (Opcode::Return, Default::default());
        let end = func.dfg.make_inst(InstData::Return { opcode, args }, &[]);
        func.layout.append_inst(block, end);
        if !verifier::errors(&module, &func).is_empty() {
            continue;
        }
        let params: Vec<Value> = func.dfg.block_params(block).to_vec();
        let cfg = ControlFlow::new(&func);
        let mut graph = EGraph::new(&mut func, &ctx, true);
        // Rules are off while the instance is built. They run on its root afterwards.
        graph.rules = false;
        graph.build(&cfg);
        graph.rules = true;
        let root = graph.known[root].class.expand().unwrap_or(root);
        let mut found = SmallVec::new();
        graph.depth = 1;
        rules::simplify(&mut graph, root, &mut found);
        if !graph.fired.has_opt_rule(number) {
            continue;
        }
        hits += 1;
        for _ in 0..4 {
            let mut given = BTreeMap::new();
            for &p in &params {
                let ty = graph.ty(p);
                let mask = ty.scalar().mask();
                let mut lane = || match rng.below(5) {
                    0 => 0,
                    1 => mask,
                    2 => rng.bits() % 5,
                    // Index in bounds.
                    3 => u64::from(rng.below(8)) * 4,
                    _ => rng.bits(),
                };
                let lanes = (0..ty.lanes()).map(|_| lane() & mask).collect();
                given.insert(p, lanes);
            }
            let Some(before) = lanes_of(graph.func, &given, root, &ctx) else {
                continue;
            };
            for &other in &found {
                assert_eq!(
                    graph.ty(other),
                    graph.ty(root),
                    "{at:?}: the type\n{}",
                    graph.func
                );
                let after = lanes_of(graph.func, &given, other, &ctx);
                assert_eq!(
                    Some(&before),
                    after.as_ref(),
                    "{at:?}: {given:?}\n{}",
                    graph.func
                );
            }
        }
        let made = with_only(graph.func, block, &found);
        let errors = verifier::errors(&module, made);
        assert!(errors.is_empty(), "{at:?}: {errors:?}\n{made}");
        if hits >= enough {
            break;
        }
    }
    hits
}

/// Returns the function with the definitions of some values, and nothing else.
fn with_only<'f>(func: &'f mut Function, block: Block, values: &[Value]) -> &'f Function {
    let end = func.layout.insts(block).last().copied();
    let (mut done, mut seen) = (Vec::new(), BTreeSet::new());
    // Values, each with a flag that is set once its operands are done.
    let mut work: Vec<(Value, bool)> = values.iter().map(|&v| (v, false)).collect();
    while let Some((v, ready)) = work.pop() {
        let Some(inst) = func.dfg.def_inst(v) else {
            continue;
        };
        if ready {
            done.push(inst);
        } else if seen.insert(v) {
            work.push((v, true));
            func.dfg
                .data(inst)
                .for_each_arg(&func.dfg, |a| work.push((a, false)));
        }
    }
    func.layout.insts_mut(block).clear();
    for inst in done.into_iter().chain(end) {
        func.layout.append_inst(block, inst);
    }
    func
}

#[test]
fn every_rule_keeps_values() {
    let seed = std::env::var("GANTRY_SEED")
        .ok()
        .and_then(|s| s.parse().ok());
    let seed = seed.unwrap_or(1);
    println!("GANTRY_SEED={seed}");
    let mut rng = Rng::new(seed);
    let of_values = rules();
    let (mut least, mut never) = (u32::MAX, Vec::new());
    for (at, rule) in &of_values {
        let number = OPT_RULES.iter().position(|r| r == at).unwrap();
        let hits = check_rule(rule, *at, number, &mut rng, 100);
        least = least.min(hits);
        if hits == 0 {
            never.push(*at);
        }
    }
    println!(
        "{} rules of values of {} in all, each at least {least} times",
        of_values.len(),
        OPT_RULES.len()
    );
    assert!(never.is_empty(), "no instance of {never:?}");
}
