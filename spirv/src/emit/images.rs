//! Images and samplers.
//!
//! An image, a sampler or both together is no value here: it is the kernel's argument that it comes from, or a sampler that is a constant. Reads
//! through such are loads at coordinates that this file makes; the IR's samplers are arguments.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::module::constants::Constant;
use crate::module::types::{ImageType, Ty};
use crate::read::{self, Id};
use gantry_codegen::ir::{
    FloatCC, ImageAccess, ImageFact, ImagePlace, ImageShape, IntCC, SamplerFact, Scalar, Value,
};
use spirv::{AccessQualifier, Dim, ImageOperands, Op};

/// Whether an instruction is one of these.
pub(super) fn is_supported(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        SampledImage
            | ImageSampleExplicitLod
            | ImageFetch
            | ImageRead
            | ImageWrite
            | ImageQuerySize
            | ImageQuerySizeLod
            | ImageQueryFormat
            | ImageQueryOrder
    )
}

/// Whether the result is one for the thread whatever the operands are.
pub(crate) fn is_query(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        ImageQuerySize | ImageQuerySizeLod | ImageQueryFormat | ImageQueryOrder
    )
}

/// A sampler.
#[derive(Clone, Copy, Debug)]
enum Sampler {
    /// The n-th of the arguments.
    Argument(u8),
    /// Addressing mode and filter, and whether coordinates are normalized.
    Constant(u32, bool, u32),
}

/// Images and samplers by id.
#[derive(Debug, Default)]
pub(super) struct Images {
    images: std::collections::BTreeMap<Id, (u8, ImageType)>,
    samplers: std::collections::BTreeMap<Id, u8>,
    /// What variables of them were loaded.
    aliases: std::collections::BTreeMap<Id, (u8, ImageType)>,
    sampler_aliases: std::collections::BTreeMap<Id, u8>,
    /// Both together: their ids.
    sampled: std::collections::BTreeMap<Id, (Id, Id)>,
}

/// The shape of an image as an argument.
fn shape(t: &ImageType) -> Result<ImageShape, Error> {
    if t.multisampled {
        return Err(Error::unsupported("an image of several samples"));
    }
    Ok(match (t.dim, t.arrayed) {
        (Dim::Dim1D, false) => ImageShape::D1,
        (Dim::Dim1D, true) => ImageShape::D1Array,
        (Dim::Dim2D, false) => ImageShape::D2,
        (Dim::Dim2D, true) => ImageShape::D2Array,
        (Dim::Dim3D, false) => ImageShape::D3,
        (Dim::DimBuffer, false) => ImageShape::Buffer,
        (dim, _) => return Err(Error::unsupported(format!("an image of dimension {dim:?}"))),
    })
}

