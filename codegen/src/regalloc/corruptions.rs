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
    let (mut made, mut found, mut kernels) = (0, 0, 0);
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
        for _ in 0..500 {
            let pick = |rng: &mut Rng| VReg::from_u32(rng.below(code.vregs.len() as u32));
            let (old, new) = (pick(&mut rng), pick(&mut rng));
            let (x, y) = (&code.vregs[old], &code.vregs[new]);
            let at = good.address[old].next_multiple_of(y.align);
            let over = at < good.address[old] + x.bytes && at + y.bytes <= code.grf.size();
            if good.address[old] == good.address[new]
                || x.place != Place::Any
                || y.place != Place::Any
                || !over
                || !begins_within(&live.ranges[new], &live.ranges[old])
            {
                continue;
            }
            let mut bad = good.clone();
            bad.address[new] = at;
            made += 1;
            found += usize::from(checker::check(&code, &bad).is_err());
        }
    }
    eprintln!("{found} of {made} wrong placements of {kernels} kernels found");
    assert!(made > 100, "{made}");
    // The rest are over bytes that nobody reads any more.
    assert!(found * 100 >= made * 95, "{found} of {made}");
}
