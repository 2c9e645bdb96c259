use super::*;
use crate::info::image::ImageKind;
use crate::info::payload::{
    AccessType, AddrMode, AddrSpace, LaunchFact, PayloadKind, PerThreadIds, Pointer,
};

/// Keywords of the format are read back from their names.
#[test]
fn source_types_of_images() {
    for kind in ImageKind::ALL {
        assert_eq!(ImageKind::from_name(kind.name()), Some(kind));
        assert_eq!(ImageKind::from_source_type(&kind.source_type()), Some(kind));
    }
    assert_eq!(ImageKind::Buffer.source_type(), "image1d_buffer_t");
    assert_eq!(ImageKind::D2Array.source_type(), "image2d_array_t");
}

const TEXT: &str = "\
---
version: '1.15'
kernels:
  - name: k
    execution_env:
      grf_count: 128
      has_dpas: true
      required_work_group_size:
        - 8
        - 2
        - 1
      simd_size: 16
      thread_scheduling_mode: round_robin
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
      - arg_type: arg_bypointer
        offset: 0
        size: 0
        arg_index: 2
        addrmode: stateful
        addrspace: image
        access_type: readonly
        image_type: image_2d
      - arg_type: const_base
        offset: 24
        size: 8
        addrmode: stateless
        bti_value: 3
    per_thread_payload_arguments:
      - arg_type: local_id
        offset: 0
        size: 96
    per_thread_memory_buffers:
      - type: scratch
        usage: single_space
        size: 640
    binding_table_indices:
      - bti_value: 0
        arg_index: 2
    inline_samplers:
      - sampler_index: 0
        addrmode: clamp_edge
        filtermode: nearest
        normalized: true
    experimental_properties:
      has_non_kernel_arg_load: -1
functions:
  - name: f
    execution_env:
      grf_count: 128
      simd_size: 16
global_host_access_table:
  - device_name: _ZN1v
    host_name: v
kernels_misc_info:
  - name: k
    args_info:
      - index: 1
        name: \"no\"
        address_qualifier: __global
        access_qualifier: NONE
        type_name: 'char*;8'
        type_qualifiers: NONE
l1_cache_policy: wb
...
";

/// A text in Gantry's order of keys is written as it was read.
#[test]
fn a_text_is_written_as_read() {
    let info = ZeInfo::read(TEXT, &Limits::default()).unwrap();
    assert_eq!(info.write(), TEXT);
    let k = &info.kernels[0];
    assert_eq!(k.env.required_work_group_size, Some([8, 2, 1]));
    assert_eq!(
        k.payload[0].kind,
        PayloadKind::Launch(LaunchFact::GlobalIdOffset)
    );
    let pointer = Pointer::new(1, AddrMode::Stateless, AddrSpace::Global);
    let pointer = pointer.access(AccessType::ReadWrite);
    assert_eq!(k.payload[1].kind, PayloadKind::Pointer(pointer));
    assert_eq!(k.per_thread[0].kind, PerThreadIds::Local);
    assert_eq!(info.misc[0].args_info[0].type_alone(), "char*");
    assert_eq!(info.misc[0].args_info[0].type_bytes(), Some(8));
}

/// Names that YAML has other values for stay names.
#[test]
fn names_are_read_as_written() {
    for name in ["null", "TRUE", "007", "0x1", "12", "n", "_Z1kPf", "a b", ""] {
        let info = ZeInfo {
            kernels: vec![Kernel {
                env: ExecutionEnv {
                    simd_size: 8,
                    ..ExecutionEnv::default()
                },
                ..Kernel::new(name)
            }],
            ..ZeInfo::default()
        };
        let text = info.write();
        assert_eq!(ZeInfo::read(&text, &Limits::default()), Ok(info), "{text}");
    }
}

#[test]
fn mistakes_say_where() {
    for (from, to, said) in [
        (
            "local_id",
            "local_it",
            "kernel `k`.per_thread_payload_arguments[0]: unknown arg_type `local_it`",
        ),
        (
            "simd_size: 16\n      thread",
            "simd_size: 4\n      thread",
            "kernel `k`.execution_env: simd_size 4 is not 1, 8, 16 or 32",
        ),
        (
            "has_dpas: true",
            "has_dpas: maybe",
            "kernel `k`.execution_env.has_dpas: expected true or false",
        ),
        (
            "bti_value: 0",
            "bti_value: 300",
            "kernel `k`.binding_table_indices[0]: bti_value 300 is above 252",
        ),
        (
            "image_type: image_2d",
            "image_type: image_4d",
            "kernel `k`.payload_arguments[2]: unknown image_type `image_4d`",
        ),
        (
            "        size: 640\n",
            "",
            "kernel `k`.per_thread_memory_buffers[0]: no `size`",
        ),
        ("wb\n", "w\n", "unknown l1_cache_policy `w`"),
    ] {
        assert!(TEXT.contains(from), "{from}");
        let e = ZeInfo::read(&TEXT.replace(from, to), &Limits::default()).unwrap_err();
        assert!(e.to_string().ends_with(said), "{e}");
    }
}
