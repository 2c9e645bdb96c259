//! Types, with their sizes by OpenCL's rules and the scalars that a value of them consists of.

use crate::read::Id;
use cranelift_entity::{PrimaryMap, entity_impl};
use gantry_codegen::ir::Scalar;
use spirv::{AccessQualifier, Dim, StorageClass};

/// A type of the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ty(u32);
entity_impl!(Ty, "type");

/// What a type is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    Void,
    Bool,
    Int(u32),
    Float(u32),
    Vector(Ty, u32),
    Array(Ty, u64),
    /// Members, and the byte at which each begins.
    Struct(Vec<(Ty, u64)>),
    /// What it points to may be declared later.
    Pointer(StorageClass, Id),
    /// Result and parameters.
    Function(Ty, Vec<Ty>),
    Image(ImageType),
    Sampler,
    SampledImage(Ty),
    Event,
    /// Any other, by the name of its instruction.
    Other(String),
}

/// An image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ImageType {
    pub dim: Dim,
    pub depth: bool,
    pub arrayed: bool,
    pub multisampled: bool,
    pub access: AccessQualifier,
}

/// A type and what follows from it.
#[derive(Clone, Debug)]
pub(crate) struct TypeData {
    pub kind: Type,
    /// Bytes in memory.
    pub size: u64,
    pub align: u64,
    /// Scalars that a value consists of; as many as a `u32` holds where they are more.
    pub leaves: u32,
    /// How deep it is nested.
    pub depth: u32,
}

/// The types of a module.
#[derive(Debug, Default)]
pub(crate) struct Types {
    all: PrimaryMap<Ty, TypeData>,
}

/// A power of two that is no less, of sizes that are none (3-vectors).
fn power(n: u64) -> u64 {
    n.checked_next_power_of_two().unwrap_or(n)
}

impl Types {
    pub fn get(&self, ty: Ty) -> Option<&TypeData> {
        self.all.get(ty)
    }

    pub fn kind(&self, ty: Ty) -> &Type {
        self.get(ty).map_or(&Type::Void, |t| &t.kind)
    }

    pub fn size(&self, ty: Ty) -> u64 {
        self.get(ty).map_or(0, |t| t.size)
    }

    pub fn align(&self, ty: Ty) -> u64 {
        self.get(ty).map_or(1, |t| t.align)
    }

    pub fn leaves(&self, ty: Ty) -> u32 {
        self.get(ty).map_or(0, |t| t.leaves)
    }

    /// Adds a type; a structure's members begin where OpenCL's rules (or `packed`) say.
    pub fn add(&mut self, mut kind: Type, packed: bool) -> Ty {
        let of = |t: &Ty| self.get(*t).map(|d| (d.size, d.align, d.leaves, d.depth));
        let none = (0, 1, 0, 0);
        let (size, align, leaves, depth) = match &mut kind {
            Type::Int(bits) | Type::Float(bits) => {
                let bytes = u64::from(*bits / 8).max(1);
                (bytes, bytes, 1, 0)
            }
            Type::Bool => (1, 1, 1, 0),
            Type::Pointer(..) => (8, 8, 1, 0),
            Type::Image(_) | Type::Sampler | Type::SampledImage(_) | Type::Event => (8, 8, 1, 0),
            Type::Vector(of_ty, n) => {
                let (size, _, leaves, depth) = of(of_ty).unwrap_or(none);
                let bytes = size.saturating_mul(power(u64::from(*n)));
                (bytes, bytes.max(1), leaves.saturating_mul(*n), depth + 1)
            }
            Type::Array(of_ty, n) => {
                let (size, align, leaves, depth) = of(of_ty).unwrap_or(none);
                let count = u32::try_from(*n).unwrap_or(u32::MAX);
                let size = size.saturating_mul(*n);
                (size, align, leaves.saturating_mul(count), depth + 1)
            }
            Type::Struct(members) => {
                let (mut end, mut most, mut leaves, mut deepest) = (0u64, 1, 0u32, 0);
                for (ty, offset) in members.iter_mut() {
                    let (size, align, n, depth) = of(ty).unwrap_or(none);
                    let align = if packed { 1 } else { align };
                    *offset = end.checked_next_multiple_of(align).unwrap_or(u64::MAX);
                    end = offset.saturating_add(size);
                    most = most.max(align);
                    leaves = leaves.saturating_add(n);
                    deepest = deepest.max(depth);
                }
                let size = end.checked_next_multiple_of(most).unwrap_or(u64::MAX);
                (size, most, leaves, deepest + 1)
            }
            Type::Void | Type::Function(..) | Type::Other(_) => none,
        };
        self.all.push(TypeData {
            kind,
            size,
            align,
            leaves,
            depth,
        })
    }

