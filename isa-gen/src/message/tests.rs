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
                for bytes in [1, 2, 4] {
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
                    for op in FloatAtomicOp::ALL {
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
fn what_does_not_fit_is_an_error() {
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
