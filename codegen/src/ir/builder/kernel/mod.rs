//! Convenience builder for kernels written by hand.
//!
//! A [`KernelBuilder`] wraps a [`FunctionBuilder`] so that shared references suffice, and its
//! [`Val`]s have operators.
//!
//! ```
//! use gantry_codegen::builder::KernelBuilder;
//! use gantry_codegen::ir::{Dim, Module,  scalars::*};
//!
//! // y[i] = a * exp(x[i]) + y[i], one work-item a lane, for the first n.
//! let k = KernelBuilder::new("saxpy", 16);
//! let (x, y, a, n) = (k.buffer(), k.buffer(), k.param(F32), k.param(I32));
//! let i = k.global_id(Dim::X);
//! k.simd_if(i.lt(n), || {
//!     k.store(a * k.load(F32, x, i).exp() + k.load(F32, y, i), y, i);
//! });
//! let mut module = Module::default();
//! module.functions.push(k.finish()?);
//! # Ok::<(),  gantry_codegen::builder::BuildError>(())
//! ```
//!
//! It covers what most kernels need. [`KernelBuilder::with`] and [`Val::map`] give access to the
//! underlying builder for the rest.

mod ops;
mod val;

pub use val::{Operand, Val, Var};

use super::{BuildError, Caller, FunctionBuilder, FunctionSlot};
use crate::ir::{
    AtomicOp, Dim, FenceSpaces, Function, ImageAccess, ImagePlace, ImageShape, MemFlags, Scalar,
    Scope, Space, Type, Value,
};
use std::cell::{Cell, RefCell};
use std::panic::Location;

/// Builder of one kernel or subroutine. [`KernelBuilder::finish`] reports errors with their
/// location in the host's source.
#[derive(Debug)]
pub struct KernelBuilder {
    b: RefCell<FunctionBuilder<'static>>,
    /// Location in the host's source of a use within the closure of [`KernelBuilder::with`].
    nested: Cell<Option<Caller>>,
}

fn slm() -> MemFlags {
    MemFlags::of(Space::Slm)
}

impl KernelBuilder {
    /// Starts a kernel of a SIMD width (1, 8, 16 or 32).
    pub fn new(name: impl Into<String>, simd: u32) -> KernelBuilder {
        KernelBuilder::of(Function::kernel(name, simd))
    }

    /// Starts building an empty function, which may have parameters.
    pub fn of(function: Function) -> KernelBuilder {
        let held = FunctionSlot::Owned(Box::new(function));
        KernelBuilder {
            b: RefCell::new(FunctionBuilder::start(held)),
            nested: Cell::new(None),
        }
    }

