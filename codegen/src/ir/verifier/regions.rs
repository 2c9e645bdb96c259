//! Rules on regions: equal element types, aligned start, bounds, index of one lane or of a lane per
//! row.

use super::{ErrorLocation, Verifier};
use crate::ir::{Inst, InstData, Region, Scalar, Type, Value};
use gantry_isa_gen::diag::Count;

impl Verifier<'_> {
    pub(super) fn regions(&mut self, inst: Inst) {
        match *self.data(inst) {
            InstData::RdRegion {
                arg, region, index, ..
            } => {
                let (whole, Some(part)) = (self.ty(arg), self.result(inst)) else {
                    return;
                };
                if self.elements(inst, 0, whole, part) {
                    self.region(inst, whole, part, region, index.expand().map(|v| (1, v)));
                }
            }
            InstData::WrRegion {
                args: [old, new],
                region,
                index,
                mask,
                ..
            } => {
                let (whole, part) = (self.ty(old), self.ty(new));
                if self.elements(inst, 1, whole, part) {
                    let index = index.expand().map(|v| (2, v));
                    self.region(inst, whole, part, region, index);
                    self.writes_once(inst, whole, part, region);
                }
                if let Some(m) = mask.expand() {
                    let n = 2 + usize::from(index.is_some());
                    self.mask(inst, n, m, part.lanes());
                }
            }
            _ => {}
        }
    }

    /// Checks that both sides have one element type.
    fn elements(&mut self, inst: Inst, n: usize, whole: Type, part: Type) -> bool {
        let ok = whole.scalar() == part.scalar() && !whole.is_pred();
        if !ok {
            let why = if whole.is_pred() || part.is_pred() {
                "predicates have no regions"
            } else {
                "both sides of a region have the same elements"
            };
            self.error(
                ErrorLocation::Operand(inst, n),
                format!("type clash: {part} in {whole}: {why}"),
            );
        }
        ok
    }

    fn region(
        &mut self,
        inst: Inst,
        whole: Type,
        part: Type,
        r: Region,
        index: Option<(usize, Value)>,
    ) {
        let size = whole.scalar().bytes().max(1);
        if r.width == 0 {
            self.error(ErrorLocation::Inst(inst), "a region's width is at least 1");
            return;
        }
        if !u32::from(r.offset).is_multiple_of(size) {
            self.error(
                ErrorLocation::Inst(inst),
                format!(
                    "region start {} is not a multiple of the element's {size} bytes",
                    r.offset
                ),
            );
            return;
        }
        let first = u32::from(r.offset) / size;
        let Some((n, v)) = index else {
            let last = first + r.last_element(part.lanes());
            if last >= whole.lanes() {
                self.error(
                    ErrorLocation::Inst(inst),
                    format!("region out of bounds: element {last} of {whole}"),
                );
            }
            return;
        };
        let rows = part.lanes().div_ceil(u32::from(r.width));
        let ty = self.ty(v);
        if ty.scalar() != Scalar::I16 || (ty.lanes() != 1 && ty.lanes() != rows) {
            self.error(
                ErrorLocation::Operand(inst, n),
                format!("type clash: an index is i16, or i16 with a lane for each of the {rows} rows, and {v} is {ty}"),
            );
        }
        // The index is unknown, but the part that it is added to must fit.
        let extent = match ty.lanes() {
            1 => r.last_element(part.lanes()),
            _ => u32::from(r.width - 1) * u32::from(r.hstride),
        };
        if extent >= whole.lanes() {
            self.error(
                ErrorLocation::Inst(inst),
                format!(
                    "region out of bounds: it spans {}, and {whole} has {}",
                    Count(extent + 1, "element"),
                    whole.lanes()
                ),
            );
        }
    }

    /// Checks that no two lanes write one element. With an index per row this is unknown, and the
    /// last lane wins.
    fn writes_once(&mut self, inst: Inst, whole: Type, part: Type, r: Region) {
        let InstData::WrRegion { index, .. } = *self.data(inst) else {
            return;
        };
        let per_row = index.expand().is_some_and(|v| self.ty(v).lanes() > 1);
        let lanes = if per_row {
            part.lanes().min(u32::from(r.width))
        } else {
            part.lanes()
        };
        let mut seen = vec![false; whole.lanes() as usize];
        for lane in 0..lanes {
            match seen.get_mut(r.element(lane) as usize) {
                Some(s) if *s => {
                    self.error(
                        ErrorLocation::Inst(inst),
                        format!("region {r} writes an element twice (lane {lane})"),
                    );
                    return;
                }
                Some(s) => *s = true,
                None => return,
            }
        }
    }
}
