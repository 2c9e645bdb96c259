//! Tests of the builder: conversion of variables to SSA, and error reports. The results of its SIMD
//! control flow are tested in `interp.rs`.

use gantry_codegen::builder::{FunctionBuilder, Variable};
use gantry_codegen::ir::{
    Block, Block2dShape, BlockLayout, CachePolicy, Data, DpasShape, Factor, FloatCC, FuncRef,
    Function, ImageAccess, ImageFact, ImagePlace, ImageShape, IntCC, MemFlags, Module, Region,
    SamplerFact, Scalar, Space, Value, scalars::*,
};
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
fn reports_unassigned_variables() {
    let e = mistakes(|b| {
        let v = b.declare_var(F32.by(8));
        let next = b.create_block();
        b.ins().jump(next, &[]);
        b.switch_to_block(next);
        let x = b.use_var(v);
        b.ins().fneg(x);
        b.ins().return_(&[]);
    });
    assert_eq!(e, "in %k: var0 is read in block1, and nothing assigned it");
    // Around a loop that does not assign it either.
    let e = mistakes(|b| {
        let v = b.declare_var(I32);
        let c = b.ins().bconst(1, 1);
        b.uniform_loop(|b| {
            b.use_var(v);
            b.uniform_break_if(c);
        });
        b.use_var(v);
        b.ins().return_(&[]);
    });
    assert_eq!(e.matches("var0 is read in").count(), 1, "{e}");
}

