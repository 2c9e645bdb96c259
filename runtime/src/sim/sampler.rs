//! Sampling: addressing and filtering as the OpenCL C specification has it (8.2), in single floats.
//!
//! Levels of detail are chosen as Vulkan has it ("LOD Operation", "Image Level(s) Selection"). The
//! level of detail is clamped by the sampler before that, as `SAMPLER_STATE` does in its mode for
//! OpenGL ("LOD PreClamp Mode" 2 of bits 28:27, in `src/intel/genxml/gen9.xml` of Mesa, whose
//! Vulkan driver sets it). At 0, texels are magnified, and above they are minified. The nearest of
//! two levels that are equally near is the smaller one. Hardware keeps 8 bits of the fraction
//! between levels.
//!
//! Hardware weighs the texels of linear filtering with fractions of 8 bits. Here the weights are
//! floats, as in CPU implementations. Results differ from hardware's by at most 1/256 of the
//! difference between neighbours.

use super::image::{SimImage, Texel};
use crate::image::{AddressMode, FilterMode, ImageType, MipFilter, Sampler};

/// Bytes of a sampler state ("SAMPLER_STATE").
const STATE_BYTES: u32 = 16;

/// Sampler states of a launch, from offset 0 of their heap on.
#[derive(Default)]
pub(super) struct Samplers {
    heap: Vec<Option<Sampler>>,
}

impl Samplers {
    /// Sets the state at an index of the table.
    pub(super) fn set(&mut self, index: usize, sampler: Sampler) {
        if self.heap.len() <= index {
            self.heap.resize(index + 1, None);
        }
        if let Some(entry) = self.heap.get_mut(index) {
            *entry = Some(sampler);
        }
    }

    /// Adds a state after all others. Returns its byte offset in the heap, a multiple of 32, since
    /// message headers have no room for less.
    pub(super) fn add(&mut self, sampler: Sampler) -> u32 {
        self.heap.resize(self.heap.len().next_multiple_of(2), None);
        self.heap.push(Some(sampler));
        Samplers::offset(self.heap.len() as u32 - 1)
    }

    /// Returns the byte offset of an entry in the heap.
    pub(super) fn offset(index: u32) -> u32 {
        index.wrapping_mul(STATE_BYTES)
    }

    /// Returns the state `index` entries after an offset.
    pub(super) fn get(&self, offset: u32, index: u8) -> Result<&Sampler, String> {
        let at = offset / STATE_BYTES + u32::from(index);
        self.heap
            .get(at as usize)
            .and_then(Option::as_ref)
            .ok_or_else(|| format!("there is no sampler state {at}"))
    }
}

/// Texel index along one axis, or two with the weight of the second.
#[derive(Clone, Copy)]
struct Axis {
    first: i64,
    second: i64,
    weight: f32,
}

const ONLY_ZERO: Axis = Axis {
    first: 0,
    second: 0,
    weight: 0.0,
};

/// Largest float below 1.
pub(super) const BELOW_ONE: f32 = 1.0 - f32::EPSILON / 2.0;

/// Returns the texels at a coordinate among `n` texels. `offset` is added in texels.
fn axis(
    (address, normalized): (AddressMode, bool),
    linear: bool,
    c: f32,
    n: u32,
    offset: i32,
) -> Axis {
    let size = n as f32;
    let c = match (normalized, address) {
        (true, _) => c,
        // Undefined in OpenCL: taken as if it were normalized.
        (false, AddressMode::Repeat | AddressMode::Mirror) => c / size,
        (false, _) => c,
    };
    let u = match address {
        AddressMode::Repeat => (c - c.floor()) * size,
        AddressMode::Mirror => (c - 2.0 * (0.5 * c).round_ties_even()).abs() * size,
        _ if normalized => c * size,
        _ => c,
    };
    let from = if linear { u - 0.5 } else { u };
    let floor = from.floor();
    // A NaN is as a coordinate below 0.
    let whole = if floor.is_nan() { -2 } else { floor as i64 };
    let base = whole.saturating_add(i64::from(offset));
    let last = i64::from(n) - 1;
    let wrap = |i: i64| match address {
        AddressMode::Repeat => i.rem_euclid(i64::from(n)),
        AddressMode::Mirror | AddressMode::ClampToEdge => i.clamp(0, last),
        AddressMode::None | AddressMode::Clamp => i.clamp(-1, last + 1),
    };
    if linear {
        Axis {
            first: wrap(base),
            second: wrap(base.saturating_add(1)),
            weight: (from - floor).min(BELOW_ONE),
        }
    } else {
        Axis {
            first: wrap(base),
            second: 0,
            weight: 0.0,
        }
    }
}

