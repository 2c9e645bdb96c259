//! Zero-initialization of SLM by all work-items of the group, at kernel entry.

use super::Emit;
use gantry_codegen::ir::{FenceSpaces, IntCC, MemFlags, Scalar, Scope, Space};
use spirv::StorageClass;

/// Bytes that a work-item zeroes at once.
const CHUNK: u32 = 16;
/// Maximum number of unrolled iterations.
const MAX_UNROLLED: u32 = 4;

impl Emit<'_, '_, '_> {
    /// Zeroes SLM, if a variable in it has an initializer.
    pub(super) fn zero_slm(&mut self) {
        let class = StorageClass::Workgroup;
        let mut all = self.m.globals.values();
        let asked =
            all.any(|d| d.class == class && d.init.is_some() && self.frame.slm.contains_key(&d.id));
        if !asked || self.slm_bytes == 0 {
            return;
        }
        self.slm_bytes = self.slm_bytes.next_multiple_of(CHUNK);
        self.b.set_slm_bytes(self.slm_bytes);
        let index = self.local_index();
        let index = self.b.splat(index, self.simd);
        let place = self.times(index, u64::from(CHUNK));
        let items = self
            .group_size
            .map(|s| s.iter().fold(1u32, |a, b| a.saturating_mul(*b)));
        let times = items.map(|n| self.slm_bytes.div_ceil(CHUNK.saturating_mul(n.max(1))));
        match (items, times) {
            (Some(items), Some(times)) if times <= MAX_UNROLLED => {
                for t in 0..times {
                    let by = self.same(place, u64::from(t) * u64::from(items) * u64::from(CHUNK));
                    let at = self.b.ins().iadd(place, by);
                    self.zero_chunk(at);
                }
            }
            _ => {
                let step = match items {
                    Some(n) => self.number(Scalar::I32, u64::from(n) * u64::from(CHUNK)),
                    None => {
                        let sizes = [
                            gantry_codegen::ir::Dim::X,
                            gantry_codegen::ir::Dim::Y,
                            gantry_codegen::ir::Dim::Z,
                        ]
                        .map(|d| self.b.ins().local_size(d));
                        let n = self.b.ins().imul(sizes[0], sizes[1]);
                        let n = self.b.ins().imul(n, sizes[2]);
                        self.times(n, u64::from(CHUNK))
                    }
                };
                let first = self.number(Scalar::I32, 0);
                let end = self.number(Scalar::I32, u64::from(self.slm_bytes));
                let from = self.b.var(first);
                self.b.uniform_loop_begin();
                let n = self.b.use_var(from);
                let done = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, n, end);
                self.b.uniform_break_if(done);
                let n = self.b.splat(n, self.simd);
                let at = self.b.ins().iadd(place, n);
                self.zero_chunk(at);
                let n = self.b.use_var(from);
                let next = self.b.ins().iadd(n, step);
                self.b.def_var(from, next);
                self.b.uniform_loop_end();
            }
        }
        self.b.ins().fence(FenceSpaces::Slm, Scope::Group);
        self.b.ins().barrier();
    }

    /// Zeroes a chunk at each address in bounds.
    fn zero_chunk(&mut self, at: gantry_codegen::ir::Value) {
        let end = self.same(at, u64::from(self.slm_bytes));
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, end);
        self.guard = Some(inside);
        let zero = self.number(Scalar::I32, 0);
        self.store_elements(Scalar::I32, &[zero; 4], at, 0, MemFlags::of(Space::Slm));
        self.guard = None;
    }
}
