//! Intel's own driver, without a GPU, as an oracle for zebins. It must take the zebin of every run
//! filetest on every product that it knows. On other products the notes must be those that Intel's
//! compiler writes.
//!
//! The driver reads its environment when it is loaded, so each product runs in a process of its
//! own. The process is this test binary, run again.

use crate::driven;
use gantry_codegen::ir::FuncKind;
use gantry_codegen::{CompileOptions, GrfMode, OptLevel, Target, compile};
use gantry_filetests::{TestFile, files};
use object::Endianness;
use object::elf::{FileHeader64, SHF_INFO_LINK};
use object::read::elf::{FileHeader, SectionHeader};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const CHILD: &str = "GANTRY_DRIVER_CHILD";

fn have_ocloc() -> bool {
    let there = Command::new("ocloc").arg("--help").output().is_ok();
    assert!(
        there || !driven::required(),
        "ocloc is not on PATH, and GANTRY_REQUIRE_ORACLES=1"
    );
    if !there {
        println!("skipped: ocloc is not on PATH");
    }
    there
}

/// Image type that Intel's drivers for compute do not have, in `.ze_info`.
const CUBE: &[u8] = b"image_cube";

/// Compiles every run filetest for a target, and returns the zebins with their kernels' names. If
/// kernels may ask for more registers, it includes those that do. Those with cubes are left out.
fn zebins(target: &Target) -> Vec<(PathBuf, Vec<String>, Vec<u8>)> {
    let large = target.with_large_file().is_some();
    let modes = [GrfMode::default(), GrfMode::Large];
    let modes = if large { &modes[..] } else { &modes[..1] };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run");
    let mut out = Vec::new();
    for path in files(&root).unwrap() {
        let source = std::fs::read_to_string(&path).unwrap();
        let file = TestFile::parse(&path.display().to_string(), &source).unwrap();
        if !file.is_for(target) {
            continue;
        }
        let module = gantry_codegen::text::parse(&file.body).unwrap().module;
        let kernels = module.functions.values();
        let kernels = kernels.filter(|f| matches!(f.kind, FuncKind::Kernel { .. }));
        let names: Vec<String> = kernels.map(|f| f.name.clone()).collect();
        for &grf_mode in modes {
            let options = CompileOptions {
                grf_mode,
                ..CompileOptions::new(target.clone())
            };
            let compiled = compile(&module, &options);
            let zebin = compiled
                .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
                .zebin;
            if zebin.windows(CUBE.len()).any(|w| w == CUBE) {
                continue;
            }
            out.push((path.clone(), names.clone(), zebin));
        }
    }
    out
}

#[test]
fn the_driver_takes_every_run_filetest() {
    if let Ok(name) = std::env::var(CHILD) {
        let Some(device) = driven::open() else {
            return;
        };
        let target = Target::lookup(&name).unwrap();
        let mut count = 0;
        for (path, names, zebin) in zebins(&target) {
            let path = path.display();
            let module = device
                .load(&zebin)
                .unwrap_or_else(|e| panic!("{name}, {path}: {e}"));
            for kernel in names {
                if let Err(e) = module.kernel(&kernel) {
                    panic!("{name}, {path}, %{kernel}: {e}");
                }
                count += 1;
            }
        }
        return println!("{name}: the driver takes {count} kernels");
    }
    if !have_ocloc() {
        return;
    }
    for name in driven::DRIVEN {
        let test = "driver::the_driver_takes_every_run_filetest";
        driven::run_for_line(driven::again(name), test, (CHILD, name), "the driver takes");
    }
}

/// Returns the zebin that Intel's compiler generates from an OpenCL program, if it knows the
/// device.
fn ocloc(dir: &Path, device: &str, source: &str) -> Option<Vec<u8>> {
    let path = dir.join("k.cl");
    std::fs::write(&path, source).unwrap();
    let out = dir.join(device);
    Command::new("ocloc")
        .args(["compile", "-file"])
        .arg(&path)
        .args(["-device", device, "-options", "-cl-std=CL2.0", "-out_dir"])
        .arg(&out)
        .args([
            "-internal_options",
            "-cl-allow-zebin -ze-allow-zebin -cl-enable-zebin",
        ])
        .output()
        .unwrap();
    let entries = std::fs::read_dir(&out).ok()?;
    let bytes = entries.map(|e| std::fs::read(e.unwrap().path()).unwrap());
    bytes.into_iter().find(|b| family(b).is_some())
}

