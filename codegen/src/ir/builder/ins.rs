//! Instruction builder: one method per opcode (those of memory are in `memory.rs`).
//!
//! Result types come from the operands, or from a type argument where the text format has one.

use super::FunctionBuilder;
use crate::ir::{
    ArgFact, Block, BlockCall, Cases, DataRef, Dim, FuncRef, ImageFact, Inst, InstData, Opcode,
    Region, SamplerFact, Scalar, Type, Types, Value, result_types,
};
use half::f16;

/// Builder of one instruction at the end of the current block: `b.ins().fadd(x, y)`.
#[derive(Debug)]
pub struct Ins<'a, 'f> {
    pub(super) b: &'a mut FunctionBuilder<'f>,
}

include!(concat!(env!("OUT_DIR"), "/builder.rs"));

impl Ins<'_, '_> {
    /// Returns the result types of an instruction, and true if all of its operands are known.
    #[track_caller]
    fn types(&mut self, data: &InstData, ctrl: Option<Type>) -> (Types, bool) {
        let dfg = &self.b.func.dfg;
        // Result types depend on at most the first two operands.
        let mut args = [None; 2];
        let (mut count, mut known) = (0, true);
        data.for_each_arg(dfg, |v| {
            if let Some(arg) = args.get_mut(count) {
                *arg = Some(self.b.ty(v));
            }
            count += 1;
            known &= dfg.has_value(v);
        });
        let arg = |n: usize| args.get(n).copied().flatten();
        let types = result_types(data.opcode(), ctrl, arg, |_| Types::new(), data);
        (types, known)
    }

    #[track_caller]
    pub(super) fn inst(&mut self, data: InstData, ctrl: Option<Type>) -> (Inst, Types) {
        let (types, known) = self.types(&data, ctrl);
        (self.b.push(data, known), types)
    }

    #[track_caller]
    pub(super) fn result(&mut self, inst: Inst, types: &[Type], n: usize) -> Value {
        // After an error any type will do, since the function is not used.
        let ty = types.get(n).copied().unwrap_or(Type::scalar_of(Scalar::B1));
        self.b.func.dfg.append_result(inst, ty)
    }

    #[track_caller]
    pub(super) fn none(mut self, data: InstData) {
        self.inst(data, None);
    }

    #[track_caller]
    pub(super) fn one(mut self, data: InstData, ctrl: Option<Type>) -> Value {
        let (inst, types) = self.inst(data, ctrl);
        self.result(inst, &types, 0)
    }

    #[track_caller]
    fn two(mut self, data: InstData) -> (Value, Value) {
        let (inst, types) = self.inst(data, None);
        (self.result(inst, &types, 0), self.result(inst, &types, 1))
    }

    /// Appends an instruction of any format. Its operands and `ctrl` determine the results.
    #[track_caller]
    pub(crate) fn raw(mut self, data: InstData, ctrl: Option<Type>) -> Vec<Value> {
        let (inst, types) = self.inst(data, ctrl);
        (0..types.len())
            .map(|n| self.result(inst, &types, n))
            .collect()
    }

    /// Appends a constant, an integer or a float, with the same bits in every lane.
    #[track_caller]
    pub(crate) fn imm(self, ty: Type, bits: u64) -> Value {
        let opcode = if ty.scalar().is_float() {
            Opcode::Fconst
        } else {
            Opcode::Iconst
        };
        self.one(InstData::Imm { opcode, bits }, Some(ty))
    }

    /// Reports the first integer that fits neither signed nor unsigned.
    #[track_caller]
    fn fit(&mut self, scalar: Scalar, values: &[i64]) {
        let unused = 64 - scalar.bits();
        let fits = |v: i64| v << unused >> unused == v || v as u64 & scalar.mask() == v as u64;
        if scalar.is_int()
            && let Some(v) = values.iter().find(|v| !fits(**v))
        {
            self.b.error(format!("{v} does not fit in {scalar}"));
        }
    }

    /// `iconst`: an integer in every lane. It must fit as a signed or an unsigned number.
    #[track_caller]
    pub fn iconst(mut self, ty: Type, value: i64) -> Value {
        self.fit(ty.scalar(), &[value]);
        let bits = value as u64 & ty.scalar().mask();
        let opcode = Opcode::Iconst;
        self.one(InstData::Imm { opcode, bits }, Some(ty))
    }

