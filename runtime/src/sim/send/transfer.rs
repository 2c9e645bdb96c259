//! Moving elements between registers and memory: what all messages are made of.

use super::super::thread::Thread;
use super::Payload;
use super::window::Window;
use gantry_isa_gen::message::{AddrModel, Dir};

/// Channel numbers of a mask.
#[inline(always)]
pub(super) fn channels(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let i = mask.trailing_zeros();
        mask &= mask - 1;
        Some(i)
    })
}

/// The addresses of all channels, read before anything is written: a response may go to the address registers.
#[inline(always)]
pub(super) fn addresses(t: &Thread, p: &Payload, addr: AddrModel) -> [u64; 16] {
    let mut out = [0; 16];
    for (i, o) in out.iter_mut().enumerate() {
        let i = i as u32;
        *o = if addr.is_a64() {
            t.regs.u64(p.address + i * 8)
        } else {
            u64::from(t.regs.u32(p.address + i * 4))
        };
    }
    out
}

/// Moves a dword of each channel, `offset` bytes after its address, between memory and the row of the data that begins
/// at byte `row`.
#[inline(always)]
#[allow(
    clippy::too_many_arguments,
    reason = "one row of a message: all of it is used"
)]
pub(super) fn move_row(
    t: &mut Thread,
    window: &Window<'_>,
    dir: Dir,
    at_channel: &[u64; 16],
    offset: u64,
    mask: u32,
    p: &Payload,
    row: u32,
) -> Result<(), String> {
    let bytes = u64::from(mask.count_ones()) * 4;
    match (window, dir, p.response) {
        (Window::Surface(block), Dir::Read, Some(dst)) => {
            for i in channels(mask) {
                let at = at_channel[i as usize % 16].wrapping_add(offset);
                let v = if block.holds(at, 4) {
                    block.load32(at)
                } else {
                    0
                };
                t.regs.set_u32(dst + row + i * 4, v);
            }
            t.counts.bytes_read += bytes;
        }
        (Window::Surface(block), Dir::Write, _) => {
            for i in channels(mask) {
                let at = at_channel[i as usize % 16].wrapping_add(offset);
                if block.holds(at, 4) {
                    block.store32(at, t.regs.u32(p.data + row + i * 4));
                }
            }
            t.counts.bytes_written += bytes;
        }
        _ => {
            for i in channels(mask) {
                let at = at_channel[i as usize % 16].wrapping_add(offset);
                move_element(t, window, dir, at, 4, p, row + i * 4)?;
            }
        }
    }
    Ok(())
}

/// Moves `n` bytes (1, 2 or 4) between memory and a dword of the data.
#[inline(always)]
pub(super) fn move_element(
    t: &mut Thread,
    window: &Window<'_>,
    dir: Dir,
    address: u64,
    n: u32,
    p: &Payload,
    at: u32,
) -> Result<(), String> {
    match dir {
        Dir::Read => {
            let v = match window.at(address, u64::from(n), "a read")? {
                Some((b, at)) => b.load(at, n),
                None => 0,
            };
            t.counts.bytes_read += u64::from(n);
            if let Some(dst) = p.response {
                t.regs.set_u32(dst + at, v);
            }
        }
        Dir::Write => {
            let v = t.regs.u32(p.data + at);
            if let Some((b, at)) = window.at(address, u64::from(n), "a write")? {
                b.store(at, n, v);
            }
            t.counts.bytes_written += u64::from(n);
        }
    }
    Ok(())
}

pub(super) fn respond(t: &mut Thread, p: &Payload, returns: bool, at: u32, v: u32) {
    if let (true, Some(dst)) = (returns, p.response) {
        t.regs.set_u32(dst + at, v);
    }
}

/// The data operands of an atomic, all channels, read before anything is written.
pub(super) fn operands(
    t: &Thread,
    p: &Payload,
    channels: u32,
    size: u32,
) -> ([u64; 16], [u64; 16]) {
    let row = channels * size;
    let read = |from: u32| {
        let mut out = [0; 16];
        for (i, o) in out.iter_mut().enumerate().take(channels as usize) {
            *o = t.regs.element(from + i as u32 * size, size);
        }
        out
    };
    (read(p.data), read(p.data + row))
}
