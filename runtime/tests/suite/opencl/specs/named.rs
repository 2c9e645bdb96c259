//! Named barriers, and functions of groups of several dimensions. The expectation is computed here.

use super::super::case::{Case, Memory, any, within, zero};

/// Work-items of a launch in two dimensions, and of its groups. The driver has hardware walk a
/// dimension that is no power of two last. Scans would then go in another order on DG2.
const GLOBAL: [usize; 2] = [24, 8];
const LOCAL: [usize; 2] = [8, 4];

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in [8, 16, 32] {
        let n = 8 * width as usize;
        // Groups of four sub-groups.
        cases.push(
            Case::new("named", "named_barriers")
                .only(width)
                .line(8 * width, 4 * width)
                .buffer::<i32>(n, zero)
                .buffer::<i32>(n, any)
                .local::<i32>(n / 2)
                .expect(|m, width| {
                    let x = m.get::<i32>(1);
                    m.fill(0, |i| {
                        let other = x[i ^ width as usize];
                        let step =
                            |r: i32, k| r.wrapping_mul(3).wrapping_add(other.wrapping_add(k));
                        (0..3).fold(0, step)
                    });
                }),
        );
    }
    let [w, h] = GLOBAL.map(|n| n as u32);
    let [lw, lh] = LOCAL.map(|n| n as u32);
    cases.push(
        Case::new("named", "group_functions_2d")
            .grid([w, h, 1], [lw, lh, 1])
            .buffer::<i64>((w * h) as usize, zero)
            .buffer::<i32>((w * h) as usize, within(-100.0, 100.0))
            .expect(group_functions),
    );
    cases
}

fn group_functions(m: &mut Memory, width: u32) {
    let x = m.get::<i32>(1);
    m.fill(0, |at| {
        let (gx, gy) = (at % GLOBAL[0], at / GLOBAL[0]);
        let [bx, by] = [gx / LOCAL[0] * LOCAL[0], gy / LOCAL[1] * LOCAL[1]];
        // Values of the group in the order of their linear ids.
        let of = |i: usize| x[(by + i / LOCAL[0]) * GLOBAL[0] + bx + i % LOCAL[0]];
        let group: Vec<i32> = (0..LOCAL[0] * LOCAL[1]).map(of).collect();
        let linear = (gy - by) * LOCAL[0] + gx - bx;
        let sum = |x: &[i32]| x.iter().map(|v| i64::from(*v)).sum::<i64>();
        let mut r = (sum(&group) << 20) + sum(&group[..=linear]);
        r += i64::from(of(2 * LOCAL[0] + 1)) + 3 * i64::from(*group.iter().min().unwrap());
        r += i64::from(group.iter().map(|v| v & 1023).max().unwrap());
        r += i64::from(group[..linear].iter().copied().max().unwrap_or(i32::MIN));
        r += 2 * i64::from(group.contains(&77)) + 4 * i64::from(!group.contains(&77));
        let threads = group.len().div_ceil(width as usize);
        r + (linear + 3 * at + linear / width as usize + threads) as i64
    });
}
