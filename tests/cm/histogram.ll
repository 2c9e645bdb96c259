; Histogram of bytes in 64 bins that stay in registers: rows of 32 pixels, a bin by its index.
target datalayout = "e-p:64:64-i64:64-n8:16:32:64"
target triple = "spir64"

%intel.buffer_rw_t = type opaque

define dllexport spir_kernel void @histogram(%intel.buffer_rw_t addrspace(1)* %p0, %intel.buffer_rw_t addrspace(1)* %p1, i32 %p2) #0 {
entry:
  %a0 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p0)
  %a1 = call i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)* %p1)
  br label %loop1
loop1:
  %x0 = phi i32 [ 0, %entry ], [ %x135, %loop1 ]
  %x1 = phi i32 [ %p2, %entry ], [ %x136, %loop1 ]
  %x2 = phi <64 x i32> [ zeroinitializer, %entry ], [ %x134, %loop1 ]
  %x3 = call <32 x i8> @llvm.genx.oword.ld.unaligned.v32i8(i32 0, i32 %a0, i32 %x0)
  %x4 = lshr <32 x i8> %x3, <i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2, i8 2>
  %x5 = zext <32 x i8> %x4 to <32 x i16>
  %x6 = shl <32 x i16> %x5, <i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2, i16 2>
  %x7 = extractelement <32 x i16> %x6, i32 0
  %x8 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x2, i32 1, i32 1, i32 1, i16 %x7, i32 undef)
  %x9 = add i32 %x8, 1
  %x10 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x2, i32 %x9, i32 1, i32 1, i32 1, i16 %x7, i32 undef, i1 true)
  %x11 = extractelement <32 x i16> %x6, i32 1
  %x12 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x10, i32 1, i32 1, i32 1, i16 %x11, i32 undef)
  %x13 = add i32 %x12, 1
  %x14 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x10, i32 %x13, i32 1, i32 1, i32 1, i16 %x11, i32 undef, i1 true)
  %x15 = extractelement <32 x i16> %x6, i32 2
  %x16 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x14, i32 1, i32 1, i32 1, i16 %x15, i32 undef)
  %x17 = add i32 %x16, 1
  %x18 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x14, i32 %x17, i32 1, i32 1, i32 1, i16 %x15, i32 undef, i1 true)
  %x19 = extractelement <32 x i16> %x6, i32 3
  %x20 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x18, i32 1, i32 1, i32 1, i16 %x19, i32 undef)
  %x21 = add i32 %x20, 1
  %x22 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x18, i32 %x21, i32 1, i32 1, i32 1, i16 %x19, i32 undef, i1 true)
  %x23 = extractelement <32 x i16> %x6, i32 4
  %x24 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x22, i32 1, i32 1, i32 1, i16 %x23, i32 undef)
  %x25 = add i32 %x24, 1
  %x26 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x22, i32 %x25, i32 1, i32 1, i32 1, i16 %x23, i32 undef, i1 true)
  %x27 = extractelement <32 x i16> %x6, i32 5
  %x28 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x26, i32 1, i32 1, i32 1, i16 %x27, i32 undef)
  %x29 = add i32 %x28, 1
  %x30 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x26, i32 %x29, i32 1, i32 1, i32 1, i16 %x27, i32 undef, i1 true)
  %x31 = extractelement <32 x i16> %x6, i32 6
  %x32 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x30, i32 1, i32 1, i32 1, i16 %x31, i32 undef)
  %x33 = add i32 %x32, 1
  %x34 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x30, i32 %x33, i32 1, i32 1, i32 1, i16 %x31, i32 undef, i1 true)
  %x35 = extractelement <32 x i16> %x6, i32 7
  %x36 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x34, i32 1, i32 1, i32 1, i16 %x35, i32 undef)
  %x37 = add i32 %x36, 1
  %x38 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x34, i32 %x37, i32 1, i32 1, i32 1, i16 %x35, i32 undef, i1 true)
  %x39 = extractelement <32 x i16> %x6, i32 8
  %x40 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x38, i32 1, i32 1, i32 1, i16 %x39, i32 undef)
  %x41 = add i32 %x40, 1
  %x42 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x38, i32 %x41, i32 1, i32 1, i32 1, i16 %x39, i32 undef, i1 true)
  %x43 = extractelement <32 x i16> %x6, i32 9
  %x44 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x42, i32 1, i32 1, i32 1, i16 %x43, i32 undef)
  %x45 = add i32 %x44, 1
  %x46 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x42, i32 %x45, i32 1, i32 1, i32 1, i16 %x43, i32 undef, i1 true)
  %x47 = extractelement <32 x i16> %x6, i32 10
  %x48 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x46, i32 1, i32 1, i32 1, i16 %x47, i32 undef)
  %x49 = add i32 %x48, 1
  %x50 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x46, i32 %x49, i32 1, i32 1, i32 1, i16 %x47, i32 undef, i1 true)
  %x51 = extractelement <32 x i16> %x6, i32 11
  %x52 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x50, i32 1, i32 1, i32 1, i16 %x51, i32 undef)
  %x53 = add i32 %x52, 1
  %x54 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x50, i32 %x53, i32 1, i32 1, i32 1, i16 %x51, i32 undef, i1 true)
  %x55 = extractelement <32 x i16> %x6, i32 12
  %x56 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x54, i32 1, i32 1, i32 1, i16 %x55, i32 undef)
  %x57 = add i32 %x56, 1
  %x58 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x54, i32 %x57, i32 1, i32 1, i32 1, i16 %x55, i32 undef, i1 true)
  %x59 = extractelement <32 x i16> %x6, i32 13
  %x60 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x58, i32 1, i32 1, i32 1, i16 %x59, i32 undef)
  %x61 = add i32 %x60, 1
  %x62 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x58, i32 %x61, i32 1, i32 1, i32 1, i16 %x59, i32 undef, i1 true)
  %x63 = extractelement <32 x i16> %x6, i32 14
  %x64 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x62, i32 1, i32 1, i32 1, i16 %x63, i32 undef)
  %x65 = add i32 %x64, 1
  %x66 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x62, i32 %x65, i32 1, i32 1, i32 1, i16 %x63, i32 undef, i1 true)
  %x67 = extractelement <32 x i16> %x6, i32 15
  %x68 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x66, i32 1, i32 1, i32 1, i16 %x67, i32 undef)
  %x69 = add i32 %x68, 1
  %x70 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x66, i32 %x69, i32 1, i32 1, i32 1, i16 %x67, i32 undef, i1 true)
  %x71 = extractelement <32 x i16> %x6, i32 16
  %x72 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x70, i32 1, i32 1, i32 1, i16 %x71, i32 undef)
  %x73 = add i32 %x72, 1
  %x74 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x70, i32 %x73, i32 1, i32 1, i32 1, i16 %x71, i32 undef, i1 true)
  %x75 = extractelement <32 x i16> %x6, i32 17
  %x76 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x74, i32 1, i32 1, i32 1, i16 %x75, i32 undef)
  %x77 = add i32 %x76, 1
  %x78 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x74, i32 %x77, i32 1, i32 1, i32 1, i16 %x75, i32 undef, i1 true)
  %x79 = extractelement <32 x i16> %x6, i32 18
  %x80 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x78, i32 1, i32 1, i32 1, i16 %x79, i32 undef)
  %x81 = add i32 %x80, 1
  %x82 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x78, i32 %x81, i32 1, i32 1, i32 1, i16 %x79, i32 undef, i1 true)
  %x83 = extractelement <32 x i16> %x6, i32 19
  %x84 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x82, i32 1, i32 1, i32 1, i16 %x83, i32 undef)
  %x85 = add i32 %x84, 1
  %x86 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x82, i32 %x85, i32 1, i32 1, i32 1, i16 %x83, i32 undef, i1 true)
  %x87 = extractelement <32 x i16> %x6, i32 20
  %x88 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x86, i32 1, i32 1, i32 1, i16 %x87, i32 undef)
  %x89 = add i32 %x88, 1
  %x90 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x86, i32 %x89, i32 1, i32 1, i32 1, i16 %x87, i32 undef, i1 true)
  %x91 = extractelement <32 x i16> %x6, i32 21
  %x92 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x90, i32 1, i32 1, i32 1, i16 %x91, i32 undef)
  %x93 = add i32 %x92, 1
  %x94 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x90, i32 %x93, i32 1, i32 1, i32 1, i16 %x91, i32 undef, i1 true)
  %x95 = extractelement <32 x i16> %x6, i32 22
  %x96 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x94, i32 1, i32 1, i32 1, i16 %x95, i32 undef)
  %x97 = add i32 %x96, 1
  %x98 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x94, i32 %x97, i32 1, i32 1, i32 1, i16 %x95, i32 undef, i1 true)
  %x99 = extractelement <32 x i16> %x6, i32 23
  %x100 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x98, i32 1, i32 1, i32 1, i16 %x99, i32 undef)
  %x101 = add i32 %x100, 1
  %x102 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x98, i32 %x101, i32 1, i32 1, i32 1, i16 %x99, i32 undef, i1 true)
  %x103 = extractelement <32 x i16> %x6, i32 24
  %x104 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x102, i32 1, i32 1, i32 1, i16 %x103, i32 undef)
  %x105 = add i32 %x104, 1
  %x106 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x102, i32 %x105, i32 1, i32 1, i32 1, i16 %x103, i32 undef, i1 true)
  %x107 = extractelement <32 x i16> %x6, i32 25
  %x108 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x106, i32 1, i32 1, i32 1, i16 %x107, i32 undef)
  %x109 = add i32 %x108, 1
  %x110 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x106, i32 %x109, i32 1, i32 1, i32 1, i16 %x107, i32 undef, i1 true)
  %x111 = extractelement <32 x i16> %x6, i32 26
  %x112 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x110, i32 1, i32 1, i32 1, i16 %x111, i32 undef)
  %x113 = add i32 %x112, 1
  %x114 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x110, i32 %x113, i32 1, i32 1, i32 1, i16 %x111, i32 undef, i1 true)
  %x115 = extractelement <32 x i16> %x6, i32 27
  %x116 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x114, i32 1, i32 1, i32 1, i16 %x115, i32 undef)
  %x117 = add i32 %x116, 1
  %x118 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x114, i32 %x117, i32 1, i32 1, i32 1, i16 %x115, i32 undef, i1 true)
  %x119 = extractelement <32 x i16> %x6, i32 28
  %x120 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x118, i32 1, i32 1, i32 1, i16 %x119, i32 undef)
  %x121 = add i32 %x120, 1
  %x122 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x118, i32 %x121, i32 1, i32 1, i32 1, i16 %x119, i32 undef, i1 true)
  %x123 = extractelement <32 x i16> %x6, i32 29
  %x124 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x122, i32 1, i32 1, i32 1, i16 %x123, i32 undef)
  %x125 = add i32 %x124, 1
  %x126 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x122, i32 %x125, i32 1, i32 1, i32 1, i16 %x123, i32 undef, i1 true)
  %x127 = extractelement <32 x i16> %x6, i32 30
  %x128 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x126, i32 1, i32 1, i32 1, i16 %x127, i32 undef)
  %x129 = add i32 %x128, 1
  %x130 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x126, i32 %x129, i32 1, i32 1, i32 1, i16 %x127, i32 undef, i1 true)
  %x131 = extractelement <32 x i16> %x6, i32 31
  %x132 = call i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32> %x130, i32 1, i32 1, i32 1, i16 %x131, i32 undef)
  %x133 = add i32 %x132, 1
  %x134 = call <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32> %x130, i32 %x133, i32 1, i32 1, i32 1, i16 %x131, i32 undef, i1 true)
  %x135 = add i32 %x0, 32
  %x136 = sub i32 %x1, 1
  %x137 = icmp ne i32 %x136, 0
  br i1 %x137, label %loop1, label %done1
