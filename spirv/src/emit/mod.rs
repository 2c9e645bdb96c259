//! The IR of a kernel and of the functions that it calls, by their structureds.
//!
//! Needs a body, its structured and its uniformity. A value is a list of scalars: vectors, structures and arrays are their leaves in order, each a
//! value of one lane where it is uniform, else of a lane for each channel. A family of instructions is a file; [`Emit::inst`] says which is whose.

mod arguments;
mod arithmetic;
mod arrays;
mod async_copies;
mod atomics;
mod bits;
pub(crate) mod block2d_io;
pub(crate) mod block_io;
mod builtins;
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
pub(crate) mod images;
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
use crate::module::types::{Ty, Type};
use crate::module::{Def, Module};
use crate::pipeline::PreparedFunction;
use crate::promote_arrays::PromotedArrays;
use crate::read::{self, Id};
use crate::uniformity::Uniformity;
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use gantry_codegen::builder::{FunctionBuilder, Variable};
use gantry_codegen::ir::{self, Scalar, Value};
use gantry_codegen::maps::sized;
pub(crate) use memory::Access;
use smallvec::SmallVec;
use spirv::{Op, StorageClass};
use std::collections::BTreeMap;

/// The scalars of a value.
pub(crate) type Leaves = SmallVec<[Value; 4]>;

/// Instructions of the IR that there is room for from the start, for each of SPIR-V's.
const PER_INST: usize = 3;
/// The most scalars of one value.
pub(crate) const MAX_LEAVES: u32 = 256;

/// Builds a kernel.
pub(crate) struct Emit<'a, 'm, 'f> {
    pub m: &'a Module<'m>,
    pub body: &'a Body,
    pub g: &'a Graph,
    pub structured: &'a StructuredCfg,
    pub u: &'a Uniformity,
    /// The memories of generic pointers.
    spaces: AddressSpaces,
    /// Whether there are such, and whether some may be to one of several.
    generics: bool,
    several: bool,
    /// Generic pointers that are to one memory where code is emitted now: which, and the pointer as its accesses take it.
    narrowed: Vec<(Id, StorageClass, Value)>,
    /// Whether pointers to local memory, and to private memory, may be null.
    nulls: [bool; 2],
    /// Whether indices outside of arrays are looked for.
    robust: bool,
    /// Whether quotients and roots of singles are rounded correctly.
    exact_division: bool,
    /// Whether the math box has quotients and powers, as far as that is known.
    pub(crate) quotients: bool,
    /// The sums that are rounded once with a product.
    fused: Sums,
    /// What `FPFastMathMode` says of results: no NaN, no infinity.
    assumed: SecondaryMap<Id, u32>,
    /// What is known of pointers without addresses.
    places: PointerInfos,
    /// The buffers that pointers may be into, where those say which one.
    targets: Targets,
    /// Pointers of which an index may be outside: the block that they are made in, what they are by their indices, and whether those are inside.
    guards: BTreeMap<Id, (Block, logical_pointers::Raw)>,
    /// Where the access that is made now is made; none: everywhere.
    guard: Option<Value>,
    /// Buffers by their variable and its element.
    buffers: BTreeMap<(Id, u32), logical_pointers::Buffer>,
    /// Whether all buffers' sizes are arguments.
    sized: bool,
    /// Push constants.
    pushed: Option<Value>,
    pub b: FunctionBuilder<'f>,
    /// The module that is made, for its data and files.
    pub module: &'a mut ir::Module,
    pub simd: u32,
    /// The size of work-groups, where the kernel says it.
    group_size: Option<[u32; 3]>,
    /// The block whose code is emitted.
    pub block: Block,
    /// First and number of the leaves of each value.
    values: SecondaryMap<Id, (u32, u32)>,
    pool: Vec<Value>,
    /// The variables of phis, and those of values that are used behind their loop.
    vars: [SecondaryMap<Id, (u32, u32)>; 2],
    var_pool: Vec<Variable>,
    control: control::Control,
    images: images::Images,
    /// Where variables are.
    frame: &'a FrameLayout,
    slm_bytes: u32,
    /// Where in local memory sub-groups leave what they have for each other.
    group_area: Option<u32>,
    /// Where in local memory the lock for atomics of 64 bits is.
    lock: Option<u32>,
    /// How named barriers are made, where some are.
    named: Option<named_barriers::Named>,
    /// Whether they are the hardware's.
    own_barriers: bool,
    /// The variables that may be held in registers, and those that are.
    arrays: &'a PromotedArrays,
    held: arrays::Held,
    /// Where the part's are in each work-item's part of scratch.
    private: &'a BTreeMap<Id, u32>,
    /// Where the work-items' parts begin.
    private_parts: Option<Value>,
    /// Sums of that and bytes.
    private_places: SecondaryMap<Value, (PackedOption<Value>, u32)>,
    /// The functions that are called.
    callees: &'a calls::Callees,
    data: BTreeMap<Id, ir::DataRef>,
    /// The variables that pointers are to the beginning of.
    roots: BTreeMap<Id, Id>,
    files: BTreeMap<Id, ir::SourceFile>,
    /// Whether channels of a thread may see what others of it wrote: memory is ordered for a sub-input, which takes no instruction.
    lanes_meet: bool,
    pub errors: Errors,
}

