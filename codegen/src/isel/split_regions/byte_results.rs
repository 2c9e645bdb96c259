//! Results that are bytes: instructions compute them in words, or together as dwords.

use super::Legalizer;
use super::repair::{DWORD, dword};
use crate::mir::VirtReg;
use crate::mir::bale::{Bale, BaleSrc, Operation, View};
use crate::rule_coverage::Repair;
use gantry_isa_gen::{Op, Type};
use smallvec::SmallVec;

impl Legalizer<'_> {
    /// Turns logic on whole vectors of bytes into logic on dwords. Otherwise it is computed in
    /// words and packed. So are constants.
    pub(super) fn bytes_as_dwords(&mut self, b: &mut Bale) {
        let o = &b.operation;
        let alone = b.mask.is_none() && b.flag.is_none() && o.select.is_none() && !o.sat;
        let whole = |s: &BaleSrc| match s {
            BaleSrc::View(v, m) => v.ty.bytes() == 1 && !m.abs,
            BaleSrc::Imm(_, t) => t.is_int() && t.bytes() <= 2,
        };
        let constant = matches!(o.srcs[0], Some(BaleSrc::Imm(..)));
        let suits = match o.op {
            Op::Mov => constant,
            Op::And | Op::Or | Op::Xor | Op::Not => !constant,
            _ => false,
        };
        let even = b.lanes.is_multiple_of(DWORD) && b.lanes > 0;
        if o.ty.bytes() != 1 || !suits || !alone || !even {
            return;
        }
        if !o.srcs.iter().flatten().all(whole) {
            return;
        }
        let views = o.srcs.iter().flatten().filter_map(|s| match s {
            BaleSrc::View(v, _) => Some(*v),
            BaleSrc::Imm(..) => None,
        });
        let views: SmallVec<[View; 4]> = views.chain([b.dst]).collect();
        let there = views.iter().all(|v| {
            self.align_destination(v, DWORD);
            self.is_packed(v, b.lanes, DWORD)
        });
        if !there {
            return;
        }
        self.fired.repair(Repair::BytesAsDwords);
        let lanes = b.lanes / DWORD;
        let wide = |v: View| View {
            offset: v.offset,
            ..View::contiguous(v.reg, lanes, Type::Ud)
        };
        for s in b.operation.srcs.iter_mut().flatten() {
            *s = match *s {
                BaleSrc::View(v, m) => BaleSrc::View(wide(v), m),
                BaleSrc::Imm(bits, _) => BaleSrc::Imm((bits & 0xff) * 0x0101_0101, Type::Ud),
            };
        }
        (b.dst, b.lanes, b.operation.ty) = (wide(b.dst), lanes, Type::Ud);
    }

    /// Widens bytes beside 64-bit operands.
    pub(super) fn widen_bytes(&mut self, b: &mut Bale) {
        let wide = b.operation.ty.bytes() == 8 || b.exec_bytes() == 8;
        if !wide || b.operation.op == Op::Mov {
            return;
        }
        for n in 0..3 {
            if let Some(BaleSrc::View(v, m)) = b.operation.srcs[n]
                && v.ty.bytes() == 1
            {
                self.fired.repair(Repair::ByteBesideWide);
                let ty = dword(v.ty);
                let v = self.copied(v, b.lanes, ty, b.lanes);
                b.operation.srcs[n] = Some(BaleSrc::View(v, m));
            }
        }
    }

    /// Computes a product of bytes in words, whose low bytes are the result.
    pub(super) fn byte_product(&mut self, b: &mut Bale) {
        if b.operation.op != Op::Mul || b.operation.ty.bytes() != 1 {
            return;
        }
        self.fired.repair(Repair::ByteProduct);
        // Bytes in words need no other place, if nothing is between them yet.
        let base = self.base(b.dst.reg).grf_offset + b.dst.offset;
        let spaced = Self::step(&b.dst, b.lanes) == Some(Type::W.bytes()) && b.lanes > 1;
        let direct = b.dst.index.is_none() && b.mask.is_none() && base.is_multiple_of(2);
        if spaced && direct && b.starts {
            b.operation.ty = Type::W;
            b.dst = View {
                vs: b.dst.vs / 2,
                hs: b.dst.hs / 2,
                ty: Type::W,
                ..b.dst
            };
            return;
        }
        let r = self.temp(b.lanes * Type::W.bytes());
        let words = View::contiguous(VirtReg::grf(r), b.lanes, Type::W);
        self.bale(&Bale {
            operation: Operation {
                ty: Type::W,
                ..b.operation
            },
            dst: words,
            starts: true,
            mask: None,
            ..*b
        });
        *b = self.moved(b, words.narrowed(b.operation.ty));
    }
}
