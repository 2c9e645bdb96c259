//! Kernels of Intel's compiler on the simulator: memory, groups and divergence, against the same thing done here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

mod common;

use common::{Rng, close, launch, same};
use gantry_runtime::{Arg, Device, Grid, Local, Module};

/// Runs `f` on the core kernels at each width.
fn at_widths(f: impl Fn(&Device, &Module, u32)) {
    common::at_widths("core.cl", f);
}

fn line(n: u32, group: u32) -> Grid {
    Grid::new([n, 1, 1]).group([group, 1, 1])
}

#[test]
fn memory() {
    at_widths(|d, m, simd| {
        let mut r = Rng(1);
        for (n, group) in [
            (1, 1),
            (7, 7),
            (64, 64),
            (1000, 40),
            (1000, 64),
            (4096, 256),
        ] {
            let xs: Vec<f32> = (0..n).map(|_| r.f32(-9.0, 9.0)).collect();
            let ys: Vec<f32> = (0..n).map(|_| r.f32(-9.0, 9.0)).collect();
            let x = d.buffer_from(&xs).unwrap();
            let y = d.buffer_from(&ys).unwrap();
            let limit = n - n / 5;
            let stats = launch(
                m,
                "saxpy",
                line(n, group),
                vec![
                    (&x).into(),
                    (&y).into(),
                    1.5f32.into(),
                    (limit as i32).into(),
                ],
            );
            let want: Vec<f32> = (0..n as usize)
                .map(|i| {
                    if i < limit as usize {
                        f32::mul_add(1.5, xs[i], ys[i])
                    } else {
                        ys[i]
                    }
                })
                .collect();
            same(&format!("saxpy simd{simd} n {n}"), &y, &want);
            assert_eq!(stats.bytes_written, u64::from(limit) * 4);
            assert_eq!(stats.bytes_read, u64::from(limit) * 8);

            let a: Vec<i32> = (0..n).map(|_| r.i32()).collect();
            let b: Vec<i32> = (0..n).map(|_| r.i32()).collect();
            let c = d.buffer(n as usize * 4).unwrap();
            let (ab, bb) = (d.buffer_from(&a).unwrap(), d.buffer_from(&b).unwrap());
            launch(
                m,
                "vadd",
                line(n, group),
                vec![(&ab).into(), (&bb).into(), (&c).into()],
            );
            let want: Vec<i32> = a.iter().zip(&b).map(|(a, b)| a.wrapping_add(*b)).collect();
            same(&format!("vadd simd{simd} n {n}"), &c, &want);
        }
        let n = 96u32;
        let v: Vec<f32> = (0..n * 4).map(|_| r.f32(-9.0, 9.0)).collect();
        let bytes: Vec<u8> = (0..n * 4).map(|_| r.u64() as u8).collect();
        let out = d.buffer(n as usize * 16).unwrap();
        let shorts = d.buffer(n as usize * 4).unwrap();
        launch(
            m,
            "vectors",
            line(n, 32),
            vec![
                (&d.buffer_from(&v).unwrap()).into(),
                (&out).into(),
                (&d.buffer_from(&bytes).unwrap()).into(),
                (&shorts).into(),
            ],
        );
        let want: Vec<f32> = (0..n as usize * 4)
            .map(|i| f32::mul_add(v[i / 4 * 4 + 3 - i % 4], 2.0, (i % 4 + 1) as f32))
            .collect();
        same("vectors", &out, &want);
        let want: Vec<i16> = bytes
            .chunks(4)
            .flat_map(|b| {
                let b: Vec<i32> = b.iter().map(|b| i32::from(*b)).collect();
                [(b[0] * b[1]) as i16, (b[2] - b[3]) as i16]
            })
            .collect();
        same("shorts", &shorts, &want);

        let v: Vec<i32> = (0..n * 16).map(|_| r.i32()).collect();
        let out = d.buffer(n as usize * 64).unwrap();
        launch(
            m,
            "copy16",
            line(n, 32),
            vec![(&d.buffer_from(&v).unwrap()).into(), (&out).into()],
        );
        let want: Vec<i32> = v.iter().map(|v| v.wrapping_add(1)).collect();
        same("copy16", &out, &want);
    });
}

