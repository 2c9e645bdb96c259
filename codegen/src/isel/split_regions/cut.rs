//! Regions: the part of a view that one instruction can access, and the region for it.
//!
//! The limits are those of PRM Vol. 7, "Register Region Restrictions". Widths and strides are
//! powers of two of limited size. A row never crosses a GRF, and no operand touches more than two
//! GRFs. Up to Gen8, and of the math unit, a destination in two GRFs has half of its elements in
//! each.

use crate::mir::bale::View;
use gantry_isa_gen::Region;

/// Position of a register's start in a GRF.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GrfPosition {
    /// Bytes of a GRF.
    pub grf: u32,
    /// Offset in its GRF, in bytes. Registers smaller than a GRF never cross one, so that 0 does
    /// for all of them.
    pub grf_offset: u32,
    /// Destinations in two GRFs have half of their elements in each.
    pub even: bool,
}

impl GrfPosition {
    /// Returns the GRF of a byte, counted from the one that the register starts in.
    fn grf_of(self, at: u32) -> u32 {
        // A shift: the Rust compiler does not know that it is a power of two.
        at >> self.grf.trailing_zeros()
    }

    fn same_grf(self, a: u32, b: u32) -> bool {
        self.grf_of(a) == self.grf_of(b)
    }
}

/// Returns the destination stride of `lanes` channels from `first`, if they are evenly spaced and
/// the stride can be encoded.
pub fn dst_stride(v: &View, first: u32, lanes: u32) -> Option<u8> {
    if lanes == 1 {
        return Some(1);
    }
    let step = v.step(first, lanes).or_else(|| {
        let start = v.byte(first);
        let step = v.byte(first + 1).checked_sub(start)?;
        let even = (0..lanes).all(|i| v.byte(first + i) == start + i * step);
        even.then(|| step / v.ty.bytes())
    });
    match step {
        Some(hs @ (1 | 2 | 4)) => Some(hs as u8),
        _ => None,
    }
}

/// Returns byte offset and horizontal stride of a destination of `lanes` channels from `first`.
pub fn dst(v: &View, first: u32, lanes: u32, base: GrfPosition) -> Option<(u32, u8)> {
    let hs = dst_stride(v, first, lanes)?;
    let at = |lane: u32| base.grf_offset + v.byte(first + lane);
    let end = at(lanes - 1) + v.ty.bytes() - 1;
    if !base.same_grf(at(0), end) {
        let half = lanes / 2;
        let last = |lane: u32| at(lane) + v.ty.bytes() - 1;
        let halves = || base.same_grf(at(0), last(half - 1)) && base.same_grf(at(half), end);
        // Strides are whole elements: if the first one is aligned, all of them are.
        let aligned = at(0) & (v.ty.bytes() - 1) == 0;
        let whole = || aligned || (0..lanes).all(|lane| base.same_grf(at(lane), last(lane)));
        let split = lanes > 1
            && base.grf_of(end) == base.grf_of(at(0)) + 1
            && if base.even { halves() } else { whole() };
        if !split {
            return None;
        }
    }
    Some((v.byte(first), hs))
}

/// Returns byte offset and region of a source of `lanes` channels from `first`.
pub fn src(v: &View, first: u32, lanes: u32, base: GrfPosition) -> Option<(u32, Region)> {
    let size = v.ty.bytes();
    let at = |lane: u32| base.grf_offset + v.byte(first + lane);
    let start = at(0);
    let step = v.step(first, lanes);
    let (lowest, highest) = match step {
        Some(step) => (start, start + (lanes - 1) * step * size + size - 1),
        None => (
            (0..lanes).map(at).min()?,
            (0..lanes).map(at).max()? + size - 1,
        ),
    };
    let grfs = base.grf_of(highest) - base.grf_of(lowest);
    if grfs > 1 || lowest != start {
        return None;
    }
    let region = match step {
        // One element, for all channels or for the only one.
        _ if lanes == 1 || step == Some(0) => (grfs == 0).then_some(Region::SCALAR),
        Some(step) => {
            // Rows do not cross a GRF: the next GRF starts with a row, or between two.
            let next = (base.grf_of(start) + 1) * base.grf - start;
            let stays = |w: u32| {
                let row = w * step * size;
                grfs == 0
                    || row > 0 && {
                        let from = next - next % row;
                        from == next || from + (w - 1) * step * size + size <= next
                    }
            };
            widths(lanes).find_map(|w| even(step, lanes, w).filter(|_| stays(w)))
        }
        None => {
            let stays = |w: u32| {
                let same = |row: u32| base.same_grf(at(row * w), at(row * w + w - 1) + size - 1);
                grfs == 0 || (0..lanes / w).all(same)
            };
            widths(lanes).find_map(|w| uneven(v, first, lanes, w).filter(|_| stays(w)))
        }
    };
    region.map(|region| (v.byte(first), region))
}

/// Returns true if the channels of an indirect operand, whose position is not known, span at most a
/// GRF. Then they are in at most two.
pub fn within_grf(v: &View, first: u32, lanes: u32, grf: u32) -> bool {
    v.byte(first + lanes - 1)
        .checked_sub(v.byte(first))
        .is_some_and(|span| span + v.ty.bytes() <= grf)
}

/// Returns true if a row of a region can be one of several rows with an address each.
pub fn row_is_encodable(v: &View, grf: u32) -> bool {
    let most = v.w <= 16 && matches!(v.hs, 0 | 1 | 2 | 4);
    most && within_grf(v, 0, v.w, grf)
}

