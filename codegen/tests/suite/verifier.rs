//! Tests of each rule of the verifier, by a text that violates only that rule, and of error
//! locations.

use gantry_codegen::ir::{ArgFact, FuncRef, ImageFact, InstData, Opcode, SamplerFact};
use gantry_codegen::text::parse;
use gantry_codegen::verifier::{verify_module, verify_parsed};

const HEAD: &str = "\
kernel %k(i64 ptr, i32, f32) simd16 {
block0(v0: i64, v1: i32, v2: f32):
    v10 = iconst.i32x16 5
    v11 = fconst.f32x16 1.0
    v12 = icmp eq v10, v10
    v13 = iconst.i16 4
    v14 = iconst.i64x16 0
    v15 = bconst.b1x8 0xff
    v16 = bconst.b1 1
    v17 = fconst.f32x32 1.0
";

/// Makes a kernel with `line` as its eleventh line.
fn with(line: &str) -> String {
    format!(
        "{HEAD}    {line}\n    return\n}}\n\nfunction %f(i32) -> f32 {{\nblock0(v0: i32):\n    v1 = fconst.f32 0.0\n    return v1\n}}\n"
    )
}

#[test]
fn valid_lines_pass() {
    for line in [
        "v20 = rdregion.f32x8 v17, <16;8,1>, 32",
        "v20 = rdregion.f32x12 v17, <8;4,2>, 0+v13, parent 16",
        "v20 = wrregion v17, <16;8,2>, 4, v11, mask v12",
        "v20 = load.f32x16 v14-4, mask v12, v11",
        "v20 = bload.i8x7 v0+3",
        "v20 = call %f(v1)",
        "v20 = select v12, v12, v12",
        "v20 = bitcast.i16x32 v10",
        "v20 = local_id.i16x16 y",
        "v20, v21, v22 = goto v12, v12, v12",
    ] {
        let text = with(line);
        let parsed = parse(&text).unwrap_or_else(|e| panic!("{}", e.render("t", &text)));
        if let Err(e) = verify_parsed(&parsed) {
            panic!("{}", e.render("t", &text));
        }
        verify_module(&parsed.module).unwrap();
    }
}

