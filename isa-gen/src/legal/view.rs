//! An instruction as rules look at it: operands of any register type alike, with what every rule asks for worked out
//! once.

use super::geometry;
use super::rule::Kinds;
use crate::inst::{Cond, Desc, Dst, Inst, InstOpts, PredCtrl, Src, Subfn, Target};
use crate::op::{Format, Op, OpInfo, TypeSet};
use crate::platform::{Features, Platform};
use crate::reg::{Arf, Reg, RegRef, Register};
use crate::region::Region;
use crate::swsb::Swsb;
use crate::types::Type;

use super::Part;

/// Where an operand is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// A GRF (its number is not known of the compiler's own registers) and a byte offset.
    Grf(Option<u32>, u32),
    /// An architecture register, its number and a byte offset.
    Arf(Arf, u32, u32),
    /// The register (a0, or the compiler's own), its byte offset, and the immediate.
    Indirect(bool, u32, i16),
    /// An immediate's bits.
    Imm(u64),
    /// A math macro's operand: the byte offset and the special accumulator.
    Macro(u32, u8),
}

/// A register or an immediate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub part: Part,
    pub ty: Type,
    pub place: Place,
    /// The region as written; `None` for immediates and destinations.
    pub region: Option<Region>,
    /// Rows of the region in elements; `None` for VxH and for operands without regions.
    pub rect: Option<(u32, u32, u32)>,
    pub neg: bool,
    pub abs: bool,
}

impl Operand {
    pub fn bytes(&self) -> u32 {
        self.ty.bytes()
    }

    /// The type that the operation sees: of the elements of a packed vector.
    pub fn elements(&self) -> Type {
        element_type(self.ty)
    }

    pub fn is_imm(&self) -> bool {
        matches!(self.place, Place::Imm(_))
    }

    pub fn is_indirect(&self) -> bool {
        matches!(self.place, Place::Indirect(..))
    }

    pub fn arf(&self) -> Option<Arf> {
        match self.place {
            Place::Arf(kind, ..) => Some(kind),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        self.arf() == Some(Arf::Null)
    }

    pub fn is_acc(&self) -> bool {
        self.arf() == Some(Arf::Acc)
    }

    /// The byte offset in its register of a direct operand, an accumulator's included; none of null.
    pub fn sub(&self) -> Option<u32> {
        match self.place {
            Place::Grf(_, sub) => Some(sub),
            Place::Arf(kind, _, sub) if kind != Arf::Null => Some(sub),
            _ => None,
        }
    }

    /// The byte offset in its register, of a direct GRF operand.
    pub fn grf_sub(&self) -> Option<u32> {
        match self.place {
            Place::Grf(_, sub) => Some(sub),
            _ => None,
        }
    }

    /// The number of a GRF, where it is known.
    pub fn grf(&self) -> Option<u32> {
        match self.place {
            Place::Grf(n, _) => n,
            _ => None,
        }
    }

    pub fn is_modified(&self) -> bool {
        self.neg || self.abs
    }

    /// Whether all channels read one element.
    pub fn is_scalar(&self) -> bool {
        self.rect.is_some_and(|(vs, _, hs)| vs == 0 && hs == 0)
    }

    /// The region as a rectangle, for the geometry functions.
    pub fn rectangle(&self) -> Option<Region> {
        let (vs, w, hs) = self.rect?;
        Some(Region::rect(
            u8::try_from(vs).ok()?,
            u8::try_from(w).ok()?,
            u8::try_from(hs).ok()?,
        ))
    }
}

/// A flag that is read or written.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlagUse {
    /// The register's kind and number; of the compiler's own there is none.
    pub reg: Option<Reg>,
    pub sub: u32,
}

/// A send's descriptor: the bits, or a register.
#[derive(Clone, Copy, Debug)]
pub(super) enum DescView {
    Imm(u32),
    /// Whether it is a0 (or the compiler's own), and the byte offset.
    Reg(bool, u32),
}

/// What a send says.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendView {
    pub ex: DescView,
    pub desc: DescView,
    pub src1_len: Option<u8>,
}

/// A source's kind, for counting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Slot {
    None,
    Operand,
    Target(Target),
}

/// An instruction.
#[derive(Debug)]
pub(super) struct View {
    pub platform: Platform,
    pub f: &'static Features,
    pub info: &'static OpInfo,
    pub kind: Kinds,
    pub op: Op,
    pub subfn: Subfn,
    /// Channels.
    pub exec: u32,
    /// The first channel.
    pub first: u32,
    pub no_mask: bool,
    pub sat: bool,
    pub opts: InstOpts,
    pub swsb: Swsb,
    pub pred: Option<(FlagUse, PredCtrl)>,
    pub cond: Option<(FlagUse, Cond)>,
    /// Whether predicate and flag modifier name one flag (or there are not both).
    pub one_flag: bool,
    pub dst: Option<Operand>,
    /// The destination's stride in elements.
    pub dst_stride: u32,
    pub slots: [Slot; 3],
    sources: [Option<Operand>; 3],
    pub send: Option<SendView>,
    /// Half and single floats, or brain and single floats, together.
    pub mixed_float: bool,
    /// The execution type.
    pub exec_type: Option<Type>,
}

