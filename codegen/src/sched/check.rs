//! A walk over code as it was and as it is: what each instruction reads must have been written by
//! the same ones, in the same order, and so must be what a block leaves behind.
//!
//! It knows nothing of dependences. Each byte of each register has a history, a number that every
//! write makes another one; an instruction's reads, folded together, must be the same number before
//! and after. Which bytes of the register file an instruction names it asks [`Spans`], which
//! scheduling does not.

use super::Order;
use super::space::{Space, Touch};
use crate::mir::spans::Spans;
use crate::mir::{Access as Named, MInst, VCode, VReg};
use crate::target::Target;
use gantry_isa_gen::perf::{Freedom, Store};
use std::collections::HashMap;
use std::ops::Range;

/// What has happened to everything that has a state, in a block.
#[derive(Default, PartialEq, Eq)]
struct History {
    /// By byte of the register file.
    file: HashMap<u32, u64>,
    /// By chunk and unit of all else.
    other: HashMap<(u32, u32), u64>,
}

fn mix(a: u64, b: u64) -> u64 {
    let x = (a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ x >> 31
}

struct Walk<'a, A, S> {
    space: &'a Space<A, S>,
    history: History,
}

impl<A: Fn(VReg) -> u32 + Copy, S: Fn(VReg) -> u32 + Copy> Walk<'_, A, S> {
    /// Runs an instruction, whose number in the code as it was is `id`: what it has read, as a
    /// number.
    fn step(&mut self, m: &MInst, id: u32) -> u64 {
        let spans = Spans {
            platform: self.space.platform,
            grf: self.space.grf,
            size: self.space.size,
        };
        // What is no instruction then says nothing.
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
            // Of the base only the place is asked for.
            let address = match m {
                MInst::LoadAddress { base, index, .. } => {
                    *base == Some(r) && index.is_none_or(|(i, _)| i != r)
                }
                MInst::PlaceOf { base, .. } => *base == r,
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
            if a.store != Store::Grf {
                self.space.touches(a, &mut touches);
            }
        });
        let units = |t: &Touch| {
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
            == Freedom::Fixed
    }
}

/// Checks that an order keeps what code means, in which registers are where `address` says.
/// `values`: and what lives in them.
///
/// # Errors
/// The instruction that does not read what it read.
pub(crate) fn verify(
    code: &VCode,
    order: &Order,
    target: &Target,
    address: impl Fn(VReg) -> u32 + Copy,
    values: bool,
) -> Result<(), String> {
    let space = Space {
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
        let walk = || Walk {
            space: &space,
            history: History::default(),
        };
        let inst = |n: usize| code.insts.get(n).copied();
        let (mut was, mut is) = (walk(), walk());
        let mut reads: HashMap<u32, u64> = HashMap::new();
        for n in data.start..data.end {
            if let Some(m) = inst(n) {
                reads.insert(n as u32, was.step(&m, n as u32));
            }
        }
        // The last place up to which all stood before that stand now.
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
