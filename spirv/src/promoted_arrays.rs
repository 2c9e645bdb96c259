//! Private variables that become vectors in registers: the result of `promote_arrays`, which
//! uniformity analysis asks for too.

use crate::cfg::Loop;
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use gantry_codegen::ir::Scalar;
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum number of variables whose live ranges are compared. More of them count as live at once.
const MAX_COMPARED: usize = 32;

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
    /// Set if its contents are lost for all channels where its lifetime begins.
    pub fresh: bool,
    /// Instructions from its first access to its last one, in the order of the blocks, and the loop
    /// that it begins in.
    pub live: Range<u32>,
    pub begins_in: PackedOption<Loop>,
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
    /// Typed pointer that a pointer to bytes is cast from.
    pub under: SecondaryMap<Id, PackedOption<Id>>,
    /// Constants that copies fill a whole variable from, by target and word of the copy.
    pub copied: BTreeMap<(Id, u32), Id>,
}

impl PromotedArrays {
    /// Selects the variables that are promoted at a width: as many as fit, smallest first.
    pub fn held(&self, simd: u32) -> Vec<bool> {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        let bytes = |n: &usize| self.all.get(*n).map_or(0, PromotedArray::bytes);
        order.sort_by_key(bytes);
        let room = self.room / simd.max(1);
        let mut out: Vec<bool> = self.all.iter().map(|a| a.uniform).collect();
        order.retain(|&n| out.get(n) == Some(&false));
        let mut held: Vec<&PromotedArray> = Vec::new();
        for n in order {
            let Some(array) = self.all.get(n) else {
                continue;
            };
            held.push(array);
            // Unrolled loops keep loaded values as well.
            let beside = if array.by_channel { array.bytes() } else { 0 };
            if self.most(&held, array) + beside <= room {
                out[n] = true;
            } else {
                held.pop();
            }
        }
        out
    }

    /// Most bytes for each channel of variables that are live at once with one of them.
    fn most(&self, held: &[&PromotedArray], with: &PromotedArray) -> u32 {
        let overlap = |a: &PromotedArray, b: &PromotedArray| {
            self.all.len() > MAX_COMPARED || a.live.start < b.live.end && b.live.start < a.live.end
        };
        let near: Vec<&PromotedArray> = held.iter().copied().filter(|a| overlap(a, with)).collect();
        let at = |begin: &PromotedArray| -> u32 {
            let begin = begin.live.start.max(with.live.start);
            let point = PromotedArray {
                live: begin..begin + 1,
                ..with.clone()
            };
            let live = near.iter().filter(|a| overlap(a, &point));
            live.map(|a| a.bytes()).sum()
        };
        near.iter().map(|a| at(a)).max().unwrap_or(0)
    }

    /// Returns true if a narrower thread promotes a variable that a wide one leaves in scratch.
    pub fn fit_better(&self, narrow: u32, wide: u32) -> bool {
        let (narrow, wide) = (self.held(narrow), self.held(wide));
        narrow.iter().zip(wide).any(|(n, w)| *n && !w)
    }

    /// Bytes of a thread that they take.
    pub fn bytes(&self, simd: u32) -> u32 {
        let held = self.held(simd);
        let held = self.all.iter().zip(held).filter(|(_, held)| *held);
        let (uniform, own): (Vec<_>, Vec<_>) = held.map(|h| h.0).partition(|a| a.uniform);
        let uniform: u32 = uniform.iter().map(|a| a.bytes()).sum();
        let each = own.iter().map(|a| self.most(&own, a));
        uniform + each.max().unwrap_or(0) * simd
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

    /// Typed pointer that a pointer is cast from, or the pointer.
    pub fn typed(&self, pointer: Id) -> Id {
        self.under[pointer].expand().unwrap_or(pointer)
    }

    /// Constant that the copy at a word fills its target from.
    pub fn copied(&self, target: Id, at: u32) -> Option<Id> {
        self.copied.get(&(target, at)).copied()
    }
}
