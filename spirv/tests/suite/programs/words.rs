//! Programs as SPIR-V.

use crate::programs::program::{
    Arg, Body, GIVEN, Inst, LOCAL, Place, Program, SLICE, TABLE, Term, Way, What, order, reach,
    targets,
};
use crate::programs::types::{Kind, Ty, U32, Value};
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, InsertPoint, Instruction, Operand};
use spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
    FunctionControl, FunctionParameterAttribute, LinkageType, MemoryAccess, MemoryModel, Op,
    OpenclStd100Op as Std, StorageClass, Word,
};

mod places;

struct Words<'p> {
    b: Builder,
    p: &'p Program,
    std: Word,
    table: Word,
    counters: Word,
    functions: Vec<Word>,
    arrays: Vec<((Ty, u32), Word)>,
    /// Slices of the work-item in the buffer and in local memory.
    base: Word,
    local: Word,
    /// Array argument of the function.
    given: Word,
    /// Structure with the table that the kernel takes by value, or 0.
    by_value: Word,
    /// Local id, and the local memory.
    here: Word,
    room: Word,
}

/// Body under construction.
struct Frame<'p> {
    body: &'p Body,
    /// Private variables, the variable with members, arrays.
    vars: Vec<Word>,
    parts: Word,
    arrays: Vec<Word>,
    /// Current values of phi variables, and their values at the end of each block.
    now: Vec<Word>,
    ends: Vec<Vec<Word>>,
    /// Results of instructions by block.
    given: Vec<Vec<Word>>,
    at: usize,
}

/// Builds `kernel void k(global uchar *own, global uchar *out, global uint *counters, uint
/// counter)`.
pub fn words(p: &Program, doubles: bool) -> Vec<u32> {
    let mut b = Builder::new();
    b.set_version(1, 4);
    use Capability::*;
    for c in [
        Addresses,
        Linkage,
        Kernel,
        Vector16,
        Int8,
        Int16,
        Int64,
        Int64Atomics,
        Float16,
        Float16Buffer,
        GenericPointer,
    ] {
        b.capability(c);
    }
    if doubles {
        b.capability(Float64);
    }
    let std = b.ext_inst_import("OpenCL.std");
    b.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
    let mut w = Words {
        b,
        p,
        std,
        table: 0,
        counters: 0,
        functions: Vec::new(),
        arrays: Vec::new(),
        base: 0,
        local: 0,
        given: 0,
        by_value: 0,
        here: 0,
        room: 0,
    };
    w.module();
    w.b.module().assemble()
}

fn id(w: Word) -> Operand {
    Operand::IdRef(w)
}

fn number(n: u32) -> Operand {
    Operand::LiteralBit32(n)
}

/// Alignment of an access: that of the type, or 1.
fn aligned(place: &Place, ty: Ty) -> [Operand; 2] {
    let by = if place.bytes { 1 } else { ty.size() };
    [Operand::MemoryAccess(MemoryAccess::ALIGNED), number(by)]
}

