//! Types, views and indices that rules ask for.

use super::context::generated_view;
use super::generated::OptValue;
use super::{Lower, gen_signed};
use crate::ir::{Inst, Region, Scalar, Value};
use crate::mir::RegConstraint;
use crate::mir::bale::{Index, View};
use crate::opt::memory::alignment::Alignment;
use gantry_isa_gen::Type as GenType;

impl Lower<'_> {
    pub(super) fn scalar(&self, v: Value) -> Scalar {
        self.ty(v).scalar()
    }

    pub(super) fn first_result(&self, inst: Inst) -> Option<Value> {
        self.func.dfg.first_result(inst)
    }

    pub(super) fn result_type(&self, inst: Inst) -> GenType {
        self.first_result(inst)
            .map_or(GenType::Ud, |v| gen_signed(self.scalar(v)))
    }

    /// Returns the offset of a view's elements as ones of a type, if they are consecutive and begin
    /// at a multiple of its size.
    pub(super) fn offset_of_cast(&self, view: &View, lanes: u32, ty: GenType) -> Option<u32> {
        let register = &self.vregs[view.reg.as_grf()?];
        let at = match register.constraint {
            RegConstraint::Fixed(at) => at,
            _ if register.align < ty.bytes() => return None,
            _ => 0,
        };
        let consecutive = lanes == 1 || view.step(0, lanes) == Some(1);
        let aligned = (at + view.offset).is_multiple_of(ty.bytes());
        (consecutive && aligned && view.index.is_none()).then_some(view.offset)
    }

    /// Returns the index of a region. It is read where it is if it is part of a register.
    pub(super) fn index_of(
        &mut self,
        index: OptValue,
        region: &Region,
        size: u32,
    ) -> Option<Index> {
        let v = index.expand()?;
        let rows = self.ty(v).lanes();
        let bits = self.index_bits[v].unwrap_or(Alignment::UNKNOWN);
        let view = generated_view(self, v);
        let consecutive = rows == 1 || view.step(0, rows) == Some(1);
        let direct = view.index.is_none() && consecutive && view.ty.bytes() == GenType::Uw.bytes();
        let part = view.reg.as_grf().filter(|_| direct);
        let part = part.and_then(|reg| Some((reg, u16::try_from(view.offset).ok()?)));
        let (reg, at) = part.unwrap_or_else(|| (self.reg(v), 0));
        let parent = if rows == 1 {
            u32::from(region.parent_width) * size
        } else {
            0
        };
        Some(Index {
            reg,
            at,
            rows,
            known: bits.bits() as u8,
            residue: bits.residue() as u16,
            parent: u16::try_from(parent).unwrap_or(0),
        })
    }
}
