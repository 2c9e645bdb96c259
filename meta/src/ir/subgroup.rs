//! Operations among the lanes of a vector, and the thread's place in its group.

use super::row::Class::{Data, Float, Int, None as NoClass};
use super::row::Format::{Binary, Nullary, Unary};
use super::row::Out::{Ctrl, Lane, Same, Special};
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("reduce_iadd", Unary, Int, Lane, "The sum of all lanes, low bits: one lane."),
        op("reduce_imul", Unary, Int, Lane, "The product of all lanes, low bits."),
        op("reduce_smin", Unary, Int, Lane, "The signed minimum of all lanes."),
        op("reduce_smax", Unary, Int, Lane, "The signed maximum of all lanes."),
        op("reduce_umin", Unary, Int, Lane, "The unsigned minimum of all lanes."),
        op("reduce_umax", Unary, Int, Lane, "The unsigned maximum of all lanes."),
        op("reduce_band", Unary, Int, Lane, "The bitwise and of all lanes."),
        op("reduce_bor", Unary, Int, Lane, "The bitwise or of all lanes."),
        op("reduce_bxor", Unary, Int, Lane, "The bitwise exclusive or of all lanes."),
        op("reduce_fadd", Unary, Float, Lane, "The sum of all lanes: of n lanes the last n / 2 are added to the first, until one is left."),
        op("reduce_fmul", Unary, Float, Lane, "The product of all lanes, in the order of `reduce_fadd`."),
        op("reduce_fmin", Unary, Float, Lane, "The minimum of all lanes that are numbers."),
        op("reduce_fmax", Unary, Float, Lane, "The maximum of all lanes that are numbers."),
        op("scan_iadd", Unary, Int, Same, "In each lane the sum of it and those before it, low bits."),
        op("scan_imul", Unary, Int, Same, "In each lane the product of it and those before it, low bits."),
        op("scan_smin", Unary, Int, Same, "In each lane the signed minimum of it and those before it."),
        op("scan_smax", Unary, Int, Same, "In each lane the signed maximum of it and those before it."),
        op("scan_umin", Unary, Int, Same, "In each lane the unsigned minimum of it and those before it."),
        op("scan_umax", Unary, Int, Same, "In each lane the unsigned maximum of it and those before it."),
        op("scan_band", Unary, Int, Same, "In each lane the bitwise and of it and those before it."),
        op("scan_bor", Unary, Int, Same, "In each lane the bitwise or of it and those before it."),
        op("scan_bxor", Unary, Int, Same, "In each lane the bitwise exclusive or of it and those before it."),
        op("scan_fadd", Unary, Float, Same, "In each lane the sum of it and those before it: for d = 1, 2, 4 and so on, in each 2 d lanes the last of the first d is added to each of the others."),
        op("scan_fmul", Unary, Float, Same, "In each lane the product of it and those before it, in the order of `scan_fadd`."),
        op("scan_fmin", Unary, Float, Same, "In each lane the minimum of it and those before it that are numbers."),
        op("scan_fmax", Unary, Float, Same, "In each lane the maximum of it and those before it that are numbers."),
        op("shuffle", Binary, Data, Special, "Lanes of a vector by their numbers, unsigned integers of which those that are too large count as the last lane: `shuffle v1, v2`."),
        op("subgroup_id", Nullary, NoClass, Ctrl, "`i32`: the thread's number in its work-group: that of its first work-item, in a group as large as launched, by the SIMD width."),
        op("subgroup_count", Nullary, NoClass, Ctrl, "`i32`: threads of a work-group as large as launched."),
        op("hw_thread_id", Nullary, NoClass, Ctrl, "`i32`: the number of the hardware thread: no other that runs meanwhile has it. The interpreter gives the thread's number in its group."),
        op("eu_id", Nullary, NoClass, Ctrl, "`i32`: the EU in its subslice that the thread runs on; the interpreter knows one."),
        op("eu_thread_id", Nullary, NoClass, Ctrl, "`i32`: the thread's number on its EU."),
        op("subslice_id", Nullary, NoClass, Ctrl, "`i32`: the subslice in its slice that the thread runs on."),
        op("slice_id", Nullary, NoClass, Ctrl, "`i32`: the slice that the thread runs on."),
        op("cycles", Nullary, NoClass, Ctrl, "`i64`: a count that goes on with time, and never back; what a step of it is, is not said.").effect(),
    ]
}
