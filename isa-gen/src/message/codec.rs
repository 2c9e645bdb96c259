//! Descriptors to [`Message`] and back: decode and encode of each field stand side by side.

use super::table::{self, Kind};
use super::{
    AddrModel, AtomicOp, BlockUnit, Cache, Dir, FloatAtomicOp, Message, MessageError, MsgOp, Rgba,
    Sfid, Simd, Surface,
};
use crate::platform::Platform;

/// Bits `lo + len - 1 : lo`.
fn bits(v: u32, lo: u32, len: u32) -> u32 {
    (v >> lo) & ((1 << len) - 1)
}

/// A value placed at its field, checked to fit.
fn put(
    message: &'static str,
    field: &'static str,
    value: u64,
    lo: u32,
    len: u32,
) -> Result<u32, MessageError> {
    if value >= 1 << len {
        return Err(MessageError::Range {
            message,
            field,
            value,
        });
    }
    Ok((value as u32) << lo)
}

fn reserved<T>(message: &'static str, field: &'static str, value: u32) -> Result<T, MessageError> {
    Err(MessageError::Reserved {
        message,
        field,
        value,
    })
}

/// log2 of a count of 1, 2, 4 or 8.
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

/// MDC_SM2 (0: SIMD8, 1: SIMD16) and its reverse.
fn simd2(bit: u32) -> Simd {
    if bit == 0 { Simd::S8 } else { Simd::S16 }
}

fn simd2_bit(s: Simd) -> u32 {
    u32::from(s == Simd::S16)
}

