//! Plain model of messages: a byte at a time, a channel at a time.

use super::harness::{AddressBase, Case, MEMORY};
use crate::common::Rng;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{
    AddrModel, AtomicOp, BlockUnit, Dir, FloatAtomicOp, LscAccess, LscData, LscKind, LscOp,
    LscVector, MsgOp,
};
use half::f16;

/// Conversions from element bits to a number, and back.
type Conversions = (fn(u64) -> f64, fn(f64) -> u64);

/// Form of the addresses in a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressForm {
    /// One for each channel, of so many bytes.
    Each(usize),
    /// One for each channel, in dwords.
    Dwords,
    /// First address and distance.
    Strided(usize),
    /// One in the header.
    Header64,
    /// One in the header, in units of so many bytes.
    Header32(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicUpdate {
    Int(AtomicOp),
    Float(FloatAtomicOp),
    Load,
}

/// Effect of a message, in terms that all kinds share.
#[derive(Clone, Debug)]
pub struct MessageEffect {
    pub write: bool,
    pub channels: u32,
    pub address: AddressForm,
    /// Bytes of an element in memory and in registers.
    pub memory: usize,
    pub register: usize,
    /// True if the element is in the register's upper half.
    pub high: bool,
    /// Indices of the elements at the address that move.
    pub elements: Vec<usize>,
    /// Bytes between the registers of an element and those of the next.
    pub row: usize,
    pub align: usize,
    /// First byte of a block in the registers, whatever the channels.
    pub block: Option<usize>,
    pub update: Option<AtomicUpdate>,
    /// True if two elements form one.
    pub pair: bool,
}

impl MessageEffect {
    pub fn transposed(a: &LscAccess) -> bool {
        matches!(
            a.vector,
            LscVector::Count {
                transposed: true,
                ..
            }
        )
    }

    /// Returns the form of a message that the hardware has; `None` for one that is refused.
    pub fn of(p: Platform, op: &MsgOp, exec: u32) -> Option<MessageEffect> {
        let grf = p.features().grf_bytes as usize;
        let each = |a: AddrModel| AddressForm::Each(if a.is_a64() { 8 } else { 4 });
        let rows = |channels: u32, bytes: usize| (channels as usize * bytes).div_ceil(grf) * grf;
        let base = |dir: Dir, a: AddrModel, channels: u32, memory: usize| MessageEffect {
            write: dir == Dir::Write,
            channels,
            address: each(a),
            memory,
            register: memory.max(4),
            high: false,
            elements: vec![0],
            row: rows(channels, memory.max(4)),
            align: 4,
            block: None,
            update: None,
            pair: false,
        };
        let atomic = |u: AtomicUpdate, a: AddrModel, channels: u32, memory: usize| {
            let pair = u == AtomicUpdate::Int(AtomicOp::CmpWr2W);
            MessageEffect {
                align: if pair { 2 * memory } else { memory },
                update: Some(u),
                pair,
                ..base(Dir::Write, a, channels, memory)
            }
        };
        Some(match *op {
            MsgOp::Untyped {
                dir,
                addr,
                rgba,
                simd,
            } => MessageEffect {
                elements: (0..4).filter(|c| rgba.mask() >> c & 1 == 1).collect(),
                ..base(dir, addr, simd.channels(), 4)
            },
            MsgOp::UncompressedWrite { addr, rgba, simd } => MessageEffect {
                elements: (0..4).filter(|c| rgba.mask() >> c & 1 == 1).collect(),
                ..base(Dir::Write, addr, simd.channels(), 4)
            },
            MsgOp::ByteScattered {
                dir,
                addr,
                bytes,
                simd,
            } => MessageEffect {
                align: 1,
                ..base(dir, addr, simd.channels(), usize::from(bytes))
            },
            MsgOp::DwordScattered {
                dir,
                addr,
                count,
                simd,
                ..
            } => MessageEffect {
                address: if addr.is_a64() {
                    AddressForm::Each(8)
                } else {
                    AddressForm::Dwords
                },
                elements: (0..usize::from(count)).collect(),
                ..base(dir, addr, simd.channels(), 4)
            },
            MsgOp::QwordScattered {
                dir,
                addr,
                count,
                simd,
            } => MessageEffect {
                elements: (0..usize::from(count)).collect(),
                ..base(dir, addr, simd.channels(), 8)
            },
            MsgOp::Atomic {
                op: AtomicOp::CmpWr2W,
                qword: true,
                ..
            } => return None,
            MsgOp::Atomic {
                op,
                addr,
                qword,
                simd,
                ..
            } => {
                let bytes = if qword { 8 } else { 4 };
                atomic(AtomicUpdate::Int(op), addr, simd.channels(), bytes)
            }
            MsgOp::HalfAtomic { op, addr, simd, .. } => {
                atomic(AtomicUpdate::Int(op), addr, simd.channels(), 2)
            }
            MsgOp::FloatAtomic { op, addr, simd, .. } => {
                atomic(AtomicUpdate::Float(op), addr, simd.channels(), 4)
            }
            MsgOp::SizedFloatAtomic {
                op,
                bits,
                addr,
                simd,
                ..
            } => atomic(
                AtomicUpdate::Float(op),
                addr,
                simd.channels(),
                usize::from(bits) / 8,
            ),
            MsgOp::Block {
                dir,
                addr,
                unit,
                count,
                ..
            } => {
                let unit_bytes = if unit == BlockUnit::Hword { 32 } else { 16 };
                let owords = matches!(unit, BlockUnit::Oword | BlockUnit::OwordHigh);
                let scale = match unit {
                    BlockUnit::OwordUnaligned => 1,
                    _ => unit_bytes,
                };
                let bytes = usize::from(count) * unit_bytes;
                MessageEffect {
                    channels: 1,
                    address: if addr.is_a64() {
                        AddressForm::Header64
                    } else {
                        AddressForm::Header32(scale)
                    },
                    elements: (0..bytes / 4).collect(),
                    row: 4,
                    align: match (addr.is_a64(), owords) {
                        (_, true) => 16,
                        (true, _) => 4,
                        (false, _) => scale.max(4),
                    },
                    block: Some(if unit == BlockUnit::OwordHigh { 16 } else { 0 }),
                    ..base(dir, addr, 1, 4)
                }
            }
            MsgOp::Lsc(a) => return MessageEffect::of_lsc(&a, exec, grf),
            _ => return None,
        })
    }

    fn of_lsc(a: &LscAccess, exec: u32, grf: usize) -> Option<MessageEffect> {
        let (memory, register, high) = match a.data {
            LscData::D8 | LscData::D16 => return None,
            LscData::D32 => (4, 4, false),
            LscData::D64 => (8, 8, false),
            LscData::D8U32 => (1, 4, false),
            LscData::D16U32 => (2, 4, false),
            LscData::D16U32H => (2, 4, true),
        };
        let address = a.addr.width() as usize / 8;
        let channels = exec;
        // A row has at least half a GRF pair of lanes.
        let row = (exec as usize).max(grf / 4) * register;
        let update = match a.op {
            LscOp::AtomicIinc => Some(AtomicUpdate::Int(AtomicOp::Inc)),
            LscOp::AtomicIdec => Some(AtomicUpdate::Int(AtomicOp::Dec)),
            LscOp::AtomicLoad => Some(AtomicUpdate::Load),
            LscOp::AtomicStore => Some(AtomicUpdate::Int(AtomicOp::Mov)),
            LscOp::AtomicIadd => Some(AtomicUpdate::Int(AtomicOp::Add)),
            LscOp::AtomicIsub => Some(AtomicUpdate::Int(AtomicOp::Sub)),
            LscOp::AtomicSmin => Some(AtomicUpdate::Int(AtomicOp::IMin)),
            LscOp::AtomicSmax => Some(AtomicUpdate::Int(AtomicOp::IMax)),
            LscOp::AtomicUmin => Some(AtomicUpdate::Int(AtomicOp::UMin)),
            LscOp::AtomicUmax => Some(AtomicUpdate::Int(AtomicOp::UMax)),
            LscOp::AtomicIcas => Some(AtomicUpdate::Int(AtomicOp::CmpWr)),
            LscOp::AtomicFadd => Some(AtomicUpdate::Float(FloatAtomicOp::FAdd)),
            LscOp::AtomicFsub => Some(AtomicUpdate::Float(FloatAtomicOp::FSub)),
            LscOp::AtomicFmin => Some(AtomicUpdate::Float(FloatAtomicOp::FMin)),
            LscOp::AtomicFmax => Some(AtomicUpdate::Float(FloatAtomicOp::FMax)),
            LscOp::AtomicFcas => Some(AtomicUpdate::Float(FloatAtomicOp::FCmpWr)),
            LscOp::AtomicAnd => Some(AtomicUpdate::Int(AtomicOp::And)),
            LscOp::AtomicOr => Some(AtomicUpdate::Int(AtomicOp::Or)),
            LscOp::AtomicXor => Some(AtomicUpdate::Int(AtomicOp::Xor)),
            LscOp::Load | LscOp::LoadStrided | LscOp::LoadQuad => None,
            LscOp::Store
            | LscOp::StoreStrided
            | LscOp::StoreQuad
            | LscOp::StoreUncompressed
            | LscOp::StoreUncompressedQuad => None,
            _ => return None,
        };
        let float8 = matches!(update, Some(AtomicUpdate::Float(_))) && memory == 1;
        if update.is_some() && (high || memory == 1 || float8) {
            return None;
        }
        let strided = matches!(a.op, LscOp::LoadStrided | LscOp::StoreStrided);
        let transposed = MessageEffect::transposed(a);
        // Transposed messages are of one channel, on which a stride has no effect.
        let none = transposed && exec > 1 || address < 4;
        if (strided && none) || (transposed && memory < 4) {
            return None;
        }
        let elements: Vec<usize> = match a.vector {
            LscVector::Mask(m) => (0..4).filter(|c| m.mask() >> c & 1 == 1).collect(),
            LscVector::Count { n, .. } => (0..usize::from(n)).collect(),
        };
        Some(MessageEffect {
            write: a.op.kind() != LscKind::Load,
            channels: if transposed { 1 } else { channels },
            address: if strided {
                AddressForm::Strided(address)
            } else {
                AddressForm::Each(address)
            },
            memory,
            register,
            high,
            elements,
            row: if transposed { register } else { row },
            // Loads and stores may be anywhere.
            align: if update.is_some() || transposed {
                memory
            } else {
                1
            },
            block: transposed.then_some(0),
            update,
            pair: false,
        })
    }

    /// Returns the bytes from an address to the end of what it names.
    pub fn span(&self) -> usize {
        let n = self.elements.last().map_or(0, |e| e + 1);
        n * self.memory * if self.pair { 2 } else { 1 }
    }

    /// Returns the size of values in registers and memory.
    pub fn unit(&self) -> usize {
        match self.update {
            Some(AtomicUpdate::Float(_)) => self.memory,
            _ => 8,
        }
    }

    /// Generates a value: a finite float for operations on floats.
    pub fn value(&self, r: &mut Rng) -> u64 {
        let f = r.f32(-100.0, 100.0);
        match (self.update, self.memory) {
            (Some(AtomicUpdate::Float(_)), 2) => u64::from(f16::from_f32(f).to_bits()),
            (Some(AtomicUpdate::Float(_)), 4) => u64::from(f.to_bits()),
            (Some(AtomicUpdate::Float(_)), _) => (f64::from(f) * 1.000_000_1).to_bits(),
            _ => r.u64(),
        }
    }

    fn update(&self, u: AtomicUpdate, old: u64, a: u64, b: u64) -> u64 {
        let bits = self.memory as u32 * 8 * if self.pair { 2 } else { 1 };
        let signed = |v: u64| (v << (64 - bits)) as i64;
        match u {
            AtomicUpdate::Load => old,
            AtomicUpdate::Int(op) => match op {
                AtomicOp::And => old & a,
                AtomicOp::Or => old | a,
                AtomicOp::Xor => old ^ a,
                AtomicOp::Mov => a,
                AtomicOp::Inc => old.wrapping_add(1),
                AtomicOp::Dec | AtomicOp::PreDec => old.wrapping_sub(1),
                AtomicOp::Add => old.wrapping_add(a),
                AtomicOp::Sub => old.wrapping_sub(a),
                AtomicOp::RevSub => a.wrapping_sub(old),
                AtomicOp::IMax => *[old, a].iter().max_by_key(|v| signed(**v)).unwrap(),
                AtomicOp::IMin => *[old, a].iter().min_by_key(|v| signed(**v)).unwrap(),
                AtomicOp::UMax => old.max(a),
                AtomicOp::UMin => old.min(a),
                AtomicOp::CmpWr | AtomicOp::CmpWr2W => {
                    if old == a {
                        b
                    } else {
                        old
                    }
                }
            },
            AtomicUpdate::Float(op) => {
                let (value, back): Conversions = match self.memory {
                    2 => (
                        |v| f16::from_bits(v as u16).to_f64(),
                        |v| u64::from(f16::from_f64(v).to_bits()),
                    ),
                    4 => (
                        |v| f64::from(f32::from_bits(v as u32)),
                        |v| u64::from((v as f32).to_bits()),
                    ),
                    _ => (f64::from_bits, f64::to_bits),
                };
                let (x, y) = (value(old), value(a));
                match op {
                    FloatAtomicOp::FMax => back(x.max(y)),
                    FloatAtomicOp::FMin => back(x.min(y)),
                    FloatAtomicOp::FAdd => back(x + y),
                    FloatAtomicOp::FSub => back(x - y),
                    FloatAtomicOp::FCmpWr => {
                        if x == y {
                            b
                        } else {
                            old
                        }
                    }
                }
            }
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
}

/// Returns the index of an access in memory; `None` outside.
fn index(case: &Case, address: u64, n: usize) -> Option<usize> {
    let at = match case.at {
        AddressBase::Slm => address & 0x0fff_ffff,
        _ => address.wrapping_sub(case.base()),
    };
    let at = usize::try_from(at).ok()?;
    (at + n <= MEMORY).then_some(at)
}

/// Returns the address of a channel.
fn address(case: &Case, form: &MessageEffect, i: usize) -> u64 {
    let at = case.address;
    let header = at - case.platform.features().grf_bytes as usize;
    let get = |at: usize, n: usize| number(&case.regs[at..at + n]);
    match form.address {
        AddressForm::Each(n) => get(at + i * n, n),
        AddressForm::Dwords => get(at + i * 4, 4) * 4,
        AddressForm::Strided(n) => get(at, n) + i as u64 * get(at + 8, 4),
        AddressForm::Header64 => get(header, 8),
        AddressForm::Header32(scale) => get(header + 8, 4) * scale as u64,
    }
}

/// Computes registers and memory after the message.
pub fn apply(form: &MessageEffect, case: &mut Case) {
    let before = case.clone();
    let exec_mask = (1u64 << case.exec) - 1;
    let on = u64::from(case.mask) & exec_mask;
    if on == 0 {
        return;
    }
    let responds = case.message.response_grfs > 0;
    let channels: Vec<usize> = match form.block {
        Some(_) => vec![0],
        None => (0..form.channels as usize)
            .filter(|i| on >> i & 1 == 1)
            .collect(),
    };
    let first = form.block.unwrap_or(0);
    if let Some(u) = form.update {
        for i in channels {
            let n = form.memory;
            let wide = if form.pair { 2 * n } else { n };
            let operand = |k: usize| {
                let part = |row: usize| {
                    let at = before.data + row * form.row + i * form.register;
                    before.regs.get(at..at + n).map_or(0, number)
                };
                if form.pair {
                    part(2 * k) | part(2 * k + 1) << (8 * n)
                } else {
                    part(k)
                }
            };
            let at = index(case, address(&before, form, i), wide);
            let old = at.map_or(0, |at| number(&case.memory[at..at + wide]));
            let new = form.update(u, old, operand(0), operand(1));
            if let Some(at) = at {
                case.memory[at..at + wide].copy_from_slice(&new.to_le_bytes()[..wide]);
            }
            if responds {
                let back = if u == AtomicUpdate::Int(AtomicOp::PreDec) {
                    new
                } else {
                    old
                };
                let bytes = back.to_le_bytes();
                for (k, part) in bytes[..wide].chunks(n).enumerate() {
                    let to = case.response + k * form.row + i * form.register;
                    case.regs[to..to + form.register].fill(0);
                    case.regs[to..to + n].copy_from_slice(part);
                }
            }
        }
        return;
    }
    for (row, e) in form.elements.iter().enumerate() {
        for i in &channels {
            let a = address(&before, form, *i) + (e * form.memory) as u64;
            let n = form.memory;
            let at = index(case, a, n);
            let element = first + row * form.row + i * form.register;
            let skip = if form.high { 2 } else { 0 };
            if form.write {
                let from = before.data + element + skip;
                if let Some(at) = at {
                    case.memory[at..at + n].copy_from_slice(&before.regs[from..from + n]);
                }
            } else if responds {
                let v = at.map_or(vec![0; n], |at| case.memory[at..at + n].to_vec());
                let to = case.response + element;
                case.regs[to..to + form.register].fill(0);
                case.regs[to + skip..to + skip + n].copy_from_slice(&v);
            }
        }
    }
}
