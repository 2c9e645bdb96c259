//! Region reads and writes at a constant index become ones without an index. For an index that is a
//! sum with a constant, the constant moves into the region's offset.

use super::EGraph;
use super::rules::region_of;
use crate::ir::{InstData, Opcode, Region, Type, Value};
use smallvec::SmallVec;

/// Maximal rows of a region that are visited.
const ROWS: usize = 64;

impl EGraph<'_> {
    /// Removes the index of a region access if it is a constant and in bounds. Otherwise moves the
    /// constant summand of the index into the region. `ty` is the type of the node.
    pub(super) fn fix(&self, ty: Type, data: &mut InstData) {
        let (part, whole, region, index, writes) = match data {
            InstData::RdRegion {
                arg, region, index, ..
            } => (ty, self.ty(*arg), region, index, false),
            InstData::WrRegion {
                args,
                region,
                index,
                ..
            } => (self.ty(args[1]), ty, region, index, true),
            _ => return,
        };
        let Some(at) = index.expand() else { return };
        if let Some(fixed) = self.fixed(*region, at, part, whole, writes) {
            *region = fixed;
            *index = None.into();
        } else if let Some((moved, from)) = self.moved(*region, at, part, whole) {
            *region = moved;
            *index = from.into();
        }
    }

    /// Returns the region and index without the constant summand of the index.
    ///
    /// An `i16` sum may wrap. Then the region is out of bounds both before and after: both starts
    /// lie in the value, so the summand is smaller than its size. That is far less than half the
    /// range of an `i16`.
    fn moved(&self, region: Region, at: Value, part: Type, whole: Type) -> Option<(Region, Value)> {
        let size = part.scalar().bytes();
        let last = match self.ty(at).lanes() {
            1 => region.last_element(part.lanes()),
            _ => u32::from(region.width).saturating_sub(1) * u32::from(region.hstride),
        };
        let fits = |start: i64| {
            let end = start + i64::from(last) * i64::from(size);
            start >= 0 && end < i64::from(whole.bytes()) && start % i64::from(size.max(1)) == 0
        };
        self.members(at).into_iter().find_map(|member| {
            let Some(&InstData::Binary {
                opcode: Opcode::Iadd,
                args: [from, by],
            }) = self.data(member)
            else {
                return None;
            };
            let start = i64::from(region.offset);
            let moved = start + i64::from(self.immediate(by)? as u16 as i16);
            let moved = u16::try_from(moved).ok().filter(|_| fits(start))?;
            let region = Region {
                offset: moved,
                parent_width: 0,
                ..region
            };
            fits(moved.into()).then_some((region, from))
        })
    }

    fn fixed(
        &self,
        region: Region,
        at: Value,
        part: Type,
        whole: Type,
        writes: bool,
    ) -> Option<Region> {
        let size = i64::from(part.scalar().bytes());
        if size == 0 {
            return None;
        }
        // First element of the region at this index, if its last element is in the value.
        let element = |at: u64, last: u32| {
            let at = i64::from(at as u16 as i16) + i64::from(region.offset);
            let end = at + i64::from(last) * size;
            let fits = at >= 0 && at % size == 0 && end < i64::from(whole.bytes());
            fits.then(|| u32::try_from(at / size).ok()).flatten()
        };
        let lanes = part.lanes();
        if self.ty(at).lanes() == 1 {
            let first = element(self.immediate(at)?, region.last_element(lanes))?;
            return Some(Region {
                offset: u16::try_from(i64::from(first) * size).ok()?,
                parent_width: 0,
                ..region
            });
        }
        // Each row has its lane of the index. Overlapping writes have no defined order.
        let width = u32::from(region.width).max(1);
        if writes || lanes as usize > ROWS {
            return None;
        }
        let rows = self.constant(at)?;
        let elements: Option<SmallVec<[u32; ROWS]>> = (0..lanes)
            .map(|l| {
                let within = l % width * u32::from(region.hstride);
                Some(element(*rows.get((l / width) as usize)?, within)? + within)
            })
            .collect();
        region_of(&elements?, part.scalar().bytes())
    }
}
