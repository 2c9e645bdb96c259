//! Random memory accesses: every space, addressing form, alignment and mask. They are in bounds,
//! and their results do not depend on the order of lanes.

use super::generate::Gen;
use super::{IN_BYTES, SHARED_BYTES, TABLE_BYTES};
use crate::ir::{
    AtomicOp, CachePolicy, DataRef, FenceSpaces, InstData, LevelPolicy, MAX_BARRIERS, MemFlags,
    Opcode, Scalar, Scope, Space, Type, Value,
};

/// Half of SLM and of the surface is read, the other half written.
const HALF: u32 = SHARED_BYTES / 2;

/// Values of a format: element type (`None` for a string) and element count.
type Values = &'static [(Option<Scalar>, u32)];

const WORD: Option<Scalar> = Some(Scalar::I32);
const LONG: Option<Scalar> = Some(Scalar::I64);
const FLOAT: Option<Scalar> = Some(Scalar::F32);

/// Formats that random kernels print.
pub(super) const FORMATS: [(&str, Values); 6] = [
    ("words\n", &[]),
    ("%d %u %#x|", &[(WORD, 1), (WORD, 1), (WORD, 1)]),
    ("%ld %-20lu %p\n", &[(LONG, 1), (LONG, 1), (LONG, 1)]),
    ("%v4d, %v2lx;", &[(WORD, 4), (LONG, 2)]),
    ("%s %c%% %+08hd\n", &[(None, 1), (WORD, 1), (WORD, 1)]),
    ("%f %v3g\n", &[(FLOAT, 1), (FLOAT, 3)]),
];

