//! Source locations and labels of values: building, verification, and their fate in compiled code.

use gantry_codegen::Located;
use gantry_codegen::builder::FunctionBuilder;
use gantry_codegen::interp::{Arg, Buffers, Grid, launch};
use gantry_codegen::ir::{
    FuncRef, Function, InstData, IntCC, Module, SourceFile, SourceLoc, Value, scalars::*,
};
use gantry_codegen::verifier::{verify, verify_module};
use gantry_codegen::{CodegenError, CompileOptions, Compiled, OptLevel, compile, fuzzing, text};
use std::collections::BTreeSet;

/// Returns options that keep instructions in program order.
fn in_program_order() -> CompileOptions {
    CompileOptions {
        opt: OptLevel::O0,
        ..CompileOptions::for_target("skl").unwrap()
    }
}

fn compiled(source: &str) -> Compiled {
    compile(&text::parse(source).unwrap().module, &in_program_order()).unwrap()
}

/// Makes a loop that sums up to `n`, with a location per line and labels for its variables.
fn sum(module: &mut Module) -> Function {
    let (k, h) = (module.source_file("k.cl"), module.source_file("h.h"));
    assert_eq!(module.source_file("k.cl"), k);
    let mut f = Function::kernel("sum", 8);
    let mut b = FunctionBuilder::new(&mut f);
    let (out, n) = (b.ptr_param(), b.param(I32));
    b.label(n, "n");
    b.set_source_loc(SourceLoc::new(k, 1, 5));
    let zero = b.ins().iconst(I32, 0);
    let (i, total) = (b.var(zero), b.var(zero));
    let unchanged = b.var(n);
    let (head, end) = (b.create_block(), b.create_block());
    b.ins().jump(head, &[]);
    b.switch_to_block(head);
    b.set_source_loc(SourceLoc::new(h, 2, 0));
    let (x, t, limit) = (b.use_var(i), b.use_var(total), b.use_var(unchanged));
    // This one will not be a parameter: the label moves to the value it always has.
    b.label(limit, "limit");
    b.label(t, "total");
    let t = b.ins().iadd(t, x);
    b.label(t, "total");
    b.def_var(total, t);
    let one = b.ins().iconst(I32, 1);
    let x = b.ins().iadd(x, one);
    b.def_var(i, x);
    let more = b.ins().icmp(IntCC::SignedLessThan, x, limit);
    b.ins().brif(more, head, &[], end, &[]);
    b.seal_block(head);
    b.seal_block(end);
    b.switch_to_block(end);
    assert_eq!(b.source_loc(), SourceLoc::new(h, 2, 0));
    b.set_source_loc(SourceLoc::NONE);
    b.ins().bstore(t, out, 0);
    b.ins().return_(&[]);
    b.finish().unwrap();
    f
}

#[test]
fn the_builder_gives_locations_and_labels() {
    let mut m = Module::default();
    let f = sum(&mut m);
    m.functions.push(f);
    verify_module(&m).unwrap();
    let text = m.to_string();
    assert_eq!(
        text,
        "\
file0 = \"k.cl\"
file1 = \"h.h\"

kernel %sum(i64 ptr, i32) simd8 {
    label \"limit\" = v1
    label \"n\" = v1
    label \"total\" = v4, v6
block0(v0: i64, v1: i32):
    v2 = iconst.i32 0 @file0:1:5
    jump block1(v2, v2) @file0:1:5
block1(v3: i32, v4: i32):
    v6 = iadd v4, v3 @file1:2
    v7 = iconst.i32 1 @file1:2
    v8 = iadd v3, v7 @file1:2
    v9 = icmp slt v8, v1 @file1:2
    brif v9, block1(v8, v6), block2 @file1:2
block2:
    bstore v6, v0
    return
}
"
    );
    assert_eq!(text::parse(&text).unwrap().module, m);
}

