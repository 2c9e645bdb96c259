//! Placement of whole lives: each bundle gets one place that is free all its life.

use super::allocation_map::{AllocationMap, Life};
use super::bundles::{Bundle, Bundles};
use super::preferences::Hints;
use crate::mir::liveness::Liveness;
use crate::mir::{Place, VCode, VReg, routines};
use crate::regalloc::Allocation;
use cranelift_entity::{EntitySet, SecondaryMap};

/// How often what found no place is placed before the others.
const TRIES: usize = 2;

/// The part of the registers, three of four, up to which what lives at once is spread over all of
/// them.
const ROOM: (u32, u32) = (3, 4);

/// Where bundles are, and which of them found no place.
pub(in crate::regalloc) struct Placed {
    /// Per bundle's root its address.
    pub(in crate::regalloc) wanted: SecondaryMap<VReg, Option<u32>>,
    /// Those that found none.
    failed: Vec<VReg>,
}

impl Placed {
    /// An address for every register, if every bundle has one.
    pub(in crate::regalloc) fn all(
        &self,
        code: &VCode,
        bundles: &mut Bundles<'_>,
    ) -> Option<Allocation> {
        if !self.failed.is_empty() {
            return None;
        }
        let mut address: SecondaryMap<VReg, u32> = SecondaryMap::new();
        address.resize(code.vregs.len());
        for r in code.vregs.keys() {
            address[r] = self.wanted[bundles.root(r)].unwrap_or(0);
        }
        Some(Allocation { address })
    }
}

/// Places bundles in the first `limit` bytes of the file; `banks`: whether it has banks that
/// instructions read from one after the other. What finds no place is placed before the others, a
/// few times (if `orders`); in the end the others have places at least.
pub(in crate::regalloc) fn place(
    code: &VCode,
    live: &Liveness,
    bundles: &Bundles<'_>,
    limit: u32,
    map: &mut AllocationMap,
    (orders, banks): (bool, bool),
) -> Placed {
    let all = bundles.list();
    let mut keys: Vec<u128> = Vec::with_capacity(all.len());
    let mut order: Vec<Bundle> = Vec::with_capacity(all.len());
    let mut early: Vec<VReg> = Vec::new();
    // What callers and subroutines share moves for nobody.
    let shared = routines::shared(code);
    let mut kept: EntitySet<VReg> = EntitySet::new();
    if code.routines.len() > 1 {
        for r in code.vregs.keys().filter(|r| shared[*r]) {
            kept.insert(bundles.find(r));
        }
    }
    // Where more lives than there is room for, no order helps; where there is just no room for what
    // it is aligned to, hardly one.
    let needed = if orders {
        aligned(code, live).1
    } else {
        u32::MAX
    };
    let tries = if needed <= limit { TRIES } else { 0 };
    let spreads = (needed <= limit / ROOM.1 * ROOM.0).then_some(banks);
    for n in 0..=tries {
        // Fixed places first, and what moves for nobody. Then what is hardest to place: runs of
        // GRFs from the longest, then small values; in program order among equals, which packs
        // them.
        keys.clear();
        keys.extend((0u32..).zip(&all).map(|(n, b)| {
            let kind = match b.place {
                Place::Fixed(_) => 0,
                Place::AtLeast(_) => 1,
                Place::Any if kept.contains(b.root) => 2,
                Place::Any => 3,
            };
            let turn = early.iter().position(|r| *r == b.root);
            let turn = (kind << 16 | turn.unwrap_or(early.len())) as u32;
            let key = [turn, !b.bytes.max(b.align), b.start, n];
            key.into_iter()
                .fold(0, |all, x| all << u32::BITS | u128::from(x))
        }));
        keys.sort_unstable();
        order.clear();
        order.extend(keys.iter().filter_map(|k| all.get(*k as u32 as usize)));
        let last = n == tries;
        if let (0, Some(banks)) = (n, spreads) {
            let hints = Hints::new(code, bundles, banks);
            let placed = once(code, bundles, limit, map, &order, false, Some(&hints));
            if placed.failed.is_empty() {
                return placed;
            }
        }
        let placed = once(code, bundles, limit, map, &order, last, None);
        match placed.failed.first() {
            Some(r) if !last && !early.contains(r) => early.insert(0, *r),
            Some(_) if !last => break,
            _ => return placed,
        }
    }
    once(code, bundles, limit, map, &order, true, None)
}

