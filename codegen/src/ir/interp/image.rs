//! Images and samplers of the interpreter: formats, addressing and filtering by OpenCL C 8.2 and
//! 8.3, implemented independently.
//!
//! Texels outside of an image read as zeros, with a last component of 1 if the format has none.
//! Nearest sampling is exact. Weights of linear filtering are singles, while the hardware's have 8
//! bits, so results differ by at most 1/256 of the difference of neighbours.

use super::cube;
use super::memory::{Memory, MemoryError, from_le};
use super::sampler::{Axis, Sampler};
use crate::ir::{ImageFact, ImageShape};
use half::f16;

/// Storage format of a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Component {
    /// 8-bit number that represents 0 to 1.
    Unorm8,
    /// Signed 8-bit integer.
    Sint8,
    /// Signed 16-bit integer.
    Sint16,
    /// Signed 32-bit integer.
    Sint32,
    /// Unsigned 8-bit integer.
    Uint8,
    /// Unsigned 16-bit integer.
    Uint16,
    /// Unsigned 32-bit integer.
    Uint32,
    /// Half float.
    F16,
    /// Single float.
    F32,
}

impl Component {
    /// Bytes in memory.
    pub const fn bytes(self) -> u32 {
        match self {
            Component::Unorm8 | Component::Sint8 | Component::Uint8 => 1,
            Component::Sint16 | Component::Uint16 | Component::F16 => 2,
            Component::Sint32 | Component::Uint32 | Component::F32 => 4,
        }
    }

    /// Returns true if a kernel sees an integer.
    pub const fn is_integer(self) -> bool {
        !matches!(self, Component::Unorm8 | Component::F16 | Component::F32)
    }

    /// Returns OpenCL's number of the format.
    const fn number(self) -> u32 {
        match self {
            Component::Unorm8 => 0x10d2,
            Component::Sint8 => 0x10d7,
            Component::Sint16 => 0x10d8,
            Component::Sint32 => 0x10d9,
            Component::Uint8 => 0x10da,
            Component::Uint16 => 0x10db,
            Component::Uint32 => 0x10dc,
            Component::F16 => 0x10dd,
            Component::F32 => 0x10de,
        }
    }

    /// Converts bits in memory to a kernel's component.
    fn decode(self, bits: u32) -> u32 {
        match self {
            Component::Unorm8 => (bits as f32 * (1.0 / 255.0)).to_bits(),
            Component::F16 => f16::from_bits(bits as u16).to_f32().to_bits(),
            Component::Sint8 => bits as i8 as u32,
            Component::Sint16 => bits as i16 as u32,
            _ => bits,
        }
    }

    /// Converts a kernel's component to bits in memory: rounded to nearest even, clamped to the
    /// range.
    fn encode(self, v: u32) -> u32 {
        let float = f32::from_bits(v);
        match self {
            Component::Unorm8 if float.is_nan() => 0,
            Component::Unorm8 => (float.clamp(0.0, 1.0) * 255.0).round_ties_even() as u32,
            Component::F16 => u32::from(f16::from_f32(float).to_bits()),
            Component::Sint8 => (v as i32).clamp(-0x80, 0x7f) as u32 & 0xff,
            Component::Sint16 => (v as i32).clamp(-0x8000, 0x7fff) as u32 & 0xffff,
            Component::Uint8 => v.min(0xff),
            Component::Uint16 => v.min(0xffff),
            Component::Sint32 | Component::Uint32 | Component::F32 => v,
        }
    }
}

/// Image in memory.
///
/// Texels are contiguous, row by row, rows slice by slice or layer by layer, and these level by
/// level. A multisampled image has one plane per sample within each layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Image {
    /// Shape of the image.
    pub shape: ImageShape,
    /// Texels along each coordinate, then the layers of an array. 1 along dimensions that the shape
    /// does not have. The layers of cubes are their faces.
    pub extent: [u32; 3],
    /// Samples of a texel.
    pub samples: u32,
    /// Levels of detail, each half as large as the one before.
    pub levels: u32,
    /// Number of components of a texel: 1, 2 or 4, in the order of the four that kernels see.
    pub components: u32,
    /// Storage format of each component.
    pub component: Component,
    /// Address of the first texel.
    pub address: u64,
}

