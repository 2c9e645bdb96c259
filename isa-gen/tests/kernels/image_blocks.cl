// Rectangles of images, a sub-group at a time.
// needs: images at-most-16
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))
#define BUILTIN __attribute__((overloadable))
uchar16 BUILTIN intel_sub_group_media_block_read_uc16(int2, int, int, read_only image2d_t);
ushort4 BUILTIN intel_sub_group_media_block_read_us4(int2, int, int, read_only image2d_t);
uint2 BUILTIN intel_sub_group_media_block_read_ui2(int2, int, int, read_only image2d_t);
void BUILTIN intel_sub_group_media_block_write_uc4(int2, int, int, uchar4, write_only image2d_t);
void BUILTIN intel_sub_group_media_block_write_ui(int2, int, int, uint, write_only image2d_t);
uchar4 BUILTIN intel_sub_group_block_read_uc4(read_only image2d_t, int2);
ushort4 BUILTIN intel_sub_group_block_read_us4(read_only image2d_t, int2);
uint8 BUILTIN intel_sub_group_block_read8(read_only image2d_t, int2);
ulong2 BUILTIN intel_sub_group_block_read_ul2(read_only image2d_t, int2);
void BUILTIN intel_sub_group_block_write_us4(write_only image2d_t, int2, ushort4);

SG kernel void media_reads(read_only image2d_t in, global uchar *bytes, global ushort *words, global uint *dwords, int x, int y) {
    uchar16 c = intel_sub_group_media_block_read_uc16((int2)(x, y), SIMD * 2, 8, in);
    vstore16(c, get_global_id(0), bytes);
    ushort4 s = intel_sub_group_media_block_read_us4((int2)(x, y), SIMD / 2, 8, in);
    vstore4(s, get_global_id(0), words);
    uint2 u = intel_sub_group_media_block_read_ui2((int2)(x, y), SIMD / 2, 4, in);
    vstore2(u, get_global_id(0), dwords);
}

SG kernel void media_writes(write_only image2d_t out, global const uchar4 *bytes, global const uint *dwords, int x, int y) {
    intel_sub_group_media_block_write_uc4((int2)(x, y), SIMD, 4, bytes[get_global_id(0)], out);
    intel_sub_group_media_block_write_ui((int2)(x, y + 4), SIMD / 2, 2, dwords[get_global_id(0)], out);
}

SG kernel void image_block_reads(read_only image2d_t in, global uchar *bytes, global ushort *words, global uint *dwords, global ulong *quads, int x, int y) {
    vstore4(intel_sub_group_block_read_uc4(in, (int2)(x, y)), get_global_id(0), bytes);
    vstore4(intel_sub_group_block_read_us4(in, (int2)(x, y)), get_global_id(0), words);
    vstore8(intel_sub_group_block_read8(in, (int2)(x, y)), get_global_id(0), dwords);
    vstore2(intel_sub_group_block_read_ul2(in, (int2)(x, y)), get_global_id(0), quads);
}

SG kernel void image_block_writes(write_only image2d_t out, global const ushort4 *words, int x, int y) {
    intel_sub_group_block_write_us4(out, (int2)(x, y), words[get_global_id(0)]);
}
