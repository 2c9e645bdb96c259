//! Specialization constants of a module, and the values that the caller gives them.

use super::Module;
use super::types::{Ty, Type};
use crate::constants::SpecType;
use crate::error::Error;
use crate::options::Options;
use crate::read::Id;
use spirv::Decoration;
use std::collections::BTreeSet;

/// Ids and names of the specialization constants seen so far.
#[derive(Debug, Default)]
pub(super) struct Specialized {
    ids: BTreeSet<u32>,
    names: BTreeSet<String>,
}

impl Specialized {
    /// Returns the bits given for a constant by its `SpecId` or its `OpName`.
    ///
    /// # Errors
    /// A value that the constant cannot hold.
    pub(super) fn asked(
        &mut self,
        m: &Module<'_>,
        options: &Options,
        id: Id,
        ty: Ty,
    ) -> Result<Option<u64>, Error> {
        let number = m.decorations(id).find(|d| d.1 == Decoration::SpecId);
        let number = number.and_then(|d| d.2.first().copied());
        let name = m.name(id);
        self.ids.extend(number);
        self.names.extend(name.clone());
        let by_number = number.and_then(|n| options.constants.get(&n.to_string()));
        let by_name = name.and_then(|n| options.constants.get(&n));
        let Some(value) = by_number.or(by_name) else {
            return Ok(number.and_then(|n| options.spec_constants.get(&n).copied()));
        };
        let holds = match m.types.kind(ty) {
            Type::Bool => SpecType::Bool,
            Type::Int(bits) => SpecType::Int(*bits, None),
            Type::Float(bits) => SpecType::Float(*bits),
            _ => return Ok(None),
        };
        value.bits(holds).map(Some).map_err(Error::malformed)
    }

    /// Checks that the module has every constant that was given a value.
    ///
    /// # Errors
    /// An unknown constant, with the list of known ones.
    pub(super) fn finish(&self, options: &Options) -> Result<(), Error> {
        let is =
            |n: &str| self.names.contains(n) || n.parse().is_ok_and(|n: u32| self.ids.contains(&n));
        let by_name = options.constants.keys().find(|n| !is(n)).cloned();
        let mut by_id = options.spec_constants.keys();
        let by_id = by_id.find(|n| !self.ids.contains(n)).map(u32::to_string);
        let Some(unknown) = by_name.or(by_id) else {
            return Ok(());
        };
        let ids = self.ids.iter().map(u32::to_string);
        let all: Vec<String> = ids.chain(self.names.iter().cloned()).collect();
        Err(Error::malformed(unknown_constant(&unknown, &all)))
    }
}

/// Error message for an unknown constant.
pub(crate) fn unknown_constant(asked: &str, all: &[String]) -> String {
    match all {
        [] => format!("no specialization constant `{asked}`: there are none"),
        all => format!(
            "no specialization constant `{asked}`; there are {}",
            all.join(", ")
        ),
    }
}
