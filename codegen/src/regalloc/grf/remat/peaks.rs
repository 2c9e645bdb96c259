//! Maximum demand over a range of instructions, while demand changes.

/// Segment tree over instructions.
pub(super) struct Peaks {
    /// Number of leaves, a power of two.
    size: usize,
    /// Maximum of the leaves below each node, without what was added at its ancestors.
    max: Vec<i64>,
    /// Bytes added to all leaves below each node.
    added: Vec<i64>,
}

impl Peaks {
    /// Builds the tree from the demand of each instruction.
    pub(super) fn new(bytes: impl ExactSizeIterator<Item = u32>) -> Peaks {
        let size = bytes.len().next_power_of_two();
        let mut max = vec![0; size];
        max.extend(bytes.map(i64::from));
        max.resize(2 * size, 0);
        for n in (1..size).rev() {
            max[n] = max[2 * n].max(max[2 * n + 1]);
        }
        Peaks {
            size,
            max,
            added: vec![0; 2 * size],
        }
    }

    /// Returns the maximum demand of instructions `from` to `to`, which is excluded. 0 for an empty
    /// range.
    pub(super) fn max(&self, from: u32, to: u32) -> i64 {
        let to = (to as usize).min(self.size);
        self.find(1, (0, self.size), (from as usize, to))
            .unwrap_or(0)
    }

    fn find(&self, n: usize, (first, end): (usize, usize), range: (usize, usize)) -> Option<i64> {
        if range.0 >= end || range.1 <= first || range.0 >= range.1 {
            return None;
        }
        if range.0 <= first && end <= range.1 {
            return self.max.get(n).copied();
        }
        let middle = first.midpoint(end);
        let below = [
            self.find(2 * n, (first, middle), range),
            self.find(2 * n + 1, (middle, end), range),
        ];
        let max = below.into_iter().flatten().max();
        max.map(|m| m + self.added[n])
    }

    /// Adds bytes to instructions `from` to `to`, which is excluded.
    pub(super) fn add(&mut self, from: u32, to: u32, bytes: i64) {
        let to = (to as usize).min(self.size);
        self.change(1, (0, self.size), (from as usize, to), bytes);
    }

    fn change(
        &mut self,
        n: usize,
        (first, end): (usize, usize),
        range: (usize, usize),
        bytes: i64,
    ) {
        if range.0 >= end || range.1 <= first || range.0 >= range.1 {
            return;
        }
        if range.0 <= first && end <= range.1 {
            self.max[n] += bytes;
            self.added[n] += bytes;
            return;
        }
        let middle = first.midpoint(end);
        self.change(2 * n, (first, middle), range, bytes);
        self.change(2 * n + 1, (middle, end), range, bytes);
        self.max[n] = self.max[2 * n].max(self.max[2 * n + 1]) + self.added[n];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::Rng;

    #[test]
    fn a_tree_is_a_list() {
        let mut rng = Rng::new(3);
        for size in 1..40u32 {
            let mut list: Vec<i64> = (0..size).map(|_| rng.below(100).into()).collect();
            let mut tree = Peaks::new(list.clone().into_iter().map(|b| b as u32));
            for _ in 0..60 {
                let (a, b) = (rng.below(size + 1), rng.below(size + 1));
                let (from, to) = (a.min(b), a.max(b));
                let more = i64::from(rng.below(40)) - 20;
                tree.add(from, to, more);
                list[from as usize..to as usize]
                    .iter_mut()
                    .for_each(|x| *x += more);
                let (a, b) = (rng.below(size), rng.below(size));
                let (from, to) = (a.min(b), a.max(b) + 1);
                let max = list[from as usize..to as usize].iter().max();
                assert_eq!(Some(&tree.max(from, to)), max);
            }
        }
    }
}
