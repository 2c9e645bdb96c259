//! Names and numbers of the format: sections, symbols, relocations, notes.

use gantry_isa_gen::named_enum;

/// `e_machine` of Intel Graphics Technology.
pub const MACHINE: u16 = 205;

/// Description of the module.
pub const ZE_INFO: &str = ".ze_info";
/// Notes of compatibility.
pub const COMPAT: &str = ".note.intelgt.compat";
/// Owner of the notes of compatibility.
pub const INTELGT: &str = "IntelGT";
/// Bindings of shaders, a note of Gantry's own.
pub const BINDINGS: &str = ".note.gantry.bindings";
/// Owner of Gantry's notes.
pub const GANTRY: &str = "Gantry";
/// Options that the module was compiled with.
pub const BUILD_OPTIONS: &str = ".misc.buildOptions";
/// Line tables of DWARF.
pub const DEBUG_LINE: &str = ".debug_line";
/// Strings of DWARF.
pub const DEBUG_STR: &str = ".debug_str";
/// Strings of line tables of DWARF 5.
pub const DEBUG_LINE_STR: &str = ".debug_line_str";

/// Code that belongs to no kernel. The section of a kernel's code has the kernel's name behind it
/// and a dot between.
pub const TEXT: &str = ".text";

/// Symbol at the start of a kernel after its prologue. It is no function.
pub const ENTRY: &str = "_entry";
/// Kernel whose code is the module's functions that are called by address. Nobody launches it.
pub const EXTERNAL_FUNCTIONS: &str = "Intel_Symbol_Table_Void_Program";
/// Symbol whose value is the offset of the cross-thread data in the indirect data at the address
/// in `r0.0`.
pub const CROSS_THREAD_OFFSET: &str = "__INTEL_PATCH_CROSS_THREAD_OFFSET_OFF_R0";
/// Symbol whose value is the distance from the cross-thread data to the per-thread data in memory.
pub const PER_THREAD_OFFSET: &str = "__INTEL_PER_THREAD_OFF";
/// Symbol whose value is the size of a surface state in bytes.
pub const SURFACE_STATE_SIZE: &str = "__INTEL_SURFACE_STATE_SIZE";

/// Zero bytes that follow a kernel's code: drivers and hardware prefetch past its end.
pub const CODE_PADDING: usize = 128;

/// Returns the name of the section of a kernel's code.
pub fn code_section(kernel: &str) -> String {
    format!("{TEXT}.{kernel}")
}

/// Returns the name of the kernel whose code a section holds, if it is such a section.
pub fn kernel_of(section: &str) -> Option<&str> {
    section.strip_prefix(TEXT)?.strip_prefix('.')
}

named_enum! {
    /// Data section.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum DataKind {
        /// Constants.
        Const = ".data.const",
        /// Strings, which the host reads.
        ConstString = ".data.const.string",
        /// Variables, which kernels write.
        Global = ".data.global",
        /// Constants of zeros, which are not in the file.
        ZeroConst = ".bss.const",
        /// Variables of zeros, which are not in the file.
        ZeroGlobal = ".bss.global",
    }
}

impl DataKind {
    /// Returns true for constants.
    pub const fn is_constant(self) -> bool {
        match self {
            DataKind::Const | DataKind::ConstString | DataKind::ZeroConst => true,
            DataKind::Global | DataKind::ZeroGlobal => false,
        }
    }

    /// Returns the section that follows this one in memory.
    pub const fn tail(self) -> Option<DataKind> {
        match self {
            DataKind::Const => Some(DataKind::ZeroConst),
            DataKind::Global => Some(DataKind::ZeroGlobal),
            _ => None,
        }
    }
}

