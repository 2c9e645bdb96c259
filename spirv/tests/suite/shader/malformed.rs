//! Words that are malformed in their types, as the test of damage found them: told, or made into a
//! module that verifies.

use super::{Shader, WORDS, WORDS_DECORATIONS, assemble};
use gantry_codegen::verifier::verify_module;
use gantry_spirv::{Options, Simd, translate};

/// Returns the error for a body. Its types have vectors of four words and a multisampled image.
fn said(body: &'static str) -> String {
    let image = "
%u2 = OpTypeVector %uint 2
%u4 = OpTypeVector %uint 4
%samples = OpTypeImage %uint 2D 0 0 1 2 R32ui
%p_samples = OpTypePointer UniformConstant %samples
%image = OpVariable %p_samples UniformConstant
%texture = OpTypeImage %float 2D 0 0 1 1 Unknown
%p_texture = OpTypePointer UniformConstant %texture
%sampled = OpVariable %p_texture UniformConstant
%sampler = OpTypeSampler
%p_sampler = OpTypePointer UniformConstant %sampler
%how = OpVariable %p_sampler UniformConstant
%both = OpTypeSampledImage %texture
%f2 = OpTypeVector %float 2
%f4 = OpTypeVector %float 4
";
    let bound = "
OpDecorate %image DescriptorSet 0
OpDecorate %image Binding 2
OpDecorate %sampled DescriptorSet 0
OpDecorate %sampled Binding 3
OpDecorate %how DescriptorSet 0
OpDecorate %how Binding 4
";
    let shader = Shader {
        more: "OpCapability GroupNonUniformBallot",
        decorations: format!("{WORDS_DECORATIONS}{bound}"),
        types: format!("{WORDS}{image}"),
        body,
        ..Shader::default()
    };
    shader.translate(8).unwrap_err()
}

#[test]
fn types_that_do_not_fit_are_told() {
    let cases = [
        (
            "%b = OpGroupNonUniformBallot %u4 %3 %i",
            "a ballot of what is no bool",
        ),
        (
            "%p = OpAccessChain %p_uint %b1 %0 %i\n%f = OpAtomicFlagTestAndSet %uint %p %1 %0",
            "AtomicFlagTestAndSet",
        ),
        (
            "%p = OpAccessChain %p_uint %b1 %0 %i\n%d = OpPtrDiff %uint %p %i",
            "what is no pointer is used as one",
        ),
        (
            "%at = OpCompositeConstruct %u2 %i %0
%texel = OpCompositeConstruct %u4 %i %i %i %i
%to = OpLoad %samples %image
OpImageWrite %to %at %texel",
            "to a sample",
        ),
        (
            "%t = OpLoad %texture %sampled
%s = OpLoad %sampler %how
%b = OpSampledImage %both %t %s
%f = OpConvertUToF %float %i
%at = OpCompositeConstruct %f2 %f %f
%texel = OpImageSampleExplicitLod %f4 %b %at Lod %f",
            "an image of several samples is sampled",
        ),
    ];
    for (body, what) in cases {
        let said = said(body);
        assert!(said.contains(what), "{body}: {said}");
    }
}

/// A number of 32 bits becomes a generic pointer, of 64, which is one to local memory then.
#[test]
fn a_number_as_a_generic_pointer() {
    let words = assemble(
        "
OpCapability Addresses
OpCapability Kernel
OpCapability GenericPointer
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"k\"
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%p_global = OpTypePointer CrossWorkgroup %uint
%p_local = OpTypePointer Workgroup %uint
%p_any = OpTypePointer Generic %uint
%fn = OpTypeFunction %void %p_global %p_local
%main = OpFunction %void None %fn
%to = OpFunctionParameter %p_global
%from = OpFunctionParameter %p_local
%entry = OpLabel
%own = OpPtrCastToGeneric %p_any %from
%v = OpLoad %uint %own Aligned 4
%any = OpBitcast %p_any %v
%local = OpGenericCastToPtrExplicit %p_local %any Workgroup
%w = OpLoad %uint %local Aligned 4
OpStore %to %w Aligned 4
OpReturn
OpFunctionEnd
",
    );
    let options = Options {
        simd: Simd::Width(16),
        ..Options::default()
    };
    let t = translate(&words, &options).unwrap();
    verify_module(&t.module).unwrap_or_else(|e| panic!("{e}\n{}", t.module));
}

/// Kernels of words that are as the grammar says, of other types, or no ids where something else is
/// asked for.
#[test]
fn kernels_that_do_not_fit_are_told() {
    let kernel = |modes: &str, global: &str, body: &str| {
        let text = format!(
            "
OpCapability Addresses
OpCapability Kernel
%cl = OpExtInstImport \"OpenCL.std\"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"k\"
{modes}
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%0 = OpConstant %uint 0
%p_global = OpTypePointer CrossWorkgroup %uint
%p_local = OpTypePointer Workgroup %uint
%fn = OpTypeFunction %void %p_global %p_local
%var = OpVariable %p_local Workgroup
{global}
%main = OpFunction %void None %fn
%to = OpFunctionParameter %p_global
%from = OpFunctionParameter %p_local
%entry = OpLabel
{body}
OpFunctionEnd
"
        );
        let words = assemble(&text);
        let t = translate(&words, &Options::default());
        t.map(|t| verify_module(&t.module).unwrap())
            .map_err(|e| e.to_string())
    };
    let plain = "OpReturn";
    assert_eq!(kernel("", "", plain), Ok(()));
    // A mode with a literal, in the instruction of modes with ids.
    let mode = format!("OpExecutionModeId %main VecTypeHint {}", u32::MAX);
    kernel(&mode, "", plain).unwrap();
    let cases = [
        (
            "%one = OpConstant %float 0\n%init = OpVariable %p_global CrossWorkgroup %one",
            plain,
            "whose first value is of another type",
        ),
        (
            "%init = OpVariable %p_global CrossWorkgroup %later\n%later = OpConstant %uint 1",
            plain,
            "whose first value is of another type",
        ),
        (
            "%init = OpVariable %p_global UniformConstant %0",
            plain,
            "other memory than its pointer is to",
        ),
        (
            "",
            "%local = OpVariable %p_local Workgroup\nOpReturn",
            "in what all functions share",
        ),
        (
            "",
            "%other = OpInBoundsPtrAccessChain %p_local %to %0\n%v = OpLoad %uint %other Aligned 4\nOpStore %to %v Aligned 4\nOpReturn",
            "into other memory",
        ),
        (
            "",
            "OpBranchConditional %var %a %b\n%a = OpLabel\nOpReturn\n%b = OpLabel\nOpReturn",
            "a local variable that is no operand here",
        ),
        (
            "",
            "%v = OpPtrCastToGeneric %p_global %from\nOpReturn",
            "a cast to another kind of pointer",
        ),
        (
            "",
            "%v = OpAll %p_global %from\nOpReturn",
            "asked for all or any",
        ),
        (
            "",
            "%h = OpExtInst %float %cl vload_half %0 %to\n%v = OpBitcast %uint %h\nOpStore %to %v Aligned 4\nOpReturn",
            "a function of OpenCL.std of what it does not take",
        ),
    ];
    for (global, body, what) in cases {
        let said = kernel("", global, body).unwrap_err();
        assert!(said.contains(what), "{global}{body}: {said}");
    }
}
