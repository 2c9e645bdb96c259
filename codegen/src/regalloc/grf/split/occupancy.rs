//! Occupied bytes of the GRF file at one point of the scan, and the bundles that occupy them.

use crate::mir::VReg;
use crate::regalloc::grf::allocation_map;
use crate::target::GrfFile;
use smallvec::SmallVec;
use std::ops::Range;

/// Range of bytes of the GRF file.
pub(super) type ByteRange = Range<u32>;

/// Returns true if two ranges have common bytes.
pub(super) fn overlap(a: &ByteRange, b: &ByteRange) -> bool {
    a.start < b.end && b.start < a.end
}

/// Returns the bytes of GRF `n` in a range as a mask.
fn mask(grf: u32, n: u32, bytes: &ByteRange) -> u64 {
    allocation_map::mask(grf, n, bytes.start, bytes.end - bytes.start)
}

/// Bundles, by their roots, and their places at one point.
#[derive(Clone)]
pub(super) struct Occupancy {
    grf: u32,
    /// Bundles in each GRF with the bytes that they occupy.
    bundles: Vec<SmallVec<[(VReg, u64); 2]>>,
    taken: Vec<u64>,
    /// Bytes of each GRF that no bundle may use.
    reserved: Vec<u64>,
}

impl Occupancy {
    pub(super) fn new(file: GrfFile) -> Occupancy {
        Occupancy {
            grf: file.bytes,
            bundles: vec![SmallVec::new(); file.count as usize],
            taken: vec![0; file.count as usize],
            reserved: vec![0; file.count as usize],
        }
    }

    /// Returns a copy without bundles. Reserved bytes stay reserved.
    pub(super) fn without_bundles(&self) -> Occupancy {
        Occupancy {
            grf: self.grf,
            bundles: vec![SmallVec::new(); self.bundles.len()],
            taken: self.reserved.clone(),
            reserved: self.reserved.clone(),
        }
    }

    /// Reserves the bytes that are taken or reserved in another.
    pub(super) fn reserve(&mut self, other: &Occupancy) {
        for (n, bytes) in other.taken.iter().enumerate() {
            self.reserved[n] |= bytes;
            self.taken[n] |= bytes;
        }
    }

    fn grfs(&self, bytes: &ByteRange) -> Range<u32> {
        bytes.start / self.grf..bytes.end.div_ceil(self.grf).min(self.taken.len() as u32)
    }

    pub(super) fn put(&mut self, bundle: VReg, bytes: &ByteRange) {
        for n in self.grfs(bytes) {
            let m = mask(self.grf, n, bytes);
            self.bundles[n as usize].push((bundle, m));
            self.taken[n as usize] |= m;
        }
    }

    pub(super) fn take(&mut self, bundle: VReg, bytes: &ByteRange) {
        for n in self.grfs(bytes) {
            let bundles = &mut self.bundles[n as usize];
            bundles.retain(|h| h.0 != bundle);
            let reserved = self.reserved[n as usize];
            self.taken[n as usize] = bundles.iter().fold(reserved, |all, h| all | h.1);
        }
    }

    pub(super) fn is_free(&self, bytes: &ByteRange) -> bool {
        let mut all = self.grfs(bytes);
        all.all(|n| self.taken[n as usize] & mask(self.grf, n, bytes) == 0)
    }

    /// Returns true if some of these bytes are reserved.
    pub(super) fn is_reserved(&self, bytes: &ByteRange) -> bool {
        let mut all = self.grfs(bytes);
        all.any(|n| self.reserved[n as usize] & mask(self.grf, n, bytes) != 0)
    }

    /// Returns the bundles in a range of bytes, in order.
    pub(super) fn occupants(&self, bytes: &ByteRange) -> SmallVec<[VReg; 8]> {
        let mut out: SmallVec<[VReg; 8]> = SmallVec::new();
        for n in self.grfs(bytes) {
            let m = mask(self.grf, n, bytes);
            let overlapping = self.bundles[n as usize].iter().filter(|h| h.1 & m != 0);
            out.extend(overlapping.map(|h| h.0));
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Returns the lowest free address in `within` that does not overlap `avoid`. Small values
    /// prefer GRFs that are partly taken.
    pub(super) fn find(
        &self,
        (bytes, align): (u32, u32),
        within: &ByteRange,
        avoid: &[ByteRange],
    ) -> Option<u32> {
        let mut empty = None;
        for at in candidate_addresses((bytes, align), within) {
            let place = at..at + bytes;
            if !self.is_free(&place) || avoid.iter().any(|b| overlap(b, &place)) {
                continue;
            }
            let part = self.taken.get((at / self.grf) as usize) != Some(&0);
            if part || bytes >= self.grf {
                return Some(at);
            }
            empty = empty.or(Some(at));
        }
        empty
    }
}

/// Returns the addresses in `within` for a value of this size and alignment.
pub(super) fn candidate_addresses(
    (bytes, align): (u32, u32),
    within: &ByteRange,
) -> impl Iterator<Item = u32> + use<> {
    let align = align.max(1);
    let first = within.start.next_multiple_of(align);
    let end = (within.end + 1).saturating_sub(bytes);
    (first..end).step_by(align as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_fill_partly_taken_grfs() {
        let grf = GrfFile {
            bytes: 32,
            count: 3,
        };
        let mut f = Occupancy::new(grf);
        let [a, b] = [VReg::from_u32(1), VReg::from_u32(2)];
        f.put(a, &(40..44));
        assert_eq!(f.find((4, 4), &(0..96), &[]), Some(32));
        assert_eq!(f.find((4, 4), &(0..96), &[32..40, 44..64]), Some(0));
        assert_eq!(f.find((64, 32), &(0..96), &[]), None);
        f.put(b, &(42..66));
        assert_eq!(f.occupants(&(43..44))[..], [a, b]);
        f.take(a, &(40..44));
        assert_eq!(f.find((64, 32), &(0..96), &[]), None);
        assert!(f.is_free(&(0..42)) && !f.is_free(&(0..43)));
        f.take(b, &(42..66));
        assert_eq!(f.find((64, 32), &(0..96), &[]), Some(0));
        assert_eq!(f.find((64, 32), &(32..95), &[]), None);
    }
}
