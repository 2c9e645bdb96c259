//! Running sends: every message kind that `isa-gen` describes.

mod atomic;
mod hdc;
mod transfer;
mod window;

use super::program::{DescOp, MicroOp, SendOp};
use super::thread::Thread;
use super::worker::Group;
use gantry_isa_gen::message::{GatewayOp, Message, MsgOp, SendBits};
use gantry_isa_gen::{Inst, Platform, Reg};

/// What a send did to its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SendOutcome {
    Next,
    Ended,
}

/// A payload as the message sees it: header, addresses, data, each with its byte offset in the register file.
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
    let message = match s.message {
        Some(m) => m,
        None => decode(t, s, group)?,
    };
    if mask == 0 {
        // No message is sent; but a thread that ends must end.
        return if s.eot || message.eot {
            Err("the end-of-thread message is disabled in every channel".to_owned())
        } else {
            Ok(SendOutcome::Next)
        };
    }
    let grf = group.grf_bytes();
    let bytes = |grfs: u8| u32::from(grfs) * grf;
    check_span(t, s.src0, bytes(message.src0_grfs), "the payload")?;
    check_span(t, s.src1, bytes(message.src1_grfs), "the second payload")?;
    if let Some(dst) = s.dst {
        check_span(t, dst, bytes(message.response_grfs), "the response")?;
    }
    match message.op {
        MsgOp::ThreadEnd { .. } | MsgOp::Gateway(GatewayOp::ThreadEnd { .. }) => {
            return Ok(SendOutcome::Ended);
        }
        MsgOp::Barrier => {
            t.signalled += 1;
            group.arrive();
        }
        // Memory is coherent at every instruction here.
        MsgOp::Fence { .. } | MsgOp::LscFence { .. } => {}
        MsgOp::Raw { .. }
        | MsgOp::HalfAtomic { .. }
        | MsgOp::SizedFloatAtomic { .. }
        | MsgOp::Typed { .. }
        | MsgOp::TypedAtomic { .. }
        | MsgOp::CounterAtomic { .. }
        | MsgOp::MediaBlock { .. }
        | MsgOp::Lsc(_)
        | MsgOp::LscBlock2d { .. }
        | MsgOp::LscCcs { .. }
        | MsgOp::LscReadState { .. }
        | MsgOp::Gateway(_)
        | MsgOp::Sample(_)
        | MsgOp::Urb(_)
        | MsgOp::Render { .. }
        | MsgOp::TraceRay(_)
        | MsgOp::Spawn(_) => {
            return Err(format!("unsupported message: {}", message.op));
        }
        _ => {
            let lengths = message.op.lengths(group.platform());
            let header = u32::from(message.header) * grf;
            let address = s.src0 + header;
            let after = address + lengths.address * grf;
            let payload = Payload {
                header: s.src0,
                address,
                data: if message.src1_grfs > 0 { s.src1 } else { after },
                response: s.dst,
            };
            let first = u32::from(message.header) + lengths.address;
            let (have0, have1) = (u32::from(message.src0_grfs), u32::from(message.src1_grfs));
            let enough = if have1 > 0 {
                have0 >= first && have1 >= lengths.data
            } else {
                have0 >= first + lengths.data
            };
            if !enough || (lengths.header && !message.header) {
                return Err(format!(
                    "the message `{}` has a payload too short: {message}",
                    message.op
                ));
            }
            if u32::from(message.response_grfs) < lengths.response && s.dst.is_some() {
                return Err(format!(
                    "the message `{}` has a response too short: {message}",
                    message.op
                ));
            }
            hdc::access(t, op, &message, &payload, mask, group)?;
        }
    }
    if s.eot || message.eot {
        return Ok(SendOutcome::Ended);
    }
    Ok(SendOutcome::Next)
}

/// The message of a send with a descriptor in a register.
fn decode(t: &Thread, s: &SendOp, group: &Group<'_>) -> Result<Message, String> {
    let inst = group
        .instruction(t.pc)
        .ok_or("a send without an instruction")?;
    message_of(t, s, inst, group.platform())
}

/// The message of a send, by what its descriptors hold now.
pub(super) fn message_of(
    t: &Thread,
    s: &SendOp,
    inst: &Inst<Reg>,
    platform: Platform,
) -> Result<Message, String> {
    let value = |d| match d {
        DescOp::Imm(v) => v,
        DescOp::Reg(at) => t.regs.u32(at),
    };
    let bits = SendBits::of(platform, inst, value(s.ex), value(s.desc));
    Message::read(platform, &bits).map_err(|e| e.to_string())
}

fn check_span(t: &Thread, at: u32, bytes: u32, what: &str) -> Result<(), String> {
    if at + bytes > t.regs.grf_end() {
        return Err(format!("{what} runs past the last register"));
    }
    Ok(())
}