/// Defines an enum and the numbers of its values.
macro_rules! numbered_enum {
    (
        $(#[$meta:meta])*
        pub enum $Enum:ident {
            $($(#[$doc:meta])* $Value:ident = $number:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u32)]
        pub enum $Enum {
            $($(#[$doc])* $Value = $number,)+
        }

        impl $Enum {
            /// Returns the number.
            pub const fn number(self) -> u32 {
                self as u32
            }

            /// Returns the value of a number.
            pub const fn from_number(number: u32) -> Option<$Enum> {
                match number {
                    $($number => Some($Enum::$Value),)+
                    _ => None,
                }
            }
        }
    };
}

numbered_enum! {
    /// Type of a section (`sh_type`).
    pub enum SectionType {
        /// Contents: code, data, debug information.
        ProgBits = 1,
        /// Symbols.
        SymTab = 2,
        /// Names.
        StrTab = 3,
        /// Relocations with their addends.
        Rela = 4,
        /// Notes.
        Note = 7,
        /// Zeros that are not in the file.
        NoBits = 8,
        /// Relocations whose addends are at their places.
        Rel = 9,
        /// SPIR-V of the module.
        Spirv = 0xff00_0009,
        /// `.ze_info`.
        ZeInfo = 0xff00_0011,
        /// Information for GTPin.
        GtpinInfo = 0xff00_0012,
        /// vISA text.
        VisaAsm = 0xff00_0013,
        /// Miscellaneous.
        Misc = 0xff00_0014,
        /// PISA.
        Pisa = 0xff00_0015,
    }
}

numbered_enum! {
    /// Type of a relocation.
    pub enum RelocationType {
        /// Nothing.
        None = 0,
        /// 64-bit address.
        Address = 1,
        /// 32-bit address, or the low half of a 64-bit one.
        AddressLow = 2,
        /// High half of a 64-bit address.
        AddressHigh = 3,
        /// Distance from the cross-thread data to the per-thread data. Deprecated.
        PerThreadPayloadOffset = 4,
        /// 32-bit immediate.
        GlobalImmediate = 5,
        /// Position of a `send`.
        Send = 6,
        /// 16-bit address or immediate.
        Address16 = 7,
    }
}

impl RelocationType {
    /// Returns the bytes of a value that it writes; `None` for types that write none.
    pub fn part_of(self, value: u64) -> Option<Vec<u8>> {
        let v = value.to_le_bytes();
        Some(match self {
            RelocationType::Address => v.to_vec(),
            RelocationType::AddressLow
            | RelocationType::PerThreadPayloadOffset
            | RelocationType::GlobalImmediate => v[..4].to_vec(),
            RelocationType::AddressHigh => v[4..].to_vec(),
            RelocationType::Address16 => v[..2].to_vec(),
            RelocationType::None | RelocationType::Send => return None,
        })
    }
}

numbered_enum! {
    /// Type of a note of compatibility.
    pub enum NoteType {
        /// Product family.
        ProductFamily = 1,
        /// Core family.
        CoreFamily = 2,
        /// Steppings, and the generator of the zebin.
        TargetMetadata = 3,
        /// Version of the format, as text that ends in a zero.
        Version = 4,
        /// Version of the vISA ABI.
        VisaAbi = 5,
        /// IP version of the device.
        ProductConfig = 6,
        /// Version of the detection of indirect accesses.
        IndirectAccessDetection = 7,
        /// Version of the layout of the implicit arguments.
        IndirectAccessBuffer = 8,
    }
}

/// Type of the note of bindings.
pub const BINDINGS_NOTE: u32 = 1;

/// Version of the format that Gantry writes.
pub const VERSION: &str = "1.15";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_code() {
        assert_eq!(code_section("k.1"), ".text.k.1");
        assert_eq!(kernel_of(".text.k.1"), Some("k.1"));
        assert_eq!(kernel_of(".text"), None);
        assert_eq!(kernel_of(".textk"), None);
    }

    #[test]
    fn numbers() {
        assert_eq!(SectionType::ZeInfo.number(), 0xff00_0011);
        for n in 0..10 {
            let ty = RelocationType::from_number(n);
            assert_eq!(ty.map(RelocationType::number), (n < 8).then_some(n));
        }
    }
}
