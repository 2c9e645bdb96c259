//! Levels of detail that a sample takes, as Vulkan has it ("LOD Operation", "Image Level(s)
//! Selection").
//!
//! The level of detail is clamped by the sampler. At 0, texels are magnified, and above they are
//! minified. A filter between levels weighs the two around; others take the nearest, or the first.
//! Lanes that need one level have the weight 0 at the second, and if all do, it is skipped.

use super::body::Body;
use super::place::Level;
use crate::ir::{FloatCC, IntCC, SamplerFact, Scalar, Type, Value};

/// Largest level of detail of any image.
const LAST_LEVEL: f64 = 31.0;

/// Filter between levels, in the numbers of `sampler_query`.
const FIRST_LEVEL: i64 = 0;
const BOTH_LEVELS: i64 = 2;

/// Levels that a sample takes.
pub(super) struct Levels {
    /// First of them, uniform or by lanes. `None` for the first of the image.
    number: Option<Value>,
    /// Weight of the next one, and a uniform 1 if some lane takes that, else 0.
    next: Option<(Value, Value)>,
}

/// Builder of the pass of a level: takes the level and its weight, by lanes, and returns the texel
/// of all passes so far.
type LevelBuild<'p, 'f> = dyn FnMut(&mut Body<'f>, Level, Option<Value>) -> Vec<Value> + 'p;

impl<'f> Body<'f> {
    /// Returns the level that a sampler of the kernel's own takes: the nearest.
    pub fn nearest_level(&mut self) -> Levels {
        let number = self.lod.map(|lod| {
            let half = self.float(0.5);
            let lod = self.b.ins().fadd(lod, half);
            let lod = self.b.ins().ffloor(lod);
            let [least, most] = [0.0, LAST_LEVEL].map(|n| self.float(n));
            let lod = self.b.ins().fmax(lod, least);
            let lod = self.b.ins().fmin(lod, most);
            let lod = self.int_of(lod);
            let last = self.last_level();
            let last = self.all(last);
            self.b.ins().umin(lod, last)
        });
        Levels { number, next: None }
    }

    /// Returns the levels that a sampler argument takes; then all ones where it filters texels
    /// linearly, else 0, and a uniform 1 if a lane does, else 0.
    pub fn levels(&mut self) -> (Levels, [Value; 2]) {
        let sampler = self.access.sampler;
        let zero = self.one(0);
        let mut ask = |fact| self.b.ins().sampler_query(fact, sampler);
        let (mag, min) = (ask(SamplerFact::Filter), ask(SamplerFact::MinFilter));
        let least = ask(SamplerFact::MinLod);
        let float = self.access.float;
        let Some(lod) = self.lod else {
            // Then it is 0, or above by the clamp alone, which is rare.
            let far = self.icmp(IntCC::NotEqual, least, zero);
            let linear = if float {
                self.b.ins().select(far, min, mag)
            } else {
                zero
            };
            let mask = self.b.ins().isub(zero, linear);
            let mut otherwise = vec![zero];
            if float {
                otherwise.extend([self.one_float(0.0), zero]);
            }
            let found = self.choose_if(
                far,
                &mut |body| {
                    let lod = body.cast(Scalar::F32, least);
                    body.levels_at(lod)
                },
                &otherwise,
            );
            return (Levels::of(&found), [mask, linear]);
        };
        let [least, most] = [least, ask(SamplerFact::MaxLod)].map(|v| {
            let v = self.cast(Scalar::F32, v);
            self.all(v)
        });
        // A NaN is the least.
        let lod = self.b.ins().fmax(lod, least);
        let lod = self.b.ins().fmin(lod, most);
        let filter = if float {
            let none = self.float(0.0);
            let magnifies = self.b.ins().fcmp(FloatCC::LessThanOrEqual, lod, none);
            let mut masks = [mag, min].map(|v| self.b.ins().isub(zero, v));
            masks = masks.map(|v| self.all(v));
            let mask = self.b.ins().select(magnifies, masks[0], masks[1]);
            [mask, self.b.ins().bor(mag, min)]
        } else {
            [zero; 2]
        };
        let found = self.levels_at(lod);
        (Levels::of(&found), filter)
    }

    /// Returns a uniform single.
    fn one_float(&mut self, value: f64) -> Value {
        let ty = Type::scalar_of(Scalar::F32);
        self.b.ins().fconst(ty, value)
    }

    /// Returns the first level of a clamped level of detail, and of floats the weight of the next
    /// and a uniform 1 if some lane takes that, else 0. They have as many lanes as `lod`.
    fn levels_at(&mut self, lod: Value) -> Vec<Value> {
        let lanes = self.b.ty(lod).lanes();
        let sampler = self.access.sampler;
        let mip = self.b.ins().sampler_query(SamplerFact::MipFilter, sampler);
        let zero = self.one(0);
        let first = self.one(FIRST_LEVEL);
        let only_first = self.icmp(IntCC::Equal, mip, first);
        let last = self.last_level();
        let last = self.b.ins().select(only_first, zero, last);
        let last = self.single_of(last);
        let last = self.b.splat(last, lanes);
        let lod = self.b.ins().fmin(lod, last);
        let half = self.one_float(0.5);
        if !self.access.float {
            // Integers are not filtered.
            let half = self.b.splat(half, lanes);
            let nearest = self.b.ins().fadd(lod, half);
            let nearest = self.b.ins().ffloor(nearest);
            let nearest = self.b.ins().fmin(nearest, last);
            return vec![self.int_of(nearest)];
        }
        let both = self.one(BOTH_LEVELS);
        let both = self.icmp(IntCC::Equal, mip, both);
        let none = self.one_float(0.0);
        let half = self.b.ins().select(both, none, half);
        let half = self.b.splat(half, lanes);
        let place = self.b.ins().fadd(lod, half);
        let place = self.b.ins().ffloor(place);
        let place = self.b.ins().fmin(place, last);
        let all = self.one(-1);
        let mask = self.b.ins().select(both, all, zero);
        let mask = self.b.splat(mask, lanes);
        let weight = self.b.ins().fsub(lod, place);
        let bits = self.cast(Scalar::I32, weight);
        let bits = self.and(bits, mask);
        let zeros = self.b.ins().iconst(Type::clamped(Scalar::I32, lanes), 0);
        let takes = self.icmp(IntCC::NotEqual, bits, zeros);
        let takes = if lanes > 1 {
            self.b.ins().any(takes)
        } else {
            takes
        };
        let one = self.one(1);
        let some = self.b.ins().select(takes, one, zero);
        let number = self.int_of(place);
        vec![number, self.cast(Scalar::F32, bits), some]
    }

    /// Builds a pass for each of the levels, in a loop if there may be two. Returns the texel of
    /// all passes.
    pub fn each_level(&mut self, levels: &Levels, pass: &mut LevelBuild<'_, 'f>) -> Vec<Value> {
        let sizes = self.first_sizes();
        let Some(number) = levels.number else {
            let level = self.level_of(sizes, None);
            return pass(self, level, None);
        };
        let Some((weight, some)) = levels.next else {
            let level = self.numbered(sizes, number);
            return pass(self, level, None);
        };
        let zero = self.one(0);
        let count = self.b.var(zero);
        let [body, end] = [(); 2].map(|()| self.b.create_block());
        self.b.ins().jump(body, &[]);
        self.b.switch_to_block(body);
        let n = self.b.use_var(count);
        let lanes = self.b.ty(number).lanes();
        let more = self.b.splat(n, lanes);
        let here = self.b.ins().iadd(number, more);
        let level = self.numbered(sizes, here);
        let one = self.one_float(1.0);
        let lanes = self.b.ty(weight).lanes();
        let one = self.b.splat(one, lanes);
        let rest = self.b.ins().fsub(one, weight);
        let second = self.b.ins().isub(zero, n);
        let second = self.b.splat(second, lanes);
        let share = self.blend_floats(second, weight, rest);
        let share = self.all(share);
        let texel = pass(self, level, Some(share));
        let one = self.one(1);
        let next = self.b.ins().iadd(n, one);
        self.b.def_var(count, next);
        let more = self.icmp(IntCC::UnsignedLessThanOrEqual, next, some);
        self.b.ins().brif(more, body, &[], end, &[]);
        self.b.seal_block(body);
        self.b.seal_block(end);
        self.b.switch_to_block(end);
        texel
    }

    /// Returns the level of a number, which is uniform or by lanes.
    fn numbered(&mut self, first: [Value; 3], number: Value) -> Level {
        if self.b.ty(number).lanes() > 1 {
            let (sizes, start) = self.at_level(first, number);
            return self.level_of(sizes, Some(start));
        }
        // The first level, most often.
        let zero = self.one(0);
        let later = self.icmp(IntCC::NotEqual, number, zero);
        let start = self.b.ins().iconst(Type::scalar_of(Scalar::I64), 0);
        let [width, height, depth] = first;
        let found = self.choose_if(
            later,
            &mut |body| {
                let ([width, height, depth], start) = body.at_level(first, number);
                vec![width, height, depth, start]
            },
            &[width, height, depth, start],
        );
        match *found {
            [width, height, depth, start] => self.level_of([width, height, depth], Some(start)),
            _ => self.level_of(first, None),
        }
    }
}

impl Levels {
    /// Takes the results of [`Body::levels_at`].
    fn of(found: &[Value]) -> Levels {
        Levels {
            number: found.first().copied(),
            next: match *found {
                [_, weight, some] => Some((weight, some)),
                _ => None,
            },
        }
    }
}
