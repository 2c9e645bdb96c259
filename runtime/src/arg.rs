//! Arguments of launches.

use crate::buffer::{Buffer, Plain};
use crate::image::{Image, Sampler};
use bytemuck::Pod;
use gantry_isa_gen::diag::Count;

/// SLM for a local pointer argument, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Local(
    /// Bytes.
    pub u32,
);

/// Argument of a launch.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Arg {
    /// Buffer, passed by its address.
    Buffer(Buffer),
    /// Address of the device, of memory that stays allocated until the launch has ended. A kernel
    /// can access it by address only, and not through a surface.
    Address(u64),
    /// Null pointer.
    Null,
    /// SLM of a size in bytes.
    Local(u32),
    /// Value in the device's bytes, as many as the kernel declares.
    Value(Vec<u8>),
    /// Value of any size. Bytes that the kernel declares beyond these are zero, and bytes beyond
    /// its declaration are dropped, as Intel's driver does.
    Bytes(Vec<u8>),
    /// Image.
    Image(Image),
    /// Sampler.
    Sampler(Sampler),
}

impl Arg {
    /// Passes a value of any size as the device's bytes ([`Arg::Bytes`]).
    pub fn bytes(bytes: &[u8]) -> Arg {
        Arg::Bytes(bytes.to_vec())
    }

    /// Passes a structure by value, of the size that the kernel declares.
    pub fn value<T: Pod>(value: &T) -> Arg {
        Arg::Value(bytemuck::bytes_of(value).to_vec())
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            Arg::Buffer(b) => format!("a buffer of {}", Count(b.len(), "byte")),
            Arg::Address(a) => format!("the address {a:#x}"),
            Arg::Null => "a null pointer".to_owned(),
            Arg::Local(n) => format!("{} of SLM", Count(*n, "byte")),
            Arg::Value(v) | Arg::Bytes(v) => format!("a value of {}", Count(v.len(), "byte")),
            Arg::Image(i) => format!("a {}", i.desc()),
            Arg::Sampler(_) => "a sampler".to_owned(),
        }
    }
}

impl From<&Buffer> for Arg {
    fn from(b: &Buffer) -> Arg {
        Arg::Buffer(b.clone())
    }
}

impl From<Buffer> for Arg {
    fn from(b: Buffer) -> Arg {
        Arg::Buffer(b)
    }
}

impl From<&Image> for Arg {
    fn from(i: &Image) -> Arg {
        Arg::Image(i.clone())
    }
}

impl From<Image> for Arg {
    fn from(i: Image) -> Arg {
        Arg::Image(i)
    }
}

impl From<Sampler> for Arg {
    fn from(s: Sampler) -> Arg {
        Arg::Sampler(s)
    }
}

impl From<Local> for Arg {
    fn from(l: Local) -> Arg {
        Arg::Local(l.0)
    }
}

impl<T: Plain> From<T> for Arg {
    fn from(v: T) -> Arg {
        Arg::value(&v)
    }
}

impl<T: Plain, const N: usize> From<[T; N]> for Arg {
    fn from(v: [T; N]) -> Arg {
        Arg::Value(bytemuck::cast_slice(&v).to_vec())
    }
}
