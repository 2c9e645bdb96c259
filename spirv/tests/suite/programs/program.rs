//! Programs of a work-item.
//!
//! A body is a graph of blocks that branch as they like, by what differs from work-item to work-item or by what may not. Its variables go by phis,
//! or are private variables, or parts of one; values also go straight from blocks to such as they dominate. A kernel has up to three such graphs, one
//! behind the other, with a barrier and a look at a neighbour's local memory between them.

use crate::programs::types::{Kind, Ty, Value, is_question};
use spirv::{Op, OpenclStd100Op as Std};
use std::collections::BTreeMap;

/// An operand.
#[derive(Clone, Debug)]
pub enum Arg {
    Const(Ty, Value),
    Var(usize),
    /// What an instruction of the same block gave.
    Temp(usize),
    /// What one of a block gave that dominates this one.
    Far(usize, usize),
}

/// Which memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// The work-item's slice of a buffer.
    Global,
    /// Its slice of the group's memory.
    Local,
    /// A private array of the body.
    Array(usize),
    /// The private array of numbers that a function is given.
    Given,
    /// The program's table of numbers.
    Table,
}

/// Where something is loaded or stored: an element of the type, by the first operand.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub space: Space,
    /// Elements; a power of two.
    pub count: u32,
    /// The index counts bytes, and nothing is aligned.
    pub bytes: bool,
    /// By a pointer to no memory in particular.
    pub generic: bool,
    /// That one is chosen among two to several memories, of which the other never is.
    pub mixed: bool,
    /// By one of two pointers: a truth value and another index follow.
    pub either: bool,
    /// What is stored there, and where, is the same for all work-items that store it.
    pub alike: bool,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub enum What {
    /// Of each component.
    Core(Op),
    Function(Std),
    Convert(Op, bool),
    Bits,
    Construct,
    Extract(u32),
    Insert(u32),
    Shuffle(Vec<u32>),
    /// By an index.
    ExtractAt,
    InsertAt,
    Select,
    Load(Place),
    Store(Place),
    Atomic(Op, Place),
    /// On a counter that all share, whose results nobody looks at.
    Shared(usize),
    /// With the last array of the body, or what that was given.
    Call(usize, bool),
    Set(usize),
}

#[derive(Clone, Debug)]
pub struct Inst {
    /// Of the result, or of what is stored.
    pub ty: Ty,
    pub what: What,
    pub args: Vec<Arg>,
}

#[derive(Clone, Debug)]
pub enum Term {
    Return,
    Goto(usize),
    If(Arg, usize, usize),
    /// By two bits, from one on.
    Switch(Arg, u32, usize, Vec<(u32, usize)>),
}

#[derive(Clone, Debug)]
pub struct Block {
    pub insts: Vec<Inst>,
    pub term: Term,
    /// Where the group's work-items meet, and the second variable takes from another's local memory.
    pub meets: bool,
}

/// How a variable goes from block to block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Phis,
    Variable,
    Part,
}

#[derive(Clone, Debug)]
pub struct Body {
    /// The first is the counter, which one may not tell work-items apart by, the second a number of the work-item's.
    pub vars: Vec<(Ty, Way)>,
    /// Private arrays: of what, how many. They begin as zeros. The last one is what functions are given.
    pub arrays: Vec<(Ty, u32)>,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub kernel: Body,
    /// Each may call those behind it. They take a counter, a number and an array, and give their third variable.
    pub functions: Vec<Body>,
    pub table: Vec<u32>,
    pub counters: Vec<Op>,
    /// Work-items of a group, and groups.
    pub group: u32,
    pub groups: u32,
    /// Whether the kernel says how many work-items a group has.
    pub required: bool,
    /// Bit `n`: the kernel promises that its buffer `n` is reached by that argument alone.
    pub no_alias: u32,
    /// Whether the work-items' slices are in a variable of the program while the kernel runs.
    pub variable: bool,
    pub counter: u32,
    /// How far the neighbour is.
    pub neighbour: u32,
}

/// The bytes of each work-item in the buffer; results are behind.
pub const SLICE: u32 = 256;
/// In the group's memory.
pub const LOCAL: u32 = 32;
/// The elements of the table.
pub const TABLE: u32 = 16;
/// The numbers of an array that functions are given.
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

/// Which blocks are reached, if one leads nowhere.
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

/// Whether nothing is left once blocks that only lead to themselves, or come from one block, are made part of others.
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
    /// The type of an operand in a block.
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
    /// A line a block and an instruction.
    pub fn shown(&self) -> String {
        let mut out = format!(
            "{} groups of {}{}, counter {}, neighbour {}, counters {:?}, promises {:#05b}\n",
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
            self.no_alias
        );
        for (n, body) in [&self.kernel]
            .into_iter()
            .chain(&self.functions)
            .enumerate()
        {
            out += &format!("body {n}: {:?}, arrays {:?}\n", body.vars, body.arrays);
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
    /// The type of its result.
    pub fn gives(&self) -> Option<Ty> {
        match &self.what {
            What::Set(_) | What::Store(_) | What::Shared(_) => None,
            What::Core(op) if is_question(*op) => Some(Kind::Bool.of(self.ty.count)),
            _ => Some(self.ty),
        }
    }

    /// What coverage counts it as.
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
            What::Call(_, false) => "call".to_owned(),
            What::Call(_, true) => "call with what was given".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        }
    }
}
