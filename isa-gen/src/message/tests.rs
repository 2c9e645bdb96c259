use super::*;

const P: Platform = Platform::Gen9;

fn decode(ex: u32, desc: u32) -> Message {
    Message::decode(P, ex, desc).unwrap()
}

#[test]
fn known_descriptors_of_compiled_code() {
    // From ocloc's output for skl: IGA's comments name the same messages.
    let eot = decode(0x27, 0x0200_0010);
    assert_eq!(
        eot.op,
        MsgOp::ThreadEnd {
            no_dereference: true
        }
    );
    assert!(eot.eot);
    assert_eq!(
        Message::new(P, eot.op).descs(P).unwrap(),
        (0x27, 0x0200_0010)
    );
    let barrier = decode(0x3, 0x0200_0004);
    assert_eq!(barrier.op, MsgOp::Barrier);
    assert_eq!(
        Message::new(P, MsgOp::Barrier).descs(P).unwrap(),
        (0x3, 0x0200_0004)
    );
    let read = decode(0xc, 0x0420_5e00);
    assert_eq!(
        read.to_string(),
        "untyped read bti[0].a32 simd16 .x (src0 2, response 2)"
    );
    let fence = decode(0xa, 0x0219_e000);
    assert_eq!(
        fence.op,
        MsgOp::Fence {
            slm: false,
            commit: true,
            flush: 0
        }
    );
    assert_eq!(
        Message::new(P, fence.op).descs(P).unwrap(),
        (0xa, 0x0219_e000)
    );
}

fn all_ops() -> Vec<MsgOp> {
    let dirs = [Dir::Read, Dir::Write];
    let simds = [Simd::S8, Simd::S16];
    let a32 = [0, 1, 7, 252, 253, 254, 255].map(|b| AddrModel::A32(Surface::from_bits(b)));
    let a64 = [253, 255].map(|b| AddrModel::A64(Surface::from_bits(b)));
    let mut v = vec![MsgOp::Barrier];
    for no_dereference in [false, true] {
        v.push(MsgOp::ThreadEnd { no_dereference });
    }
    for flush in 0..32 {
        for n in 0..4 {
            v.push(MsgOp::Fence {
                slm: n & 1 == 1,
                commit: n & 2 == 2,
                flush,
            });
        }
    }
    for dir in dirs {
        for log in 0..4 {
            for offset in [0, 1, 77, 4095] {
                v.push(MsgOp::Scratch {
                    dir,
                    count: 1 << log,
                    offset,
                    dword_mode: offset & 1 == 1,
                });
            }
        }
        for addr in a32.into_iter().chain(a64) {
            let is64 = addr.is_a64();
            for simd in simds {
                for m in 1..16 {
                    v.push(MsgOp::Untyped {
                        dir,
                        addr,
                        rgba: Rgba::new(m).unwrap(),
                        simd,
                    });
                }
                for bytes in [1, 2, 4, 8] {
                    if bytes == 8 && !addr.is_a64() {
                        continue;
                    }
                    v.push(MsgOp::ByteScattered {
                        dir,
                        addr,
                        bytes,
                        simd,
                    });
                }
                for count in [1, 2, 4, 8] {
                    v.push(MsgOp::DwordScattered {
                        dir,
                        addr,
                        count,
                        simd,
                        cache: Cache::Data,
                    });
                    if is64 {
                        v.push(MsgOp::QwordScattered {
                            dir,
                            addr,
                            count,
                            simd,
                        });
                    } else if dir == Dir::Read {
                        v.push(MsgOp::DwordScattered {
                            dir,
                            addr,
                            count,
                            simd,
                            cache: Cache::Constant,
                        });
                    }
                }
                for returns in [false, true] {
                    if is64 && simd == Simd::S16 {
                        continue;
                    }
                    for op in AtomicOp::ALL {
                        for qword in [false, true] {
                            if is64 || !qword {
                                v.push(MsgOp::Atomic {
                                    op,
                                    addr,
                                    qword,
                                    returns,
                                    simd,
                                });
                            }
                        }
                    }
                    // Add and subtract came with Xe-HP.
                    for op in FloatAtomicOp::ALL.into_iter().take(3) {
                        v.push(MsgOp::FloatAtomic {
                            op,
                            addr,
                            returns,
                            simd,
                        });
                    }
                }
            }
            for count in [1, 2, 4, 8] {
                for unit in [
                    BlockUnit::Oword,
                    BlockUnit::OwordHigh,
                    BlockUnit::OwordUnaligned,
                    BlockUnit::Hword,
                ] {
                    for cache in [Cache::Data, Cache::Constant] {
                        let op = MsgOp::Block {
                            dir,
                            addr,
                            unit,
                            count,
                            cache,
                        };
                        let legal = (count == 1 || unit != BlockUnit::OwordHigh)
                            && if is64 {
                                cache == Cache::Data
                            } else {
                                unit != BlockUnit::Hword
                                    && (dir == Dir::Read
                                        || (cache == Cache::Data
                                            && unit != BlockUnit::OwordUnaligned))
                            };
                        if legal {
                            v.push(op);
                        } else {
                            assert!(Message::new(P, op).descs(P).is_err(), "{op}");
                        }
                    }
                }
            }
        }
    }
    v
}

