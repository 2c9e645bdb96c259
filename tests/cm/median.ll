; Median of 3 by 3 bytes over a tile of 6 rows of 16: 19 exchanges of whole regions.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @median(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %x0 = call <64 x i8> @llvm.genx.oword.ld.unaligned.v64i8(i32 0, i32 %a0, i32 0)
  %x1 = call <96 x i8> @llvm.genx.wrregioni.v96i8.v64i8.i16.i1(<96 x i8> undef, <64 x i8> %x0, i32 64, i32 64, i32 1, i16 0, i32 undef, i1 true)
  %x2 = call <32 x i8> @llvm.genx.oword.ld.unaligned.v32i8(i32 0, i32 %a0, i32 64)
  %x3 = call <96 x i8> @llvm.genx.wrregioni.v96i8.v32i8.i16.i1(<96 x i8> %x1, <32 x i8> %x2, i32 32, i32 32, i32 1, i16 64, i32 undef, i1 true)
  %x4 = call <56 x i8> @llvm.genx.rdregioni.v56i8.v96i8.i16(<96 x i8> %x3, i32 16, i32 14, i32 1, i16 0, i32 undef)
  %x5 = zext <56 x i8> %x4 to <56 x i16>
  %x6 = call <56 x i8> @llvm.genx.rdregioni.v56i8.v96i8.i16(<96 x i8> %x3, i32 16, i32 14, i32 1, i16 1, i32 undef)
  %x7 = zext <56 x i8> %x6 to <56 x i16>
  %x8 = call <56 x i8> @llvm.genx.rdregioni.v56i8.v96i8.i16(<96 x i8> %x3, i32 16, i32 14, i32 1, i16 2, i32 undef)
  %x9 = zext <56 x i8> %x8 to <56 x i16>
  %x10 = call <56 x i8> @llvm.genx.rdregioni.v56i8.v96i8.i16(<96 x i8> %x3, i32 16, i32 14, i32 1, i16 16, i32 undef)
  %x11 = zext <56 x i8> %x10 to <56 x i16>
  %x12 = call <56 x i8> @llvm.genx.rdregioni.v56i8.v96i8.i16(<96 x i8> %x3, i32 16, i32 14, i32 1, i16 17, i32 undef)
  %x13 = zext <56 x i8> %x12 to <56 x i16>
  %x14 = call <56 x i8> @llvm.genx.rdregioni.v56i8.v96i8.i16(<96 x i8> %x3, i32 16, i32 14, i32 1, i16 18, i32 undef)
  %x15 = zext <56 x i8> %x14 to <56 x i16>
  %x16 = call <56 x i8> @llvm.genx.rdregioni.v56i8.v96i8.i16(<96 x i8> %x3, i32 16, i32 14, i32 1, i16 32, i32 undef)
  %x17 = zext <56 x i8> %x16 to <56 x i16>
  %x18 = call <56 x i8> @llvm.genx.rdregioni.v56i8.v96i8.i16(<96 x i8> %x3, i32 16, i32 14, i32 1, i16 33, i32 undef)
  %x19 = zext <56 x i8> %x18 to <56 x i16>
  %x20 = call <56 x i8> @llvm.genx.rdregioni.v56i8.v96i8.i16(<96 x i8> %x3, i32 16, i32 14, i32 1, i16 34, i32 undef)
  %x21 = zext <56 x i8> %x20 to <56 x i16>
  %x22 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x7, <56 x i16> %x9)
  %x23 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x7, <56 x i16> %x9)
  %x24 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x13, <56 x i16> %x15)
  %x25 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x13, <56 x i16> %x15)
  %x26 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x19, <56 x i16> %x21)
  %x27 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x19, <56 x i16> %x21)
  %x28 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x5, <56 x i16> %x22)
  %x29 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x5, <56 x i16> %x22)
  %x30 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x11, <56 x i16> %x24)
  %x31 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x11, <56 x i16> %x24)
  %x32 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x17, <56 x i16> %x26)
  %x33 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x17, <56 x i16> %x26)
  %x34 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x29, <56 x i16> %x23)
  %x35 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x29, <56 x i16> %x23)
  %x36 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x31, <56 x i16> %x25)
  %x37 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x31, <56 x i16> %x25)
  %x38 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x33, <56 x i16> %x27)
  %x39 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x33, <56 x i16> %x27)
  %x40 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x28, <56 x i16> %x30)
  %x41 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x28, <56 x i16> %x30)
  %x42 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x37, <56 x i16> %x39)
  %x43 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x37, <56 x i16> %x39)
  %x44 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x36, <56 x i16> %x38)
  %x45 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x36, <56 x i16> %x38)
  %x46 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x41, <56 x i16> %x32)
  %x47 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x41, <56 x i16> %x32)
  %x48 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x34, <56 x i16> %x44)
  %x49 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x34, <56 x i16> %x44)
  %x50 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x35, <56 x i16> %x42)
  %x51 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x35, <56 x i16> %x42)
  %x52 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x49, <56 x i16> %x45)
  %x53 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x49, <56 x i16> %x45)
  %x54 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x52, <56 x i16> %x50)
  %x55 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x52, <56 x i16> %x50)
  %x56 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x47, <56 x i16> %x54)
  %x57 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x47, <56 x i16> %x54)
  %x58 = call <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16> %x57, <56 x i16> %x55)
  %x59 = call <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16> %x57, <56 x i16> %x55)
  %x60 = trunc <56 x i16> %x58 to <56 x i8>
  %x61 = call <64 x i8> @llvm.genx.wrregioni.v64i8.v56i8.i16.i1(<64 x i8> zeroinitializer, <56 x i8> %x60, i32 16, i32 14, i32 1, i16 0, i32 undef, i1 true)
  call void @llvm.genx.oword.st.v64i8(i32 %a1, i32 0, <64 x i8> %x61)
  ret void
}

declare <32 x i8> @llvm.genx.oword.ld.unaligned.v32i8(i32, i32, i32)
declare <56 x i16> @llvm.genx.umax.v56i16.v56i16(<56 x i16>, <56 x i16>)
declare <56 x i16> @llvm.genx.umin.v56i16.v56i16(<56 x i16>, <56 x i16>)
declare <56 x i8> @llvm.genx.rdregioni.v56i8.v96i8.i16(<96 x i8>, i32, i32, i32, i16, i32)
declare <64 x i8> @llvm.genx.oword.ld.unaligned.v64i8(i32, i32, i32)
declare <64 x i8> @llvm.genx.wrregioni.v64i8.v56i8.i16.i1(<64 x i8>, <56 x i8>, i32, i32, i32, i16, i32, i1)
declare <96 x i8> @llvm.genx.wrregioni.v96i8.v32i8.i16.i1(<96 x i8>, <32 x i8>, i32, i32, i32, i16, i32, i1)
declare <96 x i8> @llvm.genx.wrregioni.v96i8.v64i8.i16.i1(<96 x i8>, <64 x i8>, i32, i32, i32, i16, i32, i1)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v64i8(i32, i32, <64 x i8>)

attributes #0 = { "VCFunction" }
