//! Branches, loops, switches and calls. Kernels that read what others write begin at an offset
//! after what they read.

use super::super::case::{Case, any, within, zero};
use crate::rng::Rng;

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("control", kernel);
    let rounds = [
        ("not", 0),
        ("once", 1),
        ("13 times", 13),
        ("25 times", 25),
        ("40 times", 40),
    ];
    let nested = rounds.map(|(label, n)| {
        case("nested_loops")
            .label(label)
            .line(500, 100)
            .buffer::<i32>(500, within(-100.0, 900.0))
            .buffer::<i32>(500, zero)
            .scalar(n)
    });
    let others = vec![
        case("nested_ifs")
            .line(250, 50)
            .offset([16, 0, 0])
            .buffer::<i32>(266, any)
            .buffer::<i32>(266, any)
            .scalar(100),
        // All that write element 4 write the same.
        case("switches")
            .line(300, 64)
            .offset([16, 0, 0])
            .buffer::<i32>(316, any)
            .buffer::<i32>(316, |r: &mut Rng, _| match r.u64() as i32 {
                v if v & 15 == 4 => 4,
                v => v,
            }),
        case("break_and_continue")
            .line(200, 40)
            .buffer::<i32>(200, zero)
            .buffer::<i32>(2400, within(-4.0, 13.0))
            .scalar(12),
        case("gotos")
            .line(256, 64)
            .offset([2, 0, 0])
            .buffer::<i32>(258, any)
            .buffer::<i32>(258, within(2.0, 300.0))
            .scalar(0),
        case("collatz").line(300, 60).buffer::<u32>(300, zero),
        case("collatz_up_to")
            .line(500, 50)
            .buffer::<u32>(500, zero)
            .buffer::<u32>(500, within(1.0, 100_000.0))
            .scalar(200u32),
        // Its barrier is for all or for none.
        case("early_return")
            .line(128, 64)
            .buffer::<f32>(128, within(0.0, 1.0))
            .buffer::<f32>(128, within(0.0, 1.0))
            .scalar(128),
        case("calls")
            .line(100, 50)
            .buffer::<f32>(100, zero)
            .ulps(16.0)
            .buffer::<f32>(8, within(0.1, 1.0))
            .scalar(4),
        case("calls_with_vectors")
            .line(64, 64)
            .buffer::<f32>(256, zero)
            .ulps_of(16.0, 4.0)
            .buffer::<f32>(260, within(-2.0, 2.0))
            .buffer::<f32>(4, within(0.1, 1.0))
            .scalar(0.7f32),
        case("uniform_branches")
            .label("mode 1")
            .line(64, 64)
            .buffer::<i32>(64, any)
            .scalar(1)
            .scalar(5),
        case("uniform_branches")
            .label("mode 2")
            .line(64, 32)
            .buffer::<i32>(64, any)
            .scalar(2)
            .scalar(0),
    ];
    nested.into_iter().chain(others).collect()
}
