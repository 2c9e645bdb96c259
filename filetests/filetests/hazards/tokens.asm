test hazards
target tgllp

(W) mov (8|M0) r10.0<1>:f 4:f
(W) math.sqt (8|M0) r11.0<1>:f r10.0<8;8,1>:f {@1,$0}
(W) math.inv (8|M0) r12.0<1>:f r10.0<8;8,1>:f {$1}
(W) mov (8|M0) r10.0<1>:f 1:f // hazard: $1.src would wait
(W) add (8|M0) r13.0<1>:f r11.0<8;8,1>:f 1:f {$0.dst}
(W) add (8|M0) r13.0<1>:f r12.0<8;8,1>:f 1:f // hazard: $1.dst would wait
(W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud
(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT,@1}
