//! Sends, whose operands are whole registers and whose descriptors are spread over the bits that
//! other formats use for regions.

use super::bits::Fields;
use super::operand::{
    ARF, GRF, addr_imm, addr_offset, addr_ref, addr_sub, get_dst, put_dst, reg, reg_code,
};
use super::parts::{operand_error, put_ex_reg, type_code, type_of};
use super::{Ctx, Operands};
use crate::codec::error::{DecodeError, EncodeError};
use crate::inst::{Desc, Dst, Inst, InstOpts, SendDescs, Src, SrcMods};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::Region;
use crate::table::{Field, NativeLayout};
use crate::types::Type;

/// EOT bit of the extended descriptor, as in text.
const EX_EOT: u32 = 1 << 5;
/// Register number of a0.0.
const A0: u64 = 0x10;

/// Encodes an address offset of a send, in units of 16 bytes.
fn coarse(operand: &'static str, imm: i16) -> Result<u64, EncodeError> {
    if imm % 16 != 0 {
        return Err(operand_error(
            operand,
            "the address offset must be a multiple of 16",
        ));
    }
    Ok(addr_imm(operand, imm)? >> 4)
}

fn fine(bits: u64) -> i16 {
    addr_offset(bits << 4)
}

fn whole(operand: &'static str, at: RegRef<Reg>) -> Result<(u64, u64), EncodeError> {
    if at.sub != 0 {
        return Err(operand_error(operand, "a send operand is whole registers"));
    }
    reg_code(operand, at.reg)
}

fn put_src0<L: NativeLayout>(src: &Src<Reg>, f: &mut Fields<L>) -> Result<u64, EncodeError> {
    match *src {
        Src::Direct { at, .. } => {
            let (file, number) = whole("src0", at)?;
            f.put(Field::Src0Reg, number);
            Ok(file)
        }
        Src::Indirect { addr, imm, .. } => {
            f.put(Field::Src0AddrMode, 1);
            f.put(Field::Src0AddrSub, addr_sub("src0", addr)?);
            f.put(Field::Src0AddrImm, coarse("src0", imm)?);
            Ok(GRF)
        }
        _ => Err(operand_error("src0", "a send takes a register")),
    }
}

fn get_src0<L: NativeLayout>(file: u64, ty: Type, f: &Fields<L>) -> Result<Src<Reg>, DecodeError> {
    let indirect = f.on(Field::Src0AddrMode);
    if indirect {
        return Ok(Src::Indirect {
            addr: addr_ref(f.get(Field::Src0AddrSub)),
            imm: fine(f.get(Field::Src0AddrImm)),
            region: Region::SCALAR,
            ty,
            mods: SrcMods::default(),
        });
    }
    Ok(payload(
        reg(file, f.get(Field::Src0Reg), Field::Src0Reg)?,
        ty,
    ))
}

fn payload(r: Reg, ty: Type) -> Src<Reg> {
    Src::Direct {
        at: RegRef::new(r, 0),
        region: Region::SCALAR,
        ty,
        mods: SrcMods::default(),
    }
}

fn descs(i: &Inst<Reg>) -> Result<SendDescs, EncodeError> {
    match i.send {
        Some(d) => Ok(d),
        None => Err(operand_error("descriptor", "a send needs both")),
    }
}

/// Encodes the descriptor and EOT. Returns true if the descriptor is in a0.0.
fn put_desc<L: NativeLayout>(
    i: &Inst<Reg>,
    d: &SendDescs,
    f: &mut Fields<L>,
) -> Result<bool, EncodeError> {
    let eot = i.opts.contains(InstOpts::EOT) || matches!(d.ex, Desc::Imm(ex) if ex & EX_EOT != 0);
    f.put(Field::Eot, eot.into());
    match d.desc {
        Desc::Imm(v) if u64::from(v) >> f.width(Field::Desc) == 0 => {
            f.put(Field::Desc, v.into());
            Ok(false)
        }
        Desc::Imm(_) => Err(operand_error("descriptor", "the field has fewer bits")),
        Desc::Reg(r) if r == RegRef::new(Reg::Arf(Arf::Address, 0), 0) => {
            // Gen9 reads this bit from the instruction even if the descriptor is in a0.0 (Skylake
            // workaround).
            let half = i.dst.ty() == Some(Type::Hf)
                || (i.srcs[0].ty() == Some(Type::Hf) && i.srcs[1] == Src::None);
            if half && f.width(Field::DescHf) != 0 {
                f.put(Field::DescHf, 1);
            }
            Ok(true)
        }
        Desc::Reg(_) => Err(operand_error("descriptor", "a register descriptor is a0.0")),
    }
}

