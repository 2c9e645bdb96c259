//! Emission of IR for a kernel and the functions that it calls.
//!
//! Needs bodies with their structured form and uniformity. A value is a list of leaves: the scalars
//! of vectors, structures and arrays in order. Each leaf is an IR value of one lane if it is
//! uniform, else with a lane for each channel. Each file emits a family of instructions, and
//! [`Emit::family`] selects among them.

mod arguments;
mod arithmetic;
mod arrays;
mod async_copies;
mod atomics;
mod bits;
pub(crate) mod block2d_io;
pub(crate) mod block_io;
mod builtins;
mod cache_controls;
mod calls;
mod composites;
mod control;
mod conversions;
mod copies;
mod descriptor_indexing;
mod descriptors;
mod fast_math;
mod gather;
pub(crate) mod generic;
pub(crate) mod groups;
pub(crate) mod image_levels;
mod images;
pub(crate) mod library;
mod logical_pointers;
mod matrices;
mod memory;
mod named_barriers;
mod private;
mod slm_atomic64;
mod variable_pointers;
mod variables;
mod zero_slm;

use crate::body::{BInst, Block, Body};
use crate::cfg::Graph;
use crate::cfg::structurize::StructuredCfg;
use crate::contraction::{self, Sums};
use crate::error::{Error, Errors};
use crate::frame_layout::FrameLayout;
use crate::infer_address_spaces::{self, AddressSpaces, PointsTo};
use crate::logical_pointers::{self as pointers, PointerInfos, Targets};
use crate::module::types::{MAX_LEAVES, Ty, Type};
use crate::module::{Def, Module};
use crate::op_info;
use crate::prepared::PreparedFunction;
use crate::promoted_arrays::PromotedArrays;
use crate::read::{self, Id};
use crate::uniformity::Uniformity;
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use gantry_codegen::builder::{FunctionBuilder, Variable};
use gantry_codegen::entity_set::EntityLists;
use gantry_codegen::ir::{self, Scalar, Value};
pub(crate) use memory::Access;
use smallvec::SmallVec;
use spirv::{Op, StorageClass};
use std::collections::BTreeMap;

/// Leaves (scalars) of a value.
pub(crate) type Leaves = SmallVec<[Value; 4]>;

/// IR instructions reserved for each SPIR-V instruction.
const PER_INST: usize = 3;

