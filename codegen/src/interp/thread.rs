//! One hardware thread: frames, values, instructions.

use super::memory::from_le;
use super::{Arg, Group, InterpError, Lanes, Memory, alu};
use crate::ir::{
    Block, BlockCall, Dim, FuncRef, Function, Inst, InstData, Module, Opcode, Region, Scalar, Type,
    Value,
};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

/// Why a thread stopped running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// It waits at a barrier.
    Barrier,
    /// It returned.
    Ended,
}

struct Frame<'a> {
    func: &'a Function,
    values: SecondaryMap<Value, Lanes>,
    block: Block,
    /// The next instruction's place in the block.
    next: usize,
    /// The call that is executing, for its results.
    call: Option<Inst>,
}

pub(super) struct Thread<'a> {
    module: &'a Module,
    group: &'a Group<'a>,
    number: u32,
    simd: u32,
    frames: Vec<Frame<'a>>,
    results: Vec<Lanes>,
}

/// What to do after an instruction.
enum Step {
    Next,
    Barrier,
    Ended,
}

impl<'a> Thread<'a> {
    /// A thread at the start of a function.
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
            frames: Vec::new(),
            results: Vec::new(),
        };
        t.enter(func, args.iter().map(|a| a.0.clone()).collect())
            .map_err(InterpError::Launch)?;
        Ok(t)
    }

    /// What the outermost function returned.
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
        memory: &mut dyn Memory,
        fuel: &mut u64,
    ) -> Result<State, InterpError> {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                return Ok(State::Ended);
            };
            let (func, block) = (frame.func, frame.block);
            let Some(&inst) = func.layout.insts(block).get(frame.next) else {
                let what = format!("{block} has no terminator");
                return Err(self.failed(func, block.to_string(), what));
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
                Ok(Step::Barrier) => return Ok(State::Barrier),
                Ok(Step::Ended) => return Ok(State::Ended),
                Err(what) => {
                    let at = crate::text::inst_text(func, Some(self.module), inst);
                    return Err(self.failed(func, at, what));
                }
            }
        }
    }

    fn failed(&self, func: &Function, at: String, what: String) -> InterpError {
        InterpError::Failed {
            function: func.name.clone(),
            group: self.group.id,
            thread: self.number,
            at,
            what,
        }
    }

    fn frame(&mut self) -> Result<&mut Frame<'a>, String> {
        self.frames.last_mut().ok_or_else(|| "no frame".to_owned())
    }

    fn step(&mut self, inst: Inst, memory: &mut dyn Memory) -> Result<Step, String> {
        let frame = self.frames.last().ok_or("no frame")?;
        let dfg = &frame.func.dfg;
        let data = *dfg.data(inst);
        let results = match data {
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
                Opcode::Barrier => return Ok(Step::Barrier),
                Opcode::Fence => return Ok(Step::Next),
                Opcode::DispatchMask => vec![self.dispatch_mask()],
                _ => {
                    let lanes = dfg.first_result(inst).map_or(0, |v| dfg.ty(v).lanes());
                    vec![vec![0; lanes as usize]]
                }
            },
            InstData::Launch { opcode, dim } => vec![self.fact(opcode, dim)],
            InstData::Store {
                opcode,
                args: [value, addr],
                offset,
                mask,
            } => {
                let access =
                    Access::new(frame, opcode, frame.func.dfg.ty(value), addr, offset, mask);
                let lanes = &frame.values[value];
                for (lane, address) in access {
                    let bits = lane_of(lanes, lane)?;
                    let size = dfg.ty(value).scalar().bytes() as usize;
                    memory
                        .write(address, &bits.to_le_bytes()[..size])
                        .map_err(|e| format!("lane {lane}: {e}"))?;
                }
                return Ok(Step::Next);
            }
            InstData::Load {
                opcode,
                addr,
                offset,
                mask,
                old,
            } => {
                let ty = dfg
                    .first_result(inst)
                    .map(|v| dfg.ty(v))
                    .ok_or("no result")?;
                let mut out = match old.expand() {
                    Some(v) => frame.values[v].clone(),
                    None => vec![0; ty.lanes() as usize],
                };
                for (lane, address) in Access::new(frame, opcode, ty, addr, offset, mask) {
                    let mut bytes = [0; 8];
                    let bytes = &mut bytes[..ty.scalar().bytes() as usize];
                    memory
                        .read(address, bytes)
                        .map_err(|e| format!("lane {lane}: {e}"))?;
                    *out.get_mut(lane).ok_or("a lane too many")? = from_le(bytes);
                }
                vec![out]
            }
            ref pure => evaluate(frame.func, inst, pure, &frame.values)?,
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

    /// The number in its group of the thread's lane, and whether there is such a work-item.
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
                // Lanes without a work-item have no id; 0 is as good as any.
                let lane = |l: u32| match self.item(l) {
                    (n, true) => id(n) & 0xffff,
                    (_, false) => 0,
                };
                (0..self.simd).map(lane).collect()
            }
        }
    }
}

