//! Finds registers that are read only lane by lane, by active channels.
//!
//! A register has one lane per channel of the thread, all of the same size. The payload of a masked
//! message has the lanes that the message defines. A masked instruction reads lane by lane if
//! channel k reads lane k. A NoMask instruction also reads lanes of inactive channels, which may
//! hold nothing. That is harmless if each goes to the same lane of a register or flag that is
//! itself read only lane by lane. No channel may rejoin while that result is live, so that its
//! readers were active when it was computed.

use super::flags;
use super::flags::FlagNodes;
use crate::mir::liveness::Liveness;
use crate::mir::{MInst, RegKind, VCode, VReg, VirtReg};
use crate::target::Target;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::legal::geometry::element_offset;
use gantry_isa_gen::message::{AddrModel, Dir, LscAccess, LscKind, LscVector, MsgOp, Simd};
use gantry_isa_gen::{Dst, Inst, Op, PredCtrl, Src, effects};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Register, or a flag between one write and the next. Flags are numbered after all registers.
pub(super) type Node = u32;

/// One element per channel in a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PayloadColumn {
    /// Byte offset of the first element.
    start: u32,
    /// Bytes per element.
    slot: u32,
    /// Channel of the first element.
    first: u32,
    channels: u32,
}

type PayloadLayout = SmallVec<[PayloadColumn; 2]>;

/// Access of a message to a register.
struct MessageAccess {
    reg: VReg,
    write: bool,
    columns: PayloadLayout,
}

/// Readers and writers of registers, by lane.
pub(super) struct Lanes<'a> {
    code: &'a VCode,
    target: &'a Target,
    /// Number of channels of the thread.
    pub(super) channels: u32,
    /// Payload registers with their own lanes. `None` if messages disagree about them.
    layouts: HashMap<VReg, Option<PayloadLayout>>,
    /// Registers that are read other than lane by lane.
    pub(super) read_across: SecondaryMap<VReg, bool>,
    /// Registers that a masked instruction writes other than lane by lane.
    pub(super) written_across: SecondaryMap<VReg, bool>,
    /// NoMask data flow from a register to a register or flag, lane by lane. The last field is true
    /// for copies.
    pub(super) steps: Vec<(Node, Node, bool)>,
    /// Nodes that are read other than lane by lane, or live while channels rejoin, directly or
    /// through others.
    pub(super) leaks: Vec<bool>,
}

/// Returns true if channel k of an operation depends on the operands of channel k alone, and the
/// operation does not also write an accumulator.
fn by_channel(op: Op) -> bool {
    matches!(
        op,
        Op::Mov
            | Op::Sel
            | Op::Not
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::Shr
            | Op::Shl
            | Op::Asr
            | Op::Cmp
            | Op::Add
            | Op::Mul
            | Op::Mad
            | Op::Avg
            | Op::Frc
            | Op::Rndu
            | Op::Rndd
            | Op::Rnde
            | Op::Rndz
            | Op::Lzd
            | Op::Fbh
            | Op::Fbl
            | Op::Cbit
            | Op::Bfrev
            | Op::Math
            | Op::Csel
    )
}

/// Result of a NoMask instruction.
enum NoMaskResult {
    /// Register, first byte, stride in bytes, and element size in bytes.
    Reg(VReg, u32, u32, u32),
    Flags(SmallVec<[Node; 2]>),
    /// Result that is not tracked.
    Untracked,
}

impl<'a> Lanes<'a> {
    pub(super) fn new(code: &'a VCode, live: &Liveness, target: &'a Target, channels: u32) -> Self {
        let mut l = Lanes {
            code,
            target,
            channels,
            layouts: HashMap::new(),
            read_across: SecondaryMap::new(),
            written_across: SecondaryMap::new(),
            steps: Vec::new(),
            leaks: Vec::new(),
        };
        for m in &code.insts {
            l.record_payload(m);
        }
        let mut nodes = FlagNodes::new(code.vregs.len());
        let out = flags::live_out(code);
        for (b, data) in &code.blocks {
            nodes.end(out.get(b.index()).copied().unwrap_or(0));
            for i in (data.start..data.end).rev() {
                if let Some(m) = code.insts.get(i) {
                    l.inst(m, &mut nodes);
                }
            }
        }
        l.compute_leaks(live, nodes);
        l
    }

