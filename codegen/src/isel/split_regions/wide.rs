//! 64-bit operations by dwords, if the ALU has no qwords, or none in these regions.
//!
//! In a bitwise bale (moves, selects, logic), every bit of a result comes from the same bit of its
//! operands. It becomes two bales, of the lower and of the upper dwords. A move to consecutive
//! qwords becomes one of twice as many dwords. A sum becomes a sum with carry. Everything else that
//! a platform lacks was rewritten in the IR (`expand`).

use super::Legalizer;
use crate::mir::VirtReg;
use crate::mir::bale::{Bale, BaleSrc, Operation, View};
use crate::rule_coverage::Repair;
use gantry_isa_gen::{Op, SrcMods, Type};

/// Source as two dwords, and true if the whole must be negated.
#[derive(Clone, Copy)]
struct DwordHalves {
    low: BaleSrc,
    high: BaleSrc,
    negated: bool,
}

impl Bale {
    /// Returns true if every bit of a result comes from the same bit of its operands.
    fn is_bitwise(&self) -> bool {
        let o = &self.operation;
        let views = || {
            o.srcs.iter().flatten().filter_map(|s| match s {
                BaleSrc::View(v, m) => Some((v, m)),
                BaleSrc::Imm(..) => None,
            })
        };
        match o.op {
            Op::Mov => {
                self.is_raw_move() || matches!(o.srcs[0], Some(BaleSrc::Imm(_, t)) if t == o.ty)
            }
            Op::Sel => {
                let plain = |m: &SrcMods| *m == SrcMods::default();
                let whole = |v: &View| v.ty.bytes() == 8 || v.ty.is_int();
                o.select.is_some() && !o.sat && views().all(|(v, m)| plain(m) && whole(v))
            }
            Op::And | Op::Or | Op::Xor | Op::Not => true,
            _ => false,
        }
    }

    /// Returns true if an operand has qwords.
    pub(super) fn has_qwords(&self) -> bool {
        let o = &self.operation;
        o.ty.bytes() == 8 || o.srcs.iter().flatten().any(|s| s.ty().bytes() == 8)
    }
}

