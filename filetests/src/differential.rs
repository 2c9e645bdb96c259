//! Random kernels, differentially: what the compiled bytes do on the simulator is what the interpreter says.
//!
//! A library function with the target a parameter: `tests/random.rs` runs a seeded few on every target, a fuzz target as many as one likes.

use crate::command::check_code;
use crate::runner::INSTRUCTION_LIMIT;
use gantry_codegen::fired::{Fired, RULES, Repair};
use gantry_codegen::fuzzing::{self, OUT_BYTES, Options, SHARED_BYTES};
use gantry_codegen::interp::{Arg, Buffers, Grid, lane_float, launch};
use gantry_codegen::ir::{FuncKind, FuncRef, InstData, Module, Opcode, Scalar, Type};
use gantry_codegen::text::parse;
use gantry_codegen::{CodegenError, CompileOptions, Compiled, Target, compile};
use gantry_runtime::{Device, SimOptions};
use std::collections::BTreeMap;
use std::fmt;

/// What came of a case.
#[derive(Debug)]
pub enum Outcome {
    /// Interpreter and simulator agree: the kernel, and what it was compiled to.
    Equal(Box<Agreed>),
    /// The compiler said that it cannot: of too much demand, which is not the IR's to know.
    TooLarge,
}

/// A kernel whose bytes do what its IR says.
#[derive(Debug)]
pub struct Agreed {
    /// The IR.
    pub module: Module,
    /// The bytes and figures.
    pub compiled: Compiled,
}

/// What was compiled: opcodes at which types of their first operand or result, lowering rules, repairs of the legalizer.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Cases that agree.
    pub equal: u64,
    /// Cases that did not fit the register file.
    pub too_large: u64,
    opcodes: BTreeMap<&'static str, BTreeMap<Scalar, u64>>,
    fired: Fired,
}

impl Coverage {
    /// Counts a case.
    pub fn add(&mut self, outcome: &Outcome) {
        let agreed = match outcome {
            Outcome::Equal(agreed) => agreed,
            Outcome::TooLarge => {
                self.too_large += 1;
                return;
            }
        };
        self.equal += 1;
        for kernel in &agreed.compiled.kernels {
            self.fired.extend(&kernel.stats.fired);
        }
        for f in agreed.module.functions.values() {
            let insts = f.layout.blocks().iter().flat_map(|&b| f.layout.insts(b));
            for &i in insts {
                let data = f.dfg.data(i);
                let mut of = None;
                data.for_each_arg(&f.dfg.pool, |v| of = of.or(Some(f.dfg.ty(v).scalar())));
                let result = f.dfg.first_result(i).map(|v| f.dfg.ty(v).scalar());
                // Of what has neither, the type does not matter.
                let of = of.or(result).unwrap_or(Scalar::B1);
                let types = self.opcodes.entry(data.opcode().name()).or_default();
                *types.entry(of).or_default() += 1;
            }
        }
    }

    /// Adds what another run covered.
    pub fn extend(&mut self, other: &Coverage) {
        self.equal += other.equal;
        self.too_large += other.too_large;
        self.fired.extend(&other.fired);
        for (name, types) in &other.opcodes {
            let all = self.opcodes.entry(name).or_default();
            for (ty, n) in types {
                *all.entry(*ty).or_default() += n;
            }
        }
    }

    /// What was covered and what not, of each kind.
    pub fn parts(&self) -> [Part; 3] {
        let opcodes = Opcode::all().iter().map(|i| i.name);
        let opcodes = opcodes.map(|n| (n.to_string(), self.opcodes.contains_key(n)));
        let rules = RULES.iter().enumerate();
        let rules = rules.map(|(n, (file, line))| {
            let name = format!("{file}:{line}");
            (name, self.fired.has_rule(n))
        });
        let repairs = Repair::ALL.iter();
        let repairs = repairs.map(|r| (format!("{r:?}"), self.fired.has_repair(*r)));
        [
            Part::of("opcodes", opcodes),
            Part::of("lowering rules", rules),
            Part::of("repairs", repairs),
        ]
    }
}