/// The type that a packed vector immediate has as an operand.
pub(super) fn element_type(ty: Type) -> Type {
    match ty {
        Type::V => Type::W,
        Type::Uv => Type::Uw,
        Type::Vf => Type::F,
        t => t,
    }
}

fn place<R: Register>(at: RegRef<R>, grf_bytes: u32) -> Place {
    let sub = u32::from(at.sub);
    match at.reg.as_phys() {
        Some(Reg::Grf(n)) => Place::Grf(Some(n.into()), sub),
        Some(Reg::Arf(kind, n)) => Place::Arf(kind, n.into(), sub),
        None => Place::Grf(None, sub % grf_bytes.max(1)),
    }
}

fn is_a0(at: RegRef<Reg>) -> bool {
    at.reg == Reg::Arf(Arf::Address, 0)
}

fn desc(d: Desc) -> DescView {
    match d {
        Desc::Imm(v) => DescView::Imm(v),
        Desc::Reg(at) => DescView::Reg(is_a0(at), at.sub.into()),
    }
}

impl View {
    pub fn new<R: Register>(platform: Platform, inst: &Inst<R>, info: &'static OpInfo) -> View {
        let f = platform.features();
        let flag = |at: RegRef<R>| FlagUse {
            reg: at.reg.as_phys(),
            sub: at.sub.into(),
        };
        let (dst, dst_stride) = dst_operand(&inst.dst, f.grf_bytes);
        let [a, b, c] = &inst.srcs;
        let mut sources = [(0, a), (1, b), (2, c)].map(|(n, s)| src_operand(n, s, f.grf_bytes));
        // Where `movi` does not pick, null stands for its second source.
        let [_, second, _] = &mut sources;
        if inst.op == Op::Movi && second.as_ref().is_some_and(Operand::is_null) {
            *second = None;
        }
        let slots = inst.srcs.map(|s| match s {
            Src::None => Slot::None,
            Src::Target(t) => Slot::Target(t),
            _ => Slot::Operand,
        });
        let mut view = View {
            platform,
            f,
            info,
            kind: Kinds::of(info, inst.subfn),
            op: inst.op,
            subfn: inst.subfn,
            exec: inst.exec.channels(),
            first: inst.offset.channels(),
            no_mask: inst.no_mask,
            sat: inst.sat,
            opts: inst.opts,
            swsb: inst.swsb,
            pred: inst.pred.map(|p| (flag(p.flag), p.ctrl)),
            cond: inst.cond.map(|c| (flag(c.flag), c.cond)),
            one_flag: match (inst.pred, inst.cond) {
                (Some(p), Some(c)) => p.flag == c.flag,
                _ => true,
            },
            dst,
            dst_stride,
            slots,
            sources,
            send: inst.send.map(|s| SendView {
                ex: desc(s.ex),
                desc: desc(s.desc),
                src1_len: s.src1_len,
            }),
            mixed_float: false,
            exec_type: None,
        };
        view.mixed_float = view.mixes_floats();
        view.exec_type = view.execution_type();
        view
    }

    pub fn grf(&self) -> u32 {
        self.f.grf_bytes
    }

    /// The sources that are operands.
    pub fn srcs(&self) -> impl Iterator<Item = &Operand> {
        self.sources.iter().flatten()
    }

    /// A source by its number.
    pub fn src(&self, n: usize) -> Option<&Operand> {
        self.sources.get(n)?.as_ref()
    }

