; Walsh-Hadamard transform of 8 by 8 words: butterflies over rows, then over columns as strided regions.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @hadamard(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %x0 = call <64 x i16> @llvm.genx.oword.ld.unaligned.v64i16(i32 0, i32 %a0, i32 0)
  %x1 = call <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16> %x0, i32 64, i32 32, i32 1, i16 0, i32 undef)
  %x2 = call <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16> %x0, i32 64, i32 32, i32 1, i16 64, i32 undef)
  %x3 = add <32 x i16> %x1, %x2
  %x4 = call <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16> undef, <32 x i16> %x3, i32 64, i32 32, i32 1, i16 0, i32 undef, i1 true)
  %x5 = sub <32 x i16> %x1, %x2
  %x6 = call <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16> %x4, <32 x i16> %x5, i32 64, i32 32, i32 1, i16 64, i32 undef, i1 true)
  %x7 = call <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16> %x6, i32 32, i32 16, i32 1, i16 0, i32 undef)
  %x8 = call <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16> %x6, i32 32, i32 16, i32 1, i16 32, i32 undef)
  %x9 = add <32 x i16> %x7, %x8
  %x10 = call <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16> undef, <32 x i16> %x9, i32 32, i32 16, i32 1, i16 0, i32 undef, i1 true)
  %x11 = sub <32 x i16> %x7, %x8
  %x12 = call <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16> %x10, <32 x i16> %x11, i32 32, i32 16, i32 1, i16 32, i32 undef, i1 true)
  %x13 = call <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16> %x12, i32 16, i32 8, i32 1, i16 0, i32 undef)
  %x14 = call <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16> %x12, i32 16, i32 8, i32 1, i16 16, i32 undef)
  %x15 = add <32 x i16> %x13, %x14
  %x16 = call <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16> undef, <32 x i16> %x15, i32 16, i32 8, i32 1, i16 0, i32 undef, i1 true)
  %x17 = sub <32 x i16> %x13, %x14
  %x18 = call <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16> %x16, <32 x i16> %x17, i32 16, i32 8, i32 1, i16 16, i32 undef, i1 true)
  %x19 = call <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16> %x18, i32 8, i32 4, i32 1, i16 0, i32 undef)
  %x20 = call <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16> %x18, i32 8, i32 4, i32 1, i16 8, i32 undef)
  %x21 = add <32 x i16> %x19, %x20
  %x22 = call <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16> undef, <32 x i16> %x21, i32 8, i32 4, i32 1, i16 0, i32 undef, i1 true)
  %x23 = sub <32 x i16> %x19, %x20
  %x24 = call <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16> %x22, <32 x i16> %x23, i32 8, i32 4, i32 1, i16 8, i32 undef, i1 true)
  %x25 = call <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16> %x24, i32 4, i32 2, i32 1, i16 0, i32 undef)
  %x26 = call <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16> %x24, i32 4, i32 2, i32 1, i16 4, i32 undef)
  %x27 = add <32 x i16> %x25, %x26
  %x28 = call <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16> undef, <32 x i16> %x27, i32 4, i32 2, i32 1, i16 0, i32 undef, i1 true)
  %x29 = sub <32 x i16> %x25, %x26
  %x30 = call <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16> %x28, <32 x i16> %x29, i32 4, i32 2, i32 1, i16 4, i32 undef, i1 true)
  %x31 = call <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16> %x30, i32 2, i32 1, i32 1, i16 0, i32 undef)
  %x32 = call <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16> %x30, i32 2, i32 1, i32 1, i16 2, i32 undef)
  %x33 = add <32 x i16> %x31, %x32
  %x34 = call <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16> undef, <32 x i16> %x33, i32 2, i32 1, i32 1, i16 0, i32 undef, i1 true)
  %x35 = sub <32 x i16> %x31, %x32
  %x36 = call <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16> %x34, <32 x i16> %x35, i32 2, i32 1, i32 1, i16 2, i32 undef, i1 true)
  call void @llvm.genx.oword.st.v64i16(i32 %a1, i32 0, <64 x i16> %x36)
  ret void
}

declare <32 x i16> @llvm.genx.rdregioni.v32i16.v64i16.i16(<64 x i16>, i32, i32, i32, i16, i32)
declare <64 x i16> @llvm.genx.oword.ld.unaligned.v64i16(i32, i32, i32)
declare <64 x i16> @llvm.genx.wrregioni.v64i16.v32i16.i16.i1(<64 x i16>, <32 x i16>, i32, i32, i32, i16, i32, i1)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v64i16(i32, i32, <64 x i16>)

attributes #0 = { "VCFunction" }
