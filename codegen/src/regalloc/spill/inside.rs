//! Registers in the file by when they are read next: a list in order. There are no more than the file has bytes, mostly a hundred.

use crate::vcode::VReg;

/// When each is read next, and which it is.
#[derive(Default)]
pub(super) struct Inside(Vec<(u64, VReg)>);

impl Inside {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn insert(&mut self, entry: (u64, VReg)) {
        if let Err(n) = self.0.binary_search(&entry) {
            self.0.insert(n, entry);
        }
    }

    pub(super) fn remove(&mut self, entry: &(u64, VReg)) {
        if let Ok(n) = self.0.binary_search(entry) {
            self.0.remove(n);
        }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &(u64, VReg)> {
        self.0.iter()
    }
}
