//! Lists that mostly have one element.

/// List whose first element needs no memory of its own.
pub(super) struct Few<T> {
    first: Option<T>,
    rest: Vec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Few<T> {
        Few {
            first: None,
            rest: Vec::new(),
        }
    }
}

impl<T> Few<T> {
    pub(super) fn push(&mut self, element: T) {
        if self.first.is_none() && self.rest.is_empty() {
            self.first = Some(element);
        } else {
            self.rest.push(element);
        }
    }

    /// Removes an element that `wanted` accepts. The order of the others may change.
    pub(super) fn take(&mut self, wanted: impl Fn(&T) -> bool) -> Option<T> {
        if self.first.as_ref().is_some_and(&wanted) {
            return self.first.take();
        }
        let at = self.rest.iter().position(wanted)?;
        Some(self.rest.swap_remove(at))
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.rest)
    }
}
