//! Generator of a random instruction of an opcode.

use super::generate::Gen;
use crate::ir::opcode::{Class, Format, Out};
use crate::ir::{Dim, FloatCC, InstData, IntCC, MemFlags, Opcode, Region, Scalar, Type, Value};

/// Returns the integer type of twice the width.
fn twice(ty: Type) -> Type {
    let to = match ty.scalar() {
        Scalar::I8 => Scalar::I16,
        Scalar::I16 => Scalar::I32,
        _ => Scalar::I64,
    };
    Type::clamped(to, ty.lanes())
}

/// Returns true for math functions that the hardware does not have for doubles.
fn not_of_doubles(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Fexp2 | Opcode::Flog2 | Opcode::Fsin | Opcode::Fcos | Opcode::Fpow
    )
}

impl Gen<'_, '_, '_> {
    /// Appends an instruction of this opcode, and its operands. Does nothing for opcodes of control
    /// flow, and for those excluded by the options.
    pub(super) fn instruction(&mut self, opcode: Opcode) {
        let info = opcode.info();
        match info.format {
            Format::Nullary => self.nullary(opcode),
            Format::Imm | Format::ImmVec => {
                let ty = match opcode {
                    Opcode::Bconst => self.pred_type(),
                    Opcode::Iconst => Type::clamped(self.int(), self.lanes()),
                    Opcode::Fconst => Type::clamped(self.float(), self.lanes()),
                    _ => self.data_type(),
                };
                if info.format == Format::ImmVec {
                    let lanes = self.lane_list(ty);
                    let v = self.b.ins().vconst(ty.scalar(), &lanes);
                    self.pool.push(v);
                    return;
                }
                let bits = if ty.is_pred() {
                    self.rng.bits() & (u64::MAX >> (64 - ty.lanes()))
                } else {
                    self.lane(ty.scalar())
                };
                self.push(InstData::Imm { opcode, bits }, Some(ty));
            }
            Format::Launch => {
                let dim = self.rng.pick(&[Dim::X, Dim::Y, Dim::Z]).unwrap_or(Dim::X);
                let ty = match opcode {
                    Opcode::LocalId => Type::clamped(Scalar::I16, self.simd),
                    _ => Type::scalar_of(Scalar::I32),
                };
                self.push(InstData::Launch { opcode, dim }, Some(ty));
            }
            Format::Unary => self.unary(opcode),
            Format::Binary if opcode == Opcode::Shuffle => {
                let (of, lanes) = (self.data_type(), self.lanes());
                let by = Type::clamped(self.int(), lanes);
                // As many lanes as fit.
                let by = by.by(of.by(by.lanes()).lanes());
                let args = [self.value(of), self.value(by)];
                self.push(InstData::Binary { opcode, args }, None);
            }
            Format::Binary if opcode == Opcode::FdemoteStochastic => self.stochastic(opcode),
            Format::Binary => {
                let ty = self.operand_type(opcode);
                let mut args = [self.value(ty), self.value(ty)];
                // A quotient by zero is any value: another one once it is known to be unsigned.
                if matches!(opcode, Opcode::Sdiv | Opcode::Srem) {
                    let one = self.b.ins().iconst(ty, 1);
                    args[1] = self.b.ins().bor(args[1], one);
                }
                let to = (info.out == Out::Ctrl).then(|| twice(ty));
                self.push(InstData::Binary { opcode, args }, to);
            }
            Format::Ternary => {
                let ty = self.operand_type(opcode);
                let args = match opcode {
                    Opcode::Select => {
                        let lanes = self.mask_lanes().min(ty.by(Type::MAX_PRED_LANES).lanes());
                        let mask = self.value(Type::clamped(Scalar::B1, lanes));
                        [mask, self.value(ty.by(lanes)), self.value(ty.by(lanes))]
                    }
                    _ => [self.value(ty), self.value(ty), self.value(ty)],
                };
                self.push(InstData::Ternary { opcode, args }, None);
            }
            Format::IntCompare => {
                let ty = self.compared(Class::Int);
                let args = [self.value(ty), self.value(ty)];
                let cond = self.rng.pick(&IntCC::ALL).unwrap_or(IntCC::Equal);
                self.push(InstData::IntCompare { opcode, cond, args }, None);
            }
            Format::FloatCompare => {
                let ty = self.compared(Class::Float);
                let args = [self.value(ty), self.value(ty)];
                let cond = self.rng.pick(&FloatCC::ALL).unwrap_or(FloatCC::Equal);
                self.push(InstData::FloatCompare { opcode, cond, args }, None);
            }
            Format::RdRegion => self.rdregion(),
            Format::WrRegion => self.wrregion(),
            Format::RdPred | Format::WrPred => self.part_of_predicate(opcode),
            Format::Load => self.load(opcode),
            Format::Store => self.store(opcode),
            Format::Atomic => self.atomic(),
            Format::Fence => self.fence(),
            Format::Prefetch => {
                let lanes = 1 + self.rng.below(Type::MAX_PRED_LANES);
                let addr = self.value(Type::clamped(Scalar::I64, lanes));
                let masked = self.rng.one_in(2);
                let mask = masked.then(|| self.value(Type::clamped(Scalar::B1, lanes)));
                let mem = MemFlags::default().cached(self.policy(opcode));
                self.b.ins().prefetch(mem, addr, 64, mask);
            }
            Format::Symbol => self.table(),
            Format::Image => self.image(opcode),
            Format::ImageAtomic => self.image_atomic(),
            Format::ArgQuery => self.arg_query(opcode),
            Format::Media => self.media(opcode),
            Format::Send => self.send(opcode),
            Format::Dpas => self.dpas(),
            Format::Block2d => self.block2d(opcode),
            Format::NamedBarrier => self.named_barrier(),
            Format::Printf => self.printf(),
            Format::Call => self.call(),
            Format::Jump | Format::Brif | Format::Switch | Format::Return => {}
        }
    }

    pub(super) fn push(&mut self, data: InstData, ctrl: Option<Type>) {
        let results = self.b.ins().raw(data, ctrl);
        self.keep(&results);
    }

    /// Adds values to the pool of operands, and sometimes stores them.
    pub(super) fn keep(&mut self, results: &[Value]) {
        if self.memory && self.rng.one_in(3) {
            results.iter().for_each(|&v| self.show(v));
        }
        self.pool.extend(results);
    }

    /// Stores a value, so that it is not dead.
    pub(super) fn show(&mut self, v: Value) {
        let v = if self.b.ty(v).is_pred() {
            self.bits_of(v)
        } else {
            v
        };
        if let Some(at) = self.out_room(self.b.ty(v)) {
            let out = self.output;
            self.b.ins().bstore(v, out, at as i32);
        }
    }

    fn compared(&mut self, class: Class) -> Type {
        let ty = self.type_of(class);
        let lanes = self.mask_lanes();
        ty.by(lanes)
    }

    fn operand_type(&mut self, opcode: Opcode) -> Type {
        let ty = self.type_of(opcode.info().class);
        match opcode {
            Opcode::Flrp => Type::clamped(Scalar::F32, ty.lanes()),
            // Masks of channels.
            Opcode::Goto | Opcode::Join => ty.by(ty.lanes().min(Type::FLAG_LANES)),
            Opcode::SmulWide | Opcode::UmulWide if ty.scalar() == Scalar::I64 => {
                Type::clamped(Scalar::I32, ty.lanes())
            }
            _ if ty.scalar() == Scalar::F64 && not_of_doubles(opcode) => {
                Type::clamped(Scalar::F32, ty.lanes())
            }
            // Floats too.
            Opcode::Select if self.rng.one_in(2) => self.data_type(),
            _ => ty,
        }
    }

    fn nullary(&mut self, opcode: Opcode) {
        match opcode {
            Opcode::Undef if self.options.runnable => {}
            Opcode::Undef => {
                let ty = self.type_of(Class::Any);
                self.push(InstData::Nullary { opcode }, Some(ty));
            }
            // Its value differs between machines, so it is not used.
            Opcode::PrintfBuffer => {
                self.b.ins().printf_buffer(Type::scalar_of(Scalar::I64));
            }
            Opcode::Cycles
            | Opcode::HwThreadId
            | Opcode::EuId
            | Opcode::EuThreadId
            | Opcode::SubsliceId
            | Opcode::SliceId => {
                let of = match opcode {
                    Opcode::Cycles => Scalar::I64,
                    _ => Scalar::I32,
                };
                let ty = Type::scalar_of(of);
                let results = self.b.ins().raw(InstData::Nullary { opcode }, Some(ty));
                if self.memory {
                    // Values differ between machines, so only zero bits of them are used.
                    let zero = self.b.ins().iconst(ty, 0);
                    for v in results {
                        let none = self.b.ins().band(v, zero);
                        self.show(none);
                    }
                }
            }
            Opcode::DispatchMask => {
                let ty = Type::clamped(Scalar::B1, self.simd);
                self.push(InstData::Nullary { opcode }, Some(ty));
            }
            Opcode::SubgroupId | Opcode::SubgroupCount | Opcode::WorkDim => {
                let ty = Type::scalar_of(Scalar::I32);
                self.push(InstData::Nullary { opcode }, Some(ty));
            }
            // A thread that has arrived waits.
            Opcode::BarrierArrive | Opcode::BarrierWait => {
                self.b.ins().barrier_arrive();
                if self.rng.one_in(2) && !self.options.without.contains(&Opcode::Store) {
                    self.store(Opcode::Store);
                }
                self.b.ins().barrier_wait();
            }
            _ => self.push(InstData::Nullary { opcode }, None),
        }
    }

    fn unary(&mut self, opcode: Opcode) {
        let small = match opcode {
            Opcode::FdemoteBf16Rte => Some((Scalar::F32, Scalar::I16)),
            Opcode::FdemoteTf32Rte => Some((Scalar::F32, Scalar::I32)),
            Opcode::FdemoteBf8Rte => Some((Scalar::F16, Scalar::I8)),
            _ => None,
        };
        if let Some((from, to)) = small {
            let arg = self.whole_float(from);
            let to = Type::clamped(to, self.b.ty(arg).lanes());
            self.push(InstData::Unary { opcode, arg }, Some(to));
            return;
        }
        let mut from = self.type_of(opcode.info().class);
        let mut to = None;
        if opcode.info().out == Out::Ctrl {
            let Some((f, t)) = self.conversion(opcode, from) else {
                return;
            };
            (from, to) = (f, Some(t));
        }
        if from.scalar() == Scalar::F64 && not_of_doubles(opcode) {
            from = Type::clamped(Scalar::F32, from.lanes());
        }
        let arg = self.value(from);
        self.push(InstData::Unary { opcode, arg }, to);
    }

    /// Returns a float that is a whole number or infinite, since the bits of NaNs differ between
    /// machines.
    fn whole_float(&mut self, scalar: Scalar) -> Value {
        let lanes = self.lanes();
        let number = self.value(Type::clamped(Scalar::I32, lanes));
        let ty = Type::clamped(scalar, self.b.ty(number).lanes());
        self.b.ins().fcvt_from_sint(ty, number)
    }

    /// Rounds a float by random bits.
    fn stochastic(&mut self, opcode: Opcode) {
        let (from, bits, to) = match self.rng.below(2) {
            0 => (Scalar::F32, Scalar::I32, Scalar::F16),
            _ => (Scalar::F16, Scalar::I16, Scalar::I8),
        };
        let v = self.whole_float(from);
        let ty = self.b.ty(v);
        let random = self.value(Type::clamped(bits, ty.lanes()));
        let random = self.b.ins().bitcast(ty, random);
        let to = Type::clamped(to, ty.lanes());
        let args = [v, random];
        self.push(InstData::Binary { opcode, args }, Some(to));
    }

    /// Returns operand and result types of a conversion.
    fn conversion(&mut self, opcode: Opcode, from: Type) -> Option<(Type, Type)> {
        let lanes = from.lanes();
        let ty = |s| Type::clamped(s, lanes);
        let ints = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64];
        let floats = if self.options.doubles {
            &[Scalar::F16, Scalar::F32, Scalar::F64][..]
        } else {
            &[Scalar::F16, Scalar::F32]
        };
        // Two different types of a list, the narrower first.
        let mut two = |list: &[Scalar]| {
            let n = self.rng.below(list.len() as u32 - 1) as usize;
            let m = n + 1 + self.rng.below((list.len() - n - 1) as u32) as usize;
            Some((ty(*list.get(n)?), ty(*list.get(m)?)))
        };
        match opcode {
            Opcode::Sextend | Opcode::Uextend => two(&ints),
            Opcode::Ireduce
            | Opcode::SstruncSat
            | Opcode::SutruncSat
            | Opcode::UstruncSat
            | Opcode::UutruncSat => two(&ints).map(|(a, b)| (b, a)),
            Opcode::Fpromote => two(floats),
            Opcode::FpromoteBf8 => Some((ty(Scalar::I8), ty(Scalar::F16))),
            op if op.name().starts_with("fdemote") => two(floats).map(|(a, b)| (b, a)),
            op if op.name().starts_with("fcvt_from_") => Some((from, ty(self.float()))),
            op if op.name().starts_with("fcvt_to_") => Some((from, ty(self.int()))),
            Opcode::Bitcast => {
                let some = if self.options.floats { floats } else { &[] };
                let all = [ints.as_slice(), some].concat();
                let to = self.rng.pick(&all)?;
                let lanes = from.bytes() / to.bytes();
                let to = Type::new(to, lanes)?;
                (to.bytes() == from.bytes()).then_some((from, to))
            }
            Opcode::PredToBits => {
                let from = from.by(lanes.min(Type::FLAG_LANES));
                Some((from, Type::scalar_of(Scalar::I32)))
            }
            Opcode::BitsToPred => {
                let to = Type::clamped(Scalar::B1, self.lanes());
                Some((Type::scalar_of(Scalar::I32), to))
            }
            _ => None,
        }
    }

    /// Returns a region of `part` lanes in `whole` that leaves `slack` elements for a variable
    /// index. Contiguous if no other is found.
    pub(super) fn region(&mut self, whole: Type, part: u32, slack: u32, once: bool) -> Region {
        let size = whole.scalar().bytes().max(1);
        let room = whole.lanes() - slack;
        for _ in 0..20 {
            let width = 1 + self.rng.below(part.min(16));
            let (vs, hs) = (self.rng.below(20), self.rng.below(5));
            let mut r = Region::new(vs as u16, width as u16, hs as u16, 0);
            let last = r.last_element(part);
            let mut seen = vec![false; whole.lanes() as usize];
            let twice = (0..part).any(|l| {
                let s = seen.get_mut(r.element(l) as usize);
                s.is_some_and(|s| std::mem::replace(s, true))
            });
            if last < room && !(once && twice) {
                r.offset = (self.rng.below(room - last) * size) as u16;
                return r;
            }
        }
        let start = self.rng.below(room - part + 1);
        Region::contiguous(part as u16, (start * size) as u16)
    }

    /// Returns an index of up to `slack` elements, with a lane per row or one lane. It is a
    /// multiple of the element's size, sometimes of more elements, and sometimes a sum.
    pub(super) fn index(&mut self, size: u32, slack: u32, lanes: u32) -> Value {
        if self.rng.one_in(3) {
            return self.index_of_sum(size, slack, lanes);
        }
        let ty = Type::clamped(Scalar::I16, lanes);
        let any = self.value(ty);
        let group = self.rng.pick(&[1, 1, 1, 4, 8, 16]).unwrap_or(1).min(slack);
        let group = 1 << group.max(1).ilog2();
        let mask = self
            .b
            .ins()
            .iconst(ty, i64::from(largest_mask(slack / group)));
        let by = (size * group).trailing_zeros();
        let shift = self.b.ins().iconst(ty, i64::from(by));
        let index = self.b.ins().band(any, mask);
        self.b.ins().ishl(index, shift)
    }

    /// Returns an index with a constant summand under a product, a shift, or a change of the width.
    fn index_of_sum(&mut self, size: u32, slack: u32, lanes: u32) -> Value {
        let word = Type::clamped(Scalar::I16, lanes);
        let from = self.rng.pick(&[Scalar::I8, Scalar::I16, Scalar::I32]);
        let ty = Type::clamped(from.unwrap_or(Scalar::I16), lanes);
        let ty = if slack < 64 { ty } else { word };
        let first = self.rng.below(slack + 1);
        let any = self.value(ty);
        let mask = i64::from(largest_mask(slack - first));
        let mask = self.b.ins().iconst(ty, mask);
        let number = self.b.ins().iconst(ty, i64::from(first));
        let index = self.b.ins().band(any, mask);
        let mut index = self.b.ins().iadd(index, number);
        if ty.scalar() == Scalar::I8 {
            index = if self.rng.one_in(2) {
                self.b.ins().uextend(word, index)
            } else {
                self.b.ins().sextend(word, index)
            };
        }
        let ty = self.b.ty(index);
        let product = self.rng.one_in(2);
        let by = if product { size } else { size.trailing_zeros() };
        let by = self.b.ins().iconst(ty, i64::from(by));
        index = if product {
            self.b.ins().imul(index, by)
        } else {
            self.b.ins().ishl(index, by)
        };
        if ty.scalar() == Scalar::I32 {
            index = self.b.ins().ireduce(word, index);
        }
        index
    }

    fn rdregion(&mut self) {
        let whole = self.data_type();
        let part = if self.rng.one_in(2) {
            1 + self.rng.below(whole.lanes().min(8))
        } else {
            self.lanes()
        };
        let slack = if self.rng.one_in(4) {
            self.rng.below(whole.lanes())
        } else {
            0
        };
        let part = match slack {
            0 => part,
            _ => part.min(whole.lanes() - slack),
        };
        let arg = self.value(whole);
        let mut region = if part > whole.lanes() {
            // There are more lanes than elements, so elements are repeated.
            Region::scalar(0)
        } else {
            self.region(whole, part, slack, false)
        };
        let index = (slack > 0).then(|| {
            let rows = part.div_ceil(u32::from(region.width));
            let lanes = if self.rng.one_in(2) { rows } else { 1 };
            self.index(whole.scalar().bytes(), slack, lanes)
        });
        if index.is_some() && self.rng.one_in(3) {
            region.parent_width = whole.lanes() as u16;
        }
        let v = self.b.ins().rdregion_at(whole.by(part), arg, region, index);
        self.pool.push(v);
    }

    fn wrregion(&mut self) {
        let whole = self.data_type();
        let part = 1 + self.rng.below(whole.lanes());
        let slack = if self.rng.one_in(4) {
            self.rng.below(whole.lanes() - part + 1)
        } else {
            0
        };
        let (old, new) = (self.value(whole), self.value(whole.by(part)));
        let region = self.region(whole, part, slack, true);
        let index = (slack > 0).then(|| self.index(whole.scalar().bytes(), slack, 1));
        let mask = if part <= Type::MAX_PRED_LANES && self.rng.one_in(3) {
            Some(self.value(Type::clamped(Scalar::B1, part)))
        } else {
            None
        };
        let v = self.b.ins().wrregion_at(old, region, index, new, mask);
        self.pool.push(v);
    }

    fn part_of_predicate(&mut self, opcode: Opcode) {
        let mut whole = self.pred_type();
        if self.rng.one_in(3) {
            let more = Type::MAX_PRED_LANES - Type::FLAG_LANES;
            whole = whole.by(Type::FLAG_LANES + 1 + self.rng.below(more));
        }
        if self.rng.one_in(6) {
            return self.one_bit(whole);
        }
        let part = 1 + self.rng.below(whole.lanes());
        let mut offset = self.rng.below(whole.lanes() - part + 1) as u8;
        if self.rng.one_in(2) {
            // At channel offsets and words.
            offset -= offset % 8;
        }
        let part = match part {
            17.. if self.rng.one_in(2) => 16,
            part => part,
        };
        let arg = self.value(whole);
        let v = match opcode {
            Opcode::Rdpred => self.b.ins().rdpred(part, arg, offset),
            _ => {
                let new = self.value(Type::clamped(Scalar::B1, part));
                self.b.ins().wrpred(arg, new, offset)
            }
        };
        self.pool.push(v);
    }

    /// Makes a predicate with the same bit in every lane: that of a predicate, or a test of one.
    fn one_bit(&mut self, of: Type) {
        let arg = self.value(of);
        let bit = match self.rng.below(3) {
            0 => self.b.ins().any(arg),
            1 => self.b.ins().all(arg),
            _ => self.value(Type::scalar_of(Scalar::B1)),
        };
        let bits = self.b.ins().pred_to_bits(Type::scalar_of(Scalar::I32), bit);
        let bits = self.b.ins().ineg(bits);
        let to = Type::clamped(Scalar::B1, self.lanes());
        let v = self.b.ins().bits_to_pred(to, bits);
        self.pool.push(v);
    }
}

/// Returns the largest number of ones in binary that is at most `most`.
fn largest_mask(most: u32) -> u32 {
    (1 << (most + 1).ilog2()) - 1
}
