//! Images and samplers.
//!
//! An image, a sampler or a combination has no IR value. It is resolved to a kernel argument or a
//! constant sampler. Some constant samplers with nearest filter are emulated by loads at computed
//! coordinates. Others become samplers that the kernel defines.

use super::{Emit, Leaves, block_io, descriptor_indexing};
use crate::body::BInst;
use crate::error::Error;
use crate::module::constants::Constant;
use crate::module::types::{ImageType, Ty};
use crate::read::{self, Id};
use gantry_codegen::ir::{
    Addressing, FloatCC, ImageAccess, ImageFact, ImagePlace, ImageShape, Sampler as Own, Scalar,
    Value,
};
use spirv::{AccessQualifier, Dim, ImageOperands, Op};
use std::collections::{BTreeMap, BTreeSet};

/// Returns true if this file emits an instruction.
pub(super) fn is_supported(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        SampledImage
            | Image
            | ImageSampleExplicitLod
            | ImageSampleDrefExplicitLod
            | ImageGather
            | ImageDrefGather
            | ImageFetch
            | ImageRead
            | ImageWrite
            | ImageTexelPointer
            | ImageQuerySize
            | ImageQuerySizeLod
            | ImageQueryFormat
            | ImageQueryOrder
            | ImageQueryLevels
            | ImageQuerySamples
    )
}

/// Maximum number of samplers of a kernel.
const MAX_SAMPLERS: u8 = 16;

/// Sampler of an access.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sampler {
    /// Index among the sampler arguments.
    Argument(u8),
    /// Addressing mode, normalized coordinates, filter.
    Constant(u32, bool, u32),
}

/// Optional image operands of an access.
#[derive(Debug, Default)]
pub(super) struct ExtraOperands {
    /// Level of detail, unless 0.
    pub lod: Option<Value>,
    /// Gradients of the coordinates in two directions.
    pub gradients: Option<[Leaves; 2]>,
    /// Texel offsets of the coordinates.
    pub offset: Option<Leaves>,
    pub sample: Option<Value>,
}

/// Images and samplers. Those of arguments are keyed by variable and element.
#[derive(Debug, Default)]
pub(super) struct Images {
    images: BTreeMap<(Id, u32), (u8, ImageType)>,
    samplers: BTreeMap<(Id, u32), u8>,
    /// Dynamically indexed images and samplers, and pointers to them.
    pub(super) choices: descriptor_indexing::IndexedResources,
    /// Loaded images and samplers.
    aliases: BTreeMap<Id, (u8, ImageType)>,
    sampler_aliases: BTreeMap<Id, u8>,
    /// Image and coordinates of pointers to texels, for atomics.
    pub(super) texels: BTreeMap<Id, (u8, Leaves)>,
    /// Images of media block accesses, computed on first use.
    media: Option<BTreeSet<Id>>,
    /// Image and sampler of each combination.
    pub(super) sampled: BTreeMap<Id, (Id, Id)>,
}

/// IR shape of an image argument.
pub(super) fn shape(t: &ImageType) -> Result<ImageShape, Error> {
    if t.multisampled {
        return match (t.dim, t.arrayed) {
            (Dim::Dim2D, false) => Ok(ImageShape::D2Msaa),
            (Dim::Dim2D, true) => Ok(ImageShape::D2ArrayMsaa),
            (dim, _) => Err(Error::malformed(format!(
                "an image of several samples of dimension {dim:?}"
            ))),
        };
    }
    Ok(match (t.dim, t.arrayed) {
        (Dim::Dim1D, false) => ImageShape::D1,
        (Dim::Dim1D, true) => ImageShape::D1Array,
        (Dim::Dim2D, false) => ImageShape::D2,
        (Dim::Dim2D, true) => ImageShape::D2Array,
        (Dim::Dim3D, false) => ImageShape::D3,
        (Dim::DimBuffer, false) => ImageShape::Buffer,
        (Dim::DimCube, false) => ImageShape::Cube,
        (Dim::DimCube, true) => ImageShape::CubeArray,
        (dim, _) => return Err(Error::unsupported(format!("an image of dimension {dim:?}"))),
    })
}