/// Texel of four components, as a kernel sees it.
pub(super) type Texel = [u32; 4];

impl Image {
    fn one(&self) -> u32 {
        if self.component.is_integer() {
            1
        } else {
            1f32.to_bits()
        }
    }

    /// Returns a level of detail as an image of one level; `None` where there is none.
    pub(super) fn level(&self, level: u64) -> Option<Image> {
        let shrinking = match self.shape {
            ImageShape::D1 | ImageShape::D1Array | ImageShape::Buffer => 1,
            ImageShape::D3 => 3,
            _ => 2,
        };
        let mut out = *self;
        for _ in 0..(level < u64::from(self.levels.max(1))).then_some(level)? {
            let texels = out.extent.iter().map(|n| u64::from(*n)).product::<u64>();
            let bytes = self.samples.max(1) * self.components * self.component.bytes();
            out.address += texels * u64::from(bytes);
            for n in out.extent.iter_mut().take(shrinking) {
                *n = (*n / 2).max(1);
            }
        }
        out.levels = 1;
        Some(out)
    }

    /// Returns the bytes of all texels.
    pub fn byte_len(&self) -> u64 {
        let last = self.level(u64::from(self.levels.max(1)) - 1);
        let last = last.unwrap_or(*self);
        let texels = last.extent.iter().map(|n| u64::from(*n));
        let texel = self.samples.max(1) * self.components * self.component.bytes();
        let level = texels.fold(u64::from(texel), u64::saturating_mul);
        (last.address - self.address).saturating_add(level)
    }

    /// Returns the address of a texel; `None` outside of the image.
    fn at(&self, place: [i64; 4]) -> Option<u64> {
        let [w, h, d] = self.extent.map(i64::from);
        let samples = i64::from(self.samples.max(1));
        let (x, y, z, sample) = match (self.shape, place) {
            (ImageShape::D2Msaa, [x, y, sample, _]) => (x, y, 0, sample),
            (_, [x, y, z, sample]) => (x, y, z, sample),
        };
        let inside = (0..w).contains(&x) && (0..h).contains(&y) && (0..d).contains(&z);
        let inside = inside && (0..samples).contains(&sample);
        let z = z * samples + sample;
        let size = u64::from(self.components * self.component.bytes());
        inside.then(|| {
            let texel = (z * h + y) * w + x;
            self.address + texel as u64 * size
        })
    }

    /// Loads a texel.
    pub(super) fn load(
        &self,
        memory: &mut dyn Memory,
        place: [i64; 4],
    ) -> Result<Texel, MemoryError> {
        let mut out = [0, 0, 0, 0];
        let there = self.components.min(4) as usize;
        if there < 4 {
            out[3] = self.one();
        }
        let Some(at) = self.at(place) else {
            return Ok(out);
        };
        let size = self.component.bytes();
        for (n, o) in out.iter_mut().enumerate().take(there) {
            let mut bytes = [0; 4];
            let part = bytes.get_mut(..size as usize).unwrap_or(&mut []);
            memory.read(at + u64::from(n as u32 * size), part)?;
            *o = self.component.decode(from_le(part) as u32);
        }
        Ok(out)
    }

    /// Stores a texel. Does nothing outside of the image.
    pub(super) fn store(
        &self,
        memory: &mut dyn Memory,
        place: [i64; 4],
        texel: Texel,
    ) -> Result<(), MemoryError> {
        let Some(at) = self.at(place) else {
            return Ok(());
        };
        let size = self.component.bytes();
        for (n, &v) in texel.iter().enumerate().take(self.components as usize) {
            let bytes = self.component.encode(v).to_le_bytes();
            memory.write(at + u64::from(n as u32 * size), &bytes[..size as usize])?;
        }
        Ok(())
    }

