use super::*;
use gantry_zebin::elf::Section;
use gantry_zebin::write;

/// Builds a small zebin whose kernels have no code worth running.
fn zebin(ze_info: &str, kernels: &[&str], product: u32) -> Vec<u8> {
    let code = |k: &&str| Section::new(format!(".text.{k}"), vec![0; 32]);
    write(product, ze_info, kernels.iter().map(code).collect()).unwrap()
}

const INFO: &str = "\
---
version: '1.15'
kernels:
  - name: k
    execution_env:
      simd_size: 16
      slm_size: 512
      required_work_group_size: [ 8, 2, 1 ]
    payload_arguments:
      - arg_type: global_id_offset
        offset: 0
        size: 12
      - arg_type: arg_bypointer
        offset: 16
        size: 8
        arg_index: 1
        addrmode: stateless
        addrspace: global
        access_type: readwrite
      - arg_type: arg_byvalue
        offset: 24
        size: 4
        arg_index: 0
        source_offset: 0
      - arg_type: arg_byvalue
        offset: 32
        size: 4
        arg_index: 0
        source_offset: 4
    per_thread_payload_arguments:
      - arg_type: local_id
        offset: 0
        size: 96
    binding_table_indices:
      - bti_value: 3
        arg_index: 1
    per_thread_memory_buffers:
      - type: scratch
        usage: single_space
        size: 640
        is_simt_thread: true
";

fn error(ze_info: &str) -> String {
    Zebin::parse(&zebin(ze_info, &["k"], 18))
        .unwrap_err()
        .to_string()
}

#[test]
fn a_whole_one() {
    let bytes = zebin(INFO, &["k"], 18);
    let z = Zebin::parse(&bytes).unwrap();
    assert_eq!(z.platform, Platform::Gen9);
    assert_eq!(z.version.as_deref(), Some("1.15"));
    let (i, k) = z.kernel("k").unwrap();
    assert_eq!(z.code(&bytes, i).unwrap().len(), 32);
    assert_eq!(k.env.simd_size, 16);
    assert_eq!(k.grf_count, 128);
    assert_eq!(k.env.required_work_group_size, Some([8, 2, 1]));
    let kinds: Vec<ArgKind> = k.args.iter().map(|a| a.kind).collect();
    assert_eq!(kinds, [ArgKind::Value { size: 8 }, ArgKind::Buffer]);
    assert_eq!(k.cross_thread_bytes(), 64);
    assert_eq!(k.scratch_bytes(), 640 * 16);
    assert_eq!(k.binding_table, [(3, 1)]);
    assert!(z.kernel("other").is_none());
}

#[test]
fn mistakes_are_named() {
    let with = |from: &str, to: &str| {
        assert!(INFO.contains(from), "{from}");
        error(&INFO.replace(from, to))
    };
    assert_eq!(
        with(
            "arg_byvalue\n        offset: 24",
            "arg_bywhat\n        offset: 24"
        ),
        "not a usable zebin: .ze_info: kernel `k`.payload_arguments[2]: unknown arg_type `arg_bywhat`"
    );
    assert_eq!(
        with("simd_size: 16", "simd_size: 12"),
        "not a usable zebin: .ze_info: kernel `k`.execution_env: simd_size 12 is not 1, 8, 16 or 32"
    );
    assert_eq!(
        with("      simd_size: 16\n", ""),
        "not a usable zebin: .ze_info: kernel `k`.execution_env: no `simd_size`"
    );
    assert!(with("size: 96", "size: 64").contains("local_id must be 96 bytes"));
    assert!(
        with(
            "local_id\n        offset: 0\n        size: 96",
            "packed_local_ids\n        offset: 4294967295\n        size: 6"
        )
        .contains("cannot be 6 bytes")
    );
    assert!(with("offset: 16", "offset: 4095").contains("do not fit the register file"));
    assert!(with("stateless", "homeless").contains("unknown addrmode `homeless`"));
    assert!(with("readwrite", "rw").contains("unknown access_type `rw`"));
    assert!(with("single_space", "some_space").contains("unknown usage `some_space`"));
    assert!(with("bti_value: 3", "bti_value: 300").contains("above 252"));
    assert!(
        with(
            "bti_value: 3\n        arg_index: 1",
            "bti_value: 3\n        arg_index: 0"
        )
        .contains("no buffer or image")
    );
    assert!(
        with(
            "arg_index: 1\n        addrmode",
            "arg_index: 99999\n        addrmode"
        )
        .contains("above 1024")
    );
    assert!(with("kernels:", "kernel:").contains("no `kernels`"));
    assert!(with("- name: k", "- name: q").contains("no .text.q section"));
    assert!(with("[ 8, 2, 1 ]", "[ 8, 2 ]").contains("expected three numbers"));
    assert!(error("a: [").contains(".ze_info:"));
    assert!(error("").contains(".ze_info is empty"));
    for deep in ["[", "- ", "? ", "{a: "] {
        assert!(
            error(&deep.repeat(65)).contains("nested too deeply"),
            "{deep}"
        );
        let e = error(&deep.repeat(100_000));
        assert!(e.starts_with("not a usable zebin: .ze_info: "), "{e}");
    }
    assert!(error("{[1]: 2}").contains("a key that is a list or a map"));
    assert!(error("{1: 2, '1': 3}").contains("a second `1` in a map"));
    assert!(error("a: &a 1\nb: *a").contains("an alias"));
    // A damaged document after a good one.
    assert!(error(&format!("{INFO}\n---\na: [")).contains(".ze_info: "));
}

