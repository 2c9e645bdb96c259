//! Render target messages.

use super::field::{Codec, Entry, Field, Meaning, Missing, arg, fails, field};
use super::row::{Form, Message, Port};
use crate::generation::{ALL, Gens, XE_HPC};

/// Layouts of writes, by number, with their words before and after the number of channels. The
/// number of channels is half of a full message for some.
const WRITES: [(&str, &str, bool); 5] = [
    ("RenderLayout::Full", " SIMD", false),
    ("RenderLayout::Replicated", " replicated SIMD", false),
    ("RenderLayout::DualLow", " of low SIMD", true),
    ("RenderLayout::DualHigh", " of high SIMD", true),
    ("RenderLayout::Half", " SIMD", true),
];
/// Layouts of reads.
const READS: [(&str, &str, bool); 2] = [
    ("RenderLayout::Full", " SIMD", false),
    ("RenderLayout::Half", " SIMD", true),
];

/// Layout of the pixels, on platforms whose full messages have this many channels.
fn layout(layouts: &[(&'static str, &str, bool)], full: u32, unknown: &str) -> Field {
    let entries = (0..)
        .zip(layouts)
        .map(|(bits, (value, _, _))| Entry {
            bits,
            values: vec![value],
            gens: ALL,
        })
        .collect();
    let words: Vec<String> = (0..8)
        .map(|n| match layouts.get(n) {
            Some((_, before, half)) => format!("{before}{}", if *half { full / 2 } else { full }),
            None => unknown.into(),
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let codec = Codec::Table {
        entries,
        missing: Missing::Lacks("message.to_string()"),
        choose: false,
    };
    let bad: Vec<u32> = (layouts.len() as u32..8).collect();
    arg("layout", 8, 3, codec)
        .label("layout")
        .listed("Subop", Meaning::Plain)
        .error(&bad, "no such layout")
        .words("layout", &words)
}

fn flag(name: &'static str, lo: u8) -> Field {
    arg(name, lo, 1, Codec::Flag)
}

fn half() -> Field {
    flag("half", 30)
        .named("DataSize", &["FP32", "FP16"])
        .words("half", &["full", "half"])
}

fn coarse() -> Field {
    flag("coarse", 18)
        .named("PerCoarsePixelPSOutputs", &["disabled", "enabled"])
        .words("coarse", &["", " with Per-Coarse Pixel PS outputs enable"])
}

fn last() -> Field {
    flag("last", 12)
        .named("LastRenderTargetSelect", &["false", "true"])
        .words("last", &["", "; last render target"])
}

/// Fields of every message.
fn common() -> [Field; 4] {
    [
        flag("per_sample", 13)
            .named("PerSamplePS", &["disabled", "enabled"])
            .words("sample", &["", " with Per-Sample Pixel PS outputs enable"]),
        flag("high", 11)
            .named("SlotGroupSelect", &["low", "high"])
            .words("high", &["", " slot group high"]),
        arg("surface", 0, 8, Codec::Uint("u8"))
            .label("surface")
            .listed("BTS", Meaning::Number("surface ", "")),
        field(19, 1).named("DualHeader", &["absent", "two GRFs"]),
    ]
}

const NUMBER: &str = "MessageTypeRC";

fn forms(full: u32, gens: Gens) -> [Form; 2] {
    let write = Form::of(Port::Render, 0xc)
        .fields([
            half(),
            layout(&WRITES, full, "unknown write subop"),
            coarse(),
            last(),
        ])
        .fields(common())
        .says(
            NUMBER,
            "render target write",
            "{half}-precision render target write{layout}{coarse}{sample}{last}{high} to surface {surface}",
        )
        .described_on(gens);
    let read = Form::of(Port::Render, 0xd)
        .fields([
            half().warn(&[1], "a read gives full floats").not_encoded(),
            layout(&READS, full, "unknown read subop"),
        ])
        .fields(common())
        .says(
            NUMBER,
            "render target read",
            "{half}-precision render target read{layout}{sample}{high} to surface {surface}",
        )
        .described_on(gens);
    [write, read]
}

pub(super) fn rows() -> Vec<Message> {
    let [write, read] = forms(16, ALL.without(XE_HPC));
    // A full message of Xe-HPC has 32 channels.
    let wide = forms(32, XE_HPC);
    let unknown = Form::other(Port::Render)
        .fields([
            fails(14, 4, "no such message type"),
            half(),
            field(8, 3).listed("Subop", Meaning::Plain),
        ])
        .fields(common())
        .says(
            NUMBER,
            "unknown render target op",
            "{half}-precision unknown render target op{sample}{high} to surface {surface}",
        );
    let message = Message::new("Render", "Render target read or write.")
        .dir()
        .arg("surface", "u8", "Index of the render target.")
        .arg("layout", "RenderLayout", "Arrangement of the pixels.")
        .arg("half", "bool", "True for half-precision floats (writes).")
        .arg("high", "bool", "True for the upper slots.")
        .arg(
            "last",
            "bool",
            "True for the last message to its target (writes).",
        )
        .arg(
            "per_sample",
            "bool",
            "True for access per sample, false per pixel.",
        )
        .arg(
            "coarse",
            "bool",
            "True for access per coarse pixel (writes, Gen11 on).",
        )
        .text("render target {dir} bti[{surface}]")
        .form(write.value(
            "render target",
            "Render { dir: Dir::Write, surface, layout, half, high, last, per_sample, coarse }",
        ).lacks(""))
        .form(read.value(
            "render target",
            "Render { dir: Dir::Read, surface, layout, half: false, high, last: false, per_sample, coarse: false }",
        ).lacks(""))
        .forms(wide)
        .form(unknown);
    vec![message]
}