    /// `fconst`: a float in every lane, rounded to the type.
    #[track_caller]
    pub fn fconst(self, ty: Type, value: f64) -> Value {
        let bits = match ty.scalar() {
            Scalar::F16 => u64::from(f16::from_f64(value).to_bits()),
            Scalar::F64 => value.to_bits(),
            _ => u64::from((value as f32).to_bits()),
        };
        let opcode = Opcode::Fconst;
        self.one(InstData::Imm { opcode, bits }, Some(ty))
    }

    /// Returns the predicate type of this many lanes.
    #[track_caller]
    fn pred(&mut self, lanes: u32) -> Type {
        Type::new(Scalar::B1, lanes).unwrap_or_else(|| {
            let most = Type::MAX_PRED_LANES;
            self.b
                .error(format!("a predicate of {lanes} lanes: it has 1 to {most}"));
            Type::scalar_of(Scalar::B1)
        })
    }

    /// `bconst`: a predicate constant, where bit i is lane i.
    #[track_caller]
    pub fn bconst(mut self, lanes: u32, bits: u64) -> Value {
        let ty = self.pred(lanes);
        if bits.checked_shr(ty.lanes()).unwrap_or(0) != 0 {
            self.b.error(format!("{bits:#x} does not fit in {ty}"));
        }
        let bits = bits & (u64::MAX >> (64 - ty.lanes()));
        let opcode = Opcode::Bconst;
        self.one(InstData::Imm { opcode, bits }, Some(ty))
    }

    /// `vconst`: a constant per lane, given by its bits.
    #[track_caller]
    pub fn vconst(self, scalar: Scalar, lanes: &[u64]) -> Value {
        let count = u32::try_from(lanes.len()).ok();
        let ty = count.and_then(|n| Type::new(scalar, n));
        if ty.is_none() {
            self.b
                .error(format!("`vconst` of {} lanes of {scalar}", lanes.len()));
        }
        let mask = scalar.mask();
        if let Some(l) = lanes.iter().find(|l| **l & !mask != 0) {
            self.b.error(format!("{l:#x} does not fit in {scalar}"));
        }
        let constant = self
            .b
            .func
            .dfg
            .make_constant(lanes.iter().map(|l| l & mask).collect());
        let ty = ty.unwrap_or(Type::scalar_of(scalar));
        let opcode = Opcode::Vconst;
        self.one(InstData::ImmVec { opcode, constant }, Some(ty))
    }

    /// `vconst` of floats.
    #[track_caller]
    pub fn f32s(self, lanes: &[f32]) -> Value {
        let bits: Vec<u64> = lanes.iter().map(|l| u64::from(l.to_bits())).collect();
        self.vconst(Scalar::F32, &bits)
    }

    /// `vconst` of integers. Each must fit as a signed or an unsigned number.
    #[track_caller]
    pub fn ints(mut self, scalar: Scalar, lanes: &[i64]) -> Value {
        self.fit(scalar, lanes);
        let bits: Vec<u64> = lanes.iter().map(|&l| l as u64 & scalar.mask()).collect();
        self.vconst(scalar, &bits)
    }

    #[track_caller]
    fn launch(self, opcode: Opcode, dim: Dim, ty: Type) -> Value {
        self.one(InstData::Launch { opcode, dim }, Some(ty))
    }

    /// `local_id`: the work-items' local ids, `i16` with a lane for each channel of the dispatch.
    #[track_caller]
    pub fn local_id(self, dim: Dim) -> Value {
        let ty = Type::clamped(Scalar::I16, self.b.simd());
        self.launch(Opcode::LocalId, dim, ty)
    }

    /// `group_id`, an `i32`.
    #[track_caller]
    pub fn group_id(self, dim: Dim) -> Value {
        self.launch(Opcode::GroupId, dim, Type::scalar_of(Scalar::I32))
    }

    /// `local_size`, an `i32`.
    #[track_caller]
    pub fn local_size(self, dim: Dim) -> Value {
        self.launch(Opcode::LocalSize, dim, Type::scalar_of(Scalar::I32))
    }

