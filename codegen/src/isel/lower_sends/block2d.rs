//! 2D blocks: rectangles of a surface that the payload describes, which Xe-HPC's load/store cache
//! moves (XeHPC PRM, A2DBLOCK_PAYLOAD).

use super::{MessagePart, PayloadStart, Payloads, SendLowering, lsc};
use crate::ir::{Block2dShape, BlockLayout, Opcode};
use crate::mir::bale::{BaleSrc, Operation, View};
use crate::mir::logical::{Block2d, Dir, Lane};
use crate::mir::lowered::at;
use crate::mir::{VReg, VirtReg};
use gantry_isa_gen::message::{LscData, LscPort, LscSurface, Message, MsgOp};
use gantry_isa_gen::{ExecSize, Op, Type};

/// Largest response length in GRFs (five bits of the descriptor).
const MOST_GRFS: u32 = 31;
/// Byte of the payload with the surface's sizes and the position. The address is at its start.
const SIZES: u32 = 8;

/// Part of an access that one message moves: a range of its blocks or rows.
#[derive(Clone, Copy)]
struct Block2dPart {
    shape: Block2dShape,
    /// First column and row, relative to the access.
    first: [u32; 2],
    /// Position in the value, in bytes.
    at: u32,
}

/// Returns the layout of a block in a message: bytes from one run's start to the next one's, and
/// GRFs.
fn message_block(s: &Block2dShape, grf: u32) -> (u32, u32) {
    let (run, runs) = s.runs();
    let element = match s.layout {
        BlockLayout::Packed => Type::Ud.bytes(),
        _ => s.bytes.into(),
    };
    // Runs are a power of two of elements apart.
    let step = (run / element).next_power_of_two() * element;
    (step, (step * runs).div_ceil(grf))
}

/// Splits an access into messages. It halves the blocks, or the rows of a single block, as long as
/// the response is too long.
fn shares(all: Block2dPart, grf: u32, out: &mut Vec<Block2dPart>) {
    let s = all.shape;
    let (_, grfs) = message_block(&s, grf);
    if grfs * u32::from(s.blocks) <= MOST_GRFS {
        return out.push(all);
    }
    let (half, [x, y]) = match s.blocks {
        1 => {
            let rows = s.rows / 2;
            (Block2dShape { rows, ..s }, [0, u32::from(rows)])
        }
        n => {
            let blocks = n / 2;
            let half = Block2dShape { blocks, ..s };
            (half, [u32::from(blocks) * u32::from(s.columns), 0])
        }
    };
    let [first_x, first_y] = all.first;
    for (n, first) in [[first_x, first_y], [first_x + x, first_y + y]]
        .into_iter()
        .enumerate()
    {
        let share = Block2dPart {
            shape: half,
            first,
            at: all.at + n as u32 * half.value_bytes(),
        };
        shares(share, grf, out);
    }
}

