//! Lowering: IR to bales, by the ISLE rules in `isle/`.
//!
//! Blocks are walked from the last to the first and each block backward. When an instruction is
//! reached, all its users have been lowered. If a rule folded it into its users, none asked for its
//! register, and no code is emitted for it.
//!
//! Input: verified IR. Output: blocks of bales and machine instructions whose flags are in SSA
//! form. Critical edges are split, and block parameters in GRFs have become copies.

mod block2d;
mod calls;
mod chains;
mod constants;
mod context;
mod control;
mod facts;
mod flags;
mod images;
mod launch;
mod live_values;
mod mask_stack;
mod memory;
mod multiply;
mod saturate;
mod sink;
mod slots;
mod systolic;
mod ternary;
mod unbale;
mod views;

use self::chains::Chains;
use self::control::reverse_postorder;
use self::memory::LoadInto;
use crate::entity_set::{Marks, sized};
use crate::error::CodegenError;
use crate::ir;
use crate::ir::{
    ArgKind, Block, ControlFlow, FloatControls, FuncKind, FuncRef, Function, Inst, InstData,
    SourceLoc, Value,
};
use crate::isel::mask_stack::{Body, Finding, MaskStack, SimdCf, analyse, normal};
use crate::mir::lowered::{Buffer, LoweredBlock, LoweredFunction};
use crate::mir::{LabelTypes, RegConstraint, Routine, RoutineData, VBlock, VFlag, VReg, VRegData};
use crate::opt::inline::FunctionGroup;
use crate::opt::memory::alignment::{Alignment, Alignments};
use crate::rule_coverage::Fired;
use crate::target::Target;
use crate::target::abi::Payload;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use gantry_isa_gen::{self as isa, Cond};
use std::ops::{Deref, DerefMut};

/// Compiled rules.
#[allow(
    dead_code,
    unreachable_patterns,
    unused_imports,
    unused_variables,
    irrefutable_let_patterns,
    clippy::all,
    missing_docs,
    non_snake_case,
    reason = "generated code"
)]
mod generated {
    use crate::ir::{
        ArgFact, AtomicOp, Block2dShape, BlockCall, CaseTable, Constant, DataRef, Dim, DpasShape,
        FenceSpaces, FloatCC, FuncRef, ImagePlace, Inst, InstData, IntCC, MemFlags, Opcode, Region,
        Scope, Value,
    };
    use crate::mir::bale::{BaleSrc, Operation, View};
    use crate::mir::logical::BarrierPart;
    use gantry_isa_gen::{Cond, MathFn, Op, Type as GenType};
    pub(super) type Unit = ();
    pub(super) type OptValue = cranelift_entity::packed_option::PackedOption<Value>;
    pub(super) type ValueArray2 = [Value; 2];
    pub(super) type ValueArray3 = [Value; 3];
    pub(super) use rules::*;
    pub(super) mod rules {
        extern crate alloc;
        use super::*;
        include!(concat!(env!("OUT_DIR"), "/lower.rs"));
    }
}

