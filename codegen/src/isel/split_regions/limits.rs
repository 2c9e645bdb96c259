//! Whether one instruction can execute a piece of a bale: what each operand allows of channels.

use super::{Legalizer, Operands, Piece, cut};
use crate::mir::VirtReg;
use crate::mir::bale::{Bale, BaleSrc, View};
use gantry_isa_gen::{Op, Region, Type};

/// Words of the address register that rows may have (PRM Vol. 7, "Indirect Operand").
const ADDRESSES: u32 = 16;

impl Legalizer<'_> {
    /// Whether a bale is one of the many that need no repair (`repair.rs`): all of its operands are
    /// words, or all doublewords, and nothing of its operation asks where they lie.
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
            // Of integers the factors are of limited size.
            Op::Mul => o.ty.is_float(),
            _ => !b.is_ternary(),
        };
        let sources = o.srcs.iter().flatten();
        let mut types = sources.map(BaleSrc::ty).chain([o.ty]);
        plain && b.lanes > 0 && matches!(o.ty.bytes(), 2 | 4) && types.all(alike)
    }

    /// Where the operands of these channels are, if they are all encodable in one instruction.
    pub(super) fn fits(&self, bale: &Bale, p: Piece) -> Option<Operands> {
        let mut out = Operands::default();
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

    /// The region of an indirect source, if one instruction can reach these channels. Where it is
    /// known how it lies in GRFs, it is that of a direct one.
    pub(super) fn indirect(&self, v: &View, p: Piece) -> Option<Region> {
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

    /// One index serves one row, or all rows where there is only one index; and where an indirect
    /// operand cannot cross registers, one channel alone surely does not.
    fn index_fits(&self, v: &View, p: Piece) -> bool {
        v.index
            .is_none_or(|i| i.rows == 1 || p.first % v.w + p.lanes <= v.w)
            && (p.lanes == 1 || self.target.features().indirect_grf_crossing)
    }

    /// Whether these channels are of several rows, each with an index of its own.
    pub(super) fn spans_rows(v: &View, p: Piece) -> bool {
        v.index
            .is_some_and(|i| i.rows > 1 && p.first % v.w + p.lanes > v.w)
    }

    /// Source 0 can have an address for each row, where no other operand needs one. Rows lie in one
    /// register each: sure of single elements, else as for any indirect operand.
    fn rows_fit(&self, bale: &Bale, n: usize, v: &View, p: Piece) -> bool {
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

    fn dst_fits(&self, v: &View, p: Piece) -> bool {
        match v.index {
            Some(_) => {
                self.index_fits(v, p)
                    && cut::dst_stride(v, p.first, p.lanes).is_some()
                    && cut::within_grf(v, p.first, p.lanes, self.grf.bytes)
            }
            None => cut::dst(v, p.first, p.lanes, self.base(v.reg)).is_some(),
        }
    }

    fn src_fits(&self, v: &View, p: Piece) -> bool {
        match v.index {
            Some(_) => self.indirect(v, p).is_some(),
            None => cut::src(v, p.first, p.lanes, self.base(v.reg)).is_some(),
        }
    }

    /// `mach` comes with a product by the low words of its second factor.
    fn low_words_fit(&self, bale: &Bale, p: Piece) -> bool {
        match bale.operation.srcs[1] {
            Some(BaleSrc::View(v, _)) if bale.operation.op == Op::Mach => {
                self.src_fits(&v.narrowed(Type::Uw), p)
            }
            _ => true,
        }
    }

    /// Where results are split evenly: of a source in two registers, a result in one lies in one
    /// half of it, or evenly in both.
    fn halves_fit(&self, bale: &Bale, p: Piece) -> bool {
        if !self.target.features().even_split
            || bale.dst.reg == VirtReg::NULL
            || bale.dst.index.is_some()
        {
            return true;
        }
        // A power of two, of which the compiler does not know.
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
        // Neither: then no source may reach into a second register.
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
