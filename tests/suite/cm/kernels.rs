//! Kernels by hand: their inputs, and what they compute, in plain Rust.

use crate::common::Random;

/// Argument of a launch.
#[derive(Clone)]
pub(super) enum Arg {
    /// Contents of a surface.
    Surface(Vec<u8>),
    /// Integer by value.
    I32(i32),
    /// Single by value.
    F32(f32),
}

/// Contents of surfaces, by the number of the argument.
pub(super) type Contents = Vec<(usize, Vec<u8>)>;

/// Kernel of the corpus, `filetests/filetests/cm/NAME.gir`.
pub(super) struct Kernel {
    /// Name of the file and of the kernel in it.
    pub(super) name: &'static str,
    /// Draws arguments.
    pub(super) draw: fn(&mut Random) -> Vec<Arg>,
    /// Computes what the surfaces hold after the launch.
    pub(super) expected: fn(&[Arg]) -> Contents,
}

/// All kernels, in the order of tables.
pub(super) const KERNELS: [Kernel; 22] = [
    Kernel {
        name: "box",
        draw: |r| vec![bytes(r, 256), zeros(144)],
        expected: mean,
    },
    Kernel {
        name: "histogram",
        draw: |r| vec![bytes(r, 128), zeros(256), Arg::I32(4)],
        expected: histogram,
    },
    Kernel {
        name: "bitonic",
        draw: |r| vec![ints(r, 32, 1000), zeros(128)],
        expected: bitonic,
    },
    Kernel {
        name: "transpose",
        draw: |r| vec![ints(r, 64, 1000), zeros(256)],
        expected: transpose,
    },
    Kernel {
        name: "transpose_bytes",
        draw: |r| vec![bytes(r, 256), zeros(256)],
        expected: transpose_bytes,
    },
    Kernel {
        name: "sgemm",
        draw: |r| {
            vec![
                floats(r, 80, 8),
                floats(r, 160, 8),
                zeros(384),
                Arg::I32(10),
            ]
        },
        expected: sgemm,
    },
    Kernel {
        name: "sad",
        draw: |r| vec![bytes(r, 256), bytes(r, 64), zeros(32)],
        expected: sad,
    },
    Kernel {
        name: "prefix",
        draw: |r| vec![ints(r, 96, 100), zeros(384), Arg::I32(3)],
        expected: prefix,
    },
    Kernel {
        name: "merge",
        draw: sorted_lists,
        expected: merge,
    },
    Kernel {
        name: "nibbles",
        draw: |r| vec![bytes(r, 64), zeros(512), Arg::F32(0.25)],
        expected: nibbles,
    },
    Kernel {
        name: "lut",
        draw: |r| vec![bytes(r, 32), words(r, 128, 1000), zeros(64)],
        expected: lut,
    },
    Kernel {
        name: "sobel",
        draw: |r| vec![bytes(r, 128), zeros(96)],
        expected: sobel,
    },
    Kernel {
        name: "hadamard",
        draw: |r| vec![words(r, 64, 128), zeros(128)],
        expected: hadamard,
    },
    Kernel {
        name: "gray",
        draw: |r| vec![bytes(r, 128), zeros(32)],
        expected: gray,
    },
    Kernel {
        name: "mandelbrot",
        draw: corner,
        expected: mandelbrot,
    },
    Kernel {
        name: "median",
        draw: |r| vec![bytes(r, 96), zeros(64)],
        expected: median,
    },
    Kernel {
        name: "blend",
        draw: |r| vec![bytes(r, 64), bytes(r, 64), zeros(64)],
        expected: blend,
    },
    Kernel {
        name: "fir",
        draw: |r| vec![floats(r, 96, 8), floats(r, 8, 4), zeros(384), Arg::I32(3)],
        expected: fir,
    },
    Kernel {
        name: "hamming",
        draw: |r| vec![bytes(r, 32), bytes(r, 512), zeros(64)],
        expected: hamming,
    },
    Kernel {
        name: "jacobi",
        draw: |r| vec![floats(r, 128, 8), zeros(512), Arg::I32(3)],
        expected: jacobi,
    },
    Kernel {
        name: "upscale",
        draw: |r| vec![bytes(r, 80), zeros(256)],
        expected: upscale,
    },
    Kernel {
        name: "compact",
        draw: |r| vec![ints(r, 16, 100), zeros(64), zeros(16)],
        expected: compact,
    },
];

