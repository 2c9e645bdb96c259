//! Rows of control flow.

use super::format::Format::{Brif, Call, Jump, Return, Switch};
use super::row::Class::None as NoClass;
use super::row::Out::{None as NoOut, Special};
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("call", Call, NoClass, Special, "Calls a subroutine: `v3 = call %f(v1, v2)`.").effect(),
        op("jump", Jump, NoClass, NoOut, "Branches to a block: `jump block1(v2)`.").terminator(),
        op("brif", Brif, NoClass, NoOut, "Branches to the first block if the `b1` is set, else to the second: `brif v1, block1, block2(v3)`.").terminator(),
        op("switch", Switch, NoClass, NoOut, "Branches to the block of the case that equals a one-lane integer, else to the first: `switch v1, block4(v2) [0: block1, -7: block2(v3)]`.").terminator(),
        op("return", Return, NoClass, NoOut, "Ends the function; in a kernel, the thread.").terminator(),
    ]
}
