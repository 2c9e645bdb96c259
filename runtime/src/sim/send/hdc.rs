//! Messages of the data ports before the load/store cache (HDC), as memory accesses.

use super::atomic::{Atomic, AtomicUpdate};
use super::block::{Block, BlockAddress};
use super::plan::{Action, MemoryAccess};
use super::scatter::{AddressForm, Scatter};
use super::window::AddressBase;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{AddrModel, AtomicOp, BlockUnit, Dir, FloatAtomicOp, MsgOp, Simd};

fn addresses(addr: AddrModel) -> AddressForm {
    AddressForm::Each(if addr.is_a64() { 8 } else { 4 })
}

/// Returns a scattered access of `count` consecutive elements of `bytes` bytes.
fn scatter(dir: Dir, addr: AddrModel, simd: Simd, bytes: u32, count: u32, grf: u32) -> Scatter {
    let channels = simd.channels();
    let register = bytes.max(4);
    Scatter {
        dir,
        channels,
        addresses: addresses(addr),
        memory: bytes,
        register,
        shift: 0,
        elements: u64::MAX >> (64 - count),
        row: (channels * register).next_multiple_of(grf),
        // Elements of dwords need that alignment; bytes may be anywhere.
        aligned: if bytes < 4 { 1 } else { 4 },
        strict: true,
    }
}

fn atomic(
    update: AtomicUpdate,
    bits: u32,
    addr: AddrModel,
    simd: Simd,
    returns: bool,
    grf: u32,
) -> Atomic {
    let register = (bits / 8).max(4);
    Atomic {
        update,
        bytes: bits / 8,
        register,
        channels: simd.channels(),
        addresses: addresses(addr),
        row: (simd.channels() * register).next_multiple_of(grf),
        returns,
    }
}

/// Returns the action of a message of the data ports. `ex` is its extended descriptor.
pub(super) fn action(platform: Platform, op: &MsgOp, ex: u32, grf: u32) -> Result<Action, String> {
    let place = |addr| AddressBase::of_model(platform, addr, ex);
    let (access, place) = match *op {
        MsgOp::Untyped {
            dir,
            addr,
            rgba,
            simd,
        } => {
            let s = Scatter {
                elements: u64::from(rgba.mask()),
                ..scatter(dir, addr, simd, 4, 1, grf)
            };
            (MemoryAccess::Scatter(s), place(addr))
        }
        MsgOp::UncompressedWrite { addr, rgba, simd } => {
            let s = Scatter {
                elements: u64::from(rgba.mask()),
                ..scatter(Dir::Write, addr, simd, 4, 1, grf)
            };
            (MemoryAccess::Scatter(s), place(addr))
        }
        MsgOp::ByteScattered {
            dir,
            addr,
            bytes,
            simd,
        } => {
            let s = Scatter {
                aligned: 1,
                ..scatter(dir, addr, simd, u32::from(bytes), 1, grf)
            };
            (MemoryAccess::Scatter(s), place(addr))
        }
        MsgOp::DwordScattered {
            dir,
            addr,
            count,
            simd,
            ..
        } => {
            let mut s = scatter(dir, addr, simd, 4, u32::from(count), grf);
            if !addr.is_a64() {
                s.addresses = AddressForm::Dwords;
            }
            (MemoryAccess::Scatter(s), place(addr))
        }
        MsgOp::QwordScattered {
            dir,
            addr,
            count,
            simd,
        } => {
            let s = scatter(dir, addr, simd, 8, u32::from(count), grf);
            (MemoryAccess::Scatter(s), place(addr))
        }
        MsgOp::Block {
            dir,
            addr,
            unit,
            count,
            ..
        } => {
            let owords = matches!(unit, BlockUnit::Oword | BlockUnit::OwordHigh);
            let b = Block {
                dir,
                bytes: u32::from(count) * if unit == BlockUnit::Hword { 32 } else { 16 },
                first: if unit == BlockUnit::OwordHigh { 16 } else { 0 },
                address: {
                    let scale = match unit {
                        BlockUnit::OwordUnaligned => 1,
                        BlockUnit::Hword => 32,
                        BlockUnit::Oword | BlockUnit::OwordHigh => 16,
                    };
                    if addr.is_a64() {
                        BlockAddress::Header64
                    } else if addr.surface().is_stateless() {
                        BlockAddress::Based32(scale)
                    } else {
                        BlockAddress::Header32(scale)
                    }
                },
                aligned: if owords { 16 } else { 4 },
            };
            (MemoryAccess::Block(b), place(addr))
        }
        MsgOp::Scratch {
            dir,
            count,
            offset,
            dword_mode,
        } => {
            let offset = u32::from(offset) * 32;
            // From Xe-HP on the header names a surface; before, it has an offset from general state
            // base.
            let (address, place) = if platform >= Platform::XeHp {
                (BlockAddress::Known(offset), AddressBase::HeaderScratch)
            } else {
                (BlockAddress::Scratch(offset), AddressBase::General)
            };
            let b = Block {
                dir,
                bytes: u32::from(count) * 32,
                first: 0,
                address,
                aligned: 32,
            };
            let access = if dword_mode {
                MemoryAccess::Masked(b)
            } else {
                MemoryAccess::Block(b)
            };
            (access, place)
        }
        MsgOp::Atomic {
            op,
            addr,
            qword,
            returns,
            simd,
        } => {
            if op == AtomicOp::CmpWr2W && qword {
                return Ok(Action::Unsupported);
            }
            let bits = if qword { 64 } else { 32 };
            let a = atomic(AtomicUpdate::Int(op), bits, addr, simd, returns, grf);
            (MemoryAccess::Atomic(a), place(addr))
        }
        MsgOp::HalfAtomic {
            op,
            addr,
            returns,
            simd,
        } => {
            let a = atomic(AtomicUpdate::Int(op), 16, addr, simd, returns, grf);
            (MemoryAccess::Atomic(a), place(addr))
        }
        MsgOp::FloatAtomic {
            op,
            addr,
            returns,
            simd,
        } => {
            let a = atomic(AtomicUpdate::Float(op), 32, addr, simd, returns, grf);
            (MemoryAccess::Atomic(a), place(addr))
        }
        MsgOp::SizedFloatAtomic {
            op,
            bits,
            addr,
            returns,
            simd,
        } => {
            let sum = matches!(op, FloatAtomicOp::FAdd | FloatAtomicOp::FSub);
            if bits == 64 && !sum {
                return Ok(Action::Unsupported);
            }
            let a = atomic(
                AtomicUpdate::Float(op),
                u32::from(bits),
                addr,
                simd,
                returns,
                grf,
            );
            (MemoryAccess::Atomic(a), place(addr))
        }
        _ => return Ok(Action::Unsupported),
    };
    Ok(Action::Access(access, place))
}
