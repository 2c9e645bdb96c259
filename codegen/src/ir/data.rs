//! Data of a module: constants, strings, and variables that kernels write to.

use super::entities::DataRef;
use super::types::Scalar;

/// Bytes of an address in data.
pub(crate) const ADDRESS_BYTES: usize = 8;

/// Data of a module, in memory wherever the loader puts it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Data {
    /// Name, without the `%`.
    pub name: String,
    /// Alignment of its address in bytes, a power of two.
    pub align: u32,
    /// What it consists of, as its text shows it.
    pub scalar: Scalar,
    /// Contents; of a variable those that it has when the module is loaded. Where an address is to
    /// be, they are zeros.
    pub bytes: Vec<u8>,
    /// Whether it is a string for `printf`, of bytes and a zero. Nobody else can read it: it may be
    /// in memory of the host.
    pub string: bool,
    /// Whether it is a variable: kernels may write to it, and what they wrote is there for later
    /// launches of the loaded module.
    pub written: bool,
    /// The addresses that it holds, which the loader fills in, in the order of their places.
    pub relocs: Vec<DataReloc>,
}

/// An address in data: eight bytes that the loader fills in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataReloc {
    /// Bytes from the beginning of the data that holds it.
    pub offset: u32,
    /// What it is the address of.
    pub data: DataRef,
    /// Bytes that are added to that.
    pub addend: i64,
}

impl Data {
    /// Data of elements of a type, the low bits of each word, aligned as an element.
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

    /// The same as a variable, which kernels may write to.
    #[must_use]
    pub fn variable(self) -> Data {
        Data {
            written: true,
            ..self
        }
    }

    /// A string for `printf`; its zero is added.
    pub fn string(name: impl Into<String>, text: impl Into<Vec<u8>>) -> Data {
        let mut bytes: Vec<u8> = text.into();
        bytes.push(0);
        Data {
            bytes,
            string: true,
            ..Data::new(name, Scalar::I8, &[])
        }
    }

    /// The bits of each element.
    pub fn elements(&self) -> impl Iterator<Item = u64> + '_ {
        let size = self.scalar.bytes().max(1) as usize;
        let word = |b: &[u8]| b.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
        self.bytes.chunks(size).map(word)
    }
}
