//! Tests of the builder with operators: generated instructions, and errors with their locations in
//! this file.

use gantry_codegen::builder::{FunctionBuilder, KernelBuilder, Val};
use gantry_codegen::ir::{Dim, Function, Module, Opcode, Scalar, Type, scalars::*};
use gantry_codegen::verifier::verify_module;

fn text(build: impl for<'k> FnOnce(&'k KernelBuilder)) -> String {
    let k = KernelBuilder::new("k", 8);
    build(&k);
    let mut m = Module::default();
    m.functions.push(k.finish().unwrap());
    verify_module(&m).unwrap();
    m.to_string()
}

/// Returns the single error that a builder reports.
fn mistake(build: impl for<'k> FnOnce(&'k KernelBuilder)) -> String {
    let k = KernelBuilder::new("k", 8);
    build(&k);
    let mut e = k.finish().unwrap_err();
    assert_eq!(e.errors.len(), 1, "{e}");
    e.errors.remove(0)
}

/// Returns the opcodes of a text, in order.
fn opcodes(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|l| l.starts_with(' '));
    lines
        .map(|l| {
            let l = l.split_once(" = ").map_or(l.trim(), |p| p.1);
            l.split([' ', '.']).next().unwrap()
        })
        .collect()
}

#[test]
fn operators_go_by_types() {
    let t = text(|k| {
        let (x, n) = (k.param(F32), k.param(I32));
        let wide = k.undef(F32.by(8));
        let ints = k.undef(I32.by(8));
        let mut v = 2.0 * wide + x - 1;
        v += v / 3.0;
        let w = !(((ints << 2) >> n) & 7) % 5;
        let both = v.lt(0.5) & w.uge(n);
        let v = both.select(v, -v);
        let w = both.select(w.min(1).max(-1), w);
        k.store(v, k.buffer(), w);
    });
    let want = "undef undef fconst fmul rdregion fadd fconst fsub fconst fdiv fadd iconst ishl rdregion sshr iconst band bnot iconst srem \
                fconst fcmp rdregion icmp band fneg select iconst smin iconst smax select";
    assert_eq!(opcodes(&t)[1..33].join(" "), want, "{t}");
    // One lane is splat; literals are constants of the other operand's type.
    assert!(
        t.contains("fconst.f32x8 2.0") && t.contains("fconst.f32x8 1.0"),
        "{t}"
    );
}

#[test]
fn functions_of_one_lane_and_of_halves() {
    let t = text(|k| {
        let x = k.param(F32);
        k.block_store(x.pow(2.5) + x.atan2(1), k.buffer(), 0);
        let h = k.undef(F16.by(8));
        k.store(h.exp(), k.buffer(), k.global_id(Dim::X));
    });
    assert!(
        t.contains("fpromote.f32x8") && t.contains("fdemote.f16x8"),
        "{t}"
    );
}

#[test]
fn constructs_nest() {
    let t = text(|k| {
        let (n, to) = (k.param(I32), k.buffer());
        let i = k.global_id(Dim::X);
        let sum = k.var(k.int(I32.by(8), 0));
        k.uniform_for(n, |j| {
            k.simd_if_else(
                (i & 1).eq(0),
                || sum.set(sum.get() + j),
                || sum.set(sum.get() - j),
            );
        });
        k.store(sum.get(), to, i);
    });
    assert!(t.contains("goto") && t.contains("brif"), "{t}");
}

#[test]
fn a_subroutine() {
    let mut f = Function::subroutine("square", &[I32]);
    f.sig.params.push(gantry_codegen::ir::Param::new(
        I32,
        gantry_codegen::ir::ArgKind::Value,
    ));
    let k = KernelBuilder::of(f);
    let x = k.with(|b| b.params()[0]);
    let square = x * x;
    k.run_with(|b| b.ins().return_(&[square.value()]));
    let f = k.finish().unwrap();
    assert!(f.to_string().contains("return v1"), "{f}");
}

