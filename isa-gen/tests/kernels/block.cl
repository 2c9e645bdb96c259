// Blocks of memory and images, a sub-group at a time.
// needs: narrow
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups_short : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void block_copy(global uint *out, global const uint *in, global ushort *words, global uchar *bytes) {
    size_t g = get_group_id(0) * 64;
    uint4 v = intel_sub_group_block_read4(in + g);
    uint s = intel_sub_group_block_read(in + g + 4 * SIMD);
    intel_sub_group_block_write4(out + g, v + s);
    ushort2 w = intel_sub_group_block_read_us2(words + g);
    intel_sub_group_block_write_us2(words + g, w.yx);
    intel_sub_group_block_write_uc(bytes + g, intel_sub_group_block_read_uc(bytes + g) + 1);
}

SG kernel void block_local(global uint *out, global const uint *in, local uint *l) {
    uint x = intel_sub_group_block_read(in + get_group_id(0) * SIMD);
    l[get_local_id(0)] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = l[get_local_id(0) ^ 3] + get_sub_group_id() + get_num_sub_groups() + get_max_sub_group_size();
}

SG kernel void block_image(read_only image2d_t in, write_only image2d_t out) {
    int2 p = (int2)((get_global_id(0) - get_sub_group_local_id()) * 4, get_global_id(1) * 2);
    uint2 v = intel_sub_group_block_read2(in, p);
    intel_sub_group_block_write2(out, p, v.yx);
}
