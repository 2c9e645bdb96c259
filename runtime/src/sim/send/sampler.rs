//! Sampler messages: parameters in, texels out.
//!
//! Layouts: Skylake PRM, Vol. 7, "Sampler Message Format"; what differs by generation is in [`parameters`]. A parameter
//! takes a register (two in SIMD16; 16-bit ones a register in both), and those that the payload is too short for are 0.

use super::super::image::{SimImage, Texel};
use super::super::sampler::{Samplers, gather, sample};
use super::super::surface::Surface;
use super::super::thread::Thread;
use super::plan::SendOp;
use super::rows::Rows;
use super::scatter::channels;
use crate::image::Sampler;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{self, Message, SampleOp};
use gantry_isa_gen::sem;
use half::f16;

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Param {
    U,
    V,
    R,
    /// Level of detail of `ld`: there is one level only.
    Lod,
    /// Bias, derivatives, level of detail of samples: of no effect on images of one level.
    Other,
}

/// The parameters of an operation, in payload order.
fn parameters(platform: Platform, op: SampleOp) -> Option<&'static [Param]> {
    use Param::{Lod, Other, R, U, V};
    Some(match op {
        SampleOp::Sample
        | SampleOp::SampleLz
        | SampleOp::SampleMin
        | SampleOp::SampleMax
        | SampleOp::SampleKillPix
        | SampleOp::Lod
        | SampleOp::Gather4 => &[U, V, R],
        SampleOp::SampleL | SampleOp::SampleB => &[Other, U, V, R],
        SampleOp::SampleD => &[U, Other, Other, V, Other, Other, R],
        SampleOp::Ld if platform < Platform::Gen9 => &[U, Lod, V, R],
        SampleOp::Ld => &[U, V, Lod, R],
        SampleOp::LdLz => &[U, V, R],
        SampleOp::ResInfo => &[Lod],
        SampleOp::SampleInfo => &[],
        _ => return None,
    })
}

/// What the header says; nothing without one.
#[derive(Default)]
struct Header {
    /// Components that do not come back: bits 15:12 of dword 2.
    masked: u32,
    /// Texel offsets along u, v and r: four bits each from bit 11 down.
    offsets: [i32; 3],
    /// The component of `gather4`: bits 17:16.
    component: usize,
}

impl Header {
    fn read(t: &Thread, at: u32) -> Header {
        let bits = t.regs.u32(at + 8);
        let offset = |lo: u32| ((bits >> lo & 15) as i32) << 28 >> 28;
        Header {
            masked: bits >> 12 & 15,
            offsets: [offset(8), offset(4), offset(0)],
            component: (bits >> 16 & 3) as usize,
        }
    }
}

/// A sampler message.
pub(super) struct Sample {
    op: SampleOp,
    /// Which sampler state, counted from where the header points.
    sampler: u8,
    params: &'static [Param],
    rows: Rows,
    /// Byte offset of the header, where there is one.
    header: Option<u32>,
    channels: u32,
    /// Bytes of a parameter's element.
    element: u32,
    /// Bytes from parameter to parameter.
    row: u32,
    /// Byte offset of the response, and its bytes.
    response: Option<(u32, u32)>,
    /// Bytes of an element that comes back.
    back: u32,
    /// Bytes from component to component of the response.
    back_row: u32,
}

impl Sample {
    pub(super) fn new(
        s: &SendOp,
        platform: Platform,
        message: &Message,
        sample: &message::Sample,
        grf: u32,
    ) -> Result<Sample, String> {
        let name = sample.op.name();
        let params = parameters(platform, sample.op)
            .ok_or_else(|| format!("the sampler message `{name}` is not supported"))?;
        let channels = match sample.mode {
            1 | 5 => grf / 4,
            2 | 6 => grf / 2,
            mode => {
                return Err(format!(
                    "sampler messages of SIMD mode {mode} are not supported"
                ));
            }
        };
        let element = if sample.mode >= 5 { 2 } else { 4 };
        let back = if sample.half_return { 2 } else { 4 };
        Ok(Sample {
            op: sample.op,
            sampler: sample.sampler,
            params,
            rows: Rows::new(s, message, grf),
            header: message.header.then_some(s.src0),
            channels,
            element,
            row: (channels * element).next_multiple_of(grf),
            response: s.dst.map(|d| (d, u32::from(message.response_grfs) * grf)),
            back,
            back_row: (channels * back).next_multiple_of(grf),
        })
    }

