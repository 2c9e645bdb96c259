; Transpose of 16 by 16 bytes in two rounds of regions with rows of 4, as CM's examples do.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @transpose_bytes(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %x0 = call <128 x i8> @llvm.genx.oword.ld.unaligned.v128i8(i32 0, i32 %a0, i32 0)
  %x1 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v128i8.i16.i1(<256 x i8> undef, <128 x i8> %x0, i32 128, i32 128, i32 1, i16 0, i32 undef, i1 true)
  %x2 = call <128 x i8> @llvm.genx.oword.ld.unaligned.v128i8(i32 0, i32 %a0, i32 128)
  %x3 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v128i8.i16.i1(<256 x i8> %x1, <128 x i8> %x2, i32 128, i32 128, i32 1, i16 128, i32 undef, i1 true)
  %x4 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 0, i32 undef)
  %x5 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> undef, <16 x i8> %x4, i32 16, i32 16, i32 1, i16 0, i32 undef, i1 true)
  %x6 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 1, i32 undef)
  %x7 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x5, <16 x i8> %x6, i32 16, i32 16, i32 1, i16 16, i32 undef, i1 true)
  %x8 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 2, i32 undef)
  %x9 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x7, <16 x i8> %x8, i32 16, i32 16, i32 1, i16 32, i32 undef, i1 true)
  %x10 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 3, i32 undef)
  %x11 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x9, <16 x i8> %x10, i32 16, i32 16, i32 1, i16 48, i32 undef, i1 true)
  %x12 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 4, i32 undef)
  %x13 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x11, <16 x i8> %x12, i32 16, i32 16, i32 1, i16 64, i32 undef, i1 true)
  %x14 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 5, i32 undef)
  %x15 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x13, <16 x i8> %x14, i32 16, i32 16, i32 1, i16 80, i32 undef, i1 true)
  %x16 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 6, i32 undef)
  %x17 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x15, <16 x i8> %x16, i32 16, i32 16, i32 1, i16 96, i32 undef, i1 true)
  %x18 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 7, i32 undef)
  %x19 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x17, <16 x i8> %x18, i32 16, i32 16, i32 1, i16 112, i32 undef, i1 true)
  %x20 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 8, i32 undef)
  %x21 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x19, <16 x i8> %x20, i32 16, i32 16, i32 1, i16 128, i32 undef, i1 true)
  %x22 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 9, i32 undef)
  %x23 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x21, <16 x i8> %x22, i32 16, i32 16, i32 1, i16 144, i32 undef, i1 true)
  %x24 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 10, i32 undef)
  %x25 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x23, <16 x i8> %x24, i32 16, i32 16, i32 1, i16 160, i32 undef, i1 true)
  %x26 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 11, i32 undef)
  %x27 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x25, <16 x i8> %x26, i32 16, i32 16, i32 1, i16 176, i32 undef, i1 true)
  %x28 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 12, i32 undef)
  %x29 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x27, <16 x i8> %x28, i32 16, i32 16, i32 1, i16 192, i32 undef, i1 true)
  %x30 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 13, i32 undef)
  %x31 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x29, <16 x i8> %x30, i32 16, i32 16, i32 1, i16 208, i32 undef, i1 true)
  %x32 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 14, i32 undef)
  %x33 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x31, <16 x i8> %x32, i32 16, i32 16, i32 1, i16 224, i32 undef, i1 true)
  %x34 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8> %x3, i32 16, i32 1, i32 0, i16 15, i32 undef)
  %x35 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8> %x33, <16 x i8> %x34, i32 16, i32 16, i32 1, i16 240, i32 undef, i1 true)
  %x36 = call <128 x i8> @llvm.genx.rdregioni.v128i8.v256i8.i16(<256 x i8> %x35, i32 128, i32 128, i32 1, i16 0, i32 undef)
  call void @llvm.genx.oword.st.v128i8(i32 %a1, i32 0, <128 x i8> %x36)
  %x37 = call <128 x i8> @llvm.genx.rdregioni.v128i8.v256i8.i16(<256 x i8> %x35, i32 128, i32 128, i32 1, i16 128, i32 undef)
  call void @llvm.genx.oword.st.v128i8(i32 %a1, i32 8, <128 x i8> %x37)
  ret void
}

declare <128 x i8> @llvm.genx.oword.ld.unaligned.v128i8(i32, i32, i32)
declare <128 x i8> @llvm.genx.rdregioni.v128i8.v256i8.i16(<256 x i8>, i32, i32, i32, i16, i32)
declare <16 x i8> @llvm.genx.rdregioni.v16i8.v256i8.i16(<256 x i8>, i32, i32, i32, i16, i32)
declare <256 x i8> @llvm.genx.wrregioni.v256i8.v128i8.i16.i1(<256 x i8>, <128 x i8>, i32, i32, i32, i16, i32, i1)
declare <256 x i8> @llvm.genx.wrregioni.v256i8.v16i8.i16.i1(<256 x i8>, <16 x i8>, i32, i32, i32, i16, i32, i1)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v128i8(i32, i32, <128 x i8>)

attributes #0 = { "VCFunction" }
