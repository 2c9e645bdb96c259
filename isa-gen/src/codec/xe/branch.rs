//! Branches, with targets relative to the branch itself, and `sync`.

use super::operand::{place, put_reg, reg, sub_code};
use super::{XeCtx, field_error, operand_error};
use crate::codec::Operands;
use crate::codec::bits::Fields;
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::parts::{type_code, type_of};
use crate::inst::{Dst, Inst, Src, SrcMods, Subfn, Target};
use crate::op::{Format, Op};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::Region;
use crate::table::{Field, NativeLayout};
use crate::types::Type;

fn offset(t: Target) -> Result<u64, EncodeError> {
    match t {
        Target::Rel(bytes) => Ok(u64::from(bytes as u32)),
        Target::Label(l) => Err(EncodeError::UnresolvedLabel(l)),
    }
}

fn target<L: NativeLayout>(field: Field, f: &Fields<L>) -> Src<Reg> {
    Src::Target(Target::Rel(f.get(field) as u32 as i32))
}

/// Region of the register of `brc` and `ret`: a pair.
const PAIR: Region = Region::rect(2, 2, 1);

/// Returns the region of the register of an opcode.
fn region(format: Format) -> Region {
    match format {
        Format::BranchRegJipUip | Format::Ret => PAIR,
        _ => Region::SCALAR,
    }
}

fn put_source<L: NativeLayout>(
    cx: &XeCtx,
    src: &Src<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let Src::Direct {
        at,
        region: given,
        ty: Type::D,
        mods: SrcMods {
            neg: false,
            abs: false,
        },
    } = *src
    else {
        return Err(operand_error(
            "src0",
            "must be a target or a dword register",
        ));
    };
    if given != region(cx.c.info.format) {
        return Err(operand_error("src0", "the region is fixed by the opcode"));
    }
    put_reg(cx, "src0", (Field::Src0File, Field::Src0Reg), at.reg, f)?;
    f.put(Field::Src0Sub, sub_code(cx, "src0", at, cx.x.sub_shift)?);
    Ok(())
}

/// Encodes the jump target, the second target, or a register.
fn put_target<L: NativeLayout>(
    cx: &XeCtx,
    op: Op,
    [s0, s1]: [&Src<Reg>; 2],
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    use Format::{BranchJip, BranchJipUip, BranchRegJip, BranchRegJipUip, Call, Jmpi};
    let two = matches!(cx.c.info.format, BranchJipUip | BranchRegJipUip);
    match (*s0, *s1, cx.c.info.format) {
        (
            Src::Imm {
                bits,
                ty: Type::D | Type::Ud,
            },
            Src::None,
            Call,
        ) if op == Op::Calla && bits <= u32::MAX.into() => {
            f.put(Field::Src0IsImm, 1);
            f.put(Field::Jip, bits);
        }
        (Src::Target(jip), Src::None, BranchJip | BranchRegJip | Jmpi | Call)
            if op != Op::Calla =>
        {
            f.put(Field::Src0IsImm, 1);
            f.put(Field::Jip, offset(jip)?);
        }
        (Src::Target(jip), Src::Target(uip), _) if two => {
            f.put(Field::Src0IsImm, 1);
            f.put(Field::Src1IsImm, 1);
            f.put(Field::Jip, offset(jip)?);
            f.put(Field::Uip, offset(uip)?);
        }
        (Src::Direct { .. }, Src::None, format) if !matches!(format, BranchJip | BranchJipUip) => {
            put_source(cx, s0, f)?;
        }
        _ => {
            return Err(operand_error(
                "src0",
                "the opcode does not branch to such a target, or to so many",
            ));
        }
    }
    Ok(())
}

/// Targets, registers, and the return address of `call`.
pub(super) struct Branch;

impl Operands<XeCtx> for Branch {
    #[inline(always)]
    fn lower<L: NativeLayout>(
        cx: &XeCtx,
        i: &Inst<Reg>,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        let [s0, s1, s2] = &i.srcs;
        if *s2 != Src::None {
            return Err(operand_error("src2", "a branch has fewer sources"));
        }
        match i.dst {
            Dst::Direct {
                at,
                hs: 1,
                ty: Type::D,
            } if cx.c.info.format == Format::Call => {
                put_reg(cx, "dst", (Field::DstFile, Field::DstReg), at.reg, f)?;
                f.put(Field::DstSub, sub_code(cx, "dst", at, cx.x.sub_shift)?);
            }
            Dst::None if cx.c.info.format != Format::Call => {}
            _ => {
                return Err(operand_error(
                    "dst",
                    "a call, and only a call, writes a dword register",
                ));
            }
        }
        put_target(cx, i.op, [s0, s1], f)
    }

