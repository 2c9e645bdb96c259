//! Builders of memory and message instructions: loads, stores, atomics, images, 2D blocks, `dpas`,
//! barriers and sends.

use super::ins::Ins;
use crate::ir::{
    AtomicOp, Block2dShape, DpasShape, ImagePlace, InstData, MemFlags, Opcode, Scalar, Type, Value,
};
use cranelift_entity::packed_option::PackedOption;

/// Data of a 2D block instruction.
fn block2d(
    opcode: Opcode,
    shape: Block2dShape,
    [base, width, height, pitch]: [Value; 4],
    [x, y]: [Value; 2],
    data: Option<Value>,
) -> InstData {
    InstData::Block2d {
        opcode,
        shape,
        args: [base, width, height, pitch, x, y],
        data: data.into(),
    }
}
impl Ins<'_, '_> {
    /// `load` from global memory: up to four elements per lane, from `addr` (`i64` per lane) plus
    /// `offset` bytes.
    #[track_caller]
    pub fn load(self, ty: Type, addr: Value, offset: i32) -> Value {
        self.load_from(MemFlags::default(), ty, addr, offset, None)
    }

    /// `load` from global memory under a mask. Disabled lanes take the value of `old`.
    #[track_caller]
    pub fn load_masked(self, ty: Type, addr: Value, offset: i32, mask: Value, old: Value) -> Value {
        self.load_from(MemFlags::default(), ty, addr, offset, Some((mask, old)))
    }

    /// `load` from any memory, optionally under a mask with the value of disabled lanes.
    #[track_caller]
    pub fn load_from(
        self,
        mem: MemFlags,
        ty: Type,
        addr: Value,
        offset: i32,
        mask: Option<(Value, Value)>,
    ) -> Value {
        self.load_data(Opcode::Load, mem, ty, addr, offset, mask)
    }

    /// `bload` from global memory: consecutive elements from one address.
    #[track_caller]
    pub fn bload(self, ty: Type, addr: Value, offset: i32) -> Value {
        self.bload_from(MemFlags::default(), ty, addr, offset)
    }

    /// `bload` from any memory.
    #[track_caller]
    pub fn bload_from(self, mem: MemFlags, ty: Type, addr: Value, offset: i32) -> Value {
        self.load_data(Opcode::Bload, mem, ty, addr, offset, None)
    }

    #[track_caller]
    fn load_data(
        self,
        opcode: Opcode,
        mem: MemFlags,
        ty: Type,
        addr: Value,
        offset: i32,
        mask: Option<(Value, Value)>,
    ) -> Value {
        let data = InstData::Load {
            opcode,
            mem,
            addr,
            offset,
            mask: mask.map(|m| m.0).into(),
            old: mask.map(|m| m.1).into(),
        };
        self.one(data, Some(ty))
    }

    /// `store` to global memory: up to four elements per lane, to `addr` (`i64` per lane) plus
    /// `offset` bytes.
    #[track_caller]
    pub fn store(self, value: Value, addr: Value, offset: i32) {
        self.store_to(MemFlags::default(), value, addr, offset, None);
    }

    /// `store` to global memory under a mask.
    #[track_caller]
    pub fn store_masked(self, value: Value, addr: Value, offset: i32, mask: Value) {
        self.store_to(MemFlags::default(), value, addr, offset, Some(mask));
    }

    /// `store` to any memory, optionally under a mask.
    #[track_caller]
    pub fn store_to(
        self,
        mem: MemFlags,
        value: Value,
        addr: Value,
        offset: i32,
        mask: Option<Value>,
    ) {
        self.store_data(Opcode::Store, mem, value, addr, offset, mask);
    }

    /// `bstore` to global memory: consecutive elements to one address.
    #[track_caller]
    pub fn bstore(self, value: Value, addr: Value, offset: i32) {
        self.bstore_to(MemFlags::default(), value, addr, offset);
    }

    /// `bstore` to any memory.
    #[track_caller]
    pub fn bstore_to(self, mem: MemFlags, value: Value, addr: Value, offset: i32) {
        self.store_data(Opcode::Bstore, mem, value, addr, offset, None);
    }

    #[track_caller]
    fn store_data(
        self,
        opcode: Opcode,
        mem: MemFlags,
        value: Value,
        addr: Value,
        offset: i32,
        mask: Option<Value>,
    ) {
        self.none(InstData::Store {
            opcode,
            mem,
            args: [value, addr],
            offset,
            mask: mask.into(),
        });
    }

