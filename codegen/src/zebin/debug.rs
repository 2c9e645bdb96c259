//! Debug information: DWARF 4 in the form of Intel's compiler.
//!
//! Each kernel has a compilation unit with its lines and the positions of its labelled values
//! (registers have the numbers of `ocloc -g`). The sections are in the zebin with the code.
//! Addresses of code are relocations by the kernels' symbols.

use crate::emit::{LabelRange, Located};
use crate::error::CodegenError;
use crate::ir::{Scalar, SourceFile, Type};
use cranelift_entity::PrimaryMap;
use gimli::write::{
    Address, AttributeValue, Dwarf, EndianVec, Expression, FileId, LineProgram, LineString,
    Location, LocationList, Result, Sections, Unit, UnitEntryId, Writer,
};
use gimli::{Encoding, Format, LineEncoding, LittleEndian, Register, SectionId};
use std::collections::{BTreeMap, HashMap};

/// Producer of each unit.
const PRODUCER: &str = concat!("Gantry ", env!("CARGO_PKG_VERSION"));

/// Kernel with debug information.
pub(crate) struct DebugKernel<'a> {
    /// Name.
    pub(crate) name: &'a str,
    /// Bytes of its code.
    pub(crate) bytes: u64,
    /// Source locations of its code. May be empty.
    pub(crate) locations: &'a [Located],
    /// Positions of labelled values.
    pub(crate) labels: &'a [LabelRange],
    /// Bytes of a GRF.
    pub(crate) grf_bytes: u32,
}

/// Address that a reader fills in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AddressAt {
    /// Bytes from the section's start.
    pub(crate) offset: u64,
    /// Number of the kernel whose code it is in.
    pub(crate) kernel: usize,
    /// Bytes from the kernel's start.
    pub(crate) addend: i64,
}

/// Section of debug information.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DebugSection {
    /// Name, `.debug_line` for example.
    pub(crate) name: &'static str,
    /// Contents.
    pub(crate) data: Vec<u8>,
    /// Addresses in it, which are zero so far.
    pub(crate) addresses: Vec<AddressAt>,
}

/// Section being written.
#[derive(Clone)]
struct SectionWriter {
    out: EndianVec<LittleEndian>,
    addresses: Vec<AddressAt>,
}

