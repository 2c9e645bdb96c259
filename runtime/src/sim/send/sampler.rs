//! Sampler messages: parameters in, texels out.
//!
//! Parameters and their order are in the rows of `gantry_meta` ([`SampleOp::params`]). A parameter
//! takes a register (two in SIMD16; 16-bit ones a register in both). Parameters that the payload is
//! too short for are 0. Control data of multi-sampled surfaces has no effect, since samples are not
//! compressed here.

use super::super::cube;
use super::super::image::{SimImage, Texel};
use super::super::sampler::{Samplers, dimensions, gather, sample, sample_levels};
use super::super::surface::Surface;
use super::super::thread::Thread;
use super::plan::SendOp;
use super::rows::PayloadRows;
use super::scatter::channels;
use crate::image::Sampler;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{self, Message, SampleOp, SampleParam as Param};
use gantry_isa_gen::sem;
use half::f16;

/// Number of parameters.
const PARAMS: usize = Param::DrDy as usize + 1;

/// Values of the parameters in all channels.
type ParamValues = [[u32; 32]; PARAMS];

/// Content of the header, or defaults without one.
#[derive(Default)]
struct SamplerHeader {
    /// Components that are not returned: bits 15:12 of dword 2.
    masked: u32,
    /// Texel offsets along u, v and r: four bits each from bit 11 down.
    offsets: [i32; 3],
    /// Component of `gather4`: bits 17:16.
    component: usize,
}

impl SamplerHeader {
    fn read(t: &Thread, at: u32) -> SamplerHeader {
        let bits = t.regs.u32(at + 8);
        let offset = |lo: u32| ((bits >> lo & 15) as i32) << 28 >> 28;
        SamplerHeader {
            masked: bits >> 12 & 15,
            offsets: [offset(8), offset(4), offset(0)],
            component: (bits >> 16 & 3) as usize,
        }
    }
}

/// Returns the byte offset in the heap of sampler states that dword 3 of a header has. With bit 0
/// set it is in the bindless heap, where it may be any state. Drivers put the states of a kernel 16
/// bytes apart there (compute-runtime, `inline_sampler`). IGC 2.40 sets the bit.
fn sampler_pointer(word: u32) -> u32 {
    match word & 1 {
        0 => word & !0x1f,
        _ => word & !0xf,
    }
}

