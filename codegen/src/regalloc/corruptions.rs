//! The checker, judged: of placements that are made wrong it finds those in which a value is lost.

use super::{Allocated, Room, allocate, checker};
use crate::flags::allocate_flags;
use crate::fuzzing::{Options, Rng, module};
use crate::inline::{Inline, group};
use crate::ir::{FuncKind, Function, Module};
use crate::legalize::legalize;
use crate::liveness::{Liveness, Range, liveness};
use crate::lower::lower;
use crate::target::Target;
use crate::target::abi::Payload;
use crate::vcode::{MInst, Place, VCode, VReg, VirtReg};
use crate::{SimdCf, expand, sends};
use gantry_isa_gen::{Desc, Dst, Src};

/// A kernel up to its places, if it has a lowering and fits.
fn placed(
    module: &Module,
    func: &Function,
    target: &Target,
    grfs: u32,
) -> Option<(VCode, Liveness, Allocated)> {
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
    let live = liveness(name, &code).ok()?;
    let room = Room {
        target,
        grfs,
        scratch: payload.scratch_bytes,
    };
    let map = &mut Default::default();
    let alloc = allocate(name, code.clone(), live.clone(), room, map).ok()?;
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
    const KERNELS: usize = 60;
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
        let Some((code, live, good)) = placed(&m, func, &target, target.grf().count) else {
            continue;
        };
        // Addresses are of the same registers.
        if !good.origin.is_empty() {
            continue;
        }
        let check = |a: &Allocated| checker::check(&code, &live, a, &target);
        assert_eq!(check(&good), Ok(()), "seed {seed}");
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
            let at = good.alloc.address[old].next_multiple_of(y.align);
            let over = at < good.alloc.address[old] + x.bytes && at + y.bytes <= code.grf.size();
            if good.alloc.address[old] == good.alloc.address[new]
                || x.place != Place::Any
                || y.place != Place::Any
                || !over
                || !begins_within(&live.ranges[new], &life(&code, &live, old))
            {
                continue;
            }
            let mut bad = good.clone();
            bad.alloc.address[new] = at;
            made += 1;
            across += usize::from(!begins_within(&live.ranges[new], &live.ranges[old]));
            found += usize::from(check(&bad).is_err());
        }
    }
    eprintln!(
        "{found} of {made} wrong placements of {kernels} kernels found, {across} over what lives across a call"
    );
    assert!(made > 500 && across > 50, "{made}, {across}");
    // The rest are over bytes that nobody reads any more, or that are the same constant's.
    assert!(found * 100 >= made * 94, "{found} of {made}");
}

/// What is wrong with a new instruction.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    /// It is not there.
    Left,
    /// It is about another place of scratch.
    Slot,
    /// It is about another register.
    Place,
}

#[test]
fn a_wrong_fill_or_store_is_found() {
    const SEED: u64 = 9000;
    const KERNELS: usize = 40;
    eprintln!("seeds from {SEED}");
    let mut rng = Rng::new(SEED);
    let (mut kernels, mut made, mut found) = (0, [0; 3], [0; 3]);
    for seed in SEED.. {
        if kernels == KERNELS {
            break;
        }
        let name = rng.pick(&["bdw", "skl", "icllp"]).unwrap();
        let target = Target::from_name(name).unwrap();
        let grf = target.grf();
        let m = module(seed, &Options::runnable());
        let mut funcs = m.functions.values();
        let Some(func) = funcs.find(|f| matches!(f.kind, FuncKind::Kernel { .. })) else {
            continue;
        };
        let Some((code, live, good)) = placed(&m, func, &target, 24) else {
            continue;
        };
        let check = |a: &Allocated| checker::check(&code, &live, a, &target);
        assert_eq!(check(&good), Ok(()), "seed {seed}");
        let sends: Vec<usize> = (0..good.origin.len())
            .filter(|&i| {
                let message =
                    matches!(&good.code.insts[i], MInst::Op { inst, .. } if inst.send.is_some());
                good.origin[i] == u32::MAX && message
            })
            .collect();
        if sends.is_empty() {
            continue;
        }
        kernels += 1;
        for n in 0..60 {
            let Some(i) = rng.pick(&sends) else { continue };
            let mut bad = good.clone();
            let kind = [Wrong::Left, Wrong::Slot, Wrong::Place][n % 3];
            match (kind, &mut bad.code.insts[i]) {
                (Wrong::Left, m) => {
                    let dst = VReg::from_u32(0);
                    *m = MInst::Start { dst };
                }
                (Wrong::Slot, MInst::Op { inst, .. }) => {
                    if let Some(Desc::Imm(desc)) = inst.send.as_mut().map(|s| &mut s.desc) {
                        *desc ^= 2;
                    }
                }
                (Wrong::Place, MInst::Op { inst, .. }) => {
                    let data = match (&mut inst.dst, &mut inst.srcs) {
                        (Dst::Direct { at, .. }, _) if at.reg != VirtReg::NULL => at,
                        (_, [_, Src::Direct { at, .. }, _]) => at,
                        _ => continue,
                    };
                    let VirtReg::Grf(r) = data.reg else { continue };
                    let bytes = good.code.vregs[r].bytes;
                    let at = (good.alloc.address[r] + grf.bytes * (1 + rng.below(20))) % grf.size();
                    if at + bytes > grf.size() {
                        continue;
                    }
                    let new = bad.code.vregs.push(good.code.vregs[r]);
                    bad.alloc.address[new] = at;
                    data.reg = VirtReg::Grf(new);
                }
                _ => continue,
            }
            made[kind as usize] += 1;
            found[kind as usize] += usize::from(check(&bad).is_err());
        }
    }
    eprintln!(
        "left out, at another slot, of another register: {found:?} of {made:?} found, {kernels} kernels"
    );
    for (found, made) in found.into_iter().zip(made) {
        // The rest are of values that are stored, and read nowhere after all.
        assert!(made > 300 && found * 100 >= made * 94, "{found} of {made}");
    }
}
