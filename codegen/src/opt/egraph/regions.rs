//! Regions of regions: relations between the elements that region reads and writes access.
//!
//! A bitcast between two accesses changes the size of elements, so lanes are compared by their
//! bytes. An index adds the same bytes to all lanes. Accesses by the same index have the same
//! relation as without it.

use super::EGraph;
use super::rules::generated::OptValue;
use crate::ir::{InstData, Opcode, Region, Scalar, Type, Value};
use smallvec::SmallVec;

/// Maximal lanes of a region that is compared element by element.
const REGION_LANES: u32 = 64;
/// Maximal writes between a read of a region and the write of it back.
const WRITES: usize = 4;
/// Maximal writes to an undefined vector that go into another one.
const PARTS: usize = 16;
/// Maximal writes that one read is moved before.
const UNSEEN_WRITES: usize = 64;
/// Bytes of a dword.
const DWORD: u32 = 4;
/// Bytes by which a sum of two indices is certain not to wrap.
const NO_WRAP: u32 = 1 << 15;

type Elements = SmallVec<[u32; 32]>;

/// Returns the elements that a region reads, in order. `None` if these are not whole elements or
/// too many.
pub(in crate::opt) fn elements(ty: Type, region: &Region) -> Option<Elements> {
    let size = ty.scalar().bytes();
    let offset = u32::from(region.offset);
    if ty.lanes() > REGION_LANES || size == 0 || !offset.is_multiple_of(size) {
        return None;
    }
    let lanes = 0..ty.lanes();
    Some(lanes.map(|l| region.element(l) + offset / size).collect())
}

/// Returns the range of bytes of a contiguous region; `None` for any other region.
pub(super) fn contiguous_bytes(ty: Type, region: &Region) -> Option<(u32, u32)> {
    let first = u32::from(region.offset);
    let plain = ty.scalar().bytes() > 0 && region.is_contiguous(ty.lanes());
    plain.then(|| (first, first + ty.bytes()))
}

/// Returns the contiguous region from a byte on, if an element begins there.
fn contiguous_from(ty: Type, first: u32) -> Option<Region> {
    let offset = u16::try_from(first).ok()?;
    let lanes = u16::try_from(ty.lanes()).ok()?;
    let begins = first.is_multiple_of(ty.scalar().bytes().max(1));
    begins.then(|| match lanes {
        1 => Region::scalar(offset),
        _ => Region::contiguous(lanes, offset),
    })
}

/// Returns the region that reads these elements of `size` bytes in order, if there is one.
pub(in crate::opt) fn region_of(elements: &[u32], size: u32) -> Option<Region> {
    let first = *elements.first()?;
    let step =
        |a: usize, b: usize| -> Option<u32> { elements.get(b)?.checked_sub(*elements.get(a)?) };
    let offset = u16::try_from(first * size).ok()?;
    let fits = |n: u32| u16::try_from(n).ok();
    let all = |region: &Region| {
        let mut lanes = (0u32..).zip(elements);
        lanes.all(|(l, &e)| region.element(l) + first == e)
    };
    let n = elements.len();
    if elements.iter().all(|&e| e == first) {
        return Some(Region::scalar(offset));
    }
    // A row is as long as the first distance between elements repeats.
    let within = step(0, 1)?;
    let mut width = 2;
    while width < n && step(width - 1, width) == Some(within) {
        width += 1;
    }
    for (width, h) in [(width, within), (1, 0)] {
        let v = if width < n {
            step(0, width)?
        } else {
            within * width as u32
        };
        let region = Region::new(fits(v)?, fits(width as u32)?, fits(h)?, offset);
        if all(&region) {
            return Some(region);
        }
    }
    None
}

/// Returns the same elements in units of `unit` bytes, of which each has several.
fn in_units(elements: &[u32], size: u32, unit: u32) -> Elements {
    let n = size / unit.max(1);
    let units = elements.iter().flat_map(|e| e * n..(e + 1) * n);
    units.collect()
}

/// Returns the elements of `size` bytes that units of `unit` bytes fill in order.
fn from_units(units: &[u32], size: u32, unit: u32) -> Option<Elements> {
    let n = size / unit.max(1);
    let whole = |chunk: &[u32]| {
        let &first = chunk.first()?;
        let in_order = (first..).zip(chunk).all(|(want, &is)| want == is);
        let aligned = first.is_multiple_of(n) && chunk.len() == n as usize;
        (in_order && aligned).then_some(first / n)
    };
    units.chunks(n.max(1) as usize).map(whole).collect()
}

