//! Partial evaluation: what becomes constant if the iterations of a loop are copied in sequence.
//!
//! [`Trial`] runs the iterations of a loop, with those of the loops in it, on what is known: the
//! counter, what follows from it, and elements of constant data. A branch by a constant is followed
//! one way, any other both ways. So it counts the instructions that unrolling would leave, and not
//! those that it would copy.

use super::shape::LoopShape;
use crate::ir::interp::Lanes;
use crate::ir::interp::pure::evaluate;
use crate::ir::{Block, DataRef, Function, Inst, InstData, Module, Opcode, Type, Value};
use crate::opt::egraph::is_node;
use crate::opt::fold_loads;
use crate::opt::loops::{Loop, Loops};
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::sem::FpMode;
use smallvec::SmallVec;

/// Known value of one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    Bits(u64),
    /// Address in constant data.
    Address(DataRef, u64),
}

/// Facts that decide what an operation on constants is.
#[derive(Clone, Copy)]
pub(super) struct Folder<'a> {
    pub module: &'a Module,
    pub mode: FpMode,
}

impl Folder<'_> {
    /// Returns the value of an instruction, where `known` tells those of its operands.
    pub fn fold(
        &self,
        func: &Function,
        inst: Inst,
        known: impl Fn(Value) -> Option<Known>,
    ) -> Option<Known> {
        let dfg = &func.dfg;
        let &[result] = dfg.results(inst) else {
            return None;
        };
        let (data, ty) = (dfg.data(inst), dfg.ty(result));
        if ty.lanes() != 1 {
            return None;
        }
        let bits = |v: Value| match known(v)? {
            Known::Bits(bits) => Some(bits),
            Known::Address(..) => None,
        };
        match *data {
            InstData::Imm { bits, .. } => return Some(Known::Bits(bits & ty.scalar().mask())),
            InstData::Symbol { data, .. } => return Some(Known::Address(data, 0)),
            InstData::Load { addr, .. } => {
                let Known::Address(data, at) = known(addr)? else {
                    return None;
                };
                let lanes = fold_loads::elements(func, self.module, inst, data, at)?;
                return lanes.first().map(|&b| Known::Bits(b));
            }
            InstData::Binary {
                opcode: Opcode::Iadd,
                args: [a, b],
            } => match (known(a)?, known(b)?) {
                (Known::Address(data, at), Known::Bits(by))
                | (Known::Bits(by), Known::Address(data, at)) => {
                    return Some(Known::Address(data, at.wrapping_add(by)));
                }
                _ => {}
            },
            InstData::RdRegion {
                arg,
                ref region,
                index,
                ..
            } => {
                let table = match *dfg.data(dfg.def_inst(arg)?) {
                    InstData::ImmVec { constant, .. } => dfg.constant(constant),
                    _ => return None,
                };
                let index = match index.expand() {
                    Some(index) => bits(index)? as u16 as i16,
                    None => 0,
                };
                let at = i64::from(region.offset) + i64::from(index);
                let n = usize::try_from(at / i64::from(ty.scalar().bytes().max(1))).ok()?;
                return table.get(n).map(|&b| Known::Bits(b));
            }
            _ if !is_node(data) => return None,
            _ => {}
        }
        let mut args: SmallVec<[(Value, Lanes); 3]> = SmallVec::new();
        let mut all = true;
        data.for_each_arg(dfg, |v| match bits(v).filter(|_| dfg.ty(v).lanes() == 1) {
            Some(b) => args.push((v, vec![b])),
            None => all = false,
        });
        if !all {
            return None;
        }
        let none = Lanes::new();
        let value = |v: Value| args.iter().find(|a| a.0 == v).map_or(&none, |a| &a.1);
        let lanes = evaluate(dfg, ty, data, value, &self.mode).ok()?;
        let bits = lanes.first()?.first()? & ty.scalar().mask();
        Some(Known::Bits(bits))
    }
}

/// Returns what is known of a value by the instructions that define it.
pub(super) fn known(func: &Function, v: Value) -> Option<Known> {
    let dfg = &func.dfg;
    match *dfg.data(dfg.def_inst(v)?) {
        InstData::Imm { bits, .. } if dfg.ty(v).lanes() == 1 => Some(Known::Bits(bits)),
        _ => fold_loads::address(func, v).map(|(data, at)| Known::Address(data, at)),
    }
}

