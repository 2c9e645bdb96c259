//! Builder of a module from its instructions, in their order.

use super::constants::{Constant, low};
use super::specialize::Specialized;
use super::types::{ImageType, Layout, Ty, Type, TypeKey, Types};
use super::{
    BlockDef, ConstData, Def, Entry, ExtInstSet, Func, FuncData, GlobalData, Modes, Module, folding,
};
use crate::capabilities::{self, Support};
use crate::error::{Error, Errors};
use crate::options::Options;
use crate::read::{self, Id, Inst, OpClass, Stream};
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use gantry_codegen::entity_set::sized;
use spirv::{
    AccessQualifier, AddressingModel, Capability, Decoration, Dim, ExecutionMode, ExecutionModel,
    FPFastMathMode, Op, StorageClass,
};
use std::collections::BTreeSet;

/// Maximum number of constituents of a replicated constant composite.
const MAX_EQUAL: usize = 1 << 16;
/// Maximum nesting depth of types.
const MAX_NESTING: u32 = 64;

/// Builds a module. The bodies of functions are only split into blocks.
///
/// # Errors
/// Everything that violates the specification.
pub(crate) fn build<'w>(stream: Stream<'w>, options: &Options) -> Result<Module<'w>, Errors> {
    let mut errors = Errors(Vec::new());
    let count = stream.insts.len();
    // A large bound with few defined ids does not cost memory.
    let bound = (stream.bound as usize).min(stream.words.len());
    let mut types = Types::default();
    // The module may declare this type as well, or not at all.
    let int32 = types.add(Type::Int(32), &Layout::default());
    let mut b = Builder {
        m: Module {
            stream,
            types,
            int32,
            consts: PrimaryMap::new(),
            globals: PrimaryMap::new(),
            funcs: PrimaryMap::new(),
            entries: Vec::new(),
            capabilities: Vec::new(),
            binding_arrays: options.binding_arrays.clone(),
            logical: false,
            ids: sized(bound),
            type_ids: [None.into()].into_iter().collect(),
            private_pointers: SecondaryMap::new(),
            result_types: sized(bound),
            local: sized(bound),
            label: sized(bound),
            names: sized(bound),
            decorations: Vec::new(),
        },
        options,
        open: None,
        block: None,
        sorted: false,
        forward: BTreeSet::new(),
        modes: Vec::new(),
        spec: Specialized::default(),
    };
    for n in 0..count {
        let inst = b.m.stream.insts[n];
        if let Err(e) = b.inst(n, &inst) {
            let e = b.m.error(e, inst.at, inst.id.expand());
            errors.push(e);
        }
    }
    for inst in std::mem::take(&mut b.modes) {
        let words = b.m.stream.operands(&inst);
        if let Err(e) = b.mode(&inst, words) {
            errors.push(b.m.error(e, inst.at, None));
        }
    }
    if b.open.is_some() {
        errors.push(Error::malformed("the last function has no end"));
    }
    b.sort();
    b.private_pointers();
    if let Err(e) = b.spec.finish(options) {
        errors.push(e);
    }
    if let Some(size) = b.m.constant_group_size() {
        if size.contains(&0) {
            errors.push(Error::malformed("a work-group without work-items"));
        }
        for e in &mut b.m.entries {
            e.modes.group_size = Some(size);
        }
    }
    if errors.0.is_empty() {
        Ok(b.m)
    } else {
        Err(errors)
    }
}

struct Builder<'w, 'o> {
    m: Module<'w>,
    options: &'o Options,
    /// Function being read.
    open: Option<Func>,
    /// Block being read: its label and the index of its first instruction.
    block: Option<(Id, usize)>,
    /// Set once decorations are sorted.
    sorted: bool,
    /// Pointer types that are declared without pointee so far.
    forward: BTreeSet<Id>,
    /// `OpExecutionModeId` instructions.
    modes: Vec<Inst>,
    /// Specialization constants of the module.
    spec: Specialized,
}