/// Returns the units of two accesses' elements in bytes: the smaller of both. `None` for
/// predicates.
fn common_unit(a: Type, b: Type) -> Option<u32> {
    let unit = a.scalar().bytes().min(b.scalar().bytes());
    (unit > 0).then_some(unit)
}

/// Returns the units of the elements that a region accesses, if they are not too many.
fn units(ty: Type, region: &Region, unit: u32) -> Option<Elements> {
    let size = ty.scalar().bytes();
    if ty.bytes() / unit.max(1) > REGION_LANES {
        return None;
    }
    Some(in_units(&elements(ty, region)?, size, unit))
}

/// Returns the region of a first value that a region of its region reads: `outer` of type `ty`
/// within `inner` of type `between`. A bitcast may be in between.
pub(super) fn composed(ty: Type, outer: Region, between: Type, inner: Region) -> Option<Region> {
    if let (Some((first, _)), Some((from, _))) = (
        contiguous_bytes(between, &inner),
        contiguous_bytes(ty, &outer),
    ) {
        return contiguous_from(ty, first + from);
    }
    let size = ty.scalar().bytes();
    let unit = common_unit(ty, between)?;
    let inner = units(between, &inner, unit)?;
    let outer = units(ty, &outer, unit)?;
    let both: Option<Elements> = outer
        .iter()
        .map(|&e| inner.get(e as usize).copied())
        .collect();
    region_of(&from_units(&both?, size, unit)?, size)
}

/// Returns the region of a first value that an indexed region of its region reads. The elements of
/// `inner` are consecutive, or the index stays in one of its rows.
pub(super) fn composed_indexed(
    ty: Type,
    outer: Region,
    between: Type,
    inner: Region,
) -> Option<Region> {
    let size = ty.scalar().bytes();
    if size == 0 || size != between.scalar().bytes() {
        return None;
    }
    let parent = u32::from(outer.parent_width);
    if let Some((first, _)) = contiguous_bytes(between, &inner) {
        // Rows of the parent begin elsewhere in the first value.
        let kept = parent > 0 && first.is_multiple_of(parent * size);
        return Some(Region {
            offset: u16::try_from(first + u32::from(outer.offset)).ok()?,
            parent_width: if kept { outer.parent_width } else { 0 },
            ..outer
        });
    }
    let (width, start) = (u32::from(inner.width), u32::from(outer.offset) / size);
    if parent == 0 || !width.is_multiple_of(parent) || inner.hstride != 1 {
        return None;
    }
    // Rows begin where they do without the index, and stay in a row of the inner region.
    let elements: Elements = (0..ty.lanes().min(REGION_LANES))
        .map(|l| inner.element(start + outer.element(l)) + u32::from(inner.offset) / size)
        .collect();
    let region = region_of(&elements, size).filter(|_| ty.lanes() <= REGION_LANES)?;
    let in_row =
        |l: u32| (start + outer.element(l)) / parent == start_of(l, &outer, start) / parent;
    if !(0..ty.lanes()).all(in_row) {
        return None;
    }
    // Rows of the parent are also rows of as many elements of the first value, if these begin at
    // multiples of their size there.
    let begin = [u32::from(inner.vstride) * size, u32::from(inner.offset)];
    let kept =
        region.width == outer.width && begin.iter().all(|at| at.is_multiple_of(parent * size));
    Some(Region {
        parent_width: if kept { outer.parent_width } else { 0 },
        ..region
    })
}

/// Returns the first element of a lane's row.
fn start_of(lane: u32, region: &Region, start: u32) -> u32 {
    let width = u32::from(region.width).max(1);
    start + region.element(lane / width * width)
}

/// Returns a region without the promise about its index.
pub(super) fn without_parent(region: Region) -> Region {
    Region {
        parent_width: 0,
        ..region
    }
}

/// Returns the region of the written value, of type `of`, that a read reads. `None` if it reads
/// anything else.
fn within(ty: Type, region: Region, of: Type, at: Region) -> Option<Region> {
    if let (Some(w), Some(r)) = (contiguous_bytes(of, &at), contiguous_bytes(ty, &region)) {
        let inside = w.0 <= r.0 && r.1 <= w.1;
        return inside.then(|| contiguous_from(ty, r.0 - w.0)).flatten();
    }
    let (size, unit) = (ty.scalar().bytes(), common_unit(ty, of)?);
    let written = units(of, &at, unit)?;
    let read = units(ty, &region, unit)?;
    // The last of several writes to an element counts.
    let lane = |e: &u32| written.iter().rposition(|w| w == e).map(|n| n as u32);
    let lanes: Option<Elements> = read.iter().map(lane).collect();
    region_of(&from_units(&lanes?, size, unit)?, size)
}

