//! Tests that demand is exact on random machine functions: nothing fits in less without spills,
//! and most fits in just that.

use super::{Coverage, env_number, random_function};
use crate::mir::liveness::liveness;
use crate::regalloc::allocate;
use crate::regalloc::grf::parts_demand::count_parts;

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
    for seed in first..first + cases {
        let m = random_function(seed, &mut Coverage::default());
        let Ok(mut live) = liveness("k", &m.code) else {
            continue;
        };
        if !live.abandoned.is_empty() || m.code.insts.len() > 400 {
            continue;
        }
        count_parts("k", &m.code, &mut live, &m.target, 0, true).unwrap();
        let grf = m.code.grf.bytes;
        let least = live.least();
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
        let need = least.div_ceil(grf);
        for less in [1, 2, 5] {
            let Some(grfs) = need.checked_sub(less).filter(|n| *n > 0) else {
                continue;
            };
            assert!(
                !fit(grfs),
                "seed {seed}: demand of {least} bytes fits in {}",
                grfs * grf
            );
            spilled += 1;
        }
        let most = m.code.grf.count.min(need + MORE);
        let Some(enough) = (need..=most).find(|n| fit(*n)) else {
            continue;
        };
        functions += 1;
        exact += u32::from(enough == need);
        asked += need;
        above += enough - need;
        whole += live.peak().1.div_ceil(grf);
        let peaks = live.demand.iter().filter(|d| d.peak() > least);
        apart += u32::from(peaks.clone().any(|d| d.apart > 0));
        reused += u32::from(peaks.clone().any(|d| d.reused > 0));
    }
    eprintln!("{spilled} files below demand; {exact} of {functions} functions fit in just theirs");
    eprintln!("{above} GRFs above {asked}, which were {whole} with registers as a whole");
    eprintln!("{apart} have parts that are dead at a peak, {reused} reuse operands there");
    assert!(spilled > 0 && exact > 0);
}
