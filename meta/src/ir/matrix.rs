//! Products of matrices.

use super::row::Class::None as NoClass;
use super::row::Format::Dpas;
use super::row::Out::Ctrl;
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("dpas", Dpas, NoClass, Ctrl, "What is added to (row after row), and the product of a matrix of rows by one with a column a channel; kinds of the factors of columns and rows: `dpas.i32x32 s8 u8 rows 4 v1, v2, v3` is `v1 + v3 * v2`."),
    ]
}
