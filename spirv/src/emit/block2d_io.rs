//! 2D blocks of a surface in memory (`SPV_INTEL_2d_block_io`, `cl_intel_subgroup_2d_block_io`, `cl_intel_subgroup_extended_block_read`), which a sub-group
//! loads, stores and prefetches at once.
//!
//! The blocks are spread over the sub-group as registers are: element by element over the work-items, again and again, where a row has no more than
//! there are; else each work-item has as many elements of a row as follow on each other.

use super::{Access, Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::read::{self, Id};
use gantry_codegen::ir::{Block2dShape, BlockLayout, Opcode, Scalar, Value};
use spirv::{Op, StorageClass};

/// An access: load, store or prefetch, and of what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Blocks {
    pub opcode: Opcode,
    pub shape: Block2dShape,
}

/// The operands of an access.
pub(crate) struct Operands {
    /// The surface: its first byte, bytes of a row, rows, bytes from row to row.
    pub surface: [Id; 4],
    /// Column and row, a vector.
    pub place: Id,
    /// Where in each work-item's own memory its part is. None of a prefetch, and of a load whose result it is.
    pub own: Option<Id>,
}

/// Whether an instruction is one of these, and in which layout.
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

/// Whether an instruction is one of these.
pub(super) fn is_supported(op: Op) -> bool {
    known(op).is_some()
}

/// The most elements of a message to private memory.
const MOST: usize = 4;
/// Words of the instruction: the element's size, columns, rows and blocks.
const SIZES: usize = 4;

impl Emit<'_, '_, '_> {
    /// An instruction of the extension.
    pub(super) fn blocks_2d(&mut self, inst: &BInst) -> Result<Leaves, Error> {
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
        };
        // What is stored comes before the surface, what is loaded goes behind the place.
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
        let operands = Operands {
            surface,
            place: self.operand(inst, first + 4)?,
            own,
        };
        self.access_blocks(Blocks { opcode, shape }, &operands)
    }

    /// Emits an access; gives what is loaded and goes to no memory.
    pub(crate) fn access_blocks(&mut self, b: Blocks, o: &Operands) -> Result<Leaves, Error> {
        let Blocks { opcode, shape } = b;
        shape
            .check(opcode)
            .map_err(|what| Error::unsupported(format!("a 2D block of {what}")))?;
        let [base, sizes @ ..] = o.surface;
        let (class, of) = self.pointer(base)?;
        if class != StorageClass::CrossWorkgroup {
            return Err(Error::malformed("a 2D block of other than global memory"));
        }
        let access = self.access(class, of, &[])?;
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
        for (n, now) in parts.chunks(MOST).enumerate() {
            let offset = (n * MOST) as i32 * scalar.bytes() as i32;
            self.store_elements(scalar, now, address, offset, access.mem);
        }
        Ok(Leaves::new())
    }

    /// What a work-item has of the blocks: numbers of a kind, and how many.
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

    /// Where each work-item's part is.
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
            let now = (count - at).min(MOST as u32);
            let offset = (at * scalar.bytes()) as i32;
            self.elements(scalar, now as usize, address, offset, access.mem, out);
            at += now;
        }
    }
}