impl Gen<'_, '_, '_> {
    pub(super) fn space(&mut self) -> Space {
        match self.rng.below(5) {
            0 => Space::Slm,
            1 => Space::Surface(0),
            2 if self.scratch => Space::Scratch,
            _ => Space::Global,
        }
    }

    /// Returns `lanes` addresses in a space, within the part that is read. They are multiples of
    /// `unit` bytes, with `bytes` bytes in bounds.
    pub(super) fn read_addresses(
        &mut self,
        space: Space,
        lanes: u32,
        unit: u32,
        bytes: u32,
    ) -> Value {
        let i32 = Type::clamped(Scalar::I32, lanes);
        let any = self.value(i32);
        let table = space == Space::Global && self.rng.one_in(4);
        let room = match space {
            Space::Global if table => TABLE_BYTES,
            Space::Global => IN_BYTES / 2,
            Space::Slm | Space::Surface(_) | Space::Scratch => HALF,
        };
        let most = (room - bytes) / unit;
        let mask = ((most + 1).next_power_of_two() >> u32::from(!(most + 1).is_power_of_two())) - 1;
        let last = i64::from(mask) << unit.trailing_zeros();
        let index = if mask != 0 && self.rng.one_in(2) {
            let by = self.b.ins().iconst(i32, i64::from(mask.leading_zeros()));
            self.b.ins().ushr(any, by)
        } else {
            let mask = self.b.ins().iconst(i32, i64::from(mask));
            self.b.ins().band(any, mask)
        };
        let shift = i64::from(unit.trailing_zeros());
        let base = if table {
            let table = self.table;
            self.b.ins().symbol_addr(table)
        } else {
            self.input
        };
        if space == Space::Global && self.rng.one_in(2) {
            return self.far_address(index, shift, last, base);
        }
        let shift = self.b.ins().iconst(i32, shift);
        let offset = self.b.ins().ishl(index, shift);
        self.based(space, offset, base)
    }

    /// Returns an address with a 64-bit offset computation, forward from the base or back from the
    /// last address.
    fn far_address(&mut self, index: Value, shift: i64, last: i64, base: Value) -> Value {
        let lanes = self.b.ty(index).lanes();
        let i64 = Type::clamped(Scalar::I64, lanes);
        let wide = if self.rng.one_in(2) {
            self.b.ins().uextend(i64, index)
        } else {
            self.b.ins().sextend(i64, index)
        };
        let by = self.b.ins().iconst(i64, shift);
        let offset = self.b.ins().ishl(wide, by);
        let base = self.b.splat(base, lanes);
        if self.rng.one_in(2) {
            return self.b.ins().iadd(base, offset);
        }
        let last = self.b.ins().iconst(i64, last);
        if self.rng.one_in(2) {
            let rest = self.b.ins().isub(last, offset);
            self.b.ins().iadd(rest, base)
        } else {
            let zero = self.b.ins().iconst(i64, 0);
            let back = self.b.ins().isub(zero, offset);
            let end = self.b.ins().iadd(base, last);
            self.b.ins().iadd(end, back)
        }
    }

    /// Generates a scattered load of the input with 64-bit offset computations that fit in 32 bits.
    pub(super) fn far_load(&mut self) {
        if !self.memory {
            return;
        }
        let ty = Type::clamped(Scalar::I32, self.lanes_in_mask());
        let unit = ty.scalar().bytes();
        let mask = (IN_BYTES / 2 / unit).next_power_of_two() / 2 - 1;
        let any = self.value(ty);
        let by = self.b.ins().iconst(ty, i64::from(mask.leading_zeros()));
        let index = self.b.ins().ushr(any, by);
        let shift = i64::from(unit.trailing_zeros());
        let (last, base) = (i64::from(mask) << shift, self.input);
        let addr = self.far_address(index, shift, last, base);
        let mem = self.flags(Opcode::Load, Space::Global, unit);
        let v = self.b.ins().load_from(mem, ty, addr, 0, None);
        self.pool.push(v);
    }

    /// Converts offsets to addresses relative to a base, or leaves them where the space uses
    /// offsets.
    pub(super) fn based(&mut self, space: Space, offset: Value, base: Value) -> Value {
        let lanes = self.b.ty(offset).lanes();
        if matches!(space, Space::Surface(_)) {
            let start = self.surface;
            let start = self.b.splat(start, lanes);
            return self.b.ins().iadd(start, offset);
        }
        if space != Space::Global {
            return offset;
        }
        let wide = self
            .b
            .ins()
            .uextend(Type::clamped(Scalar::I64, lanes), offset);
        let base = self.b.splat(base, lanes);
        self.b.ins().iadd(base, wide)
    }

    /// Returns addresses of distinct elements of `bytes` bytes, a lane each, in a range that
    /// nothing else writes.
    fn write_addresses(&mut self, space: Space, lanes: u32, bytes: u32) -> Option<Value> {
        let all = lanes * bytes;
        let first = self.reserve_bytes(space, all)?;
        let at: Vec<i64> = (0..lanes).map(|l| i64::from(first + l * bytes)).collect();
        let offset = self.b.ins().ints(Scalar::I32, &at);
        Some(self.based(space, offset, self.output))
    }

    fn lanes_in_mask(&mut self) -> u32 {
        self.mask_lanes()
    }

    /// Returns a cache policy for an opcode, mostly the default.
    pub(super) fn policy(&mut self, opcode: Opcode) -> CachePolicy {
        let any = self.rng.one_in(6);
        let policy = any.then(|| self.rng.pick(CachePolicy::choices(opcode)));
        policy.flatten().unwrap_or_default()
    }

    /// Returns the flags of a space, sometimes with a promise of the alignment or a weaker one.
    pub(super) fn flags(&mut self, opcode: Opcode, space: Space, aligned: u32) -> MemFlags {
        let mut mem = MemFlags {
            volatile: self.rng.one_in(8),
            ..MemFlags::of(space)
        };
        if matches!(space, Space::Global | Space::Surface(_)) {
            let cache = self.policy(opcode);
            if !mem.volatile || cache.l1 == LevelPolicy::Uncached {
                mem = mem.cached(cache);
            }
        }
        match self.rng.below(4) {
            0 => mem.aligned(aligned),
            1 => mem.aligned(aligned.min(4)),
            _ => mem,
        }
    }

    pub(super) fn load(&mut self, opcode: Opcode) {
        if !self.memory {
            return;
        }
        let space = self.space();
        if opcode == Opcode::Bload {
            let ty = self.data_type();
            if space == Space::Scratch && ty.bytes() <= HALF && self.rng.one_in(2) {
                // Constant address, mostly GRF-aligned.
                let unit = self.rng.pick(&[32, 32, ty.scalar().bytes()]).unwrap_or(32);
                let at = self.rng.below((HALF - ty.bytes()) / unit + 1) * unit;
                let at = self.constant_place(at);
                let mem = self.flags(opcode, space, ty.scalar().bytes());
                let v = self.b.ins().bload_from(mem, ty, at, 0);
                self.pool.push(v);
                return;
            }
            if space == Space::Global {
                let (input, offset) = (self.input, self.in_offset(ty));
                let mem = self.flags(opcode, space, ty.scalar().bytes());
                let v = self.b.ins().bload_from(mem, ty, input, offset);
                self.pool.push(v);
            } else if ty.bytes() <= HALF {
                let unit = ty.scalar().bytes();
                let addr = self.read_addresses(space, 1, unit, ty.bytes());
                let mem = self.flags(opcode, space, unit);
                let v = self.b.ins().bload_from(mem, ty, addr, 0);
                self.pool.push(v);
            }
            return;
        }
        let scalar = self.data();
        let lanes = self.lanes_in_mask();
        let count = self.rng.pick(&[1, 1, 1, 2, 3, 4]).unwrap_or(1);
        let ty = Type::clamped(scalar, lanes * count);
        // Sometimes elements are unaligned.
        let aligned = if self.rng.one_in(6) {
            1
        } else {
            scalar.bytes()
        };
        let bytes = scalar.bytes() * count;
        let addr = self.read_addresses(space, lanes, aligned, bytes + 64);
        let mut mem = self.flags(opcode, space, aligned);
        if aligned < scalar.bytes() {
            mem = mem.aligned(aligned);
        }
        let offset = (self.rng.below(64 / aligned) * aligned) as i32;
        let masked = if self.rng.one_in(2) {
            let mask = self.value(Type::clamped(Scalar::B1, lanes));
            Some((mask, self.value(ty)))
        } else {
            None
        };
        let v = self.b.ins().load_from(mem, ty, addr, offset, masked);
        self.pool.push(v);
    }

    pub(super) fn store(&mut self, opcode: Opcode) {
        if !self.memory {
            return;
        }
        let space = self.space();
        if opcode == Opcode::Bstore {
            // NaN bits are unspecified, and only in the output are the positions of floats known.
            let ty = if space != Space::Global && self.options.runnable {
                Type::clamped(self.int(), self.lanes())
            } else {
                self.data_type()
            };
            let v = self.value(ty);
            let (addr, offset) = match space {
                Space::Global => {
                    let Some(at) = self.out_room(ty) else { return };
                    (self.output, at as i32)
                }
                _ => match self.write_addresses(space, 1, ty.bytes()) {
                    // The single address as a constant.
                    Some(_) if space == Space::Scratch && self.rng.one_in(2) => {
                        let at = HALF + self.scratch_used - ty.bytes();
                        (self.constant_place(at), 0)
                    }
                    Some(a) => (a, 0),
                    None => return,
                },
            };
            // Allocated ranges are 8-byte aligned.
            let mem = self.flags(opcode, space, 8);
            self.b.ins().bstore_to(mem, v, addr, offset);
            self.read_back(space, ty, addr, offset);
            return;
        }
        let scalar = self.data();
        let lanes = self.lanes_in_mask();
        let count = self.rng.pick(&[1, 1, 1, 2, 3, 4]).unwrap_or(1);
        let ty = Type::clamped(scalar, lanes * count);
        let Some(addr) = self.write_addresses(space, lanes, scalar.bytes() * count) else {
            return;
        };
        let v = self.value(ty);
        let mem = self.flags(opcode, space, scalar.bytes());
        let mask = if self.rng.one_in(2) {
            Some(self.value(Type::clamped(Scalar::B1, lanes)))
        } else {
            None
        };
        self.b.ins().store_to(mem, v, addr, 0, mask);
        if space != Space::Global {
            let all = scalar.bytes() * count * lanes;
            let first = self.b.lane(addr, 0);
            self.read_back(space, Type::clamped(Scalar::I8, all), first, 0);
        }
    }

    fn constant_place(&mut self, at: u32) -> Value {
        let i32 = Type::scalar_of(Scalar::I32);
        self.b.ins().iconst(i32, i64::from(at))
    }

    /// Loads stored values of SLM and scratch, which are not visible otherwise.
    fn read_back(&mut self, space: Space, ty: Type, addr: Value, offset: i32) {
        if matches!(space, Space::Slm | Space::Scratch) {
            let v = self
                .b
                .ins()
                .bload_from(MemFlags::of(space), ty, addr, offset);
            self.pool.push(v);
        }
    }

    pub(super) fn atomic(&mut self) {
        if !self.memory {
            return;
        }
        let space = match self.space() {
            Space::Scratch => Space::Global,
            other => other,
        };
        let op = self.rng.pick(&AtomicOp::ALL).unwrap_or(AtomicOp::Add);
        if op.is_float() && !(self.options.floats && self.options.float_atomics) {
            return;
        }
        let words = self.options.word_atomics && self.rng.one_in(4);
        let scalar = match (op.is_float(), space) {
            (true, _) if words => Scalar::F16,
            (true, _) => Scalar::F32,
            (false, _) if words => Scalar::I16,
            (false, Space::Global) if self.rng.one_in(3) => Scalar::I64,
            _ => Scalar::I32,
        };
        let lanes = self.lanes_in_mask();
        let ty = Type::clamped(scalar, lanes);
        // One address per lane, or one for all.
        let places = if self.rng.one_in(4) { 1 } else { lanes };
        let Some(addr) = self.write_addresses(space, places, scalar.bytes()) else {
            return;
        };
        // Stores the initial value.
        let before = self.atomic_operand(ty.by(places));
        self.b
            .ins()
            .store_to(MemFlags::of(space), before, addr, 0, None);
        let addr = self.b.splat(addr, lanes);
        let operands: Vec<Value> = (0..op.operands())
            .map(|_| self.atomic_operand(ty))
            .collect();
        let masked = if self.rng.one_in(2) {
            let mask = self.value(Type::clamped(Scalar::B1, lanes));
            Some((mask, self.value(ty)))
        } else {
            None
        };
        let mut mem = MemFlags::of(space);
        if matches!(space, Space::Global | Space::Surface(_)) {
            mem = mem.cached(self.policy(Opcode::Atomic));
        }
        let v = self.b.ins().atomic(op, mem, ty, addr, 0, &operands, masked);
        let mem = MemFlags::of(space);
        if self.rng.one_in(2) {
            self.pool.push(v);
        }
        let after = self.b.ins().load_from(mem, ty, addr, 0, None);
        self.pool.push(after);
    }

    /// Returns operands of an atomic. Floats are whole numbers, since NaN bits in memory are
    /// unspecified.
    fn atomic_operand(&mut self, ty: Type) -> Value {
        if !ty.scalar().is_float() {
            return self.value(ty);
        }
        let number = self.value(Type::clamped(Scalar::I32, ty.lanes()));
        self.b.ins().fcvt_from_sint(ty, number)
    }

    /// Loads a part of the module's constant data.
    pub(super) fn table(&mut self) {
        let ty = self.data_type();
        let unit = ty.scalar().bytes();
        if !self.memory || ty.bytes() > TABLE_BYTES {
            return;
        }
        let offset = self.rng.below((TABLE_BYTES - ty.bytes()) / unit + 1) * unit;
        let table = self.table;
        let addr = self.b.ins().symbol_addr(table);
        let v = self.b.ins().bload(ty, addr, offset as i32);
        self.pool.push(v);
    }

    /// Prints one line, or a line per lane of a mask. Floats are numbers, since NaNs print
    /// differently between machines.
    pub(super) fn printf(&mut self) {
        let count = FORMATS.len() as u32;
        let n = self.rng.below(count);
        let Some((_, types)) = FORMATS.get(n as usize) else {
            return;
        };
        let mut mask = None;
        let (mut lanes, simd) = (1, self.simd);
        if !self.rng.one_in(4) {
            lanes = self.rng.pick(&[simd, simd, 1, 5, 32]).unwrap_or(1);
            mask = Some(self.value(Type::clamped(Scalar::B1, lanes)));
        }
        let mut args = Vec::new();
        for &(scalar, elements) in *types {
            let ty = Type::clamped(scalar.unwrap_or(Scalar::I64), lanes * elements);
            let v = match scalar {
                None => {
                    let name = self.name;
                    let name = self.b.ins().symbol_addr(name);
                    self.b.splat(name, lanes)
                }
                Some(s) if s.is_float() => {
                    let number = self.value(ty.with_scalar(Scalar::I32).unwrap_or(ty));
                    self.b.ins().fcvt_from_sint(ty, number)
                }
                Some(_) => self.value(ty),
            };
            args.push(v);
        }
        let first = self.formats;
        self.b
            .ins()
            .printf(DataRef::from_u32(first + n), &args, mask);
    }

    pub(super) fn fence(&mut self) {
        let spaces = self.rng.pick(&FenceSpaces::ALL);
        let scope = self.rng.pick(&Scope::ALL);
        if let (Some(spaces), Some(scope)) = (spaces, scope) {
            let opcode = Opcode::Fence;
            self.push(
                InstData::Fence {
                    opcode,
                    spaces,
                    scope,
                },
                None,
            );
        }
    }

    /// Generates a barrier of one thread, since random kernels have only one.
    pub(super) fn named_barrier(&mut self) {
        let number = 1 + self.rng.below(MAX_BARRIERS) as u8;
        let one = self.block_number(1);
        self.b.ins().named_barrier(number, one);
    }
}
