//! 64-bit atomics on SLM, which the hardware does not have.
//!
//! One thread at a time executes them, under a lock in SLM, and one channel at a time within it.
//! Loads and stores take the lock as well, so that they are atomic.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::frame_layout;
use crate::infer_address_spaces::MemorySet;
use crate::module::types::Type;
use crate::op_info::is_atomic;
use crate::read::Id;
use gantry_codegen::builder::Variable;
use gantry_codegen::ir::scalars::I32;
use gantry_codegen::ir::{AtomicOp, FenceSpaces, IntCC, MemFlags, Scalar, Scope, Space, Value};
use smallvec::SmallVec;

impl Emit<'_, '_, '_> {
    /// Reserves SLM, aligned to 64 bytes.
    pub(super) fn reserve(&mut self, bytes: u32) -> Result<u32, Error> {
        let at = self.slm_bytes.next_multiple_of(64);
        let end = at + bytes;
        if end > frame_layout::MAX_SLM {
            return Err(frame_layout::no_local_memory());
        }
        self.slm_bytes = end;
        self.b.set_slm_bytes(end);
        Ok(at)
    }

    /// Returns true if an instruction may be a 64-bit atomic on SLM.
    fn needs_lock(&self, inst: &BInst) -> bool {
        let operands = self.body.operands(inst);
        let Some(pointer) = operands.first().map(|w| Id::of(*w)) else {
            return false;
        };
        let ty = self
            .body
            .type_of(self.m, pointer)
            .map(|t| self.m.types.kind(t));
        let Some(Type::Pointer(_, of)) = ty else {
            return false;
        };
        let of = self.m.ty(*of).and_then(|t| self.m.types.scalar(t));
        is_atomic(inst.op)
            && of.is_some_and(|s| s.bits() == 64)
            && self.kinds_of(pointer).intersects(MemorySet::LOCAL)
    }

    /// Initializes the lock at kernel entry, if some access needs it.
    pub(super) fn make_lock(&mut self) -> Result<(), Error> {
        let needed = self.g.order.iter().any(|b| {
            let insts = &self.body.blocks[*b].insts;
            insts.iter().any(|i| self.needs_lock(i))
        });
        if !needed {
            return Ok(());
        }
        let at = self.reserve(Scalar::I32.bytes())?;
        self.lock = Some(at);
        let (zero, at) = (
            self.number(Scalar::I32, 0),
            self.number(Scalar::I32, at.into()),
        );
        self.b
            .ins()
            .bstore_to(MemFlags::of(Space::Slm), zero, at, 0);
        self.b.ins().fence(FenceSpaces::Slm, Scope::Group);
        self.b.ins().barrier();
        Ok(())
    }

    /// Emits code that runs under the lock, for one channel after the other. Returns its result in
    /// each channel.
    pub(super) fn locked(
        &mut self,
        access: impl FnOnce(&mut Self) -> Result<Leaves, Error>,
    ) -> Result<Leaves, Error> {
        let at = self.lock.ok_or_else(|| Error::internal("no lock"))?;
        let lock = self.number(Scalar::I32, at.into());
        let [free, taken] = [0, 1].map(|n| self.number(Scalar::I32, n));
        let mut mem = MemFlags::of(Space::Slm);
        mem.volatile = true;
        self.b.uniform_loop_begin();
        let operands = [free, taken];
        let cmpxchg = AtomicOp::Cmpxchg;
        let old = self
            .b
            .ins()
            .atomic(cmpxchg, mem, I32, lock, 0, &operands, None);
        let got = self.b.ins().icmp(IntCC::Equal, old, free);
        self.b.uniform_break_if(got);
        self.b.uniform_loop_end();

        self.b.simd_loop_begin();
        let mask = self.b.exec_mask();
        let bits = self.b.ins().pred_to_bits(I32, mask);
        let first = self.b.ins().ctz(bits);
        let first = self.b.splat(first, self.simd);
        let lanes = self.b.iota(Scalar::I32, self.simd);
        let now = self.b.ins().icmp(IntCC::Equal, lanes, first);
        self.b.simd_if_begin(now);
        let out = access(self);
        let mut vars: SmallVec<[Variable; 1]> = SmallVec::new();
        for v in out.iter().flatten() {
            let v = self.b.splat(*v, self.simd);
            let var = self.b.declare_var(self.b.ty(v));
            self.b.def_var(var, v);
            vars.push(var);
        }
        self.b.simd_if_end();
        self.b.simd_break_if(now);
        self.b.simd_loop_end();

        // Stores complete before the lock is released.
        self.b.ins().fence(FenceSpaces::Slm, Scope::Group);
        let xchg = AtomicOp::Xchg;
        self.b.ins().atomic(xchg, mem, I32, lock, 0, &[free], None);
        out?;
        Ok(vars.into_iter().map(|v| self.b.use_var(v)).collect())
    }

    /// 64-bit atomic operation on SLM. Returns the old value.
    pub(super) fn locked_atomic(
        &mut self,
        op: AtomicOp,
        addr: Value,
        mem: MemFlags,
        values: &[Value],
    ) -> Result<Leaves, Error> {
        self.locked_change(Scalar::I64, addr, mem, |e, old| e.changed(op, old, values))
    }

    /// Read-modify-write on SLM by `change`. Returns the old value.
    pub(super) fn locked_change(
        &mut self,
        scalar: Scalar,
        addr: Value,
        mem: MemFlags,
        change: impl FnOnce(&mut Self, Value) -> Result<Value, Error>,
    ) -> Result<Leaves, Error> {
        self.locked(|e| {
            let mut out = Leaves::new();
            e.elements(scalar, 1, addr, 0, mem, &mut out);
            let old = *out.first().ok_or_else(|| Error::internal("no value"))?;
            let new = change(e, old)?;
            e.store_elements(scalar, &[new], addr, 0, mem);
            Ok(out)
        })
    }

    /// New value of an atomic operation.
    fn changed(&mut self, op: AtomicOp, old: Value, values: &[Value]) -> Result<Value, Error> {
        let one = self.same(old, 1);
        let missing = || Error::internal("an atomic operation without its operands");
        let v = values.first().copied();
        let b = &mut self.b;
        Ok(match (op, v) {
            (AtomicOp::Inc, _) => b.ins().iadd(old, one),
            (AtomicOp::Dec, _) => b.ins().isub(old, one),
            (AtomicOp::Add, Some(v)) => b.ins().iadd(old, v),
            (AtomicOp::Sub, Some(v)) => b.ins().isub(old, v),
            (AtomicOp::And, Some(v)) => b.ins().band(old, v),
            (AtomicOp::Or, Some(v)) => b.ins().bor(old, v),
            (AtomicOp::Xor, Some(v)) => b.ins().bxor(old, v),
            (AtomicOp::Smin, Some(v)) => b.ins().smin(old, v),
            (AtomicOp::Smax, Some(v)) => b.ins().smax(old, v),
            (AtomicOp::Umin, Some(v)) => b.ins().umin(old, v),
            (AtomicOp::Umax, Some(v)) => b.ins().umax(old, v),
            (AtomicOp::Xchg, Some(v)) => v,
            (AtomicOp::Cmpxchg, Some(expected)) => {
                let new = *values.get(1).ok_or_else(missing)?;
                let same = b.ins().icmp(IntCC::Equal, old, expected);
                b.ins().select(same, new, old)
            }
            _ => return Err(missing()),
        })
    }
}
