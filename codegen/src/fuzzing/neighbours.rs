//! Random accesses to adjacent elements of the same rows, in any order, some of them overlapping.
//! Also loops over consecutive elements.

use super::SHARED_BYTES;
use super::generate::Gen;
use crate::ir::builder::Variable;
use crate::ir::{IntCC, MemFlags, Opcode, Scalar, Space, Type, Value};

/// Number of accessed elements after the last row.
const SLACK: u32 = 8;

/// Private range of memory, with a row of elements per lane.
#[derive(Clone, Copy)]
struct Rows {
    mem: MemFlags,
    scalar: Scalar,
    /// Elements of a row.
    stride: u32,
    /// Address of each lane's row; the rows are permuted.
    lanes: Value,
    /// Address of the first row.
    first: Value,
}

impl Gen<'_, '_, '_> {
    /// Generates loads and stores of one range of memory.
    pub(super) fn neighbours(&mut self) {
        if !self.memory {
            return;
        }
        let Some(rows) = self.rows() else { return };
        let mask = self.value(Type::clamped(Scalar::B1, self.b.ty(rows.lanes).lanes()));
        let mut begin = 0;
        for n in 0..4 + self.rng.below(8) {
            // Mostly consecutive, as in code of compilers.
            let at = match self.rng.below(4) {
                0 => self.rng.below(rows.stride + SLACK / 2),
                _ => (begin + n) % (rows.stride + SLACK / 2),
            };
            if self.rng.one_in(6) {
                begin = self.rng.below(4);
            }
            let offset = (at * rows.scalar.bytes()) as i32;
            match self.rng.below(16) {
                0 => self.fence(),
                1 => self.instruction(Opcode::Iadd),
                2..5 => self.one_load(&rows, offset),
                5 => self.one_store(&rows, offset),
                6..11 => self.lanes_load(&rows, offset, mask),
                _ => self.lanes_store(&rows, offset, mask),
            }
        }
        let all = self.rows_type(&rows);
        let v = self.b.ins().bload_from(rows.mem, all, rows.first, 0);
        self.pool.push(v);
    }

    /// Generates a loop of an unknown number of iterations that loads an element and then the next
    /// one.
    pub(super) fn neighbours_loop(&mut self) {
        if !self.memory {
            return;
        }
        let Some(rows) = self.rows() else { return };
        // Range of the stores, mostly a different one.
        let stored = match self.rng.below(4) {
            0 | 1 => self.rows(),
            2 => Some(rows),
            _ => None,
        };
        let i32 = Type::scalar_of(Scalar::I32);
        let (any, most) = (self.value(i32), self.b.ins().iconst(i32, SLACK.into()));
        let few = self.b.ins().iconst(i32, i64::from(SLACK) - 1);
        let rounds = self.b.ins().band(any, few);
        let zero = self.b.ins().iconst(i32, 0);
        let up = self.rng.one_in(2);
        let (first, bound, step) = if up {
            (zero, rounds, 1)
        } else {
            (rounds, zero, -1)
        };
        let by_lanes = self.rng.one_in(2);
        let addr = if by_lanes { rows.lanes } else { rows.first };
        let lanes = self.b.ty(addr).lanes();
        let ty = Type::clamped(rows.scalar, lanes);
        let mask = self.value(Type::clamped(Scalar::B1, lanes));
        let masked = (by_lanes && self.rng.one_in(3)).then_some(mask);
        let sum = self.value(ty);
        let (sum, number) = (self.b.var(sum), self.b.var(first));
        let flag = self.b.var(few);
        let [head, body, end] = [(); 3].map(|()| self.b.create_block());
        // Values of the loop body are not visible after it.
        let outside = self.pool.len();
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let n = self.b.use_var(number);
        let (cc, dests) = match (up, self.rng.below(3)) {
            (true, 0) => (IntCC::UnsignedLessThan, [body, end]),
            (true, 1) => (IntCC::SignedLessThan, [body, end]),
            (true, _) => (IntCC::SignedGreaterThanOrEqual, [end, body]),
            (false, 0) => (IntCC::UnsignedGreaterThan, [body, end]),
            (false, 1) => (IntCC::SignedGreaterThan, [body, end]),
            (false, _) => (IntCC::SignedLessThanOrEqual, [end, body]),
        };
        let cond = self.b.ins().icmp(cc, n, bound);
        self.b.ins().brif(cond, dests[0], &[], dests[1], &[]);
        self.b.seal_block(body);
        self.b.switch_to_block(body);
        let at = if up || self.rng.one_in(2) {
            n
        } else {
            self.b.ins().isub(most, n)
        };
        if let Some(to) = stored.filter(|_| self.rng.one_in(2)) {
            self.store_element(&to, at, mask);
        }
        let element = at;
        let at = self.element(&rows, addr, at);
        let v = if by_lanes {
            let masked = masked.map(|m| (m, self.b.ins().iconst(ty, 7)));
            self.b.ins().load_from(rows.mem, ty, at, 0, masked)
        } else {
            self.b.ins().bload_from(rows.mem, ty, at, 0)
        };
        let old = self.b.use_var(sum);
        let new = self.b.ins().iadd(old, v);
        let new = self.b.ins().bxor(new, v);
        self.b.def_var_all_lanes(sum, new);
        if let Some(to) = stored {
            self.pool.push(new);
            self.store_element(&to, element, mask);
        }
        if self.rng.one_in(2) {
            let f = self.b.use_var(flag);
            let cond = match self.rng.below(4) {
                0 => self.b.ins().icmp(IntCC::Equal, n, first),
                1 => self.b.ins().icmp(IntCC::NotEqual, n, first),
                2 => self.b.ins().icmp(cc, n, first),
                _ => self.b.ins().icmp(IntCC::NotEqual, f, zero),
            };
            self.one_way(cond, sum);
            self.b.def_var_all_lanes(flag, zero);
        }
        let (n, step) = (self.b.use_var(number), self.b.ins().iconst(i32, step));
        let n = self.b.ins().iadd(n, step);
        self.b.def_var_all_lanes(number, n);
        self.b.ins().jump(head, &[]);
        self.b.seal_block(head);
        self.b.seal_block(end);
        self.b.switch_to_block(end);
        self.pool.truncate(outside);
        for var in [sum, number] {
            let v = self.b.use_var(var);
            self.pool.push(v);
        }
        if let Some(to) = stored {
            let all = self.rows_type(&to);
            let v = self.b.ins().bload_from(to.mem, all, to.first, 0);
            self.pool.push(v);
        }
    }

    /// Returns the addresses of an element of rows by its index in a register, relative to `first`.
    fn element(&mut self, rows: &Rows, first: Value, number: Value) -> Value {
        let ty = self.b.ty(number);
        let size = self.b.ins().iconst(ty, rows.scalar.bytes().into());
        let mut at = self.b.ins().imul(number, size);
        let wide = self.b.ty(first);
        if wide.scalar() == Scalar::I64 {
            at = self.b.ins().uextend(Type::scalar_of(wide.scalar()), at);
        }
        let at = self.b.splat(at, wide.lanes());
        self.b.ins().iadd(first, at)
    }

    /// Stores a value to an element of rows by its index in a register, for each lane or for one
    /// alone.
    fn store_element(&mut self, rows: &Rows, number: Value, mask: Value) {
        if self.rng.one_in(3) {
            let at = self.element(rows, rows.first, number);
            let v = self.value(Type::scalar_of(rows.scalar));
            return self.b.ins().bstore_to(rows.mem, v, at, 0);
        }
        let at = self.element(rows, rows.lanes, number);
        let lanes = self.b.ty(at).lanes();
        let v = self.value(Type::clamped(rows.scalar, lanes));
        let masked = self.b.ty(mask).lanes() == lanes && self.rng.one_in(4);
        self.b
            .ins()
            .store_to(rows.mem, v, at, 0, masked.then_some(mask));
    }

    /// Generates a branch around an assignment to a variable.
    fn one_way(&mut self, cond: Value, var: Variable) {
        let [then, end] = [(); 2].map(|()| self.b.create_block());
        let dests = if self.rng.one_in(2) {
            [then, end]
        } else {
            [end, then]
        };
        self.b.ins().brif(cond, dests[0], &[], dests[1], &[]);
        self.b.seal_block(then);
        self.b.switch_to_block(then);
        let v = self.b.use_var(var);
        let v = self.b.ins().bnot(v);
        self.b.def_var_all_lanes(var, v);
        self.b.ins().jump(end, &[]);
        self.b.seal_block(end);
        self.b.switch_to_block(end);
    }

    fn rows_type(&self, rows: &Rows) -> Type {
        let lanes = self.b.ty(rows.lanes).lanes();
        Type::clamped(rows.scalar, lanes * rows.stride + SLACK)
    }

    /// Allocates and fills memory for rows.
    fn rows(&mut self) -> Option<Rows> {
        let space = match self.rng.below(6) {
            0 => Space::Slm,
            1 => Space::Surface(0),
            2 if self.scratch => Space::Scratch,
            _ => Space::Global,
        };
        let scalars = [
            Scalar::I32,
            Scalar::I32,
            Scalar::I32,
            Scalar::I64,
            Scalar::I8,
            Scalar::I8,
            Scalar::I16,
        ];
        let scalar = self.rng.pick(&scalars)?;
        let lanes = self.rng.pick(&[16, 8, 8, 16, 4, 1])?;
        let stride = self.rng.pick(&[1, 2, 3, 4, 4, 4, 5])?;
        let size = scalar.bytes();
        let elements = lanes * stride + SLACK;
        // Includes the case that rows begin one element later.
        let at = self.reserve_bytes(space, (elements + 1) * size)?;
        let i32 = Type::scalar_of(Scalar::I32);
        let later = if self.rng.one_in(2) {
            let any = self.value(i32);
            let one = self.b.ins().iconst(i32, 1);
            self.b.ins().band(any, one)
        } else {
            self.b.ins().iconst(i32, 0)
        };
        let each = self.b.ins().iconst(i32, i64::from(size));
        let later = self.b.ins().imul(later, each);
        let at = self.b.ins().iconst(i32, i64::from(at));
        let first = self.b.ins().iadd(at, later);
        let wide = Type::clamped(Scalar::I32, lanes);
        let numbers: Vec<i64> = (0..i64::from(lanes)).collect();
        let mut order = self.b.ins().ints(Scalar::I32, &numbers);
        if self.rng.one_in(2) {
            // Permutation of the lanes that is unknown at compile time.
            let any = self.value(i32);
            let most = self.b.ins().iconst(i32, i64::from(lanes - 1));
            let swap = self.b.ins().band(any, most);
            let swap = self.b.splat(swap, lanes);
            order = self.b.ins().bxor(order, swap);
        }
        let row = self.b.ins().iconst(wide, i64::from(stride * size));
        let rows = self.b.ins().imul(order, row);
        let starts = self.b.splat(first, lanes);
        let offsets = self.b.ins().iadd(starts, rows);
        let mem = MemFlags::of(space);
        let output = self.output;
        let rows = Rows {
            mem,
            scalar,
            stride,
            lanes: self.based(space, offsets, output),
            first: self.based(space, first, output),
        };
        let ty = self.rows_type(&rows);
        let v = self.value(ty);
        self.b.ins().bstore_to(mem, v, rows.first, 0);
        Some(rows)
    }

    fn one_load(&mut self, rows: &Rows, offset: i32) {
        let count = self.rng.pick(&[1, 1, 1, 2, 4]).unwrap_or(1);
        let ty = Type::clamped(rows.scalar, count);
        let v = self.b.ins().bload_from(rows.mem, ty, rows.first, offset);
        self.pool.push(v);
    }

    fn one_store(&mut self, rows: &Rows, offset: i32) {
        let v = self.value(Type::scalar_of(rows.scalar));
        self.b.ins().bstore_to(rows.mem, v, rows.first, offset);
    }

    /// Loads a lane's element, mostly under one mask. Disabled lanes have a constant or another
    /// value.
    fn lanes_load(&mut self, rows: &Rows, offset: i32, mask: Value) {
        let ty = Type::clamped(rows.scalar, self.b.ty(rows.lanes).lanes());
        let masked = match self.rng.below(4) {
            0 => Some((mask, self.value(ty))),
            1 => Some((mask, self.b.ins().iconst(ty, 7))),
            _ => None,
        };
        let v = self
            .b
            .ins()
            .load_from(rows.mem, ty, rows.lanes, offset, masked);
        self.pool.push(v);
    }

    fn lanes_store(&mut self, rows: &Rows, offset: i32, mask: Value) {
        let v = self.value(Type::clamped(rows.scalar, self.b.ty(rows.lanes).lanes()));
        let mask = self.rng.one_in(3).then_some(mask);
        self.b.ins().store_to(rows.mem, v, rows.lanes, offset, mask);
    }

    /// Allocates bytes of a space that nothing else writes, and returns their offset.
    pub(super) fn reserve_bytes(&mut self, space: Space, all: u32) -> Option<u32> {
        const HALF: u32 = SHARED_BYTES / 2;
        let used = match space {
            Space::Global => return self.out_room(Type::clamped(Scalar::I8, all)),
            Space::Slm => &mut self.slm_used,
            Space::Scratch => &mut self.scratch_used,
            Space::Surface(_) => &mut self.surface_used,
        };
        let at = used.next_multiple_of(8);
        if at + all > HALF {
            return None;
        }
        *used = at + all;
        Some(HALF + at)
    }
}
