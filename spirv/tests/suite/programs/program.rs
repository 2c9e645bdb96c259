//! Programs of a work-item.
//!
//! A body is an arbitrary graph of blocks, with divergent or uniform branches. Its variables are
//! phis, private variables, or members of one. Values are also used directly in dominated blocks. A
//! kernel has up to three such graphs in sequence. Between them are a barrier and a read of a
//! neighbor's local memory.

use crate::programs::types::{Kind, Ty, Value, is_question};
use spirv::{Op, OpenclStd100Op as Std};
use std::collections::BTreeMap;

/// Operand.
#[derive(Clone, Debug)]
pub enum Arg {
    Const(Ty, Value),
    Var(usize),
    /// Result of an instruction of the same block.
    Temp(usize),
    /// Result of an instruction of a dominating block.
    Far(usize, usize),
}

/// Memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// Slice of the work-item in a buffer.
    Global,
    /// Slice of the work-item in local memory.
    Local,
    /// Private array of the body.
    Array(usize),
    /// Array parameter of a function.
    Given,
    /// Table of constants.
    Table,
}

/// Address of a load or store: an element of the type, indexed by the first operand.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub space: Space,
    /// Number of elements, a power of two.
    pub count: u32,
    /// The index is in bytes, and nothing is aligned.
    pub bytes: bool,
    /// The pointer is generic.
    pub generic: bool,
    /// The generic pointer is selected among several memories, of which only this one is taken.
    pub mixed: bool,
    /// The pointer is selected from two. A condition and another index follow.
    pub either: bool,
    /// Stored value and address are uniform.
    pub alike: bool,
}

/// Operation of an instruction.
#[derive(Clone, Debug)]
pub enum What {
    /// Componentwise operation.
    Core(Op),
    Function(Std),
    Convert(Op, bool),
    Bits,
    Construct,
    Extract(u32),
    Insert(u32),
    Shuffle(Vec<u32>),
    /// Dynamic index.
    ExtractAt,
    InsertAt,
    Select,
    Load(Place),
    Store(Place),
    Atomic(Op, Place),
    /// Atomic on a shared counter, whose result is unused.
    Shared(usize),
    /// Call with the last array of the body, or with its own array argument.
    Call(usize, bool),
    Set(usize),
    /// Copies a private array to another one of its type.
    Copy(usize, usize),
}

#[derive(Clone, Debug)]
pub struct Inst {
    /// Type of the result, or of the stored value.
    pub ty: Ty,
    pub what: What,
    pub args: Vec<Arg>,
}

#[derive(Clone, Debug)]
pub enum Term {
    Return,
    Goto(usize),
    If(Arg, usize, usize),
    /// Switch on two bits, from a bit on.
    Switch(Arg, u32, usize, Vec<(u32, usize)>),
}

#[derive(Clone, Debug)]
pub struct Block {
    pub insts: Vec<Inst>,
    pub term: Term,
    /// Barrier, after which the second variable is read from another's local memory.
    pub meets: bool,
}

/// Representation of a variable between blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Phis,
    Variable,
    Part,
}

#[derive(Clone, Debug)]
pub struct Body {
    /// The first is the uniform counter, the second a number of the work-item.
    pub vars: Vec<(Ty, Way)>,
    /// Private arrays: element type and length, initially zero. The last one is passed to
    /// functions.
    pub arrays: Vec<(Ty, u32)>,
    /// Set if the private arrays are members of one structure.
    pub packed: bool,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub kernel: Body,
    /// Functions, which call only later ones. They take a counter, a number and an array, and
    /// return their third variable.
    pub functions: Vec<Body>,
    pub table: Vec<u32>,
    pub counters: Vec<Op>,
    /// Work-items of a group, and number of groups.
    pub group: u32,
    pub groups: u32,
    /// Set if the kernel requires the group size.
    pub required: bool,
    /// Bit `n` is set if argument `n` is declared not to alias.
    pub no_alias: u32,
    /// Set if the slices are in a program-scope variable while the kernel runs.
    pub variable: bool,
    pub counter: u32,
    /// Distance of the neighbor.
    pub neighbour: u32,
    /// Set if the kernel takes the table in a structure by value.
    pub by_value: bool,
}

/// Bytes of a work-item's slice of the buffer. Results follow.
pub const SLICE: u32 = 256;
/// Bytes of a work-item's slice of local memory.
pub const LOCAL: u32 = 32;
/// Number of elements of the table.
pub const TABLE: u32 = 16;
/// Number of elements of an array argument.
pub const GIVEN: u32 = 8;

pub fn targets(t: &Term) -> Vec<usize> {
    let mut all = match t {
        Term::Return => vec![],
        Term::Goto(b) => vec![*b],
        Term::If(_, t, e) => vec![*t, *e],
        Term::Switch(_, _, d, cases) => cases.iter().map(|c| c.1).chain([*d]).collect(),
    };
    all.sort_unstable();
    all.dedup();
    all
}

/// Computes reachability of blocks if one has no successors.
pub fn reach(p: &[Block], without: usize) -> Vec<bool> {
    let mut seen = vec![false; p.len()];
    let mut todo = vec![0];
    while let Some(b) = todo.pop() {
        if b != without && !std::mem::replace(&mut seen[b], true) {
            todo.extend(targets(&p[b].term));
        }
    }
    seen
}

