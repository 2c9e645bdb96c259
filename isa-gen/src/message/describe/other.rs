//! Messages of the gateway, thread spawner, render cache, URB and the ray tracing functions.

use super::DescReader;
use crate::sfid::Sfid;

pub(super) fn read(r: &mut DescReader<'_>) {
    let lsc = r.traits.lsc;
    match r.sfid {
        Sfid::GATEWAY => gateway(r),
        Sfid::RENDER_CACHE => render(r),
        Sfid::URB => urb(r),
        Sfid::THREAD_SPAWNER if lsc => bindless_spawn(r),
        Sfid::THREAD_SPAWNER => spawner(r),
        Sfid::VME if lsc => trace_ray(r),
        _ => r.error(0, 0, "unknown shared function"),
    }
}

/// Gateway operations, by number.
static GATEWAY: [&str; 8] = [
    "end of thread",
    "signal event",
    "monitor event",
    "unmonitor event",
    "signal barrier",
    "",
    "wait for event",
    "",
];

fn gateway(r: &mut DescReader<'_>) {
    let op = r.bits(0, 3);
    let name = GATEWAY[op as usize];
    if name.is_empty() {
        // Two bits, as in Intel's listing.
        r.error(0, 2, "no such operation");
        return;
    }
    if op == 4 && !r.traits.sfid_in_ex {
        r.flag("ActiveThreadsOnly", 11, "", "active threads only");
    }
    if op == 0 && !r.traits.lsc {
        r.error(
            0,
            3,
            "threads of this platform end at another shared function",
        );
    }
    r.set(name);
    r.field("GatewayOpcode", 0, 3, |_| name.to_owned());
    r.header_forbidden();
}

fn spawner(r: &mut DescReader<'_>) {
    if r.bits(0, 3) == 0 {
        r.set("end of thread");
    } else {
        r.error(0, 32, "unknown message");
    }
}

fn urb(r: &mut DescReader<'_>) {
    let op = r.bits(0, 4);
    let masked = r.bit(15);
    match op {
        7 => {
            let mask = if masked { "masked " } else { "" };
            r.append(format_args!("urb dword {mask}write"));
        }
        8 => r.set("urb dword read"),
        9 => r.set("urb fence"),
        _ => {
            r.error(0, 4, "no such operation");
            return;
        }
    }
    if op != 9 {
        r.field("GlobalUrbOffset", 4, 11, |v| format!("{v} owords"));
        if op == 7 {
            r.flag("ChannelMaskEnable", 15, "disabled", "enabled");
        }
        if r.flag("PerSlotOffsetPresent", 17, "", "per-slot offsets") {
            r.append(format_args!(" with per-slot offset enabled"));
        }
        r.header_required();
    }
    r.plain("URBOpcode", 0, 4);
}

/// Layout of a render target message. `half` is set if the number of channels is half of a full
/// message.
struct RenderTargetLayout {
    before: &'static str,
    half: bool,
}

const fn layout(before: &'static str, half: bool) -> Option<RenderTargetLayout> {
    Some(RenderTargetLayout { before, half })
}

static WRITES: [Option<RenderTargetLayout>; 8] = [
    layout(" SIMD", false),
    layout(" replicated SIMD", false),
    layout(" of low SIMD", true),
    layout(" of high SIMD", true),
    layout(" SIMD", true),
    None,
    None,
    None,
];
static READS: [Option<RenderTargetLayout>; 8] = [
    layout(" SIMD", false),
    layout(" SIMD", true),
    None,
    None,
    None,
    None,
    None,
    None,
];

fn render(r: &mut DescReader<'_>) {
    let kind = r.bits(14, 4);
    let (write, read) = (kind == 0xc, kind == 0xd);
    let what = match kind {
        0xc => "render target write",
        0xd => "render target read",
        _ => {
            r.error(14, 4, "no such message type");
            "unknown render target op"
        }
    };
    r.field("MessageTypeRC", 14, 4, |_| what.to_owned());
    let half = r.flag("DataSize", 30, "FP32", "FP16");
    if half && read {
        r.warn(30, 1, "a read gives full floats");
    }
    let precision = if half { "half" } else { "full" };
    r.append(format_args!("{precision}-precision {what}"));
    let sub = r.plain("Subop", 8, 3) as usize;
    let (layouts, unknown) = if write {
        (&WRITES, "unknown write subop")
    } else {
        (&READS, "unknown read subop")
    };
    if write || read {
        match &layouts[sub] {
            Some(l) => {
                let n = r.traits.full_exec / if l.half { 2 } else { 1 };
                r.append(format_args!("{}{n}", l.before));
            }
            None => {
                r.append(format_args!("{unknown}"));
                r.error(8, 3, "no such layout");
            }
        }
    }
    if write && r.flag("PerCoarsePixelPSOutputs", 18, "disabled", "enabled") {
        r.append(format_args!(" with Per-Coarse Pixel PS outputs enable"));
    }
    if r.flag("PerSamplePS", 13, "disabled", "enabled") {
        r.append(format_args!(" with Per-Sample Pixel PS outputs enable"));
    }
    if write && r.flag("LastRenderTargetSelect", 12, "false", "true") {
        r.append(format_args!("; last render target"));
    }
    if r.flag("SlotGroupSelect", 11, "low", "high") {
        r.append(format_args!(" slot group high"));
    }
    let bti = r.field("BTS", 0, 8, |v| format!("surface {v}"));
    r.append(format_args!(" to surface {bti}"));
    r.flag("DualHeader", 19, "absent", "two GRFs");
}

fn trace_ray(r: &mut DescReader<'_>) {
    if r.bits(14, 4) != 0 {
        r.error(14, 4, "no such message type");
        return;
    }
    let n = r.simd2(8);
    r.append(format_args!("simd{n} trace ray"));
    r.header_forbidden();
}

fn bindless_spawn(r: &mut DescReader<'_>) {
    if r.bits(14, 4) == 1 {
        let n = r.simd2(8);
        r.append(format_args!("bindless simd{n} spawn thread"));
    } else {
        r.error(14, 4, "no such message type");
    }
    r.plain("MessageType", 14, 4);
}
