//! Typed and sampler messages that compiled kernels rarely have.
//!
//! They are typed reads and atomics, the load/store cache's typed port, bindless images and
//! samplers, `resinfo`, and samples that compare or gather. The programs are written by hand for
//! several platforms, and need no compiler.

use crate::common::text;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{
    AtomicOp, Dir, LscAccess, LscAddr, LscCaching, LscData, LscOp, LscPort, LscSurface, LscVector,
    Message, MsgOp, Rgba, Sample, SampleOp, Slots, Surface,
};
use gantry_runtime::{
    AddressMode, ChannelOrder, ChannelType, Compare, Device, DeviceKind, FilterMode, Grid, Image,
    ImageDesc, ImageFormat, Sampler,
};

const WIDTH: usize = 12;
const HEIGHT: usize = 5;
/// Rows of dwords of the result that programs fill: r20 and on.
const RESULTS: usize = 4;

/// Argument 0 is the image, in the binding table at 3 and bindless (dword 2 of the payload).
/// Argument 1 is a sampler, bindless (dword 3). Argument 2 is an image of one row for the results,
/// in the binding table at 0.
const INFO: &str = "\
kernels:
  - name: t
    execution_env:
      simd_size: 8
      inline_data_payload_size: INLINE
    payload_arguments:
      - arg_type: arg_bypointer
        offset: 0
        size: 0
        arg_index: 0
        addrmode: stateful
        addrspace: image
        image_type: image_2d
      - arg_type: arg_bypointer
        offset: 8
        size: 4
        arg_index: 0
        addrmode: bindless
        addrspace: image
        image_type: image_2d
      - arg_type: arg_bypointer
        offset: 12
        size: 4
        arg_index: 1
        addrmode: bindless
        addrspace: sampler
      - arg_type: arg_bypointer
        offset: 0
        size: 0
        arg_index: 2
        addrmode: stateful
        addrspace: image
        image_type: image_1d
      - arg_type: image_height
        offset: 16
        size: 4
        arg_index: 0
    binding_table_indices:
      - bti_value: 3
        arg_index: 0
      - bti_value: 0
        arg_index: 2
";

/// Returns a message with numbers of GRFs for each payload and the response.
fn sized(op: MsgOp, header: bool, src0: u8, src1: u8, response: u8) -> Message {
    Message {
        op,
        header,
        src0_grfs: src0,
        src1_grfs: src1,
        response_grfs: response,
        eot: false,
    }
}

fn format(order: ChannelOrder, channel: ChannelType) -> ImageFormat {
    ImageFormat::new(order, channel).unwrap()
}

/// Runs a body, made for the payload's register, on an image that holds `texels`. r10 has the
/// numbers of eight channels, r11 the number 2 in each. Returns r20 and on, and the image
/// afterwards.
fn run(
    p: Platform,
    format: ImageFormat,
    texels: &[u8],
    body: impl Fn(&str) -> String,
) -> (Vec<u32>, Vec<u8>) {
    let sampler = Sampler::new(AddressMode::ClampToEdge, FilterMode::Nearest);
    run_with(p, format, texels, sampler, body)
}

