//! Random graphs of blocks, against each work-item alone.
//!
//! A program has up to fourteen blocks that branch as they like, by what differs from work-item to work-item or by what may not. Values go by phis
//! or in private variables, and straight from blocks that dominate; blocks store. Each program runs in the IR's interpreter at each SIMD width, and here, one work-item after
//! the other. `GANTRY_SEED` begins elsewhere, `GANTRY_PROGRAMS` says how many.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use gantry_codegen::interp::{Arg, Buffers, Grid, launch};
use gantry_codegen::verifier::verify_module;
use gantry_spirv::{Options, Simd, translate};
use spirv::Op;
use std::collections::BTreeMap;

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n.max(1) as u64) as usize
    }
}

/// What a branch goes by: the work-item's value or the counter, and from which bit on.
#[derive(Clone, Copy, Debug)]
struct By {
    counter: bool,
    bit: u32,
}

#[derive(Clone, Debug)]
enum Term {
    Return,
    Goto(usize),
    If(By, usize, usize),
    /// By two bits.
    Switch(By, usize, Vec<(u32, usize)>),
}

#[derive(Clone, Debug)]
struct Block {
    factor: u32,
    addend: u32,
    step: u32,
    /// A block that dominates this one, whose value is added.
    also: Option<usize>,
    stores: bool,
    term: Term,
}

fn targets(t: &Term) -> Vec<usize> {
    let mut all = match t {
        Term::Return => vec![],
        Term::Goto(b) => vec![*b],
        Term::If(_, t, e) => vec![*t, *e],
        Term::Switch(_, d, cases) => cases.iter().map(|c| c.1).chain([*d]).collect(),
    };
    all.sort_unstable();
    all.dedup();
    all
}

fn reach(p: &[Block], without: usize) -> Vec<bool> {
    let mut seen = vec![false; p.len()];
    let mut todo = vec![0];
    while let Some(b) = todo.pop() {
        if b != without && !std::mem::replace(&mut seen[b], true) {
            todo.extend(targets(&p[b].term));
        }
    }
    seen
}

fn program(r: &mut Rng) -> Vec<Block> {
    let n = 3 + r.below(12);
    // Few programs would be reducible if branches went anywhere: most go forward, or back to where a loop could begin.
    let mut p: Vec<Block> = (0..n)
        .map(|b| {
            let to = |r: &mut Rng| match r.below(10) {
                0 if b > 0 => 1 + r.below(b),
                1 => 1 + r.below(n - 1),
                _ => (b + 1 + r.below(3)).min(n - 1).max(1),
            };
            let by = By {
                counter: r.below(3) == 0,
                bit: r.below(20) as u32,
            };
            let term = match r.below(9) {
                _ if b == n - 1 => Term::Return,
                0 => Term::Return,
                1 | 2 => Term::Goto(to(r)),
                3 => {
                    let cases = (0..1 + r.below(3) as u32).map(|v| (v, to(r))).collect();
                    Term::Switch(by, to(r), cases)
                }
                _ => {
                    let (t, e) = (to(r), to(r));
                    match t == e {
                        true => Term::Goto(t),
                        false => Term::If(by, t, e),
                    }
                }
            };
            Block {
                factor: 2 * r.below(1 << 20) as u32 + 1,
                addend: r.below(1 << 30) as u32,
                step: r.below(5) as u32,
                also: None,
                stores: r.below(3) == 0,
                term,
            }
        })
        .collect();
    let all = reach(&p, usize::MAX);
    for b in 1..n {
        let dominators: Vec<usize> = (0..n)
            .filter(|d| *d != b && all[b] && all[*d] && !reach(&p, *d)[b])
            .collect();
        if !dominators.is_empty() && r.below(2) == 0 {
            p[b].also = Some(dominators[r.below(dominators.len())]);
        }
    }
    p
}

