//! Frame layout: offsets of work-group variables in SLM and of private variables in scratch.
//!
//! Needs the functions of a kernel, callers first. The frame of a called function comes after
//! everything that may be in use at its calls. Functions that do not call each other share memory.

use crate::body::{BInst, Body};
use crate::cfg::Graph;
use crate::error::Error;
use crate::infer_address_spaces::MemorySet;
use crate::module::constants::Constant;
use crate::module::types::{Ty, Type};
use crate::module::{ConstData, Func, GlobalData, Module};
use crate::prepared::PreparedFunction;
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use gantry_codegen::ir::MAX_SCRATCH;
use spirv::{Decoration, Op, StorageClass};
use std::collections::BTreeMap;

/// Maximum bytes of SLM.
pub(crate) const MAX_SLM: u32 = 64 << 10;

/// Bytes reserved at the start of SLM, and of each work-item's private memory, if null pointers to
/// it may occur.
pub(crate) const NULL_BYTES: u32 = 16;

/// Error about a variable: error, word, line, id.
pub(crate) type VariableError = (Error, u32, u32, Id);

/// Offsets of variables.
#[derive(Default)]
pub(crate) struct FrameLayout {
    /// Byte offsets of work-group variables in SLM.
    pub slm: BTreeMap<Id, u32>,
    pub slm_bytes: u32,
    /// Byte offsets of private variables in the part of a work-item, for each function.
    pub private: Vec<BTreeMap<Id, u32>>,
    /// Bytes of the part of a work-item.
    pub private_bytes: u32,
    /// Set if null pointers to SLM, or to private memory, may occur. Offset 0 is then reserved.
    pub nulls: [bool; 2],
    /// Variables of each function that do not fit.
    pub errors: Vec<Vec<VariableError>>,
}

/// Lays out the variables of a kernel and its functions, at a width.
pub(crate) fn lay_out(m: &Module<'_>, functions: &[PreparedFunction], simd: u32) -> FrameLayout {
    let null = |class| {
        let mut all = functions.iter();
        all.any(|p| may_be_null(m, &p.body, &p.graph, class))
    };
    let behind = |null: bool| if null { NULL_BYTES } else { 0 };
    let nulls = [StorageClass::Workgroup, StorageClass::Function].map(null);
    let mut out = FrameLayout {
        nulls,
        slm_bytes: behind(nulls[0]),
        ..FrameLayout::default()
    };
    let mut errors = out.group(m, functions);
    let first = u64::from(behind(nulls[1]));
    let mut starts: SecondaryMap<Func, u64> = SecondaryMap::with_default(first);
    for function in functions {
        let mut own = FrameBuilder {
            m,
            most: u64::from(MAX_SCRATCH / simd.max(1)),
            held: function.arrays.held(simd),
            private: BTreeMap::new(),
            errors: std::mem::take(&mut errors),
        };
        let ends = own.lay_out(function, starts[function.func]);
        for call in &function.body.calls {
            let end = ends.of(call.within);
            starts[call.func] = starts[call.func].max(end);
        }
        let most = ends.most().max(u64::from(own.is_used(function)));
        out.private_bytes = out.private_bytes.max(most as u32);
        out.private.push(own.private);
        out.errors.push(own.errors);
    }
    out.private_bytes = out.private_bytes.next_multiple_of(64);
    out
}

impl FrameLayout {
    /// Lays out work-group variables.
    fn group(&mut self, m: &Module<'_>, functions: &[PreparedFunction]) -> Vec<VariableError> {
        let mut errors = Vec::new();
        let mut is_used = SecondaryMap::new();
        let shared = |g: &GlobalData| g.class == StorageClass::Workgroup;
        if !m.globals.values().any(shared) {
            return errors;
        }
        for function in functions {
            used(&function.body, &function.graph, &mut is_used);
        }
        let here = |g: &&GlobalData| shared(g) && is_used[g.id];
        let is_block =
            |g: &GlobalData| m.type_id(g.ty).is_some_and(|t| m.has(t, Decoration::Block));
        // Blocks with explicit layout alias each other.
        let blocks = self.slm_bytes;
        let mut all: Vec<&GlobalData> = m.globals.values().filter(here).collect();
        all.sort_by_key(|g| !is_block(g));
        for data in all {
            let (size, align) = (m.types.size(data.ty), m.types.align(data.ty));
            let begin = if is_block(data) {
                blocks
            } else {
                self.slm_bytes
            };
            let at = u64::from(begin).next_multiple_of(align.clamp(1, 4096));
            match at.checked_add(size).filter(|end| *end <= MAX_SLM.into()) {
                Some(end) => {
                    self.slm.insert(data.id, at as u32);
                    self.slm_bytes = self.slm_bytes.max(end as u32);
                }
                None => {
                    self.slm.insert(data.id, 0);
                    errors.push((no_local_memory(), data.at, 0, data.id));
                }
            }
        }
        errors
    }
}

