//! Tests of encoding and decoding on words from Intel's assembler.

use gantry_isa_gen::decode::decode;
use gantry_isa_gen::encode::encode;
use gantry_isa_gen::{ExecSize, Op, Platform};

/// Native words with their text from `iga64 -d -p=9`.
const WORDS: &[(u128, &str)] = &[
    (
        0x12345678_00000000_2020060c_00000001,
        "(W) mov (1|M0) r1.0<1>:ud 0x12345678:ud",
    ),
    (
        0x00000000_008a4062_c3f09a6d_00711001,
        "(W&~f0.1) mov (8|M8) r[a0.1,-16]<2>:w -r3.1<8;4,2>:w",
    ),
    (
        0xc0200000_3e8d2060_20a03aea_86800041,
        "mul (16|M0) (le)f1.0 (sat)r5.0<1>:f (abs)r3.0<8;8,1>:f -2.5:f",
    ),
    (
        0x048f2422_392101c8_051e0100_0060015b,
        "mad (8|M0) r5.0<1>:f r16.0<2;1>:f -r17.0<0;0>:f r18.1<0>:f",
    ),
    (
        0x006000e3_3a6000c8_00a23ae8_0e600138,
        "math.invm (8|M0) (eo)f0.0 r5.mme2:f r6.nomme:f r7.mme3:f",
    ),
    (
        0x00000000_008d00c0_20a03ae8_04600038,
        "math.sqt (8|M0) r5.0<1>:f r6.0<8;8,1>:f",
    ),
    (
        0xffffffa0_00000030_20000e00_00810022,
        "(f0.0) if (16|M0) L0 L144",
    ),
    (
        0x00000020_00000020_20000e00_00800024,
        "else (16|M0) L144 L144",
    ),
    (0x00000010_0e000000_20000000_00800025, "endif (16|M0) L144"),
    (
        0x02106e02_060001a0_21800208_0a600031,
        "send (8|M0) r12 r13 0xA 0x02106E02",
    ),
    (
        0x02026e02_000001a2_0000e010_0c600033,
        "sends (8|M0) null:ud r13 r14 0x8C 0x02026E02",
    ),
    (0xffffff40_0e001400_34000004_00000020, "(W) jmpi L0"),
    (0x000000a0_0a001400_34000004_00000020, "(W) jmpi r5.0"),
    (0xffffff30_ffffffc0_34000e20_00600023, "brc (8|M0) L0 L144"),
    (0x00000000_004500a0_34000a20_00600023, "brc (8|M0) r5.0"),
    (0xffffff10_00000000_34000e20_00600021, "brd (8|M0) L0"),
    (0x00000000_000000a0_34000a20_00600021, "brd (8|M0) r5.0"),
    (0xfffffef0_0e450000_20a00028_0060002c, "call (8|M0) r5.0 L0"),
    (
        0x000000e0_0a450000_20a00028_0060002c,
        "call (8|M0) r5.0 r7.0",
    ),
    (
        0x00000020_0e450000_20a00028_0060002b,
        "calla (8|M0) r5.0 L32",
    ),
    (0x00000000_004500a0_20000a00_0060002d, "ret (8|M0) r5.0"),
    (
        0xfffffeb0_ffffff40_20000e00_1080002e,
        "goto.b (16|M0) L0 L144",
    ),
    (0xfffffea0_0e000000_20000000_0080002f, "join (16|M0) L0"),
    (0x00000000_00001200_32000000_00000030, "wait n0.0<0;1,0>:ud"),
    (0x00000000_00000000_00000000_0000007e, "nop"),
    (0x00000000_00000000_00000000_00000000, "illegal"),
    (0xfffffe60_0e000000_20000000_00600027, "while (8|M0) L0"),
    (
        0xfffffe50_fffffee0_20000e00_00600028,
        "break (8|M0) L0 L144",
    ),
    (
        0x00000000_008d8010_20a01248_00600003,
        "movi (8|M0) r5.0<1>:uw r[a0.0,16]<8;8,1>:uw",
    ),
    (
        0x00000000_01e08010_20a01248_00600001,
        "mov (8|M0) r5.0<1>:uw r[a0.0,16]<1,0>:uw",
    ),
    (
        0x00000000_01e98000_20a01248_00600001,
        "mov (8|M0) r5.0<1>:uw r[a0.0]<4,1>:uw",
    ),
    (
        0x80000200_000001a0_218002e8_0a600031,
        "send (8|M0) r12:f r13 0x2A a0.0 {EOT}",
    ),
    (
        0x00000000_000221a0_2000e010_00600033,
        "sends (8|M0) null:ud r13 r14 a0.2 a0.0",
    ),
    (
        0x0207200e_390061c8_051e0000_05600112,
        "csel (8|M0) (lt)f0.0 r5.0<1>:f r6.0<2;1>:f r7.0<2;1>:f r8.0<1>:f",
    ),
    (
        0x3ff80000_00000000_20a056c8_00600001,
        "mov (8|M0) r5.0<1>:df 1.5:df",
    ),
    (
        0x00000000_00000e04_30000000_00008001,
        "mov (1|M0) cr0.0<1>:ud sr0.1<0;1,0>:ud {Switch}",
    ),
    (
        0x048f2422_392107c9_05040104_0040015b,
        "(W) mad (1|M0) r5.1<1>:f r16.3<0;0>:f -r17.0<0;0>:f r18.1<0>:f",
    ),
    (
        0x04877022_110101dc_0518d904_0020015b,
        "(W) mad (1|M0) r5.1<1>:df r16.1<0;0>:df -r17.0<0;0>:df r18.1<0>:df",
    ),
    (
        0x04877022_110101c8_051ed900_0040015b,
        "mad (4|M0) r5.0<1>:df r16.0<2;1>:df -r17.0<0;0>:df r18.1<0>:df",
    ),
    (
        0x44872422_392101c8_051f2108_0060015b,
        "mad (8|M0) r5.0<1>:hf r16.0<2;1>:hf -r17.0<0;0>:f r18.1<0>:hf",
    ),
    (
        0x00000000_006000c8_00a23ae8_0f600138,
        "math.rsqtm (8|M0) (eo)f0.0 r5.mme2:f r6.nomme:f",
    ),
];

#[test]
fn decoding_and_encoding_round_trips() {
    for (word, text) in WORDS {
        let d =
            decode(Platform::Gen9, &word.to_le_bytes()).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(d.len, 16);
        let again =
            encode(Platform::Gen9, &d.inst).unwrap_or_else(|e| panic!("{text}: {e}\n{:?}", d.inst));
        assert_eq!(
            u128::from_le_bytes(again),
            *word,
            "{text}: {:#034x} != {word:#034x}\n{:?}",
            u128::from_le_bytes(again),
            d.inst
        );
    }
}

#[test]
fn one_channel_of_a_three_source_instruction_is_a_masked_row() {
    let d = decode(
        Platform::Gen9,
        &0x048f2422_392107c9_05040104_0040015b_u128.to_le_bytes(),
    )
    .unwrap();
    assert_eq!((d.inst.op, d.inst.exec), (Op::Mad, ExecSize::S1));
}
