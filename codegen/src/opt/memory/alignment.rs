//! Alignment: what is known of the lowest bits of integers, over all lanes.
//!
//! A value has a number of known lowest bits and these bits. A multiple of 32 has five, all zero;
//! one more than a multiple of 4 has two, `01`. Constants, sums, products, shifts, logic and casts
//! are followed, and block parameters: a counter that steps by 32 from 0 is a multiple of 32.
//!
//! The analysis is lazy. A query collects the values that the asked one depends on. Then it
//! assumes all bits of those and takes back what some operand contradicts, until nothing changes.
//! Each value loses bits at most [`BITS`] times, and results are kept: the work of all queries is
//! linear in operands.

use crate::ir::{ArgKind, Block, ControlFlow, Function, Inst, InstData, Opcode, Value, ValueDef};
use crate::sized;
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Number of lowest bits that are followed: those of an index.
const BITS: u32 = 16;
/// Known lowest bits of a pointer argument, all zero: it is a multiple of a dword.
const POINTER: u32 = 2;

/// Known lowest bits of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Alignment {
    /// Number of known bits.
    bits: u32,
    /// The bits. Others are zero.
    low: u32,
}

impl Alignment {
    /// Nothing is known.
    pub(crate) const UNKNOWN: Alignment = Alignment { bits: 0, low: 0 };

    fn new(bits: u32, low: u64) -> Alignment {
        let bits = bits.min(BITS);
        Alignment {
            bits,
            low: low as u32 & ((1 << bits) - 1),
        }
    }

    /// Returns the number of known lowest bits.
    pub(crate) fn bits(self) -> u32 {
        self.bits
    }

    /// Returns the number modulo 2 to the number of known bits.
    pub(crate) fn residue(self) -> u32 {
        self.low
    }

    /// Returns true for multiples of 2 to the power of `log2`.
    pub(crate) fn is_multiple(self, log2: u32) -> bool {
        self.zeros() >= log2
    }

    /// Returns the number of lowest bits that are known to be zero.
    fn zeros(self) -> u32 {
        self.low.trailing_zeros().min(self.bits)
    }

    fn low(self) -> u64 {
        self.low.into()
    }

    /// Returns what holds for both.
    fn meet(self, other: Alignment) -> Alignment {
        let same = (self.low ^ other.low).trailing_zeros();
        Alignment::new(self.bits.min(other.bits).min(same), self.low())
    }

    fn sum(self, other: Alignment) -> Alignment {
        let bits = self.bits.min(other.bits);
        Alignment::new(bits, self.low() + other.low())
    }

    fn negated(self) -> Alignment {
        Alignment::new(self.bits, self.low().wrapping_neg())
    }

    /// Returns the product. A factor's unknown part is a multiple of 2 to its known bits.
    fn product(self, other: Alignment) -> Alignment {
        let bits = (self.bits + other.zeros()).min(other.bits + self.zeros());
        Alignment::new(bits, self.low() * other.low())
    }

    fn shifted_left(self, by: u32) -> Alignment {
        Alignment::new(self.bits + by, self.low() << by.min(BITS))
    }

    fn shifted_right(self, by: u32) -> Alignment {
        Alignment::new(self.bits.saturating_sub(by), self.low() >> by.min(BITS))
    }

    /// Returns the result of an operation on bits. A bit is known if both are, or if one is the bit
    /// that alone decides.
    fn bitwise(self, other: Alignment, decides: Option<u32>, op: fn(u32, u32) -> u32) -> Alignment {
        let known = |a: Alignment, bit: u32| bit < a.bits;
        let alone = |a: Alignment, bit: u32| known(a, bit) && Some(a.low >> bit & 1) == decides;
        let is_known = |bit: &u32| {
            known(self, *bit) && known(other, *bit) || alone(self, *bit) || alone(other, *bit)
        };
        let bits = (0..BITS).take_while(is_known).count() as u32;
        Alignment::new(bits, op(self.low, other.low).into())
    }
}

/// Result for a value, or its state in a query.
#[derive(Clone, Copy, Default)]
enum Known {
    #[default]
    Never,
    /// Assumption. `None` if no operand has reached it.
    Assumed(Option<Alignment>),
    Result(Alignment),
}

/// Alignment of a function's values, computed on demand.
pub(crate) struct Alignments<'f> {
    func: &'f Function,
    cfg: &'f ControlFlow,
    known: SecondaryMap<Value, Known>,
    /// Values of the current query that read a value.
    users: FxHashMap<Value, SmallVec<[Value; 2]>>,
}

