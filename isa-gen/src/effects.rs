//! Effects of an instruction: the storage that it reads and writes, as far as its text determines
//! it, and if it may be reordered.
//!
//! [`operand_bytes`] has the sizes of operands, and [`accesses`] every access with those that no
//! operand names: flags, accumulators, address registers, memory. Schedulers, the scoreboard,
//! liveness and models of time ask here.

use crate::inst::{Desc, Dst, Inst, InstOpts, PredCtrl, SendDescs, Src, Subfn};
use crate::legal::geometry::{dst_span_bytes, span_bytes};
use crate::message::{
    AddrModel, Dir, LscKind, LscPort, LscSurface, Message, MsgOp, SendBits, Surface,
};
use crate::op::{MathFn, Op};
use crate::platform::Platform;
use crate::reg::{Arf, Reg, RegRef, Register};
use crate::region::Region;
use crate::sem::dpas::Dpas;
use std::ops::Range;

/// Storage that instructions read and write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    /// GRFs, in bytes. Up to `u32::MAX` if an address register selects the bytes.
    Grf,
    /// Accumulators, including special ones, as a single unit.
    Acc,
    /// Flag registers, in bytes, four each.
    Flag,
    /// Address register, in bytes.
    Address,
    /// Memory that other threads can access, by surface. The unit is the index of a surface in the
    /// binding table if below 63. Accesses by any other path are to all [`GLOBAL_UNITS`]. Different
    /// surfaces may be the same memory.
    Global,
    /// Shared local memory, as a single unit.
    Slm,
    /// Scratch of the thread, in hwords from the base in the header.
    Scratch,
}

/// Access: a read or write of the units from `start` to `end` (exclusive).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Storage that is accessed.
    pub storage: Storage,
    /// First unit.
    pub start: u32,
    /// One past the last unit.
    pub end: u32,
    /// True for a write, possibly partial; false for a read.
    pub write: bool,
}

/// Restriction on the order of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reordering {
    /// The instruction may be reordered with any other that its accesses allow.
    Free,
    /// The instruction must not be reordered: it waits, branches, changes how others execute, or
    /// depends on its timing.
    Fixed,
}

/// Number of units of [`Storage::Global`]: surfaces by index, and one for all other paths.
pub const GLOBAL_UNITS: u32 = 64;

/// Hwords of scratch that messages can address.
const SCRATCH: u32 = 4096;

/// Returns the message of a send whose descriptors are known.
pub fn message<R: Register>(platform: Platform, inst: &Inst<R>) -> Option<Message> {
    let descs = inst.send.as_ref()?;
    let (ex, desc) = match (descs.ex, descs.desc) {
        (Desc::Imm(ex), Desc::Imm(desc)) => (ex, desc),
        // An offset to a surface state does not change the operation.
        (Desc::Reg(_), Desc::Imm(desc)) if inst.opts.contains(InstOpts::EX_BSO) => (0, desc),
        _ => return None,
    };
    // The message depends on no registers of the instruction.
    let mut shell: Inst<Reg> = Inst::new(inst.op, inst.exec);
    (shell.subfn, shell.opts) = (inst.subfn, inst.opts);
    shell.send = Some(SendDescs {
        ex: Desc::Imm(ex),
        desc: Desc::Imm(desc),
        src1_len: descs.src1_len,
    });
    let bits = SendBits::of(platform, &shell, ex, desc);
    Message::read(platform, &bits).ok()
}