/// The most bytes that live at once, where each register takes whole multiples of what it is
/// aligned to; and at which instruction.
pub(in crate::regalloc) fn aligned(code: &VCode, live: &Liveness) -> (usize, u32) {
    let mut delta = vec![0i64; code.insts.len() * 2 + 2];
    for (r, data) in &code.vregs {
        let bytes = i64::from(data.bytes.next_multiple_of(data.align.max(1)));
        for x in &live.ranges[r] {
            if let Some(d) = delta.get_mut(x.start as usize) {
                *d += bytes;
            }
            if let Some(d) = delta.get_mut(x.end as usize) {
                *d -= bytes;
            }
        }
    }
    let mut sum = 0;
    let mut peak = (0, 0);
    for (point, d) in delta.iter().enumerate() {
        sum += d;
        if sum > peak.1 {
            peak = (point / 2, sum);
        }
    }
    (peak.0, peak.1 as u32)
}

/// The place of a bundle behind the one before, if it has whole registers, or from the file's begin
/// on; the one that follows on it if that is where it `clashes` with others.
fn behind(
    b: &Bundle,
    next: &mut u32,
    (limit, grf): (u32, u32),
    life: Life<'_>,
    map: &mut AllocationMap,
    clashes: impl Fn(u32) -> bool,
) -> Option<u32> {
    let whole = b.bytes >= grf;
    let first = if whole { *next } else { 0 };
    let mut from = |first: u32| map.find(b.bytes, b.align, first..limit, life);
    let found = from(first).or_else(|| if first > 0 { from(0) } else { None })?;
    let found = if whole && clashes(found) {
        from(found + grf)
            .filter(|at| !clashes(*at))
            .unwrap_or(found)
    } else {
        found
    };
    if whole {
        *next = (found + b.bytes).next_multiple_of(grf);
    }
    Some(found)
}

/// Places bundles in this order; `all`: also behind one that finds no place. Without `hints` each
/// is at the lowest place that is free, which leaves what is free in one piece. With them it is
/// where they would have it, else behind the one before, so that a register is written again as
/// late as can be: instructions that have nothing to do with each other do not wait for each other.
fn once(
    code: &VCode,
    bundles: &Bundles<'_>,
    limit: u32,
    map: &mut AllocationMap,
    order: &[Bundle],
    all: bool,
    hints: Option<&Hints>,
) -> Placed {
    let file = code.grf;
    map.clear(file, code.insts.len() as u32 * 2 + 2);
    let mut out = Placed {
        wanted: SecondaryMap::new(),
        failed: Vec::new(),
    };
    out.wanted.resize(code.vregs.len());
    let (mut ranges, mut weak) = (Vec::new(), Vec::new());
    let mut next = 0;
    for b in order {
        bundles.ranges(b.root, &mut ranges);
        bundles.weak(b.root, &mut weak);
        let life = Life {
            ranges: &ranges,
            weak: &weak,
        };
        let found = match b.place {
            // Payload registers may overlap: nobody writes them.
            Place::Fixed(at) => Some(at),
            Place::AtLeast(first) => map.find(b.bytes, b.align, first..file.size(), life),
            Place::Any => {
                let limit = bundles.limit(b.root, limit);
                match hints {
                    None => map.find(b.bytes, b.align, 0..limit, life),
                    Some(hints) => {
                        let place = |r: VReg| out.wanted[r];
                        let mut near = hints.near(b.root, place);
                        let wanted = near.find_map(|at| {
                            let fits = at.is_multiple_of(b.align.max(1)) && at + b.bytes <= limit;
                            let there = at..at + b.bytes;
                            fits.then(|| map.find(b.bytes, b.align, there, life))?
                        });
                        wanted.or_else(|| {
                            let clashes = |at| hints.in_one_bank(b.root, at, place);
                            behind(b, &mut next, (limit, file.bytes), life, map, clashes)
                        })
                    }
                }
            }
        };
        match found.filter(|at| at + b.bytes <= file.size()) {
            Some(at) => {
                map.insert(at, b.bytes, life);
                out.wanted[b.root] = Some(at);
            }
            None => out.failed.push(b.root),
        }
        if !all && !out.failed.is_empty() {
            break;
        }
    }
    out
}
