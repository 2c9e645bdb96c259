; Hamming distances of a descriptor of 256 bits to 16 others: bits counted, rows summed by strided regions.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @hamming(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1, %intel.buffer_rw_t addrspace(1)* %p2) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %a2 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p2)
  %x0 = call <8 x i32> @llvm.genx.oword.ld.unaligned.v8i32(i32 0, i32 %a0, i32 0)
  %x1 = call <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32 0, i32 %a1, i32 0)
  %x2 = call <128 x i32> @llvm.genx.wrregioni.v128i32.v32i32.i16.i1(<128 x i32> undef, <32 x i32> %x1, i32 32, i32 32, i32 1, i16 0, i32 undef, i1 true)
  %x3 = call <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32 0, i32 %a1, i32 128)
  %x4 = call <128 x i32> @llvm.genx.wrregioni.v128i32.v32i32.i16.i1(<128 x i32> %x2, <32 x i32> %x3, i32 32, i32 32, i32 1, i16 128, i32 undef, i1 true)
  %x5 = call <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32 0, i32 %a1, i32 256)
  %x6 = call <128 x i32> @llvm.genx.wrregioni.v128i32.v32i32.i16.i1(<128 x i32> %x4, <32 x i32> %x5, i32 32, i32 32, i32 1, i16 256, i32 undef, i1 true)
  %x7 = call <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32 0, i32 %a1, i32 384)
  %x8 = call <128 x i32> @llvm.genx.wrregioni.v128i32.v32i32.i16.i1(<128 x i32> %x6, <32 x i32> %x7, i32 32, i32 32, i32 1, i16 384, i32 undef, i1 true)
  %x9 = call <128 x i32> @llvm.genx.rdregioni.v128i32.v8i32.i16(<8 x i32> %x0, i32 0, i32 8, i32 1, i16 0, i32 undef)
  %x10 = xor <128 x i32> %x8, %x9
  %x11 = call <128 x i32> @llvm.genx.cbit.v128i32.v128i32(<128 x i32> %x10)
  %x12 = call <64 x i32> @llvm.genx.rdregioni.v64i32.v128i32.i16(<128 x i32> %x11, i32 8, i32 4, i32 1, i16 0, i32 undef)
  %x13 = call <64 x i32> @llvm.genx.rdregioni.v64i32.v128i32.i16(<128 x i32> %x11, i32 8, i32 4, i32 1, i16 16, i32 undef)
  %x14 = add <64 x i32> %x12, %x13
  %x15 = call <32 x i32> @llvm.genx.rdregioni.v32i32.v64i32.i16(<64 x i32> %x14, i32 4, i32 2, i32 1, i16 0, i32 undef)
  %x16 = call <32 x i32> @llvm.genx.rdregioni.v32i32.v64i32.i16(<64 x i32> %x14, i32 4, i32 2, i32 1, i16 8, i32 undef)
  %x17 = add <32 x i32> %x15, %x16
  %x18 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x17, i32 2, i32 1, i32 0, i16 0, i32 undef)
  %x19 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x17, i32 2, i32 1, i32 0, i16 4, i32 undef)
  %x20 = add <16 x i32> %x18, %x19
  call void @llvm.genx.oword.st.v16i32(i32 %a2, i32 0, <16 x i32> %x20)
  ret void
}

declare <128 x i32> @llvm.genx.cbit.v128i32.v128i32(<128 x i32>)
declare <128 x i32> @llvm.genx.rdregioni.v128i32.v8i32.i16(<8 x i32>, i32, i32, i32, i16, i32)
declare <128 x i32> @llvm.genx.wrregioni.v128i32.v32i32.i16.i1(<128 x i32>, <32 x i32>, i32, i32, i32, i16, i32, i1)
declare <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32>, i32, i32, i32, i16, i32)
declare <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32, i32, i32)
declare <32 x i32> @llvm.genx.rdregioni.v32i32.v64i32.i16(<64 x i32>, i32, i32, i32, i16, i32)
declare <64 x i32> @llvm.genx.rdregioni.v64i32.v128i32.i16(<128 x i32>, i32, i32, i32, i16, i32)
declare <8 x i32> @llvm.genx.oword.ld.unaligned.v8i32(i32, i32, i32)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v16i32(i32, i32, <16 x i32>)

attributes #0 = { "VCFunction" }
