//! Facts of each instruction for the scoreboard, computed once: its execution unit, and the bytes
//! that it reads and writes.

use crate::emit::Reach;
use gantry_isa_gen::effects::{self, Access, Storage};
use gantry_isa_gen::exec_unit::{ExecUnit, Function};
use gantry_isa_gen::swsb::Pipe;
use gantry_isa_gen::{Arf, Dst, Features, Inst, InstOpts, Platform, Reg, Src, Type};
use smallvec::SmallVec;
use std::ops::Range;

/// Read or written bytes of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ChunkAccess {
    /// GRF, or a chunk after the GRF file: flags, accumulators, address registers.
    pub(super) chunk: u16,
    /// Bit per byte.
    pub(super) mask: u64,
    /// True for a write, which may be partial. Otherwise a read.
    pub(super) write: bool,
}

/// Number of pipes that have an index.
pub(super) const PIPES: usize = 4;

/// Returns the index of a pipe.
const fn index(pipe: Pipe) -> u8 {
    match pipe {
        Pipe::Int | Pipe::Own | Pipe::All => 0,
        Pipe::Float => 1,
        Pipe::Long => 2,
        Pipe::Math => 3,
    }
}

/// Returns the pipe of an index.
pub(super) const fn pipe(index: u8) -> Pipe {
    match index {
        0 => Pipe::Int,
        1 => Pipe::Float,
        2 => Pipe::Long,
        _ => Pipe::Math,
    }
}

/// Execution unit of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ExecutedBy {
    /// In-order pipe, by its index.
    Pipe(u8),
    /// Out-of-order function, by a number of its own.
    OutOfOrder(u8),
    /// None: the instruction is neither waited for nor counted.
    Nobody,
}

/// Facts of one instruction.
#[derive(Clone, Debug)]
pub(super) struct InstFacts {
    touches: Range<u32>,
    pub(super) by: ExecutedBy,
    /// True if it waits for all pipes, since it reads or writes the thread's state.
    pub(super) serial: bool,
    /// True if the next instruction waits for it, since it changes the thread's state.
    pub(super) serializes: bool,
    /// Pipes of its operand types, a bit each.
    pub(super) own: u8,
    /// True if it ends the thread.
    pub(super) ends: bool,
    /// True if it executes whatever channels run.
    pub(super) sure: bool,
}

/// Facts of all instructions.
pub(super) struct Facts {
    touches: Vec<ChunkAccess>,
    pub(super) insts: Vec<InstFacts>,
    /// Number of chunks.
    pub(super) chunks: usize,
    /// First chunk after the GRF file.
    pub(super) file: u16,
}

/// Chunks after the GRF file.
const FLAGS: u16 = 0;
const ACC: u16 = 1;
const ADDRESS: u16 = 2;
const CHUNKS_AFTER_FILE: u16 = 3;
/// Bits of a mask: bytes of the largest register.
const BITS: u32 = u64::BITS;

const SYSTOLIC: u8 = 17;
const MATH: u8 = 16;

impl Facts {
    /// Computes the facts of instructions. `reaches` is in the order of its instructions.
    pub(super) fn of(platform: Platform, insts: &[Inst<Reg>], reaches: &[Reach]) -> Facts {
        let f = platform.features();
        let file = f.grf_count_large as u16;
        let mut out = Facts {
            touches: Vec::with_capacity(insts.len() * 4),
            insts: Vec::with_capacity(insts.len()),
            chunks: usize::from(file + CHUNKS_AFTER_FILE),
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

    /// Returns the reads and writes of an instruction.
    pub(super) fn touches(&self, fact: &InstFacts) -> &[ChunkAccess] {
        let Range { start, end } = fact.touches;
        &self.touches[start as usize..end as usize]
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
        let mut seen: SmallVec<[Access; 8]> = SmallVec::new();
        effects::accesses(platform, inst, grf, |a| seen.push(a));
        for a in seen {
            let Access {
                storage,
                start,
                end,
                write,
            } = a;
            match storage {
                Storage::Grf if end == u32::MAX => {
                    if !told[usize::from(write)] {
                        self.operand(f, inst, 0..f.grf_count_large * f.grf_bytes, write);
                    }
                }
                Storage::Grf => self.operand(f, inst, start..end, write),
                Storage::Acc => self.after_file(ACC, 0..1, write),
                Storage::Flag => self.after_file(FLAGS, start..end, write),
                Storage::Address => self.after_file(ADDRESS, start..end, write),
                // Messages order these accesses themselves.
                Storage::Global | Storage::Slm | Storage::Scratch => {}
            }
        }
    }

    fn after_file(&mut self, chunk: u16, bytes: Range<u32>, write: bool) {
        self.push(self.file + chunk, bytes.start, bytes.end, write);
    }

    /// Adds the bytes of an operand in the GRF file. If the hardware writes bytes by reading and
    /// writing their words, these are read and written.
    fn operand(&mut self, f: &Features, inst: &Inst<Reg>, bytes: Range<u32>, write: bool) {
        let Range { mut start, mut end } = bytes;
        let byte = inst.dst.ty().is_some_and(|t| t.bytes() == 1);
        if f.byte_rmw && write && byte && !inst.op.is_send() {
            (start, end) = (start & !1, end.next_multiple_of(2));
            self.bytes(f, start, end, false);
        }
        self.bytes(f, start, end, write);
    }

    /// Adds bytes of the GRF file.
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
        self.touches.push(ChunkAccess {
            chunk,
            mask: u64::MAX >> (BITS - count) << first.min(BITS - 1),
            write,
        });
    }
}

fn fact(platform: Platform, inst: &Inst<Reg>, touches: Range<u32>) -> InstFacts {
    let f = platform.features();
    let unit = ExecUnit::of(platform, inst);
    let by = match unit {
        ExecUnit::InOrder(_) if f.swsb_pipes.len() == 1 => ExecutedBy::Pipe(0),
        ExecUnit::InOrder(p) => ExecutedBy::Pipe(index(p)),
        ExecUnit::OutOfOrder(Function::Shared(sfid)) => ExecutedBy::OutOfOrder(sfid.number()),
        ExecUnit::OutOfOrder(Function::Math) => ExecutedBy::OutOfOrder(MATH),
        ExecUnit::OutOfOrder(Function::Systolic) => ExecutedBy::OutOfOrder(SYSTOLIC),
        ExecUnit::Uncounted => ExecutedBy::Nobody,
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
    InstFacts {
        touches,
        by,
        serial: (reads || serializes) && by != ExecutedBy::Nobody,
        serializes,
        own: types.fold(0, |all, t| all | bit(t)),
        ends: inst.opts.contains(InstOpts::EOT),
        sure: inst.no_mask && inst.pred.is_none(),
    }
}
