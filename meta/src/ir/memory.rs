//! Memory and synchronization.

use super::row::Class::None as NoClass;
use super::row::Format::{Load, Nullary, Store};
use super::row::Out::{Ctrl, None as NoOut};
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("load", Load, NoClass, Ctrl, "One element per lane from 64-bit addresses; lanes off in the mask keep old: `load.f32x16 v1+4, mask v2, v3`."),
        op("store", Store, NoClass, NoOut, "One element per lane to 64-bit addresses: `store v1, v2+4, mask v3`.").effect(),
        op("bload", Load, NoClass, Ctrl, "Consecutive elements from one 64-bit address, a multiple of the element size."),
        op("bstore", Store, NoClass, NoOut, "Consecutive elements to one 64-bit address, a multiple of the element size.").effect(),
        op("barrier", Nullary, NoClass, NoOut, "Waits until every thread of the work-group is here.").effect(),
        op("fence", Nullary, NoClass, NoOut, "Orders memory accesses before it before those after it.").effect(),
    ]
}
