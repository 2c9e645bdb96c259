test run
target skl

// A sampled texture, a storage texture, and push constants.
struct Pushed { scale: f32, shift: f32 }
var<immediate> pushed: Pushed;
@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var how: sampler;
@group(1) @binding(4) var to: texture_storage_2d<r32float, write>;
@group(1) @binding(5) var counts: texture_storage_1d<r32uint, read_write>;

@compute @workgroup_size(4, 2)
fn scaled(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = vec2<f32>(textureDimensions(source));
    let at = (vec2<f32>(id.xy) + vec2<f32>(0.5 + pushed.shift, 0.5)) / size;
    let texel = textureSampleLevel(source, how, at, 0.0);
    textureStore(to, id.xy, texel * pushed.scale);
}

@compute @workgroup_size(8)
fn counted(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(counts, id.x, textureLoad(counts, id.x) + id.x);
}

// Atomics on texels: a histogram, and a maximum whose old value nothing reads.
@group(2) @binding(0) var bins: texture_storage_2d<r32uint, atomic>;
@group(2) @binding(1) var most: texture_storage_1d<r32sint, atomic>;

@compute @workgroup_size(8)
fn binned(@builtin(global_invocation_id) id: vec3<u32>) {
    textureAtomicAdd(bins, vec2<u32>(id.x % 2, id.x / 4), id.x);
    textureAtomicMax(most, 0u, i32(id.x) - 3);
}

// run: binned groups=2 binds=[2,0: image2d(2,4) r_uint32 u32[100;8], 2,1: image1d(1) r_sint32 i32[5]] == [u32[102, 104, 110, 112, 118, 120, 126, 128], i32[12]]
// run: scaled groups=1 binds=[0,0: image2d(4,2) r_f32 f32[0..8], 0,1: sampler edge nearest norm, 1,4: image2d(4,2) r_f32 f32[0;8], push: f32x2(0.5, 0)] == [_, _, f32[0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5], _]
// run: scaled global=4,2 binds=[0,0: image2d(4,2) r_f32 f32[0..8], 0,1: sampler edge linear norm, 1,4: image2d(4,2) r_f32 f32[0;8], push: f32x2(2, 0.5)] == [_, _, f32[1, 3, 5, 6, 9, 11, 13, 14], _]
// run: scaled groups=1 binds=[0,0: image2d(4,2) r_f32 f32[0..8], 0,1: sampler repeat nearest norm, 1,4: image2d(4,2) r_f32 f32[0;8], push: f32x2(1, 1)] == [_, _, f32[1, 2, 3, 0, 5, 6, 7, 4], _]
// run: counted groups=1 binds=[1,5: image1d(8) r_uint32 u32[10;8]] == [u32[10, 11, 12, 13, 14, 15, 16, 17]]