    /// Returns the lane that contains `bytes` bytes of a register.
    pub(super) fn lane(&self, r: VReg, byte: u32, bytes: u32) -> Option<u32> {
        let Some(layout) = self.layouts.get(&r) else {
            return self.plain_lane(r, byte, bytes);
        };
        layout.as_ref()?.iter().find_map(|c| {
            let lane = byte.checked_sub(c.start)? / c.slot;
            let end = c.start + (lane + 1) * c.slot;
            (lane < c.channels && byte + bytes <= end).then_some(c.first + lane)
        })
    }

    fn plain_lane(&self, r: VReg, byte: u32, bytes: u32) -> Option<u32> {
        let size = self.code.vregs[r].bytes / self.channels;
        let lane = byte.checked_div(size)?;
        let whole = self.code.vregs[r].bytes.is_multiple_of(self.channels);
        (whole && lane < self.channels && byte + bytes <= (lane + 1) * size).then_some(lane)
    }

    /// Returns true if a register is divided evenly into lanes: it is not a payload with its own
    /// lanes.
    pub(super) fn is_plain(&self, r: VReg) -> bool {
        self.code.vregs[r].bytes.is_multiple_of(self.channels) && !self.layouts.contains_key(&r)
    }

    /// Returns true if an access of a message matches the register's lanes.
    fn matches_lanes(&self, part: &MessageAccess) -> bool {
        part.columns.iter().all(|c| {
            let at = |n: u32| self.lane(part.reg, c.start + n * c.slot, c.slot);
            (0..c.channels).all(|n| at(n) == Some(c.first + n))
        })
    }

    /// Records the lanes of a message's payloads.
    fn record_payload(&mut self, m: &MInst) {
        let MInst::Op { inst, .. } = m else { return };
        for part in self.message(inst).unwrap_or_default() {
            let plain = !self.layouts.contains_key(&part.reg) && self.matches_lanes(&part);
            if part.write || plain {
                continue;
            }
            let own = self.layouts.entry(part.reg);
            let own = own.or_insert_with(|| Some(part.columns.clone()));
            if own.as_ref() != Some(&part.columns) {
                *own = None;
            }
        }
    }

    /// Returns the accesses of a masked message, by channel. Returns `None` for other instructions.
    fn message(&self, inst: &Inst<VirtReg>) -> Option<SmallVec<[MessageAccess; 3]>> {
        if inst.no_mask {
            return None;
        }
        let m = effects::message(self.target.platform(), inst)?;
        let of = |addr: AddrModel, simd: Simd| (if addr.is_a64() { 8 } else { 4 }, simd.channels());
        let (dir, (address, channels), slot, count) = match m.op {
            MsgOp::Untyped {
                dir,
                addr,
                rgba,
                simd,
            } => (dir, of(addr, simd), 4, rgba.count()),
            MsgOp::ByteScattered {
                dir, addr, simd, ..
            } => (dir, of(addr, simd), 4, 1),
            MsgOp::DwordScattered {
                dir,
                addr,
                count: 1,
                simd,
                ..
            } => (dir, of(addr, simd), 4, 1),
            MsgOp::QwordScattered {
                dir,
                addr,
                count: 1,
                simd,
            } => (dir, of(addr, simd), 8, 1),
            MsgOp::Lsc(LscAccess {
                op,
                data,
                vector:
                    LscVector::Count {
                        n,
                        transposed: false,
                    },
                addr,
                ..
            }) => {
                let dir = match op.kind() {
                    LscKind::Load => Dir::Read,
                    LscKind::Store => Dir::Write,
                    LscKind::Atomic(_) | LscKind::Other => return None,
                };
                // Payloads have space for at least half of a full message.
                let least = self.code.grf.bytes / 4;
                let channels = inst.exec.channels().max(least);
                let shape = (addr.width() / 8, channels);
                (dir, shape, data.register_bits() / 8, n.into())
            }
            _ => return None,
        };
        if m.header || m.eot || inst.exec.channels() > channels {
            return None;
        }
        self.parts(inst, (dir, address, channels), slot, count)
    }

