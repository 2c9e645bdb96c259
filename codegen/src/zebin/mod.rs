//! Writing zebins: the ELF container that Intel's driver and the runtime load.
//!
//! Sections: `.text.<kernel>` with `.rel.text.<kernel>`, `.debug_*` with `.rela.debug_*` where
//! there are source locations (`debug.rs`), `.data.const`, `.data.const.string` and `.data.global`
//! with their `.rel.data.*` (`data.rs`), `.ze_info` (YAML), `.note.intelgt.compat`,
//! `.note.gantry.bindings` (`reflection.rs`), `.symtab` with a symbol a kernel and a piece of data.
//! Facts: zebin specification (`elf.md`, `zeinfo.md`) and what the driver was seen to accept.

mod data;
mod debug;
mod reflection;

use crate::emit::{LabelRange, Located, Relocation};
use crate::error::CodegenError;
use crate::ir::memory::SLM_ALIGN;
use crate::ir::{
    Addressing, ArgFact, ArgKind, FuncKind, Function, ImageAccess, ImageFact, ImageShape, Module,
    SamplerFact,
};
use crate::mir::SymbolPart;
use crate::target::Target;
use crate::target::abi::NO_CROSS_BYTES;
use crate::target::abi::{PACKED_IDS, Payload};
use cranelift_entity::EntityRef;
use data::DataSections;
use debug::DebugKernel;
use object::write::elf::{FileHeader, Rel, SectionHeader, SectionIndex, Sym, Writer};
use object::{Endianness, elf};
use std::fmt::Write as _;

/// `e_machine` of Intel Graphics Technology.
const EM_INTELGT: elf::Machine = elf::Machine(205);
/// `.ze_info`.
const SHT_ZEBIN_ZEINFO: elf::SectionType = elf::SectionType(0xff00_0011);
/// Version of the `.ze_info` format.
const ZE_INFO_VERSION: &str = "1.15";
/// The driver prefetches past the end of a kernel; this many zero bytes stand there.
const PADDING: usize = 128;

/// A compiled kernel for a zebin.
#[derive(Clone, Copy, Debug)]
pub struct KernelImage<'a> {
    /// The function: name, arguments, SLM.
    pub func: &'a Function,
    /// What the thread finds in its registers.
    pub payload: &'a Payload,
    /// Whether threads of a group wait for each other.
    pub barriers: u32,
    /// Registers of a thread.
    pub grf_count: u32,
    /// Scratch of a thread in bytes, that of spilled registers included.
    pub scratch: u32,
    /// Code.
    pub text: &'a [u8],
    /// Bytes of the code that threads skip whose ids the hardware made.
    pub entry: u32,
    /// Addresses that the loader fills in.
    pub relocations: &'a [Relocation],
    /// Where the code comes from.
    pub locations: &'a [Located],
    /// Where values with names are.
    pub labels: &'a [LabelRange],
}

/// An entry of a note, whose owner ends in a zero.
fn note(out: &mut Vec<u8>, owner: &[u8], kind: u32, desc: &[u8]) {
    for word in [owner.len() as u32, desc.len() as u32, kind] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    for part in [owner, desc] {
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend_from_slice(part);
    }
    out.resize(out.len().next_multiple_of(4), 0);
}

/// Note 1 is the product family, note 4 the version of the format: what Intel's driver asks for.
fn compat_notes(target: &Target) -> Vec<u8> {
    let mut out = Vec::new();
    let owner = b"IntelGT\0";
    note(&mut out, owner, 1, &target.family().to_le_bytes());
    note(
        &mut out,
        owner,
        4,
        format!("{ZE_INFO_VERSION}\0").as_bytes(),
    );
    out
}

