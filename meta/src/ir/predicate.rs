//! Compares, predicates and SIMD control flow.

use super::row::Class::{Any, Float, I32, Int, None as NoClass, Pred};
use super::row::Format::{
    Binary, FloatCompare, IntCompare, Nullary, RdPred, Ternary, Unary, WrPred,
};
use super::row::Out::{Ctrl, Lanes, One, Same, Special};
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("icmp", IntCompare, Int, Lanes, "Compares integers: `icmp slt v1, v2`."),
        op("fcmp", FloatCompare, Float, Lanes, "Compares floats: `fcmp lt v1, v2`; a NaN makes all but `ne` false."),
        op("any", Unary, Pred, One, "Whether any lane is set."),
        op("all", Unary, Pred, One, "Whether all lanes are set."),
        op("rdpred", RdPred, Pred, Ctrl, "Lanes of a predicate from a lane offset: `rdpred.b1x8 v1, 8`."),
        op("wrpred", WrPred, Pred, Same, "A predicate with lanes from a lane offset replaced: `wrpred v1, v2, 8`."),
        op("pred_to_bits", Unary, Pred, Ctrl, "`i32`: bit i is lane i, the rest zero."),
        op("bits_to_pred", Unary, I32, Ctrl, "Lane i is bit i of an `i32`."),
        op("select", Ternary, Any, Special, "Per lane: mask ? a : b."),
        op("dispatch_mask", Nullary, NoClass, Ctrl, "`b1xN`, N the kernel's SIMD width: which work-items of the thread exist."),
        op("goto", Ternary, Pred, Special, "(em, rm, cond): channels of em with cond leave. `em & ~cond`, `rm | (em & cond)`, and whether none is left."),
        op("join", Binary, Pred, Special, "(em, rm): the channels that left come back. `em | rm`, and whether none is there."),
    ]
}
