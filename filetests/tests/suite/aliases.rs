//! Aliasing of buffers. Random kernels load and store by pointers and a surface, and some arguments
//! promise not to alias. They are launched with every argument without a promise bound to any of
//! two buffers. The results must equal the interpreter's, which makes one access after the other.
//!
//! `GANTRY_SEED` and `GANTRY_CASES` draw others; `GANTRY_TARGETS` names targets.

use crate::rng::Rng;
use gantry_codegen::interp::{self, Buffers};
use gantry_codegen::ir::{FuncRef, Module};
use gantry_codegen::text::parse;
use gantry_codegen::{CompileOptions, OptLevel, Pass, compile};
use gantry_filetests::runner::platforms;
use gantry_runtime::{Arg, Device, Grid, SimOptions, Watch};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Number of pointer arguments; a surface follows them.
const POINTERS: usize = 3;
const ARGS: usize = POINTERS + 1;
/// Argument with the number of iterations, and the buffer for the loaded values.
const COUNT: usize = ARGS;
const OUT: usize = COUNT + 1;
/// Bytes of a buffer: rows of 32 lanes, plus what offsets and iterations add.
const BYTES: usize = 4096;
/// Instruction limit of a launch, far above what any needs.
const LIMIT: u64 = 1_000_000;
/// Bytes that the end of a kernel stores of each type.
const RESULT: usize = 256;
/// Limit on iterations, for the widest step.
const MOST: u64 = 9;
/// Kinds of accesses: the element, their number, and true for a vector by lanes.
const KINDS: [(&str, u32, bool); 8] = [
    ("i32", 1, true),
    ("i32", 1, true),
    ("i32", 2, true),
    ("i16", 1, true),
    ("i8", 1, true),
    ("i32", 1, false),
    ("i32", 4, false),
    ("i64", 1, false),
];

fn one_of<T: Copy>(r: &mut Rng, of: &[T]) -> T {
    of[r.below(of.len() as u64) as usize]
}

fn bytes(element: &str) -> u32 {
    element[1..].parse::<u32>().unwrap() / 8
}

/// Kernel under construction.
struct KernelText<'r> {
    r: &'r mut Rng,
    text: String,
    lanes: u32,
    /// Bytes between the accesses of adjacent lanes.
    row: u32,
    next: u32,
    /// Values that can be stored, by type.
    pool: BTreeMap<String, Vec<u32>>,
    /// Addresses of the arguments: one, and one a lane. After the pointers' comes that of either of
    /// two.
    places: Vec<[u32; 2]>,
    /// Step of pointers' addresses and of surfaces' addresses in each iteration.
    moved: Option<[u32; 2]>,
    /// True if all accesses are of words by lanes that move with the loop from one to the next,
    /// which become rows.
    words: bool,
    drawn: Vec<&'static str>,
}