/// Returns true if a read and a write have no byte in common.
fn apart(ty: Type, region: Region, of: Type, at: Region) -> bool {
    if let (Some(w), Some(r)) = (contiguous_bytes(of, &at), contiguous_bytes(ty, &region)) {
        return r.1 <= w.0 || w.1 <= r.0;
    }
    let both = common_unit(ty, of).and_then(|unit| {
        let written = units(of, &at, unit)?;
        let read = units(ty, &region, unit)?;
        Some(!read.iter().any(|e| written.contains(e)))
    });
    both == Some(true)
}

/// Holds if a region has each element once.
pub(super) fn is_writable(region: &Region) -> bool {
    let rows = u32::from(region.hstride) * (u32::from(region.width) - 1);
    region.hstride > 0 && u32::from(region.vstride) > rows
        || region.width == 1 && region.vstride > 0
}

impl EGraph<'_> {
    /// Returns true if a region access has one index or none.
    pub(super) fn has_one_index(&self, index: OptValue) -> bool {
        index.expand().is_none_or(|v| self.ty(v).lanes() == 1)
    }

    /// Returns the part of a written value that a read by the same index reads.
    pub(super) fn part_within(
        &self,
        ty: Type,
        region: Region,
        of: Type,
        at: Region,
        index: OptValue,
    ) -> Option<Region> {
        let known = self.has_one_index(index);
        known.then(|| within(ty, region, of, at)).flatten()
    }

    /// Returns true if a read and a write by the same index have no byte in common.
    pub(super) fn is_apart(
        &self,
        ty: Type,
        region: Region,
        of: Type,
        at: Region,
        index: OptValue,
    ) -> bool {
        self.has_one_index(index) && apart(ty, region, of, at)
    }

    /// Returns the vector before the last writes to it that a read does not see. A vector that is
    /// put together by parts is read through all of them at once.
    pub(super) fn before_unseen(
        &self,
        ty: Type,
        region: Region,
        index: OptValue,
        mut vector: Value,
    ) -> Value {
        for _ in 0..UNSEEN_WRITES {
            let older = self.members(vector).into_iter().find_map(|m| {
                let &InstData::WrRegion {
                    args: [old, part],
                    region: at,
                    index: by,
                    ..
                } = self.data(m)?
                else {
                    return None;
                };
                let apart = self.is_apart(ty, region, self.ty(part), at, index);
                (by == index && apart).then_some(old)
            });
            match older {
                Some(old) => vector = old,
                None => break,
            }
        }
        vector
    }

    /// Returns the sum of two indices of a vector, if it cannot wrap. Accesses are in bounds, so
    /// the sum is at least the negative start of the region, and less than the vector's size.
    pub(super) fn sum_of_indices(
        &mut self,
        of: Type,
        region: Region,
        a: Value,
        b: Value,
    ) -> Option<Value> {
        let index = Type::scalar_of(Scalar::I16);
        let one = self.ty(a) == index && self.ty(b) == index;
        if !one || u32::from(region.offset) + of.bytes() > NO_WRAP {
            return None;
        }
        let data = InstData::Binary {
            opcode: Opcode::Iadd,
            args: [a, b],
        };
        Some(self.node(index, data, None))
    }

    /// Returns the region and index of an access by `outer` and `j` to a region of `x`, which has
    /// been accessed by `inner` and `i`.
    fn composed_access(
        &mut self,
        ty: Type,
        (outer, j): (Region, OptValue),
        between: Type,
        (inner, i): (Region, OptValue),
        x: Type,
    ) -> Option<(Region, OptValue)> {
        if !self.has_one_index(i) {
            return None;
        }
        let Some(j) = j.expand() else {
            return Some((composed(ty, outer, between, inner)?, i));
        };
        let both = composed_indexed(ty, outer, between, inner)?;
        let Some(i) = i.expand() else {
            return Some((both, j.into()));
        };
        let sum = self.sum_of_indices(x, both, i, j)?;
        Some((without_parent(both), sum.into()))
    }

    /// Returns `x` with the region at `at` and `index` replaced by `part`, if `part` is that region
    /// of `x` with some writes to it. These become writes to `x`.
    pub(super) fn written_back(
        &mut self,
        x: Value,
        part: Value,
        at: Region,
        index: OptValue,
    ) -> Option<Value> {
        self.as_writes(x, part, at, index, WRITES, |graph, base| {
            graph.is_region_of(base, x, at, index)
        })
    }

    /// Returns `x` with the region at `at` and `index` replaced by `part`, if `part` is an
    /// undefined vector with some writes to it. These become writes to `x`, whose other elements
    /// stay.
    pub(super) fn written_into(
        &mut self,
        x: Value,
        part: Value,
        at: Region,
        index: OptValue,
    ) -> Option<Value> {
        self.as_writes(x, part, at, index, PARTS, |graph, base| {
            graph.func.dfg.is_undef(base)
        })
    }

    /// Returns `x` with the at most `most` writes of `part` at `at` and `index`, if `begins` holds
    /// for the vector that they write to.
    fn as_writes(
        &mut self,
        x: Value,
        part: Value,
        at: Region,
        index: OptValue,
        most: usize,
        begins: impl Fn(&EGraph<'_>, Value) -> bool,
    ) -> Option<Value> {
        if !self.has_one_index(index) {
            return None;
        }
        let (whole, between) = (self.ty(x), self.ty(part));
        let mut writes: SmallVec<[_; WRITES]> = SmallVec::new();
        let mut base = part;
        while let Some(&InstData::WrRegion {
            opcode,
            args: [old, new],
            region,
            index: by,
            mask,
        }) = self.data(base)
        {
            if writes.len() == most {
                return None;
            }
            writes.push((opcode, new, region, by, mask));
            base = old;
        }
        if writes.is_empty() || !begins(self, base) {
            return None;
        }
        let mut out = x;
        for (opcode, new, region, by, mask) in writes.into_iter().rev() {
            let ty = self.ty(new);
            let (region, index) =
                self.composed_access(ty, (region, by), between, (at, index), whole)?;
            let data = InstData::WrRegion {
                opcode,
                args: [out, new],
                region,
                index,
                mask,
            };
            out = self.node(whole, data, None);
        }
        Some(out)
    }

    /// Returns true if a value is a region of `x`, or of an older version of it that has not been
    /// written there since.
    fn is_region_of(&self, part: Value, x: Value, at: Region, index: OptValue) -> bool {
        let ty = self.ty(part);
        let read = self
            .members(part)
            .into_iter()
            .find_map(|v| match self.data(v) {
                Some(&InstData::RdRegion {
                    arg,
                    region,
                    index: by,
                    ..
                }) if region == at && by == index => Some(arg),
                _ => None,
            });
        let Some(old) = read else { return false };
        let mut newer = x;
        for _ in 0..WRITES {
            if newer == old {
                return true;
            }
            let Some(&InstData::WrRegion {
                args: [before, new],
                region,
                index: by,
                ..
            }) = self.data(newer)
            else {
                return false;
            };
            if by != index || !self.is_apart(ty, at, self.ty(new), region, index) {
                return false;
            }
            newer = before;
        }
        newer == old
    }
}

