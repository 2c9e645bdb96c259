//! What the scoreboard must know of each instruction, computed once: who executes it, and which
//! bytes it reads and writes.

use crate::emit::Reach;
use gantry_isa_gen::exec_unit::{ExecUnit, Function};
use gantry_isa_gen::perf::{self, Access, Store};
use gantry_isa_gen::swsb::Pipe;
use gantry_isa_gen::{Arf, Dst, Features, Inst, InstOpts, Platform, Reg, Src, Type};
use std::ops::Range;

/// Some bytes of a chunk, read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Touch {
    /// A register of the file, or what stands behind it: flags, accumulators, address registers.
    pub(super) chunk: u16,
    /// A bit for each byte.
    pub(super) mask: u64,
    /// Written, perhaps in part only; else read.
    pub(super) write: bool,
}

/// Pipes as indices.
pub(super) const PIPES: usize = 4;

/// The index of a pipe.
const fn index(pipe: Pipe) -> u8 {
    match pipe {
        Pipe::Int | Pipe::Own | Pipe::All => 0,
        Pipe::Float => 1,
        Pipe::Long => 2,
        Pipe::Math => 3,
    }
}

/// The pipe of an index.
pub(super) const fn pipe(index: u8) -> Pipe {
    match index {
        0 => Pipe::Int,
        1 => Pipe::Float,
        2 => Pipe::Long,
        _ => Pipe::Math,
    }
}

/// Who executes an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// A pipe, by its index.
    Pipe(u8),
    /// What runs out of order, each function with a number of its own.
    OutOfOrder(u8),
    /// Nobody: it is neither waited for nor counted.
    Nobody,
}

/// Of one instruction.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    touches: Range<u32>,
    pub(super) by: By,
    /// It waits for all that is in the pipes: it reads or writes how the thread runs.
    pub(super) serial: bool,
    /// What follows waits for it: it changes how the thread runs.
    pub(super) serializes: bool,
    /// Which pipes its operands are of, a bit for each.
    pub(super) own: u8,
    /// It ends the thread.
    pub(super) ends: bool,
    /// It surely executes: whatever channels run.
    pub(super) sure: bool,
}

/// Of all instructions.
pub(super) struct Facts {
    touches: Vec<Touch>,
    pub(super) insts: Vec<Fact>,
    /// Chunks that there are.
    pub(super) chunks: usize,
    /// The first chunk behind the file.
    pub(super) file: u16,
}

/// Chunks behind the file.
const FLAGS: u16 = 0;
const ACC: u16 = 1;
const ADDRESS: u16 = 2;
const BEHIND: u16 = 3;
/// Bits of a mask: bytes of the longest register.
const BITS: u32 = u64::BITS;

const SYSTOLIC: u8 = 17;
const MATH: u8 = 16;

impl Facts {
    /// Of instructions; `reaches` in the order of their instructions.
    pub(super) fn of(platform: Platform, insts: &[Inst<Reg>], reaches: &[Reach]) -> Facts {
        let f = platform.features();
        let file = f.grf_count_large as u16;
        let mut out = Facts {
            touches: Vec::with_capacity(insts.len() * 4),
            insts: Vec::with_capacity(insts.len()),
            chunks: usize::from(file + BEHIND),
            file,
        };
        let mut reaches = reaches.iter().peekable();
        for (n, inst) in insts.iter().enumerate() {
            let start = out.touches.len() as u32;
            let mut told = [false; 2];
            while let Some(r) = reaches.next_if(|r| r.inst == n) {
                told[usize::from(r.write)] = true;
                out.operand(f, inst, r.bytes.clone(), r.write);
            }
            out.operands(platform, inst, told);
            let end = out.touches.len() as u32;
            out.insts.push(fact(platform, inst, start..end));
        }
        out
    }

    /// What an instruction reads and writes.
    pub(super) fn touches(&self, fact: &Fact) -> &[Touch] {
        let Range { start, end } = fact.touches;
        self.touches
            .get(start as usize..end as usize)
            .unwrap_or(&[])
    }

