//! Execution of sends: every message kind that `isa-gen` describes.
//!
//! The action of a message is derived once (`plan`). It is one of a few kinds of access (`scatter`,
//! `block`, `atomic`, `block2d`), whichever shared function it goes to. Accesses go through a
//! window on memory (`window`). The message families are in `hdc` and `lsc`. Images have accesses
//! of their own (`typed`, `sampler`, `media`).

mod atomic;
mod block;
mod block2d;
mod hdc;
mod lsc;
mod media;
mod plan;
mod rows;
mod sampler;
mod scatter;
mod status;
mod typed;
mod window;

use super::barrier::Signal;
use super::program::MicroOp;
use super::thread::Thread;
use super::worker::Group;
use gantry_isa_gen::message::MsgOp;
use plan::{Action, ImageAccess, MemoryAccess, SendPlan};
use window::{AddressBase, Window};

pub(super) use plan::{DescOp, SendOp};

/// Effect of a send on its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SendOutcome {
    Next,
    Ended,
}

/// Payload of a message: byte offsets of header, addresses, data and response in the GRF file.
#[derive(Clone, Copy)]
struct Payload {
    header: u32,
    address: u32,
    data: u32,
    response: Option<u32>,
}

pub(super) fn execute(
    t: &mut Thread,
    op: &MicroOp,
    s: &SendOp,
    mask: u32,
    group: &mut Group<'_>,
) -> Result<SendOutcome, String> {
    if let Some(plan) = s.fixed() {
        return run(t, op, plan?, mask, group);
    }
    let inst = group
        .instruction(t.pc)
        .ok_or("a send without an instruction")?;
    let (ex, desc) = s.descriptors(&t.regs);
    let make = || s.plan(group.platform(), inst, t.regs.grf_end(), ex, desc);
    match s.kept(ex, desc, make) {
        Some(plan) => run(t, op, plan?, mask, group),
        None => run(t, op, &make()?, mask, group),
    }
}

#[inline(always)]
fn run(
    t: &mut Thread,
    op: &MicroOp,
    plan: &SendPlan,
    mask: u32,
    group: &mut Group<'_>,
) -> Result<SendOutcome, String> {
    if mask == 0 {
        // No message is sent, but an end-of-thread message must be.
        return if plan.ends {
            Err("the end-of-thread message is disabled in every channel".to_owned())
        } else {
            Ok(SendOutcome::Next)
        };
    }
    if let MsgOp::Scratch {
        dir, count, offset, ..
    } = plan.message.op
    {
        t.counts.scratch_block(dir, count, offset);
    }
    match &plan.action {
        Action::Access(access, place) => {
            let p = &plan.payload;
            let place = match *place {
                AddressBase::HeaderScratch => AddressBase::of_header(t.regs.u32(p.header + 20)),
                place => place,
            };
            let window = Window::new(group, place)?;
            match access {
                MemoryAccess::Scatter(s) => s.run(t, &window, p, mask)?,
                MemoryAccess::Block(b) => b.run(t, &window, p)?,
                MemoryAccess::Masked(b) => b.run_masked(t, &window, p, mask, op)?,
                MemoryAccess::Atomic(a) => a.run(t, &window, p, mask)?,
                MemoryAccess::Block2d(b) => b.run(t, &window, p)?,
                MemoryAccess::Status(s) => s.run(t, &window, p, mask),
            }
        }
        Action::Image(access, place) => {
            let surface = place.state(group)?;
            match access {
                ImageAccess::Texels(x) => x.run(t, surface, mask)?,
                ImageAccess::Sample(s) => s.run(t, surface, group.samplers(), mask)?,
                ImageAccess::Media(b) => b.run(t, surface)?,
            }
        }
        Action::Barrier => {
            let signal = Signal::read(group.platform(), t.regs.u32(plan.payload.address + 8));
            group.barriers().signal(&mut t.barriers, signal)?;
        }
        // Memory is coherent at every instruction here, and a fence's response has no contents. A
        // prefetch has nothing to do.
        Action::Nothing => {}
        Action::End => return Ok(SendOutcome::Ended),
        Action::Unsupported => {
            return Err(format!("unsupported message: {}", plan.message.op));
        }
    }
    Ok(if plan.ends {
        SendOutcome::Ended
    } else {
        SendOutcome::Next
    })
}
