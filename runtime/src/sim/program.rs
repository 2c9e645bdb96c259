//! Decoder of kernels into micro-operations, which the execution loop runs without further lookups.

use super::fast::{self, Handler, Ieee, RowSource};
use super::operand::{send, source};
use super::regs::{self, FileOffset, Regs};
use super::send::SendOp;
use super::special::{self, Special};
use gantry_isa_gen::message::Message;
use gantry_isa_gen::sem::AluOp;
use gantry_isa_gen::text::print_inst;
use gantry_isa_gen::{
    Arf, Dst, Inst, InstOpts, Op, Platform, PredCtrl, Reg, RegRef, Src, SrcMods, Subfn, SyncFn,
    Target, Type, decode, legal,
};

/// Decoded kernel.
pub(super) struct Program {
    /// Micro-operations in address order.
    pub(super) ops: Vec<MicroOp>,
    /// Instructions as decoded, for messages; in the order of `ops`.
    pub(super) insts: Vec<Option<Inst<Reg>>>,
    /// Index of the operation at `offset / 8`, or `NO_OP` where none begins.
    index: Vec<u32>,
    pub(super) platform: Platform,
    /// Number of GRFs of a thread.
    pub(super) grfs: u32,
}

/// Fault of a thread that runs past the end of its code.
pub(super) const LEFT_CODE: &str = "execution left the kernel's code";

/// Index of an operation that does not exist.
pub(super) const NO_OP: u32 = u32::MAX;

/// Instruction in the form that the execution loop runs.
pub(super) struct MicroOp {
    /// Byte offset in the kernel.
    pub(super) ip: u32,
    /// Exec size.
    pub(super) n: u8,
    /// Channel offset.
    pub(super) shift: u8,
    /// Mask of all channels of the instruction: `n` ones.
    pub(super) full: u32,
    /// True if it ignores the execution mask.
    pub(super) no_mask: bool,
    /// True if channels may be waiting to rejoin here.
    pub(super) join: bool,
    /// True if it reads registers that are computed when read (`ce0`, `tm0`, `ip`), or writes ones
    /// with effects (`cr0`).
    pub(super) special: bool,
    /// Float types that must follow IEEE for the handler.
    pub(super) needs: Ieee,
    pub(super) pred: Pred,
    /// Predicate of `sel`, which selects and disables no channel.
    pub(super) pick: Pred,
    pub(super) dst: DstOp,
    pub(super) srcs: [SrcOp; 3],
    /// Sources of a row handler.
    pub(super) rows: [RowSource; 3],
    /// Flag bit of channel 0 of the condition modifier, where flags are written.
    pub(super) flag: Option<u8>,
    pub(super) acc_wr_en: bool,
    pub(super) alu: AluOp,
    pub(super) kind: MicroOpKind,
}

/// Kind of a micro-operation.
pub(super) enum MicroOpKind {
    /// ALU operation with a handler of its own.
    Fast(Handler),
    /// Any other ALU operation.
    Alu,
    /// Operation on more than its operands.
    Special(Special),
    /// `mov`, `movi` of indirect regions.
    Movi,
    Send(Box<SendOp>),
    Jmpi(Jump),
    If(Jump),
    Else(Jump),
    /// `endif` and `join`.
    Join(Jump),
    While(Jump),
    /// `break`, `cont`, `halt`: channels go to UIP.
    Leave(Jump),
    Goto(Jump, bool),
    Brd(Jump),
    Brc(Jump),
    Call(Jump),
    Calla,
    Ret,
    /// `wait`, `sync.bar`.
    Wait(BarrierId),
    /// Instruction that ends the launch when it runs, with the reason.
    Bad(String),
}

/// Barrier of the group that an instruction waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BarrierId {
    Known(u32),
    /// Id in the low byte at a byte offset in the GRF file.
    Reg(u32),
}

/// Targets of a branch as operation indices, or [`NO_OP`].
#[derive(Clone, Copy)]
pub(super) struct Jump {
    pub(super) jip: u32,
    pub(super) uip: u32,
}

/// Predicate of a micro-operation.
#[derive(Clone, Copy)]
pub(super) enum Pred {
    None,
    /// Flag bits, starting at this one.
    Seq {
        bit: u8,
        invert: bool,
    },
    /// Bits of f0 and f1 combined, starting at this one.
    Vertical {
        bit: u8,
        all: bool,
        invert: bool,
    },
    /// Groups of `group` channels.
    Horizontal {
        bit: u8,
        group: u8,
        all: bool,
        invert: bool,
    },
}