    /// Returns true if a texel is one 32-bit integer, as for atomics.
    pub(super) fn has_counters(&self) -> bool {
        self.components == 1 && matches!(self.component, Component::Sint32 | Component::Uint32)
    }

    /// Changes a texel of one 32-bit integer, and returns what it was. Outside of the image that is
    /// 0, and nothing changes.
    pub(super) fn update(
        &self,
        memory: &mut dyn Memory,
        place: [i64; 4],
        change: impl FnOnce(u32) -> u32,
    ) -> Result<u32, MemoryError> {
        let Some(at) = self.at(place) else {
            return Ok(0);
        };
        let mut bytes = [0; 4];
        memory.read(at, &mut bytes)?;
        let old = u32::from_le_bytes(bytes);
        memory.write(at, &change(old).to_le_bytes())?;
        Ok(old)
    }

    /// Loads a texel. With a reference, its first component is the result of the comparison.
    fn compared(
        &self,
        memory: &mut dyn Memory,
        place: [i64; 4],
        (sampler, reference): (&Sampler, Option<f32>),
    ) -> Result<Texel, MemoryError> {
        let mut texel = self.load(memory, place)?;
        if let Some(reference) = reference {
            let holds = sampler.holds(reference, f32::from_bits(texel[0]));
            texel[0] = f32::from(u8::from(holds)).to_bits();
        }
        Ok(texel)
    }

    /// Samples a cube in a direction.
    fn sample_cube(
        &self,
        memory: &mut dyn Memory,
        (by, linear): ((&Sampler, Option<f32>), bool),
        [x, y, z, cube]: [f32; 4],
    ) -> Result<Texel, MemoryError> {
        let [size, _, faces] = self.extent;
        let cubes = i64::from(faces / 6);
        let cube = match self.shape {
            ImageShape::CubeArray => (cube.round_ties_even() as i64).clamp(0, cubes - 1),
            _ => 0,
        };
        let mut sum = [0f32; 4];
        for ([x, y, face], weight) in cube::texels([x, y, z], size, linear) {
            let texel = self.compared(memory, [x, y, 6 * cube + face, 0], by)?;
            if !linear {
                return Ok(texel);
            }
            for (s, t) in sum.iter_mut().zip(texel).filter(|_| weight != 0.0) {
                *s += f32::from_bits(t) * weight;
            }
        }
        Ok(sum.map(f32::to_bits))
    }

    /// Samples the image at coordinates and a level of detail, and compares with a reference if
    /// there is one.
    pub(super) fn sample(
        &self,
        memory: &mut dyn Memory,
        sampler: &Sampler,
        (coords, lod): ([f32; 4], f32),
        reference: Option<f32>,
    ) -> Result<Texel, MemoryError> {
        let chosen = sampler.levels(self.levels, self.component.is_integer(), lod);
        let mut sum: Option<[f32; 4]> = None;
        for (level, weight) in chosen.levels {
            let Some(image) = self.level(level).filter(|_| weight != 0.0) else {
                continue;
            };
            let by = ((sampler, reference), chosen.linear);
            let texel = image.sample_level(memory, by, coords)?;
            if weight == 1.0 {
                return Ok(texel);
            }
            let parts = texel.map(|t| f32::from_bits(t) * weight);
            let sum = sum.get_or_insert([0.0; 4]);
            sum.iter_mut().zip(parts).for_each(|(s, p)| *s += p);
        }
        Ok(sum.unwrap_or_default().map(f32::to_bits))
    }