/// What a variable of the builder keeps.
#[derive(Clone, Copy)]
enum Kept {
    /// What a phi takes.
    Phi,
    /// What channels had when they left the loop.
    Behind,
}

/// What instructions give another value in each channel whatever their operands are.
pub(crate) fn is_lane_dependent(op: Op) -> bool {
    atomics::is_atomic(op)
}

/// Whether an instruction is one of those emitted.
pub(crate) fn is_supported(op: Op) -> bool {
    arithmetic::is_supported(op)
        || bits::is_supported(op)
        || conversions::is_supported(op)
        || composites::is_supported(op)
        || memory::is_supported(op)
        || atomics::is_supported(op)
        || groups::is_supported(op)
        || images::is_supported(op)
        || async_copies::is_supported(op)
        || block_io::is_supported(op)
        || block2d_io::is_supported(op)
        || matrices::is_supported(op)
        || is_nothing(op)
        || matches!(op, Op::Undef | Op::ExtInst)
}

/// Instructions in functions that say nothing of what is computed.
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

/// What is the same for all parts of a kernel.
pub(crate) struct KernelInput<'a, 'm> {
    pub m: &'a Module<'m>,
    pub functions: &'a [PreparedFunction],
    pub frame: &'a FrameLayout,
    /// Whether indices outside of arrays are looked for.
    pub robust: bool,
    /// Whether quotients and roots of singles are rounded correctly.
    pub exact_division: bool,
    /// Whether what is compiled for has named barriers.
    pub named_barriers: bool,
    /// Whether its math box has quotients and powers.
    pub quotients: bool,
    /// Whether a product and the sum that it is a part of may be rounded once.
    pub contracts: bool,
}

