//! Builds functions: instructions with inferred types, variables turned into SSA, structured SIMD
//! control flow.
//!
//! ```
//! use gantry_codegen::builder::FunctionBuilder;
//! use gantry_codegen::ir::{Dim, Function,  scalars::*};
//!
//! // y[i] = a * x[i] + y[i], one work-item a lane.
//! let mut saxpy = Function::kernel("saxpy", 16);
//! let mut b = FunctionBuilder::new(&mut saxpy);
//! let (x, y) = (b.ptr_param(), b.ptr_param());
//! let (a, n) = (b.param(F32), b.param(I32));
//! let i = b.global_id(Dim::X);
//! let count = b.splat(n, 16);
//! let inside = b.ins().icmp(gantry_codegen::ir::IntCC::SignedLessThan, i, count);
//! b.simd_if(inside, |b| {
//!     let (px, py) = (b.element_addr(x, i, 4), b.element_addr(y, i, 4));
//!     let (vx, vy) = (b.simd_load(F32, px, 0), b.simd_load(F32, py, 0));
//!     let va = b.splat(a, 16);
//!     let r = b.ins().fma(va, vx, vy);
//!     b.simd_store(r, py, 0);
//! });
//! b.ins().return_(&[]);
//! b.finish()?;
//! # Ok::<(),  gantry_codegen::builder::BuildError>(())
//! ```

mod ins;
mod kernel;
mod lanes;
mod math;
mod memory;
mod scope;
mod simd;
mod ssa;
mod subgroup;
mod uniform;

pub use ins::Ins;
pub use kernel::{KernelBuilder, Operand, Val, Var};
pub use math::Math;
pub use simd::SimdLabel;

use crate::ir::Origin;
use crate::ir::verifier::Place;
use crate::ir::{
    ArgKind, Block, ControlFlow, FloatControls, FuncKind, Function, ImageAccess, ImageShape, Inst,
    InstData, Opcode, Param, ParamInfo, ParamRole, Sampler, Scalar, Signature, SourceLoc, Type,
    Value, verifier,
};
use cranelift_entity::{SecondaryMap, entity_impl, packed_option::PackedOption};
use scope::Scope;
use ssa::Ssa;
use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

/// A variable of the builder, assigned any number of times.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(u32);
entity_impl!(Variable, "var");

/// How many mistakes are told.
const MOST_MISTAKES: usize = 100;

/// What was done wrong while building, first to last, the first hundred.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("in %{function}: {}", .mistakes.join("; "))]
pub struct BuildError {
    /// The function.
    pub function: String,
    /// The mistakes; at least one.
    pub mistakes: Vec<String>,
}

impl Function {
    /// An empty kernel of a SIMD width (1, 8, 16 or 32), without parameters yet.
    pub fn kernel(name: impl Into<String>, simd: u32) -> Function {
        let kind = FuncKind::Kernel {
            simd,
            slm_bytes: 0,
            scratch_bytes: 0,
            group_size: None,
            float: FloatControls::default(),
        };
        Function::new(name, kind, Signature::default())
    }

    /// An empty subroutine with results of these types, without parameters yet.
    pub fn subroutine(name: impl Into<String>, results: &[Type]) -> Function {
        let sig = Signature {
            params: Vec::new(),
            results: results.to_vec(),
        };
        Function::new(name, FuncKind::Subroutine, sig)
    }
}

/// Builds one function. Mistakes do not stop it: they are collected for
/// [`FunctionBuilder::finish`].
#[derive(Debug)]
pub struct FunctionBuilder<'f> {
    func: Held<'f>,
    entry: Block,
    position: Block,
    ssa: Ssa,
    exec_mask: Option<Variable>,
    scopes: Vec<Scope>,
    /// Where a thread ends whose channels have all returned.
    leave: Option<Block>,
    /// The channels of a subroutine that returned before the others, then the results of each.
    returned: Vec<Variable>,
    /// Blocks that branches may still be made to, or that have no terminator yet.
    open: BTreeSet<Block>,
    /// Where the next instructions come from.
    srcloc: SourceLoc,
    mistakes: Vec<String>,
    /// Place in the host's source that asked for each instruction.
    callers: SecondaryMap<Inst, Option<Caller>>,
    /// The place of what is asked for now, where it is not that of the call.
    caller: Option<Caller>,
}

