//! Sub-group block reads and writes of images: rows, and media blocks.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::op_info::is_image_block_read;
use crate::read::{self, Id};
use gantry_codegen::ir::{Scalar, Value};
use spirv::{AccessQualifier, Dim, Op};

/// Returns true if this file emits an instruction.
pub(super) fn is_supported(op: Op) -> bool {
    use Op::*;
    is_image_block_read(op)
        || matches!(
            op,
            SubgroupImageBlockWriteINTEL | SubgroupImageMediaBlockWriteINTEL
        )
}

/// Returns true for media blocks, which need images with a binding of their own.
pub(super) fn is_media(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        SubgroupImageMediaBlockReadINTEL | SubgroupImageMediaBlockWriteINTEL
    )
}

/// Maximum width in bytes of a block of the IR.
const MAX_ROW: u32 = 64;

impl Emit<'_, '_, '_> {
    pub(super) fn image_block(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let (image, at) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        let (image, t) = self.image_of(image)?;
        let flat = t.dim == Dim::Dim2D && !t.arrayed && !t.multisampled;
        let allowed = if is_image_block_read(inst.op) {
            t.access != AccessQualifier::WriteOnly
        } else {
            t.access != AccessQualifier::ReadOnly
        };
        if !flat || !allowed {
            return Err(Error::malformed(format!(
                "{} of an image that is not for it",
                read::name(inst.op)
            )));
        }
        let [x, y] = *self.get(at)?.as_slice() else {
            return Err(Error::malformed("a place of other than two coordinates"));
        };
        if [x, y].iter().any(|v| self.b.ty(*v).scalar() != Scalar::I32) {
            return Err(Error::malformed("a place that is not whole"));
        }
        let at = [self.any_lane(x), self.any_lane(y)];
        let media = is_media(inst.op);
        if is_image_block_read(inst.op) {
            let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
            let (scalar, count) = (self.scalar(ty)?, self.components(ty));
            if scalar == Scalar::B1 || self.m.types.leaves(ty) != count {
                return Err(Error::malformed("a rectangle of what are no numbers"));
            }
            return if media {
                self.read_media(inst, image, at, scalar, count)
            } else {
                Ok(self.read_rows(image, at, scalar, count))
            };
        }
        let data = self.operand(inst, if media { 4 } else { 2 })?;
        let mut values = self.get(data)?;
        for v in &mut values {
            *v = self.b.splat(*v, self.simd);
        }
        let first = *values.first().ok_or_else(|| Error::internal("no value"))?;
        let scalar = self.b.ty(first).scalar();
        if scalar == Scalar::B1 || values.iter().any(|v| self.b.ty(*v).scalar() != scalar) {
            return Err(Error::malformed("a rectangle of what are no numbers"));
        }
        if media {
            let width = self.media_width(inst, scalar, values.len() as u32)?;
            let all = self.join(scalar, &values, self.simd);
            self.b.ins().media_store(all, image, at, width);
        } else {
            self.write_rows(image, at, scalar, &values)
        }
        Ok(Leaves::new())
    }

    /// Row size in bytes of a media block. Its elements are distributed over the sub-group in
    /// order.
    fn media_width(&self, inst: &BInst, scalar: Scalar, count: u32) -> Result<u8, Error> {
        let size = |n: usize| -> Result<u64, Error> {
            let id: Id = self.operand(inst, n)?;
            let bits = self.m.bits(id);
            bits.ok_or_else(|| Error::unsupported("a media block of a size that is no constant"))
        };
        let (width, height) = (size(2)?, size(3)?);
        let elements = u64::from(count * self.simd);
        let bytes = width.saturating_mul(scalar.bytes().into());
        if width.saturating_mul(height) != elements || bytes > MAX_ROW.into() || bytes % 4 != 0 {
            return Err(Error::unsupported(format!(
                "a media block of {width} by {height} elements of {} bytes for {elements}",
                scalar.bytes()
            )));
        }
        Ok(bytes as u8)
    }

    fn read_media(
        &mut self,
        inst: &BInst,
        image: u8,
        at: [Value; 2],
        scalar: Scalar,
        count: u32,
    ) -> Result<Leaves, Error> {
        let width = self.media_width(inst, scalar, count)?;
        let ty = self.lanes(scalar, count * self.simd);
        let all = self.b.ins().media_load(ty, image, at, width);
        let parts = (0..count).map(|n| self.b.slice(all, n * self.simd, self.simd));
        Ok(parts.collect())
    }

    /// Splits a row into blocks: first element and number of elements of each.
    fn pieces(&self, scalar: Scalar) -> Vec<(u32, u32)> {
        let most = (MAX_ROW / scalar.bytes()).min(self.simd);
        let firsts = (0..self.simd).step_by(most as usize);
        firsts.map(|first| (first, most)).collect()
    }

    fn piece_place(&mut self, [x, y]: [Value; 2], first: u32, scalar: Scalar) -> [Value; 2] {
        if first == 0 {
            return [x, y];
        }
        let by = self.same(x, u64::from(first * scalar.bytes()));
        [self.b.ins().iadd(x, by), y]
    }

    /// Reads a row for each component, with an element for each work-item.
    fn read_rows(&mut self, image: u8, at: [Value; 2], scalar: Scalar, rows: u32) -> Leaves {
        let mut read = Vec::new();
        for (first, count) in self.pieces(scalar) {
            let at = self.piece_place(at, first, scalar);
            let ty = self.lanes(scalar, count * rows);
            let width = (count * scalar.bytes()) as u8;
            read.push((self.b.ins().media_load(ty, image, at, width), count));
        }
        let mut out = Leaves::new();
        for row in 0..rows {
            let parts = read
                .iter()
                .map(|(v, count)| (self.b.slice(*v, row * count, *count), *count));
            let parts: Vec<(Value, u32)> = parts.collect();
            let count = parts.first().map_or(self.simd, |p| p.1);
            let parts: Vec<Value> = parts.into_iter().map(|p| p.0).collect();
            out.push(self.join(scalar, &parts, count));
        }
        out
    }

    fn write_rows(&mut self, image: u8, at: [Value; 2], scalar: Scalar, rows: &[Value]) {
        for (first, count) in self.pieces(scalar) {
            let at = self.piece_place(at, first, scalar);
            let parts = rows.iter().map(|v| self.b.slice(*v, first, count));
            let parts: Vec<Value> = parts.collect();
            let all = self.join(scalar, &parts, count);
            let width = (count * scalar.bytes()) as u8;
            self.b.ins().media_store(all, image, at, width);
        }
    }
}
