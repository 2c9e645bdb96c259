//! Random messages of every platform on the simulator, compared with a plain model. A case is
//! registers and memory before, the message, and registers and memory after.

mod barrier;
mod block2d;
mod harness;
mod model;

use crate::common::{Rng, text};
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{
    AddrModel, Dir, LscAccess, LscAddr, LscKind, LscOp, LscPort, LscSurface, Message, MsgOp,
    SendBits, Sfid, Surface,
};
use harness::{AddressBase, Case, MEMORY};
use model::MessageEffect;
use std::collections::BTreeMap;

/// Returns the seed of this run, from the environment if it is set there, and prints it.
fn seed() -> u64 {
    let s = std::env::var("GANTRY_SEED").ok();
    s.and_then(|s| s.parse().ok()).unwrap_or(0x6d73_6773)
}

const PLATFORMS: [Platform; 7] = [
    Platform::Gen8,
    Platform::Gen9,
    Platform::Gen11,
    Platform::XeLp,
    Platform::XeHp,
    Platform::XeHpg,
    Platform::XeHpc,
];

/// Returns an operation on untyped memory with a new address model.
fn pointed(op: MsgOp, at: AddressBase) -> Option<MsgOp> {
    let surface = Surface::Bti(harness::BTI);
    let model = |a: AddrModel| match (a, at) {
        (AddrModel::A64(_), AddressBase::Flat) => Some(AddrModel::FLAT),
        (AddrModel::A32(_), AddressBase::Surface) => Some(AddrModel::A32(surface)),
        (AddrModel::A32(_), AddressBase::Slm) => Some(AddrModel::A32(Surface::Slm)),
        (AddrModel::A32(_), AddressBase::Bindless) => Some(AddrModel::A32(Surface::Bti(252))),
        _ => None,
    };
    Some(match op {
        MsgOp::Untyped {
            dir,
            addr,
            rgba,
            simd,
        } => MsgOp::Untyped {
            dir,
            addr: model(addr)?,
            rgba,
            simd,
        },
        MsgOp::UncompressedWrite { addr, rgba, simd } => MsgOp::UncompressedWrite {
            addr: model(addr)?,
            rgba,
            simd,
        },
        MsgOp::ByteScattered {
            dir,
            addr,
            bytes,
            simd,
        } => MsgOp::ByteScattered {
            dir,
            addr: model(addr)?,
            bytes,
            simd,
        },
        MsgOp::DwordScattered {
            dir,
            addr,
            count,
            simd,
            cache,
        } => MsgOp::DwordScattered {
            dir,
            addr: model(addr)?,
            count,
            simd,
            cache,
        },
        MsgOp::QwordScattered {
            dir,
            addr,
            count,
            simd,
        } => MsgOp::QwordScattered {
            dir,
            addr: model(addr)?,
            count,
            simd,
        },
        MsgOp::Atomic {
            op,
            addr,
            qword,
            returns,
            simd,
        } => MsgOp::Atomic {
            op,
            addr: model(addr)?,
            qword,
            returns,
            simd,
        },
        MsgOp::HalfAtomic {
            op,
            addr,
            returns,
            simd,
        } => MsgOp::HalfAtomic {
            op,
            addr: model(addr)?,
            returns,
            simd,
        },
        MsgOp::FloatAtomic {
            op,
            addr,
            returns,
            simd,
        } => MsgOp::FloatAtomic {
            op,
            addr: model(addr)?,
            returns,
            simd,
        },
        MsgOp::SizedFloatAtomic {
            op,
            bits,
            addr,
            returns,
            simd,
        } => MsgOp::SizedFloatAtomic {
            op,
            bits,
            addr: model(addr)?,
            returns,
            simd,
        },
        MsgOp::Block {
            dir,
            addr,
            unit,
            count,
            cache,
        } => MsgOp::Block {
            dir,
            addr: model(addr)?,
            unit,
            count,
            cache,
        },
        MsgOp::Lsc(a) => {
            let (port, surface) = match at {
                AddressBase::Flat => (a.port, LscSurface::Flat),
                AddressBase::Surface => (a.port, LscSurface::Bti(harness::BTI)),
                AddressBase::Slm => (LscPort::Slm, LscSurface::Flat),
                AddressBase::Bindless if (a.data as u32).is_multiple_of(2) => {
                    (a.port, LscSurface::Bss(harness::HEAP))
                }
                AddressBase::Bindless => (a.port, LscSurface::Ss(harness::HEAP)),
            };
            let fits = (a.port == LscPort::Slm) == (at == AddressBase::Slm);
            // Buffers have high addresses.
            let reaches = at != AddressBase::Flat || a.addr == LscAddr::A64;
            if !fits || !reaches || a.port == LscPort::Tgm {
                return None;
            }
            MsgOp::Lsc(LscAccess { port, surface, ..a })
        }
        _ => return None,
    })
}

