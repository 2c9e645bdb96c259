//! Check of the pass: walks over a block before and after it, and compares the address of each
//! operand.
//!
//! It does not know about sharing. A word of the address register is a number plus the contents of
//! two bytes of the GRF file, identified by their last writer. Or it is the result of an operation.

use super::{indirect, read, written};
use crate::mir::spans::Spans;
use crate::mir::{Access, MInst, VBlock, VCode, VReg};
use crate::regalloc::Allocation;
use crate::target::Target;
use cranelift_entity::EntityRef;
use gantry_isa_gen::Type;
use std::collections::{HashMap, HashSet};

/// Value of a word of the address register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WordValue {
    /// Unknown.
    Nothing,
    /// Number, and two bytes with their last writers.
    Address(u16, Option<[(u32, usize); 2]>),
    /// Result of an instruction.
    Result(usize),
}

/// Checks that all indirect operands have the same addresses as before.
///
/// # Errors
/// The instruction with a different address.
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
        return Err("the blocks differ".to_owned());
    }
    // Words that a call passes name registers that are elsewhere.
    let passes = |m: &MInst| match *m {
        MInst::RegAddress { dst, .. } => Some(dst),
        _ => None,
    };
    let words: HashSet<VReg> = before.insts.iter().filter_map(passes).collect();
    let mut ends: HashMap<VBlock, BlockEnd> = HashMap::new();
    for (block, data) in &before.blocks {
        let count = target.features().address_words as usize;
        let mut was = vec![WordValue::Nothing; count];
        let (mut is, mut writer) = at_start(&ends, block, &data.preds, count);
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
            // A load for the arms behind the block, of words that the block no longer reads.
            if m.is_terminator() {
                while let Some(load) = rest.next_if(|m| matches!(m, MInst::LoadAddress { .. })) {
                    set(&mut is, load, alloc, &writer);
                }
            }
            let Some(now) = rest.next() else {
                return fail("is missing");
            };
            let (MInst::Op { inst: a, .. }, MInst::Op { inst: b, .. }) = (m, now) else {
                if m != now {
                    return fail("differs");
                }
                if let MInst::Call { .. } = m {
                    was.fill(WordValue::Nothing);
                    is.fill(WordValue::Nothing);
                    writer.clear();
                }
                let by_word = matches!(m, MInst::Touch { reg, .. } if words.contains(reg));
                if !by_word {
                    wrote(&spans, m, n, alloc, &mut writer);
                }
                continue;
            };
            let (mut all, mut there) = (indirect(a), indirect(b));
            loop {
                match (all.next(), there.next()) {
                    (None, None) => break,
                    (Some((x, i)), Some((y, j))) => {
                        let place = |all: &[WordValue], w: std::ops::Range<usize>, add: i16| {
                            let words = all.get(w)?.iter().map(|h| match *h {
                                WordValue::Address(at, index) => {
                                    Some((at.wrapping_add(add as u16), index))
                                }
                                _ => None,
                            });
                            words.collect::<Option<Vec<_>>>()
                        };
                        let at = place(&is, y, j);
                        if at.is_none() || place(&was, x, i) != at {
                            return fail("has an operand at a different address");
                        }
                    }
                    _ => return fail("has different operands"),
                }
            }
            for w in read(a).flatten() {
                // What the block has not written is any value.
                let known = was.get(w).filter(|v| **v != WordValue::Nothing);
                if known.is_some() && known != is.get(w) {
                    return fail("reads another word of a0");
                }
            }
            for w in written(a) {
                for all in [&mut was, &mut is] {
                    if let Some(w) = all.get_mut(w) {
                        *w = WordValue::Result(n);
                    }
                }
            }
            wrote(&spans, m, n, alloc, &mut writer);
        }
        if let Some(m) = rest.next() {
            return Err(format!("{block}: `{m}` was added"));
        }
        ends.insert(block, (is, writer));
    }
    Ok(())
}

/// Values of the words at the end of a block, and the last writer of each byte.
type BlockEnd = (Vec<WordValue>, HashMap<u32, usize>);

/// Returns the last writer of a byte.
fn last(writer: &HashMap<u32, usize>, byte: u32) -> usize {
    writer.get(&byte).copied().unwrap_or(usize::MAX)
}