/// Returns the nearest existing layer of an array.
fn layer(c: f32, layers: u32) -> i64 {
    (c.round_ties_even() as i64).clamp(0, i64::from(layers) - 1)
}

/// Returns the number of filtered dimensions, which excludes layers.
pub(super) fn dimensions(image: &SimImage) -> usize {
    match image.desc.ty() {
        ImageType::D1 | ImageType::D1Buffer | ImageType::D1Array => 1,
        ImageType::D2
        | ImageType::D2Array
        | ImageType::D2Msaa
        | ImageType::D2ArrayMsaa
        | ImageType::Cube
        | ImageType::CubeArray => 2,
        ImageType::D3 => 3,
    }
}

/// Returns the texels along each axis, and the number of filtered axes.
fn axes(
    image: &SimImage,
    s: &Sampler,
    linear: bool,
    coords: [f32; 3],
    offsets: [i32; 3],
) -> ([Axis; 3], usize) {
    let n = dimensions(image);
    let mut out = [ONLY_ZERO; 3];
    for (i, a) in out.iter_mut().enumerate() {
        if i < n {
            let by = (s.address[i], s.normalized);
            *a = axis(by, linear, coords[i], image.extent[i], offsets[i]);
        } else if i == n && image.desc.ty().is_array() {
            a.first = layer(coords[i], image.extent[i]);
            a.second = a.first;
        }
    }
    (out, n)
}

/// Loads a texel. With a reference, the result of the comparison, 1 or 0, replaces its red
/// component. A filter then weighs these results.
pub(super) fn texel(
    image: &SimImage,
    s: &Sampler,
    place: [i64; 3],
    reference: Option<f32>,
) -> Texel {
    let mut texel = image.load(place);
    if let (Some(reference), [red, ..]) = (reference, &mut texel) {
        let holds = s.compare.holds(reference, f32::from_bits(*red));
        *red = f32::from(u8::from(holds)).to_bits();
    }
    texel
}

/// Levels that a level of detail selects.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Levels {
    /// Filter in each of them.
    filter: FilterMode,
    first: u32,
    /// Weight of the level after the first.
    weight: f32,
}

/// Returns the levels that a level of detail selects, of which `last` is the last. A NaN is the
/// least level of detail. Integers are not filtered.
fn levels(s: &Sampler, (last, integer): (u32, bool), detail: f32) -> Levels {
    let [least, most] = s.lod();
    let detail = detail.max(least).min(most);
    let filter = match detail {
        _ if integer => FilterMode::Nearest,
        d if d > 0.0 => s.min,
        _ => s.mag,
    };
    let detail = detail.min(last as f32);
    let (first, weight) = match s.mip {
        MipFilter::None => (0.0, 0.0),
        MipFilter::Linear if !integer => (detail.floor(), detail - detail.floor()),
        MipFilter::Linear | MipFilter::Nearest => ((detail + 0.5).floor(), 0.0),
    };
    Levels {
        filter,
        first: (first as u32).min(last),
        weight,
    }
}

/// Samples at a level of detail. `sample` does so in one level, by a filter.
pub(super) fn sample_levels(
    image: &SimImage,
    s: &Sampler,
    detail: f32,
    sample: impl Fn(&SimImage, FilterMode) -> Texel,
) -> Texel {
    let last = image.desc.levels().saturating_sub(1);
    let integer = image.format.channel().is_integer();
    let chosen = levels(s, (last, integer), detail);
    let at = |level: u32| {
        let smaller = if level > 0 { image.level(level) } else { None };
        sample(smaller.as_ref().unwrap_or(image), chosen.filter)
    };
    let first = at(chosen.first);
    if chosen.weight == 0.0 {
        return first;
    }
    let mut both = [0; 4];
    let parts = first.into_iter().zip(at(chosen.first + 1));
    for (to, (a, b)) in both.iter_mut().zip(parts) {
        let (a, b) = (f32::from_bits(a), f32::from_bits(b));
        *to = (a * (1.0 - chosen.weight) + b * chosen.weight).to_bits();
    }
    both
}

