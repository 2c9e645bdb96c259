//! Sections of a module's data: constants, strings, which the host reads, and variables, which
//! kernels write.
//!
//! The form is that of `ocloc`: an address in data is a relocation without an explicit addend
//! (`SHT_REL`). The loader adds the contents at its position.

use crate::emit::Relocation;
use crate::ir::data::ADDRESS_BYTES;
use crate::ir::{Data, DataRef};
use crate::mir::SymbolPart;
use cranelift_entity::PrimaryMap;
use gantry_zebin::names::DataKind;

/// Sections, in their order in a zebin.
const KINDS: [DataKind; 3] = [DataKind::Const, DataKind::ConstString, DataKind::Global];

/// Returns the section for a piece of data.
fn kind(d: &Data) -> DataKind {
    match (d.string, d.written) {
        (false, false) => DataKind::Const,
        (true, _) => DataKind::ConstString,
        (false, true) => DataKind::Global,
    }
}

/// Section of data.
pub(super) struct DataSection {
    /// Kind.
    pub(super) kind: DataKind,
    /// True if kernels write to it.
    pub(super) written: bool,
    /// Largest alignment of its contents, in bytes.
    pub(super) align: u64,
    /// Contents, with the addends of addresses.
    pub(super) bytes: Vec<u8>,
    /// Addresses in it.
    pub(super) relocations: Vec<Relocation>,
}

/// Position of a piece of data.
pub(super) struct DataPlace {
    /// Index of the section, among those written.
    pub(super) section: usize,
    /// Bytes from its start.
    pub(super) offset: u64,
}

/// Data of a module, in sections.
pub(super) struct DataSections {
    /// Sections that are not empty.
    pub(super) sections: Vec<DataSection>,
    /// Positions by data.
    pub(super) places: Vec<DataPlace>,
}

impl DataSections {
    /// Lays out a module's data.
    pub(super) fn new(data: &PrimaryMap<DataRef, Data>) -> DataSections {
        let mut sections: Vec<DataSection> = Vec::new();
        for of in KINDS {
            let here = || data.values().filter(|d| kind(d) == of);
            let Some(align) = here().map(|d| u64::from(d.align)).max() else {
                continue;
            };
            sections.push(DataSection {
                kind: of,
                written: here().any(|d| d.written),
                align,
                bytes: Vec::new(),
                relocations: Vec::new(),
            });
        }
        let places = data.values().map(|d| {
            let section = sections.iter().position(|s| s.kind == kind(d));
            let section = section.unwrap_or(sections.len());
            let offset = sections.get_mut(section).map_or(0, |s| s.add(d));
            DataPlace { section, offset }
        });
        let places = places.collect();
        DataSections { sections, places }
    }
}

impl DataSection {
    /// Adds a piece of data, and returns its offset.
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
