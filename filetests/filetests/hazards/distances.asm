test hazards
target tgllp

// Distances count all in-order instructions.
(W) mov (8|M0) r10.0<1>:d 1:d
(W) mov (8|M0) r11.0<1>:f 1:f
(W) add (8|M0) r12.0<1>:d r10.0<8;8,1>:d 1:d // hazard: @2 would wait
(W) add (8|M0) r13.0<1>:d r12.0<8;8,1>:d 1:d {@1}
(W) add (8|M0) r14.0<1>:d r13.0<8;8,1>:d r13.0<8;8,1>:d // hazard: reads r13 (bytes 0 to 31)
// A later write to the same bytes in one pipe is no hazard.
(W) mov (8|M0) r14.0<1>:d 2:d
(W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud
(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT,@1}
