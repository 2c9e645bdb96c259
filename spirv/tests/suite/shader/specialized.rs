//! Specialization constants: instructions of them, and the values that the user gives.

use super::{Shader, WORDS, WORDS_DECORATIONS, assemble, check};
use gantry_spirv::{Options, SpecValue, translate};

/// A group's size by a constant, an array as long as that, and instructions of composites and
/// floats.
fn shader() -> Shader {
    Shader {
        more: "OpCapability Float16",
        decorations: format!(
            "{WORDS_DECORATIONS}
OpDecorate %size BuiltIn WorkgroupSize
OpDecorate %sx SpecId 0
OpDecorate %scale SpecId 7
OpDecorate %flag SpecId 9
OpName %scale \"scale\"
OpName %flag \"flag\"
"
        ),
        types: format!(
            "{WORDS}
%half = OpTypeFloat 16
%h2 = OpTypeVector %half 2
%u2 = OpTypeVector %uint 2
%b2 = OpTypeVector %bool 2
%mat = OpTypeMatrix %v2 2
%pair = OpTypeStruct %v2 %uint
%264 = OpConstant %uint 264
%zero2 = OpConstantNull %u2
%sx = OpSpecConstant %uint 8
%flag = OpSpecConstantFalse %bool
%size = OpSpecConstantComposite %u3 %sx %1 %1
%n = OpSpecConstantOp %uint CompositeExtract %size 0
%last = OpSpecConstantOp %uint ISub %n %1
%locals = OpTypeArray %uint %n
%p_locals = OpTypePointer Workgroup %locals
%p_local = OpTypePointer Workgroup %uint
%s = OpVariable %p_locals Workgroup
%scale = OpSpecConstant %float 1.5
%f3 = OpConstant %float 3.0
%product = OpSpecConstantOp %float FMul %scale %f3
%h = OpSpecConstantOp %half FConvert %product
%hs = OpSpecConstantComposite %h2 %h %h
%bits = OpSpecConstantOp %uint Bitcast %hs
%swapped = OpSpecConstantOp %u3 VectorShuffle %size %size 1 0 5
%x1 = OpSpecConstantOp %uint CompositeExtract %swapped 1
%more = OpSpecConstantOp %u3 CompositeInsert %7 %swapped 2
%sum = OpSpecConstantOp %u3 IAdd %more %size
%y = OpSpecConstantOp %uint CompositeExtract %sum 2
%pick = OpSpecConstantOp %u3 Select %flag %size %sum
%z = OpSpecConstantOp %uint CompositeExtract %pick 1
%fs = OpSpecConstantComposite %v2 %scale %product
%in = OpSpecConstantComposite %pair %fs %sx
%inner = OpSpecConstantOp %float CompositeExtract %in 0 1
%int = OpSpecConstantOp %uint ConvertFToU %inner
%less = OpSpecConstantOp %bool FOrdLessThan %scale %f3
%as_number = OpSpecConstantOp %uint Select %less %4 %0
"
        ),
        body: "
%l = OpUMod %uint %i %n
%put = OpAccessChain %p_local %s %l
OpStore %put %i
OpControlBarrier %2 %2 %264
%k = OpISub %uint %last %l
%get = OpAccessChain %p_local %s %k
%v = OpLoad %uint %get
%a = OpIMul %uint %v %x1
%b = OpIAdd %uint %a %y
%c = OpIMul %uint %b %int
%d = OpBitwiseXor %uint %c %bits
%e = OpIAdd %uint %d %z
%f = OpIAdd %uint %e %as_number
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %f
",
        ..Shader::default()
    }
}

fn want(i: u32, n: u32, scale: f32, flag: bool) -> u32 {
    let v = i / n * n + (n - 1 - i % n);
    let product = scale * 3.0;
    let h = u32::from(half::f16::from_f32(product).to_bits());
    // The sum is (1, n, 7) and (n, 1, 1).
    let z = if flag { 1 } else { n + 1 };
    let c = v
        .wrapping_mul(n)
        .wrapping_add(8)
        .wrapping_mul(product as u32);
    let less = if scale < 3.0 { 4 } else { 0 };
    (c ^ (h << 16 | h)).wrapping_add(z + less)
}

#[test]
fn instructions_of_constants() {
    let mut shader = shader();
    for (n, scale, flag) in [(8, 1.5, false), (16, -2.5, true), (4, 6.0, true)] {
        let named: [(&str, SpecValue); 3] = [
            ("0", SpecValue::from(n)),
            ("scale", SpecValue::from(scale)),
            ("flag", SpecValue::from(flag)),
        ];
        // By numbers, by names, and those that they have of themselves.
        shader.constants = match n {
            8 => Default::default(),
            _ => named.map(|(n, v)| (n.to_owned(), v)).into(),
        };
        let size = shader.translate(8).unwrap().kernels[0].group_size;
        assert_eq!(size, Some([n, 1, 1]));
        if scale > 0.0 {
            let got = shader.run(&[(1, 0, vec![0; 32])], |_| Vec::new());
            check(&got[0], |i| want(i as u32, n, scale, flag));
        }
    }
}

#[test]
fn what_no_constant_holds_is_refused() {
    let words = shader().words();
    let say = |name: &str, value: SpecValue| {
        let options = Options {
            constants: [(name.to_owned(), value)].into(),
            ..Options::default()
        };
        translate(&words, &options)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let unknown = say("block", 3.into());
    assert_eq!(
        unknown,
        "no specialization constant `block`; there are 0, 7, 9, flag, scale"
    );
    assert!(say("5", 3.into()).contains("no specialization constant `5`"));
    let large = say("0", SpecValue::Int(1 << 32));
    assert!(
        large.contains("4294967296 is no value of an integer of 32 bits"),
        "{large}"
    );
    assert!(say("scale", 1e300.into()).contains("a float of 32 bits"));
    assert!(say("flag", 2.into()).contains("2 is no value of a bool"));
    assert!(say("0", 2.5.into()).contains("2.5 is no value of an integer"));
    let by_id = Options {
        spec_constants: [(3, 1)].into(),
        ..Options::default()
    };
    let e = translate(&words, &by_id).unwrap_err().to_string();
    assert!(e.contains("no specialization constant `3`"), "{e}");
    let none = "
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
%void = OpTypeVoid
%fn = OpTypeFunction %void
%main = OpFunction %void None %fn
%entry = OpLabel
OpReturn
OpFunctionEnd
";
    let e = translate(&assemble(none), &by_id).unwrap_err().to_string();
    assert_eq!(e, "no specialization constant `3`: there are none");
}
