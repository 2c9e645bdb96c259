//! Checker of schedules: it walks the code before and after. Each instruction must read what the
//! same instructions wrote in the same order, and blocks must leave the same state.
//!
//! The checker does not use dependences. Each byte of each register has a history: a number that
//! every write changes. The reads of an instruction, folded together, must be the same number
//! before and after. The bytes of the GRF file that an instruction names come from [`Spans`], which
//! scheduling does not use.

use super::Schedule;
use super::space::{ChunkAccess, StateSpace};
use crate::mir::spans::Spans;
use crate::mir::{Access as Named, MInst, VCode, VReg};
use crate::target::Target;
use gantry_isa_gen::effects::{Reordering, Storage};
use std::collections::HashMap;
use std::ops::Range;

/// Histories of everything that has a state, in a block.
#[derive(Default, PartialEq, Eq)]
struct Histories {
    /// By byte of the GRF file.
    file: HashMap<u32, u64>,
    /// By chunk and unit of everything else.
    other: HashMap<(u32, u32), u64>,
}

fn mix(a: u64, b: u64) -> u64 {
    let x = (a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ x >> 31
}

struct HistoryWalk<'a, A, S> {
    space: &'a StateSpace<A, S>,
    history: Histories,
}

impl<A: Fn(VReg) -> u32 + Copy, S: Fn(VReg) -> u32 + Copy> HistoryWalk<'_, A, S> {
    /// Runs an instruction, whose number in the old code is `id`. Returns its reads as a number.
    fn step(&mut self, m: &MInst, id: u32) -> u64 {
        let spans = Spans {
            platform: self.space.platform,
            grf: self.space.grf,
            size: self.space.size,
        };
        // Operations that emit no instruction say nothing then.
        let says = match *m {
            MInst::Start { .. } => self.space.values,
            MInst::Copy { dst, src } => {
                self.space.values || (self.space.address)(dst) != (self.space.address)(src)
            }
            _ => true,
        };
        let mut read = 0;
        let mut writes: Vec<Range<u32>> = Vec::new();
        spans.each(m, |r, bytes, named| {
            // Only the address of the base is used.
            let address = match m {
                MInst::LoadAddress { base, index, .. } => {
                    *base == Some(r) && index.is_none_or(|(i, _)| i != r)
                }
                MInst::RegAddress { base, index, .. } => {
                    *base == r && index.is_none_or(|(i, _)| i != r)
                }
                _ => false,
            };
            if !says || address && !self.space.values {
                return;
            }
            let at = (self.space.address)(r);
            let begins_all = named == Named::Def && self.space.values;
            let bytes = if begins_all {
                at..at + (self.space.size)(r)
            } else {
                at + bytes.start..at + bytes.end
            };
            if named == Named::Use {
                for b in bytes {
                    read = mix(read, self.history.file.get(&b).copied().unwrap_or(0));
                }
            } else {
                writes.push(bytes);
            }
        });
        let message = self.space.message(m);
        let mut touches = Vec::new();
        self.space.each(m, message.as_ref(), true, |a| {
            if a.storage != Storage::Grf {
                self.space.touches(a, &mut touches);
            }
        });
        let units = |t: &ChunkAccess| {
            let (chunk, mask) = (t.chunk, t.mask);
            let bits = (0..u64::BITS).filter(move |b| mask >> b & 1 == 1);
            bits.map(move |b| (chunk, b))
        };
        for u in touches.iter().filter(|t| !t.write).flat_map(units) {
            read = mix(read, self.history.other.get(&u).copied().unwrap_or(0));
        }
        for b in writes.into_iter().flatten() {
            let h = self.history.file.entry(b).or_default();
            *h = mix(*h, u64::from(id) + 1);
        }
        for u in touches.iter().filter(|t| t.write).flat_map(units) {
            let h = self.history.other.entry(u).or_default();
            *h = mix(*h, u64::from(id) + 1);
        }
        read
    }

    fn is_fixed(&self, m: &MInst) -> bool {
        let told = true;
        self.space
            .each(m, self.space.message(m).as_ref(), told, |_| {})
            == Reordering::Fixed
    }
}

/// Checks that an order keeps the meaning of code whose registers are at `address`. With `values`,
/// liveness must be kept too.
///
/// # Errors
/// Instruction with different reads.
pub(crate) fn verify(
    code: &VCode,
    order: &Schedule,
    target: &Target,
    address: impl Fn(VReg) -> u32 + Copy,
    values: bool,
) -> Result<(), String> {
    let space = StateSpace {
        platform: target.platform(),
        grf: target.grf().bytes,
        address,
        size: |r: VReg| code.vregs[r].bytes,
        values,
        lone: code.lone_surfaces,
    };
    if order.from.len() != code.insts.len() {
        return Err("instructions are missing".to_owned());
    }
    for (block, data) in &code.blocks {
        let walk = || HistoryWalk {
            space: &space,
            history: Histories::default(),
        };
        let inst = |n: usize| code.insts.get(n).copied();
        let (mut was, mut is) = (walk(), walk());
        let mut reads: HashMap<u32, u64> = HashMap::new();
        for n in data.start..data.end {
            if let Some(m) = inst(n) {
                reads.insert(n as u32, was.step(&m, n as u32));
            }
        }
        // Last index before which the same instructions have run in both orders.
        let mut most = data.start;
        for to in data.start..data.end {
            let n = order.from[to];
            let Some(m) = inst(n as usize) else {
                return Err(format!("instruction {n} is not there"));
            };
            if is.is_fixed(&m) && (to != n as usize || most != to) {
                return Err(format!("{block}: instruction {n} (`{m}`) was passed"));
            }
            most = most.max(n as usize + 1);
            let Some(before) = reads.remove(&n) else {
                return Err(format!("{block}: instruction {n} (`{m}`) came twice"));
            };
            if is.step(&m, n) != before {
                return Err(format!(
                    "{block}: instruction {n} (`{m}`), now at {to}, does not read what it read"
                ));
            }
        }
        if was.history != is.history {
            let file = was.history.file.iter();
            let byte = file.filter(|(b, h)| is.history.file.get(b) != Some(h));
            let byte = byte.map(|(b, _)| *b).min();
            let other = was.history.other.iter();
            let unit = other.filter(|(u, h)| is.history.other.get(u) != Some(h));
            let unit = unit.map(|(u, _)| *u).min();
            let now = order.from.get(data.start..data.end);
            return Err(format!(
                "{block} does not leave what it left: byte {byte:?} of the file, unit {unit:?}; its order is {now:?}"
            ));
        }
    }
    Ok(())
}
