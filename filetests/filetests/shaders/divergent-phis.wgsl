test compile precise-output
target skl

// Channels that skip the branches keep x and y: these need no copy, at no join.
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> r: array<i32>;

@compute @workgroup_size(64)
fn walk(@builtin(global_invocation_id) id: vec3<u32>) {
    let c = a[id.x];
    var x = a[id.x + 64u];
    var y = a[id.x + 128u];
    if c > 0 {
        if c > 5 {
            x = a[x & 63];
        } else if c > 3 {
            y = a[y & 63];
        }
    }
    r[id.x] = x;
    r[id.x + 64u] = y;
}

; expect: compile
; ; %walk
; L0:
; (W)     or (1|M0)                cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x4C0:uw              {Switch}
; (W)     shr (1|M0)               r3.0<1>:ud    r7.2<0;1,0>:ud    0x2:uw
; (W)     shr (1|M0)               r5.0<1>:ud    r7.6<0;1,0>:ud    0x2:uw
; (W)     mul (1|M0)               r3.1<1>:d     r0.1<0;1,0>:d     64:d
; (W)     add (16|M0)              r64.0<1>:d    r3.1<0;1,0>:d     r1.0<16;16,1>:uw
; (W)     add (16|M0)              r66.0<1>:d    r3.1<0;1,0>:d     r2.0<16;16,1>:uw
;          // filetests/filetests/shaders/divergent-phis.wgsl:10:13
; (W)     shl (16|M0)              r68.0<1>:d    r64.0<8;8,1>:d    0x2:uw
; (W)     shl (16|M0)              r70.0<1>:d    r66.0<8;8,1>:d    0x2:uw
; (W)     cmp (16|M0)   (lt)f0.0   null<1>:ud    r64.0<8;8,1>:ud   r3.0<0;1,0>:ud
; (W)     cmp (16|M16)  (lt)f0.0   null<1>:ud    r66.0<8;8,1>:ud   r3.0<0;1,0>:ud
; (W)     add (8|M0)               r8.0<1>:q     r7.0<0;1,0>:q     r68.0<8;8,1>:ud
; (W)     add (8|M0)               r10.0<1>:q    r7.0<0;1,0>:q     r69.0<8;8,1>:ud
; (W)     add (8|M0)               r12.0<1>:q    r7.0<0;1,0>:q     r70.0<8;8,1>:ud
; (W)     add (8|M0)               r14.0<1>:q    r7.0<0;1,0>:q     r71.0<8;8,1>:ud
; (W)     mov (1|M0)               r1.0<1>:d     0:d
; (W)     mov (16|M0)              r72.0<1>:d    r1.0<0;1,0>:d
; (W)     mov (16|M0)              r74.0<1>:d    r1.0<0;1,0>:d
; (f0.0)  send (16|M0)             r72      r8      0xC            0x082411FF           // wr:4+0, rd:2; hdc.dc1; a64 dword gathering read
; (f0.0)  send (16|M16)            r74      r12     0xC            0x082411FF           // wr:4+0, rd:2; hdc.dc1; a64 dword gathering read
;          // filetests/filetests/shaders/divergent-phis.wgsl:11:13
; (W)     mov (1|M0)               r1.0<1>:d     64:d
; (W)     add (16|M0)              r76.0<1>:d    r64.0<8;8,1>:d    r1.0<0;1,0>:d
; (W)     add (16|M0)              r78.0<1>:d    r66.0<8;8,1>:d    r1.0<0;1,0>:d
; (W)     shl (16|M0)              r80.0<1>:d    r76.0<8;8,1>:d    0x2:uw
; (W)     shl (16|M0)              r82.0<1>:d    r78.0<8;8,1>:d    0x2:uw
; (W)     cmp (16|M0)   (lt)f0.0   null<1>:ud    r76.0<8;8,1>:ud   r3.0<0;1,0>:ud
; (W)     cmp (16|M16)  (lt)f0.0   null<1>:ud    r78.0<8;8,1>:ud   r3.0<0;1,0>:ud
; (W)     add (8|M0)               r16.0<1>:q    r7.0<0;1,0>:q     r80.0<8;8,1>:ud
; (W)     add (8|M0)               r18.0<1>:q    r7.0<0;1,0>:q     r81.0<8;8,1>:ud
; (W)     add (8|M0)               r20.0<1>:q    r7.0<0;1,0>:q     r82.0<8;8,1>:ud
; (W)     add (8|M0)               r22.0<1>:q    r7.0<0;1,0>:q     r83.0<8;8,1>:ud
; (W)     mov (1|M0)               r1.0<1>:d     0:d
; (W)     mov (16|M0)              r84.0<1>:d    r1.0<0;1,0>:d
; (W)     mov (16|M0)              r86.0<1>:d    r1.0<0;1,0>:d
; (f0.0)  send (16|M0)             r84      r16     0xC            0x082411FF           // wr:4+0, rd:2; hdc.dc1; a64 dword gathering read
; (f0.0)  send (16|M16)            r86      r20     0xC            0x082411FF           // wr:4+0, rd:2; hdc.dc1; a64 dword gathering read
;          // filetests/filetests/shaders/divergent-phis.wgsl:12:13
; (W)     mov (1|M0)               r1.0<1>:d     128:d
; (W)     add (16|M0)              r88.0<1>:d    r64.0<8;8,1>:d    r1.0<0;1,0>:d
; (W)     add (16|M0)              r90.0<1>:d    r66.0<8;8,1>:d    r1.0<0;1,0>:d
; (W)     shl (16|M0)              r92.0<1>:d    r88.0<8;8,1>:d    0x2:uw
; (W)     shl (16|M0)              r94.0<1>:d    r90.0<8;8,1>:d    0x2:uw
; (W)     cmp (16|M0)   (lt)f0.0   null<1>:ud    r88.0<8;8,1>:ud   r3.0<0;1,0>:ud
; (W)     cmp (16|M16)  (lt)f0.0   null<1>:ud    r90.0<8;8,1>:ud   r3.0<0;1,0>:ud
; (W)     add (8|M0)               r24.0<1>:q    r7.0<0;1,0>:q     r92.0<8;8,1>:ud
; (W)     add (8|M0)               r26.0<1>:q    r7.0<0;1,0>:q     r93.0<8;8,1>:ud
; (W)     add (8|M0)               r28.0<1>:q    r7.0<0;1,0>:q     r94.0<8;8,1>:ud
; (W)     add (8|M0)               r30.0<1>:q    r7.0<0;1,0>:q     r95.0<8;8,1>:ud
; (W)     mov (1|M0)               r1.0<1>:d     0:d
; (W)     mov (16|M0)              r96.0<1>:d    r1.0<0;1,0>:d
; (W)     mov (16|M0)              r98.0<1>:d    r1.0<0;1,0>:d
; (f0.0)  send (16|M0)             r96      r24     0xC            0x082411FF           // wr:4+0, rd:2; hdc.dc1; a64 dword gathering read
; (f0.0)  send (16|M16)            r98      r28     0xC            0x082411FF           // wr:4+0, rd:2; hdc.dc1; a64 dword gathering read
;          // filetests/filetests/shaders/divergent-phis.wgsl:13:8
; (W)     mov (1|M0)               r1.0<1>:d     0:d
;          // filetests/filetests/shaders/divergent-phis.wgsl:13:5
; (W)     cmp (16|M0)   (gt)f0.0   null<1>:d     r72.0<8;8,1>:d    r1.0<0;1,0>:d
; (W)     cmp (16|M16)  (gt)f0.0   null<1>:d     r74.0<8;8,1>:d    r1.0<0;1,0>:d
; (f0.0)  if (32|M0)                           L1632                  L1632
; L880:
;          // filetests/filetests/shaders/divergent-phis.wgsl:14:12
; (W)     mov (1|M0)               r1.0<1>:d     5:d
;          // filetests/filetests/shaders/divergent-phis.wgsl:14:9
; (W)     cmp (16|M0)   (gt)f0.0   null<1>:d     r72.0<8;8,1>:d    r1.0<0;1,0>:d
; (W)     cmp (16|M16)  (gt)f0.0   null<1>:d     r74.0<8;8,1>:d    r1.0<0;1,0>:d
; (f0.0)  if (32|M0)                           L1248                  L1616
; L944:
;          // filetests/filetests/shaders/divergent-phis.wgsl:15:17
; (W)     mov (1|M0)               r1.0<1>:d     63:d
; (W)     and (16|M0)              r100.0<1>:d   r84.0<8;8,1>:d    r1.0<0;1,0>:d
; (W)     and (16|M0)              r102.0<1>:d   r86.0<8;8,1>:d    r1.0<0;1,0>:d
; (W)     shl (16|M0)              r104.0<1>:d   r100.0<8;8,1>:d   0x2:uw
; (W)     shl (16|M0)              r106.0<1>:d   r102.0<8;8,1>:d   0x2:uw
; (W)     cmp (16|M0)   (lt)f0.0   null<1>:ud    r100.0<8;8,1>:ud  r3.0<0;1,0>:ud
; (W)     cmp (16|M16)  (lt)f0.0   null<1>:ud    r102.0<8;8,1>:ud  r3.0<0;1,0>:ud
; (W)     add (8|M0)               r32.0<1>:q    r7.0<0;1,0>:q     r104.0<8;8,1>:ud
; (W)     add (8|M0)               r34.0<1>:q    r7.0<0;1,0>:q     r105.0<8;8,1>:ud
; (W)     add (8|M0)               r36.0<1>:q    r7.0<0;1,0>:q     r106.0<8;8,1>:ud
; (W)     add (8|M0)               r38.0<1>:q    r7.0<0;1,0>:q     r107.0<8;8,1>:ud
; (W)     mov (1|M0)               r1.0<1>:d     0:d
; (W)     mov (16|M0)              r108.0<1>:d   r1.0<0;1,0>:d
; (W)     mov (16|M0)              r110.0<1>:d   r1.0<0;1,0>:d
; (f0.0)  send (16|M0)             r108     r32     0xC            0x082411FF           // wr:4+0, rd:2; hdc.dc1; a64 dword gathering read
; (f0.0)  send (16|M16)            r110     r36     0xC            0x082411FF           // wr:4+0, rd:2; hdc.dc1; a64 dword gathering read
;          // filetests/filetests/shaders/divergent-phis.wgsl:15:13
;         mov (16|M0)              r84.0<1>:d    r108.0<8;8,1>:d
;         mov (16|M16)             r86.0<1>:d    r110.0<8;8,1>:d
;         else (32|M0)                         L1616                  L1616
; L1248:
;          // filetests/filetests/shaders/divergent-phis.wgsl:16:19
; (W)     mov (1|M0)               r1.0<1>:d     3:d
;          // filetests/filetests/shaders/divergent-phis.wgsl:16:11
; (W)     cmp (16|M0)   (gt)f0.0   null<1>:d     r72.0<8;8,1>:d    r1.0<0;1,0>:d
; (W)     cmp (16|M16)  (gt)f0.0   null<1>:d     r74.0<8;8,1>:d    r1.0<0;1,0>:d
; (f0.0)  if (32|M0)                           L1600                  L1600
; L1312:
;          // filetests/filetests/shaders/divergent-phis.wgsl:17:17
; (W)     mov (1|M0)               r1.0<1>:d     63:d
; (W)     and (16|M0)              r112.0<1>:d   r96.0<8;8,1>:d    r1.0<0;1,0>:d
; (W)     and (16|M0)              r114.0<1>:d   r98.0<8;8,1>:d    r1.0<0;1,0>:d
; (W)     shl (16|M0)              r116.0<1>:d   r112.0<8;8,1>:d   0x2:uw
; (W)     shl (16|M0)              r118.0<1>:d   r114.0<8;8,1>:d   0x2:uw
; (W)     cmp (16|M0)   (lt)f0.0   null<1>:ud    r112.0<8;8,1>:ud  r3.0<0;1,0>:ud
; (W)     cmp (16|M16)  (lt)f0.0   null<1>:ud    r114.0<8;8,1>:ud  r3.0<0;1,0>:ud
; (W)     add (8|M0)               r40.0<1>:q    r7.0<0;1,0>:q     r116.0<8;8,1>:ud
; (W)     add (8|M0)               r42.0<1>:q    r7.0<0;1,0>:q     r117.0<8;8,1>:ud
; (W)     add (8|M0)               r44.0<1>:q    r7.0<0;1,0>:q     r118.0<8;8,1>:ud
; (W)     add (8|M0)               r46.0<1>:q    r7.0<0;1,0>:q     r119.0<8;8,1>:ud
; (W)     mov (1|M0)               r1.0<1>:d     0:d
; (W)     mov (16|M0)              r120.0<1>:d   r1.0<0;1,0>:d
; (W)     mov (16|M0)              r122.0<1>:d   r1.0<0;1,0>:d
; (f0.0)  send (16|M0)             r120     r40     0xC            0x082411FF           // wr:4+0, rd:2; hdc.dc1; a64 dword gathering read
; (f0.0)  send (16|M16)            r122     r44     0xC            0x082411FF           // wr:4+0, rd:2; hdc.dc1; a64 dword gathering read
;          // filetests/filetests/shaders/divergent-phis.wgsl:17:13
;         mov (16|M0)              r96.0<1>:d    r120.0<8;8,1>:d
;         mov (16|M16)             r98.0<1>:d    r122.0<8;8,1>:d
; L1600:
;         endif (32|M0)                        L1616
; L1616:
;          // no source line
;         endif (32|M0)                        L1632
; L1632:
;         endif (32|M0)                        L1648
; L1648:
;          // filetests/filetests/shaders/divergent-phis.wgsl:20:5
; (W)     shl (16|M0)              r124.0<1>:d   r64.0<8;8,1>:d    0x2:uw
; (W)     shl (16|M0)              r126.0<1>:d   r66.0<8;8,1>:d    0x2:uw
; (W)     cmp (16|M0)   (lt)f0.0   null<1>:ud    r64.0<8;8,1>:ud   r5.0<0;1,0>:ud
; (W)     cmp (16|M16)  (lt)f0.0   null<1>:ud    r66.0<8;8,1>:ud   r5.0<0;1,0>:ud
; (W)     add (8|M0)               r48.0<1>:q    r7.2<0;1,0>:q     r124.0<8;8,1>:ud
; (W)     add (8|M0)               r50.0<1>:q    r7.2<0;1,0>:q     r125.0<8;8,1>:ud
; (W)     add (8|M0)               r52.0<1>:q    r7.2<0;1,0>:q     r126.0<8;8,1>:ud
; (W)     add (8|M0)               r54.0<1>:q    r7.2<0;1,0>:q     r127.0<8;8,1>:ud
; (f0.0)  sends (16|M0)            null:ud  r48     r84     0x8C            0x080691FF           // wr:4+2, rd:0; hdc.dc1; a64 dword scattering write
; (f0.0)  sends (16|M16)           null:ud  r52     r86     0x8C            0x080691FF           // wr:4+2, rd:0; hdc.dc1; a64 dword scattering write
;          // filetests/filetests/shaders/divergent-phis.wgsl:21:5
; (W)     mov (1|M0)               r5.1<1>:d     64:d
; (W)     add (16|M0)              r1.0<1>:d     r64.0<8;8,1>:d    r5.1<0;1,0>:d
; (W)     add (16|M0)              r3.0<1>:d     r66.0<8;8,1>:d    r5.1<0;1,0>:d
; (W)     shl (16|M0)              r8.0<1>:d     r1.0<8;8,1>:d     0x2:uw
; (W)     shl (16|M0)              r10.0<1>:d    r3.0<8;8,1>:d     0x2:uw
; (W)     cmp (16|M0)   (lt)f0.0   null<1>:ud    r1.0<8;8,1>:ud    r5.0<0;1,0>:ud
; (W)     cmp (16|M16)  (lt)f0.0   null<1>:ud    r3.0<8;8,1>:ud    r5.0<0;1,0>:ud
; (W)     add (8|M0)               r56.0<1>:q    r7.2<0;1,0>:q     r8.0<8;8,1>:ud
; (W)     add (8|M0)               r58.0<1>:q    r7.2<0;1,0>:q     r9.0<8;8,1>:ud
; (W)     add (8|M0)               r60.0<1>:q    r7.2<0;1,0>:q     r10.0<8;8,1>:ud
; (W)     add (8|M0)               r62.0<1>:q    r7.2<0;1,0>:q     r11.0<8;8,1>:ud
; (f0.0)  sends (16|M0)            null:ud  r56     r96     0x8C            0x080691FF           // wr:4+2, rd:0; hdc.dc1; a64 dword scattering write
; (f0.0)  sends (16|M16)           null:ud  r60     r98     0x8C            0x080691FF           // wr:4+2, rd:0; hdc.dc1; a64 dword scattering write
; (W)     mov (8|M0)               r112.0<1>:ud  r0.0<8;8,1>:ud
; (W)     send (8|M0)              null     r112    0x27            0x02000010           {EOT} // wr:1+0, rd:0; spawner; end of thread
; L2048:
