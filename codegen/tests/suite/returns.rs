//! Channels that return before others stay disabled, whatever constructs they were in. The text of
//! these kernels is `filetests/filetests/run/control/returns.gir`, for the compiler.

use gantry_codegen::builder::FunctionBuilder;
use gantry_codegen::interp::{Arg, Buffers, Grid, launch};
use gantry_codegen::ir::{Dim, FuncRef, Function, IntCC, Module, Scalar, Value, scalars::*};
use gantry_codegen::verifier::verify_module;

const LANES: u32 = 16;

fn splat(b: &mut FunctionBuilder<'_>, n: i64) -> Value {
    b.ins().iconst(I32.by(LANES), n)
}

/// Computes the result of `nested` for a number, negated if it returns early.
fn scalar(x: i32) -> i32 {
    let mut out = x;
    if x & 1 != 0 {
        out += 1;
        if x > 10 {
            return -out;
        }
        out += 2;
    } else {
        let mut left = x;
        loop {
            left -= 3;
            if left < 0 {
                break;
            }
            if left == 5 {
                return -out;
            }
            if left == 4 {
                continue;
            }
            out += 10;
        }
        out += 1000;
    }
    out += 100;
    if x == 3 {
        return -out;
    }
    out + 5
}

fn nested() -> Function {
    let mut f = Function::kernel("nested", LANES);
    let mut b = FunctionBuilder::new(&mut f);
    let p = b.ptr_param();
    let id = b.global_id(Dim::X);
    let at = b.element_addr(p, id, 4);
    let x = b.simd_load(I32, at, 0);
    let out = b.var(x);
    let add = |b: &mut FunctionBuilder<'_>, n: i64| {
        let n = splat(b, n);
        let v = b.use_var(out);
        let v = b.ins().iadd(v, n);
        b.def_var(out, v);
    };
    // Early channels store their value, negated, and return.
    let finish = |b: &mut FunctionBuilder<'_>| {
        let v = b.use_var(out);
        let v = b.ins().ineg(v);
        b.simd_store(v, at, 0);
        b.ins().return_(&[]);
    };
    let equal = |b: &mut FunctionBuilder<'_>, v: Value, n: i64| {
        let n = splat(b, n);
        b.ins().icmp(IntCC::Equal, v, n)
    };
    let one = splat(&mut b, 1);
    let bit = b.ins().band(x, one);
    let odd = equal(&mut b, bit, 1);
    b.simd_if_else(
        odd,
        |b| {
            add(b, 1);
            let ten = splat(b, 10);
            let big = b.ins().icmp(IntCC::SignedGreaterThan, x, ten);
            b.simd_if(big, finish);
            add(b, 2);
        },
        |b| {
            let left = b.var(x);
            b.simd_loop(|b| {
                let (v, three) = (b.use_var(left), splat(b, 3));
                let v = b.ins().isub(v, three);
                b.def_var(left, v);
                let zero = splat(b, 0);
                let done = b.ins().icmp(IntCC::SignedLessThan, v, zero);
                b.simd_break_if(done);
                let five = equal(b, v, 5);
                b.simd_if(five, finish);
                let four = equal(b, v, 4);
                b.simd_continue_if(four);
                add(b, 10);
            });
            add(b, 1000);
        },
    );
    add(&mut b, 100);
    let three = equal(&mut b, x, 3);
    b.simd_if(three, finish);
    add(&mut b, 5);
    let v = b.use_var(out);
    b.simd_store(v, at, 0);
    // A thread gets here only if some channel does.
    let here = b.ins().iconst(I32, 1);
    b.ins().bstore(here, p, 512);
    b.ins().return_(&[]);
    b.finish().unwrap();
    f
}

