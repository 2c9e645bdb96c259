//! A module's constants and globals as surfaces: by binding table index and bindless. The compiler of today puts addresses into
//! code instead, so the programs are written by hand, for several platforms; no compiler is needed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

mod common;

use common::text;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{AddrModel, Dir, Message, MsgOp, Rgba, Simd, Surface};
use gantry_runtime::zebin::{Section, product, write_sections};
use gantry_runtime::{Device, DeviceKind, Grid};

/// Argument 0 is the output, in the binding table at 0. Constants are at 2 and bindless (dword 2 of the payload), globals at 5
/// and by address (dwords 4 and 5).
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
        addrspace: global
      - arg_type: data_const_buffer
        offset: 8
        size: 4
        addrmode: bindless
        bti_value: 2
      - arg_type: data_global_buffer
        offset: 16
        size: 8
        bti_value: 5
    binding_table_indices:
      - bti_value: 0
        arg_index: 0
";

/// A read of a dword for each of eight channels.
fn untyped(dir: Dir, bti: u8) -> Message {
    let op = MsgOp::Untyped {
        dir,
        addr: AddrModel::A32(Surface::from_bits(bti)),
        rgba: Rgba::first(1).unwrap(),
        simd: Simd::S8,
    };
    let (src1_grfs, response_grfs) = if dir == Dir::Read { (0, 1) } else { (1, 0) };
    Message {
        op,
        header: false,
        src0_grfs: 1,
        src1_grfs,
        response_grfs,
        eot: false,
    }
}

#[test]
fn data_is_behind_surfaces() {
    let constants: Vec<u32> = (0..8).map(|i| i * 1000 + 7).collect();
    let globals: Vec<u32> = (0..8).map(|i| i * 77 + 5).collect();
    for p in [
        Platform::Gen9,
        Platform::Gen11,
        Platform::XeLp,
        Platform::XeHpg,
    ] {
        let inline = if p >= Platform::XeHp { 32 } else { 0 };
        let payload = if inline > 0 { "r1" } else { "r2" };
        let wait = match p {
            p if p < Platform::XeLp => "",
            Platform::XeLp => " {@1}",
            _ => " {A@1}",
        };
        // Offsets in r11, one of them beyond the end; they are the fifth row of the output, 32 bytes each.
        let mut text = format!(
            "(W) mov (8|M0) r9.0<1>:w 0x76543210:v\n\
             (W) mov (8|M0) r10.0<1>:ud r9.0<8;8,1>:w{wait}\n\
             (W) shl (8|M0) r11.0<1>:ud r10.0<8;8,1>:ud 2:w{wait}\n\
             (W) mov (1|M0) r11.7<1>:ud 0x20:ud{wait}\n\
             (W) mov (8|M0) r23.0<1>:ud 0x0:ud{wait}\n\
             (W) mov (2|M0) r23.0<1>:ud {payload}.4<1;1,0>:ud{wait}\n"
        );
        let send = |m: &Message, dst: &str, src: [&str; 2]| text::send(p, m, 8, "", dst, src);
        text += &send(&untyped(Dir::Read, 2), "r20", ["r11", "null"]);
        text += &send(&untyped(Dir::Read, 5), "r21", ["r11", "null"]);
        let m = untyped(Dir::Read, 252);
        let handle = format!("{payload}.2<0;1,0>:ud");
        text += &text::bindless(p, &m, 8, "", "r22", ["r11", "null"], &handle);
        text += &format!(
            "(W) shl (8|M0) r12.0<1>:ud r10.0<8;8,1>:ud 2:w{wait}\n\
             (W) add (8|M0) r24.0<1>:ud r21.0<8;8,1>:ud 1:w{wait}\n"
        );
        // Globals keep what is written.
        text += &send(&untyped(Dir::Write, 5), "null", ["r12", "r24"]);
        text += &send(&untyped(Dir::Read, 5), "r24", ["r12", "null"]);
        for row in 20..25 {
            text += &send(&untyped(Dir::Write, 0), "null", ["r12", &format!("r{row}")]);
            text += &format!("(W) add (8|M0) r12.0<1>:ud r12.0<8;8,1>:ud 32:w{wait}\n");
        }
        text += "(W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud\n";
        text += text::end(p);
        let device = Device::open(DeviceKind::Simulator).unwrap();
        let bytes = |v: &[u32]| v.iter().flat_map(|d| d.to_le_bytes()).collect();
        let zebin = write_sections(
            product(p),
            &INFO.replace("INLINE", &inline.to_string()),
            vec![
                Section::new(".text.t", text::code(p, &text)),
                Section::new(".data.const", bytes(&constants)),
                Section::new(".data.global", bytes(&globals)),
            ],
        );
        let module = device.load(&zebin).unwrap();
        let out = device.buffer(5 * 32).unwrap();
        let launch = || {
            let kernel = module.kernel("t").unwrap();
            let grid = Grid::new([8, 1, 1]).group([8, 1, 1]);
            if let Err(e) = kernel.launch(grid).arg(&out).run() {
                panic!("{p}: {e}\n{text}");
            }
            let got: Vec<u32> = out.read().unwrap();
            got.chunks(8).map(<[u32]>::to_vec).collect::<Vec<_>>()
        };
        // Beyond the end of a surface is 0.
        let seen = |v: &[u32]| [&v[..7], &[0]].concat();
        let mut kept = globals.clone();
        for round in 0..2 {
            let got = launch();
            let what = format!("{p}, launch {round}");
            assert_eq!(got[0], seen(&constants), "{what}: constants");
            assert_eq!(got[1], seen(&kept), "{what}: globals");
            assert_eq!(got[2], seen(&constants), "{what}: bindless constants");
            assert!(got[3][1] >= 0x5500, "{what}: {:#x?}", got[3]);
            kept = seen(&kept).iter().map(|v| v + 1).collect();
            assert_eq!(got[4], kept, "{what}: globals written");
        }
    }
}
