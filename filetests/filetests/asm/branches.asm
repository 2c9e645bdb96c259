// Labels, structured control flow, and numeric jump distances.
test asm
target skl

top:
(W)     add (1|M0)               r3.0<1>:d     r3.0<0;1,0>:d     -1:w     // 40000000 2c0a6020 6000001e ffffffff
        cmp (16|M0)   (gt)f1.0   null<1>:d     r3.0<0;1,0>:d     0:w      // 10008003 220a0020 6000001e 00000000
(f1.0)  if (16|M0)                             else_part         end_part // 22008100 020e0020 40000000 30000000
        mov (16|M0)              r10.0<1>:f    1.0:f                      // 01008000 e83e4021 00000000 0000803f
        else (16|M0)                           end_part          end_part // 24008000 000e0020 20000000 20000000
else_part:
        mov (16|M0)              r10.0<1>:f    2.0:f                      // 01008000 e83e4021 00000000 00000040
end_part:
        endif (16|M0)                          after                      // 25008000 00000020 0000000e 10000000
after:
(W&~f1.0) jmpi                                 out                        // 20001100 06000034 0014000e 10000000
(W)     jmpi                                   top                        // 20000000 04000034 0014000e 70ffffff
out:
(W)     jmpi                                   16                         // 20000000 04000034 0014000e 00000000
        nop                                                               // 7e000000 00000000 00000000 00000000
