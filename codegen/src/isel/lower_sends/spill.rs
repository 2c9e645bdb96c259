//! Spills and fills: whole GRFs to and from the thread's scratch, by block messages with the thread
//! header as their header.

use super::block::{HWORD, HWORD_OFFSETS, most_hwords};
use super::instruction;
use crate::mir::logical::Dir;
use crate::mir::operand::{dst, grf_dst, scalar, uniform};
use crate::mir::{MInst, VReg, VRegData, VirtReg};
use crate::target::Target;
use cranelift_entity::PrimaryMap;
use gantry_isa_gen::message::{
    LscAccess, LscAddr, LscCaching, LscData, LscOp, LscPort, LscSurface, LscVector, Message,
    MessageError, MsgOp,
};
use gantry_isa_gen::{
    Arf, Desc, ExecSize, Inst, InstOpts, Op, Reg, RegRef, Region, SendDescs, Src, SrcMods, Type,
    effects,
};

/// Emits the messages of spills and fills.
pub(crate) struct Scratch<'a> {
    pub(crate) target: &'a Target,
    /// Thread header.
    pub(crate) header: VReg,
    pub(crate) vregs: &'a mut PrimaryMap<VReg, VRegData>,
    pub(crate) out: &'a mut Vec<MInst>,
}

/// Returns the slot of a message to or from scratch: direction, first byte, and number of bytes.
pub(crate) fn slot(message: &Message) -> Option<(Dir, u32, u32)> {
    match message.op {
        MsgOp::Scratch {
            dir, count, offset, ..
        } => Some((dir, u32::from(offset) * HWORD, u32::from(count) * HWORD)),
        MsgOp::Lsc(a) => {
            let LscSurface::Ss(at) = a.surface else {
                return None;
            };
            let dir = match a.op {
                LscOp::Load => Dir::Read,
                _ => Dir::Write,
            };
            let bytes = a.vector.count() * Type::Ud.bytes();
            Some((dir, (at >> SLOT_SHIFT) * HWORD, bytes))
        }
        _ => None,
    }
}

/// Position of the slot in a spill message of the load/store cache before its final form. The
/// message then has the thread header as its payload. Its slot, in hwords, is in the field of the
/// surface state's offset, above this many bits.
const SLOT_SHIFT: u32 = 6;

/// Returns a spill message of the load/store cache in that form.
fn slot_message(dir: Dir, at: u32, bytes: u32) -> MsgOp {
    MsgOp::Lsc(LscAccess {
        port: LscPort::Ugm,
        op: match dir {
            Dir::Read => LscOp::Load,
            Dir::Write => LscOp::Store,
        },
        data: LscData::D32,
        vector: LscVector::Count {
            n: (bytes / Type::Ud.bytes()) as u8,
            transposed: true,
        },
        addr: LscAddr::A32,
        surface: LscSurface::Ss((at / HWORD) << SLOT_SHIFT),
        caching: LscCaching::DEFAULT,
    })
}

/// Returns the final form of a spill message of the load/store cache. The offset of the scratch
/// surface's state goes to `a0.2`. The offset in scratch goes to the last GRF, which values are
/// never allocated to.
pub(crate) fn placed(target: &Target, inst: &Inst<Reg>) -> Option<[Inst<Reg>; 4]> {
    let descs = inst
        .send
        .filter(|d| target.features().lsc && matches!(d.ex, Desc::Imm(_)))?;
    let message = effects::message(target.platform(), inst)?;
    let MsgOp::Lsc(LscAccess {
        surface: LscSurface::Ss(_),
        ..
    }) = message.op
    else {
        return None;
    };
    let (_, at, _) = slot(&message)?;
    let Src::Direct { at: header, .. } = inst.srcs[0] else {
        return None;
    };
    let state = RegRef::new(Reg::Arf(Arf::Address, 0), STATE);
    let base = RegRef::new(header.reg, header.sub + Scratch::BASE as u16);
    let mask = Src::Imm {
        ty: Type::Ud,
        bits: target.abi().scratch_mask.into(),
    };
    let offset = RegRef::new(Reg::Grf((target.grf().count - 1) as u8), 0);
    let bits = at.into();
    let value = Src::Imm { ty: Type::Ud, bits };
    let mut send = *inst;
    send.srcs[0] = scalar(offset, Type::Ud);
    send.opts |= InstOpts::EX_BSO;
    send.send = Some(SendDescs {
        ex: Desc::Reg(state),
        src1_len: Some(message.src1_grfs),
        ..descs
    });
    let shift = Src::Imm {
        ty: Type::Uw,
        bits: target.abi().scratch_shift.into(),
    };
    let masked = [scalar(base, Type::Ud), mask];
    let shifted = [scalar(offset, Type::Ud), shift];
    Some([
        uniform(Op::And, dst(offset, Type::Ud), masked),
        uniform(Op::Shr, dst(state, Type::Ud), shifted),
        uniform(Op::Mov, dst(offset, Type::Ud), [value]),
        send,
    ])
}