/// Variables may be unassigned on some paths, and in disabled channels.
#[test]
fn some_paths_may_leave_a_variable_alone() {
    let mut f = Function::kernel("k", 8);
    let mut b = FunctionBuilder::new(&mut f);
    let (v, w) = (b.declare_var(I32), b.declare_var(I32.by(8)));
    let c = b.ins().bconst(1, 1);
    b.uniform_if(c, |b| {
        let one = b.ins().iconst(I32, 1);
        b.def_var(v, one);
    });
    let c = b.ins().bconst(8, 3);
    b.simd_if(c, |b| {
        let one = b.ins().iconst(I32.by(8), 1);
        b.def_var(w, one);
    });
    let (x, y) = (b.use_var(v), b.use_var(w));
    b.ins().ineg(x);
    b.ins().ineg(y);
    b.ins().return_(&[]);
    b.finish().unwrap();
    let text = verified(f);
    assert!(
        text.contains("undef.i32\n") && text.contains("select"),
        "{text}"
    );
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
fn reports_errors() {
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
    assert!(e.contains("break outside of a loop of channels"), "{e}");
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

/// Values and blocks of another function are reported, whatever their number is.
#[test]
fn reports_foreign_entities() {
    let mut other = Function::kernel("other", 8);
    let mut b = FunctionBuilder::new(&mut other);
    let many: Vec<_> = (0..50).map(|n| b.ins().iconst(I32, n)).collect();
    let blocks: Vec<_> = (0..50).map(|_| b.create_block()).collect();
    let vars: Vec<_> = (0..50).map(|_| b.declare_var(I32)).collect();
    let top = |n: u32| {
        (
            Value::from_u32(n),
            Block::from_u32(n),
            Variable::from_u32(n),
        )
    };
    for (v, block, var) in [(many[49], blocks[49], vars[49]), top(u32::MAX - 1)] {
        let e = mistakes(|b| {
            let own = b.declare_var(I32);
            let one = b.ins().bconst(1, 1);
            let here = b.current_block();
            b.ty(v);
            b.ins().iadd(v, v);
            b.ins().call(FuncRef::from_u32(9), &[I32], &[v]);
            b.ins().icmp(IntCC::Equal, v, v);
            b.ins().goto(v, v, v);
            b.ins().store_masked(v, v, 0, v);
            b.splat(v, 8);
            b.lane(v, 0);
            b.slice(v, 0, 1);
            b.element_addr(v, v, 4);
            b.simd_load(I32, v, 0);
            b.simd_store(v, v, 0);
            b.var(v);
            b.def_var(own, v);
            b.def_var(var, v);
            b.assign(var, one);
            b.use_var(var);
            b.append_block_param(block, I32);
            b.seal_block(block);
            b.switch_to_block(block);
            assert_eq!(b.current_block(), here);
            b.simd_if_else(v, |b| b.simd_break_if(v), |_| ());
            b.simd_loop(|b| b.simd_continue_if(v));
            b.simd_return_if(v, &[v]);
            b.uniform_if_else(v, |_| (), |b| b.uniform_break_if(v));
            b.uniform_for(v, v, |_, _| ());
            b.set_exec_mask(v);
            let next = b.create_block();
            b.ins().brif(v, block, &[v], next, &[v]);
            b.switch_to_block(next);
            b.ins().jump(block, &[v]);
            b.ins().return_(&[v]);
        });
        let told = [
            format!("`iadd` of {v}, which is not a value of this function"),
            format!("`brif` to {block}, which is not a block of this function"),
            format!("{block} is not a block of this function"),
            format!("{var} is not a variable of this function"),
            format!("var0 was assigned {v}, which is not a value of this function"),
        ];
        for t in told {
            assert!(e.contains(&t), "{t}: {e}");
        }
    }
    b.ins().return_(&[]);
    b.finish().unwrap();
}

#[test]
fn reports_operands_that_do_not_fit() {
    let told = [
        "300 does not fit in i8",
        "-129 does not fit in i8",
        "0x1ff does not fit in b1x8",
        "a predicate of 65 lanes: it has 1 to 64",
        "lane numbers of 4294967295 lanes of i8",
        "`vconst` of 4097 lanes of i8",
        "0x10000 does not fit in i16",
        "40000000000 does not fit in i32",
        "splat of v1 to 5000 lanes of i8",
        "v2 of type f32 is no index of an element",
    ];
    let e = mistakes(|b| {
        b.ins().iconst(I8, 300);
        b.ins().iconst(I8, -129);
        b.ins().bconst(8, 0x1ff);
        b.ins().bconst(65, 0);
        b.iota(Scalar::I8, u32::MAX);
        b.ins().vconst(Scalar::I8, &[0; 4097]);
        b.ins().vconst(Scalar::I16, &[1, 0x10000]);
        b.ins().ints(Scalar::I32, &[40_000_000_000]);
        let x = b.ins().iconst(I8, -128);
        b.ins().iconst(I8, 255);
        b.splat(x, 5000);
        let f = b.ins().fconst(F32, 1.0);
        b.element_addr(x, f, 4);
        b.ins().return_(&[]);
    });
    for t in told {
        // Value numbers do not matter here.
        let t = t
            .trim_start_matches("splat of v1 ")
            .trim_start_matches("v2 ");
        assert!(e.contains(t), "{t}: {e}");
    }
    assert_eq!(e.split("; ").count(), told.len(), "{e}");
}

#[test]
fn constructs_begin_and_end() {
    let e = mistakes(|b| {
        let c = b.ins().bconst(8, 1);
        b.simd_if_begin(c);
        b.simd_loop_end();
        b.uniform_else();
        b.ins().return_(&[]);
    });
    assert!(
        e.contains("the end of a divergent loop without its beginning: in a divergent if"),
        "{e}"
    );
    assert!(
        e.contains("the else of a uniform if without its beginning"),
        "{e}"
    );
    assert!(e.contains("a divergent if was not ended"), "{e}");
    let e = mistakes(|b| {
        let (c, bit) = (b.ins().bconst(8, 1), b.ins().bconst(1, 1));
        b.uniform_loop(|b| b.simd_if(c, |b| b.uniform_break_if(bit)));
    });
    assert!(
        e.contains("a uniform break in a divergent construct, whose other channels wait"),
        "{e}"
    );
    let e = mistakes(|b| {
        let (c, bit) = (b.ins().bconst(8, 1), b.ins().bconst(1, 1));
        b.simd_if(bit, |_| ());
        b.uniform_if(c, |_| ());
        b.ins().return_(&[]);
    });
    assert!(
        e.contains("the condition v1 is b1: the channels' is b1x8"),
        "{e}"
    );
    assert!(
        e.contains("the condition v0 is b1x8: a uniform one is b1"),
        "{e}"
    );
    let e = mistakes(|b| {
        let next = b.create_block();
        b.ins().jump(next, &[]);
    });
    assert!(
        e.contains("block1 is branched to, and was never switched to"),
        "{e}"
    );
    let mut f = Function::subroutine("f", &[I32]);
    let mut b = FunctionBuilder::new(&mut f);
    let (mask, x) = (b.param(B1.by(8)), b.param(I32));
    b.set_exec_mask(mask);
    b.simd_return_if(mask, &[x]);
    b.set_exec_mask(mask);
    b.set_group_size([8, 1, 1]);
    b.ins().return_(&[x]);
    let e = b.finish().unwrap_err().to_string();
    assert!(
        e.contains("some channels return v1 of type i32, which has no lane for each"),
        "{e}"
    );
    assert!(
        e.contains("was made the execution mask after the mask was used or set"),
        "{e}"
    );
    assert!(e.contains("a work-group size of a subroutine"), "{e}");
}

/// A mask to which all channels return is the previous mask: there is no mask parameter at the
/// merge block.
#[test]
fn divergent_ifs_leave_no_trace() {
    let mut f = Function::kernel("k", 8);
    let mut b = FunctionBuilder::new(&mut f);
    b.set_group_size([8, 2, 1]);
    b.set_slm_bytes(64);
    let p = b.ptr_param();
    let x = b.ins().bload(I32.by(8), p, 0);
    let (v, other) = (b.var(x), b.var(x));
    for n in 0..3 {
        let c = b.ins().icmp(IntCC::SignedLessThan, x, x);
        b.simd_if(c, |b| {
            let y = b.ins().iconst(I32.by(8), n);
            b.def_var(v, y);
        });
    }
    let (a, c) = (b.use_var(v), b.use_var(other));
    let sum = b.ins().iadd(a, c);
    b.ins().bstore(sum, p, 0);
    b.ins().return_(&[]);
    b.finish().unwrap();
    let text = verified(f);
    assert!(
        text.starts_with("kernel %k(i64 ptr) simd8 slm 64 group 8,2,1 {"),
        "{text}"
    );
    assert_eq!(text.matches(" = join ").count(), 3, "{text}");
    // Only `v` is a parameter, after each of the ifs.
    assert_eq!(text.matches("i32x8):").count(), 3, "{text}");
    assert!(text.matches(": b1").count() == 0, "{text}");
}

#[test]
fn every_hand_written_method_verifies() {
    let mut module = Module::default();
    let table = Data::new("table", Scalar::I32, &[1, 2]);
    let table = module.data.push(table);
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
    b.image_param(ImageShape::D2, ImageAccess::ReadWrite);
    b.image_param(ImageShape::D3, ImageAccess::Read);
    b.image_param(ImageShape::Block, ImageAccess::ReadWrite);
    b.sampler_param();
    let none = b.ins().undef(I32.by(32));
    let texels = b
        .ins()
        .image_load(I32.by(32), 0, &[idx, s], Some((mask, none)));
    b.ins().image_store(texels, 0, &[s, idx], Some(mask));
    let place = ImagePlace {
        image: 1,
        sampler: 0,
    };
    b.ins().sample(F32.by(32), place, &[v, v, v], Some(v), None);
    let width = b.ins().image_query(ImageFact::Width, 1);
    b.ins().image_query(ImageFact::FlatBase, 1);
    b.ins().sampler_query(SamplerFact::Snap, 0);
    let rows = b.ins().media_load(I8.by(24), 2, [width, width], 12);
    b.ins().media_store(rows, 2, [width, width], 8);
    let shape = DpasShape {
        columns: Factor::S8,
        rows: Factor::U2,
        repeat: 3,
    };
    let [columns, rows] = shape.operand_lanes(8);
    let acc = b.ins().iconst(I32.by(24), 7);
    let columns = b.ins().iconst(I32.by(columns), 7);
    let rows = b.ins().iconst(I32.by(rows), 7);
    b.ins().dpas(I32.by(24), shape, acc, columns, rows);
    b.ins().named_barrier(2, width);
    let block = Block2dShape {
        layout: BlockLayout::Rows,
        bytes: 2,
        rows: 2,
        columns: 4,
        blocks: 1,
        cache: CachePolicy::DEFAULT,
    };
    let surface = b.ins().iconst(I64, 0x4000);
    let surface = [surface, width, width, width];
    let rows = b.ins().block2d_load(I16.by(8), block, surface, [width; 2]);
    b.ins().block2d_prefetch(block, surface, [width; 2]);
    b.ins().block2d_store(rows, block, surface, [width; 2]);
    let packed = Block2dShape {
        layout: BlockLayout::Packed,
        ..block
    };
    b.ins().block2d_load(I32.by(4), packed, surface, [width; 2]);
    let table = b.ins().symbol_addr(table);
    b.ins().bload(I32, table, 4);
    let got = b
        .ins()
        .send_reply(I32.by(8), 8, [0xc, 0x0210_6e00], idx, None, Some(mask));
    b.ins().send(8, [0x4c, 0x0202_6e00], got, Some(idx), None);
    b.set_scratch_bytes(16 * 32);
    let own = b.private_addr(128, idx, 4);
    let scratch = MemFlags::of(Space::Scratch);
    b.ins().store_to(scratch, s, own, 0, Some(mask));
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

/// Variables assigned in destinations of a `switch` become parameters of the merge block. Some
/// cases branch there directly, twice. Unassigned variables do not become parameters.
#[test]
fn switches_pass_variables() {
    let mut f = Function::subroutine("f", &[I32, I32]);
    let mut b = FunctionBuilder::new(&mut f);
    let x = b.param(I32);
    let seven = b.ins().iconst(I32, 7);
    let (var, same) = (b.var(x), b.var(seven));
    let (a, end) = (b.create_block(), b.create_block());
    b.ins().switch(
        x,
        end,
        &[],
        &[(-1, a, &[]), (0xffff_fffe, end, &[]), (3, end, &[])],
    );
    b.switch_to_block(end);
    let (v, s) = (b.use_var(var), b.use_var(same));
    b.ins().return_(&[v, s]);
    b.seal_block(a);
    b.switch_to_block(a);
    let one = b.ins().iconst(I32, 1);
    b.def_var(var, one);
    b.ins().jump(end, &[]);
    b.finish().unwrap();
    let text = verified(f);
    let switch = "switch v0, block2(v0) [-1: block1, -2: block2(v0), 3: block2(v0)]\n";
    assert!(text.contains(switch), "{text}");
    assert!(text.contains("    return v2, v1\n"), "{text}");
}

#[test]
fn reports_switches_to_foreign_blocks() {
    let told = mistakes(|b| {
        let x = b.param(I32);
        let end = b.create_block();
        b.ins().switch(
            x,
            end,
            &[Value::from_u32(99)],
            &[(1, Block::from_u32(77), &[])],
        );
        b.switch_to_block(end);
        b.ins().return_(&[]);
    });
    assert!(
        told.contains("`switch` to block77, which is not a block"),
        "{told}"
    );
    assert!(
        told.contains("`switch` of v99, which is not a value"),
        "{told}"
    );
}
