; Transpose of 8 by 8 dwords: a column is a strided region, a row of the result a write.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @transpose(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %x0 = call <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32 0, i32 %a0, i32 0)
  %x1 = call <64 x i32> @llvm.genx.wrregioni.v64i32.v32i32.i16.i1(<64 x i32> undef, <32 x i32> %x0, i32 32, i32 32, i32 1, i16 0, i32 undef, i1 true)
  %x2 = call <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32 0, i32 %a0, i32 128)
  %x3 = call <64 x i32> @llvm.genx.wrregioni.v64i32.v32i32.i16.i1(<64 x i32> %x1, <32 x i32> %x2, i32 32, i32 32, i32 1, i16 128, i32 undef, i1 true)
  %x4 = call <8 x i32> @llvm.genx.rdregioni.v8i32.v64i32.i16(<64 x i32> %x3, i32 8, i32 1, i32 0, i16 0, i32 undef)
  %x5 = call <64 x i32> @llvm.genx.wrregioni.v64i32.v8i32.i16.i1(<64 x i32> undef, <8 x i32> %x4, i32 8, i32 8, i32 1, i16 0, i32 undef, i1 true)
  %x6 = call <8 x i32> @llvm.genx.rdregioni.v8i32.v64i32.i16(<64 x i32> %x3, i32 8, i32 1, i32 0, i16 4, i32 undef)
  %x7 = call <64 x i32> @llvm.genx.wrregioni.v64i32.v8i32.i16.i1(<64 x i32> %x5, <8 x i32> %x6, i32 8, i32 8, i32 1, i16 32, i32 undef, i1 true)
  %x8 = call <8 x i32> @llvm.genx.rdregioni.v8i32.v64i32.i16(<64 x i32> %x3, i32 8, i32 1, i32 0, i16 8, i32 undef)
  %x9 = call <64 x i32> @llvm.genx.wrregioni.v64i32.v8i32.i16.i1(<64 x i32> %x7, <8 x i32> %x8, i32 8, i32 8, i32 1, i16 64, i32 undef, i1 true)
  %x10 = call <8 x i32> @llvm.genx.rdregioni.v8i32.v64i32.i16(<64 x i32> %x3, i32 8, i32 1, i32 0, i16 12, i32 undef)
  %x11 = call <64 x i32> @llvm.genx.wrregioni.v64i32.v8i32.i16.i1(<64 x i32> %x9, <8 x i32> %x10, i32 8, i32 8, i32 1, i16 96, i32 undef, i1 true)
  %x12 = call <8 x i32> @llvm.genx.rdregioni.v8i32.v64i32.i16(<64 x i32> %x3, i32 8, i32 1, i32 0, i16 16, i32 undef)
  %x13 = call <64 x i32> @llvm.genx.wrregioni.v64i32.v8i32.i16.i1(<64 x i32> %x11, <8 x i32> %x12, i32 8, i32 8, i32 1, i16 128, i32 undef, i1 true)
  %x14 = call <8 x i32> @llvm.genx.rdregioni.v8i32.v64i32.i16(<64 x i32> %x3, i32 8, i32 1, i32 0, i16 20, i32 undef)
  %x15 = call <64 x i32> @llvm.genx.wrregioni.v64i32.v8i32.i16.i1(<64 x i32> %x13, <8 x i32> %x14, i32 8, i32 8, i32 1, i16 160, i32 undef, i1 true)
  %x16 = call <8 x i32> @llvm.genx.rdregioni.v8i32.v64i32.i16(<64 x i32> %x3, i32 8, i32 1, i32 0, i16 24, i32 undef)
  %x17 = call <64 x i32> @llvm.genx.wrregioni.v64i32.v8i32.i16.i1(<64 x i32> %x15, <8 x i32> %x16, i32 8, i32 8, i32 1, i16 192, i32 undef, i1 true)
  %x18 = call <8 x i32> @llvm.genx.rdregioni.v8i32.v64i32.i16(<64 x i32> %x3, i32 8, i32 1, i32 0, i16 28, i32 undef)
  %x19 = call <64 x i32> @llvm.genx.wrregioni.v64i32.v8i32.i16.i1(<64 x i32> %x17, <8 x i32> %x18, i32 8, i32 8, i32 1, i16 224, i32 undef, i1 true)
  %x20 = call <32 x i32> @llvm.genx.rdregioni.v32i32.v64i32.i16(<64 x i32> %x19, i32 32, i32 32, i32 1, i16 0, i32 undef)
  call void @llvm.genx.oword.st.v32i32(i32 %a1, i32 0, <32 x i32> %x20)
  %x21 = call <32 x i32> @llvm.genx.rdregioni.v32i32.v64i32.i16(<64 x i32> %x19, i32 32, i32 32, i32 1, i16 128, i32 undef)
  call void @llvm.genx.oword.st.v32i32(i32 %a1, i32 8, <32 x i32> %x21)
  ret void
}

declare <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32, i32, i32)
declare <32 x i32> @llvm.genx.rdregioni.v32i32.v64i32.i16(<64 x i32>, i32, i32, i32, i16, i32)
declare <64 x i32> @llvm.genx.wrregioni.v64i32.v32i32.i16.i1(<64 x i32>, <32 x i32>, i32, i32, i32, i16, i32, i1)
declare <64 x i32> @llvm.genx.wrregioni.v64i32.v8i32.i16.i1(<64 x i32>, <8 x i32>, i32, i32, i32, i16, i32, i1)
declare <8 x i32> @llvm.genx.rdregioni.v8i32.v64i32.i16(<64 x i32>, i32, i32, i32, i16, i32)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v32i32(i32, i32, <32 x i32>)

attributes #0 = { "VCFunction" }
