//! Built-in variables by pointers of every kind, in kernels: the module's text is run by the
//! simulator, the IR's interpreter is not asked.

use super::assemble;
use gantry_codegen::{CompileOptions, compile};
use gantry_runtime::{Arg, Device, Grid, SimOptions};
use gantry_spirv::{Options, Simd, translate};

const HEAD: &str = "
OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability Int8
OpCapability GenericPointer
OpCapability Linkage
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k \"k\"
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %lid BuiltIn LocalInvocationId
OpDecorate %gid LinkageAttributes \"__spirv_BuiltInGlobalInvocationId\" Import
OpDecorate %lid LinkageAttributes \"__spirv_BuiltInLocalInvocationId\" Import
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%uchar = OpTypeInt 8 0
%void = OpTypeVoid
%bool = OpTypeBool
%l3 = OpTypeVector %ulong 3
%in_l3 = OpTypePointer CLASS %l3
%in_long = OpTypePointer CLASS %ulong
%g_l3 = OpTypePointer Generic %l3
%g_long = OpTypePointer Generic %ulong
%g_byte = OpTypePointer Generic %uchar
%g_uint = OpTypePointer Generic %uint
%p_uint = OpTypePointer CrossWorkgroup %uint
%fn = OpTypeFunction %void %p_uint
%0 = OpConstant %uint 0
%1 = OpConstant %uint 1
%3 = OpConstant %uint 3
%8 = OpConstant %ulong 8
%l0 = OpConstant %ulong 0
%gid = OpVariable %in_l3 CLASS
%lid = OpVariable %in_l3 CLASS
TYPES
%k = OpFunction %void None %fn
%out = OpFunctionParameter %p_uint
%entry = OpLabel
%all = OpLoad %l3 %gid
%i = OpCompositeExtract %ulong %all 0
%n = OpUConvert %uint %i
BODY
%to = OpInBoundsPtrAccessChain %p_uint %out %i
OpStore %to %r
OpReturn
OpFunctionEnd
";

/// Returns the values that a body stores as `%r` in 48 work-items of groups of 16 by 2.
fn run(class: &str, types: &str, body: &str) -> Vec<u32> {
    let text = HEAD
        .replace("CLASS", class)
        .replace("TYPES", types)
        .replace("BODY", body);
    launch(&assemble(&text), [48, 2, 1])
}

/// Returns the buffer of 48 words after a launch of `k`. Groups have 16 work-items in the first
/// dimension, and all in the second.
pub fn launch(words: &[u32], global: [u32; 3]) -> Vec<u32> {
    let options = Options {
        simd: Simd::Width(16),
        ..Options::default()
    };
    let t = translate(words, &options).unwrap();
    let target = CompileOptions::for_target("skl").unwrap();
    let platform = target.target.platform();
    let zebin = compile(&t.module, &target).unwrap().zebin;
    let device = Device::simulator(SimOptions {
        platform,
        ..SimOptions::default()
    });
    let out = device.buffer_from(&[0u32; 48]).unwrap();
    let module = device.load(&zebin).unwrap();
    let grid = Grid::new(global).group([16, global[1], 1]);
    let kernel = module.kernel("k").unwrap();
    let launch = kernel.launch(grid).args(vec![Arg::from(&out)]);
    launch.run().unwrap();
    out.read::<u32>().unwrap()
}

/// One of two built-ins by a phi, and by a selection.
#[test]
fn pointers_by_phis_and_selections() {
    let types = "";
    let phi = "
%low = OpBitwiseAnd %uint %n %3
%is = OpIEqual %bool %low %0
OpBranchConditional %is %a %b
%a = OpLabel
OpBranch %c
%b = OpLabel
OpBranch %c
%c = OpLabel
%p = OpPhi %in_l3 %gid %a %lid %b
%v = OpLoad %l3 %p
%x = OpCompositeExtract %ulong %v 0
%r = OpUConvert %uint %x
";
    let select = "
%low = OpBitwiseAnd %uint %n %3
%is = OpIEqual %bool %low %0
%p = OpSelect %in_l3 %is %gid %lid
%q = OpInBoundsPtrAccessChain %in_long %p %l0 %0
%x = OpLoad %ulong %q
%r = OpUConvert %uint %x
";
    for class in ["Input", "CrossWorkgroup"] {
        for body in [phi, select] {
            let got = run(class, types, body);
            super::check(&got, |i| if i % 4 == 0 { i as u32 } else { i as u32 % 16 });
        }
    }
}

/// Around a loop, by a phi that is its own.
#[test]
fn pointers_in_loops() {
    let body = "
OpBranch %head
%head = OpLabel
%p = OpPhi %in_l3 %gid %entry %q %head
%m = OpPhi %uint %0 %entry %m1 %head
%sum = OpPhi %uint %0 %entry %more %head
%v = OpLoad %l3 %p
%x = OpCompositeExtract %ulong %v 0
%x32 = OpUConvert %uint %x
%more = OpIAdd %uint %sum %x32
%m1 = OpIAdd %uint %m %1
%first = OpIEqual %bool %m %0
%q = OpSelect %in_l3 %first %p %lid
%go = OpULessThan %bool %m1 %3
OpBranchConditional %go %head %end
%end = OpLabel
%r = OpCopyObject %uint %more
";
    let got = run("Input", "", body);
    super::check(&got, |i| i as u32 * 2 + i as u32 % 16);
}

/// As SYCL's kernels have them: imported, in global memory, through casts and by bytes, in
/// constants too.
#[test]
fn imported_variables_by_casts() {
    let types = "
%gid_g = OpSpecConstantOp %g_l3 PtrCastToGeneric %gid
%lid_b = OpSpecConstantOp %g_byte Bitcast %lid_g
"
    .replace(
        "%lid_b",
        "%lid_g = OpSpecConstantOp %g_l3 PtrCastToGeneric %lid\n%lid_b",
    );
    let body = "
%px = OpBitcast %g_long %gid_g
%x = OpLoad %ulong %px Aligned 32
%py = OpInBoundsPtrAccessChain %g_byte %lid_b %8
%pw = OpBitcast %g_uint %py
%y = OpLoad %uint %pw Aligned 8
%cast = OpPtrCastToGeneric %g_l3 %lid
%v = OpLoad %l3 %cast Aligned 32
%z = OpCompositeExtract %ulong %v 0
%xz = OpIAdd %ulong %x %z
%xz32 = OpUConvert %uint %xz
%y100 = OpShiftLeftLogical %uint %y %3
%r = OpIAdd %uint %xz32 %y100
";
    // The rows of a group write the same place, the second one last or first.
    let got = run("CrossWorkgroup", &types, body);
    for (i, got) in got.into_iter().enumerate() {
        let row = (i + i % 16) as u32;
        assert!(got == row || got == row + 8, "{i}: {got}");
    }
}
