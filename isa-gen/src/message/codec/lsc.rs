//! Irregular rules of the load/store cache, which no field can say alone: surface and caching
//! depend on the port, and elements and caching on the operation.

use super::values::reserved;
use crate::message::lsc::{LscCaching, LscKind, LscPort, LscSurface, LscVector};
use crate::message::op::{CcsOp, VECTORS};
use crate::message::params::Rgba;
use crate::message::{LscOp, MessageError};

const WHAT: &str = "load/store cache";
/// Bits of the extended descriptor in the value of a surface, without the lowest six.
const STATE_BITS: u32 = 26;

fn range<T>(field: &'static str, value: u64) -> Result<T, MessageError> {
    super::values::range(WHAT, field, value)
}

/// Decodes the address type and the surface in the extended descriptor.
pub(super) fn surface(port: LscPort, v: u32) -> Result<LscSurface, MessageError> {
    let (kind, ex) = (v >> STATE_BITS, v << 6);
    let s = match kind {
        0 => LscSurface::Flat,
        1 => LscSurface::Bss(ex),
        2 => LscSurface::Ss(ex),
        _ => LscSurface::Bti((ex >> 24) as u8),
    };
    if port == LscPort::Slm && s != LscSurface::Flat {
        return reserved(WHAT, "address type 30:29 of SLM", kind);
    }
    Ok(s)
}

pub(super) fn surface_bits(port: LscPort, s: LscSurface) -> Result<u32, MessageError> {
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
    Ok(kind << STATE_BITS | ex >> 6)
}

/// Decodes the surface of a compression control operation: pages have flat addresses.
pub(super) fn ccs_surface(port: LscPort, op: CcsOp, v: u32) -> Result<LscSurface, MessageError> {
    let surface = surface(port, v)?;
    if op.is_page() && surface != LscSurface::Flat {
        return reserved(WHAT, "address type 30:29 of a page", v >> STATE_BITS);
    }
    Ok(surface)
}

pub(super) fn ccs_surface_bits(
    port: LscPort,
    op: CcsOp,
    surface: LscSurface,
) -> Result<u32, MessageError> {
    if op.is_page() && surface != LscSurface::Flat {
        return range("surface of a page", 1);
    }
    surface_bits(port, surface)
}

/// Decodes the surface whose state is read.
pub(super) fn state_surface(port: LscPort, v: u32) -> Result<LscSurface, MessageError> {
    match surface(port, v)? {
        LscSurface::Flat => reserved(WHAT, "address type 30:29 of a state", 0),
        surface => Ok(surface),
    }
}

pub(super) fn state_surface_bits(port: LscPort, surface: LscSurface) -> Result<u32, MessageError> {
    let v = surface_bits(port, surface)?;
    if surface == LscSurface::Flat {
        return range("surface", 0);
    }
    Ok(v)
}

/// Checks an operation that accesses memory, and encodes it. Other operations have messages of
/// their own.
pub(super) fn access_op(op: LscOp) -> Result<u32, MessageError> {
    if op.kind() == LscKind::Other || matches!(op, LscOp::LoadBlock2d | LscOp::StoreBlock2d) {
        return range("operation", u64::from(op.bits()));
    }
    Ok(op.bits())
}

pub(super) fn caching(port: LscPort, kind: LscKind, v: u32) -> LscCaching {
    match port {
        LscPort::Slm => LscCaching::DEFAULT,
        _ => LscCaching::from_bits(kind, v),
    }
}

pub(super) fn caching_bits(
    port: LscPort,
    kind: LscKind,
    c: LscCaching,
) -> Result<u32, MessageError> {
    let known = c.bits(kind).filter(|n| *n == 0 || port != LscPort::Slm);
    match known {
        Some(n) => Ok(n),
        None => range("cache policies", (c.l1 as u64) << 8 | c.l3 as u64),
    }
}

/// Decodes the elements of an address (15:12).
pub(super) fn vector(op: LscOp, v: u32) -> Result<LscVector, MessageError> {
    if op.has_mask() {
        return match Rgba::new(v as u8) {
            Some(m) => Ok(LscVector::Mask(m)),
            None => reserved(WHAT, "component mask 15:12", v),
        };
    }
    let transposed = v >> 3 == 1;
    let n = VECTORS[(v & 7) as usize];
    let vector = LscVector::Count { n, transposed };
    if vector != LscVector::ONE && matches!(op.kind(), LscKind::Atomic(_)) {
        return reserved(WHAT, "vector 15:12 of an atomic", v);
    }
    if transposed && op == LscOp::LoadStatus {
        return reserved(WHAT, "transposition 15 of a status", 1);
    }
    Ok(vector)
}

pub(super) fn vector_bits(op: LscOp, v: LscVector) -> Result<u32, MessageError> {
    let one = matches!(op.kind(), LscKind::Atomic(_)) && v != LscVector::ONE;
    match v {
        LscVector::Mask(m) if op.has_mask() => Ok(u32::from(m.mask())),
        LscVector::Mask(_) => range("component mask", u64::from(v.count())),
        LscVector::Count { .. } if op.has_mask() || one => range("vector", u64::from(v.count())),
        LscVector::Count {
            transposed: true, ..
        } if op == LscOp::LoadStatus => range("transposition", 1),
        LscVector::Count { n, transposed } => match VECTORS.iter().position(|c| *c == n) {
            Some(i) => Ok(i as u32 | u32::from(transposed) << 3),
            None => range("vector", u64::from(n)),
        },
    }
}
