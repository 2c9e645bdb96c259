//! Byte-granular allocation of the GRF file.
//!
//! The file is an address space of bytes. A value is a range of them with a size and an alignment; uniform values share GRFs.
//! The parts follow regalloc2: copies merge live ranges into bundles ([`bundles`]), bundles get places from an
//! allocation map keyed by program point ([`map`]), and a separate checker ([`checker`]) proves the result on the code. A bundle keeps one
//! place for its life. Where demand is more than the file, wide registers fall into pieces ([`chunks`]), then values leave for scratch while
//! they are not wanted ([`spill`]): registers that are left live for parts of a value's life.
//!
//! Needs: [`VCode`] with physical flags, its [`Liveness`]. Makes: the code, with what spilling put into it, and a byte address per virtual register.

pub mod baseline;
pub mod bundles;
pub mod checker;
mod chunks;
#[cfg(test)]
mod corruptions;
mod loops;
mod loosen;
pub mod map;
mod overlay;
pub mod spill;

use crate::liveness::{Liveness, Range, liveness};
use crate::result::CodegenError;
use crate::target::Target;
use crate::vcode::{Place, VCode, VReg};
use bundles::{Bundle, Bundles};
use cranelift_entity::SecondaryMap;
use map::{AllocationMap, Life};
use spill::Spilled;

/// Where every virtual register is.
#[derive(Clone, Debug, Default)]
pub struct Allocation {
    /// Byte address in the GRF file per virtual register.
    pub address: SecondaryMap<VReg, u32>,
    /// GRFs from 0 that are used, one past the highest.
    pub grfs: u32,
}

/// What is allocated: the code, with what spilling put into it, and where its registers are.
#[derive(Clone, Debug)]
pub struct Allocated {
    /// The code.
    pub code: VCode,
    /// Its liveness.
    pub live: Liveness,
    /// Per instruction the number that it had; of those that are new [`u32::MAX`]. Empty where nothing was changed.
    pub origin: Vec<u32>,
    /// Its registers.
    pub alloc: Allocation,
    /// What was spilled.
    pub spilled: Spilled,
}

/// What allocation may use.
#[derive(Clone, Copy, Debug)]
pub struct Room<'a> {
    /// The target, whose file it is.
    pub target: &'a Target,
    /// GRFs from 0 that values may be in; what must be in certain others is there.
    pub grfs: u32,
    /// Scratch of a thread that the kernel uses itself, in bytes.
    pub scratch: u32,
}

/// What of the file, in sixteenths, spilling leaves for values, one attempt after the other. There is less room than bytes: values are aligned.
const SHARES: [u32; 8] = [16, 15, 14, 12, 10, 8, 6, 4];

/// Places every virtual register in the register file, or in scratch. `map`: any, for its memory.
///
/// # Errors
/// [`CodegenError::OutOfRegisters`] where one instruction needs more than there is.
pub fn allocate(
    name: &str,
    mut code: VCode,
    mut live: Liveness,
    room: Room<'_>,
    map: &mut AllocationMap,
) -> Result<Allocated, CodegenError> {
    let bytes = room.grfs.min(code.grf.count) * code.grf.bytes;
    let mut origin: Vec<u32> = Vec::new();
    let unspilled = Spilled {
        scratch: room.scratch,
        ..Spilled::default()
    };
    let done = |(code, live, origin), alloc, spilled| Allocated {
        code,
        live,
        origin,
        alloc,
        spilled,
    };
    if let Some(alloc) = fit(&code, &live, bytes, map) {
        return Ok(done((code, live, origin), alloc, unspilled));
    }
    origin.extend(0..code.insts.len() as u32);
    let loosened = loosen::loosen(&mut code, &mut origin, room.target);
    if chunks::split(&mut code, &mut origin, room.target) || loosened {
        live = liveness(name, &code)?;
        if let Some(alloc) = fit(&code, &live, bytes, map) {
            return Ok(done((code, live, origin), alloc, unspilled));
        }
    }
    let apart = (code.clone(), live.clone());
    if spill::coalesce::coalesce(&mut code, &live) {
        live = liveness(name, &code)?;
    }
    // Where little more lives than there is room for, what leaves is better chosen one by one.
    let much = live.peak().1 > bytes / 4 * 5;
    if much && spill::pairs::pair(&mut code, &live, room.target) {
        live = liveness(name, &code)?;
    }
    let mut failed = None;
    // Small values come from scratch in GRFs of their own, for which there is room but at the first attempt.
    let spare = 2 * code.grf.bytes;
    let caps = SHARES.map(|share| (bytes * share / 16).saturating_sub(spare));
    let caps: Vec<u32> = [bytes].into_iter().chain(caps).collect();
    // Where nothing else helps, registers are not joined.
    let together = (code, live);
    let attempts = [&together, &apart].into_iter();
    for ((code, live), &cap) in attempts.flat_map(|x| caps.iter().map(move |cap| (x, cap))) {
        let mut origin = origin.clone();
        let cut = (cap, room.scratch);
        let (code, live, spilled) = spill::to_fit(name, code, live, room.target, cut, &mut origin)?;
        match place(&code, &live, bytes, map, &[]) {
            Ok(alloc) => return Ok(done((code, live, origin), alloc, spilled)),
            Err(r) => {
                let ranges = &live.ranges[r];
                let held = code.vregs[r].bytes;
                failed = Some(out_of_registers(
                    name,
                    (&code, &live),
                    (held, bytes),
                    ranges,
                ));
            }
        }
    }
    let (code, live) = &together;
    Err(failed.unwrap_or_else(|| out_of_registers(name, (code, live), (0, bytes), &[])))
}

