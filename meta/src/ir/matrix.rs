//! Rows of matrix products.

use super::format::Format::Dpas;
use super::row::Class::None as NoClass;
use super::row::Out::Ctrl;
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("dpas", Dpas, NoClass, Ctrl, "Addend (row after row) plus the product of a matrix of rows and one with a column per channel, with the types of column and row elements: `dpas.i32x32 s8 u8 rows 4 v1, v2, v3` is `v1 + v3 * v2`."),
    ]
}
