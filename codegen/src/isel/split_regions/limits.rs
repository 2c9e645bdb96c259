//! Limits on the channels of one instruction by each operand of a bale.

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
                out.dst = Some(cut::dst(
                    &bale.dst,
                    p.first,
                    p.lanes,
                    self.base(bale.dst.reg),
                )?)
            }
        }
        let carried = bale.carry.is_none_or(|c| self.dst_fits(&c, p));
        if !carried || !self.low_words_fit(bale, p) {
            return None;
        }
        for (n, (s, at)) in bale.operation.srcs.iter().zip(&mut out.srcs).enumerate() {
            let fits = match s {
                None => true,
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

    /// Returns the region of an indirect source, if one instruction can access these channels. An
    /// aligned index gives the same region as a direct source.
    pub(super) fn indirect(&self, v: &View, p: BalePiece) -> Option<Region> {
        let grf = self.grf.bytes;
        if !v.index.is_some_and(|i| i.aligned) {
            let region = cut::indirect(v, p.first, p.lanes, grf);
            return region.filter(|_| self.index_fits(v, p));
        }
        let (_, region) = cut::src(v, p.first, p.lanes, self.base(v.reg))?;
        let last = v.byte(p.first + p.lanes - 1) + v.ty.bytes() - 1;
        let one = v.byte(p.first) / grf == last / grf;
        (one || self.target.features().indirect_grf_crossing).then_some(region)
    }

    /// Returns true if one index serves the channels: those of one row, or all rows if there is
    /// only one index. If an indirect operand cannot cross GRFs, only a single channel is sure not
    /// to.
    fn index_fits(&self, v: &View, p: BalePiece) -> bool {
        v.index
            .is_none_or(|i| i.rows == 1 || p.first % v.w + p.lanes <= v.w)
            && (p.lanes == 1 || self.target.features().indirect_grf_crossing)
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
        let wide = self.target.features().indirect_grf_crossing && v.w.is_power_of_two();
        let row = v.w == 1 || wide && cut::row_is_encodable(v, self.grf.bytes);
        n == 0 && alone && whole && row && !bale.is_ternary() && p.lanes / v.w <= ADDRESSES
    }

    fn dst_fits(&self, v: &View, p: BalePiece) -> bool {
        match v.index {
            Some(_) => {
                self.index_fits(v, p)
                    && cut::dst_stride(v, p.first, p.lanes).is_some()
                    && cut::within_grf(v, p.first, p.lanes, self.grf.bytes)
            }
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