/// Emitter of a function.
pub(crate) struct Emit<'a, 'm, 'f> {
    pub m: &'a Module<'m>,
    pub body: &'a Body,
    pub g: &'a Graph,
    pub structured: &'a StructuredCfg,
    pub u: &'a Uniformity,
    /// Memories of generic pointers.
    spaces: AddressSpaces,
    /// Set if there are generic pointers, and if some may point to several memories.
    generics: bool,
    several: bool,
    /// Generic pointers that are known to point to one memory in the current code. The value is the
    /// pointer as accesses of that memory take it.
    narrowed: Vec<(Id, StorageClass, Value)>,
    /// Set if pointers to SLM, or to private memory, may be null.
    nulls: [bool; 2],
    /// Set if indices are checked against bounds.
    robust: bool,
    /// Set if quotients and roots of singles are rounded correctly.
    exact_division: bool,
    /// Set if the math unit has quotients and powers, or the target is unknown.
    pub(crate) quotients: bool,
    /// Contracted sums.
    fused: Sums,
    /// `FPFastMathMode` bits of results: no NaN, no infinity.
    assumed: SecondaryMap<Id, u32>,
    /// Properties of logical pointers.
    places: PointerInfos,
    /// Possible buffers of pointers that carry the index of their buffer.
    targets: Targets,
    /// Pointers whose index may be out of bounds: defining block, unchecked pointer, and in-bounds
    /// condition.
    guards: BTreeMap<Id, (Block, logical_pointers::UncheckedPointer)>,
    /// In-bounds condition of the current access. `None` if it is always executed.
    guard: Option<Value>,
    /// Buffers by variable and element.
    buffers: BTreeMap<(Id, u32), logical_pointers::Buffer>,
    /// Set if the sizes of all buffers are arguments.
    sized: bool,
    /// Push constants.
    pushed: Option<Value>,
    pub b: FunctionBuilder<'f>,
    /// Module that receives data and file names.
    pub module: &'a mut ir::Module,
    pub simd: u32,
    /// Work-group size, if the kernel requires one.
    group_size: Option<[u32; 3]>,
    /// Block whose code is emitted.
    pub block: Block,
    /// Leaves of each value.
    values: EntityLists<Id, Value>,
    /// Variables of phis, and of values that are used after their loop, by [`VarRole`].
    vars: [EntityLists<Id, Variable>; 2],
    control: control::ControlState,
    images: images::Images,
    /// Offsets of variables.
    frame: &'a FrameLayout,
    slm_bytes: u32,
    /// SLM offset of the area for exchange between sub-groups.
    group_area: Option<u32>,
    /// SLM offset of the lock for 64-bit atomics.
    lock: Option<u32>,
    /// Implementation of named barriers, if the kernel has some.
    named: Option<named_barriers::NamedBarriers>,
    /// Set if they use the hardware's named barriers.
    own_barriers: bool,
    /// Private variables that may be promoted to registers, and those that are.
    arrays: &'a PromotedArrays,
    held: arrays::PromotedVars,
    /// Byte offsets of private variables in the part of a work-item.
    private: &'a BTreeMap<Id, u32>,
    /// Scratch offset of the part of each work-item.
    private_parts: Option<Value>,
    /// Private addresses that are the sum of a base and a constant.
    private_places: SecondaryMap<Value, (PackedOption<Value>, u32)>,
    /// Functions that are called.
    callees: &'a calls::Callees,
    data: BTreeMap<Id, ir::DataRef>,
    /// Variables whose first byte a pointer points to.
    roots: BTreeMap<Id, Id>,
    files: BTreeMap<Id, ir::SourceFile>,
    /// Set if channels of a thread may observe each other's writes. Ordering memory for a sub-group
    /// takes no instruction.
    lanes_meet: bool,
    pub errors: Errors,
}

/// Role of a variable of the builder.
#[derive(Clone, Copy)]
enum VarRole {
    /// Value of a phi.
    Phi,
    /// Value that channels had when they left the loop.
    AfterLoop,
}

/// Returns true if an instruction can be emitted.
pub(crate) fn is_supported(op: Op) -> bool {
    arithmetic::is_supported(op)
        || bits::is_supported(op)
        || conversions::is_supported(op)
        || composites::is_supported(op)
        || memory::is_supported(op)
        || atomics::is_supported(op)
        || op_info::is_group(op)
        || images::is_supported(op)
        || async_copies::is_supported(op)
        || block_io::is_supported(op)
        || block2d_io::is_supported(op)
        || matrices::is_supported(op)
        || is_nothing(op)
        || matches!(op, Op::Undef | Op::ExtInst)
}

/// Returns true for instructions in functions that do not affect computed results.
fn is_nothing(op: Op) -> bool {
    matches!(
        op,
        Op::Nop
            | Op::LifetimeStart
            | Op::LifetimeStop
            | Op::NoLine
            | Op::Line
            | Op::AssumeTrueKHR
            | Op::LoopControlINTEL
    )
}

/// Input of emission: a kernel with its functions, and options.
pub(crate) struct KernelInput<'a, 'm> {
    pub m: &'a Module<'m>,
    pub functions: &'a [PreparedFunction],
    pub frame: &'a FrameLayout,
    /// Checks indices against bounds.
    pub robust: bool,
    /// Lets arguments share memory.
    pub may_alias: bool,
    /// Rounds quotients and roots of singles correctly.
    pub exact_division: bool,
    /// True if the target has named barriers.
    pub named_barriers: bool,
    /// True if its math unit has quotients and powers.
    pub quotients: bool,
    /// Allows contraction of products and sums.
    pub contracts: bool,
}

