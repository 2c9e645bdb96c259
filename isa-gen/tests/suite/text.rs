//! Tests of the assembler's syntax and its errors, with exact locations.

use gantry_isa_gen::fuzz::Rng;
use gantry_isa_gen::text::{assemble, disassemble};
use gantry_isa_gen::{Op, Platform};

const PLATFORM: Platform = Platform::Gen9;

fn errors(text: &str) -> Vec<String> {
    assemble(PLATFORM, text)
        .unwrap_err()
        .0
        .iter()
        .map(|d| {
            format!(
                "{}:{}+{}: {}",
                d.span.line, d.span.col, d.span.len, d.message
            )
        })
        .collect()
}

#[test]
fn errors_have_exact_spans() {
    for (text, want) in [
        ("fooo (8|M0) r1", "1:1+4: unknown opcode `fooo`"),
        (
            "\n  mov (7|M0) r5.0<1>:f r6.0<8;8,1>:f",
            "2:7+2: execution size 7 is not 1, 2, 4, 8, 16 or 32",
        ),
        (
            "mov (8|M2) r5.0<1>:f r6.0<8;8,1>:f",
            "1:5+5: channel offset 2 is not a multiple of 4 below 32",
        ),
        (
            "mov r5.0<1>:f r6.0<8;8,1>:f",
            "1:5+2: expected an execution size, as in `(8|M0)`",
        ),
        (
            "mov (8|M0) r200.0<1>:f r6.0<8;8,1>:f",
            "1:12+4: expected a register, found `r200`",
        ),
        (
            "mov (8|M0) r5.0<3>:f r6.0<8;8,1>:f",
            "1:16+3: a destination's region is `<1>`, `<2>` or `<4>`",
        ),
        (
            "mov (8|M0) r5.0<1>:f r6.0:f",
            "1:22+6: the source needs a region, as in `<8;8,1>`",
        ),
        (
            "mov (8|M0) r5.0<1>:f r6.0<8;8,1>",
            "1:33+1: expected a type, as in `:f`",
        ),
        (
            "mov (8|M0) r5.0<1>:f r6.0<8;8,1>:x",
            "1:34+1: unknown type `x`",
        ),
        (
            "mov (8|M0) r5.9<1>:f r6.0<8;8,1>:f",
            "1:12+9: the sub-register is beyond the register",
        ),
        ("mov (8|M0) r5.0<1>:f", "1:21+1: expected src0"),
        (
            "mov (8|M0) r5.0<1>:w 65536:w",
            "1:22+7: not an immediate of type `w`",
        ),
        (
            "mov (8|M0) r5.0<1>:f r6.0<8;8,1>:f r7",
            "1:36+2: unexpected text after the instruction",
        ),
        (
            "mov (8|M0) r5.0<1>:f r6.0<8;8,1>:f {Foo}",
            "1:37+3: unknown instruction option `Foo`",
        ),
        (
            "bfe (8|M0) (lt)f0.0 r5.0<1>:d r6.0<2;1>:d r7.0<2;1>:d r8.0<1>:d",
            "1:1+3: `bfe` may not have this condition modifier",
        ),
        ("(W) jmpi nowhere", "1:10+7: label `nowhere` is not defined"),
        ("a:\nnop\na:\nnop", "3:1+1: label `a` is defined twice"),
        (
            "add (8|M0) r5.0<1>:f 1.0:f r6.0<8;8,1>:f",
            "1:22+5: src0: only the last source may be an immediate",
        ),
        (
            "mad (8|M0) r5.0<1>:f r6.0<8;8,1>:f r7.0<2;1>:f r8.0<1>:f",
            "1:22+13: src0: the region must be <2;1> or <0;0>, for source 2 <1> or <0>",
        ),
        (
            "math.foo (8|M0) r5.0<1>:f r6.0<8;8,1>:f",
            "1:6+3: `math` has no function `foo`",
        ),
        (
            "(f2.0) mov (8|M0) r5.0<1>:f r6.0<8;8,1>:f",
            "1:8+3: flag: must be f0.0, f0.1, f1.0 or f1.1",
        ),
        (
            "nop {Compacted}",
            "1:1+3: the instruction has no compacted form",
        ),
        (
            "send (8|M0) r12 r13 0x1FFFFFFFF 0x0",
            "1:21+11: a descriptor has 32 bits",
        ),
    ] {
        assert_eq!(errors(text), [want], "{text}");
    }
}