/// Returns true if a graph is reducible, by removing self-loops and merging blocks of one
/// predecessor.
pub fn is_reducible(p: &[Block]) -> bool {
    let reached = reach(p, usize::MAX);
    let mut to: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for n in (0..p.len()).filter(|n| reached[*n]) {
        to.insert(n, targets(&p[n].term));
    }
    loop {
        to.iter_mut().for_each(|(n, t)| t.retain(|s| s != n));
        let preds = |n: usize| {
            to.iter()
                .filter(move |(_, t)| t.contains(&n))
                .map(|(p, _)| *p)
        };
        let one = to
            .keys()
            .copied()
            .find(|n| *n != 0 && preds(*n).count() == 1);
        let Some(n) = one else { break };
        let from = preds(n).next().unwrap();
        let more = to.remove(&n).unwrap();
        let t = to.get_mut(&from).unwrap();
        t.retain(|s| *s != n);
        t.extend(more);
        t.sort_unstable();
        t.dedup();
    }
    to.len() == 1
}

impl Body {
    /// Type of an operand in a block.
    pub fn ty(&self, at: usize, arg: &Arg) -> Ty {
        let given = |b: usize, n: usize| self.blocks[b].insts[n].gives().unwrap();
        match arg {
            Arg::Const(ty, _) => *ty,
            Arg::Var(n) => self.vars[*n].0,
            Arg::Temp(n) => given(at, *n),
            Arg::Far(b, n) => given(*b, *n),
        }
    }
}

impl Program {
    /// Renders a program, with a line for each block and instruction.
    pub fn shown(&self) -> String {
        let mut out = format!(
            "{} groups of {}{}, counter {}, neighbour {}, counters {:?}, promises {:#05b}{}\n",
            self.groups,
            self.group,
            match (self.required, self.variable) {
                (false, false) => "",
                (true, false) => ", as required",
                (false, true) => ", slices in a variable",
                (true, true) => ", as required, slices in a variable",
            },
            self.counter,
            self.neighbour,
            self.counters,
            self.no_alias,
            if self.by_value {
                ", table by value"
            } else {
                ""
            }
        );
        for (n, body) in [&self.kernel]
            .into_iter()
            .chain(&self.functions)
            .enumerate()
        {
            let packed = if body.packed {
                ", in one structure"
            } else {
                ""
            };
            let (vars, arrays) = (&body.vars, &body.arrays);
            out += &format!("body {n}: {vars:?}, arrays {arrays:?}{packed}\n");
            let reached = reach(&body.blocks, usize::MAX);
            for (at, b) in body
                .blocks
                .iter()
                .enumerate()
                .filter(|(at, _)| reached[*at])
            {
                out += &format!(
                    "  {at}{} -> {:?}\n",
                    if b.meets { " meets" } else { "" },
                    b.term
                );
                let nothing = |i: &Inst| match (&i.what, &i.args[..]) {
                    (What::Construct, [Arg::Const(ty, _)]) => *ty == i.ty,
                    (What::Set(1), [Arg::Var(1)]) => true,
                    _ => false,
                };
                for (n, i) in b.insts.iter().enumerate().filter(|i| !nothing(i.1)) {
                    out += &format!(
                        "    {n}: {:?}x{} = {:?} {:?}\n",
                        i.ty.kind, i.ty.count, i.what, i.args
                    );
                }
            }
        }
        out
    }
}

impl Inst {
    /// Type of the result.
    pub fn gives(&self) -> Option<Ty> {
        match &self.what {
            What::Set(_) | What::Store(_) | What::Shared(_) | What::Copy(..) => None,
            What::Core(op) if is_question(*op) => Some(Kind::Bool.of(self.ty.count)),
            _ => Some(self.ty),
        }
    }

    /// Key for coverage.
    pub fn name(&self) -> String {
        let place = |what: &str, p: &Place| {
            let space = match p.space {
                Space::Array(_) => "private".to_owned(),
                other => format!("{other:?}").to_lowercase(),
            };
            let flag = |on: bool, name: &str| if on { name.to_owned() } else { String::new() };
            let (b, g, m, e) = (
                flag(p.bytes, " unaligned"),
                flag(p.generic, " generic"),
                flag(p.generic && p.mixed, " mixed"),
                flag(p.either, " either"),
            );
            format!("{what} {space}{b}{g}{m}{e}")
        };
        match &self.what {
            What::Core(op) => format!("{op:?}"),
            What::Function(f) => format!("{f:?}"),
            What::Convert(op, sat) => format!("{op:?}{}", if *sat { " saturated" } else { "" }),
            What::Load(p) => place("load", p),
            What::Store(p) => place("store", p),
            What::Atomic(op, p) => format!("{op:?} {}{}", place("", p).trim(), self.ty.bits()),
            What::Shared(_) => "shared counter".to_owned(),
            What::Shuffle(_) => "shuffle".to_owned(),
            What::Extract(_) => "extract".to_owned(),
            What::Insert(_) => "insert".to_owned(),
            What::Set(_) => "set".to_owned(),
            What::Copy(..) => "copy".to_owned(),
            What::Call(_, false) => "call".to_owned(),
            What::Call(_, true) => "call with what was given".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        }
    }
}

/// Reachable blocks, each after its dominators.
pub fn order(all: &[Block]) -> Vec<usize> {
    let mut seen = vec![false; all.len()];
    let mut out = Vec::new();
    let mut stack = vec![(0, targets(&all[0].term))];
    seen[0] = true;
    while let Some((b, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(s) if !seen[s] => {
                seen[s] = true;
                stack.push((s, targets(&all[s].term)));
            }
            Some(_) => {}
            None => {
                out.push(*b);
                stack.pop();
            }
        }
    }
    out.reverse();
    out
}
