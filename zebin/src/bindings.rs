//! Bindings of shaders: the locations of kernels' arguments among a shader's resources. Kernels
//! whose grid may be cut into several launches are named, too.
//!
//! They are in a note of Gantry's own, `.note.gantry.bindings`, that loaders ignore. It has one
//! entry of type 1 whose owner is `Gantry`. Its text is YAML as `.ze_info` is:
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
//!     divisible: true                   # if launches of parts of a grid do what one of all does
//! ```

#[cfg(feature = "read")]
use crate::error::ZebinError;
#[cfg(feature = "read")]
use crate::limits::Limits;
#[cfg(feature = "read")]
use crate::names::BINDINGS;
use crate::names::{BINDINGS_NOTE, GANTRY};
use crate::note::Note;
#[cfg(feature = "read")]
use crate::note::notes;
use crate::record::{Item, Value, keyword, record};
#[cfg(feature = "read")]
use crate::yaml::{self, Node};
use crate::yaml::{Text, quoted};
use gantry_isa_gen::diag::Count;
use std::fmt;

/// Version of the note.
const VERSION: &str = "1.0";

/// Means by which a host finds an argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ArgRole {
    /// Argument list, by number.
    #[default]
    Argument,
    /// Resources of a shader, by binding.
    Resource(BindingPlace, Resource),
    /// Push constants of a shader.
    PushConstants,
    /// Size in bytes, as `i32`, of the buffer that is the argument of this number. Launches fill it
    /// in.
    SizeOf(u32),
}

/// Location of a resource in a shader's interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BindingPlace {
    /// Descriptor set; in WGSL, the group.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Element, for an array of resources.
    pub element: u32,
}

/// Resource of a shader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Resource {
    /// Storage buffer.
    StorageBuffer {
        /// Bytes that it must have: the fixed part, and one element of the array that it ends in.
        least: u32,
        /// True if the shader only reads it.
        read_only: bool,
    },
    /// Uniform buffer.
    UniformBuffer {
        /// Bytes that it must have.
        least: u32,
    },
    /// Image.
    Image,
    /// Sampler.
    Sampler,
}

impl Resource {
    /// Returns the bytes that a buffer must have; 0 for other resources.
    pub const fn least(self) -> u32 {
        match self {
            Resource::StorageBuffer { least, .. } | Resource::UniformBuffer { least } => least,
            Resource::Image | Resource::Sampler => 0,
        }
    }

    const fn kind(self) -> ResourceKind {
        match self {
            Resource::StorageBuffer { .. } => ResourceKind::StorageBuffer,
            Resource::UniformBuffer { .. } => ResourceKind::UniformBuffer,
            Resource::Image => ResourceKind::Image,
            Resource::Sampler => ResourceKind::Sampler,
        }
    }
}

/// Position of an argument in a shader's interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Slot {
    /// Resource, by its place.
    At(BindingPlace),
    /// Push constants.
    Pushed,
}

impl Slot {
    /// Returns the position that a role has.
    pub const fn of(role: ArgRole) -> Option<Slot> {
        match role {
            ArgRole::Resource(place, _) => Some(Slot::At(place)),
            ArgRole::PushConstants => Some(Slot::Pushed),
            ArgRole::Argument | ArgRole::SizeOf(_) => None,
        }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::At(place) => write!(f, "binding {place}"),
            Slot::Pushed => f.write_str("push constants"),
        }
    }
}

/// `0,1`, and behind it the element if it is not the first.
impl fmt::Display for BindingPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.set, self.binding)?;
        match self.element {
            0 => Ok(()),
            n => write!(f, ",{n}"),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::StorageBuffer { least, .. } => {
                write!(f, "storage buffer of {} or more", Count(*least, "byte"))
            }
            Resource::UniformBuffer { least } => {
                write!(f, "uniform buffer of {} or more", Count(*least, "byte"))
            }
            Resource::Image => f.write_str("image"),
            Resource::Sampler => f.write_str("sampler"),
        }
    }
}

keyword! {
    /// Kind of a resource.
    pub enum ResourceKind {
        /// Storage buffer.
        StorageBuffer = "storage_buffer",
        /// Uniform buffer.
        UniformBuffer = "uniform_buffer",
        /// Image.
        Image = "image",
        /// Sampler.
        Sampler = "sampler",
    }
}

/// Contents of the note.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bindings {
    /// Kernels that have arguments with roles, or whose grid may be cut.
    pub kernels: Vec<KernelBindings>,
}

record! {
    /// Kernel of the note.
    pub struct KernelBindings {
        /// Name.
        plain name: String,
        /// Arguments with roles.
        maybe args: Vec<BoundArg>,
        /// True if launches of parts of a grid, with the offsets of their global ids, do what one
        /// of all does.
        maybe divisible: bool,
    }
}

/// Argument with a role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoundArg {
    /// Index of the argument.
    pub index: u32,
    /// Role.
    pub role: ArgRole,
}