impl<'f> Alignments<'f> {
    pub(crate) fn new(func: &'f Function, cfg: &'f ControlFlow) -> Self {
        Alignments {
            func,
            cfg,
            known: sized(func.dfg.num_values()),
            users: FxHashMap::default(),
        }
    }

    /// Returns the alignment of an integer.
    pub(crate) fn of(&mut self, v: Value) -> Alignment {
        if let Known::Result(known) = self.known[v] {
            return known;
        }
        let mut all = vec![v];
        self.known[v] = Known::Assumed(None);
        let mut next = 0;
        while let Some(&user) = all.get(next) {
            next += 1;
            for operand in self.operands(user) {
                match self.known[operand] {
                    Known::Result(_) => continue,
                    Known::Assumed(_) => {}
                    Known::Never => {
                        self.known[operand] = Known::Assumed(None);
                        all.push(operand);
                    }
                }
                self.users.entry(operand).or_default().push(user);
            }
        }
        let mut work = all.clone();
        while let Some(v) = work.pop() {
            let Known::Assumed(before) = self.known[v] else {
                continue;
            };
            let Some(found) = self.found(v) else { continue };
            let after = before.map_or(found, |b| b.meet(found));
            if before != Some(after) {
                self.known[v] = Known::Assumed(Some(after));
                work.extend(self.users.get(&v).into_iter().flatten());
            }
        }
        self.users.clear();
        for v in all {
            if let Known::Assumed(found) = self.known[v] {
                self.known[v] = Known::Result(found.unwrap_or(Alignment::UNKNOWN));
            }
        }
        match self.known[v] {
            Known::Result(known) => known,
            _ => Alignment::UNKNOWN,
        }
    }

    /// Returns the operands that decide the alignment of a value.
    fn operands(&self, v: Value) -> SmallVec<[Value; 3]> {
        let dfg = &self.func.dfg;
        let inst = match dfg.def(v) {
            ValueDef::Param(block, n) => return self.arguments(block, n),
            ValueDef::Result(inst, 0) => inst,
            ValueDef::Result(..) => return SmallVec::new(),
        };
        match *dfg.data(inst) {
            InstData::Unary { arg, .. } | InstData::RdRegion { arg, .. } => {
                [arg].into_iter().collect()
            }
            InstData::WrRegion { args, .. } | InstData::Binary { args, .. } => {
                args.into_iter().collect()
            }
            InstData::Ternary {
                opcode: Opcode::Select,
                args,
            } => args.into_iter().skip(1).collect(),
            InstData::Ternary {
                opcode: Opcode::Imad,
                args,
            } => args.into_iter().collect(),
            _ => SmallVec::new(),
        }
    }

    /// Returns the values that a block parameter may have.
    fn arguments(&self, block: Block, n: u16) -> SmallVec<[Value; 3]> {
        let mut out = SmallVec::new();
        if self.func.layout.entry() == Some(block) {
            return out;
        }
        for &(_, inst) in self.cfg.preds(block) {
            let to_block = self.func.dfg.destinations(inst).iter();
            for dest in to_block.filter(|d| d.block == block) {
                let args = dest.args.as_slice(&self.func.dfg.pool);
                out.extend(args.get(usize::from(n)).copied());
            }
        }
        out
    }

    /// Returns what is assumed of a value; `None` if nothing has reached it.
    fn assumed(&self, v: Value) -> Option<Alignment> {
        match self.known[v] {
            Known::Result(known) => Some(known),
            Known::Assumed(assumed) => assumed,
            Known::Never => Some(Alignment::UNKNOWN),
        }
    }

    /// Returns the alignment of a value by those of its operands.
    fn found(&self, v: Value) -> Option<Alignment> {
        let bits = self.func.dfg.ty(v).scalar().bits();
        let found = match self.func.dfg.def(v) {
            ValueDef::Param(block, n) if self.func.layout.entry() == Some(block) => {
                let param = self.func.sig.params.get(usize::from(n));
                let pointer = param.is_some_and(|p| p.kind == ArgKind::Ptr);
                Alignment::new(if pointer { POINTER } else { 0 }, 0)
            }
            ValueDef::Param(block, n) => {
                let args = self.arguments(block, n);
                let reached = args.into_iter().filter_map(|v| self.assumed(v));
                reached.reduce(Alignment::meet)?
            }
            ValueDef::Result(inst, 0) => self.result(inst)?,
            ValueDef::Result(..) => Alignment::UNKNOWN,
        };
        // No more bits are known than a lane has.
        Some(Alignment::new(found.bits.min(bits), found.low()))
    }