/// Instruction that makes a constant.
pub(super) fn immediate(ty: Type, bits: u64) -> InstData {
    let opcode = match ty.scalar() {
        s if s.is_float() => Opcode::Fconst,
        crate::ir::Scalar::B1 => Opcode::Bconst,
        _ => Opcode::Iconst,
    };
    InstData::Imm { opcode, bits }
}

/// Result of a trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub iterations: u32,
    /// Instructions that are left.
    pub left: usize,
    /// Indices into vectors that become constants.
    pub indices: usize,
}

/// Limits of a trial.
#[derive(Clone, Copy)]
pub(super) struct TrialLimits {
    pub iterations: u32,
    /// Instructions that are left, and instructions that are looked at.
    pub left: usize,
    pub steps: usize,
}

/// Trial run of a loop.
pub(super) struct Trial<'a> {
    func: &'a Function,
    folder: Folder<'a>,
    loops: &'a Loops,
    shapes: &'a SecondaryMap<Loop, Option<LoopShape>>,
    limits: TrialLimits,
    /// Values that are known in the current iteration, of those that the loop defines.
    known: SecondaryMap<Value, Option<Known>>,
    /// Values that the loop defines.
    inside: SecondaryMap<Value, bool>,
    /// Blocks that are reached, and were not run yet.
    reached: SecondaryMap<Block, bool>,
    left: usize,
    indices: usize,
    steps: usize,
}