impl Emit<'_, '_, '_> {
    /// An argument that is an image.
    pub(super) fn image_argument(&mut self, id: Id, t: &ImageType) -> Result<(), Error> {
        let shape = shape(t)?;
        let access = match t.access {
            AccessQualifier::ReadOnly => ImageAccess::Read,
            AccessQualifier::WriteOnly => ImageAccess::Write,
            _ => ImageAccess::ReadWrite,
        };
        let n = u8::try_from(self.images.images.len());
        let n = n.map_err(|_| Error::limit("more than 256 images"))?;
        self.b.image_param(shape, access);
        self.images.images.insert(id, (n, *t));
        Ok(())
    }

    /// An argument that is a sampler.
    pub(super) fn sampler_argument(&mut self, id: Id) -> Result<(), Error> {
        let n = u8::try_from(self.images.samplers.len());
        let n = n.map_err(|_| Error::limit("more than 256 samplers"))?;
        self.b.sampler_param();
        self.images.samplers.insert(id, n);
        Ok(())
    }

    /// Says that one is what another is.
    pub(super) fn same_resource(&mut self, to: Id, from: Id) -> Result<(), Error> {
        if let Some(i) = self.images.images.get(&from).copied() {
            self.images.aliases.insert(to, i);
        } else if let Some(s) = self.images.samplers.get(&from).copied() {
            self.images.sampler_aliases.insert(to, s);
        } else {
            return Err(Error::unsupported("this resource"));
        }
        Ok(())
    }

    fn image_of(&self, id: Id) -> Result<(u8, ImageType), Error> {
        let found = self.images.images.get(&id).copied();
        let found = found.or_else(|| self.images.aliases.get(&id).copied());
        found.ok_or_else(|| Error::unsupported("an image that is no argument of the kernel"))
    }

    fn sampler_of(&self, id: Id) -> Result<Sampler, Error> {
        let alias = self.images.sampler_aliases.get(&id);
        if let Some(n) = self.images.samplers.get(&id).or(alias) {
            return Ok(Sampler::Argument(*n));
        }
        match self.m.constant(id).map(|c| &c.value) {
            Some(Constant::Sampler(mode, normalized, filter)) => {
                Ok(Sampler::Constant(*mode, *normalized, *filter))
            }
            _ => Err(Error::unsupported(
                "a sampler that is neither argument nor constant",
            )),
        }
    }

    pub(super) fn image(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let first = self.operand(inst, 0)?;
        match inst.op {
            Op::SampledImage => {
                let sampler = self.operand(inst, 1)?;
                let id = inst.id.expand().ok_or_else(|| Error::internal("no id"))?;
                self.images.sampled.insert(id, (first, sampler));
                Ok(Leaves::new())
            }
            Op::ImageSampleExplicitLod => {
                let both = self.images.sampled.get(&first).copied();
                let both = both
                    .ok_or_else(|| Error::unsupported("an image with a sampler from elsewhere"))?;
                let (image, t) = self.image_of(both.0)?;
                if t.access != AccessQualifier::ReadOnly {
                    return Err(Error::malformed("an image that is written is sampled"));
                }
                let sampler = self.sampler_of(both.1)?;
                let coords = self.coordinates(inst, &t)?;
                let lod = self.level(inst, 2)?;
                let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
                let texel = match sampler {
                    Sampler::Argument(sampler) => {
                        let at = ImagePlace { image, sampler };
                        self.sample(at, &t, &coords, lod, ty)?
                    }
                    Sampler::Constant(..) if lod.is_some() => {
                        return Err(Error::unsupported(
                            "a level of detail by a constant sampler",
                        ));
                    }
                    Sampler::Constant(mode, normalized, filter) => {
                        self.emulate(image, &t, (mode, normalized, filter), &coords, ty)?
                    }
                };
                self.as_type(texel, ty)
            }
            Op::ImageRead | Op::ImageFetch => {
                let (image, t) = self.image_of(first)?;
                if t.access == AccessQualifier::WriteOnly {
                    return Err(Error::malformed("an image that is only written is read"));
                }
                self.no_operands(inst, 2)?;
                let coords = self.coordinates(inst, &t)?;
                let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
                let texel = self.texel(image, &coords, ty)?;
                self.as_type(texel, ty)
            }
            Op::ImageWrite => {
                let (image, t) = self.image_of(first)?;
                if t.access == AccessQualifier::ReadOnly {
                    return Err(Error::malformed("an image that is only read is written"));
                }
                self.no_operands(inst, 3)?;
                let coords = self.coordinates(inst, &t)?;
                if coords.iter().any(|c| self.b.ty(*c).scalar() != Scalar::I32) {
                    return Err(Error::malformed("coordinates that are not whole"));
                }
                let value = self.operand(inst, 2)?;
                let mut texel = self.get(value)?;
                // A depth is one component.
                while texel.len() < 4 {
                    let first = *texel.first().ok_or_else(|| Error::internal("no texel"))?;
                    let zero = self.same(first, 0);
                    texel.push(zero);
                }
                for v in &mut texel {
                    *v = self.b.splat(*v, self.simd);
                    if self.b.ty(*v).scalar() == Scalar::F16 {
                        let ty = self.lanes(Scalar::F32, self.simd);
                        *v = self.b.ins().fpromote(ty, *v);
                    }
                }
                let scalar = texel.first().map(|v| self.b.ty(*v).scalar());
                let scalar = scalar.filter(|s| matches!(s, Scalar::I32 | Scalar::F32));
                let scalar = scalar.ok_or_else(|| Error::malformed("no texel of 32 bits"))?;
                let value = self.join(scalar, &texel, self.simd);
                let mask = self.b.exec_mask();
                self.b.ins().image_store(value, image, &coords, Some(mask));
                Ok(Leaves::new())
            }
            _ => self.query(inst, first),
        }
    }

    /// The coordinates of a texel, as many as the image has, of a lane for each channel.
    fn coordinates(&mut self, inst: &BInst, t: &ImageType) -> Result<Leaves, Error> {
        let id = self.operand(inst, 1)?;
        let count = shape(t)?.coordinates();
        let mut out = self.get(id)?;
        if out.len() < count {
            return Err(Error::malformed("too few coordinates"));
        }
        out.truncate(count);
        for v in &mut out {
            if self.b.ty(*v).scalar().bits() != 32 {
                return Err(Error::unsupported("coordinates that are not of 32 bits"));
            }
            *v = self.b.splat(*v, self.simd);
        }
        Ok(out)
    }

    /// The level of detail, where it is not 0.
    fn level(&mut self, inst: &BInst, n: usize) -> Result<Option<Value>, Error> {
        let words = self.body.operands(inst).get(n..).unwrap_or(&[]);
        match *words {
            [] => Ok(None),
            [mask, lod] if mask == ImageOperands::LOD.bits() => {
                let lod = Id::from_u32(lod);
                if self.m.bits(lod) == Some(0) {
                    return Ok(None);
                }
                let v = self.one(lod)?;
                let v = self.b.splat(v, self.simd);
                match self.b.ty(v).scalar() {
                    Scalar::F32 => Ok(Some(v)),
                    _ => Err(Error::unsupported("this level of detail")),
                }
            }
            _ => Err(Error::unsupported(format!(
                "{} with these operands",
                read::name(inst.op)
            ))),
        }
    }

    fn no_operands(&self, inst: &BInst, n: usize) -> Result<(), Error> {
        let words = self.body.operands(inst).get(n..).unwrap_or(&[]);
        match *words {
            [] => Ok(()),
            [mask, lod]
                if mask == ImageOperands::LOD.bits()
                    && self.m.bits(Id::from_u32(lod)) == Some(0) =>
            {
                Ok(())
            }
            // What integers of a texel are signed as.
            [mask] if mask & !0x3000 == 0 => Ok(()),
            _ => Err(Error::unsupported(format!(
                "{} with these operands",
                read::name(inst.op)
            ))),
        }
    }

    /// The scalar of a texel in a register.
    fn component(&self, ty: Ty) -> Result<Scalar, Error> {
        match self.scalar(ty)? {
            Scalar::F16 | Scalar::F32 => Ok(Scalar::F32),
            Scalar::I32 => Ok(Scalar::I32),
            _ => Err(Error::unsupported("texels of this type")),
        }
    }

    fn as_type(&mut self, mut texel: Leaves, ty: Ty) -> Result<Leaves, Error> {
        texel.truncate(self.components(ty) as usize);
        if self.scalar(ty)? == Scalar::F16 {
            for v in &mut texel {
                let half = self.lanes(Scalar::F16, self.b.ty(*v).lanes());
                *v = self.b.ins().fdemote(half, *v);
            }
        }
        Ok(texel)
    }

    fn parts(&mut self, v: Value) -> Leaves {
        (0..4)
            .map(|n| self.b.slice(v, n * self.simd, self.simd))
            .collect()
    }

    /// A texel at whole coordinates.
    fn texel(&mut self, image: u8, coords: &[Value], ty: Ty) -> Result<Leaves, Error> {
        if coords.iter().any(|c| self.b.ty(*c).scalar() != Scalar::I32) {
            return Err(Error::malformed("coordinates that are not whole"));
        }
        let ty = self.lanes(self.component(ty)?, 4 * self.simd);
        let (mask, old) = (self.b.exec_mask(), self.b.ins().undef(ty));
        let v = self
            .b
            .ins()
            .image_load(ty, image, coords, Some((mask, old)));
        Ok(self.parts(v))
    }

    fn sample(
        &mut self,
        at: ImagePlace,
        t: &ImageType,
        coords: &[Value],
        lod: Option<Value>,
        ty: Ty,
    ) -> Result<Leaves, Error> {
        let float = self.lanes(Scalar::F32, self.simd);
        let spatial = coords.len() - usize::from(t.arrayed);
        let snap = self.b.ins().sampler_query(SamplerFact::Snap, at.sampler);
        let zero = self.same(snap, 0);
        let snap = self.b.ins().icmp(IntCC::NotEqual, snap, zero);
        let mut places = Leaves::new();
        for (n, c) in coords.iter().enumerate() {
            let whole = self.b.ty(*c).scalar() == Scalar::I32;
            let mut c = match whole {
                true => self.b.ins().fcvt_from_sint(float, *c),
                false => *c,
            };
            if n < spatial {
                let (zero, outside) = (self.float(c, 0.0), self.float(c, -1.0));
                let below = self.b.ins().fcmp(FloatCC::LessThan, c, zero);
                let moved = self.choose(below, outside, c)?;
                c = self.choose(snap, moved, c)?;
            }
            places.push(c);
        }
        let ty = self.lanes(self.component(ty)?, 4 * self.simd);
        let (mask, old) = (self.b.exec_mask(), self.b.ins().undef(ty));
        let v = self.b.ins().sample(ty, at, &places, lod, Some((mask, old)));
        Ok(self.parts(v))
    }

    /// A size of an image in a dimension, of one lane.
    fn extent(&mut self, image: u8, shape: ImageShape, n: usize) -> Value {
        let fact = match (shape, n) {
            (_, 0) => ImageFact::Width,
            (ImageShape::D1Array, _) => ImageFact::Layers,
            (_, 1) => ImageFact::Height,
            (ImageShape::D2Array, _) => ImageFact::Layers,
            _ => ImageFact::Depth,
        };
        self.b.ins().image_query(fact, image)
    }

    /// What a constant sampler that takes the nearest texel gives.
    fn emulate(
        &mut self,
        image: u8,
        t: &ImageType,
        (mode, normalized, filter): (u32, bool, u32),
        coords: &[Value],
        ty: Ty,
    ) -> Result<Leaves, Error> {
        let shape = shape(t)?;
        if filter != 0 {
            return Err(Error::unsupported("a constant sampler that filters"));
        }
        // None, ClampToEdge, Clamp: outside of the image is its edge or what loads give there.
        if mode > 2 {
            return Err(Error::unsupported("a constant sampler that repeats"));
        }
        let whole = self.lanes(Scalar::I32, self.simd);
        let spatial = coords.len() - usize::from(t.arrayed);
        let mut places = Leaves::new();
        for (n, c) in coords.iter().enumerate() {
            let size = self.extent(image, shape, n);
            let size = self.b.splat(size, self.simd);
            let mut c = *c;
            if self.b.ty(c).scalar() == Scalar::F32 {
                let float = self.b.ty(c);
                if n >= spatial {
                    c = self.b.ins().fnearest(c);
                } else {
                    if normalized {
                        let size = self.b.ins().fcvt_from_sint(float, size);
                        c = self.b.ins().fmul(c, size);
                    }
                    c = self.b.ins().ffloor(c);
                }
                c = self.b.ins().fcvt_to_sint(whole, c);
            }
            if mode == 1 || n >= spatial {
                let (zero, one) = (self.same(c, 0), self.same(c, 1));
                let last = self.b.ins().isub(size, one);
                c = self.b.ins().smax(c, zero);
                c = self.b.ins().smin(c, last);
            }
            places.push(c);
        }
        self.texel(image, &places, ty)
    }

    fn query(&mut self, inst: &BInst, id: Id) -> Result<Leaves, Error> {
        let (image, t) = self.image_of(id)?;
        let shape = shape(&t)?;
        let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
        let scalar = self.scalar(ty)?;
        if !scalar.is_int() {
            return Err(Error::malformed("a size that is no integer"));
        }
        let count = self.components(ty) as usize;
        let mut out = Leaves::new();
        match inst.op {
            // SPIR-V's numbers are OpenCL's less these.
            Op::ImageQueryFormat | Op::ImageQueryOrder => {
                let (fact, first) = match inst.op {
                    Op::ImageQueryFormat => (ImageFact::ChannelType, 0x10d0),
                    _ => (ImageFact::ChannelOrder, 0x10b0),
                };
                let v = self.b.ins().image_query(fact, image);
                let first = self.same(v, first);
                out.push(self.b.ins().isub(v, first));
            }
            _ => {
                let level = match inst.op {
                    Op::ImageQuerySizeLod => {
                        let lod = self.operand(inst, 1)?;
                        Some(self.one(lod)?).filter(|_| self.m.bits(lod) != Some(0))
                    }
                    _ => None,
                };
                for n in 0..count.min(shape.coordinates()) {
                    let mut v = self.extent(image, shape, n);
                    let layers = shape.is_array() && n + 1 == shape.coordinates();
                    if let (Some(level), false) = (level, layers) {
                        let mut both = [v, level];
                        if !self.b.ty(level).scalar().is_int() {
                            return Err(Error::malformed("a level that is no integer"));
                        }
                        both[1] = self.resize(level, Scalar::I32, false);
                        self.even(&mut both);
                        v = self.b.ins().ushr(both[0], both[1]);
                        let one = self.same(v, 1);
                        v = self.b.ins().umax(v, one);
                    }
                    out.push(v);
                }
            }
        }
        if out.len() != count {
            return Err(Error::malformed(
                "a size of more dimensions than the image has",
            ));
        }
        Ok(out
            .into_iter()
            .map(|v| self.resize(v, scalar, false))
            .collect())
    }
}