    /// Uses the underlying builder on behalf of the location `at`. Returns `otherwise` within
    /// another use.
    fn run<R>(
        &self,
        at: (Caller, bool),
        otherwise: R,
        make: impl FnOnce(&mut FunctionBuilder<'static>) -> R,
    ) -> R {
        let Ok(mut b) = self.b.try_borrow_mut() else {
            self.nested.set(Some(at.0));
            return otherwise;
        };
        b.caller = at.1.then_some(at.0);
        let out = make(&mut b);
        b.caller = None;
        out
    }

    /// Makes a value on behalf of the caller.
    #[track_caller]
    fn val(&self, make: impl FnOnce(&mut FunctionBuilder<'static>) -> Value) -> Val<'_> {
        self.val_at(Location::caller(), make)
    }

    /// Makes a value on behalf of a location in the host's source.
    fn val_at(
        &self,
        at: Caller,
        make: impl FnOnce(&mut FunctionBuilder<'static>) -> Value,
    ) -> Val<'_> {
        let v = self.run((at, true), Value::from_u32(u32::MAX - 1), make);
        Val { k: self, v }
    }

    /// Runs a builder operation on behalf of the caller.
    #[track_caller]
    fn say(&self, make: impl FnOnce(&mut FunctionBuilder<'static>)) {
        self.run((Location::caller(), true), (), make);
    }

    /// Makes a value by the underlying builder: `k.with(|b| b.ins().subgroup_id(I32))`. `make` must
    /// not use this builder itself.
    #[track_caller]
    pub fn with(&self, make: impl FnOnce(&mut FunctionBuilder<'static>) -> Value) -> Val<'_> {
        let v = self.run(
            (Location::caller(), false),
            Value::from_u32(u32::MAX - 1),
            make,
        );
        Val { k: self, v }
    }

    /// Uses the underlying builder without making a value.
    #[track_caller]
    pub fn run_with(&self, make: impl FnOnce(&mut FunctionBuilder<'static>)) {
        self.run((Location::caller(), false), (), make);
    }

    /// Finishes building. Adds a missing `return` at the end.
    ///
    /// # Errors
    /// Returns the errors made while building, each with its location in the host's source.
    #[track_caller]
    pub fn finish(self) -> Result<Function, BuildError> {
        let mut b = self.b.into_inner();
        if let Some(at) = self.nested.get() {
            b.report(format!(
                "the builder is used by what `with` runs, which is given the one beneath ({at})"
            ));
        }
        if !b.is_filled() {
            b.ins().return_(&[]);
        }
        b.end()?;
        Ok(match b.func {
            FunctionSlot::Owned(f) => *f,
            FunctionSlot::Borrowed(f) => f.clone(),
        })
    }

    /// Work-items of a thread.
    #[track_caller]
    pub fn simd(&self) -> u32 {
        self.run((Location::caller(), true), 1, |b| b.simd())
    }

    /// Sets the work-group size that the kernel requires.
    #[track_caller]
    pub fn group_size(&self, size: [u32; 3]) {
        self.say(|b| b.set_group_size(size));
    }

    /// Sets the static SLM of the kernel, in bytes.
    #[track_caller]
    pub fn slm_bytes(&self, bytes: u32) {
        self.say(|b| b.set_slm_bytes(bytes));
    }

    /// Adds a global buffer. The value is its address, `i64`.
    #[track_caller]
    pub fn buffer(&self) -> Val<'_> {
        self.val(|b| b.ptr_param())
    }

    /// Adds a parameter passed by value.
    #[track_caller]
    pub fn param(&self, ty: Type) -> Val<'_> {
        self.val(|b| b.param(ty))
    }

    /// Adds SLM whose size the host sets. The value is its SLM offset in bytes, `i32`.
    #[track_caller]
    pub fn slm_param(&self) -> Val<'_> {
        self.val(|b| b.slm_param())
    }

    /// Adds an image: the n-th such parameter is image n.
    #[track_caller]
    pub fn image(&self, shape: ImageShape, access: ImageAccess) {
        self.say(|b| b.image_param(shape, access));
    }

    /// Adds a sampler: the n-th such parameter is sampler n.
    #[track_caller]
    pub fn sampler(&self) {
        self.say(|b| b.sampler_param());
    }

    /// Returns the work-items' global ids in a dimension: `i32` with a lane per work-item.
    #[track_caller]
    pub fn global_id(&self, dim: Dim) -> Val<'_> {
        self.val(|b| b.global_id(dim))
    }

    /// Returns the work-items' local ids in a dimension: `i32` with a lane per work-item.
    #[track_caller]
    pub fn local_id(&self, dim: Dim) -> Val<'_> {
        let id = self.val(|b| b.ins().local_id(dim));
        id.uextend(Scalar::I32)
    }

    /// Returns the work-group's id in a dimension, `i32`.
    #[track_caller]
    pub fn group_id(&self, dim: Dim) -> Val<'_> {
        self.val(|b| b.ins().group_id(dim))
    }

    /// Returns a whole number in every lane of an integer or float type.
    #[track_caller]
    pub fn int(&self, ty: Type, n: i64) -> Val<'_> {
        self.val(|b| {
            if ty.scalar().is_float() {
                b.ins().fconst(ty, n as f64)
            } else {
                b.ins().iconst(ty, n)
            }
        })
    }