impl SendLowering<'_> {
    pub(super) fn block2d(&mut self, b: &Block2d) {
        if !self.target.features().block2d {
            return self.fail("a 2D block where there are none");
        }
        let mut all = Vec::new();
        let whole = Block2dPart {
            shape: b.shape,
            first: [0; 2],
            at: 0,
        };
        shares(whole, self.out.grf.bytes, &mut all);
        let mut starts = b.opcode == Opcode::Block2dLoad;
        for share in all {
            self.block2d_message(b, &share, &mut starts);
        }
    }

    /// Emits one message.
    fn block2d_message(&mut self, b: &Block2d, share: &Block2dPart, starts: &mut bool) {
        let grf = self.out.grf;
        let s = share.shape;
        let (step, block_grfs) = message_block(&s, grf.bytes);
        let grfs = block_grfs * u32::from(s.blocks);
        let header = self.block2d_header(b, share);
        let dir = match b.opcode {
            Opcode::Block2dStore => Dir::Write,
            _ => Dir::Read,
        };
        let op = MsgOp::LscBlock2d {
            port: LscPort::Ugm,
            dir,
            data: match s.bytes {
                1 => LscData::D8,
                2 => LscData::D16,
                4 => LscData::D32,
                _ => LscData::D64,
            },
            transposed: s.layout == BlockLayout::Transposed,
            vnni: s.layout == BlockLayout::Packed,
            surface: LscSurface::Flat,
            caching: lsc::policy(s.cache),
        };
        let part = MessagePart::whole(ExecSize::S1);
        let platform = self.target.platform();
        let mut p = Payloads {
            dst: None,
            src0: (header, 0),
            src1: None,
        };
        let Some(data) = b.data else {
            return self.send_message(Message::new(platform, op), &part, p, false);
        };
        // Blocks with the same layout in the value and in the message need no copy. The message's
        // last GRF must belong to the value.
        let (run, runs) = s.runs();
        let whole = step == run && (step * runs).is_multiple_of(grf.bytes);
        let alike = whole || s.blocks == 1 && step == run && share.at == 0;
        let alike = alike
            && share.at.is_multiple_of(grf.bytes)
            && self.holds(data, share.at, grfs * grf.bytes);
        match dir {
            Dir::Read => {
                let message = Message {
                    response_grfs: grfs as u8,
                    ..Message::new(platform, op)
                };
                if alike {
                    self.at_grf(data);
                    p.dst = Some((data, share.at));
                    let begins = std::mem::replace(starts, false);
                    return self.send_message(message, &part, p, begins);
                }
                let t = self.out.temp_grfs(grfs);
                p.dst = Some((t, 0));
                self.send_message(message, &part, p, true);
                for (near, far, dwords) in self.block2d_runs(&s, share.at) {
                    let from = at(t, far, dwords, Type::Ud).plain();
                    let mov = Operation::new(Op::Mov, Type::Ud, &[from]);
                    let begins = std::mem::replace(starts, false);
                    self.out
                        .bale_at(at(data, near, dwords, Type::Ud), begins, dwords, mov);
                }
            }
            Dir::Write => {
                let from: PayloadStart = if alike {
                    self.at_grf(data);
                    (data, share.at)
                } else {
                    (self.out.temp_grfs(grfs), 0)
                };
                if !alike {
                    for (n, (near, far, dwords)) in
                        self.block2d_runs(&s, share.at).into_iter().enumerate()
                    {
                        let own = at(data, near, dwords, Type::Ud).plain();
                        let mov = Operation::new(Op::Mov, Type::Ud, &[own]);
                        let to = at(from.0, far, dwords, Type::Ud);
                        self.out.bale_at(to, n == 0, dwords, mov);
                    }
                }
                p.src1 = Some(from);
                let message = Message {
                    src1_grfs: grfs as u8,
                    ..Message::split(platform, op)
                };
                self.send_message(message, &part, p, false);
            }
        }
    }

    /// Returns runs of dwords: their byte in the value, their byte in the message's GRFs, and their
    /// number of dwords.
    fn block2d_runs(&self, s: &Block2dShape, start: u32) -> Vec<(u32, u32, u32)> {
        let grf = self.out.grf.bytes;
        let (step, grfs) = message_block(s, grf);
        let (run, runs) = s.runs();
        // Runs without gaps are one.
        let (run, runs, step) = if step == run {
            (run * runs, 1, 0)
        } else {
            (run, runs, step)
        };
        let mut out = Vec::new();
        for block in 0..u32::from(s.blocks) {
            for n in 0..runs {
                let near = start + block * s.block_bytes() + n * run;
                out.push((near, block * grfs * grf + n * step, run / Type::Ud.bytes()));
            }
        }
        out
    }

    /// Emits the payload: the surface's address, its sizes less one, the position and the block
    /// size.
    fn block2d_header(&mut self, b: &Block2d, share: &Block2dPart) -> VReg {
        let to = self.out.temp_grfs(1);
        let base = View::scalar(VirtReg::grf(b.base), 0, Type::Uq).plain();
        let place = View::scalar(VirtReg::grf(to), 0, Type::Uq);
        let mov = Operation::new(Op::Mov, Type::Uq, &[base]);
        self.out.bale_at(place, true, 1, mov);
        let s = share.shape;
        let less = |n: u8| u32::from(n.wrapping_sub(1));
        let shape = less(s.columns) | less(s.rows) << 8 | less(s.blocks) << 16;
        let [width, height, pitch] = b.sizes.map(|n| (n, u32::MAX));
        let [x, y] = b.place;
        let numbers = [
            width,
            height,
            pitch,
            (x, share.first[0]),
            (y, share.first[1]),
            (Lane::Known(shape), 0),
        ];
        for (n, (lane, add)) in numbers.into_iter().enumerate() {
            let imm = |n: u32| BaleSrc::Imm(n.into(), Type::D);
            let o = match lane {
                Lane::Known(known) => {
                    Operation::new(Op::Mov, Type::D, &[imm(known.wrapping_add(add))])
                }
                Lane::Reg(r) => {
                    let from = View::scalar(VirtReg::grf(r), 0, Type::D).plain();
                    match add {
                        0 => Operation::new(Op::Mov, Type::D, &[from]),
                        add => Operation::new(Op::Add, Type::D, &[from, imm(add)]),
                    }
                }
            };
            let at = SIZES + n as u32 * Type::D.bytes();
            let place = View::scalar(VirtReg::grf(to), at, Type::D);
            self.out.bale_at(place, false, 1, o);
        }
        to
    }
}
