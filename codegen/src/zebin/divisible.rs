//! Kernels whose grid may be cut into launches of their own: what a work-item computes depends on
//! its global id, and not on which group of which launch it is in.
//!
//! A driver that launches whole groups alone takes a grid that is no multiple of its group so:
//! whole groups first, then the edges with smaller groups, each with the offset of its global ids.
//! Each group has the work-items that it has in one launch. So local ids, SLM and barriers are the
//! same, and global ids too, where they are the sum of the number of the group times its size, of
//! the offset of the launch, and of anything else. These three alone are not, nor are sizes of the
//! launch.
//!
//! Input: verified IR as the front end made it. Work: linear in the instructions of the kernel and
//! its subroutines. A form that is not known here is taken for one that shows the difference.

use crate::ir::{Dim, FuncRef, Function, InstData, Module, Opcode, Value};
use cranelift_entity::SecondaryMap;

/// Dependence of a value on how the grid is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tag {
    /// The same however it is cut.
    Same,
    /// Number of the group.
    Group(Dim),
    /// Work-items of a group, as launched.
    Size(Dim),
    /// Product of both.
    First(Dim),
    /// Sum of that and of what is the same.
    Item(Dim),
    /// Offset of the launch.
    Offset(Dim),
    /// Sum of the offset and of what is the same.
    Shifted(Dim),
}

/// Returns the tag of a product; `None` if it shows the difference.
fn product(a: Tag, b: Tag) -> Option<Tag> {
    match (a, b) {
        (Tag::Same, Tag::Same) => Some(Tag::Same),
        (Tag::Group(d), Tag::Size(e)) | (Tag::Size(e), Tag::Group(d)) if d == e => {
            Some(Tag::First(d))
        }
        _ => None,
    }
}

/// Returns the tag of a sum; `None` if it shows the difference.
fn sum(a: Tag, b: Tag) -> Option<Tag> {
    use Tag::{First, Item, Offset, Same, Shifted};
    match (a, b) {
        (Same, Same) => Some(Same),
        (First(d) | Item(d), Offset(e) | Shifted(e))
        | (Offset(e) | Shifted(e), First(d) | Item(d))
            if d == e =>
        {
            Some(Same)
        }
        (First(d) | Item(d), Same) | (Same, First(d) | Item(d)) => Some(Item(d)),
        (Offset(d) | Shifted(d), Same) | (Same, Offset(d) | Shifted(d)) => Some(Shifted(d)),
        _ => None,
    }
}

/// Tags of a function's values, and the functions that it calls.
struct Tags {
    /// `None` for what has not been computed yet.
    of: SecondaryMap<Value, Option<Tag>>,
    calls: Vec<FuncRef>,
}

impl Tags {
    fn get(&self, v: Value) -> Option<Tag> {
        self.of[v]
    }

    /// Returns the tag of the results of an instruction; `None` if it shows the difference.
    fn result(&mut self, func: &Function, data: &InstData) -> Option<Tag> {
        match *data {
            InstData::Launch { opcode, dim } => match opcode {
                Opcode::LocalId => Some(Tag::Same),
                Opcode::GroupId => Some(Tag::Group(dim)),
                Opcode::LocalSize => Some(Tag::Size(dim)),
                Opcode::GlobalOffset => Some(Tag::Offset(dim)),
                _ => None,
            },
            InstData::Binary { opcode, args } if matches!(opcode, Opcode::Imul | Opcode::Iadd) => {
                let [a, b] = [self.get(args[0])?, self.get(args[1])?];
                match opcode {
                    Opcode::Imul => product(a, b),
                    _ => sum(a, b),
                }
            }
            InstData::Ternary {
                opcode: Opcode::Imad,
                args: [a, b, c],
            } => sum(product(self.get(a)?, self.get(b)?)?, self.get(c)?),
            // Lanes of the same value, or in another order.
            InstData::RdRegion { arg, index, .. } => {
                let index = index.expand().map_or(Some(Tag::Same), |i| self.get(i));
                self.get(arg).filter(|_| index == Some(Tag::Same))
            }
            // None of these is negative, and no sum of them has more bits.
            InstData::Unary {
                opcode: Opcode::Uextend | Opcode::Sextend,
                arg,
            } => self
                .get(arg)
                .filter(|tag| !matches!(tag, Tag::Item(_) | Tag::Shifted(_))),
            _ => {
                let opcode = data.opcode();
                let of_launch = [Opcode::WorkDim, Opcode::SubgroupId, Opcode::SubgroupCount];
                if of_launch.contains(&opcode) {
                    return None;
                }
                if let InstData::Call { func: callee, .. } = *data {
                    self.calls.push(callee);
                }
                let mut same = true;
                data.for_each_arg(&func.dfg, |v| same &= self.of[v] == Some(Tag::Same));
                same.then_some(Tag::Same)
            }
        }
    }

