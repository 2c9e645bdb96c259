//! Messages of the data ports before the load/store cache (HDC) that read and write untyped memory.

use super::super::program::MicroOp;
use super::super::thread::Thread;
use super::super::worker::Group;
use super::Payload;
use super::atomic::{atomic32, atomic64, update};
use super::transfer::{addresses, channels, move_element, move_row, operands, respond};
use super::window::Window;
use gantry_isa_gen::message::{
    AddrModel, AtomicOp, BlockUnit, FloatAtomicOp, Message, MsgOp, Surface,
};

pub(super) fn access(
    t: &mut Thread,
    op: &MicroOp,
    message: &Message,
    p: &Payload,
    mask: u32,
    group: &Group<'_>,
) -> Result<(), String> {
    match message.op {
        MsgOp::Untyped {
            dir,
            addr,
            rgba,
            simd,
        } => {
            let row = simd.channels() * 4;
            let mask = mask & gantry_isa_gen::sem::mask(simd.channels() as usize);
            let window = Window::new(group, addr)?;
            let at_channel = addresses(t, p, addr);
            let on = (0..4u64).filter(|c| rgba.mask() >> c & 1 == 1);
            for (k, c) in on.enumerate() {
                let row = k as u32 * row;
                move_row(t, &window, dir, &at_channel, c * 4, mask, p, row)?;
            }
        }
        MsgOp::ByteScattered {
            dir,
            addr,
            bytes,
            simd,
        } => {
            let mask = mask & gantry_isa_gen::sem::mask(simd.channels() as usize);
            let window = Window::new(group, addr)?;
            let at_channel = addresses(t, p, addr);
            for i in channels(mask) {
                let address = at_channel[i as usize % 16];
                move_element(t, &window, dir, address, u32::from(bytes), p, i * 4)?;
            }
        }
        MsgOp::DwordScattered {
            dir,
            addr,
            count,
            simd,
            ..
        } => {
            let row = simd.channels() * 4;
            let mask = mask & gantry_isa_gen::sem::mask(simd.channels() as usize);
            let window = Window::new(group, addr)?;
            let at_channel = addresses(t, p, addr);
            let mut at_channel = at_channel;
            if !addr.is_a64() {
                for a in &mut at_channel {
                    *a *= 4;
                }
            }
            for k in 0..u32::from(count) {
                let offset = u64::from(k) * 4;
                move_row(t, &window, dir, &at_channel, offset, mask, p, k * row)?;
            }
        }
        MsgOp::QwordScattered {
            dir,
            addr,
            count,
            simd,
        } => {
            let row = simd.channels() * 8;
            let mask = mask & gantry_isa_gen::sem::mask(simd.channels() as usize);
            let window = Window::new(group, addr)?;
            let at_channel = addresses(t, p, addr);
            for i in channels(mask) {
                let address = at_channel[i as usize % 16];
                for k in 0..u32::from(count) * 2 {
                    let at = k / 2 * row + i * 8 + k % 2 * 4;
                    let a = address.wrapping_add(u64::from(k) * 4);
                    move_element(t, &window, dir, a, 4, p, at)?;
                }
            }
        }
        MsgOp::Block {
            dir,
            addr,
            unit,
            count,
            ..
        } => {
            let bytes = u32::from(count) * if unit == BlockUnit::Hword { 32 } else { 16 };
            let address = if addr.is_a64() {
                t.regs.u64(p.header)
            } else {
                let offset = u64::from(t.regs.u32(p.header + 8));
                if unit == BlockUnit::OwordUnaligned {
                    offset
                } else {
                    offset * 16
                }
            };
            let aligned = if matches!(unit, BlockUnit::Oword | BlockUnit::OwordHigh) {
                16
            } else {
                4
            };
            if !address.is_multiple_of(aligned) {
                return Err(format!(
                    "a block message at {address:#x}, which is not a multiple of {aligned}"
                ));
            }
            let first = if unit == BlockUnit::OwordHigh { 16 } else { 0 };
            let window = Window::new(group, addr)?;
            for k in (0..bytes).step_by(4) {
                let a = address.wrapping_add(u64::from(k));
                move_element(t, &window, dir, a, 4, p, first + k)?;
            }
        }
        MsgOp::Scratch {
            dir,
            count,
            offset,
            dword_mode,
        } => {
            let base = u64::from(t.regs.u32(p.header + 20) & !0x3ff);
            let window = Window::new(group, AddrModel::A32(Surface::Stateless))?;
            for k in (0..u32::from(count) * 32).step_by(4) {
                // In dword mode each channel moves its dword of every register.
                let channel = k / 4 % u32::from(op.n).max(8);
                if dword_mode && mask >> channel & 1 == 0 && !op.no_mask {
                    continue;
                }
                let a = base + u64::from(offset) * 32 + u64::from(k);
                move_element(t, &window, dir, a, 4, p, k)?;
            }
        }
        MsgOp::Atomic {
            op: aop,
            addr,
            qword,
            returns,
            simd,
        } => {
            let mask = mask & gantry_isa_gen::sem::mask(simd.channels() as usize);
            let (src0, src1) = operands(t, p, simd.channels(), if qword { 8 } else { 4 });
            let window = Window::new(group, addr)?;
            let at_channel = addresses(t, p, addr);
            for i in channels(mask) {
                let address = at_channel[i as usize % 16];
                let values = (src0[i as usize % 16], src1[i as usize % 16]);
                let old = if qword {
                    atomic64(t, &window, group, aop, address, values)?
                } else {
                    u64::from(atomic32(t, &window, aop, address, values)?)
                };
                let back = if aop == AtomicOp::PreDec {
                    old.wrapping_sub(1)
                } else {
                    old
                };
                if qword {
                    respond(t, p, returns, i * 8, back as u32);
                    respond(t, p, returns, i * 8 + 4, (back >> 32) as u32);
                } else {
                    respond(t, p, returns, i * 4, back as u32);
                }
            }
        }
        MsgOp::FloatAtomic {
            op: fop,
            addr,
            returns,
            simd,
        } => {
            let mask = mask & gantry_isa_gen::sem::mask(simd.channels() as usize);
            let (src0, src1) = operands(t, p, simd.channels(), 4);
            let window = Window::new(group, addr)?;
            let at_channel = addresses(t, p, addr);
            for i in channels(mask) {
                let address = at_channel[i as usize % 16];
                let src0 = src0[i as usize % 16] as u32;
                let src1 = src1[i as usize % 16] as u32;
                let f = |old: u32| {
                    let (o, s) = (f32::from_bits(old), f32::from_bits(src0));
                    match fop {
                        FloatAtomicOp::FMax => o.max(s).to_bits(),
                        FloatAtomicOp::FMin => o.min(s).to_bits(),
                        FloatAtomicOp::FAdd => (o + s).to_bits(),
                        FloatAtomicOp::FSub => (o - s).to_bits(),
                        FloatAtomicOp::FCmpWr => {
                            if o == s {
                                src1
                            } else {
                                old
                            }
                        }
                    }
                };
                let old = update(t, &window, address, f)?;
                respond(t, p, returns, i * 4, old);
            }
        }
        // What is no access to memory, or was refused before.
        _ => {}
    }
    Ok(())
}
