//! Programs as IR, as a plain front end emits them: in the order of the source, with an address
//! computed where it is used.

use super::program::{Expr, Index, Op, Program, Stmt, Ty};
use gantry_codegen::builder::{BuildError, FunctionBuilder, Variable};
use gantry_codegen::ir::{Dim, Function, MemFlags, Module, Scalar, Space, Type, Value};

const SIMD: u32 = 16;

const fn scalar(ty: Ty) -> Scalar {
    match ty {
        Ty::U8 => Scalar::I8,
        Ty::U16 => Scalar::I16,
        Ty::U32 => Scalar::I32,
        Ty::U64 => Scalar::I64,
        Ty::F16 => Scalar::F16,
        Ty::F32 => Scalar::F32,
    }
}

/// IR of a value of the program. Constants are emitted where they are used.
#[derive(Clone, Copy)]
enum EmittedValue {
    Nothing,
    Value(Value),
    Const(u64),
}

struct Emit<'a, 'f> {
    p: &'a Program,
    b: FunctionBuilder<'f>,
    buffers: Vec<Value>,
    gid: Value,
    surfaces: bool,
    values: Vec<EmittedValue>,
    vars: Vec<Option<Variable>>,
    counters: Vec<Value>,
}

impl Emit<'_, '_> {
    fn ty(&self, n: usize) -> (Scalar, u32) {
        let what = self.p.values.borrow().get(n).copied();
        let (ty, wide) = what.unwrap_or((Ty::U32, false));
        (scalar(ty), if wide { SIMD } else { 1 })
    }

    /// Returns a value, splatted to each lane.
    fn wide(&mut self, n: usize, lanes: u32) -> Value {
        let ty = Type::clamped(self.ty(n).0, lanes);
        match self.values.get(n).copied().unwrap_or(EmittedValue::Nothing) {
            EmittedValue::Value(v) if self.b.ty(v).lanes() < lanes => self.b.splat(v, lanes),
            EmittedValue::Value(v) => v,
            EmittedValue::Const(bits) if ty.scalar() == Scalar::F32 => {
                let x = f32::from_bits(bits as u32);
                self.b.ins().fconst(ty, x.into())
            }
            EmittedValue::Const(bits) => self.b.ins().iconst(ty, bits as i64),
            EmittedValue::Nothing => self.gid,
        }
    }

    /// Returns the memory of a buffer: global memory, or the surface of its number.
    fn memory(&self, buffer: usize) -> MemFlags {
        MemFlags::of(if self.surfaces {
            Space::Surface(buffer as u8)
        } else {
            Space::Global
        })
    }

    /// Returns an element's address, and an offset in bytes.
    fn address(&mut self, buffer: usize, index: &Index) -> (Value, i32) {
        let ty = self.p.buffers.borrow().get(buffer).map(|b| b.ty);
        let size = scalar(ty.unwrap_or(Ty::U32)).bytes();
        let base = self.buffers.get(buffer).copied().unwrap_or(self.gid);
        let i32 = Type::clamped(Scalar::I32, 1);
        let mut at = None;
        if let Some((counter, by)) = index.step {
            let i = self.counters.get(counter).copied().unwrap_or(self.gid);
            let by = self.b.ins().iconst(i32, by.into());
            at = Some(self.b.ins().imul(i, by));
        }
        if !index.lane && at.is_none() {
            return (base, (index.first * size) as i32);
        }
        let first = self.b.ins().iconst(i32, index.first.into());
        at = Some(match at {
            Some(x) => self.b.ins().iadd(x, first),
            None => first,
        });
        let mut at = at.unwrap_or(first);
        if index.lane {
            at = self.b.splat(at, SIMD);
            at = self.b.ins().iadd(at, self.gid);
        }
        if !self.surfaces {
            return (self.b.element_addr(base, at, size), 0);
        }
        let ty = self.b.ty(at);
        let shift = self.b.ins().iconst(ty, i64::from(size.trailing_zeros()));
        let at = self.b.ins().ishl(at, shift);
        let base = self.b.splat(base, ty.lanes());
        (self.b.ins().iadd(base, at), 0)
    }

    fn expr(&mut self, n: usize, expr: &Expr) -> EmittedValue {
        let (scalar, lanes) = self.ty(n);
        let ty = Type::clamped(scalar, lanes);
        EmittedValue::Value(match expr {
            Expr::Const(bits) => return EmittedValue::Const(*bits),
            Expr::Get(var) => match self.vars.get(*var).copied().flatten() {
                Some(v) => self.b.use_var(v),
                None => self.gid,
            },
            Expr::Load(buffer, index) => {
                let (at, offset) = self.address(*buffer, index);
                let mem = self.memory(*buffer);
                if index.lane {
                    let (mask, old) = (self.b.exec_mask(), self.b.ins().undef(ty));
                    let old = Some((mask, old));
                    self.b.ins().load_from(mem, ty, at, offset, old)
                } else {
                    self.b.ins().bload_from(mem, ty, at, offset)
                }
            }
            Expr::Op(op, args) => {
                let a: Vec<Value> = args.iter().map(|a| self.wide(*a, lanes)).collect();
                self.operation(*op, scalar.is_float(), &a)
            }
        })
    }