    /// The kind of a scalar's, a vector's or a pointer's lanes in the IR.
    pub fn scalar(&self, ty: Ty) -> Option<Scalar> {
        Some(match self.kind(ty) {
            Type::Bool => Scalar::B1,
            Type::Int(8) => Scalar::I8,
            Type::Int(16) => Scalar::I16,
            Type::Int(32) => Scalar::I32,
            Type::Int(64) => Scalar::I64,
            Type::Float(16) => Scalar::F16,
            Type::Float(32) => Scalar::F32,
            Type::Float(64) => Scalar::F64,
            Type::Pointer(class, _) => match class {
                StorageClass::Workgroup | StorageClass::Function | StorageClass::Private => {
                    Scalar::I32
                }
                _ => Scalar::I64,
            },
            Type::Vector(of, _) => return self.scalar(*of),
            Type::Event | Type::Sampler | Type::Image(_) | Type::SampledImage(_) => Scalar::I32,
            _ => return None,
        })
    }

    /// The n-th constituent of a composite, and which of its leaves is the first of it.
    pub fn member(&self, ty: Ty, n: u64) -> Option<(Ty, u32)> {
        match self.kind(ty) {
            Type::Vector(of, count) => {
                (n < u64::from(*count)).then_some((*of, n as u32 * self.leaves(*of)))
            }
            Type::Array(of, count) => {
                let first = u32::try_from(n).ok()?.checked_mul(self.leaves(*of))?;
                (n < *count).then_some((*of, first))
            }
            Type::Struct(members) => {
                let n = usize::try_from(n).ok()?;
                let (of, _) = members.get(n)?;
                let before = members.iter().take(n).map(|(t, _)| self.leaves(*t));
                Some((*of, before.fold(0, u32::saturating_add)))
            }
            _ => None,
        }
    }

    /// The byte at which the n-th constituent of a composite begins, and its type.
    pub fn offset(&self, ty: Ty, n: u64) -> Option<(Ty, u64)> {
        match self.kind(ty) {
            Type::Vector(of, _) | Type::Array(of, _) => Some((*of, self.size(*of).checked_mul(n)?)),
            Type::Struct(members) => members.get(usize::try_from(n).ok()?).copied(),
            _ => None,
        }
    }

    /// The scalars that a value consists of, and the byte of each, in order.
    pub fn scalars(&self, ty: Ty) -> Vec<(Ty, u64)> {
        let mut out = Vec::new();
        let mut todo = vec![(ty, 0u64)];
        while let Some((ty, at)) = todo.pop() {
            match self.kind(ty) {
                Type::Vector(of, n) => {
                    let size = self.size(*of);
                    todo.extend((0..u64::from(*n)).rev().map(|i| (*of, at + i * size)));
                }
                Type::Array(of, n) => {
                    let size = self.size(*of);
                    todo.extend((0..*n).rev().map(|i| (*of, at + i * size)));
                }
                Type::Struct(members) => {
                    todo.extend(members.iter().rev().map(|(t, o)| (*t, at + o)));
                }
                Type::Void | Type::Function(..) | Type::Other(_) => {}
                _ => out.push((ty, at)),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout() {
        let mut t = Types::default();
        let i8 = t.add(Type::Int(8), false);
        let f32 = t.add(Type::Float(32), false);
        let f3 = t.add(Type::Vector(f32, 3), false);
        assert_eq!((t.size(f3), t.align(f3), t.leaves(f3)), (16, 16, 3));
        let s = t.add(Type::Struct(vec![(i8, 0), (f3, 0), (i8, 0)]), false);
        assert_eq!((t.size(s), t.align(s), t.leaves(s)), (48, 16, 5));
        assert_eq!(t.member(s, 2), Some((i8, 4)));
        assert_eq!(t.offset(s, 2), Some((i8, 32)));
        let p = t.add(Type::Struct(vec![(i8, 0), (f32, 0)]), true);
        assert_eq!((t.size(p), t.align(p)), (5, 1));
        let a = t.add(Type::Array(p, 2), false);
        let bytes: Vec<u64> = t.scalars(a).iter().map(|s| s.1).collect();
        assert_eq!(bytes, [0, 1, 5, 6]);
        assert_eq!(t.member(f3, 3), None);
    }
}
