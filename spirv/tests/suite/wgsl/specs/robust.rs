//! Indices out of bounds: loads give zero, and stores do nothing.

use super::{Numbers, shader};
use crate::wgsl::case::{Case, Tolerance};

pub fn cases() -> Vec<Case> {
    vec![
        outside_reads(),
        outside_writes(),
        outside_atomics(),
        outside_private(),
        array_lengths(),
    ]
}

/// Indices, some far out of bounds, some negative, some whose byte offset wraps around 32 bits.
fn places(seed: u64, n: usize, inside: u32) -> Vec<u32> {
    let mut r = Numbers(seed);
    let far = [
        u32::MAX,
        0x4000_0000,
        0x4000_0001,
        0x8000_0000,
        0x1000_0000,
        1000,
        inside,
        inside + 1,
    ];
    (0..n)
        .map(|_| match r.below(3) {
            0 => far[r.below(8) as usize],
            _ => r.below(inside),
        })
        .collect()
}

fn outside_reads() -> Case {
    let data = Numbers(40).words(50);
    let s = Numbers(41).words(24);
    let at = places(42, 64, 50);
    let get = |v: &[u32], n: u32| v.get(n as usize).copied().unwrap_or(0);
    let mut want = Vec::new();
    for p in &at {
        let row = |n: u32, c: u32| {
            if n < 4 && c < 4 {
                s[(4 + n * 4 + c) as usize]
            } else {
                0
            }
        };
        want.extend([
            get(&data, *p),
            row(*p, 1),
            row(p % 4, *p),
            if *p < 4 { s[*p as usize] } else { 0 },
            get(&data, p.wrapping_sub(5)),
            1,
        ]);
    }
    let mut s = s;
    // The tail.
    s[20] = 7;
    shader!("outside_reads", [2, 1, 1])
        .input(0, &data)
        .input(1, &s)
        .input(2, &at)
        .output(3, &want, Tolerance::Exact)
        .outside()
}

fn outside_writes() -> Case {
    let at = places(43, 64, 40);
    // Distinct indices, since the order of stores is undefined.
    let mut at = at;
    let mut seen = std::collections::BTreeSet::new();
    for p in &mut at {
        while *p < 40 && !seen.insert(*p) {
            *p = if seen.len() >= 40 {
                5000
            } else {
                (*p + 1) % 40
            };
        }
    }
    let mut data = vec![0xeeu32; 40];
    let mut fixed = vec![1u32; 16];
    for (i, p) in at.iter().enumerate() {
        if *p < 40 {
            data[*p as usize] = i as u32 + 1;
        }
    }
    for (i, p) in at.iter().enumerate().take(8) {
        fixed[2 * i + 1] = *p;
        if *p < 2 {
            fixed[2 * i + *p as usize] = 3;
        }
    }
    shader!("outside_writes", [2, 1, 1])
        .input(0, &at)
        .inout(1, &[0xeeu32; 40], &data, Tolerance::Exact)
        .inout(2, &[1u32; 16], &fixed, Tolerance::Exact)
        .outside()
}

fn outside_atomics() -> Case {
    let at = places(44, 64, 9);
    let mut counts = vec![100u32; 9];
    let mut olds = Vec::new();
    for group in at.chunks(32) {
        let mut slots = [0u32; 4];
        for p in group {
            if let Some(s) = slots.get_mut(*p as usize) {
                *s += 1;
            }
            if let Some(c) = counts.get_mut(*p as usize) {
                *c += 1;
            }
        }
        for (i, p) in group.iter().enumerate() {
            // An index that wraps around is in bounds again.
            let again = |by: u32, len: u32| p.wrapping_add(by) < len;
            assert!(!again(1_000_000, 9) && !again(500_000, 9));
            // The maximum with 3 of a wrapped index could be seen, but none occurs.
            assert!(!again(4, 4) || *p == u32::MAX);
            olds.extend([0, 0, 0, slots[i % 4]]);
        }
    }
    let mut case = shader!("outside_atomics", [2, 1, 1])
        .input(0, &at)
        .inout(1, &[100u32; 9], &counts, Tolerance::Exact)
        .output(2, &olds, Tolerance::Exact)
        .outside();
    // 0xffffffff + 4 is 3, which is the slot of another.
    case.ignore = (0..64)
        .filter(|i| i % 4 == 3 || at[*i] == u32::MAX)
        .map(|i| (2, 4 * i + 3))
        .collect();
    case
}

fn outside_private() -> Case {
    let at: Vec<i32> = places(45, 32, 4).iter().map(|p| *p as i32).collect();
    let mut want = Vec::new();
    for group in at.chunks(16) {
        for p in group {
            let mut mine = [1, 2, 3, 4, 5];
            let get = |v: &[i32], n: i32| {
                usize::try_from(n)
                    .ok()
                    .and_then(|n| v.get(n))
                    .copied()
                    .unwrap_or(0)
            };
            if let Some(m) = usize::try_from(*p).ok().and_then(|n| mine.get_mut(n)) {
                *m = 50;
            }
            let mut table = [[1, 2], [3, 4], [5, 6]];
            if (0..2).contains(p) {
                table[*p as usize][*p as usize] += 10;
            }
            let row = |n: i32, c: usize| {
                usize::try_from(n)
                    .ok()
                    .and_then(|n| table.get(n))
                    .map_or(0, |t| t[c])
            };
            want.extend([
                get(&mine, *p),
                if (0..3).contains(p) { *p } else { 0 },
                row(*p, 0) + row(p.wrapping_add(1), 1),
                mine.iter().sum(),
            ]);
        }
    }
    shader!("outside_private", [2, 1, 1])
        .input(0, &at)
        .output(1, &want, Tolerance::Exact)
        .outside()
}

fn array_lengths() -> Case {
    // A header of 16 bytes, 21 elements of 16, and 8 more bytes.
    let mut from = vec![0u32; 4 + 21 * 4 + 2];
    from[0] = 900;
    let mut want = from.clone();
    for i in 0..21 {
        want[4 + 4 * i] = i as u32;
        want[5 + 4 * i] = 21;
        want[6 + 4 * i] = 900;
    }
    let small: Vec<u32> = (0..14).map(|i| i * 11).collect();
    shader!("array_lengths", [1, 1, 1])
        .inout(0, &from, &want, Tolerance::Exact)
        .input(1, &small)
        .input(2, &[0u32; 30])
        .output(3, &[21, 13, 15, 13 * 11], Tolerance::Exact)
}
