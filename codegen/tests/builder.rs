//! The builder: what it makes of variables, and the mistakes it tells. What its SIMD control flow computes is tested in
//! `interp.rs`.
#![allow(clippy::unwrap_used, reason = "test code")]

use gantry_codegen::builder::FunctionBuilder;
use gantry_codegen::ir::{FloatCC, FuncRef, Function, IntCC, Module, Region, Scalar, scalars::*};
use gantry_codegen::verifier::verify_module;

fn verified(f: Function) -> String {
    let mut m = Module::default();
    m.functions.push(f);
    verify_module(&m).unwrap();
    m.to_string()
}

#[test]
fn variables_become_parameters_only_where_they_merge() {
    let mut f = Function::kernel("k", 8);
    let mut b = FunctionBuilder::new(&mut f);
    let n = b.param(I32);
    let zero = b.ins().iconst(I32, 0);
    let one = b.ins().iconst(I32, 1);
    let (sum, same, limit) = (b.var(zero), b.var(one), b.var(n));
    let (head, body, end) = (b.create_block(), b.create_block(), b.create_block());
    b.ins().jump(head, &[]);
    b.switch_to_block(head);
    let (s, l) = (b.use_var(sum), b.use_var(limit));
    let more = b.ins().icmp(IntCC::SignedLessThan, s, l);
    b.ins().brif(more, body, &[], end, &[]);
    b.seal_block(body);
    b.switch_to_block(body);
    let (s, step) = (b.use_var(sum), b.use_var(same));
    let s = b.ins().iadd(s, step);
    b.def_var(sum, s);
    b.ins().jump(head, &[]);
    b.seal_block(head);
    b.seal_block(end);
    b.switch_to_block(end);
    let last = b.use_var(sum);
    b.ins().ineg(last);
    b.ins().return_(&[]);
    b.finish().unwrap();
    let text = verified(f);
    // `limit` and `same` never change: only `sum` is a parameter of the loop.
    assert!(text.contains("jump block1(v1)"), "{text}");
    assert_eq!(text.matches("block1(").count(), 3, "{text}");
    assert!(
        text.contains("block2:") && text.contains("block3:"),
        "{text}"
    );
}

#[test]
fn unassigned_variables_are_undef() {
    let mut f = Function::kernel("k", 8);
    let mut b = FunctionBuilder::new(&mut f);
    let v = b.declare_var(F32.by(8));
    let next = b.create_block();
    b.ins().jump(next, &[]);
    b.switch_to_block(next);
    let x = b.use_var(v);
    b.ins().fneg(x);
    b.ins().return_(&[]);
    b.finish().unwrap();
    let text = verified(f);
    assert!(text.contains("undef.f32x8"), "{text}");
}

#[test]
fn a_subroutine_with_a_mask() {
    let mut f = Function::subroutine("f", &[I32.by(8)]);
    let mut b = FunctionBuilder::new(&mut f);
    let (mask, x) = (b.param(B1.by(8)), b.param(I32.by(8)));
    b.set_exec_mask(mask);
    let v = b.var(x);
    let zero = b.ins().iconst(I32.by(8), 0);
    let negative = b.ins().icmp(IntCC::SignedLessThan, x, zero);
    b.simd_if(negative, |b| {
        let y = b.ins().ineg(x);
        b.assign(v, y);
    });
    let y = b.use_var(v);
    b.ins().return_(&[y]);
    b.finish().unwrap();
    let text = verified(f);
    assert!(text.contains("goto v0"), "{text}");
}

fn mistakes(build: impl FnOnce(&mut FunctionBuilder<'_>)) -> String {
    let mut f = Function::kernel("k", 8);
    let mut b = FunctionBuilder::new(&mut f);
    build(&mut b);
    b.finish().unwrap_err().to_string()
}

#[test]
fn mistakes_are_told() {
    let e = mistakes(|_| {});
    assert_eq!(e, "in %k: block0 has no terminator");
    let e = mistakes(|b| {
        b.ins().return_(&[]);
        b.ins().barrier();
    });
    assert!(e.contains("`barrier` after the end of block0"), "{e}");
    let e = mistakes(|b| {
        let v = b.declare_var(I32);
        let x = b.ins().fconst(F32, 1.0);
        b.def_var(v, x);
        b.ins().return_(&[]);
    });
    assert!(
        e.contains("var0 is i32, but was assigned v0 of type f32"),
        "{e}"
    );
    let e = mistakes(|b| {
        let all = b.exec_mask();
        b.simd_break_if(all);
        b.ins().return_(&[]);
    });
    assert!(e.contains("break outside of a loop"), "{e}");
    let e = mistakes(|b| {
        let x = b.ins().iconst(I32.by(8), 1);
        b.lane(x, 8);
        b.slice(x, 4, 8);
        b.splat(x, 16);
        b.ins().vconst(Scalar::I32, &[]);
        b.ins().return_(&[]);
    });
    assert!(
        e.contains("lane 8 of v0, which has 8") && e.contains("lanes 4..12"),
        "{e}"
    );
    assert!(
        e.contains("splat of v0") && e.contains("`vconst` of 0 lanes"),
        "{e}"
    );
    let e = mistakes(|b| {
        let to = b.create_block();
        b.seal_block(to);
        b.ins().jump(to, &[]);
        b.switch_to_block(to);
        b.ins().return_(&[]);
    });
    assert!(e.contains("a branch to block1 after it was sealed"), "{e}");
}

#[test]
fn every_hand_written_method_verifies() {
    let mut module = Module::default();
    let mut f = Function::kernel("k", 8);
    let mut b = FunctionBuilder::new(&mut f);
    let (p, _) = (b.ptr_param(), b.slm_param());
    let x = b.ins().bload(F32.by(32), p, 0);
    let i = b.ins().iconst(I16, 4);
    let part = b.ins().rdregion(F32.by(8), x, Region::new(8, 4, 2, 8));
    let other = b
        .ins()
        .rdregion_at(F32.by(8), x, Region::contiguous(8, 0), i);
    let mask = b.ins().fcmp(FloatCC::LessThan, part, other);
    let y = b
        .ins()
        .wrregion_at(x, Region::contiguous(8, 0), i, part, mask);
    let one = b.ins().fcvt_from_sint(F32, i);
    let y = b.ins().wrregion(y, Region::scalar(4), one);
    let low = b.ins().rdpred(4, mask, 2);
    let mask = b.ins().wrpred(mask, low, 4);
    let idx = b.iota(Scalar::I32, 8);
    let addr = b.element_addr(p, idx, 12);
    let v = b.ins().load_masked(F32.by(8), addr, 4, mask, part);
    b.ins().store_masked(v, addr, -4, mask);
    b.ins().bstore(y, p, 128);
    let flag = b.lane(mask, 3);
    let all = b.splat(flag, 8);
    let picked = b.ins().select(all, v, part);
    let r = b.ins().call(FuncRef::from_u32(1), &[F32.by(8)], &[picked]);
    b.ins().store(r[0], addr, 0);
    let (s, c) = b.ins().iaddc(idx, idx);
    b.ins().isub(s, c);
    b.ins().return_(&[]);
    b.finish().unwrap();
    let mut g = Function::subroutine("g", &[F32.by(8)]);
    let mut b = FunctionBuilder::new(&mut g);
    let x = b.param(F32.by(8));
    let y = b.ins().fsat(x);
    b.ins().return_(&[y]);
    b.finish().unwrap();
    module.functions.push(f);
    module.functions.push(g);
    verify_module(&module).unwrap();
}
