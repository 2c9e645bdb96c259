//! What makes building kernels by hand bearable: values with operators, over a [`FunctionBuilder`].

use gantry_codegen::builder::{FunctionBuilder, Variable};
use gantry_codegen::ir::{
    AtomicOp, Dim, FenceSpaces, FloatCC, FloatControls, FuncKind, Function, ImageAccess,
    ImagePlace, ImageShape, IntCC, MemFlags, Region, Scalar, Scope, Space, Type, Value,
};
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Shl, Shr, Sub};

/// A builder that shared references are enough for.
pub struct Kit<'f> {
    b: RefCell<FunctionBuilder<'f>>,
}

/// A value with operators. Where one side has one lane, it is splat.
#[derive(Clone, Copy)]
pub struct V<'k, 'f> {
    k: &'k Kit<'f>,
    v: Value,
}

/// What an operator takes on its right: a value, or a number for all lanes.
pub trait Operand<'k, 'f> {
    fn beside(self, other: V<'k, 'f>) -> V<'k, 'f>;
}

impl<'k, 'f> Operand<'k, 'f> for V<'k, 'f> {
    fn beside(self, other: V<'k, 'f>) -> V<'k, 'f> {
        self.wide(other.ty().lanes())
    }
}

impl<'k, 'f> Operand<'k, 'f> for i32 {
    fn beside(self, other: V<'k, 'f>) -> V<'k, 'f> {
        other.k.int(other.ty(), self.into())
    }
}

impl<'k, 'f> Operand<'k, 'f> for f32 {
    fn beside(self, other: V<'k, 'f>) -> V<'k, 'f> {
        other.k.float(other.ty(), self.into())
    }
}

/// A kernel of a SIMD width, perhaps with a group size and local memory.
pub fn kernel(
    name: &str,
    simd: u32,
    group: Option<[u32; 3]>,
    slm_bytes: u32,
    build: impl for<'k, 'f> FnOnce(&'k Kit<'f>),
) -> Function {
    let mut f = Function::kernel(name, simd);
    f.kind = FuncKind::Kernel {
        simd,
        slm_bytes,
        scratch_bytes: 0,
        group_size: group,
        float: FloatControls::default(),
    };
    let kit = Kit {
        b: RefCell::new(FunctionBuilder::new(&mut f)),
    };
    build(&kit);
    let mut b = kit.b.into_inner();
    b.ins().return_(&[]);
    b.finish().unwrap();
    f
}

fn slm() -> MemFlags {
    MemFlags::of(Space::Slm)
}

impl<'f> Kit<'f> {
    /// Uses the builder itself.
    pub fn with<'k>(&'k self, make: impl FnOnce(&mut FunctionBuilder<'f>) -> Value) -> V<'k, 'f> {
        let v = make(&mut self.b.borrow_mut());
        V { k: self, v }
    }

    fn say(&self, make: impl FnOnce(&mut FunctionBuilder<'f>)) {
        make(&mut self.b.borrow_mut());
    }

    pub fn simd(&self) -> u32 {
        self.b.borrow().simd()
    }

    pub fn buffer(&self) -> V<'_, 'f> {
        self.with(|b| b.ptr_param())
    }

    pub fn image(&self, shape: ImageShape, access: ImageAccess) {
        self.b.borrow_mut().image_param(shape, access);
    }

    pub fn sampler(&self) {
        self.b.borrow_mut().sampler_param();
    }

    /// Texels of floats around places, by the first sampler: red, green, blue and alpha of all lanes.
    pub fn sample<'k>(&'k self, image: u8, at: [V<'k, 'f>; 2]) -> V<'k, 'f> {
        let place = ImagePlace { image, sampler: 0 };
        let ty = Type::clamped(Scalar::F32, 4 * at[0].ty().lanes());
        let at = at.map(|c| c.v);
        self.with(|b| b.ins().sample(ty, place, &at, None, None))
    }

