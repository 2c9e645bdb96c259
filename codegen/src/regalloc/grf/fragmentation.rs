//! What is fixed in the file cuts it: an odd number of GRFs beside it holds no more pairs of them
//! than the even number below. Of values that are whole runs of GRFs so many may live at once as
//! there are runs between what is fixed, and no more, whatever the bytes.

use super::bundles::Bundles;
use crate::mir::liveness::{Liveness, Range};
use crate::mir::{Place, VCode};
use crate::target::GrfFile;

/// Runs that are looked at, in GRFs.
const RUNS: [u32; 2] = [1, 2];

/// From so many GRFs on what is between values is more than what is lost beside what is fixed.
const LONG: u32 = 8;

/// How many of each.
type Counts = [u32; RUNS.len()];

/// What lives where, counted.
pub(in crate::regalloc) struct Holes {
    file: GrfFile,
    /// Per point what begins less what ends: runs in values, bytes of them, bytes of what is fixed.
    delta: Vec<[i32; RUNS.len() + 2]>,
    /// Where what is fixed begins and ends, and in which GRFs.
    fixed: Vec<(u32, bool, std::ops::Range<u32>)>,
    long: bool,
}

impl Holes {
    /// Of so many points.
    fn new(file: GrfFile, points: usize) -> Holes {
        Holes {
            file,
            delta: vec![Default::default(); points + 1],
            fixed: Vec::new(),
            long: false,
        }
    }

    /// Of registers.
    pub(in crate::regalloc) fn of(code: &VCode, live: &Liveness) -> Holes {
        let mut holes = Holes::new(code.grf, code.insts.len() * 2);
        for (r, data) in &code.vregs {
            holes.add((data.bytes, data.align), data.place, &live.ranges[r]);
        }
        holes
    }

    /// Of bundles, in which what one is made over the other counts once.
    pub(in crate::regalloc) fn of_bundles(code: &VCode, bundles: &Bundles<'_>) -> Holes {
        let mut holes = Holes::new(code.grf, code.insts.len() * 2);
        let mut ranges = Vec::new();
        for b in bundles.list() {
            bundles.ranges(b.root, &mut ranges);
            holes.add((b.bytes, b.align), b.place, &ranges);
        }
        holes
    }

    fn add(&mut self, (bytes, align): (u32, u32), place: Place, ranges: &[Range]) {
        let size = self.file.bytes;
        let mut change = [0; RUNS.len() + 2];
        if let Place::Fixed(at) = place {
            change[RUNS.len() + 1] = bytes as i32;
            let grfs = at / size..(at + bytes).div_ceil(size);
            for &Range { start, end } in ranges {
                self.fixed.push((start, true, grfs.clone()));
                self.fixed.push((end, false, grfs.clone()));
            }
        } else {
            self.long |= bytes >= LONG * size;
            change[RUNS.len()] = bytes as i32;
            if align >= size {
                let grfs = bytes / size;
                (change.iter_mut().zip(RUNS)).for_each(|(c, run)| *c = (grfs / run) as i32);
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

    /// Per point the bytes of the first `limit` that nothing can have which lives there, since they
    /// are in no run long enough. `None`: everywhere what lives has room for its runs.
    pub(in crate::regalloc) fn find(self, limit: u32) -> Option<Vec<u32>> {
        let Holes {
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
        let mut room = rooms(&taken);
        let mut fixed = fixed.into_iter().peekable();
        let mut sum = [0i32; RUNS.len() + 2];
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
                room = rooms(&taken);
            }
            let [.., bytes, kept] = sum;
            for ((&want, have), run) in sum.iter().zip(room).zip(RUNS) {
                if want > have as i32 {
                    // The rest of what lives may be in what is left.
                    let rest = bytes - want * (run * file.bytes) as i32;
                    let free = limit as i32 - kept - (have * run * file.bytes) as i32;
                    let hole = (free - rest).max(0) as u32;
                    let out = out.get_or_insert_with(|| vec![0; points]);
                    if let Some(o) = out.get_mut(point) {
                        *o = (*o).max(hole);
                    }
                }
            }
        }
        out
    }
}

/// How many runs there are between GRFs that are taken.
fn rooms(taken: &[u32]) -> Counts {
    let mut out = Counts::default();
    for free in taken.split(|t| *t > 0) {
        let grfs = free.len() as u32;
        out.iter_mut()
            .zip(RUNS)
            .for_each(|(o, run)| *o += grfs / run);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_number_of_grfs_holds_no_more_pairs() {
        // Three free, one taken, two free.
        let taken = [0, 0, 0, 1, 0, 0];
        assert_eq!(rooms(&taken), [5, 2]);
        let file = GrfFile {
            bytes: 32,
            count: 6,
        };
        let whole = [Range { start: 0, end: 8 }];
        let late = [Range { start: 4, end: 8 }];
        let holes = |pairs: usize| {
            let mut h = Holes::new(file, 8);
            h.add((4, 4), Place::Fixed(3 * 32), &whole);
            h.add((32, 32), Place::Any, &whole);
            for _ in 0..pairs {
                h.add((64, 32), Place::Any, &late);
            }
            h.find(file.size())
        };
        assert_eq!(holes(2), None);
        // What is left beside two pairs, less the one that lives: the fixed GRF's 28 bytes.
        assert_eq!(holes(3), Some(vec![0, 0, 0, 0, 28, 28, 28, 28]));
    }
}