impl Writer for SectionWriter {
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

/// Returns true if a kernel has no debug information.
fn is_bare(k: &DebugKernel<'_>) -> bool {
    k.locations.is_empty() && k.labels.is_empty()
}

/// Returns the debug information of kernels. It is empty if none has source locations or labelled
/// values.
///
/// # Errors
/// Sections of 4 GiB, which DWARF cannot represent.
pub(crate) fn sections(
    files: &PrimaryMap<SourceFile, String>,
    kernels: &[DebugKernel<'_>],
) -> std::result::Result<Vec<DebugSection>, CodegenError> {
    if kernels.iter().all(is_bare) {
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
        if !is_bare(k) {
            dwarf.units.add(unit(files, n, k));
        }
    }
    let mut all = Sections::new(SectionWriter {
        out: EndianVec::new(LittleEndian),
        addresses: Vec::new(),
    });
    dwarf.write(&mut all)?;
    let mut out = Vec::new();
    all.for_each_mut(|id: SectionId, s: &mut SectionWriter| {
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

/// Returns a name that DWARF 4 can represent. The verifier allows no others.
fn name(text: Option<&str>) -> LineString {
    let good = text.filter(|t| !t.is_empty() && !t.contains('\0'));
    LineString::String(good.unwrap_or("?").as_bytes().to_vec())
}

/// Returns the unit of a kernel: its lines, and its function.
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
    // The directory is not known: names are those of the module.
    let here = LineString::String(Vec::new());
    let mut lines = LineProgram::new(encoding, LineEncoding::default(), here, None, first, None);
    let directory = lines.default_directory();
    let mut ids: HashMap<SourceFile, FileId> = HashMap::new();
    lines.begin_sequence(Some(at(0)));
    // Code before the first location has no line, which is line 0.
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
    variables(&mut unit, function, k);
    unit
}

/// Returns name and encoding of a lane's type in DWARF.
fn base(scalar: Scalar) -> (&'static str, gimli::DwAte) {
    use gimli::{DW_ATE_boolean, DW_ATE_float, DW_ATE_signed};
    match scalar {
        Scalar::B1 => ("bool", DW_ATE_boolean),
        Scalar::I8 => ("char", DW_ATE_signed),
        Scalar::I16 => ("short", DW_ATE_signed),
        Scalar::I32 => ("int", DW_ATE_signed),
        Scalar::I64 => ("long", DW_ATE_signed),
        Scalar::F16 => ("half", DW_ATE_float),
        Scalar::F32 => ("float", DW_ATE_float),
        Scalar::F64 => ("double", DW_ATE_float),
    }
}

/// Returns bytes of the GRF file, GRF by GRF, with the numbers of Intel's compiler: r0 is register
/// 16.
fn registers(address: u32, bytes: u32, grf: u32) -> Expression {
    const R0: u32 = 16;
    let mut out = Expression::new();
    let (mut at, end) = (address, address + bytes);
    while at < end {
        let (n, offset) = (at / grf, at % grf);
        let part = (grf - offset).min(end - at);
        out.op_reg(Register((R0 + n) as u16));
        match offset {
            0 => out.op_piece(part.into()),
            _ => out.op_bit_piece(u64::from(part) * 8, u64::from(offset) * 8),
        }
        at += part;
    }
    out
}

/// Adds the variables of a function: each is an array of lanes with positions by code range.
fn variables(unit: &mut Unit, function: UnitEntryId, k: &DebugKernel<'_>) {
    let root = unit.root();
    let mut bases: HashMap<Scalar, UnitEntryId> = HashMap::new();
    let mut arrays: HashMap<Type, UnitEntryId> = HashMap::new();
    let mut named: BTreeMap<&str, Vec<&LabelRange>> = BTreeMap::new();
    // A value in several pieces is left out, since it is not known which piece is which.
    let whole = |l: &&LabelRange| l.bytes >= l.ty.bytes() && !l.name.contains('\0');
    for l in k.labels.iter().filter(whole) {
        named.entry(&l.name).or_default().push(l);
    }
    for (name, mut ranges) in named {
        ranges.sort_by_key(|l| (l.start, l.end, l.address));
        let Some(first) = ranges.first() else {
            continue;
        };
        let (ty, scalar) = (first.ty, first.ty.scalar());
        let of = *bases.entry(scalar).or_insert_with(|| {
            let (name, encoding) = base(scalar);
            let entry = unit.add(root, gimli::DW_TAG_base_type);
            let set = unit.get_mut(entry);
            set.set(gimli::DW_AT_name, AttributeValue::String(name.into()));
            set.set(gimli::DW_AT_encoding, AttributeValue::Encoding(encoding));
            let size = scalar.bytes().max(1) as u8;
            set.set(gimli::DW_AT_byte_size, AttributeValue::Data1(size));
            entry
        });
        let array = *arrays.entry(ty).or_insert_with(|| {
            let entry = unit.add(root, gimli::DW_TAG_array_type);
            let set = unit.get_mut(entry);
            set.set(gimli::DW_AT_type, AttributeValue::UnitRef(of));
            let range = unit.add(entry, gimli::DW_TAG_subrange_type);
            let count = AttributeValue::Udata(ty.lanes().into());
            unit.get_mut(range).set(gimli::DW_AT_count, count);
            entry
        });
        let list = ranges.iter().map(|l| Location::OffsetPair {
            begin: l.start,
            end: l.end,
            data: registers(l.address, ty.bytes(), k.grf_bytes),
        });
        let list = unit.locations.add(LocationList(list.collect()));
        let variable = unit.add(function, gimli::DW_TAG_variable);
        let set = unit.get_mut(variable);
        set.set(gimli::DW_AT_name, AttributeValue::String(name.into()));
        set.set(gimli::DW_AT_type, AttributeValue::UnitRef(array));
        set.set(gimli::DW_AT_location, AttributeValue::LocationListRef(list));
    }
}