fn zeros(bytes: usize) -> Arg {
    Arg::Surface(vec![0; bytes])
}

fn bytes(r: &mut Random, n: usize) -> Arg {
    Arg::Surface((0..n).map(|_| r.next() as u8).collect())
}

/// Draws a number from `-most` to `most - 1`.
fn signed(r: &mut Random, most: i32) -> i32 {
    r.below(2 * most as usize) as i32 - most
}

fn words(r: &mut Random, n: usize, most: i32) -> Arg {
    let words = (0..n).flat_map(|_| (signed(r, most) as i16).to_le_bytes());
    Arg::Surface(words.collect())
}

fn ints(r: &mut Random, n: usize, most: i32) -> Arg {
    let ints = (0..n).flat_map(|_| signed(r, most).to_le_bytes());
    Arg::Surface(ints.collect())
}

/// Draws singles that are integers, so that their sums are exact in any order.
fn floats(r: &mut Random, n: usize, most: i32) -> Arg {
    let floats = (0..n).flat_map(|_| (signed(r, most) as f32).to_le_bytes());
    Arg::Surface(floats.collect())
}

/// Draws 8 sorted lists of 4 numbers, each with the largest integer behind it.
fn sorted_lists(r: &mut Random) -> Vec<Arg> {
    let mut all = Vec::new();
    for _ in 0..8 {
        let mut list: Vec<i32> = (0..4).map(|_| signed(r, 500)).collect();
        list.sort_unstable();
        list.push(i32::MAX);
        all.extend(list.into_iter().flat_map(i32::to_le_bytes));
    }
    vec![Arg::Surface(all), zeros(128)]
}

/// Draws a corner of the plane, and 20 iterations.
fn corner(r: &mut Random) -> Vec<Arg> {
    let x = signed(r, 64) as f32 / 64.0 - 0.75;
    let y = signed(r, 64) as f32 / 64.0;
    vec![zeros(64), Arg::F32(x), Arg::F32(y), Arg::I32(20)]
}

fn surface(args: &[Arg], n: usize) -> &[u8] {
    match &args[n] {
        Arg::Surface(bytes) => bytes,
        _ => panic!("argument {n} is no surface"),
    }
}

fn int(args: &[Arg], n: usize) -> i32 {
    match args[n] {
        Arg::I32(n) => n,
        _ => panic!("argument {n} is no integer"),
    }
}

fn float(args: &[Arg], n: usize) -> f32 {
    match args[n] {
        Arg::F32(x) => x,
        _ => panic!("argument {n} is no single"),
    }
}

