//! Common idioms of several instructions: splats, work-item ids, addresses.

use super::FunctionBuilder;
use crate::ir::{Dim, Region, Scalar, Type, Value};

impl FunctionBuilder<'_> {
    /// Copies a one-lane value to every lane. A predicate becomes all ones or zeros.
    #[track_caller]
    pub fn splat(&mut self, v: Value, lanes: u32) -> Value {
        let ty = self.ty(v);
        if ty.lanes() == lanes {
            return v;
        }
        if ty.lanes() != 1 {
            self.error(format!("splat of {v}, which has {} lanes", ty.lanes()));
        }
        let Some(to) = Type::new(ty.scalar(), lanes) else {
            self.error(format!("splat of {v} to {lanes} lanes of {}", ty.scalar()));
            return v;
        };
        if !ty.is_pred() {
            return self.ins().rdregion(to, v, Region::scalar(0));
        }
        let i32 = Type::scalar_of(Scalar::I32);
        let bit = self.ins().pred_to_bits(i32, v);
        let bits = self.ins().ineg(bit);
        self.ins().bits_to_pred(to, bits)
    }

    /// Extracts one lane of a vector.
    #[track_caller]
    pub fn lane(&mut self, v: Value, lane: u32) -> Value {
        let ty = self.ty(v);
        if lane >= ty.lanes() {
            self.error(format!("lane {lane} of {v}, which has {}", ty.lanes()));
            return v;
        }
        let one = Type::scalar_of(ty.scalar());
        if ty.is_pred() {
            return self.ins().rdpred(1, v, lane as u8);
        }
        let offset = (lane * one.bytes()) as u16;
        self.ins().rdregion(one, v, Region::scalar(offset))
    }

    /// Extracts `lanes` consecutive lanes from lane `first`.
    #[track_caller]
    pub fn slice(&mut self, v: Value, first: u32, lanes: u32) -> Value {
        let ty = self.ty(v);
        if first.saturating_add(lanes) > ty.lanes() || lanes == 0 {
            self.error(format!(
                "lanes {first}..{} of {v}, which has {}",
                first.saturating_add(lanes),
                ty.lanes()
            ));
            return v;
        }
        if ty.is_pred() {
            return self.ins().rdpred(lanes, v, first as u8);
        }
        let offset = (first * Type::scalar_of(ty.scalar()).bytes()) as u16;
        let region = Region::contiguous(lanes as u16, offset);
        self.ins().rdregion(ty.by(lanes), v, region)
    }

    /// Returns the lane numbers 0, 1, 2, ...
    #[track_caller]
    pub fn iota(&mut self, scalar: Scalar, lanes: u32) -> Value {
        let Some(ty) = Type::new(scalar, lanes) else {
            self.error(format!("lane numbers of {lanes} lanes of {scalar}"));
            return self.placeholder(Type::scalar_of(scalar));
        };
        let numbers: Vec<i64> = (0..i64::from(ty.lanes())).collect();
        self.ins().ints(scalar, &numbers)
    }

    /// Returns the work-items' global ids in a dimension: `i32` with a lane per work-item.
    #[track_caller]
    pub fn global_id(&mut self, dim: Dim) -> Value {
        let lanes = self.simd();
        let i32 = Type::scalar_of(Scalar::I32);
        let (group, size) = (self.ins().group_id(dim), self.ins().local_size(dim));
        let offset = self.ins().global_offset(dim);
        let first = self.ins().imad(group, size, offset);
        let first = self.splat(first, lanes);
        let local = self.ins().local_id(dim);
        let local = self.ins().uextend(i32.by(lanes), local);
        self.ins().iadd(first, local)
    }

    /// Computes the addresses `base + index * size` for signed indices: `i64` with the index's
    /// lanes.
    #[track_caller]
    pub fn element_addr(&mut self, base: Value, index: Value, size: u32) -> Value {
        self.address(base, index, size, true)
    }

    /// Computes element addresses for unsigned indices: see [`FunctionBuilder::element_addr`].
    #[track_caller]
    pub fn element_addr_unsigned(&mut self, base: Value, index: Value, size: u32) -> Value {
        self.address(base, index, size, false)
    }

    #[track_caller]
    fn address(&mut self, base: Value, index: Value, size: u32, signed: bool) -> Value {
        let ty = self.ty(index);
        let i64 = match ty.with_scalar(Scalar::I64) {
            Some(wide) if ty.scalar().is_int() => wide,
            _ => {
                self.error(format!("{index} of type {ty} is no index of an element"));
                return self.placeholder(Type::scalar_of(Scalar::I64));
            }
        };
        let wide = match ty.scalar() {
            Scalar::I64 => index,
            _ if signed => self.ins().sextend(i64, index),
            _ => self.ins().uextend(i64, index),
        };
        let offset = if size.is_power_of_two() {
            let shift = self.ins().iconst(i64, i64::from(size.trailing_zeros()));
            self.ins().ishl(wide, shift)
        } else {
            let size = self.ins().iconst(i64, i64::from(size));
            self.ins().imul(wide, size)
        };
        let base = self.splat(base, i64.lanes());
        self.ins().iadd(base, offset)
    }

    /// Computes scratch offsets of the work-items' elements of a private array: `i32` with the
    /// lanes of `index`.
    ///
    /// The array begins `first` bytes into scratch. `index` is an `i32` for each work-item of the
    /// thread. Elements of the same index are consecutive, so the array takes its length times
    /// lanes times `size` bytes.
    #[track_caller]
    pub fn private_addr(&mut self, first: u32, index: Value, size: u32) -> Value {
        let ty = self.ty(index);
        if ty.scalar() != Scalar::I32 {
            self.error(format!("{index} of type {ty} is no index of an element"));
            return self.placeholder(Type::scalar_of(Scalar::I32));
        }
        let (lanes, size) = (ty.lanes(), i64::from(size));
        let row = self.ins().iconst(ty, i64::from(lanes) * size);
        let rows = self.ins().imul(index, row);
        let own: Vec<i64> = (0..i64::from(lanes))
            .map(|l| i64::from(first) + l * size)
            .collect();
        let own = self.ins().ints(Scalar::I32, &own);
        self.ins().iadd(rows, own)
    }

    /// `load` in the enabled channels. Other lanes are zero. `ty` is the element type.
    #[track_caller]
    pub fn simd_load(&mut self, ty: Type, addr: Value, offset: i32) -> Value {
        let lanes = self.ty(addr).lanes();
        let ty = Type::new(ty.scalar(), lanes).unwrap_or_else(|| {
            self.error(format!("a load of {lanes} lanes of {}", ty.scalar()));
            Type::scalar_of(ty.scalar())
        });
        let mask = self.exec_mask();
        let old = self.ins().undef(ty);
        self.ins().load_masked(ty, addr, offset, mask, old)
    }

    /// `store` in the enabled channels.
    #[track_caller]
    pub fn simd_store(&mut self, value: Value, addr: Value, offset: i32) {
        let mask = self.exec_mask();
        self.ins().store_masked(value, addr, offset, mask);
    }
}
