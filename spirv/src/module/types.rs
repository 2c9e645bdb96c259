//! Types, their sizes by OpenCL's rules, and the scalars (leaves) of their values.

use crate::read::Id;
use cranelift_entity::{PrimaryMap, entity_impl};
use gantry_codegen::ir::Scalar;
use smallvec::{SmallVec, smallvec};
use spirv::{AccessQualifier, Dim, StorageClass};
use std::collections::BTreeMap;

/// Maximum number of leaves of a value that is kept in registers.
pub(crate) const MAX_LEAVES: u32 = 256;

/// Type of the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ty(u32);
entity_impl!(Ty, "type");

/// Kind of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    Void,
    Bool,
    Int(u32),
    Float(u32),
    Vector(Ty, u32),
    /// Column type and number of columns.
    Matrix(Ty, u32),
    Array(Ty, u64),
    /// Array of unknown length.
    RuntimeArray(Ty),
    /// Members with their byte offsets.
    Struct(Vec<(Ty, u64)>),
    /// The pointee may be declared later.
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

/// Image type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ImageType {
    pub dim: Dim,
    pub depth: bool,
    pub arrayed: bool,
    pub multisampled: bool,
    pub access: AccessQualifier,
}

/// Layout of a matrix that is a structure member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MatrixLayout {
    /// Bytes between columns, or between rows.
    pub stride: u64,
    pub row_major: bool,
}

/// Layout decorations of a type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Members follow each other without padding.
    pub packed: bool,
    /// Bytes between elements of an array.
    pub stride: Option<u64>,
    /// Byte offsets by member.
    pub offsets: BTreeMap<u32, u64>,
    /// Layout of members that are matrices or arrays of matrices.
    pub matrices: BTreeMap<u32, MatrixLayout>,
}

/// Type with derived properties.
#[derive(Clone, Debug)]
pub(crate) struct TypeData {
    pub kind: Type,
    /// Bytes in memory.
    pub size: u64,
    pub align: u64,
    /// Number of scalars of a value, saturated.
    pub leaves: u32,
    /// Nesting depth.
    pub depth: u32,
    /// Bytes between constituents of an array, a vector or a matrix.
    stride: u64,
    /// Byte after the last one of a value, without trailing padding.
    extent: u64,
    /// Layout of members that are matrices.
    matrices: BTreeMap<u32, MatrixLayout>,
}

/// Types of a module.
#[derive(Debug, Default)]
pub(crate) struct Types {
    all: PrimaryMap<Ty, TypeData>,
    /// Arrays and pointers by their key.
    known: BTreeMap<TypeKey, Ty>,
}

/// Key of an array or a pointer. Types with equal keys are one, though a module may declare them
/// twice.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum TypeKey {
    /// Element, length, stride in bytes.
    Array(Ty, u64, u64),
    RuntimeArray(Ty, u64),
    /// Storage class, pointee, stride in bytes.
    Pointer(u32, Ty, u64),
}

/// Scalars of a value, with their byte offsets.
pub(crate) type Scalars = SmallVec<[(Ty, u64); 4]>;

