//! Tests of the interpreter on whole kernels: SIMD control flow from the builder, launch
//! parameters, calls, errors.

use gantry_codegen::builder::FunctionBuilder;
use gantry_codegen::interp::{Arg, Buffers, Grid, InterpError, Stats, call, launch};
use gantry_codegen::ir::{Data, Dim, FloatCC, Function, IntCC, Module, Opcode, Scalar, scalars::*};
use gantry_codegen::text::parse;
use gantry_codegen::verifier::verify_module;

fn module(f: Function) -> Module {
    let mut m = Module::default();
    m.functions.push(f);
    verify_module(&m).unwrap_or_else(|e| panic!("{e}\n{m}"));
    // The text parses to the same module.
    let text = m.to_string();
    let again = parse(&text).unwrap_or_else(|e| panic!("{}", e.render("t", &text)));
    assert_eq!(again.module, m);
    m
}

fn run(m: &Module, grid: &Grid, args: &[Arg], memory: &mut Buffers) -> Result<Stats, InterpError> {
    let kernel = m.functions.keys().next().unwrap();
    launch(m, kernel, grid, args, memory, 1_000_000)
}

fn ints(bytes: &[u8]) -> Vec<i32> {
    bytes
        .chunks_exact(4)
        .map(|b| i32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

#[test]
fn saxpy_with_a_partial_thread() {
    let mut f = Function::kernel("saxpy", 16);
    let mut b = FunctionBuilder::new(&mut f);
    let (x, y) = (b.ptr_param(), b.ptr_param());
    let (a, n) = (b.param(F32), b.param(I32));
    let i = b.global_id(Dim::X);
    let count = b.splat(n, 16);
    let inside = b.ins().icmp(IntCC::SignedLessThan, i, count);
    b.simd_if(inside, |b| {
        let (px, py) = (b.element_addr(x, i, 4), b.element_addr(y, i, 4));
        let (vx, vy) = (b.simd_load(F32, px, 0), b.simd_load(F32, py, 0));
        let va = b.splat(a, 16);
        let r = b.ins().fma(va, vx, vy);
        b.simd_store(r, py, 0);
    });
    b.ins().return_(&[]);
    b.finish().unwrap();
    let m = module(f);
    let floats = |f: fn(usize) -> f32| {
        (0..50)
            .flat_map(|i| f(i).to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let mut memory = Buffers::default();
    let x = memory.add(floats(|i| i as f32));
    let y = memory.add(floats(|_| 1.0));
    let args = [Arg::ptr(x), Arg::ptr(y), Arg::f32(2.0), Arg::i32(50)];
    let stats = run(&m, &Grid::new([60, 1, 1], [20, 1, 1]), &args, &mut memory).unwrap();
    assert_eq!(stats.threads, 6);
    assert_eq!(memory.bytes(y), floats(|i| 2.0 * i as f32 + 1.0));
}

/// Each channel doubles its number up to a limit. Odd counts are skipped by `continue`, and some
/// channels take the else branch.
#[test]
fn divergent_loop() {
    let mut f = Function::kernel("loops", 16);
    let mut b = FunctionBuilder::new(&mut f);
    let p = b.ptr_param();
    let x = b.ins().bload(I32.by(16), p, 0);
    let limit = b.ins().iconst(I32.by(16), 1000);
    let zero = b.ins().iconst(I32.by(16), 0);
    let one = b.ins().iconst(I32.by(16), 1);
    let (steps, v, sum) = (b.var(zero), b.var(x), b.var(zero));
    b.simd_loop(|b| {
        let x = b.use_var(v);
        let big = b.ins().icmp(IntCC::SignedGreaterThan, x, limit);
        b.simd_break_if(big);
        let s = b.use_var(steps);
        let s = b.ins().iadd(s, one);
        b.assign(steps, s);
        let bit = b.ins().band(x, one);
        let odd = b.ins().icmp(IntCC::Equal, bit, one);
        b.simd_if_else(
            odd,
            |b| {
                let x1 = b.ins().iadd(x, one);
                b.assign(v, x1);
                let all = b.ins().icmp(IntCC::Equal, x1, x1);
                b.simd_continue_if(all);
            },
            |b| {
                let x2 = b.ins().iadd(x, x);
                b.assign(v, x2);
                let huge = b.ins().icmp(IntCC::SignedGreaterThan, x2, limit);
                b.simd_if(huge, |b| b.simd_break_if(huge));
            },
        );
        let t = b.use_var(sum);
        let t = b.ins().iadd(t, one);
        b.assign(sum, t);
    });
    let (s, v, t) = (b.use_var(steps), b.use_var(v), b.use_var(sum));
    b.ins().bstore(s, p, 64);
    b.ins().bstore(v, p, 128);
    b.ins().bstore(t, p, 192);
    b.ins().return_(&[]);
    b.finish().unwrap();
    let m = module(f);
    let start: Vec<i32> = (0..16).map(|i| i * 97 + 1).collect();
    let mut memory = Buffers::default();
    let mut data: Vec<u8> = start.iter().flat_map(|v| v.to_le_bytes()).collect();
    data.resize(256, 0);
    let p = memory.add(data);
    run(
        &m,
        &Grid::new([16, 1, 1], [16, 1, 1]),
        &[Arg::ptr(p)],
        &mut memory,
    )
    .unwrap();
    let out = ints(memory.bytes(p));
    for (lane, &x) in start.iter().enumerate() {
        let (mut v, mut steps, mut sum) = (x, 0, 0);
        while v <= 1000 {
            steps += 1;
            if v % 2 == 1 {
                v += 1;
                continue;
            }
            v += v;
            if v > 1000 {
                break;
            }
            sum += 1;
        }
        assert_eq!(
            [out[16 + lane], out[32 + lane], out[48 + lane]],
            [steps, v, sum],
            "lane {lane}"
        );
    }
}

/// Channels leave a loop for the end of one of two enclosing blocks. The code after each block runs
/// only in the channels that left for it.
#[test]
fn channels_leave_for_outer_blocks() {
    let mut f = Function::kernel("leave", 8);
    let mut b = FunctionBuilder::new(&mut f);
    let p = b.ptr_param();
    let ty = I32.by(8);
    let lane = b.iota(Scalar::I32, 8);
    let zero = b.ins().iconst(ty, 0);
    let (count, way) = (b.var(zero), b.var(zero));
    let outer = b.simd_block_begin();
    let inner = b.simd_block_begin();
    b.simd_loop_begin();
    let n = b.use_var(count);
    let done = b.ins().icmp(IntCC::Equal, n, lane);
    b.simd_if_begin(done);
    let two = b.ins().iconst(ty, 2);
    let bit = b.ins().band(lane, two);
    let some = b.ins().icmp(IntCC::NotEqual, bit, zero);
    b.simd_leave_to_if(outer, some);
    b.simd_leave_to(inner);
    b.simd_if_end();
    let one = b.ins().iconst(ty, 1);
    let next = b.ins().iadd(n, one);
    b.def_var(count, next);
    b.simd_loop_end();
    b.simd_block_end();
    let hundred = b.ins().iconst(ty, 100);
    b.def_var(way, hundred);
    b.simd_block_end();
    let (count, way) = (b.use_var(count), b.use_var(way));
    let sum = b.ins().iadd(count, way);
    b.ins().bstore(sum, p, 0);
    b.ins().return_(&[]);
    b.finish().unwrap();
    let m = module(f);
    let mut memory = Buffers::default();
    let p = memory.add(vec![0; 32]);
    let grid = Grid::new([8, 1, 1], [8, 1, 1]);
    run(&m, &grid, &[Arg::ptr(p)], &mut memory).unwrap();
    let want = [100, 101, 2, 3, 104, 105, 6, 7];
    assert_eq!(ints(memory.bytes(p)), want);
}

#[test]
fn facts_of_the_launch() {
    let text = "\
kernel %ids(i64 ptr) simd8 {
block0(v0: i64):
    v1 = dispatch_mask.b1x8
    v2 = local_id.i16x8 x
    v3 = local_id.i16x8 y
    v4 = local_id.i16x8 z
    v5 = group_id.i32 x
    v6 = group_count.i32 x
    v7 = global_size.i32 x
    v8 = iconst.i32 100
    v9 = imad v5, v8, v6
    v10 = rdregion.i32x8 v9, <0;1,0>, 0
    v11 = uextend.i32x8 v2
    v12 = uextend.i32x8 v3
    v13 = uextend.i32x8 v4
    v14 = iconst.i32x8 10
    v15 = imad v13, v14, v12
    v16 = imad v15, v14, v11
    v17 = iconst.i32x8 10000
    v18 = imad v10, v17, v16
    v19 = vconst.i64x8 [0, 4, 8, 12, 16, 20, 24, 28]
    v20 = rdregion.i64x8 v0, <0;1,0>, 0
    v21 = iadd v19, v20
    store v18, v21, mask v1
    return
}
";
    let m = parse(text).unwrap().module;
    verify_module(&m).unwrap();
    let mut memory = Buffers::default();
    let p = memory.add(vec![0xff; 32]);
    // 3 x 2 x 1 work-items: 6 of 8 lanes.
    run(
        &m,
        &Grid::new([3, 2, 1], [3, 2, 1]),
        &[Arg::ptr(p)],
        &mut memory,
    )
    .unwrap();
    let base = 10000;
    assert_eq!(
        ints(memory.bytes(p)),
        [
            base,
            base + 1,
            base + 2,
            base + 10,
            base + 11,
            base + 12,
            -1,
            -1
        ]
    );
}

#[test]
fn calls_and_regions() {
    let text = "\
function %swap(f32x4, i16) -> f32x4, f32 {
block0(v0: f32x4, v1: i16):
    v2 = rdregion.f32x4 v0, <1;2,1>, 0
    v3 = rdregion.f32 v0, <0;1,0>, 4+v1
    v4 = bconst.b1x2 0x2
    v5 = vconst.f32x2 [8.0, 9.0]
    v6 = wrregion v2, <2;2,2>, 4, v5, mask v4
    return v6, v3
}

function %main(f32x4) -> f32x4, f32 {
block0(v0: f32x4):
    v1 = iconst.i16 4
    v2, v3 = call %swap(v0, v1)
    return v2, v3
}
";
    let m = parse(text).unwrap().module;
    verify_module(&m).unwrap();
    let f = |v: f32| u64::from(v.to_bits());
    let arg = Arg([1.0, 2.0, 3.0, 4.0].map(f).to_vec());
    let out = call(
        &m,
        m.find("main").unwrap(),
        &[arg],
        &mut Buffers::default(),
        100,
    )
    .unwrap();
    // Overlapping rows: 1 2, 2 3. Then element 3 (the second of the masked write) becomes 9.
    assert_eq!(out, [[1.0, 2.0, 2.0, 9.0].map(f).to_vec(), vec![f(3.0)]]);
}

fn error_of(text: &str, grid: &Grid) -> String {
    let m = parse(text).unwrap().module;
    verify_module(&m).unwrap();
    let mut memory = Buffers::default();
    let p = memory.add(vec![0; 64]);
    run(&m, grid, &[Arg::ptr(p)], &mut memory)
        .unwrap_err()
        .to_string()
}

#[test]
fn errors_name_the_place() {
    let one = Grid::new([8, 1, 1], [8, 1, 1]);
    let e = error_of(
        "kernel %k(i64 ptr) simd8 {\nblock0(v0: i64):\n    v1 = bload.f32x8 v0+36\n    return\n}\n",
        &one,
    );
    assert!(
        e.contains("at `v1 = bload.f32x8 v0+36`: lane 7: a read of 4 bytes at 0x10040, outside"),
        "{e}"
    );
    let e = error_of(
        "kernel %k(i64 ptr) simd8 {\nblock0(v0: i64):\n    jump block1\nblock1:\n    jump block1\n}\n",
        &one,
    );
    assert!(e.contains("an endless loop?"), "{e}");
    let e = error_of(
        "kernel %k(i64 ptr) simd8 {\nblock0(v0: i64):\n    v1 = local_id.i16x8 x\n    v2 = rdregion.i16 v1, <0;1,0>, 0\n    v3 = iconst.i16 8\n    v4 = icmp ult v2, v3\n    brif v4, block1, block2\nblock1:\n    barrier\n    return\nblock2:\n    return\n}\n",
        &Grid::new([16, 1, 1], [16, 1, 1]),
    );
    assert!(
        e.contains("a barrier that never completes: 1 thread waiting, 1 ended"),
        "{e}"
    );
    for (halves, what) in [
        ("barrier_arrive\n    return", "the thread ends at a barrier"),
        ("barrier_arrive\n    barrier\n    return", "and not waited"),
        ("barrier_wait\n    return", "has not arrived at the barrier"),
    ] {
        let text = format!("kernel %k(i64 ptr) simd8 {{\nblock0(v0: i64):\n    {halves}\n}}\n");
        let e = error_of(&text, &one);
        assert!(e.contains(what), "{e}");
    }
    let e = error_of(
        "kernel %k(i64 ptr) simd8 {\nblock0(v0: i64):\n    v1 = iconst.i16x8 0\n    v2 = iconst.i16 14\n    v3 = rdregion.i16x2 v1, <2;2,1>, 0+v2\n    return\n}\n",
        &one,
    );
    assert!(e.contains("there is no lane 8"), "{e}");
    let e = error_of(
        "kernel %k(i64 ptr) simd8 {\nblock0(v0: i64):\n    v1 = iconst.i32x16 0\n    v2 = iconst.i16 8\n    v3 = rdregion.i32x4 v1, <8;2,1>, 8+v2, parent 4\n    return\n}\n",
        &one,
    );
    let row = "lane 0 of the region is element 4, not in a row of 4 with 2";
    assert!(e.contains(row), "{e}");
    let e = error_of(
        "kernel %k(i64 ptr) simd8 {\nblock0(v0: i64):\n    return\n}\n",
        &Grid::new([8; 3], [0; 3]),
    );
    assert!(e.contains("it has 1 to 1024"), "{e}");
}

#[test]
fn a_mandelbrot_lane_count() {
    // As in the demo: a divergent trip count per channel.
    let mut f = Function::kernel("trip", 8);
    let mut b = FunctionBuilder::new(&mut f);
    let p = b.ptr_param();
    let id = b.ins().local_id(Dim::X);
    let id = b.ins().uextend(I32.by(8), id);
    let c = b.ins().fcvt_from_uint(F32.by(8), id);
    let four = b.ins().fconst(F32.by(8), 400.0);
    let zero = b.ins().iconst(I32.by(8), 0);
    let fzero = b.ins().fconst(F32.by(8), 0.0);
    let one = b.ins().iconst(I32.by(8), 1);
    let most = b.ins().iconst(I32.by(8), 20);
    let (n, z) = (b.var(zero), b.var(fzero));
    b.simd_loop(|b| {
        let (k, v) = (b.use_var(n), b.use_var(z));
        let out = b.ins().fcmp(FloatCC::GreaterThan, v, four);
        let end = b.ins().icmp(IntCC::SignedGreaterThanOrEqual, k, most);
        let stop = b.ins().bor(out, end);
        b.simd_break_if(stop);
        let v = b.ins().fadd(v, c);
        let v = b.ins().fadd(v, v);
        b.assign(z, v);
        let k = b.ins().iadd(k, one);
        b.assign(n, k);
    });
    let k = b.use_var(n);
    b.ins().bstore(k, p, 0);
    b.ins().return_(&[]);
    b.finish().unwrap();
    let m = module(f);
    let mut memory = Buffers::default();
    let p = memory.add(vec![0; 32]);
    run(
        &m,
        &Grid::new([8, 1, 1], [8, 1, 1]),
        &[Arg::ptr(p)],
        &mut memory,
    )
    .unwrap();
    let expected: Vec<i32> = (0..8)
        .map(|c| {
            let (mut n, mut z) = (0, 0.0f32);
            while z <= 400.0 && n < 20 {
                z = 2.0 * (z + c as f32);
                n += 1;
            }
            n
        })
        .collect();
    assert_eq!(ints(memory.bytes(p)), expected);
}

/// Disabled lanes do not affect sub-group operations.
#[test]
fn subgroup_operations_of_enabled_lanes() {
    let mut f = Function::kernel("sub", 8);
    let mut b = FunctionBuilder::new(&mut f);
    let p = b.ptr_param();
    let id = b.ins().local_id(Dim::X);
    let id = b.ins().uextend(I32.by(8), id);
    let (one, two, ten) = (
        b.ins().iconst(I32.by(8), 1),
        b.ins().iconst(I32, 2),
        b.ins().iconst(I32.by(8), 10),
    );
    let odd = b.ins().band(id, one);
    let odd = b.ins().icmp(IntCC::Equal, odd, one);
    b.simd_if(odd, |b| {
        // Lanes 1, 3, 5, 7.
        let x = b.ins().imul(id, ten);
        let small = b.ins().icmp(IntCC::SignedLessThan, id, one);
        let not = b.ins().bnot(small);
        let bits = b.simd_ballot(not);
        b.ins().bstore(bits, p, 0);
        for (n, op) in [
            Opcode::ReduceIadd,
            Opcode::ReduceSmin,
            Opcode::ReduceSmax,
            Opcode::ReduceUmin,
        ]
        .into_iter()
        .enumerate()
        {
            let r = b.simd_reduce(op, x);
            b.ins().bstore(r, p, 4 + 4 * n as i32);
        }
        let s = b.simd_scan(Opcode::ScanIadd, x);
        b.ins().bstore(s, p, 20);
        let s = b.simd_scan_exclusive(Opcode::ScanIadd, x);
        b.ins().bstore(s, p, 52);
        let s = b.simd_broadcast(x, two);
        b.ins().bstore(s, p, 84);
    });
    b.ins().return_(&[]);
    b.finish().unwrap();
    let m = module(f);
    let mut memory = Buffers::default();
    let p = memory.add(vec![0; 116]);
    let grid = Grid::new([8, 1, 1], [8, 1, 1]);
    run(&m, &grid, &[Arg::ptr(p)], &mut memory).unwrap();
    let mut expected = vec![0b1010_1010, 160, 10, 70, 10];
    expected.extend([0, 10, 10, 40, 40, 90, 90, 160]);
    expected.extend([0, 0, 10, 10, 40, 40, 90, 90]);
    expected.extend([20; 8]);
    assert_eq!(ints(memory.bytes(p)), expected);
}

/// Channels whose assertion fails print a message and return. The others continue.
#[test]
fn failed_assertions_end_channels() {
    let mut m = Module::default();
    let message = m.data.push(Data::string("message", "k.cl:7: x < 3\n"));
    let format = m.data.push(Data::string("format", "%d "));
    let mut f = Function::kernel("k", 8);
    let mut b = FunctionBuilder::new(&mut f);
    let p = b.ptr_param();
    let x = b.ins().bload(I32.by(8), p, 0);
    let three = b.ins().iconst(I32.by(8), 3);
    let small = b.ins().icmp(IntCC::SignedLessThan, x, three);
    b.simd_assert(small, message, &[]);
    b.simd_printf(format, &[x]);
    b.ins().return_(&[]);
    b.finish().unwrap();
    m.functions.push(f);
    gantry_codegen::verifier::verify_module(&m).unwrap();
    let mut memory = Buffers::default();
    let numbers = [0u32, 5, 1, 9, 2, 0, 1, 2];
    let x = memory.add(numbers.into_iter().flat_map(u32::to_le_bytes).collect());
    let kernel = m.find("k").unwrap();
    let grid = Grid::new([8, 1, 1], [8, 1, 1]);
    launch(&m, kernel, &grid, &[Arg::ptr(x)], &mut memory, 1000).unwrap();
    let printed = String::from_utf8(memory.printed().to_vec()).unwrap();
    assert_eq!(printed, "k.cl:7: x < 3\nk.cl:7: x < 3\n0 1 2 0 1 2 ");
    let text = m.to_string();
    assert!(gantry_codegen::text::parse(&text).unwrap().module == m);
}