fn get_desc<L: NativeLayout>(f: &Fields<L>, in_a0: bool) -> Desc {
    if in_a0 {
        Desc::Reg(RegRef::new(Reg::Arf(Arf::Address, 0), 0))
    } else {
        Desc::Imm(f.get(Field::Desc) as u32)
    }
}

fn common_ex<L: NativeLayout>(f: &Fields<L>) -> u32 {
    let eot = if f.on(Field::Eot) { EX_EOT } else { 0 };
    (f.get(Field::ExFunc) as u32) << 16 | eot | f.get(Field::Sfid) as u32
}

/// `send` with one payload.
pub(super) struct Send;

impl Operands<Ctx> for Send {
    #[inline(always)]
    fn lower<L: NativeLayout>(
        ctx: &Ctx,
        i: &Inst<Reg>,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        if i.srcs[1] != Src::None || i.srcs[2] != Src::None {
            return Err(operand_error("src1", "only a split send has two payloads"));
        }
        if let Dst::Direct { at, .. } = i.dst {
            whole("dst", at)?;
        }
        if matches!(i.dst, Dst::Direct { hs, .. } | Dst::Indirect { hs, .. } if hs != 1) {
            return Err(operand_error("dst", "a send writes whole registers"));
        }
        put_dst(ctx, &i.dst, f)?;
        let file = put_src0(&i.srcs[0], f)?;
        f.put(Field::Src0File, file);
        let ty = i.srcs[0].ty().unwrap_or(Type::Ud);
        f.put(
            Field::Src0Type,
            type_code("src0", &ctx.tables.reg_types, ty)?,
        );
        let d = descs(i)?;
        if put_desc(i, &d, f)? {
            f.set(Field::Src1File, ARF);
            f.put(Field::Src1Reg, A0);
        }
        let Desc::Imm(ex) = d.ex else {
            return Err(operand_error(
                "extended descriptor",
                "only a split send takes it from a register",
            ));
        };
        if ex & 0xffd0 != 0 {
            return Err(operand_error(
                "extended descriptor",
                "bits 4 and 15:6 must be 0 in a send with one payload",
            ));
        }
        f.put(Field::Sfid, (ex & 15).into());
        if ex >> 16 != 0 {
            if f.width(Field::ExFunc) == 0 {
                return Err(operand_error("extended descriptor", "has no bits above 5"));
            }
            f.put(Field::ExFunc, (ex >> 16).into());
        }
        Ok(())
    }