/// One work-item: its value, what it stores; none if it runs for long.
fn alone(p: &[Block], x: u32, counter: u32) -> Option<u32> {
    let (mut x, mut u, mut out) = (x, counter, 0u32);
    let mut values = vec![0u32; p.len()];
    let mut b = 0;
    for _ in 0..400 {
        let block = &p[b];
        x = x.wrapping_mul(block.factor).wrapping_add(block.addend) ^ (x >> 15) ^ u;
        if let Some(d) = block.also {
            x = x.wrapping_add(values[d]);
        }
        values[b] = x;
        u = u.wrapping_add(block.step);
        if block.stores {
            out = out.wrapping_mul(31).wrapping_add(x);
        }
        let of = |by: &By| if by.counter { u } else { x } >> by.bit;
        b = match &block.term {
            Term::Return => return Some(out),
            Term::Goto(t) => *t,
            Term::If(by, t, e) => match of(by) & 1 {
                1 => *t,
                _ => *e,
            },
            Term::Switch(by, d, cases) => {
                let v = of(by) & 3;
                cases.iter().find(|c| c.0 == v).map_or(*d, |c| c.1)
            }
        };
    }
    None
}

/// How values go from block to block.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Phis,
    /// In two private variables.
    Variables,
    /// In the parts of one.
    Parts,
}