/// A place in the host's source.
type Caller = &'static Location<'static>;

/// The function that is built.
#[derive(Debug)]
enum Held<'f> {
    Borrowed(&'f mut Function),
    Owned(Box<Function>),
}

impl Deref for Held<'_> {
    type Target = Function;

    fn deref(&self) -> &Function {
        match self {
            Held::Borrowed(f) => f,
            Held::Owned(f) => f,
        }
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Function {
        match self {
            Held::Borrowed(f) => f,
            Held::Owned(f) => f,
        }
    }
}

impl<'f> FunctionBuilder<'f> {
    /// Starts on an empty function, in its entry block, which gets the parameters the signature has
    /// so far.
    pub fn new(func: &'f mut Function) -> Self {
        Self::start(Held::Borrowed(func))
    }

    fn start(mut func: Held<'f>) -> Self {
        let mut mistakes = Vec::new();
        if func.layout.entry().is_some() {
            mistakes.push("the function is not empty".to_string());
        }
        let entry = func.dfg.make_block();
        func.layout.append_block(entry);
        let types: Vec<Type> = func.sig.params.iter().map(|p| p.ty).collect();
        for ty in types {
            func.dfg.append_block_param(entry, ty);
        }
        let mut b = FunctionBuilder {
            func,
            entry,
            position: entry,
            ssa: Ssa::default(),
            exec_mask: None,
            scopes: Vec::new(),
            leave: None,
            returned: Vec::new(),
            open: BTreeSet::new(),
            srcloc: SourceLoc::NONE,
            mistakes,
            callers: SecondaryMap::new(),
            caller: None,
        };
        b.ssa.place(entry);
        b.seal_block(entry);
        b
    }

    #[track_caller]
    fn mistake(&mut self, what: impl Into<String>) {
        let (origin, caller) = (Origin::from(self.srcloc), self.here());
        self.tell(format!("{}{origin} ({caller})", what.into()));
    }

    /// Tells of a mistake that has no place.
    fn tell(&mut self, what: String) {
        if self.mistakes.len() < MOST_MISTAKES {
            self.mistakes.push(what);
        }
    }

    /// The place in the host's source that asks for what is done now.
    #[track_caller]
    fn here(&self) -> Caller {
        match self.caller {
            Some(caller) => caller,
            None => Location::caller(),
        }
    }

    /// The function so far.
    pub fn func(&self) -> &Function {
        &self.func
    }

    /// The function's parameters so far.
    pub fn params(&self) -> &[Value] {
        self.func.dfg.block_params(self.entry)
    }

    /// Adds a parameter passed by value.
    #[track_caller]
    pub fn param(&mut self, ty: Type) -> Value {
        self.param_of(ty, ArgKind::Value)
    }

    /// Adds a global buffer; the value is its address, `i64`.
    #[track_caller]
    pub fn ptr_param(&mut self) -> Value {
        self.param_of(Type::scalar_of(Scalar::I64), ArgKind::Ptr)
    }

    /// Adds local memory that the host sizes; the value is its SLM offset in bytes, `i32`.
    #[track_caller]
    pub fn slm_param(&mut self) -> Value {
        self.param_of(Type::scalar_of(Scalar::I32), ArgKind::Slm)
    }

    /// A kernel's buffer bound as a surface, the n-th such parameter surface n: where in it the
    /// buffer begins, in bytes (`i32`).
    #[track_caller]
    pub fn surface_param(&mut self) -> Value {
        self.param_of(Type::scalar_of(Scalar::I32), ArgKind::Surface)
    }

    /// A kernel's image, the n-th such parameter image n.
    #[track_caller]
    pub fn image_param(&mut self, shape: ImageShape, access: ImageAccess) {
        let kind = ArgKind::Image(shape, access);
        self.param_of(Type::scalar_of(Scalar::I32), kind);
    }