/// The `.ze_info` text. The driver's own YAML reader wants lists indented under their key and no
/// flow maps.
pub fn ze_info(target: &Target, kernels: &[KernelImage<'_>]) -> String {
    let mut s = format!("---\nversion: '{ZE_INFO_VERSION}'\nkernels:\n");
    for k in kernels {
        let FuncKind::Kernel {
            simd,
            slm_bytes,
            group_size,
            ..
        } = k.func.kind
        else {
            continue;
        };
        // Writing to a string cannot fail.
        let _ = writeln!(s, "  - name: {}\n    execution_env:", k.func.name);
        if k.barriers > 0 {
            let _ = writeln!(s, "      barrier_count: {}", k.barriers);
        }
        let _ = writeln!(s, "      grf_count: {}", k.grf_count);
        let both = k.func.images().any(|(_, a)| a == ImageAccess::ReadWrite);
        if both {
            s.push_str("      has_fence_for_image_access: true\n");
        }
        if target.features().fused_eus {
            // Instructions without mask, and branches of one thread, are its own affair.
            s.push_str("      require_disable_eufusion: true\n");
        }
        if let Some([x, y, z]) = group_size {
            let _ = writeln!(
                s,
                "      required_work_group_size:\n        - {x}\n        - {y}\n        - {z}"
            );
        }
        if k.entry > 0 {
            let _ = writeln!(s, "      offset_to_skip_per_thread_data_load: {}", k.entry);
        }
        let _ = writeln!(s, "      simd_size: {simd}");
        if slm_bytes > 0 {
            // What the host sizes lies behind it, aligned.
            let own = slm_bytes.next_multiple_of(SLM_ALIGN);
            let _ = writeln!(s, "      slm_size: {own}");
        }
        s.push_str("    payload_arguments:\n");
        for (n, (kind, slot)) in k.payload.args.iter().enumerate() {
            let ty = match kind {
                ArgKind::Image(..) | ArgKind::Sampler => continue,
                ArgKind::Surface if slot.bytes == 0 => continue,
                ArgKind::Value => "arg_byvalue",
                ArgKind::Ptr | ArgKind::Slm => "arg_bypointer",
                ArgKind::Surface => "buffer_offset",
            };
            let _ = writeln!(
                s,
                "      - arg_type: {ty}\n        offset: {}\n        size: {}\n        arg_index: {n}",
                slot.offset, slot.bytes
            );
            s.push_str(match kind {
                ArgKind::Value | ArgKind::Surface | ArgKind::Image(..) | ArgKind::Sampler => "",
                ArgKind::Ptr => "        addrmode: stateless\n        addrspace: global\n        access_type: readwrite\n",
                ArgKind::Slm => {
                    "        addrmode: slm\n        addrspace: local\n        access_type: readwrite\n        slm_alignment: 16\n"
                }
            });
        }
        for (fact, slot) in &k.payload.facts {
            let _ = writeln!(
                s,
                "      - arg_type: {}\n        offset: {}\n        size: {}",
                fact.ze_name(),
                slot.offset,
                slot.bytes
            );
        }
        let tables = k.tables();
        for (of, fact, slot) in &k.payload.arg_facts {
            let of = usize::from(*of);
            let arg = match fact {
                ArgFact::Image(_) => tables.images.get(of).map_or(0, |i| i.0),
                ArgFact::Sampler(_) => tables.samplers.get(of).copied().unwrap_or(0),
            };
            let _ = writeln!(
                s,
                "      - arg_type: {}\n        offset: {}\n        size: {}\n        arg_index: {arg}",
                fact_type(*fact),
                slot.offset,
                slot.bytes
            );
        }
        if k.payload.cross_is_empty() {
            // The driver wants one entry at least.
            let _ = writeln!(
                s,
                "      - arg_type: local_size\n        offset: 0\n        size: {NO_CROSS_BYTES}"
            );
        }
        for n in &tables.surfaces {
            let _ = writeln!(
                s,
                "      - arg_type: arg_bypointer\n        offset: 0\n        size: 0\n        arg_index: {n}\n        addrmode: stateful\n        addrspace: global\n        access_type: readwrite"
            );
        }
        for (n, (shape, access)) in &tables.images {
            let (ty, access) = (image_type(*shape), access_type(*access));
            let _ = writeln!(
                s,
                "      - arg_type: arg_bypointer\n        offset: 0\n        size: 0\n        arg_index: {n}\n        addrmode: stateful\n        addrspace: image\n        access_type: {access}\n        image_type: {ty}"
            );
        }
        for (index, n) in tables.samplers.iter().enumerate() {
            let _ = writeln!(
                s,
                "      - arg_type: arg_bypointer\n        offset: 0\n        size: 0\n        arg_index: {n}\n        addrmode: stateful\n        addrspace: sampler\n        access_type: readwrite\n        sampler_index: {index}\n        sampler_type: texture"
            );
        }
        if k.payload.local_ids {
            let (kind, size) = if k.payload.packed_ids() {
                ("packed_local_ids", PACKED_IDS)
            } else {
                ("local_id", k.payload.per_thread_bytes())
            };
            let _ = writeln!(
                s,
                "    per_thread_payload_arguments:\n      - arg_type: {kind}\n        offset: 0\n        size: {size}",
            );
        }
        if k.scratch > 0 {
            let _ = writeln!(
                s,
                "    per_thread_memory_buffers:\n      - type: scratch\n        usage: single_space\n        size: {}",
                k.scratch
            );
        }
        let bound = tables
            .surfaces
            .iter()
            .chain(tables.images.iter().map(|i| &i.0));
        for (bti, n) in bound.enumerate() {
            if bti == 0 {
                s.push_str("    binding_table_indices:\n");
            }
            let _ = writeln!(s, "      - bti_value: {bti}\n        arg_index: {n}");
        }
        for (n, sampler) in k.func.samplers.iter().enumerate() {
            if n == 0 {
                s.push_str("    inline_samplers:\n");
            }
            let filter = if sampler.linear { "linear" } else { "nearest" };
            let _ = writeln!(
                s,
                "      - sampler_index: {}\n        addrmode: {}\n        filtermode: {filter}",
                tables.samplers.len() + n,
                address_mode(sampler.addressing),
            );
            if sampler.normalized {
                s.push_str("        normalized: true\n");
            }
        }
    }
    s.push_str(&reflection::misc_info(kernels));
    s.push_str("...\n");
    s
}

/// The `arg_type` of a fact about an argument.
fn fact_type(fact: ArgFact) -> &'static str {
    match fact {
        ArgFact::Image(fact) => match fact {
            ImageFact::Width => "image_width",
            ImageFact::Height => "image_height",
            ImageFact::Depth => "image_depth",
            ImageFact::Layers => "image_array_size",
            ImageFact::ChannelType => "image_channel_data_type",
            ImageFact::ChannelOrder => "image_channel_order",
            ImageFact::Samples => "image_num_samples",
            ImageFact::Levels => "image_num_mip_levels",
            ImageFact::FlatBase => "flat_image_baseoffset",
            ImageFact::FlatWidth => "flat_image_width",
            ImageFact::FlatHeight => "flat_image_height",
            ImageFact::FlatPitch => "flat_image_pitch",
        },
        ArgFact::Sampler(fact) => match fact {
            SamplerFact::Addressing => "sampler_address",
            SamplerFact::Normalized => "sampler_normalized",
            SamplerFact::Snap => "sampler_snap_wa",
        },
    }
}

