//! Block accesses of a sub-group in all sizes, which pocl lacks. The expectation is computed here.

use super::super::case::{Case, Memory, any, zero};

/// Groups of a launch.
const GROUPS: usize = 3;

/// Returns launches with groups of one sub-group each, so that a group's blocks are one
/// sub-group's.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in [8, 16, 32] {
        let case = |kernel| {
            let items = GROUPS as u32 * width;
            Case::new("block_types", kernel)
                .line(items, width)
                .only(width)
        };
        let n = GROUPS * width as usize;
        cases.extend([
            case("block_longs")
                .buffer::<u64>(8 * n, zero)
                .buffer::<u64>(8 * n, any)
                .expect(block_longs),
            case("block_bytes")
                .buffer::<u8>(32 * n, zero)
                .buffer::<u8>(32 * n, any)
                .expect(block_bytes),
            case("block_eights")
                .buffer::<u32>(8 * n, zero)
                .buffer::<u32>(8 * n, any)
                .buffer::<u16>(8 * n, any)
                .expect(block_eights),
            Case::new("block_local", "local_blocks")
                .line(4 * width, 2 * width)
                .only(width)
                .buffer::<u32>(4 * width as usize, zero)
                .buffer::<u32>(4 * width as usize, any)
                .local::<u32>(8 * width as usize)
                .expect(local_blocks),
        ]);
    }
    cases
}

fn block_longs(m: &mut Memory, width: u32) {
    let (w, x) = (width as usize, m.get::<u64>(1));
    let mut out = m.get::<u64>(0);
    for g in (0..GROUPS).map(|g| g * w * 8) {
        for lane in g..g + w {
            let one = x[lane + 4 * w];
            for (k, from) in [3, 0, 2, 1].into_iter().enumerate() {
                out[lane + k * w] = x[lane + from * w].wrapping_add(one);
            }
            out[lane + 5 * w] = one ^ x[lane];
        }
    }
    m.set(0, out);
}

fn block_bytes(m: &mut Memory, width: u32) {
    let (w, x) = (width as usize, m.get::<u8>(1));
    let mut out = m.get::<u8>(0);
    for g in (0..GROUPS).map(|g| g * w * 32) {
        for lane in g..g + w {
            let one = x[lane + 16 * w];
            for k in 0..16 {
                out[lane + k * w] = x[lane + (15 - k) * w].wrapping_add(one);
            }
            let four = [one, x[lane + 17 * w], x[lane + 3 * w], (lane - g) as u8];
            for (k, v) in four.into_iter().enumerate() {
                out[lane + (20 + k) * w] = v;
            }
        }
    }
    m.set(0, out);
}

fn block_eights(m: &mut Memory, width: u32) {
    let (w, x) = (width as usize, m.get::<u32>(1));
    let words = m.get::<u16>(2);
    m.fill(0, |i| {
        let (lane, k) = (i % w, i / w % 8);
        x[i - k * w + (7 - k) * w].wrapping_add(lane as u32)
    });
    m.fill(2, |i| {
        let k = i / w % 8;
        words[i - k * w + [1, 3, 5, 7, 2, 0, 6, 4][k] * w]
    });
}

fn local_blocks(m: &mut Memory, width: u32) {
    let (w, x) = (width as usize, m.get::<u32>(1));
    m.fill(0, |i| {
        // Local memory of the other sub-group, as bytes.
        let (lane, other) = (i % w, ((i / w) ^ 1) * w);
        let mut bytes = Vec::new();
        for times in [1, 3] {
            let row = x[other..other + w].iter().map(|v| v.wrapping_mul(times));
            bytes.extend(row.flat_map(u32::to_le_bytes));
        }
        for word in 0..4 {
            let row = x[other..other + w].iter();
            bytes.extend(row.flat_map(|v| {
                let word = if word == 2 { *v as u16 } else { word + 1 };
                word.to_le_bytes()
            }));
        }
        let at = |row: usize, n: usize| {
            let at = (row * w + lane) * n;
            let le = bytes[at..at + n].iter().rev();
            le.fold(0u64, |v, b| v << 8 | u64::from(*b))
        };
        let dword = |row| at(row, 4) as u32;
        let r = dword(1) ^ dword(0) ^ dword(1).wrapping_mul(5);
        let r = r ^ dword(2).wrapping_mul(7) ^ dword(3).wrapping_mul(9);
        let small = at(0, 2) + 3 * at(1, 2) + at(0, 1) + 5 * at(1, 1);
        let quads = (at(0, 8) >> 32) + (at(1, 8) & 0xffff_ffff);
        r.wrapping_add(small as u32).wrapping_add(quads as u32)
    });
}