/// Returns the bytes that an instruction accesses of sources 0, 1 and 2 and of its destination,
/// each from the start of the operand. `None` if unknown, or for operands that are no direct
/// registers.
///
/// `message` is the [`message`] of a send, and `grf` the size of a GRF in bytes.
pub fn operand_bytes<R: Register>(
    inst: &Inst<R>,
    message: Option<&Message>,
    grf: u32,
) -> [Option<u32>; 4] {
    if inst.op.is_send() {
        let grfs = message.map(|m| [m.src0_grfs, m.src1_grfs, 0, m.response_grfs]);
        return grfs.map_or([None; 4], |all| all.map(|n| Some(u32::from(n) * grf)));
    }
    if let Some(bytes) = Dpas::operand_bytes(inst, grf) {
        return bytes.map(Some);
    }
    let packed = |size: u32| Some(dst_span_bytes(1, inst.exec, size));
    let source = |s: &Src<R>| match *s {
        Src::Direct { region, ty, .. } => span_bytes(region, inst.exec, ty.bytes()),
        Src::Macro { ty, .. } => packed(ty.bytes()),
        Src::Indirect { .. } | Src::None | Src::Imm { .. } | Src::Target(_) => None,
    };
    let [a, b, c] = &inst.srcs;
    let destination = match inst.dst {
        Dst::Direct { hs, ty, .. } => Some(dst_span_bytes(hs.into(), inst.exec, ty.bytes())),
        Dst::Macro { ty, .. } => packed(ty.bytes()),
        Dst::Indirect { .. } | Dst::None => None,
    };
    [source(a), source(b), source(c), destination]
}

/// Calls `f` with every access of an instruction, and returns its restriction.
///
/// `grf` returns the byte address of a GRF and the end of the register that it is part of, beyond
/// which nothing belongs to it; `None` for other registers.
///
/// Accesses to memory are derived from the descriptors. A fixed instruction may have further
/// accesses that are not reported.
pub fn accesses<R: Register>(
    platform: Platform,
    inst: &Inst<R>,
    grf: impl Fn(R) -> Option<Range<u32>>,
    f: impl FnMut(Access),
) -> Reordering {
    accesses_of(platform, inst, message(platform, inst).as_ref(), grf, f)
}

/// Calls `f` like [`accesses`], with the [`message`] given by the caller.
pub fn accesses_of<R: Register>(
    platform: Platform,
    inst: &Inst<R>,
    message: Option<&Message>,
    grf: impl Fn(R) -> Option<Range<u32>>,
    f: impl FnMut(Access),
) -> Reordering {
    let mut collector = AccessCollector {
        grf,
        f,
        fixed: is_fixed(inst),
    };
    let bytes = operand_bytes(inst, message, platform.features().grf_bytes);
    collector.operands(inst, bytes);
    if inst.op.is_send() {
        collector.message(inst, message);
    }
    collector.flags(inst);
    collector.accumulator(inst);
    if collector.fixed {
        Reordering::Fixed
    } else {
        Reordering::Free
    }
}

/// Collector of the accesses of one instruction.
struct AccessCollector<G, F> {
    grf: G,
    f: F,
    fixed: bool,
}

impl<G, F: FnMut(Access)> AccessCollector<G, F> {
    fn on(&mut self, storage: Storage, start: u32, end: u32, write: bool) {
        (self.f)(Access {
            storage,
            start,
            end,
            write,
        });
    }

    /// Reports an access to `bytes` of a register, or to its end if unknown.
    fn register<R: Register>(&mut self, at: RegRef<R>, bytes: Option<u32>, write: bool)
    where
        G: Fn(R) -> Option<Range<u32>>,
    {
        let sub = u32::from(at.sub);
        if bytes == Some(0) {
            return;
        }
        if let Some(Range { start, end }) = (self.grf)(at.reg) {
            let from = (start + sub).min(end);
            let to = bytes.map_or(end, |b| from.saturating_add(b).min(end));
            return self.on(Storage::Grf, from, to, write);
        }
        self.physical(at.reg.as_phys(), sub, bytes, write);
    }

    /// Reports an access to `bytes` of an architecture register, or to its end if unknown.
    fn physical(&mut self, reg: Option<Reg>, sub: u32, bytes: Option<u32>, write: bool) {
        match reg {
            Some(Reg::Arf(Arf::Null, _)) => {}
            Some(Reg::Arf(Arf::Acc, _)) => self.on(Storage::Acc, 0, 1, write),
            Some(Reg::Arf(Arf::Flag, n)) => {
                let start = u32::from(n) * 4 + sub;
                self.on(Storage::Flag, start, start + bytes.unwrap_or(4), write);
            }
            Some(Reg::Arf(Arf::Address, _)) => {
                self.on(Storage::Address, sub, sub + bytes.unwrap_or(32), write);
            }
            // Only fixed instructions change the state that a thread is dispatched with and the
            // enabled channels.
            Some(Reg::Arf(Arf::ChannelEnable | Arf::State, _)) if !write => {}
            _ => self.fixed = true,
        }
    }