    #[inline(always)]
    fn lift<L: NativeLayout>(
        ctx: &Ctx,
        _: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError> {
        let in_a0 = f.get(Field::Src1File) == ARF;
        i.dst = get_dst(ctx, false, f)?;
        match &mut i.dst {
            Dst::Direct { at, hs, .. } => {
                at.sub = 0;
                *hs = 1;
            }
            Dst::Indirect { .. } | Dst::Macro { .. } | Dst::None => {}
        }
        let ty = type_of(
            &ctx.tables.reg_types,
            f.get(Field::Src0Type),
            Field::Src0Type,
        )?;
        i.srcs[0] = get_src0(f.get(Field::Src0File), ty, f)?;
        i.opts.set(InstOpts::EOT, f.on(Field::Eot));
        i.send = Some(SendDescs {
            ex: Desc::Imm(common_ex(f)),
            desc: get_desc(f, in_a0),
            src1_len: None,
        });
        Ok(())
    }
}

/// `sends`, with two payloads.
pub(super) struct SplitSend;

impl Operands<Ctx> for SplitSend {
    #[inline(always)]
    fn lower<L: NativeLayout>(
        ctx: &Ctx,
        i: &Inst<Reg>,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        if i.srcs[2] != Src::None {
            return Err(operand_error("src2", "a split send has two payloads"));
        }
        match i.dst {
            Dst::Direct { at, ty, .. } => {
                let (file, number) = whole("dst", at)?;
                f.put(Field::DstFile, file);
                f.put(Field::DstReg, number);
                f.put(Field::DstType, type_code("dst", &ctx.tables.reg_types, ty)?);
            }
            Dst::Indirect { addr, imm, ty, .. } => {
                f.put(Field::DstFile, GRF);
                f.put(Field::DstAddrMode, 1);
                f.put(Field::DstAddrSub, addr_sub("dst", addr)?);
                f.put(Field::DstAddrImm, coarse("dst", imm)?);
                f.put(Field::DstType, type_code("dst", &ctx.tables.reg_types, ty)?);
            }
            _ => return Err(operand_error("dst", "a send writes registers")),
        }
        if put_src0(&i.srcs[0], f)? != GRF {
            return Err(operand_error("src0", "must be a GRF"));
        }
        let Src::Direct { at, .. } = i.srcs[1] else {
            return Err(operand_error("src1", "a split send takes a register"));
        };
        let (file, number) = whole("src1", at)?;
        if file == ARF && number != 0 {
            return Err(operand_error("src1", "must be a GRF or null"));
        }
        f.put(Field::Src1File, file);
        f.put(Field::Src1Reg, number);
        let d = descs(i)?;
        let in_a0 = put_desc(i, &d, f)?;
        f.put(Field::DescReg, in_a0.into());
        match d.ex {
            Desc::Imm(ex) => {
                if ex & 0xfc10 != 0 {
                    return Err(operand_error(
                        "extended descriptor",
                        "bits 4 and 15:10 must be 0",
                    ));
                }
                f.put(Field::Sfid, (ex & 15).into());
                f.put(Field::ExLen, (ex >> 6 & 15).into());
                f.put(Field::ExFunc, (ex >> 16).into());
            }
            Desc::Reg(r) => {
                put_ex_reg(r, f)?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn lift<L: NativeLayout>(
        ctx: &Ctx,
        _: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError> {
        let in_a0 = f.on(Field::DescReg);
        let ex_in_a0 = f.on(Field::ExReg);
        let indirect = f.on(Field::DstAddrMode);
        let ty = type_of(&ctx.tables.reg_types, f.get(Field::DstType), Field::DstType)?;
        i.dst = if indirect {
            Dst::Indirect {
                addr: addr_ref(f.get(Field::DstAddrSub)),
                imm: fine(f.get(Field::DstAddrImm)),
                hs: 1,
                ty,
            }
        } else {
            let r = reg(f.get(Field::DstFile), f.get(Field::DstReg), Field::DstReg)?;
            Dst::Direct {
                at: RegRef::new(r, 0),
                hs: 1,
                ty,
            }
        };
        i.srcs[0] = get_src0(GRF, Type::Ud, f)?;
        let r = reg(
            f.get(Field::Src1File),
            f.get(Field::Src1Reg),
            Field::Src1Reg,
        )?;
        i.srcs[1] = payload(r, Type::Ud);
        i.opts.set(InstOpts::EOT, f.on(Field::Eot));
        i.send = Some(SendDescs {
            ex: if ex_in_a0 {
                let sub = f.get(Field::ExAddrSub) as u16 * 4;
                Desc::Reg(RegRef::new(Reg::Arf(Arf::Address, 0), sub))
            } else {
                Desc::Imm(common_ex(f) | (f.get(Field::ExLen) as u32) << 6)
            },
            desc: get_desc(f, in_a0),
            src1_len: None,
        });
        Ok(())
    }
}
