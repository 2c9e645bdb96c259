//! Bytes as parts of words and dwords: moves of aligned bytes take wider elements, and bytes with
//! an address each are read as parts of dwords where only wider elements may have one.

use super::Legalizer;
use super::repair::DWORD;
use super::rows::PACKED;
use crate::mir::bale::{Bale, BaleSrc, Index, Operation, View};
use crate::mir::{RegConstraint, VirtReg};
use crate::rule_coverage::Repair;
use gantry_isa_gen::{Op, Type};

/// Fewest bytes with an address each that are read as parts of dwords.
const FEWEST: u32 = 4;

impl Legalizer<'_> {
    /// Returns a move of bytes as one of dwords or words that takes fewer instructions. All of its
    /// elements must be whole and aligned.
    pub(super) fn wider_move(&mut self, b: &Bale) -> Option<Bale> {
        let o = &b.operation;
        let Some(BaleSrc::View(src, _)) = o.srcs[0] else {
            return None;
        };
        let bits = b.mask.is_none() && b.flag.is_none() && b.is_raw_move();
        if !bits || o.ty.bytes() != 1 || b.dst.ty.bytes() != 1 || b.lanes < 2 {
            return None;
        }
        let (wide, ty) = [Type::Ud, Type::Uw].into_iter().find_map(|ty| {
            let views = [
                self.as_wider(&src, b.lanes, ty),
                self.as_wider(&b.dst, b.lanes, ty),
            ];
            let [Some(from), Some(to)] = views else {
                return None;
            };
            let wide = Bale {
                lanes: b.lanes / ty.bytes(),
                operation: Operation::new(Op::Mov, ty, &[from.plain()]),
                dst: to,
                ..*b
            };
            Some((wide, ty))
        })?;
        if self.number_of_pieces(&wide)? >= self.number_of_pieces(b)? {
            return None;
        }
        self.fired.repair(Repair::ByteMove);
        for v in [src, b.dst] {
            self.align_destination(&v, ty.bytes());
        }
        Some(wide)
    }

    /// Returns the same bytes as elements of a type, if all of them are whole and aligned. The
    /// register must still be aligned.
    fn as_wider(&self, v: &View, lanes: u32, ty: Type) -> Option<View> {
        let size = ty.bytes();
        let aligned = match v.reg.as_grf().map(|r| &self.vregs[r]) {
            Some(d) => match d.constraint {
                RegConstraint::Fixed(at) => at.is_multiple_of(size),
                RegConstraint::Any => true,
                _ => d.align.is_multiple_of(size),
            },
            None => v.reg == View::FILE && v.index.is_some(),
        };
        let known = v.index.is_none_or(|i| {
            u32::from(i.known) >= size.trailing_zeros() && u32::from(i.residue).is_multiple_of(size)
        });
        let rows = v.index.is_some_and(|i| i.rows > 1);
        let (vs, w) = match v.step(0, lanes) {
            Some(1) if !rows => (lanes, lanes),
            _ if v.hs == 1 => (v.vs, v.w),
            _ => return None,
        };
        let whole = [lanes, v.offset, w]
            .into_iter()
            .all(|n| n.is_multiple_of(size))
            && (rows || vs.is_multiple_of(size));
        (aligned && known && whole).then(|| View {
            vs: vs / size,
            w: w / size,
            hs: 1,
            ty,
            ..*v
        })
    }

    /// Copies sources of bytes that have an address each, on platforms that allow none. The dword
    /// around each byte is read and shifted.
    pub(super) fn gather_bytes(&mut self, b: &mut Bale) {
        if self.target.features().multi_indirect_bytes {
            return;
        }
        for n in 0..3 {
            if let Some(BaleSrc::View(v, m)) = b.operation.srcs[n]
                && let Some(v) = self.gathered(&v, b.lanes)
            {
                b.operation.srcs[n] = Some(BaleSrc::View(v, m));
            }
        }
    }

    fn gathered(&mut self, v: &View, lanes: u32) -> Option<View> {
        let i = v.index.filter(|i| i.rows > 1 && v.ty.bytes() == 1)?;
        if lanes < FEWEST || v.w > 1 && (self.is_row_in_grf(v) || !self.rows_are_short(v, lanes)) {
            return None;
        }
        let base = self.base(v.reg).grf_offset;
        if let Some(r) = v.reg.as_grf() {
            let d = &self.vregs[r];
            let fixed = matches!(d.constraint, RegConstraint::Fixed(_));
            // No dword is partly outside of the register.
            if !d.bytes.is_multiple_of(DWORD) || !fixed && d.constraint != RegConstraint::Any {
                return None;
            }
        }
        let odd = (base + v.offset) % DWORD;
        let offset = v.offset.checked_sub(odd)?;
        self.fired.repair(Repair::ByteGather);
        self.align_destination(v, DWORD);
        let words = View {
            offset: i.at.into(),
            ..View::contiguous(VirtReg::grf(i.reg), lanes, Type::Uw)
        };
        let at = if v.w > 1 {
            self.element_indices(v, words, lanes, odd)
        } else if odd > 0 {
            let sum = [words.plain(), BaleSrc::Imm(odd.into(), Type::Uw)];
            self.words(lanes, Op::Add, sum)
        } else {
            words
        };
        let down = [at.plain(), BaleSrc::Imm(0xfffc, Type::Uw)];
        let down = self.words(lanes, Op::And, down);
        // Five bits of a count are those of a shift of dwords.
        let bits = [at.plain(), BaleSrc::Imm(3, Type::Uw)];
        let bits = self.words(lanes, Op::Shl, bits);
        let around = View {
            offset,
            vs: 0,
            w: 1,
            hs: 0,
            ty: Type::Ud,
            reg: v.reg,
            index: Some(Index {
                reg: down.reg.as_grf()?,
                at: 0,
                rows: lanes,
                known: 2,
                residue: 0,
                parent: 0,
            }),
        };
        let to = self.temp(lanes * DWORD);
        let to = View::contiguous(VirtReg::grf(to), lanes, Type::Ud);
        let shift = Operation::new(Op::Shr, Type::Ud, &[around.plain(), bits.plain()]);
        self.plain_bale(lanes, shift, to);
        Some(to.narrowed(v.ty))
    }

    /// Returns true if rows with an index each are known to be in one GRF each.
    fn is_row_in_grf(&self, v: &View) -> bool {
        let row = super::BalePiece {
            first: 0,
            lanes: v.w,
        };
        self.is_in_grf(v, row)
    }

    /// Returns true if the columns of rows are few and fit the nibbles of packed immediates, each
    /// of which one instruction reads.
    fn rows_are_short(&self, v: &View, lanes: u32) -> bool {
        let last = lanes % PACKED;
        let whole = last == 0 || last.is_power_of_two();
        matches!(v.w, 2 | 4) && v.w * v.hs <= 8 && lanes.is_multiple_of(v.w) && whole
    }

    /// Returns the indices of all elements of short rows, plus a constant.
    fn element_indices(&mut self, v: &View, words: View, lanes: u32, add: u32) -> View {
        let columns = (0..PACKED).fold(0u64, |all, l| {
            all | u64::from(l % v.w * v.hs + add) << (4 * l)
        });
        let to = self.temp(lanes * Type::Uw.bytes());
        let to = View::contiguous(VirtReg::grf(to), lanes, Type::Uw);
        let rows = View {
            vs: 1,
            w: v.w,
            hs: 0,
            ..words
        };
        for first in (0..lanes).step_by(PACKED as usize) {
            let from = View {
                offset: rows.byte(first),
                ..rows
            };
            let part = View {
                offset: to.byte(first),
                ..to
            };
            let sum = [from.plain(), BaleSrc::Imm(columns, Type::Uv)];
            let sum = Operation::new(Op::Add, Type::Uw, &sum);
            let count = PACKED.min(lanes - first);
            self.bale(&Bale::new(count, sum, part, first == 0));
        }
        to
    }

    /// Emits an operation on words, and returns its result.
    pub(super) fn words(&mut self, lanes: u32, op: Op, srcs: [BaleSrc; 2]) -> View {
        let to = self.temp(lanes * Type::Uw.bytes());
        let to = View::contiguous(VirtReg::grf(to), lanes, Type::Uw);
        self.plain_bale(lanes, Operation::new(op, Type::Uw, &srcs), to);
        to
    }
}
