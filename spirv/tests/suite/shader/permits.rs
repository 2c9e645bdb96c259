//! Permissions, promises and hints of a module.

use super::{Shader, WORDS, WORDS_DECORATIONS, check, words};

/// Alias scopes as operands of accesses and as decorations, hints of loops, flags of operations.
#[test]
fn what_only_permits_is_taken() {
    let shader = Shader {
        more: "OpCapability FPFastMathModeINTEL
OpCapability OptNoneEXT
OpCapability MemoryAccessAliasingINTEL
OpCapability UnstructuredLoopControlsINTEL
OpCapability CooperativeMatrixKHR",
        decorations: format!(
            "{WORDS_DECORATIONS}
OpDecorate %y FPFastMathMode NotNaN|NotInf|NSZ|AllowRecip|AllowContract|AllowReassoc
OpDecorate %w AliasScopeINTEL %scopes
"
        ),
        types: format!(
            "{WORDS}
%domain = OpAliasDomainDeclINTEL
%scope = OpAliasScopeDeclINTEL %domain
%scopes = OpAliasScopeListDeclINTEL %scope
"
        ),
        body: "
%a = OpAccessChain %p_uint %b0 %0 %i
OpBranch %head
%head = OpLabel
%n = OpPhi %uint %0 %entry %n1 %head
%sum = OpPhi %uint %0 %entry %more %head
%v = OpLoad %uint %a Aligned|AliasScopeINTELMask 4 %scopes
%more = OpIAdd %uint %sum %v
%n1 = OpIAdd %uint %n %1
%go = OpULessThan %bool %n1 %3
OpLoopControlINTEL 1
OpLoopMerge %end %head None
OpBranchConditional %go %head %end
%end = OpLabel
%x = OpConvertUToF %float %more
%y = OpFAdd %float %x %x
%w = OpConvertFToU %uint %y
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %w Aligned|NoAliasINTELMask 4 %scopes
",
        ..Shader::default()
    };
    let data: Vec<u32> = words(32).iter().map(|w| w & 0xffff).collect();
    let got = shader.run(&[(0, 0, data.clone()), (1, 0, vec![0; 32])], |_| Vec::new());
    check(&got[1], |i| data[i] * 6);
}

/// Instructions of an unsupported capability are refused where they are used, by name.
#[test]
fn what_is_declared_is_refused_where_it_is_used() {
    let shader = Shader {
        more: "OpCapability ShaderClockKHR",
        body: "%now = OpReadClockKHR %ulong %3",
        ..Shader::default()
    };
    let e = shader.translate(8).unwrap_err();
    assert!(e.contains("OpReadClockKHR is not supported"), "{e}");
    assert!(!e.contains("capability"), "{e}");
}

/// Blocks in local memory begin at the same byte.
#[test]
fn blocks_in_local_memory_share_their_bytes() {
    let shader = Shader {
        more: "OpCapability WorkgroupMemoryExplicitLayoutKHR",
        decorations: format!(
            "{WORDS_DECORATIONS}
OpDecorate %s_uints ArrayStride 4
OpMemberDecorate %s_as_uints 0 Offset 0
OpDecorate %s_as_uints Block
OpDecorate %s_u2s ArrayStride 8
OpMemberDecorate %s_as_u2s 0 Offset 0
OpDecorate %s_as_u2s Block
OpDecorate %sa Aliased
OpDecorate %sb Aliased
"
        ),
        types: format!(
            "{WORDS}
%8 = OpConstant %uint 8
%16 = OpConstant %uint 16
%264 = OpConstant %uint 264
%u2 = OpTypeVector %uint 2
%s_uints = OpTypeArray %uint %16
%s_as_uints = OpTypeStruct %s_uints
%s_u2s = OpTypeArray %u2 %8
%s_as_u2s = OpTypeStruct %s_u2s
%p_sa = OpTypePointer Workgroup %s_as_uints
%p_sb = OpTypePointer Workgroup %s_as_u2s
%p_su = OpTypePointer Workgroup %uint
%p_su2 = OpTypePointer Workgroup %u2
%sa = OpVariable %p_sa Workgroup
%sb = OpVariable %p_sb Workgroup
"
        ),
        body: "
%l = OpUMod %uint %i %16
%from = OpAccessChain %p_uint %b0 %0 %i
%v = OpLoad %uint %from
%put = OpAccessChain %p_su %sa %0 %l
OpStore %put %v
OpControlBarrier %2 %2 %264
%k = OpUDiv %uint %l %2
%get = OpAccessChain %p_su2 %sb %0 %k
%pair = OpLoad %u2 %get
%x = OpCompositeExtract %uint %pair 0
%y = OpCompositeExtract %uint %pair 1
%w = OpISub %uint %x %y
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %w
",
        ..Shader::default()
    };
    let data = words(32);
    let got = shader.run(&[(0, 0, data.clone()), (1, 0, vec![0; 32])], |_| Vec::new());
    check(&got[1], |i| {
        data[i / 2 * 2].wrapping_sub(data[i / 2 * 2 + 1])
    });
}
