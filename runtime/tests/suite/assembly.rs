//! Hand-written programs on the simulator: message kinds, regions and control flow that compiled
//! kernels rarely have. They need no compiler, since the text is assembled here.

use crate::common::text;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{
    AddrModel, AtomicOp, BlockUnit, Cache, Dir, Message, MsgOp, Rgba, Simd, Surface,
};
use gantry_runtime::{Device, DeviceKind, Error, Grid};

const P: Platform = Platform::Gen9;

const INFO: &str = "\
kernels:
  - name: t
    execution_env:
      simd_size: 16
    payload_arguments:
      - arg_type: arg_bypointer
        offset: 0
        size: 8
        arg_index: 0
        addrmode: stateless
        addrspace: global
      - arg_type: arg_bypointer
        offset: 8
        size: 8
        arg_index: 1
        addrmode: stateless
        addrspace: global
      - arg_type: arg_bypointer
        offset: 0
        size: 0
        arg_index: 0
        addrmode: stateful
        addrspace: global
      - arg_type: arg_bypointer
        offset: 0
        size: 0
        arg_index: 1
        addrmode: stateful
        addrspace: global
    binding_table_indices:
      - bti_value: 0
        arg_index: 0
      - bti_value: 1
        arg_index: 1
";

/// Dwords of the input and of the output.
const WORDS: usize = 1024;

fn input() -> Vec<u32> {
    (0..WORDS as u32)
        .map(|i| i.wrapping_mul(0x9e37_79b1) ^ 0x5a5a_0000)
        .collect()
}

/// Returns the text of a send.
fn send(op: MsgOp, dst: &str, src0: &str, src1: Option<&str>, exec: u32) -> String {
    let w = if exec == 1 { "(W) " } else { "" };
    let m = match src1 {
        Some(_) => Message::split(P, op),
        None => Message::new(P, op),
    };
    let (ex, desc) = m.descs(P).unwrap();
    match src1 {
        Some(s) => format!("{w}sends ({exec}|M0) {dst} {src0} {s} {ex:#x} {desc:#x}\n"),
        None => format!("{w}send ({exec}|M0) {dst} {src0} {ex:#x} {desc:#x}\n"),
    }
}

fn block(dir: Dir, unit: BlockUnit, count: u8, addr: AddrModel) -> MsgOp {
    MsgOp::Block {
        dir,
        addr,
        unit,
        count,
        cache: Cache::Data,
    }
}

/// Runs a body, and returns the input and the output afterwards.
///
/// - r2.0:uq has the input's address, and r2.1:uq the output's.
/// - r40 to r55 begin with the input's first 128 dwords; r21 and r24 count lanes.
/// - If `dump` is set, r10 to r25 are written to the output's first 128 dwords at the end.
fn run(body: &str, dump: bool) -> Result<(Vec<u32>, Vec<u32>), Error> {
    let hwords = |dir| block(dir, BlockUnit::Hword, 8, AddrModel::FLAT);
    let mut text = String::from(
        "(W) mov (8|M0) r20.0<1>:w 0x76543210:v\n\
         (W) mov (8|M0) r21.0<1>:d r20.0<8;8,1>:w\n\
         (W) add (8|M0) r24.0<1>:d r21.0<8;8,1>:d 8:w\n",
    );
    for (i, r) in ["r40", "r48"].iter().enumerate() {
        text += &format!("(W) add (1|M0) r101.0<1>:uq r2.0<0;1,0>:uq {}:w\n", i * 256);
        text += &send(hwords(Dir::Read), r, "r101", None, 1);
    }
    text += body;
    if dump {
        for (i, r) in ["r10", "r18"].iter().enumerate() {
            text += &format!("(W) add (1|M0) r101.0<1>:uq r2.1<0;1,0>:uq {}:w\n", i * 256);
            text += &send(hwords(Dir::Write), "null", "r101", Some(r), 1);
        }
    }
    let d = Device::open(DeviceKind::Simulator).unwrap();
    let m = d.load(&text::zebin(P, INFO, &text::whole(&text))).unwrap();
    let a = d.buffer_from(&input()).unwrap();
    let b = d.buffer(WORDS * 4).unwrap();
    m.kernel("t")
        .unwrap()
        .launch(Grid::new([16, 1, 1]).group([16, 1, 1]))
        .arg(&a)
        .arg(&b)
        .run()?;
    Ok((a.read()?, b.read()?))
}