/// Rounds up to a power of two. Only 3-vectors are affected.
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

    /// Byte after the last one of a value in memory.
    pub fn extent(&self, ty: Ty) -> u64 {
        self.get(ty).map_or(0, |t| t.extent)
    }

    /// Bytes between constituents of an array, a vector or a matrix.
    pub fn stride(&self, ty: Ty) -> u64 {
        self.get(ty).map_or(0, |t| t.stride)
    }

    /// Adds a type. Member offsets come from `layout`, else from OpenCL's rules.
    pub fn add(&mut self, mut kind: Type, layout: &Layout) -> Ty {
        let packed = layout.packed;
        let of = |t: &Ty| self.get(*t).map(|d| (d.size, d.align, d.leaves, d.depth));
        let none = (0, 1, 0, 0);
        let (mut stride, mut extent) = (0, None);
        let (size, align, leaves, depth) = match &mut kind {
            Type::Int(bits) | Type::Float(bits) => {
                let bytes = u64::from(*bits / 8).max(1);
                (bytes, bytes, 1, 0)
            }
            Type::Bool => (1, 1, 1, 0),
            Type::Pointer(..) => {
                stride = layout.stride.unwrap_or(0);
                (8, 8, 1, 0)
            }
            Type::Image(_) | Type::Sampler | Type::SampledImage(_) | Type::Event => (8, 8, 1, 0),
            Type::Vector(of_ty, n) => {
                let (size, _, leaves, depth) = of(of_ty).unwrap_or(none);
                let bytes = size.saturating_mul(power(u64::from(*n)));
                stride = size;
                extent = Some(size.saturating_mul(u64::from(*n)));
                (bytes, bytes.max(1), leaves.saturating_mul(*n), depth + 1)
            }
            Type::Matrix(of_ty, n) => {
                let (size, align, leaves, depth) = of(of_ty).unwrap_or(none);
                let bytes = size.saturating_mul(u64::from(*n));
                stride = size;
                (bytes, align, leaves.saturating_mul(*n), depth + 1)
            }
            Type::Array(of_ty, n) => {
                let (size, align, leaves, depth) = of(of_ty).unwrap_or(none);
                let count = u32::try_from(*n).unwrap_or(u32::MAX);
                stride = layout.stride.unwrap_or(size);
                let last = stride.saturating_mul(n.saturating_sub(1));
                extent = Some(last.saturating_add(self.extent(*of_ty)));
                let size = stride.saturating_mul(*n).max(size);
                (size, align, leaves.saturating_mul(count), depth + 1)
            }
            // Never a value.
            Type::RuntimeArray(of_ty) => {
                let (size, align, _, depth) = of(of_ty).unwrap_or(none);
                stride = layout.stride.unwrap_or(size);
                (0, align, u32::MAX, depth + 1)
            }
            Type::Struct(members) => {
                let (mut end, mut most, mut leaves, mut deepest) = (0u64, 1, 0u32, 0);
                let mut last = 0u64;
                for (i, (ty, offset)) in members.iter_mut().enumerate() {
                    let (size, align, n, depth) = of(ty).unwrap_or(none);
                    let align = if packed { 1 } else { align };
                    let said = layout.offsets.get(&(i as u32)).copied();
                    let next = end.checked_next_multiple_of(align).unwrap_or(u64::MAX);
                    *offset = said.unwrap_or(next);
                    let matrix = layout.matrices.get(&(i as u32)).copied();
                    let (span, behind) = (size, self.extent_in(*ty, matrix));
                    end = end.max(offset.saturating_add(span.max(behind)));
                    last = last.max(offset.saturating_add(behind));
                    most = most.max(align);
                    leaves = leaves.saturating_add(n);
                    deepest = deepest.max(depth);
                }
                let size = end.checked_next_multiple_of(most).unwrap_or(u64::MAX);
                extent = Some(last);
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
            stride,
            extent: extent.unwrap_or(size),
            matrices: layout.matrices.clone(),
        })
    }

    /// Byte after the last one of a value whose matrices have a layout of the enclosing structure.
    pub fn extent_in(&self, ty: Ty, matrix: Option<MatrixLayout>) -> u64 {
        let Some(MatrixLayout { stride, row_major }) = matrix else {
            return self.extent(ty);
        };
        match self.kind(ty) {
            Type::Array(of, n) => {
                let last = self.stride(ty).saturating_mul(n.saturating_sub(1));
                last.saturating_add(self.extent_in(*of, matrix))
            }
            Type::Matrix(column, n) => {
                let (rows, size) = match self.kind(*column) {
                    Type::Vector(of, rows) => (*rows, self.size(*of)),
                    _ => (1, self.size(*column)),
                };
                let (lines, each) = if row_major { (rows, *n) } else { (*n, rows) };
                let last = stride.saturating_mul(u64::from(lines.saturating_sub(1)));
                last.saturating_add(size * u64::from(each))
            }
            Type::Vector(of, n) if row_major => {
                let last = stride.saturating_mul(u64::from(n.saturating_sub(1)));
                last.saturating_add(self.size(*of))
            }
            _ => self.extent(ty),
        }
    }

    /// Type with a key, if there is one.
    pub fn find_key(&self, shape: &TypeKey) -> Option<Ty> {
        self.known.get(shape).copied()
    }

    /// Records the key of a type.
    pub fn set_key(&mut self, ty: Ty, shape: TypeKey) {
        self.known.insert(shape, ty);
    }

    /// Sets the pointee of a pointer that was declared forward.
    pub fn point(&mut self, ty: Ty, to: Id) {
        if let Some(Type::Pointer(_, of)) = self.all.get_mut(ty).map(|t| &mut t.kind) {
            *of = to;
        }
    }

    /// IR scalar of the lanes of a scalar, a vector or a pointer.
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
                // Byte offset into the variable.
                StorageClass::StorageBuffer
                | StorageClass::Uniform
                | StorageClass::PushConstant => Scalar::I32,
                _ => Scalar::I64,
            },
            Type::Vector(of, _) | Type::Matrix(of, _) => return self.scalar(*of),
            Type::Event | Type::Sampler | Type::Image(_) | Type::SampledImage(_) => Scalar::I32,
            _ => return None,
        })
    }

    /// Type of the n-th constituent of a composite, and the index of its first leaf.
    pub fn member(&self, ty: Ty, n: u64) -> Option<(Ty, u32)> {
        match self.kind(ty) {
            Type::Vector(of, count) | Type::Matrix(of, count) => {
                let first = u32::try_from(n).ok()?.checked_mul(self.leaves(*of))?;
                (n < u64::from(*count)).then_some((*of, first))
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

    /// Type of the n-th constituent of a composite, and its byte offset.
    pub fn offset(&self, ty: Ty, n: u64) -> Option<(Ty, u64)> {
        self.step(ty, n, None).map(|(ty, at, _)| (ty, at))
    }

    /// Type, byte offset and matrix layout of the n-th constituent of a composite. `matrix` is the
    /// layout that the composite inherits.
    pub fn step(
        &self,
        ty: Ty,
        n: u64,
        matrix: Option<MatrixLayout>,
    ) -> Option<(Ty, u64, Option<MatrixLayout>)> {
        Some(match (self.kind(ty), matrix) {
            (Type::Vector(of, _), Some(m)) => (*of, m.stride.checked_mul(n)?, None),
            (Type::Matrix(column, _), Some(m)) if m.row_major => {
                let component = match self.kind(*column) {
                    Type::Vector(of, _) => self.size(*of),
                    _ => return None,
                };
                (*column, component.checked_mul(n)?, matrix)
            }
            (Type::Matrix(column, _), Some(m)) => (*column, m.stride.checked_mul(n)?, None),
            (Type::Vector(of, _) | Type::Matrix(of, _), None) => {
                (*of, self.stride(ty).checked_mul(n)?, None)
            }
            (Type::Array(of, _) | Type::RuntimeArray(of), _) => {
                (*of, self.stride(ty).checked_mul(n)?, matrix)
            }
            (Type::Struct(members), _) => {
                let (of, at) = members.get(usize::try_from(n).ok()?).copied()?;
                let matrices = self.get(ty).map(|t| &t.matrices)?;
                (of, at, matrices.get(&u32::try_from(n).ok()?).copied())
            }
            _ => return None,
        })
    }

    /// Number of constituents of a composite, if known.
    pub fn count(&self, ty: Ty) -> Option<u64> {
        match self.kind(ty) {
            Type::Vector(_, n) | Type::Matrix(_, n) => Some(u64::from(*n)),
            Type::Array(_, n) => Some(*n),
            Type::Struct(members) => Some(members.len() as u64),
            _ => None,
        }
    }

    /// Scalars of a value with their byte offsets, in order.
    pub fn scalars(&self, ty: Ty) -> Scalars {
        self.scalars_in(ty, None)
    }

    /// Scalars of a value whose matrices have a layout of the enclosing structure.
    pub fn scalars_in(&self, ty: Ty, matrix: Option<MatrixLayout>) -> Scalars {
        match (self.kind(ty), matrix) {
            (Type::Bool | Type::Int(_) | Type::Float(_) | Type::Pointer(..), _) => {
                return smallvec![(ty, 0)];
            }
            (Type::Vector(of, n), None) => {
                let at = |n: u32| self.stride(ty).saturating_mul(u64::from(n));
                return (0..*n).map(|n| (*of, at(n))).collect();
            }
            _ => {}
        }
        let mut out = Scalars::new();
        let mut todo: SmallVec<[_; 16]> = smallvec![(ty, 0u64, matrix)];
        while let Some((ty, at, matrix)) = todo.pop() {
            match self.kind(ty) {
                Type::Void | Type::Function(..) | Type::Other(_) | Type::RuntimeArray(_) => {}
                _ => match self.count(ty) {
                    Some(n) => todo.extend((0..n).rev().filter_map(|i| {
                        let (of, more, matrix) = self.step(ty, i, matrix)?;
                        Some((of, at.saturating_add(more), matrix))
                    })),
                    None => out.push((ty, at)),
                },
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
        let i8 = t.add(Type::Int(8), &Layout::default());
        let f32 = t.add(Type::Float(32), &Layout::default());
        let f3 = t.add(Type::Vector(f32, 3), &Layout::default());
        assert_eq!((t.size(f3), t.align(f3), t.leaves(f3)), (16, 16, 3));
        let s = t.add(
            Type::Struct(vec![(i8, 0), (f3, 0), (i8, 0)]),
            &Layout::default(),
        );
        assert_eq!((t.size(s), t.align(s), t.leaves(s)), (48, 16, 5));
        assert_eq!(t.member(s, 2), Some((i8, 4)));
        assert_eq!(t.offset(s, 2), Some((i8, 32)));
        let packed = Layout {
            packed: true,
            ..Layout::default()
        };
        let p = t.add(Type::Struct(vec![(i8, 0), (f32, 0)]), &packed);
        assert_eq!((t.size(p), t.align(p)), (5, 1));
        let a = t.add(Type::Array(p, 2), &Layout::default());
        let bytes: Vec<u64> = t.scalars(a).iter().map(|s| s.1).collect();
        assert_eq!(bytes, [0, 1, 5, 6]);
        assert_eq!(t.member(f3, 3), None);
        // The number of leaves before it overflows.
        let long = t.add(Type::Matrix(f3, u32::MAX), &Layout::default());
        assert_eq!(t.member(long, u64::from(u32::MAX) - 1), None);
    }

    #[test]
    fn explicit_layout() {
        let mut t = Types::default();
        let f32 = t.add(Type::Float(32), &Layout::default());
        let f3 = t.add(Type::Vector(f32, 3), &Layout::default());
        let m = t.add(Type::Matrix(f3, 2), &Layout::default());
        assert_eq!((t.size(m), t.leaves(m)), (32, 6));
        let stride = Layout {
            stride: Some(64),
            ..Layout::default()
        };
        let ms = t.add(Type::Array(m, 2), &stride);
        let rows = MatrixLayout {
            stride: 16,
            row_major: true,
        };
        let layout = Layout {
            offsets: [(0, 4), (1, 16)].into(),
            matrices: [(1, rows)].into(),
            ..Layout::default()
        };
        let s = t.add(Type::Struct(vec![(f32, 0), (ms, 0)]), &layout);
        let bytes: Vec<u64> = t.scalars(s).iter().map(|s| s.1).collect();
        // Two columns of three in rows of 16 bytes, twice.
        let one = [0, 16, 32, 4, 20, 36];
        let all: Vec<u64> = [4]
            .into_iter()
            .chain(one.map(|b| 16 + b))
            .chain(one.map(|b| 80 + b))
            .collect();
        assert_eq!(bytes, all);
        assert_eq!(t.extent(s), 16 + 64 + 32 + 8);
        assert_eq!(t.step(ms, 1, Some(rows)), Some((m, 64, Some(rows))));
        assert_eq!(t.step(m, 1, Some(rows)), Some((f3, 4, Some(rows))));
        assert_eq!(t.step(f3, 2, Some(rows)), Some((f32, 32, None)));
    }
}
