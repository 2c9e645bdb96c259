//! Arrays of images and of samplers.

use super::{Shader, WORDS, WORDS_DECORATIONS, check, words};
use gantry_codegen::ir::{ParamInfo, ParamRole};

const DECORATIONS: &str = "
OpDecorate %read DescriptorSet 0
OpDecorate %read Binding 2
OpDecorate %written DescriptorSet 0
OpDecorate %written Binding 3
OpDecorate %samplers DescriptorSet 0
OpDecorate %samplers Binding 4
";

/// Three images that are read, three that are written, two samplers: of edges, and one that
/// repeats.
const TYPES: &str = "
%c14 = OpConstant %uint 14
%half = OpConstant %float 0.53125
%none = OpConstant %float 0.0
%f4 = OpConstant %float 4.0
%u2 = OpTypeVector %uint 2
%u4 = OpTypeVector %uint 4
%sampled = OpTypeImage %uint 2D 0 0 0 1 Unknown
%storage = OpTypeImage %uint 2D 0 0 0 2 R32ui
%both = OpTypeSampledImage %sampled
%sampler = OpTypeSampler
%read3 = OpTypeArray %sampled %3
%written3 = OpTypeArray %storage %3
%sampler2 = OpTypeArray %sampler %2
%p_read3 = OpTypePointer UniformConstant %read3
%p_written3 = OpTypePointer UniformConstant %written3
%p_sampler2 = OpTypePointer UniformConstant %sampler2
%p_read = OpTypePointer UniformConstant %sampled
%p_written = OpTypePointer UniformConstant %storage
%p_sampler = OpTypePointer UniformConstant %sampler
%read = OpVariable %p_read3 UniformConstant
%written = OpVariable %p_written3 UniformConstant
%samplers = OpVariable %p_sampler2 UniformConstant
";

/// A shader whose body makes `%r`, which is stored, and the buffers after it: what it stored, and
/// the images.
fn run(body: &str) -> Vec<Vec<u32>> {
    let body = format!(
        "
%at = OpUMod %uint %i %7
%place = OpCompositeConstruct %u2 %at %0
{body}
%pr = OpAccessChain %p_uint %b1 %0 %i
OpStore %pr %r
"
    );
    let shader = Shader {
        more: "OpCapability SampledImageArrayDynamicIndexing",
        decorations: format!("{WORDS_DECORATIONS}{DECORATIONS}"),
        types: format!("{WORDS}{TYPES}"),
        body: body.leak(),
        ..Shader::default()
    };
    let image = |n: u32| words(16).into_iter().map(|w| w ^ n).collect::<Vec<u32>>();
    let read = (0..3).map(|n| (2, n, image(n)[..16 - n as usize].to_vec()));
    let written = (0..3).map(|n| (3, n, vec![n; 32]));
    let buffers: Vec<_> = [(1, 0, vec![7; 32])]
        .into_iter()
        .chain(read)
        .chain(written)
        .chain([(0, 0, vec![2; 32])])
        .collect();
    shader.run(&buffers, |_| Vec::new())
}

/// Returns the contents of a texel of the n-th image that is read.
fn texel(n: u32, at: usize) -> u32 {
    words(16)[at] ^ n
}

