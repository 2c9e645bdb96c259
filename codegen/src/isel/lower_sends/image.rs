//! Texels of images: sampler messages for images that are only read, typed messages of the data
//! port for the rest.

use super::atomic::integer_op;
use super::{MessagePart, PayloadStart, Payloads, SendLowering, forms};
use crate::mir::bale::{BaleSrc, Operation};
use crate::mir::logical::{ImageOp, Texels};
use crate::mir::lowered::at;
use crate::mir::{MInst, VReg};
use gantry_isa_gen::message::{
    Dir, Message, MsgOp, Rgba, Sample, SampleOp, SampleParam, Simd, Slots, Surface,
};
use gantry_isa_gen::{Op, Type};

/// Components of a texel.
const COMPONENTS: u32 = 4;
/// Largest number of channels of a sampler message, and of a typed one.
const SAMPLED: u32 = 16;
const TYPED: u32 = 8;
/// Largest number of parameters of a sampler message of that many channels: a message has at most
/// 11 registers.
const PARAMS: usize = 5;

impl ImageOp {
    /// Returns the name in dumps.
    pub const fn name(self) -> &'static str {
        match self {
            ImageOp::Load { .. } => "image load",
            ImageOp::LoadTyped { .. } => "image load typed",
            ImageOp::LoadSample => "image load sample",
            ImageOp::Store { .. } => "image store",
            ImageOp::Atomic { .. } => "image atomic",
            ImageOp::Sample { .. } => "image sample",
        }
    }

    /// Returns true for accesses by typed messages of the data port.
    const fn is_typed(self) -> bool {
        matches!(
            self,
            ImageOp::LoadTyped { .. } | ImageOp::Store { .. } | ImageOp::Atomic { .. }
        )
    }

    /// Returns the number of components of a texel that a message moves.
    const fn components(self) -> u32 {
        match self {
            ImageOp::Atomic { .. } => 1,
            _ => COMPONENTS,
        }
    }
}

/// Row of a payload.
#[derive(Clone, Copy)]
enum PayloadRow {
    /// Lanes of a register, from a byte offset.
    Lanes(VReg, u32),
    /// Lanes of this part only.
    Part(VReg, u32),
    /// Zeros.
    Zero,
}