/// State of the lowering of one function.
pub(crate) struct Lower<'a> {
    func: &'a Function,
    target: &'a Target,
    payload: &'a Payload,
    /// Rounding and denormal modes of the kernel.
    float: FloatControls,
    /// Registers, and the code of the instruction being lowered, in order.
    out: Buffer,
    /// Subroutines that may be called.
    interfaces: &'a SecondaryMap<FuncRef, Option<RoutineInterface>>,
    /// Interface of the function itself, if it is a subroutine.
    own: Option<RoutineInterface>,
    value_regs: SecondaryMap<Value, PackedOption<VReg>>,
    value_flags: SecondaryMap<Value, PackedOption<VFlag>>,
    /// Slots of loaded values that are read in slots.
    value_slots: SecondaryMap<Value, PackedOption<VReg>>,
    /// Words of constants of dwords that are read as words.
    value_words: SecondaryMap<Value, PackedOption<VReg>>,
    /// Flag and condition that the instruction of an operation writes beside its result.
    flags_beside: SecondaryMap<Inst, Option<(VFlag, Cond)>>,
    /// Places that loads are read into, if these are not their own values.
    loads_into: SecondaryMap<Inst, Option<LoadInto>>,
    /// Alignment of each index of a region.
    index_bits: SecondaryMap<Value, Option<Alignment>>,
    /// Values that the kernel's effects depend on.
    needed: Marks<Value>,
    chains: Chains,
    /// Number of uses of each value by needed instructions.
    uses: SecondaryMap<Value, u32>,
    inst_block: SecondaryMap<Inst, PackedOption<Block>>,
    /// Index of each instruction in its block, and of the one being lowered.
    places: SecondaryMap<Inst, u32>,
    place: u32,
    /// SIMD control flow on the mask stack, if that is used.
    masks: Option<MaskStack>,
    header: VReg,
    /// Pointers to local memory that the host sizes: register, and address of the driver's offset
    /// in the payload.
    local_pointers: Vec<(VReg, u32)>,
    /// Registers of arguments that are table entries (images and samplers): zeros.
    table_args: Vec<VReg>,
    /// Start of the thread's scratch, if used.
    scratch_base: Option<VReg>,
    /// Block being lowered.
    block: Block,
    /// Rules that matched.
    fired: Fired,
    /// First error.
    failed: Option<CodegenError>,
}

/// Subroutine as its callers see it.
#[derive(Clone)]
struct RoutineInterface {
    routine: Routine,
    /// Register per parameter, if the body uses it. A predicate's is a dword.
    params: Vec<Option<VReg>>,
    /// Register per result. The hardware keeps one without.
    results: Vec<Option<VReg>>,
    /// Register that the hardware writes the return address to.
    link: VReg,
}

/// Forms of a function that lowering makes before it begins.
struct Forms<'a> {
    given: &'a Function,
    normal: Option<Function>,
    unbaled: Option<(Function, Chains)>,
}

impl Forms<'_> {
    fn new(given: &Function, on_stack: bool) -> Forms<'_> {
        let normal = if on_stack { normal(given) } else { None };
        let unbaled = unbale::unbale(normal.as_ref().unwrap_or(given));
        Forms {
            given,
            normal,
            unbaled,
        }
    }

    /// Returns the last form.
    fn func(&self) -> &Function {
        let unbaled = self.unbaled.as_ref().map(|(f, _)| f);
        unbaled.or(self.normal.as_ref()).unwrap_or(self.given)
    }
}