/// Returns the product family in a zebin's notes.
fn family(zebin: &[u8]) -> Option<u32> {
    // Sizes of the owner and of the description, and type 1.
    let head = [8u32, 4, 1].map(u32::to_le_bytes).concat();
    let head = [head, b"IntelGT\0".to_vec()].concat();
    let at = zebin.windows(head.len()).position(|w| w == head)? + head.len();
    Some(u32::from_le_bytes(zebin.get(at..at + 4)?.try_into().ok()?))
}

#[test]
fn families_are_those_that_intels_compiler_writes() {
    if !have_ocloc() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let module = gantry_codegen::text::parse("kernel %k() simd8 {\nblock0:\n    return\n}\n")
        .unwrap()
        .module;
    for target in Target::all() {
        let name = target.name();
        let source = "kernel void k(global int *a) { a[0] = 1; }";
        let Some(theirs) = ocloc(dir.path(), name, source) else {
            // This ocloc has no Cherryview.
            assert_eq!(name, "chv", "ocloc makes nothing for {name}");
            continue;
        };
        let theirs = family(&theirs);
        let ours = compile(&module, &CompileOptions::new(target.clone())).unwrap();
        assert!(theirs.is_some(), "{name}");
        assert_eq!(family(&ours.zebin), theirs, "{name}");
    }
}

/// Returns the entries of `.ze_info` for images, samplers and scratch, and the sections. An entry
/// is a line; they are sorted and have no offsets.
fn described(zebin: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(zebin);
    let info = &text[text.find("kernels:").unwrap()..];
    let info = &info[..info.find("...").unwrap()];
    let mut entries: Vec<Vec<String>> = Vec::new();
    for line in info.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let line = words.join(" ");
        match line.strip_prefix("- ") {
            Some(first) => entries.push(vec![first.to_owned()]),
            None => {
                if let Some(last) = entries.last_mut() {
                    last.push(line);
                }
            }
        }
    }
    let mut out = Vec::new();
    for mut e in entries {
        let has = |what: &str| e.iter().any(|l| l.starts_with(what));
        let table = has("addrspace: image") || has("addrspace: sampler");
        if has("execution_env:") {
            // The kernel's own entry.
            e.retain(|l| l.starts_with("has_fence_for_image_access"));
        } else if !(table || has("arg_type: image_") || has("usage:")) {
            continue;
        }
        // Removes keys that only Intel's compiler writes, list keys after an entry, and differences
        // of layout.
        e.retain(|l| {
            let left_out = [
                "image_transformable",
                "offset:",
                "size:",
                "per_thread",
                "bind",
            ];
            !left_out.iter().any(|o| l.starts_with(o)) && !l.ends_with("_info:")
        });
        if !e.is_empty() {
            out.push(e.join(", "));
        }
    }
    for section in [
        ".data.const\0",
        ".data.global\0",
        ".rel.data.const\0",
        ".rel.data.global\0",
        ".rel.text.k\0",
        ".symtab\0",
    ] {
        if text.contains(section) {
            out.push(section.to_owned());
        }
    }
    out.sort();
    out
}

const OPENCL: &str = "
__constant int table[4] = {3, 1, 4, 1};
__constant int *__constant parts[2] = {table, table + 2};
global int counter = 3;
global int *global cursor = &counter;
kernel void k(read_only image1d_t a, read_only image1d_array_t b, read_only image2d_t c, read_only image2d_array_t d, read_only image3d_t e,
              read_only image1d_buffer_t f, write_only image2d_t g, read_write image2d_t h, sampler_t s, global int *p) {
    int x = get_global_id(0);
    float4 v = read_imagef(a, x) + read_imagef(b, (int2)(x, 1)) + read_imagef(c, s, (float2)(x, 1)) + read_imagef(d, (int4)(x, 1, 2, 0));
    v += read_imagef(e, (int4)(x, 1, 2, 0)) + read_imagef(f, x) + read_imagef(h, (int2)(x, 1));
    v.x += get_image_channel_data_type(c) + get_image_channel_order(c);
    write_imagef(g, (int2)(x, 1), v);
    write_imagef(h, (int2)(x, 1), v);
    int mine[64];
    for (int i = 0; i < 64; i++) mine[p[i + x] & 63] = i * x;
    p[x] = mine[p[x] & 63] + table[x & 3] + *parts[x & 1];
    *cursor += 1;
}
";

const IR: &str = "
const %table = i32 [3, 1, 4, 1]
const %parts = i64 [0, 0] relocs [0: %table, 8: %table+8]
global %counter = i32 [3]
global %cursor = i64 [0] relocs [0: %counter]

