//! Named barriers: the hardware's, or counters in SLM on targets without them.
//!
//! On hardware with named barriers, if the kernel calls no functions, each instruction that creates
//! one has a number. The barrier is a word with this number and the count of sub-groups. A wait
//! with an unknown number tests all of them in turn.
//!
//! Otherwise a barrier is its SLM offset. There are the count of sub-groups, the number that have
//! arrived, and the number of completed rounds. The last arrival releases the others. All threads
//! of a group create the same barriers in the same order, so each knows the offset of the next one.

use super::{Emit, Variable};
use crate::error::Error;
use gantry_codegen::ir::scalars::I32;
use gantry_codegen::ir::{AtomicOp, FenceSpaces, IntCC, MemFlags, Scalar, Scope, Space, Value};
use spirv::Op;

/// Maximum number of barriers of a group (OpenCL's `CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR`, at
/// least 8).
const MAX_BARRIERS: u32 = 8;
/// Bytes of a barrier in SLM, and byte offsets of its fields: expected count, arrivals, completed
/// rounds.
const BYTES: u32 = 16;
const COUNT: i32 = 0;
const HERE: i32 = 4;
const TIMES: i32 = 8;

/// Bit offset of the count in the word of a hardware barrier. The number is below it.
const THREADS: u32 = 8;

/// Implementation of named barriers.
#[derive(Clone, Copy)]
pub(super) enum NamedBarriers {
    /// SLM offset of the first barrier, and variable with that of the next one.
    Memory(u32, Variable),
    /// Number of the next barrier, and highest number.
    Hardware(u8, u8),
}

fn memory() -> MemFlags {
    let mut mem = MemFlags::of(Space::Slm);
    mem.volatile = true;
    mem
}

impl Emit<'_, '_, '_> {
    /// Allocates named barriers, if the kernel creates some.
    pub(super) fn make_named(&mut self) -> Result<(), Error> {
        let makes = |i: &crate::body::BInst| {
            let operands = self.body.operands(i);
            i.op == Op::FunctionCall && crate::intel_builtins::makes_barrier(self.m, operands)
        };
        let mut blocks = self.g.order.iter();
        if !blocks.any(|b| self.body.blocks[*b].insts.iter().any(makes)) {
            return Ok(());
        }
        let blocks = self.g.order.iter();
        let insts = blocks.flat_map(|b| &self.body.blocks[*b].insts);
        let made = insts.filter(|i| makes(i)).count();
        if self.own_barriers && made <= MAX_BARRIERS as usize {
            self.named = Some(NamedBarriers::Hardware(1, made as u8));
            return Ok(());
        }
        let at = self.reserve(MAX_BARRIERS * BYTES)?;
        let first = self.number(Scalar::I32, at.into());
        self.named = Some(NamedBarriers::Memory(at, self.b.var(first)));
        Ok(())
    }

    /// Creates a barrier for `count` sub-groups. All threads of the group take part.
    pub(crate) fn named_barrier(&mut self, count: Value) -> Result<Value, Error> {
        let count = self.any_lane(count);
        let (first, next) = match self.named.ok_or_else(|| Error::internal("no room"))? {
            NamedBarriers::Memory(first, next) => (first, next),
            NamedBarriers::Hardware(number, most) => {
                self.named = Some(NamedBarriers::Hardware(number + 1, most));
                // No thread may still wait at an earlier barrier with this number.
                self.b.ins().barrier();
                let by = self.number(Scalar::I32, THREADS.into());
                let count = self.b.ins().ishl(count, by);
                let number = self.number(Scalar::I32, number.into());
                return Ok(self.b.ins().bor(count, number));
            }
        };
        let barrier = self.b.use_var(next);
        let step = self.same(barrier, BYTES.into());
        let behind = self.b.ins().iadd(barrier, step);
        // Wrap around.
        let end = self.same(barrier, u64::from(first + MAX_BARRIERS * BYTES));
        let again = self.same(barrier, first.into());
        let over = self.b.ins().icmp(IntCC::Equal, behind, end);
        let behind = self.b.ins().select(over, again, behind);
        self.b.def_var_all_lanes(next, behind);
        let zero = self.number(Scalar::I32, 0);
        for (value, at) in [(count, COUNT), (zero, HERE), (zero, TIMES)] {
            self.b.ins().bstore_to(memory(), value, barrier, at);
        }
        self.b.ins().fence(FenceSpaces::Slm, Scope::Group);
        self.b.ins().barrier();
        Ok(barrier)
    }

    /// Waits at a barrier. `flags` are OpenCL's memory fence flags.
    pub(crate) fn wait_named(&mut self, barrier: Value, flags: u64) {
        let barrier = self.any_lane(barrier);
        // A thread may arrive without active channels.
        let mask = self.b.exec_mask();
        let any = self.b.ins().any(mask);
        self.b.uniform_if_begin(any);
        let spaces = match (flags & 1 != 0, flags & !1 != 0) {
            (true, false) => FenceSpaces::Slm,
            (false, true) => FenceSpaces::Global,
            _ => FenceSpaces::All,
        };
        self.b.ins().fence(spaces, Scope::Group);
        if let Some(NamedBarriers::Hardware(_, most)) = self.named {
            self.wait_numbered(barrier, most);
            self.b.uniform_if_end();
            return;
        }
        let before = self.b.ins().bload_from(memory(), I32, barrier, TIMES);
        let count = self.b.ins().bload_from(memory(), I32, barrier, COUNT);
        let one = self.number(Scalar::I32, 1);
        let come = AtomicOp::Add;
        let here = self
            .b
            .ins()
            .atomic(come, memory(), I32, barrier, HERE, &[one], None);
        let here = self.b.ins().iadd(here, one);
        let last = self.b.ins().icmp(IntCC::Equal, here, count);
        self.b.uniform_if_begin(last);
        let zero = self.number(Scalar::I32, 0);
        self.b.ins().bstore_to(memory(), zero, barrier, HERE);
        self.b.ins().fence(FenceSpaces::Slm, Scope::Group);
        self.b
            .ins()
            .atomic(come, memory(), I32, barrier, TIMES, &[one], None);
        self.b.uniform_else();
        self.b.uniform_loop_begin();
        let now = self.b.ins().bload_from(memory(), I32, barrier, TIMES);
        let gone = self.b.ins().icmp(IntCC::NotEqual, now, before);
        self.b.uniform_break_if(gone);
        self.b.uniform_loop_end();
        self.b.uniform_if_end();
        self.b.uniform_if_end();
    }

    /// Waits at a hardware barrier with a number up to `most`.
    fn wait_numbered(&mut self, barrier: Value, most: u8) {
        let by = self.number(Scalar::I32, THREADS.into());
        let threads = self.b.ins().ushr(barrier, by);
        let low = self.number(Scalar::I32, (1 << THREADS) - 1);
        let which = self.b.ins().band(barrier, low);
        for n in 1..=most {
            let number = self.number(Scalar::I32, n.into());
            let is = self.b.ins().icmp(IntCC::Equal, which, number);
            self.b.uniform_if_begin(is);
            self.b.ins().named_barrier(n, threads);
            self.b.uniform_if_end();
        }
    }

    /// Value of an active channel, if all of them have the same.
    pub(super) fn any_lane(&mut self, v: Value) -> Value {
        if self.b.ty(v).lanes() == 1 {
            return v;
        }
        let mask = self.b.exec_mask();
        let bits = self.b.ins().pred_to_bits(I32, mask);
        let first = self.b.ins().ctz(bits);
        self.b.ins().shuffle(v, first)
    }
}