    fn parts(
        &self,
        inst: &Inst<VirtReg>,
        (dir, address, channels): (Dir, u32, u32),
        slot: u32,
        count: u32,
    ) -> Option<SmallVec<[MessageAccess; 3]>> {
        let grf = self.code.grf.bytes;
        let column = |start: u32, slot: u32| PayloadColumn {
            start,
            slot,
            first: inst.offset.channels(),
            channels: inst.exec.channels(),
        };
        let data = |start: u32| (0..count).map(move |n| column(start + n * channels * slot, slot));
        let place = |s: &Src<VirtReg>| match *s {
            Src::Direct { at, .. } => Some((at.reg.as_grf()?, u32::from(at.sub))),
            _ => None,
        };
        let (src0, start) = place(&inst.srcs[0])?;
        let mut parts = SmallVec::new();
        let mut first = MessageAccess {
            reg: src0,
            write: false,
            columns: SmallVec::from_iter([column(start, address)]),
        };
        match (dir, place(&inst.srcs[1]), inst.dst) {
            (Dir::Write, Some((reg, at)), _) => parts.push(MessageAccess {
                reg,
                write: false,
                columns: data(at).collect(),
            }),
            (Dir::Write, None, _) => {
                let behind = (channels * address).next_multiple_of(grf);
                first.columns.extend(data(start + behind));
            }
            (Dir::Read, None, Dst::Direct { at, .. }) => {
                let reg = at.reg.as_grf()?;
                parts.push(MessageAccess {
                    reg,
                    write: true,
                    columns: data(at.sub.into()).collect(),
                });
            }
            (Dir::Read, ..) => return None,
        }
        parts.push(first);
        Some(parts)
    }

    /// Returns the lanes of a register that a masked instruction writes: the first channel, their
    /// number, and true if each is written completely. Returns `None` unless it writes lane by
    /// lane.
    pub(super) fn written(&self, inst: &Inst<VirtReg>) -> Option<(u32, u32, bool)> {
        let Dst::Direct { at, hs, ty } = inst.dst else {
            return None;
        };
        let r = at.reg.as_grf()?;
        let size = self.code.vregs[r].bytes / self.channels;
        let (first, count) = (inst.offset.channels(), inst.exec.channels());
        if inst.op.is_send() {
            let parts = self.message(inst)?;
            let part = parts.iter().find(|p| p.write)?;
            let slot = part.columns.first()?.slot;
            let alone = part.columns.len() == 1 && self.matches_lanes(part);
            return alone.then_some((first, count, slot == size && inst.pred.is_none()));
        }
        let lane = |c: u32| {
            let byte = u32::from(at.sub) + c * u32::from(hs) * ty.bytes();
            self.lane(r, byte, ty.bytes())
        };
        let all = by_channel(inst.op) && (0..count).all(|c| lane(c) == Some(first + c));
        let some = inst.pred.is_some() && inst.op != Op::Sel;
        all.then_some((first, count, ty.bytes() == size && !some))
    }

