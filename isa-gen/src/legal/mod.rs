//! What an instruction may say: the rules of the PRM's "register region restrictions" and their kin, one function with
//! one name each. The legalizer, the assembler's users and the check after emission share them. Where a rule needs to
//! know a register, the compiler's own registers count as GRFs of which only the byte offset is known.
//!
//! Source of the rules: PRM for Skylake, Vol. 7 "Register Region Restrictions" and Vol. 2a "EU instructions". Intel's
//! own compiled kernels break none of them (`isa-gen/tests/legal.rs`).

pub mod geometry;

mod branch;
mod control;
mod operands;
mod region;
mod send;
mod ternary;
mod types;

use crate::inst::{Dst, Inst, Src, Subfn};
use crate::op::{Format, Op, OpInfo, TypeSet};
use crate::platform::{Features, Platform};
use crate::reg::{Arf, Reg, RegRef, Register};
use crate::region::Region;
use crate::types::Type;
use std::fmt;

/// Which part of an instruction a finding is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Part {
    /// The opcode, execution size, masks or options.
    Inst,
    /// The predicate or the flag modifier.
    Flag,
    /// The destination.
    Dst,
    /// Source 0, 1 or 2.
    Src(u8),
    /// A send's descriptors.
    Desc,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Inst => f.write_str("instruction"),
            Part::Flag => f.write_str("flag"),
            Part::Dst => f.write_str("dst"),
            Part::Src(n) => write!(f, "src{n}"),
            Part::Desc => f.write_str("descriptor"),
        }
    }
}

/// A rule that an instruction breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule's name.
    pub rule: &'static str,
    /// The part that breaks it.
    pub part: Part,
    /// What is wrong, a sentence without a final stop.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.part, self.message, self.rule)
    }
}

/// A register operand, as rules look at it.
#[derive(Clone, Copy, Debug)]
struct Operand<R> {
    part: Part,
    ty: Type,
    place: Place<R>,
    /// Rows of the region in elements; `None` for VxH and for operands without regions.
    rect: Option<(u32, u32, u32)>,
    modified: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place<R> {
    Direct(RegRef<R>),
    Indirect(RegRef<R>, i16),
    Imm(u64),
    Macro(RegRef<R>),
}

impl<R: Register> Operand<R> {
    fn bytes(&self) -> u32 {
        self.ty.bytes()
    }

    fn is_imm(&self) -> bool {
        matches!(self.place, Place::Imm(_))
    }

    fn is_direct(&self) -> bool {
        matches!(self.place, Place::Direct(_))
    }

    fn arf(&self) -> Option<Arf> {
        match self.place {
            Place::Direct(at) => match at.reg.as_phys() {
                Some(Reg::Arf(kind, _)) => Some(kind),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        self.arf() == Some(Arf::Null)
    }

    fn is_acc(&self) -> bool {
        self.arf() == Some(Arf::Acc)
    }

    /// The byte offset in its first register, of a direct GRF operand.
    fn offset(&self, grf_bytes: u32) -> Option<u32> {
        match self.place {
            Place::Direct(at) if self.arf().is_none() => Some(u32::from(at.sub) % grf_bytes.max(1)),
            _ => None,
        }
    }

    fn is_scalar(&self) -> bool {
        self.rect.is_some_and(|(vs, _, hs)| vs == 0 && hs == 0)
    }

    /// A region of the rectangle, for the geometry functions.
    fn region(&self) -> Option<Region> {
        let (vs, w, hs) = self.rect?;
        Some(Region::rect(
            u8::try_from(vs).ok()?,
            u8::try_from(w).ok()?,
            u8::try_from(hs).ok()?,
        ))
    }
}

/// An instruction with what every rule asks of it.
struct Ctx<'a, R> {
    features: &'static Features,
    inst: &'a Inst<R>,
    info: &'static OpInfo,
    dst: Option<Operand<R>>,
    dst_stride: u32,
    srcs: Vec<Operand<R>>,
    rule: &'static str,
    findings: Vec<Finding>,
}

impl<R: Register> Ctx<'_, R> {
    fn find(&mut self, part: Part, message: impl Into<String>) {
        self.findings.push(Finding {
            rule: self.rule,
            part,
            message: message.into(),
        });
    }

    fn grf(&self) -> u32 {
        self.features.grf_bytes
    }

    fn channels(&self) -> u32 {
        self.inst.exec.channels()
    }

    /// Whether this is an ordinary one- or two-source instruction in Align1.
    fn is_align1_data(&self) -> bool {
        let is_macro = matches!(self.inst.subfn, Subfn::Math(f) if f.is_macro());
        matches!(
            self.info.format,
            Format::Unary | Format::Binary | Format::Math
        ) && !is_macro
    }

    /// The destination, unless it is null or there is none.
    fn written(&self) -> Option<Operand<R>> {
        self.dst.filter(|d| !d.is_null())
    }

    /// Type combinations, of the math function where it is one.
    fn combos(&self) -> &'static [(TypeSet, TypeSet)] {
        match self.inst.subfn {
            Subfn::Math(f) => f.info().map_or(&[], |i| i.types),
            _ => self.info.types,
        }
    }
}

/// The type that a packed vector immediate has as an operand.
fn element_type(ty: Type) -> Type {
    match ty {
        Type::V => Type::W,
        Type::Uv => Type::Uw,
        Type::Vf => Type::F,
        t => t,
    }
}

