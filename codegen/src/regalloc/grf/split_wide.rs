//! Splits wide registers that no instruction needs as a whole. Each piece is live only while its
//! own bytes are needed, has a place of its own, and is spilled alone.
//!
//! A boundary lies between two adjacent GRFs of a register. It is spanned if an instruction
//! accesses bytes on both sides. A copy of a whole register spans the boundaries that are spanned
//! on its other side. The register is split at all other boundaries.

use crate::entity_set::EntityLists;
use crate::graph::union_find::UnionFind;
use crate::mir::insert::{Inserted, insert_into};
use crate::mir::spans::Spans;
use crate::mir::{Access, MInst, RegConstraint, VCode, VReg, VRegData, VirtReg};
use crate::sized;
use crate::target::Target;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use gantry_isa_gen::{Dst, Src};
use std::collections::BTreeMap;

/// Boundary between two adjacent GRFs of a register.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Boundary(u32);
entity_impl!(Boundary);

/// Boundaries of all registers, in classes that are all spanned or all not.
struct Boundaries {
    /// First boundary of each register. `None` for registers that stay whole.
    first: SecondaryMap<VReg, PackedOption<Boundary>>,
    classes: UnionFind<Boundary>,
    /// True for each boundary, at the root of its class, that is spanned.
    spanned: PrimaryMap<Boundary, bool>,
}

impl Boundaries {
    /// Returns a boundary of a register, if the register may be split.
    fn of(&self, r: VReg, n: u32) -> Option<Boundary> {
        let first = self.first[r].expand()?;
        Some(Boundary(first.0 + n))
    }

    fn span(&mut self, r: VReg, boundaries: std::ops::Range<u32>) {
        for n in boundaries {
            let Some(b) = self.of(r, n) else { return };
            let root = self.classes.find(b);
            self.spanned[root] = true;
        }
    }

    fn join(&mut self, a: Boundary, b: Boundary) {
        if let Some((a, b)) = self.classes.union(a, b) {
            self.spanned[a] |= self.spanned[b];
        }
    }

    fn is_spanned(&mut self, r: VReg, n: u32) -> bool {
        self.of(r, n)
            .is_none_or(|b| self.spanned[self.classes.find(b)])
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
type Pieces = EntityLists<VReg, Piece>;

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
        classes: UnionFind::default(),
        spanned: PrimaryMap::new(),
    };
    for (r, data) in &code.vregs {
        let n = grf.hold(data.bytes);
        if n > 1 && data.constraint == RegConstraint::Any && data.align >= grf.bytes && wanted(r) {
            boundaries.first[r] = boundaries.spanned.next_key().into();
            boundaries.spanned.extend((1..n).map(|_| false));
        }
    }
    if boundaries.spanned.is_empty() {
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
                for j in 0..n {
                    match (boundaries.of(dst, j), boundaries.of(src, j)) {
                        (Some(a), Some(b)) => boundaries.join(a, b),
                        (None, _) => boundaries.span(src, j..j + 1),
                        (_, None) => boundaries.span(dst, j..j + 1),
                    }
                }
            }
            MInst::Start { .. } => {}
            _ => {
                let mut any = false;
                m.for_each_vreg(|r, _| any |= boundaries.first[r].is_some());
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
    let mut pieces = Pieces::with_capacity(code.vregs.len(), 0);
    let mut own: Vec<Piece> = Vec::new();
    for n in 0..code.vregs.len() as u32 {
        let r = VReg::from_u32(n);
        if boundaries.first[r].is_none() {
            continue;
        }
        let data = code.vregs[r];
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
            own.push(Piece { start, reg });
            start = end;
        }
        if !own.is_empty() {
            pieces.push(r, own.drain(..));
        }
    }
    let any = !pieces.is_empty();
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
                    for p in &pieces[*src] {
                        if let Some(at) = unwritten.remove(&p.reg) {
                            begin(&mut new, p.reg, at);
                        }
                    }
                    pieces[*dst].iter().for_each(|p| {
                        unwritten.remove(&p.reg);
                    });
                    for (to, from) in pieces[*dst].iter().zip(&pieces[*src]).skip(1) {
                        let (dst, src) = (to.reg, from.reg);
                        new.push(Inserted {
                            at: i + 1,
                            after: true,
                            inst: MInst::Copy { dst, src },
                        });
                    }
                }
                MInst::Start { dst } => {
                    let others = pieces[*dst].iter().skip(1);
                    unwritten.extend(others.map(|p| (p.reg, i + 1)));
                }
                MInst::Op { inst, starts, .. } => {
                    for s in &mut inst.srcs {
                        if let Src::Direct { at, .. } = s
                            && let Some(r) = at.reg.as_grf()
                            && let Some(p) = piece(&pieces[r], at.sub)
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
                        && let Some(p) = piece(&pieces[r], at.sub)
                    {
                        at.reg = VirtReg::grf(p.reg);
                        at.sub -= p.start as u16;
                        if *starts {
                            let others = pieces[r].iter().filter(|o| o.reg != p.reg);
                            unwritten.extend(others.map(|o| (o.reg, i + 1)));
                        }
                        *starts |= unwritten.remove(&p.reg).is_some();
                    }
                }
                _ => m.for_each_vreg(|r, a| {
                    debug_assert!(pieces[r].is_empty() || a == Access::Use);
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
            let rest = pieces[*r].iter().skip(1);
            rest.map(move |p| (name.clone(), p.reg))
        })
        .collect();
    code.labels.extend(labels);
}
