//! Rows of operations across the lanes of a vector, and of the thread's position in its group.

use super::format::Format::{Binary, Nullary, Unary};
use super::row::Class::{Data, Float, Int, None as NoClass};
use super::row::Out::{Ctrl, Lane, Same, Special};
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("reduce_iadd", Unary, Int, Lane, "Sum of all lanes, low bits: one lane."),
        op("reduce_imul", Unary, Int, Lane, "Product of all lanes, low bits."),
        op("reduce_smin", Unary, Int, Lane, "Signed minimum of all lanes."),
        op("reduce_smax", Unary, Int, Lane, "Signed maximum of all lanes."),
        op("reduce_umin", Unary, Int, Lane, "Unsigned minimum of all lanes."),
        op("reduce_umax", Unary, Int, Lane, "Unsigned maximum of all lanes."),
        op("reduce_band", Unary, Int, Lane, "Bitwise and of all lanes."),
        op("reduce_bor", Unary, Int, Lane, "Bitwise or of all lanes."),
        op("reduce_bxor", Unary, Int, Lane, "Bitwise exclusive or of all lanes."),
        op("reduce_fadd", Unary, Float, Lane, "Sum of all lanes: of n lanes the last n / 2 are added to the first, until one is left."),
        op("reduce_fmul", Unary, Float, Lane, "Product of all lanes, in the order of `reduce_fadd`."),
        op("reduce_fmin", Unary, Float, Lane, "Minimum of all lanes that are numbers."),
        op("reduce_fmax", Unary, Float, Lane, "Maximum of all lanes that are numbers."),
        op("scan_iadd", Unary, Int, Same, "Sum of each lane and those before it, low bits."),
        op("scan_imul", Unary, Int, Same, "Product of each lane and those before it, low bits."),
        op("scan_smin", Unary, Int, Same, "Signed minimum of each lane and those before it."),
        op("scan_smax", Unary, Int, Same, "Signed maximum of each lane and those before it."),
        op("scan_umin", Unary, Int, Same, "Unsigned minimum of each lane and those before it."),
        op("scan_umax", Unary, Int, Same, "Unsigned maximum of each lane and those before it."),
        op("scan_band", Unary, Int, Same, "Bitwise and of each lane and those before it."),
        op("scan_bor", Unary, Int, Same, "Bitwise or of each lane and those before it."),
        op("scan_bxor", Unary, Int, Same, "Bitwise exclusive or of each lane and those before it."),
        op("scan_fadd", Unary, Float, Same, "Sum of each lane and those before it: for d = 1, 2, 4 and so on, in each 2 d lanes the last of the first d is added to each of the others."),
        op("scan_fmul", Unary, Float, Same, "Product of each lane and those before it, in the order of `scan_fadd`."),
        op("scan_fmin", Unary, Float, Same, "Minimum of each lane and those before it that are numbers."),
        op("scan_fmax", Unary, Float, Same, "Maximum of each lane and those before it that are numbers."),
        op("shuffle", Binary, Data, Special, "Lanes of a vector by index, an unsigned integer; indices that are too large select the last lane: `shuffle v1, v2`."),
        op("subgroup_id", Nullary, NoClass, Ctrl, "`i32`: index of the thread in its work-group: that of its first work-item, in a group as large as launched, divided by the SIMD width."),
        op("subgroup_count", Nullary, NoClass, Ctrl, "`i32`: number of threads of a work-group as large as launched."),
        op("hw_thread_id", Nullary, NoClass, Ctrl, "`i32`: number of the hardware thread, which no other concurrent thread has. The interpreter returns the thread's index in its group."),
        op("eu_id", Nullary, NoClass, Ctrl, "`i32`: number of the thread's EU in its subslice; the interpreter has one EU."),
        op("eu_thread_id", Nullary, NoClass, Ctrl, "`i32`: number of the thread on its EU."),
        op("subslice_id", Nullary, NoClass, Ctrl, "`i32`: number of the thread's subslice in its slice."),
        op("slice_id", Nullary, NoClass, Ctrl, "`i32`: number of the thread's slice."),
        op("cycles", Nullary, NoClass, Ctrl, "`i64`: monotonic counter of time in an unspecified unit.").effect(),
    ]
}
