//! Expressions that `FPFastMathMode` simplifies, and those that it leaves as they are.

use super::{Shader, WORDS, WORDS_DECORATIONS};
use gantry_codegen::ir::Opcode::{self, *};

/// Expression `%r` of `%x` and `%y`, its value, and the float operations that remain of it with the
/// mode.
struct Rule {
    body: &'static str,
    /// Mode of `%r`, or of `%q` if there is one.
    mode: u32,
    value: fn(f32, f32) -> f32,
    left: &'static [Opcode],
}

const NOT_NAN: u32 = 1;
const NOT_INF: u32 = 2;
const NSZ: u32 = 4;
const RECIP: u32 = 8;
const FAST: u32 = 16;

/// The names of the bits of a mode.
fn names(mode: u32) -> String {
    let all = ["NotNaN", "NotInf", "NSZ", "AllowRecip", "Fast"];
    let set = (0..).zip(all).filter(|(bit, _)| mode >> bit & 1 != 0);
    let set: Vec<&str> = set.map(|(_, name)| name).collect();
    if set.is_empty() {
        "None".to_owned()
    } else {
        set.join("|")
    }
}

const fn rule(
    body: &'static str,
    mode: u32,
    value: fn(f32, f32) -> f32,
    left: &'static [Opcode],
) -> Rule {
    Rule {
        body,
        mode,
        value,
        left,
    }
}

const QUOTIENT: &str = "%r = OpFDiv %float %x %y";
const BY_CONSTANT: &str = "%r = OpFDiv %float %x %c255";
const AND_ZERO: &str = "%r = OpFAdd %float %x %zero";
const TIMES_ZERO: &str = "%r = OpFMul %float %zero %x";
const ITSELF: &str = "%r = OpFSub %float %x %x";
const NAN: &str = "
%q = OpFMul %float %x %y
%t = OpIsNan %bool %q
%r = OpSelect %float %t %x %q";
const UNORDERED: &str = "
%q = OpFUnordLessThan %bool %x %y
%r = OpSelect %float %q %x %y";

const RULES: [Rule; 27] = [
    rule(QUOTIENT, 0, |x, y| x / y, &[Fdiv]),
    rule(QUOTIENT, NOT_NAN | NOT_INF | NSZ, |x, y| x / y, &[Fdiv]),
    rule(QUOTIENT, RECIP, |x, y| x / y, &[Finv, Fmul]),
    rule(QUOTIENT, FAST, |x, y| x / y, &[Finv, Fmul]),
    rule("%r = OpFDiv %float %one %y", RECIP, |_, y| 1.0 / y, &[Finv]),
    rule(BY_CONSTANT, NSZ, |x, _| x / 255.0, &[Fdiv]),
    rule(BY_CONSTANT, RECIP, |x, _| x / 255.0, &[Fmul]),
    // Its reciprocal is no normal number.
    rule(
        "%r = OpFDiv %float %x %huge",
        RECIP,
        |x, _| x / 3e38,
        &[Finv, Fmul],
    ),
    rule("%r = OpFDiv %float %x %one", NSZ, |x, _| x, &[]),
    rule("%r = OpFDiv %float %x %x", NOT_NAN, |_, _| 1.0, &[]),
    rule(
        "%r = OpFDiv %float %zero %x",
        NOT_NAN | NSZ,
        |_, _| 0.0,
        &[],
    ),
    rule("%r = OpFDiv %float %zero %x", NOT_NAN, |_, _| 0.0, &[Fdiv]),
    rule(AND_ZERO, NSZ, |x, _| x, &[]),
    rule(AND_ZERO, NOT_NAN | NOT_INF | RECIP, |x, _| x, &[Fadd]),
    rule("%r = OpFSub %float %x %zero", NSZ, |x, _| x, &[]),
    rule("%r = OpFSub %float %zero %x", NSZ, |x, _| -x, &[Fneg]),
    rule(ITSELF, NOT_NAN, |_, _| 0.0, &[]),
    rule(ITSELF, NSZ | NOT_INF, |_, _| 0.0, &[Fsub]),
    rule(TIMES_ZERO, NOT_NAN | NSZ, |_, _| 0.0, &[]),
    rule(TIMES_ZERO, NOT_NAN, |x, _| 0.0 * x, &[Fmul]),
    rule(TIMES_ZERO, NSZ | NOT_INF, |x, _| 0.0 * x, &[Fmul]),
    rule("%r = OpFMul %float %one %x", NSZ, |x, _| x, &[]),
    rule(NAN, NOT_NAN, |x, y| x * y, &[Fmul]),
    rule(NAN, NOT_INF | NSZ, |x, y| x * y, &[Fmul, Fcmp]),
    rule(UNORDERED, FAST, |x, y| x.min(y), &[Fcmp]),
    rule(UNORDERED, NSZ, |x, y| x.min(y), &[Fcmp]),
    rule(
        "%q = OpFMul %float %x %y\n%t = OpIsFinite %bool %q\n%r = OpSelect %float %t %q %x",
        FAST,
        |x, y| x * y,
        &[Fmul],
    ),
];

