//! Lowering of products with more bits than the multiplier takes or returns in one instruction.

use super::Lower;
use super::facts::view_src;
use super::generated::Context;
use crate::ir::{Inst, InstData, Opcode, Value};
use crate::mir::VirtReg;
use crate::mir::bale::{BaleSrc, Operation, View};
use gantry_isa_gen::{Op, SrcMods, Type as GenType};

impl Lower<'_> {
    /// Emits the low 64 bits of a 64-bit product, from 32-bit halves: `lo*lo + ((lo*hi + hi*lo) <<
    /// 32)`.
    pub(super) fn lower_mul_64(&mut self, inst: Inst, a: Value, b: Value) -> Operation {
        let lanes = self.first_result(inst).map_or(1, |v| self.ty(v).lanes());
        let half = |l: &mut Self, v: Value, high: u32| {
            let view = l.reg_view(v).narrowed(GenType::Ud);
            BaleSrc::View(
                View {
                    offset: view.offset + 4 * high,
                    ..view
                },
                SrcMods::default(),
            )
        };
        let (al, ah) = (half(self, a, 0), half(self, a, 1));
        let (bl, bh) = (half(self, b, 0), half(self, b, 1));
        let (p, x, y) = (
            self.temp(lanes * 8),
            self.temp(lanes * 4),
            self.temp(lanes * 4),
        );
        self.bale(p, lanes, Operation::new(Op::Mul, GenType::Uq, &[al, bl]));
        self.bale(x, lanes, Operation::new(Op::Mul, GenType::Ud, &[al, bh]));
        self.bale(y, lanes, Operation::new(Op::Mul, GenType::Ud, &[ah, bl]));
        let plain = |r, ty| {
            BaleSrc::View(
                View::contiguous(VirtReg::grf(r), lanes, ty),
                SrcMods::default(),
            )
        };
        let high = View {
            offset: 4,
            ..View::contiguous(VirtReg::grf(p), lanes, GenType::Uq).narrowed(GenType::Ud)
        };
        for part in [x, y] {
            let o = Operation::new(
                Op::Add,
                GenType::Ud,
                &[
                    BaleSrc::View(high, SrcMods::default()),
                    plain(part, GenType::Ud),
                ],
            );
            self.bale_at(high, false, lanes, o);
        }
        Operation::new(Op::Mov, GenType::Q, &[plain(p, GenType::Q)])
    }

    /// Emits the low bits of `a * b + c`: Gen9's `mad` takes no dword factors.
    pub(super) fn lower_mul_add(&mut self, inst: Inst, a: Value, b: Value, c: Value) -> Operation {
        let ty = self.result_type(inst);
        let lanes = self.ty(c).lanes();
        let product = if ty == GenType::Q {
            self.lower_mul_64(inst, a, b)
        } else {
            let (a, b) = match self.size_as_word(a) {
                Some(_) => (b, a),
                None => (a, b),
            };
            let word = self.size_as_word(b);
            let (a, b) = (self.reg_view(a), self.reg_view(b));
            let srcs = [view_src(a, ty), word.unwrap_or(view_src(b, ty))];
            Operation::new(Op::Mul, ty, &srcs)
        };
        let r = self.temp(lanes * ty.bytes());
        self.bale(r, lanes, product);
        let c = self.reg_view(c);
        let sum = View::contiguous(VirtReg::grf(r), lanes, ty);
        Operation::new(
            Op::Add,
            ty,
            &[BaleSrc::View(sum, SrcMods::default()), view_src(c, ty)],
        )
    }

    /// Returns the size of a work-group as a word, if a product of dwords takes several
    /// instructions. The size fits a word, and a product by a word is one instruction.
    pub(super) fn size_as_word(&mut self, v: Value) -> Option<BaleSrc> {
        if self.target.features().mul_32x32 {
            return None;
        }
        match *self.func.dfg.data(self.func.dfg.def_inst(v)?) {
            InstData::Launch {
                opcode: Opcode::LocalSize,
                ..
            } => Some(self.reg_view(v).narrowed(GenType::Uw).plain()),
            _ => None,
        }
    }

    /// Emits the upper half of the 64-bit product of dwords: by qwords, or by the accumulator if
    /// qwords are missing or restricted.
    pub(super) fn lower_mul_high(&mut self, inst: Inst, a: BaleSrc, b: BaleSrc) -> Operation {
        let lanes = self.first_result(inst).map_or(1, |v| self.ty(v).lanes());
        let (wide, narrow) = if a.ty().is_signed() {
            (GenType::Q, GenType::D)
        } else {
            (GenType::Uq, GenType::Ud)
        };
        let (a, b) = (self.force_reg(a), self.force_reg(b));
        let f = self.target.features();
        if !f.i64_alu || !f.mul_32x32 || f.restricted_64bit {
            return Operation::new(Op::Mach, narrow, &[a, b]);
        }
        let p = self.temp(lanes * 8);
        self.bale(p, lanes, Operation::new(Op::Mul, wide, &[a, b]));
        let high = View {
            offset: 4,
            ..View::contiguous(VirtReg::grf(p), lanes, wide).narrowed(narrow)
        };
        Operation::new(Op::Mov, narrow, &[high.plain()])
    }
}
