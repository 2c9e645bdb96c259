//! View of an instruction for the rules: independent of the register type, with properties that
//! many rules use computed once.

use super::geometry;
use super::rule::InstKinds;
use crate::inst::{Cond, Desc, Dst, Inst, InstOpts, PredCtrl, Src, Subfn, Target};
use crate::op::{Format, Op, OpInfo, TypeSet};
use crate::platform::{Features, Platform};
use crate::reg::{Arf, Reg, RegRef, Register};
use crate::region::Region;
use crate::swsb::Swsb;
use crate::types::Type;

use super::InstPart;

/// Location of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OperandLocation {
    /// GRF (number unknown for virtual registers) and byte offset.
    Grf(Option<u32>, u32),
    /// Architecture register, its number and byte offset.
    Arf(Arf, u32, u32),
    /// Indirect: true if the address register is a0 or virtual, its byte offset, and the immediate
    /// offset.
    Indirect(bool, u32, i16),
    /// Bits of an immediate.
    Imm(u64),
    /// Operand of a math macro: byte offset and special accumulator.
    Macro(u32, u8),
}

/// Register or immediate operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub part: InstPart,
    pub ty: Type,
    pub location: OperandLocation,
    /// Region as written, or `None` for immediates and destinations.
    pub region: Option<Region>,
    /// Rectangle of the region in elements, or `None` for VxH and operands without regions.
    pub rect: Option<(u32, u32, u32)>,
    pub neg: bool,
    pub abs: bool,
}

impl Operand {
    pub fn bytes(&self) -> u32 {
        self.ty.bytes()
    }

    /// Returns the type that the operation uses: for a packed vector, that of its elements.
    pub fn elements(&self) -> Type {
        element_type(self.ty)
    }

    pub fn is_imm(&self) -> bool {
        matches!(self.location, OperandLocation::Imm(_))
    }

    pub fn is_indirect(&self) -> bool {
        matches!(self.location, OperandLocation::Indirect(..))
    }

    pub fn arf(&self) -> Option<Arf> {
        match self.location {
            OperandLocation::Arf(kind, ..) => Some(kind),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        self.arf() == Some(Arf::Null)
    }

    pub fn is_acc(&self) -> bool {
        self.arf() == Some(Arf::Acc)
    }

    /// Returns the byte offset of a direct operand in its register, also of an accumulator. `None`
    /// for null.
    pub fn sub(&self) -> Option<u32> {
        match self.location {
            OperandLocation::Grf(_, sub) => Some(sub),
            OperandLocation::Arf(kind, _, sub) if kind != Arf::Null => Some(sub),
            _ => None,
        }
    }

    /// Returns the byte offset of a direct GRF operand in its register.
    pub fn grf_sub(&self) -> Option<u32> {
        match self.location {
            OperandLocation::Grf(_, sub) => Some(sub),
            _ => None,
        }
    }

    /// Returns the number of a GRF, if known.
    pub fn grf(&self) -> Option<u32> {
        match self.location {
            OperandLocation::Grf(n, _) => n,
            _ => None,
        }
    }

    pub fn is_modified(&self) -> bool {
        self.neg || self.abs
    }

    /// Returns true if all channels read one element.
    pub fn is_scalar(&self) -> bool {
        self.rect.is_some_and(|(vs, _, hs)| vs == 0 && hs == 0)
    }

    /// Returns the region as a rectangle, for the geometry functions.
    pub fn rectangle(&self) -> Option<Region> {
        let (vs, w, hs) = self.rect?;
        Some(Region::rect(
            u8::try_from(vs).ok()?,
            u8::try_from(w).ok()?,
            u8::try_from(hs).ok()?,
        ))
    }
}

/// Flag that is read or written.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlagUse {
    /// Register, or `None` for a virtual register.
    pub reg: Option<Reg>,
    pub sub: u32,
}

/// Descriptor of a send: immediate or register.
#[derive(Clone, Copy, Debug)]
pub(super) enum DescView {
    Imm(u32),
    /// True if the register is a0 or virtual, and the byte offset.
    Reg(bool, u32),
}

/// Descriptors of a send.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendView {
    pub ex: DescView,
    pub desc: DescView,
    pub src1_len: Option<u8>,
}

/// Kind of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SourceKind {
    None,
    Operand,
    Target(Target),
}

/// View of an instruction.
#[derive(Debug)]
pub(super) struct InstView {
    pub platform: Platform,
    pub f: &'static Features,
    pub info: &'static OpInfo,
    pub kind: InstKinds,
    pub op: Op,
    pub subfn: Subfn,
    /// Number of channels.
    pub exec: u32,
    /// First channel.
    pub first: u32,
    pub no_mask: bool,
    pub sat: bool,
    pub opts: InstOpts,
    pub swsb: Swsb,
    pub pred: Option<(FlagUse, PredCtrl)>,
    pub cond: Option<(FlagUse, Cond)>,
    /// True if predicate and condition modifier name the same flag, or one of them is absent.
    pub one_flag: bool,
    pub dst: Option<Operand>,
    /// Stride of the destination in elements.
    pub dst_stride: u32,
    pub source_kinds: [SourceKind; 3],
    sources: [Option<Operand>; 3],
    pub send: Option<SendView>,
    /// True if half-precision (or bfloat16) and single-precision floats are mixed.
    pub mixed_float: bool,
    /// Execution type.
    pub exec_type: Option<Type>,
}

/// Returns the operand type of a packed vector immediate.
pub(super) fn element_type(ty: Type) -> Type {
    match ty {
        Type::V => Type::W,
        Type::Uv => Type::Uw,
        Type::Vf => Type::F,
        t => t,
    }
}

