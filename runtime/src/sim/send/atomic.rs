//! Atomics: one update of one element, and what each operation writes.

use super::super::thread::Thread;
use super::super::worker::Group;
use super::window::Window;
use gantry_isa_gen::message::AtomicOp;

/// An atomic update of a dword; returns the old value.
pub(super) fn update(
    t: &mut Thread,
    window: &Window<'_>,
    address: u64,
    f: impl FnMut(u32) -> u32,
) -> Result<u32, String> {
    if !address.is_multiple_of(4) {
        return Err(format!(
            "an atomic at {address:#x}, which is not dword-aligned"
        ));
    }
    t.counts.bytes_read += 4;
    t.counts.bytes_written += 4;
    Ok(match window.at(address, 4, "an atomic")? {
        Some((b, at)) => b.update32(at, f),
        None => 0,
    })
}

/// An atomic on a dword; returns the old value.
pub(super) fn atomic32(
    t: &mut Thread,
    window: &Window<'_>,
    op: AtomicOp,
    address: u64,
    (src0, src1): (u64, u64),
) -> Result<u32, String> {
    if op == AtomicOp::CmpWr2W {
        return Err("the two-dword compare and write atomic is not supported".to_owned());
    }
    update(t, window, address, |old| {
        apply(op, u64::from(old), src0, src1, 32) as u32
    })
}

/// An atomic on a qword; returns the old value.
pub(super) fn atomic64(
    t: &mut Thread,
    window: &Window<'_>,
    group: &Group<'_>,
    op: AtomicOp,
    address: u64,
    (src0, src1): (u64, u64),
) -> Result<u64, String> {
    if !address.is_multiple_of(8) {
        return Err(format!(
            "an atomic at {address:#x}, which is not qword-aligned"
        ));
    }
    if op == AtomicOp::CmpWr2W {
        return Err("the two-qword compare and write atomic is not supported".to_owned());
    }
    t.counts.bytes_read += 8;
    t.counts.bytes_written += 8;
    let lock = group.qword_lock();
    let _guard = lock
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(match window.at(address, 8, "an atomic")? {
        Some((b, at)) => {
            let old = u64::from(b.load32(at)) | u64::from(b.load32(at + 4)) << 32;
            let new = apply(op, old, src0, src1, 64);
            b.store32(at, new as u32);
            b.store32(at + 4, (new >> 32) as u32);
            old
        }
        None => 0,
    })
}

/// What an atomic writes.
pub(super) fn apply(op: AtomicOp, old: u64, src0: u64, src1: u64, bits: u32) -> u64 {
    let signed = |v: u64| (v << (64 - bits)) as i64 >> (64 - bits);
    match op {
        AtomicOp::And => old & src0,
        AtomicOp::Or => old | src0,
        AtomicOp::Xor => old ^ src0,
        AtomicOp::Mov => src0,
        AtomicOp::Inc => old.wrapping_add(1),
        AtomicOp::Dec | AtomicOp::PreDec => old.wrapping_sub(1),
        AtomicOp::Add => old.wrapping_add(src0),
        AtomicOp::Sub => old.wrapping_sub(src0),
        AtomicOp::RevSub => src0.wrapping_sub(old),
        AtomicOp::IMax => {
            if signed(src0) > signed(old) {
                src0
            } else {
                old
            }
        }
        AtomicOp::IMin => {
            if signed(src0) < signed(old) {
                src0
            } else {
                old
            }
        }
        AtomicOp::UMax => old.max(src0),
        AtomicOp::UMin => old.min(src0),
        AtomicOp::CmpWr => {
            if old == src0 {
                src1
            } else {
                old
            }
        }
        AtomicOp::CmpWr2W => old,
    }
}
