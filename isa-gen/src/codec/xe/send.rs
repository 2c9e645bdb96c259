//! Sends: two payloads of whole registers, a shared function, and two descriptors spread over the
//! other bits.

use super::operand::{put_reg, reg};
use super::{XeCtx, field_error, operand_error};
use crate::codec::Operands;
use crate::codec::bits::Fields;
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::parts::put_ex_reg;
use crate::inst::{Desc, Dst, Inst, InstOpts, SendDescs, Src, SrcMods, Subfn};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::Region;
use crate::sfid::Sfid;
use crate::table::{Field, NativeLayout};
use crate::types::Type;

/// Fields of the extended descriptor: bits 31:11, and 10:6, the length of source 1.
const EX_HIGH: u32 = 11;
const EX_LEN: u32 = 6;
const LEN: u32 = 31;

fn payload(reg: Reg) -> Src<Reg> {
    Src::Direct {
        at: RegRef::new(reg, 0),
        region: Region::SCALAR,
        ty: Type::Ud,
        mods: SrcMods::default(),
    }
}

fn put_whole<L: NativeLayout>(
    cx: &XeCtx,
    operand: &'static str,
    fields: (Field, Field),
    at: RegRef<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    if at.sub != 0 {
        return Err(operand_error(operand, "a send operand is whole registers"));
    }
    put_reg(cx, operand, fields, at.reg, f)
}

fn len_code(len: Option<u8>, why: &'static str) -> Result<u64, EncodeError> {
    match len {
        Some(n) if u32::from(n) <= LEN => Ok(n.into()),
        _ => Err(operand_error("src1", why)),
    }
}

/// `send`, with two payloads, the shared function and two descriptors.
pub(super) struct Send;

impl Operands<XeCtx> for Send {
    #[inline(always)]
    fn lower<L: NativeLayout>(
        cx: &XeCtx,
        i: &Inst<Reg>,
        f: &mut Fields<L>,
    ) -> Result<(), EncodeError> {
        let Subfn::Send(sfid) = i.subfn else {
            return Err(operand_error(
                "function",
                "a send names its shared function",
            ));
        };
        if cx.x.sfids >> sfid.number() & 1 == 0 {
            return Err(operand_error(
                "function",
                "the platform has no such shared function",
            ));
        }
        f.put(Field::Sfid, sfid.number().into());
        let Dst::Direct { at, .. } = i.dst else {
            return Err(operand_error("dst", "a send writes direct registers"));
        };
        put_whole(cx, "dst", (Field::DstFile, Field::DstReg), at, f)?;
        let [
            Src::Direct { at: s0, .. },
            Src::Direct { at: s1, .. },
            Src::None,
        ] = i.srcs
        else {
            return Err(operand_error("src0", "a send takes two direct registers"));
        };
        put_whole(cx, "src0", (Field::Src0File, Field::Src0Reg), s0, f)?;
        put_whole(cx, "src1", (Field::Src1File, Field::Src1Reg), s1, f)?;
        let has = |o| i.opts.contains(o);
        if has(InstOpts::SERIALIZE) && f.width(Field::Serialize) == 0 {
            return Err(operand_error("options", "the platform has no {Serialize}"));
        }
        if has(InstOpts::EX_BSO) && f.width(Field::ExBso) == 0 {
            return Err(operand_error("options", "the platform has no {ExBSO}"));
        }
        f.put(Field::Eot, has(InstOpts::EOT).into());
        f.put(Field::Serialize, has(InstOpts::SERIALIZE).into());
        let d = i
            .send
            .ok_or(operand_error("descriptor", "a send needs both"))?;
        match d.desc {
            Desc::Imm(v) => f.put(Field::Desc, v.into()),
            Desc::Reg(r) if r == RegRef::new(Reg::Arf(Arf::Address, 0), 0) => {
                f.put(Field::DescReg, 1);
            }
            Desc::Reg(_) => {
                return Err(operand_error("descriptor", "a register descriptor is a0.0"));
            }
        }
        put_ex(cx, i, &d, f)
    }

