//! The argument that an access goes by, and whether what it reaches is reached in no other way.
//!
//! An address is of the argument that it is [based](super::underlying_object) on, a surface of the
//! argument that it is. What two accesses reach by different arguments is not the same, in what one
//! execution of the kernel does, if either argument is [`noalias`](crate::ir::Param::noalias) and
//! any of it is written. What other threads, and other lanes, do is seen behind barriers and fences
//! alone, over which nothing is moved.

use super::underlying_object::{Base, Bases};
use crate::ir::{ArgKind, Function, Space, Value};

/// An argument that accesses go by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Owner {
    arg: u16,
    /// Whether nothing else reaches what it reaches.
    alone: bool,
}

impl Owner {
    /// Whether what is written by either is not reached by the other.
    pub(super) fn apart(self, other: Owner) -> bool {
        self.arg != other.arg && (self.alone || other.alone)
    }
}

/// The arguments of a kernel's addresses, if that says anything.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// Where any argument is `noalias`.
    bases: Option<Bases>,
    /// Arguments that are surfaces, by the surface's number.
    surfaces: Vec<u16>,
    /// By argument.
    alone: Vec<bool>,
}

impl Owners {
    /// Of a function.
    pub(super) fn new(func: &Function) -> Owners {
        let params = &func.sig.params;
        if !params.iter().any(|p| p.noalias) {
            return Owners::default();
        }
        let all = (0u16..).zip(params);
        let surfaces = all.filter(|(_, p)| p.kind == ArgKind::Surface);
        Owners {
            bases: Some(Bases::new(func, func.layout.blocks())),
            surfaces: surfaces.map(|(n, _)| n).collect(),
            alone: params.iter().map(|p| p.noalias).collect(),
        }
    }

    /// Of an access by an address.
    pub(super) fn of(&self, space: Space, addr: Value) -> Option<Owner> {
        let bases = self.bases.as_ref()?;
        let arg = match (space, bases.of(addr)) {
            (Space::Surface(n), _) => *self.surfaces.get(usize::from(n))?,
            (Space::Global, Base::Arg(n)) => n,
            (Space::Global | Space::Slm | Space::Scratch, _) => return None,
        };
        let alone = self.alone.get(usize::from(arg)) == Some(&true);
        Some(Owner { arg, alone })
    }

    /// Whether two accesses never meet, whatever their addresses come to: they are of different
    /// memories, or by arguments that have nothing in common.
    pub(super) fn apart(&self, a: (Space, Value), b: (Space, Value)) -> bool {
        memories_apart(a.0, b.0)
            || self
                .of(a.0, a.1)
                .zip(self.of(b.0, b.1))
                .is_some_and(|(a, b)| a.apart(b))
    }
}

/// Whether two memories have nothing in common.
pub(super) fn memories_apart(a: Space, b: Space) -> bool {
    match (a, b) {
        (Space::Slm, Space::Slm) | (Space::Scratch, Space::Scratch) => false,
        (Space::Slm | Space::Scratch, _) | (_, Space::Slm | Space::Scratch) => true,
        (Space::Global | Space::Surface(_), Space::Global | Space::Surface(_)) => false,
    }
}
