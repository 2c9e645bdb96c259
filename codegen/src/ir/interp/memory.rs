//! Memories of the interpreter.

use super::image::Image;
use super::sampler::Sampler;
use crate::ir::data::ADDRESS_BYTES;
use crate::ir::printf::MAX_STRING;
use crate::ir::{Data, DataRef, Module, Space, printf};
use cranelift_entity::{EntityRef, PrimaryMap};
use gantry_isa_gen::diag::Count;
use std::collections::BTreeMap;

/// Access outside of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{} of {} at {address:#x}, outside of every buffer", if *.write { "a write" } else { "a read" }, Count(*.bytes, "byte"))]
pub struct MemoryError {
    /// Address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub bytes: usize,
    /// True for a write.
    pub write: bool,
}

/// 64-bit address space of a launch.
pub trait Memory {
    /// Reads bytes into `out`, beginning at an address.
    ///
    /// # Errors
    /// Returns an error if some of the bytes are not mapped.
    fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), MemoryError>;

    /// Receives the output of `printf`.
    fn print(&mut self, _text: &[u8]) {}

    /// Returns the image that a kernel argument of this value refers to.
    fn image(&self, _argument: u64) -> Option<Image> {
        None
    }

    /// Returns the sampler that a kernel argument of this value refers to.
    fn sampler(&self, _argument: u64) -> Option<Sampler> {
        None
    }

    /// Writes `data`, beginning at an address.
    ///
    /// # Errors
    /// Returns an error if some of the bytes are not mapped.
    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), MemoryError>;
}

/// Memory of buffers, with unmapped space between them.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    buffers: BTreeMap<u64, Vec<u8>>,
    images: Vec<Image>,
    samplers: Vec<Sampler>,
    printed: Vec<u8>,
}

impl Buffers {
    const FIRST: u64 = 0x1_0000;
    const GAP: u64 = 0x1_0000;

    /// Adds a buffer and returns its address, a multiple of 64 KiB.
    pub fn add(&mut self, data: Vec<u8>) -> u64 {
        let address = self.buffers.last_key_value().map_or(Self::FIRST, |(a, b)| {
            (a + b.len() as u64 + Self::GAP).next_multiple_of(Self::GAP)
        });
        self.buffers.insert(address, data);
        address
    }

    /// Adds an image, and returns the value of an argument that refers to it.
    pub fn add_image(&mut self, image: Image) -> u64 {
        self.images.push(image);
        self.images.len() as u64 - 1
    }

    /// Adds a sampler, and returns the value of an argument that refers to it.
    pub fn add_sampler(&mut self, sampler: Sampler) -> u64 {
        self.samplers.push(sampler);
        self.samplers.len() as u64 - 1
    }

    /// Returns the output of `printf`.
    pub fn printed(&self) -> &[u8] {
        &self.printed
    }

    /// Returns the bytes of the buffer at an address. Empty if no buffer begins there.
    pub fn bytes(&self, address: u64) -> &[u8] {
        self.buffers.get(&address).map_or(&[], Vec::as_slice)
    }

    fn find(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        let (base, data) = self.buffers.range_mut(..=address).next_back()?;
        let start = usize::try_from(address - base).ok()?;
        data.get_mut(start..start.checked_add(bytes)?)
    }
}

impl Memory for Buffers {
    fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        let error = MemoryError {
            address,
            bytes: out.len(),
            write: false,
        };
        let from = self.find(address, out.len()).ok_or(error)?;
        out.copy_from_slice(from);
        Ok(())
    }

    fn print(&mut self, text: &[u8]) {
        self.printed.extend_from_slice(text);
    }

    fn image(&self, argument: u64) -> Option<Image> {
        self.images.get(usize::try_from(argument).ok()?).copied()
    }

    fn sampler(&self, argument: u64) -> Option<Sampler> {
        self.samplers.get(usize::try_from(argument).ok()?).copied()
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        let error = MemoryError {
            address,
            bytes: data.len(),
            write: true,
        };
        self.find(address, data.len())
            .ok_or(error)?
            .copy_from_slice(data);
        Ok(())
    }
}