#[test]
fn foreign_values_have_no_labels() {
    let mut f = Function::kernel("k", 8);
    let mut b = FunctionBuilder::new(&mut f);
    let line = line!();
    b.label(Value::from_u32(7), "x");
    b.ins().return_(&[]);
    let e = b.finish().unwrap_err().to_string();
    let want = "in %k: the label \"x\" of v7, which is not a value of this function";
    assert_eq!(e, format!("{want} ({}:{}:7)", file!(), line + 1));
    // The builder does not know file names.
    let mut f = Function::kernel("k", 8);
    let mut b = FunctionBuilder::new(&mut f);
    b.set_source_loc(SourceLoc::new(SourceFile::from_u32(1), 3, 4));
    let line = line!();
    b.ins().ineg(Value::from_u32(7));
    let e = b.finish().unwrap_err().errors;
    let want = "`ineg` of v7, which is not a value of this function (@file1:3:4)";
    let want = format!("{want} ({}:{}:13)", file!(), line + 1);
    assert_eq!(e, [want.as_str(), "block0 has no terminator"]);
}

#[test]
fn reports_missing_entities() {
    let mut m = Module::default();
    let f = sum(&mut m);
    m.functions.push(f);
    let told = |change: fn(&mut Module)| {
        let mut m = m.clone();
        change(&mut m);
        let e = verify_module(&m).unwrap_err();
        let texts: Vec<String> = e.0.iter().map(|d| d.message.clone()).collect();
        let [one] = &texts[..] else {
            panic!("{texts:?}");
        };
        one.clone()
    };
    let e = told(|m| {
        let f = &mut m.functions[FuncRef::from_u32(0)];
        let block = f.layout.blocks()[0];
        let inst = f.layout.insts(block)[0];
        f.set_srcloc(inst, SourceLoc::new(SourceFile::from_u32(9), 4, 2));
    });
    assert_eq!(
        e,
        "in %sum, block0, at `v2 = iconst.i32 0` (file9:4:2): there is no file9"
    );
    let e = told(|m| {
        let f = &mut m.functions[FuncRef::from_u32(0)];
        f.labels.add("x", Value::from_u32(99));
    });
    assert_eq!(
        e,
        "in %sum: the label \"x\" is of v99, which does not exist"
    );
    // Parameter that the builder removed.
    let e = told(|m| {
        let f = &mut m.functions[FuncRef::from_u32(0)];
        f.labels.add("x", Value::from_u32(5));
    });
    assert_eq!(e, "in %sum: the label \"x\" is of v5, which is not defined");
    let e = told(|m| {
        for n in 0..SourceLoc::MOST_FILES {
            m.files.push(format!("{n}"));
        }
    });
    assert_eq!(e, "file65535: 65535 source files are the most");
    let e = told(|m| {
        m.files.push("x".repeat(4097));
    });
    assert_eq!(e, "file2: a name of 4097 bytes; 4096 are the most");
}

#[test]
fn errors_name_the_line() {
    let parsed = text::parse(
        "\
file0 = \"k.cl\"
kernel %k(i64 ptr, f32x8) simd8 {
block0(v0: i64, v1: f32x8):
    v2 = fadd v1, v1 @file0:1:1
    v3 = iadd v2, v2 @file0:2:7
    return
}
",
    )
    .unwrap();
    let func = &parsed.module.functions[FuncRef::from_u32(0)];
    let e = verify(&parsed.module, func).unwrap_err().to_string();
    let want = "in %k, block0, at `v3 = iadd v2, v2` (k.cl:2:7): ";
    assert!(e.contains(want), "{e}");

    // An index may select any element of the whole GRF file.
    let source = "file0 = \"k.cl\"\nkernel %k(i64 ptr, i16) simd1 {\nblock0(v0: i64, v1: i16):\n    v2 = bload.f32x1024 v0 @file0:1:3\n    v3 = rdregion.f32 v2, <0;1,0>, 0+v1 @file0:2:3\n    bstore v3, v0 @file0:3:3\n    return\n}\n";
    let options = CompileOptions::for_target("skl").unwrap();
    let e = compile(&text::parse(source).unwrap().module, &options).unwrap_err();
    let CodegenError::OutOfRegisters { origin, .. } = &e else {
        panic!("{e}");
    };
    let line = origin.line.as_ref().unwrap();
    assert_eq!(line.file, "k.cl");
    assert!(e.to_string().contains(&format!(" ({line}), and")), "{e}");
}

