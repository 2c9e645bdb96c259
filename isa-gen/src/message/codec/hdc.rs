//! Messages of the data cache ports and the read-only port.

use super::{bits, put, reserved};
use crate::message::params::{
    AddrModel, AtomicOp, BlockUnit, Cache, Dir, FloatAtomicOp, Rgba, Simd, Slots, Surface,
};
use crate::message::table::{self, MessageType};
use crate::message::{MessageError, MsgOp, Sfid};
use crate::platform::Platform;
use crate::sfid::traits::traits;

/// Returns log2 of a count of 1, 2, 4 or 8.
fn log2_count(
    message: &'static str,
    field: &'static str,
    count: u8,
    max: u32,
) -> Result<u32, MessageError> {
    if count.is_power_of_two() && count.trailing_zeros() <= max {
        Ok(count.trailing_zeros())
    } else {
        Err(MessageError::Range {
            message,
            field,
            value: u64::from(count),
        })
    }
}

/// SIMD modes of a platform: half of the channels of a full message, or all.
#[derive(Clone, Copy)]
struct SimdModes {
    small: Simd,
    full: Simd,
}

impl SimdModes {
    fn of(platform: Platform) -> SimdModes {
        if traits(platform).full_exec == 32 {
            SimdModes {
                small: Simd::S16,
                full: Simd::S32,
            }
        } else {
            SimdModes {
                small: Simd::S8,
                full: Simd::S16,
            }
        }
    }

    /// Decodes MDC_SM2 (1 is the full mode).
    fn simd2(self, bit: u32) -> Simd {
        if bit == 0 { self.small } else { self.full }
    }

    /// Encodes a mode as a bit, 1 for the full mode.
    fn bit(self, s: Simd) -> u32 {
        u32::from(s == self.full)
    }
}

/// Decodes an untyped message. MDC_SM3 is 1 for SIMD16 and 2 for SIMD8; 0 is SIMD4x2, which is left
/// as raw bits.
fn untyped(
    modes: SimdModes,
    dir: Dir,
    addr: AddrModel,
    desc: u32,
) -> Result<Option<MsgOp>, MessageError> {
    let simd = match bits(desc, 12, 2) {
        0 => return Ok(None),
        1 => modes.full,
        2 => modes.small,
        v => return reserved("untyped surface", "SIMD mode 13:12", v),
    };
    Ok(Some(MsgOp::Untyped {
        dir,
        addr,
        rgba: components("untyped surface", desc)?,
        simd,
    }))
}

fn block_unit(sub: u32, size: u32) -> Result<(BlockUnit, u8), MessageError> {
    let m = "block";
    match (sub, size) {
        (3, 0..=3) => Ok((BlockUnit::Hword, 1 << size)),
        (0, 1) => Ok((BlockUnit::OwordHigh, 1)),
        (0 | 1, 0 | 2..=4) => {
            let unit = if sub == 0 {
                BlockUnit::Oword
            } else {
                BlockUnit::OwordUnaligned
            };
            Ok((unit, if size == 0 { 1 } else { 1 << (size - 1) }))
        }
        (0 | 1 | 3, v) => reserved(m, "block size 10:8", v),
        (v, _) => reserved(m, "block subtype 12:11", v),
    }
}

fn block_size_bits(unit: BlockUnit, count: u8) -> Result<u32, MessageError> {
    let log = log2_count("block", "count", count, 3)?;
    match unit {
        BlockUnit::Hword => Ok(log),
        BlockUnit::OwordHigh if count == 1 => Ok(1),
        BlockUnit::OwordHigh => Err(MessageError::Range {
            message: "block",
            field: "count",
            value: u64::from(count),
        }),
        _ => Ok(if log == 0 { 0 } else { log + 1 }),
    }
}

fn hword_block(dir: Dir, addr: AddrModel, desc: u32) -> Result<MsgOp, MessageError> {
    let (unit, count) = block_unit(3, bits(desc, 8, 3))?;
    Ok(MsgOp::Block {
        dir,
        addr,
        unit,
        count,
        cache: Cache::Data,
    })
}

fn a64(s: Surface) -> Result<AddrModel, MessageError> {
    match s {
        Surface::Stateless | Surface::StatelessNonCoherent => Ok(AddrModel::A64(s)),
        _ => reserved("A64", "binding table index 7:0", u32::from(s.bits())),
    }
}

