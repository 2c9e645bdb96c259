; Upscale by 2 of 4 rows of 16 bytes: bytes read twice by regions of stride 0, means with the neighbour between.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @upscale(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %x0 = call <64 x i8> @llvm.genx.oword.ld.unaligned.v64i8(i32 0, i32 %a0, i32 0)
  %x1 = call <80 x i8> @llvm.genx.wrregioni.v80i8.v64i8.i16.i1(<80 x i8> undef, <64 x i8> %x0, i32 64, i32 64, i32 1, i16 0, i32 undef, i1 true)
  %x2 = call <16 x i8> @llvm.genx.oword.ld.unaligned.v16i8(i32 0, i32 %a0, i32 64)
  %x3 = call <80 x i8> @llvm.genx.wrregioni.v80i8.v16i8.i16.i1(<80 x i8> %x1, <16 x i8> %x2, i32 16, i32 16, i32 1, i16 64, i32 undef, i1 true)
  %x4 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v80i8.i16(<80 x i8> %x3, i32 16, i32 16, i32 1, i16 0, i32 undef)
  %x5 = zext <16 x i8> %x4 to <16 x i16>
  %x6 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v80i8.i16(<80 x i8> %x3, i32 16, i32 16, i32 1, i16 16, i32 undef)
  %x7 = zext <16 x i8> %x6 to <16 x i16>
  %x8 = call <32 x i8> @llvm.genx.rdregioni.v32i8.v80i8.i16(<80 x i8> %x3, i32 1, i32 2, i32 0, i16 0, i32 undef)
  %x9 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v32i8.i16.i1(<256 x i8> undef, <32 x i8> %x8, i32 32, i32 32, i32 1, i16 0, i32 undef, i1 true)
  %x10 = add <16 x i16> %x5, %x7
  %x11 = add <16 x i16> %x10, <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1>
  %x12 = lshr <16 x i16> %x11, <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1>
  %x13 = trunc <16 x i16> %x12 to <16 x i8>
  %x14 = call <32 x i8> @llvm.genx.rdregioni.v32i8.v16i8.i16(<16 x i8> %x13, i32 1, i32 2, i32 0, i16 0, i32 undef)
  %x15 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v32i8.i16.i1(<256 x i8> %x9, <32 x i8> %x14, i32 32, i32 32, i32 1, i16 32, i32 undef, i1 true)
  %x16 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v80i8.i16(<80 x i8> %x3, i32 16, i32 16, i32 1, i16 16, i32 undef)
  %x17 = zext <16 x i8> %x16 to <16 x i16>
  %x18 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v80i8.i16(<80 x i8> %x3, i32 16, i32 16, i32 1, i16 32, i32 undef)
  %x19 = zext <16 x i8> %x18 to <16 x i16>
  %x20 = call <32 x i8> @llvm.genx.rdregioni.v32i8.v80i8.i16(<80 x i8> %x3, i32 1, i32 2, i32 0, i16 16, i32 undef)
  %x21 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v32i8.i16.i1(<256 x i8> %x15, <32 x i8> %x20, i32 32, i32 32, i32 1, i16 64, i32 undef, i1 true)
  %x22 = add <16 x i16> %x17, %x19
  %x23 = add <16 x i16> %x22, <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1>
  %x24 = lshr <16 x i16> %x23, <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1>
  %x25 = trunc <16 x i16> %x24 to <16 x i8>
  %x26 = call <32 x i8> @llvm.genx.rdregioni.v32i8.v16i8.i16(<16 x i8> %x25, i32 1, i32 2, i32 0, i16 0, i32 undef)
  %x27 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v32i8.i16.i1(<256 x i8> %x21, <32 x i8> %x26, i32 32, i32 32, i32 1, i16 96, i32 undef, i1 true)
  %x28 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v80i8.i16(<80 x i8> %x3, i32 16, i32 16, i32 1, i16 32, i32 undef)
  %x29 = zext <16 x i8> %x28 to <16 x i16>
  %x30 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v80i8.i16(<80 x i8> %x3, i32 16, i32 16, i32 1, i16 48, i32 undef)
  %x31 = zext <16 x i8> %x30 to <16 x i16>
  %x32 = call <32 x i8> @llvm.genx.rdregioni.v32i8.v80i8.i16(<80 x i8> %x3, i32 1, i32 2, i32 0, i16 32, i32 undef)
  %x33 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v32i8.i16.i1(<256 x i8> %x27, <32 x i8> %x32, i32 32, i32 32, i32 1, i16 128, i32 undef, i1 true)
  %x34 = add <16 x i16> %x29, %x31
  %x35 = add <16 x i16> %x34, <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1>
  %x36 = lshr <16 x i16> %x35, <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1>
  %x37 = trunc <16 x i16> %x36 to <16 x i8>
  %x38 = call <32 x i8> @llvm.genx.rdregioni.v32i8.v16i8.i16(<16 x i8> %x37, i32 1, i32 2, i32 0, i16 0, i32 undef)
  %x39 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v32i8.i16.i1(<256 x i8> %x33, <32 x i8> %x38, i32 32, i32 32, i32 1, i16 160, i32 undef, i1 true)
  %x40 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v80i8.i16(<80 x i8> %x3, i32 16, i32 16, i32 1, i16 48, i32 undef)
  %x41 = zext <16 x i8> %x40 to <16 x i16>
  %x42 = call <16 x i8> @llvm.genx.rdregioni.v16i8.v80i8.i16(<80 x i8> %x3, i32 16, i32 16, i32 1, i16 64, i32 undef)
  %x43 = zext <16 x i8> %x42 to <16 x i16>
  %x44 = call <32 x i8> @llvm.genx.rdregioni.v32i8.v80i8.i16(<80 x i8> %x3, i32 1, i32 2, i32 0, i16 48, i32 undef)
  %x45 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v32i8.i16.i1(<256 x i8> %x39, <32 x i8> %x44, i32 32, i32 32, i32 1, i16 192, i32 undef, i1 true)
  %x46 = add <16 x i16> %x41, %x43
  %x47 = add <16 x i16> %x46, <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1>
  %x48 = lshr <16 x i16> %x47, <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1>
  %x49 = trunc <16 x i16> %x48 to <16 x i8>
  %x50 = call <32 x i8> @llvm.genx.rdregioni.v32i8.v16i8.i16(<16 x i8> %x49, i32 1, i32 2, i32 0, i16 0, i32 undef)
  %x51 = call <256 x i8> @llvm.genx.wrregioni.v256i8.v32i8.i16.i1(<256 x i8> %x45, <32 x i8> %x50, i32 32, i32 32, i32 1, i16 224, i32 undef, i1 true)
  %x52 = call <128 x i8> @llvm.genx.rdregioni.v128i8.v256i8.i16(<256 x i8> %x51, i32 128, i32 128, i32 1, i16 0, i32 undef)
  call void @llvm.genx.oword.st.v128i8(i32 %a1, i32 0, <128 x i8> %x52)
  %x53 = call <128 x i8> @llvm.genx.rdregioni.v128i8.v256i8.i16(<256 x i8> %x51, i32 128, i32 128, i32 1, i16 128, i32 undef)
  call void @llvm.genx.oword.st.v128i8(i32 %a1, i32 8, <128 x i8> %x53)
  ret void
}

