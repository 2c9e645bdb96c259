//! Tests of legality rules: violations are found, and code of Intel's compiler has none.

use gantry_isa_gen::{
    Arf, Cond, CondMod, Dst, Inst, Platform, PredCtrl, Predicate, Reg, RegRef, Region, Src,
    SrcMods, Type, legal, text,
};

/// Rules, each with a line that violates it (and, if unavoidable, others).
const BROKEN: &[(&str, &str)] = &[
    ("channel-range", "mov (16|M8) r5.0<1>:f r7.0<8;8,1>:f"),
    (
        "flag-channels",
        "cmp (16|M16) (lt)f0.1 null<1>:f r7.0<8;8,1>:f 0.0:f",
    ),
    (
        "condition-needed",
        "cmp (8|M0) null<1>:f r7.0<8;8,1>:f 0.0:f",
    ),
    (
        "condition-needed",
        "sel (8|M0) r5.0<1>:f r7.0<8;8,1>:f 0.0:f",
    ),
    (
        "types-allowed",
        "add (8|M0) r5.0<1>:d r6.0<8;8,1>:f r7.0<8;8,1>:f",
    ),
    ("source-null", "mov (8|M0) r5.0<1>:f null<8;8,1>:f"),
    (
        "source1-file",
        "add (8|M0) r5.0<1>:f r6.0<8;8,1>:f acc0.0<8;8,1>:f",
    ),
    ("math-operands", "math.inv (8|M0) null<1>:f r7.0<8;8,1>:f"),
    ("accumulator-type", "mov (8|M0) r5.0<4>:b acc0.0<8;8,1>:b"),
    ("width-within-exec", "mov (4|M0) r5.0<1>:f r7.0<8;8,1>:f"),
    ("full-width-stride", "mov (8|M0) r5.0<1>:f r7.0<4;8,1>:f"),
    ("width-one-stride", "mov (8|M0) r5.0<1>:f r7.0<1;1,1>:f"),
    ("one-channel-strides", "mov (1|M0) r5.0<1>:f r7.0<1;1,0>:f"),
    ("zero-strides-width", "mov (8|M0) r5.0<1>:f r7.0<0;4,0>:f"),
    ("row-within-grf", "mov (8|M0) r5.0<1>:f r7.4<8;8,1>:f"),
    ("source-span", "mov (16|M0) r5.0<1>:f r7.4<8;4,1>:f"),
    (
        "vxh-indirect",
        "add (8|M0) r5.0<1>:f r6.0<8;8,1>:f r[a0.0]<1,0>:f",
    ),
    ("dst-span", "mov (16|M0) r5.0<2>:f r7.0<8;8,1>:f"),
    ("math-dst-split", "math.inv (8|M0) r5.6<1>:f r7.0<8;8,1>:f"),
    ("dst-exec-type-stride", "mov (8|M0) r5.0<1>:w r7.0<8;8,1>:d"),
    ("dst-exec-type-align", "mov (4|M0) r5.2<4>:b r7.0<4;4,1>:d"),
    ("byte-dst-packed", "add (8|M0) r5.0<1>:b r7.0<8;8,1>:b 1:w"),
    ("byte-and-64-bit", "mov (4|M0) r5.0<1>:q r7.0<4;4,1>:b"),
    ("half-and-64-bit", "mov (4|M0) r5.0<1>:df r7.0<4;4,1>:hf"),
    ("half-and-int", "mov (8|M0) r5.0<1>:hf r7.0<8;8,1>:w"),
    ("half-dst-words", "mov (8|M0) r5.4<1>:hf r7.0<8;8,1>:f"),
    ("vector-immediate", "mov (8|M0) r5.2<1>:w 0x76543210:v"),
    (
        "mixed-float",
        "add (16|M0) r5.0<1>:f r7.0<8;8,1>:f r9.0<8;8,1>:hf",
    ),
    (
        "mixed-float-packed",
        "add (16|M0) r5.0<1>:hf r7.0<8;8,1>:f r9.0<8;8,1>:hf",
    ),
    (
        "math-int-exec",
        "math.iqot (16|M0) r5.0<1>:d r7.0<8;8,1>:d r9.0<8;8,1>:d",
    ),
    (
        "ternary-alignment",
        "mad (8|M0) r5.0<1>:f r7.2<2;1>:f r9.0<0;0>:f r11.0<0>:f",
    ),
    (
        "ternary-exec",
        "mad (16|M0) r5.0<1>:df r7.0<2;1>:df r9.0<2;1>:df r11.0<1>:df",
    ),
    ("send-lengths", "send (8|M0) r5 r126 0xA 0x08106E02"),
    ("send-overlap", "sends (8|M0) null r5 r6 0x4C 0x06026E02"),
    ("send-operands", "send (8|M0) r5 a0 0xA 0x02106E02"),
    ("send-eot", "send (8|M0) null r5 0x27 0x02000010 {EOT}"),
    ("branch-targets", "(W) jmpi 12"),
];

fn rules_of(line: &str) -> Vec<&'static str> {
    let code = text::assemble(Platform::Gen9, line).unwrap_or_else(|e| panic!("{line}: {e}"));
    legal::check(Platform::Gen9, &code.insts[0].inst)
        .iter()
        .map(|f| f.rule.name)
        .collect()
}

