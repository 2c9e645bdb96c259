//! Reference interpreter: runs each work-item alone, one after the other.

use crate::programs::program::{
    Arg, Body, Inst, LOCAL, Place, Program, SLICE, Space, TABLE, Term, What,
};
use crate::programs::types::{self, Ty, U32, Value};
use smallvec::smallvec;

/// Contents of memory.
pub struct Memory {
    /// Slices of the work-items.
    pub own: Vec<u8>,
    /// Final values of the variables of each work-item, in slices of [`Program::results`].
    pub out: Vec<u8>,
    pub counters: Vec<u32>,
    local: Vec<u8>,
}

/// Active call of a body.
struct Frame {
    vars: Vec<Value>,
    arrays: Vec<Vec<u8>>,
    /// Array argument.
    array: Vec<u8>,
    /// Last results of the instructions of each block.
    given: Vec<Vec<Value>>,
}

/// Limit of blocks that a work-item executes.
const STEPS: u32 = 300;

impl Program {
    /// Byte offset of each variable of the kernel in the results of a work-item, and their size.
    pub fn results(&self) -> (Vec<u32>, u32) {
        let mut at = 0;
        let places = self.kernel.vars.iter().map(|(ty, _)| {
            let place = at;
            at += ty.size();
            place
        });
        let places = places.collect();
        (places, at.next_multiple_of(64))
    }
}

fn read(bytes: &[u8], at: usize, ty: Ty) -> Value {
    let size = ty.kind.bits() as usize / 8;
    let one = |n: usize| {
        let mut v = [0; 8];
        v[..size].copy_from_slice(&bytes[at + n * size..][..size]);
        ty.kind.clean(u64::from_le_bytes(v))
    };
    (0..ty.count as usize).map(one).collect()
}

fn write(bytes: &mut [u8], at: usize, ty: Ty, v: &Value) {
    let size = ty.kind.bits() as usize / 8;
    for (n, v) in v.iter().enumerate() {
        bytes[at + n * size..][..size].copy_from_slice(&v.to_le_bytes()[..size]);
    }
}

struct Machine<'p> {
    p: &'p Program,
    memory: Memory,
    /// Work-item id, and its index in the group.
    item: u32,
    place: u32,
    steps: u32,
}

/// Runs a program over memory. `None` if a work-item exceeds the limit.
pub fn run(p: &Program, own: Vec<u8>) -> Option<Memory> {
    let items = p.group * p.groups;
    let (places, stride) = p.results();
    let memory = Memory {
        own,
        out: vec![0; (items * stride) as usize],
        counters: p.counters.iter().map(|_| 0x5a5a).collect(),
        local: vec![0; (p.group * LOCAL) as usize],
    };
    let mut m = Machine {
        p,
        memory,
        item: 0,
        place: 0,
        steps: 0,
    };
    for group in 0..p.groups {
        m.memory.local.fill(0);
        let mut frames: Vec<Frame> = Vec::new();
        let mut steps = vec![0; p.group as usize];
        for place in 0..p.group {
            m.item = group * p.group + place;
            let base = (m.item * SLICE) as usize;
            let mut vars: Vec<Value> = vec![smallvec![p.counter.into()]];
            for (n, (ty, _)) in p.kernel.vars.iter().enumerate().skip(1) {
                vars.push(read(&m.memory.own, base + 16 * (n - 1), *ty));
            }
            frames.push(Frame::new(&p.kernel, vars));
        }
        let mut at = 0;
        loop {
            let mut next = None;
            for place in 0..p.group {
                m.place = place;
                m.item = group * p.group + place;
                m.steps = steps[place as usize];
                next = m.blocks(&p.kernel, &mut frames[place as usize], at)?;
                steps[place as usize] = m.steps;
            }
            let Some(meets) = next else { break };
            for place in 0..p.group {
                let other = (place + p.neighbour) % p.group;
                let v = read(&m.memory.local, (other * LOCAL) as usize, U32);
                let own = &mut frames[place as usize].vars[1][0];
                *own = (*own + v[0]) & 0xffff_ffff;
            }
            let Term::Goto(behind) = p.kernel.blocks[meets].term else {
                break;
            };
            at = behind;
        }
        for place in 0..p.group {
            let item = group * p.group + place;
            for (n, (ty, _)) in p.kernel.vars.iter().enumerate() {
                let at = item * stride + places[n];
                write(
                    &mut m.memory.out,
                    at as usize,
                    *ty,
                    &frames[place as usize].vars[n],
                );
            }
        }
    }
    Some(m.memory)
}

impl Frame {
    fn new(body: &Body, vars: Vec<Value>) -> Frame {
        Frame {
            vars,
            arrays: body
                .arrays
                .iter()
                .map(|(ty, n)| vec![0; (ty.size() * n) as usize])
                .collect(),
            array: Vec::new(),
            given: vec![Vec::new(); body.blocks.len()],
        }
    }
}

