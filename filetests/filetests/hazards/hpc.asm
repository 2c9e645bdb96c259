test hazards
target pvc

// Qwords use the integer pipe, doubles the long pipe, and math has its own pipe.
(W) mov (8|M0) r10.0<1>:q 1:w
(W) mov (8|M0) r11.0<1>:d r10.0<2;1,0>:d // hazard: I@1 would wait
(W) mov (8|M0) r12.0<1>:df r14.0<1;1,0>:df
(W) mov (8|M0) r13.0<1>:q r12.0<1;1,0>:q {I@1} // hazard: L@1 would wait
(W) math.sqt (8|M0) r16.0<1>:f r14.0<1;1,0>:f
(W) mov (8|M0) r17.0<1>:f r16.0<1;1,0>:f // hazard: M@1 would wait
// A byte write reads and writes the whole word.
(W) mov (1|M0) r18.0<1>:b 1:w
(W) mov (1|M0) r18.1<1>:b 2:w // hazard: writes r18 (bytes 0 to 1)
(W) mov (1|M0) r18.2<1>:b 3:w
(W) mov (16|M0) r127.0<1>:ud r0.0<1;1,0>:ud
(W) send.gtwy (8|M0) null r127 null:0 0x0 0x02000010 {EOT,A@1}
