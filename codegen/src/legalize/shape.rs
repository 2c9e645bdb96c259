//! Bringing a bale into a shape that some width can execute: operands that none can take go through a temporary.
//!
//! The rules, each a function: what the execution type asks of the destination's stride, what three-source and math
//! instructions ask of their operands, conversions that do not exist in one step, factors of a product.

use super::Legalizer;
use crate::bale::{Bale, BaleSrc, Operation, View};
use crate::vcode::{Place, VRegData, VirtReg};
use gantry_isa_gen::{MathFn, Op, SrcMods, Subfn, Type};

/// Alignment in bytes of the operands of an Align16 instruction.
const ALIGN16: u32 = 16;

impl Bale {
    /// The widest execution size that the operation has.
    pub(super) fn max_exec(&self) -> u32 {
        match self.operation.subfn {
            // Integer division runs on eight channels (PRM Vol. 2a, math).
            Subfn::Math(MathFn::Iqot | MathFn::Irem | MathFn::Idiv) => 8,
            Subfn::Math(_) => 16,
            _ if self.is_ternary() => 16,
            _ if self.is_mixed_float() => 8,
            _ => 32,
        }
    }

    /// Whether half and single floats meet: eight channels at most.
    fn is_mixed_float(&self) -> bool {
        let o = &self.operation;
        let has = |ty: Type| o.ty == ty || o.srcs.iter().flatten().any(|s| s.ty() == ty);
        has(Type::Hf) && has(Type::F)
    }

    pub(super) fn is_ternary(&self) -> bool {
        self.operation.srcs[2].is_some()
    }

    /// Size in bytes of the execution type: the widest source; bytes are computed in words.
    fn exec_bytes(&self) -> u32 {
        let widest = self
            .operation
            .srcs
            .iter()
            .flatten()
            .map(|s| s.ty().bytes())
            .max();
        widest.unwrap_or(4).max(2)
    }

    /// A move that copies bits: no conversion, no modifier.
    fn is_raw_move(&self) -> bool {
        let o = &self.operation;
        o.op == Op::Mov
            && !o.sat
            && matches!(o.srcs[0], Some(BaleSrc::View(v, m))
                if v.ty.bytes() == o.ty.bytes() && v.ty.is_float() == o.ty.is_float() && m == SrcMods::default())
    }

    /// The distance in bytes that the destination's elements must have, if any: that of the execution type where it is
    /// wider, and a dword where half floats and integers convert.
    fn dst_step(&self) -> Option<u32> {
        if self.dst.reg == VirtReg::NULL || self.is_raw_move() {
            return None;
        }
        let o = &self.operation;
        let exec = self.exec_bytes();
        let half_and_int = o.op == Op::Mov
            && o.srcs[0].is_some_and(|s| {
                s.ty().is_float() != o.ty.is_float() && (s.ty() == Type::Hf || o.ty == Type::Hf)
            });
        let step = if half_and_int { exec.max(4) } else { exec };
        (o.ty.bytes() < step).then_some(step)
    }
}

