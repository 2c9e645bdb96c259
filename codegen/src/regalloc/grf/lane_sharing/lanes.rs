//! Which registers are read only lane by lane, for channels that run.
//!
//! A register has as many lanes as the thread has channels, each as large as the others; the
//! payload of a message under the execution mask has those that the message gives it. An
//! instruction under the execution mask reads what its channels hold where channel k reads lane k.
//! One with NoMask reads lanes that nobody may hold; that does no harm where each goes to the same
//! lane of a register or flag which itself is read so, and while which is kept no channel comes
//! back: who reads it then ran when it was made.

use super::flags;
use super::flags::FlagNodes;
use crate::mir::liveness::Liveness;
use crate::mir::{MInst, RegKind, VCode, VReg, VirtReg};
use crate::target::Target;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::legal::geometry::element_offset;
use gantry_isa_gen::message::{AddrModel, Dir, LscAccess, LscKind, LscVector, MsgOp, Simd};
use gantry_isa_gen::{Dst, Inst, Op, PredCtrl, Src, perf};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Something that is read: a register, or, behind all of them, a flag from one write to the next.
pub(super) type Node = u32;

/// One element a channel, in a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Column {
    /// The byte where the first one is.
    start: u32,
    /// Bytes of each.
    slot: u32,
    /// The channel whose it is.
    first: u32,
    channels: u32,
}

type Layout = SmallVec<[Column; 2]>;

/// What a message does to a register that it names.
struct Part {
    reg: VReg,
    write: bool,
    columns: Layout,
}

/// What is known of who reads and writes registers.
pub(super) struct Lanes<'a> {
    code: &'a VCode,
    target: &'a Target,
    /// Channels of the thread.
    pub(super) channels: u32,
    /// Registers that are payloads with lanes of their own; `None`: of several kinds.
    layouts: HashMap<VReg, Option<Layout>>,
    /// Registers that are read otherwise than lane by lane.
    pub(super) read_across: SecondaryMap<VReg, bool>,
    /// Registers that an instruction under the execution mask writes otherwise than lane by lane.
    pub(super) written_across: SecondaryMap<VReg, bool>,
    /// What with NoMask goes from a register to a register or flag, lane by lane, and whether it is
    /// a copy.
    pub(super) steps: Vec<(Node, Node, bool)>,
    /// What does more than be read lane by lane while no channel comes back.
    pub(super) leaks: Vec<bool>,
}

/// Whether channel k of an operation makes what it writes of its operands for channel k alone, and
/// writes no accumulator on the side.
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

