//! Algorithm of Lengauer and Tarjan for dominators. Vertices are numbered in depth-first preorder.

use smallvec::SmallVec;

/// Marks the absence of a vertex.
const NONE: u32 = u32::MAX;

/// Forest of the vertices processed so far, by preorder number.
struct Forest<'a> {
    above: &'a mut [u32],
    /// Vertex with the smallest semidominator on the path from each vertex up to, but excluding,
    /// its root.
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
        // Compresses paths from the root down, so that ancestors are compressed first.
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

/// Computes the immediate dominator of each vertex. That of the root is itself.
///
/// The algorithm is that of Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a
/// Flowgraph", with path compression only. Its worst case is a logarithmic factor above linear, for
/// any depth of the graph.
///
/// `parents` is the parent of each vertex in the depth-first tree. `preds` calls its argument with
/// each predecessor of a vertex.
pub(super) fn immediate_dominators(
    parents: &[u32],
    preds: impl Fn(usize, &mut dyn FnMut(u32)),
) -> Vec<u32> {
    let count = parents.len();
    let mut idom = vec![0u32; count];
    // By preorder number: semidominator, parent in the forest, and best vertex on the path to it.
    // Then buckets of vertices by semidominator, as linked lists.
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