    /// `group_count`, an `i32`.
    #[track_caller]
    pub fn group_count(self, dim: Dim) -> Value {
        self.launch(Opcode::GroupCount, dim, Type::scalar_of(Scalar::I32))
    }

    /// `global_size`, an `i32`.
    #[track_caller]
    pub fn global_size(self, dim: Dim) -> Value {
        self.launch(Opcode::GlobalSize, dim, Type::scalar_of(Scalar::I32))
    }

    /// `global_offset`, an `i32`.
    #[track_caller]
    pub fn global_offset(self, dim: Dim) -> Value {
        self.launch(Opcode::GlobalOffset, dim, Type::scalar_of(Scalar::I32))
    }

    /// `rdregion`: reads a region of a vector.
    #[track_caller]
    pub fn rdregion(self, ty: Type, arg: Value, region: Region) -> Value {
        self.rdregion_at(ty, arg, region, None)
    }

    /// `rdregion` at a variable index in bytes: an `i16` of one lane, or of a lane per row.
    #[track_caller]
    pub fn rdregion_at(
        self,
        ty: Type,
        arg: Value,
        region: Region,
        index: impl Into<Option<Value>>,
    ) -> Value {
        let data = InstData::RdRegion {
            opcode: Opcode::Rdregion,
            arg,
            region,
            index: index.into().into(),
        };
        self.one(data, Some(ty))
    }

    /// `wrregion`: `old` with the region replaced by `new`.
    #[track_caller]
    pub fn wrregion(self, old: Value, region: Region, new: Value) -> Value {
        self.wrregion_at(old, region, None, new, None)
    }

    /// `wrregion` at a variable index in bytes, and under a mask.
    #[track_caller]
    pub fn wrregion_at(
        self,
        old: Value,
        region: Region,
        index: impl Into<Option<Value>>,
        new: Value,
        mask: impl Into<Option<Value>>,
    ) -> Value {
        let data = InstData::WrRegion {
            opcode: Opcode::Wrregion,
            args: [old, new],
            region,
            index: index.into().into(),
            mask: mask.into().into(),
        };
        self.one(data, None)
    }

    /// `rdpred`: `lanes` lanes of a predicate from lane `offset`.
    #[track_caller]
    pub fn rdpred(mut self, lanes: u32, arg: Value, offset: u8) -> Value {
        let ty = self.pred(lanes);
        let data = InstData::RdPred {
            opcode: Opcode::Rdpred,
            arg,
            offset,
        };
        self.one(data, Some(ty))
    }

    /// `image_query`: property of the n-th image argument of the kernel.
    #[track_caller]
    pub fn image_query(self, fact: ImageFact, image: u8) -> Value {
        self.arg_query(ArgFact::Image(fact), image)
    }

    /// `sampler_query`: property of the n-th sampler argument of the kernel.
    #[track_caller]
    pub fn sampler_query(self, fact: SamplerFact, sampler: u8) -> Value {
        self.arg_query(ArgFact::Sampler(fact), sampler)
    }

    #[track_caller]
    fn arg_query(self, fact: ArgFact, of: u8) -> Value {
        let opcode = fact.opcode();
        let ty = Type::scalar_of(fact.scalar());
        self.one(InstData::ArgQuery { opcode, fact, of }, Some(ty))
    }

    /// `symbol_addr`: the address of data of the module.
    #[track_caller]
    pub fn symbol_addr(self, data: DataRef) -> Value {
        let opcode = Opcode::SymbolAddr;
        let ty = Type::scalar_of(Scalar::I64);
        self.one(InstData::Symbol { opcode, data }, Some(ty))
    }

    /// `goto`: returns the new execution mask, the new resume mask, and a `b1` that is set if no
    /// channel is left.
    #[track_caller]
    pub fn goto(mut self, em: Value, rm: Value, cond: Value) -> (Value, Value, Value) {
        let data = InstData::Ternary {
            opcode: Opcode::Goto,
            args: [em, rm, cond],
        };
        let (inst, types) = self.inst(data, None);
        let mut r = |n| self.result(inst, &types, n);
        (r(0), r(1), r(2))
    }