/// The program as SPIR-V: `kernel void k(global uint *in, global uint *out, uint counter)`.
fn words(p: &[Block], way: Way) -> Vec<u32> {
    let mut w = vec![spirv::MAGIC_NUMBER, 0x1_0000, 0, 0, 0];
    let mut next = 1;
    let mut id = || {
        next += 1;
        next - 1
    };
    fn op(w: &mut Vec<u32>, op: Op, words: &[u32]) {
        w.push((words.len() as u32 + 1) << 16 | op as u32);
        w.extend_from_slice(words);
    }
    for c in [4, 5, 6, 11] {
        op(&mut w, Op::Capability, &[c]);
    }
    op(&mut w, Op::MemoryModel, &[2, 2]);
    let (main, ids) = (id(), id());
    op(&mut w, Op::EntryPoint, &[6, main, u32::from(b'k'), ids]);
    op(&mut w, Op::Decorate, &[ids, 11, 28]);
    let (void, int, long, v3) = (id(), id(), id(), id());
    let (pv3, pint, ty, boolean) = (id(), id(), id(), id());
    let (own, v2, pv2) = (id(), id(), id());
    op(&mut w, Op::TypeVoid, &[void]);
    op(&mut w, Op::TypeInt, &[int, 32, 0]);
    op(&mut w, Op::TypeInt, &[long, 64, 0]);
    op(&mut w, Op::TypeVector, &[v3, long, 3]);
    op(&mut w, Op::TypePointer, &[pv3, 1, v3]);
    op(&mut w, Op::TypePointer, &[pint, 5, int]);
    op(&mut w, Op::TypeFunction, &[ty, void, pint, pint, int]);
    op(&mut w, Op::TypeBool, &[boolean]);
    op(&mut w, Op::TypePointer, &[own, 7, int]);
    op(&mut w, Op::TypeVector, &[v2, int, 2]);
    op(&mut w, Op::TypePointer, &[pv2, 7, v2]);
    op(&mut w, Op::Variable, &[pv3, ids, 1]);
    let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
    let mut wanted: Vec<u32> = vec![0, 1, 3, 15, 31];
    for b in p {
        wanted.extend([b.factor, b.addend, b.step]);
        if let Term::If(by, ..) | Term::Switch(by, ..) = &b.term {
            wanted.push(by.bit);
        }
    }
    for n in wanted {
        if let std::collections::btree_map::Entry::Vacant(e) = numbers.entry(n) {
            let c = id();
            op(&mut w, Op::Constant, &[int, c, n]);
            e.insert(c);
        }
    }
    let (input, output, counter) = (id(), id(), id());
    op(&mut w, Op::Function, &[void, main, 0, ty]);
    op(&mut w, Op::FunctionParameter, &[pint, input]);
    op(&mut w, Op::FunctionParameter, &[pint, output]);
    op(&mut w, Op::FunctionParameter, &[int, counter]);
    let reached = reach(p, usize::MAX);
    let labels: Vec<u32> = p.iter().map(|_| id()).collect();
    let ends: Vec<(u32, u32)> = p.iter().map(|_| (id(), id())).collect();
    let mut place = 0;
    let (kept_x, kept_u) = (id(), id());
    for (n, b) in p.iter().enumerate().filter(|(n, _)| reached[*n]) {
        op(&mut w, Op::Label, &[labels[n]]);
        let (mut x, u);
        if n == 0 {
            match way {
                Way::Phis => {}
                Way::Variables => {
                    op(&mut w, Op::Variable, &[own, kept_x, 7]);
                    op(&mut w, Op::Variable, &[own, kept_u, 7]);
                }
                Way::Parts => op(&mut w, Op::Variable, &[pv2, kept_x, 7]),
            }
            let (all, i, at) = (id(), id(), id());
            op(&mut w, Op::Load, &[v3, all, ids]);
            op(&mut w, Op::CompositeExtract, &[long, i, all, 0]);
            op(&mut w, Op::InBoundsPtrAccessChain, &[pint, at, input, i]);
            place = id();
            op(
                &mut w,
                Op::InBoundsPtrAccessChain,
                &[pint, place, output, i],
            );
            x = id();
            op(&mut w, Op::Load, &[int, x, at, 2, 4]);
            u = counter;
        } else if way != Way::Phis {
            (x, u) = (id(), id());
            let (mut px, mut pu) = (kept_x, kept_u);
            if way == Way::Parts {
                (px, pu) = (id(), id());
                op(
                    &mut w,
                    Op::InBoundsAccessChain,
                    &[own, px, kept_x, numbers[&0]],
                );
                op(
                    &mut w,
                    Op::InBoundsAccessChain,
                    &[own, pu, kept_x, numbers[&1]],
                );
            }
            op(&mut w, Op::Load, &[int, x, px]);
            op(&mut w, Op::Load, &[int, u, pu]);
        } else {
            (x, u) = (id(), id());
            let preds = (0..p.len()).filter(|q| reached[*q] && targets(&p[*q].term).contains(&n));
            let preds: Vec<usize> = preds.collect();
            let mut args = vec![int, x];
            args.extend(preds.iter().flat_map(|q| [ends[*q].0, labels[*q]]));
            op(&mut w, Op::Phi, &args);
            let mut args = vec![int, u];
            args.extend(preds.iter().flat_map(|q| [ends[*q].1, labels[*q]]));
            op(&mut w, Op::Phi, &args);
        }
        let two = |w: &mut Vec<u32>, o: Op, r: u32, a: u32, b: u32| op(w, o, &[int, r, a, b]);
        let (m, s, h, y) = (id(), id(), id(), id());
        two(&mut w, Op::IMul, m, x, numbers[&b.factor]);
        two(&mut w, Op::IAdd, s, m, numbers[&b.addend]);
        two(&mut w, Op::ShiftRightLogical, h, x, numbers[&15]);
        two(&mut w, Op::BitwiseXor, y, s, h);
        x = match b.also {
            None => ends[n].0,
            Some(_) => id(),
        };
        two(&mut w, Op::BitwiseXor, x, y, u);
        if let Some(d) = b.also {
            two(&mut w, Op::IAdd, ends[n].0, x, ends[d].0);
        }
        let (x, v) = ends[n];
        two(&mut w, Op::IAdd, v, u, numbers[&b.step]);
        if b.stores {
            let (old, m, new) = (id(), id(), id());
            op(&mut w, Op::Load, &[int, old, place, 2, 4]);
            two(&mut w, Op::IMul, m, old, numbers[&31]);
            two(&mut w, Op::IAdd, new, m, x);
            op(&mut w, Op::Store, &[place, new, 2, 4]);
        }
        if way == Way::Variables {
            op(&mut w, Op::Store, &[kept_x, x]);
            op(&mut w, Op::Store, &[kept_u, v]);
        } else if way == Way::Parts {
            let (px, pu) = (id(), id());
            op(
                &mut w,
                Op::InBoundsAccessChain,
                &[own, px, kept_x, numbers[&0]],
            );
            op(
                &mut w,
                Op::InBoundsAccessChain,
                &[own, pu, kept_x, numbers[&1]],
            );
            op(&mut w, Op::Store, &[px, x]);
            op(&mut w, Op::Store, &[pu, v]);
        }
        let mut bits = |w: &mut Vec<u32>, by: &By, mask: u32| {
            let (s, m) = (id(), id());
            two(
                w,
                Op::ShiftRightLogical,
                s,
                if by.counter { v } else { x },
                numbers[&by.bit],
            );
            two(w, Op::BitwiseAnd, m, s, numbers[&mask]);
            m
        };
        match &b.term {
            Term::Return => op(&mut w, Op::Return, &[]),
            Term::Goto(t) => op(&mut w, Op::Branch, &[labels[*t]]),
            Term::If(by, t, e) => {
                let m = bits(&mut w, by, 1);
                let c = id();
                op(&mut w, Op::INotEqual, &[boolean, c, m, numbers[&0]]);
                op(&mut w, Op::BranchConditional, &[c, labels[*t], labels[*e]]);
            }
            Term::Switch(by, d, cases) => {
                let m = bits(&mut w, by, 3);
                let mut words = vec![m, labels[*d]];
                words.extend(cases.iter().flat_map(|(v, t)| [*v, labels[*t]]));
                op(&mut w, Op::Switch, &words);
            }
        }
    }
    op(&mut w, Op::FunctionEnd, &[]);
    w[3] = next;
    w
}

