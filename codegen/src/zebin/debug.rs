//! Debug information: DWARF 4 in the form that Intel's compiler gives it, a compilation unit a kernel. Its sections stand in the zebin
//! beside the code; addresses of code are relocations by the kernels' symbols.

use crate::emit::Located;
use crate::ir::SourceFile;
use crate::result::CodegenError;
use cranelift_entity::PrimaryMap;
use gimli::write::{
    Address, AttributeValue, Dwarf, EndianVec, FileId, LineProgram, LineString, Result, Sections,
    Unit, Writer,
};
use gimli::{Encoding, Format, LineEncoding, LittleEndian, SectionId};
use std::collections::HashMap;

/// What stands in each unit as its producer.
const PRODUCER: &str = concat!("Gantry ", env!("CARGO_PKG_VERSION"));

/// A kernel that debug information is about.
pub(crate) struct DebugKernel<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Bytes of its code.
    pub(crate) bytes: u64,
    /// Where its code comes from; empty: nothing is said of it.
    pub(crate) locations: &'a [Located],
}

/// An address that a reader fills in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AddressAt {
    /// Bytes from the section's start.
    pub(crate) offset: u64,
    /// The kernel whose code it is in, by number.
    pub(crate) kernel: usize,
    /// Bytes from the kernel's start.
    pub(crate) addend: i64,
}

/// A section of debug information.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DebugSection {
    /// The name, `.debug_line` for example.
    pub(crate) name: &'static str,
    /// Contents.
    pub(crate) data: Vec<u8>,
    /// Addresses in it, zeros so far.
    pub(crate) addresses: Vec<AddressAt>,
}

/// A section being written.
#[derive(Clone)]
struct Section {
    out: EndianVec<LittleEndian>,
    addresses: Vec<AddressAt>,
}

impl Writer for Section {
    type Endian = LittleEndian;

    fn endian(&self) -> LittleEndian {
        LittleEndian
    }

    fn len(&self) -> usize {
        self.out.len()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write(bytes)
    }

    fn write_at(&mut self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.out.write_at(offset, bytes)
    }

    fn write_address(&mut self, address: Address, size: u8) -> Result<()> {
        match address {
            Address::Constant(n) => self.write_udata(n, size),
            Address::Symbol { symbol, addend } => {
                self.addresses.push(AddressAt {
                    offset: self.len() as u64,
                    kernel: symbol,
                    addend,
                });
                self.write_udata(0, size)
            }
        }
    }
}

/// Debug information of kernels; nothing where none of them has source locations.
///
/// # Errors
/// DWARF cannot say it: sections of 4 GiB.
pub(crate) fn sections(
    files: &PrimaryMap<SourceFile, String>,
    kernels: &[DebugKernel<'_>],
) -> std::result::Result<Vec<DebugSection>, CodegenError> {
    if kernels.iter().all(|k| k.locations.is_empty()) {
        return Ok(Vec::new());
    }
    write(files, kernels).map_err(|e| CodegenError::internal("debug information", e))
}

fn write(
    files: &PrimaryMap<SourceFile, String>,
    kernels: &[DebugKernel<'_>],
) -> Result<Vec<DebugSection>> {
    let mut dwarf = Dwarf::new();
    for (n, k) in kernels.iter().enumerate() {
        if !k.locations.is_empty() {
            dwarf.units.add(unit(files, n, k));
        }
    }
    let mut all = Sections::new(Section {
        out: EndianVec::new(LittleEndian),
        addresses: Vec::new(),
    });
    dwarf.write(&mut all)?;
    let mut out = Vec::new();
    all.for_each_mut(|id: SectionId, s: &mut Section| {
        if s.len() > 0 {
            out.push(DebugSection {
                name: id.name(),
                data: s.out.take(),
                addresses: std::mem::take(&mut s.addresses),
            });
        }
        Ok::<_, gimli::write::Error>(())
    })?;
    Ok(out)
}

/// A name as DWARF 4 can have it. The verifier knows no other ones.
fn name(text: Option<&str>) -> LineString {
    let good = text.filter(|t| !t.is_empty() && !t.contains('\0'));
    LineString::String(good.unwrap_or("?").as_bytes().to_vec())
}

/// The unit of a kernel: its lines, and that it is a function.
fn unit(files: &PrimaryMap<SourceFile, String>, kernel: usize, k: &DebugKernel<'_>) -> Unit {
    let encoding = Encoding {
        format: Format::Dwarf32,
        version: 4,
        address_size: 8,
    };
    let first = k.locations.iter().find(|l| !l.loc.is_none());
    let first = name(first.and_then(|l| Some(files.get(l.loc.file())?.as_str())));
    let source = match &first {
        LineString::String(s) => s.clone(),
        _ => Vec::new(),
    };
    let at = |offset: u64| Address::Symbol {
        symbol: kernel,
        addend: offset as i64,
    };
    // The directory is not known: names are as the module has them.
    let here = LineString::String(Vec::new());
    let mut lines = LineProgram::new(encoding, LineEncoding::default(), here, None, first, None);
    let directory = lines.default_directory();
    let mut ids: HashMap<SourceFile, FileId> = HashMap::new();
    lines.begin_sequence(Some(at(0)));
    // What comes before the first location is of no line, which is line 0.
    let start = k.locations.first().filter(|l| l.offset > 0);
    let start = start.map(|_| Located {
        offset: 0,
        loc: crate::ir::SourceLoc::NONE,
    });
    for l in start.iter().chain(k.locations) {
        let row = lines.row();
        row.address_offset = l.offset;
        row.line = l.loc.line().into();
        row.column = l.loc.column().into();
        if !l.loc.is_none() {
            let file = l.loc.file();
            let text = files.get(file).map(String::as_str);
            let id = *ids
                .entry(file)
                .or_insert_with(|| lines.add_file(name(text), directory, None));
            lines.row().file = id;
        }
        lines.generate_row();
    }
    lines.end_sequence(k.bytes);
    let mut unit = Unit::new(encoding, lines);
    let root = unit.root();
    let set = unit.get_mut(root);
    let string = |s: &str| AttributeValue::String(s.as_bytes().to_vec());
    set.set(gimli::DW_AT_producer, string(PRODUCER));
    set.set(
        gimli::DW_AT_language,
        AttributeValue::Language(gimli::DW_LANG_OpenCL),
    );
    set.set(gimli::DW_AT_name, AttributeValue::String(source));
    set.set(gimli::DW_AT_stmt_list, AttributeValue::LineProgramRef);
    set.set(gimli::DW_AT_low_pc, AttributeValue::Address(at(0)));
    set.set(gimli::DW_AT_high_pc, AttributeValue::Address(at(k.bytes)));
    let function = unit.add(root, gimli::DW_TAG_subprogram);
    let set = unit.get_mut(function);
    set.set(gimli::DW_AT_name, string(k.name));
    set.set(gimli::DW_AT_external, AttributeValue::Flag(true));
    set.set(gimli::DW_AT_low_pc, AttributeValue::Address(at(0)));
    set.set(gimli::DW_AT_high_pc, AttributeValue::Address(at(k.bytes)));
    unit
}