    fn operands(&mut self, platform: Platform, inst: &Inst<Reg>, told: [bool; 2]) {
        let f = platform.features();
        let grf = |r: Reg| match r {
            Reg::Grf(n) => {
                let start = u32::from(n) * f.grf_bytes;
                Some(start..f.grf_count_large * f.grf_bytes)
            }
            Reg::Arf(..) => None,
        };
        let mut seen = Vec::new();
        perf::accesses(platform, inst, grf, |a| seen.push(a));
        for a in seen {
            let Access {
                store,
                start,
                end,
                write,
            } = a;
            match store {
                Store::Grf if end == u32::MAX => {
                    if !told[usize::from(write)] {
                        self.operand(f, inst, 0..f.grf_count_large * f.grf_bytes, write);
                    }
                }
                Store::Grf => self.operand(f, inst, start..end, write),
                Store::Acc => self.behind(ACC, 0..1, write),
                Store::Flag => self.behind(FLAGS, start..end, write),
                Store::Address => self.behind(ADDRESS, start..end, write),
                // Whose order messages see to.
                Store::Global | Store::Slm | Store::Scratch => {}
            }
        }
    }

    fn behind(&mut self, chunk: u16, bytes: Range<u32>, write: bool) {
        self.push(self.file + chunk, bytes.start, bytes.end, write);
    }

    /// Bytes of the file that are an operand. Where bytes are written by reading and writing their
    /// words, that is what is read and written.
    fn operand(&mut self, f: &Features, inst: &Inst<Reg>, bytes: Range<u32>, write: bool) {
        let Range { mut start, mut end } = bytes;
        let byte = inst.dst.ty().is_some_and(|t| t.bytes() == 1);
        if f.byte_rmw && write && byte && !inst.op.is_send() {
            (start, end) = (start & !1, end.next_multiple_of(2));
            self.bytes(f, start, end, false);
        }
        self.bytes(f, start, end, write);
    }

    /// Bytes of the file.
    fn bytes(&mut self, f: &Features, start: u32, end: u32, write: bool) {
        let grf = f.grf_bytes;
        let mut at = start;
        while at < end {
            let (n, first) = (at / grf, at % grf);
            let last = (end - n * grf).min(grf);
            self.push(n as u16, first, last, write);
            at = (n + 1) * grf;
        }
    }

    fn push(&mut self, chunk: u16, first: u32, last: u32, write: bool) {
        let count = last.saturating_sub(first).clamp(1, BITS);
        self.touches.push(Touch {
            chunk,
            mask: u64::MAX >> (BITS - count) << first.min(BITS - 1),
            write,
        });
    }
}

fn fact(platform: Platform, inst: &Inst<Reg>, touches: Range<u32>) -> Fact {
    let f = platform.features();
    let unit = ExecUnit::of(platform, inst);
    let by = match unit {
        ExecUnit::InOrder(_) if f.swsb_pipes.len() == 1 => By::Pipe(0),
        ExecUnit::InOrder(p) => By::Pipe(index(p)),
        ExecUnit::OutOfOrder(Function::Shared(sfid)) => By::OutOfOrder(sfid.number()),
        ExecUnit::OutOfOrder(Function::Math) => By::OutOfOrder(MATH),
        ExecUnit::OutOfOrder(Function::Systolic) => By::OutOfOrder(SYSTOLIC),
        ExecUnit::Uncounted => By::Nobody,
    };
    let state = |at: Reg| match at {
        Reg::Arf(arf, _) => !matches!(
            arf,
            Arf::Null | Arf::Acc | Arf::Flag | Arf::Address | Arf::ChannelEnable
        ),
        Reg::Grf(_) => false,
    };
    let reads = inst
        .srcs
        .iter()
        .any(|s| matches!(s, Src::Direct { at, .. } if state(at.reg)));
    let serializes = matches!(inst.dst, Dst::Direct { at, .. } if state(at.reg));
    let types = inst.srcs.iter().filter_map(Src::ty).chain(inst.dst.ty());
    let bit = |t: Type| 1u8 << index(Pipe::of_type(f, t));
    Fact {
        touches,
        by,
        serial: (reads || serializes) && by != By::Nobody,
        serializes,
        own: types.fold(0, |all, t| all | bit(t)),
        ends: inst.opts.contains(InstOpts::EOT),
        sure: inst.no_mask && inst.pred.is_none(),
    }
}
