; Nibbles unpacked and scaled: 64 bytes become 128 singles (n - 8) * scale, by writes of stride 2.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @nibbles(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1, float %p2) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %x0 = call <64 x i8> @llvm.genx.oword.ld.unaligned.v64i8(i32 0, i32 %a0, i32 0)
  %x1 = and <64 x i8> %x0, <i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15, i8 15>
  %x2 = call <128 x i8> @llvm.genx.wrregioni.v128i8.v64i8.i16.i1(<128 x i8> undef, <64 x i8> %x1, i32 2, i32 1, i32 0, i16 0, i32 undef, i1 true)
  %x3 = lshr <64 x i8> %x0, <i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4, i8 4>
  %x4 = call <128 x i8> @llvm.genx.wrregioni.v128i8.v64i8.i16.i1(<128 x i8> %x2, <64 x i8> %x3, i32 2, i32 1, i32 0, i16 1, i32 undef, i1 true)
  %x5 = zext <128 x i8> %x4 to <128 x i16>
  %x6 = sub <128 x i16> %x5, <i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8>
  %x7 = sitofp <128 x i16> %x6 to <128 x float>
  %x8 = insertelement <128 x float> undef, float %p2, i32 0
  %x9 = shufflevector <128 x float> %x8, <128 x float> undef, <128 x i32> zeroinitializer
  %x10 = fmul <128 x float> %x7, %x9
  %x11 = call <32 x float> @llvm.genx.rdregionf.v32f32.v128f32.i16(<128 x float> %x10, i32 32, i32 32, i32 1, i16 0, i32 undef)
  call void @llvm.genx.oword.st.v32f32(i32 %a1, i32 0, <32 x float> %x11)
  %x12 = call <32 x float> @llvm.genx.rdregionf.v32f32.v128f32.i16(<128 x float> %x10, i32 32, i32 32, i32 1, i16 128, i32 undef)
  call void @llvm.genx.oword.st.v32f32(i32 %a1, i32 8, <32 x float> %x12)
  %x13 = call <32 x float> @llvm.genx.rdregionf.v32f32.v128f32.i16(<128 x float> %x10, i32 32, i32 32, i32 1, i16 256, i32 undef)
  call void @llvm.genx.oword.st.v32f32(i32 %a1, i32 16, <32 x float> %x13)
  %x14 = call <32 x float> @llvm.genx.rdregionf.v32f32.v128f32.i16(<128 x float> %x10, i32 32, i32 32, i32 1, i16 384, i32 undef)
  call void @llvm.genx.oword.st.v32f32(i32 %a1, i32 24, <32 x float> %x14)
  ret void
}

declare <128 x i8> @llvm.genx.wrregioni.v128i8.v64i8.i16.i1(<128 x i8>, <64 x i8>, i32, i32, i32, i16, i32, i1)
declare <32 x float> @llvm.genx.rdregionf.v32f32.v128f32.i16(<128 x float>, i32, i32, i32, i16, i32)
declare <64 x i8> @llvm.genx.oword.ld.unaligned.v64i8(i32, i32, i32)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v32f32(i32, i32, <32 x float>)

attributes #0 = { "VCFunction" }