fn lane_of(lanes: &[u64], lane: usize) -> Result<u64, String> {
    lanes
        .get(lane)
        .copied()
        .ok_or_else(|| format!("there is no lane {lane} (the function was not verified)"))
}

/// The lanes and addresses of a load or store.
struct Access {
    list: std::vec::IntoIter<(usize, u64)>,
}

impl Access {
    fn new(
        frame: &Frame<'_>,
        opcode: Opcode,
        ty: Type,
        addr: Value,
        offset: i32,
        mask: PackedOption<Value>,
    ) -> Self {
        let base = &frame.values[addr];
        let block = matches!(opcode, Opcode::Bload | Opcode::Bstore);
        let size = u64::from(ty.scalar().bytes());
        let mut list = Vec::new();
        for lane in 0..ty.lanes() as usize {
            let on = mask
                .expand()
                .is_none_or(|m| frame.values[m].get(lane) == Some(&1));
            let at = match block {
                true => base.first().map(|b| b.wrapping_add(lane as u64 * size)),
                false => base.get(lane).copied(),
            };
            if let (true, Some(at)) = (on, at) {
                list.push((lane, at.wrapping_add_signed(i64::from(offset))));
            }
        }
        Access {
            list: list.into_iter(),
        }
    }
}

impl Iterator for Access {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<Self::Item> {
        self.list.next()
    }
}

/// Element of a region that a lane is, in elements of `bytes` from the vector's start.
fn element(r: &Region, lane: usize, index: Option<&Lanes>, bytes: u32) -> Result<usize, String> {
    let lane = lane as u32;
    let row = lane / u32::from(r.width).max(1);
    let (start, within) = match index {
        None => (0, r.element(lane)),
        Some(i) if i.len() == 1 => (alu::signed(Scalar::I16, lane_of(i, 0)?), r.element(lane)),
        Some(i) => (
            alu::signed(Scalar::I16, lane_of(i, row as usize)?),
            lane % u32::from(r.width).max(1) * u32::from(r.hstride),
        ),
    };
    let at = start + i64::from(r.offset) + i64::from(within) * i64::from(bytes);
    let size = i64::from(bytes.max(1));
    if at < 0 || at % size != 0 {
        return Err(format!(
            "lane {lane} of the region is at byte {at} of the vector"
        ));
    }
    Ok((at / size) as usize)
}

