//! Scattered access: an address per lane, with one to four elements each.

use super::{MessagePart, PayloadStart, Payloads, SendLowering, forms, lsc};
use crate::ir::{MemFlags, Space};
use crate::mir;
use crate::mir::bale::{BaleSrc, Operation, View};
use crate::mir::logical::{Dir, Prefetch, Scattered};
use crate::mir::lowered::at;
use crate::mir::{MInst, VReg, VirtReg};
use crate::target::Target;
use gantry_isa_gen::message::{AddrModel, Cache, MsgOp, Rgba, Simd, Surface};
use gantry_isa_gen::{Op, Type};
use smallvec::SmallVec;

/// Elements that one message moves per lane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum LaneUnit {
    /// 1, 2 or 4 bytes at any address, in a dword of the payload.
    Bytes(u32),
    /// A number of aligned dwords, consecutive in memory. The payload has the first ones of all
    /// lanes, then the second ones.
    Dwords(u32),
    /// A number of aligned qwords, consecutive in memory.
    Qwords(u32),
}

impl LaneUnit {
    /// Returns the bytes of a lane in memory.
    fn bytes(self) -> u32 {
        match self {
            LaneUnit::Bytes(n) => n,
            LaneUnit::Dwords(n) => 4 * n,
            LaneUnit::Qwords(n) => 8 * n,
        }
    }

    /// Returns the bytes of data in a slot of a payload.
    fn piece(self) -> u32 {
        match self {
            LaneUnit::Bytes(n) => n,
            LaneUnit::Dwords(_) => Type::Ud.bytes(),
            LaneUnit::Qwords(_) => Type::Uq.bytes(),
        }
    }

    /// Returns the bytes of a lane in a payload.
    fn slots(self) -> u32 {
        match self {
            LaneUnit::Bytes(_) => 4,
            other => other.bytes(),
        }
    }
}

/// Largest number of dwords per lane in one message.
const MOST_DWORDS: u32 = 4;

/// Returns the address model of a space, and the type of an address.
pub(super) fn model(space: Space) -> (AddrModel, Type) {
    match space {
        Space::Global => (AddrModel::FLAT, Type::Q),
        Space::Slm => (AddrModel::A32(Surface::Slm), Type::D),
        Space::Surface(n) => (AddrModel::A32(Surface::Bti(n)), Type::D),
        Space::Scratch => (AddrModel::A32(Surface::Stateless), Type::D),
    }
}

impl Scattered {
    /// Returns the messages for a lane's elements, each with its byte offset in the lane.
    fn units(&self, target: &Target) -> SmallVec<[(LaneUnit, u32); 4]> {
        let size = self.memory;
        let align = self.mem.alignment(size);
        let all = size * self.count;
        let (slm, cache) = (self.mem.space == Space::Slm, target.features().lsc);
        let step = match size {
            8 if cache && align >= 8 => LaneUnit::Qwords(MOST_DWORDS / 2),
            8 if self.mem.space == Space::Global && align >= 8 => LaneUnit::Qwords(1),
            4 | 8 if align >= 4 => LaneUnit::Dwords(MOST_DWORDS),
            // In local memory, the load/store cache accesses aligned elements only.
            n if slm && cache => LaneUnit::Bytes(n.min(align)),
            n => LaneUnit::Bytes(n.min(4)),
        };
        let mut out = SmallVec::new();
        let mut done = 0;
        while done < all {
            let unit = match step {
                LaneUnit::Dwords(n) => LaneUnit::Dwords(n.min((all - done) / 4)),
                LaneUnit::Qwords(n) => LaneUnit::Qwords(n.min((all - done) / 8)),
                unit => unit,
            };
            out.push((unit, done));
            done += unit.bytes();
        }
        out
    }

    /// Returns the lanes of a part: the dword, or the smaller element or qword, that is `within`
    /// bytes after each address.
    fn column(&self, part: &MessagePart, within: u32, unit: LaneUnit) -> View {
        let size = self.ty.bytes();
        let element = within / self.memory;
        let place = self.data_at + (element * self.lanes + part.first) * size;
        let view = at(self.data, place, part.lanes, unsigned(size));
        let piece = unit.piece();
        if piece >= self.memory {
            return view;
        }
        let part = view.narrowed(unsigned(piece));
        View {
            offset: part.offset + within % self.memory,
            ..part
        }
    }
}

