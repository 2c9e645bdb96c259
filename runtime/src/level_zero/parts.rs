//! Launches of whole groups that make up a grid.

/// Part of a grid that is a launch of whole groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct GridPart {
    /// Work-items of a group.
    pub(super) group: [u32; 3],
    /// Number of groups.
    pub(super) groups: [u32; 3],
    /// Global id of the first work-item.
    pub(super) offset: [u32; 3],
}

/// Cuts a grid into launches of whole groups: those of the full size, and for each edge that is
/// smaller one of its own. None is empty.
pub(super) fn whole_parts(global: [u32; 3], local: [u32; 3], offset: [u32; 3]) -> Vec<GridPart> {
    let mut parts = vec![GridPart {
        group: [1; 3],
        groups: [1; 3],
        offset,
    }];
    for (axis, (all, size)) in global.into_iter().zip(local).enumerate() {
        // Items of a group, groups, and the items before them.
        let whole = (size, all / size, 0);
        let edge = (all % size, 1, all - all % size);
        let of_axis = [whole, edge].into_iter().filter(|p| p.0 * p.1 > 0);
        let cut = |part: &GridPart| {
            let part = *part;
            of_axis.clone().map(move |(items, groups, before)| {
                let mut part = part;
                if let (Some(group), Some(count), Some(at)) = (
                    part.group.get_mut(axis),
                    part.groups.get_mut(axis),
                    part.offset.get_mut(axis),
                ) {
                    (*group, *count) = (items, groups);
                    *at += before;
                }
                part
            })
        };
        parts = parts.iter().flat_map(cut).collect();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_every_work_item_once() {
        for (global, local, count) in [
            ([64, 1, 1], [16, 1, 1], 1),
            ([65, 1, 1], [16, 1, 1], 2),
            ([7, 1, 1], [16, 1, 1], 1),
            ([10, 3, 1], [4, 2, 1], 4),
            ([5, 5, 5], [2, 2, 2], 8),
            ([5, 4, 5], [2, 2, 2], 4),
            ([5, 0, 5], [2, 2, 2], 0),
        ] {
            let parts = whole_parts(global, local, [100, 0, 7]);
            assert_eq!(parts.len(), count, "{global:?} by {local:?}");
            let mut seen = std::collections::BTreeSet::new();
            for p in &parts {
                let items = |n: usize| {
                    let from = p.offset[n];
                    from..from + p.group[n] * p.groups[n]
                };
                for z in items(2) {
                    for y in items(1) {
                        for x in items(0) {
                            assert!(x >= 100 && z >= 7 && seen.insert([x - 100, y, z - 7]));
                        }
                    }
                }
            }
            let inside = |i: &[u32; 3]| i.iter().zip(global).all(|(i, all)| *i < all);
            assert!(seen.iter().all(inside));
            assert_eq!(seen.len() as u32, global.iter().product::<u32>());
        }
    }
}