/// Runs a body as [`run`] does, with another sampler.
fn run_with(
    p: Platform,
    format: ImageFormat,
    texels: &[u8],
    sampler: Sampler,
    body: impl Fn(&str) -> String,
) -> (Vec<u32>, Vec<u8>) {
    let grf = p.features().grf_bytes as u8;
    let inline = if p >= Platform::XeHp { 32 } else { 0 };
    // From Xe-HP on nothing comes before inline data. Before, there is one register of per-thread
    // data.
    let payload = if inline > 0 { "r1" } else { "r2" };
    let wait = if p < Platform::XeLp {
        ""
    } else if p == Platform::XeLp {
        " {@1}"
    } else {
        " {A@1}"
    };
    let mut text = format!(
        "(W) mov (8|M0) r9.0<1>:w 0x76543210:v\n\
         (W) mov (8|M0) r10.0<1>:d r9.0<8;8,1>:w{wait}\n\
         (W) mov (8|M0) r11.0<1>:d 2:w\n\
         (W) mov (8|M0) r12.0<1>:ud r0.0<8;8,1>:ud\n\
         (W) mov (8|M0) r14.0<1>:f r10.0<8;8,1>:d{wait}\n\
         (W) mov (8|M0) r15.0<1>:f r11.0<8;8,1>:d\n"
    );
    for k in 0..RESULTS {
        text += &format!("(W) mov (8|M0) r{}.0<1>:ud 0x0:ud\n", 20 + k);
    }
    text += &body(payload);
    // The results are eight texels of a dword in each register.
    for k in 0..RESULTS {
        text += &format!(
            "(W) add (8|M0) r30.0<1>:d r10.0<8;8,1>:d {}:w{wait}\n",
            k * 8
        );
        let op = MsgOp::Typed {
            dir: Dir::Write,
            surface: Surface::Bti(0),
            rgba: Rgba::first(1).unwrap(),
            slots: Slots::Low,
            status: false,
        };
        let m = sized(op, false, 1, 1, 0);
        text += &text::send(p, &m, 8, "", "null", ["r30", &format!("r{}", 20 + k)]);
    }
    text += "(W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud\n";
    text += text::end(p);
    let device = Device::open(DeviceKind::Simulator).unwrap();
    let info = INFO.replace("INLINE", &inline.to_string());
    let zebin = text::zebin(p, &info, &text);
    let module = device.load(&zebin).unwrap();
    let image = device
        .image(format, ImageDesc::d2(WIDTH as u32, HEIGHT as u32))
        .unwrap();
    image.write(texels).unwrap();
    let r32 = self::format(ChannelOrder::R, ChannelType::UnsignedInt32);
    let out: Image = device
        .image(r32, ImageDesc::d1(RESULTS as u32 * 8))
        .unwrap();
    let launch = module.kernel("t").unwrap();
    if let Err(e) = launch
        .launch(Grid::new([8, 1, 1]).group([8, 1, 1]))
        .arg(&image)
        .arg(sampler)
        .arg(&out)
        .run()
    {
        panic!("{p}, {grf}-byte registers: {e}\n{text}");
    }
    (out.read().unwrap(), image.read().unwrap())
}

/// Returns bytes that all differ.
fn pattern(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 37 + 11) as u8).collect()
}

fn dword(bytes: &[u8], texel: usize) -> u32 {
    u32::from_le_bytes(bytes[texel * 4..texel * 4 + 4].try_into().unwrap())
}

/// Platforms whose payloads these programs know: headers are not needed, registers have 32 bytes.
const PLATFORMS: [Platform; 4] = [
    Platform::Gen9,
    Platform::Gen11,
    Platform::XeLp,
    Platform::XeHpg,
];

#[test]
fn typed_reads_convert() {
    let rgba8 = format(ChannelOrder::Rgba, ChannelType::UnsignedInt8);
    let texels = pattern(WIDTH * HEIGHT * 4);
    for p in PLATFORMS {
        for high in [false, true] {
            let (got, _) = run(p, rgba8, &texels, |_| {
                let op = MsgOp::Typed {
                    dir: Dir::Read,
                    surface: Surface::Bti(3),
                    rgba: Rgba::new(0b1011).unwrap(),
                    slots: if high { Slots::High } else { Slots::Low },
                    status: false,
                };
                // Channels 5 to 7 are beyond the image's edge.
                let shift = "(W) add (8|M0) r10.0<1>:d r10.0<8;8,1>:d 7:w\n";
                let back = "(W) add (8|M0) r10.0<1>:d r10.0<8;8,1>:d -7:w\n";
                let m = sized(op, false, 2, 0, 3);
                format!(
                    "{shift}{}{back}",
                    text::send(p, &m, 8, "", "r20", ["r10", "null"])
                )
            });
            for (k, c) in [0, 1, 3].into_iter().enumerate() {
                for i in 0..8 {
                    let inside = i + 7 < WIDTH;
                    let at = (2 * WIDTH + i + 7) * 4 + c;
                    let want = if inside { u32::from(texels[at]) } else { 0 };
                    assert_eq!(got[k * 8 + i], want, "{p} component {c} channel {i}");
                }
            }
        }
    }
}