impl Legalizer<'_> {
    /// Returns true if the ALU has no operations on an element type.
    fn lacks(&self, ty: Type) -> bool {
        let f = self.target.features();
        match ty {
            Type::Q | Type::Uq => !f.i64_alu,
            Type::Df => !f.native_f64,
            _ => false,
        }
    }

    /// Splits a bale of qwords into dwords if needed. `in_step` is set if its operands are in step.
    pub(super) fn wide(&mut self, b: &Bale, in_step: bool) -> bool {
        let o = &b.operation;
        if o.ty.bytes() != 8 {
            return false;
        }
        let lacks = self.lacks(o.ty);
        let sums = match o.ty {
            Type::Df => !lacks,
            _ => self.target.features().i64_sums,
        };
        // A plain qword is moved as one on platforms with sums of qwords.
        let whole = sums && o.op == Op::Mov;
        if b.is_bitwise() && (lacks && !whole || !in_step) {
            match Self::as_dwords(b) {
                Some(twice) => self.bale(&twice),
                None => self.by_halves(b),
            }
        } else if !sums && o.op == Op::Add {
            self.sum(b);
        } else if !sums && o.op == Op::Mov && o.ty.is_int() {
            self.extension(b);
        } else {
            return false;
        }
        true
    }

    fn half(v: &View, high: u32) -> View {
        let v = v.narrowed(Type::Ud);
        View {
            offset: v.offset + 4 * high,
            ..v
        }
    }

    /// Returns a move to consecutive qwords as a move of twice as many dwords, if a region has both
    /// halves of each.
    fn as_dwords(b: &Bale) -> Option<Bale> {
        let o = &b.operation;
        let (Some(BaleSrc::View(src, m)), None) = (o.srcs[0], b.mask) else {
            return None;
        };
        let step = |v: &View| match v.index {
            None => v.step(0, b.lanes),
            Some(_) => None,
        };
        let (from, to) = (step(&src)?, step(&b.dst)?);
        if !b.is_raw_move() || b.lanes > 1 && to != 1 {
            return None;
        }
        let lanes = 2 * b.lanes;
        let neighbours = |v: View| View {
            vs: lanes,
            w: lanes,
            hs: 1,
            ty: Type::Ud,
            ..v
        };
        let mut operation = Operation { ty: Type::Ud, ..*o };
        let src = match from {
            _ if b.lanes == 1 => neighbours(src),
            1 => neighbours(src),
            apart => View {
                vs: 2 * apart,
                w: 2,
                ..neighbours(src)
            },
        };
        operation.srcs[0] = Some(BaleSrc::View(src, m));
        Some(Bale {
            lanes,
            operation,
            dst: neighbours(b.dst),
            ..*b
        })
    }

    /// Emits one operation on the lower and one on the upper dwords.
    fn by_halves(&mut self, b: &Bale) {
        self.fired.repair(Repair::Halves);
        let mut srcs = [None; 3];
        for (to, s) in srcs.iter_mut().zip(&b.operation.srcs) {
            *to = s.map(|s| match s {
                // On logic, the modifier inverts bits.
                BaleSrc::View(v, m) if v.ty.bytes() == 8 => [
                    BaleSrc::View(Self::half(&v, 0), m),
                    BaleSrc::View(Self::half(&v, 1), m),
                ],
                BaleSrc::View(_, m) => {
                    let h = self.halves(s, b.lanes);
                    let modified = |s| match s {
                        BaleSrc::View(v, _) => BaleSrc::View(v, m),
                        BaleSrc::Imm(x, t) => {
                            BaleSrc::Imm(if m.neg { !x & 0xffff_ffff } else { x }, t)
                        }
                    };
                    [modified(h.low), modified(h.high)]
                }
                BaleSrc::Imm(..) => {
                    let h = self.halves(s, b.lanes);
                    [h.low, h.high]
                }
            });
        }
        for high in 0..2 {
            let mut operation = Operation {
                ty: Type::Ud,
                ..b.operation
            };
            operation.srcs = srcs.map(|s| s.map(|s: [BaleSrc; 2]| s[high as usize]));
            // Immediates come last.
            if let (Some(BaleSrc::Imm(..)), Some(BaleSrc::View(..))) =
                (operation.srcs[0], operation.srcs[1])
                && operation.op != Op::Sel
            {
                operation.srcs.swap(0, 1);
            }
            // The upper half of an unsigned number is an immediate too.
            if let (Some(first), Some(_)) = (operation.srcs[0], operation.srcs[1]) {
                operation.srcs[0] = Some(self.force_reg(first));
            }
            self.bale(&Bale {
                operation,
                dst: Self::half(&b.dst, high),
                starts: b.starts && high == 0,
                ..*b
            });
        }
    }

    /// Returns a source of a 64-bit operation as two dwords. Narrower ones are sign- or
    /// zero-extended by their type.
    fn halves(&mut self, s: BaleSrc, lanes: u32) -> DwordHalves {
        let ud = |x: u64| BaleSrc::Imm(x & 0xffff_ffff, Type::Ud);
        match s {
            BaleSrc::Imm(bits, ty) => {
                let x = match ty {
                    Type::W => i64::from(bits as u16 as i16),
                    Type::D => i64::from(bits as u32 as i32),
                    _ => bits as i64,
                } as u64;
                DwordHalves {
                    low: ud(x),
                    high: ud(x >> 32),
                    negated: false,
                }
            }
            BaleSrc::View(v, m) if v.ty.bytes() == 8 => DwordHalves {
                low: Self::half(&v, 0).plain(),
                high: Self::half(&v, 1).plain(),
                negated: m.neg,
            },
            BaleSrc::View(v, m) => {
                let one = Self::is_scalar(&v, lanes);
                let n = if one { 1 } else { lanes };
                let ty = if v.ty.is_signed() { Type::D } else { Type::Ud };
                let low = if v.ty.bytes() == 4 {
                    View { ty, ..v }
                } else {
                    self.copied(v, n, ty, n)
                };
                let spread = |low: View| match (one, low.w) {
                    (true, _) => View {
                        vs: 0,
                        w: 1,
                        hs: 0,
                        ..low
                    },
                    _ => low,
                };
                let low = spread(low);
                let high = if v.ty.is_signed() {
                    let r = self.temp(n * 4);
                    let high = View::contiguous(VirtReg::grf(r), n, Type::D);
                    let count = BaleSrc::Imm(31, Type::Uw);
                    let operation = Operation::new(Op::Asr, Type::D, &[low.plain(), count]);
                    self.plain_bale(n, operation, high);
                    BaleSrc::View(
                        View {
                            ty: Type::Ud,
                            ..spread(high)
                        },
                        Default::default(),
                    )
                } else {
                    ud(0)
                };
                DwordHalves {
                    low: View {
                        ty: Type::Ud,
                        ..low
                    }
                    .plain(),
                    high,
                    negated: m.neg,
                }
            }
        }
    }

    /// Returns a source in a register: one element serves all lanes.
    fn force_reg(&mut self, s: BaleSrc) -> BaleSrc {
        let BaleSrc::Imm(_, ty) = s else { return s };
        let r = self.temp(ty.bytes());
        let one = View::scalar(VirtReg::grf(r), 0, ty);
        self.plain_bale(1, Operation::new(Op::Mov, ty, &[s]), one);
        one.plain()
    }

    /// Emits a bale that starts a temporary.
    pub(super) fn plain_bale(&mut self, lanes: u32, operation: Operation, dst: View) {
        self.bale(&Bale::new(lanes, operation, dst, true));
    }

    /// Emits `low = a.low + b.low` with carry, `high = a.high + b.high + carry`, or differences
    /// with borrow.
    fn sum(&mut self, b: &Bale) {
        self.fired.repair(Repair::WideSum);
        let zero = BaleSrc::Imm(0, Type::Ud);
        let (Some(x), Some(y)) = (b.operation.srcs[0], b.operation.srcs[1]) else {
            return;
        };
        let (mut x, mut y) = (self.halves(x, b.lanes), self.halves(y, b.lanes));
        if x.negated && !y.negated {
            std::mem::swap(&mut x, &mut y);
        }
        if x.negated {
            self.fired.repair(Repair::WideSumNegated);
            // -x - y is (0 - x) - y.
            let r = self.temp(b.lanes * 8);
            let t = View::contiguous(VirtReg::grf(r), b.lanes, Type::Uq);
            let nothing = DwordHalves {
                low: zero,
                high: zero,
                negated: false,
            };
            self.sum_of(b, nothing, x, t, true);
            x = DwordHalves {
                low: Self::half(&t, 0).plain(),
                high: Self::half(&t, 1).plain(),
                negated: false,
            };
        }
        if b.mask.is_none() {
            return self.sum_of(b, x, y, b.dst, b.starts);
        }
        self.fired.repair(Repair::WideSumMasked);
        // The upper half takes two steps, so under a mask it is computed in a temporary.
        let r = self.temp(b.lanes * 8);
        let t = View::contiguous(VirtReg::grf(r), b.lanes, Type::Uq);
        self.sum_of(b, x, y, t, true);
        let mov = self.moved(b, t);
        self.by_halves(&mov);
    }

    fn sum_of(&mut self, b: &Bale, x: DwordHalves, y: DwordHalves, dst: View, starts: bool) {
        let (low_op, high_y) = match (y.negated, y.high) {
            (false, h) => (Op::Addc, h),
            (true, BaleSrc::View(v, m)) => (
                Op::Subb,
                BaleSrc::View(View { ty: Type::D, ..v }, SrcMods { neg: !m.neg, ..m }),
            ),
            (true, BaleSrc::Imm(i, t)) => {
                (Op::Subb, BaleSrc::Imm(i.wrapping_neg() & 0xffff_ffff, t))
            }
        };
        let lanes = b.lanes;
        let signed = |s: BaleSrc| match s {
            BaleSrc::View(v, m) => BaleSrc::View(View { ty: Type::D, ..v }, m),
            BaleSrc::Imm(i, _) => BaleSrc::Imm(i, Type::D),
        };
        let (r, s) = (self.temp(lanes * 4), self.temp(lanes * 4));
        let carry = View::contiguous(VirtReg::grf(r), lanes, Type::Ud);
        let partial = View::contiguous(VirtReg::grf(s), lanes, Type::D);
        // The upper sum comes first: the destination may be a source.
        let (a, c) = ordered(signed(x.high), signed(high_y));
        let a = self.force_reg(a);
        self.plain_bale(lanes, Operation::new(Op::Add, Type::D, &[a, c]), partial);
        let (a, c) = match low_op {
            Op::Addc => ordered(x.low, y.low),
            _ => (x.low, y.low),
        };
        let a = self.force_reg(a);
        let low = Operation::new(low_op, Type::Ud, &[a, c]);
        self.bale(&Bale {
            carry: Some(carry),
            ..Bale::new(lanes, low, Self::half(&dst, 0), starts)
        });
        let carried = BaleSrc::View(
            View {
                ty: Type::D,
                ..carry
            },
            SrcMods {
                neg: low_op == Op::Subb,
                abs: false,
            },
        );
        let high = Operation::new(Op::Add, Type::D, &[partial.plain(), carried]);
        let to = View {
            ty: Type::D,
            ..Self::half(&dst, 1)
        };
        self.bale(&Bale::new(lanes, high, to, false));
    }

    /// Emits a move of a narrower type to qwords: extended, and negated if needed.
    fn extension(&mut self, b: &Bale) {
        let Some(src) = b.operation.srcs[0] else {
            return;
        };
        if b.operation.sat || src.ty().is_float() || matches!(src, BaleSrc::View(_, m) if m.abs) {
            return self.fail(format!("`{b}` was to be rewritten before"));
        }
        self.fired.repair(Repair::WideExtension);
        let h = self.halves(src, b.lanes);
        if h.negated {
            self.fired.repair(Repair::WideExtensionNegated);
            let zero = BaleSrc::Imm(0, Type::Ud);
            let mut minus = *b;
            minus.operation.op = Op::Add;
            minus.operation.srcs = [Some(src), Some(zero), None];
            return self.sum(&minus);
        }
        for (high, s) in [h.low, h.high].into_iter().enumerate() {
            self.bale(&Bale {
                operation: Operation::new(Op::Mov, Type::Ud, &[s]),
                dst: Self::half(&b.dst, high as u32),
                starts: b.starts && high == 0,
                ..*b
            });
        }
    }
}

/// Returns summands with an immediate last.
fn ordered(a: BaleSrc, b: BaleSrc) -> (BaleSrc, BaleSrc) {
    match (a, b) {
        (BaleSrc::Imm(..), BaleSrc::View(..)) => (b, a),
        _ => (a, b),
    }
}
