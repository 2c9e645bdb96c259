//! Levels of detail for gradients of coordinates.

use super::images::shape;
use super::{Emit, Leaves};
use crate::error::Error;
use crate::module::types::ImageType;
use gantry_codegen::ir::{FloatCC, ImageFact, Scalar, Value};

impl Emit<'_, '_, '_> {
    /// Level of detail for gradients: that at which a step is one texel.
    pub(super) fn level_of(
        &mut self,
        image: u8,
        t: &ImageType,
        by: [Leaves; 2],
    ) -> Result<Value, Error> {
        let shape = shape(t)?;
        let float = self.lanes(Scalar::F32, self.simd);
        let mut squares = Leaves::new();
        for steps in by {
            let mut sum: Option<Value> = None;
            for (n, step) in steps.into_iter().enumerate() {
                let step = self.b.splat(step, self.simd);
                if self.b.ty(step) != float {
                    return Err(Error::malformed("gradients that are no floats"));
                }
                let size = self.extent(image, shape, n);
                let size = self.b.splat(size, self.simd);
                let size = self.b.ins().fcvt_from_sint(float, size);
                let texels = self.b.ins().fmul(step, size);
                sum = Some(match sum {
                    None => self.b.ins().fmul(texels, texels),
                    Some(s) => self.b.ins().fma(texels, texels, s),
                });
            }
            squares.extend(sum);
        }
        self.level_of_squares(&squares)
    }

    /// Level of detail of two steps, by the squares of their lengths in texels.
    fn level_of_squares(&mut self, squares: &[Value]) -> Result<Value, Error> {
        let [x, y] = *squares else {
            return Err(Error::malformed("gradients of no coordinates"));
        };
        let most = self.b.ins().fmax(x, y);
        // Avoids the logarithm of zero. A step far below a texel gives the same level.
        let least = self.float(most, f64::from(f32::MIN_POSITIVE));
        let most = self.b.ins().fmax(most, least);
        let level = self.b.ins().flog2(most);
        let half = self.float(level, 0.5);
        Ok(self.b.ins().fmul(level, half))
    }

    /// Level of detail for gradients of a direction: that at which a step is one texel of the face
    /// that the direction meets.
    pub(super) fn level_of_cube(
        &mut self,
        image: u8,
        coords: &[Value],
        by: [Leaves; 2],
    ) -> Result<Value, Error> {
        let float = self.lanes(Scalar::F32, self.simd);
        let three = |v: &[Value]| match *v {
            [x, y, z, ..] => Ok([x, y, z]),
            _ => Err(Error::malformed("gradients of too few coordinates")),
        };
        let direction = three(coords)?;
        if direction.iter().any(|v| self.b.ty(*v) != float) {
            return Err(Error::malformed("a direction that is no floats"));
        }
        let sizes = direction.map(|v| self.b.ins().fabs(v));
        let [x, y, z] = sizes;
        let at_least = FloatCC::GreaterThanOrEqual;
        let zx = self.b.ins().fcmp(at_least, z, x);
        let zy = self.b.ins().fcmp(at_least, z, y);
        let is_z = self.b.ins().band(zx, zy);
        let is_y = self.b.ins().fcmp(at_least, y, x);
        // The other axes, then that of the face.
        let mut turned = |[x, y, z]: [Value; 3]| -> Result<[Value; 3], Error> {
            let first = self.choose(is_y, x, y)?;
            let first = self.choose(is_z, x, first)?;
            let second = self.choose(is_z, y, z)?;
            let along = self.choose(is_y, y, x)?;
            let along = self.choose(is_z, z, along)?;
            Ok([first, second, along])
        };
        let [s, t, m] = turned(direction)?;
        let mut steps = Vec::new();
        for step in by {
            let step = three(&step)?;
            steps.push(turned(step)?);
        }
        let width = self.b.ins().image_query(ImageFact::Width, image);
        let width = self.b.splat(width, self.simd);
        let width = self.b.ins().fcvt_from_sint(float, width);
        let half = self.float(width, 0.5);
        let texels = self.b.ins().fmul(width, half);
        // The derivative of a place s / m on a face that is two wide: (ds - s / m * dm) / m.
        let places = [s, t].map(|c| self.b.ins().fdiv(c, m));
        let scale = self.b.ins().fdiv(texels, m);
        let mut squares = Leaves::new();
        for [ds, dt, dm] in steps {
            let mut sum: Option<Value> = None;
            for (d, place) in [ds, dt].into_iter().zip(places) {
                let [d, dm] = [d, dm].map(|v| self.b.splat(v, self.simd));
                if self.b.ty(d) != float || self.b.ty(dm) != float {
                    return Err(Error::malformed("gradients that are no floats"));
                }
                let along = self.b.ins().fmul(place, dm);
                let moved = self.b.ins().fsub(d, along);
                let moved = self.b.ins().fmul(moved, scale);
                sum = Some(match sum {
                    None => self.b.ins().fmul(moved, moved),
                    Some(s) => self.b.ins().fma(moved, moved, s),
                });
            }
            squares.extend(sum);
        }
        self.level_of_squares(&squares)
    }
}