fn as_i32(args: &[Arg], n: usize) -> Vec<i32> {
    let bytes = surface(args, n).chunks_exact(4);
    bytes
        .map(|b| i32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

fn as_i16(args: &[Arg], n: usize) -> Vec<i16> {
    let bytes = surface(args, n).chunks_exact(2);
    bytes
        .map(|b| i16::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

fn as_f32(args: &[Arg], n: usize) -> Vec<f32> {
    let bytes = surface(args, n).chunks_exact(4);
    bytes
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

fn of_i32(n: usize, numbers: impl IntoIterator<Item = i32>) -> Contents {
    vec![(n, numbers.into_iter().flat_map(i32::to_le_bytes).collect())]
}

fn of_i16(n: usize, numbers: impl IntoIterator<Item = i16>) -> Contents {
    vec![(n, numbers.into_iter().flat_map(i16::to_le_bytes).collect())]
}

fn of_f32(n: usize, numbers: impl IntoIterator<Item = f32>) -> Contents {
    vec![(n, numbers.into_iter().flat_map(f32::to_le_bytes).collect())]
}

/// Positions of a tile, row after row.
fn tile(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).flat_map(move |y| (0..columns).map(move |x| (y, x)))
}

fn mean(args: &[Arg]) -> Contents {
    let image = surface(args, 0);
    let mean = |(y, x): (usize, usize)| {
        let near = tile(3, 3).map(|(dy, dx)| u32::from(image[32 * (y + dy) + 3 + x + dx]));
        (near.sum::<u32>() as f32 * (1.0 / 9.0)) as u8
    };
    vec![(1, tile(6, 24).map(mean).collect())]
}

fn histogram(args: &[Arg]) -> Contents {
    let mut bins = [0; 64];
    for &pixel in surface(args, 0) {
        bins[usize::from(pixel) / 4] += 1;
    }
    of_i32(1, bins)
}

fn bitonic(args: &[Arg]) -> Contents {
    let mut all = as_i32(args, 0);
    all.sort_unstable();
    of_i32(1, all)
}

fn transpose(args: &[Arg]) -> Contents {
    let all = as_i32(args, 0);
    of_i32(1, tile(8, 8).map(|(y, x)| all[8 * x + y]))
}

fn transpose_bytes(args: &[Arg]) -> Contents {
    let all = surface(args, 0);
    vec![(1, tile(16, 16).map(|(y, x)| all[16 * x + y]).collect())]
}

fn sgemm(args: &[Arg]) -> Contents {
    let (a, b, depth) = (as_f32(args, 0), as_f32(args, 1), int(args, 3) as usize);
    let sum = |(y, x): (usize, usize)| (0..depth).map(|k| a[8 * k + y] * b[16 * k + x]).sum();
    of_f32(2, tile(6, 16).map(sum))
}

fn sad(args: &[Arg]) -> Contents {
    let (window, block) = (surface(args, 0), surface(args, 1));
    let sum = |(y, x): (usize, usize)| {
        let differences = tile(8, 8).map(|(dy, dx)| {
            let there = i16::from(window[16 * (y + dy) + x + dx]);
            (there - i16::from(block[8 * dy + dx])).abs()
        });
        differences.sum()
    };
    of_i16(2, tile(4, 4).map(sum))
}

fn prefix(args: &[Arg]) -> Contents {
    let sums = as_i32(args, 0).into_iter().scan(0, |sum, x| {
        *sum += x.max(0);
        Some(*sum)
    });
    of_i32(1, sums)
}

fn merge(args: &[Arg]) -> Contents {
    let mut all = as_i32(args, 0);
    all.sort_unstable();
    of_i32(1, all.into_iter().take(32))
}

fn nibbles(args: &[Arg]) -> Contents {
    let scale = float(args, 2);
    let nibbles = surface(args, 0).iter().flat_map(|b| [b & 15, b >> 4]);
    of_f32(1, nibbles.map(|n| (f32::from(n) - 8.0) * scale))
}

fn lut(args: &[Arg]) -> Contents {
    let table = as_i16(args, 1);
    let indices = surface(args, 0).iter();
    of_i16(2, indices.map(|&i| table[usize::from(i & 127)]))
}

fn sobel(args: &[Arg]) -> Contents {
    let image = surface(args, 0);
    let mut out = vec![0; 96];
    for (y, x) in tile(6, 14) {
        let p = |dy: usize, dx: usize| i32::from(image[16 * (y + dy) + x + dx]);
        let across = p(0, 2) - p(0, 0) + 2 * (p(1, 2) - p(1, 0)) + p(2, 2) - p(2, 0);
        let down = p(2, 0) - p(0, 0) + 2 * (p(2, 1) - p(0, 1)) + p(2, 2) - p(0, 2);
        out[16 * y + x] = (across.abs() + down.abs()).min(255) as u8;
    }
    vec![(1, out)]
}

fn hadamard(args: &[Arg]) -> Contents {
    let all = as_i16(args, 0);
    let sum = |(v, u): (usize, usize)| {
        let terms = tile(8, 8).map(|(y, x)| {
            let odd = ((v & y).count_ones() + (u & x).count_ones()) % 2 == 1;
            if odd { -all[8 * y + x] } else { all[8 * y + x] }
        });
        terms.fold(0, i16::wrapping_add)
    };
    of_i16(1, tile(8, 8).map(sum))
}

fn gray(args: &[Arg]) -> Contents {
    let pixels = surface(args, 0).chunks_exact(4);
    let gray = pixels.map(|p| {
        let [red, green, blue] = [p[0], p[1], p[2]].map(u32::from);
        ((77 * red + 150 * green + 29 * blue) >> 8) as u8
    });
    vec![(1, gray.collect())]
}

fn mandelbrot(args: &[Arg]) -> Contents {
    let (x0, y0) = (float(args, 1), float(args, 2));
    let inside = |lane: i32| {
        let (cx, cy) = (lane as f32 * (1.0 / 16.0) + x0, y0);
        let (mut x, mut y, mut count) = (0.0f32, 0.0f32, 0);
        for _ in 0..int(args, 3) {
            let (yy, xy) = (y * y, x * y);
            count += i32::from(x.mul_add(x, yy) < 4.0);
            (x, y) = (x.mul_add(x, -yy) + cx, x.mul_add(y, xy) + cy);
        }
        count
    };
    of_i32(0, (0..16).map(inside))
}

fn median(args: &[Arg]) -> Contents {
    let image = surface(args, 0);
    let mut out = vec![0; 64];
    for (y, x) in tile(4, 14) {
        let near = tile(3, 3).map(|(dy, dx)| image[16 * (y + dy) + x + dx]);
        let mut near: Vec<u8> = near.collect();
        near.sort_unstable();
        out[16 * y + x] = near[4];
    }
    vec![(1, out)]
}

fn blend(args: &[Arg]) -> Contents {
    let (over, under) = (surface(args, 0), surface(args, 1));
    let blended = (0..64).map(|i| {
        let [over, under, alpha] = [over[i], under[i], over[i | 3]].map(u32::from);
        let sum = over * alpha + under * (255 - alpha) + 128;
        ((sum + (sum >> 8)) >> 8) as u8
    });
    vec![(2, blended.collect())]
}

fn fir(args: &[Arg]) -> Contents {
    let (samples, taps) = (as_f32(args, 0), as_f32(args, 1));
    let sum = |i: usize| {
        let terms = taps.iter().enumerate().filter(|(t, _)| i + t >= 7);
        terms.map(|(t, tap)| tap * samples[i + t - 7]).sum()
    };
    of_f32(2, (0..samples.len()).map(sum))
}

fn hamming(args: &[Arg]) -> Contents {
    let (one, others) = (surface(args, 0), surface(args, 1));
    let distances = others.chunks_exact(32).map(|other| {
        let bits = one.iter().zip(other).map(|(a, b)| (a ^ b).count_ones());
        bits.sum::<u32>() as i32
    });
    of_i32(2, distances)
}

fn jacobi(args: &[Arg]) -> Contents {
    let mut all = as_f32(args, 0);
    for _ in 0..int(args, 2) {
        let old = all.clone();
        for (y, x) in tile(6, 14) {
            let i = 16 * (y + 1) + x + 1;
            all[i] = ((old[i - 16] + old[i + 16]) + (old[i - 1] + old[i + 1])) * 0.25;
        }
    }
    of_f32(1, all)
}

fn upscale(args: &[Arg]) -> Contents {
    let image = surface(args, 0);
    let larger = tile(8, 32).map(|(y, x)| {
        let i = 16 * (y / 2) + x / 2;
        let mean = (u32::from(image[i]) + u32::from(image[i + 16])).div_ceil(2) as u8;
        if y % 2 == 0 { image[i] } else { mean }
    });
    vec![(1, larger.collect())]
}

fn compact(args: &[Arg]) -> Contents {
    let all = as_i32(args, 0);
    let mut front: Vec<i32> = all.iter().copied().filter(|&x| x > 0).collect();
    let count = 4 * front.len() as i32;
    // The bit that ends the loop stands for the first number.
    front.push(all[0]);
    front.resize(16, 0);
    let mut out = of_i32(1, front);
    out.extend(of_i32(2, [count; 4]));
    out
}