    fn inst(&mut self, m: &MInst, nodes: &mut FlagNodes) {
        let inst = match m {
            MInst::Op { inst, .. } => inst,
            &MInst::Copy { dst, src } => {
                let same = self.code.vregs[src].bytes == self.code.vregs[dst].bytes;
                if same && !self.layouts.contains_key(&src) && !self.layouts.contains_key(&dst) {
                    self.steps.push((node(src), node(dst), true))
                } else {
                    self.read_across[src] = true
                }
                return;
            }
            MInst::Leave { .. } | MInst::Join { .. } | MInst::Branch { .. } => {
                return nodes.control(m);
            }
            _ => {
                return m.for_each_vreg(|r, _| {
                    let start = matches!(m, MInst::Start { .. });
                    self.read_across[r] |= !start;
                    self.written_across[r] |= !start;
                });
            }
        };
        if inst.op.is_send() {
            return self.send(inst, nodes);
        }
        let mut results: SmallVec<[NoMaskResult; 2]> = SmallVec::new();
        if !by_channel(inst.op) {
            results.push(NoMaskResult::Untracked);
        }
        match inst.dst {
            Dst::None => {}
            Dst::Direct { at, hs, ty } => match at.reg.kind() {
                RegKind::Grf(r) => {
                    if !inst.no_mask && self.written(inst).is_none() {
                        self.written_across[r] = true;
                    }
                    let step = u32::from(hs) * ty.bytes();
                    results.push(NoMaskResult::Reg(r, at.sub.into(), step, ty.bytes()));
                }
                RegKind::Phys(r) if r.is_null() => {}
                _ => results.push(NoMaskResult::Untracked),
            },
            Dst::Macro { at, .. } => {
                if let Some(r) = at.reg.as_grf() {
                    self.written_across[r] = true;
                }
                results.push(NoMaskResult::Untracked);
            }
            Dst::Indirect { .. } => results.push(NoMaskResult::Untracked),
        }
        let carries = matches!(inst.op, Op::Addc | Op::Subb | Op::Mach);
        if carries || inst.opts.contains(gantry_isa_gen::InstOpts::ACC_WR_EN) {
            results.push(NoMaskResult::Untracked);
        }
        let flags = nodes.write(inst);
        if !flags.is_empty() {
            results.push(NoMaskResult::Flags(flags));
        }
        for s in &inst.srcs {
            match *s {
                Src::Direct { at, region, ty, .. } => {
                    if let Some(r) = at.reg.as_grf() {
                        let lane = |l: &Self, c: u32| {
                            let offset = element_offset(region, c, ty.bytes())?;
                            l.lane(r, u32::from(at.sub) + offset, ty.bytes())
                        };
                        self.source(inst, r, lane, &results);
                    } else {
                        nodes.read_across(at, 8 * ty.bytes());
                    }
                }
                Src::Macro { at, .. } => {
                    if let Some(r) = at.reg.as_grf() {
                        self.read_across[r] = true;
                    }
                }
                _ => {}
            }
        }
        self.predicate(inst, &results, nodes);
    }

    /// Records a read of a register. `lane` returns the lane that each channel reads.
    fn source(
        &mut self,
        inst: &Inst<VirtReg>,
        r: VReg,
        lane: impl Fn(&Self, u32) -> Option<u32>,
        results: &[NoMaskResult],
    ) {
        let first = inst.offset.channels();
        let all = |right: &dyn Fn(u32, u32) -> bool| {
            (0..inst.exec.channels()).all(|c| lane(self, c).is_some_and(|l| right(c, l)))
        };
        if !inst.no_mask {
            let lost = !by_channel(inst.op);
            if lost || !all(&|c, l| l == first + c) {
                self.read_across[r] = true;
            }
            return;
        }
        let mut steps: SmallVec<[(Node, Node, bool); 2]> = SmallVec::new();
        let right = results.iter().all(|m| match m {
            NoMaskResult::Reg(to, at, step, bytes) => {
                steps.push((node(r), node(*to), false));
                all(&|c, l| self.lane(*to, at + c * step, *bytes) == Some(l))
            }
            NoMaskResult::Flags(nodes) => {
                steps.extend(nodes.iter().map(|n| (node(r), *n, false)));
                all(&|c, l| l == first + c)
            }
            NoMaskResult::Untracked => false,
        });
        if right {
            self.steps.extend(steps)
        } else {
            self.read_across[r] = true
        }
    }

