//! Parts of a value that are put together as they were: bytes of loaded doublewords that make up
//! doublewords, say.

use super::EGraph;
use super::rules::elements;
use crate::ir::{InstData, Type, Value};
use smallvec::{SmallVec, smallvec};

/// Parts of a value that are looked for.
const PARTS: usize = 8;

impl EGraph<'_> {
    /// The value of which each element is written where it was read, if that is what a write into a
    /// region comes to.
    pub(super) fn put_together(&self, ty: Type, data: &InstData) -> Option<Value> {
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