    /// Reports a read of `bytes` of an address register.
    fn address(&mut self, at: RegRef<Reg>, bytes: Option<u32>) {
        self.physical(Some(at.reg), at.sub.into(), bytes, false);
    }

    /// Reports accesses of sources and destination, of the given [`operand_bytes`].
    fn operands<R: Register>(&mut self, inst: &Inst<R>, bytes: [Option<u32>; 4])
    where
        G: Fn(R) -> Option<Range<u32>>,
    {
        let [a, b, c, written] = bytes;
        for (s, read) in inst.srcs.iter().zip([a, b, c]) {
            match *s {
                Src::Direct { at, .. } | Src::Macro { at, .. } => self.register(at, read, false),
                Src::Indirect { addr, region, .. } => {
                    let words = match region {
                        Region::VxH { .. } => None,
                        _ => Some(2),
                    };
                    self.address(addr, words);
                    self.on(Storage::Grf, 0, u32::MAX, false);
                }
                Src::None | Src::Imm { .. } | Src::Target(_) => {}
            }
        }
        match inst.dst {
            Dst::Direct { at, .. } | Dst::Macro { at, .. } => self.register(at, written, true),
            Dst::Indirect { addr, .. } => {
                self.address(addr, Some(2));
                self.on(Storage::Grf, 0, u32::MAX, true);
            }
            Dst::None => {}
        }
    }

    /// Reports the descriptors of a send, and the memory access of its message.
    fn message<R: Register>(&mut self, inst: &Inst<R>, message: Option<&Message>)
    where
        G: Fn(R) -> Option<Range<u32>>,
    {
        for d in inst.send.iter().flat_map(|s| [s.ex, s.desc]) {
            if let Desc::Reg(at) = d {
                self.address(at, Some(4));
            }
        }
        let header = match inst.srcs[0] {
            Src::Direct { at, .. } if at.sub == 0 => (self.grf)(at.reg).map(|r| r.start),
            _ => None,
        };
        let known = message.is_some_and(|m| self.memory(&m.op, header == Some(0)));
        self.fixed |= !known;
    }

    /// Reports predicate and condition modifier.
    fn flags<R: Register>(&mut self, inst: &Inst<R>)
    where
        G: Fn(R) -> Option<Range<u32>>,
    {
        if let Some(p) = inst.pred {
            match p.ctrl {
                PredCtrl::AnyV | PredCtrl::AllV => self.on(Storage::Flag, 0, 8, false),
                PredCtrl::AnyH(n) | PredCtrl::AllH(n) => {
                    self.flag_bits(inst, p.flag, n.into(), false);
                }
                PredCtrl::Sequential => self.flag_bits(inst, p.flag, 1, false),
                PredCtrl::Any | PredCtrl::All => self.flag_bits(inst, p.flag, 32, false),
            }
        }
        // A `sel` or `csel` with a condition writes no flag.
        if let Some(c) = inst.cond
            && !matches!(inst.op, Op::Sel | Op::Csel)
        {
            self.flag_bits(inst, c.flag, 1, true);
        }
    }

    /// Reports the bytes of a flag that hold bits of the instruction's channels. `group` is the
    /// number of channels that a predicate combines.
    fn flag_bits<R: Register>(&mut self, inst: &Inst<R>, flag: RegRef<R>, group: u32, write: bool)
    where
        G: Fn(R) -> Option<Range<u32>>,
    {
        let first = u32::from(flag.sub) * 8 + inst.offset.channels();
        let end = first + inst.exec.channels().max(group);
        if end > 32 {
            // Bits wrap within the register.
            return self.register(RegRef::new(flag.reg, 0), Some(4), write);
        }
        let (from, to) = (first / 8, end.div_ceil(8));
        self.register(RegRef::new(flag.reg, from as u16), Some(to - from), write);
    }

