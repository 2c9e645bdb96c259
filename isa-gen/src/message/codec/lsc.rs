//! Messages of the load/store cache.

use super::{bits, put, reserved, unsupported};
use crate::message::lsc::{
    CcsOp, LscAccess, LscAddr, LscCaching, LscData, LscFenceOp, LscKind, LscOp, LscPort, LscScope,
    LscSurface, LscVector, VECTORS,
};
use crate::message::params::{Dir, Rgba};
use crate::message::{MessageError, MsgOp};
use crate::platform::Platform;
use crate::sfid::traits::SendTraits;

const WHAT: &str = "load/store cache";

fn range<T>(field: &'static str, value: u64) -> Result<T, MessageError> {
    Err(MessageError::Range {
        message: WHAT,
        field,
        value,
    })
}

/// Decodes the address type (30:29) and the surface in the extended descriptor.
fn surface(port: LscPort, ex: u32, desc: u32) -> Result<LscSurface, MessageError> {
    let s = match bits(desc, 29, 2) {
        0 => LscSurface::Flat,
        1 => LscSurface::Bss(ex & !0x3f),
        2 => LscSurface::Ss(ex & !0x3f),
        _ => LscSurface::Bti((ex >> 24) as u8),
    };
    if port == LscPort::Slm && s != LscSurface::Flat {
        return reserved(WHAT, "address type 30:29 of SLM", bits(desc, 29, 2));
    }
    Ok(s)
}

fn surface_bits(port: LscPort, s: LscSurface) -> Result<(u32, u32), MessageError> {
    let (kind, ex) = match s {
        LscSurface::Flat => (0, 0),
        LscSurface::Bss(v) => (1, v),
        LscSurface::Ss(v) => (2, v),
        LscSurface::Bti(n) => (3, u32::from(n) << 24),
    };
    if kind != 0 && port == LscPort::Slm {
        return range("surface of SLM", u64::from(ex));
    }
    if ex & 0x3f != 0 {
        return range("surface state offset", u64::from(ex));
    }
    Ok((kind << 29, ex))
}

fn data(desc: u32) -> Result<LscData, MessageError> {
    match LscData::ALL.get(bits(desc, 9, 3) as usize) {
        Some(d) => Ok(*d),
        None => reserved(WHAT, "data size 11:9", bits(desc, 9, 3)),
    }
}

fn address(desc: u32) -> Result<LscAddr, MessageError> {
    match LscAddr::from_bits(bits(desc, 7, 2)) {
        Some(a) => Ok(a),
        None => reserved(WHAT, "address size 8:7", bits(desc, 7, 2)),
    }
}

fn caching(port: LscPort, kind: LscKind, desc: u32) -> LscCaching {
    match port {
        LscPort::Slm => LscCaching::DEFAULT,
        _ => LscCaching::from_bits(kind, bits(desc, 17, 3)),
    }
}

fn caching_bits(port: LscPort, kind: LscKind, c: LscCaching) -> Result<u32, MessageError> {
    let known = c.bits(kind).filter(|n| *n == 0 || port != LscPort::Slm);
    match known {
        Some(n) => Ok(n << 17),
        None => range("cache policies", (c.l1 as u64) << 8 | c.l3 as u64),
    }
}

/// Decodes the elements of an address (15:12).
fn vector(op: LscOp, desc: u32) -> Result<LscVector, MessageError> {
    if op.has_mask() {
        let mask = bits(desc, 12, 4);
        return match Rgba::new(mask as u8) {
            Some(m) => Ok(LscVector::Mask(m)),
            None => reserved(WHAT, "component mask 15:12", mask),
        };
    }
    let v = LscVector::Count {
        n: VECTORS[bits(desc, 12, 3) as usize],
        transposed: bits(desc, 15, 1) == 1,
    };
    if v != LscVector::ONE && matches!(op.kind(), LscKind::Atomic(_)) {
        return reserved(WHAT, "vector 15:12 of an atomic", bits(desc, 12, 4));
    }
    if bits(desc, 15, 1) == 1 && op == LscOp::LoadStatus {
        return reserved(WHAT, "transposition 15 of a status", 1);
    }
    Ok(v)
}

fn vector_bits(op: LscOp, v: LscVector) -> Result<u32, MessageError> {
    let one = matches!(op.kind(), LscKind::Atomic(_)) && v != LscVector::ONE;
    match v {
        LscVector::Mask(m) if op.has_mask() => Ok(u32::from(m.mask()) << 12),
        LscVector::Mask(_) => range("component mask", u64::from(v.count())),
        LscVector::Count { .. } if op.has_mask() || one => range("vector", u64::from(v.count())),
        LscVector::Count {
            transposed: true, ..
        } if op == LscOp::LoadStatus => range("transposition", 1),
        LscVector::Count { n, transposed } => match VECTORS.iter().position(|c| *c == n) {
            Some(i) => Ok((i as u32) << 12 | u32::from(transposed) << 15),
            None => range("vector", u64::from(n)),
        },
    }
}

