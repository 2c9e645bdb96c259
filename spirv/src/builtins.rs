//! Built-in variables: which one a pointer is to, and which of them are one for a thread.

use crate::module::{Def, Module};
use crate::read::Id;
use spirv::{BuiltIn, Decoration};

/// The built-in that a variable is.
pub(crate) fn builtin(m: &Module<'_>, id: Id) -> Option<BuiltIn> {
    let Def::Global(_) = m.def(id) else {
        return None;
    };
    let mut all = m.decorations(id);
    let words = all.find(|d| d.1 == Decoration::BuiltIn)?.2;
    BuiltIn::from_u32(*words.first()?)
}

/// Whether all work-items of a thread have the same.
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