    /// `atomic`: returns the old elements. `data` has as many operands as the operation needs. With
    /// a mask, disabled lanes take the value of `old`.
    #[allow(
        clippy::too_many_arguments,
        reason = "each is a part of the instruction"
    )]
    #[track_caller]
    pub fn atomic(
        mut self,
        op: AtomicOp,
        mem: MemFlags,
        ty: Type,
        addr: Value,
        offset: i32,
        operands: &[Value],
        mask: Option<(Value, Value)>,
    ) -> Value {
        self.count_operands(Opcode::Atomic, op, operands);
        let mut values = operands.iter().copied();
        let data = InstData::Atomic {
            opcode: Opcode::Atomic,
            op,
            mem,
            addr,
            offset,
            data: [(); 2].map(|()| values.next().into()),
            mask: mask.map(|m| m.0).into(),
            old: mask.map(|m| m.1).into(),
        };
        self.one(data, Some(ty))
    }

    /// `image_load`: a texel per lane. `masked` is a mask and the value of disabled lanes.
    #[track_caller]
    pub fn image_load(
        self,
        ty: Type,
        image: u8,
        coords: &[Value],
        masked: Option<(Value, Value)>,
    ) -> Value {
        self.image_load_level(ty, image, coords, None, masked)
    }

    /// `image_load` of level 0 or of a given level of detail.
    #[track_caller]
    pub fn image_load_level(
        self,
        ty: Type,
        image: u8,
        coords: &[Value],
        lod: Option<Value>,
        masked: Option<(Value, Value)>,
    ) -> Value {
        let at = ImagePlace { image, sampler: 0 };
        self.texels(Opcode::ImageLoad, ty, at, coords, (lod, None), masked)
    }

    /// `sample` of level 0 or of a given level of detail. `masked` is a mask and the value of
    /// disabled lanes.
    #[track_caller]
    pub fn sample(
        self,
        ty: Type,
        at: ImagePlace,
        coords: &[Value],
        lod: Option<Value>,
        masked: Option<(Value, Value)>,
    ) -> Value {
        self.texels(Opcode::Sample, ty, at, coords, (lod, None), masked)
    }

    /// `sample` that compares texels with a reference. The first component is the result, weighed
    /// by the filter: 1 where the comparison holds, else 0.
    #[track_caller]
    pub fn sample_compare(
        self,
        ty: Type,
        at: ImagePlace,
        coords: &[Value],
        (lod, reference): (Option<Value>, Value),
        masked: Option<(Value, Value)>,
    ) -> Value {
        let more = (lod, Some(reference));
        self.texels(Opcode::Sample, ty, at, coords, more, masked)
    }

    #[track_caller]
    fn texels(
        mut self,
        opcode: Opcode,
        ty: Type,
        at: ImagePlace,
        coords: &[Value],
        (lod, data): (Option<Value>, Option<Value>),
        masked: Option<(Value, Value)>,
    ) -> Value {
        let coords = self.coordinates(coords);
        let data = InstData::Image {
            opcode,
            at,
            coords,
            lod: lod.into(),
            data: data.into(),
            mask: masked.map(|m| m.0).into(),
            old: masked.map(|m| m.1).into(),
        };
        self.one(data, Some(ty))
    }

    /// `image_store`: a texel per lane.
    #[track_caller]
    pub fn image_store(self, value: Value, image: u8, coords: &[Value], mask: Option<Value>) {
        self.image_store_level(value, image, coords, None, mask);
    }

    /// `image_store` to level 0 or to a given level of detail.
    #[track_caller]
    pub fn image_store_level(
        mut self,
        value: Value,
        image: u8,
        coords: &[Value],
        lod: Option<Value>,
        mask: Option<Value>,
    ) {
        let coords = self.coordinates(coords);
        self.none(InstData::Image {
            opcode: Opcode::ImageStore,
            at: ImagePlace { image, sampler: 0 },
            coords,
            lod: lod.into(),
            data: value.into(),
            mask: mask.into(),
            old: None.into(),
        });
    }

    /// `image_atomic`: returns the old texels. `operands` has as many as the operation needs.
    /// `masked` is a mask and the value of disabled lanes.
    #[track_caller]
    pub fn image_atomic(
        mut self,
        op: AtomicOp,
        image: u8,
        coords: &[Value],
        operands: &[Value],
        masked: Option<(Value, Value)>,
    ) -> Value {
        self.count_operands(Opcode::ImageAtomic, op, operands);
        let lanes = coords.first().map_or(1, |&v| self.b.ty(v).lanes());
        let coords = self.coordinates(coords);
        let mut values = operands.iter().copied();
        let data = InstData::ImageAtomic {
            opcode: Opcode::ImageAtomic,
            op,
            image,
            coords,
            data: [(); 2].map(|()| values.next().into()),
            mask: masked.map(|m| m.0).into(),
            old: masked.map(|m| m.1).into(),
        };
        self.one(data, Some(Type::clamped(Scalar::I32, lanes)))
    }

    /// Records an error if an atomic operation is given too few or too many operands.
    #[track_caller]
    fn count_operands(&mut self, opcode: Opcode, op: AtomicOp, operands: &[Value]) {
        if operands.len() != op.operands() {
            let have = operands.len();
            self.b
                .error(format!("`{opcode}` {} with {have} operands", op.name()));
        }
    }

    #[track_caller]
    fn coordinates(&mut self, coords: &[Value]) -> [PackedOption<Value>; 4] {
        if coords.len() > 4 {
            self.b
                .error(format!("{} coordinates of an image", coords.len()));
        }
        let mut values = coords.iter().copied();
        [(); 4].map(|()| values.next().into())
    }

    /// `media_load`: a rectangle of an image's bytes, `width` bytes per row.
    #[track_caller]
    pub fn media_load(self, ty: Type, image: u8, coords: [Value; 2], width: u8) -> Value {
        let data = InstData::Media {
            opcode: Opcode::MediaLoad,
            image,
            width,
            coords,
            data: None.into(),
        };
        self.one(data, Some(ty))
    }

    /// `media_store`: a rectangle of an image's bytes, `width` bytes per row.
    #[track_caller]
    pub fn media_store(self, value: Value, image: u8, coords: [Value; 2], width: u8) {
        self.none(InstData::Media {
            opcode: Opcode::MediaStore,
            image,
            width,
            coords,
            data: value.into(),
        });
    }

    /// `dpas`: matrix product of rows and columns, added to `acc`, of type `ty`.
    #[track_caller]
    pub fn dpas(
        self,
        ty: Type,
        shape: DpasShape,
        acc: Value,
        columns: Value,
        rows: Value,
    ) -> Value {
        let data = InstData::Dpas {
            opcode: Opcode::Dpas,
            shape,
            args: [acc, columns, rows],
        };
        self.one(data, Some(ty))
    }

    /// `block2d_load`: loads blocks of a surface into a value of type `ty`.
    ///
    /// `surface` is the address, the width in bytes, the height in rows and the pitch in bytes.
    /// `place` is the first column, in elements, and the first row.
    #[track_caller]
    pub fn block2d_load(
        self,
        ty: Type,
        shape: Block2dShape,
        surface: [Value; 4],
        place: [Value; 2],
    ) -> Value {
        let data = block2d(Opcode::Block2dLoad, shape, surface, place, None);
        self.one(data, Some(ty))
    }

    /// `block2d_store`: stores a value as a block of a surface. Operands are those of
    /// [`Ins::block2d_load`].
    #[track_caller]
    pub fn block2d_store(
        self,
        value: Value,
        shape: Block2dShape,
        surface: [Value; 4],
        place: [Value; 2],
    ) {
        let data = block2d(Opcode::Block2dStore, shape, surface, place, Some(value));
        self.none(data);
    }

    /// `block2d_prefetch`: prefetches blocks of a surface into the caches. Operands are those of
    /// [`Ins::block2d_load`].
    #[track_caller]
    pub fn block2d_prefetch(self, shape: Block2dShape, surface: [Value; 4], place: [Value; 2]) {
        let data = block2d(Opcode::Block2dPrefetch, shape, surface, place, None);
        self.none(data);
    }

    /// `send`: a message of one or two payloads without a response. `descs` is the extended
    /// descriptor and the descriptor.
    #[track_caller]
    pub fn send(
        self,
        exec: u8,
        descs: [u32; 2],
        payload: Value,
        second: Option<Value>,
        mask: Option<Value>,
    ) {
        self.none(InstData::Send {
            opcode: Opcode::Send,
            exec,
            descs,
            payload,
            second: second.into(),
            mask: mask.into(),
            old: None.into(),
        });
    }

    /// `send_reply`: a message with a response; see [`Ins::send`].
    #[track_caller]
    pub fn send_reply(
        self,
        ty: Type,
        exec: u8,
        descs: [u32; 2],
        payload: Value,
        second: Option<Value>,
        mask: Option<Value>,
    ) -> Value {
        let data = InstData::Send {
            opcode: Opcode::SendReply,
            exec,
            descs,
            payload,
            second: second.into(),
            mask: mask.into(),
            old: None.into(),
        };
        self.one(data, Some(ty))
    }

    /// `send_reply` over an old value, which keeps what the response does not write; see
    /// [`Ins::send`].
    #[track_caller]
    pub fn send_reply_over(
        self,
        old: Value,
        exec: u8,
        descs: [u32; 2],
        payload: Value,
        second: Option<Value>,
        mask: Option<Value>,
    ) -> Value {
        let ty = self.b.ty(old);
        let data = InstData::Send {
            opcode: Opcode::SendReply,
            exec,
            descs,
            payload,
            second: second.into(),
            mask: mask.into(),
            old: old.into(),
        };
        self.one(data, Some(ty))
    }
}