/// What an instruction makes with NoMask.
enum Made {
    /// A register from a byte on, by a step, in elements of so many bytes.
    Reg(VReg, u32, u32, u32),
    Flags(SmallVec<[Node; 2]>),
    /// What is not followed.
    Lost,
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
            l.payload(m);
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
        l.find_leaks(live, nodes);
        l
    }

    /// The lane whose some bytes of a register are.
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

    /// Whether a register is as plain as its size: no payload with lanes of its own.
    pub(super) fn is_plain(&self, r: VReg) -> bool {
        self.code.vregs[r].bytes.is_multiple_of(self.channels) && !self.layouts.contains_key(&r)
    }

    /// Whether the lanes of a part of a message are the channels'.
    fn fits(&self, part: &Part) -> bool {
        part.columns.iter().all(|c| {
            let at = |n: u32| self.lane(part.reg, c.start + n * c.slot, c.slot);
            (0..c.channels).all(|n| at(n) == Some(c.first + n))
        })
    }

    /// Notes where a message has its lanes.
    fn payload(&mut self, m: &MInst) {
        let MInst::Op { inst, .. } = m else { return };
        for part in self.message(inst).unwrap_or_default() {
            let plain = !self.layouts.contains_key(&part.reg) && self.fits(&part);
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

    /// What a message under the execution mask reads and writes, channel by channel; `None` of
    /// others.
    fn message(&self, inst: &Inst<VirtReg>) -> Option<SmallVec<[Part; 3]>> {
        if inst.no_mask {
            return None;
        }
        let m = perf::message(self.target.platform(), inst)?;
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
                // Payloads have room for half of a full message at least.
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
    ) -> Option<SmallVec<[Part; 3]>> {
        let grf = self.code.grf.bytes;
        let column = |start: u32, slot: u32| Column {
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
        let mut first = Part {
            reg: src0,
            write: false,
            columns: SmallVec::from_iter([column(start, address)]),
        };
        match (dir, place(&inst.srcs[1]), inst.dst) {
            (Dir::Write, Some((reg, at)), _) => parts.push(Part {
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
                parts.push(Part {
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

    /// The channels that an instruction under the execution mask writes a register's lanes of, the
    /// first and how many, and whether each is written wholly; `None` where it does not write lane
    /// by lane.
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
            let alone = part.columns.len() == 1 && self.fits(part);
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
        let mut made: SmallVec<[Made; 2]> = SmallVec::new();
        if !by_channel(inst.op) {
            made.push(Made::Lost);
        }
        match inst.dst {
            Dst::None => {}
            Dst::Direct { at, hs, ty } => match at.reg.kind() {
                RegKind::Grf(r) => {
                    if !inst.no_mask && self.written(inst).is_none() {
                        self.written_across[r] = true;
                    }
                    let step = u32::from(hs) * ty.bytes();
                    made.push(Made::Reg(r, at.sub.into(), step, ty.bytes()));
                }
                RegKind::Phys(r) if r.is_null() => {}
                _ => made.push(Made::Lost),
            },
            Dst::Macro { at, .. } => {
                if let Some(r) = at.reg.as_grf() {
                    self.written_across[r] = true;
                }
                made.push(Made::Lost);
            }
            Dst::Indirect { .. } => made.push(Made::Lost),
        }
        let carries = matches!(inst.op, Op::Addc | Op::Subb | Op::Mach);
        if carries || inst.opts.contains(gantry_isa_gen::InstOpts::ACC_WR_EN) {
            made.push(Made::Lost);
        }
        let flags = nodes.write(inst);
        if !flags.is_empty() {
            made.push(Made::Flags(flags));
        }
        for s in &inst.srcs {
            match *s {
                Src::Direct { at, region, ty, .. } => {
                    if let Some(r) = at.reg.as_grf() {
                        let lane = |l: &Self, c: u32| {
                            let offset = element_offset(region, c, ty.bytes())?;
                            l.lane(r, u32::from(at.sub) + offset, ty.bytes())
                        };
                        self.source(inst, r, lane, &made);
                    } else {
                        nodes.lose(at, 8 * ty.bytes());
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
        self.predicate(inst, &made, nodes);
    }

    /// A register that is read, with the lane of each channel.
    fn source(
        &mut self,
        inst: &Inst<VirtReg>,
        r: VReg,
        lane: impl Fn(&Self, u32) -> Option<u32>,
        made: &[Made],
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
        let right = made.iter().all(|m| match m {
            Made::Reg(to, at, step, bytes) => {
                steps.push((node(r), node(*to), false));
                all(&|c, l| self.lane(*to, at + c * step, *bytes) == Some(l))
            }
            Made::Flags(nodes) => {
                steps.extend(nodes.iter().map(|n| (node(r), *n, false)));
                all(&|c, l| l == first + c)
            }
            Made::Lost => false,
        });
        if right {
            self.steps.extend(steps)
        } else {
            self.read_across[r] = true
        }
    }

    /// What an instruction is predicated by.
    fn predicate(&mut self, inst: &Inst<VirtReg>, made: &[Made], nodes: &mut FlagNodes) {
        let Some(p) = &inst.pred else { return };
        let (first, exec) = (inst.offset.channels(), inst.exec.channels());
        if p.ctrl != PredCtrl::Sequential {
            return nodes.lose(p.flag, 64);
        }
        let read = nodes.read(p.flag, first, exec);
        if !inst.no_mask {
            return;
        }
        for m in made {
            match m {
                Made::Reg(to, at, step, bytes)
                    if (0..exec)
                        .all(|c| self.lane(*to, at + c * step, *bytes) == Some(first + c)) =>
                {
                    let to = node(*to);
                    self.steps.extend(read.iter().map(|n| (*n, to, false)));
                }
                Made::Flags(to) => {
                    let all = read.iter().flat_map(|n| to.iter().map(|t| (*n, *t, false)));
                    self.steps.extend(all);
                }
                _ => nodes.lose(p.flag, 64),
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
                if twice || !own.is_some_and(|p| self.fits(p)) {
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
                nodes.lose(p.flag, 64)
            } else {
                nodes.read(p.flag, inst.offset.channels(), inst.exec.channels());
            }
        }
    }

    /// What leaks: itself, or to what it goes.
    fn find_leaks(&mut self, live: &Liveness, nodes: FlagNodes) {
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
        // Backwards along what goes from one to another.
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