fn shader(rule: &Rule) -> Shader {
    let of = if rule.body.contains("%q") { "%q" } else { "%r" };
    let body = format!(
        "
%px = OpAccessChain %p_uint %b0 %0 %i
%wx = OpLoad %uint %px
%x = OpBitcast %float %wx
%j = OpBitwiseXor %uint %i %1
%py = OpAccessChain %p_uint %b0 %0 %j
%wy = OpLoad %uint %py
%y = OpBitcast %float %wy
{}
%wr = OpBitcast %uint %r
%pr = OpAccessChain %p_uint %b1 %0 %i
OpStore %pr %wr
",
        rule.body
    );
    Shader {
        decorations: format!(
            "{WORDS_DECORATIONS}OpDecorate {of} FPFastMathMode {}\n",
            names(rule.mode)
        ),
        types: format!(
            "{WORDS}
%zero = OpConstant %float 0.0
%one = OpConstant %float 1.0
%c255 = OpConstant %float 255.0
%huge = OpConstant %float 300000000000000000000000000000000000000.0
"
        ),
        body: body.leak(),
        near: true,
        ..Shader::default()
    }
}

#[test]
fn fast_math_modes() {
    let numbers: Vec<f32> = (0..32).map(|i| (i as f32 - 15.5) * 37.25).collect();
    let bits: Vec<u32> = numbers.iter().map(|x| x.to_bits()).collect();
    for rule in &RULES {
        let (body, mode) = (rule.body, rule.mode);
        let shader = shader(rule);
        let module = shader.translate(16).unwrap().module;
        let func = module.functions.values().next().unwrap();
        let blocks = func.layout.blocks().iter();
        let insts = blocks.flat_map(|&b| func.layout.insts(b));
        let ops = insts.map(|&i| func.dfg.data(i).opcode());
        let floats = [Fdiv, Finv, Fmul, Fadd, Fsub, Fneg, Fcmp];
        let left: Vec<Opcode> = ops.filter(|o| floats.contains(o)).collect();
        assert_eq!(left, rule.left, "{body}, mode {mode}: {module}");
        let buffers = [(0, 0, bits.clone()), (1, 0, vec![0; 32])];
        let got = shader.run(&buffers, |_| Vec::new());
        for (i, got) in got[1].iter().enumerate() {
            let (got, want) = (
                f32::from_bits(*got),
                (rule.value)(numbers[i], numbers[i ^ 1]),
            );
            let near = (got - want).abs() <= want.abs() * 4e-7;
            assert!(near, "{body}, mode {mode}, {i}: {got}, not {want}");
        }
    }
}

/// The unordered compare is one without a negation where nothing is a NaN.
#[test]
fn compares_without_nans() {
    let negations = |mode: u32| {
        let rule = rule(UNORDERED, mode, |x, _| x, &[]);
        let module = shader(&rule).translate(16).unwrap().module;
        module.to_string().matches("bnot").count()
    };
    assert_eq!([negations(NOT_NAN), negations(NSZ)], [0, 1]);
}