    /// Returns a float in every lane.
    #[track_caller]
    pub fn float(&self, ty: Type, n: f64) -> Val<'_> {
        self.val(|b| b.ins().fconst(ty, n))
    }

    /// Returns an integer per lane.
    #[track_caller]
    pub fn ints(&self, scalar: Scalar, lanes: &[i64]) -> Val<'_> {
        self.val(|b| b.ins().ints(scalar, lanes))
    }

    /// Returns an undefined value.
    #[track_caller]
    pub fn undef(&self, ty: Type) -> Val<'_> {
        self.val(|b| b.ins().undef(ty))
    }

    /// Computes addresses of elements of `size` bytes, by signed indices into a buffer.
    #[track_caller]
    pub fn address<'k>(&'k self, base: Val<'k>, index: Val<'k>, size: u32) -> Val<'k> {
        self.val(|b| b.element_addr(base.v, index.v, size))
    }

    /// Loads elements at indices of a buffer, in the enabled channels.
    #[track_caller]
    pub fn load<'k>(&'k self, ty: Type, base: Val<'k>, index: Val<'k>) -> Val<'k> {
        let at = self.address(base, index, ty.bytes());
        self.load_at(ty, at, 0)
    }

    /// Stores elements at indices of a buffer, in the enabled channels.
    #[track_caller]
    pub fn store<'k>(&'k self, value: Val<'k>, base: Val<'k>, index: Val<'k>) {
        let size = value.ty().scalar().bytes();
        let at = self.address(base, index, size);
        self.store_at(value, at, 0);
    }

    /// Loads elements at addresses plus an offset in bytes, in the enabled channels.
    #[track_caller]
    pub fn load_at<'k>(&'k self, ty: Type, at: Val<'k>, offset: i32) -> Val<'k> {
        self.val(|b| b.simd_load(ty, at.v, offset))
    }

    /// Stores elements at addresses plus an offset in bytes, in the enabled channels.
    #[track_caller]
    pub fn store_at(&self, value: Val<'_>, at: Val<'_>, offset: i32) {
        self.say(|b| b.simd_store(value.v, at.v, offset));
    }

    /// Loads consecutive elements from one address plus an offset in bytes, in all lanes.
    #[track_caller]
    pub fn block_load<'k>(&'k self, ty: Type, at: Val<'k>, offset: i32) -> Val<'k> {
        self.val(|b| b.ins().bload(ty, at.v, offset))
    }

    /// Stores consecutive elements to one address plus an offset in bytes, in all lanes.
    #[track_caller]
    pub fn block_store(&self, value: Val<'_>, at: Val<'_>, offset: i32) {
        self.say(|b| b.ins().bstore(value.v, at.v, offset));
    }

    /// Loads elements of SLM at offsets in bytes, in the enabled channels.
    #[track_caller]
    pub fn slm_load<'k>(&'k self, ty: Type, at: Val<'k>) -> Val<'k> {
        self.val(|b| {
            let ty = Type::clamped(ty.scalar(), b.ty(at.v).lanes());
            let mask = b.exec_mask();
            let old = b.ins().undef(ty);
            b.ins().load_from(slm(), ty, at.v, 0, Some((mask, old)))
        })
    }

    /// Stores elements to SLM at offsets in bytes, in the enabled channels.
    #[track_caller]
    pub fn slm_store(&self, value: Val<'_>, at: Val<'_>) {
        self.say(|b| {
            let mask = b.exec_mask();
            b.ins().store_to(slm(), value.v, at.v, 0, Some(mask));
        });
    }

    /// Loads consecutive elements of SLM from one offset in bytes, in all lanes.
    #[track_caller]
    pub fn slm_block_load<'k>(&'k self, ty: Type, at: Val<'k>) -> Val<'k> {
        self.val(|b| b.ins().bload_from(slm(), ty, at.v, 0))
    }

    /// Stores consecutive elements to SLM from one offset in bytes, in all lanes.
    #[track_caller]
    pub fn slm_block_store(&self, value: Val<'_>, at: Val<'_>) {
        self.say(|b| b.ins().bstore_to(slm(), value.v, at.v, 0));
    }

    /// Adds to integers at indices of a buffer, in the enabled channels, and returns the old
    /// values.
    #[track_caller]
    pub fn atomic_add<'k>(&'k self, value: Val<'k>, base: Val<'k>, index: Val<'k>) -> Val<'k> {
        self.val(|b| {
            let ty = b.ty(value.v);
            let at = b.element_addr(base.v, index.v, ty.scalar().bytes());
            let (mask, old) = (b.exec_mask(), b.ins().undef(ty));
            let (mem, masked) = (MemFlags::default(), Some((mask, old)));
            let operands = [value.v];
            b.ins()
                .atomic(AtomicOp::Add, mem, ty, at, 0, &operands, masked)
        })
    }

    /// Samples an image at coordinates: four floats a lane, all red ones first.
    #[track_caller]
    pub fn sample<'k>(&'k self, at: ImagePlace, coords: [Val<'k>; 2]) -> Val<'k> {
        let coords = coords.map(|c| c.v);
        self.val(|b| {
            let ty = Type::clamped(Scalar::F32, 4 * b.ty(coords[0]).lanes());
            b.ins().sample(ty, at, &coords, None, None)
        })
    }

    /// Stores texels at coordinates of an image, in the enabled channels.
    #[track_caller]
    pub fn image_store<'k>(&'k self, value: Val<'k>, image: u8, coords: [Val<'k>; 2]) {
        let coords = coords.map(|c| c.v);
        self.say(|b| {
            let mask = b.exec_mask();
            b.ins().image_store(value.v, image, &coords, Some(mask));
        });
    }

    /// Waits for the other threads of the work-group. Their stores to SLM are visible afterwards.
    #[track_caller]
    pub fn group_barrier(&self) {
        self.say(|b| {
            b.ins().fence(FenceSpaces::Slm, Scope::Group);
            b.ins().barrier();
        });
    }

    /// Declares a variable with an initial value.
    #[track_caller]
    pub fn var<'k>(&'k self, first: Val<'k>) -> Var<'k> {
        let none = super::Variable(u32::MAX - 1);
        let var = self.run((Location::caller(), true), none, |b| b.var(first.v));
        Var { k: self, var }
    }

    /// Runs `then` in the channels where `cond` is set.
    #[track_caller]
    pub fn simd_if(&self, cond: Val<'_>, then: impl FnOnce()) {
        self.say(|b| b.simd_if_begin(cond.v));
        then();
        self.say(|b| b.simd_if_end());
    }

    /// Runs `then` in the channels where `cond` is set, and `otherwise` in the others.
    #[track_caller]
    pub fn simd_if_else(&self, cond: Val<'_>, then: impl FnOnce(), otherwise: impl FnOnce()) {
        self.say(|b| b.simd_if_begin(cond.v));
        then();
        self.say(|b| b.simd_else());
        otherwise();
        self.say(|b| b.simd_if_end());
    }

    /// Repeats `body` until no channel is left in the loop.
    #[track_caller]
    pub fn simd_loop(&self, body: impl FnOnce()) {
        self.say(|b| b.simd_loop_begin());
        body();
        self.say(|b| b.simd_loop_end());
    }

    /// Lets the channels where `cond` is set leave the innermost divergent loop.
    #[track_caller]
    pub fn simd_break_if(&self, cond: Val<'_>) {
        self.say(|b| b.simd_break_if(cond.v));
    }

    /// Runs `then` if a `b1` is set, for the whole thread.
    #[track_caller]
    pub fn uniform_if(&self, cond: Val<'_>, then: impl FnOnce()) {
        self.say(|b| b.uniform_if_begin(cond.v));
        then();
        self.say(|b| b.uniform_if_end());
    }

    /// Repeats `body` for the whole thread until [`KernelBuilder::uniform_break_if`] leaves the
    /// loop.
    #[track_caller]
    pub fn uniform_loop(&self, body: impl FnOnce()) {
        self.say(|b| b.uniform_loop_begin());
        body();
        self.say(|b| b.uniform_loop_end());
    }

    /// Leaves the innermost uniform loop if a `b1` is set.
    #[track_caller]
    pub fn uniform_break_if(&self, cond: Val<'_>) {
        self.say(|b| b.uniform_break_if(cond.v));
    }

    /// Runs `body` for 0, 1 and so on, for the whole thread. The signed bound `end`, of one lane,
    /// is excluded.
    #[track_caller]
    pub fn uniform_for<'k>(&'k self, end: Val<'k>, body: impl FnOnce(Val<'k>)) {
        let i = self.var(self.int(end.ty(), 0));
        self.say(|b| b.uniform_loop_begin());
        let n = i.get();
        self.uniform_break_if(n.ge(end));
        body(n);
        if !self.run((Location::caller(), true), true, |b| b.is_filled()) {
            i.set(n + 1);
        }
        self.say(|b| b.uniform_loop_end());
    }
}