    /// Records the read of an instruction's predicate.
    fn predicate(&mut self, inst: &Inst<VirtReg>, results: &[NoMaskResult], nodes: &mut FlagNodes) {
        let Some(p) = &inst.pred else { return };
        let (first, exec) = (inst.offset.channels(), inst.exec.channels());
        if p.ctrl != PredCtrl::Sequential {
            return nodes.read_across(p.flag, 64);
        }
        let read = nodes.read(p.flag, first, exec);
        if !inst.no_mask {
            return;
        }
        for m in results {
            match m {
                NoMaskResult::Reg(to, at, step, bytes)
                    if (0..exec)
                        .all(|c| self.lane(*to, at + c * step, *bytes) == Some(first + c)) =>
                {
                    let to = node(*to);
                    self.steps.extend(read.iter().map(|n| (*n, to, false)));
                }
                NoMaskResult::Flags(to) => {
                    let all = read.iter().flat_map(|n| to.iter().map(|t| (*n, *t, false)));
                    self.steps.extend(all);
                }
                _ => nodes.read_across(p.flag, 64),
            }
        }
    }

    fn send(&mut self, inst: &Inst<VirtReg>, nodes: &mut FlagNodes) {
        let parts = self.message(inst);
        for s in &inst.srcs {
            if let Src::Direct { at, .. } = s
                && let Some(r) = at.reg.as_grf()
            {
                let own = parts.iter().flatten().find(|p| p.reg == r && !p.write);
                // One register may be both payloads.
                let twice = parts
                    .iter()
                    .flatten()
                    .filter(|p| p.reg == r && !p.write)
                    .count()
                    > 1;
                if twice || !own.is_some_and(|p| self.matches_lanes(p)) {
                    self.read_across[r] = true;
                }
            }
        }
        if let Dst::Direct { at, .. } = inst.dst
            && let Some(r) = at.reg.as_grf()
            && !inst.no_mask
            && self.written(inst).is_none()
        {
            self.written_across[r] = true;
        }
        if let Some(p) = &inst.pred {
            if inst.no_mask || p.ctrl != PredCtrl::Sequential {
                nodes.read_across(p.flag, 64)
            } else {
                nodes.read(p.flag, inst.offset.channels(), inst.exec.channels());
            }
        }
    }

    /// Computes the nodes that leak, directly or through others.
    fn compute_leaks(&mut self, live: &Liveness, nodes: FlagNodes) {
        let insts = self.code.insts.iter().enumerate();
        let joins = insts.filter(|(_, m)| matches!(m, MInst::Join { .. }));
        let joins: Vec<u32> = joins.map(|(i, _)| 2 * i as u32).collect();
        let crosses = |r: VReg| {
            live.ranges[r].iter().any(|x| {
                let n = joins.partition_point(|j| *j < x.start);
                joins.get(n).is_some_and(|j| *j < x.end)
            })
        };
        let regs = self.code.vregs.keys();
        self.leaks = regs.map(|r| self.read_across[r] || crosses(r)).collect();
        self.leaks.extend(nodes.leaks());
        // Propagates backwards along data flow.
        self.steps.sort_unstable_by_key(|s| s.1);
        let mut work: Vec<Node> = (0..self.leaks.len() as u32)
            .filter(|&n| self.leaks[n as usize])
            .collect();
        while let Some(to) = work.pop() {
            let first = self.steps.partition_point(|s| s.1 < to);
            for s in self.steps.iter().skip(first).take_while(|s| s.1 == to) {
                if !std::mem::replace(&mut self.leaks[s.0 as usize], true) {
                    work.push(s.0);
                }
            }
        }
    }
}

/// A register's node.
pub(super) fn node(r: VReg) -> Node {
    r.as_u32()
}
