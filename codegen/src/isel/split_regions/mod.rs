//! Legalization: bales of any width and region become instructions that the hardware takes.
//!
//! A bale is first brought into a form that some exec size can execute (`repair.rs`, `wide.rs`,
//! `bytes.rs`, `byte_results.rs`, `byte_sources.rs`, `rows.rs`). Operands that no exec size
//! allows go through a temporary. Then it is split (`cut.rs`) into the widest pieces whose operands
//! are all encodable. A piece has a power of two of channels, at most two GRFs per operand,
//! encodable strides, and flag bits at legal channel offsets.
//!
//! Input: lowered blocks. Output: [`VCode`] in which every instruction passes `isa_gen::legal` once
//! registers are allocated with their alignment.

pub mod bounds;
mod byte_results;
mod byte_sources;
mod bytes;
mod cut;
mod limits;
mod repair;
mod rows;
mod wide;

use crate::error::CodegenError;
use crate::mir::bale::{Bale, BaleSrc, View};
use crate::mir::lowered::{Lowered, LoweredFunction, exec_compare};
use crate::mir::operand::{
    begins, control, dst, flag_bits, flag_dst, flag_src, flag_type, grf_dst, imm, scalar_src,
    uniform,
};
use crate::mir::srclocs::SrcLocs;
use crate::mir::{
    BlockData, MInst, RegConstraint, VCode, VFlag, VReg, VRegData, VirtReg, routines,
};
use crate::rule_coverage::{Fired, Repair};
use crate::target::{GrfFile, Target};
use cranelift_entity::PrimaryMap;
use cut::GrfPosition;
use gantry_isa_gen::{
    self as isa, ChannelOffset, CondMod, Dst, ExecSize, InstOpts, Op, PredCtrl, Predicate, RegRef,
    Region, Src, SrcMods, Type,
};
use smallvec::SmallVec;

/// Number of instructions up to which unused memory is not given back.
const FEW: usize = 4 << 10;

/// Splits every bale of a lowered function. `memory` is memory for the instructions, with any
/// contents.
///
/// # Errors
/// Bale that no sequence of instructions can execute.
pub fn legalize(
    name: &str,
    mut f: LoweredFunction,
    target: &Target,
    mut memory: Vec<MInst>,
) -> Result<VCode, CodegenError> {
    memory.clear();
    // Most bales become one instruction.
    memory.reserve_exact(f.code.len() + f.code.len() / 4);
    let mut l = Legalizer {
        target,
        grf: f.grf,
        vregs: std::mem::take(&mut f.vregs),
        flags: std::mem::take(&mut f.flags),
        fired: std::mem::take(&mut f.fired),
        out: memory,
        words: SmallVec::new(),
        error: None,
    };
    let mut blocks = PrimaryMap::with_capacity(f.blocks.len());
    let mut locs = SrcLocs::default();
    for block in std::mem::take(&mut f.blocks) {
        let start = l.out.len();
        l.words.clear();
        let mut from = block.locs.cursor();
        for (n, item) in f.items(&block) {
            locs.push(l.out.len(), from.at(n));
            match item {
                Lowered::Bale(b) => l.bale(b),
                Lowered::Sent(_) => {}
                Lowered::Send(s) => l.fail(format!("`{s}` has no payloads")),
                Lowered::Inst(m) => l.out.push(*m),
            }
        }
        blocks.push(BlockData {
            start,
            end: l.out.len(),
            succs: block.succs,
            preds: Default::default(),
            flags: block.flags,
        });
    }
    if let Some(what) = l.error {
        return Err(CodegenError::internal(name, what));
    }
    if l.out.len() > FEW {
        l.out.shrink_to_fit();
    }
    let mut code = VCode {
        grf: l.grf,
        insts: l.out,
        locs,
        blocks,
        routines: f.routines,
        vregs: l.vregs,
        flags: l.flags,
        labels: f.labels,
        label_types: f.label_types,
        lone_surfaces: f.lone_surfaces,
        fired: l.fired,
    };
    routines::keep_payload(&mut code);
    routines::keep_links(&mut code);
    code.compute_preds();
    Ok(code)
}

/// Counts the instructions of legalized bales.
pub(crate) struct Counter<'a>(Legalizer<'a>);

