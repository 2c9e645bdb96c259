//! Vectors that are only ever written and read in parts, as a value for each part.
//!
//! An array that is in registers is a vector that loops carry; once they are straight its elements
//! are at places that are known. Such a vector begins as a constant or as nothing, is written over
//! in regions, read in regions, and goes from block to block. Then its parts have nothing to do
//! with each other: those that regions never have together are values of their own, which are
//! computed where they go, and live as long as they are read.
//!
//! Needs: IR that verifies. Makes: the same. Bounds: [`PIECES`] of a vector, [`PARAMS`] that those
//! of all vectors are in blocks; each instruction is looked at twice.

use crate::entity_set::Marks;
use crate::ir::instructions::ValueList;
use crate::ir::{
    Block, BlockInsts, ControlFlow, Function, Inst, InstData, Opcode, Region, Type, Value, ValueDef,
};
use crate::opt::{Facts, State};
use crate::sized;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use smallvec::SmallVec;

/// Pieces of a vector.
const PIECES: usize = 64;
/// Parameters of blocks that pieces become.
const PARAMS: usize = 2048;

/// Bytes of a vector from one on to before another, one after the other.
type Cuts = SmallVec<[(u32, u32); 8]>;

struct Webs {
    /// A value that is the same vector, later or earlier.
    up: SecondaryMap<Value, PackedOption<Value>>,
    /// Vectors of which something else is made as well.
    bad: Marks<Value>,
    /// What regions have of them, by their first value.
    parts: SecondaryMap<Value, Vec<(u32, u32)>>,
    /// Those that some region has a part of, in order.
    found: Vec<Value>,
    /// How many parameters they are.
    params: SecondaryMap<Value, u32>,
}

impl Webs {
    fn of(&mut self, v: Value) -> Value {
        let mut at = v;
        while let Some(next) = self.up[at].expand() {
            // The way is short the next time.
            let after = self.up[next];
            if after.is_some() {
                self.up[at] = after;
            }
            at = next;
        }
        at
    }

    fn join(&mut self, a: Value, b: Value) {
        let (a, b) = (self.of(a), self.of(b));
        if a != b {
            self.up[a] = b.into();
        }
    }

    /// Joins what goes into a vector with it; a constant is another one wherever it goes.
    fn flows(&mut self, func: &Function, from: Value, to: Value) {
        if !is_constant(func, from) {
            self.join(from, to);
        }
    }
}

/// What stands for the vectors that go.
struct Split {
    webs: Webs,
    cuts: SecondaryMap<Value, Cuts>,
    /// By value: its pieces.
    pieces: SecondaryMap<Value, SmallVec<[Value; 4]>>,
}

/// The pass. Gives how many vectors are in pieces.
pub(in crate::opt) fn run(func: &mut Function, facts: &Facts<'_>, state: &mut State) -> u32 {
    state.flow.remove_unreachable(func);
    // Vectors that go from block to block.
    if func.layout.blocks().len() < 2 {
        return 0;
    }
    let cfg = state.flow.of(func);
    let mut webs = find(func);
    let mut cuts: SecondaryMap<Value, Cuts> = SecondaryMap::new();
    let (mut done, mut left) = (0, PARAMS);
    for v in std::mem::take(&mut webs.found) {
        let web = webs.of(v);
        let spans = std::mem::take(&mut webs.parts[v]);
        // All are with the first one.
        debug_assert!(web == v || spans.is_empty());
        if webs.bad.contains(web) || spans.is_empty() {
            continue;
        }
        let found = cut(spans);
        let whole = [(0, func.dfg.ty(web).bytes())];
        let params = webs.params[web] as usize;
        let fits = found.len() <= PIECES && found.len() * params <= left;
        if fits && params > 0 && found[..] != whole {
            left -= found.len() * params;
            cuts[web] = found;
            done += 1;
        }
    }
    if done > 0 {
        let pieces = SecondaryMap::new();
        Split { webs, cuts, pieces }.run(func, &cfg);
        // Most pieces go through blocks as they are.
        crate::opt::cfg::simplify_cfg::tidy(func, facts, state);
    }
    done
}

