//! Functions: straight pieces, uniform branches and loops, SIMD control flow.

use super::memory::FORMATS;
use super::{Options, Rng, SHARED_BYTES};
use crate::builder::FunctionBuilder;
use crate::ir::{
    Block, Data, DataRef, FloatControls, FuncKind, FuncRef, Function, ImageAccess, ImageShape,
    IntCC, MemFlags, Module, Opcode, Scalar, Space, Type, Value,
};
use cranelift_entity::EntityRef;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// What is known while a function is generated.
pub(super) struct State<'o> {
    pub(super) rng: Rng,
    pub(super) options: &'o Options,
    pub(super) simd: u32,
    /// Values that may be used here.
    pub(super) pool: Vec<Value>,
    /// Whether there are buffers.
    pub(super) memory: bool,
    /// Addresses of the buffers.
    pub(super) input: Value,
    pub(super) output: Value,
    /// Where in its surface the bound buffer begins.
    pub(super) surface: Value,
    /// The first byte of the output that nothing is stored to.
    pub(super) out_used: u32,
    /// The same of local memory's and of the surface's upper half.
    pub(super) slm_used: u32,
    pub(super) surface_used: u32,
    pub(super) scratch_used: u32,
    /// The first texel of the written image that nothing is stored to.
    pub(super) texels_used: u32,
    /// Whether the kernel has scratch.
    pub(super) scratch: bool,
    /// The module's constant data.
    pub(super) table: DataRef,
    /// The first format, and a string.
    pub(super) formats: u32,
    pub(super) name: DataRef,
    /// Levels of the expression being made.
    pub(super) depth: u32,
    /// A subroutine to call.
    pub(super) callee: Option<Callee>,
}

/// A function being generated: its state, and the builder, which closures of SIMD control flow pass on.
pub(super) struct Gen<'a, 'f, 'o> {
    pub(super) b: &'a mut FunctionBuilder<'f>,
    pub(super) state: &'a mut State<'o>,
}

impl<'o> Deref for Gen<'_, '_, 'o> {
    type Target = State<'o>;

    fn deref(&self) -> &State<'o> {
        self.state
    }
}

impl<'o> DerefMut for Gen<'_, '_, 'o> {
    fn deref_mut(&mut self) -> &mut State<'o> {
        self.state
    }
}

pub(super) fn module(rng: Rng, options: &Options) -> Module {
    // Of its own, so that what is generated is the same with and without.
    let mut places = Rng::new(rng.clone().bits());
    let mut module = code(rng, options);
    if places.one_in(3) {
        super::places::add(&mut places, &mut module);
    }
    if places.one_in(2) {
        super::reflection::add(&mut places, options, &mut module);
    }
    module
}

fn code(mut rng: Rng, options: &Options) -> Module {
    let mut module = Module::default();
    let numbers = super::numbers(&mut rng, super::TABLE_BYTES);
    module.data.push(Data {
        bytes: numbers,
        ..Data::new("table", Scalar::I32, &[])
    });
    for (n, (text, _)) in FORMATS.iter().enumerate() {
        module.data.push(Data::string(format!("format{n}"), *text));
    }
    module.data.push(Data::string("name", "a \"name\""));
    let simd = rng.pick(&[1, 8, 16, 16, 32]).unwrap_or(16);
    let types = |rng: &mut Rng| {
        let list = [
            Type::clamped(Scalar::I32, simd),
            Type::clamped(
                if options.floats {
                    Scalar::F32
                } else {
                    Scalar::I8
                },
                simd,
            ),
            Type::clamped(Scalar::I16, 5),
            Type::scalar_of(Scalar::I64),
            Type::clamped(Scalar::B1, simd),
        ];
        let count = 1 + rng.below(3);
        (0..count)
            .filter_map(|_| rng.pick(&list))
            .collect::<Vec<Type>>()
    };
    // Each subroutine may call the one behind it.
    let count = if options.calls { 1 + rng.below(3) } else { 0 };
    let mut callees: Vec<Callee> = Vec::new();
    for n in 0..count {
        // The first parameter is the channels that run.
        let mut params = vec![Type::clamped(Scalar::B1, simd)];
        params.extend(types(&mut rng));
        let results = types(&mut rng);
        if !rng.one_in(3) {
            params.push(large(&mut rng, &results));
        }
        callees.push((FuncRef::new(1 + n as usize), params, results));
    }
    module
        .functions
        .push(kernel(&mut rng, options, simd, callees.first().cloned()));
    for n in 0..callees.len() {
        let next = callees.get(n + 1).cloned();
        if let Some((_, params, results)) = callees.get(n) {
            let f = subroutine(&mut rng, options, simd, (params, results), next);
            module.functions.push(f);
        }
    }
    module
}