/// Returns true if scattered accesses to elements of `bytes` bytes have a dword slot for each,
/// whose other bytes are undefined.
pub fn moves_slots(mem: MemFlags, bytes: u32, target: &Target) -> bool {
    let whole = mem.space != Space::Slm || !target.features().lsc || mem.alignment(bytes) >= bytes;
    bytes < Type::Ud.bytes() && whole
}

fn unsigned(bytes: u32) -> Type {
    match bytes {
        1 => Type::Ub,
        2 => Type::Uw,
        4 => Type::Ud,
        _ => Type::Uq,
    }
}

impl SendLowering<'_> {
    pub(super) fn scattered(&mut self, s: &Scattered) {
        let mut starts = !s.keeps;
        let (addr, _) = model(s.mem.space);
        let mut own = *s;
        if s.mem.space == Space::Scratch && self.target.features().lsc {
            self.surface = own.base.take();
        }
        let s = &own;
        for part in self.parts(
            s.lanes,
            s.mask,
            (s.running, s.inverse),
            forms::channels(self.target, addr),
        ) {
            for (unit, within) in s.units(self.target) {
                match s.dir {
                    Dir::Read => {
                        let src0 = self.addresses(s, &part, within);
                        self.read(s, &part, unit, within, src0, &mut starts);
                    }
                    Dir::Write if self.target.split_sends() => {
                        let mut src0 = self.addresses(s, &part, within);
                        let data = self.data_payload(s, &part, unit, within);
                        // A value that is stored at its own address is two payloads all the same.
                        if src0.0 == data.0 {
                            let bytes = self.out.vregs[src0.0].bytes;
                            src0 = (self.out.temp_grfs(self.out.grf.hold(bytes)), 0);
                            self.addresses_to(s, &part, within, src0);
                        }
                        self.write(s, &part, unit, src0, Some(data));
                    }
                    Dir::Write => {
                        let (src0, data) = self.joint_payload(s.mem.space, &part, unit.slots());
                        self.addresses_to(s, &part, within, src0);
                        self.data_to(s, &part, unit, within, data);
                        self.write(s, &part, unit, src0, None);
                    }
                }
            }
        }
        self.surface = None;
    }

    /// Emits loads of a byte per lane into both caches, without a destination.
    pub(super) fn prefetch(&mut self, p: &Prefetch) {
        let (addr, ty) = model(p.mem.space);
        let mem = MemFlags {
            volatile: false,
            constant: true,
            ..p.mem
        };
        let byte = Scattered {
            dir: Dir::Read,
            mem,
            lanes: p.lanes,
            count: 1,
            ty,
            memory: 1,
            base: None,
            addr: p.addr,
            offset: p.offset,
            data: p.addr,
            data_at: 0,
            mask: p.mask,
            running: p.running,
            inverse: false,
            keeps: true,
        };
        let op = lsc::lanes(Dir::Read, mem, LaneUnit::Bytes(1));
        let most = forms::channels(self.target, addr);
        for part in self.parts(p.lanes, p.mask, (p.running, false), most) {
            let payloads = Payloads {
                dst: None,
                src0: self.addresses(&byte, &part, 0),
                src1: None,
            };
            self.send(op, &part, payloads, false);
        }
    }

    /// Returns the message of a unit.
    fn message_of(&self, s: &Scattered, unit: LaneUnit, simd: Simd) -> Option<MsgOp> {
        if self.target.features().lsc {
            Some(lsc::lanes(s.dir, s.mem, unit))
        } else {
            Self::message(s, unit, simd)
        }
    }

    fn message(s: &Scattered, unit: LaneUnit, simd: Simd) -> Option<MsgOp> {
        let (addr, _) = model(s.mem.space);
        let dir = s.dir;
        Some(match unit {
            LaneUnit::Qwords(_) => MsgOp::QwordScattered {
                dir,
                addr,
                count: 1,
                simd,
            },
            LaneUnit::Dwords(1) if addr.is_a64() => MsgOp::DwordScattered {
                dir,
                addr,
                count: 1,
                simd,
                cache: Cache::Data,
            },
            LaneUnit::Dwords(n) => MsgOp::Untyped {
                dir,
                addr,
                rgba: Rgba::first(n)?,
                simd,
            },
            LaneUnit::Bytes(n) => MsgOp::ByteScattered {
                dir,
                addr,
                bytes: n as u8,
                simd,
            },
        })
    }

    /// Returns a part's addresses as a payload: the value's own register if it has that layout.
    fn addresses(&mut self, s: &Scattered, part: &MessagePart, within: u32) -> PayloadStart {
        let (_, ty) = model(s.mem.space);
        let needed = part.channels * ty.bytes();
        let start = part.first * ty.bytes();
        if s.offset == 0 && within == 0 && s.base.is_none() && self.holds(s.addr, start, needed) {
            return (s.addr, start);
        }
        let to = (self.out.temp_grfs(self.out.grf.hold(needed)), 0);
        self.addresses_to(s, part, within, to);
        to
    }

    /// Returns true if a register has `bytes` bytes from a GRF-aligned offset on.
    pub(super) fn holds(&self, reg: VReg, start: u32, bytes: u32) -> bool {
        start.is_multiple_of(self.out.grf.bytes) && self.out.vregs[reg].bytes >= start + bytes
    }

    /// Aligns a register to a GRF if it has no other constraint.
    pub(super) fn at_grf(&mut self, reg: VReg) {
        let grf = self.out.grf.bytes;
        let data = &mut self.out.vregs[reg];
        if data.constraint == mir::RegConstraint::Any {
            data.align = grf;
        }
    }

    fn addresses_to(&mut self, s: &Scattered, part: &MessagePart, within: u32, to: PayloadStart) {
        let (_, ty) = model(s.mem.space);
        let mut src = at(s.addr, part.first * ty.bytes(), part.lanes, ty).plain();
        let add = i64::from(s.offset) + i64::from(within);
        let view = at(to.0, to.1, part.lanes, ty);
        let mut starts = to.1 == 0;
        if let Some(base) = s.base {
            let base = View::scalar(VirtReg::grf(base), 0, ty).plain();
            let o = Operation::new(Op::Add, ty, &[src, base]);
            self.out.bale_at(view, starts, part.lanes, o);
            if add == 0 {
                return;
            }
            (src, starts) = (view.plain(), false);
        }
        let o = match (i16::try_from(add), i32::try_from(add)) {
            (Ok(0), _) => Operation::new(Op::Mov, ty, &[src]),
            (Ok(w), _) => {
                let i = BaleSrc::Imm(u64::from(w as u16), Type::W);
                Operation::new(Op::Add, ty, &[src, i])
            }
            (_, Ok(d)) => {
                let i = BaleSrc::Imm(u64::from(d as u32), Type::D);
                Operation::new(Op::Add, ty, &[src, i])
            }
            _ => return self.fail(format!("an offset of {add} bytes")),
        };
        self.out.bale_at(view, starts, part.lanes, o);
    }

    /// Returns one register for addresses and, after them, `slots` bytes of data per lane.
    pub(super) fn joint_payload(
        &mut self,
        space: Space,
        part: &MessagePart,
        slots: u32,
    ) -> (PayloadStart, PayloadStart) {
        let (_, ty) = model(space);
        let grf = self.out.grf;
        let channels = part.channels;
        let addr = grf.hold(channels * ty.bytes());
        let data = grf.hold(channels * slots);
        let r = self.out.temp_grfs(addr + data);
        ((r, 0), (r, addr * grf.bytes))
    }

    /// Returns true if all GRFs of a response of `bytes` bytes belong to the register. GRFs after
    /// it may be past the end of the GRF file.
    fn has_room(&self, (reg, place): PayloadStart, bytes: u32) -> bool {
        let grf = self.out.grf;
        let own = self.out.vregs[reg].bytes.saturating_sub(place);
        grf.hold(own) >= grf.hold(bytes)
    }

    /// Returns the position of a message's data in the value's register, if it is a payload as it
    /// is.
    fn in_place(
        &self,
        s: &Scattered,
        part: &MessagePart,
        unit: LaneUnit,
        within: u32,
    ) -> Option<PayloadStart> {
        let whole = match unit {
            LaneUnit::Bytes(n) => n == s.memory && s.ty.bytes() == 4,
            LaneUnit::Dwords(1) => s.ty.bytes() == 4,
            // Several dwords per lane are consecutive only if one message has all lanes.
            LaneUnit::Dwords(_) => s.ty.bytes() == 4 && s.lanes == part.channels,
            LaneUnit::Qwords(n) => n == 1 || s.lanes == part.channels,
        };
        let place = s.column(part, within, unit).offset;
        let aligned = place.is_multiple_of(self.out.grf.bytes);
        (whole && aligned).then_some((s.data, place))
    }

    /// Emits one scattered read into its lanes of the value.
    fn read(
        &mut self,
        s: &Scattered,
        part: &MessagePart,
        unit: LaneUnit,
        within: u32,
        src0: PayloadStart,
        starts: &mut bool,
    ) {
        let Some(op) = self.message_of(s, unit, part.simd) else {
            return self.fail("a message of more than four dwords");
        };
        let channels = part.channels;
        if let Some(place) = self.in_place(s, part, unit, within)
            && self.has_room(place, channels * unit.slots())
        {
            // Channels that take no part are not written, so their bytes may belong to another
            // part.
            self.at_grf(s.data);
            let p = Payloads {
                dst: Some(place),
                src0,
                src1: None,
            };
            let begins = std::mem::replace(starts, false);
            // Disabled lanes keep their value, unless it was undefined.
            if begins && part.pred.is_some() {
                self.out.emit(MInst::Start { dst: s.data });
            }
            self.send(op, part, p, begins);
            return;
        }
        let t = self
            .out
            .temp_grfs(self.out.grf.hold(channels * unit.slots()));
        let p = Payloads {
            dst: Some((t, 0)),
            src0,
            src1: None,
        };
        if part.pred.is_some() {
            self.out.emit(MInst::Start { dst: t });
        }
        self.send(op, part, p, true);
        for (n, from) in Self::slots(t, 0, part, unit).into_iter().enumerate() {
            let to = s.column(part, within + unit.piece() * n as u32, unit);
            let from = if to.ty.bytes() < from.ty.bytes() {
                from.narrowed(to.ty)
            } else {
                from
            };
            let mov = Operation::new(Op::Mov, to.ty, &[from.plain()]);
            let begins = std::mem::replace(starts, false);
            self.out.code.push(part.given(mov, to, begins));
        }
    }

    /// Returns the lanes of each slot of a payload.
    fn slots(reg: VReg, start: u32, part: &MessagePart, unit: LaneUnit) -> SmallVec<[View; 4]> {
        let channels = part.channels;
        match unit {
            LaneUnit::Qwords(n) => (0..n)
                .map(|i| at(reg, start + i * channels * 8, part.lanes, Type::Uq))
                .collect(),
            LaneUnit::Bytes(_) => SmallVec::from_elem(at(reg, start, part.lanes, Type::Ud), 1),
            LaneUnit::Dwords(n) => (0..n)
                .map(|i| at(reg, start + i * channels * 4, part.lanes, Type::Ud))
                .collect(),
        }
    }

    /// Returns a part's data as a payload: the value's own register if it has that layout.
    fn data_payload(
        &mut self,
        s: &Scattered,
        part: &MessagePart,
        unit: LaneUnit,
        within: u32,
    ) -> PayloadStart {
        let needed = part.channels * unit.slots();
        if let Some((reg, place)) = self.in_place(s, part, unit, within)
            && self.holds(reg, place, needed)
        {
            return (reg, place);
        }
        let to = (self.out.temp_grfs(self.out.grf.hold(needed)), 0);
        self.data_to(s, part, unit, within, to);
        to
    }

    /// Writes a part's data to a payload, each element in a slot of at least a dword.
    fn data_to(
        &mut self,
        s: &Scattered,
        part: &MessagePart,
        unit: LaneUnit,
        within: u32,
        to: PayloadStart,
    ) {
        for (n, slot) in Self::slots(to.0, to.1, part, unit).into_iter().enumerate() {
            let from = s.column(part, within + unit.piece() * n as u32, unit);
            let o = Operation::new(Op::Mov, slot.ty, &[from.plain()]);
            self.out.bale_at(slot, to.1 == 0 && n == 0, part.lanes, o);
        }
    }

    /// Emits one scattered write. The data is a payload of its own or follows the addresses.
    fn write(
        &mut self,
        s: &Scattered,
        part: &MessagePart,
        unit: LaneUnit,
        addr: PayloadStart,
        data: Option<PayloadStart>,
    ) {
        let Some(op) = self.message_of(s, unit, part.simd) else {
            return self.fail("a message of more than four dwords");
        };
        let p = Payloads {
            dst: None,
            src0: addr,
            src1: data,
        };
        self.send(op, part, p, false);
    }
}
