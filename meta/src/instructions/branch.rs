//! Rows of control flow.

use crate::format::Format;
use crate::generation::*;
use crate::row::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("jmpi", "Jumps the whole thread.", Format::Jmpi)
            .code(ALL, 0x20)
            .with(PRED),
        Row::new(
            "brd",
            "Branches the enabled channels, which may diverge.",
            Format::BranchRegJip,
        )
        .code(ALL, 0x21)
        .with(PRED),
        Row::new("if", "Starts a conditional.", Format::BranchJipUip)
            .code(ALL, 0x22)
            .with(PRED | BRANCH_CTRL)
            .without(GEN7P5, BRANCH_CTRL),
        Row::new(
            "brc",
            "Branches; diverged channels may converge at the target.",
            Format::BranchRegJipUip,
        )
        .code(ALL, 0x23)
        .with(PRED),
        Row::new(
            "else",
            "Switches to the other side of a conditional.",
            Format::BranchJipUip,
        )
        .code(ALL, 0x24)
        .with(BRANCH_CTRL)
        .without(GEN7P5, BRANCH_CTRL)
        .formatted(GEN7P5, Format::BranchJip),
        Row::new("endif", "Ends a conditional.", Format::BranchJip).code(ALL, 0x25),
        Row::new("while", "Ends a loop.", Format::BranchJip)
            .code(ALL, 0x27)
            .with(PRED),
        Row::new("break", "Leaves a loop.", Format::BranchJipUip)
            .code(ALL, 0x28)
            .with(PRED),
        Row::new(
            "cont",
            "Continues with the next iteration.",
            Format::BranchJipUip,
        )
        .code(ALL, 0x29)
        .with(PRED),
        Row::new(
            "halt",
            "Stops channels until the program's end point.",
            Format::BranchJipUip,
        )
        .code(ALL, 0x2A)
        .with(PRED),
        Row::new("calla", "Calls an absolute address.", Format::Call)
            .code(ALL, 0x2B)
            .with(PRED),
        Row::new("call", "Calls a subroutine.", Format::Call)
            .code(ALL, 0x2C)
            .with(PRED),
        Row::new("ret", "Returns from a subroutine.", Format::Ret)
            .code(ALL, 0x2D)
            .with(PRED),
        Row::new(
            "goto",
            "Branches channels to a later join.",
            Format::BranchJipUip,
        )
        .code(GEN8_TO_11 | XE, 0x2E)
        .with(PRED | BRANCH_CTRL),
        Row::new(
            "join",
            "Reactivates channels that wait at this join.",
            Format::BranchJip,
        )
        .code(GEN8_TO_11 | XE, 0x2F)
        .with(PRED),
    ]
}