/// Whether nothing is left once blocks that only lead to themselves, or come from one block, are made part of others.
fn is_reducible(p: &[Block]) -> bool {
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

const ITEMS: usize = 64;

#[test]
fn graphs_of_blocks() {
    let number = |name: &str, or: u64| {
        let v = std::env::var(name).ok();
        v.and_then(|v| v.parse().ok()).unwrap_or(or)
    };
    let seed = number("GANTRY_SEED", 0xf10b);
    let mut r = Rng(seed | 1);
    let (mut done, mut irreducible, mut endless, mut loops) = (0, 0, 0, 0);
    for n in 0..number("GANTRY_PROGRAMS", 4000) {
        let state = r.0;
        let p = program(&mut r);
        let items: Vec<u32> = (0..ITEMS).map(|_| r.below(1 << 32) as u32).collect();
        let counter = r.below(1000) as u32;
        let want: Option<Vec<u32>> = items.iter().map(|x| alone(&p, *x, counter)).collect();
        let Some(want) = want else {
            endless += 1;
            continue;
        };
        let way = [Way::Phis, Way::Variables, Way::Parts][r.below(3)];
        let words = words(&p, way);
        let reached = reach(&p, usize::MAX);
        let back = |b: &usize| targets(&p[*b].term).iter().any(|t| t <= b);
        irreducible += usize::from(!is_reducible(&p));
        loops += usize::from((0..p.len()).any(|b| reached[b] && back(&b)));
        let mut widths = 0;
        for simd in [8, 16, 32] {
            let options = Options {
                simd: Simd::Width(simd),
                ..Options::default()
            };
            let fail = |what: String| -> ! {
                panic!(
                    "program {n} of seed {seed:#x} (state {state:#x}), SIMD{simd}: {what}\n{p:#?}"
                )
            };
            let t = match translate(&words, &options) {
                Ok(t) => t,
                Err(e) => fail(e.to_string()),
            };
            if t.module.to_string().contains("scratch") {
                fail("a variable is in memory".to_owned());
            }
            if let Err(e) = verify_module(&t.module) {
                fail(format!("{e}\n{}", t.module));
            }
            let mut memory = Buffers::default();
            let input = memory.add(items.iter().flat_map(|x| x.to_le_bytes()).collect());
            let output = memory.add(vec![0; 4 * ITEMS]);
            let args = [Arg::ptr(input), Arg::ptr(output), Arg::i32(counter as i32)];
            let grid = Grid::new([ITEMS as u32, 1, 1], [ITEMS as u32, 1, 1]);
            if let Err(e) = launch(
                &t.module,
                t.kernels[0].function,
                &grid,
                &args,
                &mut memory,
                1 << 24,
            ) {
                fail(format!("{e}\n{}", t.module));
            }
            let got = memory.bytes(output).chunks_exact(4);
            let got: Vec<u32> = got
                .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
                .collect();
            if let Some(i) = (0..ITEMS).find(|i| got[*i] != want[*i]) {
                fail(format!(
                    "item {i} is {:#x}, not {:#x}\n{}",
                    got[i], want[i], t.module
                ));
            }
            widths += 1;
        }
        done += usize::from(widths == 3);
    }
    println!(
        "seed {seed:#x}: {done} programs, {loops} of all with loops; {irreducible} irreducible; {endless} too long"
    );
    assert!(done > 100);
}
