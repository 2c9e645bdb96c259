//! Bales: IR instructions that one Gen instruction executes together.
//!
//! Lowering builds them with operands of any number of lanes and any region. Legalization splits
//! them into what the hardware takes. Bales are split as a whole, because every operand limits the
//! split.

use crate::ir;
use crate::mir::{VFlag, VReg, VirtReg};
use gantry_isa_gen::{Cond, Op, PredCtrl, Reg, SrcMods, Subfn, Type};
use std::fmt;

/// Variable index of an operand: a word in a register, in bytes, added to the region's offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Index {
    /// Register that holds the index.
    pub reg: VReg,
    /// Offset of the first word in that register, in bytes.
    pub at: u16,
    /// Number of words: one per row for multi-indirect access, 1 for a single index.
    pub rows: u32,
    /// Number of known lowest bits of each index.
    pub known: u8,
    /// These bits.
    pub residue: u16,
    /// Bytes of a row of the parent, which no row of the region leaves. 0 if that is not known.
    pub parent: u16,
}

impl Index {
    /// Returns true if both add the same.
    pub fn is_same(&self, other: &Index) -> bool {
        (self.reg, self.at, self.rows) == (other.reg, other.at, other.rows)
    }
}

/// Elements of a register as lanes: lane `i` is at byte `offset + size * ((i / w) * vs + (i % w) *
/// hs)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// Register, or [`View::FILE`] if the variable index is an address in the GRF file.
    pub reg: VirtReg,
    /// Offset of the first lane in bytes.
    pub offset: u32,
    /// Vertical stride in elements.
    pub vs: u32,
    /// Width in elements.
    pub w: u32,
    /// Horizontal stride in elements.
    pub hs: u32,
    /// Element type.
    pub ty: Type,
    /// Variable index.
    pub index: Option<Index>,
}

impl View {
    /// Register of a view whose variable index is an address in the GRF file.
    pub const FILE: VirtReg = VirtReg::phys(Reg::Grf(0));

    /// Returns `lanes` consecutive elements from the register's start.
    pub fn contiguous(reg: VirtReg, lanes: u32, ty: Type) -> View {
        View {
            reg,
            offset: 0,
            vs: lanes,
            w: lanes,
            hs: 1,
            ty,
            index: None,
        }
    }

    /// Returns one element, broadcast to every lane.
    pub fn scalar(reg: VirtReg, offset: u32, ty: Type) -> View {
        View {
            reg,
            offset,
            vs: 0,
            w: 1,
            hs: 0,
            ty,
            index: None,
        }
    }

    /// Returns the view of a region of a register.
    pub fn region(reg: VirtReg, r: &ir::Region, ty: Type) -> View {
        View {
            reg,
            offset: u32::from(r.offset),
            vs: u32::from(r.vstride),
            w: u32::from(r.width).max(1),
            hs: u32::from(r.hstride),
            ty,
            index: None,
        }
    }

    /// Returns the byte offset of a lane from the register's start, without the variable index.
    pub fn byte(&self, lane: u32) -> u32 {
        let element = if lane < self.w || self.vs == self.w * self.hs {
            lane * self.hs
        } else {
            (lane / self.w) * self.vs + (lane % self.w) * self.hs
        };
        self.offset + element * self.ty.bytes()
    }

    /// Returns the distance in elements between neighbours among lanes `first..first + lanes`, if
    /// it is the same for all.
    pub fn step(&self, first: u32, lanes: u32) -> Option<u32> {
        match self.w {
            1 => Some(self.vs),
            w if self.vs == w * self.hs => Some(self.hs),
            w if first + lanes <= w || first % w + lanes <= w => Some(self.hs),
            _ => None,
        }
    }

    /// Returns the view as a source without modifiers.
    pub fn plain(self) -> BaleSrc {
        BaleSrc::View(self, SrcMods::default())
    }

    /// Returns the same lanes, each as its low part of another type.
    pub fn narrowed(self, ty: Type) -> View {
        let ratio = (self.ty.bytes() / ty.bytes()).max(1);
        View {
            vs: self.vs * ratio,
            hs: self.hs * ratio,
            ty,
            ..self
        }
    }
}

/// Source of a bale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BaleSrc {
    /// Elements of a register.
    View(View, SrcMods),
    /// Immediate for every lane: element bits, zero-extended.
    Imm(u64, Type),
}

impl BaleSrc {
    /// Returns the element type.
    pub fn ty(&self) -> Type {
        match self {
            BaleSrc::View(v, _) => v.ty,
            BaleSrc::Imm(_, ty) => *ty,
        }
    }
}

/// Operation without its destination, as ISLE's `operation` builds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Opcode.
    pub op: Op,
    /// Its control field.
    pub subfn: Subfn,
    /// Element type of the result.
    pub ty: Type,
    /// Sources.
    pub srcs: [Option<BaleSrc>; 3],
    /// Saturation.
    pub sat: bool,
    /// Bits of `cr0.0` that are inverted for the operation: those of the rounding mode, if it is
    /// not the function's.
    pub mode: u32,
    /// Flag by which `sel` selects, and its bit for lane 0.
    pub select: Option<(VFlag, u32)>,
    /// Combination of the bits of that flag.
    pub ctrl: PredCtrl,
    /// Condition of `sel`: minimum or maximum.
    pub cond: Option<Cond>,
}

