//! 2D block loads, stores and prefetches of a surface in memory by a sub-group
//! (`SPV_INTEL_2d_block_io`, `cl_intel_subgroup_2d_block_io`,
//! `cl_intel_subgroup_extended_block_read`).
//!
//! Elements are distributed over work-items as they are in registers. If a row has no more elements
//! than there are work-items, consecutive elements go to consecutive work-items. Otherwise each
//! work-item has consecutive elements of a row.

use super::{Access, Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::intel_builtins::Block2dAccess;
use crate::read::{self, Id};
use gantry_codegen::ir::{Block2dShape, BlockLayout, CachePolicy, Opcode, Scalar, Value};
use spirv::{Op, StorageClass};

/// Operands of an access.
pub(crate) struct Block2dOperands {
    /// Surface: base address, width in bytes, height in rows, pitch in bytes.
    pub surface: [Id; 4],
    /// Vector of column and row.
    pub place: Id,
    /// Pointer to private memory of the data. `None` for a prefetch, and for a load that returns
    /// its data.
    pub own: Option<Id>,
}

/// Opcode and layout of an instruction, if it is a 2D block access.
fn known(op: Op) -> Option<(Opcode, BlockLayout)> {
    Some(match op {
        Op::Subgroup2DBlockLoadINTEL => (Opcode::Block2dLoad, BlockLayout::Rows),
        Op::Subgroup2DBlockLoadTransposeINTEL => (Opcode::Block2dLoad, BlockLayout::Transposed),
        Op::Subgroup2DBlockLoadTransformINTEL => (Opcode::Block2dLoad, BlockLayout::Packed),
        Op::Subgroup2DBlockPrefetchINTEL => (Opcode::Block2dPrefetch, BlockLayout::Rows),
        Op::Subgroup2DBlockStoreINTEL => (Opcode::Block2dStore, BlockLayout::Rows),
        _ => return None,
    })
}

/// Returns true if this file emits an instruction.
pub(super) fn is_supported(op: Op) -> bool {
    known(op).is_some()
}

/// Maximum number of elements of a message to private memory.
const MAX_ELEMENTS: usize = 4;
/// Number of size operands: element size, columns, rows, blocks.
const SIZES: usize = 4;

impl Emit<'_, '_, '_> {
    /// Emits an instruction of the SPIR-V extension.
    pub(super) fn block2d(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let (opcode, layout) = known(inst.op).ok_or_else(|| Error::internal("no 2D block"))?;
        let mut sizes = [0; SIZES];
        for (n, size) in sizes.iter_mut().enumerate() {
            let id = self.operand(inst, n)?;
            let bits = self.m.bits(id).and_then(|b| u8::try_from(b).ok());
            *size = bits.ok_or_else(|| {
                Error::unsupported(format!(
                    "{} of a size that is no small constant",
                    read::name(inst.op)
                ))
            })?;
        }
        let [bytes, columns, rows, blocks] = sizes;
        let shape = Block2dShape {
            layout,
            bytes,
            rows,
            columns,
            blocks,
            cache: CachePolicy::DEFAULT,
        };
        // A store has its data before the surface, a load after the coordinates.
        let first = SIZES + usize::from(opcode == Opcode::Block2dStore);
        let own = match opcode {
            Opcode::Block2dLoad => Some(self.operand(inst, first + 5)?),
            Opcode::Block2dStore => Some(self.operand(inst, SIZES)?),
            _ => None,
        };
        let mut surface = [Id::of(0); 4];
        for (n, id) in surface.iter_mut().enumerate() {
            *id = self.operand(inst, first + n)?;
        }
        let operands = Block2dOperands {
            surface,
            place: self.operand(inst, first + 4)?,
            own,
        };
        self.access_blocks(Block2dAccess { opcode, shape }, &operands)
    }

    /// Emits an access. Returns the loaded data unless it goes to memory.
    pub(crate) fn access_blocks(
        &mut self,
        b: Block2dAccess,
        o: &Block2dOperands,
    ) -> Result<Leaves, Error> {
        let Block2dAccess { opcode, mut shape } = b;
        shape
            .check(opcode)
            .map_err(|what| Error::unsupported(format!("a 2D block of {what}")))?;
        let [base, sizes @ ..] = o.surface;
        let (class, of) = self.pointer(base)?;
        if class != StorageClass::CrossWorkgroup {
            return Err(Error::malformed("a 2D block of other than global memory"));
        }
        let access = self.access(class, of, &[])?;
        shape.cache = self.cache_policy(base, opcode);
        let base = self.address(base, &access)?;
        let base = self.any_lane(base);
        let mut numbers = [base; 5];
        let [width, height, pitch, x, y] = &mut numbers;
        for (to, id) in [width, height, pitch].into_iter().zip(sizes) {
            *to = self.one(id)?;
        }
        let [column, row] = *self.get(o.place)?.as_slice() else {
            return Err(Error::malformed("a place of other than two coordinates"));
        };
        (*x, *y) = (column, row);
        for v in &mut numbers {
            if self.b.ty(*v).scalar() != Scalar::I32 {
                return Err(Error::malformed(
                    "a number of a 2D block that is no doubleword",
                ));
            }
            *v = self.any_lane(*v);
        }
        let [width, height, pitch, x, y] = numbers;
        let (surface, place) = ([base, width, height, pitch], [x, y]);
        if opcode == Opcode::Block2dPrefetch {
            self.b.ins().block2d_prefetch(shape, surface, place);
            return Ok(Leaves::new());
        }
        let (scalar, count) = self.spread(&shape)?;
        let own = o.own.map(|p| self.own_memory(p)).transpose()?;
        if opcode == Opcode::Block2dStore {
            let (address, access) = own.ok_or_else(|| Error::internal("a store of nothing"))?;
            let mut values = Leaves::new();
            self.own_elements(scalar, count, address, access, &mut values);
            for v in &mut values {
                *v = self.b.splat(*v, self.simd);
            }
            let all = self.join(scalar, &values, self.simd);
            self.b.ins().block2d_store(all, shape, surface, place);
            return Ok(Leaves::new());
        }
        let ty = self.lanes(scalar, count * self.simd);
        let all = self.b.ins().block2d_load(ty, shape, surface, place);
        let parts = (0..count).map(|n| self.b.slice(all, n * self.simd, self.simd));
        let parts: Leaves = parts.collect();
        let Some((address, access)) = own else {
            return Ok(parts);
        };
        for (n, now) in parts.chunks(MAX_ELEMENTS).enumerate() {
            let offset = (n * MAX_ELEMENTS) as i32 * scalar.bytes() as i32;
            self.store_elements(scalar, now, address, offset, access.mem);
        }
        Ok(Leaves::new())
    }

    /// Scalar type and number of scalars of each work-item.
    fn spread(&self, s: &Block2dShape) -> Result<(Scalar, u32), Error> {
        let simd = self.simd;
        let (run, _) = s.runs();
        let element = match s.layout {
            BlockLayout::Packed => Scalar::I32.bytes(),
            _ => s.bytes.into(),
        };
        let bytes = (run / simd).max(element);
        let kinds = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64];
        let scalar = kinds.into_iter().find(|k| k.bytes() == bytes);
        let all = bytes * simd;
        scalar
            .filter(|_| s.value_bytes().is_multiple_of(all) && run <= all)
            .map(|k| (k, s.value_bytes() / all))
            .ok_or_else(|| {
                Error::unsupported(format!(
                    "a 2D block of {} bytes in rows of {run} spread over a sub-group of {simd}",
                    s.value_bytes()
                ))
            })
    }

    /// Address and access of private data.
    fn own_memory(&mut self, pointer: Id) -> Result<(Value, Access), Error> {
        let (class, of) = self.pointer(pointer)?;
        if !matches!(class, StorageClass::Function | StorageClass::Private) {
            return Err(Error::unsupported(
                "a 2D block to or from other than private memory",
            ));
        }
        let access = self.access(class, of, &[])?;
        Ok((self.address(pointer, &access)?, access))
    }

    fn own_elements(
        &mut self,
        scalar: Scalar,
        count: u32,
        address: Value,
        access: Access,
        out: &mut Leaves,
    ) {
        let mut at = 0;
        while at < count {
            let now = (count - at).min(MAX_ELEMENTS as u32);
            let offset = (at * scalar.bytes()) as i32;
            self.elements(scalar, now as usize, address, offset, access.mem, out);
            at += now;
        }
    }
}