/// How much of one kind was covered.
#[derive(Clone, Debug)]
pub struct Part {
    /// The kind.
    pub name: &'static str,
    /// How many there are.
    pub all: usize,
    /// Those that were not.
    pub never: Vec<String>,
}

impl Part {
    fn of(name: &'static str, items: impl Iterator<Item = (String, bool)>) -> Part {
        let mut all = 0;
        let never = items.inspect(|_| all += 1).filter(|(_, had)| !had);
        let never = never.map(|(name, _)| name).collect();
        Part { name, all, never }
    }

    /// The share that was covered.
    pub fn share(&self) -> f64 {
        1.0 - self.never.len() as f64 / self.all.max(1) as f64
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, types) in &self.opcodes {
            let all: u64 = types.values().sum();
            let types: Vec<String> = types.iter().map(|(t, n)| format!("{t} {n}")).collect();
            writeln!(f, "{name:20} {all:7}  {}", types.join(", "))?;
        }
        for p in self.parts() {
            let had = p.all - p.never.len();
            let share = 100.0 * p.share();
            writeln!(f, "{had} of {} {} ({share:.1}%)", p.all, p.name)?;
            if !p.never.is_empty() {
                writeln!(f, "    never: {}", p.never.join(" "))?;
            }
        }
        write!(
            f,
            "{} kernels agree, {} too large for the register file",
            self.equal, self.too_large
        )
    }
}

/// The targets that differential tests run on: those of `GANTRY_TARGETS` (`skl,icllp`), or one of every platform, since products of one platform
/// get the same code.
pub fn platforms() -> Vec<Target> {
    if let Ok(names) = std::env::var("GANTRY_TARGETS") {
        let named = names.split(',').filter_map(|n| Target::from_name(n).ok());
        return named.collect();
    }
    let mut out: Vec<Target> = Target::all().collect();
    out.dedup_by_key(|t| t.platform());
    out
}

/// The options with what a target lacks by name left out: doubles where the ALU has none.
pub fn for_target(options: &Options, target: &Target) -> Options {
    Options {
        doubles: options.doubles && target.features().native_f64,
        float_atomics: options.float_atomics && target.features().float_atomics,
        ..options.clone()
    }
}

/// Takes a random module through its text and back, compiles it for a target, with every emitted instruction judged by the legality rules, runs it, and compares what it
/// stores with what the interpreter stores.
///
/// # Errors
/// The compiler refuses verified IR, or the results differ: a sentence that says how.
pub fn case(seed: u64, options: &Options, target: &Target) -> Result<Outcome, String> {
    let made = fuzzing::module(seed, options);
    let text = made.to_string();
    let m = parse(&text).map_err(|e| e.to_string())?.module;
    if m != made {
        return Err("another module comes back from its text".to_string());
    }
    let compile_options = CompileOptions {
        check: true,
        ..CompileOptions::new(target.clone())
    };
    let compiled = match compile(&m, &compile_options) {
        Err(CodegenError::OutOfRegisters { .. }) => return Ok(Outcome::TooLarge),
        other => other.map_err(|e| e.to_string())?,
    };
    check_code(&compiled, &compile_options)?;
    let input = fuzzing::input(seed);
    let expected = interpret(&m, &input)?;
    let got = simulate(&compiled.zebin, &input, simd(&m))?;
    compare(&m, &expected.output, &got.output)?;
    if expected.surface != got.surface {
        let differ = |(a, b): (&u8, &u8)| a != b;
        let at = expected.surface.iter().zip(&got.surface).position(differ);
        return Err(format!("the surface differs at byte {}", at.unwrap_or(0)));
    }
    Ok(Outcome::Equal(Box::new(Agreed {
        module: m,
        compiled,
    })))
}

/// What a kernel leaves in memory.
struct Left {
    output: Vec<u8>,
    surface: Vec<u8>,
}

/// The surface's buffer starts as the end of the input.
fn shared(input: &[u8]) -> Vec<u8> {
    input
        .iter()
        .rev()
        .copied()
        .take(SHARED_BYTES as usize)
        .collect()
}

