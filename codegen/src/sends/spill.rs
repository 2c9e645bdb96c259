//! Spilled registers: whole GRFs to and from the thread's scratch, by block messages of which the thread header is the header.

use super::block::{HWORD, HWORD_OFFSETS, most_hwords};
use super::{Dir, forms, instruction};
use crate::target::Target;
use crate::vcode::operand::{dst, grf_dst, scalar, uniform};
use crate::vcode::{MInst, VReg, VRegData, VirtReg};
use cranelift_entity::PrimaryMap;
use gantry_isa_gen::message::{Message, MessageError, MsgOp};
use gantry_isa_gen::{ExecSize, Op, RegRef, Region, Src, SrcMods, Type};

/// Writes the messages of spills and fills.
pub(crate) struct Scratch<'a> {
    pub(crate) target: &'a Target,
    /// The thread header.
    pub(crate) header: VReg,
    pub(crate) vregs: &'a mut PrimaryMap<VReg, VRegData>,
    pub(crate) out: &'a mut Vec<MInst>,
}

impl Scratch<'_> {
    /// Bytes in which messages count scratch.
    pub(crate) const UNIT: u32 = HWORD;
    /// Bytes of scratch that messages reach from where their header says that it begins; behind them is the next window, which has a header of its own.
    pub(crate) const WINDOW: u32 = HWORD * HWORD_OFFSETS as u32;
    /// The byte of the header's doubleword that says where scratch begins (PRM, "Scratch Block Read/Write", M0.5).
    pub(crate) const BASE: u32 = 20;

    /// Bytes that one message moves at most.
    pub(crate) fn most(target: &Target) -> u32 {
        most_hwords(target) * HWORD
    }

    /// Moves GRFs between a register, from a byte offset on, and scratch, from a byte on: both at a GRF's start. What is read begins the register's
    /// value if `starts`.
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

    /// A message in the window that begins at byte `base` of scratch.
    fn message(
        &mut self,
        (dir, op): (Dir, MsgOp),
        base: u32,
        (reg, offset): (VReg, u32),
        grfs: u32,
        starts: bool,
    ) -> Result<(), MessageError> {
        let platform = self.target.platform();
        let data = RegRef::new(VirtReg::Grf(reg), offset as u16);
        let split = dir == Dir::Write && forms::splits(self.target);
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
        let exec = match grfs > 1 {
            true => ExecSize::S16,
            false => ExecSize::S8,
        };
        let message = match split {
            true => Message::split(platform, op),
            false => Message::new(platform, op),
        };
        let mut send = instruction::of_message(self.target, &message, exec, VirtReg::NULL, split)?;
        send.srcs[0] = scalar(RegRef::new(VirtReg::Grf(header), 0), Type::Ud);
        match dir {
            Dir::Read => send.dst = dst(data, Type::Ud),
            Dir::Write if split => send.srcs[1] = scalar(data, Type::Ud),
            Dir::Write => {}
        }
        let (inst, keeps) = (send, None);
        self.out.push(MInst::Op {
            inst,
            starts,
            keeps,
        });
        Ok(())
    }

    /// Makes a register begin with a header for the window at byte `base` of scratch.
    fn head(&mut self, to: VReg, base: u32) {
        let file = self.target.grf();
        self.move_bytes((to, 0), (self.header, 0), file.bytes, true);
        if base == 0 {
            return;
        }
        let at = |r| RegRef::new(VirtReg::Grf(r), Self::BASE as u16);
        let by = Src::Imm {
            ty: Type::Ud,
            bits: base.into(),
        };
        let from = scalar(at(self.header), Type::Ud);
        let mut inst = uniform(Op::Add, grf_dst(to, Type::Ud), [from, by]);
        inst.dst = dst(at(to), Type::Ud);
        let (starts, keeps) = (false, None);
        self.out.push(MInst::Op {
            inst,
            starts,
            keeps,
        });
    }

    /// Header and data, one behind the other.
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

    /// Moves so many bytes, of one GRF on both sides, in as few instructions as their alignment allows. `starts`: the first begins a value.
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

    /// Moves bytes that may be of several GRFs, both from a GRF's start or within one GRF; the first begins a value.
    pub(crate) fn move_between(&mut self, to: (VReg, u32), from: (VReg, u32), bytes: u32) {
        let grf = self.target.grf().bytes;
        let mut done = 0;
        while done < bytes {
            let room = |at: u32| grf - at % grf;
            let n = (bytes - done)
                .min(room(to.1 + done))
                .min(room(from.1 + done));
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
        let at = RegRef::new(VirtReg::Grf(from.0), from.1 as u16);
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
        mov.dst = dst(RegRef::new(VirtReg::Grf(to.0), to.1 as u16), ty);
        self.out.push(MInst::Op {
            inst: mov,
            starts,
            keeps: None,
        });
    }
}
