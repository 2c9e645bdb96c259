; Bitonic sort of 32 integers in registers: compare and exchange by regions of two dimensions.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @bitonic(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  %x0 = call <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32 0, i32 %a0, i32 0)
  %x1 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x0, i32 2, i32 1, i32 1, i16 0, i32 undef)
  %x2 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x0, i32 2, i32 1, i32 1, i16 4, i32 undef)
  %x3 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x1, <16 x i32> %x2)
  %x4 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x1, <16 x i32> %x2)
  %x5 = icmp ne <16 x i16> <i16 1, i16 0, i16 1, i16 0, i16 1, i16 0, i16 1, i16 0, i16 1, i16 0, i16 1, i16 0, i16 1, i16 0, i16 1, i16 0>, zeroinitializer
  %x6 = select <16 x i1> %x5, <16 x i32> %x3, <16 x i32> %x4
  %x7 = select <16 x i1> %x5, <16 x i32> %x4, <16 x i32> %x3
  %x8 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x6, i32 2, i32 1, i32 1, i16 0, i32 undef, i1 true)
  %x9 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x8, <16 x i32> %x7, i32 2, i32 1, i32 1, i16 4, i32 undef, i1 true)
  %x10 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x9, i32 4, i32 2, i32 1, i16 0, i32 undef)
  %x11 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x9, i32 4, i32 2, i32 1, i16 8, i32 undef)
  %x12 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x10, <16 x i32> %x11)
  %x13 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x10, <16 x i32> %x11)
  %x14 = icmp ne <16 x i16> <i16 1, i16 1, i16 0, i16 0, i16 1, i16 1, i16 0, i16 0, i16 1, i16 1, i16 0, i16 0, i16 1, i16 1, i16 0, i16 0>, zeroinitializer
  %x15 = select <16 x i1> %x14, <16 x i32> %x12, <16 x i32> %x13
  %x16 = select <16 x i1> %x14, <16 x i32> %x13, <16 x i32> %x12
  %x17 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x15, i32 4, i32 2, i32 1, i16 0, i32 undef, i1 true)
  %x18 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x17, <16 x i32> %x16, i32 4, i32 2, i32 1, i16 8, i32 undef, i1 true)
  %x19 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x18, i32 2, i32 1, i32 1, i16 0, i32 undef)
  %x20 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x18, i32 2, i32 1, i32 1, i16 4, i32 undef)
  %x21 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x19, <16 x i32> %x20)
  %x22 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x19, <16 x i32> %x20)
  %x23 = icmp ne <16 x i16> <i16 1, i16 1, i16 0, i16 0, i16 1, i16 1, i16 0, i16 0, i16 1, i16 1, i16 0, i16 0, i16 1, i16 1, i16 0, i16 0>, zeroinitializer
  %x24 = select <16 x i1> %x23, <16 x i32> %x21, <16 x i32> %x22
  %x25 = select <16 x i1> %x23, <16 x i32> %x22, <16 x i32> %x21
  %x26 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x24, i32 2, i32 1, i32 1, i16 0, i32 undef, i1 true)
  %x27 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x26, <16 x i32> %x25, i32 2, i32 1, i32 1, i16 4, i32 undef, i1 true)
  %x28 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x27, i32 8, i32 4, i32 1, i16 0, i32 undef)
  %x29 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x27, i32 8, i32 4, i32 1, i16 16, i32 undef)
  %x30 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x28, <16 x i32> %x29)
  %x31 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x28, <16 x i32> %x29)
  %x32 = icmp ne <16 x i16> <i16 1, i16 1, i16 1, i16 1, i16 0, i16 0, i16 0, i16 0, i16 1, i16 1, i16 1, i16 1, i16 0, i16 0, i16 0, i16 0>, zeroinitializer
  %x33 = select <16 x i1> %x32, <16 x i32> %x30, <16 x i32> %x31
  %x34 = select <16 x i1> %x32, <16 x i32> %x31, <16 x i32> %x30
  %x35 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x33, i32 8, i32 4, i32 1, i16 0, i32 undef, i1 true)
  %x36 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x35, <16 x i32> %x34, i32 8, i32 4, i32 1, i16 16, i32 undef, i1 true)
  %x37 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x36, i32 4, i32 2, i32 1, i16 0, i32 undef)
  %x38 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x36, i32 4, i32 2, i32 1, i16 8, i32 undef)
  %x39 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x37, <16 x i32> %x38)
  %x40 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x37, <16 x i32> %x38)
  %x41 = icmp ne <16 x i16> <i16 1, i16 1, i16 1, i16 1, i16 0, i16 0, i16 0, i16 0, i16 1, i16 1, i16 1, i16 1, i16 0, i16 0, i16 0, i16 0>, zeroinitializer
  %x42 = select <16 x i1> %x41, <16 x i32> %x39, <16 x i32> %x40
  %x43 = select <16 x i1> %x41, <16 x i32> %x40, <16 x i32> %x39
  %x44 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x42, i32 4, i32 2, i32 1, i16 0, i32 undef, i1 true)
  %x45 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x44, <16 x i32> %x43, i32 4, i32 2, i32 1, i16 8, i32 undef, i1 true)
  %x46 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x45, i32 2, i32 1, i32 1, i16 0, i32 undef)
  %x47 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x45, i32 2, i32 1, i32 1, i16 4, i32 undef)
  %x48 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x46, <16 x i32> %x47)
  %x49 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x46, <16 x i32> %x47)
  %x50 = icmp ne <16 x i16> <i16 1, i16 1, i16 1, i16 1, i16 0, i16 0, i16 0, i16 0, i16 1, i16 1, i16 1, i16 1, i16 0, i16 0, i16 0, i16 0>, zeroinitializer
  %x51 = select <16 x i1> %x50, <16 x i32> %x48, <16 x i32> %x49
  %x52 = select <16 x i1> %x50, <16 x i32> %x49, <16 x i32> %x48
  %x53 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x51, i32 2, i32 1, i32 1, i16 0, i32 undef, i1 true)
  %x54 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x53, <16 x i32> %x52, i32 2, i32 1, i32 1, i16 4, i32 undef, i1 true)
  %x55 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x54, i32 16, i32 8, i32 1, i16 0, i32 undef)
  %x56 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x54, i32 16, i32 8, i32 1, i16 32, i32 undef)
  %x57 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x55, <16 x i32> %x56)
  %x58 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x55, <16 x i32> %x56)
  %x59 = icmp ne <16 x i16> <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, zeroinitializer
  %x60 = select <16 x i1> %x59, <16 x i32> %x57, <16 x i32> %x58
  %x61 = select <16 x i1> %x59, <16 x i32> %x58, <16 x i32> %x57
  %x62 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x60, i32 16, i32 8, i32 1, i16 0, i32 undef, i1 true)
  %x63 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x62, <16 x i32> %x61, i32 16, i32 8, i32 1, i16 32, i32 undef, i1 true)
  %x64 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x63, i32 8, i32 4, i32 1, i16 0, i32 undef)
  %x65 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x63, i32 8, i32 4, i32 1, i16 16, i32 undef)
  %x66 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x64, <16 x i32> %x65)
  %x67 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x64, <16 x i32> %x65)
  %x68 = icmp ne <16 x i16> <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, zeroinitializer
  %x69 = select <16 x i1> %x68, <16 x i32> %x66, <16 x i32> %x67
  %x70 = select <16 x i1> %x68, <16 x i32> %x67, <16 x i32> %x66
  %x71 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x69, i32 8, i32 4, i32 1, i16 0, i32 undef, i1 true)
  %x72 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x71, <16 x i32> %x70, i32 8, i32 4, i32 1, i16 16, i32 undef, i1 true)
  %x73 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x72, i32 4, i32 2, i32 1, i16 0, i32 undef)
  %x74 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x72, i32 4, i32 2, i32 1, i16 8, i32 undef)
  %x75 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x73, <16 x i32> %x74)
  %x76 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x73, <16 x i32> %x74)
  %x77 = icmp ne <16 x i16> <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, zeroinitializer
  %x78 = select <16 x i1> %x77, <16 x i32> %x75, <16 x i32> %x76
  %x79 = select <16 x i1> %x77, <16 x i32> %x76, <16 x i32> %x75
  %x80 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x78, i32 4, i32 2, i32 1, i16 0, i32 undef, i1 true)
  %x81 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x80, <16 x i32> %x79, i32 4, i32 2, i32 1, i16 8, i32 undef, i1 true)
  %x82 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x81, i32 2, i32 1, i32 1, i16 0, i32 undef)
  %x83 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x81, i32 2, i32 1, i32 1, i16 4, i32 undef)
  %x84 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x82, <16 x i32> %x83)
  %x85 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x82, <16 x i32> %x83)
  %x86 = icmp ne <16 x i16> <i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 1, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, zeroinitializer
  %x87 = select <16 x i1> %x86, <16 x i32> %x84, <16 x i32> %x85
  %x88 = select <16 x i1> %x86, <16 x i32> %x85, <16 x i32> %x84
  %x89 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x87, i32 2, i32 1, i32 1, i16 0, i32 undef, i1 true)
  %x90 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x89, <16 x i32> %x88, i32 2, i32 1, i32 1, i16 4, i32 undef, i1 true)
  %x91 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x90, i32 16, i32 16, i32 1, i16 0, i32 undef)
  %x92 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x90, i32 16, i32 16, i32 1, i16 64, i32 undef)
  %x93 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x91, <16 x i32> %x92)
  %x94 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x91, <16 x i32> %x92)
  %x95 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x93, i32 16, i32 16, i32 1, i16 0, i32 undef, i1 true)
  %x96 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x95, <16 x i32> %x94, i32 16, i32 16, i32 1, i16 64, i32 undef, i1 true)
  %x97 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x96, i32 16, i32 8, i32 1, i16 0, i32 undef)
  %x98 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x96, i32 16, i32 8, i32 1, i16 32, i32 undef)
  %x99 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x97, <16 x i32> %x98)
  %x100 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x97, <16 x i32> %x98)
  %x101 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x99, i32 16, i32 8, i32 1, i16 0, i32 undef, i1 true)
  %x102 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x101, <16 x i32> %x100, i32 16, i32 8, i32 1, i16 32, i32 undef, i1 true)
  %x103 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x102, i32 8, i32 4, i32 1, i16 0, i32 undef)
  %x104 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x102, i32 8, i32 4, i32 1, i16 16, i32 undef)
  %x105 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x103, <16 x i32> %x104)
  %x106 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x103, <16 x i32> %x104)
  %x107 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x105, i32 8, i32 4, i32 1, i16 0, i32 undef, i1 true)
  %x108 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x107, <16 x i32> %x106, i32 8, i32 4, i32 1, i16 16, i32 undef, i1 true)
  %x109 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x108, i32 4, i32 2, i32 1, i16 0, i32 undef)
  %x110 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x108, i32 4, i32 2, i32 1, i16 8, i32 undef)
  %x111 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x109, <16 x i32> %x110)
  %x112 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x109, <16 x i32> %x110)
  %x113 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x111, i32 4, i32 2, i32 1, i16 0, i32 undef, i1 true)
  %x114 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x113, <16 x i32> %x112, i32 4, i32 2, i32 1, i16 8, i32 undef, i1 true)
  %x115 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x114, i32 2, i32 1, i32 1, i16 0, i32 undef)
  %x116 = call <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32> %x114, i32 2, i32 1, i32 1, i16 4, i32 undef)
  %x117 = call <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32> %x115, <16 x i32> %x116)
  %x118 = call <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32> %x115, <16 x i32> %x116)
  %x119 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> undef, <16 x i32> %x117, i32 2, i32 1, i32 1, i16 0, i32 undef, i1 true)
  %x120 = call <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32> %x119, <16 x i32> %x118, i32 2, i32 1, i32 1, i16 4, i32 undef, i1 true)
  call void @llvm.genx.oword.st.v32i32(i32 %a1, i32 0, <32 x i32> %x120)
  ret void
}

declare <16 x i32> @llvm.genx.rdregioni.v16i32.v32i32.i16(<32 x i32>, i32, i32, i32, i16, i32)
declare <16 x i32> @llvm.genx.smax.v16i32.v16i32(<16 x i32>, <16 x i32>)
declare <16 x i32> @llvm.genx.smin.v16i32.v16i32(<16 x i32>, <16 x i32>)
declare <32 x i32> @llvm.genx.oword.ld.unaligned.v32i32(i32, i32, i32)
declare <32 x i32> @llvm.genx.wrregioni.v32i32.v16i32.i16.i1(<32 x i32>, <16 x i32>, i32, i32, i32, i16, i32, i1)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare void @llvm.genx.oword.st.v32i32(i32, i32, <32 x i32>)

attributes #0 = { "VCFunction" }