/// Returns true if a body has null pointers to a memory, or casts that may return them.
fn may_be_null(m: &Module<'_>, body: &Body, g: &Graph, class: StorageClass) -> bool {
    let is = |ty: Option<Ty>| match ty.map(|t| m.types.kind(t)) {
        Some(Type::Pointer(of, _)) => MemorySet::of(*of) == MemorySet::of(class),
        _ => false,
    };
    let is_null = |c: &ConstData| matches!(c.value, Constant::Null) && is(Some(c.ty));
    let cast = |i: &BInst| i.op == Op::GenericCastToPtrExplicit && is(i.ty.expand());
    let blocks = || g.order.iter().map(|b| &body.blocks[*b]);
    if !m.consts.values().any(is_null) {
        return blocks().flat_map(|b| &b.insts).any(cast);
    }
    let null = |id: Id| m.constant(id).is_some_and(is_null);
    blocks().any(|data| {
        let mut args = data.phis.iter().flat_map(|p| &p.args);
        args.any(|a| null(a.1))
            || data.insts.iter().any(|i| {
                let mut found = cast(i);
                body.for_each_use(i, |id| found |= null(id));
                found
            })
    })
}

/// Error for SLM over the limit.
pub(crate) fn no_local_memory() -> Error {
    Error::limit("more than 64 KiB of local memory")
}

/// Marks all ids that a body uses.
pub(crate) fn used(body: &Body, graph: &Graph, used: &mut SecondaryMap<Id, bool>) {
    for b in &graph.order {
        let data = &body.blocks[*b];
        for inst in &data.insts {
            body.for_each_use(inst, |id| used[id] = true);
        }
        for (_, arg) in data.phis.iter().flat_map(|p| &p.args) {
            used[*arg] = true;
        }
    }
}

fn is_private(m: &Module<'_>, ty: Option<Ty>) -> bool {
    let kind = ty.map(|t| m.types.kind(t));
    matches!(
        kind,
        Some(Type::Pointer(
            StorageClass::Function | StorageClass::Private,
            _
        ))
    )
}

/// End of the frame of a function, and of each call inlined in it.
struct FrameEnds {
    own: u64,
    calls: Vec<u64>,
}

impl FrameEnds {
    fn of(&self, call: Option<usize>) -> u64 {
        let call = call.and_then(|n| self.calls.get(n));
        call.copied().unwrap_or(self.own)
    }

    fn most(&self) -> u64 {
        self.calls.iter().copied().fold(self.own, u64::max)
    }
}

/// Builder of the frame of a function.
struct FrameBuilder<'a, 'm> {
    m: &'a Module<'m>,
    /// Maximum bytes for a work-item.
    most: u64,
    /// Set for each array that is promoted to registers.
    held: Vec<bool>,
    private: BTreeMap<Id, u32>,
    errors: Vec<VariableError>,
}

impl FrameBuilder<'_, '_> {
    /// Returns true if a pointer points into a promoted array.
    fn is_held(&self, function: &PreparedFunction, id: Id) -> bool {
        let n = function.arrays.of(id);
        n.and_then(|n| self.held.get(n)) == Some(&true)
    }

    /// Returns true if a function uses private pointers into memory. Even undefined ones need
    /// memory.
    fn is_used(&self, function: &PreparedFunction) -> bool {
        let blocks = function
            .graph
            .order
            .iter()
            .map(|b| &function.body.blocks[*b]);
        blocks.flat_map(|b| &b.insts).any(|inst| {
            let mut any = false;
            function.body.for_each_use(inst, |id| {
                let ty = function.body.type_of(self.m, id);
                any |= is_private(self.m, ty) && !self.is_held(function, id);
            });
            any
        })
    }

    /// Lays out the frame from a byte on.
    fn lay_out(&mut self, function: &PreparedFunction, start: u64) -> FrameEnds {
        let body = &function.body;
        let mut all: Vec<(Id, Ty, u32, u32)> = Vec::new();
        if function.is_kernel {
            for (id, ty) in &body.params {
                // Only `ByVal` structures are of this type.
                if let Type::Pointer(StorageClass::Function, _) = self.m.types.kind(*ty) {
                    all.push((*id, *ty, 0, 0));
                }
            }
        }
        for b in &function.graph.order {
            for inst in &body.blocks[*b].insts {
                if let (Op::Variable, Some(id), Some(ty)) =
                    (inst.op, inst.id.expand(), inst.ty.expand())
                    && !self.is_held(function, id)
                {
                    all.push((id, ty, inst.at, inst.line));
                }
            }
        }
        // The frame of an inlined call follows that of the call around it, so disjoint calls share
        // memory.
        all.sort_by_key(|v| body.call_of(v.0));
        let mut all = all.into_iter().peekable();
        let mut ends = FrameEnds {
            own: start,
            calls: vec![0; body.call_count()],
        };
        for call in [None].into_iter().chain((0..ends.calls.len()).map(Some)) {
            let mut end = call.map_or(start, |n| ends.of(body.enclosing_call(n)));
            while let Some(v) = all.next_if(|v| body.call_of(v.0) == call) {
                end = self.variable(v, end);
            }
            match call.and_then(|n| ends.calls.get_mut(n)) {
                Some(slot) => *slot = end,
                None => ends.own = end,
            }
        }
        ends
    }

    /// Places a variable, and returns the byte after it.
    fn variable(&mut self, (id, ty, word, line): (Id, Ty, u32, u32), end: u64) -> u64 {
        let Some(ty) = self.m.pointee(ty) else {
            return end;
        };
        let (size, align) = (self.m.types.size(ty), self.m.types.align(ty));
        let at = end.next_multiple_of(align.clamp(1, 4096));
        if let Some(new) = at.checked_add(size).filter(|end| *end <= self.most) {
            self.private.insert(id, at as u32);
            return new;
        }
        self.private.insert(id, 0);
        let what = format!("more than {} bytes of private memory", self.most);
        self.errors.push((Error::limit(what), word, line, id));
        end
    }
}
