//! Tests of the text format: printed modules parse back to equal modules.

use gantry_codegen::text::parse;

fn round_trip(text: &str) {
    let m = match parse(text) {
        Ok(p) => p.module,
        Err(e) => panic!("{}", e.render("test.gir", text)),
    };
    assert_eq!(m.to_string(), text);
    assert_eq!(parse(&m.to_string()).unwrap().module, m);
}

#[test]
fn every_format_reads_back() {
    round_trip(
        "\
const %line = \"a;b \\\"c\\\" %d <1;1,0> \\\\ \\xff\\t\\n\"

kernel %k(i64 ptr, i32, i32 slm) simd16 slm 1024 group 16,1,1 {
block0(v9: i64, v1: i32, v2: i32):
    v3 = iconst.i32x16 -5
    v4 = fconst.f32 0.1
    v5 = fconst.f32 0x7fc00000
    v6 = vconst.i16x4 [0, 1, -2, 3]
    v7 = group_id.i32 x
    v8 = rdregion.i32x7 v3, <4;2,1>, 8
    v10 = wrregion v3, <8;8,1>, 0+v12, v8, mask v11
    v13 = icmp ult v3, v3
    v14 = rdpred.b1x8 v13, 8
    v15 = wrpred v13, v14, 0
    v16, v17, v18 = goto v13, v15, v13
    v19, v20 = iaddc v1, v2
    v21 = load.f32x16 v9-4, mask v13, v3
    store v3, v9+16
    printf %line(v3), mask v13
    printf %line(v1)
    brif v18, block1(v3), block2
block1(v22: i32x16):
    v23 = call %f(v4)
    jump block2
block2:
    switch v1, block3 [-2147483648: block1(v3), 0: block3, 7: block3]
block3:
    return
}

function %f(f32) -> f32 {
block0(v0: f32):
    return v0
}
"
        .replace("0+v12", "0")
        .replace(", mask v11", "")
        .as_str(),
    );
}

fn first_error(text: &str) -> (u32, u32, String) {
    let e = parse(text).unwrap_err().0.remove(0);
    (e.span.line, e.span.col, e.message)
}

#[test]
fn errors_say_where() {
    let body = |line: &str| {
        format!("kernel %k(i32) simd8 {{\nblock0(v0: i32):\n    {line}\n    return\n}}\n")
    };
    let cases = [
        ("v1 = fooo v0", 10, "unknown opcode `fooo`"),
        ("v1 = iadd v0, v7", 19, "`v7` is not defined"),
        ("v0 = iadd v0, v0", 5, "`v0` is defined a second time"),
        ("v1 = iconst.i33 0", 17, "`i33` is not a type"),
        ("v1 = iconst.i8 300", 20, "`300` does not fit in 8 bits"),
        ("v1 = icmp lt v0, v0", 15, "`lt` is not a condition"),
        ("v1 = iadd v0 v0", 18, "expected `,`, found `v0`"),
        (
            "v1 = ineg v0, v0",
            17,
            "expected the end of the line, found `,`",
        ),
        (
            "jump",
            9,
            "expected a block such as `block1`, found the end of the line",
        ),
    ];
    for (line, col, message) in cases {
        let (l, c, m) = first_error(&body(line));
        assert_eq!((l, c), (3, col), "{line}: {m}");
        assert!(m.starts_with(message), "{line}: {m}");
    }
}

#[test]
fn reports_wrong_strings() {
    let wrong = [
        (r#"const %s = "a\q""#, "an escape is one of"),
        (r#"const %s = "a\x4""#, "an escape is one of"),
        (r#"const %s = "a\xg0""#, "`\\x` takes two hex digits"),
        (r#"const %s = "a"#, "expected a type, found `\"`"),
        (r#"const %s align 4 = "a""#, "a string has no alignment"),
        (r#"const %s = "a" ; comment "#, ""),
        (r#"const %s = "a" "b""#, "expected the end of the line"),
    ];
    for (text, message) in wrong {
        match parse(text) {
            Ok(p) => assert_eq!((message, p.module.data.len()), ("", 1), "{text}"),
            Err(e) => assert!(
                !message.is_empty() && e.to_string().contains(message),
                "{text}: {e}"
            ),
        }
    }
}

#[test]
fn reports_every_wrong_line() {
    let text = "kernel %k() simd8 {\nblock0:\n    foo\n    bar\n    return\n}\n";
    assert_eq!(parse(text).unwrap_err().0.len(), 2);
}

#[test]
fn definitions_may_stand_below_their_uses() {
    round_trip(
        "\
kernel %k(i64 ptr) simd8 {
block0(v0: i64):
    jump block2
block1:
    v5 = iadd v4, v3
    bstore v5, v0
    return
block2:
    v4 = iadd v3, v3
    v3 = bload.i32x8 v0
    jump block1
}
",
    );
}

#[test]
fn one_fault_is_one_error() {
    let text = "kernel %k(i32) simd8 {\nblock0(v0: i32):\n    v1 = fooo v0\n    v2 = iadd v1, v0\n    v3 = iadd v2, v9\n    return\n}\n";
    let errors = parse(text).unwrap_err().0;
    let lines: Vec<_> = errors
        .iter()
        .map(|e| (e.span.line, e.message.as_str()))
        .collect();
    assert_eq!(
        lines,
        [(3, "unknown opcode `fooo`"), (5, "`v9` is not defined")]
    );
    let text = "kernel %k() simd8 {\nblock0:\n    v1 = ineg v2\n    v2 = ineg v1\n    return\n}\n";
    let errors = parse(text).unwrap_err().0;
    assert!(
        errors[0].message.contains("depends on itself"),
        "{}",
        errors[0]
    );
}

/// Numbers too large for an index, and numbers that would take all memory.
#[test]
fn numbers_are_bounded() {
    for n in ["4294967295", "4294967294", "1048576"] {
        for (line, col) in [
            (format!("    v{n} = iconst.i32 0"), 5),
            (format!("    jump block{n}"), 10),
            (format!("    v1 = ineg v{n}"), 15),
            (format!("block{n}:"), 1),
        ] {
            let text = format!("kernel %k() simd8 {{\nblock0:\n{line}\n    return\n}}\n");
            let (at, found, message) = first_error(&text);
            assert_eq!((at, found), (3, col), "{line}: {message}");
            assert!(message.contains("the number is too large: 1048576 is the limit"));
        }
    }
    let (line, _, message) =
        first_error("kernel %k() simd8 {\nblock0:\n    v0 = ineg v99999999999\n}\n");
    assert_eq!(line, 3, "{message}");
    let f = "function %f() {\nblock0:\n    v1000000 = iconst.i32 0\n    return\n}\n";
    let many: String = (0..40)
        .map(|n| f.replace("%f", &format!("%f{n}")))
        .collect();
    let (line, col, message) = first_error(&many);
    assert_eq!((line, col), (8, 5));
    assert!(
        message.contains("too many: all functions of this text may have"),
        "{message}"
    );
}
