//! Samples: addressing modes, filters and comparisons by the sampler of the launch.

use super::body::Body;
use super::place::Level;
use crate::ir::{Addressing, Compare, FloatCC, IntCC, Sampler, SamplerFact, Scalar, Type, Value};

/// Addressing modes in the numbers of `sampler_query`.
const EDGE: i64 = 2;
const REPEAT: i64 = 3;
const MIRROR: i64 = 4;

/// Comparisons that hold, a bit for each of [`Compare`], where the reference is less, equal,
/// greater and not comparable.
const HOLDS: [i64; 4] = [0b1010_1010, 0b1100_1100, 0b1111_0000, 0b1010_0000];

/// Largest single below 1.
const BELOW_ONE: f64 = 1.0 - f32::EPSILON as f64 / 2.0;

/// Texels along an axis.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    pub first: Value,
    pub second: Value,
    /// Weight of the second.
    pub weight: Value,
}

/// Properties of a sampler, uniform.
pub(super) struct SamplerFacts {
    addressing: Value,
    /// All ones for normalized coordinates, else 0.
    normalized: Value,
    /// 1 for linear filtering, else 0.
    pub linear: Value,
    compare: Value,
}

/// Place of a texel of a filter: column, row and slice, its weight, and the lanes that have it.
pub(super) struct FilterTexel {
    pub place: [Value; 3],
    pub weight: Value,
    pub mask: Value,
}

