//! Scattered access: an address a lane, and one to four elements at each.

use super::{Part, Payloads, Place, Sends, forms, lsc};
use crate::ir::{MemFlags, Space};
use crate::mir;
use crate::mir::bale::{BaleSrc, Operation, View};
use crate::mir::logical::{Dir, Scattered};
use crate::mir::lowered::at;
use crate::mir::{MInst, VReg, VirtReg};
use crate::target::Target;
use gantry_isa_gen::message::{AddrModel, Cache, MsgOp, Rgba, Simd, Surface};
use gantry_isa_gen::{Op, Type};
use smallvec::SmallVec;

/// What one message moves of each lane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Unit {
    /// 1, 2 or 4 bytes, wherever they are, in a dword each.
    Bytes(u32),
    /// So many aligned dwords, one after the other in memory, all lanes' first ones first in the
    /// payload.
    Dwords(u32),
    /// So many aligned qwords, one after the other in memory.
    Qwords(u32),
}

impl Unit {
    /// Bytes of a lane in memory.
    fn bytes(self) -> u32 {
        match self {
            Unit::Bytes(n) => n,
            Unit::Dwords(n) => 4 * n,
            Unit::Qwords(n) => 8 * n,
        }
    }

    /// Bytes of what is in a slot of a payload.
    fn piece(self) -> u32 {
        match self {
            Unit::Bytes(n) => n,
            Unit::Dwords(_) => Type::Ud.bytes(),
            Unit::Qwords(_) => Type::Uq.bytes(),
        }
    }

    /// Bytes of a lane in a payload.
    fn slots(self) -> u32 {
        match self {
            Unit::Bytes(_) => 4,
            other => other.bytes(),
        }
    }
}

/// The most dwords of a lane in one message.
const MOST_DWORDS: u32 = 4;

/// The address model of a space, and the type of an address.
pub(super) fn model(space: Space) -> (AddrModel, Type) {
    match space {
        Space::Global => (AddrModel::FLAT, Type::Q),
        Space::Slm => (AddrModel::A32(Surface::Slm), Type::D),
        Space::Surface(n) => (AddrModel::A32(Surface::Bti(n)), Type::D),
        Space::Scratch => (AddrModel::A32(Surface::Stateless), Type::D),
    }
}

impl Scattered {
    /// The messages of a lane's elements, each with the bytes before it.
    fn units(&self, target: &Target) -> SmallVec<[(Unit, u32); 4]> {
        let size = self.memory;
        let align = self.mem.alignment(size);
        let all = size * self.count;
        let (slm, cache) = (self.mem.space == Space::Slm, target.features().lsc);
        let step = match size {
            8 if cache && align >= 8 => Unit::Qwords(MOST_DWORDS / 2),
            8 if self.mem.space == Space::Global && align >= 8 => Unit::Qwords(1),
            4 | 8 if align >= 4 => Unit::Dwords(MOST_DWORDS),
            // In local memory elements of the load/store cache are aligned.
            n if slm && cache => Unit::Bytes(n.min(align)),
            n => Unit::Bytes(n.min(4)),
        };
        let mut out = SmallVec::new();
        let mut done = 0;
        while done < all {
            let unit = match step {
                Unit::Dwords(n) => Unit::Dwords(n.min((all - done) / 4)),
                Unit::Qwords(n) => Unit::Qwords(n.min((all - done) / 8)),
                unit => unit,
            };
            out.push((unit, done));
            done += unit.bytes();
        }
        out
    }

