//! Control flow.

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
            "Branches the channels that are enabled; they may diverge.",
            Format::BranchRegJip,
        )
        .code(ALL, 0x21)
        .with(PRED),
        Row::new("if", "Opens a conditional.", Format::BranchJipUip)
            .code(ALL, 0x22)
            .with(PRED | BRANCH_CTRL)
            .without(GEN7P5, BRANCH_CTRL),
        Row::new(
            "brc",
            "Branches to where diverged channels may converge.",
            Format::BranchRegJipUip,
        )
        .code(ALL, 0x23)
        .with(PRED),
        Row::new(
            "else",
            "Turns to the other side of a conditional.",
            Format::BranchJipUip,
        )
        .code(ALL, 0x24)
        .with(BRANCH_CTRL)
        .without(GEN7P5, BRANCH_CTRL)
        .formatted(GEN7P5, Format::BranchJip),
        Row::new("endif", "Closes a conditional.", Format::BranchJip).code(ALL, 0x25),
        Row::new("while", "Closes a loop.", Format::BranchJip)
            .code(ALL, 0x27)
            .with(PRED),
        Row::new("break", "Leaves a loop.", Format::BranchJipUip)
            .code(ALL, 0x28)
            .with(PRED),
        Row::new("cont", "Goes to the next iteration.", Format::BranchJipUip)
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
            "Sends channels to a later join.",
            Format::BranchJipUip,
        )
        .code(GEN8_TO_11 | XE, 0x2E)
        .with(PRED | BRANCH_CTRL),
        Row::new(
            "join",
            "Lets channels in that wait here.",
            Format::BranchJip,
        )
        .code(GEN8_TO_11 | XE, 0x2F)
        .with(PRED),
    ]
}