/// Generates a random message of a platform, and the exec size of its instruction.
fn message(p: Platform, r: &mut Rng) -> Option<(Message, u32, AddressBase)> {
    let sfids = [
        Sfid::DATA_CACHE_0,
        Sfid::DATA_CACHE_1,
        Sfid::CONSTANT_CACHE,
        Sfid::UGM,
        Sfid::UGML,
        Sfid::SLM,
    ];
    let n = if p >= Platform::XeHpg { 6 } else { 3 };
    let sfid = sfids[r.below(n) as usize];
    let at = [
        AddressBase::Flat,
        AddressBase::Surface,
        AddressBase::Slm,
        AddressBase::Bindless,
    ][r.below(4) as usize];
    // Without split sends, no extended descriptor was in a register.
    if at == AddressBase::Bindless && p < Platform::Gen9 {
        return None;
    }
    let mut desc = r.u64() as u32 & 0x0007_ffff;
    if sfid.number() >= 14 || sfid == Sfid::UGML {
        // The operation, without the cache policies that not all have.
        desc = desc & !0x000e_003f | r.below(33) as u32;
    } else {
        let stateless = if at == AddressBase::Flat { 255 } else { 0 };
        desc = desc & !0xff | stateless;
        if sfid == Sfid::DATA_CACHE_0 {
            // Not a scratch block.
            desc &= !(1 << 18);
        }
    }
    let bits = SendBits {
        sfid,
        ex: 0,
        desc,
        src1_len: 0,
        eot: false,
    };
    let op = pointed(Message::read(p, &bits).ok()?.op, at)?;
    let full = p.features().grf_bytes / 2;
    let exec = match op {
        MsgOp::Lsc(a) => {
            if MessageEffect::transposed(&a) {
                1
            } else {
                [1, 8, full / 2, full][r.below(4) as usize]
            }
        }
        _ => op.simd().map_or(8, |s| s.channels()),
    };
    let split = p >= Platform::Gen9;
    let m = if split {
        Message::split_for(p, op, exec)
    } else {
        Message::new(p, op)
    };
    let m = match m.op {
        // Some atomics return nothing.
        MsgOp::Lsc(a) if matches!(a.op.kind(), LscKind::Atomic(_)) && r.below(3) == 0 => Message {
            response_grfs: 0,
            ..m
        },
        _ => m,
    };
    m.bits(p).ok()?;
    (m.src0_grfs <= 15 && m.src1_grfs <= 30 && m.response_grfs <= 30).then_some((m, exec, at))
}

/// Returns the family of a message, for counting.
fn family(op: &MsgOp) -> String {
    let name = format!("{op:?}");
    match op {
        MsgOp::Lsc(a) => a.op.name().to_owned(),
        _ => name.split([' ', '(']).next().unwrap().to_owned(),
    }
}

/// Runs a number of messages of each family.
fn check(p: Platform, each: u32) {
    let seed = seed();
    println!("{p}: seed {seed}");
    let mut r = Rng(seed ^ p as u64);
    let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
    let mut done = 0;
    for _ in 0..100_000 {
        let Some((m, exec, at)) = message(p, &mut r) else {
            continue;
        };
        let count = kinds.entry(family(&m.op)).or_default();
        if *count >= each {
            continue;
        }
        let Some(form) = MessageEffect::of(p, &m.op, exec) else {
            continue;
        };
        let case = Case::random(p, &m, &form, exec, at, &mut r);
        let (regs, memory) = case.run();
        let mut want = case.clone();
        model::apply(&form, &mut want);
        let what = || format!("{p} {m} ({exec}) mask {:#x}, case {done}", case.mask);
        if let Some(i) = (0..MEMORY).find(|i| memory[*i] != want.memory[*i]) {
            let (got, want) = (&memory[i..], &want.memory[i..]);
            let n = got.len().min(16);
            panic!(
                "{}: memory at {i:#x}: got {:02x?}, want {:02x?}",
                what(),
                &got[..n],
                &want[..n]
            );
        }
        if let Some(i) = (0..regs.len()).find(|i| regs[*i] != want.regs[*i]) {
            let grf = p.features().grf_bytes as usize;
            let (got, want) = (&regs[i..], &want.regs[i..]);
            let n = got.len().min(16);
            panic!(
                "{}: r{} byte {}: got {:02x?}, want {:02x?}",
                what(),
                i / grf + harness::FIRST,
                i % grf,
                &got[..n],
                &want[..n]
            );
        }
        *kinds.entry(family(&m.op)).or_default() += 1;
        done += 1;
    }
    println!("{p}: {kinds:?}");
    // Every family occurred.
    let least = if p >= Platform::XeHpg { 30 } else { 6 };
    assert!(kinds.len() >= least, "{p}: {kinds:?}");
    assert_eq!(
        kinds.contains_key("UncompressedWrite"),
        p >= Platform::XeHp,
        "{p}: {kinds:?}"
    );
}

