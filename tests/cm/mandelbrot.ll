; Mandelbrot iterations of 16 points: a loop of the whole thread while any lane is inside, writes under a predicate.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @mandelbrot(%intel.buffer_rw_t addrspace(1)* %p0, float %p1, float %p2, i32 %p3) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %x0 = fmul <16 x float> <float 0x0000000000000000, float 0x3FF0000000000000, float 0x4000000000000000, float 0x4008000000000000, float 0x4010000000000000, float 0x4014000000000000, float 0x4018000000000000, float 0x401C000000000000, float 0x4020000000000000, float 0x4022000000000000, float 0x4024000000000000, float 0x4026000000000000, float 0x4028000000000000, float 0x402A000000000000, float 0x402C000000000000, float 0x402E000000000000>, <float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000, float 0x3FB0000000000000>
  %x1 = insertelement <16 x float> undef, float %p1, i32 0
  %x2 = shufflevector <16 x float> %x1, <16 x float> undef, <16 x i32> zeroinitializer
  %x3 = fadd <16 x float> %x0, %x2
  %x4 = insertelement <16 x float> undef, float %p2, i32 0
  %x5 = shufflevector <16 x float> %x4, <16 x float> undef, <16 x i32> zeroinitializer
  br label %loop1
loop1:
  %x6 = phi i32 [ 0, %entry ], [ %x23, %loop1 ]
  %x7 = phi <16 x float> [ zeroinitializer, %entry ], [ %x19, %loop1 ]
  %x8 = phi <16 x float> [ zeroinitializer, %entry ], [ %x22, %loop1 ]
  %x9 = phi <16 x i32> [ zeroinitializer, %entry ], [ %x16, %loop1 ]
  %x10 = fmul <16 x float> %x8, %x8
  %x11 = fmul <16 x float> %x7, %x8
  %x12 = fmul fast <16 x float> %x7, %x7
  %x13 = fadd fast <16 x float> %x12, %x10
  %x14 = fcmp olt <16 x float> %x13, <float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000, float 0x4010000000000000>
  %x15 = add <16 x i32> %x9, <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %x16 = select <16 x i1> %x14, <16 x i32> %x15, <16 x i32> %x9
  %x17 = fmul fast <16 x float> %x7, %x7
  %x18 = fsub fast <16 x float> %x17, %x10
  %x19 = fadd <16 x float> %x18, %x3
  %x20 = fmul fast <16 x float> %x7, %x8
  %x21 = fadd fast <16 x float> %x20, %x11
  %x22 = fadd <16 x float> %x21, %x5
  %x23 = add i32 %x6, 1
  %x24 = call i1 @llvm.genx.any.v16i1(<16 x i1> %x14)
  %x25 = icmp slt i32 %x23, %p3
  %x26 = and i1 %x24, %x25
  br i1 %x26, label %loop1, label %done1
done1:
  call void @llvm.genx.oword.st.v16i32(i32 %a0, i32 0, <16 x i32> %x16)
  ret void
}

declare i1 @llvm.genx.any.v16i1(<16 x i1>)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v16i32(i32, i32, <16 x i32>)

attributes #0 = { "VCFunction" }
