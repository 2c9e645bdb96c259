//! Payload contents that compiled kernels rarely have.
//!
//! They are a module's constants and globals as surfaces, by binding table index and bindless, and
//! offsets of local pointers. Today's compiler puts addresses into code instead. The programs are
//! written by hand and need no compiler.

use crate::common::text;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{AddrModel, Dir, Message, MsgOp, Rgba, Simd, Surface};
use gantry_runtime::{Bounds, Device, DeviceKind, Grid, Local, SimOptions};
use gantry_zebin::elf::Section;
use gantry_zebin::{product, write};

/// Argument 0 is the output, in the binding table at 0. Constants are at 2 and bindless (dword 2 of
/// the payload), globals at 5 and by address (dwords 4 and 5).
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

/// Returns an untyped message of a dword for each of eight channels.
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
        // Offsets are in r11, one of them beyond the end. They are the fifth row of the output, 32
        // bytes each.
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
        let device = Device::simulator(SimOptions {
            bounds: Bounds::Drop,
            ..SimOptions::default()
        });
        let bytes = |v: &[u32]| v.iter().flat_map(|d| d.to_le_bytes()).collect::<Vec<u8>>();
        let zebin = write(
            product(p),
            &INFO.replace("INLINE", &inline.to_string()),
            vec![
                Section::new(".text.t", text::code(p, &text)),
                Section::new(".data.const", bytes(&constants)),
                Section::new(".data.global", bytes(&globals)),
            ],
        )
        .unwrap();
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
        // Reads beyond the end of a surface return 0.
        let seen = |v: &[u32]| [&v[..7], &[0]].concat();
        let mut kept = globals.clone();
        for round in 0..2 {
            let got = launch();
            let what = format!("{p}, launch {round}");
            assert_eq!(got[0], seen(&constants), "{what}: constants");
            assert_eq!(got[1], seen(&kept), "{what}: globals");
            assert_eq!(got[2], seen(&constants), "{what}: bindless constants");
            assert!(got[3][1] >= 0x10, "{what}: {:#x?}", got[3]);
            kept = seen(&kept).iter().map(|v| v + 1).collect();
            assert_eq!(got[4], kept, "{what}: globals written");
        }
    }
}

/// Stores the first dwords of a Gen9 payload to memory at the address in its first two. Also stores
/// a byte of SLM at the address in its last dword.
const SHOW: &str = "(W) mov (8|M0) r9.0<1>:w 0x76543210:v\n\
    (W) shl (8|M0) r10.0<1>:ud r9.0<8;8,1>:w 2:w\n\
    (W) add (4|M0) r60.0<1>:uq r2.0<0;1,0>:uq r10.0<4;4,1>:ud\n\
    (W) add (4|M0) r61.0<1>:uq r2.0<0;1,0>:uq r10.4<4;4,1>:ud\n\
    (W) mov (8|M0) r62.0<1>:ud r2.7<0;1,0>:ud\n";

/// Returns what a kernel finds for its local pointers, or the reason why it is not launched. The
/// pointers are in the payload's order: argument index, offset in the payload, and alignment if
/// given. The arguments' sizes are in their own order.
fn local_pointers(
    env: &str,
    pointers: &[(u32, u32, Option<u32>)],
    sizes: &[u32],
) -> Result<Vec<u32>, String> {
    let p = Platform::Gen9;
    let mut info = format!(
        "kernels:\n  - name: t\n    execution_env: {{simd_size: 8, {env}}}\n    payload_arguments:\n"
    );
    let entry = "arg_type: arg_bypointer, addrmode: ";
    info += &format!(
        "      - {{{entry} stateless, addrspace: global, offset: 0, size: 8, arg_index: 0}}\n"
    );
    for (index, offset, align) in pointers {
        let align = align.map_or(String::new(), |a| format!(", slm_alignment: {a}"));
        info += &format!(
            "      - {{{entry} slm, addrspace: local, offset: {offset}, size: 4, arg_index: {index}{align}}}\n"
        );
    }
    let store = MsgOp::Untyped {
        dir: Dir::Write,
        addr: AddrModel::FLAT,
        rgba: Rgba::first(1).unwrap(),
        simd: Simd::S8,
    };
    let byte = MsgOp::ByteScattered {
        dir: Dir::Read,
        addr: AddrModel::A32(Surface::Slm),
        bytes: 1,
        simd: Simd::S8,
    };
    let send = |op, dst, src| text::send(p, &Message::split_for(p, op, 8), 8, "", dst, src);
    let body =
        SHOW.to_owned() + &send(store, "null", ["r60", "r2"]) + &send(byte, "r20", ["r62", "null"]);
    let device = Device::open(DeviceKind::Simulator).unwrap();
    let zebin = text::zebin(p, &info, &text::whole(&body));
    let module = device.load(&zebin).map_err(|e| e.to_string())?;
    let out = device.buffer(32).unwrap();
    let kernel = module.kernel("t").unwrap();
    let mut launch = kernel.launch(Grid::new([8, 1, 1])).arg(&out);
    for size in sizes {
        launch = launch.arg(Local(*size));
    }
    launch.run().map_err(|e| e.to_string())?;
    Ok(out.read::<u32>().unwrap()[2..].to_vec())
}

#[test]
fn local_pointers_follow_each_other_aligned() {
    let at = local_pointers;
    // The order is that of the arguments, not the payload's.
    let three = [(3, 8, Some(8)), (1, 12, Some(1)), (2, 16, Some(64))];
    assert_eq!(at("", &three, &[1, 3, 8]).unwrap(), [72, 0, 64, 0, 0, 0]);
    assert_eq!(at("", &three, &[64, 5, 0]).unwrap(), [72, 0, 64, 0, 0, 0]);
    assert_eq!(at("", &three, &[65, 8, 1]).unwrap(), [136, 0, 128, 0, 0, 0]);
    // An argument of size 0 takes no space. Without an alignment they are aligned to 16.
    let two = [(1, 8, None), (2, 12, None)];
    assert_eq!(at("", &two, &[0, 1]).unwrap()[..2], [0, 0]);
    assert_eq!(at("", &two, &[1, 1]).unwrap()[..2], [0, 16]);
    // They follow the code's own SLM where it asks for that.
    let own = "slm_size: 1024, slm_alloc_mode: 1";
    assert_eq!(at(own, &two, &[7, 1]).unwrap()[..2], [1024, 1040]);
    assert_eq!(at("slm_size: 1024", &two, &[7, 1]).unwrap()[..2], [0, 16]);
    // An argument is in the payload twice, the second time for the byte that is read. It is one
    // argument with the larger alignment.
    let twice = [(1, 8, Some(1)), (2, 12, Some(2)), (2, 28, Some(32))];
    let got = at("", &twice, &[3, 33]).unwrap();
    assert_eq!((got[1], got[5]), (32, 32));
    // Alignment takes SLM: of 64 KB, one byte is left after the last multiple of 128.
    let last = [(1, 8, Some(1)), (2, 28, Some(128))];
    assert_eq!(at("", &last, &[65_535 - 127, 128]).unwrap()[5], 65_408);
    let e = at("", &last, &[65_535 - 126, 128]).unwrap_err();
    assert!(
        e.contains("66560 bytes of SLM; a group has at most 65536"),
        "{e}"
    );
    // The last byte of the arguments is accessible.
    assert_eq!(at("", &last, &[1, 1]).unwrap()[5], 128);
    for align in [0, 3, 256] {
        let e = at("", &[(1, 8, Some(align))], &[1]).unwrap_err();
        assert!(
            e.contains(&format!("slm_alignment {align} is no power of two")),
            "{e}"
        );
    }
}
