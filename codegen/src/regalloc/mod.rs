//! Byte-granular allocation of the GRF file.
//!
//! The file is an address space of bytes. A value is a range of them with a size and an alignment; uniform values share GRFs.
//! The parts follow regalloc2: copies merge live ranges into bundles ([`bundles`]), bundles get places from an
//! allocation map keyed by program point ([`map`]), and a separate checker ([`checker`]) proves the result on the code. A bundle keeps one
//! place for its life: there is no splitting and no spilling yet, so too much demand is an error.
//!
//! Needs: [`VCode`] with physical flags, its [`Liveness`]. Makes: a byte address per virtual register.

pub mod bundles;
pub mod checker;
#[cfg(test)]
mod corruptions;
pub mod map;
mod overlay;

use crate::liveness::{Liveness, Range};
use crate::result::CodegenError;
use crate::vcode::{Place, VCode, VReg};
use bundles::{Bundle, Bundles};
use cranelift_entity::SecondaryMap;
use map::{AllocationMap, Life};

/// Where every virtual register is.
#[derive(Clone, Debug, Default)]
pub struct Allocation {
    /// Byte address in the GRF file per virtual register.
    pub address: SecondaryMap<VReg, u32>,
    /// GRFs from 0 that are used, one past the highest.
    pub grfs: u32,
}

/// Places every virtual register in the register file. `map`: any, for its memory.
///
/// # Errors
/// [`CodegenError::OutOfRegisters`] where a bundle finds no place.
pub fn allocate(
    name: &str,
    code: &VCode,
    live: &Liveness,
    map: &mut AllocationMap,
) -> Result<Allocation, CodegenError> {
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
        (kind, std::cmp::Reverse(b.bytes.max(b.align)), b.start)
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
            Place::AtLeast(first) => map.find(b.bytes, b.align, first, life),
            Place::Any => map.find(b.bytes, b.align, 0, life),
        };
        let Some(at) = found.filter(|at| at + b.bytes <= file.size()) else {
            return Err(out_of_registers(name, code, live, b.bytes, &ranges));
        };
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

/// Demand at the point, in the bundle's life, where most bytes are live.
fn out_of_registers(
    name: &str,
    code: &VCode,
    live: &Liveness,
    bytes: u32,
    ranges: &[Range],
) -> CodegenError {
    let insts = ranges.iter().flat_map(|r| r.start / 2..r.end.div_ceil(2));
    let worst = insts
        .filter_map(|i| live.demand.get(i as usize).map(|d| (i as usize, d.peak())))
        .max_by_key(|&(_, d)| d);
    let (at, needed) = worst.unwrap_or_else(|| live.peak());
    CodegenError::OutOfRegisters {
        function: name.to_string(),
        needed: needed.max(bytes),
        available: code.grf.size(),
        at,
        text: code
            .insts
            .get(at)
            .map(|m| m.to_string())
            .unwrap_or_default(),
        origin: code.locs.get(at).into(),
    }
}