/// The vectors, and what regions have of them.
fn find(func: &Function) -> Webs {
    let values = func.dfg.num_values();
    let mut webs = Webs {
        up: sized(values),
        params: sized(values),
        bad: Marks::sized(values),
        parts: SecondaryMap::new(),
        found: Vec::new(),
    };
    let mut spans: Vec<(Value, (u32, u32))> = Vec::new();
    let mut bad: Vec<Value> = Vec::new();
    if let Some(entry) = func.layout.entry() {
        bad.extend(func.dfg.block_params(entry));
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
                    bad.extend([result].into_iter().chain(index.expand()));
                    match span(func.dfg.ty(result), &region).filter(|_| index.is_none()) {
                        Some(span) => spans.push((arg, span)),
                        None => bad.push(arg),
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
                    bad.extend([new].into_iter().chain(mask.expand()).chain(index.expand()));
                    webs.flows(func, old, result);
                    match span(func.dfg.ty(new), &region).filter(|_| index.is_none()) {
                        Some(span) => spans.push((result, span)),
                        None => bad.push(result),
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
                            webs.flows(func, arg, to);
                        }
                    }
                    // What decides where it goes, or is given back, comes first.
                    let mut all: SmallVec<[Value; 16]> = SmallVec::new();
                    data.for_each_arg(&func.dfg, |v| all.push(v));
                    bad.extend(all.iter().take(all.len() - going.min(all.len())));
                }
                _ => {
                    data.for_each_arg(&func.dfg, |v| bad.push(v));
                    bad.extend(func.dfg.results(inst));
                }
            }
        }
        for &p in func.dfg.block_params(block) {
            webs.params[p] = 1;
        }
    }
    for v in bad {
        let web = webs.of(v);
        webs.bad.insert(web);
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
        if !webs.bad.contains(web) {
            if webs.parts[web].is_empty() {
                webs.found.push(web);
            }
            webs.parts[web].push(span);
        }
    }
    webs
}

fn is_constant(func: &Function, v: Value) -> bool {
    let data = func.dfg.def_inst(v).map(|i| func.dfg.data(i));
    matches!(data, Some(InstData::Imm { .. } | InstData::ImmVec { .. }))
}

/// The bytes that a region of a type lies in; none where those are not whole elements, or
/// predicates.
fn span(part: Type, region: &Region) -> Option<(u32, u32)> {
    let size = part.scalar().bytes();
    let from = u32::from(region.offset);
    let elements = region.last_element(part.lanes()) + 1;
    (size > 0 && from.is_multiple_of(size)).then_some((from, from + elements * size))
}

/// What regions have together, in order.
fn cut(mut spans: Vec<(u32, u32)>) -> Cuts {
    spans.sort_unstable();
    let mut out = Cuts::new();
    for (from, to) in spans {
        match out.last_mut() {
            Some(last) if from < last.1 => last.1 = last.1.max(to),
            _ => out.push((from, to)),
        }
    }
    out
}