impl Item for BoundArg {
    #[cfg(feature = "read")]
    fn read(n: &Node<'_>) -> Result<Self, ZebinError> {
        let role = role(n)?;
        let index = n.need("arg_index")?.u32()?;
        Ok(BoundArg { index, role })
    }

    fn write(&self, out: &mut Text) {
        out.entry("arg_index", self.index);
        match self.role {
            ArgRole::Argument => {}
            ArgRole::SizeOf(of) => out.entry("size_of", of),
            ArgRole::PushConstants => out.entry("push_constants", true),
            ArgRole::Resource(at, resource) => {
                resource.kind().write("resource", out);
                out.entry("set", at.set);
                out.entry("binding", at.binding);
                out.entry("element", at.element);
                match resource {
                    Resource::StorageBuffer { least, read_only } => {
                        out.entry("least", least);
                        if read_only {
                            out.entry("read_only", true);
                        }
                    }
                    Resource::UniformBuffer { least } => out.entry("least", least),
                    Resource::Image | Resource::Sampler => {}
                }
            }
        }
    }
}

#[cfg(feature = "read")]
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
    let resource = match ResourceKind::read(n, "resource", &n.need("resource")?)? {
        ResourceKind::StorageBuffer => Resource::StorageBuffer {
            least: n.need("least")?.u32()?,
            read_only: n.flag("read_only")?,
        },
        ResourceKind::UniformBuffer => Resource::UniformBuffer {
            least: n.need("least")?.u32()?,
        },
        ResourceKind::Image => Resource::Image,
        ResourceKind::Sampler => Resource::Sampler,
    };
    Ok(ArgRole::Resource(place, resource))
}

impl Bindings {
    /// Writes the section. `None` if no kernel has arguments with roles.
    pub fn write(&self) -> Option<Vec<u8>> {
        if self.kernels.is_empty() {
            return None;
        }
        let mut text = Text::new();
        text.entry("version", quoted(VERSION));
        self.kernels.write("kernels", &mut text);
        let text = text.finish();
        let mut out = Vec::new();
        let note = Note {
            owner: GANTRY.as_bytes(),
            ty: BINDINGS_NOTE,
            desc: text.as_bytes(),
        };
        note.write(&mut out);
        Some(out)
    }

    /// Reads the section. Entries of other owners and types are skipped.
    ///
    /// # Errors
    /// An entry is damaged, or does not say what it must.
    #[cfg(feature = "read")]
    pub fn read(section: &[u8], limits: &Limits) -> Result<Bindings, ZebinError> {
        let mut out = Bindings::default();
        for note in notes(section, BINDINGS) {
            let note = note?;
            if note.owner != GANTRY.as_bytes() || note.ty != BINDINGS_NOTE {
                continue;
            }
            let text = std::str::from_utf8(note.desc)
                .map_err(|e| ZebinError::new(format!("{BINDINGS}: {e}")))?;
            let Some(doc) = yaml::parse(text, BINDINGS, limits)? else {
                continue;
            };
            for node in Node::root(&doc, BINDINGS).list_of("kernels")? {
                let name = node.need("name")?.string()?;
                out.kernels.push(Item::read(&node.named(path_of(&name)))?);
            }
        }
        Ok(out)
    }
}

/// Returns the place of a kernel in the note, for messages.
#[cfg(feature = "read")]
fn path_of(kernel: &str) -> String {
    format!("{BINDINGS}: kernel `{kernel}`")
}

#[cfg(feature = "read")]
impl KernelBindings {
    /// Returns an error about a part of the kernel: `.args[2]`, or nothing for the kernel itself.
    pub fn error(&self, part: impl std::fmt::Display, what: impl std::fmt::Display) -> ZebinError {
        ZebinError::new(format!("{}{part}: {what}", path_of(&self.name)))
    }
}

#[cfg(all(test, feature = "read"))]
mod tests {
    use super::*;

    #[test]
    fn every_role_is_read_as_written() {
        let at = |binding| BindingPlace {
            set: 1,
            binding,
            element: 2,
        };
        let roles = [
            ArgRole::Resource(
                at(0),
                Resource::StorageBuffer {
                    least: 4,
                    read_only: true,
                },
            ),
            ArgRole::Resource(at(1), Resource::UniformBuffer { least: 16 }),
            ArgRole::Resource(at(2), Resource::Image),
            ArgRole::Resource(at(3), Resource::Sampler),
            ArgRole::SizeOf(0),
            ArgRole::PushConstants,
        ];
        let args = (3..).zip(roles);
        let args = args.map(|(index, role)| BoundArg { index, role });
        let kernel = KernelBindings {
            name: "k".to_owned(),
            args: args.collect(),
            divisible: true,
        };
        let whole = Bindings {
            kernels: vec![kernel],
        };
        let bytes = whole.write().unwrap();
        assert_eq!(Bindings::read(&bytes, &Limits::default()).unwrap(), whole);
        assert_eq!(Bindings::default().write(), None);
        for n in 1..bytes.len() - 4 {
            assert!(Bindings::read(&bytes[..n], &Limits::default()).is_err());
        }
    }
}