impl Legalizer<'_> {
    /// The bale, or what is left of it after its operands went through temporaries. `None` if nothing is left.
    pub(super) fn shape(&mut self, bale: &Bale) -> Option<Bale> {
        let mut b = *bale;
        if b.lanes == 0 {
            return None;
        }
        b = self.direct_mixed_floats(b);
        b = self.in_singles(b);
        b = self.vector_immediate(b);
        b = self.in_two_steps(b);
        b = self.widen_bytes(b);
        b = self.order_factors(b);
        b = self.byte_product(b);
        if b.is_ternary() {
            return self.ternary(b);
        }
        if b.operation.op == Op::Math {
            for n in 0..2 {
                self.pack_source(&mut b, n);
            }
            if b.dst.index.is_some() {
                b = self.through_temporary(b);
            }
        }
        self.stride_destination(b)
    }

    /// A source copied to a fresh register as neighbours of its own (or another) type; modifiers stay with the operation.
    fn copied(&mut self, v: View, lanes: u32, ty: Type, padded: u32) -> View {
        let bytes = padded * ty.bytes();
        let r = self.temp(bytes.max(ALIGN16));
        let dst = View::contiguous(VirtReg::Grf(r), lanes, ty);
        let operation = Operation::new(Op::Mov, ty, &[BaleSrc::View(v, SrcMods::default())]);
        self.bale(&Bale {
            lanes,
            operation,
            dst,
            starts: true,
            mask: None,
            flag: None,
            under: None,
        });
        dst
    }

    /// The operation to a fresh register, and the move from there that is left.
    fn through_temporary(&mut self, b: Bale) -> Bale {
        let ty = b.operation.ty;
        let r = self.temp(b.lanes * ty.bytes());
        let view = View::contiguous(VirtReg::Grf(r), b.lanes, ty);
        self.bale(&Bale {
            dst: view,
            starts: true,
            mask: None,
            under: None,
            ..b
        });
        let from = BaleSrc::View(view, SrcMods::default());
        Bale {
            operation: Operation::new(Op::Mov, ty, &[from]),
            flag: None,
            ..b
        }
    }

    /// Where half and single floats meet, sources are direct.
    fn direct_mixed_floats(&mut self, mut b: Bale) -> Bale {
        if !b.is_mixed_float() {
            return b;
        }
        for n in 0..3 {
            if let Some(BaleSrc::View(v, m)) = b.operation.srcs[n]
                && v.index.is_some()
            {
                let v = self.copied(v, b.lanes, v.ty, b.lanes);
                b.operation.srcs[n] = Some(BaleSrc::View(v, m));
            }
        }
        b
    }

    /// Half floats are rounded as singles.
    fn in_singles(&mut self, mut b: Bale) -> Bale {
        let o = b.operation;
        let rounds = matches!(o.op, Op::Frc | Op::Rndu | Op::Rndd | Op::Rnde | Op::Rndz);
        if !rounds || o.ty != Type::Hf {
            return b;
        }
        let bytes = b.lanes * Type::F.bytes();
        let (wide, rounded) = (self.temp(bytes), self.temp(bytes));
        let view = |r| View::contiguous(VirtReg::Grf(r), b.lanes, Type::F);
        let plain = |r| BaleSrc::View(view(r), SrcMods::default());
        let mut extend = Operation::new(Op::Mov, Type::F, &[]);
        extend.srcs = o.srcs;
        let round = Operation {
            srcs: [Some(plain(wide)), None, None],
            ty: Type::F,
            ..o
        };
        for (dst, operation) in [(wide, extend), (rounded, round)] {
            self.bale(&Bale {
                lanes: b.lanes,
                operation,
                dst: view(dst),
                starts: true,
                mask: None,
                flag: None,
                under: None,
            });
        }
        b.operation = Operation::new(Op::Mov, Type::Hf, &[plain(rounded)]);
        b
    }

    /// A packed vector goes, all eight lanes at once, to a place of 16 bytes' alignment.
    fn vector_immediate(&mut self, mut b: Bale) -> Bale {
        let packed = b
            .operation
            .srcs
            .iter()
            .flatten()
            .any(|s| s.ty().is_packed_imm());
        if !packed || b.lanes == 8 && self.is_packed(&b.dst, 8, ALIGN16) {
            return b;
        }
        let r = self.temp((8 * b.operation.ty.bytes()).max(ALIGN16));
        let dst = View::contiguous(VirtReg::Grf(r), 8, b.operation.ty);
        self.bale(&Bale {
            lanes: 8,
            dst,
            starts: true,
            mask: None,
            ..b
        });
        b = self.moved(&b, dst);
        b
    }

    /// There is no conversion between bytes or half floats and 64-bit types in one step.
    fn in_two_steps(&mut self, mut b: Bale) -> Bale {
        let o = &b.operation;
        let Some(src) = o.srcs[0] else {
            return b;
        };
        let (from, to) = (src.ty(), o.ty);
        if o.op != Op::Mov || b.is_raw_move() {
            return b;
        }
        let small = |t: Type| t.bytes() == 1 || t == Type::Hf;
        let apart = small(from) && to.bytes() == 8 || from.bytes() == 8 && small(to);
        if !apart {
            return b;
        }
        let middle = match (from, to) {
            (Type::Hf, _) | (_, Type::Hf) => Type::F,
            // What the smaller side can hold, a dword can.
            (t, _) if t.bytes() == 1 => dword(t),
            (_, t) => dword(t),
        };
        let r = self.temp(b.lanes * middle.bytes());
        let dst = View::contiguous(VirtReg::Grf(r), b.lanes, middle);
        let first = Operation {
            // Between floats it would clamp to 0 .. 1.
            sat: o.sat && !middle.is_float(),
            ..Operation::new(Op::Mov, middle, &[src])
        };
        self.bale(&Bale {
            lanes: b.lanes,
            operation: first,
            dst,
            starts: true,
            mask: None,
            flag: None,
            under: None,
        });
        b.operation.srcs[0] = Some(BaleSrc::View(dst, SrcMods::default()));
        b
    }

    /// Bytes do not stand beside 64-bit operands.
    fn widen_bytes(&mut self, mut b: Bale) -> Bale {
        let wide = b.operation.ty.bytes() == 8 || b.exec_bytes() == 8;
        if !wide || b.operation.op == Op::Mov {
            return b;
        }
        for n in 0..3 {
            if let Some(BaleSrc::View(v, m)) = b.operation.srcs[n]
                && v.ty.bytes() == 1
            {
                let ty = dword(v.ty);
                let v = self.copied(v, b.lanes, ty, b.lanes);
                b.operation.srcs[n] = Some(BaleSrc::View(v, m));
            }
        }
        b
    }

    /// In a product of a dword and something narrower, the dword comes first.
    fn order_factors(&mut self, mut b: Bale) -> Bale {
        let o = &mut b.operation;
        if let (Op::Mul, Some(x), Some(y)) = (o.op, o.srcs[0], o.srcs[1])
            && x.ty().bytes() < y.ty().bytes()
            && y.ty().bytes() == 4
        {
            match (x, y) {
                (BaleSrc::View(v, m), BaleSrc::Imm(..)) => {
                    let ty = dword(v.ty);
                    let v = self.copied(v, b.lanes, ty, b.lanes);
                    b.operation.srcs[0] = Some(BaleSrc::View(v, m));
                }
                _ => o.srcs.swap(0, 1),
            }
        }
        b
    }

    /// A product of bytes is made in words; its low bytes are the result.
    fn byte_product(&mut self, mut b: Bale) -> Bale {
        if b.operation.op != Op::Mul || b.operation.ty.bytes() != 1 {
            return b;
        }
        let r = self.temp(b.lanes * Type::W.bytes());
        let words = View::contiguous(VirtReg::Grf(r), b.lanes, Type::W);
        self.bale(&Bale {
            operation: Operation {
                ty: Type::W,
                ..b.operation
            },
            dst: words,
            starts: true,
            mask: None,
            ..b
        });
        b = self.moved(&b, words.narrowed(b.operation.ty));
        b
    }

    /// Whether a view is one element for all, or neighbours at an aligned place that reach `lanes` channels.
    fn is_packed(&self, v: &View, lanes: u32, align: u32) -> bool {
        let VirtReg::Grf(r) = v.reg else { return false };
        let d: &VRegData = &self.vregs[r];
        let (base, aligned) = match d.place {
            Place::Fixed(at) => (at, true),
            _ => (0, d.align >= align),
        };
        let contiguous = (0..lanes).all(|i| v.byte(i) == v.offset + i * v.ty.bytes());
        v.index.is_none()
            && contiguous
            && aligned
            && (base + v.offset).is_multiple_of(align)
            && v.offset + lanes * v.ty.bytes() <= d.bytes.next_multiple_of(align)
    }

    fn is_scalar(v: &View, lanes: u32) -> bool {
        v.index.is_none() && (0..lanes).all(|i| v.byte(i) == v.offset)
    }

    /// Math instructions read neighbours or one element.
    fn pack_source(&mut self, b: &mut Bale, n: usize) {
        if let Some(BaleSrc::View(v, m)) = b.operation.srcs[n]
            && (v.ty != b.operation.ty
                || !(Self::is_scalar(&v, b.lanes) || self.is_packed(&v, b.lanes, 4)))
        {
            let v = self.copied(v, b.lanes, b.operation.ty, b.lanes);
            b.operation.srcs[n] = Some(BaleSrc::View(v, m));
        }
    }

    /// Three-source instructions are Align16: four channels at least, operands at multiples of 16 bytes, sources of the destination's
    /// type that are neighbours or one element.
    fn ternary(&mut self, mut b: Bale) -> Option<Bale> {
        let group = ALIGN16 / b.operation.ty.bytes().min(ALIGN16);
        let lanes = b.lanes.next_multiple_of(group.max(4));
        for n in 0..3 {
            let Some(BaleSrc::View(v, m)) = b.operation.srcs[n] else {
                continue;
            };
            let same = v.ty.bytes() == b.operation.ty.bytes();
            if same && Self::is_scalar(&v, b.lanes) {
                let one = View {
                    vs: 0,
                    w: 1,
                    hs: 0,
                    ..v
                };
                b.operation.srcs[n] = Some(BaleSrc::View(one, m));
            } else if same && self.is_packed(&v, lanes, ALIGN16) {
                let all = View {
                    vs: lanes,
                    w: lanes,
                    ..v
                };
                b.operation.srcs[n] = Some(BaleSrc::View(all, m));
            } else {
                let mut v = self.copied(v, b.lanes, b.operation.ty, lanes);
                (v.vs, v.w) = (lanes, lanes);
                b.operation.srcs[n] = Some(BaleSrc::View(v, m));
            }
        }
        if lanes == b.lanes && self.is_packed(&b.dst, lanes, ALIGN16) {
            return Some(b);
        }
        let r = self.temp(lanes * b.operation.ty.bytes());
        let dst = View::contiguous(VirtReg::Grf(r), lanes, b.operation.ty);
        self.bale(&Bale {
            lanes,
            dst,
            starts: true,
            mask: None,
            ..b
        });
        Some(self.moved(&b, dst))
    }

    /// The rest of a bale whose operation wrote a temporary: a move under its mask.
    fn moved(&self, b: &Bale, from: View) -> Bale {
        Bale {
            operation: Operation::new(Op::Mov, from.ty, &[BaleSrc::View(from, SrcMods::default())]),
            dst: View {
                ty: from.ty,
                ..b.dst
            },
            flag: None,
            ..*b
        }
    }

    /// Where the execution type is wider than the destination's, elements are as far apart as its; packed ones are made
    /// from those by a raw move.
    fn stride_destination(&mut self, b: Bale) -> Option<Bale> {
        let Some(step) = b.dst_step() else {
            return Some(b);
        };
        let ty = b.operation.ty;
        let hs = step / ty.bytes();
        let base = self.base(b.dst.reg).grf_offset;
        let spaced =
            b.lanes == 1 || (1..b.lanes).all(|i| b.dst.byte(i) == b.dst.byte(0) + i * step);
        if b.dst.index.is_none() && spaced && (base + b.dst.offset).is_multiple_of(step) {
            // One lane has no stride, but its instruction must name the right one.
            return Some(b);
        }
        if hs > 4 {
            if self.error.is_none() {
                self.error = Some(format!("no destination stride for `{b}`"));
            }
            return None;
        }
        let r = self.temp(b.lanes * step);
        let dst = View {
            reg: VirtReg::Grf(r),
            offset: 0,
            vs: b.lanes * hs,
            w: b.lanes,
            hs,
            ty,
            index: None,
        };
        self.bale(&Bale {
            dst,
            starts: true,
            mask: None,
            ..b
        });
        Some(self.moved(&b, dst))
    }
}

/// The dword type of a type's sign.
fn dword(t: Type) -> Type {
    if t.is_signed() { Type::D } else { Type::Ud }
}
