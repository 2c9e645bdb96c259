//! Vector types, loads and stores of every size. Kernels that read their neighbour's element run as
//! one thread, whose channels all read before any writes.

use super::super::case::{Case, any, within, zero};

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("vector", kernel);
    vec![
        case("swizzles")
            .line(60, 20)
            .buffer::<f32>(480, zero)
            .ulps_of(1.0, 100.0)
            .buffer::<f32>(480, within(-10.0, 10.0)),
        case("dynamic_shuffle")
            .line(8, 8)
            .buffer::<i32>(36, any)
            .buffer::<u32>(32, any),
        case("unaligned")
            .line(64, 32)
            .buffer::<u8>(512, zero)
            .buffer::<u8>(1024, any)
            .scalar(256),
        case("select_lanes")
            .line(64, 16)
            .buffer::<i32>(512, any)
            .buffer::<i32>(512, any)
            .buffer::<f32>(260, within(-1.0, 1.0))
            .buffer::<f32>(256, zero),
        case("long_vectors")
            .line(64, 32)
            .buffer::<i64>(256, any)
            .buffer::<i32>(256, any)
            .buffer::<u64>(130, any),
        case("byte_dot")
            .line(128, 64)
            .buffer::<i32>(128, zero)
            .buffer::<i8>(512, any)
            .buffer::<i8>(512, any)
            .buffer::<u8>(512, any),
        case("reversed")
            .line(96, 32)
            .buffer::<f32>(384, zero)
            .buffer::<f32>(384, within(-9.0, 9.0))
            .buffer::<i16>(192, zero)
            .buffer::<u8>(384, any),
        case("add_to_wide")
            .line(96, 32)
            .buffer::<i32>(1536, any)
            .buffer::<i32>(1536, zero),
        case("wide_copy")
            .line(8, 8)
            .buffer::<u32>(128, zero)
            .buffer::<u32>(128, any)
            .buffer::<u64>(72, any),
    ]
}