impl Builder<'_, '_> {
    fn define(&mut self, id: Id, def: Def) -> Result<(), Error> {
        if self.m.ids[id] != Def::None {
            return Err(Error::malformed(format!("{id} is defined twice")));
        }
        self.m.ids[id] = def;
        Ok(())
    }

    fn sort(&mut self) {
        if !std::mem::replace(&mut self.sorted, true) {
            self.m.decorations.sort_by_key(|d| (d.0, d.3));
        }
    }

    fn want_type(&self, id: Option<Id>) -> Result<Ty, Error> {
        let ty = id.and_then(|id| self.m.ty(id));
        ty.ok_or_else(|| Error::malformed(format!("{} is no type", show(id))))
    }

    fn inst(&mut self, n: usize, inst: &Inst) -> Result<(), Error> {
        if self.open.is_some() {
            return self.in_function(n, inst);
        }
        let words = self.m.stream.operands(inst);
        let word = |n: usize| words.get(n).copied().unwrap_or(0);
        let id = |n: usize| words.get(n).map(|w| Id::of(*w));
        let wrong = |what: &str| Error::malformed(format!("{what} {}", word(0)));
        match inst.op {
            Op::Capability => {
                let c = Capability::from_u32(word(0));
                let c = c.ok_or_else(|| Error::unsupported(format!("capability {}", word(0))))?;
                self.m.capabilities.push((c, inst.at));
            }
            Op::ExtInstImport => {
                let set = match read::string(words).as_str() {
                    "OpenCL.std" => ExtInstSet::OpenCl,
                    "GLSL.std.450" => ExtInstSet::Glsl,
                    s if read::is_silent(s) => ExtInstSet::NonSemantic,
                    _ => ExtInstSet::Unknown,
                };
                self.define(result(inst)?, Def::Set(set))?;
            }
            Op::MemoryModel => match AddressingModel::from_u32(word(0)) {
                Some(AddressingModel::Physical64) => {}
                Some(AddressingModel::Logical | AddressingModel::PhysicalStorageBuffer64) => {
                    self.m.logical = true;
                }
                Some(other) => {
                    return Err(Error::unsupported(format!("addressing model {other:?}")));
                }
                None => return Err(wrong("an unknown addressing model")),
            },
            Op::EntryPoint => {
                let model = ExecutionModel::from_u32(word(0));
                self.m.entries.push(Entry {
                    at: inst.at,
                    model: model.ok_or_else(|| wrong("an unknown execution model"))?,
                    function: id(1).unwrap_or(Id::new(0)),
                    name: read::string(words.get(2..).unwrap_or(&[])),
                    modes: Modes::default(),
                });
            }
            Op::ExecutionMode => self.mode(inst, words)?,
            // Its operands are defined later.
            Op::ExecutionModeId => self.modes.push(*inst),
            Op::Name => {
                if let Some(id) = id(0) {
                    self.m.names[id] = n as u32 + 1;
                }
            }
            Op::String => self.define(result(inst)?, Def::String(inst.at))?,
            Op::Decorate | Op::DecorateId | Op::DecorateString => {
                if let (Some(id), Some(d)) = (id(0), Decoration::from_u32(word(1))) {
                    known(d)?;
                    self.m.decorations.push((id, None, d, n as u32));
                }
            }
            Op::MemberDecorate | Op::MemberDecorateString => {
                if let (Some(id), Some(d)) = (id(0), Decoration::from_u32(word(2))) {
                    known(d)?;
                    self.m.decorations.push((id, Some(word(1)), d, n as u32));
                }
            }
            Op::DecorationGroup
            | Op::AliasDomainDeclINTEL
            | Op::AliasScopeDeclINTEL
            | Op::AliasScopeListDeclINTEL => self.define(result(inst)?, Def::Other)?,
            Op::GroupDecorate => {
                self.m.decorations.sort_by_key(|d| (d.0, d.3));
                let Some(group) = id(0) else { return Ok(()) };
                let first = self.m.decorations.partition_point(|d| d.0 < group);
                let all = self.m.decorations.iter().skip(first);
                let of: Vec<_> = all.take_while(|d| d.0 == group).copied().collect();
                let targets = words.iter().skip(1);
                // Every pair is a word of this instruction and a decoration of the group, at most
                // 16 of them.
                for (target, (_, member, d, at)) in
                    targets.flat_map(|t| of.iter().take(16).map(move |o| (t, *o)))
                {
                    let target = Id::of(*target);
                    self.m.decorations.push((target, member, d, at));
                }
            }
            Op::Function => return self.function(inst, words),
            Op::Variable => return self.variable(inst, words),
            Op::Undef => return self.constant(inst, words),
            op => match read::kind(op) {
                OpClass::Type => return self.declare_type(inst, words),
                OpClass::Constant => return self.constant(inst, words),
                _ if is_nothing(op) => {}
                _ => {
                    let name = read::name(op);
                    return Err(Error::unsupported(format!("{name} outside of functions")));
                }
            },
        }
        Ok(())
    }

