//! Built-in variables: ids and sizes of the launch.

use super::{Emit, Leaves};
use crate::builtins;
use crate::error::Error;
use crate::module::types::Ty;
use crate::read::Id;
use gantry_codegen::ir::{Dim, Scalar, Value, scalars::I32};
use spirv::BuiltIn;

const DIMS: [Dim; 3] = [Dim::X, Dim::Y, Dim::Z];

/// Returns true if a built-in variable is supported.
pub(crate) fn is_supported(b: BuiltIn) -> bool {
    use BuiltIn::*;
    matches!(
        b,
        GlobalInvocationId
            | LocalInvocationId
            | WorkgroupId
            | WorkgroupSize
            | EnqueuedWorkgroupSize
            | NumWorkgroups
            | GlobalSize
            | GlobalOffset
            | GlobalLinearId
            | LocalInvocationIndex
            | WorkDim
            | SubgroupSize
            | SubgroupMaxSize
            | NumSubgroups
            | NumEnqueuedSubgroups
            | SubgroupId
            | SubgroupLocalInvocationId
            | SubgroupEqMask
            | SubgroupGeMask
            | SubgroupGtMask
            | SubgroupLeMask
            | SubgroupLtMask
    )
}

impl Emit<'_, '_, '_> {
    /// Value of a built-in variable.
    pub(super) fn builtin(&mut self, pointer: Id, ty: Ty) -> Result<Leaves, Error> {
        let which = builtins::builtin(self.m, pointer);
        let which = which.ok_or_else(|| Error::unsupported("an input that is no built-in"))?;
        if !is_supported(which) {
            return Err(Error::unsupported(format!("the built-in {which:?}")));
        }
        let scalar = self.scalar(ty)?;
        if !scalar.is_int() {
            return Err(Error::malformed("a built-in that is no integer"));
        }
        let count = self.components(ty) as usize;
        let mut out = Leaves::new();
        if matches!(
            which,
            BuiltIn::SubgroupEqMask
                | BuiltIn::SubgroupGeMask
                | BuiltIn::SubgroupGtMask
                | BuiltIn::SubgroupLeMask
                | BuiltIn::SubgroupLtMask
        ) {
            if (count, scalar) != (4, Scalar::I32) {
                return Err(Error::malformed(format!(
                    "{which:?} with {count} components"
                )));
            }
            out.push(self.lane_mask(which));
            let zero = self.number(Scalar::I32, 0);
            out.extend([zero; 3]);
            return Ok(out);
        }
        let vector = !matches!(
            which,
            BuiltIn::GlobalLinearId
                | BuiltIn::LocalInvocationIndex
                | BuiltIn::WorkDim
                | BuiltIn::SubgroupSize
                | BuiltIn::SubgroupMaxSize
                | BuiltIn::NumSubgroups
                | BuiltIn::NumEnqueuedSubgroups
                | BuiltIn::SubgroupId
                | BuiltIn::SubgroupLocalInvocationId
        );
        if count != if vector { 3 } else { 1 } {
            return Err(Error::malformed(format!(
                "{which:?} with {count} components"
            )));
        }
        for dim in DIMS.into_iter().take(count) {
            let v = if vector {
                self.by_dimension(which, dim)
            } else {
                self.alone(which)
            };
            out.push(self.resize(v, scalar, false));
        }
        Ok(out)
    }

    fn local_id(&mut self, dim: Dim) -> Value {
        let v = self.b.ins().local_id(dim);
        self.resize(v, Scalar::I32, false)
    }

    /// Size of this group, which may be smaller at the end of a launch.
    pub(super) fn group_size(&mut self, dim: Dim) -> Value {
        // Groups of shaders are complete.
        if self.m.logical {
            return match self.group_size {
                Some([x, y, z]) => {
                    let n = match dim {
                        Dim::X => x,
                        Dim::Y => y,
                        Dim::Z => z,
                    };
                    self.number(Scalar::I32, u64::from(n))
                }
                None => self.b.ins().local_size(dim),
            };
        }
        let size = self.b.ins().local_size(dim);
        let group = self.b.ins().group_id(dim);
        let all = self.b.ins().global_size(dim);
        let before = self.b.ins().imul(group, size);
        let left = self.b.ins().isub(all, before);
        self.b.ins().umin(size, left)
    }

    fn by_dimension(&mut self, which: BuiltIn, dim: Dim) -> Value {
        match which {
            // Shaders have no global offset.
            BuiltIn::GlobalInvocationId if self.m.logical => {
                let group = self.b.ins().group_id(dim);
                let size = self.group_size(dim);
                let first = self.b.ins().imul(group, size);
                let mut v = [first, self.local_id(dim)];
                self.even(&mut v);
                self.b.ins().iadd(v[0], v[1])
            }
            BuiltIn::GlobalInvocationId => self.b.global_id(dim),
            BuiltIn::LocalInvocationId => self.local_id(dim),
            BuiltIn::WorkgroupId => self.b.ins().group_id(dim),
            BuiltIn::WorkgroupSize => self.group_size(dim),
            BuiltIn::EnqueuedWorkgroupSize => self.b.ins().local_size(dim),
            BuiltIn::NumWorkgroups => self.b.ins().group_count(dim),
            BuiltIn::GlobalSize => self.b.ins().global_size(dim),
            _ => self.b.ins().global_offset(dim),
        }
    }

    /// Linear index of each work-item in its group.
    pub(super) fn local_index(&mut self) -> Value {
        self.alone(BuiltIn::LocalInvocationIndex)
    }

    /// `x + sx * (y + sy * z)`.
    fn linear(&mut self, ids: [Value; 3], sizes: [Value; 2]) -> Value {
        let [x, y, z] = ids;
        let mut v = [x, y, z, sizes[0], sizes[1]];
        self.even(&mut v);
        let [x, y, z, sx, sy] = v;
        let rows = self.b.ins().imad(sy, z, y);
        self.b.ins().imad(sx, rows, x)
    }

    fn alone(&mut self, which: BuiltIn) -> Value {
        match which {
            BuiltIn::LocalInvocationIndex => {
                let ids = DIMS.map(|d| self.local_id(d));
                let sizes = [Dim::X, Dim::Y].map(|d| self.group_size(d));
                self.linear(ids, sizes)
            }
            BuiltIn::GlobalLinearId => {
                let ids = DIMS.map(|d| {
                    let id = self.b.global_id(d);
                    let offset = self.b.ins().global_offset(d);
                    let offset = self.b.splat(offset, self.simd);
                    self.b.ins().isub(id, offset)
                });
                let sizes = [Dim::X, Dim::Y].map(|d| self.b.ins().global_size(d));
                self.linear(ids, sizes)
            }
            BuiltIn::NumSubgroups | BuiltIn::NumEnqueuedSubgroups => {
                self.b.ins().subgroup_count(I32)
            }
            BuiltIn::WorkDim => self.b.ins().work_dim(I32),
            BuiltIn::SubgroupId => self.b.ins().subgroup_id(I32),
            BuiltIn::SubgroupLocalInvocationId => self.b.iota(Scalar::I32, self.simd),
            BuiltIn::SubgroupSize if self.m.logical => {
                self.number(Scalar::I32, u64::from(self.simd))
            }
            BuiltIn::SubgroupSize => {
                // Number of work-items of this thread.
                let mask = self.lanes(Scalar::B1, self.simd);
                let mask = self.b.ins().dispatch_mask(mask);
                let bits = self.b.ins().pred_to_bits(I32, mask);
                self.b.ins().popcnt(bits)
            }
            _ => self.number(Scalar::I32, u64::from(self.simd)),
        }
    }
}
