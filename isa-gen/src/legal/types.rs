//! "General restrictions based on operand types" and the rules of mixed half and single floats.

use super::{Ctx, Part, Place, element_type, reads_acc};
use crate::inst::Subfn;
use crate::op::{MathFn, Op};
use crate::reg::Register;
use crate::types::Type;

/// What a source of a type makes the execution type.
fn exec_type_of(ty: Type) -> Type {
    match ty {
        Type::Uq | Type::Q => Type::Q,
        Type::Ud | Type::D => Type::D,
        Type::Uw | Type::W | Type::Ub | Type::B | Type::V | Type::Uv => Type::W,
        Type::Vf => Type::F,
        t => t,
    }
}

fn mixes(a: Type, b: Type) -> bool {
    matches!((a, b), (Type::F, Type::Hf) | (Type::Hf, Type::F))
}

impl<R: Register> Ctx<'_, R> {
    /// Whether half and single floats are mixed.
    fn is_mixed_float(&self) -> bool {
        let types: Vec<Type> = self
            .dst
            .iter()
            .chain(&self.srcs)
            .map(|o| element_type(o.ty))
            .collect();
        types.iter().any(|a| types.iter().any(|b| mixes(*a, *b)))
    }

    /// The execution type: that of the sources, except in mixed float mode.
    fn exec_type(&self) -> Option<Type> {
        let types: Vec<Type> = self.srcs.iter().map(|s| exec_type_of(s.ty)).collect();
        if self.is_mixed_float() && types.iter().all(|t| t.is_float()) {
            return Some(Type::F);
        }
        let dst = self.dst.map(|d| d.ty);
        if types == [Type::Hf] {
            return dst.map(|d| if d == Type::Hf { Type::Hf } else { Type::F });
        }
        [Type::Df, Type::Q, Type::F, Type::D, Type::Hf, Type::W]
            .into_iter()
            .find(|t| types.contains(t))
    }

    /// Whether this copies bits: a move between integers of one size, without saturation or modifiers.
    fn is_raw_move(&self) -> bool {
        let (Some(d), [s]) = (self.dst, self.srcs.as_slice()) else {
            return false;
        };
        self.inst.op == Op::Mov
            && !self.inst.sat
            && !s.modified
            && !s.ty.is_packed_imm()
            && d.bytes() == s.bytes()
            && d.ty.is_int() == s.ty.is_int()
    }

    /// Where the destination lies in its register, of a direct GRF one that several channels write.
    fn dst_of_channels(&self) -> Option<(super::Operand<R>, Option<u32>)> {
        if !self.is_align1_data() || self.channels() == 1 {
            return None;
        }
        let d = self.written()?;
        Some((d, d.offset(self.grf())))
    }
}

/// A destination narrower than the execution type is strided to its size.
pub(super) fn dst_exec_type_stride<R: Register>(c: &mut Ctx<'_, R>) {
    let (Some((d, _)), Some(exec)) = (c.dst_of_channels(), c.exec_type()) else {
        return;
    };
    if c.is_mixed_float() || exec.bytes() <= d.bytes() {
        return;
    }
    if d.bytes() == 1 && c.is_raw_move() {
        return;
    }
    // Intel's compiler writes bytes of words four apart as well.
    let step = c.dst_stride * d.bytes();
    if step != exec.bytes() && !(d.bytes() == 1 && step > exec.bytes()) {
        c.find(
            Part::Dst,
            format!(
                "`{}` elements must be {} bytes apart, the size of the execution type",
                d.ty,
                exec.bytes()
            ),
        );
    }
}

/// A destination narrower than the execution type is aligned to it; a byte may take the second place.
pub(super) fn dst_exec_type_align<R: Register>(c: &mut Ctx<'_, R>) {
    let (Some((d, Some(offset))), Some(exec)) = (c.dst_of_channels(), c.exec_type()) else {
        return;
    };
    if c.is_mixed_float() || exec.bytes() <= d.bytes() || (d.bytes() == 1 && c.is_raw_move()) {
        return;
    }
    let over = offset % exec.bytes();
    // The relaxed rule for words: all in the lower or all in the upper half of the channel.
    let relaxed = if d.bytes() == 1 {
        over == 1
    } else {
        d.bytes() == 2 && over == 2
    };
    if over != 0 && !relaxed {
        c.find(
            Part::Dst,
            format!(
                "byte {offset} is not aligned to the execution type of {} bytes",
                exec.bytes()
            ),
        );
    }
}

/// Packed bytes are written by raw moves alone.
pub(super) fn byte_dst_packed<R: Register>(c: &mut Ctx<'_, R>) {
    let Some((d, _)) = c.dst_of_channels() else {
        return;
    };
    if d.bytes() == 1 && c.dst_stride == 1 && !c.is_raw_move() {
        c.find(Part::Dst, "only a raw move of bytes may write them packed");
    }
}

/// Bytes and 64-bit types do not convert into each other.
pub(super) fn byte_and_64_bit<R: Register>(c: &mut Ctx<'_, R>) {
    not_together(c, |t| t.bytes() == 1, "a byte");
}

/// Half floats and 64-bit types do not convert into each other.
pub(super) fn half_and_64_bit<R: Register>(c: &mut Ctx<'_, R>) {
    not_together(c, |t| t == Type::Hf, "a half float");
}

fn not_together<R: Register>(c: &mut Ctx<'_, R>, small: fn(Type) -> bool, what: &str) {
    let (true, Some(d)) = (c.is_align1_data(), c.dst) else {
        return;
    };
    let found: Vec<Part> = c
        .srcs
        .iter()
        .filter(|s| {
            (small(d.ty) && s.bytes() == 8) || (d.bytes() == 8 && small(element_type(s.ty)))
        })
        .map(|s| s.part)
        .collect();
    for part in found {
        c.find(
            part,
            format!("{what} and a 64-bit type do not convert into each other"),
        );
    }
}