/// Computes per-lane addresses in r60 on. They are `stride` bytes apart from `base` (a qword) for
/// A64, or from 0 for A32.
fn addresses(addr: AddrModel, base: &str, stride: u32, in_dwords: bool) -> String {
    let stride = if in_dwords { stride / 4 } else { stride };
    if addr.is_a64() {
        format!(
            "(W) mul (8|M0) r30.0<1>:d r21.0<8;8,1>:d {stride}:w\n\
             (W) mul (8|M0) r31.0<1>:d r24.0<8;8,1>:d {stride}:w\n\
             (W) add (8|M0) r60.0<1>:q {base}<0;1,0>:q r30.0<8;8,1>:d\n\
             (W) add (8|M0) r62.0<1>:q {base}<0;1,0>:q r31.0<8;8,1>:d\n"
        )
    } else {
        format!(
            "(W) mul (8|M0) r60.0<1>:d r21.0<8;8,1>:d {stride}:w\n\
             (W) mul (8|M0) r61.0<1>:d r24.0<8;8,1>:d {stride}:w\n"
        )
    }
}

const SIMDS: [Simd; 2] = [Simd::S8, Simd::S16];

/// Bytes that a channel of a scattered message moves: (offset in memory, bytes, register byte of
/// lane 0, lane step).
type Part = (u32, u32, u32, u32);

