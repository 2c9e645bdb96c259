//! Lowering of image accesses to logical sends.

use super::{Lower, gen_signed};
use crate::ir::{ImageAccess, ImageShape, Inst, InstData, Opcode, Value};
use crate::mir::logical::{Dir, ImageOp, Logical, Media, Raw, Texels};

impl Lower<'_> {
    pub(super) fn lower_image(&mut self, inst: Inst) {
        let InstData::Image {
            opcode,
            at,
            coords,
            lod,
            data,
            mask,
            old,
        } = *self.func.dfg.data(inst)
        else {
            return;
        };
        let given: Vec<_> = coords.iter().filter_map(|c| c.expand()).collect();
        let Some((shape, access)) = self.image_used(inst, opcode, at.image, given.len()) else {
            return;
        };
        let stored = opcode == Opcode::ImageStore;
        let texels = if stored {
            data.expand()
        } else {
            self.func.dfg.first_result(inst)
        };
        let Some((texels, first)) = texels.zip(given.first().copied()) else {
            return;
        };
        let lanes = self.ty(first).lanes();
        let regs = coords.map(|c| c.expand().map(|v| self.reg(v)));
        let lod = lod.expand().map(|v| self.reg(v));
        let reference = data.expand().filter(|_| opcode == Opcode::Sample);
        let reference = reference.map(|v| self.reg(v));
        let op = match opcode {
            Opcode::ImageStore => ImageOp::Store { lod },
            Opcode::ImageLoad if shape.is_msaa() => ImageOp::LoadSample,
            // The sampler's cache may not have texels that are also stored.
            Opcode::ImageLoad if access.writes() => ImageOp::LoadTyped { lod },
            Opcode::ImageLoad => ImageOp::Load { lod },
            _ => ImageOp::Sample {
                sampler: at.sampler,
                lod,
                reference,
            },
        };
        let keeps = stored || self.copy_old_lanes(texels, old);
        let logical = Texels {
            op,
            surface: self.payload.image_index(at.image),
            header: self.header,
            lanes,
            ty: gen_signed(self.ty(texels).scalar()),
            coords: regs,
            mask: mask.expand().map(|m| self.mask(inst, m)),
            texels: Some(self.reg(texels)),
            keeps,
        };
        self.send(Logical::Texels(logical));
    }

    /// Returns the image that an instruction accesses. Subroutines do not declare the kernel's
    /// images, so the verifier has not compared them.
    fn image_used(
        &mut self,
        inst: Inst,
        opcode: Opcode,
        image: u8,
        coordinates: usize,
    ) -> Option<(ImageShape, ImageAccess)> {
        let found = self.payload.image(image);
        let Some((shape, access)) = found.filter(|(s, _)| s.coordinates() == coordinates) else {
            let what =
                format!("image {image} of {coordinates} coordinates, which the kernel lacks");
            self.fail(Some(inst), what);
            return None;
        };
        let used = match opcode {
            Opcode::ImageStore => access.writes(),
            Opcode::Sample => access == ImageAccess::Read && !shape.is_msaa(),
            _ if shape.is_cube() => false,
            Opcode::ImageAtomic => access.reads() && access.writes() && !shape.is_msaa(),
            _ => access.reads(),
        };
        if !used {
            let what = format!("this use of an image for `{}`", access.name());
            self.fail(Some(inst), what);
            return None;
        }
        Some((shape, access))
    }

    pub(super) fn lower_image_atomic(&mut self, inst: Inst) {
        let InstData::ImageAtomic {
            opcode,
            op,
            image,
            coords,
            data,
            mask,
            old,
        } = *self.func.dfg.data(inst)
        else {
            return;
        };
        let count = coords.iter().filter(|c| c.is_some()).count();
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        if self.image_used(inst, opcode, image, count).is_none() {
            return;
        }
        let ty = self.ty(v);
        // Without a use of the old texels, no response is requested.
        let wanted = self.value_regs[v].is_some();
        let keeps = wanted && self.copy_old_lanes(v, old);
        let logical = Texels {
            op: ImageOp::Atomic {
                op,
                data: data.map(|d| d.expand().map(|d| self.reg(d))),
            },
            surface: self.payload.image_index(image),
            header: self.header,
            lanes: ty.lanes(),
            ty: gen_signed(ty.scalar()),
            coords: coords.map(|c| c.expand().map(|v| self.reg(v))),
            mask: mask.expand().map(|m| self.mask(inst, m)),
            texels: wanted.then(|| self.reg(v)),
            keeps,
        };
        self.send(Logical::Texels(logical));
    }

    pub(super) fn lower_media(&mut self, inst: Inst) {
        let InstData::Media {
            opcode,
            image,
            width,
            coords: [x, y],
            data,
        } = *self.func.dfg.data(inst)
        else {
            return;
        };
        let stored = opcode == Opcode::MediaStore;
        let found = self.payload.image(image);
        let fits = found.is_some_and(|(shape, access)| {
            let used = if stored {
                access.writes()
            } else {
                access.reads()
            };
            shape.has_rectangles() && used
        });
        if !fits {
            let what = format!("image {image}, which is none of the kernel's for this");
            return self.fail(Some(inst), what);
        }
        let value = if stored {
            data.expand()
        } else {
            self.func.dfg.first_result(inst)
        };
        let Some(value) = value else {
            return;
        };
        let logical = Media {
            dir: if stored { Dir::Write } else { Dir::Read },
            surface: self.payload.image_index(image),
            header: self.header,
            width: width.into(),
            bytes: self.ty(value).bytes(),
            coords: [self.reg(x), self.reg(y)],
            data: self.reg(value),
        };
        self.send(Logical::Media(logical));
    }

    pub(super) fn lower_message(&mut self, inst: Inst) {
        let InstData::Send {
            exec,
            descs,
            payload,
            second,
            mask,
            old,
            ..
        } = *self.func.dfg.data(inst)
        else {
            return;
        };
        let reply = self.func.dfg.first_result(inst);
        let keeps = reply.is_some_and(|v| self.copy_old_lanes(v, old));
        let mut reg = |v: Option<Value>| v.map(|v| (self.reg(v), self.ty(v).bytes()));
        let (payload, second) = (reg(Some(payload)), reg(second.expand()));
        let reply = reg(reply);
        let Some(payload) = payload else {
            return;
        };
        let raw = Raw {
            exec: exec.into(),
            descs,
            payload,
            second,
            reply,
            mask: mask.expand().map(|m| self.mask(inst, m)),
            keeps,
        };
        self.send(Logical::Raw(raw));
    }
}