/// A vector of many registers, often of what one of some types has.
fn large(rng: &mut Rng, of: &[Type]) -> Type {
    let scalar = rng.pick(of).map_or(Scalar::B1, Type::scalar);
    let scalar = match scalar {
        Scalar::B1 => rng.pick(&[Scalar::I32, Scalar::I16]).unwrap_or(Scalar::I32),
        scalar => scalar,
    };
    let bytes = rng
        .pick(&[128, 256, 256, 384, 512, 512, 768])
        .unwrap_or(256);
    Type::clamped(scalar, bytes / scalar.bytes())
}

/// Whether a type is of many registers.
pub(super) fn is_large(ty: Type) -> bool {
    ty.bytes() >= 128
}

/// A subroutine to call: parameters and results.
pub(super) type Callee = (FuncRef, Vec<Type>, Vec<Type>);

fn kernel(rng: &mut Rng, options: &Options, simd: u32, callee: Option<Callee>) -> Function {
    let mut func = Function::kernel("k", simd);
    let scratch = rng.one_in(3);
    if let FuncKind::Kernel {
        slm_bytes,
        scratch_bytes,
        ..
    } = &mut func.kind
    {
        *slm_bytes = SHARED_BYTES;
        *scratch_bytes = if scratch { SHARED_BYTES } else { 0 };
    }
    if options.floats && rng.one_in(3) {
        func.set_float_controls(FloatControls {
            flush_f16: rng.one_in(2),
            flush_f32: rng.one_in(2),
            flush_f64: rng.one_in(2),
            toward_zero: rng.one_in(2),
            // What it computes would not be what the interpreter does.
            contract: false,
        });
    }
    // Something large is passed to the subroutine.
    let passes = callee
        .as_ref()
        .is_some_and(|c| c.1.iter().any(|t| is_large(*t)));
    let mut b = FunctionBuilder::new(&mut func);
    let (input, output) = (b.ptr_param(), b.ptr_param());
    let mut pool = vec![
        b.param(Type::scalar_of(Scalar::I32)),
        b.param(Type::scalar_of(Scalar::F32)),
    ];
    let surface = b.surface_param();
    // Three buffers, each of which is reached by its own argument alone.
    for buffer in [input, output, surface] {
        if rng.one_in(3) {
            b.promise_noalias(buffer);
        }
    }
    b.image_param(ImageShape::D2, ImageAccess::Read);
    b.image_param(ImageShape::D2, ImageAccess::Write);
    b.sampler_param();
    b.image_param(ImageShape::Block, ImageAccess::ReadWrite);
    if rng.one_in(4) {
        // Whose numbers matter is no surface.
        pool.push(b.ins().icmp(IntCC::NotEqual, input, output));
    }
    fill(&mut b, Space::Slm, input);
    if scratch {
        fill(&mut b, Space::Scratch, input);
    }
    let mut state = State {
        rng: rng.clone(),
        options,
        simd,
        pool,
        memory: true,
        input,
        output,
        surface,
        out_used: 0,
        slm_used: 0,
        surface_used: 0,
        scratch_used: 0,
        texels_used: 0,
        scratch,
        table: DataRef::new(0),
        formats: 1,
        name: DataRef::new(1 + FORMATS.len()),
        depth: 0,
        callee,
    };
    let mut g = Gen {
        b: &mut b,
        state: &mut state,
    };
    g.body(options.size, 0);
    if passes && !g.rng.one_in(3) {
        g.instruction(Opcode::Call);
    }
    g.store_values();
    g.b.ins().return_(&[]);
    *rng = state.rng;
    finish(b);
    func
}

/// The lower half of local memory, or of scratch, is the input's.
fn fill(b: &mut FunctionBuilder<'_>, space: Space, input: Value) {
    const STEP: u32 = 512;
    let ty = Type::clamped(Scalar::I32, STEP / 4);
    let zero = b.ins().iconst(Type::scalar_of(Scalar::I32), 0);
    for at in (0..SHARED_BYTES / 2).step_by(STEP as usize) {
        let v = b.ins().bload(ty, input, at as i32);
        b.ins().bstore_to(MemFlags::of(space), v, zero, at as i32);
    }
}