declare <128 x i8> @llvm.genx.rdregioni.v128i8.v256i8.i16(<256 x i8>, i32, i32, i32, i16, i32)
declare <16 x i8> @llvm.genx.oword.ld.unaligned.v16i8(i32, i32, i32)
declare <16 x i8> @llvm.genx.rdregioni.v16i8.v80i8.i16(<80 x i8>, i32, i32, i32, i16, i32)
declare <256 x i8> @llvm.genx.wrregioni.v256i8.v32i8.i16.i1(<256 x i8>, <32 x i8>, i32, i32, i32, i16, i32, i1)
declare <32 x i8> @llvm.genx.rdregioni.v32i8.v16i8.i16(<16 x i8>, i32, i32, i32, i16, i32)
declare <32 x i8> @llvm.genx.rdregioni.v32i8.v80i8.i16(<80 x i8>, i32, i32, i32, i16, i32)
declare <64 x i8> @llvm.genx.oword.ld.unaligned.v64i8(i32, i32, i32)
declare <80 x i8> @llvm.genx.wrregioni.v80i8.v16i8.i16.i1(<80 x i8>, <16 x i8>, i32, i32, i32, i16, i32, i1)
declare <80 x i8> @llvm.genx.wrregioni.v80i8.v64i8.i16.i1(<80 x i8>, <64 x i8>, i32, i32, i32, i16, i32, i1)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v128i8(i32, i32, <128 x i8>)

attributes #0 = { "VCFunction" }
