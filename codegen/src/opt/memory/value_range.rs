//! Value ranges: bounds of integers over all lanes.
//!
//! Ranges come from constants, extensions, masks, shifts, quotients and minima, and from the
//! launch. A work-item's global id and the terms of it are below 2^31, since [a
//! launch](../../../docs/ir.md) has no more work-items in a dimension. A sum or product has a range
//! if it cannot wrap; values that loops carry have none. Pointer arguments count as 0, so that an
//! address has the range of its offset from the buffer's start. `of_numbers` leaves that out.
//!
//! Each value is visited once, [`DEPTH`] operands deep: the work is linear.

use crate::ir::{
    ArgKind, ControlFlow, Dim, FuncKind, Function, Inst, InstData, Opcode, Value, ValueDef,
};
use cranelift_entity::SecondaryMap;

/// Maximal depth of operands that are followed.
const DEPTH: u32 = 48;
/// Maximal local id, and maximal group size.
const LOCAL: i64 = i16::MAX as i64;
/// Maximal global id.
const GLOBAL: i64 = i32::MAX as i64;

/// Range of signed numbers, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::opt) struct ValueRange {
    /// Minimum.
    pub(in crate::opt) least: i64,
    /// Maximum.
    pub(in crate::opt) most: i64,
}

impl ValueRange {
    fn of(least: i64, most: i64) -> ValueRange {
        ValueRange { least, most }
    }

    /// Returns the range of all integers of this width.
    fn all(bits: u32) -> ValueRange {
        let most = i64::MAX >> (64 - bits.clamp(1, 64));
        ValueRange::of(-most - 1, most)
    }

    /// Returns the range, or that of all integers of this width if it does not fit.
    fn within(least: i128, most: i128, bits: u32) -> ValueRange {
        let all = ValueRange::all(bits);
        if least >= i128::from(all.least) && most <= i128::from(all.most) {
            ValueRange::of(least as i64, most as i64)
        } else {
            all
        }
    }

    /// Returns true if no number is negative.
    pub(in crate::opt) fn positive(self) -> bool {
        self.least >= 0
    }

    fn or(self, other: ValueRange) -> ValueRange {
        ValueRange::of(self.least.min(other.least), self.most.max(other.most))
    }
}

/// Terms of a work-item's global id: group id times group size, local id, and global offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct GlobalIdTerms {
    dim: Dim,
    terms: u8,
}

const TERM_GROUP: u8 = 1;
const TERM_LOCAL: u8 = 2;
const TERM_OFFSET: u8 = 4;

/// Value ranges of a function, computed on demand.
pub(in crate::opt) struct ValueRanges<'f> {
    func: &'f Function,
    cfg: &'f ControlFlow,
    known: SecondaryMap<Value, Option<ValueRange>>,
    /// Set if pointer arguments count as 0.
    from_pointers: bool,
}

impl<'f> ValueRanges<'f> {
    pub(in crate::opt) fn new(func: &'f Function, cfg: &'f ControlFlow) -> Self {
        ValueRanges {
            func,
            cfg,
            known: SecondaryMap::new(),
            from_pointers: true,
        }
    }

    /// Starts analysis with pointer arguments of any value.
    pub(in crate::opt) fn of_numbers(func: &'f Function, cfg: &'f ControlFlow) -> Self {
        ValueRanges {
            from_pointers: false,
            ..ValueRanges::new(func, cfg)
        }
    }

    /// Returns the range of an integer.
    pub(in crate::opt) fn of(&mut self, v: Value) -> ValueRange {
        self.range(v, DEPTH)
    }

    fn bits(&self, v: Value) -> u32 {
        self.func.dfg.ty(v).scalar().bits()
    }

    fn range(&mut self, v: Value, depth: u32) -> ValueRange {
        let all = ValueRange::all(self.bits(v));
        if let Some(known) = self.known[v] {
            return known;
        }
        if depth == 0 || !self.func.dfg.ty(v).scalar().is_int() {
            return all;
        }
        // Values that are visited again in the meantime are carried by a loop.
        self.known[v] = Some(all);
        let range = match self.global_id_terms(v, depth) {
            Some(n) if n.terms == TERM_LOCAL => {
                let (least, most) = launch_range(self.func, Opcode::LocalId, n.dim);
                ValueRange::of(least, most)
            }
            Some(_) => ValueRange::of(0, GLOBAL),
            None => match self.func.dfg.def(v) {
                ValueDef::Result(inst, 0) => self.result(inst, v, depth - 1),
                ValueDef::Result(..) => all,
                ValueDef::Param(block, n) => self.parameter(block, n, depth - 1).unwrap_or(all),
            },
        };
        self.known[v] = Some(range);
        range
    }