/// Returns the number and the two bytes of an address at a block's end, if nothing has written
/// these since it was loaded.
fn current((words, writer): &BlockEnd, word: usize) -> Option<(u16, [u32; 2])> {
    match words.get(word)? {
        WordValue::Address(at, Some(index)) => {
            let same = index.iter().all(|&(b, by)| last(writer, b) == by);
            same.then_some((*at, index.map(|x| x.0)))
        }
        _ => None,
    }
}

/// Returns the state at a block's start: what is equal at the ends of all predecessors. Bytes that
/// have several writers count as written at the block, and so do those of addresses that are up to
/// date at all these ends.
fn at_start(
    ends: &HashMap<VBlock, BlockEnd>,
    block: VBlock,
    preds: &[VBlock],
    count: usize,
) -> BlockEnd {
    let nothing = || (vec![WordValue::Nothing; count], HashMap::new());
    let all: Option<Vec<&BlockEnd>> = preds.iter().map(|p| ends.get(p)).collect();
    let Some((first, others)) = all.as_deref().and_then(|all| all.split_first()) else {
        return nothing();
    };
    let is_address = |w: &WordValue| matches!(w, WordValue::Address(..));
    if !first.0.iter().any(is_address) {
        return nothing();
    }
    let (mut words, mut writer) = (first.0.clone(), first.1.clone());
    let here = usize::MAX - 1 - block.index();
    for (_, by) in others {
        for b in by.keys() {
            writer.entry(*b).or_insert(usize::MAX);
        }
        for (b, n) in &mut writer {
            if last(by, *b) != *n {
                *n = here;
            }
        }
    }
    for (n, word) in words.iter_mut().enumerate() {
        if others.iter().all(|o| o.0.get(n) == Some(word)) {
            continue;
        }
        let known = current(first, n).filter(|a| others.iter().all(|o| current(o, n) == Some(*a)));
        *word = known.map_or(WordValue::Nothing, |(at, bytes)| {
            WordValue::Address(at, Some(bytes.map(|b| (b, last(&writer, b)))))
        });
    }
    (words, writer)
}

/// Returns true if two loads have the same first addresses, in any words of `a0`. The second may
/// load more.
fn same_but_word(a: &MInst, b: &MInst) -> bool {
    let mut b = *b;
    if let (
        MInst::LoadAddress {
            sub: x, count: n, ..
        },
        MInst::LoadAddress {
            sub: y, count: m, ..
        },
    ) = (a, &mut b)
        && m.channels() >= n.channels()
    {
        (*y, *m) = (*x, *n);
    }
    *a == b
}

/// Records the values that a load leaves in its words.
fn set(all: &mut [WordValue], m: &MInst, alloc: &Allocation, writer: &HashMap<u32, usize>) {
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
    let by = |b: u32| (b, last(writer, b));
    for k in 0..count.channels() {
        let index = index.map(|(r, at)| {
            let at = alloc.address[r] + at + k * Type::Uw.bytes();
            [by(at), by(at + 1)]
        });
        if let Some(w) = all.get_mut(usize::from(sub) + k as usize) {
            *w = WordValue::Address(
                (base.map_or(0, |b| alloc.address[b]) + offset) as u16,
                index,
            );
        }
    }
}

/// Records the bytes of the GRF file that an instruction writes.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// An address whose index is written in both arms is there after them if it is loaded after
    /// these writes, and not if one arm writes the index again.
    #[test]
    fn an_address_is_there_after_arms_that_wrote_its_index() {
        let arm = |loaded: usize, written: usize| {
            let index = Some([(8, loaded), (9, loaded)]);
            let words = vec![WordValue::Address(64, index)];
            let writer = [(8, written), (9, loaded)];
            (words, HashMap::from(writer))
        };
        let preds = [0, 1].map(VBlock::new);
        let after = |arms: [BlockEnd; 2]| {
            let ends = preds.into_iter().zip(arms).collect();
            at_start(&ends, VBlock::new(2), &preds, 1)
        };
        let end = after([arm(3, 3), arm(5, 5)]);
        assert_eq!(current(&end, 0), Some((64, [8, 9])));
        let end = after([arm(3, 3), arm(5, 6)]);
        assert_eq!(end.0, [WordValue::Nothing]);
    }
}