/// The `addrmode` of a sampler.
fn address_mode(addressing: Addressing) -> &'static str {
    match addressing {
        Addressing::Border => "clamp_border",
        Addressing::Edge => "clamp_edge",
        Addressing::Repeat => "repeat",
        Addressing::Mirror => "mirror",
    }
}

fn image_type(shape: ImageShape) -> &'static str {
    match shape {
        ImageShape::D1 => "image_1d",
        ImageShape::D1Array => "image_1d_array",
        ImageShape::D2 => "image_2d",
        ImageShape::D2Array => "image_2d_array",
        ImageShape::D3 => "image_3d",
        ImageShape::Block => "image_2d_media_block",
        ImageShape::Buffer => "image_buffer",
        ImageShape::D2Msaa => "image_2d_msaa",
        ImageShape::D2ArrayMsaa => "image_2d_array_msaa",
    }
}

fn access_type(access: ImageAccess) -> &'static str {
    match access {
        ImageAccess::Read => "readonly",
        ImageAccess::Write => "writeonly",
        ImageAccess::ReadWrite => "readwrite",
    }
}

/// The arguments that are in tables: which they are.
#[derive(Default)]
struct Tables {
    surfaces: Vec<usize>,
    images: Vec<(usize, (ImageShape, ImageAccess))>,
    samplers: Vec<usize>,
}

