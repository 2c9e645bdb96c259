//! Samplers of the interpreter: texels along an axis, and levels of detail by Vulkan ("Image
//! Level(s) Selection"), implemented independently.

pub use crate::ir::{Addressing, Compare};
use crate::ir::{Sampler as Declared, SamplerFact};

/// Filter between levels of detail.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MipFilter {
    /// First level.
    None,
    /// Nearest level.
    #[default]
    Nearest,
    /// Weighted mean of two levels.
    Linear,
}

/// Sampler that is an argument of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampler {
    /// Addressing mode of each coordinate.
    pub addressing: [Addressing; 3],
    /// True for linear filtering of magnified texels, false for nearest.
    pub mag: bool,
    /// True for linear filtering of minified texels.
    pub min: bool,
    /// Filter between levels of detail.
    pub mip: MipFilter,
    /// Least and greatest level of detail, in 256ths.
    pub lod: [u16; 2],
    /// True for normalized coordinates, false for coordinates in texels.
    pub normalized: bool,
    /// Comparison.
    pub compare: Compare,
}

/// Levels of a sample.
pub(super) struct Chosen {
    pub(super) linear: bool,
    /// Numbers of levels, and their weights.
    pub(super) levels: [(u64, f32); 2],
}

/// One or two texels along an axis, with the weight of the second.
#[derive(Clone, Copy, Default)]
pub(super) struct Axis {
    pub(super) texels: [i64; 2],
    pub(super) weight: f32,
}

impl Sampler {
    /// Greatest level of detail of any image, in 256ths.
    pub const MAX_LOD: u16 = 14 << 8;

    /// Creates a sampler with one addressing mode and one filter, for coordinates in texels.
    pub const fn new(addressing: Addressing, linear: bool) -> Sampler {
        Sampler {
            addressing: [addressing; 3],
            mag: linear,
            min: linear,
            mip: MipFilter::Nearest,
            lod: [0, Sampler::MAX_LOD],
            normalized: false,
            compare: Compare::Never,
        }
    }

    /// Returns true if the comparison of a reference with a texel holds.
    pub(super) fn holds(&self, reference: f32, texel: f32) -> bool {
        match self.compare {
            Compare::Never => false,
            Compare::Less => reference < texel,
            Compare::Equal => reference == texel,
            Compare::LessOrEqual => reference <= texel,
            Compare::Greater => reference > texel,
            Compare::NotEqual => reference != texel,
            Compare::GreaterOrEqual => reference >= texel,
            Compare::Always => true,
        }
    }

    /// Returns the bounds of the level of detail.
    fn bounds(&self) -> [f32; 2] {
        self.lod.map(|n| f32::from(n) / 256.0)
    }

    /// Returns the levels of an image that a sample takes. A NaN is the least level of detail.
    pub(super) fn levels(&self, count: u32, integers: bool, lod: f32) -> Chosen {
        let [least, most] = self.bounds();
        let lod = if lod.is_nan() { least } else { lod };
        let lod = lod.clamp(least, most);
        let linear = if lod <= 0.0 { self.mag } else { self.min };
        let last = count.max(1) - 1;
        let lod = lod.min(last as f32);
        let (first, weight) = match self.mip {
            MipFilter::None => (0.0, 0.0),
            MipFilter::Linear if !integers => (lod.floor(), lod - lod.floor()),
            _ => ((lod + 0.5).floor(), 0.0),
        };
        let first = first as u64;
        Chosen {
            linear: linear && !integers,
            levels: [(first, 1.0 - weight), (first + 1, weight)],
        }
    }

    /// Returns a property of the sampler.
    pub(super) fn fact(&self, fact: SamplerFact) -> u32 {
        let number = |mode| match mode {
            Addressing::Border => 1,
            Addressing::Edge => 2,
            Addressing::Repeat => 3,
            Addressing::Mirror => 4,
        };
        let [u, v, w] = self.addressing;
        match fact {
            SamplerFact::Addressing => number(u),
            SamplerFact::AddressingV => number(v),
            SamplerFact::AddressingW => number(w),
            SamplerFact::Normalized => u32::from(self.normalized) * 8,
            SamplerFact::Filter => u32::from(self.mag),
            SamplerFact::MinFilter => u32::from(self.min),
            SamplerFact::MipFilter => self.mip as u32,
            SamplerFact::MinLod => self.bounds()[0].to_bits(),
            SamplerFact::MaxLod => self.bounds()[1].to_bits(),
            SamplerFact::Compare => self.compare as u32,
            SamplerFact::Snap => {
                let nearest = !self.mag && !self.min;
                if nearest && self.addressing == [Addressing::Border; 3] {
                    u32::MAX
                } else {
                    0
                }
            }
        }
    }

    /// Returns the texels along axis `n` that a coordinate selects.
    pub(super) fn axis(&self, n: usize, c: f32, texels: u32, linear: bool) -> Axis {
        let addressing = self.addressing[n.min(2)];
        let size = texels as f32;
        let u = match (addressing, self.normalized) {
            (Addressing::Repeat, true) => (c - c.floor()) * size,
            (Addressing::Mirror, true) => (c - 2.0 * (0.5 * c).round_ties_even()).abs() * size,
            (_, true) => c * size,
            (_, false) => c,
        };
        let last = i64::from(texels) - 1;
        let inside = |i: i64| match addressing {
            Addressing::Border => i,
            Addressing::Edge | Addressing::Mirror => i.clamp(0, last),
            Addressing::Repeat => i.rem_euclid(last + 1),
        };
        let from = if linear { u - 0.5 } else { u };
        let floor = from.floor();
        // A NaN is as a coordinate below 0.
        let first = if floor.is_nan() { -2 } else { floor as i64 };
        Axis {
            texels: [inside(first), inside(first.saturating_add(1))],
            weight: (from - floor).min(1.0),
        }
    }
}

impl From<Declared> for Sampler {
    fn from(s: Declared) -> Sampler {
        Sampler {
            normalized: s.normalized,
            ..Sampler::new(s.addressing, s.linear)
        }
    }
}