/// Returns the region of an indirect source, whose position is not known.
pub fn indirect(v: &View, first: u32, lanes: u32, grf: u32) -> Option<Region> {
    if !within_grf(v, first, lanes, grf) {
        return None;
    }
    match v.step(first, lanes) {
        Some(step) => widths(lanes).find_map(|w| even(step, lanes, w)),
        None => widths(lanes).find_map(|w| uneven(v, first, lanes, w)),
    }
}

/// Returns possible widths of rows of `lanes` channels, from the widest on.
fn widths(lanes: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(lanes.min(16)), |w| (*w > 1).then_some(w / 2))
}

/// Returns the region of rows of `w` channels that are all `step` elements apart, if it can be
/// encoded.
fn even(step: u32, lanes: u32, w: u32) -> Option<Region> {
    match w {
        1 if lanes == 1 => encoded(0, 1, 0),
        1 => encoded(step, 1, 0),
        _ => encoded(w * step, w, step),
    }
}

/// Returns the region of rows of `w` channels that is exactly those of a view, whatever their
/// distances are.
fn uneven(v: &View, first: u32, lanes: u32, w: u32) -> Option<Region> {
    let size = v.ty.bytes();
    let start = v.byte(first);
    let element = |lane: u32| {
        let distance = v.byte(first + lane).checked_sub(start);
        let distance = distance.filter(|d| d.is_multiple_of(size));
        distance.map(|d| d / size)
    };
    let hs = if w > 1 { element(1)? } else { 0 };
    let vs = if lanes / w > 1 { element(w)? } else { w * hs };
    let reached = (0..lanes).all(|i| element(i) == Some(i / w * vs + i % w * hs));
    encoded(vs, w, hs).filter(|_| reached)
}

/// Returns a region if its strides and width can be encoded.
fn encoded(vs: u32, w: u32, hs: u32) -> Option<Region> {
    let encodable = matches!(hs, 0 | 1 | 2 | 4) && vs <= 32 && (vs == 0 || vs.is_power_of_two());
    match (vs, hs) {
        _ if !encodable => None,
        // One element for all channels has a single encoding.
        (0, 0) => (w == 1).then_some(Region::SCALAR),
        _ => Some(Region::rect(vs as u8, w as u8, hs as u8)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mir::VirtReg;
    use gantry_isa_gen::Type;

    const ALIGNED: GrfPosition = GrfPosition {
        grf: 32,
        grf_offset: 0,
        even: true,
    };

    fn view(offset: u32, vs: u32, w: u32, hs: u32, ty: Type) -> View {
        View {
            reg: VirtReg::NULL,
            offset,
            vs,
            w,
            hs,
            ty,
            index: None,
        }
    }

    #[test]
    fn a_misaligned_row_is_read_one_element_a_row() {
        // Eight floats from byte 12 cross a GRF. Rows of one element never do.
        let v = view(12, 8, 8, 1, Type::F);
        assert_eq!(src(&v, 0, 8, ALIGNED), Some((12, Region::rect(1, 1, 0))));
        // Sixteen would touch three GRFs.
        assert_eq!(src(&v, 0, 16, ALIGNED), None);
    }

    #[test]
    fn overlapping_rows_are_a_region() {
        let v = view(0, 1, 4, 1, Type::F);
        assert_eq!(src(&v, 0, 8, ALIGNED), Some((0, Region::rect(1, 4, 1))));
    }

    #[test]
    fn a_destination_in_two_grfs_is_split_evenly() {
        let v = view(0, 16, 16, 1, Type::F);
        assert_eq!(dst(&v, 0, 16, ALIGNED), Some((0, 1)));
        let shifted = view(16, 16, 16, 1, Type::F);
        assert_eq!(dst(&shifted, 0, 16, ALIGNED), None);
        assert_eq!(dst(&shifted, 0, 8, ALIGNED), Some((16, 1)));
        let odd = view(4, 16, 16, 1, Type::F);
        assert_eq!(dst(&odd, 0, 8, ALIGNED), None);
        let anyhow = GrfPosition {
            even: false,
            ..ALIGNED
        };
        assert_eq!(dst(&odd, 0, 8, anyhow), Some((4, 1)));
        // An element in both is in neither.
        assert_eq!(dst(&view(2, 8, 8, 1, Type::F), 0, 8, anyhow), None);
    }

    #[test]
    fn a_wide_horizontal_stride_is_a_vertical_one() {
        // Low bytes of qwords: stride 8.
        let v = view(0, 0, 64, 8, Type::Ub);
        assert_eq!(src(&v, 0, 4, ALIGNED), Some((0, Region::rect(8, 1, 0))));
    }

    /// Every region found is exactly the bytes of the view, over all small views.
    #[test]
    fn regions_reach_what_the_view_says() {
        for ty in [Type::Ub, Type::W, Type::F, Type::Q] {
            for (vs, w, hs) in
                (0..10).flat_map(|a| (1..9).flat_map(move |b| (0..5).map(move |c| (a, b, c))))
            {
                for offset in (0..64).step_by(ty.bytes() as usize * 3) {
                    let v = view(offset, vs, w, hs, ty);
                    for lanes in [1, 2, 4, 8, 16] {
                        for first in [0, 1, 5] {
                            let Some((at, Region::Rect { vs, w, hs })) =
                                src(&v, first, lanes, ALIGNED)
                            else {
                                continue;
                            };
                            for i in 0..lanes {
                                let (w, vs, hs) = (u32::from(w), u32::from(vs), u32::from(hs));
                                let e = i / w * vs + i % w * hs;
                                assert_eq!(at + e * ty.bytes(), v.byte(first + i));
                            }
                        }
                    }
                }
            }
        }
    }
}