#[test]
fn the_interpreter_names_the_line() {
    let source = "\
file0 = \"k.cl\"
kernel %k(i64 ptr) simd8 {
block0(v0: i64):
    v1 = bload.i32x8 v0 @file0:1:1
    v2 = call %far(v0) @file0:2:1
    bstore v1, v2 @file0:3:1
    return
}
function %far(i64) -> i64 {
block0(v0: i64):
    v1 = bload.i64 v0+64 @file0:9:4
    return v1
}
";
    let m = text::parse(source).unwrap().module;
    let mut memory = Buffers::default();
    let x = memory.add(vec![0; 64]);
    let grid = Grid::new([8, 1, 1], [8, 1, 1]);
    let kernel = FuncRef::from_u32(0);
    let e = launch(&m, kernel, &grid, &[Arg::ptr(x)], &mut memory, 1000).unwrap_err();
    let want = "at `v1 = bload.i64 v0+64` (k.cl:9:4): ";
    assert!(e.to_string().contains(want), "{e}");
}

const TWO: &str = "\
file0 = \"k.cl\"
kernel %a(i64 ptr, f32x8) simd8 {
    label \"x\" = v1
    label \"y\" = v2
    label \"folded\" = v9
    label \"sum\" = v2, v3
block0(v0: i64, v1: f32x8):
    v9 = fneg v1
    v2 = fadd v1, v9 @file0:2:1
    v3 = fmul v2, v1 @file0:3:1
    v4 = fmul v3, v2 @file0:3:1
    v5 = fadd v4, v4
    bstore v5, v0 @file0:5:1
    return @file0:5:1
}

kernel %b() simd8 {
block0:
    return
}
";

#[test]
fn the_table_is_sorted_and_whole() {
    let c = compiled(TWO);
    let (a, b) = (&c.kernels[0].code, &c.kernels[1].code);
    assert_eq!(b.locations, []);
    let line = |n: u32| SourceLoc::new(SourceFile::from_u32(0), n, u16::from(n > 0));
    let entry = |offset, n| Located {
        offset,
        loc: line(n),
    };
    // The first instruction sets the float mode, and has no location.
    assert_eq!(a.locations[..3], [entry(16, 2), entry(32, 3), entry(64, 0)]);
    assert_eq!(a.locations[3..], [entry(80, 5)]);
    let at = [0, 15, 16, 31, 32, 63, 64, 79, 80, 10_000];
    let lines = at.map(|at| a.source_loc(at).line());
    assert_eq!(lines, [0, 0, 2, 2, 3, 3, 0, 0, 5, 5]);
    assert_eq!(a.source_loc(40), line(3));
}

#[test]
fn labels_say_where_values_are() {
    let code = &compiled(TWO).kernels[0].code;
    let of = |name: &str| {
        let ranges = code.labels.iter().filter(|l| l.name == name);
        let mut ranges: Vec<(u64, u64)> = ranges.map(|l| (l.start, l.end)).collect();
        ranges.sort_unstable();
        ranges
    };
    // Ranges end at the last instruction that reads the value. A parameter is live from the start.
    assert_eq!(of("x"), [(0, 48)]);
    assert_eq!(of("y"), [(32, 64)]);
    assert_eq!(of("folded"), []);
    // Two values, where the second is defined while the first is still live.
    assert_eq!(of("sum"), [(32, 64), (48, 64)]);
    assert!(
        code.labels
            .iter()
            .all(|l| l.bytes == 32 && l.address % 32 == 0)
    );
    // Registers of the argument are those of the payload.
    let payload = &compiled(TWO).kernels[0].payload;
    let argument = payload.cross_address() + payload.args[1].1.offset;
    let x = code.labels.iter().find(|l| l.name == "x").unwrap();
    assert_eq!(x.address, argument);
    assert_eq!(compiled(TWO).kernels[1].code.labels, []);
}