    /// A kernel's sampler, the n-th such parameter sampler n.
    #[track_caller]
    pub fn sampler_param(&mut self) {
        self.param_of(Type::scalar_of(Scalar::I32), ArgKind::Sampler);
    }

    /// Promises that what is written through a buffer is reached by it alone, and what is reached
    /// by it written through it alone: see [`Param::noalias`].
    #[track_caller]
    pub fn promise_noalias(&mut self, param: Value) {
        let params = self.func.dfg.block_params(self.entry);
        if let Some(n) = params.iter().position(|&p| p == param)
            && let Some(p) = self.func.sig.params.get_mut(n)
        {
            p.noalias = true;
        }
    }

    /// Tells a host of the last parameter: its name, and how it is found.
    #[track_caller]
    pub fn describe_param(&mut self, name: impl Into<String>, role: ParamRole) {
        match self.func.sig.params.len().checked_sub(1) {
            Some(last) => {
                let name = name.into();
                self.func.reflection.set(last, ParamInfo { name, role });
            }
            None => self.mistake("a name of a parameter before there is one"),
        }
    }

    #[track_caller]
    fn param_of(&mut self, ty: Type, kind: ArgKind) -> Value {
        self.func.sig.params.push(Param::new(ty, kind));
        self.func.dfg.append_block_param(self.entry, ty)
    }

    /// Work-items of a thread; of a subroutine those of its execution mask, or 1.
    pub fn simd(&self) -> u32 {
        match (self.func.kind, self.exec_mask) {
            (FuncKind::Kernel { simd, .. }, _) => simd,
            (FuncKind::Subroutine, Some(mask)) => self.ssa.ty(mask).lanes(),
            (FuncKind::Subroutine, None) => 1,
        }
    }

    /// Says which work-group size the kernel requires.
    #[track_caller]
    pub fn set_group_size(&mut self, size: [u32; 3]) {
        match &mut self.func.kind {
            FuncKind::Kernel { group_size, .. } => *group_size = Some(size),
            FuncKind::Subroutine => self.mistake("a work-group size of a subroutine"),
        }
    }

    /// Says how many bytes of local memory the kernel has of its own.
    #[track_caller]
    pub fn set_slm_bytes(&mut self, bytes: u32) {
        match &mut self.func.kind {
            FuncKind::Kernel { slm_bytes, .. } => *slm_bytes = bytes,
            FuncKind::Subroutine => self.mistake("local memory of a subroutine"),
        }
    }

    /// Says how many bytes of scratch each hardware thread of the kernel has.
    #[track_caller]
    pub fn set_scratch_bytes(&mut self, bytes: u32) {
        match &mut self.func.kind {
            FuncKind::Kernel { scratch_bytes, .. } => *scratch_bytes = bytes,
            FuncKind::Subroutine => self.mistake("scratch of a subroutine"),
        }
    }

    /// The type of a value; `b1` for one that the function does not have, which whatever uses it
    /// tells.
    pub fn ty(&self, v: Value) -> Type {
        if self.func.dfg.has_value(v) {
            self.func.dfg.ty(v)
        } else {
            Type::scalar_of(Scalar::B1)
        }
    }

    /// Makes a block; it takes its place in the function's order when it is first switched to.
    #[track_caller]
    pub fn create_block(&mut self) -> Block {
        let block = self.func.dfg.make_block();
        self.open.insert(block);
        block
    }

    /// Whether the function has a block; it is told if not.
    #[track_caller]
    fn knows(&mut self, block: Block) -> bool {
        let known = self.func.dfg.has_block(block);
        if !known {
            self.mistake(format!("{block} is not a block of this function"));
        }
        known
    }

    /// Adds a parameter to a block, before any branch to it.
    #[track_caller]
    pub fn append_block_param(&mut self, block: Block, ty: Type) -> Value {
        if !self.knows(block) {
            return self.placeholder(ty);
        }
        if self.ssa.has_params(block) {
            self.mistake(format!(
                "a parameter was added to {block} after variables were used in it"
            ));
        }
        self.func.dfg.append_block_param(block, ty)
    }