    /// The lanes of a part, of the dword (or what is smaller, or the qword) that lies `within`
    /// bytes behind each address.
    fn column(&self, part: &Part, within: u32, unit: Unit) -> View {
        let size = self.ty.bytes();
        let element = within / self.memory;
        let place = (element * self.lanes + part.first) * size;
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

/// Whether scattered accesses to elements of so many bytes have a slot of a doubleword for each,
/// whose other bytes are nobody's.
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

impl Sends<'_> {
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
            s.running,
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
                        // What is stored at its own address is two payloads all the same.
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

    /// The message of a unit.
    fn message_of(&self, s: &Scattered, unit: Unit, simd: Simd) -> Option<MsgOp> {
        if self.target.features().lsc {
            Some(lsc::lanes(s.dir, s.mem, unit))
        } else {
            Self::message(s, unit, simd)
        }
    }

    fn message(s: &Scattered, unit: Unit, simd: Simd) -> Option<MsgOp> {
        let (addr, _) = model(s.mem.space);
        let dir = s.dir;
        Some(match unit {
            Unit::Qwords(_) => MsgOp::QwordScattered {
                dir,
                addr,
                count: 1,
                simd,
            },
            Unit::Dwords(1) if addr.is_a64() => MsgOp::DwordScattered {
                dir,
                addr,
                count: 1,
                simd,
                cache: Cache::Data,
            },
            Unit::Dwords(n) => MsgOp::Untyped {
                dir,
                addr,
                rgba: Rgba::first(n)?,
                simd,
            },
            Unit::Bytes(n) => MsgOp::ByteScattered {
                dir,
                addr,
                bytes: n as u8,
                simd,
            },
        })
    }

    /// A part's addresses as a payload: the value's own register where it already is one.
    fn addresses(&mut self, s: &Scattered, part: &Part, within: u32) -> Place {
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

    /// Whether a register has so many bytes from a byte offset that a payload may start at.
    pub(super) fn holds(&self, reg: VReg, start: u32, bytes: u32) -> bool {
        start.is_multiple_of(self.out.grf.bytes) && self.out.vregs[reg].bytes >= start + bytes
    }

    /// Sees to it that a register starts at a GRF, if it may be anywhere.
    pub(super) fn at_grf(&mut self, reg: VReg) {
        let grf = self.out.grf.bytes;
        let data = &mut self.out.vregs[reg];
        if data.place == mir::Place::Any {
            data.align = grf;
        }
    }

    fn addresses_to(&mut self, s: &Scattered, part: &Part, within: u32, to: Place) {
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

    /// One register for addresses and, behind them, `slots` bytes of data a lane.
    pub(super) fn joint_payload(
        &mut self,
        space: Space,
        part: &Part,
        slots: u32,
    ) -> (Place, Place) {
        let (_, ty) = model(space);
        let grf = self.out.grf;
        let channels = part.channels;
        let addr = grf.hold(channels * ty.bytes());
        let data = grf.hold(channels * slots);
        let r = self.out.temp_grfs(addr + data);
        ((r, 0), (r, addr * grf.bytes))
    }

    /// Whether as many registers as hold so many bytes are a register's own from a place on: others
    /// may be the file's end.
    fn has_room(&self, (reg, place): Place, bytes: u32) -> bool {
        let grf = self.out.grf;
        let own = self.out.vregs[reg].bytes.saturating_sub(place);
        grf.hold(own) >= grf.hold(bytes)
    }

    /// Where in the value's own register a message's data is, as it stands, a payload.
    fn in_place(&self, s: &Scattered, part: &Part, unit: Unit, within: u32) -> Option<Place> {
        let whole = match unit {
            Unit::Bytes(n) => n == s.memory && s.ty.bytes() == 4,
            Unit::Dwords(1) => s.ty.bytes() == 4,
            // Several dwords a lane lie one behind the other only where one message has all lanes.
            Unit::Dwords(_) => s.ty.bytes() == 4 && s.lanes == part.channels,
            Unit::Qwords(n) => n == 1 || s.lanes == part.channels,
        };
        let place = s.column(part, within, unit).offset;
        let aligned = place.is_multiple_of(self.out.grf.bytes);
        (whole && aligned).then_some((s.data, place))
    }

    /// One scattered read into its lanes of the value.
    fn read(
        &mut self,
        s: &Scattered,
        part: &Part,
        unit: Unit,
        within: u32,
        src0: Place,
        starts: &mut bool,
    ) {
        let Some(op) = self.message_of(s, unit, part.simd) else {
            return self.fail("a message of more than four dwords");
        };
        let channels = part.channels;
        if let Some(place) = self.in_place(s, part, unit, within)
            && self.has_room(place, channels * unit.slots())
        {
            // Channels that take no part are not written, whoever's bytes are there.
            self.at_grf(s.data);
            let p = Payloads {
                dst: Some(place),
                src0,
                src1: None,
            };
            let begins = std::mem::replace(starts, false);
            // Disabled lanes keep what they had, unless there was nothing.
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

    /// The lanes of each slot of a payload.
    fn slots(reg: VReg, start: u32, part: &Part, unit: Unit) -> SmallVec<[View; 4]> {
        let channels = part.channels;
        match unit {
            Unit::Qwords(n) => (0..n)
                .map(|i| at(reg, start + i * channels * 8, part.lanes, Type::Uq))
                .collect(),
            Unit::Bytes(_) => SmallVec::from_elem(at(reg, start, part.lanes, Type::Ud), 1),
            Unit::Dwords(n) => (0..n)
                .map(|i| at(reg, start + i * channels * 4, part.lanes, Type::Ud))
                .collect(),
        }
    }

    /// A part's data as a payload: the value's own register where it already is one.
    fn data_payload(&mut self, s: &Scattered, part: &Part, unit: Unit, within: u32) -> Place {
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

    /// A part's data, each element in a slot of a dword at least.
    fn data_to(&mut self, s: &Scattered, part: &Part, unit: Unit, within: u32, to: Place) {
        for (n, slot) in Self::slots(to.0, to.1, part, unit).into_iter().enumerate() {
            let from = s.column(part, within + unit.piece() * n as u32, unit);
            let o = Operation::new(Op::Mov, slot.ty, &[from.plain()]);
            self.out.bale_at(slot, to.1 == 0 && n == 0, part.lanes, o);
        }
    }

    /// One scattered write; the data is in a payload of its own or behind the addresses.
    fn write(&mut self, s: &Scattered, part: &Part, unit: Unit, addr: Place, data: Option<Place>) {
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
