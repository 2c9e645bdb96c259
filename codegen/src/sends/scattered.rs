//! Scattered access: an address and an element a lane.

use super::{Dir, Part, Payloads, Place, Sends, forms};
use crate::bale::{Bale, BaleSrc, Operation};
use crate::lowered::{Lowered, at};
use crate::vcode::{MInst, VFlag, VReg};
use gantry_isa_gen::message::{AddrModel, Cache, MsgOp, Simd};
use gantry_isa_gen::{Op, Type};

/// An element a lane from or to a 64-bit address a lane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scattered {
    /// Read or write.
    pub dir: Dir,
    /// Lanes, any number.
    pub lanes: u32,
    /// Element type.
    pub ty: Type,
    /// A quadword a lane.
    pub addr: VReg,
    /// Bytes added to every address.
    pub offset: i32,
    /// What is read or written: neighbours from the register's start.
    pub data: VReg,
    /// The lanes that take part; all without it.
    pub mask: Option<VFlag>,
    /// Whether a read keeps what the register holds in lanes that take no part; if not, the read begins its value.
    pub keeps: bool,
}

impl Sends<'_> {
    pub(super) fn scattered(&mut self, s: &Scattered) {
        let mut starts = !s.keeps;
        for part in self.parts(s.lanes, s.mask, forms::a64_channels(self.target)) {
            match s.dir {
                Dir::Read => {
                    let addr = self.addresses(s, &part);
                    self.read_part(s.ty, s.data, &part, addr, &mut starts);
                }
                Dir::Write if forms::splits(self.target) => {
                    let addr = self.addresses(s, &part);
                    let data = self.data_payload(s.ty, s.data, &part);
                    self.write_part(s.ty, &part, addr, Some(data));
                }
                Dir::Write => {
                    let (addr, data) = self.joint_payload(&part, s.ty);
                    self.addresses_to(s, &part, addr);
                    self.data_to(s.ty, s.data, &part, data);
                    self.write_part(s.ty, &part, addr, None);
                }
            }
        }
    }

    fn message(dir: Dir, bytes: u32, simd: Simd) -> MsgOp {
        let addr = AddrModel::FLAT;
        match bytes {
            8 => MsgOp::QwordScattered {
                dir,
                addr,
                count: 1,
                simd,
            },
            4 => MsgOp::DwordScattered {
                dir,
                addr,
                count: 1,
                simd,
                cache: Cache::Data,
            },
            n => MsgOp::ByteScattered {
                dir,
                addr,
                bytes: n as u8,
                simd,
            },
        }
    }

    /// A part's addresses as a payload: the value's own register where it already is one.
    fn addresses(&mut self, s: &Scattered, part: &Part) -> Place {
        let needed = part.simd.channels() * Type::Q.bytes();
        let start = part.first * Type::Q.bytes();
        if s.offset == 0 && self.holds(s.addr, start, needed) {
            return (s.addr, start);
        }
        let to = (self.out.temp_grfs(self.out.grf.hold(needed)), 0);
        self.addresses_to(s, part, to);
        to
    }

    /// Whether a register has so many bytes from a byte offset that a payload may start at.
    pub(super) fn holds(&self, reg: VReg, start: u32, bytes: u32) -> bool {
        start.is_multiple_of(self.out.grf.bytes) && self.out.vregs[reg].bytes >= start + bytes
    }

    fn addresses_to(&mut self, s: &Scattered, part: &Part, to: Place) {
        let src = at(s.addr, part.first * Type::Q.bytes(), part.lanes, Type::Q).plain();
        let o = match i16::try_from(s.offset) {
            Ok(0) => Operation::new(Op::Mov, Type::Q, &[src]),
            Ok(w) => {
                let i = BaleSrc::Imm(u64::from(w as u16), Type::W);
                Operation::new(Op::Add, Type::Q, &[src, i])
            }
            Err(_) => {
                let i = BaleSrc::Imm(u64::from(s.offset as u32), Type::D);
                Operation::new(Op::Add, Type::Q, &[src, i])
            }
        };
        let view = at(to.0, to.1, part.lanes, Type::Q);
        self.out.bale_at(view, to.1 == 0, part.lanes, o);
    }

    /// One register for addresses and, behind them, data.
    pub(super) fn joint_payload(&mut self, part: &Part, ty: Type) -> (Place, Place) {
        let grf = self.out.grf;
        let channels = part.simd.channels();
        let addr = grf.hold(channels * Type::Q.bytes());
        let data = grf.hold(channels * slot(ty));
        let r = self.out.temp_grfs(addr + data);
        ((r, 0), (r, addr * grf.bytes))
    }

    /// One scattered read into its lanes of a register.
    pub(super) fn read_part(
        &mut self,
        ty: Type,
        out: VReg,
        part: &Part,
        src0: Place,
        starts: &mut bool,
    ) {
        let bytes = ty.bytes();
        let op = Self::message(Dir::Read, bytes, part.simd);
        let place = part.first * bytes;
        let grf = self.out.grf;
        let direct =
            bytes >= 4 && part.lanes == part.simd.channels() && place.is_multiple_of(grf.bytes);
        if direct {
            let p = Payloads {
                dst: Some((out, place)),
                src0,
                src1: None,
            };
            let begins = std::mem::replace(starts, false);
            // Disabled lanes keep what they had, unless there was nothing.
            if begins && part.pred.is_some() {
                self.out.emit(MInst::Start { dst: out });
            }
            self.send(op, part, p, begins);
            return;
        }
        let t = self
            .out
            .temp_grfs(grf.hold(part.simd.channels() * slot(ty)));
        let p = Payloads {
            dst: Some((t, 0)),
            src0,
            src1: None,
        };
        if part.pred.is_some() {
            self.out.emit(MInst::Start { dst: t });
        }
        self.send(op, part, p, true);
        let from = match bytes {
            4 | 8 => at(t, 0, part.lanes, ty),
            _ => at(t, 0, part.lanes, Type::Ud).narrowed(ty),
        };
        let operation = Operation::new(Op::Mov, ty, &[from.plain()]);
        let dst = at(out, place, part.lanes, ty);
        let begins = std::mem::replace(starts, false);
        self.out.code.push(Lowered::Bale(Bale {
            mask: part.pred,
            ..Bale::new(part.lanes, operation, dst, begins)
        }));
    }

    /// A part's data as a payload: the value's own register where it already is one.
    pub(super) fn data_payload(&mut self, ty: Type, reg: VReg, part: &Part) -> Place {
        let needed = part.simd.channels() * slot(ty);
        let place = part.first * ty.bytes();
        if ty.bytes() >= 4 && self.holds(reg, place, needed) {
            return (reg, place);
        }
        let to = (self.out.temp_grfs(self.out.grf.hold(needed)), 0);
        self.data_to(ty, reg, part, to);
        to
    }

    /// A part's data, each element in a slot of a dword at least.
    pub(super) fn data_to(&mut self, ty: Type, reg: VReg, part: &Part, to: Place) {
        let (from, wide) = match ty.bytes() {
            1 => (Type::Ub, Type::Ud),
            2 => (Type::Uw, Type::Ud),
            4 => (Type::D, Type::D),
            _ => (Type::Q, Type::Q),
        };
        let src = at(reg, part.first * ty.bytes(), part.lanes, from).plain();
        let o = Operation::new(Op::Mov, wide, &[src]);
        let view = at(to.0, to.1, part.lanes, wide);
        self.out.bale_at(view, to.1 == 0, part.lanes, o);
    }

    /// One scattered write; the data is in a payload of its own or behind the addresses.
    pub(super) fn write_part(&mut self, ty: Type, part: &Part, addr: Place, data: Option<Place>) {
        let op = Self::message(Dir::Write, ty.bytes(), part.simd);
        let p = Payloads {
            dst: None,
            src0: addr,
            src1: data,
        };
        self.send(op, part, p, false);
    }
}

/// Bytes that an element takes in a payload: a dword at least.
fn slot(ty: Type) -> u32 {
    ty.bytes().max(4)
}
