//! Hardware thread: stack frames, values, execution of instructions.

use super::block2d::blocks;
use super::memory::{Spaces, from_le};
use super::print::print;
use super::pure::{evaluate, lane_of};
use super::{Arg, Group, InterpError, Lanes, alu};
use crate::ir::{
    ArgFact, AtomicOp, Block, BlockCall, Dim, FuncKind, FuncRef, Function, ImageFact, Inst,
    InstData, MAX_SCRATCH, MemFlags, Module, Opcode, Origin, Scalar, SourceLoc, Type, Value,
};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use gantry_isa_gen::sem::FpMode;

/// Reason that a thread stopped running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ThreadState {
    /// Waits at the barrier of the work-group.
    Barrier,
    /// Waits at a named barrier of this many threads.
    Named { number: u8, threads: u32 },
    /// Returned.
    Ended,
}

/// Stand-in for the address of the printf buffer, which does not exist here.
const NO_BUFFER: u64 = 0x6000_0000_0000;

pub(super) struct Frame<'a> {
    pub(super) func: &'a Function,
    pub(super) values: SecondaryMap<Value, Lanes>,
    block: Block,
    /// Index in the block of the next instruction.
    next: usize,
    /// Call that is executing, for its results.
    call: Option<Inst>,
}

pub(super) struct Thread<'a> {
    module: &'a Module,
    group: &'a Group<'a>,
    number: u32,
    simd: u32,
    /// Mode of the kernel, which applies to its subroutines too.
    mode: FpMode,
    frames: Vec<Frame<'a>>,
    results: Vec<Lanes>,
    scratch: Vec<u8>,
    /// Number of reads of the clock so far.
    clock: u64,
    /// Number of arrivals at the barrier of the work-group so far.
    arrivals: u64,
    /// True if it has not yet waited for the last one.
    arrived: bool,
}

/// Continuation after an instruction.
enum Step {
    Next,
    Barrier,
    Named { number: u8, threads: u32 },
    Ended,
}

impl<'a> Thread<'a> {
    /// Makes a thread at the start of a function.
    pub(super) fn new(
        module: &'a Module,
        func: FuncRef,
        group: &'a Group<'a>,
        number: u32,
        simd: u32,
        args: &[Arg],
    ) -> Result<Self, InterpError> {
        let mut t = Thread {
            module,
            group,
            number,
            simd,
            mode: module
                .functions
                .get(func)
                .map_or(FpMode::IEEE, |f| f.float_controls().mode()),
            frames: Vec::new(),
            results: Vec::new(),
            scratch: match module.functions.get(func).map(|f| f.kind) {
                Some(FuncKind::Kernel { scratch_bytes, .. }) => {
                    vec![0; scratch_bytes.min(MAX_SCRATCH) as usize]
                }
                _ => Vec::new(),
            },
            clock: 0,
            arrivals: 0,
            arrived: false,
        };
        t.enter(func, args.iter().map(|a| a.0.clone()).collect())
            .map_err(InterpError::Launch)?;
        Ok(t)
    }

    /// Returns the number of arrivals at the barrier of the work-group so far.
    pub(super) const fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Returns the results of the outermost function.
    pub(super) fn results(self) -> Vec<Lanes> {
        self.results
    }

    fn enter(&mut self, func: FuncRef, args: Vec<Lanes>) -> Result<(), String> {
        let func = self
            .module
            .functions
            .get(func)
            .ok_or("call of a function that does not exist")?;
        let block = func.layout.entry().ok_or("the function has no block")?;
        let mut values = SecondaryMap::new();
        for (&v, lanes) in func.dfg.block_params(block).iter().zip(args) {
            values[v] = lanes;
        }
        self.frames.push(Frame {
            func,
            values,
            block,
            next: 0,
            call: None,
        });
        Ok(())
    }

    /// Runs up to a barrier or the end.
    pub(super) fn run(
        &mut self,
        memory: &mut Spaces<'_>,
        fuel: &mut u64,
    ) -> Result<ThreadState, InterpError> {
        std::mem::swap(&mut memory.scratch, &mut self.scratch);
        let state = self.steps(memory, fuel);
        std::mem::swap(&mut memory.scratch, &mut self.scratch);
        state
    }

