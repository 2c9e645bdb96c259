//! Sampler messages: operations with their numbers and parameters, and the descriptor.

use super::field::{Codec, Field, Meaning, arg, field, header};
use super::row::{Form, LSC, Message, Port};
use crate::generation::{ALL, GEN9_TO_11, Gens, XE, XE_HPC, XE_HPG};
use crate::listed::listed_enum;

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

listed_enum! {
    /// Parameter of a sampler message: a value per channel.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Param {
        /// First coordinate.
        U,
        /// Second coordinate.
        V,
        /// Third coordinate.
        R,
        /// Index in an array of cubes, whose coordinates are three.
        Ai,
        /// Level of detail: an integer for loads, a float for samples.
        Lod,
        /// Bias of the level of detail.
        Bias,
        /// Reference that texels are compared with.
        Ref,
        /// Sample index.
        Si,
        /// Multi-sample control surface data.
        Mcs,
        /// Texel offset along u.
        OffU,
        /// Texel offset along v.
        OffV,
        /// Gradient of u along x.
        DuDx,
        /// Gradient of u along y.
        DuDy,
        /// Gradient of v along x.
        DvDx,
        /// Gradient of v along y.
        DvDy,
        /// Gradient of r along x.
        DrDx,
        /// Gradient of r along y.
        DrDy,
    }
}

/// Operation of the sampler.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SamplerOp {
    /// Number (bits 16:12 of the descriptor), which is the same in every generation.
    pub number: u8,
    /// Variant of `SampleOp`.
    pub variant: &'static str,
    /// Name.
    pub name: &'static str,
    /// Words of Intel's assembler.
    pub line: &'static str,
    /// Parameters in payload order.
    pub params: &'static [Param],
    /// Generations with another order.
    pub old: Option<(Gens, &'static [Param])>,
    /// Parameters of 16 bits, where they are not those of 32.
    pub halves: Option<&'static [Param]>,
    /// Generations that have the operation. Its number is decoded on all of them.
    pub gens: Gens,
    /// True if the operation reads a sampler state.
    pub state: bool,
}

const fn operation(
    number: u8,
    variant: &'static str,
    name: &'static str,
    line: &'static str,
    params: &'static [Param],
) -> SamplerOp {
    SamplerOp {
        number,
        variant,
        name,
        line,
        params,
        old: None,
        halves: None,
        gens: ALL,
        state: true,
    }
}

impl SamplerOp {
    const fn old(self, gens: Gens, params: &'static [Param]) -> SamplerOp {
        let old = Some((gens, params));
        SamplerOp { old, ..self }
    }

    const fn halves(self, params: &'static [Param]) -> SamplerOp {
        let halves = Some(params);
        SamplerOp { halves, ..self }
    }

    const fn on(self, gens: Gens) -> SamplerOp {
        SamplerOp { gens, ..self }
    }

    const fn stateless(self) -> SamplerOp {
        SamplerOp {
            state: false,
            ..self
        }
    }
}

const GEN9_ON: Gens = GEN9_TO_11.and(XE);
const BEFORE_GEN9: Gens = ALL.without(GEN9_ON);

use Param::{Ai, Bias, DrDx, DrDy, DuDx, DuDy, DvDx, DvDy, Lod, Mcs, OffU, OffV, R, Ref, Si, U, V};

