//! Sub-group and work-group operations: votes, reductions, scans, broadcasts, shuffles, ballots,
//! block reads and writes.
//!
//! A sub-group is a hardware thread, so its operations are cross-lane operations of the IR.
//! Work-group operations exchange partial results through SLM: each sub-group writes its own, and
//! after a barrier each reads all.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::read::{self, Id};
use gantry_codegen::ir::{
    FenceSpaces, IntCC, MemFlags, Opcode, Region, Scalar, Scope, Space, Value, scalars::I32,
};
use spirv::{GroupOperation, Op};

/// Opcodes of a reduction: across lanes, as a scan, and of two values.
#[derive(Clone, Copy)]
struct Reduction {
    reduce: Opcode,
    scan: Opcode,
    two: Opcode,
}

fn reduction(op: Op) -> Option<Reduction> {
    use Op::*;
    let (reduce, scan, two) = match op {
        GroupIAdd | GroupNonUniformIAdd => (Opcode::ReduceIadd, Opcode::ScanIadd, Opcode::Iadd),
        GroupIMulKHR | GroupNonUniformIMul => (Opcode::ReduceImul, Opcode::ScanImul, Opcode::Imul),
        GroupFAdd | GroupNonUniformFAdd => (Opcode::ReduceFadd, Opcode::ScanFadd, Opcode::Fadd),
        GroupFMulKHR | GroupNonUniformFMul => (Opcode::ReduceFmul, Opcode::ScanFmul, Opcode::Fmul),
        GroupFMin | GroupNonUniformFMin => (Opcode::ReduceFmin, Opcode::ScanFmin, Opcode::Fmin),
        GroupFMax | GroupNonUniformFMax => (Opcode::ReduceFmax, Opcode::ScanFmax, Opcode::Fmax),
        GroupSMin | GroupNonUniformSMin => (Opcode::ReduceSmin, Opcode::ScanSmin, Opcode::Smin),
        GroupSMax | GroupNonUniformSMax => (Opcode::ReduceSmax, Opcode::ScanSmax, Opcode::Smax),
        GroupUMin | GroupNonUniformUMin => (Opcode::ReduceUmin, Opcode::ScanUmin, Opcode::Umin),
        GroupUMax | GroupNonUniformUMax => (Opcode::ReduceUmax, Opcode::ScanUmax, Opcode::Umax),
        GroupBitwiseAndKHR
        | GroupNonUniformBitwiseAnd
        | GroupLogicalAndKHR
        | GroupNonUniformLogicalAnd => (Opcode::ReduceBand, Opcode::ScanBand, Opcode::Band),
        GroupBitwiseOrKHR
        | GroupNonUniformBitwiseOr
        | GroupLogicalOrKHR
        | GroupNonUniformLogicalOr => (Opcode::ReduceBor, Opcode::ScanBor, Opcode::Bor),
        GroupBitwiseXorKHR
        | GroupNonUniformBitwiseXor
        | GroupLogicalXorKHR
        | GroupNonUniformLogicalXor => (Opcode::ReduceBxor, Opcode::ScanBxor, Opcode::Bxor),
        _ => return None,
    };
    Some(Reduction { reduce, scan, two })
}

/// Maximum number of sub-groups of a work-group, times the maximum bytes of a scalar.
const AREA: u32 = 128 * 8;

