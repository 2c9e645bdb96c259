//! Samplers as the host sees them. Names are OpenCL's.

gantry_isa_gen::named_enum! {
    /// Treatment of coordinates outside an image.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum AddressMode {
        /// Undefined, for kernels that never sample outside. Samplers take it as
        /// [`AddressMode::Clamp`], as the driver programs it.
        None = "none",
        /// Border color: 0, with alpha 1 where the format has no alpha.
        Clamp = "clamp",
        /// Nearest texel of the edge.
        ClampToEdge = "clamp_to_edge",
        /// Repetition of the image. Normalized coordinates only.
        Repeat = "repeat",
        /// Repetition of the image, mirrored every other time. Normalized coordinates only.
        Mirror = "mirror",
    }
}

gantry_isa_gen::named_enum! {
    /// Filter by which a sampler computes a value from texels.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum FilterMode {
        /// Value of the texel that contains the coordinates.
        Nearest = "nearest",
        /// Weighted mean of the two, four or eight nearest texels.
        Linear = "linear",
    }
}

/// Comparison of a reference with a texel, which yields 1 if it holds and else 0. OpenCL has no
/// such samplers; other APIs have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Compare {
    /// Never: samplers that do not compare.
    #[default]
    Never,
    /// Reference less than the texel.
    Less,
    /// Equal.
    Equal,
    /// Reference less than or equal to the texel.
    LessOrEqual,
    /// Reference greater than the texel.
    Greater,
    /// Not equal.
    NotEqual,
    /// Reference greater than or equal to the texel.
    GreaterOrEqual,
    /// Always.
    Always,
}

impl Compare {
    /// Returns true if the comparison holds. A NaN is not equal to anything, and not less or
    /// greater.
    pub fn holds(self, reference: f32, texel: f32) -> bool {
        match self {
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
}

gantry_isa_gen::named_enum! {
    /// Filter by which a sampler chooses among levels of detail.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum MipFilter {
        /// First level, whatever the level of detail.
        None = "none",
        /// Level that is nearest to the level of detail.
        Nearest = "nearest",
        /// Weighted mean of the two levels around the level of detail.
        Linear = "linear",
    }
}

/// Sampler: how coordinates select texels of an image.
///
/// ```
/// use gantry_runtime::{AddressMode, FilterMode, MipFilter, Sampler};
///
/// let short = Sampler::new(AddressMode::ClampToEdge, FilterMode::Linear).normalized();
/// let long = short
///     .addressing([AddressMode::Repeat, AddressMode::Mirror, AddressMode::ClampToEdge])
///     .magnifying(FilterMode::Nearest)
///     .between_levels(MipFilter::Linear)
///     .lod_clamp(0.5, 3.0);
/// assert_eq!(long.lod(), [0.5, 3.0]);
/// assert!(short.is_plain() && !long.is_plain());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampler {
    /// Treatment of each coordinate outside the image.
    pub address: [AddressMode; 3],
    /// Filter between texels where they are magnified: at a level of detail of at most 0.
    pub mag: FilterMode,
    /// Filter between texels elsewhere.
    pub min: FilterMode,
    /// Filter between levels of detail.
    pub mip: MipFilter,
    /// True if coordinates of 0 to 1 span the image. Otherwise they count texels.
    pub normalized: bool,
    /// Comparison that messages which compare make with a texel's red component.
    pub compare: Compare,
    /// Least and greatest level of detail, in 256ths, as `SAMPLER_STATE` has them: "Min LOD", bits
    /// 63:52, and "Max LOD", bits 51:40, both U4.8 (`src/intel/genxml/gen9.xml` of Mesa).
    lod: [u16; 2],
}

impl Sampler {
    /// Greatest level of detail of `SAMPLER_STATE`: that of the last level of the largest image,
    /// and what Mesa's `iris` clamps to.
    pub const MAX_LOD: f32 = 14.0;
    /// Steps of a level of detail that a clamp distinguishes.
    const LOD_STEPS: f32 = 256.0;

    /// Creates a sampler for coordinates that count texels, with an address mode and a filter for
    /// everything. Among levels of detail it takes the nearest.
    pub const fn new(address: AddressMode, filter: FilterMode) -> Sampler {
        Sampler {
            address: [address; 3],
            mag: filter,
            min: filter,
            mip: MipFilter::Nearest,
            normalized: false,
            compare: Compare::Never,
            lod: [0, (Sampler::MAX_LOD * Sampler::LOD_STEPS) as u16],
        }
    }

    /// Returns the sampler with a comparison.
    pub const fn comparing(mut self, compare: Compare) -> Sampler {
        self.compare = compare;
        self
    }

    /// Returns the sampler for coordinates of 0 to 1.
    pub const fn normalized(mut self) -> Sampler {
        self.normalized = true;
        self
    }

    /// Returns the sampler with an address mode for each of the coordinates u, v and w.
    pub const fn addressing(mut self, modes: [AddressMode; 3]) -> Sampler {
        self.address = modes;
        self
    }

    /// Returns the sampler with a filter for texels that are magnified.
    pub const fn magnifying(mut self, filter: FilterMode) -> Sampler {
        self.mag = filter;
        self
    }

    /// Returns the sampler with a filter for texels that are minified.
    pub const fn minifying(mut self, filter: FilterMode) -> Sampler {
        self.min = filter;
        self
    }

    /// Returns the sampler with a filter between levels of detail.
    pub const fn between_levels(mut self, filter: MipFilter) -> Sampler {
        self.mip = filter;
        self
    }

    /// Returns the sampler with bounds of the level of detail. They are rounded to 256ths, and are
    /// between 0 and [`Sampler::MAX_LOD`].
    pub const fn lod_clamp(mut self, least: f32, most: f32) -> Sampler {
        const fn steps(lod: f32) -> u16 {
            // A NaN is 0.
            let lod = lod.clamp(0.0, Sampler::MAX_LOD);
            (lod * Sampler::LOD_STEPS + 0.5) as u16
        }
        let (least, most) = (steps(least), steps(most));
        self.lod = [least, if most < least { least } else { most }];
        self
    }

    /// Returns the least and the greatest level of detail.
    pub const fn lod(&self) -> [f32; 2] {
        let [least, most] = self.lod;
        [
            least as f32 / Sampler::LOD_STEPS,
            most as f32 / Sampler::LOD_STEPS,
        ]
    }

    /// Returns true if it has one address mode and one filter, and takes the nearest of all levels,
    /// as samplers of OpenCL and Level Zero do.
    pub fn is_plain(&self) -> bool {
        let plain = Sampler {
            normalized: self.normalized,
            compare: self.compare,
            ..Sampler::new(self.address[0], self.mag)
        };
        *self == plain
    }
}
