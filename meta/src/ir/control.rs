//! Control flow.

use super::row::Class::None as NoClass;
use super::row::Format::{Brif, Call, Jump, Return, Switch};
use super::row::Out::{None as NoOut, Special};
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("call", Call, NoClass, Special, "Calls a subroutine: `v3 = call %f(v1, v2)`.").effect(),
        op("jump", Jump, NoClass, NoOut, "Goes on at a block: `jump block1(v2)`.").terminator(),
        op("brif", Brif, NoClass, NoOut, "Goes on at the first block if the `b1` is set, else at the second: `brif v1, block1, block2(v3)`.").terminator(),
        op("switch", Switch, NoClass, NoOut, "Goes on at the block of the case that a one-lane integer is, else at the first: `switch v1, block4(v2) [0: block1, -7: block2(v3)]`.").terminator(),
        op("return", Return, NoClass, NoOut, "Ends the function; in a kernel, the thread.").terminator(),
    ]
}