#[test]
fn typed_atomics_update_texels() {
    let r32 = format(ChannelOrder::R, ChannelType::UnsignedInt32);
    let texels = pattern(WIDTH * HEIGHT * 4);
    let ops = [
        (AtomicOp::Add, LscOp::AtomicIadd),
        (AtomicOp::UMax, LscOp::AtomicUmax),
        (AtomicOp::Inc, LscOp::AtomicIinc),
        (AtomicOp::Xor, LscOp::AtomicXor),
        (AtomicOp::CmpWr, LscOp::AtomicIcas),
    ];
    for p in PLATFORMS {
        for (op, lsc) in ops {
            // Every channel is at (2, 2). The operands are the channels' numbers, and 2.
            let n = op.sources() as u8;
            let mut messages = vec![MsgOp::TypedAtomic {
                op,
                surface: Surface::Bti(3),
                half: false,
                high: false,
                returns: true,
            }];
            if p.features().lsc {
                messages.push(MsgOp::Lsc(LscAccess {
                    port: LscPort::Tgm,
                    op: lsc,
                    data: LscData::D32,
                    vector: LscVector::ONE,
                    addr: LscAddr::A32,
                    surface: LscSurface::Bti(3),
                    caching: LscCaching::DEFAULT,
                }));
            }
            for message in messages {
                let (got, after) = run(p, r32, &texels, |_| {
                    let copy = "(W) mov (8|M0) r31.0<1>:ud r11.0<8;8,1>:ud\n\
                                (W) mov (8|M0) r32.0<1>:ud r11.0<8;8,1>:ud\n\
                                (W) mov (8|M0) r33.0<1>:ud r10.0<8;8,1>:ud\n\
                                (W) mov (8|M0) r34.0<1>:ud r11.0<8;8,1>:ud\n";
                    let m = sized(message, false, 2, n, 1);
                    let data = if n == 0 { "null" } else { "r33" };
                    format!("{copy}{}", text::send(p, &m, 8, "", "r20", ["r31", data]))
                });
                let mut now = dword(&texels, 2 * WIDTH + 2);
                for (i, got) in got.into_iter().enumerate().take(8) {
                    assert_eq!(got, now, "{p} {op:?} channel {i}");
                    let v = i as u32;
                    now = match op {
                        AtomicOp::Add => now.wrapping_add(v),
                        AtomicOp::UMax => now.max(v),
                        AtomicOp::Inc => now.wrapping_add(1),
                        AtomicOp::Xor => now ^ v,
                        _ if now == v => 2,
                        _ => now,
                    };
                }
                let mut want = texels.clone();
                let at = (2 * WIDTH + 2) * 4;
                want[at..at + 4].copy_from_slice(&now.to_le_bytes());
                assert_eq!(after, want, "{p} {op:?}");
            }
        }
    }
}

#[test]
fn typed_atomics_of_words() {
    let r16 = format(ChannelOrder::R, ChannelType::UnsignedInt16);
    let texels = pattern(WIDTH * HEIGHT * 2);
    for p in [Platform::XeLp, Platform::XeHpg] {
        for op in [AtomicOp::Sub, AtomicOp::IMin, AtomicOp::PreDec] {
            // Each channel has its own texel of row 2. The operands have bits above the words.
            let n = op.sources() as u8;
            let (got, after) = run(p, r16, &texels, |_| {
                let operands = "(W) mov (8|M0) r31.0<1>:ud r10.0<8;8,1>:ud\n\
                                (W) mov (8|M0) r32.0<1>:ud r11.0<8;8,1>:ud\n\
                                (W) add (8|M0) r33.0<1>:ud r10.0<8;8,1>:ud 0x5000FFF0:ud\n";
                let message = MsgOp::TypedAtomic {
                    op,
                    surface: Surface::Bti(3),
                    half: true,
                    high: false,
                    returns: true,
                };
                let m = sized(message, false, 2, n, 1);
                let data = if n == 0 { "null" } else { "r33" };
                format!(
                    "{operands}{}",
                    text::send(p, &m, 8, "", "r20", ["r31", data])
                )
            });
            let mut want = texels.clone();
            for (i, got) in got.into_iter().enumerate().take(8) {
                let at = (2 * WIDTH + i) * 2;
                let old = u16::from_le_bytes([texels[at], texels[at + 1]]);
                let operand = 0xfff0 + i as u16;
                let new = match op {
                    AtomicOp::Sub => old.wrapping_sub(operand),
                    AtomicOp::IMin => (old as i16).min(operand as i16) as u16,
                    _ => old.wrapping_sub(1),
                };
                let back = if op == AtomicOp::PreDec { new } else { old };
                assert_eq!(got, u32::from(back), "{p} {op:?} channel {i}");
                want[at..at + 2].copy_from_slice(&new.to_le_bytes());
            }
            assert_eq!(after, want, "{p} {op:?}");
        }
    }
}

