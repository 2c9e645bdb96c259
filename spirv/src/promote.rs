//! Private variables that need no memory become values.

use crate::body::Body;
use crate::error::Error;
use crate::module::Module;

/// Nothing yet: every private variable is in scratch.
pub(crate) fn promote(_: &Module<'_>, _: &mut Body) -> Result<(), Error> {
    Ok(())
}
