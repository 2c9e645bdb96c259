//! Sampler messages.

use super::field::{Codec, Field, Meaning, arg, field, header};
use super::row::{Form, LSC, Message, Port};
use crate::generation::{ALL, Gens, XE_HPC, XE_HPG};

/// SIMD modes by number (bits 29, 18, 17), by generations.
const MODES: [(Gens, [&str; 8]); 3] = [
    (
        ALL.without(LSC),
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
    ),
    // With integer returns.
    (
        XE_HPG,
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
    ),
    // With twice as many channels.
    (
        XE_HPC,
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
    ),
];

/// Operations in the words of Intel's assembler, by number.
const OPS: [&str; 32] = [
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

/// Operations of the SIMD32/64 mode.
const WIDE_OPS: [(usize, &str); 7] = [
    (0x00, "sample unorm"),
    (0x02, "sample unorm+killpix"),
    (0x08, "sample deinterlace"),
    (0x0a, "sample unorm+killpix for media"),
    (0x0b, "sample 8x8"),
    (0x0c, "sample unorm for media"),
    (0x1f, "sampler cache flush"),
];

/// SIMD mode: its number, and the bits of its two parts.
const WIDE: (u32, u32) = (0, 3);

fn op() -> Field {
    let decode = "SampleOp::from_bits({} as u8, mode == 3)";
    arg(
        "op",
        12,
        5,
        Codec::Hook {
            decode,
            encode: "other::sample_op({}, mode)?",
        },
    )
}

fn mode_bits() -> (Field, Field) {
    (field(29, 1), field(17, 2))
}

fn mode() -> Field {
    let lsc_modes = LSC;
    arg(
        "mode",
        29,
        1,
        Codec::OneOf(vec![
            (0, lsc_modes),
            (1, ALL),
            (2, ALL),
            (3, ALL.without(XE_HPC)),
            (4, lsc_modes),
            (5, ALL),
            (6, ALL),
        ]),
    )
    .and(17, 2)
    .label("SIMD mode")
    .turn(-1)
}

fn rest() -> [Field; 4] {
    [
        arg("half_return", 30, 1, Codec::Flag)
            .named("ReturnFormat", &["32b", "16b"])
            .words("half", &["", " 16b"]),
        arg("sampler", 8, 4, Codec::Uint("u8"))
            .label("sampler")
            .listed("SamplerIndex", Meaning::Number("sampler ", "")),
        arg("surface", 0, 8, Codec::Uint("u8"))
            .label("surface")
            .listed("BTI", Meaning::Surface),
        header(),
    ]
}

/// Forms that describe messages: one for each list of modes, and of operations.
fn described() -> Vec<Form> {
    let mut wide_ops = ["?"; 32];
    for (n, name) in WIDE_OPS {
        wide_ops[n] = name;
    }
    let mut forms = vec![];
    for (gens, modes) in MODES {
        let bad: Vec<u32> = (0..8)
            .filter(|n| {
                let name = modes[*n as usize];
                name.is_empty() || name.starts_with("unknown")
            })
            .collect();
        for wide in [true, false] {
            if wide && gens == XE_HPC {
                continue;
            }
            let (high, low) = mode_bits();
            let high = high.listed("SIMD[2]", Meaning::Plain);
            let (high, low) = if wide {
                (high.select(WIDE.0), low.select(WIDE.1))
            } else {
                (high, low)
            };
            let both = Field {
                codec: Codec::None,
                args: vec![],
                ..mode()
            };
            let ops = if wide { &wide_ops } else { &OPS };
            let listed = both
                .named("SIMD[1:0]", &modes)
                .lower(2)
                .words("mode", &modes)
                .error_at(&bad, (17, 2), "no such SIMD mode");
            let op = op().not_encoded();
            let mut fields = vec![high, low, listed];
            fields.push(op.named("SamplerMessageType", ops).words("op", ops));
            fields.extend(rest());
            forms.push(
                Form::other(Port::Sampler)
                    .fields(fields)
                    .described("{mode}{half} {op} using sampler index {sampler}")
                    .described_on(gens),
            );
        }
    }
    forms
}

pub(super) fn rows() -> Vec<Message> {
    vec![
        Message::new("Sample", "Sampler message.")
            .of("Sample")
            .text("{}")
            .forms(described())
            .form(
                Form::other(Port::Sampler)
                    .value(
                        "sampler",
                        "Sample(Sample { op, mode, sampler, surface, half_return })",
                    )
                    .fields([mode(), op()])
                    .fields(rest()),
            ),
    ]
}