/// Work-items of a thread: a kernel is launched as one.
fn simd(m: &Module) -> u32 {
    match m.functions.values().next().map(|f| f.kind) {
        Some(FuncKind::Kernel { simd, .. }) => simd,
        _ => 1,
    }
}

fn interpret(m: &Module, input: &[u8]) -> Result<Left, String> {
    let mut memory = Buffers::default();
    let x = memory.add(input.to_vec());
    let y = memory.add(vec![0; OUT_BYTES as usize]);
    let z = memory.add(shared(input));
    let args = [
        Arg::ptr(x),
        Arg::ptr(y),
        Arg::i32(5),
        Arg::f32(1.5),
        Arg::ptr(z),
    ];
    let simd = simd(m);
    let grid = Grid::new([simd, 1, 1], [simd, 1, 1]);
    launch(
        m,
        FuncRef::from_u32(0),
        &grid,
        &args,
        &mut memory,
        INSTRUCTION_LIMIT,
    )
    .map_err(|e| format!("interpreter: {e}"))?;
    Ok(Left {
        output: memory.bytes(y).to_vec(),
        surface: memory.bytes(z).to_vec(),
    })
}

fn simulate(zebin: &[u8], input: &[u8], simd: u32) -> Result<Left, String> {
    let device = Device::simulator(SimOptions {
        instruction_limit: INSTRUCTION_LIMIT,
        ..SimOptions::default()
    });
    let run = || -> Result<Left, gantry_runtime::Error> {
        let kernel = device.load(zebin)?.kernel("k")?;
        let x = device.buffer_from(input)?;
        let y = device.buffer_from(&vec![0u8; OUT_BYTES as usize])?;
        let z = device.buffer_from(&shared(input))?;
        let grid = gantry_runtime::Grid::new([simd, 1, 1]).group([simd, 1, 1]);
        kernel
            .launch(grid)
            .arg(&x)
            .arg(&y)
            .arg(5i32)
            .arg(1.5f32)
            .arg(&z)
            .run()?;
        Ok(Left {
            output: y.read()?,
            surface: z.read()?,
        })
    };
    run().map_err(|e| format!("simulator: {e}"))
}

/// The offsets in the output that blocks of floats are stored to.
fn floats(m: &Module) -> Vec<(usize, Type)> {
    let Some(f) = m.functions.get(FuncRef::from_u32(0)) else {
        return Vec::new();
    };
    let params = f.layout.entry().map_or(&[][..], |b| f.dfg.block_params(b));
    let output = params.get(1).copied();
    let insts = f.layout.blocks().iter().flat_map(|&b| f.layout.insts(b));
    insts
        .filter_map(|&i| match *f.dfg.data(i) {
            InstData::Store {
                args: [v, to],
                offset,
                ..
            } if Some(to) == output => Some((offset as usize, f.dfg.ty(v))),
            _ => None,
        })
        .filter(|(_, ty)| ty.scalar().is_float())
        .collect()
}

/// Integers are equal; floats too, where all NaNs and both zeros count as one.
fn compare(m: &Module, expected: &[u8], got: &[u8]) -> Result<(), String> {
    let mut scalars = vec![Scalar::I8; expected.len()];
    for (at, ty) in floats(m) {
        if let Some(s) = scalars.get_mut(at..at + ty.bytes() as usize) {
            s.fill(ty.scalar());
        }
    }
    let mut at = 0;
    while let Some(&scalar) = scalars.get(at) {
        let size = scalar.bytes() as usize;
        let read = |from: &[u8]| {
            let mut bits = [0; 8];
            for (to, b) in bits.iter_mut().zip(from.iter().skip(at).take(size)) {
                *to = *b;
            }
            u64::from_le_bytes(bits)
        };
        let (a, b) = (read(expected), read(got));
        let (x, y) = (lane_float(scalar, a), lane_float(scalar, b));
        if a != b && !(x.is_nan() && y.is_nan()) && x != y {
            return Err(format!(
                "byte {at}, {scalar}: interpreter {a:#x} ({x}), simulator {b:#x} ({y})"
            ));
        }
        at += size;
    }
    Ok(())
}
