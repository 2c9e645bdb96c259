//! Regions of regions: reads of what was read or written by regions, and writes of regions back
//! where they were read. Some have an index, and some a cast or an extension in between.

use super::generate::Gen;
use crate::ir::{Opcode, Region, Scalar, Type, Value};

/// Elements of the vectors.
const LANES: std::ops::Range<u32> = 17..65;

/// Access of a region.
#[derive(Clone, Copy)]
struct Access {
    region: Region,
    index: Option<Value>,
    lanes: u32,
    /// Elements that the index may add.
    slack: u32,
}

impl Gen<'_, '_, '_> {
    /// Generates a region of a region, and reads or writes by it.
    pub(super) fn nested_regions(&mut self) {
        let scalar = self.rng.pick(&[
            Scalar::I32,
            Scalar::I32,
            Scalar::I16,
            Scalar::I8,
            Scalar::F32,
        ]);
        let lanes = LANES.start + self.rng.below(LANES.end - LANES.start);
        let scalar = scalar.filter(|s| self.options.floats || !s.is_float());
        let whole = Type::clamped(scalar.unwrap_or(Scalar::I32), lanes);
        let x = self.value(whole);
        if self.rng.one_in(4) {
            return self.columns(x);
        }
        let inner = self.access(whole, &[4, 8, 12, 16, 16], false);
        let part = self.read_at(x, inner);
        if self.rng.one_in(2) {
            let read = self.recast(part);
            let ty = self.b.ty(read);
            let outer = self.access(ty, &[1, 2, 4, 8], false);
            let v = self.read_at(read, outer);
            self.keep(&[v]);
        } else {
            self.write_back(x, part, inner);
        }
        if self.rng.one_in(4) {
            self.keep(&[part]);
        }
    }

    /// Returns a random access of a vector, with or without an index.
    fn access(&mut self, whole: Type, lanes: &[u32], once: bool) -> Access {
        let lanes = self.rng.pick(lanes).unwrap_or(1).min(whole.lanes());
        let slack = self.rng.below(whole.lanes() - lanes + 1);
        let plain = self.rng.one_in(2);
        let region = if plain {
            let start = self.rng.below(whole.lanes() - lanes - slack + 1);
            let offset = start * whole.scalar().bytes();
            Region::contiguous(lanes as u16, offset as u16)
        } else {
            self.region(whole, lanes, slack, once)
        };
        let indexed = slack > 0 && self.rng.one_in(2);
        let index = indexed.then(|| self.index(whole.scalar().bytes(), slack, 1));
        Access {
            region,
            index,
            lanes,
            slack,
        }
    }

    fn read_at(&mut self, x: Value, a: Access) -> Value {
        let ty = self.b.ty(x).by(a.lanes);
        self.b.ins().rdregion_at(ty, x, a.region, a.index)
    }

    fn write_at(&mut self, x: Value, a: Access, new: Value) -> Value {
        self.b.ins().wrregion_at(x, a.region, a.index, new, None)
    }

    /// Returns the bits of a vector as other elements, or an extended or truncated one.
    fn recast(&mut self, v: Value) -> Value {
        let ty = self.b.ty(v);
        let (size, bytes) = (ty.scalar().bytes(), ty.bytes());
        let others = [Scalar::I8, Scalar::I16, Scalar::I32];
        let other = self.rng.pick(&others).unwrap_or(Scalar::I32);
        if self.rng.one_in(2) || !ty.scalar().is_int() || other.bytes() == size {
            let whole = bytes.is_multiple_of(other.bytes()) && self.has_bits(ty);
            let to = Type::clamped(other, bytes / other.bytes());
            return if whole && to.bytes() == bytes {
                self.b.ins().bitcast(to, v)
            } else {
                v
            };
        }
        let opcode = match (other.bytes() > size, self.rng.one_in(2)) {
            (false, _) => Opcode::Ireduce,
            (true, true) => Opcode::Uextend,
            (true, false) => Opcode::Sextend,
        };
        if self.options.without.contains(&opcode) {
            return v;
        }
        let to = Type::clamped(other, ty.lanes());
        match opcode {
            Opcode::Ireduce => self.b.ins().ireduce(to, v),
            Opcode::Uextend => self.b.ins().uextend(to, v),
            _ => self.b.ins().sextend(to, v),
        }
    }

    /// Writes parts of a region of a vector, and writes it back to a version of the vector.
    fn write_back(&mut self, x: Value, part: Value, at: Access) {
        let whole = self.b.ty(x);
        let ty = self.b.ty(part);
        let mut new = part;
        let cast = self.rng.one_in(3) && self.has_bits(ty);
        if cast {
            new = self.elements_of(new, ty);
        }
        for _ in 0..1 + self.rng.below(2) {
            let of = self.b.ty(new);
            let outer = self.access(of, &[1, 2, 4, 8], true);
            let value = self.value(of.by(outer.lanes));
            let mask = self.rng.one_in(4).then(|| {
                let mask = Type::clamped(Scalar::B1, outer.lanes);
                self.value(mask)
            });
            let (region, index) = (outer.region, outer.index);
            new = self.b.ins().wrregion_at(new, region, index, value, mask);
        }
        if cast {
            new = self.b.ins().bitcast(ty, new);
        }
        // Another part is sometimes written first: maybe the same one.
        let mut old = x;
        if self.rng.one_in(3) {
            let mut other = self.access(whole, &[1, 4, 8], true);
            if self.rng.one_in(2) {
                other.lanes = other.lanes.min(whole.lanes() - at.slack);
                other.region = self.region(whole, other.lanes, at.slack, true);
                other.index = at.index;
            }
            let value = self.value(whole.by(other.lanes));
            old = self.write_at(old, other, value);
        }
        if self.is_writable(at) {
            let last = self.write_at(old, at, new);
            self.parts_of(last);
        } else {
            self.keep(&[new]);
        }
    }

    /// Returns true if the bits of a value are defined: those of a NaN are not, so kernels without
    /// bitcasts look at no float's.
    fn has_bits(&self, ty: Type) -> bool {
        ty.scalar().is_int() || !self.options.without.contains(&Opcode::Bitcast)
    }

    /// Returns the bits of a vector as elements of another size, if there are whole ones.
    fn elements_of(&mut self, v: Value, ty: Type) -> Value {
        let other = if ty.scalar().bytes() == 4 {
            Scalar::I16
        } else {
            Scalar::I32
        };
        let to = Type::clamped(other, ty.bytes() / other.bytes());
        if to.bytes() == ty.bytes() {
            self.b.ins().bitcast(to, v)
        } else {
            v
        }
    }

    /// Returns true if an access has each element once.
    fn is_writable(&self, a: Access) -> bool {
        let mut seen: Vec<u32> = (0..a.lanes).map(|l| a.region.element(l)).collect();
        seen.sort_unstable();
        seen.windows(2).all(|w| w[0] < w[1])
    }

    /// Reads some columns of rows of a vector. The index stays in a row.
    fn columns(&mut self, x: Value) {
        let whole = self.b.ty(x);
        let size = whole.scalar().bytes();
        let row = self.rng.pick(&[4, 8]).unwrap_or(4);
        let pitch = row + self.rng.below(row);
        let rows = 1 + self.rng.below((whole.lanes() - row) / pitch + 1);
        let slack = whole.lanes() - ((rows - 1) * pitch + row);
        let start = self.rng.below(slack + 1) * size;
        let region = Region::new(pitch as u16, row as u16, 1, start as u16);
        let inner = Access {
            region,
            index: None,
            lanes: rows * row,
            slack: 0,
        };
        let part = self.read_at(x, inner);
        let width = 1 + self.rng.below(row);
        let first = self.rng.below(rows) * row * size;
        let lanes = width * (1 + self.rng.below(rows - first / (row * size)));
        let index = (width < row).then(|| self.index(size, row - width, 1));
        let region = Region {
            parent_width: if index.is_some() { row as u16 } else { 0 },
            ..Region::new(row as u16, width as u16, 1, first as u16)
        };
        let columns = Access {
            region,
            index,
            lanes,
            slack: 0,
        };
        let v = self.read_at(part, columns);
        self.keep(&[v]);
    }
}
