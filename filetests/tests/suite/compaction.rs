//! Compaction compared with Intel's assembler. It must make compact instructions of the same native
//! code of the run filetests, byte for byte. Branch distances follow from the compacted sizes.

use crate::iga;
use gantry_codegen::{CompileOptions, Pass, PassSet, Target, compile, text};
use gantry_filetests::{TestFile, files};
use gantry_isa_gen::fuzz::Oracle;
use std::path::Path;

/// One product of each generation.
const TARGETS: [&str; 4] = ["bdw", "skl", "icllp", "tgllp"];

#[test]
fn what_intels_assembler_compacts_is_compact() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run");
    let (mut kernels, mut long, mut short) = (0, 0, 0);
    for t in TARGETS {
        let target = Target::lookup(t).unwrap();
        let Some(mut iga) = iga::Iga::open(target.platform()) else {
            return;
        };
        for path in files(&root).unwrap() {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            let source = std::fs::read_to_string(&path).unwrap();
            let file = TestFile::parse(&name, &source).unwrap();
            let module = text::parse(&file.body).unwrap().module;
            // Immediates that the loader writes are not compact, but look like a small number.
            if !file.is_for(&target) || !module.data.is_empty() {
                continue;
            }
            let code = |without: PassSet| {
                let options = CompileOptions {
                    without,
                    ..CompileOptions::new(target.clone())
                };
                compile(&module, &options).unwrap().kernels
            };
            let ours = code(PassSet::default());
            let native = code([Pass::Compact].into_iter().collect());
            for (ours, native) in ours.iter().zip(&native) {
                // Intel's assembler loses a bit there (docs/oracle-differences.md).
                let mut insts = ours.code.insts.iter();
                if insts.any(|i| i.offset.channels() % 8 != 0) {
                    continue;
                }
                iga.auto_compact = false;
                let text = iga.disassemble(&native.code.bytes).unwrap();
                iga.auto_compact = true;
                let theirs = iga.assemble(&text).unwrap();
                let what = format!("{name}, {t}: %{}", ours.name);
                if theirs != ours.code.bytes {
                    iga.auto_compact = false;
                    let (a, b) = (&ours.code.bytes, &theirs);
                    let (a, b) = (iga.disassemble(a).unwrap(), iga.disassemble(b).unwrap());
                    let line = a.lines().zip(b.lines()).find(|(a, b)| a != b);
                    panic!("{what}: {line:?}");
                }
                kernels += 1;
                long += native.code.bytes.len();
                short += theirs.len();
            }
        }
    }
    println!("{kernels} kernels: {short} bytes of {long}");
    assert!(kernels > 1000 && short < long);
}