/// Work-items beyond the grid return at once. The others count to their number, in a loop that the
/// whole thread runs.
fn tail() -> Function {
    let mut f = Function::kernel("tail", LANES);
    let mut b = FunctionBuilder::new(&mut f);
    let p = b.ptr_param();
    let n = b.param(I32);
    let id = b.global_id(Dim::X);
    let n = b.splat(n, LANES);
    let outside = b.ins().icmp(IntCC::SignedGreaterThanOrEqual, id, n);
    b.simd_return_if(outside, &[]);
    let zero = splat(&mut b, 0);
    let (sum, end) = (b.var(zero), b.ins().iconst(I32, 4));
    let first = b.ins().iconst(I32, 0);
    b.uniform_for(first, end, |b, i| {
        let i = b.splat(i, LANES);
        let v = b.use_var(sum);
        let v = b.ins().iadd(v, i);
        b.def_var(sum, v);
        let two = splat(b, 2);
        let bits = b.ins().band(id, two);
        let quit = b.ins().icmp(IntCC::Equal, bits, i);
        // Channels with bit 1 set return in the third iteration, the others in the first.
        b.simd_if(quit, |b| {
            let at = b.element_addr(p, id, 4);
            let v = b.use_var(sum);
            b.simd_store(v, at, 0);
            b.ins().return_(&[]);
        });
    });
    let here = b.ins().iconst(I32, 1);
    b.ins().bstore(here, p, 512);
    b.ins().return_(&[]);
    b.finish().unwrap();
    f
}

/// Makes `caller`, which calls `half_or_triple`. The callee returns half of an even number early.
fn calls() -> [Function; 2] {
    let mut f = Function::kernel("caller", LANES);
    let mut b = FunctionBuilder::new(&mut f);
    let p = b.ptr_param();
    let id = b.global_id(Dim::X);
    let at = b.element_addr(p, id, 4);
    let x = b.simd_load(I32, at, 0);
    let mask = b.exec_mask();
    let r = b
        .ins()
        .call(FuncRef::from_u32(3), &[I32.by(LANES)], &[mask, x]);
    b.simd_store(r[0], at, 0);
    b.ins().return_(&[]);
    b.finish().unwrap();
    let mut g = Function::subroutine("half_or_triple", &[I32.by(LANES)]);
    let mut b = FunctionBuilder::new(&mut g);
    let (mask, x) = (b.param(B1.by(LANES)), b.param(I32.by(LANES)));
    b.set_exec_mask(mask);
    let one = splat(&mut b, 1);
    let bit = b.ins().band(x, one);
    let odd = b.ins().icmp(IntCC::Equal, bit, one);
    b.simd_if_else(
        odd,
        |b| {
            let nine = splat(b, 9);
            let same = b.ins().icmp(IntCC::Equal, x, nine);
            b.simd_return_if(same, &[nine]);
        },
        |b| {
            let half = b.ins().sshr(x, one);
            b.ins().return_(&[half]);
        },
    );
    let three = splat(&mut b, 3);
    let r = b.ins().imul(x, three);
    b.ins().return_(&[r]);
    b.finish().unwrap();
    [f, g]
}

fn module() -> Module {
    let mut m = Module::default();
    m.functions.push(nested());
    m.functions.push(tail());
    calls().into_iter().for_each(|f| {
        m.functions.push(f);
    });
    verify_module(&m).unwrap_or_else(|e| panic!("{e}\n{m}"));
    m
}