/// Destination of a micro-operation.
#[derive(Clone, Copy)]
pub(super) enum DstOp {
    /// None: results are dropped.
    Null,
    /// Elements from `at` on, `step` bytes apart.
    Direct { at: u32, step: u32, acc: bool },
    /// Elements at the address in the address register at `addr`, plus `imm`.
    Indirect { addr: u32, imm: i32, step: u32 },
}

/// Source of a micro-operation.
pub(super) enum SrcOp {
    None,
    /// One element for all channels, at a byte offset.
    Scalar {
        at: u32,
    },
    /// Consecutive elements.
    Packed {
        at: u32,
    },
    /// Rows of `1 << width_log` elements, with `vs` bytes between rows and `hs` bytes between
    /// elements.
    Rect {
        at: u32,
        vs: u32,
        width_log: u32,
        hs: u32,
    },
    /// `Rect` at an address from an address register.
    Indirect {
        addr: u32,
        imm: i32,
        vs: u32,
        width_log: u32,
        hs: u32,
    },
    /// Rows that each have an address register element of their own.
    MultiIndirect {
        addr: u32,
        imm: i32,
        width_log: u32,
        hs: u32,
    },
    /// Immediate: the element bits of all channels.
    Value(u64),
    /// Packed vector immediate: the element bits of each channel.
    Imm(Box<[u64; 32]>),
}

impl Program {
    /// Decodes the code of a kernel whose threads have `grfs` GRFs. The code consists of parts,
    /// each at its offset in the kernel's code space, in order. Never fails: what cannot be decoded
    /// ends the launch if it is reached.
    pub(super) fn decode(platform: Platform, grfs: u32, parts: &[(u32, &[u8])]) -> Program {
        let end = parts.last().map_or(0, |(at, c)| *at as usize + c.len());
        let mut insts = Vec::new();
        let mut index = vec![NO_OP; end.div_ceil(8)];
        let mut starts = Vec::new();
        for (base, code) in parts {
            let base = *base as usize;
            if base > 0 {
                // Execution cannot fall through from one part to the next.
                starts.push((base, 0, Some(String::new())));
                insts.push(None);
            }
            let mut at = 0usize;
            while let Some(rest) = code.get(at..).filter(|r| !r.is_empty()) {
                if let Some(i) = index.get_mut((base + at) / 8) {
                    *i = starts.len() as u32;
                }
                match decode::decode(platform, rest) {
                    Ok(d) => {
                        starts.push((base + at, d.len, None));
                        insts.push(Some(d.inst));
                        at += d.len.max(8);
                    }
                    Err(e) => {
                        // The length is known from the compaction bit.
                        let compact = rest.get(3).is_some_and(|b| b >> 5 & 1 == 1);
                        let len = if compact { 8 } else { 16 };
                        let why = format!("illegal instruction: {e}");
                        starts.push((base + at, len, Some(why)));
                        insts.push(None);
                        at += len;
                    }
                }
            }
        }
        let mut program = Program {
            ops: Vec::new(),
            insts,
            index,
            platform,
            grfs,
        };
        let mut ops = Vec::with_capacity(starts.len());
        for ((at, len, error), inst) in starts.iter().zip(&program.insts) {
            let ip = *at as u32;
            let op = match (inst, error) {
                (Some(inst), _) => program.lower(inst, ip, *len as u32),
                (None, Some(why)) if !why.is_empty() => bad(ip, why.clone()),
                (None, _) => bad(ip, LEFT_CODE.to_owned()),
            };
            ops.push(op);
        }
        // `break` names the loop's `while` as its end, and its channels go on after it (Skylake
        // PRM, Vol. 7, "break").
        for i in 0..ops.len() {
            let Some(MicroOpKind::Leave(j)) = ops.get(i).map(|o| &o.kind) else {
                continue;
            };
            let uip = j.uip;
            let at_while = matches!(
                ops.get(uip as usize).map(|o| &o.kind),
                Some(MicroOpKind::While(_))
            );
            if let Some(op) = ops.get_mut(i)
                && op.alu.op == Op::Break
                && at_while
                && let MicroOpKind::Leave(j) = &mut op.kind
            {
                j.uip = uip + 1;
            }
        }
        special::mark_overwritten(&mut ops, &program.insts);
        // Channels can wait after a branch and at its targets.
        let mut joins = vec![false; ops.len()];
        for (i, op) in ops.iter().enumerate() {
            let jump = match &op.kind {
                MicroOpKind::Jmpi(j)
                | MicroOpKind::If(j)
                | MicroOpKind::Else(j)
                | MicroOpKind::Join(j)
                | MicroOpKind::While(j)
                | MicroOpKind::Leave(j)
                | MicroOpKind::Goto(j, _)
                | MicroOpKind::Brd(j)
                | MicroOpKind::Brc(j)
                | MicroOpKind::Call(j) => *j,
                MicroOpKind::Ret | MicroOpKind::Calla => Jump {
                    jip: NO_OP,
                    uip: NO_OP,
                },
                _ => continue,
            };
            for t in [jump.jip, jump.uip, i as u32 + 1] {
                if let Some(j) = joins.get_mut(t as usize) {
                    *j = true;
                }
            }
        }
        for (op, join) in ops.iter_mut().zip(joins) {
            op.join = join;
        }
        program.ops = ops;
        program
    }