#[test]
fn each_rule() {
    let cases: &[(&str, u32, &str)] = &[
        // Types.
        (
            "v20 = fadd v10, v10",
            16,
            "type clash: `fadd` takes floats, and v10 is i32x16",
        ),
        (
            "v20 = fadd v11, v17",
            21,
            "type clash: v17 is f32x32, and v11 is f32x16",
        ),
        (
            "v20 = iadd v12, v12",
            16,
            "`iadd` takes integers, and v12 is b1x16",
        ),
        ("v20 = fbl v13", 15, "`fbl` takes 32-bit integers"),
        (
            "v20 = smul_wide.i32x16 v10, v10",
            11,
            "`smul_wide` of i32x16 gives integers twice as wide, of as many lanes, not i32x16",
        ),
        (
            "v20 = smul_wide.i64x16 v14, v14",
            28,
            "there is no `smul_wide` of i64x16",
        ),
        (
            "v20 = select v1, v10, v10",
            18,
            "`select` takes a predicate",
        ),
        (
            "v20 = sextend.i16x16 v10",
            11,
            "gives wider integers of as many lanes, not i16x16",
        ),
        (
            "v20 = fdemote.f16x8 v11",
            11,
            "gives narrower floats of as many lanes",
        ),
        ("v20 = bitcast.i8x16 v10", 11, "as many bytes, not i8x16"),
        ("v20 = pred_to_bits.i16 v12", 11, "gives i32, not i16"),
        (
            "v20 = bits_to_pred.b1x8 v10",
            11,
            "gives a predicate of up to 32 lanes, from one i32",
        ),
        // Immediates.
        (
            "v20 = iconst.f32 1.0",
            11,
            "`iconst` makes integers, not f32",
        ),
        ("v20 = bconst.b1x8 0x100", 11, "0x100 does not fit in b1x8"),
        (
            "v20 = vconst.i8x4 [1, 2]",
            11,
            "2 lanes are given, and i8x4 has 4",
        ),
        ("v20 = group_id.i64 x", 11, "`group_id` is i32, not i64"),
        (
            "v20 = local_id.i16x8 x",
            11,
            "`local_id` in a SIMD16 kernel is i16x16, not i16x8",
        ),
        (
            "v20 = dispatch_mask.b1x8",
            11,
            "in a SIMD16 kernel is b1x16",
        ),
        // Regions.
        (
            "v20 = rdregion.f32x16 v17, <16;8,1>, 64",
            11,
            "region out of bounds: element 39 of f32x32",
        ),
        (
            "v20 = rdregion.f32x4 v17, <4;4,1>, 2",
            11,
            "start 2 is not a multiple of the element's 4 bytes",
        ),
        (
            "v20 = rdregion.i32x4 v17, <4;4,1>, 0",
            26,
            "f32x32: both sides of a region have the same elements",
        ),
        (
            "v20 = rdregion.f32x4 v17, <4;0,1>, 0",
            11,
            "width is at least 1",
        ),
        (
            "v20 = rdregion.f32x4 v17, <4;4,1>, 0+v1",
            42,
            "an index is i16",
        ),
        (
            "v20 = rdregion.f32x4 v17, <4;4,16>, 0+v13",
            11,
            "it spans 49 elements, and f32x32 has 32",
        ),
        (
            "v20 = wrregion v17, <0;8,1>, 0, v11",
            11,
            "writes an element twice (lane 8)",
        ),
        (
            "v20 = wrregion v17, <8;8,1>, 0, v11, mask v15",
            47,
            "bad mask width: 16 lanes take a mask of b1x16, and v15 is b1x8",
        ),
        // Predicates.
        ("v20 = select v15, v10, v10", 18, "bad mask width"),
        (
            "v20 = rdpred.b1x8 v15, 4",
            23,
            "out of bounds: lane 11 of b1x8",
        ),
        (
            "v20 = wrpred v15, v12, 0",
            18,
            "out of bounds: lane 15 of b1x8",
        ),
        (
            "v20 = rdpred.i8 v15, 0",
            11,
            "`rdpred` gives a predicate, not i8",
        ),
        // Memory.
        (
            "v20 = load.f32x16 v0",
            23,
            "the address of `load` of f32x16 is i64x16, and v0 is i64",
        ),
        (
            "v20 = bload.f32x16 v14",
            24,
            "the address of `bload` of f32x16 is i64",
        ),
        ("v20 = load.f32x16 v14, mask v15, v11", 33, "bad mask width"),
        (
            "v20 = load.f32x16 v14, mask v12, v10",
            38,
            "v10 is i32x16, and the load's type is f32x16",
        ),
        ("v20 = load.b1x16 v14", 11, "predicates are not in memory"),
        ("bstore v11, v0, mask v12", 5, "`bstore` takes no mask"),
        ("store v11, v14, mask v15", 26, "bad mask width"),
        // Control.
        ("v20 = call %f(v2)", 19, "v2 is f32, and %f takes i32 here"),
        (
            "v20 = call %f(v1, v1)",
            11,
            "%f takes 1 value, and 2 are given",
        ),
        (
            "call %k(v0, v1, v2)",
            5,
            "%k is a kernel: it cannot be called",
        ),
    ];
    for (line, col, message) in cases {
        let text = with(line);
        let parsed = parse(&text).unwrap_or_else(|e| panic!("{}", e.render("t", &text)));
        let e = verify_parsed(&parsed).expect_err(line);
        let shown = e.render("t", &text);
        let hit = e.0.iter().find(|d| d.message.contains(message));
        let hit = hit.unwrap_or_else(|| panic!("{line}: expected {message}\n{shown}"));
        assert_eq!((hit.span.line, hit.span.col), (11, *col), "{shown}");
        assert!(verify_module(&parsed.module).is_err());
    }
}

