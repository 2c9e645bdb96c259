//! Calls of subroutines: large arguments that live on, that are regions of larger vectors, and that
//! come back changed.

use super::generate::{Gen, is_large};
use crate::ir::{Region, Type, Value};

/// Largest argument that is a region of a vector of twice its size, in bytes.
const PART: u32 = 384;

/// Region of a vector that an argument is.
type RegionOf = (Value, Region);

impl Gen<'_, '_, '_> {
    /// Generates calls, often two in succession.
    pub(super) fn call(&mut self) {
        let Some(callee) = self.callee.clone() else {
            return;
        };
        let times = if self.rng.one_in(2) { 2 } else { 1 };
        let mut calls: Vec<(Vec<Value>, Vec<RegionOf>)> = Vec::new();
        for _ in 0..times {
            let mut wholes = Vec::new();
            let mut args = Vec::new();
            for &ty in &callee.params {
                if args.is_empty() && callee.masked {
                    args.push(self.b.exec_mask());
                    continue;
                }
                args.push(self.argument(ty, &mut wholes));
            }
            calls.push((args, wholes));
        }
        for (args, wholes) in &calls {
            let got = self.b.ins().call(callee.func, &callee.results, args);
            for &v in &got {
                self.return_to(v, wholes);
            }
            self.pool.extend(got);
        }
        // Large arguments stay live across the calls if they are used afterwards.
        for &v in calls.iter().flat_map(|c| &c.0) {
            if is_large(self.b.ty(v)) && !self.rng.one_in(4) {
                self.parts_of(v);
            }
        }
    }

    /// Returns an argument: often a region of a larger vector, if it is large.
    fn argument(&mut self, ty: Type, wholes: &mut Vec<RegionOf>) -> Value {
        let regions = self.options.region_args;
        if !regions || !is_large(ty) || ty.bytes() > PART || self.rng.one_in(2) {
            return self.value(ty);
        }
        let whole = self.value(ty.by(2 * ty.lanes()));
        let size = ty.scalar().bytes();
        let at = match self.rng.below(3) {
            0 => 0,
            1 => ty.lanes(),
            _ => self.rng.below(ty.lanes() + 1),
        };
        let region = Region::contiguous(ty.lanes() as u16, (at * size) as u16);
        if self.rng.one_in(4) {
            let slack = ty.lanes() - at;
            let index = self.index(size, slack, 1);
            return self.b.ins().rdregion_at(ty, whole, region, Some(index));
        }
        wholes.push((whole, region));
        self.b.ins().rdregion(ty, whole, region)
    }

    /// Often writes a large result to the region that an argument of its type is.
    fn return_to(&mut self, v: Value, wholes: &[RegionOf]) {
        let ty = self.b.ty(v);
        let fits = |w: &&RegionOf| self.b.ty(w.0) == ty.by(2 * ty.lanes());
        let Some(&(whole, region)) = wholes.iter().find(fits) else {
            return;
        };
        if !is_large(ty) || self.rng.one_in(4) {
            return;
        }
        let new = self.b.ins().wrregion(whole, region, v);
        self.parts_of(new);
        if self.rng.one_in(4) {
            self.parts_of(whole);
        }
    }

    /// Returns a result of a subroutine: a large parameter with some parts written, or another one.
    pub(super) fn changed(&mut self, ty: Type, params: &[Value]) -> Value {
        let same = params.iter().find(|v| self.b.ty(**v) == ty);
        let large = is_large(ty) && self.options.region_args;
        let Some(&param) = same.filter(|_| large) else {
            return self.result(ty, params);
        };
        let mut newest = param;
        for _ in 0..1 + self.rng.below(2) {
            let part = (ty.lanes() / self.rng.pick(&[2, 4, 8]).unwrap_or(4)).max(1);
            let at = self.rng.below(ty.lanes() - part + 1) * ty.scalar().bytes();
            let region = Region::contiguous(part as u16, at as u16);
            let v = self.value(ty.by(part));
            newest = self.b.ins().wrregion(newest, region, v);
        }
        newest
    }
}
