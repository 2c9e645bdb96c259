//! Send lowering: logical sends become payloads, descriptors and `send` instructions. No other
//! module of the compiler knows descriptors.
//!
//! Lowering states the memory, the lanes and the mask of an access ([`Logical`]). This stage splits
//! the access into messages and lays out addresses and data as payloads of whole GRFs. It does so
//! by bales, which are legalized later. Messages are built from `isa-gen`'s typed operations for
//! the target's platform. Differences between platforms are in `forms`. Operands of the systolic
//! array are whole GRFs as payloads are, so `dpas` is lowered here too.
//!
//! Input: lowered blocks. Output: the same without logical sends.

mod atomic;
mod block;
mod block2d;
mod forms;
mod image;
mod instruction;
mod lsc;
mod media;
mod raw;
mod scattered;
pub(crate) mod spill;
mod sync;
mod systolic;

pub(crate) use instruction::has_second;
pub use scattered::moves_slots;
pub(crate) use sync::{end_fence, end_thread, load_payload};

use crate::error::CodegenError;
use crate::ir::SourceLoc;
use crate::mir::bale::{Bale, Operation, View};
use crate::mir::logical::{BarrierPart, Logical};
use crate::mir::lowered::{Buffer, CodeRange, Lowered, LoweredFunction};
use crate::mir::operand::{
    dst, flag_dst, flag_src, flag_type, grf_dst, imm, inverted, lane_mask, scalar, scalar_src,
    uniform,
};
use crate::mir::{MInst, VFlag, VReg, VirtReg};
use crate::target::Target;
use gantry_isa_gen::message::{Message, MsgOp, SendBits, Simd};
use gantry_isa_gen::{
    Arf, ChannelOffset, Desc, ExecSize, InstOpts, Op, PredCtrl, Predicate, Reg, RegRef, Type,
};
use std::ops::Range;

/// Lowers every logical send of a function to payloads and messages.
///
/// # Errors
/// The platform lacks a message.
pub fn expand(
    name: &str,
    f: LoweredFunction,
    target: &Target,
) -> Result<LoweredFunction, CodegenError> {
    let LoweredFunction {
        grf,
        code,
        blocks,
        routines,
        vregs,
        flags,
        labels,
        label_types,
        lone_surfaces,
        fired,
    } = f;
    let mut s = SendLowering {
        target,
        out: Buffer {
            grf,
            vregs,
            flags,
            code,
        },
        loc: SourceLoc::NONE,
        failed: None,
        texel_headers: [None; 2],
        offsets: Vec::new(),
        surface: None,
    };
    for block in &blocks {
        s.texel_headers = [None; 2];
        s.offsets.clear();
        let mut from = block.locs.cursor();
        for n in block.code.start..block.code.end {
            let at = n as usize;
            let Some(Lowered::Send(logical)) = s.out.code.get(at).copied() else {
                continue;
            };
            s.loc = from.at((n - block.code.start) as usize);
            let start = s.out.code.len();
            s.logical(&logical, n + 1..block.code.end);
            s.out.code[at] = Lowered::Sent(CodeRange::since(start, &s.out.code));
        }
    }
    if let Some((what, loc)) = s.failed {
        return Err(CodegenError::Unsupported {
            function: name.to_string(),
            what,
            at: None,
            origin: loc.into(),
        });
    }
    Ok(LoweredFunction {
        grf,
        code: s.out.code,
        blocks,
        routines,
        vregs: s.out.vregs,
        flags: s.out.flags,
        labels,
        label_types,
        lone_surfaces,
        fired,
    })
}

/// State of the stage.
struct SendLowering<'a> {
    target: &'a Target,
    /// Headers of the block's sampler messages and of its typed ones, if they have one of their
    /// own.
    texel_headers: [Option<VReg>; 2],
    /// Offsets of elements that messages of the block have asked for.
    offsets: Vec<block::ElementOffsets>,
    out: Buffer,
    /// Source location of the current item.
    loc: SourceLoc,
    failed: Option<(String, SourceLoc)>,
    /// Register with the offset of the state of the current access's surface.
    surface: Option<VReg>,
}

