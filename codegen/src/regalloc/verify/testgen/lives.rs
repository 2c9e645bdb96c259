//! Liveness and demand, judged on random machine functions by what they mean: sets of registers per
//! point, by data flow over the blocks.

use super::generate::machine;
use super::number;
use super::seen::Seen;
use crate::mir::liveness::{Liveness, Occurrences, liveness};
use crate::mir::{Access, MInst, VBlock, VCode, VReg};
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::Dst;
use std::collections::BTreeSet;

type Set = BTreeSet<VReg>;

/// What lives before an instruction reads, while it has read and writes, and behind it.
struct Points {
    before: Set,
    reading: Set,
    writing: Set,
    behind: Set,
}

/// Whether an instruction writes over more than a GRF, its first half before its second one reads.
fn early(code: &VCode, m: &MInst) -> bool {
    match m {
        MInst::Op { inst, .. } if inst.op.is_systolic() => true,
        MInst::Op { inst, .. } if !inst.op.is_send() => match inst.dst {
            Dst::Direct { hs, ty, .. } => {
                inst.exec.channels() * u32::from(hs) * ty.bytes() > code.grf.bytes
            }
            _ => false,
        },
        _ => false,
    }
}

fn points(code: &VCode, m: &MInst, behind: &Set) -> Points {
    let of = |wanted: &dyn Fn(Access) -> bool| {
        let mut out = Set::new();
        m.for_each_vreg(|r, a| {
            if wanted(a) {
                out.insert(r);
            }
        });
        out
    };
    let begun = of(&|a| a == Access::Def);
    let read = of(&|a| a != Access::Def);
    let written = of(&|a| a != Access::Use);
    let before: Set = behind.difference(&begun).chain(&read).copied().collect();
    let mut reading = before.clone();
    if early(code, m) {
        reading.extend(&begun);
    }
    Points {
        reading,
        writing: behind.union(&written).copied().collect(),
        before,
        behind: behind.clone(),
    }
}

/// What lives at the end of each block.
fn live_outs(code: &VCode) -> SecondaryMap<VBlock, Set> {
    let mut ins: SecondaryMap<VBlock, Set> = SecondaryMap::new();
    let mut outs: SecondaryMap<VBlock, Set> = SecondaryMap::new();
    let mut again = true;
    while again {
        again = false;
        for (b, data) in code.blocks.iter().rev() {
            let mut live = Set::new();
            for s in &data.succs {
                live.extend(&ins[*s]);
            }
            outs[b] = live.clone();
            for m in code.block_insts(b).iter().rev() {
                live = points(code, m, &live).before;
            }
            again |= live != ins[b];
            ins[b] = live;
        }
    }
    outs
}

/// Compares liveness with what it means; instructions that were looked at.
fn judge(code: &VCode, live: &Liveness) -> Result<usize, String> {
    let outs = live_outs(code);
    let occurrences = Occurrences::new(code);
    let bytes = |set: &Set| set.iter().map(|r| code.vregs[*r].bytes).sum::<u32>();
    let kills: BTreeSet<(u32, VReg)> = live.kills().into_iter().collect();
    let mut looked = 0;
    for (b, data) in &code.blocks {
        let mut behind = outs[b].clone();
        for i in (data.start..data.end).rev() {
            let at = Points::of(code, i, &behind);
            let say = |what: &str| format!("{what} of instruction {i} (`{}`)", code.insts[i]);
            let mut begun = Set::new();
            code.insts[i].for_each_vreg(|r, a| {
                if a == Access::Def {
                    begun.insert(r);
                }
            });
            for r in code.vregs.keys() {
                let point = i as u32 * 2;
                if live.lives_at(r, point) != at.reading.contains(&r) {
                    return Err(say(&format!("{r} among the reads")));
                }
                if live.lives_at(r, point + 1) != at.writing.contains(&r) {
                    return Err(say(&format!("{r} among the writes")));
                }
                // Killed: read, and behind it not there, or begun anew.
                let gone = begun.contains(&r) || !at.writing.contains(&r);
                let killed = at.before.contains(&r) && gone;
                if kills.contains(&(i as u32, r)) != killed {
                    return Err(say(&format!("{r} among the killed")));
                }
            }
            // What goes through is what is there before and behind and was not begun anew; with
            // what dies or is begun here it is all there is.
            let d = live.demand[i];
            let stays: Set = at.before.intersection(&at.writing).copied().collect();
            let through: Set = stays.difference(&begun).copied().collect();
            // What dies written and unread, and is begun again before the next instruction has
            // read, never leaves.
            let mut left = at.behind.clone();
            if i + 1 < data.end {
                let next = points(code, &code.insts[i + 1], &Set::new()).reading;
                left.extend(
                    at.writing
                        .intersection(&next)
                        .filter(|r| live.lives_at(**r, i as u32 * 2 + 2)),
                );
            }
            let stages = [
                ("before", d.before, bytes(&at.reading)),
                ("after", d.after, bytes(&at.writing)),
                ("left", d.left, bytes(&left)),
            ];
            for (name, is, should) in stages {
                if is != should {
                    return Err(say(&format!("{name}: {is} bytes, not {should},")));
                }
            }
            if d.during < bytes(&through) || d.during > d.before.min(d.after) {
                return Err(say(&format!("during: {} bytes", d.during)));
            }
            if d.peak() != d.before.max(d.after) || d.left > d.after {
                return Err(say("the peak"));
            }
            looked += 1;
            behind = at.before;
        }
        // Live in: what is read before it is written, or goes through.
        for r in code.vregs.keys() {
            let is = live.lives_into(&occurrences, r, data.start as u32);
            if is != behind.contains(&r) && data.start < data.end {
                return Err(format!("{r} at the start of {b}"));
            }
        }
    }
    Ok(looked)
}

impl Points {
    fn of(code: &VCode, i: usize, behind: &Set) -> Points {
        points(code, &code.insts[i], behind)
    }
}

#[test]
fn liveness_is_what_it_means() {
    let first = number("GANTRY_SEED", 1);
    let cases = number("GANTRY_CASES", 600);
    eprintln!(
        "seeds {first} to {} (GANTRY_SEED, GANTRY_CASES)",
        first + cases - 1
    );
    let (mut functions, mut looked) = (0, 0);
    for seed in first..first + cases {
        let m = machine(seed, &mut Seen::default());
        // Of routines each is known alone.
        if !m.code.calls().is_empty() || m.code.insts.len() > 300 {
            continue;
        }
        let Ok(live) = liveness("k", &m.code) else {
            continue;
        };
        if !live.abandoned.is_empty() {
            continue;
        }
        match judge(&m.code, &live) {
            Ok(n) => looked += n,
            Err(e) => panic!("seed {seed}: {e}\n{}", m.code),
        }
        functions += 1;
    }
    eprintln!("{functions} functions, {looked} instructions");
    assert!(functions * 4 > cases);
}