/// Decodes up to 8 bytes, little-endian.
pub(super) fn from_le(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
}

/// Address of the module's first data, above all buffers.
const DATA: u64 = 0x5000_0000_0000;
/// Distance between data; larger than any data.
const DATA_STEP: u64 = 1 << 30;

/// SLM of a group in bytes: the maximum that a group can have.
const SLM_BYTES: usize = 64 * 1024;

/// Images and samplers of a launch, in argument order.
#[derive(Default)]
pub(super) struct ImageTables {
    pub(super) images: Vec<Image>,
    pub(super) samplers: Vec<Sampler>,
}

/// Contents of a module's data, kept from one launch to the next.
pub(super) struct DataContents {
    /// Contents by data, if they may differ from those in the module.
    bytes: Vec<Option<Vec<u8>>>,
}

impl DataContents {
    /// Returns the contents after loading: addresses are relocated.
    pub(super) fn new(module: &Module) -> DataContents {
        let bytes = module.data.values().map(|d| {
            let mut bytes = (d.written || !d.relocs.is_empty()).then(|| d.bytes.clone())?;
            for r in &d.relocs {
                let at = r.offset as usize;
                if let Some(place) = bytes.get_mut(at..at + ADDRESS_BYTES) {
                    let address = place_of(r.data).wrapping_add_signed(r.addend);
                    place.copy_from_slice(&address.to_le_bytes());
                }
            }
            Some(bytes)
        });
        DataContents {
            bytes: bytes.collect(),
        }
    }
}

/// Returns the address of data. Each data has an equal share of the range above all buffers.
fn place_of(data: DataRef) -> u64 {
    DATA + data.index() as u64 * DATA_STEP
}

/// Memories that a work-group sees.
pub(super) struct Spaces<'m> {
    pub(super) memory: &'m mut dyn Memory,
    /// Address of each surface argument.
    surfaces: &'m [u64],
    /// Images and samplers among the arguments.
    tables: &'m ImageTables,
    /// Data of the module.
    data: &'m PrimaryMap<DataRef, Data>,
    contents: &'m mut DataContents,
    slm: Vec<u8>,
    /// Scratch of the running thread.
    pub(super) scratch: Vec<u8>,
}

