; Grey of 32 RGBA pixels: (77 r + 150 g + 29 b) >> 8, each colour a region of stride 4.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @gray(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %x0 = call <128 x i8> @llvm.genx.oword.ld.unaligned.v128i8(i32 0, i32 %a0, i32 0)
  %x1 = call <32 x i8> @llvm.genx.rdregioni.v32i8.v128i8.i16(<128 x i8> %x0, i32 4, i32 1, i32 0, i16 0, i32 undef)
  %x2 = zext <32 x i8> %x1 to <32 x i16>
  %x3 = mul <32 x i16> %x2, <i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77, i16 77>
  %x4 = call <32 x i8> @llvm.genx.rdregioni.v32i8.v128i8.i16(<128 x i8> %x0, i32 4, i32 1, i32 0, i16 1, i32 undef)
  %x5 = zext <32 x i8> %x4 to <32 x i16>
  %x6 = mul <32 x i16> %x5, <i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150, i16 150>
  %x7 = add <32 x i16> %x3, %x6
  %x8 = call <32 x i8> @llvm.genx.rdregioni.v32i8.v128i8.i16(<128 x i8> %x0, i32 4, i32 1, i32 0, i16 2, i32 undef)
  %x9 = zext <32 x i8> %x8 to <32 x i16>
  %x10 = mul <32 x i16> %x9, <i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29, i16 29>
  %x11 = add <32 x i16> %x7, %x10
  %x12 = lshr <32 x i16> %x11, <i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8, i16 8>
  %x13 = trunc <32 x i16> %x12 to <32 x i8>
  call void @llvm.genx.oword.st.v32i8(i32 %a1, i32 0, <32 x i8> %x13)
  ret void
}

declare <128 x i8> @llvm.genx.oword.ld.unaligned.v128i8(i32, i32, i32)
declare <32 x i8> @llvm.genx.rdregioni.v32i8.v128i8.i16(<128 x i8>, i32, i32, i32, i16, i32)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v32i8(i32, i32, <32 x i8>)

attributes #0 = { "VCFunction" }
