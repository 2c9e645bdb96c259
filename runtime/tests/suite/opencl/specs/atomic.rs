//! Atomics. Where the result depends on their order, one work-item runs.

use super::super::case::{Case, any, within, zero};
use crate::rng::Rng;

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("atomic", kernel);
    let groups = [
        ("groups of 16", 16),
        ("groups of 32", 32),
        ("groups of 128", 128),
        ("groups of 250", 250),
        ("groups of 256", 256),
    ];
    let histograms = groups.map(|(label, n)| {
        case("local_histogram")
            .label(label)
            .line(5 * n, n)
            .buffer::<u32>(80, zero)
            .buffer::<u32>(5 * n as usize, any)
    });
    let others = vec![
        case("atomic_ints")
            .buffer::<i32>(12, any)
            .buffer::<u32>(2, any)
            .buffer::<i32>(1, zero)
            .scalar(77),
        case("atomics_of_many")
            .line(704, 64)
            .buffer::<i32>(700, any)
            .buffer::<i32>(32, |_, i| if i == 6 { -1 } else { 0 })
            .buffer::<u32>(2, |_, i| if i == 0 { u32::MAX } else { 0 })
            .scalar(700),
        case("histogram")
            .line(200, 50)
            .buffer::<u32>(256, zero)
            .buffer::<u8>(1000, |r: &mut Rng, _| r.u64() as u8)
            .local::<u32>(256)
            .scalar(1000),
        // Whole numbers, so that their sum is exact in any order.
        case("float_add_by_exchange")
            .line(200, 64)
            .buffer::<f32>(1, zero)
            .buffer::<f32>(200, |r: &mut Rng, _| r.below(1000) as f32),
        case("float_exchange")
            .buffer::<f32>(1, within(1.0, 2.0))
            .local::<f32>(1)
            .buffer::<f32>(1, within(1.0, 2.0)),
        case("ordered")
            .buffer::<i32>(3, |_, i| [5, 0, 3][i])
            .buffer::<i32>(3, zero)
            .buffer::<u32>(1, |_, _| 9)
            .expect(|m, _| {
                m.set(0, [5, 1, 4]);
                m.set(1, [0, 5 + 9, 3]);
                m.set(2, [10u32]);
            }),
        Case::new("atomic64", "atomic_quads")
            .buffer::<i64>(6, any)
            .buffer::<u64>(2, any)
            .buffer::<i64>(1, zero)
            .scalar(1i64 << 40 | 77),
        Case::new("atomic64", "atomics_of_many_quads")
            .line(256, 64)
            .buffer::<i64>(4, any)
            .buffer::<i64>(256, any),
    ];
    histograms.into_iter().chain(others).collect()
}