    fn result(&self, inst: Inst) -> Option<Alignment> {
        let dfg = &self.func.dfg;
        let of = |v: Value| self.assumed(v);
        Some(match *dfg.data(inst) {
            InstData::Imm { bits, .. } => Alignment::new(BITS, bits),
            InstData::ImmVec { constant, .. } => {
                let lanes = dfg.constant(constant).iter();
                let lanes = lanes.map(|&bits| Alignment::new(BITS, bits));
                lanes.reduce(Alignment::meet)?
            }
            InstData::Unary { opcode, arg } => match opcode {
                // The bits above the narrower number are copies of its sign, or zeros.
                Opcode::Uextend | Opcode::Sextend | Opcode::Ireduce => of(arg)?,
                Opcode::Ineg => of(arg)?.negated(),
                _ => Alignment::UNKNOWN,
            },
            InstData::RdRegion { arg, .. } => of(arg)?,
            InstData::WrRegion { args, .. } => of(args[0])?.meet(of(args[1])?),
            InstData::Ternary {
                opcode: Opcode::Select,
                args,
            } => of(args[1])?.meet(of(args[2])?),
            InstData::Ternary {
                opcode: Opcode::Imad,
                args,
            } => of(args[0])?.product(of(args[1])?).sum(of(args[2])?),
            InstData::Binary {
                opcode,
                args: [a, b],
            } => {
                let width = dfg.ty(a).scalar().bits();
                let by = || Some(dfg.same_constant(b)? as u32 % width.max(1));
                let (x, y) = (of(a)?, of(b)?);
                match opcode {
                    Opcode::Iadd => x.sum(y),
                    Opcode::Isub => x.sum(y.negated()),
                    Opcode::Imul | Opcode::SmulWide | Opcode::UmulWide => x.product(y),
                    Opcode::Ishl => by().map_or(Alignment::UNKNOWN, |by| x.shifted_left(by)),
                    Opcode::Ushr | Opcode::Sshr => {
                        by().map_or(Alignment::UNKNOWN, |by| x.shifted_right(by))
                    }
                    Opcode::Band => x.bitwise(y, Some(0), |a, b| a & b),
                    Opcode::Bor => x.bitwise(y, Some(1), |a, b| a | b),
                    Opcode::Bxor => x.bitwise(y, None, |a, b| a ^ b),
                    Opcode::Smin | Opcode::Smax | Opcode::Umin | Opcode::Umax => x.meet(y),
                    _ => Alignment::UNKNOWN,
                }
            }
            _ => Alignment::UNKNOWN,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the alignments of values of a function, as known bits and residue.
    fn alignments(text: &str, values: &[&str]) -> Vec<(u32, u32)> {
        let module = crate::ir::text::parse(text).unwrap().module;
        let (_, func) = module.functions.iter().next().unwrap();
        let cfg = ControlFlow::new(func);
        let mut all = Alignments::new(func, &cfg);
        let found = values.iter().map(|v| {
            let v = all.of(Value::from_u32(v[1..].parse().unwrap()));
            (v.bits(), v.residue())
        });
        found.collect()
    }

    #[test]
    fn arithmetic_keeps_low_bits() {
        let text = "kernel %k(i16, i32) simd8 {
block0(v0: i16, v1: i32):
    v2 = iconst.i16 5
    v3 = ishl v0, v2
    v4 = iconst.i16 4
    v5 = iadd v3, v4
    v6 = iconst.i16 6
    v7 = imul v5, v6
    v8 = iconst.i16 -8
    v9 = band v0, v8
    v10 = isub v9, v5
    v11 = iconst.i32 12
    v12 = imul v1, v11
    v13 = ireduce.i16 v12
    v14 = bor v13, v5
    return
}
";
        let found = alignments(text, &["v0", "v3", "v5", "v7", "v10", "v13", "v14"]);
        // v14: of two lowest zeros and `100`, bit 2 of which alone decides.
        let wanted = [(0, 0), (5, 0), (5, 4), (6, 24), (3, 4), (2, 0), (3, 4)];
        assert_eq!(found, wanted);
    }

    #[test]
    fn counters_keep_the_bits_below_their_step() {
        let text = "kernel %k(i32) simd8 {
block0(v0: i32):
    v1 = iconst.i16 36
    v2 = iconst.i32 0
    jump block1(v1, v2, v1)
block1(v3: i16, v4: i32, v5: i16):
    v6 = iconst.i16 32
    v7 = iadd v3, v6
    v8 = iconst.i16 6
    v9 = iadd v5, v8
    v10 = iconst.i32 1
    v11 = iadd v4, v10
    v12 = icmp slt v11, v0
    brif v12, block1(v7, v11, v9), block2
block2:
    return
}
";
        let found = alignments(text, &["v3", "v5", "v7", "v4"]);
        assert_eq!(found, [(5, 4), (1, 0), (5, 4), (0, 0)]);
    }
}
