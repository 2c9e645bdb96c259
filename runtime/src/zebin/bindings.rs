//! Reader of `.note.gantry.bindings`, which says where a kernel's arguments are among a shader's
//! resources. `codegen` writes the note; `zebin/reflection.rs` there describes its format.

use super::elf::notes;
use super::info::{ArgKind, ArgRole, BindingPlace, KernelInfo, Resource};
use super::yaml::{self, Node};
use super::{Zebin, ZebinError};
use crate::limits::Limits;

/// Section of the note.
pub(super) const SECTION: &str = ".note.gantry.bindings";
/// Owner of the note, and below it its type.
const OWNER: &[u8] = b"Gantry";
const NOTE: u32 = 1;

/// Reads the section into the kernels of a zebin.
///
/// # Errors
/// The note is damaged, or does not match the kernel's arguments.
pub(super) fn read(section: &[u8], zebin: &mut Zebin, limits: &Limits) -> Result<(), ZebinError> {
    for note in notes(section, SECTION) {
        let note = note?;
        if note.owner != OWNER || note.ty != NOTE {
            continue;
        }
        let text = std::str::from_utf8(note.desc)
            .map_err(|e| ZebinError::new(format!("{SECTION}: {e}")))?;
        let Some(doc) = yaml::parse(text, SECTION, limits)? else {
            continue;
        };
        for node in Node::root(&doc, SECTION).list_of("kernels")? {
            let name = node.need("name")?.string()?;
            let node = node.named(format!("{SECTION}: kernel `{name}`"));
            let found = zebin.index.get(&name).copied();
            match found.and_then(|n| zebin.kernels.get_mut(n)) {
                Some(kernel) => roles(kernel, &node)?,
                None => return Err(node.error("there is no such kernel")),
            }
        }
    }
    Ok(())
}

fn roles(kernel: &mut KernelInfo, node: &Node<'_>) -> Result<(), ZebinError> {
    let mut places = Vec::new();
    for n in node.list_of("args")? {
        let role = role(&n)?;
        let index = n.need("arg_index")?.u32()?;
        let kind = |index: u32| kernel.args.get(index as usize).map(|a| a.kind);
        let fits = match (role, kind(index)) {
            (ArgRole::Resource(_, r), Some(kind)) => match r {
                Resource::StorageBuffer { .. } | Resource::UniformBuffer { .. } => {
                    kind == ArgKind::Buffer
                }
                Resource::Image => matches!(kind, ArgKind::Image(_)),
                Resource::Sampler => kind == ArgKind::Sampler,
            },
            // A value of size 0 is an argument that nothing reads.
            (ArgRole::SizeOf(of), Some(ArgKind::Value { size: 0 | 4 })) => {
                kind(of) == Some(ArgKind::Buffer)
            }
            (ArgRole::PushConstants, Some(ArgKind::Value { .. })) => true,
            _ => false,
        };
        if let ArgRole::Resource(place, r) = role {
            // An image and its sampler may share a binding.
            places.push((place, r == Resource::Sampler));
        }
        match kernel.args.get_mut(index as usize) {
            Some(arg) if fits && arg.role == ArgRole::Argument => arg.role = role,
            _ => return Err(n.error(&format!("argument {index} cannot be this"))),
        }
    }
    places.sort_unstable();
    match places.windows(2).find(|w| w.first() == w.last()) {
        Some(_) => Err(node.error("two arguments are at one place")),
        None => Ok(()),
    }
}

fn role(n: &Node<'_>) -> Result<ArgRole, ZebinError> {
    if let Some(of) = n.get("size_of")? {
        return Ok(ArgRole::SizeOf(of.u32()?));
    }
    if n.flag("push_constants")? {
        return Ok(ArgRole::PushConstants);
    }
    let place = BindingPlace {
        set: n.need("set")?.u32()?,
        binding: n.need("binding")?.u32()?,
        element: n.u32_or("element", 0)?,
    };
    let what = n.need("resource")?.string()?;
    let resource = match what.as_str() {
        "storage_buffer" => Resource::StorageBuffer {
            least: n.need("least")?.u32()?,
            read_only: n.flag("read_only")?,
        },
        "uniform_buffer" => Resource::UniformBuffer {
            least: n.need("least")?.u32()?,
        },
        "image" => Resource::Image,
        "sampler" => Resource::Sampler,
        _ => return Err(n.error(&format!("unknown resource `{what}`"))),
    };
    Ok(ArgRole::Resource(place, resource))
}