    /// Goes on building at the end of a block.
    #[track_caller]
    pub fn switch_to_block(&mut self, block: Block) {
        if !self.knows(block) {
            return;
        }
        if !self.ssa.place(block) {
            self.func.layout.append_block(block);
        }
        self.position = block;
    }

    /// The block built at.
    pub fn current_block(&self) -> Block {
        self.position
    }

    /// Says that every branch to a block was made.
    #[track_caller]
    pub fn seal_block(&mut self, block: Block) {
        if !self.knows(block) {
            return;
        }
        self.ssa.seal(&mut self.func, block);
        if self.has_terminator(block) {
            self.open.remove(&block);
        }
    }

    /// Seals every block.
    #[track_caller]
    pub fn seal_all_blocks(&mut self) {
        for n in 0..self.func.dfg.num_blocks() {
            self.seal_block(Block::from_u32(n as u32));
        }
    }

    /// Whether the current block has its terminator.
    pub fn is_filled(&self) -> bool {
        self.has_terminator(self.position)
    }

    fn has_terminator(&self, block: Block) -> bool {
        self.func
            .layout
            .terminator(block)
            .is_some_and(|i| self.func.dfg.data(i).opcode().info().terminator)
    }

    /// A sampler of the kernel's own, by its number: behind all sampler parameters, which must be
    /// there before.
    #[track_caller]
    pub fn own_sampler(&mut self, sampler: Sampler) -> u8 {
        let given = self.func.sig.params.iter();
        let given = given.filter(|p| p.kind == ArgKind::Sampler).count();
        let all = &mut self.func.samplers;
        let there = all.iter().position(|s| *s == sampler);
        let n = there.unwrap_or_else(|| {
            all.push(sampler);
            all.len() - 1
        });
        u8::try_from(given + n).unwrap_or(u8::MAX)
    }

    /// A new variable.
    #[track_caller]
    pub fn declare_var(&mut self, ty: Type) -> Variable {
        self.ssa.declare(ty)
    }

    /// A new variable with a first value, in all lanes.
    #[track_caller]
    pub fn var(&mut self, value: Value) -> Variable {
        let var = self.declare_var(self.ty(value));
        self.def_var_all_lanes(var, value);
        var
    }

    /// Assigns a variable. In a divergent construct (`simd_if`, `simd_loop`), a variable that has a
    /// lane per channel changes in the channels that run and keeps its old value in the others. One
    /// of another number of lanes is the whole thread's: all of it changes, as by
    /// [`FunctionBuilder::def_var_all_lanes`].
    #[track_caller]
    pub fn def_var(&mut self, var: Variable, value: Value) {
        if !self.may_assign(var, value) {
            return;
        }
        let mut value = value;
        if self.is_divergent() && self.ssa.ty(var).lanes() == self.mask_lanes() {
            let (mask, old) = (self.exec_mask(), self.read(var));
            value = self.ins().select(mask, value, old);
        }
        self.write(var, value);
    }

    /// Assigns all lanes of a variable, whichever channels run.
    #[track_caller]
    pub fn def_var_all_lanes(&mut self, var: Variable, value: Value) {
        if self.may_assign(var, value) {
            self.write(var, value);
        }
    }

    #[track_caller]
    fn may_assign(&mut self, var: Variable, value: Value) -> bool {
        if !self.ssa.has(var) {
            self.mistake(format!("{var} is not a variable of this function"));
            return false;
        }
        if !self.func.dfg.has_value(value) {
            self.mistake(format!(
                "{var} was assigned {value}, which is not a value of this function"
            ));
            return false;
        }
        if self.is_filled() {
            let at = self.position;
            self.mistake(format!("{var} was assigned after the end of {at}"));
            return false;
        }
        let (want, have) = (self.ssa.ty(var), self.ty(value));
        if want != have {
            self.mistake(format!(
                "{var} is {want}, but was assigned {value} of type {have}"
            ));
        }
        want == have
    }

    #[track_caller]
    fn write(&mut self, var: Variable, value: Value) {
        self.ssa.define(self.position, var, value);
    }