#[test]
fn divergence() {
    at_widths(|d, m, simd| {
        let mut r = Rng(2);
        let n = 500u32;
        let v: Vec<u32> = (0..n).map(|_| r.below(100_000) as u32 + 1).collect();
        let out = d.buffer(n as usize * 4).unwrap();
        launch(
            m,
            "collatz",
            line(n, 50),
            vec![(&d.buffer_from(&v).unwrap()).into(), (&out).into()],
        );
        let want: Vec<u32> = v
            .iter()
            .map(|&v| {
                let (mut v, mut n) = (v, 0);
                while v != 1 {
                    v = if v & 1 == 1 {
                        v.wrapping_mul(3).wrapping_add(1)
                    } else {
                        v / 2
                    };
                    n += 1;
                    if n > 500 {
                        break;
                    }
                }
                n
            })
            .collect();
        same(&format!("collatz simd{simd}"), &out, &want);

        let v: Vec<i32> = (0..n).map(|_| r.below(1000) as i32 - 100).collect();
        for rounds in [0, 1, 13, 40] {
            let out = d.buffer(n as usize * 4).unwrap();
            launch(
                m,
                "nested",
                line(n, 100),
                vec![
                    (&d.buffer_from(&v).unwrap()).into(),
                    (&out).into(),
                    rounds.into(),
                ],
            );
            let want: Vec<i32> = v.iter().map(|&v| nested(v, rounds)).collect();
            same(&format!("nested simd{simd} {rounds}"), &out, &want);
        }
    });
}

fn nested(v: i32, n: i32) -> i32 {
    if v < 0 {
        return -1;
    }
    let mut sum = 0i32;
    for a in 0..n {
        if ((v + a) & 3) == 1 {
            continue;
        }
        for b in 0..20 {
            if b > (v & 15) {
                break;
            }
            if (b ^ a) & 1 != 0 {
                continue;
            }
            sum += a * b + (v >> (b & 7));
        }
        if sum > 5000 {
            break;
        }
        match (v + a) % 5 {
            0 => sum += 1,
            1 => {
                sum ^= 0x55;
                sum += 7;
            }
            2 => sum += 7,
            3 => sum += if sum & 1 == 1 { -3 } else { 11 },
            _ => sum = (sum * 3) & 0xffff,
        }
    }
    sum
}

#[test]
fn groups() {
    at_widths(|d, m, simd| {
        let mut r = Rng(3);
        for group in [8u32, 32, 64, 128, 256] {
            let n = group * 5;
            let v: Vec<i32> = (0..n).map(|_| r.i32()).collect();
            let out = d.buffer(20).unwrap();
            launch(
                m,
                "slm_sum",
                line(n, group),
                vec![
                    (&d.buffer_from(&v).unwrap()).into(),
                    (&out).into(),
                    Local(group * 4).into(),
                ],
            );
            let want: Vec<i32> = v
                .chunks(group as usize)
                .map(|c| c.iter().fold(0i32, |a, b| a.wrapping_add(*b)))
                .collect();
            same(&format!("slm_sum simd{simd} group {group}"), &out, &want);

            let v: Vec<u32> = (0..n.max(80)).map(|_| r.u64() as u32).collect();
            if group >= 16 {
                let out = d.buffer(5 * 64).unwrap();
                launch(
                    m,
                    "local_atomics",
                    line(n, group),
                    vec![(&d.buffer_from(&v).unwrap()).into(), (&out).into()],
                );
                let mut want = vec![0u32; 80];
                for (i, v) in v.iter().take(n as usize).enumerate() {
                    want[i / group as usize * 16 + (v & 15) as usize] += 1;
                }
                same(&format!("local_atomics simd{simd}"), &out, &want);
            }
        }
        for (w, h) in [(8, 8), (32, 24), (40, 16)] {
            let v: Vec<f32> = (0..w * h).map(|_| r.f32(0.0, 1.0)).collect();
            let out = d.buffer((w * h * 4) as usize).unwrap();
            launch(
                m,
                "transpose",
                Grid::new([w, h, 1]).group([8, 8, 1]),
                vec![
                    (&d.buffer_from(&v).unwrap()).into(),
                    (&out).into(),
                    (w as i32).into(),
                    (h as i32).into(),
                ],
            );
            let want: Vec<f32> = (0..w * h)
                .map(|i| v[(i % h * w + i / h) as usize])
                .collect();
            same(&format!("transpose simd{simd}"), &out, &want);
        }
        let v: Vec<i32> = (0..192).map(|_| r.i32()).collect();
        let data = d.buffer_from(&v).unwrap();
        launch(
            m,
            "exchange",
            line(192, 64),
            vec![(&data).into(), 9i32.into()],
        );
        let mut want = v;
        for group in want.chunks_mut(64) {
            for round in 0..9 {
                let old = group.to_vec();
                for (l, v) in group.iter_mut().enumerate() {
                    *v = v.wrapping_add(old[(l + 1) % 64] ^ round);
                }
            }
        }
        same(&format!("exchange simd{simd}"), &data, &want);
    });
}

