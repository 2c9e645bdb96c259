; Merge of 8 sorted lists of 4 integers in registers: the least head by halves, the next of its list by its index.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @merge(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %x0 = call <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32 0, i32 %a0, i32 0)
  %x1 = call <40 x i32> @llvm.genx.wrregioni.v40i32.v32i32.i16.i1(<40 x i32> undef, <32 x i32> %x0, i32 32, i32 32, i32 1, i16 0, i32 undef, i1 true)
  %x2 = call <8 x i32> @llvm.genx.oword.ld.unaligned.v8i32(i32 0, i32 %a0, i32 128)
  %x3 = call <40 x i32> @llvm.genx.wrregioni.v40i32.v8i32.i16.i1(<40 x i32> %x1, <8 x i32> %x2, i32 8, i32 8, i32 1, i16 128, i32 undef, i1 true)
  %x4 = call <8 x i32> @llvm.genx.rdregioni.v8i32.v40i32.i16(<40 x i32> %x3, i32 5, i32 1, i32 0, i16 0, i32 undef)
  br label %loop1
loop1:
  %x5 = phi i16 [ 0, %entry ], [ %x33, %loop1 ]
  %x6 = phi <32 x i32> [ zeroinitializer, %entry ], [ %x18, %loop1 ]
  %x7 = phi <8 x i32> [ %x4, %entry ], [ %x32, %loop1 ]
  %x8 = phi <8 x i16> [ <i16 0, i16 20, i16 40, i16 60, i16 80, i16 100, i16 120, i16 140>, %entry ], [ %x30, %loop1 ]
  %x9 = call <4 x i32> @llvm.genx.rdregioni.v4i32.v8i32.i16(<8 x i32> %x7, i32 4, i32 4, i32 1, i16 0, i32 undef)
  %x10 = call <4 x i32> @llvm.genx.rdregioni.v4i32.v8i32.i16(<8 x i32> %x7, i32 4, i32 4, i32 1, i16 16, i32 undef)
  %x11 = call <4 x i32> @llvm.genx.smin.v4i32.v4i32(<4 x i32> %x9, <4 x i32> %x10)
  %x12 = call <2 x i32> @llvm.genx.rdregioni.v2i32.v4i32.i16(<4 x i32> %x11, i32 2, i32 2, i32 1, i16 0, i32 undef)
  %x13 = call <2 x i32> @llvm.genx.rdregioni.v2i32.v4i32.i16(<4 x i32> %x11, i32 2, i32 2, i32 1, i16 8, i32 undef)
  %x14 = call <2 x i32> @llvm.genx.smin.v2i32.v2i32(<2 x i32> %x12, <2 x i32> %x13)
  %x15 = extractelement <2 x i32> %x14, i32 0
  %x16 = extractelement <2 x i32> %x14, i32 1
  %x17 = call i32 @llvm.genx.smin.i32.i32(i32 %x15, i32 %x16)
  %x18 = call <32 x i32> @llvm.genx.wrregioni.v32i32.i32.i16.i1(<32 x i32> %x6, i32 %x17, i32 1, i32 1, i32 1, i16 %x5, i32 undef, i1 true)
  %x19 = insertelement <8 x i32> undef, i32 %x17, i32 0
  %x20 = shufflevector <8 x i32> %x19, <8 x i32> undef, <8 x i32> zeroinitializer
  %x21 = icmp eq <8 x i32> %x7, %x20
  %x22 = bitcast <8 x i1> %x21 to i8
  %x23 = zext i8 %x22 to i32
  %x24 = call i32 @llvm.genx.fbl.i32(i32 %x23)
  %x25 = trunc i32 %x24 to i16
  %x26 = shl i16 %x25, 1
  %x27 = call i16 @llvm.genx.rdregioni.i16.v8i16.i16(<8 x i16> %x8, i32 1, i32 1, i32 1, i16 %x26, i32 undef)
  %x28 = add i16 %x27, 4
  %x29 = call i32 @llvm.genx.rdregioni.i32.v40i32.i16(<40 x i32> %x3, i32 1, i32 1, i32 1, i16 %x28, i32 undef)
  %x30 = call <8 x i16> @llvm.genx.wrregioni.v8i16.i16.i16.i1(<8 x i16> %x8, i16 %x28, i32 1, i32 1, i32 1, i16 %x26, i32 undef, i1 true)
  %x31 = shl i16 %x26, 1
  %x32 = call <8 x i32> @llvm.genx.wrregioni.v8i32.i32.i16.i1(<8 x i32> %x7, i32 %x29, i32 1, i32 1, i32 1, i16 %x31, i32 undef, i1 true)
  %x33 = add i16 %x5, 4
  %x34 = icmp ult i16 %x33, 128
  br i1 %x34, label %loop1, label %done1
done1:
  call void @llvm.genx.oword.st.v32i32(i32 %a1, i32 0, <32 x i32> %x18)
  ret void
}

declare <2 x i32> @llvm.genx.rdregioni.v2i32.v4i32.i16(<4 x i32>, i32, i32, i32, i16, i32)
declare <2 x i32> @llvm.genx.smin.v2i32.v2i32(<2 x i32>, <2 x i32>)
declare <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32, i32, i32)
declare <32 x i32> @llvm.genx.wrregioni.v32i32.i32.i16.i1(<32 x i32>, i32, i32, i32, i32, i16, i32, i1)
declare <4 x i32> @llvm.genx.rdregioni.v4i32.v8i32.i16(<8 x i32>, i32, i32, i32, i16, i32)
declare <4 x i32> @llvm.genx.smin.v4i32.v4i32(<4 x i32>, <4 x i32>)
declare <40 x i32> @llvm.genx.wrregioni.v40i32.v32i32.i16.i1(<40 x i32>, <32 x i32>, i32, i32, i32, i16, i32, i1)
declare <40 x i32> @llvm.genx.wrregioni.v40i32.v8i32.i16.i1(<40 x i32>, <8 x i32>, i32, i32, i32, i16, i32, i1)
declare <8 x i16> @llvm.genx.wrregioni.v8i16.i16.i16.i1(<8 x i16>, i16, i32, i32, i32, i16, i32, i1)
declare <8 x i32> @llvm.genx.oword.ld.unaligned.v8i32(i32, i32, i32)
declare <8 x i32> @llvm.genx.rdregioni.v8i32.v40i32.i16(<40 x i32>, i32, i32, i32, i16, i32)
declare <8 x i32> @llvm.genx.wrregioni.v8i32.i32.i16.i1(<8 x i32>, i32, i32, i32, i32, i16, i32, i1)
declare i16 @llvm.genx.rdregioni.i16.v8i16.i16(<8 x i16>, i32, i32, i32, i16, i32)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare i32 @llvm.genx.fbl.i32(i32)
declare i32 @llvm.genx.rdregioni.i32.v40i32.i16(<40 x i32>, i32, i32, i32, i16, i32)
declare i32 @llvm.genx.smin.i32.i32(i32, i32)
declare void @llvm.genx.oword.st.v32i32(i32, i32, <32 x i32>)

attributes #0 = { "VCFunction" }
