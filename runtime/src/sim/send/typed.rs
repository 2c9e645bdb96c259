//! Typed surface messages: texels by integer coordinates, converted by the surface's format.
//!
//! The payload has a row for each of u, v, r and level of detail, as far as it is long, then the
//! data. Data ports have this layout (Skylake PRM, Vol. 2d, MAP32B_TS_SIMD8), and so has the
//! load/store cache.

use super::super::image::SimImage;
use super::super::surface::Surface;
use super::super::thread::Thread;
use super::atomic::AtomicUpdate;
use super::plan::SendOp;
use super::rows::PayloadRows;
use super::scatter::channels;
use gantry_isa_gen::message::{AtomicOp, Dir, Message, MsgOp, Slots};
use gantry_isa_gen::sem;

/// Coordinate row of the level of detail.
const LOD: u32 = 3;

/// Typed message.
pub(super) struct Texels {
    what: TexelOp,
    rows: PayloadRows,
    /// Rows of coordinates, before those of the data.
    coordinates: u32,
    /// Bytes of a row.
    row: u32,
    channels: u32,
    /// Byte offset of the header's sample mask in the GRF file and the first slot's bit, if
    /// the mask applies.
    slots: Option<(u32, u32)>,
    /// Byte offset of the response.
    response: Option<u32>,
}

/// Operation on texels.
#[derive(Clone, Copy)]
pub(super) enum TexelOp {
    /// Read of the components of `mask`, followed by a status row if `status` is set.
    Read {
        /// Mask with a bit for each component.
        mask: u8,
        /// True if there is a status row, which tells if pages are resident.
        status: bool,
    },
    /// Write of the components of `mask`, with the others as 0.
    Write {
        /// Mask with a bit for each component.
        mask: u8,
    },
    /// Update of a texel of one component, of 2 or 4 bytes.
    Atomic(AtomicUpdate, u32),
}

impl TexelOp {
    /// Returns the number of rows of data.
    fn sources(self) -> u32 {
        match self {
            TexelOp::Read { .. } => 0,
            TexelOp::Write { mask } => mask.count_ones(),
            TexelOp::Atomic(update, _) => update.sources(),
        }
    }
}

/// Iterates over the components of a mask, each with its row.
fn components(mask: u8) -> impl Iterator<Item = (u32, usize)> {
    let on = (0..4usize).filter(move |c| mask >> c & 1 == 1);
    on.enumerate().map(|(k, c)| (k as u32, c))
}

impl Texels {
    /// Decodes a message of the data ports before the load/store cache; `None` if it is not a typed
    /// one.
    pub(super) fn of_port(
        s: &SendOp,
        message: &Message,
        grf: u32,
    ) -> Option<Result<Texels, String>> {
        let (what, slots) = match message.op {
            MsgOp::Typed {
                dir: Dir::Read,
                rgba,
                slots,
                status,
                ..
            } => {
                let mask = rgba.mask();
                (TexelOp::Read { mask, status }, slots)
            }
            MsgOp::Typed { rgba, slots, .. } => (TexelOp::Write { mask: rgba.mask() }, slots),
            MsgOp::TypedAtomic { op, half, high, .. } if op != AtomicOp::CmpWr2W => {
                let slots = if high { Slots::High } else { Slots::Low };
                (
                    TexelOp::Atomic(AtomicUpdate::Int(op), if half { 2 } else { 4 }),
                    slots,
                )
            }
            _ => return None,
        };
        let returns = !matches!(message.op, MsgOp::TypedAtomic { returns: false, .. });
        let first = if slots == Slots::High { 8 } else { 0 };
        let texels = Texels::new(s, message, what, (grf / 4, grf), grf);
        Some(texels.map(|t| Texels {
            slots: message.header.then_some((s.src0 + 28, first)),
            response: t.response.filter(|_| returns),
            ..t
        }))
    }

    /// Decodes a message of `channels` channels, whose rows have `row` bytes.
    pub(super) fn new(
        s: &SendOp,
        message: &Message,
        what: TexelOp,
        (channels, row): (u32, u32),
        grf: u32,
    ) -> Result<Texels, String> {
        let rows = PayloadRows::new(s, message, grf);
        let coordinates = (rows.bytes() / row)
            .checked_sub(what.sources())
            .filter(|&n| n > 0)
            .ok_or_else(|| format!("the message has a payload too short: {message}"))?;
        let back = match what {
            TexelOp::Read { mask, status } => mask.count_ones() + u32::from(status),
            TexelOp::Write { .. } => 0,
            TexelOp::Atomic(..) => 1,
        };
        let response = s.dst.filter(|_| message.response_grfs > 0);
        if response.is_some() && back * row > u32::from(message.response_grfs) * grf {
            return Err(format!("the message has a response too short: {message}"));
        }
        Ok(Texels {
            what,
            rows,
            coordinates,
            row,
            channels,
            slots: None,
            response,
        })
    }

