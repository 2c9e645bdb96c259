//! Reflection in a zebin: facts about kernels' parameters that a launch does not need. Names are in
//! `.ze_info` as Intel's compiler writes them. Bindings of shader resources are in a note of
//! Gantry's own. Loaders ignore both.
//!
//! The note, `.note.gantry.bindings`, has one entry of type 1 whose owner is `Gantry`. Its text is
//! YAML as `.ze_info` is:
//!
//! ```yaml
//! ---
//! version: '1.0'
//! kernels:
//!   - name: double
//!     args:
//!       - arg_index: 0
//!         resource: storage_buffer      # or uniform_buffer, image, sampler
//!         set: 0
//!         binding: 0
//!         element: 0
//!         least: 4                      # bytes; of buffers
//!         read_only: true               # of storage buffers, if it is
//!       - arg_index: 1
//!         size_of: 0                    # the size in bytes of the buffer that is argument 0
//!       - arg_index: 2
//!         push_constants: true
//! ```

use super::{KernelImage, access_type, image_type};
use crate::ir::{ArgKind, Function, Param, ParamRole, Resource, Scalar};
use std::fmt::Write as _;

/// Section of the note.
pub(super) const SECTION: &str = ".note.gantry.bindings";
/// Owner and type of the note.
pub(super) const OWNER: &[u8] = b"Gantry\0";
pub(super) const NOTE: u32 = 1;

/// Returns `kernels_misc_info` of `.ze_info`, or nothing.
pub(super) fn misc_info(kernels: &[KernelImage<'_>]) -> String {
    let mut s = String::new();
    for k in kernels {
        let infos = k.func.reflection.iter().zip(&k.func.sig.params).enumerate();
        let mut first = true;
        for (n, (info, param)) in infos.filter(|(_, (i, _))| !i.name.is_empty()) {
            if s.is_empty() {
                s.push_str("kernels_misc_info:\n");
            }
            if first {
                let _ = writeln!(s, "  - name: {}\n    args_info:", k.func.name);
                first = false;
            }
            let space = match param.kind {
                ArgKind::Ptr | ArgKind::Surface => "__global",
                ArgKind::Slm => "__local",
                ArgKind::Image(..) => "__global",
                ArgKind::Value | ArgKind::Sampler => "__private",
            };
            let access = match param.kind {
                ArgKind::Image(_, access) => access_type(access),
                _ => "NONE",
            };
            let _ = writeln!(
                s,
                "      - index: {n}\n        name: {}\n        address_qualifier: {space}\n        access_qualifier: {access}\n        type_name: '{}'\n        type_qualifiers: NONE",
                scalar(&info.name),
                type_name(param)
            );
        }
    }
    s
}

/// Returns the text of the note. `None` if no kernel has resources.
pub(super) fn bindings(kernels: &[KernelImage<'_>]) -> Option<String> {
    let mut s = String::new();
    for k in kernels {
        kernel(&mut s, k.func);
    }
    (!s.is_empty()).then(|| format!("---\nversion: '1.0'\nkernels:\n{s}...\n"))
}

fn kernel(s: &mut String, func: &Function) {
    let mut first = true;
    let all = func.reflection.iter().enumerate();
    for (n, info) in all.filter(|(_, i)| i.role != ParamRole::Argument) {
        if first {
            let _ = writeln!(s, "  - name: {}\n    args:", func.name);
            first = false;
        }
        let _ = writeln!(s, "      - arg_index: {n}");
        // Writing to a string cannot fail.
        let _ = match info.role {
            ParamRole::Argument => Ok(()),
            ParamRole::SizeOf(of) => writeln!(s, "        size_of: {of}"),
            ParamRole::PushConstants => writeln!(s, "        push_constants: true"),
            ParamRole::Resource(at, resource) => {
                let what = match resource {
                    Resource::StorageBuffer { .. } => "storage_buffer",
                    Resource::UniformBuffer { .. } => "uniform_buffer",
                    Resource::Image => "image",
                    Resource::Sampler => "sampler",
                };
                let _ = writeln!(
                    s,
                    "        resource: {what}\n        set: {}\n        binding: {}\n        element: {}",
                    at.set, at.binding, at.element
                );
                match resource {
                    Resource::StorageBuffer {
                        read_only: true,
                        least,
                    } => {
                        writeln!(s, "        least: {least}\n        read_only: true")
                    }
                    Resource::StorageBuffer { least, .. } | Resource::UniformBuffer { least } => {
                        writeln!(s, "        least: {least}")
                    }
                    Resource::Image | Resource::Sampler => Ok(()),
                }
            }
        };
    }
}

/// Returns the type of an argument as Intel's compiler names it: the type, then its bytes. The IR
/// has no signs, so integers are signed.
fn type_name(param: &Param) -> String {
    match param.kind {
        // The pointee type is not known.
        ArgKind::Ptr | ArgKind::Surface => "char*;8".to_owned(),
        ArgKind::Slm => "char*;4".to_owned(),
        ArgKind::Image(shape, _) => {
            let shape = image_type(shape);
            let shape = shape.strip_prefix("image_").unwrap_or(shape);
            let shape = if shape == "buffer" {
                "1d_buffer"
            } else {
                shape
            };
            format!("image{shape}_t;8")
        }
        ArgKind::Sampler => "sampler_t;4".to_owned(),
        ArgKind::Value => {
            let scalar = match param.ty.scalar() {
                // A kernel has no predicate by value.
                Scalar::I8 | Scalar::B1 => "char",
                Scalar::I16 => "short",
                Scalar::I32 => "int",
                Scalar::I64 => "long",
                Scalar::F16 => "half",
                Scalar::F32 => "float",
                Scalar::F64 => "double",
            };
            let bytes = param.ty.bytes();
            match param.ty.lanes() {
                1 => format!("{scalar};{bytes}"),
                n @ (2 | 4 | 8 | 16) => format!("{scalar}{n};{bytes}"),
                n => format!("{scalar}[{n}];{bytes}"),
            }
        }
    }
}

/// Returns a name as a YAML scalar: unchanged if it has no special characters, else in quotes.
fn scalar(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .contains(&name.to_ascii_lowercase().as_str());
    if plain {
        return name.to_owned();
    }
    let mut out = String::from("\"");
    for c in name.chars() {
        // Writing to a string cannot fail.
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            c if c.is_control() || c > '~' => match u32::from(c) {
                n @ 0..=0xffff => write!(out, "\\u{n:04x}"),
                n => write!(out, "\\U{n:08x}"),
            },
            c => write!(out, "{c}"),
        };
    }
    out.push('"');
    out
}