impl Words<'_> {
    fn ty(&mut self, ty: Ty) -> Word {
        let one = match ty.kind {
            Kind::Bool => self.b.type_bool(),
            Kind::Int(bits) => self.b.type_int(bits, 0),
            Kind::Float(bits) => self.b.type_float(bits, None),
        };
        match ty.count {
            1 => one,
            n => self.b.type_vector(one, n),
        }
    }

    /// Array type, one for each element type and length, so that arguments match parameters.
    fn array(&mut self, ty: Ty, count: u32) -> Word {
        if let Some((_, word)) = self.arrays.iter().find(|a| a.0 == (ty, count)) {
            return *word;
        }
        let (of, length) = (self.ty(ty), self.u32(count));
        let word = self.b.type_array(of, length);
        self.arrays.push(((ty, count), word));
        word
    }

    fn pointer(&mut self, class: StorageClass, ty: Ty) -> Word {
        let ty = self.ty(ty);
        self.b.type_pointer(None, class, ty)
    }

    fn constant(&mut self, ty: Ty, v: &Value) -> Word {
        let t = self.ty(ty.scalar());
        let all: Vec<Word> = v
            .iter()
            .map(|v| match ty.kind {
                Kind::Bool if *v == 0 => self.b.constant_false(t),
                Kind::Bool => self.b.constant_true(t),
                k if k.bits() == 64 => self.b.constant_bit64(t, *v),
                _ => self.b.constant_bit32(t, *v as u32),
            })
            .collect();
        match all[..] {
            [one] => one,
            _ => {
                let t = self.ty(ty);
                self.b.constant_composite(t, all)
            }
        }
    }

    /// Constant in every component.
    fn splat(&mut self, ty: Ty, v: u64) -> Word {
        self.constant(ty, &(0..ty.count).map(|_| v).collect())
    }

    fn u32(&mut self, v: u32) -> Word {
        self.splat(U32, v.into())
    }

    fn op(&mut self, op: Op, ty: Option<Word>, operands: Vec<Operand>) -> Word {
        let result = ty.map(|_| self.b.id());
        let inst = Instruction::new(op, ty, result, operands);
        self.b.insert_into_block(InsertPoint::End, inst).unwrap();
        result.unwrap_or(0)
    }

    fn of(&mut self, op: Op, ty: Ty, args: &[Word]) -> Word {
        let t = self.ty(ty);
        self.op(op, Some(t), args.iter().map(|a| id(*a)).collect())
    }

    /// Replaces NaN by 1.
    fn clean(&mut self, ty: Ty, v: Word) -> Word {
        let Kind::Float(_) = ty.kind else { return v };
        let wrong = self.of(Op::FUnordNotEqual, Kind::Bool.of(ty.count), &[v, v]);
        let one = self.splat(ty, ty.kind.rounded(1.0));
        self.of(Op::Select, ty, &[wrong, one, v])
    }

    fn builtin(&mut self, which: BuiltIn) -> Word {
        let long = self.b.type_int(64, 0);
        let three = self.b.type_vector(long, 3);
        let ptr = self.b.type_pointer(None, StorageClass::Input, three);
        let var = self.b.variable(ptr, None, StorageClass::Input, None);
        let what = vec![Operand::BuiltIn(which)];
        self.b.decorate(var, Decoration::BuiltIn, what);
        self.b.decorate(var, Decoration::Constant, vec![]);
        let import = Operand::LinkageType(LinkageType::Import);
        let name = Operand::LiteralString(format!("__spirv_BuiltIn{which:?}"));
        let linkage = vec![name, import];
        self.b.decorate(var, Decoration::LinkageAttributes, linkage);
        var
    }

    /// Builds a program-scope variable with the address of another one, which holds the slices.
    fn slices(&mut self, byte: Word, bytes: Word) -> Word {
        let p = self.p;
        let count = self.u32(p.group * p.groups * SLICE);
        let all = self.b.type_array(byte, count);
        let class = StorageClass::CrossWorkgroup;
        let ptr = self.b.type_pointer(None, class, all);
        let zeros = self.b.constant_null(all);
        let slices = self.b.variable(ptr, None, class, Some(zeros));
        let align = Decoration::Alignment;
        self.b.decorate(slices, align, vec![number(64)]);
        let (zero, address) = (self.u32(0), self.b.id());
        let op = Operand::LiteralSpecConstantOpInteger(Op::InBoundsAccessChain);
        let operands = vec![op, id(slices), id(zero)];
        let chain = Instruction::new(Op::SpecConstantOp, Some(bytes), Some(address), operands);
        self.b.module_mut().types_global_values.push(chain);
        let class = if p.required {
            StorageClass::CrossWorkgroup
        } else {
            StorageClass::UniformConstant
        };
        let ptr = self.b.type_pointer(None, class, bytes);
        self.b.variable(ptr, None, class, Some(address))
    }

    /// Copies a work-item's slice.
    fn copy_slice(&mut self, to: Word, from: Word) {
        let size = self.u32(SLICE);
        let access = Operand::MemoryAccess(MemoryAccess::ALIGNED);
        let operands = vec![id(to), id(from), id(size), access, number(64)];
        self.op(Op::CopyMemorySized, None, operands);
    }

    /// Loads the first component of a built-in.
    fn first(&mut self, var: Word) -> Word {
        let long = self.b.type_int(64, 0);
        let three = self.b.type_vector(long, 3);
        let all = self.op(Op::Load, Some(three), vec![id(var)]);
        let one = vec![id(all), number(0)];
        let one = self.op(Op::CompositeExtract, Some(long), one);
        self.of(Op::UConvert, U32, &[one])
    }

    fn module(&mut self) {
        let p = self.p;
        let void = self.b.type_void();
        let int = self.ty(U32);
        let byte = Kind::Int(8).of(1);
        let bytes = self.pointer(StorageClass::CrossWorkgroup, byte);
        let ints = self.pointer(StorageClass::CrossWorkgroup, U32);
        let (global, here) = (
            self.builtin(BuiltIn::GlobalInvocationId),
            self.builtin(BuiltIn::LocalInvocationId),
        );
        self.here = here;
        let count = self.u32(TABLE);
        let table = self.b.type_array(int, count);
        let numbers: Vec<Word> = p.table.iter().map(|v| self.u32(*v)).collect();
        let numbers = self.b.constant_composite(table, numbers);
        let class = StorageClass::UniformConstant;
        let ptr = self.b.type_pointer(None, class, table);
        self.table = self.b.variable(ptr, None, class, Some(numbers));
        let count = self.u32(p.group * LOCAL);
        let byte = self.ty(byte);
        let room = self.b.type_array(byte, count);
        let class = StorageClass::Workgroup;
        let ptr = self.b.type_pointer(None, class, room);
        let room = self.b.variable(ptr, None, class, None);
        self.room = room;
        self.b
            .decorate(room, Decoration::Alignment, vec![number(64)]);
        let held = p.variable.then(|| self.slices(byte, bytes));
        let given = self.array(U32, GIVEN);
        let given = self.b.type_pointer(None, StorageClass::Function, given);
        self.functions = p.functions.iter().map(|_| self.b.id()).collect();
        for (f, body) in self.functions.clone().into_iter().zip(&p.functions) {
            let gives = self.ty(body.vars[2].0);
            let ty = self.b.type_function(gives, vec![bytes, int, int, given]);
            let none = FunctionControl::NONE;
            self.b.begin_function(gives, Some(f), none, ty).unwrap();
            self.base = self.b.function_parameter(bytes).unwrap();
            let args = [(); 2].map(|()| self.b.function_parameter(int).unwrap());
            self.given = self.b.function_parameter(given).unwrap();
            self.b.begin_block(None).unwrap();
            let mut f = self.frame(body);
            for (n, (ty, _)) in body.vars.iter().enumerate() {
                let v = match args.get(n) {
                    Some(v) => *v,
                    None => self.splat(*ty, 0),
                };
                self.set(&mut f, n, v);
            }
            if let Some(end) = self.blocks(&mut f) {
                self.b.select_block(Some(end)).unwrap();
                let v = self.get(&f, 2);
                self.b.ret_value(v).unwrap();
            }
            self.b.end_function().unwrap();
        }
        let mut params = vec![bytes, bytes, ints, int];
        let structure = self.b.type_struct([int, table]);
        let structure = self.b.type_pointer(None, StorageClass::Function, structure);
        params.extend(p.by_value.then_some(structure));
        let ty = self.b.type_function(void, params);
        let none = FunctionControl::NONE;
        let k = self.b.begin_function(void, None, none, ty).unwrap();
        let own = self.b.function_parameter(bytes).unwrap();
        let out = self.b.function_parameter(bytes).unwrap();
        self.counters = self.b.function_parameter(ints).unwrap();
        let counter = self.b.function_parameter(int).unwrap();
        if p.by_value {
            self.by_value = self.b.function_parameter(structure).unwrap();
            let copied = FunctionParameterAttribute::ByVal;
            let copied = vec![Operand::FunctionParameterAttribute(copied)];
            let kind = Decoration::FuncParamAttr;
            self.b.decorate(self.by_value, kind, copied);
        }
        // Declares that buffers do not alias.
        for (n, buffer) in [own, out, self.counters].into_iter().enumerate() {
            if p.no_alias >> n & 1 == 1 {
                let promise = vec![Operand::FunctionParameterAttribute(
                    FunctionParameterAttribute::NoAlias,
                )];
                let kind = Decoration::FuncParamAttr;
                self.b.decorate(buffer, kind, promise);
            }
        }
        let io = vec![global, here, room, self.table];
        self.b.entry_point(ExecutionModel::Kernel, k, "k", io);
        if p.required {
            self.b
                .execution_mode(k, ExecutionMode::LocalSize, [p.group, 1, 1]);
        }
        self.b.begin_block(None).unwrap();
        let mut f = self.frame(&p.kernel);
        let item = self.first(global);
        let place = self.first(here);
        let slice = self.u32(SLICE);
        let at = self.of(Op::IMul, U32, &[item, slice]);
        let chain = vec![id(own), id(at)];
        let own = self.op(Op::InBoundsPtrAccessChain, Some(bytes), chain);
        self.base = own;
        if let Some(held) = held {
            let access = Operand::MemoryAccess(MemoryAccess::ALIGNED);
            let load = vec![id(held), access, number(8)];
            let held = self.op(Op::Load, Some(bytes), load);
            let chain = vec![id(held), id(at)];
            self.base = self.op(Op::InBoundsPtrAccessChain, Some(bytes), chain);
            self.copy_slice(self.base, own);
        }
        let slice = self.u32(LOCAL);
        let at = self.of(Op::IMul, U32, &[place, slice]);
        let near = self.b.type_pointer(None, StorageClass::Workgroup, byte);
        let chain = vec![id(room), id(at)];
        self.local = self.op(Op::InBoundsAccessChain, Some(near), chain);
        let whole = Kind::Int(32).of(8);
        let zeros = self.splat(whole, 0);
        let ptr = self.pointer(StorageClass::Workgroup, whole);
        let at = self.op(Op::Bitcast, Some(ptr), vec![id(self.local)]);
        self.op(Op::Store, None, vec![id(at), id(zeros)]);
        for (n, (ty, _)) in p.kernel.vars.iter().enumerate() {
            let v = match n {
                0 => counter,
                _ => {
                    let at = self.u32(16 * (n as u32 - 1));
                    let chain = vec![id(self.base), id(at)];
                    let at = self.op(Op::PtrAccessChain, Some(bytes), chain);
                    let ptr = self.pointer(StorageClass::CrossWorkgroup, *ty);
                    let at = self.op(Op::Bitcast, Some(ptr), vec![id(at)]);
                    let t = self.ty(*ty);
                    let by = ty.kind.bits() / 8;
                    let access = Operand::MemoryAccess(MemoryAccess::ALIGNED);
                    let load = vec![id(at), access, number(by)];
                    let v = self.op(Op::Load, Some(t), load);
                    self.clean(*ty, v)
                }
            };
            self.set(&mut f, n, v);
        }
        if let Some(end) = self.blocks(&mut f) {
            self.b.select_block(Some(end)).unwrap();
            if held.is_some() {
                self.copy_slice(own, self.base);
            }
            self.finish(&f, out, item);
        }
        self.b.end_function().unwrap();
    }

    /// Stores the variables at the end of the kernel.
    fn finish(&mut self, f: &Frame<'_>, out: Word, item: Word) {
        let p = self.p;
        let bytes = self.pointer(StorageClass::CrossWorkgroup, Kind::Int(8).of(1));
        let (places, stride) = p.results();
        let stride = self.u32(stride);
        let at = self.of(Op::IMul, U32, &[item, stride]);
        let chain = vec![id(out), id(at)];
        let out = self.op(Op::InBoundsPtrAccessChain, Some(bytes), chain);
        for (n, (ty, _)) in p.kernel.vars.iter().enumerate() {
            let v = self.get(f, n);
            let at = self.u32(places[n]);
            let chain = vec![id(out), id(at)];
            let at = self.op(Op::PtrAccessChain, Some(bytes), chain);
            let ptr = self.pointer(StorageClass::CrossWorkgroup, *ty);
            let at = self.op(Op::Bitcast, Some(ptr), vec![id(at)]);
            let access = Operand::MemoryAccess(MemoryAccess::ALIGNED);
            self.op(Op::Store, None, vec![id(at), id(v), access, number(1)]);
        }
        self.b.ret().unwrap();
    }

    /// Creates the variables of a body in its first block.
    fn frame<'p>(&mut self, body: &'p Body) -> Frame<'p> {
        let own = StorageClass::Function;
        let mut vars = Vec::new();
        let mut members = Vec::new();
        for (ty, way) in &body.vars {
            vars.push(match way {
                Way::Variable => {
                    let ptr = self.pointer(own, *ty);
                    self.b.variable(ptr, None, own, None)
                }
                Way::Part => {
                    members.push(self.ty(*ty));
                    members.len() as Word - 1
                }
                Way::Phis => 0,
            });
        }
        let mut parts = 0;
        if !members.is_empty() {
            let all = self.b.type_struct(members);
            let ptr = self.b.type_pointer(None, own, all);
            parts = self.b.variable(ptr, None, own, None);
        }
        let mut arrays = Vec::new();
        let types: Vec<Word> = body
            .arrays
            .iter()
            .map(|(ty, n)| self.array(*ty, *n))
            .collect();
        let whole = (body.packed && !types.is_empty()).then(|| {
            let all = self.b.type_struct(types.clone());
            let ptr = self.b.type_pointer(None, own, all);
            let zeros = self.b.constant_null(all);
            self.b.variable(ptr, None, own, Some(zeros))
        });
        for (n, of) in types.into_iter().enumerate() {
            let ptr = self.b.type_pointer(None, own, of);
            if let Some(whole) = whole {
                let which = self.u32(n as u32);
                let chain = vec![id(whole), id(which)];
                let member = self.op(Op::InBoundsAccessChain, Some(ptr), chain);
                arrays.push((member, None));
                continue;
            }
            let zeros = self.b.constant_null(of);
            // By an initializer, or by a store.
            let first = (n % 2 == 0).then_some(zeros);
            let var = self.b.variable(ptr, None, own, first);
            arrays.push((var, first.is_none().then_some(zeros)));
        }
        for (var, zeros) in &arrays {
            if let Some(zeros) = zeros {
                self.op(Op::Store, None, vec![id(*var), id(*zeros)]);
            }
        }
        Frame {
            body,
            vars,
            parts,
            arrays: arrays.into_iter().map(|a| a.0).collect(),
            now: vec![0; body.vars.len()],
            ends: vec![Vec::new(); body.blocks.len()],
            given: vec![Vec::new(); body.blocks.len()],
            at: 0,
        }
    }

    /// Pointer to a variable that is in memory.
    fn variable(&mut self, f: &Frame<'_>, n: usize) -> Option<Word> {
        let (ty, way) = f.body.vars[n];
        match way {
            Way::Phis => None,
            Way::Variable => Some(f.vars[n]),
            Way::Part => {
                let ptr = self.pointer(StorageClass::Function, ty);
                let which = self.u32(f.vars[n]);
                let chain = vec![id(f.parts), id(which)];
                Some(self.op(Op::InBoundsAccessChain, Some(ptr), chain))
            }
        }
    }

    fn get(&mut self, f: &Frame<'_>, n: usize) -> Word {
        match self.variable(f, n) {
            None => f.now[n],
            Some(at) => {
                let ty = self.ty(f.body.vars[n].0);
                self.op(Op::Load, Some(ty), vec![id(at)])
            }
        }
    }

    fn set(&mut self, f: &mut Frame<'_>, n: usize, v: Word) {
        match self.variable(f, n) {
            None => f.now[n] = v,
            Some(at) => {
                self.op(Op::Store, None, vec![id(at), id(v)]);
            }
        }
    }

    /// Emits the blocks of a body, from the open one on. Returns the index of the block that
    /// returns, if reachable, which stays open.
    fn blocks(&mut self, f: &mut Frame<'_>) -> Option<usize> {
        let all = &f.body.blocks;
        let reached = reach(all, usize::MAX);
        let labels: Vec<Word> = all.iter().map(|_| self.b.id()).collect();
        let module = self.b.module_ref().functions.last().unwrap();
        let first = module.blocks.last().unwrap().label_id().unwrap();
        let (begin, mut end) = (f.now.clone(), None);
        self.b.branch(labels[0]).unwrap();
        let mut places = vec![0; all.len()];
        for at in order(all) {
            let block = &all[at];
            f.at = at;
            self.b.begin_block(Some(labels[at])).unwrap();
            places[at] = self.b.selected_block().unwrap();
            for n in (0..f.now.len()).filter(|n| f.body.vars[*n].1 == Way::Phis) {
                let ty = self.ty(f.body.vars[n].0);
                f.now[n] = self.op(Op::Phi, Some(ty), vec![]);
            }
            if block.meets {
                self.meet(f);
            }
            for inst in &block.insts {
                let v = self.inst(inst, f);
                f.given[at].push(v);
            }
            f.ends[at].clone_from(&f.now);
            match &block.term {
                Term::Return => {
                    end = Some(places[at]);
                    self.b.select_block(None).unwrap();
                }
                Term::Goto(t) => self.b.branch(labels[*t]).unwrap(),
                Term::If(by, t, e) => {
                    let by = self.arg(f, by);
                    let (t, e) = (labels[*t], labels[*e]);
                    self.b.branch_conditional(by, t, e, []).unwrap();
                }
                Term::Switch(by, bit, d, cases) => {
                    let v = self.arg(f, by);
                    let (bit, mask) = (self.u32(*bit), self.u32(3));
                    let v = self.of(Op::ShiftRightLogical, U32, &[v, bit]);
                    let v = self.of(Op::BitwiseAnd, U32, &[v, mask]);
                    let cases = cases.iter().map(|(v, t)| (number(*v), labels[*t]));
                    let cases: Vec<_> = cases.collect();
                    self.b.switch(v, labels[*d], cases).unwrap();
                }
            }
        }
        // All phi arguments are known now.
        for at in (0..all.len()).filter(|at| reached[*at]) {
            let preds =
                (0..all.len()).filter(|q| reached[*q] && targets(&all[*q].term).contains(&at));
            let mut from: Vec<(&[Word], Word)> =
                preds.map(|q| (&f.ends[q][..], labels[q])).collect();
            if at == 0 {
                from.push((&begin, first));
            }
            let function = self.b.module_mut().functions.last_mut().unwrap();
            let insts = &mut function.blocks[places[at]].instructions;
            let vars = (0..f.now.len()).filter(|n| f.body.vars[*n].1 == Way::Phis);
            for (inst, n) in insts.iter_mut().zip(vars) {
                let words = from.iter().flat_map(|(v, label)| [id(v[n]), id(*label)]);
                inst.operands = words.collect();
            }
        }
        for at in (0..all.len()).filter(|at| matches!(all[*at].term, Term::Return)) {
            if reached[at] {
                f.now.clone_from(&f.ends[at]);
            }
        }
        end
    }

    /// Emits a barrier, and reads the neighbor's first number.
    fn meet(&mut self, f: &mut Frame<'_>) {
        let (group, how) = (self.u32(2), self.u32(0x110));
        let barrier = vec![id(group), id(group), id(how)];
        self.op(Op::ControlBarrier, None, barrier.clone());
        let place = self.first(self.here);
        let (far, group) = (self.u32(self.p.neighbour), self.u32(self.p.group));
        let place = self.of(Op::IAdd, U32, &[place, far]);
        let place = self.of(Op::UMod, U32, &[place, group]);
        let slice = self.u32(LOCAL / 4);
        let at = self.of(Op::IMul, U32, &[place, slice]);
        let ptr = self.pointer(StorageClass::Workgroup, U32);
        let room = self.op(Op::Bitcast, Some(ptr), vec![id(self.room)]);
        let at = self.op(Op::PtrAccessChain, Some(ptr), vec![id(room), id(at)]);
        let int = self.ty(U32);
        let v = self.op(Op::Load, Some(int), vec![id(at)]);
        let own = self.get(f, 1);
        let v = self.of(Op::IAdd, U32, &[own, v]);
        self.set(f, 1, v);
        self.op(Op::ControlBarrier, None, barrier);
    }

    fn arg(&mut self, f: &Frame<'_>, arg: &Arg) -> Word {
        match arg {
            Arg::Const(ty, v) => self.constant(*ty, v),
            Arg::Var(n) => self.get(f, *n),
            Arg::Temp(n) => f.given[f.at][*n],
            Arg::Far(b, n) => f.given[*b][*n],
        }
    }

    fn inst(&mut self, inst: &Inst, f: &mut Frame<'_>) -> Word {
        let ty = inst.ty;
        let mut args: Vec<Word> = inst.args.iter().map(|a| self.arg(f, a)).collect();
        let t = self.ty(ty);
        match &inst.what {
            What::Core(op) => {
                let of = f.body.ty(f.at, &inst.args[0]);
                match op {
                    Op::UDiv | Op::UMod | Op::SDiv | Op::SRem | Op::SMod => {
                        let (some, one) = (self.splat(of, of.kind.mask() >> 2), self.splat(of, 1));
                        let v = self.of(Op::BitwiseAnd, of, &[args[1], some]);
                        args[1] = self.of(Op::BitwiseOr, of, &[v, one]);
                    }
                    Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
                        let mask = self.splat(of, u64::from(of.kind.bits()) - 1);
                        args[1] = self.of(Op::BitwiseAnd, of, &[args[1], mask]);
                    }
                    _ => {}
                }
                let gives = inst.gives().unwrap();
                let v = self.of(*op, gives, &args);
                self.clean(gives, v)
            }
            What::Function(which) => {
                let mut words = vec![id(self.std), Operand::LiteralExtInstInteger(*which as u32)];
                words.extend(args.iter().map(|a| id(*a)));
                let mut v = self.op(Op::ExtInst, Some(t), words);
                if matches!(which, Std::fmin | Std::fmax) {
                    let zero = self.splat(ty, 0);
                    v = self.of(Op::FAdd, ty, &[v, zero]);
                }
                self.clean(ty, v)
            }
            What::Convert(op, saturates) => {
                let v = self.of(*op, ty, &args);
                let named = matches!(op, Op::SatConvertSToU | Op::SatConvertUToS);
                if *saturates && !named {
                    self.b.decorate(v, Decoration::SaturatedConversion, vec![]);
                }
                v
            }
            What::Bits => {
                let v = self.of(Op::Bitcast, ty, &args);
                self.clean(ty, v)
            }
            // An existing value, in place of another instruction.
            What::Construct if args.len() == 1 => args[0],
            What::Construct => self.of(Op::CompositeConstruct, ty, &args),
            What::Extract(n) => {
                self.op(Op::CompositeExtract, Some(t), vec![id(args[0]), number(*n)])
            }
            What::Insert(n) => {
                let words = vec![id(args[1]), id(args[0]), number(*n)];
                self.op(Op::CompositeInsert, Some(t), words)
            }
            What::Shuffle(picks) => {
                let mut words = vec![id(args[0]), id(args[1])];
                words.extend(picks.iter().map(|p| number(*p)));
                self.op(Op::VectorShuffle, Some(t), words)
            }
            What::ExtractAt | What::InsertAt => {
                let of = f.body.ty(f.at, &inst.args[0]);
                let mask = self.u32(of.count - 1);
                let index = args.pop().unwrap();
                args.push(self.of(Op::BitwiseAnd, U32, &[index, mask]));
                let op = match args.len() {
                    2 => Op::VectorExtractDynamic,
                    _ => Op::VectorInsertDynamic,
                };
                self.of(op, ty, &args)
            }
            What::Select => self.of(Op::Select, ty, &args),
            What::Load(p) => {
                let at = self.place(p, ty, &args, f);
                let [how, by] = aligned(p, ty);
                let v = self.op(Op::Load, Some(t), vec![id(at), how, by]);
                self.clean(ty, v)
            }
            What::Store(p) => {
                let at = self.place(p, ty, &args, f);
                let [how, by] = aligned(p, ty);
                let v = *args.last().unwrap();
                self.op(Op::Store, None, vec![id(at), id(v), how, by])
            }
            What::Atomic(op, p) => {
                let at = self.place(p, ty, &args, f);
                let first = if p.either { 3 } else { 1 };
                self.atomic(*op, ty, at, &args[first..])
            }
            What::Shared(n) => {
                let ints = self.pointer(StorageClass::CrossWorkgroup, U32);
                let which = self.u32(*n as u32);
                let chain = vec![id(self.counters), id(which)];
                let at = self.op(Op::InBoundsPtrAccessChain, Some(ints), chain);
                self.atomic(self.p.counters[*n], ty, at, &args)
            }
            What::Call(n, given) => {
                let mut words = vec![id(self.functions[*n]), id(self.base)];
                words.extend(args.iter().map(|a| id(*a)));
                words.push(id(if *given {
                    self.given
                } else {
                    *f.arrays.last().unwrap()
                }));
                self.op(Op::FunctionCall, Some(t), words)
            }
            What::Copy(to, from) => {
                let (ty, count) = f.body.arrays[*to];
                let size = self.u32(count * ty.size());
                let byte = self.pointer(StorageClass::Function, Kind::Int(8).of(1));
                let ends = [*to, *from];
                let ends = ends.map(|n| self.op(Op::Bitcast, Some(byte), vec![id(f.arrays[n])]));
                let access = Operand::MemoryAccess(MemoryAccess::ALIGNED);
                let by = number(ty.kind.bits().max(8) / 8);
                let words = vec![id(ends[0]), id(ends[1]), id(size), access, by];
                self.op(Op::CopyMemorySized, None, words);
                0
            }
            What::Set(n) => {
                self.set(f, *n, args[0]);
                0
            }
        }
    }

    fn atomic(&mut self, op: Op, ty: Ty, at: Word, args: &[Word]) -> Word {
        let (device, relaxed) = (self.u32(1), self.u32(0));
        let mut words = vec![at, device, relaxed];
        match op {
            Op::AtomicIIncrement | Op::AtomicIDecrement => {}
            Op::AtomicCompareExchange => words.extend([relaxed, args[0], args[1]]),
            _ => words.push(args[0]),
        }
        self.of(op, ty, &words)
    }
}
