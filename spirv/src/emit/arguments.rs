//! Kernel arguments in OpenCL's order.

use super::{Emit, Leaves};
use crate::error::Error;
use crate::inline_policy::{is_alone, is_by_value};
use crate::module::types::{Ty, Type};
use crate::read::Id;
use gantry_codegen::ir::{self, ParamRole, Region, Scalar};
use spirv::StorageClass;

impl Emit<'_, '_, '_> {
    pub(super) fn arguments(&mut self) {
        for (id, ty) in self.body.params.clone() {
            match self.argument(id, ty) {
                Ok(leaves) => {
                    self.set(id, &leaves);
                    let name = self.m.name(self.body.origin(id)).unwrap_or_default();
                    self.b.describe_param(name, ParamRole::Argument);
                }
                Err(e) => {
                    let at = self.m.entries.iter().map(|e| e.at).next().unwrap_or(0);
                    self.error(e, at, 0, Some(id));
                }
            }
        }
    }

    fn argument(&mut self, id: Id, ty: Ty) -> Result<Leaves, Error> {
        let size = self.m.types.size(ty);
        match self.m.types.kind(ty).clone() {
            Type::Pointer(StorageClass::CrossWorkgroup | StorageClass::UniformConstant, _) => {
                let v = self.b.ptr_param();
                if is_alone(self.m, id) {
                    self.b.promise_noalias(v);
                }
                Ok(Leaves::from_slice(&[v]))
            }
            Type::Pointer(StorageClass::Workgroup, _) => {
                let v = self.b.slm_param();
                Ok(Leaves::from_slice(&[v]))
            }
            Type::Pointer(StorageClass::Function, _) => {
                if is_by_value(self.m, id) {
                    self.by_value(id, ty)
                } else {
                    Err(Error::unsupported(
                        "a private pointer as an argument of a kernel",
                    ))
                }
            }
            Type::Int(_) | Type::Float(_) => {
                let ty = ir::Type::scalar_of(self.scalar(ty)?);
                let v = self.b.param(ty);
                Ok(Leaves::from_slice(&[v]))
            }
            Type::Vector(of, n) => {
                let scalar = self.scalar(of)?;
                if scalar == Scalar::B1 {
                    return Err(Error::malformed("a bool as an argument of a kernel"));
                }
                let all = size as u32 / scalar.bytes();
                let v = self.b.param(self.lanes(scalar, all));
                let leaves = (0..n).map(|i| self.b.lane(v, i)).collect();
                Ok(leaves)
            }
            Type::Struct(_) | Type::Array(..) => {
                let v = self.b.param(bytes_of(size)?);
                let unit = self.b.ty(v).scalar();
                let mut bytes = None;
                let mut leaves = Leaves::new();
                for (ty, at) in self.m.types.scalars(ty) {
                    let scalar = self.scalar(ty)?;
                    let to = ir::Type::scalar_of(scalar);
                    let fits = at % u64::from(unit.bytes()) == 0;
                    let (of, unit) = if fits && scalar.bytes() >= unit.bytes() {
                        (v, unit)
                    } else {
                        let all = self.lanes(Scalar::I8, size as u32);
                        (
                            *bytes.get_or_insert_with(|| self.b.ins().bitcast(all, v)),
                            Scalar::I8,
                        )
                    };
                    let count = scalar.bytes() / unit.bytes();
                    let region = Region::contiguous(count as u16, at as u16);
                    let part = self.lanes(unit, count);
                    let part = self.b.ins().rdregion(part, of, region);
                    leaves.push(if scalar == unit {
                        part
                    } else {
                        self.b.ins().bitcast(to, part)
                    });
                }
                Ok(leaves)
            }
            Type::Image(t) => {
                self.image_argument(id, 0, &t)?;
                Ok(Leaves::new())
            }
            Type::Sampler => {
                self.sampler_argument(id, 0)?;
                Ok(Leaves::new())
            }
            _ => Err(Error::unsupported(format!(
                "{} as an argument of a kernel",
                self.describe(ty)
            ))),
        }
    }

    /// `ByVal` argument: copies it to private memory, to which the kernel gets a pointer.
    fn by_value(&mut self, id: Id, ty: Ty) -> Result<Leaves, Error> {
        let of = self
            .m
            .pointee(ty)
            .ok_or_else(|| Error::malformed("a pointer to no type"))?;
        let size = self.m.types.size(of);
        let v = self.b.param(bytes_of(size)?);
        let scalar = self.b.ty(v).scalar();
        let pointer = self.private_pointer(id)?;
        let access = self.access(StorageClass::Function, of, &[])?;
        for n in 0..self.b.ty(v).lanes() {
            let part = self.b.lane(v, n);
            let at = (n * scalar.bytes()) as i32;
            self.store_elements(scalar, &[part], pointer, at, access.mem);
        }
        Ok(Leaves::from_slice(&[pointer]))
    }
}

/// Type of an argument of some bytes: dwords if they are whole.
fn bytes_of(size: u64) -> Result<ir::Type, Error> {
    let scalar = match size % 4 {
        0 => Scalar::I32,
        _ => Scalar::I8,
    };
    let count = u32::try_from(size / u64::from(scalar.bytes())).ok();
    let ty = count.and_then(|n| ir::Type::new(scalar, n));
    ty.ok_or_else(|| Error::limit("an argument of more than 4,096 bytes"))
}