    fn parameter(&mut self, block: crate::ir::Block, n: u16, depth: u32) -> Option<ValueRange> {
        let n = usize::from(n);
        if self.func.layout.entry() == Some(block) {
            let is_pointer = self.func.sig.params.get(n)?.kind == ArgKind::Ptr;
            return (is_pointer && self.from_pointers).then(|| ValueRange::of(0, 0));
        }
        let mut range: Option<ValueRange> = None;
        let cfg = self.cfg;
        for &(_, inst) in cfg.preds(block) {
            for dest in self.func.dfg.destinations(inst) {
                if dest.block == block {
                    let arg = *dest.args.as_slice(&self.func.dfg.pool).get(n)?;
                    let one = self.range(arg, depth);
                    range = Some(range.map_or(one, |r| r.or(one)));
                }
            }
        }
        range
    }

    /// Returns the range of a value as an unsigned number.
    fn unsigned(&mut self, v: Value, depth: u32) -> (u64, u64) {
        let r = self.range(v, depth);
        if r.positive() {
            (r.least as u64, r.most as u64)
        } else {
            (0, u64::MAX >> (64 - self.bits(v).clamp(1, 64)))
        }
    }

    fn constant(&self, v: Value) -> Option<u64> {
        self.func.dfg.same_constant(v)
    }

    fn result(&mut self, inst: Inst, v: Value, depth: u32) -> ValueRange {
        let bits = self.bits(v);
        let all = ValueRange::all(bits);
        match *self.func.dfg.data(inst) {
            InstData::Imm { bits: number, .. } => {
                let number = signed(number, bits);
                ValueRange::of(number, number)
            }
            InstData::ImmVec { constant, .. } => {
                let lanes = self.func.dfg.constant(constant).iter();
                let lanes = lanes
                    .map(|&l| signed(l, bits))
                    .map(|l| ValueRange::of(l, l));
                lanes.reduce(ValueRange::or).unwrap_or(all)
            }
            // An undefined value may take any value.
            InstData::Nullary {
                opcode: Opcode::Undef,
            } => ValueRange::of(0, 0),
            InstData::Launch { opcode, dim } => {
                let (least, most) = launch_range(self.func, opcode, dim);
                ValueRange::within(least.into(), most.into(), bits)
            }
            InstData::Unary { opcode, arg } => match opcode {
                Opcode::Uextend => {
                    let (least, most) = self.unsigned(arg, depth);
                    ValueRange::within(least.into(), most.into(), bits)
                }
                Opcode::Sextend => self.range(arg, depth),
                Opcode::Ireduce => {
                    let r = self.range(arg, depth);
                    ValueRange::within(r.least.into(), r.most.into(), bits)
                }
                Opcode::Ineg => {
                    let r = self.range(arg, depth);
                    ValueRange::within(-i128::from(r.most), -i128::from(r.least), bits)
                }
                Opcode::Iabs => {
                    let r = self.range(arg, depth);
                    let (a, b) = (i128::from(r.least), i128::from(r.most));
                    let least = if a <= 0 && b >= 0 {
                        0
                    } else {
                        a.abs().min(b.abs())
                    };
                    ValueRange::within(least, a.abs().max(b.abs()), bits)
                }
                Opcode::Popcnt | Opcode::Clz | Opcode::Ctz => ValueRange::of(0, i64::from(bits)),
                _ => all,
            },
            InstData::Binary { opcode, args } => self.binary(opcode, args, bits, depth),
            InstData::Ternary {
                opcode: Opcode::Select,
                args,
            } => self.range(args[1], depth).or(self.range(args[2], depth)),
            InstData::RdRegion { arg, .. } => self.range(arg, depth),
            InstData::WrRegion { args, .. } => {
                self.range(args[0], depth).or(self.range(args[1], depth))
            }
            _ => all,
        }
    }