    #[inline(always)]
    fn lift<L: NativeLayout>(
        cx: &XeCtx,
        _: usize,
        f: &Fields<L>,
        i: &mut Inst<Reg>,
    ) -> Result<(), DecodeError> {
        let sfid = f.get(Field::Sfid) as u8;
        let known = cx.x.sfids >> (sfid & 15) & 1 != 0;
        i.subfn = Sfid::new(sfid)
            .filter(|_| known)
            .map(Subfn::Send)
            .ok_or_else(|| field_error(Field::Sfid, f))?;
        i.dst = Dst::Direct {
            at: RegRef::new(reg(cx, Field::DstFile, Field::DstReg, f)?, 0),
            hs: 1,
            ty: Type::Ud,
        };
        i.srcs = [
            payload(reg(cx, Field::Src0File, Field::Src0Reg, f)?),
            payload(reg(cx, Field::Src1File, Field::Src1Reg, f)?),
            Src::None,
        ];
        i.opts.set(InstOpts::EOT, f.on(Field::Eot));
        i.opts.set(InstOpts::SERIALIZE, f.on(Field::Serialize));
        let a0 = |sub| Desc::Reg(RegRef::new(Reg::Arf(Arf::Address, 0), sub));
        let desc = if f.on(Field::DescReg) {
            a0(0)
        } else {
            Desc::Imm(f.get(Field::Desc) as u32)
        };
        let len = f.get(Field::ExLen) as u8;
        let (ex, src1_len) = if f.on(Field::ExReg) {
            let base = f.on(Field::ExBso);
            i.opts.set(InstOpts::EX_BSO, base);
            i.opts.set(InstOpts::CPS, base && f.on(Field::Cps));
            (a0(f.get(Field::ExAddrSub) as u16 * 4), base.then_some(len))
        } else {
            let high = (f.get(Field::ExFunc) as u32) << EX_HIGH;
            if cx.x.own_src1_len {
                (Desc::Imm(high), Some(len))
            } else {
                (Desc::Imm(high | u32::from(len) << EX_LEN), None)
            }
        };
        i.send = Some(SendDescs { ex, desc, src1_len });
        Ok(())
    }
}

fn put_ex<L: NativeLayout>(
    cx: &XeCtx,
    i: &Inst<Reg>,
    d: &SendDescs,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let base = i.opts.contains(InstOpts::EX_BSO);
    let cps = i.opts.contains(InstOpts::CPS);
    if cps && !base {
        return Err(operand_error("extended descriptor", "{CPS} needs {ExBSO}"));
    }
    match d.ex {
        Desc::Imm(_) if base => Err(operand_error(
            "extended descriptor",
            "{ExBSO} needs it in a register",
        )),
        Desc::Imm(ex) => {
            let own = if cx.x.own_src1_len { EX_HIGH } else { EX_LEN };
            if ex & ((1 << own) - 1) != 0 {
                return Err(operand_error(
                    "extended descriptor",
                    "its lowest bits must be 0",
                ));
            }
            f.put(Field::ExFunc, (ex >> EX_HIGH).into());
            if cx.x.own_src1_len {
                let len = len_code(d.src1_len, "needs its length, 0 to 31")?;
                f.put(Field::ExLen, len);
            } else if d.src1_len.is_some() {
                return Err(operand_error(
                    "src1",
                    "its length is in the extended descriptor",
                ));
            } else {
                f.put(Field::ExLen, (ex >> EX_LEN & LEN).into());
            }
            Ok(())
        }
        Desc::Reg(r) => {
            put_ex_reg(r, f)?;
            if base {
                f.put(Field::ExBso, 1);
                f.put(Field::Cps, cps.into());
                let len = len_code(d.src1_len, "needs its length, 0 to 31")?;
                f.put(Field::ExLen, len);
            } else if d.src1_len.is_some() {
                return Err(operand_error(
                    "src1",
                    "its length is in the extended descriptor",
                ));
            }
            Ok(())
        }
    }
}