#[test]
fn violations_are_found() {
    for (rule, line) in BROKEN {
        let found = rules_of(line);
        assert!(found.contains(rule), "{line}: {rule} not in {found:?}");
    }
}

#[test]
fn legal_lines_have_no_findings() {
    for line in [
        "mov (16|M0) r5.0<1>:f r7.0<8;8,1>:f",
        "mov (16|M0) r5.0<2>:w r7.0<8;8,1>:d",
        "mov (16|M0) r5.0<4>:ub r9.0<8;8,1>:ud",
        "mov (16|M0) r5.0<1>:ub r9.0<16;16,1>:ub",
        "add (8|M0) r5.0<1>:q r7.0<4;4,1>:q r9.0<8;4,2>:d",
        "(W) mov (8|M0) r5.0<1>:w 0x76543210:v",
        "mad (16|M0) r5.0<1>:f r7.0<2;1>:f r9.0<0;0>:f r11.0<1>:f",
        "(W) mad (1|M0) r5.3<1>:f r7.1<0;0>:f r9.0<0;0>:f r11.7<0>:f",
        "mov (8|M0) r5.0<1>:hf r7.0<8;8,1>:f",
        "(W) send (8|M0) null r127 0x27 0x02000010 {EOT}",
        "(f0.0) if (16|M0) 16 32",
        "math.invm (8|M0) (eo)f0.0 r5.mme2:f r6.nomme:f r7.mme3:f",
    ] {
        assert_eq!(rules_of(line), [""; 0], "{line}");
    }
}

/// Intel's compiler adds bytes of either signedness to a product of words or of a dword directly.
/// Bytes that it multiplies are converted to words first.
#[test]
fn mad_adds_bytes_but_does_not_multiply_them() {
    let rules = |p, line: &str| {
        let code = text::assemble(p, line).unwrap_or_else(|e| panic!("{p:?}: {line}: {e}"));
        let found = legal::check(p, &code.insts[0].inst);
        found.iter().map(|f| f.rule.name).collect::<Vec<_>>()
    };
    for p in [Platform::Gen11, Platform::XeLp, Platform::XeHpg] {
        let row = match p {
            Platform::XeHpg => "<1;0>",
            _ => "<8;1>",
        };
        for line in [
            format!("mad (16|M0) r12.0<1>:d r24.0<8;4>:b r14.0{row}:d 31:w"),
            format!("mad (16|M0) r12.0<1>:d -r24.0<8;4>:ub r14.0{row}:d 31:w"),
            format!("mad (16|M0) r12.0<1>:ud r24.0<8;4>:b r14.0{row}:ud 31:uw"),
            "mad (16|M0) r12.0<1>:d r24.0<0;0>:b r14.0<4;2>:w r8.12<0>:w".to_owned(),
            "mad (16|M0) r12.0<1>:w r24.0<8;4>:ub r14.0<4;2>:w 31:w".to_owned(),
        ] {
            assert_eq!(rules(p, &line), [""; 0], "{p:?}: {line}");
        }
        for line in [
            format!("mad (16|M0) r12.0<1>:d r14.0{row}:d r24.0<8;4>:b 31:w"),
            format!("mad (16|M0) r12.0<1>:d r14.0{row}:d r16.0{row}:d r24.0<4>:b"),
        ] {
            assert_eq!(rules(p, &line), ["ternary-bytes"], "{p:?}: {line}");
        }
    }
}

/// Instructions that Intel's compilers of 2022 and 2026 emit, and similar ones that violate the
/// rule that allows for them.
#[test]
fn code_of_intels_compilers_is_legal() {
    use Platform::{Gen8, Gen9, XeHpc, XeHpg, XeLp};
    let rules = |p, line: &str| {
        let code = text::assemble(p, line).unwrap_or_else(|e| panic!("{p:?}: {line}: {e}"));
        let found = legal::check(p, &code.insts[0].inst);
        found.iter().map(|f| f.rule.name).collect::<Vec<_>>()
    };
    let bytes = "mov (16|M0) r16.2<4>:b r26.0<1;1,0>:d";
    let or = "or (8|M0) r74.0<1>:q r54.0<4;4,1>:q r30.0<8;8,1>:ub";
    let csel = "(W) csel (4|M0) r1.0<1>:f r1.0<4;1>:f r1.0<4;1>:f r1.0<1>:f";
    let bfe = "bfe (8|M0) r20.0<1>:d 11:w r5.4<0;0>:d r16.0<1>:d";
    let rol = "rol (16|M0) r35.0<1>:uq r11.0<1;1,0>:uq r19.0<1;1,0>:q";
    let shr = "(W) shr (1|M0) f1.0<2>:ud r5.1<0;1,0>:uq r6.0<0;1,0>:ud";
    let fence = "(W) send.ugm (1|M0) r29 r35 null:0 0x0 0x0210641F";
    for (p, line) in [
        (XeHpc, bytes),
        (Gen8, or),
        (Gen9, or),
        (XeHpc, csel),
        (XeLp, bfe),
        (XeHpg, bfe),
        (XeHpc, rol),
        (XeHpc, shr),
        (XeHpg, fence),
    ] {
        assert_eq!(rules(p, line), [""; 0], "{p:?}: {line}");
    }
    for (p, line, rule) in [
        (XeHpg, bytes, "dst-exec-type-align"),
        (
            XeHpc,
            "mov (16|M0) r16.2<2>:b r26.0<1;1,0>:d",
            "dst-exec-type-stride",
        ),
        (
            Gen9,
            "add (4|M0) r74.0<1>:q r54.0<4;4,1>:q r30.0<4;4,1>:ub",
            "byte-and-64-bit",
        ),
        (XeHpg, csel, "condition-needed"),
        (
            XeLp,
            "bfe (8|M0) r20.0<1>:d r2.0<4;1>:w r5.4<0;0>:d r16.0<1>:d",
            "types-allowed",
        ),
        (
            XeHpc,
            "rol (16|M0) r35.0<1>:q r11.0<1;1,0>:q r19.0<1;1,0>:q",
            "types-allowed",
        ),
        (
            XeHpc,
            "shr (4|M0) f1.0<1>:uq r5.0<1;1,0>:uq r6.0<1;1,0>:uq",
            "in-step-arf",
        ),
        (
            XeHpg,
            "(W) send.ugm (1|M0) r29 r35 null:0 0x0 0x0210741F",
            "message-reserved",
        ),
    ] {
        assert!(
            rules(p, line).contains(&rule),
            "{p:?}: {line}: {:?}",
            rules(p, line)
        );
    }
}