impl<'a> Counter<'a> {
    /// Returns a counter for bales of a function.
    pub(crate) fn new(f: &LoweredFunction, target: &'a Target) -> Counter<'a> {
        Counter(Legalizer {
            target,
            grf: f.grf,
            vregs: f.vregs.clone(),
            flags: f.flags.clone(),
            fired: Fired::default(),
            out: Vec::new(),
            words: SmallVec::new(),
            error: None,
        })
    }

    /// Returns a new register of a word.
    pub(crate) fn word(&mut self) -> VReg {
        self.0.temp(Type::Uw.bytes())
    }

    /// Returns the number of instructions of a bale without address loads, if it can be executed.
    /// `f` is called with the constant offset of each address load without a base register.
    pub(crate) fn count(&mut self, bale: &Bale, mut f: impl FnMut(u32)) -> Option<u32> {
        self.0.out.clear();
        self.0.words.clear();
        self.0.bale(bale);
        if self.0.error.take().is_some() {
            return None;
        }
        let mut count = 0;
        for m in &self.0.out {
            match *m {
                MInst::Op { .. } => count += 1,
                MInst::LoadAddress {
                    base: None, offset, ..
                } => f(offset),
                _ => {}
            }
        }
        Some(count)
    }
}

struct Legalizer<'a> {
    target: &'a Target,
    grf: GrfFile,
    vregs: PrimaryMap<VReg, VRegData>,
    flags: PrimaryMap<VFlag, u8>,
    fired: Fired,
    out: Vec<MInst>,
    /// Words of bytes that the block has made, the last ones.
    words: SmallVec<[WidenedBytes; byte_sources::MAX_WIDENED]>,
    error: Option<String>,
}

/// Words that a byte source was widened to.
#[derive(Clone, Copy)]
struct WidenedBytes {
    bytes: View,
    lanes: u32,
    words: View,
    /// Number of instructions when they were made.
    at: usize,
}

/// Channels `first..first + lanes` of a bale.
#[derive(Clone, Copy)]
struct BalePiece {
    first: u32,
    lanes: u32,
}

/// Direct operands of a piece.
#[derive(Clone, Copy, Default)]
struct PieceOperands {
    /// Byte offset from the register's start, and stride.
    dst: Option<(u32, u8)>,
    /// Byte offsets, and regions.
    srcs: [Option<(u32, Region)>; 3],
}