/// Errors name the operation, the types, and the line and column of the call.
#[test]
fn reports_wrong_types_with_location() {
    let at = |line: u32, column: u32| format!("({}:{line}:{column})", file!());
    let line = line!();
    let told = mistake(|k| {
        let (x, i) = (k.undef(F32.by(8)), k.undef(I32.by(8)));
        let _ = x + i;
    });
    let want = "`v2 = fadd v0, v1`: type clash: v1 is i32x8, and v0 is f32x8";
    assert_eq!(told, format!("{want} {}", at(line + 3, 17)));

    let line = line!();
    let told = mistake(|k| {
        let i = k.undef(I32.by(8));
        i.sqrt();
    });
    let want = "`v1 = fsqrt v0`: type clash: `fsqrt` takes floats, and v0 is i32x8";
    assert_eq!(told, format!("{want} {}", at(line + 3, 11)));

    let line = line!();
    let told = mistake(|k| {
        let i = k.undef(I32.by(8));
        i.exp();
    });
    let want = "`exp` takes floats, and v0 is i32x8";
    assert_eq!(told, format!("{want} {}", at(line + 3, 11)));

    // Errors of memory operations and of splats.
    let line = line!();
    let told = mistake(|k| {
        let (at, v) = (k.undef(F32.by(8)), k.undef(F32.by(8)));
        k.store_at(v, at, 0);
    });
    assert!(told.contains("store") && told.contains("f32x8"), "{told}");
    assert!(told.ends_with(&at(line + 3, 11)), "{told}");
    let line = line!();
    let told = mistake(|k| {
        let (x, y) = (k.undef(F32.by(8)), k.undef(F32.by(16)));
        x.fma(y, y);
    });
    assert!(told.contains("f32x8") && told.contains("f32x16"), "{told}");
    assert!(told.ends_with(&at(line + 3, 11)), "{told}");

    // Same errors in the underlying builder.
    let mut f = Function::kernel("k", 8);
    let mut b = FunctionBuilder::new(&mut f);
    let (x, i) = (b.ins().undef(F32), b.ins().undef(I32));
    let line = line!();
    b.ins().fadd(x, i);
    b.ins().return_(&[]);
    let told = b.finish().unwrap_err().to_string();
    let want = "in %k: `v2 = fadd v0, v1`: type clash: v1 is i32, and v0 is f32";
    assert_eq!(told, format!("{want} {}", at(line + 1, 13)));
}

/// Every binary operation reports two different types, with the location of the call.
#[test]
fn every_operation_reports_types() {
    let two: [for<'k> fn(Val<'k>, Val<'k>) -> Val<'k>; 12] = [
        |x, y| x + y,
        |x, y| x - y,
        |x, y| x * y,
        |x, y| x / y,
        |x, y| x % y,
        |x, y| x & y,
        |x, y| x.lt(y),
        |x, y| x.max(y),
        |x, y| x.udiv(y),
        |x, y| x.rotl(y),
        |x, y| x.pow(y),
        |x, y| x.fma(y, x),
    ];
    for (n, f) in two.into_iter().enumerate() {
        let told = mistake(|k| {
            f(k.undef(F32.by(8)), k.undef(I32.by(8)));
        });
        assert!(told.contains(&format!("({}:", file!())), "{n}: {told}");
        assert!(told.contains("i32") || told.contains("f32"), "{n}: {told}");
    }
}

#[test]
fn reports_reentrant_use() {
    let told = mistake(|k| {
        k.with(|b| {
            let x = b.ins().undef(I32);
            let _ = k.int(I32, 1);
            x
        });
    });
    assert!(told.contains("used by what `with` runs"), "{told}");
}

/// Values of another builder are reported.
#[test]
fn reports_values_of_another_function() {
    let other = KernelBuilder::new("other", 8);
    let mut v = other.undef(I32);
    for _ in 0..9 {
        v += 1;
    }
    let k = KernelBuilder::new("k", 8);
    let _ = k.undef(I32).map(|b, x| b.ins().iadd(x, v.value()));
    let e = k.finish().unwrap_err().to_string();
    assert!(e.contains("is not a value of this function"), "{e}");
    let reduced = other
        .undef(I32.by(8))
        .map(|b, v| b.simd_reduce(Opcode::ReduceIadd, v));
    assert_eq!(reduced.ty(), Type::scalar_of(Scalar::I32));
}
