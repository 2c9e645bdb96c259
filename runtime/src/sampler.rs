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

/// Sampler: how coordinates select texels of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampler {
    /// Treatment of coordinates outside the image.
    pub address: AddressMode,
    /// Filter between texels.
    pub filter: FilterMode,
    /// True if coordinates of 0 to 1 span the image. Otherwise they count texels.
    pub normalized: bool,
    /// Comparison that messages which compare make with a texel's red component.
    pub compare: Compare,
}

impl Sampler {
    /// Creates a sampler for coordinates that count texels.
    pub const fn new(address: AddressMode, filter: FilterMode) -> Sampler {
        Sampler {
            address,
            filter,
            normalized: false,
            compare: Compare::Never,
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
}