/// A subroutine has no memory of its own.
fn subroutine(
    rng: &mut Rng,
    options: &Options,
    simd: u32,
    (params, results): (&[Type], &[Type]),
    callee: Option<Callee>,
) -> Function {
    let name = match &callee {
        None => "f".to_string(),
        Some((next, _, _)) => format!("f{}", next.as_u32()),
    };
    let mut func = Function::subroutine(name, results);
    let mut b = FunctionBuilder::new(&mut func);
    let mut pool: Vec<Value> = params.iter().map(|&t| b.param(t)).collect();
    if let Some(&mask) = pool.first() {
        b.set_exec_mask(mask);
    }
    // Mostly what is large is read in parts alone.
    let parts: Vec<Value> = pool
        .iter()
        .copied()
        .filter(|&v| is_large(b.ty(v)) && !rng.one_in(4))
        .collect();
    pool.retain(|v| !parts.contains(v));
    let zero = b.ins().iconst(Type::scalar_of(Scalar::I64), 0);
    let mut state = State {
        rng: rng.clone(),
        options,
        simd,
        pool,
        memory: false,
        input: zero,
        output: zero,
        surface: zero,
        out_used: super::OUT_BYTES,
        slm_used: SHARED_BYTES,
        surface_used: SHARED_BYTES,
        scratch_used: SHARED_BYTES,
        texels_used: 0,
        scratch: false,
        table: DataRef::new(0),
        formats: 1,
        name: DataRef::new(1 + FORMATS.len()),
        depth: 0,
        callee,
    };
    let mut g = Gen {
        b: &mut b,
        state: &mut state,
    };
    for &v in &parts {
        g.parts_of(v);
    }
    g.body(options.size / 6, 1);
    let args: Vec<Value> = results.iter().map(|&t| g.result(t, &parts)).collect();
    g.b.ins().return_(&args);
    *rng = state.rng;
    finish(b);
    func
}

/// Operations that every function may have.
fn is_plain(opcode: Opcode) -> bool {
    use crate::ir::opcode::Format;
    let info = opcode.info();
    let format = !matches!(
        info.format,
        Format::Launch
            | Format::Nullary
            | Format::Load
            | Format::Store
            | Format::Atomic
            | Format::Fence
            | Format::Symbol
            | Format::Printf
            | Format::Image
            | Format::ArgQuery
            | Format::Media
            | Format::Block2d
            | Format::NamedBarrier
            | Format::Send
            | Format::Call
    );
    format && !info.effect
}

/// What the generator builds wrongly shows as a module that does not verify.
fn finish(b: FunctionBuilder<'_>) {
    let _ = b.finish();
}

