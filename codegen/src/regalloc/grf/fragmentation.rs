//! Fragmentation of the GRF file by fixed registers. An odd number of GRFs beside a fixed register
//! holds no more pairs than the even number below. However many bytes are free, live values of
//! whole GRFs need enough runs of GRFs between fixed registers.

use super::bundles::Bundles;
use crate::mir::liveness::{Liveness, Range};
use crate::mir::{RegConstraint, VCode};
use crate::target::GrfFile;

/// Lengths of the runs that are counted, in GRFs.
const RUN_LENGTHS: [u32; 2] = [1, 2];

/// From this many GRFs on, gaps between values matter more than fixed registers.
const LONG_VALUE: u32 = 8;

/// Number of runs of each length.
type RunCounts = [u32; RUN_LENGTHS.len()];

/// Live runs, bytes and fixed registers, per point.
pub(in crate::regalloc) struct Fragmentation {
    file: GrfFile,
    /// Per point, the change of live runs of each length, of bytes of values and of bytes of fixed
    /// registers.
    delta: Vec<[i32; RUN_LENGTHS.len() + 2]>,
    /// Events of fixed registers: the point, true for a start, and the GRFs.
    fixed: Vec<(u32, bool, std::ops::Range<u32>)>,
    long: bool,
}

impl Fragmentation {
    /// Returns an empty summary of `points` points.
    fn new(file: GrfFile, points: usize) -> Fragmentation {
        Fragmentation {
            file,
            delta: vec![Default::default(); points + 1],
            fixed: Vec::new(),
            long: false,
        }
    }

    /// Summarizes registers.
    pub(in crate::regalloc) fn of_registers(code: &VCode, live: &Liveness) -> Fragmentation {
        let mut fragmentation = Fragmentation::new(code.grf, code.insts.len() * 2);
        for (r, data) in &code.vregs {
            fragmentation.add((data.bytes, data.align), data.constraint, &live.ranges[r]);
        }
        fragmentation
    }

    /// Summarizes bundles. Tied values count once.
    pub(in crate::regalloc) fn of_bundles(code: &VCode, bundles: &Bundles<'_>) -> Fragmentation {
        let mut fragmentation = Fragmentation::new(code.grf, code.insts.len() * 2);
        let mut ranges = Vec::new();
        for b in bundles.list() {
            bundles.ranges(b.root, &mut ranges);
            fragmentation.add((b.bytes, b.align), b.place, &ranges);
        }
        fragmentation
    }

    fn add(&mut self, (bytes, align): (u32, u32), place: RegConstraint, ranges: &[Range]) {
        let size = self.file.bytes;
        let mut change = [0; RUN_LENGTHS.len() + 2];
        if let RegConstraint::Fixed(at) = place {
            change[RUN_LENGTHS.len() + 1] = bytes as i32;
            let grfs = at / size..(at + bytes).div_ceil(size);
            for &Range { start, end } in ranges {
                self.fixed.push((start, true, grfs.clone()));
                self.fixed.push((end, false, grfs.clone()));
            }
        } else {
            self.long |= bytes >= LONG_VALUE * size;
            change[RUN_LENGTHS.len()] = bytes as i32;
            if align >= size {
                let grfs = bytes / size;
                (change.iter_mut().zip(RUN_LENGTHS)).for_each(|(c, run)| *c = (grfs / run) as i32);
            }
        }
        for x in ranges {
            for (point, sign) in [(x.start, 1), (x.end, -1)] {
                if let Some(d) = self.delta.get_mut(point as usize) {
                    d.iter_mut().zip(change).for_each(|(d, c)| *d += sign * c);
                }
            }
        }
    }

    /// Returns per point the bytes among the first `limit` that no live value can use, since no run
    /// there is long enough. Returns `None` if the live values have enough runs everywhere.
    pub(in crate::regalloc) fn unusable_bytes(self, limit: u32) -> Option<Vec<u32>> {
        let Fragmentation {
            file,
            delta,
            mut fixed,
            long,
        } = self;
        if long {
            return None;
        }
        fixed.sort_unstable_by_key(|f| f.0);
        let mut taken = vec![0u32; (limit / file.bytes) as usize];
        let mut runs = count_runs(&taken);
        let mut fixed = fixed.into_iter().peekable();
        let mut sum = [0i32; RUN_LENGTHS.len() + 2];
        let points = delta.len() - 1;
        let mut out: Option<Vec<u32>> = None;
        for (point, d) in delta.iter().take(points).enumerate() {
            sum.iter_mut().zip(d).for_each(|(s, d)| *s += d);
            let mut moved = false;
            while let Some((_, begins, grfs)) = fixed.next_if(|f| f.0 as usize <= point) {
                let all = taken.iter_mut().take(grfs.end as usize);
                for t in all.skip(grfs.start as usize) {
                    *t = if begins { *t + 1 } else { t.saturating_sub(1) };
                }
                moved = true;
            }
            if moved {
                runs = count_runs(&taken);
            }
            let [.., bytes, kept] = sum;
            for ((&want, have), run) in sum.iter().zip(runs).zip(RUN_LENGTHS) {
                if want > have as i32 {
                    // Smaller values may use the rest.
                    let rest = bytes - want * (run * file.bytes) as i32;
                    let free = limit as i32 - kept - (have * run * file.bytes) as i32;
                    let unusable = (free - rest).max(0) as u32;
                    let out = out.get_or_insert_with(|| vec![0; points]);
                    if let Some(o) = out.get_mut(point) {
                        *o = (*o).max(unusable);
                    }
                }
            }
        }
        out
    }
}

/// Returns the number of runs of each length between occupied GRFs.
fn count_runs(taken: &[u32]) -> RunCounts {
    let mut out = RunCounts::default();
    for free in taken.split(|t| *t > 0) {
        let grfs = free.len() as u32;
        out.iter_mut()
            .zip(RUN_LENGTHS)
            .for_each(|(o, run)| *o += grfs / run);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_number_of_grfs_holds_no_more_pairs() {
        // Three GRFs free, one occupied, two free.
        let taken = [0, 0, 0, 1, 0, 0];
        assert_eq!(count_runs(&taken), [5, 2]);
        let file = GrfFile {
            bytes: 32,
            count: 6,
        };
        let whole = [Range { start: 0, end: 8 }];
        let late = [Range { start: 4, end: 8 }];
        let fragmentation = |pairs: usize| {
            let mut h = Fragmentation::new(file, 8);
            h.add((4, 4), RegConstraint::Fixed(3 * 32), &whole);
            h.add((32, 32), RegConstraint::Any, &whole);
            for _ in 0..pairs {
                h.add((64, 32), RegConstraint::Any, &late);
            }
            h.unusable_bytes(file.size())
        };
        assert_eq!(fragmentation(2), None);
        // Bytes left beside two pairs and the live value: the 28 of the fixed GRF.
        assert_eq!(fragmentation(3), Some(vec![0, 0, 0, 0, 28, 28, 28, 28]));
    }
}
