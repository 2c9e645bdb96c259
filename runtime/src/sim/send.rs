//! Running sends: every message kind that `isa-gen` describes.

use super::memory::Block;
use super::program::{DescOp, MicroOp, SendOp};
use super::regs::GRF_BYTES;
use super::thread::Thread;
use super::worker::Group;
use gantry_isa_gen::message::{
    AddrModel, AtomicOp, BlockUnit, Dir, FloatAtomicOp, Message, MsgOp, Surface,
};

/// What a send did to its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SendOutcome {
    Next,
    Ended,
}

/// Bytes of a GRF.
const GRF: u32 = 32;

/// A payload as the message sees it: header, addresses, data, each with its byte offset in the register file.
struct Payload {
    header: u32,
    address: u32,
    data: u32,
    response: Option<u32>,
}

pub(super) fn execute(
    t: &mut Thread,
    op: &MicroOp,
    s: &SendOp,
    mask: u32,
    group: &mut Group<'_>,
) -> Result<SendOutcome, String> {
    let message = match s.message {
        Some(m) => m,
        None => {
            let value = |d| match d {
                DescOp::Imm(v) => v,
                DescOp::Reg(at) => t.regs.u32(at),
            };
            Message::decode(group.platform(), value(s.ex), value(s.desc))
                .map_err(|e| e.to_string())?
        }
    };
    if mask == 0 {
        // No message is sent; but a thread that ends must end.
        return if s.eot || message.eot {
            Err("the end-of-thread message is disabled in every channel".to_owned())
        } else {
            Ok(SendOutcome::Next)
        };
    }
    check_span(s.src0, message.src0_grfs, "the payload")?;
    check_span(s.src1, message.src1_grfs, "the second payload")?;
    if let Some(dst) = s.dst {
        check_span(dst, message.response_grfs, "the response")?;
    }
    match message.op {
        MsgOp::ThreadEnd { .. } => return Ok(SendOutcome::Ended),
        MsgOp::Barrier => {
            t.signalled += 1;
            group.arrive();
        }
        // Memory is coherent at every instruction here.
        MsgOp::Fence { .. } => {}
        MsgOp::Raw { .. }
        | MsgOp::HalfAtomic { .. }
        | MsgOp::SizedFloatAtomic { .. }
        | MsgOp::Typed { .. }
        | MsgOp::TypedAtomic { .. }
        | MsgOp::CounterAtomic { .. }
        | MsgOp::MediaBlock { .. }
        | MsgOp::Lsc(_)
        | MsgOp::LscBlock2d { .. }
        | MsgOp::LscFence { .. }
        | MsgOp::LscCcs { .. }
        | MsgOp::LscReadState { .. }
        | MsgOp::Gateway(_)
        | MsgOp::Sample(_)
        | MsgOp::Urb(_)
        | MsgOp::Render { .. }
        | MsgOp::TraceRay(_)
        | MsgOp::Spawn(_) => {
            return Err(format!("unsupported message: {}", message.op));
        }
        _ => {
            let lengths = message.op.lengths(group.platform());
            let header = u32::from(message.header) * GRF;
            let address = s.src0 + header;
            let after = address + lengths.address * GRF;
            let payload = Payload {
                header: s.src0,
                address,
                data: if message.src1_grfs > 0 { s.src1 } else { after },
                response: s.dst,
            };
            let first = u32::from(message.header) + lengths.address;
            let (have0, have1) = (u32::from(message.src0_grfs), u32::from(message.src1_grfs));
            let enough = if have1 > 0 {
                have0 >= first && have1 >= lengths.data
            } else {
                have0 >= first + lengths.data
            };
            if !enough || (lengths.header && !message.header) {
                return Err(format!(
                    "the message `{}` has a payload too short: {message}",
                    message.op
                ));
            }
            if u32::from(message.response_grfs) < lengths.response && s.dst.is_some() {
                return Err(format!(
                    "the message `{}` has a response too short: {message}",
                    message.op
                ));
            }
            access(t, op, &message, &payload, mask, group)?;
        }
    }
    if s.eot || message.eot {
        return Ok(SendOutcome::Ended);
    }
    Ok(SendOutcome::Next)
}

