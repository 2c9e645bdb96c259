//! Flags in their places, from one write to the next: what reads them.

use super::lanes::Node;
use crate::mir::{MInst, RegKind, VCode, VirtReg};
use gantry_isa_gen::{Arf, Dst, Inst, Op, PredCtrl, Reg, RegRef, Src};
use smallvec::SmallVec;

/// Bits of `f0` and `f1`.
const BITS: u32 = 64;
/// Bits of a sub-register.
const SUB: u32 = 16;
const SUBS: usize = (BITS / SUB) as usize;

/// So many bits of a flag from a place on.
fn bits(at: RegRef<VirtReg>, first: u32, count: u32) -> u64 {
    let RegKind::Phys(Reg::Arf(Arf::Flag, n)) = at.reg.kind() else {
        return 0;
    };
    let start = u32::from(n) * 32 + u32::from(at.sub) * 8 + first;
    if start < BITS {
        (u64::MAX >> (BITS - count.clamp(1, BITS))) << start
    } else {
        0
    }
}

/// What an instruction writes: the bits that it may write, and whether it writes them all.
fn writes(inst: &Inst<VirtReg>) -> (u64, bool) {
    let all = inst.no_mask && (inst.pred.is_none() || inst.op == Op::Sel);
    let dst = match inst.dst {
        Dst::Direct { at, ty, hs: 1 } => bits(at, 0, 8 * ty.bytes() * inst.exec.channels()),
        Dst::Direct { at, .. } => bits(at, 0, BITS),
        _ => 0,
    };
    // What is chosen by a comparison writes no flag.
    let cond = inst
        .cond
        .as_ref()
        .filter(|_| !matches!(inst.op, Op::Sel | Op::Csel));
    let cond = cond.map_or(0, |c| {
        bits(c.flag, inst.offset.channels(), inst.exec.channels())
    });
    (dst | cond, all)
}

/// What of flags an instruction reads.
fn reads(m: &MInst) -> u64 {
    match m {
        MInst::Op { inst, .. } => {
            let pred = inst.pred.as_ref().map_or(0, |p| match p.ctrl {
                PredCtrl::Sequential => bits(p.flag, inst.offset.channels(), inst.exec.channels()),
                _ => bits(p.flag, 0, BITS),
            });
            let src = inst.srcs.iter().map(|s| match s {
                Src::Direct { at, ty, .. } => bits(*at, 0, 8 * ty.bytes()),
                _ => 0,
            });
            src.fold(pred, |a, b| a | b)
        }
        MInst::Leave {
            flag: Some((reg, sub, _)),
            exec,
            ..
        } => bits(RegRef::new(*reg, *sub), 0, exec.channels()),
        MInst::Branch { flag, sub, .. } => bits(RegRef::new(*flag, *sub), 0, BITS / 2),
        _ => 0,
    }
}

/// The bits of flags that are read behind each block.
pub(super) fn live_out(code: &VCode) -> Vec<u64> {
    let mut own: Vec<(u64, u64)> = Vec::with_capacity(code.blocks.len());
    for block in code.blocks.keys() {
        let (mut read, mut gone) = (0, 0);
        for m in code.block_insts(block).iter().rev() {
            if let MInst::Op { inst, .. } = m {
                let (written, true) = writes(inst) else {
                    read |= reads(m);
                    continue;
                };
                gone |= written;
                read &= !written;
            }
            read |= reads(m);
        }
        own.push((read, gone));
    }
    let mut out = vec![0u64; code.blocks.len()];
    let mut work: Vec<_> = code.blocks.keys().collect();
    while let Some(b) = work.pop() {
        let n = b.as_u32() as usize;
        let (read, gone) = own[n];
        let into = read | out[n] & !gone;
        for &p in &code.blocks[b].preds {
            let before = &mut out[p.as_u32() as usize];
            if *before | into != *before {
                *before |= into;
                work.push(p);
            }
        }
    }
    out
}

/// The nodes of flags, block by block, backwards.
pub(super) struct FlagNodes {
    /// The first.
    base: usize,
    leaks: Vec<bool>,
    /// What each sub-register is here, and whether something reads it behind here.
    here: [(Node, bool); SUBS],
}

impl FlagNodes {
    /// Nodes from a number on.
    pub(super) fn new(base: usize) -> FlagNodes {
        FlagNodes {
            base,
            leaks: Vec::new(),
            here: [(0, false); SUBS],
        }
    }

    pub(super) fn leaks(self) -> Vec<bool> {
        self.leaks
    }

    fn fresh(&mut self, leaks: bool) -> Node {
        self.leaks.push(leaks);
        (self.base + self.leaks.len() - 1) as Node
    }

    /// The end of a block behind which some bits are read.
    pub(super) fn end(&mut self, out: u64) {
        for n in 0..SUBS {
            let read = out >> (n as u32 * SUB) & 0xffff != 0;
            self.here[n] = (self.fresh(read), read);
        }
    }

    /// The sub-registers that some bits are in.
    fn subs(bits: u64) -> impl Iterator<Item = usize> {
        (0..SUBS).filter(move |n| bits >> (*n as u32 * SUB) & 0xffff != 0)
    }

    /// Something reads bits in another way than each for its channel.
    pub(super) fn lose(&mut self, at: RegRef<VirtReg>, count: u32) {
        self.lose_bits(bits(at, 0, count));
    }

    fn lose_bits(&mut self, bits: u64) {
        for n in Self::subs(bits) {
            let (node, read) = &mut self.here[n];
            *read = true;
            if let Some(l) = self.leaks.get_mut(*node as usize - self.base) {
                *l = true;
            }
        }
    }

    /// Channels read a bit each.
    pub(super) fn read(
        &mut self,
        at: RegRef<VirtReg>,
        first: u32,
        count: u32,
    ) -> SmallVec<[Node; 2]> {
        let subs = Self::subs(bits(at, first, count));
        subs.map(|n| {
            self.here[n].1 = true;
            self.here[n].0
        })
        .collect()
    }

    /// What an instruction writes, by what reads it. Before the instruction it is something else,
    /// where all is written.
    pub(super) fn write(&mut self, inst: &Inst<VirtReg>) -> SmallVec<[Node; 2]> {
        let (written, all) = writes(inst);
        let mut out = SmallVec::new();
        for n in Self::subs(written) {
            out.push(self.here[n].0);
            let whole = written >> (n as u32 * SUB) & 0xffff == 0xffff;
            if all && whole {
                self.here[n] = (self.fresh(false), false);
            }
        }
        out
    }

    /// Channels leave or come back, or the thread branches.
    pub(super) fn control(&mut self, m: &MInst) {
        let read = reads(m);
        match m {
            MInst::Leave { .. } => {
                for n in Self::subs(read) {
                    self.here[n].1 = true;
                }
            }
            // What is read behind it is read by channels that did not run before it.
            MInst::Join { .. } => {
                for n in 0..SUBS {
                    let (_, used) = self.here[n];
                    self.here[n] = (self.fresh(used), used);
                }
            }
            _ => self.lose_bits(read),
        }
    }
}
