; Sobel gradients of a tile of 8 rows of 16 bytes: sums of absolute differences, saturated to bytes.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @sobel(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %x0 = call <128 x i8> @llvm.genx.oword.ld.unaligned.v128i8(i32 0, i32 %a0, i32 0)
  %x1 = zext <128 x i8> %x0 to <128 x i16>
  %x2 = call <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16> %x1, i32 16, i32 14, i32 1, i16 4, i32 undef)
  %x3 = call <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16> %x1, i32 16, i32 14, i32 1, i16 0, i32 undef)
  %x4 = sub <84 x i16> %x2, %x3
  %x5 = call <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16> %x1, i32 16, i32 14, i32 1, i16 36, i32 undef)
  %x6 = call <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16> %x1, i32 16, i32 14, i32 1, i16 32, i32 undef)
  %x7 = sub <84 x i16> %x5, %x6
  %x8 = shl <84 x i16> %x7, <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1>
  %x9 = add <84 x i16> %x4, %x8
  %x10 = call <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16> %x1, i32 16, i32 14, i32 1, i16 68, i32 undef)
  %x11 = call <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16> %x1, i32 16, i32 14, i32 1, i16 64, i32 undef)
  %x12 = sub <84 x i16> %x10, %x11
  %x13 = add <84 x i16> %x9, %x12
  %x14 = call <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16> %x1, i32 16, i32 14, i32 1, i16 64, i32 undef)
  %x15 = call <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16> %x1, i32 16, i32 14, i32 1, i16 0, i32 undef)
  %x16 = sub <84 x i16> %x14, %x15
  %x17 = call <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16> %x1, i32 16, i32 14, i32 1, i16 66, i32 undef)
  %x18 = call <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16> %x1, i32 16, i32 14, i32 1, i16 2, i32 undef)
  %x19 = sub <84 x i16> %x17, %x18
  %x20 = shl <84 x i16> %x19, <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1>
  %x21 = add <84 x i16> %x16, %x20
  %x22 = call <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16> %x1, i32 16, i32 14, i32 1, i16 68, i32 undef)
  %x23 = call <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16> %x1, i32 16, i32 14, i32 1, i16 4, i32 undef)
  %x24 = sub <84 x i16> %x22, %x23
  %x25 = add <84 x i16> %x21, %x24
  %x26 = call <84 x i16> @llvm.genx.absi.v84i16(<84 x i16> %x13)
  %x27 = call <84 x i16> @llvm.genx.absi.v84i16(<84 x i16> %x25)
  %x28 = add <84 x i16> %x26, %x27
  %x29 = call <84 x i8> @llvm.genx.uutrunc.sat.v84i8.v84i16(<84 x i16> %x28)
  %x30 = call <96 x i8> @llvm.genx.wrregioni.v96i8.v84i8.i16.i1(<96 x i8> zeroinitializer, <84 x i8> %x29, i32 16, i32 14, i32 1, i16 0, i32 undef, i1 true)
  %x31 = call <64 x i8> @llvm.genx.rdregioni.v64i8.v96i8.i16(<96 x i8> %x30, i32 64, i32 64, i32 1, i16 0, i32 undef)
  call void @llvm.genx.oword.st.v64i8(i32 %a1, i32 0, <64 x i8> %x31)
  %x32 = call <32 x i8> @llvm.genx.rdregioni.v32i8.v96i8.i16(<96 x i8> %x30, i32 32, i32 32, i32 1, i16 64, i32 undef)
  call void @llvm.genx.oword.st.v32i8(i32 %a1, i32 4, <32 x i8> %x32)
  ret void
}

declare <128 x i8> @llvm.genx.oword.ld.unaligned.v128i8(i32, i32, i32)
declare <32 x i8> @llvm.genx.rdregioni.v32i8.v96i8.i16(<96 x i8>, i32, i32, i32, i16, i32)
declare <64 x i8> @llvm.genx.rdregioni.v64i8.v96i8.i16(<96 x i8>, i32, i32, i32, i16, i32)
declare <84 x i16> @llvm.genx.absi.v84i16(<84 x i16>)
declare <84 x i16> @llvm.genx.rdregioni.v84i16.v128i16.i16(<128 x i16>, i32, i32, i32, i16, i32)
declare <84 x i8> @llvm.genx.uutrunc.sat.v84i8.v84i16(<84 x i16>)
declare <96 x i8> @llvm.genx.wrregioni.v96i8.v84i8.i16.i1(<96 x i8>, <84 x i8>, i32, i32, i32, i16, i32, i1)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v32i8(i32, i32, <32 x i8>)
declare void @llvm.genx.oword.st.v64i8(i32, i32, <64 x i8>)

attributes #0 = { "VCFunction" }
