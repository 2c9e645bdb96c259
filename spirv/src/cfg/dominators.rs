//! Dominators of a graph, by Lengauer and Tarjan.

/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// The tree of dominators, from the first node.
pub(crate) struct Tree {
    /// The immediate dominators; [`NONE`] for the first.
    pub idoms: Vec<u32>,
    /// The numbers before and behind each node and all under it, by a walk.
    spans: Vec<(u32, u32)>,
}

impl Tree {
    /// The tree of these immediate dominators.
    pub fn new(idoms: Vec<u32>) -> Tree {
        let spans = spans(&idoms);
        Tree { idoms, spans }
    }

    /// Whether one node dominates another.
    pub fn dominates(&self, d: u32, n: u32) -> bool {
        let (d, n) = (self.spans[d as usize], self.spans[n as usize]);
        d.0 <= n.0 && n.0 < d.1
    }
}

/// The immediate dominator of each node; [`NONE`] for the root and for nodes that it does not lead to.
pub(crate) fn dominators(root: u32, succs: &[Vec<u32>]) -> Vec<u32> {
    let n = succs.len();
    let mut out = vec![NONE; n];
    if root as usize >= n {
        return out;
    }
    // Nodes in the order of a depth-first walk; the rest goes by the numbers in it.
    let (order, number, parent) = walk(root, succs);
    let count = order.len();
    let mut preds: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (v, node) in order.iter().enumerate() {
        for s in &succs[*node as usize] {
            let s = number[*s as usize];
            preds[s as usize].push(v as u32);
        }
    }
    let mut forest = Forest {
        ancestor: vec![NONE; count],
        best: (0..count as u32).collect(),
        semi: (0..count as u32).collect(),
        path: Vec::new(),
    };
    let mut dom = vec![0u32; count];
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); count];
    for w in (1..count as u32).rev() {
        for v in std::mem::take(&mut preds[w as usize]) {
            let u = forest.eval(v);
            let semi = forest.semi[u as usize];
            let own = &mut forest.semi[w as usize];
            *own = semi.min(*own);
        }
        buckets[forest.semi[w as usize] as usize].push(w);
        let p = parent[w as usize];
        forest.ancestor[w as usize] = p;
        for v in std::mem::take(&mut buckets[p as usize]) {
            let u = forest.eval(v);
            let earlier = forest.semi[u as usize] < forest.semi[v as usize];
            dom[v as usize] = if earlier { u } else { p };
        }
    }
    for w in 1..count {
        if dom[w] != forest.semi[w] {
            dom[w] = dom[dom[w] as usize];
        }
        out[order[w] as usize] = order[dom[w] as usize];
    }
    out
}

/// Nodes in the order of a depth-first walk, their numbers in it, and their parents by number.
fn walk(root: u32, succs: &[Vec<u32>]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let mut order = vec![root];
    let mut number = vec![NONE; succs.len()];
    let mut parent = vec![0];
    number[root as usize] = 0;
    let mut stack = vec![(root, 0usize)];
    while let Some((node, next)) = stack.last_mut() {
        let Some(s) = succs[*node as usize].get(*next).copied() else {
            stack.pop();
            continue;
        };
        *next += 1;
        let from = number[*node as usize];
        if number[s as usize] == NONE {
            number[s as usize] = order.len() as u32;
            order.push(s);
            parent.push(from);
            stack.push((s, 0));
        }
    }
    (order, number, parent)
}

struct Forest {
    ancestor: Vec<u32>,
    best: Vec<u32>,
    semi: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The node of least semidominator on the way to a root, which is then one step away.
    fn eval(&mut self, v: u32) -> u32 {
        if self.ancestor[v as usize] == NONE {
            return v;
        }
        let mut at = v;
        self.path.clear();
        while self.ancestor[self.ancestor[at as usize] as usize] != NONE {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        while let Some(node) = self.path.pop() {
            let up = self.ancestor[node as usize];
            let (own, above) = (self.best[node as usize], self.best[up as usize]);
            if self.semi[above as usize] < self.semi[own as usize] {
                self.best[node as usize] = above;
            }
            self.ancestor[node as usize] = self.ancestor[up as usize];
        }
        self.best[v as usize]
    }
}

fn spans(idoms: &[u32]) -> Vec<(u32, u32)> {
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); idoms.len()];
    for (n, d) in idoms.iter().enumerate() {
        if let Some(c) = children.get_mut(*d as usize) {
            c.push(n as u32);
        }
    }
    let mut out = vec![(0, 0); idoms.len()];
    let mut clock = 0;
    let mut stack = vec![(0u32, 0usize)];
    while let Some((n, next)) = stack.last_mut() {
        let node = *n as usize;
        if *next == 0 {
            out[node].0 = clock;
            clock += 1;
        }
        match children.get(node).and_then(|c| c.get(*next)) {
            Some(c) => {
                *next += 1;
                stack.push((*c, 0));
            }
            None => {
                out[node].1 = clock;
                stack.pop();
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: d dominates n if n cannot be reached without d.
    fn slow(root: u32, succs: &[Vec<u32>]) -> Vec<u32> {
        let reach = |without: u32| {
            let mut seen = vec![false; succs.len()];
            let mut todo = vec![root];
            while let Some(n) = todo.pop() {
                if n != without && !std::mem::replace(&mut seen[n as usize], true) {
                    todo.extend(&succs[n as usize]);
                }
            }
            seen
        };
        let all = reach(NONE);
        let doms: Vec<Vec<bool>> = (0..succs.len() as u32).map(reach).collect();
        let dominates = |d: u32, n: u32| d == n || !doms[d as usize][n as usize];
        let of = |n: u32| {
            let strict =
                (0..succs.len() as u32).filter(|d| all[*d as usize] && *d != n && dominates(*d, n));
            let strict: Vec<u32> = strict.collect();
            let closest = strict
                .iter()
                .find(|d| strict.iter().all(|e| dominates(*e, **d)));
            closest.copied().unwrap_or(NONE)
        };
        (0..succs.len() as u32)
            .map(|n| if all[n as usize] { of(n) } else { NONE })
            .collect()
    }

    #[test]
    fn as_defined() {
        let mut state = 0x1234_5678_9abc_def1u64;
        let mut random = |n: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % n
        };
        for _ in 0..2000 {
            let n = 1 + random(12);
            let succs: Vec<Vec<u32>> = (0..n)
                .map(|_| (0..random(4)).map(|_| random(n) as u32).collect())
                .collect();
            assert_eq!(dominators(0, &succs), slow(0, &succs), "{succs:?}");
        }
    }
}