    /// Samples an image of one level.
    fn sample_level(
        &self,
        memory: &mut dyn Memory,
        ((sampler, reference), linear): ((&Sampler, Option<f32>), bool),
        coords: [f32; 4],
    ) -> Result<Texel, MemoryError> {
        if self.shape.is_cube() {
            return self.sample_cube(memory, ((sampler, reference), linear), coords);
        }
        let all = self.shape.coordinates();
        let filtered = all - usize::from(self.shape.is_array());
        let mut axes = [Axis::default(); 3];
        let ends = coords.into_iter().zip(self.extent);
        for (n, (axis, (c, size))) in axes.iter_mut().zip(ends).enumerate() {
            if n < filtered {
                *axis = sampler.axis(n, c, size, linear);
            } else if n < all {
                let layer = c.round_ties_even() as i64;
                axis.texels = [layer.clamp(0, i64::from(size) - 1); 2];
            }
        }
        let place = |corner: usize| {
            let mut n = 0;
            let [x, y, z] = axes.map(|a| {
                n += 1;
                a.texels[corner >> (n - 1) & 1]
            });
            [x, y, z, 0]
        };
        if !linear {
            return self.compared(memory, place(0), (sampler, reference));
        }
        let mut sum = [0f32; 4];
        for corner in 0..1usize << filtered {
            let weights = axes.iter().enumerate().take(filtered);
            let weight: f32 = weights
                .map(|(n, a)| match corner >> n & 1 {
                    0 => 1.0 - a.weight,
                    _ => a.weight,
                })
                .product();
            if weight != 0.0 {
                let by = (sampler, reference);
                let texel = self.compared(memory, place(corner), by)?;
                for (s, t) in sum.iter_mut().zip(texel) {
                    *s += f32::from_bits(t) * weight;
                }
            }
        }
        Ok(sum.map(f32::to_bits))
    }

    /// Returns the address of a byte of a rectangle. Outside of the image and if `nearest`, it is
    /// the corresponding byte of the nearest texel.
    pub(super) fn byte(&self, x: i64, y: i64, nearest: bool) -> Option<u64> {
        let texel = i64::from(self.components * self.component.bytes()).max(1);
        let (row, rows) = (i64::from(self.extent[0]) * texel, i64::from(self.extent[1]));
        let inside = (0..row).contains(&x) && (0..rows).contains(&y);
        if !inside && !nearest {
            return None;
        }
        let x = match x {
            x if x < 0 => x.rem_euclid(texel),
            x if x >= row => row - texel + x.rem_euclid(texel),
            x => x,
        };
        let at = y.clamp(0, rows - 1) * row + x;
        Some(self.address + at as u64)
    }

    /// Returns a property of the image.
    pub(super) fn fact(&self, fact: ImageFact) -> u32 {
        let [x, y, z] = self.extent;
        match (fact, self.shape) {
            (ImageFact::Width, _) => x,
            (ImageFact::ChannelType, _) => self.component.number(),
            // `CL_R`, `CL_RG`, `CL_RGBA`.
            (ImageFact::ChannelOrder, _) => match self.components {
                1 => 0x10b0,
                2 => 0x10b2,
                _ => 0x10b5,
            },
            (
                ImageFact::Height,
                ImageShape::D2
                | ImageShape::D2Array
                | ImageShape::D3
                | ImageShape::Block
                | ImageShape::D2Msaa
                | ImageShape::D2ArrayMsaa
                | ImageShape::Cube
                | ImageShape::CubeArray,
            ) => y,
            (ImageFact::Depth, ImageShape::D3) => z,
            (ImageFact::Layers, ImageShape::D1Array) => y,
            (ImageFact::Layers, ImageShape::D2Array | ImageShape::D2ArrayMsaa) => z,
            (ImageFact::Layers, ImageShape::CubeArray) => z / 6,
            (ImageFact::Samples, shape) if shape.is_msaa() => self.samples,
            (ImageFact::LayerRange, shape) => {
                let layers = match shape {
                    ImageShape::D1Array => y,
                    shape if shape.is_array() || shape.is_cube() => z,
                    ImageShape::D2ArrayMsaa => z,
                    _ => 1,
                };
                layers << 16
            }
            (ImageFact::FlatWidth | ImageFact::FlatPitch, _) => {
                let texel = self.components * self.component.bytes();
                x.wrapping_mul(texel).wrapping_sub(1)
            }
            (ImageFact::FlatHeight, shape) => match shape {
                ImageShape::D1 | ImageShape::D1Array | ImageShape::Buffer => 0,
                _ => y.wrapping_sub(1),
            },
            (ImageFact::Levels, _) if self.levels > 1 => self.levels,
            _ => 0,
        }
    }
}
