// Assembler errors, each with its location.
test asm
target skl

        frob (8|M0)              r5.0<1>:d     r6.0<8;8,1>:d                 // error: frob
        mov (7|M0)               r5.0<1>:d     r6.0<8;8,1>:d                 // error: 7
        mov (8|M0)               r5.0<1>:d     r6.0<8;8,1>:x                 // error: unknown type `x`
        mov (8|M0)               r200.0<1>:d   r6.0<8;8,1>:d                 // error: r200
        mov (8|M0)               r5.0<1>:d     r6.0<3;8,1>:d                 // error: src0: the stride is not possible
        add (8|M0)               r5.0<1>:d     r6.0<8;8,1>:d                 // error: expected
(W)     jmpi                                   nowhere                       // error: nowhere
        mov (8|M0)               r5.0<1>:d     r6.0<8;8,1>:d     {Sometimes} // error: Sometimes