/// Lanes of an access that one message moves.
#[derive(Clone, Copy)]
struct MessagePart {
    /// First lane.
    first: u32,
    /// Number of lanes.
    lanes: u32,
    /// Channels of the message, if its descriptor has them.
    simd: Simd,
    /// Channels that payloads have space for: at least those of half a full message.
    channels: u32,
    /// Exec size of the instruction.
    exec: ExecSize,
    /// Lanes that take part, if not all channels do.
    pred: Option<VFlag>,
    /// True if `pred` is combined with the execution mask. It then has a bit for every channel of
    /// the thread.
    running: bool,
    /// True if the lanes take part whose bit in `pred` is clear.
    inverse: bool,
    /// Channel of the first lane: its bit in `pred`.
    channel: u32,
}

impl MessagePart {
    /// Returns the bale that moves the response to its destination. Lanes that take no part keep
    /// the old value.
    fn given(&self, mov: Operation, to: View, begins: bool) -> Lowered {
        Lowered::Bale(Bale {
            mask: self.pred,
            running: self.running,
            inverse: self.inverse,
            channel: self.channel,
            ..Bale::new(self.lanes, mov, to, begins)
        })
    }

    /// Returns the lanes of a message of the whole thread.
    const fn whole(exec: ExecSize) -> MessagePart {
        MessagePart {
            first: 0,
            lanes: exec.channels(),
            simd: Simd::S8,
            channels: exec.channels(),
            exec,
            pred: None,
            running: false,
            inverse: false,
            channel: 0,
        }
    }
}

/// GRF-aligned byte position in a register.
type PayloadStart = (VReg, u32);

/// Operands of a send.
#[derive(Clone, Copy)]
struct Payloads {
    dst: Option<PayloadStart>,
    src0: PayloadStart,
    src1: Option<PayloadStart>,
}

