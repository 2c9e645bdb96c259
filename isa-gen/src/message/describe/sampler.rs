//! Sampler messages.

use super::DescReader;

/// SIMD modes by number (bits 29, 18, 17), and their names if the smallest message has 8 or 16
/// channels. Empty for none.
static MODES: [[&str; 8]; 3] = [
    // Before Xe-HPG.
    [
        "unknown simd mode",
        "simd8",
        "simd16",
        "simd32/64",
        "unknown simd mode",
        "simd8 high",
        "simd16 high",
        "",
    ],
    // With integer returns.
    [
        "simd8 with integer return",
        "simd8",
        "simd16",
        "simd32/64",
        "simd16 with integer return",
        "simd8 high",
        "simd16 high",
        "",
    ],
    // With twice as many channels.
    [
        "simd16 with integer return",
        "simd16",
        "simd32",
        "unknown simd mode",
        "simd32 with integer return",
        "simd16 high",
        "simd32 high",
        "",
    ],
];

/// Operations, by number.
static OPS: [&str; 32] = [
    "sample",
    "sample+LOD bias",
    "sample override LOD",
    "sample compare",
    "sample gradient",
    "sample compare+LOD bias",
    "sample compare+override LOD",
    "sample load",
    "sample gather4",
    "sample override lod",
    "sample res info",
    "sample info",
    "sample+killpix",
    "?",
    "?",
    "?",
    "sample gather4+compare",
    "sample gather4+pixel offset",
    "sample gather4 pixel offset+compare",
    "?",
    "sample derivatives+compare",
    "?",
    "sample min",
    "sample max",
    "sample with lod forced to 0",
    "sample compare+with lod forced to 0",
    "sample load with lod forced to 0",
    "?",
    "sample ld2 multi-sample wide",
    "sample load mcs auxiliary data",
    "sample load multi-sample",
    "sample multi-sample without mcs",
];

/// Returns the name of an operation in the SIMD32/64 mode.
fn wide_op(op: u32) -> &'static str {
    match op {
        0x00 => "sample unorm",
        0x02 => "sample unorm+killpix",
        0x08 => "sample deinterlace",
        0x0a => "sample unorm+killpix for media",
        0x0b => "sample 8x8",
        0x0c => "sample unorm for media",
        0x1f => "sampler cache flush",
        _ => "?",
    }
}

pub(super) fn read(r: &mut DescReader<'_>) {
    let column = usize::from(r.traits.lsc) + usize::from(r.traits.wide_sampler);
    let mode = r.plain("SIMD[2]", 29, 1) << 2 | r.bits(17, 2);
    let name = MODES[column][mode as usize];
    if name.is_empty() || name.starts_with("unknown") {
        r.error(17, 2, "no such SIMD mode");
    }
    r.field("SIMD[1:0]", 17, 2, |_| name.to_owned());
    r.set(name);
    if r.flag("ReturnFormat", 30, "32b", "16b") {
        r.append(format_args!(" 16b"));
    }
    let op = r.bits(12, 5);
    let text = if mode == 3 && !r.traits.wide_sampler {
        wide_op(op)
    } else {
        OPS[op as usize]
    };
    r.field("SamplerMessageType", 12, 5, |_| text.to_owned());
    let sampler = r.field("SamplerIndex", 8, 4, |v| format!("sampler {v}"));
    r.append(format_args!(" {text} using sampler index {sampler}"));
    r.bti();
    r.header();
}
