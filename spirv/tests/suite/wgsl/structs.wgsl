struct Inner { v: vec3<f32>, w: f32, k: array<u32, 3> }
struct Item { id: u32, inner: Inner, pair: vec2<i32>, tail: array<vec3<u32>, 2> }
@group(0) @binding(0) var<storage, read> from_: array<Item>;
@group(0) @binding(1) var<storage, read_write> to: array<Item>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&from_) {
        return;
    }
    var item = from_[id.x];
    item.id ^= 0xffffu;
    item.inner.v = item.inner.v.zxy * 2.0;
    item.inner.w += item.inner.v.x;
    item.inner.k[id.x % 3u] = item.id;
    item.pair = -item.pair.yx;
    let t = item.tail[0];
    item.tail[0] = item.tail[1] + t;
    item.tail[1].y = t.z;
    to[id.x] = item;
    to[id.x].inner.k[1] += 1u;
}
