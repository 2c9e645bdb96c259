//! `noalias` arguments: accesses based on different arguments that do not alias.
//!
//! An address belongs to the argument that is its [underlying object](super::underlying_object),
//! and a surface to its own argument. Accesses by different arguments do not overlap within one
//! execution of the kernel. This holds if either argument is [`noalias`](crate::ir::Param::noalias)
//! and any of the memory is written. Writes of other threads and lanes become visible at barriers
//! and fences alone, and nothing moves over these.

use super::underlying_object::{UnderlyingObject, UnderlyingObjects};
use crate::ir::{ArgKind, Function, Space, Value};

/// Argument that an access is based on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BaseArg {
    arg: u16,
    /// Set if no other argument reaches its memory.
    noalias: bool,
}

impl BaseArg {
    /// Returns true if neither access reaches memory that the other writes.
    pub(super) fn disjoint(self, other: BaseArg) -> bool {
        self.arg != other.arg && (self.noalias || other.noalias)
    }
}

/// Base arguments of a kernel's addresses; empty if no argument is `noalias`.
#[derive(Debug, Default)]
pub(super) struct BaseArgs {
    /// Underlying objects; `None` if no argument is `noalias`.
    bases: Option<UnderlyingObjects>,
    /// Surface arguments, by surface number.
    surfaces: Vec<u16>,
    /// `noalias` of each argument.
    noalias: Vec<bool>,
}

impl BaseArgs {
    /// Analyzes a function.
    pub(super) fn new(func: &Function) -> BaseArgs {
        let params = &func.sig.params;
        if !params.iter().any(|p| p.noalias) {
            return BaseArgs::default();
        }
        let all = (0u16..).zip(params);
        let surfaces = all.filter(|(_, p)| p.kind == ArgKind::Surface);
        BaseArgs {
            bases: Some(UnderlyingObjects::new(func, func.layout.blocks())),
            surfaces: surfaces.map(|(n, _)| n).collect(),
            noalias: params.iter().map(|p| p.noalias).collect(),
        }
    }

    /// Returns the base argument of an access.
    pub(super) fn of(&self, space: Space, addr: Value) -> Option<BaseArg> {
        let bases = self.bases.as_ref()?;
        let arg = match (space, bases.of(addr)) {
            (Space::Surface(n), _) => *self.surfaces.get(usize::from(n))?,
            (Space::Global, UnderlyingObject::Arg(n)) => n,
            (Space::Global | Space::Slm | Space::Scratch, _) => return None,
        };
        let noalias = self.noalias.get(usize::from(arg)) == Some(&true);
        Some(BaseArg { arg, noalias })
    }

    /// Returns true if two accesses never alias, by their spaces and base arguments alone.
    pub(super) fn disjoint(&self, a: (Space, Value), b: (Space, Value)) -> bool {
        spaces_disjoint(a.0, b.0)
            || self
                .of(a.0, a.1)
                .zip(self.of(b.0, b.1))
                .is_some_and(|(a, b)| a.disjoint(b))
    }
}

/// Returns true if two address spaces are disjoint.
pub(super) fn spaces_disjoint(a: Space, b: Space) -> bool {
    match (a, b) {
        (Space::Slm, Space::Slm) | (Space::Scratch, Space::Scratch) => false,
        (Space::Slm | Space::Scratch, _) | (_, Space::Slm | Space::Scratch) => true,
        (Space::Global | Space::Surface(_), Space::Global | Space::Surface(_)) => false,
    }
}
