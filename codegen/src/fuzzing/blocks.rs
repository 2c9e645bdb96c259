//! Random 2D blocks of the input, and of reserved ranges of the output.

use super::IN_BYTES;
use super::generate::Gen;
use crate::ir::{Block2dShape, BlockLayout, Opcode, Scalar, Space, Type, Value};

/// Required alignment of surface addresses, in bytes.
const SURFACE_ALIGN: u32 = 64;

/// Number of columns of which the first column of a block must be a multiple.
fn columns_of_a_dword(shape: Block2dShape) -> i64 {
    (4 / i64::from(shape.bytes)).max(1)
}

impl Gen<'_, '_, '_> {
    pub(super) fn block2d(&mut self, opcode: Opcode) {
        if !self.memory {
            return;
        }
        let shape = self.block_shape(opcode);
        // Shapes that no message moves are left out.
        if shape.check(opcode).is_err() {
            return;
        }
        let stored = opcode == Opcode::Block2dStore;
        let pitch = SURFACE_ALIGN + 16 * self.rng.below(4);
        let rows = 1 + self.rng.below(12);
        let width = SURFACE_ALIGN + 4 * self.rng.below((pitch - SURFACE_ALIGN) / 4 + 1);
        let base = if stored {
            let Some(first) = self.reserve_bytes(Space::Global, pitch * rows + SURFACE_ALIGN)
            else {
                return;
            };
            (self.output, first.next_multiple_of(SURFACE_ALIGN))
        } else {
            let most = (IN_BYTES / 2 - pitch * rows) / SURFACE_ALIGN;
            (self.input, SURFACE_ALIGN * self.rng.below(most + 1))
        };
        let i64 = Type::scalar_of(Scalar::I64);
        let offset = self.b.ins().iconst(i64, base.1.into());
        let base = self.b.ins().iadd(base.0, offset);
        let [width, rows, pitch] = [width, rows, pitch].map(|n| self.block_number(n));
        let surface = [base, width, rows, pitch];
        // Some begin before the surface, and many reach beyond it.
        let (columns, down) = (self.block_place(), self.block_place());
        let i32 = Type::scalar_of(Scalar::I32);
        let shift = columns_of_a_dword(shape).trailing_zeros();
        let shift = self.b.ins().iconst(i32, shift.into());
        let columns = self.b.ins().ishl(columns, shift);
        let place = [columns, down];
        match opcode {
            Opcode::Block2dLoad => self.load_block(shape, surface, place),
            Opcode::Block2dStore => {
                self.store_block(shape, surface, place);
                if self.rng.one_in(2) {
                    self.after_block(surface, place);
                }
            }
            _ => self.b.ins().block2d_prefetch(shape, surface, place),
        }
    }

    /// Loads from a surface that was stored to, at the same or another position, and sometimes
    /// stores to it again. Tests the order of these accesses.
    fn after_block(&mut self, surface: [Value; 4], place: [Value; 2]) {
        let shape = self.block_shape(Opcode::Block2dLoad);
        if shape.check(Opcode::Block2dLoad).is_err() {
            return;
        }
        let place = if self.rng.one_in(2) {
            place
        } else {
            [self.block_place(), self.block_place()]
        };
        let at = self.whole_columns(shape, place);
        self.load_block(shape, surface, at);
        let shape = self.block_shape(Opcode::Block2dStore);
        if self.rng.one_in(2) && shape.check(Opcode::Block2dStore).is_ok() {
            let at = self.whole_columns(shape, place);
            self.store_block(shape, surface, at);
        }
    }

    /// Rounds a position down to a dword-aligned column.
    fn whole_columns(&mut self, shape: Block2dShape, [column, row]: [Value; 2]) -> [Value; 2] {
        let ty = Type::scalar_of(Scalar::I32);
        let mask = self.b.ins().iconst(ty, -columns_of_a_dword(shape));
        [self.b.ins().band(column, mask), row]
    }

    /// Returns a random type for the value of a block.
    fn block_type(&mut self, shape: Block2dShape) -> Type {
        let drawn = self.int();
        let bytes = shape.value_bytes();
        let scalar = if bytes.is_multiple_of(drawn.bytes()) {
            drawn
        } else {
            Scalar::I32
        };
        Type::clamped(scalar, bytes / scalar.bytes())
    }

    fn load_block(&mut self, shape: Block2dShape, surface: [Value; 4], place: [Value; 2]) {
        let ty = self.block_type(shape);
        let v = self.b.ins().block2d_load(ty, shape, surface, place);
        self.keep(&[v]);
    }

    fn store_block(&mut self, shape: Block2dShape, surface: [Value; 4], place: [Value; 2]) {
        let ty = self.block_type(shape);
        let v = self.value(ty);
        self.b.ins().block2d_store(v, shape, surface, place);
    }

    fn block_shape(&mut self, opcode: Opcode) -> Block2dShape {
        let layout = match opcode {
            Opcode::Block2dLoad => self.rng.pick(&BlockLayout::ALL),
            _ => None,
        };
        let layout = layout.unwrap_or(BlockLayout::Rows);
        let bytes = match layout {
            BlockLayout::Rows => self.rng.pick(&[1, 2, 4, 8]),
            BlockLayout::Transposed => self.rng.pick(&[4, 4, 8]),
            BlockLayout::Packed => self.rng.pick(&[1, 2]),
        };
        let bytes = bytes.unwrap_or(4u8);
        let one = layout == BlockLayout::Transposed || opcode == Opcode::Block2dStore;
        let blocks = if one {
            1
        } else {
            self.rng.pick(&[1, 1, 2, 4]).unwrap_or(1)
        };
        // Rows have 4 to 16 bytes, and sometimes the maximum.
        let row = if self.rng.one_in(4) {
            64 / u32::from(blocks)
        } else {
            4 << self.rng.below(3)
        };
        let row = if self.rng.one_in(4) {
            (row + 4).min(64)
        } else {
            row
        };
        let rows = match (layout, bytes) {
            (BlockLayout::Transposed, 8) => 8,
            (BlockLayout::Packed, _) => (4 / u32::from(bytes)) << self.rng.below(3),
            _ if self.rng.one_in(10) => 32,
            _ => 1 + self.rng.below(9),
        };
        Block2dShape {
            layout,
            bytes,
            rows: rows as u8,
            columns: (row / u32::from(bytes)) as u8,
            blocks,
            cache: self.policy(opcode),
        }
    }

    /// Returns a number as a constant, or as a value that folds to it.
    pub(super) fn block_number(&mut self, n: u32) -> Value {
        let ty = Type::scalar_of(Scalar::I32);
        let constant = self.b.ins().iconst(ty, n.into());
        if self.rng.one_in(2) {
            return constant;
        }
        let any = self.value(ty);
        let none = self.b.ins().iconst(ty, 0);
        let none = self.b.ins().band(any, none);
        self.b.ins().iadd(none, constant)
    }

    /// Returns a random row, or column in dwords, of at least -4.
    fn block_place(&mut self) -> Value {
        let ty = Type::scalar_of(Scalar::I32);
        let any = self.value(ty);
        let mask = self.b.ins().iconst(ty, 15);
        let any = self.b.ins().band(any, mask);
        let by = self.b.ins().iconst(ty, -4);
        self.b.ins().iadd(any, by)
    }
}