    fn operation(&mut self, op: Op, float: bool, a: &[Value]) -> Value {
        let b = self.b.ins();
        match (op, float, a) {
            (Op::Add, true, [x, y]) => b.fadd(*x, *y),
            (Op::Add, false, [x, y]) => b.iadd(*x, *y),
            (Op::Sub, true, [x, y]) => b.fsub(*x, *y),
            (Op::Sub, false, [x, y]) => b.isub(*x, *y),
            (Op::Mul, true, [x, y]) => b.fmul(*x, *y),
            (Op::Mul, false, [x, y]) => b.imul(*x, *y),
            (Op::Min, true, [x, y]) => b.fmin(*x, *y),
            (Op::Min, false, [x, y]) => b.umin(*x, *y),
            (Op::Max, true, [x, y]) => b.fmax(*x, *y),
            (Op::Max, false, [x, y]) => b.umax(*x, *y),
            (Op::Div, true, [x, y]) => b.fdiv(*x, *y),
            (Op::Div, false, [x, y]) => b.udiv(*x, *y),
            (Op::And, _, [x, y]) => b.band(*x, *y),
            (Op::Or, _, [x, y]) => b.bor(*x, *y),
            (Op::Xor, _, [x, y]) => b.bxor(*x, *y),
            (Op::Shl, _, [x, y]) => b.ishl(*x, *y),
            (Op::Shr, _, [x, y]) => b.ushr(*x, *y),
            (Op::Rotl, _, [x, y]) => b.rotl(*x, *y),
            (Op::Not, _, [x]) => b.bnot(*x),
            (Op::Rsqrt, _, [x]) => b.frsqrt(*x),
            (Op::Fma, _, [x, y, z]) => b.fma(*x, *y, *z),
            _ => self.gid,
        }
    }

    fn statements(&mut self, code: &[Stmt]) {
        for s in code {
            match s {
                Stmt::Let(n, expr) => {
                    let v = self.expr(*n, expr);
                    if let Some(slot) = self.values.get_mut(*n) {
                        *slot = v;
                    }
                }
                Stmt::Var(var, v) => {
                    let wide = self.p.vars.borrow().get(*var).is_some_and(|v| v.1);
                    let v = self.wide(*v, if wide { SIMD } else { 1 });
                    let made = self.b.var(v);
                    if let Some(slot) = self.vars.get_mut(*var) {
                        *slot = Some(made);
                    }
                }
                Stmt::Set(n, v) => {
                    if let Some(var) = self.vars.get(*n).copied().flatten() {
                        let wide = self.p.vars.borrow().get(*n).is_some_and(|v| v.1);
                        let value = self.wide(*v, if wide { SIMD } else { 1 });
                        self.b.def_var(var, value);
                    }
                }
                Stmt::Store(buffer, index, v) => {
                    let v = self.wide(*v, SIMD);
                    let (at, offset) = self.address(*buffer, index);
                    let (mem, mask) = (self.memory(*buffer), self.b.exec_mask());
                    self.b.ins().store_to(mem, v, at, offset, Some(mask));
                }
                Stmt::For(_, times, body) => {
                    let i32 = Type::clamped(Scalar::I32, 1);
                    let zero = self.b.ins().iconst(i32, 0);
                    let i = self.b.var(zero);
                    self.b.uniform_loop_begin();
                    let n = self.b.use_var(i);
                    self.counters.push(n);
                    self.statements(body);
                    let one = self.b.ins().iconst(i32, 1);
                    let next = self.b.ins().iadd(n, one);
                    self.b.def_var(i, next);
                    let end = self.b.ins().iconst(i32, i64::from(*times));
                    let done = gantry_codegen::ir::IntCC::SignedGreaterThanOrEqual;
                    let done = self.b.ins().icmp(done, next, end);
                    self.b.uniform_break_if(done);
                    self.b.uniform_loop_end();
                }
            }
        }
    }
}

/// Emits a module with the kernel, in SIMD16. If `surfaces`, buffers are bound as surfaces, with
/// 32-bit addresses.
///
/// # Errors
/// The program is invalid.
pub fn module(kernel: &str, p: &Program, surfaces: bool) -> Result<Module, BuildError> {
    let mut f = Function::kernel(kernel, SIMD);
    let mut b = FunctionBuilder::new(&mut f);
    let count = p.buffers.borrow().len();
    let buffers = (0..count).map(|_| {
        if surfaces {
            b.surface_param()
        } else {
            b.ptr_param()
        }
    });
    let buffers = buffers.collect();
    let gid = b.global_id(Dim::X);
    let mut emit = Emit {
        p,
        b,
        buffers,
        gid,
        surfaces,
        values: vec![EmittedValue::Nothing; p.values.borrow().len()],
        vars: vec![None; p.vars.borrow().len()],
        counters: Vec::new(),
    };
    emit.statements(&p.code.borrow());
    emit.b.ins().return_(&[]);
    emit.b.finish()?;
    let mut m = Module::default();
    m.functions.push(f);
    Ok(m)
}
