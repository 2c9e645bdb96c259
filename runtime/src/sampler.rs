//! Samplers as the host sees them. Names are OpenCL's.

/// What a sampler makes of coordinates outside an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddressMode {
    /// The kernel has none outside; samplers take it as [`AddressMode::Clamp`], as the driver programs it.
    None,
    /// The border color: 0, with alpha 1 where the format has no alpha.
    Clamp,
    /// The nearest texel of the edge.
    ClampToEdge,
    /// The image repeats. Normalized coordinates only.
    Repeat,
    /// The image repeats, mirrored every other time. Normalized coordinates only.
    Mirror,
}

impl AddressMode {
    /// The mode of a name: `none`, `clamp`, `clamp_to_edge`, `repeat` or `mirror`.
    pub fn from_name(name: &str) -> Option<AddressMode> {
        Some(match name {
            "none" => AddressMode::None,
            "clamp" => AddressMode::Clamp,
            "clamp_to_edge" => AddressMode::ClampToEdge,
            "repeat" => AddressMode::Repeat,
            "mirror" => AddressMode::Mirror,
            _ => return None,
        })
    }
}

/// How a sampler makes a value of the texels around a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FilterMode {
    /// The texel that holds it.
    Nearest,
    /// The weighted mean of the two, four or eight next to it.
    Linear,
}

impl FilterMode {
    /// The mode of a name: `nearest` or `linear`.
    pub fn from_name(name: &str) -> Option<FilterMode> {
        Some(match name {
            "nearest" => FilterMode::Nearest,
            "linear" => FilterMode::Linear,
            _ => return None,
        })
    }
}

/// When a reference and a texel compare as 1, and else as 0. OpenCL has no such samplers; kernels that compare are others'.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Compare {
    /// Never: samplers that do not compare.
    #[default]
    Never,
    /// The reference is less than the texel.
    Less,
    /// They are equal.
    Equal,
    /// The reference is less or equal.
    LessOrEqual,
    /// The reference is greater.
    Greater,
    /// They are not equal.
    NotEqual,
    /// The reference is greater or equal.
    GreaterOrEqual,
    /// Always.
    Always,
}

impl Compare {
    /// Whether a reference and a texel compare so. With a NaN they are not equal, and neither is less.
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

/// How an image is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampler {
    /// What is outside.
    pub address: AddressMode,
    /// What is between texels.
    pub filter: FilterMode,
    /// Coordinates of 0 to 1 span the image; otherwise they count texels.
    pub normalized: bool,
    /// What messages that compare do with a texel's red component.
    pub compare: Compare,
}

impl Sampler {
    /// A sampler of coordinates that count texels.
    pub const fn new(address: AddressMode, filter: FilterMode) -> Sampler {
        Sampler {
            address,
            filter,
            normalized: false,
            compare: Compare::Never,
        }
    }

    /// The same, comparing so.
    pub const fn comparing(mut self, compare: Compare) -> Sampler {
        self.compare = compare;
        self
    }

    /// The same with coordinates of 0 to 1.
    pub const fn normalized(mut self) -> Sampler {
        self.normalized = true;
        self
    }
}
