//! Where variables are in memory: those of the work-group in local memory, those of each work-item in its part of scratch.
//!
//! Needs the functions of a kernel, callers first. A function that is called has its room behind all that may be in use where it is called, and
//! functions that do not call each other share theirs.

use crate::body::Body;
use crate::cfg::Graph;
use crate::emit::generic;
use crate::error::Error;
use crate::module::types::{Ty, Type};
use crate::module::{Func, GlobalData, Module};
use crate::pipeline::PreparedFunction;
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use gantry_codegen::ir::MAX_SCRATCH;
use spirv::{Decoration, Op, StorageClass};
use std::collections::BTreeMap;

/// The most bytes of local memory.
pub(crate) const MAX_SLM: u32 = 64 << 10;

/// An error about a variable of a function: at which word, in which line, and its id.
pub(crate) type Finding = (Error, u32, u32, Id);

/// What is where.
#[derive(Default)]
pub(crate) struct FrameLayout {
    /// Variables of the work-group by their byte in local memory.
    pub slm: BTreeMap<Id, u32>,
    pub slm_bytes: u32,
    /// Of each function, its variables by their byte in a work-item's part of scratch.
    pub private: Vec<BTreeMap<Id, u32>>,
    /// The bytes of a work-item's function.
    pub private_bytes: u32,
    /// Whether there are null pointers to local memory, and to private memory: no variable is at the beginning then.
    pub nulls: [bool; 2],
    /// Of each function, what there is no room for.
    pub errors: Vec<Vec<Finding>>,
}

/// Lays the variables of a kernel's functions out, for so many work-items of a thread.
pub(crate) fn lay_out(m: &Module<'_>, functions: &[PreparedFunction], simd: u32) -> FrameLayout {
    let null = |class| {
        let mut all = functions.iter();
        all.any(|p| generic::may_be_null(m, &p.body, &p.graph, class))
    };
    let behind = |null: bool| if null { generic::NULL_BYTES } else { 0 };
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
        for call in &function.body.called {
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
    /// Lays out the variables of the work-group.
    fn group(&mut self, m: &Module<'_>, functions: &[PreparedFunction]) -> Vec<Finding> {
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
        // Blocks, which say their layout, have their bytes in common.
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

/// There is not so much local memory.
pub(crate) fn no_local_memory() -> Error {
    Error::limit("more than 64 KiB of local memory")
}

/// Says what a body names.
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

/// Where what a part has ends: its own, and that of each call in it that was flattened.
struct Ends {
    own: u64,
    calls: Vec<u64>,
}

impl Ends {
    fn of(&self, call: Option<usize>) -> u64 {
        let call = call.and_then(|n| self.calls.get(n));
        call.copied().unwrap_or(self.own)
    }

    fn most(&self) -> u64 {
        self.calls.iter().copied().fold(self.own, u64::max)
    }
}

/// The private variables of a function.
struct FrameBuilder<'a, 'm> {
    m: &'a Module<'m>,
    /// Bytes of a work-item.
    most: u64,
    /// Whether each of the part's arrays is in registers.
    held: Vec<bool>,
    private: BTreeMap<Id, u32>,
    errors: Vec<Finding>,
}

impl FrameBuilder<'_, '_> {
    /// Whether a pointer is into an array that is in registers.
    fn is_held(&self, function: &PreparedFunction, id: Id) -> bool {
        let n = function.arrays.of(id);
        n.and_then(|n| self.held.get(n)) == Some(&true)
    }

    /// Whether a part has private pointers into memory: such as come of no variable need some place, too.
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

    /// Lays them out from a byte on.
    fn lay_out(&mut self, function: &PreparedFunction, start: u64) -> Ends {
        let body = &function.body;
        let mut all: Vec<(Id, Ty, u32, u32)> = Vec::new();
        if function.is_kernel {
            for (id, ty) in &body.params {
                // Only structures by value are such.
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
        // Behind what is of the call that a call is in: calls that are not in each other have the same room.
        all.sort_by_key(|v| body.call_of(v.0));
        let mut all = all.into_iter().peekable();
        let mut ends = Ends {
            own: start,
            calls: vec![0; body.call_count()],
        };
        for call in [None].into_iter().chain((0..ends.calls.len()).map(Some)) {
            let mut end = call.map_or(start, |n| ends.of(body.within(n)));
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

    /// Gives a variable its place; what is behind it.
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