/// Emits a kernel into an empty function. `module` receives the functions that it calls, and data.
///
/// # Errors
/// Everything that cannot be expressed in the IR.
pub(crate) fn kernel(
    input: &KernelInput<'_, '_>,
    module: &mut ir::Module,
    func: &mut ir::Function,
) -> Result<(), Errors> {
    let (simd, group_size) = match func.kind {
        ir::FuncKind::Kernel {
            simd, group_size, ..
        } => (simd, group_size),
        ir::FuncKind::Subroutine => (1, None),
    };
    let (kernel, frame) = (func.name.clone(), input.frame);
    let mut callees = calls::Callees::default();
    let mut errors = Errors(Vec::new());
    let mut lanes_meet = false;
    let private = frame.private.iter().zip(&frame.errors);
    // Callees come first.
    for (prepared, (private, findings)) in input.functions.iter().zip(private).rev() {
        let mut own =
            (!prepared.is_kernel).then(|| calls::subroutine(input.m, prepared, &kernel, simd));
        let mut e = Emit::new(
            input,
            prepared,
            (private, &callees),
            (simd, group_size),
            module,
            own.as_mut().unwrap_or(func),
        );
        for (what, at, line, id) in findings {
            e.error(what.clone(), *at, *line, Some(*id));
        }
        if prepared.is_kernel {
            e.entry();
            if input.m.logical {
                e.descriptors();
            }
            e.zero_slm();
            for made in [e.make_lock(), e.make_named()] {
                if let Err(error) = made {
                    e.error(error, 0, 0, None);
                }
            }
        } else {
            e.parameters(&prepared.divergent)
        }
        let (mut found, meet) = e.finish();
        lanes_meet |= meet;
        found.0.drain(..).for_each(|e| errors.push(e));
        if let Some(own) = own {
            let function = module.functions.push(own);
            callees.insert(prepared, function);
        }
    }
    if lanes_meet || input.may_alias {
        // `noalias` holds between work-items, not between channels of one thread.
        for p in &mut func.sig.params {
            p.noalias = false;
        }
    }
    if errors.0.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

impl<'a, 'm, 'f> Emit<'a, 'm, 'f> {
    fn new(
        input: &KernelInput<'a, 'm>,
        function: &'a PreparedFunction,
        (private, callees): (&'a BTreeMap<Id, u32>, &'a calls::Callees),
        (simd, group_size): (u32, Option<[u32; 3]>),
        module: &'f mut ir::Module,
        func: &'f mut ir::Function,
    ) -> Emit<'a, 'm, 'f>
    where
        'f: 'a,
    {
        let m = input.m;
        let (body, g) = (&function.body, &function.graph);
        let places = pointers::find(m, body, g);
        let insts = g.order.iter().map(|b| body.blocks[*b].insts.len());
        func.dfg.reserve(insts.sum::<usize>() * PER_INST);
        let spaces = infer_address_spaces::infer(m, body);
        Emit {
            m,
            body,
            g,
            structured: &function.structured,
            u: &function.uniformity,
            generics: spaces.values().any(|m| *m != PointsTo::None),
            several: spaces.values().any(|m| matches!(m, PointsTo::Several(_))),
            spaces,
            narrowed: Vec::new(),
            nulls: input.frame.nulls,
            robust: input.robust && m.logical,
            exact_division: input.exact_division,
            quotients: input.quotients,
            fused: if input.contracts {
                contraction::sums(m, &function.body)
            } else {
                Sums::default()
            },
            assumed: SecondaryMap::new(),
            targets: pointers::targets(m, body, g, &places),
            places,
            guards: BTreeMap::new(),
            guard: None,
            buffers: BTreeMap::new(),
            sized: false,
            pushed: None,
            group_size,
            b: FunctionBuilder::new(func),
            module,
            simd,
            block: g.entry,
            values: EntityLists::with_capacity(
                function.body.bound(),
                body.blocks.values().map(|b| b.insts.len()).sum(),
            ),
            vars: Default::default(),
            control: control::ControlState::default(),
            images: images::Images::default(),
            frame: input.frame,
            slm_bytes: input.frame.slm_bytes,
            group_area: None,
            lock: None,
            named: None,
            own_barriers: input.named_barriers && input.functions.len() == 1,
            arrays: &function.arrays,
            held: arrays::PromotedVars::new(function.arrays.held(simd)),
            private,
            private_parts: None,
            private_places: SecondaryMap::new(),
            callees,
            data: BTreeMap::new(),
            roots: BTreeMap::new(),
            files: BTreeMap::new(),
            lanes_meet: false,
            errors: Errors(Vec::new()),
        }
    }

    /// Emits the body after the parameters. Returns the errors, and true if channels may observe
    /// each other's writes.
    fn finish(mut self) -> (Errors, bool) {
        for (id, ty, bits) in &self.body.consts {
            if let Some(scalar) = self.m.types.scalar(*ty) {
                let v = self.number(scalar, *bits);
                self.set(*id, &[v]);
            }
        }
        self.run();
        let Emit {
            b,
            mut errors,
            lanes_meet,
            ..
        } = self;
        if errors.0.is_empty()
            && let Err(e) = b.finish()
        {
            errors.push(Error::internal(e.to_string()));
        }
        (errors, lanes_meet)
    }

    /// Begins a kernel: memory and arguments.
    fn entry(&mut self) {
        if self.slm_bytes > 0 {
            self.b.set_slm_bytes(self.slm_bytes);
        }
        if self.frame.private_bytes > 0 {
            let all = self.frame.private_bytes.saturating_mul(self.simd);
            self.b.set_scratch_bytes(all.min(ir::MAX_SCRATCH));
        }
        self.begin_private();
        self.begin_constant_data();
        self.arguments();
    }
}

impl Emit<'_, '_, '_> {
    /// IR type with a number of lanes.
    pub fn lanes(&self, scalar: Scalar, lanes: u32) -> ir::Type {
        ir::Type::clamped(scalar, lanes)
    }

    pub fn type_of(&self, id: Id) -> Result<Ty, Error> {
        let ty = self.body.type_of(self.m, id);
        ty.ok_or_else(|| Error::malformed(format!("{} is no value", self.body.origin(id))))
    }

    pub fn scalar(&self, ty: Ty) -> Result<Scalar, Error> {
        let none = || Error::unsupported(format!("a value of {}", self.describe(ty)));
        self.m.types.scalar(ty).ok_or_else(none)
    }

    /// Name of a type in error messages.
    pub fn describe(&self, ty: Ty) -> String {
        match self.m.types.kind(ty) {
            Type::Void => "no type".to_owned(),
            Type::Bool => "a bool".to_owned(),
            Type::Int(n) => format!("an integer of {n} bits"),
            Type::Float(n) => format!("a float of {n} bits"),
            Type::Vector(of, n) => format!("a vector of {n}, each {}", self.describe(*of)),
            Type::Matrix(_, n) => format!("a matrix of {n} columns"),
            Type::Array(_, n) => format!("an array of {n}"),
            Type::RuntimeArray(_) => "an array without a length".to_owned(),
            Type::Struct(_) => "a structure".to_owned(),
            Type::Pointer(class, _) => format!("a pointer to {class:?}"),
            Type::Function(..) => "a function".to_owned(),
            Type::Image(i) => format!("an image of dimension {:?}", i.dim),
            Type::Sampler => "a sampler".to_owned(),
            Type::SampledImage(_) => "an image with a sampler".to_owned(),
            Type::Event => "an event".to_owned(),
            Type::Other(name) => name.clone(),
        }
    }

    /// Leaves of a value at its use. A generic pointer has its tag, as in memory.
    ///
    /// # Errors
    /// An id that is not a value.
    pub fn get(&mut self, id: Id) -> Result<Leaves, Error> {
        let leaves = self.bare(id)?;
        if self.generics {
            Ok(self.tagged(id, leaves))
        } else {
            Ok(leaves)
        }
    }

    /// Leaves of a value, where a generic pointer to a known memory is as accesses of that memory
    /// take it.
    fn bare(&mut self, id: Id) -> Result<Leaves, Error> {
        if let Some(def) = self.u.block[id].expand() {
            if self.u.escapes[id].is_some() && self.left_channels(def) {
                let vars = self.vars_of(VarRole::AfterLoop, id);
                return Ok(vars.into_iter().map(|v| self.b.use_var(v)).collect());
            }
            let leaves = &self.values[id];
            if leaves.is_empty() {
                // Its definition reported the error.
                let ty = self.body.type_of(self.m, id);
                let leaves = ty.map_or(0, |t| self.m.types.leaves(t));
                if leaves > MAX_LEAVES {
                    return Err(too_large(leaves));
                }
                let id = self.body.origin(id);
                return Err(Error::malformed(format!(
                    "{id} is used before it is defined"
                )));
            }
            return Ok(Leaves::from_slice(leaves));
        }
        match self.m.def(id) {
            Def::Const(_) => self.constant(id),
            Def::Global(_) => self.global(id).map(|v| SmallVec::from_slice(&[v])),
            _ => match &self.values[id] {
                [] => Err(Error::malformed(format!("{id} is no value"))),
                leaves => Ok(Leaves::from_slice(leaves)),
            },
        }
    }

    /// Returns true if a value of a block is read from the variables of a loop around it.
    fn left_channels(&self, def: Block) -> bool {
        let Some(outermost) = self.g.exited_loop(def, self.block) else {
            return false;
        };
        let mut at = self.g.loop_of[def].expand();
        while let Some(l) = at {
            if self.u.kept[l] {
                return true;
            }
            at = self.g.loops[l].parent.expand().filter(|_| l != outermost);
        }
        false
    }

    /// Single leaf of a value.
    pub fn one(&mut self, id: Id) -> Result<Value, Error> {
        match *self.get(id)?.as_slice() {
            [v] => Ok(v),
            _ => Err(Error::malformed("a composite in the place of a scalar")),
        }
    }

    /// Defines a value.
    pub fn set(&mut self, id: Id, leaves: &[Value]) {
        debug_assert!(
            self.u.divergent[id] || leaves.iter().all(|v| self.b.ty(*v).lanes() == 1),
            "{id} of {} has a lane for each channel",
            self.body.origin(id)
        );
        self.values.push(id, leaves.iter().copied());
        if self.u.escapes[id].is_some() {
            let vars = self.declare(VarRole::AfterLoop, id, leaves, self.simd);
            for (var, leaf) in vars.into_iter().zip(leaves) {
                let v = self.b.splat(*leaf, self.simd);
                self.b.def_var(var, v);
            }
        }
    }

    /// Variables of a value in a role, or none if they were not declared.
    fn vars_of(&self, what: VarRole, id: Id) -> SmallVec<[Variable; 4]> {
        SmallVec::from_slice(&self.vars[what as usize][id])
    }

    /// Variables of a value in a role, declared on first use.
    fn declare(
        &mut self,
        what: VarRole,
        id: Id,
        like: &[Value],
        lanes: u32,
    ) -> SmallVec<[Variable; 4]> {
        if self.vars[what as usize][id].is_empty() {
            let declared: SmallVec<[Variable; 4]> = like
                .iter()
                .map(|v| {
                    let ty = self.lanes(self.b.ty(*v).scalar(), lanes);
                    self.b.declare_var(ty)
                })
                .collect();
            self.vars[what as usize].push(id, declared);
        }
        self.vars_of(what, id)
    }

    /// IR source file of a string id.
    fn file(&mut self, id: Id) -> Option<ir::SourceFile> {
        if let Some(f) = self.files.get(&id) {
            return Some(*f);
        }
        let Def::String(at) = self.m.def(id) else {
            return None;
        };
        let words = self.m.stream.words.get(at as usize + 2..)?;
        let file = self.module.source_file(&read::string(words));
        self.files.insert(id, file);
        Some(file)
    }

    /// Splats values to the same number of lanes. Returns that number.
    pub fn even(&mut self, values: &mut [Value]) -> u32 {
        let most = values.iter().map(|v| self.b.ty(*v).lanes()).max();
        let lanes = most.unwrap_or(1);
        for v in values {
            *v = self.b.splat(*v, lanes);
        }
        lanes
    }

    /// Constant in one lane.
    pub fn number(&mut self, scalar: Scalar, bits: u64) -> Value {
        let ty = ir::Type::scalar_of(scalar);
        match scalar {
            Scalar::B1 => self.b.ins().bconst(1, bits & 1),
            s if s.is_float() => self.b.ins().vconst(s, &[bits & s.mask()]),
            s => self.b.ins().iconst(ty, (bits & s.mask()) as i64),
        }
    }

    /// Operand of an instruction.
    pub fn operand(&self, inst: &BInst, n: usize) -> Result<Id, Error> {
        let word = self.body.operands(inst).get(n);
        word.map(|w| Id::of(*w))
            .ok_or_else(|| Error::malformed(format!("{} has no operand {n}", read::name(inst.op))))
    }

    /// Emits an instruction.
    fn inst(&mut self, inst: &BInst) {
        let result = match inst.ty.expand() {
            Some(ty) if self.m.types.leaves(ty) > MAX_LEAVES => {
                Err(too_large(self.m.types.leaves(ty)))
            }
            _ => self
                .by_memory(inst)
                .and_then(|leaves| self.fits(inst, leaves)),
        };
        let leaves = match result {
            Ok(leaves) => leaves,
            Err(e) => {
                self.error(e, inst.at, inst.line, inst.id.expand());
                self.anything(inst)
            }
        };
        if let Some(id) = inst.id.expand()
            && !leaves.is_empty()
        {
            self.set(id, &leaves);
        }
    }

    /// Checks that leaves have the type of the result.
    fn fits(&self, inst: &BInst, leaves: Leaves) -> Result<Leaves, Error> {
        let Some(ty) = inst.ty.expand().filter(|_| !leaves.is_empty()) else {
            return Ok(leaves);
        };
        let types = &self.m.types;
        let is = |ty: Ty, want: Scalar, v: &Value| {
            let have = self.b.ty(*v).scalar();
            match types.kind(ty) {
                // A generic pointer is as wide as one to its memory. One into a promoted variable
                // is an index.
                Type::Pointer(..) => matches!(have, Scalar::I16 | Scalar::I32 | Scalar::I64),
                _ => want == have,
            }
        };
        let alone = types.scalar(ty).filter(|_| types.leaves(ty) == 1);
        let right = match (leaves.as_slice(), alone) {
            ([one], Some(want)) => is(ty, want, one),
            (many, _) => {
                let all = types.scalars(ty);
                let mut of = all.iter().zip(many);
                let is = |t: Ty, v| types.scalar(t).is_some_and(|want| is(t, want, v));
                all.len() == many.len() && of.all(|((t, _), v)| is(*t, v))
            }
        };
        if right {
            Ok(leaves)
        } else {
            Err(Error::malformed(format!(
                "{} of another type than its result's",
                read::name(inst.op)
            )))
        }
    }

    fn family(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        match inst.op {
            Op::LifetimeStart => self.begin_held(inst).map(|()| Leaves::new()),
            op if is_nothing(op) => Ok(Leaves::new()),
            op if arithmetic::is_supported(op) => self.arithmetic(inst),
            op if bits::is_supported(op) => self.of_bits(inst),
            op if conversions::is_supported(op) => self.conversion(inst),
            op if composites::is_supported(op) => self.composite(inst),
            op if memory::is_supported(op) => self.memory(inst),
            op if atomics::is_supported(op) => self.atomic(inst),
            op if op_info::is_group(op) => self.group(inst),
            op if images::is_supported(op) => self.image(inst),
            op if matrices::is_supported(op) => self.matrix(inst),
            op if block_io::is_supported(op) => self.image_block(inst),
            op if block2d_io::is_supported(op) => self.block2d(inst),
            op if async_copies::is_supported(op) => self.async_copy(inst),
            // Passes make null values.
            Op::Undef | Op::ConstantNull => {
                let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
                let scalars = self.m.types.scalars(ty);
                let zero = |(ty, _): &(Ty, u64)| {
                    let scalar = self.scalar(*ty)?;
                    Ok(self.number(scalar, 0))
                };
                scalars.iter().map(zero).collect()
            }
            Op::ExtInst => self.extended(inst),
            Op::FunctionCall if self.is_of_the_kernel(inst) => self.call(inst),
            Op::FunctionCall => crate::emit::library::intel_builtins::call(self, inst, self.body),
            op => Err(Error::unsupported(read::name(op))),
        }
    }

    /// Emits an instruction of an imported set.
    fn extended(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let operands = self.body.operands(inst);
        let (Some(&set), Some(&number)) = (operands.first(), operands.get(1)) else {
            return Err(Error::malformed(
                "an extended instruction without its number",
            ));
        };
        match self.m.def(Id::of(set)) {
            Def::Set(crate::module::ExtInstSet::OpenCl) => {
                let args: Vec<Id> = operands.iter().skip(2).map(|w| Id::of(*w)).collect();
                crate::emit::library::opencl(self, inst, number, &args)
            }
            Def::Set(crate::module::ExtInstSet::Glsl) => {
                let args: Vec<Id> = operands.iter().skip(2).map(|w| Id::of(*w)).collect();
                crate::emit::library::glsl::call(self, inst, number.wrapping_sub(read::GLSL), &args)
            }
            Def::Set(crate::module::ExtInstSet::NonSemantic) => Ok(Leaves::new()),
            Def::Set(_) => Err(Error::unsupported("this set of extended instructions")),
            _ => Err(Error::malformed("an instruction of what is no set of them")),
        }
    }

    /// Undefined value, after an error.
    fn anything(&mut self, inst: &BInst) -> Leaves {
        let Some(ty) = inst.ty.expand() else {
            return Leaves::new();
        };
        if self.m.types.leaves(ty) > MAX_LEAVES {
            return Leaves::new();
        }
        let divergent = inst.id.expand().is_some_and(|id| self.u.divergent[id]);
        let lanes = if divergent { self.simd } else { 1 };
        let mut out = Leaves::new();
        for (ty, _) in self.m.types.scalars(ty) {
            if let Some(scalar) = self.m.types.scalar(ty) {
                let ty = self.lanes(scalar, lanes);
                out.push(self.b.ins().undef(ty));
            }
        }
        out
    }

    /// Records an error.
    pub fn error(&mut self, e: Error, at: u32, line: u32, id: Option<Id>) {
        let id = id.map(|id| self.body.origin(id));
        let mut e = self.m.error(e, at, id);
        if let Some(l) = (line as usize)
            .checked_sub(1)
            .and_then(|n| self.body.lines.get(n))
        {
            let file = match self.m.def(l.file) {
                Def::String(at) => {
                    let words = self.m.stream.words.get(at as usize + 2..).unwrap_or(&[]);
                    read::string(words)
                }
                _ => String::new(),
            };
            e.line = Some(format!("{file}:{}:{}", l.line, l.column));
        }
        self.errors.push(e);
    }
}

pub(crate) fn too_large(leaves: u32) -> Error {
    Error::limit(format!(
        "a value of {leaves} scalars: {MAX_LEAVES} are the most"
    ))
}
