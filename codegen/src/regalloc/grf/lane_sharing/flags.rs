//! Physical flags between one write and the next, and their readers.

use super::lanes::Node;
use crate::mir::{MInst, RegKind, VCode, VirtReg};
use gantry_isa_gen::{Arf, Dst, Inst, Op, PredCtrl, Reg, RegRef, Src};
use smallvec::SmallVec;

/// Number of bits of `f0` and `f1`.
const BITS: u32 = 64;
/// Number of bits of a sub-register.
const SUB: u32 = 16;
const SUBS: usize = (BITS / SUB) as usize;

/// Returns a mask of `count` bits of a flag from bit `first` on.
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

/// Returns the bits that an instruction may write, and true if it writes all of them.
fn writes(inst: &Inst<VirtReg>) -> (u64, bool) {
    let all = inst.no_mask && (inst.pred.is_none() || inst.op == Op::Sel);
    let dst = match inst.dst {
        Dst::Direct { at, ty, hs: 1 } => bits(at, 0, 8 * ty.bytes() * inst.exec.channels()),
        Dst::Direct { at, .. } => bits(at, 0, BITS),
        _ => 0,
    };
    // The condition of a select chooses a source and writes no flag.
    let cond = inst
        .cond
        .as_ref()
        .filter(|_| !matches!(inst.op, Op::Sel | Op::Csel));
    let cond = cond.map_or(0, |c| {
        bits(c.flag, inst.offset.channels(), inst.exec.channels())
    });
    (dst | cond, all)
}

/// Returns the flag bits that an instruction reads.
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

/// Returns the flag bits that are live at each block's end.
pub(super) fn live_out(code: &VCode) -> Vec<u64> {
    let mut own: Vec<(u64, u64)> = Vec::with_capacity(code.blocks.len());
    for block in code.blocks.keys() {
        let (mut read, mut killed) = (0, 0);
        for m in code.block_insts(block).iter().rev() {
            if let MInst::Op { inst, .. } = m {
                let (written, true) = writes(inst) else {
                    read |= reads(m);
                    continue;
                };
                killed |= written;
                read &= !written;
            }
            read |= reads(m);
        }
        own.push((read, killed));
    }
    let mut out = vec![0u64; code.blocks.len()];
    let mut work: Vec<_> = code.blocks.keys().collect();
    while let Some(b) = work.pop() {
        let n = b.as_u32() as usize;
        let (read, killed) = own[n];
        let into = read | out[n] & !killed;
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

/// Nodes of flags, created block by block and backwards.
pub(super) struct FlagNodes {
    /// Number of the first node.
    base: usize,
    leaks: Vec<bool>,
    /// Current node of each sub-register, and true if it is read later.
    current: [(Node, bool); SUBS],
}

impl FlagNodes {
    /// Creates a set of nodes that are numbered from `base` on.
    pub(super) fn new(base: usize) -> FlagNodes {
        FlagNodes {
            base,
            leaks: Vec::new(),
            current: [(0, false); SUBS],
        }
    }

    pub(super) fn leaks(self) -> Vec<bool> {
        self.leaks
    }

    fn new_node(&mut self, leaks: bool) -> Node {
        self.leaks.push(leaks);
        (self.base + self.leaks.len() - 1) as Node
    }

    /// Starts at the end of a block, with its live flag bits.
    pub(super) fn end(&mut self, out: u64) {
        for n in 0..SUBS {
            let read = out >> (n as u32 * SUB) & 0xffff != 0;
            self.current[n] = (self.new_node(read), read);
        }
    }

    /// Returns the sub-registers that contain some bits.
    fn subs(bits: u64) -> impl Iterator<Item = usize> {
        (0..SUBS).filter(move |n| bits >> (*n as u32 * SUB) & 0xffff != 0)
    }

    /// Records a read of `count` bits other than by their own channels.
    pub(super) fn read_across(&mut self, at: RegRef<VirtReg>, count: u32) {
        self.read_bits_across(bits(at, 0, count));
    }

    fn read_bits_across(&mut self, bits: u64) {
        for n in Self::subs(bits) {
            let (node, read) = &mut self.current[n];
            *read = true;
            if let Some(l) = self.leaks.get_mut(*node as usize - self.base) {
                *l = true;
            }
        }
    }

    /// Records a read by channels, one bit each, and returns the nodes.
    pub(super) fn read(
        &mut self,
        at: RegRef<VirtReg>,
        first: u32,
        count: u32,
    ) -> SmallVec<[Node; 2]> {
        let subs = Self::subs(bits(at, first, count));
        subs.map(|n| {
            self.current[n].1 = true;
            self.current[n].0
        })
        .collect()
    }

    /// Records a write and returns the nodes written. If all bits are written, an earlier value has
    /// a new node.
    pub(super) fn write(&mut self, inst: &Inst<VirtReg>) -> SmallVec<[Node; 2]> {
        let (written, all) = writes(inst);
        let mut out = SmallVec::new();
        for n in Self::subs(written) {
            out.push(self.current[n].0);
            let whole = written >> (n as u32 * SUB) & 0xffff == 0xffff;
            if all && whole {
                self.current[n] = (self.new_node(false), false);
            }
        }
        out
    }

    /// Records control flow: channels leave or rejoin, or the thread branches.
    pub(super) fn control(&mut self, m: &MInst) {
        let read = reads(m);
        match m {
            MInst::Leave { .. } => {
                for n in Self::subs(read) {
                    self.current[n].1 = true;
                }
            }
            // Later reads are by channels that were inactive before.
            MInst::Join { .. } => {
                for n in 0..SUBS {
                    let (_, used) = self.current[n];
                    self.current[n] = (self.new_node(used), used);
                }
            }
            _ => self.read_bits_across(read),
        }
    }
}
