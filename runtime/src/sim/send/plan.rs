//! Decoding of sends by their descriptors: once per instruction where these are immediate.

use super::super::regs::Regs;
use super::Payload;
use super::atomic::Atomic;
use super::block::Block;
use super::block2d::Block2d;
use super::media::MediaBlock;
use super::sampler::Sample;
use super::scatter::Scatter;
use super::status::Status;
use super::typed::Texels;
use super::window::AddressBase;
use super::{hdc, lsc};
use gantry_isa_gen::message::{GatewayOp, Lengths, LscPort, Message, MsgOp, SendBits, Urb, UrbOp};
use gantry_isa_gen::{Inst, Platform, Reg};
use std::sync::OnceLock;

/// Descriptor of a send.
#[derive(Clone, Copy)]
pub(in super::super) enum DescOp {
    Imm(u32),
    /// Byte offset in the GRF file.
    Reg(u32),
}

/// Decoded send instruction.
pub(in super::super) struct SendOp {
    ex: DescOp,
    desc: DescOp,
    /// Byte offset of the payload's first GRF.
    pub(in super::super) src0: u32,
    /// Byte offset of the second payload's first GRF (split send).
    pub(in super::super) src1: u32,
    /// Byte offset of the response's first GRF; `None` for null.
    pub(in super::super) dst: Option<u32>,
    /// Plan where both descriptors are immediate, or the reason why there is none.
    fixed: Option<Result<SendPlan, String>>,
    /// Plan of the first register descriptors that were executed, otherwise.
    first: OnceLock<CachedPlan>,
}

/// Values of register descriptors, and their plan.
struct CachedPlan {
    ex: u32,
    desc: u32,
    plan: Result<SendPlan, String>,
}

/// Decoded message of a send, with its action.
pub(super) struct SendPlan {
    pub(super) message: Message,
    pub(super) payload: Payload,
    pub(super) action: Action,
    /// True if the thread ends with it.
    pub(super) ends: bool,
}

/// Action of a message.
pub(super) enum Action {
    /// Access to memory.
    Access(MemoryAccess, AddressBase),
    /// Access to an image.
    Image(ImageAccess, AddressBase),
    /// Arrival at a barrier.
    Barrier,
    /// End of the thread.
    End,
    /// None: the message has no effect here.
    Nothing,
    /// Message that the simulator lacks.
    Unsupported,
}

/// Access to memory.
pub(super) enum MemoryAccess {
    Scatter(Scatter),
    Block(Block),
    /// Block whose dwords the channels select.
    Masked(Block),
    Atomic(Atomic),
    Block2d(Block2d),
    Status(Status),
}

/// Access to an image.
pub(super) enum ImageAccess {
    Texels(Texels),
    Sample(Sample),
    Media(MediaBlock),
}

impl SendOp {
    /// Decodes a send on a platform, of a thread whose GRFs end at a byte offset. Payloads and
    /// response are byte offsets.
    pub(in super::super) fn new(
        platform: Platform,
        inst: &Inst<Reg>,
        grf_end: u32,
        (ex, desc): (DescOp, DescOp),
        (src0, src1): (u32, u32),
        dst: Option<u32>,
    ) -> SendOp {
        let mut op = SendOp {
            ex,
            desc,
            src0,
            src1,
            dst,
            fixed: None,
            first: OnceLock::new(),
        };
        if let (DescOp::Imm(ex), DescOp::Imm(desc)) = (ex, desc) {
            op.fixed = Some(op.plan(platform, inst, grf_end, ex, desc));
        }
        op
    }

    /// Returns the plan of immediate descriptors.
    #[inline(always)]
    pub(super) fn fixed(&self) -> Option<Result<&SendPlan, String>> {
        self.fixed
            .as_ref()
            .map(|p| p.as_ref().map_err(Clone::clone))
    }

    /// Returns the message of immediate descriptors, if they describe one.
    pub(in super::super) fn fixed_message(&self) -> Option<Message> {
        Some(self.fixed.as_ref()?.as_ref().ok()?.message)
    }

    /// Returns the message by the current contents of the descriptors.
    pub(in super::super) fn message(
        &self,
        regs: &Regs,
        inst: &Inst<Reg>,
        platform: Platform,
    ) -> Result<Message, String> {
        let (ex, desc) = self.descriptors(regs);
        let bits = SendBits::of(platform, inst, ex, desc);
        Message::read(platform, &bits).map_err(|e| e.to_string())
    }

    /// Returns the values of the extended descriptor and the descriptor.
    pub(super) fn descriptors(&self, regs: &Regs) -> (u32, u32) {
        let value = |d| match d {
            DescOp::Imm(v) => v,
            DescOp::Reg(at) => regs.u32(at),
        };
        (value(self.ex), value(self.desc))
    }

