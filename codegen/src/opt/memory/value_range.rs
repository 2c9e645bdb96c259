//! Ranges of integers: between which numbers a value is, in every lane.
//!
//! What is known comes from constants, extensions, masks, shifts, quotients and minima, and from
//! the launch: a work-item's global number and what it is a sum of are below 2^31, as [a
//! launch](../../../docs/ir.md) has no more work-items in a dimension. A sum or product has a range
//! where it cannot wrap around; what a loop carries has none. Pointer arguments count as 0, so that
//! an address has the range of what is added to its buffer's begin, unless numbers alone are asked
//! for.
//!
//! Each value is looked at once, [`DEPTH`] operands deep: the work is linear.

use crate::ir::{
    ArgKind, ControlFlow, Dim, FuncKind, Function, Inst, InstData, Opcode, Value, ValueDef,
};
use cranelift_entity::SecondaryMap;

/// How far operands are followed.
const DEPTH: u32 = 48;
/// The most that a local number and a size of a group are.
const LOCAL: i64 = i16::MAX as i64;
/// The most that is known of numbers of the launch.
const GLOBAL: i64 = i32::MAX as i64;

/// Signed numbers, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    /// The least.
    pub(super) least: i64,
    /// The most.
    pub(super) most: i64,
}

impl Range {
    fn of(least: i64, most: i64) -> Range {
        Range { least, most }
    }

    /// Every integer of so many bits.
    fn all(bits: u32) -> Range {
        let most = i64::MAX >> (64 - bits.clamp(1, 64));
        Range::of(-most - 1, most)
    }

    /// The range, or every integer of so many bits where it has others.
    fn within(least: i128, most: i128, bits: u32) -> Range {
        let all = Range::all(bits);
        if least >= i128::from(all.least) && most <= i128::from(all.most) {
            Range::of(least as i64, most as i64)
        } else {
            all
        }
    }

    /// Whether none is negative.
    pub(super) fn positive(self) -> bool {
        self.least >= 0
    }

    fn or(self, other: Range) -> Range {
        Range::of(self.least.min(other.least), self.most.max(other.most))
    }
}

/// What of a work-item's global number a value is: the number of its group times the group's size,
/// its number in that, the launch's offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Numbers {
    dim: Dim,
    parts: u8,
}

const OF_GROUP: u8 = 1;
const OF_LOCAL: u8 = 2;
const OF_OFFSET: u8 = 4;

/// The ranges of a function's values, as far as they were asked for.
pub(super) struct Ranges<'f> {
    func: &'f Function,
    cfg: &'f ControlFlow,
    known: SecondaryMap<Value, Option<Range>>,
    /// Whether pointer arguments count as 0.
    from_pointers: bool,
}

impl<'f> Ranges<'f> {
    pub(super) fn new(func: &'f Function, cfg: &'f ControlFlow) -> Self {
        Ranges {
            func,
            cfg,
            known: SecondaryMap::new(),
            from_pointers: true,
        }
    }

    /// Those of numbers: a pointer argument is one of any value.
    pub(super) fn of_numbers(func: &'f Function, cfg: &'f ControlFlow) -> Self {
        Ranges {
            from_pointers: false,
            ..Ranges::new(func, cfg)
        }
    }

    /// The range of an integer.
    pub(super) fn of(&mut self, v: Value) -> Range {
        self.range(v, DEPTH)
    }

    fn bits(&self, v: Value) -> u32 {
        self.func.dfg.ty(v).scalar().bits()
    }

    fn range(&mut self, v: Value, depth: u32) -> Range {
        let all = Range::all(self.bits(v));
        if let Some(known) = self.known[v] {
            return known;
        }
        if depth == 0 || !self.func.dfg.ty(v).scalar().is_int() {
            return all;
        }
        // What is met again on the way is what a loop carries.
        self.known[v] = Some(all);
        let range = match self.numbers(v, depth) {
            Some(n) if n.parts == OF_LOCAL => self.local_number(n.dim),
            Some(_) => Range::of(0, GLOBAL),
            None => match self.func.dfg.def(v) {
                ValueDef::Result(inst, 0) => self.result(inst, v, depth - 1),
                ValueDef::Result(..) => all,
                ValueDef::Param(block, n) => self.parameter(block, n, depth - 1).unwrap_or(all),
            },
        };
        self.known[v] = Some(range);
        range
    }

