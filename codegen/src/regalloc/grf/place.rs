//! Placement of whole live ranges: each bundle gets one place that is free throughout.

use super::allocation_map::{AllocationMap, LiveRanges};
use super::bundles::{Bundle, Bundles};
use super::preferences::Preferences;
use crate::mir::liveness::Liveness;
use crate::mir::{RegConstraint, VCode, VReg, routines};
use crate::regalloc::Allocation;
use cranelift_entity::{EntitySet, SecondaryMap};

/// Maximum number of retries that place failed bundles before the others.
const MAX_RETRIES: usize = 2;

/// Fraction of the GRF file, as numerator and denominator, up to which values are spread over all
/// of it.
const SPREAD_LIMIT: (u32, u32) = (3, 4);

/// Result of placement.
pub(in crate::regalloc) struct Placement {
    /// Address of each bundle, by root.
    pub(in crate::regalloc) wanted: SecondaryMap<VReg, Option<u32>>,
    /// Bundles without a place.
    failed: Vec<VReg>,
}

impl Placement {
    /// Returns an address for every register, if every bundle has a place.
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

/// Places bundles in the first `limit` bytes of the GRF file. `banks` tells if the file has banks
/// that three-source instructions read in separate cycles. With `orders`, bundles that fail are
/// retried before the others, a few times. After the last retry all bundles that fit have places.
pub(in crate::regalloc) fn place(
    code: &VCode,
    live: &Liveness,
    bundles: &Bundles<'_>,
    limit: u32,
    map: &mut AllocationMap,
    (orders, banks): (bool, bool),
) -> Placement {
    let all = bundles.list();
    let mut keys: Vec<u128> = Vec::with_capacity(all.len());
    let mut order: Vec<Bundle> = Vec::with_capacity(all.len());
    let mut early: Vec<VReg> = Vec::new();
    // Registers that callers and subroutines share do not move for others.
    let shared = routines::shared(code);
    let mut kept: EntitySet<VReg> = EntitySet::new();
    if code.routines.len() > 1 {
        for r in code.vregs.keys().filter(|r| shared[*r]) {
            kept.insert(bundles.find(r));
        }
    }
    // No order helps if demand exceeds the limit, and hardly any if only alignment makes it exceed.
    let needed = if orders {
        aligned_peak(code, live).1
    } else {
        u32::MAX
    };
    let retries = if needed <= limit { MAX_RETRIES } else { 0 };
    let spreads = (needed <= limit / SPREAD_LIMIT.1 * SPREAD_LIMIT.0).then_some(banks);
    for n in 0..=retries {
        // Fixed places come first, then registers that never move. The rest goes from the hardest
        // to place to the easiest: long runs of GRFs before small values. Equal ones go in program
        // order, which packs them.
        keys.clear();
        keys.extend((0u32..).zip(&all).map(|(n, b)| {
            let kind = match b.place {
                RegConstraint::Fixed(_) => 0,
                RegConstraint::AtLeast(_) => 1,
                RegConstraint::Any if kept.contains(b.root) => 2,
                RegConstraint::Any => 3,
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
        let last = n == retries;
        if let (0, Some(banks)) = (n, spreads) {
            let preferences = Preferences::new(code, bundles, banks);
            let placed =
                place_in_order(code, bundles, limit, map, &order, false, Some(&preferences));
            if placed.failed.is_empty() {
                return placed;
            }
        }
        let placed = place_in_order(code, bundles, limit, map, &order, last, None);
        match placed.failed.first() {
            Some(r) if !last && !early.contains(r) => early.insert(0, *r),
            Some(_) if !last => break,
            _ => return placed,
        }
    }
    place_in_order(code, bundles, limit, map, &order, true, None)
}

/// Returns the peak of live bytes if each register takes a multiple of its alignment, after the
/// instruction where it is.
pub(in crate::regalloc) fn aligned_peak(code: &VCode, live: &Liveness) -> (usize, u32) {
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

/// Returns a place after the previous bundle if the bundle has whole GRFs, or else the lowest one.
/// If that `conflicts` with other operands' banks, tries the next place at least one GRF further.
fn next_place(
    b: &Bundle,
    next: &mut u32,
    (limit, grf): (u32, u32),
    live: LiveRanges<'_>,
    map: &mut AllocationMap,
    conflicts: impl Fn(u32) -> bool,
) -> Option<u32> {
    let whole = b.bytes >= grf;
    let first = if whole { *next } else { 0 };
    let mut from = |first: u32| map.find(b.bytes, b.align, first..limit, live);
    let found = from(first).or_else(|| if first > 0 { from(0) } else { None })?;
    let found = if whole && conflicts(found) {
        from(found + grf)
            .filter(|at| !conflicts(*at))
            .unwrap_or(found)
    } else {
        found
    };
    if whole {
        *next = (found + b.bytes).next_multiple_of(grf);
    }
    Some(found)
}

/// Places bundles in this order. With `all`, continues after a bundle that finds no place. Without
/// `preferences`, each bundle gets the lowest free place, which keeps free space contiguous. With
/// them, it gets a preferred place, or else the one after the previous bundle. A register is then
/// rewritten as late as possible, so that independent instructions do not wait for each other.
fn place_in_order(
    code: &VCode,
    bundles: &Bundles<'_>,
    limit: u32,
    map: &mut AllocationMap,
    order: &[Bundle],
    all: bool,
    preferences: Option<&Preferences>,
) -> Placement {
    let file = code.grf;
    map.clear(file, code.insts.len() as u32 * 2 + 2);
    let mut out = Placement {
        wanted: SecondaryMap::new(),
        failed: Vec::new(),
    };
    out.wanted.resize(code.vregs.len());
    let (mut ranges, mut weak) = (Vec::new(), Vec::new());
    let mut next = 0;
    for b in order {
        bundles.ranges(b.root, &mut ranges);
        bundles.weak(b.root, &mut weak);
        let live = LiveRanges {
            ranges: &ranges,
            weak: &weak,
        };
        let found = match b.place {
            // Payload registers may overlap, since nothing writes them.
            RegConstraint::Fixed(at) => Some(at),
            RegConstraint::AtLeast(first) => map.find(b.bytes, b.align, first..file.size(), live),
            RegConstraint::Any => {
                let limit = bundles.limit(b.root, limit);
                match preferences {
                    None => map.find(b.bytes, b.align, 0..limit, live),
                    Some(preferences) => {
                        let place = |r: VReg| out.wanted[r];
                        let mut near = preferences.addresses(b.root, place);
                        let wanted = near.find_map(|at| {
                            let fits = at.is_multiple_of(b.align.max(1)) && at + b.bytes <= limit;
                            let there = at..at + b.bytes;
                            fits.then(|| map.find(b.bytes, b.align, there, live))?
                        });
                        wanted.or_else(|| {
                            let conflicts = |at| preferences.has_bank_conflict(b.root, at, place);
                            next_place(b, &mut next, (limit, file.bytes), live, map, conflicts)
                        })
                    }
                }
            }
        };
        match found.filter(|at| at + b.bytes <= file.size()) {
            Some(at) => {
                map.insert(at, b.bytes, live);
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