    /// Reports the accumulator of an instruction that accesses it implicitly.
    fn accumulator<R: Register>(&mut self, inst: &Inst<R>) {
        let op = inst.op;
        let macros = inst.srcs.iter().any(|s| matches!(s, Src::Macro { .. }));
        if macros || matches!(op, Op::Mac | Op::Mach | Op::Macl | Op::Sada2) {
            self.on(Storage::Acc, 0, 1, false);
        }
        if matches!(inst.dst, Dst::Macro { .. })
            || matches!(op, Op::Addc | Op::Subb | Op::Mach | Op::Macl)
            || inst.opts.contains(InstOpts::ACC_WR_EN)
        {
            self.on(Storage::Acc, 0, 1, true);
        }
    }

    /// Reports an access to the surface with an index.
    fn surface(&mut self, index: u8, write: bool) {
        match u32::from(index) {
            n if n < GLOBAL_UNITS - 1 => self.on(Storage::Global, n, n + 1, write),
            _ => self.on(Storage::Global, 0, GLOBAL_UNITS, write),
        }
    }

    /// Reports the memory access of a message. Returns `false` if it is not known well enough to
    /// reorder the send. `own` is set if the header is the thread's own.
    fn memory(&mut self, op: &MsgOp, own: bool) -> bool {
        if let Some((addr, write)) = op.access() {
            match addr {
                AddrModel::A32(Surface::Slm) => self.on(Storage::Slm, 0, 1, write),
                AddrModel::A32(Surface::Bti(n)) => self.surface(n, write),
                AddrModel::A32(Surface::Stateless | Surface::StatelessNonCoherent) => {
                    self.on(Storage::Scratch, 0, SCRATCH, write);
                    self.on(Storage::Global, 0, GLOBAL_UNITS, write);
                }
                AddrModel::A64(_) => self.on(Storage::Global, 0, GLOBAL_UNITS, write),
            }
            return true;
        }
        match *op {
            MsgOp::Scratch {
                dir, count, offset, ..
            } => {
                let (start, end) = if own {
                    (offset.into(), u32::from(offset) + u32::from(count))
                } else {
                    (0, SCRATCH)
                };
                self.on(Storage::Scratch, start, end.min(SCRATCH), dir == Dir::Write);
            }
            MsgOp::Typed { dir, .. } | MsgOp::MediaBlock { dir, .. } => {
                self.on(Storage::Global, 0, GLOBAL_UNITS, dir == Dir::Write);
            }
            MsgOp::TypedAtomic { .. } | MsgOp::CounterAtomic { .. } => {
                self.on(Storage::Global, 0, GLOBAL_UNITS, true);
            }
            MsgOp::Lsc(a) => {
                let write = a.op.kind() != LscKind::Load;
                match (a.port, a.surface) {
                    (LscPort::Slm, _) => self.on(Storage::Slm, 0, 1, write),
                    // Scratch is accessed through a surface state as well.
                    (_, LscSurface::Ss(_) | LscSurface::Bss(_)) => {
                        self.on(Storage::Scratch, 0, SCRATCH, write);
                        self.on(Storage::Global, 0, GLOBAL_UNITS, write);
                    }
                    (_, LscSurface::Bti(n)) => self.surface(n, write),
                    _ => self.on(Storage::Global, 0, GLOBAL_UNITS, write),
                }
            }
            MsgOp::Sample(_) => {
                self.on(Storage::Global, 0, GLOBAL_UNITS, false);
            }
            _ => return false,
        }
        true
    }
}

