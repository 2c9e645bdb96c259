//! Tests that demand is exact on random machine functions: nothing fits in a file of less, from 4/5
//! of the peak on, without spills, and most fits in just that.

use super::{Coverage, env_number, random_function};
use crate::mir::liveness::liveness;
use crate::regalloc::allocate;
use crate::regalloc::grf::parts_demand::{count_parts, is_near};

/// GRFs above demand that are tried.
const MORE: u32 = 8;

#[test]
fn nothing_fits_in_less_than_its_demand() {
    let first = env_number("GANTRY_SEED", 1);
    let cases = env_number("GANTRY_CASES", 600);
    eprintln!(
        "seeds {first} to {} (GANTRY_SEED, GANTRY_CASES)",
        first + cases - 1
    );
    let (mut spilled, mut exact, mut functions) = (0, 0, 0);
    // GRFs of all demands, those above them that functions need, and the same without stages 5
    // and 6.
    let (mut asked, mut above, mut whole) = (0, 0, 0);
    // Functions that have bytes apart at their peak, and operands whose places results take.
    let (mut apart, mut reused) = (0, 0);
    let mut bad = Vec::new();
    // Files below 4/5 of the peak that hold a function. Copies are not joined there, so a value
    // that only copies read counts.
    let mut far = 0;
    for seed in first..first + cases {
        let m = random_function(seed, &mut Coverage::default());
        let Ok(live) = liveness("k", &m.code) else {
            continue;
        };
        if !live.abandoned.is_empty() || m.code.insts.len() > 400 {
            continue;
        }
        let grf = m.code.grf.bytes;
        // Stages 5 and 6 are those of one file: what allocation changes depends on its size.
        let counted = |grfs: u32| {
            let mut live = live.clone();
            count_parts("k", &m.code, &mut live, &m.target, grfs * grf, true).unwrap();
            live
        };
        let fit = |grfs: u32| {
            let env = crate::regalloc::AllocEnv {
                grfs,
                ..m.alloc_env()
            };
            let done = allocate(
                "k",
                m.code.clone(),
                live.clone(),
                env,
                &mut Default::default(),
            );
            done.is_ok_and(|a| a.spilled.is_empty())
        };
        let holds = |grfs: u32| counted(grfs).least() <= grfs * grf;
        let all = live.peak().1.div_ceil(grf);
        let need = (1..all).rev().find(|n| !holds(*n)).unwrap_or(0) + 1;
        for less in [1, 2, 5] {
            let Some(grfs) = need.checked_sub(less).filter(|n| *n > 0) else {
                continue;
            };
            let (least, file) = (counted(grfs).least(), grfs * grf);
            if least <= file {
                continue;
            }
            if !is_near(&live, file) {
                far += u32::from(fit(grfs));
                continue;
            }
            spilled += 1;
            if fit(grfs) {
                bad.push(format!(
                    "seed {seed}: demand of {least} bytes fits in {file}"
                ));
            }
        }
        let most = m.code.grf.count.min(need + MORE);
        let Some(enough) = (need..=most).find(|n| fit(*n)) else {
            continue;
        };
        functions += 1;
        exact += u32::from(enough == need);
        asked += need;
        above += enough - need;
        whole += all;
        let counted = counted(need);
        let peaks = counted.demand.iter().filter(|d| d.peak() > need * grf);
        apart += u32::from(peaks.clone().any(|d| d.apart > 0));
        reused += u32::from(peaks.clone().any(|d| d.reused > 0));
    }
    eprintln!("{spilled} files below demand; {exact} of {functions} functions fit in just theirs");
    eprintln!("{above} GRFs above {asked}, which were {whole} with registers as a whole");
    eprintln!("{apart} have parts that are dead at a peak, {reused} reuse operands there");
    eprintln!("{far} files far below demand hold all the same");
    assert!(bad.is_empty(), "{bad:#?}");
    if cases >= 600 {
        assert!(spilled > 0 && exact > 0 && apart > 0 && reused > 0);
    }
}