    fn binary(&mut self, opcode: Opcode, args: [Value; 2], bits: u32, depth: u32) -> ValueRange {
        let all = ValueRange::all(bits);
        let by = self.constant(args[1]);
        if let (Some(k), Opcode::Ushr | Opcode::Udiv | Opcode::Urem) = (by, opcode) {
            let (_, most) = self.unsigned(args[0], depth);
            let most = match opcode {
                Opcode::Ushr => most >> (k % u64::from(bits)),
                Opcode::Udiv => most.checked_div(k).unwrap_or(u64::MAX),
                // A divisor of zero gives any value.
                _ => k.checked_sub(1).map_or(u64::MAX, |k| most.min(k)),
            };
            return ValueRange::within(0, most.into(), bits);
        }
        let (a, b) = (self.range(args[0], depth), self.range(args[1], depth));
        let both = a.positive() && b.positive();
        let wide = |x: i64, y: i64, op: fn(i128, i128) -> i128| op(x.into(), y.into());
        match opcode {
            Opcode::Iadd => ValueRange::within(
                wide(a.least, b.least, |x, y| x + y),
                wide(a.most, b.most, |x, y| x + y),
                bits,
            ),
            Opcode::Isub => ValueRange::within(
                wide(a.least, b.most, |x, y| x - y),
                wide(a.most, b.least, |x, y| x - y),
                bits,
            ),
            Opcode::Imul => {
                let ends = [
                    (a.least, b.least),
                    (a.least, b.most),
                    (a.most, b.least),
                    (a.most, b.most),
                ];
                let products = ends.map(|(x, y)| wide(x, y, |x, y| x * y));
                let least = products.into_iter().fold(products[0], i128::min);
                let most = products.into_iter().fold(products[0], i128::max);
                ValueRange::within(least, most, bits)
            }
            Opcode::SmulWide => ValueRange::within(
                wide(a.least, b.least, |x, y| x * y),
                wide(a.most, b.most, |x, y| x * y),
                if both { bits } else { return all },
            ),
            Opcode::Ishl => match by {
                Some(k) => {
                    let by = 1i128 << (k % u64::from(bits));
                    ValueRange::within(i128::from(a.least) * by, i128::from(a.most) * by, bits)
                }
                None => all,
            },
            Opcode::Sshr => match by {
                Some(k) => {
                    let k = k % u64::from(bits);
                    ValueRange::of(a.least >> k, a.most >> k)
                }
                None => ValueRange::of(a.least.min(0), a.most.max(0)),
            },
            Opcode::Band => match (a.positive(), b.positive()) {
                (true, true) => ValueRange::of(0, a.most.min(b.most)),
                (true, false) => ValueRange::of(0, a.most),
                (false, true) => ValueRange::of(0, b.most),
                (false, false) => all,
            },
            Opcode::Bor | Opcode::Bxor if both => {
                let most = (a.most | b.most) as u64;
                let ones = most.checked_ilog2().map_or(0, |n| u64::MAX >> (63 - n));
                ValueRange::of(0, ones as i64)
            }
            Opcode::Smin => ValueRange::of(a.least.min(b.least), a.most.min(b.most)),
            Opcode::Smax => ValueRange::of(a.least.max(b.least), a.most.max(b.most)),
            Opcode::Umin => match (a.positive(), b.positive()) {
                (true, true) => ValueRange::of(a.least.min(b.least), a.most.min(b.most)),
                (true, false) => ValueRange::of(0, a.most),
                (false, true) => ValueRange::of(0, b.most),
                (false, false) => all,
            },
            Opcode::Umax if both => ValueRange::of(a.least.max(b.least), a.most.max(b.most)),
            // A divisor of zero gives any value.
            Opcode::Udiv | Opcode::Sdiv if both && b.least > 0 => ValueRange::of(0, a.most),
            Opcode::Urem | Opcode::Srem if both && b.least > 0 => {
                ValueRange::of(0, a.most.min(b.most - 1))
            }
            _ => all,
        }
    }