/// Returns true if an instruction must not be reordered, whatever its operands.
fn is_fixed<R: Copy>(inst: &Inst<R>) -> bool {
    let opts = InstOpts::ATOMIC
        | InstOpts::SWITCH
        | InstOpts::NO_DD_CLR
        | InstOpts::NO_DD_CHK
        | InstOpts::EOT
        | InstOpts::BREAKPOINT
        | InstOpts::NO_SRC_DEP_SET
        | InstOpts::SERIALIZE
        | InstOpts::NO_PREEMPT;
    inst.opts.intersects(opts)
        || inst.op.format().is_branch()
        || matches!(inst.op, Op::Wait | Op::Sync | Op::Nop | Op::Illegal)
        // Their operands are not determined by regions.
        || matches!(inst.op, Op::Pln | Op::Line)
        // It waits for the other thread of its pair.
        || inst.op == Op::Dpasw
        || inst.subfn == Subfn::Math(MathFn::Idiv)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{legal, perf, text};

    /// Returns the GRF bytes that a line reads and writes, sources in order, and the
    /// restriction on its order.
    fn of(platform: Platform, line: &str) -> (Vec<(u32, u32, bool)>, Reordering) {
        let code = text::assemble(platform, line).unwrap_or_else(|e| panic!("{line}: {e}"));
        let size = platform.features().grf_bytes;
        let end = platform.features().grf_count_large * size;
        let grf = |r: Reg| match r {
            Reg::Grf(n) => Some(u32::from(n) * size..end),
            Reg::Arf(..) => None,
        };
        let mut all = Vec::new();
        let order = accesses(platform, &code.insts[0].inst, grf, |a| {
            assert_eq!(a.storage, Storage::Grf);
            all.push((a.start, a.end, a.write));
        });
        (all, order)
    }

    #[test]
    fn systolic_operands_are_consecutive_registers() {
        let line = "dpas.8x8 (8|M0) r10:f r10:f r30:hf r40.0:hf";
        let all = [
            (320, 576, false),
            (960, 1216, false),
            (1280, 1536, false),
            (320, 576, true),
        ];
        assert_eq!(of(Platform::XeHpg, line), (all.to_vec(), Reordering::Free));
        // Nothing is added. Rows of four-bit elements share half of a register each.
        let line = "dpas.8x3 (8|M0) r10:d null:d r30:b r40.0:u4";
        let all = [(960, 1216, false), (1280, 1328, false), (320, 416, true)];
        assert_eq!(of(Platform::XeHpg, line), (all.to_vec(), Reordering::Free));
        // Elements of two bits fill a register in two steps.
        let line = "dpas.8x1 (8|M0) r10:d r11:d r30:u2 r40.0:s2";
        let all = [
            (352, 384, false),
            (960, 1088, false),
            (1280, 1296, false),
            (320, 352, true),
        ];
        assert_eq!(of(Platform::XeHpg, line), (all.to_vec(), Reordering::Free));
        // Sums of 16 bits, in registers of 64 bytes.
        let line = "dpas.8x5 (16|M0) r10:bf r20:f r30:bf r40.0:bf";
        let all = [
            (1280, 1600, false),
            (1920, 2432, false),
            (2560, 2720, false),
            (640, 800, true),
        ];
        assert_eq!(of(Platform::XeHpc, line), (all.to_vec(), Reordering::Free));
        // Threads of a pair wait for each other.
        let line = "dpasw.8x8 (8|M0) r10:d r10:d r30:b r40.0:b";
        assert_eq!(of(Platform::XeHpg, line).1, Reordering::Fixed);
    }

    #[test]
    fn systolic_rows_take_time_one_by_one() {
        let time = |line: String| {
            let code = text::assemble(Platform::XeHpg, &line).unwrap_or_else(|e| panic!("{e}"));
            perf::timing(Platform::XeHpg, &code.insts[0].inst)
        };
        let [one, eight] = ["dpas.8x1", "dpas.8x8"]
            .map(|op| time(format!("{op} (8|M0) r10:f r10:f r30:hf r40.0:hf")));
        assert_eq!(eight.busy, 8 * one.busy);
        assert!(one.busy > 0);
    }

    #[test]
    fn systolic_operands_end_within_the_grf_file() {
        let broken = |line: &str| {
            let code = text::assemble(Platform::XeHpg, line).unwrap_or_else(|e| panic!("{e}"));
            let found = legal::check(Platform::XeHpg, &code.insts[0].inst);
            found.iter().any(|f| f.rule.name == "dpas-range")
        };
        // Four registers of columns of two bits, eight of bytes.
        assert!(!broken("dpas.8x1 (8|M0) r10:d null:d r252:u2 r20.0:u2"));
        assert!(broken("dpas.8x1 (8|M0) r10:d null:d r253:u2 r20.0:u2"));
        assert!(!broken("dpas.8x1 (8|M0) r10:d null:d r248:b r20.0:b"));
        assert!(broken("dpas.8x1 (8|M0) r10:d null:d r249:b r20.0:b"));
        assert!(broken("dpas.8x8 (8|M0) r250:d null:d r30:b r20.0:b"));
    }
}