impl KernelText<'_> {
    /// Emits a line that defines a value.
    fn set(&mut self, what: &str) -> u32 {
        let v = self.next;
        self.next += 1;
        writeln!(self.text, "    v{v} = {what}").unwrap();
        v
    }

    fn line(&mut self, what: &str) {
        writeln!(self.text, "    {what}").unwrap();
    }

    fn typed(&self, (element, count, by_lanes): (&str, u32, bool)) -> String {
        match count * if by_lanes { self.lanes } else { 1 } {
            1 => element.to_owned(),
            n => format!("{element}x{n}"),
        }
    }

    /// Splats an address to all lanes.
    fn wide(&mut self, ty: &str, v: u32) -> u32 {
        let lanes = self.lanes;
        self.set(&format!("rdregion.{ty}x{lanes} v{v}, <0;1,0>, 0"))
    }

    /// Computes each lane's row from an address.
    fn rows(&mut self, ty: &str, v: u32) -> u32 {
        let all: Vec<String> = (0..self.lanes)
            .map(|n| (n * self.row).to_string())
            .collect();
        let rows = self.set(&format!("vconst.{ty}x{} [{}]", self.lanes, all.join(", ")));
        let v = self.wide(ty, v);
        self.set(&format!("iadd v{v}, v{rows}"))
    }

    /// Selects the kind and the address of an access.
    fn place(&mut self) -> ((&'static str, u32, bool), String) {
        let kind = if self.words {
            KINDS[0]
        } else {
            one_of(self.r, &KINDS)
        };
        let (element, _, by_lanes) = kind;
        let arg = self.r.below(self.places.len() as u64) as usize;
        let is_surface = arg == POINTERS;
        let mut at = self.places[arg][usize::from(by_lanes)];
        if let (Some(moved), true) = (self.moved, self.words || self.r.below(2) == 0) {
            self.drawn.push("accesses that move with the loop");
            let (ty, mut by) = if is_surface {
                ("i32", moved[1])
            } else {
                ("i64", moved[0])
            };
            if by_lanes {
                by = self.wide(ty, by);
            }
            at = self.set(&format!("iadd v{at}, v{by}"));
        }
        self.drawn.push(match (is_surface, arg > POINTERS) {
            (true, _) => "accesses by the surface",
            (_, true) => "accesses by one of two pointers",
            _ => "accesses by a pointer",
        });
        let size = bytes(element);
        let offset = self.r.below(u64::from(64 / size)) as u32 * size;
        // Sometimes a neighbour of another access.
        let offset = if self.r.below(2) == 0 {
            offset % 16
        } else {
            offset
        };
        let space = if is_surface { "surface 0 " } else { "" };
        // Loops move by words, too.
        let align = if size > 4 { " align 4" } else { "" };
        (kind, format!("{space}v{at}+{offset}{align}"))
    }

    /// Emits a load or a store.
    fn access(&mut self) {
        let (kind, place) = self.place();
        let (element, count, by_lanes) = kind;
        let ty = self.typed(kind);
        // No two lanes store to the same address.
        let apart = !by_lanes || self.row >= count * bytes(element);
        let of = self.pool[&ty].clone();
        let other = one_of(self.r, &of);
        if apart && self.r.below(5) < 2 {
            self.drawn.push("stores");
            let store = if by_lanes { "store" } else { "bstore" };
            return self.line(&format!("{store} v{other}, {place}"));
        }
        self.drawn.push("loads");
        let load = if by_lanes { "load" } else { "bload" };
        let v = self.set(&format!("{load}.{ty} {place}"));
        let v = match self.r.below(3) {
            0 => v,
            1 => self.set(&format!("iadd v{v}, v{other}")),
            _ => self.set(&format!("bxor v{v}, v{other}")),
        };
        self.pool.get_mut(&ty).unwrap().push(v);
    }

    /// Emits a loop of accesses. The sum of the loaded values is carried to the next iteration.
    fn looped(&mut self, block: u32) {
        let (before, places) = (self.pool.clone(), self.places.len());
        let kind = one_of(self.r, &KINDS);
        let ty = self.typed(kind);
        self.words = self.r.below(3) == 0;
        let step = if self.words {
            bytes(KINDS[0].0)
        } else {
            one_of(self.r, &[4, 8, 16])
        };
        let many = match self.r.below(2) {
            0 => format!("v{COUNT}"),
            _ => {
                let n = 1 + self.r.below(MOST);
                format!("v{}", self.set(&format!("iconst.i32 {n}")))
            }
        };
        let begin = one_of(self.r, &self.pool[&ty].clone());
        let zero = self.set("iconst.i32 0");
        let (i, sum) = (self.next, self.next + 1);
        self.next += 2;
        self.line(&format!("jump block{block}(v{zero}, v{begin})"));
        writeln!(self.text, "block{block}(v{i}: i32, v{sum}: {ty}):").unwrap();
        let more = self.set(&format!("icmp slt v{i}, {many}"));
        let (body, end) = (block + 1, block + 2);
        self.line(&format!("brif v{more}, block{body}, block{end}"));
        writeln!(self.text, "block{body}:").unwrap();
        let by = self.set(&format!("iconst.i32 {step}"));
        let near = self.set(&format!("imul v{i}, v{by}"));
        let far = self.set(&format!("uextend.i64 v{near}"));
        self.moved = Some([far, near]);
        self.pool.get_mut(&ty).unwrap().push(sum);
        for _ in 0..1 + self.r.below(5) {
            self.access();
        }
        let last = *self.pool[&ty].last().unwrap();
        let one = self.set("iconst.i32 1");
        let next = self.set(&format!("iadd v{i}, v{one}"));
        self.line(&format!("jump block{block}(v{next}, v{last})"));
        writeln!(self.text, "block{end}:").unwrap();
        self.moved = None;
        self.words = false;
        self.pool = before;
        self.pool.get_mut(&ty).unwrap().push(sum);
        self.places.truncate(places);
        self.drawn.push("loops");
    }
}

/// Kernel, and which arguments promise that nothing else reaches their buffer.
struct Kernel {
    text: String,
    alone: [bool; ARGS],
    lanes: u32,
    drawn: Vec<&'static str>,
}