    /// `join`: returns the new execution mask, and a `b1` that is set if no channel is enabled.
    #[track_caller]
    pub fn join(self, em: Value, rm: Value) -> (Value, Value) {
        self.two(InstData::Binary {
            opcode: Opcode::Join,
            args: [em, rm],
        })
    }

    /// `printf`: prints a line for each lane of the mask, or one line without a mask.
    ///
    /// The format is a string of the module ([`Data::string`](crate::ir::Data::string)). A value
    /// has a lane for each lane of the mask. A vector of n elements has n times as many lanes, with
    /// all first elements first.
    #[track_caller]
    pub fn printf(mut self, format: DataRef, args: &[Value], mask: Option<Value>) {
        let args = self.list(args);
        self.none(InstData::Printf {
            opcode: Opcode::Printf,
            format,
            args,
            mask: mask.into(),
        });
    }

    /// `call`: calls a subroutine with results of these types.
    #[track_caller]
    pub fn call(mut self, func: FuncRef, results: &[Type], args: &[Value]) -> Vec<Value> {
        let data = InstData::Call {
            opcode: Opcode::Call,
            func,
            args: self.list(args),
        };
        let (inst, _) = self.inst(data, None);
        (0..results.len())
            .map(|n| self.result(inst, results, n))
            .collect()
    }

    #[track_caller]
    fn list(&mut self, args: &[Value]) -> crate::ir::instructions::ValueList {
        crate::ir::instructions::ValueList::from_slice(args, &mut self.b.func.dfg.pool)
    }

    #[track_caller]
    fn dest(&mut self, block: Block, args: &[Value]) -> BlockCall {
        let args = self.list(args);
        BlockCall { block, args }
    }

    /// `jump`.
    #[track_caller]
    pub fn jump(mut self, block: Block, args: &[Value]) {
        let dest = self.dest(block, args);
        self.none(InstData::Jump {
            opcode: Opcode::Jump,
            dest,
        });
    }

    /// `brif`: branches to `then` if the `b1` is set, else to `otherwise`.
    #[track_caller]
    pub fn brif(
        mut self,
        cond: Value,
        then: Block,
        then_args: &[Value],
        otherwise: Block,
        else_args: &[Value],
    ) {
        let dests = [self.dest(then, then_args), self.dest(otherwise, else_args)];
        self.none(InstData::Brif {
            opcode: Opcode::Brif,
            cond,
            dests,
        });
    }

    /// `switch`: branches to the block of the case that the integer of one lane equals, else to
    /// `otherwise`. The verifier rejects case values that do not fit.
    #[track_caller]
    pub fn switch(
        mut self,
        arg: Value,
        otherwise: Block,
        args: &[Value],
        cases: &[(i64, Block, &[Value])],
    ) {
        let scalar = if self.b.func.dfg.has_value(arg) {
            self.b.ty(arg).scalar()
        } else {
            Scalar::I64
        };
        let mut dests = vec![self.dest(otherwise, args)];
        let mut values = Vec::with_capacity(cases.len());
        for &(value, block, args) in cases {
            values.push(scalar.low_bits(value as u64));
            dests.push(self.dest(block, args));
        }
        let cases = self.b.func.dfg.make_cases(Cases { values, dests });
        self.none(InstData::Switch {
            opcode: Opcode::Switch,
            arg,
            cases,
        });
    }

    /// `return`. In a divergent construct (`simd_if`, `simd_loop`) the enabled channels return:
    /// they are disabled up to the end, while the others continue. The results of a subroutine then
    /// need a lane per channel.
    #[track_caller]
    pub fn return_(self, args: &[Value]) {
        if self.b.is_filled() || args.iter().any(|&v| !self.b.func.dfg.has_value(v)) {
            return self.plain_return(args);
        }
        if self.b.is_divergent() {
            return self.b.return_here(args);
        }
        let args = self.b.all_results(args);
        self.b.ins().plain_return(&args);
    }

    /// `return` of the whole thread.
    #[track_caller]
    pub(super) fn plain_return(mut self, args: &[Value]) {
        let args = self.list(args);
        self.none(InstData::Return {
            opcode: Opcode::Return,
            args,
        });
    }
}