    #[track_caller]
    fn read(&mut self, var: Variable) -> Value {
        self.ssa.value(&mut self.func, self.position, var)
    }

    /// A variable's value here. On a path where nothing assigned it, any value; that no path
    /// assigns it is a mistake.
    #[track_caller]
    pub fn use_var(&mut self, var: Variable) -> Value {
        if !self.ssa.has(var) {
            self.mistake(format!("{var} is not a variable of this function"));
            return self.placeholder(Type::scalar_of(Scalar::B1));
        }
        self.ssa.read(&mut self.func, self.position, var)
    }

    /// A value for a mistake's result.
    #[track_caller]
    fn placeholder(&mut self, ty: Type) -> Value {
        self.in_entry(Opcode::Undef, ty)
    }

    /// Says where the instructions that are appended from now on come from; [`SourceLoc::NONE`]:
    /// from nowhere that is known. The file is one of the module's
    /// ([`Module::source_file`](crate::ir::Module::source_file)).
    #[track_caller]
    pub fn set_source_loc(&mut self, loc: SourceLoc) {
        self.srcloc = loc;
    }

    /// Where the instructions that are appended come from.
    pub fn source_loc(&self) -> SourceLoc {
        self.srcloc
    }

    /// Says what a debugger would call a value. Several values may have one name, as a variable has
    /// one value after the other.
    #[track_caller]
    pub fn label(&mut self, value: Value, name: &str) {
        if self.func.dfg.has_value(value) {
            self.func.labels.add(name, value)
        } else {
            self.mistake(format!(
                "the label {name:?} of {value}, which is not a value of this function"
            ))
        }
    }

    /// Appends an instruction to the current block.
    #[track_caller]
    pub fn ins(&mut self) -> Ins<'_, 'f> {
        Ins { b: self }
    }

    /// Appends an instruction. `known`: the function has all of its operands.
    #[track_caller]
    fn push(&mut self, data: InstData, known: bool) -> Inst {
        if self.is_filled() {
            self.mistake(format!(
                "`{}` after the end of {}",
                data.opcode(),
                self.position
            ));
        }
        let inst = self.func.dfg.make_inst(data, &[]);
        self.func.set_srcloc(inst, self.srcloc);
        self.callers[inst] = Some(self.here());
        let terminator = data.opcode().info().terminator;
        if !known || terminator {
            self.known_operands(inst);
        }
        self.func.layout.append_inst(self.position, inst);
        if terminator {
            self.leads(inst);
        }
        inst
    }

    /// Notes where a terminator leads.
    #[track_caller]
    fn leads(&mut self, inst: Inst) {
        let mut sealed = Vec::new();
        for (n, dest) in self.func.dfg.destinations(inst).iter().enumerate() {
            if self.ssa.is_sealed(dest.block) {
                sealed.push(dest.block);
            } else {
                self.ssa.add_pred(dest.block, self.position, inst, n);
            }
        }
        for block in sealed {
            self.mistake(format!("a branch to {block} after it was sealed"));
        }
        if self.ssa.is_sealed(self.position) {
            self.open.remove(&self.position);
        }
    }

    /// Tells of operands that the function does not have, and replaces them.
    #[track_caller]
    fn known_operands(&mut self, inst: Inst) {
        let dfg = &self.func.dfg;
        let data = dfg.data(inst);
        let opcode = data.opcode();
        let mut foreign = Vec::new();
        data.for_each_arg(dfg, |v| {
            if !dfg.has_value(v) {
                foreign.push(v);
            }
        });
        let dests = data.destinations(dfg).iter();
        let blocks: Vec<Block> = dests
            .map(|d| d.block)
            .filter(|b| !dfg.has_block(*b))
            .collect();
        for b in blocks {
            self.mistake(format!(
                "`{opcode}` to {b}, which is not a block of this function"
            ));
            let here = self.position;
            for d in self.func.dfg.destinations_mut(inst).0 {
                if d.block == b {
                    d.block = here;
                }
            }
        }
        if foreign.is_empty() {
            return;
        }
        for v in &foreign {
            self.mistake(format!(
                "`{opcode}` of {v}, which is not a value of this function"
            ));
        }
        let instead = self.placeholder(Type::scalar_of(Scalar::B1));
        self.func
            .dfg
            .map_args(inst, |v| if foreign.contains(&v) { instead } else { v });
    }