#[test]
fn by_constants() {
    let got = run("
%p = OpAccessChain %p_read %read %2
%image = OpLoad %sampled %p
%texel = OpImageFetch %u4 %image %place
%p0 = OpAccessChain %p_read %read %0
%image0 = OpLoad %sampled %p0
%texel0 = OpImageFetch %u4 %image0 %place
%all = OpIAdd %u4 %texel %texel0
%r = OpCompositeExtract %uint %all 0
%q = OpAccessChain %p_written %written %1
%to = OpLoad %storage %q
%mine = OpCompositeConstruct %u2 %i %0
OpImageWrite %to %mine %all
");
    let want = |i: usize| texel(2, i % 7).wrapping_add(texel(0, i % 7));
    check(&got[0], want);
    check(&got[5], want);
    assert_eq!([&got[4], &got[6]], [&vec![0; 32], &vec![2; 32]]);
}

/// By an index of each channel's own, outside of the array too, and in a loop.
#[test]
fn by_an_index_of_each_channel() {
    let got = run("
%n = OpUMod %uint %i %4
%p = OpAccessChain %p_read %read %n
%image = OpLoad %sampled %p
%texel = OpImageFetch %u4 %image %place
%x = OpCompositeExtract %uint %texel 0
%size = OpImageQuerySizeLod %u2 %image %0
%width = OpCompositeExtract %uint %size 0
%wide = OpUGreaterThan %bool %width %c14
OpSelectionMerge %after None
OpBranchConditional %wide %then %after
%then = OpLabel
%pw = OpAccessChain %p_uint %b0 %0 %i
%w = OpLoad %uint %pw
OpBranch %after
%after = OpLabel
%more = OpPhi %uint %0 %entry %w %then
%xw = OpIAdd %uint %x %width
%r = OpIAdd %uint %xw %more
%q = OpAccessChain %p_written %written %n
%to = OpLoad %storage %q
%mine = OpCompositeConstruct %u2 %i %0
OpImageWrite %to %mine %texel
");
    let read = |i: usize| match i as u32 % 4 {
        3 => (0, 0),
        n => (texel(n, i % 7), 16 - n),
    };
    // A branch by the size is one of channels.
    check(&got[0], |i| {
        let more = if read(i).1 > 14 { 2 } else { 0 };
        read(i).0.wrapping_add(read(i).1 + more)
    });
    for k in 0..3 {
        check(
            &got[4 + k],
            |i| if i % 4 == k { read(i).0 } else { k as u32 },
        );
    }
}

/// By one index for all, out of memory.
#[test]
fn by_an_index_for_all() {
    let got = run("
%from = OpAccessChain %p_uint %b0 %0 %0
%n = OpLoad %uint %from
%pn = OpAccessChain %p_read %read %n
%image = OpLoad %sampled %pn
%extent = OpImageQuerySizeLod %u2 %image %0
%width = OpCompositeExtract %uint %extent 0
%texel = OpImageFetch %u4 %image %place
%x = OpCompositeExtract %uint %texel 0
%r = OpIAdd %uint %x %width
");
    check(&got[0], |i| texel(2, i % 7).wrapping_add(14));
}

/// A sampler and an image, each by its own index: to the right of the image is its last texel, or
/// its first ones again.
#[test]
fn samplers_by_an_index() {
    let got = run("
%n = OpBitwiseAnd %uint %i %1
%m = OpUMod %uint %i %3
%p = OpAccessChain %p_read %read %m
%image = OpLoad %sampled %p
%ps = OpAccessChain %p_sampler %samplers %n
%how = OpLoad %sampler %ps
%one_of_all = OpSampledImage %both %image %how
%x = OpConvertUToF %float %at
%x1 = OpFAdd %float %x %half
%right = OpFDiv %float %x1 %f4
%place2 = OpCompositeConstruct %v2 %right %none
%texel = OpImageSampleExplicitLod %u4 %one_of_all %place2 Lod %none
%r = OpCompositeExtract %uint %texel 0
");
    check(&got[0], |i| {
        let m = i % 3;
        let size = 16 - m;
        let right = ((i % 7) as f32 + 0.53125) / 4.0;
        let at = match i % 2 {
            0 => (right * size as f32) as usize,
            _ => (right.fract() * size as f32) as usize,
        };
        let at = at.min(size - 1);
        texel(m as u32, at)
    });
}

/// WGSL's arrays of bindings: of textures, of samplers and of buffers, by constants and by indices.
#[test]
fn arrays_of_bindings() {
    let text = "
enable wgpu_binding_array;
struct Words { n: array<u32> }
@group(0) @binding(0) var textures: binding_array<texture_2d<f32>, 3>;
@group(0) @binding(1) var samplers: binding_array<sampler, 2>;
@group(0) @binding(2) var<storage, read_write> buffers: binding_array<Words, 4>;
@group(0) @binding(3) var stored: binding_array<texture_storage_2d<r32float, write>, 2>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = buffers[3].n[id.x];
    let place = vec2<f32>(f32(id.x) / 16.0, 0.5);
    let texel = textureSampleLevel(textures[n % 3u], samplers[n % 2u], place, 0.0);
    let size = textureDimensions(textures[n % 3u]);
    textureStore(stored[1], vec2<i32>(i32(id.x), 0), texel);
    textureStore(stored[n & 1u], vec2<i32>(i32(id.x), 1), texel + textureLoad(textures[0], vec2<i32>(1, 2), 0));
    buffers[n % 3u].n[id.x] = size.x + arrayLength(&buffers[n % 3u].n);
}
";
    for (target, simd) in [("skl", 8), ("icllp", 16), ("dg2", 32)] {
        let options = gantry_spirv::Options {
            simd: gantry_spirv::Simd::Width(simd),
            ..gantry_spirv::Options::default()
        };
        let t = gantry_spirv::wgsl::translate_wgsl(text, &options).unwrap();
        let infos = t.module.functions[t.kernels[0].function].reflection.iter();
        let place = |i: &ParamInfo| match i.role {
            ParamRole::Resource(at, _) => Some((at.binding, at.element)),
            _ => None,
        };
        let bindings: Vec<_> = infos.filter_map(place).collect();
        let all = [(0, 3), (1, 2), (2, 4), (3, 2)].map(|(b, n)| (0..n).map(move |e| (b, e)));
        assert_eq!(bindings, all.into_iter().flatten().collect::<Vec<_>>());
        let options = gantry_codegen::CompileOptions::for_target(target).unwrap();
        gantry_codegen::compile(&t.module, &options).unwrap();
    }
}

/// An image and its sampler in one, and three such, of which a shader makes `%r`.
fn combined(body: &str) -> Vec<Vec<u32>> {
    let body = format!(
        "
%at = OpUMod %uint %i %7
%place = OpCompositeConstruct %u2 %at %0
{body}
%pr = OpAccessChain %p_uint %b1 %0 %i
OpStore %pr %r
"
    );
    let shader = Shader {
        more: "OpCapability SampledImageArrayDynamicIndexing",
        decorations: format!(
            "{WORDS_DECORATIONS}
OpDecorate %one DescriptorSet 0
OpDecorate %one Binding 2
OpDecorate %many DescriptorSet 0
OpDecorate %many Binding 3
"
        ),
        types: format!(
            "{WORDS}
%c16 = OpConstant %float 16.0
%half = OpConstant %float 0.5
%none = OpConstant %float 0.0
%f1 = OpConstant %float 1.0
%int = OpTypeInt 32 1
%i2 = OpTypeVector %int 2
%back = OpConstant %int -1
%still = OpConstant %int 0
%left = OpConstantComposite %i2 %back %still
%u2 = OpTypeVector %uint 2
%u4 = OpTypeVector %uint 4
%image = OpTypeImage %uint 2D 0 0 0 1 Unknown
%both = OpTypeSampledImage %image
%p_both = OpTypePointer UniformConstant %both
%both3 = OpTypeArray %both %3
%p_both3 = OpTypePointer UniformConstant %both3
%one = OpVariable %p_both UniformConstant
%many = OpVariable %p_both3 UniformConstant
"
        ),
        body: body.leak(),
        ..Shader::default()
    };
    let image = |n: u32| words(16).into_iter().map(|w| w ^ n).collect::<Vec<u32>>();
    let mut buffers = vec![(1, 0, vec![7; 32]), (2, 0, image(9))];
    buffers.extend((0..3).map(|n| (3, n, image(n))));
    shader.run(&buffers, |_| Vec::new())
}

#[test]
fn images_with_samplers_in_one() {
    // Its size, a texel, one to the left of it, and a sample in the middle of a texel.
    let got = combined(
        "
%tex = OpLoad %both %one
%img = OpImage %image %tex
%size = OpImageQuerySizeLod %u2 %img %0
%width = OpCompositeExtract %uint %size 0
%texel = OpImageFetch %u4 %img %place Lod %0
%x = OpCompositeExtract %uint %texel 0
%next = OpIAdd %uint %at %1
%place1 = OpCompositeConstruct %u2 %next %0
%beside = OpImageFetch %u4 %img %place1 ConstOffset %left
%b = OpCompositeExtract %uint %beside 0
%f = OpConvertUToF %float %next
%fh = OpFAdd %float %f %half
%u = OpFDiv %float %fh %c16
%uv = OpCompositeConstruct %v2 %u %half
%sample = OpImageSampleExplicitLod %u4 %tex %uv Lod %none
%s = OpCompositeExtract %uint %sample 0
%xb = OpIAdd %uint %x %b
%xbs = OpBitwiseXor %uint %xb %s
%r = OpIAdd %uint %xbs %width
",
    );
    check(&got[0], |i| {
        let (x, s) = (texel(9, i % 7), texel(9, i % 7 + 1));
        (x.wrapping_add(x) ^ s).wrapping_add(16)
    });
}

#[test]
fn arrays_of_images_with_samplers() {
    let got = combined(
        "
%n = OpUMod %uint %i %3
%p = OpAccessChain %p_both %many %n
%tex = OpLoad %both %p
%img = OpImage %image %tex
%texel = OpImageFetch %u4 %img %place Lod %0
%x = OpCompositeExtract %uint %texel 0
%f = OpConvertUToF %float %at
%fh = OpFAdd %float %f %half
%u = OpFDiv %float %fh %c16
%uv = OpCompositeConstruct %v2 %u %half
%sample = OpImageSampleExplicitLod %u4 %tex %uv Lod %none
%s = OpCompositeExtract %uint %sample 0
%r = OpIAdd %uint %x %s
",
    );
    check(&got[0], |i| {
        let x = texel(i as u32 % 3, i % 7);
        x.wrapping_add(x)
    });
}

/// The four texels around a corner, of an image of one row: below it is the row itself.
#[test]
fn gathers() {
    let got = combined(
        "
%tex = OpLoad %both %one
%f = OpConvertUToF %float %at
%f2 = OpFAdd %float %f %f1
%u = OpFDiv %float %f2 %c16
%uv = OpCompositeConstruct %v2 %u %half
%four = OpImageGather %u4 %tex %uv %0
%x = OpCompositeExtract %uint %four 0
%y = OpCompositeExtract %uint %four 1
%z = OpCompositeExtract %uint %four 2
%w = OpCompositeExtract %uint %four 3
%xy = OpIMul %uint %x %y
%zw = OpISub %uint %z %w
%r = OpIAdd %uint %xy %zw
",
    );
    check(&got[0], |i| {
        let (a, b) = (texel(9, i % 7), texel(9, i % 7 + 1));
        a.wrapping_mul(b).wrapping_add(b.wrapping_sub(a))
    });
    // At one place for all.
    let got = combined(
        "
%tex = OpLoad %both %one
%uv = OpCompositeConstruct %v2 %half %half
%four = OpImageGather %u4 %tex %uv %0
%r = OpCompositeExtract %uint %four 1
",
    );
    check(&got[0], |_| texel(9, 8));
}
