//! Branches: targets in bytes, and the few that take a register.

use super::Ctx;
use super::bits::Fields;
use super::operand::{
    IMM, SRC0, SRC1, SrcFields, bad, get_dst, get_src, put_dst, put_src, put_sub, reg, reg_code,
};
use crate::decode::DecodeError;
use crate::encode::EncodeError;
use crate::inst::{Dst, Inst, Src, SrcMods, Target};
use crate::op::{Format, Op};
use crate::reg::{Reg, RegRef};
use crate::region::Region;
use crate::table::Field;
use crate::types::Type;

fn offset(t: Target) -> Result<i32, EncodeError> {
    match t {
        Target::Rel(bytes) => Ok(bytes),
        Target::Label(l) => Err(EncodeError::UnresolvedLabel(l)),
    }
}

fn field_value(bytes: i32) -> u64 {
    u64::from(bytes as u32)
}

/// The offset that `jmpi` holds counts from the next instruction.
fn from_next(bytes: i32, len: usize) -> i32 {
    bytes.wrapping_sub(len as i32)
}

/// A register target; the region is fixed by the opcode.
fn put_reg(
    s: &SrcFields,
    region: Region,
    src: &Src<Reg>,
    f: &mut Fields,
) -> Result<(), EncodeError> {
    let Src::Direct {
        at,
        region: given,
        ty: Type::D | Type::Ud,
        mods: SrcMods {
            neg: false,
            abs: false,
        },
    } = *src
    else {
        return Err(bad(
            s.name,
            "a branch takes a target or a doubleword register",
        ));
    };
    if given != region {
        return Err(bad(s.name, "the region is fixed by the opcode"));
    }
    let (file, number) = reg_code(s.name, at.reg)?;
    f.set(s.file, file);
    f.set(s.reg, number);
    put_sub(s.name, s.sub, at, f)
}

fn get_reg(s: &SrcFields, region: Region, ty: Type, f: &Fields) -> Result<Src<Reg>, DecodeError> {
    Ok(Src::Direct {
        at: RegRef::new(
            reg(f.get(s.file), f.get(s.reg), s.reg)?,
            f.get(s.sub) as u16,
        ),
        region,
        ty,
        mods: SrcMods::default(),
    })
}

/// The region that `brc` and `ret` read their register with: a pair.
const PAIR: Region = Region::rect(2, 2, 1);

pub(super) fn lower(ctx: &Ctx<'_>, i: &Inst<Reg>, f: &mut Fields) -> Result<(), EncodeError> {
    let [s0, s1, s2] = &i.srcs;
    if *s2 != Src::None {
        return Err(bad("src2", "the opcode has fewer sources"));
    }
    let two = matches!(
        ctx.info.format,
        Format::BranchJipUip | Format::BranchRegJipUip
    );
    if !two && *s1 != Src::None {
        return Err(bad("src1", "the opcode has one target"));
    }
    if ctx.info.format == Format::Call {
        put_dst(ctx, &i.dst, f)?;
        if !matches!(i.dst, Dst::Direct { .. }) {
            return Err(bad("dst", "the return address goes to a direct register"));
        }
    } else if i.dst != Dst::None {
        return Err(bad("dst", "the opcode has none"));
    }
    match ctx.info.format {
        Format::BranchJip => {
            let Src::Target(t) = *s0 else {
                return Err(bad("src0", "must be a target"));
            };
            f.set(Field::Jip, field_value(offset(t)?));
        }
        Format::BranchJipUip => put_both(s0, s1, f)?,
        Format::Jmpi => match *s0 {
            Src::Target(t) => {
                f.set(Field::Src1File, IMM);
                f.set(Field::Jip, field_value(from_next(offset(t)?, 16)));
            }
            _ => put_reg(&SRC1, Region::SCALAR, s0, f)?,
        },
        Format::BranchRegJip => match *s0 {
            Src::Target(t) => {
                f.set(Field::Src0File, IMM);
                f.set(Field::Jip, field_value(offset(t)?));
            }
            _ => put_reg(&SRC0, Region::SCALAR, s0, f)?,
        },
        Format::BranchRegJipUip => match *s0 {
            Src::Target(_) => {
                f.set(Field::Src0File, IMM);
                put_both(s0, s1, f)?;
            }
            _ if *s1 == Src::None => {
                put_reg(&SRC0, PAIR, s0, f)?;
                f.set(Field::Src0Vs, 2);
                f.set(Field::Src0Width, 1);
                f.set(Field::Src0Hs, 1);
            }
            _ => return Err(bad("src1", "a register holds both targets")),
        },
        Format::Call => match *s0 {
            Src::Imm {
                bits,
                ty: Type::D | Type::Ud,
            } if i.op == Op::Calla && bits <= u32::MAX.into() => {
                f.set(Field::Src1File, IMM);
                f.set(Field::Jip, bits);
            }
            Src::Target(t) if i.op == Op::Call => {
                f.set(Field::Src1File, IMM);
                f.set(Field::Jip, field_value(offset(t)?));
            }
            Src::Direct { ty, .. } => {
                put_reg(&SRC1, Region::SCALAR, s0, f)?;
                f.set(Field::Src1Type, (ty == Type::D).into());
            }
            _ => {
                return Err(bad(
                    "src0",
                    "`call` takes a target, `calla` an absolute address, both a register",
                ));
            }
        },
        Format::Ret => {
            let ty = s0.ty();
            put_reg(&SRC0, PAIR, s0, f)?;
            f.set(Field::Src0Type, (ty == Some(Type::D)).into());
        }
        _ => put_src(ctx, &SRC0, s0, true, f)?,
    }
    Ok(())
}