/// Returns the type of a vector's bytes as elements of another type.
pub(super) fn cast_type(like: Type, of: Type) -> Option<Type> {
    let size = common_unit(like, of).map(|_| like.scalar().bytes())?;
    let whole = of.bytes().is_multiple_of(size);
    whole.then(|| Type::new(like.scalar(), of.bytes() / size))?
}

/// Returns a region of elements of type `of` in elements of type `ty` of the same bytes.
pub(super) fn region_cast(ty: Type, of: Type, region: Region) -> Option<Region> {
    let (size, unit) = (ty.scalar().bytes(), common_unit(ty, of)?);
    if let Some((first, _)) = contiguous_bytes(of, &region) {
        return contiguous_from(ty, first);
    }
    let elements = from_units(&units(of, &region, unit)?, size, unit)?;
    region_of(&elements, size)
}

/// Returns the region that reads from a narrower or wider vector what `region` reads of type `ty`
/// from the extended or truncated one. `None` if it has as many lanes, or one.
pub(super) fn before_extension(
    ty: Type,
    region: Region,
    whole: Type,
    from: Type,
) -> Option<Region> {
    let smaller = ty.lanes() > 1 && ty.lanes() < whole.lanes();
    let plain = |t: Type| matches!(t.scalar().bytes(), 1..=DWORD);
    if !smaller || !plain(ty) || !plain(from) {
        return None;
    }
    let first = u32::from(region.offset) / ty.scalar().bytes();
    Some(Region {
        offset: u16::try_from(first * from.scalar().bytes()).ok()?,
        ..region
    })
}
