//! Functions of a known shape and any size, for measurements of time and memory. Each repeats a
//! small piece in sequence or nested, up to a number of instructions.

use crate::ir::builder::{BuildError, FunctionBuilder, Variable};
use crate::ir::{
    Block, Dim, FuncRef, Function, IntCC, MAX_CASES, Module, Scalar, Type, Value, scalars::*,
};

gantry_isa_gen::named_enum! {
    /// Shape of a function.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Shape {
        /// One block.
        Straight = "straight",
        /// Sequence of uniform ifs with two sides.
        Diamonds = "diamonds",
        /// Nested uniform ifs.
        NestedIfs = "nested-ifs",
        /// One `switch` with the maximum number of cases, followed by more of them.
        Switch = "switch",
        /// Sequence of uniform loops.
        Loops = "loops",
        /// Nested uniform loops.
        NestedLoops = "nested-loops",
        /// Sequence of divergent ifs.
        SimdIfs = "simd-ifs",
        /// Sequence of nests of divergent ifs.
        NestedSimdIfs = "nested-simd-ifs",
        /// Sequence of divergent loops.
        SimdLoops = "simd-loops",
        /// Sequence of nests of divergent loops.
        NestedSimdLoops = "nested-simd-loops",
        /// Chain of subroutines that call the next one.
        Calls = "calls",
        /// Many calls of one subroutine, which is too large to inline.
        CallSites = "call-sites",
        /// One block with more live values than the GRF file holds, throughout.
        Pressure = "pressure",
        /// Sequence of uniform loops across which more values are live than the GRF file holds.
        PressureLoops = "pressure-loops",
    }
}

/// Maximum nesting depth of divergent control flow. Each level keeps a mask live, so the depth is
/// limited.
const NEST: usize = 32;

/// Number of simultaneously live 64-byte vectors in shapes with register pressure.
const LIVE: usize = 80;

impl Shape {
    /// Makes a module of about this many instructions.
    ///
    /// # Errors
    /// Returns an error if the builder reports one, which is a bug.
    pub fn module(self, instructions: usize) -> Result<Module, BuildError> {
        let mut module = Module::default();
        let mut func = Function::kernel("k", 16);
        let mut b = FunctionBuilder::new(&mut func);
        let out = b.ptr_param();
        let n = b.param(I32);
        let id = b.global_id(Dim::X);
        let mut s = ShapeVars {
            uniform: b.var(n),
            lanes: b.var(id),
            n,
        };
        let copies = |each: usize| instructions / each;
        match self {
            Shape::Straight => (0..copies(4)).for_each(|_| s.straight(&mut b)),
            Shape::Diamonds => (0..copies(9)).for_each(|_| s.diamond(&mut b)),
            Shape::NestedIfs => s.nested_ifs(&mut b, copies(6)),
            Shape::Switch => s.switches(&mut b, copies(4)),
            Shape::Loops => (0..copies(5)).for_each(|_| s.nested_loops(&mut b, 1)),
            Shape::NestedLoops => s.nested_loops(&mut b, copies(5)),
            Shape::SimdIfs => (0..copies(10)).for_each(|_| s.nested_simd_ifs(&mut b, 1)),
            Shape::NestedSimdIfs => {
                (0..copies(10 * NEST)).for_each(|_| s.nested_simd_ifs(&mut b, NEST))
            }
            Shape::SimdLoops => (0..copies(16)).for_each(|_| s.nested_simd_loops(&mut b, 1)),
            Shape::NestedSimdLoops => {
                (0..copies(16 * NEST)).for_each(|_| s.nested_simd_loops(&mut b, NEST));
            }
            Shape::CallSites => {
                for _ in 0..copies(2) {
                    let x = b.use_var(s.uniform);
                    let r = b.ins().call(FuncRef::from_u32(1), &[I32], &[x]);
                    if let [r] = r[..] {
                        let sum = b.ins().iadd(r, x);
                        b.def_var(s.uniform, sum);
                    }
                }
            }
            Shape::Pressure => s.pressure(&mut b, copies(1), usize::MAX),
            Shape::PressureLoops => s.pressure(&mut b, copies(1), 60),
            Shape::Calls => {
                let x = b.use_var(s.uniform);
                let r = b.ins().call(FuncRef::from_u32(1), &[I32], &[x]);
                if let [r] = r[..] {
                    b.def_var(s.uniform, r);
                }
            }
        }
        s.store(&mut b, out);
        b.ins().return_(&[]);
        b.finish()?;
        module.functions.push(func);
        if self == Shape::CallSites {
            module.functions.push(work()?);
        }
        if self == Shape::Calls {
            let count = copies(4) as u32;
            for i in 1..=count {
                let next = (i < count).then_some(FuncRef::from_u32(i + 1));
                module.functions.push(link(i, next)?);
            }
        }
        Ok(module)
    }
}