#[test]
fn ids_and_partial_groups() {
    at_widths(|d, m, simd| {
        for (global, local, offset) in [
            ([40u32, 6, 4], [10u32, 3, 2], [0u32, 0, 0]),
            ([33, 1, 1], [33, 1, 1], [100, 0, 0]),
            // Partial groups at every edge.
            ([37, 5, 3], [8, 2, 2], [1, 2, 3]),
            ([1, 1, 9], [1, 1, 4], [0, 0, 7]),
        ] {
            let n = global.iter().product::<u32>() as usize;
            let out = d.buffer(n * 48).unwrap();
            launch(
                m,
                "ids",
                Grid::new(global).group(local).offset(offset),
                vec![(&out).into()],
            );
            let dims = if global[2] > 1 || local[2] > 1 {
                3
            } else if global[1] > 1 {
                2
            } else {
                1
            };
            let mut want = Vec::new();
            for z in 0..global[2] {
                for y in 0..global[1] {
                    for x in 0..global[0] {
                        let p = [x, y, z];
                        for k in 0..3 {
                            want.push(p[k] + offset[k]);
                        }
                        for k in 0..3 {
                            want.push(p[k] % local[k]);
                        }
                        for k in 0..3 {
                            want.push(p[k] / local[k]);
                        }
                        want.push(global[0].div_ceil(local[0]));
                        want.push(local[1].min(global[1] - y / local[1] * local[1]));
                        want.push(dims);
                    }
                }
            }
            same(&format!("ids simd{simd} {global:?} {local:?}"), &out, &want);
        }
    });
}

#[test]
fn atomics() {
    at_widths(|d, m, simd| {
        let mut r = Rng(4);
        let n = 700;
        let v: Vec<i32> = (0..n).map(|_| r.wild_i32()).collect();
        let mut a = vec![0i32; 32];
        a[6] = -1;
        let mut u = vec![u32::MAX, 0];
        let (ab, ub) = (d.buffer_from(&a).unwrap(), d.buffer_from(&u).unwrap());
        launch(
            m,
            "atomics",
            line(704, 64),
            vec![
                (&d.buffer_from(&v).unwrap()).into(),
                (&ab).into(),
                (&ub).into(),
                n.into(),
            ],
        );
        for v in v {
            a[0] = a[0].wrapping_add(v);
            a[1] = a[1].wrapping_sub(v);
            a[2] += 1;
            a[3] -= 1;
            a[4] = a[4].min(v);
            a[5] = a[5].max(v);
            a[6] &= v;
            a[7] |= v;
            a[8] ^= v;
            u[0] = u[0].min(v as u32);
            u[1] = u[1].max(v as u32);
            let bin = 16 + (v & 15) as usize;
            a[9] += i32::from(a[bin] == 0);
            a[bin] += 1;
            a[10] += v & 7;
        }
        same(&format!("atomics simd{simd}"), &ab, &a);
        same(&format!("atomics simd{simd}"), &ub, &u);
    });
}

