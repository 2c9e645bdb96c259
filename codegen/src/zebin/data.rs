//! The sections of a module's data: constants, strings, which the host reads, and variables, which
//! kernels write to.
//!
//! As `ocloc` writes them: an address in data is a relocation without an addend of its own
//! (`SHT_REL`), to which the loader adds what stands in its place.

use crate::emit::Relocation;
use crate::ir::data::ADDRESS_BYTES;
use crate::ir::{Data, DataRef};
use crate::mir::SymbolPart;
use cranelift_entity::PrimaryMap;

/// The sections, in their order in a zebin.
const NAMES: [&str; 3] = [".data.const", ".data.const.string", ".data.global"];

/// Which of them a piece of data is in.
fn kind(d: &Data) -> usize {
    match (d.string, d.written) {
        (false, false) => 0,
        (true, _) => 1,
        (false, true) => 2,
    }
}

/// A section of data.
pub(super) struct DataSection {
    /// The name.
    pub(super) name: &'static str,
    /// Whether kernels write to it.
    pub(super) written: bool,
    /// The largest alignment of what is in it, in bytes.
    pub(super) align: u64,
    /// Contents, the addends of addresses among them.
    pub(super) bytes: Vec<u8>,
    /// The addresses in it.
    pub(super) relocations: Vec<Relocation>,
}

/// Where a piece of data is.
pub(super) struct DataPlace {
    /// The section, of those that there are.
    pub(super) section: usize,
    /// Bytes from its start.
    pub(super) offset: u64,
}

/// The data of a module, in sections.
pub(super) struct DataSections {
    /// Those that something is in.
    pub(super) sections: Vec<DataSection>,
    /// By data.
    pub(super) places: Vec<DataPlace>,
}

impl DataSections {
    /// Of a module's data.
    pub(super) fn new(data: &PrimaryMap<DataRef, Data>) -> DataSections {
        let mut sections = Vec::new();
        let mut numbers = [0; NAMES.len()];
        for (n, name) in NAMES.into_iter().enumerate() {
            let here = || data.values().filter(|d| kind(d) == n);
            let Some(align) = here().map(|d| u64::from(d.align)).max() else {
                continue;
            };
            numbers[n] = sections.len();
            sections.push(DataSection {
                name,
                written: here().any(|d| d.written),
                align,
                bytes: Vec::new(),
                relocations: Vec::new(),
            });
        }
        let places = data.values().map(|d| {
            let section = numbers[kind(d)];
            let offset = sections.get_mut(section).map_or(0, |s| s.add(d));
            DataPlace { section, offset }
        });
        let places = places.collect();
        DataSections { sections, places }
    }
}

impl DataSection {
    /// Adds a piece of data; gives where it begins.
    fn add(&mut self, d: &Data) -> u64 {
        let out = &mut self.bytes;
        let start = out.len().next_multiple_of(d.align.max(1) as usize);
        out.resize(start, 0);
        out.extend_from_slice(&d.bytes);
        for r in &d.relocs {
            let at = start + r.offset as usize;
            if let Some(place) = out.get_mut(at..at + ADDRESS_BYTES) {
                place.copy_from_slice(&r.addend.to_le_bytes());
            }
            self.relocations.push(Relocation {
                offset: at as u64,
                data: r.data,
                part: SymbolPart::Whole,
            });
        }
        start as u64
    }
}