/// Decodes a float operation and its size in bits. Add and subtract came with compression control
/// (Xe-HP), for 32 bits and, under other numbers, for 64.
fn float_op(platform: Platform, desc: u32) -> Result<(FloatAtomicOp, u8), MessageError> {
    let v = bits(desc, 8, 4);
    let adds = traits(platform).ccs;
    match v {
        1 => Ok((FloatAtomicOp::FMax, 32)),
        2 => Ok((FloatAtomicOp::FMin, 32)),
        3 => Ok((FloatAtomicOp::FCmpWr, 32)),
        4 if adds => Ok((FloatAtomicOp::FAdd, 32)),
        5 if adds => Ok((FloatAtomicOp::FSub, 32)),
        6 if adds => Ok((FloatAtomicOp::FAdd, 64)),
        7 if adds => Ok((FloatAtomicOp::FSub, 64)),
        _ => reserved("float atomic", "operation 11:8", v),
    }
}

fn float_op_bits(platform: Platform, op: FloatAtomicOp, size: u8) -> Result<u32, MessageError> {
    let n = match (op, size) {
        (FloatAtomicOp::FAdd, 64) => 6,
        (FloatAtomicOp::FSub, 64) => 7,
        (_, 16 | 32) => op as u32 + 1,
        _ => 0,
    };
    if n == 0 || (n > 3 && !traits(platform).ccs) {
        return Err(MessageError::Unsupported {
            platform,
            what: format!("{} of {size} bits", op.name()),
        });
    }
    Ok(n)
}

/// Creates a float atomic of 32 bits or another size.
fn float_atomic(
    (op, bits): (FloatAtomicOp, u8),
    addr: AddrModel,
    returns: bool,
    simd: Simd,
) -> MsgOp {
    if bits == 32 {
        MsgOp::FloatAtomic {
            op,
            addr,
            returns,
            simd,
        }
    } else {
        MsgOp::SizedFloatAtomic {
            op,
            bits,
            addr,
            returns,
            simd,
        }
    }
}

/// Returns the enabled components of a mask of disabled ones (bits 11:8).
fn components(message: &'static str, desc: u32) -> Result<Rgba, MessageError> {
    let off = bits(desc, 8, 4);
    match Rgba::new(!off as u8 & 0xf) {
        Some(rgba) => Ok(rgba),
        None => reserved(message, "channel disable mask 11:8", off),
    }
}

fn typed(dir: Dir, status: bool, surface: Surface, desc: u32) -> Result<MsgOp, MessageError> {
    let slots = bits(desc, 12, 2);
    match Slots::ALL.get(slots as usize) {
        Some(slots) => Ok(MsgOp::Typed {
            dir,
            surface,
            rgba: components("typed surface", desc)?,
            slots: *slots,
            status,
        }),
        None => reserved("typed surface", "slot group 13:12", slots),
    }
}

fn int_op(desc: u32) -> AtomicOp {
    AtomicOp::ALL
        .get(bits(desc, 8, 4) as usize)
        .copied()
        .unwrap_or(AtomicOp::And)
}

