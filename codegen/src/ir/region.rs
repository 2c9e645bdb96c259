//! Regions: strided selections of vector elements.

use super::immediate::Keyed;
use std::fmt;

/// Elements of a vector that a `rdregion` reads or a `wrregion` writes.
///
/// Lane `i` of the narrow side is element `(i / width) * vstride + (i % width) * hstride` after the
/// start offset. Strides are in elements, the start in bytes. Any strides and widths are legal in
/// the IR: legalization applies the limits of the hardware.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Region {
    /// Elements from the start of a row to the start of the next.
    pub vstride: u16,
    /// Elements in a row, at least 1.
    pub width: u16,
    /// Elements from one to the next within a row.
    pub hstride: u16,
    /// Start in bytes. A variable index is added to it.
    pub offset: u16,
    /// Elements of a row of the parent, from its first element on. A promise about a single index:
    /// each row of the region stays in the row of the parent in which it begins without the index.
    /// 0 for no promise.
    pub parent_width: u16,
}

impl Region {
    /// Returns a region without a parent width.
    pub const fn new(vstride: u16, width: u16, hstride: u16, offset: u16) -> Region {
        Region {
            vstride,
            width,
            hstride,
            offset,
            parent_width: 0,
        }
    }

    /// Returns `<0;1,0>` at a byte offset: one element in every lane.
    pub const fn scalar(offset: u16) -> Region {
        Region::new(0, 1, 0, offset)
    }

    /// Returns `<n;n,1>` at a byte offset: `lanes` consecutive elements.
    pub const fn contiguous(lanes: u16, offset: u16) -> Region {
        Region::new(lanes, lanes, 1, offset)
    }

    /// Returns true if the first `lanes` lanes are consecutive elements in order.
    pub fn is_contiguous(&self, lanes: u32) -> bool {
        let w = u32::from(self.width).max(1);
        let rows = lanes <= w || u32::from(self.vstride) == w;
        lanes <= 1 || rows && (w == 1 || self.hstride == 1)
    }

    /// Returns the element of a lane, relative to the start of the region.
    pub const fn element(&self, lane: u32) -> u32 {
        let w = if self.width == 0 {
            1
        } else {
            self.width as u32
        };
        (lane / w) * self.vstride as u32 + (lane % w) * self.hstride as u32
    }

    /// Returns the highest element that `lanes` lanes touch, relative to the start of the region.
    pub fn last_element(&self, lanes: u32) -> u32 {
        let w = u32::from(self.width).max(1);
        let rows = lanes.div_ceil(w).max(1);
        // The last row may be partial and the row before it longer.
        let last = self.element(lanes.saturating_sub(1));
        let full = if rows > 1 {
            self.element((rows - 1) * w - 1)
        } else {
            0
        };
        last.max(full)
    }
}

impl Keyed for Region {
    fn key(&self, w: &mut dyn FnMut(&[u8])) {
        let Region {
            vstride,
            width,
            hstride,
            offset,
            parent_width,
        } = *self;
        for n in [vstride, width, hstride, offset, parent_width] {
            w(&u32::from(n).to_le_bytes());
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{};{},{}>", self.vstride, self.width, self.hstride)
    }
}