    /// The elements of parameter `k`, all channels.
    fn parameter(&self, t: &Thread, k: usize) -> [u32; 32] {
        let mut out = [0; 32];
        if let Some(at) = self.rows.find(k as u32 * self.row, self.row) {
            for (i, o) in (0..self.channels).zip(&mut out) {
                *o = t.regs.element(at + i * self.element, self.element) as u32;
            }
        }
        out
    }

    pub(super) fn run(
        &self,
        t: &mut Thread,
        surface: &Surface,
        samplers: &Samplers,
        mask: u32,
    ) -> Result<(), String> {
        let mask = mask & sem::mask(self.channels as usize);
        let image = surface.image("a sampler message")?;
        // Without a header the table is the thread's own, which r0.3 of every thread says too.
        let (header, table) = match self.header {
            Some(at) => (Header::read(t, at), t.regs.u32(at + 12) & !0x1f),
            None => (Header::default(), 0),
        };
        let sampler = match self.op {
            SampleOp::Ld
            | SampleOp::LdLz
            | SampleOp::Lod
            | SampleOp::ResInfo
            | SampleOp::SampleInfo => None,
            _ => Some(samplers.get(table, self.sampler)?),
        };
        let mut rows = [[0; 32]; 3];
        let mut lods = [0; 32];
        for (k, p) in self.params.iter().enumerate() {
            match p {
                Param::U => rows[0] = self.parameter(t, k),
                Param::V => rows[1] = self.parameter(t, k),
                Param::R => rows[2] = self.parameter(t, k),
                Param::Lod => lods = self.parameter(t, k),
                Param::Other => {}
            }
        }
        let mut texels = [[0; 4]; 32];
        if let Some(image) = image {
            for i in channels(mask) {
                let i = i as usize;
                let coords = rows.map(|r| r[i]);
                texels[i] = self.texel(image, sampler, coords, lods[i], &header);
            }
            let bytes = u64::from(image.format.texel_bytes());
            t.counts.bytes_read += u64::from(mask.count_ones()) * bytes;
        }
        let Some((dst, room)) = self.response else {
            return Ok(());
        };
        let integer = image.is_none_or(|i| i.format.channel().is_integer())
            || matches!(self.op, SampleOp::ResInfo | SampleOp::SampleInfo);
        let wanted = (0..4usize).filter(|c| header.masked >> c & 1 == 0);
        for (k, c) in wanted.enumerate() {
            let at = k as u32 * self.back_row;
            if at + self.back_row > room {
                break;
            }
            for i in channels(mask) {
                let v = texels[i as usize][c];
                let v = match self.back {
                    2 if !integer => u32::from(f16::from_f32(f32::from_bits(v)).to_bits()),
                    _ => v,
                };
                let at = dst + at + i * self.back;
                t.regs.set_element(at, self.back, u64::from(v));
            }
        }
        Ok(())
    }

    /// What one channel gets.
    fn texel(
        &self,
        image: &SimImage,
        sampler: Option<&Sampler>,
        coords: [u32; 3],
        lod: u32,
        header: &Header,
    ) -> Texel {
        let n = image.desc.ty().coordinates() as usize;
        match (self.op, sampler) {
            (SampleOp::ResInfo, _) => match lod {
                0 => {
                    let [x, y, z] = image.extent;
                    [x, if n > 1 { y } else { 0 }, if n > 2 { z } else { 0 }, 1]
                }
                // There is one level.
                _ => [0, 0, 0, 1],
            },
            (SampleOp::SampleInfo, _) => [1, 0, 0, 0],
            // The level, clamped and not: there is one.
            (SampleOp::Lod, _) => [0; 4],
            (op, Some(s)) => {
                let coords = coords.map(|c| match self.element {
                    2 => f16::from_bits(c as u16).to_f32(),
                    _ => f32::from_bits(c),
                });
                if op == SampleOp::Gather4 {
                    gather(image, s, coords, header.offsets, header.component)
                } else {
                    sample(image, s, coords, header.offsets)
                }
            }
            (_, None) => {
                let mut place = [0; 3];
                let given = coords.into_iter().zip(header.offsets).take(n);
                for (p, (c, offset)) in place.iter_mut().zip(given) {
                    let c = match self.element {
                        2 => i64::from(c as i16),
                        _ => i64::from(c as i32),
                    };
                    *p = c + i64::from(offset);
                }
                // Outside, and at levels that are not there, loads give the border.
                match lod {
                    0 => image.load(place),
                    _ => image.border(),
                }
            }
        }
    }
}
