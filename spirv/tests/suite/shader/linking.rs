//! Several modules as one.

use super::assemble;
use super::inputs::launch;
use gantry_spirv::{Options, link, translate};

/// A kernel that calls `twice` of a structure, and reads `table`.
const MAIN: &str = "
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Int64
%cl = OpExtInstImport \"OpenCL.std\"
%dbg = OpExtInstImport \"OpenCL.DebugInfo.100\"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k \"k\" %gid
%file = OpString \"k.cl\"
OpName %twice \"twice\"
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %gid LinkageAttributes \"__spirv_BuiltInGlobalInvocationId\" Import
OpDecorate %twice LinkageAttributes \"twice\" Import
OpDecorate %table LinkageAttributes \"table\" Import
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%l3 = OpTypeVector %ulong 3
%in_l3 = OpTypePointer Input %l3
%p_uint = OpTypePointer CrossWorkgroup %uint
%fn = OpTypeFunction %void %p_uint
%0 = OpConstant %uint 0
%1 = OpConstant %uint 1
%4 = OpConstant %uint 4
%15 = OpConstant %uint 15
%row = OpTypeArray %uint %4
%p_row = OpTypePointer UniformConstant %row
%c_uint = OpTypePointer UniformConstant %uint
%pair = OpTypeStruct %uint %row
%of = OpTypeFunction %uint %pair
%none = OpConstantNull %pair
%gid = OpVariable %in_l3 Input
%table = OpVariable %p_row UniformConstant
%scope = OpExtInst %void %dbg 1 %1 %file
%twice = OpFunction %uint None %of
%what = OpFunctionParameter %pair
OpFunctionEnd
%k = OpFunction %void None %fn
%out = OpFunctionParameter %p_uint
%entry = OpLabel
%nothing = OpExtInst %void %dbg 23 %1
%all = OpLoad %l3 %gid
%i = OpCompositeExtract %ulong %all 0
%n = OpUConvert %uint %i
%low = OpExtInst %uint %cl s_min %n %15
%one = OpCompositeInsert %pair %n %none 0
%both = OpCompositeInsert %pair %low %one 1 2
%t = OpFunctionCall %uint %twice %both
%p = OpInBoundsAccessChain %c_uint %table %1
%c = OpLoad %uint %p
%r = OpIAdd %uint %t %c
%to = OpInBoundsPtrAccessChain %p_uint %out %i
OpStore %to %r
OpReturn
OpFunctionEnd
";

/// Library that the module imports. Its ids have other numbers and its types another order.
const LIBRARY: &str = "
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
%std = OpExtInstImport \"OpenCL.std\"
OpMemoryModel Physical64 OpenCL
OpDecorate %add LinkageAttributes \"add\" Import
OpDecorate %twice LinkageAttributes \"twice\" Export
OpDecorate %table LinkageAttributes \"table\" Export
%u = OpTypeInt 32 0
%four = OpConstant %u 4
%seven = OpConstant %u 7
%us = OpTypeArray %u %four
%s = OpTypeStruct %u %us
%of_two = OpTypeFunction %u %u %u
%of = OpTypeFunction %u %s
%p_us = OpTypePointer UniformConstant %us
%init = OpConstantComposite %us %four %seven %four %four
%table = OpVariable %p_us UniformConstant %init
%add = OpFunction %u None %of_two
%add_x = OpFunctionParameter %u
%add_y = OpFunctionParameter %u
OpFunctionEnd
%twice = OpFunction %u None %of
%x = OpFunctionParameter %s
%begin = OpLabel
%a = OpCompositeExtract %u %x 0
%b = OpCompositeExtract %u %x 1 2
%aa = OpIAdd %u %a %a
OpSwitch %b %rest 3 %three
%three = OpLabel
OpBranch %end
%rest = OpLabel
%ab = OpFunctionCall %u %add %aa %b
OpBranch %end
%end = OpLabel
%r = OpPhi %u %seven %three %ab %rest
OpReturnValue %r
OpFunctionEnd
";

/// Module that the library imports in turn.
const SUM: &str = "
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpMemoryModel Physical64 OpenCL
OpDecorate %add LinkageAttributes \"add\" Export
%u = OpTypeInt 32 0
%of_two = OpTypeFunction %u %u %u
%add = OpFunction %u None %of_two
%x = OpFunctionParameter %u
%y = OpFunctionParameter %u
%begin = OpLabel
%r = OpIAdd %u %x %y
OpReturnValue %r
OpFunctionEnd
";

fn linked(texts: &[&str]) -> Result<Vec<u32>, String> {
    let all: Vec<Vec<u32>> = texts.iter().map(|t| assemble(t)).collect();
    let all: Vec<&[u32]> = all.iter().map(Vec::as_slice).collect();
    link(&all).map_err(|e| e.to_string())
}

#[test]
fn functions_and_variables_by_name() {
    for order in [
        [MAIN, LIBRARY, SUM],
        [SUM, MAIN, LIBRARY],
        [LIBRARY, SUM, MAIN],
    ] {
        let words = linked(&order).unwrap();
        let got = launch(&words, [48, 1, 1]);
        super::check(&got, |i| {
            let (n, low) = (i as u32, (i as u32).min(15));
            7 + if low == 3 { 7 } else { 2 * n + low }
        });
    }
    // What nobody exports is told by its name.
    let words = linked(&[MAIN, LIBRARY]).unwrap();
    let e = translate(&words, &Options::default())
        .unwrap_err()
        .to_string();
    assert!(e.contains("\"add\", which the module only declares"), "{e}");
}

#[test]
fn what_does_not_fit_is_told() {
    let twice = linked(&[MAIN, LIBRARY, LIBRARY]).unwrap_err();
    assert!(
        twice.contains("\"twice\" is exported by the modules 2 and 3"),
        "{twice}"
    );
    let other = SUM.replace(
        "%of_two = OpTypeFunction %u %u %u",
        "%of_two = OpTypeFunction %u %u",
    );
    let type_ = linked(&[MAIN, LIBRARY, &other]).unwrap_err();
    assert_eq!(
        type_,
        "\"add\" is of another type in the module 2 than in 3, which exports it"
    );
    let model = linked(&[
        MAIN,
        &SUM.replace(
            "OpMemoryModel Physical64 OpenCL",
            "OpMemoryModel Logical GLSL450",
        ),
    ])
    .unwrap_err();
    assert!(
        model.contains("module 2: a memory model other than"),
        "{model}"
    );
    let words = assemble(SUM);
    let broken = link(&[&words, &words[..8]]).unwrap_err().to_string();
    assert!(broken.contains("module 2: "), "{broken}");
}
