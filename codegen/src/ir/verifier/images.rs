//! Rules on images: existing arguments, coordinates, texels, masks. Also rules on media blocks and
//! on sends.

use super::{ErrorLocation, Verifier};
use crate::ir::{ImageAccess, ImageShape, Inst, InstData, Opcode, Scalar, Type, Value};

/// Maximum bytes of a row of a media block.
const MEDIA_ROW: u32 = 64;
/// Components of a texel.
const COMPONENTS: u32 = 4;

/// Returns the type of a coordinate of an opcode.
fn coordinate_scalar(opcode: Opcode) -> Scalar {
    match opcode {
        Opcode::Sample => Scalar::F32,
        _ => Scalar::I32,
    }
}

impl Verifier<'_> {
    pub(super) fn images(&mut self, inst: Inst) {
        match *self.data(inst) {
            InstData::ArgQuery { opcode, fact, .. } => {
                let want = Type::scalar_of(fact.scalar());
                if let Some(ty) = self.result(inst)
                    && ty != want
                {
                    let what = format!("type clash: `{opcode}` is {want}, not {ty}");
                    self.error(ErrorLocation::Inst(inst), what);
                }
            }
            InstData::Image { .. } => self.texels(inst),
            InstData::ImageAtomic { .. } => self.texel_atomic(inst),
            InstData::Media { .. } => self.media(inst),
            InstData::Send { .. } => self.message(inst),
            _ => {}
        }
    }

    /// Returns the image of an index; `None` in a subroutine, which uses its kernel's images.
    fn image_of(&self, image: u8) -> Option<(ImageShape, ImageAccess)> {
        self.func.images().nth(image.into())
    }

    fn media(&mut self, inst: Inst) {
        let InstData::Media {
            opcode,
            image,
            width,
            coords,
            data,
        } = *self.data(inst)
        else {
            return;
        };
        if let Some((shape, access)) = self.image_of(image) {
            let ok = match opcode {
                Opcode::MediaLoad => access.reads(),
                _ => access.writes(),
            };
            if !ok || !shape.has_rectangles() {
                let (shape, access) = (shape.name(), access.name());
                let what = format!("`{opcode}` of an `{shape}` for `{access}`");
                self.error(ErrorLocation::Inst(inst), what);
            }
        }
        let i32 = Type::scalar_of(Scalar::I32);
        for (n, v) in coords.into_iter().enumerate() {
            let have = self.ty(v);
            if have != i32 {
                let what = format!("type clash: places of `{opcode}` are {i32}, and {v} is {have}");
                self.error(ErrorLocation::Operand(inst, n), what);
            }
        }
        let ty = match opcode {
            Opcode::MediaLoad => self.result(inst),
            _ => data.expand().map(|v| self.ty(v)),
        };
        let Some(ty) = ty else {
            return self.error(ErrorLocation::Inst(inst), "a store of nothing");
        };
        let width = u32::from(width);
        if width == 0 || width > MEDIA_ROW || !width.is_multiple_of(Scalar::I32.bytes()) {
            let what =
                format!("rows of {width} bytes: they have a multiple of 4 up to {MEDIA_ROW}");
            self.error(ErrorLocation::Inst(inst), what);
        } else if ty.is_pred() || !ty.bytes().is_multiple_of(width) {
            let what = format!("{ty} is not rows of {width} bytes");
            self.error(ErrorLocation::Inst(inst), what);
        }
    }

    /// Checks a send. Message lengths are up to the target.
    fn message(&mut self, inst: Inst) {
        let InstData::Send {
            opcode,
            exec,
            payload,
            second,
            mask,
            old,
            ..
        } = *self.data(inst)
        else {
            return;
        };
        let exec = u32::from(exec);
        if !exec.is_power_of_two() || exec > Type::FLAG_LANES {
            let what = format!("a message of {exec} channels");
            self.error(ErrorLocation::Inst(inst), what);
        }
        let values = [Some(payload), second.expand()];
        for (n, v) in values.into_iter().flatten().enumerate() {
            let ty = self.ty(v);
            if ty.is_pred() {
                let what = format!("type clash: {v} of {ty} is no payload");
                self.error(ErrorLocation::Operand(inst, n), what);
            }
        }
        if self.result(inst).is_some_and(Type::is_pred) {
            self.error(
                ErrorLocation::Inst(inst),
                format!("type clash: `{opcode}` of a predicate"),
            );
        }
        let before = 1 + usize::from(second.is_some());
        if let Some(m) = mask.expand() {
            self.mask(inst, before, m, exec);
        }
        if let Some(old) = old.expand() {
            let (have, at) = (self.ty(old), before + usize::from(mask.is_some()));
            let what = match self.result(inst) {
                Some(ty) if have == ty => return,
                Some(ty) => {
                    format!("type clash: {old} is {have}, and the response's type is {ty}")
                }
                None => format!("`{opcode}` has no response that keeps {old}"),
            };
            self.error(ErrorLocation::Operand(inst, at), what);
        }
    }

    /// Checks the image of an access and its coordinates, and returns the number of lanes.
    fn coordinates(
        &mut self,
        inst: Inst,
        image: Option<(ImageShape, ImageAccess)>,
        given: &[Value],
    ) -> Option<u32> {
        let opcode = self.data(inst).opcode();
        if let Some((shape, access)) = image {
            let want = shape.coordinates();
            if given.len() != want {
                let (have, name) = (given.len(), shape.name());
                let what = format!("{have} coordinates; an `{name}` has {want}");
                self.error(ErrorLocation::Inst(inst), what);
            }
            let ok = match opcode {
                Opcode::ImageStore => access.writes(),
                Opcode::Sample => access == ImageAccess::Read,
                Opcode::ImageAtomic => access.reads() && access.writes(),
                _ => access.reads(),
            };
            if shape == ImageShape::Block
                || shape.is_msaa() && opcode != Opcode::ImageLoad
                || shape.is_cube() && opcode != Opcode::Sample
            {
                let what = format!("`{opcode}` of an `{}`", shape.name());
                self.error(ErrorLocation::Inst(inst), what);
            }
            if !ok {
                let what = format!("`{opcode}` of an image for `{}`", access.name());
                self.error(ErrorLocation::Inst(inst), what);
            }
        }
        let Some(&first) = given.first() else {
            self.error(ErrorLocation::Inst(inst), "no coordinates");
            return None;
        };
        let lanes = self.ty(first).lanes();
        let scalar = coordinate_scalar(opcode);
        let kind = match scalar {
            Scalar::F32 => "floats",
            _ => "whole numbers",
        };
        let want = Type::new(scalar, lanes).filter(|_| lanes <= Type::FLAG_LANES);
        for (n, &v) in given.iter().enumerate() {
            let have = self.ty(v);
            if Some(have) != want {
                let most = Type::FLAG_LANES;
                let what = format!(
                    "type clash: coordinates of `{opcode}` are {kind} of 32 bits, equally many up to {most}, and {v} is {have}"
                );
                self.error(ErrorLocation::Operand(inst, n), what);
            }
        }
        Some(lanes)
    }

    fn texel_atomic(&mut self, inst: Inst) {
        let InstData::ImageAtomic {
            opcode,
            op,
            image,
            coords,
            data,
            mask,
            old,
        } = *self.data(inst)
        else {
            return;
        };
        let image = self.image_of(image);
        let given: Vec<_> = coords.iter().filter_map(|v| v.expand()).collect();
        let Some(lanes) = self.coordinates(inst, image, &given) else {
            return;
        };
        let want = Type::clamped(Scalar::I32, lanes);
        if op.is_float() {
            let what = format!("`{opcode}` {}: texels of atomics are integers", op.name());
            self.error(ErrorLocation::Inst(inst), what);
        }
        if let Some(ty) = self.result(inst)
            && ty != want
        {
            let what = format!("type clash: the texels of `{opcode}` are {want}, not {ty}");
            self.error(ErrorLocation::Inst(inst), what);
        }
        let operands: Vec<_> = data.iter().filter_map(|v| v.expand()).collect();
        if operands.len() != op.operands() {
            let (want, have) = (op.operands(), operands.len());
            let what = format!("`{opcode}` {} has {want} operands, not {have}", op.name());
            self.error(ErrorLocation::Inst(inst), what);
        }
        for (n, &v) in operands.iter().enumerate() {
            let have = self.ty(v);
            if have != want {
                let what = format!("type clash: {v} is {have}, and the atomic's type is {want}");
                self.error(ErrorLocation::Operand(inst, given.len() + n), what);
            }
        }
        let next = given.len() + operands.len();
        if let Some(m) = mask.expand() {
            self.mask(inst, next, m, lanes);
        }
        self.lanes_off(inst, want, mask, old, next + 1);
    }

    fn texels(&mut self, inst: Inst) {
        let InstData::Image {
            opcode,
            at,
            coords,
            lod,
            data,
            mask,
            old,
        } = *self.data(inst)
        else {
            return;
        };
        let image = self.image_of(at.image);
        let given: Vec<_> = coords.iter().filter_map(|v| v.expand()).collect();
        let Some(lanes) = self.coordinates(inst, image, &given) else {
            return;
        };
        let scalar = coordinate_scalar(opcode);
        let want = Type::new(scalar, lanes).filter(|_| lanes <= Type::FLAG_LANES);
        let texel = match opcode {
            Opcode::ImageStore => data.expand().map(|v| self.ty(v)),
            _ => self.result(inst),
        };
        if let Some(ty) = texel
            && (!matches!(ty.scalar(), Scalar::I32 | Scalar::F32)
                || ty.lanes() != COMPONENTS * lanes)
        {
            let want = COMPONENTS * lanes;
            let what = format!(
                "type clash: the texels of `{opcode}` are i32x{want} or f32x{want}, not {ty}"
            );
            self.error(ErrorLocation::Inst(inst), what);
        }
        if opcode == Opcode::ImageStore && data.is_none() {
            self.error(ErrorLocation::Inst(inst), "a store of nothing");
        }
        if opcode == Opcode::ImageLoad && data.is_some() {
            self.error(ErrorLocation::Inst(inst), "a load with a reference");
        }
        let mut next = given.len();
        if let Some(v) = lod.expand() {
            let have = self.ty(v);
            let msaa = image.is_some_and(|i| i.0.is_msaa());
            if msaa || Some(have) != want {
                let what = format!("type clash: {v} of {have} is no level of detail");
                self.error(ErrorLocation::Operand(inst, next), what);
            }
            next += 1;
        }
        if let (Some(v), Opcode::Sample) = (data.expand(), opcode) {
            let have = self.ty(v);
            if Some(have) != want || texel.is_some_and(|t| t.scalar() != Scalar::F32) {
                let what = format!("type clash: {v} of {have} is no reference of float texels");
                self.error(ErrorLocation::Operand(inst, next), what);
            }
        }
        next += usize::from(data.is_some());
        if let Some(m) = mask.expand() {
            self.mask(inst, next, m, lanes);
        }
        if let (Some(ty), true) = (texel, opcode != Opcode::ImageStore) {
            self.lanes_off(inst, ty, mask, old, next + 1);
        }
    }
}
