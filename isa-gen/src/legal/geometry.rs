//! Byte geometry of regions.
//!
//! Offsets are in bytes from the start of the operand's first register. All functions are total: a
//! region without an encoding is measured as if it had one.

use crate::region::{ExecSize, Region};

/// Returns a region as a rectangle `(vertical stride, width, horizontal stride)` in elements, also
/// for the reduced regions of three-source instructions. `None` for VxH, whose rows may start
/// anywhere.
#[inline]
pub fn rect(region: Region) -> Option<(u32, u32, u32)> {
    match region {
        Region::Rect { vs, w, hs } => Some((vs.into(), w.into(), hs.into())),
        Region::VxH { .. } => None,
        Region::Scalar3 { hs: 0 } => Some((0, 1, 0)),
        Region::Ternary { vs, hs: 0 } => Some((vs.into(), 1, 0)),
        // The next row limits the width of a row.
        Region::Ternary { vs, hs } => Some((vs.into(), u32::from(vs / hs).max(1), hs.into())),
        Region::Scalar3 { hs } => Some((hs.into(), 1, 0)),
    }
}

/// Returns true if `<vs;w,hs>` has an encoding. Strides are 0 or powers of two, up to 32 vertically
/// and 4 horizontally. The width is a power of two up to 16. Units are elements.
///
/// ```
/// use gantry_isa_gen::legal::geometry::is_encodable;
/// assert!(is_encodable(8, 8, 1));
/// assert!(!is_encodable(3, 1, 0));
/// ```
pub const fn is_encodable(vs: u32, w: u32, hs: u32) -> bool {
    is_stride(vs, 32) && is_stride(hs, 4) && w.is_power_of_two() && w <= 16
}

/// Returns true if a destination stride in elements has an encoding: 1, 2 or 4.
pub const fn is_dst_stride(hs: u32) -> bool {
    hs != 0 && is_stride(hs, 4)
}

const fn is_stride(s: u32, most: u32) -> bool {
    s == 0 || (s.is_power_of_two() && s <= most)
}

/// Returns the byte offset of a channel's element from the region's origin. `None` for VxH.
pub fn element_offset(region: Region, channel: u32, type_bytes: u32) -> Option<u32> {
    let (vs, w, hs) = rect(region)?;
    let w = w.max(1);
    let elements = (channel / w)
        .saturating_mul(vs)
        .saturating_add((channel % w).saturating_mul(hs));
    Some(elements.saturating_mul(type_bytes))
}

/// Returns the number of bytes from the region's origin to the end of its last element. `None` for
/// VxH.
///
/// ```
/// use gantry_isa_gen::{ExecSize, Region, legal::geometry::span_bytes};
/// assert_eq!(span_bytes(Region::rect(8, 8, 1), ExecSize::S16, 4), Some(64));
/// assert_eq!(span_bytes(Region::rect(16, 8, 2), ExecSize::S8, 4), Some(60));
/// assert_eq!(span_bytes(Region::SCALAR, ExecSize::S16, 4), Some(4));
/// ```
#[inline]
pub fn span_bytes(region: Region, exec: ExecSize, type_bytes: u32) -> Option<u32> {
    let (vs, w, hs) = rect(region)?;
    let w = w.clamp(1, exec.channels());
    // A width with an encoding needs no division.
    let rows = if w.is_power_of_two() {
        exec.channels() >> w.trailing_zeros()
    } else {
        exec.channels() / w
    };
    let last = (rows - 1) * vs + (w - 1) * hs;
    Some(last.saturating_add(1).saturating_mul(type_bytes))
}

/// Returns the number of bytes from a destination's origin to the end of its last element, for a
/// stride in elements.
#[inline]
pub fn dst_span_bytes(hs: u32, exec: ExecSize, type_bytes: u32) -> u32 {
    (exec.channels() - 1)
        .saturating_mul(hs)
        .saturating_add(1)
        .saturating_mul(type_bytes)
}

/// Returns the number of GRFs from the first to the last byte of a source that starts `byte_offset`
/// into its GRF. `None` for VxH.
///
/// ```
/// use gantry_isa_gen::{ExecSize, Region, legal::geometry::grfs_spanned};
/// assert_eq!(grfs_spanned(0, Region::rect(8, 8, 1), ExecSize::S16, 4, 32), Some(2));
/// assert_eq!(grfs_spanned(16, Region::rect(8, 8, 1), ExecSize::S16, 4, 32), Some(3));
/// ```
pub fn grfs_spanned(
    byte_offset: u32,
    region: Region,
    exec: ExecSize,
    type_bytes: u32,
    grf_bytes: u32,
) -> Option<u32> {
    Some(registers(
        byte_offset,
        span_bytes(region, exec, type_bytes)?,
        grf_bytes,
    ))
}

