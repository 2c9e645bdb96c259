@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u32, 18>>;

@compute @workgroup_size(64)
fn main(
    @builtin(local_invocation_index) l: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_id) which: u32,
    @builtin(num_subgroups) count: u32,
) {
    let v = data[l];
    out[l][0] = lane;
    out[l][1] = size;
    out[l][2] = which;
    out[l][3] = count;
    out[l][4] = subgroupAdd(v);
    out[l][5] = subgroupExclusiveAdd(v);
    out[l][6] = subgroupInclusiveAdd(v);
    out[l][7] = subgroupMax(v) - subgroupMin(v);
    out[l][8] = subgroupXor(v) ^ subgroupAnd(v | 0xf0u) ^ subgroupOr(v);
    let b = subgroupBallot(v % 3u == 1u);
    out[l][9] = b.x;
    out[l][10] = subgroupBroadcast(v, 5u) + subgroupBroadcastFirst(v);
    out[l][11] = subgroupShuffle(v, (lane + 3u) % size);
    out[l][12] = subgroupShuffleXor(v, 1u);
    out[l][13] = select(0u, subgroupShuffleUp(v, 2u), lane >= 2u);
    out[l][14] = select(0u, subgroupShuffleDown(v, 2u), lane + 2u < size);
    out[l][15] = u32(subgroupAny(v > 250u)) + 2u * u32(subgroupAll(v < 250u));
    out[l][16] = subgroupMul(v | 1u);
    out[l][17] = subgroupInclusiveMul(v | 1u);
    if v % 2u == 1u {
        out[l][16] = subgroupAdd(1u);
    }
}