    /// Destination and sources.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        self.dst.iter().chain(self.srcs())
    }

    /// The destination, unless it is null or there is none.
    pub fn written(&self) -> Option<&Operand> {
        self.dst.as_ref().filter(|d| !d.is_null())
    }

    /// The destination, of an instruction of several channels.
    pub fn written_by_many(&self) -> Option<&Operand> {
        self.written().filter(|_| self.exec > 1)
    }

    /// Type combinations: of the math function where it is one and the opcode's leave it open.
    pub fn allows(&self, dst: Type, src: Type) -> bool {
        let has = |combos: &[(TypeSet, TypeSet)]| {
            combos
                .iter()
                .any(|(d, s)| d.contains(dst) && s.contains(src))
        };
        match self.subfn {
            Subfn::Math(f) => f.info().is_some_and(|i| has(i.types)),
            _ => has(self.info.types),
        }
    }

    /// Bytes from one element of the destination to the next.
    pub fn dst_step(&self) -> u32 {
        self.dst.map_or(0, |d| self.dst_stride * d.bytes())
    }

    /// Whether the instruction multiplies doublewords.
    pub fn is_dword_multiply(&self) -> bool {
        let dword = |n| {
            self.src(n)
                .is_some_and(|s| matches!(s.ty, Type::D | Type::Ud))
        };
        match self.op {
            Op::Mul => dword(0) && dword(1),
            Op::Mad => dword(1) && dword(2),
            _ => false,
        }
    }

    /// Whether an operand is of 64 bits, or doublewords are multiplied.
    pub fn is_64bit(&self) -> bool {
        self.operands().any(|o| o.bytes() == 8 && !o.is_null()) || self.is_dword_multiply()
    }

    /// Whether this copies bits: a move between integers of one size, without saturation or modifiers.
    pub fn is_raw_move(&self) -> bool {
        let (Some(d), Some(s), None) = (self.dst, self.src(0), self.src(1)) else {
            return false;
        };
        self.op == Op::Mov
            && !self.sat
            && !s.is_modified()
            && !s.ty.is_packed_imm()
            && d.bytes() == s.bytes()
            && d.ty.is_int() == s.ty.is_int()
    }

    /// Whether the operation reads the accumulator though no operand says so.
    pub fn reads_acc(&self) -> bool {
        matches!(self.op, Op::Mac | Op::Mach | Op::Macl | Op::Sada2)
    }

    fn mixes_floats(&self) -> bool {
        let (mut single, mut half) = (false, false);
        for o in self.operands() {
            match o.elements() {
                Type::F => single = true,
                Type::Hf | Type::Bf => half = true,
                _ => {}
            }
        }
        single && half
    }

    /// The execution type: that of the sources, except in mixed float mode.
    fn execution_type(&self) -> Option<Type> {
        let mut all_float = true;
        let mut widest: Option<Type> = None;
        let mut n = 0;
        for s in self.srcs() {
            let t = exec_type_of(s.ty);
            all_float &= t.is_float();
            n += 1;
            if widest.is_none_or(|w| rank(t) > rank(w)) {
                widest = Some(t);
            }
        }
        if self.mixed_float && all_float {
            return Some(Type::F);
        }
        if n == 1 && widest == Some(Type::Hf) {
            let d = self.dst.map(|d| d.ty);
            return d.map(|d| if d == Type::Hf { Type::Hf } else { Type::F });
        }
        widest
    }
}

/// What a source of a type makes the execution type.
fn exec_type_of(ty: Type) -> Type {
    match ty {
        Type::Uq | Type::Q => Type::Q,
        Type::Ud | Type::D => Type::D,
        Type::Uw | Type::W | Type::Ub | Type::B | Type::V | Type::Uv => Type::W,
        Type::Vf | Type::Tf32 => Type::F,
        t => t,
    }
}

/// Of several, the execution type with the highest rank is taken.
fn rank(ty: Type) -> u8 {
    match ty {
        Type::Df | Type::Nf => 7,
        Type::Q => 6,
        Type::F => 5,
        Type::D => 4,
        Type::Bf => 3,
        Type::Hf => 2,
        Type::W => 1,
        _ => 0,
    }
}

fn dst_operand<R: Register>(d: &Dst<R>, grf_bytes: u32) -> (Option<Operand>, u32) {
    let operand = |place, ty| Operand {
        part: Part::Dst,
        ty,
        place,
        region: None,
        rect: None,
        neg: false,
        abs: false,
    };
    match *d {
        Dst::None => (None, 1),
        Dst::Direct { at, hs, ty } => (Some(operand(place(at, grf_bytes), ty)), hs.into()),
        Dst::Indirect { addr, imm, hs, ty } => {
            let place = Place::Indirect(is_a0(addr), addr.sub.into(), imm);
            (Some(operand(place, ty)), hs.into())
        }
        Dst::Macro { at, mme, ty } => {
            let place = Place::Macro(at.sub.into(), mme);
            (Some(operand(place, ty)), 1)
        }
    }
}

fn src_operand<R: Register>(n: u8, s: &Src<R>, grf_bytes: u32) -> Option<Operand> {
    let (place, ty, region, mods) = match *s {
        Src::None | Src::Target(_) => return None,
        Src::Direct {
            at,
            region,
            ty,
            mods,
        } => (place(at, grf_bytes), ty, Some(region), mods),
        Src::Indirect {
            addr,
            imm,
            region,
            ty,
            mods,
        } => {
            let place = Place::Indirect(is_a0(addr), addr.sub.into(), imm);
            (place, ty, Some(region), mods)
        }
        Src::Macro { at, mme, ty, mods } => (Place::Macro(at.sub.into(), mme), ty, None, mods),
        Src::Imm { bits, ty } => (Place::Imm(bits), ty, None, Default::default()),
    };
    Some(Operand {
        part: Part::Src(n),
        ty,
        place,
        region,
        rect: region.and_then(geometry::rect),
        neg: mods.neg,
        abs: mods.abs,
    })
}

/// Whether a format is one of data operands with regions of their own.
pub(super) fn is_data(format: Format) -> bool {
    matches!(format, Format::Unary | Format::Binary | Format::Math)
}
