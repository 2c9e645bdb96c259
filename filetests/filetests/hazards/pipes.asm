test hazards
target dg2

// Each pipe has its own distances.
(W) mov (8|M0) r10.0<1>:d 1:d
(W) mov (8|M0) r11.0<1>:f 1:f
(W) mov (8|M0) r12.0<1>:f r10.0<1;1,0>:d // hazard: I@1 would wait
(W) mov (8|M0) r13.0<1>:d 1:d
(W) mov (8|M0) r13.0<1>:f r11.0<1;1,0>:f {F@2} // hazard: writes r13
(W) mov (8|M0) r127.0<1>:ud r0.0<1;1,0>:ud
(W) send.gtwy (8|M0) null r127 null:0 0x0 0x02000010 {EOT,A@1}