done1:
  %x138 = call <32 x i32> @llvm.genx.rdregioni.v32i32.v64i32.i16(<64 x i32> %x134, i32 32, i32 32, i32 1, i16 0, i32 undef)
  call void @llvm.genx.oword.st.v32i32(i32 %a1, i32 0, <32 x i32> %x138)
  %x139 = call <32 x i32> @llvm.genx.rdregioni.v32i32.v64i32.i16(<64 x i32> %x134, i32 32, i32 32, i32 1, i16 128, i32 undef)
  call void @llvm.genx.oword.st.v32i32(i32 %a1, i32 8, <32 x i32> %x139)
  ret void
}

declare <32 x i32> @llvm.genx.rdregioni.v32i32.v64i32.i16(<64 x i32>, i32, i32, i32, i16, i32)
declare <32 x i8> @llvm.genx.oword.ld.unaligned.v32i8(i32, i32, i32)
declare <64 x i32> @llvm.genx.wrregioni.v64i32.i32.i16.i1(<64 x i32>, i32, i32, i32, i32, i16, i32, i1)
declare i32 @llvm.genx.address.convert.i32.p1intel.buffer_rw_t(%intel.buffer_rw_t addrspace(1)*)
declare i32 @llvm.genx.rdregioni.i32.v64i32.i16(<64 x i32>, i32, i32, i32, i16, i32)
declare void @llvm.genx.oword.st.v32i32(i32, i32, <32 x i32>)

attributes #0 = { "VCFunction" }
