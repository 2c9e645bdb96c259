; Table of 128 words in registers, read at 32 indices, an index a lane.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @lut(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1, %intel.buffer_rw_t addrspace(1)* %p2) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %a2 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p2)
  %x0 = call <32 x i8> @llvm.genx.oword.ld.unaligned.v32i8(i32 0, i32 %a0, i32 0)
  %x1 = call <64 x i16> @llvm.genx.oword.ld.unaligned.v64i16(i32 0, i32 %a1, i32 0)
  %x2 = call <128 x i16> @llvm.genx.wrregioni.v128i16.v64i16.i16.i1(<128 x i16> undef, <64 x i16> %x1, i32 64, i32 64, i32 1, i16 0, i32 undef, i1 true)
  %x3 = call <64 x i16> @llvm.genx.oword.ld.unaligned.v64i16(i32 0, i32 %a1, i32 128)
  %x4 = call <128 x i16> @llvm.genx.wrregioni.v128i16.v64i16.i16.i1(<128 x i16> %x2, <64 x i16> %x3, i32 64, i32 64, i32 1, i16 128, i32 undef, i1 true)
  %x5 = zext <32 x i8> %x0 to <32 x i16>
  %x6 = and <32 x i16> %x5, <i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127, i16 127>
  %x7 = shl <32 x i16> %x6, <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1>
  %x8 = call <8 x i16> @llvm.genx.rdregioni.v8i16.v32i16.i16(<32 x i16> %x7, i32 8, i32 8, i32 1, i16 0, i32 undef)
  %x9 = call <8 x i16> @llvm.genx.rdregioni.v8i16.v128i16.v8i16(<128 x i16> %x4, i32 0, i32 1, i32 0, <8 x i16> %x8, i32 undef)
  %x10 = call <32 x i16> @llvm.genx.wrregioni.v32i16.v8i16.i16.i1(<32 x i16> undef, <8 x i16> %x9, i32 8, i32 8, i32 1, i16 0, i32 undef, i1 true)
  %x11 = call <8 x i16> @llvm.genx.rdregioni.v8i16.v32i16.i16(<32 x i16> %x7, i32 8, i32 8, i32 1, i16 16, i32 undef)
  %x12 = call <8 x i16> @llvm.genx.rdregioni.v8i16.v128i16.v8i16(<128 x i16> %x4, i32 0, i32 1, i32 0, <8 x i16> %x11, i32 undef)
  %x13 = call <32 x i16> @llvm.genx.wrregioni.v32i16.v8i16.i16.i1(<32 x i16> %x10, <8 x i16> %x12, i32 8, i32 8, i32 1, i16 16, i32 undef, i1 true)
  %x14 = call <8 x i16> @llvm.genx.rdregioni.v8i16.v32i16.i16(<32 x i16> %x7, i32 8, i32 8, i32 1, i16 32, i32 undef)
  %x15 = call <8 x i16> @llvm.genx.rdregioni.v8i16.v128i16.v8i16(<128 x i16> %x4, i32 0, i32 1, i32 0, <8 x i16> %x14, i32 undef)
  %x16 = call <32 x i16> @llvm.genx.wrregioni.v32i16.v8i16.i16.i1(<32 x i16> %x13, <8 x i16> %x15, i32 8, i32 8, i32 1, i16 32, i32 undef, i1 true)
  %x17 = call <8 x i16> @llvm.genx.rdregioni.v8i16.v32i16.i16(<32 x i16> %x7, i32 8, i32 8, i32 1, i16 48, i32 undef)
  %x18 = call <8 x i16> @llvm.genx.rdregioni.v8i16.v128i16.v8i16(<128 x i16> %x4, i32 0, i32 1, i32 0, <8 x i16> %x17, i32 undef)
  %x19 = call <32 x i16> @llvm.genx.wrregioni.v32i16.v8i16.i16.i1(<32 x i16> %x16, <8 x i16> %x18, i32 8, i32 8, i32 1, i16 48, i32 undef, i1 true)
  call void @llvm.genx.oword.st.v32i16(i32 %a2, i32 0, <32 x i16> %x19)
  ret void
}

declare <128 x i16> @llvm.genx.wrregioni.v128i16.v64i16.i16.i1(<128 x i16>, <64 x i16>, i32, i32, i32, i16, i32, i1)
declare <32 x i16> @llvm.genx.wrregioni.v32i16.v8i16.i16.i1(<32 x i16>, <8 x i16>, i32, i32, i32, i16, i32, i1)
declare <32 x i8> @llvm.genx.oword.ld.unaligned.v32i8(i32, i32, i32)
declare <64 x i16> @llvm.genx.oword.ld.unaligned.v64i16(i32, i32, i32)
declare <8 x i16> @llvm.genx.rdregioni.v8i16.v128i16.v8i16(<128 x i16>, i32, i32, i32, <8 x i16>, i32)
declare <8 x i16> @llvm.genx.rdregioni.v8i16.v32i16.i16(<32 x i16>, i32, i32, i32, i16, i32)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v32i16(i32, i32, <32 x i16>)

attributes #0 = { "VCFunction" }