impl Legalizer<'_> {
    /// Records an error. The first one counts.
    fn fail(&mut self, what: String) {
        self.error.get_or_insert(what);
    }

    fn temp(&mut self, bytes: u32) -> VReg {
        self.vregs.push(VRegData::anywhere(bytes, self.grf))
    }

    fn temp_flag(&mut self, lanes: u32) -> VFlag {
        self.flags.push(lanes as u8)
    }

    /// Returns the position of a register in a GRF, as far as it is known.
    fn base(&self, reg: VirtReg) -> GrfPosition {
        let grf = self.grf.bytes;
        let grf_offset = match reg.as_grf().map(|r| self.vregs[r].constraint) {
            Some(RegConstraint::Fixed(at)) => at % grf,
            _ => 0,
        };
        let even = self.target.features().even_split;
        GrfPosition {
            grf,
            grf_offset,
            even,
        }
    }

    fn bale(&mut self, bale: &Bale) {
        if bale.operation.mode != 0 {
            return self.in_mode(bale);
        }
        let by_row = self.rows_at_one_index(bale);
        let bale = by_row.as_ref().unwrap_or(bale);
        let shaped;
        let bale = if self.is_plain(bale) {
            bale
        } else {
            let Some(bale) = self.shape(bale) else { return };
            shaped = bale;
            &shaped
        };
        let pieces = self.pieces(bale);
        let masked = self.reachable_mask(bale, &pieces);
        // The move to the destination has other operands.
        let same = masked.is_none();
        let bale = masked.as_ref().unwrap_or(bale);
        // The bits of a compare's mask that are kept exist before the first piece.
        let mut previous = bale.under.map(|(mask, _)| mask).or(bale.onto);
        for (n, (piece, operands)) in pieces.iter().enumerate() {
            let last = n + 1 == pieces.len();
            let operands = if same {
                *operands
            } else {
                PieceOperands::default()
            };
            self.piece(bale, *piece, &operands, last, &mut previous);
            self.touch_indirect(bale);
        }
    }

    /// Emits a bale in another floating-point mode than the function's.
    fn in_mode(&mut self, bale: &Bale) {
        self.fired.repair(Repair::Mode);
        let mut plain = *bale;
        let mode = std::mem::take(&mut plain.operation.mode);
        self.out.push(control(self.target, Op::Xor, mode));
        self.bale(&plain);
        self.out.push(control(self.target, Op::Xor, mode));
    }

    /// Returns the bale with its execution mask, and its flag, combined into a flag. `None` if all
    /// pieces are at legal channel offsets, so that none is needed.
    fn reachable_mask(
        &mut self,
        bale: &Bale,
        pieces: &[(BalePiece, PieceOperands)],
    ) -> Option<Bale> {
        let flag = bale.mask?;
        if !(flag == VFlag::EXEC || bale.running)
            || pieces
                .iter()
                .all(|(p, _)| self.channel_offset(bale, *p).is_some())
        {
            return None;
        }
        let mut bale = *bale;
        if bale.operation.select.is_some() || bale.operation.cond.is_some() {
            // There is only one predicate, and a minimum or maximum has none. The result is written
            // to a temporary and moved.
            let bytes = bale.lanes * bale.dst.ty.bytes();
            let chosen = View::contiguous(VirtReg::grf(self.temp(bytes)), bale.lanes, bale.dst.ty);
            self.bale(&Bale {
                mask: None,
                dst: chosen,
                starts: true,
                ..bale
            });
            bale = self.moved(&bale, chosen);
        }
        let lanes = (bale.channel + bale.lanes).next_multiple_of(8);
        let zero = self.temp(4);
        let ty = Type::Ud;
        self.op(Op::Mov, grf_dst(zero, ty), [imm(0, ty)]);
        let flag_ty = flag_type(lanes);
        let mut before = self.temp_flag(lanes);
        self.op(Op::Mov, flag_dst(before, flag_ty), [imm(0, flag_ty)]);
        for first in (0..lanes).step_by(16) {
            let next = self.temp_flag(lanes);
            let n = (lanes - first).min(16);
            self.out.extend(exec_compare(first, n, zero, before, next));
            before = next;
        }
        if flag != VFlag::EXEC {
            let both = self.temp_flag(lanes);
            let running = self.temp(4);
            let moved = [flag_src(before, flag_ty)];
            self.op(Op::Mov, grf_dst(running, flag_ty), moved);
            let srcs = [flag_src(flag, flag_ty), scalar_src(running, 0, flag_ty)];
            self.op(Op::And, flag_dst(both, flag_ty), srcs);
            before = both;
        }
        Some(Bale {
            mask: Some(before),
            running: false,
            ..bale
        })
    }

    /// Keeps registers that a piece accesses through addresses live up to it.
    fn touch_indirect(&mut self, bale: &Bale) {
        let views = bale
            .operation
            .srcs
            .iter()
            .flatten()
            .filter_map(|s| match s {
                BaleSrc::View(v, _) => Some((v, false)),
                BaleSrc::Imm(..) => None,
            });
        for (v, write) in views.chain([(&bale.dst, true)]) {
            if let Some(index) = v.index {
                // An operand without a base register is represented by the register of its index.
                let reg = v.reg.as_grf().unwrap_or(index.reg);
                self.out.push(MInst::Touch { reg, write });
            }
        }
    }

    /// Splits a bale: at each channel, takes the widest piece that every operand allows.
    fn pieces(&mut self, bale: &Bale) -> SmallVec<[(BalePiece, PieceOperands); 4]> {
        let mut out = SmallVec::new();
        let mut first = 0;
        let mut most = bale.max_exec(self.grf.bytes);
        // Channel offsets are multiples of the exec size.
        if let Some(step) = 1u32.checked_shl(bale.first_bit().trailing_zeros())
            && step >= self.target.features().channel_step
        {
            most = most.min(step);
        }
        while first < bale.lanes {
            let mut lanes = 1 << (bale.lanes - first).min(most).ilog2();
            let operands = loop {
                match self.fits(bale, BalePiece { first, lanes }) {
                    Some(operands) => break operands,
                    None if lanes > 1 => lanes /= 2,
                    None => {
                        if self.error.is_none() {
                            self.error = Some(format!("no width can execute `{bale}`"));
                        }
                        break PieceOperands::default();
                    }
                }
            };
            out.push((BalePiece { first, lanes }, operands));
            first += lanes;
        }
        out
    }

    fn piece(
        &mut self,
        bale: &Bale,
        p: BalePiece,
        operands: &PieceOperands,
        last: bool,
        previous: &mut Option<VFlag>,
    ) {
        let Some(exec) = ExecSize::new(p.lanes) else {
            return;
        };
        let first = p.first == 0;
        let o = &bale.operation;
        let mut inst = isa::Inst::new(o.op, exec);
        inst.subfn = o.subfn;
        inst.no_mask = true;
        inst.sat = o.sat;
        inst.dst = self.dst(&bale.dst, p, operands.dst);
        let sources = o.srcs.iter().zip(operands.srcs);
        for (n, ((s, at), out)) in sources.zip(&mut inst.srcs).enumerate() {
            if let Some(s) = s {
                *out = self.src(s, p, n as u16, at);
            }
        }
        if bale.is_ternary() {
            let single = self.target.features().ternary_single_step;
            for (n, s) in inst.srcs.iter_mut().enumerate() {
                if let Src::Direct { region, .. } = s {
                    *region = ternary_region(n, *region, single);
                }
            }
        }
        let offset = self.channel_offset(bale, p);
        let bits = BalePiece {
            first: bale.first_bit() + p.first,
            ..p
        };
        let exec = bale.mask == Some(VFlag::EXEC);
        if exec || bale.mask.is_some() && bale.running {
            inst.no_mask = false;
            inst.offset = offset.unwrap_or_default();
        }
        let flag = bale.mask.filter(|_| !exec);
        let (inverse, ctrl) = match flag {
            Some(_) => (bale.inverse, PredCtrl::Sequential),
            None => (false, o.ctrl),
        };
        if let Some(mask) = flag.or(o.select.map(|s| s.0)) {
            let (flag, at) = match offset {
                Some(at) => (mask, at),
                None => (self.flag_part(mask, bits), ChannelOffset::M0),
            };
            inst.offset = at;
            inst.pred = Some(Predicate {
                flag: RegRef::new(VirtReg::flag(flag), 0),
                inverse,
                ctrl,
            });
        }
        if let Some(cond) = o.cond {
            // `sel` names a flag that it does not write.
            inst.cond = Some(CondMod {
                cond,
                flag: RegRef::new(VirtReg::phys(isa::Reg::Arf(isa::Arf::Flag, 0)), 0),
            });
        }
        let starts = first && bale.starts;
        let Some((cond, out)) = bale.flag else {
            self.before(bale, p, &inst);
            // `mach` gives the upper half if it writes the accumulator. From Xe-HPC on this is
            // implicit.
            let says = inst.op.info(self.target.platform()).is_some_and(|i| i.acc);
            if says && (bale.carry.is_some() || inst.op == Op::Mach) {
                inst.opts |= InstOpts::ACC_WR_EN;
            }
            self.out.push(MInst::Op {
                inst,
                starts,
                keeps: None.into(),
            });
            self.after(bale, p, first);
            return;
        };
        let lanes = u32::from(self.flags[out]);
        let target = if last { out } else { self.temp_flag(lanes) };
        let keeps = *previous;
        if let (Some((mask, inverse)), Some(kept)) = (bale.under, keeps) {
            // The predicate is the flag that is written: earlier pieces wrote other lanes.
            let flag = if offset.is_some() {
                kept
            } else {
                self.flag_part(mask, bits)
            };
            inst.pred = Some(Predicate {
                flag: RegRef::new(VirtReg::flag(flag), 0),
                inverse,
                ctrl: PredCtrl::Sequential,
            });
        }
        let written = if offset.is_some() {
            target
        } else {
            self.temp_flag(p.lanes)
        };
        inst.offset = offset.unwrap_or_default();
        inst.cond = Some(CondMod {
            cond,
            flag: RegRef::new(VirtReg::flag(written), 0),
        });
        self.out.push(MInst::Op {
            inst,
            starts,
            keeps: match (bale.under, &inst.pred) {
                // Off the grid of channel offsets, the part of the mask is kept.
                (Some(_), Some(p)) => p.flag.reg.as_flag(),
                _ => keeps.filter(|_| offset.is_some()),
            }
            .into(),
        });
        if offset.is_none() {
            self.merge_flag(target, keeps, written, bits);
        }
        *previous = Some(target);
    }

    /// Emits the accumulator's value before an instruction: for `mach`, the product of the first
    /// factor and the second's low words.
    fn before(&mut self, bale: &Bale, p: BalePiece, inst: &isa::Inst<VirtReg>) {
        let (Op::Mach, Some(BaleSrc::View(v, m))) = (bale.operation.op, bale.operation.srcs[1])
        else {
            return;
        };
        let low = BaleSrc::View(v.narrowed(Type::Uw), m);
        let mut mul = *inst;
        mul.op = Op::Mul;
        mul.dst = dst(RegRef::new(accumulator(), 0), bale.operation.ty);
        mul.srcs[1] = self.src(&low, p, 1, None);
        self.out.push(begins(mul));
    }

    /// Moves the carry from the accumulator after an instruction.
    fn after(&mut self, bale: &Bale, p: BalePiece, first: bool) {
        let (Some(carry), Some(exec)) = (bale.carry, ExecSize::new(p.lanes)) else {
            return;
        };
        let mut mov = isa::Inst::new(Op::Mov, exec);
        mov.no_mask = true;
        mov.dst = self.dst(&carry, p, None);
        mov.srcs[0] = Src::Direct {
            at: RegRef::new(accumulator(), 0),
            region: Region::packed(exec),
            ty: carry.ty,
            mods: SrcMods::default(),
        };
        self.out.push(MInst::Op {
            inst: mov,
            starts: first,
            keeps: None.into(),
        });
    }

    fn op<const N: usize>(&mut self, op: Op, dst: Dst<VirtReg>, srcs: [Src<VirtReg>; N]) {
        self.out.push(begins(uniform(op, dst, srcs)));
    }

    /// The channel offset of a piece. It has steps; bits between need a flag of their own.
    fn channel_offset(&self, bale: &Bale, p: BalePiece) -> Option<ChannelOffset> {
        let first = bale.first_bit() + p.first;
        let step = self.target.features().channel_step;
        let reachable = first.is_multiple_of(step.max(p.lanes.min(32)));
        ChannelOffset::new(first).filter(|_| reachable)
    }

    /// Returns a piece's bits of a flag, moved to bit 0 of a flag of their own.
    fn flag_part(&mut self, flag: VFlag, p: BalePiece) -> VFlag {
        self.fired.repair(Repair::FlagPart);
        let out = self.temp_flag(p.lanes);
        let lanes = u32::from(self.flags[flag]);
        self.out
            .push(begins(flag_bits(out, p.lanes, flag, lanes, p.first)));
        out
    }

    /// Emits `target = previous`, with a piece's bits from `bits`.
    fn merge_flag(&mut self, target: VFlag, previous: Option<VFlag>, bits: VFlag, p: BalePiece) {
        self.fired.repair(Repair::FlagMerge);
        let ty = flag_type(u32::from(self.flags[target]));
        let mask = ((1u64 << p.lanes) - 1) << p.first;
        let moved = self.temp(4);
        self.op(
            Op::Shl,
            grf_dst(moved, Type::Ud),
            [
                flag_src(bits, Type::Uw),
                imm(p.first.into(), Type::Uw),
                Src::None,
            ],
        );
        self.op(
            Op::And,
            grf_dst(moved, Type::Ud),
            [
                scalar_src(moved, 0, Type::Ud),
                imm(mask, Type::Ud),
                Src::None,
            ],
        );
        let to = flag_dst(target, ty);
        let moved = scalar_src(moved, 0, ty);
        if let Some(f) = previous {
            let kept = self.temp(4);
            self.op(
                Op::And,
                grf_dst(kept, Type::Ud),
                [
                    flag_src(f, ty),
                    imm(!mask & 0xffff_ffff, Type::Ud),
                    Src::None,
                ],
            );
            let kept = scalar_src(kept, 0, ty);
            self.op(Op::Or, to, [moved, kept, Src::None]);
        } else {
            self.op(Op::Mov, to, [moved, Src::None, Src::None]);
        }
    }

    fn load_address(&mut self, v: &View, p: BalePiece, sub: u16) {
        let Some(i) = v.index else {
            return;
        };
        let row = if i.rows > 1 { p.first / v.w } else { 0 };
        // With an index per row, each row starts at its own index.
        let offset = if i.rows > 1 {
            v.offset + (p.first % v.w) * v.hs * v.ty.bytes()
        } else {
            v.byte(p.first)
        };
        self.out.push(MInst::LoadAddress {
            sub,
            count: ExecSize::S1,
            base: v.reg.as_grf(),
            offset,
            index: Some((i.reg, u32::from(i.at) + row * 2)),
        });
    }

    /// Returns source 0 with an address for each of its rows.
    fn rows(&mut self, v: &View, p: BalePiece, mods: SrcMods) -> Option<Src<VirtReg>> {
        let i = v.index?;
        self.out.push(MInst::LoadAddress {
            sub: 0,
            count: ExecSize::new(p.lanes / v.w)?,
            base: v.reg.as_grf(),
            offset: v.offset,
            index: Some((i.reg, u32::from(i.at) + p.first / v.w * 2)),
        });
        Some(Src::Indirect {
            addr: RegRef::new(address(), 0),
            imm: 0,
            region: Region::VxH {
                w: v.w as u8,
                hs: if v.w == 1 { 0 } else { v.hs as u8 },
            },
            ty: v.ty,
            mods,
        })
    }

    /// Returns a piece of a destination. `at` is its position, if known.
    fn dst(&mut self, v: &View, p: BalePiece, at: Option<(u32, u8)>) -> Dst<VirtReg> {
        if v.index.is_some() {
            // Words 0 to 2 of a0 are for the sources.
            self.load_address(v, p, 3);
            return Dst::Indirect {
                addr: RegRef::new(address(), 6),
                imm: 0,
                hs: cut::dst_stride(v, p.first, p.lanes).unwrap_or(1),
                ty: v.ty,
            };
        }
        let at = at.or_else(|| cut::dst(v, p.first, p.lanes, self.base(v.reg)));
        let (at, hs) = at.unwrap_or((0, 1));
        let at = if v.reg == VirtReg::NULL { 0 } else { at };
        Dst::Direct {
            at: RegRef::new(v.reg, at as u16),
            hs,
            ty: v.ty,
        }
    }

    /// Returns a piece of source `n`. `at` is its position, if known.
    fn src(
        &mut self,
        s: &BaleSrc,
        p: BalePiece,
        n: u16,
        at: Option<(u32, Region)>,
    ) -> Src<VirtReg> {
        match *s {
            // Lanes of a packed vector are nibbles, or bytes: the piece's own are shifted to the
            // start.
            BaleSrc::Imm(bits, Type::Vf) => Src::Imm {
                bits: bits >> (8 * p.first.min(3)),
                ty: Type::Vf,
            },
            BaleSrc::Imm(bits, ty) if ty.is_packed_imm() => Src::Imm {
                bits: bits >> (4 * p.first.min(7)),
                ty,
            },
            BaleSrc::Imm(bits, ty) => Src::Imm { bits, ty },
            BaleSrc::View(v, mods) if Self::spans_rows(&v, p) => {
                self.rows(&v, p, mods).unwrap_or(Src::None)
            }
            BaleSrc::View(v, mods) if v.index.is_some() => {
                self.load_address(&v, p, n);
                Src::Indirect {
                    addr: RegRef::new(address(), n * 2),
                    imm: 0,
                    region: self.indirect(&v, p).unwrap_or(Region::SCALAR),
                    ty: v.ty,
                    mods,
                }
            }
            BaleSrc::View(v, mods) => {
                let at = at.or_else(|| cut::src(&v, p.first, p.lanes, self.base(v.reg)));
                let (at, region) = at.unwrap_or((v.offset, Region::SCALAR));
                Src::Direct {
                    at: RegRef::new(v.reg, at as u16),
                    region,
                    ty: v.ty,
                    mods,
                }
            }
        }
    }
}

/// Returns a region as three-source instructions encode it: consecutive elements or one element,
/// and in source 2 a stride. With `single`, rows of one element have a vertical stride of one.
fn ternary_region(source: usize, region: Region, single: bool) -> Region {
    let step = u8::from(region != Region::SCALAR);
    match source {
        2 => Region::Scalar3 {
            hs: match region {
                Region::Rect { vs, w: 1, .. } => vs,
                Region::Rect { hs, .. } => hs,
                _ => step,
            },
        },
        _ if single => Region::Ternary { vs: step, hs: 0 },
        _ => Region::Ternary {
            vs: 2 * step,
            hs: step,
        },
    }
}

/// Returns `acc0`.
fn accumulator() -> VirtReg {
    VirtReg::phys(isa::Reg::Arf(isa::Arf::Acc, 0))
}

/// Returns `a0`.
fn address() -> isa::Reg {
    isa::Reg::Arf(isa::Arf::Address, 0)
}

#[cfg(test)]
mod tests;
