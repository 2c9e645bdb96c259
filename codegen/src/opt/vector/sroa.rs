//! SROA: vectors that are only written and read in parts become a value per part.
//!
//! An array in GRFs is a vector that loops carry; after unrolling, its indices are constants. Such
//! a vector starts as a constant or undefined. It is written and read by regions, and passed from
//! block to block. Regions that never overlap are then independent. They become values of their
//! own, which are computed in place and live only as long as they are read.
//!
//! Input and output: verified IR. Limits: [`MAX_PARTS`] parts of a vector, and [`PARAMS`] block
//! parameters for all of them. Each instruction is visited twice.

use crate::entity_set::Marks;
use crate::graph::union_find::UnionFind;
use crate::ir::instructions::ValueList;
use crate::ir::{
    Block, BlockInsts, ControlFlow, Function, Inst, InstData, Opcode, Region, Type, Value, ValueDef,
};
use crate::opt::{OptState, PassContext};
use crate::sized;
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Maximal parts of a vector.
const MAX_PARTS: usize = 64;
/// Maximal block parameters that parts become.
const PARAMS: usize = 2048;

/// Byte ranges of a vector's parts, in order.
type PartRanges = SmallVec<[(u32, u32); 8]>;

struct VectorWebs {
    /// Values of the same vector.
    sets: UnionFind<Value>,
    /// Vectors with other uses.
    excluded: Marks<Value>,
    /// Byte ranges of regions, at the root value.
    regions: FxHashMap<Value, Vec<(u32, u32)>>,
    /// Roots with regions, in order.
    found: Vec<Value>,
    /// Number of block parameters of each root.
    params: SecondaryMap<Value, u32>,
}

impl VectorWebs {
    fn of(&mut self, v: Value) -> Value {
        self.sets.find(v)
    }

    fn join(&mut self, a: Value, b: Value) {
        self.sets.union(b, a);
    }

    /// Joins an argument with its target. Constants are not joined, as each use gets its own.
    fn join_argument(&mut self, func: &Function, from: Value, to: Value) {
        if !is_constant(func, from) {
            self.join(from, to);
        }
    }
}

/// Replacement of vectors by their parts.
struct VectorSplitter {
    webs: VectorWebs,
    ranges: SecondaryMap<Value, PartRanges>,
    /// Parts of each value.
    parts: SecondaryMap<Value, SmallVec<[Value; 4]>>,
}

/// Runs the pass. Returns the number of vectors that were split.
pub(in crate::opt) fn run(func: &mut Function, ctx: &PassContext<'_>, state: &mut OptState) -> u32 {
    state.cfg.remove_unreachable(func);
    // Only vectors that cross blocks are split.
    if func.layout.blocks().len() < 2 {
        return 0;
    }
    let cfg = state.cfg.get(func);
    let mut webs = find(func);
    let mut ranges: SecondaryMap<Value, PartRanges> = SecondaryMap::new();
    let (mut done, mut left) = (0, PARAMS);
    for v in std::mem::take(&mut webs.found) {
        let web = webs.of(v);
        let spans = webs.regions.remove(&v).unwrap_or_default();
        // All ranges are at the root.
        debug_assert!(web == v || spans.is_empty());
        if webs.excluded.contains(web) || spans.is_empty() {
            continue;
        }
        let found = merge_ranges(spans);
        let whole = [(0, func.dfg.ty(web).bytes())];
        let params = webs.params[web] as usize;
        let fits = found.len() <= MAX_PARTS && found.len() * params <= left;
        if fits && params > 0 && found[..] != whole {
            left -= found.len() * params;
            ranges[web] = found;
            done += 1;
        }
    }
    if done > 0 {
        let parts = SecondaryMap::new();
        VectorSplitter {
            webs,
            ranges,
            parts,
        }
        .run(func, &cfg);
        // Most parts pass through blocks unchanged.
        crate::opt::cfg::simplify_cfg::run(func, ctx, state);
    }
    done
}