impl Split {
    /// The cuts of a vector that goes.
    fn cuts(&mut self, v: Value) -> Option<&Cuts> {
        let web = self.webs.of(v);
        Some(&self.cuts[web]).filter(|c| !c.is_empty())
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
            let keep: Vec<bool> = params.iter().map(|&p| self.cuts(p).is_none()).collect();
            if keep.contains(&false) {
                func.dfg.retain_block_params(block, &keep);
            }
        }
    }

    /// Gives a block a parameter for each piece, behind the others.
    fn params(&mut self, func: &mut Function, block: Block) {
        for p in func.dfg.block_params(block).to_vec() {
            let ty = func.dfg.ty(p);
            let Some(cuts) = self.cuts(p).cloned() else {
                continue;
            };
            let pieces = cuts.iter().map(|&c| {
                let ty = piece(ty, c);
                func.dfg.append_block_param(block, ty)
            });
            self.pieces[p] = pieces.collect();
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
                if let Some(cuts) = self.cuts(arg).cloned()
                    && let Some((n, (from, _))) = place(&cuts, region.offset)
                    && let Some(&of) = self.pieces[arg].get(n)
                {
                    let region = behind(region, from);
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
                if let Some(cuts) = self.cuts(result).cloned() {
                    let mut pieces = self.given(func, old, &cuts, inst, out);
                    if let Some((n, (from, _))) = place(&cuts, region.offset)
                        && let Some(of) = pieces.get_mut(n)
                    {
                        let data = InstData::WrRegion {
                            opcode,
                            args: [*of, new],
                            region: behind(region, from),
                            index: None.into(),
                            mask,
                        };
                        *of = made(func, data, func.dfg.ty(*of), inst, out);
                    }
                    self.pieces[result] = pieces;
                    return;
                }
            }
            (data @ InstData::Nullary { .. }, Some(result)) => {
                let ty = func.dfg.ty(result);
                if let Some(cuts) = self.cuts(result).cloned() {
                    let each = cuts
                        .iter()
                        .map(|&c| made(func, data, piece(ty, c), inst, out));
                    self.pieces[result] = each.collect();
                    return;
                }
            }
            (data, _) if data.opcode().info().terminator => self.branch(func, inst, out),
            _ => {}
        }
        out.push(inst);
    }

    /// The pieces of what goes into a vector.
    fn given(
        &mut self,
        func: &mut Function,
        v: Value,
        cuts: &Cuts,
        at: Inst,
        out: &mut BlockInsts,
    ) -> SmallVec<[Value; 4]> {
        let (ValueDef::Result(inst, _), true) = (func.dfg.def(v), is_constant(func, v)) else {
            return self.pieces[v].clone();
        };
        let (ty, data) = (func.dfg.ty(v), *func.dfg.data(inst));
        let size = ty.scalar().bytes().max(1);
        let of = |func: &mut Function, (from, to): (u32, u32)| {
            let InstData::ImmVec { opcode, constant } = data else {
                return data;
            };
            let lanes = func.dfg.constant(constant);
            let lanes = lanes.get((from / size) as usize..(to / size) as usize);
            match lanes {
                Some(&[bits]) => InstData::Imm {
                    opcode: if ty.scalar().is_float() {
                        Opcode::Fconst
                    } else {
                        Opcode::Iconst
                    },
                    bits,
                },
                lanes => {
                    let constant = lanes.unwrap_or(&[]).to_vec();
                    let constant = func.dfg.make_constant(constant);
                    InstData::ImmVec { opcode, constant }
                }
            }
        };
        let each = cuts.iter().map(|&c| {
            let data = of(func, c);
            made(func, data, piece(ty, c), at, out)
        });
        each.collect()
    }

    /// Gives blocks the pieces, behind what else they take.
    fn branch(&mut self, func: &mut Function, inst: Inst, out: &mut BlockInsts) {
        for n in 0..func.dfg.destinations(inst).len() {
            let dest = func.dfg.destinations(inst)[n];
            // Those of pieces are behind.
            let params = func.dfg.block_params(dest.block).to_vec();
            let args = dest.args.as_slice(&func.dfg.pool).to_vec();
            if params.len() == args.len() {
                continue;
            }
            let (mut kept, mut pieces) = (Vec::new(), Vec::new());
            for (&p, arg) in params.iter().zip(args) {
                match self.cuts(p).cloned() {
                    Some(cuts) => pieces.extend(self.given(func, arg, &cuts, inst, out)),
                    None => kept.push(arg),
                }
            }
            let (dests, pool) = func.dfg.destinations_mut(inst);
            if let Some(dest) = dests.get_mut(n) {
                dest.args = ValueList::from_iter(kept.into_iter().chain(pieces), pool);
            }
        }
    }
}

/// The type of a piece of a vector.
fn piece(ty: Type, (from, to): (u32, u32)) -> Type {
    ty.by((to - from) / ty.scalar().bytes().max(1))
}

/// The piece that a region is in.
fn place(cuts: &Cuts, offset: u16) -> Option<(usize, (u32, u32))> {
    let n = cuts.partition_point(|c| c.1 <= u32::from(offset));
    cuts.get(n).map(|c| (n, *c))
}

/// A region from where a piece begins.
fn behind(region: Region, from: u32) -> Region {
    Region {
        offset: region.offset - from as u16,
        parent_width: 0,
        ..region
    }
}

/// An instruction's result, from where another comes.
fn made(func: &mut Function, data: InstData, ty: Type, at: Inst, out: &mut BlockInsts) -> Value {
    let (inst, v) = func.make_like(at, data, ty);
    out.push(inst);
    v
}
