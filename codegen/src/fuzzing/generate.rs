//! Generator of functions: straight-line code, uniform branches and loops, SIMD control flow.

use super::memory::FORMATS;
use super::{Options, Rng, SHARED_BYTES};
use crate::ir::builder::FunctionBuilder;
use crate::ir::{
    Block, Data, DataRef, FloatControls, FuncKind, FuncRef, Function, ImageAccess, ImageShape,
    IntCC, Linkage, MemFlags, Module, Opcode, Scalar, Space, Type, Value,
};
use cranelift_entity::EntityRef;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// State of the generation of a function.
pub(super) struct GenState<'o> {
    pub(super) rng: Rng,
    pub(super) options: &'o Options,
    pub(super) simd: u32,
    /// Values that may be used at the current point.
    pub(super) pool: Vec<Value>,
    /// True if there are buffers.
    pub(super) memory: bool,
    /// Address of the input buffer.
    pub(super) input: Value,
    pub(super) output: Value,
    /// Offset of the bound buffer in its surface.
    pub(super) surface: Value,
    /// Bytes of the output that are taken.
    pub(super) out_used: u32,
    /// Bytes of the upper half of SLM that are taken. Likewise for the surface and for scratch.
    pub(super) slm_used: u32,
    pub(super) surface_used: u32,
    pub(super) scratch_used: u32,
    /// Texels of the written image that are taken.
    pub(super) texels_used: u32,
    /// True if the kernel has scratch.
    pub(super) scratch: bool,
    /// True if normalized texels are sampled.
    pub(super) normalized_texels: bool,
    /// Constant data of the module.
    pub(super) table: DataRef,
    /// First format, and a string.
    pub(super) formats: u32,
    pub(super) name: DataRef,
    /// Depth of the current expression.
    pub(super) depth: u32,
    /// Subroutine to call.
    pub(super) callee: Option<Callee>,
}

/// Function being generated: its builder, which closures of SIMD control flow pass on, and its
/// state.
pub(super) struct Gen<'a, 'f, 'o> {
    pub(super) b: &'a mut FunctionBuilder<'f>,
    pub(super) state: &'a mut GenState<'o>,
}

impl<'o> Deref for Gen<'_, '_, 'o> {
    type Target = GenState<'o>;

    fn deref(&self) -> &GenState<'o> {
        self.state
    }
}

impl<'o> DerefMut for Gen<'_, '_, 'o> {
    fn deref_mut(&mut self) -> &mut GenState<'o> {
        self.state
    }
}

pub(super) fn module(rng: Rng, options: &Options) -> Module {
    // A generator of its own keeps the code independent of source locations.
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
            Type::clamped(Scalar::B1, simd + 37),
        ];
        let count = 1 + rng.below(3);
        (0..count)
            .filter_map(|_| rng.pick(&list))
            .collect::<Vec<Type>>()
    };
    // Each subroutine may call the next one.
    let count = if options.calls { 1 + rng.below(3) } else { 0 };
    let mut callees: Vec<Callee> = Vec::new();
    for n in 0..count {
        // The first parameter is the execution mask.
        let mut params = vec![Type::clamped(Scalar::B1, simd)];
        params.extend(types(&mut rng));
        let mut results = types(&mut rng);
        if !rng.one_in(3) {
            let ty = large(&mut rng, &results);
            params.push(ty);
            if rng.one_in(2) {
                // The parameter comes back changed.
                results.push(ty);
            }
        }
        let masked = !rng.one_in(3);
        if masked && rng.one_in(2) {
            // The last result may be the execution mask.
            results.push(Type::clamped(Scalar::B1, simd));
        }
        callees.push(Callee {
            func: FuncRef::new(1 + n as usize),
            params,
            results,
            masked,
        });
    }
    module
        .functions
        .push(kernel(&mut rng, options, simd, callees.first().cloned()));
    for n in 0..callees.len() {
        let next = callees.get(n + 1).cloned();
        if let Some(own) = callees.get(n) {
            let f = subroutine(&mut rng, options, simd, own, next);
            module.functions.push(f);
        }
    }
    module
}

/// Returns a vector type of several GRFs, often with the scalar type of one of some types.
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

/// Returns true for types of several GRFs.
pub(super) fn is_large(ty: Type) -> bool {
    ty.bytes() >= 128
}