    fn parameter(&mut self, block: crate::ir::Block, n: u16, depth: u32) -> Option<Range> {
        let n = usize::from(n);
        if self.func.layout.entry() == Some(block) {
            let is_pointer = self.func.sig.params.get(n)?.kind == ArgKind::Ptr;
            return (is_pointer && self.from_pointers).then(|| Range::of(0, 0));
        }
        let mut range: Option<Range> = None;
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

    /// A number without its sign: of a range as it is where none is negative.
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

    fn result(&mut self, inst: Inst, v: Value, depth: u32) -> Range {
        let bits = self.bits(v);
        let all = Range::all(bits);
        match *self.func.dfg.data(inst) {
            InstData::Imm { bits: number, .. } => {
                let number = signed(number, bits);
                Range::of(number, number)
            }
            InstData::ImmVec { constant, .. } => {
                let lanes = self.func.dfg.constant(constant).iter();
                let lanes = lanes.map(|&l| signed(l, bits)).map(|l| Range::of(l, l));
                lanes.reduce(Range::or).unwrap_or(all)
            }
            // Any value may be taken for it.
            InstData::Nullary {
                opcode: Opcode::Undef,
            } => Range::of(0, 0),
            InstData::Launch { opcode, dim } => match opcode {
                Opcode::LocalId => self.local_number(dim),
                Opcode::LocalSize => match self.required(dim) {
                    Some(size) => Range::within(size.into(), size.into(), bits),
                    None => Range::of(0, LOCAL),
                },
                _ => Range::of(0, GLOBAL),
            },
            InstData::Unary { opcode, arg } => match opcode {
                Opcode::Uextend => {
                    let (least, most) = self.unsigned(arg, depth);
                    Range::within(least.into(), most.into(), bits)
                }
                Opcode::Sextend => self.range(arg, depth),
                Opcode::Ireduce => {
                    let r = self.range(arg, depth);
                    Range::within(r.least.into(), r.most.into(), bits)
                }
                Opcode::Popcnt | Opcode::Clz | Opcode::Ctz => Range::of(0, i64::from(bits)),
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

    fn binary(&mut self, opcode: Opcode, args: [Value; 2], bits: u32, depth: u32) -> Range {
        let all = Range::all(bits);
        let by = self.constant(args[1]);
        if let (Some(k), Opcode::Ushr | Opcode::Udiv | Opcode::Urem) = (by, opcode) {
            let (_, most) = self.unsigned(args[0], depth);
            let most = match opcode {
                Opcode::Ushr => most >> (k % u64::from(bits)),
                Opcode::Udiv => most.checked_div(k).unwrap_or(u64::MAX),
                // A divisor of zero gives any value.
                _ => k.checked_sub(1).map_or(u64::MAX, |k| most.min(k)),
            };
            return Range::within(0, most.into(), bits);
        }
        let (a, b) = (self.range(args[0], depth), self.range(args[1], depth));
        let both = a.positive() && b.positive();
        let wide = |x: i64, y: i64, op: fn(i128, i128) -> i128| op(x.into(), y.into());
        match opcode {
            Opcode::Iadd => Range::within(
                wide(a.least, b.least, |x, y| x + y),
                wide(a.most, b.most, |x, y| x + y),
                bits,
            ),
            Opcode::Isub => Range::within(
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
                Range::within(least, most, bits)
            }
            Opcode::SmulWide => Range::within(
                wide(a.least, b.least, |x, y| x * y),
                wide(a.most, b.most, |x, y| x * y),
                if both { bits } else { return all },
            ),
            Opcode::Ishl => match by {
                Some(k) => {
                    let by = 1i128 << (k % u64::from(bits));
                    Range::within(i128::from(a.least) * by, i128::from(a.most) * by, bits)
                }
                None => all,
            },
            Opcode::Sshr => match by {
                Some(k) => {
                    let k = k % u64::from(bits);
                    Range::of(a.least >> k, a.most >> k)
                }
                None => Range::of(a.least.min(0), a.most.max(0)),
            },
            Opcode::Band => match (a.positive(), b.positive()) {
                (true, true) => Range::of(0, a.most.min(b.most)),
                (true, false) => Range::of(0, a.most),
                (false, true) => Range::of(0, b.most),
                (false, false) => all,
            },
            Opcode::Bor | Opcode::Bxor if both => {
                let most = (a.most | b.most) as u64;
                let ones = most.checked_ilog2().map_or(0, |n| u64::MAX >> (63 - n));
                Range::of(0, ones as i64)
            }
            Opcode::Smin => Range::of(a.least.min(b.least), a.most.min(b.most)),
            Opcode::Smax => Range::of(a.least.max(b.least), a.most.max(b.most)),
            Opcode::Umin => match (a.positive(), b.positive()) {
                (true, true) => Range::of(a.least.min(b.least), a.most.min(b.most)),
                (true, false) => Range::of(0, a.most),
                (false, true) => Range::of(0, b.most),
                (false, false) => all,
            },
            Opcode::Umax if both => Range::of(a.least.max(b.least), a.most.max(b.most)),
            // A divisor of zero gives any value.
            Opcode::Udiv | Opcode::Sdiv if both && b.least > 0 => Range::of(0, a.most),
            Opcode::Urem | Opcode::Srem if both && b.least > 0 => {
                Range::of(0, a.most.min(b.most - 1))
            }
            _ => all,
        }
    }

    /// What of the global number a value is; none if it is not that alone.
    fn numbers(&self, v: Value, depth: u32) -> Option<Numbers> {
        if depth == 0 {
            return None;
        }
        let of = |dim, parts| Some(Numbers { dim, parts });
        match *self.func.dfg.data(self.func.dfg.def_inst(v)?) {
            InstData::Launch { opcode, dim } => match opcode {
                Opcode::LocalId => of(dim, OF_LOCAL),
                Opcode::GlobalOffset => of(dim, OF_OFFSET),
                _ => None,
            },
            InstData::Unary {
                opcode: Opcode::Uextend,
                arg,
            }
            | InstData::RdRegion { arg, index: _, .. } => self.numbers(arg, depth - 1),
            InstData::Binary {
                opcode: Opcode::Iadd,
                args: [a, b],
            } if self.bits(v) >= 32 => {
                let (a, b) = (self.numbers(a, depth - 1)?, self.numbers(b, depth - 1)?);
                let parts = a.parts | b.parts;
                (a.dim == b.dim && a.parts & b.parts == 0).then_some(Numbers { parts, ..a })
            }
            InstData::Ternary {
                opcode: Opcode::Imad,
                args: [a, b, c],
            } if self.bits(v) >= 32 => {
                let dim = self.group(a, b).or(self.group(b, a))?;
                let c = self.numbers(c, depth - 1)?;
                let parts = c.parts | OF_GROUP;
                (c.dim == dim && c.parts & OF_GROUP == 0).then_some(Numbers { dim, parts })
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
                        dim.filter(|&d| size.is_some() && self.required(d) == size)
                    }
                    _ => None,
                };
                of(dim?, OF_GROUP)
            }
            _ => None,
        }
    }

    /// The dimension in which one value is a group's number and the other the groups' size.
    fn group(&self, number: Value, size: Value) -> Option<Dim> {
        let dim = self.launch(number, Opcode::GroupId)?;
        let same = self.launch(size, Opcode::LocalSize) == Some(dim)
            || self.constant(size).is_some() && self.constant(size) == self.required(dim);
        same.then_some(dim)
    }

    /// The dimension of a fact of the launch, which may be extended or spread.
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

    /// A number in a group.
    fn local_number(&self, dim: Dim) -> Range {
        let size = self.required(dim).map_or(LOCAL, |size| size as i64);
        Range::of(0, LOCAL.min(size.saturating_sub(1)).max(0))
    }

    /// The size of groups that the kernel asks for.
    fn required(&self, dim: Dim) -> Option<u64> {
        match self.func.kind {
            FuncKind::Kernel { group_size, .. } => group_size.map(|s| s[dim.index()].into()),
            FuncKind::Subroutine => None,
        }
    }

    /// Whether a value is a multiple of four, pointers taken for such.
    pub(super) fn is_of_dwords(&self, v: Value) -> bool {
        self.multiple(v, 16)
    }

    fn multiple(&self, v: Value, depth: u32) -> bool {
        let inst = match self.func.dfg.def(v) {
            ValueDef::Param(block, n) => {
                let entry = self.func.layout.entry() == Some(block);
                let param = self.func.sig.params.get(usize::from(n));
                return entry && param.is_some_and(|p| p.kind == ArgKind::Ptr);
            }
            ValueDef::Result(inst, _) => inst,
        };
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let constant = |v: Value| self.constant(v);
        match *self.func.dfg.data(inst) {
            InstData::Imm { bits, .. } => bits % 4 == 0,
            InstData::Unary {
                opcode: Opcode::Uextend | Opcode::Sextend,
                arg,
            }
            | InstData::RdRegion { arg, .. } => self.multiple(arg, depth),
            InstData::Binary { opcode, args } => match opcode {
                Opcode::Iadd | Opcode::Isub => args.iter().all(|&a| self.multiple(a, depth)),
                Opcode::Imul => args.iter().any(|&a| self.multiple(a, depth)),
                Opcode::Ishl => constant(args[1]).is_some_and(|k| (2..32).contains(&k)),
                Opcode::SmulWide | Opcode::UmulWide => args
                    .iter()
                    .any(|&a| constant(a).is_some_and(|k| k % 4 == 0)),
                _ => false,
            },
            InstData::Ternary {
                opcode: Opcode::Select,
                args,
            } => args[1..].iter().all(|&a| self.multiple(a, depth)),
            _ => false,
        }
    }
}

/// Bits of an integer of so many, with its sign.
fn signed(number: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    (number << shift) as i64 >> shift
}