/// Lowers a kernel and its subroutines. Also returns the rules that keep its SIMD control flow off
/// the mask stack, if that was requested and some do.
///
/// # Errors
/// Instruction without a lowering.
pub fn lower(
    group: &FunctionGroup<'_>,
    target: &Target,
    payload: &Payload,
    simd_cf: SimdCf,
) -> Result<(LoweredFunction, Vec<Finding>), CodegenError> {
    let on_stack = simd_cf != SimdCf::Flags;
    let grf = target.grf();
    let mut out = Buffer::new(grf);
    let header = out.vregs.push(VRegData {
        bytes: grf.bytes,
        align: grf.bytes,
        constraint: RegConstraint::Fixed(0),
        value: None.into(),
    });
    let mut interfaces: SecondaryMap<FuncRef, Option<RoutineInterface>> = SecondaryMap::new();
    let mut fired = Fired::default();
    // Bodies, callees before callers. The kernel comes last here and first in the code.
    let mut texts: Vec<(String, Vec<LoweredBlock>)> = Vec::new();
    let count: usize = group.functions().map(|f| f.layout.num_insts()).sum();
    let mut code = Vec::with_capacity(2 * count);
    // Most values have a register.
    out.vregs
        .reserve(group.functions().map(|f| f.dfg.num_values()).sum());
    let mut labels = Vec::new();
    let mut label_types = LabelTypes::new();
    let count = group.subroutines.len();
    let forms: Vec<Forms<'_>> = group.functions().map(|f| Forms::new(f, on_stack)).collect();
    let names = group.subroutines.iter().map(|(name, _)| Some(*name));
    let mut bodies = Vec::with_capacity(forms.len());
    for (form, subroutine) in forms.iter().zip(names.chain([None])) {
        let func = form.func();
        bodies.push(Body {
            func,
            subroutine,
            order: reverse_postorder(func, on_stack),
            needed: live_values::needed(func),
        });
    }
    let (masks, findings) = if on_stack {
        analyse(&bodies)
    } else {
        (bodies.iter().map(|_| None).collect(), Vec::new())
    };
    if let (SimdCf::MaskStack, Some(f)) = (simd_cf, findings.first()) {
        let mut all = bodies.iter().map(|b| b.func);
        let named = |func: &&Function| f.subroutine.as_ref() == Some(&func.name);
        let kernel = bodies.last().map(|b| b.func);
        let func = all.find(named).or(kernel);
        return Err(CodegenError::Unsupported {
            function: func.map(|f| f.name.clone()).unwrap_or_default(),
            what: format!("the mask stack: {f}"),
            at: None,
            origin: func.map_or(SourceLoc::NONE, |func| f.origin(func)).into(),
        });
    }
    let lowered = bodies.into_iter().zip(&forms).zip(masks).enumerate();
    for (n, ((body, form), masks)) in lowered {
        let func = form.func();
        let name = body.subroutine.map(|name| (name, count - n));
        let Some(entry) = func.layout.entry() else {
            return Err(CodegenError::internal(
                &func.name,
                "a function without blocks",
            ));
        };
        let passed = masks.as_ref().map(MaskStack::passed);
        let own = name
            .map(|(_, number)| RoutineInterface::new(func, Routine::new(number), passed, &mut out));
        let mut l = Lower {
            func,
            target,
            payload,
            float: group.kernel.float_controls(),
            out,
            interfaces: &interfaces,
            own,
            value_regs: sized(func.dfg.num_values()),
            value_flags: sized(func.dfg.num_values()),
            value_slots: SecondaryMap::new(),
            value_words: SecondaryMap::new(),
            flags_beside: SecondaryMap::new(),
            loads_into: SecondaryMap::new(),
            index_bits: index_bits(func),
            needed: body.needed,
            chains: Chains::default(),
            uses: sized(func.dfg.num_values()),
            inst_block: sized(func.dfg.num_insts()),
            places: sized(func.dfg.num_insts()),
            place: 0,
            masks,
            header,
            local_pointers: Vec::new(),
            table_args: Vec::new(),
            scratch_base: None,
            block: entry,
            fired,
            failed: None,
        };
        l.count_uses();
        l.chains = match &form.unbaled {
            Some((_, chains)) => chains.clone(),
            None => Chains::new(func),
        };
        let blocks = l.blocks(&body.order, &mut code)?;
        l.labels(&mut labels, &mut label_types);
        let own = l.own.take();
        (out, fired) = (l.out, l.fired);
        if let Some((name, _)) = name {
            interfaces[name] = own;
        }
        texts.push((func.name.clone(), blocks));
    }
    let mut routines: PrimaryMap<Routine, RoutineData> = PrimaryMap::new();
    let mut blocks: Vec<LoweredBlock> = Vec::new();
    for (name, body) in texts.into_iter().rev() {
        let first = blocks.len();
        match first {
            0 => blocks = body,
            _ => blocks.extend(body),
        }
        for to in blocks.iter_mut().skip(first).flat_map(|b| &mut b.succs) {
            *to = VBlock::new(to.index() + first);
        }
        routines.push(RoutineData {
            name,
            first: first as u32,
            end: blocks.len() as u32,
        });
    }
    let lowered = LoweredFunction {
        grf,
        code,
        blocks,
        routines,
        vregs: out.vregs,
        flags: out.flags,
        labels,
        label_types,
        lone_surfaces: group.kernel.lone_surfaces(),
        fired,
    };
    Ok((lowered, findings))
}

impl Deref for Lower<'_> {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        &self.out
    }
}

impl DerefMut for Lower<'_> {
    fn deref_mut(&mut self) -> &mut Buffer {
        &mut self.out
    }
}