fn kernel(r: &mut Rng) -> Kernel {
    let lanes = one_of(r, &[8, 16, 32]);
    let row = one_of(r, &[4, 8, 20, 64]);
    let alone = [(); ARGS].map(|()| r.below(3) == 0);
    let mut m = KernelText {
        r,
        text: String::new(),
        lanes,
        row,
        next: OUT as u32 + 1,
        pool: BTreeMap::new(),
        places: Vec::new(),
        moved: None,
        words: false,
        drawn: Vec::new(),
    };
    let promise = |n: usize| if alone[n] { " noalias" } else { "" };
    let pointers: String = (0..POINTERS)
        .map(|n| format!("i64 ptr{}, ", promise(n)))
        .collect();
    m.text = format!(
        "kernel %k({pointers}i32 surface{}, i32, i64 ptr noalias) simd{lanes} {{\n",
        promise(POINTERS)
    );
    m.text += "block0(v0: i64, v1: i64, v2: i64, v3: i32, v4: i32, v5: i64):\n";
    for arg in 0..ARGS as u32 {
        let ty = if arg == POINTERS as u32 { "i32" } else { "i64" };
        let rows = m.rows(ty, arg);
        m.places.push([arg, rows]);
    }
    for kind in KINDS {
        let ty = m.typed(kind);
        let v = m.set(&format!("iconst.{ty} {}", kind.1 + bytes(kind.0)));
        m.pool.insert(ty, vec![v]);
    }
    if m.r.below(4) == 0 {
        let (a, b) = (m.r.below(3), m.r.below(3));
        let most = m.set("iconst.i32 4");
        let less = m.set(&format!("icmp slt v{COUNT}, v{most}"));
        let either = m.set(&format!("select v{less}, v{a}, v{b}"));
        let rows = m.rows("i64", either);
        m.places.push([either, rows]);
    }
    for part in 0..1 + m.r.below(3) as u32 {
        for _ in 0..m.r.below(8) {
            m.access();
        }
        if m.r.below(2) == 0 {
            m.looped(1 + 3 * part);
        }
    }
    for _ in 0..m.r.below(4) {
        m.access();
    }
    for (n, of) in m.pool.clone().into_values().enumerate() {
        let at = n * RESULT;
        m.line(&format!("bstore v{}, v{OUT}+{at}", of.last().unwrap()));
    }
    m.text += "    return\n}\n";
    Kernel {
        text: m.text,
        alone,
        lanes,
        drawn: m.drawn,
    }
}

/// Returns all bindings that the promises allow. Each argument has one of two buffers, or one of
/// its own.
fn bindings(alone: [bool; ARGS]) -> Vec<[usize; ARGS]> {
    let mut out = Vec::new();
    for bits in 0..1 << ARGS {
        let binding = std::array::from_fn(|n| match (alone[n], bits >> n & 1) {
            (true, _) => 2 + n,
            (false, which) => which,
        });
        if !out.contains(&binding) {
            out.push(binding);
        }
    }
    out
}

/// Returns the initial contents of the buffers: two for arguments that may share, one for each
/// argument by itself, and zeros for the results.
fn buffers(r: &mut Rng) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..2 + ARGS)
        .map(|_| (0..BYTES).map(|_| r.u64() as u8).collect())
        .collect();
    all.push(vec![0; BYTES]);
    all
}

fn interpret(
    m: &Module,
    lanes: u32,
    binding: &[usize],
    count: i32,
    of: &[Vec<u8>],
) -> Vec<Vec<u8>> {
    let mut memory = Buffers::default();
    let all: Vec<u64> = of.iter().map(|b| memory.add(b.clone())).collect();
    let mut args: Vec<_> = binding.iter().map(|b| interp::Arg::ptr(all[*b])).collect();
    args.push(interp::Arg::i32(count));
    args.push(interp::Arg::ptr(*all.last().unwrap()));
    let grid = interp::Grid::new([lanes, 1, 1], [lanes, 1, 1]);
    let k = FuncRef::from_u32(0);
    interp::launch(m, k, &grid, &args, &mut memory, LIMIT).unwrap();
    all.iter().map(|a| memory.bytes(*a).to_vec()).collect()
}