#[test]
fn the_port_of_images_loads_and_stores() {
    let rgba16 = format(ChannelOrder::Rgba, ChannelType::UnsignedInt16);
    let texels = pattern(WIDTH * HEIGHT * 8);
    let p = Platform::XeHpg;
    let access = |op, mask| {
        MsgOp::Lsc(LscAccess {
            port: LscPort::Tgm,
            op,
            data: LscData::D32,
            vector: LscVector::Mask(Rgba::new(mask).unwrap()),
            addr: LscAddr::A32,
            surface: LscSurface::Bti(3),
            caching: LscCaching::DEFAULT,
        })
    };
    let (got, after) = run(p, rgba16, &texels, |_| {
        let load = sized(access(LscOp::LoadQuad, 0b0110), false, 2, 0, 2);
        let store = sized(access(LscOp::StoreQuad, 0b0011), false, 2, 2, 0);
        let data = "(W) mov (8|M0) r16.0<1>:d r10.0<8;8,1>:d\n\
                    (W) mov (8|M0) r17.0<1>:d r11.0<8;8,1>:d\n";
        text::send(p, &load, 8, "", "r20", ["r10", "null"])
            + data
            + &text::send(p, &store, 8, "", "null", ["r10", "r16"])
    });
    let component = |bytes: &[u8], texel: usize, c: usize| {
        let at = texel * 8 + c * 2;
        u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
    };
    for i in 0..8 {
        let texel = 2 * WIDTH + i;
        for c in [1, 2] {
            assert_eq!(got[(c - 1) * 8 + i], component(&texels, texel, c));
        }
        let stored = [0, 1, 2, 3].map(|c| component(&after, texel, c));
        assert_eq!(stored, [i as u32, 2, 0, 0], "channel {i}");
    }
}

#[test]
fn bindless_images_and_samplers() {
    let rgba8 = ImageFormat::RGBA8;
    let texels = pattern(WIDTH * HEIGHT * 4);
    for p in PLATFORMS {
        let (got, _) = run(p, rgba8, &texels, |payload| {
            let op = MsgOp::Sample(Sample {
                op: SampleOp::SampleLz,
                mode: 1,
                sampler: 0,
                surface: 252,
                half_return: false,
            });
            // The header names the sampler, and masks green and alpha.
            let m = sized(op, true, 1, 2, 2);
            let header = format!(
                "(W) mov (1|M0) r12.2<1>:ud 0xa000:ud\n\
                 (W) mov (1|M0) r12.3<1>:ud {payload}.3<0;1,0>:ud\n"
            );
            let handle = format!("{payload}.2<0;1,0>:ud");
            header + &text::bindless(p, &m, 8, "", "r20", ["r12", "r14"], &handle)
        });
        for i in 0..8 {
            for (k, c) in [0, 2].into_iter().enumerate() {
                let want = f32::from(texels[(2 * WIDTH + i) * 4 + c]) * (1.0 / 255.0);
                assert_eq!(f32::from_bits(got[k * 8 + i]), want, "{p} channel {i}");
            }
        }
    }
}