/// Runs a kernel on 129 numbers.
fn run(m: &Module, name: &str, input: &[i32], global: u32, rest: &[Arg]) -> Vec<i32> {
    let mut memory = Buffers::default();
    let mut data: Vec<u8> = input.iter().flat_map(|v| v.to_le_bytes()).collect();
    data.resize(129 * 4, 0);
    let p = memory.add(data);
    let args: Vec<Arg> = [Arg::ptr(p)]
        .into_iter()
        .chain(rest.iter().cloned())
        .collect();
    let grid = Grid::new([global, 1, 1], [16, 1, 1]);
    launch(m, m.find(name).unwrap(), &grid, &args, &mut memory, 100_000).unwrap();
    let ints = memory.bytes(p).chunks_exact(4);
    ints.map(|b| i32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

#[test]
fn channels_return_from_nests() {
    let m = module();
    let input: Vec<i32> = (0..80).map(|n| n % 37).collect();
    let out = run(&m, "nested", &input, 80, &[]);
    for (x, got) in input.iter().zip(&out) {
        assert_eq!(*got, scalar(*x), "{x}");
    }
    assert_eq!(out[128], 1);
    // All channels return early: the thread ends.
    let out = run(&m, "nested", &[11; 16], 16, &[]);
    assert_eq!(out[..16], [-12; 16]);
    assert_eq!(out[128], 0);
    // In a partial thread, channels that were not dispatched stay disabled.
    let out = run(&m, "nested", &[4; 16], 9, &[]);
    assert_eq!(out[..9], [scalar(4); 9]);
    assert_eq!(out[9..16], [4; 7]);
}

#[test]
fn channels_return_from_uniform_loops() {
    let m = module();
    let out = run(&m, "tail", &[-7; 48], 48, &[Arg::i32(20)]);
    for (n, got) in out[..48].iter().enumerate() {
        let want = match n {
            20.. => -7,
            _ if n & 2 == 0 => 0,
            _ => 3,
        };
        assert_eq!(*got, want, "{n}");
    }
    assert_eq!(out[128], 0);
}

#[test]
fn channels_return_results() {
    let m = module();
    let input: Vec<i32> = (0..16).collect();
    let out = run(&m, "caller", &input, 16, &[]);
    for (x, got) in input.iter().zip(&out) {
        let want = match x {
            9 => 9,
            _ if x & 1 == 0 => x / 2,
            _ => x * 3,
        };
        assert_eq!(*got, want, "{x}");
    }
}

/// The filetest contains exactly these kernels.
#[test]
fn the_filetest_is_current() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../filetests/filetests/run/control/returns.gir"
    );
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let start = text.find("kernel %nested").unwrap_or(text.len());
    let end = text.find("; run:").unwrap_or(text.len());
    let want = module().to_string();
    if std::env::var_os("GANTRY_BLESS").is_some() {
        let head = text.get(..start).unwrap_or("");
        let tail = text.get(end..).unwrap_or("");
        std::fs::write(path, format!("{head}{want}\n{tail}")).unwrap();
        return;
    }
    assert_eq!(
        text.get(start..end).unwrap_or("").trim_end(),
        want.trim_end()
    );
}

/// Helpers use the kernel's lanes for constants per lane.
#[test]
fn helpers() {
    let mut f = Function::kernel("k", 8);
    let mut b = FunctionBuilder::new(&mut f);
    let p = b.ptr_param();
    let (zero, n) = (b.ins().iconst(I32, 0), b.ins().iconst(I32, 10));
    let (i, sum) = (b.var(zero), b.var(zero));
    // Even numbers below ten, by a loop, an if and a while.
    b.uniform_while(
        |b| {
            let i = b.use_var(i);
            b.ins().icmp(IntCC::SignedLessThan, i, n)
        },
        |b| {
            let (v, one) = (b.use_var(i), b.ins().iconst(I32, 1));
            let bit = b.ins().band(v, one);
            let odd = b.ins().icmp(IntCC::Equal, bit, one);
            let next = b.ins().iadd(v, one);
            b.def_var(i, next);
            b.uniform_if_else(
                odd,
                |_| (),
                |b| {
                    let s = b.use_var(sum);
                    let s = b.ins().iadd(s, v);
                    b.def_var(sum, s);
                },
            );
            let many = b.ins().iconst(I32, 100);
            let never = b.ins().icmp(IntCC::Equal, v, many);
            b.uniform_if(never, |b| b.ins().return_(&[]));
        },
    );
    let s = b.use_var(sum);
    b.ins().bstore(s, p, 0);
    let lanes = b.iota(Scalar::I32, 8);
    let minus = b.ins().ineg(lanes);
    let back = b.ins().iconst(I64, 60);
    let last = b.ins().iadd(p, back);
    let at = b.element_addr(last, minus, 4);
    b.simd_store(lanes, at, 0);
    b.ins().return_(&[]);
    b.finish().unwrap();
    let mut m = Module::default();
    m.functions.push(f);
    verify_module(&m).unwrap_or_else(|e| panic!("{e}\n{m}"));
    let mut memory = Buffers::default();
    let p = memory.add(vec![0; 64]);
    let grid = Grid::new([8, 1, 1], [8, 1, 1]);
    let k = m.find("k").unwrap();
    launch(&m, k, &grid, &[Arg::ptr(p)], &mut memory, 1000).unwrap();
    let out: Vec<u8> = memory.bytes(p).iter().step_by(4).copied().collect();
    assert_eq!(out, [20, 0, 0, 0, 0, 0, 0, 0, 7, 6, 5, 4, 3, 2, 1, 0]);
}
