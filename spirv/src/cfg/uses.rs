//! Check that definitions dominate their uses, on which later passes rely.

use super::Graph;
use crate::body::{Block, Body};
use crate::error::Error;
use crate::module::Module;
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use gantry_codegen::entity_set::sized;
use gantry_codegen::graph::dominators::DominatorTree;

/// Checks the uses of a body. Emission checks uses before the definition in the same block.
///
/// # Errors
/// A use that its definition does not dominate.
pub(crate) fn check(m: &Module<'_>, body: &Body, g: &Graph) -> Result<(), Error> {
    // Only definitions in other blocks are checked.
    if g.order.len() == 1 {
        return Ok(());
    }
    let mut block: SecondaryMap<Id, PackedOption<Block>> = sized(body.bound());
    for b in &g.order {
        let data = &body.blocks[*b];
        let ids = data.insts.iter().filter_map(|i| i.id.expand());
        for id in ids.chain(data.phis.iter().map(|p| p.id)) {
            block[id] = (*b).into();
        }
    }
    let tree = DominatorTree::new(&g.order, &g.idom);
    let early = |id: Id, by: Block| {
        block[id]
            .expand()
            .is_some_and(|def| !tree.dominates(def, by))
    };
    let wrong = |id: Id, at: u32| {
        let id = body.origin(id);
        let what = format!("{id} is used where it may not be defined");
        m.error(Error::malformed(what), at, Some(id))
    };
    for b in &g.order {
        let data = &body.blocks[*b];
        for phi in &data.phis {
            let bad = phi.args.iter().find(|(from, id)| early(*id, *from));
            if let Some((_, id)) = bad {
                return Err(wrong(*id, phi.at));
            }
        }
        for inst in &data.insts {
            let mut bad = None;
            body.for_each_use(inst, |id| {
                if early(id, *b) {
                    bad = Some(id);
                }
            });
            if let Some(id) = bad {
                return Err(wrong(id, inst.at));
            }
        }
        if let Some(id) = data.term.condition().filter(|id| early(*id, *b)) {
            return Err(wrong(id, data.at));
        }
    }
    Ok(())
}