#[test]
fn random_messages_do_what_the_model_says() {
    for p in PLATFORMS {
        check(p, 150);
    }
}

/// Runs a message with chosen addresses. Returns its error.
fn fault(p: Platform, op: MsgOp, exec: u32, at: AddressBase, addresses: &[u64]) -> String {
    let m = Message::split_for(p, op, exec);
    let form = MessageEffect::of(p, &op, exec).unwrap();
    let mut case = Case::random(p, &m, &form, exec, at, &mut Rng(1));
    case.mask = u32::MAX;
    case.place(&form, addresses);
    case.try_run().unwrap_err().to_string()
}

#[test]
fn faults_name_what_is_wrong() {
    use gantry_isa_gen::message::{Rgba, Simd};
    let untyped = |addr| MsgOp::Untyped {
        dir: Dir::Read,
        addr,
        rgba: Rgba::first(1).unwrap(),
        simd: Simd::S16,
    };
    let p = Platform::Gen9;
    let e = fault(
        p,
        untyped(AddrModel::FLAT),
        16,
        AddressBase::Flat,
        &[0x1234_0000; 16],
    );
    assert!(
        e.contains("a read of 4 bytes at address 0x12340000 is outside every buffer"),
        "{e}"
    );
    assert!(
        e.contains("send (16|M0)") && e.contains("kernel `t`"),
        "{e}"
    );
    let slm = AddrModel::A32(Surface::Slm);
    let e = fault(p, untyped(slm), 16, AddressBase::Slm, &[MEMORY as u64; 16]);
    assert!(e.contains("of SLM, which has 0x400 bytes"), "{e}");
    let e = fault(p, untyped(slm), 16, AddressBase::Slm, &[2; 16]);
    assert!(e.contains("at 0x2, which is not a multiple of 4"), "{e}");
    let mut a = LscAccess {
        port: LscPort::Ugm,
        op: LscOp::Load,
        data: gantry_isa_gen::message::LscData::D32,
        vector: gantry_isa_gen::message::LscVector::ONE,
        addr: LscAddr::A64,
        surface: LscSurface::Flat,
        caching: gantry_isa_gen::message::LscCaching::DEFAULT,
    };
    let e = fault(
        Platform::XeHpc,
        MsgOp::Lsc(a),
        32,
        AddressBase::Flat,
        &[0x40; 32],
    );
    assert!(e.contains("address 0x40 is outside every buffer"), "{e}");
    a.op = LscOp::AtomicIadd;
    let e = fault(
        Platform::XeHpg,
        MsgOp::Lsc(a),
        16,
        AddressBase::Flat,
        &[0x42; 16],
    );
    assert!(e.contains("an atomic of 4 bytes at 0x42"), "{e}");
}

