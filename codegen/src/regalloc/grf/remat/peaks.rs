//! What lives at most in a stretch of code, as that changes.

/// A tree over instructions, of which each node has two below it.
pub(super) struct Peaks {
    /// Instructions, as a power of two.
    size: usize,
    /// Per node the most of those below it, but for what was added to all around it.
    most: Vec<i64>,
    /// Per node what was added to all below it.
    added: Vec<i64>,
}

impl Peaks {
    /// Of what lives at each instruction.
    pub(super) fn new(bytes: impl ExactSizeIterator<Item = u32>) -> Peaks {
        let size = bytes.len().next_power_of_two();
        let mut most = vec![0; size];
        most.extend(bytes.map(i64::from));
        most.resize(2 * size, 0);
        for n in (1..size).rev() {
            most[n] = most[2 * n].max(most[2 * n + 1]);
        }
        Peaks {
            size,
            most,
            added: vec![0; 2 * size],
        }
    }

    /// The most from an instruction up to, not including, another; 0 of none.
    pub(super) fn most(&self, from: u32, to: u32) -> i64 {
        let to = (to as usize).min(self.size);
        self.find(1, (0, self.size), (from as usize, to))
            .unwrap_or(0)
    }

    fn find(&self, n: usize, (first, end): (usize, usize), asked: (usize, usize)) -> Option<i64> {
        if asked.0 >= end || asked.1 <= first || asked.0 >= asked.1 {
            return None;
        }
        if asked.0 <= first && end <= asked.1 {
            return self.most.get(n).copied();
        }
        let middle = first.midpoint(end);
        let below = [
            self.find(2 * n, (first, middle), asked),
            self.find(2 * n + 1, (middle, end), asked),
        ];
        let most = below.into_iter().flatten().max();
        most.map(|m| m + self.added[n])
    }

    /// Adds bytes to instructions from one up to, not including, another.
    pub(super) fn add(&mut self, from: u32, to: u32, bytes: i64) {
        let to = (to as usize).min(self.size);
        self.change(1, (0, self.size), (from as usize, to), bytes);
    }

    fn change(
        &mut self,
        n: usize,
        (first, end): (usize, usize),
        asked: (usize, usize),
        bytes: i64,
    ) {
        if asked.0 >= end || asked.1 <= first || asked.0 >= asked.1 {
            return;
        }
        if asked.0 <= first && end <= asked.1 {
            self.most[n] += bytes;
            self.added[n] += bytes;
            return;
        }
        let middle = first.midpoint(end);
        self.change(2 * n, (first, middle), asked, bytes);
        self.change(2 * n + 1, (middle, end), asked, bytes);
        self.most[n] = self.most[2 * n].max(self.most[2 * n + 1]) + self.added[n];
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
                let most = list[from as usize..to as usize].iter().max();
                assert_eq!(Some(&tree.most(from, to)), most);
            }
        }
    }
}