#[test]
fn every_operation_round_trips() {
    let ops = all_ops();
    assert!(ops.len() > 1000, "{}", ops.len());
    for op in ops {
        let mut tried = 0;
        for m in [Message::new(P, op), Message::split(P, op)] {
            // Only split sends reach the largest payloads.
            if m.src0_grfs > 15 || m.src1_grfs > 15 || m.response_grfs > 31 {
                assert!(m.descs(P).is_err());
                continue;
            }
            let (ex, desc) = m.descs(P).unwrap();
            assert_eq!(decode(ex, desc), m, "{op} {ex:#x} {desc:#x}");
            assert!(!m.to_string().is_empty());
            tried += 1;
        }
        let huge = matches!(
            op,
            MsgOp::QwordScattered {
                count: 4 | 8,
                simd: Simd::S16,
                ..
            } | MsgOp::QwordScattered { count: 8, .. }
                | MsgOp::DwordScattered {
                    count: 8,
                    simd: Simd::S16,
                    ..
                }
        );
        assert!(tried > 0 || huge, "{op} was never encoded");
    }
}

#[test]
fn any_bits_decode_without_panic_and_reencode_to_the_same_message() {
    let seed = 0x5eed_0001u64;
    println!("seed {seed:#x}");
    let mut s = seed;
    for _ in 0..200_000 {
        s = s
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let (ex, desc) = ((s >> 32) as u32, (s >> 13) as u32);
        if let Ok(m) = Message::decode(P, ex, desc) {
            let (ex2, desc2) = m.descs(P).unwrap();
            assert_eq!(decode(ex2, desc2), m, "{ex:#x} {desc:#x}");
        }
    }
}

#[test]
fn split_payload_lengths() {
    let op = MsgOp::DwordScattered {
        dir: Dir::Write,
        addr: AddrModel::FLAT,
        count: 1,
        simd: Simd::S16,
        cache: Cache::Data,
    };
    let m = Message::split(P, op);
    assert_eq!((m.src0_grfs, m.src1_grfs, m.response_grfs), (4, 2, 0));
    let m = Message::new(P, op);
    assert_eq!((m.src0_grfs, m.src1_grfs), (6, 0));
    let block = MsgOp::Block {
        dir: Dir::Write,
        addr: AddrModel::FLAT,
        unit: BlockUnit::Oword,
        count: 8,
        cache: Cache::Data,
    };
    let m = Message::split(P, block);
    assert!(m.header);
    assert_eq!((m.src0_grfs, m.src1_grfs), (1, 4));
}

