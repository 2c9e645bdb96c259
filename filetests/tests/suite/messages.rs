//! Messages of compiled filetests compared with Intel's disassembler. It must read the same message
//! from each send, and assemble its own text to the same bytes.

use crate::iga;
use gantry_codegen::{CompileOptions, Target, compile, text};
use gantry_filetests::{TestFile, files};
use gantry_isa_gen::fuzz::Oracle;
use gantry_isa_gen::inst::Desc;
use gantry_isa_gen::message::{SendText, comment, describe};
use std::path::Path;

/// Products with the load/store cache. `compaction.rs` has the others.
const TARGETS: [&str; 2] = ["dg2", "pvc"];

#[test]
fn intels_disassembler_reads_the_same_messages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run");
    for t in TARGETS {
        let target = Target::lookup(t).unwrap();
        let platform = target.platform();
        let Some(mut iga) = iga::Iga::open(platform) else {
            return;
        };
        // Branch targets as distances, since labels are in the way of lines.
        iga.numeric_labels = true;
        let (mut sends, mut prefetches) = (0, 0);
        for path in files(&root).unwrap() {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            let source = std::fs::read_to_string(&path).unwrap();
            let file = TestFile::parse(&name, &source).unwrap();
            if !file.is_for(&target) {
                continue;
            }
            let module = text::parse(&file.body).unwrap().module;
            let compiled = compile(&module, &CompileOptions::new(target.clone())).unwrap();
            for kernel in &compiled.kernels {
                let what = format!("{name}, {t}: %{}", kernel.name);
                let code = &kernel.code;
                let listing = iga.disassemble(&code.bytes).unwrap();
                let again = iga.assemble(&listing).unwrap();
                assert!(again == code.bytes, "{what}: other bytes come back");
                let ours = code.insts.iter().filter_map(SendText::of);
                let theirs = listing.lines().filter_map(|l| l.split_once("// wr:"));
                let mut theirs = theirs.map(|(_, rest)| format!("wr:{}", rest.trim_end()));
                for send in ours {
                    let text = comment(platform, &send);
                    assert_eq!(Some(&text), theirs.next().as_ref(), "{what}");
                    sends += 1;
                    prefetches += u32::from(text.contains("rd:0; load."));
                    let (Some(sfid), Desc::Imm(desc)) = (send.sfid, send.desc) else {
                        continue;
                    };
                    let ex = match send.ex {
                        Desc::Imm(v) => Ok(v),
                        Desc::Reg(r) => Err(r.sub / 4),
                    };
                    let found = describe(platform, sfid, send.exec, ex, desc).findings;
                    let error = found.iter().find(|f| f.error);
                    assert_eq!(error, None, "{what}: {text}");
                }
                assert_eq!(theirs.next(), None, "{what}");
            }
        }
        println!("{t}: {sends} messages, {prefetches} prefetches");
        assert!(sends > 1000 && prefetches >= 3, "{t}: {sends} {prefetches}");
    }
}
