//! Splits wide registers that no instruction needs as a whole. Each piece is live only while its
//! own bytes are needed, has a place of its own, and is spilled alone.
//!
//! A boundary lies between two adjacent GRFs of a register. It is spanned if an instruction
//! accesses bytes on both sides. A copy of a whole register spans the boundaries that are spanned
//! on its other side. The register is split at all other boundaries.

use crate::mir::insert::{Inserted, insert_into};
use crate::mir::spans::Spans;
use crate::mir::{Access, MInst, Place, VCode, VReg, VRegData, VirtReg};
use crate::sized;
use crate::target::Target;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{Dst, Src};
use std::collections::BTreeMap;

/// Boundaries of all registers, in classes that are all spanned or all not.
struct Boundaries {
    /// Number plus one of a register's first boundary. 0 for registers that stay whole.
    first: SecondaryMap<VReg, u32>,
    parent: Vec<u32>,
    spanned: Vec<bool>,
}

impl Boundaries {
    fn root(&mut self, n: u32) -> u32 {
        let mut at = n;
        while self.parent[at as usize] != at {
            self.parent[at as usize] = self.parent[self.parent[at as usize] as usize];
            at = self.parent[at as usize];
        }
        at
    }

    fn span(&mut self, r: VReg, boundaries: std::ops::Range<u32>) {
        let first = self.first[r];
        if first == 0 {
            return;
        }
        for n in boundaries {
            let root = self.root(first - 1 + n);
            self.spanned[root as usize] = true;
        }
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parent[b as usize] = a;
            self.spanned[a as usize] |= self.spanned[b as usize];
        }
    }

    fn is_spanned(&mut self, r: VReg, n: u32) -> bool {
        let root = self.root(self.first[r] - 1 + n);
        self.spanned[root as usize]
    }
}

/// Piece of a register.
#[derive(Clone, Copy)]
struct Piece {
    /// First byte in the original register.
    start: u32,
    reg: VReg,
}

/// Pieces of all registers that were split.
struct Pieces {
    list: Vec<Piece>,
    /// Start and end in `list` of each register's pieces.
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

/// Splits the registers selected by `wanted` into pieces. Returns true if any register was split.
pub(crate) fn split(
    code: &mut VCode,
    origin: &mut Vec<u32>,
    target: &Target,
    wanted: impl Fn(VReg) -> bool,
) -> bool {
    let grf = code.grf;
    let mut boundaries = Boundaries {
        first: sized(code.vregs.len()),
        parent: Vec::new(),
        spanned: Vec::new(),
    };
    for (r, data) in &code.vregs {
        let n = grf.hold(data.bytes);
        if n > 1 && data.place == Place::Any && data.align >= grf.bytes && wanted(r) {
            let first = boundaries.parent.len() as u32;
            boundaries.first[r] = first + 1;
            boundaries.parent.extend(first..first + n - 1);
        }
    }
    boundaries.spanned = vec![false; boundaries.parent.len()];
    if boundaries.parent.is_empty() {
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
                let (a, b) = (boundaries.first[dst], boundaries.first[src]);
                match (a, b) {
                    (0, _) => boundaries.span(src, 0..n),
                    (_, 0) => boundaries.span(dst, 0..n),
                    _ => (0..n).for_each(|j| boundaries.join(a - 1 + j, b - 1 + j)),
                }
            }
            MInst::Start { .. } => {}
            _ => {
                let mut any = false;
                m.for_each_vreg(|r, _| any |= boundaries.first[r] != 0);
                if any {
                    spans.each(m, |r, bytes, _| {
                        if bytes.end > bytes.start {
                            boundaries.span(r, grf.of(bytes.start)..grf.of(bytes.end - 1));
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
        if boundaries.first[r] == 0 {
            continue;
        }
        let data = code.vregs[r];
        let first = pieces.list.len() as u32;
        let mut start = 0;
        for n in 1..=grf.hold(data.bytes) {
            let end = (n * grf.bytes).min(data.bytes);
            if end < data.bytes && boundaries.is_spanned(r, n - 1) || end - start == data.bytes {
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

/// Pieces that start with a write to another piece of their register, and are not written yet, with
/// the instruction index of that write. The live range of a piece starts at its first write, or, if
/// that is in another block, at that index.
type UnwrittenPieces = BTreeMap<VReg, usize>;

fn rewrite(code: &mut VCode, origin: &mut Vec<u32>, pieces: &Pieces) {
    let mut new: Vec<Inserted> = Vec::new();
    let mut unwritten = UnwrittenPieces::new();
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
                        if let Some(at) = unwritten.remove(&p.reg) {
                            begin(&mut new, p.reg, at);
                        }
                    }
                    pieces.of(*dst).iter().for_each(|p| {
                        unwritten.remove(&p.reg);
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
                    unwritten.extend(others.map(|p| (p.reg, i + 1)));
                }
                MInst::Op { inst, starts, .. } => {
                    for s in &mut inst.srcs {
                        if let Src::Direct { at, .. } = s
                            && let Some(r) = at.reg.as_grf()
                            && let Some(p) = piece(pieces.of(r), at.sub)
                        {
                            at.reg = VirtReg::grf(p.reg);
                            at.sub -= p.start as u16;
                            if let Some(at) = unwritten.remove(&p.reg) {
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
                            unwritten.extend(others.map(|o| (o.reg, i + 1)));
                        }
                        *starts |= unwritten.remove(&p.reg).is_some();
                    }
                }
                _ => m.for_each_vreg(|r, a| {
                    debug_assert!(pieces.of(r).is_empty() || a == Access::Use);
                }),
            }
        }
        for (reg, at) in std::mem::take(&mut unwritten) {
            begin(&mut new, reg, at);
        }
    }
    // Pieces that start before any of their bytes is written.
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
