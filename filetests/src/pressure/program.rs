//! Program for a work-item, as a list of statements from which both OpenCL C and IR are generated.

use std::cell::{Cell, RefCell};
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Shl, Shr, Sub};

/// Work-items of a launch, which is also the distance between a work-item's elements of a buffer.
pub const ITEMS: u32 = 64;

/// Type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ty {
    /// `uchar`.
    U8,
    /// `ushort`.
    U16,
    /// `uint`.
    U32,
    /// `ulong`.
    U64,
    /// `half`.
    F16,
    /// `float`.
    F32,
}

/// Operation on values of one type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// `a * b + c`.
    Fma,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise not.
    Not,
    /// Shift left.
    Shl,
    /// Shift right with zeros.
    Shr,
    /// Rotation left.
    Rotl,
    /// Reciprocal square root.
    Rsqrt,
    /// Quotient.
    Div,
}

/// Index of a buffer element: `first + step * counter`, plus the work-item's number if `lane`.
#[derive(Clone, Copy, Debug)]
pub struct Index {
    /// True if the element differs between work-items.
    pub lane: bool,
    /// Constant part.
    pub first: u32,
    /// Counter of a loop, and its factor.
    pub step: Option<(usize, u32)>,
}

/// Expression of a value. Values are numbered.
#[derive(Clone, Debug)]
pub enum Expr {
    /// Bits of a constant.
    Const(u64),
    /// Value of a variable.
    Get(usize),
    /// Element of a buffer.
    Load(usize, Index),
    /// Operation.
    Op(Op, Vec<usize>),
}

/// Statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Defines a value.
    Let(usize, Expr),
    /// Defines a variable with a value.
    Var(usize, usize),
    /// Assigns a variable.
    Set(usize, usize),
    /// Stores an element of a buffer.
    Store(usize, Index, usize),
    /// Repeats statements, with a counter.
    For(usize, u32, Vec<Stmt>),
}

/// Buffer, which is an argument.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Type of its elements.
    pub ty: Ty,
    /// Number of elements.
    pub elements: u32,
    /// True if the kernel writes it.
    pub output: bool,
}

/// Program, during and after its construction.
#[derive(Debug, Default)]
pub struct Program {
    /// Arguments.
    pub buffers: RefCell<Vec<Buffer>>,
    /// Type of each value, and if it differs between work-items.
    pub values: RefCell<Vec<(Ty, bool)>>,
    /// Type of each variable, and if it differs between work-items.
    pub vars: RefCell<Vec<(Ty, bool)>>,
    /// Statements.
    pub code: RefCell<Vec<Stmt>>,
    counters: Cell<usize>,
}

/// Value of a program.
#[derive(Clone, Copy)]
pub struct V<'p> {
    p: &'p Program,
    n: usize,
}

/// Variable of a program.
#[derive(Clone, Copy)]
pub struct Var<'p> {
    p: &'p Program,
    n: usize,
}

/// Buffer of a program.
#[derive(Clone, Copy)]
pub struct Buf<'p> {
    p: &'p Program,
    n: usize,
}

/// Counter of a loop.
#[derive(Clone, Copy)]
pub struct Counter(usize);

impl Program {
    fn buffer(&self, ty: Ty, elements: u32, output: bool) -> Buf<'_> {
        let mut all = self.buffers.borrow_mut();
        all.push(Buffer {
            ty,
            elements,
            output,
        });
        Buf {
            p: self,
            n: all.len() - 1,
        }
    }

    /// Adds a buffer with `each` elements for each work-item.
    pub fn input(&self, ty: Ty, each: u32) -> Buf<'_> {
        self.buffer(ty, each * ITEMS, false)
    }

    /// Adds a buffer that all work-items read.
    pub fn shared(&self, ty: Ty, elements: u32) -> Buf<'_> {
        self.buffer(ty, elements, false)
    }

    /// Adds a buffer for `each` results of each work-item.
    pub fn output(&self, ty: Ty, each: u32) -> Buf<'_> {
        self.buffer(ty, each * ITEMS, true)
    }

    fn value(&self, ty: Ty, wide: bool, expr: Expr) -> V<'_> {
        let mut all = self.values.borrow_mut();
        all.push((ty, wide));
        let n = all.len() - 1;
        self.code.borrow_mut().push(Stmt::Let(n, expr));
        V { p: self, n }
    }

    fn what(&self, n: usize) -> (Ty, bool) {
        let known = self.values.borrow().get(n).copied();
        known.unwrap_or((Ty::U32, false))
    }

    /// Adds a float constant.
    pub fn f32(&self, x: f32) -> V<'_> {
        self.value(Ty::F32, false, Expr::Const(x.to_bits().into()))
    }

    /// Adds an integer constant.
    pub fn int(&self, ty: Ty, x: u64) -> V<'_> {
        self.value(ty, false, Expr::Const(x))
    }

    fn op<'p>(&'p self, op: Op, args: &[V<'p>]) -> V<'p> {
        let ty = args.first().map_or(Ty::U32, |a| a.ty());
        let wide = args.iter().any(|a| self.what(a.n).1);
        let args = args.iter().map(|a| a.n).collect();
        self.value(ty, wide, Expr::Op(op, args))
    }

    /// Adds a variable.
    pub fn var<'p>(&'p self, value: V<'p>) -> Var<'p> {
        let mut all = self.vars.borrow_mut();
        all.push(self.what(value.n));
        let n = all.len() - 1;
        self.code.borrow_mut().push(Stmt::Var(n, value.n));
        Var { p: self, n }
    }

    /// Adds a variable that differs between work-items, initialized to zero.
    pub fn sum(&self) -> Var<'_> {
        let zero = self.f32(0.0);
        let out = self.var(zero);
        if let Some(v) = self.vars.borrow_mut().get_mut(out.n) {
            v.1 = true;
        }
        out
    }

    /// Repeats the statements of `body`.
    pub fn repeat(&self, times: u32, body: impl FnOnce(Counter)) {
        let n = self.counters.replace(self.counters.get() + 1);
        let before = self.code.take();
        body(Counter(n));
        let inside = self.code.replace(before);
        self.code.borrow_mut().push(Stmt::For(n, times, inside));
    }
}

