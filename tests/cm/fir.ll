; Filter of 8 taps over rows of 32 singles: windows at offsets of a vector, whose tail is the next row's head.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @fir(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1, %intel.buffer_rw_t addrspace(1)* %p2, i32 %p3) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %a2 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p2)
  %x0 = call <8 x float> @llvm.genx.oword.ld.unaligned.v8f32(i32 0, i32 %a1, i32 0)
  br label %loop1
loop1:
  %x1 = phi i32 [ 0, %entry ], [ %x57, %loop1 ]
  %x2 = phi i32 [ %p3, %entry ], [ %x55, %loop1 ]
  %x3 = phi <8 x float> [ zeroinitializer, %entry ], [ %x58, %loop1 ]
  %x4 = call <32 x float> @llvm.genx.oword.ld.unaligned.v32f32(i32 0, i32 %a0, i32 %x1)
  %x5 = call <40 x float> @llvm.genx.wrregionf.v40f32.v8f32.i16.i1(<40 x float> undef, <8 x float> %x3, i32 8, i32 8, i32 1, i16 0, i32 undef, i1 true)
  %x6 = call <40 x float> @llvm.genx.wrregionf.v40f32.v32f32.i16.i1(<40 x float> %x5, <32 x float> %x4, i32 32, i32 32, i32 1, i16 32, i32 undef, i1 true)
  %x7 = call <32 x float> @llvm.genx.rdregionf.v32f32.v40f32.i16(<40 x float> %x6, i32 32, i32 32, i32 1, i16 4, i32 undef)
  %x8 = extractelement <8 x float> %x0, i32 0
  %x9 = insertelement <32 x float> undef, float %x8, i32 0
  %x10 = shufflevector <32 x float> %x9, <32 x float> undef, <32 x i32> zeroinitializer
  %x11 = fmul <32 x float> %x7, %x10
  %x12 = call <32 x float> @llvm.genx.rdregionf.v32f32.v40f32.i16(<40 x float> %x6, i32 32, i32 32, i32 1, i16 8, i32 undef)
  %x13 = extractelement <8 x float> %x0, i32 1
  %x14 = insertelement <32 x float> undef, float %x13, i32 0
  %x15 = shufflevector <32 x float> %x14, <32 x float> undef, <32 x i32> zeroinitializer
  %x16 = fmul fast <32 x float> %x12, %x15
  %x17 = fadd fast <32 x float> %x16, %x11
  %x18 = call <32 x float> @llvm.genx.rdregionf.v32f32.v40f32.i16(<40 x float> %x6, i32 32, i32 32, i32 1, i16 12, i32 undef)
  %x19 = extractelement <8 x float> %x0, i32 2
  %x20 = insertelement <32 x float> undef, float %x19, i32 0
  %x21 = shufflevector <32 x float> %x20, <32 x float> undef, <32 x i32> zeroinitializer
  %x22 = fmul fast <32 x float> %x18, %x21
  %x23 = fadd fast <32 x float> %x22, %x17
  %x24 = call <32 x float> @llvm.genx.rdregionf.v32f32.v40f32.i16(<40 x float> %x6, i32 32, i32 32, i32 1, i16 16, i32 undef)
  %x25 = extractelement <8 x float> %x0, i32 3
  %x26 = insertelement <32 x float> undef, float %x25, i32 0
  %x27 = shufflevector <32 x float> %x26, <32 x float> undef, <32 x i32> zeroinitializer
  %x28 = fmul fast <32 x float> %x24, %x27
  %x29 = fadd fast <32 x float> %x28, %x23
  %x30 = call <32 x float> @llvm.genx.rdregionf.v32f32.v40f32.i16(<40 x float> %x6, i32 32, i32 32, i32 1, i16 20, i32 undef)
  %x31 = extractelement <8 x float> %x0, i32 4
  %x32 = insertelement <32 x float> undef, float %x31, i32 0
  %x33 = shufflevector <32 x float> %x32, <32 x float> undef, <32 x i32> zeroinitializer
  %x34 = fmul fast <32 x float> %x30, %x33
  %x35 = fadd fast <32 x float> %x34, %x29
  %x36 = call <32 x float> @llvm.genx.rdregionf.v32f32.v40f32.i16(<40 x float> %x6, i32 32, i32 32, i32 1, i16 24, i32 undef)
  %x37 = extractelement <8 x float> %x0, i32 5
  %x38 = insertelement <32 x float> undef, float %x37, i32 0
  %x39 = shufflevector <32 x float> %x38, <32 x float> undef, <32 x i32> zeroinitializer
  %x40 = fmul fast <32 x float> %x36, %x39
  %x41 = fadd fast <32 x float> %x40, %x35
  %x42 = call <32 x float> @llvm.genx.rdregionf.v32f32.v40f32.i16(<40 x float> %x6, i32 32, i32 32, i32 1, i16 28, i32 undef)
  %x43 = extractelement <8 x float> %x0, i32 6
  %x44 = insertelement <32 x float> undef, float %x43, i32 0
  %x45 = shufflevector <32 x float> %x44, <32 x float> undef, <32 x i32> zeroinitializer
  %x46 = fmul fast <32 x float> %x42, %x45
  %x47 = fadd fast <32 x float> %x46, %x41
  %x48 = call <32 x float> @llvm.genx.rdregionf.v32f32.v40f32.i16(<40 x float> %x6, i32 32, i32 32, i32 1, i16 32, i32 undef)
  %x49 = extractelement <8 x float> %x0, i32 7
  %x50 = insertelement <32 x float> undef, float %x49, i32 0
  %x51 = shufflevector <32 x float> %x50, <32 x float> undef, <32 x i32> zeroinitializer
  %x52 = fmul fast <32 x float> %x48, %x51
  %x53 = fadd fast <32 x float> %x52, %x47
  %x54 = lshr i32 %x1, 4
  call void @llvm.genx.oword.st.v32f32(i32 %a2, i32 %x54, <32 x float> %x53)
  %x55 = sub i32 %x2, 1
  %x56 = icmp ne i32 %x55, 0
  %x57 = add i32 %x1, 128
  %x58 = call <8 x float> @llvm.genx.rdregionf.v8f32.v32f32.i16(<32 x float> %x4, i32 8, i32 8, i32 1, i16 96, i32 undef)
  br i1 %x56, label %loop1, label %done1
done1:
  ret void
}

declare <32 x float> @llvm.genx.oword.ld.unaligned.v32f32(i32, i32, i32)
declare <32 x float> @llvm.genx.rdregionf.v32f32.v40f32.i16(<40 x float>, i32, i32, i32, i16, i32)
declare <40 x float> @llvm.genx.wrregionf.v40f32.v32f32.i16.i1(<40 x float>, <32 x float>, i32, i32, i32, i16, i32, i1)
declare <40 x float> @llvm.genx.wrregionf.v40f32.v8f32.i16.i1(<40 x float>, <8 x float>, i32, i32, i32, i16, i32, i1)
declare <8 x float> @llvm.genx.oword.ld.unaligned.v8f32(i32, i32, i32)
declare <8 x float> @llvm.genx.rdregionf.v8f32.v32f32.i16(<32 x float>, i32, i32, i32, i16, i32)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v32f32(i32, i32, <32 x float>)

attributes #0 = { "VCFunction" }