impl KernelImage<'_> {
    fn tables(&self) -> Tables {
        let mut out = Tables::default();
        for (n, (kind, _)) in self.payload.args.iter().enumerate() {
            match *kind {
                ArgKind::Surface => out.surfaces.push(n),
                ArgKind::Image(shape, access) => out.images.push((n, (shape, access))),
                ArgKind::Sampler => out.samplers.push(n),
                ArgKind::Value | ArgKind::Ptr | ArgKind::Slm => {}
            }
        }
        out
    }
}

struct Section<'a> {
    name: Vec<u8>,
    kind: elf::SectionType,
    flags: elf::SectionFlags,
    align: u64,
    data: &'a [u8],
}

/// Relocation types (zebin specification, "Gen Relocation Type").
fn relocation_type(part: SymbolPart) -> u32 {
    match part {
        SymbolPart::Whole => 1,
        SymbolPart::Low => 2,
        SymbolPart::High => 3,
    }
}

/// Writes a zebin with these kernels and a module's data.
///
/// # Errors
/// The ELF writer refuses a size.
pub fn write(
    target: &Target,
    module: &Module,
    kernels: &[KernelImage<'_>],
) -> Result<Vec<u8>, CodegenError> {
    let data = &module.data;
    let debugged: Vec<DebugKernel<'_>> = kernels
        .iter()
        .map(|k| DebugKernel {
            name: &k.func.name,
            bytes: k.text.len() as u64,
            locations: k.locations,
            labels: k.labels,
            grf_bytes: target.grf().bytes,
        })
        .collect();
    let debug = debug::sections(&module.files, &debugged)?;
    let fail = |e: object::write::Error| CodegenError::internal("zebin", e);
    let info = ze_info(target, kernels);
    let notes = compat_notes(target);
    let mut bindings = Vec::new();
    if let Some(text) = reflection::bindings(kernels) {
        note(
            &mut bindings,
            reflection::OWNER,
            reflection::NOTE,
            text.as_bytes(),
        );
    }
    let DataSections {
        sections: data_sections,
        places: data_places,
    } = DataSections::new(data);
    let texts: Vec<Vec<u8>> = kernels
        .iter()
        .map(|k| {
            let mut t = k.text.to_vec();
            t.resize(t.len() + PADDING, 0);
            t
        })
        .collect();
    let mut sections: Vec<Section<'_>> = kernels
        .iter()
        .zip(&texts)
        .map(|(k, text)| Section {
            name: format!(".text.{}", k.func.name).into_bytes(),
            kind: elf::SHT_PROGBITS,
            flags: elf::SHF_ALLOC | elf::SHF_EXECINSTR,
            align: 64,
            data: text,
        })
        .collect();
    let first_data = sections.len();
    sections.extend(data_sections.iter().map(|d| Section {
        name: d.name.into(),
        kind: elf::SHT_PROGBITS,
        flags: if d.written {
            elf::SHF_ALLOC | elf::SHF_WRITE
        } else {
            elf::SHF_ALLOC
        },
        align: d.align,
        data: &d.bytes,
    }));
    let first_debug = sections.len();
    sections.extend(debug.iter().map(|d| Section {
        name: d.name.into(),
        kind: elf::SHT_PROGBITS,
        flags: elf::SectionFlags(0),
        align: 1,
        data: &d.data,
    }));
    sections.push(Section {
        name: b".ze_info".to_vec(),
        kind: SHT_ZEBIN_ZEINFO,
        flags: elf::SectionFlags(0),
        align: 1,
        data: info.as_bytes(),
    });
    sections.push(Section {
        name: b".note.intelgt.compat".to_vec(),
        kind: elf::SHT_NOTE,
        flags: elf::SectionFlags(0),
        align: 4,
        data: &notes,
    });
    if !bindings.is_empty() {
        sections.push(Section {
            name: reflection::SECTION.into(),
            kind: elf::SHT_NOTE,
            flags: elf::SectionFlags(0),
            align: 4,
            data: &bindings,
        });
    }
    // Which sections have relocations, and those.
    let data_relocations = data_sections.iter().map(|d| &d.relocations[..]);
    let of_data = (first_data..).zip(data_relocations);
    let of_code = kernels.iter().map(|k| k.relocations).enumerate();
    let relocated: Vec<(usize, &[Relocation], Vec<u8>)> = of_data
        .chain(of_code)
        .filter(|(_, relocations)| !relocations.is_empty())
        .filter_map(|(n, relocations)| {
            let name = [b".rel", &sections.get(n)?.name[..]].concat();
            Some((n, relocations, name))
        })
        .collect();
    let debug_relocations = debug
        .iter()
        .map(|d| format!(".rela{}", d.name).into_bytes());
    let debug_relocations: Vec<Vec<u8>> = debug_relocations.collect();
    let mut buffer = Vec::new();
    let mut w = Writer::new(Endianness::Little, true, &mut buffer);
    w.reserve_file_header();
    w.reserve_null_section_index();
    let placed: Vec<_> = sections
        .iter()
        .map(|s| {
            let name = w.add_section_name(&s.name);
            let index = w.reserve_section_index();
            (name, index, w.reserve(s.data.len() as u64, s.align))
        })
        .collect();
    let relocated: Vec<_> = relocated
        .iter()
        .map(|(n, relocations, name)| {
            let name = w.add_section_name(name);
            w.reserve_section_index();
            let offset = w.reserve_relocations(relocations.len(), false);
            (*n, *relocations, name, offset)
        })
        .collect();
    let addressed: Vec<_> = debug
        .iter()
        .zip(&debug_relocations)
        .enumerate()
        .filter(|(_, (d, _))| !d.addresses.is_empty())
        .map(|(n, (d, name))| {
            let name = w.add_section_name(name);
            w.reserve_section_index();
            let offset = w.reserve_relocations(d.addresses.len(), true);
            (first_debug + n, d, name, offset)
        })
        .collect();
    w.reserve_null_symbol_index();
    let symbols: Vec<_> = kernels
        .iter()
        .zip(&placed)
        .map(|(k, (_, section, _))| {
            let name = w.add_string(k.func.name.as_bytes());
            (name, *section, w.reserve_symbol_index(Some(*section)))
        })
        .collect();
    let data_index = |n: usize| {
        let place = data_places.get(n).map(|p| first_data + p.section);
        place.and_then(|s| placed.get(s)).map(|p| p.1)
    };
    let data_symbols: Vec<_> = data
        .values()
        .enumerate()
        .map(|(n, d)| {
            let name = w.add_string(d.name.as_bytes());
            (name, w.reserve_symbol_index(data_index(n)))
        })
        .collect();
    w.reserve_symtab_section_index();
    w.reserve_symtab();
    w.reserve_strtab_section_index();
    w.reserve_strtab().map_err(fail)?;
    w.reserve_shstrtab_section_index();
    w.reserve_shstrtab().map_err(fail)?;
    w.reserve_section_headers();
    w.write_file_header(&FileHeader {
        os_abi: elf::OsAbi(0),
        abi_version: 0,
        e_type: elf::ET_REL,
        e_machine: EM_INTELGT,
        e_entry: 0,
        e_flags: elf::FileFlags(0),
    })
    .map_err(fail)?;
    for s in &sections {
        w.write_align(s.align);
        w.write(s.data);
    }
    for (_, relocations, ..) in &relocated {
        w.write_align_relocation();
        for r in *relocations {
            let symbol = data_symbols.get(r.data.index());
            w.write_relocation(
                false,
                &Rel {
                    r_offset: r.offset,
                    r_sym: symbol.map_or(0, |s| s.1.0),
                    r_type: elf::RelocationType(relocation_type(r.part)),
                    r_addend: 0,
                },
            );
        }
    }
    for (_, d, ..) in &addressed {
        w.write_align_relocation();
        for a in &d.addresses {
            let symbol = symbols.get(a.kernel);
            w.write_relocation(
                true,
                &Rel {
                    r_offset: a.offset,
                    r_sym: symbol.map_or(0, |s| s.2.0),
                    r_type: elf::RelocationType(relocation_type(SymbolPart::Whole)),
                    r_addend: a.addend,
                },
            );
        }
    }
    w.write_null_symbol();
    for ((name, section, _), k) in symbols.iter().zip(kernels) {
        let st_name = w.string_offset(Some(*name));
        w.write_symbol(&Sym {
            section: Some(section.0),
            st_name,
            // Global ones are functions that others call: Intel's driver aborts where several
            // kernels have them.
            st_info: elf::SymbolInfo::new(elf::STB_LOCAL, elf::STT_FUNC),
            st_other: elf::SymbolOther(0),
            st_shndx: elf::SymbolSection(0),
            st_value: 0,
            st_size: k.text.len() as u64,
        });
    }
    for (n, ((name, _), d)) in data_symbols.iter().zip(data.values()).enumerate() {
        let st_name = w.string_offset(Some(*name));
        w.write_symbol(&Sym {
            section: data_index(n).map(|s| s.0),
            st_name,
            st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, elf::STT_OBJECT),
            st_other: elf::SymbolOther(0),
            st_shndx: elf::SymbolSection(0),
            st_value: data_places.get(n).map_or(0, |p| p.offset),
            st_size: d.bytes.len() as u64,
        });
    }
    w.write_strtab();
    w.write_shstrtab();
    w.write_null_section_header();
    for (s, (name, _, offset)) in sections.iter().zip(&placed) {
        let sh_name = w.section_name_offset(Some(*name));
        w.write_section_header(&SectionHeader {
            sh_name,
            sh_type: s.kind,
            sh_flags: s.flags,
            sh_addr: 0,
            sh_offset: *offset,
            sh_size: s.data.len() as u64,
            sh_link: 0,
            sh_info: 0,
            sh_addralign: s.align,
            sh_entsize: 0,
        });
    }
    let symtab = w.symtab_index();
    for (n, relocations, name, offset) in &relocated {
        let section = placed.get(*n).map_or(SectionIndex(0), |p| p.1);
        let count = relocations.len();
        w.write_relocation_section_header(*name, section, symtab, *offset, count, false);
    }
    for (section, d, name, offset) in &addressed {
        let section = placed.get(*section).map_or(SectionIndex(0), |p| p.1);
        let count = d.addresses.len();
        w.write_relocation_section_header(*name, section, symtab, *offset, count, true);
    }
    w.write_symtab_section_header(1 + kernels.len() as u32);
    w.write_strtab_section_header();
    w.write_shstrtab_section_header();
    drop(w);
    Ok(buffer)
}
