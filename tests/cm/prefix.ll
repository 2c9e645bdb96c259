; Prefix sums of rows of 32 integers, of the elements above zero, with a carry from row to row.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @prefix(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1, i32 %p2) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  br label %loop1
loop1:
  %x0 = phi i32 [ 0, %entry ], [ %x32, %loop1 ]
  %x1 = phi i32 [ %p2, %entry ], [ %x30, %loop1 ]
  %x2 = phi i32 [ 0, %entry ], [ %x33, %loop1 ]
  %x3 = call <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32 0, i32 %a0, i32 %x0)
  %x4 = icmp sgt <32 x i32> %x3, zeroinitializer
  %x5 = select <32 x i1> %x4, <32 x i32> %x3, <32 x i32> zeroinitializer
  %x6 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x5, i32 2, i32 1, i32 0, i16 4, i32 undef)
  %x7 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x5, i32 2, i32 1, i32 0, i16 0, i32 undef)
  %x8 = add <16 x i32> %x6, %x7
  %x9 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x5, <16 x i32> %x8, i32 2, i32 1, i32 0, i16 4, i32 undef, i1 true)
  %x10 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x9, i32 4, i32 2, i32 1, i16 8, i32 undef)
  %x11 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x9, i32 4, i32 2, i32 0, i16 4, i32 undef)
  %x12 = add <16 x i32> %x10, %x11
  %x13 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x9, <16 x i32> %x12, i32 4, i32 2, i32 1, i16 8, i32 undef, i1 true)
  %x14 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x13, i32 8, i32 4, i32 1, i16 16, i32 undef)
  %x15 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x13, i32 8, i32 4, i32 0, i16 12, i32 undef)
  %x16 = add <16 x i32> %x14, %x15
  %x17 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x13, <16 x i32> %x16, i32 8, i32 4, i32 1, i16 16, i32 undef, i1 true)
  %x18 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x17, i32 16, i32 8, i32 1, i16 32, i32 undef)
  %x19 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x17, i32 16, i32 8, i32 0, i16 28, i32 undef)
  %x20 = add <16 x i32> %x18, %x19
  %x21 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x17, <16 x i32> %x20, i32 16, i32 8, i32 1, i16 32, i32 undef, i1 true)
  %x22 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x21, i32 16, i32 16, i32 1, i16 64, i32 undef)
  %x23 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x21, i32 0, i32 1, i32 0, i16 60, i32 undef)
  %x24 = add <16 x i32> %x22, %x23
  %x25 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x21, <16 x i32> %x24, i32 16, i32 16, i32 1, i16 64, i32 undef, i1 true)
  %x26 = insertelement <32 x i32> undef, i32 %x2, i32 0
  %x27 = shufflevector <32 x i32> %x26, <32 x i32> undef, <32 x i32> zeroinitializer
  %x28 = add <32 x i32> %x25, %x27
  %x29 = lshr i32 %x0, 4
  call void @llvm.genx.oword.st.v32i32(i32 %a1, i32 %x29, <32 x i32> %x28)
  %x30 = sub i32 %x1, 1
  %x31 = icmp ne i32 %x30, 0
  %x32 = add i32 %x0, 128
  %x33 = extractelement <32 x i32> %x28, i32 31
  br i1 %x31, label %loop1, label %done1
done1:
  ret void
}

declare <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32>, i32, i32, i32, i16, i32)
declare <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32, i32, i32)
declare <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32>, <16 x i32>, i32, i32, i32, i16, i32, i1)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v32i32(i32, i32, <32 x i32>)

attributes #0 = { "VCFunction" }
