//! Atomics, fences and barriers.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::op_info::is_atomic;
use crate::read::{self, Id};
use gantry_codegen::ir::{
    AtomicOp, FenceSpaces, FloatCC, IntCC, MemFlags, Opcode, Scalar, Scope, Space, Value,
};
use spirv::{MemorySemantics as Semantics, Op, StorageClass};

/// Returns true if this file emits an instruction.
pub(super) fn is_supported(op: Op) -> bool {
    is_atomic(op)
        || matches!(
            op,
            Op::ControlBarrier
                | Op::ControlBarrierArriveINTEL
                | Op::ControlBarrierWaitINTEL
                | Op::MemoryBarrier
        )
}

/// IR operation of an integer atomic, if a single one suffices.
fn operation(op: Op) -> Option<AtomicOp> {
    Some(match op {
        Op::AtomicExchange => AtomicOp::Xchg,
        Op::AtomicIIncrement => AtomicOp::Inc,
        Op::AtomicIDecrement => AtomicOp::Dec,
        Op::AtomicIAdd => AtomicOp::Add,
        Op::AtomicISub => AtomicOp::Sub,
        Op::AtomicSMin => AtomicOp::Smin,
        Op::AtomicUMin => AtomicOp::Umin,
        Op::AtomicSMax => AtomicOp::Smax,
        Op::AtomicUMax => AtomicOp::Umax,
        Op::AtomicAnd => AtomicOp::And,
        Op::AtomicOr | Op::AtomicFlagTestAndSet => AtomicOp::Or,
        Op::AtomicXor => AtomicOp::Xor,
        Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => AtomicOp::Cmpxchg,
        _ => return None,
    })
}

/// Integer of the width of a scalar.
fn integer(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::F16 => Scalar::I16,
        Scalar::F32 => Scalar::I32,
        Scalar::F64 => Scalar::I64,
        s => s,
    }
}

