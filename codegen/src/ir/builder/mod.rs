//! Function builder: instructions with inferred types, conversion of variables to SSA, structured
//! SIMD control flow.
//!
//! ```
//! use gantry_codegen::builder::FunctionBuilder;
//! use gantry_codegen::ir::{Dim, Function, scalars::*};
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
//! # Ok::<(), gantry_codegen::builder::BuildError>(())
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

use crate::ir::verifier::ErrorLocation;
use crate::ir::{
    ArgKind, Block, ControlFlow, FloatControls, FuncKind, Function, ImageAccess, ImageShape, Inst,
    InstData, Opcode, Origin, Param, ParamInfo, ParamRole, Sampler, Scalar, Signature, SourceLoc,
    Type, Value, verifier,
};
use cranelift_entity::{SecondaryMap, entity_impl, packed_option::PackedOption};
use scope::Scope;
use ssa::Ssa;
use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

/// Mutable variable of the builder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(u32);
entity_impl!(Variable, "var");

/// Maximum number of reported errors.
const MAX_ERRORS: usize = 100;

/// Errors made while building, in order, up to the first hundred.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("in %{function}: {}", .errors.join("; "))]
pub struct BuildError {
    /// Name of the function.
    pub function: String,
    /// Error messages; at least one.
    pub errors: Vec<String>,
}

impl Function {
    /// Makes an empty kernel of a SIMD width (1, 8, 16 or 32), without parameters yet.
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

    /// Makes an empty subroutine with results of these types, without parameters yet.
    pub fn subroutine(name: impl Into<String>, results: &[Type]) -> Function {
        let sig = Signature {
            params: Vec::new(),
            results: results.to_vec(),
        };
        Function::new(name, FuncKind::Subroutine, sig)
    }
}

/// Builder of one function. Errors do not stop it: [`FunctionBuilder::finish`] reports them.
#[derive(Debug)]
pub struct FunctionBuilder<'f> {
    func: FunctionSlot<'f>,
    entry: Block,
    position: Block,
    ssa: Ssa,
    exec_mask: Option<Variable>,
    scopes: Vec<Scope>,
    /// Block that ends the thread once all channels have returned.
    leave: Option<Block>,
    /// Mask of a subroutine's channels that returned early, then their results.
    returned: Vec<Variable>,
    /// Blocks that are not sealed or have no terminator yet.
    open: BTreeSet<Block>,
    /// Source location of the next instructions.
    srcloc: SourceLoc,
    errors: Vec<String>,
    /// Location in the host's source that built each instruction.
    callers: SecondaryMap<Inst, Option<Caller>>,
    /// Location of the current request, if it is not that of the call.
    caller: Option<Caller>,
}

/// Location in the host's source.
type Caller = &'static Location<'static>;

/// Function being built.
#[derive(Debug)]
enum FunctionSlot<'f> {
    Borrowed(&'f mut Function),
    Owned(Box<Function>),
}

impl Deref for FunctionSlot<'_> {
    type Target = Function;

    fn deref(&self) -> &Function {
        match self {
            FunctionSlot::Borrowed(f) => f,
            FunctionSlot::Owned(f) => f,
        }
    }
}

impl DerefMut for FunctionSlot<'_> {
    fn deref_mut(&mut self) -> &mut Function {
        match self {
            FunctionSlot::Borrowed(f) => f,
            FunctionSlot::Owned(f) => f,
        }
    }
}

impl<'f> FunctionBuilder<'f> {
    /// Starts building in the entry block of an empty function. The block gets the parameters that
    /// the signature has so far.
    pub fn new(func: &'f mut Function) -> Self {
        Self::start(FunctionSlot::Borrowed(func))
    }

    fn start(mut func: FunctionSlot<'f>) -> Self {
        let mut errors = Vec::new();
        if func.layout.entry().is_some() {
            errors.push("the function is not empty".to_string());
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
            errors,
            callers: SecondaryMap::new(),
            caller: None,
        };
        b.ssa.place(entry);
        b.seal_block(entry);
        b
    }

