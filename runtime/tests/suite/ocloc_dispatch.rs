//! Kernels of Intel's compiler for every device: the payload that a launch gives their threads.

use crate::common::{Rng, everywhere, launch, same};
use gantry_runtime::{Arg, Device, Grid, Local, Module};

fn dispatch(f: impl Fn(&Device, &Module, &str)) {
    everywhere("dispatch.cl", f);
}

/// Returns the expected output of `ids`.
fn expected_ids(global: [u32; 3], local: [u32; 3], offset: [u32; 3], dimensions: u32) -> Vec<i32> {
    let mut out = Vec::new();
    for z in 0..global[2] {
        for y in 0..global[1] {
            for x in 0..global[0] {
                let at = [x, y, z];
                let each = |f: &dyn Fn(usize) -> u32| (0..3).map(f).collect::<Vec<u32>>();
                let here = |d: usize| (global[d] - at[d] / local[d] * local[d]).min(local[d]);
                let row = [
                    each(&|d| at[d] % local[d]),
                    each(&|d| at[d] / local[d]),
                    each(&|d| at[d] + offset[d]),
                    each(&here),
                    each(&|d| local[d]),
                    each(&|d| global[d].div_ceil(local[d])),
                    vec![dimensions, x + global[0] * (y + global[1] * z)],
                ];
                out.extend(row.concat().into_iter().map(|n| n as i32));
            }
        }
    }
    out
}

#[test]
fn ids_and_sizes() {
    dispatch(|d, m, what| {
        for (global, local, offset, dimensions) in [
            ([64, 1, 1], [64, 1, 1], [0; 3], 1),
            ([100, 1, 1], [20, 1, 1], [7, 0, 0], 1),
            ([24, 12, 1], [8, 4, 1], [0; 3], 2),
            ([12, 10, 6], [3, 5, 2], [1, 2, 3], 3),
            // The walk order need not be linear where the hardware generates local ids.
            ([6, 8, 8], [3, 4, 8], [0; 3], 3),
            ([10, 6, 4], [5, 2, 1], [100, 0, 5], 3),
            // Smaller groups at the edges.
            ([50, 1, 1], [16, 1, 1], [0; 3], 1),
            ([13, 9, 3], [4, 4, 2], [3, 0, 1], 3),
            ([40, 6, 4], [10, 3, 2], [0; 3], 3),
            ([33, 1, 1], [33, 1, 1], [100, 0, 0], 1),
            ([37, 5, 3], [8, 2, 2], [1, 2, 3], 3),
            ([1, 1, 9], [1, 1, 4], [0, 0, 7], 3),
            // More threads than one EU has, and the largest group.
            ([256, 1, 1], [256, 1, 1], [0; 3], 1),
            ([7, 36, 1], [7, 36, 1], [0; 3], 2),
        ] {
            let n = global.iter().product::<u32>() as usize * 20;
            let out = d.buffer(n * 4).unwrap();
            launch(
                m,
                "ids",
                Grid::new(global).group(local).offset(offset),
                vec![(&out).into()],
            );
            let want = expected_ids(global, local, offset, dimensions);
            same(&format!("{what}: {global:?} by {local:?}"), &out, &want);
        }
    });
}

#[test]
fn values() {
    dispatch(|d, m, what| {
        let mixed = [
            &[5u8, 0][..],
            &(-300i16).to_le_bytes(),
            &70_000i32.to_le_bytes(),
            &(-5_000_000_000i64).to_le_bytes(),
            &1.5f32.to_le_bytes(),
            &2.5f32.to_le_bytes(),
            &3.5f32.to_le_bytes(),
            &[0; 4],
        ]
        .concat();
        let wide: [f32; 16] = std::array::from_fn(|i| i as f32 + 0.25);
        let n = 40usize;
        let out = d.buffer(n * 24 * 8).unwrap();
        launch(
            m,
            "values",
            Grid::new([n as u32, 1, 1]).group([20, 1, 1]),
            vec![
                (&out).into(),
                (-7i8).into(),
                200u8.into(),
                (-1234i16).into(),
                (-123_456_789i32).into(),
                0x1234_5678_9abci64.into(),
                1.25f32.into(),
                [-1i32, 2, -3, 0].into(),
                Arg::bytes(&mixed),
                wide.into(),
            ],
        );
        let bits = |f: f32| i64::from(f.to_bits() as i32);
        let row = [
            -7,
            200,
            -1234,
            -123_456_789,
            0x1234_5678_9abc,
            bits(1.25),
            -1,
            2,
            -3,
            5,
            -300,
            70_000,
            -5_000_000_000,
            bits(1.5),
            bits(3.5),
            bits(0.25),
            bits(15.25),
            bits(7.25),
            0,
            0,
            0,
            0,
            0,
            0,
        ];
        same(what, &out, &row.repeat(n));
    });
}

#[test]
fn shared_memory() {
    dispatch(|d, m, what| {
        let mut r = Rng(4);
        for group in [1u32, 24, 64, 250] {
            let n = group * 3;
            let input: Vec<i32> = (0..n).map(|_| r.i32() >> 8).collect();
            let x = d.buffer_from(&input).unwrap();
            let out = d.buffer(n as usize * 4).unwrap();
            launch(
                m,
                "shared_memory",
                Grid::new([n, 1, 1]).group([group, 1, 1]),
                vec![
                    (&x).into(),
                    (&out).into(),
                    Local(group * 4).into(),
                    Local(group * 2).into(),
                ],
            );
            let g = group as usize;
            let want: Vec<i32> = input
                .chunks(g)
                .flat_map(|own| {
                    let s = |i: usize| own[(i + 1) % g] + own[g - 1 - i] * 3 + ((i + 2) % g) as i32;
                    (0..g).map(move |i| s(g - 1 - i)).collect::<Vec<i32>>()
                })
                .collect();
            same(&format!("{what}: groups of {group}"), &out, &want);
        }
    });
}

#[test]
fn private_array() {
    dispatch(|d, m, what| {
        let mut r = Rng(5);
        let n = 200usize;
        let input: Vec<i32> = (0..n).map(|_| r.i32() >> 12).collect();
        let x = d.buffer_from(&input).unwrap();
        let out = d.buffer(n * 4).unwrap();
        launch(
            m,
            "private_array",
            Grid::new([n as u32, 1, 1]).group([50, 1, 1]),
            vec![(&x).into(), (&out).into(), (n as i32).into()],
        );
        let want: Vec<i32> = (0..n)
            .map(|i| {
                let mut a: Vec<i32> = (0..67).map(|k| input[(i + k) % n]).collect();
                let mut s = 0i32;
                for k in 0..67 {
                    let to = (a[k].wrapping_add(k as i32) as u32 % 67) as usize;
                    a[to] = a[to].wrapping_add(k as i32);
                    s = s.wrapping_add(a[(k * 7 + i) % 67]);
                }
                s
            })
            .collect();
        same(what, &out, &want);
    });
}