impl Machine<'_> {
    /// Runs from a block to the next barrier or to the end. `None` if the limit is exceeded.
    fn blocks(&mut self, body: &Body, f: &mut Frame, mut at: usize) -> Option<Option<usize>> {
        loop {
            let block = &body.blocks[at];
            if block.meets {
                return Some(Some(at));
            }
            self.steps += 1;
            if self.steps > STEPS {
                return None;
            }
            f.given[at].clear();
            for inst in &block.insts {
                let v = self.inst(body, inst, f, at)?;
                f.given[at].push(v);
            }
            at = match &block.term {
                Term::Return => return Some(None),
                Term::Goto(t) => *t,
                Term::If(by, t, e) => match f.get(by, at)[0] {
                    0 => *e,
                    _ => *t,
                },
                Term::Switch(by, bit, default, cases) => {
                    let v = f.get(by, at)[0] >> bit & 3;
                    let case = cases.iter().find(|c| u64::from(c.0) == v);
                    case.map_or(*default, |c| c.1)
                }
            };
        }
    }

    fn inst(&mut self, body: &Body, inst: &Inst, f: &mut Frame, at: usize) -> Option<Value> {
        let args: Vec<Value> = inst.args.iter().map(|a| f.get(a, at)).collect();
        let ty = inst.ty;
        let each = |n: usize| -> Vec<u64> {
            let part = |v: &Value| v[if v.len() == 1 { 0 } else { n }];
            args.iter().map(part).collect()
        };
        let all = 0..ty.count as usize;
        Some(match &inst.what {
            What::Core(op) => {
                let of = body.ty(at, &inst.args[0]).kind;
                all.map(|n| types::core(*op, of, &each(n))).collect()
            }
            What::Function(which) => all
                .map(|n| types::function(*which, ty.kind, &each(n)))
                .collect(),
            What::Convert(op, saturates) => {
                let from = body.ty(at, &inst.args[0]).kind;
                let one = |n| types::convert(*op, *saturates, from, ty.kind, args[0][n]);
                all.map(one).collect()
            }
            What::Bits => {
                let from = body.ty(at, &inst.args[0]).kind;
                let from = from.of(args[0].len() as u32);
                let mut bytes = vec![0; ty.bits() as usize / 8];
                write(&mut bytes, 0, from, &args[0]);
                read(&bytes, 0, ty)
            }
            What::Construct => args.concat().into(),
            What::Extract(n) => smallvec![args[0][*n as usize]],
            What::Insert(n) => {
                let mut v = args[0].clone();
                v[*n as usize] = args[1][0];
                v
            }
            What::Shuffle(picks) => {
                let both = [args[0].as_slice(), &args[1]].concat();
                picks.iter().map(|p| both[*p as usize]).collect()
            }
            What::ExtractAt => smallvec![args[0][args[1][0] as usize % args[0].len()]],
            What::InsertAt => {
                let mut v = args[0].clone();
                let n = args[2][0] as usize % v.len();
                v[n] = args[1][0];
                v
            }
            What::Select => all
                .map(|n| match each(n)[..] {
                    [0, _, e] => e,
                    [_, t, _] => t,
                    _ => 0,
                })
                .collect(),
            What::Load(p) => {
                let at = self.address(p, ty, &args);
                match p.space {
                    Space::Table => smallvec![self.p.table[at / 4].into()],
                    _ => read(self.bytes(p, f), at, ty),
                }
            }
            What::Store(p) => {
                let at = self.address(p, ty, &args);
                let v = args.last()?.clone();
                write(self.bytes(p, f), at, ty, &v);
                Value::new()
            }
            What::Atomic(op, p) => {
                let at = self.address(p, ty, &args);
                let first = if p.either { 3 } else { 1 };
                let old = read(self.bytes(p, f), at, ty);
                let b = args.get(first + 1).map_or(0, |v| v[0]);
                let new = types::atomic(*op, ty.kind, old[0], args[first][0], b);
                write(self.bytes(p, f), at, ty, &smallvec![new]);
                old
            }
            What::Shared(n) => {
                let c = &mut self.memory.counters[*n];
                let new = types::atomic(self.p.counters[*n], U32.kind, (*c).into(), args[0][0], 0);
                *c = new as u32;
                Value::new()
            }
            What::Call(n, given) => {
                let callee = &self.p.functions[*n];
                let mut vars: Vec<Value> = args.clone();
                for (ty, _) in callee.vars.iter().skip(2) {
                    vars.push((0..ty.count).map(|_| 0).collect());
                }
                let mut frame = Frame::new(callee, vars);
                let array = if *given {
                    &mut f.array
                } else {
                    f.arrays.last_mut()?
                };
                frame.array = std::mem::take(array);
                self.blocks(callee, &mut frame, 0)?;
                *array = frame.array;
                frame.vars.swap_remove(2)
            }
            What::Copy(to, from) => {
                f.arrays[*to] = f.arrays[*from].clone();
                Value::new()
            }
            What::Set(n) => {
                f.vars[*n].clone_from(&args[0]);
                Value::new()
            }
        })
    }

    fn address(&self, p: &Place, ty: Ty, args: &[Value]) -> usize {
        let index = if p.either && args[1][0] == 0 {
            args[2][0]
        } else {
            args[0][0]
        } as u32;
        let index = index & (p.count - 1);
        let offset = if p.bytes { index } else { index * ty.size() };
        let base = match p.space {
            Space::Global => self.item * SLICE,
            Space::Local => self.place * LOCAL,
            Space::Array(_) | Space::Given => 0,
            Space::Table => return (offset % (4 * TABLE)) as usize,
        };
        (base + offset) as usize
    }

    fn bytes<'a>(&'a mut self, p: &Place, f: &'a mut Frame) -> &'a mut [u8] {
        match p.space {
            Space::Local => &mut self.memory.local,
            Space::Array(n) => &mut f.arrays[n],
            Space::Given => &mut f.array,
            _ => &mut self.memory.own,
        }
    }
}

impl Frame {
    fn get(&self, arg: &Arg, at: usize) -> Value {
        match arg {
            Arg::Const(_, v) => v.clone(),
            Arg::Var(n) => self.vars[*n].clone(),
            Arg::Temp(n) => self.given[at][*n].clone(),
            Arg::Far(b, n) => self.given[*b][*n].clone(),
        }
    }
}
