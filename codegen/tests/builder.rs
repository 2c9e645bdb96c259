//! The builder's SSA construction and SIMD control flow, by the text of what is built.
#![allow(clippy::unwrap_used, reason = "test code")]

use gantry_codegen::builder::FunctionBuilder;
use gantry_codegen::ir::{FloatCC, Function, IntCC, scalars::*};

#[test]
fn loop_with_break() {
    let mut f = Function::kernel("count", 16);
    let mut b = FunctionBuilder::new(&mut f);
    let p = b.ptr_param();
    let x = b.ins().bload(F32.by(16), p, 0);
    let limit = b.ins().fconst(F32.by(16), 4.0);
    let zero = b.ins().iconst(I32.by(16), 0);
    let one = b.ins().iconst(I32.by(16), 1);
    let (count, v) = (b.var(zero), b.var(x));
    b.simd_loop(|b| {
        let x = b.use_var(v);
        let big = b.ins().fcmp(FloatCC::GreaterThan, x, limit);
        b.simd_break_if(big);
        let x2 = b.ins().fadd(x, x);
        b.assign(v, x2);
        let c = b.use_var(count);
        let c = b.ins().iadd(c, one);
        b.assign(count, c);
        let odd = b.ins().icmp(IntCC::Equal, c, one);
        b.simd_if(odd, |b| b.simd_continue_if(odd));
    });
    let c = b.use_var(count);
    b.ins().bstore(c, p, 0);
    b.ins().return_(&[]);
    b.finish().unwrap();
}