    fn steps(
        &mut self,
        memory: &mut Spaces<'_>,
        fuel: &mut u64,
    ) -> Result<ThreadState, InterpError> {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                return Ok(ThreadState::Ended);
            };
            let (func, block) = (frame.func, frame.block);
            let Some(&inst) = func.layout.insts(block).get(frame.next) else {
                let what = format!("{block} has no terminator");
                return Err(self.failed(func, block.to_string(), SourceLoc::NONE, what));
            };
            frame.next += 1;
            let step = match fuel.checked_sub(1) {
                Some(left) => {
                    *fuel = left;
                    self.step(inst, memory)
                }
                None => Err(
                    "the instructions allowed for this launch are used up (an endless loop?)"
                        .to_owned(),
                ),
            };
            match step {
                Ok(Step::Next) => {}
                Ok(Step::Barrier) => return Ok(ThreadState::Barrier),
                Ok(Step::Named { number, threads }) => {
                    return Ok(ThreadState::Named { number, threads });
                }
                Ok(Step::Ended) => return Ok(ThreadState::Ended),
                Err(what) => {
                    let at = crate::ir::text::inst_text(func, Some(self.module), inst);
                    return Err(self.failed(func, at, func.srclocs[inst], what));
                }
            }
        }
    }

    fn failed(&self, func: &Function, at: String, loc: SourceLoc, what: String) -> InterpError {
        InterpError::Failed {
            function: func.name.clone(),
            group: self.group.id,
            thread: self.number,
            at,
            origin: Origin::of(loc, self.module),
            what,
        }
    }

    fn frame(&mut self) -> Result<&mut Frame<'a>, String> {
        self.frames.last_mut().ok_or_else(|| "no frame".to_owned())
    }

    fn step(&mut self, inst: Inst, memory: &mut Spaces<'_>) -> Result<Step, String> {
        let frame = self.frames.last().ok_or("no frame")?;
        let dfg = &frame.func.dfg;
        let data = *dfg.data(inst);
        let results = match data {
            _ if data.opcode().info().hint => return Ok(Step::Next),
            InstData::Jump { ref dest, .. } => {
                self.branch(dest)?;
                return Ok(Step::Next);
            }
            InstData::Brif {
                cond, ref dests, ..
            } => {
                let taken = frame.values[cond].first() == Some(&1);
                self.branch(&dests[usize::from(!taken)])?;
                return Ok(Step::Next);
            }
            InstData::Switch { arg, cases, .. } => {
                let cases = dfg.cases(cases);
                let is = frame.values[arg].first();
                let taken = cases.values.iter().position(|v| Some(v) == is);
                let dest = cases.dests.get(taken.map_or(0, |n| n + 1));
                self.branch(dest.ok_or("a `switch` without destinations")?)?;
                return Ok(Step::Next);
            }
            InstData::Call { func, args, .. } => {
                let args = args.as_slice(&dfg.pool).iter();
                let args = args.map(|&v| frame.values[v].clone()).collect();
                self.frame()?.call = Some(inst);
                self.enter(func, args)?;
                return Ok(Step::Next);
            }
            InstData::Return { args, .. } => {
                let args = args.as_slice(&dfg.pool).iter();
                let results: Vec<Lanes> = args.map(|&v| frame.values[v].clone()).collect();
                if self.frames.len() == 1 && self.arrived {
                    let what = "the thread ends at a barrier that it has not waited for";
                    return Err(what.to_owned());
                }
                self.frames.pop();
                let Some(caller) = self.frames.last_mut() else {
                    self.results = results;
                    return Ok(Step::Ended);
                };
                if let Some(call) = caller.call.take() {
                    for (&v, lanes) in caller.func.dfg.results(call).iter().zip(results) {
                        caller.values[v] = lanes;
                    }
                }
                return Ok(Step::Next);
            }
            InstData::Nullary { opcode } => match opcode {
                Opcode::Barrier | Opcode::BarrierArrive if self.arrived => {
                    return Err("the thread has arrived at a barrier, and not waited".to_owned());
                }
                Opcode::Barrier => {
                    self.arrivals += 1;
                    return Ok(Step::Barrier);
                }
                Opcode::BarrierArrive => {
                    (self.arrivals, self.arrived) = (self.arrivals + 1, true);
                    return Ok(Step::Next);
                }
                Opcode::BarrierWait if !self.arrived => {
                    return Err("the thread has not arrived at the barrier".to_owned());
                }
                Opcode::BarrierWait => {
                    self.arrived = false;
                    return Ok(Step::Barrier);
                }
                Opcode::HwThreadId => vec![vec![self.number.into()]],
                Opcode::Cycles => {
                    self.clock += 1;
                    vec![vec![self.clock]]
                }
                Opcode::WorkDim => vec![vec![self.group.grid.dimensions().into()]],
                Opcode::PrintfBuffer => vec![vec![NO_BUFFER]],
                Opcode::DispatchMask => vec![self.dispatch_mask()],
                Opcode::SubgroupId => {
                    let id = |dim| self.fact(Opcode::LocalId, dim).first().copied();
                    let [x, y, z] = [Dim::X, Dim::Y, Dim::Z].map(|d| id(d).unwrap_or(0));
                    let [wide, high, _] = self.group.grid.local.map(u64::from);
                    let item = (z * high + y) * wide + x;
                    vec![vec![item / u64::from(self.simd.max(1))]]
                }
                Opcode::SubgroupCount => {
                    let items = self.group.grid.local.map(u64::from);
                    let items = items[0] * items[1] * items[2];
                    vec![vec![items.div_ceil(u64::from(self.simd.max(1)))]]
                }
                _ => {
                    let lanes = dfg.first_result(inst).map_or(0, |v| dfg.ty(v).lanes());
                    vec![vec![0; lanes as usize]]
                }
            },
            InstData::Printf {
                format, args, mask, ..
            } => {
                print(frame, format, args.as_slice(&dfg.pool), mask, memory)?;
                return Ok(Step::Next);
            }
            InstData::Launch { opcode, dim } => vec![self.fact(opcode, dim)],
            InstData::Fence { .. } => return Ok(Step::Next),
            InstData::ArgQuery { fact, of, .. } => vec![vec![match fact {
                ArgFact::Image(ImageFact::FlatBase) => memory.image(of)?.address,
                ArgFact::Image(fact) => memory.image(of)?.fact(fact).into(),
                ArgFact::Sampler(fact) => memory.sampler(of)?.fact(fact).into(),
            }]],
            InstData::Media { .. } => match rectangle(frame, inst, data, memory)? {
                Some(read) => vec![read],
                None => return Ok(Step::Next),
            },
            InstData::NamedBarrier {
                number, threads, ..
            } => {
                let threads = lane_of(&frame.values[threads], 0)? as u32;
                return Ok(Step::Named { number, threads });
            }
            InstData::Block2d { .. } => match blocks(frame, inst, data, memory)? {
                Some(read) => vec![read],
                None => return Ok(Step::Next),
            },
            InstData::Send { .. } => {
                return Err("what a message does is not known here".to_owned());
            }
            InstData::Image { .. } => match texels(frame, inst, data, memory)? {
                Some(read) => vec![read],
                None => return Ok(Step::Next),
            },
            InstData::ImageAtomic { .. } => vec![texel_atomic(frame, inst, data, memory)?],
            InstData::Symbol { data, .. } => vec![vec![memory.data_address(data)?]],
            InstData::Store {
                opcode,
                mem,
                args: [value, addr],
                offset,
                mask,
            } => {
                let ty = dfg.ty(value);
                let size = ty.scalar().bytes() as usize;
                let lanes = &frame.values[value];
                for (lane, address) in
                    LaneAddresses::new(frame, opcode, mem, ty, addr, offset, mask)
                {
                    let bits = lane_of(lanes, lane)?;
                    memory
                        .write(mem.space, address, &bits.to_le_bytes()[..size])
                        .map_err(|e| format!("lane {lane}: {e}"))?;
                }
                return Ok(Step::Next);
            }
            InstData::Load {
                opcode,
                mem,
                addr,
                offset,
                mask,
                old,
            } => {
                let (ty, mut out) = lanes_before(frame, inst, old.expand())?;
                for (lane, address) in
                    LaneAddresses::new(frame, opcode, mem, ty, addr, offset, mask)
                {
                    let bits = memory
                        .read(mem.space, address, ty.scalar().bytes())
                        .map_err(|e| format!("lane {lane}: {e}"))?;
                    *out.get_mut(lane).ok_or("a lane too many")? = bits;
                }
                vec![out]
            }
            InstData::Atomic {
                opcode,
                op,
                mem,
                addr,
                offset,
                data,
                mask,
                old,
            } => {
                let (ty, mut out) = lanes_before(frame, inst, old.expand())?;
                let size = ty.scalar().bytes();
                for (lane, address) in
                    LaneAddresses::new(frame, opcode, mem, ty, addr, offset, mask)
                {
                    let operand = |n: usize| -> Result<u64, String> {
                        match data[n].expand() {
                            Some(v) => lane_of(&frame.values[v], lane),
                            None => Ok(0),
                        }
                    };
                    let before = memory
                        .read(mem.space, address, size)
                        .map_err(|e| format!("lane {lane}: {e}"))?;
                    let after = change(op, ty.scalar(), before, [operand(0)?, operand(1)?]);
                    memory
                        .write(mem.space, address, &after.to_le_bytes()[..size as usize])
                        .map_err(|e| format!("lane {lane}: {e}"))?;
                    *out.get_mut(lane).ok_or("a lane too many")? = before;
                }
                vec![out]
            }
            ref pure => {
                let dfg = &frame.func.dfg;
                let result = dfg.first_result(inst).ok_or("no result")?;
                let values = |v| &frame.values[v];
                evaluate(dfg, dfg.ty(result), pure, values, &self.mode)?
            }
        };
        let frame = self.frame()?;
        for (&v, lanes) in frame.func.dfg.results(inst).iter().zip(results) {
            frame.values[v] = lanes;
        }
        Ok(Step::Next)
    }

    fn branch(&mut self, dest: &BlockCall) -> Result<(), String> {
        let frame = self.frame()?;
        let dfg = &frame.func.dfg;
        // All arguments are read before any parameter is written.
        let args = dest.args.as_slice(&dfg.pool).iter();
        let args: Vec<Lanes> = args.map(|&v| frame.values[v].clone()).collect();
        for (&v, lanes) in dfg.block_params(dest.block).iter().zip(args) {
            frame.values[v] = lanes;
        }
        frame.block = dest.block;
        frame.next = 0;
        Ok(())
    }

    /// Returns the local index of the work-item of a lane, and true if it exists.
    fn item(&self, lane: u32) -> (u64, bool) {
        let n = u64::from(self.number) * u64::from(self.simd) + u64::from(lane);
        let [x, y, z] = self.group.size.map(u64::from);
        (n, n < x * y * z)
    }

    fn dispatch_mask(&self) -> Lanes {
        (0..self.simd).map(|l| u64::from(self.item(l).1)).collect()
    }

    fn fact(&self, opcode: Opcode, dim: Dim) -> Lanes {
        let (grid, d) = (self.group.grid, dim.index());
        let one = |v: u32| vec![u64::from(v)];
        match opcode {
            Opcode::GroupId => one(self.group.id[d]),
            Opcode::LocalSize => one(grid.local[d]),
            Opcode::GroupCount => one(grid.groups()[d]),
            Opcode::GlobalSize => one(grid.global[d]),
            Opcode::GlobalOffset => one(grid.offset[d]),
            _ => {
                let [x, y, _] = self.group.size.map(|s| u64::from(s.max(1)));
                let id = |n: u64| match dim {
                    Dim::X => n % x,
                    Dim::Y => n / x % y,
                    Dim::Z => n / x / y,
                };
                // Lanes without a work-item have an unspecified id, here 0.
                let lane = |l: u32| match self.item(l) {
                    (n, true) => id(n) & 0xffff,
                    (_, false) => 0,
                };
                (0..self.simd).map(lane).collect()
            }
        }
    }
}