    /// Returns the instruction of an operation.
    pub(super) fn inst(&self, pc: u32) -> Option<&Inst<Reg>> {
        self.insts.get(pc as usize)?.as_ref()
    }

    /// Returns the message of a send, by the current contents of its descriptors. `None` if they
    /// describe no message.
    pub(super) fn message(&self, regs: &Regs, pc: u32, s: &SendOp) -> Option<Message> {
        s.fixed_message()
            .or_else(|| s.message(regs, self.inst(pc)?, self.platform).ok())
    }

    /// Returns the end of a thread's GRFs in bytes.
    pub(super) fn grf_end(&self) -> u32 {
        self.grfs * self.platform.features().grf_bytes
    }

    /// Returns the operation at a byte offset, or [`NO_OP`].
    pub(super) fn at(&self, offset: i64) -> u32 {
        if offset < 0 || offset % 8 != 0 {
            return NO_OP;
        }
        usize::try_from(offset / 8)
            .ok()
            .and_then(|i| self.index.get(i))
            .copied()
            .unwrap_or(NO_OP)
    }

    fn lower(&self, inst: &Inst<Reg>, ip: u32, len: u32) -> MicroOp {
        // Instructions that the hardware lacks are illegal here too.
        if !legal::is_legal(self.platform, inst) {
            let found = legal::check(self.platform, inst);
            if let Some(f) = found.iter().find(|f| !f.rule.is_tolerated()) {
                return bad(ip, format!("illegal instruction: {f}"));
            }
        }
        match self.try_lower(inst, ip, len) {
            Ok(op) => op,
            Err(why) => bad(ip, why),
        }
    }

