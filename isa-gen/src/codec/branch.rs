//! Branches, with targets in bytes or in a register.

use super::bits::{Fields, mask};
use super::operand::{IMM, SRC0, SRC1, SrcFields, get_dst, put_dst, put_sub, reg, reg_code};
use super::parts::operand_error;
use super::{Ctx, Operands};
use crate::codec::error::{DecodeError, EncodeError};
use crate::inst::{Dst, Inst, Src, SrcMods, Target};
use crate::op::{Format, Op};
use crate::reg::{Reg, RegRef};
use crate::region::Region;
use crate::table::{Field, NativeLayout};
use crate::types::Type;

fn offset(t: Target) -> Result<i32, EncodeError> {
    match t {
        Target::Rel(bytes) => Ok(bytes),
        Target::Label(l) => Err(EncodeError::UnresolvedLabel(l)),
    }
}

fn put_offset<L: NativeLayout>(
    bytes: i32,
    field: Field,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let (width, unit) = (u32::from(f.width(field)), f.target_unit());
    let value = bytes / unit;
    let most = i64::MAX >> 64u32.saturating_sub(width).min(63);
    if value * unit != bytes {
        return Err(operand_error(
            "target",
            "must be a multiple of 8 bytes away",
        ));
    }
    if i64::from(value) > most || i64::from(value) < -most - 1 {
        return Err(operand_error("target", "is too far away"));
    }
    f.put(field, value as u64 & mask(width));
    Ok(())
}

fn get_offset<L: NativeLayout>(f: &Fields<L>, field: Field) -> i32 {
    let up = 32u32.saturating_sub(f.width(field).into()).min(31);
    ((((f.get(field) as u32) << up) as i32) >> up).wrapping_mul(f.target_unit())
}

/// Converts an offset to that of `jmpi`, which is relative to the next instruction.
fn from_next(bytes: i32, len: usize) -> i32 {
    bytes.wrapping_sub(len as i32)
}

/// Encodes a register target, whose region is fixed by the opcode.
fn put_reg<L: NativeLayout>(
    s: &SrcFields,
    (region, types): (Region, [Type; 2]),
    src: &Src<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let Src::Direct {
        at,
        region: given,
        ty,
        mods: SrcMods {
            neg: false,
            abs: false,
        },
    } = *src
    else {
        return Err(operand_error(
            s.name,
            "a branch takes a target or a register",
        ));
    };
    if !types.contains(&ty) {
        return Err(operand_error(
            s.name,
            "the register's type is fixed by the opcode",
        ));
    }
    if given != region {
        return Err(operand_error(s.name, "the region is fixed by the opcode"));
    }
    let (file, number) = reg_code(s.name, at.reg)?;
    f.put(s.file, file);
    f.put(s.reg, number);
    put_sub(s.name, s.sub, at, f)
}

