//! Rows of compares, predicates and SIMD control flow.

use super::format::Format::{
    Binary, FloatCompare, IntCompare, Nullary, RdPred, Ternary, Unary, WrPred,
};
use super::row::Class::{Any, Float, I32, Int, None as NoClass, Pred};
use super::row::Out::{Ctrl, Lanes, One, Same, Special};
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("icmp", IntCompare, Int, Lanes, "Compares integers: `icmp slt v1, v2`."),
        op("fcmp", FloatCompare, Float, Lanes, "Compares floats: `fcmp lt v1, v2`; with a NaN all conditions but `ne` are false."),
        op("any", Unary, Pred, One, "Set if any lane is set."),
        op("all", Unary, Pred, One, "Set if all lanes are set."),
        op("rdpred", RdPred, Pred, Ctrl, "Lanes of a predicate from a lane offset: `rdpred.b1x8 v1, 8`."),
        op("wrpred", WrPred, Pred, Same, "Predicate with lanes from a lane offset replaced: `wrpred v1, v2, 8`."),
        op("pred_to_bits", Unary, Pred, Ctrl, "`i32`: bit i is lane i, all others are zero."),
        op("bits_to_pred", Unary, I32, Ctrl, "Lane i is bit i of an `i32`."),
        op("select", Ternary, Any, Special, "Per lane: mask ? a : b."),
        op("dispatch_mask", Nullary, NoClass, Ctrl, "`b1xN`, N the kernel's SIMD width: mask of the work-items of the thread that exist."),
        op("goto", Ternary, Pred, Special, "(em, rm, cond): disables channels of em with cond. Returns `em & ~cond`, `rm | (em & cond)`, and a `b1` that is set if none is left."),
        op("join", Binary, Pred, Special, "(em, rm): enables the channels that left. Returns `em | rm`, and a `b1` that is set if there is none."),
    ]
}