    fn mode(&mut self, inst: &Inst, words: &[u32]) -> Result<(), Error> {
        let word = |n: usize| words.get(n).copied().unwrap_or(0);
        let mode = ExecutionMode::from_u32(word(1))
            .ok_or_else(|| Error::unsupported(format!("execution mode {}", word(1))))?;
        if let Support::Refused(why) = capabilities::mode(mode) {
            let what = format!("the execution mode {mode:?} ({why})");
            return Err(Error::unsupported(what));
        }
        let value = |n: usize| match inst.op {
            Op::ExecutionModeId => self.m.bits(Id::of(word(n))).unwrap_or(0) as u32,
            _ => word(n),
        };
        let values = [value(2), value(3), value(4)];
        let of = Id::of(word(0));
        let mut set = |f: &dyn Fn(&mut Modes)| {
            let entries = self.m.entries.iter_mut();
            entries
                .filter(|e| e.function == of)
                .for_each(|e| f(&mut e.modes));
        };
        let width = |bits: u32| match bits {
            16 => 0,
            32 => 1,
            _ => 2,
        };
        match mode {
            ExecutionMode::LocalSize | ExecutionMode::LocalSizeId => {
                if values.contains(&0) {
                    return Err(Error::malformed("a work-group without work-items"));
                }
                set(&|m| m.group_size = Some(values));
            }
            ExecutionMode::SubgroupSize => set(&|m| m.subgroup_size = Some(values[0])),
            ExecutionMode::DenormFlushToZero => set(&|m| m.flush[width(values[0])] = true),
            ExecutionMode::RoundingModeRTZ => set(&|m| m.toward_zero = true),
            ExecutionMode::ContractionOff => set(&|m| m.contraction_off = true),
            ExecutionMode::FPFastMathDefault => {
                // Floating-point types share one flag: a type that forbids contraction forbids it
                // for all.
                let allowed = FPFastMathMode::from_bits_truncate(values[1]);
                if !allowed.intersects(FPFastMathMode::ALLOW_CONTRACT | FPFastMathMode::FAST) {
                    set(&|m| m.contraction_off = true);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn declare_type(&mut self, inst: &Inst, words: &[u32]) -> Result<(), Error> {
        self.sort();
        if inst.op == Op::TypeForwardPointer {
            // The pointee comes with the declaration.
            let (Some(&id), Some(class)) = (words.first(), words.get(1)) else {
                return Err(Error::malformed("a pointer without its memory"));
            };
            let class = StorageClass::from_u32(*class);
            let class = class.ok_or_else(|| Error::malformed("an unknown storage class"))?;
            let id = Id::of(id);
            let ty = self
                .m
                .types
                .add(Type::Pointer(class, id), &Layout::default());
            self.m.type_ids.push(id.into());
            self.forward.insert(id);
            return self.define(id, Def::Type(ty));
        }
        let id = result(inst)?;
        let word = |n: usize| words.get(n).copied().unwrap_or(0);
        let ty = |n: usize| self.want_type(words.get(n).map(|w| Id::of(*w)));
        let value = |ty: Ty| match self.m.types.leaves(ty) {
            0 => Err(Error::malformed("a composite of what is no value")),
            _ => Ok(ty),
        };
        let kind = match inst.op {
            Op::TypeVoid => Type::Void,
            Op::TypeBool => Type::Bool,
            Op::TypeInt => match word(0) {
                n @ (8 | 16 | 32 | 64) => Type::Int(n),
                n => return Err(Error::unsupported(format!("an integer of {n} bits"))),
            },
            Op::TypeFloat => match (word(0), words.len()) {
                (n @ (16 | 32 | 64), 1) => Type::Float(n),
                (n, _) => return Err(Error::unsupported(format!("this float of {n} bits"))),
            },
            Op::TypeVector => match (self.m.types.kind(ty(0)?), word(1)) {
                (Type::Bool | Type::Int(_) | Type::Float(_), n @ (2 | 3 | 4 | 8 | 16)) => {
                    Type::Vector(ty(0)?, n)
                }
                (Type::Bool | Type::Int(_) | Type::Float(_), n) => {
                    return Err(Error::unsupported(format!("a vector of {n} components")));
                }
                _ => return Err(Error::malformed("a vector of what is no scalar")),
            },
            Op::TypeMatrix => match (self.m.types.kind(ty(0)?), word(1)) {
                (Type::Vector(of, 2..=4), n @ 2..=4)
                    if matches!(self.m.types.kind(*of), Type::Float(_)) =>
                {
                    Type::Matrix(ty(0)?, n)
                }
                _ => return Err(Error::malformed("a matrix of what is no vector of floats")),
            },
            Op::TypeRuntimeArray => Type::RuntimeArray(value(ty(0)?)?),
            Op::TypeArray => {
                let n = words.get(1).and_then(|w| self.m.bits(Id::of(*w)));
                let n =
                    n.ok_or_else(|| Error::malformed("an array whose length is no constant"))?;
                if n == 0 {
                    return Err(Error::malformed("an array without elements"));
                }
                Type::Array(value(ty(0)?)?, n)
            }
            Op::TypeStruct => {
                let mut members = Vec::with_capacity(words.len());
                for n in 0..words.len() {
                    members.push((value(ty(n)?)?, 0));
                }
                Type::Struct(members)
            }
            Op::TypePointer => {
                let class = StorageClass::from_u32(word(0));
                let class = class.ok_or_else(|| Error::malformed("an unknown storage class"))?;
                Type::Pointer(class, Id::of(word(1)))
            }
            Op::TypeFunction => {
                let mut params = Vec::with_capacity(words.len().saturating_sub(1));
                for n in 1..words.len() {
                    params.push(ty(n)?);
                }
                Type::Function(ty(0)?, params)
            }
            Op::TypeImage => Type::Image(ImageType {
                dim: Dim::from_u32(word(1))
                    .ok_or_else(|| Error::malformed("an image of no known dimension"))?,
                depth: word(2) == 1,
                arrayed: word(3) == 1,
                multisampled: word(4) == 1,
                access: match (words.get(7), word(5)) {
                    (Some(1), _) => AccessQualifier::WriteOnly,
                    // Storage image of a shader.
                    (Some(2), _) | (None, 2) => AccessQualifier::ReadWrite,
                    _ => AccessQualifier::ReadOnly,
                },
            }),
            Op::TypeSampler => Type::Sampler,
            Op::TypeSampledImage => Type::SampledImage(ty(0)?),
            Op::TypeEvent => Type::Event,
            op => Type::Other(read::name(op)),
        };
        if let (Type::Pointer(class, to), true) = (&kind, self.forward.remove(&id)) {
            let declared = self.m.ty(id);
            match declared.map(|t| (t, self.m.types.kind(t))) {
                Some((ty, Type::Pointer(before, _))) if before == class => {
                    self.m.types.point(ty, *to);
                    return Ok(());
                }
                _ => {
                    return Err(Error::malformed(
                        "a pointer to another memory than declared",
                    ));
                }
            }
        }
        let layout = match kind {
            Type::Pointer(..) | Type::Array(..) | Type::RuntimeArray(_) | Type::Struct(_) => {
                super::layout::of(&self.m, id)
            }
            _ => Layout::default(),
        };
        let shape = self.shape(&kind, &layout);
        if let Some(ty) = shape.as_ref().and_then(|s| self.m.types.find_key(s)) {
            return self.define(id, Def::Type(ty));
        }
        let ty = self.m.types.add(kind, &layout);
        self.m.type_ids.push(id.into());
        if let Some(shape) = shape {
            self.m.types.set_key(ty, shape);
        }
        if self.m.types.get(ty).is_some_and(|t| t.depth > MAX_NESTING) {
            let what = format!("a type nested deeper than {MAX_NESTING} levels");
            return Err(Error::limit(what));
        }
        self.define(id, Def::Type(ty))
    }

    /// Adds types of private pointers to parameters, results and built-ins. Large values are passed
    /// in private memory.
    fn private_pointers(&mut self) {
        let funcs = self.m.funcs.values();
        let all = funcs.flat_map(|f| f.params.iter().map(|p| p.1).chain([f.result]));
        let inputs = self.m.globals.values();
        let inputs = inputs.filter(|g| g.class == StorageClass::Input);
        let all = all.chain(inputs.map(|g| g.ty));
        let all: BTreeSet<Ty> = all.filter(|ty| self.m.types.leaves(*ty) > 0).collect();
        for ty in all {
            let Some(to) = self.m.type_id(ty) else {
                continue;
            };
            let class = StorageClass::Function;
            let shape = TypeKey::Pointer(class as u32, ty, 0);
            let pointer = self.m.types.find_key(&shape).unwrap_or_else(|| {
                let new = self
                    .m
                    .types
                    .add(Type::Pointer(class, to), &Layout::default());
                self.m.type_ids.push(None.into());
                self.m.types.set_key(new, shape);
                new
            });
            self.m.private_pointers[ty] = pointer.into();
        }
    }

    /// Key by which equal arrays or pointers are one type. Equal structures stay separate, since
    /// decorations belong to one of them.
    fn shape(&self, kind: &Type, layout: &Layout) -> Option<TypeKey> {
        match kind {
            Type::Array(of, n) => {
                let stride = layout.stride.unwrap_or(self.m.types.size(*of));
                Some(TypeKey::Array(*of, *n, stride))
            }
            Type::RuntimeArray(of) => {
                let stride = layout.stride.unwrap_or(self.m.types.size(*of));
                Some(TypeKey::RuntimeArray(*of, stride))
            }
            Type::Pointer(class, to) => {
                let stride = layout.stride.unwrap_or(0);
                Some(TypeKey::Pointer(*class as u32, self.m.ty(*to)?, stride))
            }
            _ => None,
        }
    }

    fn constant(&mut self, inst: &Inst, words: &[u32]) -> Result<(), Error> {
        self.sort();
        let id = result(inst)?;
        let ty = self.want_type(inst.ty.expand())?;
        let word = |n: usize| u64::from(words.get(n).copied().unwrap_or(0));
        let kind = self.m.types.kind(ty);
        let asked = match inst.op {
            Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                self.spec.asked(&self.m, self.options, id, ty)?
            }
            _ => None,
        };
        let number = word(0) | word(1) << 32;
        let value = match inst.op {
            Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse
                if *kind != Type::Bool =>
            {
                return Err(Error::malformed("a truth value that is no bool"));
            }
            Op::ConstantTrue => Constant::Bits(1),
            Op::ConstantFalse => Constant::Bits(0),
            Op::SpecConstantTrue => Constant::Bits(u64::from(asked.unwrap_or(1) != 0)),
            Op::SpecConstantFalse => Constant::Bits(u64::from(asked.unwrap_or(0) != 0)),
            Op::Constant | Op::SpecConstant => match kind {
                Type::Int(n) | Type::Float(n) => Constant::Bits(low(*n, asked.unwrap_or(number))),
                _ => return Err(Error::malformed("a number that is none")),
            },
            Op::ConstantComposite | Op::SpecConstantComposite => {
                for (n, part) in words.iter().enumerate() {
                    let part = self.m.type_of(Id::of(*part));
                    let want = self.m.types.member(ty, n as u64).map(|m| m.0);
                    if part.is_none() || part != want {
                        return Err(Error::malformed(format!(
                            "constituent {n} is of another type"
                        )));
                    }
                }
                if self.m.types.member(ty, words.len() as u64).is_some() {
                    return Err(Error::malformed("constituents are missing"));
                }
                Constant::Composite(words.iter().map(|w| Id::of(*w)).collect())
            }
            Op::ConstantNull => Constant::Null,
            Op::Undef => Constant::Undef,
            Op::ConstantSampler => Constant::Sampler(word(0) as u32, word(1) != 0, word(2) as u32),
            Op::SpecConstantOp => {
                let op = Op::from_u32(word(0) as u32).unwrap_or(Op::Nop);
                folding::result(&self.m, op, ty, words.get(1..).unwrap_or(&[]))?
            }
            Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT => {
                self.replicated(ty, word(0) as u32)?
            }
            op => return Err(Error::unsupported(read::name(op))),
        };
        if self.m.types.leaves(ty) == 0 {
            return Err(Error::malformed("a constant of a type without values"));
        }
        let c = self.m.consts.push(ConstData { ty, value });
        self.m.result_types[id] = ty.into();
        self.define(id, Def::Const(c))
    }

    /// Composite of equal constituents.
    fn replicated(&self, ty: Ty, part: u32) -> Result<Constant, Error> {
        let part = Id::of(part);
        let want = self.m.types.member(ty, 0).map(|m| m.0);
        if want.is_none() || self.m.type_of(part) != want {
            return Err(Error::malformed("constituents of another type"));
        }
        let count = self.m.types.count(ty).unwrap_or(0);
        match usize::try_from(count).ok().filter(|n| *n <= MAX_EQUAL) {
            Some(n) => Ok(Constant::Composite(vec![part; n])),
            None => Err(Error::limit(format!(
                "a constant of {count} equal parts: {MAX_EQUAL} are the most"
            ))),
        }
    }

    fn variable(&mut self, inst: &Inst, words: &[u32]) -> Result<(), Error> {
        self.sort();
        let id = result(inst)?;
        let pointer = self.want_type(inst.ty.expand())?;
        let mut class = self.class_of(pointer, words)?;
        let global =
            class == StorageClass::CrossWorkgroup || class == StorageClass::UniformConstant;
        if global && self.m.has(id, Decoration::BuiltIn) {
            // Kernels may declare built-ins in any storage class.
            class = StorageClass::Input;
        }
        let Some(ty) = self.m.pointee(pointer) else {
            return Err(Error::malformed("a variable whose type is no pointer"));
        };
        let init = words.get(1).map(|w| Id::of(*w));
        let fits = |init| self.m.type_of(init) == Some(ty);
        if !init.is_none_or(fits) {
            return Err(Error::malformed(
                "a variable whose first value is of another type",
            ));
        }
        let at = inst.at;
        let g = self.m.globals.push(GlobalData {
            id,
            at,
            class,
            ty,
            init,
        });
        self.m.result_types[id] = pointer.into();
        self.define(id, Def::Global(g))
    }

    /// Storage class of a variable, which must be that of its type.
    fn class_of(&self, pointer: Ty, words: &[u32]) -> Result<StorageClass, Error> {
        let Type::Pointer(class, _) = *self.m.types.kind(pointer) else {
            return Err(Error::malformed("a variable whose type is no pointer"));
        };
        if words.first() == Some(&(class as u32)) {
            Ok(class)
        } else {
            Err(Error::malformed(
                "a variable in other memory than its pointer is to",
            ))
        }
    }

    fn function(&mut self, inst: &Inst, words: &[u32]) -> Result<(), Error> {
        self.sort();
        let id = result(inst)?;
        let result = self.want_type(inst.ty.expand())?;
        let func = self.m.funcs.push(FuncData {
            id,
            at: inst.at,
            result,
            params: Vec::new(),
            blocks: Vec::new(),
            locals: 0,
        });
        self.open = Some(func);
        let of = words.get(1).and_then(|w| self.m.ty(Id::of(*w)));
        if !matches!(of.map(|t| self.m.types.kind(t)), Some(Type::Function(r, _)) if *r == result) {
            return Err(Error::malformed(
                "a function whose type is not a function's",
            ));
        }
        self.m.result_types[id] = of.into();
        self.define(id, Def::Func(func))
    }

    fn in_function(&mut self, n: usize, inst: &Inst) -> Result<(), Error> {
        let Some(func) = self.open else { return Ok(()) };
        if let (Some(id), true) = (inst.id.expand(), inst.op != Op::ExtInstImport) {
            let data = &mut self.m.funcs[func];
            self.m.local[id] = data.locals;
            data.locals += 1;
            self.define(id, Def::Local(func))?;
            if inst.ty.is_some() {
                let ty = self.want_type(inst.ty.expand())?;
                self.m.result_types[id] = ty.into();
                if inst.op == Op::Variable
                    && self.class_of(ty, self.m.stream.operands(inst))? != StorageClass::Function
                {
                    return Err(Error::malformed(
                        "a variable of a function in what all functions share",
                    ));
                }
            }
        }
        match inst.op {
            Op::FunctionParameter => {
                let ty = self.want_type(inst.ty.expand())?;
                let id = result(inst)?;
                self.m.funcs[func].params.push((id, ty));
                Ok(())
            }
            Op::FunctionEnd => {
                self.open = None;
                let data = &self.m.funcs[func];
                let ty = self.m.type_of(data.id).map(|t| self.m.types.kind(t));
                let have = data.params.iter().map(|p| p.1);
                match ty {
                    Some(Type::Function(_, want)) if !have.eq(want.iter().copied()) => Err(
                        Error::malformed("parameters that are not those of the function's type"),
                    ),
                    _ if self.block.take().is_some() => {
                        Err(Error::malformed("the last block has no terminator"))
                    }
                    _ => Ok(()),
                }
            }
            Op::Label => {
                let id = result(inst)?;
                self.m.label[id] = self.m.funcs[func].blocks.len() as u32;
                match self.block.replace((id, n + 1)) {
                    None => Ok(()),
                    Some(_) => Err(Error::malformed("a label in a block without terminator")),
                }
            }
            Op::Line | Op::NoLine => Ok(()),
            op => {
                let Some((label, first)) = self.block else {
                    return Err(Error::malformed(format!(
                        "{} outside of blocks",
                        read::name(op)
                    )));
                };
                if read::kind(op) == OpClass::Terminator {
                    self.block = None;
                    let insts = first..n + 1;
                    self.m.funcs[func].blocks.push(BlockDef { label, insts });
                }
                Ok(())
            }
        }
    }
}

/// Rejects decorations that change the meaning of their target in an unsupported way.
fn known(d: Decoration) -> Result<(), Error> {
    match capabilities::decoration(d) {
        Support::Refused(why) => {
            let what = format!("the decoration {d:?} ({why})");
            Err(Error::unsupported(what))
        }
        _ => Ok(()),
    }
}

fn result(inst: &Inst) -> Result<Id, Error> {
    let none = || Error::internal("an instruction without its result");
    inst.id.expand().ok_or_else(none)
}

fn show(id: Option<Id>) -> String {
    id.map_or("what is missing".to_owned(), |id| id.to_string())
}

/// Returns true for instructions outside of functions that do not affect computed results.
fn is_nothing(op: Op) -> bool {
    matches!(
        op,
        Op::Nop
            | Op::Source
            | Op::SourceContinued
            | Op::SourceExtension
            | Op::Extension
            | Op::MemberName
            | Op::ModuleProcessed
            | Op::Line
            | Op::NoLine
            | Op::ExtInst
    )
}
