//! What of the register file is taken at a point of the scan, and by whom.

use crate::mir::VReg;
use crate::regalloc::grf::allocation_map;
use crate::target::GrfFile;
use smallvec::SmallVec;
use std::ops::Range;

/// Bytes of the file.
pub(super) type Bytes = Range<u32>;

/// Whether two places have bytes in common.
pub(super) fn meet(a: &Bytes, b: &Bytes) -> bool {
    a.start < b.end && b.start < a.end
}

/// The bytes of GRF `n` among some, as a mask.
fn mask(grf: u32, n: u32, bytes: &Bytes) -> u64 {
    allocation_map::mask(grf, n, bytes.start, bytes.end - bytes.start)
}

/// The file at one point: bundles, named by their roots, and their places.
#[derive(Clone)]
pub(super) struct File {
    grf: u32,
    /// Per GRF who is in it, and which of its bytes are taken.
    held: Vec<SmallVec<[(VReg, u64); 2]>>,
    taken: Vec<u64>,
    /// Per GRF the bytes that nobody may have.
    barred: Vec<u64>,
}

impl File {
    pub(super) fn new(file: GrfFile) -> File {
        File {
            grf: file.bytes,
            held: vec![SmallVec::new(); file.count as usize],
            taken: vec![0; file.count as usize],
            barred: vec![0; file.count as usize],
        }
    }

    /// The file without anybody in it.
    pub(super) fn emptied(&self) -> File {
        File {
            grf: self.grf,
            held: vec![SmallVec::new(); self.held.len()],
            taken: self.barred.clone(),
            barred: self.barred.clone(),
        }
    }

    /// Bars what is taken, or barred, in another.
    pub(super) fn bar(&mut self, other: &File) {
        for (n, bytes) in other.taken.iter().enumerate() {
            self.barred[n] |= bytes;
            self.taken[n] |= bytes;
        }
    }

    fn grfs(&self, bytes: &Bytes) -> Range<u32> {
        bytes.start / self.grf..bytes.end.div_ceil(self.grf).min(self.taken.len() as u32)
    }

    pub(super) fn put(&mut self, who: VReg, bytes: &Bytes) {
        for n in self.grfs(bytes) {
            let m = mask(self.grf, n, bytes);
            self.held[n as usize].push((who, m));
            self.taken[n as usize] |= m;
        }
    }

    pub(super) fn take(&mut self, who: VReg, bytes: &Bytes) {
        for n in self.grfs(bytes) {
            let held = &mut self.held[n as usize];
            held.retain(|h| h.0 != who);
            let barred = self.barred[n as usize];
            self.taken[n as usize] = held.iter().fold(barred, |all, h| all | h.1);
        }
    }

    pub(super) fn is_free(&self, bytes: &Bytes) -> bool {
        let mut all = self.grfs(bytes);
        all.all(|n| self.taken[n as usize] & mask(self.grf, n, bytes) == 0)
    }

    /// Whether nobody may have some of these bytes.
    pub(super) fn is_barred(&self, bytes: &Bytes) -> bool {
        let mut all = self.grfs(bytes);
        all.any(|n| self.barred[n as usize] & mask(self.grf, n, bytes) != 0)
    }

    /// Who is in some bytes, in order.
    pub(super) fn who(&self, bytes: &Bytes) -> SmallVec<[VReg; 8]> {
        let mut out: SmallVec<[VReg; 8]> = SmallVec::new();
        for n in self.grfs(bytes) {
            let m = mask(self.grf, n, bytes);
            let met = self.held[n as usize].iter().filter(|h| h.1 & m != 0);
            out.extend(met.map(|h| h.0));
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The lowest free place within some bytes that meets none of others; small values go where
    /// GRFs are taken in part already.
    pub(super) fn find(
        &self,
        (bytes, align): (u32, u32),
        within: &Bytes,
        but: &[Bytes],
    ) -> Option<u32> {
        let mut fresh = None;
        for at in places((bytes, align), within) {
            let place = at..at + bytes;
            if !self.is_free(&place) || but.iter().any(|b| meet(b, &place)) {
                continue;
            }
            let part = self.taken.get((at / self.grf) as usize) != Some(&0);
            if part || bytes >= self.grf {
                return Some(at);
            }
            fresh = fresh.or(Some(at));
        }
        fresh
    }
}

/// The addresses at which so many bytes, so aligned, are within others.
pub(super) fn places(
    (bytes, align): (u32, u32),
    within: &Bytes,
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
    fn small_values_fill_what_is_begun() {
        let grf = GrfFile {
            bytes: 32,
            count: 3,
        };
        let mut f = File::new(grf);
        let [a, b] = [VReg::from_u32(1), VReg::from_u32(2)];
        f.put(a, &(40..44));
        assert_eq!(f.find((4, 4), &(0..96), &[]), Some(32));
        assert_eq!(f.find((4, 4), &(0..96), &[32..40, 44..64]), Some(0));
        assert_eq!(f.find((64, 32), &(0..96), &[]), None);
        f.put(b, &(42..66));
        assert_eq!(f.who(&(43..44))[..], [a, b]);
        f.take(a, &(40..44));
        assert_eq!(f.find((64, 32), &(0..96), &[]), None);
        assert!(f.is_free(&(0..42)) && !f.is_free(&(0..43)));
        f.take(b, &(42..66));
        assert_eq!(f.find((64, 32), &(0..96), &[]), Some(0));
        assert_eq!(f.find((64, 32), &(32..95), &[]), None);
    }
}
