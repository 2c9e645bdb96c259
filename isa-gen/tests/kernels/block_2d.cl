// Rectangles of memory, a sub-group at a time: 2D blocks of the load/store cache.
// needs: dpas16
#define SG __attribute__((intel_reqd_sub_group_size(16)))
#define BUILTIN __attribute__((overloadable))
ushort2 intel_subgroup_block_read_u8_m1k32v2(global void *, int, int, int, int2);
ushort16 intel_subgroup_block_read_u8_m8k32v2(global void *, int, int, int, int2);
ushort8 intel_subgroup_block_read_u16_m4k16v2(global void *, int, int, int, int2);
uint8 intel_subgroup_block_read_transform_u8_k32(global void *, int, int, int, int2);
uint8 intel_subgroup_block_read_transform_u16_k16(global void *, int, int, int, int2);
uint8 intel_subgroup_block_read_transpose_u32_k8(global void *, int, int, int, int2);

SG kernel void blocks_of_rows(global ushort *out, global uchar *in, int width, int height, int pitch, int x, int y) {
    size_t lane = get_sub_group_local_id();
    vstore2(intel_subgroup_block_read_u8_m1k32v2(in, width, height, pitch, (int2)(x, y)), lane, out);
    vstore16(intel_subgroup_block_read_u8_m8k32v2(in, width, height, pitch, (int2)(x, y)), lane, out + 32);
    vstore8(intel_subgroup_block_read_u16_m4k16v2(in, width, height, pitch, (int2)(x / 2, y)), lane, out + 32 + 256);
}

SG kernel void blocks_turned(global uint *out, global uchar *in, int width, int height, int pitch, int x, int y) {
    size_t lane = get_sub_group_local_id();
    vstore8(intel_subgroup_block_read_transform_u8_k32(in, width, height, pitch, (int2)(x, y)), lane, out);
    vstore8(intel_subgroup_block_read_transform_u16_k16(in, width, height, pitch, (int2)(x / 2, y)), lane, out + 128);
    vstore8(intel_subgroup_block_read_transpose_u32_k8(in, width, height, pitch, (int2)(x / 4, y)), lane, out + 256);
}
