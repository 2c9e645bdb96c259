//! Samples: addressing modes, filters and comparisons by the sampler of the launch.

use super::body::Body;
use super::levels::Levels;
use super::place::Level;
use crate::ir::builder::Variable;
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
    /// Weight of the first.
    pub rest: Value,
}

/// Properties of a sampler for one sample.
pub(super) struct SamplerFacts {
    /// Addressing mode of each coordinate, uniform.
    addressing: [Value; 3],
    /// Coordinates along filtered axes, without repetitions. Cubes have none.
    coords: Vec<Value>,
    /// All ones for normalized coordinates, else 0; uniform.
    normalized: Value,
    /// All ones for linear filtering, else 0; uniform, or by lanes.
    pub linear: Value,
    /// 1 if a lane filters linearly, else 0; uniform.
    some_linear: Value,
    compare: Value,
}

/// Level of a sample, and the sums that its texels are added to.
pub(super) struct LevelPass {
    pub level: Level,
    /// Weight of the level, by lanes. `None` for 1.
    pub weight: Option<Value>,
    sums: [Variable; 4],
}

/// Place of a texel of a filter: column, row and slice, its weight, and the lanes that have it.
pub(super) struct FilterTexel {
    pub place: [Value; 3],
    pub weight: Value,
    pub mask: Value,
}

