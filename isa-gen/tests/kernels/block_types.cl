// Blocks of a sub-group in all sizes, of global and of local memory.
// needs: narrow
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups_short : enable
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))
#define BUILTIN __attribute__((overloadable))
ulong BUILTIN intel_sub_group_block_read_ul(const global ulong *);
ulong4 BUILTIN intel_sub_group_block_read_ul4(const global ulong *);
void BUILTIN intel_sub_group_block_write_ul(global ulong *, ulong);
void BUILTIN intel_sub_group_block_write_ul4(global ulong *, ulong4);
uchar16 BUILTIN intel_sub_group_block_read_uc16(const global uchar *);
uchar2 BUILTIN intel_sub_group_block_read_uc2(const global uchar *);
void BUILTIN intel_sub_group_block_write_uc16(global uchar *, uchar16);
void BUILTIN intel_sub_group_block_write_uc4(global uchar *, uchar4);
ushort16 BUILTIN intel_sub_group_block_read_us16(const global ushort *);
void BUILTIN intel_sub_group_block_write_us16(global ushort *, ushort16);

SG kernel void block_longs(global ulong *out, global const ulong *in) {
    size_t g = get_group_id(0) * SIMD * 8;
    ulong4 v = intel_sub_group_block_read_ul4(in + g);
    ulong x = intel_sub_group_block_read_ul(in + g + 4 * SIMD);
    intel_sub_group_block_write_ul4(out + g, v.wxzy + x);
    intel_sub_group_block_write_ul(out + g + 5 * SIMD, x ^ v.x);
}

SG kernel void block_bytes(global uchar *out, global const uchar *in) {
    size_t g = get_group_id(0) * SIMD * 32;
    uchar16 v = intel_sub_group_block_read_uc16(in + g);
    uchar2 w = intel_sub_group_block_read_uc2(in + g + 16 * SIMD);
    intel_sub_group_block_write_uc16(out + g, v.sfedcba9876543210 + w.x);
    intel_sub_group_block_write_uc4(out + g + 20 * SIMD, (uchar4)(w, v.s3, get_sub_group_local_id()));
}

SG kernel void block_eights(global uint *out, global const uint *in, global ushort *words) {
    size_t g = get_group_id(0) * SIMD * 8;
    uint8 v = intel_sub_group_block_read8(in + g);
    intel_sub_group_block_write8(out + g, v.s76543210 + (uint8)(get_sub_group_local_id()));
    ushort8 w = intel_sub_group_block_read_us8(words + g);
    intel_sub_group_block_write_us8(words + g, w.s13572064);
}
