//! Executes code before and after rematerialization along random paths. Every instruction that is
//! not itself a plain computation must read the same values.

use super::remat_round;
use crate::fuzzing::Rng;
use crate::mir::liveness::liveness;
use crate::mir::{Access, MInst, VBlock, VCode, VReg, VirtReg, verify};
use crate::regalloc::verify::testgen::{Coverage, env_number, random_function};
use cranelift_entity::EntityRef;
use gantry_isa_gen::legal::geometry::element_offset;
use gantry_isa_gen::{Dst, Inst, Src};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

fn hash(x: impl Hash) -> u64 {
    let mut h = DefaultHasher::new();
    x.hash(&mut h);
    h.finish() | 1
}

/// Contents of registers by bytes. 0 is undefined.
struct Values<'a> {
    code: &'a VCode,
    of: BTreeMap<VReg, Vec<u64>>,
    /// Values that were read.
    trace: Vec<u64>,
}

/// Returns the instruction if it computes all lanes without writing a flag. Its result is then a
/// function of its sources.
fn pure(m: &MInst) -> Option<&Inst<VirtReg>> {
    let MInst::Op { inst, .. } = m else {
        return None;
    };
    let direct = matches!(inst.dst, Dst::Direct { at, .. } if at.reg.is_grf());
    let src = |s: &Src<VirtReg>| match s {
        Src::Direct { at, .. } => at.reg.is_grf(),
        Src::Imm { .. } | Src::None => true,
        _ => false,
    };
    let all = inst.no_mask && inst.pred.is_none() && inst.cond.is_none();
    (all && direct && !inst.op.has_runs() && inst.srcs.iter().all(src)).then_some(inst)
}

impl Values<'_> {
    fn bytes(&mut self, r: VReg) -> &mut Vec<u64> {
        let bytes = self.code.vregs[r].bytes as usize;
        self.of.entry(r).or_insert_with(|| vec![0; bytes])
    }

    fn compute(&mut self, inst: &Inst<VirtReg>, starts: bool) {
        let Dst::Direct { at: to, hs, ty } = inst.dst else {
            return;
        };
        let Some(dst) = to.reg.as_grf() else { return };
        let mut made = Vec::new();
        for lane in 0..inst.exec.channels() {
            let mut parts = vec![hash((inst.op as u32, ty as u32, lane, inst.sat))];
            for s in &inst.srcs {
                match *s {
                    Src::Direct {
                        at,
                        region,
                        ty,
                        mods,
                    } => {
                        let Some(r) = at.reg.as_grf() else { continue };
                        parts.push(hash(format!("{ty:?} {mods:?}")));
                        let first = element_offset(region, lane, ty.bytes()).unwrap_or(0);
                        let first = (u32::from(at.sub) + first) as usize;
                        let here = self.bytes(r);
                        let end = first + ty.bytes() as usize;
                        parts.extend((first..end).map(|k| here.get(k).copied().unwrap_or(0)));
                    }
                    Src::Imm { bits, ty } => parts.push(hash((bits, ty as u32))),
                    _ => {}
                }
            }
            made.push(hash(parts));
        }
        let here = self.bytes(dst);
        if starts {
            here.fill(0);
        }
        for (lane, token) in made.into_iter().enumerate() {
            for k in 0..ty.bytes() as usize {
                let step = usize::from(hs) * ty.bytes() as usize;
                if let Some(b) = here.get_mut(usize::from(to.sub) + lane * step + k) {
                    *b = hash((token, k));
                }
            }
        }
    }

    fn step(&mut self, m: &MInst) {
        if let (Some(inst), MInst::Op { starts, .. }) = (pure(m), m) {
            return self.compute(inst, *starts);
        }
        match *m {
            MInst::Copy { dst, src } => {
                let from = self.bytes(src).clone();
                *self.bytes(dst) = from;
            }
            MInst::Start { dst } => self.bytes(dst).fill(0),
            _ => {
                let mut all = Vec::new();
                m.for_each_vreg(|r, a| all.push((r, a)));
                let now = self.trace.len();
                for (n, &(r, a)) in all.iter().enumerate() {
                    if a != Access::Def {
                        let read = hash((n, &*self.bytes(r)));
                        self.trace.push(read);
                    }
                }
                for &(r, a) in all.iter().filter(|x| x.1 != Access::Use) {
                    for (k, b) in self.bytes(r).iter_mut().enumerate() {
                        let was = if a == Access::Def { 0 } else { *b };
                        *b = hash((now, k, was));
                    }
                }
                self.trace
                    .push(hash(format!("{:?}", std::mem::discriminant(m))));
            }
        }
    }
}

/// Returns the values read along a random path of so many blocks.
fn run_path(code: &VCode, seed: u64) -> Vec<u64> {
    let mut rng = Rng::new(seed);
    let mut values = Values {
        code,
        of: BTreeMap::new(),
        trace: Vec::new(),
    };
    for (r, data) in &code.vregs {
        if matches!(data.constraint, crate::mir::RegConstraint::Fixed(_)) {
            *values.bytes(r) = (0..data.bytes).map(|k| hash((r.index(), k))).collect();
        }
    }
    let mut block = VBlock::from_u32(0);
    for _ in 0..60 {
        code.block_insts(block).iter().for_each(|m| values.step(m));
        let Some(next) = rng.pick(&code.blocks[block].succs) else {
            break;
        };
        block = next;
    }
    values.trace
}

#[test]
fn rematerialized_values_are_equal() {
    let first = env_number("GANTRY_SEED", 1);
    let cases = env_number("GANTRY_CASES", 10_000);
    eprintln!("seeds {first} to {} (GANTRY_SEED)", first + cases - 1);
    let (mut changed, mut made, mut less) = (0, 0, 0);
    for seed in first..first + cases {
        let m = random_function(seed, &mut Coverage::default());
        let Ok(live) = liveness("k", &m.code) else {
            continue;
        };
        let peak = live.peak().1;
        let mut code = m.code.clone();
        let n = remat_round(&mut code, &live, peak / 2);
        if n == 0 {
            assert_eq!(code.insts, m.code.insts);
            continue;
        }
        assert_eq!(verify::code(&code, false), Ok(()), "seed {seed}");
        for path in 0..8 {
            let seed = seed ^ path << 40;
            assert_eq!(
                run_path(&m.code, seed),
                run_path(&code, seed),
                "seed {seed}"
            );
        }
        changed += 1;
        made += n;
        let now = liveness("k", &code).expect("it was less");
        less += u32::from(now.peak().1 < peak);
    }
    eprintln!("{changed} functions, {made} values, less at once in {less}");
    assert!(changed > cases / 300 && less > 0, "{changed}, {less}");
}