    #[inline(always)]
    fn lift<L: NativeLayout>(
        cx: &XeCtx,
        _: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError> {
        let format = cx.c.info.format;
        let at = |file, number, sub| {
            let r = reg(cx, file, number, f)?;
            Ok::<_, DecodeError>(place(cx, r, f.get(sub), cx.x.sub_shift))
        };
        if format == Format::Call {
            i.dst = Dst::Direct {
                at: at(Field::DstFile, Field::DstReg, Field::DstSub)?,
                hs: 1,
                ty: Type::D,
            };
        }
        let two = matches!(format, Format::BranchJipUip | Format::BranchRegJipUip);
        let [s0, s1, _] = &mut i.srcs;
        if f.on(Field::Src0IsImm) {
            *s0 = match (format, i.op) {
                (Format::Ret, _) => return Err(field_error(Field::Src0IsImm, f)),
                (_, Op::Calla) => Src::Imm {
                    bits: f.get(Field::Jip),
                    ty: Type::D,
                },
                _ => target(Field::Jip, f),
            };
            if two {
                if !f.on(Field::Src1IsImm) {
                    return Err(field_error(Field::Src1IsImm, f));
                }
                *s1 = target(Field::Uip, f);
            }
            return Ok(());
        }
        if matches!(format, Format::BranchJip | Format::BranchJipUip) {
            return Err(field_error(Field::Src0IsImm, f));
        }
        *s0 = Src::Direct {
            at: at(Field::Src0File, Field::Src0Reg, Field::Src0Sub)?,
            region: region(format),
            ty: Type::D,
            mods: SrcMods::default(),
        };
        Ok(())
    }
}

/// `sync`, with null, tokens or a flag.
pub(super) struct Sync;

impl Operands<XeCtx> for Sync {
    #[inline(always)]
    fn lower<L: NativeLayout>(
        cx: &XeCtx,
        i: &Inst<Reg>,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        let Subfn::Sync(function) = i.subfn else {
            return Err(operand_error("function", "`sync` needs one"));
        };
        let (number, imm) =
            cx.x.sync_codes
                .get(function as usize)
                .copied()
                .flatten()
                .ok_or(operand_error(
                    "function",
                    "the platform's `sync` has no such function",
                ))?;
        f.put(Field::SyncFn, number.into());
        let [s0, Src::None, Src::None] = i.srcs else {
            return Err(operand_error("src1", "`sync` has one source"));
        };
        if i.dst != Dst::None {
            return Err(operand_error("dst", "`sync` has none"));
        }
        match s0 {
            Src::Imm { bits, ty } if imm => {
                if bits > u32::MAX.into() || ty.bytes() == 8 {
                    return Err(operand_error("src0", "an immediate of `sync` has 32 bits"));
                }
                f.put(Field::Src0IsImm, 1);
                f.put(
                    Field::Src0Type,
                    type_code("src0", &cx.c.tables.imm_types, ty)?,
                );
                f.put(Field::Imm32, bits);
                Ok(())
            }
            Src::Direct { at, ty, .. } if at.reg.is_null() && at.sub == 0 => {
                f.put(
                    Field::Src0Type,
                    type_code("src0", &cx.c.tables.reg_types, ty)?,
                );
                Ok(())
            }
            Src::Direct { at, ty, .. }
                if cx.x.sync_flag == Some(function) && matches!(at.reg, Reg::Arf(Arf::Flag, _)) =>
            {
                put_reg(cx, "src0", (Field::Src0File, Field::Src0Reg), at.reg, f)?;
                f.put(Field::Src0Sub, sub_code(cx, "src0", at, 0)?);
                f.put(
                    Field::Src0Type,
                    type_code("src0", &cx.c.tables.reg_types, ty)?,
                );
                Ok(())
            }
            _ => Err(operand_error(
                "src0",
                "must be null (of some functions: or an immediate or a flag)",
            )),
        }
    }

    #[inline(always)]
    fn lift<L: NativeLayout>(
        cx: &XeCtx,
        _: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError> {
        let function =
            cx.x.syncs
                .get(f.get(Field::SyncFn) as usize)
                .copied()
                .flatten()
                .ok_or_else(|| field_error(Field::SyncFn, f))?;
        i.subfn = Subfn::Sync(function);
        let [s0, ..] = &mut i.srcs;
        if f.on(Field::Src0IsImm) {
            let takes = cx.x.sync_codes.get(function as usize).copied().flatten();
            if !takes.is_some_and(|(_, imm)| imm) {
                return Err(field_error(Field::Src0IsImm, f));
            }
            let ty = type_of(
                &cx.c.tables.imm_types,
                f.get(Field::Src0Type),
                Field::Src0Type,
            )?;
            if ty.bytes() == 8 {
                return Err(field_error(Field::Src0Type, f));
            }
            *s0 = Src::Imm {
                bits: f.get(Field::Imm32),
                ty,
            };
            return Ok(());
        }
        let flag = cx.x.sync_flag == Some(function);
        let at = if flag || f.on(Field::Src0File) {
            let r = reg(cx, Field::Src0File, Field::Src0Reg, f)?;
            let sub = f.get(Field::Src0Sub) as u16;
            match r {
                Reg::Arf(Arf::Flag, _) if flag => RegRef::new(r, sub),
                Reg::Arf(Arf::Null, _) => RegRef::new(Reg::NULL, 0),
                _ => return Err(field_error(Field::Src0Reg, f)),
            }
        } else {
            RegRef::new(Reg::NULL, 0)
        };
        *s0 = Src::Direct {
            at,
            region: Region::SCALAR,
            ty: type_of(
                &cx.c.tables.reg_types,
                f.get(Field::Src0Type),
                Field::Src0Type,
            )?,
            mods: SrcMods::default(),
        };
        Ok(())
    }
}