    /// Texels to places, of the work-items that there are.
    pub fn image_store<'k>(&'k self, value: V<'k, 'f>, image: u8, at: [V<'k, 'f>; 2]) {
        let at = at.map(|c| c.v);
        self.say(|b| {
            let mask = b.exec_mask();
            b.ins().image_store(value.v, image, &at, Some(mask));
        });
    }

    pub fn param(&self, ty: Type) -> V<'_, 'f> {
        self.with(|b| b.param(ty))
    }

    pub fn global_id(&self, dim: Dim) -> V<'_, 'f> {
        self.with(|b| b.global_id(dim))
    }

    pub fn group_id(&self, dim: Dim) -> V<'_, 'f> {
        self.with(|b| b.ins().group_id(dim))
    }

    /// Local ids as `i32`.
    pub fn local_id(&self, dim: Dim) -> V<'_, 'f> {
        let ty = Type::clamped(Scalar::I32, self.simd());
        self.with(|b| b.ins().local_id(dim)).unsigned(ty)
    }

    pub fn int(&self, ty: Type, n: i64) -> V<'_, 'f> {
        self.with(|b| match ty.scalar().is_float() {
            true => b.ins().fconst(ty, n as f64),
            false => b.ins().iconst(ty, n),
        })
    }

    pub fn float(&self, ty: Type, n: f64) -> V<'_, 'f> {
        self.with(|b| b.ins().fconst(ty, n))
    }

    pub fn ints(&self, scalar: Scalar, lanes: &[i64]) -> V<'_, 'f> {
        self.with(|b| b.ins().ints(scalar, lanes))
    }

    pub fn undef(&self, ty: Type) -> V<'_, 'f> {
        self.with(|b| b.ins().undef(ty))
    }

    /// Addresses of elements in a buffer.
    pub fn address<'k>(&'k self, base: V<'k, 'f>, index: V<'k, 'f>, size: u32) -> V<'k, 'f> {
        self.with(|b| b.element_addr(base.v, index.v, size))
    }

    /// Elements of a type at indices in a buffer, in the channels that run.
    pub fn load<'k>(&'k self, ty: Type, base: V<'k, 'f>, index: V<'k, 'f>) -> V<'k, 'f> {
        self.load_at(ty, self.address(base, index, ty.bytes()), 0)
    }

    /// The same by their addresses, and an offset in bytes.
    pub fn load_at<'k>(&'k self, ty: Type, at: V<'k, 'f>, offset: i32) -> V<'k, 'f> {
        self.with(|b| b.simd_load(ty, at.v, offset))
    }

    pub fn store_at<'k>(&'k self, value: V<'k, 'f>, at: V<'k, 'f>, offset: i32) {
        self.say(|b| b.simd_store(value.v, at.v, offset));
    }

    pub fn store<'k>(&'k self, value: V<'k, 'f>, base: V<'k, 'f>, index: V<'k, 'f>) {
        let size = value.ty().scalar().bytes();
        self.store_at(value, self.address(base, index, size), 0);
    }

    /// Neighbouring elements at a byte offset behind one address.
    pub fn block_load<'k>(&'k self, ty: Type, at: V<'k, 'f>, offset: i32) -> V<'k, 'f> {
        self.with(|b| b.ins().bload(ty, at.v, offset))
    }

    pub fn block_store(&self, value: V<'_, 'f>, at: V<'_, 'f>, offset: i32) {
        self.say(|b| b.ins().bstore(value.v, at.v, offset));
    }

    /// 4-byte elements of local memory at byte offsets, in the channels that run.
    pub fn slm_load<'k>(&'k self, ty: Type, at: V<'k, 'f>) -> V<'k, 'f> {
        self.with(|b| {
            let ty = ty.by(b.ty(at.v).lanes());
            let mask = b.exec_mask();
            let old = b.ins().undef(ty);
            b.ins().load_from(slm(), ty, at.v, 0, Some((mask, old)))
        })
    }

    pub fn slm_store(&self, value: V<'_, 'f>, at: V<'_, 'f>) {
        self.say(|b| {
            let mask = b.exec_mask();
            b.ins().store_to(slm(), value.v, at.v, 0, Some(mask));
        });
    }

    /// One element of local memory at a byte offset, whichever channels run.
    pub fn slm_load_one<'k>(&'k self, ty: Type, at: V<'k, 'f>) -> V<'k, 'f> {
        self.with(|b| b.ins().bload_from(slm(), ty, at.v, 0))
    }

    pub fn slm_store_one(&self, value: V<'_, 'f>, at: V<'_, 'f>) {
        self.say(|b| b.ins().bstore_to(slm(), value.v, at.v, 0));
    }

    /// Adds to integers at indices in a buffer, in the channels that run.
    pub fn atomic_add<'k>(&'k self, value: V<'k, 'f>, base: V<'k, 'f>, index: V<'k, 'f>) {
        self.say(|b| {
            let ty = b.ty(value.v);
            let at = b.element_addr(base.v, index.v, 4);
            let (mask, old) = (b.exec_mask(), b.ins().undef(ty));
            let (mem, masked) = (MemFlags::default(), Some((mask, old)));
            b.ins()
                .atomic(AtomicOp::Add, mem, ty, at, 0, &[value.v], masked);
        });
    }

    /// What the threads of the group stored in local memory is there for all of them.
    pub fn meet(&self) {
        self.say(|b| {
            b.ins().fence(FenceSpaces::Slm, Scope::Group);
            b.ins().barrier();
        });
    }

    pub fn var<'k>(&'k self, first: V<'k, 'f>) -> Var<'k, 'f> {
        Var {
            k: self,
            var: self.b.borrow_mut().var(first.v),
        }
    }

    pub fn simd_if(&self, cond: V<'_, 'f>, then: impl FnOnce()) {
        self.say(|b| b.simd_if_begin(cond.v));
        then();
        self.say(|b| b.simd_if_end());
    }

    pub fn simd_loop(&self, body: impl FnOnce()) {
        self.say(|b| b.simd_loop_begin());
        body();
        self.say(|b| b.simd_loop_end());
    }

    pub fn simd_break_if(&self, cond: V<'_, 'f>) {
        self.say(|b| b.simd_break_if(cond.v));
    }

    /// Repeats for the whole thread until [`Kit::uniform_break_if`].
    pub fn uniform_loop(&self, body: impl FnOnce()) {
        self.say(|b| b.uniform_loop_begin());
        body();
        self.say(|b| b.uniform_loop_end());
    }

    pub fn uniform_break_if(&self, cond: V<'_, 'f>) {
        self.say(|b| b.uniform_break_if(cond.v));
    }

    /// Repeats for 0, 1, ... up to a bound of one lane.
    pub fn uniform_for<'k>(&'k self, end: V<'k, 'f>, body: impl FnOnce(V<'k, 'f>)) {
        let i = self.var(self.int(end.ty(), 0));
        self.uniform_loop(|| {
            let n = i.get();
            self.uniform_break_if(n.icmp(IntCC::SignedGreaterThanOrEqual, end));
            body(n);
            i.set(n + 1);
        });
    }
}