    fn try_lower(&self, inst: &Inst<Reg>, ip: u32, len: u32) -> Result<MicroOp, String> {
        let n = inst.exec.channels();
        let full = if n == 32 { u32::MAX } else { (1 << n) - 1 };
        let shift = inst.offset.channels();
        let mut special = false;
        let mut place = |r: RegRef<Reg>| -> Result<FileOffset, String> {
            let p = regs::place(self.platform, self.grfs, r)?;
            special |= p.special;
            Ok(p)
        };
        let mut types = [None; 3];
        let mut mods = [SrcMods::default(); 3];
        for (i, s) in inst.srcs.iter().enumerate() {
            types[i] = s.ty();
            if let Src::Direct { mods: m, .. }
            | Src::Indirect { mods: m, .. }
            | Src::Macro { mods: m, .. } = s
            {
                mods[i] = *m;
            }
        }
        let mut srcs = [SrcOp::None, SrcOp::None, SrcOp::None];
        let is_send = inst.op.is_send();
        if !is_send {
            let step = match inst.dst {
                Dst::Direct { hs, ty, .. } | Dst::Indirect { hs, ty, .. } => {
                    u32::from(hs) * ty.bytes()
                }
                _ => 0,
            };
            for (out, s) in srcs.iter_mut().zip(&inst.srcs) {
                *out = source(s, n, step, &mut place)?;
            }
        }
        let dst = match inst.dst {
            _ if is_send => DstOp::Null,
            Dst::None => DstOp::Null,
            Dst::Direct { at, .. } if at.reg.is_null() => DstOp::Null,
            Dst::Direct { at, hs, ty } => {
                let p = place(at)?;
                // A call writes two dwords, whatever its exec size.
                let written = match inst.op {
                    Op::Call | Op::Calla => 2,
                    _ => n,
                };
                let end = p.at + (written - 1) * u32::from(hs) * ty.bytes() + ty.bytes();
                let last = self.grf_end();
                if p.at < last && end > last {
                    return Err("the destination runs past the last register".to_owned());
                }
                DstOp::Direct {
                    at: p.at,
                    step: u32::from(hs) * ty.bytes(),
                    acc: p.acc,
                }
            }
            Dst::Indirect { addr, imm, hs, ty } => DstOp::Indirect {
                addr: place(addr)?.at,
                imm: i32::from(imm),
                step: u32::from(hs) * ty.bytes(),
            },
            Dst::Macro { at, ty, .. } => DstOp::Direct {
                at: place(at)?.at,
                step: ty.bytes(),
                acc: false,
            },
        };
        let pred = match inst.pred {
            None => Pred::None,
            Some(p) => {
                let bit = flag_bit(p.flag)?;
                let invert = p.inverse;
                let bit = bit.wrapping_add(shift as u8);
                match p.ctrl {
                    PredCtrl::Sequential => Pred::Seq {
                        bit: wrap_flag(bit, p.flag),
                        invert,
                    },
                    PredCtrl::AnyV | PredCtrl::AllV => Pred::Vertical {
                        bit: bit & 31,
                        all: p.ctrl == PredCtrl::AllV,
                        invert,
                    },
                    PredCtrl::Any | PredCtrl::All => Pred::Horizontal {
                        bit: wrap_flag(bit, p.flag),
                        group: n as u8,
                        all: p.ctrl == PredCtrl::All,
                        invert,
                    },
                    PredCtrl::AnyH(group) | PredCtrl::AllH(group) => Pred::Horizontal {
                        bit: wrap_flag(bit, p.flag),
                        group,
                        all: matches!(p.ctrl, PredCtrl::AllH(_)),
                        invert,
                    },
                }
            }
        };
        let flag = match inst.cond {
            Some(c) if !matches!(inst.op, Op::Sel | Op::Csel) => Some(wrap_flag(
                flag_bit(c.flag)?.wrapping_add(shift as u8),
                c.flag,
            )),
            _ => None,
        };
        let acc_wr_en = inst.opts.contains(InstOpts::ACC_WR_EN);
        let alu = AluOp {
            // Where there is no `macl`, `mach` that leaves the accumulator alone gives the low
            // half. Intel's compiler multiplies dwords that way from Gen11 on
            // (`IR_Builder::createMacl`).
            op: match inst.op {
                Op::Mach if !acc_wr_en && Op::Macl.info(self.platform).is_none() => Op::Macl,
                op => op,
            },
            math: match inst.subfn {
                Subfn::Math(f) => Some(f),
                _ => None,
            },
            sat: inst.sat,
            cond: inst.cond.map(|c| c.cond),
            dst: inst.dst.ty().unwrap_or(Type::Ud),
            srcs: types,
            mods,
            table: match inst.subfn {
                Subfn::Bfn(table) => table,
                _ => 0,
            },
        };
        let target = |s: &Src<Reg>| match s {
            Src::Target(Target::Rel(rel)) => self.at(i64::from(ip) + i64::from(*rel)),
            _ => NO_OP,
        };
        let jump = Jump {
            jip: target(&inst.srcs[0]),
            uip: target(&inst.srcs[1]),
        };
        let next = self.at(i64::from(ip) + i64::from(len));
        let mut needs = Ieee::empty();
        let mut rows = Default::default();
        let bctrl = inst.subfn == Subfn::BranchCtrl(true);
        let kind = match inst.op {
            Op::Send | Op::Sendc | Op::Sends | Op::Sendsc => {
                MicroOpKind::Send(Box::new(send(self.platform, self.grfs, inst)?))
            }
            Op::Jmpi => match inst.srcs[0] {
                Src::Target(_) => MicroOpKind::Jmpi(jump),
                // A register holds the distance from the next instruction, or from this one.
                _ => MicroOpKind::Jmpi(Jump {
                    jip: NO_OP,
                    uip: if self.platform.features().jmpi_from_end {
                        next
                    } else {
                        self.at(i64::from(ip))
                    },
                }),
            },
            Op::If => MicroOpKind::If(jump),
            Op::Else => MicroOpKind::Else(jump),
            Op::Endif | Op::Join => MicroOpKind::Join(jump),
            Op::While => MicroOpKind::While(jump),
            Op::Break | Op::Cont | Op::Halt => MicroOpKind::Leave(jump),
            // Its channels go to UIP where the predicate is true, as those of `brc` do.
            Op::Goto if !bctrl && self.platform.features().goto_on_true => MicroOpKind::Brc(jump),
            Op::Goto => MicroOpKind::Goto(jump, bctrl),
            Op::Brd => MicroOpKind::Brd(jump),
            Op::Brc => MicroOpKind::Brc(jump),
            Op::Call => MicroOpKind::Call(jump),
            Op::Calla => MicroOpKind::Calla,
            Op::Ret => MicroOpKind::Ret,
            Op::Wait => MicroOpKind::Wait(BarrierId::Known(0)),
            Op::Sync => match inst.subfn {
                Subfn::Sync(SyncFn::Bar) => MicroOpKind::Wait(barrier_id(&srcs[0])),
                // Memory is coherent, and results are complete at every instruction.
                _ => MicroOpKind::Fast(fast::nothing),
            },
            Op::Nop => MicroOpKind::Fast(fast::nothing),
            Op::Illegal => MicroOpKind::Bad("the `illegal` instruction".to_owned()),
            Op::Movi => MicroOpKind::Movi,
            _ => match special::kind(inst)? {
                Some(kind) => kind,
                None => {
                    let operands = fast::Operands {
                        n,
                        dst: &dst,
                        srcs: &srcs,
                        acc_wr_en,
                        flags: flag.is_some(),
                        special,
                    };
                    match fast::handler(&alu, &operands) {
                        Some(fast) => {
                            needs = fast.needs;
                            rows = fast.rows;
                            MicroOpKind::Fast(fast.run)
                        }
                        None => MicroOpKind::Alu,
                    }
                }
            },
        };
        let (pred, pick) = if inst.op == Op::Sel {
            (Pred::None, pred)
        } else {
            (pred, Pred::None)
        };
        Ok(MicroOp {
            ip,
            n: n as u8,
            shift: shift as u8,
            full,
            no_mask: inst.no_mask,
            join: false,
            special,
            needs,
            pred,
            pick,
            dst,
            srcs,
            rows,
            flag,
            acc_wr_en,
            alu,
            kind,
        })
    }
}