impl Body<'_> {
    /// Returns the properties of the sampler of the access, and the levels that are sampled. `own`
    /// is one that the kernel declares.
    fn sampler_facts(&mut self, own: Option<Sampler>) -> (SamplerFacts, Levels) {
        let number = self.access.sampler;
        let never = self.one(Compare::Never as i64);
        let axes = match self.shape {
            shape if shape.is_cube() => 0,
            shape => shape.coordinates() - usize::from(shape.is_array()),
        };
        if let Some(s) = own {
            let addressing = match s.addressing {
                Addressing::Border => 1,
                Addressing::Edge => EDGE,
                Addressing::Repeat => REPEAT,
                Addressing::Mirror => MIRROR,
            };
            let linear = s.linear && self.access.float;
            let addressing = [self.one(addressing); 3];
            let facts = SamplerFacts {
                addressing,
                coords: self.unrepeated(addressing, axes),
                normalized: self.one(-i64::from(s.normalized)),
                linear: self.one(-i64::from(linear)),
                some_linear: self.one(i64::from(linear)),
                compare: never,
            };
            return (facts, self.nearest_level());
        }
        let modes = [
            SamplerFact::Addressing,
            SamplerFact::AddressingV,
            SamplerFact::AddressingW,
        ];
        let mut addressing = [never; 3];
        for (to, fact) in addressing.iter_mut().zip(modes).take(axes) {
            *to = self.b.ins().sampler_query(fact, number);
        }
        let normalized = self.b.ins().sampler_query(SamplerFact::Normalized, number);
        let zero = self.one(0);
        // It is 8 or 0.
        let by = self.one(3);
        let normalized = self.b.ins().ushr(normalized, by);
        let normalized = self.b.ins().isub(zero, normalized);
        let compare = if self.access.reference {
            self.b.ins().sampler_query(SamplerFact::Compare, number)
        } else {
            never
        };
        let (levels, [linear, some_linear]) = self.levels();
        let facts = SamplerFacts {
            addressing,
            coords: self.unrepeated(addressing, axes),
            normalized,
            linear,
            some_linear,
            compare,
        };
        (facts, levels)
    }

    /// Builds `sample`.
    pub fn sample(&mut self, own: Option<Sampler>) {
        let (facts, levels) = self.sampler_facts(own);
        // Nothing is added to -0.
        let nothing = self.float(-0.0);
        let sums = [(); 4].map(|()| self.b.var(nothing));
        let texel = self.each_level(&levels, &mut |body, level, weight| {
            let pass = LevelPass {
                level,
                weight,
                sums,
            };
            if body.shape.is_cube() {
                body.sample_cube(&facts, &pass)
            } else {
                body.sample_places(&facts, &pass)
            }
        });
        let all = self.join(&texel);
        self.b.ins().return_(&[all]);
    }

    fn sample_places(&mut self, facts: &SamplerFacts, pass: &LevelPass) -> Vec<Value> {
        let level = &pass.level;
        let count = facts.coords.len();
        let mut axes = self.axes(facts, level);
        // The first axis has the weight of the level too.
        if let (Some(share), Some(axis), true) = (pass.weight, axes.first_mut(), self.access.float)
        {
            axis.weight = self.b.ins().fmul(axis.weight, share);
            axis.rest = self.b.ins().fmul(axis.rest, share);
        }
        let zero = self.int(0);
        let layer = match self.coords.get(count).copied() {
            Some(c) => self.layer(c, level.sizes[count.min(2)]),
            None => zero,
        };
        self.filtered(facts, pass, count as u32, &mut |body, corner| {
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
        (at, self.blend_floats(second, axis.weight, axis.rest))
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
        let ty = self.b.ty(facts.linear);
        let half = self.b.ins().iconst(ty, i64::from(0.5f32.to_bits()));
        let bits = self.and(half, facts.linear);
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
        let linear = self.all(facts.linear);
        let bits = self.cast(Scalar::I32, weight);
        let bits = self.and(bits, linear);
        (whole, self.cast(Scalar::F32, bits))
    }

    /// Returns both texels of an axis, with the weight of the second.
    pub fn axis(&mut self, first: Value, second: Value, weight: Value) -> Axis {
        let one = self.float(1.0);
        Axis {
            first,
            second,
            weight,
            rest: self.b.ins().fsub(one, weight),
        }
    }

    /// Returns coordinates whose repetitions are taken away, as the addressing modes want it.
    fn unrepeated(&mut self, addressing: [Value; 3], count: usize) -> Vec<Value> {
        let coords: Vec<Value> = self.coords.iter().copied().take(count).collect();
        let mut out = Vec::new();
        for (c, mode) in coords.into_iter().zip(addressing) {
            out.extend(self.choose(
                mode,
                &mut |_| vec![c],
                &mut [
                    (&[REPEAT], &mut |body| {
                        let below = body.b.ins().ffloor(c);
                        vec![body.b.ins().fsub(c, below)]
                    }),
                    (&[MIRROR], &mut |body| {
                        let (half, two) = (body.float(0.5), body.float(-2.0));
                        let period = body.b.ins().fmul(c, half);
                        let period = body.b.ins().fnearest(period);
                        let period = body.b.ins().fmul(period, two);
                        let part = body.b.ins().fadd(c, period);
                        vec![body.b.ins().fabs(part)]
                    }),
                ],
            ));
        }
        out
    }

    /// Returns the texels along each axis. A NaN is far below 0.
    fn axes(&mut self, facts: &SamplerFacts, level: &Level) -> Vec<Axis> {
        let half = self.half_texel(facts);
        let axes = facts.coords.iter().zip(facts.addressing).zip(level.sizes);
        let mut out = Vec::new();
        for ((&c, addressing), size) in axes {
            let (yes, no) = (self.one(1), self.one(0));
            let [repeat, edge] = [REPEAT, EDGE].map(|n| self.one(n));
            // Repetitions are of normalized coordinates.
            let repeats = self.icmp(IntCC::UnsignedGreaterThanOrEqual, addressing, repeat);
            let ones = self.one(-1);
            let normalized = self.b.ins().select(repeats, ones, facts.normalized);
            let normalized = self.all(normalized);
            let length = self.single_of(size);
            let one = self.float(1.0);
            let scale = self.blend_floats(normalized, length, one);
            let place = self.b.ins().fmul(c, scale);
            let from = self.b.ins().fsub(place, half);
            let (whole, weight) = self.parted(from, facts);
            // Far outside is as just outside.
            let one = self.float(1.0);
            let least = self.float(-2.0);
            let most = self.b.ins().fadd(length, one);
            let whole = self.b.ins().fmax(whole, least);
            let whole = self.b.ins().fmin(whole, most);
            let first = self.int_of(whole);
            let one = self.int(1);
            let second = self.b.ins().iadd(first, one);
            // 1 for the edge, 0 for a border, which is one texel wide.
            let edged = self.icmp(IntCC::UnsignedGreaterThanOrEqual, addressing, edge);
            let edge = self.b.ins().select(edged, yes, no);
            let edge = self.all(edge);
            let low = self.b.ins().isub(edge, one);
            let high = self.b.ins().isub(size, edge);
            let clamped = [first, second].map(|v| self.clamp(v, low, high));
            let around = self.icmp(IntCC::Equal, addressing, repeat);
            let both = self.choose_if(
                around,
                &mut |body| vec![body.around(first, size), body.around(second, size)],
                &clamped,
            );
            if let [first, second] = *both {
                out.push(self.axis(first, second, weight));
            }
        }
        out
    }

    /// Returns the texel of a repeated image that is less than two outside.
    fn around(&mut self, v: Value, size: Value) -> Value {
        let zero = self.int(0);
        let more = self.b.ins().iadd(v, size);
        let under = self.icmp(IntCC::SignedLessThan, v, zero);
        let v = self.b.ins().select(under, more, v);
        let less = self.b.ins().isub(v, size);
        let over = self.icmp(IntCC::SignedGreaterThanOrEqual, v, size);
        let v = self.b.ins().select(over, less, v);
        // Of a NaN, in an image of one texel.
        self.b.ins().smax(v, zero)
    }

    /// Returns the first texel of a filter, of integers, or adds all of them by their weights.
    /// `texel` gives that of a uniform corner.
    pub fn filtered(
        &mut self,
        facts: &SamplerFacts,
        pass: &LevelPass,
        axes: u32,
        texel: &mut dyn FnMut(&mut Self, Value) -> FilterTexel,
    ) -> Vec<Value> {
        let zero = self.one(0);
        if !self.access.float {
            let at = texel(self, zero);
            return self.fetch_at(&pass.level, at.place, at.mask);
        }
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
        let mut found = self.fetch_at(&pass.level, at.place, mask);
        if let (Some(reference), Some(red)) = (self.data.first().copied(), found.first_mut()) {
            *red = self.compared(facts, reference, *red);
        }
        for (sum, part) in pass.sums.into_iter().zip(found) {
            let part = self.b.ins().fmul(part, at.weight);
            let old = self.b.use_var(sum);
            let new = self.b.ins().fadd(old, part);
            self.b.def_var(sum, new);
        }
        let one = self.one(1);
        let next = self.b.ins().iadd(corner, one);
        self.b.def_var(number, next);
        let axes = self.one(i64::from(axes));
        let axes = self.b.ins().imul(axes, facts.some_linear);
        let count = self.b.ins().ishl(one, axes);
        let more = self.icmp(IntCC::UnsignedLessThan, next, count);
        self.b.ins().brif(more, body, &[], end, &[]);
        self.b.seal_block(body);
        self.b.seal_block(end);
        self.b.switch_to_block(end);
        pass.sums.map(|s| self.b.use_var(s)).to_vec()
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