/// Executes an image operation, and returns the loaded value.
fn texels(
    frame: &Frame<'_>,
    inst: Inst,
    data: InstData,
    memory: &mut Spaces<'_>,
) -> Result<Option<Lanes>, String> {
    let InstData::Image {
        opcode,
        at,
        coords,
        lod,
        data,
        mask,
        old,
    } = data
    else {
        return Ok(None);
    };
    let image = memory.image(at.image)?;
    let given: Vec<&Lanes> = coords
        .iter()
        .filter_map(|c| c.expand())
        .map(|v| &frame.values[v])
        .collect();
    let lanes = given.first().map_or(0, |c| c.len());
    let dfg = &frame.func.dfg;
    let all = dfg.first_result(inst).map_or(0, |v| dfg.ty(v).lanes());
    let mut out = match old.expand() {
        Some(v) => frame.values[v].clone(),
        None => vec![0; all as usize],
    };
    for lane in 0..lanes {
        let off = |m: Value| frame.values[m].get(lane) != Some(&1);
        if mask.expand().is_some_and(off) {
            continue;
        }
        let mut bits = [0u32; 4];
        for (b, c) in bits.iter_mut().zip(&given) {
            *b = lane_of(c, lane)? as u32;
        }
        let place = bits.map(|b| i64::from(b as i32));
        let failed = |e: super::MemoryError| format!("lane {lane}: {e}");
        let level = match lod.expand() {
            Some(v) => lane_of(&frame.values[v], lane)?,
            None => 0,
        };
        let texel = match opcode {
            Opcode::ImageStore => {
                let from = data.expand().map(|v| &frame.values[v]);
                let mut texel = [0; 4];
                for (n, t) in texel.iter_mut().enumerate() {
                    *t = lane_of(from.ok_or("no texels")?, n * lanes + lane)? as u32;
                }
                if let Some(image) = image.level(level) {
                    image.store(memory.memory, place, texel).map_err(failed)?;
                }
                continue;
            }
            Opcode::Sample => {
                let sampler = memory.sampler(at.sampler)?;
                let coords = bits.map(f32::from_bits);
                let reference = match data.expand() {
                    Some(v) => Some(f32::from_bits(lane_of(&frame.values[v], lane)? as u32)),
                    None => None,
                };
                // Without a level it is 0, as a float too.
                let at = (coords, f32::from_bits(level as u32));
                image.sample(memory.memory, &sampler, at, reference)
            }
            _ => match image.level(level) {
                Some(image) => image.load(memory.memory, place),
                None => Ok([0; 4]),
            },
        };
        for (n, t) in texel.map_err(failed)?.into_iter().enumerate() {
            *out.get_mut(n * lanes + lane).ok_or("a lane too many")? = u64::from(t);
        }
    }
    Ok((opcode != Opcode::ImageStore).then_some(out))
}