/// Collects vectors and their regions.
fn find(func: &Function) -> VectorWebs {
    let values = func.dfg.num_values();
    let mut webs = VectorWebs {
        sets: UnionFind::new(values),
        params: sized(values),
        excluded: Marks::sized(values),
        regions: FxHashMap::default(),
        found: Vec::new(),
    };
    let mut spans: Vec<(Value, (u32, u32))> = Vec::new();
    let mut excluded: Vec<Value> = Vec::new();
    if let Some(entry) = func.layout.entry() {
        excluded.extend(func.dfg.block_params(entry));
    }
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            let data = func.dfg.data(inst);
            let result = func.dfg.first_result(inst);
            match (*data, result) {
                (
                    InstData::RdRegion {
                        arg, region, index, ..
                    },
                    Some(result),
                ) => {
                    excluded.extend([result].into_iter().chain(index.expand()));
                    match span(func.dfg.ty(result), &region).filter(|_| index.is_none()) {
                        Some(span) => spans.push((arg, span)),
                        None => excluded.push(arg),
                    }
                }
                (
                    InstData::WrRegion {
                        args: [old, new],
                        region,
                        index,
                        mask,
                        ..
                    },
                    Some(result),
                ) => {
                    excluded.extend([new].into_iter().chain(mask.expand()).chain(index.expand()));
                    webs.join_argument(func, old, result);
                    match span(func.dfg.ty(new), &region).filter(|_| index.is_none()) {
                        Some(span) => spans.push((result, span)),
                        None => excluded.push(result),
                    }
                }
                (
                    InstData::Nullary {
                        opcode: Opcode::Undef,
                    },
                    _,
                ) => {}
                (InstData::Imm { .. } | InstData::ImmVec { .. }, _) => {}
                _ if data.opcode().info().terminator => {
                    let dests = func.dfg.destinations(inst);
                    let mut going = 0;
                    for dest in dests {
                        let args = dest.args.as_slice(&func.dfg.pool);
                        going += args.len();
                        for (&arg, &to) in args.iter().zip(func.dfg.block_params(dest.block)) {
                            webs.join_argument(func, arg, to);
                        }
                    }
                    // Branch conditions and returned values come before block arguments.
                    let mut all: SmallVec<[Value; 16]> = SmallVec::new();
                    data.for_each_arg(&func.dfg, |v| all.push(v));
                    excluded.extend(all.iter().take(all.len() - going.min(all.len())));
                }
                _ => {
                    data.for_each_arg(&func.dfg, |v| excluded.push(v));
                    excluded.extend(func.dfg.results(inst));
                }
            }
        }
        for &p in func.dfg.block_params(block) {
            webs.params[p] = 1;
        }
    }
    for v in excluded {
        let web = webs.of(v);
        webs.excluded.insert(web);
    }
    for &block in func.layout.blocks() {
        for &p in func.dfg.block_params(block) {
            let web = webs.of(p);
            if web != p {
                webs.params[p] = 0;
                webs.params[web] += 1;
            }
        }
    }
    for (v, span) in spans {
        let web = webs.of(v);
        if !webs.excluded.contains(web) {
            let regions = webs.regions.entry(web).or_default();
            if regions.is_empty() {
                webs.found.push(web);
            }
            regions.push(span);
        }
    }
    webs
}

fn is_constant(func: &Function, v: Value) -> bool {
    let data = func.dfg.def_inst(v).map(|i| func.dfg.data(i));
    matches!(data, Some(InstData::Imm { .. } | InstData::ImmVec { .. }))
}

/// Returns the bytes that a region covers; `None` if they are not whole elements, or for
/// predicates.
fn span(part: Type, region: &Region) -> Option<(u32, u32)> {
    let size = part.scalar().bytes();
    let from = u32::from(region.offset);
    let elements = region.last_element(part.lanes()) + 1;
    (size > 0 && from.is_multiple_of(size)).then_some((from, from + elements * size))
}

/// Merges overlapping ranges, in order.
fn merge_ranges(mut spans: Vec<(u32, u32)>) -> PartRanges {
    spans.sort_unstable();
    let mut out = PartRanges::new();
    for (from, to) in spans {
        match out.last_mut() {
            Some(last) if from < last.1 => last.1 = last.1.max(to),
            _ => out.push((from, to)),
        }
    }
    out
}

impl VectorSplitter {
    /// Returns the parts of a vector that is split.
    fn ranges(&mut self, v: Value) -> Option<&PartRanges> {
        let web = self.webs.of(v);
        Some(&self.ranges[web]).filter(|c| !c.is_empty())
    }

    fn run(mut self, func: &mut Function, cfg: &ControlFlow) {
        for &block in cfg.order() {
            self.params(func, block);
        }
        for &block in cfg.order() {
            let mut out = BlockInsts::new();
            for inst in std::mem::take(func.layout.insts_mut(block)) {
                self.inst(func, inst, &mut out);
            }
            *func.layout.insts_mut(block) = out;
        }
        for &block in cfg.order() {
            let params = func.dfg.block_params(block).to_vec();
            let keep: Vec<bool> = params.iter().map(|&p| self.ranges(p).is_none()).collect();
            if keep.contains(&false) {
                func.dfg.retain_block_params(block, &keep);
            }
        }
    }

    /// Appends a parameter for each part to a block.
    fn params(&mut self, func: &mut Function, block: Block) {
        for p in func.dfg.block_params(block).to_vec() {
            let ty = func.dfg.ty(p);
            let Some(ranges) = self.ranges(p).cloned() else {
                continue;
            };
            let parts = ranges.iter().map(|&c| {
                let ty = part_type(ty, c);
                func.dfg.append_block_param(block, ty)
            });
            self.parts[p] = parts.collect();
        }
    }

