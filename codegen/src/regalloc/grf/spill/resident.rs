//! Registers in the file: a list in no order, and where in it each is. There are no more than the
//! file has bytes, mostly a hundred.

use crate::mir::VReg;
use cranelift_entity::SecondaryMap;

/// The registers.
#[derive(Default)]
pub(super) struct Inside {
    list: Vec<VReg>,
    /// Places in the list.
    place: SecondaryMap<VReg, u32>,
}

impl Inside {
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// Adds one that is not there.
    pub(super) fn insert(&mut self, r: VReg) {
        self.place[r] = self.list.len() as u32;
        self.list.push(r);
    }

    /// Removes one that is there.
    pub(super) fn remove(&mut self, r: VReg) {
        let place = self.place[r];
        self.list.swap_remove(place as usize);
        if let Some(&moved) = self.list.get(place as usize) {
            self.place[moved] = place;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = VReg> {
        self.list.iter().copied()
    }
}
