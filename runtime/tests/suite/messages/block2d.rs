//! 2D blocks of random surfaces and sizes, compared element by element.

use super::harness::{AddressBase, Case, MEMORY};
use super::model::MessageEffect;
use crate::common::Rng;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{
    Dir, LscAccess, LscAddr, LscCaching, LscData, LscOp, LscPort, LscSurface, LscVector, Message,
    MsgOp,
};

const P: Platform = Platform::XeHpc;

/// Surface and a block of it, as in the payload.
struct BlockShape {
    width: usize,
    height: usize,
    pitch: usize,
    x: i64,
    y: i64,
    columns: usize,
    rows: usize,
    blocks: usize,
}

impl BlockShape {
    fn random(e: usize, dir: Dir, single: bool, r: &mut Rng) -> BlockShape {
        let width = (64 + r.below(64) as usize).next_multiple_of(e);
        let pitch = 128;
        let height = 1 + r.below((MEMORY / pitch) as u64) as usize;
        let blocks = if single { 1 } else { 1 << r.below(3) };
        let dword = (4 / e).max(1);
        BlockShape {
            width,
            height,
            pitch,
            // Part of it may be outside.
            x: (r.below(40) as i64 - 8) * dword as i64,
            y: r.below(12) as i64 - 3,
            columns: 1 + r.below((64 / e / blocks) as u64) as usize,
            rows: 1 + r.below(if dir == Dir::Read { 16 } else { 8 }) as usize,
            blocks,
        }
    }
}

/// Returns the byte offset of an element of a block in its registers, and the bytes of a block.
fn place(
    s: &BlockShape,
    e: usize,
    transposed: bool,
    vnni: bool,
) -> (impl Fn(usize, usize) -> usize, usize) {
    let wide = s.columns.next_power_of_two();
    let tall = s.rows.next_power_of_two();
    let pack = 4 / e.min(4);
    let bytes = match (transposed, vnni) {
        (true, _) => s.columns * tall * e,
        (_, true) => s.rows.div_ceil(pack) * wide * 4,
        _ => s.rows * wide * e,
    };
    let at = move |x: usize, y: usize| match (transposed, vnni) {
        (true, _) => (x * tall + y) * e,
        (_, true) => ((y / pack) * wide + x) * 4 + y % pack * e,
        _ => (y * wide + x) * e,
    };
    (at, bytes.next_multiple_of(64))
}

/// Runs one random block. Returns false if no such block exists.
fn one(r: &mut Rng) -> bool {
    let data = [LscData::D8, LscData::D16, LscData::D32, LscData::D64][r.below(4) as usize];
    let e = data.memory_bits() as usize / 8;
    let dir = [Dir::Read, Dir::Write][r.below(2) as usize];
    let read = dir == Dir::Read;
    let transposed = read && e >= 4 && r.below(2) == 0;
    let vnni = read && e < 4 && r.below(2) == 0;
    let s = BlockShape::random(e, dir, transposed || !read, r);
    let (at, bytes) = place(&s, e, transposed, vnni);
    let grfs = bytes * s.blocks / 64;
    if grfs > 24 {
        return false;
    }
    let op = MsgOp::LscBlock2d {
        port: LscPort::Ugm,
        dir,
        data,
        transposed,
        vnni,
        surface: LscSurface::Flat,
        caching: LscCaching::DEFAULT,
    };
    let m = Message {
        op,
        header: false,
        src0_grfs: 1,
        src1_grfs: if read { 0 } else { grfs as u8 },
        response_grfs: if read { grfs as u8 } else { 0 },
        eot: false,
    };
    // Registers and memory are as for any message of one address.
    let like = LscAccess {
        port: LscPort::Ugm,
        op: LscOp::Store,
        data: LscData::D32,
        vector: LscVector::ONE,
        addr: LscAddr::A64,
        surface: LscSurface::Flat,
        caching: LscCaching::DEFAULT,
    };
    let form = MessageEffect::of(P, &MsgOp::Lsc(like), 1).unwrap();
    let mut case = Case::random(P, &m, &form, 1, AddressBase::Flat, r);
    case.mask = u32::MAX;
    let size = (s.columns - 1) | ((s.rows - 1) << 8) | ((s.blocks - 1) << 16);
    let base = case.base();
    let payload = [
        base as u32,
        (base >> 32) as u32,
        s.width as u32 - 1,
        s.height as u32 - 1,
        s.pitch as u32 - 1,
        s.x as u32,
        s.y as u32,
        size as u32,
    ];
    for (i, v) in payload.iter().enumerate() {
        let at = case.address + i * 4;
        case.regs[at..at + 4].copy_from_slice(&v.to_le_bytes());
    }
    let mut want = case.clone();
    if read {
        want.regs[case.response..case.response + grfs * 64].fill(0);
    }
    for b in 0..s.blocks {
        for y in 0..s.rows {
            for x in 0..s.columns {
                let (column, row) = (s.x + (b * s.columns + x) as i64, s.y + y as i64);
                let inside = column >= 0
                    && (column as usize + 1) * e <= s.width
                    && (0..s.height as i64).contains(&row);
                if !inside {
                    continue;
                }
                let from = row as usize * s.pitch + column as usize * e;
                let to = b * bytes + at(x, y);
                if read {
                    let to = case.response + to;
                    want.regs[to..to + e].copy_from_slice(&case.memory[from..from + e]);
                } else {
                    let to = case.data + to;
                    want.memory[from..from + e].copy_from_slice(&case.regs[to..to + e]);
                }
            }
        }
    }
    let (regs, memory) = case.run();
    assert!(memory == want.memory, "{m}: memory");
    assert!(regs == want.regs, "{m}: registers");
    true
}

#[test]
fn random_2d_blocks() {
    let seed = super::seed();
    println!("seed {seed}");
    let mut r = Rng(seed);
    let done = (0..1000).filter(|_| one(&mut r)).count();
    assert!(done > 500, "{done}");
}
