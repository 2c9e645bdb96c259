//! Reassembly: a value whose parts are all written back where they were read is the value itself.
//! An example is dwords made of the bytes of loaded dwords.

use super::EGraph;
use super::regions::elements;
use crate::ir::{InstData, Type, Value};
use smallvec::{SmallVec, smallvec};

/// Maximal parts of a value.
const PARTS: usize = 8;

impl EGraph<'_> {
    /// Returns the value that a region write reassembles, if all elements come from their own
    /// places.
    pub(super) fn reassembled(&self, ty: Type, data: &InstData) -> Option<Value> {
        if !matches!(data, InstData::WrRegion { .. }) {
            return None;
        }
        let mut of: Option<Value> = None;
        let mut there: SmallVec<[bool; 64]> = smallvec![false; ty.lanes() as usize];
        let mut write = *data;
        for _ in 0..PARTS {
            let InstData::WrRegion {
                args: [old, new],
                region,
                index,
                mask,
                ..
            } = write
            else {
                return None;
            };
            if index.is_some() || mask.is_some() {
                return None;
            }
            let part = self.ty(new);
            let written = elements(part, &region)?;
            let read = self.members(new).into_iter().find_map(|member| {
                let Some(&InstData::RdRegion {
                    arg, region, index, ..
                }) = self.data(member)
                else {
                    return None;
                };
                let same = index.is_none() && self.ty(arg) == ty;
                let there = same && elements(part, &region).is_some_and(|e| e == written);
                there.then_some(arg)
            })?;
            if of.is_some_and(|of| of != read) {
                return None;
            }
            of = Some(read);
            for e in written {
                *there.get_mut(e as usize)? = true;
            }
            if there.iter().all(|t| *t) {
                return of;
            }
            write = *self.data(old)?;
        }
        None
    }
}
