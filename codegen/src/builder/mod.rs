//! Builds functions: instructions with inferred types, variables turned into SSA, structured SIMD control flow.
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
mod lanes;
mod simd;
mod ssa;

pub use ins::Ins;

use crate::ir::{
    ArgKind, Block, FloatControls, FuncKind, Function, Inst, InstData, Opcode, Param, Scalar,
    Signature, Type, Value,
};
use cranelift_entity::{SecondaryMap, entity_impl, packed_option::PackedOption};
use simd::Escape;
use ssa::Ssa;

/// A variable of the builder, assigned any number of times.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(u32);
entity_impl!(Variable, "var");

/// What was done wrong while building, first to last.
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

/// Builds one function. Mistakes do not stop it: they are collected for [`FunctionBuilder::finish`].
#[derive(Debug)]
pub struct FunctionBuilder<'f> {
    func: &'f mut Function,
    entry: Block,
    position: Block,
    ssa: Ssa,
    exec_mask: Option<Variable>,
    escapes: Vec<Escape>,
    mistakes: Vec<String>,
}

impl<'f> FunctionBuilder<'f> {
    /// Starts on an empty function, in its entry block, which gets the parameters the signature has so far.
    pub fn new(func: &'f mut Function) -> Self {
        let mut mistakes = Vec::new();
        if func.layout.entry().is_some() {
            mistakes.push("the function is not empty".to_string());
        }
        let entry = func.dfg.make_block();
        func.layout.append_block(entry);
        for p in &func.sig.params {
            func.dfg.append_block_param(entry, p.ty);
        }
        let mut b = FunctionBuilder {
            func,
            entry,
            position: entry,
            ssa: Ssa::default(),
            exec_mask: None,
            escapes: Vec::new(),
            mistakes,
        };
        b.ssa.place(entry);
        b.seal_block(entry);
        b
    }

    fn mistake(&mut self, what: impl Into<String>) {
        self.mistakes.push(what.into());
    }

    /// The function so far.
    pub fn func(&self) -> &Function {
        self.func
    }

    /// The function's parameters so far.
    pub fn params(&self) -> &[Value] {
        self.func.dfg.block_params(self.entry)
    }

    /// Adds a parameter passed by value.
    pub fn param(&mut self, ty: Type) -> Value {
        self.param_of(ty, ArgKind::Value)
    }

    /// Adds a global buffer; the value is its address, `i64`.
    pub fn ptr_param(&mut self) -> Value {
        self.param_of(Type::scalar_of(Scalar::I64), ArgKind::Ptr)
    }

    /// Adds local memory that the host sizes; the value is its SLM offset in bytes, `i32`.
    pub fn slm_param(&mut self) -> Value {
        self.param_of(Type::scalar_of(Scalar::I32), ArgKind::Slm)
    }

    fn param_of(&mut self, ty: Type, kind: ArgKind) -> Value {
        self.func.sig.params.push(Param { ty, kind });
        self.func.dfg.append_block_param(self.entry, ty)
    }

    /// Work-items of a thread; 1 in a subroutine.
    pub fn simd(&self) -> u32 {
        match self.func.kind {
            FuncKind::Kernel { simd, .. } => simd,
            FuncKind::Subroutine => 1,
        }
    }

    /// The type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.func.dfg.ty(v)
    }

    /// Makes a block; it takes its place in the function's order when it is first switched to.
    pub fn create_block(&mut self) -> Block {
        self.func.dfg.make_block()
    }

    /// Adds a parameter to a block, before any branch to it.
    pub fn append_block_param(&mut self, block: Block, ty: Type) -> Value {
        if self.ssa.has_params(block) {
            self.mistake(format!(
                "a parameter was added to {block} after variables were used in it"
            ));
        }
        self.func.dfg.append_block_param(block, ty)
    }

    /// Goes on building at the end of a block.
    pub fn switch_to_block(&mut self, block: Block) {
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
    pub fn seal_block(&mut self, block: Block) {
        self.ssa.seal(self.func, block);
    }

    /// Seals every block.
    pub fn seal_all_blocks(&mut self) {
        for n in 0..self.func.dfg.num_blocks() {
            self.seal_block(Block::from_u32(n as u32));
        }
    }

    /// Whether the current block has its terminator.
    pub fn is_filled(&self) -> bool {
        self.func
            .layout
            .terminator(self.position)
            .is_some_and(|i| self.func.dfg.data(i).opcode().info().terminator)
    }

    /// A new variable.
    pub fn declare_var(&mut self, ty: Type) -> Variable {
        self.ssa.declare(ty)
    }

    /// A new variable with a first value.
    pub fn var(&mut self, value: Value) -> Variable {
        let var = self.declare_var(self.ty(value));
        self.def_var(var, value);
        var
    }

    /// Assigns a variable, all lanes, whatever the execution mask is. See [`FunctionBuilder::assign`].
    pub fn def_var(&mut self, var: Variable, value: Value) {
        let (want, have) = (self.ssa.ty(var), self.ty(value));
        if want != have {
            self.mistake(format!(
                "{var} is {want}, but was assigned {value} of type {have}"
            ));
            return;
        }
        self.ssa.define(self.position, var, value);
    }

    /// A variable's value here; `undef` where nothing assigned it.
    pub fn use_var(&mut self, var: Variable) -> Value {
        self.ssa.value(self.func, self.position, var)
    }

    /// Appends an instruction to the current block.
    pub fn ins(&mut self) -> Ins<'_, 'f> {
        Ins { b: self }
    }

    fn push(&mut self, data: InstData) -> Inst {
        if self.is_filled() {
            self.mistake(format!(
                "`{}` after the end of {}",
                data.opcode(),
                self.position
            ));
        }
        let inst = self.func.dfg.make_inst(data, &[]);
        self.func.layout.append_inst(self.position, inst);
        for (n, dest) in data.destinations().iter().enumerate() {
            if self.ssa.is_sealed(dest.block) {
                self.mistake(format!("a branch to {} after it was sealed", dest.block));
            } else {
                self.ssa.add_pred(dest.block, self.position, inst, n);
            }
        }
        inst
    }

    /// Puts a nullary instruction at the start of the entry block.
    fn in_entry(&mut self, opcode: Opcode, ty: Type) -> Value {
        let inst = self.func.dfg.make_inst(InstData::Nullary { opcode }, &[]);
        self.func.layout.insts_mut(self.entry).insert(0, inst);
        self.func.dfg.append_result(inst, ty)
    }

    /// Ends building: seals what is not, and removes block parameters that all branches give one value.
    ///
    /// # Errors
    /// The mistakes made on the way. What no mistake was made in still has to be verified.
    pub fn finish(mut self) -> Result<(), BuildError> {
        self.seal_all_blocks();
        self.ssa.simplify(self.func);
        for &block in self.func.layout.blocks() {
            let ended = self
                .func
                .layout
                .terminator(block)
                .is_some_and(|i| self.func.dfg.data(i).opcode().info().terminator);
            if !ended {
                self.mistakes.push(format!("{block} has no terminator"));
            }
        }
        if self.mistakes.is_empty() {
            return Ok(());
        }
        Err(BuildError {
            function: self.func.name.clone(),
            mistakes: self.mistakes,
        })
    }
}

/// A map from replaced values to what replaces them.
type Aliases = SecondaryMap<Value, PackedOption<Value>>;