    /// Returns the coordinates of each channel's texel.
    fn places(&self, t: &Thread, image: &SimImage) -> [[i64; 3]; 32] {
        let mut out = [[0; 3]; 32];
        let n = self.coordinates.min(image.desc.ty().coordinates());
        for k in 0..n {
            let Some(at) = self.rows.find(k * self.row, self.row) else {
                continue;
            };
            for (i, place) in (0..self.channels).zip(&mut out) {
                let c = t.regs.u32(at + i * 4);
                if let Some(p) = place.get_mut(k as usize) {
                    *p = i64::from(c as i32);
                }
            }
        }
        out
    }

    /// Returns the levels of detail of an image, if the message selects among them.
    fn levels(&self, image: &SimImage) -> Option<Vec<SimImage>> {
        let levels = image.desc.levels();
        (levels > 1 && self.coordinates > LOD)
            .then(|| (0..levels).filter_map(|l| image.level(l)).collect())
    }

    /// Returns the level of detail that a channel selects.
    fn detail(&self, t: &Thread, channel: u32) -> u32 {
        let at = self.rows.find(LOD * self.row, self.row);
        at.map_or(0, |at| t.regs.u32(at + channel * 4))
    }

    /// Returns a channel's value in a row of data.
    fn data(&self, t: &Thread, k: u32, channel: u32) -> u32 {
        let at = self.rows.find((self.coordinates + k) * self.row, self.row);
        at.map_or(0, |at| t.regs.u32(at + channel * 4))
    }

    pub(super) fn run(&self, t: &mut Thread, surface: &Surface, mask: u32) -> Result<(), String> {
        let mut mask = mask & sem::mask(self.channels as usize);
        if let Some((at, first)) = self.slots {
            mask &= t.regs.u32(at) >> first;
        }
        let image = surface.image("a typed message")?;
        let places = image.map_or([[0; 3]; 32], |i| self.places(t, i));
        let levels = image.and_then(|i| self.levels(i));
        // The image of a channel is the level of detail that it selects, if that exists.
        let of = |t: &Thread, channel| match &levels {
            None => image,
            Some(levels) => levels.get(self.detail(t, channel) as usize),
        };
        let texel_bytes = image.map_or(0, |i| u64::from(i.format.texel_bytes()));
        let moved = u64::from(mask.count_ones()) * texel_bytes;
        match self.what {
            TexelOp::Read { mask: read, status } => {
                t.counts.bytes_read += moved;
                let Some(dst) = self.response else {
                    return Ok(());
                };
                for i in channels(mask) {
                    let place = places[i as usize % 32];
                    let texel = match of(t, i) {
                        Some(image) if image.at(place).is_some() => image.load(place),
                        _ => [0; 4],
                    };
                    for (k, c) in components(read) {
                        t.regs.set_u32(dst + k * self.row + i * 4, texel[c]);
                    }
                    if status {
                        // Every page is resident.
                        let at = dst + read.count_ones() * self.row + i * 4;
                        t.regs.set_u32(at, 1);
                    }
                }
            }
            TexelOp::Write { mask: written } => {
                if let Some(i) = image.filter(|i| !i.format.channel().is_written()) {
                    let name = i.format.channel().name();
                    return Err(format!("a typed write to an image of {name}"));
                }
                t.counts.bytes_written += moved;
                for i in channels(mask) {
                    let Some(image) = of(t, i) else {
                        continue;
                    };
                    let mut texel = [0; 4];
                    for (k, c) in components(written) {
                        texel[c] = self.data(t, k, i);
                    }
                    image.store(places[i as usize % 32], texel);
                }
            }
            TexelOp::Atomic(update, bytes) => {
                t.counts.bytes_read += moved;
                t.counts.bytes_written += moved;
                let fits = |i: &SimImage| {
                    texel_bytes == u64::from(bytes) && i.format.order().components() == 1
                };
                if image.is_some_and(|i| !fits(i)) {
                    return Err(format!(
                        "a typed atomic on an image whose texels are not one component of {bytes} bytes"
                    ));
                }
                for i in channels(mask) {
                    let row = |k| {
                        if k < update.sources() {
                            u64::from(self.data(t, k, i))
                        } else {
                            0
                        }
                    };
                    let (a, b) = (row(0), row(1));
                    // Outside the image 0 is returned, and nothing is written.
                    let old = of(t, i)
                        .and_then(|image| Some((image, image.at(places[i as usize % 32])?)))
                        .map_or(0, |(image, at)| {
                            let f = |old| update.apply(old, a, b, bytes);
                            image.block.update(at, u64::from(bytes), f)
                        });
                    if let Some(dst) = self.response {
                        let back = update.returned(old, a, b, bytes);
                        let low = u32::MAX >> (32 - bytes * 8);
                        t.regs.set_u32(dst + i * 4, back as u32 & low);
                    }
                }
            }
        }
        Ok(())
    }
}