/// Builds a kernel into an empty function, and what it calls. `module` gets those, and their data.
///
/// # Errors
/// What has no form in the IR, all that was found.
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
    // What is called comes first.
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
    if lanes_meet {
        // What is promised is so for a work-item, and not for those that its thread runs beside it.
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
            values: sized(function.body.bound()),
            pool: Vec::with_capacity(body.blocks.values().map(|b| b.insts.len()).sum()),
            vars: Default::default(),
            var_pool: Vec::new(),
            control: control::Control::default(),
            images: images::Images::default(),
            frame: input.frame,
            slm_bytes: input.frame.slm_bytes,
            group_area: None,
            lock: None,
            named: None,
            own_barriers: input.named_barriers && input.functions.len() == 1,
            arrays: &function.arrays,
            held: arrays::Held::new(function.arrays.held(simd)),
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

    /// Emits the body, behind parameters. Gives what is wrong, and whether channels may see what others of the thread wrote.
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

    /// The beginning of a kernel: its memory, and its arguments.
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
    /// A type of the IR with a lane for each channel, or one.
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

    /// A type for messages.
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

    /// The leaves of a value where it is used. A generic pointer is as memory holds it: it says which memory it is to.
    ///
    /// # Errors
    /// It is none.
    pub fn get(&mut self, id: Id) -> Result<Leaves, Error> {
        let leaves = self.bare(id)?;
        if self.generics {
            Ok(self.tagged(id, leaves))
        } else {
            Ok(leaves)
        }
    }

    /// The same, but a generic pointer to a memory that is known is as accesses of that memory take it.
    fn bare(&mut self, id: Id) -> Result<Leaves, Error> {
        if let Some(def) = self.u.block[id].expand() {
            if self.u.escapes[id].is_some() && self.left_channels(def) {
                let vars = self.kept(Kept::Behind, id);
                return Ok(vars.into_iter().map(|v| self.b.use_var(v)).collect());
            }
            let (first, count) = self.values[id];
            if count == 0 {
                // It was told where it is defined.
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
            let range = first as usize..(first + count) as usize;
            return Ok(Leaves::from_slice(&self.pool[range]));
        }
        match self.m.def(id) {
            Def::Const(_) => self.constant(id),
            Def::Global(_) => self.global(id).map(|v| SmallVec::from_slice(&[v])),
            _ => {
                let (first, count) = self.values[id];
                match count {
                    0 => Err(Error::malformed(format!("{id} is no value"))),
                    _ => {
                        let range = first as usize..(first + count) as usize;
                        Ok(Leaves::from_slice(&self.pool[range]))
                    }
                }
            }
        }
    }

    /// Whether a block is in a loop whose values are kept for the current block.
    fn left_channels(&self, def: Block) -> bool {
        let Some(outermost) = self.g.left(def, self.block) else {
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

    /// The only leaf of a value.
    pub fn one(&mut self, id: Id) -> Result<Value, Error> {
        match *self.get(id)?.as_slice() {
            [v] => Ok(v),
            _ => Err(Error::malformed("a composite in the place of a scalar")),
        }
    }

    /// Says what a value is.
    pub fn set(&mut self, id: Id, leaves: &[Value]) {
        debug_assert!(
            self.u.divergent[id] || leaves.iter().all(|v| self.b.ty(*v).lanes() == 1),
            "{id} of {} has a lane for each channel",
            self.body.origin(id)
        );
        self.values[id] = (self.pool.len() as u32, leaves.len() as u32);
        self.pool.extend_from_slice(leaves);
        if self.u.escapes[id].is_some() {
            let vars = self.declare(Kept::Behind, id, leaves, self.simd);
            for (var, leaf) in vars.into_iter().zip(leaves) {
                let v = self.b.splat(*leaf, self.simd);
                self.b.def_var(var, v);
            }
        }
    }

    /// The variables of a value; none where none were declared.
    fn kept(&self, what: Kept, id: Id) -> SmallVec<[Variable; 4]> {
        let (first, count) = self.vars[what as usize][id];
        let range = first as usize..(first + count) as usize;
        SmallVec::from_slice(self.var_pool.get(range).unwrap_or(&[]))
    }

    /// The variables of a value, declared when first asked for.
    fn declare(
        &mut self,
        what: Kept,
        id: Id,
        like: &[Value],
        lanes: u32,
    ) -> SmallVec<[Variable; 4]> {
        if self.vars[what as usize][id].1 == 0 {
            let first = self.var_pool.len() as u32;
            for v in like {
                let ty = self.lanes(self.b.ty(*v).scalar(), lanes);
                let var = self.b.declare_var(ty);
                self.var_pool.push(var);
            }
            self.vars[what as usize][id] = (first, like.len() as u32);
        }
        self.kept(what, id)
    }

    /// A source file.
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

    /// Values with the same number of lanes.
    pub fn even(&mut self, values: &mut [Value]) -> u32 {
        let most = values.iter().map(|v| self.b.ty(*v).lanes()).max();
        let lanes = most.unwrap_or(1);
        for v in values {
            *v = self.b.splat(*v, lanes);
        }
        lanes
    }

    /// A number in one lane.
    pub fn number(&mut self, scalar: Scalar, bits: u64) -> Value {
        let ty = ir::Type::scalar_of(scalar);
        match scalar {
            Scalar::B1 => self.b.ins().bconst(1, bits as u32 & 1),
            s if s.is_float() => self.b.ins().vconst(s, &[bits & s.mask()]),
            s => self.b.ins().iconst(ty, (bits & s.mask()) as i64),
        }
    }

    /// An instruction's operand.
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

    /// Leaves that are those of the instruction's type.
    fn fits(&self, inst: &BInst, leaves: Leaves) -> Result<Leaves, Error> {
        let Some(ty) = inst.ty.expand().filter(|_| !leaves.is_empty()) else {
            return Ok(leaves);
        };
        let types = &self.m.types;
        let is = |ty: Ty, want: Scalar, v: &Value| {
            let have = self.b.ty(*v).scalar();
            match types.kind(ty) {
                // A generic one has as many bits as one to its memory.
                Type::Pointer(..) => matches!(have, Scalar::I32 | Scalar::I64),
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
            op if is_nothing(op) => Ok(Leaves::new()),
            op if arithmetic::is_supported(op) => self.arithmetic(inst),
            op if bits::is_supported(op) => self.of_bits(inst),
            op if conversions::is_supported(op) => self.conversion(inst),
            op if composites::is_supported(op) => self.composite(inst),
            op if memory::is_supported(op) => self.memory(inst),
            op if atomics::is_supported(op) => self.atomic(inst),
            op if groups::is_supported(op) => self.group(inst),
            op if images::is_supported(op) => self.image(inst),
            op if matrices::is_supported(op) => self.matrix(inst),
            op if block_io::is_supported(op) => self.rectangle(inst),
            op if block2d_io::is_supported(op) => self.blocks_2d(inst),
            op if async_copies::is_supported(op) => self.transfer(inst),
            Op::Undef => {
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
            Op::FunctionCall => crate::library::intel_builtins::call(self, inst, self.body),
            op => Err(Error::unsupported(read::name(op))),
        }
    }

    /// An instruction of an imported set.
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
                crate::library::opencl(self, inst, number, &args)
            }
            Def::Set(crate::module::ExtInstSet::Glsl) => {
                let args: Vec<Id> = operands.iter().skip(2).map(|w| Id::of(*w)).collect();
                crate::library::glsl::call(self, inst, number.wrapping_sub(read::GLSL), &args)
            }
            Def::Set(crate::module::ExtInstSet::NonSemantic) => Ok(Leaves::new()),
            Def::Set(_) => Err(Error::unsupported("this set of extended instructions")),
            _ => Err(Error::malformed("an instruction of what is no set of them")),
        }
    }

    /// Any value, after an error.
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

    /// Notes an error.
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