impl Gen<'_, '_, '_> {
    /// Instructions and control flow, `budget` steps.
    pub(super) fn body(&mut self, budget: u32, depth: u32) {
        let mut ops = self.options.opcodes();
        if !self.memory {
            ops.retain(|&o| is_plain(o));
        }
        let inner = budget / 4;
        for _ in 0..budget {
            if self.options.neighbours && self.rng.one_in(16) {
                self.neighbours();
            }
            match self.rng.below(47) {
                0 if depth < 3 => self.uniform_if(inner, depth),
                1 if depth < 2 => self.uniform_loop(inner, depth),
                2 | 3 if depth < 3 => self.simd_if(inner, depth),
                4 if depth < 2 => self.simd_loop(inner, depth),
                5 | 6 => self.instruction(Opcode::Call),
                7 if depth < 3 => self.simd_block(inner, depth),
                8 if depth < 3 => self.uniform_switch(inner, depth),
                9 if depth < 2 => self.escaping_loop(),
                10 if depth < 2 => self.ring_loop(),
                11 if depth < 2 && self.options.neighbours => self.neighbours_loop(),
                12 => self.read_in_part(),
                13 => self.on_elements(),
                14 if depth < 3 => self.known_branch(inner, depth),
                15 => self.far_load(),
                16 if depth < 3 => self.short_branch(),
                _ => {
                    if let Some(opcode) = self.rng.pick(&ops) {
                        // One thread alone: barriers end at once.
                        self.instruction(opcode);
                    }
                }
            }
        }
    }

    pub(super) fn simd_type(&mut self) -> Type {
        let scalar = self.data();
        Type::clamped(scalar, self.simd)
    }

    pub(super) fn mask(&mut self) -> Value {
        self.value(Type::clamped(Scalar::B1, self.simd))
    }

    /// A branch taken by the whole thread, that passes values to the block after it.
    fn uniform_if(&mut self, budget: u32, depth: u32) {
        let cond = self.value(Type::scalar_of(Scalar::B1));
        let ty = self.data_type();
        let (then, other, end) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let merged = self.b.append_block_param(end, ty);
        self.b.ins().brif(cond, then, &[], other, &[]);
        self.meet(&[then, other], (end, merged), budget, depth);
    }

    /// Fills in blocks that go on to one block, each with a value for its parameter, and goes on there.
    pub(super) fn meet(
        &mut self,
        blocks: &[Block],
        (end, merged): (Block, Value),
        budget: u32,
        depth: u32,
    ) {
        let ty = self.b.func().dfg.ty(merged);
        for &block in blocks {
            self.b.seal_block(block);
            self.b.switch_to_block(block);
            let before = self.pool.len();
            self.body(budget, depth + 1);
            let v = self.value(ty);
            self.pool.truncate(before);
            self.b.ins().jump(end, &[v]);
        }
        self.b.seal_block(end);
        self.b.switch_to_block(end);
        self.pool.push(merged);
    }

    /// A branch to one of several places, some of which are the same, and some of which pass values. What the value is is near to the cases
    /// more often than not.
    fn uniform_switch(&mut self, budget: u32, depth: u32) {
        let scalars = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64];
        let scalar = self.rng.pick(&scalars).unwrap_or(Scalar::I32);
        let int = Type::scalar_of(scalar);
        let ty = self.data_type();
        let mut arg = self.value(int);
        if self.rng.one_in(2) {
            let few = self.b.ins().iconst(int, 15);
            arg = self.b.ins().band(arg, few);
        }
        let count = 1 + self.rng.below(3) as usize;
        let blocks: Vec<Block> = (0..count).map(|_| self.b.create_block()).collect();
        let end = self.b.create_block();
        let merged = self.b.append_block_param(end, ty);
        let variety: Vec<Value> = (0..3).map(|_| self.value(ty)).collect();
        let dest = |g: &mut Self| match g.rng.pick(&blocks) {
            Some(block) if !g.rng.one_in(3) => (block, None),
            _ => (end, g.rng.pick(&variety)),
        };
        let mut cases = std::collections::BTreeMap::new();
        let mut value = 0;
        for _ in 0..self.rng.below(20) {
            let far = self.rng.bits() as i64;
            value = match self.rng.below(4) {
                0 => far,
                1 => far & 15,
                _ => value + 1,
            };
            value = (value << (64 - scalar.bits())) >> (64 - scalar.bits());
            cases.insert(value, dest(self));
        }
        let otherwise = dest(self);
        let list = |v: &Option<Value>| v.iter().copied().collect::<Vec<Value>>();
        let args: Vec<Vec<Value>> = cases.values().map(|(_, v)| list(v)).collect();
        let cases: Vec<(i64, Block, &[Value])> = cases
            .iter()
            .zip(&args)
            .map(|((&value, &(block, _)), args)| (value, block, args.as_slice()))
            .collect();
        let args = list(&otherwise.1);
        self.b.ins().switch(arg, otherwise.0, &args, &cases);
        self.meet(&blocks, (end, merged), budget, depth);
    }

    /// A loop of the whole thread with a few iterations, counted at its end or at its beginning.
    fn uniform_loop(&mut self, budget: u32, depth: u32) {
        let i32 = Type::scalar_of(Scalar::I32);
        let ty = self.data_type();
        let start = self.value(ty);
        let carried = self.b.var(start);
        let first = self.rng.below(5) as i64 - 2;
        let step = 1 + i64::from(self.rng.below(2));
        let at_end = self.rng.one_in(2);
        let rounds = i64::from(u32::from(at_end) + self.rng.below(3));
        let count = self.b.ins().iconst(i32, first);
        let count = self.b.var(count);
        let (head, end) = (self.b.create_block(), self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let cc = match self.rng.one_in(2) {
            true => IntCC::SignedLessThan,
            false => IntCC::NotEqual,
        };
        let again = |g: &mut Self| {
            let n = g.b.use_var(count);
            let bound = g.b.ins().iconst(i32, first + step * rounds);
            g.b.ins().icmp(cc, n, bound)
        };
        if !at_end {
            let body = self.b.create_block();
            let again = again(self);
            self.b.ins().brif(again, body, &[], end, &[]);
            self.b.seal_block(body);
            self.b.switch_to_block(body);
        }
        let before = self.pool.len();
        let v = self.b.use_var(carried);
        self.pool.push(v);
        self.body(budget, depth + 1);
        let v = self.value(ty);
        self.b.def_var_all_lanes(carried, v);
        self.pool.truncate(before);
        let (n, step) = (self.b.use_var(count), self.b.ins().iconst(i32, step));
        let n = self.b.ins().iadd(n, step);
        self.b.def_var_all_lanes(count, n);
        match at_end {
            true => {
                let again = again(self);
                self.b.ins().brif(again, head, &[], end, &[]);
            }
            false => self.b.ins().jump(head, &[]),
        }
        self.b.seal_block(head);
        self.b.seal_block(end);
        self.b.switch_to_block(end);
        let v = self.b.use_var(carried);
        self.pool.push(v);
    }

    fn assign_random(&mut self, var: crate::builder::Variable, ty: Type) {
        let v = self.value(ty);
        self.b.assign(var, v);
    }

    fn simd_if(&mut self, budget: u32, depth: u32) {
        let cond = self.mask();
        let ty = self.simd_type();
        let start = self.value(ty);
        let var = self.b.var(start);
        let both = self.rng.one_in(2);
        // Both closures exist at once, and run one after the other.
        let state = RefCell::new(&mut *self.state);
        let branch = |b: &mut FunctionBuilder<'_>| {
            let mut state = state.borrow_mut();
            let mut g = Gen {
                b,
                state: &mut state,
            };
            g.branch(var, ty, budget, depth);
        };
        if both {
            self.b.simd_if_else(cond, branch, branch);
        } else {
            self.b.simd_if(cond, branch);
        }
        let v = self.b.use_var(var);
        self.pool.push(v);
    }

    /// Channels leave from several places, some of them in a branch, for one.
    fn simd_block(&mut self, budget: u32, depth: u32) {
        let ty = self.simd_type();
        let start = self.value(ty);
        let var = self.b.var(start);
        let state = &mut *self.state;
        self.b.simd_block(|b| {
            let mut g = Gen { b, state };
            let before = g.pool.len();
            for _ in 0..1 + g.rng.below(3) {
                let cond = g.mask();
                if g.rng.one_in(2) {
                    g.b.simd_leave_if(cond);
                } else {
                    let deeper = g.mask();
                    let state = &mut *g.state;
                    g.b.simd_if(deeper, |b| {
                        b.simd_leave_if(cond);
                        Gen { b, state }.branch(var, ty, budget / 4, depth);
                    });
                }
                g.branch(var, ty, budget / 2, depth);
            }
            g.pool.truncate(before);
        });
        let v = self.b.use_var(var);
        self.pool.push(v);
    }

    fn branch(&mut self, var: crate::builder::Variable, ty: Type, budget: u32, depth: u32) {
        let before = self.pool.len();
        if self.rng.one_in(3) {
            // The execution mask as data.
            let em = self.b.exec_mask();
            self.pool.push(em);
        }
        self.body(budget, depth + 1);
        if self.memory && self.rng.one_in(8) {
            self.early_return();
        }
        self.assign_random(var, ty);
        self.pool.truncate(before);
    }

    /// Some channels return. Seldom all of them do: what is left stores its values at the end.
    fn early_return(&mut self) {
        let mut leaving = self.mask();
        let i32 = Type::scalar_of(Scalar::I32);
        match self.out_room(i32) {
            Some(at) if self.rng.one_in(6) => {
                let (out, one) = (self.output, self.b.ins().iconst(i32, 1));
                self.b.ins().bstore(one, out, at as i32);
            }
            _ => {
                let simd = self.simd;
                let all = u32::MAX >> (32 - simd);
                let first_stays = self.b.ins().bconst(simd, all - 1);
                leaving = self.b.ins().band(leaving, first_stays);
            }
        }
        self.b.simd_return_if(leaving, &[]);
    }

    /// A loop that each channel leaves after a few iterations of its own count.
    fn simd_loop(&mut self, budget: u32, depth: u32) {
        let i32 = Type::clamped(Scalar::I32, self.simd);
        let any = self.value(i32);
        let (few, one) = (self.b.ins().iconst(i32, 3), self.b.ins().iconst(i32, 1));
        let rounds = self.b.ins().band(any, few);
        let left = self.b.var(rounds);
        let ty = self.simd_type();
        let start = self.value(ty);
        let var = self.b.var(start);
        let again = self.rng.one_in(2);
        let state = &mut *self.state;
        self.b.simd_loop(|b| {
            let g = &mut Gen { b, state };
            let zero = g.b.ins().iconst(i32, 0);
            let n = g.b.use_var(left);
            let done = g.b.ins().icmp(IntCC::SignedLessThanOrEqual, n, zero);
            g.b.simd_break_if(done);
            let n = g.b.ins().isub(n, one);
            g.b.assign(left, n);
            let before = g.pool.len();
            if again {
                let c = g.mask();
                g.b.simd_continue_if(c);
            }
            g.branch(var, ty, budget / 2, depth);
            g.pool.truncate(before);
        });
        let v = self.b.use_var(var);
        self.pool.push(v);
    }

    /// A loop that each channel leaves with results which it has only then, of values that the others go on with; what is done with them is done by
    /// channels.
    fn escaping_loop(&mut self) {
        let i32 = Type::clamped(Scalar::I32, self.simd);
        let any = self.value(i32);
        let (few, one) = (self.b.ins().iconst(i32, 3), self.b.ins().iconst(i32, 1));
        let rounds = self.b.ins().band(any, few);
        let count = 2 + self.rng.below(7);
        let mut pairs = Vec::new();
        for _ in 0..count {
            let (start, none) = (self.value(i32), self.b.ins().undef(i32));
            pairs.push((self.b.var(start), self.b.var(none), self.rng.one_in(2)));
        }
        let zero = self.b.ins().iconst(i32, 0);
        let round = self.b.var(zero);
        let simd = self.simd;
        let all = self.b.ins().bconst(simd, u32::MAX >> (32 - simd));
        self.b.simd_loop(|b| {
            let n = b.use_var(round);
            let done = b.ins().icmp(IntCC::SignedGreaterThanOrEqual, n, rounds);
            b.simd_if(done, |b| {
                for &(on, left, _) in &pairs {
                    let v = b.use_var(on);
                    let v = b.ins().isub(v, rounds);
                    b.assign(left, v);
                }
                b.simd_break_if(all);
            });
            for &(on, _, add) in &pairs {
                let v = b.use_var(on);
                let v = match add {
                    true => b.ins().iadd(v, rounds),
                    false => b.ins().imul(v, few),
                };
                b.assign(on, v);
            }
            let n = b.use_var(round);
            let n = b.ins().iadd(n, one);
            b.assign(round, n);
        });
        let (start, cond) = (self.value(i32), self.mask());
        let sum = self.b.var(start);
        self.b.simd_if(cond, |b| {
            for (_, left, _) in pairs {
                let (a, v) = (b.use_var(sum), b.use_var(left));
                let a = b.ins().iadd(a, v);
                b.assign(sum, a);
            }
        });
        let v = self.b.use_var(sum);
        self.pool.push(v);
    }

    /// Room for a value in the output: its offset.
    pub(super) fn out_room(&mut self, ty: Type) -> Option<u32> {
        let at = self.out_used.next_multiple_of(8);
        let end = at + ty.bytes();
        // A part is kept for the values at the end.
        (end <= super::OUT_BYTES / 2).then(|| {
            self.out_used = end;
            at
        })
    }

    /// Stores what is left at the end.
    fn store_values(&mut self) {
        let mut at = super::OUT_BYTES / 2;
        let last = self.pool.len().saturating_sub(24);
        let out = self.output;
        for v in self.pool.split_off(last) {
            let v = match self.b.ty(v).is_pred() {
                true => self.b.ins().pred_to_bits(Type::scalar_of(Scalar::I32), v),
                false => v,
            };
            let bytes = self.b.ty(v).bytes();
            if at + bytes <= super::OUT_BYTES {
                self.b.ins().bstore(v, out, at as i32);
                at = (at + bytes).next_multiple_of(8);
            }
        }
    }
}