#[test]
fn containers_are_checked() {
    let parse = |b: &[u8]| Zebin::parse(b).unwrap_err().to_string();
    assert_eq!(parse(b""), "not a usable zebin: no ELF header");
    assert_eq!(parse(b"hello, world"), "not a usable zebin: no ELF header");
    let whole = zebin(INFO, &["k"], 18);
    let mut other = whole.clone();
    other[18] = 62;
    assert!(parse(&other).contains("ELF machine is 62, not 205"));
    assert!(parse(&zebin(INFO, &["k"], 9999)).contains("product family 9999"));
    // A note of a core family alone.
    let core = |core: u32| {
        let mut bytes = zebin(INFO, &["k"], core);
        let owner = bytes.windows(8).position(|w| w == b"IntelGT\0").unwrap();
        bytes[owner - 4] = 2;
        bytes
    };
    let read = Zebin::parse(&core(12)).unwrap();
    assert_eq!((read.platform, read.product), (Platform::Gen9, 18));
    assert_eq!(
        Platform::from_core(0xc08),
        Some(Platform::XeHpc),
        "its rows of local ids are longer"
    );
    assert!(parse(&core(0xc09)).contains("core family 0xc09 is of no platform"));
    assert!(parse(&core(0)).contains("no product family and no core family"));
    for n in 0..whole.len() {
        assert!(Zebin::parse(&whole[..n]).is_err(), "{n} bytes");
    }
}

#[test]
fn damage_never_panics() {
    let whole = zebin(INFO, &["k"], 18);
    let seed = 0x0dd5u64;
    println!("seed {seed:#x}");
    let mut s = seed;
    let mut next = |n: usize| {
        s = s
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (s >> 33) as usize % n
    };
    let (mut fine, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut b = whole.clone();
        for _ in 0..=next(4) {
            let at = next(b.len());
            match next(3) {
                0 => b[at] ^= 1 << next(8),
                1 => b[at] = next(256) as u8,
                _ => {
                    b[at] = *[0, 0xff, b'-', b':', b'\n', b'9', b' ', b'[']
                        .get(next(8))
                        .unwrap()
                }
            }
        }
        match Zebin::parse(&b) {
            Ok(_) => fine += 1,
            Err(e) => {
                assert!(!e.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(fine > 0 && refused > 0, "{fine} {refused}");
}

/// Builds an entry of a note.
fn note(owner: &str, ty: u32, desc: &[u8]) -> Vec<u8> {
    let owner = owner.as_bytes();
    let mut out = Vec::new();
    gantry_zebin::Note { owner, ty, desc }.write(&mut out);
    out
}

/// Builds a zebin with a note of bindings.
fn with_bindings(note: Vec<u8>) -> Result<Zebin, ZebinError> {
    let sections = vec![
        Section::new(".text.k", vec![0; 32]),
        Section::new(".note.gantry.bindings", note),
    ];
    Zebin::parse(&write(18, INFO, sections).unwrap())
}

#[test]
fn places_of_arguments() {
    let say = |args: &str| {
        let text = format!("---\nversion: '1.0'\nkernels:\n  - name: k\n    args:\n{args}...\n");
        // Entries of other owners and types are skipped.
        let mut all = note("Other", 1, b"?");
        all.extend(note("Gantry", 2, b"?"));
        all.extend(note("Gantry", 1, text.as_bytes()));
        with_bindings(all)
    };
    let buffer = "      - {arg_index: 1, resource: storage_buffer, set: 2, binding: 3, least: 8}\n";
    let z = say(buffer).unwrap();
    let place = BindingPlace {
        set: 2,
        binding: 3,
        element: 0,
    };
    let resource = Resource::StorageBuffer {
        least: 8,
        read_only: false,
    };
    let k = &z.kernels[0];
    assert_eq!(k.args[0].role, ArgRole::Argument);
    assert_eq!(k.args[1].role, ArgRole::Resource(place, resource));
    let fails = |args: &str| say(args).unwrap_err().to_string();
    for (args, said) in [
        ("      - {arg_index: 1}\n", "no `set`"),
        (
            "      - {arg_index: 1, resource: cube, set: 0, binding: 0}\n",
            "unknown resource `cube`",
        ),
        (
            "      - {arg_index: 0, resource: image, set: 0, binding: 0}\n",
            "argument 0 cannot be this",
        ),
        (
            "      - {arg_index: 7, push_constants: true}\n",
            "argument 7 cannot be this",
        ),
        // A value of 8 bytes is no size.
        (
            "      - {arg_index: 0, size_of: 1}\n",
            "argument 0 cannot be this",
        ),
        (&buffer.repeat(2), "argument 1 cannot be this"),
    ] {
        let e = fails(args);
        assert!(e.contains(".note.gantry.bindings: kernel `k`"), "{e}");
        assert!(e.contains(said), "{e}");
    }
}

#[test]
fn damaged_places_of_arguments() {
    let whole = note(
        "Gantry",
        1,
        b"kernels: [{name: other, args: [{arg_index: 1, push_constants: true}]}]",
    );
    let e = |note: Vec<u8>| with_bindings(note).unwrap_err().to_string();
    assert!(e(whole.clone()).contains("there is no such kernel"));
    for len in 1..whole.len() - 4 {
        assert!(e(whole[..len].to_vec()).contains("is damaged"), "{len}");
    }
    assert!(e(note("Gantry", 1, b"\xff")).contains("invalid utf-8"));
    assert!(e(note("Gantry", 1, b"[")).contains(".note.gantry.bindings: "));
}
