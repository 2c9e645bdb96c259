//! Random kernels: what the compiler's bytes do on the simulator is what the interpreter says.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use gantry_codegen::fuzzing::{self, OUT_BYTES, Options};
use gantry_codegen::interp::{Arg, Buffers, Grid, lane_float, launch};
use gantry_codegen::ir::{FuncKind, FuncRef, InstData, Module, Opcode, Scalar, Type};
use gantry_codegen::{CodegenError, CompileOptions, compile};
use gantry_runtime::{Device, SimOptions};

fn interpret(m: &Module, input: &[u8]) -> Vec<u8> {
    let mut memory = Buffers::default();
    let x = memory.add(input.to_vec());
    let y = memory.add(vec![0; OUT_BYTES as usize]);
    let args = [Arg::ptr(x), Arg::ptr(y), Arg::i32(5), Arg::f32(1.5)];
    let simd = simd(m);
    let grid = Grid::new([simd, 1, 1], [simd, 1, 1]);
    launch(
        m,
        FuncRef::from_u32(0),
        &grid,
        &args,
        &mut memory,
        1_000_000,
    )
    .unwrap();
    memory.bytes(y).to_vec()
}

/// Work-items of a thread: a kernel is launched as one.
fn simd(m: &Module) -> u32 {
    match m.functions[FuncRef::from_u32(0)].kind {
        FuncKind::Kernel { simd, .. } => simd,
        FuncKind::Subroutine => 1,
    }
}

fn simulate(device: &Device, zebin: &[u8], input: &[u8], simd: u32) -> Result<Vec<u8>, String> {
    let module = device.load(zebin).map_err(|e| e.to_string())?;
    let kernel = module.kernel("k").map_err(|e| e.to_string())?;
    let x = device.buffer_from(input).map_err(|e| e.to_string())?;
    let out = vec![0u8; OUT_BYTES as usize];
    let y = device.buffer_from(&out).map_err(|e| e.to_string())?;
    let grid = gantry_runtime::Grid::new([simd, 1, 1]).group([simd, 1, 1]);
    kernel
        .launch(grid)
        .arg(&x)
        .arg(&y)
        .arg(5i32)
        .arg(1.5f32)
        .run()
        .map_err(|e| e.to_string())?;
    y.read().map_err(|e| e.to_string())
}

/// The offsets in the output that blocks of floats are stored to.
fn floats(m: &Module) -> Vec<(usize, Type)> {
    let f = &m.functions[FuncRef::from_u32(0)];
    let output = f.dfg.block_params(f.layout.entry().unwrap())[1];
    let insts = f.layout.blocks().iter().flat_map(|&b| f.layout.insts(b));
    insts
        .filter_map(|&i| match *f.dfg.data(i) {
            InstData::Store {
                args: [v, to],
                offset,
                ..
            } if to == output => Some((offset as usize, f.dfg.ty(v))),
            _ => None,
        })
        .filter(|(_, ty)| ty.scalar().is_float())
        .collect()
}

/// Integers are equal; floats too, where all NaNs and both zeros count as one.
fn compare(m: &Module, expected: &[u8], got: &[u8]) -> Result<(), String> {
    let mut scalars = vec![Scalar::I8; expected.len()];
    for (at, ty) in floats(m) {
        scalars[at..at + ty.bytes() as usize].fill(ty.scalar());
    }
    let mut at = 0;
    while at < expected.len() {
        let scalar = scalars[at];
        let size = scalar.bytes() as usize;
        let read = |from: &[u8]| {
            let mut bits = [0; 8];
            bits[..size].copy_from_slice(&from[at..at + size]);
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

#[derive(Default, Debug)]
struct Count {
    equal: u32,
    unsupported: u32,
    too_large: u32,
}

fn one(seed: u64, options: &Options, device: &Device, count: &mut Count) -> Result<(), String> {
    let m = fuzzing::module(seed, options);
    let target = CompileOptions::for_target("skl").map_err(|e| e.to_string())?;
    let compiled = match compile(&m, &target) {
        Ok(c) => c,
        Err(CodegenError::Unsupported { .. }) => {
            count.unsupported += 1;
            return Ok(());
        }
        Err(CodegenError::OutOfRegisters { .. }) => {
            count.too_large += 1;
            return Ok(());
        }
        Err(e) => return Err(e.to_string()),
    };
    let input = fuzzing::input(seed);
    let expected = interpret(&m, &input);
    let got = simulate(device, &compiled.zebin, &input, simd(&m))?;
    compare(&m, &expected, &got)?;
    count.equal += 1;
    Ok(())
}

fn agree(options: &Options) {
    let env = |name: &str| std::env::var(name).ok().and_then(|s| s.parse::<u64>().ok());
    let first = env("GANTRY_SEED").unwrap_or(1);
    let cases = env("GANTRY_CASES").unwrap_or(150);
    println!("GANTRY_SEED={first}");
    let device = Device::simulator(SimOptions::default());
    let mut count = Count::default();
    let mut failures = Vec::new();
    for seed in first..first + cases {
        if let Err(e) = one(seed, options, &device, &mut count) {
            failures.push(format!("seed {seed}: {e}"));
        }
    }
    println!("{count:?}");
    assert!(
        failures.is_empty(),
        "{} of {cases}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(u64::from(count.equal) * 4 > cases, "{count:?}");
}

#[test]
fn integers() {
    agree(&Options {
        floats: false,
        size: 25,
        ..Options::runnable()
    });
}

#[test]
fn floats_and_integers() {
    // `flrp` rounds its intermediate results, which cancellation makes visible.
    let mut without = vec![Opcode::Flrp];
    // What they do with a NaN's bits, or with a float's place in memory, would have to be followed.
    without.extend([Opcode::Bitcast, Opcode::Store]);
    agree(&Options {
        without,
        size: 25,
        ..Options::runnable()
    });
}