type Rule<R> = fn(&mut Ctx<'_, R>);

/// Every rule with its name.
fn rules<R: Register>() -> [(&'static str, Rule<R>); 46] {
    [
        ("controls-allowed", control::controls_allowed),
        ("channel-range", control::channel_range),
        ("flag-shared", control::flag_shared),
        ("flag-channels", control::flag_channels),
        ("condition-needed", control::condition_needed),
        ("align16-predicate", control::align16_predicate),
        ("operand-count", operands::operand_count),
        ("types-allowed", operands::types_allowed),
        ("source-null", operands::source_null),
        ("source1-file", operands::source1_file),
        ("math-operands", operands::math_operands),
        ("immediate-place", operands::immediate_place),
        ("immediate-type", operands::immediate_type),
        ("subregister-aligned", operands::subregister_aligned),
        ("address-register", operands::address_register),
        ("accumulator-type", operands::accumulator_type),
        ("region-encodable", region::region_encodable),
        ("width-within-exec", region::width_within_exec),
        ("full-width-stride", region::full_width_stride),
        ("width-one-stride", region::width_one_stride),
        ("one-channel-strides", region::one_channel_strides),
        ("zero-strides-width", region::zero_strides_width),
        ("row-within-grf", region::row_within_grf),
        ("source-span", region::source_span),
        ("vxh-indirect", region::vxh_indirect),
        ("dst-stride", region::dst_stride),
        ("dst-span", region::dst_span),
        ("math-dst-split", region::math_dst_split),
        ("dst-exec-type-stride", types::dst_exec_type_stride),
        ("dst-exec-type-align", types::dst_exec_type_align),
        ("byte-dst-packed", types::byte_dst_packed),
        ("byte-and-64-bit", types::byte_and_64_bit),
        ("half-and-64-bit", types::half_and_64_bit),
        ("half-and-int", types::half_and_int),
        ("half-dst-words", types::half_dst_words),
        ("vector-immediate", types::vector_immediate),
        ("mixed-float", types::mixed_float),
        ("mixed-float-packed", types::mixed_float_packed),
        ("math-int-exec", types::math_int_exec),
        ("ternary-operands", ternary::ternary_operands),
        ("ternary-alignment", ternary::ternary_alignment),
        ("ternary-exec", ternary::ternary_exec),
        ("send-operands", send::send_operands),
        ("send-lengths", send::send_lengths),
        ("send-eot", send::send_eot),
        ("branch-targets", branch::branch_targets),
    ]
}

/// The names of all rules.
pub fn rule_names() -> Vec<&'static str> {
    rules::<Reg>().map(|(n, _)| n).into()
}

/// Every rule that the instruction breaks on the platform; nothing if it is legal.
///
/// ```
/// use gantry_isa_gen::{legal, text::assemble, Platform};
/// let code = assemble(Platform::Gen9, "mov (16|M0) r5.0<1>:df r7.0<8;8,1>:f\n")?;
/// let found = legal::check(Platform::Gen9, &code.insts[0].inst);
/// assert_eq!(found[0].to_string(), "dst: 16 channels of 8 bytes take 4 registers, 2 is the most [dst-span]");
/// # Ok::<(), gantry_isa_gen::diag::Diagnostics>(())
/// ```
pub fn check<R: Register>(platform: Platform, inst: &Inst<R>) -> Vec<Finding> {
    let Some(info) = inst.op.info(platform) else {
        return vec![Finding {
            rule: "opcode-exists",
            part: Part::Inst,
            message: format!("`{}` does not exist on {platform}", inst.op),
        }];
    };
    let (dst, dst_stride) = dst_operand(&inst.dst);
    let srcs = inst
        .srcs
        .iter()
        .enumerate()
        .filter_map(|(n, s)| src_operand(n as u8, s))
        .collect();
    let mut ctx = Ctx {
        features: platform.features(),
        inst,
        info,
        dst,
        dst_stride,
        srcs,
        rule: "",
        findings: Vec::new(),
    };
    for (name, rule) in rules() {
        ctx.rule = name;
        rule(&mut ctx);
    }
    ctx.findings
}

fn dst_operand<R: Register>(d: &Dst<R>) -> (Option<Operand<R>>, u32) {
    let operand = |place, ty| Operand {
        part: Part::Dst,
        ty,
        place,
        rect: None,
        modified: false,
    };
    match *d {
        Dst::None => (None, 1),
        Dst::Direct { at, hs, ty } => (Some(operand(Place::Direct(at), ty)), hs.into()),
        Dst::Indirect { addr, imm, hs, ty } => {
            (Some(operand(Place::Indirect(addr, imm), ty)), hs.into())
        }
        Dst::Macro { at, ty, .. } => (Some(operand(Place::Macro(at), ty)), 1),
    }
}

fn src_operand<R: Register>(n: u8, s: &Src<R>) -> Option<Operand<R>> {
    let operand = |place, ty, rect, modified| {
        Some(Operand {
            part: Part::Src(n),
            ty,
            place,
            rect,
            modified,
        })
    };
    match *s {
        Src::None | Src::Target(_) => None,
        Src::Direct {
            at,
            region,
            ty,
            mods,
        } => operand(
            Place::Direct(at),
            ty,
            geometry::rect(region),
            mods.neg || mods.abs,
        ),
        Src::Indirect {
            addr,
            imm,
            region,
            ty,
            mods,
        } => operand(
            Place::Indirect(addr, imm),
            ty,
            geometry::rect(region),
            mods.neg || mods.abs,
        ),
        Src::Macro { at, ty, mods, .. } => {
            operand(Place::Macro(at), ty, None, mods.neg || mods.abs)
        }
        Src::Imm { bits, ty } => operand(Place::Imm(bits), ty, None, false),
    }
}

/// Whether the operation reads the accumulator though no operand says so.
fn reads_acc(op: Op) -> bool {
    matches!(op, Op::Mac | Op::Mach | Op::Sada2)
}