impl SendLowering<'_> {
    /// Lowers a logical send. `rest` is the rest of the block, in `out.code`.
    fn logical(&mut self, l: &Logical, rest: Range<u32>) {
        match l {
            Logical::Scattered(s) => self.scattered(s),
            Logical::Block(b) => self.block(b),
            Logical::Texels(t) => self.texels(t),
            Logical::Media(m) => self.media(m),
            Logical::Block2d(b) => self.block2d(b),
            Logical::Raw(r) => self.raw(r),
            Logical::Systolic(s) => self.systolic(s),
            Logical::Barrier {
                header,
                named,
                part,
            } => self.barrier(*header, *named, *part),
            Logical::Atomic(a) => self.atomic(a),
            Logical::Prefetch(p) => self.prefetch(p),
            Logical::Fence { header, spaces } => {
                let next = self.next_send(rest);
                let before_barrier = matches!(
                    next,
                    Some(Logical::Barrier {
                        named: None,
                        part: BarrierPart::Both,
                        ..
                    })
                );
                self.fence(*header, *spaces, before_barrier);
            }
        }
    }

    fn next_send(&self, mut code: Range<u32>) -> Option<&Logical> {
        code.find_map(|n| match self.out.code.get(n as usize) {
            Some(Lowered::Send(next)) => Some(next),
            _ => None,
        })
    }

    fn fail(&mut self, what: impl ToString) {
        if self.failed.is_none() {
            self.failed = Some((what.to_string(), self.loc));
        }
    }

    /// Splits lanes into messages of at most `most` channels. A rest that is no power of two gets a
    /// constant predicate. With `running`, only lanes under the execution mask take part, and the
    /// mask has a bit for every channel. With `inverse`, lanes take part whose bit is clear.
    fn parts(
        &mut self,
        lanes: u32,
        mask: Option<VFlag>,
        (running, inverse): (bool, bool),
        most: u32,
    ) -> Vec<MessagePart> {
        let mut out = Vec::new();
        let mut first = 0;
        while first < lanes {
            let n = (lanes - first).min(most);
            let simd = if n > 8 { Simd::S16 } else { Simd::S8 };
            let Some(exec) = ExecSize::new(n.next_power_of_two()) else {
                self.fail(format!("an access of {lanes} lanes"));
                break;
            };
            let whole = exec.channels() == n;
            // Channel offsets reach the lanes of a whole part where they are. Messages of eight
            // channels that name a slot group name the lower one.
            let on_grid = whole && first.is_multiple_of(n.max(16));
            let (pred, channel) = match mask {
                None if whole => (None, 0),
                None => {
                    let bits = n.clamp(16, 32);
                    let f = self.out.temp_flag(bits);
                    self.out.const_flag(f, bits, lane_mask(n));
                    (Some(f), 0)
                }
                Some(m) if running || m == VFlag::EXEC || on_grid => (Some(m), first),
                Some(m) => (Some(self.part_of_mask((m, inverse), lanes, first, n)), 0),
            };
            out.push(MessagePart {
                first,
                lanes: n,
                simd,
                channels: exec
                    .channels()
                    .max(self.target.grf().bytes / Type::Ud.bytes()),
                exec,
                pred,
                running,
                inverse: inverse && on_grid,
                channel,
            });
            first += n;
        }
        out
    }

    /// Returns lanes `first..first + n` of a mask as a flag of its own, clear above them. The mask
    /// may be inverted.
    fn part_of_mask(
        &mut self,
        (mask, inverse): (VFlag, bool),
        lanes: u32,
        first: u32,
        n: u32,
    ) -> VFlag {
        let bits = n.clamp(16, 32);
        let (ty, own) = (flag_type(lanes), flag_type(bits));
        let r = self.out.temp(4);
        self.out.emit_op(uniform(
            Op::Shr,
            grf_dst(r, Type::Ud),
            [flag_src(mask, ty), imm(u64::from(first), Type::Uw)],
        ));
        let f = self.out.temp_flag(bits);
        self.out.emit_op(uniform(
            Op::And,
            flag_dst(f, own),
            [
                if inverse {
                    inverted(scalar_src(r, 0, own))
                } else {
                    scalar_src(r, 0, own)
                },
                imm(lane_mask(n), own),
            ],
        ));
        f
    }

    /// Emits the `send` of a message. `starts` is set if the response starts a value of the
    /// destination.
    fn send(&mut self, op: MsgOp, part: &MessagePart, p: Payloads, starts: bool) {
        let platform = self.target.platform();
        let split = p.src1.is_some();
        let message = if let MsgOp::Lsc(_) = op {
            Message::split_for(platform, op, part.exec.channels())
        } else if split {
            Message::split(platform, op)
        } else {
            Message::new(platform, op)
        };
        self.send_message(message, part, p, starts);
    }

    /// Emits the `send` of a message with lengths of its own.
    fn send_message(&mut self, message: Message, part: &MessagePart, p: Payloads, starts: bool) {
        // Without a destination there is no response.
        let message = match p.dst {
            Some(_) => message,
            None => Message {
                response_grfs: 0,
                ..message
            },
        };
        match message.bits(self.target.platform()) {
            Ok(bits) => self.send_bits(bits, part, p, starts),
            Err(e) => self.fail(e),
        }
    }

    /// Emits a `send` with given descriptors.
    fn send_bits(&mut self, bits: SendBits, part: &MessagePart, p: Payloads, starts: bool) {
        let place = |(r, at): PayloadStart| RegRef::new(VirtReg::grf(r), at as u16);
        let null = VirtReg::NULL;
        let mut send = instruction::of_bits(self.target, bits, part.exec, null, p.src1.is_some());
        let pred = part.pred.filter(|f| *f != VFlag::EXEC);
        send.no_mask = !part.running && (part.pred.is_none() || pred.is_some());
        let Some(offset) = ChannelOffset::new(part.channel) else {
            return self.fail(format!("a message of channels from {}", part.channel));
        };
        send.offset = offset;
        send.pred = pred.map(|f| Predicate {
            flag: RegRef::new(VirtReg::flag(f), 0),
            inverse: part.inverse,
            ctrl: PredCtrl::Sequential,
        });
        if let Some(to) = p.dst {
            send.dst = dst(place(to), Type::Ud);
        }
        send.srcs[0] = scalar(place(p.src0), Type::Ud);
        if let Some(second) = p.src1 {
            send.srcs[1] = scalar(place(second), Type::Ud);
        }
        if let (Some(surface), Some(descs)) = (self.surface, &mut send.send) {
            let address = Reg::Arf(Arf::Address, 0);
            let state = RegRef::new(VirtReg::phys(address), spill::STATE);
            let from = scalar_src(surface, 0, Type::Ud);
            self.out
                .emit_op(uniform(Op::Mov, dst(state, Type::Ud), [from]));
            descs.ex = Desc::Reg(RegRef::new(address, spill::STATE));
            send.opts |= InstOpts::EX_BSO;
        }
        self.out.emit(MInst::Op {
            inst: send,
            starts: starts && part.pred.is_none(),
            keeps: None.into(),
        });
    }
}
