; Box filter of 3 by 3 pixels over a tile of 8 rows of 32 bytes, by regions of the tile: 6 by 24 means.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @box(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %x0 = call <128 x i8> @llvm.genx.oword.ld.unaligned.v128i8(i32 0, i32 %a0, i32 0)
  %x1 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v128i8.i16.i1(<256 x i8> undef, <128 x i8> %x0, i32 128, i32 128, i32 1, i16 0, i32 undef, i1 true)
  %x2 = call <128 x i8> @llvm.genx.oword.ld.unaligned.v128i8(i32 0, i32 %a0, i32 128)
  %x3 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v128i8.i16.i1(<256 x i8> %x1, <128 x i8> %x2, i32 128, i32 128, i32 1, i16 128, i32 undef, i1 true)
  %x4 = call <144 x i8> @llvm.genx.rdregioni.v144i8.v256i8.i16(<256 x i8> %x3, i32 32, i32 24, i32 1, i16 3, i32 undef)
  %x5 = zext <144 x i8> %x4 to <144 x i16>
  %x6 = call <144 x i8> @llvm.genx.rdregioni.v144i8.v256i8.i16(<256 x i8> %x3, i32 32, i32 24, i32 1, i16 4, i32 undef)
  %x7 = zext <144 x i8> %x6 to <144 x i16>
  %x8 = add <144 x i16> %x5, %x7
  %x9 = call <144 x i8> @llvm.genx.rdregioni.v144i8.v256i8.i16(<256 x i8> %x3, i32 32, i32 24, i32 1, i16 5, i32 undef)
  %x10 = zext <144 x i8> %x9 to <144 x i16>
  %x11 = add <144 x i16> %x8, %x10
  %x12 = call <144 x i8> @llvm.genx.rdregioni.v144i8.v256i8.i16(<256 x i8> %x3, i32 32, i32 24, i32 1, i16 35, i32 undef)
  %x13 = zext <144 x i8> %x12 to <144 x i16>
  %x14 = add <144 x i16> %x11, %x13
  %x15 = call <144 x i8> @llvm.genx.rdregioni.v144i8.v256i8.i16(<256 x i8> %x3, i32 32, i32 24, i32 1, i16 36, i32 undef)
  %x16 = zext <144 x i8> %x15 to <144 x i16>
  %x17 = add <144 x i16> %x14, %x16
  %x18 = call <144 x i8> @llvm.genx.rdregioni.v144i8.v256i8.i16(<256 x i8> %x3, i32 32, i32 24, i32 1, i16 37, i32 undef)
  %x19 = zext <144 x i8> %x18 to <144 x i16>
  %x20 = add <144 x i16> %x17, %x19
  %x21 = call <144 x i8> @llvm.genx.rdregioni.v144i8.v256i8.i16(<256 x i8> %x3, i32 32, i32 24, i32 1, i16 67, i32 undef)
  %x22 = zext <144 x i8> %x21 to <144 x i16>
  %x23 = add <144 x i16> %x20, %x22
  %x24 = call <144 x i8> @llvm.genx.rdregioni.v144i8.v256i8.i16(<256 x i8> %x3, i32 32, i32 24, i32 1, i16 68, i32 undef)
  %x25 = zext <144 x i8> %x24 to <144 x i16>
  %x26 = add <144 x i16> %x23, %x25
  %x27 = call <144 x i8> @llvm.genx.rdregioni.v144i8.v256i8.i16(<256 x i8> %x3, i32 32, i32 24, i32 1, i16 69, i32 undef)
  %x28 = zext <144 x i8> %x27 to <144 x i16>
  %x29 = add <144 x i16> %x26, %x28
  %x30 = uitofp <144 x i16> %x29 to <144 x float>
  %x31 = fmul <144 x float> %x30, <float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000, float 0x3FBC71C720000000>
  %x32 = fptoui <144 x float> %x31 to <144 x i8>
  %x33 = call <128 x i8> @llvm.genx.rdregioni.v128i8.v144i8.i16(<144 x i8> %x32, i32 128, i32 128, i32 1, i16 0, i32 undef)
  call void @llvm.genx.oword.st.v128i8(i32 %a1, i32 0, <128 x i8> %x33)
  %x34 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v144i8.i16(<144 x i8> %x32, i32 16, i32 16, i32 1, i16 128, i32 undef)
  call void @llvm.genx.oword.st.v16i8(i32 %a1, i32 8, <16 x i8> %x34)
  ret void
}

declare <128 x i8> @llvm.genx.oword.ld.unaligned.v128i8(i32, i32, i32)
declare <128 x i8> @llvm.genx.rdregioni.v128i8.v144i8.i16(<144 x i8>, i32, i32, i32, i16, i32)
declare <144 x i8> @llvm.genx.rdregioni.v144i8.v256i8.i16(<256 x i8>, i32, i32, i32, i16, i32)
declare <16 x i8> @llvm.genx.rdregioni.v16i8.v144i8.i16(<144 x i8>, i32, i32, i32, i16, i32)
declare <256 x i8> @llvm.genx.wrregioni.v256i8.v128i8.i16.i1(<256 x i8>, <128 x i8>, i32, i32, i32, i16, i32, i1)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v128i8(i32, i32, <128 x i8>)
declare void @llvm.genx.oword.st.v16i8(i32, i32, <16 x i8>)

attributes #0 = { "VCFunction" }
