//! Constant arrays that an index goes into.

use super::{Shader, WORDS, WORDS_DECORATIONS, check};
use std::fmt::Write;

/// Entries of the table.
const COUNT: u32 = 700;

fn entry(n: u32) -> u32 {
    n.wrapping_mul(2_654_435_761)
}

/// Constants of the table, as pairs: `%table`.
fn pairs() -> String {
    let mut out = format!(
        "%u2 = OpTypeVector %uint 2
%count = OpConstant %uint {COUNT}
%five = OpConstant %uint 5
%pairs = OpTypeArray %u2 %count
%f_pairs = OpTypePointer Function %pairs
%f_u2 = OpTypePointer Function %u2
%f_uint = OpTypePointer Function %uint
%p_pairs = OpTypePointer Private %pairs
%p_part = OpTypePointer Private %uint
"
    );
    let mut table = "%table = OpConstantComposite %pairs".to_owned();
    for n in 0..COUNT {
        let _ = writeln!(out, "%e{n} = OpConstant %uint {}", entry(n));
        let _ = writeln!(out, "%c{n} = OpConstantComposite %u2 %e{n} %count");
        let _ = write!(table, " %c{n}");
    }
    out + &table + "\n"
}

fn shader(more: &str, variables: &'static str, body: &'static str) -> Shader {
    Shader {
        decorations: WORDS_DECORATIONS.into(),
        types: format!("{WORDS}{}{more}", pairs()),
        variables,
        body,
        ..Shader::default()
    }
}

const BODY: &str = "
%a = OpIMul %uint %i %five
%k = OpIAdd %uint %a %7
%p = OpAccessChain %f_u2 %t %k
%pair = OpLoad %u2 %p
%x = OpCompositeExtract %uint %pair 0
%py = OpAccessChain %f_uint %p %1
%y = OpLoad %uint %py
%pz = OpAccessChain %f_uint %t %3 %0
%z = OpLoad %uint %pz
%xy = OpIAdd %uint %x %y
%xyz = OpBitwiseXor %uint %xy %z
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %xyz
";

fn want(i: usize, outside: bool) -> u32 {
    let k = i as u32 * 5 + 7;
    let (x, y) = if outside { (0, 0) } else { (entry(k), COUNT) };
    x.wrapping_add(y) ^ entry(3)
}

#[test]
fn tables_are_constant_data() {
    // With an initializer; stored where it is used, as glslang has it.
    for variables in [
        "%t = OpVariable %f_pairs Function %table",
        "%t = OpVariable %f_pairs Function\nOpStore %t %table",
    ] {
        let shader = shader("", variables, BODY);
        let t = shader.translate(8).unwrap();
        let sizes: Vec<usize> = t.module.data.values().map(|d| d.bytes.len()).collect();
        assert_eq!(sizes, [COUNT as usize * 8]);
        let got = shader.run(&[(1, 0, vec![0; 32])], |_| Vec::new());
        check(&got[0], |i| want(i, false));
    }
}

/// An index outside reads zeros where accesses are robust.
#[test]
fn outside_of_a_table() {
    let mut shader = shader("", "%t = OpVariable %f_pairs Function %table", BODY);
    shader.types = shader.types.replace("%uint 5\n", "%uint 100\n");
    shader.robust = true;
    let got = shader.run(&[(1, 0, vec![0; 32])], |_| Vec::new());
    check(&got[0], |i| {
        let k = i as u32 * 100 + 7;
        if k < COUNT {
            entry(k).wrapping_add(COUNT) ^ entry(3)
        } else {
            want(i, true)
        }
    });
}

/// A table of all functions, and one that is written, which is none.
#[test]
fn tables_of_the_module() {
    let global = "%t = OpVariable %p_pairs Private %table\n";
    let body = "
%p = OpAccessChain %p_part %t %i %0
%x = OpLoad %uint %p
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %x
";
    let got = shader(global, "", body).run(&[(1, 0, vec![0; 32])], |_| Vec::new());
    check(&got[0], |i| entry(i as u32));
    let written = shader(
        global,
        "",
        body.replace("%x = ", "OpStore %p %i\n%x = ").leak(),
    );
    let e = written.translate(8).unwrap_err();
    let bytes = COUNT * 8;
    let what = format!("a private variable with {bytes} bytes of constants: 4096 are the most");
    assert!(e.contains(&what), "{e}");
}

/// A part of a large constant that other constants name is not the whole.
#[test]
fn parts_of_a_large_constant() {
    let body = "
%x = OpCompositeExtract %uint %table 600 0
%r = OpIAdd %uint %x %i
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %r
";
    let got = shader("", "", body).run(&[(1, 0, vec![0; 32])], |_| Vec::new());
    check(&got[0], |i| entry(600).wrapping_add(i as u32));
}

/// A value of too many scalars is told with their number, of a constant too.
#[test]
fn too_many_scalars() {
    let body = "
%k = OpUMod %uint %i %7
%is = OpIEqual %bool %k %0
%whole = OpSelect %pairs %is %table %table
";
    let phi = "
OpBranch %next
%next = OpLabel
%whole = OpPhi %pairs %table %entry
";
    let what = format!("a value of {} scalars: 256", COUNT * 2);
    let e = shader("", "", phi).translate(8).unwrap_err();
    assert!(e.contains(&what), "{e}");
    let e = shader("", "", body).translate(8).unwrap_err();
    assert!(
        e.contains(&format!("a value of {} scalars: 256", COUNT * 2)),
        "{e}"
    );
}