/// Operations. Parameters are those of the Skylake PRM, Vol. 7, "Sampler Message Format". Those of
/// multi-sampled surfaces, the position of a reference, and the generations are as in Mesa
/// (`brw_lower_logical_sends.cpp`, `brw_eu_defines.h`).
#[rustfmt::skip]
pub const OPS: [SamplerOp; 26] = [
    operation(0x00, "Sample", "sample", "sample", &[U, V, R, Ai]),
    operation(0x01, "SampleB", "sample_b", "sample+LOD bias", &[Bias, U, V, R, Ai]),
    operation(0x02, "SampleL", "sample_l", "sample override LOD", &[Lod, U, V, R, Ai]),
    operation(0x03, "SampleC", "sample_c", "sample compare", &[Ref, U, V, R, Ai]),
    operation(0x04, "SampleD", "sample_d", "sample gradient", &[U, DuDx, DuDy, V, DvDx, DvDy, R, DrDx, DrDy, Ai]),
    operation(0x05, "SampleBC", "sample_b_c", "sample compare+LOD bias", &[Ref, Bias, U, V, R, Ai]),
    operation(0x06, "SampleLC", "sample_l_c", "sample compare+override LOD", &[Ref, Lod, U, V, R, Ai]),
    operation(0x07, "Ld", "ld", "sample load", &[U, V, Lod, R]).old(BEFORE_GEN9, &[U, Lod, V, R]).stateless(),
    operation(0x08, "Gather4", "gather4", "sample gather4", &[U, V, R, Ai]),
    operation(0x09, "Lod", "lod", "sample override lod", &[U, V, R, Ai]),
    operation(0x0a, "ResInfo", "resinfo", "sample res info", &[Lod]).stateless(),
    operation(0x0b, "SampleInfo", "sampleinfo", "sample info", &[]).stateless(),
    operation(0x0c, "SampleKillPix", "sample_killpix", "sample+killpix", &[U, V, R, Ai]),
    operation(0x10, "Gather4C", "gather4_c", "sample gather4+compare", &[Ref, U, V, R, Ai]),
    operation(0x11, "Gather4Po", "gather4_po", "sample gather4+pixel offset", &[U, V, OffU, OffV, R]),
    operation(0x12, "Gather4PoC", "gather4_po_c", "sample gather4 pixel offset+compare", &[Ref, U, V, OffU, OffV, R]),
    operation(0x14, "SampleDC", "sample_d_c", "sample derivatives+compare", &[Ref, U, DuDx, DuDy, V, DvDx, DvDy, R, DrDx, DrDy, Ai]),
    operation(0x16, "SampleMin", "sample_min", "sample min", &[U, V, R, Ai]),
    operation(0x17, "SampleMax", "sample_max", "sample max", &[U, V, R, Ai]),
    operation(0x18, "SampleLz", "sample_lz", "sample with lod forced to 0", &[U, V, R, Ai]).on(GEN9_ON),
    operation(0x19, "SampleCLz", "sample_c_lz", "sample compare+with lod forced to 0", &[Ref, U, V, R, Ai]).on(GEN9_ON),
    operation(0x1a, "LdLz", "ld_lz", "sample load with lod forced to 0", &[U, V, R]).on(GEN9_ON).stateless(),
    // Control data of 64 bits.
    operation(0x1c, "Ld2dmsW", "ld2dms_w", "sample ld2 multi-sample wide", &[Si, Mcs, Mcs, U, V, R]).halves(&[Si, Mcs, Mcs, Mcs, Mcs, U, V, R]).on(GEN9_ON).stateless(),
    operation(0x1d, "LdMcs", "ld_mcs", "sample load mcs auxiliary data", &[U, V, R]).stateless(),
    operation(0x1e, "Ld2dms", "ld2dms", "sample load multi-sample", &[Si, Mcs, U, V, R]).stateless(),
    operation(0x1f, "Ld2dss", "ld2dss", "sample multi-sample without mcs", &[Si, U, V, R]).stateless(),
];

/// Operations of the SIMD32/64 mode in the words of Intel's assembler, by number.
const WIDE_OPS: [(u8, &str); 7] = [
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
    let by_number = |ops: &[(u8, &'static str)]| {
        let name = |n| ops.iter().find(|o| o.0 == n).map_or("?", |o| o.1);
        (0..32).map(name).collect::<Vec<_>>()
    };
    let ops = by_number(&OPS.map(|o| (o.number, o.line)));
    let wide_ops = by_number(&WIDE_OPS);
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
            let ops = if wide { &wide_ops } else { &ops };
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

#[cfg(test)]
mod tests {
    use super::OPS;
    use std::collections::BTreeSet;

    #[test]
    fn operations_differ() {
        let numbers: BTreeSet<u8> = OPS.iter().map(|o| o.number).collect();
        assert_eq!(numbers.len(), OPS.len());
        assert!(numbers.iter().all(|n| *n < 32));
        let names: BTreeSet<_> = OPS.iter().map(|o| (o.variant, o.name)).collect();
        assert_eq!(names.len(), OPS.len());
    }
}