/// Returns the alignment of each index of a region.
fn index_bits(func: &Function) -> SecondaryMap<Value, Option<Alignment>> {
    let mut out = SecondaryMap::new();
    let blocks = func.layout.blocks().iter();
    let insts = blocks.flat_map(|&b| func.layout.insts(b));
    let mut indices = insts
        .filter_map(|&i| match *func.dfg.data(i) {
            InstData::RdRegion { index, .. } | InstData::WrRegion { index, .. } => index.expand(),
            _ => None,
        })
        .peekable();
    if indices.peek().is_some() {
        let cfg = ControlFlow::new(func);
        let mut alignments = Alignments::new(func, &cfg);
        for v in indices {
            out[v] = Some(alignments.of(v));
        }
    }
    out
}

impl Lower<'_> {
    fn count_uses(&mut self) {
        for &block in self.func.layout.blocks() {
            for (place, &inst) in self.func.layout.insts(block).iter().enumerate() {
                self.inst_block[inst] = block.into();
                self.places[inst] = place as u32;
                let data = self.func.dfg.data(inst);
                let results = self.func.dfg.results(inst);
                if data.opcode().info().effect || results.iter().any(|&v| self.needed.contains(v)) {
                    let uses = &mut self.uses;
                    data.for_each_arg(&self.func.dfg, |v| uses[v] += 1);
                }
            }
        }
    }

    /// Records an error. The caller gets the first one.
    fn fail(&mut self, inst: Option<Inst>, what: impl ToString) {
        if self.failed.is_none() {
            self.failed = Some(CodegenError::Unsupported {
                function: self.func.name.clone(),
                what: what.to_string(),
                at: inst.map(|i| self.func.dfg.data(i).opcode().name().to_string()),
                origin: inst
                    .map_or(SourceLoc::NONE, |i| self.func.srclocs[i])
                    .into(),
            });
        }
    }

    /// Collects the registers of labelled values that have one.
    fn labels(&self, out: &mut Vec<(String, VReg)>, types: &mut LabelTypes) {
        for (name, values) in self.func.labels.iter() {
            for v in values {
                types.entry(name.to_owned()).or_insert_with(|| self.ty(v));
                let v = self.chains.root(v);
                let reg = self.value_regs[v].expand();
                out.extend(reg.map(|r| (name.to_owned(), r)));
            }
        }
    }

    fn ty(&self, v: Value) -> ir::Type {
        self.func.dfg.ty(v)
    }

    /// Lowers one instruction if it has an effect or its result is used. The code is left in
    /// `self.code`.
    fn lower_inst(&mut self, inst: Inst) {
        self.code.clear();
        self.place = self.places[inst];
        let wanted = self.func.dfg.results(inst).iter().any(|&v| {
            self.value_regs[v].is_some()
                || self.value_flags[v].is_some()
                || self.value_slots[v].is_some()
                || self.value_words[v].is_some()
        });
        let data = self.func.dfg.data(inst);
        if let InstData::Call { func, args, .. } = *data {
            return self.lower_call(inst, func, args);
        }
        let wanted = wanted || self.flags_beside[inst].is_some();
        let wanted = wanted || self.loads_into[inst].is_some();
        let effect = data.opcode().info().effect;
        if !wanted && !effect && !self.controls(inst) {
            return;
        }
        if generated::constructor_lower(self, inst).is_none() {
            let name = data.opcode().name();
            let of = self
                .func
                .dfg
                .first_result(inst)
                .map(|v| format!(" of {}", self.ty(v)));
            self.fail(Some(inst), format!("`{name}`{}", of.unwrap_or_default()));
        }
    }

    /// Returns the register of a value, whose definition becomes needed.
    fn reg(&mut self, v: Value) -> VReg {
        // The same bytes with another type.
        let v = self.chains.root(v);
        if let Some(r) = self.value_regs[v].expand() {
            return r;
        }
        let bytes = self.ty(v).bytes();
        if let Some(at) = self.local_pointer(v) {
            let r = self.temp(bytes);
            self.vregs[r].value = v.into();
            self.value_regs[v] = r.into();
            self.local_pointers.push((r, at));
            return r;
        }
        if self.is_table_arg(v) {
            let r = self.temp(bytes);
            self.vregs[r].value = v.into();
            self.value_regs[v] = r.into();
            self.table_args.push(r);
            return r;
        }
        let place = match self.func.dfg.def(v) {
            ir::ValueDef::Param(block, n) if Some(block) == self.func.layout.entry() => {
                if let Some(r) = self.own_param(n, bytes) {
                    self.value_regs[v] = r.into();
                    return r;
                }
                let slot = self.payload.args.get(usize::from(n));
                slot.map(|(_, s)| self.payload.cross_address() + s.offset)
            }
            ir::ValueDef::Param(..) => None,
            ir::ValueDef::Result(inst, _) => self.launch_address(inst),
        }
        .map_or(RegConstraint::Any, RegConstraint::Fixed);
        let data = VRegData::anywhere(bytes, self.grf);
        let r = self.vregs.push(VRegData {
            constraint: place,
            ..data
        });
        self.vregs[r].value = v.into();
        self.value_regs[v] = r.into();
        r
    }

    /// Returns the payload address of the offset of local memory that the host sizes. `None` if the
    /// value is no such pointer, or if the kernel has no local memory of its own before it.
    fn local_pointer(&self, v: Value) -> Option<u32> {
        let FuncKind::Kernel { slm_bytes, .. } = self.func.kind else {
            return None;
        };
        let ir::ValueDef::Param(block, n) = self.func.dfg.def(v) else {
            return None;
        };
        let (kind, slot) = self.payload.args.get(usize::from(n))?;
        let local = Some(block) == self.func.layout.entry() && *kind == ArgKind::Slm;
        (local && slm_bytes > 0).then_some(self.payload.cross_address() + slot.offset)
    }

    /// Returns true if a value is an image or a sampler of the kernel.
    fn is_table_arg(&self, v: Value) -> bool {
        let ir::ValueDef::Param(block, n) = self.func.dfg.def(v) else {
            return false;
        };
        let kind = self.payload.args.get(usize::from(n)).map(|a| a.0);
        let kernel = matches!(self.func.kind, FuncKind::Kernel { .. });
        kernel
            && Some(block) == self.func.layout.entry()
            && matches!(kind, Some(ArgKind::Image(..) | ArgKind::Sampler))
    }

    /// Returns the flag of a predicate value, whose definition becomes needed.
    fn flag(&mut self, v: Value) -> VFlag {
        let v = self.masks.as_ref().map_or(v, |m| m.canonical(v));
        if let Some(f) = self.value_flags[v].expand() {
            return f;
        }
        let lanes = self.ty(v).lanes();
        let f = self.temp_flag(lanes);
        self.value_flags[v] = f.into();
        f
    }
}