#[test]
fn values_that_do_not_fit_are_errors() {
    let op = MsgOp::Scratch {
        dir: Dir::Read,
        count: 1,
        offset: 4096,
        dword_mode: false,
    };
    assert_eq!(
        Message::new(P, op).descs(P).unwrap_err().to_string(),
        "scratch block: offset cannot be 4096"
    );
    assert_eq!(
        Message::decode(P, 0xc, 0x0420_7e00)
            .unwrap_err()
            .to_string(),
        "untyped surface: field SIMD mode 13:12 has the reserved value 3"
    );
}

/// Generator of pseudorandom bits (xorshift).
struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn random_send(sfid: Sfid, r: &mut XorShift) -> SendBits {
    let (a, b) = (r.next(), r.next());
    SendBits {
        sfid,
        ex: if b & 3 == 0 {
            (b >> 32) as u32 & !0x7ff
        } else {
            0
        },
        desc: (a >> 20) as u32,
        src1_len: (b >> 8) as u8 & 15,
        eot: b >> 16 & 15 == 0,
    }
}

#[test]
fn any_send_of_any_platform_round_trips() {
    let mut r = XorShift(0x5eed_0002);
    for p in Platform::ALL {
        let mut typed = 0;
        for n in 0..16 {
            let sfid = Sfid::new(n).unwrap();
            for _ in 0..5_000 {
                let s = random_send(sfid, &mut r);
                let Ok(m) = Message::read(p, &s) else {
                    continue;
                };
                typed += u32::from(!matches!(m.op, MsgOp::Raw { .. }));
                let back = m.bits(p).unwrap();
                assert_eq!(Message::read(p, &back), Ok(m), "{p} {s:x?} {back:x?}");
                assert!(!m.to_string().is_empty());
                let _ = m.op.lengths_for(p, 8);
            }
        }
        println!("{p}: {typed} of 80000 typed");
        assert!(typed > 5_000, "{p}");
    }
}

/// Every function control of the data ports is a message that encodes to itself, stays raw or is
/// reserved.
#[test]
fn every_function_control_of_the_data_ports_round_trips() {
    for p in [Platform::Gen9, Platform::XeHp, Platform::XeHpc] {
        for sfid in [Sfid::DATA_CACHE_0, Sfid::DATA_CACHE_1, Sfid::CONSTANT_CACHE] {
            let (mut typed, mut raw, mut wrong) = (0, 0, 0);
            for desc in 0..1 << 19 {
                let s = SendBits {
                    sfid,
                    ex: 0,
                    desc,
                    src1_len: 0,
                    eot: false,
                };
                match Message::read(p, &s) {
                    Ok(m) if matches!(m.op, MsgOp::Raw { .. }) => raw += 1,
                    Ok(m) => {
                        let back = m.bits(p).unwrap();
                        assert_eq!(Message::read(p, &back), Ok(m), "{p} {sfid} {desc:#x}");
                        typed += 1;
                    }
                    Err(MessageError::Reserved { .. }) => wrong += 1,
                    Err(e) => panic!("{p} {sfid} {desc:#x}: {e}"),
                }
            }
            assert!(
                typed > 1000,
                "{p} {sfid}: {typed} typed, {raw} raw, {wrong} reserved"
            );
        }
    }
}

/// Typed messages and descriptions agree, and descriptions are tested against Intel's disassembler.
#[test]
fn typed_messages_match_their_descriptions() {
    let mut r = XorShift(0x5eed_0003);
    let (mut same, mut skipped) = (0, 0);
    for p in Platform::ALL {
        for n in 0..16 {
            let sfid = Sfid::new(n).unwrap();
            for _ in 0..4_000 {
                let mut s = random_send(sfid, &mut r);
                s.src1_len = 0;
                let Ok(m) = Message::read(p, &s) else {
                    continue;
                };
                let d = describe(p, sfid, 16, Ok(s.ex_desc(p)), s.desc);
                // The description also checks a length here.
                if matches!(m.op, MsgOp::Lsc(a) if a.op == LscOp::LoadStatus)
                    && m.response_grfs != 1
                {
                    continue;
                }
                // The description reports the second number for no operation as invalid, as Intel's
                // tool does.
                if matches!(
                    m.op,
                    MsgOp::LscFence {
                        op: LscFenceOp::Type6,
                        ..
                    }
                ) {
                    continue;
                }
                match words(&m.op) {
                    Some(w) => {
                        assert_eq!(d.text, w, "{p} {s:x?}");
                        same += 1;
                    }
                    None => skipped += 1,
                }
            }
        }
    }
    println!("{same} say the same, {skipped} have no words here");
    assert!(same > 50_000);
}