/// Executes `image_atomic`, and returns the old texels.
fn texel_atomic(
    frame: &Frame<'_>,
    inst: Inst,
    data: InstData,
    memory: &mut Spaces<'_>,
) -> Result<Lanes, String> {
    let InstData::ImageAtomic {
        op,
        image,
        coords,
        data,
        mask,
        old,
        ..
    } = data
    else {
        return Err("no atomic of texels".to_owned());
    };
    let image = memory.image(image)?;
    if !image.has_counters() {
        return Err("an atomic on texels that are not one 32-bit integer".to_owned());
    }
    let (ty, mut out) = lanes_before(frame, inst, old.expand())?;
    for (lane, before) in out.iter_mut().enumerate() {
        let operand = |v: PackedOption<Value>| match v.expand() {
            Some(v) => lane_of(&frame.values[v], lane),
            None => Ok(0),
        };
        if mask.is_some() && operand(mask)? != 1 {
            continue;
        }
        let mut place = [0; 4];
        for (p, &c) in place.iter_mut().zip(&coords) {
            *p = i64::from(operand(c)? as u32 as i32);
        }
        let operands = [operand(data[0])?, operand(data[1])?];
        let update = |old: u32| change(op, ty.scalar(), old.into(), operands) as u32;
        let texel = image.update(memory.memory, place, update);
        *before = texel.map_err(|e| format!("lane {lane}: {e}"))?.into();
    }
    Ok(out)
}