/// Returns the Gen type of a lane, signed for integers.
pub(crate) fn gen_signed(s: ir::Scalar) -> isa::Type {
    match s {
        ir::Scalar::I8 => isa::Type::B,
        ir::Scalar::I16 => isa::Type::W,
        ir::Scalar::I32 => isa::Type::D,
        ir::Scalar::I64 => isa::Type::Q,
        ir::Scalar::F16 => isa::Type::Hf,
        ir::Scalar::F32 => isa::Type::F,
        ir::Scalar::F64 => isa::Type::Df,
        ir::Scalar::B1 => isa::Type::Uw,
    }
}

/// Returns the unsigned integer type of the same size.
pub(crate) fn to_unsigned(t: isa::Type) -> isa::Type {
    match t {
        isa::Type::B => isa::Type::Ub,
        isa::Type::W => isa::Type::Uw,
        isa::Type::D => isa::Type::Ud,
        isa::Type::Q => isa::Type::Uq,
        t => t,
    }
}

/// Returns the signed integer type of the same size.
pub(crate) fn to_signed(t: isa::Type) -> isa::Type {
    match t {
        isa::Type::Ub => isa::Type::B,
        isa::Type::Uw => isa::Type::W,
        isa::Type::Ud => isa::Type::D,
        isa::Type::Uq => isa::Type::Q,
        t => t,
    }
}