#[test]
fn sizes_come_back() {
    for p in PLATFORMS {
        let (got, _) = run(p, ImageFormat::RGBA8, &[], |payload| {
            let op = MsgOp::Sample(Sample {
                op: SampleOp::ResInfo,
                mode: 1,
                sampler: 0,
                surface: 3,
                half_return: false,
            });
            let zero = "(W) mov (8|M0) r13.0<1>:ud 0x0:ud\n";
            let m = sized(op, false, 1, 0, 2);
            let height = format!("(W) mov (8|M0) r23.0<1>:ud {payload}.4<0;1,0>:ud\n");
            format!(
                "{zero}{}{height}",
                text::send(p, &m, 8, "", "r20", ["r13", "null"])
            )
        });
        let want = [WIDTH as u32, HEIGHT as u32, 0, HEIGHT as u32];
        for (k, want) in want.into_iter().enumerate() {
            assert_eq!(got[k * 8..k * 8 + 8], [want; 8], "{p}");
        }
    }
}

/// Parameter of a sampler message, for channel `i`.
#[derive(Clone, Copy)]
enum Param {
    U,
    V,
    /// Reference that texels are compared with.
    Ref,
    /// Texel offset: an integer.
    OffU,
    OffV,
    /// Level of detail, which has no effect on an image of one level.
    Level,
}

impl Param {
    fn bits(self, i: usize) -> u32 {
        match self {
            Param::U => (i as f32 * 1.25 + 0.75).to_bits(),
            Param::V => (i as f32 * 0.5 + 0.875).to_bits(),
            Param::Ref => (i as f32 * 8.0).to_bits(),
            Param::OffU => (i as u32 % 5).wrapping_sub(2 * u32::from(i > 3)),
            // Bits above the lowest six do not count.
            Param::OffV => (i as u32 % 3).wrapping_sub(1) & 0x3f,
            Param::Level => 3f32.to_bits(),
        }
    }
}

/// Returns the texels of a single-component image that linear filtering takes for channel `i`.
/// They are x and y, first and second, with the weights of the second.
fn corners(texels: &[f32], i: usize, [off_u, off_v]: [i32; 2]) -> ([[f32; 2]; 2], [f32; 2]) {
    let at = |p: Param| f32::from_bits(p.bits(i)) - 0.5;
    let (u, v) = (at(Param::U), at(Param::V));
    let texel = |x: i32, y: i32| {
        let x = (u.floor() as i32 + off_u + x).clamp(0, WIDTH as i32 - 1);
        let y = (v.floor() as i32 + off_v + y).clamp(0, HEIGHT as i32 - 1);
        texels[y as usize * WIDTH + x as usize]
    };
    let square = [0, 1].map(|y| [0, 1].map(|x| texel(x, y)));
    (square, [u - u.floor(), v - v.floor()])
}