/// Executes `media_load` and `media_store`, and returns the loaded value.
fn rectangle(
    frame: &Frame<'_>,
    inst: Inst,
    data: InstData,
    memory: &mut Spaces<'_>,
) -> Result<Option<Lanes>, String> {
    let InstData::Media {
        image,
        width,
        coords,
        data,
        ..
    } = data
    else {
        return Ok(None);
    };
    let image = memory.image(image)?;
    let [x, y] = coords.map(|c| lane_of(&frame.values[c], 0).map(|v| i64::from(v as i32)));
    let (x, y) = (x?, y?);
    let dfg = &frame.func.dfg;
    let value = data.expand().or(dfg.first_result(inst)).ok_or("no value")?;
    let ty = dfg.ty(value);
    let size = ty.scalar().bytes() as usize;
    let width = i64::from(width.max(1));
    let place = |n: usize, nearest| {
        let n = n as i64;
        image.byte(x + n % width, y + n / width, nearest)
    };
    let mut bytes = vec![0; ty.bytes() as usize];
    if data.is_some() {
        let lanes = frame.values[value].iter();
        let from = lanes.flat_map(|l| l.to_le_bytes().into_iter().take(size));
        for (n, b) in from.enumerate() {
            if let Some(at) = place(n, false) {
                memory.memory.write(at, &[b]).map_err(|e| e.to_string())?;
            }
        }
        return Ok(None);
    }
    for (n, b) in bytes.iter_mut().enumerate() {
        if let Some(at) = place(n, true) {
            let mut one = [0];
            memory
                .memory
                .read(at, &mut one)
                .map_err(|e| e.to_string())?;
            *b = one[0];
        }
    }
    let lanes = bytes.chunks(size.max(1)).map(from_le);
    Ok(Some(lanes.collect()))
}