#[test]
fn every_wrong_line_is_reported() {
    assert_eq!(
        errors("foo\nnop\n  bar // x\n(W) jmpi gone\n"),
        [
            "1:1+3: unknown opcode `foo`",
            "3:3+3: unknown opcode `bar`",
            "4:10+4: label `gone` is not defined"
        ]
    );
}

#[test]
fn comments_labels_and_distances() {
    let a = assemble(
        PLATFORM,
        "/* a\n block */ start: nop // first\n\n\tnop /* in\nside */\n(W) jmpi start\nend: (W) jmpi -16\n",
    )
    .unwrap();
    let ops: Vec<(Op, usize)> = a.insts.iter().map(|i| (i.inst.op, i.offset)).collect();
    assert_eq!(
        ops,
        [(Op::Nop, 0), (Op::Nop, 16), (Op::Jmpi, 32), (Op::Jmpi, 48)]
    );
    let text = disassemble(PLATFORM, &a.bytes);
    assert!(
        text.contains("jmpi                                 L0"),
        "{text}"
    );
    assert!(
        text.contains("jmpi                                 L32"),
        "{text}"
    );
}

#[test]
fn branches_out_of_the_program_keep_their_distance() {
    let lines = "nop\n(W) jmpi -160\n(W) jmpi 8\n(f0.0) if (8|M0) 4 160\n";
    let a = assemble(PLATFORM, lines).unwrap();
    let text = disassemble(PLATFORM, &a.bytes);
    assert!(text.contains("-160") && !text.contains("L_N"), "{text}");
    assert_eq!(assemble(PLATFORM, &text).unwrap().bytes, a.bytes);
}

#[test]
fn compact_instructions_have_eight_bytes() {
    let line = "mov (16|M0) r5.0<1>:f r7.0<8;8,1>:f {Compacted}\n";
    let a = assemble(PLATFORM, &format!("{line}nop\n")).unwrap();
    assert_eq!(a.bytes.len(), 24);
    assert_eq!(a.insts[1].offset, 8);
}

#[test]
fn damaged_texts_never_panic() {
    let good = "L0:\n(W&~f0.1.any8h) math.invm (8|M0) (eo)f0.0 r5.mme2:f r6.nomme:f r7.mme3:f {Switch}\n\
        mul (16|M8) (le)f1.0 (sat)r5.0<1>:f (abs)r[a0.3,-16]<8;8,1>:f -2.5e-3:f // x\n\
        sends (8|M0) null r13 r14 a0.2 0x02026E02 {EOT}\n(f0.0) if (16|M0) L0 L1\nL1:\n/* y */ wait n0.0:ud\n";
    let mut rng = Rng::new(3);
    let extra: Vec<char> = "(){}[]<>;:,.|&~-+0123456789afxLM\u{e9}\u{4e16}\n\t /*"
        .chars()
        .collect();
    for _ in 0..20_000 {
        let mut text: Vec<char> = good.chars().collect();
        for _ in 0..=rng.below(4) {
            let at = rng.below(text.len() as u64) as usize;
            match rng.below(3) {
                0 => {
                    text.remove(at);
                }
                1 => text.insert(at, rng.pick(&extra).unwrap()),
                _ => text[at] = rng.pick(&extra).unwrap(),
            }
        }
        let text: String = text.into_iter().collect();
        if let Err(e) = assemble(PLATFORM, &text) {
            let _ = e.render("x.asm", &text);
        }
    }
}
