//! Decoding a kernel once, into micro-operations that the execution loop runs without looking anything up.

use super::regs::{self, FileOffset};
use gantry_isa_gen::message::Message;
use gantry_isa_gen::sem::{AluOp, packed_imm};
use gantry_isa_gen::text::print_inst;
use gantry_isa_gen::{
    Arf, Cond, Desc, Dst, Inst, InstOpts, Op, Platform, PredCtrl, Reg, RegRef, Region, Src,
    SrcMods, Subfn, Target, Type, decode,
};

/// A kernel, decoded.
pub(super) struct Program {
    /// The micro-operations, in address order.
    pub(super) ops: Vec<MicroOp>,
    /// The instructions as decoded, for messages; in the order of `ops`.
    pub(super) insts: Vec<Option<Inst<Reg>>>,
    /// The index of the operation at `offset / 8`; `NO_OP` where none begins.
    index: Vec<u32>,
    pub(super) platform: Platform,
}

/// No operation begins there.
pub(super) const NO_OP: u32 = u32::MAX;

/// One instruction, ready to run.
pub(super) struct MicroOp {
    /// Offset in the kernel, in bytes.
    pub(super) ip: u32,
    /// Channels.
    pub(super) n: u8,
    /// First channel.
    pub(super) shift: u8,
    /// All channels of the instruction: `n` ones.
    pub(super) full: u32,
    /// Runs whatever the execution mask.
    pub(super) no_mask: bool,
    /// Channels may be waiting to rejoin here.
    pub(super) join: bool,
    /// Reads registers that are computed when read (`ce0`, `tm0`, `ip`), or writes ones with effects (`cr0`).
    pub(super) special: bool,
    pub(super) pred: Pred,
    /// The predicate of `sel`, which selects and disables nothing.
    pub(super) pick: Pred,
    pub(super) dst: DstOp,
    pub(super) srcs: [SrcOp; 3],
    /// Flag bit of channel 0 of the flag modifier, where flags are written.
    pub(super) flag: Option<u8>,
    pub(super) acc_wr_en: bool,
    pub(super) alu: AluOp,
    pub(super) kind: Kind,
}

/// What an operation is.
pub(super) enum Kind {
    /// Single floats throughout.
    FastF,
    /// Integers of at most 32 bits, computed modulo 2^32 or signed.
    FastI32,
    /// Unsigned integers of at most 32 bits.
    FastU32,
    /// Integers, 64-bit ones among them, computed modulo 2^64 or signed.
    FastI64,
    /// Any ALU operation.
    Alu,
    /// `mov`, `movi` of indirect regions.
    Movi,
    Send(SendOp),
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
    Wait,
    Nop,
    /// Ends the launch when it runs: why.
    Bad(String),
}

/// Targets as operation indices (or [`NO_OP`]), and what they were in bytes.
#[derive(Clone, Copy)]
pub(super) struct Jump {
    pub(super) jip: u32,
    pub(super) uip: u32,
}

/// A send.
pub(super) struct SendOp {
    /// The message, where both descriptors are immediate.
    pub(super) message: Option<Message>,
    pub(super) ex: DescOp,
    pub(super) desc: DescOp,
    /// Byte offset of the payload's first GRF.
    pub(super) src0: u32,
    /// Byte offset of the second payload's first GRF (split send).
    pub(super) src1: u32,
    /// Byte offset of the response's first GRF; `None` for null.
    pub(super) dst: Option<u32>,
    pub(super) eot: bool,
}

/// A descriptor.
#[derive(Clone, Copy)]
pub(super) enum DescOp {
    Imm(u32),
    /// Byte offset in the register file.
    Reg(u32),
}

/// Predication.
#[derive(Clone, Copy)]
pub(super) enum Pred {
    None,
    /// Flag bits from this one on.
    Seq {
        bit: u8,
        invert: bool,
    },
    /// Bits of f0 and f1 from this one on, combined.
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

/// A destination.
#[derive(Clone, Copy)]
pub(super) enum DstOp {
    /// Results vanish.
    Null,
    /// Elements `step` bytes apart from `at` on.
    Direct { at: u32, step: u32, acc: bool },
    /// From the address in the address register at `addr`, plus `imm`.
    Indirect { addr: u32, imm: i32, step: u32 },
}

/// A source.
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
    /// Rows of `1 << width_log` elements, `vs` bytes apart, elements `hs` bytes apart.
    Rect {
        at: u32,
        vs: u32,
        width_log: u32,
        hs: u32,
    },
    /// As `Rect`, from an address register's address.
    Indirect {
        addr: u32,
        imm: i32,
        vs: u32,
        width_log: u32,
        hs: u32,
    },
    /// Each row has an address register element of its own.
    MultiIndirect {
        addr: u32,
        imm: i32,
        width_log: u32,
        hs: u32,
    },
    /// An immediate: the element bits of each channel.
    Imm(Box<[u64; 32]>),
}