fn location<R: Register>(at: RegRef<R>, grf_bytes: u32) -> OperandLocation {
    let sub = u32::from(at.sub);
    match at.reg.as_phys() {
        Some(Reg::Grf(n)) => OperandLocation::Grf(Some(n.into()), sub),
        Some(Reg::Arf(kind, n)) => OperandLocation::Arf(kind, n.into(), sub),
        None => OperandLocation::Grf(None, sub % grf_bytes.max(1)),
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

impl InstView {
    pub fn new<R: Register>(platform: Platform, inst: &Inst<R>, info: &'static OpInfo) -> InstView {
        let f = platform.features();
        let flag = |at: RegRef<R>| FlagUse {
            reg: at.reg.as_phys(),
            sub: at.sub.into(),
        };
        let (dst, dst_stride) = dst_operand(&inst.dst, f.grf_bytes);
        let [a, b, c] = &inst.srcs;
        let mut sources = [(0, a), (1, b), (2, c)].map(|(n, s)| src_operand(n, s, f.grf_bytes));
        // If `movi` does not select elements, its second source is null.
        let [_, second, _] = &mut sources;
        if inst.op == Op::Movi && second.as_ref().is_some_and(Operand::is_null) {
            *second = None;
        }
        let source_kinds = inst.srcs.map(|s| match s {
            Src::None => SourceKind::None,
            Src::Target(t) => SourceKind::Target(t),
            _ => SourceKind::Operand,
        });
        let mut view = InstView {
            platform,
            f,
            info,
            kind: InstKinds::of(info, inst.subfn),
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
            source_kinds,
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

    /// Iterates over the sources that are registers or immediates.
    pub fn srcs(&self) -> impl Iterator<Item = &Operand> {
        self.sources.iter().flatten()
    }

    /// Returns a source by number.
    pub fn src(&self, n: usize) -> Option<&Operand> {
        self.sources.get(n)?.as_ref()
    }

    /// Iterates over destination and sources.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        self.dst.iter().chain(self.srcs())
    }

    /// Returns the destination, unless it is null or absent.
    pub fn written(&self) -> Option<&Operand> {
        self.dst.as_ref().filter(|d| !d.is_null())
    }

    /// Returns the destination of an instruction with several channels.
    pub fn written_by_many(&self) -> Option<&Operand> {
        self.written().filter(|_| self.exec > 1)
    }

    /// Returns true if a combination of types is allowed, by the math function if the opcode does
    /// not restrict types.
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

    /// Returns the number of bytes from one element of the destination to the next.
    pub fn dst_step(&self) -> u32 {
        self.dst.map_or(0, |d| self.dst_stride * d.bytes())
    }

    /// Returns true if the instruction multiplies dwords.
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

    /// Returns true if an operand has 64 bits, or dwords are multiplied.
    pub fn is_64bit(&self) -> bool {
        self.operands().any(|o| o.bytes() == 8 && !o.is_null()) || self.is_dword_multiply()
    }

    /// Returns true if the instruction copies bits: a move between integers of one size, without
    /// saturation or modifiers.
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

    /// Returns true if the operation reads the accumulator implicitly.
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

    /// Computes the execution type: that of the sources, except in mixed float mode.
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

/// Returns the execution type of a source type.
fn exec_type_of(ty: Type) -> Type {
    match ty {
        Type::Uq | Type::Q => Type::Q,
        Type::Ud | Type::D => Type::D,
        Type::Uw | Type::W | Type::Ub | Type::B | Type::V | Type::Uv => Type::W,
        Type::Vf | Type::Tf32 => Type::F,
        t => t,
    }
}

/// Returns the rank of an execution type. The highest rank among the sources decides.
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
    let operand = |location, ty| Operand {
        part: InstPart::Dst,
        ty,
        location,
        region: None,
        rect: None,
        neg: false,
        abs: false,
    };
    match *d {
        Dst::None => (None, 1),
        Dst::Direct { at, hs, ty } => (Some(operand(location(at, grf_bytes), ty)), hs.into()),
        Dst::Indirect { addr, imm, hs, ty } => {
            let location = OperandLocation::Indirect(is_a0(addr), addr.sub.into(), imm);
            (Some(operand(location, ty)), hs.into())
        }
        Dst::Macro { at, mme, ty } => {
            let location = OperandLocation::Macro(at.sub.into(), mme);
            (Some(operand(location, ty)), 1)
        }
    }
}

fn src_operand<R: Register>(n: u8, s: &Src<R>, grf_bytes: u32) -> Option<Operand> {
    let (location, ty, region, mods) = match *s {
        Src::None | Src::Target(_) => return None,
        Src::Direct {
            at,
            region,
            ty,
            mods,
        } => (location(at, grf_bytes), ty, Some(region), mods),
        Src::Indirect {
            addr,
            imm,
            region,
            ty,
            mods,
        } => {
            let location = OperandLocation::Indirect(is_a0(addr), addr.sub.into(), imm);
            (location, ty, Some(region), mods)
        }
        Src::Macro { at, mme, ty, mods } => {
            (OperandLocation::Macro(at.sub.into(), mme), ty, None, mods)
        }
        Src::Imm { bits, ty } => (OperandLocation::Imm(bits), ty, None, Default::default()),
    };
    Some(Operand {
        part: InstPart::Src(n),
        ty,
        location,
        region,
        rect: region.and_then(geometry::rect),
        neg: mods.neg,
        abs: mods.abs,
    })
}

/// Returns true if a format has data operands, each with a region.
pub(super) fn is_data(format: Format) -> bool {
    matches!(format, Format::Unary | Format::Binary | Format::Math)
}
