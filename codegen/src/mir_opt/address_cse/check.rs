//! A walk over a block as it was and as it is, side by side: each operand must be where it was.
//!
//! It knows nothing of what is shared, or why. A word of the address register is a number and what
//! was in two bytes of the file, by who wrote these last; or what an operation left in it.

use super::{indirect, read, written};
use crate::mir::spans::Spans;
use crate::mir::{Access, MInst, VCode, VReg};
use crate::regalloc::Allocation;
use crate::target::Target;
use gantry_isa_gen::Type;
use std::collections::HashMap;

/// What a word of the address register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Holds {
    /// Nobody knows.
    Nothing,
    /// A number, and what is in two bytes: who wrote them.
    Address(u16, Option<[(u32, usize); 2]>),
    /// What an instruction wrote.
    Result(usize),
}

/// Checks that all operands of code, its addresses shared, are where they were.
///
/// # Errors
/// The instruction that has one elsewhere.
pub(crate) fn verify(
    before: &VCode,
    after: &VCode,
    alloc: &Allocation,
    target: &Target,
) -> Result<(), String> {
    let spans = Spans {
        platform: target.platform(),
        grf: target.grf().bytes,
        size: |r: VReg| before.vregs[r].bytes,
    };
    if before.blocks.len() != after.blocks.len() {
        return Err("there are other blocks".to_owned());
    }
    for (block, data) in &before.blocks {
        let count = target.features().address_words as usize;
        let mut was = vec![Holds::Nothing; count];
        let mut is = was.clone();
        let mut writer: HashMap<u32, usize> = HashMap::new();
        let mut rest = after.block_insts(block).iter().peekable();
        for n in data.start..data.end {
            let Some(m) = before.insts.get(n) else {
                continue;
            };
            let fail = |what: &str| Err(format!("{block}: instruction {n} (`{m}`) {what}"));
            if let MInst::LoadAddress { .. } = m {
                set(&mut was, m, alloc, &writer);
                if let Some(now) = rest.next_if(|now| same_but_word(m, now)) {
                    set(&mut is, now, alloc, &writer);
                }
                continue;
            }
            let Some(now) = rest.next() else {
                return fail("is missing");
            };
            let (MInst::Op { inst: a, .. }, MInst::Op { inst: b, .. }) = (m, now) else {
                if m != now {
                    return fail("is another");
                }
                if let MInst::Call { .. } = m {
                    was.fill(Holds::Nothing);
                    is.fill(Holds::Nothing);
                    writer.clear();
                }
                wrote(&spans, m, n, alloc, &mut writer);
                continue;
            };
            let (mut all, mut there) = (indirect(a), indirect(b));
            loop {
                match (all.next(), there.next()) {
                    (None, None) => break,
                    (Some((x, i)), Some((y, j))) => {
                        let place = |all: &[Holds], w: std::ops::Range<usize>, add: i16| {
                            let words = all.get(w)?.iter().map(|h| match *h {
                                Holds::Address(at, index) => {
                                    Some((at.wrapping_add(add as u16), index))
                                }
                                _ => None,
                            });
                            words.collect::<Option<Vec<_>>>()
                        };
                        let at = place(&is, y, j);
                        if at.is_none() || place(&was, x, i) != at {
                            return fail("has an operand elsewhere");
                        }
                    }
                    _ => return fail("has other operands"),
                }
            }
            for all in read(a) {
                if was.get(all.clone()) != is.get(all) {
                    return fail("reads another word of a0");
                }
            }
            for w in written(a) {
                for all in [&mut was, &mut is] {
                    if let Some(w) = all.get_mut(w) {
                        *w = Holds::Result(n);
                    }
                }
            }
            wrote(&spans, m, n, alloc, &mut writer);
        }
        if let Some(m) = rest.next() {
            return Err(format!("{block}: `{m}` is new"));
        }
    }
    Ok(())
}

/// Whether two loads are of one address, perhaps in other words.
fn same_but_word(a: &MInst, b: &MInst) -> bool {
    let mut b = *b;
    if let (MInst::LoadAddress { sub: x, .. }, MInst::LoadAddress { sub: y, .. }) = (a, &mut b) {
        *y = *x;
    }
    *a == b
}

/// Notes what a load leaves in its words.
fn set(all: &mut [Holds], m: &MInst, alloc: &Allocation, writer: &HashMap<u32, usize>) {
    let MInst::LoadAddress {
        sub,
        count,
        base,
        offset,
        index,
    } = *m
    else {
        return;
    };
    let by = |b: u32| (b, writer.get(&b).copied().unwrap_or(usize::MAX));
    for k in 0..count.channels() {
        let index = index.map(|(r, at)| {
            let at = alloc.address[r] + at + k * Type::Uw.bytes();
            [by(at), by(at + 1)]
        });
        if let Some(w) = all.get_mut(usize::from(sub) + k as usize) {
            *w = Holds::Address(
                (base.map_or(0, |b| alloc.address[b]) + offset) as u16,
                index,
            );
        }
    }
}

/// Notes which bytes of the file an instruction writes.
fn wrote(
    spans: &Spans<impl Fn(VReg) -> u32>,
    m: &MInst,
    n: usize,
    alloc: &Allocation,
    writer: &mut HashMap<u32, usize>,
) {
    match *m {
        MInst::Start { .. } => return,
        MInst::Copy { dst, src } if alloc.address[dst] == alloc.address[src] => return,
        _ => {}
    }
    spans.each(m, |r, bytes, access| {
        if access != Access::Use {
            let at = alloc.address[r];
            for b in bytes {
                writer.insert(at + b, n);
            }
        }
    });
}