/// Makes a subroutine that calls another one.
fn link(number: u32, next: Option<FuncRef>) -> Result<Function, BuildError> {
    let mut func = Function::subroutine(format!("f{number}"), &[I32]);
    let mut b = FunctionBuilder::new(&mut func);
    let x = b.param(I32);
    let one = b.ins().iconst(I32, 3);
    let y = b.ins().iadd(x, one);
    let y = match next {
        Some(f) => b.ins().call(f, &[I32], &[y]),
        None => vec![y],
    };
    b.ins().return_(&y);
    b.finish()?;
    Ok(func)
}

/// Makes a subroutine of moderate size.
fn work() -> Result<Function, BuildError> {
    let mut func = Function::subroutine("work", &[I32]);
    let mut b = FunctionBuilder::new(&mut func);
    let x = b.param(I32);
    let mut y = x;
    for n in 0..40 {
        let c = b.ins().iconst(I32, n);
        let z = b.ins().bxor(y, c);
        y = b.ins().imul(z, x);
    }
    b.ins().return_(&[y]);
    b.finish()?;
    Ok(func)
}

/// Variables that the pieces update: a uniform number, and a number per lane.
struct ShapeVars {
    uniform: Variable,
    lanes: Variable,
    n: Value,
}

impl ShapeVars {
    fn store(&self, b: &mut FunctionBuilder<'_>, out: Value) {
        let (v, u) = (b.use_var(self.lanes), b.use_var(self.uniform));
        let u = b.splat(u, 16);
        let v = b.ins().iadd(v, u);
        let id = b.global_id(Dim::X);
        let at = b.element_addr(out, id, 4);
        b.simd_store(v, at, 0);
    }

    fn step(&self, b: &mut FunctionBuilder<'_>, by: i64) {
        let x = b.use_var(self.uniform);
        let c = b.ins().iconst(I32, by);
        let x = b.ins().iadd(x, c);
        b.def_var(self.uniform, x);
    }

    fn step_lanes(&self, b: &mut FunctionBuilder<'_>) {
        let x = b.use_var(self.lanes);
        let y = b.ins().imul(x, x);
        b.assign(self.lanes, y);
    }

    fn straight(&mut self, b: &mut FunctionBuilder<'_>) {
        self.step(b, 7);
        let (x, u) = (b.use_var(self.lanes), b.use_var(self.uniform));
        let u = b.splat(u, 16);
        let x = b.ins().bxor(x, u);
        b.def_var(self.lanes, x);
    }

    fn diamond(&mut self, b: &mut FunctionBuilder<'_>) {
        let (then, other, end) = (b.create_block(), b.create_block(), b.create_block());
        let x = b.use_var(self.uniform);
        let c = b.ins().icmp(IntCC::SignedLessThan, x, self.n);
        b.ins().brif(c, then, &[], other, &[]);
        for (block, by) in [(then, 3), (other, 5)] {
            b.seal_block(block);
            b.switch_to_block(block);
            self.step(b, by);
            b.ins().jump(end, &[]);
        }
        b.seal_block(end);
        b.switch_to_block(end);
    }

    /// Generates sparse cases, each with its own block.
    fn switches(&mut self, b: &mut FunctionBuilder<'_>, mut cases: usize) {
        while cases > 0 {
            let count = cases.min(MAX_CASES);
            cases -= count;
            let (otherwise, end) = (b.create_block(), b.create_block());
            let x = b.use_var(self.uniform);
            let blocks: Vec<_> = (0..count).map(|_| b.create_block()).collect();
            let values = (0..).step_by(3);
            let list: Vec<(i64, Block, &[Value])> = values
                .zip(&blocks)
                .map(|(v, &block)| (v, block, &[][..]))
                .collect();
            b.ins().switch(x, otherwise, &[], &list);
            for (n, block) in blocks.into_iter().chain([otherwise]).enumerate() {
                b.seal_block(block);
                b.switch_to_block(block);
                self.step(b, 3 + n as i64);
                b.ins().jump(end, &[]);
            }
            b.seal_block(end);
            b.switch_to_block(end);
        }
    }

