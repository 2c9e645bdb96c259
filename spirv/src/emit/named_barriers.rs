//! Named barriers: the hardware's, or counts in local memory where it has none.
//!
//! Where the hardware has them and the kernel calls no function, each place where one is made has a number. The barrier is that and the sub-groups that it is of, in one word,
//! so that those who wait know all of it; where constants do not tell the number, they ask for one after the other.
//!
//! Else a barrier is its place there: how many sub-groups it is of, how many have come, and how often all had. The last one to come lets the others go.
//! Sub-groups are threads, and all threads of a group make the same barriers in the same order, so that each knows by itself where the next is.

use super::{Emit, Variable};
use crate::error::Error;
use gantry_codegen::ir::scalars::I32;
use gantry_codegen::ir::{AtomicOp, FenceSpaces, IntCC, MemFlags, Scalar, Scope, Space, Value};
use spirv::Op;

/// The most barriers of a group (OpenCL's `CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR`, at least 8).
const MOST: u32 = 8;
/// Bytes of a barrier, and where in it are the sub-groups, those that have come, and the times.
const BYTES: u32 = 16;
const COUNT: i32 = 0;
const HERE: i32 = 4;
const TIMES: i32 = 8;

/// Where in a barrier of the hardware the sub-groups are, in bits; its number is below.
const THREADS: u32 = 8;

/// How named barriers are made.
#[derive(Clone, Copy)]
pub(super) enum Named {
    /// Where in local memory they are, and where the next one will be.
    Memory(u32, Variable),
    /// The number of the next one, and the highest.
    Hardware(u8, u8),
}

fn memory() -> MemFlags {
    let mut mem = MemFlags::of(Space::Slm);
    mem.volatile = true;
    mem
}

impl Emit<'_, '_, '_> {
    /// Makes room for named barriers, where the kernel makes some.
    pub(super) fn make_named(&mut self) -> Result<(), Error> {
        let makes = |i: &crate::body::BInst| {
            let operands = self.body.operands(i);
            i.op == Op::FunctionCall
                && crate::library::intel_builtins::makes_barrier(self.m, operands)
        };
        let mut blocks = self.g.order.iter();
        if !blocks.any(|b| self.body.blocks[*b].insts.iter().any(makes)) {
            return Ok(());
        }
        let blocks = self.g.order.iter();
        let insts = blocks.flat_map(|b| &self.body.blocks[*b].insts);
        let made = insts.filter(|i| makes(i)).count();
        if self.own_barriers && made <= MOST as usize {
            self.named = Some(Named::Hardware(1, made as u8));
            return Ok(());
        }
        let at = self.reserve(MOST * BYTES)?;
        let first = self.number(Scalar::I32, at.into());
        self.named = Some(Named::Memory(at, self.b.var(first)));
        Ok(())
    }

    /// Makes a barrier of so many sub-groups, by all threads of the group.
    pub(crate) fn named_barrier(&mut self, count: Value) -> Result<Value, Error> {
        let count = self.any_lane(count);
        let (first, next) = match self.named.ok_or_else(|| Error::internal("no room"))? {
            Named::Memory(first, next) => (first, next),
            Named::Hardware(number, most) => {
                self.named = Some(Named::Hardware(number + 1, most));
                // Nobody waits any more at what had the number before.
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
        // Behind the last one is the first.
        let end = self.same(barrier, u64::from(first + MOST * BYTES));
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

    /// Waits until all sub-groups of a barrier have come; by OpenCL's flags of memories.
    pub(crate) fn wait_named(&mut self, barrier: Value, flags: u64) {
        let barrier = self.any_lane(barrier);
        // A thread may come here without channels.
        let mask = self.b.exec_mask();
        let any = self.b.ins().any(mask);
        self.b.uniform_if_begin(any);
        let spaces = match (flags & 1 != 0, flags & !1 != 0) {
            (true, false) => FenceSpaces::Slm,
            (false, true) => FenceSpaces::Global,
            _ => FenceSpaces::All,
        };
        self.b.ins().fence(spaces, Scope::Group);
        if let Some(Named::Hardware(_, most)) = self.named {
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

    /// Waits at a barrier of the hardware, whose number is `most` at most.
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

    /// What all channels that run have, of one lane.
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