fn check_span(at: u32, grfs: u8, what: &str) -> Result<(), String> {
    if at + u32::from(grfs) * GRF > GRF_BYTES {
        return Err(format!("{what} runs past the last register"));
    }
    Ok(())
}

/// What a message's addresses are offsets into, looked up once a message.
enum Window<'g> {
    /// Virtual addresses.
    Flat(&'g Group<'g>),
    /// A buffer of the binding table: accesses outside read 0 or vanish.
    Surface(&'g Block),
    /// No buffer at all: as outside one.
    Null,
    /// SLM.
    Slm(&'g Block),
    /// Scratch, by stateless offsets.
    General(&'g Block),
}

impl<'g> Window<'g> {
    #[inline(always)]
    fn new(group: &'g Group<'g>, addr: AddrModel) -> Result<Window<'g>, String> {
        Ok(match addr {
            AddrModel::A64(_) => Window::Flat(group),
            AddrModel::A32(Surface::Slm) => Window::Slm(group.slm()),
            AddrModel::A32(Surface::Bti(i)) => match group.surface(i)? {
                Some(block) => Window::Surface(block),
                None => Window::Null,
            },
            AddrModel::A32(_) => Window::General(group.general()),
        })
    }

    /// The block and offset of an access of `n` bytes; `None` where it reads 0 or vanishes.
    #[inline(always)]
    fn at(&self, address: u64, n: u64, dir: &str) -> Result<Option<(&'g Block, u64)>, String> {
        match *self {
            Window::Flat(group) => group.global(address, n, dir).map(Some),
            Window::Surface(block) => Ok(block.holds(address, n).then_some((block, address))),
            Window::Null => Ok(None),
            Window::Slm(slm) => {
                // Compilers set high bits so that no valid pointer is null; SLM does not see them.
                let address = address & 0x0fff_ffff;
                if slm.holds(address, n) {
                    Ok(Some((slm, address)))
                } else {
                    Err(format!(
                        "{dir} of {n} bytes at {address:#x} of SLM, which has {:#x} bytes",
                        slm.len()
                    ))
                }
            }
            Window::General(general) => {
                if general.holds(address, n) {
                    Ok(Some((general, address)))
                } else {
                    Err(format!(
                        "{dir} of {n} bytes at stateless offset {address:#x}, where there is no memory"
                    ))
                }
            }
        }
    }
}

/// Channel numbers of a mask.
#[inline(always)]
fn channels(mut mask: u32) -> impl Iterator<Item = u32> {
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
fn addresses(t: &Thread, p: &Payload, addr: AddrModel) -> [u64; 16] {
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

fn access(
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

/// Moves a dword of each channel, `offset` bytes after its address, between memory and the row of the data that begins
/// at byte `row`.
#[inline(always)]
#[allow(
    clippy::too_many_arguments,
    reason = "one row of a message: all of it is used"
)]
fn move_row(
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
fn move_element(
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

fn respond(t: &mut Thread, p: &Payload, returns: bool, at: u32, v: u32) {
    if let (true, Some(dst)) = (returns, p.response) {
        t.regs.set_u32(dst + at, v);
    }
}

/// An atomic update of a dword; returns the old value.
fn update(
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

/// The data operands of an atomic, all channels, read before anything is written.
fn operands(t: &Thread, p: &Payload, channels: u32, size: u32) -> ([u64; 16], [u64; 16]) {
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

/// An atomic on a dword; returns the old value.
fn atomic32(
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
fn atomic64(
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
fn apply(op: AtomicOp, old: u64, src0: u64, src1: u64, bits: u32) -> u64 {
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