/// Subroutine to call.
#[derive(Clone)]
pub(super) struct Callee {
    pub(super) func: FuncRef,
    pub(super) params: Vec<Type>,
    pub(super) results: Vec<Type>,
    /// True if calls pass the execution mask, as the first argument.
    pub(super) masked: bool,
}

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
            // The interpreter never contracts, and divides.
            contract: false,
            reciprocal: false,
        });
    }
    let toward_zero = func.float_controls().toward_zero;
    // Large values are passed to the subroutine.
    let passes = callee
        .as_ref()
        .is_some_and(|c| c.params.iter().any(|t| is_large(*t)));
    let mut b = FunctionBuilder::new(&mut func);
    let (input, output) = (b.ptr_param(), b.ptr_param());
    let mut pool = vec![
        b.param(Type::scalar_of(Scalar::I32)),
        b.param(Type::scalar_of(Scalar::F32)),
    ];
    let surface = b.surface_param();
    // None of the three buffers is accessed through another argument.
    for buffer in [input, output, surface] {
        if rng.one_in(3) {
            b.promise_noalias(buffer);
        }
    }
    b.image_param(ImageShape::D2, ImageAccess::Read);
    b.image_param(ImageShape::D2, ImageAccess::Write);
    b.sampler_param();
    b.image_param(ImageShape::Block, ImageAccess::ReadWrite);
    b.image_param(ImageShape::D2, ImageAccess::ReadWrite);
    b.image_param(ImageShape::CubeArray, ImageAccess::Read);
    if rng.one_in(4) {
        // A buffer whose address is compared cannot become a surface.
        pool.push(b.ins().icmp(IntCC::NotEqual, input, output));
    }
    fill(&mut b, Space::Slm, input);
    if scratch {
        fill(&mut b, Space::Scratch, input);
    }
    let mut state = GenState {
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
        normalized_texels: options.sampler || !toward_zero,
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

/// Copies the input to the lower half of SLM or scratch.
fn fill(b: &mut FunctionBuilder<'_>, space: Space, input: Value) {
    const STEP: u32 = 512;
    let ty = Type::clamped(Scalar::I32, STEP / 4);
    let zero = b.ins().iconst(Type::scalar_of(Scalar::I32), 0);
    for at in (0..SHARED_BYTES / 2).step_by(STEP as usize) {
        let v = b.ins().bload(ty, input, at as i32);
        b.ins().bstore_to(MemFlags::of(space), v, zero, at as i32);
    }
}

/// Generates a subroutine. It has no buffers.
fn subroutine(
    rng: &mut Rng,
    options: &Options,
    simd: u32,
    own: &Callee,
    callee: Option<Callee>,
) -> Function {
    let name = match &callee {
        None => "f".to_string(),
        Some(next) => format!("f{}", next.func.as_u32()),
    };
    let mut func = Function::subroutine(name, &own.results);
    if rng.one_in(4) {
        func.linkage = Linkage::Public;
    }
    let mut b = FunctionBuilder::new(&mut func);
    let mut pool: Vec<Value> = own.params.iter().map(|&t| b.param(t)).collect();
    if let Some(&mask) = pool.first() {
        b.set_exec_mask(mask);
    }
    // Most large parameters are only read in parts.
    let parts: Vec<Value> = pool
        .iter()
        .copied()
        .filter(|&v| is_large(b.ty(v)) && !rng.one_in(4))
        .collect();
    pool.retain(|v| !parts.contains(v));
    let zero = b.ins().iconst(Type::scalar_of(Scalar::I64), 0);
    let mut state = GenState {
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
        normalized_texels: false,
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
    let results = own.results.iter();
    let mut args: Vec<Value> = results.map(|&t| g.changed(t, &parts)).collect();
    if let Some(last) = args.last_mut().filter(|_| own.masked)
        && g.b.ty(*last) == Type::clamped(Scalar::B1, simd)
    {
        *last = g.b.exec_mask();
    }
    g.b.ins().return_(&args);
    *rng = state.rng;
    finish(b);
    func
}

/// Returns true for operations that every function may have.
fn is_plain(opcode: Opcode) -> bool {
    use crate::ir::opcode::Format;
    let info = opcode.info();
    let plain = info.format.is_pure() || opcode == Opcode::Dpas;
    // These depend on the kernel or the module.
    let placed = matches!(
        info.format,
        Format::Launch | Format::Nullary | Format::ArgQuery | Format::Symbol
    );
    plain && !placed && !info.effect
}

/// Ignores builder errors: the verifier reports the resulting module.
fn finish(b: FunctionBuilder<'_>) {
    let _ = b.finish();
}

impl Gen<'_, '_, '_> {
    /// Generates `budget` steps of instructions and control flow.
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
            match self.rng.below(50) {
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
                12 if self.rng.one_in(2) => self.read_in_part(),
                12 => self.short_numbers(),
                13 if self.rng.one_in(2) => self.on_elements(),
                13 => self.on_parts(),
                14 if depth < 3 => self.known_branch(inner, depth),
                15 => self.far_load(),
                16 if depth < 3 => self.short_branch(),
                17 if depth < 2 && self.rng.one_in(2) => self.in_place_loop(),
                17 => self.in_place(),
                18 | 19 => self.nested_regions(),
                _ => {
                    if let Some(opcode) = self.rng.pick(&ops) {
                        // With a single thread, barriers never wait.
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

    /// Generates a uniform branch that passes values to the merge block.
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

    /// Generates blocks that branch to one merge block with a value for its parameter, and
    /// continues there.
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

    /// Generates a uniform `switch` whose destinations may coincide or pass values. The operand is
    /// mostly near the case values.
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
        let count = 1 + self.rng.below(5) as usize;
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
        // Dense cases of many blocks are a jump table.
        let dense = self.rng.one_in(3);
        for _ in 0..self.rng.below(if dense { 40 } else { 20 }) {
            let far = self.rng.bits() as i64;
            value = match self.rng.below(4) {
                0 if dense => value + 2,
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

    /// Generates a uniform loop of a few iterations, counted at its end or at its beginning.
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
        let cc = if self.rng.one_in(2) {
            IntCC::SignedLessThan
        } else {
            IntCC::NotEqual
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
        if at_end {
            let again = again(self);
            self.b.ins().brif(again, head, &[], end, &[]);
        } else {
            self.b.ins().jump(head, &[])
        }
        self.b.seal_block(head);
        self.b.seal_block(end);
        self.b.switch_to_block(end);
        let v = self.b.use_var(carried);
        self.pool.push(v);
    }

    fn assign_random(&mut self, var: crate::ir::builder::Variable, ty: Type) {
        let v = self.value(ty);
        self.b.assign(var, v);
    }

    fn simd_if(&mut self, budget: u32, depth: u32) {
        let cond = self.mask();
        let ty = self.simd_type();
        let start = self.value(ty);
        let var = self.b.var(start);
        let both = self.rng.one_in(2);
        // Both closures exist at the same time, and run one after the other.
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

    /// Generates a SIMD block that channels leave at several points, some of them in a branch.
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

    fn branch(&mut self, var: crate::ir::builder::Variable, ty: Type, budget: u32, depth: u32) {
        let before = self.pool.len();
        if self.rng.one_in(3) {
            // Uses the execution mask as data.
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

    /// Lets some channels return. Seldom all of them do, since the rest store their values at the
    /// end.
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
                let all = u64::MAX >> (64 - simd);
                let first_stays = self.b.ins().bconst(simd, all - 1);
                leaving = self.b.ins().band(leaving, first_stays);
            }
        }
        self.b.simd_return_if(leaving, &[]);
    }

    /// Generates a loop that each channel leaves after a few iterations of its own count.
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

    /// Generates a loop that channels leave with results computed on leaving, from values that the
    /// others continue to update. The results are used under SIMD control flow.
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
        let all = self.b.ins().bconst(simd, u64::MAX >> (64 - simd));
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
                let v = if add {
                    b.ins().iadd(v, rounds)
                } else {
                    b.ins().imul(v, few)
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

    /// Allocates space for a value in the output, and returns its offset.
    pub(super) fn out_room(&mut self, ty: Type) -> Option<u32> {
        let at = self.out_used.next_multiple_of(8);
        let end = at + ty.bytes();
        // Half of the output is reserved for the values at the end.
        (end <= super::OUT_BYTES / 2).then(|| {
            self.out_used = end;
            at
        })
    }

    /// Stores the last values of the pool at the end.
    fn store_values(&mut self) {
        let mut at = super::OUT_BYTES / 2;
        let last = self.pool.len().saturating_sub(24);
        let out = self.output;
        for v in self.pool.split_off(last) {
            let v = if self.b.ty(v).is_pred() {
                self.bits_of(v)
            } else {
                v
            };
            let bytes = self.b.ty(v).bytes();
            if at + bytes <= super::OUT_BYTES {
                self.b.ins().bstore(v, out, at as i32);
                at = (at + bytes).next_multiple_of(8);
            }
        }
    }
}
