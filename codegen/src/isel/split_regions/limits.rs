//! Limits on the channels of one instruction by each operand of a bale.

use super::cut::GrfPosition;
use super::{BalePiece, Legalizer, PieceOperands, cut};
use crate::mir::VirtReg;
use crate::mir::bale::{Bale, BaleSrc, View};
use gantry_isa_gen::{Op, Region, Type};

/// Words of the address register that rows may have (PRM Vol. 7, "Indirect Operand").
const ADDRESSES: u32 = 16;

impl Legalizer<'_> {
    /// Returns true if a bale needs no repair (`repair.rs`), as most do not. All of its operands
    /// must be words, or all dwords, and its operation must not restrict their positions.
    pub(super) fn is_plain(&self, b: &Bale) -> bool {
        let o = &b.operation;
        let placed = self.target.features().regioning_in_step;
        let alike = |ty: Type| {
            ty.bytes() == o.ty.bytes()
                && !matches!(ty, Type::Hf | Type::Bf)
                && !(placed && ty.is_float())
        };
        let plain = match o.op {
            Op::Math | Op::Mach => false,
            // Integer factors are of limited size.
            Op::Mul => o.ty.is_float(),
            _ => !b.is_ternary(),
        };
        let sources = o.srcs.iter().flatten();
        let mut types = sources.map(BaleSrc::ty).chain([o.ty]);
        plain && b.lanes > 0 && matches!(o.ty.bytes(), 2 | 4) && types.all(alike)
    }

    /// Returns the operands of these channels, if all are encodable in one instruction.
    pub(super) fn fits(&self, bale: &Bale, p: BalePiece) -> Option<PieceOperands> {
        let mut out = PieceOperands::default();
        match bale.dst.index {
            Some(_) if !self.dst_fits(&bale.dst, p) => return None,
            Some(_) => {}
            None => {
                let mut base = self.base(bale.dst.reg);
                base.even |= bale.operation.op == Op::Math;
                out.dst = Some(cut::dst(&bale.dst, p.first, p.lanes, base)?);
            }
        }
        let carried = bale.carry.is_none_or(|c| self.dst_fits(&c, p));
        if !carried || !self.low_words_fit(bale, p) {
            return None;
        }
        for (n, (s, at)) in bale.operation.srcs.iter().zip(&mut out.srcs).enumerate() {
            let fits = match s {
                None => true,
                Some(BaleSrc::Imm(_, Type::Vf)) => p.first + p.lanes <= 4,
                Some(BaleSrc::Imm(_, ty)) => !ty.is_packed_imm() || p.first + p.lanes <= 8,
                Some(BaleSrc::View(v, _)) if v.index.is_none() => {
                    *at = cut::src(v, p.first, p.lanes, self.base(v.reg));
                    at.is_some()
                }
                Some(BaleSrc::View(v, _)) if Self::spans_rows(v, p) => self.rows_fit(bale, n, v, p),
                Some(BaleSrc::View(v, _)) => self.src_fits(v, p),
            };
            if !fits {
                return None;
            }
        }
        self.halves_fit(bale, p).then_some(out)
    }

    /// Returns the region of an indirect source, if one instruction can access these channels. If
    /// the position in a GRF is known, it is the same region as for a direct source.
    pub(super) fn indirect(&self, v: &View, p: BalePiece) -> Option<Region> {
        let p = Self::within_row(v, p)?;
        let region = match self.position(v) {
            Some(base) => cut::src(v, p.first, p.lanes, base).map(|(_, region)| region),
            None => cut::indirect(v, p.first, p.lanes, self.grf.bytes),
        };
        region.filter(|_| self.may_cross(v.ty) || self.is_in_grf(v, p))
    }

    /// Returns the position of a register's start plus the index, if its lowest bits are known.
    pub(super) fn position(&self, v: &View) -> Option<GrfPosition> {
        let (index, base) = (v.index?, self.base(v.reg));
        let grf = self.grf.bytes;
        (u32::from(index.known) >= grf.trailing_zeros()).then(|| GrfPosition {
            grf_offset: (base.grf_offset + u32::from(index.residue)) % grf,
            ..base
        })
    }

    /// Returns true if the channels of an indirect operand may be in two GRFs.
    fn may_cross(&self, ty: Type) -> bool {
        let f = self.target.features();
        f.indirect_grf_crossing && (ty.bytes() > 1 || f.indirect_byte_crossing)
    }

    /// Returns true if the channels of an indirect operand are known to be in one GRF: a single
    /// one, all of the register, those of a row of the parent, or those between two multiples of
    /// a number of bytes that the index is aligned to.
    pub(super) fn is_in_grf(&self, v: &View, p: BalePiece) -> bool {
        let Some(index) = v.index else { return false };
        if p.lanes == 1 {
            return true;
        }
        let (grf, base) = (self.grf.bytes, self.base(v.reg));
        let parent = u32::from(index.parent);
        if let Some(r) = v.reg.as_grf() {
            let last = base.grf_offset + self.vregs[r].bytes - 1;
            let aligned = parent > 0 && base.grf_offset.is_multiple_of(parent);
            let in_row = aligned && grf.is_multiple_of(parent);
            if last < grf || in_row && p.first % v.w + p.lanes <= v.w {
                return true;
            }
        }
        let unit = u32::from(index.known).min(grf.trailing_zeros());
        let start = base.grf_offset + u32::from(index.residue);
        let at = |l: u32| (start + v.byte(p.first + l)) >> unit;
        let end = |l: u32| (start + v.byte(p.first + l) + v.ty.bytes() - 1) >> unit;
        (0..p.lanes).all(|l| at(l) == at(0) && end(l) == at(0))
    }

    /// Returns channels as those of the first row, if each row has an index. `None` if they are of
    /// several rows.
    fn within_row(v: &View, p: BalePiece) -> Option<BalePiece> {
        match v.index {
            Some(i) if i.rows > 1 => {
                let first = p.first % v.w;
                (first + p.lanes <= v.w).then_some(BalePiece { first, ..p })
            }
            _ => Some(p),
        }
    }

    /// Returns true if these channels are of several rows, each with an index of its own.
    pub(super) fn spans_rows(v: &View, p: BalePiece) -> bool {
        v.index
            .is_some_and(|i| i.rows > 1 && p.first % v.w + p.lanes > v.w)
    }

    /// Returns true if source 0 can have an address per row, which no other operand may need. Rows
    /// must not cross a GRF. This is certain for single elements. Others are checked like any
    /// indirect operand.
    fn rows_fit(&self, bale: &Bale, n: usize, v: &View, p: BalePiece) -> bool {
        let sources = bale.operation.srcs.iter().skip(1).flatten();
        let mut others = sources.filter_map(|s| match s {
            BaleSrc::View(v, _) => Some(v),
            BaleSrc::Imm(..) => None,
        });
        let alone = bale.dst.index.is_none() && others.all(|v| v.index.is_none());
        let whole = p.first.is_multiple_of(v.w) && p.lanes.is_multiple_of(v.w);
        let first = BalePiece {
            first: 0,
            lanes: v.w,
        };
        let wide = v.w.is_power_of_two() && (self.may_cross(v.ty) || self.is_in_grf(v, first));
        let row = v.w == 1 || wide && cut::row_is_encodable(v, self.grf.bytes);
        let typed = v.ty.bytes() > 1 || self.target.features().multi_indirect_bytes;
        let fits = whole && row && typed && p.lanes / v.w <= ADDRESSES;
        n == 0 && alone && fits && !bale.is_ternary()
    }

    fn dst_fits(&self, v: &View, p: BalePiece) -> bool {
        match v.index {
            Some(_) => Self::within_row(v, p).is_some_and(|p| {
                let reached = match self.position(v) {
                    Some(base) => cut::dst(v, p.first, p.lanes, base).is_some(),
                    None => {
                        cut::dst_stride(v, p.first, p.lanes).is_some()
                            && cut::within_grf(v, p.first, p.lanes, self.grf.bytes)
                    }
                };
                reached && (self.may_cross(v.ty) || self.is_in_grf(v, p))
            }),
            None => cut::dst(v, p.first, p.lanes, self.base(v.reg)).is_some(),
        }
    }

    fn src_fits(&self, v: &View, p: BalePiece) -> bool {
        match v.index {
            Some(_) => self.indirect(v, p).is_some(),
            None => cut::src(v, p.first, p.lanes, self.base(v.reg)).is_some(),
        }
    }

    /// Checks the product by the low words of the second factor that `mach` needs.
    fn low_words_fit(&self, bale: &Bale, p: BalePiece) -> bool {
        match bale.operation.srcs[1] {
            Some(BaleSrc::View(v, _)) if bale.operation.op == Op::Mach => {
                self.src_fits(&v.narrowed(Type::Uw), p)
            }
            _ => true,
        }
    }

    /// Checks destinations on platforms that split them evenly. If a source is in two GRFs, a
    /// destination in one GRF must be in one half of it, or evenly in both.
    fn halves_fit(&self, bale: &Bale, p: BalePiece) -> bool {
        if !self.target.features().even_split
            || bale.dst.reg == VirtReg::NULL
            || bale.dst.index.is_some()
        {
            return true;
        }
        // Shifts: the Rust compiler does not know that it is a power of two.
        let half = self.grf.bytes / 2;
        let grf_of = |at: u32| at >> self.grf.bytes.trailing_zeros();
        let start = self.base(bale.dst.reg).grf_offset;
        let at = |lane: u32| start + bale.dst.byte(p.first + lane);
        if grf_of(at(0)) != grf_of(at(p.lanes - 1)) {
            return true;
        }
        let lower = (0..p.lanes).filter(|&l| at(l) & half == 0).count() as u32;
        if lower == 0 || lower == p.lanes || 2 * lower == p.lanes {
            return true;
        }
        // Otherwise no source may reach a second GRF.
        bale.operation.srcs.iter().flatten().all(|s| match s {
            BaleSrc::View(v, _) if v.index.is_none() => {
                let start = self.base(v.reg).grf_offset;
                let mut grfs = (0..p.lanes).map(|l| grf_of(start + v.byte(p.first + l)));
                let first = grfs.next();
                grfs.all(|g| Some(g) == first)
            }
            BaleSrc::View(..) => false,
            BaleSrc::Imm(..) => true,
        })
    }
}