    fn nested_ifs(&mut self, b: &mut FunctionBuilder<'_>, depth: usize) {
        let mut ends = Vec::with_capacity(depth);
        for _ in 0..depth {
            let (then, end) = (b.create_block(), b.create_block());
            let x = b.use_var(self.uniform);
            let c = b.ins().icmp(IntCC::SignedLessThan, x, self.n);
            b.ins().brif(c, then, &[], end, &[]);
            b.seal_block(then);
            b.switch_to_block(then);
            self.step(b, 1);
            ends.push(end);
        }
        for end in ends.into_iter().rev() {
            b.ins().jump(end, &[]);
            b.seal_block(end);
            b.switch_to_block(end);
            let x = b.use_var(self.uniform);
            let x = b.ins().bxor(x, self.n);
            b.def_var(self.uniform, x);
        }
    }

    /// Generates nested loops that run while the number is small.
    fn nested_loops(&mut self, b: &mut FunctionBuilder<'_>, depth: usize) {
        let mut heads = Vec::with_capacity(depth);
        for _ in 0..depth {
            let head = b.create_block();
            b.ins().jump(head, &[]);
            b.switch_to_block(head);
            heads.push(head);
        }
        for head in heads.into_iter().rev() {
            self.round(b, head);
        }
    }

    /// Generates additions with more live values than there are registers, in loops of `each`
    /// additions.
    fn pressure(&mut self, b: &mut FunctionBuilder<'_>, count: usize, each: usize) {
        let x = b.use_var(self.lanes);
        let live: Vec<Variable> = (0..LIVE)
            .map(|n| {
                let n = b.ins().iconst(I32, n as i64);
                let n = b.splat(n, 16);
                let x = b.ins().iadd(x, n);
                b.var(x)
            })
            .collect();
        let mut head = None;
        for n in 0..count {
            if n % each == 0 && each < count {
                let block = b.create_block();
                b.ins().jump(block, &[]);
                b.switch_to_block(block);
                head = Some(block);
            }
            let (to, from) = (live[n % LIVE], live[(n * 7 + 3) % LIVE]);
            let (x, y) = (b.use_var(to), b.use_var(from));
            let x = b.ins().iadd(x, y);
            b.def_var(to, x);
            if n % each == each - 1
                && let Some(head) = head.take()
            {
                self.round(b, head);
            }
        }
        if let Some(head) = head {
            self.round(b, head);
        }
        for r in live {
            let (x, y) = (b.use_var(self.lanes), b.use_var(r));
            let x = b.ins().bxor(x, y);
            b.def_var(self.lanes, x);
        }
    }

    /// Ends the body of a loop with a conditional back edge.
    fn round(&mut self, b: &mut FunctionBuilder<'_>, head: Block) {
        self.step(b, 1);
        let end = b.create_block();
        let x = b.use_var(self.uniform);
        let c = b.ins().icmp(IntCC::SignedLessThan, x, self.n);
        b.ins().brif(c, head, &[], end, &[]);
        b.seal_block(head);
        b.seal_block(end);
        b.switch_to_block(end);
    }

    fn nested_simd_ifs(&mut self, b: &mut FunctionBuilder<'_>, depth: usize) {
        let Some(inner) = depth.checked_sub(1) else {
            return;
        };
        let x = b.use_var(self.lanes);
        let limit = b.splat(self.n, 16);
        let c = b.ins().icmp(IntCC::SignedLessThan, x, limit);
        b.simd_if(c, |b| {
            self.step_lanes(b);
            self.nested_simd_ifs(b, inner);
        });
    }

    fn nested_simd_loops(&mut self, b: &mut FunctionBuilder<'_>, depth: usize) {
        let Some(inner) = depth.checked_sub(1) else {
            return;
        };
        b.simd_loop(|b| {
            let x = b.use_var(self.lanes);
            let limit = b.ins().iconst(Type::clamped(Scalar::I32, 16), 1000);
            let c = b.ins().icmp(IntCC::UnsignedGreaterThan, x, limit);
            b.simd_break_if(c);
            self.step_lanes(b);
            self.nested_simd_loops(b, inner);
        });
    }
}