    /// Puts a nullary instruction at the start of the entry block.
    #[track_caller]
    fn in_entry(&mut self, opcode: Opcode, ty: Type) -> Value {
        self.at_entry(InstData::Nullary { opcode }, ty)
    }

    /// No channels, as a value of the entry block.
    #[track_caller]
    fn in_entry_constant(&mut self, lanes: u32) -> Value {
        let opcode = Opcode::Bconst;
        let ty = Type::clamped(Scalar::B1, lanes);
        self.at_entry(InstData::Imm { opcode, bits: 0 }, ty)
    }

    #[track_caller]
    fn at_entry(&mut self, data: InstData, ty: Type) -> Value {
        let inst = self.func.dfg.make_inst(data, &[]);
        self.ssa.in_front(inst);
        self.func.dfg.append_result(inst, ty)
    }

    #[track_caller]
    fn wrong_results(&mut self, want: &[Type], have: &[Type]) {
        let list = |t: &[Type]| t.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
        let (want, have) = (list(want), list(have));
        self.mistake(format!(
            "`return` of ({have}) in a function whose results are ({want})"
        ));
    }

    /// Whether each block can be reached from the entry.
    fn reachable(&self) -> SecondaryMap<Block, bool> {
        let cfg = ControlFlow::new(&self.func);
        let mut out = SecondaryMap::new();
        for &b in cfg.order() {
            out[b] = true;
        }
        out
    }

    /// Ends building: seals what is not, and removes block parameters that all branches give one
    /// value.
    ///
    /// # Errors
    /// The mistakes made on the way; if there are none, the rules that instructions break by
    /// themselves, as by the types of their operands. The rest is for the verifier.
    pub fn finish(mut self) -> Result<(), BuildError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), BuildError> {
        // What is told and built from here on is of no line.
        self.srcloc = SourceLoc::NONE;
        self.all_ended();
        self.build_leave_block();
        self.seal_all_blocks();
        let unassigned = self.ssa.finish(&mut self.func, self.entry);
        if !unassigned.is_empty() {
            let reachable = self.reachable();
            let mut told: SecondaryMap<Variable, bool> = SecondaryMap::new();
            for r in unassigned {
                if reachable[r.block] && !std::mem::replace(&mut told[r.var], true) {
                    let (var, block) = (r.var, r.block);
                    self.tell(format!("{var} is read in {block}, and nothing assigned it"));
                }
            }
        }
        for n in 0..self.func.dfg.num_blocks() {
            let block = Block::from_u32(n as u32);
            match self.ssa.is_placed(block) {
                true if !self.has_terminator(block) => {
                    self.tell(format!("{block} has no terminator"));
                }
                false if self.ssa.has_preds(block) => {
                    self.tell(format!("{block} is branched to, and was never switched to"));
                }
                _ => {}
            }
        }
        if self.mistakes.is_empty() {
            let mut last = None;
            for e in verifier::broken_alone(&self.func) {
                let inst = match e.place {
                    Place::Inst(i) | Place::Operand(i, _) => Some(i),
                    _ => None,
                };
                // One rule an instruction says enough.
                if inst.is_some() && last == inst {
                    continue;
                }
                last = inst;
                let caller = inst.and_then(|i| self.callers[i]);
                let caller = caller.map_or(String::new(), |c| format!(" ({c})"));
                self.tell(format!("`{}`: {}{caller}", e.at, e.message));
            }
        }
        if self.mistakes.is_empty() {
            return Ok(());
        }
        Err(BuildError {
            function: self.func.name.clone(),
            mistakes: std::mem::take(&mut self.mistakes),
        })
    }
}

/// A map from replaced values to what replaces them.
type Aliases = SecondaryMap<Value, PackedOption<Value>>;