/// Code has locations of its IR, whatever the optimizer moves, merges and rematerializes. Memory
/// accesses keep distinct locations. Merged stores have one location, and dead stores none.
#[test]
fn optimized_code_has_locations_of_its_ir() {
    const SEED: u64 = 1;
    eprintln!("seeds from {SEED}");
    let (mut stores, mut found) = (0, 0);
    for seed in SEED..SEED + 60 {
        let target = ["skl", "icllp", "bdw"][seed as usize % 3];
        let m = fuzzing::module(seed, &fuzzing::Options::runnable());
        let options = CompileOptions {
            check: true,
            ..CompileOptions::for_target(target).unwrap()
        };
        let Ok(c) = compile(&m, &options) else {
            continue;
        };
        let mut known = BTreeSet::from([place(SourceLoc::NONE)]);
        let mut effects = BTreeSet::new();
        for f in m.functions.values() {
            for &inst in f.layout.blocks().iter().flat_map(|&b| f.layout.insts(b)) {
                let at = place(f.srclocs[inst]);
                known.insert(at);
                let effect = matches!(
                    f.dfg.data(inst),
                    InstData::Store { .. } | InstData::Atomic { .. }
                );
                if effect && at != place(SourceLoc::NONE) {
                    effects.insert(at);
                }
            }
        }
        let mut told = BTreeSet::new();
        for k in &c.kernels {
            for l in &k.code.locations {
                assert!(known.contains(&place(l.loc)), "seed {seed}: {:?}", l.loc);
                told.insert(place(l.loc));
            }
        }
        stores += effects.len();
        found += effects.intersection(&told).count();
    }
    eprintln!("{found} of {stores} locations of stores and atomics are in the code");
    assert!(stores > 300 && found * 10 > stores * 8);
}

fn place(loc: SourceLoc) -> (u32, u16) {
    (loc.line(), loc.column())
}

/// DWARF has a variable for each name: an array of its lanes, with its registers over its live
/// range. r0 has DWARF number 16, as in Intel's compiler.
#[test]
fn dwarf_says_where_values_are() {
    use gimli::{AttributeValue, EndianSlice, LittleEndian, Operation};
    use object::{Object, ObjectSection};
    let compiled = compiled(TWO);
    let elf = object::File::parse(&*compiled.zebin).unwrap();
    let section = |id: gimli::SectionId| {
        let data = elf.section_by_name(id.name()).map(|s| s.data().unwrap());
        Ok::<_, gimli::Error>(EndianSlice::new(data.unwrap_or(&[]), LittleEndian))
    };
    let dwarf = gimli::Dwarf::load(section).unwrap();
    let mut units = dwarf.units();
    let unit = dwarf.unit(units.next().unwrap().unwrap()).unwrap();
    let text = |a: Option<AttributeValue<_>>| {
        let s = dwarf.attr_string(&unit, a.unwrap()).unwrap();
        s.to_string().unwrap().to_owned()
    };
    let code = &compiled.kernels[0].code;
    let mut found = Vec::new();
    let mut entries = unit.entries();
    while let Some(e) = entries.next_dfs().unwrap() {
        if e.tag() != gimli::DW_TAG_variable {
            continue;
        }
        let Some(AttributeValue::UnitRef(of)) = e.attr_value(gimli::DW_AT_type) else {
            panic!("no type");
        };
        let array = unit.entry(of).unwrap();
        assert_eq!(array.tag(), gimli::DW_TAG_array_type);
        let name = text(e.attr_value(gimli::DW_AT_name));
        let list = e.attr_value(gimli::DW_AT_location).unwrap();
        let mut list = dwarf.attr_locations(&unit, list).unwrap().unwrap();
        while let Some(l) = list.next().unwrap() {
            let mut ops = l.data.operations(unit.encoding());
            let mut registers = Vec::new();
            while let Some(op) = ops.next().unwrap() {
                match op {
                    Operation::Register { register } => registers.push(register.0),
                    Operation::Piece { size_in_bits, .. } => assert_eq!(size_in_bits, 256),
                    other => panic!("{other:?}"),
                }
            }
            found.push((name.clone(), l.range.begin, l.range.end, registers));
        }
    }
    found.sort_unstable();
    let expected = code.labels.iter().map(|l| {
        let register = (16 + l.address / 32) as u16;
        (l.name.clone(), l.start, l.end, vec![register])
    });
    let mut expected: Vec<_> = expected.collect();
    expected.sort_unstable();
    assert!(!expected.is_empty());
    assert_eq!(found, expected);
}
