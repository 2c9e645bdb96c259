//! Tests liveness and demand on random machine functions against their definition: sets of live
//! registers per point, computed by data flow over the blocks.

use super::env_number;
use super::generate::random_function;
use super::seen::Coverage;
use crate::mir::liveness::{Liveness, Occurrences, liveness};
use crate::mir::{Access, MInst, VBlock, VCode, VReg};
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::Dst;
use std::collections::BTreeSet;

type RegSet = BTreeSet<VReg>;

/// Live registers before an instruction reads, between its reads and writes, and after it.
struct LivePoints {
    before: RegSet,
    reading: RegSet,
    writing: RegSet,
    after: RegSet,
}

/// Returns true if an instruction writes more than a GRF, so that its first half writes before its
/// second one reads.
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

fn points(code: &VCode, m: &MInst, after: &RegSet) -> LivePoints {
    let of = |wanted: &dyn Fn(Access) -> bool| {
        let mut out = RegSet::new();
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
    let before: RegSet = after.difference(&begun).chain(&read).copied().collect();
    let mut reading = before.clone();
    if early(code, m) {
        reading.extend(&begun);
    }
    LivePoints {
        reading,
        writing: after.union(&written).copied().collect(),
        before,
        after: after.clone(),
    }
}

/// Computes the live registers at the end of each block.
fn live_outs(code: &VCode) -> SecondaryMap<VBlock, RegSet> {
    let mut ins: SecondaryMap<VBlock, RegSet> = SecondaryMap::new();
    let mut outs: SecondaryMap<VBlock, RegSet> = SecondaryMap::new();
    let mut again = true;
    while again {
        again = false;
        for (b, data) in code.blocks.iter().rev() {
            let mut live = RegSet::new();
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

/// Compares liveness with its definition. Returns the number of instructions compared.
fn check_liveness(code: &VCode, live: &Liveness) -> Result<usize, String> {
    let outs = live_outs(code);
    let occurrences = Occurrences::new(code);
    let bytes = |set: &RegSet| set.iter().map(|r| code.vregs[*r].bytes).sum::<u32>();
    let kills: BTreeSet<(u32, VReg)> = live.kills().into_iter().collect();
    let mut looked = 0;
    for (b, data) in &code.blocks {
        let mut after = outs[b].clone();
        for i in (data.start..data.end).rev() {
            let at = LivePoints::of(code, i, &after);
            let say = |what: &str| format!("{what} of instruction {i} (`{}`)", code.insts[i]);
            let mut begun = RegSet::new();
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
                // Killed: read here, and dead or redefined after it.
                let gone = begun.contains(&r) || !at.writing.contains(&r);
                let killed = at.before.contains(&r) && gone;
                if kills.contains(&(i as u32, r)) != killed {
                    return Err(say(&format!("{r} among the killed")));
                }
            }
            // Registers that are live before and after and are not redefined here. Together with
            // those that die or start here they are all.
            let d = live.demand[i];
            let stays: RegSet = at.before.intersection(&at.writing).copied().collect();
            let through: RegSet = stays.difference(&begun).copied().collect();
            // A result without reads that is redefined before the next instruction has read stays
            // in `left`.
            let mut left = at.after.clone();
            if i + 1 < data.end {
                let next = points(code, &code.insts[i + 1], &RegSet::new()).reading;
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
            after = at.before;
        }
        // Live in: read before any write, or live through.
        for r in code.vregs.keys() {
            let is = live.lives_into(&occurrences, r, data.start as u32);
            if is != after.contains(&r) && data.start < data.end {
                return Err(format!("{r} at the start of {b}"));
            }
        }
    }
    Ok(looked)
}

impl LivePoints {
    fn of(code: &VCode, i: usize, after: &RegSet) -> LivePoints {
        points(code, &code.insts[i], after)
    }
}

#[test]
fn liveness_matches_its_definition() {
    let first = env_number("GANTRY_SEED", 1);
    let cases = env_number("GANTRY_CASES", 600);
    eprintln!(
        "seeds {first} to {} (GANTRY_SEED, GANTRY_CASES)",
        first + cases - 1
    );
    let (mut functions, mut looked) = (0, 0);
    for seed in first..first + cases {
        let m = random_function(seed, &mut Coverage::default());
        // Liveness covers each routine separately.
        if !m.code.calls().is_empty() || m.code.insts.len() > 300 {
            continue;
        }
        let Ok(live) = liveness("k", &m.code) else {
            continue;
        };
        if !live.abandoned.is_empty() {
            continue;
        }
        match check_liveness(&m.code, &live) {
            Ok(n) => looked += n,
            Err(e) => panic!("seed {seed}: {e}\n{}", m.code),
        }
        functions += 1;
    }
    eprintln!("{functions} functions, {looked} instructions");
    assert!(functions * 4 > cases);
}
