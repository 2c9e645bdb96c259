//! Region reads and writes at a constant index become ones without an index. For an index that is a
//! sum with a constant, the constant moves into the region's offset. So does one under shifts,
//! products, further sums, extensions and truncations.

use super::EGraph;
use super::regions::region_of;
use crate::ir::{InstData, Opcode, Region, Type, Value};
use smallvec::SmallVec;

/// Maximal rows of a region that are visited.
const ROWS: usize = 64;
/// Maximal nodes that are visited in search of a constant summand.
const SUMMANDS: u32 = 16;
/// Maximal nesting of operations on a constant summand.
const NESTED: u32 = 5;

impl EGraph<'_> {
    /// Removes the index of a region access if it is a constant and in bounds. Otherwise moves the
    /// constant summand of the index into the region. `ty` is the type of the node.
    pub(super) fn fix(&mut self, ty: Type, data: &mut InstData) {
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
    fn moved(
        &mut self,
        region: Region,
        at: Value,
        part: Type,
        whole: Type,
    ) -> Option<(Region, Value)> {
        let size = part.scalar().bytes();
        let last = match self.ty(at).lanes() {
            1 => region.last_element(part.lanes()),
            _ => u32::from(region.width).saturating_sub(1) * u32::from(region.hstride),
        };
        let fits = |start: i64| {
            let end = start + i64::from(last) * i64::from(size);
            start >= 0 && end < i64::from(whole.bytes()) && start % i64::from(size.max(1)) == 0
        };
        if !fits(region.offset.into()) {
            return None;
        }
        let mut left = SUMMANDS;
        let (from, by) = self.without_constant(at, NESTED, &mut left)?;
        let moved = i64::from(region.offset) + i64::from(by as u16 as i16);
        let region = Region {
            offset: u16::try_from(moved).ok().filter(|_| fits(moved))?,
            parent_width: 0,
            ..region
        };
        Some((region, from))
    }

    /// Returns a value and a constant whose sum is a value, modulo 2 to the number of its bits. The
    /// constant is not 0.
    fn without_constant(&mut self, v: Value, depth: u32, left: &mut u32) -> Option<(Value, u64)> {
        let depth = depth.checked_sub(1)?;
        let ty = self.ty(v);
        for member in self.members(v) {
            *left = left.checked_sub(1)?;
            let Some(&data) = self.data(member) else {
                continue;
            };
            if let Some((rest, by)) = self.summands(ty, data, depth, left) {
                let by = by & ty.scalar().mask();
                if by != 0 {
                    return Some((rest, by));
                }
            }
        }
        None
    }

    /// Returns an operation without a constant summand of its operands, and the constant that the
    /// result has less.
    fn summands(
        &mut self,
        ty: Type,
        data: InstData,
        depth: u32,
        left: &mut u32,
    ) -> Option<(Value, u64)> {
        match data {
            InstData::Binary { opcode, args } => {
                let [a, b] = args;
                let constant = self.immediate(b);
                match (opcode, constant) {
                    (Opcode::Iadd, Some(k)) => {
                        let (rest, by) = self.without_constant(a, depth, left).unwrap_or((a, 0));
                        Some((rest, by.wrapping_add(k)))
                    }
                    (Opcode::Iadd | Opcode::Isub, None) => {
                        let negated = opcode == Opcode::Isub;
                        let first = self.without_constant(a, depth, left);
                        let second = self.without_constant(b, depth, left);
                        if first.is_none() && second.is_none() {
                            return None;
                        }
                        let ((a, by), (b, more)) =
                            (first.unwrap_or((a, 0)), second.unwrap_or((b, 0)));
                        let more = if negated { more.wrapping_neg() } else { more };
                        let args = [a, b];
                        let rest = self.node(ty, InstData::Binary { opcode, args }, None);
                        Some((rest, by.wrapping_add(more)))
                    }
                    (Opcode::Ishl | Opcode::Imul, Some(k)) => {
                        let (rest, by) = self.without_constant(a, depth, left)?;
                        let by = match opcode {
                            Opcode::Imul => by.wrapping_mul(k),
                            _ => by << (k % u64::from(ty.scalar().bits())),
                        };
                        let args = [rest, b];
                        Some((self.node(ty, InstData::Binary { opcode, args }, None), by))
                    }
                    _ => None,
                }
            }
            InstData::Unary { opcode, arg } => {
                let (rest, by) = self.without_constant(arg, depth, left)?;
                let from = self.ty(arg).scalar();
                let by = match opcode {
                    Opcode::Ireduce => by,
                    // The sum of the narrower numbers must not wrap.
                    Opcode::Uextend => {
                        let most = self.unsigned_most(rest)?.checked_add(by)?;
                        Some(by).filter(|_| most <= from.mask())?
                    }
                    Opcode::Sextend => {
                        let most = self.unsigned_most(rest)?.checked_add(by)?;
                        Some(by).filter(|_| most <= from.mask() >> 1)?
                    }
                    _ => return None,
                };
                let data = InstData::Unary { opcode, arg: rest };
                Some((self.node(ty, data, None), by))
            }
            InstData::RdRegion {
                opcode,
                arg,
                region,
                index,
            } if index.is_none() => {
                let (rest, by) = self.without_constant(arg, depth, left)?;
                let data = InstData::RdRegion {
                    opcode,
                    arg: rest,
                    region,
                    index,
                };
                Some((self.node(ty, data, None), by))
            }
            _ => None,
        }
    }

    /// Returns a bound of an unsigned number, by its last operation.
    fn unsigned_most(&self, v: Value) -> Option<u64> {
        let mask = self.ty(v).scalar().mask();
        self.members(v)
            .into_iter()
            .find_map(|member| match *self.data(member)? {
                InstData::Unary {
                    opcode: Opcode::Uextend,
                    arg,
                } => Some(self.ty(arg).scalar().mask()),
                InstData::Binary { opcode, args } => {
                    let k = self.immediate(args[1])?;
                    match opcode {
                        Opcode::Band | Opcode::Umin => Some(k),
                        Opcode::Ushr => mask.checked_shr(k as u32 % mask.count_ones()),
                        Opcode::Urem => k.checked_sub(1),
                        _ => None,
                    }
                }
                _ => None,
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