/// MDC_SM3: 1 SIMD16, 2 SIMD8; 0 is SIMD4x2, which is not described here.
fn untyped(dir: Dir, addr: AddrModel, desc: u32) -> Result<Option<MsgOp>, MessageError> {
    let simd = match bits(desc, 12, 2) {
        0 => return Ok(None),
        1 => Simd::S16,
        2 => Simd::S8,
        v => return reserved("untyped surface", "SIMD mode 13:12", v),
    };
    let off = bits(desc, 8, 4);
    match Rgba::new(!off as u8 & 0xf) {
        Some(rgba) => Ok(Some(MsgOp::Untyped {
            dir,
            addr,
            rgba,
            simd,
        })),
        None => reserved("untyped surface", "channel disable mask 11:8", off),
    }
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

fn a64(s: Surface) -> Result<AddrModel, MessageError> {
    match s {
        Surface::Stateless | Surface::StatelessNonCoherent => Ok(AddrModel::A64(s)),
        _ => reserved("A64", "binding table index 7:0", u32::from(s.bits())),
    }
}

fn float_op(desc: u32) -> Result<FloatAtomicOp, MessageError> {
    let v = bits(desc, 8, 4);
    match v {
        1 => Ok(FloatAtomicOp::FMax),
        2 => Ok(FloatAtomicOp::FMin),
        3 => Ok(FloatAtomicOp::FCmpWr),
        _ => reserved("float atomic", "operation 11:8", v),
    }
}

fn int_op(desc: u32) -> AtomicOp {
    AtomicOp::ALL
        .get(bits(desc, 8, 4) as usize)
        .copied()
        .unwrap_or(AtomicOp::And)
}

/// What a data port descriptor means; `None` where it is of a kind that is not described here.
fn data_port(platform: Platform, sfid: Sfid, desc: u32) -> Result<Option<MsgOp>, MessageError> {
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
        Kind::OwordBlock(dir) => {
            let (unit, count) = block_unit(0, bits(desc, 8, 3))?;
            MsgOp::Block {
                dir,
                addr: a32,
                unit,
                count,
                cache: Cache::Data,
            }
        }
        Kind::OwordUnalignedBlock => {
            let (unit, count) = block_unit(1, bits(desc, 8, 3))?;
            MsgOp::Block {
                dir: Dir::Read,
                addr: a32,
                unit,
                count,
                cache: Cache::Data,
            }
        }
        Kind::ConstOwordBlock | Kind::ConstOwordUnalignedBlock => {
            let sub = u32::from(kind == Kind::ConstOwordUnalignedBlock);
            let (unit, count) = block_unit(sub, bits(desc, 8, 3))?;
            MsgOp::Block {
                dir: Dir::Read,
                addr: a32,
                unit,
                count,
                cache: Cache::Constant,
            }
        }
        Kind::DwordScattered(dir) => MsgOp::DwordScattered {
            dir,
            addr: a32,
            count: 1 << bits(desc, 10, 2),
            simd: simd2(bits(desc, 8, 1)),
            cache: Cache::Data,
        },
        Kind::ConstDwordScattered => MsgOp::DwordScattered {
            dir: Dir::Read,
            addr: a32,
            count: 1 << bits(desc, 10, 2),
            simd: simd2(bits(desc, 8, 1)),
            cache: Cache::Constant,
        },
        Kind::ByteScattered(dir) => MsgOp::ByteScattered {
            dir,
            addr: a32,
            bytes: match bits(desc, 10, 2) {
                3 => return reserved("byte scattered", "data size 11:10", 3),
                n => 1 << n,
            },
            simd: simd2(bits(desc, 8, 1)),
        },
        Kind::Fence => MsgOp::Fence {
            slm: match surface {
                Surface::Slm => true,
                Surface::Bti(0) => false,
                s => return reserved("fence", "binding table index 7:0", u32::from(s.bits())),
            },
            commit: returns,
            flush: bits(desc, 8, 5) as u8,
        },
        Kind::Untyped(dir) => return untyped(dir, a32, desc),
        Kind::A64Untyped(dir) => return untyped(dir, a64(surface)?, desc),
        Kind::Atomic => MsgOp::Atomic {
            op: int_op(desc),
            addr: a32,
            qword: false,
            returns,
            simd: simd2(1 - bits(desc, 12, 1)),
        },
        Kind::A64Atomic => MsgOp::Atomic {
            op: int_op(desc),
            addr: a64(surface)?,
            qword: bits(desc, 12, 1) == 1,
            returns,
            simd: Simd::S8,
        },
        Kind::FloatAtomic => MsgOp::FloatAtomic {
            op: float_op(desc)?,
            addr: a32,
            returns,
            simd: simd2(1 - bits(desc, 12, 1)),
        },
        Kind::A64FloatAtomic => MsgOp::FloatAtomic {
            op: float_op(desc)?,
            addr: a64(surface)?,
            returns,
            simd: match bits(desc, 12, 1) {
                0 => Simd::S8,
                v => return reserved("A64 float atomic", "SIMD mode 12", v),
            },
        },
        Kind::A64Scattered(dir) => {
            let addr = a64(surface)?;
            let simd = simd2(bits(desc, 12, 1));
            let count = 1u8 << bits(desc, 10, 2);
            match bits(desc, 8, 2) {
                0 if count == 8 => return reserved("A64 byte scattered", "data size 11:10", 3),
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
        Kind::A64Block(dir) => {
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

pub(super) fn decode(platform: Platform, ex: u32, desc: u32) -> Result<Message, MessageError> {
    let sfid = Sfid::of_ex_desc(ex);
    let op = match sfid {
        Sfid::DATA_CACHE_0 | Sfid::DATA_CACHE_1 | Sfid::CONSTANT_CACHE => {
            data_port(platform, sfid, desc)?
        }
        Sfid::GATEWAY if bits(desc, 0, 3) == 4 => Some(MsgOp::Barrier),
        Sfid::THREAD_SPAWNER if bits(desc, 0, 4) == 0 => Some(MsgOp::ThreadEnd {
            no_dereference: bits(desc, 4, 1) == 1,
        }),
        _ => None,
    };
    Ok(Message {
        op: op.unwrap_or(MsgOp::Raw {
            sfid,
            control: u64::from(desc & 0xe007_ffff) | u64::from(ex & 0xffff_0000) << 16,
        }),
        header: bits(desc, 19, 1) == 1,
        src0_grfs: bits(desc, 25, 4) as u8,
        src1_grfs: bits(ex, 6, 4) as u8,
        response_grfs: bits(desc, 20, 5) as u8,
        eot: bits(ex, 5, 1) == 1,
    })
}

/// The message type and its function control bits.
fn control(platform: Platform, op: &MsgOp) -> Result<u32, MessageError> {
    let typed = |kind: Kind, what: &str, control: u32| match table::number(platform, kind) {
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
    match *op {
        MsgOp::Untyped {
            dir,
            addr,
            rgba,
            simd,
        } => {
            let sm3 = match simd {
                Simd::S16 => 1,
                Simd::S8 => 2,
            };
            let kind = if addr.is_a64() {
                Kind::A64Untyped(dir)
            } else {
                Kind::Untyped(dir)
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
            let size = log2_count("byte scattered", "data size", bytes, 2)? << 10;
            let bti = surface_bits(addr)?;
            if addr.is_a64() {
                let c = simd2_bit(simd) << 12 | size | bti;
                typed(Kind::A64Scattered(dir), "A64 byte scattered", c)
            } else {
                let c = size | simd2_bit(simd) << 8 | bti;
                typed(Kind::ByteScattered(dir), "byte scattered", c)
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
            let a32 = count | 1 << 9 | simd2_bit(simd) << 8 | bti;
            match (addr.is_a64(), cache, dir) {
                (true, Cache::Data, _) => {
                    let c = simd2_bit(simd) << 12 | count | 1 << 8 | bti;
                    typed(Kind::A64Scattered(dir), "A64 dword scattered", c)
                }
                (false, Cache::Data, _) => typed(Kind::DwordScattered(dir), "dword scattered", a32),
                (false, Cache::Constant, Dir::Read) => {
                    typed(Kind::ConstDwordScattered, "constant dword scattered", a32)
                }
                _ => unsupported(),
            }
        }
        MsgOp::QwordScattered {
            dir,
            addr,
            count,
            simd,
        } => {
            if !addr.is_a64() {
                return unsupported();
            }
            let count = log2_count("qword scattered", "count", count, 3)? << 10;
            let c = simd2_bit(simd) << 12 | count | 2 << 8 | surface_bits(addr)?;
            typed(Kind::A64Scattered(dir), "A64 qword scattered", c)
        }
        MsgOp::Atomic {
            op: aop,
            addr,
            qword,
            returns,
            simd,
        } => {
            let c = u32::from(returns) << 13 | (aop as u32) << 8 | surface_bits(addr)?;
            match (addr.is_a64(), qword, simd) {
                (true, _, Simd::S8) => {
                    typed(Kind::A64Atomic, "A64 atomic", u32::from(qword) << 12 | c)
                }
                (false, false, _) => typed(Kind::Atomic, "atomic", (1 - simd2_bit(simd)) << 12 | c),
                _ => unsupported(),
            }
        }
        MsgOp::FloatAtomic {
            op: fop,
            addr,
            returns,
            simd,
        } => {
            let c = u32::from(returns) << 13 | (fop as u32 + 1) << 8 | surface_bits(addr)?;
            match (addr.is_a64(), simd) {
                (true, Simd::S8) => typed(Kind::A64FloatAtomic, "A64 float atomic", c),
                (true, Simd::S16) => unsupported(),
                (false, _) => typed(
                    Kind::FloatAtomic,
                    "float atomic",
                    (1 - simd2_bit(simd)) << 12 | c,
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
                return typed(Kind::A64Block(dir), "A64 block", sub << 11 | size | bti);
            }
            let kind = match (unit, dir, cache) {
                (BlockUnit::Oword | BlockUnit::OwordHigh, _, Cache::Data) => Kind::OwordBlock(dir),
                (BlockUnit::OwordUnaligned, Dir::Read, Cache::Data) => Kind::OwordUnalignedBlock,
                (BlockUnit::Oword | BlockUnit::OwordHigh, Dir::Read, Cache::Constant) => {
                    Kind::ConstOwordBlock
                }
                (BlockUnit::OwordUnaligned, Dir::Read, Cache::Constant) => {
                    Kind::ConstOwordUnalignedBlock
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
            typed(Kind::Fence, "fence", u32::from(commit) << 13 | flush | bti)
        }
        MsgOp::Barrier => Ok(4),
        MsgOp::ThreadEnd { no_dereference } => Ok(u32::from(no_dereference) << 4),
        MsgOp::Raw { control, .. } => Ok(control as u32 & 0xe007_ffff),
    }
}

/// The binding table index field, refused where it would be read back as something else.
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

pub(super) fn encode(platform: Platform, m: &Message) -> Result<(u32, u32), MessageError> {
    let what = "send";
    let ex_own = match m.op {
        MsgOp::Raw { control, .. } => (control >> 16) as u32 & 0xffff_0000,
        _ => 0,
    };
    let ex = ex_own
        | put(what, "source 1 length", u64::from(m.src1_grfs), 6, 4)?
        | u32::from(m.eot) << 5
        | u32::from(m.sfid().number());
    let desc = put(what, "source 0 length", u64::from(m.src0_grfs), 25, 4)?
        | put(what, "response length", u64::from(m.response_grfs), 20, 5)?
        | u32::from(m.header) << 19
        | control(platform, &m.op)?;
    Ok((ex, desc))
}
