//! Set of registers in the GRF file: an unordered list and each register's index in it. There are
//! no more of them than the GRF file has bytes, usually about a hundred.

use crate::mir::VReg;
use cranelift_entity::SecondaryMap;

/// Registers in the GRF file.
#[derive(Default)]
pub(super) struct ResidentSet {
    list: Vec<VReg>,
    /// Indices in the list.
    index: SecondaryMap<VReg, u32>,
}

impl ResidentSet {
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// Adds a register that is not in the set.
    pub(super) fn insert(&mut self, r: VReg) {
        self.index[r] = self.list.len() as u32;
        self.list.push(r);
    }

    /// Removes a register that is in the set.
    pub(super) fn remove(&mut self, r: VReg) {
        let index = self.index[r];
        self.list.swap_remove(index as usize);
        if let Some(&moved) = self.list.get(index as usize) {
            self.index[moved] = index;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = VReg> {
        self.list.iter().copied()
    }
}