impl SendLowering<'_> {
    pub(super) fn texels(&mut self, t: &Texels) {
        if !self.target.features().sampler {
            return self.fail("an image where there is no sampler");
        }
        let mut starts = !t.keeps;
        let most = match t.op {
            op if op.is_typed() => TYPED,
            ImageOp::Sample { lod, reference, .. } => {
                let coords = t.coords.iter().flatten().count();
                let level = lod.is_some() || !SampleOp::SampleLz.is_on(self.target.platform());
                match coords + usize::from(level) + usize::from(reference.is_some()) {
                    0..=PARAMS => SAMPLED,
                    _ => SAMPLED / 2,
                }
            }
            _ => SAMPLED,
        };
        for part in self.parts(t.lanes, t.mask, (false, false), most) {
            match t.op {
                op if op.is_typed() => self.typed(t, &part, &mut starts),
                ImageOp::LoadSample => self.sample_of(t, &part, &mut starts),
                _ => self.sampled(t, &part, &mut starts),
            }
        }
    }

    fn sampled(&mut self, t: &Texels, part: &MessagePart, starts: &mut bool) {
        let (sampler, lod, reference, [level, zero]) = match t.op {
            ImageOp::Sample {
                sampler,
                lod,
                reference,
            } => {
                let ops = match reference {
                    None => [SampleOp::SampleL, SampleOp::SampleLz],
                    Some(_) => [SampleOp::SampleLC, SampleOp::SampleCLz],
                };
                (sampler, lod, reference, ops)
            }
            ImageOp::Load { lod } => (0, lod, None, [SampleOp::Ld, SampleOp::LdLz]),
            _ => (0, None, None, [SampleOp::Ld; 2]),
        };
        // Without a separate operation for level 0, the level is a parameter.
        let op = if lod.is_none() && zero.is_on(self.target.platform()) {
            zero
        } else {
            level
        };
        let lod = lod.map_or(PayloadRow::Zero, |l| PayloadRow::Lanes(l, 0));
        let coords: Vec<VReg> = t.coords.iter().flatten().copied().collect();
        let rows = self.sampler_rows(op, &coords, |p| match p {
            SampleParam::Lod => Some(lod),
            SampleParam::Ref => reference.map(|r| PayloadRow::Lanes(r, 0)),
            _ => None,
        });
        self.sampler_message(t, part, (op, sampler), &rows, starts);
    }

    /// Returns the payload of a sampler operation: coordinates, and what `other` returns for other
    /// parameters. It ends with the last one that is given; those missing before that are 0.
    fn sampler_rows(
        &self,
        op: SampleOp,
        coords: &[VReg],
        mut other: impl FnMut(SampleParam) -> Option<PayloadRow>,
    ) -> Vec<PayloadRow> {
        let coord = |n: usize| coords.get(n).map(|&r| PayloadRow::Lanes(r, 0));
        let bits = 8 * Type::Ud.bytes();
        let params = op.params(self.target.platform(), bits).unwrap_or_default();
        let rows = params.iter().map(|p| match p {
            SampleParam::U => coord(0),
            SampleParam::V => coord(1),
            SampleParam::R => coord(2),
            SampleParam::Ai => coord(3),
            p => other(*p),
        });
        let mut rows: Vec<Option<PayloadRow>> = rows.collect();
        while let Some(None) = rows.last() {
            rows.pop();
        }
        let zero = |r: Option<PayloadRow>| r.unwrap_or(PayloadRow::Zero);
        rows.into_iter().map(zero).collect()
    }

    /// Emits a load of one sample. Its position in the texel's memory is read first (PRM,
    /// "Multisample Control Surface").
    fn sample_of(&mut self, t: &Texels, part: &MessagePart, starts: &mut bool) {
        let mut coords: Vec<VReg> = t.coords.iter().flatten().copied().collect();
        let Some(number) = coords.pop() else {
            return;
        };
        let lanes = part.simd.channels();
        let size = t.ty.bytes();
        let grfs = COMPONENTS * self.out.grf.hold(lanes * size);
        let places = self.out.temp_grfs(grfs);
        let whole = Texels {
            op: ImageOp::Load { lod: None },
            lanes,
            texels: Some(places),
            keeps: false,
            ..*t
        };
        let rows = self.sampler_rows(SampleOp::LdMcs, &coords, |_| None);
        let mut begins = true;
        self.sampler_message(&whole, part, (SampleOp::LdMcs, 0), &rows, &mut begins);
        // The position has 64 bits where there is a message for it, else 32.
        let op = if SampleOp::Ld2dmsW.is_on(self.target.platform()) {
            SampleOp::Ld2dmsW
        } else {
            SampleOp::Ld2dms
        };
        let mut dwords = 0..;
        let rows = self.sampler_rows(op, &coords, |p| match p {
            SampleParam::Si => Some(PayloadRow::Lanes(number, 0)),
            SampleParam::Mcs => dwords
                .next()
                .map(|n: u32| PayloadRow::Part(places, n * lanes * size)),
            _ => None,
        });
        self.sampler_message(t, part, (op, 0), &rows, starts);
    }

    fn sampler_message(
        &mut self,
        t: &Texels,
        part: &MessagePart,
        (op, sampler): (SampleOp, u8),
        rows: &[PayloadRow],
        starts: &mut bool,
    ) {
        let op = MsgOp::Sample(Sample {
            op,
            mode: match part.simd {
                Simd::S8 => 1,
                _ => 2,
            },
            sampler,
            surface: t.surface,
            half_return: false,
        });
        let header = forms::sampler_header(self.target);
        self.texel_message(t, part, op, rows, header, starts);
    }

    fn typed(&mut self, t: &Texels, part: &MessagePart, starts: &mut bool) {
        let mut rows: Vec<PayloadRow> = Vec::new();
        rows.extend(t.coords.iter().flatten().map(|&r| PayloadRow::Lanes(r, 0)));
        if let ImageOp::Store { lod: Some(lod) } | ImageOp::LoadTyped { lod: Some(lod) } = t.op {
            // The level comes after all three coordinates.
            rows.resize(3, PayloadRow::Zero);
            rows.push(PayloadRow::Lanes(lod, 0));
        }
        let surface = Surface::Bti(t.surface);
        let access = |dir| {
            Rgba::first(COMPONENTS).map(|rgba| MsgOp::Typed {
                dir,
                surface,
                rgba,
                slots: Slots::Low,
                status: false,
            })
        };
        let op = match (t.op, t.texels) {
            (ImageOp::Store { .. }, Some(texels)) => {
                let row = t.lanes * t.ty.bytes();
                rows.extend((0..COMPONENTS).map(|c| PayloadRow::Lanes(texels, c * row)));
                access(Dir::Write)
            }
            (ImageOp::Atomic { op, data }, _) => {
                rows.extend(data.iter().flatten().map(|&r| PayloadRow::Lanes(r, 0)));
                integer_op(op).map(|op| MsgOp::TypedAtomic {
                    op,
                    surface,
                    half: false,
                    high: false,
                    returns: t.texels.is_some(),
                })
            }
            _ => access(Dir::Read),
        };
        let Some(op) = op else {
            return self.fail("an operation that texels do not have");
        };
        let header = forms::typed_header(self.target);
        self.texel_message(t, part, op, &rows, header, starts);
    }

    /// Emits a message of rows of dwords. The response of a read is all components of its texels.
    fn texel_message(
        &mut self,
        t: &Texels,
        part: &MessagePart,
        op: MsgOp,
        rows: &[PayloadRow],
        header: bool,
        starts: &mut bool,
    ) {
        let grf = self.out.grf;
        let size = t.ty.bytes();
        let row = grf.hold(part.simd.channels() * size);
        // With split sends, the first payload is the header, which the messages of a block share.
        // Without a header, it is the first row in place.
        let (first, rows) = if !header {
            self.row_in_place(part, row, rows)
        } else if self.target.split_sends() {
            (Some((self.shared_header(t), 0)), rows)
        } else {
            (None, rows)
        };
        let own_header = header && first.is_none();
        let grfs = u32::from(own_header) + rows.len() as u32 * row;
        let payload = self.out.temp_grfs(grfs);
        if own_header {
            self.texel_header(t, payload);
        }
        for (n, r) in rows.iter().enumerate() {
            let place = (u32::from(own_header) + n as u32 * row) * grf.bytes;
            let to = at(payload, place, part.lanes, Type::Ud);
            let src = match *r {
                PayloadRow::Lanes(reg, from) => {
                    at(reg, from + part.first * size, part.lanes, Type::Ud).plain()
                }
                PayloadRow::Part(reg, from) => at(reg, from, part.lanes, Type::Ud).plain(),
                PayloadRow::Zero => BaleSrc::Imm(0, Type::Ud),
            };
            let mov = Operation::new(Op::Mov, Type::Ud, &[src]);
            self.out.bale_at(to, place == 0, part.lanes, mov);
        }
        let returned = match t.op {
            ImageOp::Store { .. } => None,
            _ => t.texels,
        };
        let back = returned.map_or(0, |_| t.op.components() * row);
        let message = Message {
            header,
            src0_grfs: match first {
                Some(_) if header => 1,
                Some(_) => row as u8,
                None => grfs.min(255) as u8,
            },
            src1_grfs: first.map_or(0, |_| grfs.min(255) as u8),
            response_grfs: back as u8,
            ..Message::new(self.target.platform(), op)
        };
        let (src0, src1) = match first {
            Some(first) => (first, Some((payload, 0))),
            None => ((payload, 0), None),
        };
        let payloads = |dst: Option<VReg>| Payloads {
            dst: dst.map(|r| (r, 0)),
            src0,
            src1,
        };
        let Some(texels) = returned else {
            return self.send_message(message, part, payloads(None), false);
        };
        // If the message has all lanes, the response has the layout of the value.
        if t.lanes == part.simd.channels() {
            self.at_grf(texels);
            let begins = std::mem::replace(starts, false);
            if begins && part.pred.is_some() {
                self.out.emit(MInst::Start { dst: texels });
            }
            return self.send_message(message, part, payloads(Some(texels)), begins);
        }
        let from = self.out.temp_grfs(back);
        if part.pred.is_some() {
            self.out.emit(MInst::Start { dst: from });
        }
        self.send_message(message, part, payloads(Some(from)), true);
        for c in 0..t.op.components() {
            let src = at(from, c * row * grf.bytes, part.lanes, t.ty).plain();
            let place = (c * t.lanes + part.first) * size;
            let to = at(texels, place, part.lanes, t.ty);
            let begins = std::mem::replace(starts, false);
            let mov = Operation::new(Op::Mov, t.ty, &[src]);
            self.out.code.push(part.given(mov, to, begins));
        }
    }

    /// Returns the header of messages like this one, emitted once per block.
    fn shared_header(&mut self, t: &Texels) -> VReg {
        let typed = t.op.is_typed();
        let known = self.texel_headers[usize::from(typed)];
        if let Some(header) = known {
            return header;
        }
        let header = self.out.temp_grfs(1);
        self.texel_header(t, header);
        self.texel_headers[usize::from(typed)] = Some(header);
        header
    }

    /// Returns the first row in place, if a message can take it from there, and the other rows.
    fn row_in_place<'r>(
        &mut self,
        part: &MessagePart,
        grfs: u32,
        rows: &'r [PayloadRow],
    ) -> (Option<PayloadStart>, &'r [PayloadRow]) {
        let grf = self.out.grf.bytes;
        match rows {
            [PayloadRow::Lanes(reg, from), rest @ ..]
                if self.target.split_sends() && !rest.is_empty() =>
            {
                let at = from + part.first * Type::Ud.bytes();
                let whole = part.lanes * Type::Ud.bytes() == grfs * grf;
                if !whole || !at.is_multiple_of(grf) {
                    return (None, rows);
                }
                self.at_grf(*reg);
                (Some((*reg, at)), rest)
            }
            _ => (None, rows),
        }
    }

    /// Emits a header. The sampler's is the thread header, which has the address of the samplers,
    /// with all components enabled and no offsets. That of typed messages enables all slots.
    fn texel_header(&mut self, t: &Texels, to: VReg) {
        let dwords = self.out.grf.bytes / Type::Ud.bytes();
        let typed = t.op.is_typed();
        let (src, dword, value) = if typed {
            (BaleSrc::Imm(0, Type::Ud), 7, 0xffff)
        } else {
            (at(t.header, 0, dwords, Type::Ud).plain(), 2, 0)
        };
        let copy = Operation::new(Op::Mov, Type::Ud, &[src]);
        let head = at(to, 0, dwords, Type::Ud);
        self.out.bale_at(head, true, dwords, copy);
        let set = Operation::new(Op::Mov, Type::Ud, &[BaleSrc::Imm(value, Type::Ud)]);
        let place = at(to, dword * Type::Ud.bytes(), 1, Type::Ud);
        self.out.bale_at(place, false, 1, set);
    }
}