impl Body<'_> {
    /// Returns the properties of the sampler of the access. `own` is one that the kernel declares.
    fn sampler_facts(&mut self, own: Option<Sampler>) -> SamplerFacts {
        let number = self.access.sampler;
        if let Some(s) = own {
            let addressing = match s.addressing {
                Addressing::Border => 1,
                Addressing::Edge => EDGE,
                Addressing::Repeat => REPEAT,
                Addressing::Mirror => MIRROR,
            };
            return SamplerFacts {
                addressing: self.one(addressing),
                normalized: self.one(-i64::from(s.normalized)),
                linear: self.one(i64::from(s.linear && self.access.float)),
                compare: self.one(Compare::Never as i64),
            };
        }
        let mut ask = |fact| self.b.ins().sampler_query(fact, number);
        let addressing = ask(SamplerFact::Addressing);
        let normalized = ask(SamplerFact::Normalized);
        let linear = ask(SamplerFact::Filter);
        let compare = ask(SamplerFact::Compare);
        let zero = self.one(0);
        // It is 8 or 0.
        let by = self.one(3);
        let normalized = self.b.ins().ushr(normalized, by);
        SamplerFacts {
            addressing,
            normalized: self.b.ins().isub(zero, normalized),
            // Integers are not filtered.
            linear: if self.access.float { linear } else { zero },
            compare,
        }
    }

    /// Builds `sample`.
    pub fn sample(&mut self, own: Option<Sampler>) {
        let facts = self.sampler_facts(own);
        let level = self.nearest_level();
        let texel = if self.shape.is_cube() {
            self.sample_cube(&facts, &level)
        } else {
            self.sample_places(&facts, &level)
        };
        let all = self.join(&texel);
        self.b.ins().return_(&[all]);
    }

    fn sample_places(&mut self, facts: &SamplerFacts, level: &Level) -> Vec<Value> {
        let layered = usize::from(self.shape.is_array());
        let count = self.coords.len() - layered;
        let axes = self.axes(facts, level, count);
        let zero = self.int(0);
        let layer = match self.coords.get(count).copied() {
            Some(c) => self.layer(c, level.sizes[count.min(2)]),
            None => zero,
        };
        self.filtered(facts, level, count as u32, &mut |body, corner| {
            let mut place = [zero; 3];
            if let Some(p) = place.get_mut(count) {
                *p = layer;
            }
            let mut weight: Option<Value> = None;
            for ((n, axis), p) in axes.iter().enumerate().zip(&mut place) {
                let (at, part) = body.corner(axis, corner, n);
                *p = at;
                weight = Some(match weight {
                    None => part,
                    Some(w) => body.b.ins().fmul(w, part),
                });
            }
            let weight = weight.unwrap_or(zero);
            let mask = body.mask;
            FilterTexel {
                place,
                weight,
                mask,
            }
        })
    }

    /// Returns the texel of an axis at a corner, and its weight. Bit `n` of a uniform corner
    /// selects the second texel.
    pub fn corner(&mut self, axis: &Axis, corner: Value, n: usize) -> (Value, Value) {
        let by = self.one(n as i64);
        let bit = self.b.ins().ushr(corner, by);
        let one = self.one(1);
        let bit = self.and(bit, one);
        let zero = self.one(0);
        let second = self.b.ins().isub(zero, bit);
        let second = self.all(second);
        let at = self.blend(second, axis.second, axis.first);
        let one = self.float(1.0);
        let rest = self.b.ins().fsub(one, axis.weight);
        (at, self.blend_floats(second, axis.weight, rest))
    }

    /// Returns the nearest layer that exists.
    pub fn layer(&mut self, c: Value, layers: Value) -> Value {
        let c = self.b.ins().fnearest(c);
        let (zero, most) = (self.float(0.0), self.single_of(layers));
        // A NaN is layer 0.
        let c = self.b.ins().fmax(c, zero);
        let c = self.b.ins().fmin(c, most);
        let c = self.int_of(c);
        let one = self.int(1);
        let last = self.b.ins().isub(layers, one);
        self.b.ins().smin(c, last)
    }

    /// Returns what linear filtering takes from a place: half a texel, or nothing.
    pub fn half_texel(&mut self, facts: &SamplerFacts) -> Value {
        let half = self.one(i64::from(0.5f32.to_bits()));
        let bits = self.b.ins().imul(half, facts.linear);
        let half = self.cast(Scalar::F32, bits);
        self.all(half)
    }

    /// Returns the whole part of a place and the weight of the texel behind it.
    pub fn parted(&mut self, from: Value, facts: &SamplerFacts) -> (Value, Value) {
        let whole = self.b.ins().ffloor(from);
        let weight = self.b.ins().fsub(from, whole);
        let most = self.float(BELOW_ONE);
        let weight = self.b.ins().fmin(weight, most);
        // Nearest filtering takes the first texel alone.
        let zero = self.one(0);
        let linear = self.b.ins().isub(zero, facts.linear);
        let linear = self.all(linear);
        let bits = self.cast(Scalar::I32, weight);
        let bits = self.and(bits, linear);
        (whole, self.cast(Scalar::F32, bits))
    }

    /// Returns the texels along each axis.
    fn axes(&mut self, facts: &SamplerFacts, level: &Level, count: usize) -> Vec<Axis> {
        let coords: Vec<(Value, Value)> = self
            .coords
            .iter()
            .copied()
            .zip(level.sizes)
            .take(count)
            .collect();
        let half = self.half_texel(facts);
        let flat = |axes: Vec<Axis>| -> Vec<Value> {
            let parts = axes.into_iter();
            parts.flat_map(|a| [a.first, a.second, a.weight]).collect()
        };
        let mut straight = |body: &mut Self| {
            let mut axes = Vec::new();
            for &(c, size) in &coords {
                let length = body.single_of(size);
                let one = body.float(1.0);
                let normalized = body.all(facts.normalized);
                let scale = body.blend_floats(normalized, length, one);
                let place = body.b.ins().fmul(c, scale);
                let from = body.b.ins().fsub(place, half);
                let (whole, weight) = body.parted(from, facts);
                // Far outside is as just outside.
                let one = body.float(1.0);
                let least = body.float(-2.0);
                let most = body.b.ins().fadd(length, one);
                let whole = body.b.ins().fmax(whole, least);
                let whole = body.b.ins().fmin(whole, most);
                let first = body.int_of(whole);
                let one = body.int(1);
                let second = body.b.ins().iadd(first, one);
                // 1 for the edge, 0 for a border, which is one texel wide.
                let edge = body.one(EDGE);
                let two = body.icmp(IntCC::Equal, facts.addressing, edge);
                let (yes, no) = (body.one(1), body.one(0));
                let edge = body.b.ins().select(two, yes, no);
                let edge = body.all(edge);
                let low = body.b.ins().isub(edge, one);
                let high = body.b.ins().isub(size, edge);
                axes.push(Axis {
                    first: body.clamp(first, low, high),
                    second: body.clamp(second, low, high),
                    weight,
                });
            }
            flat(axes)
        };
        let mut repeat = |body: &mut Self| {
            let mut axes = Vec::new();
            for &(c, size) in &coords {
                let length = body.single_of(size);
                let below = body.b.ins().ffloor(c);
                let part = body.b.ins().fsub(c, below);
                let place = body.b.ins().fmul(part, length);
                let from = body.b.ins().fsub(place, half);
                let (whole, weight) = body.parted(from, facts);
                let first = body.int_of(whole);
                let (zero, one) = (body.int(0), body.int(1));
                let second = body.b.ins().iadd(first, one);
                let mut around = |v| {
                    let more = body.b.ins().iadd(v, size);
                    let under = body.icmp(IntCC::SignedLessThan, v, zero);
                    let v = body.b.ins().select(under, more, v);
                    let less = body.b.ins().isub(v, size);
                    let over = body.icmp(IntCC::SignedGreaterThanOrEqual, v, size);
                    body.b.ins().select(over, less, v)
                };
                let (first, second) = (around(first), around(second));
                axes.push(Axis {
                    first,
                    second,
                    weight,
                });
            }
            flat(axes)
        };
        let mut mirror = |body: &mut Self| {
            let mut axes = Vec::new();
            for &(c, size) in &coords {
                let length = body.single_of(size);
                let (half_one, two) = (body.float(0.5), body.float(-2.0));
                let period = body.b.ins().fmul(c, half_one);
                let period = body.b.ins().fnearest(period);
                let period = body.b.ins().fmul(period, two);
                let part = body.b.ins().fadd(c, period);
                let part = body.b.ins().fabs(part);
                let place = body.b.ins().fmul(part, length);
                let from = body.b.ins().fsub(place, half);
                let (whole, weight) = body.parted(from, facts);
                let first = body.int_of(whole);
                let (zero, one) = (body.int(0), body.int(1));
                let second = body.b.ins().iadd(first, one);
                let last = body.b.ins().isub(size, one);
                axes.push(Axis {
                    first: body.clamp(first, zero, last),
                    second: body.clamp(second, zero, last),
                    weight,
                });
            }
            flat(axes)
        };
        let all = self.choose(
            facts.addressing,
            &mut straight,
            &mut [(&[REPEAT], &mut repeat), (&[MIRROR], &mut mirror)],
        );
        let axes = all.chunks_exact(3).map(|part| Axis {
            first: part[0],
            second: part[1],
            weight: part[2],
        });
        axes.collect()
    }

    /// Returns the sum of the texels of a filter by their weights, or the first one. `texel` gives
    /// that of a uniform corner.
    pub fn filtered(
        &mut self,
        facts: &SamplerFacts,
        level: &Level,
        axes: u32,
        texel: &mut dyn FnMut(&mut Self, Value) -> FilterTexel,
    ) -> Vec<Value> {
        let zero = self.one(0);
        if !self.access.float {
            let at = texel(self, zero);
            return self.fetch_at(level, at.place, at.mask);
        }
        // Nothing is added to -0.
        let nothing = self.float(-0.0);
        let sums = [(); 4].map(|()| self.b.var(nothing));
        let number = self.b.var(zero);
        let [body, end] = [(); 2].map(|()| self.b.create_block());
        self.b.ins().jump(body, &[]);
        self.b.switch_to_block(body);
        let corner = self.b.use_var(number);
        let at = texel(self, corner);
        // A texel of weight 0 does not count, whatever it is.
        let none = self.float(0.0);
        let counts = self.b.ins().fcmp(FloatCC::NotEqual, at.weight, none);
        let mask = self.and(at.mask, counts);
        let mut found = self.fetch_at(level, at.place, mask);
        if let (Some(reference), Some(red)) = (self.data.first().copied(), found.first_mut()) {
            *red = self.compared(facts, reference, *red);
        }
        for (sum, part) in sums.into_iter().zip(found) {
            let part = self.b.ins().fmul(part, at.weight);
            let old = self.b.use_var(sum);
            let new = self.b.ins().fadd(old, part);
            self.b.def_var(sum, new);
        }
        let one = self.one(1);
        let next = self.b.ins().iadd(corner, one);
        self.b.def_var(number, next);
        let axes = self.one(i64::from(axes));
        let axes = self.b.ins().imul(axes, facts.linear);
        let count = self.b.ins().ishl(one, axes);
        let more = self.icmp(IntCC::UnsignedLessThan, next, count);
        self.b.ins().brif(more, body, &[], end, &[]);
        self.b.seal_block(body);
        self.b.seal_block(end);
        self.b.switch_to_block(end);
        sums.map(|s| self.b.use_var(s)).to_vec()
    }

    fn fetch_at(&mut self, level: &Level, place: [Value; 3], mask: Value) -> Vec<Value> {
        let inside = self.inside(level, place, mask);
        let address = self.address(level, place, None);
        self.fetch(address, inside)
    }

    /// Returns 1 in the lanes where the comparison of a reference with a texel holds, else 0.
    fn compared(&mut self, facts: &SamplerFacts, reference: Value, texel: Value) -> Value {
        let ones = self.one(i64::from(1f32.to_bits()));
        let one = self.one(1);
        let [less, equal, greater, other] = HOLDS.map(|set| {
            let set = self.one(set);
            let bit = self.b.ins().ushr(set, facts.compare);
            let bit = self.and(bit, one);
            let bits = self.b.ins().imul(bit, ones);
            let v = self.b.ins().bitcast(Type::scalar_of(Scalar::F32), bits);
            self.all(v)
        });
        let mut out = other;
        for (cond, value) in [
            (FloatCC::GreaterThan, greater),
            (FloatCC::Equal, equal),
            (FloatCC::LessThan, less),
        ] {
            let holds = self.b.ins().fcmp(cond, reference, texel);
            out = self.b.ins().select(holds, value, out);
        }
        out
    }
}