impl Emit<'_, '_, '_> {
    pub(super) fn atomic(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        match inst.op {
            Op::ControlBarrier | Op::ControlBarrierArriveINTEL | Op::ControlBarrierWaitINTEL => {
                return self.barrier(inst);
            }
            Op::MemoryBarrier => {
                let (scope, semantics) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
                let (scope, semantics) = (self.known(scope)?, self.known(semantics)?);
                self.order(scope, semantics);
                return Ok(Leaves::new());
            }
            _ => {}
        }
        let pointer = self.operand(inst, 0)?;
        let (scope, semantics) = (self.operand(inst, 1)?, self.operand(inst, 2)?);
        let (scope, semantics) = (self.known(scope)?, self.known(semantics)?);
        let (class, of) = self.pointer(pointer)?;
        if class == StorageClass::Image {
            return self.texel_atomic(inst, pointer, (scope, semantics));
        }
        let access = self.access(class, of, &[])?;
        let (addr, access) = self.reach(pointer, class, access)?;
        let guard = self.guard.take();
        let mut addr = self.b.splat(addr, self.simd);
        if access.offset != 0 {
            let by = self.same(addr, access.offset);
            addr = self.b.ins().iadd(addr, by);
        }
        let scalar = self.scalar(of)?;
        if access.mem.space == Space::Scratch {
            return Err(Error::unsupported(format!(
                "{} of private memory",
                read::name(inst.op)
            )));
        }
        // A release orders before the access, an acquire after it.
        self.order(
            scope,
            semantics & (Semantics::RELEASE | both()).bits() | spaces(semantics),
        );
        let mut mem = access.mem;
        mem.volatile = true;
        mem.constant = false;
        let opcode = match inst.op {
            Op::AtomicLoad => Opcode::Load,
            Op::AtomicStore => Opcode::Store,
            _ => Opcode::Atomic,
        };
        mem = self.with_cache_policy(pointer, opcode, mem);
        // Result of an out-of-bounds access.
        let zero = match (guard, inst.id.expand()) {
            (Some(guard), id) => {
                let guard = self.b.splat(guard, self.simd);
                let zero = match id {
                    Some(_) => {
                        let zero = self.number(scalar, 0);
                        let zero = self.b.splat(zero, self.simd);
                        Some(self.b.var(zero))
                    }
                    None => None,
                };
                self.b.simd_if_begin(guard);
                Some(zero)
            }
            (None, _) => None,
        };
        let out = match inst.op {
            Op::AtomicLoad if scalar.bits() == 64 && mem.space == Space::Slm => {
                self.locked(|e| {
                    let mut out = Leaves::new();
                    e.elements(scalar, 1, addr, 0, mem, &mut out);
                    Ok(out)
                })?
            }
            Op::AtomicLoad => {
                let mut out = Leaves::new();
                self.elements(scalar, 1, addr, 0, mem, &mut out);
                out
            }
            Op::AtomicStore | Op::AtomicFlagClear => {
                let value = match inst.op {
                    Op::AtomicStore => {
                        let value = self.operand(inst, 3)?;
                        self.one(value)?
                    }
                    _ => self.number(scalar, 0),
                };
                if self.b.ty(value).scalar() != scalar {
                    return Err(wrong(inst.op));
                }
                if scalar.bits() == 64 && mem.space == Space::Slm {
                    self.locked(|e| {
                        e.store_elements(scalar, &[value], addr, 0, mem);
                        Ok(Leaves::new())
                    })?
                } else {
                    self.store_elements(scalar, &[value], addr, 0, mem);
                    Leaves::new()
                }
            }
            Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT => {
                let value = self.operand(inst, 3)?;
                let value = self.one(value)?;
                let value = self.b.splat(value, self.simd);
                self.float_atomic(inst.op, scalar, addr, value, mem)?
            }
            _ => self.integer_atomic(inst, scalar, addr, mem)?,
        };
        let out = match (zero, out.as_slice()) {
            (Some(Some(var)), &[v]) => {
                self.b.def_var(var, v);
                self.b.simd_if_end();
                Leaves::from_slice(&[self.b.use_var(var)])
            }
            (Some(_), _) => {
                self.b.simd_if_end();
                out
            }
            (None, _) => out,
        };
        self.order(
            scope,
            semantics & (Semantics::ACQUIRE | both()).bits() | spaces(semantics),
        );
        Ok(out)
    }

    /// Constant value of a scope or of memory semantics.
    fn known(&self, id: Id) -> Result<u32, Error> {
        let bits = self.m.bits(id).map(|b| b as u32);
        bits.ok_or_else(|| Error::unsupported("a scope or semantics that are no constant"))
    }

    /// Emits a fence if the semantics require one that is observable.
    fn order(&mut self, scope: u32, semantics: u32) {
        let orders = Semantics::ACQUIRE | Semantics::RELEASE | both();
        let orders = semantics & orders.bits() != 0;
        let scope = match spirv::Scope::from_u32(scope) {
            Some(spirv::Scope::Invocation) => return,
            Some(spirv::Scope::Subgroup) => return self.lanes_meet |= orders,
            Some(spirv::Scope::Workgroup) => Scope::Group,
            Some(spirv::Scope::CrossDevice) => Scope::System,
            _ => Scope::Device,
        };
        if !orders {
            return;
        }
        let of = |s: Semantics| semantics & s.bits() != 0;
        let global =
            Semantics::CROSS_WORKGROUP_MEMORY | Semantics::UNIFORM_MEMORY | Semantics::IMAGE_MEMORY;
        let spaces = match (of(global), of(Semantics::WORKGROUP_MEMORY)) {
            (true, true) => FenceSpaces::All,
            (true, false) => FenceSpaces::Global,
            (false, true) => FenceSpaces::Slm,
            // Semantics without a memory order nothing.
            (false, false) => return,
        };
        self.b.ins().fence(spaces, scope);
    }

    fn barrier(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let words = [0, 1, 2].map(|n| self.operand(inst, n));
        let [execution, memory, semantics] = words;
        let execution = self.known(execution?)?;
        let (memory, semantics) = (self.known(memory?)?, self.known(semantics?)?);
        // An arrival releases, a wait acquires.
        let waits = inst.op == Op::ControlBarrierWaitINTEL;
        if !waits {
            self.order(memory, semantics);
        }
        match spirv::Scope::from_u32(execution) {
            Some(spirv::Scope::Invocation | spirv::Scope::Subgroup) => {}
            Some(spirv::Scope::Workgroup) => match inst.op {
                Op::ControlBarrierArriveINTEL => self.b.ins().barrier_arrive(),
                Op::ControlBarrierWaitINTEL => self.b.ins().barrier_wait(),
                _ => self.b.ins().barrier(),
            },
            _ => return Err(Error::unsupported("a barrier beyond the work-group")),
        }
        if waits {
            self.order(memory, semantics);
        }
        Ok(Leaves::new())
    }

    fn integer_atomic(
        &mut self,
        inst: &BInst,
        scalar: Scalar,
        addr: Value,
        mem: MemFlags,
    ) -> Result<Leaves, Error> {
        let op = operation(inst.op).ok_or_else(|| wrong(inst.op))?;
        let int = integer(scalar);
        if !matches!(int, Scalar::I16 | Scalar::I32 | Scalar::I64) {
            return Err(Error::unsupported(format!(
                "{} of {} bits in this memory",
                read::name(inst.op),
                int.bits()
            )));
        }
        let ty = self.lanes(int, self.simd);
        let mut values = match op {
            _ if inst.op == Op::AtomicFlagTestAndSet => {
                let is_bool = inst.ty.expand().map(|ty| self.scalar(ty)).transpose()?;
                if is_bool != Some(Scalar::B1) {
                    return Err(wrong(inst.op));
                }
                Leaves::from_slice(&[self.number(Scalar::I32, 1)])
            }
            _ => self.atomic_operands(inst, op)?,
        };
        for v in &mut values {
            if self.b.ty(*v).scalar() != scalar {
                return Err(wrong(inst.op));
            }
            *v = self.b.splat(*v, self.simd);
            if int != scalar {
                *v = self.b.ins().bitcast(ty, *v);
            }
        }
        let old = if int == Scalar::I64 && mem.space == Space::Slm {
            let old = self.locked_atomic(op, addr, mem, &values)?;
            *old.first().ok_or_else(|| wrong(inst.op))?
        } else {
            let (mask, undef) = (self.b.exec_mask(), self.b.ins().undef(ty));
            self.b
                .ins()
                .atomic(op, mem, ty, addr, 0, &values, Some((mask, undef)))
        };
        Ok(Leaves::from_slice(&[
            if inst.op == Op::AtomicFlagTestAndSet {
                let zero = self.same(old, 0);
                self.b.ins().icmp(IntCC::NotEqual, old, zero)
            } else if int != scalar {
                let ty = self.lanes(scalar, self.simd);
                self.b.ins().bitcast(ty, old)
            } else {
                old
            },
        ]))
    }

    /// Returns the operands of an integer atomic.
    fn atomic_operands(&mut self, inst: &BInst, op: AtomicOp) -> Result<Leaves, Error> {
        let numbers: &[usize] = match op {
            AtomicOp::Inc | AtomicOp::Dec => &[],
            // SPIR-V has value and comparator, the IR the reverse.
            AtomicOp::Cmpxchg => &[5, 4],
            _ => &[3],
        };
        let mut out = Leaves::new();
        for &n in numbers {
            let v = self.operand(inst, n)?;
            out.push(self.one(v)?);
        }
        Ok(out)
    }

    /// Emits an atomic on the texel that a pointer is of. Loads and stores are atomics too, since
    /// those of images may be cached.
    fn texel_atomic(
        &mut self,
        inst: &BInst,
        pointer: Id,
        (scope, semantics): (u32, u32),
    ) -> Result<Leaves, Error> {
        let found = self.images.texels.get(&pointer).cloned();
        let (image, coords) =
            found.ok_or_else(|| Error::unsupported("a pointer to a texel from elsewhere"))?;
        let (op, mut values) = match inst.op {
            Op::AtomicLoad => (
                AtomicOp::Or,
                Leaves::from_slice(&[self.number(Scalar::I32, 0)]),
            ),
            Op::AtomicStore => {
                let op = AtomicOp::Xchg;
                (op, self.atomic_operands(inst, op)?)
            }
            Op::AtomicFlagTestAndSet => return Err(wrong(inst.op)),
            _ => {
                let what = || Error::unsupported(format!("{} of a texel", read::name(inst.op)));
                let op = operation(inst.op).ok_or_else(what)?;
                (op, self.atomic_operands(inst, op)?)
            }
        };
        for v in &mut values {
            if self.b.ty(*v).scalar() != Scalar::I32 {
                return Err(wrong(inst.op));
            }
            *v = self.b.splat(*v, self.simd);
        }
        self.order(
            scope,
            semantics & (Semantics::RELEASE | both()).bits() | spaces(semantics),
        );
        let ty = self.lanes(Scalar::I32, self.simd);
        let (mask, undef) = (self.b.exec_mask(), self.b.ins().undef(ty));
        let masked = Some((mask, undef));
        let old = self
            .b
            .ins()
            .image_atomic(op, image, &coords, &values, masked);
        self.order(
            scope,
            semantics & (Semantics::ACQUIRE | both()).bits() | spaces(semantics),
        );
        Ok(match inst.op {
            Op::AtomicStore => Leaves::new(),
            _ => Leaves::from_slice(&[old]),
        })
    }

    /// Emits a float atomic, by a compare-and-exchange loop unless the hardware has it.
    fn float_atomic(
        &mut self,
        op: Op,
        scalar: Scalar,
        addr: Value,
        value: Value,
        mem: MemFlags,
    ) -> Result<Leaves, Error> {
        if scalar != self.b.ty(value).scalar() || !scalar.is_float() {
            return Err(wrong(op));
        }
        // Targets with atomics of halves have these.
        let of_halves = match op {
            Op::AtomicFMinEXT => Some(AtomicOp::Fmin),
            Op::AtomicFMaxEXT => Some(AtomicOp::Fmax),
            _ => None,
        };
        if let (Scalar::F16, Some(op)) = (scalar, of_halves) {
            return Ok(self.at_once(op, scalar, addr, mem, &[value]));
        }
        let change = |e: &mut Self, have: Value| match op {
            Op::AtomicFAddEXT => e.b.ins().fadd(have, value),
            Op::AtomicFMinEXT => e.b.ins().fmin(have, value),
            _ => e.b.ins().fmax(have, value),
        };
        if scalar == Scalar::F64 && mem.space == Space::Slm {
            return self.locked_change(scalar, addr, mem, |e, have| Ok(change(e, have)));
        }
        self.by_exchange(scalar, addr, mem, |e, have| (change(e, have), None))
    }

    /// Compare-and-exchange loop on a float. `change` computes the new value and an optional
    /// condition to stop without a store.
    fn by_exchange(
        &mut self,
        scalar: Scalar,
        addr: Value,
        mem: MemFlags,
        change: impl FnOnce(&mut Self, Value) -> (Value, Option<Value>),
    ) -> Result<Leaves, Error> {
        let int = integer(scalar);
        let (bits, float) = (self.lanes(int, self.simd), self.lanes(scalar, self.simd));
        let mut first = Leaves::new();
        self.elements(int, 1, addr, 0, mem, &mut first);
        let first = *first.first().ok_or_else(|| Error::internal("no value"))?;
        let expected = self.b.var(first);
        self.b.simd_loop_begin();
        let old = self.b.use_var(expected);
        let have = self.b.ins().bitcast(float, old);
        let (new, unless) = change(self, have);
        if let Some(unless) = unless {
            self.b.simd_break_if(unless);
        }
        let new = self.b.ins().bitcast(bits, new);
        let (mask, undef) = (self.b.exec_mask(), self.b.ins().undef(bits));
        let there = self.b.ins().atomic(
            AtomicOp::Cmpxchg,
            mem,
            bits,
            addr,
            0,
            &[old, new],
            Some((mask, undef)),
        );
        self.b.def_var(expected, there);
        let same = self.b.ins().icmp(IntCC::Equal, there, old);
        self.b.simd_break_if(same);
        self.b.simd_loop_end();
        let old = self.b.use_var(expected);
        Ok(Leaves::from_slice(&[self.b.ins().bitcast(float, old)]))
    }

    /// Compare-and-exchange of a single with float comparison.
    pub(crate) fn exchange_float(
        &mut self,
        pointer: Id,
        expected: Id,
        new: Id,
    ) -> Result<Leaves, Error> {
        let (class, of) = self.pointer(pointer)?;
        let mut access = self.access(class, of, &[])?;
        access.mem.volatile = true;
        access.mem = self.with_cache_policy(pointer, Opcode::Atomic, access.mem);
        let addr = self.address(pointer, &access)?;
        let mut v = [addr, self.one(expected)?, self.one(new)?];
        for v in &mut v {
            *v = self.b.splat(*v, self.simd);
        }
        let [addr, expected, new] = v;
        let single = self.lanes(Scalar::F32, self.simd);
        if self.scalar(of)? != Scalar::F32 || [expected, new].map(|v| self.b.ty(v)) != [single; 2] {
            return Err(Error::malformed("an exchange of what is no single float"));
        }
        self.by_exchange(Scalar::F32, addr, access.mem, |e, have| {
            let same = e.b.ins().fcmp(FloatCC::Equal, have, expected);
            (new, Some(e.b.ins().bnot(same)))
        })
    }

    /// Emits an IR atomic for the active channels.
    fn at_once(
        &mut self,
        op: AtomicOp,
        scalar: Scalar,
        addr: Value,
        mem: MemFlags,
        values: &[Value],
    ) -> Leaves {
        let ty = self.lanes(scalar, self.simd);
        let (mask, undef) = (self.b.exec_mask(), self.b.ins().undef(ty));
        let masked = Some((mask, undef));
        let old = self.b.ins().atomic(op, mem, ty, addr, 0, values, masked);
        Leaves::from_slice(&[old])
    }

    /// Emits a 16-bit atomic without ordering.
    pub(crate) fn word_atomic(
        &mut self,
        op: AtomicOp,
        pointer: Id,
        operands: &[Id],
    ) -> Result<Leaves, Error> {
        let wrong = || Error::malformed("an atomic of 16 bits of what it does not take");
        let (class, of) = self.pointer(pointer)?;
        let scalar = self.scalar(of)?;
        let want = if op.is_float() {
            Scalar::F16
        } else {
            Scalar::I16
        };
        if scalar != want || operands.len() != op.operands() {
            return Err(wrong());
        }
        let mut access = self.access(class, of, &[])?;
        access.mem.volatile = true;
        access.mem = self.with_cache_policy(pointer, Opcode::Atomic, access.mem);
        let addr = self.address(pointer, &access)?;
        let addr = self.b.splat(addr, self.simd);
        let mut values = Leaves::new();
        for id in operands {
            let v = self.one(*id)?;
            if self.b.ty(v).scalar() != scalar {
                return Err(wrong());
            }
            values.push(self.b.splat(v, self.simd));
        }
        Ok(self.at_once(op, scalar, addr, access.mem, &values))
    }

    /// Compares a float with itself to detect NaN.
    pub fn is_nan(&mut self, v: Value) -> Value {
        self.b.ins().fcmp(FloatCC::NotEqual, v, v)
    }
}

fn both() -> Semantics {
    Semantics::ACQUIRE_RELEASE | Semantics::SEQUENTIALLY_CONSISTENT
}

/// Storage classes in memory semantics, or all if none is named.
fn spaces(semantics: u32) -> u32 {
    let named = semantics & !0x1f;
    match named {
        0 => Semantics::CROSS_WORKGROUP_MEMORY.bits() | Semantics::WORKGROUP_MEMORY.bits(),
        n => n,
    }
}

fn wrong(op: Op) -> Error {
    Error::malformed(format!("{} of what it does not take", read::name(op)))
}