impl Emit<'_, '_, '_> {
    /// Adds an image argument.
    pub(super) fn image_argument(
        &mut self,
        id: Id,
        element: u32,
        t: &ImageType,
    ) -> Result<(), Error> {
        let media = self.media_images().contains(&id);
        let shape = match shape(t)? {
            ImageShape::D2 if media => ImageShape::Block,
            shape => shape,
        };
        let access = match t.access {
            AccessQualifier::ReadOnly => ImageAccess::Read,
            AccessQualifier::WriteOnly => ImageAccess::Write,
            _ => ImageAccess::ReadWrite,
        };
        let n = u8::try_from(self.images.images.len());
        let n = n.map_err(|_| Error::limit("more than 256 images"))?;
        self.b.image_param(shape, access);
        self.images.images.insert((id, element), (n, *t));
        Ok(())
    }

    /// Images of media block accesses.
    fn media_images(&mut self) -> &BTreeSet<Id> {
        let (g, body) = (self.g, self.body);
        self.images.media.get_or_insert_with(|| {
            let insts = g.order.iter().flat_map(|b| &body.blocks[*b].insts);
            let media = insts.filter(|i| block_io::is_media(i.op));
            let images = media.filter_map(|i| body.operands(i).first());
            images.map(|w| Id::of(*w)).collect()
        })
    }

    /// Adds a sampler argument.
    pub(super) fn sampler_argument(&mut self, id: Id, element: u32) -> Result<(), Error> {
        let n = u8::try_from(self.images.samplers.len());
        let n = n.map_err(|_| Error::limit("more than 256 samplers"))?;
        self.b.sampler_param();
        self.images.samplers.insert((id, element), n);
        Ok(())
    }

    /// Gives an id the resource of an element of a variable.
    pub(super) fn same_resource(&mut self, to: Id, id: Id, element: u32) -> Result<(), Error> {
        let from = (id, element);
        let image = self.images.images.get(&from).copied();
        let sampler = self.images.samplers.get(&from).copied();
        if let Some(i) = image {
            self.images.aliases.insert(to, i);
        }
        if let Some(s) = sampler {
            self.images.sampler_aliases.insert(to, s);
        }
        if image.is_some() || sampler.is_some() {
            Ok(())
        } else {
            Err(Error::unsupported("this resource"))
        }
    }

    /// Image and sampler of a combination.
    pub(super) fn sampled(&self, id: Id) -> Result<(Id, Id), Error> {
        let both = self.images.sampled.get(&id).copied();
        both.ok_or_else(|| Error::unsupported("an image with a sampler from elsewhere"))
    }

    pub(super) fn image_of(&self, id: Id) -> Result<(u8, ImageType), Error> {
        let found = self.images.images.get(&(id, 0)).copied();
        let found = found.or_else(|| self.images.aliases.get(&id).copied());
        found.ok_or_else(|| Error::unsupported("an image that is no argument of the kernel"))
    }

    pub(super) fn sampler_of(&self, id: Id) -> Result<Sampler, Error> {
        let alias = self.images.sampler_aliases.get(&id);
        if let Some(n) = self.images.samplers.get(&(id, 0)).or(alias) {
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
        if self.media_images().contains(&first) {
            return Err(Error::unsupported(format!(
                "{} of an image that media blocks are of",
                read::name(inst.op)
            )));
        }
        if let Some(chosen) = self.chosen(inst, first) {
            return self.for_each_choice(inst, chosen);
        }
        match inst.op {
            Op::SampledImage => {
                let sampler = self.operand(inst, 1)?;
                let id = inst.id.expand().ok_or_else(|| Error::internal("no id"))?;
                self.images.sampled.insert(id, (first, sampler));
                Ok(Leaves::new())
            }
            Op::Image => {
                let id = inst.id.expand().ok_or_else(|| Error::internal("no id"))?;
                let image = self.sampled(first)?.0;
                self.images.choices.same(id, image);
                if let Ok(found) = self.image_of(image) {
                    self.images.aliases.insert(id, found);
                }
                Ok(Leaves::new())
            }
            Op::ImageGather | Op::ImageDrefGather => self.gather(inst),
            Op::ImageSampleExplicitLod | Op::ImageSampleDrefExplicitLod => {
                let both = self.sampled(first)?;
                let (image, t) = self.image_of(both.0)?;
                if t.access != AccessQualifier::ReadOnly {
                    return Err(Error::malformed("an image that is written is sampled"));
                }
                if t.multisampled {
                    return Err(Error::malformed("an image of several samples is sampled"));
                }
                let sampler = self.sampler_of(both.1)?;
                let mut coords = self.coordinates(inst, &t)?;
                let compares = inst.op == Op::ImageSampleDrefExplicitLod;
                let reference = if compares {
                    Some(self.reference(inst)?)
                } else {
                    None
                };
                let more = self.more(inst, 2 + usize::from(compares))?;
                let levels = more.lod.is_some() || more.gradients.is_some();
                if more.offset.is_some() && levels {
                    return Err(Error::unsupported("a sample of a level with an offset"));
                }
                self.moved(image, &t, &mut coords, more.offset)?;
                let lod = match more.gradients {
                    Some(by) if shape(&t)?.is_cube() => {
                        Some(self.level_of_cube(image, &coords, by)?)
                    }
                    Some(by) => Some(self.level_of(image, &t, by)?),
                    None => more.lod,
                };
                if lod.is_some_and(|v| self.b.ty(v).scalar() != Scalar::F32) {
                    return Err(Error::malformed("a level of detail that is no float"));
                }
                let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
                let texel = match sampler {
                    Sampler::Argument(sampler) => {
                        let at = ImagePlace { image, sampler };
                        // A direction is no place.
                        let is_place = !shape(&t)?.is_cube();
                        let snap = is_place.then(|| self.snaps(sampler));
                        self.sample(at, &t, &coords, (lod, reference), snap, ty)?
                    }
                    Sampler::Constant(..) if compares || shape(&t)?.is_cube() => {
                        let what = "a comparison or a cube with a sampler that is a constant";
                        return Err(Error::unsupported(what));
                    }
                    // Modes None, ClampToEdge and Clamp: outside of the image is its edge, or the
                    // result of an out-of-bounds load.
                    Sampler::Constant(mode @ 0..=2, normalized, 0) if lod.is_none() => {
                        self.emulate(image, &t, (mode, normalized), &coords, ty)?
                    }
                    Sampler::Constant(mode, normalized, filter) => {
                        let own = Own {
                            addressing: match mode {
                                0 | 1 => Addressing::Edge,
                                2 => Addressing::Border,
                                3 => Addressing::Repeat,
                                _ => Addressing::Mirror,
                            },
                            linear: filter != 0,
                            normalized,
                        };
                        let sampler = self.b.own_sampler(own);
                        if sampler >= MAX_SAMPLERS {
                            return Err(Error::limit(format!("more than {MAX_SAMPLERS} samplers")));
                        }
                        let at = ImagePlace { image, sampler };
                        let snaps = !own.linear && own.addressing == Addressing::Border;
                        let snap = if snaps {
                            Some(self.number(Scalar::B1, 1))
                        } else {
                            None
                        };
                        self.sample(at, &t, &coords, (lod, None), snap, ty)?
                    }
                };
                self.as_type(texel, ty)
            }
            Op::ImageRead | Op::ImageFetch => {
                let (image, t) = self.image_of(first)?;
                if t.access == AccessQualifier::WriteOnly {
                    return Err(Error::malformed("an image that is only written is read"));
                }
                let more = self.more(inst, 2)?;
                if more.gradients.is_some() || more.lod.is_some() && t.multisampled {
                    return Err(Error::malformed(
                        "a load by gradients, or of a level of samples",
                    ));
                }
                self.whole_level(more.lod)?;
                let mut coords = self.coordinates(inst, &t)?;
                self.moved(image, &t, &mut coords, more.offset)?;
                match (more.sample, t.multisampled) {
                    (Some(n), true) => coords.push(n),
                    (None, false) => {}
                    _ => {
                        return Err(Error::malformed(
                            "a sample of another image than of several",
                        ));
                    }
                }
                let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
                let texel = self.texel(image, &coords, more.lod, ty)?;
                self.as_type(texel, ty)
            }
            Op::ImageWrite => {
                let (image, t) = self.image_of(first)?;
                if t.access == AccessQualifier::ReadOnly {
                    return Err(Error::malformed("an image that is only read is written"));
                }
                let more = self.more(inst, 3)?;
                let moved = more.offset.is_some();
                if more.gradients.is_some() || more.sample.is_some() || t.multisampled || moved {
                    return Err(Error::malformed("a store by gradients or to a sample"));
                }
                self.whole_level(more.lod)?;
                let coords = self.coordinates(inst, &t)?;
                if coords.iter().any(|c| self.b.ty(*c).scalar() != Scalar::I32) {
                    return Err(Error::malformed("coordinates that are not whole"));
                }
                let value = self.operand(inst, 2)?;
                let mut texel = self.get(value)?;
                // A depth value is one component.
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
                self.b
                    .ins()
                    .image_store_level(value, image, &coords, more.lod, Some(mask));
                Ok(Leaves::new())
            }
            Op::ImageTexelPointer => {
                let (image, t) = self.image_of(first)?;
                if t.access != AccessQualifier::ReadWrite || t.multisampled {
                    let what = "atomics on an image that is not read and written, of one sample";
                    return Err(Error::unsupported(what));
                }
                let coords = self.coordinates(inst, &t)?;
                if coords.iter().any(|c| self.b.ty(*c).scalar() != Scalar::I32) {
                    return Err(Error::malformed("coordinates that are not whole"));
                }
                let id = inst.id.expand().ok_or_else(|| Error::internal("no id"))?;
                self.images.texels.insert(id, (image, coords));
                Ok(Leaves::new())
            }
            _ => self.query(inst, first),
        }
    }

    /// Coordinates of an access, as many as the image has, with a lane for each channel.
    pub(super) fn coordinates(&mut self, inst: &BInst, t: &ImageType) -> Result<Leaves, Error> {
        let id = self.operand(inst, 1)?;
        let shape = shape(t)?;
        let count = shape.coordinates() - usize::from(shape.is_msaa());
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

    /// Parses the optional image operands, which start at operand `n`.
    pub(super) fn more(&mut self, inst: &BInst, n: usize) -> Result<ExtraOperands, Error> {
        let words: Vec<u32> = self.body.operands(inst).get(n..).unwrap_or(&[]).to_vec();
        let mut out = ExtraOperands::default();
        let Some((&mask, mut rest)) = words.split_first() else {
            return Ok(out);
        };
        let (lod, gradients) = (ImageOperands::LOD.bits(), ImageOperands::GRAD.bits());
        let sample = ImageOperands::SAMPLE.bits();
        let offsets = ImageOperands::CONST_OFFSET.bits() | ImageOperands::OFFSET.bits();
        // Bits for signedness and memory model have no effect here.
        let known = lod | gradients | sample | offsets | 0x3f00;
        if mask & !known != 0 {
            return Err(Error::unsupported(format!(
                "{} with these operands",
                read::name(inst.op)
            )));
        }
        let mut next = || {
            let (first, others) = rest
                .split_first()
                .ok_or_else(|| Error::malformed("too few operands"))?;
            rest = others;
            Ok::<Id, Error>(Id::of(*first))
        };
        if mask & lod != 0 {
            let id = next()?;
            if self.m.bits(id) != Some(0) {
                let v = self.one(id)?;
                out.lod = Some(self.b.splat(v, self.simd));
            }
        }
        if mask & gradients != 0 {
            let (x, y) = (next()?, next()?);
            out.gradients = Some([self.get(x)?, self.get(y)?]);
        }
        for offset in [ImageOperands::CONST_OFFSET, ImageOperands::OFFSET] {
            if mask & offset.bits() == 0 {
                continue;
            }
            let by = self.get(next()?)?;
            if by.iter().any(|v| self.b.ty(*v).scalar() != Scalar::I32) {
                return Err(Error::malformed("an offset that is not whole"));
            }
            out.offset = Some(by);
        }
        if mask & sample != 0 {
            let id = next()?;
            let v = self.one(id)?;
            if self.b.ty(v).scalar() != Scalar::I32 {
                return Err(Error::malformed("a sample's number that is not whole"));
            }
            out.sample = Some(self.b.splat(v, self.simd));
        }
        Ok(out)
    }

    fn whole_level(&self, lod: Option<Value>) -> Result<(), Error> {
        if lod.is_none_or(|v| self.b.ty(v).scalar() == Scalar::I32) {
            Ok(())
        } else {
            Err(Error::malformed("a level of detail that is not whole"))
        }
    }

    /// Reference that an instruction compares texels with.
    pub(super) fn reference(&mut self, inst: &BInst) -> Result<Value, Error> {
        let id = self.operand(inst, 2)?;
        let v = self.one(id)?;
        if self.b.ty(v).scalar() != Scalar::F32 {
            return Err(Error::malformed("a reference that is no float of 32 bits"));
        }
        Ok(self.b.splat(v, self.simd))
    }

    /// IR scalar of a texel component.
    fn component(&self, ty: Ty) -> Result<Scalar, Error> {
        match self.scalar(ty)? {
            Scalar::F16 | Scalar::F32 => Ok(Scalar::F32),
            Scalar::I32 => Ok(Scalar::I32),
            _ => Err(Error::unsupported("texels of this type")),
        }
    }

    pub(super) fn as_type(&mut self, mut texel: Leaves, ty: Ty) -> Result<Leaves, Error> {
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

    /// Loads a texel at integer coordinates.
    fn texel(
        &mut self,
        image: u8,
        coords: &[Value],
        lod: Option<Value>,
        ty: Ty,
    ) -> Result<Leaves, Error> {
        if coords.iter().any(|c| self.b.ty(*c).scalar() != Scalar::I32) {
            return Err(Error::malformed("coordinates that are not whole"));
        }
        let ty = self.lanes(self.component(ty)?, 4 * self.simd);
        let (mask, old) = (self.b.exec_mask(), self.b.ins().undef(ty));
        let v = self
            .b
            .ins()
            .image_load_level(ty, image, coords, lod, Some((mask, old)));
        Ok(self.parts(v))
    }

    pub(super) fn sample(
        &mut self,
        at: ImagePlace,
        t: &ImageType,
        coords: &[Value],
        (lod, reference): (Option<Value>, Option<Value>),
        snap: Option<Value>,
        ty: Ty,
    ) -> Result<Leaves, Error> {
        let float = self.lanes(Scalar::F32, self.simd);
        let spatial = coords.len() - usize::from(t.arrayed);
        let mut places = Leaves::new();
        for (n, c) in coords.iter().enumerate() {
            let whole = self.b.ty(*c).scalar() == Scalar::I32;
            let mut c = if whole {
                self.b.ins().fcvt_from_sint(float, *c)
            } else {
                *c
            };
            if let (Some(snap), true, true) = (snap, n < spatial, whole) {
                // An integer below zero is at most -1.
                let bits = [-1.0, f32::NEG_INFINITY].map(f32::to_bits);
                let [outside, any] = bits.map(|b| self.number(Scalar::F32, b.into()));
                let least = self.choose(snap, outside, any)?;
                let least = self.b.splat(least, self.simd);
                c = self.b.ins().fmax(c, least);
            } else if let (Some(snap), true) = (snap, n < spatial) {
                let (zero, outside) = (self.float(c, 0.0), self.float(c, -1.0));
                let below = self.b.ins().fcmp(FloatCC::LessThan, c, zero);
                let moved = self.choose(below, outside, c)?;
                c = self.choose(snap, moved, c)?;
            }
            places.push(c);
        }
        let ty = self.lanes(self.component(ty)?, 4 * self.simd);
        let (mask, old) = (self.b.exec_mask(), self.b.ins().undef(ty));
        let masked = Some((mask, old));
        let v = match reference {
            None => self.b.ins().sample(ty, at, &places, lod, masked),
            Some(r) => {
                let more = (lod, r);
                self.b.ins().sample_compare(ty, at, &places, more, masked)
            }
        };
        Ok(self.parts(v))
    }

    /// Size of an image in a dimension.
    pub(super) fn size_of(&mut self, image: u8, t: &ImageType, n: usize) -> Result<Value, Error> {
        Ok(self.extent(image, shape(t)?, n))
    }

    /// Size of an image in a dimension, as a uniform value.
    pub(super) fn extent(&mut self, image: u8, shape: ImageShape, n: usize) -> Value {
        let fact = match (shape, n) {
            (_, 0) => ImageFact::Width,
            (ImageShape::D1Array, _) => ImageFact::Layers,
            (_, 1) => ImageFact::Height,
            (ImageShape::D2Array | ImageShape::D2ArrayMsaa | ImageShape::CubeArray, _) => {
                ImageFact::Layers
            }
            _ => ImageFact::Depth,
        };
        self.b.ins().image_query(fact, image)
    }

    /// Emulates a constant sampler with nearest filter.
    fn emulate(
        &mut self,
        image: u8,
        t: &ImageType,
        (mode, normalized): (u32, bool),
        coords: &[Value],
        ty: Ty,
    ) -> Result<Leaves, Error> {
        let shape = shape(t)?;
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
        self.texel(image, &places, None, ty)
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
            Op::ImageQueryLevels => out.push(self.b.ins().image_query(ImageFact::Levels, image)),
            Op::ImageQuerySamples => out.push(self.b.ins().image_query(ImageFact::Samples, image)),
            // SPIR-V's enumerants are OpenCL's minus these bases.
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
                // A cube has the two sizes of its faces.
                let sizes = shape.coordinates() - usize::from(shape.is_cube());
                for n in 0..count.min(sizes) {
                    let mut v = self.extent(image, shape, n);
                    let layers = shape.is_array() && n + 1 == sizes;
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