/// How often what found no place is placed before the others.
const TRIES: usize = 16;

/// Places every virtual register where the most that is live at once fits, if there are places.
fn fit(code: &VCode, live: &Liveness, limit: u32, map: &mut AllocationMap) -> Option<Allocation> {
    if live.peak().1 > limit {
        return None;
    }
    let mut early: Vec<VReg> = Vec::new();
    for _ in 0..TRIES {
        match place(code, live, limit, map, &early) {
            Ok(alloc) => return Some(alloc),
            Err(r) if early.contains(&r) => break,
            Err(r) => early.insert(0, r),
        }
    }
    None
}

/// Places every virtual register in the first so many bytes of the file, those of `early` before others that may be anywhere.
///
/// # Errors
/// The first register that finds no place.
fn place(
    code: &VCode,
    live: &Liveness,
    limit: u32,
    map: &mut AllocationMap,
    early: &[VReg],
) -> Result<Allocation, VReg> {
    let mut bundles = Bundles::merge(code, live);
    let file = code.grf;
    map.clear(file);
    let mut out = Allocation::default();
    let mut order: Vec<Bundle> = bundles.list();
    // Fixed places first. Then what is hardest to place: runs of GRFs from the longest, then small values; in program order among equals,
    // which packs them.
    order.sort_by_key(|b| {
        let kind = match b.place {
            Place::Fixed(_) => 0,
            Place::AtLeast(_) => 1,
            Place::Any => 2,
        };
        let turn = early.iter().position(|r| *r == b.root);
        let turn = turn.unwrap_or(early.len());
        (kind, turn, std::cmp::Reverse(b.bytes.max(b.align)), b.start)
    });
    let (mut ranges, mut weak) = (Vec::new(), Vec::new());
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
            Place::Any => map.find(b.bytes, b.align, 0..limit, life),
        };
        let at = found
            .filter(|at| at + b.bytes <= file.size())
            .ok_or(b.root)?;
        map.insert(at, b.bytes, life);
        out.grfs = out.grfs.max(file.hold(at + b.bytes));
        out.address[b.root] = at;
    }
    for r in code.vregs.keys() {
        let root = bundles.root(r);
        out.address[r] = out.address[root];
    }
    Ok(out)
}

/// Demand at the point, in the life of a register of `held` bytes, where most are live.
fn out_of_registers(
    name: &str,
    (code, live): (&VCode, &Liveness),
    (held, available): (u32, u32),
    ranges: &[Range],
) -> CodegenError {
    let insts = ranges.iter().flat_map(|r| r.start / 2..r.end.div_ceil(2));
    let worst = insts
        .filter_map(|i| live.demand.get(i as usize).map(|d| (i as usize, d.peak())))
        .max_by_key(|&(_, d)| d);
    let (at, needed) = worst.unwrap_or_else(|| live.peak());
    CodegenError::OutOfRegisters {
        function: name.to_string(),
        needed: needed.max(held),
        available,
        at,
        text: code
            .insts
            .get(at)
            .map(|m| m.to_string())
            .unwrap_or_default(),
        origin: code.locs.get(at).into(),
    }
}
