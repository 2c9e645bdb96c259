// Typical compiler output: moves, arithmetic, flags, ternary instructions, sends.
test asm
target skl

        mov (8|M0)               r5.0<1>:d     0x76543210:v                                     // 01006000 2836a020 00000000 10325476
(W)     add (16|M0)              (sat)r6.0<1>:f  r3.0<8;8,1>:f   -r4.0<8;8,1>:f                 // 40008080 ec3ac020 60008d3a 80408d00
        cmp (8|M0)    (lt)f0.0   null<1>:d     r125.0<8;8,1>:d   r5.5<0;1,0>:d    {Compacted}   // 100b7325 07007d05
(f0.0)  sel (8|M0)               r7.0<1>:d     r1.0<8;8,1>:d     -3:w                           // 02006100 280ae020 20008d1e fdfffdff
        mad (8|M0)               r122.0<1>:f   r8.0<2;1>:f       r123.0<2;1>:f     r5.4<0>:f    // 5b016000 00001e7a c8810039 f6246701
        math.inv (8|M0)          r10.0<1>:f    r11.0<8;8,1>:f                                   // 38006001 e83a4021 60018d00 00000000
        mov (1|M0)               r2.0<1>:ub    r[a0.0,16]<0;1,0>:ub                             // 01000000 88224020 10800000 00000000
(W)     or (1|M0)                cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x4C0:uw              {Switch} // 06800000 04000030 00100016 c004c004
        send (8|M0)              r123:f   r124    0xC            0x02106E00                     // 3100600c e802602f 800f0006 006e1002
(W)     send (8|M0)              null     r127    0x27            0x02000010           {EOT}    // 31006007 04020020 e00f0006 10000082
