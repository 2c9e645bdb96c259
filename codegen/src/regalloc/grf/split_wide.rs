//! Wide registers that no instruction needs in one piece become several: each piece lives as long
//! as its own bytes are wanted, finds a place of its own, and is spilled alone.
//!
//! A joint is what two neighbouring GRFs of a register have between them. It is glued where an
//! instruction reads or writes across it; a copy of a whole register glues what the other side has
//! glued. At the other joints the register falls apart.

use crate::mir::insert::{Inserted, insert_into};
use crate::mir::spans::Spans;
use crate::mir::{Access, MInst, Place, VCode, VReg, VRegData, VirtReg};
use crate::sized;
use crate::target::Target;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{Dst, Src};
use std::collections::BTreeMap;

/// The joints of all registers, in classes that are glued together or not at all.
struct Joints {
    /// Where a register's begin, from 1; 0 for registers that stay whole.
    first: SecondaryMap<VReg, u32>,
    up: Vec<u32>,
    glued: Vec<bool>,
}

impl Joints {
    fn root(&mut self, n: u32) -> u32 {
        let mut at = n;
        while self.up[at as usize] != at {
            self.up[at as usize] = self.up[self.up[at as usize] as usize];
            at = self.up[at as usize];
        }
        at
    }

    fn glue(&mut self, r: VReg, joints: std::ops::Range<u32>) {
        let first = self.first[r];
        if first == 0 {
            return;
        }
        for n in joints {
            let root = self.root(first - 1 + n);
            self.glued[root as usize] = true;
        }
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.up[b as usize] = a;
            self.glued[a as usize] |= self.glued[b as usize];
        }
    }

    fn is_glued(&mut self, r: VReg, n: u32) -> bool {
        let root = self.root(self.first[r] - 1 + n);
        self.glued[root as usize]
    }
}

/// A piece of a register.
#[derive(Clone, Copy)]
struct Piece {
    /// Its first byte in the register.
    start: u32,
    reg: VReg,
}

/// The pieces of those registers that fell apart.
struct Pieces {
    list: Vec<Piece>,
    /// Per register where its own begin and end.
    of: SecondaryMap<VReg, (u32, u32)>,
}

impl Pieces {
    fn of(&self, r: VReg) -> &[Piece] {
        let (first, end) = self.of[r];
        let own = self.list.get(first as usize..end as usize);
        own.unwrap_or(&[])
    }
}

fn piece(pieces: &[Piece], sub: u16) -> Option<Piece> {
    let n = pieces.partition_point(|p| p.start <= u32::from(sub));
    pieces.get(n.checked_sub(1)?).copied()
}

/// Splits those registers that are wanted so into pieces; whether any fell apart.
pub(crate) fn split(
    code: &mut VCode,
    origin: &mut Vec<u32>,
    target: &Target,
    wanted: impl Fn(VReg) -> bool,
) -> bool {
    let grf = code.grf;
    let mut joints = Joints {
        first: sized(code.vregs.len()),
        up: Vec::new(),
        glued: Vec::new(),
    };
    for (r, data) in &code.vregs {
        let n = grf.hold(data.bytes);
        if n > 1 && data.place == Place::Any && data.align >= grf.bytes && wanted(r) {
            let first = joints.up.len() as u32;
            joints.first[r] = first + 1;
            joints.up.extend(first..first + n - 1);
        }
    }
    joints.glued = vec![false; joints.up.len()];
    if joints.up.is_empty() {
        return false;
    }
    let spans = Spans {
        platform: target.platform(),
        grf: grf.bytes,
        size: |r: VReg| code.vregs[r].bytes,
    };
    for m in &code.insts {
        match *m {
            MInst::Copy { dst, src } => {
                let n = grf.hold(code.vregs[dst].bytes) - 1;
                let (a, b) = (joints.first[dst], joints.first[src]);
                match (a, b) {
                    (0, _) => joints.glue(src, 0..n),
                    (_, 0) => joints.glue(dst, 0..n),
                    _ => (0..n).for_each(|j| joints.join(a - 1 + j, b - 1 + j)),
                }
            }
            MInst::Start { .. } => {}
            _ => {
                let mut any = false;
                m.for_each_vreg(|r, _| any |= joints.first[r] != 0);
                if any {
                    spans.each(m, |r, bytes, _| {
                        if bytes.end > bytes.start {
                            joints.glue(r, grf.of(bytes.start)..grf.of(bytes.end - 1));
                        }
                    });
                }
            }
        }
    }
    let mut pieces = Pieces {
        list: Vec::new(),
        of: sized(code.vregs.len()),
    };
    for n in 0..code.vregs.len() as u32 {
        let r = VReg::from_u32(n);
        if joints.first[r] == 0 {
            continue;
        }
        let data = code.vregs[r];
        let first = pieces.list.len() as u32;
        let mut start = 0;
        for n in 1..=grf.hold(data.bytes) {
            let end = (n * grf.bytes).min(data.bytes);
            if end < data.bytes && joints.is_glued(r, n - 1) || end - start == data.bytes {
                continue;
            }
            let data = VRegData {
                bytes: end - start,
                ..data
            };
            let reg = match start {
                0 => {
                    code.vregs[r] = data;
                    r
                }
                _ => code.vregs.push(data),
            };
            pieces.list.push(Piece { start, reg });
            start = end;
        }
        pieces.of[r] = (first, pieces.list.len() as u32);
    }
    let any = !pieces.list.is_empty();
    if any {
        rewrite(code, origin, &pieces);
    }
    any
}