/// A conversion between half float and integer is strided and aligned by doublewords.
pub(super) fn half_and_int<R: Register>(c: &mut Ctx<'_, R>) {
    let Some((d, offset)) = c.dst_of_channels() else {
        return;
    };
    let converts = c.srcs.iter().any(|s| {
        let t = element_type(s.ty);
        (d.ty == Type::Hf && t.is_int()) || (d.ty.is_int() && t == Type::Hf)
    });
    if !converts {
        return;
    }
    if c.dst_stride * d.bytes() != 4 {
        c.find(
            Part::Dst,
            "a conversion between half float and integer must be strided by 4 bytes",
        );
    }
    if offset.is_some_and(|o| o % 4 != 0) {
        c.find(
            Part::Dst,
            "a conversion between half float and integer must be aligned to 4 bytes",
        );
    }
}

/// Single floats that become half are all in even or all in odd words, or packed and aligned to 16 bytes.
pub(super) fn half_dst_words<R: Register>(c: &mut Ctx<'_, R>) {
    let Some((d, offset)) = c.dst_of_channels() else {
        return;
    };
    let from_single = c.srcs.iter().any(|s| element_type(s.ty) == Type::F);
    if d.ty != Type::Hf || !from_single {
        return;
    }
    let packed = c.dst_stride == 1 && offset.is_none_or(|o| o % 16 == 0);
    if c.dst_stride != 2 && !packed {
        c.find(
            Part::Dst,
            "half floats made of singles must be every other word, or packed from a 16-byte boundary",
        );
    }
}

/// With a vector immediate the destination starts at 16 bytes and has the stride of its elements.
pub(super) fn vector_immediate<R: Register>(c: &mut Ctx<'_, R>) {
    let Some((d, offset)) = c.dst_of_channels() else {
        return;
    };
    let Some(v) = c.srcs.iter().find(|s| s.ty.is_packed_imm()).copied() else {
        return;
    };
    if offset.is_some_and(|o| o % 16 != 0) {
        c.find(
            Part::Dst,
            "with a vector immediate it must start at a 16-byte boundary",
        );
    }
    // Intel's compilers write doublewords from word vectors as well.
    let stride = c.dst_stride * d.bytes();
    let bytes = v.bytes();
    if stride < bytes {
        c.find(
            Part::Dst,
            format!(
                "with a `{}` immediate its stride must be {bytes} bytes or more",
                v.ty
            ),
        );
    }
}

/// Mixed half and single floats: direct sources, 8 channels to singles, aligned accumulators, strided math.
pub(super) fn mixed_float<R: Register>(c: &mut Ctx<'_, R>) {
    let (true, true, Some(d)) = (c.is_align1_data(), c.is_mixed_float(), c.dst) else {
        return;
    };
    if c.srcs.iter().any(|s| !s.ty.is_float()) {
        return;
    }
    if c.channels() > 8 && d.ty == Type::F {
        c.find(
            Part::Dst,
            "mixed half and single floats make 8 singles at most",
        );
    }
    let math = matches!(c.inst.subfn, Subfn::Math(_));
    let found: Vec<(Part, &'static str)> = c
        .srcs
        .iter()
        .filter_map(|s| {
            let aligned = match s.place {
                Place::Direct(at) => at.sub == 0,
                _ => true,
            };
            if matches!(s.place, Place::Indirect(..)) {
                Some((s.part, "a mixed float source cannot be indirect"))
            } else if s.is_acc() && d.ty == Type::Hf && c.dst_stride == 1 && !aligned {
                Some((s.part, "the accumulator must be read from its start"))
            } else if math && s.ty == Type::Hf && s.rect.is_some_and(|(_, _, hs)| hs == 1) {
                Some((s.part, "half floats of mixed math must be strided"))
            } else {
                None
            }
        })
        .collect();
    for (part, message) in found {
        c.find(part, message);
    }
    let acc = reads_acc(c.inst.op) || c.srcs.iter().any(super::Operand::is_acc);
    if d.ty == Type::Hf && acc && c.dst_stride != 2 && c.channels() > 1 {
        c.find(
            Part::Dst,
            "half floats made with the accumulator must be every other word",
        );
    }
}

/// Packed half floats in mixed mode: 8 channels, on a 16-byte boundary.
pub(super) fn mixed_float_packed<R: Register>(c: &mut Ctx<'_, R>) {
    if !c.is_mixed_float() || c.srcs.iter().any(|s| !s.ty.is_float()) {
        return;
    }
    let Some((d, offset)) = c.dst_of_channels() else {
        return;
    };
    if d.ty != Type::Hf || c.dst_stride != 1 {
        return;
    }
    if c.channels() > 8 {
        c.find(Part::Dst, "mixed floats make 8 packed halves at most");
    }
    if offset.is_some_and(|o| o % 16 != 0) {
        c.find(
            Part::Dst,
            "packed halves of mixed floats must start at a 16-byte boundary",
        );
    }
}

/// Integer division takes 8 channels.
pub(super) fn math_int_exec<R: Register>(c: &mut Ctx<'_, R>) {
    let int = matches!(
        c.inst.subfn,
        Subfn::Math(MathFn::Idiv | MathFn::Iqot | MathFn::Irem)
    );
    if int && c.channels() > 8 {
        c.find(Part::Inst, "integer division takes 8 channels at most");
    }
}