fn put_both(s0: &Src<Reg>, s1: &Src<Reg>, f: &mut Fields) -> Result<(), EncodeError> {
    let (Src::Target(jip), Src::Target(uip)) = (*s0, *s1) else {
        return Err(bad("src0", "both sources must be targets"));
    };
    f.set(Field::Jip, field_value(offset(jip)?));
    f.set(Field::Uip, field_value(offset(uip)?));
    Ok(())
}

fn target(f: &Fields, field: Field) -> Src<Reg> {
    Src::Target(Target::Rel(f.get(field) as u32 as i32))
}

pub(super) fn lift(
    ctx: &Ctx<'_>,
    len: usize,
    f: &Fields,
    i: &mut Inst<Reg>,
) -> Result<(), DecodeError> {
    if f.on(Field::AccessMode) {
        return Err(DecodeError::Align16);
    }
    let dword = |code| if code == 1 { Type::D } else { Type::Ud };
    let s0;
    let mut s1 = Src::None;
    match ctx.info.format {
        Format::BranchJip => {
            s0 = target(f, Field::Jip);
        }
        Format::BranchJipUip => {
            s0 = target(f, Field::Jip);
            s1 = target(f, Field::Uip);
        }
        Format::Jmpi => {
            if f.get(Field::Src1File) == IMM {
                let next = f.get(Field::Jip) as u32 as i32;
                s0 = Src::Target(Target::Rel(next.wrapping_add(len as i32)));
            } else {
                s0 = get_reg(&SRC1, Region::SCALAR, Type::D, f)?;
            }
        }
        Format::BranchRegJip => {
            if f.get(Field::Src0File) == IMM {
                s0 = target(f, Field::Jip);
            } else {
                s0 = get_reg(&SRC0, Region::SCALAR, Type::D, f)?;
            }
        }
        Format::BranchRegJipUip => {
            if f.get(Field::Src0File) == IMM {
                s0 = target(f, Field::Jip);
                s1 = target(f, Field::Uip);
            } else {
                s0 = get_reg(&SRC0, PAIR, Type::D, f)?;
            }
        }
        Format::Call => {
            i.dst = get_dst(ctx, false, f)?;
            if !matches!(i.dst, Dst::Direct { .. }) {
                return Err(DecodeError::field(Field::DstAddrMode, 1));
            }
            if let Dst::Direct { hs, .. } = &mut i.dst {
                *hs = 1;
            }
            if f.get(Field::Src1File) == IMM {
                s0 = if i.op == Op::Calla {
                    Src::Imm {
                        bits: f.get(Field::Jip),
                        ty: Type::D,
                    }
                } else {
                    target(f, Field::Jip)
                };
            } else {
                let ty = dword(f.get(Field::Src1Type));
                s0 = get_reg(&SRC1, Region::SCALAR, ty, f)?;
            }
        }
        Format::Ret => {
            let ty = dword(f.get(Field::Src0Type));
            s0 = get_reg(&SRC0, PAIR, ty, f)?;
        }
        _ => s0 = get_src(ctx, &SRC0, false, f)?,
    }
    let [first, second, _] = &mut i.srcs;
    *first = s0;
    *second = s1;
    Ok(())
}
