//! Images: that there are such, coordinates, texels, masks.

use super::{Place, Verifier};
use crate::ir::{ArgKind, FuncKind, ImageAccess, ImageShape, Inst, InstData, Opcode, Scalar, Type};

/// Components of a texel.
const COMPONENTS: u32 = 4;

impl Verifier<'_> {
    pub(super) fn images(&mut self, inst: Inst) {
        match *self.data(inst) {
            InstData::ImageQuery { opcode, image, .. } => {
                self.image_of(inst, image);
                if let Some(ty) = self.result(inst)
                    && ty != Type::scalar_of(Scalar::I32)
                {
                    let what = format!("type clash: `{opcode}` is i32, not {ty}");
                    self.error(Place::Inst(inst), what);
                }
            }
            InstData::Image { .. } => self.texels(inst),
            _ => {}
        }
    }

    /// The image of a number; none in a subroutine, whose images are its kernels'.
    fn image_of(&mut self, inst: Inst, image: u8) -> Option<(ImageShape, ImageAccess)> {
        if !matches!(self.func.kind, FuncKind::Kernel { .. }) {
            return None;
        }
        let found = self.func.images().nth(image.into());
        if found.is_none() {
            let n = self.func.images().count();
            let what = format!("image {image}: the kernel has {n} image arguments");
            self.error(Place::Inst(inst), what);
        }
        found
    }

    fn texels(&mut self, inst: Inst) {
        let InstData::Image {
            opcode,
            at,
            coords,
            data,
            mask,
            old,
        } = *self.data(inst)
        else {
            return;
        };
        let image = self.image_of(inst, at.image);
        let kernel = matches!(self.func.kind, FuncKind::Kernel { .. });
        let samplers = self.func.count(ArgKind::Sampler);
        if kernel && opcode == Opcode::Sample && usize::from(at.sampler) >= samplers {
            let n = at.sampler;
            let what = format!("sampler {n}: the kernel has {samplers} sampler arguments");
            self.error(Place::Inst(inst), what);
        }
        let given: Vec<_> = coords.iter().filter_map(|v| v.expand()).collect();
        if let Some((shape, access)) = image {
            let want = shape.coordinates();
            if given.len() != want {
                let (have, name) = (given.len(), shape.name());
                let what = format!("{have} coordinates; an `{name}` has {want}");
                self.error(Place::Inst(inst), what);
            }
            let ok = match opcode {
                Opcode::ImageStore => access.writes(),
                Opcode::Sample => access == ImageAccess::Read,
                _ => access.reads(),
            };
            if !ok {
                let what = format!("`{opcode}` of an image for `{}`", access.name());
                self.error(Place::Inst(inst), what);
            }
        }
        let Some(&first) = given.first() else {
            return self.error(Place::Inst(inst), "no coordinates");
        };
        let lanes = self.ty(first).lanes();
        let (scalar, kind) = match opcode {
            Opcode::Sample => (Scalar::F32, "floats"),
            _ => (Scalar::I32, "whole numbers"),
        };
        let want = Type::new(scalar, lanes).filter(|_| lanes <= Type::MAX_PRED_LANES);
        for (n, &v) in given.iter().enumerate() {
            let have = self.ty(v);
            if Some(have) != want {
                let most = Type::MAX_PRED_LANES;
                let what = format!(
                    "type clash: coordinates of `{opcode}` are {kind} of 32 bits, equally many up to {most}, and {v} is {have}"
                );
                self.error(Place::Operand(inst, n), what);
            }
        }
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
            self.error(Place::Inst(inst), what);
        }
        if opcode == Opcode::ImageStore && data.is_none() {
            self.error(Place::Inst(inst), "a store of nothing");
        }
        let mut next = given.len();
        if let Some(v) = data.expand() {
            let have = self.ty(v);
            if opcode == Opcode::ImageLoad || opcode == Opcode::Sample && Some(have) != want {
                let what = format!("type clash: {v} of {have} is no level of detail");
                self.error(Place::Operand(inst, next), what);
            }
            next += 1;
        }
        if let Some(m) = mask.expand() {
            self.mask(inst, next, m, lanes);
        }
        if let (Some(ty), true) = (texel, opcode != Opcode::ImageStore) {
            self.lanes_off(inst, ty, mask, old, next + 1);
        }
    }
}