impl<'m> Spaces<'m> {
    /// Returns the memories of a group, with zeroed SLM.
    pub(super) fn new(
        memory: &'m mut dyn Memory,
        surfaces: &'m [u64],
        tables: &'m ImageTables,
        data: &'m PrimaryMap<DataRef, Data>,
        contents: &'m mut DataContents,
    ) -> Spaces<'m> {
        Spaces {
            memory,
            surfaces,
            tables,
            data,
            contents,
            slm: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Returns bytes of SLM or scratch; `None` for other memories.
    fn own(
        &mut self,
        space: Space,
        address: u64,
        bytes: usize,
        write: bool,
    ) -> Option<Result<&mut [u8], String>> {
        let (memory, name) = match space {
            Space::Slm => {
                if self.slm.is_empty() {
                    self.slm.resize(SLM_BYTES, 0);
                }
                (&mut self.slm, "local memory")
            }
            Space::Scratch => (&mut self.scratch, "scratch"),
            Space::Global | Space::Surface(_) => return None,
        };
        let start = usize::try_from(address).unwrap_or(usize::MAX);
        let end = start.saturating_add(bytes);
        Some(memory.get_mut(start..end).ok_or_else(|| {
            let what = if write { "write" } else { "read" };
            format!(
                "a {what} of {} at {address:#x}, outside of {name}",
                Count(bytes, "byte")
            )
        }))
    }

    /// Returns the address of data.
    pub(super) fn data_address(&self, data: DataRef) -> Result<u64, String> {
        if self.data.is_valid(data) {
            Ok(place_of(data))
        } else {
            Err(format!("{data} does not exist"))
        }
    }

    /// Returns the data at an address, and the offset in it.
    fn data_at(&self, address: u64) -> Option<(DataRef, usize)> {
        let at = address.checked_sub(DATA)?;
        let data = DataRef::new(usize::try_from(at / DATA_STEP).ok()?);
        let offset = usize::try_from(at % DATA_STEP).ok()?;
        self.data.is_valid(data).then_some((data, offset))
    }

    /// Reads bytes of data at an address.
    fn read_data(&self, address: u64, bytes: usize) -> Option<&[u8]> {
        let (data, at) = self.data_at(address)?;
        let changed = self.contents.bytes.get(data.index())?.as_deref();
        let all = changed.unwrap_or(&self.data.get(data)?.bytes);
        all.get(at..at.checked_add(bytes)?)
    }

    /// Writes to data; `None` if there is none at the address.
    fn write_data(&mut self, address: u64, bytes: &[u8]) -> Option<Result<(), String>> {
        let (data, at) = self.data_at(address)?;
        let Data { name, written, .. } = self.data.get(data)?;
        if !written {
            return Some(Err(format!("a write to %{name}, which is constant")));
        }
        let all = self.contents.bytes.get_mut(data.index())?.as_mut()?;
        let place = all.get_mut(at..at.checked_add(bytes.len())?)?;
        place.copy_from_slice(bytes);
        Some(Ok(()))
    }

    /// Returns the text of a string of the module.
    pub(super) fn format(&self, data: DataRef) -> Option<&'m [u8]> {
        printf::string(self.data.get(data))
    }

    /// Returns the string at an address, without its zero; `None` if there is none.
    pub(super) fn string(&mut self, address: u64) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        while out.len() <= MAX_STRING {
            let at = address.checked_add(out.len() as u64)?;
            match self.read(Space::Global, at, 1).ok()? {
                0 => return Some(out),
                c => out.push(c as u8),
            }
        }
        Some(out)
    }

    fn global(&self, space: Space, address: u64) -> Result<u64, String> {
        match space {
            Space::Surface(n) => self
                .surfaces
                .get(usize::from(n))
                .map(|base| base.wrapping_add(address))
                .ok_or_else(|| format!("there is no surface {n}")),
            _ => Ok(address),
        }
    }

    /// Returns the image of an index.
    pub(super) fn image(&self, number: u8) -> Result<Image, String> {
        let found = self.tables.images.get(usize::from(number));
        found.copied().ok_or(format!("there is no image {number}"))
    }

    /// Returns the sampler of an index.
    pub(super) fn sampler(&self, number: u8) -> Result<Sampler, String> {
        let found = self.tables.samplers.get(usize::from(number));
        found
            .copied()
            .ok_or(format!("there is no sampler {number}"))
    }

    /// Reads an element of up to 8 bytes.
    pub(super) fn read(&mut self, space: Space, address: u64, bytes: u32) -> Result<u64, String> {
        let mut out = [0; 8];
        let out = out
            .get_mut(..bytes as usize)
            .ok_or("an element too large")?;
        if let Some(own) = self.own(space, address, bytes as usize, false) {
            out.copy_from_slice(own?);
        } else {
            let address = self.global(space, address)?;
            if let Some(from) = self.read_data(address, out.len()) {
                out.copy_from_slice(from);
                return Ok(from_le(out));
            }
            self.memory.read(address, out).map_err(|e| e.to_string())?;
        }
        Ok(from_le(out))
    }

    pub(super) fn write(&mut self, space: Space, address: u64, data: &[u8]) -> Result<(), String> {
        if let Some(own) = self.own(space, address, data.len(), true) {
            own?.copy_from_slice(data);
            return Ok(());
        }
        let address = self.global(space, address)?;
        if let Some(done) = self.write_data(address, data) {
            return done;
        }
        self.memory.write(address, data).map_err(|e| e.to_string())
    }
}