impl Emit<'_, '_, '_> {
    pub(super) fn group(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        use Op::*;
        match inst.op {
            SubgroupShuffleINTEL => return self.shuffle_by(inst, 0, 1, |_, _, n| n),
            SubgroupShuffleXorINTEL => {
                return self.shuffle_by(inst, 0, 1, |e, lane, n| e.b.ins().bxor(lane, n));
            }
            SubgroupShuffleUpINTEL | SubgroupShuffleDownINTEL => return self.shuffle_two(inst),
            SubgroupBlockReadINTEL => return self.block_read(inst),
            SubgroupBlockWriteINTEL => return self.block_write(inst),
            _ => {}
        }
        let scope = self.operand(inst, 0)?;
        let scope = self
            .m
            .bits(scope)
            .and_then(|b| spirv::Scope::from_u32(b as u32));
        let all = match scope {
            Some(spirv::Scope::Subgroup) => false,
            Some(spirv::Scope::Workgroup) => true,
            _ => {
                return Err(Error::unsupported(format!(
                    "{} of this scope",
                    read::name(inst.op)
                )));
            }
        };
        if let Some(r) = reduction(inst.op) {
            return self.reduction(inst, r, all);
        }
        let second = self.operand(inst, 1);
        match inst.op {
            GroupAll | GroupAny | GroupNonUniformAll | GroupNonUniformAny => {
                let v = self.one(second?)?;
                let any = matches!(inst.op, GroupAny | GroupNonUniformAny);
                let v = self.vote(v, any)?;
                Ok(Leaves::from_slice(&[if all {
                    self.vote_of_all(v, any)?
                } else {
                    v
                }]))
            }
            GroupBroadcast if all => self.broadcast_to_all(inst),
            GroupNonUniformBroadcast | GroupBroadcast => {
                let lane = self.operand(inst, 2)?;
                let (values, lane) = (self.get(second?)?, self.one(lane)?);
                let lane = self.lane_number(lane)?;
                Ok(values.iter().map(|v| self.pick(*v, lane)).collect())
            }
            GroupNonUniformBroadcastFirst => {
                let values = self.get(second?)?;
                let first = self.first_lane();
                Ok(values.iter().map(|v| self.pick(*v, first)).collect())
            }
            GroupNonUniformElect => {
                let first = self.first_lane();
                let lane = self.b.iota(Scalar::I32, self.simd);
                let mut v = [lane, first];
                self.even(&mut v);
                Ok(Leaves::from_slice(&[self.b.ins().icmp(
                    IntCC::Equal,
                    v[0],
                    v[1],
                )]))
            }
            GroupNonUniformAllEqual => {
                let v = self.one(second?)?;
                let first = self.first_lane();
                let f = self.pick(v, first);
                let mut v = [v, f];
                self.even(&mut v);
                let same = match self.b.ty(v[0]).scalar() {
                    Scalar::B1 => {
                        let d = self.b.ins().bxor(v[0], v[1]);
                        self.b.ins().bnot(d)
                    }
                    s if s.is_float() => {
                        self.b
                            .ins()
                            .fcmp(gantry_codegen::ir::FloatCC::Equal, v[0], v[1])
                    }
                    _ => self.b.ins().icmp(IntCC::Equal, v[0], v[1]),
                };
                Ok(Leaves::from_slice(&[self.vote(same, false)?]))
            }
            GroupNonUniformBallot => {
                let v = self.one(second?)?;
                if !self.b.ty(v).is_pred() {
                    return Err(Error::malformed("a ballot of what is no bool"));
                }
                let v = self.b.splat(v, self.simd);
                let bits = self.b.simd_ballot(v);
                let zero = self.number(Scalar::I32, 0);
                Ok(Leaves::from_slice(&[bits, zero, zero, zero]))
            }
            GroupNonUniformInverseBallot => {
                let bits = self.first_word(second?)?;
                let lane = self.b.iota(Scalar::I32, self.simd);
                Ok(Leaves::from_slice(&[self.bit(bits, lane)]))
            }
            GroupNonUniformBallotBitExtract => {
                let n = self.operand(inst, 2)?;
                let (bits, n) = (self.first_word(second?)?, self.one(n)?);
                let n = self.lane_number(n)?;
                Ok(Leaves::from_slice(&[self.bit(bits, n)]))
            }
            GroupNonUniformBallotBitCount => {
                let bits = self.operand(inst, 2)?;
                let bits = self.first_word(bits)?;
                let bits = self.within(bits);
                let bits = match self.body.operands(inst).get(1) {
                    Some(0) => bits,
                    Some(1) => {
                        let mask = self.lane_mask(spirv::BuiltIn::SubgroupLeMask);
                        let mut v = [bits, mask];
                        self.even(&mut v);
                        self.b.ins().band(v[0], v[1])
                    }
                    _ => {
                        let mask = self.lane_mask(spirv::BuiltIn::SubgroupLtMask);
                        let mut v = [bits, mask];
                        self.even(&mut v);
                        self.b.ins().band(v[0], v[1])
                    }
                };
                Ok(Leaves::from_slice(&[self.b.ins().popcnt(bits)]))
            }
            GroupNonUniformBallotFindLSB => {
                let bits = self.first_word(second?)?;
                let bits = self.within(bits);
                Ok(Leaves::from_slice(&[self.b.ins().fbl(bits)]))
            }
            GroupNonUniformBallotFindMSB => {
                let bits = self.first_word(second?)?;
                let bits = self.within(bits);
                let zeros = self.b.ins().clz(bits);
                let top = self.same(zeros, 31);
                Ok(Leaves::from_slice(&[self.b.ins().isub(top, zeros)]))
            }
            GroupNonUniformShuffle => self.shuffle_by(inst, 1, 2, |_, _, n| n),
            GroupNonUniformShuffleXor => {
                self.shuffle_by(inst, 1, 2, |e, lane, n| e.b.ins().bxor(lane, n))
            }
            GroupNonUniformShuffleUp => {
                self.shuffle_by(inst, 1, 2, |e, lane, n| e.b.ins().isub(lane, n))
            }
            GroupNonUniformShuffleDown => {
                self.shuffle_by(inst, 1, 2, |e, lane, n| e.b.ins().iadd(lane, n))
            }
            GroupNonUniformQuadBroadcast => self.shuffle_by(inst, 1, 2, |e, lane, n| {
                let first = e.same(lane, u64::from(!3u32));
                let first = e.b.ins().band(lane, first);
                e.b.ins().iadd(first, n)
            }),
            // Horizontal, vertical, diagonal.
            GroupNonUniformQuadSwap => self.shuffle_by(inst, 1, 2, |e, lane, n| {
                let one = e.same(n, 1);
                let n = e.b.ins().iadd(n, one);
                e.b.ins().bxor(lane, n)
            }),
            GroupNonUniformRotateKHR => {
                if self.body.operands(inst).len() > 3 {
                    return Err(Error::unsupported("a rotation in clusters"));
                }
                self.shuffle_by(inst, 1, 2, |e, lane, n| {
                    let v = e.b.ins().iadd(lane, n);
                    let last = e.same(v, u64::from(e.simd - 1));
                    e.b.ins().band(v, last)
                })
            }
            op => Err(Error::unsupported(read::name(op))),
        }
    }

    /// Lane index as 32 bits.
    fn lane_number(&mut self, v: Value) -> Result<Value, Error> {
        if self.b.ty(v).scalar().is_int() {
            Ok(self.resize(v, Scalar::I32, false))
        } else {
            Err(Error::malformed("a lane by what is no integer"))
        }
    }

    /// First word of a ballot.
    fn first_word(&mut self, id: Id) -> Result<Value, Error> {
        let v = self.get(id)?;
        let first = v
            .first()
            .copied()
            .filter(|v| self.b.ty(*v).scalar() == Scalar::I32);
        first.ok_or_else(|| Error::malformed("a ballot that is no vector of words"))
    }

    /// Bits of a ballot that belong to lanes.
    fn within(&mut self, bits: Value) -> Value {
        let mask = self.same(bits, u64::from(u32::MAX >> (32 - self.simd.clamp(1, 32))));
        self.b.ins().band(bits, mask)
    }

    /// Tests a bit.
    fn bit(&mut self, bits: Value, n: Value) -> Value {
        let mut v = [bits, n];
        self.even(&mut v);
        let v = self.b.ins().ushr(v[0], v[1]);
        let one = self.same(v, 1);
        let v = self.b.ins().band(v, one);
        let zero = self.same(v, 0);
        self.b.ins().icmp(IntCC::NotEqual, v, zero)
    }

    /// Mask of the own, the lower or the higher lanes, for each lane.
    pub(super) fn lane_mask(&mut self, which: spirv::BuiltIn) -> Value {
        use spirv::BuiltIn::*;
        let lane = self.b.iota(Scalar::I32, self.simd);
        let one = self.same(lane, 1);
        let own = self.b.ins().ishl(one, lane);
        let twice = self.b.ins().iadd(own, own);
        match which {
            SubgroupEqMask => own,
            // As with Intel's compiler, also beyond the last lane.
            SubgroupGeMask => self.b.ins().ineg(own),
            SubgroupGtMask => self.b.ins().ineg(twice),
            SubgroupLeMask => self.b.ins().isub(twice, one),
            _ => self.b.ins().isub(own, one),
        }
    }

    /// Index of the first active lane.
    fn first_lane(&mut self) -> Value {
        let mask = self.b.exec_mask();
        let bits = self.b.ins().pred_to_bits(I32, mask);
        self.b.ins().fbl(bits)
    }

    /// Value of a lane. It is uniform if the index is.
    fn pick(&mut self, v: Value, lane: Value) -> Value {
        if self.b.ty(v).lanes() == 1 {
            let lanes = self.b.ty(lane).lanes();
            return self.b.splat(v, lanes);
        }
        if self.b.ty(v).is_pred() {
            let bits = self.b.ins().pred_to_bits(I32, v);
            return self.bit(bits, lane);
        }
        self.b.ins().shuffle(v, lane)
    }

    fn shuffle_by(
        &mut self,
        inst: &BInst,
        value: usize,
        number: usize,
        f: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> Result<Leaves, Error> {
        let (value, number) = (self.operand(inst, value)?, self.operand(inst, number)?);
        let (values, n) = (self.get(value)?, self.one(number)?);
        let n = self.lane_number(n)?;
        let n = self.b.splat(n, self.simd);
        let lane = self.b.iota(Scalar::I32, self.simd);
        let n = f(self, lane, n);
        let mut out = Leaves::new();
        for v in values {
            let v = self.b.splat(v, self.simd);
            out.push(self.pick(v, n));
        }
        Ok(out)
    }

    /// Intel shuffles on the concatenation of two values.
    fn shuffle_two(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let ids = [0, 1, 2].map(|n| self.operand(inst, n));
        let [a, b, n] = ids;
        let (a, b, n) = (self.get(a?)?, self.get(b?)?, self.one(n?)?);
        let n = self.lane_number(n)?;
        let n = self.b.splat(n, self.simd);
        let lane = self.b.iota(Scalar::I32, self.simd);
        let width = self.same(lane, u64::from(self.simd));
        // Down starts at the current value. Up goes back from the current value into the previous
        // one.
        let down = inst.op == Op::SubgroupShuffleDownINTEL;
        let from = if down {
            self.b.ins().iadd(lane, n)
        } else {
            self.b.ins().isub(lane, n)
        };
        let zero = self.same(from, 0);
        let (inside, other, first, second) = if down {
            let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, from, width);
            (inside, self.b.ins().isub(from, width), a, b)
        } else {
            let inside = self
                .b
                .ins()
                .icmp(IntCC::SignedGreaterThanOrEqual, from, zero);
            (inside, self.b.ins().iadd(from, width), b, a)
        };
        let mut out = Leaves::new();
        for (a, b) in first.iter().zip(&second) {
            let (a, b) = (self.b.splat(*a, self.simd), self.b.splat(*b, self.simd));
            let (x, y) = (self.pick(a, from), self.pick(b, other));
            out.push(self.choose(inside, x, y)?);
        }
        Ok(out)
    }

    /// Returns true if any active lane, or all of them, satisfy a condition.
    fn vote(&mut self, v: Value, any: bool) -> Result<Value, Error> {
        if !self.b.ty(v).is_pred() {
            return Err(Error::malformed("a vote on what is no bool"));
        }
        if self.b.ty(v).lanes() == 1 {
            return Ok(v);
        }
        let mask = self.b.exec_mask();
        if any {
            let v = self.b.ins().band(v, mask);
            return Ok(self.b.ins().any(v));
        }
        let off = self.b.ins().bnot(mask);
        let v = self.b.ins().bor(v, off);
        Ok(self.b.ins().all(v))
    }

    fn two(&mut self, r: Reduction, a: Value, b: Value) -> Value {
        let mut v = [a, b];
        self.even(&mut v);
        let [a, b] = v;
        match r.two {
            Opcode::Iadd => self.b.ins().iadd(a, b),
            Opcode::Imul => self.b.ins().imul(a, b),
            Opcode::Fadd => self.b.ins().fadd(a, b),
            Opcode::Fmul => self.b.ins().fmul(a, b),
            Opcode::Fmin => self.b.ins().fmin(a, b),
            Opcode::Fmax => self.b.ins().fmax(a, b),
            Opcode::Smin => self.b.ins().smin(a, b),
            Opcode::Smax => self.b.ins().smax(a, b),
            Opcode::Umin => self.b.ins().umin(a, b),
            Opcode::Umax => self.b.ins().umax(a, b),
            Opcode::Band => self.b.ins().band(a, b),
            Opcode::Bor => self.b.ins().bor(a, b),
            _ => self.b.ins().bxor(a, b),
        }
    }

    fn reduction(&mut self, inst: &BInst, r: Reduction, all: bool) -> Result<Leaves, Error> {
        let op = self
            .body
            .operands(inst)
            .get(1)
            .and_then(|w| GroupOperation::from_u32(*w));
        let values = self.operand(inst, 2)?;
        let size = match self.body.operands(inst).get(3).map(|w| Id::of(*w)) {
            None => None,
            Some(id) => Some(
                self.m
                    .bits(id)
                    .ok_or_else(|| Error::unsupported("a cluster of a size that is no constant"))?
                    as u32,
            ),
        };
        let mut out = Leaves::new();
        for v in self.get(values)? {
            let pred = self.b.ty(v).is_pred();
            let v = if pred { self.number_of(v)? } else { v };
            let float = matches!(
                r.two,
                Opcode::Fadd | Opcode::Fmul | Opcode::Fmin | Opcode::Fmax
            );
            let scalar = self.b.ty(v).scalar();
            if scalar.is_float() != float {
                return Err(Error::malformed(format!(
                    "{} of what it does not take",
                    read::name(inst.op)
                )));
            }
            let v = self.b.splat(v, self.simd);
            let v = match (op, all) {
                (Some(GroupOperation::Reduce), false) => self.b.simd_reduce(r.reduce, v),
                (Some(GroupOperation::InclusiveScan), false) => self.b.simd_scan(r.scan, v),
                (Some(GroupOperation::ExclusiveScan), false) => {
                    self.b.simd_scan_exclusive(r.scan, v)
                }
                (Some(GroupOperation::ClusteredReduce), false) => self.clusters(r, v, size)?,
                (Some(op), true) if op != GroupOperation::ClusteredReduce => {
                    self.reduction_of_all(r, v, op)?
                }
                _ => return Err(Error::unsupported("this operation of a group")),
            };
            out.push(if pred {
                let zero = self.same(v, 0);
                self.b.ins().icmp(IntCC::NotEqual, v, zero)
            } else {
                v
            });
        }
        Ok(out)
    }

    /// Converts a predicate to 1 or 0.
    fn number_of(&mut self, v: Value) -> Result<Value, Error> {
        let (one, zero) = (self.number(Scalar::I32, 1), self.number(Scalar::I32, 0));
        self.choose(v, one, zero)
    }

    /// Identity of a reduction, in the type of a value.
    fn identity(&mut self, r: Reduction, like: Value) -> Value {
        let bits = r.two.identity(self.b.ty(like).scalar());
        self.same(like, bits.unwrap_or(0))
    }

    /// Clustered reduction: halves the number of lanes in each step. Inactive lanes do not count.
    fn clusters(&mut self, r: Reduction, v: Value, size: Option<u32>) -> Result<Value, Error> {
        let size = size.filter(|s| s.is_power_of_two());
        let size = size.ok_or_else(|| Error::malformed("a cluster of no power of two"))?;
        // A larger cluster is undefined. Shaders have such for devices with larger sub-groups, in
        // branches that are not taken here.
        let size = size.min(self.simd);
        let mask = self.b.exec_mask();
        let none = self.identity(r, v);
        let mut v = self.choose(mask, v, none)?;
        let ty = self.b.ty(v);
        let bytes = ty.scalar().bytes() as u16;
        for _ in 0..size.trailing_zeros() {
            // Even lanes and odd lanes.
            let half = self.lanes(ty.scalar(), self.b.ty(v).lanes() / 2);
            let [a, b] = [0, bytes].map(|offset| {
                let region = Region::new(2, 1, 0, offset);
                self.b.ins().rdregion(half, v, region)
            });
            v = self.two(r, a, b);
        }
        // Each lane of a cluster receives its result.
        let region = Region::new(1, size as u16, 0, 0);
        Ok(self.b.ins().rdregion(ty, v, region))
    }

    /// SLM area for exchange between sub-groups.
    fn area(&mut self) -> Result<u32, Error> {
        if let Some(at) = self.group_area {
            return Ok(at);
        }
        let at = self.reserve(AREA)?;
        self.group_area = Some(at);
        Ok(at)
    }

    fn wait(&mut self) {
        self.b.ins().fence(FenceSpaces::Slm, Scope::Group);
        self.b.ins().barrier();
    }

    fn reduction_of_all(
        &mut self,
        r: Reduction,
        v: Value,
        op: GroupOperation,
    ) -> Result<Value, Error> {
        let at = self.area()?;
        let mem = MemFlags::of(Space::Slm);
        let size = self.b.ty(v).scalar().bytes();
        let own = self.b.simd_reduce(r.reduce, v);
        let id = self.b.ins().subgroup_id(I32);
        let count = self.b.ins().subgroup_count(I32);
        let base = self.number(Scalar::I32, u64::from(at));
        let offset = self.times(id, u64::from(size));
        let addr = self.b.ins().iadd(base, offset);
        self.b.ins().bstore_to(mem, own, addr, 0);
        self.wait();
        let none = self.identity(r, own);
        let zero = self.number(Scalar::I32, 0);
        let (before, total, next) = (self.b.var(none), self.b.var(none), self.b.var(zero));
        let ty = self.b.ty(own);
        self.b.uniform_loop_begin();
        let n = self.b.use_var(next);
        let done = self
            .b
            .ins()
            .icmp(IntCC::UnsignedGreaterThanOrEqual, n, count);
        self.b.uniform_break_if(done);
        let offset = self.times(n, u64::from(size));
        let addr = self.b.ins().iadd(base, offset);
        let part = self.b.ins().bload_from(mem, ty, addr, 0);
        let (b, t) = (self.b.use_var(before), self.b.use_var(total));
        let (with, t) = (self.two(r, b, part), self.two(r, t, part));
        let earlier = self.b.ins().icmp(IntCC::UnsignedLessThan, n, id);
        let b = self.choose(earlier, with, b)?;
        let one = self.same(n, 1);
        let n = self.b.ins().iadd(n, one);
        self.b.def_var_all_lanes(before, b);
        self.b.def_var_all_lanes(total, t);
        self.b.def_var_all_lanes(next, n);
        self.b.uniform_loop_end();
        // The area may be written again only after all have read.
        self.wait();
        let (before, total) = (self.b.use_var(before), self.b.use_var(total));
        Ok(match op {
            GroupOperation::Reduce => total,
            GroupOperation::InclusiveScan => {
                let v = self.b.simd_scan(r.scan, v);
                self.two(r, before, v)
            }
            _ => {
                let v = self.b.simd_scan_exclusive(r.scan, v);
                self.two(r, before, v)
            }
        })
    }

    fn vote_of_all(&mut self, v: Value, any: bool) -> Result<Value, Error> {
        let v = self.number_of(v)?;
        let r = if any {
            reduction(Op::GroupNonUniformBitwiseOr)
        } else {
            reduction(Op::GroupNonUniformBitwiseAnd)
        };
        let r = r.ok_or_else(|| Error::internal("no such reduction"))?;
        let v = self.b.splat(v, self.simd);
        let v = self.reduction_of_all(r, v, GroupOperation::Reduce)?;
        let zero = self.same(v, 0);
        Ok(self.b.ins().icmp(IntCC::NotEqual, v, zero))
    }

    /// Broadcast to a work-group: the selected work-item writes to SLM, and all read.
    fn broadcast_to_all(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let (value, number) = (self.operand(inst, 1)?, self.operand(inst, 2)?);
        let (values, numbers) = (self.get(value)?, self.get(number)?);
        let dims = [
            gantry_codegen::ir::Dim::X,
            gantry_codegen::ir::Dim::Y,
            gantry_codegen::ir::Dim::Z,
        ];
        let mut here: Option<Value> = None;
        for (n, dim) in numbers.iter().zip(dims) {
            let n = self.lane_number(*n)?;
            let id = self.b.ins().local_id(dim);
            let id = self.resize(id, Scalar::I32, false);
            let n = self.b.splat(n, self.simd);
            let same = self.b.ins().icmp(IntCC::Equal, id, n);
            here = Some(here.map_or(same, |h| self.b.ins().band(h, same)));
        }
        let here = here.ok_or_else(|| Error::malformed("a broadcast from nowhere"))?;
        let at = self.area()?;
        let mem = MemFlags::of(Space::Slm);
        let mut out = Leaves::new();
        for v in values {
            let v = self.b.splat(v, self.simd);
            let base = self.number(Scalar::I32, u64::from(at));
            let addr = self.b.splat(base, self.simd);
            let mask = self.b.exec_mask();
            let mask = self.b.ins().band(mask, here);
            self.b.ins().store_to(mem, v, addr, 0, Some(mask));
            self.wait();
            let ty = self.lanes(self.b.ty(v).scalar(), 1);
            out.push(self.b.ins().bload_from(mem, ty, base, 0));
            self.wait();
        }
        Ok(out)
    }

    /// Address of a block, from the first lane.
    fn block(&mut self, id: Id, access: &super::Access) -> Result<Value, Error> {
        let v = self.address(id, access)?;
        Ok(match self.b.ty(v).lanes() {
            1 => v,
            _ => self.b.lane(v, 0),
        })
    }

    fn block_read(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let pointer = self.operand(inst, 0)?;
        let (class, of) = self.pointer(pointer)?;
        let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
        let (scalar, count) = (self.scalar(ty)?, self.components(ty));
        let access = self.access(class, of, &[])?;
        let addr = self.block(pointer, &access)?;
        // Alignment that cl_intel_subgroups requires for reads.
        let mem = self
            .with_cache_policy(pointer, Opcode::Bload, access.mem)
            .aligned(access.mem.alignment(scalar.bytes()).max(4));
        let row = self.lanes(scalar, self.simd);
        let whole = self.lanes(scalar, self.simd * count);
        let all = self.b.ins().bload_from(mem, whole, addr, 0);
        let mut out = Leaves::new();
        for n in 0..count {
            let region = Region::contiguous(self.simd as u16, (n * row.bytes()) as u16);
            out.push(match count {
                1 => all,
                _ => self.b.ins().rdregion(row, all, region),
            });
        }
        Ok(out)
    }

    fn block_write(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let (pointer, value) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        let (class, of) = self.pointer(pointer)?;
        let mut access = self.access(class, of, &[])?;
        access.mem.constant = false;
        let addr = self.block(pointer, &access)?;
        let mut rows = Leaves::new();
        for v in self.get(value)? {
            rows.push(self.b.splat(v, self.simd));
        }
        let Some(scalar) = rows.first().map(|v| self.b.ty(*v).scalar()) else {
            return Ok(Leaves::new());
        };
        // Alignment that cl_intel_subgroups requires for writes.
        let mem = self
            .with_cache_policy(pointer, Opcode::Bstore, access.mem)
            .aligned(access.mem.alignment(scalar.bytes()).max(16));
        let all = self.join(scalar, &rows, self.simd);
        self.b.ins().bstore_to(mem, all, addr, 0);
        Ok(Leaves::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_info::is_reduction;

    #[test]
    fn every_reduction_has_opcodes() {
        for op in (0..1 << 13).filter_map(Op::from_u32) {
            assert_eq!(reduction(op).is_some(), is_reduction(op), "{op:?}");
        }
    }
}
