; Matrix product with a tile of 6 by 16 sums in registers: a column of A as scalars, a row of B.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @sgemm(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1, %intel.buffer_rw_t addrspace(1)* %p2, i32 %p3) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %a2 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p2)
  br label %loop1
loop1:
  %x0 = phi i32 [ 0, %entry ], [ %x43, %loop1 ]
  %x1 = phi i32 [ 0, %entry ], [ %x44, %loop1 ]
  %x2 = phi i32 [ %p3, %entry ], [ %x41, %loop1 ]
  %x3 = phi <16 x float> [ zeroinitializer, %entry ], [ %x15, %loop1 ]
  %x4 = phi <16 x float> [ zeroinitializer, %entry ], [ %x20, %loop1 ]
  %x5 = phi <16 x float> [ zeroinitializer, %entry ], [ %x25, %loop1 ]
  %x6 = phi <16 x float> [ zeroinitializer, %entry ], [ %x30, %loop1 ]
  %x7 = phi <16 x float> [ zeroinitializer, %entry ], [ %x35, %loop1 ]
  %x8 = phi <16 x float> [ zeroinitializer, %entry ], [ %x40, %loop1 ]
  %x9 = call <8 x float> @llvm.genx.oword.ld.unaligned.v8f32(i32 0, i32 %a0, i32 %x0)
  %x10 = call <16 x float> @llvm.genx.oword.ld.unaligned.v16f32(i32 0, i32 %a1, i32 %x1)
  %x11 = extractelement <8 x float> %x9, i32 0
  %x12 = insertelement <16 x float> undef, float %x11, i32 0
  %x13 = shufflevector <16 x float> %x12, <16 x float> undef, <16 x i32> zeroinitializer
  %x14 = fmul fast <16 x float> %x13, %x10
  %x15 = fadd fast <16 x float> %x14, %x3
  %x16 = extractelement <8 x float> %x9, i32 1
  %x17 = insertelement <16 x float> undef, float %x16, i32 0
  %x18 = shufflevector <16 x float> %x17, <16 x float> undef, <16 x i32> zeroinitializer
  %x19 = fmul fast <16 x float> %x18, %x10
  %x20 = fadd fast <16 x float> %x19, %x4
  %x21 = extractelement <8 x float> %x9, i32 2
  %x22 = insertelement <16 x float> undef, float %x21, i32 0
  %x23 = shufflevector <16 x float> %x22, <16 x float> undef, <16 x i32> zeroinitializer
  %x24 = fmul fast <16 x float> %x23, %x10
  %x25 = fadd fast <16 x float> %x24, %x5
  %x26 = extractelement <8 x float> %x9, i32 3
  %x27 = insertelement <16 x float> undef, float %x26, i32 0
  %x28 = shufflevector <16 x float> %x27, <16 x float> undef, <16 x i32> zeroinitializer
  %x29 = fmul fast <16 x float> %x28, %x10
  %x30 = fadd fast <16 x float> %x29, %x6
  %x31 = extractelement <8 x float> %x9, i32 4
  %x32 = insertelement <16 x float> undef, float %x31, i32 0
  %x33 = shufflevector <16 x float> %x32, <16 x float> undef, <16 x i32> zeroinitializer
  %x34 = fmul fast <16 x float> %x33, %x10
  %x35 = fadd fast <16 x float> %x34, %x7
  %x36 = extractelement <8 x float> %x9, i32 5
  %x37 = insertelement <16 x float> undef, float %x36, i32 0
  %x38 = shufflevector <16 x float> %x37, <16 x float> undef, <16 x i32> zeroinitializer
  %x39 = fmul fast <16 x float> %x38, %x10
  %x40 = fadd fast <16 x float> %x39, %x8
  %x41 = sub i32 %x2, 1
  %x42 = icmp ne i32 %x41, 0
  %x43 = add i32 %x0, 32
  %x44 = add i32 %x1, 64
  br i1 %x42, label %loop1, label %done1
done1:
  call void @llvm.genx.oword.st.v16f32(i32 %a2, i32 0, <16 x float> %x15)
  call void @llvm.genx.oword.st.v16f32(i32 %a2, i32 4, <16 x float> %x20)
  call void @llvm.genx.oword.st.v16f32(i32 %a2, i32 8, <16 x float> %x25)
  call void @llvm.genx.oword.st.v16f32(i32 %a2, i32 12, <16 x float> %x30)
  call void @llvm.genx.oword.st.v16f32(i32 %a2, i32 16, <16 x float> %x35)
  call void @llvm.genx.oword.st.v16f32(i32 %a2, i32 20, <16 x float> %x40)
  ret void
}

declare <16 x float> @llvm.genx.oword.ld.unaligned.v16f32(i32, i32, i32)
declare <8 x float> @llvm.genx.oword.ld.unaligned.v8f32(i32, i32, i32)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v16f32(i32, i32, <16 x float>)

attributes #0 = { "VCFunction" }