/// Returns the number of GRFs like [`grfs_spanned`], for a destination with a stride in elements.
pub fn dst_grfs_spanned(
    byte_offset: u32,
    hs: u32,
    exec: ExecSize,
    type_bytes: u32,
    grf_bytes: u32,
) -> u32 {
    registers(byte_offset, dst_span_bytes(hs, exec, type_bytes), grf_bytes)
}

fn registers(byte_offset: u32, span: u32, grf_bytes: u32) -> u32 {
    let grf = grf_bytes.max(1);
    let last = byte_offset.saturating_add(span.max(1) - 1);
    (last / grf - byte_offset / grf).saturating_add(1)
}

/// Returns the index of the GRF in which each channel's element starts, relative to the operand's
/// first. `None` for VxH. Entries beyond the execution size are zero.
pub fn register_of_channels(
    byte_offset: u32,
    region: Region,
    exec: ExecSize,
    type_bytes: u32,
    grf_bytes: u32,
) -> Option<[u8; 32]> {
    let mut out = [0; 32];
    for (c, slot) in out.iter_mut().enumerate().take(exec.channels() as usize) {
        let at = byte_offset.saturating_add(element_offset(region, c as u32, type_bytes)?);
        *slot = (at / grf_bytes.max(1)).min(255) as u8;
    }
    Some(out)
}

/// Returns true if a row of the region (`w` elements) starts in one GRF and ends in another. The
/// hardware accepts such a region only if rows are contiguous (`vs == w * hs`). `None` for VxH.
pub fn row_crosses_grf(
    byte_offset: u32,
    region: Region,
    exec: ExecSize,
    type_bytes: u32,
    grf_bytes: u32,
) -> Option<bool> {
    let (vs, w, hs) = rect(region)?;
    let w = w.clamp(1, exec.channels());
    let grf = grf_bytes.max(1);
    Some((0..exec.channels() / w).any(|row| {
        let first = byte_offset.saturating_add((row * vs).saturating_mul(type_bytes));
        let bytes = ((w - 1) * hs + 1).saturating_mul(type_bytes);
        let last = first.saturating_add(bytes.max(1) - 1);
        first / grf != last / grf
    }))
}

/// Returns the stride in elements if the region is equivalent to a single row with that stride, 0
/// if all channels read one element. `None` for other regions and for VxH.
pub fn uniform_stride(region: Region, exec: ExecSize) -> Option<u32> {
    let (vs, w, hs) = rect(region)?;
    let w = w.clamp(1, exec.channels());
    let rows = exec.channels() / w;
    let stride = if w > 1 { hs } else { vs };
    if rows == 1 || w == 1 {
        return Some(if exec.channels() == 1 { 0 } else { stride });
    }
    (vs == w * hs).then_some(hs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_agree_with_the_elements() {
        for exec in [1, 2, 4, 8, 16, 32].map(|n| ExecSize::new(n).unwrap()) {
            for vs in [0u8, 1, 2, 4, 8, 16, 32] {
                for w in [1u8, 2, 4, 8, 16] {
                    for hs in [0u8, 1, 2, 4] {
                        let r = Region::rect(vs, w, hs);
                        for bytes in [1, 2, 4, 8] {
                            let end = (0..exec.channels())
                                .map(|c| element_offset(r, c, bytes).unwrap() + bytes)
                                .max()
                                .unwrap();
                            if u32::from(w) <= exec.channels() {
                                assert_eq!(span_bytes(r, exec, bytes), Some(end), "{r} {exec}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn geometry_functions_are_total() {
        let r = Region::rect(255, 255, 255);
        let n = u32::MAX;
        assert_eq!(element_offset(r, n, n), Some(n));
        assert_eq!(span_bytes(r, ExecSize::S32, n), Some(n));
        assert_eq!(dst_span_bytes(n, ExecSize::S32, n), n);
        assert_eq!(grfs_spanned(n, r, ExecSize::S32, n, 0), Some(1));
        assert!(row_crosses_grf(n, r, ExecSize::S32, n, 0).is_some());
        assert!(register_of_channels(n, r, ExecSize::S32, n, 0).is_some());
        assert_eq!(dst_grfs_spanned(0, n, ExecSize::S32, n, 0), n);
    }

    #[test]
    fn strides() {
        assert_eq!(
            uniform_stride(Region::rect(8, 8, 1), ExecSize::S16),
            Some(1)
        );
        assert_eq!(uniform_stride(Region::rect(4, 1, 0), ExecSize::S8), Some(4));
        assert_eq!(uniform_stride(Region::SCALAR, ExecSize::S8), Some(0));
        assert_eq!(uniform_stride(Region::rect(8, 4, 1), ExecSize::S8), None);
    }
}