/// Sampler message.
pub(super) struct Sample {
    op: SampleOp,
    /// Index of the sampler state, counted from the offset in the header.
    sampler: u8,
    /// True if the sampler state matters.
    filters: bool,
    params: &'static [Param],
    rows: PayloadRows,
    /// Byte offset of the header, where there is one.
    header: Option<u32>,
    channels: u32,
    /// Bytes of a parameter's element.
    element: u32,
    /// Bytes between parameters.
    row: u32,
    /// Byte offset of the response, and its length.
    response: Option<(u32, u32)>,
    /// Bytes of a returned element.
    back: u32,
    /// Bytes between components of the response.
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
        let element = if sample.mode >= 5 { 2 } else { 4 };
        // Messages of SIMD32/64 work on pictures (`sample_8x8` and the like).
        let params = sample.op.params(platform, 8 * element).ok_or_else(|| {
            let (n, mode) = (sample.op.bits(), sample.mode);
            format!("the sampler message number {n} of SIMD mode {mode} is not supported")
        })?;
        let channels = match sample.mode {
            1 | 5 => grf / 4,
            2 | 6 => grf / 2,
            mode => {
                return Err(format!(
                    "sampler messages of SIMD mode {mode} are not supported"
                ));
            }
        };
        let back = if sample.half_return { 2 } else { 4 };
        Ok(Sample {
            op: sample.op,
            sampler: sample.sampler,
            filters: sample.op.reads_state(),
            params,
            rows: PayloadRows::new(s, message, grf),
            header: message.header.then_some(s.src0),
            channels,
            element,
            row: (channels * element).next_multiple_of(grf),
            response: s.dst.map(|d| (d, u32::from(message.response_grfs) * grf)),
            back,
            back_row: (channels * back).next_multiple_of(grf),
        })
    }

    /// Returns the elements of parameter `k` in all channels.
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
        // Without a header the table is the thread's own, which is also in r0.3 of every thread.
        let (header, table) = match self.header {
            Some(at) => (
                SamplerHeader::read(t, at),
                sampler_pointer(t.regs.u32(at + 12)),
            ),
            None => (SamplerHeader::default(), 0),
        };
        let sampler = if self.filters {
            Some(samplers.get(table, self.sampler)?)
        } else {
            None
        };
        let mut values: ParamValues = [[0; 32]; PARAMS];
        for (k, p) in self.params.iter().enumerate() {
            values[*p as usize] = self.parameter(t, k);
        }
        let mut texels = [[0; 4]; 32];
        if let Some(image) = image {
            for i in channels(mask) {
                let i = i as usize;
                texels[i] = self.texel(image, sampler, |p| values[p as usize][i], &header);
            }
            let bytes = u64::from(image.format.texel_bytes());
            t.counts.bytes_read += u64::from(mask.count_ones()) * bytes;
        }
        let Some((dst, room)) = self.response else {
            return Ok(());
        };
        let integer = image.is_none_or(|i| i.format.channel().is_integer())
            || matches!(
                self.op,
                SampleOp::ResInfo | SampleOp::SampleInfo | SampleOp::LdMcs
            );
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

    /// Returns the texel of one channel.
    fn texel(
        &self,
        image: &SimImage,
        sampler: Option<&Sampler>,
        value: impl Fn(Param) -> u32,
        header: &SamplerHeader,
    ) -> Texel {
        let n = image.desc.ty().coordinates() as usize;
        match (self.op, sampler) {
            (SampleOp::ResInfo, _) => {
                let levels = image.desc.levels();
                match image.level(value(Param::Lod)).map(|i| i.extent) {
                    Some([x, y, z]) => {
                        let y = if n > 1 { y } else { 0 };
                        [x, y, if n > 2 { z } else { 0 }, levels]
                    }
                    None => [0, 0, 0, levels],
                }
            }
            (SampleOp::SampleInfo, _) => [image.desc.samples(), 0, 0, 0],
            // Samples are not compressed.
            (SampleOp::LdMcs, _) => [0; 4],
            // The level of detail, clamped and not. It is 0, since there are no neighbours to
            // compare with.
            (SampleOp::Lod, Some(s)) => {
                let last = image.desc.levels().saturating_sub(1);
                let [least, _] = s.lod();
                [least.min(last as f32).to_bits(), 0, 0, 0]
            }
            (op, Some(s)) => {
                let float = |p| self.float(value(p));
                let coords = [Param::U, Param::V, Param::R].map(float);
                let own = [Param::OffU, Param::OffV].map(|p| self.offset(value(p)));
                let offsets = match op {
                    SampleOp::Gather4Po | SampleOp::Gather4PoC => [own[0], own[1], 0],
                    _ => header.offsets,
                };
                let reference = self.params.contains(&Param::Ref);
                let reference = reference.then(|| float(Param::Ref));
                match op {
                    SampleOp::Gather4 | SampleOp::Gather4Po => {
                        gather(image, s, coords, offsets, header.component, None)
                    }
                    SampleOp::Gather4C | SampleOp::Gather4PoC => {
                        gather(image, s, coords, offsets, 0, reference)
                    }
                    _ => {
                        let detail = self.detail(image, coords, float);
                        sample_levels(image, s, detail, |level, filter| {
                            if level.desc.ty().is_cube() {
                                let at = (coords, float(Param::Ai));
                                return cube::sample(level, s, filter, at, reference);
                            }
                            sample(level, s, filter, (coords, offsets), reference)
                        })
                    }
                }
            }
            (op, None) => {
                let mut place = [0; 3];
                let given = [Param::U, Param::V, Param::R].into_iter().take(n);
                for (place, (p, offset)) in place.iter_mut().zip(given.zip(header.offsets)) {
                    *place = i64::from(self.integer(value(p))) + i64::from(offset);
                }
                match op {
                    SampleOp::Ld | SampleOp::LdLz => match value(Param::Lod) {
                        0 => image.load(place),
                        // Loads outside the image, and at levels that do not exist, give the border
                        // color.
                        lod => image
                            .level(lod)
                            .map_or_else(|| image.border(), |i| i.load(place)),
                    },
                    _ => image.load_sample(place, value(Param::Si)),
                }
            }
        }
    }

    /// Converts a parameter to a float.
    fn float(&self, v: u32) -> f32 {
        match self.element {
            2 => f16::from_bits(v as u16).to_f32(),
            _ => f32::from_bits(v),
        }
    }

    /// Converts a parameter to an integer.
    fn integer(&self, v: u32) -> i32 {
        match self.element {
            2 => i32::from(v as i16),
            _ => v as i32,
        }
    }

    /// Returns a texel offset of `gather4_po`, of which six bits count.
    fn offset(&self, v: u32) -> i32 {
        self.integer(v) << 26 >> 26
    }

    /// Returns the level of detail that a sample asks for. Without a parameter for it, it is 0,
    /// since a kernel's channels are no neighbours, and a bias is all.
    fn detail(&self, image: &SimImage, at: [f32; 3], float: impl Fn(Param) -> f32) -> f32 {
        match self.op {
            SampleOp::SampleL | SampleOp::SampleLC => float(Param::Lod),
            SampleOp::SampleB | SampleOp::SampleBC => float(Param::Bias),
            SampleOp::SampleD | SampleOp::SampleDC => {
                // The longer of the two gradients, in texels.
                let length = |steps: [Param; 3]| {
                    let steps = steps.map(&float);
                    if image.desc.ty().is_cube() {
                        return cube::step(at, steps, image.extent[0] as f32);
                    }
                    let filtered = dimensions(image);
                    let texels = steps.into_iter().zip(image.extent).take(filtered);
                    let squares = texels.map(|(step, n)| (step * n as f32).powi(2));
                    squares.sum::<f32>().sqrt()
                };
                let x = length([Param::DuDx, Param::DvDx, Param::DrDx]);
                x.max(length([Param::DuDy, Param::DvDy, Param::DrDy]))
                    .log2()
            }
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindless_states_are_16_bytes_apart() {
        assert_eq!(sampler_pointer(0x40 | 0x10 | 1), 0x50);
        assert_eq!(sampler_pointer(0x40 | 0x1e), 0x40);
    }
}