pub(super) fn decode(port: LscPort, ex: u32, desc: u32) -> Result<Option<MsgOp>, MessageError> {
    let Some(op) = LscOp::from_bits(bits(desc, 0, 6)) else {
        return Ok(None);
    };
    let kind = op.kind();
    Ok(Some(match op {
        LscOp::LoadBlock2d | LscOp::StoreBlock2d => MsgOp::LscBlock2d {
            port,
            dir: if kind == LscKind::Load {
                Dir::Read
            } else {
                Dir::Write
            },
            data: data(desc)?,
            transposed: bits(desc, 15, 1) == 1,
            vnni: kind == LscKind::Load && bits(desc, 7, 1) == 1,
            surface: surface(port, ex, desc)?,
            caching: caching(port, kind, desc),
        },
        LscOp::Fence => {
            let (op, scope) = (bits(desc, 12, 3), bits(desc, 9, 3));
            match (
                LscFenceOp::ALL.get(op as usize),
                LscScope::ALL.get(scope as usize),
            ) {
                (Some(op), Some(scope)) => MsgOp::LscFence {
                    port,
                    op: *op,
                    scope: *scope,
                    backup: bits(desc, 18, 1) == 1,
                },
                (None, _) => return reserved(WHAT, "fence operation 14:12", op),
                (_, None) => return reserved(WHAT, "fence scope 11:9", scope),
            }
        }
        LscOp::Ccs => {
            let n = bits(desc, 17, 3);
            let Some(op) = CcsOp::ALL.get(n as usize).copied() else {
                return reserved(WHAT, "compression control operation 19:17", n);
            };
            let surface = surface(port, ex, desc)?;
            if op.is_page() && surface != LscSurface::Flat {
                return reserved(WHAT, "address type 30:29 of a page", bits(desc, 29, 2));
            }
            MsgOp::LscCcs { port, op, surface }
        }
        LscOp::ReadState => match surface(port, ex, desc)? {
            LscSurface::Flat => return reserved(WHAT, "address type 30:29 of a state", 0),
            surface => MsgOp::LscReadState { port, surface },
        },
        _ => MsgOp::Lsc(LscAccess {
            port,
            op,
            data: data(desc)?,
            vector: vector(op, desc)?,
            addr: address(desc)?,
            surface: surface(port, ex, desc)?,
            caching: caching(port, kind, desc),
        }),
    }))
}

/// Encodes the function bits of the descriptor and of the extended descriptor.
pub(super) fn encode(
    platform: Platform,
    t: &SendTraits,
    op: &MsgOp,
) -> Result<(u32, u32), MessageError> {
    if !t.lsc {
        return unsupported(platform, op.to_string());
    }
    match *op {
        MsgOp::Lsc(a) => {
            let kind = a.op.kind();
            if kind == LscKind::Other || matches!(a.op, LscOp::LoadBlock2d | LscOp::StoreBlock2d) {
                return range("operation", u64::from(a.op.bits()));
            }
            let (s, ex) = surface_bits(a.port, a.surface)?;
            let v = vector_bits(a.op, a.vector)?;
            let c = caching_bits(a.port, kind, a.caching)?;
            let addr = (a.addr as u32 + 1) << 7;
            Ok((s | c | v | (a.data as u32) << 9 | addr | a.op.bits(), ex))
        }
        MsgOp::LscBlock2d {
            port,
            dir,
            data,
            transposed,
            vnni,
            surface,
            caching,
        } => {
            let op = match dir {
                Dir::Read => LscOp::LoadBlock2d,
                Dir::Write => LscOp::StoreBlock2d,
            };
            if vnni && dir == Dir::Write {
                return range("VNNI of a store", 1);
            }
            let (s, ex) = surface_bits(port, surface)?;
            let c = caching_bits(port, op.kind(), caching)?;
            let shape = u32::from(transposed) << 15 | u32::from(vnni) << 7;
            Ok((s | c | shape | (data as u32) << 9 | op.bits(), ex))
        }
        MsgOp::LscFence {
            op, scope, backup, ..
        } => {
            // There are no addresses, and compilers encode their size as 32 bits.
            let what = u32::from(backup) << 18 | (op as u32) << 12 | (scope as u32) << 9;
            Ok((what | 2 << 7 | LscOp::Fence.bits(), 0))
        }
        MsgOp::LscCcs { port, op, surface } => {
            if op.is_page() && surface != LscSurface::Flat {
                return range("surface of a page", 1);
            }
            let (s, ex) = surface_bits(port, surface)?;
            // Addresses have 64 bits.
            let n = put(WHAT, "operation", op as u64, 17, 3)?;
            Ok((s | n | 3 << 7 | LscOp::Ccs.bits(), ex))
        }
        MsgOp::LscReadState { port, surface } => {
            let (s, ex) = surface_bits(port, surface)?;
            if s == 0 {
                return range("surface", 0);
            }
            Ok((s | LscOp::ReadState.bits(), ex))
        }
        _ => unsupported(platform, op.to_string()),
    }
}
