//! Rectangles of an image's bytes: the data port's media blocks.

use super::{MessagePart, Payloads, SendLowering};
use crate::mir::bale::{BaleSrc, Operation, View};
use crate::mir::logical::{Dir, Media};
use crate::mir::lowered::at;
use crate::mir::{VReg, VirtReg};
use gantry_isa_gen::message::{Message, MsgOp, Surface};
use gantry_isa_gen::{ExecSize, Op, Type};

/// Largest number of bytes of a message, and of rows (PRM, "Media Block Read/Write").
const MOST: u32 = 256;
const MOST_ROWS: u32 = 64;
/// Smallest pitch of rows in bytes. A pitch is a power of two.
const LEAST_PITCH: u32 = 4;

impl SendLowering<'_> {
    pub(super) fn media(&mut self, m: &Media) {
        if !self.target.features().sampler {
            return self.fail("an image where there is no sampler");
        }
        let pitch = m.width.next_power_of_two().max(LEAST_PITCH);
        let most = (MOST / pitch).min(MOST_ROWS);
        let rows = m.bytes / m.width.max(1);
        let mut starts = m.dir == Dir::Read;
        let mut first = 0;
        while first < rows {
            let n = (rows - first).min(most);
            self.media_rows(m, first, n, pitch, &mut starts);
            first += n;
        }
    }

    /// Emits one message.
    fn media_rows(&mut self, m: &Media, first: u32, rows: u32, pitch: u32, starts: &mut bool) {
        let grf = self.out.grf;
        let grfs = grf.hold(rows * pitch);
        let place = first * m.width;
        // Rows with the same layout in the value and in the message need no copy. The message's
        // last GRF must belong to the value.
        let whole = self.holds(m.data, place, grfs * grf.bytes);
        let alike = pitch == m.width && whole;
        let op = MsgOp::MediaBlock {
            dir: m.dir,
            surface: Surface::Bti(m.surface),
            stride: 0,
        };
        let exec = match grfs {
            1 => ExecSize::S8,
            _ => ExecSize::S16,
        };
        let part = MessagePart::whole(exec);
        let lengths = Message::new(self.target.platform(), op);
        match m.dir {
            Dir::Read => {
                let header = self.out.temp_grfs(1);
                self.media_header(m, first, rows, header);
                let to = if alike {
                    (m.data, place)
                } else {
                    (self.out.temp_grfs(grfs), 0)
                };
                let p = Payloads {
                    dst: Some(to),
                    src0: (header, 0),
                    src1: None,
                };
                let message = Message {
                    header: true,
                    response_grfs: grfs as u8,
                    ..lengths
                };
                if alike {
                    self.at_grf(m.data);
                    let begins = std::mem::replace(starts, false);
                    return self.send_message(message, &part, p, begins);
                }
                self.send_message(message, &part, p, true);
                for (near, far) in self.media_places(m, first, rows, pitch) {
                    let from = far(to.0, 0).plain();
                    let begins = std::mem::replace(starts, false);
                    let mov = Operation::new(Op::Mov, Type::Ud, &[from]);
                    self.out.bale_at(near.0, begins, near.1, mov);
                }
            }
            Dir::Write => {
                let payload = self.out.temp_grfs(1 + grfs);
                self.media_header(m, first, rows, payload);
                for (near, far) in self.media_places(m, first, rows, pitch) {
                    let to = far(payload, grf.bytes);
                    let mov = Operation::new(Op::Mov, Type::Ud, &[near.0.plain()]);
                    self.out.bale_at(to, false, near.1, mov);
                }
                let p = Payloads {
                    dst: None,
                    src0: (payload, 0),
                    src1: None,
                };
                let message = Message {
                    header: true,
                    src0_grfs: (1 + grfs) as u8,
                    ..lengths
                };
                self.send_message(message, &part, p, false);
            }
        }
    }

    /// Returns runs of dwords: each run in the value, its length, and its view in a message's rows.
    #[allow(clippy::type_complexity, reason = "named where it is used")]
    fn media_places(
        &self,
        m: &Media,
        first: u32,
        rows: u32,
        pitch: u32,
    ) -> Vec<((View, u32), impl Fn(VReg, u32) -> View + use<>)> {
        let (width, data) = (m.width, m.data);
        // Rows without gaps are one run.
        let (runs, run) = if pitch == width {
            (1, rows * width)
        } else {
            (rows, width)
        };
        let dwords = run / Type::Ud.bytes();
        let places = (0..runs).map(|n| {
            let near = at(data, first * width + n * run, dwords, Type::Ud);
            let far = move |r: VReg, start: u32| at(r, start + n * pitch, dwords, Type::Ud);
            ((near, dwords), far)
        });
        places.collect()
    }

    /// Emits the header: position and size, in a copy of the thread header.
    fn media_header(&mut self, m: &Media, first: u32, rows: u32, to: VReg) {
        let dwords = self.out.grf.bytes / Type::Ud.bytes();
        let copy = at(m.header, 0, dwords, Type::Ud).plain();
        let head = at(to, 0, dwords, Type::Ud);
        let copy = Operation::new(Op::Mov, Type::Ud, &[copy]);
        self.out.bale_at(head, true, dwords, copy);
        let [x, y] = m
            .coords
            .map(|c| View::scalar(VirtReg::grf(c), 0, Type::D).plain());
        let y = match first {
            0 => Operation::new(Op::Mov, Type::D, &[y]),
            n => Operation::new(Op::Add, Type::D, &[y, BaleSrc::Imm(n.into(), Type::D)]),
        };
        let size = u64::from((rows - 1) << 16 | (m.width - 1));
        let size = Operation::new(Op::Mov, Type::Ud, &[BaleSrc::Imm(size, Type::Ud)]);
        let x = Operation::new(Op::Mov, Type::D, &[x]);
        for (n, o) in [x, y, size].into_iter().enumerate() {
            let place = View::scalar(VirtReg::grf(to), 4 * n as u32, o.ty);
            self.out.bale_at(place, false, 1, o);
        }
    }
}