/// Returns the type of an access's result, and the value of lanes that it leaves unchanged.
fn lanes_before(
    frame: &Frame<'_>,
    inst: Inst,
    old: Option<Value>,
) -> Result<(Type, Lanes), String> {
    let dfg = &frame.func.dfg;
    let result = dfg.first_result(inst).ok_or("no result")?;
    let ty = dfg.ty(result);
    let lanes = match old {
        Some(v) => frame.values[v].clone(),
        None => vec![0; ty.lanes() as usize],
    };
    Ok((ty, lanes))
}

/// Enabled lanes of a load or store, with their addresses.
struct LaneAddresses {
    list: std::vec::IntoIter<(usize, u64)>,
}

impl LaneAddresses {
    fn new(
        frame: &Frame<'_>,
        opcode: Opcode,
        mem: MemFlags,
        ty: Type,
        addr: Value,
        offset: i32,
        mask: PackedOption<Value>,
    ) -> Self {
        let base = &frame.values[addr];
        let block = matches!(opcode, Opcode::Bload | Opcode::Bstore);
        let size = u64::from(ty.scalar().bytes());
        // If lanes have several elements, the first elements of all lanes come before the second
        // ones.
        let each = base.len().max(1);
        let wrap = mem.space.address().mask();
        let mut list = Vec::new();
        for lane in 0..ty.lanes() as usize {
            let item = if block { lane } else { lane % each };
            let on = mask
                .expand()
                .is_none_or(|m| frame.values[m].get(item) == Some(&1));
            let at = if block {
                base.first().map(|b| b.wrapping_add(lane as u64 * size))
            } else {
                let element = (lane / each) as u64 * size;
                base.get(item).map(|b| b.wrapping_add(element))
            };
            if let (true, Some(at)) = (on, at) {
                list.push((lane, at.wrapping_add_signed(i64::from(offset)) & wrap));
            }
        }
        LaneAddresses {
            list: list.into_iter(),
        }
    }
}

impl Iterator for LaneAddresses {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<Self::Item> {
        self.list.next()
    }
}

/// Returns the new value of an element after an atomic.
fn change(op: AtomicOp, ty: Scalar, old: u64, [a, b]: [u64; 2]) -> u64 {
    let mask = ty.mask();
    let signed = |v: u64| (v << (64 - ty.bits())) as i64;
    let float = |v: u64| alu::float(ty, v);
    let pick = |take: bool| if take { a } else { old };
    mask & match op {
        AtomicOp::Add => old.wrapping_add(a),
        AtomicOp::Sub => old.wrapping_sub(a),
        AtomicOp::Inc => old.wrapping_add(1),
        AtomicOp::Dec => old.wrapping_sub(1),
        AtomicOp::And => old & a,
        AtomicOp::Or => old | a,
        AtomicOp::Xor => old ^ a,
        AtomicOp::Xchg => a,
        AtomicOp::Smin => pick(signed(a) < signed(old)),
        AtomicOp::Smax => pick(signed(a) > signed(old)),
        AtomicOp::Umin => a.min(old),
        AtomicOp::Umax => a.max(old),
        AtomicOp::Fmin => pick(float(a) < float(old) || float(old).is_nan()),
        AtomicOp::Fmax => pick(float(a) > float(old) || float(old).is_nan()),
        AtomicOp::Cmpxchg => {
            if old == a {
                b
            } else {
                old
            }
        }
        AtomicOp::Fcmpxchg => {
            if float(old) == float(a) {
                b
            } else {
                old
            }
        }
    }
}
