//! Ordered sets and groups: bitonic sort, prefix sums, a sparse matrix, k-means.

use super::{Classic, Launch, f32s, halves, i32s, int, kernel, noise};
use gantry_codegen::ir::{Dim, Region, Scalar, scalars::*};
use gantry_filetests::launch::Arg;

pub fn classics() -> Vec<Classic> {
    vec![bitonic(), scan(), spmv(), kmeans()]
}

/// Sorts 64 numbers a group, in local memory: each channel compares and exchanges a pair.
fn bitonic() -> Classic {
    const N: i32 = 64;
    let function = kernel("bitonic", 16, Some([32, 1, 1]), 4 * N as u32, |k| {
        let numbers = k.buffer();
        let x = k.local_id(Dim::X);
        let first = k.group_id(Dim::X) * N;
        for half in [0, N / 2] {
            let v = k.load(I32, numbers, first + (x + half));
            k.slm_store(v, (x + half) << 2);
        }
        k.group_barrier();
        let size = k.var(k.int(I32, 2));
        k.uniform_loop(|| {
            let stride = k.var(size.get().ushr(1));
            k.uniform_loop(|| {
                let s = stride.get();
                let low = x & (s - 1);
                let i = ((x - low) << 1) + low;
                let (at, to) = (i << 2, (i + s) << 2);
                let (a, b) = (k.slm_load(I32, at), k.slm_load(I32, to));
                let down = (i & size.get()).ne(0);
                let swap = a.gt(b) ^ down;
                k.slm_store(swap.select(b, a), at);
                k.slm_store(swap.select(a, b), to);
                k.group_barrier();
                stride.set(s.ushr(1));
                k.uniform_break_if(stride.get().eq(0));
            });
            size.set(size.get() << 1);
            k.uniform_break_if(size.get().gt(N));
        });
        for half in [0, N / 2] {
            let v = k.slm_load(I32, (x + half) << 2);
            k.store(v, numbers, first + (x + half));
        }
    });
    let launch = |groups: usize| {
        let v: Vec<i32> = noise(41, N as usize * groups)
            .iter()
            .map(|&n| (n % 1999) as i32 - 999)
            .collect();
        let mut sorted = v.clone();
        sorted.chunks_mut(N as usize).for_each(<[i32]>::sort);
        Launch {
            global: [32 * groups as u32, 1, 1],
            tolerance: 0.0,
            args: vec![Arg::Buffer(i32s(&v))],
            expect: vec![Some(i32s(&sorted))],
        }
    };
    Classic {
        name: "bitonic",
        about: "Bitonic sort of 64 numbers per group, in SLM, with a barrier per step.",
        function,
        small: vec![launch(1)],
        more: vec![launch(4)],
    }
}

/// Computes inclusive sums: within a thread by shifted regions, across the group's threads through
/// local memory.
fn scan() -> Classic {
    const LANES: u32 = 16;
    let function = kernel("scan", LANES, Some([64, 1, 1]), 16, |k| {
        let (from, to) = (k.buffer(), k.buffer());
        let x = k.local_id(Dim::X);
        let at = k.group_id(Dim::X) * 64 + x;
        let mut v = k.load(I32, from, at);
        let zero = k.int(I32.by(LANES), 0);
        for step in [1, 2, 4, 8] {
            let rest = LANES - step;
            let below = v.slice(0, rest);
            let moved = zero.with_region(
                Region::new(16, rest as u16, 1, 4 * step as u16),
                None,
                below,
            );
            v += moved;
        }
        let thread = x.slice(0, 1).ushr(4);
        k.slm_block_store(v.slice(LANES - 1, 1), thread << 2);
        k.group_barrier();
        let before = k.var(k.int(I32, 0));
        k.uniform_for(thread, |n| {
            before.set(before.get() + k.slm_block_load(I32, n << 2));
        });
        k.store(v + before.get(), to, at);
    });
    let launch = |groups: usize| {
        let v: Vec<i32> = noise(42, 64 * groups)
            .iter()
            .map(|&n| (n % 10) as i32 - 2)
            .collect();
        let mut sums = Vec::new();
        for g in v.chunks(64) {
            let mut sum = 0;
            sums.extend(g.iter().map(|n| {
                sum += n;
                sum
            }));
        }
        Launch {
            global: [64 * groups as u32, 1, 1],
            tolerance: 0.0,
            args: vec![Arg::Buffer(i32s(&v)), Arg::Buffer(i32s(&vec![0; v.len()]))],
            expect: vec![None, Some(i32s(&sums))],
        }
    };
    Classic {
        name: "scan",
        about: "Prefix sums of 64 numbers per group: shifted regions within a thread, SLM across threads.",
        function,
        small: vec![launch(1)],
        more: vec![launch(3)],
    }
}

