@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u32, 14>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let w = words[i];
    let s = i32(w);
    out[i][0] = countOneBits(w);
    out[i][1] = reverseBits(w);
    out[i][2] = firstLeadingBit(w);
    out[i][3] = u32(firstLeadingBit(s));
    out[i][4] = firstTrailingBit(w);
    out[i][5] = countLeadingZeros(w);
    out[i][6] = countTrailingZeros(w);
    out[i][7] = extractBits(w, i % 40u, (i * 7u) % 40u);
    out[i][8] = u32(extractBits(s, i % 32u, (i * 5u) % 33u));
    out[i][9] = insertBits(w, ~w, i % 32u, (i * 3u) % 33u);
    out[i][10] = (w << (i % 32u)) ^ (w >> (i % 32u));
    out[i][11] = u32(s >> (i % 32u));
    out[i][12] = ~w & (w | 0xff00u);
    let two = countOneBits(vec2(w, ~w));
    out[i][13] = two.x * 64u + two.y;
}
