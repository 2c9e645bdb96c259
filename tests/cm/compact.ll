; Compaction of 16 integers: those above zero to the front, by a mask of bits, the first set bit, and an indexed write.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @compact(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1, %intel.buffer_rw_t addrspace(1)* %p2) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %a2 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p2)
  %x0 = call <16 x i32> @llvm.genx.oword.ld.unaligned.v16i32(i32 0, i32 %a0, i32 0)
  %x1 = icmp sgt <16 x i32> %x0, zeroinitializer
  %x2 = bitcast <16 x i1> %x1 to i16
  %x3 = zext i16 %x2 to i32
  %x4 = or i32 %x3, 65536
  br label %loop1
loop1:
  %x5 = phi i32 [ %x4, %entry ], [ %x15, %loop1 ]
  %x6 = phi i16 [ 0, %entry ], [ %x16, %loop1 ]
  %x7 = phi <32 x i32> [ zeroinitializer, %entry ], [ %x13, %loop1 ]
  %x8 = call i32 @llvm.genx.fbl.i32(i32 %x5)
  %x9 = trunc i32 %x8 to i16
  %x10 = and i16 %x9, 15
  %x11 = shl i16 %x10, 2
  %x12 = call i32 @llvm.genx.rdregioni.i32.v16i32.i16(<16 x i32> %x0, i32 1, i32 1, i32 1, i16 %x11, i32 undef)
  %x13 = call <32 x i32> @llvm.genx.wrregioni.v32i32.i32.i16.i1(<32 x i32> %x7, i32 %x12, i32 1, i32 1, i32 1, i16 %x6, i32 undef, i1 true)
  %x14 = sub i32 %x5, 1
  %x15 = and i32 %x5, %x14
  %x16 = add i16 %x6, 4
  %x17 = icmp ne i32 %x15, 0
  br i1 %x17, label %loop1, label %done1
done1:
  %x18 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x13, i32 16, i32 16, i32 1, i16 0, i32 undef)
  call void @llvm.genx.oword.st.v16i32(i32 %a1, i32 0, <16 x i32> %x18)
  %x19 = insertelement <4 x i16> undef, i16 %x6, i32 0
  %x20 = shufflevector <4 x i16> %x19, <4 x i16> undef, <4 x i32> zeroinitializer
  %x21 = zext <4 x i16> %x20 to <4 x i32>
  call void @llvm.genx.oword.st.v4i32(i32 %a2, i32 0, <4 x i32> %x21)
  ret void
}

declare <16 x i32> @llvm.genx.oword.ld.unaligned.v16i32(i32, i32, i32)
declare <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32>, i32, i32, i32, i16, i32)
declare <32 x i32> @llvm.genx.wrregioni.v32i32.i32.i16.i1(<32 x i32>, i32, i32, i32, i32, i16, i32, i1)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare i32 @llvm.genx.fbl.i32(i32)
declare i32 @llvm.genx.rdregioni.i32.v16i32.i16(<16 x i32>, i32, i32, i32, i16, i32)
declare void @llvm.genx.oword.st.v16i32(i32, i32, <16 x i32>)
declare void @llvm.genx.oword.st.v4i32(i32, i32, <4 x i32>)

attributes #0 = { "VCFunction" }
