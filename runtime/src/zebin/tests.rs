use super::*;

/// Writes a small zebin by hand: the smallest that the reader takes.
fn zebin(ze_info: &str, kernels: &[&str], product: u32) -> Vec<u8> {
    let mut note = Vec::new();
    for v in [8u32, 4, 1] {
        note.extend(v.to_le_bytes());
    }
    note.extend(b"IntelGT\0");
    note.extend(product.to_le_bytes());
    let mut sections: Vec<(String, u32, Vec<u8>)> = vec![(String::new(), 0, Vec::new())];
    for k in kernels {
        sections.push((format!(".text.{k}"), 1, vec![0; 32]));
    }
    sections.push((".ze_info".into(), 0xff00_0011, ze_info.into()));
    sections.push((".note.intelgt.compat".into(), 7, note));
    let mut names = vec![0u8];
    let mut at = Vec::new();
    for (n, ..) in &sections {
        at.push(if n.is_empty() { 0 } else { names.len() });
        if !n.is_empty() {
            names.extend(n.as_bytes());
            names.push(0);
        }
    }
    at.push(names.len());
    names.extend(b".shstrtab\0");
    sections.push((".shstrtab".into(), 3, names));
    let mut body = vec![0u8; 64];
    let mut headers = Vec::new();
    for ((_, ty, data), name) in sections.iter().zip(at) {
        let offset = body.len();
        body.extend(data);
        headers.extend((name as u32).to_le_bytes());
        headers.extend(ty.to_le_bytes());
        for v in [0u64, 0, offset as u64, data.len() as u64] {
            headers.extend(v.to_le_bytes());
        }
        headers.extend([0u8; 8]);
        headers.extend([0u8; 16]);
    }
    let table = body.len() as u64;
    body.extend(headers);
    body[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    body[16..18].copy_from_slice(&1u16.to_le_bytes());
    body[18..20].copy_from_slice(&205u16.to_le_bytes());
    body[20..24].copy_from_slice(&1u32.to_le_bytes());
    body[40..48].copy_from_slice(&table.to_le_bytes());
    body[52..54].copy_from_slice(&64u16.to_le_bytes());
    body[58..60].copy_from_slice(&64u16.to_le_bytes());
    body[60..62].copy_from_slice(&(sections.len() as u16).to_le_bytes());
    body[62..64].copy_from_slice(&(sections.len() as u16 - 1).to_le_bytes());
    body
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
    assert_eq!(k.env.grf_count, 128);
    assert_eq!(k.env.required_work_group_size, Some([8, 2, 1]));
    let kinds: Vec<ArgKind> = k.args.iter().map(|a| a.kind).collect();
    assert_eq!(kinds, [ArgKind::Value { size: 8 }, ArgKind::Buffer]);
    assert_eq!(k.cross_thread_bytes(32), 64);
    assert_eq!(k.scratch_bytes(), 640 * 16);
    assert_eq!(k.bindings, [(3, 1)]);
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
    assert!(with("offset: 16", "offset: 4095").contains("do not fit the register file"));
    assert!(with("stateless", "homeless").contains("unknown addrmode `homeless`"));
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
    assert!(error(&"[".repeat(100_000)).contains("nested too deeply"));
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
    assert!(parse(&zebin(INFO, &["k"], 1270)).contains("product family 1270"));
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