    /// Returns the cached plan of register descriptors, if they are the first that were executed
    /// here, as they mostly are.
    pub(super) fn kept(
        &self,
        ex: u32,
        desc: u32,
        make: impl FnOnce() -> Result<SendPlan, String>,
    ) -> Option<Result<&SendPlan, String>> {
        let s = self.first.get_or_init(|| CachedPlan {
            ex,
            desc,
            plan: make(),
        });
        (s.ex == ex && s.desc == desc).then(|| s.plan.as_ref().map_err(Clone::clone))
    }

    /// Decodes descriptors of these values.
    pub(super) fn plan(
        &self,
        platform: Platform,
        inst: &Inst<Reg>,
        grf_end: u32,
        ex: u32,
        desc: u32,
    ) -> Result<SendPlan, String> {
        let bits = SendBits::of(platform, inst, ex, desc);
        let message = Message::read(platform, &bits).map_err(|e| e.to_string())?;
        let grf = platform.features().grf_bytes;
        let exec = inst.exec.channels();
        for (at, grfs, what) in [
            (Some(self.src0), message.src0_grfs, "the payload"),
            (Some(self.src1), message.src1_grfs, "the second payload"),
            (self.dst, message.response_grfs, "the response"),
        ] {
            if at.is_some_and(|at| at + u32::from(grfs) * grf > grf_end) {
                return Err(format!("{what} runs past the last register"));
            }
        }
        let lengths = message.op.lengths_for(platform, exec);
        let address = self.src0 + u32::from(message.header) * grf;
        let payload = Payload {
            header: self.src0,
            address,
            data: if message.src1_grfs > 0 {
                self.src1
            } else {
                address + lengths.address * grf
            },
            response: self.dst,
        };
        let action = match message.op {
            MsgOp::ThreadEnd { .. } | MsgOp::Gateway(GatewayOp::ThreadEnd { .. }) => Action::End,
            MsgOp::Barrier => Action::Barrier,
            MsgOp::Fence { .. }
            | MsgOp::LscFence { .. }
            | MsgOp::Urb(Urb {
                op: UrbOp::Fence, ..
            }) => Action::Nothing,
            MsgOp::Sample(ref sample) => {
                let access = Sample::new(self, platform, &message, sample, grf)?;
                let place = AddressBase::of_bti(platform, sample.surface, bits.ex);
                Action::Image(ImageAccess::Sample(access), place)
            }
            MsgOp::MediaBlock { dir, surface, .. } => {
                let access = MediaBlock::new(self, &message, dir, grf)?;
                let place = AddressBase::of_bti(platform, surface.bits(), bits.ex);
                Action::Image(ImageAccess::Media(access), place)
            }
            MsgOp::Typed { surface, .. } | MsgOp::TypedAtomic { surface, .. } => {
                match Texels::of_port(self, &message, grf) {
                    Some(access) => Action::Image(
                        ImageAccess::Texels(access?),
                        AddressBase::of_bti(platform, surface.bits(), bits.ex),
                    ),
                    None => Action::Unsupported,
                }
            }
            MsgOp::Lsc(a) if a.port == LscPort::Tgm => match lsc::texels(&a) {
                Some(what) => {
                    let channels = exec.max(grf / 4);
                    let row = (channels * 4).next_multiple_of(grf);
                    let access = Texels::new(self, &message, what, (channels, row), grf)?;
                    Action::Image(ImageAccess::Texels(access), AddressBase::of_lsc(a.surface))
                }
                None => Action::Unsupported,
            },
            MsgOp::Lsc(a) => lsc::action(&a, exec, grf, self.dst.is_none())?,
            MsgOp::LscBlock2d { .. } => {
                lsc::block2d(&message.op, &message, self.dst.is_none(), grf)?
            }
            _ => hdc::action(platform, &message.op, bits.ex, grf)?,
        };
        if let Action::Access(..) | Action::Barrier = action {
            enough(&message, lengths, self.dst.is_some())?;
        }
        Ok(SendPlan {
            message,
            payload,
            ends: bits.eot || message.eot,
            action,
        })
    }
}

/// Checks that the payloads and the response are as long as the message needs.
fn enough(message: &Message, needed: Lengths, responds: bool) -> Result<(), String> {
    let first = u32::from(message.header) + needed.address;
    let (have0, have1) = (u32::from(message.src0_grfs), u32::from(message.src1_grfs));
    let enough = if have1 > 0 {
        have0 >= first && have1 >= needed.data
    } else {
        have0 >= first + needed.data
    };
    if !enough || (needed.header && !message.header) {
        return Err(format!(
            "the message `{}` has a payload too short: {message}",
            message.op
        ));
    }
    if responds && u32::from(message.response_grfs) < needed.response {
        return Err(format!(
            "the message `{}` has a response too short: {message}",
            message.op
        ));
    }
    Ok(())
}