/// Pieces that began when another piece of their register was written, and were not written
/// themselves yet: where that was. A piece's value begins with its first write, or, if that is not
/// in the same block, there.
type Waiting = BTreeMap<VReg, usize>;

fn rewrite(code: &mut VCode, origin: &mut Vec<u32>, pieces: &Pieces) {
    let mut new: Vec<Inserted> = Vec::new();
    let mut waiting = Waiting::new();
    let begin = |new: &mut Vec<Inserted>, reg: VReg, at: usize| {
        let inst = MInst::Start { dst: reg };
        let after = true;
        new.push(Inserted { at, after, inst });
    };
    for block in code.blocks.values() {
        for i in block.start..block.end {
            let Some(m) = code.insts.get_mut(i) else {
                continue;
            };
            match m {
                MInst::Copy { dst, src } => {
                    for p in pieces.of(*src) {
                        if let Some(at) = waiting.remove(&p.reg) {
                            begin(&mut new, p.reg, at);
                        }
                    }
                    pieces.of(*dst).iter().for_each(|p| {
                        waiting.remove(&p.reg);
                    });
                    for (to, from) in pieces.of(*dst).iter().zip(pieces.of(*src)).skip(1) {
                        let (dst, src) = (to.reg, from.reg);
                        new.push(Inserted {
                            at: i + 1,
                            after: true,
                            inst: MInst::Copy { dst, src },
                        });
                    }
                }
                MInst::Start { dst } => {
                    let others = pieces.of(*dst).iter().skip(1);
                    waiting.extend(others.map(|p| (p.reg, i + 1)));
                }
                MInst::Op { inst, starts, .. } => {
                    for s in &mut inst.srcs {
                        if let Src::Direct { at, .. } = s
                            && let Some(r) = at.reg.as_grf()
                            && let Some(p) = piece(pieces.of(r), at.sub)
                        {
                            at.reg = VirtReg::grf(p.reg);
                            at.sub -= p.start as u16;
                            if let Some(at) = waiting.remove(&p.reg) {
                                begin(&mut new, p.reg, at);
                            }
                        }
                    }
                    if let Dst::Direct { at, .. } = &mut inst.dst
                        && let Some(r) = at.reg.as_grf()
                        && let Some(p) = piece(pieces.of(r), at.sub)
                    {
                        at.reg = VirtReg::grf(p.reg);
                        at.sub -= p.start as u16;
                        if *starts {
                            let others = pieces.of(r).iter().filter(|o| o.reg != p.reg);
                            waiting.extend(others.map(|o| (o.reg, i + 1)));
                        }
                        *starts |= waiting.remove(&p.reg).is_some();
                    }
                }
                _ => m.for_each_vreg(|r, a| {
                    debug_assert!(pieces.of(r).is_empty() || a == Access::Use);
                }),
            }
        }
        for (reg, at) in std::mem::take(&mut waiting) {
            begin(&mut new, reg, at);
        }
    }
    // Those that begin where nothing was written yet.
    new.sort_by_key(|n| n.at);
    insert_into(code, new, origin);
    let labels: Vec<(String, VReg)> = code
        .labels
        .iter()
        .flat_map(|(name, r)| {
            let rest = pieces.of(*r).iter().skip(1);
            rest.map(move |p| (name.clone(), p.reg))
        })
        .collect();
    code.labels.extend(labels);
}
