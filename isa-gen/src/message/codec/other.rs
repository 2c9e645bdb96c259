//! Messages of shared functions other than data ports.

use super::{bits, put, reserved, unsupported};
use crate::message::params::{Dir, Simd};
use crate::message::ports::{GatewayOp, RenderLayout, Sample, SampleOp, Urb, UrbOp};
use crate::message::{MessageError, MsgOp, Sfid};
use crate::platform::Platform;
use crate::sfid::traits::SendTraits;

/// Number of the gateway's barrier operation.
const BARRIER: u32 = 4;
/// Message types of the render cache (17:14).
const RENDER_WRITE: u32 = 0xc;
const RENDER_READ: u32 = 0xd;
/// Message type of a bindless spawn (17:14).
const SPAWN: u32 = 1;

/// Layouts of render target writes and reads, by number.
const WRITES: [RenderLayout; 5] = [
    RenderLayout::Full,
    RenderLayout::Replicated,
    RenderLayout::DualLow,
    RenderLayout::DualHigh,
    RenderLayout::Half,
];
const READS: [RenderLayout; 2] = [RenderLayout::Full, RenderLayout::Half];

/// Returns true if a SIMD mode (29, 18:17) exists.
fn has_mode(t: &SendTraits, mode: u32) -> bool {
    match mode {
        0 | 4 => t.lsc,
        3 => !t.wide_sampler,
        _ => mode != 7,
    }
}

fn simd(desc: u32) -> Simd {
    if bits(desc, 8, 1) == 0 {
        Simd::S8
    } else {
        Simd::S16
    }
}

pub(super) fn decode(
    platform: Platform,
    t: &SendTraits,
    sfid: Sfid,
    desc: u32,
) -> Result<Option<MsgOp>, MessageError> {
    Ok(match sfid {
        Sfid::GATEWAY => match bits(desc, 0, 3) {
            BARRIER => Some(MsgOp::Barrier),
            // Threads end at the spawner on platforms that have one.
            0 if !t.lsc => None,
            _ => GatewayOp::from_bits(desc).map(MsgOp::Gateway),
        },
        Sfid::THREAD_SPAWNER if !t.lsc => (bits(desc, 0, 4) == 0).then(|| MsgOp::ThreadEnd {
            no_dereference: bits(desc, 4, 1) == 1,
        }),
        Sfid::BTD => (bits(desc, 14, 4) == SPAWN).then(|| MsgOp::Spawn(simd(desc))),
        Sfid::RTA if t.lsc => (bits(desc, 14, 4) == 0).then(|| MsgOp::TraceRay(simd(desc))),
        Sfid::SAMPLER => {
            let mode = bits(desc, 29, 1) << 2 | bits(desc, 17, 2);
            if !has_mode(t, mode) {
                return reserved("sampler", "SIMD mode 29, 18:17", mode);
            }
            Some(MsgOp::Sample(Sample {
                op: SampleOp::from_bits(bits(desc, 12, 5) as u8, mode == 3),
                mode: mode as u8,
                sampler: bits(desc, 8, 4) as u8,
                surface: bits(desc, 0, 8) as u8,
                half_return: bits(desc, 30, 1) == 1,
            }))
        }
        Sfid::URB if platform.column() > 0 => urb(t, desc),
        Sfid::RENDER_CACHE => render(desc)?,
        _ => None,
    })
}

fn urb(t: &SendTraits, desc: u32) -> Option<MsgOp> {
    let op = match bits(desc, 0, 4) {
        7 => UrbOp::Write {
            masked: bits(desc, 15, 1) == 1,
        },
        8 => UrbOp::Read,
        9 if t.lsc => {
            return Some(MsgOp::Urb(Urb {
                op: UrbOp::Fence,
                offset: 0,
                per_slot: false,
            }));
        }
        _ => return None,
    };
    Some(MsgOp::Urb(Urb {
        op,
        offset: bits(desc, 4, 11) as u16,
        per_slot: bits(desc, 17, 1) == 1,
    }))
}