impl<'p> Buf<'p> {
    fn load(self, index: Index) -> V<'p> {
        let ty = self.p.buffers.borrow().get(self.n).map(|b| b.ty);
        let expr = Expr::Load(self.n, index);
        self.p.value(ty.unwrap_or(Ty::U32), index.lane, expr)
    }

    /// Loads the work-item's `k`-th element.
    pub fn own(self, k: u32) -> V<'p> {
        self.load(own(k))
    }

    /// Loads the work-item's elements up to the `n`-th.
    pub fn all(self, n: u32) -> Vec<V<'p>> {
        (0..n).map(|k| self.own(k)).collect()
    }

    /// Loads the work-item's element `k + each * counter`.
    pub fn own_at(self, k: u32, counter: Counter, each: u32) -> V<'p> {
        let step = Some((counter.0, each * ITEMS));
        self.load(Index { step, ..own(k) })
    }

    /// Loads an element that is the same for all work-items.
    pub fn one(self, first: u32) -> V<'p> {
        self.load(Index {
            lane: false,
            first,
            step: None,
        })
    }

    /// Loads the element `k + each * counter` of all work-items.
    pub fn one_at(self, first: u32, counter: Counter, each: u32) -> V<'p> {
        self.load(Index {
            lane: false,
            first,
            step: Some((counter.0, each)),
        })
    }

    /// Stores the work-item's `k`-th element.
    pub fn put(self, k: u32, value: V<'p>) {
        let stmt = Stmt::Store(self.n, own(k), value.n);
        self.p.code.borrow_mut().push(stmt);
    }

    /// Stores the work-item's elements.
    pub fn put_all(self, values: &[V<'p>]) {
        for (k, v) in (0..).zip(values) {
            self.put(k, *v);
        }
    }
}

fn own(k: u32) -> Index {
    Index {
        lane: true,
        first: k * ITEMS,
        step: None,
    }
}

impl<'p> Var<'p> {
    /// Reads the variable.
    pub fn get(self) -> V<'p> {
        let what = self.p.vars.borrow().get(self.n).copied();
        let (ty, wide) = what.unwrap_or((Ty::U32, false));
        self.p.value(ty, wide, Expr::Get(self.n))
    }

    /// Assigns the variable.
    pub fn set(self, value: V<'p>) {
        let stmt = Stmt::Set(self.n, value.n);
        self.p.code.borrow_mut().push(stmt);
    }
}

impl<'p> V<'p> {
    /// Returns the type.
    pub fn ty(self) -> Ty {
        self.p.what(self.n).0
    }

    /// Computes `self * b + c`.
    pub fn fma(self, b: V<'p>, c: V<'p>) -> V<'p> {
        self.p.op(Op::Fma, &[self, b, c])
    }

    /// Computes the minimum.
    pub fn min(self, b: V<'p>) -> V<'p> {
        self.p.op(Op::Min, &[self, b])
    }

    /// Computes the maximum.
    pub fn max(self, b: V<'p>) -> V<'p> {
        self.p.op(Op::Max, &[self, b])
    }

    /// Computes the quotient.
    pub fn over(self, b: V<'p>) -> V<'p> {
        self.p.op(Op::Div, &[self, b])
    }

    /// Computes the reciprocal square root.
    pub fn rsqrt(self) -> V<'p> {
        self.p.op(Op::Rsqrt, &[self])
    }

    /// Rotates left.
    pub fn rotl(self, n: u32) -> V<'p> {
        let n = self.p.int(self.ty(), n.into());
        self.p.op(Op::Rotl, &[self, n])
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident),*) => {$(
        impl<'p> $trait for V<'p> {
            type Output = V<'p>;

            fn $method(self, other: V<'p>) -> V<'p> {
                self.p.op(Op::$op, &[self, other])
            }
        }
    )*};
}

operators!(Add add Add, Sub sub Sub, Mul mul Mul, BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);

impl<'p> Shl<u32> for V<'p> {
    type Output = V<'p>;

    fn shl(self, n: u32) -> V<'p> {
        let n = self.p.int(self.ty(), n.into());
        self.p.op(Op::Shl, &[self, n])
    }
}

impl<'p> Shr<u32> for V<'p> {
    type Output = V<'p>;

    fn shr(self, n: u32) -> V<'p> {
        let n = self.p.int(self.ty(), n.into());
        self.p.op(Op::Shr, &[self, n])
    }
}

impl<'p> Not for V<'p> {
    type Output = V<'p>;

    fn not(self) -> V<'p> {
        self.p.op(Op::Not, &[self])
    }
}
