//! Data of a module: constants, strings, and variables that kernels write to.

use super::entities::DataRef;
use super::types::Scalar;

/// Bytes of an address in data.
pub(crate) const ADDRESS_BYTES: usize = 8;

/// Data of a module. The loader chooses its address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Data {
    /// Name, without the `%`.
    pub name: String,
    /// Alignment of its address in bytes, a power of two.
    pub align: u32,
    /// Type of its elements in the text format.
    pub scalar: Scalar,
    /// Contents, for a variable those at load time. Bytes of a relocated address are zero.
    pub bytes: Vec<u8>,
    /// True for a `printf` string, which ends in a zero byte. Only `printf` can read it, since it
    /// may be in host memory.
    pub string: bool,
    /// True for a variable. Kernels may write to it, and later launches of the loaded module read
    /// what they wrote.
    pub written: bool,
    /// Addresses that the loader fills in, ordered by offset.
    pub relocs: Vec<DataReloc>,
}

/// Relocation: an address of eight bytes that the loader fills in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataReloc {
    /// Offset in bytes within the data that holds the address.
    pub offset: u32,
    /// Data that it is the address of.
    pub data: DataRef,
    /// Bytes added to that address.
    pub addend: i64,
}

impl Data {
    /// Makes data from the low bits of each word, aligned as an element.
    pub fn new(name: impl Into<String>, scalar: Scalar, elements: &[u64]) -> Data {
        let size = scalar.bytes() as usize;
        let bytes = elements
            .iter()
            .flat_map(|e| e.to_le_bytes().into_iter().take(size));
        Data {
            name: name.into(),
            align: scalar.bytes().max(1),
            scalar,
            bytes: bytes.collect(),
            string: false,
            written: false,
            relocs: Vec::new(),
        }
    }

    /// Makes it a variable, which kernels may write to.
    #[must_use]
    pub fn variable(self) -> Data {
        Data {
            written: true,
            ..self
        }
    }

    /// Makes a string for `printf`, with the terminating zero added.
    pub fn string(name: impl Into<String>, text: impl Into<Vec<u8>>) -> Data {
        let mut bytes: Vec<u8> = text.into();
        bytes.push(0);
        Data {
            bytes,
            string: true,
            ..Data::new(name, Scalar::I8, &[])
        }
    }

    /// Iterates over the bits of each element.
    pub fn elements(&self) -> impl Iterator<Item = u64> + '_ {
        let size = self.scalar.bytes().max(1) as usize;
        let word = |b: &[u8]| b.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
        self.bytes.chunks(size).map(word)
    }
}