impl Operation {
    /// Returns an operation of up to three sources.
    pub fn new(op: Op, ty: Type, srcs: &[BaleSrc]) -> Operation {
        let mut out = [None; 3];
        for (o, s) in out.iter_mut().zip(srcs) {
            *o = Some(*s);
        }
        Operation {
            op,
            subfn: Subfn::None,
            ty,
            srcs: out,
            sat: false,
            mode: 0,
            select: None,
            ctrl: PredCtrl::Sequential,
            cond: None,
        }
    }
}

/// Bale: an operation on a number of lanes, its destination and its mask.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bale {
    /// Number of lanes, any.
    pub lanes: u32,
    /// Operation.
    pub operation: Operation,
    /// Destination. The null register for compares.
    pub dst: View,
    /// True if the write starts a new value of the destination register.
    pub starts: bool,
    /// Mask of the lanes that are written: a flag, or the execution mask ([`VFlag::EXEC`]). `None`
    /// is all lanes.
    pub mask: Option<VFlag>,
    /// True if a mask that is a flag is combined with the execution mask.
    pub running: bool,
    /// True if the lanes are written whose bit of the mask, a flag, is clear.
    pub inverse: bool,
    /// Channel of lane 0: the bit of a mask, or of the flag that a compare writes.
    pub channel: u32,
    /// Condition and the flag that a compare writes.
    pub flag: Option<(Cond, VFlag)>,
    /// Mask of a compare, and true if it is inverted. Lanes that it disables keep the mask's own
    /// bit in the flag.
    pub under: Option<(VFlag, bool)>,
    /// Flag whose other lanes are those of the flag that a compare writes.
    pub onto: Option<VFlag>,
    /// Destination of the carry or borrow of `addc` and `subb`, a dword per lane.
    pub carry: Option<View>,
}

impl Bale {
    /// Returns an operation on `lanes` lanes without a mask. `starts` is set if it starts a new
    /// value of the destination register.
    pub fn new(lanes: u32, operation: Operation, dst: View, starts: bool) -> Bale {
        Bale {
            lanes,
            operation,
            dst,
            starts,
            mask: None,
            running: false,
            inverse: false,
            channel: 0,
            flag: None,
            under: None,
            onto: None,
            carry: None,
        }
    }

    /// Returns the bit, of the flags that the bale names, for lane 0.
    pub fn first_bit(&self) -> u32 {
        match self.operation.select {
            Some((_, first)) if self.mask.is_none() => first,
            _ => self.channel,
        }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reg)?;
        if self.offset != 0 {
            write!(f, "+{}", self.offset)?;
        }
        if let Some(i) = self.index {
            match i.at {
                0 => write!(f, "[{}]", i.reg)?,
                at => write!(f, "[{}+{at}]", i.reg)?,
            }
        }
        write!(f, "<{};{},{}>:{}", self.vs, self.w, self.hs, self.ty)
    }
}

impl fmt::Display for BaleSrc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BaleSrc::View(v, m) => {
                if m.neg {
                    f.write_str("-")?;
                }
                if m.abs {
                    f.write_str("(abs)")?;
                }
                v.fmt(f)
            }
            BaleSrc::Imm(bits, ty) => write!(f, "{bits:#x}:{ty}"),
        }
    }
}

impl fmt::Display for Bale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let o = &self.operation;
        if self.mask.is_some() && self.running {
            f.write_str("(exec) ")?;
        }
        let select = o.select.map(|s| s.0);
        let first = match self.first_bit() {
            0 => String::new(),
            n => format!("+{n}"),
        };
        for mask in [self.mask, select].into_iter().flatten() {
            match mask {
                VFlag::EXEC => f.write_str("(exec) ")?,
                m => {
                    let not = if self.mask.is_some() && self.inverse {
                        "~"
                    } else {
                        ""
                    };
                    let ctrl = match o.ctrl {
                        PredCtrl::Sequential => String::new(),
                        PredCtrl::AnyH(n) => format!(".any{n}"),
                        PredCtrl::AllH(n) => format!(".all{n}"),
                        _ => ".group".to_owned(),
                    };
                    write!(f, "({not}{m}{first}{ctrl}) ")?;
                }
            }
        }
        if let Some((m, inverse)) = self.under {
            write!(f, "({}{m}) ", if inverse { "~" } else { "" })?;
        }
        if let Some(m) = self.onto {
            write!(f, "({m} kept) ")?;
        }
        write!(f, "{}", o.op)?;
        if let Subfn::Math(m) = o.subfn {
            write!(f, ".{m}")?;
        }
        write!(f, " ({})", self.lanes)?;
        if o.sat {
            f.write_str(" (sat)")?;
        }
        if o.mode != 0 {
            write!(f, " (cr0 ^ {:#x})", o.mode)?;
        }
        match (self.flag, o.cond) {
            (Some((c, flag)), _) => write!(f, " ({c}){flag}{first}")?,
            (None, Some(c)) => write!(f, " ({c})")?,
            (None, None) => {}
        }
        write!(f, " {}", self.dst)?;
        if self.starts {
            f.write_str("!")?;
        }
        if let Some(c) = self.carry {
            write!(f, " carry {c}")?;
        }
        for s in o.srcs.iter().flatten() {
            write!(f, " {s}")?;
        }
        Ok(())
    }
}