/// The results of an operation that only computes.
fn evaluate(
    func: &Function,
    inst: Inst,
    data: &InstData,
    values: &SecondaryMap<Value, Lanes>,
) -> Result<Vec<Lanes>, String> {
    let dfg = &func.dfg;
    let to = dfg
        .first_result(inst)
        .map(|v| dfg.ty(v))
        .ok_or("no result")?;
    let none = || format!("`{}` has no meaning here", data.opcode());
    let lanes = |f: &mut dyn FnMut(usize) -> Result<u64, String>| -> Result<Lanes, String> {
        (0..to.lanes() as usize).map(f).collect()
    };
    let one = match *data {
        InstData::Imm { opcode, bits } => {
            let pred = opcode == Opcode::Bconst;
            lanes(&mut |l| Ok(if pred { bits >> l & 1 } else { bits }))?
        }
        InstData::ImmVec { constant, .. } => dfg.constant(constant).to_vec(),
        InstData::Unary { opcode, arg } => {
            let (from, x) = (dfg.ty(arg), &values[arg]);
            match opcode {
                Opcode::Any => vec![u64::from(x.contains(&1))],
                Opcode::All => vec![u64::from(x.iter().all(|&b| b == 1))],
                Opcode::PredToBits => {
                    vec![x.iter().enumerate().fold(0, |v, (l, &b)| v | b << (l % 64))]
                }
                Opcode::BitsToPred => {
                    let bits = lane_of(x, 0)?;
                    lanes(&mut |l| Ok(bits >> l & 1))?
                }
                Opcode::Bitcast => bitcast(from, to, x),
                _ => lanes(&mut |l| alu::unary(opcode, from, to, lane_of(x, l)?).ok_or_else(none))?,
            }
        }
        InstData::Binary {
            opcode: Opcode::Join,
            args: [em, rm],
        } => {
            let new = lanes(&mut |l| Ok(lane_of(&values[em], l)? | lane_of(&values[rm], l)?))?;
            let empty = u64::from(!new.contains(&1));
            return Ok(vec![new, vec![empty]]);
        }
        InstData::Binary {
            opcode,
            args: [a, b],
        } => {
            let (t, x, y) = (dfg.ty(a).scalar(), &values[a], &values[b]);
            let first = lanes(&mut |l| {
                alu::binary(opcode, t, lane_of(x, l)?, lane_of(y, l)?).ok_or_else(none)
            })?;
            if matches!(opcode, Opcode::Iaddc | Opcode::Isubb) {
                let second =
                    lanes(&mut |l| Ok(alu::carry(opcode, t, lane_of(x, l)?, lane_of(y, l)?)))?;
                return Ok(vec![first, second]);
            }
            first
        }
        InstData::Ternary {
            opcode: Opcode::Goto,
            args: [em, rm, cond],
        } => {
            let at = |v: Value, l: usize| lane_of(&values[v], l);
            let stay = lanes(&mut |l| Ok(at(em, l)? & !at(cond, l)? & 1))?;
            let left = lanes(&mut |l| Ok(at(rm, l)? | at(em, l)? & at(cond, l)?))?;
            let empty = u64::from(!stay.contains(&1));
            return Ok(vec![stay, left, vec![empty]]);
        }
        InstData::Ternary {
            opcode: Opcode::Select,
            args: [mask, a, b],
        } => lanes(&mut |l| match lane_of(&values[mask], l)? {
            1 => lane_of(&values[a], l),
            _ => lane_of(&values[b], l),
        })?,
        InstData::Ternary {
            opcode,
            args: [a, b, c],
        } => {
            let t = dfg.ty(a).scalar();
            lanes(&mut |l| {
                let at = |v: Value| lane_of(&values[v], l);
                alu::ternary(opcode, t, at(a)?, at(b)?, at(c)?).ok_or_else(none)
            })?
        }
        InstData::IntCompare {
            cond, args: [a, b], ..
        } => {
            let (t, x, y) = (dfg.ty(a).scalar(), &values[a], &values[b]);
            lanes(&mut |l| {
                Ok(u64::from(alu::int_compare(
                    cond,
                    t,
                    lane_of(x, l)?,
                    lane_of(y, l)?,
                )))
            })?
        }
        InstData::FloatCompare {
            cond, args: [a, b], ..
        } => {
            let (t, x, y) = (dfg.ty(a).scalar(), &values[a], &values[b]);
            lanes(&mut |l| {
                Ok(u64::from(alu::float_compare(
                    cond,
                    t,
                    lane_of(x, l)?,
                    lane_of(y, l)?,
                )))
            })?
        }
        InstData::RdRegion {
            arg,
            ref region,
            index,
            ..
        } => {
            let index = index.expand().map(|v| &values[v]);
            let size = to.scalar().bytes();
            lanes(&mut |l| lane_of(&values[arg], element(region, l, index, size)?))?
        }
        InstData::WrRegion {
            args: [old, new],
            ref region,
            index,
            mask,
            ..
        } => {
            let index = index.expand().map(|v| &values[v]);
            let mut out = values[old].clone();
            for (l, &bits) in values[new].iter().enumerate() {
                let on = mask.expand().is_none_or(|m| values[m].get(l) == Some(&1));
                if on {
                    let at = element(region, l, index, to.scalar().bytes())?;
                    lane_of(&out, at)?;
                    out[at] = bits;
                }
            }
            out
        }
        InstData::RdPred { arg, offset, .. } => {
            lanes(&mut |l| lane_of(&values[arg], l + usize::from(offset)))?
        }
        InstData::WrPred {
            args: [old, new],
            offset,
            ..
        } => {
            let mut out = values[old].clone();
            for (l, &b) in values[new].iter().enumerate() {
                *out.get_mut(l + usize::from(offset)).ok_or_else(none)? = b;
            }
            out
        }
        _ => return Err(none()),
    };
    Ok(vec![one])
}

fn bitcast(from: Type, to: Type, x: &[u64]) -> Lanes {
    let bytes: Vec<u8> = x
        .iter()
        .flat_map(|b| {
            b.to_le_bytes()
                .into_iter()
                .take(from.scalar().bytes() as usize)
        })
        .collect();
    bytes
        .chunks(to.scalar().bytes().max(1) as usize)
        .map(from_le)
        .collect()
}