/// Multiplies a sparse matrix with a row a channel; rows have different lengths.
fn spmv() -> Classic {
    let function = kernel("spmv", 16, None, 0, |k| {
        let (starts, columns, values) = (k.buffer(), k.buffer(), k.buffer());
        let (x, y) = (k.buffer(), k.buffer());
        let row = k.global_id(Dim::X);
        let next = k.var(k.load(I32, starts, row));
        let end = k.load(I32, starts, row + 1);
        let sum = k.var(k.float(F32.by(16), 0.0));
        k.simd_loop(|| {
            let i = next.get();
            k.simd_break_if(i.ge(end));
            let column = k.load(I32, columns, i);
            let (a, b) = (k.load(F32, values, i), k.load(F32, x, column));
            sum.set(a.fma(b, sum.get()));
            next.set(i + 1);
        });
        k.store(sum.get(), y, row);
    });
    let launch = |rows: usize, width: usize| {
        let lengths: Vec<usize> = noise(51, rows).iter().map(|n| (n % 6) as usize).collect();
        let mut starts = vec![0i32];
        for l in &lengths {
            starts.push(starts.last().unwrap() + *l as i32);
        }
        let count = *starts.last().unwrap() as usize;
        let columns: Vec<i32> = noise(52, count)
            .iter()
            .map(|n| (n % width as u32) as i32)
            .collect();
        let (values, x) = (halves(53, count), halves(54, width));
        let row = |r: usize| {
            let range = starts[r] as usize..starts[r + 1] as usize;
            range.map(|i| values[i] * x[columns[i] as usize]).sum()
        };
        let y: Vec<f32> = (0..rows).map(row).map(|v: f32| v + 0.0).collect();
        Launch {
            global: [rows as u32, 1, 1],
            tolerance: 0.0,
            args: vec![
                Arg::Buffer(i32s(&starts)),
                Arg::Buffer(i32s(&columns)),
                Arg::Buffer(f32s(&values)),
                Arg::Buffer(f32s(&x)),
                Arg::Buffer(f32s(&vec![-1.0; rows])),
            ],
            expect: vec![None, None, None, None, Some(f32s(&y))],
        }
    };
    Classic {
        name: "spmv",
        about: "Sparse matrix by vector: a row per channel; a channel leaves when its row ends.",
        function,
        small: vec![launch(16, 12)],
        more: vec![launch(80, 40)],
    }
}

/// Makes one step: each point goes to its nearest centre, whose sums and count grow by atomics.
fn kmeans() -> Classic {
    let function = kernel("kmeans", 16, None, 0, |k| {
        let (points, centres) = (k.buffer(), k.buffer());
        let (nearest, sums) = (k.buffer(), k.buffer());
        let count = k.param(I32);
        let i = k.global_id(Dim::X);
        let (x, y) = (
            k.load(I32, points, i << 1),
            k.load(I32, points, (i << 1) + 1),
        );
        let best = k.var(k.int(I32.by(16), i32::MAX.into()));
        let which = k.var(k.int(I32.by(16), 0));
        k.uniform_for(count, |c| {
            let centre = k.block_load(I32.by(2), centres + (c << 3).uextend(Scalar::I64), 0);
            let [dx, dy] = [(x, 0), (y, 1)].map(|(v, n)| v - centre.map(|b, c| b.lane(c, n)));
            let far = dx * dx + dy * dy;
            let closer = far.lt(best.get());
            best.set(closer.select(far, best.get()));
            which.set(closer.select(c, which.get()));
        });
        let which = which.get();
        k.store(which, nearest, i);
        let at = which * 3;
        k.atomic_add(x, sums, at);
        k.atomic_add(y, sums, at + 1);
        k.atomic_add(k.int(I32.by(16), 1), sums, at + 2);
    });
    let launch = |n: usize, count: usize| {
        let some = |seed, n| -> Vec<i32> {
            noise(seed, n)
                .iter()
                .map(|x| (x % 200) as i32 - 100)
                .collect()
        };
        let (points, centres) = (some(61, 2 * n), some(62, 2 * count));
        let (mut nearest, mut sums) = (Vec::new(), vec![0; 3 * count]);
        for p in points.chunks(2) {
            let far =
                |c: &usize| (p[0] - centres[2 * c]).pow(2) + (p[1] - centres[2 * c + 1]).pow(2);
            // The first of those equally near.
            let c = (0..count).min_by_key(far).unwrap();
            nearest.push(c as i32);
            sums[3 * c] += p[0];
            sums[3 * c + 1] += p[1];
            sums[3 * c + 2] += 1;
        }
        Launch {
            global: [n as u32, 1, 1],
            tolerance: 0.0,
            args: vec![
                Arg::Buffer(i32s(&points)),
                Arg::Buffer(i32s(&centres)),
                Arg::Buffer(i32s(&vec![-1; n])),
                Arg::Buffer(i32s(&vec![0; 3 * count])),
                int(count as i32),
            ],
            expect: vec![None, None, Some(i32s(&nearest)), Some(i32s(&sums)), None],
        }
    };
    Classic {
        name: "kmeans",
        about: "Step of k-means: points are assigned to the nearest centre, sums are accumulated by atomics.",
        function,
        small: vec![launch(32, 4)],
        more: vec![launch(160, 7), launch(20, 3)],
    }
}
