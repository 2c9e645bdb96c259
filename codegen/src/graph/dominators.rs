//! Dominators of a graph whose vertices are numbered in preorder of a walk from its root.

use smallvec::SmallVec;

/// No vertex.
const NONE: u32 = u32::MAX;

/// The forest of vertices that the search for dominators has been at, by preorder number.
struct Forest<'a> {
    above: &'a mut [u32],
    /// Of the path from the vertex up to, not including, the root: the vertex whose semidominator
    /// is smallest.
    best: &'a mut [u32],
    path: SmallVec<[u32; 16]>,
}

impl Forest<'_> {
    fn best(&mut self, semi: &[u32], v: u32) -> u32 {
        let mut at = v;
        while self.above[at as usize] != NONE {
            self.path.push(at);
            at = self.above[at as usize];
        }
        // From the root down, so that what is above is compressed already.
        let root = at;
        let mut above = self.path.pop();
        while let (Some(up), Some(v)) = (above, self.path.pop()) {
            let best = self.best[up as usize];
            if semi[best as usize] < semi[self.best[v as usize] as usize] {
                self.best[v as usize] = best;
            }
            self.above[v as usize] = root;
            above = Some(v);
        }
        self.best[v as usize]
    }
}

/// Each vertex's immediate dominator; the root's is itself (Lengauer, Tarjan: "A Fast Algorithm for
/// Finding Dominators in a Flowgraph", with path compression alone: at worst a logarithm more than
/// linear, however deep the graph is). `parents`: each vertex's parent in the tree of the walk.
/// `preds`: calls with each predecessor of a vertex.
pub fn immediate_dominators(
    parents: &[u32],
    preds: impl Fn(usize, &mut dyn FnMut(u32)),
) -> Vec<u32> {
    let count = parents.len();
    let mut idom = vec![0u32; count];
    // By preorder number: semidominator, the forest's parent and the best vertex on the path to it;
    // vertices by their semidominator, as linked lists.
    let mut room = vec![NONE; 5 * count];
    let (semi, rest) = room.split_at_mut(count);
    let (above, rest) = rest.split_at_mut(count);
    let (best, rest) = rest.split_at_mut(count);
    let (bucket, next) = rest.split_at_mut(count);
    for (n, (semi, best)) in (0..).zip(semi.iter_mut().zip(best.iter_mut())) {
        (*semi, *best) = (n, n);
    }
    let mut forest = Forest {
        above,
        best,
        path: SmallVec::new(),
    };
    for w in (1..count).rev() {
        let parent = parents[w];
        preds(w, &mut |pred| {
            let u = forest.best(semi, pred);
            semi[w] = semi[w].min(semi[u as usize]);
        });
        next[w] = std::mem::replace(&mut bucket[semi[w] as usize], w as u32);
        forest.above[w] = parent;
        let mut v = std::mem::replace(&mut bucket[parent as usize], NONE);
        while v != NONE {
            let u = forest.best(semi, v);
            let below = semi[u as usize] < semi[v as usize];
            idom[v as usize] = if below { u } else { parent };
            v = next[v as usize];
        }
    }
    for w in 1..count {
        if idom[w] != semi[w] {
            idom[w] = idom[idom[w] as usize];
        }
    }
    idom
}
