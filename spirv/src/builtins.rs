//! Built-in variables: identity and uniformity.

use crate::module::{Def, Module};
use crate::read::Id;
use spirv::{BuiltIn, Decoration};

/// Built-in that a variable holds.
pub(crate) fn builtin(m: &Module<'_>, id: Id) -> Option<BuiltIn> {
    let Def::Global(_) = m.def(id) else {
        return None;
    };
    let mut all = m.decorations(id);
    let words = all.find(|d| d.1 == Decoration::BuiltIn)?.2;
    BuiltIn::from_u32(*words.first()?)
}

/// Returns true if a built-in is equal in all work-items of a thread.
pub(crate) fn is_uniform(b: BuiltIn) -> bool {
    !matches!(
        b,
        BuiltIn::GlobalInvocationId
            | BuiltIn::LocalInvocationId
            | BuiltIn::GlobalLinearId
            | BuiltIn::LocalInvocationIndex
            | BuiltIn::SubgroupLocalInvocationId
            | BuiltIn::SubgroupEqMask
            | BuiltIn::SubgroupGeMask
            | BuiltIn::SubgroupGtMask
            | BuiltIn::SubgroupLeMask
            | BuiltIn::SubgroupLtMask
    )
}