/// A variable.
#[derive(Clone, Copy)]
pub struct Var<'k, 'f> {
    k: &'k Kit<'f>,
    var: Variable,
}

impl<'k, 'f> Var<'k, 'f> {
    pub fn get(self) -> V<'k, 'f> {
        self.k.with(|b| b.use_var(self.var))
    }

    /// Assigns it in the channels that run.
    pub fn set(self, value: V<'k, 'f>) {
        self.k.say(|b| b.def_var(self.var, value.v));
    }
}

impl<'k, 'f> V<'k, 'f> {
    pub fn ty(self) -> Type {
        self.k.b.borrow().ty(self.v)
    }

    fn is_float(self) -> bool {
        self.ty().scalar().is_float()
    }

    pub fn wide(self, lanes: u32) -> V<'k, 'f> {
        match self.ty().lanes() == 1 && lanes > 1 {
            true => self.k.with(|b| b.splat(self.v, lanes)),
            false => self,
        }
    }

    /// An operation over this, as wide as the other side, and the other side.
    pub fn op(
        self,
        other: impl Operand<'k, 'f>,
        make: impl FnOnce(&mut FunctionBuilder<'f>, Value, Value) -> Value,
    ) -> V<'k, 'f> {
        let other = other.beside(self);
        let this = self.wide(other.ty().lanes());
        self.k.with(|b| make(b, this.v, other.v))
    }

    pub fn map(self, make: impl FnOnce(&mut FunctionBuilder<'f>, Value) -> Value) -> V<'k, 'f> {
        self.k.with(|b| make(b, self.v))
    }

    pub fn icmp(self, cond: IntCC, other: impl Operand<'k, 'f>) -> V<'k, 'f> {
        self.op(other, |b, x, y| b.ins().icmp(cond, x, y))
    }

    pub fn fcmp(self, cond: FloatCC, other: impl Operand<'k, 'f>) -> V<'k, 'f> {
        self.op(other, |b, x, y| b.ins().fcmp(cond, x, y))
    }

    /// This predicate's lanes of `a`, the others of `b`.
    pub fn select(self, a: impl Operand<'k, 'f>, b: V<'k, 'f>) -> V<'k, 'f> {
        let b = b.wide(self.ty().lanes());
        let a = a.beside(b);
        self.k.with(|x| x.ins().select(self.v, a.v, b.v))
    }

    /// `self * b + c`, rounded once.
    pub fn fma(self, b: impl Operand<'k, 'f>, c: V<'k, 'f>) -> V<'k, 'f> {
        let c = c.wide(self.ty().lanes());
        let a = self.wide(c.ty().lanes());
        let b = b.beside(a);
        self.k.with(|x| x.ins().fma(a.v, b.v, c.v))
    }

    pub fn ushr(self, n: i32) -> V<'k, 'f> {
        self.op(n, |b, x, y| b.ins().ushr(x, y))
    }

    pub fn unsigned(self, ty: Type) -> V<'k, 'f> {
        self.map(|b, x| b.ins().uextend(ty, x))
    }

    pub fn reduce(self, ty: Type) -> V<'k, 'f> {
        self.map(|b, x| b.ins().ireduce(ty, x))
    }

    pub fn to_float(self) -> V<'k, 'f> {
        let ty = Type::clamped(Scalar::F32, self.ty().lanes());
        self.map(|b, x| b.ins().fcvt_from_sint(ty, x))
    }

    pub fn sqrt(self) -> V<'k, 'f> {
        self.map(|b, x| b.ins().fsqrt(x))
    }

    pub fn exp(self) -> V<'k, 'f> {
        (self * std::f32::consts::LOG2_E).map(|b, x| b.ins().fexp2(x))
    }

    pub fn ln(self) -> V<'k, 'f> {
        self.map(|b, x| b.ins().flog2(x)) * std::f32::consts::LN_2
    }

    pub fn abs(self) -> V<'k, 'f> {
        match self.is_float() {
            true => self.map(|b, x| b.ins().fabs(x)),
            false => self.map(|b, x| b.ins().iabs(x)),
        }
    }

    pub fn rotate_right(self, n: i32) -> V<'k, 'f> {
        self.ushr(n) | (self << (32 - n))
    }

    /// Whether signed numbers lie between two, both left out.
    pub fn between(self, low: impl Operand<'k, 'f>, high: impl Operand<'k, 'f>) -> V<'k, 'f> {
        self.icmp(IntCC::SignedGreaterThan, low) & self.icmp(IntCC::SignedLessThan, high)
    }

    /// Lanes of a region, from a byte offset, with an index in bytes (`i16`) where one is given.
    pub fn region(
        self,
        lanes: u32,
        [vstride, width, hstride]: [u16; 3],
        offset: u16,
        index: Option<V<'k, 'f>>,
    ) -> V<'k, 'f> {
        let ty = self.ty().by(lanes);
        let region = Region::new(vstride, width, hstride, offset);
        let index = index.map(|i| i.v);
        self.map(|b, x| b.ins().rdregion_at(ty, x, region, index))
    }

    /// This with a region replaced.
    pub fn replace(
        self,
        [vstride, width, hstride]: [u16; 3],
        offset: u16,
        index: Option<V<'k, 'f>>,
        new: V<'k, 'f>,
    ) -> V<'k, 'f> {
        let region = Region::new(vstride, width, hstride, offset);
        let index = index.map(|i| i.v);
        self.map(|b, x| b.ins().wrregion_at(x, region, index, new.v, None))
    }

    /// Lanes from one on.
    pub fn slice(self, first: u32, lanes: u32) -> V<'k, 'f> {
        self.map(|b, x| b.slice(x, first, lanes))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $int:ident, $float:ident) => {
        impl<'k, 'f, T: Operand<'k, 'f>> $trait<T> for V<'k, 'f> {
            type Output = V<'k, 'f>;

            fn $method(self, other: T) -> V<'k, 'f> {
                let float = self.is_float();
                self.op(other, |b, x, y| match float {
                    true => b.ins().$float(x, y),
                    false => b.ins().$int(x, y),
                })
            }
        }
    };
}

operator!(Add, add, iadd, fadd);
operator!(Sub, sub, isub, fsub);
operator!(Mul, mul, imul, fmul);
operator!(Div, div, sdiv, fdiv);
operator!(BitAnd, bitand, band, band);
operator!(BitOr, bitor, bor, bor);
operator!(BitXor, bitxor, bxor, bxor);
operator!(Shl, shl, ishl, ishl);
operator!(Shr, shr, sshr, sshr);

impl<'k, 'f> Neg for V<'k, 'f> {
    type Output = V<'k, 'f>;

    fn neg(self) -> V<'k, 'f> {
        match self.is_float() {
            true => self.map(|b, x| b.ins().fneg(x)),
            false => self.map(|b, x| b.ins().ineg(x)),
        }
    }
}

impl<'k, 'f> Not for V<'k, 'f> {
    type Output = V<'k, 'f>;

    fn not(self) -> V<'k, 'f> {
        self.map(|b, x| b.ins().bnot(x))
    }
}