fn get_reg<L: NativeLayout>(
    s: &SrcFields,
    region: Region,
    ty: Type,
    f: &Fields<L>,
) -> Result<Src<Reg>, DecodeError> {
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

/// Types of a register target where either is accepted.
const DWORDS: [Type; 2] = [Type::D, Type::Ud];

/// Returns the type that the opcode fixes for its register target.
fn fixed_type<L: NativeLayout>(ctx: &Ctx, f: &Fields<L>) -> Type {
    let code = f.get(Field::Src0Type);
    ctx.tables.reg_types.ty(code).unwrap_or(Type::D)
}

/// Region of the register of `brc` and `ret`: a pair.
const PAIR: Region = Region::rect(2, 2, 1);

/// Targets, registers, and the return address of `call`.
pub(super) struct Branch;

impl Operands<Ctx> for Branch {
    #[inline(always)]
    fn lower<L: NativeLayout>(
        ctx: &Ctx,
        i: &Inst<Reg>,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        let [s0, s1, s2] = &i.srcs;
        if *s2 != Src::None {
            return Err(operand_error("src2", "the opcode has fewer sources"));
        }
        let two = matches!(
            ctx.info.format,
            Format::BranchJipUip | Format::BranchRegJipUip
        );
        if !two && *s1 != Src::None {
            return Err(operand_error("src1", "the opcode has one target"));
        }
        if ctx.info.format == Format::Call {
            if !matches!(i.dst, Dst::Direct { hs: 1, .. }) {
                return Err(operand_error(
                    "dst",
                    "the return address goes to a direct register",
                ));
            }
            // The constant bits have type `d`.
            f.set(Field::DstType, 0);
            put_dst(ctx, &i.dst, f)?;
        } else if i.dst != Dst::None {
            return Err(operand_error("dst", "the opcode has none"));
        }
        match ctx.info.format {
            Format::BranchJip => {
                let Src::Target(t) = *s0 else {
                    return Err(operand_error("src0", "must be a target"));
                };
                put_offset(offset(t)?, Field::Jip, f)?;
            }
            Format::BranchJipUip => put_both(s0, s1, f)?,
            Format::Jmpi => match *s0 {
                Src::Target(t) => {
                    f.put(Field::Src1File, IMM);
                    put_offset(from_next(offset(t)?, 16), Field::Jip, f)?;
                }
                _ => put_reg(&SRC1, (Region::SCALAR, DWORDS), s0, f)?,
            },
            Format::BranchRegJip => match *s0 {
                Src::Target(t) => {
                    f.put(Field::Src0File, IMM);
                    put_offset(offset(t)?, Field::Jip, f)?;
                }
                _ => {
                    let types = [fixed_type(ctx, f); 2];
                    put_reg(&SRC0, (Region::SCALAR, types), s0, f)?;
                }
            },
            Format::BranchRegJipUip => match *s0 {
                Src::Target(_) => {
                    f.put(Field::Src0File, IMM);
                    put_both(s0, s1, f)?;
                }
                _ if *s1 == Src::None => {
                    let types = [fixed_type(ctx, f); 2];
                    put_reg(&SRC0, (PAIR, types), s0, f)?;
                    f.put(Field::Src0Vs, 2);
                    f.put(Field::Src0Width, 1);
                    f.put(Field::Src0Hs, 1);
                }
                _ => return Err(operand_error("src1", "a register holds both targets")),
            },
            Format::Call => match *s0 {
                Src::Imm {
                    bits,
                    ty: Type::D | Type::Ud,
                } if i.op == Op::Calla && bits <= u32::MAX.into() => {
                    f.put(Field::Src1File, IMM);
                    f.put(Field::Jip, bits);
                }
                Src::Target(t) if i.op == Op::Call => {
                    f.put(Field::Src1File, IMM);
                    put_offset(offset(t)?, Field::Jip, f)?;
                }
                Src::Direct { ty, .. } => {
                    put_reg(&SRC1, (Region::SCALAR, DWORDS), s0, f)?;
                    f.set(Field::Src1Type, (ty == Type::D).into());
                }
                _ => {
                    return Err(operand_error(
                        "src0",
                        "`call` takes a target, `calla` an absolute address, both a register",
                    ));
                }
            },
            Format::Ret => {
                let ty = s0.ty();
                put_reg(&SRC0, (PAIR, DWORDS), s0, f)?;
                f.set(Field::Src0Type, (ty == Some(Type::D)).into());
            }
            _ => return Err(operand_error("src0", "no branch")),
        }
        Ok(())
    }

    #[inline(always)]
    fn lift<L: NativeLayout>(
        ctx: &Ctx,
        len: usize,
        f: &Fields<L>,
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
                    let next = get_offset(f, Field::Jip);
                    s0 = Src::Target(Target::Rel(next.wrapping_add(len as i32)));
                } else {
                    s0 = get_reg(&SRC1, Region::SCALAR, Type::D, f)?;
                }
            }
            Format::BranchRegJip => {
                if f.get(Field::Src0File) == IMM {
                    s0 = target(f, Field::Jip);
                } else {
                    s0 = get_reg(&SRC0, Region::SCALAR, fixed_type(ctx, f), f)?;
                }
            }
            Format::BranchRegJipUip => {
                if f.get(Field::Src0File) == IMM {
                    s0 = target(f, Field::Jip);
                    s1 = target(f, Field::Uip);
                } else {
                    s0 = get_reg(&SRC0, PAIR, fixed_type(ctx, f), f)?;
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
            _ => return Err(DecodeError::Opcode(ctx.info.opcode)),
        }
        let [first, second, _] = &mut i.srcs;
        *first = s0;
        *second = s1;
        Ok(())
    }
}

fn put_both<L: NativeLayout>(
    s0: &Src<Reg>,
    s1: &Src<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let (Src::Target(jip), Src::Target(uip)) = (*s0, *s1) else {
        return Err(operand_error("src0", "both sources must be targets"));
    };
    put_offset(offset(jip)?, Field::Jip, f)?;
    put_offset(offset(uip)?, Field::Uip, f)?;
    Ok(())
}

fn target<L: NativeLayout>(f: &Fields<L>, field: Field) -> Src<Reg> {
    Src::Target(Target::Rel(get_offset(f, field)))
}