/// Returns the instructions before and after such a message that save and restore the part of `a0`
/// it writes. They are needed if another value there is read later. The last GRF keeps it
/// meanwhile.
pub(crate) fn around(target: &Target) -> [Inst<Reg>; 2] {
    let state = RegRef::new(Reg::Arf(Arf::Address, 0), STATE);
    let last = Reg::Grf((target.grf().count - 1) as u8);
    let kept = RegRef::new(last, Type::Ud.bytes() as u16);
    let mov = |to, from| uniform(Op::Mov, dst(to, Type::Ud), [scalar(from, Type::Ud)]);
    [mov(kept, state), mov(state, kept)]
}

/// Byte of `a0` with the offset of a surface's state for a message.
pub(crate) const STATE: u16 = 8;

impl Scratch<'_> {
    /// Bytes of the unit in which messages count scratch.
    #[cfg(test)]
    pub(crate) const UNIT: u32 = HWORD;
    /// Bytes of scratch that messages reach from the base in their header. The next window follows
    /// and needs its own header.
    pub(crate) const WINDOW: u32 = HWORD * HWORD_OFFSETS as u32;
    /// Byte of the header's dword with the base of scratch (PRM, "Scratch Block Read/Write", M0.5).
    pub(crate) const BASE: u32 = 20;

    /// Returns the largest number of bytes that one message moves.
    pub(crate) fn most(target: &Target) -> u32 {
        most_hwords(target) * HWORD
    }

    /// Moves GRFs between a register, from a byte offset on, and scratch, from a byte on. Both are
    /// multiples of a GRF. `starts` is set if a read starts the register's value.
    ///
    /// # Errors
    /// The platform lacks the message.
    pub(crate) fn whole(
        &mut self,
        dir: Dir,
        (reg, offset): (VReg, u32),
        at: u32,
        grfs: u32,
        mut starts: bool,
    ) -> Result<(), MessageError> {
        let grf = self.target.grf().bytes;
        let mut done = 0;
        while done < grfs {
            let rest = (grfs - done) * grf / HWORD;
            let hwords = 1 << rest.min(most_hwords(self.target)).ilog2();
            let n = hwords * HWORD / grf;
            let from = at + done * grf;
            if self.target.features().lsc {
                let op = slot_message(dir, from, hwords * HWORD);
                self.message((dir, op), 0, (reg, offset + done * grf), n, starts)?;
                starts = false;
                done += n;
                continue;
            }
            let op = MsgOp::Scratch {
                dir,
                count: hwords as u8,
                offset: (from % Self::WINDOW / HWORD) as u16,
                dword_mode: false,
            };
            let base = from - from % Self::WINDOW;
            self.message((dir, op), base, (reg, offset + done * grf), n, starts)?;
            starts = false;
            done += n;
        }
        Ok(())
    }

    /// Emits a message in the window that starts at byte `base` of scratch.
    fn message(
        &mut self,
        (dir, op): (Dir, MsgOp),
        base: u32,
        (reg, offset): (VReg, u32),
        grfs: u32,
        starts: bool,
    ) -> Result<(), MessageError> {
        let platform = self.target.platform();
        let data = RegRef::new(VirtReg::grf(reg), offset as u16);
        let split = dir == Dir::Write && self.target.split_sends();
        let header = match (dir, base) {
            (Dir::Write, _) if !split => self.payload((reg, offset), base, grfs),
            (_, 0) => self.header,
            _ => {
                let file = self.target.grf();
                let header = self.vregs.push(VRegData::anywhere(file.bytes, file));
                self.head(header, base);
                header
            }
        };
        let exec = match op {
            MsgOp::Lsc(_) => ExecSize::S1,
            _ if grfs > 1 => ExecSize::S16,
            _ => ExecSize::S8,
        };
        let message = match op {
            MsgOp::Lsc(_) => Message::split_for(platform, op, exec.channels()),
            _ if split => Message::split(platform, op),
            _ => Message::new(platform, op),
        };
        let mut send = instruction::of_message(self.target, &message, exec, VirtReg::NULL, split)?;
        send.srcs[0] = scalar(RegRef::new(VirtReg::grf(header), 0), Type::Ud);
        match dir {
            Dir::Read => send.dst = dst(data, Type::Ud),
            Dir::Write if split => send.srcs[1] = scalar(data, Type::Ud),
            Dir::Write => {}
        }
        self.out.push(MInst::Op {
            inst: send,
            starts,
            keeps: None.into(),
        });
        Ok(())
    }

    /// Starts a register with a header for the window at byte `base` of scratch.
    fn head(&mut self, to: VReg, base: u32) {
        let file = self.target.grf();
        self.move_bytes((to, 0), (self.header, 0), file.bytes, true);
        if base == 0 {
            return;
        }
        let at = |r| RegRef::new(VirtReg::grf(r), Self::BASE as u16);
        let by = Src::Imm {
            ty: Type::Ud,
            bits: base.into(),
        };
        let from = scalar(at(self.header), Type::Ud);
        let mut inst = uniform(Op::Add, grf_dst(to, Type::Ud), [from, by]);
        inst.dst = dst(at(to), Type::Ud);
        self.out.push(MInst::Op {
            inst,
            starts: false,
            keeps: None.into(),
        });
    }

    /// Returns a register with header and data, one after the other.
    fn payload(&mut self, (reg, offset): (VReg, u32), base: u32, grfs: u32) -> VReg {
        let file = self.target.grf();
        let payload = self
            .vregs
            .push(VRegData::anywhere((1 + grfs) * file.bytes, file));
        let dwords = file.bytes / Type::Ud.bytes();
        self.head(payload, base);
        let mut done = 0;
        while done < grfs {
            let n = (grfs - done).min(2);
            let to = (payload, (1 + done) * file.bytes);
            let from = (reg, offset + done * file.bytes);
            self.move_lanes(to, from, n * dwords, Type::Ud, false);
            done += n;
        }
        payload
    }

    /// Moves bytes within one GRF on each side, in as few instructions as their alignment allows.
    /// `starts` is set if the first starts a value.
    pub(crate) fn move_bytes(
        &mut self,
        to: (VReg, u32),
        from: (VReg, u32),
        bytes: u32,
        starts: bool,
    ) {
        let mut done = 0;
        while done < bytes {
            let (t, f, rest) = (to.1 + done, from.1 + done, bytes - done);
            let all = [Type::Ud, Type::Uw, Type::Ub];
            let fits = |ty: &Type| (t | f).is_multiple_of(ty.bytes()) && rest >= ty.bytes();
            let ty = all.into_iter().find(fits).unwrap_or(Type::Ub);
            let lanes = 1 << (rest / ty.bytes()).min(16).ilog2();
            self.move_lanes((to.0, t), (from.0, f), lanes, ty, starts && done == 0);
            done += lanes * ty.bytes();
        }
    }

    /// Moves bytes that may span GRFs. Both start at a GRF, or are within one GRF. The first move
    /// starts a value.
    pub(crate) fn move_between(&mut self, to: (VReg, u32), from: (VReg, u32), bytes: u32) {
        let grf = self.target.grf().bytes;
        let mut done = 0;
        while done < bytes {
            let left = |at: u32| grf - at % grf;
            let n = (bytes - done)
                .min(left(to.1 + done))
                .min(left(from.1 + done));
            let (t, f) = ((to.0, to.1 + done), (from.0, from.1 + done));
            self.move_bytes(t, f, n, done == 0);
            done += n;
        }
    }

    fn move_lanes(
        &mut self,
        to: (VReg, u32),
        from: (VReg, u32),
        lanes: u32,
        ty: Type,
        starts: bool,
    ) {
        let at = RegRef::new(VirtReg::grf(from.0), from.1 as u16);
        let mut mov = uniform(Op::Mov, grf_dst(to.0, ty), [scalar(at, ty)]);
        if let (Some(exec), true) = (ExecSize::new(lanes), lanes > 1) {
            mov.exec = exec;
            mov.srcs[0] = Src::Direct {
                at,
                region: Region::packed(exec),
                ty,
                mods: SrcMods::default(),
            };
        }
        mov.dst = dst(RegRef::new(VirtReg::grf(to.0), to.1 as u16), ty);
        self.out.push(MInst::Op {
            inst: mov,
            starts,
            keeps: None.into(),
        });
    }
}