fn simulate(
    zebin: &[u8],
    lanes: u32,
    binding: &[usize],
    count: i32,
    of: &[Vec<u8>],
    watch: Option<&Watch>,
) -> Result<Vec<Vec<u8>>, gantry_runtime::Error> {
    let device = Device::simulator(SimOptions {
        instruction_limit: LIMIT,
        ..SimOptions::default()
    });
    let kernel = device.load(zebin)?.kernel("k")?;
    let all: Vec<_> = of
        .iter()
        .map(|b| device.buffer_from(b))
        .collect::<Result<_, _>>()?;
    let mut args: Vec<Arg> = binding
        .iter()
        .map(|b| Arg::Buffer(all[*b].clone()))
        .collect();
    args.push(Arg::bytes(&count.to_le_bytes()));
    args.push(Arg::Buffer(all.last().unwrap().clone()));
    let grid = Grid::new([lanes, 1, 1]).group([lanes, 1, 1]);
    let mut launch = kernel.launch(grid).args(args);
    if let Some(watch) = watch {
        launch = launch.watch(watch);
    }
    launch.run()?;
    all.iter().map(|b| b.read()).collect()
}

#[test]
fn buffers_that_are_one_another_do_what_the_interpreter_says() {
    let number = |name: &str, or: u64| {
        let v = std::env::var(name).ok();
        v.and_then(|v| v.parse().ok()).unwrap_or(or)
    };
    let seed = number("GANTRY_SEED", 1);
    let cases = number("GANTRY_CASES", 600);
    let targets = platforms();
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let (mut launches, mut shared) = (0, 0);
    for n in seed..seed + cases {
        let mut r = Rng(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let target = &targets[r.below(targets.len() as u64) as usize];
        let k = kernel(&mut r);
        let failed = |e: String| -> ! {
            panic!(
                "GANTRY_SEED={n} GANTRY_CASES=1 on {}: {e}\n{}",
                target.name(),
                k.text
            )
        };
        let module = parse(&k.text)
            .unwrap_or_else(|e| failed(e.to_string()))
            .module;
        let mut options = CompileOptions::for_target(target.name()).unwrap();
        options.check = true;
        options.large_buffers = r.below(3) == 0;
        options.opt = one_of(&mut r, &[OptLevel::O1, OptLevel::O2, OptLevel::O2]);
        let c = compile(&module, &options).unwrap_or_else(|e| failed(e.to_string()));
        let lanes = k.lanes;
        let of = buffers(&mut r);
        for binding in bindings(k.alone) {
            let count = r.below(MOST + 1) as i32;
            let watch = target.features().swsb.then(|| Watch::new().hazards());
            let want = interpret(&module, lanes, &binding, count, &of);
            let got = simulate(&c.zebin, lanes, &binding, count, &of, watch.as_ref());
            let got = got.unwrap_or_else(|e| failed(e.to_string()));
            if let Some(b) = (0..of.len()).find(|b| want[*b] != got[*b]) {
                let at = (0..BYTES).find(|at| want[b][*at] != got[b][*at]);
                failed(format!(
                    "with buffers {binding:?}, count {count}: byte {at:?} of buffer {b} differs"
                ));
            }
            if let Some(hazard) = watch
                .as_ref()
                .and_then(|w| w.report().hazards.first().cloned())
            {
                failed(format!("too early: {hazard}"));
            }
            launches += 1;
            shared += u64::from((0..ARGS).any(|n| binding[..n].contains(&binding[n])));
        }
        let promises = k.alone.iter().filter(|a| **a).count();
        let mut count = |what: String| *seen.entry(what).or_default() += 1;
        for p in c.kernels[0].stats.passes.iter().filter(|p| p.changes > 0) {
            count(format!("kernels that {} changes", p.pass.name()));
        }
        for what in k.drawn {
            count(what.to_owned());
        }
        count(format!("kernels with {promises} promises"));
        count(format!("on {}", target.name()));
        count(format!("{lanes} lanes"));
    }
    for (what, count) in &seen {
        println!("{count:6} {what}");
    }
    println!(
        "seeds {seed} to {}: {cases} kernels, {launches} launches equal, {shared} with arguments of one buffer",
        seed + cases - 1
    );
    for pass in [
        Pass::LoadForwarding,
        Pass::DeadStores,
        Pass::LoadLicm,
        Pass::VectorizeLoads,
        Pass::VectorizeStores,
        Pass::UnrollRuntime,
    ] {
        let changed = seen.get(&format!("kernels that {} changes", pass.name()));
        assert!(
            changed.copied().unwrap_or(0) * 100 >= cases || cases < 100,
            "{}",
            pass.name()
        );
    }
}