    /// Tags the values of a function. Returns false if one shows the difference.
    fn run(&mut self, func: &Function) -> bool {
        self.of.clear();
        for &block in func.layout.blocks() {
            for &param in func.dfg.block_params(block) {
                self.of[param] = Some(Tag::Same);
            }
        }
        for &block in func.layout.blocks() {
            for &inst in func.layout.insts(block) {
                let Some(tag) = self.result(func, func.dfg.data(inst)) else {
                    return false;
                };
                for &v in func.dfg.results(inst) {
                    self.of[v] = Some(tag);
                }
            }
        }
        true
    }
}

/// Returns true if launches of parts of a grid do what one of all does.
pub(super) fn is_divisible(module: &Module, kernel: &Function) -> bool {
    let mut tags = Tags {
        of: SecondaryMap::new(),
        calls: Vec::new(),
    };
    if !tags.run(kernel) {
        return false;
    }
    let mut seen: SecondaryMap<FuncRef, bool> = SecondaryMap::new();
    while let Some(callee) = tags.calls.pop() {
        if std::mem::replace(&mut seen[callee], true) {
            continue;
        }
        match module.functions.get(callee) {
            Some(func) if tags.run(func) => {}
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divisible(body: &str) -> bool {
        let text = format!(
            "kernel %k(i64 ptr) simd8 {{\nblock0(v0: i64):\n{body}\n    return\n}}\n\
             function %f(i32) -> i32 {{\nblock0(v0: i32):\n    v1 = group_id.i32 y\n    v2 = iadd v0, v1\n    return v2\n}}\n"
        );
        let module = crate::text::parse(&text).unwrap().module;
        let (_, kernel) = module.functions.iter().next().unwrap();
        is_divisible(&module, kernel)
    }

    #[test]
    fn global_ids_are_the_same_and_groups_are_not() {
        let ids = "v1 = group_id.i32 x\n v2 = local_size.i32 x\n v3 = global_offset.i32 x\n\
                   v4 = local_id.i16x8 x\n v5 = uextend.i32x8 v4\n";
        for same in [
            "v6 = imad v1, v2, v3\n v7 = rdregion.i32x8 v6, <0;1,0>, 0\n v8 = iadd v7, v5\n bstore v8, v0",
            // The offset comes last, or first.
            "v6 = imul v2, v1\n v7 = rdregion.i32x8 v6, <0;1,0>, 0\n v8 = iadd v5, v7\n\
             v9 = rdregion.i32x8 v3, <0;1,0>, 0\n v10 = iadd v8, v9\n bstore v10, v0",
            "v6 = imul v2, v1\n v7 = uextend.i64 v6\n v8 = uextend.i64 v3\n v9 = iadd v7, v8\n bstore v9, v0",
            "bstore v5, v0",
        ] {
            assert!(divisible(&format!("{ids}{same}")), "{same}");
        }
        for other in [
            "bstore v1, v0",
            "bstore v2, v0",
            "bstore v3, v0",
            "v6 = imul v1, v2\n bstore v6, v0",
            "v6 = imad v1, v1, v3\n bstore v6, v0",
            "v6 = global_offset.i32 y\n v7 = imad v1, v2, v6\n bstore v7, v0",
            "v6 = imul v1, v2\n v7 = iadd v6, v6\n v8 = iadd v7, v3\n bstore v8, v0",
            "v6 = iconst.i32 3\n v7 = imul v1, v2\n v8 = iadd v7, v6\n v9 = uextend.i64 v8\n\
             v10 = uextend.i64 v3\n v11 = iadd v9, v10\n bstore v11, v0",
            "v6 = global_size.i32 x\n bstore v6, v0",
            "v6 = group_count.i32 x\n bstore v6, v0",
            "v6 = work_dim.i32\n bstore v6, v0",
            "v6 = subgroup_id.i32\n bstore v6, v0",
            "v6 = iconst.i32 3\n v7 = call %f(v6)\n bstore v7, v0",
        ] {
            assert!(!divisible(&format!("{ids}{other}")), "{other}");
        }
    }
}
