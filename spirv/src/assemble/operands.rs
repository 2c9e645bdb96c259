//! Enumerants and masks by name, with the parameters that each takes.

use bitflags::Flags;
use rspirv::dr::Operand;
use rspirv::grammar::{LogicalOperand, OperandKind};
use std::str::FromStr;

/// Parameters of an enumerant.
pub(super) type Parameters = Vec<LogicalOperand>;

/// Old names and their names in the grammar.
const RENAMED: [(&str, &str); 1] = [("AllowContractFastINTEL", "AllowContract")];

/// Vendor suffixes, which names lose when they are promoted.
const VENDORS: [&str; 4] = ["INTEL", "KHR", "EXT", "ALTERA"];

/// Possible forms of a name in the grammar.
fn forms(text: &str) -> impl Iterator<Item = String> + '_ {
    let renamed = RENAMED.iter().filter(move |(n, _)| *n == text);
    let bare = VENDORS.iter().filter_map(|v| text.strip_suffix(v));
    let base = bare.clone().next().unwrap_or(text);
    std::iter::once(text.to_owned())
        .chain(renamed.map(|(_, n)| (*n).to_owned()))
        .chain(bare.map(str::to_owned))
        .chain(VENDORS.iter().map(move |v| format!("{base}{v}")))
        // Image dimensions begin with a digit.
        .chain(std::iter::once(format!("Dim{text}")))
}

/// Parses an enumerant.
fn member<T: FromStr>(text: &str, kind: OperandKind) -> Result<T, String> {
    let found = forms(text).find_map(|form| form.parse().ok());
    found.ok_or_else(|| format!("`{text}` is no {kind:?}"))
}

/// Parses a mask, such as `Volatile|Aligned`.
fn flags<T: Flags>(text: &str, kind: OperandKind) -> Result<T, String> {
    let same = |name: &str, text: &str| {
        let letters = name.bytes().filter(|b| *b != b'_');
        letters.eq(text
            .bytes()
            .filter(|b| *b != b'_')
            .map(|b| b.to_ascii_uppercase()))
    };
    let mut all = T::empty();
    for one in text.split('|') {
        let of = |form: String| T::FLAGS.iter().find(|f| same(f.name(), &form));
        let found = forms(one).find_map(of);
        let found = found.ok_or_else(|| format!("`{one}` is no {kind:?}"))?;
        all.insert(T::from_bits_retain(found.value().bits()));
    }
    Ok(all)
}

macro_rules! kinds {
    ($text:ident, $kind:ident; $($member:ident)*; $($flags:ident)*) => {
        match $kind {
            $(OperandKind::$member => {
                let value: spirv::$member = member($text, $kind)?;
                Ok((value as u32, Operand::$member(value).additional_operands()))
            })*
            $(OperandKind::$flags => {
                let value: spirv::$flags = flags($text, $kind)?;
                Ok((value.bits(), Operand::$flags(value).additional_operands()))
            })*
            _ => Err(format!("an operand of {:?} has no text here", $kind)),
        }
    };
}

/// Returns the word of an enumerant or mask, and its parameters.
pub(super) fn enumerant(kind: OperandKind, text: &str) -> Result<(u32, Parameters), String> {
    kinds!(text, kind;
        SourceLanguage ExecutionModel AddressingModel MemoryModel ExecutionMode StorageClass Dim
        SamplerAddressingMode SamplerFilterMode ImageFormat ImageChannelOrder ImageChannelDataType
        FPRoundingMode FPDenormMode QuantizationModes FPOperationMode OverflowModes LinkageType
        AccessQualifier HostAccessQualifier FunctionParameterAttribute Decoration BuiltIn Scope
        GroupOperation KernelEnqueueFlags Capability PackedVectorFormat CooperativeMatrixLayout
        CooperativeMatrixUse InitializationModeQualifier LoadCacheControl StoreCacheControl
        NamedMaximumNumberOfRegisters FPEncoding;
        ImageOperands FPFastMathMode SelectionControl LoopControl FunctionControl MemorySemantics
        MemoryAccess KernelProfilingInfo CooperativeMatrixOperands MatrixMultiplyAccumulateOperands)
}
