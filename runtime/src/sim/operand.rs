//! Lowering of operands: regions to byte strides, immediates to lanes, payloads to register
//! offsets.

use super::program::SrcOp;
use super::regs::{self, FileOffset};
use super::send::{DescOp, SendOp};
use gantry_isa_gen::sem::packed_imm;
use gantry_isa_gen::{Desc, Dst, Inst, Platform, Reg, RegRef, Region, Src, Type};

/// Lowers a send.
pub(super) fn send(platform: Platform, grfs: u32, inst: &Inst<Reg>) -> Result<SendOp, String> {
    let descs = inst.send.ok_or("a send without descriptors")?;
    let desc = |d: Desc| match d {
        Desc::Imm(v) => Ok(DescOp::Imm(v)),
        Desc::Reg(r) => regs::place(platform, grfs, r).map(|p| DescOp::Reg(p.at)),
    };
    let (ex, desc) = (desc(descs.ex)?, desc(descs.desc)?);
    let grf = |r: RegRef<Reg>| match r.reg {
        Reg::Grf(n) => Ok(u32::from(n) * platform.features().grf_bytes),
        r => Err(format!("a payload cannot be in {r}")),
    };
    let payload = |s: &Src<Reg>| match *s {
        Src::Direct { at, .. } if at.reg.is_null() => Ok(0),
        Src::Direct { at, .. } => grf(at),
        Src::None => Ok(0),
        _ => Err("a payload must be a direct register".to_owned()),
    };
    let dst = match inst.dst {
        Dst::Direct { at, .. } if !at.reg.is_null() => Some(grf(at)?),
        Dst::Direct { .. } | Dst::None => None,
        _ => return Err("a response must be to a direct register".to_owned()),
    };
    let end = grfs * platform.features().grf_bytes;
    let (src0, src1) = (payload(&inst.srcs[0])?, payload(&inst.srcs[1])?);
    Ok(SendOp::new(
        platform,
        inst,
        end,
        (ex, desc),
        (src0, src1),
        dst,
    ))
}

/// Returns a region's row stride, log2 of its width, and its element stride. Strides are in
/// elements.
fn strides(region: Region) -> Result<(u32, u32, u32), String> {
    let log = |w: u8| {
        if w.is_power_of_two() {
            Ok(w.trailing_zeros())
        } else {
            Err(format!("a region of width {w}"))
        }
    };
    Ok(match region {
        Region::Rect { vs, w, hs } => (u32::from(vs), log(w)?, u32::from(hs)),
        Region::VxH { w, hs } => (0, log(w)?, u32::from(hs)),
        // The row's width follows from its strides.
        Region::Ternary { vs, hs } => match (vs, hs) {
            (vs, 0) => (u32::from(vs), 0, 0),
            (vs, hs) => (u32::from(vs), log((vs / hs).max(1))?, u32::from(hs)),
        },
        Region::Scalar3 { hs } => (u32::from(hs), 0, 0),
    })
}

/// Returns the element of a packed vector immediate that a channel reads. It is laid out as words
/// (singles for `vf`). Where the destination's elements are `step` bytes apart, so are those read.
/// Intel's compiler writes `0x0C080400:uv` for the four dwords 0, 4, 8, 12, up to four channels
/// (IGC, `HWConformityPro::fixVectSrc`: "interleave the vector").
fn packed_element(ty: Type, channel: usize, n: u32, step: u32) -> usize {
    let spread = if n <= 4 && ty != Type::Vf && step == 4 {
        2
    } else {
        1
    };
    channel * spread
}

/// Lowers a source of an instruction of `n` channels whose destination's elements are `step` bytes
/// apart.
pub(super) fn source(
    s: &Src<Reg>,
    n: u32,
    step: u32,
    place: &mut impl FnMut(RegRef<Reg>) -> Result<FileOffset, String>,
) -> Result<SrcOp, String> {
    Ok(match *s {
        Src::None | Src::Target(_) => SrcOp::None,
        Src::Macro { at, .. } => SrcOp::Packed { at: place(at)?.at },
        Src::Imm { bits, ty } => {
            if ty.is_packed_imm() {
                let mut lanes = Box::new([0; 32]);
                for (i, l) in lanes.iter_mut().enumerate() {
                    *l = packed_imm(bits as u32, ty, packed_element(ty, i, n, step));
                }
                SrcOp::Imm(lanes)
            } else {
                SrcOp::Value(bits & gantry_isa_gen::sem::convert::element_mask(ty))
            }
        }
        Src::Direct { at, region, ty, .. } => {
            let p = place(at)?;
            let (vs, width_log, hs) = strides(region)?;
            let width = 1 << width_log;
            let rows = n.div_ceil(width);
            let scalar = (hs == 0 || width == 1) && (vs == 0 || rows == 1);
            let packed = (hs == 1 && (rows == 1 || vs == width)) || (width == 1 && vs == 1);
            if scalar {
                SrcOp::Scalar { at: p.at }
            } else if packed {
                SrcOp::Packed { at: p.at }
            } else {
                SrcOp::Rect {
                    at: p.at,
                    vs: vs * ty.bytes(),
                    width_log,
                    hs: hs * ty.bytes(),
                }
            }
        }
        Src::Indirect {
            addr,
            imm,
            region,
            ty,
            ..
        } => {
            let addr = place(addr)?.at;
            let imm = i32::from(imm);
            let (vs, width_log, hs) = strides(region)?;
            let hs = hs * ty.bytes();
            if matches!(region, Region::VxH { .. }) {
                SrcOp::MultiIndirect {
                    addr,
                    imm,
                    width_log,
                    hs,
                }
            } else {
                SrcOp::Indirect {
                    addr,
                    imm,
                    vs: vs * ty.bytes(),
                    width_log,
                    hs,
                }
            }
        }
    })
}
