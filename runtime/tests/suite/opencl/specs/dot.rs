//! Dot products of packed bytes, which pocl lacks. The expectation is computed here.

use super::super::case::{Case, Memory, any, zero};

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("dot", "packed_dots")
            .line(128, 64)
            .buffer::<i32>(128, zero)
            .buffer::<u32>(128, any)
            .buffer::<u32>(128, any)
            .expect(packed_dots),
        Case::new("dot", "byte_convolution")
            .line(100, 50)
            .buffer::<i32>(100, zero)
            .buffer::<i8>(440, any)
            .buffer::<i8>(40, any)
            .scalar(9)
            .expect(|m, _| {
                let (a, k) = (m.get::<i8>(1), m.get::<i8>(2));
                m.fill(0, |i| {
                    let products = (0..36).map(|j| i32::from(a[i * 4 + j]) * i32::from(k[j]));
                    products.sum::<i32>()
                });
            }),
    ]
}

fn packed_dots(m: &mut Memory, _: u32) {
    let (a, b) = (m.get::<u32>(1), m.get::<u32>(2));
    m.fill(0, |i| {
        let pairs = || a[i].to_le_bytes().into_iter().zip(b[i].to_le_bytes());
        let (s, u) = (|x: u8| i32::from(x as i8), |x: u8| i32::from(x));
        let ss: i32 = pairs().map(|(x, y)| s(x) * s(y)).sum();
        let su: i32 = pairs().map(|(x, y)| s(x) * u(y)).sum();
        let uu: i32 = pairs().map(|(x, y)| u(x) * u(y)).sum();
        // No sum is saturated: this compiler's `dot_acc_sat` does not.
        1000 + ss + su + ss - 5 + 100 + uu
    });
}