impl<'a> Trial<'a> {
    pub fn new(
        func: &'a Function,
        folder: Folder<'a>,
        loops: &'a Loops,
        shapes: &'a SecondaryMap<Loop, Option<LoopShape>>,
    ) -> Trial<'a> {
        Trial {
            func,
            folder,
            loops,
            shapes,
            limits: TrialLimits {
                iterations: 0,
                left: 0,
                steps: 0,
            },
            known: SecondaryMap::new(),
            inside: SecondaryMap::new(),
            reached: SecondaryMap::new(),
            left: 0,
            indices: 0,
            steps: 0,
        }
    }

    /// Instructions that were looked at.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Runs a loop from its entry. `None` if its iterations are not known, or over a limit.
    pub fn run(&mut self, shape: &LoopShape, limits: TrialLimits) -> Option<Outcome> {
        self.limits = limits;
        (self.left, self.indices, self.steps) = (0, 0, 0);
        self.define(shape, true);
        self.enter(shape.before, shape.header);
        let iterations = self.iterate(shape);
        self.define(shape, false);
        Some(Outcome {
            iterations: iterations?,
            left: self.left,
            indices: self.indices,
        })
    }

    /// Sets whether the values of a loop are those of the trial.
    fn define(&mut self, shape: &LoopShape, inside: bool) {
        for &block in &shape.blocks {
            let insts = self.func.layout.insts(block).iter();
            let results = insts.flat_map(|&i| self.func.dfg.results(i));
            for &v in self.func.dfg.block_params(block).iter().chain(results) {
                self.inside[v] = inside;
                self.known[v] = None;
            }
            self.reached[block] = false;
        }
    }

    fn value(&self, v: Value) -> Option<Known> {
        if self.inside[v] {
            self.known[v]
        } else {
            known(self.func, v)
        }
    }

    /// Takes the edges of a block to another one: parameters are known if all edges agree.
    fn enter(&mut self, from: Block, to: Block) {
        let Some(end) = self.func.layout.terminator(from) else {
            return;
        };
        for dest in self.func.dfg.destinations(end) {
            if dest.block == to {
                self.edge(dest.block, dest.args.as_slice(&self.func.dfg.pool));
            }
        }
    }

    fn edge(&mut self, to: Block, args: &[Value]) {
        let first = !std::mem::replace(&mut self.reached[to], true);
        let args: SmallVec<[Option<Known>; 8]> = args.iter().map(|&v| self.value(v)).collect();
        for (&param, arg) in self.func.dfg.block_params(to).iter().zip(args) {
            let agrees = first || self.known[param] == arg;
            self.known[param] = arg.filter(|_| agrees);
        }
    }

    /// Runs the iterations of a loop whose header was entered. Ends with the edge to its exit.
    fn iterate(&mut self, shape: &LoopShape) -> Option<u32> {
        let end = self.func.layout.terminator(shape.header)?;
        let dests = self.func.dfg.destinations(end);
        let (body, exit) = (*dests.get(shape.body)?, *dests.get(shape.exit)?);
        let mut iterations = 0;
        loop {
            self.reached[shape.header] = false;
            self.insts(shape.header)?;
            let Some(Known::Bits(cond)) = self.value(shape.cond) else {
                return None;
            };
            let pool = &self.func.dfg.pool;
            if (cond & 1 == 1) != (shape.body == 0) {
                self.edge(exit.block, exit.args.as_slice(pool));
                return Some(iterations);
            }
            iterations += 1;
            if iterations > self.limits.iterations {
                return None;
            }
            self.edge(body.block, body.args.as_slice(pool));
            for &block in shape.blocks.iter().skip(1) {
                if std::mem::take(&mut self.reached[block]) {
                    self.block(shape, block)?;
                }
            }
            // Otherwise the thread ended.
            if !self.reached[shape.header] {
                return None;
            }
        }
    }

    /// Runs a block of a loop, or the loop that begins there.
    fn block(&mut self, around: &LoopShape, block: Block) -> Option<()> {
        if let Some(inner) = self.loops.of(block).filter(|_| block != around.header)
            && self.loops.loops[inner].header == block
        {
            let shapes = self.shapes;
            let before = (self.left, self.indices);
            if let Some(shape) = &shapes[inner] {
                if self.iterate(shape).is_some() {
                    return Some(());
                }
                if self.is_over() {
                    return None;
                }
                (self.left, self.indices) = before;
                for &b in &shape.blocks {
                    self.reached[b] = false;
                }
            }
            // What changes from iteration to iteration is not known.
            for &p in self.func.dfg.block_params(block) {
                self.known[p] = None;
            }
        }
        self.insts(block)?;
        let end = self.func.layout.terminator(block)?;
        let (dfg, pool) = (&self.func.dfg, &self.func.dfg.pool);
        let dests = dfg.destinations(end);
        let taken = match *dfg.data(end) {
            InstData::Brif { cond, .. } => match self.value(cond) {
                Some(Known::Bits(b)) => dests.get(usize::from(b & 1 == 0)),
                _ => None,
            },
            _ => None,
        };
        if let Some(dest) = taken {
            self.edge(dest.block, dest.args.as_slice(pool));
            return Some(());
        }
        self.left += dests.len().saturating_sub(1) * 2;
        for dest in dests {
            // The next iteration of an inner loop that stays.
            let stays = dest.block != around.header
                && self.loops.of(dest.block).is_some_and(|l| {
                    self.loops.loops[l].header == dest.block && self.loops.contains(l, block)
                });
            if !stays {
                self.edge(dest.block, dest.args.as_slice(pool));
            }
        }
        Some(())
    }

    fn is_over(&self) -> bool {
        self.left > self.limits.left || self.steps > self.limits.steps
    }

    /// Evaluates the instructions of a block, without its end.
    fn insts(&mut self, block: Block) -> Option<()> {
        let func = self.func;
        let (_, insts) = func.layout.insts(block).split_last()?;
        for &inst in insts {
            self.steps += 1;
            let folded = self.folder.fold(func, inst, |v| self.value(v));
            if let &[result] = func.dfg.results(inst) {
                self.known[result] = folded;
            }
            if folded.is_some() {
                continue;
            }
            match *func.dfg.data(inst) {
                InstData::RdRegion { index, .. } | InstData::WrRegion { index, .. } => {
                    match index.expand() {
                        None => {}
                        Some(i) if matches!(self.value(i), Some(Known::Bits(_))) => {
                            self.indices += usize::from(known(func, i).is_none());
                        }
                        Some(_) => self.left += 2,
                    }
                }
                InstData::ImmVec { .. } => {}
                _ => self.left += 1,
            }
        }
        (!self.is_over()).then_some(())
    }
}