fn inst(line: &str) -> Inst<Reg> {
    text::assemble(Platform::Gen9, line).unwrap().insts[0].inst
}

fn a0(sub: u16) -> RegRef<Reg> {
    RegRef::new(Reg::Arf(Arf::Address, 0), sub)
}

/// Rules that no text or encoding can violate, each with an instruction that does.
fn by_hand() -> Vec<(&'static str, Inst<Reg>)> {
    let good = inst("add (8|M0) r5.0<1>:f r7.0<8;8,1>:f r9.0<8;8,1>:f");
    let mad = inst("mad (8|M0) r5.0<1>:f r7.0<2;1>:f r9.0<0;0>:f r11.0<1>:f");
    let with = |i: &Inst<Reg>, f: &dyn Fn(&mut Inst<Reg>)| {
        let mut i = *i;
        f(&mut i);
        i
    };
    let flag = |n, sub| RegRef::new(Reg::Arf(Arf::Flag, n), sub);
    let pred = |ctrl| {
        Some(Predicate {
            flag: flag(0, 0),
            inverse: false,
            ctrl,
        })
    };
    let grf = |n, sub, region| Src::Direct {
        at: RegRef::new(Reg::Grf(n), sub),
        region,
        ty: Type::F,
        mods: SrcMods::default(),
    };
    let imm = |bits, ty| Src::Imm { bits, ty };
    let dst = |sub, hs| Dst::Direct {
        at: RegRef::new(Reg::Grf(5), sub),
        hs,
        ty: Type::F,
    };
    vec![
        (
            "controls-allowed",
            with(&inst("bfrev (8|M0) r5.0<1>:ud r7.0<8;8,1>:ud"), &|i| {
                i.sat = true;
            }),
        ),
        (
            "align16-predicate",
            with(&mad, &|i| i.pred = pred(PredCtrl::AnyH(8))),
        ),
        (
            "flag-shared",
            with(&good, &|i| {
                i.pred = pred(PredCtrl::Sequential);
                i.cond = Some(CondMod {
                    cond: Cond::Lt,
                    flag: flag(1, 0),
                });
            }),
        ),
        ("operand-count", with(&good, &|i| i.srcs[1] = Src::None)),
        (
            "immediate-place",
            with(&good, &|i| i.srcs[0] = imm(0, Type::F)),
        ),
        (
            "immediate-type",
            with(&good, &|i| i.srcs[1] = imm(1 << 40, Type::F)),
        ),
        ("subregister-aligned", with(&good, &|i| i.dst = dst(2, 1))),
        (
            "address-register",
            with(&good, &|i| {
                i.srcs[0] = Src::Indirect {
                    addr: a0(1),
                    imm: 0,
                    region: Region::SCALAR,
                    ty: Type::F,
                    mods: SrcMods::default(),
                };
            }),
        ),
        (
            "region-encodable",
            with(&good, &|i| i.srcs[0] = grf(7, 0, Region::rect(3, 1, 0))),
        ),
        ("dst-stride", with(&good, &|i| i.dst = dst(0, 3))),
        (
            "ternary-operands",
            with(&mad, &|i| i.srcs[0] = grf(7, 0, Region::rect(8, 8, 1))),
        ),
    ]
}

#[test]
fn rules_beyond_text_are_found() {
    for (rule, i) in by_hand() {
        let found: Vec<_> = legal::check(Platform::Gen9, &i)
            .iter()
            .map(|f| f.rule.name)
            .collect();
        assert!(found.contains(&rule), "{rule} not in {found:?}: {i:?}");
    }
}