    /// Returns the terms of the global id that a value consists of; `None` if it has others.
    fn global_id_terms(&self, v: Value, depth: u32) -> Option<GlobalIdTerms> {
        if depth == 0 {
            return None;
        }
        let of = |dim, terms| Some(GlobalIdTerms { dim, terms });
        match *self.func.dfg.data(self.func.dfg.def_inst(v)?) {
            InstData::Launch { opcode, dim } => match opcode {
                Opcode::LocalId => of(dim, TERM_LOCAL),
                Opcode::GlobalOffset => of(dim, TERM_OFFSET),
                _ => None,
            },
            InstData::Unary {
                opcode: Opcode::Uextend,
                arg,
            }
            | InstData::RdRegion { arg, index: _, .. } => self.global_id_terms(arg, depth - 1),
            InstData::Binary {
                opcode: Opcode::Iadd,
                args: [a, b],
            } if self.bits(v) >= 32 => {
                let (a, b) = (
                    self.global_id_terms(a, depth - 1)?,
                    self.global_id_terms(b, depth - 1)?,
                );
                let terms = a.terms | b.terms;
                (a.dim == b.dim && a.terms & b.terms == 0).then_some(GlobalIdTerms { terms, ..a })
            }
            InstData::Ternary {
                opcode: Opcode::Imad,
                args: [a, b, c],
            } if self.bits(v) >= 32 => {
                let dim = self.group(a, b).or(self.group(b, a))?;
                let c = self.global_id_terms(c, depth - 1)?;
                let terms = c.terms | TERM_GROUP;
                (c.dim == dim && c.terms & TERM_GROUP == 0).then_some(GlobalIdTerms { dim, terms })
            }
            InstData::Binary { opcode, args } if self.bits(v) >= 32 => {
                let dim = match opcode {
                    Opcode::Imul => self
                        .group(args[0], args[1])
                        .or(self.group(args[1], args[0])),
                    Opcode::Ishl => {
                        let size = self
                            .constant(args[1])
                            .and_then(|k| 1u64.checked_shl(k as u32));
                        let dim = self.launch(args[0], Opcode::GroupId);
                        dim.filter(|&d| size.is_some() && required_group_size(self.func, d) == size)
                    }
                    _ => None,
                };
                of(dim?, TERM_GROUP)
            }
            _ => None,
        }
    }

    /// Returns the dimension in which the values are the group id and the group size.
    fn group(&self, number: Value, size: Value) -> Option<Dim> {
        let dim = self.launch(number, Opcode::GroupId)?;
        let same = self.launch(size, Opcode::LocalSize) == Some(dim)
            || self.constant(size).is_some()
                && self.constant(size) == required_group_size(self.func, dim);
        same.then_some(dim)
    }

    /// Returns the dimension of a launch value, through extensions and splats.
    fn launch(&self, mut v: Value, fact: Opcode) -> Option<Dim> {
        for _ in 0..4 {
            match *self.func.dfg.data(self.func.dfg.def_inst(v)?) {
                InstData::Launch { opcode, dim } => return (opcode == fact).then_some(dim),
                InstData::Unary {
                    opcode: Opcode::Uextend,
                    arg,
                }
                | InstData::RdRegion { arg, .. } => v = arg,
                _ => return None,
            }
        }
        None
    }
}

/// Returns the least and the greatest number that a query of the launch gives.
pub(in crate::opt) fn launch_range(func: &Function, opcode: Opcode, dim: Dim) -> (i64, i64) {
    let size = required_group_size(func, dim).map(|size| size as i64);
    match (opcode, size) {
        (Opcode::LocalId, size) => (0, LOCAL.min(size.unwrap_or(LOCAL).saturating_sub(1)).max(0)),
        (Opcode::LocalSize, Some(size)) => (size, size),
        (Opcode::LocalSize, None) => (0, LOCAL),
        _ => (0, GLOBAL),
    }
}

/// Returns the group size that a kernel requires.
fn required_group_size(func: &Function, dim: Dim) -> Option<u64> {
    match func.kind {
        FuncKind::Kernel { group_size, .. } => group_size.map(|s| s[dim.index()].into()),
        FuncKind::Subroutine => None,
    }
}

/// Sign-extends an integer of `bits` bits.
fn signed(number: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    (number << shift) as i64 >> shift
}