fn render(desc: u32) -> Result<Option<MsgOp>, MessageError> {
    let (dir, layouts) = match bits(desc, 14, 4) {
        RENDER_WRITE => (Dir::Write, &WRITES[..]),
        RENDER_READ => (Dir::Read, &READS[..]),
        _ => return Ok(None),
    };
    let n = bits(desc, 8, 3);
    let Some(layout) = layouts.get(n as usize) else {
        return reserved("render target", "layout 10:8", n);
    };
    let write = |lo| dir == Dir::Write && bits(desc, lo, 1) == 1;
    Ok(Some(MsgOp::Render {
        dir,
        surface: bits(desc, 0, 8) as u8,
        layout: *layout,
        half: write(30),
        high: bits(desc, 11, 1) == 1,
        last: write(12),
        per_sample: bits(desc, 13, 1) == 1,
        coarse: write(18),
    }))
}

pub(super) fn encode(platform: Platform, t: &SendTraits, op: &MsgOp) -> Result<u32, MessageError> {
    let on_lsc = |control: u32| {
        if t.lsc {
            Ok(control)
        } else {
            unsupported(platform, op.to_string())
        }
    };
    match *op {
        MsgOp::Barrier => Ok(BARRIER),
        MsgOp::ThreadEnd { .. } if t.lsc => unsupported(platform, op.to_string()),
        MsgOp::ThreadEnd { no_dereference } => Ok(u32::from(no_dereference) << 4),
        MsgOp::Gateway(g @ GatewayOp::ThreadEnd { .. }) => on_lsc(g.bits()),
        MsgOp::Gateway(g) => Ok(g.bits()),
        MsgOp::Spawn(s) => on_lsc(SPAWN << 14 | u32::from(s == Simd::S16) << 8),
        MsgOp::TraceRay(s) => on_lsc(u32::from(s == Simd::S16) << 8),
        MsgOp::Sample(s) => {
            let what = "sampler";
            let mode = u32::from(s.mode);
            if mode > 7 || !has_mode(t, mode) {
                return Err(MessageError::Range {
                    message: what,
                    field: "SIMD mode",
                    value: u64::from(s.mode),
                });
            }
            let number = s.op.bits();
            if SampleOp::from_bits(number, mode == 3) != s.op {
                return Err(MessageError::Range {
                    message: what,
                    field: "operation in this SIMD mode",
                    value: u64::from(number),
                });
            }
            Ok((mode >> 2) << 29
                | (mode & 3) << 17
                | u32::from(s.half_return) << 30
                | put(what, "operation", u64::from(number), 12, 5)?
                | put(what, "sampler", u64::from(s.sampler), 8, 4)?
                | u32::from(s.surface))
        }
        MsgOp::Urb(u) => {
            let (number, masked) = match u.op {
                UrbOp::Write { masked } => (7, masked),
                UrbOp::Read => (8, false),
                UrbOp::Fence => (9, false),
            };
            let fence = u.op == UrbOp::Fence;
            if platform.column() == 0 || (fence && !t.lsc) {
                return unsupported(platform, op.to_string());
            }
            if fence && (u.offset != 0 || u.per_slot) {
                return Err(MessageError::Range {
                    message: "URB fence",
                    field: "offset",
                    value: u64::from(u.offset),
                });
            }
            Ok(put("URB", "offset", u64::from(u.offset), 4, 11)?
                | u32::from(masked) << 15
                | u32::from(u.per_slot) << 17
                | number)
        }
        MsgOp::Render {
            dir,
            surface,
            layout,
            half,
            high,
            last,
            per_sample,
            coarse,
        } => {
            let (kind, layouts) = match dir {
                Dir::Write => (RENDER_WRITE, &WRITES[..]),
                Dir::Read => (RENDER_READ, &READS[..]),
            };
            let n = layouts.iter().position(|l| *l == layout);
            match n {
                Some(n) if dir == Dir::Write || !(half || last || coarse) => Ok(u32::from(half)
                    << 30
                    | u32::from(coarse) << 18
                    | kind << 14
                    | u32::from(per_sample) << 13
                    | u32::from(last) << 12
                    | u32::from(high) << 11
                    | (n as u32) << 8
                    | u32::from(surface)),
                _ => unsupported(platform, op.to_string()),
            }
        }
        _ => unsupported(platform, op.to_string()),
    }
}
