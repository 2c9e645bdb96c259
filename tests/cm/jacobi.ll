; Steps of a five-point stencil on a tile of 8 by 16 singles in registers, whose border stays.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @jacobi(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1, i32 %p2) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %x0 = call <32 x float> @llvm.genx.oword.ld.unaligned.v32f32(i32 0, i32 %a0, i32 0)
  %x1 = call <128 x float> @llvm.genx.wrregionf.v128f32.v32f32.i16.i1(<128 x float> undef, <32 x float> %x0, i32 32, i32 32, i32 1, i16 0, i32 undef, i1 true)
  %x2 = call <32 x float> @llvm.genx.oword.ld.unaligned.v32f32(i32 0, i32 %a0, i32 128)
  %x3 = call <128 x float> @llvm.genx.wrregionf.v128f32.v32f32.i16.i1(<128 x float> %x1, <32 x float> %x2, i32 32, i32 32, i32 1, i16 128, i32 undef, i1 true)
  %x4 = call <32 x float> @llvm.genx.oword.ld.unaligned.v32f32(i32 0, i32 %a0, i32 256)
  %x5 = call <128 x float> @llvm.genx.wrregionf.v128f32.v32f32.i16.i1(<128 x float> %x3, <32 x float> %x4, i32 32, i32 32, i32 1, i16 256, i32 undef, i1 true)
  %x6 = call <32 x float> @llvm.genx.oword.ld.unaligned.v32f32(i32 0, i32 %a0, i32 384)
  %x7 = call <128 x float> @llvm.genx.wrregionf.v128f32.v32f32.i16.i1(<128 x float> %x5, <32 x float> %x6, i32 32, i32 32, i32 1, i16 384, i32 undef, i1 true)
  br label %loop1
loop1:
  %x8 = phi i32 [ %p2, %entry ], [ %x19, %loop1 ]
  %x9 = phi <128 x float> [ %x7, %entry ], [ %x18, %loop1 ]
  %x10 = call <84 x float> @llvm.genx.rdregionf.v84f32.v128f32.i16(<128 x float> %x9, i32 16, i32 14, i32 1, i16 4, i32 undef)
  %x11 = call <84 x float> @llvm.genx.rdregionf.v84f32.v128f32.i16(<128 x float> %x9, i32 16, i32 14, i32 1, i16 132, i32 undef)
  %x12 = fadd <84 x float> %x10, %x11
  %x13 = call <84 x float> @llvm.genx.rdregionf.v84f32.v128f32.i16(<128 x float> %x9, i32 16, i32 14, i32 1, i16 64, i32 undef)
  %x14 = call <84 x float> @llvm.genx.rdregionf.v84f32.v128f32.i16(<128 x float> %x9, i32 16, i32 14, i32 1, i16 72, i32 undef)
  %x15 = fadd <84 x float> %x13, %x14
  %x16 = fadd <84 x float> %x12, %x15
  %x17 = fmul <84 x float> %x16, <float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000, float 0x3FD0000000000000>
  %x18 = call <128 x float> @llvm.genx.wrregionf.v128f32.v84f32.i16.i1(<128 x float> %x9, <84 x float> %x17, i32 16, i32 14, i32 1, i16 68, i32 undef, i1 true)
  %x19 = sub i32 %x8, 1
  %x20 = icmp ne i32 %x19, 0
  br i1 %x20, label %loop1, label %done1
done1:
  %x21 = call <32 x float> @llvm.genx.rdregionf.v32f32.v128f32.i16(<128 x float> %x18, i32 32, i32 32, i32 1, i16 0, i32 undef)
  call void @llvm.genx.oword.st.v32f32(i32 %a1, i32 0, <32 x float> %x21)
  %x22 = call <32 x float> @llvm.genx.rdregionf.v32f32.v128f32.i16(<128 x float> %x18, i32 32, i32 32, i32 1, i16 128, i32 undef)
  call void @llvm.genx.oword.st.v32f32(i32 %a1, i32 8, <32 x float> %x22)
  %x23 = call <32 x float> @llvm.genx.rdregionf.v32f32.v128f32.i16(<128 x float> %x18, i32 32, i32 32, i32 1, i16 256, i32 undef)
  call void @llvm.genx.oword.st.v32f32(i32 %a1, i32 16, <32 x float> %x23)
  %x24 = call <32 x float> @llvm.genx.rdregionf.v32f32.v128f32.i16(<128 x float> %x18, i32 32, i32 32, i32 1, i16 384, i32 undef)
  call void @llvm.genx.oword.st.v32f32(i32 %a1, i32 24, <32 x float> %x24)
  ret void
}

declare <128 x float> @llvm.genx.wrregionf.v128f32.v32f32.i16.i1(<128 x float>, <32 x float>, i32, i32, i32, i16, i32, i1)
declare <128 x float> @llvm.genx.wrregionf.v128f32.v84f32.i16.i1(<128 x float>, <84 x float>, i32, i32, i32, i16, i32, i1)
declare <32 x float> @llvm.genx.oword.ld.unaligned.v32f32(i32, i32, i32)
declare <32 x float> @llvm.genx.rdregionf.v32f32.v128f32.i16(<128 x float>, i32, i32, i32, i16, i32)
declare <84 x float> @llvm.genx.rdregionf.v84f32.v128f32.i16(<128 x float>, i32, i32, i32, i16, i32)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v32f32(i32, i32, <32 x float>)

attributes #0 = { "VCFunction" }
