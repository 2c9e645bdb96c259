// Blocks of a sub-group, of local memory.
// needs: narrow local-blocks
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups_short : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))
#define BUILTIN __attribute__((overloadable))
uint4 BUILTIN intel_sub_group_block_read4(const local uint *);
uint BUILTIN intel_sub_group_block_read(const local uint *);
void BUILTIN intel_sub_group_block_write2(local uint *, uint2);
ushort2 BUILTIN intel_sub_group_block_read_us2(const local ushort *);
void BUILTIN intel_sub_group_block_write_us4(local ushort *, ushort4);
uchar2 BUILTIN intel_sub_group_block_read_uc2(const local uchar *);
ulong2 BUILTIN intel_sub_group_block_read_ul2(const local ulong *);

// A group is two sub-groups; each reads what the other wrote.
SG kernel void local_blocks(global uint *out, global const uint *in, local uint *l) {
    uint s = get_sub_group_id() * SIMD * 4, o = SIMD * 4 - s;
    size_t i = get_global_id(0);
    intel_sub_group_block_write2(l + s, (uint2)(in[i], in[i] * 3));
    intel_sub_group_block_write_us4((local ushort *)(l + s + 2 * SIMD), (ushort4)(1, 2, in[i], 4));
    barrier(CLK_LOCAL_MEM_FENCE);
    uint4 v = intel_sub_group_block_read4(l + o);
    uint r = intel_sub_group_block_read(l + o + SIMD) ^ v.x ^ v.y * 5 ^ v.z * 7 ^ v.w * 9;
    ushort2 w = intel_sub_group_block_read_us2((local ushort *)(l + o));
    uchar2 c = intel_sub_group_block_read_uc2((local uchar *)(l + o));
    ulong2 q = intel_sub_group_block_read_ul2((local ulong *)(l + o));
    out[i] = r + w.x + 3 * w.y + c.x + 5 * c.y + (uint)(q.x >> 32) + (uint)q.y;
}