/// Creates an operation that ends the launch.
fn bad(ip: u32, why: String) -> MicroOp {
    MicroOp {
        ip,
        n: 1,
        shift: 0,
        full: 1,
        no_mask: true,
        join: false,
        special: false,
        needs: Ieee::empty(),
        pred: Pred::None,
        pick: Pred::None,
        dst: DstOp::Null,
        srcs: [SrcOp::None, SrcOp::None, SrcOp::None],
        rows: Default::default(),
        flag: None,
        acc_wr_en: false,
        alu: AluOp {
            op: Op::Illegal,
            math: None,
            sat: false,
            cond: None,
            dst: Type::Ud,
            srcs: [None; 3],
            mods: [SrcMods::default(); 3],
            table: 0,
        },
        kind: MicroOpKind::Bad(why),
    }
}

/// Returns the barrier that `sync.bar` names. Without a source it is the group's own.
fn barrier_id(src: &SrcOp) -> BarrierId {
    match src {
        SrcOp::Value(v) => BarrierId::Known(*v as u32 & 0xff),
        SrcOp::Scalar { at } | SrcOp::Packed { at } | SrcOp::Rect { at, .. } => BarrierId::Reg(*at),
        _ => BarrierId::Known(0),
    }
}

/// Returns the bit number of a flag sub-register, counted over all flag registers.
fn flag_bit(r: RegRef<Reg>) -> Result<u8, String> {
    match r.reg {
        Reg::Arf(Arf::Flag, n @ 0..=3) => Ok(n * 32 + (r.sub as u8 & 2) * 8),
        _ => Err(format!("{} is not a flag register", r.reg)),
    }
}

/// Wraps a bit number within its own flag register.
fn wrap_flag(bit: u8, r: RegRef<Reg>) -> u8 {
    let base = match r.reg {
        Reg::Arf(_, n) => n.min(3) * 32,
        Reg::Grf(_) => 0,
    };
    base + (bit & 31)
}

impl Program {
    /// Prints an operation's instruction in IGA's syntax with its columns closed up. Empty where
    /// there is none.
    pub(super) fn text(&self, pc: u32) -> String {
        let at = pc as usize;
        let (Some(Some(inst)), Some(op)) = (self.insts.get(at), self.ops.get(at)) else {
            return String::new();
        };
        let label = |t: Target| match t {
            Target::Rel(d) => format!("L{}", i64::from(op.ip) + i64::from(d)),
            Target::Label(n) => format!("label{n}"),
        };
        let line = print_inst(self.platform, inst, &label);
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        words.join(" ")
    }
}