kernel %k(i32 image1d read, i32 image1d_array read, i32 image2d read, i32 image2d_array read, i32 image3d read, i32 image1d_buffer read, i32 image2d write, i32 image2d readwrite, i32 sampler, i64 ptr) simd16 scratch 4096 {
block0(v0: i32, v1: i32, v2: i32, v3: i32, v4: i32, v5: i32, v6: i32, v7: i32, v8: i32, v9: i64):
    v10 = image_query.i32 channel_type image 2
    v11 = image_query.i32 channel_order image 2
    v12 = image_query.i32 width image 2
    v13 = image_query.i32 height image 2
    v14 = image_query.i32 width image 3
    v15 = image_query.i32 height image 3
    v16 = image_query.i32 layers image 3
    v17 = image_query.i32 depth image 4
    v18 = sampler_query.i32 snap sampler 0
    v19 = symbol_addr.i64 %table
    v20 = bload.i32x4 v19
    bstore v20, v9
    v21 = symbol_addr.i64 %cursor
    v22 = bload.i64 v21
    v23 = bload.i32 v22
    bstore v23, v22
    return
}
";

/// Resources of a kernel besides plain arguments are described as by Intel's compiler.
#[test]
fn images_samplers_scratch_and_data_are_described_as_intels_compiler_does() {
    if !have_ocloc() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let module = gantry_codegen::text::parse(IR).unwrap().module;
    for name in ["bdw", "skl", "bxt", "icllp", "tgllp", "dg2"] {
        let mut theirs = described(&ocloc(dir.path(), name, OPENCL).unwrap());
        let target = Target::lookup(name).unwrap();
        // Resources that are declared and not used are listed there too.
        let options = CompileOptions {
            opt: OptLevel::O0,
            ..CompileOptions::new(target)
        };
        let ours = compile(&module, &options).unwrap();
        let mut ours = described(&ours.zebin);
        // Sizes differ by what the kernels ask for.
        for list in [&mut theirs, &mut ours] {
            list.retain(|e| !(e.contains("image_width") || e.contains("image_height")));
            // Intel's compiler keeps private arrays in global memory there, and only spills in
            // scratch.
            list.retain(|e| !["bdw", "dg2"].contains(&name) || !e.contains("usage:"));
            list.retain(|e| !(e.contains("image_depth") || e.contains("image_array_size")));
        }
        assert_eq!(theirs.join("\n"), ours.join("\n"), "{name}");
    }
}

/// Describes the file's header and each section. Intel's compiler states no alignment, nor that
/// relocations link to what they change (`SHF_INFO_LINK`, 0x40). It has one table for both kinds of
/// names.
fn sections(zebin: &[u8]) -> (String, BTreeMap<String, String>) {
    let file = FileHeader64::<Endianness>::parse(zebin).unwrap();
    let e = file.endian().unwrap();
    let mut out = BTreeMap::new();
    let table = file.sections(e, zebin).unwrap();
    for s in table.iter().skip(1) {
        let name = String::from_utf8_lossy(table.section_name(e, s).unwrap());
        let (kind, flags, entry) = (s.sh_type(e), s.sh_flags(e), s.sh_entsize(e));
        let flags = flags.0 & !SHF_INFO_LINK.0;
        let what = format!("type {kind:x?}, flags {flags:#x}, entries of {entry}");
        out.insert(name.into_owned(), what);
    }
    let head = format!(
        "type {:#x}, machine {}, version {}",
        file.e_type(e),
        file.e_machine(e),
        file.e_version(e)
    );
    (head, out)
}

/// The simulator reads only the names of sections.
#[test]
fn sections_are_what_they_are_in_what_intels_compiler_writes() {
    if !have_ocloc() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let module = gantry_codegen::text::parse(IR).unwrap().module;
    for name in ["bdw", "skl", "bxt", "icllp", "tgllp", "dg2"] {
        let (head, theirs) = sections(&ocloc(dir.path(), name, OPENCL).unwrap());
        let target = Target::lookup(name).unwrap();
        let zebin = compile(&module, &CompileOptions::new(target))
            .unwrap()
            .zebin;
        let (our_head, ours) = sections(&zebin);
        assert_eq!(our_head, head, "{name}");
        // The names of sections, and a note of our own.
        let own = [".shstrtab", ".note.gantry.bindings"];
        for (section, what) in ours.iter().filter(|(s, _)| !own.contains(&s.as_str())) {
            assert_eq!(theirs.get(section), Some(what), "{name}: {section}");
        }
        assert!(ours.len() >= 10, "{name}: {ours:?}");
    }
}
