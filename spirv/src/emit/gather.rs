//! Gathers and texel offsets of coordinates.
//!
//! A gather returns one component of the four texels of a linear filter. It is four samples at
//! texel centers, where every filter returns that texel alone, or its comparison with a reference.

use super::images::Sampler;
use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::module::types::ImageType;
use gantry_codegen::ir::{ImagePlace, IntCC, SamplerFact, Scalar, Value};
use spirv::{AccessQualifier, Dim, Op};

/// Offsets of texel centers from the first texel, in the order of the components of the result.
const TEXELS: [[f64; 2]; 4] = [[0.5, 1.5], [1.5, 1.5], [1.5, 0.5], [0.5, 0.5]];

impl Emit<'_, '_, '_> {
    /// Returns true if a sampler has nearest filter and border color. Such a sampler needs
    /// coordinates snapped to texels.
    pub(super) fn snaps(&mut self, sampler: u8) -> Value {
        let snap = self.b.ins().sampler_query(SamplerFact::Snap, sampler);
        let zero = self.same(snap, 0);
        self.b.ins().icmp(IntCC::NotEqual, snap, zero)
    }

    pub(super) fn gather(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let first = self.operand(inst, 0)?;
        let (image, sampler) = self.sampled(first)?;
        let (image, t) = self.image_of(image)?;
        if t.multisampled || t.access != AccessQualifier::ReadOnly {
            return Err(Error::malformed("a gather of what is not sampled"));
        }
        if t.dim != Dim::Dim2D {
            return Err(Error::unsupported(format!(
                "a gather of dimension {:?}",
                t.dim
            )));
        }
        let Sampler::Argument(sampler) = self.sampler_of(sampler)? else {
            return Err(Error::unsupported(
                "a gather by a sampler that is a constant",
            ));
        };
        let (component, reference) = match inst.op {
            Op::ImageDrefGather => (0, Some(self.reference(inst)?)),
            _ => {
                let component = self.operand(inst, 2)?;
                let component = self.m.bits(component).filter(|n| *n < 4);
                let none = || Error::malformed("a gather of no component that a constant names");
                (component.ok_or_else(none)? as usize, None)
            }
        };
        let mut coords = self.coordinates(inst, &t)?;
        if coords.iter().any(|c| self.b.ty(*c).scalar() != Scalar::F32) {
            return Err(Error::malformed(
                "a gather at coordinates that are no floats",
            ));
        }
        let more = self.more(inst, 3)?;
        if more.lod.is_some() || more.gradients.is_some() || more.sample.is_some() {
            return Err(Error::unsupported("a gather of a level"));
        }
        self.moved(image, &t, &mut coords, more.offset)?;
        let at = ImagePlace { image, sampler };
        let snap = self.snaps(sampler);
        let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
        // Lower corner of the first texel, and size, in each dimension.
        let mut corners = Vec::new();
        for (n, c) in coords.iter().take(2).enumerate() {
            let size = self.size_as_float(image, &t, n)?;
            let place = self.b.ins().fmul(*c, size);
            let half = self.float(place, -0.5);
            let place = self.b.ins().fadd(place, half);
            corners.push((self.b.ins().ffloor(place), size));
        }
        let mut out = Leaves::new();
        for texel in TEXELS {
            let mut middle = coords.clone();
            for ((to, (corner, size)), by) in middle.iter_mut().zip(&corners).zip(texel) {
                let by = self.float(*corner, by);
                let place = self.b.ins().fadd(*corner, by);
                *to = self.b.ins().fdiv(place, *size);
            }
            let all = self.sample(at, &t, &middle, (None, reference), Some(snap), ty)?;
            out.extend(all.get(component).copied());
        }
        self.as_type(out, ty)
    }

    fn size_as_float(&mut self, image: u8, t: &ImageType, n: usize) -> Result<Value, Error> {
        let size = self.size_of(image, t, n)?;
        let size = self.b.splat(size, self.simd);
        let float = self.lanes(Scalar::F32, self.simd);
        Ok(self.b.ins().fcvt_from_sint(float, size))
    }

    /// Adds texel offsets, relative to the largest level, to coordinates.
    pub(super) fn moved(
        &mut self,
        image: u8,
        t: &ImageType,
        coords: &mut Leaves,
        offset: Option<Leaves>,
    ) -> Result<(), Error> {
        let Some(offset) = offset else { return Ok(()) };
        let spatial = coords.len() - usize::from(t.arrayed);
        if offset.len() != spatial {
            return Err(Error::malformed(
                "an offset of other dimensions than the image's",
            ));
        }
        for (n, by) in offset.into_iter().enumerate() {
            let by = self.b.splat(by, self.simd);
            let Some(c) = coords.get(n).copied() else {
                continue;
            };
            let to = match self.b.ty(c).scalar() {
                Scalar::I32 => self.b.ins().iadd(c, by),
                _ => {
                    let size = self.size_as_float(image, t, n)?;
                    let float = self.b.ty(c);
                    let by = self.b.ins().fcvt_from_sint(float, by);
                    let by = self.b.ins().fdiv(by, size);
                    self.b.ins().fadd(c, by)
                }
            };
            if let Some(slot) = coords.get_mut(n) {
                *slot = to;
            }
        }
        Ok(())
    }
}
