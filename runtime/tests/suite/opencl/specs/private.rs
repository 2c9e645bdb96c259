//! Private memory: arrays, indirect registers, spills, structures.

use super::super::case::{Case, Element, Memory, any, within, zero};
use crate::rng::Rng;

/// Encodes { char kind; short weight; int id; float3 position; ulong mask; } with C's padding. Its
/// floats are such that no operation rounds.
fn body(kind: i8, weight: i16, id: i32, position: [f32; 3], mask: u64) -> Vec<u8> {
    let mut b = vec![kind as u8, 0];
    weight.put(&mut b);
    id.put(&mut b);
    b.resize(16, 0);
    position.into_iter().for_each(|p| p.put(&mut b));
    b.resize(32, 0);
    mask.put(&mut b);
    b.resize(48, 0);
    b
}

/// Encodes { int a; float b; char c; short d; long e; float4 f; } with C's padding.
fn mixed() -> Vec<u8> {
    let mut b = Vec::new();
    7i32.put(&mut b);
    0.5f32.put(&mut b);
    b.extend([-3i8 as u8, 0]);
    300i16.put(&mut b);
    b.resize(16, 0);
    (-5000i64).put(&mut b);
    b.resize(32, 0);
    [1.25f32, 0.0, 0.0, 8.0]
        .into_iter()
        .for_each(|v| v.put(&mut b));
    b
}

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("private", kernel);
    let mut r = Rng(6);
    let bodies: Vec<u8> = (0..64)
        .flat_map(|_| {
            let mut place = || r.below(64) as f32 * 0.25;
            let position = [place(), place(), place()];
            body(
                r.below(3) as i8,
                r.below(100) as i16,
                r.u64() as i32,
                position,
                r.u64(),
            )
        })
        .collect();
    vec![
        case("small_array")
            .line(200, 50)
            .buffer::<i32>(200, zero)
            .buffer::<i32>(1600, any),
        case("register_array")
            .line(200, 50)
            .buffer::<i32>(200, zero)
            .buffer::<i32>(3200, any),
        case("scrambled_array")
            .line(200, 50)
            .buffer::<i32>(200, zero)
            .buffer::<i32>(200, any),
        case("large_array")
            .line(64, 64)
            .buffer::<f32>(64, zero)
            .buffer::<f32>(264, within(0.0, 1000.0))
            .scalar(200),
        case("byte_array")
            .line(100, 50)
            .buffer::<u8>(100, zero)
            .buffer::<u8>(116, any)
            .scalar(5),
        case("spills")
            .line(64, 32)
            .buffer::<f32>(64 * 96, zero)
            .ulps_of(32.0, 1.0)
            .buffer::<f32>(64 * 96, within(-1.0, 1.0)),
        case("int_spills")
            .line(128, 64)
            .buffer::<i32>(128, zero)
            .buffer::<i32>(128 + 48 * 5, any),
        case("structures")
            .line(64, 32)
            .buffer::<u8>(bodies.len(), |_, i| bodies[i])
            .scalar(0.5f32)
            .structure(body(1, 0, 0, [1.0, -2.0, 4.0], 0)),
        case("values")
            .line(200, 50)
            .buffer::<f32>(200, zero)
            .structure(mixed())
            .value([1.0f32, 2.0, 3.0, 0.0])
            .scalar(200u8),
        case("unions")
            .line(128, 64)
            .buffer::<u32>(128, zero)
            .buffer::<f32>(128, any),
        case("constants")
            .line(128, 64)
            .buffer::<f32>(128, zero)
            .ulps(2.0)
            .buffer::<u32>(128, any)
            .buffer::<f32>(16, within(1.0, 2.0)),
        case("constant_ints")
            .line(200, 50)
            .buffer::<i32>(200, zero)
            .buffer::<u32>(200, any),
        case("generic_pointers")
            .label("global")
            .buffer::<i32>(8, any)
            .local::<i32>(4)
            .scalar(0)
            .expect(|m, _| {
                let g: Vec<i32> = m.get(0);
                let sum = g[..4].iter().fold(0i32, |s, v| s.wrapping_add(*v));
                m.fill(0, |i| if i == 0 { sum } else { g[i] });
            }),
        case("generic_pointers")
            .label("local")
            .line(128, 64)
            .buffer::<i32>(132, any)
            .local::<i32>(64)
            .scalar(1)
            .expect(|m, _| {
                let g: Vec<i32> = m.get(0);
                let sum = |i: usize| g[i..i + 4].iter().fold(1i32, |s, v| s.wrapping_add(*v));
                m.fill(0, |i| if i < 128 { sum(i / 64 * 64) } else { g[i] });
            }),
        case("generic_pointers")
            .label("private")
            .buffer::<i32>(8, any)
            .local::<i32>(4)
            .scalar(2)
            .expect(|m, _| {
                let g: Vec<i32> = m.get(0);
                let sum = g[0].wrapping_add(g[1]).wrapping_add(9);
                m.fill(0, |i| if i == 0 { sum } else { g[i] });
            }),
        case("generic_kinds")
            .line(128, 32)
            .buffer::<i32>(128, any)
            .buffer::<i32>(128, zero)
            .local::<i32>(32)
            .buffer::<i32>(1, zero)
            .local::<i32>(1)
            .expect(generic_kinds)
            .theirs(
                &["skl", "kbl", "bxt", "icllp", "tgllp", "dg2", "pvc"],
                "from Gen9 on Intel's compiler leaves pointers to private memory untagged: to_global gives them, to_private does not",
            ),
        case("many_arguments")
            .grid([20, 6, 4], [10, 3, 2])
            .offset([5, 2, 1])
            .buffer::<i32>(200, zero)
            .buffer::<i32>(200, any)
            .buffer::<i32>(200, any)
            .scalar(-3i8)
            .scalar(1234i16)
            .scalar(56_789)
            .scalar(-5_000_000_000i64)
            .scalar(2.75f32)
            .value([1, 2, 3, 4])
            .value([5u8, 6, 7, 0])
            .buffer::<i32>(200, any)
            .buffer::<i32>(200, any),
    ]
}

/// Computes what each work-item reads and writes through its pointer, and adds to one of two sums.
fn generic_kinds(m: &mut Memory, _: u32) {
    let g: Vec<i32> = m.get(0);
    let (mut left, mut out, mut all) = (g.clone(), vec![0i32; g.len()], 0i32);
    for (group, items) in g.chunks(32).enumerate() {
        let mut own = 0i32;
        let first = group * 32;
        for (i, &x) in items.iter().enumerate() {
            let mut t = x ^ 5;
            let mut r = 0i32;
            match x.wrapping_add(i as i32) & 3 {
                0 => {
                    r = x.wrapping_add(1);
                    left[first + i] = r.wrapping_add(1);
                }
                1 => r = items[i ^ 1].wrapping_mul(3).wrapping_add(2 + 8),
                2 => {
                    r = t.wrapping_add(4);
                    t = r.wrapping_add(1);
                }
                _ => t = 0,
            }
            r = r.wrapping_add(t.wrapping_mul(16));
            let sum = if x & 1 == 1 { &mut all } else { &mut own };
            *sum = sum.wrapping_add(r);
            out[first + i] = r;
        }
        out[first] ^= own;
    }
    m.set(0, left);
    m.set(1, out);
    m.set(2, [all]);
}