/// Decodes a data port descriptor, or returns `None` for a kind that has no variant.
pub(super) fn decode(
    platform: Platform,
    sfid: Sfid,
    desc: u32,
) -> Result<Option<MsgOp>, MessageError> {
    let modes = SimdModes::of(platform);
    let surface = Surface::from_bits(bits(desc, 0, 8) as u8);
    let a32 = AddrModel::A32(surface);
    if sfid == Sfid::DATA_CACHE_0 && bits(desc, 18, 1) == 1 {
        let dir = if bits(desc, 17, 1) == 1 {
            Dir::Write
        } else {
            Dir::Read
        };
        return Ok(Some(MsgOp::Scratch {
            dir,
            count: 1 << bits(desc, 12, 2),
            offset: bits(desc, 0, 12) as u16,
            dword_mode: bits(desc, 16, 1) == 1,
        }));
    }
    let Some(kind) = table::find(platform, sfid, bits(desc, 14, 5) as u8) else {
        return Ok(None);
    };
    let returns = bits(desc, 13, 1) == 1;
    let op = match kind {
        MessageType::OwordBlock(dir) => {
            let (unit, count) = block_unit(0, bits(desc, 8, 3))?;
            MsgOp::Block {
                dir,
                addr: a32,
                unit,
                count,
                cache: Cache::Data,
            }
        }
        // The hword block read is a subtype of the unaligned oword block.
        MessageType::HwordBlock(dir) => hword_block(dir, a32, desc)?,
        MessageType::OwordUnalignedBlock if traits(platform).lsc && bits(desc, 13, 1) == 1 => {
            hword_block(Dir::Read, a32, desc)?
        }
        MessageType::OwordUnalignedBlock => {
            let (unit, count) = block_unit(1, bits(desc, 8, 3))?;
            MsgOp::Block {
                dir: Dir::Read,
                addr: a32,
                unit,
                count,
                cache: Cache::Data,
            }
        }
        MessageType::ConstOwordBlock | MessageType::ConstOwordUnalignedBlock => {
            let sub = u32::from(kind == MessageType::ConstOwordUnalignedBlock);
            let (unit, count) = block_unit(sub, bits(desc, 8, 3))?;
            MsgOp::Block {
                dir: Dir::Read,
                addr: a32,
                unit,
                count,
                cache: Cache::Constant,
            }
        }
        MessageType::DwordScattered(dir) => MsgOp::DwordScattered {
            dir,
            addr: a32,
            count: 1 << bits(desc, 10, 2),
            simd: modes.simd2(bits(desc, 8, 1)),
            cache: Cache::Data,
        },
        MessageType::ConstDwordScattered => MsgOp::DwordScattered {
            dir: Dir::Read,
            addr: a32,
            count: 1 << bits(desc, 10, 2),
            simd: modes.simd2(bits(desc, 8, 1)),
            cache: Cache::Constant,
        },
        MessageType::ByteScattered(dir) => MsgOp::ByteScattered {
            dir,
            addr: a32,
            bytes: match bits(desc, 10, 2) {
                3 => return reserved("byte scattered", "data size 11:10", 3),
                n => 1 << n,
            },
            simd: modes.simd2(bits(desc, 8, 1)),
        },
        MessageType::Fence => MsgOp::Fence {
            slm: match surface {
                Surface::Slm => true,
                Surface::Bti(0) => false,
                s => return reserved("fence", "binding table index 7:0", u32::from(s.bits())),
            },
            commit: returns,
            flush: bits(desc, 8, 5) as u8,
        },
        MessageType::Untyped(dir) => return untyped(modes, dir, a32, desc),
        MessageType::A64Untyped(dir) => return untyped(modes, dir, a64(surface)?, desc),
        MessageType::Atomic => MsgOp::Atomic {
            op: int_op(desc),
            addr: a32,
            qword: false,
            returns,
            simd: modes.simd2(1 - bits(desc, 12, 1)),
        },
        MessageType::A64Atomic => MsgOp::Atomic {
            op: int_op(desc),
            addr: a64(surface)?,
            qword: bits(desc, 12, 1) == 1,
            returns,
            simd: modes.small,
        },
        MessageType::FloatAtomic => float_atomic(
            float_op(platform, desc)?,
            a32,
            returns,
            modes.simd2(1 - bits(desc, 12, 1)),
        ),
        MessageType::A64FloatAtomic => match bits(desc, 12, 1) {
            0 => float_atomic(
                float_op(platform, desc)?,
                a64(surface)?,
                returns,
                modes.small,
            ),
            v => return reserved("A64 float atomic", "SIMD mode 12", v),
        },
        MessageType::HalfFloatAtomic | MessageType::A64HalfFloatAtomic => {
            let (addr, simd) = if kind == MessageType::HalfFloatAtomic {
                (a32, modes.simd2(1 - bits(desc, 12, 1)))
            } else {
                (a64(surface)?, modes.simd2(bits(desc, 12, 1)))
            };
            match float_op(platform, desc)? {
                (op, 32) => float_atomic((op, 16), addr, returns, simd),
                _ => {
                    let v = bits(desc, 8, 4);
                    return reserved("half float atomic", "operation 11:8", v);
                }
            }
        }
        MessageType::HalfAtomic => MsgOp::HalfAtomic {
            op: int_op(desc),
            addr: a32,
            returns,
            simd: modes.simd2(1 - bits(desc, 12, 1)),
        },
        // With 64-bit addresses 0 means the smaller number of channels, as in messages that Intel's
        // compiler sends.
        MessageType::A64HalfAtomic => MsgOp::HalfAtomic {
            op: int_op(desc),
            addr: a64(surface)?,
            returns,
            simd: modes.simd2(bits(desc, 12, 1)),
        },
        MessageType::TypedAtomic { half } => MsgOp::TypedAtomic {
            op: int_op(desc),
            surface,
            half,
            high: bits(desc, 12, 1) == 1,
            returns,
        },
        MessageType::CounterAtomic { half } => MsgOp::CounterAtomic {
            op: int_op(desc),
            surface,
            half,
            simd: modes.simd2(1 - bits(desc, 12, 1)),
            returns,
        },
        MessageType::Media(dir) => MsgOp::MediaBlock {
            dir,
            surface,
            stride: bits(desc, 8, 3) as u8,
        },
        MessageType::Typed(dir) => typed(dir, false, surface, desc)?,
        MessageType::TypedStatus => typed(Dir::Read, true, surface, desc)?,
        MessageType::QwordScattered(dir) => MsgOp::QwordScattered {
            dir,
            addr: a32,
            count: 1 << bits(desc, 10, 2),
            simd: modes.simd2(bits(desc, 8, 1)),
        },
        MessageType::A64Scattered(dir) => {
            let addr = a64(surface)?;
            let simd = modes.simd2(bits(desc, 12, 1));
            let count = 1u8 << bits(desc, 10, 2);
            match bits(desc, 8, 2) {
                0 => MsgOp::ByteScattered {
                    dir,
                    addr,
                    bytes: count,
                    simd,
                },
                1 => MsgOp::DwordScattered {
                    dir,
                    addr,
                    count,
                    simd,
                    cache: Cache::Data,
                },
                2 => MsgOp::QwordScattered {
                    dir,
                    addr,
                    count,
                    simd,
                },
                v => return reserved("A64 scattered", "subtype 9:8", v),
            }
        }
        MessageType::A64Block(dir) => {
            let (unit, count) = block_unit(bits(desc, 11, 2), bits(desc, 8, 3))?;
            MsgOp::Block {
                dir,
                addr: a64(surface)?,
                unit,
                count,
                cache: Cache::Data,
            }
        }
    };
    Ok(Some(op))
}