#[test]
fn whole_functions() {
    let cases: &[(&str, u32, &str)] = &[
        ("kernel %k() simd8 {\n}\n", 1, "there is no block"),
        (
            "kernel %k() simd8 {\nblock0:\n    v0 = iconst.i32 1\n}\n",
            3,
            "block0 does not end with",
        ),
        (
            "kernel %k() simd8 {\nblock0:\n    return\n    return\n}\n",
            3,
            "goes on after its terminator",
        ),
        (
            "kernel %k() simd8 {\nblock0:\n    jump block0\n}\n",
            3,
            "a branch to the entry block",
        ),
        (
            "kernel %k() simd8 {\nblock0:\n    jump block1\n}\n",
            3,
            "there is no block1",
        ),
        (
            "kernel %k(i32) simd8 {\nblock0:\n    return\n}\n",
            2,
            "the entry block's parameters () are not the function's (i32)",
        ),
        (
            "kernel %k(i32 ptr) simd8 {\nblock0(v0: i32):\n    return\n}\n",
            1,
            "`ptr` is i64, not i32",
        ),
        (
            "kernel %k(b1x8) simd8 {\nblock0(v0: b1x8):\n    return\n}\n",
            1,
            "a predicate cannot be a kernel argument",
        ),
        (
            "kernel %k() simd8 group 8,0,1 {\nblock0:\n    return\n}\n",
            1,
            "a required work-group size of 0",
        ),
        (
            "function %f() -> i32 {\nblock0:\n    return\n}\n",
            3,
            "the function returns 1 value, and 0 are given",
        ),
        (
            "function %f() {\nblock0:\n    v0 = dispatch_mask.b1x8\n    return\n}\n",
            3,
            "in a subroutine",
        ),
        (
            "function %f() {\nblock0:\n    call %f()\n    return\n}\n",
            3,
            "%f calls itself",
        ),
        (
            "kernel %k() simd8 {\nblock0:\n    v0 = bconst.b1 1\n    brif v0, block1, block2\nblock1:\n    v1 = iconst.i32 1\n    jump block2\nblock2:\n    v2 = ineg v1\n    return\n}\n",
            9,
            "v1 is not defined on every path here: it is defined in block1",
        ),
        (
            "kernel %k() simd8 {\nblock0:\n    v0 = bconst.b1x8 1\n    brif v0, block1, block1\nblock1:\n    return\n}\n",
            4,
            "`brif` takes a b1, and v0 is b1x8",
        ),
        (
            "kernel %k() simd8 {\nblock0:\n    v0 = iconst.i32 1\n    jump block1(v0)\nblock1(v1: f32):\n    return\n}\n",
            4,
            "v0 is i32, and block1 takes f32 here",
        ),
    ];
    for (text, line, message) in cases {
        let parsed = parse(text).unwrap_or_else(|e| panic!("{}", e.render("t", text)));
        let e = verify_parsed(&parsed).expect_err(message);
        let shown = e.render("t", text);
        let hit = e.0.iter().find(|d| d.message.contains(message));
        let hit = hit.unwrap_or_else(|| panic!("expected {message}\n{shown}"));
        assert_eq!(hit.span.line, *line, "{shown}");
    }
}

/// Errors name function, block and instruction where there is no text. Compilation reports those of
/// all functions of a module.
#[test]
fn reports_all_errors_of_a_module() {
    let text = "kernel %a() simd8 {\nblock0:\n    v0 = iconst.i32 1\n    jump block1\nblock1:\n    \
                v1 = fneg v0\n    return\n}\n\nfunction %b() {\nblock0:\n    call %c()\n    return\n}\n\n\
                function %c() {\nblock0:\n    call %b()\n    v0 = iconst.f32 1.0\n    return\n}\n\n\
                kernel %d() simd8 {\nblock0:\n    return\n}\n";
    let module = parse(text).unwrap().module;
    let want = [
        "in %a, block1, at `v1 = fneg v0`: type clash: `fneg` takes floats, and v0 is i32",
        "in %b, block0, at `call %c()`: %b calls itself by way of %c: there is no recursion",
        "in %c, block0, at `call %b()`: %c calls itself by way of %b: there is no recursion",
        "in %c, block0, at `v0 = iconst.f32 1.0`: type clash: `iconst` makes integers, not f32",
    ];
    let errors = verify_module(&module).unwrap_err();
    let have: Vec<&str> = errors.0.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(have, want);
    let options = gantry_codegen::CompileOptions::for_target("skl").unwrap();
    match gantry_codegen::compile(&module, &options) {
        Err(gantry_codegen::CodegenError::Verifier(e)) => assert_eq!(e, errors),
        other => panic!("{:?}", other.map(|c| c.zebin.len())),
    }
}

/// Instructions built by hand may have operands of another format.
#[test]
fn operands_have_their_opcodes_shape() {
    let text = "kernel %k(i32 image2d read, i32 sampler) simd8 {\nblock0(v0: i32, v1: i32):\n    \
                v2 = image_query.i32 width image 0\n    return\n}\n";
    let module = parse(text).unwrap().module;
    let (at, nullary) = (Opcode::ImageQuery, Opcode::Barrier);
    let wrong = [
        InstData::ArgQuery {
            opcode: at,
            fact: ArgFact::Sampler(SamplerFact::Snap),
            of: 0,
        },
        InstData::Nullary { opcode: at },
        InstData::ArgQuery {
            opcode: nullary,
            fact: ArgFact::Image(ImageFact::Width),
            of: 0,
        },
    ];
    for data in wrong {
        let opcode = data.opcode();
        let mut module = module.clone();
        let f = &mut module.functions[FuncRef::from_u32(0)];
        let first = f.layout.insts(f.layout.entry().unwrap())[0];
        *f.dfg.data_mut(first) = data;
        let e = verify_module(&module).unwrap_err().to_string();
        let want = format!("`{opcode}` does not have operands of this shape");
        assert!(e.contains(&want), "{e}");
    }
}
