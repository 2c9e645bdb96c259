//! Private variables that become vectors in registers: the result of `promote_arrays`, which
//! uniformity analysis asks for too.

use crate::read::Id;
use cranelift_entity::SecondaryMap;
use gantry_codegen::ir::Scalar;
use std::collections::BTreeMap;

/// Bytes of registers for uniform variables.
const SHARED: u32 = 512;

/// Promoted variable.
#[derive(Clone, Debug)]
pub(crate) struct PromotedArray {
    /// Kind of its scalars.
    pub scalar: Scalar,
    /// Number of its scalars.
    pub leaves: u32,
    /// Set if a load has a divergent index. It then stays an array even where loops are unrolled.
    pub by_channel: bool,
    /// Variable, and whether it is uniform. Then each scalar has one lane.
    pub id: Id,
    pub uniform: bool,
}

impl PromotedArray {
    /// Bytes for each channel.
    pub fn bytes(&self) -> u32 {
        self.leaves * self.scalar.bytes()
    }

    /// Lanes of each scalar in a thread of width `simd`.
    pub fn lanes(&self, simd: u32) -> u32 {
        if self.uniform { 1 } else { simd }
    }
}

/// Variables that may be promoted.
#[derive(Debug, Default)]
pub(crate) struct PromotedArrays {
    pub all: Vec<PromotedArray>,
    /// Bytes of registers for them.
    pub room: u32,
    /// Index of the variable that a pointer points into.
    pub of: SecondaryMap<Id, Option<u32>>,
    /// Constants that copies fill a whole variable from, by target and word of the copy.
    pub copied: BTreeMap<(Id, u32), Id>,
}

impl PromotedArrays {
    /// Selects the variables that are promoted at a width: as many as fit, smallest first.
    pub fn held(&self, simd: u32) -> Vec<bool> {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        let bytes = |n: &usize| self.all.get(*n).map_or(0, PromotedArray::bytes);
        order.sort_by_key(bytes);
        let mut room = self.room / simd.max(1);
        let mut out: Vec<bool> = self.all.iter().map(|a| a.uniform).collect();
        order.retain(|&n| out.get(n) == Some(&false));
        for n in order {
            let (Some(held), bytes) = (out.get_mut(n), bytes(&n)) else {
                continue;
            };
            // Unrolled loops keep loaded values as well.
            let beside = if self.all.get(n).is_some_and(|a| a.by_channel) {
                bytes
            } else {
                0
            };
            *held = bytes + beside <= room;
            room -= if *held { bytes } else { 0 };
        }
        out
    }

    /// Bytes of a thread that they take.
    pub fn bytes(&self, simd: u32) -> u32 {
        let held = self.held(simd);
        let held = self.all.iter().zip(held).filter(|(_, held)| *held);
        held.map(|(a, _)| a.bytes() * a.lanes(simd)).sum()
    }

    /// Variables that are promoted if they turn out to be uniform: as many as fit.
    pub fn shareable(&self) -> Vec<Option<Id>> {
        let mut room = SHARED;
        let each = self.all.iter().map(|a| {
            room = room.checked_sub(a.bytes())?;
            Some(a.id)
        });
        each.collect()
    }

    /// Index of the variable that a pointer points into.
    pub fn of(&self, pointer: Id) -> Option<usize> {
        self.of[pointer].map(|n| n as usize)
    }

    /// Constant that the copy at a word fills its target from.
    pub fn copied(&self, target: Id, at: u32) -> Option<Id> {
        self.copied.get(&(target, at)).copied()
    }
}