#[test]
fn slm_addresses_are_aligned() {
    use gantry_isa_gen::message::{AtomicOp, LscCaching, LscData, LscVector, Rgba, Simd};
    let addr = AddrModel::A32(Surface::Slm);
    let untyped = |dir| MsgOp::Untyped {
        dir,
        addr,
        rgba: Rgba::first(1).unwrap(),
        simd: Simd::S16,
    };
    let atomic = MsgOp::Atomic {
        op: AtomicOp::Inc,
        addr,
        qword: false,
        returns: true,
        simd: Simd::S16,
    };
    let lsc = |op, data| {
        MsgOp::Lsc(LscAccess {
            port: LscPort::Slm,
            op,
            data,
            vector: LscVector::ONE,
            addr: LscAddr::A32,
            surface: LscSurface::Flat,
            caching: LscCaching::DEFAULT,
        })
    };
    let (gen9, dg2) = (Platform::Gen9, Platform::XeHpg);
    for (p, op, bytes) in [
        (gen9, untyped(Dir::Read), 4),
        (gen9, untyped(Dir::Write), 4),
        (gen9, atomic, 4),
        (dg2, lsc(LscOp::AtomicIadd, LscData::D32), 4),
    ] {
        // All equal, consecutive, and all different; one of them a little off, or all of them.
        let same = |_| 16 * bytes;
        let next = |i| i * bytes;
        let apart = |i: u64| (i * 7 % 16) * bytes;
        let ways: [&dyn Fn(u64) -> u64; 3] = [&same, &next, &apart];
        for way in ways {
            for off in 1..bytes {
                for odd in [None, Some(0), Some(9)] {
                    let here = |i| odd.is_none_or(|o| o == i);
                    let at = |i| way(i) + if here(i) { off } else { 0 };
                    let addresses: Vec<u64> = (0..16).map(at).collect();
                    let e = fault(p, op, 16, AddressBase::Slm, &addresses);
                    let bad = addresses[odd.unwrap_or(0) as usize];
                    let said = format!(" at {bad:#x}, which is not a");
                    assert!(e.contains(&said), "{p} {op}: {addresses:?}: {e}");
                }
            }
        }
    }
    // Bytes and elements of bytes may be anywhere. So may everything of the load/store cache except
    // atomics.
    let bytes = [1, 2, 4].map(|bytes| {
        let op = MsgOp::ByteScattered {
            dir: Dir::Read,
            addr,
            bytes,
            simd: Simd::S16,
        };
        (gen9, op)
    });
    let dwords = [
        (dg2, lsc(LscOp::Load, LscData::D16U32)),
        (dg2, lsc(LscOp::Load, LscData::D32)),
        (dg2, lsc(LscOp::Store, LscData::D32)),
        (dg2, lsc(LscOp::Load, LscData::D64)),
        (dg2, lsc(LscOp::Store, LscData::D64)),
    ];
    for (p, op) in bytes.into_iter().chain(dwords) {
        let m = Message::split_for(p, op, 16);
        let form = MessageEffect::of(p, &op, 16).unwrap();
        let mut case = Case::random(p, &m, &form, 16, AddressBase::Slm, &mut Rng(1));
        case.mask = u32::MAX;
        case.place(
            &form,
            &[1, 3, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23],
        );
        case.try_run().unwrap();
    }
}

/// An access that hardware drops is a fault by default. A read that begins inside may go beyond the
/// end.
#[test]
fn accesses_outside_of_surfaces() {
    use gantry_isa_gen::message::{AtomicOp, Rgba, Simd};
    let p = Platform::Gen9;
    let addr = AddrModel::A32(Surface::Bti(2));
    let untyped = |dir, n| MsgOp::Untyped {
        dir,
        addr,
        rgba: Rgba::first(n).unwrap(),
        simd: Simd::S16,
    };
    let atomic = MsgOp::Atomic {
        op: AtomicOp::Inc,
        addr,
        qword: false,
        returns: true,
        simd: Simd::S16,
    };
    let end = MEMORY as u64;
    for (op, at, fault) in [
        (untyped(Dir::Read, 1), end - 4, None),
        (
            untyped(Dir::Read, 1),
            end,
            Some("a read of 4 bytes at offset 0x400 is outside"),
        ),
        (untyped(Dir::Read, 2), end - 4, None),
        (untyped(Dir::Write, 1), end - 4, None),
        (
            untyped(Dir::Write, 1),
            4 << 20,
            Some("a write of 4 bytes at offset 0x400000 is outside"),
        ),
        (
            untyped(Dir::Write, 2),
            end - 4,
            Some("a write of 4 bytes at offset 0x400 is outside"),
        ),
        (
            atomic,
            end,
            Some("an atomic of 4 bytes at offset 0x400 is outside"),
        ),
    ] {
        let m = Message::split_for(p, op, 16);
        let form = MessageEffect::of(p, &op, 16).unwrap();
        let mut case = Case::random(p, &m, &form, 16, AddressBase::Surface, &mut Rng(1));
        case.mask = u32::MAX;
        let mut addresses = [0; 16];
        addresses[9] = at;
        case.place(&form, &addresses);
        // It is dropped where that is asked for.
        case.try_run().unwrap();
        match (case.strict().try_run(), fault) {
            (Ok(_), None) => {}
            (Err(e), Some(what)) => assert!(e.to_string().contains(what), "{op}: {e}"),
            (Ok(_), Some(what)) => panic!("{op}: no fault, not {what}"),
            (Err(e), None) => panic!("{op}: {e}"),
        }
    }
}
