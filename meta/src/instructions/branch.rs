//! Control flow.

use crate::generation::Generation::Gen9;
use crate::row::{Format, Row, op};

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("jmpi", "Jumps the whole thread.", Format::Jmpi).on([Gen9], op(0x20).pred()),
        Row::new(
            "brd",
            "Branches the channels that are enabled; they may diverge.",
            Format::BranchRegJip,
        )
        .on([Gen9], op(0x21).pred()),
        Row::new("if", "Opens a conditional.", Format::BranchJipUip)
            .on([Gen9], op(0x22).pred().branch_ctrl()),
        Row::new(
            "brc",
            "Branches to where diverged channels may converge.",
            Format::BranchRegJipUip,
        )
        .on([Gen9], op(0x23).pred()),
        Row::new(
            "else",
            "Turns to the other side of a conditional.",
            Format::BranchJipUip,
        )
        .on([Gen9], op(0x24).branch_ctrl()),
        Row::new("endif", "Closes a conditional.", Format::BranchJip).on([Gen9], op(0x25)),
        Row::new("while", "Closes a loop.", Format::BranchJip).on([Gen9], op(0x27).pred()),
        Row::new("break", "Leaves a loop.", Format::BranchJipUip).on([Gen9], op(0x28).pred()),
        Row::new("cont", "Goes to the next iteration.", Format::BranchJipUip)
            .on([Gen9], op(0x29).pred()),
        Row::new(
            "halt",
            "Stops channels until the program's end point.",
            Format::BranchJipUip,
        )
        .on([Gen9], op(0x2A).pred()),
        Row::new("calla", "Calls an absolute address.", Format::Call).on([Gen9], op(0x2B).pred()),
        Row::new("call", "Calls a subroutine.", Format::Call).on([Gen9], op(0x2C).pred()),
        Row::new("ret", "Returns from a subroutine.", Format::Ret).on([Gen9], op(0x2D).pred()),
        Row::new(
            "goto",
            "Sends channels to a later join.",
            Format::BranchJipUip,
        )
        .on([Gen9], op(0x2E).pred().branch_ctrl()),
        Row::new(
            "join",
            "Lets channels in that wait here.",
            Format::BranchJip,
        )
        .on([Gen9], op(0x2F).pred()),
    ]
}
