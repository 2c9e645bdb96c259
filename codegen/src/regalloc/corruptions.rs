//! The checker, judged: of placements that are made wrong it finds those in which a value is lost.

use super::{Allocation, allocate, checker};
use crate::flags::allocate_flags;
use crate::fuzzing::{Options, Rng, module};
use crate::inline::{Inline, group};
use crate::ir::{FuncKind, Function, Module};
use crate::legalize::legalize;
use crate::liveness::{Liveness, Range, liveness};
use crate::lower::lower;
use crate::target::Target;
use crate::target::abi::Payload;
use crate::vcode::{Place, VCode, VReg};
use crate::{SimdCf, expand, sends};

/// A kernel up to its places, if it has a lowering and fits.
fn placed(
    module: &Module,
    func: &Function,
    target: &Target,
) -> Option<(VCode, Liveness, Allocation)> {
    let (name, file) = (func.name.as_str(), target.grf().size());
    let float = func.float_controls();
    let group = group(module, func, Inline::Never).ok()?;
    let group = group
        .map(|f| expand::expand(module, f, float, target))
        .ok()?;
    let payload = Payload::of(&group.kernel, group.functions(), target).ok()?;
    let (lowered, _) = lower(&group, target, &payload, SimdCf::Auto).ok()?;
    let lowered = sends::expand(name, lowered, target).ok()?;
    let code = legalize(name, lowered, target, Vec::new()).ok()?;
    let code = allocate_flags(name, code, file, &mut Default::default()).ok()?;
    let live = liveness(name, &code, file).ok()?;
    let alloc = allocate(name, &code, &live, &mut Default::default()).ok()?;
    Some((code, live, alloc))
}

/// When a value lives: where it is named, and while routines run that know nothing of it.
fn life(code: &VCode, live: &Liveness, r: VReg) -> Vec<Range> {
    let bodies = live.weak[r].iter().map(|&routine| {
        let insts = code.routine_insts(routine);
        Range {
            start: insts.start as u32 * 2,
            end: insts.end as u32 * 2,
        }
    });
    live.ranges[r].iter().copied().chain(bodies).collect()
}

/// Whether a value begins while another lives, which is read later.
fn begins_within(new: &[Range], old: &[Range]) -> bool {
    new.iter()
        .any(|n| old.iter().any(|o| o.start < n.start && n.start + 1 < o.end))
}

#[test]
fn a_value_put_over_another_is_found() {
    const SEED: u64 = 7000;
    const KERNELS: usize = 150;
    eprintln!("seeds from {SEED}");
    let target = Target::from_name("skl").unwrap();
    let mut rng = Rng::new(SEED);
    let (mut made, mut found, mut kernels, mut across) = (0, 0, 0, 0);
    for seed in SEED.. {
        if kernels == KERNELS {
            break;
        }
        let m = module(seed, &Options::runnable());
        let mut funcs = m.functions.values();
        let Some(func) = funcs.find(|f| matches!(f.kind, FuncKind::Kernel { .. })) else {
            continue;
        };
        let Some((code, live, good)) = placed(&m, func, &target) else {
            continue;
        };
        assert_eq!(checker::check(&code, &good), Ok(()), "seed {seed}");
        kernels += 1;
        let all: Vec<VReg> = code.vregs.keys().collect();
        let kept: Vec<VReg> = all
            .iter()
            .copied()
            .filter(|r| !live.weak[*r].is_empty())
            .collect();
        for n in 0..500 {
            // Every other time what lives across a call, where there is some.
            let from = if n % 2 == 0 { &all } else { &kept };
            let (Some(old), Some(new)) = (rng.pick(from), rng.pick(&all)) else {
                continue;
            };
            let (x, y) = (&code.vregs[old], &code.vregs[new]);
            let at = good.address[old].next_multiple_of(y.align);
            let over = at < good.address[old] + x.bytes && at + y.bytes <= code.grf.size();
            if good.address[old] == good.address[new]
                || x.place != Place::Any
                || y.place != Place::Any
                || !over
                || !begins_within(&live.ranges[new], &life(&code, &live, old))
            {
                continue;
            }
            let mut bad = good.clone();
            bad.address[new] = at;
            made += 1;
            across += usize::from(!begins_within(&live.ranges[new], &live.ranges[old]));
            found += usize::from(checker::check(&code, &bad).is_err());
        }
    }
    eprintln!(
        "{found} of {made} wrong placements of {kernels} kernels found, {across} over what lives across a call"
    );
    assert!(made > 500 && across > 50, "{made}, {across}");
    // The rest are over bytes that nobody reads any more.
    assert!(found * 100 >= made * 95, "{found} of {made}");
}