#[test]
fn arrays_constants_and_values() {
    at_widths(|d, m, simd| {
        let mut r = Rng(5);
        let n = 200u32;
        let v: Vec<i32> = (0..n * 16).map(|_| r.below(1 << 20) as i32).collect();
        let input = d.buffer_from(&v).unwrap();
        let out = d.buffer(n as usize * 4).unwrap();
        launch(
            m,
            "private_array",
            line(n, 50),
            vec![(&input).into(), (&out).into()],
        );
        let want: Vec<i32> = (0..n as i32)
            .map(|i| {
                let mut a: Vec<i32> = (0..300).map(|j| j * i).collect();
                let (mut k, mut sum) = (v[i as usize] & 0xff, 0i32);
                for j in 0..40 {
                    a[k as usize] += j;
                    k = k.wrapping_mul(17).wrapping_add(a[k as usize]) % 300;
                    if k < 0 {
                        k += 300;
                    }
                    sum = sum.wrapping_add(a[k as usize]);
                }
                sum
            })
            .collect();
        same(&format!("private_array simd{simd}"), &out, &want);

        launch(
            m,
            "register_array",
            line(n, 50),
            vec![(&input).into(), (&out).into()],
        );
        let want: Vec<i32> = v
            .chunks(16)
            .enumerate()
            .map(|(i, a)| {
                a.iter().fold(0i32, |s, x| {
                    s.wrapping_mul(3)
                        .wrapping_add(a[((x + i as i32) & 15) as usize])
                })
            })
            .collect();
        same(&format!("register_array simd{simd}"), &out, &want);

        launch(
            m,
            "constants",
            line(n, 50),
            vec![(&input).into(), (&out).into()],
        );
        const TABLE: [i32; 20] = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4];
        let want: Vec<i32> = (0..n as usize)
            .map(|i| TABLE[(v[i] % 20) as usize] * 100 + TABLE[i % 20])
            .collect();
        same(&format!("constants simd{simd}"), &out, &want);

        // { int a; float b; char c; short d; long e; float4 f; } with C's padding.
        let mut s = vec![0u8; 48];
        s[0..4].copy_from_slice(&7i32.to_le_bytes());
        s[4..8].copy_from_slice(&0.5f32.to_le_bytes());
        s[8] = -3i8 as u8;
        s[10..12].copy_from_slice(&300i16.to_le_bytes());
        s[16..24].copy_from_slice(&(-5000i64).to_le_bytes());
        s[32..36].copy_from_slice(&1.25f32.to_le_bytes());
        s[44..48].copy_from_slice(&8.0f32.to_le_bytes());
        launch(
            m,
            "by_value",
            line(n, 50),
            vec![
                (&out).into(),
                Arg::bytes(&s),
                [1.0f32, 2.0, 3.0, 0.0].into(),
                200u8.into(),
            ],
        );
        let want: Vec<f32> = (0..n)
            .map(|i| {
                7.0 + 0.5 - 3.0 + 300.0 - 5000.0 + 2.5 + 8.0 + 1.0 + 20.0 + 300.0 + 200.0 + i as f32
            })
            .collect();
        close(&format!("by_value simd{simd}"), &out, &want, 1);
    });
}

#[test]
fn spills() {
    at_widths(|d, m, simd| {
        let mut r = Rng(6);
        let n = 128u32;
        let v: Vec<i32> = (0..n + 48 * 5).map(|_| r.i32()).collect();
        let out = d.buffer(n as usize * 4).unwrap();
        launch(
            m,
            "spill",
            line(n, 64),
            vec![(&d.buffer_from(&v).unwrap()).into(), (&out).into()],
        );
        let want: Vec<i32> = (0..n as usize)
            .map(|i| {
                let a: Vec<i32> = (0..48).map(|j| v[i + j * 3]).collect();
                let b: Vec<i32> = (0..48).map(|j| v[i + j * 5] ^ a[47 - j]).collect();
                let mut s = 0i32;
                for j in 0..48 {
                    s = s
                        .wrapping_mul(7)
                        .wrapping_add(a[j * 11 % 48].wrapping_mul(b[j * 5 % 48]))
                        .wrapping_add(a[j]);
                }
                for j in 0..48 {
                    s = s
                        .wrapping_mul(3)
                        .wrapping_add(a[j * 7 % 48] ^ b[j * 13 % 48]);
                }
                s
            })
            .collect();
        same(&format!("spill simd{simd}"), &out, &want);
    });
}

#[test]
fn faults_end_launches_and_name_the_place() {
    at_widths(|d, m, simd| {
        let p = d.buffer(256).unwrap();
        let far = p.device_address() + 128;
        let e = m
            .kernel("out_of_bounds")
            .unwrap()
            .launch(line(64, 64))
            .arg(&p)
            .arg(far)
            .run();
        // A stateless store faults; through a surface it would vanish.
        if let Err(e) = e {
            let text = e.to_string();
            assert!(text.contains("kernel `out_of_bounds`"), "{text}");
            assert!(text.contains("outside every buffer"), "{text}");
        } else {
            panic!("simd{simd}: the store went somewhere");
        }
        let e = m
            .kernel("endless")
            .unwrap()
            .launch(line(64, 64))
            .arg(&p)
            .run()
            .unwrap_err()
            .to_string();
        assert!(
            e.contains("kernel `endless`, group (0, 0, 0), thread"),
            "{e}"
        );
        assert!(e.contains("without an end"), "{e}");
        let many = simd * 4;
        let q = d.buffer(many as usize * 4).unwrap();
        let e = m
            .kernel("half_barrier")
            .unwrap()
            .launch(line(many, many))
            .arg(&q)
            .run()
            .unwrap_err()
            .to_string();
        assert!(e.contains("the barrier can never complete"), "{e}");
        // The device still works.
        launch(
            m,
            "endless",
            line(1, 1),
            vec![(&d.buffer_from(&[1i32, 0]).unwrap()).into()],
        );
    });
}