/// Samples one level at coordinates (u, v, r) with texel offsets, and compares with a reference if
/// there is one.
pub(super) fn sample(
    image: &SimImage,
    s: &Sampler,
    filter: FilterMode,
    (coords, offsets): ([f32; 3], [i32; 3]),
    reference: Option<f32>,
) -> Texel {
    let linear = filter == FilterMode::Linear;
    let ([x, y, z], n) = axes(image, s, linear, coords, offsets);
    if !linear {
        return texel(image, s, [x.first, y.first, z.first], reference);
    }
    let mut sum = [0f32; 4];
    for corner in 0..1u32 << n {
        let mut place = [0; 3];
        let mut weight = 1.0;
        for (i, (p, a)) in place.iter_mut().zip([x, y, z]).enumerate() {
            let second = corner >> i & 1 == 1;
            *p = if second { a.second } else { a.first };
            if i < n {
                weight *= if second { a.weight } else { 1.0 - a.weight };
            }
        }
        // A texel of weight 0 is skipped, so that infinities and NaNs in it do not count.
        if weight != 0.0 {
            let texel = texel(image, s, place, reference).map(f32::from_bits);
            for (sum, t) in sum.iter_mut().zip(texel) {
                *sum += t * weight;
            }
        }
    }
    sum.map(f32::to_bits)
}

/// Returns one component of the four texels that linear filtering would take of a 2D image, or
/// their comparison results. They are in the order of `gather4`: (0, 1), (1, 1), (1, 0), (0, 0).
pub(super) fn gather(
    image: &SimImage,
    s: &Sampler,
    coords: [f32; 3],
    offsets: [i32; 3],
    component: usize,
    reference: Option<f32>,
) -> Texel {
    let ([x, y, z], _) = axes(image, s, true, coords, offsets);
    let one = |x, y| texel(image, s, [x, y, z.first], reference)[component & 3];
    [
        one(x.first, y.second),
        one(x.second, y.second),
        one(x.second, y.first),
        one(x.first, y.first),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_detail_are_clamped_and_chosen() {
        let s = Sampler::new(AddressMode::Clamp, FilterMode::Linear).minifying(FilterMode::Nearest);
        let of = |s: &Sampler, detail| {
            let l = levels(s, (4, false), detail);
            (l.filter == FilterMode::Linear, l.first, l.weight)
        };
        let nearest = [-3.0, 0.0, 0.25, 0.5, 1.49, 9.0, f32::NAN, f32::INFINITY];
        let want = [0, 0, 0, 1, 1, 4, 0, 4].map(|level| (level, 0.0));
        for (detail, (level, weight)) in nearest.into_iter().zip(want) {
            let magnifies = detail.is_nan() || detail <= 0.0;
            assert_eq!(of(&s, detail), (magnifies, level, weight), "{detail}");
        }
        let linear = s.between_levels(MipFilter::Linear).lod_clamp(0.5, 2.25);
        assert_eq!(of(&linear, -1.0), (false, 0, 0.5));
        assert_eq!(of(&linear, 1.75), (false, 1, 0.75));
        assert_eq!(of(&linear, 9.0), (false, 2, 0.25));
        let none = s.between_levels(MipFilter::None);
        assert_eq!(of(&none, 3.0), (false, 0, 0.0));
        let whole = levels(&linear, (4, true), 1.75);
        assert_eq!(
            (whole.filter, whole.first, whole.weight),
            (FilterMode::Nearest, 2, 0.0)
        );
        // A level that there is not.
        assert_eq!(levels(&linear, (0, false), 9.0).first, 0);
    }
}