#[test]
fn samples_compare_and_gather() {
    use Param::{Level, OffU, OffV, Ref, U, V};
    let r32f = format(ChannelOrder::R, ChannelType::Float);
    let texels: Vec<f32> = (0..WIDTH * HEIGHT).map(|i| (i * 37 % 64) as f32).collect();
    let bytes: Vec<u8> = texels.iter().flat_map(|t| t.to_le_bytes()).collect();
    let ops: [(SampleOp, &[Param]); 11] = [
        (SampleOp::SampleLz, &[U, V]),
        (SampleOp::SampleC, &[Ref, U, V]),
        (SampleOp::SampleCLz, &[Ref, U, V]),
        (SampleOp::SampleLC, &[Ref, Level, U, V]),
        (SampleOp::SampleBC, &[Ref, Level, U, V]),
        (SampleOp::SampleD, &[U, Level, Level, V, Level, Level]),
        (SampleOp::SampleDC, &[Ref, U, Level, Level, V, Level, Level]),
        (SampleOp::Gather4, &[U, V]),
        (SampleOp::Gather4C, &[Ref, U, V]),
        (SampleOp::Gather4Po, &[U, V, OffU, OffV]),
        (SampleOp::Gather4PoC, &[Ref, U, V, OffU, OffV]),
    ];
    let compares = [
        Compare::Never,
        Compare::Less,
        Compare::Equal,
        Compare::LessOrEqual,
        Compare::Greater,
        Compare::NotEqual,
        Compare::GreaterOrEqual,
        Compare::Always,
    ];
    for (n, p) in PLATFORMS.into_iter().cycle().take(32).enumerate() {
        let compare = compares[n / 4];
        let sampler = Sampler::new(AddressMode::ClampToEdge, FilterMode::Linear).comparing(compare);
        for (op, params) in ops {
            let (got, _) = run_with(p, r32f, &bytes, sampler, |payload| {
                let mut text = String::new();
                for (k, param) in params.iter().enumerate() {
                    for i in 0..8 {
                        let bits = param.bits(i);
                        text += &format!("(W) mov (1|M0) r{}.{i}<1>:ud {bits:#x}:ud\n", 40 + k);
                    }
                }
                let message = MsgOp::Sample(Sample {
                    op,
                    mode: 1,
                    sampler: 0,
                    surface: 252,
                    half_return: false,
                });
                let m = sized(message, true, 1, params.len() as u8, 4);
                text += &format!(
                    "(W) mov (1|M0) r12.2<1>:ud 0x0:ud\n\
                     (W) mov (1|M0) r12.3<1>:ud {payload}.3<0;1,0>:ud\n"
                );
                let handle = format!("{payload}.2<0;1,0>:ud");
                text + &text::bindless(p, &m, 8, "", "r20", ["r12", "r40"], &handle)
            });
            let has = |wanted: Param| {
                let same = |p: &Param| std::mem::discriminant(p) == std::mem::discriminant(&wanted);
                params.iter().any(same)
            };
            for i in 0..8 {
                let offset = |p: Param| (p.bits(i) as i32) << 26 >> 26;
                let offsets = if has(OffU) {
                    [offset(OffU), offset(OffV)]
                } else {
                    [0, 0]
                };
                let (square, [x, y]) = corners(&texels, i, offsets);
                let reference = f32::from_bits(Ref.bits(i));
                let square = if has(Ref) {
                    square.map(|row| row.map(|t| f32::from(u8::from(compare.holds(reference, t)))))
                } else {
                    square
                };
                let gathers = matches!(
                    op,
                    SampleOp::Gather4
                        | SampleOp::Gather4C
                        | SampleOp::Gather4Po
                        | SampleOp::Gather4PoC
                );
                let want = if gathers {
                    let [[a, b], [c, d]] = square;
                    [c, d, b, a]
                } else {
                    let [top, bottom] = square.map(|[a, b]| a * (1.0 - x) + b * x);
                    [top * (1.0 - y) + bottom * y, 0.0, 0.0, 1.0]
                };
                let got = [0, 1, 2, 3].map(|c| f32::from_bits(got[c * 8 + i]));
                for (got, want) in got.into_iter().zip(want) {
                    let near = (got - want).abs() < 1e-4;
                    assert!(
                        near,
                        "{p} {op:?} {compare:?} channel {i}: {got}, not {want}"
                    );
                }
            }
        }
    }
}

#[test]
fn load_status_says_what_is_there() {
    let texels = pattern(WIDTH * HEIGHT * 4);
    let (got, _) = run(Platform::XeHpg, ImageFormat::RGBA8, &texels, |_| {
        let status = MsgOp::Lsc(LscAccess {
            port: LscPort::Ugm,
            op: LscOp::LoadStatus,
            data: LscData::D32,
            vector: LscVector::Count {
                n: 2,
                transposed: false,
            },
            addr: LscAddr::A32,
            surface: LscSurface::Bti(3),
            caching: LscCaching::DEFAULT,
        });
        // Channel 1 is off. The second dword of channel 5 is beyond the surface's end, and so are
        // both of 6 and 7.
        let addresses = "(W) mul (8|M0) r31.0<1>:d r10.0<8;8,1>:d 47:w\n\
                         (W) and (8|M0) r31.0<1>:d r31.0<8;8,1>:d -4:w\n\
                         (W) add (1|M0) r31.5<1>:d r31.5<0;1,0>:d 4:w\n\
                         (W) mov (1|M0) f0.0<1>:uw 0xFD:uw\n";
        let m = sized(status, false, 1, 0, 1);
        let send = text::send(Platform::XeHpg, &m, 8, "(f0.0)", "r20", ["r31", "null"]);
        addresses.to_owned() + &send
    });
    // Channels at 0, 92, 140, 188 and, cut short, 236 of 240 bytes.
    assert_eq!(got[0], 0b0001_1101);
}