/// Encodes the message type and its function control bits.
pub(super) fn encode(platform: Platform, op: &MsgOp) -> Result<u32, MessageError> {
    let typed = |kind: MessageType, what: &str, control: u32| match table::number(platform, kind) {
        Some(n) => Ok(u32::from(n) << 14 | control),
        None => Err(MessageError::Unsupported {
            platform,
            what: what.to_owned(),
        }),
    };
    let unsupported = || {
        Err(MessageError::Unsupported {
            platform,
            what: op.to_string(),
        })
    };
    let modes = SimdModes::of(platform);
    let small = |s| s == modes.small;
    if op
        .simd()
        .is_some_and(|s| s != modes.small && s != modes.full)
    {
        return unsupported();
    }
    match *op {
        MsgOp::Untyped {
            dir,
            addr,
            rgba,
            simd,
        } => {
            let sm3 = match simd {
                s if s == modes.full => 1,
                _ => 2,
            };
            let kind = if addr.is_a64() {
                MessageType::A64Untyped(dir)
            } else {
                MessageType::Untyped(dir)
            };
            let mask = u32::from(!rgba.mask() & 0xf);
            let bti = surface_bits(addr)?;
            typed(kind, "untyped surface", sm3 << 12 | mask << 8 | bti)
        }
        MsgOp::ByteScattered {
            dir,
            addr,
            bytes,
            simd,
        } => {
            let most = if addr.is_a64() { 3 } else { 2 };
            let size = log2_count("byte scattered", "data size", bytes, most)? << 10;
            let bti = surface_bits(addr)?;
            if addr.is_a64() {
                let c = modes.bit(simd) << 12 | size | bti;
                typed(MessageType::A64Scattered(dir), "A64 byte scattered", c)
            } else {
                let c = size | modes.bit(simd) << 8 | bti;
                typed(MessageType::ByteScattered(dir), "byte scattered", c)
            }
        }
        MsgOp::DwordScattered {
            dir,
            addr,
            count,
            simd,
            cache,
        } => {
            let count = log2_count("dword scattered", "count", count, 3)? << 10;
            let bti = surface_bits(addr)?;
            // Bit 9 is "legacy SIMD mode", always set.
            let a32 = count | 1 << 9 | modes.bit(simd) << 8 | bti;
            match (addr.is_a64(), cache, dir) {
                (true, Cache::Data, _) => {
                    let c = modes.bit(simd) << 12 | count | 1 << 8 | bti;
                    typed(MessageType::A64Scattered(dir), "A64 dword scattered", c)
                }
                (false, Cache::Data, _) => {
                    typed(MessageType::DwordScattered(dir), "dword scattered", a32)
                }
                (false, Cache::Constant, Dir::Read) => typed(
                    MessageType::ConstDwordScattered,
                    "constant dword scattered",
                    a32,
                ),
                _ => unsupported(),
            }
        }
        MsgOp::QwordScattered {
            dir,
            addr,
            count,
            simd,
        } => {
            let count = log2_count("qword scattered", "count", count, 3)? << 10;
            if !addr.is_a64() {
                // Bit 9 is set as for dwords.
                let c = count | 1 << 9 | modes.bit(simd) << 8 | surface_bits(addr)?;
                return typed(MessageType::QwordScattered(dir), "qword scattered", c);
            }
            let c = modes.bit(simd) << 12 | count | 2 << 8 | surface_bits(addr)?;
            typed(MessageType::A64Scattered(dir), "A64 qword scattered", c)
        }
        MsgOp::Atomic {
            op: aop,
            addr,
            qword,
            returns,
            simd,
        } => {
            let c = u32::from(returns) << 13 | (aop as u32) << 8 | surface_bits(addr)?;
            match (addr.is_a64(), qword, small(simd)) {
                (true, _, true) => typed(
                    MessageType::A64Atomic,
                    "A64 atomic",
                    u32::from(qword) << 12 | c,
                ),
                (false, false, _) => typed(
                    MessageType::Atomic,
                    "atomic",
                    (1 - modes.bit(simd)) << 12 | c,
                ),
                _ => unsupported(),
            }
        }
        MsgOp::FloatAtomic {
            op: fop,
            addr,
            returns,
            simd,
        } => {
            let fop = float_op_bits(platform, fop, 32)? << 8;
            let c = u32::from(returns) << 13 | fop | surface_bits(addr)?;
            match (addr.is_a64(), small(simd)) {
                (true, true) => typed(MessageType::A64FloatAtomic, "A64 float atomic", c),
                (true, false) => unsupported(),
                (false, _) => typed(
                    MessageType::FloatAtomic,
                    "float atomic",
                    (1 - modes.bit(simd)) << 12 | c,
                ),
            }
        }
        MsgOp::Block {
            dir,
            addr,
            unit,
            count,
            cache,
        } => {
            let size = block_size_bits(unit, count)? << 8;
            let bti = surface_bits(addr)?;
            if addr.is_a64() {
                let sub = match unit {
                    BlockUnit::Oword | BlockUnit::OwordHigh => 0,
                    BlockUnit::OwordUnaligned => 1,
                    BlockUnit::Hword => 3,
                };
                if cache == Cache::Constant {
                    return unsupported();
                }
                return typed(
                    MessageType::A64Block(dir),
                    "A64 block",
                    sub << 11 | size | bti,
                );
            }
            if unit == BlockUnit::Hword && cache == Cache::Data {
                let subtype = u32::from(dir == Dir::Read) << 13;
                let c = subtype | size | bti;
                return typed(MessageType::HwordBlock(dir), "hword block", c);
            }
            let kind = match (unit, dir, cache) {
                (BlockUnit::Oword | BlockUnit::OwordHigh, _, Cache::Data) => {
                    MessageType::OwordBlock(dir)
                }
                (BlockUnit::OwordUnaligned, Dir::Read, Cache::Data) => {
                    MessageType::OwordUnalignedBlock
                }
                (BlockUnit::Oword | BlockUnit::OwordHigh, Dir::Read, Cache::Constant) => {
                    MessageType::ConstOwordBlock
                }
                (BlockUnit::OwordUnaligned, Dir::Read, Cache::Constant) => {
                    MessageType::ConstOwordUnalignedBlock
                }
                _ => return unsupported(),
            };
            typed(kind, "oword block", size | bti)
        }
        MsgOp::Scratch {
            dir,
            count,
            offset,
            dword_mode,
        } => Ok(1 << 18
            | u32::from(dir == Dir::Write) << 17
            | u32::from(dword_mode) << 16
            | log2_count("scratch block", "count", count, 3)? << 12
            | put("scratch block", "offset", u64::from(offset), 0, 12)?),
        MsgOp::Fence { slm, commit, flush } => {
            let flush = put("fence", "flush targets", u64::from(flush), 8, 5)?;
            let bti = if slm { 254 } else { 0 };
            typed(
                MessageType::Fence,
                "fence",
                u32::from(commit) << 13 | flush | bti,
            )
        }
        MsgOp::HalfAtomic {
            op: aop,
            addr,
            returns,
            simd,
        } => {
            let (kind, mode) = if addr.is_a64() {
                (MessageType::A64HalfAtomic, modes.bit(simd))
            } else {
                (MessageType::HalfAtomic, 1 - modes.bit(simd))
            };
            let c = atomic_bits(aop, returns, mode) | surface_bits(addr)?;
            typed(kind, "16-bit atomic", c)
        }
        MsgOp::SizedFloatAtomic {
            op: fop,
            bits,
            addr,
            returns,
            simd,
        } => {
            let a64 = addr.is_a64();
            let kind = match (bits, a64, small(simd)) {
                (16, true, _) => MessageType::A64HalfFloatAtomic,
                (16, false, _) => MessageType::HalfFloatAtomic,
                (64, true, true) => MessageType::A64FloatAtomic,
                (64, false, _) => MessageType::FloatAtomic,
                _ => return unsupported(),
            };
            let mode = if a64 {
                modes.bit(simd)
            } else {
                1 - modes.bit(simd)
            };
            let fop = float_op_bits(platform, fop, bits)? << 8;
            let c = u32::from(returns) << 13 | mode << 12 | fop | surface_bits(addr)?;
            typed(kind, "float atomic", c)
        }
        MsgOp::Typed {
            dir,
            surface,
            rgba,
            slots,
            status,
        } => {
            let kind = match (dir, status) {
                (Dir::Read, true) => MessageType::TypedStatus,
                (Dir::Write, true) => return unsupported(),
                (dir, false) => MessageType::Typed(dir),
            };
            let mask = u32::from(!rgba.mask() & 0xf);
            let bti = surface_bits(AddrModel::A32(surface))?;
            typed(
                kind,
                "typed surface",
                (slots as u32) << 12 | mask << 8 | bti,
            )
        }
        MsgOp::TypedAtomic {
            op: aop,
            surface,
            half,
            high,
            returns,
        } => {
            let bti = surface_bits(AddrModel::A32(surface))?;
            let c = atomic_bits(aop, returns, u32::from(high)) | bti;
            typed(MessageType::TypedAtomic { half }, "typed atomic", c)
        }
        MsgOp::CounterAtomic {
            op: aop,
            surface,
            half,
            simd,
            returns,
        } => {
            let bti = surface_bits(AddrModel::A32(surface))?;
            let c = atomic_bits(aop, returns, 1 - modes.bit(simd)) | bti;
            typed(MessageType::CounterAtomic { half }, "counter atomic", c)
        }
        MsgOp::MediaBlock {
            dir,
            surface,
            stride,
        } => {
            let bti = surface_bits(AddrModel::A32(surface))?;
            let stride = put("media block", "stride override", u64::from(stride), 8, 3)?;
            typed(MessageType::Media(dir), "media block", stride | bti)
        }
        _ => unsupported(),
    }
}

/// Encodes operation, return and mode of an integer atomic.
fn atomic_bits(op: AtomicOp, returns: bool, mode: u32) -> u32 {
    u32::from(returns) << 13 | mode << 12 | (op as u32) << 8
}

/// Encodes the binding table index field, or returns an error if it would be decoded as something
/// else.
fn surface_bits(addr: AddrModel) -> Result<u32, MessageError> {
    let s = addr.surface();
    let wrong = match addr {
        AddrModel::A32(_) => matches!(s, Surface::Bti(253..)),
        AddrModel::A64(_) => !s.is_stateless(),
    };
    if wrong {
        return Err(MessageError::Range {
            message: "data port",
            field: "binding table index",
            value: u64::from(s.bits()),
        });
    }
    Ok(u32::from(s.bits()))
}