fn xyzw(m: Rgba) -> String {
    let on = |i: &usize| m.mask() >> i & 1 == 1;
    (0..4).filter(on).map(|i| &"xyzw"[i..=i]).collect()
}

fn a64_word(a: AddrModel) -> &'static str {
    if a.is_a64() { "a64 " } else { "" }
}

fn int_word(op: AtomicOp) -> &'static str {
    match op {
        AtomicOp::CmpWr2W => "64b integer compare and swap",
        AtomicOp::And => "logical AND",
        AtomicOp::Or => "logical OR",
        AtomicOp::Xor => "logical XOR",
        AtomicOp::Mov => "store",
        AtomicOp::Inc => "integer increment",
        AtomicOp::Dec => "integer decrement",
        AtomicOp::Add => "integer add",
        AtomicOp::Sub => "integer subtract",
        AtomicOp::RevSub => "commuted integer subtract",
        AtomicOp::IMax => "signed-integer max",
        AtomicOp::IMin => "signed-integer min",
        AtomicOp::UMax => "unsigned-integer max",
        AtomicOp::UMin => "unsigned-integer min",
        AtomicOp::CmpWr => "integer compare and swap",
        AtomicOp::PreDec => "integer pre-decrement (returns pre-decrement value)",
    }
}

/// Returns the description that Intel's disassembler prints for a message, or `None` if it says
/// less than the message does.
fn words(op: &MsgOp) -> Option<String> {
    let gather = |d: Dir| match d {
        Dir::Read => "gathering read",
        Dir::Write => "scattering write",
    };
    let high = |h: bool| if h { " (slot group high)" } else { "" };
    Some(match *op {
        MsgOp::Untyped {
            dir, addr, rgba, ..
        } => format!(
            "{}untyped surface {dir} with {}",
            a64_word(addr),
            xyzw(rgba)
        ),
        MsgOp::ByteScattered {
            dir, addr, bytes, ..
        } => {
            let what = format!("{}byte {}", a64_word(addr), gather(dir));
            match bytes {
                // The tool prints no size for these.
                8 => what,
                _ => format!("{what} {}b", u32::from(bytes) * 8),
            }
        }
        MsgOp::DwordScattered {
            cache: Cache::Constant,
            ..
        } => "constant dword gathering read".to_owned(),
        MsgOp::DwordScattered {
            dir, addr, count, ..
        } => {
            let n = if count == 1 || addr.is_a64() {
                String::new()
            } else {
                format!(" x{count}")
            };
            format!("{}dword {}{n}", a64_word(addr), gather(dir))
        }
        MsgOp::QwordScattered { dir, addr, .. } if addr.is_a64() => {
            format!("a64 qword {}", gather(dir))
        }
        // It prints the same for writes.
        MsgOp::QwordScattered { .. } => "qword gathering read".to_owned(),
        MsgOp::Atomic {
            op, addr, qword, ..
        } => format!(
            "untyped {}atomic int{} {}",
            a64_word(addr),
            if qword { 64 } else { 32 },
            int_word(op)
        ),
        MsgOp::HalfAtomic { op, addr, .. } => {
            format!("untyped {}atomic int16 {}", a64_word(addr), int_word(op))
        }
        MsgOp::FloatAtomic {
            op, addr, returns, ..
        } => format!(
            "{}float atomic {} (32b){}",
            a64_word(addr),
            float_word(op),
            if returns { " with return" } else { "" }
        ),
        MsgOp::SizedFloatAtomic {
            op,
            bits,
            addr,
            returns,
            ..
        } => format!(
            "{}{}float atomic {}{} ({bits}b){}",
            a64_word(addr),
            if bits == 16 { "untyped half-" } else { "" },
            if bits == 64 { "64b " } else { "" },
            float_word(op),
            if returns { " with return" } else { "" }
        ),
        MsgOp::Typed {
            dir,
            rgba,
            slots,
            status,
            ..
        } => format!(
            "typed surface {dir}{}{} with {}",
            if slots == Slots::High {
                " (high slot group)"
            } else {
                ""
            },
            if status { " returning status" } else { "" },
            xyzw(rgba)
        ),
        MsgOp::TypedAtomic {
            op, half, high: h, ..
        } => format!(
            "typed{} atomic {}-bit integer{} {}",
            if h { "_sgh" } else { "" },
            if half { 16 } else { 32 },
            high(h),
            int_word(op)
        ),
        MsgOp::CounterAtomic { op, half, .. } => format!(
            "typed atomic {}-bit counter {}",
            if half { 16 } else { 32 },
            int_word(op)
        ),
        MsgOp::Scratch { dir, count, .. } => format!("hword scratch block {dir} x{count}"),
        MsgOp::Block {
            dir,
            addr,
            unit,
            count,
            cache,
        } => {
            let n = format!(
                " x{count}{}",
                if unit == BlockUnit::OwordHigh {
                    "H"
                } else {
                    ""
                }
            );
            match (unit, cache, addr.is_a64()) {
                // It counts the hwords of this write as owords.
                (BlockUnit::Hword, _, false) if dir == Dir::Write => return None,
                (BlockUnit::Hword, _, true) => format!("a64 unaligned hword block {dir}{n}"),
                // Its words for aligned and unaligned are swapped.
                (BlockUnit::OwordUnaligned, _, true) => format!("a64 aligned oword block {dir}{n}"),
                (_, _, true) => format!("a64 unaligned oword block {dir}{n}"),
                (BlockUnit::Hword, _, _) => format!("hword aligned block {dir}{n}"),
                (BlockUnit::OwordUnaligned, Cache::Data, _) => {
                    format!("oword aligned block {dir}{n}")
                }
                (BlockUnit::OwordUnaligned, Cache::Constant, _) => {
                    format!("constant aligned oword block {dir}{n}")
                }
                (_, Cache::Constant, _) => format!("constant oword block {dir}{n}"),
                _ => format!("oword block {dir}{n}"),
            }
        }
        MsgOp::Barrier => "signal barrier".to_owned(),
        MsgOp::Gateway(g) => g.name().to_owned(),
        MsgOp::ThreadEnd { .. } => "end of thread".to_owned(),
        MsgOp::TraceRay(s) => format!("simd{} trace ray", s.channels()),
        MsgOp::Spawn(s) => format!("bindless simd{} spawn thread", s.channels()),
        MsgOp::Urb(u) => {
            let what = match u.op {
                UrbOp::Write { masked: true } => "dword masked write",
                UrbOp::Write { masked: false } => "dword write",
                UrbOp::Read => "dword read",
                UrbOp::Fence => "fence",
            };
            let slots = if u.per_slot {
                " with per-slot offset enabled"
            } else {
                ""
            };
            format!("urb {what}{slots}")
        }
        MsgOp::Lsc(_) | MsgOp::LscFence { .. } | MsgOp::LscReadState { .. } => op.to_string(),
        // The tool prints a wrong address size for a sector, and the vector size of a block.
        _ => return None,
    })
}

fn float_word(op: FloatAtomicOp) -> &'static str {
    match op {
        FloatAtomicOp::FMax => "max",
        FloatAtomicOp::FMin => "min",
        FloatAtomicOp::FCmpWr => "fp-compare and swap ",
        FloatAtomicOp::FAdd => "add",
        FloatAtomicOp::FSub => "subtract",
    }
}