    fn inst(&mut self, func: &mut Function, inst: Inst, out: &mut BlockInsts) {
        let result = func.dfg.first_result(inst);
        match (*func.dfg.data(inst), result) {
            (
                InstData::RdRegion {
                    opcode,
                    arg,
                    region,
                    ..
                },
                _,
            ) => {
                if let Some(ranges) = self.ranges(arg).cloned()
                    && let Some((n, (from, _))) = part_at(&ranges, region.offset)
                    && let Some(&of) = self.parts[arg].get(n)
                {
                    let region = rebased(region, from);
                    let index = None.into();
                    *func.dfg.data_mut(inst) = InstData::RdRegion {
                        opcode,
                        arg: of,
                        region,
                        index,
                    };
                }
            }
            (
                InstData::WrRegion {
                    opcode,
                    args: [old, new],
                    region,
                    mask,
                    ..
                },
                Some(result),
            ) => {
                if let Some(ranges) = self.ranges(result).cloned() {
                    let mut parts = self.parts_of(func, old, &ranges, inst, out);
                    if let Some((n, (from, _))) = part_at(&ranges, region.offset)
                        && let Some(of) = parts.get_mut(n)
                    {
                        let data = InstData::WrRegion {
                            opcode,
                            args: [*of, new],
                            region: rebased(region, from),
                            index: None.into(),
                            mask,
                        };
                        *of = append(func, data, func.dfg.ty(*of), inst, out);
                    }
                    self.parts[result] = parts;
                    return;
                }
            }
            (data @ InstData::Nullary { .. }, Some(result)) => {
                let ty = func.dfg.ty(result);
                if let Some(ranges) = self.ranges(result).cloned() {
                    let each = ranges
                        .iter()
                        .map(|&c| append(func, data, part_type(ty, c), inst, out));
                    self.parts[result] = each.collect();
                    return;
                }
            }
            (data, _) if data.opcode().info().terminator => self.branch(func, inst, out),
            _ => {}
        }
        out.push(inst);
    }

    /// Returns the parts of a value that is assigned to a vector.
    fn parts_of(
        &mut self,
        func: &mut Function,
        v: Value,
        ranges: &PartRanges,
        at: Inst,
        out: &mut BlockInsts,
    ) -> SmallVec<[Value; 4]> {
        let (ValueDef::Result(inst, _), true) = (func.dfg.def(v), is_constant(func, v)) else {
            return self.parts[v].clone();
        };
        let (ty, data) = (func.dfg.ty(v), *func.dfg.data(inst));
        let size = ty.scalar().bytes().max(1);
        let of = |func: &mut Function, (from, to): (u32, u32)| {
            let InstData::ImmVec { opcode, constant } = data else {
                return data;
            };
            let lanes = func.dfg.constant(constant);
            match &lanes[(from / size) as usize..(to / size) as usize] {
                &[bits] => InstData::Imm {
                    opcode: if ty.scalar().is_float() {
                        Opcode::Fconst
                    } else {
                        Opcode::Iconst
                    },
                    bits,
                },
                lanes => {
                    let constant = lanes.to_vec();
                    let constant = func.dfg.make_constant(constant);
                    InstData::ImmVec { opcode, constant }
                }
            }
        };
        let each = ranges.iter().map(|&c| {
            let data = of(func, c);
            append(func, data, part_type(ty, c), at, out)
        });
        each.collect()
    }

    /// Passes the parts to blocks, after the other arguments.
    fn branch(&mut self, func: &mut Function, inst: Inst, out: &mut BlockInsts) {
        for n in 0..func.dfg.destinations(inst).len() {
            let dest = func.dfg.destinations(inst)[n];
            // Parameters of parts come last.
            let params = func.dfg.block_params(dest.block).to_vec();
            let args = dest.args.as_slice(&func.dfg.pool).to_vec();
            if params.len() == args.len() {
                continue;
            }
            let (mut kept, mut parts) = (Vec::new(), Vec::new());
            for (&p, arg) in params.iter().zip(args) {
                match self.ranges(p).cloned() {
                    Some(ranges) => parts.extend(self.parts_of(func, arg, &ranges, inst, out)),
                    None => kept.push(arg),
                }
            }
            let (dests, pool) = func.dfg.destinations_mut(inst);
            if let Some(dest) = dests.get_mut(n) {
                dest.args = ValueList::from_iter(kept.into_iter().chain(parts), pool);
            }
        }
    }
}

/// Returns the type of a part.
fn part_type(ty: Type, (from, to): (u32, u32)) -> Type {
    ty.by((to - from) / ty.scalar().bytes().max(1))
}

/// Returns the part that a region lies in.
fn part_at(ranges: &PartRanges, offset: u16) -> Option<(usize, (u32, u32))> {
    let n = ranges.partition_point(|c| c.1 <= u32::from(offset));
    ranges.get(n).map(|c| (n, *c))
}

/// Rebases a region onto its part.
fn rebased(region: Region, from: u32) -> Region {
    Region {
        offset: region.offset - from as u16,
        parent_width: 0,
        ..region
    }
}

/// Appends an instruction at the location of another. Returns its result.
fn append(func: &mut Function, data: InstData, ty: Type, at: Inst, out: &mut BlockInsts) -> Value {
    let (inst, v) = func.make_like(at, data, ty);
    out.push(inst);
    v
}
