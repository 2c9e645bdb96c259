test hazards
target dg2

// Writes to flags and accumulators by different pipes are unordered.
cmp (8|M0) (lt)f0.0 null<1>:f r10.0<1;1,0>:f 0:f
cmp (8|M0) (lt)f0.0 null<1>:d r11.0<1;1,0>:d 0:d // hazard: writes f0 (bits 0 to 7)
(W) mul (8|M0) acc0.0<1>:f r10.0<1;1,0>:f r10.0<1;1,0>:f
(W) add (8|M0) acc0.0<1>:d r11.0<1;1,0>:d r11.0<1;1,0>:d // hazard: writes acc0 (bytes 0 to 31)
// Reads of flags and accumulators need no annotation.
(W) add (8|M0) r12.0<1>:d acc0.0<1;1,0>:d 1:d
(W) mov (8|M0) r127.0<1>:ud r0.0<1;1,0>:ud
(W) send.gtwy (8|M0) null r127 null:0 0x0 0x02000010 {EOT,A@1}