fn scattered(dir: Dir, addr: AddrModel, simd: Simd) -> Vec<(MsgOp, Vec<Part>)> {
    let n = simd.channels();
    let mut v = Vec::new();
    for mask in [1u8, 3, 7, 15, 8, 10] {
        let op = MsgOp::Untyped {
            dir,
            addr,
            rgba: Rgba::new(mask).unwrap(),
            simd,
        };
        let on = (0..4).filter(|c| mask >> c & 1 == 1);
        let parts = on.enumerate().map(|(k, c)| (c * 4, 4, k as u32 * n * 4, 4));
        v.push((op, parts.collect()));
    }
    for bytes in [1, 2, 4] {
        let op = MsgOp::ByteScattered {
            dir,
            addr,
            bytes,
            simd,
        };
        v.push((op, vec![(0, u32::from(bytes), 0, 4)]));
    }
    for count in [1u8, 2, 4, 8] {
        let op = MsgOp::DwordScattered {
            dir,
            addr,
            count,
            simd,
            cache: Cache::Data,
        };
        let parts = (0..u32::from(count)).map(|k| (k * 4, 4, k * n * 4, 4));
        v.push((op, parts.collect()));
        if addr.is_a64() && u32::from(count) * n * 8 <= 512 {
            let op = MsgOp::QwordScattered {
                dir,
                addr,
                count,
                simd,
            };
            let parts = (0..u32::from(count)).map(|k| (k * 8, 8, k * n * 8, 8));
            v.push((op, parts.collect()));
        }
    }
    v.retain(|(op, _)| {
        let m = Message::split(P, *op);
        m.response_grfs <= 16 && m.src1_grfs <= 15
    });
    v
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn scattered_reads() {
    let memory = bytes(&input());
    for simd in SIMDS {
        let n = simd.channels();
        for addr in [AddrModel::FLAT, AddrModel::A32(Surface::Bti(0))] {
            for (op, parts) in scattered(Dir::Read, addr, simd) {
                let in_dwords = !addr.is_a64() && matches!(op, MsgOp::DwordScattered { .. });
                let stride = 40;
                let body =
                    addresses(addr, "r2.0", stride, in_dwords) + &send(op, "r10", "r60", None, n);
                let (_, out) = run(&body, true).unwrap();
                let out = bytes(&out);
                for (at, len, reg, step) in parts {
                    for lane in 0..n {
                        let from = (lane * stride + at) as usize;
                        let to = (reg + lane * step) as usize;
                        let want = &memory[from..from + len as usize];
                        assert_eq!(&out[to..to + len as usize], want, "{op} lane {lane}");
                        if len < 4 {
                            assert_eq!(out[to + len as usize..to + 4].iter().max(), Some(&0));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn scattered_writes() {
    let data = bytes(&input()[..128]);
    for simd in SIMDS {
        let n = simd.channels();
        for addr in [AddrModel::FLAT, AddrModel::A32(Surface::Bti(1))] {
            for (op, parts) in scattered(Dir::Write, addr, simd) {
                let in_dwords = !addr.is_a64() && matches!(op, MsgOp::DwordScattered { .. });
                let stride = 44;
                // Only even lanes are on.
                let body = addresses(addr, "r2.1", stride, in_dwords)
                    + "(W) mov (1|M0) f0.0<1>:uw 0x5555:uw\n(f0.0) "
                    + &send(op, "null", "r60", Some("r40"), n);
                let (_, out) = run(&body, false).unwrap();
                let mut want = vec![0u8; WORDS * 4];
                for (at, len, reg, step) in parts {
                    for lane in (0..n).step_by(2) {
                        let to = (lane * stride + at) as usize;
                        let from = (reg + lane * step) as usize;
                        want[to..to + len as usize]
                            .copy_from_slice(&data[from..from + len as usize]);
                    }
                }
                assert!(bytes(&out) == want, "{op}");
            }
        }
    }
}

#[test]
fn blocks() {
    let source = input();
    let flat = AddrModel::FLAT;
    let bti = |n| AddrModel::A32(Surface::Bti(n));
    for (unit, size, counts) in [
        (BlockUnit::Oword, 4, &[1u8, 2, 4, 8][..]),
        (BlockUnit::OwordHigh, 4, &[1]),
        (BlockUnit::OwordUnaligned, 4, &[1, 2, 4, 8]),
        (BlockUnit::Hword, 8, &[1, 2, 4, 8]),
    ] {
        for &count in counts {
            let words = usize::from(count) * size;
            let high = if unit == BlockUnit::OwordHigh { 4 } else { 0 };
            // Offset in bytes. Only unaligned blocks may begin inside an oword.
            let at: usize = match unit {
                BlockUnit::OwordUnaligned | BlockUnit::Hword => 52,
                _ => 48,
            };
            let read = format!("(W) add (1|M0) r101.0<1>:uq r2.0<0;1,0>:uq {at}:w\n")
                + &send(block(Dir::Read, unit, count, flat), "r10", "r101", None, 1);
            let (_, out) = run(&read, true).unwrap();
            let got = &out[high..high + words];
            assert_eq!(got, &source[at / 4..at / 4 + words], "{unit:?} x{count}");
            if unit != BlockUnit::OwordUnaligned {
                let write = format!("(W) add (1|M0) r101.0<1>:uq r2.1<0;1,0>:uq {at}:w\n")
                    + &send(
                        block(Dir::Write, unit, count, flat),
                        "null",
                        "r101",
                        Some("r40"),
                        1,
                    );
                let (_, out) = run(&write, false).unwrap();
                let mut want = vec![0; WORDS];
                want[at / 4..at / 4 + words].copy_from_slice(&source[high..high + words]);
                assert!(out == want, "{unit:?} x{count}");
            }
            if unit != BlockUnit::Hword {
                let offset = if unit == BlockUnit::OwordUnaligned {
                    at
                } else {
                    at / 16
                };
                let header = format!("(W) mov (1|M0) r101.2<1>:ud {offset}:ud\n");
                let read = header.clone()
                    + &send(
                        block(Dir::Read, unit, count, bti(0)),
                        "r10",
                        "r101",
                        None,
                        1,
                    );
                let (_, out) = run(&read, true).unwrap();
                let got = &out[high..high + words];
                assert_eq!(
                    got,
                    &source[at / 4..at / 4 + words],
                    "bti {unit:?} x{count}"
                );
            }
        }
    }
    // Owords must be aligned.
    let body = String::from("(W) add (1|M0) r101.0<1>:uq r2.0<0;1,0>:uq 4:w\n")
        + &send(
            block(Dir::Read, BlockUnit::Oword, 1, flat),
            "r10",
            "r101",
            None,
            1,
        );
    let e = run(&body, true).unwrap_err().to_string();
    assert!(e.contains("which is not a multiple of 16"), "{e}");
}

#[test]
fn atomics() {
    let source = input();
    for (addr, simd, qword) in [
        (AddrModel::FLAT, Simd::S8, false),
        (AddrModel::FLAT, Simd::S8, true),
        (AddrModel::A32(Surface::Bti(0)), Simd::S8, false),
        (AddrModel::A32(Surface::Bti(0)), Simd::S16, false),
    ] {
        for aop in AtomicOp::ALL {
            if aop == AtomicOp::CmpWr2W {
                continue;
            }
            let op = MsgOp::Atomic {
                op: aop,
                addr,
                qword,
                returns: true,
                simd,
            };
            let n = simd.channels() as usize;
            let stride = 56;
            let src1 = (aop.sources() > 0).then_some("r40");
            let body = addresses(addr, "r2.0", stride as u32, false)
                // The comparison of compare-and-write is made true in the even lanes' low dwords.
                + &format!("(W) mov (1|M0) r40.0<1>:q {}:q\n", source[0] as i32)
                + &send(op, "r10", "r60", src1, n as u32);
            let (memory, out) = run(&body, true).unwrap();
            let mut regs = source.clone();
            regs[0] = source[0];
            regs[1] = (source[0] as i32 >> 31) as u32;
            let width = if qword { 2 } else { 1 };
            let bits = 32 * width as u32;
            let get = |v: &[u32], at: usize| {
                u64::from(v[at]) | if qword { u64::from(v[at + 1]) << 32 } else { 0 }
            };
            for lane in 0..n {
                let at = lane * stride / 4;
                let old = get(&source, at);
                let a = get(&regs, lane * width);
                let b = get(&regs, n * width + lane * width);
                let s = |v: u64| (v << (64 - bits)) as i64 >> (64 - bits);
                let new = match aop {
                    AtomicOp::And => old & a,
                    AtomicOp::Or => old | a,
                    AtomicOp::Xor => old ^ a,
                    AtomicOp::Mov => a,
                    AtomicOp::Inc => old.wrapping_add(1),
                    AtomicOp::Dec | AtomicOp::PreDec => old.wrapping_sub(1),
                    AtomicOp::Add => old.wrapping_add(a),
                    AtomicOp::Sub => old.wrapping_sub(a),
                    AtomicOp::RevSub => a.wrapping_sub(old),
                    AtomicOp::IMax => s(old).max(s(a)) as u64,
                    AtomicOp::IMin => s(old).min(s(a)) as u64,
                    AtomicOp::UMax => old.max(a),
                    AtomicOp::UMin => old.min(a),
                    AtomicOp::CmpWr if old == a => b,
                    _ => old,
                };
                let low = |v: u64| if qword { v } else { v & 0xffff_ffff };
                assert_eq!(get(&memory, at), low(new), "{op} lane {lane}");
                let back = if aop == AtomicOp::PreDec { new } else { old };
                assert_eq!(get(&out, lane * width), low(back), "{op} lane {lane}");
            }
        }
    }
}

/// Returns the first eight dwords of r10 after a body.
fn result(body: &str) -> [u32; 8] {
    let (_, out) = run(body, true).unwrap();
    out[..8].try_into().unwrap()
}

#[test]
fn regions_and_indirection() {
    let s = input();
    let pick = |at: [usize; 8]| at.map(|i| s[i]);
    // Overlapping rows, a replicated pair, columns.
    let region = |r: &str| result(&format!("mov (8|M0) r10.0<1>:ud r40.1{r}:ud\n"));
    assert_eq!(region("<1;4,1>"), pick([1, 2, 3, 4, 2, 3, 4, 5]));
    assert_eq!(region("<0;2,1>"), pick([1, 2, 1, 2, 1, 2, 1, 2]));
    assert_eq!(region("<1;2,2>"), pick([1, 3, 2, 4, 3, 5, 4, 6]));
    assert_eq!(region("<1;2,0>"), pick([1, 1, 2, 2, 3, 3, 4, 4]));
    // A strided destination keeps the elements between.
    let out = result("(W) mov (8|M0) r10.0<1>:ud 7:ud\nmov (4|M0) r10.0<2>:ud r40.0<4;4,1>:ud\n");
    assert_eq!(out, [s[0], 7, s[1], 7, s[2], 7, s[3], 7]);
    // One address for the region, one for each row, and one for each channel.
    let out =
        result("(W) mov (1|M0) a0.0<1>:uw 1284:uw\nmov (8|M0) r10.0<1>:ud r[a0.0,8]<8;8,1>:ud\n");
    assert_eq!(out, pick([3, 4, 5, 6, 7, 8, 9, 10]));
    let out = result(
        "(W) mov (1|M0) a0.2<1>:uw 1280:uw\n(W) mov (1|M0) a0.3<1>:uw 1400:uw\n\
         mov (8|M0) r10.0<1>:ud r[a0.2]<4,1>:ud\n",
    );
    assert_eq!(out, pick([0, 1, 2, 3, 30, 31, 32, 33]));
    let out = result(
        "(W) mul (8|M0) r30.0<1>:uw r20.0<8;8,1>:uw 12:uw\n\
         (W) add (8|M0) a0.0<1>:uw r30.0<8;8,1>:uw 1280:uw\n\
         mov (8|M0) r10.0<1>:ud r[a0.0]<1,0>:ud\n",
    );
    assert_eq!(out, pick([0, 3, 6, 9, 12, 15, 18, 21]));
    // An indirect destination, and an invalid address.
    let out =
        result("(W) mov (1|M0) a0.0<1>:uw 320:uw\nmov (8|M0) r[a0.0]<1>:ud r41.0<8;8,1>:ud\n");
    assert_eq!(out, pick([8, 9, 10, 11, 12, 13, 14, 15]));
    let e = run(
        "(W) mov (1|M0) a0.0<1>:uw 4090:uw\nmov (8|M0) r10.0<1>:ud r[a0.0]<8;8,1>:ud\n",
        true,
    )
    .unwrap_err()
    .to_string();
    assert!(e.contains("an indirect source is at byte"), "{e}");
    assert!(
        e.contains("mov (8|M0) r10.0<1>:ud r[a0.0]<8;8,1>:ud"),
        "{e}"
    );
}

#[test]
fn predicates_and_flags() {
    // Lanes below 3 in f0.0, with groups of four by any and all.
    let base = "(W) mov (8|M0) r10.0<1>:ud 0:ud\n\
                cmp (8|M0) (lt)f0.0 null<1>:d r21.0<8;8,1>:d 3:w\n";
    let with = |p: &str| result(&format!("{base}({p}) mov (8|M0) r10.0<1>:ud 1:ud\n"));
    assert_eq!(with("f0.0"), [1, 1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(with("~f0.0"), [0, 0, 0, 1, 1, 1, 1, 1]);
    assert_eq!(with("f0.0.any4h"), [1, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(with("f0.0.all2h"), [1, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(with("~f0.0.any8h"), [0; 8]);
    let out = result(&format!(
        "{base}cmp (8|M0) (gt)f1.0 null<1>:d r21.0<8;8,1>:d 1:w\n\
         (f0.0.allv) mov (8|M0) r10.0<1>:ud 1:ud\n"
    ));
    assert_eq!(out, [0, 0, 1, 0, 0, 0, 0, 0]);
    // A channel offset has its own bits and channels.
    let (_, out) = run(
        "(W) mov (16|M0) r10.0<1>:ud 0:ud\n\
         (W) mov (1|M0) f0.0<1>:uw 0x8101:uw\n\
         (f0.0) mov (8|M8) r11.0<1>:ud 5:ud\n",
        true,
    )
    .unwrap();
    assert_eq!(out[..16], [0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 5]);
}

#[test]
fn control_flow() {
    // Nested loops with `cont`, `break` and `halt`.
    let out = result(
        "(W) mov (8|M0) r10.0<1>:d 0:w\n\
         (W) mov (8|M0) r30.0<1>:d 0:w\n\
         (W) mov (1|M0) f1.0<1>:uw 0xff:uw\n\
         (f1.0) if (16|M0) out out\n\
         top:\n\
         add (8|M0) r30.0<1>:d r30.0<8;8,1>:d 1:w\n\
         and (8|M0) (ne)f0.0 null<1>:d r30.0<8;8,1>:d 1:w\n\
         (f0.0) cont (16|M0) latch latch\n\
         add (8|M0) r10.0<1>:d r10.0<8;8,1>:d r30.0<8;8,1>:d\n\
         cmp (8|M0) (gt)f0.0 null<1>:d r30.0<8;8,1>:d r21.0<8;8,1>:d\n\
         (f0.0) break (16|M0) latch latch\n\
         latch:\n\
         while (16|M0) top\n\
         out:\n\
         endif (16|M0) next\n\
         next:\n",
    );
    // Even numbers are added, up to the first above the lane's number.
    let want: Vec<u32> = (0..8u32)
        .map(|l| (1..).map(|k| k * 2).take_while(|v| v - 2 <= l).sum())
        .collect();
    assert_eq!(out[..], want[..]);
    // A subroutine called by some channels, and `jmpi` over it.
    let out = result(
        "(W) mov (8|M0) r10.0<1>:d 1:w\n\
         cmp (8|M0) (gt)f0.0 null<1>:d r21.0<8;8,1>:d 4:w\n\
         (f0.0) call (16|M0) r30.0:ud sub\n\
         add (8|M0) r10.0<1>:d r10.0<8;8,1>:d 10:w\n\
         (W) jmpi over\n\
         sub:\n\
         add (8|M0) r10.0<1>:d r10.0<8;8,1>:d 100:w\n\
         ret (16|M0) r30.0:ud\n\
         over:\n",
    );
    assert_eq!(out, [11, 11, 11, 11, 11, 111, 111, 111]);
    // The distance in a register counts from the next instruction.
    let out = result(
        "(W) mov (8|M0) r10.0<1>:d 1:w\n\
         (W) mov (1|M0) r11.0<1>:d 16:w\n\
         (W) jmpi r11.0\n\
         (W) jmpi first\n\
         (W) jmpi second\n\
         first:\n\
         (W) add (8|M0) r10.0<1>:d r10.0<8;8,1>:d 10:w\n\
         second:\n\
         (W) add (8|M0) r10.0<1>:d r10.0<8;8,1>:d 100:w\n",
    );
    assert_eq!(out, [101; 8]);
    // A branch to no instruction, and a thread without an end.
    let e = run("(W) jmpi 40000\n", true).unwrap_err().to_string();
    assert!(e.contains("leads to no instruction"), "{e}");
    let e = run("illegal\n", true).unwrap_err().to_string();
    assert!(e.contains("the `illegal` instruction"), "{e}");
}
