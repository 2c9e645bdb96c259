//! Rows of constants, launch values, conversions and regions.

use super::format::Format::{Binary, Imm, ImmVec, Launch, Nullary, RdRegion, Unary, WrRegion};
use super::row::Class::{Any, Data, Float, Int, None as NoClass};
use super::row::Out::{Ctrl, Same};
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("undef", Nullary, NoClass, Ctrl, "Any value; the interpreter returns zero."),
        op("iconst", Imm, Int, Ctrl, "An integer in every lane."),
        op("fconst", Imm, Float, Ctrl, "A float in every lane."),
        op("vconst", ImmVec, Data, Ctrl, "A constant per lane."),
        op("group_id", Launch, NoClass, Ctrl, "`i32`: index of the work-group in a dimension."),
        op("local_id", Launch, NoClass, Ctrl, "`i16xN`, N the kernel's SIMD width: index of each work-item in its group."),
        op("local_size", Launch, NoClass, Ctrl, "`i32`: number of work-items of a group, as launched."),
        op("group_count", Launch, NoClass, Ctrl, "`i32`: number of work-groups of the launch."),
        op("global_size", Launch, NoClass, Ctrl, "`i32`: number of work-items of the launch."),
        op("global_offset", Launch, NoClass, Ctrl, "`i32`: offset of the launch's global ids."),
        op("work_dim", Nullary, NoClass, Ctrl, "`i32`: number of dimensions of the launch, up to the last with several work-items, at least one."),
        op("sextend", Unary, Int, Ctrl, "To a wider integer, signed."),
        op("uextend", Unary, Int, Ctrl, "To a wider integer, unsigned."),
        op("ireduce", Unary, Int, Ctrl, "To a narrower integer, low bits."),
        op("sstrunc_sat", Unary, Int, Ctrl, "To a narrower integer, clamped: signed to signed."),
        op("sutrunc_sat", Unary, Int, Ctrl, "To a narrower integer, clamped: signed to unsigned."),
        op("ustrunc_sat", Unary, Int, Ctrl, "To a narrower integer, clamped: unsigned to signed."),
        op("uutrunc_sat", Unary, Int, Ctrl, "To a narrower integer, clamped: unsigned to unsigned."),
        op("fcvt_from_sint", Unary, Int, Ctrl, "To float from signed integers, rounded as the function says."),
        op("fcvt_from_sint_rte", Unary, Int, Ctrl, "To float from signed integers, rounded to nearest even."),
        op("fcvt_from_sint_rtz", Unary, Int, Ctrl, "To float from signed integers, rounded toward zero."),
        op("fcvt_from_sint_rtp", Unary, Int, Ctrl, "To float from signed integers, rounded up."),
        op("fcvt_from_sint_rtn", Unary, Int, Ctrl, "To float from signed integers, rounded down."),
        op("fcvt_from_uint", Unary, Int, Ctrl, "To float from unsigned integers, rounded as the function says."),
        op("fcvt_from_uint_rte", Unary, Int, Ctrl, "To float from unsigned integers, rounded to nearest even."),
        op("fcvt_from_uint_rtz", Unary, Int, Ctrl, "To float from unsigned integers, rounded toward zero."),
        op("fcvt_from_uint_rtp", Unary, Int, Ctrl, "To float from unsigned integers, rounded up."),
        op("fcvt_from_uint_rtn", Unary, Int, Ctrl, "To float from unsigned integers, rounded down."),
        op("fcvt_to_sint", Unary, Float, Ctrl, "To signed integers, toward zero, clamped; NaN is 0."),
        op("fcvt_to_sint_rte", Unary, Float, Ctrl, "To signed integers, rounded to nearest even, clamped; NaN is 0."),
        op("fcvt_to_sint_rtp", Unary, Float, Ctrl, "To signed integers, rounded up, clamped; NaN is 0."),
        op("fcvt_to_sint_rtn", Unary, Float, Ctrl, "To signed integers, rounded down, clamped; NaN is 0."),
        op("fcvt_to_uint", Unary, Float, Ctrl, "To unsigned integers, toward zero, clamped; NaN is 0."),
        op("fcvt_to_uint_rte", Unary, Float, Ctrl, "To unsigned integers, rounded to nearest even, clamped; NaN is 0."),
        op("fcvt_to_uint_rtp", Unary, Float, Ctrl, "To unsigned integers, rounded up, clamped; NaN is 0."),
        op("fcvt_to_uint_rtn", Unary, Float, Ctrl, "To unsigned integers, rounded down, clamped; NaN is 0."),
        op("fpromote", Unary, Float, Ctrl, "To a wider float."),
        op("fdemote", Unary, Float, Ctrl, "To a narrower float, rounded as the function says."),
        op("fdemote_rte", Unary, Float, Ctrl, "To a narrower float, rounded to nearest even."),
        op("fdemote_rtz", Unary, Float, Ctrl, "To a narrower float, rounded toward zero."),
        op("fdemote_rtp", Unary, Float, Ctrl, "To a narrower float, rounded up."),
        op("fdemote_rtn", Unary, Float, Ctrl, "To a narrower float, rounded down."),
        op("fdemote_bf16_rte", Unary, Float, Ctrl, "Bits of a single-precision float converted to bfloat16, rounded to nearest even: `fdemote_bf16_rte.i16x8 v1`. A NaN stays a NaN, and becomes quiet."),
        op("fdemote_tf32_rte", Unary, Float, Ctrl, "Bits of a single-precision float rounded to TF32, to nearest even, in the upper 19 bits of a dword: `fdemote_tf32_rte.i32x8 v1`. A NaN becomes the quiet NaN of its sign."),
        op("fdemote_bf8_rte", Unary, Float, Ctrl, "Bits of a half-precision float converted to bfloat8 (5 bits of exponent, 2 of fraction), rounded to nearest even: `fdemote_bf8_rte.i8x8 v1`. A NaN becomes the quiet NaN of its sign."),
        op("fpromote_bf8", Unary, Int, Ctrl, "Bits of bfloat8 to a half-precision float: `fpromote_bf8.f16x8 v1`. A NaN becomes the quiet NaN of its sign."),
        op("fdemote_stochastic", Binary, Float, Ctrl, "Singles to halves, or halves to bits of bfloat8 (`i8`), rounded at random: the lowest 13 or 8 bits of the second operand are added to those of the first, and what is below the last place is dropped. Denormals are kept. `fdemote_stochastic.f16x8 v1, v2`."),
        op("bitcast", Unary, Data, Ctrl, "Same bytes as another type of the same size."),
        op("rdregion", RdRegion, Data, Ctrl, "Lanes of a region of a vector: `rdregion.f32x8 v1, <16;8,1>, 32`."),
        op("wrregion", WrRegion, Data, Same, "Vector with a region replaced: `wrregion v1, <8;8,1>, 32, v3, mask v4`."),
        op("bconst", Imm, Any, Ctrl, "A predicate; bit i is lane i."),
    ]
}