impl Program {
    /// Decodes a kernel's code. Never fails: what cannot be decoded ends the launch if it is reached.
    pub(super) fn decode(platform: Platform, code: &[u8]) -> Program {
        let mut insts = Vec::new();
        let mut index = vec![NO_OP; code.len().div_ceil(8)];
        let mut starts = Vec::new();
        let mut at = 0usize;
        while let Some(rest) = code.get(at..).filter(|r| !r.is_empty()) {
            if let Some(i) = index.get_mut(at / 8) {
                *i = starts.len() as u32;
            }
            match decode::decode(platform, rest) {
                Ok(d) => {
                    starts.push((at, d.len, None));
                    insts.push(Some(d.inst));
                    at += d.len.max(8);
                }
                Err(e) => {
                    // The compaction bit alone says how long it is.
                    let compact = rest.get(3).is_some_and(|b| b >> 5 & 1 == 1);
                    let len = if compact { 8 } else { 16 };
                    starts.push((at, len, Some(e.to_string())));
                    insts.push(None);
                    at += len;
                }
            }
        }
        let mut program = Program {
            ops: Vec::new(),
            insts,
            index,
            platform,
        };
        let mut ops = Vec::with_capacity(starts.len());
        for ((at, len, error), inst) in starts.iter().zip(&program.insts) {
            let ip = *at as u32;
            let op = match (inst, error) {
                (Some(inst), _) => program.lower(inst, ip, *len as u32),
                (None, e) => {
                    let why = e.clone().unwrap_or_default();
                    bad(ip, format!("illegal instruction: {why}"))
                }
            };
            ops.push(op);
        }
        // `break` names the loop's `while` as its end; its channels go on after it (Skylake PRM, Vol. 7, "break").
        for i in 0..ops.len() {
            let Some(Kind::Leave(j)) = ops.get(i).map(|o| &o.kind) else {
                continue;
            };
            let uip = j.uip;
            let at_while = matches!(ops.get(uip as usize).map(|o| &o.kind), Some(Kind::While(_)));
            if let Some(op) = ops.get_mut(i)
                && op.alu.op == Op::Break
                && at_while
                && let Kind::Leave(j) = &mut op.kind
            {
                j.uip = uip + 1;
            }
        }
        // Channels can wait after a branch and at its targets.
        let mut joins = vec![false; ops.len()];
        for (i, op) in ops.iter().enumerate() {
            let jump = match &op.kind {
                Kind::Jmpi(j)
                | Kind::If(j)
                | Kind::Else(j)
                | Kind::Join(j)
                | Kind::While(j)
                | Kind::Leave(j)
                | Kind::Goto(j, _)
                | Kind::Brd(j)
                | Kind::Brc(j)
                | Kind::Call(j) => *j,
                Kind::Ret | Kind::Calla => Jump {
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

    /// The operation at a byte offset, or [`NO_OP`].
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
            let p = regs::place(self.platform, r)?;
            special |= p.special;
            Ok(p)
        };
        let mut types = [None; 3];
        let mut mods = [SrcMods::default(); 3];
        for (i, s) in inst.srcs.iter().enumerate() {
            types[i] = s.ty();
            if let Src::Direct { mods: m, .. } | Src::Indirect { mods: m, .. } = s {
                mods[i] = *m;
            }
        }
        let mut srcs = [SrcOp::None, SrcOp::None, SrcOp::None];
        let is_send = matches!(inst.op, Op::Send | Op::Sendc | Op::Sends | Op::Sendsc);
        if !is_send {
            for (out, s) in srcs.iter_mut().zip(&inst.srcs) {
                *out = source(s, n, &mut place)?;
            }
        }
        let dst = match inst.dst {
            _ if is_send => DstOp::Null,
            Dst::None => DstOp::Null,
            Dst::Direct { at, .. } if at.reg.is_null() => DstOp::Null,
            Dst::Direct { at, hs, ty } => {
                let p = place(at)?;
                let end = p.at + (n - 1) * u32::from(hs) * ty.bytes() + ty.bytes();
                if p.at < regs::GRF_BYTES && end > regs::GRF_BYTES {
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
            Dst::Macro { .. } => return Err("math macros are not supported".to_owned()),
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
        let alu = AluOp {
            op: inst.op,
            math: match inst.subfn {
                Subfn::Math(f) => Some(f),
                _ => None,
            },
            sat: inst.sat,
            cond: inst.cond.map(|c| c.cond),
            dst: inst.dst.ty().unwrap_or(Type::Ud),
            srcs: types,
            mods,
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
        let bctrl = inst.subfn == Subfn::BranchCtrl(true);
        let kind = match inst.op {
            Op::Send | Op::Sendc | Op::Sends | Op::Sendsc => Kind::Send(send(self.platform, inst)?),
            Op::Jmpi => match inst.srcs[0] {
                Src::Target(_) => Kind::Jmpi(jump),
                // A register holds the distance from the next instruction.
                _ => Kind::Jmpi(Jump {
                    jip: NO_OP,
                    uip: next,
                }),
            },
            Op::If => Kind::If(jump),
            Op::Else => Kind::Else(jump),
            Op::Endif | Op::Join => Kind::Join(jump),
            Op::While => Kind::While(jump),
            Op::Break | Op::Cont | Op::Halt => Kind::Leave(jump),
            Op::Goto => Kind::Goto(jump, bctrl),
            Op::Brd => Kind::Brd(jump),
            Op::Brc => Kind::Brc(jump),
            Op::Call => Kind::Call(jump),
            Op::Calla => Kind::Calla,
            Op::Ret => Kind::Ret,
            Op::Wait => Kind::Wait,
            Op::Nop => Kind::Nop,
            Op::Illegal => Kind::Bad("the `illegal` instruction".to_owned()),
            Op::Movi => Kind::Movi,
            _ => alu_kind(&alu, inst),
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
            pred,
            pick,
            dst,
            srcs,
            flag,
            acc_wr_en: inst.opts.contains(InstOpts::ACC_WR_EN),
            alu,
            kind,
        })
    }
}

/// An operation that ends the launch.
fn bad(ip: u32, why: String) -> MicroOp {
    MicroOp {
        ip,
        n: 1,
        shift: 0,
        full: 1,
        no_mask: true,
        join: false,
        special: false,
        pred: Pred::None,
        pick: Pred::None,
        dst: DstOp::Null,
        srcs: [SrcOp::None, SrcOp::None, SrcOp::None],
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
        },
        kind: Kind::Bad(why),
    }
}

/// Which execution path an ALU operation can take.
fn alu_kind(alu: &AluOp, inst: &Inst<Reg>) -> Kind {
    let touches_acc = inst.opts.contains(InstOpts::ACC_WR_EN)
        || matches!(inst.dst, Dst::Direct { at, .. } if matches!(at.reg, Reg::Arf(Arf::Acc, _)));
    if touches_acc {
        return Kind::Alu;
    }
    let types = || alu.srcs.iter().flatten().copied();
    let null = inst.dst.is_null();
    let single = |t: Type| matches!(t, Type::F | Type::Vf);
    let simple_cond = !matches!(alu.cond, Some(Cond::Ov | Cond::Un));
    match alu.op {
        Op::Mov
        | Op::Add
        | Op::Mul
        | Op::Mad
        | Op::Sel
        | Op::Cmp
        | Op::Lrp
        | Op::Rndd
        | Op::Rnde
        | Op::Rndz
        | Op::Rndu
            if simple_cond
                && types().all(single)
                && (alu.dst == Type::F || (null && alu.op == Op::Cmp)) =>
        {
            return Kind::FastF;
        }
        _ => {}
    }
    let small = |t: Type| t.is_int() && t.bytes() <= 4;
    if wide_fast(alu) {
        return Kind::FastI64;
    }
    if alu.sat || !simple_cond || !types().all(small) || !small(alu.dst) {
        return Kind::Alu;
    }
    let unsigned =
        types().all(|t| !t.is_signed()) && alu.mods.iter().all(|m| *m == SrcMods::default());
    let signed = types().all(|t| t.is_signed() || t.bytes() < 4);
    // Only the low bits of the result are kept, and they depend on the low bits of the sources alone.
    let modular = match alu.op {
        Op::Mov | Op::Add | Op::Mul | Op::Mad | Op::Xor | Op::And | Op::Or | Op::Not | Op::Shl => {
            !alu.mods.iter().any(|m| m.abs)
        }
        Op::Bfi1 | Op::Bfi2 | Op::Bfrev | Op::Cbit | Op::Lzd | Op::Fbl => {
            alu.mods.iter().all(|m| *m == SrcMods::default())
        }
        _ => false,
    };
    // Flags look at the result as the destination has it: only a dword one is at hand.
    let flags_ok = alu.cond.is_none() || alu.dst.bytes() == 4;
    match alu.op {
        _ if modular && flags_ok => {
            let sign_matters = alu.cond.is_some() && alu.dst == Type::Ud;
            if sign_matters {
                Kind::FastU32
            } else {
                Kind::FastI32
            }
        }
        Op::Cmp | Op::Sel if alu.cond.is_some() => {
            let negated = alu.mods.iter().any(|m| *m != SrcMods::default());
            if signed && !negated {
                Kind::FastI32
            } else if unsigned {
                Kind::FastU32
            } else {
                Kind::Alu
            }
        }
        Op::Sel if alu.mods.iter().all(|m| !m.abs) => Kind::FastI32,
        Op::Asr
            if signed
                && alu.cond.is_none()
                && alu.mods.iter().all(|m| *m == SrcMods::default()) =>
        {
            Kind::FastI32
        }
        Op::Shr
            if alu.cond.is_none()
                && matches!(alu.srcs[0], Some(Type::Ud | Type::Uw | Type::Ub))
                && alu.mods.iter().all(|m| *m == SrcMods::default()) =>
        {
            Kind::FastU32
        }
        Op::Avg => Kind::Alu,
        _ => Kind::Alu,
    }
}

/// Whether the path of 64-bit integers computes an operation.
fn wide_fast(alu: &AluOp) -> bool {
    let types = || alu.srcs.iter().flatten().copied();
    let wide = alu.dst.bytes() == 8 || types().any(|t| t.bytes() == 8);
    if !wide || alu.sat || alu.dst.is_float() || types().any(Type::is_float) {
        return false;
    }
    let plain = alu.mods.iter().all(|m| !m.abs);
    let unmodified = alu.mods.iter().all(|m| *m == SrcMods::default());
    match alu.op {
        // Only low bits are kept.
        Op::Mov | Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Not | Op::Shl => {
            plain && alu.cond.is_none()
        }
        Op::Sel => plain && alu.cond.is_none(),
        Op::Asr => unmodified && alu.cond.is_none() && alu.srcs[0] != Some(Type::Uq),
        // 64 signed bits hold every value but an unsigned qword's.
        Op::Cmp => {
            unmodified
                && !types().any(|t| t == Type::Uq)
                && !matches!(alu.cond, Some(Cond::Ov | Cond::Un))
        }
        _ => false,
    }
}

/// The bit of a flag sub-register in f0 and f1 as one 64-bit number.
fn flag_bit(r: RegRef<Reg>) -> Result<u8, String> {
    match r.reg {
        Reg::Arf(Arf::Flag, n @ 0..=1) => Ok(n * 32 + (r.sub as u8 & 2) * 8),
        _ => Err(format!("{} is not a flag register", r.reg)),
    }
}

/// Keeps a bit within its own flag register.
fn wrap_flag(bit: u8, r: RegRef<Reg>) -> u8 {
    let base = match r.reg {
        Reg::Arf(_, n) => n.min(1) * 32,
        Reg::Grf(_) => 0,
    };
    base + (bit & 31)
}

fn send(platform: Platform, inst: &Inst<Reg>) -> Result<SendOp, String> {
    let descs = inst.send.ok_or("a send without descriptors")?;
    let desc = |d: Desc<Reg>| match d {
        Desc::Imm(v) => Ok(DescOp::Imm(v)),
        Desc::Reg(r) => regs::place(platform, r).map(|p| DescOp::Reg(p.at)),
    };
    let (ex, desc) = (desc(descs.ex)?, desc(descs.desc)?);
    let message = match (ex, desc) {
        (DescOp::Imm(ex), DescOp::Imm(d)) => {
            Some(Message::decode(platform, ex, d).map_err(|e| e.to_string())?)
        }
        _ => None,
    };
    let grf = |r: RegRef<Reg>| match r.reg {
        Reg::Grf(n) => Ok(u32::from(n) * platform.features().grf_bytes),
        r => Err(format!("a payload cannot be in {r}")),
    };
    let payload = |s: &Src<Reg>| match *s {
        Src::Direct { at, .. } if at.reg.is_null() => Ok(0),
        Src::Direct { at, .. } => grf(at),
        Src::None => Ok(0),
        _ => Err("a payload must be a direct register".to_owned()),
    };
    let dst = match inst.dst {
        Dst::Direct { at, .. } if !at.reg.is_null() => Some(grf(at)?),
        Dst::Direct { .. } | Dst::None => None,
        _ => return Err("a response must be to a direct register".to_owned()),
    };
    Ok(SendOp {
        message,
        ex,
        desc,
        src0: payload(&inst.srcs[0])?,
        src1: payload(&inst.srcs[1])?,
        dst,
        eot: inst.opts.contains(InstOpts::EOT) || message.is_some_and(|m| m.eot),
    })
}

/// A region's row stride, log2 of its width and element stride, in elements.
fn strides(region: Region) -> Result<(u32, u32, u32), String> {
    let log = |w: u8| {
        if w.is_power_of_two() {
            Ok(w.trailing_zeros())
        } else {
            Err(format!("a region of width {w}"))
        }
    };
    Ok(match region {
        Region::Rect { vs, w, hs } => (u32::from(vs), log(w)?, u32::from(hs)),
        Region::VxH { w, hs } => (0, log(w)?, u32::from(hs)),
        // The row's width follows from its strides.
        Region::Ternary { vs, hs } => match (vs, hs) {
            (vs, 0) => (u32::from(vs), 0, 0),
            (vs, hs) => (u32::from(vs), log((vs / hs).max(1))?, u32::from(hs)),
        },
        Region::Scalar3 { hs } => (u32::from(hs), 0, 0),
    })
}

fn source(
    s: &Src<Reg>,
    n: u32,
    place: &mut impl FnMut(RegRef<Reg>) -> Result<FileOffset, String>,
) -> Result<SrcOp, String> {
    Ok(match *s {
        Src::None | Src::Target(_) => SrcOp::None,
        Src::Macro { .. } => return Err("math macros are not supported".to_owned()),
        Src::Imm { bits, ty } => {
            let mut lanes = Box::new([0; 32]);
            let mask = gantry_isa_gen::sem::convert::element_mask(ty);
            for (i, l) in lanes.iter_mut().enumerate() {
                *l = if ty.is_packed_imm() {
                    packed_imm(bits as u32, ty, i)
                } else {
                    bits & mask
                };
            }
            SrcOp::Imm(lanes)
        }
        Src::Direct { at, region, ty, .. } => {
            let p = place(at)?;
            let (vs, width_log, hs) = strides(region)?;
            let width = 1 << width_log;
            let rows = n.div_ceil(width);
            let scalar = (hs == 0 || width == 1) && (vs == 0 || rows == 1);
            let packed = (hs == 1 && (rows == 1 || vs == width)) || (width == 1 && vs == 1);
            if scalar {
                SrcOp::Scalar { at: p.at }
            } else if packed {
                SrcOp::Packed { at: p.at }
            } else {
                SrcOp::Rect {
                    at: p.at,
                    vs: vs * ty.bytes(),
                    width_log,
                    hs: hs * ty.bytes(),
                }
            }
        }
        Src::Indirect {
            addr,
            imm,
            region,
            ty,
            ..
        } => {
            let addr = place(addr)?.at;
            let imm = i32::from(imm);
            let (vs, width_log, hs) = strides(region)?;
            let hs = hs * ty.bytes();
            if matches!(region, Region::VxH { .. }) {
                SrcOp::MultiIndirect {
                    addr,
                    imm,
                    width_log,
                    hs,
                }
            } else {
                SrcOp::Indirect {
                    addr,
                    imm,
                    vs: vs * ty.bytes(),
                    width_log,
                    hs,
                }
            }
        }
    })
}

impl Program {
    /// An operation's instruction as text, in IGA's syntax with its columns closed up; empty where there is none.
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