    #[track_caller]
    fn error(&mut self, what: impl Into<String>) {
        let (origin, caller) = (Origin::from(self.srcloc), self.here());
        self.report(format!("{}{origin} ({caller})", what.into()));
    }

    /// Records an error message that has its location, or needs none.
    fn report(&mut self, what: String) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(what);
        }
    }

    /// Returns the location in the host's source that makes the current request.
    #[track_caller]
    fn here(&self) -> Caller {
        match self.caller {
            Some(caller) => caller,
            None => Location::caller(),
        }
    }

    /// Returns the function so far.
    pub fn func(&self) -> &Function {
        &self.func
    }

    /// Returns the function's parameters so far.
    pub fn params(&self) -> &[Value] {
        self.func.dfg.block_params(self.entry)
    }

    /// Adds a parameter passed by value.
    #[track_caller]
    pub fn param(&mut self, ty: Type) -> Value {
        self.param_of(ty, ArgKind::Value)
    }

    /// Adds a global buffer. The value is its address, `i64`.
    #[track_caller]
    pub fn ptr_param(&mut self) -> Value {
        self.param_of(Type::scalar_of(Scalar::I64), ArgKind::Ptr)
    }

    /// Adds SLM whose size the host sets. The value is its SLM offset in bytes, `i32`.
    #[track_caller]
    pub fn slm_param(&mut self) -> Value {
        self.param_of(Type::scalar_of(Scalar::I32), ArgKind::Slm)
    }

    /// Adds a buffer bound as a surface: the n-th such parameter is surface n. The value is the
    /// offset in bytes (`i32`) at which the buffer begins in the surface.
    #[track_caller]
    pub fn surface_param(&mut self) -> Value {
        self.param_of(Type::scalar_of(Scalar::I32), ArgKind::Surface)
    }

    /// Adds an image: the n-th such parameter is image n.
    #[track_caller]
    pub fn image_param(&mut self, shape: ImageShape, access: ImageAccess) {
        let kind = ArgKind::Image(shape, access);
        self.param_of(Type::scalar_of(Scalar::I32), kind);
    }

    /// Adds a sampler: the n-th such parameter is sampler n.
    #[track_caller]
    pub fn sampler_param(&mut self) {
        self.param_of(Type::scalar_of(Scalar::I32), ArgKind::Sampler);
    }

    /// Promises that bytes written through a buffer are accessed through it alone, and that bytes
    /// accessed through it are written through it alone: see [`Param::noalias`].
    #[track_caller]
    pub fn promise_noalias(&mut self, param: Value) {
        let params = self.func.dfg.block_params(self.entry);
        if let Some(n) = params.iter().position(|&p| p == param)
            && let Some(p) = self.func.sig.params.get_mut(n)
        {
            p.noalias = true;
        }
    }

    /// Sets the reflection of the last parameter: its name, and how a host finds it.
    #[track_caller]
    pub fn describe_param(&mut self, name: impl Into<String>, role: ParamRole) {
        match self.func.sig.params.len().checked_sub(1) {
            Some(last) => {
                let name = name.into();
                self.func.reflection.set(last, ParamInfo { name, role });
            }
            None => self.error("a name of a parameter before there is one"),
        }
    }

    #[track_caller]
    fn param_of(&mut self, ty: Type, kind: ArgKind) -> Value {
        self.func.sig.params.push(Param::new(ty, kind));
        self.func.dfg.append_block_param(self.entry, ty)
    }

    /// Work-items of a thread. Of a subroutine, the lanes of its execution mask, or 1.
    pub fn simd(&self) -> u32 {
        match (self.func.kind, self.exec_mask) {
            (FuncKind::Kernel { simd, .. }, _) => simd,
            (FuncKind::Subroutine, Some(mask)) => self.ssa.ty(mask).lanes(),
            (FuncKind::Subroutine, None) => 1,
        }
    }

    /// Sets the work-group size that the kernel requires.
    #[track_caller]
    pub fn set_group_size(&mut self, size: [u32; 3]) {
        match &mut self.func.kind {
            FuncKind::Kernel { group_size, .. } => *group_size = Some(size),
            FuncKind::Subroutine => self.error("a work-group size of a subroutine"),
        }
    }

    /// Sets the static SLM of the kernel, in bytes.
    #[track_caller]
    pub fn set_slm_bytes(&mut self, bytes: u32) {
        match &mut self.func.kind {
            FuncKind::Kernel { slm_bytes, .. } => *slm_bytes = bytes,
            FuncKind::Subroutine => self.error("local memory of a subroutine"),
        }
    }

    /// Sets the scratch of each hardware thread of the kernel, in bytes.
    #[track_caller]
    pub fn set_scratch_bytes(&mut self, bytes: u32) {
        match &mut self.func.kind {
            FuncKind::Kernel { scratch_bytes, .. } => *scratch_bytes = bytes,
            FuncKind::Subroutine => self.error("scratch of a subroutine"),
        }
    }

    /// Returns the type of a value. For an unknown value it is `b1`; the instruction that uses it
    /// reports the error.
    pub fn ty(&self, v: Value) -> Type {
        if self.func.dfg.has_value(v) {
            self.func.dfg.ty(v)
        } else {
            Type::scalar_of(Scalar::B1)
        }
    }

    /// Makes a block. It joins the layout when building first switches to it.
    #[track_caller]
    pub fn create_block(&mut self) -> Block {
        let block = self.func.dfg.make_block();
        self.open.insert(block);
        block
    }

    /// Returns true if the function has a block, else reports an error.
    #[track_caller]
    fn check_block(&mut self, block: Block) -> bool {
        let known = self.func.dfg.has_block(block);
        if !known {
            self.error(format!("{block} is not a block of this function"));
        }
        known
    }

    /// Adds a parameter to a block, before any branch to it.
    #[track_caller]
    pub fn append_block_param(&mut self, block: Block, ty: Type) -> Value {
        if !self.check_block(block) {
            return self.placeholder(ty);
        }
        if self.ssa.has_params(block) {
            self.error(format!(
                "a parameter was added to {block} after variables were used in it"
            ));
        }
        self.func.dfg.append_block_param(block, ty)
    }

    /// Continues building at the end of a block.
    #[track_caller]
    pub fn switch_to_block(&mut self, block: Block) {
        if !self.check_block(block) {
            return;
        }
        if !self.ssa.place(block) {
            self.func.layout.append_block(block);
        }
        self.position = block;
    }

    /// Returns the block that is being built.
    pub fn current_block(&self) -> Block {
        self.position
    }

    /// Seals a block: all branches to it have been made.
    #[track_caller]
    pub fn seal_block(&mut self, block: Block) {
        if !self.check_block(block) {
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

    /// Returns true if the current block has its terminator.
    pub fn is_filled(&self) -> bool {
        self.has_terminator(self.position)
    }

    fn has_terminator(&self, block: Block) -> bool {
        self.func
            .layout
            .terminator(block)
            .is_some_and(|i| self.func.dfg.data(i).opcode().info().terminator)
    }

    /// Declares a sampler of the kernel and returns its number. It follows all sampler parameters,
    /// which must exist by then.
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

    /// Declares a variable.
    #[track_caller]
    pub fn declare_var(&mut self, ty: Type) -> Variable {
        self.ssa.declare(ty)
    }

    /// Declares a variable and assigns a value in all lanes.
    #[track_caller]
    pub fn var(&mut self, value: Value) -> Variable {
        let var = self.declare_var(self.ty(value));
        self.def_var_all_lanes(var, value);
        var
    }

    /// Assigns a variable.
    ///
    /// In a divergent construct (`simd_if`, `simd_loop`), a variable with a lane per channel
    /// changes in the enabled channels only. A variable with another number of lanes belongs to the
    /// whole thread: all of it changes, as by [`FunctionBuilder::def_var_all_lanes`].
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

    /// Assigns all lanes of a variable, regardless of the execution mask.
    #[track_caller]
    pub fn def_var_all_lanes(&mut self, var: Variable, value: Value) {
        if self.may_assign(var, value) {
            self.write(var, value);
        }
    }

    #[track_caller]
    fn may_assign(&mut self, var: Variable, value: Value) -> bool {
        if !self.ssa.has(var) {
            self.error(format!("{var} is not a variable of this function"));
            return false;
        }
        if !self.func.dfg.has_value(value) {
            self.error(format!(
                "{var} was assigned {value}, which is not a value of this function"
            ));
            return false;
        }
        if self.is_filled() {
            let at = self.position;
            self.error(format!("{var} was assigned after the end of {at}"));
            return false;
        }
        let (want, have) = (self.ssa.ty(var), self.ty(value));
        if want != have {
            self.error(format!(
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

    /// Returns the current value of a variable. On paths that do not assign it, the value is
    /// undefined. An error is reported if no path assigns it.
    #[track_caller]
    pub fn use_var(&mut self, var: Variable) -> Value {
        if !self.ssa.has(var) {
            self.error(format!("{var} is not a variable of this function"));
            return self.placeholder(Type::scalar_of(Scalar::B1));
        }
        self.ssa.read(&mut self.func, self.position, var)
    }

    /// Returns a value that stands for the result of an error.
    #[track_caller]
    fn placeholder(&mut self, ty: Type) -> Value {
        self.in_entry(Opcode::Undef, ty)
    }

    /// Sets the source location of the instructions that follow. [`SourceLoc::NONE`] means that it
    /// is unknown. The file is one of the module
    /// ([`Module::source_file`](crate::ir::Module::source_file)).
    #[track_caller]
    pub fn set_source_loc(&mut self, loc: SourceLoc) {
        self.srcloc = loc;
    }

    /// Returns the source location of the instructions that follow.
    pub fn source_loc(&self) -> SourceLoc {
        self.srcloc
    }

    /// Names a value for a debugger. Several values may share a name, since a variable takes one
    /// value after another.
    #[track_caller]
    pub fn label(&mut self, value: Value, name: &str) {
        if self.func.dfg.has_value(value) {
            self.func.labels.add(name, value)
        } else {
            self.error(format!(
                "the label {name:?} of {value}, which is not a value of this function"
            ))
        }
    }

    /// Appends an instruction to the current block.
    #[track_caller]
    pub fn ins(&mut self) -> Ins<'_, 'f> {
        Ins { b: self }
    }

    /// Appends an instruction. `known` means that the function has all of its operands.
    #[track_caller]
    fn push(&mut self, data: InstData, known: bool) -> Inst {
        if self.is_filled() {
            self.error(format!(
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
            self.check_operands(inst);
        }
        self.func.layout.append_inst(self.position, inst);
        if terminator {
            self.add_edges(inst);
        }
        inst
    }

    /// Records the edges of a terminator.
    #[track_caller]
    fn add_edges(&mut self, inst: Inst) {
        let mut sealed = Vec::new();
        for (n, dest) in self.func.dfg.destinations(inst).iter().enumerate() {
            if self.ssa.is_sealed(dest.block) {
                sealed.push(dest.block);
            } else {
                self.ssa.add_pred(dest.block, self.position, inst, n);
            }
        }
        for block in sealed {
            self.error(format!("a branch to {block} after it was sealed"));
        }
        if self.ssa.is_sealed(self.position) {
            self.open.remove(&self.position);
        }
    }

    /// Reports operands that the function does not have, and replaces them.
    #[track_caller]
    fn check_operands(&mut self, inst: Inst) {
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
            self.error(format!(
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
            self.error(format!(
                "`{opcode}` of {v}, which is not a value of this function"
            ));
        }
        let instead = self.placeholder(Type::scalar_of(Scalar::B1));
        self.func
            .dfg
            .map_args(inst, |v| if foreign.contains(&v) { instead } else { v });
    }

    /// Inserts a nullary instruction at the start of the entry block.
    #[track_caller]
    fn in_entry(&mut self, opcode: Opcode, ty: Type) -> Value {
        self.at_entry(InstData::Nullary { opcode }, ty)
    }

    /// Inserts an empty mask at the start of the entry block.
    #[track_caller]
    fn in_entry_constant(&mut self, lanes: u32) -> Value {
        let opcode = Opcode::Bconst;
        let ty = Type::clamped(Scalar::B1, lanes);
        self.at_entry(InstData::Imm { opcode, bits: 0 }, ty)
    }

    #[track_caller]
    fn at_entry(&mut self, data: InstData, ty: Type) -> Value {
        let inst = self.func.dfg.make_inst(data, &[]);
        self.ssa.prepend_to_entry(inst);
        self.func.dfg.append_result(inst, ty)
    }

    #[track_caller]
    fn wrong_results(&mut self, want: &[Type], have: &[Type]) {
        let list = |t: &[Type]| t.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
        let (want, have) = (list(want), list(have));
        self.error(format!(
            "`return` of ({have}) in a function whose results are ({want})"
        ));
    }

    /// Returns, for each block, true if the entry reaches it.
    fn reachable(&self) -> SecondaryMap<Block, bool> {
        let cfg = ControlFlow::new(&self.func);
        let mut out = SecondaryMap::new();
        for &b in cfg.order() {
            out[b] = true;
        }
        out
    }

    /// Finishes building: seals all blocks, and removes block parameters that get the same value
    /// from all branches.
    ///
    /// # Errors
    /// Returns the errors made while building. Without any, returns the rules that single
    /// instructions violate, such as those on operand types. Other rules are left to the verifier.
    pub fn finish(mut self) -> Result<(), BuildError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), BuildError> {
        // Errors and instructions from here on have no source location.
        self.srcloc = SourceLoc::NONE;
        self.all_ended();
        self.build_leave_block();
        self.seal_all_blocks();
        let unassigned = self.ssa.finish(&mut self.func, self.entry);
        if !unassigned.is_empty() {
            let reachable = self.reachable();
            let mut reported: SecondaryMap<Variable, bool> = SecondaryMap::new();
            for r in unassigned {
                if reachable[r.block] && !std::mem::replace(&mut reported[r.var], true) {
                    let (var, block) = (r.var, r.block);
                    self.report(format!("{var} is read in {block}, and nothing assigned it"));
                }
            }
        }
        for n in 0..self.func.dfg.num_blocks() {
            let block = Block::from_u32(n as u32);
            match self.ssa.is_placed(block) {
                true if !self.has_terminator(block) => {
                    self.report(format!("{block} has no terminator"));
                }
                false if self.ssa.has_preds(block) => {
                    self.report(format!("{block} is branched to, and was never switched to"));
                }
                _ => {}
            }
        }
        if self.errors.is_empty() {
            let mut last = None;
            for e in verifier::broken_alone(&self.func) {
                let inst = match e.place {
                    ErrorLocation::Inst(i) | ErrorLocation::Operand(i, _) => Some(i),
                    _ => None,
                };
                // One violated rule per instruction suffices.
                if inst.is_some() && last == inst {
                    continue;
                }
                last = inst;
                let caller = inst.and_then(|i| self.callers[i]);
                let caller = caller.map_or(String::new(), |c| format!(" ({c})"));
                self.report(format!("`{}`: {}{caller}", e.at, e.message));
            }
        }
        if self.errors.is_empty() {
            return Ok(());
        }
        Err(BuildError {
            function: self.func.name.clone(),
            errors: std::mem::take(&mut self.errors),
        })
    }
}

/// Map from replaced values to their replacements.
type Aliases = SecondaryMap<Value, PackedOption<Value>>;
