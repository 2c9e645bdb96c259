//! Localization of private variables of the module, as shaders have them (Mesa's
//! `nir_lower_global_vars_to_local`).
//!
//! Needs a body without calls. Afterwards private variables of the module are variables of the
//! kernel, defined at its entry.

use crate::body::{BInst, Body};
use crate::module::{Def, Module};
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use spirv::{Op, StorageClass};

/// Localizes the variables of a body.
pub(crate) fn run(m: &Module<'_>, body: &mut Body) {
    let class = |id: Id| match m.def(id) {
        Def::Global(g) => m.globals.get(g).map(|g| (g.class, g.ty, g.init)),
        _ => None,
    };
    let mut seen: SecondaryMap<Id, bool> = SecondaryMap::new();
    let mut private = Vec::new();
    let any_private = m.globals.values().any(|g| g.class == StorageClass::Private);
    for data in body.blocks.values() {
        for inst in &data.insts {
            if any_private {
                body.for_each_use(inst, |id| {
                    if let Some((StorageClass::Private, ..)) = class(id)
                        && !std::mem::replace(&mut seen[id], true)
                    {
                        private.push(id);
                    }
                });
            }
        }
    }
    let Some(entry) = body.entry.expand() else {
        return;
    };
    let mut made: Vec<BInst> = Vec::new();
    for id in private {
        let (Some((_, _, init)), Some(ty)) = (class(id), m.type_of(id)) else {
            continue;
        };
        let words: Vec<u32> = [StorageClass::Private as u32]
            .into_iter()
            .chain(init.map(|i| i.as_u32()))
            .collect();
        made.push(body.inst(Op::Variable, (0, 0), Some(ty), Some(id), &words));
    }
    body.blocks[entry].insts.splice(0..0, made);
}
