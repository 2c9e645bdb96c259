//! Samples of cubes: the face that a direction meets, and texels beyond the edges of faces.
//!
//! Faces are in the order +x, -x, +y, -y, +z, -z, with the axes of Vulkan. Beyond a corner there is
//! no texel: its weight goes to the other three in equal parts.

use super::body::Body;
use super::sampling::{Axis, FilterTexel, LevelPass, SamplerFacts};
use crate::ir::{FloatCC, IntCC, Scalar, Value};

/// Major axis of a direction, by lanes.
#[derive(Clone, Copy)]
struct Major {
    is_z: Value,
    /// True where the major axis is y, if it is not z.
    is_y: Value,
    negative: Value,
}

impl Body<'_> {
    /// Returns one of three values by the major axis.
    fn by_axis(&mut self, m: Major, [x, y, z]: [Value; 3]) -> Value {
        let v = self.b.ins().select(m.is_y, y, x);
        self.b.ins().select(m.is_z, z, v)
    }

    /// Returns the number of the face.
    fn face(&mut self, m: Major) -> Value {
        let [x, y, z] = [0, 2, 4].map(|n| self.int(n));
        let axis = self.by_axis(m, [x, y, z]);
        let (one, none) = (self.int(1), self.int(0));
        let side = self.b.ins().select(m.negative, one, none);
        self.b.ins().iadd(axis, side)
    }

    /// Returns the coordinates along columns and rows of a face, of a direction.
    fn across(
        &mut self,
        m: Major,
        [x, y, z]: [Value; 3],
        minus: &mut dyn FnMut(&mut Self, Value) -> Value,
    ) -> [Value; 2] {
        let [less_x, less_y, less_z] = [x, y, z].map(|v| minus(self, v));
        let of_x = self.b.ins().select(m.negative, z, less_z);
        let of_z = self.b.ins().select(m.negative, less_x, x);
        let s = self.by_axis(m, [of_x, x, of_z]);
        let of_y = self.b.ins().select(m.negative, less_z, z);
        let t = self.by_axis(m, [less_y, of_y, less_y]);
        [s, t]
    }

    /// Returns the face that a direction meets, and the place on it, from 0 to 1.
    fn project(&mut self, direction: [Value; 3]) -> (Major, [Value; 2]) {
        let [x, y, z] = direction.map(|v| self.b.ins().fabs(v));
        let at_least = FloatCC::GreaterThanOrEqual;
        let zx = self.b.ins().fcmp(at_least, z, x);
        let zy = self.b.ins().fcmp(at_least, z, y);
        let none = self.int(0);
        let mut m = Major {
            is_z: self.and(zx, zy),
            is_y: self.b.ins().fcmp(at_least, y, x),
            negative: zx,
        };
        let along = self.by_axis(m, direction);
        let bits = self.cast(Scalar::I32, along);
        m.negative = self.icmp(IntCC::SignedLessThan, bits, none);
        let along = self.b.ins().fabs(along);
        let across = self.across(m, direction, &mut |body, v| body.b.ins().fneg(v));
        let place = across.map(|c| {
            let c = self.b.ins().fdiv_rn(c, along);
            let half = self.float(0.5);
            let c = self.b.ins().fmul(c, half);
            self.b.ins().fadd(c, half)
        });
        (m, place)
    }

    /// Builds a sample of a cube.
    pub fn sample_cube(&mut self, facts: &SamplerFacts, pass: &LevelPass) -> Vec<Value> {
        let zero = self.int(0);
        let &[x, y, z, ref index @ ..] = self.coords.as_slice() else {
            return vec![zero; 4];
        };
        let index = index.first().copied();
        let size = pass.level.sizes[0];
        let cube = match index {
            None => zero,
            Some(c) => {
                let cubes = self.fact(crate::ir::ImageFact::Layers);
                let cubes = self.all(cubes);
                let cube = self.layer(c, cubes);
                let faces = self.int(6);
                self.b.ins().imul(cube, faces)
            }
        };
        let (major, place) = self.project([x, y, z]);
        let face = self.face(major);
        let half = self.half_texel(facts);
        let length = self.single_of(size);
        let one = self.int(1);
        let last = self.b.ins().isub(size, one);
        let nearest = {
            let bits = self.b.ins().bnot(facts.linear);
            self.all(bits)
        };
        let axes = place.map(|c| {
            let c = self.b.ins().fmul(c, length);
            let from = self.b.ins().fsub(c, half);
            let (whole, weight) = self.parted(from, facts);
            let first = self.int_of(whole);
            // Without a filter the place is on the face.
            let kept = self.clamp(first, zero, last);
            let first = self.blend(nearest, kept, first);
            let second = self.b.ins().iadd(first, one);
            self.axis(first, second, weight)
        });
        let share = self.missing(&axes, size);
        self.filtered(facts, pass, 2, &mut |body, corner| {
            let [(x, wx), (y, wy)] = [0, 1].map(|n| body.corner(&axes[n], corner, n));
            let weight = body.b.ins().fmul(wx, wy);
            let outside = [x, y].map(|c| body.icmp(IntCC::UnsignedGreaterThanOrEqual, c, size));
            let both = body.and(outside[0], outside[1]);
            let weight = body.b.ins().fadd(weight, share);
            let none = body.float(0.0);
            let weight = body.b.ins().select(both, none, weight);
            let weight = match pass.weight {
                Some(share) => body.b.ins().fmul(weight, share),
                None => weight,
            };
            let either = body.b.ins().bor(outside[0], outside[1]);
            let [bx, by, other] = body.beyond(major, [x, y], outside[0], size);
            let place = [(bx, x), (by, y), (other, face)];
            let [x, y, face] = place.map(|(b, v)| body.b.ins().select(either, b, v));
            let slice = body.b.ins().iadd(cube, face);
            let mask = body.mask;
            FilterTexel {
                place: [x, y, slice],
                weight,
                mask,
            }
        })
    }

    /// Returns a third of the weight that a missing corner has.
    fn missing(&mut self, axes: &[Axis; 2], size: Value) -> Value {
        let none = self.float(0.0);
        let outer = [0, 1].map(|n| {
            let axis = axes[n];
            let zero = self.int(0);
            let under = self.icmp(IntCC::SignedLessThan, axis.first, zero);
            let over = self.icmp(IntCC::SignedGreaterThanOrEqual, axis.second, size);
            let w = self.b.ins().select(over, axis.weight, none);
            self.b.ins().select(under, axis.rest, w)
        });
        let weight = self.b.ins().fmul(outer[0], outer[1]);
        let third = self.float(1.0 / 3.0);
        self.b.ins().fmul(weight, third)
    }

    /// Returns column, row and face of the texel beyond one edge of a face. All is in halves of a
    /// texel from the cube's middle. `out_s` has the lanes that are beyond the edge by columns.
    fn beyond(&mut self, m: Major, place: [Value; 2], out_s: Value, size: Value) -> [Value; 3] {
        let zero = self.int(0);
        let mut minus = |body: &mut Self, v| body.b.ins().isub(zero, v);
        let one = self.int(1);
        let from = self.b.ins().isub(one, size);
        let [s, t] = place.map(|c| {
            let twice = self.b.ins().iadd(c, c);
            self.b.ins().iadd(twice, from)
        });
        let last = minus(self, from);
        let own = self.b.ins().select(m.negative, from, last);
        let [less_s, less_t] = [s, t].map(|v| minus(self, v));
        // The point in space, from the axes of the face.
        let z_of_x = self.b.ins().select(m.negative, s, less_s);
        let x_of_z = self.b.ins().select(m.negative, less_s, s);
        let z_of_y = self.b.ins().select(m.negative, less_t, t);
        let x = self.by_axis(m, [own, s, x_of_z]);
        let y = self.by_axis(m, [less_t, own, less_t]);
        let z = self.by_axis(m, [z_of_x, z_of_y, own]);
        // The neighbour's axis is that which is beyond. Columns go along z on the faces of x and
        // along x on others, rows along z on the faces of y and along y on others.
        let (yes, no) = (self.int(1), self.int(0));
        let out = self.b.ins().select(out_s, yes, no);
        let in_s = self.b.ins().isub(yes, out);
        let to_z = self.by_axis(m, [out, in_s, no]);
        let to_y = self.by_axis(m, [in_s, no, in_s]);
        let [is_z, is_y] = [to_z, to_y].map(|v| self.icmp(IntCC::NotEqual, v, no));
        let mut to = Major {
            is_z,
            is_y,
            negative: m.negative,
        };
        let along = self.by_axis(to, [x, y, z]);
        to.negative = self.icmp(IntCC::SignedLessThan, along, zero);
        let across = self.across(to, [x, y, z], &mut minus);
        let [bx, by] = across.map(|v| {
            let v = self.b.ins().iadd(v, last);
            self.b.ins().sshr(v, one)
        });
        [bx, by, self.face(to)]
    }
}
